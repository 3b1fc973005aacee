//! Documents of campaigns that were never run, with text that nobody would like to see in a page.

#![allow(dead_code)] // each test binary uses its part

use hypocenter_plan::{Fault, Frame, Guard, Injection, Plan, Site, SiteKind};
use hypocenter_report::{
    Beside, Cause, FaultSummary, Found, Injected, Interest, Lane, Lanes, Lead, Line, Mark, Missing, NamedBy,
    Place, RUNS_VERSION, Rate, Report, Round, Row, Run, RunOf, Runs, SUMMARY_VERSION, Sign, Standing, Story,
    Summary,
};

/// What logs may say.
pub const HOSTILE: &str = "</script></style><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> \
     &lt;b&gt; ' \" ` \u{1b}[31m \0 \r\n \u{202e}gnp.exe \u{2028} ]]> -->";

pub fn injected(number: u64) -> Injected {
    let site = Site {
        class: format!("org.acme.store.Log{}", number % 97),
        method: "append".into(),
        descriptor: "()V".into(),
        kind: SiteKind::Call,
        callee: Some("java.nio.channels.FileChannel.force(Z)V".into()),
        ordinal: 0,
        line: Some(30 + number as u32 % 300),
    };
    Injected {
        site,
        fault: Fault::Exception { class: "java.io.IOException".into(), message: None },
        guard: Guard::default(),
        at: Injection {
            jvm: 0,
            node: "server".into(),
            thread: format!("Writer-{number}"),
            occurrence: number + 1,
            at_ms: 1.5,
            times: 1,
            threw: Some("java.io.IOException".into()),
            stack_hash: 7,
            state: None,
            stack: vec![Frame {
                method: format!("org.acme.store.Log{}.append", number % 97),
                at: Some("Logs.java:30".into()),
            }],
        },
    }
}

fn lead(line: u32, message: &str, is_symptom: bool, own: &str) -> Lead {
    let place = Place { class: "org.acme.store.Log1".into(), method: "append".into(), line: Some(31) };
    Lead {
        node: "server".into(),
        line,
        message: message.into(),
        is_symptom,
        distance: 3,
        steps: vec![
            "FileChannel.force, called at Log1.append:31, throws IOException".into(),
            "it is caught at Log1.append:33".into(),
            own.into(),
        ],
        places: vec![Some(place.clone()), Some(place), None],
    }
}

/// A campaign of so many rounds, in the last of which the failure happened.
pub fn summary(rounds: u64) -> Summary {
    let found = Found {
        round: rounds,
        trial: rounds + 2,
        faults: vec![injected(1)],
        plan: Plan::default(),
        why: format!("logs/server.log:9: {HOSTILE}"),
        hits: 5,
        runs: 5,
        replayed: Some(rounds + 3),
    };
    let round = |number: u64| Round {
        number,
        trial: number + 1,
        window: 10,
        fault: (!number.is_multiple_of(7) || number == rounds)
            .then(|| injected(if number == rounds { 1 } else { number })),
        rank: Some(1 + number % 10),
        found_rank: Some(1 + (rounds - number) % 400),
        left: 500,
        kept: Vec::new(),
        shown: vec![1; number as usize % 3],
        happened: number == rounds,
    };
    let missing = |line: u32, message: &str| Missing {
        node: "server".into(),
        entry: line,
        line,
        message: message.into(),
        times: 1,
        sites: 12,
        shown: 2,
    };
    Summary {
        version: SUMMARY_VERSION,
        tool: "0.1.0".into(),
        verb: "reproduce".into(),
        campaign: "reproduce-0001".into(),
        workload: "quorum".into(),
        logs: vec![("server".into(), "/tmp/a b/failure.log".into())],
        budget: rounds.max(200),
        strategy: "full".into(),
        seed: 0,
        reproduced: true,
        rounds,
        seconds: 236.65,
        rate: Some(Rate { hits: 5, runs: 5 }),
        fault: Some(FaultSummary {
            class: "org.acme.store.Log1".into(),
            method: "append".into(),
            line: Some(31),
            exception: Some("java.io.IOException".into()),
            delay_ms: None,
            callee: Some("java.nio.channels.FileChannel.force(Z)V".into()),
            occurrence: 2,
            node: "server".into(),
            thread: "Writer-1".into(),
        }),
        replay: Some(format!("hypocenter replay reproduce-0001/{}", rounds + 3)),
        sites_total: 2_000,
        sites: 500,
        instances: 784_893,
        observables: 2,
        requests: Some(15_796),
        decision_ns: Some(65.9),
        between_rounds_ms: Some(45.3),
        workload_s: Some(17.2),
        normal_runs: 5,
        normal_failures: 0,
        standing: Standing::Reproduced,
        found: vec![found],
        doubtful: Vec::new(),
        stories: vec![Some(Story {
            trial: rounds + 3,
            causes: vec![Cause {
                fault: "throw java.io.IOException".into(),
                is_delay: false,
                leads_to: vec![
                    lead(7, HOSTILE, false, "Log1.append:34 logs it"),
                    lead(9, "the store is broken", true, "Store.close:80 logs it"),
                ],
                named_by: vec![NamedBy {
                    node: "server".into(),
                    line: 7,
                    frame: "org.acme.store.Log1.append:31".into(),
                    exception: "java.io.IOException".into(),
                }],
            }],
            beside: None,
        })],
        missing: vec![missing(7, HOSTILE), missing(9, "the store is broken")],
        tried: (1..=rounds).map(round).collect(),
    }
}

