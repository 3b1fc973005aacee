//! A run as it was recorded: for each thread its frames, and in them the blocks in the order in which they ran.
//!
//! A *scope* is where something runs: a call at an instruction of a caller, or an iteration of a loop. It is the context of Kairux 4.3, and
//! stands for it in comparisons: instructions of two runs can only be the same in scopes that are.

use hypocenter_engine::Evidence;
use hypocenter_program::{Act, Reports};
use hypocenter_trace::{ObjectId, SeenValue, SiteId, ValueKind};
use rustc_hash::FxHashMap;

use crate::model::{CodePlace, SliceModel};

/// Maximum number of notes that are read of a run.
pub(crate) const NOTES_MAX: usize = 2_000_000;

/// Something that was recorded.
#[derive(Debug, Clone, Copy)]
pub struct Note {
    /// The thread, by its index.
    pub thread: u32,
    /// Its time.
    pub ticks: u64,
    /// The method, by its index in the model.
    pub method: u32,
    /// The event.
    pub reports: Reports,
    /// What it saw, for those that have values.
    pub seen: Option<Seen>,
}

/// What an instruction saw.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    /// For a call: 0 is the object that it is called on, then the arguments.
    pub part: u8,
    /// The object or array that is accessed.
    pub object: ObjectId,
    /// The value that is read, written, passed or given.
    pub value: SeenValue,
    /// The index in an array.
    pub index: i64,
}

/// All that an instruction saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenThere {
    /// Of a call: when it began.
    pub begun: Option<u64>,
    pub at: Seen,
    /// What was passed to a call.
    pub passed: Vec<SeenValue>,
}

/// An instruction that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Node {
    pub run: u32,
    pub instruction: u32,
}

/// A block that ran.
#[derive(Debug, Clone)]
pub(crate) struct BlockRun {
    pub frame: u32,
    pub block: u32,
    /// The instruction behind the last one that ran.
    pub end: u32,
    /// True if the last one threw.
    pub threw: bool,
    pub scope: u32,
    pub ticks: u64,
    /// The block that ran next in this frame.
    pub next: Option<u32>,
}

/// A call of a method.
#[derive(Debug, Clone)]
pub(crate) struct FrameRun {
    pub method: u32,
    pub thread: u32,
    /// The outermost frame: a thread runs one, or the steps of a workload and the tasks of a pool one after another.
    pub root: u32,
    pub depth: u32,
    pub scope: u32,
    /// The block in which it was called and, if it is known, the call.
    pub caller: Option<(u32, Option<u32>)>,
    pub first: Option<u32>,
    pub last: Option<u32>,
    pub threw: bool,
}

/// Kind of a scope within another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Within {
    Thread(u32),
    /// A method that nothing recorded calls.
    Root(u32),
    /// A call.
    Call(u32),
    /// A method that a library calls back.
    Callback(u32),
    /// An iteration, from 1.
    Round(u32, u32),
    /// Any iteration of a loop whose iterations share nothing.
    MapRound(u32),
}

impl Within {
    /// Tests whether there may be several of them in one scope, each as good as the others.
    pub fn is_open(self) -> bool {
        matches!(self, Within::Root(_) | Within::Callback(_) | Within::MapRound(_))
    }
}

/// A scope.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    pub parent: Option<u32>,
    pub within: Within,
    pub frame: u32,
}

/// A run.
#[derive(Debug, Default)]
pub struct RecordedRun {
    pub(crate) threads: Vec<String>,
    pub(crate) frames: Vec<FrameRun>,
    pub(crate) blocks: Vec<BlockRun>,
    pub(crate) scopes: Vec<Scope>,
    thread_scopes: Vec<u32>,
    children: FxHashMap<(u32, Within), Vec<u32>>,
    /// The scopes of outermost frames, by their methods.
    roots: FxHashMap<u32, Vec<u32>>,
    run_at: FxHashMap<(u32, u32), u32>,
    called: FxHashMap<(u32, u32), u32>,
    runs_of: FxHashMap<(u32, u32), Vec<u32>>,
    /// For blocks with calls: the instruction, and the last block that ran in the call.
    marks: FxHashMap<u32, Vec<(u32, u32)>>,
    /// For blocks in which more was recorded than their beginning: from which instruction on it was how late.
    times: FxHashMap<u32, Vec<(u32, u64)>>,
    seen: FxHashMap<Node, SeenThere>,
    /// Number of notes.
    pub notes: u64,
    /// Notes beyond the limit, and records that the trace lost.
    pub lost: u64,
}

