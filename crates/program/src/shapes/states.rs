//! Abstract states: the stages of service of a task, read off the branches on its state (LEGOLAS 4.2).
//!
//! A *task class* declares what a thread or an executor runs. Its fields are its *state variables*. Where its task
//! method decides by them, and then does something, a new *state* begins: at the first instruction of the method, of
//! each alternative of such a branch, and of each handler. The code behind an `if` is no alternative, unless the `if`
//! decides about it too, as after `if (x) break;`.

use std::ops::Range;

use hypocenter_classfile::{ClassFile, op};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::facts::calls::CallGraph;
use crate::facts::known;
use crate::facts::{CallId, Facts, Task};
use crate::loading::world::{FieldId, MethodId, Origin, TypeId, World, access};
use crate::logging::logger::is_log_call;
use crate::methods::bodies::{each_body, flowing_from};
use crate::methods::dominance::{Dominance, Edges};
use crate::methods::flow::Way;
use crate::methods::values::{Value, ValueId};
use crate::methods::view::MethodView;

/// The most helper methods of a task class that are looked at.
const HELPERS_MAX: usize = 64;

/// The most steps that are spent on the regions of a method; behind that no more states are found in it.
const STEPS_MAX: u64 = 1 << 24;

/// Items to check.
#[derive(Debug, Clone, Default)]
pub struct StateOptions {
    /// Types (with dots) whose implementations are tasks too; their only abstract method is the task method.
    pub task_types: Vec<String>,
    /// True if methods of the task class that its task method calls are looked at as well.
    pub helpers: bool,
}

/// A class whose objects are tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskClass {
    /// Which.
    pub class: TypeId,
    /// Its task methods: mostly one.
    pub methods: Vec<MethodId>,
    /// Its state variables.
    pub variables: Vec<FieldId>,
    /// Its states, in [`States::states`].
    pub states: Range<u32>,
}

/// Cause of the start of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateKind {
    /// The task method begins.
    Start,
    /// A branch on a state variable was taken.
    Branch,
    /// An exception was caught.
    Handler,
    /// A helper method begins.
    Helper,
}

/// An abstract state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The task class.
    pub class: TypeId,
    /// The method that it is in: the task method, or a helper.
    pub method: MethodId,
    /// Its first instruction, by number.
    pub instruction: u16,
    /// The line of that, 0 if there is none.
    pub line: u16,
    /// Its number in the task class.
    pub index: u16,
    /// Cause of its start.
    pub kind: StateKind,
}

/// A lambda that is handed to a thread or an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LambdaTask {
    /// The first call that hands it over.
    pub call: CallId,
    /// Code to run.
    pub body: MethodId,
}

/// The tasks of the system and their states.
#[derive(Debug, Default)]
pub struct States {
    classes: Vec<TaskClass>,
    states: Vec<State>,
    lambdas: Vec<LambdaTask>,
}

impl States {
    /// Finds the tasks and their states.
    pub fn of(world: &World, facts: &Facts, calls: &CallGraph, options: &StateOptions) -> States {
        let tasks = TaskTypes::of(world, options);
        let found: Vec<Option<(TaskClass, Vec<State>)>> = (0..world.system_classes().len())
            .into_par_iter()
            .map(|at| of_class(world, facts, &tasks, at, options.helpers.then_some(calls)))
            .collect();
        let mut states = States { lambdas: lambda_tasks(world, facts, &tasks), ..States::default() };
        for (mut class, mut of_class) in found.into_iter().flatten() {
            let start = states.states.len() as u32;
            states.states.append(&mut of_class);
            class.states = start..states.states.len() as u32;
            states.classes.push(class);
        }
        states
    }

    /// The task classes, in the order of their names.
    pub fn classes(&self) -> &[TaskClass] {
        &self.classes
    }

    /// All states, in the order of the classes and of their numbers there.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The states of a task class.
    pub fn of_class(&self, class: &TaskClass) -> &[State] {
        &self.states[class.states.start as usize..class.states.end as usize]
    }

    /// The lambdas that threads and executors run, sorted.
    pub fn lambdas(&self) -> &[LambdaTask] {
        &self.lambdas
    }
}

/// The types whose implementations are tasks.
struct TaskTypes {
    /// Each with its task method: the name and the number of parameters.
    types: Vec<(TypeId, Vec<u8>, usize)>,
    /// Those to whom lambdas are handed.
    runners: Vec<TypeId>,
}

