//! Costs of a campaign beside the workload itself (ANDURIL, Table 8).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use hypocenter_lab::Observer;
use hypocenter_plan::Outcome;
use hypocenter_results::Measured;

use crate::interrupt::Interrupt;

/// Sees the trials of a campaign, and shows none of them.
pub struct Stopwatch<'a> {
    interrupt: &'a Interrupt,
    between: Mutex<Between>,
}

/// From the end of a trial to the next.
#[derive(Debug, Default)]
struct Between {
    /// When the last process of the trial before was gone, for each thread that runs trials.
    gone: HashMap<ThreadId, Instant>,
    took: Vec<Duration>,
}

impl Stopwatch<'_> {
    pub fn new(interrupt: &Interrupt) -> Stopwatch<'_> {
        Stopwatch { interrupt, between: Mutex::default() }
    }

    /// Its measurements, with data from the outcomes of the rounds.
    pub fn measured(&self, rounds: &Rounds) -> Measured {
        let between = self.between.lock().unwrap_or_else(PoisonError::into_inner);
        let between: Vec<f64> = between.took.iter().map(|it| it.as_secs_f64() * 1e3).collect();
        Measured {
            requests: median(&rounds.requests).map(|it| it as u64),
            decision_ns: median(&rounds.decision_ns),
            between_rounds_ms: median(&between),
            workload_s: median(&rounds.workload_s),
        }
    }
}

impl Observer for Stopwatch<'_> {
    fn planned(&self) {
        let mut between = self.between.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gone) = between.gone.remove(&thread::current().id()) {
            between.took.push(gone.elapsed());
        }
    }

    fn gone(&self) {
        let mut between = self.between.lock().unwrap_or_else(PoisonError::into_inner);
        between.gone.insert(thread::current().id(), Instant::now());
    }

    fn interrupted(&self) -> bool {
        self.interrupt.asked()
    }
}

/// Costs of rounds as their outcomes say them.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    requests: Vec<f64>,
    decision_ns: Vec<f64>,
    workload_s: Vec<f64>,
}

impl Rounds {
    /// Adds a round that is over.
    pub fn add(&mut self, outcome: &Outcome) {
        // In a round only what is armed counts.
        self.requests.push(outcome.jvms.iter().map(|it| it.hits).sum::<u64>() as f64);
        // The JVM that decides most often says it best.
        let busiest = outcome.jvms.iter().max_by_key(|it| it.hits);
        self.decision_ns.extend(busiest.and_then(|it| it.decision_ns));
        self.workload_s.push(outcome.wall_ms as f64 / 1e3);
    }
}

/// The median; of an even number the mean of the middle two.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }
}
