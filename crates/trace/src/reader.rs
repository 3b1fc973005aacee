//! Reading a trial's file, when its JVMs have ended or died. Every number in it is doubted: the file may be cut,
//! and whatever killed a JVM may have left any chunk half-made.

use std::collections::BTreeMap;

use hypocenter_plan::{Aftermath, OperationKind, StateId};
use zerocopy::FromBytes;

use crate::layout::{
    CHUNK_MAGIC, CandidateState, ChunkHeader, DUMP_FAILED, GRANULE, Header, JVMS_MAX, JvmSlot, armed_state,
    came_by, candidate_state, chunk_kind, jvm_state, record,
};
use crate::session::ReportKind;
use crate::trial::check_header;
use crate::values::{self, ObjectId, SeenValue, TracedValue};
use crate::{SiteId, TraceError};

/// How much of a string and of a stack is read: no agent writes more. Bytes that look like a long stack of long
/// strings would otherwise be multiplied by each other.
const STRING_BYTES_MAX: usize = 4096;
const STACK_FRAMES_MAX: usize = 512;

/// A trial's file.
#[derive(Debug)]
pub struct Trace<'a> {
    bytes: &'a [u8],
    header: Header,
    chunks: Vec<(usize, ChunkHeader)>,
}

/// A JVM of the trial.
#[derive(Debug, Clone)]
pub struct Jvm {
    /// Its number.
    pub number: u32,
    /// The node.
    pub node: String,
    /// The process.
    pub pid: u32,
    /// The JVM's version.
    pub java: String,
    /// Whether it ended in good order, rather than by a signal or a halt.
    pub ended: bool,
    /// Classes patched.
    pub classes: u64,
    /// Hooks at their place.
    pub placed: u64,
    /// Hooks in changed bytes, recognised.
    pub moved: u64,
    /// Hooks left out.
    pub refused: u64,
    /// Time spent patching.
    pub transform_ns: u64,
    /// Bytes of the classes patched.
    pub transform_bytes: u64,
    /// Events dropped because a ring was full.
    pub dropped: u64,
    /// Records dropped because the disk was full.
    pub no_room: u64,
    /// How many decisions those that were timed stand for.
    pub decisions_timed: u64,
    decision_ticks: u64,
    /// The last request for a thread dump that was made before it joined, or that it answered.
    pub dumped: u32,
    /// Whether that answer is that it could not; a report says why.
    pub dump_failed: bool,
    counters_at: u64,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateEnd {
    /// Nothing.
    Open,
    /// It was about to happen when its JVM ended.
    Claimed,
    /// It happened.
    Injected {
        /// In which JVM.
        jvm: u32,
        /// At which matching hit.
        occurrence: u64,
        /// How many times.
        times: u64,
        /// How long it took: its delays together, or the wait for another.
        spent_ns: u64,
    },
    /// It could not be done; a report says why.
    Refused,
}

/// A frame: method and place.
pub type StackFrame = (String, String);

/// What a JVM said of itself.
#[derive(Debug, Default)]
pub struct Dictionary {
    strings: BTreeMap<u32, String>,
    stacks: BTreeMap<u32, Vec<u64>>,
    threads: BTreeMap<u32, (u64, u32)>,
    /// The faults, in order.
    pub injections: Vec<TracedInjection>,
    /// What did not work.
    pub reports: Vec<Report>,
    /// The classes that were patched, by their index in the map.
    pub patched: Vec<u32>,
    /// The calling contexts: the parent of each, and the entry of its method.
    pub contexts: BTreeMap<u32, (u32, SiteId)>,
    /// The paths, in the order in which they were first seen.
    pub paths: Vec<TracedPath>,
    /// How often the loops were iterated, by calling context.
    pub tallies: Vec<LoopTally>,
}

/// A fault as a trace has it.
#[derive(Debug, Clone)]
pub struct TracedInjection {
    /// Which candidate.
    pub candidate: u32,
    /// At which matching hit.
    pub occurrence: u64,
    /// When.
    pub ticks: u64,
    /// The thread.
    pub thread: u32,
    /// The nearest frames.
    pub stack: u32,
    /// The hash of the whole stack.
    pub stack_hash: u64,
    /// The class thrown, or 0.
    pub threw: u32,
    /// The state of the thread.
    pub state: StateId,
    /// The calling context, 0 if it is not known.
    pub context: u32,
    /// The hash of the path up to the site: one of [`Dictionary::paths`] around that site, where these are told.
    pub path: u64,
}

/// Something that did not work.
#[derive(Debug, Clone)]
pub struct Report {
    /// What it is about.
    pub kind: ReportKind,
    /// The site, or the candidate.
    pub subject: u32,
    /// What happened.
    pub text: String,
}

/// A hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub ticks: u64,
    /// Where.
    pub site: SiteId,
    /// The thread's number in the dictionary.
    pub thread: u32,
    /// The state that the thread was in.
    pub state: StateId,
    /// What the hook saw: for a boolean return, the value.
    pub flags: u8,
    /// The exception's class for a handler; else 0.
    pub string: u32,
    /// The stack, or 0.
    pub stack: u32,
    /// The calling context, or 0 if it is not known.
    pub context: u32,
}

