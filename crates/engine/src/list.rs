//! The simplest engine: a list of plans, each tried once. It drives `run --repeat` and `replay`.

use hypocenter_plan::{Outcome, Plan};
use hypocenter_results::Event;
use serde::{Deserialize, Serialize};

use crate::{Digester, Engine, Evidence, Job, JobId, Look, Next, Purpose, Work};

/// Workloads, each under a plan.
#[derive(Debug)]
pub struct Plans {
    plans: Vec<(String, Plan)>,
    asked: usize,
    tally: Tally,
}

/// Results of a list of trials.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Trials that are over.
    pub trials: u64,
    /// Trials whose workload ended well.
    pub well: u64,
    /// Trials in which a fault was injected.
    pub injected: u64,
    /// Trials in which the oracle saw the failure.
    pub failures: u64,
    /// Trials in which no JVM had hooks.
    pub agentless: u64,
    /// Hits counted.
    pub hits: u64,
}

impl Plans {
    /// The engine for one workload under each of these plans.
    pub fn new(workload: impl Into<String>, plans: Vec<Plan>) -> Plans {
        let workload = workload.into();
        Plans::each(plans.into_iter().map(|plan| (workload.clone(), plan)).collect())
    }

    /// The engine for workloads, by their names, each under its plan.
    pub fn each(plans: Vec<(String, Plan)>) -> Plans {
        Plans { plans, asked: 0, tally: Tally::default() }
    }
}

/// Counts the hits of a trial.
#[derive(Debug, Clone, Copy)]
pub struct Counted;

impl Digester for Counted {
    type Digest = Hits;
    type Reading = ();
    const NEEDS_ALL: bool = false;

    fn digest(&self, _: &Job, evidence: &[Evidence], (): ()) -> Hits {
        let of_trial = |it: &Evidence| {
            // A trace that cannot be read is a problem of the outcome, which is made from the same file.
            it.trace().map_or(0, |trace| trace.jvms().iter().flat_map(|jvm| trace.counts(jvm)).sum())
        };
        Hits { hits: evidence.iter().map(of_trial).sum() }
    }
}

/// Stored evidence of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hits {
    hits: u64,
}

impl Engine for Plans {
    type Digester = Counted;
    type Results = Tally;

    fn name(&self) -> &'static str {
        "plans"
    }

    fn next(&mut self, room: usize) -> Next {
        if self.asked == self.plans.len() {
            let all_told = self.tally.trials == self.plans.len() as u64;
            return if all_told { Next::Done } else { Next::Wait };
        }
        let from = self.asked;
        self.asked = self.plans.len().min(from.saturating_add(room));
        if from == self.asked {
            return Next::Wait;
        }
        let purpose = |number: usize| match self.plans[number].1.candidates.is_empty() {
            true => Purpose::Normal,
            false => Purpose::Probe,
        };
        let job = |number: usize| Job {
            id: JobId(number as u64),
            purpose: purpose(number),
            work: Work::trial(self.plans[number].0.clone(), self.plans[number].1.clone()),
        };
        Next::Start((from..self.asked).map(job).collect())
    }

    fn digester(&self) -> Counted {
        Counted
    }

    fn tell(&mut self, _: JobId, outcome: Option<&Outcome>, digest: Hits) -> Vec<Event> {
        let Some(outcome) = outcome else { return Vec::new() };
        self.tally.trials += 1;
        self.tally.well += u64::from(outcome.end.is_well());
        self.tally.injected += u64::from(outcome.injected() > 0);
        self.tally.failures += u64::from(outcome.failure.as_ref().is_some_and(|it| it.happened));
        self.tally.agentless += u64::from(outcome.jvms.is_empty());
        self.tally.hits += digest.hits;
        Vec::new()
    }

    fn results(&self, _: &Look<'_>) -> Tally {
        self.tally.clone()
    }
}

#[cfg(test)]
mod tests {
    use hypocenter_plan::{End, FORMAT_VERSION, Steering};

    use super::*;

    fn outcome(status: i32) -> Outcome {
        Outcome {
            version: FORMAT_VERSION,
            end: End::Exited { status },
            wall_ms: 1,
            disk_full: false,
            failure: None,
            processes: Vec::new(),
            candidates: Vec::new(),
            steering: Steering::default(),
            jvms: Vec::new(),
            problems: Vec::new(),
        }
    }

    #[test]
    fn every_plan_is_asked_for_once_and_told_in_any_order() {
        let plan = |seed| Plan { seed, ..Plan::default() };
        let mut engine = Plans::new("w", (0..3).map(plan).collect());
        let Next::Start(first) = engine.next(2) else { panic!("there is work") };
        assert_eq!(first.iter().map(|it| it.id.0).collect::<Vec<_>>(), [0, 1]);
        let Next::Start(second) = engine.next(2) else { panic!("there is one more") };
        assert_eq!(second[0].work, Work::trial("w", plan(2)));
        assert_eq!(engine.next(2), Next::Wait);
        for (id, status) in [(2, 0), (0, 1), (1, 0)] {
            assert_eq!(engine.next(2), Next::Wait);
            engine.tell(JobId(id), Some(&outcome(status)), Hits { hits: 5 });
        }
        assert_eq!(engine.next(2), Next::Done);
        assert_eq!(
            engine.results(&|_| None),
            Tally { trials: 3, well: 2, injected: 0, failures: 0, agentless: 3, hits: 15 }
        );
    }
}
