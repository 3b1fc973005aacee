//! What is counted, beside what LEGOLAS (Table 2) and ANDURIL (Table 1) have published of ZooKeeper.

use std::collections::BTreeSet;

use hypocenter_program::{CallId, FaultKind, FaultSite, Program, State, StateKind, TypeId};

use crate::table::{self, thousands};

/// LEGOLAS is told to leave these out as task classes; what is nested in them goes with them.
const EXCLUDED: [&str; 3] =
    ["org.apache.zookeeper.ClientCnxn", "org.apache.zookeeper.Shell", "org.apache.zookeeper.Login"];
/// A larger difference needs a reason.
const DIFFERENCE_MAX: f64 = 0.25;
/// The task classes whose states are printed.
const SHOWN: [&str; 2] =
    ["org.apache.zookeeper.server.SyncRequestProcessor", "org.apache.zookeeper.server.quorum.QuorumPeer"];
/// What the states of a peer of the quorum say.
const PEER_STATES: [&str; 4] = ["LOOKING", "OBSERVING", "FOLLOWING", "LEADING"];

/// A count beside a published one. Where the two differ too much, one of the counts that explain it must not.
struct Row {
    what: &'static str,
    ours: usize,
    published: usize,
    /// The same count by a rule nearer to the published one, and the rule.
    reasons: Vec<(usize, String)>,
}

impl Row {
    fn difference(&self, ours: usize) -> f64 {
        ours as f64 / self.published as f64 - 1.0
    }
}

/// Prints everything; false if a difference over a quarter has no reason, or a state is missing.
pub fn print(alone: &Program, with_tests: &Program) -> bool {
    let mut is_good = true;
    let mut cells = Vec::new();
    let mut reasons = Vec::new();
    for row in rows(alone, with_tests) {
        let by = row.difference(row.ours);
        let is_far = by.abs() > DIFFERENCE_MAX;
        let is_explained = row.reasons.iter().any(|it| row.difference(it.0).abs() <= DIFFERENCE_MAX);
        is_good &= !is_far || is_explained;
        let verdict = match (is_far, is_explained) {
            (false, _) => "near",
            (true, true) => "explained below",
            (true, false) => "NOT EXPLAINED",
        };
        let numbers = [row.ours, row.published].map(|it| thousands(it as u64));
        cells.push(vec![
            row.what.to_owned(),
            numbers[0].clone(),
            numbers[1].clone(),
            format!("{:+.1} %", by * 100.0),
            verdict.to_owned(),
        ]);
        for (count, rule) in &row.reasons {
            let (count, by) = (thousands(*count as u64), row.difference(*count) * 100.0);
            reasons.push(format!("  {}: {count} ({by:+.1} %) {rule}", row.what));
        }
    }
    println!("ZooKeeper 3.6.2");
    print!("{}", table::text(&["count", "here", "published", "difference", ""], &cells));
    println!("by other rules:");
    reasons.iter().for_each(|it| println!("{it}"));
    for class in SHOWN {
        is_good &= print_states(alone, class);
    }
    is_good
}

