//! Streams that live in memory: of a call that may fail with an `IOException`, whether what it reads or writes can
//! fail at all. Calls that print are asked about too; they do not tell, but they fail and wait alike.
//!
//! Object of a call, followed back to its creation: through locals and casts, through wrappers, from
//! parameters to the arguments of all callers, from fields to all their writes, from results to what the called
//! methods return. What a method returns and what a constructor makes is known in terms of its parameters, so each
//! call gets the answer for its own arguments (LEGOLAS, section 3: an inter-procedural, context-sensitive analysis).
//!
//! A call whose object is no stream works on the streams among its arguments if its name says so, as that of
//! `record.serialize(archive)` does. Where methods of the system implement it, they have to bear it out: every call in
//! them, and in what they call, that may fail with an `IOException` counts too, by the arguments of this call. So one that
//! opens a file as well, or writes to what its object holds, is not in memory whatever it is given. What a library calls
//! back meanwhile is not seen.
//!
//! It is a graph: a [`Cell`] for each parameter, field, result and so on, with the [`Root`]s that it may come from. Cells
//! are made as they are asked for and looked at again when a result that they use grows, until nothing changes. A ring
//! adds nothing to what enters it. What a library gives, and all that cannot be seen, is outside of memory.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use hypocenter_classfile::descriptor;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::dataflow::sketch::{Atom, Expr, Sketch, Sketcher};
use crate::dataflow::streams::Streams;
use crate::facts::calls::CallGraph;
use crate::facts::known;
use crate::facts::{Call, CallId, Facts, Given, Lambda, Write};
use crate::loading::world::{FieldId, MethodId, RefId, TypeId, World};

/// Maximum number of visits of cells in all; beyond it nothing counts as in memory.
const LOOKS_MAX: usize = 20_000_000;
/// Maximum number of steps of a reason.
const STEPS_MAX: usize = 100;

/// A line of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryPlace {
    /// The method.
    pub method: MethodId,
    /// The line, 0 if it has none.
    pub line: u16,
}

/// Queries about streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cell {
    /// Object of a call.
    Site(CallId),
    /// Argument for a parameter from all callers.
    Parameter(MethodId, u16),
    /// Value of a field.
    Field(FieldId),
    /// Values written to a field other than by the constructors of its class.
    Later(FieldId),
    /// Objects that the objects of a class work on, whoever creates them.
    Held(TypeId),
    /// Return value of a method, by its parameters.
    Returned(MethodId),
    /// Object of a newly constructed object, by the constructor's parameters.
    Made(MethodId),
    /// Input and output of a method and those that it calls, by its parameters.
    Done(MethodId),
    /// The same of all methods of the system that calls of a reference may run, by the parameters of the named one.
    Run(RefId),
    /// The same of what one call runs, by what it is given.
    Below(CallId),
}

impl Cell {
    /// The method whose parameters stand for arguments in this cell.
    fn method(self, world: &World) -> Option<MethodId> {
        match self {
            Cell::Returned(method) | Cell::Made(method) | Cell::Done(method) => Some(method),
            Cell::Run(callee) => world.method_ref(callee).method,
            _ => None,
        }
    }

    /// Tests whether its edges are for those who know the arguments.
    fn is_by_parameters(self) -> bool {
        matches!(self, Cell::Returned(_) | Cell::Made(_) | Cell::Done(_) | Cell::Run(_))
    }
}

/// Possible origins of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Root {
    Of(Cell),
    /// An object of this class, which lives in memory.
    Memory(MemoryPlace, TypeId),
    Outside(MemoryPlace),
}

/// Verdict on the object of a call: in memory or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InMemory {
    /// By whatever way the call is reached.
    Always,
    /// By some ways, or a part of it.
    Sometimes,
    /// By none, as far as can be seen.
    Never,
}

/// One step of the way from a call to where its stream was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Where.
    pub place: MemoryPlace,
    /// Event at that place.
    pub what: StepKind,
}

