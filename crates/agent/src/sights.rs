//! The code that hands objects and values to the helper.
//!
//! Nothing of it branches. What lies too deep on the stack is put into local variables behind those of the method, and taken back.

use hypocenter_classfile::{ClassFile, Code, Instruction, Member, Unpatched, descriptor, op};
use hypocenter_plan::SiteKind;
use hypocenter_trace::{Placement, TracedValue};

use crate::transform::{ClassPatch, Placed};
use crate::values::{COUNTS, OBJECT, Slot, ValueCall, part_shape};

/// Words that such code needs above what is on the stack.
pub(crate) const STACK_WORDS: u16 = 10;

/// The method that is patched.
pub(crate) struct Method<'m, 'a> {
    pub class: &'m ClassFile<'a>,
    pub member: &'m Member<'a>,
    pub code: &'m Code<'a>,
}

/// Code beside that of a hook.
#[derive(Default)]
pub(crate) struct Extra {
    /// What is kept for it, at an address before.
    pub keep: Option<(u32, &'static [u8])>,
    /// Words of local variables.
    pub locals: u16,
    /// True if the plain hook follows, which is the hit itself.
    pub then_plain: bool,
}

impl<'a> Method<'_, 'a> {
    fn instruction(&self, pc: u32) -> Option<Instruction<'a>> {
        self.code.instructions().filter_map(Result::ok).find(|it| it.pc == pc)
    }

    fn opcode(&self, pc: u32) -> u8 {
        self.code.bytes.get(pc as usize).copied().unwrap_or(op::NOP)
    }

    fn is_constructor(&self) -> bool {
        self.member.name == b"<init>"
    }

    /// The parameters, and where each is when the method begins.
    fn parameters(&self) -> Vec<(usize, Slot, u16)> {
        let mut local = u16::from(!self.member.is_static());
        let mut all = Vec::new();
        // In a constructor there is no object yet.
        if local > 0 && !self.is_constructor() {
            all.push((0, Slot::Reference, 0));
        }
        for (number, slot) in descriptor::parameters(self.member.descriptor).filter_map(Slot::of).enumerate()
        {
            all.push((number + 1, slot, local));
            local += slot.words();
        }
        all
    }
}

/// The arguments of a call in local variables.
struct Spilled {
    slots: Vec<Slot>,
    first: u16,
}

impl Spilled {
    fn of(descriptor: &[u8], code: &Code<'_>) -> Spilled {
        let slots = descriptor::parameters(descriptor).filter_map(Slot::of).collect();
        Spilled { slots, first: code.max_locals }
    }

    fn words(&self) -> u16 {
        self.slots.iter().map(|it| it.words()).sum()
    }

    fn local(&self, number: usize) -> u16 {
        self.first.saturating_add(self.slots[..number].iter().map(|it| it.words()).sum())
    }

    fn store(&self, out: &mut Vec<u8>) {
        for (number, slot) in self.slots.iter().enumerate().rev() {
            at_local(slot.opcode(op::ISTORE), self.local(number), out);
        }
    }

    fn load(&self, number: usize, out: &mut Vec<u8>) {
        at_local(self.slots[number].opcode(op::ILOAD), self.local(number), out);
    }

    fn load_all(&self, out: &mut Vec<u8>) {
        (0..self.slots.len()).for_each(|it| self.load(it, out));
    }
}

fn at_local(opcode: u8, local: u16, out: &mut Vec<u8>) {
    match u8::try_from(local) {
        Ok(local) => out.extend_from_slice(&[opcode, local]),
        Err(_) => {
            out.extend_from_slice(&[op::WIDE, opcode]);
            out.extend_from_slice(&local.to_be_bytes());
        }
    }
}

fn shape(value: u16, out: &mut Vec<u8>) {
    out.push(op::SIPUSH);
    out.extend_from_slice(&value.to_be_bytes());
}

