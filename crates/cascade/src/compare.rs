//! Effects of a fault: runs of a test with it, compared with runs of the same test without it (4.2).

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_engine::stats::{discoveries, welch};
use serde::{Deserialize, Serialize};

use crate::model::Model;
use crate::reader::{RunDigest, Spot, Ways};

/// Maximum probability of a growth by chance (4.2.2).
const CHANCE_MAX: f64 = 0.1;
/// An error counts if so many runs had the fault, and it came in each of them.
const INJECTED_MIN: usize = 4;
/// From this correlation on the count of a loop follows the length of the run.
const FOLLOWS: f64 = 0.8;

/// A run that is over.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// Its number in the campaign.
    pub trial: u64,
    pub seconds: f64,
    pub is_injected: bool,
    /// True if it was ended because its time was up.
    pub has_timed_out: bool,
    /// Number of injections.
    pub times: u64,
    /// The methods around the fault, innermost first.
    pub frames: Vec<String>,
    pub digest: RunDigest,
}

/// A fault that was caused, at one place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Effect {
    pub spot: Spot,
    pub ways: Ways,
    pub with: Vec<u64>,
    pub without: Vec<u64>,
    /// Of a growth.
    pub p: Option<f64>,
}

/// Tests of growth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Judging {
    /// True if the first runs alone decide.
    pub one_stage: bool,
    /// With this, at most this share of the loops that seem to grow may do so by chance: Benjamini and Hochberg.
    pub fdr: Option<f64>,
    /// True if a loop that is paced by time has to grow per second, too.
    pub paced: bool,
}

/// The errors that came in every run that has the fault, and in none without it.
pub(crate) fn errors(with: &[&Run], without: &[&Run]) -> Vec<Effect> {
    let injected: Vec<&Run> = with.iter().copied().filter(|it| it.is_injected).collect();
    if injected.len() < INJECTED_MIN {
        return Vec::new();
    }
    let normal: BTreeSet<Spot> =
        without.iter().flat_map(|it| it.digest.errors.iter().map(|it| it.0)).collect();
    let mut came: BTreeMap<Spot, (usize, Ways)> = BTreeMap::new();
    for (spot, ways) in injected.iter().flat_map(|it| &it.digest.errors).filter(|it| !normal.contains(&it.0))
    {
        let (times, all) = came.entry(*spot).or_default();
        *times += 1;
        all.extend(ways);
    }
    let always = came.into_iter().filter(|(_, (times, _))| *times == injected.len());
    let effect = |(spot, (_, ways))| Effect {
        spot,
        ways,
        with: vec![1; injected.len()],
        without: vec![0; without.len()],
        p: None,
    };
    always.map(effect).collect()
}

/// The loops that go round more often with the fault, and how many were compared.
pub(crate) fn growth(
    model: &Model,
    judging: &Judging,
    with: &[&Run],
    without: &[&Run],
) -> (Vec<Effect>, u64) {
    let (with_counts, without_counts) = (Counts::of(with), Counts::of(without));
    let mut compared = Vec::new();
    for (&spot, (counts, ways)) in &with_counts.loops {
        let normal =
            without_counts.loops.get(&spot).map_or_else(|| vec![0; without.len()], |it| it.0.clone());
        let is_paced = judging.paced
            && (model.faults()[spot.0 as usize].is_paced || follows(&normal, &without_counts.seconds));
        let mut p = chance(&floats(counts), &floats(&normal));
        if is_paced {
            let rates = |counts: &[u64], seconds: &[f64]| -> Vec<f64> {
                counts.iter().zip(seconds).map(|(&it, seconds)| it as f64 / seconds.max(1e-3)).collect()
            };
            p = p.max(chance(&rates(counts, &with_counts.seconds), &rates(&normal, &without_counts.seconds)));
        }
        let effect = Effect { spot, ways: ways.clone(), with: counts.clone(), without: normal, p: Some(p) };
        compared.push(effect);
    }
    let number = compared.len() as u64;
    let p_values: Vec<f64> = compared.iter().filter_map(|it| it.p).collect();
    let is_grown = match judging.fdr {
        Some(rate) => discoveries(&p_values, rate),
        None => p_values.iter().map(|&it| it <= CHANCE_MAX).collect(),
    };
    let grown = compared.into_iter().zip(is_grown).filter(|it| it.1).map(|it| it.0);
    (grown.collect(), number)
}

/// Tests whether runs with a fault differ in anything that could be an effect: if not, more of them would show none.
pub(crate) fn differ(with: &[&Run], without: &[&Run]) -> bool {
    let normal: BTreeSet<Spot> =
        without.iter().flat_map(|it| it.digest.errors.iter().map(|it| it.0)).collect();
    let most = Counts::of(without);
    let most = |it: &Spot| most.loops.get(it).and_then(|it| it.0.iter().max()).copied().unwrap_or(0);
    with.iter().any(|it| {
        it.digest.errors.iter().any(|it| !normal.contains(&it.0))
            || it.digest.loops.iter().any(|(spot, count, _)| *count > most(spot))
    })
}

/// The probability that a sample is larger than another by chance: where one is always there and the other never, it is none. A single
/// run beside several has no spread to judge by, so it shows nothing.
fn chance(with: &[f64], without: &[f64]) -> f64 {
    if (with.len() == 1) != (without.len() == 1) {
        return 1.0;
    }
    let (always, never) = (with.iter().all(|&it| it > 0.0), without.iter().all(|&it| it == 0.0));
    if always && never && with.len() > 1 && !without.is_empty() { 0.0 } else { welch(with, without) }
}

/// Tests whether the counts of runs go with their lengths.
fn follows(counts: &[u64], seconds: &[f64]) -> bool {
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let counts = floats(counts);
    let (a, b) = (mean(&counts), mean(seconds));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| counts.iter().zip(seconds).map(|(&x, &y)| f(x - a, y - b)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    xx > 0.0 && yy > 0.0 && xy / (xx * yy).sqrt() >= FOLLOWS
}

fn floats(counts: &[u64]) -> Vec<f64> {
    counts.iter().map(|&it| it as f64).collect()
}

/// Iterations of each loop in each of some runs.
struct Counts {
    loops: BTreeMap<Spot, (Vec<u64>, Ways)>,
    seconds: Vec<f64>,
}

impl Counts {
    fn of(runs: &[&Run]) -> Counts {
        let mut loops: BTreeMap<Spot, (Vec<u64>, Ways)> = BTreeMap::new();
        for (number, run) in runs.iter().enumerate() {
            for (spot, count, ways) in &run.digest.loops {
                let (counts, all) = loops.entry(*spot).or_insert_with(|| (vec![0; runs.len()], Ways::new()));
                counts[number] += count;
                all.extend(ways);
            }
        }
        Counts { loops, seconds: runs.iter().map(|it| it.seconds).collect() }
    }
}

#[cfg(test)]
mod tests;
