//! The body of a method: its control flow, and for every operand where it comes from.

use std::sync::OnceLock;

use hypocenter_classfile::{ClassFile, Code, Constant, ConstantPool, Member, op};

use crate::lists::Lists;
use crate::methods::flow::{Flow, FlowError};
use crate::methods::lines::Lines;
use crate::methods::merges::{Merges, settle};
use crate::methods::tracer::{Guarded, trace};
use crate::methods::values::{Const, Span, Value, ValueId};

/// The access flag of a static method.
const ACC_STATIC: u16 = 0x0008;

/// The body of a method.
///
/// Instructions are meant by their number, as in [`Flow::instructions`], blocks as in [`Flow::blocks`]. What only
/// moves values (loads, stores, `dup` and its kin, `swap`, `pop`) has neither operands nor a result: the value goes
/// through it. A handler sees of each local what it may hold at the instructions that it covers and that can throw.
#[derive(Debug)]
pub struct Body<'a> {
    /// The control flow.
    pub flow: Flow<'a>,
    code: Code<'a>,
    pool: ConstantPool<'a>,
    catches: Vec<(Guarded, u16)>,
    values: Vec<Value>,
    spans: Vec<Span>,
    operands: Vec<ValueId>,
    results: Vec<ValueId>,
    /// Merges have the last numbers of all values.
    merges: Merges,
    uses: Lists<u32>,
    phi_uses: Lists<ValueId>,
    is_complete: bool,
    lines: OnceLock<Lines>,
}

/// An entry of the exception table that covers an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Catch {
    /// The block where the handler begins.
    pub handler: u32,
    /// Pool index of the class caught, 0 for any.
    pub catch_type: u16,
}