/// The shape of an object that a site is about.
fn object_shape() -> u16 {
    part_shape(Slot::Reference, 0) | COUNTS | OBJECT
}

fn doubled(slot: Slot) -> u8 {
    if slot.words() == 2 { op::DUP2 } else { op::DUP }
}

impl ClassPatch<'_> {
    /// Writes the code of a hook that sees values; none if there is nothing to see there but the hit.
    pub(crate) fn sight(
        &mut self,
        hook: &Placed<'_>,
        method: &Method<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Extra>, Unpatched> {
        match hook.kind {
            SiteKind::FieldRead | SiteKind::FieldWrite => self.field(hook, method, out),
            SiteKind::ArrayRead | SiteKind::ArrayWrite => self.element(hook, method, out),
            SiteKind::Allocation if hook.placement == Placement::After => {
                out.push(op::DUP);
                self.about(hook, out)?;
                Ok(Some(Extra::default()))
            }
            SiteKind::MonitorEnter | SiteKind::MonitorExit => self.monitor(hook, method, out),
            SiteKind::Call => self.arguments(hook, method, out),
            SiteKind::CallReturn => {
                let called = called(hook, method).map(|it| it.1).unwrap_or_default();
                let slot = Slot::of(descriptor::return_type(called));
                self.parts(hook, slot.map(|it| (0, it, vec![doubled(it)])), out)
            }
            SiteKind::Exit => {
                let offset = method.opcode(hook.pc).wrapping_sub(op::IRETURN);
                let slot = (offset < op::RETURN - op::IRETURN).then(|| Slot::of_group(offset));
                self.parts(hook, slot.map(|it| (0, it, vec![doubled(it)])), out)
            }
            SiteKind::Entry => {
                let load = |(part, slot, local): (usize, Slot, u16)| {
                    let mut code = Vec::new();
                    at_local(slot.opcode(op::ILOAD), local, &mut code);
                    (part, slot, code)
                };
                self.parts(hook, method.parameters().into_iter().map(load), out)
            }
            SiteKind::Switch => self.parts(hook, [(0, Slot::Int, vec![op::DUP])], out),
            SiteKind::Branch => self.compared(hook, method.opcode(hook.pc), out),
            _ => Ok(None),
        }
    }

    /// The call of the helper behind the shape, for the object on the stack.
    fn about(&mut self, hook: &Placed<'_>, out: &mut Vec<u8>) -> Result<(), Unpatched> {
        shape(object_shape(), out);
        self.see(hook, ValueCall::Value(Slot::Reference), out)
    }

    fn field(
        &mut self,
        hook: &Placed<'_>,
        method: &Method<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Extra>, Unpatched> {
        let Some(instruction) = method.instruction(hook.pc) else { return Ok(None) };
        let Some(index) = instruction.pool_index() else { return Ok(None) };
        let Some(slot) = Slot::of(method.class.pool.member(index)?.descriptor) else { return Ok(None) };
        let wide = slot.words() == 2;
        let mut extra = Extra::default();
        match instruction.opcode {
            op::GETFIELD => {
                extra.keep = Some((hook.pc, &[op::DUP]));
                out.push(if wide { op::DUP2_X1 } else { op::DUP_X1 });
                self.see(hook, ValueCall::Field(slot), out)?;
            }
            op::PUTFIELD if wide => {
                let spilled = Spilled { slots: vec![slot], first: method.code.max_locals };
                extra.locals = spilled.words();
                spilled.store(out);
                out.push(op::DUP);
                spilled.load(0, out);
                self.see(hook, ValueCall::Field(slot), out)?;
                spilled.load(0, out);
            }
            op::PUTFIELD => {
                out.push(op::DUP2);
                self.see(hook, ValueCall::Field(slot), out)?;
            }
            op::GETSTATIC | op::PUTSTATIC => {
                out.push(doubled(slot));
                shape(part_shape(slot, 0) | COUNTS, out);
                self.see(hook, ValueCall::Value(slot), out)?;
            }
            _ => return Ok(None),
        }
        Ok(Some(extra))
    }

    fn element(
        &mut self,
        hook: &Placed<'_>,
        method: &Method<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Extra>, Unpatched> {
        let opcode = method.opcode(hook.pc);
        if matches!(opcode, op::IALOAD..=op::SALOAD) {
            let slot = Slot::of_group(opcode - op::IALOAD);
            out.push(if slot.words() == 2 { op::DUP2_X2 } else { op::DUP_X2 });
            self.see(hook, ValueCall::Element(slot), out)?;
            return Ok(Some(Extra { keep: Some((hook.pc, &[op::DUP2])), ..Extra::default() }));
        }
        let slot = Slot::of_group(opcode.wrapping_sub(op::IASTORE));
        let spilled = Spilled { slots: vec![slot], first: method.code.max_locals };
        spilled.store(out);
        out.push(op::DUP2);
        spilled.load(0, out);
        self.see(hook, ValueCall::Element(slot), out)?;
        spilled.load(0, out);
        Ok(Some(Extra { locals: spilled.words(), ..Extra::default() }))
    }

    fn monitor(
        &mut self,
        hook: &Placed<'_>,
        method: &Method<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Extra>, Unpatched> {
        let mut extra = Extra::default();
        match hook.placement {
            // Behind the instruction, whose operand was doubled before.
            Placement::Edges => {
                let Some(at) = hook.pc.checked_sub(1) else { return Ok(None) };
                if method.opcode(at) != op::MONITORENTER {
                    return Ok(None);
                }
                extra.keep = Some((at, &[op::DUP]));
            }
            Placement::Entry if !method.member.is_static() => out.push(op::ALOAD_0),
            Placement::Entry => self.class_constant(method, out)?,
            Placement::Before if method.opcode(hook.pc) == op::MONITOREXIT => out.push(op::DUP),
            // Of a method: the agent knows what it holds.
            _ => out.push(op::ACONST_NULL),
        }
        self.about(hook, out)?;
        Ok(Some(extra))
    }

    /// Pushes the class of the method, as far as class files of its version can.
    fn class_constant(&mut self, method: &Method<'_, '_>, out: &mut Vec<u8>) -> Result<(), Unpatched> {
        const CLASS_CONSTANTS_MAJOR: u16 = 49;
        if method.class.major < CLASS_CONSTANTS_MAJOR {
            out.push(op::ACONST_NULL);
            return Ok(());
        }
        out.push(op::LDC_W);
        out.extend_from_slice(&self.patcher.class(method.class.name())?.to_be_bytes());
        Ok(())
    }

    /// Values that are at hand by some code, each a part, and then the hit.
    fn parts(
        &mut self,
        hook: &Placed<'_>,
        parts: impl IntoIterator<Item = (usize, Slot, Vec<u8>)>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Extra>, Unpatched> {
        for (part, slot, code) in parts.into_iter().filter(|it| it.0 < TracedValue::PARTS_MAX) {
            out.extend_from_slice(&code);
            shape(part_shape(slot, part), out);
            self.see(hook, ValueCall::Value(slot), out)?;
        }
        Ok(Some(Extra { then_plain: true, ..Extra::default() }))
    }

    /// The receiver and the arguments of a call.
    fn arguments(
        &mut self,
        hook: &Placed<'_>,
        method: &Method<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Extra>, Unpatched> {
        let Some((name, descriptor)) = called(hook, method) else { return Ok(None) };
        let has_receiver =
            !matches!(method.opcode(hook.pc), op::INVOKESTATIC | op::INVOKEDYNAMIC) && name != b"<init>";
        let spilled = Spilled::of(descriptor, method.code);
        spilled.store(out);
        let receiver = has_receiver.then(|| (0, Slot::Reference, vec![op::DUP]));
        self.parts(hook, receiver, out)?;
        let arguments: Vec<(usize, Slot, Vec<u8>)> = (0..spilled.slots.len())
            .map(|it| {
                let mut code = Vec::new();
                spilled.load(it, &mut code);
                (it + 1, spilled.slots[it], code)
            })
            .collect();
        self.parts(hook, arguments, out)?;
        spilled.load_all(out);
        Ok(Some(Extra { locals: spilled.words(), then_plain: true, ..Extra::default() }))
    }

    /// The operands of a conditional jump; one that is compared with zero or null has that as the other.
    fn compared(
        &mut self,
        hook: &Placed<'_>,
        opcode: u8,
        out: &mut Vec<u8>,
    ) -> Result<Option<Extra>, Unpatched> {
        let (slot, code): (Slot, &[u8]) = match opcode {
            op::IFEQ..=op::IFLE => (Slot::Int, &[op::DUP, op::ICONST_0]),
            op::IF_ICMPEQ..=op::IF_ICMPLE => (Slot::Int, &[op::DUP2]),
            op::IF_ACMPEQ..=op::IF_ACMPNE => (Slot::Reference, &[op::DUP2]),
            op::IFNULL..=op::IFNONNULL => (Slot::Reference, &[op::DUP, op::ACONST_NULL]),
            _ => return Ok(None),
        };
        out.extend_from_slice(code);
        self.see(hook, ValueCall::Operands(slot), out)?;
        Ok(Some(Extra { then_plain: true, ..Extra::default() }))
    }

    /// Doubles the receiver of a call, and puts its arguments aside; what brings them back.
    pub(crate) fn receiver(
        &mut self,
        hook: &Placed<'_>,
        method: &Method<'_, '_>,
        out: &mut Vec<u8>,
    ) -> (u16, Vec<u8>) {
        let descriptor = called(hook, method).map(|it| it.1).unwrap_or_default();
        let spilled = Spilled::of(descriptor, method.code);
        spilled.store(out);
        out.push(op::DUP);
        let mut back = Vec::new();
        spilled.load_all(&mut back);
        (spilled.words(), back)
    }

    /// Pushes the site and calls the helper.
    fn see(&mut self, hook: &Placed<'_>, call: ValueCall, out: &mut Vec<u8>) -> Result<(), Unpatched> {
        self.push_number(hook.site.0, out)?;
        let constant = match self.sights.iter().find(|it| it.0 == call) {
            Some(&(_, constant)) => constant,
            None => {
                let (name, descriptor) = call.method();
                let owner = crate::helper::CLASS.as_bytes();
                let constant = self.patcher.method_ref(owner, name.as_bytes(), descriptor.as_bytes())?;
                self.sights.push((call, constant));
                constant
            }
        };
        out.push(op::INVOKESTATIC);
        out.extend_from_slice(&constant.to_be_bytes());
        Ok(())
    }
}

/// The name and descriptor of what is called.
fn called<'a>(hook: &Placed<'_>, method: &Method<'_, 'a>) -> Option<(&'a [u8], &'a [u8])> {
    let instruction = method.instruction(hook.pc)?;
    let index = instruction.pool_index()?;
    if instruction.opcode == op::INVOKEDYNAMIC {
        let site = method.class.pool.invoke_dynamic(index).ok()?;
        return Some((site.name, site.descriptor));
    }
    let callee = method.class.pool.member(index).ok()?;
    Some((callee.name, callee.descriptor))
}

/// Tests whether a hook stands where the object that it would see may not be initialised.
pub(crate) fn is_too_early(hook: &Placed<'_>, method: &Method<'_, '_>) -> bool {
    let sees = hook.kind == SiteKind::FieldWrite && method.opcode(hook.pc) == op::PUTFIELD
        || hook.kind.is_of_monitor();
    if !sees || !method.is_constructor() {
        return false;
    }
    let from = hypocenter_classfile::initialised_from(method.class, method.member, method.code);
    from.ok().flatten().is_none_or(|from| hook.pc < from)
}
