//! `hypocenter predict`: finds the moments at which a crash would not be survived.

use std::collections::BTreeSet;
use std::sync::Arc;

use hypocenter_engine::Confirmed;
use hypocenter_plan::{Plan, Record, SiteKind, Watch, WatchLevel, Workload};
use hypocenter_predict::{Predict, PredictSettings};
use hypocenter_program::{Program, Scope, StateOptions};
use hypocenter_results::predicted::{Prediction, PruneRule};
use hypocenter_trace::waist_classes;
use serde::{Deserialize, Serialize};

use crate::args::{LabArgs, LimitArgs, PredictArgs};
use crate::campaign::Verb;
use crate::commands::scan::prefixes;
use crate::config::Config;
use crate::failure::Failure;
use crate::overrides::overridden;
use crate::request::{Chosen, Request};
use crate::scanned::Scanned;
use crate::screen::{self, Working};
use crate::search_config::PredictConfig;
use crate::target::Target;

/// Number of nearest frames that operations are recorded with: the checks of a file and what they decide about have callers in common.
const STACK_FRAMES: u32 = 64;
/// Said of a workload in which no node is started again.
const NO_RESTART: &str = "no node of the workload is started again, so a crash shows no recovery; add `restart = { times = 1 }` to the nodes that may crash";

/// Settings of `predict`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictRequest {
    /// Runs with a crash of each node.
    crashes: u64,
    /// Runs without a fault.
    normal_runs: u64,
    /// Replays of each finding.
    replays: u64,
    /// True if predictions are tried.
    triggers: bool,
    /// The most crashes that are tried for predictions.
    triggers_max: usize,
    /// Rules that leave out nothing.
    without: BTreeSet<PruneRule>,
}

/// The verb: the program, and what is asked.
pub struct Predicting {
    what: PredictRequest,
    program: Arc<Program>,
    packages: Vec<String>,
}

impl Verb for Predicting {
    const NAME: &'static str = "predict";
    const ROUND: &'static str = "crash";
    const FORESEEN: bool = false;
    type Args = PredictArgs;
    type Settings = PredictRequest;
    type Engine = Confirmed<Predict>;
    type Detail = Prediction;

    fn common(args: &PredictArgs) -> (&LabArgs, Option<&str>) {
        (&args.target.lab, args.resume.as_deref())
    }

    fn limits(args: &PredictArgs) -> LimitArgs {
        args.limits.clone()
    }

    fn asked(args: &PredictArgs) -> Result<(Request, PredictRequest), Failure> {
        let config = Config::read(&args.target.config)?;
        let mut chosen = Chosen::of(&args.target, args.workload.as_deref())?;
        // Clients say by themselves what is wrong.
        if !chosen.workload.client.is_empty() {
            chosen.oracle = args.target.oracle.clone();
        }
        if nodes(&chosen.workload).iter().all(|it| it.1.is_some()) {
            return Err(
                Failure::usage(NO_RESTART.to_owned()).hint("`hypocenter guide clusters` explains nodes")
            );
        }
        let current = config.predict.clone();
        let mut search = overridden(&config, Predicting::NAME, &args.set.set, current, PredictConfig::check)?;
        search.without.extend(args.no_prune.iter().cloned());
        let without = search.rules().map_err(|why| Failure::usage(format!("--no-prune: {why}")))?;
        let request = PredictRequest {
            crashes: args.crashes,
            normal_runs: args.normal_runs,
            replays: args.replays,
            triggers: !args.no_trigger,
            triggers_max: search.triggers,
            without,
        };
        let plan = Plan { seed: args.seed, ..Plan::default() };
        Ok((chosen.request(Predicting::NAME, &args.target, plan, 2), request))
    }

    fn prepare(
        request: &Request,
        what: PredictRequest,
        target: &Target,
        working: &Working,
    ) -> Result<Predicting, Failure> {
        working.step("scan");
        let scope = Scope::of(&prefixes(&request.target.packages, &target.with_jdk));
        let scanned = Scanned::of(target, &scope, &StateOptions::default());
        scanned.show(&[]);
        for (name, why) in nodes(request.workload()) {
            if let Some(why) = why {
                screen::note("left out", &format!("{name}: {why}"));
            }
        }
        Ok(Predicting { what, program: Arc::new(scanned.program), packages: target.packages.clone() })
    }

    /// It has every operation, at which any crash of the campaign happens.
    fn plan(&self) -> Plan {
        let watch = Watch {
            kinds: vec![SiteKind::Operation, SiteKind::OperationEnd],
            classes: waist_classes(),
            methods: Vec::new(),
            level: WatchLevel::Event,
        };
        let record =
            Record { watch: vec![watch], lossless: true, stack_frames: STACK_FRAMES, ..Record::default() };
        Plan { settle: true, record, ..Plan::default() }
    }

    fn engine(&self, request: &Request) -> Result<Confirmed<Predict>, Failure> {
        let workload = request.workload();
        let settings = PredictSettings {
            workload: workload.name.clone(),
            nodes: nodes(workload),
            packages: self.packages.clone(),
            plan: Plan { seed: request.seed, nodes: workload.nodes_inside(), ..self.plan() },
            normal_runs: self.what.normal_runs,
            crashes: self.what.crashes as usize,
            triggers: self.what.triggers,
            triggers_max: self.what.triggers_max,
            replays: self.what.replays,
            without: self.what.without.clone(),
        };
        Ok(Confirmed::new(Predict::new(self.program.clone(), settings)))
    }
}

/// The processes of a workload that may be crashed, and why others may not.
fn nodes(workload: &Workload) -> Vec<(String, Option<String>)> {
    let why = |it: &hypocenter_plan::Node| {
        if it.restart.is_none_or(|it| it.times == 0) {
            return Some("it is not started again after a crash: it has no `restart`");
        }
        let has_agent = it.agent.unwrap_or(true) && workload.has_agent();
        (!has_agent).then_some("it runs without the agent")
    };
    let processes = workload.node.iter().filter(|it| it.command.is_some());
    processes.map(|it| (it.name.clone(), why(it).map(str::to_owned))).collect()
}
