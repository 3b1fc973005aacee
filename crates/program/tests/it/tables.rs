//! Every table can be read, compiles, has as many rows as it should, and says only what can be said.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use hypocenter_program::ClassPath;

use crate::grammar::{self, Content};
use crate::table::Concatenation::{self, Dynamic, Inline};
use crate::table::{Expectation, check_compiled, check_table, compile, parse, read};
use crate::tools::java_home;

/// Tests whether the JDK has a throwable with this simple name, as far as names tell.
fn is_throwable(name: &str) -> bool {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let classes = ClassPath::default().with_jdk(&java_home()).open(17);
        let simple = classes.names().filter_map(|name| name.rsplit('.').next());
        let throwables = simple.filter(|it| {
            it.ends_with("Exception") || it.ends_with("Error") || *it == "Throwable" || *it == "ThreadDeath"
        });
        throwables.map(str::to_owned).collect()
    });
    names.contains(name)
}

/// A table as its own analysis, which finds exactly the facts that it lists: so no row contradicts itself. On the way,
/// every expectation is compared with the code of its row.
fn check_itself(file: &str, rows_min: usize, shapes: &[&str], concatenation: Concatenation) {
    let rows = read(file);
    println!("{file}: {} rows, at least {rows_min} are wanted", rows.len());
    assert!(rows.len() >= rows_min, "{file} has {} rows", rows.len());
    let reasons: BTreeSet<&str> = rows.iter().map(|row| row.reason.as_str()).collect();
    assert_eq!(reasons.len(), rows.len(), "{file}: two rows have the same reason");
    let problems = RefCell::new(Vec::new());
    check_compiled(file, concatenation, |row, compiled| {
        let classes = compiled.class_path(row).open(17);
        assert_eq!(classes.problems(), []);
        assert!(classes.contains(&format!("rows.{}", row.class)));
        let content = Content::of(row, compiled);
        let wrong = row.expected.iter().filter_map(|it| content.problem(shapes, it, &is_throwable));
        problems.borrow_mut().extend(wrong.map(|why| format!("{file}:{}: {why}", row.line)));
        let listed = row.expected.iter().filter_map(|it| match it {
            Expectation::Fact(fact) => Some(fact.clone()),
            _ => None,
        });
        listed.collect()
    });
    assert!(problems.borrow().is_empty(), "{}", problems.borrow().join("\n"));
}

#[test]
fn exception_flow_says_what_can_be_said() {
    check_itself("exception-flow.txt", 100, grammar::EXCEPTION_FLOW, Dynamic);
}

#[test]
fn causal_says_what_can_be_said() {
    check_itself("causal.txt", 45, grammar::CAUSAL, Dynamic);
    for row in read("causal.txt") {
        assert!(row.markers.contains_key("log"), "{}: the graph begins at @log", row.class);
    }
}

#[test]
fn slices_says_what_can_be_said() {
    check_itself("slices.txt", 25, grammar::SLICES, Dynamic);
}

#[test]
fn sites_says_what_can_be_said() {
    check_itself("sites.txt", 25, grammar::SITES, Dynamic);
}

#[test]
fn logs_says_what_can_be_said() {
    check_itself("logs.txt", 40, grammar::LOGS, Dynamic);
    check_itself("logs.txt", 40, grammar::LOGS, Inline);
}

#[test]
fn states_says_what_can_be_said() {
    check_itself("states.txt", 12, grammar::STATES, Dynamic);
}

#[test]
fn loops_says_what_can_be_said() {
    check_itself("loops.txt", 25, grammar::LOOPS, Dynamic);
}

#[test]
fn points_says_what_can_be_said() {
    check_itself("points.txt", 14, grammar::POINTS, Dynamic);
}

#[test]
fn what_cannot_be_said_is_told() {
    let text =
        "## r\nint f(InputStream in) throws IOException {\n    return in.read(); /*@a*/\n}\n=> f at @a\n";
    let rows = parse(text).unwrap();
    let compiled = compile("grammar.txt", &rows, Dynamic);
    let content = Content::of(&rows[0], &compiled);
    let check = |fact: &str, expected: Option<&str>| {
        let expectation = Expectation::Fact(fact.into());
        let found = content.problem(grammar::EXCEPTION_FLOW, &expectation, &is_throwable);
        match expected {
            None => assert_eq!(found, None),
            Some(why) => assert!(found.as_ref().is_some_and(|it| it.contains(why)), "{fact}: {found:?}"),
        }
    };
    check("f escapes IOException from @3", None);
    check("g escapes IOException from @3", Some("the row has no method g"));
    check("f escapes IOExeption from @3", Some("no throwable IOExeption"));
    check("f escapes IOException at @3", Some("at is not from"));
    check("f escapes IOException from @4", Some("line 4 is no Origin, it is {}"));
    check("f catches IOException at @3 from @3", Some("line 3 is no Handler, it is {Place, Call, Origin, "));
    check("f escapes nothing at all", Some("at is too much"));
}

#[test]
#[should_panic(expected = " rows of exception-flow.txt (Dynamic) do not fit")]
fn an_analysis_that_finds_nothing_does_not_fit() {
    check_table("exception-flow.txt", |_, _| Vec::new());
}
