//! `hypocenter reproduce`: from a failure log to the fault that made it.

use std::sync::Arc;

use hypocenter_engine::Confirmed;
use hypocenter_plan::Plan;
use hypocenter_program::{Program, Scope, StateOptions};
use hypocenter_report::terminal;
use hypocenter_reproduce::{
    About, Case, Kinds, Reproduce, SearchOptions, Settings, Strategy, common_plan, exceptions_in, without,
};
use hypocenter_results::Document;
use hypocenter_results::reproduced::Reproduction;
use hypocenter_results::runs::Runs;
use serde::{Deserialize, Serialize};

use crate::args::{FaultChoice, LabArgs, LimitArgs, ReproduceArgs};
use crate::campaign::{Looked, Verb};
use crate::commands::scan::prefixes;
use crate::config::Config;
use crate::early;
use crate::failure::Failure;
use crate::failure_logs::{FailureLogs, read_logs, symptom, tell_log, unmet};
use crate::overrides::overridden;
use crate::request::{Chosen, Request};
use crate::scanned::Scanned;
use crate::screen::{self, Working};
use crate::search_config::ReproduceConfig;
use crate::target::Target;
use crate::throwable;

/// Settings of `reproduce`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReproduceRequest {
    /// The logs of the failure.
    #[serde(flatten)]
    pub failure: FailureLogs,
    /// By which strategy.
    strategy: String,
    /// Number of faults that are armed together at first.
    window: usize,
    /// Penalty of an observable that was shown.
    step: u32,
    /// The most rounds.
    budget: u64,
    /// True if exceptions are tried.
    exceptions: bool,
    /// True if delays are tried, and how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    /// Runs without a fault at the start.
    normal_runs: u64,
    /// Replays of what was found.
    replays: u64,
    /// How often each round is run.
    #[serde(default = "once")]
    repeats: u64,
    /// Rounds after which a second fault is searched for too.
    patience: u64,
    /// Rounds that follow where what was found leaves a warning unexplained that other faults bring.
    #[serde(default)]
    doubt: u64,
    /// True if to go on after a success.
    keep_going: bool,
    /// Rules that the search goes without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
}

fn once() -> u64 {
    1
}

/// The verb: the failure and the program that it is of.
pub struct Reproducing {
    what: ReproduceRequest,
    /// The failure.
    pub case: Arc<Case>,
    plan: Plan,
    may_throw: Vec<(String, Vec<String>)>,
    about: About,
}

impl Verb for Reproducing {
    const NAME: &'static str = "reproduce";
    type Args = ReproduceArgs;
    type Settings = ReproduceRequest;
    type Engine = Confirmed<Reproduce>;
    type Detail = Reproduction;

    fn common(args: &ReproduceArgs) -> (&LabArgs, Option<&str>) {
        (&args.target.lab, args.resume.as_deref())
    }

    fn limits(args: &ReproduceArgs) -> LimitArgs {
        args.limits.clone()
    }

    fn asked(args: &ReproduceArgs) -> Result<(Request, ReproduceRequest), Failure> {
        asked(args, Reproducing::NAME)
    }

    fn prepare(
        request: &Request,
        what: ReproduceRequest,
        target: &Target,
        working: &Working,
    ) -> Result<Reproducing, Failure> {
        // A useless log is reported before there is a campaign.
        working.step("read the failure logs");
        let logs = read_logs(&what.failure)?;
        working.step("scan");
        let program = scan(request, target, exceptions_in(&logs));
        let may_throw = throwable::of_program(&program, target);
        let symptom = symptom(request)?;
        let symptom_is_logged = !symptom.is_empty();
        let is_symptom = move |line: &str| symptom.iter().any(|it| it.fits(line.as_bytes()));
        working.step("tie the failure logs to log statements");
        let case = Arc::new(Case::new(program, logs, is_symptom));
        tell_log(&case, &what.failure)?;
        working.step("judge the failure logs by the oracle");
        let unmet = unmet(request, &what.failure)?;
        let logs = what.failure.logs.iter();
        let about = About {
            logs: logs.map(|it| (it.node.clone(), it.path.display().to_string())).collect(),
            packages: request.target.packages.clone(),
            flags: request.target.flags(),
            several_nodes: case.logs() > 1 || request.has_several_nodes(),
            symptom_is_logged,
            unmet,
        };
        let strategy: Strategy = what.strategy.parse().map_err(Failure::usage)?;
        let plan = plan_of(request, target, strategy.needs_stacks());
        Ok(Reproducing { what, case, plan, may_throw, about })
    }

    fn plan(&self) -> Plan {
        self.plan.clone()
    }

