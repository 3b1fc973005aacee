//! Origins of the streams of a method, stored so that its body need not be built again.

use std::sync::Arc;

use hypocenter_classfile::{ClassFile, descriptor, op};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::dataflow::memory::{Cell, MemoryPlace, Root};
use crate::dataflow::streams::Streams;
use crate::facts::calls::CallGraph;
use crate::facts::known;
use crate::facts::{CallId, CallKind, Facts};
use crate::loading::world::{MethodId, Origin, RefId, SystemClass, TypeId, World, access};
use crate::methods::body::Body;
use crate::methods::values::{Const, Value, ValueId};
use crate::methods::view::MethodView;

/// Maximum number of nested streams that are followed.
const DEPTH_MAX: usize = 100;
/// Maximum number of values that are checked for one stream; code that wraps in loops within loops could ask for more.
const STEPS_MAX: usize = 10_000;

/// Number of classes from which a second thread pays off.
const PARALLEL_MIN: usize = 4;

/// Possible origins of a stream.
pub(crate) type Expr = Vec<Atom>;

/// One thing that a stream may come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Atom {
    /// A thing of its own.
    Root(Root),
    /// Return values of methods of the system, or an object that their constructors create, with these arguments.
    Result { of: Vec<Cell>, arguments: Vec<(u16, Expr)> },
}

/// The streams of a method.
#[derive(Debug, Default)]
pub(crate) struct Sketch {
    /// True if it has a body that could be read.
    pub is_read: bool,
    /// By instruction and number of the operand: what calls of the system are given, and lambdas.
    pub arguments: FxHashMap<(u16, u16), Expr>,
    /// By instruction: how many values a lambda takes along.
    pub captures: FxHashMap<u16, u16>,
    /// By instruction: what is written to a field, and on which line.
    pub writes: FxHashMap<u16, (u16, Expr)>,
    /// Returned value.
    pub returns: Expr,
    /// Of a constructor: what the new object works on.
    pub made: Expr,
    /// By instruction: what a call of a library works on that does input or output.
    pub sites: FxHashMap<u16, Expr>,
}

/// Queries before bodies are analyzed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sketcher<'w> {
    pub world: &'w World,
    pub facts: &'w Facts,
    pub calls: &'w CallGraph,
    pub streams: &'w Streams,
    pub io_exception: Option<TypeId>,
}

impl<'w> Sketcher<'w> {
    /// Tests whether a call is one of a library that may fail with an `IOException`, or that keeps it to itself as those of
    /// `PrintStream` and `PrintWriter` do.
    pub fn is_io(&self, call: CallId) -> bool {
        self.facts.call(call).callee.is_some_and(|it| self.does_io(it))
    }

    /// The same of what a call names.
    pub fn does_io(&self, callee: RefId) -> bool {
        let world = self.world;
        let Some(method) = world.method_ref(callee).method.filter(|&it| !world.is_system_method(it)) else {
            return false;
        };
        let declares = |io: TypeId| world.throws(method).iter().any(|&it| world.is_subtype(it, io));
        let owner = world.type_name(world.method(method).owner);
        self.io_exception.is_some_and(declares) || known::prints(owner, world.method_name(method))
    }

    /// Tests whether one of the arguments of a call may carry a stream.
    pub fn is_given_stream(&self, call: CallId) -> bool {
        let world = self.world;
        let Some(callee) = self.facts.call(call).callee else { return false };
        let mut given = descriptor::parameters(world.signature(world.method_ref(callee).signature).1);
        given.any(|it| self.streams.of_descriptor(world, it).is_carrier)
    }

    /// Tests whether an `IOException` may come out of what the system runs behind a call. What implements a method of a library
    /// that declares none has to keep it to itself: not every `Iterator` has to be looked at for one `next`.
    pub fn lets_io_out(&self, callee: RefId) -> bool {
        let world = self.world;
        let method = world.method_ref(callee).method.filter(|&it| !world.is_system_method(it));
        let (Some(method), Some(io)) = (method, self.io_exception) else { return true };
        world.throws(method).iter().any(|&it| world.is_subtype(it, io) || world.is_subtype(io, it))
    }

