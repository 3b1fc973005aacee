//! Allocation of a budget of experiments to faults and tests in three phases (CSNAKE 5.2), as a pure object that is asked for
//! experiments and told their outcomes.
//!
//! 1. Each fault is injected once, into the test that covers most.
//! 2. Faults are clustered by the consequences. The clusters take turns; each turn injects a random fault of the cluster into a random test
//!    in which it was not tried.
//! 3. Faults are clustered anew. Clusters are drawn at random, those whose experiments differ most with the highest weight.
//!
//! A phase is planned in rounds. A round is planned only when all experiments before it have ended, so the result follows from the seed and
//! from the outcomes, and not from the order in which they arrive. The first round is the whole phase; further ones
//! replace experiments in which the fault was never injected.
//!
//! A budget may be too small for each fault to have its experiment in phase one. The faults that are left have no consequences to
//! be clustered by, so the later phases treat them as one more cluster, of the lowest weight in phase three.

mod budget;
mod quotas;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashSet;

use crate::clusters::{Clusters, Experiments, FAULTS_MAX, FaultNo, TestNo, Token, TooManyFaults};
use crate::random::Random;

pub use budget::Budget;

use budget::PHASES;

/// Lowest weight of a cluster in phase three (CSNAKE formula 7).
const WEIGHT_MIN: f64 = 0.01;

/// Void experiments after which the three phases ask for a fault no more, and as many again for each of its experiments that was told.
/// They cost no budget, so without a limit a fault that is never injected would be tried in all its tests.
const VOIDS_MAX: usize = 3;

/// A fault. Its number is its index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// The tests that reach it, each with the number of blocks that it covers.
    pub tests: Vec<(TestNo, u32)>,
}

/// Way to allocate a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// In three phases, each of which relies on the one before.
    ThreePhase,
    /// Random pairs of a fault and a test, for comparison.
    Random,
}

/// AllocationPhase in which an experiment was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AllocationPhase {
    /// Each fault once.
    One,
    /// Clusters in turn.
    Two,
    /// Clusters by the diversity of their consequences.
    Three,
    /// No phase: a random pair ([`Mode::Random`]).
    Random,
}

impl AllocationPhase {
    const ALL: [AllocationPhase; PHASES] =
        [AllocationPhase::One, AllocationPhase::Two, AllocationPhase::Three];
}

/// Answer to a request for an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Inject this fault into this test.
    Experiment(FaultNo, TestNo),
    /// Nothing until an experiment that is under way has ended.
    Wait,
    /// The budget is used up, or no pair of a fault and a test is left.
    Done,
}

/// Progress of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Asked, and not ended.
    UnderWay,
    /// Ended; its consequences are known.
    Told,
    /// Ended without an injection.
    Void,
}

/// An experiment that was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The fault.
    pub fault: FaultNo,
    /// The test.
    pub test: TestNo,
    /// AllocationPhase in which it was asked.
    pub phase: AllocationPhase,
    /// Its progress.
    pub progress: Progress,
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    mode: Mode,
    budget: Budget,
    random: Random,
    faults: Vec<Candidate>,
    /// Faults that a test reaches, in random order.
    reached: Vec<FaultNo>,
    /// Index of the current phase; [`PHASES`] if there is none.
    phase: usize,
    /// True if the current phase is planned.
    has_begun: bool,
    /// Experiments told in each phase.
    told: [usize; PHASES],
    groups: Groups,
    clusters: [Option<Clusters>; PHASES],
    /// Experiments that are planned and not asked.
    planned: VecDeque<(FaultNo, TestNo)>,
    under_way: usize,
    asked: BTreeMap<(FaultNo, TestNo), (AllocationPhase, Progress)>,
    experiments: Experiments,
}

/// Tests that are left for a fault, and the outcomes of its experiments.
#[derive(Debug, Clone, PartialEq)]
struct Candidate {
    /// Tests in which it was not tried: those that cover most first.
    tests: Vec<TestNo>,
    told: usize,
    void: usize,
}

