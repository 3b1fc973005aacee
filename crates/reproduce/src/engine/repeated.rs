//! Rounds that are run several times, for workloads of which no two runs are alike.
//!
//! The first run of a round says which of its faults is reached. That alone is run again, and the logs of all runs count as one: a line
//! is shown if any run shows it, and the failure happened if it did in any.

use hypocenter_engine::{Job, JobId};
use hypocenter_plan::{Candidate, CandidateResult, Outcome};
use hypocenter_results::Rate;

use super::{Asked, AskedRound, Reproduce};
use crate::case::Digest;
use crate::silence::{self, Silent};

/// A round of which not all runs are over.
#[derive(Debug)]
pub(super) struct Repeated {
    /// The round, with the fault that was reached.
    pub round: AskedRound,
    candidates: Vec<Candidate>,
    /// Runs to be asked for.
    left: u64,
    /// Runs that are asked for and not over.
    open: u64,
    told: Vec<(JobId, Outcome, Digest)>,
}

impl Reproduce {
    /// The first run of a round is over. Gives it back if it is the only one.
    pub(super) fn repeats(
        &mut self,
        id: JobId,
        round: AskedRound,
        outcome: &Outcome,
        digest: Digest,
    ) -> Option<(AskedRound, Digest)> {
        let kept = self.levels[round.level].kept.len();
        let is_injected = |it: usize| {
            let candidate = outcome.candidates.get(it);
            candidate.is_some_and(|it| matches!(it.result, CandidateResult::Injected(_)))
        };
        let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
        let is_whole = (0..kept).all(is_injected);
        let hit = (0..round.picks.len()).find(|&it| is_injected(kept + it));
        let Some(hit) = hit.filter(|_| self.settings.repeats > 1 && !happened && is_whole) else {
            return Some((round, digest));
        };
        self.refused(&round, outcome);
        let pick = round.picks[hit];
        let level = &self.levels[round.level];
        let mut candidates = level.kept.clone();
        candidates.push(level.candidate(&self.case, pick));
        let aims = round.aims.get(hit).cloned().into_iter().collect();
        let mut first = outcome.clone();
        first.candidates = (0..kept).chain([kept + hit]).map(|it| outcome.candidates[it].clone()).collect();
        self.repeated.push(Repeated {
            round: AskedRound { picks: vec![pick], aims, ..round },
            candidates,
            left: self.settings.repeats - 1,
            open: 0,
            told: vec![(id, first, digest)],
        });
        None
    }

    /// The next run of a round that is run several times.
    pub(super) fn next_repeated(&mut self) -> Option<Job> {
        let it = self.repeated.iter_mut().find(|it| it.left > 0)?;
        it.left -= 1;
        it.open += 1;
        let (number, candidates) = (it.round.number, it.candidates.clone());
        let limit = candidates.len();
        Some(self.job(Asked::Repeat { number }, candidates, limit))
    }

    /// A further run of a round is over, or was lost. Gives the trial that stands for the round if this was its last run.
    pub(super) fn told_repeated(
        &mut self,
        number: u64,
        run: Option<(JobId, &Outcome, Digest)>,
    ) -> Option<(JobId, Outcome)> {
        let place = self.repeated.iter().position(|it| it.round.number == number)?;
        let it = &mut self.repeated[place];
        it.open -= 1;
        if let Some((id, outcome, digest)) = run {
            // Once the failure happened no further run is needed.
            it.left = if has_failed(outcome) { 0 } else { it.left };
            it.told.push((id, outcome.clone(), digest));
        }
        if it.left > 0 || it.open > 0 {
            return None;
        }
        let Repeated { mut round, mut told, .. } = self.repeated.remove(place);
        let digest = combined(told.iter().map(|it| &it.2));
        // A run in which nothing was injected says nothing of the fault, whatever happened in it.
        let counts = |outcome: &Outcome| outcome.injected() == outcome.candidates.len();
        let runs = told.iter().filter(|it| counts(&it.1)).count() as u64;
        let hits = told.iter().filter(|it| counts(&it.1) && has_failed(&it.1)).count() as u64;
        for (id, outcome, _) in told.iter().filter(|it| it.1.injected() == 0) {
            self.ran_without(*id, outcome);
        }
        round.runs = Some(Rate { hits, runs });
        let stands = told.iter().position(|it| counts(&it.1) && has_failed(&it.1)).unwrap_or(0);
        let (id, outcome, _) = told.swap_remove(stands);
        self.told_round(id, round, &outcome, &digest);
        Some((id, outcome))
    }
}

fn has_failed(outcome: &Outcome) -> bool {
    outcome.failure.as_ref().is_some_and(|it| it.happened)
}

/// The digests of several runs as one: what any of them shows.
fn combined<'d>(digests: impl Iterator<Item = &'d Digest> + Clone) -> Digest {
    let mut all = Digest::default();
    for it in digests.clone() {
        all.matched.resize(all.matched.len().max(it.matched.len()), 0);
        all.matched.iter_mut().zip(&it.matched).for_each(|(all, it)| *all = (*all).max(*it));
        all.elsewhere.extend(&it.elsewhere);
        all.own = all.own.max(it.own);
    }
    all.elsewhere.sort_unstable();
    let silent: Vec<&[Silent]> = digests.map(|it| &it.silent[..]).collect();
    // A thread goes on in the workload only if it does so in every run.
    all.silent = silence::of_all(&silent);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_if_any_run_shows_it() {
        let silent = |thread: &str, entries| Silent {
            node: "n".to_owned(),
            thread: thread.to_owned(),
            is_pool: false,
            place: 1,
            entries,
            between: (0, 1),
            orders: None,
        };
        let one = Digest { matched: vec![1, 0, 2], elsewhere: vec![4], own: 3, ..Digest::default() };
        let other = Digest { matched: vec![0, 1, 1], elsewhere: vec![2], own: 1, ..Digest::default() };
        let one = Digest { silent: vec![silent("a", 3), silent("b", 4)], ..one };
        let other = Digest { silent: vec![silent("a", 5)], ..other };
        let both = combined([&one, &other].into_iter());
        assert_eq!((both.matched, both.elsewhere, both.own), (vec![1, 1, 2], vec![2, 4], 3));
        assert_eq!(both.silent, [silent("a", 3)]);
    }
}
