//! `hypocenter run`: a command with hooks and no fault, or under a plan that was written before.

mod operated;
mod reached;
mod ways;

use std::path::Path;

use hypocenter_engine::JobId;
use hypocenter_lab::{Stopped, TrialFiles, finished, trial_directory};
use hypocenter_plan::{
    CandidateResult, End, EventTime, ExitCode, Outcome, Plan, Record, SiteKind, Watch, WatchLevel,
};
use hypocenter_trace::{handover_classes, waist_classes};
use serde::Serialize;

use crate::args::{LabArgs, MustPass, PassArgs, RecordLevel, RunArgs, ShowArgs};
use crate::early;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::local::{Ran, Ready};
use crate::request::{Chosen, REPLAY, Request, to_resume};
use crate::screen::{self, Passing, Quiet};
use crate::store::{Called, told};
use crate::target::Target;

pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    screen::heading("hypocenter run");
    let lab = &args.target.lab;
    let ready = match &args.resume {
        Some(name) => {
            let (directory, _) = to_resume(lab, name, "run")?;
            screen::line("campaign", &told(&directory));
            let ready = Ready::resume(directory, lab)?;
            args.pass.check(&ready.request)?;
            ready
        }
        None => {
            let mut chosen = Chosen::each(&args.target, args.workload.as_deref())?;
            if args.no_agent {
                chosen = chosen.without_agent();
            }
            chosen.tell_not_asked();
            let target = Target::open(&chosen.target)?;
            screen::line("target", &target.packages.join(", "));
            let plan = match &args.plan {
                Some(path) => read_plan(path)?,
                None if args.no_agent => Plan { seed: args.seed, ..Plan::default() },
                None => plan_of(args, &target)?,
            };
            let request = chosen.request("run", &args.target, plan, args.repeat);
            // Before there is a campaign.
            args.pass.check(&request)?;
            Ready::begin(request, &target, lab)?
        }
    };
    let code = carry_out(&ready, lab, args.show, Some(args.top))?;
    args.pass.judge(&ready, code)
}

impl PassArgs {
    /// It takes an oracle to know a failure.
    pub fn check(&self, request: &Request) -> Result<(), Failure> {
        if self.must_pass.is_some() && request.oracle.is_none() {
            return Err(Failure::usage("--must-pass: no oracle is given")
                .hint("give `--oracle`, or an `oracle` under [failure] of hypocenter.toml; see `hypocenter guide oracles`"));
        }
        Ok(())
    }

    /// Verdict of a finished campaign by its failures. Runs that did not reach the fault prove nothing, and one that did is
    /// enough.
    pub fn judge(&self, ready: &Ready, code: ExitCode) -> Result<ExitCode, Failure> {
        let Some(must) = self.must_pass.filter(|_| matches!(code, ExitCode::Done | ExitCode::Findings))
        else {
            return Ok(code);
        };
        let (mut failures, mut reached, mut badly, all) = (0, 0, None, ready.request.repeat);
        // Of several that may happen as many as the plan has room for.
        let plan = &ready.request.plan;
        let faults = plan.candidates.len().min(plan.limit as usize);
        for number in 0..all {
            let Some(outcome) = finished(&trial_directory(&ready.directory, JobId(number)))? else {
                continue;
            };
            let is_reached = outcome.injected() >= faults;
            reached += u64::from(is_reached);
            failures += u64::from(outcome.failure.is_some_and(|it| it.happened));
            // What a test asserts may fail in another way than the oracle asks for.
            if is_reached && must == MustPass::All && !outcome.end.is_well() {
                badly = badly.or(Some(outcome.end));
            }
        }
        let runs = screen::count(all, "run", "runs");
        let (what, code) = match (failures, reached) {
            (1.., _) => (format!("no: the failure happened in {failures} of {all}"), ExitCode::Findings),
            (0, _) if let Some(end) = badly => {
                let what = format!(
                    "no: the oracle does not hold, but the workload {end} under the fault; use `--must-pass=oracle` if this is expected"
                );
                (what, ExitCode::Findings)
            }
            (0, 0) => {
                let what =
                    format!("unknown: {runs} did not reach the fault; try more runs (--repeat, --times)");
                (what, ExitCode::Findings)
            }
            (0, some) if some < all => {
                let what = format!("the failure did not happen; the fault was reached in {some} of {runs}");
                (what, ExitCode::Done)
            }
            _ => ("the failure did not happen".to_owned(), ExitCode::Done),
        };
        screen::line("must pass", &what);
        Ok(code)
    }
}

