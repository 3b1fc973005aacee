//! The failures that runners of JUnit tests print: JUnitCore (and JUnit 3's text runner), the console launcher of
//! JUnit 5, Maven's Surefire and Failsafe, and Gradle.
//!
//! Output of a test can look like anything, so each form counts only in its place: after the heading that the
//! runner prints, or with the words that only the runner adds.

use std::sync::LazyLock;

use regex::Regex;

use crate::junit::Test;

/// More of a line is not looked at: what names the test is short and comes first.
const LINE_BYTES_MAX: usize = 4 << 10;

fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern compiles")
}

macro_rules! patterns {
    ($($name:ident = $pattern:expr;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| constant($pattern));)*
    };
}

patterns! {
    COLOUR = r"\x1b\[[0-9;]*m";
    CORE_HEADING = r"^There (?:was|were) \d+ (?:failure|error)s?:$";
    CORE_TEST = r"^(\d+)\) (.+)\(([\w.$]+)\)$";
    CORE_TEST_OF_3 = r"^(\d+)\) (\w+)\(([\w.$]+)\)[\w]";
    CORE_CLASS = r"^(\d+)\) ([\w.$]+)$";
    CONSOLE_HEADING = r"^(?:Test failures|Failures) \(\d+\):$";
    CONSOLE_PATH = r"^  JUnit [^:]+:(.+)$";
    CONSOLE_METHOD = r"^    \w*MethodSource \[className = '([^']+)', methodName = '([^']+)'";
    CONSOLE_CLASS = r"^    \w*ClassSource \[className = '([^']+)'";
    MAVEN_RUNNING = r"^(?:\[INFO\] )?Running ([\w.$]+)$";
    MAVEN_CLASS = r"^(?:\[ERROR\] )?Tests run: .*<<< (?:FAILURE|ERROR)!(?: --? in ([\w.$]+))?";
    MAVEN_TEST = r"^(?:\[ERROR\] +)?(\S.*?)(?: --)?\s+Time elapsed: [^<]*<<< (?:FAILURE|ERROR)!";
    MAVEN_RESULTS = r"^(?:\[INFO\] )?Results ?:\s*$";
    MAVEN_HEADING =
        r"^(?:\[\w+\] )?(?:Failures|Errors|Flakes|Flaked tests|Failed tests|Tests in error): *(.*)$";
    MAVEN_LISTED =
        r"^(?:\[\w+\])?\s*(?:Run \d+: )?([\w.$]+)(?:>[\w.$]+)?\.([\w$]+)(?:\([^)]*\))?(?:\[[^\]]*\])?(?::\d|->|\s|$)";
    MAVEN_LISTED_OF_2 = r"^(?:\[\w+\])?\s*(\w+)(?:\[[^\]]*\])?\(([\w.$]+)\)(?::|\s|$)";
    OF_CLASS = r"^([^.(]+)\(([\w.$]+)\)$";
    GRADLE_TEST = r"^([\w.$]+) > (.+) FAILED$";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    /// The failures of JUnitCore, with the number of the next.
    Core(u64),
    Console,
    /// The results of Maven: the failures are listed next.
    Results,
    /// One of Maven's lists.
    Listed,
}

/// Reads the output of a runner, line by line.
pub(super) struct Printed {
    section: Section,
    /// A failure of the console launcher that the next line may name better.
    pending: Option<Test>,
    /// The class that Maven said it runs.
    running: Option<String>,
    /// True if a runner said that it is done.
    pub done: bool,
}

impl Printed {
    pub(super) fn new() -> Printed {
        Printed { section: Section::None, pending: None, running: None, done: false }
    }

    /// The tests that a line says have failed.
    pub(super) fn line(&mut self, line: &[u8]) -> Vec<Test> {
        let line = String::from_utf8_lossy(&line[..line.len().min(LINE_BYTES_MAX)]);
        let line = if line.contains('\x1b') { COLOUR.replace_all(&line, "") } else { line };
        let mut failed = Vec::new();
        if self.section == Section::Console {
            self.console(&line, &mut failed);
        }
        self.done |= line.contains("Tests run:")
            || line.starts_with("OK (")
            || line.starts_with("Test run finished after")
            || line.contains(" tests completed, ");
        if CORE_HEADING.is_match(&line) {
            self.section = Section::Core(1);
        } else if let Section::Core(next) = self.section {
            self.core(&line, next, &mut failed);
        } else if CONSOLE_HEADING.is_match(&line) {
            self.section = Section::Console;
        }
        self.maven(&line, &mut failed);
        if line.ends_with(" FAILED")
            && let Some(found) = GRADLE_TEST.captures(&line)
        {
            let parts = [&found[1]].into_iter().chain(found[2].split(" > "));
            failed.push(of_path(&parts.collect::<Vec<_>>()));
        }
        failed
    }

