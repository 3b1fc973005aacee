//! Where everything goes: the maps from old addresses to new ones.

use crate::calls::CatchBlock;
use crate::instruction::{self, Instruction, padding};
use crate::{Code, Error, Insertion, Place, Snippet, Unpatched, edges, op};

/// No instruction starts here.
const NONE: u32 = u32::MAX;
/// The source of a landing that comes from the exception table.
pub(crate) const HANDLER: u32 = u32::MAX;
/// The source of a landing behind the snippets of a handler that covers itself.
const RESUMED: u32 = u32::MAX - 2;
/// The length of the jump there: a wide one, which always reaches.
pub(crate) const RESUME_LEN: usize = 5;

/// In which part of the layout around an instruction a snippet stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Before the boundary.
    Ahead,
    /// Between boundary and instruction; jumps may land between two of them.
    Chain,
    /// Directly before a `goto`, behind every landing: on the way out.
    Leaving,
}

/// One snippet at its position; sorted, they are in the order of the new code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub(crate) at: u32,
    pub(crate) part: Part,
    pub(crate) order: u32,
    /// Index of the insertion.
    pub(crate) insertion: u32,
}

/// A way into `target` that skips the first `offset` bytes behind the boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Landing {
    pub(crate) target: u32,
    pub(crate) source: u32,
    pub(crate) offset: u32,
}

/// The layout of one method; kept between methods for its buffers.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// The old addresses of the instructions.
    pub(crate) pcs: Vec<u32>,
    /// Old address to new boundary, dense; one entry more than the code has bytes.
    boundary: Vec<u32>,
    /// Old address to the new one of the instruction itself.
    place: Vec<u32>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) landings: Vec<Landing>,
    /// The old addresses of instructions at whose boundary nothing lands, ascending: control only falls there, maybe with what a snippet has left
    /// on the stack.
    pub(crate) fallen_into: Vec<u32>,
    /// The old addresses of handlers that cover their own snippets, ascending.
    ///
    /// `finally` and `synchronized` are compiled to handlers that cover themselves, which nothing shows as long as their first instructions cannot
    /// throw. A snippet can, and C1 compiles no method in which a handler is its own handler. So what a snippet there
    /// throws goes to a jump behind the code, which resumes the handler behind its snippets: it still does its work.
    pub(crate) resumed: Vec<u32>,
    /// The length of the new code: what was there, with the blocks for calls behind it, with the jumps to `resumed`, and with the handler of
    /// `catch_all`.
    pub(crate) body_len: usize,
    pub(crate) calls_end: usize,
    pub(crate) blocks_end: usize,
    pub(crate) code_len: usize,
    /// Words of stack that the snippets in `slots` need.
    pub(crate) stack: u16,
    offset: usize,
}

impl Layout {
    /// Finds the instructions.
    pub(crate) fn scan(&mut self, code: &Code<'_>) -> Result<(), Error> {
        let len = code.bytes.len();
        self.offset = code.offset;
        self.pcs.clear();
        self.boundary.clear();
        self.boundary.resize(len + 1, NONE);
        // What is left of the method before does not matter: only addresses with a boundary are looked up.
        if self.place.len() <= len {
            self.place.resize(len + 1, NONE);
        }
        let mut pc = 0;
        while pc < len {
            self.pcs.push(pc as u32);
            self.boundary[pc] = 0;
            pc += instruction::length(code.bytes, pc, code.offset)?;
        }
        self.boundary[len] = 0;
        Ok(())
    }

    pub(crate) fn is_instruction(&self, pc: u32) -> bool {
        (pc as usize) < self.boundary.len() - 1 && self.boundary[pc as usize] != NONE
    }

