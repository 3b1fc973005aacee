//! The search for a second fault, behind one that is kept.

use hypocenter_engine::{Job, JobId};
use hypocenter_plan::{Candidate, CandidateResult, Outcome};
use hypocenter_results::Score;

use super::{Again, Asked, Injected, Level, Reproduce, Round, Start, candidate_of};
use crate::case::Digest;
use crate::policy;
use crate::traces::Seen;

/// How many faults are kept, each with a search of its own.
const KEPT_MAX: usize = 32;

impl Reproduce {
    /// Whether one fault was searched for long enough.
    pub(super) fn wants_second(&self) -> bool {
        let never = self.settings.patience == u64::MAX;
        !never && (self.rounds.len() as u64 >= self.settings.patience || self.levels[0].exhausted)
    }

    /// A round with a kept fault and a second, or one with a fault that is to be kept.
    pub(super) fn second(&mut self) -> Option<Job> {
        if !self.wants_second() {
            return None;
        }
        let is_over = |it: &Level| it.exhausted || it.rounds >= u64::from(policy::SECOND.weight);
        if self.levels[1..].iter().all(is_over)
            && let Some(kept) = self.next_kept()
        {
            self.rounds_asked += 1;
            self.rankings.push((Vec::new(), 0));
            let asked = Asked::Base { number: self.rounds_asked, kept: Box::new(kept.clone()) };
            return Some(self.job(asked, vec![kept], 1));
        }
        let mut order: Vec<usize> = (1..self.levels.len()).collect();
        order.sort_by_key(|&it| self.levels[it].rounds / u64::from(policy::SECOND.weight));
        order.into_iter().find_map(|it| self.round(it))
    }

    /// The fault of which a run of its own is wanted now, so that a second is searched for behind it.
    fn next_kept(&mut self) -> Option<Candidate> {
        if self.open.values().any(|it| matches!(it, Asked::Base { .. })) {
            return None;
        }
        let is_last_without = self.levels.len() <= self.kept.len();
        if let Some((fault, asked)) = self.kept.last_mut()
            && is_last_without
        {
            if *asked < policy::KEPT_AGAIN.weight {
                *asked += 1;
                return Some(candidate_of(fault));
            }
            // It does not happen again.
            self.unkept.extend(self.kept.pop().map(|it| it.0));
        }
        if self.kept.len() >= KEPT_MAX {
            return None;
        }
        let fault = self.best_fault()?.clone();
        self.kept.push((fault.clone(), 1));
        Some(candidate_of(&fault))
    }

    /// The fault that showed most, of those that did not bring the failure and were not kept yet. What is far from the failure
    /// counts less, and so does what the failure log has at another time than the fault was, or with an exception that came
    /// another way. What is kept comes first, so what the failure log has behind something serious that did not show counts last.
    fn best_fault(&self) -> Option<&Injected> {
        let first = self.levels.first()?;
        let space = first.search.space();
        let at_of = |key: &u32| first.observables.binary_search(key).ok();
        let place = |at: usize| space.observables[at].entries.first().copied().unwrap_or(u32::MAX);
        let is_serious = |key: &&u32| self.case.keys()[**key as usize].is_serious();
        let worth = |round: &Round| {
            let pick = self.picked.get(&round.number)?;
            let stack = &round.fault.as_ref()?.at.stack;
            let instance = &space.instances_of(pick.choice)[pick.instance as usize];
            let unshown = first.observables.iter().filter(|it| !round.shown.contains(it));
            let until = unshown.filter(is_serious).filter_map(at_of).map(place).min().unwrap_or(u32::MAX);
            let (mut early, mut all) = (0.0, 0.0);
            for at in round.shown.iter().filter_map(at_of) {
                let observable = &space.observables[at];
                let shared = self.case.traces().shared(first.observables[at], first.traces.as_ref(), stack);
                let worth = shared / f64::from((1 + observable.remote) * (1 + observable.apart(instance)));
                all += worth;
                early += if place(at) <= until { worth } else { 0.0 };
            }
            Some((early, all))
        };
        let was_kept = |fault: &Injected| {
            let mut all = self.kept.iter().map(|it| &it.0).chain(&self.unkept);
            let is_fault = |it: &Injected| (&it.site, &it.fault) == (&fault.site, &fault.fault);
            all.any(|it| is_fault(it) && it.at.stack_hash == fault.at.stack_hash)
        };
        let shows = self.rounds.iter().filter(|it| !it.happened && !it.shown.is_empty());
        let faults = shows.filter_map(|it| Some((worth(it)?, it.number, it.fault.as_ref()?)));
        let new = faults.filter(|(_, _, fault)| !was_kept(fault));
        let better = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
        new.max_by(|a, b| better(&a.0, &b.0).then(b.1.cmp(&a.1))).map(|(_, _, fault)| fault)
    }

    /// A fault that is to be kept was tried again, and alone.
    pub(super) fn told_base(
        &mut self,
        id: JobId,
        (number, kept): (u64, Candidate),
        outcome: &Outcome,
        digest: Digest,
    ) {
        let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
        let fault = outcome.candidates.first().and_then(|it| match &it.result {
            CandidateResult::Injected(at) => Some(Injected {
                site: it.site.clone(),
                fault: it.fault.clone(),
                guard: kept.when.clone(),
                at: at.clone(),
                process: None,
            }),
            _ => None,
        });
        let shown = self.shown_of(&digest);
        let is_level = fault.is_some() && !happened;
        let round = Round {
            number,
            trial: id.0,
            window: 1,
            rank: None,
            found_rank: None,
            left: 0,
            kept: Vec::new(),
            again: Some(Again::ForSecond),
            runs: None,
            score: Some(Score::chosen_by(&policy::SECOND)),
            shown,
            happened,
            fault,
        };
        self.settle(round, outcome, Vec::new());
        // A run without it is nothing to start from: it is asked for again, a few times.
        if !is_level {
            return;
        }
        let mut executions = self.executions(digest.recorded.as_deref().unwrap_or_default());
        let site = self.case.catalogue().find(&kept.site);
        let behind = site.and_then(|it| executions.keep_behind(it, &kept.when));
        let mut matched = digest.matched;
        for (of_base, of_normal) in matched.iter_mut().zip(&self.levels[0].matched) {
            *of_base = (*of_base).max(*of_normal);
        }
        let (missing, stacks) = (&digest.missing[..], &digest.stacks[..]);
        let traces = Seen::of_all([self.levels[0].traces.as_ref(), digest.traces.as_ref()]);
        let silent = self.fell_silent(digest.silent);
        let spread = self.levels[0].spread.clone();
        let start = Start { matched, spread, missing, silent, stacks, traces, behind };
        self.levels.push(Level::new(&self.case, &self.settings, vec![kept], start, executions));
    }
}
