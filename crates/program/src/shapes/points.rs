//! Points of a system at which faults can feed each other (CSNAKE 4.1): exceptions that it throws or gets from libraries, loops that can grow,
//! and methods that detect errors.
//!
//! Every `throw new` is one point. A normal run does not reach it, so a fault goes in where the branch that guards it is
//! decided, and the `throw` itself is where it is seen. Points that hardly matter are listed with the [`LeftOut`] why; which reasons count is
//! for the engine to say.

use hypocenter_classfile::{ClassFile, Member, annotations, op};
use hypocenter_plan::{Site, SiteKind};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::facts::calls::CallGraph;
use crate::facts::{CallId, Facts, Thrown};
use crate::loading::world::{MethodId, TypeId, World};
use crate::methods::condition::is_test;
use crate::methods::dependence::ControlDependence;
use crate::methods::dominance::Edges;
use crate::methods::flow::Flow;
use crate::methods::values::Value;
use crate::methods::view::MethodView;
use crate::program::Program;
use crate::shapes::detectors::Reason;
use crate::shapes::effects::Effect;
use crate::shapes::loop_facts::{Bound, LoopFact, LoopId};
use crate::shapes::test_methods::Tests;
use crate::sites::kinds::KindSet;
use crate::sites::{MethodSite, sites_of_method};

/// Maximum number of tests of a compound condition.
const TESTS_MAX: usize = 64;
/// One of so many loops is too small to matter, unless it does input or output (4.1).
const SMALL_LOOPS: usize = 10;

/// The kinds of sites that points are named by.
const KINDS: KindSet = KindSet::of(&[
    SiteKind::Branch,
    SiteKind::Switch,
    SiteKind::Throw,
    SiteKind::Entry,
    SiteKind::Call,
    SiteKind::CallThrow,
    SiteKind::LoopBody,
    SiteKind::BooleanReturn,
]);

/// A point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// The method.
    pub method: MethodId,
    /// The line, 0 if there is none.
    pub line: u16,
    /// Its kind.
    pub kind: PointKind,
    /// The sites at which its fault is injected; none where the method cannot be read.
    pub inject: Vec<Site>,
    /// The sites at which the same is seen when it happens by itself.
    pub observe: Vec<Site>,
    /// Why it hardly matters; none if it may.
    pub left_out: Option<LeftOut>,
}

/// Kind of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointKind {
    /// The system throws a new object of this class.
    Throw {
        /// The class.
        class: TypeId,
        /// True if a branch guards it. Otherwise its fault goes in at the entry of the method.
        is_guarded: bool,
    },
    /// A library is called that declares this exception.
    Library {
        /// The class.
        class: TypeId,
        /// The call.
        call: CallId,
    },
    /// A loop.
    Loop(LoopId),
    /// A method that returns a truth value.
    Detector,
}

/// Why a point hardly matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftOut {
    /// It is test code.
    Test,
    /// Only tests call it.
    TestOnly,
    /// A generator wrote it.
    Generated,
    /// The exception is of reflection, or of loading classes.
    Reflection,
    /// The exception is of security.
    Security,
    /// The exception asks a thread to end.
    Interrupted,
    /// The exception is of an assertion.
    Assertion,
    /// It passes on an exception that was caught.
    Rethrown,
    /// No object of the class can be made.
    Unconstructible,
    /// A constant bounds the loop.
    Constant,
    /// The loop does little and no input or output.
    Small,
    /// The method hardly detects errors.
    Detector(Reason),
}

impl LeftOut {
    /// The reason in one word.
    pub fn name(self) -> &'static str {
        match self {
            LeftOut::Test => "test",
            LeftOut::TestOnly => "test_only",
            LeftOut::Generated => "generated",
            LeftOut::Reflection => "reflection",
            LeftOut::Security => "security",
            LeftOut::Interrupted => "interrupted",
            LeftOut::Assertion => "assertion",
            LeftOut::Rethrown => "rethrown",
            LeftOut::Unconstructible => "unconstructible",
            LeftOut::Constant => "constant_bound",
            LeftOut::Small => "small",
            LeftOut::Detector(_) => "no_detector",
        }
    }
}

/// All points of a system.
#[derive(Debug, Default)]
pub struct Points {
    all: Vec<Point>,
    branches: u32,
}

/// Families of exceptions, by the classes above them.
struct Families {
    reflection: Vec<TypeId>,
    security: Vec<TypeId>,
    interrupted: Vec<TypeId>,
    assertion: Vec<TypeId>,
}

