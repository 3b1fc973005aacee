//! Sites: the points of the target where something can be done or seen, with the hooks that each needs.
//!
//! This file lists the sites of a method. [`pattern`] and [`find`] look them up by readable names, [`fault_sites`] lists the
//! calls that can go wrong, and [`map`] writes the instrumentation map of a plan.

pub(crate) mod accesses;
pub mod fault_sites;
pub mod find;
pub mod kinds;
pub mod map;
pub mod nearest;
pub mod pattern;

use std::sync::Arc;

use hypocenter_classfile::{ClassFile, Code, Instruction, Member, descriptor, op};
use hypocenter_plan::{Site, SiteKind};
use hypocenter_trace::{FALL_THROUGH, Placement, waist};
use rustc_hash::FxHashMap;

use crate::logging::logger::is_log_call;
use crate::methods::condition::Condition;
use crate::methods::flow::{Flow, FlowError, Way};
use crate::methods::lines::Lines;
use crate::methods::loops::{Loop, Loops};
use crate::sites::kinds::KindSet;

/// A site of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodSite {
    /// Its kind.
    pub kind: SiteKind,
    /// For calls: `owner.name(descriptor)`, the owner with dots, or `indy.name(descriptor)` for `invokedynamic`.
    pub callee: Option<Arc<str>>,
    /// Index among sites of this kind (and callee) in the method, from 0.
    pub ordinal: u16,
    /// Number of its kind (and callee) in the method.
    pub total: u16,
    /// The line in the source.
    pub line: Option<u32>,
    /// The hooks that report it.
    pub hooks: Vec<Hook>,
}

/// A place where code is put to report a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// Where, relative to the instruction.
    pub placement: Placement,
    /// The instruction's address.
    pub pc: u16,
    /// The instruction's number in the method.
    pub instruction: u16,
    /// For [`Placement::Edges`]: the ways in, as `pc`s of jumps or [`FALL_THROUGH`], sorted.
    pub edges: Vec<u32>,
}

/// The sites of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodSites {
    /// In the order of the code, the exits of loops first; of several at one instruction, in the order in which they
    /// happen.
    pub sites: Vec<MethodSite>,
    /// Regions that go round and are no natural loop, see [`Loops::irreducible`]; 0 if no loops were asked for.
    pub irreducible: u32,
}

impl MethodSite {
    /// The site by its full name.
    pub fn named(&self, class: &str, method: &str, descriptor: &str) -> Site {
        Site {
            class: class.to_owned(),
            method: method.to_owned(),
            descriptor: descriptor.to_owned(),
            kind: self.kind,
            callee: self.callee.as_deref().map(str::to_owned),
            ordinal: self.ordinal.into(),
            line: self.line,
        }
    }
}

/// All sites of these kinds in a method; none if it has no code.
pub fn sites_of_method(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    kinds: KindSet,
) -> Result<MethodSites, FlowError> {
    let Some(code) = method.code()? else { return Ok(MethodSites::default()) };
    let mut listing = Listing { lines: Lines::of(&code), kinds, sites: Vec::new() };
    let mut irreducible = 0;
    let needs_flow = KindSet::LOOPS.with(SiteKind::Block).with(SiteKind::Handler);
    if kinds.intersects(needs_flow) {
        let flow = Flow::of(&code)?;
        listing.of_flow(&flow);
        if kinds.intersects(KindSet::LOOPS) {
            irreducible = listing.of_loops(class, &flow);
        }
        listing.of_instructions(class, method, flow.instructions.iter().map(|it| Ok(*it)))?;
    } else {
        listing.of_instructions(class, method, code.instructions())?;
    }
    listing.of_method();
    if kinds.intersects(KindSet::ACCESSES) {
        listing.of_accesses(class, method, &code)?;
    }
    if kinds.intersects(KindSet::OPERATIONS) {
        listing.of_called(class, method, &code)?;
    }
    if kinds.intersects(KindSet::OPERATIONS) && waist(class.name(), method.name, method.descriptor).is_some()
    {
        listing.of_operation(&code)?;
    }
    let mut sites = listing.sites;
    sites.sort_by_key(MethodSite::order);
    Ok(MethodSites { sites, irreducible })
}

