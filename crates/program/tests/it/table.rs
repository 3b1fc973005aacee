//! Tables of small Java programs, each with the facts that an analysis must find in it.
//!
//! A table is a text file under `tests/tables`. What stands before its first row is for people. A row is
//!
//! ```text
//! ## a sentence that says what the row is about and why the expectation is right
//! int f(InputStream in) throws IOException {
//!     return in.read(); /*@a*/
//! }
//! => f escapes IOException from @a
//! ```
//!
//! The Java lines are the members of a class `rows.Row<N>`. It is compiled so that its lines have the numbers that they
//! have in the table: a fact that names a line can be looked up there. `/*@a*/` marks its line, and `@a` in an
//! expectation stands for that line: an analysis says `@17` where the table says `@a`.
//!
//! An expectation is a fact, which must be found, or one of
//!
//! - `=> not FACT`: this must not be found,
//! - `=> only PREFIX`: of the facts that begin so, only those listed in the row may be found,
//! - `=> nothing at @a`: no fact may name this line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use hypocenter_program::ClassPath;

use crate::tools::{directory, tool};

/// Every row is compiled with these, in the line of the class header.
const IMPORTS: [&str; 9] = [
    "java.io",
    "java.net",
    "java.nio",
    "java.nio.channels",
    "java.nio.file",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.function",
];

/// Expectation of a row about the facts in it, with lines for markers (`@17`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// Must be found.
    Fact(String),
    /// Must not be found.
    Not(String),
    /// Of the facts with this beginning, only the listed ones may be found.
    Only(String),
    /// No fact may name this line, which is written `@17`.
    Nothing(String),
}

/// A row of a table.
#[derive(Debug)]
pub struct Row {
    /// Position of its reason in the table.
    pub line: u32,
    /// Its subject.
    pub reason: String,
    /// The simple name of its class; the package is `rows`.
    pub class: String,
    /// The lines that its markers name.
    pub markers: BTreeMap<String, u32>,
    /// Its text, in the order of the table.
    pub expected: Vec<Expectation>,
    java: String,
}

/// String concatenation as `javac` compiles it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concatenation {
    /// By `invokedynamic`.
    Dynamic,
    /// By `StringBuilder`, as before Java 9.
    Inline,
}

/// The classes of a table, and of the stand-ins of libraries that its rows use.
#[derive(Debug)]
pub struct Compiled {
    root: PathBuf,
}

impl Compiled {
    /// One row and the stand-ins, without a JDK. What is in the package `rows` is the system.
    pub fn class_path(&self, row: &Row) -> ClassPath {
        ClassPath::from_paths(vec![self.root.join(&row.class), self.root.join("all")])
    }

    /// The classes of one row, by name with slashes, sorted: its own and its nested ones.
    pub fn classes(&self, row: &Row) -> Vec<(String, Vec<u8>)> {
        let package = self.root.join(&row.class).join("rows");
        let class = |path: PathBuf| {
            let name = path.file_stem().unwrap().to_str().unwrap();
            (format!("rows/{name}"), std::fs::read(&path).unwrap())
        };
        let mut found: Vec<_> =
            std::fs::read_dir(&package).unwrap().map(|entry| class(entry.unwrap().path())).collect();
        found.sort();
        found
    }
}

fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables")
}

/// Reads a table; its mistakes, each with its line, instead of the rows if there are any.
pub fn parse(text: &str) -> Result<Vec<Row>, Vec<String>> {
    let mut problems = Vec::new();
    let mut rows: Vec<(Row, Vec<(u32, String)>)> = Vec::new();
    let mut in_expectations = false;
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(reason) = text.strip_prefix("## ") {
            let number = rows.len() + 1;
            let row = Row {
                line,
                reason: reason.to_owned(),
                class: format!("Row{number}"),
                markers: BTreeMap::new(),
                expected: Vec::new(),
                java: header(number, line),
            };
            rows.push((row, Vec::new()));
            in_expectations = false;
            continue;
        }
        let Some((row, expected)) = rows.last_mut() else { continue };
        if let Some(expectation) = text.strip_prefix("=> ") {
            in_expectations = true;
            expected.push((line, expectation.to_owned()));
        } else if in_expectations {
            if !text.trim().is_empty() {
                problems.push(format!("{line}: Java behind the expectations of a row: is `## ` missing?"));
            }
        } else {
            for name in markers(text) {
                if row.markers.insert(name.to_owned(), line).is_some() {
                    problems.push(format!("{line}: the marker @{name} is there twice"));
                }
            }
            row.java.push_str(text);
            row.java.push('\n');
        }
    }
    for (row, expected) in &mut rows {
        row.java.push_str("}\n");
        resolve(row, expected, &mut problems);
    }
    if problems.is_empty() { Ok(rows.into_iter().map(|(row, _)| row).collect()) } else { Err(problems) }
}

