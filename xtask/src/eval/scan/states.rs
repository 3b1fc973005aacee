//! The states of two task classes of ZooKeeper that LEGOLAS describes, found again.

use std::collections::BTreeSet;

use hypocenter_program::{Program, State, StateKind};

use crate::table;

/// Evidence for a state.
#[derive(Clone, Copy)]
enum Sign {
    /// The task begins with it.
    Start,
    /// A log statement in it begins so.
    Says(&'static str),
    /// A method of this name is called in it.
    Calls(&'static str),
    /// The same, and it is the class's own.
    CallsOwn(&'static str),
}

/// A state that was published.
struct Expected {
    what: &'static str,
    sign: Sign,
    /// Maximum number of them.
    most: usize,
}

const fn one(what: &'static str, sign: Sign) -> Expected {
    Expected { what, sign, most: 1 }
}

/// Section 7.1 of LEGOLAS names each once.
const PEER: [Expected; 4] = [
    one("looking for a leader", Sign::Says("LOOKING")),
    one("observing", Sign::Says("OBSERVING")),
    one("following", Sign::Says("FOLLOWING")),
    one("leading", Sign::Says("LEADING")),
];
/// The four states of LEGOLAS, Figure 8, by their numbers there, and the one for flushing that section 7.1 adds: in 3.6.2
/// a flush follows from two conditions, a queue that stays empty and a log that is full.
const SYNC: [Expected; 5] = [
    one("0: the task begins", Sign::Start),
    one("1: the transaction log is written", Sign::Calls("append")),
    one("2: the last snapshot is still being taken", Sign::Says("Too busy to snap")),
    one("3: a snapshot is taken", Sign::Calls("start")),
    Expected { what: "the log in memory is flushed", sign: Sign::CallsOwn("flush"), most: 2 },
];
const CLASSES: [(&str, &[Expected]); 2] = [
    ("org.apache.zookeeper.server.SyncRequestProcessor", &SYNC),
    ("org.apache.zookeeper.server.quorum.QuorumPeer", &PEER),
];

/// Prints the states of both classes and which of them are the published ones; false if one of these is missing, is there
/// too often, or is the same as another.
pub fn print(program: &Program) -> bool {
    // Each is printed, also behind one that is not as it should be.
    CLASSES
        .iter()
        .map(|(class, expected)| print_class(program, class, expected))
        .fold(true, |all, it| all & it)
}

fn print_class(program: &Program, class: &str, expected: &[Expected]) -> bool {
    let states: Vec<&State> =
        program.states.states().iter().filter(|it| program.world.show_type(it.class) == class).collect();
    let found: Vec<BTreeSet<u16>> = expected.iter().map(|it| with_sign(program, &states, it.sign)).collect();
    let mut is_good = true;
    let mut taken = BTreeSet::new();
    for (expected, found) in expected.iter().zip(&found) {
        let is_there = (1..=expected.most).contains(&found.len()) && found.iter().all(|it| taken.insert(*it));
        if !is_there {
            println!("{class}: {} begins {} states of its own", expected.what, found.len());
        }
        is_good &= is_there;
    }
    let rows: Vec<Vec<String>> = states
        .iter()
        .map(|state| {
            let published = expected.iter().zip(&found).filter(|it| it.1.contains(&state.index));
            let published: Vec<&str> = published.map(|it| it.0.what).collect();
            let method = String::from_utf8_lossy(program.world.method_name(state.method)).into_owned();
            let said = first_said(program, &states, state).unwrap_or_default();
            vec![
                state.index.to_string(),
                format!("{method}:{}", state.line),
                kind(state.kind).to_owned(),
                published.join(", "),
                said,
            ]
        })
        .collect();
    let verdict = if is_good { "the published ones are among them" } else { "NOT AS PUBLISHED" };
    println!("{class}: {} states, {verdict}", states.len());
    print!("{}", table::text(&["state", "at", "by", "published as", "says"], &rows));
    is_good
}

fn kind(kind: StateKind) -> &'static str {
    match kind {
        StateKind::Start => "start",
        StateKind::Branch => "branch",
        StateKind::Handler => "handler",
        StateKind::Helper => "helper",
    }
}

/// The states that have the sign: for something in the code, those that began last before it.
fn with_sign(program: &Program, states: &[&State], sign: Sign) -> BTreeSet<u16> {
    let mut found = BTreeSet::new();
    for state in states {
        let has = match sign {
            Sign::Start => state.kind == StateKind::Start,
            Sign::Says(text) => said(program, states, state).iter().any(|it| it.starts_with(text)),
            Sign::Calls(name) => calls(program, states, state, name, false),
            Sign::CallsOwn(name) => calls(program, states, state, name, true),
        };
        found.extend(has.then_some(state.index));
    }
    found
}

/// Tests whether a method of this name is called in a state, or only one of the task class itself.
fn calls(program: &Program, states: &[&State], state: &State, name: &str, is_own: bool) -> bool {
    program.facts.calls_in(state.method).any(|id| {
        let call = program.facts.call(id);
        let fits = call.callee.is_some_and(|callee| {
            let callee = program.world.method_ref(callee);
            program.world.signature(callee.signature).0 == name.as_bytes()
                && (!is_own || callee.owner == state.class)
        });
        fits && is_in(states, state, call.instruction)
    })
}

/// Tests whether an instruction of the state's method belongs to it: no other begins between the two.
fn is_in(states: &[&State], state: &State, instruction: u16) -> bool {
    let before = states.iter().filter(|it| it.method == state.method && it.instruction <= instruction);
    before.map(|it| it.instruction).max() == Some(state.instruction)
}

/// Texts of the log statements of a state.
fn said(program: &Program, states: &[&State], state: &State) -> Vec<String> {
    let here = program.statements.statements_in(state.method).iter();
    let here = here.filter(|it| is_in(states, state, it.instruction));
    here.filter_map(|it| it.templates.first()).map(ToString::to_string).collect()
}

fn first_said(program: &Program, states: &[&State], state: &State) -> Option<String> {
    said(program, states, state).into_iter().next()
}