/// A frame while its thread is read.
struct OpenFrame {
    frame: u32,
    scope: u32,
    loops: Vec<(u32, u32, u32)>,
    current: Option<u32>,
    /// The instruction from which on the next call is looked for.
    cursor: u32,
}

impl RecordedRun {
    /// Reads the run of a trial.
    pub fn read(model: &SliceModel, evidence: &Evidence, map_loops: bool) -> Result<RecordedRun, String> {
        let map = evidence.map().map_err(|error| error.to_string())?;
        let trace = evidence.trace().map_err(|error| error.to_string())?;
        let mut of_site: FxHashMap<SiteId, (u32, Reports)> = FxHashMap::default();
        for (number, method) in (0..).zip(model.methods()) {
            of_site
                .extend(method.sites.iter().filter_map(|(site, it)| Some((map.find(site)?, (number, *it)))));
        }
        let (mut notes, mut names, mut lost) = (Vec::new(), Vec::new(), 0);
        for jvm in trace.jvms() {
            lost += jvm.dropped + jvm.no_room;
            let dictionary = trace.dictionary(&jvm);
            let mut threads: FxHashMap<u64, u32> = FxHashMap::default();
            let mut thread = |number: u32| {
                let id = dictionary.thread_java_id(number).unwrap_or(u64::from(number) | 1 << 63);
                *threads.entry(id).or_insert_with(|| {
                    names.push(dictionary.thread_name(number).to_owned());
                    names.len() as u32 - 1
                })
            };
            for it in trace.values(&jvm) {
                let Some(&(method, reports)) = of_site.get(&it.site) else { continue };
                if notes.len() == NOTES_MAX {
                    lost += 1;
                    continue;
                }
                let seen = Seen { part: it.part, object: it.object, value: it.value, index: it.index };
                let seen = reports.has_values().then_some(seen);
                notes.push(Note { thread: thread(it.thread), ticks: it.ticks, method, reports, seen });
            }
        }
        // A thread may have written to several rings in turn.
        notes.sort_by_key(|it| (it.thread, it.ticks));
        Ok(RecordedRun { lost, ..RecordedRun::of(model, names, &notes, map_loops) })
    }

    /// A run of these threads, from notes that are in order for each of them.
    pub fn of(model: &SliceModel, threads: Vec<String>, notes: &[Note], map_loops: bool) -> RecordedRun {
        let mut run = RecordedRun { notes: notes.len() as u64, ..RecordedRun::default() };
        for thread in 0..threads.len() as u32 {
            let scope = run.scope(None, Within::Thread(thread), 0);
            run.thread_scopes.push(scope);
        }
        for notes in notes.chunk_by(|a, b| a.thread == b.thread) {
            let mut reading = Reading { model, run: &mut run, stack: Vec::new(), map_loops };
            notes.iter().for_each(|it| reading.note(it));
        }
        RecordedRun { threads, ..run }
    }

    fn scope(&mut self, parent: Option<u32>, within: Within, frame: u32) -> u32 {
        let id = self.scopes.len() as u32;
        self.scopes.push(Scope { parent, within, frame });
        if let Some(parent) = parent {
            self.children.entry((parent, within)).or_default().push(id);
        }
        id
    }

    /// The scopes of this kind in another.
    pub(crate) fn within(&self, parent: u32, within: Within) -> &[u32] {
        self.children.get(&(parent, within)).map_or(&[], Vec::as_slice)
    }

    /// The run of a block in a scope.
    pub(crate) fn run_at(&self, scope: u32, block: u32) -> Option<u32> {
        self.run_at.get(&(scope, block)).copied()
    }

    /// The frame that a call made.
    pub(crate) fn called(&self, node: Node) -> Option<u32> {
        self.called.get(&(node.run, node.instruction)).copied()
    }