impl Families {
    fn of(world: &World) -> Families {
        let find = |names: &[&str]| names.iter().filter_map(|it| world.find_type(it.as_bytes())).collect();
        Families {
            reflection: find(&[
                "java/lang/ReflectiveOperationException",
                "java/lang/reflect/MalformedParametersException",
                "java/lang/reflect/UndeclaredThrowableException",
                "java/lang/LinkageError",
                "java/lang/CloneNotSupportedException",
            ]),
            security: find(&[
                "java/security/GeneralSecurityException",
                "java/lang/SecurityException",
                "javax/security/sasl/SaslException",
                "org/ietf/jgss/GSSException",
            ]),
            interrupted: find(&["java/lang/InterruptedException"]),
            assertion: find(&["java/lang/AssertionError"]),
        }
    }

    fn reason(&self, world: &World, class: TypeId) -> Option<LeftOut> {
        let is_in = |family: &[TypeId]| family.iter().any(|&it| world.is_subtype(class, it));
        [
            (&self.reflection, LeftOut::Reflection),
            (&self.security, LeftOut::Security),
            (&self.interrupted, LeftOut::Interrupted),
            (&self.assertion, LeftOut::Assertion),
        ]
        .into_iter()
        .find(|(family, _)| is_in(family))
        .map(|it| it.1)
    }
}

/// What all classes are looked at with.
struct Looking<'p> {
    program: &'p Program,
    families: Families,
    generated: FxHashSet<TypeId>,
    /// By method: true if it is run by others than tests.
    is_live: Vec<bool>,
    /// Loops that reach less code than this are small.
    small: u64,
}

impl Points {
    /// Finds them.
    pub fn of(program: &Program) -> Points {
        let Program { world, facts, calls, tests, loops, .. } = program;
        let looking = Looking {
            program,
            families: Families::of(world),
            generated: generated(world),
            is_live: live(world, facts, calls, tests),
            small: small(loops.all()),
        };
        let parts: Vec<Points> =
            world.system_classes().par_iter().map(|it| looking.class(it.id, &it.bytes)).collect();
        let mut points = Points::default();
        for part in parts {
            points.all.extend(part.all);
            points.branches += part.branches;
        }
        points
    }

    /// All points, in the order of methods; of a method in the order of [`PointKind`].
    pub fn all(&self) -> &[Point] {
        &self.all
    }

    /// Number of conditional branches that are neither in tests nor generated.
    pub fn branches(&self) -> u32 {
        self.branches
    }
}

