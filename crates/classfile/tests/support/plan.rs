//! Hooks at many points, made of instructions that change nothing.

use hypocenter_classfile::{
    CallCatch, ClassFile, Code, Insertion, Instruction, MethodPatch, Patcher, Place, Snippet, Unpatched,
    descriptor, op,
};
use std::collections::BTreeSet;

/// Pushes and drops a number.
pub const IDLE: Snippet<'static> = Snippet { bytes: &[op::SIPUSH, 0, 7, op::POP], stack: 1 };
/// Copies and drops the value on the stack.
pub const LOOK: Snippet<'static> = Snippet { bytes: &[op::DUP, op::POP], stack: 1 };

/// Which hooks to insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    /// Before and after every call, at entry, and before every boolean return.
    Calls,
    /// Before every instruction that starts a basic block, and a catch-all.
    Blocks,
    /// On the edges into, around and out of every loop, before calls, and a catch-all.
    Edges,
    /// Around every call, and a catch-all.
    Thrown,
    /// Before every instruction that starts a basic block, and every conditional jump as another that does the same.
    Jumps,
}

/// What became of the methods.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tally {
    pub patched: usize,
    pub insertions: usize,
    pub edges: usize,
    pub unseparable: usize,
    pub calls: usize,
    pub uncovered: usize,
    pub unpatched: Vec<Unpatched>,
}

/// Owned, as [`Place::Edges`] borrows.
#[derive(Debug, Clone)]
pub struct Edge {
    pub at: u32,
    pub fall: bool,
    pub from: Vec<u32>,
}

pub fn instructions<'a>(code: &Code<'a>) -> Vec<Instruction<'a>> {
    code.instructions().map_while(Result::ok).collect()
}

pub fn block_starts(code: &Code<'_>) -> BTreeSet<u32> {
    let mut starts = BTreeSet::from([0]);
    let list = instructions(code);
    for (n, instruction) in list.iter().enumerate() {
        let mut jumps = false;
        for target in instruction.targets() {
            starts.insert(target);
            jumps = true;
        }
        if (jumps || !instruction.falls_through()) && n + 1 < list.len() {
            starts.insert(instruction.end());
        }
    }
    starts.extend(code.handlers().map(|handler| u32::from(handler.handler)));
    starts
}

/// Entry, back and exit edges of what looks like a loop: a jump backwards and the code it spans.
pub fn loop_edges(code: &Code<'_>) -> Vec<Edge> {
    let list = instructions(code);
    let mut edges = Vec::new();
    for back in &list {
        for head in back.targets().filter(|target| *target <= back.pc) {
            let inside = head..back.end();
            let outside = |i: &&Instruction<'_>| !inside.contains(&i.pc) && i.targets().any(|t| t == head);
            let from = list.iter().filter(outside).map(|i| i.pc).collect();
            edges.push(Edge { at: head, fall: true, from });
            edges.push(Edge { at: head, fall: false, from: vec![back.pc] });
            for exit in list.iter().filter(|i| inside.contains(&i.pc)) {
                let targets: BTreeSet<u32> =
                    exit.targets().filter(|target| !inside.contains(target)).collect();
                edges.extend(targets.into_iter().map(|at| Edge { at, fall: false, from: vec![exit.pc] }));
            }
        }
    }
    edges
}

fn simple(class: &ClassFile<'_>, method: usize, code: &Code<'_>, hooks: Hooks) -> Vec<Insertion<'static>> {
    let member = &class.methods()[method];
    let mut insertions = Vec::new();
    let mut push = |at, place, snippet| insertions.push(Insertion { at, place, snippet });
    if matches!(hooks, Hooks::Blocks | Hooks::Jumps) {
        for at in block_starts(code) {
            push(at, Place::Before, IDLE);
        }
        return insertions;
    }
    push(0, Place::Entry, IDLE);
    for instruction in instructions(code) {
        if instruction.is_invoke() {
            push(instruction.pc, Place::Before, IDLE);
            push(instruction.pc, Place::After, IDLE);
        } else if instruction.opcode == op::IRETURN && descriptor::return_type(member.descriptor) == b"Z" {
            push(instruction.pc, Place::Before, LOOK);
        }
    }
    insertions
}

