//! Documents of campaigns that were never run, with text that nobody would like to see in a page.

#![allow(dead_code)] // each test binary uses its part

use hypocenter_plan::{Fault, Frame, Guard, Injection, Plan, Role, Site, SiteKind};
use hypocenter_report::Reported;
use hypocenter_results::explored::{
    self, Exploration, Saw, Severity, SiteCounts, StateChange, Suspicion, Symptom, SymptomKind, Task,
    TaskState, Tried,
};
use hypocenter_results::reproduced::{
    Again, Cause, Explained, FaultSummary, Lead, LinePlace, Missing, Moment, NamedBy, Reproduction, Round,
    Silent, Sooner, Standing, Story,
};
use hypocenter_results::runs::{
    Beside, Entries, Interest, Lane, Lanes, Line, Mark, RUNS_VERSION, Row, Run, RunOf, Runs, Sign,
};
use hypocenter_results::{Detail, Document, Finding, Header, Injected, Measured, Proof, Rate, Rule, Score};

/// Possible log entries.
pub const HOSTILE: &str = "</script></style><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> \
     &lt;b&gt; ' \" ` \u{1b}[31m \0 \r\n \u{202e}gnp.exe \u{2028} ]]> -->";

/// A document with something else in it.
pub fn changed<D>(mut it: Document<D>, change: impl FnOnce(&mut D)) -> Document<D> {
    change(&mut it.detail);
    it
}

/// The story of what was found first.
pub fn story(summary: &mut Document<Reproduction>) -> &mut Story {
    summary.detail.found[0].story.as_mut().expect("a story")
}

/// The rules that scores have.
fn rules() -> Vec<Rule> {
    vec![
        Rule::new("causal-step", 1, "one event between <fault> and line", "paper 5"),
        Rule::new(HOSTILE, 2, HOSTILE, "own"),
    ]
}

/// Points of two rules, the more the later.
fn score(number: u64) -> Score {
    let mut score = Score { aimed: Some(9), points: Vec::new() };
    rules().iter().zip([2, 3]).for_each(|(it, points)| score.add(it, points + number as u32));
    score
}

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
        guard: Guard { thread: Some(format!("Writer-{number}")), ..Guard::default() },
        at: Injection {
            jvm: 0,
            node: "server".into(),
            thread: format!("Writer-{number}"),
            occurrence: number + 1,
            at_ms: 1.5,
            times: 1,
            effect: None,
            threw: Some("java.io.IOException".into()),
            stack_hash: 7,
            state: None,
            stack: vec![Frame {
                method: format!("org.acme.store.Log{}.append", number % 97),
                at: Some("Logs.java:30".into()),
            }],
        },
        process: None,
    }
}

fn lead(line: u32, message: &str, is_symptom: bool, own: &str) -> Lead {
    let place = LinePlace { class: "org.acme.store.Log1".into(), method: "append".into(), line: Some(31) };
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
pub fn summary(rounds: u64) -> Document<Reproduction> {
    let replay = format!("hypocenter replay reproduce-0001/{}", rounds + 3);
    let story = Story {
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
            silent: Some(HOSTILE.into()),
        }],
        beside: None,
        moment: Some(Moment { failure: format!("7 {HOSTILE}"), trial: format!("3 {HOSTILE}") }),
        sooner: Some(Sooner { thread: HOSTILE.into(), failure: 11, trial: 3 }),
        zero_ms: [None; 2],
        symptom_unexplained: false,
    };
    let found = Finding {
        faults: vec![injected(1)],
        why: format!("logs/server.log:9: {HOSTILE}"),
        proof: Proof::Confirmed,
        rate: Rate { hits: 5, runs: 5 },
        missed: 2,
        trial: rounds + 3,
        story: Some(story),
        replay: replay.clone(),
        detail: Explained {
            round: rounds,
            seen_in: rounds + 2,
            plan: Plan::default(),
            as_likely: Vec::new(),
            lacks: Vec::new(),
        },
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
        again: (number == 2).then_some(Again::ForSecond),
        runs: None,
        score: (number > 2).then(|| score(number)),
        shown: vec![1; number as usize % 3],
        happened: number == rounds,
    };
    let missing = |line: u32, message: &str| Missing {
        key: line,
        node: "server".into(),
        entry: line,
        line,
        message: message.into(),
        times: 1,
        normal: 0,
        normal_least: 0,
        weight: 8,
        why: "warning, in no normal run".into(),
        not_run: None,
        sites: 12,
        shown: 2,
    };
    let header = Header {
        version: Reproduction::VERSION,
        tool: "0.1.0".into(),
        verb: "reproduce".into(),
        campaign: "reproduce-0001".into(),
        directory: Some("/srv/quorum".into()),
        workload: "quorum".into(),
        target: "7e1d".into(),
        seed: 0,
        seconds: 236.65,
        cut_short: false,
        found_seconds: Some(39.0),
        measured: Measured {
            requests: Some(15_796),
            decision_ns: Some(65.9),
            between_rounds_ms: Some(45.3),
            workload_s: Some(17.2),
        },
    };
    let detail = Reproduction {
        packages: vec!["org.acme".into()],
        flags: String::new(),
        several_nodes: false,
        several_logs: false,
        logs: vec![("server".into(), "/tmp/a b/failure.log".into())],
        budget: rounds.max(200),
        strategy: "full".into(),
        reproduced: true,
        rounds,
        rate: Some(Rate { hits: 5, runs: 5 }),
        fault: Some(FaultSummary::of(&injected(1))),
        replay: Some(replay),
        sites_total: 2_000,
        sites: 500,
        instances: 784_893,
        observables: 2,
        normal_runs: 5,
        normal_failures: 0,
        busy_ms: None,
        normal_failure: None,
        unjudged: 0,
        refused: 0,
        standing: Standing::Reproduced,
        unmet: Vec::new(),
        found: vec![found],
        doubtful: Vec::new(),
        missing: vec![missing(7, HOSTILE), missing(9, "the store is broken")],
        silent: vec![Silent { node: "server".into(), thread: HOSTILE.into(), entries: 12 }],
        tried: (1..=rounds).map(round).collect(),
        rules: rules(),
        noise: Vec::new(),
        closest: Vec::new(),
        suggestions: Vec::new(),
    };
    Document { header, detail }
}

