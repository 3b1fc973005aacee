//! `hypocenter explain`: finds the line where a failing run left the right path.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hypocenter_engine::JobId;
use hypocenter_explain::{Explain, ExplainSettings, NeighbourSpec, SliceModel, Symptom};
use hypocenter_lab::{TrialFiles, finished, trial_directory};
use hypocenter_plan::{Candidate, Plan, Record, Workload};
use hypocenter_program::{ClassPath, Scope, StateOptions};
use hypocenter_results::explained::Explanation;
use serde::{Deserialize, Serialize};

use crate::args::{ExplainArgs, ExplainNeighbours, LabArgs, LimitArgs};
use crate::campaign::Verb;
use crate::commands::replay;
use crate::commands::run::read_plan;
use crate::commands::scan::prefixes;
use crate::config::Config;
use crate::failure::Failure;
use crate::overrides::overridden;
use crate::request::{Chosen, Request, existing};
use crate::scanned::Scanned;
use crate::screen::{self, Working};
use crate::search_config::ExplainConfig;
use crate::summary::Summary;
use crate::target::Target;

/// Trials of the failing campaign that are taken as neighbours.
const TRIALS_MAX: usize = 5;

/// The verb: what can matter to the symptom, and the runs.
pub struct Explaining {
    model: Arc<SliceModel>,
    what: ExplainRequest,
}

/// Settings of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainRequest {
    /// Settings of the engine.
    #[serde(flatten)]
    settings: ExplainSettings,
    /// Symptom of the failure.
    symptom: Symptom,
}

impl Verb for Explaining {
    const NAME: &'static str = "explain";
    const ROUND: &'static str = "run";
    const FORESEEN: bool = false;
    type Args = ExplainArgs;
    type Settings = ExplainRequest;
    type Engine = Explain;
    type Detail = Explanation;

    fn common(args: &ExplainArgs) -> (&LabArgs, Option<&str>) {
        (&args.target.lab, args.resume.as_deref())
    }

    fn limits(args: &ExplainArgs) -> LimitArgs {
        args.limits.clone()
    }

    fn asked(args: &ExplainArgs) -> Result<(Request, ExplainRequest), Failure> {
        let config = Config::read(&args.target.config)?;
        let explain = config.explain.clone();
        let search = overridden(&config, Explaining::NAME, &args.set.set, explain, ExplainConfig::check)?;
        let symptom = args.symptom.as_deref().unwrap_or_default();
        let symptom: Symptom = symptom.parse().map_err(|why| Failure::usage(format!("--symptom {why}")))?;
        let Base { mut request, plan, mut neighbours } = base(args)?;
        let workload = request.workload().name.clone();
        if args.neighbours == ExplainNeighbours::Tests {
            neighbours.clear();
        }
        if args.neighbours != ExplainNeighbours::Trials && !config.workload.is_empty() {
            let mut all = args.target.clone();
            (all.named, all.command) = (None, Vec::new());
            let tests = Chosen::tests(&all, None)?.request(Explaining::NAME, &all, Plan::default(), 1);
            for (name, test) in tests.workloads {
                if name != workload && request.workloads.insert(name.clone(), test).is_none() {
                    let plan = Plan { candidates: Vec::new(), ..plan.clone() };
                    neighbours.push(NeighbourSpec { name: format!("workload {name}"), workload: name, plan });
                }
            }
        }
        let settings = ExplainSettings {
            workload,
            plan: plan.clone(),
            neighbours,
            distance: search.distance,
            replays: args.replays,
            without: search.without,
        };
        let seed = plan.seed;
        let request = Request {
            verb: Explaining::NAME.to_owned(),
            seed,
            repeat: 1,
            plan: Plan::default(),
            hooks: None,
            engine: None,
            ..request
        };
        Ok((request, ExplainRequest { settings, symptom }))
    }

    fn prepare(
        request: &Request,
        what: ExplainRequest,
        target: &Target,
        working: &Working,
    ) -> Result<Explaining, Failure> {
        working.step("scan");
        let scope = Scope::of(&prefixes(&request.target.packages, &target.with_jdk));
        let scanned = Scanned::of(target, &scope, &StateOptions::default());
        let symptom = what.symptom.find(&scanned.program).map_err(|why| {
            Failure::usage(format!("--symptom {why}"))
                .hint("give a line that only a failing run reaches, such as that of the exception")
        })?;
        let drivers: BTreeSet<String> = request.workloads.values().flat_map(main_classes).collect();
        let model = SliceModel::of(&scanned.program, &symptom, what.settings.distance, &drivers);
        scanned.show(&[
            screen::count(model.points(), "point that can matter", "points that can matter"),
            screen::count(model.methods().len() as u64, "method to record", "methods to record"),
        ]);
        screen::line("symptom", &screen::clean(&what.symptom.to_string()));
        if model.symptom().is_empty() {
            return Err(Failure::usage(format!(
                "--symptom {}: it is in the class that the workload starts, whose methods are not compared",
                what.symptom
            ))
            .hint("give a line of the system itself"));
        }
        Ok(Explaining { model: Arc::new(model), what })
    }

    fn plan(&self) -> Plan {
        self.explain().hooks()
    }

    fn engine(&self, _: &Request) -> Result<Explain, Failure> {
        Ok(self.explain())
    }
}

