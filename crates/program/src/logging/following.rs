//! Log statements that a thread can reach next: from one log statement to others, through the code in between.
//!
//! From a statement control goes on to the end of its method, back to whoever called it, and down into what is called
//! on the way. The distance of another statement is the least number of calls and returns until it is reached; every entry
//! that must be written before makes it greater, since that entry, and not this one, would have been the next. A method
//! that is called on the way and comes back tells its least number of entries.
//!
//! It is a measure for choosing among statements that say the same, not a proof: tasks of other threads are not followed,
//! and what is too far away is not found.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use crate::causality::causal::{Causes, Context};
use crate::causality::graphs::Graphs;
use crate::causality::receivers::{Class, Reach};
use crate::facts::CallId;
use crate::lists::Lists;
use crate::loading::world::{FieldId, MethodId};
use crate::logging::frameworks::Level;
use crate::logging::statements::Statements;
use crate::methods::flow;
use crate::methods::values::Value;
use crate::methods::view::MethodView;

/// Cost of an entry that must be written on the path.
const ENTRY: u32 = 4;
/// Cost of leaving a method by an exception.
const THROW: u32 = 1;
/// Maximum distance of statements that are searched.
const DISTANCE_MAX: u32 = 20;
/// The most places that are gone on from for one statement.
const PLACES_MAX: usize = 4096;
/// The most callers of a method that are gone back to, and writes of a field that are looked at.
const CALLERS_MAX: usize = 64;
/// Maximum depth of calls that are followed for the entries that they write.
const DEPTH_MAX: u8 = 4;

/// Statements that can be logged after each statement, computed on demand.
#[derive(Debug)]
pub struct Following<'p> {
    graphs: Graphs<'p>,
    statements: &'p Statements,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    outlines: FxHashMap<MethodId, Option<Arc<Outline>>>,
    walks: FxHashMap<(MethodId, Option<u16>), Arc<Walk>>,
    /// By the method and the depth at which it was called: what was cut short there says nothing of other depths.
    entries: FxHashMap<(MethodId, u8), u32>,
    held: FxHashMap<FieldId, Option<Arc<[Class]>>>,
}

/// A method, reduced to what logs and what calls.
#[derive(Debug)]
struct Outline {
    /// For each block the instruction behind its last, its marks, and whether the method returns at its end.
    blocks: Vec<(u32, std::ops::Range<u32>, bool)>,
    /// For each block where control goes from it, and whether by an exception.
    edges: Lists<(u32, bool)>,
    /// In the order of the code.
    marks: Vec<Mark>,
}

#[derive(Debug)]
struct Mark {
    instruction: u16,
    does: Does,
}

#[derive(Debug)]
enum Does {
    /// It is these statements, and writes an entry if the level is not too low.
    Log { statements: std::ops::Range<u32>, is_loud: bool },
    /// It runs one of these methods.
    Run(Vec<MethodId>),
}

/// Code reachable in a method from a place in it.
#[derive(Debug, Default)]
struct Walk {
    /// The marks with their distances.
    marks: Vec<(u32, u32)>,
    /// Distance to the end of the method, if the end can be reached from there.
    end: Option<u32>,
}

/// A place that is gone on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Stand {
    /// The beginning of a method, which was called on the way.
    Start(MethodId),
    /// Behind an instruction, in a method that goes back to its caller.
    Behind(MethodId, u16),
}

