//! Stack map frames.

use crate::additions::Additions;
use crate::bytes::{Reader, put_u16};
use crate::layout::Layout;
use crate::{ClassFile, Error, Member, Unpatched, descriptor};
use std::collections::BTreeMap;

const WHAT: &str = "StackMapTable";
pub(crate) const UNINITIALIZED_THIS: u8 = 6;
const OBJECT: u8 = 7;
const UNINITIALIZED: u8 = 8;
const ONE_STACK_ITEM_EXTENDED: u8 = 247;
const SAME_EXTENDED: u8 = 251;
const FULL: u8 = 255;

/// What a frame says about locals and stack; the types stay as they are encoded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape<'a> {
    /// The locals of the frame before, nothing on the stack.
    Same,
    /// The locals of the frame before, one type on the stack.
    OneStackItem(Types<'a>),
    /// The locals of the frame before without the last ones.
    Chop(u8),
    /// The locals of the frame before and some more.
    Append(u8, Types<'a>),
    /// Everything spelled out.
    Full { locals: Types<'a>, stack: Types<'a> },
}

/// A list of verification types that is known to be well-formed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Types<'a> {
    count: u16,
    bytes: &'a [u8],
}

impl Types<'_> {
    fn parse<'a>(body: &'a [u8], reader: &mut Reader<'a>, count: u16) -> Result<Types<'a>, Error> {
        let start = reader.pos();
        for _ in 0..count {
            let offset = reader.offset();
            match reader.u8()? {
                0..=UNINITIALIZED_THIS => {}
                OBJECT | UNINITIALIZED => {
                    reader.take(2)?;
                }
                _ => return Err(Error::BadAttribute { what: WHAT, offset }),
            }
        }
        Ok(Types { count, bytes: &body[start..reader.pos()] })
    }

    /// Tag and operand of each type.
    fn iter(&self) -> impl Iterator<Item = (u8, u16)> {
        let mut reader = Reader::new(self.bytes, 0);
        std::iter::from_fn(move || {
            let tag = reader.u8().ok()?;
            let operand = if tag >= OBJECT { reader.u16().ok()? } else { 0 };
            Some((tag, operand))
        })
    }

    fn has_uninitialized_this(&self) -> bool {
        self.iter().any(|(tag, _)| tag == UNINITIALIZED_THIS)
    }

    /// `Uninitialized` names the `new` instruction itself, not the snippet before it.
    fn write(&self, layout: &Layout, out: &mut Vec<u8>) -> Result<(), Error> {
        for (tag, operand) in self.iter() {
            out.push(tag);
            if tag == OBJECT {
                out.extend_from_slice(&operand.to_be_bytes());
            } else if tag == UNINITIALIZED {
                let place = layout.place(WHAT, u32::from(operand))?;
                out.extend_from_slice(&(place as u16).to_be_bytes());
            }
        }
        Ok(())
    }
}

impl Shape<'_> {
    /// Whether `this` may be uninitialised here, given whether it may be in the locals of the frame before.
    fn has_uninitialized_this(&self, before: bool) -> bool {
        match self {
            Shape::Same | Shape::Chop(_) => before,
            Shape::OneStackItem(types) | Shape::Append(_, types) => before || types.has_uninitialized_this(),
            Shape::Full { locals, stack } => {
                locals.has_uninitialized_this() || stack.has_uninitialized_this()
            }
        }
    }

    /// The same state again, as a frame that follows this one.
    fn again(self) -> Self {
        match self {
            Shape::Same | Shape::Chop(_) | Shape::Append(..) => Shape::Same,
            Shape::OneStackItem(_) | Shape::Full { .. } => self,
        }
    }

    fn write(&self, delta: u16, layout: &Layout, out: &mut Vec<u8>) -> Result<(), Error> {
        let extended = |tag: u8, out: &mut Vec<u8>| {
            out.push(tag);
            out.extend_from_slice(&delta.to_be_bytes());
        };
        match self {
            Shape::Same if delta < 64 => out.push(delta as u8),
            Shape::Same => extended(SAME_EXTENDED, out),
            Shape::OneStackItem(stack) => {
                if delta < 64 {
                    out.push(64 + delta as u8);
                } else {
                    extended(ONE_STACK_ITEM_EXTENDED, out);
                }
                stack.write(layout, out)?;
            }
            Shape::Chop(tag) => extended(*tag, out),
            Shape::Append(tag, locals) => {
                extended(*tag, out);
                locals.write(layout, out)?;
            }
            Shape::Full { locals, stack } => {
                extended(FULL, out);
                for types in [locals, stack] {
                    out.extend_from_slice(&types.count.to_be_bytes());
                    types.write(layout, out)?;
                }
            }
        }
        Ok(())
    }
}

