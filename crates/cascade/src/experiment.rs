//! An experiment: one fault in one test, in the doses that can show what it causes.

use std::collections::BTreeMap;

use hypocenter_plan::{Candidate, Repeat, StackGuard};
use hypocenter_results::cascaded::CascadeKind;

use crate::compare::{Effect, Judging, Run, differ, errors, growth};
use crate::model::{Model, Weakness};
use crate::reader::{Callers, Ways};

/// A variant without any difference after so many runs has no effect.
const FIRST_RUNS: usize = 3;

/// Dose of a fault.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Dose {
    /// A delay at every iteration.
    Delay { ms: u64 },
    /// Once.
    Once { after: bool },
    /// At every hit for a while, in calls like the one in which it was injected once.
    Repeated { after: bool, frames: Vec<String> },
}

/// The doses of a campaign.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Doses {
    /// Lengths of delays, the shortest first.
    pub delays_ms: Vec<u64>,
    pub delay_total_ms: u64,
    pub for_ms: u64,
    pub all_lengths: bool,
}

/// Runs of a fault in one dose.
#[derive(Debug)]
pub(crate) struct Variant {
    pub dose: Dose,
    runs: Vec<Option<Run>>,
    /// Effects, once it is over.
    pub caused: Option<Caused>,
}

/// Effects of a variant.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caused {
    pub errors: Vec<Effect>,
    pub growth: Vec<Effect>,
}

impl Caused {
    fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.growth.is_empty()
    }
}

/// One fault in one test.
#[derive(Debug)]
pub(crate) struct Experiment {
    pub fault: u32,
    pub test: usize,
    pub phase: u32,
    pub variants: Vec<Variant>,
    pub standing: Standing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Open,
    Over,
    /// Its fault was never injected.
    Void,
}

/// Next need of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// So many further runs of its last variant.
    Runs(usize),
    /// Further runs of its test without a fault.
    Normal,
    /// Nothing more before what was asked for is there.
    Nothing,
    /// It is over.
    Over,
}

/// The runs of a test without a fault: those that all experiments are compared with, and fresh ones for the second stage.
pub(crate) struct Normal<'r> {
    pub first: Vec<&'r Run>,
    /// Absent if they were not run yet.
    pub fresh: Option<Vec<&'r Run>>,
}

/// The common settings of all experiments.
pub(crate) struct Lab<'m> {
    pub model: &'m Model,
    pub judging: Judging,
    pub repeats: usize,
    pub doses: &'m Doses,
}

impl Experiment {
    pub(crate) fn new(lab: &Lab<'_>, (fault, test): (u32, usize), phase: u32) -> Experiment {
        let weakness = &lab.model.faults()[fault as usize];
        let dose = match weakness.shown.kind {
            CascadeKind::Delay => Dose::Delay { ms: lab.doses.delays_ms.last().copied().unwrap_or(1) },
            _ => Dose::Once { after: false },
        };
        let variants = vec![Variant { dose, runs: Vec::new(), caused: None }];
        Experiment { fault, test, phase, variants, standing: Standing::Open }
    }

    /// The number of the variant that is under way.
    pub(crate) fn current(&self) -> usize {
        self.variants.len() - 1
    }

    /// Makes room for a run of the last variant, and gives its number there.
    pub(crate) fn ask(&mut self) -> usize {
        let at = self.current();
        let runs = &mut self.variants[at].runs;
        runs.push(None);
        runs.len() - 1
    }

    pub(crate) fn tell(&mut self, variant: usize, number: usize, run: Run) {
        self.variants[variant].runs[number] = Some(run);
    }

    /// Goes on as far as it can with the runs that are there.
    pub(crate) fn go_on(&mut self, lab: &Lab<'_>, normal: &Normal<'_>) -> Need {
        loop {
            let need = self.need(lab, normal);
            if need != Need::Over {
                return need;
            }
            match self.next_dose(lab, normal) {
                Some(dose) => self.variants.push(Variant { dose, runs: Vec::new(), caused: None }),
                None => {
                    let is_void = self.variants.iter().all(|it| it.told().all(|it| !it.is_injected));
                    self.standing = if is_void { Standing::Void } else { Standing::Over };
                    return Need::Over;
                }
            }
        }
    }

    /// Next need of the last variant. If it is over, its effects are known.
    fn need(&mut self, lab: &Lab<'_>, normal: &Normal<'_>) -> Need {
        let current = self.current();
        let variant = &mut self.variants[current];
        if variant.runs.iter().any(Option::is_none) {
            return Need::Nothing;
        }
        let runs: Vec<&Run> = variant.told().collect();
        let first = FIRST_RUNS.min(lab.repeats);
        if runs.len() < first {
            return Need::Runs(first - runs.len());
        }
        let is_injected = runs.iter().any(|it| it.is_injected);
        if runs.len() < lab.repeats {
            if is_injected && differ(&runs, &normal.first) {
                return Need::Runs(lab.repeats - runs.len());
            }
            variant.caused = Some(Caused::default());
            return Need::Over;
        }
        let stage = &runs[..lab.repeats];
        let injected: Vec<&Run> = stage.iter().copied().filter(|it| it.is_injected).collect();
        let (mut grown, _) = growth(lab.model, &lab.judging, &injected, &normal.first);
        if !grown.is_empty() && !lab.judging.one_stage {
            if runs.len() < 2 * lab.repeats {
                return Need::Runs(2 * lab.repeats - runs.len());
            }
            let Some(fresh) = &normal.fresh else { return Need::Normal };
            let again: Vec<&Run> = runs[lab.repeats..].iter().copied().filter(|it| it.is_injected).collect();
            grown = in_both(grown, growth(lab.model, &lab.judging, &again, fresh).0);
        }
        let caused = Caused { errors: errors(&runs, &normal.first), growth: grown };
        variant.caused = Some(caused);
        Need::Over
    }

