//! Whether what was found may not be what happened: it brings the failure, and not a warning of its log that other faults bring.
//!
//! An oracle asks for a symptom, and several faults may lead to it. Where the failure log has a warning or an error that normal runs
//! never show, that some round of this campaign has shown, and that the fault does not bring, it explains less than another may. What
//! threads wrote that have to do with neither the fault nor the symptom is noise, as far as anybody can tell; unless nothing in the
//! code is known to lead from the fault to anything that is missing. Then all that speaks for it is the symptom, and whatever warning
//! it leaves out, of any thread, to which something else is known to lead, speaks against it.
//!
//! The search then goes on for some rounds, for one fault alone, first among those that are known to lead to what is unexplained; and
//! the one that explains most comes first.

use rustc_hash::FxHashSet;

use super::{Found, Level, Reproduce};
use crate::search::Pick;
use crate::space::Thread;

impl Reproduce {
    /// What was found last leaves something unexplained, as long as rounds may follow for that: how many, and the keys.
    pub(super) fn in_doubt(&self) -> Option<(u64, Vec<u32>)> {
        let until = self.until.filter(|_| self.ended.is_none() && self.claimed.is_none())?;
        let left = until.saturating_sub(self.rounds_asked);
        let unexplained = self.unexplained(self.found.last()?);
        (left > 0 && !unexplained.is_empty()).then_some((left, unexplained))
    }

    /// Something was found: whether the search goes on.
    pub(super) fn doubts(&mut self) -> bool {
        let explains_all = self.found.iter().any(|it| self.unexplained(it).is_empty());
        let is_over = self.until.is_some_and(|it| self.rounds_asked >= it);
        if explains_all || is_over {
            return false;
        }
        let until = self.rounds_asked.saturating_add(self.settings.doubt).min(self.settings.budget);
        self.rounds_asked < *self.until.get_or_insert(until)
    }

    /// What is tried for something that explains more than what was found.
    pub(super) fn next_in_doubt(&self, busy: &[Pick]) -> Vec<Pick> {
        let unexplained = self.found.last().map_or_else(Vec::new, |it| self.unexplained(it));
        let level = &self.levels[0];
        let leads = |choice: u32| level.led_to(choice).any(|it| unexplained.contains(&it));
        let picks = level.search.next_among(busy, &leads);
        if picks.is_empty() { level.search.next(busy) } else { picks }
    }

    /// Whether something that brings the failure, too, explains more than all that was found.
    pub(super) fn explains_more(&self, found: &Found) -> bool {
        let least = self.found.iter().map(|it| self.unexplained(it).len()).min();
        least.is_none_or(|least| self.unexplained(found).len() < least)
    }

    /// The threads in which the faults happened, and those that wrote that the failure did.
    fn threads_of(&self, found: &Found) -> Vec<Thread> {
        let mut names = self.case.names();
        let struck = found.faults.iter().map(|it| names.number(&it.at.node, &it.at.thread));
        let mut threads: Vec<Thread> = struck.collect();
        threads.extend(self.case.symptoms().iter().map(|&it| self.case.threads()[it as usize]));
        threads
    }

    /// Whether nothing in the code is known to lead from what was found to anything that is missing.
    fn is_guess(&self, found: &Found, level: &Level) -> bool {
        self.picked.get(&found.round).is_some_and(|it| !level.known[it.choice as usize])
    }

    /// The warnings and errors of the failure log that normal runs never show, other faults do, and this one does not, by their keys.
    /// Of several faults that were found together nothing is known.
    pub(super) fn unexplained(&self, found: &Found) -> Vec<u32> {
        let Some(own) = self.rounds.iter().find(|it| it.number == found.round && it.kept.is_empty()) else {
            return Vec::new();
        };
        let Some(level) = self.levels.first() else { return Vec::new() };
        let (threads, is_guess) = (self.threads_of(found), self.is_guess(found, level));
        let choices = 0..if is_guess { level.known.len() as u32 } else { 0 };
        let led_to: FxHashSet<u32> = choices.flat_map(|it| level.led_to(it)).collect();
        let is_unexplained = |&&key: &&u32| {
            let key_of = &self.case.keys()[key as usize];
            let wrote = || key_of.entries.iter().map(|&it| self.case.threads()[it as usize]);
            let concerns = || is_guess || wrote().any(|it| threads.iter().any(|&of| it.is_like(of)));
            let others = || self.rounds.iter().filter(|it| it.kept.is_empty() && it.number != own.number);
            key_of.is_serious()
                && level.matched[key as usize] == 0
                && !own.shown.contains(&key)
                && concerns()
                && (led_to.contains(&key) || others().any(|it| it.shown.contains(&key)))
        };
        level.observables.iter().filter(is_unexplained).copied().collect()
    }
}
