//! A method while it is looked at: its body, with what its constants name.

use hypocenter_classfile::{BootstrapMethod, ClassFile, Constant, Instruction, Member, descriptor, op};

use crate::causality::need::constant_field;
use crate::facts::{Given, Lambda};
use crate::loading::world::{FieldId, MethodId, NONE, RefId, TypeId, World};
use crate::methods::body::Body;
use crate::methods::values::{Const, Value, ValueId};

/// A method of the system with its body.
#[derive(Debug, Clone, Copy)]
pub struct MethodView<'v> {
    /// Everything that has a name.
    pub world: &'v World,
    /// The method.
    pub id: MethodId,
    /// Its class file.
    pub class: &'v ClassFile<'v>,
    /// The method in it.
    pub member: &'v Member<'v>,
    /// Its control flow and values.
    pub body: &'v Body<'v>,
    pub(crate) pool: &'v [u32],
}

/// The class of an object as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The class.
    pub class: TypeId,
    /// True if it is exactly that class, and none below it.
    pub is_exact: bool,
}

impl<'v> MethodView<'v> {
    /// The number of what a constant names. The numbers of classes, methods and fields look alike, and an
    /// instruction of a broken class may name a constant of the wrong kind.
    fn at(&self, index: u16, is_kind: impl Fn(&Constant) -> bool) -> Option<u32> {
        let number = self.pool.get(usize::from(index)).copied().filter(|&it| it != NONE)?;
        self.class.pool.get(index).is_ok_and(|it| is_kind(&it)).then_some(number)
    }

