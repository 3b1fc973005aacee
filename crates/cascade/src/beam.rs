//! Search for cycles of faults: chains of steps, the best of each length, until they return to their first fault (CSNAKE 6.3).
//!
//! A [`Step`] leads from the fault that was injected to one that it caused. [`Joins`] lists the steps that may follow each step.
//! [`search`] extends all chains by one step at a time and keeps the [`Limits::beam`] best of each length. The chains of the next
//! length are never held before the cut: they pass a threshold that is found first.
//!
//! A chain ranks by the mean score of its injected steps, and the lowest is the best. A cycle needs at least one injected step:
//! without one, no test has shown any part of it.
//!
//! Memory is at most `8 * beam * length` bytes for the chains, a few times `8 * beam` while a level is built, and what the reported
//! cycles need. Chains without an extension are dropped, which usually leaves far less.

mod chains;
mod components;
mod cut;
mod cycles;
mod graph;
mod joins;
#[cfg(test)]
mod tests;

use std::fmt;

pub use joins::Joins;

use chains::Chains;
use cycles::Best;
use graph::Graph;

/// One fault that leads to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Number of the fault that it starts from. Any number is a fault.
    pub cause: u32,
    /// Number of the fault that it leads to.
    pub effect: u32,
    /// Kind of fault that is injected at its cause.
    pub injects: Injects,
    /// Score of the cluster of the injected fault, from 0 to 1; the lowest is the best. Ignored if nothing is injected.
    pub score: f32,
}

/// Fault that a step injects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Injects {
    /// A delay of a loop.
    Delay,
    /// An exception or a negation.
    Other,
    /// Nothing: the program itself shows the step, such as from a loop to the loop around it.
    Nothing,
}

/// Bounds of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of chains of each length.
    pub beam: usize,
    /// Maximum number of injected delays in a cycle. Zero means no cycle with a delay.
    pub delays: usize,
    /// Maximum number of faults in a cycle.
    pub length: usize,
    /// Maximum number of reported cycles: the best ones.
    pub cycles: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { beam: 5_000_000, delays: 1, length: 20, cycles: 10_000 }
    }
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The cycles, each once, sorted by score and then by steps.
    pub cycles: Vec<Cycle>,
    /// One entry for each searched length, from 1.
    pub levels: Vec<Level>,
    /// Limits that left something out.
    pub reached: Reached,
}

/// A fault whose consequences bring it about again.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    /// Mean score of its injected steps.
    pub score: f32,
    /// Indexes of its steps in their order, the lowest first.
    pub steps: Vec<u32>,
}

/// Chains and cycles of one length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Level {
    /// Number of chains that do not close, before the cut.
    pub chains: u64,
    /// Number of chains that the cut left. Zero for the maximum length, from which nothing goes on.
    pub kept: u64,
    /// Number of cycles found.
    pub cycles: u64,
}

/// Limits that left something out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reached {
    /// Chains were cut, so cycles may be missing.
    pub beam: bool,
    /// Chains of the maximum length were not extended, so longer cycles may be missing.
    pub length: bool,
    /// More cycles were found than are reported.
    pub cycles: bool,
}

/// Input that cannot be searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BeamError {
    /// A limit is zero that has to be at least 1.
    NoRoom {
        /// Name of the limit.
        limit: &'static str,
    },
    /// There are more steps than can be numbered.
    TooManySteps {
        /// Number of steps.
        steps: usize,
    },
    /// A score is not a number from 0 to 1.
    Score {
        /// Index of its step.
        step: u32,
        /// The score.
        score: f32,
    },
    /// A join names a step that does not exist.
    NoSuchStep {
        /// The missing index.
        step: u32,
        /// Number of steps.
        steps: usize,
    },
    /// The joins are those of another list of steps.
    OtherSteps {
        /// Number of steps.
        steps: usize,
        /// Number of steps that the joins are for.
        joined: usize,
    },
    /// A join does not start with the fault that the step before it leads to.
    Apart {
        /// Index of the step before.
        last: u32,
        /// Index of the step after.
        next: u32,
    },
}

impl fmt::Display for BeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BeamError::NoRoom { limit } => write!(f, "the limit `{limit}` is 0: set it to at least 1"),
            BeamError::TooManySteps { steps } => {
                write!(f, "{steps} steps are too many: the search takes at most {}", u32::MAX)
            }
            BeamError::Score { step, score } => {
                write!(f, "the score of step {step} is {score}: it must be from 0 to 1")
            }
            BeamError::NoSuchStep { step, steps } => {
                write!(f, "a join names step {step}, but there are {steps} steps")
            }
            BeamError::OtherSteps { steps, joined } => {
                write!(f, "the joins are for {joined} steps, but there are {steps} steps")
            }
            BeamError::Apart { last, next } => {
                write!(f, "step {next} cannot follow step {last}: it starts from another fault")
            }
        }
    }
}

impl std::error::Error for BeamError {}

/// Finds the cycles of faults.
///
/// The result depends on the input alone, not on the number of threads. It runs in the current thread pool of rayon.
///
/// # Errors
///
/// [`BeamError`] if a score, a join or a limit makes no sense.
pub fn search(steps: &[Step], joins: &Joins, limits: &Limits) -> Result<Found, BeamError> {
    check(steps, joins, limits)?;
    let graph = Graph::new(steps, joins);
    // No fault is twice in a chain, and indexes of chains have to fit.
    let length = limits.length.min(graph.faults());
    let beam = limits.beam.min(u32::MAX as usize - 1);
    let delays = u32::try_from(limits.delays).unwrap_or(u32::MAX);

    let mut best = Best::new(limits.cycles);
    let mut chains = Chains::default();
    let mut levels = Vec::new();
    let mut reached = Reached::default();
    for at in 1..=length {
        let extensions = chains::Extensions { graph: &graph, chains: &chains, delays };
        let (level, kept) = if at == length {
            (extensions.close(&mut best), Vec::new())
        } else {
            cut::next_level(&extensions, beam, &mut best)
        };
        levels.push(level);
        reached.beam |= level.kept < level.chains && at < length;
        reached.length = at == length && level.chains > 0;
        if kept.is_empty() {
            break;
        }
        chains.push(kept);
    }
    reached.cycles = best.found() > limits.cycles as u64;
    Ok(Found { cycles: best.into_sorted(), levels, reached })
}

fn check(steps: &[Step], joins: &Joins, limits: &Limits) -> Result<(), BeamError> {
    let limits = [("beam", limits.beam), ("length", limits.length), ("cycles", limits.cycles)];
    if let Some((limit, _)) = limits.into_iter().find(|(_, it)| *it == 0) {
        return Err(BeamError::NoRoom { limit });
    }
    if u32::try_from(steps.len()).is_err() {
        return Err(BeamError::TooManySteps { steps: steps.len() });
    }
    if joins.steps() != steps.len() {
        return Err(BeamError::OtherSteps { steps: steps.len(), joined: joins.steps() });
    }
    for (step, last) in (0..).zip(steps) {
        if last.injects != Injects::Nothing && !(0.0..=1.0).contains(&last.score) {
            return Err(BeamError::Score { step, score: last.score });
        }
        let apart = |next: &&u32| steps[**next as usize].cause != last.effect;
        if let Some(&next) = joins.following(step).iter().find(apart) {
            return Err(BeamError::Apart { last: step, next });
        }
    }
    Ok(())
}
