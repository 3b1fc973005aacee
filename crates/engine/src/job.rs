//! Request of an engine.

use std::collections::BTreeMap;
use std::fmt;

use hypocenter_plan::{Edit, Plan, Restart};
use serde::{Deserialize, Serialize};

use crate::HookSet;

/// The number of a job in its campaign, from 0, in the order in which jobs were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// Its purpose.
    pub purpose: Purpose,
    /// Task.
    pub work: Work,
}

/// Purpose of a job: digesters, narration and reports rely on it, and infer nothing from a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A run without a fault, to know what is normal.
    Normal,
    /// A try of something new.
    Probe,
    /// A run with what is known to matter and nothing else, from which a search goes on.
    Base,
    /// A trial again, to see whether it shows the same.
    Replay(JobId),
    /// A run without a fault beside the replays of a trial.
    Control(JobId),
    /// Something near a trial, to see what of it matters.
    Near(JobId),
}

/// Task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "nearly all jobs are trials, so a box would save nothing")]
pub enum Work {
    /// One run of a workload under a plan.
    Trial {
        /// The workload's name.
        workload: String,
        /// The plan.
        plan: Plan,
        /// The hooks, where they are not those that the campaign began with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hooks: Option<HookSet>,
        /// The nodes that are started again when they end, in the place of what the workload says of them.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        restarts: BTreeMap<String, Restart>,
        /// Changes of the workload, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edits: Vec<Edit>,
    },
    /// A pass over the kept evidence of earlier trials.
    Study {
        /// Which.
        trials: Vec<TrialRef>,
    },
}

impl Work {
    /// A trial of a workload as it is, with the hooks that the campaign began with.
    pub fn trial(workload: impl Into<String>, plan: Plan) -> Work {
        let (restarts, edits) = (BTreeMap::new(), Vec::new());
        Work::Trial { workload: workload.into(), plan, hooks: None, restarts, edits }
    }
}

/// A trial whose evidence is kept: of the same campaign, or of one of its inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrialRef {
    /// The number of the input, from 0; absent for a trial of the campaign itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<usize>,
    /// The number of the trial there.
    pub id: JobId,
}

impl From<JobId> for TrialRef {
    fn from(id: JobId) -> TrialRef {
        TrialRef { input: None, id }
    }
}

/// The answer to a request for work.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Do these; no more of them than there was room for.
    Start(Vec<Job>),
    /// Nothing until something that was started has ended.
    Wait,
    /// The campaign is over.
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_says_no_more_than_it_must() {
        let job = |work| Job { id: JobId(3), purpose: Purpose::Probe, work };
        let read = |text: &str| serde_json::from_str::<Job>(text).expect("a job");
        let written = |job: &Job| serde_json::to_string(job).expect("a job is always JSON");
        let plain = job(Work::trial("w", Plan::default()));
        let text = written(&plain);
        assert!(!["hooks", "restarts", "edits"].iter().any(|it| text.contains(it)), "{text}");
        assert_eq!(read(&text), plain);
        let edit = Edit::Variable { process: None, name: "A".into(), value: "1".into() };
        let mut full = plain.clone();
        if let Work::Trial { hooks, restarts, edits, .. } = &mut full.work {
            *hooks = Some(HookSet(0xab));
            let restart: Restart = serde_json::from_str("{\"times\":2}").expect("a restart");
            restarts.insert("n".into(), restart);
            edits.push(edit);
        }
        let text = written(&full);
        assert!(text.contains("\"hooks\":\"00000000000000ab\""), "{text}");
        assert_eq!(read(&text), full);
        let trials = vec![JobId(1).into(), TrialRef { input: Some(0), id: JobId(2) }];
        let study = job(Work::Study { trials });
        let text = written(&study);
        assert!(text.contains("[{\"id\":1},{\"input\":0,\"id\":2}]"), "{text}");
        assert_eq!(read(&text), study);
    }
}