impl Looking<'_> {
    fn class(&self, id: TypeId, bytes: &[u8]) -> Points {
        let Program { world, .. } = self.program;
        let class = ClassFile::parse(bytes).expect("was read before");
        let mut points = Points::default();
        for (member, method) in class.methods().iter().zip(world.methods_of(id)) {
            let mut found = self.of_method(method);
            let left_out = self.left_out(method);
            if found.is_empty() && left_out.is_some() {
                continue;
            }
            let Ok(sites) = sites_of_method(&class, member, KINDS) else { continue };
            if left_out.is_none() {
                points.branches += sites.sites.iter().filter(|it| it.kind == SiteKind::Branch).count() as u32;
            }
            for it in &mut found {
                it.point.left_out = left_out.or(it.point.left_out);
                it.name(&sites.sites, &world.show_type(id), member);
            }
            points.all.extend(found.into_iter().map(|it| it.point));
        }
        points
    }

    /// Why a method as a whole hardly matters.
    fn left_out(&self, method: MethodId) -> Option<LeftOut> {
        let owner = self.program.world.method(method).owner;
        if self.program.tests.is_test_code(owner) {
            Some(LeftOut::Test)
        } else if self.generated.contains(&owner) {
            Some(LeftOut::Generated)
        } else {
            (!self.is_live[method.index()]).then_some(LeftOut::TestOnly)
        }
    }

    fn of_method(&self, method: MethodId) -> Vec<Unnamed> {
        let mut found = self.throws(method);
        found.extend(self.library(method));
        found.extend(self.loops(method));
        found.extend(self.detector(method));
        found
    }

    fn throws(&self, method: MethodId) -> Vec<Unnamed> {
        let Program { world, facts, .. } = self.program;
        let made = facts.throwers(method).iter().filter_map(|it| match it.thrown {
            Thrown::New(class, because) => Some((it.instruction, class, because.is_some())),
            _ => None,
        });
        let mut made: Vec<_> = made.collect();
        made.sort_unstable();
        made.dedup();
        if made.is_empty() {
            return Vec::new();
        }
        let seen = world.look(method, |view| {
            let dependence = ControlDependence::of(&view.body.flow, Edges::Normal).ok();
            let point = |&(throw, class, passes_on): &(u16, TypeId, bool)| {
                let made = made_at(&view, throw.into(), class).unwrap_or(throw.into());
                let guard = dependence.as_ref().and_then(|it| guard(&view, it, view.body.block_of(made)));
                let left_out =
                    if passes_on { Some(LeftOut::Rethrown) } else { self.families.reason(world, class) };
                Unnamed {
                    inject: guard.map_or(Wanted::Entry, |it| Wanted::Guard(it as u16)),
                    observe: Wanted::At(SiteKind::Throw, throw),
                    point: Point {
                        method,
                        line: line(&view, throw.into()),
                        kind: PointKind::Throw { class, is_guarded: guard.is_some() },
                        inject: Vec::new(),
                        observe: Vec::new(),
                        left_out,
                    },
                }
            };
            made.iter().map(point).collect()
        });
        seen.unwrap_or_default()
    }

    /// A call has one point: for the first exception of those that matter, else for the first.
    fn library(&self, method: MethodId) -> Vec<Unnamed> {
        let Program { world, facts, faults, .. } = self.program;
        let external = facts.calls_in(method).filter_map(|id| {
            let site =
                faults.at(id).iter().find(|it| matches!(it.kind, crate::FaultKind::External { .. }))?;
            let reason = |class: TypeId| {
                let can_be_made = concrete(world, class).is_some();
                let unmade = (!can_be_made).then_some(LeftOut::Unconstructible);
                self.families.reason(world, class).or(unmade)
            };
            let all = site.kind.exceptions().iter().map(|&it| (it, reason(it)));
            let (class, left_out) = all.min_by_key(|it| it.1.is_some())?;
            let call = facts.call(id);
            Some(Unnamed {
                inject: Wanted::At(SiteKind::Call, call.instruction),
                observe: Wanted::At(SiteKind::CallThrow, call.instruction),
                point: Point {
                    method,
                    line: call.line,
                    kind: PointKind::Library { class: concrete(world, class).unwrap_or(class), call: id },
                    inject: Vec::new(),
                    observe: Vec::new(),
                    left_out,
                },
            })
        });
        external.collect()
    }

    fn loops(&self, method: MethodId) -> Vec<Unnamed> {
        let loops = &self.program.loops;
        let point = |id: LoopId| {
            let it = loops.get(id);
            let is_small = reach(it) < self.small && it.effects.depth(Effect::Io).is_none();
            let left_out = match it.bound {
                Bound::Constant => Some(LeftOut::Constant),
                _ => is_small.then_some(LeftOut::Small),
            };
            let wanted = Wanted::Ordinal(SiteKind::LoopBody, it.ordinal);
            Unnamed {
                inject: wanted,
                observe: wanted,
                point: Point {
                    method,
                    line: it.line,
                    kind: PointKind::Loop(id),
                    inject: Vec::new(),
                    observe: Vec::new(),
                    left_out,
                },
            }
        };
        loops.of_method(method).map(point).collect()
    }

    fn detector(&self, method: MethodId) -> Option<Unnamed> {
        let all = self.program.detectors.all();
        let it = &all[all.binary_search_by_key(&method, |it| it.method).ok()?];
        let first = self.program.world.look(method, |view| line(&view, 0));
        Some(Unnamed {
            inject: Wanted::All(SiteKind::BooleanReturn),
            observe: Wanted::All(SiteKind::BooleanReturn),
            point: Point {
                method,
                line: first.unwrap_or(0),
                kind: PointKind::Detector,
                inject: Vec::new(),
                observe: Vec::new(),
                left_out: it.reason.map(LeftOut::Detector),
            },
        })
    }
}

/// A point whose sites are not named yet.
struct Unnamed {
    point: Point,
    inject: Wanted,
    observe: Wanted,
}

/// Sites of a method.
#[derive(Clone, Copy)]
enum Wanted {
    /// The start of the method.
    Entry,
    /// The branch or switch at an instruction.
    Guard(u16),
    /// The site of a kind at an instruction.
    At(SiteKind, u16),
    /// The site of a kind with this index.
    Ordinal(SiteKind, u16),
    /// All of a kind.
    All(SiteKind),
}

impl Wanted {
    fn is(self, site: &MethodSite) -> bool {
        let is_at = |wanted: u16| site.hooks.iter().any(|it| it.instruction == wanted);
        match self {
            Wanted::Entry => site.kind == SiteKind::Entry,
            Wanted::Guard(at) => matches!(site.kind, SiteKind::Branch | SiteKind::Switch) && is_at(at),
            Wanted::At(kind, at) => site.kind == kind && is_at(at),
            Wanted::Ordinal(kind, ordinal) => site.kind == kind && site.ordinal == ordinal,
            Wanted::All(kind) => site.kind == kind,
        }
    }
}

impl Unnamed {
    fn name(&mut self, sites: &[MethodSite], class: &str, member: &Member<'_>) {
        let name = String::from_utf8_lossy(member.name);
        let descriptor = String::from_utf8_lossy(member.descriptor);
        let named = |wanted: Wanted| {
            let found = sites.iter().filter(|it| wanted.is(it));
            found.map(|it| it.named(class, &name, &descriptor)).collect()
        };
        self.point.inject = named(self.inject);
        self.point.observe = named(self.observe);
    }
}

