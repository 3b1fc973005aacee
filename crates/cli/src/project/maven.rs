//! A Maven project: `pom.xml`, those of its modules, and the directories that they say or Maven knows.
//!
//! A pom is read for its modules and directories alone. Maven itself would fetch parents and work out properties; what
//! depends on those is taken to be as Maven has it by default.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use roxmltree::{Document, Node, ParsingOptions};

use super::build::{
    MODULES_MAX, Module, Ready, gather, line, program, propose, source_directories, was_tested, words,
};
use super::sources::Sources;
use super::{Project, below};
use crate::screen;

/// The file that makes a directory a Maven project.
pub const FILE: &str = "pom.xml";
/// Where the results of tests are written.
const REPORTS: &str = "target/surefire-reports/*.xml";
/// No pom is larger.
const POM_BYTES_MAX: u64 = 8 << 20;
/// No pom has more elements, texts and comments.
const POM_NODES_MAX: u32 = 1 << 20;
/// Where `mvn dependency:copy-dependencies` puts the jars.
const DEPENDENCIES: &str = "target/dependency";

/// What a pom says.
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
        "Maven runs offline (-o): a trial has a loopback of its own and no other network, and nothing that is fetched".into(),
        format!("may change between two trials. So run `{}` once before. -q leaves the tests' own output.", first.join(" ")),
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
    let mut lines =
        vec!["tests without Maven, which each trial waits for (`hypocenter guide start`):".to_owned()];
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

/// What starts tests of JUnit 5 and later by `java` alone.
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
            project.note(&name, format!("{why}; Maven's usual directories are taken"));
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
                project.note(&name, format!("its module `{module}` has no {FILE}; it was left out"));
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
        return Err(format!("cannot be read: it has more than {POM_BYTES_MAX} bytes"));
    }
    let bytes = std::fs::read(file).map_err(|error| format!("cannot be read: {error}"))?;
    // An old pom may be in Latin-1, where each byte is a character; names of directories rarely need more than ASCII.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
    parse(&text)
}

fn parse(text: &str) -> Result<Pom, String> {
    let options = ParsingOptions { allow_dtd: true, nodes_limit: POM_NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| format!("is no well-formed XML: {error}"))?;
    let project = document.root_element();
    if name(&project) != "project" {
        return Err(format!("is no pom: it begins with <{}>", name(&project)));
    }
    let build = child(&project, "build");
    let directory = |key: &'static str| {
        build.and_then(|it| child(&it, key)).and_then(|it| plain_directory(&text_of(&it)))
    };
    let profiles = children(&project, "profiles").flat_map(|it| children(&it, "profile").collect::<Vec<_>>());
    Ok(Pom {
        modules: modules_of(&project),
        profile_modules: profiles.flat_map(|it| modules_of(&it)).collect(),
        source: directory("sourceDirectory"),
        test_source: directory("testSourceDirectory"),
        output: directory("outputDirectory"),
        test_output: directory("testOutputDirectory"),
        junit: junit_version(&project),
    })
}

/// The version of JUnit 5 or later among the dependencies, or of the list of versions that they follow.
fn junit_version(project: &Node<'_, '_>) -> Option<String> {
    let text =
        |it: &Node<'_, '_>, key: &'static str| child(it, key).map(|it| text_of(&it)).unwrap_or_default();
    let managed = child(project, "dependencyManagement");
    let lists = [Some(*project), managed].into_iter().flatten();
    let lists = lists.filter_map(|it| child(&it, "dependencies"));
    let is_junit = |it: &Node<'_, '_>| {
        let (group, artifact) = (text(it, "groupId"), text(it, "artifactId"));
        group == "org.junit.jupiter" || (group == "org.junit" && artifact == "junit-bom")
    };
    let all = lists.flat_map(|it| children(&it, "dependency").collect::<Vec<_>>());
    let version = all.filter(is_junit).map(|it| text(&it, "version")).find(|it| !it.is_empty())?;
    let version = match version.strip_prefix("${").and_then(|it| it.strip_suffix('}')) {
        Some(key) => {
            let properties = child(project, "properties")?;
            text_of(&properties.children().find(|it| it.is_element() && name(it) == key)?)
        }
        None => version,
    };
    // It goes into a command.
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    (!version.is_empty() && version.chars().all(is_plain)).then_some(version)
}

fn modules_of(node: &Node<'_, '_>) -> Vec<String> {
    let lists = children(node, "modules");
    let modules = lists.flat_map(|it| children(&it, "module").map(|it| text_of(&it)).collect::<Vec<_>>());
    modules.filter(|it| !it.is_empty() && !it.contains("${")).collect()
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

/// Names are compared without their namespace: not every pom says it, and some say it wrongly.
fn name<'a>(node: &Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

fn children<'a, 'i: 'a>(node: &Node<'a, 'i>, of: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |it| it.is_element() && it.tag_name().name() == of)
}

fn child<'a, 'i: 'a>(node: &Node<'a, 'i>, of: &'static str) -> Option<Node<'a, 'i>> {
    children(node, of).next()
}

fn text_of(node: &Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|it| it.text()).collect::<String>().trim().to_owned()
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
        check("", "no well-formed XML");
        check("<project><modules>", "no well-formed XML");
        check("<html/>", "is no pom: it begins with <html>");
        check("<project>&laughs;</project>", "no well-formed XML");
        check(
            "<!DOCTYPE p [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><project>&a;</project>",
            "no well-formed XML",
        );
    }
}
