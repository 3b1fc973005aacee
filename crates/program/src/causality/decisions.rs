//! Which instructions decide whether others run: the branches, and what may throw.
//!
//! Control dependence as in [`ControlDependence`](crate::ControlDependence), on a finer graph. Blocks are cut behind every
//! instruction that is known to throw, and an exception goes where [`Exceptions`](crate::Exceptions) says, out of the
//! method included. So a call that may throw decides about its handlers, and about what comes behind it.

use rustc_hash::FxHashMap;

use crate::causality::causal::Causes;
use crate::dataflow::exceptions::{Source, Way};
use crate::facts::HandlerId;
use crate::lists::Lists;
use crate::methods::dominance::{Dominance, Edges};
use crate::methods::flow;
use crate::methods::view::MethodView;

/// The most decisions of a method; one beyond that is taken as a method without branches.
const DECISIONS_MAX: usize = 1 << 20;

/// What an instruction decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Where to jump.
    #[default]
    Branch,
    /// Whether to go on and throw nothing.
    Returned,
    /// Whether to throw what this handler takes.
    Caught(HandlerId),
}

/// An instruction that decides about others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decider {
    /// Which.
    pub instruction: u32,
    /// By what.
    pub by: Decision,
}

/// The decisions of a method.
#[derive(Debug)]
pub struct Decisions {
    /// The first instruction of each piece of a block.
    starts: Vec<u32>,
    /// For each piece what decides about it, sorted.
    deciders: Lists<Decider>,
    /// For each decision the pieces that it is about, sorted.
    decided: FxHashMap<Decider, Vec<u32>>,
    /// For each block the innermost handler that must have been entered, as a block.
    regions: Vec<Option<u32>>,
    dominance: Option<Dominance>,
    /// Every way of every exception, with the instruction at which it begins, sorted.
    ways: Vec<(u32, Way)>,
    handlers: u32,
}

impl Decisions {
    /// Finds the decisions of a method. `aborts` says whether throwing counts; otherwise only branches decide.
    pub fn of(causes: Causes<'_>, view: &MethodView<'_>, aborts: bool) -> Decisions {
        let flow = &view.body.flow;
        let Causes { world, facts, calls, exceptions, .. } = causes;
        let begin = |way: &Way| match way.source {
            Source::Call(call) => Some(facts.call(call).instruction.into()),
            Source::Throw(at) => Some(facts.throwers(view.id).get(at as usize)?.instruction.into()),
        };
        let ways = exceptions.ways(world, facts, calls, view.id).into_iter();
        let mut ways: Vec<(u32, Way)> = ways.filter_map(|it| Some((begin(&it)?, it))).collect();
        ways.sort_unstable();
        let dominance = Dominance::of(flow, Edges::All).ok();
        let mut it = Decisions {
            starts: flow.blocks.iter().map(|it| it.start).collect(),
            deciders: Lists::default(),
            decided: FxHashMap::default(),
            regions: regions(flow, dominance.as_ref()),
            dominance,
            ways,
            handlers: facts.handlers().partition_point(|it| it.method < view.id) as u32,
        };
        if !flow.has_subroutines {
            let throws = if aborts { it.throws(view) } else { Vec::new() };
            it.decide(flow, &throws);
        }
        it
    }

    /// What decides whether an instruction runs, sorted.
    pub fn of_instruction(&self, instruction: u32) -> &[Decider] {
        self.deciders.get(self.piece(instruction))
    }

