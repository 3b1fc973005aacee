//! The engine on recorded outcomes: a node that writes two files and reads both when it starts.

use hypocenter_engine::Confirmed;
use hypocenter_plan::{
    CandidateOutcome, End, FORMAT_VERSION, Injection, OperationKind, ProcessOutcome, Role, Site, SiteKind,
    Steering,
};
use hypocenter_program::{ClassPath, Scope, StateOptions};
use hypocenter_results::Detail;
use hypocenter_results::predicted::{Forecasting, Prediction};

use super::*;
use crate::reader::{Group, JvmOperations};

/// An operation of a script: what, the file, and the line that does it.
type Step = (OperationKind, &'static str, u32);

const WRITES: [Step; 4] = [
    (OperationKind::Create, "n/data", 1),
    (OperationKind::Truncate, "n/epoch.tmp", 2),
    (OperationKind::Rename, "n/epoch.tmp > n/epoch", 3),
    (OperationKind::Write, "n/log", 4),
];
const READS: [Step; 3] = [
    (OperationKind::OpenRead, "n/data", 10),
    (OperationKind::OpenRead, "n/epoch", 11),
    (OperationKind::OpenRead, "n/log", 12),
];

/// Makes the operations of runs.
#[derive(Default)]
struct Recorder {
    run: RunOperations,
    clock: u64,
}

impl Recorder {
    fn string(&mut self, text: &str) -> u32 {
        let known = self.run.strings.iter().position(|it| it == text);
        known.unwrap_or_else(|| {
            self.run.strings.push(text.to_owned());
            self.run.strings.len() - 1
        }) as u32
    }

    fn jvm(mut self, incarnation: u32, steps: &[Step]) -> Recorder {
        self.string("");
        let mut jvm =
            JvmOperations { node: "n".into(), incarnation, count: steps.len() as u64, ..Default::default() };
        for (number, &(kind, file, line)) in steps.iter().enumerate() {
            let (resource, other) = file.split_once(" > ").unwrap_or((file, ""));
            let (resource, other) = (self.string(resource), self.string(other));
            let frame = (self.string("app.Store.work"), self.string(&format!("Store.java:{line}")));
            let thread = self.string("main");
            self.run.stacks.push(vec![frame]);
            self.run.sites.push(Site {
                class: "java.io.Waist".into(),
                method: kind.name().into(),
                descriptor: "()V".into(),
                kind: SiteKind::Operation,
                callee: None,
                ordinal: 0,
                line: None,
            });
            self.clock += 2;
            jvm.groups.push(Group {
                site: self.run.sites.len() as u32 - 1,
                kind,
                resource,
                other,
                stack: self.run.stacks.len() as u32 - 1,
                thread,
                is_done: true,
                times: 1,
                first: (self.clock, self.clock + 1),
                last: self.clock + 1,
                occurrence: 1,
                last_occurrence: 1,
                at_ms: self.clock as f64,
            });
            let (group, occurrence, begun) = (number as u32, 1, self.clock);
            jvm.marks.push(Mark { number: number as u64 + 1, group, occurrence, begun });
        }
        self.run.jvms.push(jvm);
        self
    }
}

fn process(role: Role, incarnation: u32, end: Option<End>) -> ProcessOutcome {
    ProcessOutcome {
        name: if role == Role::Node { "n" } else { "client" }.into(),
        role,
        incarnation,
        started_ms: 0,
        ready_ms: end.is_none().then_some(1),
        ended_ms: None,
        end,
        progress: None,
        steps: None,
        alive: None,
        logs: Vec::new(),
    }
}

/// A trial on which a node crashes or not, and comes up again or not.
fn outcome(plan: &Plan, is_hit: bool, survives: bool) -> Outcome {
    let exited = |status| Some(End::Exited { status });
    let mut processes = vec![process(Role::Node, 1, is_hit.then_some(End::Exited { status: 137 }))];
    if is_hit {
        processes.push(process(Role::Node, 2, if survives { None } else { exited(2) }));
    }
    processes.push(process(Role::Client, 1, exited(0)));
    let result = |_: &Candidate| match is_hit {
        true => CandidateResult::Injected(Injection {
            jvm: 0,
            node: "n".into(),
            thread: "main".into(),
            occurrence: 1,
            at_ms: 5.0,
            times: 1,
            effect: None,
            threw: None,
            state: None,
            stack_hash: 0,
            stack: Vec::new(),
        }),
        false => CandidateResult::NotReached { why: "it never came".into() },
    };
    let candidate = |it: &Candidate| CandidateOutcome {
        site: it.site.clone(),
        fault: it.fault.clone(),
        hits: 1,
        result: result(it),
    };
    Outcome {
        version: FORMAT_VERSION,
        end: End::Exited { status: 0 },
        wall_ms: 10,
        disk_full: false,
        failure: None,
        processes,
        candidates: plan.candidates.iter().map(candidate).collect(),
        steering: Steering::default(),
        jvms: Vec::new(),
        problems: Vec::new(),
    }
}

/// A system: which crashes it does not survive, by method and side, and what its recovery does first.
struct System {
    fails: fn(&str, SiteKind) -> bool,
    resets: &'static [Step],
}

const FRAGILE: System =
    System { fails: |method, kind| method == "rename" && kind == SiteKind::Operation, resets: &[] };

fn settings() -> PredictSettings {
    PredictSettings {
        workload: "w".into(),
        nodes: vec![("n".into(), None), ("m".into(), Some("it has no `restart`".into()))],
        packages: vec!["app".into()],
        plan: Plan::default(),
        normal_runs: 1,
        crashes: 1,
        triggers: true,
        triggers_max: 100,
        replays: 2,
        without: BTreeSet::new(),
    }
}

fn engine(settings: PredictSettings) -> Confirmed<Predict> {
    let classes = ClassPath::from_paths(Vec::new()).open(17);
    let program = Program::of(&classes, &Scope::of(&["app".into()]), &StateOptions::default(), |_| {});
    Confirmed::new(Predict::new(Arc::new(program), settings))
}

/// Runs a campaign on a system; gives the document and the number of runs.
fn campaign(settings: PredictSettings, system: &System) -> (Prediction, u64) {
    let (mut engine, mut runs) = (engine(settings), 0);
    loop {
        let jobs = match engine.next(1) {
            Next::Start(jobs) => jobs,
            Next::Done => return (engine.results(&|_| None), runs),
            Next::Wait => unreachable!("nothing runs"),
        };
        for job in jobs {
            runs += 1;
            assert!(runs < 100, "it ends");
            let Work::Trial { plan, .. } = &job.work else { unreachable!("no study is asked for") };
            let (outcome, digest) = run(plan, system);
            engine.tell(job.id, Some(&outcome), digest);
        }
    }
}

fn run(plan: &Plan, system: &System) -> (Outcome, RunOperations) {
    let Some(crash) = plan.candidates.first() else {
        return (outcome(plan, false, true), Recorder::default().jvm(1, &WRITES).run);
    };
    let at = WRITES.iter().position(|it| it.0.name() == crash.site.method).expect("a crash beside a write");
    let made = &WRITES[..at + usize::from(crash.site.kind == SiteKind::OperationEnd)];
    let survives = !(system.fails)(&crash.site.method, crash.site.kind);
    let recovery = [system.resets, &READS].concat();
    (outcome(plan, true, survives), Recorder::default().jvm(1, made).jvm(2, &recovery).run)
}

#[test]
fn a_crash_between_two_writes_is_predicted_tried_and_confirmed() {
    // The one moment of the crash that shows the recovery is before the third operation, if that is survived.
    let fails = |method: &str, kind: SiteKind| method == "create" && kind == SiteKind::Operation;
    let (document, _) = campaign(settings(), &System { fails, resets: &[] });
    assert_eq!(document.standing, Forecasting::Done);
    let [finding] = document.findings.as_slice() else { panic!("{document:#?}") };
    assert_eq!((finding.detail.w.resource.as_str(), finding.detail.w.line), ("n/data", Some(1)));
    assert_eq!(
        finding.detail.r.as_ref().map(|it| (it.resource.as_str(), it.line)),
        Some(("n/data", Some(10)))
    );
    assert_eq!(finding.detail.side, CrashSide::Before, "a correct run with a crash had the write");
    assert_eq!((finding.rate, finding.faults.len()), (Rate { hits: 2, runs: 2 }, 1));
    assert_eq!(document.exit_code(), hypocenter_plan::ExitCode::Findings);
    let told = |it: &CrashedNode| (it.name.clone(), it.left_out.is_some());
    assert_eq!(
        document.nodes.iter().map(told).collect::<Vec<_>>(),
        [("n".into(), false), ("m".into(), true)]
    );
}

#[test]
fn a_write_that_only_the_run_without_a_fault_has_is_crashed_behind() {
    let (document, _) = campaign(settings(), &System { fails: |_, _| false, resets: &[] });
    let sides: Vec<(u32, CrashSide)> =
        document.reports.iter().map(|it| (it.w.line.unwrap_or(0), it.side)).collect();
    // The node crashed before the third write.
    assert!(sides.contains(&(1, CrashSide::Before)), "{sides:?}");
    assert!(sides.contains(&(3, CrashSide::After)) && sides.contains(&(4, CrashSide::After)), "{sides:?}");
    assert!(document.reports.iter().all(|it| it.triggered == Triggered::Benign), "{:#?}", document.reports);
    assert_eq!(document.findings.len() + document.unconfirmed.len(), 0);
}

#[test]
fn a_run_with_a_crash_that_fails_is_a_finding_and_no_input() {
    let (document, _) = campaign(settings(), &FRAGILE);
    let crashes = &document.nodes[0].crashes;
    assert!(matches!(crashes[0].came, Some(CrashCame::Failed { .. })), "{crashes:#?}");
    assert_eq!(
        crashes.last().and_then(|it| it.came.clone()),
        Some(CrashCame::Correct),
        "another took its place"
    );
    assert_eq!(document.runs.correct, 1);
    assert_eq!(document.findings.len(), 1, "{:#?}", document.findings);
    assert_eq!(document.findings[0].detail.w.line, Some(3));
}

#[test]
fn what_the_recovery_writes_anew_is_left_out_unless_the_rule_is_off() {
    let resets: &[Step] = &[(OperationKind::Delete, "n/data", 9)];
    let system = || System { fails: |_, _| false, resets };
    let reads_data = |it: &Prediction| it.reports.iter().filter(|it| it.r.line == Some(10)).count();
    let (document, _) = campaign(settings(), &system());
    assert_eq!((reads_data(&document), document.pruned.reset > 0), (0, true), "{document:#?}");
    assert!(document.left_out.iter().all(|it| it.rule == PruneRule::Reset && it.why.contains("n/data")));
    let without = BTreeSet::from([PruneRule::Reset]);
    let (document, _) = campaign(PredictSettings { without, ..settings() }, &system());
    assert_eq!((reads_data(&document), document.pruned.reset), (1, 0), "{document:#?}");
}

#[test]
fn without_triggers_the_reports_are_the_same_and_nothing_more_is_run() {
    let system = System { fails: |_, _| false, resets: &[] };
    let (with, _) = campaign(settings(), &system);
    let (without, runs) = campaign(PredictSettings { triggers: false, ..settings() }, &system);
    let pairs =
        |it: &Prediction| it.reports.iter().map(|it| (it.w.clone(), it.r.clone())).collect::<Vec<_>>();
    assert_eq!(pairs(&with), pairs(&without));
    assert_eq!((runs, without.runs.triggers), (2, 0));
    assert!(without.reports.iter().all(|it| it.triggered == Triggered::Untried));
}

#[test]
fn a_run_without_a_fault_that_fails_or_lost_records_ends_the_campaign() {
    let told = |change: fn(&mut Outcome, &mut RunOperations)| {
        let mut engine = engine(settings());
        let Next::Start(jobs) = engine.next(1) else { panic!("a first run") };
        let (mut outcome, mut digest) = run(&Plan::default(), &FRAGILE);
        change(&mut outcome, &mut digest);
        engine.tell(jobs[0].id, Some(&outcome), digest);
        assert_eq!(engine.next(1), Next::Done);
        let document = engine.results(&|_| None);
        (document.exit_code(), document.standing)
    };
    let (code, standing) = told(|outcome, _| outcome.end = End::TimedOut);
    assert_eq!(code, hypocenter_plan::ExitCode::AlreadyFails);
    assert!(matches!(standing, Forecasting::NormalFails { why } if why.contains("timed out")));
    let (code, standing) = told(|_, digest| digest.lost = 7);
    assert_eq!(code, hypocenter_plan::ExitCode::Budget);
    assert!(matches!(standing, Forecasting::Incomplete { why } if why.contains("7 records")));
}