impl TaskTypes {
    fn of(world: &World, options: &StateOptions) -> TaskTypes {
        let known: [(&[u8], &[u8]); 4] = [
            (b"java/lang/Thread", b"run"),
            (b"java/lang/Runnable", b"run"),
            (b"java/util/TimerTask", b"run"),
            (b"java/util/concurrent/Callable", b"call"),
        ];
        let known =
            known.iter().filter_map(|(class, name)| Some((world.find_type(class)?, name.to_vec(), 0)));
        let configured = options.task_types.iter().filter_map(|it| {
            let class = world.find_type(it.replace('.', "/").as_bytes())?;
            let method = only_abstract(world, class)?;
            Some((class, world.method_name(method).to_vec(), world.parameter_types(method).count()))
        });
        let runners: [&[u8]; 4] = [
            b"java/lang/Thread",
            b"java/util/Timer",
            b"java/util/concurrent/CompletableFuture",
            b"java/util/concurrent/Executor",
        ];
        TaskTypes {
            types: known.chain(configured).collect(),
            runners: runners.iter().filter_map(|it| world.find_type(it)).collect(),
        }
    }

    /// The task methods that a class declares itself, each once.
    fn methods(&self, world: &World, class: TypeId) -> Vec<MethodId> {
        let mut found = Vec::new();
        for (_, name, count) in self.types.iter().filter(|it| it.0 != class && world.is_subtype(class, it.0))
        {
            let is_task = |id: MethodId| {
                let method = world.method(id);
                let plain = access::ABSTRACT | access::STATIC | access::SYNTHETIC;
                method.access & plain == 0
                    && world.method_name(id) == &name[..]
                    && world.parameter_types(id).count() == *count
            };
            found.extend(world.methods_of(class).filter(|&it| is_task(it)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn is_task(&self, world: &World, class: TypeId) -> bool {
        self.types.iter().any(|it| world.is_subtype(class, it.0))
    }
}

fn only_abstract(world: &World, class: TypeId) -> Option<MethodId> {
    let all = std::iter::once(class).chain(world.ancestors(class).iter().copied());
    let mut methods = all.flat_map(|it| world.methods_of(it)).filter(|&it| world.method(it).is_abstract());
    let first = methods.next()?;
    methods.all(|it| world.method(it).signature == world.method(first).signature).then_some(first)
}

fn lambda_tasks(world: &World, facts: &Facts, tasks: &TaskTypes) -> Vec<LambdaTask> {
    let mut bodies: Vec<MethodId> = facts
        .lambdas()
        .iter()
        .filter(|it| it.interface.is_some_and(|it| tasks.is_task(world, it)))
        .filter_map(|it| it.implementation)
        .collect();
    bodies.sort_unstable();
    let mut found = Vec::new();
    for it in facts.handovers() {
        let Task::Lambda(body) = it.task else { continue };
        let Some(callee) = facts.call(it.call).callee else { continue };
        let owner = world.method_ref(callee).owner;
        let runs = tasks.runners.iter().any(|&it| world.is_subtype(owner, it));
        if runs && bodies.binary_search(&body).is_ok() {
            found.push(LambdaTask { call: it.call, body });
        }
    }
    // A lambda is handed to a thread and, with it, to what starts the thread: the first call says it.
    found.sort_unstable();
    let mut seen = FxHashSet::default();
    found.retain(|it| seen.insert(it.body));
    found
}

fn of_class(
    world: &World,
    facts: &Facts,
    tasks: &TaskTypes,
    at: usize,
    helpers: Option<&CallGraph>,
) -> Option<(TaskClass, Vec<State>)> {
    let system = &world.system_classes()[at];
    let methods = tasks.methods(world, system.id);
    if methods.is_empty() {
        return None;
    }
    let variables = variables(world, system.id);
    let mut looked_at = methods.clone();
    if let Some(calls) = helpers {
        add_helpers(world, facts, calls, system.id, &mut looked_at);
    }
    let mut found: Vec<(usize, State)> = Vec::new();
    each_body(
        world,
        system,
        |it| looked_at.contains(&it),
        |view| {
            let place = looked_at.iter().position(|&it| it == view.id).expect("was asked for");
            let looking = Looking::of(view, system.id, &variables);
            found.extend(looking.states(methods.contains(&view.id)).into_iter().map(|it| (place, it)));
        },
    );
    found.sort_by_key(|(place, it)| (*place, it.instruction));
    let states =
        found.into_iter().enumerate().map(|(at, (_, it))| State { index: at as u16, ..it }).collect();
    Some((TaskClass { class: system.id, methods, variables, states: 0..0 }, states))
}

/// The fields of a class that can change from object to object or in time.
fn variables(world: &World, id: TypeId) -> Vec<FieldId> {
    let system = world.system_class(id).expect("is of the system");
    let class = ClassFile::parse(&system.bytes).expect("was read before");
    let is_variable = |access: u16, is_constant: bool| {
        access & access::STATIC == 0 && !(access & access::FINAL != 0 && is_constant)
    };
    let fields = class.fields().iter().zip(world.fields_of(id));
    let variable = fields.filter(|(it, _)| is_variable(it.access, it.attribute(b"ConstantValue").is_some()));
    variable.map(|(_, id)| id).collect()
}

/// Adds the methods of the class that these call, and those that they call.
fn add_helpers(world: &World, facts: &Facts, calls: &CallGraph, class: TypeId, methods: &mut Vec<MethodId>) {
    let tasks = methods.len();
    let mut at = 0;
    while at < methods.len() {
        for call in facts.calls_in(methods[at]) {
            let own = calls.targets(facts.call(call)).iter().filter(|it| world.method(**it).owner == class);
            for &helper in own.filter(|it| !world.method_name(**it).starts_with(b"<")) {
                if methods.len() - tasks < HELPERS_MAX && !methods.contains(&helper) {
                    methods.push(helper);
                }
            }
        }
        at += 1;
    }
}

/// A task method being looked at.
struct Looking<'v> {
    view: MethodView<'v>,
    class: TypeId,
    variables: &'v [FieldId],
    /// The classes of exceptions: making one is no action.
    throwable: Option<TypeId>,
    /// Declared exceptions of methods that do input or output.
    io_exception: Option<TypeId>,
}

impl<'v> Looking<'v> {
    fn of(view: MethodView<'v>, class: TypeId, variables: &'v [FieldId]) -> Self {
        let find = |name: &[u8]| view.world.find_type(name);
        let (throwable, io_exception) = (find(b"java/lang/Throwable"), find(b"java/io/IOException"));
        Looking { view, class, variables, throwable, io_exception }
    }

    fn states(&self, is_task: bool) -> Vec<State> {
        let (body, flow) = (self.view.body, &self.view.body.flow);
        let mut entries: Vec<(u32, StateKind)> = Vec::new();
        if is_task {
            entries.push((0, StateKind::Start));
        }
        let normal = Dominance::post(flow, Edges::Normal);
        if let (Ok(over), Ok(post)) = (Dominance::of(flow, Edges::All), normal) {
            let acts: Vec<bool> = (0..flow.blocks.len() as u32).map(|it| self.acts(it)).collect();
            let mut steps = 0;
            let mut region = |entry: u32, stop: Option<u32>| {
                let chain = std::iter::successors(Some(entry), |&it| post.immediate(it));
                let mut inside = chain.take_while(|it| Some(*it) != stop);
                inside.any(|it| {
                    steps += 1;
                    steps < STEPS_MAX && acts[it as usize] && over.dominates(entry, it)
                })
            };
            if !is_task && region(0, None) {
                entries.push((0, StateKind::Helper));
            }
            let tainted = self.tainted();
            for branch in (0..flow.blocks.len() as u32).filter(|&it| flow.reachable[it as usize]) {
                let decides = body.operands(flow.blocks[branch as usize].end - 1);
                let ways = || flow.out_of(branch).iter().filter(|it| it.way != Way::Throw).map(|it| it.to);
                if ways().count() < 2 || !decides.iter().any(|it| tainted[it.number() as usize]) {
                    continue;
                }
                let certain = post.immediate(branch);
                // A way back to the start of a loop begins nothing new.
                for way in ways().filter(|&it| Some(it) != certain && !over.dominates(it, branch)) {
                    if region(way, certain) {
                        entries.push((way, StateKind::Branch));
                    }
                }
            }
            let handlers = flow.handlers.iter().filter(|&&it| flow.reachable[it as usize]);
            entries.extend(handlers.filter(|&&it| region(it, None)).map(|&it| (it, StateKind::Handler)));
        }
        entries.sort_unstable();
        entries.dedup_by_key(|it| it.0);
        let state = |(block, kind): (u32, StateKind)| {
            let instruction = flow.blocks[block as usize].start;
            State {
                class: self.class,
                method: self.view.id,
                instruction: instruction as u16,
                line: body.line(instruction).unwrap_or(0) as u16,
                index: 0,
                kind,
            }
        };
        entries.into_iter().map(state).collect()
    }

    /// The values that depend on the state: whatever is computed from `this`, but for constants.
    fn tainted(&self) -> Vec<bool> {
        let body = self.view.body;
        let this = (!self.view.is_static())
            .then(|| body.value_ids().find(|&it| body.value(it) == Value::Parameter(0)))
            .flatten();
        let is_constant = |number: u32| {
            self.view.instruction(number).opcode == op::GETFIELD
                && self.view.field_at(number).is_some_and(|it| {
                    self.view.world.field(it).owner == self.class && !self.variables.contains(&it)
                })
        };
        flowing_from(body, this, |number| !is_constant(number))
    }

    fn acts(&self, block: u32) -> bool {
        let block = self.view.body.flow.blocks[block as usize];
        (block.start..block.end).any(|it| self.is_action(it))
    }

    fn is_action(&self, number: u32) -> bool {
        let view = &self.view;
        match view.instruction(number).opcode {
            op::PUTFIELD => view.field_at(number).is_some_and(|it| self.variables.contains(&it)),
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => self.is_action_call(number),
            _ => false,
        }
    }

    fn is_action_call(&self, number: u32) -> bool {
        let (view, world) = (&self.view, self.view.world);
        let Some(callee) = view.callee_at(number) else { return false };
        let callee = world.method_ref(callee);
        let name = world.signature(callee.signature).0;
        if is_log_call(world.type_name(callee.owner), name) {
            return !is_low_level(name) && !view.body.operands(number).iter().any(|&it| self.is_low(it));
        }
        let owner = callee.method.map_or(callee.owner, |it| world.method(it).owner);
        if !world.is_system(owner) {
            let declared = callee.method.map_or(&[][..], |it| world.throws(it));
            let declares = |io| declared.iter().any(|&it| world.is_subtype(it, io));
            let declares = self.io_exception.is_some_and(declares);
            let is_jdk = world.get(owner).origin == Origin::Jdk;
            let class = world.type_name(owner);
            return is_life_cycle(class, name) || known::does_io(class, name, is_jdk, declares);
        }
        let is_exception = self.throwable.is_some_and(|it| world.is_subtype(owner, it));
        !is_exception && !only_asks(name)
    }

    /// Tests whether a value is a level of logging that is below information.
    fn is_low(&self, value: ValueId) -> bool {
        self.view.field_of(value).is_some_and(|it| {
            matches!(
                self.view.world.field_name(it),
                b"FINE" | b"FINER" | b"FINEST" | b"CONFIG" | b"DEBUG" | b"TRACE"
            )
        })
    }
}

fn is_low_level(name: &[u8]) -> bool {
    let low: [&[u8]; 8] =
        [b"config", b"debug", b"entering", b"exiting", b"fine", b"throwing", b"trace", b"catching"];
    low.iter().any(|it| name.starts_with(it))
}

/// Tests whether a method asks for something, by its name, and so does nothing.
fn only_asks(name: &[u8]) -> bool {
    let asks = |prefix: &[u8]| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_uppercase))
    };
    asks(b"get")
        || asks(b"is")
        || name.starts_with(b"access$")
        || matches!(name, b"hashCode" | b"toString" | b"equals" | b"compare" | b"compareTo" | b"iterator")
}

