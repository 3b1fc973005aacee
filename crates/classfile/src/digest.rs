//! Fingerprints of code, to recognise what another tool has changed.

use crate::bytes::u16_at;
use crate::{BootstrapMethod, ClassFile, Code, Constant, Error, Instruction, op};

/// How deeply constants may refer to constants (a dynamic constant's arguments may be dynamic).
const DEPTH_MAX: u32 = 16;
/// How much work one method's digest may be, a unit for each constant and for every 32 bytes of text: dynamic
/// constants that share arguments would otherwise multiply.
const WORK_MAX: usize = 1 << 22;
/// How much of that constants inside of constants may be, for a method and for each byte of its code. A class can have
/// a method for every thirty bytes, so what a short one may cost is what a class file's byte may cost.
const NESTED_WORK_MAX: usize = 1 << 12;
const NESTED_WORK_PER_BYTE: usize = 64;

/// A 64-bit hash that is the same on every machine and in every version of this crate.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0x9E37_79B9_7F4A_7C15)
    }

    #[inline]
    fn word(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(0xA076_1D64_78BD_642F_u64);
        self.0 = (product as u64 ^ (product >> 64) as u64).wrapping_add(0xE703_7ED1_A0B4_28DB);
    }

    /// The length goes first, so that neighbouring byte strings cannot be mistaken for each other.
    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }
}

impl Code<'_> {
    /// A fast hash of the instructions and the exception table as they stand in the file.
    pub fn digest(&self) -> u64 {
        let mut hash = Hash::new();
        hash.bytes(self.bytes);
        hash.bytes(self.handler_bytes);
        hash.0
    }
}

/// A hash of what the code does, independent of how constants are numbered: opcodes, locals, immediates, jumps as
/// instruction ordinals and constants by value (`ldc` and `ldc_w` alike, `wide` forms like the plain ones).
pub fn code_digest_symbolic(class: &ClassFile<'_>, code: &Code<'_>) -> Result<u64, Error> {
    let mut ordinals = vec![u32::MAX; code.bytes.len() + 1];
    let mut count = 0;
    for instruction in code.instructions() {
        ordinals[instruction?.pc as usize] = count;
        count += 1;
    }
    ordinals[code.bytes.len()] = count;
    let ordinal = |what: &'static str, pc: u32| match ordinals.get(pc as usize) {
        Some(&n) if n != u32::MAX => Ok(u64::from(n)),
        _ => Err(Error::BadTarget { what, pc, offset: code.offset }),
    };
    let nested_work_max = NESTED_WORK_MAX + code.bytes.len() * NESTED_WORK_PER_BYTE;
    let mut symbols = Symbols {
        class,
        hash: Hash::new(),
        bootstraps: None,
        work: 0,
        is_nested: false,
        nested_work: 0,
        nested_work_max,
    };
    for instruction in code.instructions() {
        let instruction = instruction?;
        symbols.instruction(&instruction)?;
        for target in instruction.targets() {
            symbols.hash.word(ordinal("jump", target)?);
        }
    }
    for handler in code.handlers() {
        for pc in [handler.start, handler.end, handler.handler] {
            symbols.hash.word(ordinal("exception table", u32::from(pc))?);
        }
        match handler.catch_type {
            0 => symbols.hash.word(0),
            index => symbols.hash.bytes(class.pool.class_name(index)?),
        }
    }
    Ok(symbols.hash.0)
}

struct Symbols<'c, 'a> {
    class: &'c ClassFile<'a>,
    hash: Hash,
    bootstraps: Option<Vec<BootstrapMethod>>,
    work: usize,
    /// Whether the constant at hand is inside of another.
    is_nested: bool,
    nested_work: usize,
    nested_work_max: usize,
}

impl Symbols<'_, '_> {
    fn instruction(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        let bytes = instruction.bytes;
        if let Some(index) = instruction.pool_index() {
            let opcode = if instruction.opcode == op::LDC { op::LDC_W } else { instruction.opcode };
            self.hash.word(u64::from(opcode));
            self.constant(index, 0)?;
            if opcode == op::MULTIANEWARRAY {
                self.hash.word(u64::from(bytes[3]));
            }
            return Ok(());
        }
        let opcode = if instruction.opcode == op::WIDE { bytes[1] } else { instruction.opcode };
        self.hash.word(u64::from(opcode));
        if let Some(local) = instruction.local() {
            self.hash.word(u64::from(local));
        }
        match instruction.opcode {
            op::WIDE if bytes[1] == op::IINC => self.hash.word(i64::from(u16_at(bytes, 4) as i16) as u64),
            op::IINC => self.hash.word(i64::from(bytes[2] as i8) as u64),
            op::BIPUSH | op::SIPUSH | op::NEWARRAY => self.hash.bytes(&bytes[1..]),
            op::TABLESWITCH | op::LOOKUPSWITCH => self.keys(instruction),
            _ => {}
        }
        Ok(())
    }

