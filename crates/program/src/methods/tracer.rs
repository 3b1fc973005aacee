//! Follows values through the blocks of a method, from where they are made to where they are used.
//!
//! The method of Braun et al. ("Simple and Efficient Construction of Static Single Assignment Form"): each block is
//! run once on symbols. What it reads and did not make itself is looked up in the block before it, and where
//! several ways meet, a merge (phi) stands for it. Locals and the words of the stack are looked up alike, and only
//! if something reads them, so no merge is made that nothing needs. What goes into a merge is collected at the
//! end, when all blocks have been run; [`merges`](crate::methods::merges) then removes those that merge nothing.
//!
//! A `long` or `double` takes two words, of which the lower holds the value and the upper [`TOP`]. So the
//! instructions that move words need not know what they move.

use hypocenter_classfile::{Constant, ConstantPool, Instruction, descriptor, op};

use crate::lists::Lists;
use crate::methods::flow::{Block, Flow, Way};
use crate::methods::shape::SHAPES;
use crate::methods::values::{Span, Value, ValueId};

/// The most cells, one for each local of each block. What has more is not followed from block to block.
const CELLS_MAX: usize = 1 << 22;
/// The most words that stay on the stack between two blocks. Compilers leave few.
const DEPTH_MAX: usize = 1 << 12;
/// The same, summed up over the blocks.
const WORDS_MAX: usize = 1 << 20;
/// The most inputs of all merges for each instruction of the method.
const INPUTS_PER_INSTRUCTION_MAX: usize = 64;
/// The most steps that are spent on collecting inputs.
const STEPS_MAX: u64 = 1 << 24;
/// The most words of arguments that the JVM allows for a call.
const ARGUMENT_WORDS_MAX: u32 = 255;

/// Not looked up yet.
const NONE: ValueId = ValueId(u32::MAX);
/// The upper word of a `long` or `double`.
const TOP: ValueId = ValueId(u32::MAX - 1);
/// Marks the number of a merge; all other values are below.
const MERGE: u32 = 1 << 31;

/// The ways into a block: the number of the one block before it, or one of these.
mod ways {
    /// Several, or some by exceptions.
    pub const MANY: u32 = u32::MAX;
    /// Only by exceptions.
    pub const THROWN: u32 = u32::MAX - 1;
    /// Only by the call of the method.
    pub const START: u32 = u32::MAX - 2;
    /// Not known, or not at all.
    pub const BLIND: u32 = u32::MAX - 3;
}

/// The merge that a value is, if it is one.
pub(crate) fn merge_of(value: ValueId) -> Option<usize> {
    (value.0 & MERGE != 0 && value < TOP).then_some((value.0 & !MERGE) as usize)
}

/// A place where values meet: a local, or a word of the stack, at the start of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Merge {
    pub block: u32,
    /// The local; words of the stack are counted behind all locals.
    slot: u32,
    /// Merged values in [`Traced::inputs`].
    pub inputs: Span,
}

/// A value put into a local.
#[derive(Debug, Clone, Copy)]
struct Store {
    instruction: u32,
    slot: u32,
    value: ValueId,
}

/// An entry of the exception table, in numbers of instructions and blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Guarded {
    pub handler: u32,
    pub start: u32,
    pub end: u32,
}

/// Findings.
#[derive(Debug, Default)]
pub(crate) struct Traced {
    /// All values but merges.
    pub values: Vec<Value>,
    /// For each instruction its part of `operands`.
    pub spans: Vec<Span>,
    pub operands: Vec<ValueId>,
    /// For each instruction its result, or [`ValueId::UNKNOWN`].
    pub results: Vec<ValueId>,
    pub merges: Vec<Merge>,
    pub inputs: Vec<ValueId>,
    /// True if all was followed, within the bounds.
    pub complete: bool,
}

