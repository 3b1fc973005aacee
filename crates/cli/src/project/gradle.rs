//! A Gradle project: `settings.gradle` for its subprojects, and Gradle's usual directories.
//!
//! Build files are programs, and only Gradle can run them. What nearly all of them write is read off their text: lists of
//! `include`, and `projectDir`. A project that makes its list of subprojects with code gets those directories that have
//! a build file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::build::{
    MODULES_MAX, Module, Ready, gather, line, program, propose, source_directories, was_tested, words,
};
use super::sources::{Sources, without_comments};
use super::{Project, below};
use crate::screen;

/// The files that make a directory a Gradle project.
pub const FILES: [&str; 4] = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
/// Directory of test results.
const REPORTS: &str = "build/test-results/test/*.xml";
const SETTINGS: [&str; 2] = ["settings.gradle", "settings.gradle.kts"];
const BUILD: [&str; 2] = ["build.gradle", "build.gradle.kts"];
/// Directory of copied test jars, so that tests need no Gradle.
const DEPENDENCIES: &str = "build/dependency";
/// The file that does it, and the task in it: a script beside the build, which stays as it is.
const COPY_FILE: &str = "dependency.gradle";
const COPY_TASK: &str = "copyDependencies";

/// Looks at the project in a directory.
pub fn look(directory: &Path) -> Project {
    let mut project = Project::default();
    let (modules, paths) = modules(&mut project, directory);
    let used = gather(&mut project, directory, &modules);
    project.what = match modules.len() {
        1 => "a Gradle project".to_owned(),
        _ => format!(
            "a Gradle project, {} with classes",
            screen::count(used as u64, "subproject", "subprojects")
        ),
    };
    let gradle = program(directory, "gradlew", "gradle");
    let alone =
        || gradle.iter().cloned().chain(words(["--no-daemon", "--offline", "--no-build-cache", "-q"]));
    let all: Vec<String> = alone().chain(words(["cleanTest", "test"])).collect();
    propose(&mut project, &modules, &all, REPORTS, |it| {
        let path = paths.get(&it.module.place).cloned().unwrap_or_default();
        let tasks =
            [format!("{path}cleanTest"), format!("{path}test"), "--tests".to_owned(), it.test.name.clone()];
        alone().chain(tasks).collect()
    });
    let first: Vec<String> = gradle.iter().cloned().chain(words(["--no-daemon", "test"])).collect();
    project.first = (!was_tested(directory, &modules, REPORTS)).then(|| line(&first));
    project.why = vec![
        "No daemon: it would outlive the trial, and a running daemon is outside of the trial. Stop it with `gradle --stop`, or".into(),
        "trials wait for its locks. Offline: a trial has only a private loopback network, so run".into(),
        format!("`{}` once before. cleanTest and no build cache, because Gradle skips tests", first.join(" ")),
        "with unchanged inputs.".into(),
    ];
    if let [module] = modules.as_slice() {
        let class_path = class_path(directory, module);
        let faster = || faster(&gradle);
        let ready = Ready { tool: "Gradle", jars: DEPENDENCIES, class_path, faster: &faster };
        ready.propose(&mut project, directory, module);
    }
    project
}

/// Classes and resources, which Gradle keeps apart, those of the tests first.
fn class_path(directory: &Path, module: &Module) -> Vec<String> {
    let resources =
        ["test", "main"].map(|set| (format!("src/{set}/resources"), format!("build/resources/{set}")));
    let resources = resources.into_iter().filter(|it| directory.join(&it.0).is_dir()).map(|it| it.1);
    module.class_path.iter().rev().cloned().chain(resources).collect()
}

/// The commands by which tests come to be run without Gradle.
fn faster(gradle: &[String]) -> Vec<String> {
    let copy = words(["--no-daemon", "-q", "-I", COPY_FILE, COPY_TASK]);
    let copy: Vec<String> = gradle.iter().cloned().chain(copy).collect();
    vec![
        "for tests that start faster, without Gradle (`hypocenter guide start`):".to_owned(),
        format!(
            "echo 'rootProject {{ afterEvaluate {{ task {COPY_TASK}(type: Copy) {{ from configurations.testRuntimeClasspath; \
             into \"{DEPENDENCIES}\" }} }} }}' > {COPY_FILE}"
        ),
        line(&copy),
        "hypocenter init --force".to_owned(),
    ]
}

/// The root and its subprojects; for each place the beginning of its tasks, `:core:`.
fn modules(project: &mut Project, directory: &Path) -> (Vec<Module>, BTreeMap<String, String>) {
    let mut paths = BTreeMap::from([(String::new(), String::new())]);
    let mut places = vec![String::new()];
    let file = SETTINGS.into_iter().find(|it| directory.join(it).is_file());
    let settings = file.map(|name| match std::fs::read(directory.join(name)) {
        Ok(bytes) => Settings::parse(&String::from_utf8_lossy(&bytes)),
        Err(error) => {
            project.note(name, format!("cannot be read: {error}; the subprojects are guessed"));
            Settings::default()
        }
    });
    if let (Some(mut settings), Some(file)) = (settings, file) {
        if settings.subprojects.is_empty() {
            settings.subprojects = directories_with_build(directory);
        }
        for path in settings.subprojects {
            let usual = path.trim_start_matches(':').replace(':', "/");
            let place = settings.directories.get(&path).cloned().unwrap_or(usual);
            if paths.contains_key(&place) {
                continue;
            }
            if !directory.join(&place).is_dir() {
                project
                    .note(file, format!("subproject `{path}` has no directory `{place}` and was left out"));
            } else if places.len() > MODULES_MAX {
                project
                    .note(file, format!("has more than {MODULES_MAX} subprojects; the others were left out"));
                break;
            } else {
                paths.insert(place.clone(), format!("{path}:"));
                places.push(place);
            }
        }
    }
    (places.iter().map(|place| module_of(place, directory)).collect(), paths)
}

