//! Names as people write them.

/// `java/lang/String` as `java.lang.String`; bytes that are not modified UTF-8 become U+FFFD.
pub fn display_name(name: &[u8]) -> String {
    if name.is_ascii() && !name.contains(&0) {
        return name.iter().map(|&b| if b == b'/' { '.' } else { char::from(b) }).collect();
    }
    // Modified UTF-8 spells a character beyond the BMP as two surrogates of three bytes each and NUL in two bytes,
    // so it is decoded to UTF-16 units first.
    let mut units = Vec::with_capacity(name.len());
    let mut at = 0;
    while at < name.len() {
        let tail = |n: usize| name.get(at + n).filter(|b| **b & 0xC0 == 0x80).map(|b| u16::from(b & 0x3F));
        let first = name[at];
        let (unit, len) = match first {
            b'/' => (u16::from(b'.'), 1),
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
