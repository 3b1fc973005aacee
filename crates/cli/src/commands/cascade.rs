//! `hypocenter cascade`: finds faults that feed themselves.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use hypocenter_cascade::{Cascade, CascadeSettings, Fit, Judging, KnownCycle, Model};
use hypocenter_engine::{Played, Recording};
use hypocenter_plan::{Arm, NodeRule, Plan, Record, Workload};
use hypocenter_program::{Scope, SitePattern, StateOptions, find_sites};
use hypocenter_results::cascaded::{Cascade as Results, CascadeKind};

use serde::{Deserialize, Serialize};

use crate::args::{CascadeArgs, LabArgs, LimitArgs};
use crate::campaign::Verb;
use crate::commands::scan::prefixes;
use crate::config::Config;
use crate::failure::Failure;
use crate::overrides::overridden;
use crate::recorded;
use crate::request::{Chosen, Request, existing};
use crate::scanned::Scanned;
use crate::screen::{self, Working};
use crate::search_config::{CascadeConfig, KnownCascadeConfig};
use crate::target::{Target, TargetSpec};

/// The verb: the faults of the target, and what is asked.
pub struct Cascading {
    model: Arc<Model>,
    what: CascadeRequest,
}

/// Settings of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CascadeRequest {
    /// CascadeSettings of the engine.
    #[serde(flatten)]
    settings: CascadeSettings,
    /// Campaigns whose trials are taken for what they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recorded: Vec<PathBuf>,
}

/// Delays of a run may take so many times the longest delay.
const DELAYS_TOTAL: u64 = 3;

impl Verb for Cascading {
    const NAME: &'static str = "cascade";
    const ROUND: &'static str = "try";
    const FORESEEN: bool = false;
    type Args = CascadeArgs;
    type Settings = CascadeRequest;
    type Engine = Played<Cascade>;
    type Detail = Results;

    fn common(args: &CascadeArgs) -> (&LabArgs, Option<&str>) {
        (&args.target.lab, args.resume.as_deref())
    }

    fn limits(args: &CascadeArgs) -> LimitArgs {
        args.limits.clone()
    }

    fn asked(args: &CascadeArgs) -> Result<(Request, CascadeRequest), Failure> {
        let config = Config::read(&args.target.config)?;
        let search = overridden(
            &config,
            Cascading::NAME,
            &args.set.set,
            config.cascade.clone(),
            CascadeConfig::check,
        )?;
        let chosen = Chosen::tests(&args.target, args.workload.as_deref())?;
        let arm = match &search.ready {
            Some(method) => ready(method, &chosen.target)?,
            None => Arm::Start,
        };
        let request = chosen.request(Cascading::NAME, &args.target, Plan::default(), 2);
        let longest = search.delays_ms.last().copied().unwrap_or(1);
        let plan = Plan {
            nodes: nodes_inside(&request),
            arm,
            record: Record { lossless: true, ..Record::default() },
            ..Plan::default()
        };
        let settings = CascadeSettings {
            tests: request.workloads.keys().cloned().collect(),
            plan,
            repeats: args.repeats as usize,
            delay_total_ms: search.delay_total_ms.unwrap_or(longest.saturating_mul(DELAYS_TOTAL)),
            delays_ms: search.delays_ms.clone(),
            for_ms: search.for_ms,
            all_lengths: search.all_lengths,
            judging: Judging { one_stage: search.one_stage, fdr: search.fdr, paced: search.checks("paced") },
            budget: args.budget,
            is_random: search.allocation == "random",
            seed: args.seed,
            path_depth: search.path_depth,
            spare_tests: search.spare_tests,
            fit: Fit { callers: search.checks("callers"), ways: search.checks("paths") },
            beam: search.beam,
            delays_in_cycle: search.delays_in_cycle,
            runs_again: true,
            time_ms: args.limits.time.map(|it| it.as_millis() as u64 * u64::from(args.target.lab.jobs)),
            known: search.known.into_iter().map(known).collect(),
        };
        let recorded = args.recorded.iter().map(|it| existing(&args.target.lab, it)).collect();
        Ok((Request { seed: args.seed, ..request }, CascadeRequest { settings, recorded }))
    }

    fn prepare(
        request: &Request,
        what: CascadeRequest,
        target: &Target,
        working: &Working,
    ) -> Result<Cascading, Failure> {
        working.step("scan");
        let scope = Scope::of(&prefixes(&request.target.packages, &target.with_jdk));
        let scanned = Scanned::of(target, &scope, &StateOptions::default());
        let model = Model::of(&scanned.program);
        let count = |kind, one: &str, many: &str| {
            let number = model.faults().iter().filter(|it| it.shown.kind == kind).count();
            screen::count(number as u64, one, many)
        };
        scanned.show(&[
            count(CascadeKind::Delay, "loop", "loops"),
            count(CascadeKind::Exception, "exception", "exceptions"),
            count(CascadeKind::Negation, "detector", "detectors"),
        ]);
        if model.faults().is_empty() {
            return Err(Failure::usage(format!(
                "nothing to inject: {} has no loop, exception or detector that matters",
                target.packages.join(", ")
            ))
            .hint("correct --packages; `hypocenter scan --cascade` lists what was left out, and why"));
        }
        screen::line("tests", &screen::count(what.settings.tests.len() as u64, "test", "tests"));
        Ok(Cascading { model: Arc::new(model), what })
    }

    /// It has every fault, so that all trials share one map.
    fn plan(&self) -> Plan {
        self.cascade().hooks()
    }

    fn engine(&self, request: &Request) -> Result<Played<Cascade>, Failure> {
        let mut recording = Recording::default();
        for campaign in &self.what.recorded {
            let is_same = |it: &Request| it.plan == request.plan;
            recorded::trials(campaign, request, (is_same, "set of hooks"), |work, outcome, digest| {
                recording.add(&work, outcome, digest);
            })?;
        }
        Ok(Played::new(self.cascade(), recording))
    }
}

impl Cascading {
    fn cascade(&self) -> Cascade {
        Cascade::new(self.model.clone(), self.what.settings.clone())
    }
}

/// The nodes inside the processes of all tests.
fn nodes_inside(request: &Request) -> Vec<NodeRule> {
    let mut nodes: Vec<NodeRule> = Vec::new();
    for it in request.workloads.values().flat_map(Workload::nodes_inside) {
        if !nodes.contains(&it) {
            nodes.push(it);
        }
    }
    nodes
}

fn known(it: KnownCascadeConfig) -> KnownCycle {
    KnownCycle { methods: it.methods, why: it.why }
}

/// Faults may happen once this method has returned: at the last of its exits, since the others leave it early.
fn ready(method: &str, spec: &TargetSpec) -> Result<Arm, Failure> {
    let target = Target::open(spec)?;
    let pattern: SitePattern = format!("{method} exit").parse()?;
    let mut found = find_sites(&target.own, &pattern);
    let methods: BTreeSet<_> = found.sites.iter().map(|it| (&it.class, &it.method, &it.descriptor)).collect();
    match methods.len() {
        0 => {
            Err(Failure::usage(format!("[cascade] ready: no method fits `{method}`: {}", found.suggestions))
                .hint("give the method that returns once a test's cluster is up, as package.Class.method"))
        }
        1 => Ok(Arm::After(Box::new(found.sites.pop().expect("a method that was found")))),
        some => Err(Failure::usage(format!("[cascade] ready: {some} methods fit `{method}`"))
            .hint("give the whole name of its class, and its descriptor: package.Class.method(I)")),
    }
}
