//! Common parts of the tests: models, runs and effects in few words.

use hypocenter_plan::{Site, SiteKind};
use hypocenter_results::cascaded::{CascadeFault, CascadeKind};

use crate::compare::{Effect, Judging, Run};
use crate::experiment::{Doses, Lab, Normal};
use crate::model::{Model, Weakness};
use crate::reader::{Callers, RunDigest, Spot, Ways};

pub(crate) const TWO_STAGES: Judging = Judging { one_stage: false, fdr: None, paced: true };

/// Faults of these kinds, each at a site of its own. The number of a fault is its line.
pub(crate) fn model(kinds: &[CascadeKind]) -> Model {
    Model::with((0..).zip(kinds).map(|(number, &kind)| weakness(number, kind)).collect())
}

pub(crate) fn weakness(number: u32, kind: CascadeKind) -> Weakness {
    let site = |kind| Site {
        class: "own.Place".to_owned(),
        method: format!("m{number}"),
        descriptor: "()V".to_owned(),
        kind,
        callee: None,
        ordinal: 0,
        line: Some(number),
    };
    let (inject, observe) = match kind {
        CascadeKind::Delay => (site(SiteKind::LoopBody), site(SiteKind::LoopBody)),
        CascadeKind::Exception => (site(SiteKind::Branch), site(SiteKind::Throw)),
        CascadeKind::Negation => (site(SiteKind::BooleanReturn), site(SiteKind::BooleanReturn)),
    };
    let exception = (kind == CascadeKind::Exception).then(|| "own.Failure".to_owned());
    let method = format!("own.Place.m{number}");
    Weakness {
        shown: CascadeFault { kind, method, line: Some(number), exception, ordinal: None },
        inject: vec![inject],
        observe: vec![observe],
        begins: Vec::new(),
        is_paced: false,
        is_of_library: false,
    }
}

/// A place without callers.
pub(crate) fn spot(fault: u32) -> Spot {
    Spot(fault, [0, 0], 0)
}

pub(crate) fn ways(of: &[u32]) -> Ways {
    of.iter().copied().collect()
}

/// A run of a second with a fault, in which nothing happened.
pub(crate) fn run() -> Run {
    Run {
        trial: 0,
        seconds: 1.0,
        is_injected: true,
        has_timed_out: false,
        times: 1,
        frames: vec!["own.Place.m".to_owned(), "own.Caller.n".to_owned()],
        digest: RunDigest::default(),
    }
}

impl Run {
    /// The same without a fault.
    pub(crate) fn normal(self) -> Run {
        Run { is_injected: false, times: 0, frames: Vec::new(), ..self }
    }

    pub(crate) fn seconds(self, seconds: f64) -> Run {
        Run { seconds, ..self }
    }

    pub(crate) fn loops_at(mut self, spot: Spot, count: u64, by: &[u32]) -> Run {
        self.digest.loops.push((spot, count, ways(by)));
        self
    }

    pub(crate) fn loops(self, fault: u32, count: u64) -> Run {
        self.loops_at(spot(fault), count, &[])
    }

    pub(crate) fn error_at(mut self, spot: Spot, by: &[u32]) -> Run {
        self.digest.errors.push((spot, ways(by)));
        self
    }

    pub(crate) fn error(self, fault: u32) -> Run {
        self.error_at(spot(fault), &[])
    }

    pub(crate) fn injected_at(mut self, callers: Callers, value: u32, by: &[u32]) -> Run {
        self.digest.injected.push((callers, value, ways(by)));
        self
    }

    pub(crate) fn within(mut self, inner: u32, outer: u32) -> Run {
        self.digest.within.push((inner, outer));
        self
    }

    /// Faults whose places are reached, in ascending order.
    pub(crate) fn reaches(mut self, faults: &[u32]) -> Run {
        self.digest.reached = faults.to_vec();
        self
    }
}

/// The places and faults of effects.
pub(crate) fn spots(of: &[Effect]) -> Vec<Spot> {
    of.iter().map(|it| it.spot).collect()
}

pub(crate) fn doses(delays_ms: &[u64]) -> Doses {
    Doses { delays_ms: delays_ms.to_vec(), delay_total_ms: 100, for_ms: 500, all_lengths: false }
}

pub(crate) fn lab<'m>(model: &'m Model, doses: &'m Doses) -> Lab<'m> {
    Lab { model, judging: TWO_STAGES, repeats: 5, doses }
}

/// Five runs without a fault, and as many fresh ones.
pub(crate) fn normal(run: &Run) -> Normal<'_> {
    Normal { first: vec![run; 5], fresh: Some(vec![run; 5]) }
}

/// An effect in all of five runs with the fault, and in none of five without: a growth if it has a probability.
pub(crate) fn effect(spot: Spot, by: &[u32], p: Option<f64>) -> Effect {
    Effect { spot, ways: ways(by), with: vec![1; 5], without: vec![0; 5], p }
}
