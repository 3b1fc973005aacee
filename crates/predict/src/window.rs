//! Windows: crashes of a node beside each other that are not survived, between others that are.

use std::collections::BTreeMap;

use hypocenter_results::predicted::{CrashCame, CrashMoment, CrashSide, Triggered, Window};

use crate::engine::{Predict, Trigger};
use crate::pairs::Moment;

/// Crashes that are not survived, between the same neighbours.
pub(crate) struct Failing<'e> {
    /// The one that is told.
    pub main: &'e Trigger,
    pub also: Vec<&'e Trigger>,
    pub neighbours: Window,
}

/// A crash that was tried.
struct Tried<'e> {
    moment: &'e Moment,
    trial: Option<u64>,
    /// None if it was survived.
    failed: Option<&'e Trigger>,
}

/// A crash for people.
pub(crate) fn crash_moment(it: &Moment, trial: Option<u64>) -> CrashMoment {
    CrashMoment { side: it.side, access: it.access.clone(), trial }
}

impl Predict {
    /// The windows in which crashes are not survived, those with a pair first.
    pub(crate) fn windows(&self) -> Vec<Failing<'_>> {
        let mut found = Vec::new();
        for tried in self.tried().values() {
            let mut begin = 0;
            while let Some(first) = (begin..tried.len()).find(|&it| tried[it].failed.is_some()) {
                let end = (first..tried.len()).find(|&it| tried[it].failed.is_none()).unwrap_or(tried.len());
                found.push(self.failing(tried, first, end));
                begin = end;
            }
        }
        found.sort_by_key(|it| (self.pairs_of(it.main).is_empty(), it.main.trial));
        found
    }

    fn failing<'e>(&'e self, tried: &[Tried<'e>], first: usize, end: usize) -> Failing<'e> {
        let mut all: Vec<&Trigger> = tried[first..end].iter().filter_map(|it| it.failed).collect();
        // A pair on the file itself says more than one on its directory.
        all.sort_by_key(|it| {
            let w = &it.moment.access;
            let pairs = self.pairs_of(it);
            let is_own = |read: &str| read == w.resource || Some(read) == w.other.as_deref();
            let on_file = pairs.iter().any(|it| is_own(&it.read.resource));
            (it.came != Some(Triggered::Confirmed), !on_file, pairs.is_empty(), it.trial)
        });
        let main = all.remove(0);
        let told = |it: &Tried<'_>| crash_moment(it.moment, it.trial);
        let neighbours = Window {
            survived_before: first.checked_sub(1).map(|it| told(&tried[it])),
            survived_again: tried.get(end).map(told),
        };
        Failing { main, also: all, neighbours }
    }

    /// The crashes that say something, by node, in the order of the run without a fault.
    fn tried(&self) -> BTreeMap<&str, Vec<Tried<'_>>> {
        let mut all: BTreeMap<&str, Vec<Tried<'_>>> = BTreeMap::new();
        for node in &self.nodes {
            let runs = node.told.crashes.iter().zip(&node.moments);
            let survived = runs.filter(|it| it.0.came == Some(CrashCame::Correct));
            let survived = survived.map(|(run, moment)| Tried { moment, trial: Some(run.trial), failed: None });
            all.entry(&node.told.name).or_default().extend(survived);
        }
        for it in &self.triggers {
            let failed = it.run.is_some().then_some(it);
            let is_survived = matches!(it.came, Some(Triggered::Benign | Triggered::Handled { .. }));
            if failed.is_some() || is_survived {
                let tried = Tried { moment: &it.moment, trial: it.trial, failed };
                all.entry(&it.moment.access.node).or_default().push(tried);
            }
        }
        all.values_mut().for_each(|it| it.sort_by_key(|it| (it.moment.order, it.moment.side == CrashSide::After)));
        all
    }
}