impl Candidate {
    fn new(fault: &Fault) -> Candidate {
        let mut tests = fault.tests.clone();
        tests.sort_unstable_by_key(|&(test, blocks)| (Reverse(blocks), test));
        let mut seen = FxHashSet::default();
        tests.retain(|it| seen.insert(it.0));
        Candidate { tests: tests.into_iter().map(|it| it.0).collect(), told: 0, void: 0 }
    }

    /// Number of tests that it may still be tried in.
    fn room(&self) -> usize {
        let is_open = self.void < VOIDS_MAX.saturating_mul(self.told + 1);
        if is_open { self.tests.len() } else { 0 }
    }
}

/// Groups of faults among which the current phase divides its budget: the clusters, and the faults that were never tried.
#[derive(Debug, Clone, Default, PartialEq)]
struct Groups {
    members: Vec<Vec<FaultNo>>,
    of_fault: BTreeMap<FaultNo, usize>,
    /// Ranks: a quota that a group cannot use moves to one of a higher rank.
    ranks: Vec<f64>,
    /// Experiments that each group should have in the next round.
    wanted: Vec<usize>,
}

impl Allocation {
    /// Begins an allocation. Fails if tests reach more than [`FAULTS_MAX`] faults, which could not be clustered.
    pub fn new(faults: &[Fault], budget: Budget, mode: Mode, seed: u64) -> Result<Allocation, TooManyFaults> {
        let faults: Vec<Candidate> = faults.iter().map(Candidate::new).collect();
        let is_reached = |it: &FaultNo| !faults[*it as usize].tests.is_empty();
        let mut reached: Vec<FaultNo> = (0..faults.len() as FaultNo).filter(is_reached).collect();
        if reached.len() > FAULTS_MAX {
            return Err(TooManyFaults { faults: reached.len() });
        }
        let mut random = Random::new(seed);
        random.shuffle(&mut reached);
        let mut it = Allocation {
            mode,
            budget,
            random,
            faults,
            reached,
            phase: 0,
            has_begun: false,
            told: [0; PHASES],
            groups: Groups::default(),
            clusters: [None, None, None],
            planned: VecDeque::new(),
            under_way: 0,
            asked: BTreeMap::new(),
            experiments: Experiments::new(),
        };
        if mode == Mode::Random {
            it.phase = PHASES;
            let of =
                |&fault: &FaultNo| it.faults[fault as usize].tests.iter().map(move |&test| (fault, test));
            let mut pairs: Vec<(FaultNo, TestNo)> = it.reached.iter().flat_map(of).collect();
            it.random.shuffle(&mut pairs);
            it.planned = pairs.into();
        }
        Ok(it)
    }

    /// The next experiment. Unless it is one, asking again changes nothing until an outcome is told.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not wait")]
    pub fn next(&mut self) -> Next {
        let is_spent = self.spent() >= self.budget.total();
        if !is_spent && self.planned.is_empty() && self.under_way == 0 {
            self.plan();
        }
        match self.planned.front().copied() {
            Some((fault, test)) if !is_spent => {
                self.planned.pop_front();
                self.under_way += 1;
                let phase = AllocationPhase::ALL.get(self.phase).copied().unwrap_or(AllocationPhase::Random);
                self.asked.insert((fault, test), (phase, Progress::UnderWay));
                Next::Experiment(fault, test)
            }
            _ if self.under_way > 0 => Next::Wait,
            _ => Next::Done,
        }
    }

    /// Takes the consequences of an experiment that is under way.
    pub fn told(&mut self, fault: FaultNo, test: TestNo, consequences: impl IntoIterator<Item = Token>) {
        let phase = self.ended(fault, test, Progress::Told);
        self.experiments.insert((fault, test), consequences.into_iter().collect());
        self.faults[fault as usize].told += 1;
        if let Some(told) = self.told.get_mut(phase as usize) {
            *told += 1;
        }
    }