    fn next_dose(&self, lab: &Lab<'_>, normal: &Normal<'_>) -> Option<Dose> {
        let last = self.variants.last()?;
        let caused = last.caused.as_ref()?;
        let is_of_library = lab.model.faults()[self.fault as usize].is_of_library;
        let after = |it: bool| (it && is_of_library).then_some(Dose::Once { after: true });
        match &last.dose {
            Dose::Delay { ms } => {
                let shorter = lab.doses.delays_ms.iter().rev().find(|it| *it < ms)?;
                let is_wanted = lab.doses.all_lengths || last.told().any(|it| it.is_cut_short(normal));
                is_wanted.then_some(Dose::Delay { ms: *shorter })
            }
            &Dose::Once { after: is_after } => {
                let had_effect = !caused.is_empty();
                if had_effect && caused.growth.is_empty() && lab.doses.for_ms > 0 {
                    let frames = last.told().find(|it| it.is_injected)?.frames.clone();
                    return Some(Dose::Repeated { after: is_after, frames });
                }
                after(had_effect && !is_after)
            }
            Dose::Repeated { after: is_after, .. } => after(!is_after),
        }
    }

    /// The candidates of a variant, and how many of them may be injected.
    pub(crate) fn candidates(&self, lab: &Lab<'_>, variant: usize) -> (Vec<Candidate>, u32) {
        let weakness: &Weakness = &lab.model.faults()[self.fault as usize];
        let all = |it: &[Candidate]| it.len() as u32;
        match &self.variants[variant].dose {
            Dose::Delay { ms } => {
                let repeat = Repeat::TotalMs(lab.doses.delay_total_ms.max(*ms));
                let them = weakness.candidates(repeat, *ms, false);
                let limit = all(&them);
                (them, limit)
            }
            Dose::Once { after } => (weakness.candidates(Repeat::Once, 0, *after), 1),
            Dose::Repeated { after, frames } => {
                let mut them = weakness.candidates(Repeat::ForMs(lab.doses.for_ms), 0, *after);
                for it in them.iter_mut().filter(|_| !frames.is_empty()) {
                    it.when.stack = Some(StackGuard::Suffix(frames.clone()));
                }
                let limit = all(&them);
                (them, limit)
            }
        }
    }
}

impl Variant {
    /// Its runs that are over.
    pub(crate) fn told(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().flatten()
    }

    /// Places at which its fault was injected, and the ways there: for a delay those of all iterations (6.2).
    pub(crate) fn causes(&self, fault: u32) -> BTreeMap<(Callers, u32), Ways> {
        let mut causes: BTreeMap<(Callers, u32), Ways> = BTreeMap::new();
        for run in self.told().filter(|it| it.is_injected) {
            match self.dose {
                Dose::Delay { .. } => {
                    for (spot, count, ways) in run.digest.loops.iter().filter(|it| it.0.0 == fault) {
                        if *count > 0 {
                            causes.entry((spot.1, 0)).or_default().extend(ways);
                        }
                    }
                }
                Dose::Once { .. } | Dose::Repeated { .. } => {
                    for (callers, value, ways) in &run.digest.injected {
                        causes.entry((*callers, *value)).or_default().extend(ways);
                    }
                }
            }
        }
        causes
    }
}

impl Run {
    /// Tests whether a delay was so long that a part of the test was not reached.
    fn is_cut_short(&self, normal: &Normal<'_>) -> bool {
        let always = |it: &u32| normal.first.iter().all(|run| run.digest.reached.binary_search(it).is_ok());
        let Some(first) = normal.first.first() else { return self.has_timed_out };
        let is_missing = |it: &u32| self.digest.reached.binary_search(it).is_err();
        self.has_timed_out || first.digest.reached.iter().any(|it| is_missing(it) && always(it))
    }
}

/// Growth in both stages, with the counts of the second: those of the first were chosen for being large.
fn in_both(first: Vec<Effect>, second: Vec<Effect>) -> Vec<Effect> {
    let ways: BTreeMap<_, Ways> = first.into_iter().map(|it| (it.spot, it.ways)).collect();
    let again = second.into_iter().filter_map(|it| {
        let both = ways.get(&it.spot)?.union(&it.ways).copied().collect();
        Some(Effect { ways: both, ..it })
    });
    again.collect()
}

#[cfg(test)]
mod tests;