/// Runs a campaign and shows what it gave: one trial as itself, several as their sum.
pub fn carry_out(
    ready: &Ready,
    lab: &LabArgs,
    show: ShowArgs,
    top: Option<usize>,
) -> Result<ExitCode, Failure> {
    let request = &ready.request;
    match &request.workload().command {
        _ if request.workloads.len() > 1 => {
            let tests = screen::count(request.workloads.len() as u64, "test", "tests");
            screen::line("workloads", &screen::clean(&format!("{tests} of {}", request.workload_name())));
        }
        Some(command) => screen::line("command", &screen::clean(&command.0)),
        None => {
            let nodes = screen::count(request.workload().node.len() as u64, "node", "nodes");
            let clients = screen::count(request.workload().client.len() as u64, "client", "clients");
            let text = format!("{}: {nodes}, {clients}", request.workload().name);
            screen::line("workload", &text);
        }
    }
    let interrupt = Interrupt::watch();
    if request.repeat > 1 {
        let ran = ready.run(lab, &Quiet(&interrupt), &interrupt)?;
        return many(ready, lab, &ran);
    }
    screen::gap();
    let ran = if lab.quiet {
        ready.run(lab, &Quiet(&interrupt), &interrupt)?
    } else {
        let passing = Passing {
            all_to_stderr: lab.json,
            plain: request.workload().is_one_command(),
            verbose: show.verbose,
            interrupt: &interrupt,
        };
        let ran = ready.run(lab, &passing, &interrupt)?;
        screen::gap();
        ran
    };
    let directory = trial_directory(&ready.directory, JobId(0));
    let outcome = match ran.ended_early {
        Some(outcome) => outcome,
        None if ran.stopped == Stopped::Interrupted => return Err(interrupted(ready)),
        None => finished(&directory)?
            .ok_or_else(|| Failure::usage(format!("{}: the outcome is missing", directory.display())))?,
    };
    screen::ended_nodes(&outcome);
    match outcome.candidates.iter().find(|it| matches!(it.result, CandidateResult::Injected(_))) {
        // Of many candidates under one limit, those that were not needed are no news.
        Some(candidate) if request.plan.limit == 1 => screen::candidate(candidate),
        _ => outcome.candidates.iter().take(CANDIDATES_SHOWN).for_each(screen::candidate),
    }
    if let Some(top) = top {
        reached::show(&request.target, &directory, &outcome, top)?;
        ways::show(&directory, &outcome, top)?;
        operated::show(&directory, &outcome, top)?;
    }
    finish(lab, &outcome, &directory)?;
    if !request.workload().is_one_command() && !show.verbose {
        let logs = TrialFiles::of(&directory).logs;
        screen::line("output", &format!("of the processes is in {}; --verbose shows it", told(&logs)));
    }
    Ok(code_of(request, &outcome))
}

const CANDIDATES_SHOWN: usize = 8;

fn interrupted(ready: &Ready) -> Failure {
    let what = match ready.request.verb == REPLAY {
        true => done_of_replay(ready),
        false => "you interrupted the campaign; its results so far are kept".to_owned(),
    };
    let mut failure =
        Failure::usage(what).hint(format!("`{}` continues it", Called::of(&ready.directory).resume("run")));
    failure.code = ExitCode::Budget;
    failure
}

