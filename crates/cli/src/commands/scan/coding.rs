//! Items as bytes and back, for what is kept of a scan: small, quick to read, and nothing in them is believed.
//!
//! A text is written once and named by its number, since the lists say the same names over and over. Numbers take seven bits
//! a byte. There is no layout beside the types themselves, so only the build that wrote bytes may read them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hypocenter_plan::{Problem, Site, SiteKind};
use rustc_hash::FxHashMap;

/// Word of the format.
pub type Word = Cow<'static, str>;

/// Values that can be written and read back.
pub trait Coded: Sized {
    fn write(&self, to: &mut Writer);
    /// Nothing if the bytes are not what was written.
    fn read(from: &mut Decoder<'_>) -> Option<Self>;
}

/// Collects bytes.
#[derive(Debug, Default)]
pub struct Writer {
    numbers: FxHashMap<Box<str>, u32>,
    texts: Vec<u8>,
    items: Vec<u8>,
}

/// Takes bytes apart.
#[derive(Debug)]
pub struct Decoder<'b> {
    texts: Vec<&'b str>,
    rest: &'b [u8],
}

/// The bytes of something.
pub fn bytes_of(it: &impl Coded) -> Vec<u8> {
    let mut writer = Writer::default();
    it.write(&mut writer);
    let mut bytes = Vec::with_capacity(writer.texts.len() + writer.items.len() + 8);
    push_number(&mut bytes, writer.numbers.len() as u64);
    bytes.append(&mut writer.texts);
    bytes.append(&mut writer.items);
    bytes
}

/// Something of its bytes; nothing unless these are its bytes, all of them.
pub fn of_bytes<T: Coded>(bytes: &[u8]) -> Option<T> {
    let mut reader = Decoder { texts: Vec::new(), rest: bytes };
    let count = reader.count()?;
    for _ in 0..count {
        let length = reader.count()?;
        let (text, rest) = reader.rest.split_at(length);
        reader.texts.push(std::str::from_utf8(text).ok()?);
        reader.rest = rest;
    }
    let it = T::read(&mut reader)?;
    reader.rest.is_empty().then_some(it)
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

impl Writer {
    fn number(&mut self, number: u64) {
        push_number(&mut self.items, number);
    }

    fn text(&mut self, text: &str) {
        let next = self.numbers.len() as u32;
        let number = match self.numbers.get(text) {
            Some(number) => *number,
            None => {
                push_number(&mut self.texts, text.len() as u64);
                self.texts.extend_from_slice(text.as_bytes());
                self.numbers.insert(text.into(), next);
                next
            }
        };
        self.number(number.into());
    }
}

impl<'b> Decoder<'b> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Number of bytes or items that follow: never more than there are bytes, so that no claim gets memory.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    fn text(&mut self) -> Option<&'b str> {
        let number = usize::try_from(self.number()?).ok()?;
        self.texts.get(number).copied()
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Coded for $type {
            fn write(&self, to: &mut Writer) {
                to.number(*self as u64);
            }
            fn read(from: &mut Decoder<'_>) -> Option<Self> {
                <$type>::try_from(from.number()?).ok()
            }
        })*
    };
}
numbers!(u8, u16, u32, u64, usize);

impl Coded for bool {
    fn write(&self, to: &mut Writer) {
        to.number(u64::from(*self));
    }
    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        match from.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Coded for f64 {
    fn write(&self, to: &mut Writer) {
        to.number(self.to_bits());
    }
    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        from.number().map(f64::from_bits)
    }
}

impl Coded for String {
    fn write(&self, to: &mut Writer) {
        to.text(self);
    }
    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        from.text().map(str::to_owned)
    }
}

impl Coded for Word {
    fn write(&self, to: &mut Writer) {
        to.text(self);
    }
    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        String::read(from).map(Cow::Owned)
    }
}

impl<T: Coded> Coded for Option<T> {
    fn write(&self, to: &mut Writer) {
        self.is_some().write(to);
        if let Some(it) = self {
            it.write(to);
        }
    }
    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        Some(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }
}

impl<T: Coded> Coded for Vec<T> {
    fn write(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        self.iter().for_each(|it| it.write(to));
    }
    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        let count = from.count()?;
        // An item may be larger in memory than in the bytes, so it grows as they come.
        (0..count).map(|_| T::read(from)).collect()
    }
}

impl<K: Coded + Ord, V: Coded> Coded for BTreeMap<K, V> {
    fn write(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        self.iter().for_each(|(key, value)| {
            key.write(to);
            value.write(to);
        });
    }
    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        let count = from.count()?;
        (0..count).map(|_| Some((K::read(from)?, V::read(from)?))).collect()
    }
}

impl Coded for SiteKind {
    fn write(&self, to: &mut Writer) {
        (*self as u8).write(to);
    }
    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        SiteKind::from_u8(u8::read(from)?)
    }
}

/// Structs of coded fields, all of them.
macro_rules! coded {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        $(impl $crate::commands::scan::coding::Coded for $name {
            fn write(&self, to: &mut $crate::commands::scan::coding::Writer) {
                let $name { $($field),* } = self;
                $($crate::commands::scan::coding::Coded::write($field, to);)*
            }
            fn read(from: &mut $crate::commands::scan::coding::Decoder<'_>) -> Option<Self> {
                Some($name { $($field: $crate::commands::scan::coding::Coded::read(from)?),* })
            }
        })*
    };
}
pub(super) use coded;

coded! {
    Problem { place, what }
    Site { class, method, descriptor, kind, callee, ordinal, line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<(Option<Site>, BTreeMap<Word, usize>)> {
        let site = Site {
            class: "a.B".into(),
            method: "c".into(),
            descriptor: "()V".into(),
            kind: SiteKind::Call,
            callee: Some("d.E.f(I)J".into()),
            ordinal: 300,
            line: None,
        };
        let counts: BTreeMap<Word, usize> = [("warn".into(), usize::MAX), ("a.B".into(), 0)].into();
        vec![(Some(site), counts), (None, BTreeMap::new())]
    }

    impl<A: Coded, B: Coded> Coded for (A, B) {
        fn write(&self, to: &mut Writer) {
            self.0.write(to);
            self.1.write(to);
        }
        fn read(from: &mut Decoder<'_>) -> Option<Self> {
            Some((A::read(from)?, B::read(from)?))
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let bytes = bytes_of(&sample());
        assert_eq!(of_bytes::<Vec<(Option<Site>, BTreeMap<Word, usize>)>>(&bytes), Some(sample()));
        for number in [0, 127, 128, u64::MAX] {
            assert_eq!(of_bytes(&bytes_of(&number)), Some(number));
        }
        assert_eq!(of_bytes(&bytes_of(&-0.25)), Some(-0.25));
    }

    #[test]
    fn no_cut_and_no_changed_byte_is_a_panic() {
        type Read = Vec<(Option<Site>, BTreeMap<Word, usize>)>;
        let bytes = bytes_of(&sample());
        for end in 0..bytes.len() {
            assert_eq!(of_bytes::<Read>(&bytes[..end]), None, "cut at {end}");
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = of_bytes::<Read>(&changed);
            }
        }
        let mut longer = bytes;
        longer.push(0);
        assert_eq!(of_bytes::<Read>(&longer), None);
    }
}