/// The same when nothing was found.
pub fn nothing_found(rounds: u64) -> Document<Reproduction> {
    let Document { header, mut detail } = summary(rounds);
    detail.tried.iter_mut().for_each(|it| (it.happened, it.found_rank) = (false, None));
    let detail = Reproduction {
        reproduced: false,
        rate: None,
        fault: None,
        replay: None,
        standing: Standing::Budget,
        found: Vec::new(),
        ..detail
    };
    Document { header: Header { found_seconds: None, ..header }, detail }
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
        let left = line(number, &message);
        let right = (!number.is_multiple_of(10)).then(|| left.clone());
        rows.push(Row::Entries(Box::new(Entries { failure: Some(left), trial: right, is })));
    }
    rows.push(Row::Gap(77));
    let lanes =
        (0..16).map(|it| Lane { node: "server".into(), thread: Some(format!("Worker-{it}<b>")) }).collect();
    let marks = (0..16u32)
        .flat_map(|lane| {
            (0..400).map(move |at| {
                let sign = if at == 399 { Sign::Symptom } else { Sign::Plain };
                Mark { lane, at_ms: at * 10, count: 1 + lane % 5, sign }
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
        whole_seconds: false,
    };
    Runs {
        version: RUNS_VERSION,
        normal: Some(0),
        trial: Some(16),
        beside: Some(Beside { rows, several_nodes: false, message_chars_max: 300 }),
        lanes: Some(lanes),
    }
}

pub fn page(summary: &Document<Reproduction>, runs: Option<&Runs>) -> String {
    Reproduction::page(summary, runs)
}

fn symptom(severity: Severity, why: &str) -> Symptom {
    Symptom { kind: SymptomKind::Client, severity, why: why.into() }
}

/// The fault of a trial, in a state of a task.
fn struck(number: u64) -> Injected {
    let mut it = injected(number);
    it.at.state = Some(format!("org.acme.Acceptor.run#{}", number % 4));
    it
}

fn finding(number: u64, severity: Severity) -> Finding<Suspicion> {
    let injected = struck(number);
    let saw = |name: &str, role: Role, progress: Option<u64>, end: Option<&str>, is_well: bool| Saw {
        name: name.into(),
        role,
        node: (role == Role::Client).then(|| "q3".into()),
        phase: (role == Role::Client).then_some(1),
        progress,
        steps: (role == Role::Client).then_some(20),
        end: end.map(str::to_owned),
        alive: (role == Role::Node).then_some(true),
        is_well,
    };
    let detail = Suspicion {
        class: injected.site.class.clone(),
        method: injected.site.method.clone(),
        line: injected.site.line,
        callee: injected.site.callee.clone(),
        fault: "throw java.io.IOException".into(),
        kind: SymptomKind::Client,
        severity,
        symptoms: vec![symptom(severity, HOSTILE), symptom(Severity::Minor, "the thread Acceptor is gone")],
        stack: vec!["org.acme.Acceptor.run".into()],
        node: "q3".into(),
        state: injected.at.state.clone(),
        first_trial: number,
        trials: 2,
        known: None,
        same_site: Rate { hits: 1, runs: 2 },
        same_place: Some(Rate { hits: 0, runs: 1 }),
        same_state: Rate { hits: 2, runs: 2 },
        matters: Some("the state matters".into()),
        processes: vec![
            saw("q3", Role::Node, None, None, true),
            saw("c<b>3", Role::Client, Some(4), Some("exited with status 1"), false),
            saw("c1", Role::Client, Some(20), Some("exited with status 0"), true),
        ],
        ways: vec![
            StateChange { from: None, to: Some(0), times: 1 },
            StateChange { from: Some(0), to: Some(3), times: 1 },
            StateChange { from: Some(3), to: None, times: 1 },
        ],
    };
    Finding {
        faults: vec![injected],
        why: format!("clients fail whose nodes say that they are well: {HOSTILE}"),
        proof: Proof::Confirmed,
        rate: Rate { hits: 3, runs: 3 },
        missed: 1,
        trial: number + 100,
        story: None,
        replay: format!("hypocenter replay explore-0001/{}", number + 100),
        detail,
    }
}

/// A finding that no replay confirms.
fn unconfirmed(number: u64, proof: Proof) -> Finding<Suspicion> {
    let runs = if proof == Proof::Refuted { 3 } else { 0 };
    Finding { proof, rate: Rate { hits: 0, runs }, ..finding(number, Severity::Critical) }
}

/// A campaign of `explore` of so many trials, of which every hundredth is suspicious.
pub fn exploration(trials: u64) -> Document<Exploration> {
    let tried = |number: u64| Tried {
        number,
        trial: number + 2,
        focus: Some("org.acme.Acceptor.run#1".into()),
        injected: (!number.is_multiple_of(9)).then(|| struck(number)),
        symptoms: match number % 100 {
            10 => vec![symptom(Severity::Critical, HOSTILE)],
            20 => vec![symptom(Severity::Minor, "a little")],
            _ => Vec::new(),
        },
        new_states: u64::from(number < 30),
        requests: 1_000,
        failed_alone: None,
    };
    let state = |number: u32| TaskState {
        name: format!("org.acme.Acceptor.run#{number}"),
        line: Some(20 + 7 * number),
        begins: Some(if number == 0 { "start" } else { "<i>branch" }.into()),
        is_reached: number < 3,
        injected: u64::from(number),
    };
    let header = Header {
        version: Exploration::VERSION,
        tool: "0.1.0".into(),
        verb: "explore".into(),
        campaign: "explore-0001".into(),
        directory: Some("/srv/quorum".into()),
        workload: "quorum".into(),
        target: "7e1d".into(),
        seed: 3,
        seconds: 103.0,
        ..Header::default()
    };
    let mut known = finding(11, Severity::Major);
    known.detail.known = Some(HOSTILE.into());
    let detail = Exploration {
        policy: "bsrr".into(),
        key: "state".into(),
        several_nodes: false,
        is_judged: true,
        trials,
        injected: trials - trials / 9,
        states: 40,
        keys: 77,
        resets: 1,
        normal_runs: 3,
        refused: 0,
        standing: explored::Standing::Done,
        problems: Vec::new(),
        findings: vec![finding(6, Severity::Critical), finding(9, Severity::Major)],
        unconfirmed: vec![unconfirmed(7, Proof::SeenOnce), unconfirmed(8, Proof::Refuted)],
        known: vec![known],
        expected: vec![finding(12, Severity::Expected)],
        sites: SiteCounts { total: 162, reached: Some(90), injected: 30 },
        tasks: vec![Task {
            name: "org.acme.Acceptor.run".into(),
            states: (0..6).map(state).collect(),
            ways: vec![
                StateChange { from: None, to: Some(0), times: 3 },
                StateChange { from: Some(0), to: Some(1), times: 12 },
                StateChange { from: Some(1), to: Some(1), times: 2 },
                StateChange { from: Some(1), to: Some(0), times: 12 },
                StateChange { from: Some(0), to: Some(2), times: 1 },
            ],
        }],
        tried: (1..=trials).map(tried).collect(),
    };
    Document { header, detail }
}

/// The same when nothing was found.
pub fn nothing_suspicious(trials: u64) -> Document<Exploration> {
    changed(exploration(trials), |it| {
        it.findings.clear();
        it.unconfirmed.clear();
    })
}

pub fn explore_page(it: &Document<Exploration>) -> String {
    Exploration::page(it, None)
}