/// Follows the values of a method. `guarded` is its exception table.
pub(crate) fn trace(
    flow: &Flow<'_>,
    pool: &ConstantPool<'_>,
    guarded: &[Guarded],
    max_locals: u16,
    is_static: bool,
    descriptor: &[u8],
) -> Traced {
    let mut tracer = Tracer::new(flow, pool, guarded, max_locals);
    tracer.start(is_static, descriptor);
    tracer.run();
    tracer.collect_inputs();
    tracer.traced
}

struct Tracer<'b, 'a> {
    flow: &'b Flow<'a>,
    pool: &'b ConstantPool<'a>,
    /// The number of locals.
    locals: usize,
    ways: Vec<u32>,
    /// The locals when the method is called.
    initial: Vec<ValueId>,
    /// For each block and local its value at the end of the block, `NONE` if it is that of the start and was not
    /// looked up.
    at_end: Vec<ValueId>,
    /// The same for the start. Empty without handlers: then nobody asks for what is overwritten.
    at_start: Vec<ValueId>,
    /// The words on the stack at the start of each block, `u32::MAX` while no way to it is found.
    depths: Vec<u32>,
    /// The stack at the end of each block, as parts of `words`. `NONE` if a word is the same as at the start.
    left: Vec<Span>,
    words: Vec<ValueId>,
    /// The number of the first exception that is caught, by its place in the flow's handlers.
    first_caught: u32,
    /// Ranges that the handlers cover, sorted and without overlaps.
    guarded: Vec<Guarded>,
    /// The instructions that can throw, counted from the start. Empty without handlers.
    throwing: Vec<u32>,
    /// For each block whether it is a handler that no instruction that can throw leads to. Compilers guard what
    /// cannot throw, too; such a handler is never run, but its code is looked at. For it anything can throw.
    idle: Vec<bool>,
    /// Values put into locals: by the blocks that something guards, or if nothing is followed, by the current one.
    stores: Vec<Store>,
    stored: Vec<Span>,

    /// True if values are followed from block to block.
    is_followed: bool,
    block: u32,
    logs_stores: bool,
    stack: Vec<ValueId>,
    widths: Vec<u8>,
    path: Vec<u32>,
    steps: u64,
    traced: Traced,
}

impl<'b, 'a> Tracer<'b, 'a> {
    fn new(flow: &'b Flow<'a>, pool: &'b ConstantPool<'a>, guarded: &[Guarded], max_locals: u16) -> Self {
        let (blocks, instructions) = (flow.blocks.len(), flow.instructions.len());
        let locals = usize::from(max_locals);
        let cells = blocks * locals;
        let is_followed = cells <= CELLS_MAX && !flow.has_subroutines;
        // What is not followed is run with one row of cells, which is cleared behind each block.
        let cells = if is_followed { cells } else { locals };
        let has_handlers = is_followed && !guarded.is_empty();
        let mut tracer = Tracer {
            flow,
            pool,
            locals,
            ways: if is_followed { ways_in(flow) } else { vec![ways::BLIND; blocks] },
            initial: Vec::new(),
            at_end: vec![NONE; cells],
            at_start: vec![NONE; if has_handlers { cells } else { 0 }],
            depths: vec![u32::MAX; blocks],
            left: vec![Span::default(); blocks],
            words: Vec::new(),
            first_caught: 0,
            guarded: if has_handlers { without_overlaps(guarded) } else { Vec::new() },
            throwing: Vec::new(),
            idle: Vec::new(),
            stores: Vec::new(),
            stored: vec![Span::default(); if has_handlers { blocks } else { 0 }],
            is_followed,
            block: 0,
            logs_stores: false,
            stack: Vec::new(),
            widths: Vec::new(),
            path: Vec::new(),
            steps: 0,
            traced: Traced {
                values: Vec::with_capacity(instructions),
                spans: vec![Span::default(); instructions],
                operands: Vec::with_capacity(instructions),
                results: vec![ValueId::UNKNOWN; instructions],
                complete: is_followed,
                ..Traced::default()
            },
        };
        if has_handlers {
            tracer.throwing = tracer.count_throwing();
            tracer.idle = tracer.idle_handlers();
        }
        tracer
    }

