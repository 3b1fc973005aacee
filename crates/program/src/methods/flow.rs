//! The control flow of a method: its basic blocks and how control goes between them.

use hypocenter_classfile::{Code, Instruction, op};

/// The most edges of a method. Exception ranges over many blocks give many; compilers stay far below.
const EDGES_MAX: usize = 1 << 20;

/// Edges by which control passes from one block to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// By falling through.
    Fall,
    /// By the jump that ends the block.
    Jump,
    /// By an exception.
    Throw,
}

/// An edge between blocks, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// From here.
    pub from: u32,
    /// To there.
    pub to: u32,
    /// In this way.
    pub way: Way,
}

/// A basic block, as a range of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Its first instruction, by number.
    pub start: u32,
    /// The instruction behind its last.
    pub end: u32,
}

/// Why a method has no flow graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// The instructions cannot be decoded.
    #[error(transparent)]
    Code(#[from] hypocenter_classfile::Error),
    /// A jump or handler goes to what is no instruction.
    #[error("the code jumps from {from} to {to}, where no instruction begins")]
    Target {
        /// Address of the jump, or start of the range of a handler.
        from: u32,
        /// Its would-be place.
        to: u32,
    },
    /// Too many edges.
    #[error("the code has more than {EDGES_MAX} edges of control flow")]
    TooManyEdges,
}

/// The flow graph of a method.
#[derive(Debug)]
pub struct Flow<'a> {
    /// The instructions, in the order of the code.
    pub instructions: Vec<Instruction<'a>>,
    /// The blocks, in the order of the code.
    pub blocks: Vec<Block>,
    /// True if control can get to a block.
    pub reachable: Vec<bool>,
    /// The blocks where handlers begin, sorted.
    pub handlers: Vec<u32>,
    /// True if there are `jsr` and `ret`: where those lead is not in the graph.
    pub has_subroutines: bool,
    edges: Vec<Edge>,
    out_start: Vec<u32>,
}

impl<'a> Flow<'a> {
    /// Finds blocks and edges.
    pub fn of(code: &Code<'a>) -> Result<Flow<'a>, FlowError> {
        let instructions = code.instructions().collect::<Result<Vec<_>, _>>()?;
        const NONE: u32 = u32::MAX;
        let mut number_at = vec![NONE; code.bytes.len()];
        for (number, instruction) in instructions.iter().enumerate() {
            number_at[instruction.pc as usize] = number as u32;
        }
        let number_of = |from: u32, to: u32| match number_at.get(to as usize) {
            Some(&number) if number != NONE => Ok(number),
            _ => Err(FlowError::Target { from, to }),
        };

        let mut is_leader = vec![false; instructions.len()];
        let mut has_subroutines = false;
        is_leader[0] = true;
        for (number, instruction) in instructions.iter().enumerate() {
            let mut jumps = false;
            for target in instruction.targets() {
                is_leader[number_of(instruction.pc, target)? as usize] = true;
                jumps = true;
            }
            has_subroutines |= is_subroutine(instruction);
            if (jumps || !falls_through(instruction)) && number + 1 < instructions.len() {
                is_leader[number + 1] = true;
            }
        }
        for handler in code.handlers() {
            is_leader[number_of(handler.start.into(), handler.handler.into())? as usize] = true;
        }

        let starts: Vec<u32> = (0..instructions.len() as u32).filter(|&it| is_leader[it as usize]).collect();
        let ends = starts.iter().skip(1).copied().chain([instructions.len() as u32]);
        let blocks: Vec<Block> = starts.iter().zip(ends).map(|(&start, end)| Block { start, end }).collect();
        let block_at = |number: u32| starts.partition_point(|&start| start <= number) as u32 - 1;

        let mut edges = Vec::new();
        for (from, block) in blocks.iter().enumerate() {
            let last = &instructions[block.end as usize - 1];
            let from = from as u32;
            for target in last.targets() {
                edges.push(Edge { from, to: block_at(number_of(last.pc, target)?), way: Way::Jump });
            }
            if falls_through(last) && (from as usize) + 1 < blocks.len() {
                edges.push(Edge { from, to: from + 1, way: Way::Fall });
            }
        }
        let mut handlers = Vec::new();
        let pc_of = |block: &Block| instructions[block.start as usize].pc;
        for handler in code.handlers() {
            let to = block_at(number_of(handler.start.into(), handler.handler.into())?);
            handlers.push(to);
            // The blocks that have an instruction in start..end.
            let (start, end) = (u32::from(handler.start), u32::from(handler.end));
            let first = blocks.partition_point(|block| pc_of(block) <= start).saturating_sub(1);
            let behind = blocks.partition_point(|block| pc_of(block) < end);
            if edges.len() + behind.saturating_sub(first) > EDGES_MAX {
                return Err(FlowError::TooManyEdges);
            }
            edges.extend((first..behind).map(|from| Edge { from: from as u32, to, way: Way::Throw }));
        }
        handlers.sort_unstable();
        handlers.dedup();
        edges.sort_unstable();
        edges.dedup();
        let out_start = (0..=blocks.len() as u32)
            .map(|block| edges.partition_point(|it| it.from < block) as u32)
            .collect();
        let mut flow =
            Flow { instructions, blocks, reachable: Vec::new(), handlers, has_subroutines, edges, out_start };
        flow.reachable = flow.reached();
        Ok(flow)
    }

    /// All edges, sorted.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges out of a block.
    pub fn out_of(&self, block: u32) -> &[Edge] {
        let at = block as usize;
        &self.edges[self.out_start[at] as usize..self.out_start[at + 1] as usize]
    }

    /// The first instruction of a block.
    pub fn first(&self, block: u32) -> &Instruction<'a> {
        &self.instructions[self.blocks[block as usize].start as usize]
    }

    /// The last instruction of a block.
    pub fn last(&self, block: u32) -> &Instruction<'a> {
        &self.instructions[self.blocks[block as usize].end as usize - 1]
    }

    fn reached(&self) -> Vec<bool> {
        let mut reached = vec![false; self.blocks.len()];
        let mut pending = vec![0];
        reached[0] = true;
        while let Some(block) = pending.pop() {
            for edge in self.out_of(block) {
                if !std::mem::replace(&mut reached[edge.to as usize], true) {
                    pending.push(edge.to);
                }
            }
        }
        reached
    }
}

fn is_wide_ret(instruction: &Instruction<'_>) -> bool {
    instruction.opcode == op::WIDE && instruction.bytes.get(1) == Some(&op::RET)
}

fn is_subroutine(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.opcode, op::JSR | op::JSR_W | op::RET) || is_wide_ret(instruction)
}

fn falls_through(instruction: &Instruction<'_>) -> bool {
    instruction.falls_through() && !is_wide_ret(instruction)
}
