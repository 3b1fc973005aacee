//! Tests as JUnit's runners and reports name them, and the reports that Surefire and Gradle write.
//!
//! A report is read as a stream of events and a document type is refused, so time and memory are linear in the size of the
//! file, and the size has a bound.

use std::io::Read;
use std::path::Path;

use crate::oracle::{fits_name, open_regular};
use crate::xml::{XmlElement, XmlError, XmlEvent, XmlReader};

/// A larger report is not read.
const REPORT_BYTES_MAX: u64 = 256 << 20;
/// More of a failure's text is not kept.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// A test, or a class as a whole where `method` is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Test {
    /// The class as the runner names it, with or without its package.
    pub class: String,
    /// The method without parameters.
    pub method: Option<String>,
}

impl Test {
    pub(crate) fn new(class: &str, name: &str) -> Test {
        Test { class: class.to_owned(), method: bare_method(name) }
    }
}

impl std::fmt::Display for Test {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.method {
            Some(method) => write!(f, "{}.{method}", self.class),
            None => write!(f, "{}", self.class),
        }
    }
}

/// The method of a test's name: `m`, `m()`, `m[1]`, `m(String)[2]` and `m{String}` are all `m`. What failed outside
/// of a method has no name, or `null`.
fn bare_method(name: &str) -> Option<String> {
    let end = name.find(['(', '[', '{', ' ']).unwrap_or(name.len());
    Some(&name[..end]).filter(|it| !it.is_empty() && *it != "null").map(str::to_owned)
}

/// Tests to match: `Class`, `pkg.Class` or `Class.method`, with `*` for any text.
pub(crate) struct TestPattern<'a>(pub &'a str);

impl TestPattern<'_> {
    /// A test of a nested class also counts as one of the class around it.
    pub(crate) fn fits(&self, test: &Test) -> bool {
        if self.fits_class(self.0, &test.class) {
            return true;
        }
        let Some(method) = test.method.as_ref().filter(|_| self.0.contains('.')) else { return false };
        [test.class.clone(), test.class.replace('$', ".")]
            .iter()
            .any(|class| fits_name(self.0, &format!("{class}.{method}")))
    }

    /// Tests whether the test's class is that of the method which is meant.
    pub(crate) fn fits_class_of(&self, test: &Test) -> bool {
        self.0.rsplit_once('.').is_some_and(|(class, _)| self.fits_class(class, &test.class))
    }

    fn fits_class(&self, pattern: &str, class: &str) -> bool {
        let outer = class.split('$').next().unwrap_or(class);
        [class, &class.replace('$', "."), outer].iter().any(|it| fits_name(pattern, it))
    }
}

/// A test of a report.
#[derive(Debug)]
pub(crate) struct Case {
    pub test: Test,
    /// Its failure, if it failed.
    pub failure: Option<CaseFailure>,
}

/// Failure of a test.
#[derive(Debug)]
pub(crate) struct CaseFailure {
    /// Text of the report about it.
    pub message: String,
    /// True if it passed when it was run again. The fault happens once, so this is a failure all the same.
    pub passed_later: bool,
}

