//! What can be wrong with a class file, and why a method stays unpatched.

use thiserror::Error;

/// Why bytes are not a class file that this crate reads. Offsets count from the first byte of the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// The file ends inside a structure.
    #[error("class file is cut off at byte {offset}")]
    Truncated {
        /// Where the missing bytes should have been.
        offset: usize,
    },
    /// The first four bytes are not `CAFEBABE`.
    #[error("not a class file: no CAFEBABE at byte 0")]
    BadMagic,
    /// Only versions 45 to 69 are read.
    #[error("class file version {major} at byte 6 is not one this tool reads (45 to 69)")]
    UnknownVersion {
        /// The major version found.
        major: u16,
    },
    /// More bytes than a class file can have.
    #[error("{bytes} bytes are more than a class file can have")]
    TooLarge {
        /// The length of the input.
        bytes: usize,
    },
    /// Bytes follow after the last attribute; a JVM refuses such a file.
    #[error("class file ends at byte {offset}, but more bytes follow")]
    TrailingBytes {
        /// The end of the class.
        offset: usize,
    },
    /// A constant with an unknown tag.
    #[error("unknown constant tag {tag} at byte {offset}")]
    BadTag {
        /// The tag.
        tag: u8,
        /// Where it stands.
        offset: usize,
    },
    /// An index that no constant has. The offset is the end of the pool, as the user of the index is not known.
    #[error("constant {index} does not exist in the pool that ends at byte {offset}")]
    NoConstant {
        /// The index.
        index: u16,
        /// The end of the constant pool.
        offset: usize,
    },
    /// A constant of another kind than its user needs.
    #[error("constant {index} at byte {offset} is not {expected}")]
    WrongConstant {
        /// The index.
        index: u16,
        /// The kind that was needed, with its article.
        expected: &'static str,
        /// Where the constant stands.
        offset: usize,
    },
    /// A `Code` attribute with no code, or with more than 65,535 bytes of it.
    #[error("code at byte {offset} has a length of {length}, allowed are 1 to 65535")]
    CodeLength {
        /// The length given.
        length: u32,
        /// Where the code would start.
        offset: usize,
    },
    /// A byte that is no opcode, or a `wide` before an instruction that has no wide form.
    #[error("invalid instruction {opcode:#04x} at byte {offset} (pc {pc})")]
    BadInstruction {
        /// The byte found.
        opcode: u8,
        /// The address in the method.
        pc: u32,
        /// Where it stands.
        offset: usize,
    },
    /// A jump, table or frame that refers to an address where no instruction starts.
    #[error("{what} at byte {offset} refers to pc {pc}, where no instruction starts")]
    BadTarget {
        /// The kind of structure.
        what: &'static str,
        /// The address.
        pc: u32,
        /// Where the structure (or the code that holds it) starts.
        offset: usize,
    },
    /// An attribute whose contents do not have the form they must have.
    #[error("malformed {what} at byte {offset}")]
    BadAttribute {
        /// The attribute.
        what: &'static str,
        /// Where its contents start.
        offset: usize,
    },
    /// Constants that refer to each other more deeply, or annotations nested more deeply, than any compiler does.
    #[error("{what} at byte {offset} is nested too deeply")]
    TooDeep {
        /// What is nested.
        what: &'static str,
        /// Where it starts.
        offset: usize,
    },
}

/// Why a method was left as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unpatched {
    /// A jump would no longer fit its 16 bits.
    #[error("the jump at pc {pc} would span more than 32 KB")]
    BranchTooFar {
        /// The address of the jump in the original code.
        pc: u32,
    },
    /// The method, or one of its tables, would exceed 65,535.
    #[error("the method would have {bytes} bytes of code, more than 65535")]
    MethodTooLarge {
        /// The size it would have had.
        bytes: usize,
    },
    /// The constant pool cannot hold the constants that are needed.
    #[error("the constant pool is full")]
    PoolFull,
    /// A way into an instruction cannot be told from the others without adding branches.
    #[error("the ways into pc {pc} cannot be told apart by straight-line code")]
    EdgeNotSeparable {
        /// The address of the instruction, or of a named jump that does not lead to it.
        pc: u32,
    },
    /// A constructor has no point behind which `this` is certainly initialised, so nothing in it can be guarded.
    #[error("`this` is never certainly initialised, so no exception can be caught on its way out")]
    NothingToGuard,
    /// What comes out of a call cannot be seen: a constructor makes it before `this` is certainly initialised.
    #[error(
        "the call at pc {pc} is made before `this` is certainly initialised, so nothing that comes out of it can be seen"
    )]
    CallNotCovered {
        /// The address of the call.
        pc: u32,
    },
    /// The operand stack would exceed 65,535 words.
    #[error("the operand stack would be too deep")]
    StackTooDeep,
    /// There would be more than 65,535 words of local variables.
    #[error("the method would have too many local variables")]
    TooManyLocals,
    /// There is no such method, or it has no code.
    #[error("the method has no code")]
    NoCode,
    /// No instruction starts where one was named.
    #[error("no instruction starts at pc {pc}")]
    NotAnInstruction {
        /// The address named.
        pc: u32,
    },
    /// The original method is not well-formed.
    #[error("the method is malformed: {0}")]
    Malformed(#[from] Error),
}
