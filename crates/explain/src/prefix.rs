//! Common prefix of the slice of a failing run and another run, thread by thread (Kairux 4.3).
//!
//! Instructions are the same if they are at one place and in the same scope; a branch must also go the same way. Where a scope of the failing
//! run may be any of several (an iteration of a map loop, a method that a library calls), that counts with which the prefix is longest.

use hypocenter_program::Act;
use rustc_hash::FxHashMap;

use crate::model::SliceModel;
use crate::recorded_run::{Node, RecordedRun, Within};

/// Maximum number of choices of scopes that are tried for one prefix.
const CHOICES_MAX: u32 = 10_000;

/// A common prefix.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prefix {
    /// The instructions that both have: those of the failing run and of the other.
    pub same: Vec<(Node, Node)>,
    /// The first instruction that differs, if any, and the instruction in its place.
    pub deviation: Option<(Node, Option<Node>)>,
}

impl Prefix {
    /// The longer one; of two alike that in which something is in the place of the first difference.
    fn longer(self, other: Prefix) -> Prefix {
        let length = |it: &Prefix| (it.same.len(), it.deviation.is_none_or(|it| it.1.is_some()));
        if length(&other) > length(&self) { other } else { self }
    }

    /// The instruction of the other run that is the same.
    pub fn partner(&self, node: Node) -> Option<Node> {
        self.same.iter().find(|it| it.0 == node).map(|it| it.1)
    }
}

/// Two runs.
pub(crate) struct Comparing<'c> {
    pub model: &'c SliceModel,
    /// The run whose instructions are looked for.
    pub of: &'c RecordedRun,
    /// The run that they are looked for in.
    pub other: &'c RecordedRun,
}

/// Which scope of the other run stands for a scope.
type Known = FxHashMap<u32, u32>;

impl Comparing<'_> {
    /// The longest prefix that some instructions below an outermost frame have in common with the other run.
    pub fn prefix(&self, root: u32, nodes: &[Node]) -> Prefix {
        let frame = &self.of.frames[root as usize];
        let mut choices = CHOICES_MAX;
        let prefixes = self
            .other
            .roots(frame.method)
            .iter()
            .map(|&there| self.follow(nodes, Known::from_iter([(frame.scope, there)]), &mut choices));
        let none = Prefix { same: Vec::new(), deviation: nodes.first().map(|&it| (it, None)) };
        prefixes.fold(none, Prefix::longer)
    }

    /// The prefix where these scopes are known.
    fn follow(&self, nodes: &[Node], mut known: Known, choices: &mut u32) -> Prefix {
        let mut prefix = Prefix::default();
        for (number, &node) in nodes.iter().enumerate() {
            let scope = self.of.block(node.run).scope;
            if let Some(open) = self.open(scope, &known) {
                let rest = self.choose(&nodes[number..], open, &known, choices);
                prefix.same.extend(rest.same);
                prefix.deviation = rest.deviation;
                return prefix;
            }
            let Some(there) = self.place(scope, &mut known).and_then(|it| self.find(node, it)) else {
                prefix.deviation = Some((node, None));
                return prefix;
            };
            if !self.is_same_way(node, there) {
                prefix.deviation = Some((node, Some(there)));
                return prefix;
            }
            prefix.same.push((node, there));
        }
        prefix
    }

    /// The outermost scope around one that is not known and may be any of several.
    fn open(&self, scope: u32, known: &Known) -> Option<u32> {
        let around = std::iter::successors(Some(scope), |&it| self.of.scopes[it as usize].parent);
        let unknown = around.take_while(|it| !known.contains_key(it));
        unknown.filter(|&it| self.of.scopes[it as usize].within.is_open()).last()
    }

    /// Tries every scope that an open one may be.
    fn choose(&self, nodes: &[Node], open: u32, known: &Known, choices: &mut u32) -> Prefix {
        let none = Prefix { same: Vec::new(), deviation: nodes.first().map(|&it| (it, None)) };
        let mut known = known.clone();
        let it = self.of.scopes[open as usize];
        let Some(parent) = it.parent.and_then(|it| self.place(it, &mut known)) else { return none };
        let mut best = none;
        for &there in self.other.within(parent, it.within) {
            if *choices == 0 {
                break;
            }
            *choices -= 1;
            let mut known = known.clone();
            known.insert(open, there);
            best = best.longer(self.follow(nodes, known, choices));
        }
        best
    }

    /// The scope of the other run that stands for one.
    fn place(&self, scope: u32, known: &mut Known) -> Option<u32> {
        if let Some(&there) = known.get(&scope) {
            return Some(there);
        }
        let it = self.of.scopes[scope as usize];
        let parent = self.place(it.parent?, known)?;
        let there = *self.other.within(parent, it.within).first()?;
        known.insert(scope, there);
        Some(there)
    }

    /// The same instruction in a scope of the other run.
    fn find(&self, node: Node, scope: u32) -> Option<Node> {
        let run = self.other.run_at(scope, self.of.block(node.run).block)?;
        (node.instruction < self.other.block(run).end).then_some(Node { run, instruction: node.instruction })
    }

    /// Tests whether both branches go the same way. That of a map loop may be in any round, also the last.
    fn is_same_way(&self, node: Node, there: Node) -> bool {
        if *self.model.act(self.of.place(node)) != Act::Branches {
            return true;
        }
        let (own, other) = (self.of.block(node.run), self.other.block(there.run));
        // The end of a thread that was still running is no way.
        own.next == other.next || own.next.is_none() || self.is_guard_of_map(node)
    }

    fn is_guard_of_map(&self, node: Node) -> bool {
        let block = self.of.block(node.run);
        let scope = self.of.scopes[block.scope as usize];
        let Within::MapRound(number) = scope.within else { return false };
        let outline = self.model.method(self.of.frame_of(node.run).method);
        outline.loops[number as usize].header == block.block
    }
}
