//! Impact of a read: what harm can follow from what it gives (FCatch 4.3.3).

use hypocenter_plan::{Frame, OperationKind};
use hypocenter_program::{Level, MethodId, Program, Slice, SliceLimits, TypeId};
use hypocenter_results::predicted::Impact;
use rustc_hash::FxHashMap;

/// Distances at which a harm is looked for, one after the other: most reads have one near.
const DISTANCES: [u32; 4] = [2, 5, 10, 20];
/// The most points that are looked at. What is beyond counts as harm.
const POINTS_MAX: usize = 1 << 18;
/// Calls of a handler are followed so deep.
const CALLS_DEPTH: u32 = 2;
/// Methods that end the process or start a thread.
const ENDS_AND_STARTS: [(&[u8], &[u8]); 4] = [
    (b"java/lang/System", b"exit"),
    (b"java/lang/Runtime", b"exit"),
    (b"java/lang/Runtime", b"halt"),
    (b"java/lang/Thread", b"start"),
];

/// Types of what is run later, for its own sake.
const EVENTS: [&[u8]; 4] =
    [b"java/lang/Runnable", b"java/lang/Thread", b"java/util/TimerTask", b"java/util/concurrent/Callable"];

/// The exception by which an operation says that its file is not as it should be, and its superclasses.
fn absence(kind: OperationKind, is_nio: bool) -> [&'static str; 3] {
    let special = match kind {
        OperationKind::Create | OperationKind::MakeDirectory => "java.nio.file.FileAlreadyExistsException",
        _ => "java.nio.file.NoSuchFileException",
    };
    match is_nio {
        true => [special, "java.nio.file.FileSystemException", "java.io.IOException"],
        false => ["java.io.FileNotFoundException", "java.io.IOException", "java.lang.Exception"],
    }
}

/// Harm that reads can do.
pub(crate) struct Impacts<'p> {
    program: &'p Program,
    /// What is harmful, and where.
    harm: FxHashMap<(MethodId, u16), &'static str>,
}

/// What follows from a read.
pub(crate) enum Follows {
    Harm(Impact),
    /// Nothing harmful.
    Nothing,
    /// It is not known: the read is not found in the code, or what follows is too much.
    Unknown,
}

impl<'p> Impacts<'p> {
    /// All that is harmful: errors that are thrown or logged, threads and tasks that begin, ends of the process, and messages, as far as
    /// runs have shown from where these are sent.
    pub(crate) fn of(program: &'p Program, sends: impl Iterator<Item = Vec<Frame>>) -> Impacts<'p> {
        let Program { world, facts, statements, .. } = program;
        let mut harm = FxHashMap::default();
        for stack in sends {
            harm.extend(program.causes().calls_of(&stack).into_iter().map(|it| (it, "a message is sent")));
        }
        let is_event = |it: TypeId| EVENTS.contains(&world.type_name(it));
        for it in facts.handovers().iter().filter(|it| it.taken_as.is_some_and(is_event)) {
            let call = facts.call(it.call);
            harm.insert((call.method, call.instruction), "a task is handed over");
        }
        for it in facts.calls() {
            let Some(callee) = it.callee.map(|it| world.method_ref(it)) else { continue };
            let name = world.signature(callee.signature).0;
            if ENDS_AND_STARTS.contains(&(world.type_name(callee.owner), name)) {
                let what = if name == b"start" { "a thread is started" } else { "the process ends" };
                harm.insert((it.method, it.instruction), what);
            }
        }
        let errors =
            statements.statements().iter().filter(|it| matches!(it.level, Level::Error | Level::Fatal));
        harm.extend(errors.map(|it| ((it.method, it.instruction), "an error is logged")));
        for method in (0..world.method_count() as u32).map(MethodId) {
            let throws = facts.throwers(method).iter();
            harm.extend(throws.map(|it| ((method, it.instruction), "an exception is thrown")));
        }
        Impacts { program, harm }
    }

    /// What follows from a read: from what it gives, and from the exception by which it says that there is nothing.
    pub(crate) fn follows(&self, stack: &[Frame], kind: OperationKind) -> Follows {
        let causes = self.program.causes();
        let is_nio = stack
            .iter()
            .any(|it| it.method.starts_with("java.nio.file.") || it.method.starts_with("sun.nio."));
        let Some(consequences) = causes.consequences(stack, &absence(kind, is_nio)) else {
            return Follows::Unknown;
        };
        if consequences.escapes {
            let at = stack.iter().find(|it| !causes.calls_of(std::slice::from_ref(it)).is_empty());
            let at = at.map_or_else(String::new, |it| it.method.clone());
            let what = "an exception ends the thread".to_owned();
            return Follows::Harm(Impact { what, at, distance: 1 });
        }
        let in_handler = consequences.handler_calls.iter().find_map(|&it| self.harm_of_call(it, CALLS_DEPTH));
        if let Some((at, what)) = in_handler {
            let at = self.place(at.0, at.1);
            return Follows::Harm(Impact { what: what.to_owned(), at, distance: 1 });
        }
        let points = [consequences.uses, consequences.handlers].concat();
        if points.is_empty() {
            return Follows::Nothing;
        }
        for distance_max in DISTANCES {
            let limits = SliceLimits { points_max: POINTS_MAX, distance_max, aborts: false };
            let slice = Slice::forward(causes, &points, limits);
            let harm = slice.points().iter().filter_map(|it| {
                let what = *self.harm.get(&(it.method, it.instruction))?;
                Some((it.distance, it.method, it.instruction, what))
            });
            if let Some((distance, method, instruction, what)) = harm.min() {
                let at = self.place(method, instruction);
                return Follows::Harm(Impact { what: what.to_owned(), at, distance: distance + 1 });
            }
            if slice.is_complete() {
                return Follows::Nothing;
            }
        }
        Follows::Unknown
    }

    /// Harm that a call does, itself or in what it runs.
    fn harm_of_call(&self, call: (MethodId, u16), depth: u32) -> Option<((MethodId, u16), &'static str)> {
        if let Some(what) = self.harm.get(&call) {
            return Some((call, what));
        }
        let Program { facts, calls, .. } = self.program;
        let id = facts.call_at(call.0, call.1.into()).filter(|_| depth > 0)?;
        calls.targets(facts.call(id)).iter().find_map(|&target| {
            let throws = facts.throwers(target).iter().map(|it| (target, it.instruction));
            let called = || facts.calls_in(target).map(|it| (target, facts.call(it).instruction));
            let own = throws.chain(called()).find_map(|it| Some((it, *self.harm.get(&it)?)));
            own.or_else(|| called().find_map(|it| self.harm_of_call(it, depth - 1)))
        })
    }

    fn place(&self, method: MethodId, instruction: u16) -> String {
        let world = &self.program.world;
        let line = world.look(method, |view| view.body.line(instruction.into())).flatten();
        let name = world.show_method(method);
        line.map_or_else(|| name.clone(), |line| format!("{name}:{line}"))
    }
}