fn module_of(place: &str, directory: &Path) -> Module {
    let module = directory.join(place);
    let [main, test] = ["main", "test"].map(|set| Sources::read(&source_directories(&module, set)));
    // Each language has a directory of its own.
    let outputs = [(&main, "main"), (&test, "test")].into_iter().flat_map(|(sources, set)| {
        let mut languages: BTreeSet<&str> = sources.languages.iter().copied().collect();
        languages.extend(
            super::sources::LANGUAGES
                .iter()
                .map(|(it, _)| *it)
                .filter(|language| module.join("build/classes").join(language).join(set).is_dir()),
        );
        languages.into_iter().map(move |language| format!("build/classes/{language}/{set}"))
    });
    let class_path = outputs.map(|it| below(place, &it)).collect();
    Module { place: place.to_owned(), main, test, class_path }
}

fn directories_with_build(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let with_build = entries.filter(|it| BUILD.iter().any(|file| it.path().join(file).is_file()));
    // `buildSrc` is the build's own code.
    let names = with_build.filter_map(|it| it.file_name().into_string().ok()).filter(|it| it != "buildSrc");
    let mut paths: Vec<String> = names.map(|it| format!(":{it}")).collect();
    paths.sort();
    paths
}

/// Content of a settings file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Settings {
    /// Paths as Gradle has them: `:core`, `:net:http`.
    subprojects: Vec<String>,
    /// Files that are not at their usual place.
    directories: BTreeMap<String, String>,
}

impl Settings {
    fn parse(text: &str) -> Settings {
        let code = without_comments(text);
        let mut settings = Settings::default();
        for rest in after_word(&code, "include") {
            let paths = literals(rest).into_iter().map(|it| path(&it));
            settings.subprojects.extend(paths.filter(|it| it.len() > 1));
        }
        for rest in after_word(&code, "project") {
            // project(':a').projectDir = file('b'), new File(settingsDir, 'b')
            let Some((call, value)) = rest.split_once("projectDir") else { continue };
            let value = value.lines().next().unwrap_or_default();
            if let ([name], Some(place)) = (literals(call).as_slice(), quoted(value).pop())
                && !call.contains('\n')
            {
                settings
                    .directories
                    .insert(path(name), place.trim_start_matches("./").trim_matches('/').to_owned());
            }
        }
        settings
    }
}

/// A subproject's path with the colon that may be left out.
fn path(text: &str) -> String {
    format!(":{}", text.trim_start_matches(':'))
}

/// Text after each use of a word.
fn after_word<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let part_of_name = |it: char| it.is_alphanumeric() || it == '_' || it == '.';
    code.match_indices(word).filter_map(move |(at, _)| {
        let after = &code[at + word.len()..];
        let whole = !code[..at].ends_with(part_of_name) && !after.starts_with(part_of_name);
        whole.then_some(after)
    })
}

/// The texts in quotes at the beginning, with nothing but commas, brackets and names of lists between.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|it: char| ",([".contains(it) || it.is_whitespace());
        rest = ["listOf", "arrayOf", "setOf"].iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
        match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => match rest[1..].split_once(quote) {
                Some((text, after)) => {
                    found.push(text.to_owned());
                    rest = after;
                    // Without a comma the list has ended, and the next text is somebody else's.
                    if !rest.trim_start().starts_with(',') {
                        return found;
                    }
                }
                None => return found,
            },
            Some('(' | '[' | ',') => {}
            _ => return found,
        }
    }
}

/// All texts in quotes.
fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = if rest[at..].starts_with('"') { '"' } else { '\'' };
        let Some((text, after)) = rest[at + 1..].split_once(quote) else { break };
        found.push(text.to_owned());
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_settings_are_read() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(Settings::parse(text).subprojects, expected, "{text}");
        };
        check("include 'core', ':net:http'", &[":core", ":net:http"]);
        check("include(\":core\")\ninclude(\"app\")\n", &[":core", ":app"]);
        check("include(\n    \"a\", // the first\n    \"b\",\n)\nrootProject.name = \"x\"", &[":a", ":b"]);
        check("include 'a',\n        'b'\n'c'.foo()", &[":a", ":b"]);
        check("include(listOf(\"a\", \"b\"))", &[":a", ":b"]);
        check("include(*[\"a\"])", &[]);
        check("// include 'no'\nincludeBuild 'other'\nit.include 'no'\nincludeFlat('no')", &[]);
        check("include 'open", &[]);
        check("", &[]);
    }

    #[test]
    fn a_subproject_may_be_elsewhere() {
        let text = "include ':a', ':b'\nproject(':a').projectDir = file('modules/a')\n\
            project(\":b\").projectDir = new File(settingsDir, './x/b')\n";
        let settings = Settings::parse(text);
        let place = |path: &str| settings.directories.get(path).map(String::as_str);
        assert_eq!((place(":a"), place(":b")), (Some("modules/a"), Some("x/b")));
    }
}
