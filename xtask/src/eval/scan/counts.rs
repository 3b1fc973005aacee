//! Counts, beside those that LEGOLAS (Table 2) and ANDURIL (Table 1) have published for ZooKeeper.

use std::collections::BTreeSet;

use hypocenter_program::{CallId, FaultKind, FaultSite, Program, TypeId};

use crate::table::{self, thousands};

/// LEGOLAS is told to leave these out as task classes; what is nested in them goes with them.
const EXCLUDED: [&str; 3] =
    ["org.apache.zookeeper.ClientCnxn", "org.apache.zookeeper.Shell", "org.apache.zookeeper.Login"];
/// A larger difference needs a reason.
const DIFFERENCE_MAX: f64 = 0.25;

/// Evidence that the published count follows another rule.
#[derive(Clone, Copy)]
enum Known {
    /// The tool that was published with it does so.
    Done(&'static str),
    /// Nothing says it.
    Supposed(&'static str),
}

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Known::Done(what) => write!(f, "as the published tool does: {what}"),
            Known::Supposed(why) => write!(f, "we suppose so: {why}"),
        }
    }
}

/// The same count by another rule.
struct Reason {
    count: usize,
    rule: String,
    known: Known,
}

/// A count beside a published one. Where the two differ too much, one of the counts by other rules must not.
struct Row {
    what: &'static str,
    ours: usize,
    published: usize,
    reasons: Vec<Reason>,
}

impl Row {
    fn difference(&self, ours: usize) -> f64 {
        ours as f64 / self.published as f64 - 1.0
    }

    fn is_near(&self, ours: usize) -> bool {
        self.difference(ours).abs() <= DIFFERENCE_MAX
    }
}

/// Prints everything; false if a difference over a quarter has no reason.
pub fn print(alone: &Program, with_tests: &Program) -> bool {
    let rows: Vec<Row> = legolas(alone).into_iter().chain([anduril(alone, with_tests)]).collect();
    let percent = |by: f64| format!("{:+.1} %", by * 100.0);
    let mut is_good = true;
    let mut cells = Vec::new();
    for row in &rows {
        let is_explained = row.reasons.iter().any(|it| row.is_near(it.count));
        is_good &= row.is_near(row.ours) || is_explained;
        let verdict = match (row.is_near(row.ours), is_explained) {
            (true, _) => "near",
            (false, true) => "explained below",
            (false, false) => "NOT EXPLAINED",
        };
        let counts = [row.ours, row.published].map(|it| thousands(it as u64));
        let by = percent(row.difference(row.ours));
        cells.push(
            [row.what.to_owned(), counts[0].clone(), counts[1].clone(), by, verdict.to_owned()].to_vec(),
        );
    }
    println!("ZooKeeper 3.6.2");
    print!("{}", table::text(&["count", "here", "published", "difference", ""], &cells));
    println!("by other rules:");
    for row in &rows {
        for Reason { count, rule, known } in &row.reasons {
            let by = percent(row.difference(*count));
            println!("  {}: {} ({by}) {rule}; {known}", row.what, thousands(*count as u64));
        }
    }
    is_good
}

fn legolas(program: &Program) -> Vec<Row> {
    let name = |class: TypeId| program.world.show_type(class);
    let is_excluded = |class: TypeId| {
        let name = name(class);
        let below =
            |it: &&str| name.strip_prefix(*it).is_some_and(|rest| rest.is_empty() || rest.starts_with('$'));
        EXCLUDED.iter().any(below)
    };
    let classes = program.world.system_classes();
    let own = classes.iter().filter(|it| name(it.id).starts_with("org.apache.zookeeper.")).count();
    let tasks = program.states.classes();
    let states = program.states.states();
    let points = calls(program, |it| throws_io(program, it) || matches!(it.kind, FaultKind::Delay));
    let exceptions = calls(program, |it| throws_io(program, it));
    let dropped: BTreeSet<CallId> = program.faults.dropped().iter().map(|it| it.call).collect();
    let unfiltered: BTreeSet<CallId> = exceptions.union(&dropped).copied().collect();
    let two_runs = Known::Supposed(
        "section 7 has exceptions and delays as two experiments and Table 2 does not say of which its counts are",
    );
    let filter = Known::Done("its filter of streams in memory is off unless asked for");
    let without_delays = "without delays, exceptions of I/O alone";
    let with_memory = "without delays, and with the calls that work on streams in memory";
    let reason = |count: usize, rule: &str, known: Known| Reason { count, rule: rule.to_owned(), known };
    let left_out = Known::Done("the script for ZooKeeper names them");
    vec![
        Row {
            what: "classes (LEGOLAS)",
            ours: classes.len(),
            published: 708,
            reasons: vec![reason(
                own,
                "without org.apache.jute",
                Known::Done("only what begins with org.apache.zookeeper is the system"),
            )],
        },
        Row {
            what: "task classes (LEGOLAS)",
            ours: tasks.len(),
            published: 36,
            reasons: vec![reason(
                tasks.iter().filter(|it| !is_excluded(it.class)).count(),
                &format!("without {}", EXCLUDED.join(", ")),
                left_out,
            )],
        },
        Row {
            what: "abstract states (LEGOLAS)",
            ours: states.len(),
            published: 226,
            reasons: vec![reason(
                states.iter().filter(|it| !is_excluded(it.class)).count(),
                "without those of the same classes",
                left_out,
            )],
        },
        Row {
            what: "methods with injection points (LEGOLAS)",
            ours: methods(program, &points),
            published: 484,
            reasons: vec![
                reason(methods(program, &exceptions), without_delays, two_runs),
                reason(methods(program, &unfiltered), with_memory, filter),
            ],
        },
        Row {
            what: "injection points (LEGOLAS)",
            ours: points.len(),
            published: 1947,
            reasons: vec![
                reason(exceptions.len(), without_delays, two_runs),
                reason(unfiltered.len(), with_memory, filter),
            ],
        },
    ]
}