    /// An instruction by its number.
    pub fn instruction(&self, number: u32) -> &Instruction<'v> {
        &self.body.flow.instructions[number as usize]
    }

    /// The class that an instruction names (`new`, `checkcast`, `instanceof`).
    pub fn class_at(&self, number: u32) -> Option<TypeId> {
        let it = self.instruction(number);
        let names_class = matches!(it.opcode, op::NEW | op::CHECKCAST | op::INSTANCEOF | op::ANEWARRAY);
        self.class_constant(it.pool_index().filter(|_| names_class)?)
    }

    /// The class of a constant.
    pub fn class_constant(&self, index: u16) -> Option<TypeId> {
        self.at(index, |it| matches!(it, Constant::Class { .. })).map(TypeId)
    }

    /// The method that an instruction calls; none for `invokedynamic`.
    pub fn callee_at(&self, number: u32) -> Option<RefId> {
        let it = self.instruction(number);
        let names_method = matches!(it.opcode, op::INVOKEVIRTUAL..=op::INVOKEINTERFACE);
        self.method_constant(it.pool_index().filter(|_| names_method)?)
    }

    /// The field that an instruction reads or writes.
    pub fn field_at(&self, number: u32) -> Option<FieldId> {
        let it = self.instruction(number);
        let names_field = matches!(it.opcode, op::GETSTATIC..=op::PUTFIELD);
        let index = it.pool_index().filter(|_| names_field)?;
        self.at(index, |it| matches!(it, Constant::Fieldref { .. })).map(FieldId)
    }

    /// The method of a constant, for handles.
    pub fn method_constant(&self, index: u16) -> Option<RefId> {
        let is_method =
            |it: &Constant| matches!(it, Constant::Methodref { .. } | Constant::InterfaceMethodref { .. });
        self.at(index, is_method).map(RefId)
    }

    /// Tests whether the method has no `this`.
    pub fn is_static(&self) -> bool {
        self.world.method(self.id).is_static()
    }

    /// The descriptor of a parameter; 0 is `this` in an instance method, for which there is none.
    pub fn parameter(&self, number: u16) -> Option<&'v [u8]> {
        let skipped = u16::from(!self.is_static());
        descriptor::parameters(self.member.descriptor).nth(usize::from(number.checked_sub(skipped)?))
    }

    /// Known class of an object by its origin. Through phis nothing is known.
    pub fn class_of(&self, value: ValueId) -> Option<Known> {
        let about = |class: Option<TypeId>| class.map(|class| Known { class, is_exact: false });
        match self.body.value(value) {
            Value::Parameter(0) if !self.is_static() => about(Some(self.world.method(self.id).owner)),
            Value::Parameter(number) => about(self.world.find_descriptor(self.parameter(number)?)),
            Value::Result(number) => match self.instruction(number).opcode {
                op::NEW => self.class_at(number).map(|class| Known { class, is_exact: true }),
                op::CHECKCAST => about(self.class_at(number)),
                op::GETSTATIC | op::GETFIELD => {
                    let field = self.world.field(self.field_at(number)?);
                    about(self.world.find_descriptor(self.world.signature(field.signature).1))
                }
                op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                    let callee = self.world.method_ref(self.callee_at(number)?);
                    let descriptor = self.world.signature(callee.signature).1;
                    about(self.world.find_descriptor(descriptor::return_type(descriptor)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The lambdas and method references that are made here.
    pub(crate) fn lambdas(&self, bootstraps: &[BootstrapMethod]) -> Vec<Lambda> {
        let mut lambdas = Vec::new();
        for (number, instruction) in self.body.flow.instructions.iter().enumerate() {
            if instruction.opcode == op::INVOKEDYNAMIC {
                lambdas.extend(instruction.pool_index().and_then(|it| self.lambda(number, it, bootstraps)));
            }
        }
        lambdas
    }

    fn lambda(&self, number: usize, index: u16, bootstraps: &[BootstrapMethod]) -> Option<Lambda> {
        let pool = &self.class.pool;
        let site = pool.invoke_dynamic(index).ok()?;
        let bootstrap = bootstraps.get(usize::from(site.bootstrap))?;
        let Constant::MethodHandle { reference, .. } = pool.get(bootstrap.method).ok()? else { return None };
        if pool.member(reference).ok()?.owner != b"java/lang/invoke/LambdaMetafactory" {
            return None;
        }
        let &[shape, handle, ..] = &bootstrap.arguments[..] else { return None };
        let Constant::MethodHandle { reference, .. } = pool.get(handle).ok()? else { return None };
        let named = self.method_constant(reference)?;
        let implementation = self.world.method_ref(named).method;
        let shape = pool.single_name(shape).ok()?;
        Some(Lambda {
            method: self.id,
            instruction: number as u16,
            interface: self.world.find_descriptor(descriptor::return_type(site.descriptor)),
            signature: self.world.find_signature(site.name, shape),
            implementation: implementation.filter(|&it| self.world.is_system_method(it)),
            named: Some(named),
            captured: descriptor::parameters(site.descriptor).count() as u16,
        })
    }

    /// The field that a value was read from, if it is the plain result of a read.
    pub fn field_of(&self, value: ValueId) -> Option<FieldId> {
        match self.body.value(value) {
            Value::Result(number)
                if matches!(self.instruction(number).opcode, op::GETSTATIC | op::GETFIELD) =>
            {
                self.field_at(number)
            }
            _ => None,
        }
    }

    /// Kind of a value, as far as it can be seen without following it.
    pub fn given(&self, value: ValueId) -> Given {
        let body = self.body;
        match body.constant(value) {
            Some(Const::Int(number)) => return i32::try_from(number).map_or(Given::Unknown, Given::Number),
            Some(Const::Null) => return Given::Null,
            Some(Const::String(_) | Const::Class(_)) => return Given::Object,
            Some(_) => return Given::Unknown,
            None => {}
        }
        match body.value(value) {
            Value::Result(number)
                if matches!(
                    self.instruction(number).opcode,
                    op::NEW | op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY | op::INVOKEDYNAMIC
                ) =>
            {
                Given::Object
            }
            Value::Result(_) => constant_field(self, value).map_or(Given::Unknown, Given::Static),
            Value::Parameter(0) if !self.is_static() => Given::Object,
            Value::Caught(_) => Given::Object,
            _ => Given::Unknown,
        }
    }
}