/// Hands on each test of a report. False if the file is some other XML.
pub(crate) fn read_report(path: &Path, see: impl FnMut(Case)) -> Result<bool, String> {
    let mut bytes = Vec::new();
    let file = open_regular(path).map_err(|error| error.to_string())?;
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    if length > REPORT_BYTES_MAX {
        return Err(format!(
            "it has {} MB, and the limit is {} MB; reduce the output of the tests, or name a smaller report",
            length >> 20,
            REPORT_BYTES_MAX >> 20
        ));
    }
    file.take(REPORT_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    read(&bytes, see)
}

fn read(bytes: &[u8], mut see: impl FnMut(Case)) -> Result<bool, String> {
    if bytes.trim_ascii().is_empty() {
        return Err("it is empty: the JVM of the tests ended before it wrote the report".to_owned());
    }
    let text = String::from_utf8_lossy(bytes);
    let mut report = Report { depth: 0, suites: Vec::new(), case: None, failing: None };
    let (mut is_report, mut typed) = (false, false);
    for event in XmlReader::new(&text) {
        let event = event.map_err(|error| match error {
            XmlError::CutOff => {
                "it is truncated: the JVM of the tests ended while it wrote the report, or the disk is full"
                    .to_owned()
            }
            error => format!("it is not XML: {error}"),
        })?;
        match event {
            XmlEvent::DocumentType => typed = true,
            XmlEvent::Open(element) => {
                if report.depth == 0 {
                    is_report = ["testsuite", "testsuites"].contains(&element.name());
                    if !is_report {
                        return Ok(false);
                    }
                    if typed {
                        return Err(
                            "it declares a document type, which test reports do not have; remove the declaration".to_owned()
                        );
                    }
                }
                report.open(&element);
            }
            XmlEvent::Text(text) => report.text(&text),
            XmlEvent::Close => report.close(&mut see),
        }
    }
    Ok(is_report)
}

/// Open element at a point of a report.
struct Report {
    depth: usize,
    /// The suites around, with their depth.
    suites: Vec<(usize, String)>,
    case: Option<(usize, OpenCase)>,
    /// The depth of the failure whose text is being read.
    failing: Option<usize>,
}

struct OpenCase {
    class: String,
    name: String,
    failure: Option<OpenFailure>,
}

struct OpenFailure {
    message: String,
    text: String,
    passed_later: bool,
}

impl Report {
    fn open(&mut self, element: &XmlElement<'_>) {
        self.depth += 1;
        let name = element.name();
        match name {
            "testsuite" if self.case.is_none() => self.suites.push((self.depth, element.attribute("name"))),
            "testcase" if self.case.is_none() => {
                let class = Some(element.attribute("classname")).filter(|it| !it.is_empty());
                let class =
                    class.or_else(|| self.suites.last().map(|(_, name)| name.clone())).unwrap_or_default();
                let case = OpenCase { class, name: element.attribute("name"), failure: None };
                self.case = Some((self.depth, case));
            }
            "failure" | "error" | "rerunFailure" | "rerunError" | "flakyFailure" | "flakyError" => {
                self.open_failure(element, name.starts_with("flaky"));
            }
            _ => {}
        }
    }

    fn open_failure(&mut self, element: &XmlElement<'_>, passed_later: bool) {
        let depth = self.depth;
        // A suite that fails outside of its tests is a class that fails as a whole.
        if self.case.is_none()
            && let Some((at, name)) = self.suites.last()
            && *at == depth - 1
        {
            self.case = Some((depth, OpenCase { class: name.clone(), name: String::new(), failure: None }));
        }
        let Some((at, case)) = &mut self.case else { return };
        if depth - *at > 1 || case.failure.is_some() {
            return;
        }
        let message = Some(element.attribute("message"))
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| element.attribute("type"));
        case.failure = Some(OpenFailure { message, text: String::new(), passed_later });
        self.failing = Some(depth);
    }

    fn text(&mut self, text: &str) {
        if self.failing.is_some()
            && let Some((_, OpenCase { failure: Some(failure), .. })) = &mut self.case
        {
            let room = TEXT_BYTES_MAX.saturating_sub(failure.text.len());
            failure.text.push_str(&text[..text.floor_char_boundary(room)]);
        }
    }

    fn close(&mut self, see: &mut impl FnMut(Case)) {
        if self.failing == Some(self.depth) {
            self.failing = None;
        }
        if let Some((_, case)) = self.case.take_if(|(depth, _)| *depth == self.depth) {
            see(case.close());
        }
        self.suites.pop_if(|(depth, _)| *depth == self.depth);
        self.depth -= 1;
    }
}

impl OpenCase {
    fn close(self) -> Case {
        let mut test = Test::new(&self.class, &self.name);
        let failure = self.failure.map(|it| {
            let text = it.text;
            if test.method.is_none() && self.name.starts_with('[') {
                test.method = method_in_trace(&self.class, &text);
            }
            let message = Some(it.message).filter(|it| !it.is_empty());
            let message =
                message.unwrap_or_else(|| text.trim().lines().next().unwrap_or_default().to_owned());
            CaseFailure { message, passed_later: it.passed_later }
        });
        Case { test, failure }
    }
}

