//! Dynamic slices of a recorded run: the instructions that led to one of them, backward by control and by data (Kairux 4.2).

use std::collections::BTreeSet;

use hypocenter_program::{Act, OutlineValue};
use rustc_hash::FxHashSet;

use crate::model::SliceModel;
use crate::recorded_run::{Node, RecordedRun};
use crate::written::Written;

/// Maximum number of instructions of a dynamic slice.
const NODES_MAX: usize = 200_000;

/// The instructions that led to one of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct DynamicSlice {
    nodes: BTreeSet<Node>,
    /// Reads, and the writes that they read from, where those are below another outermost frame.
    feeds: Vec<(Node, Node)>,
    /// Number of values that come from outside of what was recorded.
    pub outside: u64,
    /// False if it came to its limit.
    pub is_complete: bool,
}

impl DynamicSlice {
    /// Instructions below an outermost frame, in the order in which they ran.
    pub fn below(&self, run: &RecordedRun, root: u32) -> Vec<Node> {
        let mut nodes: Vec<Node> = self.nodes.iter().copied().filter(|&it| run.root_of(it) == root).collect();
        nodes.sort_by_key(|&it| run.order(it));
        nodes
    }

    /// Reads from writes below other outermost frames, each with its write.
    pub fn feeds(&self) -> &[(Node, Node)] {
        &self.feeds
    }

    /// All instructions.
    pub fn nodes(&self) -> &BTreeSet<Node> {
        &self.nodes
    }

    /// Takes further instructions and their feeds.
    pub fn add(&mut self, other: DynamicSlice) {
        self.nodes.extend(other.nodes);
        self.feeds.extend(other.feeds);
        self.feeds.sort_unstable();
        self.feeds.dedup();
    }
}

/// What of an instruction is in a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Want {
    /// That it ran.
    Ran(Node),
    /// With the operands that it had.
    Taken(Node),
    /// Its result.
    Result(Node),
    /// A value that it uses.
    Value(Node, u32),
}

/// A slice while it is made.
pub(crate) struct Slicer<'s> {
    pub model: &'s SliceModel,
    pub run: &'s RecordedRun,
    pub written: &'s Written,
}