/// A frame with all its types, each as it is encoded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spelled {
    locals: Vec<Vec<u8>>,
    stack: Vec<Vec<u8>>,
    /// Both in one piece, to be written.
    bytes: [Vec<u8>; 2],
}

impl Spelled {
    fn new(locals: Vec<Vec<u8>>, stack: Vec<Vec<u8>>) -> Spelled {
        let bytes = [locals.concat(), stack.concat()];
        Spelled { locals, stack, bytes }
    }

    /// That of a handler that knows no locals, and catches a class by its number.
    pub(crate) fn caught(class: u16) -> Spelled {
        Spelled::new(Vec::new(), vec![object(class)])
    }

    fn shape(&self) -> Shape<'_> {
        let types = |count: usize, bytes| Types { count: count as u16, bytes };
        Shape::Full {
            locals: types(self.locals.len(), &self.bytes[0]),
            stack: types(self.stack.len(), &self.bytes[1]),
        }
    }
}

fn object(class: u16) -> Vec<u8> {
    let [high, low] = class.to_be_bytes();
    vec![OBJECT, high, low]
}

/// The locals with which a method begins.
pub(crate) fn first_locals(
    class: &ClassFile<'_>,
    member: &Member<'_>,
    additions: &mut Additions,
) -> Result<Vec<Vec<u8>>, Unpatched> {
    const STATIC: u16 = 0x0008;
    let mut locals = Vec::new();
    if member.access & STATIC == 0 {
        let is_new = member.name == b"<init>" && class.super_class != 0;
        locals.push(if is_new { vec![UNINITIALIZED_THIS] } else { object(class.this_class) });
    }
    for parameter in descriptor::parameters(member.descriptor) {
        locals.push(match parameter {
            b"B" | b"C" | b"I" | b"S" | b"Z" => vec![1],
            b"F" => vec![2],
            b"D" => vec![3],
            b"J" => vec![4],
            [b'L', name @ .., b';'] => object(additions.class(name)?),
            array => object(additions.class(array)?),
        });
    }
    Ok(locals)
}

/// The frames at some addresses, in ascending order, with all their types.
pub(crate) fn spelled(
    body: &[u8],
    offset: usize,
    first: Vec<Vec<u8>>,
    wanted: &[u32],
) -> Result<BTreeMap<u32, Spelled>, Error> {
    let list = |types: &Types<'_>| -> Vec<Vec<u8>> {
        let encoded = |(tag, operand): (u8, u16)| match tag {
            OBJECT | UNINITIALIZED => {
                let [high, low] = operand.to_be_bytes();
                vec![tag, high, low]
            }
            _ => vec![tag],
        };
        types.iter().map(encoded).collect()
    };
    let mut locals = first;
    let mut found = BTreeMap::new();
    for frame in Frames::new(body, offset)? {
        let (pc, shape) = frame?;
        let mut stack = Vec::new();
        match &shape {
            Shape::Same => {}
            Shape::OneStackItem(types) => stack = list(types),
            Shape::Chop(tag) => {
                let less = usize::from(SAME_EXTENDED - tag);
                locals.truncate(locals.len().saturating_sub(less));
            }
            Shape::Append(_, types) => locals.extend(list(types)),
            Shape::Full { locals: all, stack: above } => {
                locals = list(all);
                stack = list(above);
            }
        }
        if wanted.binary_search(&pc).is_ok() {
            found.insert(pc, Spelled::new(locals.clone(), stack));
        }
    }
    Ok(found)
}

