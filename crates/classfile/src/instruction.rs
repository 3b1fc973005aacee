//! Single instructions.

use crate::bytes::{u16_at, u32_at};
use crate::{Error, op};

/// An instruction in its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Its address.
    pub pc: u32,
    /// Its first byte.
    pub opcode: u8,
    /// All its bytes, the padding of a switch included.
    pub bytes: &'a [u8],
}

/// How an instruction refers to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jump {
    /// Not at all.
    None,
    /// A 16-bit offset behind the opcode.
    Short,
    /// A 32-bit offset behind the opcode.
    Long,
    /// A switch.
    Table,
    /// A switch with keys.
    Lookup,
}

/// Lengths by opcode; 0 for what is no opcode, `VARIABLE` for `wide` and the switches.
const LENGTHS: [u8; 256] = lengths();
const VARIABLE: u8 = 0xFF;

const fn lengths() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut opcode = 0;
    while opcode <= op::JSR_W as usize {
        table[opcode] = match opcode as u8 {
            op::BIPUSH
            | op::LDC
            | op::ILOAD..=op::ALOAD
            | op::ISTORE..=op::ASTORE
            | op::RET
            | op::NEWARRAY => 2,
            op::SIPUSH
            | op::LDC_W
            | op::LDC2_W
            | op::IINC
            | op::IFEQ..=op::JSR
            | op::GETSTATIC..=op::INVOKESTATIC
            | op::NEW
            | op::ANEWARRAY
            | op::CHECKCAST
            | op::INSTANCEOF
            | op::IFNULL
            | op::IFNONNULL => 3,
            op::MULTIANEWARRAY => 4,
            op::INVOKEINTERFACE | op::INVOKEDYNAMIC | op::GOTO_W | op::JSR_W => 5,
            op::WIDE | op::TABLESWITCH | op::LOOKUPSWITCH => VARIABLE,
            _ => 1,
        };
        opcode += 1;
    }
    table
}

/// The bytes between the opcode of a switch at `pc` and its aligned operands.
#[inline]
pub(crate) fn padding(pc: usize) -> usize {
    3 - (pc & 3)
}

/// Whether control can reach the instruction behind one with this opcode.
#[inline]
pub(crate) fn falls_through(opcode: u8) -> bool {
    !matches!(
        opcode,
        op::GOTO | op::GOTO_W | op::RET | op::TABLESWITCH..=op::LOOKUPSWITCH | op::IRETURN..=op::RETURN | op::ATHROW
    )
}

const JUMPS: [Jump; 256] = jumps();

const fn jumps() -> [Jump; 256] {
    let mut table = [Jump::None; 256];
    let mut opcode = 0;
    while opcode <= op::JSR_W as usize {
        table[opcode] = match opcode as u8 {
            op::IFEQ..=op::JSR | op::IFNULL | op::IFNONNULL => Jump::Short,
            op::GOTO_W | op::JSR_W => Jump::Long,
            op::TABLESWITCH => Jump::Table,
            op::LOOKUPSWITCH => Jump::Lookup,
            _ => Jump::None,
        };
        opcode += 1;
    }
    table
}

#[inline]
pub(crate) fn jump(opcode: u8) -> Jump {
    JUMPS[usize::from(opcode)]
}

/// The length of the instruction at `pc`, which is inside `code`.
#[inline]
pub(crate) fn length(code: &[u8], pc: usize, offset: usize) -> Result<usize, Error> {
    let opcode = code[pc];
    let len = match LENGTHS[usize::from(opcode)] {
        0 => return Err(Error::BadInstruction { opcode, pc: pc as u32, offset: offset + pc }),
        VARIABLE => variable_length(code, pc, offset)?,
        len => usize::from(len),
    };
    if code.len() - pc < len {
        return Err(Error::Truncated { offset: offset + code.len() });
    }
    Ok(len)
}

#[cold]
fn variable_length(code: &[u8], pc: usize, offset: usize) -> Result<usize, Error> {
    let opcode = code[pc];
    let truncated = Error::Truncated { offset: offset + code.len() };
    let bad = Error::BadInstruction { opcode, pc: pc as u32, offset: offset + pc };
    if opcode == op::WIDE {
        return match code.get(pc + 1) {
            None => Err(truncated),
            Some(&op::IINC) => Ok(6),
            Some(op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | &op::RET) => Ok(4),
            Some(_) => Err(bad),
        };
    }
    let operands = 1 + padding(pc);
    let Some(fixed) = code.get(pc + operands..pc + operands + 12) else {
        // A lookupswitch without keys has only eight bytes of operands.
        let short = code.get(pc + operands..pc + operands + 8);
        return match short {
            Some(fixed) if opcode == op::LOOKUPSWITCH && u32_at(fixed, 4) == 0 => Ok(operands + 8),
            _ => Err(truncated),
        };
    };
    let len = if opcode == op::TABLESWITCH {
        let (low, high) = (i64::from(u32_at(fixed, 4) as i32), i64::from(u32_at(fixed, 8) as i32));
        if high < low {
            return Err(bad);
        }
        12 + (high - low + 1) * 4
    } else {
        let pairs = i64::from(u32_at(fixed, 4) as i32);
        if pairs < 0 {
            return Err(bad);
        }
        8 + pairs * 8
    };
    // At most 2^34, so it fits; the caller compares it with the code's length.
    Ok(operands + len as usize)
}