/// Another jump that does the same as one of this opcode behind a snippet: a comparison with nothing as one of two, and one of two numbers
/// as that of their order, which `compare` calls a method for.
fn other_jump(opcode: u8, compare: &'static [u8]) -> Option<(Snippet<'static>, u8)> {
    const ZERO: Snippet<'static> = Snippet { bytes: &[op::ICONST_0], stack: 1 };
    const NULL: Snippet<'static> = Snippet { bytes: &[op::ACONST_NULL], stack: 1 };
    match opcode {
        op::IFEQ..=op::IFLE => Some((ZERO, opcode - op::IFEQ + op::IF_ICMPEQ)),
        op::IF_ICMPEQ..=op::IF_ICMPLE => {
            Some((Snippet { bytes: compare, stack: 0 }, opcode - op::IF_ICMPEQ + op::IFEQ))
        }
        op::IFNULL | op::IFNONNULL => Some((NULL, opcode - op::IFNULL + op::IF_ACMPEQ)),
        _ => None,
    }
}

/// Patches every method that has code.
pub fn patch(class: &ClassFile<'_>, hooks: Hooks, tally: &mut Tally) -> Vec<u8> {
    let mut patcher = Patcher::new(class);
    let compare: &'static [u8] = match hooks {
        Hooks::Jumps => {
            let method = patcher.method_ref(b"java/lang/Integer", b"compare", b"(II)I").unwrap_or(0);
            let [high, low] = method.to_be_bytes();
            vec![op::INVOKESTATIC, high, low].leak()
        }
        _ => &[],
    };
    for (n, method) in class.methods().iter().enumerate() {
        let Ok(Some(code)) = method.code() else { continue };
        let edges = if hooks == Hooks::Edges { loop_edges(&code) } else { Vec::new() };
        let mut insertions = simple(class, n, &code, hooks);
        let catch_all = (hooks != Hooks::Calls).then_some(&IDLE);
        let mut jumps = Vec::new();
        for it in instructions(&code).iter().filter(|_| hooks == Hooks::Jumps) {
            if let Some((snippet, opcode)) = other_jump(it.opcode, compare) {
                insertions.push(Insertion { at: it.pc, place: Place::Before, snippet });
                jumps.push((it.pc, opcode));
            }
        }
        let jumps = jumps.as_slice();
        let mut calls = Vec::new();
        for it in instructions(&code).iter().filter(|it| hooks == Hooks::Thrown && it.is_invoke()) {
            calls.push(CallCatch { at: it.pc, snippet: LOOK });
        }
        // Those that a constructor makes before it has called that of its superclass cannot be seen.
        while let Err(Unpatched::CallNotCovered { pc }) =
            patcher.method(n, &MethodPatch { calls: &calls, ..MethodPatch::default() })
        {
            calls.retain(|it| it.at != pc);
            tally.uncovered += 1;
        }
        tally.calls += calls.len();
        let calls = calls.as_slice();
        for edge in edges.iter().take(64) {
            let place = Place::Edges { fall: edge.fall, from: &edge.from };
            insertions.push(Insertion { at: edge.at, place, snippet: IDLE });
            if let Err(Unpatched::EdgeNotSeparable { .. }) = patcher
                .method(n, &MethodPatch { insertions: &insertions, catch_all, jumps, calls, locals: 0 })
            {
                insertions.pop();
                tally.unseparable += 1;
            } else {
                tally.edges += 1;
            }
        }
        match patcher.method(n, &MethodPatch { insertions: &insertions, catch_all, jumps, calls, locals: 0 })
        {
            Ok(()) => {
                tally.patched += 1;
                tally.insertions += insertions.len();
            }
            Err(why) => tally.unpatched.push(why),
        }
    }
    patcher.finish()
}
