//! The condition of a loop: the blocks from its header on that only compute whether it goes on.
//!
//! Such blocks are one expression: from its first instruction to the conditional jump behind it something of it lies on the operand
//! stack, so no statement ends in them. A call may be part of it, as `hasNext` is in the condition of an enhanced `for`. Of these blocks
//! those count from which the loop can be left through others of them; a test inside the body cannot do that. A loop
//! that tests at its end, or somewhere behind its first statement, has no condition in this sense.

use hypocenter_classfile::{ClassFile, Constant, Instruction, descriptor, op};
use rustc_hash::FxHashMap;

use crate::methods::flow::{Flow, Way};
use crate::methods::loops::Loop;
use crate::methods::shape::SHAPES;

/// The blocks of a loop's condition, sorted; none if it has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Condition {
    blocks: Vec<u32>,
}

impl Condition {
    /// Finds the condition of a loop.
    pub(crate) fn of(class: &ClassFile<'_>, flow: &Flow<'_>, it: &Loop) -> Condition {
        let Some(mut tests) = tests(class, flow, it) else { return Condition::default() };
        tests.sort_unstable();
        let mut blocks: Vec<u32> = tests.iter().copied().filter(|&block| leaves(flow, it, block)).collect();
        // Backward from the blocks that leave the loop themselves.
        loop {
            let more: Vec<u32> = tests
                .iter()
                .copied()
                .filter(|block| !blocks.contains(block))
                .filter(|&block| inner(flow, it, block).any(|to| to != it.header && blocks.contains(&to)))
                .collect();
            if more.is_empty() {
                break;
            }
            blocks.extend(more);
        }
        if !blocks.contains(&it.header) {
            return Condition::default();
        }
        blocks.sort_unstable();
        Condition { blocks }
    }

    pub(crate) fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    pub(crate) fn contains(&self, block: u32) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }
}

/// Tests whether a block does nothing but decide the jump that ends it.
pub(crate) fn is_test(class: &ClassFile<'_>, flow: &Flow<'_>, block: u32) -> bool {
    let ends = flow.blocks[block as usize].end as usize;
    ends > 0 && flow.instructions[ends - 1].is_branch() && depth_behind(class, flow, block, 0) == Some(0)
}

/// The most blocks that a condition has; one of more is taken for none.
const TESTS_MAX: usize = 256;

/// Where control goes from a block within the loop, other than by an exception.
fn inner<'f>(flow: &'f Flow<'_>, it: &'f Loop, block: u32) -> impl Iterator<Item = u32> + use<'f> {
    let edges = flow.out_of(block).iter().filter(|edge| edge.way != Way::Throw);
    edges.map(|edge| edge.to).filter(|&to| it.contains(to))
}

fn leaves(flow: &Flow<'_>, it: &Loop, block: u32) -> bool {
    flow.out_of(block).iter().any(|edge| edge.way != Way::Throw && !it.contains(edge.to))
}

/// The blocks that are reached from the header by expressions alone. None if an expression is left half way, or there are too many.
fn tests(class: &ClassFile<'_>, flow: &Flow<'_>, it: &Loop) -> Option<Vec<u32>> {
    let mut seen: FxHashMap<u32, i32> = FxHashMap::default();
    let mut pending = vec![(it.header, 0)];
    let mut tests = Vec::new();
    while let Some((block, depth)) = pending.pop() {
        if let Some(before) = seen.insert(block, depth) {
            if before != depth {
                return None;
            }
            continue;
        }
        let Some(depth_behind) = depth_behind(class, flow, block, depth) else {
            if depth > 0 {
                return None;
            }
            continue;
        };
        tests.push(block);
        if tests.len() > TESTS_MAX {
            return None;
        }
        pending.extend(inner(flow, it, block).filter(|&to| to != it.header).map(|to| (to, depth_behind)));
    }
    Some(tests)
}

