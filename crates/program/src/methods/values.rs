//! The values that a method computes with.

/// A value of a method, by number. Only of use with the body it is from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub(crate) u32);

impl ValueId {
    /// The value of which nothing is known.
    pub const UNKNOWN: ValueId = ValueId(0);

    /// Its number, below [`Body::value_count`](crate::Body::value_count).
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Unknown: in broken or unreachable code, in methods with `jsr`, and beyond the bounds of the analysis.
    Unknown,
    /// A parameter, by number. 0 is `this` in an instance method and the first parameter in a static one; a `long`
    /// counts as one.
    Parameter(u16),
    /// The exception that the handler in this block catches.
    Caught(u32),
    /// Result of this instruction.
    Result(u32),
    /// One of several values that meet at the start of this block, see [`Body::inputs`](crate::Body::inputs).
    Phi(u32),
}

/// A value that stands in the code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Const<'a> {
    /// An `int`, or what is computed with as one: `boolean`, `byte`, `char`, `short`.
    Int(i64),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A string literal, in modified UTF-8.
    String(&'a [u8]),
    /// A class literal, by its internal name; arrays as descriptors.
    Class(&'a [u8]),
    /// `null`
    Null,
}

/// A part of a flat array.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn of<T>(self, items: &[T]) -> &[T] {
        &items[self.start as usize..self.end as usize]
    }
}