    fn may_throw(&self) -> Vec<(String, Vec<String>)> {
        self.may_throw.clone()
    }

    fn engine(&self, request: &Request) -> Result<Confirmed<Reproduce>, Failure> {
        Ok(Confirmed::new(Reproduce::new(self.case.clone(), self.settings(request)?)))
    }

    fn several(&self, _: &Request) -> (bool, bool) {
        (self.about.several_nodes, self.case.logs() > 1)
    }

    fn runs(&self, engine: &Confirmed<Reproduce>, look: &Looked<'_>) -> Option<Runs> {
        Some(self.case.runs(&engine.engine().verdict(), look))
    }

    fn refusal(results: &Document<Reproduction>, campaign: &std::path::Path) -> Result<(), Failure> {
        let command_fails = results.detail.found.is_empty() && early::show_first(campaign)?;
        match terminal::refusal(results, command_fails) {
            Some((what, hint)) => Err(Failure::usage(what).hint(hint)),
            None => Ok(()),
        }
    }
}

/// Request from the flags and the configuration; the plan is still empty.
pub fn asked(args: &ReproduceArgs, verb: &str) -> Result<(Request, ReproduceRequest), Failure> {
    let config = Config::read(&args.target.config)?;
    let of_failure = config.workload_of_failure().filter(|_| args.target.command.is_empty());
    let chosen = Chosen::of(&args.target, args.workload.as_deref().or(of_failure))?;
    let chosen = chosen.judged_by_failure(&config, &args.target.node_name)?;
    let failure = FailureLogs::find(
        &args.log,
        args.layout.as_deref(),
        &config,
        &chosen.workload,
        &args.target.node_name,
    )?;
    // `compare` has the settings of `reproduce`, too.
    let search = overridden(
        &config,
        Reproducing::NAME,
        &args.set.set,
        config.reproduce.clone(),
        ReproduceConfig::check,
    )?;
    let reproduce = ReproduceRequest {
        failure,
        strategy: search.strategy,
        window: search.window,
        step: search.step,
        budget: args.budget,
        exceptions: args.faults.contains(&FaultChoice::Exceptions),
        delay_ms: args.faults.contains(&FaultChoice::Delays).then_some(args.delay.as_millis() as u64),
        normal_runs: args.normal_runs,
        replays: args.replays,
        repeats: args.repeats,
        patience: search.patience,
        doubt: search.doubt,
        keep_going: args.keep_going,
        without: search.without,
    };
    let plan = Plan { seed: args.seed, ..Plan::default() };
    Ok((chosen.request(verb, &args.target, plan, args.budget.max(2)), reproduce))
}

/// Common plan of all trials.
pub fn plan_of(request: &Request, target: &Target, needs_stacks: bool) -> Plan {
    Plan {
        nodes: request.workload().nodes_inside(),
        seed: request.seed,
        ..common_plan(&target.class_patterns, needs_stacks)
    }
}

/// Scans the target; `named` are the classes that the log names.
fn scan(request: &Request, target: &Target, named: Vec<String>) -> Program {
    let scope = Scope::of(&prefixes(&request.target.packages, &target.with_jdk)).knowing(named);
    let options = StateOptions { task_types: Vec::new(), helpers: false };
    let scanned = Scanned::of(target, &scope, &options);
    let program = &scanned.program;
    let count = |number: usize, one: &str, many: &str| screen::count(number as u64, one, many);
    let calls = program.faults.sites().chunk_by(|one, other| one.call == other.call).count();
    let faults = count(program.faults.sites().len(), "fault", "faults");
    let statements = count(program.statements.statements().len(), "log statement", "log statements");
    scanned.show(&[format!("{faults} at {}", count(calls, "call", "calls")), statements]);
    scanned.program
}

impl Reproducing {
    /// Settings of the engine.
    pub fn settings(&self, request: &Request) -> Result<Settings, Failure> {
        let what = &self.what;
        let strategy: Strategy = what.strategy.parse().map_err(Failure::usage)?;
        Ok(Settings {
            workload: request.workload().name.clone(),
            plan: request.plan.clone(),
            search: SearchOptions { strategy, window: what.window, step: what.step, seed: request.seed },
            kinds: Kinds { exceptions: what.exceptions, delay_ms: what.delay_ms },
            budget: what.budget,
            normal_runs: what.normal_runs,
            replays: what.replays,
            repeats: what.repeats,
            patience: what.patience,
            doubt: what.doubt,
            keep_going: what.keep_going,
            without: without(&what.without).map_err(Failure::usage)?,
            about: self.about.clone(),
        })
    }
}
