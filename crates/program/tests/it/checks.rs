//! Checks of a call by another, by the table, and the consequences of a call.

use hypocenter_plan::Frame;

use crate::slices::Program;
use crate::table::{Concatenation, Row, check_table, compile, read};

/// The lines of the stack of a marker, innermost first: `@5 under @9`.
fn shown(row: &Row, marker: &str) -> String {
    let names = std::iter::successors(Some(marker.to_owned()), |it| Some(format!("{it}_in")));
    let lines: Vec<String> = names.map_while(|it| Some(format!("@{}", row.markers.get(&it)?))).collect();
    lines.join(" under ")
}

/// The stack of a marker, with a frame of a library on top.
fn stack(row: &Row, program: &Program, marker: &str) -> Vec<Frame> {
    let lines = program.lines();
    let mut stack = vec![Frame { method: "lib.Inner.call".to_owned(), at: None }];
    let mut name = marker.to_owned();
    while let Some(line) = row.markers.get(&name) {
        let (method, _) = lines[line][0];
        let at = Some(format!("Row.java:{line}"));
        stack.push(Frame { method: program.world.show_method(method), at });
        name += "_in";
    }
    stack
}

#[test]
fn checks_are_those_of_the_table() {
    check_table("checks.txt", |row, compiled| {
        let program = Program::of(row, compiled);
        let mut found = Vec::new();
        for check in row.markers.keys().filter(|it| !it.ends_with("_in")) {
            for decided in row.markers.keys().filter(|it| !it.ends_with("_in") && *it != check) {
                let [one, other] = [check, decided].map(|it| stack(row, &program, it));
                if program.causes().deciding(&one, &other).is_some() {
                    found.push(format!("{} decides {}", shown(row, check), shown(row, decided)));
                }
            }
        }
        found
    });
}

#[test]
fn consequences_are_uses_of_the_result_and_the_handler_that_catches() {
    let mut rows = read("checks.txt");
    rows.retain(|it| it.reason.starts_with("an exception that the method catches"));
    let compiled = compile("checks-one.txt", &rows, Concatenation::Dynamic);
    let program = Program::of(&rows[0], &compiled);
    let consequences = |marker: &str, thrown: &[&str]| {
        program.causes().consequences(&stack(&rows[0], &program, marker), thrown).expect("the call is found")
    };
    let caught = consequences("a", &["java.nio.file.NoSuchFileException", "java.io.IOException"]);
    assert!(!caught.uses.is_empty() && !caught.escapes);
    assert!(!caught.handler_calls.is_empty(), "{caught:?}");
    assert!(
        consequences("b", &["java.nio.file.NoSuchFileException", "java.io.IOException"]).escapes,
        "its own handler does not cover it"
    );
    assert!(consequences("a", &["java.lang.Throwable"]).escapes, "nobody catches it");
    assert_eq!(program.causes().consequences(&[], &["java.io.IOException"]), None);
}
