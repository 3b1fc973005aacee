//! From where an exception may be caught.

use crate::instruction::Instruction;
use crate::{ClassFile, Code, Error, Member, frames, op};

/// The first address at which `this` is certainly initialised: 0 but in a constructor. `None` if there is none.
pub fn initialised_from(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    code: &Code<'_>,
) -> Result<Option<u32>, Error> {
    let pcs = code.instructions().map(|it| Ok(it?.pc)).collect::<Result<Vec<u32>, Error>>()?;
    protected_from(class, method, code, &pcs)
}

/// The first address that a handler over the whole method may protect: 0, but in a constructor the point behind which
/// `this` is certainly initialised, because no frame of the handler could say that it may not be. `None` if there is no
/// such point.
pub(crate) fn protected_from(
    class: &ClassFile<'_>,
    member: &Member<'_>,
    code: &Code<'_>,
    pcs: &[u32],
) -> Result<Option<u32>, Error> {
    if member.name != b"<init>" || class.super_class == 0 {
        return Ok(Some(0));
    }
    let end = code.bytes.len() as u32;
    let table = code.attribute_list.iter(&code.pool).find(|a| a.name == b"StackMapTable");
    // Frames cut the code into regions; in each `this` is uninitialised up to the constructor call, or all through.
    let mut regions = vec![(0, true)];
    if let Some(table) = table {
        regions.extend(frames::uninitialized_this(table.body, table.body_offset())?);
    }
    let mut from = 0;
    for (n, &(start, uninitialized)) in regions.iter().enumerate() {
        if uninitialized {
            let next = regions.get(n + 1).map_or(end, |region| region.0);
            from = from.max(last_constructor_call(class, code, pcs, start..next)?.unwrap_or(next));
        }
    }
    Ok((from < end).then_some(from))
}

/// The address behind the last call in `range` that may be the one of `this(..)` or `super(..)`.
fn last_constructor_call(
    class: &ClassFile<'_>,
    code: &Code<'_>,
    pcs: &[u32],
    range: std::ops::Range<u32>,
) -> Result<Option<u32>, Error> {
    let first = pcs.partition_point(|pc| *pc < range.start);
    let past = pcs.partition_point(|pc| *pc < range.end).max(first);
    for &pc in pcs[first..past].iter().rev() {
        if code.bytes[pc as usize] != op::INVOKESPECIAL {
            continue;
        }
        let call = Instruction::decode(code.bytes, pc as usize, code.offset)?;
        let Some(index) = call.pool_index() else { continue };
        let callee = class.pool.member(index)?;
        let own = callee.owner == class.name() || Some(callee.owner) == class.super_name();
        if own && callee.name == b"<init>" {
            return Ok(Some(call.end()));
        }
    }
    Ok(None)
}