impl MethodSite {
    /// Sites at one instruction run in the order of this key. Loops are left before anything else happens, the
    /// inner before the outer; a loop has several places where it is left, so these come before all others.
    fn order(&self) -> (u8, u16, u8, u16) {
        let pc = self.hooks.first().map_or(0, |hook| hook.pc);
        match self.kind {
            SiteKind::Entry => (0, 0, 0, 0),
            SiteKind::Operation if self.callee.is_none() => (0, 1, 0, 0),
            SiteKind::LoopExit | SiteKind::LoopUnwind => (1, u16::MAX - self.ordinal, 0, 0),
            SiteKind::OperationEnd if self.callee.is_none() => (3, 0, 0, 0),
            SiteKind::Unwind => (3, 1, 0, 0),
            // The hooks where an exception leaves the method follow each other.
            SiteKind::MonitorExit
                if self.hooks.first().is_some_and(|it| it.placement == Placement::Unwind) =>
            {
                (3, 2, 0, 0)
            }
            kind => (2, pc, rank(kind), self.ordinal),
        }
    }
}

/// The order in which sites at one instruction happen: what ends comes before what begins.
fn rank(kind: SiteKind) -> u8 {
    use SiteKind::*;
    match kind {
        Entry => 0,
        LoopExit => 1,
        LoopEntry => 2,
        LoopIteration => 3,
        LoopBody => 4,
        Handler => 5,
        Block => 6,
        Log => 7,
        Call => 8,
        Throw => 9,
        BooleanReturn => 10,
        Exit => 11,
        CallReturn => 12,
        Unwind => 13,
        // Directly before the jump, whose operands it takes.
        Branch => 14,
        Switch => 15,
        LoopUnwind => 16,
        CallThrow => 17,
        // Around everything that the method does.
        Operation | OperationEnd => 18,
        MonitorEnter => 19,
        FieldRead | ArrayRead | Allocation => 20,
        FieldWrite | ArrayWrite | MonitorExit => 21,
    }
}

struct Listing {
    lines: Lines,
    kinds: KindSet,
    sites: Vec<MethodSite>,
}

/// A call seen in the code.
struct Call {
    callee: Arc<str>,
    is_log: bool,
    seen: u16,
}

impl Listing {
    fn add(
        &mut self,
        kind: SiteKind,
        callee: Option<Arc<str>>,
        (ordinal, total): (usize, usize),
        pc: u32,
        hooks: Vec<Hook>,
    ) {
        if self.kinds.contains(kind) {
            // A method has at most 65,535 bytes of code, so these fit.
            let (ordinal, total) = (ordinal as u16, total as u16);
            self.sites.push(MethodSite { kind, callee, ordinal, total, line: self.lines.at(pc), hooks });
        }
    }

    fn of_method(&mut self) {
        let hook = |placement| vec![Hook { placement, pc: 0, instruction: 0, edges: Vec::new() }];
        self.add(SiteKind::Entry, None, (0, 1), 0, hook(Placement::Entry));
        self.add(SiteKind::Unwind, None, (0, 1), 0, hook(Placement::Unwind));
    }

    /// An operation, which lasts as long as the method.
    fn of_operation(&mut self, code: &Code<'_>) -> Result<(), FlowError> {
        let around = |placement| Hook { placement, pc: 0, instruction: 0, edges: Vec::new() };
        let mut ends = Vec::new();
        for (number, instruction) in code.instructions().enumerate() {
            let instruction = instruction?;
            if instruction.is_return() {
                ends.push(hook(Placement::Before, &instruction, number));
            }
        }
        ends.push(around(Placement::Unwind));
        self.add(SiteKind::Operation, None, (0, 1), 0, vec![around(Placement::Entry)]);
        self.add(SiteKind::OperationEnd, None, (0, 1), 0, ends);
        Ok(())
    }