/// An operation: on a file or a connection, or between threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedOperation {
    /// When it ended, or began.
    pub ticks: u64,
    /// Where it ended, or began: a site of the kind `operation_end` or `operation`.
    pub site: SiteId,
    /// What it was.
    pub kind: OperationKind,
    /// The thread's number in the dictionary.
    pub thread: u32,
    /// The state that the thread was in.
    pub state: StateId,
    /// The calling context, or 0 if it is not known.
    pub context: u32,
    /// Its places in the order of all operations of the trial, when it began and when it ended. An operation between threads that may last
    /// has a record also when it begins, in which both are the one of its begin.
    pub span: (u64, u64),
    /// The file or connection, as a string; for an operation between threads, the class of the object.
    pub resource: u32,
    /// The other, such as the new name of a file or the class of an element, or 0.
    pub other: u32,
    /// The object that an operation between threads is on: the queue, lock, condition, monitor, or thread.
    pub object: ObjectId,
    /// The other object, such as the element of a queue or the work for an executor.
    pub other_object: ObjectId,
    /// The stack.
    pub stack: u32,
    /// The class of the exception by which it failed, or 0.
    pub failed: u32,
    /// The number that it returned; 0 if none. For the start of a thread, the thread's Java id.
    pub result: i64,
}

impl TracedOperation {
    /// Tests whether it has ended; otherwise this is the record of its begin.
    pub fn has_ended(&self) -> bool {
        self.span.0 != self.span.1
    }
}

/// A loop from its entry to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopRun {
    /// When it was left.
    pub ticks: u64,
    /// The site of its body.
    pub body: SiteId,
    /// The thread's number in the dictionary.
    pub thread: u32,
    /// The calling context that the loop is in.
    pub context: u32,
    /// How often its body was executed.
    pub iterations: u64,
}

/// How often a loop was iterated in a calling context, also where it was never left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopTally {
    /// The site of its body.
    pub body: SiteId,
    /// The calling context that the loop is in.
    pub context: u32,
    /// The loop around it, in the same method or in a caller.
    pub around: Option<SiteId>,
    /// How often its body was executed.
    pub iterations: u64,
}

/// The branches of an iteration of a loop, or of a call of a method that no loop is around. Each that is new in its context is there once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedPath {
    /// The site of the loop's body, or the entry of the method; for a path up to a site, that site.
    pub around: SiteId,
    /// The calling context.
    pub context: u32,
    /// Its hash, of all branches.
    pub hash: u64,
    /// The branches, each with what it saw: 1 if it was taken, or the key of a switch.
    pub branches: Vec<(SiteId, u32)>,
    /// Whether it went on for longer than is kept.
    pub cut: bool,
}

/// A task began, ended, or came into another state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// When.
    pub ticks: u64,
    /// The thread's number in the dictionary.
    pub thread: u32,
    /// The state that the thread was in before, as far as the trace has it.
    pub from: StateId,
    /// The state that it is in now.
    pub to: StateId,
    /// Whether a task began.
    pub enters: bool,
    /// Whether a task ended.
    pub leaves: bool,
}