/// The class header, and as many empty lines as the row needs to keep its line numbers.
fn header(number: usize, line: u32) -> String {
    let imports: String = IMPORTS.iter().map(|it| format!("import {it}.*; ")).collect();
    let padding = "\n".repeat(line as usize);
    format!("package rows; {imports}@SuppressWarnings(\"all\") public class Row{number} {{{padding}")
}

/// The names in `/*@name*/`.
fn markers(text: &str) -> impl Iterator<Item = &str> {
    text.split("/*@").skip(1).filter_map(|rest| rest.split_once("*/").map(|(name, _)| name))
}

/// Replaces markers by lines in the expectations of a row.
fn resolve(row: &mut Row, expected: &[(u32, String)], problems: &mut Vec<String>) {
    let mut used = BTreeSet::new();
    for (line, text) in expected {
        let words: Vec<String> = text
            .split(' ')
            .map(|word| {
                let Some(marker) = word.strip_prefix('@') else { return word.to_owned() };
                let (name, colon) = marker.strip_suffix(':').map_or((marker, ""), |name| (name, ":"));
                used.insert(name.to_owned());
                row.markers.get(name).map_or_else(
                    || {
                        problems.push(format!("{line}: the row has no marker @{name}"));
                        word.to_owned()
                    },
                    |at| format!("@{at}{colon}"),
                )
            })
            .collect();
        let text = words.join(" ");
        row.expected.push(if let Some(fact) = text.strip_prefix("not ") {
            Expectation::Not(fact.to_owned())
        } else if let Some(prefix) = text.strip_prefix("only ") {
            Expectation::Only(prefix.to_owned())
        } else if let Some(at) = text.strip_prefix("nothing at ") {
            Expectation::Nothing(at.to_owned())
        } else {
            Expectation::Fact(text)
        });
    }
    for (name, line) in row.markers.iter().filter(|(name, _)| !used.contains(*name)) {
        problems.push(format!("{line}: no expectation uses the marker @{name}"));
    }
    if expected.is_empty() {
        problems.push(format!("{}: the row expects nothing", row.line));
    }
}

/// Compiles all rows, and the stand-ins that they use, in one run of `javac`.
pub fn compile(file: &str, rows: &[Row], concatenation: Concatenation) -> Compiled {
    // Several tests compile the same table at the same time.
    static RUN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let run = RUN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let root = directory(&format!("table-{}-{run}", file.trim_end_matches(".txt")));
    let (sources, out) = (root.join("sources"), root.join("all"));
    std::fs::create_dir_all(&sources).unwrap();
    std::fs::create_dir_all(&out).unwrap();
    let names: Vec<String> = rows.iter().map(|row| format!("{}.java", row.class)).collect();
    for (row, name) in rows.iter().zip(&names) {
        std::fs::write(sources.join(name), &row.java).unwrap();
    }
    let stubs = tables().join("stubs");
    let mut arguments = vec!["-g", "-nowarn", "-Xmaxerrs", "1000", "--release", "17"];
    if concatenation == Concatenation::Inline {
        arguments.push("-XDstringConcat=inline");
    }
    arguments.extend(["-sourcepath", stubs.to_str().unwrap(), "-d", out.to_str().unwrap()]);
    arguments.extend(names.iter().map(String::as_str));
    tool("javac", &arguments, &sources);
    // A row is a program of its own: another row's implementation of an interface must not be seen from it.
    for entry in std::fs::read_dir(out.join("rows")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let class = name.split(['$', '.']).next().unwrap();
        let package = root.join(class).join("rows");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::rename(&path, package.join(name)).unwrap();
    }
    Compiled { root }
}

/// The rows of a table, which must have no mistakes.
pub fn read(file: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(tables().join(file)).unwrap();
    parse(&text).unwrap_or_else(|problems| panic!("{file}:\n{}", problems.join("\n")))
}

/// Compares the facts that an analysis finds in every row of a table with what the row expects. All rows that do not fit
/// are shown together, each with its reason and with everything that was found.
pub fn check_table(file: &str, facts: impl Fn(&Row, &Compiled) -> Vec<String>) {
    check_compiled(file, Concatenation::Dynamic, facts);
}