    /// Calls and returns.
    fn of_instructions<'a>(
        &mut self,
        class: &ClassFile<'a>,
        method: &Member<'a>,
        instructions: impl Iterator<Item = Result<Instruction<'a>, hypocenter_classfile::Error>>,
    ) -> Result<(), FlowError> {
        let of_calls = KindSet::CALLS.and(self.kinds);
        let mut numbers: FxHashMap<u16, u32> = FxHashMap::default();
        let mut by_text: FxHashMap<Arc<str>, u32> = FxHashMap::default();
        let mut callees: Vec<Call> = Vec::new();
        let mut calls: Vec<(u32, u16, Hook)> = Vec::new();
        let mut returns = Vec::new();
        let (mut branches, mut switches, mut throws) = (Vec::new(), Vec::new(), Vec::new());
        for (number, instruction) in instructions.enumerate() {
            let instruction = instruction?;
            if instruction.is_return() {
                returns.push((instruction.opcode, hook(Placement::Before, &instruction, number)));
            }
            if matches!(instruction.opcode, op::TABLESWITCH | op::LOOKUPSWITCH) {
                switches.push(hook(Placement::Before, &instruction, number));
            } else if instruction.is_branch() {
                branches.push(hook(Placement::Before, &instruction, number));
            } else if instruction.opcode == op::ATHROW {
                throws.push(hook(Placement::Before, &instruction, number));
            }
            let Some(index) = instruction.pool_index().filter(|_| instruction.is_invoke()) else { continue };
            if of_calls.is_empty() {
                continue;
            }
            let callee = match numbers.get(&index) {
                Some(&callee) => callee,
                None => {
                    let (text, is_log) = callee_text(class, &instruction, index)?;
                    // Two constants may name the same method (as a class's and as an interface's).
                    let callee = *by_text.entry(text.clone()).or_insert(callees.len() as u32);
                    if callee as usize == callees.len() {
                        callees.push(Call { callee: text, is_log, seen: 0 });
                    }
                    numbers.insert(index, callee);
                    callee
                }
            };
            let call = &mut callees[callee as usize];
            if call.is_log || of_calls.intersects(KindSet::CALLS.without(SiteKind::Log)) {
                calls.push((callee, call.seen, hook(Placement::Before, &instruction, number)));
            }
            call.seen += 1;
        }
        for (callee, ordinal, hook) in calls {
            let Call { callee, is_log, seen } = &callees[callee as usize];
            let (numbers, pc) = ((ordinal.into(), (*seen).into()), u32::from(hook.pc));
            if *is_log {
                self.add(SiteKind::Log, Some(callee.clone()), numbers, pc, vec![hook.clone()]);
            }
            let after = Hook { placement: Placement::After, ..hook.clone() };
            self.add(SiteKind::CallReturn, Some(callee.clone()), numbers, pc, vec![after]);
            // Before it has come back there is no `this`, and no handler can cover it.
            if !is_super_call(class, method, callee) {
                let thrown = Hook { placement: Placement::Thrown, ..hook.clone() };
                self.add(SiteKind::CallThrow, Some(callee.clone()), numbers, pc, vec![thrown]);
            }
            self.add(SiteKind::Call, Some(callee.clone()), numbers, pc, vec![hook]);
        }
        let lists = [(SiteKind::Branch, branches), (SiteKind::Switch, switches), (SiteKind::Throw, throws)];
        for (kind, hooks) in lists {
            let total = hooks.len();
            for (ordinal, hook) in hooks.into_iter().enumerate() {
                self.add(kind, None, (ordinal, total), hook.pc.into(), vec![hook]);
            }
        }
        let is_boolean = descriptor::return_type(method.descriptor) == b"Z";
        let total = returns.len();
        for (ordinal, (opcode, hook)) in returns.into_iter().enumerate() {
            let pc = hook.pc.into();
            if is_boolean && opcode == op::IRETURN {
                self.add(SiteKind::BooleanReturn, None, (ordinal, total), pc, vec![hook.clone()]);
            }
            self.add(SiteKind::Exit, None, (ordinal, total), pc, vec![hook]);
        }
        Ok(())
    }

    /// Blocks and handlers.
    fn of_flow(&mut self, flow: &Flow<'_>) {
        let reachable: Vec<u32> =
            (0..flow.blocks.len() as u32).filter(|&block| flow.reachable[block as usize]).collect();
        for (kind, blocks) in [(SiteKind::Block, &reachable), (SiteKind::Handler, &flow.handlers)] {
            for (ordinal, &block) in blocks.iter().enumerate() {
                let hook = hook_at(flow, Placement::Before, block, Vec::new());
                self.add(kind, None, (ordinal, blocks.len()), flow.first(block).pc, vec![hook]);
            }
        }
    }

    fn of_loops(&mut self, class: &ClassFile<'_>, flow: &Flow<'_>) -> u32 {
        let Loops { loops, irreducible } = Loops::of(flow);
        let total = loops.len();
        for (ordinal, it) in loops.iter().enumerate() {
            let pc = flow.first(it.header).pc;
            let before = hook_at(flow, Placement::Before, it.header, Vec::new());
            self.add(SiteKind::LoopIteration, None, (ordinal, total), pc, vec![before]);
            if self.kinds.contains(SiteKind::LoopUnwind) {
                let handlers = handlers_outside(flow, it);
                if !handlers.is_empty() {
                    self.add(SiteKind::LoopUnwind, None, (ordinal, total), pc, handlers);
                }
            }
            if self.kinds.contains(SiteKind::LoopBody) {
                self.add(SiteKind::LoopBody, None, (ordinal, total), pc, body(class, flow, it));
            }
            if self.kinds.contains(SiteKind::LoopEntry) {
                let edges = ways_in(flow, it);
                if !edges.is_empty() {
                    let entry = hook_at(flow, Placement::Edges, it.header, edges);
                    self.add(SiteKind::LoopEntry, None, (ordinal, total), pc, vec![entry]);
                }
            }
            if self.kinds.contains(SiteKind::LoopExit) {
                let exits = exits(flow, it);
                if !exits.is_empty() {
                    self.add(SiteKind::LoopExit, None, (ordinal, total), pc, exits);
                }
            }
        }
        irreducible
    }
}

