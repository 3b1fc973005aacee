//! The best of the cycles found.

use super::Cycle;
use super::graph::{Graph, UNITS_MAX};

/// The best cycles, in no order, and the number of all.
#[derive(Debug, Default)]
pub(super) struct Best {
    max: usize,
    cycles: Vec<Cycle>,
    found: u64,
    /// Score of the worst cycle that is still worth keeping, once there are enough of them.
    worst: Option<f32>,
}

impl Best {
    pub(super) fn new(max: usize) -> Best {
        Best { max, ..Best::default() }
    }

    /// An empty collection for a part of the search. It drops what this one would drop.
    pub(super) fn part(&self) -> Best {
        Best { max: self.max, worst: self.worst, ..Best::default() }
    }

    pub(super) fn found(&self) -> u64 {
        self.found
    }

    /// Adds the cycle of these steps. Each cycle may be added once only.
    pub(super) fn add(&mut self, graph: &Graph, steps: impl Iterator<Item = u32>, sum: u64, injected: u32) {
        self.found += 1;
        let score = (sum as f64 / f64::from(injected) / f64::from(UNITS_MAX)) as f32;
        if self.worst.is_some_and(|worst| score > worst) {
            return;
        }
        let mut steps: Vec<u32> = steps.map(|it| graph.given(it)).collect();
        let lowest = (0..steps.len()).min_by_key(|it| steps[*it]).unwrap_or(0);
        steps.rotate_left(lowest);
        self.cycles.push(Cycle { score, steps });
        self.shrink();
    }

    pub(super) fn merge(&mut self, other: Best) {
        self.found += other.found;
        self.cycles.extend(other.cycles);
        self.shrink();
    }

    /// Drops the worst once they are as many as the best, so that the cost per cycle stays constant.
    fn shrink(&mut self) {
        if self.cycles.len() / 2 >= self.max {
            self.keep_best();
        }
    }

    fn keep_best(&mut self) {
        if self.cycles.len() > self.max {
            let (_, last, _) = self.cycles.select_nth_unstable_by(self.max - 1, by_rank);
            self.worst = Some(last.score);
            self.cycles.truncate(self.max);
        }
    }

    pub(super) fn into_sorted(mut self) -> Vec<Cycle> {
        self.keep_best();
        self.cycles.sort_unstable_by(by_rank);
        self.cycles
    }
}

fn by_rank(a: &Cycle, b: &Cycle) -> std::cmp::Ordering {
    a.score.total_cmp(&b.score).then_with(|| a.steps.cmp(&b.steps))
}
