//! Steps from different tests, stitched to cycles (6).

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_results::cascaded::{CascadeKind, StepKind};
use serde::{Deserialize, Serialize};

use crate::beam::{self, BeamError, Injects, Joins, Limits, Reached};
use crate::compare::{Effect, Run};
use crate::experiment::{Experiment, Variant};
use crate::model::Model;
use crate::reader::{Callers, Ways};

/// The most cycles that are kept beside one that is like them.
const ALIKE_MAX: usize = 20;

/// Checks that a step passes to follow another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fit {
    /// The callers of the fault.
    pub callers: bool,
    /// The way to it.
    pub ways: bool,
}

/// Places at which a fault is, and the ways there.
type Places = BTreeMap<(Callers, u32), Ways>;

/// A step that an experiment has shown.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub experiment: usize,
    pub variant: usize,
    pub cause: u32,
    pub effect: u32,
    pub kind: StepKind,
    /// The effect at the place where it is strongest.
    pub strongest: Effect,
    starts: Places,
    ends: Places,
}

/// The steps of all experiments.
pub(crate) fn steps(model: &Model, experiments: &[Experiment]) -> Vec<Shown> {
    let mut all = Vec::new();
    for (number, experiment) in experiments.iter().enumerate() {
        let cause = experiment.fault;
        let is_delay = model.faults()[cause as usize].shown.kind == CascadeKind::Delay;
        for (variant, it) in experiment.variants.iter().enumerate() {
            let Some(caused) = &it.caused else { continue };
            let starts = it.causes(cause);
            let kinds = match is_delay {
                true => [StepKind::ErrorOfDelay, StepKind::GrowthOfDelay],
                false => [StepKind::ErrorOfInjection, StepKind::GrowthOfInjection],
            };
            for (kind, effects) in kinds.into_iter().zip([&caused.errors, &caused.growth]) {
                for (effect, (ends, strongest)) in by_fault(effects) {
                    let starts = starts.clone();
                    let step =
                        Shown { experiment: number, variant, cause, effect, kind, strongest, starts, ends };
                    if matches!(kind, StepKind::GrowthOfDelay | StepKind::GrowthOfInjection) {
                        all.extend(around(&step, it));
                    }
                    all.push(step);
                }
            }
        }
    }
    all
}

/// A loop that runs more often delays the loop around it, and so those beside it, where the runs of an experiment show that nesting (6.1).
fn around(step: &Shown, variant: &Variant) -> Vec<Shown> {
    let runs: Vec<&Run> = variant.told().collect();
    let within: BTreeSet<(u32, u32)> = runs.iter().flat_map(|it| it.digest.within.iter().copied()).collect();
    let places = |fault: u32| {
        let mut places = Places::new();
        for (spot, _, ways) in runs.iter().flat_map(|it| &it.digest.loops).filter(|it| it.0.0 == fault) {
            places.entry((spot.1, 0)).or_default().extend(ways);
        }
        places
    };
    let mut all = Vec::new();
    let inner = step.effect;
    for &(_, outer) in within.iter().filter(|&&(it, outer)| it == inner && outer != inner) {
        let to_outer = Shown {
            cause: inner,
            effect: outer,
            kind: StepKind::Outer,
            starts: step.ends.clone(),
            ends: places(outer),
            ..step.clone()
        };
        for &(other, _) in within.iter().filter(|it| it.1 == outer && it.0 != inner && it.0 != outer) {
            let (starts, ends) = (to_outer.ends.clone(), places(other));
            all.push(Shown {
                cause: outer,
                effect: other,
                kind: StepKind::Beside,
                starts,
                ends,
                ..step.clone()
            });
        }
        all.push(to_outer);
    }
    all
}