    /// What a switch compares with; where it goes is hashed with the other jumps.
    fn keys(&mut self, switch: &Instruction<'_>) {
        let operands = &switch.bytes[1 + crate::instruction::padding(switch.pc as usize)..];
        if switch.opcode == op::TABLESWITCH {
            self.hash.bytes(&operands[4..12]);
        } else {
            self.hash.bytes(&operands[4..8]);
            for pair in operands[8..].chunks_exact(8) {
                self.hash.bytes(&pair[..4]);
            }
        }
    }

    fn constant(&mut self, index: u16, depth: u32) -> Result<(), Error> {
        let pool = &self.class.pool;
        self.is_nested = depth > 0;
        self.spend(1);
        if depth > DEPTH_MAX || self.work > WORK_MAX || self.nested_work > self.nested_work_max {
            return Err(Error::TooDeep { what: "constant", offset: pool.end() });
        }
        match pool.get(index)? {
            Constant::Utf8(text) => self.tagged(1, text),
            Constant::Integer(value) => self.tagged(3, &value.to_be_bytes()),
            Constant::Float(value) => self.tagged(4, &value.to_bits().to_be_bytes()),
            Constant::Long(value) => self.tagged(5, &value.to_be_bytes()),
            Constant::Double(value) => self.tagged(6, &value.to_bits().to_be_bytes()),
            Constant::Class { name } => self.tagged(7, pool.utf8(name)?),
            Constant::String { text } => self.tagged(8, pool.utf8(text)?),
            Constant::Fieldref { class, name_and_type } => self.member(9, class, name_and_type)?,
            Constant::Methodref { class, name_and_type } => self.member(10, class, name_and_type)?,
            Constant::InterfaceMethodref { class, name_and_type } => self.member(11, class, name_and_type)?,
            Constant::NameAndType { .. } => {
                let (name, descriptor) = pool.name_and_type(index)?;
                self.tagged(12, name);
                self.tagged(12, descriptor);
            }
            Constant::MethodHandle { kind, reference } => {
                self.tagged(15, &[kind]);
                self.constant(reference, depth + 1)?;
            }
            Constant::MethodType { descriptor } => self.tagged(16, pool.utf8(descriptor)?),
            Constant::Dynamic { bootstrap, name_and_type } => {
                self.dynamic(17, bootstrap, name_and_type, depth)?
            }
            Constant::InvokeDynamic { bootstrap, name_and_type } => {
                self.dynamic(18, bootstrap, name_and_type, depth)?;
            }
            Constant::Module { name } => self.tagged(19, pool.utf8(name)?),
            Constant::Package { name } => self.tagged(20, pool.utf8(name)?),
        }
        Ok(())
    }

    fn spend(&mut self, work: usize) {
        self.work += work;
        if self.is_nested {
            self.nested_work += work;
        }
    }

    fn tagged(&mut self, tag: u64, bytes: &[u8]) {
        self.spend(bytes.len() / 32);
        self.hash.word(tag);
        self.hash.bytes(bytes);
    }

    fn member(&mut self, tag: u64, class: u16, name_and_type: u16) -> Result<(), Error> {
        self.tagged(tag, self.class.pool.class_name(class)?);
        let (name, descriptor) = self.class.pool.name_and_type(name_and_type)?;
        self.tagged(12, name);
        self.tagged(12, descriptor);
        Ok(())
    }

    fn dynamic(&mut self, tag: u64, bootstrap: u16, name_and_type: u16, depth: u32) -> Result<(), Error> {
        let (name, descriptor) = self.class.pool.name_and_type(name_and_type)?;
        self.tagged(tag, name);
        self.tagged(tag, descriptor);
        let bootstraps = match self.bootstraps.take() {
            Some(bootstraps) => bootstraps,
            None => self.class.bootstrap_methods()?,
        };
        // Put back before recursing, which needs it; one entry is cloned for that.
        let entry = bootstraps.get(usize::from(bootstrap)).cloned();
        self.bootstraps = Some(bootstraps);
        let entry = entry.ok_or(Error::NoConstant { index: bootstrap, offset: self.class.pool.end() })?;
        self.hash.word(entry.arguments.len() as u64);
        self.constant(entry.method, depth + 1)?;
        for argument in entry.arguments {
            self.constant(argument, depth + 1)?;
        }
        Ok(())
    }
}