    pub(crate) fn block(&self, run: u32) -> &BlockRun {
        &self.blocks[run as usize]
    }

    pub(crate) fn frame_of(&self, run: u32) -> &FrameRun {
        &self.frames[self.block(run).frame as usize]
    }

    pub(crate) fn thread_of(&self, node: Node) -> u32 {
        self.frame_of(node.run).thread
    }

    /// The outermost frame that an instruction ran in.
    pub(crate) fn root_of(&self, node: Node) -> u32 {
        self.frame_of(node.run).root
    }

    /// The scopes of outermost frames of a method.
    pub(crate) fn roots(&self, method: u32) -> &[u32] {
        self.roots.get(&method).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn place(&self, node: Node) -> CodePlace {
        CodePlace { method: self.frame_of(node.run).method, instruction: node.instruction }
    }

    /// What an instruction saw.
    pub(crate) fn seen(&self, node: Node) -> Option<&SeenThere> {
        self.seen.get(&node)
    }

    /// The value that an instruction saw, for people. The number of an object says nothing to them.
    pub(crate) fn value(&self, node: Node) -> Option<String> {
        let value = self.seen(node)?.at.value;
        let is_object = value.object().is_some() || value.kind == ValueKind::Nothing;
        (!is_object).then(|| value.to_string())
    }

    /// Tests whether instructions of two runs saw the same value, where that can be told.
    pub(crate) fn is_same_value(&self, node: Node, other: &RecordedRun, there: Node) -> bool {
        let value = self.value(node);
        value.is_some() && value == other.value(there)
    }

    /// Tests whether instructions of this run saw different values.
    pub(crate) fn is_other_value(&self, one: Node, other: Node) -> bool {
        let value = |node| self.seen(node).map(|it| it.at.value).filter(|it| it.kind != ValueKind::Nothing);
        value(one).zip(value(other)).is_some_and(|(one, other)| one != other)
    }

    /// Forgets which objects were seen.
    pub(crate) fn forget_objects(&mut self) {
        self.seen.clear();
    }

    /// Time at which an instruction ran.
    pub(crate) fn ticks(&self, node: Node) -> u64 {
        let times = self.times.get(&node.run).map_or(&[][..], Vec::as_slice);
        let later = times.iter().rev().find(|it| it.0 <= node.instruction);
        later.map_or(self.block(node.run).ticks, |it| it.1)
    }

    /// The last call before an instruction in its block.
    fn mark(&self, node: Node) -> Option<&(u32, u32)> {
        self.marks.get(&node.run)?.iter().rev().find(|it| it.0 < node.instruction)
    }

    /// Orders the instructions of a thread.
    pub(crate) fn order(&self, node: Node) -> (u32, u32, u32) {
        match self.mark(node) {
            Some(&(_, last)) if last > node.run => {
                (last, u32::MAX - self.frame_of(node.run).depth, node.instruction)
            }
            _ => (node.run, 0, node.instruction),
        }
    }

    /// The last run of an instruction in the frame of a node, before that node.
    pub(crate) fn latest(&self, model: &SliceModel, instruction: u32, before: Node) -> Option<Node> {
        let at = self.block(before.run);
        let outline = model.method(self.frames[at.frame as usize].method);
        let block = outline.block_of(instruction);
        let runs = self.runs_of.get(&(at.frame, block))?;
        let is_before = |run: u32| run < before.run || run == before.run && instruction < before.instruction;
        let fits = |run: u32| {
            is_before(run) && instruction < self.block(run).end && self.is_same_round(run, before.run)
        };
        let run = runs.iter().rev().copied().find(|&it| fits(it))?;
        Some(Node { run, instruction })
    }

    /// Tests whether what an instruction does to an object can matter to another: iterations of a map loop share nothing.
    pub(crate) fn is_in_reach(&self, from: Node, node: Node) -> bool {
        self.block(from.run).frame != self.block(node.run).frame || self.is_same_round(from.run, node.run)
    }

    /// Tests whether two blocks of a frame ran in the same iteration of each map loop that both are in.
    fn is_same_round(&self, one: u32, other: u32) -> bool {
        let frame = self.block(one).frame;
        let rounds = |run: u32| {
            let scopes =
                std::iter::successors(Some(self.block(run).scope), |&it| self.scopes[it as usize].parent);
            let own = scopes.take_while(move |&it| self.scopes[it as usize].frame == frame);
            own.filter(|&it| matches!(self.scopes[it as usize].within, Within::MapRound(_)))
        };
        let kind = |it: u32| self.scopes[it as usize].within;
        let (one, other): (Vec<u32>, Vec<u32>) = (rounds(one).collect(), rounds(other).collect());
        one.iter().all(|&it| other.iter().all(|&its| it == its || kind(it) != kind(its)))
    }

    /// The first instruction at one of these places that ran.
    pub(crate) fn first_at(&self, model: &SliceModel, places: &[CodePlace]) -> Option<Node> {
        let wanted: Vec<(u32, u32, u32)> = places
            .iter()
            .map(|it| (it.method, model.method(it.method).block_of(it.instruction), it.instruction))
            .collect();
        let reached = (0..).zip(&self.blocks).filter_map(|(run, it): (u32, &BlockRun)| {
            let method = self.frames[it.frame as usize].method;
            let here = wanted.iter().find(|at| (at.0, at.1) == (method, it.block) && at.2 < it.end)?;
            Some((it.ticks, Node { run, instruction: here.2 }))
        });
        reached.min().map(|it| it.1)
    }

    /// All instructions that ran and do something, with what they do.
    pub(crate) fn acts<'r>(&'r self, model: &'r SliceModel) -> impl Iterator<Item = (Node, &'r Act)> {
        (0..).zip(&self.blocks).flat_map(move |(run, it): (u32, &BlockRun)| {
            let outline = model.method(self.frames[it.frame as usize].method);
            let start = outline.blocks[it.block as usize].0;
            (start..it.end)
                .map(move |instruction| (Node { run, instruction }, &outline.steps[instruction as usize].act))
        })
    }
}