/// Effects by their faults: the places of each, and where it is strongest.
fn by_fault(effects: &[Effect]) -> BTreeMap<u32, (Places, Effect)> {
    let mut all: BTreeMap<u32, (Places, Effect)> = BTreeMap::new();
    for effect in effects {
        let spot = effect.spot;
        let (places, strongest) = all.entry(spot.0).or_insert_with(|| (Places::new(), effect.clone()));
        places.insert((spot.1, spot.2), effect.ways.clone());
        if effect.strength() > strongest.strength() {
            *strongest = effect.clone();
        }
    }
    all
}

impl Effect {
    fn strength(&self) -> f64 {
        let sum = |it: &[u64]| it.iter().sum::<u64>() as f64 / it.len().max(1) as f64;
        sum(&self.with) - sum(&self.without)
    }
}

impl Fit {
    /// Tests whether a step can follow another of whose effect it is the consequence.
    fn joins(self, first: &Shown, second: &Shown) -> bool {
        let is_same = (first.experiment, first.variant) == (second.experiment, second.variant);
        let may_follow = match second.kind {
            // What the code shows holds in the runs that show it.
            StepKind::Outer => {
                is_same && matches!(first.kind, StepKind::GrowthOfDelay | StepKind::GrowthOfInjection)
            }
            StepKind::Beside => is_same && first.kind == StepKind::Outer,
            _ => true,
        };
        may_follow
            && first.effect == second.cause
            && first.ends.iter().any(|(&(callers, value), ways)| {
                second.starts.iter().any(|(&(other_callers, other_value), other)| {
                    value == other_value
                        && (!self.callers || callers == other_callers)
                        && (!self.ways || share(ways, other))
                })
            })
    }
}

/// Tests whether two places have a way in common. Where none is known, nothing speaks against it.
fn share(one: &Ways, other: &Ways) -> bool {
    one.is_empty() || other.is_empty() || one.iter().any(|it| other.contains(it))
}

/// A cycle of steps, by their numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ring {
    pub steps: Vec<usize>,
    pub score: f64,
    /// Other cycles by the same clusters of faults: some of them.
    pub alike: Vec<Vec<usize>>,
    /// Number of those.
    pub alike_count: u64,
}

/// Finds the cycles. Of those whose faults have like consequences the best is kept (6.3).
pub(crate) fn rings(
    shown: &[Shown],
    scores: &BTreeMap<u32, f64>,
    cluster_of: &dyn Fn(u32) -> usize,
    fit: Fit,
    limits: &Limits,
) -> Result<(Vec<Ring>, Reached), BeamError> {
    let step = |it: &Shown| beam::Step {
        cause: it.cause,
        effect: it.effect,
        injects: match it.kind {
            StepKind::ErrorOfDelay | StepKind::GrowthOfDelay => Injects::Delay,
            StepKind::Outer | StepKind::Beside => Injects::Nothing,
            StepKind::ErrorOfInjection | StepKind::GrowthOfInjection => Injects::Other,
        },
        score: scores.get(&it.cause).copied().unwrap_or(1.0) as f32,
    };
    let steps: Vec<beam::Step> = shown.iter().map(step).collect();
    let joins = Joins::matching(&steps, |one, other| fit.joins(&shown[one as usize], &shown[other as usize]));
    let found = beam::search(&steps, &joins, limits)?;
    let mut clusters: BTreeMap<BTreeSet<usize>, usize> = BTreeMap::new();
    let mut rings: Vec<Ring> = Vec::new();
    for cycle in &found.cycles {
        let steps: Vec<usize> = cycle.steps.iter().map(|&it| it as usize).collect();
        let key = steps.iter().map(|&it| cluster_of(shown[it].cause)).collect();
        match clusters.get(&key) {
            Some(&at) => {
                let ring = &mut rings[at];
                ring.alike_count += 1;
                if ring.alike.len() < ALIKE_MAX {
                    ring.alike.push(steps);
                }
            }
            None => {
                clusters.insert(key, rings.len());
                rings.push(Ring { steps, score: f64::from(cycle.score), alike: Vec::new(), alike_count: 0 });
            }
        }
    }
    Ok((rings, found.reached))
}

#[cfg(test)]
mod tests;
