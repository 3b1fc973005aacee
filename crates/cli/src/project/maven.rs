//! A Maven project: `pom.xml`, those of its modules, and the directories that they say or Maven knows.
//!
//! A pom is read for its modules and directories alone. Maven itself would fetch parents and work out properties; what
//! depends on those is taken to be as Maven has it by default.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use hypocenter_lab::xml::{XmlEvent, XmlReader};

use super::build::{
    MODULES_MAX, Module, Ready, gather, line, program, propose, source_directories, was_tested, words,
};
use super::sources::Sources;
use super::{Project, below};
use crate::screen;

/// The file that makes a directory a Maven project.
pub const FILE: &str = "pom.xml";
/// Directory of test results.
const REPORTS: &str = "target/surefire-reports/*.xml";
/// No pom is larger.
const POM_BYTES_MAX: u64 = 8 << 20;
/// The deepest element of a pom that is looked at, with the root as 1.
const POM_DEPTH_MAX: usize = 5;
/// Directory of the jars of `mvn dependency:copy-dependencies`.
const DEPENDENCIES: &str = "target/dependency";

/// Content of a pom.
#[derive(Debug, Default, PartialEq, Eq)]
struct Pom {
    modules: Vec<String>,
    /// Modules of profiles, which may not be part of the build.
    profile_modules: Vec<String>,
    source: Option<String>,
    test_source: Option<String>,
    output: Option<String>,
    test_output: Option<String>,
    /// The version of JUnit 5 or later, where it is named.
    junit: Option<String>,
}

/// Looks at the project in a directory.
pub fn look(directory: &Path) -> Project {
    let mut project = Project::default();
    let modules = modules(&mut project, directory);
    let used = gather(&mut project, directory, &modules);
    project.what = match modules.len() {
        1 => "a Maven project".to_owned(),
        _ => format!("a Maven project, {} with classes", screen::count(used as u64, "module", "modules")),
    };
    let maven = program(directory, "mvnw", "mvn");
    let offline = || maven.iter().cloned().chain(words(["-o", "-q"]));
    let all: Vec<String> = offline().chain(words(["test"])).collect();
    propose(&mut project, &modules, &all, REPORTS, |it| {
        let mut command: Vec<String> = offline().collect();
        if !it.module.place.is_empty() {
            // The modules that it needs come along (-am), and have no test of that name.
            command.extend(words([
                "-pl",
                &it.module.place,
                "-am",
                "-Dsurefire.failIfNoSpecifiedTests=false",
            ]));
        }
        command.extend([format!("-Dtest={}", it.test.short()), "test".to_owned()]);
        command
    });
    let first: Vec<String> = maven.iter().cloned().chain(words(["test"])).collect();
    project.first = (!was_tested(directory, &modules, REPORTS)).then(|| line(&first));
    project.why = vec![
        "Maven runs offline (-o): a trial has only a private loopback network, and dependencies must not"
            .into(),
        format!(
            "change between two trials. So run `{}` once before. -q shows only the output of the tests.",
            first.join(" ")
        ),
    ];
    if let [module] = modules.as_slice() {
        let class_path = module.class_path.iter().rev().cloned().collect();
        let faster = || faster(&maven, directory);
        let ready = Ready { tool: "Maven", jars: DEPENDENCIES, class_path, faster: &faster };
        ready.propose(&mut project, directory, module);
    }
    project
}

/// The commands by which tests come to be run without Maven. The pom stays as it is; where JUnit's version is not known, its place
/// is.
fn faster(maven: &[String], directory: &Path) -> Vec<String> {
    let of_maven = |more: &[&str]| {
        let more = more.iter().map(|&it| it.to_owned());
        line(&maven.iter().cloned().chain(more).collect::<Vec<_>>())
    };
    let mut lines = vec!["for tests that start faster, without Maven (`hypocenter guide start`):".to_owned()];
    lines.push(of_maven(&["-q", "dependency:copy-dependencies"]));
    let pom = read(&directory.join(FILE)).unwrap_or_default();
    if let Some(version) = pom.junit {
        let artifact = format!("-Dartifact={CONSOLE}:{}", console_version(&version));
        lines.push(of_maven(&[
            "-q",
            "dependency:copy",
            &artifact,
            &format!("-DoutputDirectory={DEPENDENCIES}"),
        ]));
    }
    lines.push("hypocenter init --force".to_owned());
    lines
}