impl Explaining {
    fn explain(&self) -> Explain {
        Explain::new(self.model.clone(), self.what.settings.clone())
    }
}

/// The failing run, and the runs of its workload that come nearest to it.
struct Base {
    request: Request,
    plan: Plan,
    neighbours: Vec<NeighbourSpec>,
}

/// The failing run that the command line names.
fn base(args: &ExplainArgs) -> Result<Base, Failure> {
    let is_run = args.target.named.is_some() || args.plan.is_some() || !args.target.command.is_empty();
    if !is_run {
        return of_campaign(args);
    }
    let chosen = Chosen::of(&args.target, None)?;
    let plan = args.plan.as_deref().map_or_else(|| Ok(Plan::default()), read_plan)?;
    let plan = Plan { record: Record::default(), ..plan };
    let request = chosen.request(Explaining::NAME, &args.target, Plan::default(), 1);
    let workload = request.workload().name.clone();
    let neighbours = beside(&workload, &plan, Vec::new());
    Ok(Base { request, plan, neighbours })
}

/// A failing trial of a campaign.
fn of_campaign(args: &ExplainArgs) -> Result<Base, Failure> {
    let named = args.trial.as_deref().unwrap_or("latest");
    let (name, index) = match named.rsplit_once('/') {
        Some((name, index)) if index.bytes().all(|it| it.is_ascii_digit()) && !index.is_empty() => {
            (name, index.parse().ok())
        }
        _ => (named, None),
    };
    let campaign = existing(&args.target.lab, name);
    let before = Request::read(&campaign)?;
    let index = match index {
        Some(index) => index,
        None => replay::trial_of(&campaign, &before)?,
    };
    let files = TrialFiles::of(&trial_directory(&campaign, JobId(index)));
    let plan = read_plan(&files.plan)?;
    let request = replay::of_trial(before, &campaign, JobId(index))?;
    let failed = finished(&trial_directory(&campaign, JobId(index)))?;
    if failed.is_some_and(|it| it.failure.is_some_and(|it| !it.happened)) {
        return Err(Failure::usage(format!("{name}/{index}: the failure did not happen in this trial"))
            .hint("give a trial in which it happened, as CAMPAIGN/N"));
    }
    let plan = Plan { record: Record::default(), ..plan };
    let workload = request.workload().name.clone();
    let trials = not_failed(&campaign, name, index, &workload, &plan);
    let neighbours = beside(&workload, &plan, trials);
    Ok(Base { request, plan, neighbours })
}

/// Trials of a campaign with a fault in which the failure did not happen, those with the fault at the same site first.
fn not_failed(campaign: &Path, name: &str, failing: u64, workload: &str, plan: &Plan) -> Vec<NeighbourSpec> {
    let tried = Summary::read(campaign).map(|it| it.trials_with_fault()).unwrap_or_default();
    let mut found: Vec<(bool, NeighbourSpec)> = Vec::new();
    for trial in tried.into_iter().filter(|&it| it != failing) {
        let directory = trial_directory(campaign, JobId(trial));
        let Ok(Some(outcome)) = finished(&directory) else { continue };
        if !outcome.end.is_well() || outcome.failure.is_none_or(|it| it.happened) {
            continue;
        }
        let Ok(other) = read_plan(&TrialFiles::of(&directory).plan) else { continue };
        let is_at = |it: &Candidate| plan.candidates.iter().any(|own| own.site.same_point(&it.site));
        let is_same = other.candidates.iter().any(is_at);
        let plan = Plan { record: Record::default(), ..other };
        let (name, workload) = (format!("{name}/{trial}"), workload.to_owned());
        found.push((!is_same, NeighbourSpec { name, workload, plan }));
    }
    found.sort_by_key(|it| it.0);
    found.into_iter().map(|it| it.1).take(TRIALS_MAX).collect()
}

/// Runs of the same workload: trials that did not fail, the fault at its next hit, and no fault. Without a fault there are none.
fn beside(workload: &str, plan: &Plan, trials: Vec<NeighbourSpec>) -> Vec<NeighbourSpec> {
    if plan.candidates.is_empty() {
        return Vec::new();
    }
    let spec = |name: &str, candidates: Vec<Candidate>| NeighbourSpec {
        name: name.to_owned(),
        workload: workload.to_owned(),
        plan: Plan { candidates, ..plan.clone() },
    };
    let later = plan.candidates.iter().cloned().map(|mut it| {
        it.when.occurrence = Some(it.when.occurrence.unwrap_or(1) + 1);
        it
    });
    let later = spec("the fault at its next hit", later.collect());
    let mut all = trials;
    all.push(later);
    all.push(spec("the same without a fault", Vec::new()));
    all
}

/// The classes that the commands of a workload start.
fn main_classes(workload: &Workload) -> Vec<String> {
    let nodes = workload.node.iter().filter_map(|it| it.command.as_ref());
    let clients = workload.client.iter().map(|it| &it.command);
    let commands = workload.command.iter().chain(nodes).chain(clients);
    let main = |words: Vec<String>| ClassPath::of_java_command(&words, Path::new("."), None)?.main_class;
    commands.filter_map(|it| main(it.words("").ok()?)).collect()
}