impl<'a> Body<'a> {
    /// Finds control flow and values of a method with these access flags and this descriptor.
    ///
    /// Only code that has no flow graph is an error. Other broken code has values that are [`Value::Unknown`].
    pub fn of(
        code: &Code<'a>,
        pool: &ConstantPool<'a>,
        access: u16,
        descriptor: &[u8],
    ) -> Result<Body<'a>, FlowError> {
        let flow = Flow::of(code)?;
        let catches = catches(&flow, code);
        let guarded: Vec<Guarded> = catches.iter().map(|it| it.0).collect();
        let mut traced = trace(&flow, pool, &guarded, code.max_locals, access & ACC_STATIC != 0, descriptor);
        let merges = settle(&mut traced);
        let count = traced.values.len();
        let uses = Lists::of(
            count,
            (0..).zip(&traced.spans).flat_map(|(number, span)| {
                let operands = span.of(&traced.operands);
                let of = move |(at, operand): (usize, &ValueId)| {
                    let is_new = *operand != ValueId::UNKNOWN && !operands[..at].contains(operand);
                    is_new.then_some((operand.0, number))
                };
                operands.iter().enumerate().filter_map(of)
            }),
        );
        let first_phi = (count + 1 - merges.starts.len().max(1)) as u32;
        let phi_uses = Lists::of(
            if merges.inputs.is_empty() { 0 } else { count },
            (first_phi..).zip(merges.starts.windows(2)).flat_map(|(phi, bounds)| {
                let inputs = &merges.inputs[bounds[0] as usize..bounds[1] as usize];
                let known = inputs.iter().filter(|it| **it != ValueId::UNKNOWN);
                known.map(move |input| (input.0, ValueId(phi)))
            }),
        );
        Ok(Body {
            flow,
            code: code.clone(),
            pool: pool.clone(),
            catches,
            values: traced.values,
            spans: traced.spans,
            operands: traced.operands,
            results: traced.results,
            merges,
            uses,
            phi_uses,
            is_complete: traced.complete,
            lines: OnceLock::new(),
        })
    }

    /// The body of a method, if it has one.
    pub fn of_method(class: &ClassFile<'a>, method: &Member<'a>) -> Result<Option<Body<'a>>, FlowError> {
        let Some(code) = method.code()? else { return Ok(None) };
        Body::of(&code, &class.pool, method.access, method.descriptor).map(Some)
    }

    /// Tests whether all values were followed. If not, the method has `jsr` or is beyond a bound, and more values are
    /// [`Value::Unknown`] than the code makes necessary.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The constants of the class.
    pub fn pool(&self) -> &ConstantPool<'a> {
        &self.pool
    }

    /// Number of values; they are numbered from 0.
    pub fn value_count(&self) -> u32 {
        self.values.len() as u32
    }

    /// The values, in the order of their numbers.
    pub fn value_ids(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.value_count()).map(ValueId)
    }

    /// Operands of an instruction, the deepest in the stack first: for a call the receiver and then the arguments, for
    /// a store into a field the object and then the value, of a store into an array the array, the index and the
    /// value, of `iinc` the old value of the local.
    pub fn operands(&self, instruction: u32) -> &[ValueId] {
        self.spans[instruction as usize].of(&self.operands)
    }

    /// Result of an instruction; for `iinc` the new value of the local.
    pub fn result(&self, instruction: u32) -> Option<ValueId> {
        Some(self.results[instruction as usize]).filter(|it| *it != ValueId::UNKNOWN)
    }

    /// Origin of a value.
    pub fn value(&self, value: ValueId) -> Value {
        self.values[value.0 as usize]
    }

    /// The instructions that take a value as an operand, sorted. Of the unknown value none are known.
    pub fn uses(&self, value: ValueId) -> &[u32] {
        self.uses.get(value.0)
    }

    /// The merges ([`Value::Phi`]) that a value goes into, sorted. Of the unknown value none are known.
    pub fn phi_uses(&self, value: ValueId) -> &[ValueId] {
        if self.merges.inputs.is_empty() { &[] } else { self.phi_uses.get(value.0) }
    }

    /// The values that meet in a [`Value::Phi`], sorted, without itself: at least two. None for any other value.
    pub fn inputs(&self, value: ValueId) -> &[ValueId] {
        let phis = self.merges.starts.len().saturating_sub(1);
        let Some(at) = (value.0 as usize).checked_sub(self.values.len() - phis) else { return &[] };
        let starts = &self.merges.starts;
        &self.merges.inputs[starts[at] as usize..starts[at + 1] as usize]
    }

    /// The values that may flow into a value through any number of merges, sorted; none of them is a
    /// [`Value::Phi`]. Of a value that is none itself: only that.
    pub fn origins(&self, value: ValueId) -> Vec<ValueId> {
        self.origins_through(value, |_| None)
    }

    /// As [`origins`](Body::origins), with a cast counting as the value that is cast.
    pub fn origins_through_casts(&self, value: ValueId) -> Vec<ValueId> {
        self.origins_through(value, |value| match self.value(value) {
            Value::Result(number) if self.opcode(number) == op::CHECKCAST => {
                self.operands(number).first().copied()
            }
            _ => None,
        })
    }

    fn origins_through(&self, value: ValueId, before: impl Fn(ValueId) -> Option<ValueId>) -> Vec<ValueId> {
        let mut origins = Vec::new();
        // No value is looked at twice, so this is bounded by what the body has.
        let mut seen = rustc_hash::FxHashSet::default();
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if let Value::Phi(_) = self.value(value) {
                if seen.insert(value) {
                    pending.extend_from_slice(self.inputs(value));
                }
            } else if let Some(before) = before(value) {
                if seen.insert(value) {
                    pending.push(before);
                }
            } else {
                origins.push(value);
            }
        }
        origins.sort_unstable();
        origins.dedup();
        origins
    }

    /// The constant that a value is. What only may be a constant, as one of several, is none.
    pub fn constant(&self, value: ValueId) -> Option<Const<'a>> {
        let Value::Result(number) = self.value(value) else { return None };
        let instruction = &self.flow.instructions[number as usize];
        let from = |first: u8| instruction.opcode - first;
        Some(match instruction.opcode {
            op::ACONST_NULL => Const::Null,
            op::ICONST_M1..=op::ICONST_5 => {
                Const::Int(i64::from(instruction.opcode) - i64::from(op::ICONST_0))
            }
            op::LCONST_0..=op::LCONST_1 => Const::Long(from(op::LCONST_0).into()),
            op::FCONST_0..=op::FCONST_2 => Const::Float(from(op::FCONST_0).into()),
            op::DCONST_0..=op::DCONST_1 => Const::Double(from(op::DCONST_0).into()),
            op::BIPUSH => Const::Int((instruction.bytes[1] as i8).into()),
            op::SIPUSH => Const::Int(i16::from_be_bytes([instruction.bytes[1], instruction.bytes[2]]).into()),
            op::LDC..=op::LDC2_W => match self.pool.get(instruction.pool_index()?).ok()? {
                Constant::Integer(value) => Const::Int(value.into()),
                Constant::Long(value) => Const::Long(value),
                Constant::Float(value) => Const::Float(value),
                Constant::Double(value) => Const::Double(value),
                Constant::String { text } => Const::String(self.pool.utf8(text).ok()?),
                Constant::Class { name } => Const::Class(self.pool.utf8(name).ok()?),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The internal name of the class of a value that comes from a `new`.
    pub fn new_class(&self, value: ValueId) -> Option<&'a [u8]> {
        let Value::Result(number) = self.value(value) else { return None };
        let instruction = &self.flow.instructions[number as usize];
        let index = instruction.pool_index().filter(|_| instruction.opcode == op::NEW)?;
        self.pool.class_name(index).ok()
    }

    /// The line of an instruction in the source.
    pub fn line(&self, instruction: u32) -> Option<u32> {
        let lines = self.lines.get_or_init(|| Lines::of(&self.code));
        lines.at(self.flow.instructions[instruction as usize].pc)
    }

    /// The block that an instruction is in.
    pub fn block_of(&self, instruction: u32) -> u32 {
        self.flow.blocks.partition_point(|block| block.start <= instruction) as u32 - 1
    }

    /// The entries of the exception table that cover an instruction, in the order in which the JVM searches them.
    pub fn covering(&self, instruction: u32) -> impl Iterator<Item = Catch> + '_ {
        let covers = move |it: &Guarded| (it.start..it.end).contains(&instruction);
        let entries = self.catches.iter().filter(move |(guarded, _)| covers(guarded));
        entries.map(|&(guarded, catch_type)| Catch { handler: guarded.handler, catch_type })
    }

    fn opcode(&self, instruction: u32) -> u8 {
        self.flow.instructions[instruction as usize].opcode
    }
}

/// The exception table in numbers of instructions and blocks, each entry with what it catches.
fn catches(flow: &Flow<'_>, code: &Code<'_>) -> Vec<(Guarded, u16)> {
    let number_at = |pc: u16| flow.instructions.partition_point(|it| it.pc < pc.into()) as u32;
    let entry = |it: hypocenter_classfile::Handler| {
        let handler = number_at(it.handler);
        // The flow graph was refused if no block began there.
        let handler = flow.blocks.partition_point(|block| block.start < handler) as u32;
        (Guarded { handler, start: number_at(it.start), end: number_at(it.end) }, it.catch_type)
    };
    code.handlers().map(entry).collect()
}