impl Slicer<'_> {
    /// The slice of an instruction with its operands.
    pub fn backward(&self, from: Node) -> DynamicSlice {
        let mut slice = DynamicSlice { is_complete: true, ..DynamicSlice::default() };
        let mut seen: FxHashSet<Want> = FxHashSet::default();
        let mut pending = vec![Want::Taken(from)];
        while let Some(want) = pending.pop() {
            if !seen.insert(want) {
                continue;
            }
            if slice.nodes.len() >= NODES_MAX {
                slice.is_complete = false;
                break;
            }
            match want {
                Want::Ran(node) => self.ran(node, &mut slice, &mut pending),
                Want::Taken(node) => {
                    pending.push(Want::Ran(node));
                    pending.extend(self.step(node).operands.iter().map(|&it| Want::Value(node, it)));
                }
                Want::Result(node) => self.result(node, &mut slice, &mut pending),
                Want::Value(node, value) => self.value(node, value, &mut pending),
            }
        }
        slice.feeds.sort_unstable();
        slice.feeds.dedup();
        slice
    }

    fn step(&self, node: Node) -> &hypocenter_program::OutlineStep {
        &self.model.method(self.run.frame_of(node.run).method).steps[node.instruction as usize]
    }

    /// An instruction ran because a branch let it, a handler was entered, or its method was called.
    fn ran(&self, node: Node, slice: &mut DynamicSlice, pending: &mut Vec<Want>) {
        if !matches!(self.step(node).act, Act::Constant(_) | Act::Moves) {
            slice.nodes.insert(node);
        }
        let run = self.run;
        let deciders = self.step(node).deciders.iter();
        let decided = deciders.filter_map(|&it| run.latest(self.model, it, node));
        if let Some(decider) = decided.max_by_key(|&it| run.order(it)) {
            return pending.push(Want::Taken(decider));
        }
        let block = run.block(node.run);
        let outline = self.model.method(run.frame_of(node.run).method);
        if let Some(handler) = outline.regions[block.block as usize] {
            return pending.extend(self.thrower(node, handler).map(Want::Taken));
        }
        if let Some((caller, Some(call))) = run.frame_of(node.run).caller {
            pending.push(Want::Ran(Node { run: caller, instruction: call }));
        }
    }

    /// The instruction whose exception led to a handler before a node.
    fn thrower(&self, node: Node, handler: u32) -> Option<Node> {
        let run = self.run;
        let outline = self.model.method(run.frame_of(node.run).method);
        let (start, _) = outline.blocks[handler as usize];
        let entered = match run.block(node.run).block == handler {
            true => Node { run: node.run, instruction: start },
            false => run.latest(self.model, start, node)?,
        };
        let frame = run.block(entered.run).frame;
        let before = (0..entered.run).rev().find(|&it| run.block(it).frame == frame)?;
        Some(Node { run: before, instruction: run.block(before).end.checked_sub(1)? })
    }

    fn value(&self, node: Node, value: u32, pending: &mut Vec<Want>) {
        let run = self.run;
        let outline = self.model.method(run.frame_of(node.run).method);
        match &outline.values[value as usize] {
            OutlineValue::Unknown => {}
            OutlineValue::Parameter(number) => {
                let Some((caller, Some(call))) = run.frame_of(node.run).caller else { return };
                let caller = Node { run: caller, instruction: call };
                pending.push(Want::Ran(caller));
                let operand = self.step(caller).operands.get(usize::from(*number));
                pending.extend(operand.map(|&it| Want::Value(caller, it)));
            }
            OutlineValue::Caught(block) => {
                pending.extend(self.thrower(node, *block).map(Want::Taken));
            }
            OutlineValue::Result(at) => {
                pending.extend(run.latest(self.model, *at, node).map(Want::Result));
            }
            OutlineValue::Meets(block, inputs) => {
                let start = outline.blocks[*block as usize].0;
                let entered = match run.block(node.run).block == *block {
                    true => Some(Node { run: node.run, instruction: start }),
                    false => run.latest(self.model, start, node),
                };
                let Some(entered) = entered else { return };
                let latest = inputs.iter().filter_map(|&it| Some((self.made(entered, it)?, it))).max();
                pending.extend(latest.map(|it| Want::Value(entered, it.1)));
            }
        }
    }

    /// When a value that is used at a node was made: a parameter before all else.
    fn made(&self, node: Node, value: u32) -> Option<(u32, u32, u32)> {
        let outline = self.model.method(self.run.frame_of(node.run).method);
        let latest = |at: u32| self.run.latest(self.model, at, node).map(|it| self.run.order(it));
        match &outline.values[value as usize] {
            OutlineValue::Unknown => None,
            OutlineValue::Parameter(_) => Some((0, 0, 0)),
            OutlineValue::Result(at) => latest(*at),
            OutlineValue::Caught(block) | OutlineValue::Meets(block, _) => {
                latest(outline.blocks[*block as usize].0)
            }
        }
    }

    fn result(&self, node: Node, slice: &mut DynamicSlice, pending: &mut Vec<Want>) {
        match &self.step(node).act {
            Act::Reads(..) | Act::ReadsElement => {
                pending.push(Want::Taken(node));
                match self.written.before(self.model, self.run, node) {
                    Some(write) => self.fed(node, write, slice, pending),
                    None => slice.outside += 1,
                }
            }
            Act::Calls(callee) => match self.run.called(node) {
                Some(frame) => {
                    pending.push(Want::Ran(node));
                    pending.extend(self.returned(frame).map(Want::Taken));
                }
                None => {
                    slice.outside += u64::from(!callee.is_library);
                    pending.push(Want::Taken(node));
                    let told = self.written.told(self.run, node);
                    if let Some(told) = told.filter(|&it| self.run.is_in_reach(it, node)) {
                        self.fed(node, told, slice, pending);
                    }
                }
            },
            _ => pending.push(Want::Taken(node)),
        }
    }

    /// What a write wrote is in the slice, as a read reads it.
    fn fed(&self, read: Node, write: Node, slice: &mut DynamicSlice, pending: &mut Vec<Want>) {
        if self.run.root_of(write) != self.run.root_of(read) {
            slice.feeds.push((read, write));
        }
        pending.push(Want::Taken(write));
    }

    /// The instruction by which a frame returned.
    fn returned(&self, frame: u32) -> Option<Node> {
        let frame = &self.run.frames[frame as usize];
        let last = frame.last.filter(|_| !frame.threw)?;
        Some(Node { run: last, instruction: self.run.block(last).end.checked_sub(1)? })
    }
}