/// The same when nothing was found.
pub fn nothing_found(rounds: u64) -> Summary {
    let mut summary = summary(rounds);
    summary.tried.iter_mut().for_each(|it| (it.happened, it.found_rank) = (false, None));
    Summary {
        reproduced: false,
        rate: None,
        fault: None,
        replay: None,
        standing: Standing::Budget,
        found: Vec::new(),
        stories: Vec::new(),
        ..summary
    }
}

pub fn line(number: u32, message: &str) -> Line {
    Line {
        node: "server".into(),
        line: number,
        time_ms: Some(1_794_820_117_623 + i64::from(number) * 7),
        thread: Some(format!("Worker-{}", number % 9)),
        level: Some(if number.is_multiple_of(5) { "WARN" } else { "INFO" }.into()),
        message: message.into(),
        exception: number.is_multiple_of(50).then(|| "java.io.EOFException".into()),
    }
}

/// Logs of so many entries; every tenth is only in the failure, and the fault is in the middle.
pub fn runs(entries: u32) -> Runs {
    let mut rows = Vec::new();
    for number in 1..=entries {
        if number == entries / 2 {
            rows.push(Row::Fault(0));
        }
        let (message, is) = match number {
            3 => (HOSTILE.to_owned(), Interest::Observable),
            4 => ("x".repeat(1 << 20), Interest::Observable),
            _ if number == entries => ("the store is broken".to_owned(), Interest::Symptom),
            _ => (
                format!("entry {number} says what entries of logs say, about as long as they are"),
                Interest::Around,
            ),
        };
        let left = Box::new(line(number, &message));
        let right = (!number.is_multiple_of(10)).then(|| left.clone());
        rows.push(Row::Entries(Some(left), right, is));
    }
    rows.push(Row::Gap(77));
    let lanes =
        (0..16).map(|it| Lane { node: "server".into(), thread: Some(format!("Worker-{it}<b>")) }).collect();
    let marks = (0..16u32)
        .flat_map(|lane| {
            (0..400).map(move |at| {
                Mark(lane, at * 10, 1 + lane % 5, if at == 399 { Sign::Symptom } else { Sign::Plain })
            })
        })
        .collect::<Vec<_>>();
    let run = |of: RunOf| {
        let faults = if of == RunOf::Normal { Vec::new() } else { vec![(0, 1, 1_000)] };
        Run { of, marks: marks.clone(), faults, outside: (0, 12), zero_ms: 1_794_820_117_623 }
    };
    let lanes = Lanes {
        lanes,
        runs: [RunOf::Normal, RunOf::Failure, RunOf::Trial].map(run).into(),
        span_ms: (0, 4_000),
        from_fault: true,
    };
    Runs {
        version: RUNS_VERSION,
        normal: Some(0),
        trial: Some(16),
        beside: Some(Beside { rows, several_nodes: false, message_chars_max: 300 }),
        lanes: Some(lanes),
    }
}

pub fn page(summary: &Summary, runs: Option<&Runs>) -> String {
    Report { summary, runs }.page()
}
