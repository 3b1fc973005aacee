//! A method as plain data, for those who follow a recorded run through it (Kairux 4.2 slices such runs).

use hypocenter_classfile::op;
use hypocenter_plan::{MethodName, Site, SiteKind};

use crate::causality::causal::Causes;
use crate::causality::decisions::{Decision, Decisions};
use crate::facts::known;
use crate::loading::world::{FieldId, MethodId};
use crate::methods::dominance::{Dominance, Edges};
use crate::methods::flow::Way;
use crate::methods::loops::{Loop, Loops};
use crate::methods::values::{Const, Value, ValueId};
use crate::methods::view::MethodView;
use crate::sites::kinds::KindSet;
use crate::sites::sites_of_method;

/// A method: its blocks, its instructions with their operands, what decides about them, and its sites.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outline {
    /// Its name.
    pub name: MethodName,
    /// The first instruction of each block, and the one behind its last.
    pub blocks: Vec<(u32, u32)>,
    /// For each block the nearest handler that must have been entered before, as a block.
    pub regions: Vec<Option<u32>>,
    /// The instructions, by number.
    pub steps: Vec<OutlineStep>,
    /// The values, by number.
    pub values: Vec<OutlineValue>,
    /// The loops, in the order of their headers.
    pub loops: Vec<OutlineLoop>,
    /// The sites that report a run of the method.
    pub sites: Vec<(Site, Reports)>,
}

/// An instruction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutlineStep {
    /// The line in the source.
    pub line: Option<u32>,
    /// Its act.
    pub act: Act,
    /// Its operands, by the numbers of the values.
    pub operands: Vec<u32>,
    /// The branches that decide about it.
    pub deciders: Vec<u32>,
}

/// Act of an instruction.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Act {
    /// Moves values, or goes on elsewhere.
    #[default]
    Moves,
    /// Has this value.
    Constant(String),
    /// Computes its result from its operands.
    Computes,
    /// Makes an object.
    Makes(String),
    /// Goes one way or another.
    Branches,
    /// Leaves the method.
    Returns,
    /// Throws its operand.
    Throws,
    /// Reads a field.
    Reads(FieldId, String),
    /// Writes its last operand to a field.
    Writes(FieldId, String),
    /// Reads an element of an array.
    ReadsElement,
    /// Writes an element of an array.
    WritesElement,
    /// Calls a method.
    Calls(Callee),
}

/// A called method.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Callee {
    /// Its name, for people.
    pub shown: String,
    /// The methods of the system that may run.
    pub targets: Vec<MethodId>,
    /// True if a method of a library may run.
    pub is_library: bool,
    /// True if it may change the object that it is called on.
    pub tells: bool,
}

/// Origin of a value in an outline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OutlineValue {
    /// Unknown.
    #[default]
    Unknown,
    /// A parameter, `this` included.
    Parameter(u16),
    /// The exception that the handler in this block catches.
    Caught(u32),
    /// Result of this instruction.
    Result(u32),
    /// One of these values, which meet at the start of a block.
    Meets(u32, Vec<u32>),
}

/// A loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutlineLoop {
    /// The block that each iteration begins with.
    pub header: u32,
    /// Its blocks, sorted.
    pub body: Vec<u32>,
    /// True if no iteration depends on another but for its index: a map loop (Kairux 4.3).
    pub is_map: bool,
}

/// Report of a site about a run of the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reports {
    /// It begins.
    Entry,
    /// It returns.
    Exit,
    /// It ends by an exception.
    Unwind,
    /// This block begins.
    Block(u32),
    /// An exception comes out of the call at this instruction.
    Thrown(u32),
    /// This instruction reads or writes a field or an element: the object and the value.
    Accessed(u32),
    /// The object and the arguments of the call at this instruction.
    Passed(u32),
    /// Result of the call at this instruction.
    Gave(u32),
}

impl Reports {
    /// Tests whether it has objects and values.
    pub fn has_values(self) -> bool {
        matches!(self, Reports::Accessed(_) | Reports::Passed(_) | Reports::Gave(_))
    }
}

/// The kinds of sites that report a run.
const REPORTING: KindSet = KindSet::of(&[
    SiteKind::Entry,
    SiteKind::Exit,
    SiteKind::Unwind,
    SiteKind::Block,
    SiteKind::CallThrow,
    SiteKind::FieldRead,
    SiteKind::FieldWrite,
    SiteKind::ArrayRead,
    SiteKind::ArrayWrite,
    SiteKind::Call,
    SiteKind::CallReturn,
]);

impl Outline {
    /// The outline of a method; none if it has no code that can be followed.
    pub fn of(causes: Causes<'_>, method: MethodId) -> Option<Outline> {
        causes.world.look(method, |view| Drawing { causes, view: &view }.outline())
    }

    /// The block of an instruction.
    pub fn block_of(&self, instruction: u32) -> u32 {
        (self.blocks.partition_point(|it| it.0 <= instruction) as u32).saturating_sub(1)
    }
}

