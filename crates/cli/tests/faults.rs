//! Every fault at every kind of site, in real JVMs: what the program itself says of it, and what the outcome says.

mod support;

use serde_json::Value;
use support::{Jdk, Tool, each, number_after, on_every_jdk, with_lines};

/// One fault in three rounds of `probe.Kinds`, and all that the program prints.
struct Row {
    site: &'static str,
    fault: &'static str,
    method: &'static str,
    program: &'static str,
    times: u64,
}

const fn row(
    site: &'static str,
    fault: &'static str,
    method: &'static str,
    program: &'static str,
    times: u64,
) -> Row {
    Row { site, fault, method, program, times }
}

const IO: &str = "--throw java.io.IOException --at 2";

const EXCEPTIONS: &[Row] = &[
    row(
        "Kinds.call -> Kinds.work",
        IO,
        "call",
        "round 1: 2, steps 1\n\
         round 2: java.io.IOException 'injected by hypocenter' at call:{call}, steps 0\n\
         round 3: 4, steps 1\nbye\n",
        1,
    ),
    row(
        "Kinds.call <- Kinds.work",
        IO,
        "call",
        "round 1: 2, steps 1\n\
         round 2: java.io.IOException 'injected by hypocenter' at call:{call}, steps 1\n\
         round 3: 4, steps 1\nbye\n",
        1,
    ),
    row(
        "Kinds.entry",
        IO,
        "entry",
        "round 1: 1, steps 1\n\
         round 2: java.io.IOException 'injected by hypocenter' at entry:{entry}, steps 0\n\
         round 3: 3, steps 1\nbye\n",
        1,
    ),
    row(
        "Kinds.exit exit",
        IO,
        "exit",
        "round 1: 1, steps 1\n\
         round 2: java.io.IOException 'injected by hypocenter' at exit:{exit}, steps 1\n\
         round 3: 3, steps 1\nbye\n",
        1,
    ),
    row(
        "Kinds.unwind unwind",
        IO,
        "unwind",
        "round 1: java.lang.IllegalStateException 'its own' at unwind:{unwind}, steps 1\n\
         round 2: java.io.IOException 'injected by hypocenter' at unwind:{unwind}, steps 1\n\
         round 3: java.lang.IllegalStateException 'its own' at unwind:{unwind}, steps 1\nbye\n",
        1,
    ),
    row(
        "Kinds.block block 1",
        IO,
        "block",
        "round 1: 1, steps 1\n\
         round 2: java.io.IOException 'injected by hypocenter' at block:{block}, steps 0\n\
         round 3: 3, steps 1\nbye\n",
        1,
    ),
    // The head is reached four times in a round of three iterations, so time 6 is in the second round, after one.
    row(
        "Kinds.loop loop 0",
        "--throw java.io.IOException --at 6",
        "loop",
        "round 1: 6, steps 3\n\
         round 2: java.io.IOException 'injected by hypocenter' at loop:{loop}, steps 1\n\
         round 3: 6, steps 3\nbye\n",
        1,
    ),
    row(
        "Kinds.loop loop 0 entry",
        IO,
        "loop",
        "round 1: 6, steps 3\n\
         round 2: java.io.IOException 'injected by hypocenter' at loop:{loop}, steps 0\n\
         round 3: 6, steps 3\nbye\n",
        1,
    ),
    row(
        "Kinds.loop loop 0 exit",
        IO,
        "loop",
        "round 1: 6, steps 3\n\
         round 2: java.io.IOException 'injected by hypocenter' at loop:{loop exit}, steps 3\n\
         round 3: 6, steps 3\nbye\n",
        1,
    ),
    row(
        "Kinds.handler handler 0",
        IO,
        "handler",
        "round 1: 1, steps 1\n\
         round 2: java.io.IOException 'injected by hypocenter' at handler:{handler}, steps 0\n\
         round 3: 3, steps 1\nbye\n",
        1,
    ),
    row(
        "Kinds.isEven return",
        IO,
        "isEven",
        "round 1: false, steps 0\n\
         round 2: java.io.IOException 'injected by hypocenter' at isEven:{return}, steps 0\n\
         round 3: false, steps 0\nbye\n",
        1,
    ),
    row(
        "Kinds.log log",
        IO,
        "log",
        "round 1: 1, steps 1\n\
         round 2: java.io.IOException 'injected by hypocenter' at log:{log}, steps 0\n\
         round 3: 3, steps 1\nbye\n",
        1,
    ),
];