fn line(view: &MethodView<'_>, instruction: u32) -> u16 {
    view.body.line(instruction).and_then(|it| u16::try_from(it).ok()).unwrap_or(0)
}

/// Where the object that is thrown is made.
fn made_at(view: &MethodView<'_>, throw: u32, class: TypeId) -> Option<u32> {
    let thrown = *view.body.operands(throw).first()?;
    view.body.origins(thrown).into_iter().find_map(|it| match view.body.value(it) {
        Value::Result(number) => {
            let is_new = view.instruction(number).opcode == op::NEW;
            (is_new && view.class_at(number) == Some(class)).then_some(number)
        }
        _ => None,
    })
}

/// The branch that decides about a block, by its instruction: of a compound condition the first.
fn guard(view: &MethodView<'_>, dependence: &ControlDependence, block: u32) -> Option<u32> {
    let flow = &view.body.flow;
    let before = |block: u32| {
        let branches = dependence.of_block(block).iter().map(|it| it.branch);
        branches.filter(|&it| it != block).min()
    };
    let mut first = before(block)?;
    for _ in 0..TESTS_MAX {
        if !is_test(view.class, flow, first) {
            break;
        }
        match before(first).filter(|&it| it < first && share_a_way(flow, it, first)) {
            Some(it) => first = it,
            None => break,
        }
    }
    Some(flow.blocks[first as usize].end - 1)
}

/// Tests whether two branches lead to the same place in one way, as those of a compound condition do.
fn share_a_way(flow: &Flow<'_>, one: u32, other: u32) -> bool {
    flow.out_of(one).iter().any(|it| flow.out_of(other).iter().any(|other| other.to == it.to))
}

/// A class of which objects can be made, for one that is declared: itself, or the first below it.
fn concrete(world: &World, class: TypeId) -> Option<TypeId> {
    use crate::loading::world::access::ABSTRACT;
    let below = world.descendants(class).iter().copied();
    std::iter::once(class).chain(below).find(|&it| world.get(it).access & ABSTRACT == 0)
}

/// The classes that generators wrote: those with an annotation that says so, and those that extend or implement what the runtime of protocol
/// buffers has, in whichever package it was moved to.
fn generated(world: &World) -> FxHashSet<TypeId> {
    let says_so = |bytes: &[u8]| {
        let class = ClassFile::parse(bytes).expect("was read before");
        let of = ["RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"];
        of.iter()
            .filter_map(|it| class.attribute(it.as_bytes()))
            .any(|it| annotations(it, &class.pool).iter().any(|it| it.descriptor.ends_with(b"Generated;")))
    };
    let is_runtime = |id: TypeId| {
        let name = world.type_name(id);
        let package = name.iter().rposition(|&it| it == b'/').map_or(&name[..0], |it| &name[..it]);
        !world.is_system(id) && package.ends_with(b"/protobuf")
    };
    let classes = world.system_classes().par_iter();
    let found =
        classes.filter(|it| world.ancestors(it.id).iter().any(|&it| is_runtime(it)) || says_so(&it.bytes));
    found.map(|it| it.id).collect()
}

/// By method: true if it is not only run by tests. A method that nobody calls may be called by whoever uses the system.
fn live(world: &World, facts: &Facts, calls: &CallGraph, tests: &Tests) -> Vec<bool> {
    let mut is_live = vec![true; world.method_count()];
    let methods = || world.system_classes().iter().flat_map(|it| world.methods_of(it.id));
    for method in methods() {
        is_live[method.index()] = !tests.is_test_code(world.method(method).owner);
    }
    let mut pending: Vec<MethodId> = methods().filter(|it| is_live[it.index()]).collect();
    while !pending.is_empty() {
        let is_dead = |it: &MethodId| {
            let mut callers =
                calls.callers(*it).map(|it| facts.call(it).method).filter(|caller| caller != it);
            let first = callers.next();
            let is_called_by_tests_alone =
                first.is_some_and(|it| !is_live[it.index()]) && callers.all(|it| !is_live[it.index()]);
            is_called_by_tests_alone && !world.is_callback(*it)
        };
        let dead: Vec<MethodId> = pending.iter().copied().filter(is_dead).collect();
        if dead.is_empty() {
            break;
        }
        dead.iter().for_each(|it| is_live[it.index()] = false);
        pending.retain(|it| is_live[it.index()]);
    }
    is_live
}

fn reach(it: &LoopFact) -> u64 {
    u64::from(it.size) + u64::from(it.reaches)
}

/// The size below which a loop is among the lowest.
fn small(loops: &[LoopFact]) -> u64 {
    let open = loops.iter().filter(|it| it.bound != Bound::Constant);
    let mut sizes: Vec<u64> = open.map(reach).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / SMALL_LOOPS).copied().unwrap_or(0)
}