/// Reads the notes of one thread.
struct Reading<'r> {
    model: &'r SliceModel,
    run: &'r mut RecordedRun,
    stack: Vec<OpenFrame>,
    map_loops: bool,
}

impl Reading<'_> {
    fn note(&mut self, note: &Note) {
        if note.reports == Reports::Entry {
            self.enter(note);
            return;
        }
        self.align(note);
        match note.reports {
            Reports::Entry => {}
            Reports::Block(block) => self.block(note, block),
            Reports::Exit => self.leave(note.ticks, false),
            Reports::Unwind => self.leave(note.ticks, true),
            Reports::Thrown(instruction) => self.threw(instruction),
            Reports::Accessed(instruction) | Reports::Passed(instruction) | Reports::Gave(instruction) => {
                self.saw(note, instruction);
            }
        }
    }

    /// Ends frames whose end was missed, so that the last one is of the method of a note.
    fn align(&mut self, note: &Note) {
        let is_of = |run: &RecordedRun, it: &OpenFrame| run.frames[it.frame as usize].method == note.method;
        if !self.stack.iter().any(|it| is_of(self.run, it)) {
            return self.enter(note);
        }
        while self.stack.last().is_some_and(|it| !is_of(self.run, it)) {
            self.leave(note.ticks, true);
        }
    }

    fn enter(&mut self, note: &Note) {
        let call = self.call_of(note.method);
        let number = self.run.frames.len() as u32;
        let (parent, within, caller) = match self.stack.last().and_then(|it| it.current) {
            Some(run) => {
                let within = call.map_or(Within::Callback(note.method), Within::Call);
                (self.run.block(run).scope, within, Some((run, call)))
            }
            None => (self.run.thread_scopes[note.thread as usize], Within::Root(note.method), None),
        };
        if let Some((run, Some(call))) = caller {
            self.run.called.entry((run, call)).or_insert(number);
        }
        self.run.frames.push(FrameRun {
            method: note.method,
            thread: note.thread,
            root: self.stack.first().map_or(number, |it| it.frame),
            depth: self.stack.len() as u32,
            scope: 0,
            caller,
            first: None,
            last: None,
            threw: false,
        });
        let scope = self.run.scope(Some(parent), within, number);
        if self.stack.is_empty() {
            self.run.roots.entry(note.method).or_default().push(scope);
        }
        self.run.frames[number as usize].scope = scope;
        self.stack.push(OpenFrame { frame: number, scope, loops: Vec::new(), current: None, cursor: 0 });
    }

    /// The call in the current block that runs a method, and the block goes on behind it.
    fn call_of(&mut self, method: u32) -> Option<u32> {
        let top = self.stack.last_mut()?;
        let run = self.run.block(top.current?);
        let outline = self.model.method(self.run.frames[top.frame as usize].method);
        let mut calls = top.cursor..outline.blocks[run.block as usize].1;
        let call = calls.find(|&at| match &outline.steps[at as usize].act {
            Act::Calls(it) => it.targets.iter().any(|&it| self.model.number(it) == Some(method)),
            _ => false,
        })?;
        top.cursor = call + 1;
        Some(call)
    }

    fn block(&mut self, note: &Note, block: u32) {
        let outline = self.model.method(note.method);
        let Some(mut top) = self.stack.pop() else { return };
        top.loops.retain(|it| outline.loops[it.0 as usize].body.binary_search(&block).is_ok());
        if let Some(number) = outline.loops.iter().position(|it| it.header == block) {
            let number = number as u32;
            let round = match top.loops.iter().position(|it| it.0 == number) {
                Some(at) => {
                    let round = top.loops[at].1 + 1;
                    top.loops.truncate(at);
                    round
                }
                None => 1,
            };
            let is_map = self.map_loops && outline.loops[number as usize].is_map;
            let within = if is_map { Within::MapRound(number) } else { Within::Round(number, round) };
            let parent = top.loops.last().map_or(top.scope, |it| it.2);
            let scope = self.run.scope(Some(parent), within, top.frame);
            top.loops.push((number, round, scope));
        }
        let scope = top.loops.last().map_or(top.scope, |it| it.2);
        let (start, end) = outline.blocks[block as usize];
        let number = self.run.blocks.len() as u32;
        self.run.blocks.push(BlockRun {
            frame: top.frame,
            block,
            end,
            threw: false,
            scope,
            ticks: note.ticks,
            next: None,
        });
        if let Some(before) = top.current {
            self.run.blocks[before as usize].next = Some(block);
        }
        let frame = &mut self.run.frames[top.frame as usize];
        frame.first.get_or_insert(number);
        frame.last = Some(number);
        self.run.run_at.entry((scope, block)).or_insert(number);
        self.run.runs_of.entry((top.frame, block)).or_default().push(number);
        (top.current, top.cursor) = (Some(number), start);
        self.stack.push(top);
    }

    fn leave(&mut self, ticks: u64, threw: bool) {
        let Some(top) = self.stack.pop() else { return };
        let frame = &mut self.run.frames[top.frame as usize];
        frame.threw = threw;
        let Some((run, Some(call))) = frame.caller else { return };
        let last = self.run.blocks.len() as u32 - 1;
        self.run.marks.entry(run).or_default().push((call, last));
        self.run.times.entry(run).or_default().push((call + 1, ticks));
        if threw {
            self.threw_in(run, call);
        }
    }

    fn saw(&mut self, note: &Note, instruction: u32) {
        let current = self.stack.last().and_then(|it| it.current);
        let (Some(run), Some(seen)) = (current, note.seen) else { return };
        let there = self.run.seen.entry(Node { run, instruction }).or_default();
        self.run.times.entry(run).or_default().push((instruction, note.ticks));
        if let Reports::Passed(_) = note.reports {
            there.begun = Some(note.ticks);
            there.passed.resize(there.passed.len().max(usize::from(seen.part) + 1), SeenValue::NOTHING);
            there.passed[usize::from(seen.part)] = seen.value;
        } else {
            there.at = seen;
        }
    }

    fn threw(&mut self, instruction: u32) {
        if let Some(run) = self.stack.last().and_then(|it| it.current) {
            self.threw_in(run, instruction);
        }
    }

    fn threw_in(&mut self, run: u32, instruction: u32) {
        let run = &mut self.run.blocks[run as usize];
        run.end = run.end.min(instruction + 1);
        run.threw = true;
    }
}
