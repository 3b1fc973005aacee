//! Common parts of Maven and Gradle projects: modules with sources and tests, and the directories of their classes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hypocenter_plan::CommandLine;

use super::sources::{Sources, TestClass};
use super::{ALL_TESTS, ALL_TESTS_TIME, DIRECT, ONE_TEST_TIME, Project, Proposal, TESTS_MAX, below};
use super::{junit, packages};
use crate::screen;

/// The most modules that are looked at.
pub const MODULES_MAX: usize = 500;

/// A module, or the whole of a project that has one.
#[derive(Debug)]
pub struct Module {
    /// Its path from the project; empty for the project's own directory.
    pub place: String,
    pub main: Sources,
    pub test: Sources,
    /// Directory of its classes, from the project.
    pub class_path: Vec<String>,
}

/// A test and the module that it is in.
#[derive(Debug)]
pub struct ModuleTest<'a> {
    pub module: &'a Module,
    pub test: &'a TestClass,
}

/// Puts class path and packages of some modules into a project, and says how many modules have something.
pub fn gather(project: &mut Project, directory: &Path, modules: &[Module]) -> usize {
    project.class_path = modules.iter().flat_map(|it| it.class_path.iter().cloned()).collect();
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for (package, files) in modules.iter().flat_map(|it| &it.main.packages) {
        *counted.entry(package.clone()).or_default() += files;
    }
    if counted.is_empty() {
        // A project of tests alone tests something; its packages are the nearest guess.
        for (package, files) in modules.iter().flat_map(|it| &it.test.packages) {
            *counted.entry(package.clone()).or_default() += files;
        }
    }
    let (found, left_out) = packages::common(&counted);
    project.packages = found;
    if left_out > 0 {
        project.note("packages", format!("{left_out} smaller ones are omitted; add the relevant ones"));
    }
    if modules.iter().any(|it| it.main.cut || it.test.cut) {
        project
            .note("sources", "the project has more files than the limit; packages and tests may be missing");
    }
    let missing =
        project.class_path.iter().filter(|it| !it.contains('*') && !directory.join(it).is_dir()).count();
    if missing > 0 {
        let all = project.class_path.len();
        project.note(
            "class path",
            format!(
                "{missing} of {} not found: compile the project first",
                screen::count(all as u64, "entry", "entries")
            ),
        );
    }
    modules.iter().filter(|it| !it.class_path.is_empty()).count()
}

/// Puts workloads into a project: all tests, and some classes of them, as `words` says for each. `reports` is where the
/// results of a module's tests are written.
pub fn propose(
    project: &mut Project,
    modules: &[Module],
    all: &[String],
    reports: &str,
    words: impl Fn(&ModuleTest<'_>) -> Vec<String>,
) {
    let mut tests: Vec<ModuleTest<'_>> = modules
        .iter()
        .flat_map(|module| module.test.tests.iter().map(move |test| ModuleTest { module, test }))
        .collect();
    // Stable, so modules stay in their order; what needs the whole system comes last.
    tests.sort_by_key(|it| it.test.integration);
    let has_tests = modules.iter().any(|it| !it.test.is_empty());
    if has_tests {
        let what = match tests.len() {
            0 => "All tests.".to_owned(),
            classes => {
                format!("All tests: {} by their names.", screen::count(classes as u64, "class", "classes"))
            }
        };
        let command = line(all);
        project.workloads.push(Proposal {
            name: ALL_TESTS.to_owned(),
            what,
            command,
            timeout: ALL_TESTS_TIME,
            active: true,
        });
    }
    for (number, it) in tests.iter().take(TESTS_MAX).enumerate() {
        let proposal = Proposal {
            name: it.test.short().to_owned(),
            what: format!("One class of tests: {}.", it.test.name),
            command: line(&words(it)),
            timeout: ONE_TEST_TIME,
            active: number == 0,
        };
        project.propose(proposal, &it.test.name);
    }
    project.reports = tests.first().map(|it| below(&it.module.place, reports));
    if !has_tests {
        project.note("tests", "no tests were found; add a workload");
    }
}

/// Tests without the build tool, where the jars that they need are in one directory: one JVM, which starts at once.
pub struct Ready<'r> {
    pub tool: &'static str,
    /// Directory of the jars, if they exist.
    pub jars: &'static str,
    /// Additional flags of java.
    pub class_path: Vec<String>,
    /// Instructions to get there: a sentence, and the commands.
    pub faster: &'r dyn Fn() -> Vec<String>,
}

