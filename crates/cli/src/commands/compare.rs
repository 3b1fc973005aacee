//! `hypocenter compare`: all strategies of `reproduce` on the same trials. It is for those who study them, and no part of the help.

use std::path::{Path, PathBuf};

use hypocenter_engine::Work;
use hypocenter_plan::Plan;
use hypocenter_reproduce::{Case, Comparison, Recorded, Strategy};
use hypocenter_results::compared::Compared;
use serde::{Deserialize, Serialize};

use crate::args::{CompareArgs, LabArgs};
use crate::campaign::Verb;
use crate::commands::reproduce::{self, ReproduceRequest, Reproducing};
use crate::failure::Failure;
use crate::failure_logs::FailureLogs;
use crate::recorded;
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
    let is_same = |earlier: &Request| logs_of(earlier) == logs_of(request);
    recorded::trials(directory, request, (is_same, "failure log"), |work, outcome, digest| {
        if let Work::Trial { plan, .. } = work {
            into.add(case, &plan, &outcome, digest);
        }
    })
}