    /// The instructions that a decision is about, in ranges; the method has `count`.
    pub(crate) fn decided_by(
        &self,
        decider: Decider,
        count: u32,
    ) -> impl Iterator<Item = std::ops::Range<u32>> + '_ {
        let pieces = self.decided.get(&decider).into_iter().flatten();
        pieces.map(move |&it| {
            let end = self.starts.get(it as usize + 1).copied().unwrap_or(count);
            self.starts[it as usize]..end
        })
    }

    /// Whether an instruction runs whenever its method, or the handler that it is in, is entered and nothing else
    /// happens: none of what decides about it comes before it on every way from there.
    pub(crate) fn is_open(&self, view: &MethodView<'_>, instruction: u32) -> bool {
        let block = view.body.block_of(instruction);
        let leads = |it: &Decider| {
            let from = view.body.block_of(it.instruction);
            self.regions[from as usize] == self.regions[block as usize]
                && if from == block {
                    it.instruction < instruction
                } else {
                    self.dominance.as_ref().is_some_and(|dominance| dominance.dominates(from, block))
                }
        };
        !self.of_instruction(instruction).iter().any(leads)
    }

    /// The innermost handler that must have been entered before an instruction runs.
    pub(crate) fn region(&self, view: &MethodView<'_>, instruction: u32) -> Option<HandlerId> {
        self.handler(view, self.regions[view.body.block_of(instruction) as usize]?)
    }

    /// The handler that begins at a block.
    pub(crate) fn handler(&self, view: &MethodView<'_>, block: u32) -> Option<HandlerId> {
        let at = view.body.flow.handlers.binary_search(&block).ok()?;
        Some(HandlerId(self.handlers + at as u32))
    }

    /// The block where a handler of this method begins.
    pub(crate) fn block(&self, view: &MethodView<'_>, handler: HandlerId) -> Option<u32> {
        view.body.flow.handlers.get(handler.0.checked_sub(self.handlers)? as usize).copied()
    }

    /// Every way of every exception through the method, with the instruction at which it begins, sorted.
    pub(crate) fn ways(&self) -> &[(u32, Way)] {
        &self.ways
    }

    /// The ways that begin at an instruction.
    pub(crate) fn ways_at(&self, instruction: u32) -> &[(u32, Way)] {
        let start = self.ways.partition_point(|it| it.0 < instruction);
        let end = self.ways.partition_point(|it| it.0 <= instruction);
        &self.ways[start..end]
    }

    fn piece(&self, instruction: u32) -> u32 {
        (self.starts.partition_point(|&it| it <= instruction) as u32).saturating_sub(1)
    }

    /// The instructions that throw, each with where to: a handler and its block, or out.
    fn throws(&self, view: &MethodView<'_>) -> Vec<(u32, Option<HandlerId>, Option<u32>)> {
        let to = |it: HandlerId| self.block(view, it);
        let mut throws: Vec<_> =
            self.ways.iter().map(|&(at, way)| (at, way.to, way.to.and_then(to))).collect();
        throws.sort_unstable();
        throws.dedup();
        throws
    }

    fn decide(&mut self, flow: &flow::Flow<'_>, throws: &[(u32, Option<HandlerId>, Option<u32>)]) {
        let count = flow.instructions.len() as u32;
        self.starts.extend(throws.iter().map(|it| it.0 + 1).filter(|&it| it < count));
        self.starts.sort_unstable();
        self.starts.dedup();
        let end = self.starts.len() as u32;
        let first = |block: u32| self.piece(flow.blocks[block as usize].start);
        let mut edges: Vec<(u32, u32, Decider)> = Vec::new();
        for (at, block) in flow.blocks.iter().enumerate() {
            let last = block.end - 1;
            let by = if flow.last(at as u32).is_invoke() { Decision::Returned } else { Decision::Branch };
            let normal = flow.out_of(at as u32).iter().filter(|edge| Edges::Normal.has(edge));
            let piece = self.piece(last);
            edges.extend(normal.map(|edge| (piece, first(edge.to), Decider { instruction: last, by })));
            // From each piece to the next of its block.
            edges.extend((self.piece(block.start)..piece).map(|it| {
                let instruction = self.starts[it as usize + 1] - 1;
                (it, it + 1, Decider { instruction, by: Decision::Returned })
            }));
        }
        edges.extend(throws.iter().map(|&(instruction, handler, block)| {
            let by = handler.map_or(Decision::Returned, Decision::Caught);
            (self.piece(instruction), block.map_or(end, first), Decider { instruction, by })
        }));
        edges.sort_unstable();
        edges.dedup();
        let plain: Vec<(u32, u32)> = edges.iter().map(|it| (it.0, it.1)).collect();
        let Ok(post) = Dominance::post_of(&vec![true; end as usize], &plain) else { return };
        let mut pairs: Vec<(u32, Decider)> = Vec::new();
        for out in edges.chunk_by(|a, b| a.0 == b.0) {
            if out.iter().all(|it| it.1 == out[0].1) {
                continue;
            }
            let certain = post.immediate(out[0].0);
            for &(_, to, decider) in out.iter().filter(|it| it.1 != end) {
                let mut piece = Some(to);
                while piece != certain {
                    let Some(depends) = piece else { break };
                    pairs.push((depends, decider));
                    piece = post.immediate(depends);
                }
            }
            if pairs.len() > DECISIONS_MAX {
                return;
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.deciders = Lists::of(end as usize, pairs.iter().copied());
        for (piece, decider) in pairs {
            self.decided.entry(decider).or_default().push(piece);
        }
    }
}

fn regions(flow: &flow::Flow<'_>, dominance: Option<&Dominance>) -> Vec<Option<u32>> {
    let region = |block: u32| {
        let above = |&it: &u32| dominance.and_then(|dominance| dominance.immediate(it));
        let mut blocks = std::iter::successors(Some(block), above);
        blocks.find(|it| flow.handlers.binary_search(it).is_ok())
    };
    if flow.handlers.is_empty() {
        return vec![None; flow.blocks.len()];
    }
    (0..flow.blocks.len() as u32).map(region).collect()
}