    /// Looks at methods, sorted by number. One that has no body, or a broken one, has no streams.
    pub fn sketch(&self, methods: &[MethodId]) -> Vec<(MethodId, Arc<Sketch>)> {
        // Methods are numbered by class, and a class is read once for all of them.
        let owner = |it: &MethodId| self.world.method(*it).owner;
        let classes: Vec<&[MethodId]> = methods.chunk_by(|a, b| owner(a) == owner(b)).collect();
        let of_class = |methods: &&[MethodId]| {
            let class = methods.first().and_then(|it| self.world.system_class(owner(it)));
            let class = class.map(|it| (it, ClassFile::parse(&it.bytes).expect("was read before")));
            let sketch = |&id: &MethodId| {
                let sketch = class.as_ref().and_then(|(system, class)| self.of_method(system, class, id));
                (id, Arc::new(sketch.unwrap_or_default()))
            };
            methods.iter().map(sketch).collect::<Vec<_>>()
        };
        if classes.len() < PARALLEL_MIN {
            return classes.iter().flat_map(of_class).collect();
        }
        classes.par_iter().flat_map_iter(of_class).collect()
    }

    fn of_method(&self, system: &SystemClass, class: &ClassFile<'_>, id: MethodId) -> Option<Sketch> {
        let member = class.methods().get(usize::from(self.world.method(id).member))?;
        let body = Body::of_method(class, member).ok()??;
        let view = MethodView { world: self.world, id, class, member, body: &body, pool: &system.pool };
        let mut sketch = Sketch { is_read: true, ..Sketch::default() };
        Tracing { sketcher: *self, view, path: Vec::new(), steps: 0 }.run(&mut sketch);
        Some(sketch)
    }
}

/// One method being looked at.
struct Tracing<'w, 'v> {
    sketcher: Sketcher<'w>,
    view: MethodView<'v>,
    /// The values that are being followed, each because of the one before it.
    path: Vec<ValueId>,
    steps: usize,
}

