//! A JVM's part in a trial: its slot, its counters, its dictionary and the rings of its threads.

use std::mem::offset_of;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hypocenter_plan::{OperationKind, StateId};
use memmap2::MmapRaw;
use rustc_hash::FxHashMap;

use crate::layout::{ChunkHeader, JvmSlot, NODE_MAX, chunk_kind, jvm_state, record};
use crate::stream::{Stream, Tally};
use crate::trial::TrialFile;
use crate::values::ObjectId;
use crate::{SiteId, TraceError, clock};

/// The longest string that is kept; a longer one is cut.
const STRING_BYTES_MAX: usize = 4096;

/// The number of a string, a stack or a thread in a JVM's dictionary. 0 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Interned(pub u32);

/// What a report is about. The numbers are part of the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ReportKind {
    /// A hook was placed in bytes that something else had changed.
    Moved = 1,
    /// A hook was left out.
    Unhooked = 2,
    /// A candidate could not be done; the subject is its number.
    Refused = 3,
    /// The agent could not do something.
    Trouble = 4,
}

impl ReportKind {
    pub(crate) fn from_u8(number: u8) -> Option<ReportKind> {
        use ReportKind::*;
        [Moved, Unhooked, Refused, Trouble].into_iter().find(|&it| it as u8 == number)
    }
}

/// A fault at the moment it happens.
#[derive(Debug, Clone, Copy)]
pub struct InjectedRecord {
    /// Which candidate.
    pub candidate: u32,
    /// At which matching hit.
    pub occurrence: u64,
    /// The thread.
    pub thread: Interned,
    /// The nearest frames.
    pub stack: Interned,
    /// The hash of the whole stack.
    pub stack_hash: u64,
    /// The class thrown.
    pub threw: Interned,
    /// The state of the thread.
    pub state: StateId,
    /// The calling context, 0 if it is not known.
    pub context: u32,
    /// The hash of the path up to the site, where that is told.
    pub path: u64,
}

/// An operation when it has ended, or begins.
#[derive(Debug, Clone, Copy)]
pub struct OperationRecord {
    /// Where it ended or begins.
    pub site: SiteId,
    /// True if it has ended.
    pub ended: bool,
    /// What it was.
    pub kind: OperationKind,
    /// Its place in the order of all operations when it began.
    pub begun: u64,
    /// The file or connection, or the class of the object that it is on.
    pub resource: Interned,
    /// The other, such as the new name of a file or the class of an element.
    pub other: Interned,
    /// The object that it is on, for one between threads.
    pub object: ObjectId,
    /// The other object, such as the element of a queue.
    pub other_object: ObjectId,
    /// The stack.
    pub stack: Interned,
    /// The class of the exception by which it failed.
    pub failed: Interned,
    /// The number that it returned; 0 if none.
    pub result: i64,
}

struct Dictionary {
    stream: Stream,
    strings: FxHashMap<Box<str>, u32>,
    stacks: FxHashMap<Box<[u64]>, u32>,
    strings_next: u32,
    stacks_next: u32,
    threads_next: u32,
}

/// See the module.
pub struct Session {
    trial: TrialFile,
    jvm: u32,
    /// The last request for a thread dump when this JVM joined, which it need not answer.
    dump_known: u32,
    counters: MmapRaw,
    dictionary: Mutex<Dictionary>,
    idle: Mutex<Vec<Stream>>,
    streams_next: AtomicU32,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("jvm", &self.jvm).finish_non_exhaustive()
    }
}

const COUNTERS_OFFSET: usize = size_of::<ChunkHeader>();

impl Session {
    /// Joins the trial as a new incarnation of `node`.
    pub fn join(path: &Path, node: &str, pid: u32, java: &str) -> Result<Session, TraceError> {
        let trial = TrialFile::open(path)?;
        let words = 2 * trial.site_count() as u64 + u64::from(trial.candidate_count());
        let (counters, at, size) =
            trial.allocate_known(words * 8).ok_or(TraceError::NoRoom("the counters of a JVM"))?;
        let jvm = trial.take_slot().ok_or(TraceError::NoRoom("one more JVM"))?;
        let header = ChunkHeader {
            magic: crate::layout::CHUNK_MAGIC,
            size,
            kind: chunk_kind::COUNTERS,
            jvm,
            stream: 0,
            thread: 0,
            sequence: 0,
            used: words * 8,
            records: 0,
            state: 0,
            context: 0,
        };
        // SAFETY: the mapping is at least as large as a header, aligned to a page, and nobody else has it.
        unsafe { counters.as_mut_ptr().cast::<ChunkHeader>().write(header) };
        let text = |text: &str| {
            let mut bytes = [0; NODE_MAX];
            let len =
                (0..=text.len().min(NODE_MAX)).rev().find(|&len| text.is_char_boundary(len)).unwrap_or(0);
            bytes[..len].copy_from_slice(&text.as_bytes()[..len]);
            (bytes, len as u32)
        };
        let ((node, node_len), (java, java_len)) = (text(node), text(java));
        let dump_known = trial.dump_request();
        trial.write_slot(
            jvm,
            &JvmSlot {
                state: 0,
                pid,
                start: clock::pair(),
                counters_at: at,
                classes: 0,
                placed: 0,
                moved: 0,
                refused: 0,
                transform_ns: 0,
                transform_bytes: 0,
                dropped: 0,
                no_room: 0,
                node_len,
                java_len,
                node,
                java,
                dumped: dump_known.into(),
                decisions_timed: 0,
                decision_ticks: 0,
            },
        );
        trial.set_slot_state(jvm, jvm_state::LIVE);
        let dictionary = Dictionary {
            stream: Stream::new(jvm, 0, chunk_kind::DICTIONARY),
            strings: FxHashMap::default(),
            stacks: FxHashMap::default(),
            strings_next: 1,
            stacks_next: 1,
            threads_next: 1,
        };
        Ok(Session {
            trial,
            jvm,
            dump_known,
            counters,
            dictionary: Mutex::new(dictionary),
            idle: Mutex::default(),
            streams_next: AtomicU32::new(1),
        })
    }

