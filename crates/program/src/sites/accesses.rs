//! Sites at which objects are seen: accesses to fields and arrays, allocations, monitors, and calls by which threads wait for each other.

use std::sync::Arc;

use hypocenter_classfile::{ClassFile, Code, Instruction, Member, callee_text, display_name, op};
use hypocenter_plan::SiteKind;
use hypocenter_trace::{FALL_THROUGH, Placement, called};
use rustc_hash::FxHashMap;

use crate::methods::body::Body;
use crate::methods::flow::FlowError;
use crate::sites::{Hook, Listing, hook};

/// A site before it has its number.
struct Found {
    kind: SiteKind,
    callee: Option<Arc<str>>,
    pc: u32,
    hooks: Vec<Hook>,
}

/// Begin and end of an operation at a call.
struct Sides {
    begin: Hook,
    ends: Vec<Hook>,
    callee: Arc<str>,
}

impl Listing {
    /// Lists them in the order of the code.
    pub(super) fn of_accesses(
        &mut self,
        class: &ClassFile<'_>,
        method: &Member<'_>,
        code: &Code<'_>,
    ) -> Result<(), FlowError> {
        let instructions = code.instructions().collect::<Result<Vec<_>, _>>()?;
        let mut found = Vec::new();
        if method.is_synchronized() {
            found.extend(of_synchronized(&instructions));
        }
        for (number, it) in instructions.iter().enumerate() {
            let before = |kind, callee| found_at(kind, callee, it, number, Placement::Before);
            let after = |kind, callee| found_at(kind, callee, it, number, Placement::After);
            match it.opcode {
                op::GETFIELD | op::GETSTATIC => {
                    found.push(after(SiteKind::FieldRead, field_text(class, it)?))
                }
                op::PUTFIELD | op::PUTSTATIC => {
                    found.push(before(SiteKind::FieldWrite, field_text(class, it)?))
                }
                op::IALOAD..=op::SALOAD => found.push(after(SiteKind::ArrayRead, None)),
                op::IASTORE..=op::SASTORE => found.push(before(SiteKind::ArrayWrite, None)),
                op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY => {
                    found.push(after(SiteKind::Allocation, array_text(class, it)?));
                }
                op::MONITOREXIT => found.push(before(SiteKind::MonitorExit, None)),
                op::MONITORENTER => found.extend(entered(&instructions, number)),
                _ => {}
            }
        }
        if self.kinds.contains(SiteKind::Allocation) {
            found.extend(allocations(class, method, &instructions)?);
            found.sort_by_key(|it| it.pc);
        }
        self.numbered(found);
        Ok(())
    }

    fn numbered(&mut self, found: Vec<Found>) {
        let mut totals: FxHashMap<(SiteKind, Option<Arc<str>>), usize> = FxHashMap::default();
        for it in &found {
            *totals.entry((it.kind, it.callee.clone())).or_default() += 1;
        }
        let mut seen: FxHashMap<(SiteKind, Option<Arc<str>>), usize> = FxHashMap::default();
        for Found { kind, callee, pc, hooks } in found {
            let key = (kind, callee.clone());
            let total = totals[&key];
            let ordinal = seen.entry(key).or_default();
            self.add(kind, callee, (*ordinal, total), pc, hooks);
            *ordinal += 1;
        }
    }

    /// Operations that are seen at calls: what is called has no code of its own, as `Object.wait`, or it is the program's.
    pub(super) fn of_called(
        &mut self,
        class: &ClassFile<'_>,
        method: &Member<'_>,
        code: &Code<'_>,
    ) -> Result<(), FlowError> {
        let mut calls: Vec<Sides> = Vec::new();
        for (number, it) in code.instructions().enumerate() {
            let it = it?;
            if !matches!(it.opcode, op::INVOKEVIRTUAL | op::INVOKEINTERFACE) {
                continue;
            }
            let Some(index) = it.pool_index() else { continue };
            let callee = class.pool.member(index)?;
            if called(class.name(), method.name, callee.name, callee.descriptor).is_none() {
                continue;
            }
            let Some(text) = callee_text(&class.pool, &it) else { continue };
            let at = |placement| Hook { placement, ..hook(Placement::Before, &it, number) };
            let ends = vec![at(Placement::After), at(Placement::Thrown)];
            calls.push(Sides { begin: at(Placement::Before), ends, callee: text.into() });
        }
        for (number, it) in calls.iter().enumerate() {
            let same = |other: &&Sides| other.callee == it.callee;
            let numbers = (calls[..number].iter().filter(same).count(), calls.iter().filter(same).count());
            let pc = it.begin.pc.into();
            self.add(SiteKind::Operation, Some(it.callee.clone()), numbers, pc, vec![it.begin.clone()]);
            self.add(SiteKind::OperationEnd, Some(it.callee.clone()), numbers, pc, it.ends.clone());
        }
        Ok(())
    }
}

fn found_at(
    kind: SiteKind,
    callee: Option<Arc<str>>,
    instruction: &Instruction<'_>,
    number: usize,
    placement: Placement,
) -> Found {
    Found { kind, callee, pc: instruction.pc, hooks: vec![hook(placement, instruction, number)] }
}

