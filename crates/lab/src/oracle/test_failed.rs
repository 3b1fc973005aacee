//! A test that failed, by its report or by what its runner printed.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use hypocenter_plan::{OracleOutcome, Role};

use crate::junit::{Case, Test, TestPattern, read_report};

use super::log::{logs, read_log};
use super::place::Place;
use super::printed::Printed;
use super::text::{names, shown};
use super::{OracleError, Scene};

/// The clock that stamps files is behind the one that says when a trial starts by up to a tick of the kernel.
const CLOCK_SLACK: Duration = Duration::from_millis(20);

pub(super) fn check(test: &str, reports: Option<&str>) -> Result<(), OracleError> {
    let wrong = |pattern: &str, why: &str| {
        Err(OracleError::Pattern { what: "junit", pattern: pattern.to_owned(), why: why.to_owned() })
    };
    if test.is_empty() || test.contains(|it: char| "#([{: ".contains(it)) {
        return wrong(
            test,
            "a test is `Class`, `package.Class` or `Class.method`, without parameters; `*` stands for any text",
        );
    }
    match reports {
        Some("") => {
            wrong(test, "its `reports` is empty; give a pattern such as `target/surefire-reports/*.xml`")
        }
        Some(reports) if reports.ends_with('/') => {
            wrong(reports, "this is a directory; end with a pattern for its files, such as `*.xml`")
        }
        _ => Ok(()),
    }
}

pub(super) fn judge(
    test: &str,
    reports: Option<&str>,
    scene: &Scene<'_>,
) -> Result<OracleOutcome, OracleError> {
    match reports {
        Some(reports) => by_reports(&TestPattern(test), reports, scene),
        None => by_output(&TestPattern(test), scene),
    }
}

/// Combined content of the reports.
#[derive(Default)]
struct Tally {
    /// The first failure that fits.
    failed: Option<String>,
    /// Number of tests.
    tests: u64,
    /// Number of them that match.
    fitting: u64,
    /// A class that failed as a whole, and is that of the test.
    class: Option<String>,
}

impl Tally {
    fn see(&mut self, pattern: &TestPattern<'_>, case: Case, report: &str) {
        self.tests += u64::from(case.test.method.is_some());
        let fits = pattern.fits(&case.test);
        self.fitting += u64::from(fits);
        let Some(failure) = case.failure else { return };
        let later = if failure.passed_later { " (it passed in a rerun)" } else { "" };
        let message = shown(failure.message.as_bytes());
        if fits && self.failed.is_none() {
            self.failed = Some(format!("{} failed: {message}{later} ({report})", case.test));
        } else if !fits && case.test.method.is_none() && pattern.fits_class_of(&case.test) {
            self.class =
                Some(format!("{} failed outside of its test methods: {message} ({report})", case.test));
        }
    }
}

