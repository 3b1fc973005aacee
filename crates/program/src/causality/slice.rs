//! Static slices: what can affect a point of the program, or what it can affect (Weiser; Kairux 4.2 records at them).
//!
//! A point is an instruction. Backward, it depends on the instructions that make its operands, and on those that decide
//! whether it runs ([`Decisions`]): branches, what may throw before it, the calls of its method. A slice goes through
//! fields by jumping to all writes of the field, through calls by parameters and returns, through arrays and objects of
//! libraries by what is done to the same object elsewhere, as far as that can be followed, into handlers by what throws,
//! into tasks by where they are handed over, and out of them by the futures that stand for them. Calling contexts are not told apart, nor are two objects of one class.
//!
//! Of a call it matters why it is in the slice. If only that it runs matters, its arguments are left out; if an argument
//! does, only that one is followed; if its result does, the returns of what it calls.
//!
//! What only moves a value (loads and stores of locals, `dup`) is never in a slice, as in a [`Body`](crate::Body) values
//! go through it.
//!
//! The methods of a level are looked at in parallel and what they lead to is sorted, so a slice does not depend on the
//! number of threads.

mod backward;
mod forward;
mod objects;

use hypocenter_classfile::descriptor;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::causality::causal::Causes;
use crate::causality::decisions::Decisions;
use crate::dataflow::exceptions::Exception;
use crate::facts::known;
use crate::facts::{Call, CallId, CallKind, HandlerId, Lambda};
use crate::loading::world::{FieldId, MethodId};
use crate::methods::values::ValueId;
use crate::methods::view::MethodView;

/// The most points of a slice, unless a caller says otherwise.
const POINTS_MAX: usize = 1_000_000;
/// The most steps that are taken, those that follow objects and lead to no point included.
const STEPS_MAX: usize = 1 << 24;
/// Instead of the number of an operand: all of them.
const EVERY: u16 = u16::MAX;

/// How far a slice goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceLimits {
    /// The most points.
    pub points_max: usize,
    /// The largest distance.
    pub distance_max: u32,
    /// Whether what comes behind an instruction that may throw depends on it, and so on what makes it throw. Without
    /// this, exceptions lead only to handlers.
    pub aborts: bool,
}

impl Default for SliceLimits {
    fn default() -> Self {
        SliceLimits { points_max: POINTS_MAX, distance_max: u32::MAX, aborts: true }
    }
}

/// A point of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlicePoint {
    /// The method.
    pub method: MethodId,
    /// The instruction, by its number.
    pub instruction: u16,
    /// How many points there are on the shortest way from a given one, which is at 0.
    pub distance: u32,
}

/// A set of points of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slice {
    points: Vec<SlicePoint>,
    is_complete: bool,
}

impl Slice {
    /// What can affect whether some instructions run, and with what.
    pub fn backward(causes: Causes<'_>, points: &[(MethodId, u16)], limits: SliceLimits) -> Slice {
        Slicing::new(causes, limits, Direction::Backward).run(points)
    }

    /// What some instructions can affect.
    pub fn forward(causes: Causes<'_>, points: &[(MethodId, u16)], limits: SliceLimits) -> Slice {
        Slicing::new(causes, limits, Direction::Forward).run(points)
    }

    /// The points, sorted by method and instruction; the given ones are among them.
    pub fn points(&self) -> &[SlicePoint] {
        &self.points
    }

    /// The distance of a point, if it is in the slice.
    pub fn distance(&self, method: MethodId, instruction: u16) -> Option<u32> {
        let key = |it: &SlicePoint| (it.method, it.instruction);
        let at = self.points.binary_search_by_key(&(method, instruction), key).ok()?;
        Some(self.points[at].distance)
    }

    /// Whether a point is in the slice.
    pub fn has(&self, method: MethodId, instruction: u16) -> bool {
        self.distance(method, instruction).is_some()
    }

