//! The proof of a success: it is replayed, and beside that the workload is run without a fault. A workload that fails by itself
//! now and then would otherwise make any fault look right.

use hypocenter_engine::stats;

use super::{Asked, Found};

/// How probable it may be that all failures of the proof fall on the replays by chance.
const CHANCE_MAX: f64 = 0.1;
/// How many times as many replays as were asked for there may be, to tell a fault that seldom shows from chance.
const LONGER_MAX: u64 = 4;

/// A success that is being proved.
#[derive(Debug)]
pub(super) struct Proof {
    pub found: Found,
    /// What it is a part of, if it is: that is proved where the part alone does not do it.
    pub whole: Option<Box<Found>>,
    /// How many replays were asked for by the user; it is extended by as many.
    step: u64,
    replays: u64,
    /// How many runs without a fault are wanted: with those that were made, as many as replays.
    controls: u64,
    replays_asked: u64,
    controls_asked: u64,
    open: u64,
    /// How often it was extended.
    longer: u64,
}

/// What a proof has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proved {
    /// The fault makes it happen.
    Yes,
    /// It may have happened by chance.
    Doubtful,
    /// It never happened again.
    No,
}

impl Proof {
    /// So many replays, and with the runs that were made as many without a fault.
    pub(super) fn new(found: Found, replays: u64, normal_runs: u64) -> Proof {
        let controls = replays.saturating_sub(normal_runs);
        Proof {
            found,
            whole: None,
            step: replays,
            replays,
            controls,
            replays_asked: 0,
            controls_asked: 0,
            open: 0,
            longer: 0,
        }
    }

    /// The same of a part of what was found.
    pub(super) fn of_part(found: Found, whole: Found, replays: u64, normal_runs: u64) -> Proof {
        Proof { whole: Some(Box::new(whole)), ..Proof::new(found, replays, normal_runs) }
    }

    /// What is to be run next. In turns, so that both have the same weather.
    pub(super) fn next(&mut self) -> Option<Asked> {
        let first = self.replays_asked <= self.controls_asked || self.controls_asked >= self.controls;
        let asked = if first && self.replays_asked < self.replays {
            self.replays_asked += 1;
            Asked::Replay
        } else if self.controls_asked < self.controls {
            self.controls_asked += 1;
            Asked::Control
        } else {
            return None;
        };
        self.open += 1;
        Some(asked)
    }

    /// A run without a fault has ended.
    pub(super) fn told_control(&mut self) {
        self.open -= 1;
    }

    /// A replay has ended.
    pub(super) fn told_replay(&mut self, trial: u64, happened: bool) {
        self.open -= 1;
        self.found.runs += 1;
        self.found.hits += u64::from(happened);
        if happened && self.found.replayed.is_none() {
            self.found.replayed = Some(trial);
        }
    }

    /// A replay has ended that did not reach the fault: it says nothing, and another takes its place; but not for ever.
    pub(super) fn told_missed(&mut self) {
        self.open -= 1;
        self.found.missed += 1;
        if self.found.missed <= LONGER_MAX * self.step {
            self.replays_asked -= 1;
        } else {
            self.replays -= 1;
        }
    }

    /// What it has come to after so many runs without a fault, and failures of these, when all is told that was asked for. While
    /// chance may have done it, more is asked for; where the failure comes by itself there is nothing to prove.
    pub(super) fn judge(&mut self, normal_runs: u64, normal_failed: u64) -> Option<Proved> {
        if self.open > 0 || self.replays_asked < self.replays || self.controls_asked < self.controls {
            return None;
        }
        let Found { hits, runs, .. } = self.found;
        if hits == 0 && self.step > 0 {
            return Some(Proved::No);
        }
        if hits == runs || normal_failed > 0 {
            return Some(Proved::Yes);
        }
        if chance(hits, runs, normal_runs) <= CHANCE_MAX {
            return Some(Proved::Yes);
        }
        self.longer += 1;
        // At this rate, would all the replays that there may be tell it from chance?
        let most = LONGER_MAX * self.step;
        let foretold = hits.saturating_mul(most) / runs.max(1);
        if self.longer >= LONGER_MAX || chance(foretold, most, most.max(normal_runs)) > CHANCE_MAX {
            return Some(Proved::Doubtful);
        }
        self.replays += self.step;
        self.controls += self.step;
        None
    }
}