fn anduril(alone: &Program, with_tests: &Program) -> Row {
    let [ours, tested] = [alone, with_tests].map(Sites::of);
    let by_type = Known::Done("one call has a site for each exception");
    let tests = Known::Supposed(
        "the published tool takes every class below the system's name, those of its tests too, but Table 1 says only `all \
         static fault sites in the system`",
    );
    let shown = |sites: &Sites| {
        format!(
            "{} calls of libraries and {} of methods that make an exception",
            thousands(sites.external as u64),
            thousands(sites.new as u64)
        )
    };
    let reason = |count: usize, rule: String, known: Known| Reason { count, rule, known };
    Row {
        what: "fault sites (ANDURIL)",
        ours: ours.calls,
        published: 6225,
        reasons: vec![
            reason(
                ours.with_memory,
                "with the calls that work on streams in memory".to_owned(),
                Known::Supposed("the paper names no filter of them"),
            ),
            reason(ours.by_type, "the same by exception instead of by call".to_owned(), by_type),
            reason(tested.calls, format!("with the classes of the tests: {}", shown(&tested)), tests),
            reason(tested.by_type, "by exception, with the classes of the tests".to_owned(), tests),
        ],
    }
}

/// Places that can throw exceptions, by several ways of counting.
struct Sites {
    /// Calls.
    calls: usize,
    /// The same and those that work on streams in memory.
    with_memory: usize,
    /// By call and exception, those in memory too.
    by_type: usize,
    external: usize,
    new: usize,
}

impl Sites {
    fn of(program: &Program) -> Sites {
        let sites = program.faults.sites();
        let dropped = program.faults.dropped();
        let throwing = calls(program, |it| !it.kind.exceptions().is_empty());
        let with_memory: BTreeSet<CallId> =
            throwing.iter().copied().chain(dropped.iter().map(|it| it.call)).collect();
        let is_external = |it: &&FaultSite| matches!(it.kind, FaultKind::External { .. });
        let types = sites.iter().map(|it| it.kind.exceptions().len()).sum::<usize>();
        let types_in_memory = dropped.iter().map(|it| it.exceptions.len()).sum::<usize>();
        Sites {
            calls: throwing.len(),
            with_memory: with_memory.len(),
            by_type: types + types_in_memory,
            external: sites.iter().filter(is_external).count(),
            new: sites.iter().filter(|it| matches!(it.kind, FaultKind::New { .. })).count(),
        }
    }
}

/// Tests whether an exception of input or output can be thrown at a site.
fn throws_io(program: &Program, site: &FaultSite) -> bool {
    let io = program.world.find_type(b"java/io/IOException");
    io.is_some_and(|io| site.kind.exceptions().iter().any(|it| program.world.is_subtype(*it, io)))
}

/// Calls with a fault of some sort.
fn calls(program: &Program, takes: impl Fn(&FaultSite) -> bool) -> BTreeSet<CallId> {
    program.faults.sites().iter().filter(|it| takes(it)).map(|it| it.call).collect()
}

fn methods(program: &Program, calls: &BTreeSet<CallId>) -> usize {
    calls.iter().map(|it| program.facts.call(*it).method).collect::<BTreeSet<_>>().len()
}
