//! `hypocenter explore`: finds the small fault that breaks a part of the service while the rest looks fine.

use std::sync::Arc;

use hypocenter_engine::Confirmed;
use hypocenter_explore::{
    Catalogue, ClientOf, Explore, FaultScope, KeyKind, Policy, Settings, StatePlace, state_places,
};
use hypocenter_plan::{Arm, Candidate, Guard, Plan, Record, Repeat, SiteKind, TaskMethod, Watch, WatchLevel};
use hypocenter_program::{Scope, StateOptions, task_methods};
use hypocenter_results::explored::Exploration;
use serde::{Deserialize, Serialize};

use crate::args::{ExploreArgs, ExploreFaults, LabArgs, LimitArgs};
use crate::campaign::Verb;
use crate::commands::scan::prefixes;
use crate::config::{Config, KnownConfig};
use crate::failure::Failure;
use crate::overrides::overridden;
use crate::request::{Chosen, Request};
use crate::scanned::Scanned;
use crate::screen::{self, Working};
use crate::search_config::ExploreConfig;
use crate::target::Target;

/// Said of a workload that is one command, such as a test.
const NO_CLIENTS: &str = "it has no clients, so a failure of the workload counts as minor: a test may well fail because of its fault; add nodes and clients, or an oracle for what must not happen (--oracle, or `oracle` under [failure])";

/// Settings of `explore`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExploreRequest {
    /// By which policy.
    policy: String,
    /// Grouping of requests.
    key: String,
    /// Kinds of faults to try.
    faults: Vec<String>,
    /// Duration of a delay.
    delay_ms: u64,
    /// True if calls that only work in memory are among them.
    in_memory: bool,
    /// Types whose implementations are tasks, beside those of the JDK.
    task_types: Vec<String>,
    /// True if nothing is injected before all nodes are ready.
    when_ready: bool,
    /// True if helper methods of tasks have states of their own.
    helpers: bool,
    /// Injections that a state gets.
    budget: u32,
    /// The chance that a trial passes over all requests of its state.
    epsilon: f64,
    /// The most trials.
    trials: u64,
    /// Runs without a fault at the start.
    normal_runs: u64,
    /// Replays of each finding.
    replays: u64,
    /// Trials that each finding is compared with, of each kind.
    neighbours: u64,
    /// Findings that are not reported again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    known: Vec<KnownConfig>,
    /// The method that a finding has on its stack, if one is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

/// The verb: what there is to go wrong, and the tasks.
pub struct Exploring {
    what: ExploreRequest,
    catalogue: Arc<Catalogue>,
    /// Common plan of all trials.
    plan: Plan,
    /// The classes of the target.
    classes: Vec<String>,
    /// For each task where its states begin.
    places: Vec<Vec<StatePlace>>,
}

impl Verb for Exploring {
    const NAME: &'static str = "explore";
    const ROUND: &'static str = "trial";
    type Args = ExploreArgs;
    type Settings = ExploreRequest;
    type Engine = Confirmed<Explore>;
    type Detail = Exploration;

    fn common(args: &ExploreArgs) -> (&LabArgs, Option<&str>) {
        (&args.target.lab, args.resume.as_deref())
    }

    fn limits(args: &ExploreArgs) -> LimitArgs {
        args.limits.clone()
    }

    fn asked(args: &ExploreArgs) -> Result<(Request, ExploreRequest), Failure> {
        asked(args)
    }

    fn prepare(
        request: &Request,
        what: ExploreRequest,
        target: &Target,
        working: &Working,
    ) -> Result<Exploring, Failure> {
        if request.workload().client.is_empty() && request.oracle.is_none() {
            screen::note("workload", NO_CLIENTS);
        }
        working.step("scan");
        let Possible { catalogue, tasks, places } = scan(request, &what, target);
        if catalogue.sites().is_empty() {
            return Err(Failure::usage(format!(
                "nothing to inject: no class of {} has a call for --faults {}",
                target.packages.join(", "),
                what.faults.join(",")
            ))
            .hint("correct --packages, or give other --faults"));
        }
        let plan = plan_of(request, tasks);
        let classes = target.class_patterns.clone();
        Ok(Exploring { what, catalogue: Arc::new(catalogue), plan, classes, places })
    }

    /// It has every fault, so that all trials share one map.
    fn plan(&self) -> Plan {
        Plan { candidates: every_fault(&self.catalogue), ..self.plan.clone() }
    }

    fn engine(&self, request: &Request) -> Result<Confirmed<Explore>, Failure> {
        Ok(Confirmed::new(Explore::new(self.catalogue.clone(), self.settings(request)?)))
    }
}

/// Request from the flags and the configuration; the plan is still empty.
fn asked(args: &ExploreArgs) -> Result<(Request, ExploreRequest), Failure> {
    let config = Config::read(&args.target.config)?;
    let name = args.workload.as_deref().or_else(|| of_failure(args, &config));
    let mut chosen = Chosen::of(&args.target, name)?;
    // Clients say by themselves what is wrong, and nothing is known beforehand. A command alone has nobody else to say it.
    if !chosen.workload.client.is_empty() {
        chosen.oracle = args.target.oracle.clone();
    } else if let Some(oracle) = chosen.oracle.as_ref().filter(|_| args.target.oracle.is_none()) {
        screen::line("oracle", &screen::clean(&format!("{oracle} (from [failure])")));
    }
    let search =
        overridden(&config, Exploring::NAME, &args.set.set, config.explore.clone(), ExploreConfig::check)?;
    let explore = ExploreRequest {
        policy: search.policy,
        key: search.key,
        faults: args.faults.iter().map(|it| it.name().to_owned()).collect(),
        delay_ms: args.delay.as_millis() as u64,
        in_memory: search.in_memory,
        task_types: config.target.task_types,
        when_ready: args.when_ready,
        helpers: search.helpers,
        budget: search.budget,
        epsilon: search.epsilon,
        trials: args.trials,
        normal_runs: args.normal_runs,
        replays: args.replays,
        neighbours: args.neighbours,
        until: search.until,
        known: search.known.into_iter().map(|it| it.into_inner()).collect(),
    };
    let plan = Plan { seed: args.seed, ..Plan::default() };
    Ok((chosen.request(Exploring::NAME, &args.target, plan, args.trials.max(2)), explore))
}