/// The hooks that see the body of a loop being executed: on each edge from its condition into the rest of it, or at its head if it has no
/// condition there.
fn body(class: &ClassFile<'_>, flow: &Flow<'_>, it: &Loop) -> Vec<Hook> {
    let condition = Condition::of(class, flow, it);
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for &block in condition.blocks() {
        let inside = flow.out_of(block).iter().filter(|edge| edge.way != Way::Throw && it.contains(edge.to));
        let leaving = inside.filter(|edge| edge.to == it.header || !condition.contains(edge.to));
        edges.extend(leaving.map(|edge| (edge.to, way_in(flow, block, edge.way))));
    }
    if edges.is_empty() {
        return vec![hook_at(flow, Placement::Before, it.header, Vec::new())];
    }
    grouped(flow, edges)
}

/// A hook for each block that some edges lead to, given as the block and the way in.
fn grouped(flow: &Flow<'_>, mut edges: Vec<(u32, u32)>) -> Vec<Hook> {
    edges.sort_unstable();
    edges.dedup();
    let groups = edges.chunk_by(|a, b| a.0 == b.0);
    let hook = |group: &[(u32, u32)]| {
        hook_at(flow, Placement::Edges, group[0].0, group.iter().map(|edge| edge.1).collect())
    };
    groups.map(hook).collect()
}