    /// Whether no limit left anything out.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Backward,
    Forward,
}

/// A step of slicing. Backward it says what matters, forward what is affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Step {
    /// Whether an instruction runs.
    Runs(MethodId, u16),
    /// What an instruction computes or does.
    Value(MethodId, u16),
    /// Everything about an instruction; of a call all its arguments too, and what it throws.
    All(MethodId, u16),
    /// An operand of an instruction, by number, or all of them ([`EVERY`]); the instruction is in the slice as well.
    Operand(MethodId, u16, u16),
    /// That an instruction throws this.
    Thrown(MethodId, u16, Exception),
    /// What a field holds.
    Field(FieldId),
    /// A parameter of a method.
    Parameter(MethodId, u16),
    /// What a method returns.
    Returned(MethodId),
    /// Whether a method is entered.
    Entered(MethodId),
    /// Whether a handler is entered, and with what.
    Handler(HandlerId),
    /// That this leaves a method.
    Escapes(MethodId, Exception),
    /// What is in an array or in an object of a library: looked for where the object comes from.
    Content(Holder),
    /// The same, looked for where the object goes.
    Shared(Holder),
}

/// Where an object is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Holder {
    /// In a value of a method.
    Local(MethodId, ValueId),
    /// As an operand of an instruction; `u16::MAX` is the last.
    Operand(MethodId, u16, u16),
    /// As the result of an instruction.
    Result(MethodId, u16),
    /// In a field.
    Field(FieldId),
    /// In a parameter.
    Parameter(MethodId, u16),
    /// In what a method returns.
    Returned(MethodId),
}

impl Step {
    /// The point that the step puts into the slice.
    fn point(self) -> Option<(MethodId, u16)> {
        match self {
            Step::Runs(method, at)
            | Step::Value(method, at)
            | Step::All(method, at)
            | Step::Operand(method, at, _)
            | Step::Thrown(method, at, _) => Some((method, at)),
            _ => None,
        }
    }
}

struct Slicing<'p> {
    causes: Causes<'p>,
    limits: SliceLimits,
    direction: Direction,
    seen: FxHashSet<Step>,
    points: FxHashMap<(MethodId, u16), u32>,
    decisions: FxHashMap<MethodId, Decisions>,
    is_complete: bool,
}

/// What the steps in one method lead to, and the decisions of the method if they were not known.
type Expanded = (Vec<(Step, Step)>, Option<(MethodId, Decisions)>);

/// The body of a method while its steps are looked at.
struct Looking<'v> {
    causes: Causes<'v>,
    view: MethodView<'v>,
    decisions: &'v Decisions,
}