/// How probable it is that so many failures all fall on the runs with the fault, if it has nothing to do with them.
fn chance(hits: u64, with: u64, without: u64) -> f64 {
    stats::fisher((hits, with), (0, without))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Found {
        Found {
            round: 1,
            trial: 2,
            faults: Vec::new(),
            plan: hypocenter_plan::Plan::default(),
            why: String::new(),
            hits: 0,
            runs: 0,
            missed: 0,
            replayed: None,
            as_likely: Vec::new(),
            lacks: Vec::new(),
        }
    }

    /// Runs a proof in which these replays show it; gives what it comes to, and the replays.
    fn prove(shows: impl Fn(u64) -> bool) -> (Proved, u64, u64) {
        prove_reached(|_| true, shows)
    }

    /// The same, where only some of the replays reach the fault.
    fn prove_reached(reaches: impl Fn(u64) -> bool, shows: impl Fn(u64) -> bool) -> (Proved, u64, u64) {
        let (mut normal_runs, mut replays) = (2, 0);
        let mut proof = Proof::new(found(), 5, normal_runs);
        loop {
            while let Some(asked) = proof.next() {
                match asked {
                    Asked::Replay => {
                        replays += 1;
                        assert!(replays < 100, "it ends");
                        if reaches(replays) {
                            let number = proof.found.runs + 1;
                            proof.told_replay(number, shows(number));
                        } else {
                            proof.told_missed();
                        }
                    }
                    Asked::Control => {
                        normal_runs += 1;
                        proof.told_control();
                    }
                    other => panic!("{other:?}"),
                }
            }
            if let Some(proved) = proof.judge(normal_runs, 0) {
                assert!(normal_runs >= proof.found.runs, "as many without as with");
                return (proved, proof.found.hits, proof.found.runs);
            }
        }
    }

    #[test]
    fn what_seldom_shows_is_replayed_until_it_is_no_chance() {
        assert_eq!(prove(|_| true), (Proved::Yes, 5, 5));
        assert_eq!(prove(|it| it != 3), (Proved::Yes, 4, 5));
        assert_eq!(prove(|it| it % 2 == 0), (Proved::Yes, 5, 10));
        assert_eq!(prove(|it| it % 5 == 0), (Proved::Yes, 4, 20));
        assert_eq!(prove(|it| it % 4 == 3), (Proved::Yes, 4, 15));
        // At this rate nothing would be known after twenty either.
        assert_eq!(prove(|it| it == 5 || it == 12), (Proved::Doubtful, 1, 10));
        assert_eq!(prove(|it| it < 3 || it == 19), (Proved::Doubtful, 2, 15));
        assert_eq!(prove(|it| it > 5), (Proved::No, 0, 5));
    }

    #[test]
    fn what_was_not_reached_says_nothing_and_is_not_asked_for_for_ever() {
        assert_eq!(prove_reached(|it| it % 2 == 0, |_| true), (Proved::Yes, 5, 5));
        assert_eq!(prove_reached(|it| it % 2 == 0, |it| it != 3), (Proved::Yes, 4, 5));
        assert_eq!(prove_reached(|it| it > 20, |_| true), (Proved::Yes, 5, 5));
        assert_eq!(prove_reached(|it| it % 12 == 0, |_| true), (Proved::Yes, 1, 1));
        assert_eq!(prove_reached(|it| it == 2 || it == 3, |it| it == 1), (Proved::Yes, 1, 2));
        assert_eq!(prove_reached(|_| false, |_| true), (Proved::No, 0, 0));
    }

    #[test]
    fn chance_is_what_counting_says() {
        // Two of four marked: both among the first two in one of six ways.
        assert!((chance(2, 2, 2) - 1.0 / 6.0).abs() < 1e-12);
        assert!((chance(3, 5, 5) - 10.0 / 120.0).abs() < 1e-12);
        assert!((chance(0, 5, 5) - 1.0).abs() < 1e-12);
    }
}