/// Entries of the header from outside its loop, other than by an exception.
fn ways_in(flow: &Flow<'_>, it: &Loop) -> Vec<u32> {
    let mut ways: Vec<u32> = flow
        .edges()
        .iter()
        .filter(|edge| edge.to == it.header && edge.way != Way::Throw)
        .filter(|edge| flow.reachable[edge.from as usize] && !it.contains(edge.from))
        .map(|edge| way_in(flow, edge.from, edge.way))
        .collect();
    if it.header == 0 {
        // The method begins with its loop: the call of the method is the way in.
        ways.push(FALL_THROUGH);
    }
    ways.sort_unstable();
    ways.dedup();
    ways
}

/// The hooks that see a loop being left by an exception that the method handles: at each handler outside that covers a part of it. Such a
/// handler may also be reached when the loop is over.
fn handlers_outside(flow: &Flow<'_>, it: &Loop) -> Vec<Hook> {
    let thrown = it.body.iter().flat_map(|&block| flow.out_of(block));
    let mut handlers: Vec<u32> =
        thrown.filter(|edge| edge.way == Way::Throw && !it.contains(edge.to)).map(|edge| edge.to).collect();
    handlers.sort_unstable();
    handlers.dedup();
    handlers.into_iter().map(|block| hook_at(flow, Placement::Before, block, Vec::new())).collect()
}

/// The hooks that see a loop being left: on each edge out of it, and before each return within it.
fn exits(flow: &Flow<'_>, it: &Loop) -> Vec<Hook> {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut hooks = Vec::new();
    for &block in &it.body {
        let out = flow.out_of(block).iter().filter(|edge| edge.way != Way::Throw && !it.contains(edge.to));
        edges.extend(out.map(|edge| (edge.to, way_in(flow, block, edge.way))));
        let last = flow.last(block);
        if last.is_return() {
            hooks.push(hook(Placement::Before, last, flow.blocks[block as usize].end as usize - 1));
        }
    }
    hooks.extend(grouped(flow, edges));
    hooks.sort_by_key(|hook| hook.pc);
    hooks
}

fn way_in(flow: &Flow<'_>, from: u32, way: Way) -> u32 {
    match way {
        Way::Fall => FALL_THROUGH,
        _ => flow.last(from).pc,
    }
}

fn hook(placement: Placement, instruction: &Instruction<'_>, number: usize) -> Hook {
    Hook { placement, pc: instruction.pc as u16, instruction: number as u16, edges: Vec::new() }
}

fn hook_at(flow: &Flow<'_>, placement: Placement, block: u32, edges: Vec<u32>) -> Hook {
    let start = flow.blocks[block as usize].start;
    Hook { edges, ..hook(placement, &flow.instructions[start as usize], start as usize) }
}

/// Whether a call in a constructor may be that of another constructor of the class, or of its superclass.
fn is_super_call(class: &ClassFile<'_>, method: &Member<'_>, callee: &str) -> bool {
    let owner = callee.split('(').next().and_then(|name| name.strip_suffix(".<init>"));
    let is_it = |name: &[u8]| owner.is_some_and(|it| String::from_utf8_lossy(name).replace('/', ".") == it);
    method.name == b"<init>" && (is_it(class.name()) || class.super_name().is_some_and(is_it))
}

/// The name of what is called, and whether the call logs.
fn callee_text(
    class: &ClassFile<'_>,
    instruction: &Instruction<'_>,
    index: u16,
) -> Result<(Arc<str>, bool), FlowError> {
    let text = String::from_utf8_lossy;
    if instruction.opcode == op::INVOKEDYNAMIC {
        let site = class.pool.invoke_dynamic(index)?;
        return Ok((format!("indy.{}{}", text(site.name), text(site.descriptor)).into(), false));
    }
    let method = class.pool.member(index)?;
    let owner = text(method.owner).replace('/', ".");
    let callee = format!("{owner}.{}{}", text(method.name), text(method.descriptor));
    Ok((callee.into(), is_log_call(method.owner, method.name)))
}