/// Tests whether a method of a library begins or ends a thread, a process, a connection or a timer.
fn is_life_cycle(owner: &[u8], name: &[u8]) -> bool {
    match owner {
        b"java/lang/Thread" => matches!(name, b"start" | b"interrupt"),
        b"java/lang/Process" => matches!(name, b"waitFor" | b"destroy" | b"destroyForcibly"),
        b"java/lang/ProcessBuilder" => name == b"start",
        b"java/lang/Runtime" => matches!(name, b"exec" | b"exit" | b"halt"),
        b"java/lang/System" => name == b"exit",
        b"java/net/Socket" | b"javax/net/ssl/SSLSocket" => matches!(name, b"connect" | b"bind" | b"close"),
        b"java/net/ServerSocket" | b"javax/net/ssl/SSLServerSocket" | b"java/net/DatagramSocket" => {
            matches!(name, b"accept" | b"bind" | b"close")
        }
        b"java/util/Timer" => name == b"cancel" || name.starts_with(b"schedule"),
        _ if owner.starts_with(b"java/nio/channels/") && owner.ends_with(b"Channel") => {
            matches!(name, b"accept" | b"bind" | b"connect" | b"close")
        }
        _ if owner.starts_with(b"java/util/concurrent/") && owner.ends_with(b"Executor") => {
            matches!(name, b"execute" | b"shutdown" | b"shutdownNow")
        }
        b"java/util/concurrent/ExecutorService" | b"java/util/concurrent/ScheduledExecutorService" => {
            name.starts_with(b"schedule") || matches!(name, b"submit" | b"shutdown" | b"shutdownNow")
        }
        _ => false,
    }
}