/// The part of an interrupted replay that was done. There is nothing to compare the rest with.
pub fn done_of_replay(ready: &Ready) -> String {
    let all = ready.request.repeat;
    format!(
        "the replay was interrupted: {} of {} done, not compared with the trial",
        screen::thousands(ready.done()),
        screen::count(all, "replay", "replays")
    )
}

/// Many trials, as JSON.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    campaign: String,
    workload: &'a str,
    trials: u64,
    well: u64,
    injected: u64,
    failures: u64,
    hits: u64,
    seconds: f64,
    replay: String,
}

fn many(ready: &Ready, lab: &LabArgs, ran: &Ran) -> Result<ExitCode, Failure> {
    let tally = &ran.tally;
    let name = ready.directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let of = |count: u64| format!("{} of {}", screen::thousands(count), screen::thousands(tally.trials));
    let asked = screen::thousands(ready.request.repeat);
    let trials =
        format!("{} of {asked}, in {:.1} s", screen::thousands(tally.trials), ran.took.as_secs_f64());
    screen::line("trials", &trials);
    screen::line("well", &of(tally.well));
    let faulty = !ready.request.plan.candidates.is_empty();
    if faulty {
        screen::line("injected", &of(tally.injected));
    }
    if ready.request.oracle.is_some() {
        screen::line("failure", &format!("happened in {}", of(tally.failures)));
    }
    for (id, text) in ran.bad.iter().take(CANDIDATES_SHOWN) {
        screen::line("", &format!("{name}/{id}: {}", screen::clean(text)));
    }
    if ran.bad.len() > CANDIDATES_SHOWN {
        screen::line("", &format!("... {} more in results.jsonl", ran.bad.len() - CANDIDATES_SHOWN));
    }
    if ran.unjudged > 0 {
        let what = format!(
            "the oracle could not judge {} of them; their outcomes have the reason",
            screen::thousands(ran.unjudged)
        );
        screen::note("trials", &what);
    }
    if !ready.request.workload().has_agent() {
        screen::note("agent", "all processes ran without the agent");
    } else if tally.agentless > 0 {
        let what =
            format!("no JVM loaded a class with hooks in {} of them", screen::thousands(tally.agentless));
        screen::note("trials", &what);
        early::show_first(&ready.directory)?;
    }
    screen::kept_in(&ready.directory);
    if lab.json {
        screen::json(&Summary {
            campaign: ready.directory.display().to_string(),
            workload: &ready.request.workload_name(),
            trials: tally.trials,
            well: tally.well,
            injected: tally.injected,
            failures: tally.failures,
            hits: tally.hits,
            seconds: ran.took.as_secs_f64(),
            replay: Called::of(&ready.directory).replay(0),
        })?;
    }
    if ran.stopped == Stopped::Interrupted {
        return Err(interrupted(ready));
    }
    let has_no_hooks = tally.agentless > 0 && ready.request.workload().has_agent();
    Ok(match faulty {
        _ if ran.unjudged > 0 => ExitCode::Usage,
        false if has_no_hooks => ExitCode::Usage,
        true if tally.injected < tally.trials => ExitCode::Findings,
        false if tally.well < tally.trials || tally.failures > 0 => ExitCode::AlreadyFails,
        _ => ExitCode::Done,
    })
}

/// Exit code of the command after one trial.
pub fn code_of(request: &Request, outcome: &Outcome) -> ExitCode {
    let injected = outcome.injected() > 0;
    let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
    match outcome.end {
        End::Interrupted => ExitCode::Budget,
        End::TimedOut if !injected => ExitCode::Budget,
        _ if request.oracle.is_some() && outcome.failure.is_none() => ExitCode::Usage,
        _ if !request.plan.candidates.is_empty() => {
            if injected {
                ExitCode::Done
            } else {
                ExitCode::Findings
            }
        }
        _ if outcome.jvms.is_empty() && request.workload().has_agent() => ExitCode::Usage,
        _ if happened => ExitCode::AlreadyFails,
        End::Exited { status: 0 } => ExitCode::Done,
        _ => ExitCode::AlreadyFails,
    }
}