    /// Rest after the end of the output.
    pub(super) fn end(&mut self) -> Option<Test> {
        self.pending.take()
    }

    fn core(&mut self, line: &str, next: u64, failed: &mut Vec<Test>) {
        if line.starts_with("FAILURES!!!") {
            self.section = Section::None;
            return;
        }
        let found = CORE_TEST
            .captures(line)
            .or_else(|| CORE_TEST_OF_3.captures(line))
            .map(|it| (it[1].parse() == Ok(next), Test::new(&it[3], &it[2])));
        let found = found.or_else(|| {
            CORE_CLASS.captures(line).map(|it| (it[1].parse() == Ok(next), Test::new(&it[2], "")))
        });
        if let Some((true, test)) = found {
            failed.push(test);
            self.section = Section::Core(next + 1);
        }
    }

    fn console(&mut self, line: &str, failed: &mut Vec<Test>) {
        if line.starts_with("Test run finished after") {
            self.section = Section::None;
            failed.extend(self.pending.take());
        } else if let Some(found) = CONSOLE_METHOD.captures(line) {
            self.pending = None;
            failed.push(Test::new(&found[1], &found[2]));
        } else if let Some(found) = CONSOLE_CLASS.captures(line) {
            self.pending = None;
            failed.push(Test::new(&found[1], ""));
        } else {
            failed.extend(self.pending.take());
            self.pending = CONSOLE_PATH.captures(line).map(|found| {
                of_path(&found.get(1).map_or("", |it| it.as_str()).split(':').collect::<Vec<_>>())
            });
        }
    }

    fn maven(&mut self, line: &str, failed: &mut Vec<Test>) {
        if let Some(found) = MAVEN_RUNNING.captures(line) {
            self.running = Some(found[1].to_owned());
        } else if line.contains("Tests run:") {
            if matches!(self.section, Section::Results | Section::Listed) {
                self.section = Section::None;
            }
            let class = MAVEN_CLASS.captures(line).map(|it| it.get(1).map(|it| it.as_str().to_owned()));
            let class = class.and_then(|named| named.or_else(|| self.running.clone()));
            failed.extend(class.map(|class| Test { class, method: None }));
        } else if line.contains("<<<")
            && let Some(found) = MAVEN_TEST.captures(line)
        {
            failed.push(of_maven(&found[1]));
        } else if MAVEN_RESULTS.is_match(line) {
            self.section = Section::Results;
        } else if matches!(self.section, Section::Results | Section::Listed) {
            let heading = MAVEN_HEADING.captures(line);
            if heading.is_some() {
                self.section = Section::Listed;
            }
            let listed = heading.as_ref().and_then(|it| it.get(1)).map_or(line, |it| it.as_str());
            if self.section != Section::Listed {
                return;
            }
            if let Some(found) = MAVEN_LISTED_OF_2.captures(listed) {
                failed.push(Test::new(&found[2], &found[1]));
            } else if let Some(found) = MAVEN_LISTED.captures(listed) {
                failed.push(Test::new(&found[1], &found[2]));
            }
        }
    }
}

/// A test by the path to it: a class, nested classes, a method, and what tells its runs apart.
fn of_path(parts: &[&str]) -> Test {
    let named: Vec<&str> = parts.iter().copied().filter(|it| !it.starts_with('[')).collect();
    let method = named.iter().position(|it| it.contains('(')).unwrap_or(named.len().saturating_sub(1));
    match method {
        0 => Test::new(named.first().copied().unwrap_or_default(), ""),
        method => Test::new(&named[..method].join("$"), named[method]),
    }
}

