//! Runs without a fault in which the failure happens all the same.
//!
//! A flaky workload fails now and then by itself. That is measured and reported, and a fault counts as found where it brings the failure
//! at a higher rate (Fisher's test). Only a rate beside which no fault could stand out ends the search.

use hypocenter_engine::{JobId, stats};
use hypocenter_plan::Outcome;
use hypocenter_results::reproduced::{NormalFailure, Standing};
use hypocenter_results::{Event, Rate, event::Learned};

use super::Reproduce;
use crate::case::Digest;
use crate::policy;

/// Replays that there may be to tell a fault from chance, for each that was asked for; as in the proof.
const REPLAYS_LONGER: u64 = 4;
/// Replays to judge by where none are asked for.
const REPLAYS_MIN: u64 = 5;
/// How much longer one run must take than another, in milliseconds, for the machine to be called busy.
const BUSY_MS_MIN: u64 = 1_000;

impl Reproduce {
    /// How many runs without a fault there are before the first round: more where the failure happened in one, to know its rate, unless it
    /// happens in every run.
    pub(super) fn normal_wanted(&self) -> u64 {
        let asked = self.settings.normal_runs.max(1);
        match self.normal_failed {
            0 => asked,
            failed if failed == self.normal_runs => asked.max(2),
            _ => asked.max(u64::from(policy::RATE_RUNS.weight)),
        }
    }

    /// A normal run is over.
    pub(super) fn told_normal(&mut self, id: JobId, outcome: &Outcome, digest: Digest) -> Vec<Event> {
        self.ran_without(id, outcome);
        // A run in which it happened shows the failure, not what is normal, and may take as long as it waits.
        if !outcome.failure.as_ref().is_some_and(|it| it.happened) {
            self.normal_first.get_or_insert(id);
            self.normal.push(digest);
            let (least, most) = self.normal_ms.unwrap_or((u64::MAX, 0));
            self.normal_ms = Some((least.min(outcome.wall_ms), most.max(outcome.wall_ms)));
        }
        if self.normal_runs < self.normal_wanted() {
            return Vec::new();
        }
        self.begin();
        let rate = Rate { hits: self.normal_failed, runs: self.normal_runs };
        let is_flaky = rate.hits > 0 && self.ended.is_none();
        let flaky = is_flaky.then_some(Event::Learned(Learned::Flaky(rate)));
        let busy =
            self.busy_ms().map(|(least_ms, most_ms)| Event::Learned(Learned::Busy { least_ms, most_ms }));
        self.told_search().into_iter().chain(flaky).chain(busy).collect()
    }

    /// Ends the search if the failure happens without a fault so often that no fault could stand out.
    pub(super) fn leaves_no_room(&mut self) -> bool {
        let (failed, runs) = (self.normal_failed, self.normal_runs);
        let most = REPLAYS_LONGER * self.settings.replays.max(REPLAYS_MIN);
        let foretold = (failed * most).div_ceil(runs.max(1));
        let is_full = self.normal.is_empty() || !stats::exceeds((most, most), (foretold, most));
        let ends = failed > 0 && is_full;
        if ends {
            self.ended = Some(Standing::AlreadyFails { failed, runs });
        }
        ends
    }

    /// How long normal runs took, if they differ so much that the machine must be busy.
    pub(super) fn busy_ms(&self) -> Option<(u64, u64)> {
        let is_far = |&(least, most): &(u64, u64)| {
            most >= u64::from(policy::BUSY.weight) * least && most - least >= BUSY_MS_MIN
        };
        self.normal_ms.filter(is_far)
    }

    /// A run without a fault is over.
    pub(super) fn ran_without(&mut self, id: JobId, outcome: &Outcome) {
        self.normal_runs += 1;
        if let Some(failure) = outcome.failure.as_ref().filter(|it| it.happened) {
            self.normal_failed += 1;
            let why = || outcome.after_node_ends(&failure.why);
            self.normal_failure.get_or_insert_with(|| NormalFailure { trial: id.0, why: why() });
        }
    }
}