/// A method that holds a monitor as long as it runs: it is taken before the first instruction, and given back after a return or where an
/// exception leaves the method.
fn of_synchronized(code: &[Instruction<'_>]) -> [Found; 2] {
    let around = |placement| Hook { placement, pc: 0, instruction: 0, edges: Vec::new() };
    let returns = code.iter().enumerate().filter(|(_, it)| it.is_return());
    let returns = returns.map(|(number, it)| hook(Placement::Before, it, number));
    let found = |kind, hooks| Found { kind, callee: None, pc: 0, hooks };
    [
        found(SiteKind::MonitorEnter, vec![around(Placement::Entry)]),
        found(SiteKind::MonitorExit, std::iter::once(around(Placement::Unwind)).chain(returns).collect()),
    ]
}

/// The hook stands behind the instruction, where the range begins whose handler gives the monitor back: compilers of the JVM refuse a method
/// in which anything can throw between the two.
fn entered(code: &[Instruction<'_>], number: usize) -> Option<Found> {
    let next = code.get(number + 1)?;
    let behind = Hook { edges: vec![FALL_THROUGH], ..hook(Placement::Edges, next, number + 1) };
    Some(Found { kind: SiteKind::MonitorEnter, callee: None, pc: code[number].pc, hooks: vec![behind] })
}

/// Objects that are made, each seen when its constructor has returned. Where that leaves no reference on the stack the hook stands before
/// the instruction, and sees no object.
fn allocations(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    code: &[Instruction<'_>],
) -> Result<Vec<Found>, FlowError> {
    let mut found = Vec::new();
    if !code.iter().any(|it| it.opcode == op::NEW) {
        return Ok(found);
    }
    let body = Body::of_method(class, method)?.filter(Body::is_complete);
    let mut open: Vec<(usize, &[u8])> = Vec::new();
    for (number, it) in code.iter().enumerate() {
        let Some(index) = it.pool_index() else { continue };
        if it.opcode == op::NEW {
            let name = class.pool.class_name(index)?;
            let text = Some(display_name(name).into());
            found.push(found_at(SiteKind::Allocation, text, it, number, Placement::Before));
            open.push((found.len() - 1, name));
        } else if it.opcode == op::INVOKESPECIAL {
            let called = class.pool.member(index)?;
            if called.name != b"<init>" || open.last().is_none_or(|it| it.1 != called.owner) {
                continue;
            }
            let Some((at, _)) = open.pop() else { continue };
            let made = usize::from(found[at].hooks[0].instruction);
            let is_it =
                |body: &Body<'_>| body.operands(number as u32).first().copied() == body.result(made as u32);
            if leaves_reference(&code[made..number]) && body.as_ref().is_some_and(is_it) {
                found[at].hooks = vec![hook(Placement::After, it, number)];
            }
        }
    }
    Ok(found)
}

/// Tests whether of two references to a new object the one below is still there when the constructor has taken the other.
fn leaves_reference(code: &[Instruction<'_>]) -> bool {
    let moves = |it: &Instruction<'_>| matches!(it.opcode, op::POP..=op::POP2 | op::DUP_X1..=op::SWAP);
    code.get(1).is_some_and(|it| it.opcode == op::DUP) && !code.iter().any(moves)
}

fn field_text(class: &ClassFile<'_>, instruction: &Instruction<'_>) -> Result<Option<Arc<str>>, FlowError> {
    let Some(index) = instruction.pool_index() else { return Ok(None) };
    let field = class.pool.member(index)?;
    Ok(Some(format!("{}.{}", display_name(field.owner), display_name(field.name)).into()))
}

/// The type of an array that is made, as in the source.
fn array_text(class: &ClassFile<'_>, instruction: &Instruction<'_>) -> Result<Option<Arc<str>>, FlowError> {
    const FIRST: u8 = 4;
    const ELEMENTS: &[u8; 8] = b"ZCFDBSIJ";
    if instruction.opcode == op::NEWARRAY {
        let code = instruction.bytes.get(1).copied().unwrap_or(0).wrapping_sub(FIRST);
        let element = ELEMENTS.get(usize::from(code)).copied();
        return Ok(element.map(|it| display_type(&[b'[', it]).into()));
    }
    let Some(index) = instruction.pool_index() else { return Ok(None) };
    let name = class.pool.class_name(index)?;
    let made = if instruction.opcode == op::MULTIANEWARRAY { name.to_vec() } else { array_of(name) };
    Ok(Some(display_type(&made).into()))
}

/// The descriptor of an array of a class, which may be an array itself.
fn array_of(name: &[u8]) -> Vec<u8> {
    match name.starts_with(b"[") {
        true => [b"[", name].concat(),
        false => [b"[L", name, b";"].concat(),
    }
}

/// A descriptor as in the source.
fn display_type(descriptor: &[u8]) -> String {
    const NAMES: [(u8, &str); 8] = [
        (b'Z', "boolean"),
        (b'C', "char"),
        (b'F', "float"),
        (b'D', "double"),
        (b'B', "byte"),
        (b'S', "short"),
        (b'I', "int"),
        (b'J', "long"),
    ];
    let depth = descriptor.iter().take_while(|it| **it == b'[').count();
    let element = &descriptor[depth..];
    let name = match NAMES.iter().find(|it| element == [it.0]) {
        Some(it) => it.1.to_owned(),
        None => {
            display_name(element.strip_prefix(b"L").unwrap_or(element).strip_suffix(b";").unwrap_or(element))
        }
    };
    name + &"[]".repeat(depth)
}