/// Some reports name one run of a test with parameters by the parameters alone (`[2] b`). The trace has the method:
/// its outermost frame of the class, but not one of a lambda.
fn method_in_trace(class: &str, text: &str) -> Option<String> {
    text.lines().rev().find_map(|line| {
        let frame = line.trim().strip_prefix("at ")?;
        let frame = frame.rsplit_once('/').map_or(frame, |(_, frame)| frame);
        let method = frame.strip_prefix(class)?.strip_prefix('.')?.split('(').next()?;
        (!method.contains('$') && !method.contains('.') && !method.starts_with('<'))
            .then(|| method.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_classes_and_methods() {
        let check = |pattern: &str, class: &str, name: &str, expected: bool| {
            assert_eq!(
                TestPattern(pattern).fits(&Test::new(class, name)),
                expected,
                "{pattern} {class} {name}"
            );
        };
        check("StoreTest", "org.acme.StoreTest", "appends", true);
        check("org.acme.StoreTest", "org.acme.StoreTest", "appends", true);
        check("acme.StoreTest", "org.acme.StoreTest", "appends", true);
        check("StoreTest", "org.acme.OldStoreTest", "appends", false);
        check("Store*", "org.acme.StoreTest", "appends", true);
        check("StoreTest.appends", "org.acme.StoreTest", "appends", true);
        check("StoreTest.appends", "org.acme.StoreTest", "appends[3]", true);
        check("StoreTest.appends", "org.acme.StoreTest", "appends(String)[2]", true);
        check("StoreTest.appends", "org.acme.StoreTest", "appends()", true);
        check("StoreTest.appends", "org.acme.StoreTest", "appends{int}[1]", true);
        check("StoreTest.appends", "org.acme.StoreTest", "appendsTwice", false);
        check("StoreTest.app*", "org.acme.StoreTest", "appendsTwice", true);
        check("appends", "org.acme.StoreTest", "appends", false);
        check("*.appends", "org.acme.StoreTest", "appends", true);
        check("StoreTest.appends", "StoreTest", "appends", true);
        check("StoreTest", "org.acme.StoreTest$WhenFull", "refuses", true);
        check("StoreTest$WhenFull", "org.acme.StoreTest$WhenFull", "refuses", true);
        check("WhenFull.refuses", "org.acme.StoreTest$WhenFull", "refuses", true);
        check("StoreTest.never", "org.acme.StoreTest", "", false);
        check("StoreTest", "org.acme.StoreTest", "null", true);
    }

    fn cases(text: &str) -> Result<Option<Vec<String>>, String> {
        let mut cases = Vec::new();
        let is_report = read(text.as_bytes(), |case| {
            let failure = case.failure.map_or("passed".to_owned(), |it| {
                format!("{}{}", it.message, if it.passed_later { " (flaky)" } else { "" })
            });
            cases.push(format!("{}: {failure}", case.test));
        })?;
        Ok(is_report.then_some(cases))
    }

    #[test]
    fn reports_of_all_shapes_are_read() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(cases(text).unwrap().unwrap(), expected, "{text}");
        };
        check("<testsuite name='a.T'/>", &[]);
        check(
            "<testsuite name='a.T'><testcase name='m'/><testcase name='n[1]' classname='a.U'>\
             <failure message='1 &lt; 2' type='E'>at x</failure></testcase></testsuite>",
            &["a.T.m: passed", "a.U.n: 1 < 2"],
        );
        check(
            "<testsuites><testsuite name='o'><testsuite name='i'><testcase name='m'><error type='E'/></testcase>\
             </testsuite><testcase name='n'><skipped/></testcase></testsuite></testsuites>",
            &["i.m: E", "o.n: passed"],
        );
        check(
            "<testsuite name='a.T'><testcase name='m'><flakyFailure message='once'><stackTrace>s</stackTrace>\
             </flakyFailure></testcase><testcase name='n'><failure message='a'/><rerunFailure message='b'/>\
             <system-out><![CDATA[<failure message='no'/>]]></system-out></testcase></testsuite>",
            &["a.T.m: once (flaky)", "a.T.n: a"],
        );
        check(
            "<testsuite name='a.T'><error message='setup'>x</error><testcase name='m'/></testsuite>",
            &["a.T: setup", "a.T.m: passed"],
        );
        check(
            "<testsuite name='a.T'><testcase name='[2] b' classname='a.T'><failure>E: no\n\tat j.A.x(A.java:1)\n\
             \tat app//a.T.helper(T.java:1)\n\tat app//a.T.opens(T.java:9)\n\tat j.R.run(R.java:2)</failure>\
             </testcase></testsuite>",
            &["a.T.opens: E: no"],
        );
        check(
            "<testsuite name='a.T'><testcase name='m'><failure>expected:&lt;1&gt; but was:&#60;2&gt;</failure></testcase>\
             </testsuite>",
            &["a.T.m: expected:<1> but was:<2>"],
        );
        assert_eq!(cases("just text").unwrap(), None);
        assert_eq!(cases("<!DOCTYPE html><html><p>one<p>two").unwrap(), None);
        assert_eq!(cases("<project><testcase name='m'><failure/></testcase></project>").unwrap(), None);
    }

    #[test]
    fn hostile_reports_are_refused_or_read_in_linear_time() {
        let check = |text: &str, expected: &str| {
            let why = cases(text).unwrap_err();
            assert!(why.contains(expected), "{why}");
        };
        check(
            "<!DOCTYPE l [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><testsuite name='&b;'/>",
            "document type",
        );
        check("", "empty");
        check("<testsuite><testcase name='m'>", "truncated");
        check("<testsuite><testcase name='m", "truncated");
        check("<testsuite><![CDATA[ x", "truncated");
        check("<testsuite></testcase>", "not XML");
        check(&"<testsuite>".repeat(500_000), "truncated");
        let deep = format!("{}{}", "<testsuite>".repeat(200_000), "</testsuite>".repeat(200_000));
        assert_eq!(cases(&deep).unwrap().unwrap(), Vec::<String>::new());
        let attributes: String = (0..200_000).map(|it| format!(" a{it}=''")).collect();
        let wide = format!("<testsuite{attributes} name='a.T'><testcase name='&unknown;m'/></testsuite>");
        assert_eq!(cases(&wide).unwrap().unwrap(), ["a.T.&unknown;m: passed"]);
    }
}