    /// Gives every instruction and every snippet its new address.
    pub(crate) fn arrange(
        &mut self,
        code: &Code<'_>,
        insertions: &[Insertion<'_>],
        blocks: &[CatchBlock<'_>],
        handler: Option<&Snippet<'_>>,
    ) -> Result<(), Unpatched> {
        self.slots.clear();
        self.landings.clear();
        self.fallen_into.clear();
        self.stack = 0;
        let mut has_edges = false;
        for (n, insertion) in insertions.iter().enumerate() {
            let (at, part) = match insertion.place {
                Place::Entry => (0, Part::Ahead),
                _ if !self.is_instruction(insertion.at) => {
                    return Err(Unpatched::NotAnInstruction { pc: insertion.at });
                }
                Place::Before => (insertion.at, Part::Chain),
                Place::Edges { .. } => {
                    has_edges = true;
                    (insertion.at, Part::Chain)
                }
                Place::After => {
                    let instruction = Instruction::decode(code.bytes, insertion.at as usize, code.offset)?;
                    if !instruction.falls_through() {
                        continue;
                    }
                    (instruction.end(), Part::Ahead)
                }
            };
            self.stack = self.stack.max(insertion.snippet.stack);
            self.slots.push(Slot { at, part, order: n as u32, insertion: n as u32 });
        }
        self.slots.sort_unstable();
        if has_edges {
            edges::separate(self, code, insertions)?;
            self.slots.sort_unstable();
            self.landings.sort_unstable();
        }
        self.assign(code, insertions);
        self.resume(code);
        self.calls_end = self.body_len + blocks.iter().map(CatchBlock::len).sum::<usize>();
        self.blocks_end = self.calls_end + self.resumed.len() * RESUME_LEN;
        self.code_len = self.blocks_end + handler.map_or(0, |snippet| snippet.bytes.len() + 1);
        if self.code_len > 0xFFFF {
            return Err(Unpatched::MethodTooLarge { bytes: self.code_len });
        }
        Ok(())
    }

    fn assign(&mut self, code: &Code<'_>, insertions: &[Insertion<'_>]) {
        let end = code.bytes.len();
        let snippet_len = |slot: &Slot| insertions[slot.insertion as usize].snippet.bytes.len();
        let mut new = 0usize;
        let mut slot = 0;
        for (n, &pc) in self.pcs.iter().enumerate() {
            let old = pc as usize;
            // Addresses beyond 32 bits can only come about when the total is refused anyway.
            self.boundary[old] = new as u32;
            if self.slots.get(slot).is_some_and(|next| next.at == pc) {
                let here = self.slots[slot..].iter().take_while(|slot| slot.at == pc);
                for next in here {
                    new += snippet_len(next);
                    slot += 1;
                    if next.part == Part::Ahead {
                        self.boundary[old] = new as u32;
                    }
                }
            }
            self.place[old] = new as u32;
            let next = self.pcs.get(n + 1).map_or(end, |next| *next as usize);
            new += next - old;
            if matches!(code.bytes[old], op::TABLESWITCH | op::LOOKUPSWITCH) {
                new = new + padding(self.place[old] as usize) - padding(old);
            }
        }
        new += self.slots[slot..].iter().map(snippet_len).sum::<usize>();
        self.boundary[end] = new as u32;
        self.place[end] = new as u32;
        self.body_len = new;
    }

    /// Finds the handlers that cover their own snippets.
    fn resume(&mut self, code: &Code<'_>) {
        self.resumed.clear();
        for entry in code.handlers() {
            let handler = u32::from(entry.handler);
            if entry.covers(handler) && self.is_instruction(handler) && self.snippets(handler) > 0 {
                self.resumed.push(handler);
            }
        }
        self.resumed.sort_unstable();
        self.resumed.dedup();
        for n in 0..self.resumed.len() {
            let target = self.resumed[n];
            self.landings.push(Landing { target, source: RESUMED, offset: self.snippets(target) });
        }
        if !self.resumed.is_empty() {
            self.landings.sort_unstable();
        }
    }

    /// The length of what stands between the boundary and the instruction at `pc`.
    fn snippets(&self, pc: u32) -> u32 {
        self.place[pc as usize] - self.boundary[pc as usize]
    }

    fn bad(&self, what: &'static str, pc: u32) -> Error {
        Error::BadTarget { what, pc, offset: self.offset }
    }

    /// The boundary before the instruction at `pc`; the end of the code counts as one.
    #[inline]
    pub(crate) fn boundary(&self, what: &'static str, pc: u32) -> Result<u32, Error> {
        match self.boundary.get(pc as usize) {
            Some(&new) if new != NONE => Ok(new),
            _ => Err(self.bad(what, pc)),
        }
    }

    /// For line and variable tables, which a JVM does not check as strictly: an address inside an instruction
    /// stands for the next one, and the start of the method stays the start.
    #[inline]
    pub(crate) fn loose(&self, pc: u32) -> Option<u32> {
        if pc == 0 {
            return Some(0);
        }
        match *self.boundary.get(pc as usize)? {
            NONE => {
                let next = self.pcs.get(self.pcs.partition_point(|start| *start < pc));
                let next = next.map_or(self.boundary.len() - 1, |next| *next as usize);
                Some(self.boundary[next])
            }
            new => Some(new),
        }
    }

    /// Where the instruction at `pc` itself has gone.
    #[inline]
    pub(crate) fn place(&self, what: &'static str, pc: u32) -> Result<u32, Error> {
        match self.place.get(pc as usize) {
            Some(&new) if self.is_instruction(pc) => Ok(new),
            _ => Err(self.bad(what, pc)),
        }
    }

    /// Where a jump from `source` (or [`HANDLER`]) to `target` has to go.
    #[inline]
    pub(crate) fn landing(&self, what: &'static str, source: u32, target: u32) -> Result<u32, Error> {
        if !self.is_instruction(target) {
            return Err(self.bad(what, target));
        }
        let new = self.boundary[target as usize];
        if self.landings.is_empty() {
            return Ok(new);
        }
        let found = self.landings.binary_search_by_key(&(target, source), |l| (l.target, l.source));
        Ok(new + found.map_or(0, |n| self.landings[n].offset))
    }

    /// The landings behind the boundary of `target`, as offsets from it, without repetition.
    pub(crate) fn inner_landings(&self, target: u32, offsets: &mut Vec<u32>) {
        offsets.clear();
        if !self.landings.is_empty() {
            let first = self.landings.partition_point(|l| l.target < target);
            offsets
                .extend(self.landings[first..].iter().take_while(|l| l.target == target).map(|l| l.offset));
            offsets.sort_unstable();
            offsets.dedup();
        }
    }
}