/// As [`check_table`], with the choice how strings are concatenated.
pub fn check_compiled(
    file: &str,
    concatenation: Concatenation,
    facts: impl Fn(&Row, &Compiled) -> Vec<String>,
) {
    let rows = read(file);
    let compiled = compile(file, &rows, concatenation);
    let mut shown = String::new();
    let mut failed = 0;
    for row in &rows {
        let found = facts(row, &compiled);
        let wrong = mistakes(row, &found);
        if !wrong.is_empty() {
            failed += 1;
            writeln!(shown, "\n{file}:{}: {} {}", row.line, row.class, row.reason).unwrap();
            for it in wrong {
                writeln!(shown, "  {}", with_markers(row, &it)).unwrap();
            }
            writeln!(shown, "  found:").unwrap();
            for it in found {
                writeln!(shown, "    {}", with_markers(row, &it)).unwrap();
            }
        }
    }
    assert!(
        failed == 0,
        "{failed} of {} rows of {file} ({concatenation:?}) do not fit:\n{shown}",
        rows.len()
    );
}

/// Differences of the facts found in a row.
pub fn mistakes(row: &Row, found: &[String]) -> Vec<String> {
    let listed = |fact: &String| row.expected.contains(&Expectation::Fact(fact.clone()));
    let mut wrong = Vec::new();
    for expectation in &row.expected {
        match expectation {
            Expectation::Fact(fact) if !found.contains(fact) => wrong.push(format!("missing: {fact}")),
            Expectation::Not(fact) if found.contains(fact) => wrong.push(format!("not expected: {fact}")),
            Expectation::Only(prefix) => wrong.extend(
                found
                    .iter()
                    .filter(|fact| begins(fact, prefix) && !listed(fact))
                    .map(|fact| format!("not expected (only {prefix}): {fact}")),
            ),
            Expectation::Nothing(at) => wrong.extend(
                found
                    .iter()
                    .filter(|fact| fact.split(' ').any(|word| word.trim_end_matches(':') == at))
                    .map(|fact| format!("not expected (nothing at {at}): {fact}")),
            ),
            Expectation::Fact(_) | Expectation::Not(_) => {}
        }
    }
    wrong
}

/// Tests whether a fact begins with these words.
fn begins(fact: &str, prefix: &str) -> bool {
    fact.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
}

/// Shows `@17` as `@17(a)` where line 17 has the marker `a`.
fn with_markers(row: &Row, fact: &str) -> String {
    let shown = |word: &str| {
        let (at, colon) = word.strip_suffix(':').map_or((word, ""), |at| (at, ":"));
        let line = at.strip_prefix('@').and_then(|line| line.parse::<u32>().ok());
        let marker = line.and_then(|line| row.markers.iter().find(|(_, at)| **at == line));
        marker.map_or_else(|| word.to_owned(), |(name, _)| format!("{at}({name}){colon}"))
    };
    fact.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "for people\n\n## a reason\nint f() {\n    return 1; /*@a*/\n}\n=> f has @a\n=> not f has @b\n";

    #[test]
    fn lines_are_those_of_the_table() {
        let rows = parse(&TABLE.replace("@b", "@a")).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].markers, BTreeMap::from([("a".to_owned(), 5)]));
        assert_eq!(
            rows[0].expected,
            [Expectation::Fact("f has @5".into()), Expectation::Not("f has @5".into())]
        );
        assert_eq!(rows[0].java.lines().nth(4), Some("    return 1; /*@a*/"));
    }

    #[test]
    fn mistakes_in_a_table_are_told_with_their_lines() {
        assert_eq!(parse(TABLE).unwrap_err(), ["8: the row has no marker @b"]);
        let twice = TABLE.replace("int f() {", "int f() { /*@a*/").replace("=> not f has @b", "int g;");
        assert_eq!(
            parse(&twice).unwrap_err(),
            [
                "5: the marker @a is there twice",
                "8: Java behind the expectations of a row: is `## ` missing?"
            ]
        );
        let unused = "## r\nint f; /*@x*/\n";
        assert_eq!(
            parse(unused).unwrap_err(),
            ["2: no expectation uses the marker @x", "1: the row expects nothing"]
        );
    }

    #[test]
    fn every_kind_of_expectation_can_fail() {
        let text =
            "## r\nint f; /*@a*/\nint g; /*@b*/\n=> f at @a\n=> not g at @a\n=> only f\n=> nothing at @b\n";
        let rows = parse(text).unwrap();
        let check = |found: &[&str], expected: &[&str]| {
            let found: Vec<String> = found.iter().map(|&it| it.to_owned()).collect();
            assert_eq!(mistakes(&rows[0], &found), expected);
        };
        check(&["f at @2", "ff at @2"], &[]);
        check(&[], &["missing: f at @2"]);
        check(&["f at @2", "g at @2"], &["not expected: g at @2"]);
        check(&["f at @2", "f: x"], &["not expected (only f): f: x"]);
        check(&["f at @2", "h at @3: x"], &["not expected (nothing at @3): h at @3: x"]);
        check(&["f at @2", "h at @33"], &[]);
        assert_eq!(with_markers(&rows[0], "h at @3: x"), "h at @3(b): x");
    }
}