    /// The trial.
    pub fn trial(&self) -> &TrialFile {
        &self.trial
    }

    /// The number of this JVM in the trial.
    pub fn jvm(&self) -> u32 {
        self.jvm
    }

    fn counter(&self, index: usize) -> &AtomicU64 {
        debug_assert!(index < 2 * self.trial.site_count() as usize + self.trial.candidate_count() as usize);
        // SAFETY: the counters' chunk has a word for each site, each candidate and each site once more after its header, and
        // the callers below check the index against that.
        unsafe { AtomicU64::from_ptr(self.counters.as_mut_ptr().add(COUNTERS_OFFSET + index * 8).cast()) }
    }

    /// Counts a hit and returns how many there were before.
    #[inline]
    pub fn count(&self, site: SiteId) -> u64 {
        if site.0 >= self.trial.site_count() {
            return 0;
        }
        self.counter(site.0 as usize).fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a hit that saw something true, and returns how many of those there were before. The other hits of the site are those of
    /// [`Session::count`].
    #[inline]
    pub fn count_true(&self, site: SiteId) -> u64 {
        if site.0 >= self.trial.site_count() {
            return 0;
        }
        self.counter(self.first_true() + site.0 as usize).fetch_add(1, Ordering::Relaxed)
    }

    fn first_true(&self) -> usize {
        self.trial.site_count() as usize + self.trial.candidate_count() as usize
    }

    /// The addresses of the counters of sites, a `u64` each, and of those for hits that saw something true. The mapping lives as long
    /// as this.
    pub fn counter_addresses(&self) -> (u64, u64) {
        let first = self.counters.as_ptr() as u64 + COUNTERS_OFFSET as u64;
        (first, first + self.first_true() as u64 * 8)
    }

    /// Counts a hit that fits a candidate's guard and returns how many there were before.
    pub fn count_candidate(&self, candidate: u32) -> u64 {
        assert!(candidate < self.trial.candidate_count());
        self.counter(self.trial.site_count() as usize + candidate as usize).fetch_add(1, Ordering::Relaxed)
    }

    /// A decision was timed, and stands for so many.
    pub fn decided(&self, ticks: u64, decisions: u64) {
        self.trial.add_decisions(self.jvm, ticks.saturating_mul(decisions), decisions);
    }

    /// A ring for a thread: one that a thread left, or a new one.
    pub fn ring(&self) -> Stream {
        let idle = self.idle.lock().unwrap_or_else(|poison| poison.into_inner()).pop();
        idle.unwrap_or_else(|| {
            let id = self.streams_next.fetch_add(1, Ordering::Relaxed);
            Stream::new(self.jvm, id, chunk_kind::RING)
        })
    }

    /// Takes back the ring of a thread that ended: the next thread goes on in it, so threads that come and go
    /// do not use up the disk.
    pub fn return_ring(&self, ring: Stream) {
        self.idle.lock().unwrap_or_else(|poison| poison.into_inner()).push(ring);
    }

    fn dictionary(&self) -> std::sync::MutexGuard<'_, Dictionary> {
        self.dictionary.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The number of a string.
    pub fn string(&self, text: &str) -> Interned {
        let len =
            (0..=text.len().min(STRING_BYTES_MAX)).rev().find(|&len| text.is_char_boundary(len)).unwrap_or(0);
        let text = &text[..len];
        let mut dictionary = self.dictionary();
        if let Some(&id) = dictionary.strings.get(text) {
            return Interned(id);
        }
        let id = dictionary.strings_next;
        dictionary.strings_next += 1;
        dictionary.strings.insert(text.into(), id);
        let mut payload = vec![text.len() as u64];
        payload.extend(text.as_bytes().chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        }));
        dictionary.stream.push(&self.trial, record::STRING, 0, id, &payload);
        Interned(id)
    }

    /// The number of a stack: frames as (method, place), innermost first.
    pub fn stack(&self, frames: &[(Interned, Interned)]) -> Interned {
        let words: Box<[u64]> =
            frames.iter().map(|(method, place)| u64::from(method.0) | u64::from(place.0) << 32).collect();
        let mut dictionary = self.dictionary();
        if let Some(&id) = dictionary.stacks.get(&words) {
            return Interned(id);
        }
        let id = dictionary.stacks_next;
        dictionary.stacks_next += 1;
        dictionary.stream.push(&self.trial, record::STACK, 0, id, &words);
        dictionary.stacks.insert(words, id);
        Interned(id)
    }

    /// A new number for a thread, or for one that has changed its name.
    pub fn thread(&self, java_id: u64, name: &str) -> Interned {
        let name = self.string(name);
        let mut dictionary = self.dictionary();
        let id = dictionary.threads_next;
        dictionary.threads_next += 1;
        dictionary.stream.push(&self.trial, record::THREAD, 0, id, &[java_id, u64::from(name.0)]);
        Interned(id)
    }

    /// Says what a calling context is: a call of the method with this entry, in the context of its caller.
    pub fn context(&self, id: u32, parent: u32, entry: SiteId) {
        let payload = [u64::from(parent), u64::from(entry.0)];
        self.dictionary().stream.push(&self.trial, record::NODE, 0, id, &payload);
    }

    /// Spells a path out: the branches of an iteration of a loop, or of a call of a method. Each has its site and what it saw in the upper
    /// half. `cut`: it went on.
    pub fn path(&self, around: SiteId, context: u32, hash: u64, branches: &[u64], cut: bool) {
        let mut payload = vec![u64::from(context), hash];
        payload.extend_from_slice(branches);
        self.dictionary().stream.push(&self.trial, record::PATH, cut.into(), around.0, &payload);
    }

    /// Begins to count the iterations of a loop, named by the site of its body, in a calling context and within another loop.
    pub fn tally(&self, body: SiteId, context: u32, around: Option<SiteId>) -> Option<Tally> {
        let around = around.map_or(0, |it| it.0.saturating_add(1));
        self.dictionary().stream.tally(&self.trial, body.0, (context, around))
    }

    /// Says that a fault happens now. Written before it does.
    pub fn injected(&self, it: &InjectedRecord) {
        let payload = [
            it.occurrence,
            u64::from(it.thread.0),
            u64::from(it.stack.0),
            it.stack_hash,
            u64::from(it.threw.0),
            u64::from(it.state.0),
            u64::from(it.context),
            it.path,
        ];
        self.dictionary().stream.push(&self.trial, record::INJECTED, 0, it.candidate, &payload);
    }

    /// Says that something did not work. `subject` is a site, or a candidate for [`ReportKind::Refused`].
    pub fn report(&self, kind: ReportKind, subject: u32, text: &str) {
        let text = self.string(text);
        self.dictionary().stream.push(&self.trial, record::REPORT, kind as u8, subject, &[u64::from(text.0)]);
    }

    /// Says that a class was patched.
    pub fn patched(&self, class: usize, tally: &PatchTally) {
        self.dictionary().stream.push(
            &self.trial,
            record::PATCHED,
            0,
            class as u32,
            &[u64::from(tally.placed)],
        );
        let add =
            |offset: usize, by: u64| self.trial.slot_word(self.jvm, offset).fetch_add(by, Ordering::Relaxed);
        add(offset_of!(JvmSlot, classes), 1);
        add(offset_of!(JvmSlot, placed), u64::from(tally.placed));
        add(offset_of!(JvmSlot, moved), u64::from(tally.moved));
        add(offset_of!(JvmSlot, refused), u64::from(tally.refused));
        add(offset_of!(JvmSlot, transform_ns), tally.nanos);
        add(offset_of!(JvmSlot, transform_bytes), tally.bytes);
    }

    /// The last request for a thread dump when this JVM joined: it answers those that come after it.
    pub fn dump_known(&self) -> u32 {
        self.dump_known
    }

    /// Says that a request for a thread dump was answered: the dump is there, or a report says why not.
    pub fn dumped(&self, request: u32, failed: bool) {
        self.trial.set_dumped(self.jvm, request, failed);
    }

    /// Says that the JVM ends in good order.
    pub fn end(&self) {
        self.trial.set_slot_state(self.jvm, jvm_state::ENDED);
    }
}

/// What patching a class gave.
#[derive(Debug, Clone, Copy, Default)]
pub struct PatchTally {
    /// Hooks at their place.
    pub placed: u32,
    /// Hooks in changed bytes, recognised.
    pub moved: u32,
    /// Hooks left out.
    pub refused: u32,
    /// How long it took.
    pub nanos: u64,
    /// The size of the class file.
    pub bytes: u64,
}
