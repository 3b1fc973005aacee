//! Writing the new `Code` attribute.

use crate::additions::Additions;
use crate::bytes::{put_u16, put_u32, u16_at, u32_at};
use crate::calls::CatchBlock;
use crate::frames::{self, Spelled};
use crate::instruction::{Jump, jump, padding};
use crate::layout::{HANDLER, Layout, RESUME_LEN};
use crate::{ClassFile, Code, Error, Handler, Insertion, Member, Snippet, Unpatched, op, tables};
use std::collections::BTreeMap;
use std::ops::Range;

/// The first version whose verifier needs stack map frames.
const FRAMES_MAJOR: u16 = 50;
const EXCEPTIONS: &str = "exception table";
/// The length of an entry of the exception table.
const ENTRY_LEN: usize = 8;

/// Everything needed to write one method.
pub(crate) struct Rewrite<'r, 'a, 'p> {
    pub(crate) class: &'r ClassFile<'a>,
    pub(crate) name_index: u16,
    pub(crate) code: &'r Code<'a>,
    pub(crate) layout: &'r Layout,
    pub(crate) insertions: &'r [Insertion<'p>],
    pub(crate) jumps: &'r [(u32, u8)],
    pub(crate) blocks: &'r [CatchBlock<'p>],
    pub(crate) locals: u16,
    pub(crate) member: &'r Member<'a>,
    /// The `catch_all` snippet and the old address from which it protects.
    pub(crate) guard: Option<(&'r Snippet<'p>, u32)>,
    pub(crate) additions: &'r mut Additions,
    pub(crate) out: &'r mut Vec<u8>,
}