impl<'p> Slicing<'p> {
    fn new(causes: Causes<'p>, limits: SliceLimits, direction: Direction) -> Slicing<'p> {
        Slicing {
            causes,
            limits,
            direction,
            seen: FxHashSet::default(),
            points: FxHashMap::default(),
            decisions: FxHashMap::default(),
            is_complete: true,
        }
    }

    fn run(mut self, points: &[(MethodId, u16)]) -> Slice {
        let mut level: Vec<Step> = points.iter().map(|&(method, at)| Step::All(method, at)).collect();
        let mut distance = 0;
        while !level.is_empty() {
            if distance > self.limits.distance_max {
                self.is_complete &= level.iter().all(|it| self.seen.contains(it));
                break;
            }
            level = self.level(level, distance);
            distance = distance.saturating_add(1);
        }
        let mut points: Vec<SlicePoint> = self
            .points
            .into_iter()
            .map(|((method, instruction), distance)| SlicePoint { method, instruction, distance })
            .collect();
        points.sort_unstable();
        Slice { points, is_complete: self.is_complete }
    }

    /// Takes everything at one distance, and gives what is one further.
    fn level(&mut self, mut steps: Vec<Step>, distance: u32) -> Vec<Step> {
        let mut further = Vec::new();
        while !steps.is_empty() {
            steps.sort_unstable();
            steps.dedup();
            steps.retain(|&it| self.take(it, distance));
            let found = self.expand(&steps);
            steps.clear();
            for (from, to) in found {
                if self.seen.contains(&to) {
                    continue;
                }
                // Another step at the same point, or one that is no point, takes no distance.
                let is_near = to.point().is_none_or(|it| Some(it) == from.point());
                if is_near { &mut steps } else { &mut further }.push(to);
            }
        }
        further
    }

    /// Whether a step is new and within the limits.
    fn take(&mut self, step: Step, distance: u32) -> bool {
        if self.seen.contains(&step) {
            return false;
        }
        let is_new = step.point().is_some_and(|it| !self.points.contains_key(&it));
        let is_full =
            if is_new { self.points.len() >= self.limits.points_max } else { self.seen.len() >= STEPS_MAX };
        if is_full {
            self.is_complete = false;
            return false;
        }
        self.seen.insert(step);
        if let Some(point) = step.point().filter(|_| is_new) {
            self.points.insert(point, distance);
        }
        true
    }

    /// What each step leads to.
    fn expand(&mut self, steps: &[Step]) -> Vec<(Step, Step)> {
        let causes = self.causes;
        let mut keyed: Vec<(Option<MethodId>, Step)> =
            steps.iter().map(|&it| (self.method(it), it)).collect();
        keyed.sort_unstable();
        let groups: Vec<&[(Option<MethodId>, Step)]> = keyed.chunk_by(|a, b| a.0 == b.0).collect();
        let (known, direction, aborts) = (&self.decisions, self.direction, self.limits.aborts);
        let found: Vec<Expanded> = groups
            .par_iter()
            .map(|group| {
                let mut found = Vec::new();
                let mut next = Vec::new();
                let Some(method) = group[0].0 else {
                    for &(_, step) in *group {
                        causes.slice_on(step, direction, &mut next);
                        found.extend(next.drain(..).map(|it| (step, it)));
                    }
                    return (found, None);
                };
                let made = causes.world.look(method, |view| {
                    let mut made = None;
                    let decisions = match known.get(&method) {
                        Some(it) => it,
                        None => made.insert(Decisions::of(causes, &view, aborts)),
                    };
                    let looking = Looking { causes, view, decisions };
                    let count = view.body.flow.instructions.len();
                    for &(_, step) in *group {
                        if step.point().is_some_and(|(_, at)| usize::from(at) >= count) {
                            continue;
                        }
                        match direction {
                            Direction::Backward => looking.backward(step, &mut next),
                            Direction::Forward => looking.forward(step, &mut next),
                        }
                        found.extend(next.drain(..).map(|it| (step, it)));
                    }
                    made
                });
                (found, made.flatten().map(|it| (method, it)))
            })
            .collect();
        let mut all = Vec::new();
        for (found, made) in found {
            all.extend(found);
            self.decisions.extend(made);
        }
        all
    }

    /// The method whose body is needed to go on, if any.
    fn method(&self, step: Step) -> Option<MethodId> {
        match step {
            Step::Runs(it, _)
            | Step::Value(it, _)
            | Step::All(it, _)
            | Step::Operand(it, ..)
            | Step::Thrown(it, ..) => Some(it),
            Step::Handler(it) => Some(self.causes.facts.handler(it).method),
            Step::Content(it) | Step::Shared(it) => match it {
                Holder::Local(it, _) | Holder::Operand(it, ..) | Holder::Result(it, _) => Some(it),
                Holder::Returned(it) => matches!(step, Step::Content(_)).then_some(it),
                Holder::Parameter(it, _) => matches!(step, Step::Shared(_)).then_some(it),
                Holder::Field(_) => None,
            },
            Step::Field(_) => None,
            Step::Returned(it) | Step::Escapes(it, _) => {
                (self.direction == Direction::Backward).then_some(it)
            }
            Step::Parameter(it, _) | Step::Entered(it) => {
                (self.direction == Direction::Forward).then_some(it)
            }
        }
    }
}

impl Causes<'_> {
    /// Steps that need no body.
    fn slice_on(&self, step: Step, direction: Direction, next: &mut Vec<Step>) {
        match step {
            Step::Content(holder) => self.content_without_body(holder, next),
            Step::Shared(holder) => self.shared_without_body(holder, next),
            _ => match direction {
                Direction::Backward => self.backward_without_body(step, next),
                Direction::Forward => self.forward_without_body(step, next),
            },
        }
    }