    /// Takes back an experiment that is under way, in which the fault was never injected: it costs no budget, and is not asked again.
    pub fn void(&mut self, fault: FaultNo, test: TestNo) {
        self.ended(fault, test, Progress::Void);
        self.faults[fault as usize].void += 1;
        if let Some(&group) = self.groups.of_fault.get(&fault) {
            self.groups.wanted[group] += 1;
        }
    }

    fn ended(&mut self, fault: FaultNo, test: TestNo, progress: Progress) -> AllocationPhase {
        let asked = self.asked.get_mut(&(fault, test)).filter(|it| it.1 == Progress::UnderWay);
        let (phase, it) = asked.expect("an outcome is of an experiment that is under way");
        *it = progress;
        self.under_way -= 1;
        *phase
    }

    /// Changes the budget, as when the time left allows fewer experiments. Phases that have begun keep their number; the rest is
    /// divided among the others in proportion to their shares.
    pub fn scale(&mut self, total: usize) {
        let kept = match self.mode {
            Mode::ThreePhase => (self.phase + usize::from(self.has_begun)).min(PHASES),
            Mode::Random => 0,
        };
        self.budget.scale(total, kept);
    }

    /// The budget. What a phase could not use is in the next one.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Experiments that count towards the budget: those that were told or are under way.
    pub fn spent(&self) -> usize {
        self.experiments.len() + self.under_way
    }