/// Steps of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// It is given to a method as this parameter (0 is `this` of an instance method).
    Given(MethodId, u16),
    /// It is written to a field.
    Written(FieldId),
    /// It is what objects of this class hold.
    Held(TypeId),
    /// An object of this class is made or known, which lives in memory.
    Memory(TypeId),
    /// It is not known to live in memory.
    Outside,
}

impl Step {
    /// The step in words.
    pub fn show<'a>(&'a self, world: &'a World) -> impl fmt::Display + 'a {
        struct Shown<'a>(&'a Step, &'a World);
        impl fmt::Display for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Shown(Step { place, what }, world) = self;
                write!(f, "{}:{} ", world.show_method(place.method), place.line)?;
                match *what {
                    StepKind::Given(method, index) => {
                        write!(f, "gives parameter {index} of {}", world.show_method(method))
                    }
                    StepKind::Written(field) => {
                        let owner = world.show_type(world.field(field).owner);
                        write!(f, "writes {owner}.{}", String::from_utf8_lossy(world.field_name(field)))
                    }
                    StepKind::Held(class) => write!(f, "is what {} holds", world.show_type(class)),
                    StepKind::Memory(class) => write!(f, "has {} in memory", world.show_type(class)),
                    StepKind::Outside => write!(f, "may have something outside of memory"),
                }
            }
        }
        Shown(self, world)
    }
}

/// A root, and the place where it comes into a cell.
type Edge = (Root, MemoryPlace);

/// Knowledge about a cell.
#[derive(Debug)]
struct Slot {
    cell: Cell,
    edges: Vec<Edge>,
    /// The cells that used the edges of this one.
    readers: Vec<u32>,
    is_waiting: bool,
    reaches_memory: bool,
    reaches_outside: bool,
}

impl Slot {
    /// Of a cell that waits to be looked at.
    fn of(cell: Cell) -> Slot {
        let (edges, readers) = (Vec::new(), Vec::new());
        Slot { cell, edges, readers, is_waiting: true, reaches_memory: false, reaches_outside: false }
    }
}

/// Calls that work on streams in memory.
#[derive(Debug, Default)]
pub struct Memory {
    index: FxHashMap<Cell, u32>,
    slots: Vec<Slot>,
    is_complete: bool,
}

impl Memory {
    /// Looks at every call of a library that may fail with an `IOException`, or prints.
    pub fn of(world: &World, facts: &Facts, calls: &CallGraph) -> Memory {
        Memory::solved(world, facts, calls, |sketcher| {
            let all = (0..facts.calls().len() as u32).into_par_iter().map(CallId);
            all.filter(|&it| sketcher.is_io(it)).map(Cell::Site).collect()
        })
    }