impl<'p> Following<'p> {
    /// For the statements of a program.
    pub fn of(causes: Causes<'p>, statements: &'p Statements) -> Following<'p> {
        Following { graphs: Graphs::of(causes), statements, kept: Mutex::default() }
    }

    /// The statements that can be the next behind one, all by their numbers, with their distances.
    pub fn after(&self, statement: u32) -> FxHashMap<u32, u32> {
        let mut found = FxHashMap::default();
        let Some(it) = self.statements.statements().get(statement as usize) else { return found };
        let mut nearest: FxHashMap<Stand, u32> = FxHashMap::default();
        let start = Stand::Behind(it.method, it.instruction);
        nearest.insert(start, 0);
        let mut pending = BinaryHeap::from([Reverse((0, start))]);
        let mut places = 0;
        while let Some(Reverse((distance, from))) = pending.pop() {
            if nearest.get(&from).is_some_and(|&it| it < distance) {
                continue;
            }
            places += 1;
            if places > PLACES_MAX {
                break;
            }
            let mut go = |from: Stand, distance: u32| {
                let known = nearest.entry(from).or_insert(u32::MAX);
                if distance < *known && distance <= DISTANCE_MAX {
                    *known = distance;
                    pending.push(Reverse((distance, from)));
                }
            };
            let (method, at) = match from {
                Stand::Start(method) => (method, None),
                Stand::Behind(method, at) => (method, Some(at)),
            };
            let Some(outline) = self.outline(method) else { continue };
            let walk = self.walk(method, at, &outline, 0);
            for &(mark, further) in &walk.marks {
                let distance = distance + further;
                match &outline.marks[mark as usize].does {
                    Does::Log { statements, .. } => {
                        for it in statements.clone() {
                            let known = found.entry(it).or_insert(distance);
                            *known = distance.min(*known);
                        }
                    }
                    Does::Run(targets) => {
                        targets.iter().for_each(|&it| go(Stand::Start(it), distance + 1));
                    }
                }
            }
            if at.is_some() {
                // Where a method only throws, its caller goes on with a handler.
                let distance = distance + walk.end.unwrap_or(THROW) + 1;
                if distance <= DISTANCE_MAX {
                    for (method, at) in self.callers(method) {
                        go(Stand::Behind(method, at), distance);
                    }
                }
            }
        }
        found
    }

    /// Callers of a method.
    fn callers(&self, method: MethodId) -> Vec<(MethodId, u16)> {
        let facts = self.graphs.causes.facts;
        let mut found = Vec::new();
        for it in self.graphs.callers(method).into_iter().take(CALLERS_MAX).map(|it| facts.call(it)) {
            let runs = |it: &Mark| match &it.does {
                Does::Run(targets) => targets.contains(&method),
                Does::Log { .. } => false,
            };
            let outline = self.outline(it.method);
            if outline.is_some_and(|all| all.mark_at(it.instruction).is_some_and(runs)) {
                found.push((it.method, it.instruction));
            }
        }
        found
    }

    fn outline(&self, method: MethodId) -> Option<Arc<Outline>> {
        if let Some(found) = self.kept().outlines.get(&method) {
            return found.clone();
        }
        let made = self.graphs.bodies.get(method).map(|it| Arc::new(self.outlined(&it.view())));
        self.kept().outlines.insert(method, made.clone());
        made
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().expect("nobody panics with it")
    }

    fn outlined(&self, view: &MethodView<'_>) -> Outline {
        let facts = self.graphs.causes.facts;
        let all = self.statements.statements();
        let first = all.partition_point(|it| it.method < view.id);
        let own = self.statements.statements_in(view.id);
        let mut marks = Vec::new();
        for id in facts.calls_in(view.id) {
            let instruction = facts.call(id).instruction;
            let start = own.partition_point(|it| it.instruction < instruction);
            let end = own.partition_point(|it| it.instruction <= instruction);
            let does = if start < end {
                let level = own[start].level;
                let is_quiet = matches!(level, Level::Trace | Level::Debug | Level::Print | Level::Unknown);
                Does::Log { statements: (first + start) as u32..(first + end) as u32, is_loud: !is_quiet }
            } else {
                Does::Run(self.targets(view, id))
            };
            if !matches!(&does, Does::Run(targets) if targets.is_empty()) {
                marks.push(Mark { instruction, does });
            }
        }
        let flow = &view.body.flow;
        let mut edges = Lists::default();
        let mut blocks = Vec::new();
        for (number, block) in flow.blocks.iter().enumerate() {
            let out = flow.out_of(number as u32).iter();
            edges.add(out.map(|it| (it.to, it.way == flow::Way::Throw)));
            let before = |at: u32| marks.partition_point(|it| u32::from(it.instruction) < at) as u32;
            let returns = flow.last(number as u32).is_return();
            blocks.push((block.end, before(block.start)..before(block.end), returns));
        }
        Outline { blocks, edges, marks }
    }

    /// Code reachable from an instruction of a method, or from its start.
    fn walk(&self, method: MethodId, behind: Option<u16>, outline: &Outline, depth: u8) -> Arc<Walk> {
        // Further down the called methods are followed less far, so those walks are others.
        if depth == 0
            && let Some(found) = self.kept().walks.get(&(method, behind))
        {
            return found.clone();
        }
        let mut walk = Walk::default();
        let mut nearest = vec![u32::MAX; outline.blocks.len()];
        let mut reached = vec![u32::MAX; outline.marks.len()];
        let mut pending = BinaryHeap::new();
        let first = match behind {
            None => (0, 0),
            Some(at) => {
                let block = outline.blocks.partition_point(|it| it.0 <= u32::from(at));
                (block, outline.marks.partition_point(|it| it.instruction <= at) as u32)
            }
        };
        pending.push(Reverse((0, first.0 as u32, first.1)));
        while let Some(Reverse((distance, number, mark))) = pending.pop() {
            let Some((_, marks, returns)) = outline.blocks.get(number as usize) else { continue };
            let mut go = |to: u32, distance: u32| {
                let start = outline.blocks.get(to as usize).map_or(0, |it| it.1.start);
                if distance < nearest[to as usize] && distance <= DISTANCE_MAX {
                    nearest[to as usize] = distance;
                    pending.push(Reverse((distance, to, start)));
                }
            };
            let edges = outline.edges.get(number);
            edges.iter().filter(|it| it.1).for_each(|it| go(it.0, distance + THROW));
            let mut distance = distance;
            for mark in mark.max(marks.start)..marks.end {
                let known = &mut reached[mark as usize];
                *known = distance.min(*known);
                distance += match &outline.marks[mark as usize].does {
                    Does::Log { is_loud, .. } => ENTRY * u32::from(*is_loud),
                    Does::Run(targets) => {
                        let least = targets.iter().map(|&it| self.entries(it, depth + 1)).min();
                        ENTRY * least.unwrap_or(0)
                    }
                };
            }
            if *returns {
                walk.end = Some(walk.end.map_or(distance, |it| it.min(distance)));
            }
            edges.iter().filter(|it| !it.1).for_each(|it| go(it.0, distance));
        }
        let reached = (0..).zip(reached).filter(|it| it.1 <= DISTANCE_MAX);
        walk.marks = reached.collect();
        let walk = Arc::new(walk);
        if depth == 0 {
            self.kept().walks.insert((method, behind), walk.clone());
        }
        walk
    }

    /// The least number of entries that a method writes before it returns.
    fn entries(&self, method: MethodId, depth: u8) -> u32 {
        if depth > DEPTH_MAX {
            return 0;
        }
        if let Some(&found) = self.kept().entries.get(&(method, depth)) {
            return found;
        }
        let least = self.outline(method).map_or(0, |outline| {
            let logs = outline.marks.iter().any(|it| !matches!(it.does, Does::Log { is_loud: false, .. }));
            let end = if logs { self.walk(method, None, &outline, depth).end } else { None };
            end.unwrap_or(0) / ENTRY
        });
        self.kept().entries.insert((method, depth), least);
        least
    }

    /// The methods that a call may run: what was put into the field that it is made on counts, where that was given to a
    /// constructor.
    fn targets(&self, view: &MethodView<'_>, call: CallId) -> Vec<MethodId> {
        let all = self.graphs.targets(view, call, Context::Any);
        let it = self.graphs.causes.facts.call(call);
        let receiver = view.body.operands(it.instruction.into()).first();
        let held = receiver.filter(|_| all.len() > 1).and_then(|&it| self.held(view.field_of(it)?));
        match (held, it.callee) {
            (Some(classes), Some(callee)) => {
                let reference = self.graphs.causes.world.method_ref(callee);
                let classes = self.graphs.cast(classes.to_vec(), reference.owner);
                let narrowed = self.graphs.run_by(reference, &classes, &all);
                if narrowed.is_empty() { all } else { narrowed }
            }
            _ => all,
        }
    }

    /// Of which classes the objects are that a field holds.
    fn held(&self, field: FieldId) -> Option<Arc<[Class]>> {
        if let Some(found) = self.kept().held.get(&field) {
            return found.clone();
        }
        let writes = self.graphs.causes.facts.writes(field);
        let mut classes = Some(Vec::new()).filter(|_| (1..=CALLERS_MAX).contains(&writes.len()));
        for write in writes {
            let Some(all) = &mut classes else { break };
            let here = self.graphs.bodies.get(write.method).and_then(|kept| {
                let view = kept.view();
                let &value = view.body.operands(write.instruction.into()).last()?;
                let mut found = Vec::new();
                for origin in view.body.origins(value) {
                    let given = match view.body.value(origin) {
                        Value::Parameter(number) => self.given(write.method, number),
                        _ => None,
                    };
                    let own = || self.graphs.classes(&view, origin, Context::Any, Reach::Within);
                    found.extend(given.or_else(own)?);
                }
                Some(found)
            });
            match here {
                Some(here) => all.extend(here),
                None => classes = None,
            }
        }
        let found: Option<Arc<[Class]>> = classes.map(|mut it| {
            it.sort_unstable();
            it.dedup();
            it.into()
        });
        self.kept().held.insert(field, found.clone());
        found
    }

    /// Argument of a constructor for a parameter.
    fn given(&self, method: MethodId, parameter: u16) -> Option<Vec<Class>> {
        let causes = &self.graphs.causes;
        let is_constructor = causes.world.method_name(method) == b"<init>";
        let callers: Vec<CallId> =
            causes.calls.callers(method).filter(|_| is_constructor).take(CALLERS_MAX + 1).collect();
        if !(1..=CALLERS_MAX).contains(&callers.len()) {
            return None;
        }
        let mut found = Vec::new();
        for it in callers {
            found.extend(self.graphs.passed_classes(it, parameter)?);
        }
        Some(found)
    }
}

impl Outline {
    fn mark_at(&self, instruction: u16) -> Option<&Mark> {
        let at = self.marks.binary_search_by_key(&instruction, |it| it.instruction).ok()?;
        Some(&self.marks[at])
    }
}
