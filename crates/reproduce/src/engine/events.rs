//! What the engine has learnt, for those who watch.

use std::collections::BTreeSet;

use hypocenter_engine::JobId;
use hypocenter_plan::{Outcome, Site};
use hypocenter_results::Rate;
use hypocenter_results::event::{Effect, Event, Learned, RoundEnded, Search};
use hypocenter_results::reproduced::{Missing, Round, Silent};

use crate::case::Digest;
use crate::closest::shown_alone;

use super::{Found, Reproduce, Standing};

/// What was told before.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// What rounds have shown, by the keys.
    seen: BTreeSet<u32>,
    /// The calls at which a fault has happened.
    struck: Vec<Site>,
    /// How many calls there are to try.
    calls: u64,
    /// Whether it was told that what was found leaves something unexplained.
    doubt: bool,
}

impl Reproduce {
    /// What the normal runs gave.
    pub(super) fn told_search(&mut self) -> Option<Event> {
        let verdict = self.verdict();
        if verdict.missing.is_empty() {
            return None;
        }
        self.told.calls = (verdict.sites_reached + verdict.sites_beyond) as u64;
        let silent = verdict.silent.iter().map(|it| Silent {
            node: it.node.clone(),
            thread: it.thread.clone(),
            entries: it.entries,
        });
        Some(Event::Learned(Learned::Search(Box::new(Search {
            silent: silent.collect(),
            missing: verdict.missing,
            sites_total: verdict.sites_total as u64,
            sites_inferred: verdict.sites_inferred as u64,
            sites_reached: verdict.sites_reached as u64,
            sites_beyond: verdict.sites_beyond as u64,
            instances: verdict.instances as u64,
            has_delays: self.settings.kinds.delay_ms.is_some(),
        }))))
    }

    /// The round that a trial was, now that it is over.
    pub(super) fn told_ended(&mut self, id: JobId, outcome: &Outcome) -> Option<Event> {
        let round = self.round_of(id)?.clone();
        let ended = RoundEnded {
            number: round.number,
            trial: round.trial,
            faults: round.kept.iter().chain(&round.fault).cloned().collect(),
            meant: None,
            given: self.given(&round, outcome),
            effect: self.effect(&round),
            again: round.again,
            runs: round.runs,
            new_states: 0,
            tried: self.told.tried(&round),
            ends: outcome.node_ends(),
            left: self.settings.budget.saturating_sub(round.number),
            record: serde_json::to_string(&round).expect("a record is always JSON"),
        };
        self.told.seen.extend(&round.shown);
        Some(Event::Round(Box::new(ended)))
    }

    fn given(&self, round: &Round, outcome: &Outcome) -> Vec<(hypocenter_plan::Fault, Site)> {
        if round.fault.is_some() {
            return Vec::new();
        }
        let kept = outcome.candidates.len().saturating_sub(round.window as usize);
        let given = outcome.candidates.iter().skip(kept);
        given.map(|it| (it.fault.clone(), it.site.clone())).collect()
    }

    /// A further run of a round is over.
    pub(super) fn told_repeat(&mut self, number: u64, run: Option<(JobId, &Outcome, Digest)>) -> Vec<Event> {
        let Some((id, outcome)) = self.told_repeated(number, run) else { return Vec::new() };
        self.proves_delay();
        self.told_ended(id, &outcome).into_iter().collect()
    }

    /// What a round changed in the log.
    fn effect(&self, round: &Round) -> Effect {
        if round.happened {
            return Effect::Failure;
        }
        if round.fault.is_none() {
            return Effect::NoFault { why: "no fault".to_owned(), is_bad: false };
        }
        let is_new = |it: &&u32| !self.told.seen.contains(it);
        let new: Vec<u32> = round.shown.iter().filter(is_new).copied().collect();
        let alone = (!round.kept.is_empty()).then(|| shown_alone(&self.rounds, round));
        Effect::Shows {
            shown: round.shown.len(),
            of: self.observables(),
            beyond_first: alone.map(|it| round.shown.iter().filter(|key| !it.contains(key)).count()),
            new: self.lines(&new),
        }
    }

    /// The lines of some keys: the node, and the line of its log.
    fn lines(&self, keys: &[u32]) -> Vec<(String, u32)> {
        let missing: Vec<Missing> = if keys.is_empty() { Vec::new() } else { self.verdict().missing };
        let lines = missing.into_iter().filter(|it| keys.contains(&it.key));
        lines.map(|it| (it.node, it.line)).collect()
    }

    /// The search goes on although something was found.
    pub(super) fn told_doubt(&mut self) -> Option<Event> {
        let (rounds, unexplained) = self.in_doubt()?;
        if std::mem::replace(&mut self.told.doubt, true) {
            return None;
        }
        let lines = self.lines(&unexplained);
        Some(Event::Learned(Learned::Doubt { rounds, lines }))
    }

    /// The replays begin anew, with the moment counted over a pool.
    pub(super) fn told_pool(&self) -> Option<Event> {
        self.asks_pool().map(|it| Event::Learned(Learned::Pool(it.to_owned())))
    }

    /// A round was not what was looked for.
    pub(super) fn told_chance(&self, found: &Found) -> Option<Event> {
        let goes_on = self.ended.is_none() && self.rounds_asked < self.settings.budget;
        let rate = Rate { hits: found.hits, runs: found.runs };
        let is_by_itself = matches!(self.ended, Some(Standing::AlreadyFails { .. }));
        let chance = Learned::Chance { round: found.round, rate, goes_on };
        (!is_by_itself).then_some(Event::Learned(chance))
    }
}

impl Told {
    /// At how many calls a fault has happened, with this round, and how many there are.
    fn tried(&mut self, round: &Round) -> Option<(u64, u64)> {
        if let Some(it) = round.fault.as_ref().filter(|it| !self.struck.contains(&it.site)) {
            self.struck.push(it.site.clone());
        }
        (self.calls > 0).then_some((self.struck.len() as u64, self.calls))
    }
}