    /// Parameters and exceptions are values before any instruction is run.
    fn start(&mut self, is_static: bool, descriptor: &[u8]) {
        self.initial = vec![ValueId::UNKNOWN; self.locals];
        let values = &mut self.traced.values;
        values.push(Value::Unknown);
        let this = (!is_static).then_some(&b"L"[..]);
        let mut slot = 0;
        for (number, parameter) in this.into_iter().chain(descriptor::parameters(descriptor)).enumerate() {
            let Some(local) = self.initial.get_mut(slot) else { break };
            *local = ValueId(values.len() as u32);
            values.push(Value::Parameter(number as u16));
            slot += usize::from(descriptor::type_words(parameter));
            if let Some(upper) = self.initial.get_mut(slot - 1).filter(|it| **it == ValueId::UNKNOWN) {
                *upper = TOP;
            }
        }
        self.first_caught = values.len() as u32;
        values.extend(self.flow.handlers.iter().map(|&block| Value::Caught(block)));
    }

    /// Runs every block once, each after one that leads to it, and as far as possible in the order of the code.
    fn run(&mut self) {
        let blocks = self.flow.blocks.len() as u32;
        let mut pending = Vec::new();
        if self.ways[0] != ways::BLIND {
            self.depths[0] = 0;
        }
        for next in 0..blocks {
            if self.depths[next as usize] == u32::MAX {
                continue;
            }
            pending.push(next);
            while let Some(block) = pending.pop() {
                self.run_block(block);
                let left = self.left[block as usize];
                for edge in self.flow.out_of(block) {
                    let depth = &mut self.depths[edge.to as usize];
                    if *depth == u32::MAX && self.ways[edge.to as usize] != ways::BLIND {
                        *depth = if edge.way == Way::Throw { 1 } else { left.end - left.start };
                        if edge.to < next {
                            pending.push(edge.to);
                        }
                    }
                }
            }
        }
        for block in 0..blocks {
            if self.ways[block as usize] != ways::BLIND {
                continue;
            }
            self.depths[block as usize] = 0;
            self.run_block(block);
            if !self.is_followed {
                for store in self.stores.drain(..) {
                    self.at_end[store.slot as usize] = NONE;
                }
            }
        }
    }

    fn run_block(&mut self, block: u32) {
        let Block { start, end } = self.flow.blocks[block as usize];
        self.block = block;
        self.stack.clear();
        self.stack.resize(self.depths[block as usize] as usize, NONE);
        if self.ways[block as usize] == ways::THROWN {
            self.stack[0] = self.caught(block);
        }
        let throws = || self.flow.out_of(block).iter().any(|edge| edge.way == Way::Throw);
        self.logs_stores = !self.is_followed || !self.guarded.is_empty() && throws();
        let first_store = self.stores.len() as u32;
        for number in start..end {
            let first = self.traced.operands.len() as u32;
            self.run_instruction(number);
            self.traced.spans[number as usize] =
                Span { start: first, end: self.traced.operands.len() as u32 };
        }
        if self.logs_stores && self.is_followed {
            self.stored[block as usize] = Span { start: first_store, end: self.stores.len() as u32 };
        }
        if self.stack.len() > DEPTH_MAX || self.words.len() + self.stack.len() > WORDS_MAX {
            self.traced.complete = false;
            self.stack.clear();
        }
        let first = self.words.len() as u32;
        self.words.extend_from_slice(&self.stack);
        self.left[block as usize] = Span { start: first, end: self.words.len() as u32 };
    }

