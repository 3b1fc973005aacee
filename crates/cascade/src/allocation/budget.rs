//! Number of experiments in each phase.

use super::Fault;

/// Number of phases.
pub(super) const PHASES: usize = 3;
/// Experiments for each fault that a test reaches, by default (CSNAKE 5.2).
const PER_FAULT: usize = 4;
/// Shares of the phases: 25, 50 and 25 percent (CSNAKE 5.2).
const SHARES: [usize; PHASES] = [1, 2, 1];

/// Number of experiments in each phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    phases: [usize; PHASES],
}

impl Budget {
    /// Divides a number of experiments among the phases: 25, 50 and 25 percent. Odd experiments go to earlier phases.
    pub fn new(total: usize) -> Budget {
        Budget { phases: split(total, SHARES) }
    }

    /// Default: 4 experiments for each fault that a test reaches.
    pub fn of(faults: &[Fault]) -> Budget {
        let reached = faults.iter().filter(|it| !it.tests.is_empty()).count();
        Budget::new(reached.saturating_mul(PER_FAULT))
    }

    /// Experiments in each phase.
    pub fn phases(&self) -> [usize; PHASES] {
        self.phases
    }

    /// Experiments in all phases.
    pub fn total(&self) -> usize {
        self.phases.iter().fold(0, |sum, it| sum.saturating_add(*it))
    }

    /// Changes the total while so many phases keep their number. The others get the rest in proportion to their shares.
    pub(super) fn scale(&mut self, total: usize, kept: usize) {
        let mut shares = SHARES;
        shares[..kept].fill(0);
        let rest = self.phases[..kept].iter().fold(total, |rest, it| rest.saturating_sub(*it));
        self.phases[kept..].copy_from_slice(&split(rest, shares)[kept..]);
    }

    /// Moves experiments that a phase could not use to the next one.
    pub(super) fn carry(&mut self, phase: usize, used: usize) {
        if let Some(next) = self.phases.get(phase + 1).copied() {
            let unused = self.phases[phase].saturating_sub(used);
            self.phases[phase + 1] = next.saturating_add(unused);
            self.phases[phase] -= unused;
        }
    }
}

/// Divides a number in proportion to shares. The sum is exact.
fn split(total: usize, shares: [usize; PHASES]) -> [usize; PHASES] {
    let all: usize = shares.iter().sum();
    let (mut share, mut before) = (0, 0);
    shares.map(|it| {
        share += it;
        let until = (total as u128 * share as u128).div_ceil(all.max(1) as u128) as usize;
        let part = until - before;
        before = until;
        part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_divided_as_the_paper_says() {
        for (total, phases) in [
            (0, [0, 0, 0]),
            (1, [1, 0, 0]),
            (2, [1, 1, 0]),
            (3, [1, 2, 0]),
            (4, [1, 2, 1]),
            (10, [3, 5, 2]),
            (400, [100, 200, 100]),
        ] {
            let budget = Budget::new(total);
            assert_eq!((budget.phases(), budget.total()), (phases, total));
        }
        assert_eq!(Budget::new(usize::MAX).total(), usize::MAX);
    }

    #[test]
    fn the_default_counts_only_faults_that_a_test_reaches() {
        let faults = [Fault { tests: vec![(3, 1)] }, Fault::default(), Fault { tests: vec![(1, 1), (2, 9)] }];
        assert_eq!(Budget::of(&faults).phases(), [2, 4, 2]);
    }

    #[test]
    fn a_new_total_is_divided_among_the_phases_that_have_not_begun() {
        for (total, kept, phases) in [
            (40, 0, [10, 20, 10]),
            (400, 1, [100, 200, 100]),
            (160, 1, [100, 40, 20]),
            (320, 2, [100, 200, 20]),
            (250, 2, [100, 200, 0]),
            (90, 1, [100, 0, 0]),
            (1, 3, [100, 200, 100]),
        ] {
            let mut budget = Budget::new(400);
            budget.scale(total, kept);
            assert_eq!(budget.phases(), phases, "{total} {kept}");
        }
    }

    #[test]
    fn unused_experiments_go_to_the_next_phase() {
        let mut budget = Budget::new(400);
        budget.carry(0, 70);
        assert_eq!(budget.phases(), [70, 230, 100]);
        budget.carry(1, 230);
        assert_eq!(budget.phases(), [70, 230, 100]);
        budget.carry(2, 0);
        assert_eq!(budget.phases(), [70, 230, 100], "there is no next phase");
    }
}
