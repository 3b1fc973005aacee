//! Rounds that are over: what the search learns from them, and what is to be proved.

use hypocenter_engine::{JobId, Settled};
use hypocenter_plan::{Candidate, CandidateResult, Guard, Outcome, Plan};
use hypocenter_results::reproduced::{AS_LIKELY_MAX, Again, Round, Standing};
use hypocenter_results::{Event, Injected, Score};

use super::{AskedRound, Claimed, Found, Reproduce, candidate_of};
use crate::case::Digest;
use crate::policy;

impl Reproduce {
    /// A round is over: the search learns from it.
    pub(super) fn told_round(&mut self, id: JobId, round: AskedRound, outcome: &Outcome, digest: &Digest) {
        self.refused(&round, outcome);
        let AskedRound { number, level: at, picks, aims, again, window, runs } = round;
        let level = &mut self.levels[at];
        let kept = level.kept.len();
        let guards: Vec<Guard> = level
            .kept
            .iter()
            .map(|it| it.when.clone())
            .chain(picks.iter().map(|it| {
                let site = level.search.space().choices[it.choice as usize].site;
                level.executions.guard(site, it.instance)
            }))
            .collect();
        let injected = |at: usize| {
            let it = outcome.candidates.get(at)?;
            let CandidateResult::Injected(injection) = &it.result else { return None };
            let (site, fault, guard) = (it.site.clone(), it.fault.clone(), guards[at].clone());
            Some(Injected { site, fault, guard, at: injection.clone(), process: None })
        };
        let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
        let hit = (0..picks.len()).find_map(|it| Some((picks[it], injected(kept + it)?)));
        let struck = hit.as_ref().and_then(|(pick, _)| picks.iter().position(|it| it == pick));
        let aim = aims.get(struck.unwrap_or(0)).and_then(Option::as_ref);
        let score = match again {
            Some(Again::Instead) => Some(Score::chosen_by(&policy::INSTEAD)),
            Some(Again::Earlier) => Some(Score::chosen_by(&policy::EARLIER)),
            Some(Again::NearMiss) => Some(Score::chosen_by(&policy::FOLLOW)),
            _ => aim.map(|it| level.score(&self.case, it)),
        };
        let shown = level.shown(digest);
        let kept_now: Vec<Injected> = (0..kept).filter_map(injected).collect();
        let site = hit.as_ref().map(|(pick, _)| level.search.space().choices[pick.choice as usize].site);
        let mut as_likely = Vec::new();
        match &hit {
            Some((pick, _)) if happened => {
                let picks = level.search.as_likely(*pick, &level.symptoms(&self.case), AS_LIKELY_MAX);
                as_likely = picks.into_iter().map(|it| level.candidate(&self.case, it)).collect();
                level.search.used(*pick);
            }
            // Without what was kept, the second fault has not been tried.
            Some(_) if kept_now.len() < kept => {}
            Some((pick, _)) => level.search.failed(*pick, shown.iter().copied()),
            // That another moment does not come says nothing of what is tried otherwise.
            None if again == Some(Again::NearMiss) => {}
            None => level.search.missed(&picks),
        }
        // The search learns what a second fault adds; what the run shows is more than that.
        let shown = self.shown_of(digest);
        if let (0, Some((pick, _))) = (at, &hit) {
            self.picked.insert(number, *pick);
        }
        let fault = hit.map(|(_, it)| it);
        let without_kept = (fault.is_some() && kept_now.len() < kept).then_some(Again::WithoutKept);
        let again = again.or(without_kept);
        let round = Round {
            number,
            trial: id.0,
            window: window as u64,
            rank: site.and_then(|it| self.rank(number, it)),
            found_rank: None,
            left: self.rankings.get(number as usize - 1).map_or(0, |it| it.1 as u64),
            kept: kept_now,
            again,
            runs,
            score,
            shown,
            happened,
            fault,
        };
        self.settle(round, outcome, as_likely);
        if at == 0 && !happened {
            self.follows();
        }
    }