impl Dictionary {
    /// The methods of a calling context, innermost first, by their entries.
    pub fn callers(&self, context: u32) -> Vec<SiteId> {
        let mut callers = Vec::new();
        let mut next = context;
        // A broken trace may go round.
        while let Some(&(parent, entry)) =
            self.contexts.get(&next).filter(|_| callers.len() < STACK_FRAMES_MAX)
        {
            callers.push(entry);
            next = parent;
        }
        callers
    }

    /// A string by its number.
    pub fn string(&self, id: u32) -> &str {
        self.strings.get(&id).map_or("", String::as_str)
    }

    /// A stack by its number, innermost frame first.
    pub fn stack(&self, id: u32) -> Vec<StackFrame> {
        let words = self.stacks.get(&id).map_or(&[] as &[u64], Vec::as_slice);
        words
            .iter()
            .map(|word| (self.string(*word as u32).to_owned(), self.string((word >> 32) as u32).to_owned()))
            .collect()
    }

    /// A thread's name by its number.
    pub fn thread_name(&self, id: u32) -> &str {
        self.threads.get(&id).map_or("", |&(_, name)| self.string(name))
    }

    /// A thread's Java id by its number.
    pub fn thread_java_id(&self, id: u32) -> Option<u64> {
        self.threads.get(&id).map(|&(java_id, _)| java_id)
    }
}

/// A record as it lies in a chunk.
struct RawRecord<'a> {
    kind: u8,
    flags: u8,
    subject: u32,
    ticks: u64,
    payload: &'a [u8],
}

/// A record of a ring, with what earlier ones say of it.
struct InRing<'a> {
    thread: u32,
    /// The state that holds from it on, and the one before.
    state: StateId,
    before: StateId,
    context: u32,
    record: RawRecord<'a>,
}

impl RawRecord<'_> {
    fn word(&self, index: usize) -> u64 {
        self.payload
            .get(index * 8..index * 8 + 8)
            .map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }
}

