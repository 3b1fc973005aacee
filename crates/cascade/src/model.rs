//! The faults of a system that can feed each other: where they are injected, where the same is seen when it happens by itself.

use std::collections::BTreeSet;

use hypocenter_plan::{Candidate, Fault, Guard, MethodName, Pause, Repeat, Site, SiteKind};
use hypocenter_program::{Effect, LoopFact, MethodId, Point, PointKind, Points, Program};
use hypocenter_results::cascaded::{CascadeFault, CascadeKind};
use serde::{Deserialize, Serialize};

/// So many callers of a method tell its calls apart (6.2).
pub(crate) const CALLERS: usize = 2;

/// The faults of a system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    faults: Vec<Weakness>,
    followed: Vec<MethodName>,
}

/// A fault of the system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weakness {
    /// The fault, for people.
    pub shown: CascadeFault,
    /// The sites at which it is injected.
    pub inject: Vec<Site>,
    /// The sites at which it is seen.
    pub observe: Vec<Site>,
    /// The sites behind which the way to it is its own: what it decides, or where its method begins. None for a call of a library.
    pub(crate) begins: Vec<Site>,
    /// Of a loop: whether time decides how often it goes round.
    pub(crate) is_paced: bool,
    /// Of an exception: whether a library throws it, so that it may come before the call has done its work or afterwards.
    pub(crate) is_of_library: bool,
}

impl Model {
    /// The faults of a program that are worth an experiment.
    pub fn of(program: &Program) -> Model {
        let points = Points::of(program);
        let kept = || points.all().iter().filter(|it| it.left_out.is_none() && !it.inject.is_empty());
        let followed = followed(program, kept().map(|it| it.method));
        Model { faults: kept().map(|it| Weakness::of(program, it)).collect(), followed }
    }

    /// A model of given faults.
    #[cfg(test)]
    pub(crate) fn with(faults: Vec<Weakness>) -> Model {
        Model { faults, followed: Vec::new() }
    }

    /// All faults, each named by its place here.
    pub fn faults(&self) -> &[Weakness] {
        &self.faults
    }

    /// The methods whose calls, loops and branches are followed.
    pub(crate) fn followed(&self) -> &[MethodName] {
        &self.followed
    }

    /// The sites at which the way there is told in every run: where errors are seen, and where their methods begin.
    pub(crate) fn told(&self) -> impl Iterator<Item = &Site> {
        let is_error = |it: &&Weakness| it.shown.kind != CascadeKind::Delay;
        fn entries(it: &Weakness) -> impl Iterator<Item = &Site> {
            it.begins.iter().filter(|it| it.kind == SiteKind::Entry)
        }
        self.faults.iter().filter(is_error).flat_map(|it| it.observe.iter().chain(entries(it)))
    }

    /// Every fault as a plan has it, so that all trials share one map.
    pub fn candidates(&self) -> Vec<Candidate> {
        let each = |it: &Weakness| -> Vec<Candidate> {
            let before = it.candidates(Repeat::Once, 1, false);
            let after = if it.is_of_library { it.candidates(Repeat::Once, 1, true) } else { Vec::new() };
            before.into_iter().chain(after).collect()
        };
        self.faults.iter().flat_map(each).collect()
    }
}

impl Weakness {
    fn of(program: &Program, point: &Point) -> Weakness {
        let Program { world, loops, .. } = program;
        let (kind, exception) = match point.kind {
            PointKind::Throw { class, .. } | PointKind::Library { class, .. } => {
                (CascadeKind::Exception, Some(world.show_type(class)))
            }
            PointKind::Loop(_) => (CascadeKind::Delay, None),
            PointKind::Detector => (CascadeKind::Negation, None),
        };
        let owner = world.show_type(world.method(point.method).owner);
        let name = String::from_utf8_lossy(world.method_name(point.method)).into_owned();
        let ordinal = match point.kind {
            PointKind::Loop(it) => Some(u32::from(loops.get(it).ordinal)),
            _ => None,
        };
        let line = (point.line > 0).then_some(u32::from(point.line));
        Weakness {
            shown: CascadeFault { kind, method: format!("{owner}.{name}"), line, exception, ordinal },
            begins: match point.kind {
                PointKind::Throw { .. } => point.inject.clone(),
                PointKind::Detector => point.inject.first().map(entry_of).into_iter().collect(),
                PointKind::Library { .. } | PointKind::Loop(_) => Vec::new(),
            },
            inject: point.inject.clone(),
            observe: point.observe.clone(),
            is_paced: matches!(point.kind, PointKind::Loop(it) if is_paced(loops.get(it))),
            is_of_library: matches!(point.kind, PointKind::Library { .. }),
        }
    }

    /// The fault as a plan has it. `after` is for the exception of a library that has done its work.
    pub(crate) fn candidates(&self, repeat: Repeat, delay_ms: u64, after: bool) -> Vec<Candidate> {
        let fault = match (self.shown.kind, &self.shown.exception) {
            (CascadeKind::Delay, _) => Fault::Delay { delay_ms, pause: Pause::Spin },
            (CascadeKind::Exception, Some(class)) => Fault::Exception { class: class.clone(), message: None },
            (CascadeKind::Exception | CascadeKind::Negation, _) => Fault::Negate,
        };
        let site = |it: &Site| match after {
            true => Site { kind: SiteKind::CallReturn, ..it.clone() },
            false => it.clone(),
        };
        let candidate =
            |it| Candidate { site: site(it), fault: fault.clone(), when: Guard::default(), repeat };
        self.inject.iter().map(candidate).collect()
    }
}

/// Entry of the method of a site.
fn entry_of(site: &Site) -> Site {
    Site { kind: SiteKind::Entry, callee: None, ordinal: 0, line: None, ..site.clone() }
}

/// Tests whether time decides how often a loop goes round: it then runs more often in a longer run, whatever the fault did.
fn is_paced(it: &LoopFact) -> bool {
    it.is_timed
        || [Effect::Sleep, Effect::Wait, Effect::Clock].iter().any(|&kind| it.effects.depth(kind).is_some())
}

/// The methods with faults, and those that call them through as many calls as tell their calls apart.
fn followed(program: &Program, of: impl Iterator<Item = MethodId>) -> Vec<MethodName> {
    let Program { world, facts, calls, .. } = program;
    let mut all: BTreeSet<MethodId> = of.collect();
    let mut last: Vec<MethodId> = all.iter().copied().collect();
    for _ in 0..CALLERS {
        let callers = last.iter().flat_map(|&it| calls.callers(it)).map(|it| facts.call(it).method);
        let new: BTreeSet<MethodId> = callers.filter(|it| !all.contains(it)).collect();
        all.extend(&new);
        last = new.into_iter().collect();
    }
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    let name = |it: MethodId| MethodName {
        class: world.show_type(world.method(it).owner),
        method: text(world.method_name(it)),
        descriptor: text(world.method_descriptor(it)),
    };
    all.into_iter().map(name).collect()
}