/// Runner of JUnit 5 and later with `java` directly.
const CONSOLE: &str = "org.junit.platform:junit-platform-console-standalone";

/// The version of the console that goes with one of JUnit: of 5.x it is 1.x, later both are the same.
fn console_version(junit: &str) -> String {
    junit.strip_prefix("5.").map_or_else(|| junit.to_owned(), |it| format!("1.{it}"))
}

/// The project's own directory and those of its modules, and of theirs.
fn modules(project: &mut Project, directory: &Path) -> Vec<Module> {
    let mut found = Vec::new();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    // The places that are still to be looked at, the next one last; a profile's only count if they were built.
    let mut open: Vec<(String, bool)> = vec![(String::new(), true)];
    while let Some((place, sure)) = open.pop() {
        let module = directory.join(&place);
        // A module may be named twice, or name its parent.
        if !module.canonicalize().is_ok_and(|it| seen.insert(it)) {
            continue;
        }
        if seen.len() > MODULES_MAX {
            project.note("modules", format!("there are more than {MODULES_MAX}; the others were left out"));
            break;
        }
        let name = below(&place, FILE);
        let pom = read(&module.join(FILE)).unwrap_or_else(|why| {
            project.note(&name, format!("{why}; the default directories of Maven are used"));
            // Its modules are not known then, and the nearest guess is what looks like one.
            Pom { modules: directories_with_pom(&module), ..Pom::default() }
        });
        let it = module_of(&place, &module, &pom);
        if sure || it.class_path.iter().any(|entry| directory.join(entry).is_dir()) {
            found.push(it);
        }
        let named =
            pom.modules.iter().map(|it| (it, sure)).chain(pom.profile_modules.iter().map(|it| (it, false)));
        let mut next = Vec::new();
        for (module, sure) in named {
            // A module is a directory, or a pom in one.
            let directory_name =
                module.strip_suffix(&format!("/{FILE}")).unwrap_or(module).trim_end_matches('/');
            let there = below(&place, directory_name);
            if directory.join(&there).join(FILE).is_file() {
                next.push((there, sure));
            } else if sure {
                project.note(&name, format!("module `{module}` has no {FILE} and was left out"));
            }
        }
        open.extend(next.into_iter().rev());
    }
    found
}

fn module_of(place: &str, module: &Path, pom: &Pom) -> Module {
    let directories = |said: &Option<String>, set: &str| {
        let mut all = source_directories(module, set);
        all.extend(said.as_ref().map(|it| module.join(it)));
        all
    };
    let main = Sources::read(&directories(&pom.source, "main"));
    let test = Sources::read(&directories(&pom.test_source, "test"));
    let outputs = [
        (&main, pom.output.as_deref().unwrap_or("target/classes")),
        (&test, pom.test_output.as_deref().unwrap_or("target/test-classes")),
    ];
    let class_path = outputs
        .into_iter()
        .filter(|(sources, output)| !sources.is_empty() || module.join(output).is_dir())
        .map(|(_, output)| below(place, output))
        .collect();
    Module { place: place.to_owned(), main, test, class_path }
}

