//! What to insert where, and the class that comes out.

use crate::additions::{Additions, Mark};
use crate::instruction::{Jump, jump};
use crate::layout::Layout;
use crate::rewrite::Rewrite;
use crate::{CallCatch, ClassFile, Unpatched, calls, catch};
use std::ops::Range;

/// Straight-line code to insert: no branches, no switches, and no stores to locals that the method uses. What two snippets leave on the stack
/// and take from it must come out even before control can go elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snippet<'p> {
    /// The instructions.
    pub bytes: &'p [u8],
    /// The words of operand stack it needs above what is there already.
    pub stack: u16,
}

/// One snippet at one point.
#[derive(Debug, Clone, Copy)]
pub struct Insertion<'p> {
    /// The address of the instruction in the original code.
    pub at: u32,
    /// Where it goes in relation to that instruction.
    pub place: Place<'p>,
    /// What is inserted.
    pub snippet: Snippet<'p>,
}

/// Where a snippet goes.
///
/// Between two instructions the layout is `After` of the first and `Entry`, then the *boundary*, then `Edges` and
/// `Before` of the second. Exception ranges and lines start and end at the boundary: an exception thrown by an
/// `After` snippet is caught as if the instruction before had thrown it, one thrown by a `Before` snippet as if the
/// instruction behind had. (At address 0 lines and local variables start before the `Entry` snippets, so that these
/// have a line too. A handler that covers its own first instruction is resumed behind the snippets there.) Several
/// insertions at one point run in the order given, except that `Edges` come before what more ways in have to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'p> {
    /// Whenever control reaches the instruction, however it gets there.
    Before,
    /// When the instruction has ended and control goes on to the next one without a jump. Never runs, and is left
    /// out, behind an instruction that does not fall through.
    After,
    /// Once when the method is entered; `at` is ignored.
    Entry,
    /// Before the instruction, only on some ways in.
    Edges {
        /// From the instruction before it in the code, or at address 0 from the caller.
        fall: bool,
        /// From the jumps at these addresses.
        from: &'p [u32],
    },
}

/// Everything to be done to one method.
#[derive(Debug, Clone, Copy, Default)]
pub struct MethodPatch<'p> {
    /// The insertions, in any order.
    pub insertions: &'p [Insertion<'p>],
    /// Runs when an exception leaves the method: starts with the `Throwable` on the stack and must leave it there.
    /// Covers the whole code, and in a constructor what comes after the last point where `this` may be uninitialised;
    /// where there is no such point (a constructor that always throws first), it is left out.
    pub catch_all: Option<&'p Snippet<'p>>,
    /// Conditional jumps by their addresses, ascending, each with the opcode that it gets instead of its own. What the new one takes from the
    /// stack is left there by the last snippet before it.
    pub jumps: &'p [(u32, u8)],
    /// What runs when an exception comes out of a call, before any handler of the method: one for each call, in ascending order of addresses.
    pub calls: &'p [CallCatch<'p>],
    /// Words of local variables that the snippets use, behind those of the method.
    pub locals: u16,
}

/// Writes a class again with patched methods.
#[derive(Debug)]
pub struct Patcher<'a> {
    class: &'a ClassFile<'a>,
    additions: Additions,
    /// The new `Code` attributes, one behind the other.
    output: Vec<u8>,
    /// Where in `output` each method's attribute is.
    patched: Vec<Option<Range<usize>>>,
    /// Scratch space, kept to save allocations.
    layout: Layout,
}

impl<'a> Patcher<'a> {
    /// Starts with the class as it is.
    pub fn new(class: &'a ClassFile<'a>) -> Self {
        Patcher {
            class,
            additions: Additions::new(class.pool.len()),
            output: Vec::new(),
            patched: vec![None; class.methods().len()],
            layout: Layout::default(),
        }
    }

    /// The index of a text constant.
    pub fn utf8(&mut self, text: &[u8]) -> Result<u16, Unpatched> {
        self.additions.utf8(text)
    }

    /// The index of a class constant, by internal name.
    pub fn class(&mut self, name: &[u8]) -> Result<u16, Unpatched> {
        self.additions.class(name)
    }

    /// The index of a method of a class.
    pub fn method_ref(&mut self, owner: &[u8], name: &[u8], descriptor: &[u8]) -> Result<u16, Unpatched> {
        self.additions.method_ref(owner, name, descriptor)
    }