impl Rewrite<'_, '_, '_> {
    pub(crate) fn write(mut self) -> Result<(), Unpatched> {
        let start = self.out.len();
        self.out.reserve(self.code.bytes.len() + self.layout.code_len + 64);
        self.u16(self.name_index);
        self.out.extend_from_slice(&[0; 4]);
        self.u16(self.max_stack()?);
        self.u16(self.code.max_locals.checked_add(self.locals).ok_or(Unpatched::TooManyLocals)?);
        self.out.extend_from_slice(&(self.layout.code_len as u32).to_be_bytes());
        self.instructions()?;
        self.handlers()?;
        self.attributes()?;
        let len = self.out.len() - start - 6;
        let len = u32::try_from(len).map_err(|_| Unpatched::MethodTooLarge { bytes: len })?;
        put_u32(self.out, start + 2, len);
        Ok(())
    }

    fn u16(&mut self, value: u16) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    fn max_stack(&self) -> Result<u16, Unpatched> {
        let inserted = self.code.max_stack.checked_add(self.layout.stack);
        let around = self.blocks.iter().map(|it| it.snippet.stack).max();
        let caught = self.guard.map(|(snippet, _)| snippet.stack).max(around);
        let caught = caught.map_or(Some(0), |it| it.checked_add(1));
        inserted.zip(caught).map(|(a, b)| a.max(b)).ok_or(Unpatched::StackTooDeep)
    }

    fn snippet(&mut self, insertion: u32) {
        self.out.extend_from_slice(self.insertions[insertion as usize].snippet.bytes);
    }

    fn instructions(&mut self) -> Result<(), Unpatched> {
        let (layout, bytes) = (self.layout, self.code.bytes);
        let start = self.out.len();
        let mut slots = layout.slots.as_slice();
        // Instructions that only move are copied in runs; `copied` is where the current run starts.
        let mut copied = 0;
        for (n, &pc) in layout.pcs.iter().enumerate() {
            let old = pc as usize;
            let kind = jump(bytes[old]);
            if kind == Jump::None && slots.first().is_none_or(|slot| slot.at != pc) {
                continue;
            }
            self.out.extend_from_slice(&bytes[copied..old]);
            copied = old;
            while let Some((slot, rest)) = slots.split_first().filter(|(slot, _)| slot.at == pc) {
                self.snippet(slot.insertion);
                slots = rest;
            }
            if kind == Jump::None {
                continue;
            }
            let end = layout.pcs.get(n + 1).map_or(bytes.len(), |next| *next as usize);
            self.jump(kind, pc, &bytes[old..end])?;
            copied = end;
        }
        self.out.extend_from_slice(&bytes[copied..]);
        for slot in slots {
            self.snippet(slot.insertion);
        }
        for block in self.blocks {
            self.out.extend_from_slice(block.snippet.bytes);
            self.out.push(op::ATHROW);
        }
        for &handler in &layout.resumed {
            let here = (self.out.len() - start) as i32;
            let target = layout.place(EXCEPTIONS, handler)? as i32;
            self.out.push(op::GOTO_W);
            self.out.extend_from_slice(&(target - here).to_be_bytes());
        }
        if let Some((snippet, _)) = self.guard {
            self.out.extend_from_slice(snippet.bytes);
            self.out.push(op::ATHROW);
        }
        assert_eq!(self.out.len() - start, layout.code_len, "layout and code written disagree");
        Ok(())
    }

    fn jump(&mut self, kind: Jump, pc: u32, instruction: &[u8]) -> Result<(), Unpatched> {
        let layout = self.layout;
        let here = layout.place("jump", pc)?;
        let distance = |offset: i32| -> Result<i32, Error> {
            let target = layout.landing("jump", pc, pc.wrapping_add_signed(offset))?;
            Ok(target as i32 - here as i32)
        };
        let other = self.jumps.binary_search_by_key(&pc, |it| it.0);
        self.out.push(other.map_or(instruction[0], |it| self.jumps[it].1));
        match kind {
            Jump::None => {}
            Jump::Short => {
                let distance = distance(i32::from(u16_at(instruction, 1) as i16))?;
                let distance = i16::try_from(distance).map_err(|_| Unpatched::BranchTooFar { pc })?;
                self.out.extend_from_slice(&distance.to_be_bytes());
            }
            Jump::Long => {
                let distance = distance(u32_at(instruction, 1) as i32)?;
                self.out.extend_from_slice(&distance.to_be_bytes());
            }
            Jump::Table | Jump::Lookup => {
                self.out.extend_from_slice(&[0; 3][..padding(here as usize)]);
                let operands = &instruction[1 + padding(pc as usize)..];
                let from = self.out.len();
                self.out.extend_from_slice(operands);
                let (first, stride) = if kind == Jump::Table { (12, 4) } else { (12, 8) };
                let cases = (first..operands.len()).step_by(stride);
                for at in std::iter::once(0).chain(cases) {
                    let distance = distance(u32_at(operands, at) as i32)?;
                    put_u32(self.out, from + at, distance as u32);
                }
            }
        }
        Ok(())
    }

    fn handlers(&mut self) -> Result<(), Unpatched> {
        let (count_at, layout) = (self.out.len(), self.layout);
        self.u16(0);
        self.calls(count_at)?;
        for entry in self.code.handlers() {
            self.entry(entry)?;
        }
        if let Some((_, from)) = self.guard {
            // From the very start an `Entry` snippet is protected too.
            let from = if from == 0 { 0 } else { layout.boundary(EXCEPTIONS, from)? };
            let end = layout.blocks_end as u32;
            self.range(from..end, end, 0);
        }
        let count = self.entries(count_at)?;
        put_u16(self.out, count_at, count);
        Ok(())
    }

    /// The number of entries written behind that number.
    fn entries(&self, count_at: usize) -> Result<u16, Unpatched> {
        let count = (self.out.len() - count_at - 2) / ENTRY_LEN;
        u16::try_from(count).map_err(|_| Unpatched::MethodTooLarge { bytes: self.layout.code_len })
    }

    /// An entry of the exception table, by new addresses.
    fn range(&mut self, covered: Range<u32>, handler: u32, catch_type: u16) {
        for value in [covered.start as u16, covered.end as u16, handler as u16, catch_type] {
            self.u16(value);
        }
    }

    /// The entries of the blocks for calls. They come before all others, as they cover a call alone.
    fn calls(&mut self, count_at: usize) -> Result<(), Unpatched> {
        let layout = self.layout;
        let mut at = layout.body_len as u32;
        for block in self.blocks {
            let call = layout.place(EXCEPTIONS, block.call)?;
            let end = at + block.len() as u32;
            self.range(call..call + (block.end - block.call), at, block.to.map_or(0, |it| it.0));
            for (catch_type, handler) in block.covered_by(self.code) {
                self.range(at..end, layout.landing(EXCEPTIONS, HANDLER, handler)?, catch_type);
            }
            self.entries(count_at)?;
            at = end;
        }
        Ok(())
    }

    /// An entry that was there. One that covers the snippets of its own handler is cut there, so that these resume it.
    fn entry(&mut self, entry: Handler) -> Result<(), Unpatched> {
        let layout = self.layout;
        let old = u32::from(entry.handler);
        let start = layout.boundary(EXCEPTIONS, u32::from(entry.start))?;
        let end = layout.boundary(EXCEPTIONS, u32::from(entry.end))?;
        let handler = layout.landing(EXCEPTIONS, HANDLER, old)?;
        let resumed = layout.resumed.binary_search(&old).ok().filter(|_| entry.covers(old));
        let Some(n) = resumed else {
            self.range(start..end, handler, entry.catch_type);
            return Ok(());
        };
        let snippets = layout.boundary(EXCEPTIONS, old)?..layout.place(EXCEPTIONS, old)?;
        let jump = layout.calls_end + n * RESUME_LEN;
        if start < snippets.start {
            self.range(start..snippets.start, handler, entry.catch_type);
        }
        self.range(snippets.clone(), jump as u32, entry.catch_type);
        self.range(snippets.end..end, handler, entry.catch_type);
        Ok(())
    }

    /// The frames behind those that were there: of the blocks for calls, and of the handler of `catch_all`.
    fn extra_frames(&mut self) -> Result<Vec<(u32, Spelled)>, Unpatched> {
        let layout = self.layout;
        if self.blocks.is_empty() && layout.resumed.is_empty() && self.guard.is_none() {
            return Ok(Vec::new());
        }
        let throwable = Spelled::caught(self.additions.class(b"java/lang/Throwable")?);
        let mut known = BTreeMap::new();
        let mut targets: Vec<u32> = self.blocks.iter().filter_map(|it| it.to.map(|to| to.1)).collect();
        targets.extend(&layout.resumed);
        targets.sort_unstable();
        targets.dedup();
        if !targets.is_empty() {
            let first = frames::first_locals(self.class, self.member, self.additions)?;
            let table = self.code.attribute_list.iter(&self.code.pool).find(|a| a.name == b"StackMapTable");
            let (body, offset) =
                table.map_or((&[0, 0][..], self.code.offset), |it| (it.body, it.body_offset()));
            known = frames::spelled(body, offset, first, &targets)?;
        }
        let missing = |pc: u32| Error::BadTarget { what: "StackMapTable", pc, offset: self.code.offset };
        let mut extra = Vec::new();
        let mut at = layout.body_len as u32;
        for block in self.blocks {
            let frame = match block.to {
                None => throwable.clone(),
                Some((_, handler)) => known.get(&handler).cloned().ok_or_else(|| missing(handler))?,
            };
            extra.push((at, frame));
            at += block.len() as u32;
        }
        for handler in &layout.resumed {
            // A class of version 50 may go without frames: it is verified as older ones are.
            extra.extend(known.get(handler).map(|frame| (at, frame.clone())));
            at += RESUME_LEN as u32;
        }
        if self.guard.is_some() {
            extra.push((at, throwable));
        }
        Ok(extra)
    }

    fn attributes(&mut self) -> Result<(), Unpatched> {
        let has_frames = self.class.major >= FRAMES_MAJOR;
        let mut extra = match has_frames {
            true => self.extra_frames()?,
            false => Vec::new(),
        };
        let count_at = self.out.len();
        let mut count = 0u16;
        self.u16(0);
        for attribute in self.code.attribute_list.iter(&self.code.pool) {
            count += 1;
            self.u16(attribute.name_index);
            self.out.extend_from_slice(&(attribute.body.len() as u32).to_be_bytes());
            let start = self.out.len();
            let offset = attribute.body_offset();
            if attribute.name == b"StackMapTable" && has_frames {
                frames::write(attribute.body, offset, self.layout, &std::mem::take(&mut extra), self.out)?;
                let len = self.out.len() - start;
                put_u32(self.out, start - 4, len as u32);
                continue;
            }
            self.out.extend_from_slice(attribute.body);
            let body = &mut self.out[start..];
            match attribute.name {
                b"LineNumberTable" => tables::lines(body, self.layout, offset)?,
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    tables::variables(body, self.layout, offset)?
                }
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    tables::type_annotations(body, self.layout);
                }
                _ => {}
            }
        }
        if !extra.is_empty() {
            let name = self.additions.utf8(b"StackMapTable")?;
            let too_many = Unpatched::MethodTooLarge { bytes: self.layout.code_len };
            count = count.checked_add(1).ok_or(too_many)?;
            self.u16(name);
            self.out.extend_from_slice(&[0; 4]);
            let start = self.out.len();
            frames::write(&[0, 0], self.code.offset, self.layout, &extra, self.out)?;
            let len = self.out.len() - start;
            put_u32(self.out, start - 4, len as u32);
        }
        put_u16(self.out, count_at, count);
        Ok(())
    }
}