    fn run_instruction(&mut self, number: u32) {
        let instruction = self.flow.instructions[number as usize];
        match instruction.opcode {
            opcode @ (op::ILOAD..=op::ALOAD_3 | op::ISTORE..=op::ASTORE_3) => {
                self.move_local(number, opcode, &instruction);
            }
            op::WIDE if instruction.bytes[1] == op::IINC => self.increment(number, &instruction),
            op::WIDE => self.move_local(number, instruction.bytes[1], &instruction),
            op::IINC => self.increment(number, &instruction),
            op::POP => self.drop_words(1),
            op::POP2 => self.drop_words(2),
            op::DUP => self.copy_words(1, 0),
            op::DUP_X1 => self.copy_words(1, 1),
            op::DUP_X2 => self.copy_words(1, 2),
            op::DUP2 => self.copy_words(2, 0),
            op::DUP2_X1 => self.copy_words(2, 1),
            op::DUP2_X2 => self.copy_words(2, 2),
            op::SWAP => {
                self.look_up_words(2);
                let top = self.stack.len() - 1;
                self.stack.swap(top - 1, top);
            }
            op::GETSTATIC..=op::PUTFIELD => self.access_field(number, &instruction),
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => self.call(number, &instruction),
            op::MULTIANEWARRAY => {
                self.widths.clear();
                self.widths.resize(usize::from(instruction.bytes[3]), 1);
                self.take();
                self.give(number, 1);
            }
            op::JSR | op::JSR_W => self.stack.push(ValueId::UNKNOWN),
            opcode => {
                let shape = &SHAPES[usize::from(opcode)];
                if shape.takes[0] != 0 {
                    self.take_few(shape.takes);
                }
                self.give(number, shape.gives);
            }
        }
    }

    fn move_local(&mut self, number: u32, opcode: u8, instruction: &Instruction<'_>) {
        let Some(slot) = instruction.local() else { return };
        // By type, in the order int, long, float, double, reference.
        let kind = match opcode {
            op::ILOAD..=op::ALOAD => opcode - op::ILOAD,
            op::ILOAD_0..=op::ALOAD_3 => (opcode - op::ILOAD_0) >> 2,
            op::ISTORE..=op::ASTORE => opcode - op::ISTORE,
            op::ISTORE_0..=op::ASTORE_3 => (opcode - op::ISTORE_0) >> 2,
            _ => return,
        };
        let is_wide = kind & 1 == 1;
        if opcode <= op::ALOAD_3 {
            let value = self.load(slot);
            self.stack.push(value);
            if is_wide {
                self.stack.push(TOP);
            }
        } else {
            let value = self.pop(if is_wide { 2 } else { 1 });
            self.store(number, slot, value);
            if is_wide {
                self.store(number, slot.saturating_add(1), TOP);
            }
        }
    }

    fn increment(&mut self, number: u32, instruction: &Instruction<'_>) {
        let Some(slot) = instruction.local() else { return };
        let old = self.load(slot);
        self.traced.operands.push(old);
        let new = self.result(number);
        self.store(number, slot, new);
    }

    fn access_field(&mut self, number: u32, instruction: &Instruction<'_>) {
        let descriptor = instruction.pool_index().and_then(|index| self.descriptor(index));
        let words = descriptor.map_or(1, descriptor::type_words) as u8;
        match instruction.opcode {
            op::GETSTATIC => self.give(number, words),
            op::PUTSTATIC => self.take_few([words, 0, 0]),
            op::GETFIELD => {
                self.take_few([1, 0, 0]);
                self.give(number, words);
            }
            _ => self.take_few([1, words, 0]),
        }
    }

    fn call(&mut self, number: u32, instruction: &Instruction<'_>) {
        let Some(descriptor) = instruction.pool_index().and_then(|index| self.descriptor(index)) else {
            return self.stack.clear();
        };
        self.widths.clear();
        let mut words = 0;
        if !matches!(instruction.opcode, op::INVOKESTATIC | op::INVOKEDYNAMIC) {
            self.widths.push(1);
        }
        for parameter in descriptor::parameters(descriptor) {
            let width = descriptor::type_words(parameter) as u8;
            words += u32::from(width);
            self.widths.push(width);
            if words > ARGUMENT_WORDS_MAX {
                return self.stack.clear();
            }
        }
        self.take();
        self.give(number, descriptor::type_words(descriptor::return_type(descriptor)) as u8);
    }

