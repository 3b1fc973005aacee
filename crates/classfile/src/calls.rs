//! Exceptions that come out of calls.
//!
//! A handler that covers a whole method cannot tell where an exception comes from, and one around a call would keep the method's own
//! handlers from running if it threw the exception again. So each handler of the method that covers such a call gets a block of its own, which
//! covers these calls alone, catches the same type, runs the snippet and throws the exception again, to that handler: an entry of the same type
//! covers the block. A jump would do the same, but C1 compiles no method in which control reaches a handler without an exception.
//! What none of them catches goes to a last block, which throws it again: nobody else in the method would have caught it.
//!
//! A block serves all calls that its handler covers, and learns from a new local variable which of them it was: each call is preceded by a store
//! of its number, which costs compiled code nothing. A block for each call would be too much for C1: its registers for a method are limited, and
//! every block where an exception arrives costs some for each local variable.
//!
//! Whatever else comes out of a block goes where it would go from the start of its handler. The frames are those of this place, so the handlers
//! that cover it fit the block too, and a method that holds a lock there has a handler for everything, without which no
//! compiler takes it.

use crate::additions::Additions;
use crate::instruction::Instruction;
use crate::{Code, Handler, Snippet, Unpatched, op};
use rustc_hash::FxHashMap;

/// A snippet for what comes out of some calls of a method.
#[derive(Debug, Clone, Copy)]
pub struct CallCatch<'p> {
    /// Takes the exception and, above it, the number of the call from the stack.
    pub snippet: Snippet<'p>,
    /// The addresses of the calls, ascending, each with its number.
    pub calls: &'p [(u32, i32)],
}

/// Type and old address of a handler.
pub(crate) type Target = (u16, u32);

/// The most entries of an exception table.
const ENTRIES_MAX: usize = 0xFFFF;

/// Everything to be done for the calls of a method.
#[derive(Debug)]
pub(crate) struct Caught<'p> {
    /// Old addresses of a call and of what follows it, and the block for what comes out, in the order of the exception table.
    pub(crate) entries: Vec<(u32, u32, usize)>,
    pub(crate) blocks: Vec<Block<'p>>,
    /// The variable that has the number of the call.
    pub(crate) local: u16,
    /// The stores of the numbers, each for the call at an old address.
    pub(crate) marks: Vec<(u32, Vec<u8>)>,
}

/// Code that runs a snippet for what comes out of calls.
#[derive(Debug)]
pub(crate) struct Block<'p> {
    /// The handler that it throws to; none if it is the last.
    pub(crate) to: Option<Target>,
    snippet: Snippet<'p>,
}

impl<'p> Caught<'p> {
    /// `from`: no handler without locals may cover what lies before. `local`: the first variable that nobody uses.
    pub(crate) fn new(
        code: &Code<'_>,
        asked: &[CallCatch<'p>],
        (from, local): (Option<u32>, u16),
        additions: &mut Additions,
    ) -> Result<Caught<'p>, Unpatched> {
        let handlers: Vec<Handler> = code.handlers().collect();
        let mut caught = Caught {
            entries: Vec::new(),
            blocks: Vec::new(),
            local,
            marks: Vec::with_capacity(asked.iter().map(|it| it.calls.len()).sum()),
        };
        let mut known = FxHashMap::default();
        let calls = asked.iter().enumerate().flat_map(|(group, it)| {
            it.calls.iter().map(move |&(at, number)| (group, it.snippet, at, number))
        });
        for (group, snippet, at, number) in calls {
            let call = Instruction::decode(code.bytes, at as usize, code.offset)?;
            if !call.is_invoke() {
                return Err(Unpatched::NotAnInstruction { pc: at });
            }
            if from.is_none_or(|from| at < from) {
                return Err(Unpatched::CallNotCovered { pc: at });
            }
            let covering = handlers.iter().filter(|it| it.covers(at)).map(target);
            for to in up_to_any(covering).chain([None]) {
                let block = *known.entry((group, to)).or_insert_with(|| {
                    caught.blocks.push(Block { to, snippet });
                    caught.blocks.len() - 1
                });
                caught.entries.push((at, call.end(), block));
                // Their number is that of the calls times that of the handlers, of which a hostile class may have many.
                if handlers.len() + caught.entries.len() > ENTRIES_MAX {
                    return Err(Unpatched::MethodTooLarge { bytes: code.bytes.len() });
                }
                if to.is_some_and(|it| it.0 == 0) {
                    break;
                }
            }
            let mut mark = push(number, additions)?;
            mark.extend(access(op::ISTORE, local));
            caught.marks.push((at, mark));
        }
        Ok(caught)
    }

    /// The code of each block.
    pub(crate) fn code(&self) -> impl Iterator<Item = Vec<u8>> {
        self.blocks.iter().map(|it| {
            let mut bytes = vec![op::DUP];
            bytes.extend(access(op::ILOAD, self.local));
            bytes.extend_from_slice(it.snippet.bytes);
            bytes.push(op::ATHROW);
            bytes
        })
    }

    /// The words of stack that the blocks need.
    pub(crate) fn stack(&self) -> Option<u16> {
        self.blocks.iter().map(|it| it.snippet.stack).max().unwrap_or(0).checked_add(3)
    }
}

fn target(handler: &Handler) -> Target {
    (handler.catch_type, u32::from(handler.handler))
}

/// Those up to the first for everything.
fn up_to_any(handlers: impl Iterator<Item = Target>) -> impl Iterator<Item = Option<Target>> {
    let mut is_caught = false;
    handlers.map_while(move |it| {
        let reached = !is_caught;
        is_caught = it.0 == 0;
        reached.then_some(Some(it))
    })
}

/// The handlers that cover the block of a handler, in order: this one, and those that cover its start.
pub(crate) fn covering(code: &Code<'_>, own: Target) -> impl Iterator<Item = Target> {
    let others = code.handlers().filter(move |it| it.covers(own.1));
    up_to_any(std::iter::once(own).chain(others.map(|it| target(&it)))).flatten()
}

/// Pushes a number, by three bytes.
fn push(number: i32, additions: &mut Additions) -> Result<Vec<u8>, Unpatched> {
    let (opcode, operand) = match i16::try_from(number) {
        Ok(small) => (op::SIPUSH, small.to_be_bytes()),
        Err(_) => (op::LDC_W, additions.integer(number)?.to_be_bytes()),
    };
    Ok(vec![opcode, operand[0], operand[1]])
}

/// Loads or stores a local variable.
fn access(opcode: u8, local: u16) -> Vec<u8> {
    let [high, low] = local.to_be_bytes();
    if high == 0 { vec![opcode, low] } else { vec![op::WIDE, opcode, high, low] }
}