    /// Looks at what is done below calls that run methods of the system; [`below`](Memory::below) has the answers.
    pub(crate) fn of_below(
        world: &World,
        facts: &Facts,
        calls: &CallGraph,
        asked: impl FnOnce(&Sketcher<'_>) -> Vec<CallId>,
    ) -> Memory {
        Memory::solved(world, facts, calls, |it| asked(it).into_iter().map(Cell::Below).collect())
    }

    fn solved(
        world: &World,
        facts: &Facts,
        calls: &CallGraph,
        asked: impl FnOnce(&Sketcher<'_>) -> Vec<Cell>,
    ) -> Memory {
        let streams = Streams::of(world);
        let io_exception = world.find_type(b"java/io/IOException");
        let sketcher = Sketcher { world, facts, calls, streams: &streams, io_exception };
        let asked = asked(&sketcher);
        let sketches = FxHashMap::default();
        let mut lambdas: FxHashMap<MethodId, Vec<Lambda>> = FxHashMap::default();
        for lambda in facts.lambdas() {
            if let Some(it) = lambda.implementation {
                lambdas.entry(it).or_default().push(*lambda);
            }
        }
        let memory = Memory { is_complete: true, ..Memory::default() };
        let mut solving = Solving { sketcher, sketches, lambdas, waiting: VecDeque::new(), memory };
        solving.run(&asked);
        let mut memory = solving.memory;
        memory.spread();
        memory
    }

    /// Verdict on the object of a call; none for a call that was not analyzed.
    pub fn verdict(&self, call: CallId) -> Option<InMemory> {
        Some(self.verdict_on(&self.slots[*self.index.get(&Cell::Site(call))? as usize]))
    }

    /// Verdict on everything that is read and written below a call; none if nothing is, or if the call was not analyzed.
    pub(crate) fn below(&self, call: CallId) -> Option<InMemory> {
        let slot = &self.slots[*self.index.get(&Cell::Below(call))? as usize];
        let does_any = slot.reaches_memory || slot.reaches_outside || !self.is_complete;
        does_any.then(|| self.verdict_on(slot))
    }

    fn verdict_on(&self, slot: &Slot) -> InMemory {
        match (slot.reaches_memory && self.is_complete, slot.reaches_outside) {
            (true, false) => InMemory::Always,
            (true, true) => InMemory::Sometimes,
            (false, _) => InMemory::Never,
        }
    }

    /// The ways from a call to all places where its stream may have been made, nearest first, at most 100 steps.
    pub fn why(&self, call: CallId) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut pending = VecDeque::from([Cell::Site(call)]);
        let mut seen = vec![Cell::Site(call)];
        while let Some(cell) = pending.pop_front() {
            let Some(&at) = self.index.get(&cell) else { continue };
            for &(root, place) in &self.slots[at as usize].edges {
                let arrives = match cell {
                    Cell::Parameter(method, index) => Some(StepKind::Given(method, index)),
                    Cell::Field(field) | Cell::Later(field) => Some(StepKind::Written(field)),
                    Cell::Held(class) => Some(StepKind::Held(class)),
                    _ => None,
                };
                let mut step = |place: MemoryPlace, what: StepKind| {
                    let step = Step { place, what };
                    if steps.len() < STEPS_MAX && !steps.contains(&step) {
                        steps.push(step);
                    }
                };
                if let Some(what) = arrives {
                    step(place, what);
                }
                match root {
                    Root::Of(next) => {
                        if !seen.contains(&next) && seen.len() < STEPS_MAX {
                            seen.push(next);
                            pending.push_back(next);
                        }
                    }
                    Root::Memory(place, class) => step(place, StepKind::Memory(class)),
                    Root::Outside(place) => step(place, StepKind::Outside),
                }
            }
        }
        steps
    }

    /// Number of parameters, fields, results and calls that were checked.
    pub fn size(&self) -> usize {
        self.slots.len()
    }

    /// Tests whether all was followed, within the bounds. If not, nothing counts as in memory.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Tells every cell what it reaches.
    fn spread(&mut self) {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.slots.len()];
        let mut changed: Vec<u32> = Vec::new();
        for at in 0..self.slots.len() {
            let cell = &mut self.slots[at];
            for (root, _) in &cell.edges {
                match root {
                    Root::Of(next) => {
                        if let Some(&next) = self.index.get(next) {
                            before[next as usize].push(at as u32);
                        }
                    }
                    Root::Memory(..) => cell.reaches_memory = true,
                    Root::Outside(_) => cell.reaches_outside = true,
                }
            }
            if cell.reaches_memory || cell.reaches_outside {
                changed.push(at as u32);
            }
        }
        while let Some(at) = changed.pop() {
            let (memory, outside) =
                (self.slots[at as usize].reaches_memory, self.slots[at as usize].reaches_outside);
            for &reader in &before[at as usize] {
                let cell = &mut self.slots[reader as usize];
                if (memory && !cell.reaches_memory) || (outside && !cell.reaches_outside) {
                    cell.reaches_memory |= memory;
                    cell.reaches_outside |= outside;
                    changed.push(reader);
                }
            }
        }
    }
}