impl<'a> Instruction<'a> {
    /// The instruction at `pc`; `offset` is the file position of the code.
    pub(crate) fn decode(code: &'a [u8], pc: usize, offset: usize) -> Result<Self, Error> {
        if pc >= code.len() {
            return Err(Error::Truncated { offset: offset + code.len() });
        }
        let len = length(code, pc, offset)?;
        Ok(Instruction { pc: pc as u32, opcode: code[pc], bytes: &code[pc..pc + len] })
    }

    /// The address behind it.
    pub fn end(&self) -> u32 {
        self.pc + self.bytes.len() as u32
    }

    /// Whether it calls a method (`invokedynamic` included).
    pub fn is_invoke(&self) -> bool {
        matches!(self.opcode, op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC)
    }

    /// Whether it returns from the method.
    pub fn is_return(&self) -> bool {
        matches!(self.opcode, op::IRETURN..=op::RETURN)
    }

    /// Whether where control goes from it depends on what it takes from the stack: a conditional jump or a switch.
    pub fn is_branch(&self) -> bool {
        matches!(
            self.opcode,
            op::IFEQ..=op::IF_ACMPNE | op::TABLESWITCH | op::LOOKUPSWITCH | op::IFNULL | op::IFNONNULL
        )
    }

    /// Whether control can reach the next instruction without a jump. True for `jsr`, as the subroutine's `ret`
    /// comes back there.
    pub fn falls_through(&self) -> bool {
        falls_through(self.opcode)
    }

    /// The constant it refers to.
    pub fn pool_index(&self) -> Option<u16> {
        match self.opcode {
            op::LDC => Some(u16::from(self.bytes[1])),
            op::LDC_W
            | op::LDC2_W
            | op::GETSTATIC..=op::INVOKEDYNAMIC
            | op::NEW
            | op::ANEWARRAY
            | op::CHECKCAST
            | op::INSTANCEOF
            | op::MULTIANEWARRAY => Some(u16_at(self.bytes, 1)),
            _ => None,
        }
    }

    /// The addresses it can jump to: of a branch, `goto` or `jsr` its target, of a switch the default first and then
    /// the cases in order. In broken code they may lie anywhere.
    pub fn targets(&self) -> impl Iterator<Item = u32> + use<'a> {
        let pc = self.pc;
        let bytes = self.bytes;
        let operands = 1 + padding(pc as usize);
        let (first, cases, stride) = match jump(self.opcode) {
            Jump::None => (None, &bytes[..0], 4),
            Jump::Short => (Some(i32::from(u16_at(bytes, 1) as i16)), &bytes[..0], 4),
            Jump::Long => (Some(u32_at(bytes, 1) as i32), &bytes[..0], 4),
            Jump::Table => (Some(u32_at(bytes, operands) as i32), &bytes[operands + 12..], 4),
            Jump::Lookup => (Some(u32_at(bytes, operands) as i32), &bytes[operands + 8..], 8),
        };
        let cases = cases.chunks_exact(stride).map(move |case| u32_at(case, stride - 4) as i32);
        first.into_iter().chain(cases).map(move |offset| pc.wrapping_add_signed(offset))
    }

    /// The local variable it names, in whichever form (`iload_1`, `iload 1`, `wide iload 1`).
    pub fn local(&self) -> Option<u16> {
        match self.opcode {
            op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | op::RET | op::IINC => {
                Some(u16::from(self.bytes[1]))
            }
            op::ILOAD_0..=op::ALOAD_3 => Some(u16::from((self.opcode - op::ILOAD_0) & 3)),
            op::ISTORE_0..=op::ASTORE_3 => Some(u16::from((self.opcode - op::ISTORE_0) & 3)),
            op::WIDE => Some(u16_at(self.bytes, 2)),
            _ => None,
        }
    }
}

/// The instructions of a method in address order; ends after the first error.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    code: &'a [u8],
    pc: usize,
    offset: usize,
}

impl<'a> Instructions<'a> {
    pub(crate) fn new(code: &'a [u8], offset: usize) -> Self {
        Instructions { code, pc: 0, offset }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instruction<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.pc >= self.code.len() {
            return None;
        }
        let instruction = Instruction::decode(self.code, self.pc, self.offset);
        match &instruction {
            Ok(instruction) => self.pc += instruction.bytes.len(),
            Err(_) => self.pc = self.code.len(),
        }
        Some(instruction)
    }
}