fn rows(alone: &Program, with_tests: &Program) -> Vec<Row> {
    let names = |class: TypeId| alone.world.show_type(class);
    let is_excluded = |class: TypeId| {
        let name = names(class);
        EXCLUDED
            .iter()
            .any(|it| name.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with('$')))
    };
    let of_prefix = |class: TypeId| names(class).starts_with("org.apache.zookeeper.");
    let classes = alone.world.system_classes();
    let states = alone.states.states();
    let throws_io = |it: &FaultSite| it.kind.exceptions().iter().any(|it| is_io(alone, *it));
    let is_delay = |it: &FaultSite| matches!(it.kind, FaultKind::Delay);
    let points = calls(alone, |it| throws_io(it) || is_delay(it));
    let exceptions = calls(alone, throws_io);
    let dropped: BTreeSet<CallId> = alone.faults.dropped().iter().map(|it| it.call).collect();
    let with_memory: BTreeSet<CallId> = points.union(&dropped).copied().collect();
    let throwing = |program: &Program| calls(program, |it| !it.kind.exceptions().is_empty()).len();
    let kinds = |program: &Program, is: fn(&FaultKind) -> bool| {
        program.faults.sites().iter().filter(|it| is(&it.kind)).count()
    };
    let external = |it: &FaultKind| matches!(it, FaultKind::External { .. });
    let new = |it: &FaultKind| matches!(it, FaultKind::New { .. });
    vec![
        Row {
            what: "classes (LEGOLAS)",
            ours: classes.len(),
            published: 708,
            reasons: vec![(
                classes.iter().filter(|it| of_prefix(it.id)).count(),
                "without org.apache.jute, which is a library there".to_owned(),
            )],
        },
        Row {
            what: "task classes (LEGOLAS)",
            ours: alone.states.classes().len(),
            published: 36,
            reasons: vec![(
                alone.states.classes().iter().filter(|it| !is_excluded(it.class)).count(),
                format!("without {}, which are left out there", EXCLUDED.join(", ")),
            )],
        },
        Row {
            what: "abstract states (LEGOLAS)",
            ours: states.len(),
            published: 226,
            reasons: vec![(
                states.iter().filter(|it| !is_excluded(it.class)).count(),
                "without those of the same classes".to_owned(),
            )],
        },
        Row {
            what: "methods with injection points (LEGOLAS)",
            ours: methods(alone, &points),
            published: 484,
            reasons: vec![(methods(alone, &exceptions), "without delays, only exceptions of I/O".to_owned())],
        },
        Row {
            what: "injection points (LEGOLAS)",
            ours: points.len(),
            published: 1947,
            reasons: vec![
                (exceptions.len(), "without delays, only exceptions of I/O".to_owned()),
                (with_memory.len(), "with the calls that work on streams in memory".to_owned()),
            ],
        },
        Row {
            what: "fault sites (ANDURIL)",
            ours: throwing(alone),
            published: 6225,
            reasons: vec![(
                throwing(with_tests),
                format!(
                    "with the classes of the tests, which are part of the workload there: {} calls of libraries and \
                         {} of methods that make an exception",
                    thousands(kinds(with_tests, external) as u64),
                    thousands(kinds(with_tests, new) as u64),
                ),
            )],
        },
    ]
}

/// Whether a type is an exception of input or output.
fn is_io(program: &Program, it: TypeId) -> bool {
    program.world.find_type(b"java/io/IOException").is_some_and(|io| program.world.is_subtype(it, io))
}

/// Calls with a fault of some sort. LEGOLAS was run with exceptions of input and output, and with delays of calls that
/// do such.
fn calls(program: &Program, takes: impl Fn(&FaultSite) -> bool) -> BTreeSet<CallId> {
    program.faults.sites().iter().filter(|it| takes(it)).map(|it| it.call).collect()
}

fn methods(program: &Program, calls: &BTreeSet<CallId>) -> usize {
    calls.iter().map(|it| program.facts.call(*it).method).collect::<BTreeSet<_>>().len()
}

/// Prints the states of a class, each with what it says first; false if there are none, or a peer has not one state each
/// for what it can be.
fn print_states(program: &Program, class: &str) -> bool {
    let of_class: Vec<&State> =
        program.states.states().iter().filter(|it| program.world.show_type(it.class) == class).collect();
    println!("{class}: {} states", of_class.len());
    let mut said = Vec::new();
    for (at, state) in of_class.iter().enumerate() {
        let end = of_class[at + 1..]
            .iter()
            .map(|it| it.line)
            .filter(|&it| it > state.line)
            .min()
            .unwrap_or(u16::MAX);
        let here = program.statements.statements_in(state.method).iter();
        let mut here: Vec<_> = here.filter(|it| (state.line..end).contains(&it.line)).collect();
        here.sort_by_key(|it| it.line);
        let first = here.first().and_then(|it| it.templates.first()).map(ToString::to_string);
        let kind = match state.kind {
            StateKind::Start => "start",
            StateKind::Branch => "branch",
            StateKind::Handler => "handler",
            StateKind::Helper => "helper",
        };
        let method = String::from_utf8_lossy(program.world.method_name(state.method)).into_owned();
        let text = first.as_ref().map(|it| format!("  says {it:?}")).unwrap_or_default();
        println!("  #{} {kind} at {method}:{}{text}", state.index, state.line);
        said.extend(first);
    }
    let is_whole = !class.ends_with(".QuorumPeer")
        || PEER_STATES.iter().all(|name| said.iter().filter(|it| it.starts_with(name)).count() == 1);
    !of_class.is_empty() && is_whole
}