struct Drawing<'v> {
    causes: Causes<'v>,
    view: &'v MethodView<'v>,
}

impl Drawing<'_> {
    fn outline(&self) -> Outline {
        let flow = &self.view.body.flow;
        let decisions = Decisions::of(self.causes, self.view, false);
        let dominance = Dominance::of(flow, Edges::All).ok();
        let steps = (0..flow.instructions.len() as u32).map(|it| self.step(it, &decisions)).collect();
        let loops = Loops::of(flow).loops;
        Outline {
            name: self.name(),
            blocks: flow.blocks.iter().map(|it| (it.start, it.end)).collect(),
            regions: (0..flow.blocks.len() as u32).map(|it| self.region(it, dominance.as_ref())).collect(),
            steps,
            values: self.view.body.value_ids().map(|it| self.value(it)).collect(),
            loops: loops.into_iter().map(|it| self.drawn(it, dominance.as_ref())).collect(),
            sites: self.sites(),
        }
    }

    fn name(&self) -> MethodName {
        let world = self.causes.world;
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        MethodName {
            class: world.show_type(world.method(self.view.id).owner),
            method: text(self.view.member.name),
            descriptor: text(self.view.member.descriptor),
        }
    }

    fn sites(&self) -> Vec<(Site, Reports)> {
        let Ok(found) = sites_of_method(self.view.class, self.view.member, REPORTING) else {
            return Vec::new();
        };
        let name = self.name();
        let reported = found.sites.iter().filter_map(|it| {
            let instruction = u32::from(it.hooks.first()?.instruction);
            let reports = match it.kind {
                SiteKind::Entry => Reports::Entry,
                SiteKind::Exit => Reports::Exit,
                SiteKind::Unwind => Reports::Unwind,
                SiteKind::Block => Reports::Block(self.view.body.block_of(instruction)),
                SiteKind::CallThrow => Reports::Thrown(instruction),
                SiteKind::FieldRead | SiteKind::FieldWrite | SiteKind::ArrayRead | SiteKind::ArrayWrite => {
                    Reports::Accessed(instruction)
                }
                SiteKind::Call if self.is_library(instruction) => Reports::Passed(instruction),
                SiteKind::CallReturn if self.is_library(instruction) => Reports::Gave(instruction),
                _ => return None,
            };
            Some((it.named(&name.class, &name.method, &name.descriptor), reports))
        });
        reported.collect()
    }

    /// Tests whether a call may run code whose run is not recorded.
    fn is_library(&self, instruction: u32) -> bool {
        matches!(self.act(instruction), Act::Calls(it) if it.is_library)
    }

    fn region(&self, block: u32, dominance: Option<&Dominance>) -> Option<u32> {
        let above = |&it: &u32| dominance.and_then(|dominance| dominance.immediate(it));
        let handlers = &self.view.body.flow.handlers;
        let mut blocks = std::iter::successors(Some(block), above);
        blocks.find(|it| handlers.binary_search(it).is_ok())
    }

    fn value(&self, value: ValueId) -> OutlineValue {
        match self.view.body.value(value) {
            Value::Unknown => OutlineValue::Unknown,
            Value::Parameter(it) => OutlineValue::Parameter(it),
            Value::Caught(it) => OutlineValue::Caught(it),
            Value::Result(it) => OutlineValue::Result(it),
            Value::Phi(block) => {
                let inputs = self.view.body.inputs(value).iter().map(|it| it.number()).collect();
                OutlineValue::Meets(block, inputs)
            }
        }
    }

    fn step(&self, number: u32, decisions: &Decisions) -> OutlineStep {
        let body = self.view.body;
        let mut deciders: Vec<u32> = decisions
            .of_instruction(number)
            .iter()
            .filter(|it| it.by == Decision::Branch)
            .map(|it| it.instruction)
            .collect();
        deciders.dedup();
        OutlineStep {
            line: body.line(number),
            act: self.act(number),
            operands: body.operands(number).iter().map(|it| it.number()).collect(),
            deciders,
        }
    }

    fn act(&self, number: u32) -> Act {
        let instruction = self.view.instruction(number);
        let field = |act: fn(FieldId, String) -> Act| {
            self.view.field_at(number).map_or(Act::Computes, |it| act(it, self.field(it)))
        };
        match instruction.opcode {
            op::GETFIELD | op::GETSTATIC => field(Act::Reads),
            op::PUTFIELD | op::PUTSTATIC => field(Act::Writes),
            op::IALOAD..=op::SALOAD => Act::ReadsElement,
            op::IASTORE..=op::SASTORE => Act::WritesElement,
            op::ATHROW => Act::Throws,
            op::TABLESWITCH | op::LOOKUPSWITCH => Act::Branches,
            op::NEW => Act::Makes(self.view.class_at(number).map_or_else(String::new, |it| self.simple(it))),
            _ if instruction.is_return() => Act::Returns,
            _ if instruction.is_branch() => Act::Branches,
            _ if instruction.is_invoke() => Act::Calls(self.callee(number)),
            _ => match self.view.body.result(number) {
                None => Act::Moves,
                Some(it) => self.view.body.constant(it).map_or(Act::Computes, |it| Act::Constant(shown(it))),
            },
        }
    }

    fn callee(&self, number: u32) -> Callee {
        let Causes { world, facts, calls, .. } = self.causes;
        let Some(call) = facts.call_at(self.view.id, number).map(|it| facts.call(it)) else {
            return Callee { is_library: true, ..Callee::default() };
        };
        let is_library = self.causes.is_library(call);
        let named = call.callee.map(|it| world.method_ref(it));
        let name = named.map_or(&[] as &[u8], |it| world.signature(it.signature).0);
        let is_static = self.view.instruction(number).opcode == op::INVOKESTATIC;
        let shown = named.map_or_else(String::new, |it| {
            format!("{}.{}", self.simple(it.owner), String::from_utf8_lossy(name))
        });
        Callee {
            shown,
            targets: calls.targets(call).to_vec(),
            is_library,
            tells: is_library && !is_static && !known::only_asks(name),
        }
    }

    fn field(&self, field: FieldId) -> String {
        let world = self.causes.world;
        let name = String::from_utf8_lossy(world.field_name(field));
        format!("{}.{name}", self.simple(world.field(field).owner))
    }

    fn simple(&self, class: crate::loading::world::TypeId) -> String {
        let name = self.causes.world.show_type(class);
        name.get(name.rfind('.').map_or(0, |it| it + 1)..).unwrap_or(&name).to_owned()
    }

    fn drawn(&self, it: Loop, dominance: Option<&Dominance>) -> OutlineLoop {
        let is_map = dominance.is_some_and(|dominance| self.is_map(&it, dominance));
        OutlineLoop { header: it.header, body: it.body, is_map }
    }

    /// Tests whether iterations share nothing but an index or an iterator.
    fn is_map(&self, it: &Loop, dominance: &Dominance) -> bool {
        let body = self.view.body;
        let flow = &body.flow;
        let backward: Vec<u32> = flow
            .edges()
            .iter()
            .filter(|edge| edge.way != Way::Throw && edge.to == it.header && it.contains(edge.from))
            .map(|edge| edge.from)
            .collect();
        let is_every_time = |block: u32| backward.iter().all(|&from| dominance.dominates(block, from));
        let is_carried = |phi: ValueId| {
            let inside = body.inputs(phi).iter().filter(|input| match body.value(**input) {
                Value::Result(at) => it.contains(body.block_of(at)),
                Value::Phi(block) | Value::Caught(block) => it.contains(block),
                Value::Unknown | Value::Parameter(_) => false,
            });
            let is_used = !body.uses(phi).is_empty() || !body.phi_uses(phi).is_empty();
            let mut others = inside.filter(|input| !match body.value(**input) {
                Value::Result(at) => self.is_index(at, phi) && is_every_time(body.block_of(at)),
                _ => false,
            });
            is_used && others.next().is_some()
        };
        let phis = body.value_ids().filter(|&value| body.value(value) == Value::Phi(it.header));
        phis.into_iter().all(|phi| !is_carried(phi)) && !self.carries_field(it)
    }

    /// Tests whether an instruction adds a constant to a value.
    fn is_index(&self, at: u32, value: ValueId) -> bool {
        let body = self.view.body;
        let operands = body.operands(at);
        let others = || operands.iter().filter(|&&it| it != value);
        let adds =
            matches!(self.view.instruction(at).opcode, op::IINC | op::IADD | op::LADD | op::ISUB | op::LSUB);
        adds && operands.contains(&value) && others().all(|&it| body.constant(it).is_some())
    }

    /// Tests whether the body of a loop both reads and writes a field.
    fn carries_field(&self, it: &Loop) -> bool {
        let flow = &self.view.body.flow;
        let instructions = || {
            it.body.iter().flat_map(|&block| {
                let block = flow.blocks[block as usize];
                block.start..block.end
            })
        };
        let fields = |first: u8, second: u8| -> Vec<FieldId> {
            let wanted = instructions().filter(|&at| {
                let opcode = self.view.instruction(at).opcode;
                opcode == first || opcode == second
            });
            wanted.filter_map(|at| self.view.field_at(at)).collect()
        };
        let written = fields(op::PUTFIELD, op::PUTSTATIC);
        fields(op::GETFIELD, op::GETSTATIC).iter().any(|it| written.contains(it))
    }
}

/// A constant, for people.
fn shown(constant: Const<'_>) -> String {
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    match constant {
        Const::Int(it) | Const::Long(it) => it.to_string(),
        Const::Float(it) => it.to_string(),
        Const::Double(it) => it.to_string(),
        Const::String(it) => format!("\"{}\"", text(it)),
        Const::Class(it) => text(it),
        Const::Null => "null".to_owned(),
    }
}