impl<'a> Trace<'a> {
    /// Reads the layout of a trial's file.
    pub fn new(bytes: &'a [u8]) -> Result<Trace<'a>, TraceError> {
        let (header, _) =
            Header::read_from_prefix(bytes).map_err(|_| TraceError::Malformed("the file is cut short"))?;
        check_header(&header, bytes.len() as u64)?;
        let mut chunks = Vec::new();
        let mut at = header.arena_at as usize;
        while at + size_of::<ChunkHeader>() <= bytes.len() {
            let chunk = ChunkHeader::read_from_prefix(&bytes[at..]).ok().map(|(chunk, _)| chunk);
            let step = match chunk {
                Some(chunk) if chunk.magic == CHUNK_MAGIC && chunk.size >= GRANULE => {
                    let size = usize::try_from(chunk.size).unwrap_or(usize::MAX);
                    if at.checked_add(size).is_some_and(|end| end <= bytes.len()) {
                        chunks.push((at, chunk));
                        size - size % GRANULE as usize
                    } else {
                        GRANULE as usize
                    }
                }
                _ => GRANULE as usize,
            };
            at += step;
        }
        chunks.sort_by_key(|(_, chunk)| (chunk.jvm, chunk.kind, chunk.stream, chunk.sequence));
        Ok(Trace { bytes, header, chunks })
    }

    /// The number of the trial.
    pub fn trial(&self) -> u64 {
        self.header.trial
    }

    /// The digest of the map that the sites are numbered by.
    pub fn map_digest(&self) -> u64 {
        self.header.map_digest
    }

    /// The number of sites.
    pub fn site_count(&self) -> usize {
        self.header.site_count as usize
    }

    /// In how many JVMs the agent started, whether or not they loaded a class of the map.
    pub fn agents(&self) -> u32 {
        self.header.agents
    }

    /// In how many of them hooks count and write events in Java code, without a call into the agent.
    pub fn fast_agents(&self) -> u32 {
        self.header.fast_agents
    }

    /// For how long the clock word stood still at the most, if events have the time of that word.
    pub fn clock_gap_ns(&self) -> Option<u64> {
        (self.header.clock != 0).then_some(self.header.clock_gap_ns)
    }

    /// From which moment on faults might happen: 0 if from the start, none if that never came.
    pub fn armed_at(&self) -> Option<u64> {
        match self.header.armed {
            armed_state::NOT_YET => None,
            armed_state::LATER => Some(self.header.armed_at),
            _ => Some(0),
        }
    }

    /// Whether the limit of the plan has been used up.
    pub fn limit_reached(&self) -> bool {
        self.header.taken >= self.header.limit
    }

    /// The JVMs, in the order of their start.
    pub fn jvms(&self) -> Vec<Jvm> {
        let count = self.header.jvms_next.min(JVMS_MAX);
        let slot = |number: u32| {
            let at = self.header.jvms_at as usize + number as usize * size_of::<JvmSlot>();
            let (slot, _) = JvmSlot::read_from_prefix(self.bytes.get(at..)?).ok()?;
            // A slot that was taken and not filled: the JVM was killed at that instant and did nothing.
            if slot.state == 0 {
                return None;
            }
            let text = |bytes: &[u8], len: u32| {
                String::from_utf8_lossy(bytes.get(..len as usize).unwrap_or(bytes)).into_owned()
            };
            Some(Jvm {
                number,
                node: text(&slot.node, slot.node_len),
                pid: slot.pid,
                java: text(&slot.java, slot.java_len),
                ended: slot.state == jvm_state::ENDED,
                classes: slot.classes,
                placed: slot.placed,
                moved: slot.moved,
                refused: slot.refused,
                transform_ns: slot.transform_ns,
                transform_bytes: slot.transform_bytes,
                dropped: slot.dropped,
                no_room: slot.no_room,
                decisions_timed: slot.decisions_timed,
                decision_ticks: slot.decision_ticks,
                dumped: slot.dumped as u32,
                dump_failed: slot.dumped & DUMP_FAILED != 0,
                counters_at: slot.counters_at,
            })
        };
        (0..count).filter_map(slot).collect()
    }

    fn counter_words(&self, jvm: &Jvm) -> &'a [u8] {
        let words = 2 * self.header.site_count as usize + self.header.candidate_count as usize;
        let start =
            usize::try_from(jvm.counters_at).unwrap_or(usize::MAX).saturating_add(size_of::<ChunkHeader>());
        self.bytes.get(start..start.saturating_add(words * 8)).unwrap_or(&[])
    }

    /// How often each site was hit in a JVM, for the sites that the trial counts.
    pub fn counts(&self, jvm: &Jvm) -> Vec<u64> {
        let all = self.counts_by_value(jvm).into_iter();
        all.map(|(other, seen_true)| other.saturating_add(seen_true)).collect()
    }

    /// As [`Trace::counts`], with the hits that saw something true (a boolean that is returned, a branch that is taken) apart from all
    /// others.
    pub fn counts_by_value(&self, jvm: &Jvm) -> Vec<(u64, u64)> {
        let bytes = self.counter_words(jvm);
        let word = |w: &[u8]| u64::from_le_bytes(w.try_into().expect("eight bytes"));
        let first_true = (self.site_count() + self.header.candidate_count as usize) * 8;
        let seen_true = bytes.get(first_true..).unwrap_or(&[]).chunks_exact(8).map(word);
        let all = bytes.chunks_exact(8).take(self.site_count()).map(word);
        all.zip(seen_true.chain(std::iter::repeat(0))).collect()
    }