/// The workload of the [failure], where several are there and nobody says which is meant; and tells that it is taken.
fn of_failure<'c>(args: &ExploreArgs, config: &'c Config) -> Option<&'c str> {
    let is_open = args.target.named.is_none() && args.target.command.is_empty();
    let name = config.workload_of_failure().filter(|_| is_open && config.workload.len() > 1)?;
    let what = format!("{name} (from [failure], as none is given)");
    screen::line("workload", &screen::clean(&what));
    Some(name)
}

/// Possible faults, and the tasks.
struct Possible {
    catalogue: Catalogue,
    tasks: Vec<TaskMethod>,
    /// For each task where its states begin.
    places: Vec<Vec<StatePlace>>,
}

fn scan(request: &Request, what: &ExploreRequest, target: &Target) -> Possible {
    let scope = Scope::of(&prefixes(&request.target.packages, &target.with_jdk));
    let options = StateOptions { task_types: what.task_types.clone(), helpers: what.helpers };
    let scanned = Scanned::of(target, &scope, &options);
    let program = &scanned.program;
    let is_asked = |it: ExploreFaults| what.faults.iter().any(|name| name == it.name());
    let faults = FaultScope {
        io_exceptions: is_asked(ExploreFaults::Exceptions),
        other_exceptions: is_asked(ExploreFaults::OtherExceptions),
        delay_ms: is_asked(ExploreFaults::Delays).then_some(what.delay_ms),
        in_memory: what.in_memory,
    };
    let catalogue = faults.catalogue(program);
    let tasks = task_methods(program);
    let count = |number: usize, one: &str, many: &str| screen::count(number as u64, one, many);
    let states = tasks.iter().map(|it| it.states.len()).sum();
    let with_states =
        format!("{} with {}", count(tasks.len(), "task", "tasks"), count(states, "state", "states"));
    scanned.show(&[count(catalogue.sites().len(), "call", "calls") + " that can fail", with_states]);
    let places = tasks.iter().map(|it| state_places(program, it)).collect();
    Possible { catalogue, tasks, places }
}

fn every_fault(catalogue: &Catalogue) -> Vec<Candidate> {
    let candidate = |site: &hypocenter_plan::Site, fault: &hypocenter_plan::Fault| Candidate {
        site: site.clone(),
        fault: fault.clone(),
        when: Guard::default(),
        repeat: Repeat::Once,
    };
    let of_site = |it: &hypocenter_explore::SiteFaults| {
        it.faults.iter().map(|fault| candidate(&it.site, fault)).collect::<Vec<_>>()
    };
    catalogue.sites().iter().flat_map(of_site).collect()
}

/// Common plan of all trials: its tasks are followed, and no recorded event is dropped.
fn plan_of(request: &Request, tasks: Vec<TaskMethod>) -> Plan {
    Plan {
        seed: request.seed,
        nodes: request.workload().nodes_inside(),
        record: Record { tasks, dump: true, lossless: true, ..Record::default() },
        ..Plan::default()
    }
}

impl Exploring {
    fn settings(&self, request: &Request) -> Result<Settings, Failure> {
        let what = &self.what;
        let policy: Policy = what.policy.parse().map_err(Failure::usage)?;
        let level = if policy.needs_stacks() { WatchLevel::Stack } else { WatchLevel::Event };
        let arm = if what.when_ready { Arm::Ready } else { Arm::Start };
        let mut plan = Plan { candidates: Vec::new(), arm, ..self.plan.clone() };
        // The map has no calls but those that can fail.
        plan.record.watch = vec![Watch {
            kinds: vec![SiteKind::Call],
            classes: self.classes.clone(),
            methods: Vec::new(),
            level,
        }];
        let clients = request.workload().client.iter();
        let known = what.known.iter().map(KnownConfig::read).collect::<Result<_, _>>();
        Ok(Settings {
            workload: request.workload().name.clone(),
            several_nodes: request.has_several_nodes(),
            is_judged: !request.workload().client.is_empty() || request.oracle.is_some(),
            places: self.places.clone(),
            clients: clients
                .map(|it| ClientOf {
                    name: it.name.clone(),
                    node: it.node.clone(),
                    kind: it.kind.clone(),
                    phase: it.phase,
                })
                .collect(),
            plan,
            policy,
            key: match what.key == KeyKind::Operation.name() {
                true => KeyKind::Operation,
                false => KeyKind::State,
            },
            budget: what.budget,
            epsilon: what.epsilon,
            trials: what.trials,
            normal_runs: what.normal_runs,
            replays: what.replays,
            replayed_findings: REPLAYED_FINDINGS_MAX,
            neighbours: what.neighbours,
            until: what.until.clone(),
            known: known.map_err(Failure::usage)?,
        })
    }
}

/// Maximum number of findings that are replayed, worst first.
const REPLAYED_FINDINGS_MAX: usize = 20;