struct Solving<'w> {
    sketcher: Sketcher<'w>,
    sketches: FxHashMap<MethodId, Arc<Sketch>>,
    lambdas: FxHashMap<MethodId, Vec<Lambda>>,
    waiting: VecDeque<u32>,
    memory: Memory,
}

impl Solving<'_> {
    fn run(&mut self, asked: &[Cell]) {
        for &it in asked {
            self.slot(it);
        }
        let mut looks = 0;
        // Before the first of the new cells is looked at, what all of them need is read at once.
        let mut prepared = 0;
        while let Some(at) = self.waiting.pop_front() {
            if at as usize >= prepared {
                self.prepare_cells(prepared);
                prepared = self.memory.slots.len();
            }
            looks += 1;
            if looks > LOOKS_MAX {
                self.memory.is_complete = false;
                return;
            }
            let slot = &mut self.memory.slots[at as usize];
            slot.is_waiting = false;
            let cell = slot.cell;
            let mut edges = self.look(cell, at);
            edges.sort_unstable();
            edges.dedup_by_key(|it| it.0);
            if edges == self.memory.slots[at as usize].edges {
                continue;
            }
            // What stands for arguments is asked for where the arguments are known.
            if !cell.is_by_parameters() {
                for (root, _) in &edges {
                    if let Root::Of(next) = root {
                        self.slot(*next);
                    }
                }
            }
            let slot = &mut self.memory.slots[at as usize];
            slot.edges = edges;
            for reader in std::mem::take(&mut slot.readers) {
                let slot = &mut self.memory.slots[reader as usize];
                if !std::mem::replace(&mut slot.is_waiting, true) {
                    self.waiting.push_back(reader);
                }
            }
        }
    }

    /// The number of a cell, which is made and looked at if it is new.
    fn slot(&mut self, cell: Cell) -> u32 {
        let next = self.memory.slots.len() as u32;
        let at = *self.memory.index.entry(cell).or_insert(next);
        if at == next {
            self.memory.slots.push(Slot::of(cell));
            self.waiting.push_back(at);
        }
        at
    }

    fn sketch(&mut self, id: MethodId) -> Arc<Sketch> {
        if let Some(known) = self.sketches.get(&id) {
            return known.clone();
        }
        self.prepare([id]);
        self.sketches[&id].clone()
    }

    /// Looks at the methods that the cells from a number on will ask for.
    fn prepare_cells(&mut self, from: usize) {
        let Sketcher { world, facts, calls, .. } = self.sketcher;
        let mut methods = Vec::new();
        for slot in &self.memory.slots[from..] {
            match slot.cell {
                Cell::Site(call) | Cell::Below(call) => methods.push(facts.call(call).method),
                Cell::Returned(method) | Cell::Made(method) | Cell::Done(method) => methods.push(method),
                Cell::Parameter(method, _) => {
                    methods.extend(callers(world, facts, calls, method).map(|it| it.method));
                    methods.extend(self.lambdas.get(&method).into_iter().flatten().map(|it| it.method));
                }
                Cell::Field(field) | Cell::Later(field) => {
                    methods.extend(facts.writes(field).iter().map(|it| it.method));
                }
                Cell::Held(_) | Cell::Run(_) => {}
            }
        }
        self.prepare(methods);
    }

    /// Looks at methods that are about to be asked for, all at once.
    fn prepare(&mut self, methods: impl IntoIterator<Item = MethodId>) {
        let mut new: Vec<MethodId> =
            methods.into_iter().filter(|it| !self.sketches.contains_key(it)).collect();
        if !new.is_empty() {
            new.sort_unstable();
            new.dedup();
            self.sketches.extend(self.sketcher.sketch(&new));
        }
    }

    /// Possible origins of a cell, by current knowledge.
    fn look(&mut self, cell: Cell, reader: u32) -> Vec<Edge> {
        match cell {
            Cell::Site(call) => {
                let call = *self.sketcher.facts.call(call);
                let place = MemoryPlace { method: call.method, line: call.line };
                let sketch = self.sketch(call.method);
                self.roots(sketch.sites.get(&call.instruction), place, reader)
            }
            Cell::Returned(method) | Cell::Made(method) => {
                let place = MemoryPlace { method, line: 0 };
                let sketch = self.sketch(method);
                let expr = if cell == Cell::Returned(method) { &sketch.returns } else { &sketch.made };
                self.roots(Some(expr), place, reader)
            }
            Cell::Parameter(method, index) => self.parameter(method, index, reader),
            Cell::Field(field) => {
                let writes = self.sketcher.facts.writes(field);
                self.written(field, writes, reader)
            }
            Cell::Later(field) => {
                let world = self.sketcher.world;
                let owner = world.field(field).owner;
                let is_later = |it: &&Write| {
                    world.method(it.method).owner != owner || world.method_name(it.method) != b"<init>"
                };
                let writes: Vec<Write> =
                    self.sketcher.facts.writes(field).iter().filter(is_later).copied().collect();
                if writes.is_empty() { Vec::new() } else { self.written(field, &writes, reader) }
            }
            Cell::Held(class) => self.held(class, reader),
            Cell::Done(_) | Cell::Run(_) if is_outside(&self.memory.slots[reader as usize].edges) => {
                // Nothing that is found later takes it back.
                self.memory.slots[reader as usize].edges.clone()
            }
            Cell::Done(method) => self.done(method, reader),
            Cell::Run(callee) => self.run_by(callee, reader),
            Cell::Below(call) => {
                let call = *self.sketcher.facts.call(call);
                let place = MemoryPlace { method: call.method, line: call.line };
                let sketch = self.sketch(call.method);
                let below = call.callee.map(|it| self.behind(it, call.instruction, &sketch));
                below.map_or_else(Vec::new, |it| self.roots(Some(&it), place, reader))
            }
        }
    }

    /// Effects of methods of the system that a call of a reference runs, by the arguments of the call.
    fn behind(&self, callee: RefId, at: u16, sketch: &Sketch) -> Expr {
        let world = self.sketcher.world;
        let descriptor = world.signature(world.method_ref(callee).signature).1;
        let count = descriptor::parameters(descriptor).count() as u16 + 1;
        vec![Atom::Result { of: vec![Cell::Run(callee)], arguments: given(sketch, at, count) }]
    }

    fn parameter(&mut self, method: MethodId, index: u16, reader: u32) -> Vec<Edge> {
        let Sketcher { world, facts, calls, .. } = self.sketcher;
        let mut edges = Vec::new();
        let here = MemoryPlace { method, line: 0 };
        for call in callers(world, facts, calls, method) {
            let place = MemoryPlace { method: call.method, line: call.line };
            let sketch = self.sketch(call.method);
            edges.extend(self.roots(sketch.arguments.get(&(call.instruction, index)), place, reader));
        }
        for lambda in self.lambdas.get(&method).cloned().unwrap_or_default() {
            let sketch = self.sketch(lambda.method);
            let place = MemoryPlace { method: lambda.method, line: 0 };
            let captured = sketch.captures.get(&lambda.instruction).copied().unwrap_or(0);
            let expr = sketch.arguments.get(&(lambda.instruction, index)).filter(|_| index < captured);
            edges.extend(self.roots(expr, place, reader));
        }
        // Without a caller in sight somebody unknown calls it, as libraries do.
        if edges.is_empty() && !self.has_callers(method) || world.is_callback(method) {
            edges.push((Root::Outside(here), here));
        }
        edges
    }

    fn has_callers(&self, method: MethodId) -> bool {
        self.sketcher.calls.callers(method).next().is_some() || self.lambdas.contains_key(&method)
    }

    fn written(&mut self, field: FieldId, writes: &[Write], reader: u32) -> Vec<Edge> {
        let world = self.sketcher.world;
        let mut edges = Vec::new();
        for write in writes.iter().filter(|it| it.given != Given::Null) {
            let sketch = self.sketch(write.method);
            let written = sketch.writes.get(&write.instruction);
            let place = MemoryPlace { method: write.method, line: written.map_or(0, |it| it.0) };
            edges.extend(self.roots(written.map(|it| &it.1), place, reader));
        }
        if writes.is_empty() {
            // Nobody in sight writes it: reflection does, or it is never used.
            let initializer = world.methods_of(world.field(field).owner).next();
            edges.extend(initializer.map(|method| {
                let place = MemoryPlace { method, line: 0 };
                (Root::Outside(place), place)
            }));
        }
        edges
    }

    fn held(&mut self, class: TypeId, reader: u32) -> Vec<Edge> {
        let world = self.sketcher.world;
        let mut edges = Vec::new();
        let is_holder = self.sketcher.streams.is_holder(class);
        for method in world.methods_of(class).filter(|&it| world.method_name(it) == b"<init>") {
            let place = MemoryPlace { method, line: 0 };
            if is_holder {
                let made = self.read(Cell::Made(method), reader);
                edges.extend(made.into_iter().map(|(root, _)| (root, place)));
            } else {
                edges.push((Root::Outside(place), place));
            }
        }
        if edges.is_empty() && !is_holder {
            let method = world.methods_of(class).next();
            let place = method.map(|method| MemoryPlace { method, line: 0 });
            edges.extend(place.map(|place| (Root::Outside(place), place)));
        }
        edges
    }

    fn done(&mut self, method: MethodId, reader: u32) -> Vec<Edge> {
        let Sketcher { world, facts, calls, .. } = self.sketcher;
        let sketch = self.sketch(method);
        let here = MemoryPlace { method, line: 0 };
        if !sketch.is_read {
            return vec![(Root::Outside(here), here)];
        }
        let mut edges = Vec::new();
        for call in facts.calls_in(method).map(|it| facts.call(it)) {
            let place = MemoryPlace { method, line: call.line };
            let named = call.callee.and_then(|it| world.method_ref(it).method);
            let is_text = named.is_some_and(|it| known::is_text(world.type_name(world.method(it).owner)));
            if let Some(expr) = sketch.sites.get(&call.instruction).filter(|_| !is_text) {
                self.add_roots(expr, place, reader, &mut edges);
            }
        }
        if edges.iter().any(|it| matches!(it.0, Root::Outside(_))) {
            return shortened(edges);
        }
        for call in facts.calls_in(method).map(|it| facts.call(it)) {
            let at = call.instruction;
            let place = MemoryPlace { method, line: call.line };
            let result = if let Some(callee) = call.callee {
                let is_followed = !sketch.sites.contains_key(&at)
                    && !calls.targets_of_ref(callee).is_empty()
                    && self.sketcher.lets_io_out(callee);
                is_followed.then(|| self.behind(callee, at, &sketch))
            } else if let Some(lambda) = facts.lambda_at(method, at) {
                // Where it goes is not followed: it may be run at once.
                let is_library = lambda.implementation.is_none();
                if is_library && lambda.named.is_some_and(|it| self.sketcher.does_io(it)) {
                    edges.push((Root::Outside(place), place));
                }
                let arguments = given(&sketch, at, lambda.captured);
                lambda.implementation.map(|it| vec![Atom::Result { of: vec![Cell::Done(it)], arguments }])
            } else {
                None
            };
            let Some(result) = result else { continue };
            self.add_roots(&result, place, reader, &mut edges);
        }
        shortened(edges)
    }

    fn run_by(&mut self, callee: RefId, reader: u32) -> Vec<Edge> {
        let Sketcher { world, calls, .. } = self.sketcher;
        let reference = world.method_ref(callee);
        let mut edges = Vec::new();
        for &target in calls.targets_of_ref(callee) {
            let place = MemoryPlace { method: target, line: 0 };
            // A lambda's body takes other arguments than the method that it implements.
            let is_plain = world.method(target).signature == reference.signature;
            let named = reference.method.filter(|_| is_plain);
            for (root, _) in self.read(Cell::Done(target), reader) {
                let root = match root {
                    Root::Of(Cell::Parameter(method, index)) if method == target => {
                        named.map_or(Root::Outside(place), |it| Root::Of(Cell::Parameter(it, index)))
                    }
                    root => root,
                };
                edges.push((root, place));
            }
        }
        shortened(edges)
    }

    /// The edges of a cell, for a cell that is looked at again when they change.
    fn read(&mut self, cell: Cell, reader: u32) -> Vec<Edge> {
        let at = self.slot(cell);
        let slot = &mut self.memory.slots[at as usize];
        if slot.readers.last() != Some(&reader) {
            slot.readers.push(reader);
        }
        slot.edges.clone()
    }

    /// The roots of an expression; what was not written down is outside.
    fn roots(&mut self, expr: Option<&Expr>, place: MemoryPlace, reader: u32) -> Vec<Edge> {
        let Some(expr) = expr else { return vec![(Root::Outside(place), place)] };
        let mut edges = Vec::new();
        self.add_roots(expr, place, reader, &mut edges);
        edges
    }

    fn add_roots(&mut self, expr: &Expr, place: MemoryPlace, reader: u32, edges: &mut Vec<Edge>) {
        for atom in expr {
            match atom {
                Atom::Root(root) => edges.push((*root, place)),
                Atom::Result { of, arguments } => {
                    for &cell in of {
                        for (root, _) in self.read(cell, reader) {
                            match root {
                                Root::Of(Cell::Parameter(method, index))
                                    if Some(method) == cell.method(self.sketcher.world) =>
                                {
                                    match arguments.iter().find(|it| it.0 == index) {
                                        Some((_, argument)) => self.add_roots(argument, place, reader, edges),
                                        None => edges.push((Root::Outside(place), place)),
                                    }
                                }
                                root => edges.push((root, place)),
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The first so many operands of an instruction, as far as they may carry streams.
fn given(sketch: &Sketch, at: u16, count: u16) -> Vec<(u16, Expr)> {
    let argument = |it: u16| Some((it, sketch.arguments.get(&(at, it))?.clone()));
    (0..count).filter_map(argument).collect()
}

/// Tests whether edges that were [`shortened`] lead outside of memory.
fn is_outside(edges: &[Edge]) -> bool {
    matches!(edges, [(Root::Outside(_), _)])
}

/// The edges that decide, since what calls much has many: one that leads outside of memory if there is one, or else all,
/// with one place in memory for all of them.
fn shortened(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_unstable();
    if let Some(&outside) = edges.iter().find(|it| matches!(it.0, Root::Outside(_))) {
        return vec![outside];
    }
    edges.dedup_by(|next, kept| {
        next.0 == kept.0 || matches!((next.0, kept.0), (Root::Memory(..), Root::Memory(..)))
    });
    edges
}

/// The calls that run a method by its own name: a lambda's body is called by another, and with other arguments.
fn callers<'p>(
    world: &'p World,
    facts: &'p Facts,
    calls: &'p CallGraph,
    method: MethodId,
) -> impl Iterator<Item = Call> + 'p {
    let signature = world.method(method).signature;
    let refs = calls.refs_to(method).iter().filter(move |it| world.method_ref(**it).signature == signature);
    refs.flat_map(|&it| calls.calls_of_ref(it)).map(|&it| *facts.call(it))
}
