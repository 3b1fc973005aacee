//! Exceptions that come out of one call.
//!
//! A handler that covers a whole method cannot tell where an exception comes from, and one around a call would keep the method's own
//! handlers from running if it threw the exception again. So each handler of the method that covers the call gets a block of its own, which covers the
//! call alone, catches the same type, runs the snippet and throws the exception again, to that handler: an entry of the same type covers the
//! block. A jump would do the same, but C1 compiles no method in which control reaches a handler without an exception. What
//! none of them catches runs a last block, which throws it again: nobody else in the method would have caught it.
//!
//! Whatever else comes out of a block goes where it would go from the start of its handler. The frames are those of this place, so the handlers
//! that cover it fit the block too, and a method that holds a lock there has a handler for everything, without which no
//! compiler takes it.

use crate::instruction::Instruction;
use crate::{Code, Handler, Snippet, Unpatched};

/// A snippet for what comes out of a call.
#[derive(Debug, Clone, Copy)]
pub struct CallCatch<'p> {
    /// The address of the call.
    pub at: u32,
    /// Starts with the exception on the stack and must leave it there.
    pub snippet: Snippet<'p>,
}

/// A block behind the code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CatchBlock<'p> {
    /// The old addresses of the call and of what follows it.
    pub(crate) call: u32,
    pub(crate) end: u32,
    pub(crate) snippet: Snippet<'p>,
    /// The type caught and the old address of the handler; none for the last block of a call.
    pub(crate) to: Option<(u16, u32)>,
}

impl CatchBlock<'_> {
    /// The length of its code, with the throw behind the snippet.
    pub(crate) fn len(&self) -> usize {
        self.snippet.bytes.len() + 1
    }

    /// Type and old address of the handlers that cover its code, in order.
    pub(crate) fn covered_by(&self, code: &Code<'_>) -> Vec<(u16, u32)> {
        let Some(own) = self.to else { return Vec::new() };
        let mut all = vec![own];
        let others = code.handlers().filter(|it| it.covers(own.1));
        for it in others {
            if all.last().is_some_and(|it| it.0 == 0) {
                break;
            }
            all.push((it.catch_type, u32::from(it.handler)));
        }
        all
    }
}

/// The most entries of an exception table.
const ENTRIES_MAX: usize = 0xFFFF;

/// The blocks for some calls, in the order in which the exception table has to name them. `from`: no handler without locals may cover what
/// lies before.
pub(crate) fn blocks<'p>(
    code: &Code<'_>,
    calls: &[CallCatch<'p>],
    from: Option<u32>,
) -> Result<Vec<CatchBlock<'p>>, Unpatched> {
    let handlers: Vec<Handler> = code.handlers().collect();
    let mut blocks = Vec::new();
    for call in calls {
        let instruction = Instruction::decode(code.bytes, call.at as usize, code.offset)?;
        if !instruction.is_invoke() {
            return Err(Unpatched::NotAnInstruction { pc: call.at });
        }
        if from.is_none_or(|from| call.at < from) {
            return Err(Unpatched::CallNotCovered { pc: call.at });
        }
        let block = |to| CatchBlock { call: call.at, end: instruction.end(), snippet: call.snippet, to };
        let covering = handlers.iter().filter(|it| it.covers(call.at));
        let mut is_caught = false;
        for it in covering {
            blocks.push(block(Some((it.catch_type, u32::from(it.handler)))));
            is_caught = it.catch_type == 0;
            if is_caught {
                break;
            }
        }
        if !is_caught {
            blocks.push(block(None));
        }
        // Their number is that of the calls times that of the handlers, of which a hostile class may have many.
        if handlers.len() + blocks.len() > ENTRIES_MAX {
            return Err(Unpatched::MethodTooLarge { bytes: code.bytes.len() });
        }
    }
    Ok(blocks)
}
