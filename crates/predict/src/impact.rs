//! Impact of a read: what harm can follow from what it gives (FCatch 4.3.3).

use hypocenter_plan::Frame;
use hypocenter_program::{Level, MethodId, Program, Slice, SliceLimits};
use hypocenter_results::predicted::Impact;
use rustc_hash::FxHashMap;

/// Distances at which a harm is looked for, one after the other: most reads have one near.
const DISTANCES: [u32; 4] = [2, 5, 10, 20];
/// The most points that are looked at. What is beyond counts as harm.
const POINTS_MAX: usize = 1 << 18;
/// Methods that end the process.
const EXITS: [(&[u8], &[u8]); 4] = [
    (b"java/lang/System", b"exit"),
    (b"java/lang/Runtime", b"exit"),
    (b"java/lang/Runtime", b"halt"),
    (b"java/lang/Thread", b"start"),
];

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
        for it in facts.handovers() {
            let call = facts.call(it.call);
            harm.insert((call.method, call.instruction), "a task is handed over");
        }
        for it in facts.calls() {
            let Some(callee) = it.callee.map(|it| world.method_ref(it)) else { continue };
            let name = world.signature(callee.signature).0;
            if EXITS.contains(&(world.type_name(callee.owner), name)) {
                let what = if name == b"start" { "a thread is started" } else { "the process ends" };
                harm.insert((it.method, it.instruction), what);
            }
        }
        let errors = statements.statements().iter().filter(|it| matches!(it.level, Level::Error | Level::Fatal));
        harm.extend(errors.map(|it| ((it.method, it.instruction), "an error is logged")));
        for method in (0..world.method_count() as u32).map(MethodId) {
            let throws = facts.throwers(method).iter();
            harm.extend(throws.map(|it| ((method, it.instruction), "an exception is thrown")));
        }
        Impacts { program, harm }
    }

    /// What follows from the read of a stack.
    pub(crate) fn follows(&self, stack: &[Frame]) -> Follows {
        let points = self.program.causes().calls_of(stack);
        if points.is_empty() {
            return Follows::Unknown;
        }
        for distance_max in DISTANCES {
            let limits = SliceLimits { points_max: POINTS_MAX, distance_max, aborts: true };
            let slice = Slice::forward(self.program.causes(), &points, limits);
            let reached = slice.points().iter().filter(|it| it.distance > 0);
            let harm = reached.filter_map(|it| {
                Some((it.distance, it.method, it.instruction, *self.harm.get(&(it.method, it.instruction))?))
            });
            if let Some((distance, method, instruction, what)) = harm.min() {
                let at = self.place(method, instruction);
                return Follows::Harm(Impact { what: what.to_owned(), at, distance });
            }
            if slice.is_complete() {
                return Follows::Nothing;
            }
        }
        Follows::Unknown
    }

    fn place(&self, method: MethodId, instruction: u16) -> String {
        let world = &self.program.world;
        let line = world.look(method, |view| view.body.line(instruction.into())).flatten();
        let name = world.show_method(method);
        line.map_or_else(|| name.clone(), |line| format!("{name}:{line}"))
    }
}
