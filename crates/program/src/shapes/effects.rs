//! Effects of a method on the world outside its thread, by itself or through its calls: I/O, sleeping, waiting,
//! asking for the time.

use crate::facts::calls::CallGraph;
use crate::facts::known;
use crate::facts::{Call, Facts};
use crate::lists::Lists;
use crate::loading::world::{MethodId, Origin, RefId, TypeId, World};
use crate::shapes::waits::{Shapes, WaitKind};

/// Maximum depth of calls that are searched for effects.
pub const EFFECT_DEPTH_MAX: u8 = 8;
/// Calls that may run more methods than this say nothing of what is done: through `Runnable.run` everything does
/// everything.
const TARGETS_MAX: usize = 64;

/// Something that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Files or connections are read or written.
    Io,
    /// The thread sleeps.
    Sleep,
    /// It waits for something else than time.
    Wait,
    /// The time is asked for.
    Clock,
}

const KINDS: usize = 4;

/// Effects, and their distance: the minimum number of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effects {
    depths: [u8; KINDS],
}

impl Default for Effects {
    fn default() -> Self {
        Effects { depths: [u8::MAX; KINDS] }
    }
}

impl Effects {
    /// Through how many calls something is done: 0 if directly; none if it is not done, as far as is looked.
    pub fn depth(&self, effect: Effect) -> Option<u8> {
        Some(self.depths[effect as usize]).filter(|&it| it != u8::MAX)
    }

    /// Tests whether it is done.
    pub fn has(&self, effect: Effect) -> bool {
        self.depth(effect).is_some()
    }

    fn put(&mut self, effect: Effect) {
        self.depths[effect as usize] = 0;
    }

    /// Takes what another does as well, so many calls away.
    pub(crate) fn take(&mut self, other: &Effects, away: u8) {
        for (mine, it) in self.depths.iter_mut().zip(other.depths) {
            *mine = (*mine).min(it.saturating_add(away));
        }
    }
}

/// The effects of all methods of the system and of all references.
pub(crate) struct EffectMap {
    methods: Vec<Effects>,
    /// Own effects of a call of a reference.
    direct: Vec<Effects>,
    /// Effects of the methods of the system that it may run.
    through: Vec<Effects>,
}

impl EffectMap {
    pub fn of(world: &World, facts: &Facts, followed: &Followed<'_>) -> EffectMap {
        let waits = Shapes::of(world);
        let io = world.find_type(b"java/io/IOException");
        let refs = || (0..world.ref_count() as u32).map(RefId);
        let direct: Vec<Effects> = refs().map(|it| of_ref(world, &waits, io, it)).collect();
        let mut map = EffectMap {
            methods: vec![Effects::default(); world.method_count()],
            through: vec![Effects::default(); direct.len()],
            direct,
        };
        for call in facts.calls() {
            if let Some(callee) = call.callee {
                map.methods[call.method.index()].take(&map.direct[callee.index()], 0);
            }
        }
        // Each round carries effects one call further.
        for _ in 0..EFFECT_DEPTH_MAX {
            for id in refs() {
                for target in followed.by_ref(id) {
                    map.through[id.index()].take(&map.methods[target.index()], 0);
                }
            }
            let mut next = map.methods.clone();
            for call in facts.calls() {
                if let Some(callee) = call.callee {
                    next[call.method.index()].take(&map.through[callee.index()], 1);
                }
            }
            if next == map.methods {
                break;
            }
            map.methods = next;
        }
        map
    }

    /// Effect of a call.
    pub fn of_call(&self, call: &Call) -> Effects {
        let mut effects = Effects::default();
        if let Some(callee) = call.callee {
            effects.take(&self.direct[callee.index()], 0);
            effects.take(&self.through[callee.index()], 1);
        }
        effects
    }
}

/// The methods of the system that calls are taken to run. None if they are too many, and none if a collection, an iterator or
/// any object at all is called: mostly that runs the JDK's own, and following it to the one iterator of the system that
/// reads a file would make every loop do I/O.
pub(crate) struct Followed<'c> {
    calls: &'c CallGraph,
    /// By reference.
    is_followed: Vec<bool>,
}

impl<'c> Followed<'c> {
    pub fn of(world: &World, calls: &'c CallGraph) -> Followed<'c> {
        let is_followed = |id: RefId| {
            let targets = calls.targets_of_ref(id).len();
            (1..=TARGETS_MAX).contains(&targets) && !is_anything(world, world.method_ref(id).owner)
        };
        Followed {
            calls,
            is_followed: (0..world.ref_count() as u32).map(|it| is_followed(RefId(it))).collect(),
        }
    }

    /// By the calls of a reference.
    pub fn by_ref(&self, id: RefId) -> &'c [MethodId] {
        if self.is_followed[id.index()] { self.calls.targets_of_ref(id) } else { &[] }
    }

    /// By all calls of each method, each once and in the order of the calls.
    pub fn by_method(&self, world: &World, facts: &Facts) -> Lists<MethodId> {
        let mut lists = Lists::default();
        let mut last_in = vec![u32::MAX; world.method_count()];
        for method in 0..world.method_count() as u32 {
            let callees = facts.calls_in(MethodId(method)).filter_map(|it| facts.call(it).callee);
            let targets = callees.flat_map(|it| self.by_ref(it)).copied();
            let mut is_new = |it: MethodId| std::mem::replace(&mut last_in[it.index()], method) != method;
            lists.add(targets.filter(|&it| is_new(it)));
        }
        lists
    }
}

fn is_anything(world: &World, class: TypeId) -> bool {
    let name = world.type_name(class);
    let in_package = |prefix: &[u8]| name.strip_prefix(prefix).is_some_and(|rest| !rest.contains(&b'/'));
    let is_general = in_package(b"java/util/")
        || matches!(
            name,
            b"java/lang/Object" | b"java/lang/Iterable" | b"java/lang/Comparable" | b"java/lang/CharSequence"
        );
    world.get(class).origin == Origin::Jdk && is_general
}

fn of_ref(world: &World, waits: &Shapes, io: Option<TypeId>, id: RefId) -> Effects {
    let mut effects = Effects::default();
    let it = world.method_ref(id);
    let owner = it.method.map_or(it.owner, |it| world.method(it).owner);
    if world.is_system(owner) {
        return effects;
    }
    let (class, name) = (world.type_name(owner), world.signature(it.signature).0);
    let throws = it.method.map_or(&[][..], |it| world.throws(it));
    let declares = io.is_some_and(|io| throws.iter().any(|&it| world.is_subtype(it, io)));
    if known::does_io(class, name, world.get(owner).origin == Origin::Jdk, declares) {
        effects.put(Effect::Io);
    }
    match waits.get(id).map(|it| it.kind) {
        Some(WaitKind::Sleep) => effects.put(Effect::Sleep),
        Some(_) => effects.put(Effect::Wait),
        None => {}
    }
    if is_clock(class, name) {
        effects.put(Effect::Clock);
    }
    effects
}

/// Tests whether a method of a library tells the time.
pub(crate) fn is_clock(owner: &[u8], name: &[u8]) -> bool {
    match owner {
        b"java/lang/System" => matches!(name, b"currentTimeMillis" | b"nanoTime"),
        b"java/time/Clock" => matches!(name, b"millis" | b"instant"),
        b"java/time/Instant" | b"java/time/LocalDateTime" | b"java/time/ZonedDateTime" => name == b"now",
        _ => false,
    }
}