    /// Whether a call names a method of a library, which it then may run; so does a call of what is not known.
    pub(crate) fn is_library(&self, call: &Call) -> bool {
        let Some(callee) = call.callee else { return true };
        self.world.method_ref(callee).method.is_none_or(|it| !self.world.is_system_method(it))
    }

    /// Whether a call may run one of several methods, so that the class of its object matters.
    fn is_open(&self, call: &Call) -> bool {
        let dispatches = matches!(call.kind, CallKind::Virtual | CallKind::Interface);
        dispatches && self.calls.targets(call).len() + usize::from(self.is_library(call)) > 1
    }

    /// Whether a call returns a future, which stands for the task that the call hands over.
    fn makes_future(&self, call: &Call) -> bool {
        call.callee.is_some_and(|it| {
            let callee = self.world.method_ref(it);
            known::makes_future(self.world.signature(callee.signature).1)
        })
    }

    /// The lambdas that stand for a method.
    fn lambdas(&self, method: MethodId) -> impl Iterator<Item = &Lambda> {
        self.tasks.lambdas(method).iter().map(|&it| &self.facts.lambdas()[it as usize])
    }

    /// Whether a call runs a method because it is named, and not through a lambda.
    fn is_plain(&self, call: &Call, method: MethodId) -> bool {
        let Some(callee) = call.callee.map(|it| self.world.method_ref(it)) else { return false };
        let it = self.world.method(method);
        callee.signature == it.signature
            && (self.tasks.lambdas(method).is_empty() || self.world.is_subtype(it.owner, callee.owner))
    }

    /// How many parameters of a lambda's method are taken where it is made, and 1 for a constructor, whose object is
    /// passed by nobody.
    fn captured(&self, lambda: &Lambda, method: MethodId) -> (u16, u16) {
        let passed =
            lambda.signature.map_or(0, |it| descriptor::parameters(self.world.signature(it).1).count());
        let is_new = self.world.method_name(method) == b"<init>";
        let has_this = !self.world.method(method).is_static() && !is_new;
        let taken = self.world.parameter_types(method).count() + usize::from(has_this);
        (taken.saturating_sub(passed) as u16, u16::from(is_new))
    }

