//! Names as people write them.

/// `java/lang/String` as `java.lang.String`; bytes that are not modified UTF-8 become U+FFFD.
pub fn display_name(name: &[u8]) -> String {
    if name.is_ascii() && !name.contains(&0) {
        return name.iter().map(|&b| if b == b'/' { '.' } else { char::from(b) }).collect();
    }
    decoded(name).replace('/', ".")
}

/// Text in modified UTF-8; other bytes become U+FFFD.
fn decoded(name: &[u8]) -> String {
    // Modified UTF-8 spells a character beyond the BMP as two surrogates of three bytes each and NUL in two bytes,
    // so it is decoded to UTF-16 units first.
    let mut units = Vec::with_capacity(name.len());
    let mut at = 0;
    while at < name.len() {
        let tail = |n: usize| name.get(at + n).filter(|b| **b & 0xC0 == 0x80).map(|b| u16::from(b & 0x3F));
        let first = name[at];
        let (unit, len) = match first {
            0x01..=0x7F => (u16::from(first), 1),
            0xC0..=0xDF => tail(1).map_or((0xFFFD, 1), |b| (u16::from(first & 0x1F) << 6 | b, 2)),
            0xE0..=0xEF => match (tail(1), tail(2)) {
                (Some(b), Some(c)) => (u16::from(first & 0x0F) << 12 | b << 6 | c, 3),
                _ => (0xFFFD, 1),
            },
            _ => (0xFFFD, 1),
        };
        units.push(unit);
        at += len;
    }
    String::from_utf16_lossy(&units)
}

/// What an invoke instruction calls, as `owner.name(descriptor)` with dots in the owner. A call site of
/// `invokedynamic` has no owner: `indy.name(descriptor)` stands for it.
pub fn callee_text(pool: &crate::ConstantPool<'_>, instruction: &crate::Instruction<'_>) -> Option<String> {
    let index = instruction.pool_index()?;
    let lossy = |bytes| String::from_utf8_lossy(bytes);
    if instruction.opcode == crate::op::INVOKEDYNAMIC {
        let it = pool.invoke_dynamic(index).ok()?;
        return Some(format!("indy.{}{}", lossy(it.name), lossy(it.descriptor)));
    }
    let it = pool.member(index).ok()?;
    Some(format!("{}.{}{}", display_name(it.owner), lossy(it.name), lossy(it.descriptor)))
}

/// The longest text of a string constant that is kept.
const CONSTANT_BYTES_MAX: usize = 200;

/// What an instruction loads that loads a number or a string, as its type and its value: `int 5`, `String localhost`. A long string is cut.
/// None for any other instruction.
pub fn constant_text(pool: &crate::ConstantPool<'_>, instruction: &crate::Instruction<'_>) -> Option<String> {
    use crate::{Constant, op};
    let number = |first: u8| i32::from(instruction.opcode) - i32::from(first);
    Some(match instruction.opcode {
        op::ICONST_M1..=op::ICONST_5 => format!("int {}", number(op::ICONST_0)),
        op::LCONST_0 | op::LCONST_1 => format!("long {}", number(op::LCONST_0)),
        op::FCONST_0..=op::FCONST_2 => format!("float {}", number(op::FCONST_0)),
        op::DCONST_0 | op::DCONST_1 => format!("double {}", number(op::DCONST_0)),
        op::BIPUSH => format!("int {}", *instruction.bytes.get(1)? as i8),
        op::SIPUSH => {
            let [_, high, low] = *instruction.bytes.first_chunk()?;
            format!("int {}", i16::from_be_bytes([high, low]))
        }
        op::LDC | op::LDC_W | op::LDC2_W => match pool.get(instruction.pool_index()?).ok()? {
            Constant::Integer(value) => format!("int {value}"),
            Constant::Long(value) => format!("long {value}"),
            Constant::Float(value) => format!("float {value}"),
            Constant::Double(value) => format!("double {value}"),
            Constant::String { .. } => {
                let mut text = decoded(pool.string(instruction.pool_index()?).ok()?);
                text.truncate(text.floor_char_boundary(CONSTANT_BYTES_MAX));
                format!("String {text}")
            }
            _ => return None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::display_name;

    #[test]
    fn names_are_shown_with_dots_and_never_fail() {
        for (input, expect) in [
            (&b"java/lang/String"[..], "java.lang.String"),
            (b"a/\xC3\xA9", "a.\u{e9}"),
            (b"x\xC0\x80y", "x\0y"),
            (b"\xED\xA0\xBD\xED\xB8\x80", "\u{1F600}"),
            (b"\xED\xA0\xBDz", "\u{FFFD}z"),
            (b"a\xFFb\xE4", "a\u{FFFD}b\u{FFFD}"),
            (b"", ""),
        ] {
            assert_eq!(display_name(input), expect, "{input:?}");
        }
    }
}