impl Tracing<'_, '_> {
    fn run(&mut self, sketch: &mut Sketch) {
        let Sketcher { world, facts, streams, .. } = self.sketcher;
        let id = self.view.id;
        let result = descriptor::return_type(self.view.member.descriptor);
        let returns_stream = streams.of_descriptor(world, result).is_carrier;
        for number in 0..self.view.body.flow.instructions.len() as u32 {
            let at = number as u16;
            match self.view.instruction(number).opcode {
                op::ARETURN if returns_stream => {
                    let value = self.view.body.operands(number).first().copied();
                    sketch.returns.extend(value.map(|it| self.ask(it, number)).unwrap_or_default());
                }
                op::PUTFIELD | op::PUTSTATIC => {
                    let Some(field) = self.view.field_at(number) else { continue };
                    let descriptor = world.signature(world.field(field).signature).1;
                    if streams.of_descriptor(world, descriptor).is_carrier {
                        let value = self.view.body.operands(number).last().copied();
                        let expr = value.map(|it| self.ask(it, number)).unwrap_or_default();
                        sketch.writes.insert(at, (self.place(number).line, expr));
                    }
                }
                op::INVOKEDYNAMIC => {
                    let operands = self.view.body.operands(number).to_vec();
                    sketch.captures.insert(at, operands.len() as u16);
                    for (index, value) in (0..).zip(operands) {
                        let expr = self.ask(value, number);
                        sketch.arguments.insert((at, index), expr);
                    }
                }
                op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                    let Some(callee) = self.view.callee_at(number) else { continue };
                    if !self.sketcher.calls.targets_of_ref(callee).is_empty() {
                        for (index, expr) in self.arguments(number, callee) {
                            sketch.arguments.insert((at, index), expr);
                        }
                    }
                    if facts.call_at(id, number).is_some_and(|it| self.sketcher.is_io(it)) {
                        let expr = self.site(number, callee);
                        sketch.sites.insert(at, expr);
                    }
                }
                _ => {}
            }
        }
        if world.method_name(id) == b"<init>" {
            sketch.made = self.made(sketch);
        }
    }

    fn place(&self, number: u32) -> MemoryPlace {
        MemoryPlace { method: self.view.id, line: self.view.body.line(number).unwrap_or(0) as u16 }
    }

    fn outside(&self, number: u32) -> Expr {
        vec![Atom::Root(Root::Outside(self.place(number)))]
    }

    /// Follows a value from where it is used.
    fn ask(&mut self, value: ValueId, number: u32) -> Expr {
        (self.steps, self.path) = (0, Vec::new());
        self.follow(value, number)
    }

    fn follow(&mut self, value: ValueId, number: u32) -> Expr {
        let mut expr = Expr::new();
        for origin in self.view.body.origins_through_casts(value) {
            // What wraps itself, in a loop, adds nothing to what it wraps.
            if self.path.contains(&origin) {
                continue;
            }
            self.steps += 1;
            if self.steps > STEPS_MAX || self.path.len() >= DEPTH_MAX {
                return self.outside(number);
            }
            self.path.push(origin);
            for atom in self.atoms(origin, number) {
                if !expr.contains(&atom) {
                    expr.push(atom);
                }
            }
            self.path.pop();
        }
        expr
    }

    /// Possible origins of one value; `number` is the place of its use.
    fn atoms(&mut self, value: ValueId, number: u32) -> Expr {
        let Sketcher { world, streams, .. } = self.sketcher;
        let one = |it: Root| vec![Atom::Root(it)];
        if self.view.body.constant(value) == Some(Const::Null) {
            return Expr::new();
        }
        let defined = match self.view.body.value(value) {
            Value::Result(at) => at,
            _ => number,
        };
        if let Some(known) = self.view.class_of(value).filter(|it| streams.get(it.class).is_memory) {
            return one(Root::Memory(self.place(defined), known.class));
        }
        match self.view.body.value(value) {
            Value::Parameter(0) if !self.view.is_static() => {
                one(Root::Of(Cell::Held(world.method(self.view.id).owner)))
            }
            Value::Parameter(index) => one(Root::Of(Cell::Parameter(self.view.id, index))),
            Value::Result(at) => match self.view.instruction(at).opcode {
                op::NEW => self.new_object(value, at),
                op::GETFIELD | op::GETSTATIC => self.field(at),
                op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => self.result(at),
                _ => self.outside(at),
            },
            _ => self.outside(defined),
        }
    }

    fn field(&self, at: u32) -> Expr {
        let world = self.sketcher.world;
        let Some(field) = self.view.field_at(at) else { return self.outside(at) };
        if world.is_system(world.field(field).owner) {
            return vec![Atom::Root(Root::Of(Cell::Field(field)))];
        }
        // `in` and `out` of the filters of the JDK hold what the constructor was given.
        let is_this =
            |it: &ValueId| self.view.body.value(*it) == Value::Parameter(0) && !self.view.is_static();
        if self.view.body.operands(at).first().is_some_and(is_this) {
            return vec![Atom::Root(Root::Of(Cell::Held(world.method(self.view.id).owner)))];
        }
        self.outside(at)
    }

    fn new_object(&mut self, value: ValueId, at: u32) -> Expr {
        let world = self.sketcher.world;
        let Some(class) = self.view.class_at(at) else { return self.outside(at) };
        let is_constructor = |it: u32| {
            let callee = self.view.callee_at(it)?;
            let is_own = self.view.body.operands(it).first() == Some(&value)
                && world.signature(world.method_ref(callee).signature).0 == b"<init>";
            is_own.then_some((it, callee))
        };
        let Some((call, constructor)) = self.view.body.uses(value).iter().find_map(|&it| is_constructor(it))
        else {
            return self.outside(at);
        };
        if !world.is_system(class) {
            return self.wrapper(call, constructor);
        }
        let Some(constructor) = world.method_ref(constructor).method else { return self.outside(at) };
        if !self.sketcher.streams.is_holder(class) {
            return self.outside(at);
        }
        let callee = self.view.callee_at(call).expect("it is a call");
        vec![Atom::Result { of: vec![Cell::Made(constructor)], arguments: self.arguments(call, callee) }]
    }

    /// The descriptors of what a call takes, the receiver excepted, with the numbers of the operands.
    fn parameters(&self, number: u32, callee: RefId) -> Vec<(u16, ValueId, &[u8])> {
        let world = self.view.world;
        let skipped = u16::from(self.view.instruction(number).opcode != op::INVOKESTATIC);
        let operands = self.view.body.operands(number).iter().copied();
        let types = descriptor::parameters(world.signature(world.method_ref(callee).signature).1);
        (skipped..).zip(operands.skip(skipped.into())).zip(types).map(|((at, it), of)| (at, it, of)).collect()
    }

    /// Arguments of a call that may carry streams.
    fn arguments(&mut self, number: u32, callee: RefId) -> Vec<(u16, Expr)> {
        let Sketcher { world, streams, .. } = self.sketcher;
        let carriers: Vec<(u16, ValueId)> = self
            .parameters(number, callee)
            .into_iter()
            .filter(|(_, _, of)| streams.of_descriptor(world, of).is_carrier)
            .map(|(at, value, _)| (at, value))
            .collect();
        carriers.into_iter().map(|(at, value)| (at, self.follow(value, number))).collect()
    }

    /// Object of a library object that is built from the arguments of a call: only streams count.
    fn wrapper(&mut self, number: u32, callee: RefId) -> Expr {
        let Sketcher { world, streams, .. } = self.sketcher;
        let mut carriers = Vec::new();
        for (_, value, of) in self.parameters(number, callee) {
            if streams.of_descriptor(world, of).is_carrier {
                carriers.push(value);
            } else if !streams.is_harmless(world, of) {
                return self.outside(number);
            }
        }
        if carriers.is_empty() {
            return self.outside(number);
        }
        carriers.into_iter().flat_map(|it| self.follow(it, number)).collect()
    }

    /// Return value of a call.
    fn result(&mut self, at: u32) -> Expr {
        let Sketcher { world, calls, streams, .. } = self.sketcher;
        let Some(callee) = self.view.callee_at(at) else { return self.outside(at) };
        let reference = world.method_ref(callee);
        let is_system = reference.method.is_some_and(|it| world.is_system_method(it));
        let targets = calls.targets_of_ref(callee);
        if !targets.is_empty() {
            // A lambda's body takes other arguments than the method that it implements.
            let is_plain = |it: &MethodId| world.method(*it).signature == reference.signature;
            let mut expr =
                if is_system && targets.iter().all(is_plain) { Expr::new() } else { self.outside(at) };
            let of = targets.iter().filter(|it| is_plain(it)).map(|&it| Cell::Returned(it)).collect();
            expr.push(Atom::Result { of, arguments: self.arguments(at, callee) });
            return expr;
        }
        let Some(method) = reference.method.filter(|_| !is_system) else { return self.outside(at) };
        let (name, descriptor) = world.signature(reference.signature);
        let owner = world.type_name(world.method(method).owner);
        let result = world.find_descriptor(descriptor::return_type(descriptor));
        let Some(result) = result.filter(|&it| streams.get(it).is_carrier) else { return self.outside(at) };
        if known::gives_null_stream(owner, name) {
            return vec![Atom::Root(Root::Memory(self.place(at), result))];
        }
        let receiver = self.view.body.operands(at).first().copied();
        let receiver = receiver.filter(|_| self.view.instruction(at).opcode != op::INVOKESTATIC);
        match receiver.filter(|_| streams.get(reference.owner).is_carrier) {
            // `append`, `position` and their like give the object itself, others a part or a view of it.
            Some(receiver) => {
                let mut expr = self.follow(receiver, at);
                expr.extend(self.arguments(at, callee).into_iter().flat_map(|it| it.1));
                expr
            }
            None => self.wrapper(at, callee),
        }
    }

    /// Object of the input or output of a library call.
    fn site(&mut self, number: u32, callee: RefId) -> Expr {
        (self.steps, self.path) = (0, Vec::new());
        let Sketcher { world, calls, streams, .. } = self.sketcher;
        let reference = world.method_ref(callee);
        let name = world.signature(reference.signature).0;
        if name == b"<init>" {
            return self.wrapper(number, callee);
        }
        let is_static = self.view.instruction(number).opcode == op::INVOKESTATIC;
        let receiver = self.view.body.operands(number).first().copied().filter(|_| !is_static);
        let receiver_is_stream = streams.get(reference.owner).is_carrier;
        if !receiver_is_stream && !known::works_on_argument(name) {
            return self.outside(number);
        }
        let mut on: Vec<ValueId> = receiver.filter(|_| receiver_is_stream).into_iter().collect();
        for (_, value, of) in self.parameters(number, callee) {
            let stream = streams.of_descriptor(world, of);
            if stream.is_carrier && !stream.is_buffer {
                on.push(value);
            } else if !receiver_is_stream && leads_outside(world, of) {
                return self.outside(number);
            }
        }
        if on.is_empty() {
            return self.outside(number);
        }
        let mut expr: Expr = on.into_iter().flat_map(|it| self.follow(it, number)).collect();
        if !receiver_is_stream && !calls.targets_of_ref(callee).is_empty() {
            let arguments = self.arguments(number, callee);
            expr.push(Atom::Result { of: vec![Cell::Run(callee)], arguments });
        }
        expr
    }

    /// Object of an object that this constructor creates.
    fn made(&mut self, sketch: &Sketch) -> Expr {
        let Sketcher { world, facts, streams, .. } = self.sketcher;
        let owner = world.method(self.view.id).owner;
        let mut expr = Expr::new();
        for call in facts.calls_in(self.view.id) {
            let call = facts.call(call);
            let number = u32::from(call.instruction);
            let Some(callee) = call.callee.filter(|_| call.kind == CallKind::Special) else { continue };
            let reference = world.method_ref(callee);
            let on_this = self.view.body.operands(number).first().map(|&it| self.view.body.value(it));
            if world.signature(reference.signature).0 != b"<init>" || on_this != Some(Value::Parameter(0)) {
                continue;
            }
            (self.steps, self.path) = (0, Vec::new());
            match reference.method {
                Some(constructor) if world.is_system_method(constructor) => {
                    let arguments = self.arguments(number, callee);
                    expr.push(Atom::Result { of: vec![Cell::Made(constructor)], arguments });
                }
                // The roots of the hierarchies do nothing by themselves.
                _ if known::STREAMS.contains(&world.type_name(reference.owner))
                    || world.type_name(reference.owner) == b"java/lang/Object"
                    || streams.get(reference.owner).is_memory => {}
                _ => expr.extend(self.wrapper(number, callee)),
            }
        }
        for field in world.fields_of(owner) {
            let it = world.field(field);
            let descriptor = world.signature(it.signature).1;
            if it.access & access::STATIC != 0 {
                continue;
            }
            if streams.of_descriptor(world, descriptor).is_carrier {
                expr.push(Atom::Root(Root::Of(Cell::Later(field))));
            } else if !streams.is_harmless(world, descriptor) {
                return self.outside(0);
            }
        }
        let own_write = |at: u16| {
            let field = self.view.field_at(at.into());
            field.is_some_and(|it| {
                world.field(it).owner == owner && world.field(it).access & access::STATIC == 0
            })
        };
        let mut writes: Vec<_> = sketch.writes.iter().filter(|it| own_write(*it.0)).collect();
        writes.sort_unstable_by_key(|it| it.0);
        expr.extend(writes.into_iter().flat_map(|(_, (_, expr))| expr.iter().cloned()));
        expr
    }
}

/// Tests whether a thing of that type is a place outside of the process, where a method may write what it reads.
fn leads_outside(world: &World, descriptor: &[u8]) -> bool {
    let Some(id) = world.find_descriptor(descriptor) else { return descriptor.starts_with(b"L") };
    let name = world.type_name(id);
    world.get(id).origin == Origin::Phantom
        || matches!(name, b"java/io/File" | b"java/nio/file/Path" | b"java/io/FileDescriptor")
        || name.starts_with(b"java/net/")
}
