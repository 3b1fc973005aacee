//! What hooks see: objects by their numbers, and values.
//!
//! A record is four words where a site is hot: the object and the value behind the two that every record has. An index, or a stack with a
//! place in the order of all operations, make it longer.

use hypocenter_plan::StateId;

use crate::SiteId;
use crate::session::Interned;

/// The number of an object in its JVM. No two objects have the same one, also when the first is gone. 0 is null, or no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ObjectId(pub u64);

/// Kind of a value. The numbers are part of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum ValueKind {
    /// There is no value.
    #[default]
    Nothing = 0,
    /// An `int`, or a smaller number, a character or a boolean.
    Int = 1,
    /// A `long`.
    Long = 2,
    /// A `float`, by its bits.
    Float = 3,
    /// A `double`, by its bits.
    Double = 4,
    /// An object, by its number.
    Object = 5,
}

impl ValueKind {
    fn from_u8(number: u8) -> Option<ValueKind> {
        use ValueKind::*;
        [Nothing, Int, Long, Float, Double, Object].into_iter().find(|&it| it as u8 == number)
    }
}

/// A value as a hook saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SeenValue {
    /// Its kind.
    pub kind: ValueKind,
    /// Its bits: a number with its sign extended, or the number of an object.
    pub bits: i64,
}

impl SeenValue {
    /// No value.
    pub const NOTHING: SeenValue = SeenValue { kind: ValueKind::Nothing, bits: 0 };

    /// An object.
    pub fn of_object(id: ObjectId) -> SeenValue {
        SeenValue { kind: ValueKind::Object, bits: id.0 as i64 }
    }

    /// The object, if it is one and not null.
    pub fn object(self) -> Option<ObjectId> {
        (self.kind == ValueKind::Object && self.bits != 0).then_some(ObjectId(self.bits as u64))
    }
}

/// As people read it: `3`, `1.5`, `null`, `object 17`; nothing for no value.
impl std::fmt::Display for SeenValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            ValueKind::Nothing => Ok(()),
            ValueKind::Int | ValueKind::Long => write!(f, "{}", self.bits),
            ValueKind::Float => write!(f, "{:?}", f32::from_bits(self.bits as u32)),
            ValueKind::Double => write!(f, "{:?}", f64::from_bits(self.bits as u64)),
            ValueKind::Object if self.bits == 0 => f.write_str("null"),
            ValueKind::Object => write!(f, "object {}", self.bits),
        }
    }
}

/// What a hook saw, to be written.
#[derive(Debug, Clone, Copy)]
pub struct ValueRecord {
    /// Where.
    pub site: SiteId,
    /// Which part of what there is to see, see [`TracedValue::part`].
    pub part: u8,
    /// The object whose field, element or monitor it is.
    pub object: ObjectId,
    /// The value.
    pub value: SeenValue,
    /// The index in an array, or the second operand of a branch.
    pub index: i64,
    /// The stack, for a record that has one, and a place in the order of all operations.
    pub stack: Option<Interned>,
}

/// What a hook saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedValue {
    /// When.
    pub ticks: u64,
    /// Where.
    pub site: SiteId,
    /// The thread's number in the dictionary.
    pub thread: u32,
    /// The state that the thread was in.
    pub state: StateId,
    /// The calling context, or 0 if it is not known.
    pub context: u32,
    /// For a call: 0 is the receiver, 1 the first argument and so on, each in a record of its own; at most [`TracedValue::PARTS_MAX`] are
    /// recorded. For a branch: 1 if it is taken. Else 0.
    pub part: u8,
    /// The object whose field, element or monitor it is. 0 where there is none, as for a static field, or where it is not known.
    pub object: ObjectId,
    /// The value that was read, is about to be written, is passed, came back, or is compared: for a branch the first operand.
    pub value: SeenValue,
    /// The index in an array, or the second operand of a branch, of the same kind as the first.
    pub index: i64,
    /// The stack, or 0.
    pub stack: u32,
    /// Its place in the order of all operations of the trial, for a record that has a stack.
    pub sequence: Option<u64>,
}

impl TracedValue {
    /// How many parts of a call are recorded.
    pub const PARTS_MAX: usize = 32;
}

/// The bits of a record's flags that say of which kind a value is; the others are the part.
const KIND_BITS: u8 = 3;

/// The flags of a record, and its words behind the first two: so many of those.
pub(crate) fn encode(it: &ValueRecord, next_sequence: impl FnOnce() -> u64) -> (u8, [u64; 5], usize) {
    let flags = it.value.kind as u8 | it.part << KIND_BITS;
    let mut words = [it.object.0, it.value.bits as u64, it.index as u64, 0, 0];
    let len = match it.stack {
        Some(stack) => {
            (words[3], words[4]) = (stack.0.into(), next_sequence());
            5
        }
        None if it.index != 0 => 3,
        None => 2,
    };
    (flags, words, len)
}

/// Flags and words of a record as [`encode`] made them; a word that is not there is none.
pub(crate) fn decode(flags: u8, word: impl Fn(usize) -> Option<u64>) -> Option<(ValueRecord, Option<u64>)> {
    let kind = ValueKind::from_u8(flags & ((1 << KIND_BITS) - 1))?;
    let record = ValueRecord {
        site: SiteId(0),
        part: flags >> KIND_BITS,
        object: ObjectId(word(0)?),
        value: SeenValue { kind, bits: word(1)? as i64 },
        index: word(2).unwrap_or(0) as i64,
        stack: word(3).map(|it| Interned(it as u32)),
    };
    Some((record, word(4)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_as_people_read_it() {
        let check = |kind, bits: i64, expected: &str| {
            assert_eq!(SeenValue { kind, bits }.to_string(), expected);
        };
        check(ValueKind::Nothing, 0, "");
        check(ValueKind::Int, -3, "-3");
        check(ValueKind::Long, i64::MIN, "-9223372036854775808");
        check(ValueKind::Float, 1.5f32.to_bits().into(), "1.5");
        check(ValueKind::Double, f64::NAN.to_bits() as i64, "NaN");
        check(ValueKind::Object, 0, "null");
        check(ValueKind::Object, 17, "object 17");
    }
}
