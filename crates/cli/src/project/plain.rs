//! A directory without a build that is known: compiled classes and jars, if there are some.

use std::collections::BTreeMap;
use std::path::Path;

use hypocenter_program::{ClassPath, Classes, SitePattern, find_sites};

use super::build::{line, words};
use super::sources::{has_test_name, is_integration};
use super::{ONE_TEST_TIME, Project, Proposal, TESTS_MAX, junit, packages, relative};
use crate::screen;

/// The Java that jars for several are read for; only names of classes are looked at, and those hardly differ.
pub const RELEASE: u16 = 17;
/// Directories of compilers and editors for classes. IntelliJ's `out` has a directory for each of its modules.
const CLASSES: [&str; 6] = ["classes", "bin", "out/production/*", "out/test/*", "out", "target/classes"];
/// Directories of libraries.
const LIBRARIES: [&str; 3] = ["lib", "libs", "dependency"];
/// More jars than these are named by a pattern.
const JARS_NAMED: usize = 8;
/// Maximum depth at which class files are searched for.
const DEPTH_MAX: usize = 12;
/// Maximum number of programs that get a workload.
const PROGRAMS_MAX: usize = 3;
const PROGRAM_TIME: &str = "1m";
const MAIN: &str = "([Ljava/lang/String;)V";

/// Looks at a directory.
pub fn look(directory: &Path) -> Project {
    let mut project = Project::default();
    let directories = class_directories(directory);
    let jars = jars_in(directory);
    let mut own = directories.clone();
    match jars.len() {
        0..=JARS_NAMED => own.extend(jars.iter().cloned()),
        _ => own.push("*.jar".to_owned()),
    }
    let libraries: Vec<(&str, usize)> = LIBRARIES
        .into_iter()
        .map(|place| (place, jars_in(&directory.join(place)).len()))
        .filter(|(_, jars)| *jars > 0)
        .collect();
    if own.is_empty() && libraries.is_empty() {
        project.what = "nothing known".to_owned();
        project.note(
            "directory",
            "has no pom.xml, no Gradle build, no jars and no class files; the file is a template",
        );
        return project;
    }
    let all_jars = jars.len() + libraries.iter().map(|(_, jars)| jars).sum::<usize>();
    project.what = format!(
        "{} and {}",
        screen::count(directories.len() as u64, "directory of classes", "directories of classes"),
        screen::count(all_jars as u64, "jar", "jars")
    );
    project.class_path = own.clone();
    project.class_path.extend(libraries.iter().map(|(place, _)| format!("{place}/*.jar")));
    let classes = ClassPath::from_entries(&project.class_path, directory).open(RELEASE);
    for problem in classes.problems() {
        let place = relative(Path::new(&problem.place), directory).unwrap_or_else(|| problem.place.clone());
        project.note(place, problem.what.clone());
    }
    // A jar in `lib` is a library; with nothing else there, nobody can say which of them is the system.
    let system = ClassPath::from_entries(&own, directory).open(RELEASE);
    if system.is_empty() {
        project.note(
            "packages",
            "only libraries were found; list the packages of the system in [target] packages",
        );
    }
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for name in system.names().filter(|it| *it != "module-info") {
        *counted.entry(name.rsplit_once('.').map_or("", |(package, _)| package).to_owned()).or_default() += 1;
    }
    let (found, left_out) = packages::common(&counted);
    project.packages = found;
    if left_out > 0 {
        project.note("packages", format!("{left_out} smaller ones are omitted; add the relevant ones"));
    }
    propose(&mut project, &system, &classes);
    project
}

/// Programs and tests among the classes.
fn propose(project: &mut Project, system: &Classes, all: &Classes) {
    // As java takes it: `lib/*` and not `lib/*.jar`.
    let entries: Vec<String> = project
        .class_path
        .iter()
        .map(|it| it.strip_suffix(".jar").filter(|it| it.ends_with('*')).unwrap_or(it).to_owned())
        .collect();
    let class_path = entries.join(":");
    let pattern: SitePattern = "*.main".parse().expect("a pattern of this file");
    let mut programs: Vec<String> = find_sites(system, &pattern)
        .sites
        .into_iter()
        .filter(|it| it.method == "main" && it.descriptor == MAIN)
        .map(|it| it.class)
        .filter(|it| is_written_plainly(it))
        .collect();
    programs.dedup();
    for (number, class) in programs.iter().take(PROGRAMS_MAX).enumerate() {
        let command: Vec<String> = words(["java", "-cp", &class_path, class]).collect();
        let short = class.rsplit('.').next().unwrap_or(class);
        let proposal = Proposal {
            name: short.to_owned(),
            what: format!("The program {class}; add its arguments."),
            command: line(&command),
            timeout: PROGRAM_TIME,
            active: number == 0,
        };
        project.propose(proposal, class);
    }
    let short = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let mut tests: Vec<&str> =
        system.names().filter(|it| has_test_name(&short(it)) && is_written_plainly(it)).collect();
    tests.sort_by_key(|it| is_integration(&short(it)));
    for (number, test) in tests.iter().take(TESTS_MAX).enumerate() {
        let Some(command) = junit::command_on(all, &class_path, test) else { break };
        let proposal = Proposal {
            name: short(test),
            what: format!("One class of tests: {test}."),
            command,
            timeout: ONE_TEST_TIME,
            active: number == 0,
        };
        project.propose(proposal, test);
    }
    if project.workloads.is_empty() {
        project.note("workload", "no class with a main method and no JUnit was found; add a workload");
    }
}

/// Class files may have names that no source could give, and names go into comments and commands.
fn is_written_plainly(class: &str) -> bool {
    class.chars().all(|it| it.is_alphanumeric() || "_$.".contains(it))
}

/// The directories that have class files in them, as seen from the project.
fn class_directories(directory: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for place in CLASSES {
        let places = match place.strip_suffix("/*") {
            Some(parent) => {
                let entries = std::fs::read_dir(directory.join(parent)).into_iter().flatten().flatten();
                let mut places: Vec<String> =
                    entries.filter_map(|it| relative(&it.path(), directory)).collect();
                places.sort();
                places
            }
            None => vec![place.to_owned()],
        };
        for place in places {
            // `out` is a class directory only where nothing below it is one.
            let has_parts = found.iter().any(|it| it.starts_with(&format!("{place}/")));
            if !has_parts && has_classes(&directory.join(&place), DEPTH_MAX) {
                found.push(place);
            }
        }
    }
    found
}

fn has_classes(directory: &Path, depth: usize) -> bool {
    let entries: Vec<_> = std::fs::read_dir(directory).into_iter().flatten().flatten().collect();
    let is_class = |path: &Path| path.extension().is_some_and(|it| it == "class");
    entries.iter().any(|it| is_class(&it.path()))
        || entries.iter().any(|it| {
            depth > 0 && it.file_type().is_ok_and(|it| it.is_dir()) && has_classes(&it.path(), depth - 1)
        })
}

/// The names of the jars in a directory, sorted.
fn jars_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.filter_map(|it| it.file_name().into_string().ok());
    let mut jars: Vec<String> = names.filter(|it| it.ends_with(".jar") && !it.contains('*')).collect();
    jars.sort();
    jars
}