/// The frames of a `StackMapTable` with their addresses.
pub(crate) struct Frames<'a> {
    body: &'a [u8],
    reader: Reader<'a>,
    left: u16,
    next: u32,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(body: &'a [u8], offset: usize) -> Result<Self, Error> {
        let mut reader = Reader::new(body, offset);
        let left = reader.u16()?;
        Ok(Frames { body, reader, left, next: 0 })
    }

    fn frame(&mut self) -> Result<(u32, Shape<'a>), Error> {
        let (body, reader) = (self.body, &mut self.reader);
        let offset = reader.offset();
        let tag = reader.u8()?;
        let delta = match tag {
            0..=63 => u16::from(tag),
            64..=127 => u16::from(tag - 64),
            128..=246 => return Err(Error::BadAttribute { what: WHAT, offset }),
            _ => reader.u16()?,
        };
        let shape = match tag {
            0..=63 | SAME_EXTENDED => Shape::Same,
            64..=ONE_STACK_ITEM_EXTENDED => Shape::OneStackItem(Types::parse(body, reader, 1)?),
            248..=250 => Shape::Chop(tag),
            252..=254 => Shape::Append(tag, Types::parse(body, reader, u16::from(tag - SAME_EXTENDED))?),
            FULL => {
                let count = reader.u16()?;
                let locals = Types::parse(body, reader, count)?;
                let count = reader.u16()?;
                Shape::Full { locals, stack: Types::parse(body, reader, count)? }
            }
        };
        let pc = self.next + u32::from(delta);
        self.next = pc + 1;
        Ok((pc, shape))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<(u32, Shape<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let frame = self.frame();
        if frame.is_err() {
            self.left = 0;
        }
        Some(frame)
    }
}

/// The addresses of frames, each with whether `this` may be uninitialised there.
pub(crate) fn uninitialized_this(body: &[u8], offset: usize) -> Result<Vec<(u32, bool)>, Error> {
    let mut before = true;
    let frames = Frames::new(body, offset)?.map(|frame| {
        let (pc, shape) = frame?;
        before = shape.has_uninitialized_this(before);
        Ok((pc, before))
    });
    frames.collect()
}

/// Writes the table with all addresses moved. Where jumps land behind the boundary of an instruction that has a frame,
/// the landings get frames of their own. `extra` has frames behind all others, by their new addresses.
pub(crate) fn write(
    body: &[u8],
    offset: usize,
    layout: &Layout,
    extra: &[(u32, Spelled)],
    out: &mut Vec<u8>,
) -> Result<(), Unpatched> {
    let start = out.len();
    out.extend_from_slice(&[0, 0]);
    let mut count = 0u32;
    let mut next = 0u32;
    let mut emit = |pc: u32, shape: Shape<'_>, out: &mut Vec<u8>| -> Result<(), Error> {
        // Old frames out of order become new frames out of order, which has no encoding.
        let delta = pc.checked_sub(next).and_then(|delta| u16::try_from(delta).ok());
        let delta = delta.ok_or(Error::BadAttribute { what: WHAT, offset })?;
        next = pc + 1;
        count += 1;
        shape.write(delta, layout, out)
    };
    let mut inner = Vec::new();
    for frame in Frames::new(body, offset)? {
        let (pc, shape) = frame?;
        if !layout.is_instruction(pc) {
            return Err(Error::BadTarget { what: WHAT, pc, offset }.into());
        }
        let boundary = layout.boundary(WHAT, pc)?;
        layout.inner_landings(pc, &mut inner);
        // Where control only falls into the boundary there may be more on the stack, and no frame is needed.
        if inner.is_empty() || layout.fallen_into.binary_search(&pc).is_err() {
            inner.insert(0, 0);
        }
        emit(boundary + inner[0], shape, out)?;
        for offset in &inner[1..] {
            emit(boundary + offset, shape.again(), out)?;
        }
    }
    for (pc, frame) in extra {
        emit(*pc, frame.shape(), out)?;
    }
    let count = u16::try_from(count).map_err(|_| Unpatched::MethodTooLarge { bytes: layout.code_len })?;
    put_u16(out, start, count);
    Ok(())
}
