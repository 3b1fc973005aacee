//! `hypocenter compare`: all strategies of `reproduce` on the same trials. It is for those who study them, and no part of the help.

use std::path::{Path, PathBuf};

use hypocenter_engine::Work;
use hypocenter_lab::{Entry, Journal};
use hypocenter_plan::Plan;
use hypocenter_reproduce::{Case, Comparison, Recorded, Strategy};
use hypocenter_results::compared::Compared;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::args::{CompareArgs, LabArgs};
use crate::campaign::Verb;
use crate::commands::reproduce::{self, ReproduceRequest, Reproducing};
use crate::failure::Failure;
use crate::failure_logs::FailureLogs;
use crate::request::{Request, existing};
use crate::screen::Working;
use crate::target::Target;

/// Strategies to compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareRequest {
    /// The failure, and all that strategies have in common.
    #[serde(flatten)]
    reproduce: ReproduceRequest,
    /// Their names.
    strategies: Vec<String>,
    /// With how many seeds each.
    seeds: u64,
    /// Campaigns whose trials are taken for what they are.
    recorded: Vec<PathBuf>,
    /// True if every fault at every instance is run before the games.
    every_instance: bool,
    /// The most trials beyond those.
    trials: u64,
}

/// The verb: the failure, and what is played with it.
pub struct Comparing {
    what: CompareRequest,
    reproducing: Reproducing,
    /// Common plan of all trials.
    plan: Plan,
}

impl Verb for Comparing {
    const NAME: &'static str = "compare";
    type Args = CompareArgs;
    type Settings = CompareRequest;
    type Engine = Comparison;
    type Detail = Compared;

    fn common(args: &CompareArgs) -> (&LabArgs, Option<&str>) {
        Reproducing::common(&args.reproduce)
    }

    fn asked(args: &CompareArgs) -> Result<(Request, CompareRequest), Failure> {
        let (request, reproduce) = reproduce::asked(&args.reproduce, Comparing::NAME)?;
        let strategies =
            if args.strategies.is_empty() { Strategy::ALL.to_vec() } else { args.strategies.clone() };
        let what = CompareRequest {
            reproduce,
            strategies: strategies.iter().map(ToString::to_string).collect(),
            seeds: args.seeds.max(1),
            recorded: args.recorded.iter().map(|it| existing(&args.reproduce.target.lab, it)).collect(),
            every_instance: args.every_instance,
            trials: args.more_trials,
        };
        Ok((request, what))
    }

    fn prepare(
        request: &Request,
        what: CompareRequest,
        target: &Target,
        working: &Working,
    ) -> Result<Comparing, Failure> {
        let reproducing = Reproducing::prepare(request, what.reproduce.clone(), target, working)?;
        // What is recorded once serves all strategies, also those that are compared another time.
        let plan = reproduce::plan_of(request, target, true);
        Ok(Comparing { what, reproducing, plan })
    }

    fn plan(&self) -> Plan {
        self.plan.clone()
    }

    fn may_throw(&self) -> Vec<(String, Vec<String>)> {
        self.reproducing.may_throw()
    }

    fn engine(&self, request: &Request) -> Result<Comparison, Failure> {
        let CompareRequest { strategies, seeds, recorded: campaigns, every_instance, trials, .. } =
            &self.what;
        let case = &self.reproducing.case;
        let mut recorded = Recorded::default();
        for campaign in campaigns {
            read(campaign, request, case, &mut recorded)?;
        }
        let strategies: Result<Vec<Strategy>, String> = strategies.iter().map(|it| it.parse()).collect();
        let strategies = strategies.map_err(Failure::usage)?;
        let settings = self.reproducing.settings(request)?;
        let engine = Comparison::new(case.clone(), settings, &strategies, *seeds, recorded, *trials);
        Ok(if *every_instance { engine.with_every_instance() } else { engine })
    }
}

/// The failure logs that a campaign is about, by what is in them.
fn logs_of(request: &Request) -> Vec<u64> {
    let settings = request.engine.as_ref().map(|it| it.settings.clone());
    let logs = settings.and_then(|it| serde_json::from_value::<FailureLogs>(it).ok());
    logs.into_iter().flat_map(|it| it.logs).map(|it| it.digest).collect()
}

/// Reads the trials of an earlier campaign on the same failure.
fn read(directory: &Path, request: &Request, case: &Case, into: &mut Recorded) -> Result<(), Failure> {
    let earlier = Request::read(directory)?;
    let same = logs_of(&earlier) == logs_of(request)
        && earlier.workload() == request.workload()
        && earlier.oracle == request.oracle
        && earlier.target == request.target;
    if !same {
        return Err(Failure::usage(format!(
            "--recorded {}: that campaign has another failure log, workload or target",
            directory.display()
        ))
        .hint("give a campaign that was started with the same ones"));
    }
    let mut plans: FxHashMap<u64, Plan> = FxHashMap::default();
    let mut problem = None;
    Journal::read(&Journal::path_in(directory), |entry| match entry {
        Entry::Asked { jobs, .. } => {
            for job in jobs {
                if let Work::Trial { plan, .. } = job.work {
                    plans.insert(job.id.0, plan);
                }
            }
        }
        Entry::Told { id, outcome, digest, .. } => {
            let (Some(plan), Some(outcome)) = (plans.get(&id.0), outcome) else { return };
            let digest = digest.read(directory, id);
            match digest.and_then(|it| serde_json::from_value(it).map_err(|error| error.to_string())) {
                Ok(digest) => into.add(case, plan, &outcome, digest),
                Err(why) => problem = Some(format!("trial {id}: {why}")),
            }
        }
    })?;
    match problem {
        Some(why) => Err(Failure::usage(format!("{}: {why}", Journal::path_in(directory).display()))),
        None => Ok(()),
    }
}
