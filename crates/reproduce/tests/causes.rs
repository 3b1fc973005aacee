//! The way from a fault to the log goes by the calls of the fault's stack.

mod support;

use hypocenter_plan::{Fault, Frame};
use hypocenter_program::Node;
use hypocenter_reproduce::Kinds;

const FAILURE: &str = "2026-01-01 10:00:03,000 WARN  [main] journal.Journal: cannot compact\n";

#[test]
fn of_two_calls_of_a_method_the_way_goes_by_the_one_of_the_stack() {
    let case = support::case_of("journal", "Journal", FAILURE, "cannot compact");
    let is_open = |it: &&hypocenter_plan::Site| {
        it.method == "open" && it.callee.as_deref().is_some_and(|it| it.contains("newOutputStream"))
    };
    let site = case.catalogue().sites().iter().find(is_open).expect("the call that fails");
    let fault = Fault::Exception { class: "java.io.IOException".into(), message: None };
    // The lines of `compact` at which the way passes.
    let lines = |stack: &[Frame]| -> Vec<u16> {
        let causes = case.causes(site, &fault, stack, &[0]).expect("a way");
        let nodes = causes.ways[0].path.iter().map(|it| it.0);
        let calls = nodes.filter_map(|it| match it {
            Node::Internal(call, _) => Some(case.program().facts.call(call).line),
            _ => None,
        });
        calls.collect()
    };
    let frame = |method: &str, line: u16| Frame {
        method: format!("journal.Journal.{method}"),
        at: Some(format!("Journal.java:{line}")),
    };
    let stack = |line| [frame("open", 23), frame("compact", line), frame("main", 1)];
    assert_eq!(lines(&stack(14)), [14]);
    assert_eq!(lines(&stack(16)), [16]);
    assert_eq!(lines(&[]).len(), 1, "without a stack any of them");
    assert_eq!(lines(&stack(99)).len(), 1, "a stack of other classes rules out everything, and so nothing");
}

#[test]
fn a_delay_is_farther_from_what_is_said_of_a_caught_exception() {
    let failure = "2026-01-01 10:00:03,000 WARN  [main] store.Store: cannot load\n\
                   2026-01-01 10:00:04,000 INFO  [main] store.Store: loaded\n";
    let case = support::case_of("store", "Store", failure, "cannot load");
    let keys: Vec<u32> = (0..case.keys().len() as u32).collect();
    let kinds = Kinds { exceptions: false, delay_ms: Some(1_000) };
    let found = case.choices(&keys, 0, kinds, false);
    let flush = |site: &hypocenter_plan::Site| site.callee.as_deref().is_some_and(|it| it.contains("flush"));
    let choice = found.choices.iter().find(|it| flush(&case.catalogue().sites()[it.site as usize]));
    let distances = &choice.expect("a call that may take long").distances;
    // It leads to neither by its method.
    assert!(distances[0].1 > distances[1].1, "{distances:?}");
}

/// Which of the calls of `store` is nearest to what the log says.
fn nearest(failure: &str) -> String {
    let case = support::case_of("mover", "Mover", failure, "cannot store");
    let keys: Vec<u32> = (0..case.keys().len() as u32).collect();
    let kinds = Kinds { exceptions: true, delay_ms: None };
    let found = case.choices(&keys, 0, kinds, false);
    let mut ranked: Vec<(u32, String)> = found
        .choices
        .iter()
        .filter_map(|it| {
            let callee = case.catalogue().sites()[it.site as usize].callee.clone()?;
            let name = callee.split('(').next()?.rsplit('.').next()?.to_owned();
            Some((it.distances.iter().map(|it| it.1).min()?, name))
        })
        .collect();
    ranked.sort();
    assert!(ranked.len() >= 4, "{ranked:?}");
    assert!(ranked[0].0 < ranked[1].0, "one stands out: {ranked:?}");
    ranked.swap_remove(0).1
}

#[test]
fn of_equal_calls_the_one_that_throws_what_the_log_says_is_nearest() {
    let says = |what: &str| format!("2026-01-01 10:00:03,000 WARN  [main] mover: cannot store: {what}\n");
    // Nothing of the program names this class.
    let moved = says("java.nio.file.FileSystemException: data/a.tmp -> data/a: Device or resource busy");
    assert_eq!(nearest(&moved), "move");
    let stack = "\tat java.base/sun.nio.ch.FileChannelImpl.force(FileChannelImpl.java:1)\n\
                 \tat mover.Mover.store(Mover.java:25)\n\
                 \tat mover.Mover.main(Mover.java:16)\n";
    let closed = "java.nio.channels.ClosedByInterruptException";
    assert_eq!(nearest(&format!("{}{closed}\n{stack}", says(closed))), "force");
}