/// The words of the expression on the operand stack behind a block that began with some of them. None if a statement begins or ends in it.
fn depth_behind(class: &ClassFile<'_>, flow: &Flow<'_>, block: u32, mut depth: i32) -> Option<i32> {
    let range = flow.blocks[block as usize];
    let instructions = &flow.instructions[range.start as usize..range.end as usize];
    let (last, rest) = instructions.split_last()?;
    let (rest, taken) = match last.opcode {
        op::TABLESWITCH | op::LOOKUPSWITCH => return None,
        _ if last.is_branch() => (rest, Some(SHAPES[usize::from(last.opcode)].takes)),
        op::GOTO | op::GOTO_W => (rest, None),
        _ => (instructions, None),
    };
    for it in rest.iter().filter(|it| it.opcode != op::NOP) {
        let (takes, gives) = change(class, it)?;
        if depth < takes || depth - takes + gives <= 0 {
            return None;
        }
        depth += gives - takes;
    }
    match taken {
        Some(taken) => {
            depth -= taken.iter().map(|&it| i32::from(it)).sum::<i32>();
            (depth >= 0).then_some(depth)
        }
        None => (depth > 0).then_some(depth),
    }
}

/// The words that an instruction takes from the operand stack and puts there; none if it has another effect than that and a store to a
/// local.
fn change(class: &ClassFile<'_>, it: &Instruction<'_>) -> Option<(i32, i32)> {
    use op::*;
    let local = |opcode: u8| match opcode {
        ILOAD | FLOAD | ALOAD | ILOAD_0..=ILOAD_3 | FLOAD_0..=FLOAD_3 | ALOAD_0..=ALOAD_3 => Some((0, 1)),
        LLOAD | DLOAD | LLOAD_0..=LLOAD_3 | DLOAD_0..=DLOAD_3 => Some((0, 2)),
        ISTORE | FSTORE | ASTORE | ISTORE_0..=ISTORE_3 | FSTORE_0..=FSTORE_3 | ASTORE_0..=ASTORE_3 => {
            Some((1, 0))
        }
        LSTORE | DSTORE | LSTORE_0..=LSTORE_3 | DSTORE_0..=DSTORE_3 => Some((2, 0)),
        IINC => Some((0, 0)),
        _ => None,
    };
    let opcode = if it.opcode == WIDE { it.bytes[1] } else { it.opcode };
    if let Some(change) = local(opcode) {
        return Some(change);
    }
    match opcode {
        DUP => Some((1, 2)),
        DUP_X1 => Some((2, 3)),
        DUP_X2 => Some((3, 4)),
        DUP2 => Some((2, 4)),
        DUP2_X1 => Some((3, 5)),
        DUP2_X2 => Some((4, 6)),
        SWAP => Some((2, 2)),
        // A value that is thrown away ends a statement.
        POP | POP2 => None,
        GETSTATIC | PUTSTATIC | GETFIELD | PUTFIELD => {
            let member = class.pool.member(it.pool_index()?).ok()?;
            let words = i32::from(descriptor::type_words(member.descriptor));
            Some(match opcode {
                GETSTATIC => (0, words),
                GETFIELD => (1, words),
                PUTSTATIC => (words, 0),
                _ => (words + 1, 0),
            })
        }
        INVOKEVIRTUAL..=INVOKEDYNAMIC => {
            let index = it.pool_index()?;
            let text = match opcode {
                INVOKEDYNAMIC => class.pool.invoke_dynamic(index).ok()?.descriptor,
                _ => class.pool.member(index).ok()?.descriptor,
            };
            let receiver = i32::from(!matches!(opcode, INVOKESTATIC | INVOKEDYNAMIC));
            let takes = i32::from(descriptor::argument_words(text)?) + receiver;
            Some((takes, i32::from(descriptor::type_words(descriptor::return_type(text)))))
        }
        MULTIANEWARRAY => Some((i32::from(it.bytes[3]), 1)),
        LDC2_W => Some((0, 2)),
        LDC | LDC_W => match class.pool.get(it.pool_index()?).ok()? {
            Constant::Long(_) | Constant::Double(_) => None,
            _ => Some((0, 1)),
        },
        _ => {
            let shape = &SHAPES[usize::from(opcode)];
            let takes: i32 = shape.takes.iter().map(|&it| i32::from(it)).sum();
            Some((takes, shape.gives.into()))
        }
    }
}