impl Ready<'_> {
    /// Puts a workload into a project for the first of a module's tests, or how to come by one.
    pub fn propose(self, project: &mut Project, directory: &Path, module: &Module) {
        let Ready { tool, jars, class_path, faster } = self;
        let test = module.test.tests.first();
        if !has_jars(&directory.join(jars)) {
            project.faster = test.map_or_else(Vec::new, |_| faster());
            return;
        }
        project.class_path.push(format!("{jars}/*.jar"));
        let Some(test) = test else { return };
        let class_path: Vec<String> = class_path.into_iter().chain([format!("{jars}/*")]).collect();
        let class_path = class_path.join(":");
        if let Some(command) = junit::command(&project.class_path, directory, &class_path, &test.name) {
            let name = format!("{}{DIRECT}", test.short());
            let what = format!(
                "The same tests without {tool}, since JUnit is in {jars}: a single JVM that starts quickly."
            );
            project.direct = Some(name.clone());
            project.workloads.push(Proposal { name, what, command, timeout: ONE_TEST_TIME, active: true });
        } else {
            let what =
                format!("has no JUnit that `java` can run directly, so there is no workload without {tool}");
            project.note(jars, what);
            project.faster = faster();
        }
    }
}

fn has_jars(directory: &Path) -> bool {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|it| it.path()).any(|it| it.extension().is_some_and(|extension| extension == "jar"))
}

/// Tests whether tests have been run, by the reports of every module that has some: then classes are there, and what tests need was fetched.
pub fn was_tested(directory: &Path, modules: &[Module], reports: &str) -> bool {
    let place = Path::new(reports).parent().unwrap_or(Path::new(""));
    let has_report = |module: &Module| {
        let there = std::fs::read_dir(directory.join(&module.place).join(place)).into_iter().flatten();
        there.flatten().any(|it| it.path().extension().is_some_and(|it| it == "xml"))
    };
    let tested: Vec<&Module> = modules.iter().filter(|it| !it.test.tests.is_empty()).collect();
    !tested.is_empty() && tested.into_iter().all(has_report)
}

/// The build tool's wrapper where the project has one.
pub fn program(directory: &Path, wrapper: &str, otherwise: &str) -> Vec<String> {
    let path = directory.join(wrapper);
    if !path.is_file() {
        return vec![otherwise.to_owned()];
    }
    if is_executable(&path) {
        vec![format!("./{wrapper}")]
    } else {
        vec!["sh".to_owned(), wrapper.to_owned()]
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|it| it.permissions().mode() & 0o111 != 0)
}

/// The directories of sources of all languages: `src/main/java`, `src/main/kotlin` and so on.
pub fn source_directories(module: &Path, set: &str) -> Vec<PathBuf> {
    super::sources::LANGUAGES
        .iter()
        .map(|(language, _)| module.join("src").join(set).join(language))
        .collect()
}

/// Words as a person would write them on a command line: quotes only where they are needed.
pub fn line(words: &[String]) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-+=:,./@%".contains(it);
    let word = |it: &String| match !it.is_empty() && it.chars().all(plain) {
        true => it.clone(),
        false => CommandLine::of_words(std::slice::from_ref(it)).0,
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Words as a command has them.
pub fn words<const N: usize>(words: [&str; N]) -> impl Iterator<Item = String> {
    words.map(str::to_owned).into_iter()
}