    /// How many hits fitted a candidate's guard in a JVM, where the guard looks at more than the site.
    pub fn candidate_hits(&self, jvm: &Jvm, candidate: u32) -> u64 {
        let at = (self.site_count() + candidate as usize) * 8;
        self.counter_words(jvm)
            .get(at..at + 8)
            .map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn states(&self) -> impl Iterator<Item = CandidateState> {
        let at = self.header.states_at as usize;
        let len = self.header.candidate_count as usize * size_of::<CandidateState>();
        let states = self.bytes.get(at..at + len).unwrap_or(&[]).chunks_exact(size_of::<CandidateState>());
        states.filter_map(|bytes| CandidateState::read_from_bytes(bytes).ok())
    }

    /// Consequences of a candidate after its site.
    pub fn effect(&self, candidate: usize) -> Aftermath {
        let state = self.states().nth(candidate);
        state.map_or_else(Aftermath::default, |it| Aftermath { operations: it.operations, bytes: it.bytes })
    }

    /// What became of each candidate.
    pub fn candidates(&self) -> Vec<CandidateEnd> {
        self.states()
            .map(|it| match it.state {
                candidate_state::CLAIMED => CandidateEnd::Claimed,
                candidate_state::INJECTED => {
                    let CandidateState { jvm, occurrence, times, spent, .. } = it;
                    CandidateEnd::Injected { jvm, occurrence, times, spent_ns: spent }
                }
                candidate_state::REFUSED => CandidateEnd::Refused,
                _ => CandidateEnd::Open,
            })
            .collect()
    }

    fn records(&self, at: usize, chunk: &ChunkHeader) -> impl Iterator<Item = RawRecord<'a>> + use<'a> {
        let start = at + size_of::<ChunkHeader>();
        let room = chunk.size as usize - size_of::<ChunkHeader>();
        let used = usize::try_from(chunk.used).unwrap_or(usize::MAX).min(room);
        let mut rest = self.bytes.get(start..start + used).unwrap_or(&[]);
        std::iter::from_fn(move || {
            let (first, after) = u64::read_from_prefix(rest).ok()?;
            let words = usize::from((first >> 16) as u16);
            if words < 2 {
                return None;
            }
            let (ticks, _) = u64::read_from_prefix(after).ok()?;
            let payload = rest.get(16..words * 8)?;
            rest = &rest[words * 8..];
            Some(RawRecord {
                kind: first as u8,
                flags: (first >> 8) as u8,
                subject: (first >> 32) as u32,
                ticks,
                payload,
            })
        })
    }

    fn chunks_of(&self, jvm: u32, kind: u32) -> impl Iterator<Item = &(usize, ChunkHeader)> {
        self.chunks.iter().filter(move |(_, chunk)| chunk.jvm == jvm && chunk.kind == kind)
    }

    /// What a JVM said of itself.
    pub fn dictionary(&self, jvm: &Jvm) -> Dictionary {
        let mut dictionary = Dictionary::default();
        let mut reports = Vec::new();
        for (at, chunk) in self.chunks_of(jvm.number, chunk_kind::DICTIONARY) {
            for it in self.records(*at, chunk) {
                match it.kind {
                    record::STRING => {
                        let len = usize::try_from(it.word(0)).unwrap_or(usize::MAX);
                        let text = it.payload.get(8..).unwrap_or(&[]);
                        let len = len.min(text.len()).min(STRING_BYTES_MAX);
                        let text = String::from_utf8_lossy(&text[..len]).into_owned();
                        dictionary.strings.insert(it.subject, text);
                    }
                    record::STACK => {
                        let frames = (it.payload.len() / 8).min(STACK_FRAMES_MAX);
                        let words = (0..frames).map(|index| it.word(index)).collect();
                        dictionary.stacks.insert(it.subject, words);
                    }
                    record::THREAD => {
                        dictionary.threads.insert(it.subject, (it.word(0), it.word(1) as u32));
                    }
                    record::INJECTED => dictionary.injections.push(TracedInjection {
                        candidate: it.subject,
                        occurrence: it.word(0),
                        ticks: it.ticks,
                        thread: it.word(1) as u32,
                        stack: it.word(2) as u32,
                        stack_hash: it.word(3),
                        threw: it.word(4) as u32,
                        state: StateId(it.word(5) as u32),
                        context: it.word(6) as u32,
                        path: it.word(7),
                    }),
                    record::TALLY => dictionary.tallies.push(LoopTally {
                        body: SiteId(it.subject),
                        context: it.word(0) as u32,
                        around: ((it.word(0) >> 32) as u32).checked_sub(1).map(SiteId),
                        iterations: it.word(1),
                    }),
                    record::REPORT => reports.push((it.flags, it.subject, it.word(0) as u32)),
                    record::PATCHED => dictionary.patched.push(it.subject),
                    record::NODE => {
                        let node = (it.word(0) as u32, SiteId(it.word(1) as u32));
                        dictionary.contexts.insert(it.subject, node);
                    }
                    record::PATH => {
                        let branch = |at: usize| {
                            let word = it.word(at);
                            (SiteId(word as u32), (word >> 32) as u32)
                        };
                        dictionary.paths.push(TracedPath {
                            around: SiteId(it.subject),
                            context: it.word(0) as u32,
                            hash: it.word(1),
                            branches: (2..it.payload.len() / 8).map(branch).collect(),
                            cut: it.flags != 0,
                        });
                    }
                    _ => {}
                }
            }
        }
        dictionary.reports = reports
            .into_iter()
            .filter_map(|(kind, subject, text)| {
                Some(Report {
                    kind: ReportKind::from_u8(kind)?,
                    subject,
                    text: dictionary.string(text).to_owned(),
                })
            })
            .collect();
        dictionary
    }

    /// The events of a JVM: one list a ring, each in order. A ring may have served several threads in turn.
    pub fn events(&self, jvm: &Jvm) -> impl Iterator<Item = Event> {
        self.ring_records(jvm).filter_map(|InRing { thread, state, context, record: it, .. }| {
            let extra = it.word(0);
            (it.kind == record::HIT).then_some(Event {
                ticks: it.ticks,
                site: SiteId(it.subject),
                thread,
                state,
                flags: it.flags,
                string: extra as u32,
                stack: (extra >> 32) as u32,
                context,
            })
        })
    }

    /// The operations of a JVM on files and connections: one list a ring, each in the order in which they ended.
    pub fn operations(&self, jvm: &Jvm) -> impl Iterator<Item = TracedOperation> {
        self.ring_records(jvm).filter_map(|InRing { thread, state, context, record: it, .. }| {
            let halves = |word: u64| (word as u32, (word >> 32) as u32);
            let ((resource, other), (stack, failed)) = (halves(it.word(2)), halves(it.word(3)));
            (it.kind == record::OPERATION).then_some(TracedOperation {
                ticks: it.ticks,
                site: SiteId(it.subject),
                kind: OperationKind::from_u8(it.flags)?,
                thread,
                state,
                context,
                span: (it.word(0), it.word(1)),
                resource,
                other,
                stack,
                failed,
                result: it.word(4) as i64,
                object: ObjectId(it.word(5)),
                other_object: ObjectId(it.word(6)),
            })
        })
    }

    /// The hits of a JVM with what they saw: one list a ring, each in order. Hits that left a plain event are among them, with no value.
    pub fn values(&self, jvm: &Jvm) -> impl Iterator<Item = TracedValue> {
        self.ring_records(jvm).filter_map(|InRing { thread, state, context, record: it, .. }| {
            let seen = TracedValue {
                ticks: it.ticks,
                site: SiteId(it.subject),
                thread,
                state,
                context,
                part: it.flags,
                object: ObjectId(0),
                value: SeenValue::NOTHING,
                index: 0,
                stack: (it.word(0) >> 32) as u32,
                sequence: None,
            };
            match it.kind {
                record::HIT => Some(seen),
                record::VALUE => {
                    let has = |at: usize| it.payload.len() >= at * 8 + 8;
                    let (record, sequence) = values::decode(it.flags, |at| has(at).then(|| it.word(at)))?;
                    let stack = record.stack.unwrap_or_default().0;
                    let (object, value, index) = (record.object, record.value, record.index);
                    Some(TracedValue { part: record.part, object, value, index, stack, sequence, ..seen })
                }
                _ => None,
            }
        })
    }

    /// The loops that the threads of a JVM ran: one list a ring, each in the order in which they were left.
    pub fn loop_runs(&self, jvm: &Jvm) -> impl Iterator<Item = LoopRun> {
        self.ring_records(jvm).filter_map(|InRing { thread, context, record: it, .. }| {
            (it.kind == record::LOOP).then_some(LoopRun {
                ticks: it.ticks,
                body: SiteId(it.subject),
                thread,
                context,
                iterations: it.word(0),
            })
        })
    }

    /// How the threads of a JVM came from state to state: one list a ring, each in order.
    pub fn transitions(&self, jvm: &Jvm) -> impl Iterator<Item = Transition> {
        self.ring_records(jvm).filter_map(|InRing { thread, state: to, before: from, record: it, .. }| {
            (it.kind == record::STATE && it.flags != came_by::NOTHING).then_some(Transition {
                ticks: it.ticks,
                thread,
                from,
                to,
                enters: it.flags == came_by::ENTER,
                leaves: it.flags == came_by::LEAVE,
            })
        })
    }

    /// The records of the rings.
    fn ring_records(&self, jvm: &Jvm) -> impl Iterator<Item = InRing<'a>> {
        let has_clock = self.header.clock != 0;
        self.chunks_of(jvm.number, chunk_kind::RING).flat_map(move |(at, chunk)| {
            let (mut thread, mut state, mut last) = (chunk.thread, StateId(chunk.state), 0);
            let mut context = chunk.context;
            self.records(*at, chunk).map(move |mut it| {
                // The clock word is behind the exact time that other records of the ring have.
                if has_clock {
                    last = it.ticks.max(last);
                    it.ticks = last;
                }
                let before = state;
                match it.kind {
                    record::SWITCH => (thread, state, context) = (it.subject, StateId::NO_TASK, 0),
                    record::CONTEXT => context = it.subject,
                    record::STATE => state = StateId(it.subject),
                    _ => {}
                }
                InRing { thread, state, before, context, record: it }
            })
        })
    }