    /// The operands, by number, of calls and of what makes a lambda that may become a parameter of a method.
    fn arguments(&self, method: MethodId, number: u16) -> Vec<(MethodId, u16, u16)> {
        let mut found = Vec::new();
        for call in self.calls.callers(method) {
            let call = self.facts.call(call);
            if self.is_plain(call, method) {
                found.push((call.method, call.instruction, number));
                continue;
            }
            for lambda in self.lambdas(method) {
                let (captured, is_new) = self.captured(lambda, method);
                if let Some(at) = number.checked_sub(captured + is_new) {
                    found.push((call.method, call.instruction, at + 1));
                }
            }
        }
        for lambda in self.lambdas(method) {
            let (captured, is_new) = self.captured(lambda, method);
            if let Some(at) = number.checked_sub(is_new).filter(|&it| it < captured) {
                found.push((lambda.method, lambda.instruction, at));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The parameters that an operand of a call or of what makes a lambda may become.
    fn parameters(&self, method: MethodId, instruction: u16, operand: u16) -> Vec<(MethodId, u16)> {
        let mut found = Vec::new();
        let Some(call) = self.facts.call_at(method, instruction.into()) else { return found };
        let call = self.facts.call(call);
        for &target in self.calls.targets(call) {
            if self.is_plain(call, target) {
                found.push((target, operand));
                continue;
            }
            for lambda in self.lambdas(target) {
                let (captured, is_new) = self.captured(lambda, target);
                found.extend(operand.checked_sub(1).map(|it| (target, it + captured + is_new)));
            }
        }
        if let Some((lambda, target)) = self.lambda_at(method, instruction) {
            let (captured, is_new) = self.captured(lambda, target);
            found.extend((operand < captured).then_some((target, operand + is_new)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The lambda that an instruction makes, and its method.
    fn lambda_at(&self, method: MethodId, instruction: u16) -> Option<(&Lambda, MethodId)> {
        let lambdas = self.facts.lambdas();
        let at = lambdas.partition_point(|it| (it.method, it.instruction) < (method, instruction));
        let lambda = lambdas.get(at).filter(|it| (it.method, it.instruction) == (method, instruction))?;
        Some((lambda, lambda.implementation?))
    }

    /// The methods that nobody is seen handing over, and that may be entered because an instruction makes the lambda or
    /// the object: the inverse of [`entries`](Self::entries).
    fn begun(&self, method: MethodId, instruction: u16) -> Vec<MethodId> {
        let mut found: Vec<MethodId> =
            self.lambda_at(method, instruction).map(|it| it.1).into_iter().collect();
        let made = self.facts.allocations();
        let at = made.partition_point(|it| (it.method, it.instruction) < (method, instruction));
        if let Some(it) = made.get(at).filter(|it| (it.method, it.instruction) == (method, instruction)) {
            found.extend(self.world.methods_of(it.class));
        }
        found.retain(|&it| {
            self.entries(it).iter().any(|it| (it.0, it.1, it.2) == (method, instruction, None))
        });
        found
    }

    /// The instructions by which a method may be entered: calls and, for what libraries run, where it is handed over or
    /// at least made.
    fn entries(&self, method: MethodId) -> Vec<(MethodId, u16, Option<CallId>)> {
        let of_call = |it: CallId| {
            let call = self.facts.call(it);
            (call.method, call.instruction, Some(it))
        };
        let mut found: Vec<_> = self.calls.callers(method).map(of_call).collect();
        let handed = self.tasks.handed(method);
        found.extend(handed.iter().map(|&it| of_call(it)));
        if handed.is_empty() {
            found.extend(self.lambdas(method).map(|it| (it.method, it.instruction, None)));
            if found.is_empty() && self.world.is_callback(method) {
                let made = self.facts.made_at(self.world.method(method).owner);
                found.extend(made.map(|it| (it.method, it.instruction, None)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Looking<'_> {
    fn opcode(&self, instruction: u32) -> u8 {
        self.view.instruction(instruction).opcode
    }

    fn call(&self, instruction: u32) -> Option<(CallId, Call)> {
        let id = self.causes.facts.call_at(self.view.id, instruction)?;
        Some((id, *self.causes.facts.call(id)))
    }

    /// Whether an instruction is supposed to lead to a handler that nothing is known to reach: any call that it covers
    /// may, as not everything is declared, and without calls anything may.
    fn is_supposed(&self, instruction: u32, handler: HandlerId) -> bool {
        let body = self.view.body;
        let Some(block) = self.decisions.block(&self.view, handler) else { return false };
        let is_covered = |at: u32| body.covering(at).any(|it| it.handler == block);
        let is_call = |at: u32| self.view.instruction(at).is_invoke();
        let mut all = 0..body.flow.instructions.len() as u32;
        is_covered(instruction)
            && self.decisions.ways().iter().all(|it| it.1.to != Some(handler))
            && (is_call(instruction) || !all.any(|it| is_call(it) && is_covered(it)))
    }
}