    /// The descriptor of a field, method or dynamic call site.
    fn descriptor(&self, index: u16) -> Option<&'a [u8]> {
        let name_and_type = match self.pool.get(index).ok()? {
            Constant::Fieldref { name_and_type, .. }
            | Constant::Methodref { name_and_type, .. }
            | Constant::InterfaceMethodref { name_and_type, .. }
            | Constant::InvokeDynamic { name_and_type, .. } => name_and_type,
            _ => return None,
        };
        match self.pool.get(name_and_type).ok()? {
            Constant::NameAndType { descriptor, .. } => self.pool.utf8(descriptor).ok(),
            _ => None,
        }
    }

    /// Takes operands of the widths in `widths`.
    fn take(&mut self) {
        let words: usize = self.widths.iter().map(|&it| usize::from(it)).sum();
        self.look_for_words(words);
        let base = self.stack.len() - words;
        let mut at = base;
        for i in 0..self.widths.len() {
            let width = self.widths[i];
            let value = self.operand(at, width);
            self.traced.operands.push(value);
            at += usize::from(width);
        }
        self.stack.truncate(base);
    }

    fn take_few(&mut self, takes: [u8; 3]) {
        let words = usize::from(takes[0] + takes[1] + takes[2]);
        self.look_for_words(words);
        let base = self.stack.len() - words;
        let mut at = base;
        for width in takes {
            if width == 0 {
                break;
            }
            let value = self.operand(at, width);
            self.traced.operands.push(value);
            at += usize::from(width);
        }
        self.stack.truncate(base);
    }

    fn pop(&mut self, width: u8) -> ValueId {
        self.look_for_words(width.into());
        let base = self.stack.len() - usize::from(width);
        let value = self.operand(base, width);
        self.stack.truncate(base);
        value
    }

    /// The value whose lowest word is at a place of the stack.
    fn operand(&mut self, at: usize, width: u8) -> ValueId {
        if width == 2 {
            let upper = self.stack[at + 1];
            if upper < TOP && merge_of(upper).is_none() {
                return ValueId::UNKNOWN;
            }
        }
        known(self.word(at))
    }

    fn word(&mut self, at: usize) -> ValueId {
        let mut word = self.stack[at];
        if word == NONE {
            word = self.stack_at_start(self.block, at as u32);
            self.stack[at] = word;
        }
        word
    }

    /// Makes sure that the stack has so many words; broken code may take more than it put there.
    fn look_for_words(&mut self, count: usize) {
        if self.stack.len() < count {
            // Words that are not looked up yet know their value by their place, so they must be before it changes.
            for at in 0..self.stack.len() {
                self.word(at);
            }
            let missing = count - self.stack.len();
            self.stack.splice(0..0, std::iter::repeat_n(ValueId::UNKNOWN, missing));
        }
    }

    /// Looks up the topmost words, so that they can be moved.
    fn look_up_words(&mut self, count: usize) {
        self.look_for_words(count);
        for at in self.stack.len() - count..self.stack.len() {
            self.word(at);
        }
    }

    fn drop_words(&mut self, count: usize) {
        self.stack.truncate(self.stack.len().saturating_sub(count));
    }

    /// Puts a copy of the topmost `count` words below `below` more.
    fn copy_words(&mut self, count: usize, below: usize) {
        self.look_up_words(count + below);
        let top = self.stack.len();
        self.stack.extend_from_within(top - count..);
        if below > 0 {
            self.stack[top - count - below..].rotate_right(count);
        }
    }

    fn result(&mut self, number: u32) -> ValueId {
        let value = ValueId(self.traced.values.len() as u32);
        self.traced.values.push(Value::Result(number));
        self.traced.results[number as usize] = value;
        value
    }

    fn give(&mut self, number: u32, words: u8) {
        if words > 0 {
            let value = self.result(number);
            self.stack.push(value);
        }
        if words > 1 {
            self.stack.push(TOP);
        }
    }

    fn cell(&self, block: u32, slot: u32) -> usize {
        let row = if self.is_followed { block as usize } else { 0 };
        row * self.locals + slot as usize
    }

    fn load(&mut self, slot: u16) -> ValueId {
        if usize::from(slot) >= self.locals {
            return ValueId::UNKNOWN;
        }
        known(self.local_at_end(self.block, slot.into()))
    }

    fn store(&mut self, number: u32, slot: u16, value: ValueId) {
        if usize::from(slot) >= self.locals {
            return;
        }
        let cell = self.cell(self.block, slot.into());
        self.at_end[cell] = value;
        if self.logs_stores {
            self.stores.push(Store { instruction: number, slot: slot.into(), value });
        }
    }

    /// The value of a local at the end of a block; of the block that is being run, so far.
    fn local_at_end(&mut self, block: u32, slot: u32) -> ValueId {
        match self.at_end[self.cell(block, slot)] {
            NONE => self.local_at_start(block, slot),
            value => value,
        }
    }

    /// The value of a local at the start of a block. It goes up through blocks that have one way in only, each of
    /// which was run before.
    fn local_at_start(&mut self, block: u32, slot: u32) -> ValueId {
        if self.ways[block as usize] == ways::BLIND {
            return ValueId::UNKNOWN;
        }
        let has_starts = !self.at_start.is_empty();
        let mut at = block;
        self.path.clear();
        let value = loop {
            if has_starts {
                let value = self.at_start[self.cell(at, slot)];
                if value != NONE {
                    break value;
                }
            }
            self.path.push(at);
            match self.ways[at as usize] {
                ways::START => break self.initial[slot as usize],
                ways::MANY | ways::THROWN => break self.merge(at, slot),
                before => {
                    let value = self.at_end[self.cell(before, slot)];
                    if value != NONE {
                        break value;
                    }
                    at = before;
                }
            }
        };
        for i in 0..self.path.len() {
            let cell = self.cell(self.path[i], slot);
            if has_starts {
                self.at_start[cell] = value;
            }
            if self.at_end[cell] == NONE {
                self.at_end[cell] = value;
            }
        }
        value
    }

    /// The value of a word of the stack at the start of a block.
    fn stack_at_start(&mut self, block: u32, word: u32) -> ValueId {
        let mut at = block;
        self.path.clear();
        let value = loop {
            match self.ways[at as usize] {
                ways::BLIND | ways::START => break ValueId::UNKNOWN,
                ways::THROWN => break self.caught(at),
                ways::MANY => break self.merge(at, self.locals as u32 + word),
                before => {
                    match self.left[before as usize].of(&self.words).get(word as usize) {
                        None => break ValueId::UNKNOWN,
                        Some(&NONE) => self.path.push(before),
                        Some(&value) => break value,
                    }
                    at = before;
                }
            }
        };
        for &block in &self.path {
            self.words[(self.left[block as usize].start + word) as usize] = value;
        }
        value
    }

    /// The value of a word of the stack at the end of a block that leaves `depth` words.
    fn stack_at_end(&mut self, block: u32, word: u32, depth: u32) -> ValueId {
        let left = self.left[block as usize];
        if left.end - left.start != depth {
            return ValueId::UNKNOWN;
        }
        let at = (left.start + word) as usize;
        if self.words[at] == NONE {
            self.words[at] = self.stack_at_start(block, word);
        }
        self.words[at]
    }

    fn caught(&self, block: u32) -> ValueId {
        match self.flow.handlers.binary_search(&block) {
            Ok(at) => ValueId(self.first_caught + at as u32),
            Err(_) => ValueId::UNKNOWN,
        }
    }

    fn merge(&mut self, block: u32, slot: u32) -> ValueId {
        // Every merge gets at least one input, so this bounds the merges too.
        if self.traced.merges.len() >= self.inputs_max() {
            self.traced.complete = false;
            return ValueId::UNKNOWN;
        }
        let value = ValueId(MERGE | self.traced.merges.len() as u32);
        self.traced.merges.push(Merge { block, slot, inputs: Span::default() });
        value
    }

    fn inputs_max(&self) -> usize {
        INPUTS_PER_INSTRUCTION_MAX * self.flow.instructions.len()
    }

    /// Looks up what goes into each merge. That may need further merges.
    fn collect_inputs(&mut self) {
        if self.traced.merges.is_empty() {
            return;
        }
        let flow = self.flow;
        let edges = flow.edges().iter().enumerate().filter(|(_, edge)| flow.reachable[edge.from as usize]);
        let ways_in = Lists::of(flow.blocks.len(), edges.map(|(at, edge)| (edge.to, at as u32)));
        let mut at = 0;
        while let Some(&Merge { block, slot, .. }) = self.traced.merges.get(at) {
            let start = self.traced.inputs.len();
            if block == 0 {
                let initial = self.initial.get(slot as usize).copied();
                self.input(start, initial.unwrap_or(ValueId::UNKNOWN));
            }
            for &edge in ways_in.get(block) {
                if self.steps > STEPS_MAX || self.traced.inputs.len() > self.inputs_max() {
                    self.traced.complete = false;
                    self.traced.inputs.truncate(start);
                    self.traced.inputs.push(ValueId::UNKNOWN);
                    break;
                }
                self.steps += 1;
                let edge = flow.edges()[edge as usize];
                let word = slot.checked_sub(self.locals as u32);
                let depth = self.depths[block as usize];
                match (edge.way, word) {
                    (Way::Throw, Some(_)) => {
                        let value = if depth == 1 { self.caught(block) } else { ValueId::UNKNOWN };
                        self.input(start, value);
                    }
                    (Way::Throw, None) => self.inputs_thrown(start, edge.from, block, slot),
                    (_, Some(word)) => {
                        let value = self.stack_at_end(edge.from, word, depth);
                        self.input(start, value);
                    }
                    (_, None) => {
                        let value = self.local_at_end(edge.from, slot);
                        self.input(start, value);
                    }
                }
            }
            self.traced.merges[at].inputs =
                Span { start: start as u32, end: self.traced.inputs.len() as u32 };
            at += 1;
        }
    }

    fn input(&mut self, start: usize, value: ValueId) {
        /// Further back a repeated input is not looked for: it is only a matter of room.
        const LOOK_BACK: usize = 16;
        let value = known(value);
        let inputs = &mut self.traced.inputs;
        let from = start.max(inputs.len().saturating_sub(LOOK_BACK));
        if !inputs[from..].contains(&value) {
            inputs.push(value);
        }
    }

    /// Possible values of a local when an exception is thrown in a block and caught by a handler: its value at each
    /// instruction that can throw and that the handler covers.
    fn inputs_thrown(&mut self, start: usize, from: u32, handler: u32, slot: u32) {
        let Block { start: mut since, end } = self.flow.blocks[from as usize];
        // `None` is what it holds at the start of the block.
        let mut value = None;
        let mut is_caught = false;
        let stored = self.stored[from as usize];
        self.steps += u64::from(stored.end - stored.start);
        for at in stored.start..=stored.end {
            let store = if at < stored.end { Some(self.stores[at as usize]) } else { None };
            if store.is_some_and(|it| it.slot != slot) {
                continue;
            }
            let until = store.map_or(end, |it| it.instruction + 1);
            if self.catches(handler, since, until) {
                is_caught = true;
                let value = value.unwrap_or_else(|| self.local_at_start(from, slot));
                self.input(start, value);
            }
            if let Some(store) = store {
                since = until;
                value = Some(store.value);
            }
        }
        if !is_caught && self.idle[handler as usize] {
            // The entry of the exception table covers nothing at all.
            self.input(start, ValueId::UNKNOWN);
        }
    }

    /// Tests whether something that is thrown in a range of instructions is caught by a handler.
    fn catches(&mut self, handler: u32, since: u32, until: u32) -> bool {
        let first = self.guarded.partition_point(|it| (it.handler, it.end) <= (handler, since));
        let is_idle = self.idle.get(handler as usize) == Some(&true);
        for it in &self.guarded[first..] {
            if it.handler != handler || it.start >= until {
                break;
            }
            self.steps += 1;
            let (since, until) = (it.start.max(since), it.end.min(until));
            if is_idle || self.throwing[since as usize] < self.throwing[until as usize] {
                return true;
            }
        }
        false
    }

    /// Finds the handlers that are reached only if anything can throw. With them everything that the flow graph
    /// reaches is reached, so every value is made on a way to where it is taken, and none comes from itself other
    /// than through a merge.
    fn idle_handlers(&mut self) -> Vec<bool> {
        let flow = self.flow;
        let mut idle = vec![false; flow.blocks.len()];
        let mut reached = idle.clone();
        let mut pending = vec![0];
        let mut later = Vec::new();
        loop {
            while let Some(block) = pending.pop() {
                if std::mem::replace(&mut reached[block as usize], true) {
                    continue;
                }
                let Block { start, end } = flow.blocks[block as usize];
                for edge in flow.out_of(block).iter().filter(|edge| !reached[edge.to as usize]) {
                    if edge.way != Way::Throw || self.catches(edge.to, start, end) {
                        pending.push(edge.to);
                    } else {
                        later.push(edge.to);
                    }
                }
            }
            let Some(handler) = later.pop() else { return idle };
            if !reached[handler as usize] {
                idle[handler as usize] = true;
                pending.push(handler);
            }
        }
    }

    fn count_throwing(&self) -> Vec<u32> {
        let mut count = 0;
        let mut counts = Vec::with_capacity(self.flow.instructions.len() + 1);
        counts.push(0);
        for instruction in &self.flow.instructions {
            count += u32::from(SHAPES[usize::from(instruction.opcode)].throws || self.resolves(instruction));
            counts.push(count);
        }
        counts
    }

    /// Tests whether it pushes a constant that may have to be computed or loaded first.
    fn resolves(&self, instruction: &Instruction<'_>) -> bool {
        if !matches!(instruction.opcode, op::LDC..=op::LDC2_W) {
            return false;
        }
        let constant = instruction.pool_index().map(|index| self.pool.get(index));
        !matches!(
            constant,
            Some(Ok(Constant::Integer(_)
                | Constant::Float(_)
                | Constant::Long(_)
                | Constant::Double(_)
                | Constant::String { .. }))
        )
    }
}