/// A plan from its file.
pub fn read_plan(path: &Path) -> Result<Plan, Failure> {
    let hint = "`hypocenter schema plan` prints the format of a plan";
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("plan {}: {error}", path.display())).hint(hint))?;
    let plan: Plan = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("plan {}: {error}", path.display())).hint(hint))?;
    plan.check()?;
    Ok(plan)
}

fn plan_of(args: &RunArgs, target: &Target) -> Result<Plan, Failure> {
    let mut kinds: Vec<SiteKind> = Vec::new();
    let mut threads = false;
    for name in &args.hook {
        match name.as_str() {
            "all" => kinds.extend([SiteKind::Call, SiteKind::Block, SiteKind::BooleanReturn]),
            "every" => kinds.extend(SiteKind::ALL),
            // Iterations are told for each time that the loop was entered, and a switch is a branch to whoever asks for those.
            "loop_body" => kinds.extend([SiteKind::LoopBody, SiteKind::LoopEntry]),
            "operation" => kinds.extend([SiteKind::Operation, SiteKind::OperationEnd]),
            // What threads do with each other: in the JDK, and at calls in the target.
            "thread" => threads = true,
            "field" => kinds.extend([SiteKind::FieldRead, SiteKind::FieldWrite]),
            "array" => kinds.extend([SiteKind::ArrayRead, SiteKind::ArrayWrite]),
            "monitor" => kinds.extend([SiteKind::MonitorEnter, SiteKind::MonitorExit]),
            "branch" => kinds.extend([SiteKind::Branch, SiteKind::Switch]),
            name => kinds.push(SiteKind::from_name(name).ok_or_else(|| {
                let names: Vec<_> = SiteKind::ALL.iter().map(|kind| kind.name()).collect();
                Failure::usage(format!("--hook {name}: unknown kind of hook")).hint(format!(
                    "use all, every, field, array, monitor, thread, or some of {}",
                    names.join(", ")
                ))
            })?),
        }
    }
    kinds.sort();
    kinds.dedup();
    let level = match args.record {
        RecordLevel::Off => WatchLevel::Off,
        RecordLevel::Count => WatchLevel::Count,
        RecordLevel::Events => WatchLevel::Event,
        RecordLevel::Stacks => WatchLevel::Stack,
        RecordLevel::Values => WatchLevel::Value,
        RecordLevel::ValueStacks => WatchLevel::ValueStack,
    };
    let (of_jdk, of_target): (Vec<SiteKind>, Vec<SiteKind>) =
        kinds.into_iter().partition(|it| it.is_operation());
    let watch = |kinds, classes| Watch { kinds, classes, methods: Vec::new(), level };
    let mut watches = vec![watch(of_target, target.class_patterns.clone())];
    if !of_jdk.is_empty() {
        watches.push(watch(of_jdk, waist_classes()));
    }
    if threads {
        let classes = [handover_classes(), target.class_patterns.clone()].concat();
        watches.push(watch(vec![SiteKind::Operation, SiteKind::OperationEnd], classes));
    }
    Ok(Plan {
        seed: args.seed,
        record: Record {
            watch: watches,
            lossless: args.lossless,
            ring_kb: args.ring_kb,
            time: EventTime::Coarse,
            ..Record::default()
        },
        ..Plan::default()
    })
}

/// The last lines, the same for every verb that runs one trial.
pub fn finish(lab: &LabArgs, outcome: &Outcome, directory: &Path) -> Result<(), Failure> {
    screen::jvms(outcome);
    screen::processes(outcome);
    screen::problems(&outcome.problems);
    early::show(outcome, directory);
    screen::failure_seen(outcome);
    screen::end(outcome);
    screen::line("kept in", &told(directory));
    if lab.json {
        screen::json(outcome)?;
    }
    Ok(())
}
