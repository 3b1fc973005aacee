//! A whole engine: it throws at each call what the call declares, twice, and finds what makes the workload fail both times.

use std::collections::BTreeMap;

use hypocenter::verb::{Chosen, Failure, LabArgs, Request, Target, TargetArgs, Verb, Working};
use hypocenter_engine::{Counted, Engine, Hits, JobId, Look, Next, Plans};
use hypocenter_plan::{Candidate, Fault, Guard, Outcome, Plan, Repeat};
use hypocenter_program::{CallId, Program, Scope, StateOptions, name_calls};
use hypocenter_report::Reported;
use hypocenter_results::event::RoundEnded;
use hypocenter_results::{Detail, Event, Finding, Injected, Proof, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(clap::Args)]
pub struct ProbeArgs {
    #[arg(long, default_value_t = 1)]
    at: u64,
    #[arg(long, num_args = 0..=1, default_missing_value = "latest")]
    resume: Option<String>,
    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Probed {
    found: Vec<Finding<()>>,
}

impl Detail for Probed {
    const VERSION: u32 = 1;
    type Finding = ();
    fn findings(&self) -> &[Finding<()>] {
        &self.found
    }
    fn name_replays(&mut self, command: &dyn Fn(u64) -> String) {
        self.found.iter_mut().for_each(|it| it.replay = command(it.trial));
    }
}

impl Reported for Probed {}

pub struct Probe {
    list: Vec<Plan>,
    plans: Plans,
    failed: BTreeMap<u64, (Vec<Injected>, String)>,
}

impl Engine for Probe {
    type Digester = Counted;
    type Results = Probed;
    fn name(&self) -> &'static str {
        "probe"
    }
    fn next(&mut self, room: usize) -> Next {
        self.plans.next(room)
    }
    fn digester(&self) -> Counted {
        Counted
    }
    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, hits: Hits) -> Vec<Event> {
        self.plans.tell(id, outcome, hits);
        let outcome = outcome.expect("every job is a trial");
        let faults: Vec<_> = Injected::all(&self.list[id.0 as usize], outcome).map(|it| it.1).collect();
        if let Some(it) = outcome.failure.as_ref().filter(|it| it.happened && !faults.is_empty()) {
            self.failed.insert(id.0, (faults.clone(), it.why.clone()));
        }
        let round = RoundEnded { number: id.0 + 1, trial: id.0, faults, ..RoundEnded::default() };
        vec![Event::Round(Box::new(round))]
    }
    fn results(&self, _: &Look<'_>) -> Probed {
        let both = self.failed.iter().filter(|(id, _)| *id % 2 == 0 && self.failed.contains_key(&(*id + 1)));
        let found = both.map(|(&trial, (faults, why))| {
            let (faults, why, rate) = (faults.clone(), why.clone(), Rate { hits: 2, runs: 2 });
            Finding { faults, why, proof: Proof::Confirmed, rate, trial, ..Finding::default() }
        });
        Probed { found: found.collect() }
    }
}

pub struct Probing(Vec<Candidate>);

impl Verb for Probing {
    const NAME: &'static str = "probe";
    type Args = ProbeArgs;
    type Settings = u64;
    type Engine = Probe;
    type Detail = Probed;
    fn common(args: &ProbeArgs) -> (&LabArgs, Option<&str>) {
        (&args.target.lab, args.resume.as_deref())
    }
    fn asked(args: &ProbeArgs) -> Result<(Request, u64), Failure> {
        Ok((Chosen::of(&args.target, None)?.request("probe", &args.target, Plan::default(), 2), args.at))
    }
    fn prepare(_: &Request, at: u64, target: &Target, working: &Working) -> Result<Probing, Failure> {
        let scope = Scope::of(&target.packages);
        let program =
            Program::of(&target.with_jdk, &scope, &StateOptions::default(), |it| working.step(it.name()));
        let (world, faults) = (&program.world, program.faults.sites().iter());
        let thrown =
            faults.flat_map(|it| it.kind.exceptions().iter().map(|class| (it.call, world.show_type(*class))));
        let (calls, classes): (Vec<CallId>, Vec<String>) = thrown.unzip();
        let when = Guard { occurrence: Some(at), ..Guard::default() };
        let candidate = |(site, class)| {
            let fault = Fault::Exception { class, message: None };
            Some(Candidate { site: site?, fault, when: when.clone(), repeat: Repeat::Once })
        };
        let named = name_calls(world, &program.facts, &calls).into_iter().zip(classes);
        Ok(Probing(named.filter_map(candidate).collect()))
    }
    fn plan(&self) -> Plan {
        Plan { candidates: self.0.clone(), ..Plan::default() }
    }
    fn engine(&self, request: &Request) -> Result<Probe, Failure> {
        let plan = |it: &Candidate| Plan { candidates: vec![it.clone()], ..Plan::default() };
        let list: Vec<Plan> = self.0.iter().flat_map(|it| [plan(it), plan(it)]).collect();
        Ok(Probe { plans: Plans::new(&request.workload().name, list.clone()), list, failed: BTreeMap::new() })
    }
}
