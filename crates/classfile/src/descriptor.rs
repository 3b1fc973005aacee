//! Method descriptors.

/// The parameter types of a method descriptor, one at a time; ends at the first thing that is no type.
#[derive(Debug, Clone)]
pub struct Parameters<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Parameters<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let len = type_len(self.rest)?;
        let (first, rest) = self.rest.split_at(len);
        self.rest = rest;
        Some(first)
    }
}

/// The length of the field type that `text` starts with.
fn type_len(text: &[u8]) -> Option<usize> {
    let dimensions = text.iter().take_while(|b| **b == b'[').count();
    match text.get(dimensions)? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => Some(dimensions + 1),
        b'L' => text[dimensions..].iter().position(|b| *b == b';').map(|end| dimensions + end + 1),
        _ => None,
    }
}

/// The parameter types: `(I[JLjava/lang/String;)V` gives `I`, `[J`, `Ljava/lang/String;`.
pub fn parameters(descriptor: &[u8]) -> Parameters<'_> {
    Parameters { rest: descriptor.strip_prefix(b"(").unwrap_or_default() }
}

/// The words the arguments take on the operand stack, the receiver not counted; `None` for what is no method descriptor.
pub fn argument_words(descriptor: &[u8]) -> Option<u16> {
    let mut words = 0u16;
    let mut parameters = parameters(descriptor);
    for parameter in parameters.by_ref() {
        words = words.checked_add(type_words(parameter))?;
    }
    let result = parameters.rest.strip_prefix(b")")?;
    (result == b"V" || type_len(result) == Some(result.len())).then_some(words)
}

/// The words a value of a type takes: 2 for `J` and `D`, 0 for `V` and nothing, else 1.
pub fn type_words(field_type: &[u8]) -> u16 {
    match field_type {
        b"J" | b"D" => 2,
        b"V" | b"" => 0,
        _ => 1,
    }
}

/// What stands behind the parameters, for example `V` or `[I`; empty for what is no method descriptor.
pub fn return_type(descriptor: &[u8]) -> &[u8] {
    let end = descriptor.iter().rposition(|b| *b == b')');
    end.map_or(&[], |end| &descriptor[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_taken_apart() {
        for (descriptor, words, result) in [
            (&b"()V"[..], Some(0), &b"V"[..]),
            (b"(IJ[JD)Z", Some(6), b"Z"),
            (b"(Ljava/lang/String;[[Lx;)[I", Some(2), b"[I"),
            (b"(V)V", None, b"V"),
            (b"(I", None, b""),
            (b"I", None, b""),
            (b"()", None, b""),
            (b"()II", None, b"II"),
            (b"(Lx)V", None, b"V"),
        ] {
            assert_eq!(argument_words(descriptor), words, "{descriptor:?}");
            assert_eq!(return_type(descriptor), result, "{descriptor:?}");
        }
        let types: Vec<_> = parameters(b"(I[JLa/b;Z)V").collect();
        assert_eq!(types, [&b"I"[..], b"[J", b"La/b;", b"Z"]);
    }
}