    /// Experiments that were asked, by fault and test.
    pub fn asked(&self) -> impl Iterator<Item = Asked> + '_ {
        let asked = self.asked.iter();
        asked.map(|(&(fault, test), &(phase, progress))| Asked { fault, test, phase, progress })
    }

    /// Experiments that were told, with their consequences.
    pub fn experiments(&self) -> &Experiments {
        &self.experiments
    }

    /// Faults that no test reaches.
    pub fn unreached(&self) -> Vec<FaultNo> {
        let reached: BTreeSet<FaultNo> = self.reached.iter().copied().collect();
        (0..self.faults.len() as FaultNo).filter(|it| !reached.contains(it)).collect()
    }

    /// Faults that were tried and never injected.
    pub fn never_injected(&self) -> Vec<FaultNo> {
        let is_void = |it: &FaultNo| {
            let fault = &self.faults[*it as usize];
            fault.void > 0 && fault.told == 0
        };
        (0..self.faults.len() as FaultNo).filter(is_void).collect()
    }

    /// Clusters by which a phase divided its budget; absent for phases that have no clusters or have not begun.
    pub fn clusters_of(&self, phase: AllocationPhase) -> Option<&Clusters> {
        self.clusters.get(phase as usize)?.as_ref()
    }

    /// Clusters by all that was told until now. They are computed by each call.
    pub fn clusters(&self) -> Clusters {
        Clusters::new(&self.experiments).expect("the number of faults was checked at the beginning")
    }

    /// Score of the cluster of each fault, by all that was told until now ([`Clusters::scores`]).
    pub fn scores(&self) -> BTreeMap<FaultNo, f64> {
        self.clusters().scores()
    }

    /// Plans the next round, which may be of a later phase. Plans nothing if there is none.
    fn plan(&mut self) {
        while self.phase < PHASES {
            if !self.has_begun {
                self.has_begun = true;
                self.begin();
            }
            let round = if self.phase == 0 { self.each_fault() } else { self.each_group() };
            if !round.is_empty() {
                self.planned = round.into();
                return;
            }
            self.budget.carry(self.phase, self.told[self.phase]);
            self.phase += 1;
            self.has_begun = false;
        }
    }

    /// Clusters the faults and divides the budget of a phase, except for phase one, which does without.
    fn begin(&mut self) {
        if self.phase == 0 {
            return;
        }
        let clusters = self.clusters();
        // The faults without an effect have a score of 1, and so the lowest weight.
        let weight = |score: f64| (1.0 - score).max(WEIGHT_MIN);
        let mut groups: Vec<(Vec<FaultNo>, f64)> =
            clusters.list().iter().map(|it| (it.faults.clone(), weight(it.score))).collect();
        let is_untried = |it: &FaultNo| {
            let fault = &self.faults[*it as usize];
            fault.told == 0 && fault.room() > 0
        };
        let untried: Vec<FaultNo> = self.reached.iter().copied().filter(is_untried).collect();
        if !untried.is_empty() {
            groups.push((untried, WEIGHT_MIN));
        }
        self.random.shuffle(&mut groups);
        let (members, weights): (Vec<Vec<FaultNo>>, Vec<f64>) = groups.into_iter().unzip();
        let numbered = members.iter().enumerate();
        let of_fault = numbered.flat_map(|(at, it)| it.iter().map(move |&fault| (fault, at))).collect();
        let room: usize = members.iter().map(|it| self.room(it)).sum();
        let total = self.budget.phases()[self.phase].min(room);
        let (wanted, ranks) = if self.phase == 1 {
            (quotas::equal(total, members.len()), members.iter().map(|it| it.len() as f64).collect())
        } else {
            let wanted = quotas::weighted(total, &weights, &mut self.random);
            (wanted, weights.iter().map(|it| -it).collect())
        };
        self.groups = Groups { members, of_fault, ranks, wanted };
        self.clusters[self.phase] = Some(clusters);
    }

    fn room(&self, faults: &[FaultNo]) -> usize {
        faults.iter().map(|&it| self.faults[it as usize].room()).sum()
    }

    /// AllocationPhase one: the faults without an experiment, each in the best test that is left.
    fn each_fault(&mut self) -> Vec<(FaultNo, TestNo)> {
        let left = self.budget.phases()[0].saturating_sub(self.told[0]);
        let mut round = Vec::new();
        for &fault in &self.reached {
            let candidate = &mut self.faults[fault as usize];
            if round.len() < left && candidate.told == 0 && candidate.room() > 0 {
                round.push((fault, candidate.tests.remove(0)));
            }
        }
        round
    }

    /// Phases two and three: each group as often as it should have experiments, each time a random fault in a random test.
    fn each_group(&mut self) -> Vec<(FaultNo, TestNo)> {
        let rooms: Vec<usize> = self.groups.members.iter().map(|it| self.room(it)).collect();
        let mut quotas = std::mem::take(&mut self.groups.wanted);
        self.groups.wanted = vec![0; quotas.len()];
        quotas::transfer(&mut quotas, &rooms, &self.groups.ranks, &mut self.random);
        let mut turns = in_turn(quotas);
        if self.phase > 1 {
            // Their order is random too, so that a campaign that is cut short is no other than a smaller one.
            self.random.shuffle(&mut turns);
        }
        let open = |it: &Vec<FaultNo>| -> Vec<FaultNo> {
            it.iter().copied().filter(|&it| self.faults[it as usize].room() > 0).collect()
        };
        let mut members: Vec<Vec<FaultNo>> = self.groups.members.iter().map(open).collect();
        let mut draw = |group: usize| {
            let members = &mut members[group];
            let at = self.random.below(members.len());
            let fault = members[at];
            let tests = &mut self.faults[fault as usize].tests;
            let test = tests.remove(self.random.below(tests.len()));
            if tests.is_empty() {
                members.swap_remove(at);
            }
            (fault, test)
        };
        turns.into_iter().map(&mut draw).collect()
    }
}

/// Groups in turn, each as often as its quota says.
fn in_turn(mut quotas: Vec<usize>) -> Vec<usize> {
    let mut turns = Vec::with_capacity(quotas.iter().sum());
    let mut left: Vec<usize> = (0..quotas.len()).filter(|&it| quotas[it] > 0).collect();
    while !left.is_empty() {
        turns.extend(&left);
        left.retain(|&it| {
            quotas[it] -= 1;
            quotas[it] > 0
        });
    }
    turns
}

#[cfg(test)]
mod tests;
