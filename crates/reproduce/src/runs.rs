//! What the page of a campaign draws: runs above one another, and two logs side by side.

use hypocenter_engine::{JobId, Look};
use hypocenter_results::Injected;
use hypocenter_results::runs::{RUNS_VERSION, Runs};

use crate::case::Case;
use crate::closest::nearest;
use crate::engine::Verdict;

impl Case {
    /// What is drawn of a campaign: its failure, a run without a fault, and what was found, or else the round that came nearest.
    pub fn runs(&self, verdict: &Verdict, look: &Look<'_>) -> Runs {
        let (trial, faults): (Option<u64>, &[Injected]) = match verdict.found.first() {
            Some(it) => (Some(it.replayed.unwrap_or(it.trial)), &it.faults),
            None => (nearest(verdict).first().map(|it| it.0.trial), &[]),
        };
        let evidence = trial.and_then(|it| look(JobId(it))).map(|it| it.1);
        let normal = look(JobId(verdict.normal_first)).map(|it| (verdict.normal_first, it.1));
        let missing = self.shown_by_normal(verdict);
        let keys: Vec<u32> = missing.iter().map(|it| it.0).collect();
        let threads: Vec<(&str, &str)> = faults.iter().map(|it| (&*it.at.node, &*it.at.thread)).collect();
        let beside = evidence.as_ref().and_then(|it| self.beside_at_length(it, &missing));
        let lanes = self.lanes(normal.as_ref().map(|it| &it.1), evidence.as_ref(), &keys, &threads);
        Runs {
            version: RUNS_VERSION,
            normal: normal.map(|it| it.0),
            trial,
            beside: beside.map(|it| it.beside),
            lanes,
        }
    }
}