fn directories_with_pom(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let with_pom = entries.filter(|it| it.path().join(FILE).is_file());
    let mut names: Vec<String> = with_pom.filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn read(file: &Path) -> Result<Pom, String> {
    let length = std::fs::metadata(file).map_err(|error| format!("cannot be read: {error}"))?.len();
    if length > POM_BYTES_MAX {
        return Err(format!("cannot be read: it is larger than {POM_BYTES_MAX} bytes"));
    }
    let bytes = std::fs::read(file).map_err(|error| format!("cannot be read: {error}"))?;
    // An old pom may be in Latin-1, where each byte is a character; names of directories rarely need more than ASCII.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
    parse(&text)
}

fn parse(text: &str) -> Result<Pom, String> {
    let mut reading = Reading::default();
    // The elements that are open, each with its own text.
    let mut open: Vec<(String, String)> = Vec::new();
    let mut is_pom = false;
    for event in XmlReader::new(text) {
        match event.map_err(|error| format!("is not well-formed XML: {error}"))? {
            XmlEvent::Open(element) => {
                is_pom |= open.is_empty() && element.name() == "project";
                if !is_pom {
                    return Err(format!("is not a POM: its root element is <{}>", element.name()));
                }
                open.push((element.name().to_owned(), String::new()));
            }
            XmlEvent::Text(text) => {
                if let Some((_, own)) = open.last_mut() {
                    own.push_str(&text);
                }
            }
            XmlEvent::Close => {
                if open.len() <= POM_DEPTH_MAX {
                    let path: Vec<&str> = open.iter().map(|(name, _)| name.as_str()).collect();
                    reading.close(&path, open.last().map_or("", |(_, own)| own.trim()));
                }
                open.pop();
            }
            XmlEvent::DocumentType => {}
        }
    }
    if is_pom { Ok(reading.pom()) } else { Err("is not well-formed XML: it has no element".to_owned()) }
}

/// A pom as far as it is read.
#[derive(Default)]
struct Reading {
    pom: Pom,
    properties: HashMap<String, String>,
    /// The versions of JUnit among the dependencies, and in the lists of versions that these follow.
    junit: Vec<String>,
    junit_managed: Vec<String>,
    dependency: Dependency,
}

/// The dependency that is read.
#[derive(Default)]
struct Dependency {
    group: String,
    artifact: String,
    version: String,
}

impl Reading {
    /// Takes an element at its end. Names have no namespace: not every pom says it, and some say it wrongly.
    fn close(&mut self, path: &[&str], text: &str) {
        let Pom { modules, profile_modules, source, test_source, output, test_output, .. } = &mut self.pom;
        let is_module = !text.is_empty() && !text.contains("${");
        match path {
            ["project", "modules", "module"] if is_module => modules.push(text.to_owned()),
            ["project", "profiles", "profile", "modules", "module"] if is_module => {
                profile_modules.push(text.to_owned());
            }
            ["project", "build", key] => {
                let directory = match *key {
                    "sourceDirectory" => source,
                    "testSourceDirectory" => test_source,
                    "outputDirectory" => output,
                    "testOutputDirectory" => test_output,
                    _ => return,
                };
                *directory = directory.take().or_else(|| plain_directory(text));
            }
            ["project", "properties", key] => {
                self.properties.entry((*key).to_owned()).or_insert_with(|| text.to_owned());
            }
            ["project", "dependencies", "dependency"] => {
                self.junit.extend(std::mem::take(&mut self.dependency).junit());
            }
            ["project", "dependencyManagement", "dependencies", "dependency"] => {
                self.junit_managed.extend(std::mem::take(&mut self.dependency).junit());
            }
            ["project", "dependencies", "dependency", key]
            | ["project", "dependencyManagement", "dependencies", "dependency", key] => {
                let part = match *key {
                    "groupId" => &mut self.dependency.group,
                    "artifactId" => &mut self.dependency.artifact,
                    "version" => &mut self.dependency.version,
                    _ => return,
                };
                *part = text.to_owned();
            }
            _ => {}
        }
    }

    fn pom(self) -> Pom {
        let version = self.junit.into_iter().chain(self.junit_managed).next();
        let property = version.as_ref().and_then(|it| it.strip_prefix("${")?.strip_suffix('}'));
        let version = match property {
            Some(key) => self.properties.get(key).cloned(),
            None => version,
        };
        // It goes into a command.
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
        let junit = version.filter(|it| !it.is_empty() && it.chars().all(is_plain));
        Pom { junit, ..self.pom }
    }
}

impl Dependency {
    /// The version, if this is JUnit 5 or later, or the list of its versions.
    fn junit(self) -> Option<String> {
        let is_list = self.group == "org.junit" && self.artifact == "junit-bom";
        let is_junit = self.group == "org.junit.jupiter" || is_list;
        (is_junit && !self.version.is_empty()).then_some(self.version)
    }
}

/// A directory without properties, but for those that stand for Maven's own places.
fn plain_directory(text: &str) -> Option<String> {
    let mut text = text.replace("${project.build.directory}", "target");
    for base in ["${project.basedir}/", "${basedir}/", "${pom.basedir}/"] {
        text = text.replace(base, "");
    }
    let text = text.trim_start_matches("./").trim_end_matches('/');
    (!text.is_empty() && !text.contains("${")).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pom_is_read_with_any_namespace_or_none() {
        let inside = "<modules><module> core </module><!-- no --><module>app/pom.xml</module></modules>\
            <profiles><profile><modules><module>extra</module></modules></profile></profiles>\
            <build><sourceDirectory>${project.basedir}/src/java</sourceDirectory>\
            <outputDirectory>${out}/x</outputDirectory>\
            <testOutputDirectory>${project.build.directory}/t</testOutputDirectory></build>";
        let expected = Pom {
            modules: vec!["core".into(), "app/pom.xml".into()],
            profile_modules: vec!["extra".into()],
            source: Some("src/java".into()),
            test_output: Some("target/t".into()),
            ..Pom::default()
        };
        for begin in
            ["project", "project xmlns=\"http://maven.apache.org/POM/4.0.0\"", "project xmlns=\"other\""]
        {
            assert_eq!(parse(&format!("<{begin}>{inside}</project>")).as_ref(), Ok(&expected));
        }
        assert_eq!(parse(&format!("<m:project xmlns:m='x'>{}</m:project>", "")), Ok(Pom::default()));
        let entity = "<!DOCTYPE project [<!ENTITY m 'core'>]><project><modules><module>&m;</module></modules></project>";
        assert_eq!(parse(entity).unwrap().modules, ["core"]);
    }

    #[test]
    fn the_version_of_junit_is_read_where_it_is_named() {
        let check = |inside: &str, expected: Option<&str>| {
            let pom = parse(&format!("<project>{inside}</project>")).unwrap();
            assert_eq!(pom.junit.as_deref(), expected, "{inside}");
        };
        let of = |group: &str, artifact: &str, version: &str| {
            let of = |key: &str, text: &str| format!("<{key}>{text}</{key}>");
            let parts = of("groupId", group) + &of("artifactId", artifact) + &of("version", version);
            of("dependencies", &of("dependency", &parts))
        };
        let api = |version: &str| of("org.junit.jupiter", "junit-jupiter", version);
        check(&api("5.10.2"), Some("5.10.2"));
        check(&format!("<properties><j.v>5.9.1</j.v></properties>{}", api("${j.v}")), Some("5.9.1"));
        check(&api("${j.v}"), None);
        check(&api("1; rm -rf ~"), None);
        let bom = of("org.junit", "junit-bom", "6.0.1");
        check(&format!("<dependencyManagement>{bom}</dependencyManagement>{}", api("")), Some("6.0.1"));
        check(&of("junit", "junit", "4.13.2"), None);
        assert_eq!((console_version("5.10.2"), console_version("6.0.1")), ("1.10.2".into(), "6.0.1".into()));
    }

    #[test]
    fn a_broken_pom_says_why() {
        let check = |text: &str, expected: &str| {
            let why = parse(text).unwrap_err();
            assert!(why.contains(expected), "{text}: {why}");
        };
        check("", "not well-formed XML");
        check("<project><modules>", "not well-formed XML");
        check("<html/>", "is not a POM: its root element is <html>");
        check("<project><modules></project>", "not well-formed XML");
    }

    #[test]
    fn a_hostile_pom_is_read_in_linear_time() {
        let deep = format!("<project>{}{}</project>", "<a>".repeat(500_000), "</a>".repeat(500_000));
        assert_eq!(parse(&deep), Ok(Pom::default()));
        let laughs = "<!DOCTYPE p [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><project><modules><module>&a;</module></modules></project>";
        assert_eq!(parse(laughs).unwrap().modules, ["&a;"]);
    }
}