    /// The index of an `int` constant.
    pub fn integer(&mut self, value: i32) -> Result<u16, Unpatched> {
        self.additions.integer(value)
    }

    /// The index of a string literal.
    pub fn string(&mut self, text: &[u8]) -> Result<u16, Unpatched> {
        self.additions.string(text)
    }

    /// The state of the additions, to come back to when a method is given up.
    pub fn mark(&self) -> Mark {
        self.additions.mark()
    }

    /// Takes back the constants added since the mark. Methods patched since must not refer to them.
    pub fn rollback(&mut self, mark: Mark) {
        self.additions.rollback(mark);
    }

    /// Patches the method at an index of [`ClassFile::methods`], from its original code. If that fails the method
    /// stays as it was, and so do the additions.
    pub fn method(&mut self, index: usize, patch: &MethodPatch<'_>) -> Result<(), Unpatched> {
        if self.patched.get(index).is_none() {
            return Err(Unpatched::NoCode);
        }
        if self.output.capacity() == 0 {
            // About what a class with a hook before every call comes to; saves growing step by step.
            self.output.reserve(self.class.bytes().len());
        }
        let (start, mark) = (self.output.len(), self.additions.mark());
        match self.rewrite(index, patch) {
            Ok(()) => {
                self.patched[index] = Some(start..self.output.len());
                Ok(())
            }
            Err(why) => {
                self.output.truncate(start);
                self.additions.rollback(mark);
                Err(why)
            }
        }
    }

    fn rewrite(&mut self, index: usize, patch: &MethodPatch<'_>) -> Result<(), Unpatched> {
        let member = &self.class.methods()[index];
        let Some(attribute) = member.code_attribute() else { return Err(Unpatched::NoCode) };
        let Some(code) = member.code()? else { return Err(Unpatched::NoCode) };
        let layout = &mut self.layout;
        layout.scan(&code)?;
        let guard = match patch.catch_all {
            Some(snippet) => {
                let from = catch::protected_from(self.class, member, &code, &layout.pcs)?;
                Some((snippet, from.ok_or(Unpatched::NothingToGuard)?))
            }
            None => None,
        };
        for &(pc, _) in patch.jumps {
            let is_jump = layout.is_instruction(pc) && jump(code.bytes[pc as usize]) == Jump::Short;
            if !is_jump {
                return Err(Unpatched::NotAnInstruction { pc });
            }
        }
        let blocks = match patch.calls {
            [] => Vec::new(),
            calls => {
                let from = catch::protected_from(self.class, member, &code, &layout.pcs)?;
                calls::blocks(&code, calls, from)?
            }
        };
        layout.arrange(&code, patch.insertions, &blocks, guard.map(|(snippet, _)| snippet))?;
        Rewrite {
            class: self.class,
            name_index: attribute.name_index,
            code: &code,
            layout,
            insertions: patch.insertions,
            jumps: patch.jumps,
            locals: patch.locals,
            blocks: &blocks,
            member,
            guard,
            additions: &mut self.additions,
            out: &mut self.output,
        }
        .write()
    }

    /// The class file: unpatched parts are copied as they are.
    pub fn finish(self) -> Vec<u8> {
        const COUNT_AT: usize = 8;
        let bytes = self.class.bytes();
        let pool_end = self.class.pool.end();
        let mut out = Vec::with_capacity(bytes.len() + self.additions.bytes().len() + self.output.len());
        out.extend_from_slice(&bytes[..COUNT_AT]);
        out.extend_from_slice(&self.additions.count().to_be_bytes());
        out.extend_from_slice(&bytes[COUNT_AT + 2..pool_end]);
        out.extend_from_slice(self.additions.bytes());
        let mut copied = pool_end;
        for (member, patched) in self.class.methods().iter().zip(&self.patched) {
            let (Some(range), Some(attribute)) = (patched, member.code_attribute()) else { continue };
            out.extend_from_slice(&bytes[copied..attribute.offset]);
            out.extend_from_slice(&self.output[range.clone()]);
            copied = attribute.body_offset() + attribute.body.len();
        }
        out.extend_from_slice(&bytes[copied..]);
        out
    }
}