    /// Takes down which faults of a round cannot be injected.
    pub(super) fn refused(&mut self, round: &AskedRound, outcome: &Outcome) {
        let level = &mut self.levels[round.level];
        let kept = level.kept.len();
        for (pick, it) in round.picks.iter().zip(outcome.candidates.iter().skip(kept)) {
            if matches!(it.result, CandidateResult::Refused { .. }) {
                level.search.impossible(pick.choice);
            }
        }
    }

    /// What a run shows that normal runs do not, by the keys.
    pub(super) fn shown_of(&self, digest: &Digest) -> Vec<u32> {
        let Some(level) = self.levels.first() else { return Vec::new() };
        let shown = level.shown(digest);
        shown.iter().filter_map(|&it| level.observables.get(it as usize)).copied().collect()
    }

    /// A round is over: it is noted, and proved if the failure happened in it.
    pub(super) fn settle(&mut self, round: Round, outcome: &Outcome, as_likely: Vec<Candidate>) {
        let faults: Vec<Injected> = round.kept.iter().chain(&round.fault).cloned().collect();
        let (number, trial, happened, again) = (round.number, round.trial, round.happened, round.again);
        let place = self.rounds.partition_point(|it| it.number < number);
        self.rounds.insert(place, round);
        if !happened {
            return;
        }
        if faults.is_empty() {
            // It came by itself.
            self.ran_without(JobId(trial), outcome);
            return;
        }
        let is_instead = again == Some(Again::Instead);
        let is_next = is_instead || again == Some(Again::Earlier);
        if self.claimed.is_some() || (self.instead.is_some() && !is_next) {
            // Another one is being proved; this one can be found again.
            return;
        }
        let why = outcome.failure.as_ref().map(|it| outcome.after_node_ends(&it.why)).unwrap_or_default();
        let plan = self.settings.plan.clone();
        let found = |faults: &[Injected]| Found {
            round: number,
            trial,
            faults: faults.to_vec(),
            plan: Plan {
                candidates: faults.iter().map(candidate_of).collect(),
                limit: faults.len() as u32,
                ..plan.clone()
            },
            why: why.clone(),
            hits: 0,
            runs: 0,
            missed: 0,
            replayed: None,
            as_likely: as_likely.clone(),
            lacks: Vec::new(),
        };
        let whole = found(&faults);
        // Another that leaves as much unexplained is no better answer.
        if self.until.is_some() && !is_instead && !self.explains_more(&whole) {
            return;
        }
        if self.tries_instead(&whole) {
            return;
        }
        self.claimed = Some(match &faults[..] {
            // What was kept may have nothing to do with it.
            [_, .., last] if self.settings.replays > 0 => {
                let found = found(std::slice::from_ref(last));
                Claimed { found, whole: Some(Box::new(whole)) }
            }
            _ => Claimed { found: whole, whole: None },
        });
    }

    /// What was claimed is settled.
    pub(super) fn settle_claim(&mut self, settled: Settled) -> Vec<Event> {
        let Some(Claimed { found, whole }) = self.claimed.take() else { return Vec::new() };
        if let Some(found) = whole.filter(|_| settled != Settled::Holds) {
            self.claimed = Some(Claimed { found: *found, whole: None });
            return Vec::new();
        }
        self.leaves_no_room();
        let Some((found, settled)) = self.by_either_name(found, settled) else {
            return self.told_pool().into_iter().collect();
        };
        let mut events = Vec::new();
        match settled {
            Settled::Holds if !matches!(self.ended, Some(Standing::AlreadyFails { .. })) => {
                self.instead = None;
                self.earlier.clear();
                self.found.push(found);
                if !self.settings.keep_going && self.ended.is_none() {
                    if self.doubts() {
                        events.extend(self.told_doubt());
                    } else {
                        self.ended = Some(Standing::Reproduced);
                    }
                }
            }
            Settled::Holds | Settled::Doubtful => {
                events.extend(self.told_chance(&found));
                self.tries_earlier(&found);
                self.doubtful.push(found);
            }
            Settled::Refuted => {
                events.extend(self.told_chance(&found));
                // Where the workload fails by itself, that is what happened.
                if self.normal_failed == 0 {
                    self.tries_earlier(&found);
                }
            }
        }
        self.proves_delay();
        events
    }
}