fn by_reports(
    pattern: &TestPattern<'_>,
    reports: &str,
    scene: &Scene<'_>,
) -> Result<OracleOutcome, OracleError> {
    let none = |why: String| OracleError::NoReport { pattern: reports.to_owned(), why };
    let place = Place::of(reports, scene);
    let files = place.files().map_err(|error| none(format!("{error} below {}", place.path().display())))?;
    if files.is_empty() {
        let why = match place.path().is_dir() {
            true => "this is a directory; end with a pattern for its files, such as `*.xml`".to_owned(),
            false => format!(
                "{} does not exist; the tests wrote no report, or wrote it elsewhere",
                place.path().display()
            ),
        };
        return Err(none(why));
    }
    let (mut tally, mut old, mut others, mut trouble) = (Tally::default(), 0, 0, None);
    for path in &files {
        let shown = shown_path(path, scene);
        match is_old(path, scene) {
            Ok(false) => {}
            Ok(true) => {
                old += 1;
                continue;
            }
            Err(error) => {
                trouble.get_or_insert(OracleError::Report { path: shown, why: error.to_string() });
                continue;
            }
        }
        match read_report(path, |case| tally.see(pattern, case, &shown)) {
            Ok(true) => {}
            Ok(false) => others += 1,
            Err(why) => {
                trouble.get_or_insert(OracleError::Report { path: path.display().to_string(), why });
            }
        }
        if let Some(why) = tally.failed {
            return Ok(OracleOutcome { happened: true, why });
        }
    }
    // A report that cannot be read may be the one that has the failure.
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    let read = files.len() - old - others;
    if read == 0 {
        let what = match (old, others) {
            (0, _) => format!("{others} files match, and none is a test report"),
            (_, 0) => format!("{old} files match, and all are older than the trial; its tests wrote none"),
            _ => {
                format!("{old} matching files are older than the trial, and {others} are not test reports")
            }
        };
        return Err(none(format!(
            "{what}; check that the workload runs the tests, and where it writes their reports"
        )));
    }
    let mut why = match tally.fitting {
        0 => format!("none of the {} tests in {read} reports is `{}`", tally.tests, pattern.0),
        fitting => format!("{fitting} tests in {read} reports match `{}`, and none failed", pattern.0),
    };
    why.extend(tally.class.map(|class| format!("; {class}")));
    if old > 0 {
        why.push_str(&format!("; {old} reports older than the trial were left out"));
    }
    Ok(OracleOutcome { happened: false, why })
}

fn is_old(path: &Path, scene: &Scene<'_>) -> std::io::Result<bool> {
    let written = path.metadata()?.modified()?;
    Ok(scene.started.duration_since(written).is_ok_and(|before| before > CLOCK_SLACK))
}

fn shown_path(path: &Path, scene: &Scene<'_>) -> String {
    let below = path.strip_prefix(scene.fresh).or_else(|_| path.strip_prefix(scene.base));
    below.unwrap_or(path).display().to_string()
}

fn by_output(pattern: &TestPattern<'_>, scene: &Scene<'_>) -> Result<OracleOutcome, OracleError> {
    // Tests are run by the command or by clients. Where there are nodes alone, one of them must be it.
    let runs_tests = |role: Role| role != Role::Node;
    let any = scene.processes.iter().any(|it| runs_tests(it.role));
    let logs = logs(scene.processes.iter().filter(|it| !any || runs_tests(it.role)));
    if logs.is_empty() {
        return Ok(OracleOutcome { happened: false, why: super::not_started(None, scene) });
    }
    let (mut found, mut class, mut done, mut others) = (None, None, false, 0_u64);
    for log in &logs {
        let mut printed = Printed::new();
        let mut see = |test: Test, place: String| {
            if pattern.fits(&test) {
                found = Some(format!("{test} failed ({place})"));
                return ControlFlow::Break(());
            }
            others += 1;
            if test.method.is_none() && pattern.fits_class_of(&test) {
                class = Some(format!("{test} failed outside of a test method ({place})"));
            }
            ControlFlow::Continue(())
        };
        read_log(scene, log, |number, line| {
            printed
                .line(line)
                .into_iter()
                .try_for_each(|test| see(test, format!("{log}:{number}: {}", shown(line))))
        })?;
        if let Some(test) = printed.end() {
            let _ = see(test, log.to_string());
        }
        done |= printed.done;
        if let Some(why) = found {
            return Ok(OracleOutcome { happened: true, why });
        }
    }
    let logs = names(logs.iter().copied());
    let mut why = match (done, others) {
        (false, 0) => format!(
            "no runner of JUnit tests printed its result to {logs} (JUnitCore, the console launcher, Maven and \
             Gradle are known; `reports` reads XML)"
        ),
        (_, 0) => format!("no failed test in {logs}"),
        _ => format!("tests failed in {logs}, but none is `{}`", pattern.0),
    };
    why.extend(class.map(|class| format!("; {class}")));
    Ok(OracleOutcome { happened: false, why })
}