    /// Ticks as milliseconds since the start of the trial.
    pub fn ms_since_start(&self, ticks: u64) -> f64 {
        ticks.saturating_sub(self.header.start.ticks) as f64 * self.ns_of_tick() / 1e6
    }

    /// How long a JVM took to decide on a hit of a site that has something armed: the mean of those that were timed.
    pub fn decision_ns(&self, jvm: &Jvm) -> Option<f64> {
        let ticks = jvm.decision_ticks as f64 / jvm.decisions_timed as f64;
        (jvm.decisions_timed > 0).then(|| ticks * self.ns_of_tick())
    }

    fn ns_of_tick(&self) -> f64 {
        let start = self.header.start;
        let end = if self.header.end.nanos > start.nanos { self.header.end } else { crate::clock::pair() };
        let span_ticks = end.ticks.saturating_sub(start.ticks).max(1) as f64;
        end.nanos.saturating_sub(start.nanos) as f64 / span_ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArmedPlan, Session, Stream, TrialFile, TrialSpec};

    #[test]
    fn a_long_stack_of_long_strings_is_not_multiplied() {
        let path = std::env::temp_dir().join(format!("hypocenter-long-stack-{}", std::process::id()));
        let spec = TrialSpec {
            trial: 1,
            seed: 1,
            limit: 1,
            armed: true,
            map_digest: 1,
            levels: vec![0; 8],
            plan: ArmedPlan::default(),
            steps: Vec::new(),
            tracks: Vec::new(),
            path_depth: None,
            loop_runs: false,
            loop_counts: false,
            stack_frames: 8,
            ring_bytes: 1 << 16,
            lossless: false,
            native: false,
            ticking: false,
        };
        let trial = TrialFile::create(&path, &spec).unwrap();
        let session = Session::join(&path, "node", 1, "17").unwrap();
        // 65,000 frames of 400 KB would be 52 GB.
        let mut stream = Stream::new(session.jvm(), 0, chunk_kind::DICTIONARY);
        let mut text = vec![u64::from_le_bytes([b'x'; 8]); 50_001];
        text[0] = 400_000;
        stream.push(&trial, record::STRING, 0, 1, &text);
        stream.push(&trial, record::STACK, 0, 1, &[1 | 1 << 32; 65_000]);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let trace = Trace::new(&bytes).unwrap();
        let dictionary = trace.dictionary(&trace.jvms()[0]);
        assert_eq!(dictionary.string(1), "x".repeat(STRING_BYTES_MAX));
        assert_eq!(dictionary.stack(1).len(), STACK_FRAMES_MAX);
    }
}