/// A test as Maven names it: `pkg.Class.method`, `method(pkg.Class)`, or `pkg.Class` for what failed outside of a
/// method. A class is told from a method by its first letter, as Java's conventions have it.
fn of_maven(name: &str) -> Test {
    if let Some(found) = OF_CLASS.captures(name) {
        return Test::new(&found[2], &found[1]);
    }
    let end = name.find(['(', '[', '{', ' ']).unwrap_or(name.len());
    match name[..end].rsplit_once('.') {
        Some((class, method)) if end < name.len() || !method.starts_with(char::is_uppercase) => {
            Test::new(class, method)
        }
        _ => Test::new(&name[..end], ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runner_says_which_tests_failed() {
        let check = |text: &str, expected: &[&str]| {
            let mut printed = Printed::new();
            let mut failed: Vec<Test> = text.lines().flat_map(|line| printed.line(line.as_bytes())).collect();
            failed.extend(printed.end());
            let failed: Vec<String> = failed.iter().map(Test::to_string).collect();
            assert_eq!(failed, expected, "{text}");
        };
        // What a test prints itself does not count.
        check("1) testSync(org.acme.PlainTest)", &[]);
        check("    MethodSource [className = 'org.acme.T', methodName = 'm'", &[]);
        check("[ERROR]   StoreTest.appends:7 expected", &[]);
        check("There were 2 failures:\n2) b(a.T)\n1) a(a.T)\nx\n7) c(a.T)\n2) b(a.T)", &["a.T.a", "a.T.b"]);
        // JUnit 3's text runner.
        check(
            "There was 1 error:\n1) testA(a.T)java.io.IOException: disk\n\nFAILURES!!!\n2) x(a.T)",
            &["a.T.testA"],
        );
        check("There was 1 failure:\n1) counts[size=1 (small)](a.T)\njava.lang.E", &["a.T.counts"]);
        // The launcher without sources.
        check(
            "Failures (2):\n  JUnit Jupiter:StoreTest:WhenFull:refuses()\n    => E: x",
            &["StoreTest$WhenFull.refuses"],
        );
        check("Failures (1):\n  JUnit Vintage:OldTest:[1]:counts[1]", &["OldTest.counts"]);
        check("Failures (1):\n\x1b[31m  JUnit Jupiter:T:m()\x1b[0m", &["T.m"]);
        // Surefire 2.
        check("[ERROR] appends(a.T)  Time elapsed: 0.1 s  <<< FAILURE!", &["a.T.appends"]);
        check("testX[1](a.T)  Time elapsed: 0.01 sec  <<< ERROR!", &["a.T.testX"]);
        check(
            "Running a.T\nTests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 1 sec <<< FAILURE!",
            &["a.T"],
        );
        check(
            "Results :\n\nFailed tests:   testX(a.T): no\n  testY(a.T)\n\nTests in error: \n  U.z:12->Base.help:3 » IO\n\n\
             Tests run: 4, Failures: 2, Errors: 1, Skipped: 0\n  U.late:1",
            &["a.T.testX", "a.T.testY", "U.z"],
        );
        // Surefire 3.
        check("[ERROR] a.T.opens(String)[2] -- Time elapsed: 0.046 s <<< FAILURE!", &["a.T.opens"]);
        check("[ERROR] a.SetupTest -- Time elapsed: 0.050 s <<< ERROR!", &["a.SetupTest"]);
        check("[ERROR] Tests run: 3, Failures: 1, Time elapsed: 0.04 s <<< FAILURE! -- in a.T", &["a.T"]);
        check(
            "[INFO] Results:\n[INFO] \n[ERROR] Failures: \n[ERROR]   Sub>Base.m:3 no\n[ERROR] a.T.n[1]\n\
             [ERROR]   Run 1: T.n:10 no\n[INFO]   Run 2: PASS\n[INFO] \n[ERROR] Tests run: 2, Failures: 1",
            &["Sub.m", "a.T.n", "T.n"],
        );
        // Gradle.
        check("StoreTest > appends() FAILED", &["StoreTest.appends"]);
        check("a.StoreTest > WhenFull > refuses() FAILED", &["a.StoreTest$WhenFull.refuses"]);
        check("StoreTest > opens(String) > [2] b FAILED", &["StoreTest.opens"]);
    }
}