/// Upper word of a `long` is not a value.
fn known(value: ValueId) -> ValueId {
    if value == TOP { ValueId::UNKNOWN } else { value }
}

fn ways_in(flow: &Flow<'_>) -> Vec<u32> {
    let mut ways = vec![ways::BLIND; flow.blocks.len()];
    ways[0] = ways::START;
    for edge in flow.edges().iter().filter(|edge| flow.reachable[edge.from as usize]) {
        let way = &mut ways[edge.to as usize];
        *way = match (*way, edge.way) {
            (ways::BLIND | ways::THROWN, Way::Throw) => ways::THROWN,
            (ways::BLIND, _) => edge.from,
            (before, Way::Fall | Way::Jump) if before == edge.from => before,
            _ => ways::MANY,
        };
    }
    ways
}

/// The same as disjoint ranges, sorted by handler and start. So they are sorted by end as well.
fn without_overlaps(guarded: &[Guarded]) -> Vec<Guarded> {
    let mut sorted: Vec<Guarded> = guarded.iter().copied().filter(|it| it.start < it.end).collect();
    sorted.sort_unstable();
    sorted.dedup_by(|next, last| {
        let overlap = next.handler == last.handler && next.start <= last.end;
        if overlap {
            last.end = last.end.max(next.end);
        }
        overlap
    });
    sorted
}
