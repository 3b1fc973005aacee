//! Annotations, as far as a scan asks: which there are, and the class that one names as its value.

use crate::bytes::Reader;
use crate::{ConstantPool, Error};

/// How deep annotations and arrays may be nested in each other. The language sets no bound, and nobody nests more
/// than a few.
const DEPTH_MAX: u32 = 32;

/// An annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotation<'a> {
    /// The descriptor of its type, for example `Lorg/junit/Test;`.
    pub descriptor: &'a [u8],
    /// The descriptor of the class that its element `value` is, if it is one.
    pub class_value: Option<&'a [u8]>,
}

/// The annotations of a `RuntimeVisibleAnnotations` or `RuntimeInvisibleAnnotations` attribute. Behind what cannot be
/// read nothing is read.
pub fn annotations<'a>(body: &'a [u8], pool: &ConstantPool<'a>) -> Vec<Annotation<'a>> {
    let mut reader = Reader::new(body, 0);
    let mut found = Vec::new();
    let Ok(count) = reader.u16() else { return found };
    for _ in 0..count {
        match annotation(&mut reader, pool, 0) {
            Ok(it) => found.push(it),
            Err(_) => break,
        }
    }
    found
}

fn annotation<'a>(
    reader: &mut Reader<'a>,
    pool: &ConstantPool<'a>,
    depth: u32,
) -> Result<Annotation<'a>, Error> {
    let descriptor = pool.utf8(reader.u16()?)?;
    let mut class_value = None;
    for _ in 0..reader.u16()? {
        let name = pool.utf8(reader.u16()?)?;
        let class = element(reader, pool, depth)?;
        if name == b"value" {
            class_value = class;
        }
    }
    Ok(Annotation { descriptor, class_value })
}

/// Reads an element and gives the class that it is.
fn element<'a>(
    reader: &mut Reader<'a>,
    pool: &ConstantPool<'a>,
    depth: u32,
) -> Result<Option<&'a [u8]>, Error> {
    if depth == DEPTH_MAX {
        return Err(Error::Truncated { offset: reader.offset() });
    }
    match reader.u8()? {
        b'c' => return pool.utf8(reader.u16()?).map(Some),
        b'e' => {
            reader.take(4)?;
        }
        b'@' => {
            annotation(reader, pool, depth + 1)?;
        }
        b'[' => {
            let mut only = None;
            let count = reader.u16()?;
            for _ in 0..count {
                only = element(reader, pool, depth + 1)?;
            }
            return Ok(only.filter(|_| count == 1));
        }
        _ => {
            reader.take(2)?;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool with `LT;` as 1, `value` as 2 and `LC;` as 3.
    const POOL: &[u8] = b"\0\x04\x01\0\x03LT;\x01\0\x05value\x01\0\x03LC;";

    fn pool() -> ConstantPool<'static> {
        ConstantPool::parse(POOL, &mut Reader::new(POOL, 0)).unwrap()
    }

    fn plain(class_value: Option<&'static [u8]>) -> Annotation<'static> {
        Annotation { descriptor: b"LT;", class_value }
    }

    #[test]
    fn what_stands_behind_any_kind_of_element_is_read() {
        let elements: [(&[u8], Option<&[u8]>); 6] = [
            (b"c\0\x03", Some(b"LC;")),
            (b"[\0\x01c\0\x03", Some(b"LC;")),
            (b"I\0\x01", None),
            (b"e\0\x01\0\x02", None),
            (b"@\0\x01\0\0", None),
            (b"[\0\x02s\0\x01s\0\x02", None),
        ];
        for (element, class) in elements {
            let body = [b"\0\x02\0\x01\0\x01\0\x02", element, b"\0\x01\0\0"].concat();
            assert_eq!(annotations(&body, &pool()), [plain(class), plain(None)], "{element:?}");
            for end in 0..body.len() {
                assert!(annotations(&body[..end], &pool()).len() < 2);
            }
        }
    }

    #[test]
    fn deep_nesting_ends() {
        let body = [b"\0\x01\0\x01\0\x01\0\x02".to_vec(), b"[\0\x01".repeat(100_000)].concat();
        assert_eq!(annotations(&body, &pool()), []);
    }
}
