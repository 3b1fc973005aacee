//! Line and variable tables and type annotations: their size stays, only addresses change.

use crate::Error;
use crate::bytes::{put_u16, u16_at};
use crate::layout::Layout;

/// Deeper nesting of annotation values than any source has; beyond it offsets are left alone.
const DEPTH_MAX: u32 = 32;

fn check(body: &[u8], entry: usize, what: &'static str, offset: usize) -> Result<(), Error> {
    if body.len() < 2 || body.len() - 2 != usize::from(u16_at(body, 0)) * entry {
        return Err(Error::BadAttribute { what, offset });
    }
    Ok(())
}

/// Moves the addresses of a `LineNumberTable`.
pub(crate) fn lines(body: &mut [u8], layout: &Layout, offset: usize) -> Result<(), Error> {
    const WHAT: &str = "LineNumberTable";
    check(body, 4, WHAT, offset)?;
    for entry in body[2..].chunks_exact_mut(4) {
        let new = layout.loose(u32::from(u16_at(entry, 0)));
        put_u16(entry, 0, new.ok_or(Error::BadAttribute { what: WHAT, offset })? as u16);
    }
    Ok(())
}

/// Moves the addresses of a `LocalVariableTable` or `LocalVariableTypeTable`.
pub(crate) fn variables(body: &mut [u8], layout: &Layout, offset: usize) -> Result<(), Error> {
    const WHAT: &str = "LocalVariableTable";
    check(body, 10, WHAT, offset)?;
    for entry in body[2..].chunks_exact_mut(10) {
        if !range(entry, 0, layout) {
            return Err(Error::BadAttribute { what: WHAT, offset });
        }
    }
    Ok(())
}

/// Moves a start and a length.
fn range(bytes: &mut [u8], at: usize, layout: &Layout) -> bool {
    let (start, len) = (u32::from(u16_at(bytes, at)), u32::from(u16_at(bytes, at + 2)));
    let Some(new) = layout.loose(start) else { return false };
    // A range that starts at 0 and has no length must not grow over the snippets at entry.
    let Some(end) = (if len == 0 { Some(new) } else { layout.loose(start + len) }) else { return false };
    put_u16(bytes, at, new as u16);
    put_u16(bytes, at + 2, (end - new) as u16);
    true
}

/// Moves the addresses in type annotations. No JVM looks at them while linking and compilers have written wrong ones,
/// so what cannot be understood is left as it is.
pub(crate) fn type_annotations(body: &mut [u8], layout: &Layout) {
    // Stopping early only means that the rest is not understood.
    let _ = Annotations { body, at: 0 }.walk(layout);
}

struct Annotations<'b> {
    body: &'b mut [u8],
    at: usize,
}

impl Annotations<'_> {
    fn u8(&mut self) -> Option<u8> {
        let value = *self.body.get(self.at)?;
        self.at += 1;
        Some(value)
    }

    fn u16(&mut self) -> Option<u16> {
        let value = self.body.get(self.at..self.at + 2).map(|bytes| u16_at(bytes, 0))?;
        self.at += 2;
        Some(value)
    }

    fn walk(&mut self, layout: &Layout) -> Option<()> {
        for _ in 0..self.u16()? {
            self.target(layout)?;
            let path_len = usize::from(self.u8()?);
            self.at += path_len * 2;
            self.annotation(0)?;
        }
        Some(())
    }

    fn target(&mut self, layout: &Layout) -> Option<()> {
        match self.u8()? {
            0x40 | 0x41 => {
                for _ in 0..self.u16()? {
                    let at = self.at;
                    self.body.get(at..at + 6)?;
                    range(self.body, at, layout);
                    self.at += 6;
                }
            }
            target @ 0x43..=0x4B => {
                let at = self.at;
                let pc = self.u16()?;
                if let Ok(new) = layout.place("type annotation", u32::from(pc)) {
                    put_u16(self.body, at, new as u16);
                }
                if target >= 0x47 {
                    self.at += 1;
                }
            }
            0x13..=0x15 => {}
            0x00 | 0x01 | 0x16 => self.at += 1,
            0x10..=0x12 | 0x17 | 0x42 => self.at += 2,
            _ => return None,
        }
        Some(())
    }

    fn annotation(&mut self, depth: u32) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        self.u16()?;
        for _ in 0..self.u16()? {
            self.u16()?;
            self.value(depth + 1)?;
        }
        Some(())
    }

    fn value(&mut self, depth: u32) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        match self.u8()? {
            b'e' => self.at += 4,
            b'@' => self.annotation(depth + 1)?,
            b'[' => {
                for _ in 0..self.u16()? {
                    self.value(depth + 1)?;
                }
            }
            _ => self.at += 2,
        }
        Some(())
    }
}