const OTHERS: &[Row] = &[
    // Without --at: the first time.
    row(
        "Kinds.call -> Kinds.work",
        "--throw java.io.IOException --message disk",
        "call",
        "round 1: java.io.IOException 'disk' at call:{call}, steps 0\n\
         round 2: 3, steps 1\n\
         round 3: 4, steps 1\nbye\n",
        1,
    ),
    row(
        "Kinds.call -> Kinds.work",
        "--throw java.io.IOException --always --at 2",
        "call",
        "round 1: 2, steps 1\n\
         round 2: java.io.IOException 'injected by hypocenter' at call:{call}, steps 0\n\
         round 3: java.io.IOException 'injected by hypocenter' at call:{call}, steps 0\nbye\n",
        2,
    ),
    row(
        "Kinds.isEven",
        "--negate --at 2",
        "isEven",
        "round 1: false, steps 0\nround 2: false, steps 0\nround 3: false, steps 0\nbye\n",
        1,
    ),
    row(
        "Kinds.isEven",
        "--negate --always",
        "isEven",
        "round 1: true, steps 0\nround 2: false, steps 0\nround 3: true, steps 0\nbye\n",
        3,
    ),
    row("Kinds.call -> Kinds.work", "--crash --at 2", "call", "round 1: 2, steps 1\n", 1),
    row("Kinds.exit exit", "--crash", "exit", "", 1),
    // A pause changes nothing else, wherever it is.
    row(
        "Kinds.isEven return",
        "--sleep 1ms --always",
        "isEven",
        "round 1: false, steps 0\nround 2: true, steps 0\nround 3: false, steps 0\nbye\n",
        3,
    ),
    row(
        "Kinds.handler handler 0",
        "--sleep 1ms --always",
        "handler",
        "round 1: 1, steps 1\nround 2: 2, steps 1\nround 3: 3, steps 1\nbye\n",
        3,
    ),
    row(
        "Kinds.unwind unwind",
        "--spin 1ms --at 3",
        "unwind",
        "round 1: java.lang.IllegalStateException 'its own' at unwind:{unwind}, steps 1\n\
         round 2: java.lang.IllegalStateException 'its own' at unwind:{unwind}, steps 1\n\
         round 3: java.lang.IllegalStateException 'its own' at unwind:{unwind}, steps 1\nbye\n",
        1,
    ),
];

/// The one candidate, which was injected.
#[track_caller]
fn injected(outcome: &Value) -> &Value {
    assert_eq!(outcome["candidates"].as_array().unwrap().len(), 1, "{outcome:#}");
    let result = &outcome["candidates"][0]["result"];
    assert_eq!(result["end"], "injected", "{outcome:#}");
    result
}

fn check(&(jdk, row): &(&Jdk, &Row)) {
    let tool = Tool::on(jdk, "inject").arg(row.site).args(row.fault).args("--json");
    let done = tool.java(&format!("probe.Kinds {} 3", row.method)).exits(0);
    assert_eq!(done.program(), with_lines("probe/Kinds.java", row.program), "{}", done.stderr);
    let outcome = done.outcome();
    let injection = injected(&outcome);
    assert_eq!(injection["times"], row.times, "{outcome:#}");
    assert_eq!(injection["thread"], "main");
    assert_eq!(injection["node"], "main");
    if let Some((_, at)) = row.fault.split_once("--at ") {
        assert_eq!(injection["occurrence"].to_string(), at);
    }
    let top = injection["stack"][0]["method"].as_str().unwrap();
    assert_eq!(top, format!("probe.Kinds.{}", row.method));
    let status = if row.fault.contains("--crash") { 137 } else { 0 };
    assert_eq!(outcome["end"], serde_json::json!({"how": "exited", "status": status}));
    assert_eq!(outcome["problems"], serde_json::json!([]));
}

fn check_all(rows: &[Row]) {
    let name = |(jdk, row): &(&Jdk, &Row)| format!("{} {} on Java {}", row.site, row.fault, jdk.feature);
    each(&on_every_jdk(rows), name, check);
}

#[test]
fn an_exception_is_thrown_at_every_kind_of_site() {
    check_all(EXCEPTIONS);
}

#[test]
fn every_other_fault_happens_once_or_always() {
    check_all(OTHERS);
}

#[test]
fn delays_are_as_long_as_asked() {
    // The fault, and the rounds that it delays.
    let rows = [
        ("--sleep 300ms --at 2", &[2][..]),
        ("--sleep 0.2s --at 2 --always", &[2, 3]),
        ("--spin 300ms --at 3", &[3]),
        ("--spin 200ms --always", &[1, 2, 3]),
    ];
    each(
        &rows,
        |(fault, _)| fault.to_string(),
        |(fault, rounds)| {
            let tool = Tool::new("inject").arg("Delays.hit").args(fault).args("--json");
            let done = tool.java("probe.Delays 3").exits(0);
            assert_eq!(injected(&done.outcome())["times"], rounds.len());
            let program = done.program();
            for round in *rounds {
                let line = program.lines().nth(round - 1).unwrap();
                assert!(number_after(line, "wall_ms") >= 200, "{program}");
                // Somebody else may have the core for most of the time, hardly for all of it.
                assert!(fault.contains("--sleep") || number_after(line, "cpu_ms") >= 2, "{program}");
            }
        },
    );
}

#[test]
fn a_sleep_that_is_interrupted_goes_on_and_keeps_the_interrupt() {
    each(
        support::jdks(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            let tool = Tool::on(jdk, "inject").args("Delays.hit --sleep 2s --thread sleeper --json");
            let done = tool.java("probe.Delays interrupted").exits(0);
            let program = done.program();
            assert!(number_after(&program, "wall_ms") >= 2000, "{program}");
            assert!(program.ends_with("interrupted true\n"), "{program}");
        },
    );
}
