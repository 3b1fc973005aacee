//! A stream of records with one writer: a thread's ring, or a JVM's dictionary.
//!
//! A record is complete before the chunk's `used` word covers it, so whatever kills the process leaves a
//! readable prefix. A ring that is full uses its oldest chunk again and counts what was in it as dropped; a
//! lossless ring and the dictionary take another chunk instead.

use std::collections::VecDeque;
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hypocenter_plan::StateId;
use memmap2::MmapRaw;

use crate::clock;
use crate::lane::{EVENT_BYTES, Lane};
use crate::layout::{ChunkHeader, GRANULE, came_by, chunk_kind, record, record_word, round_up};
use crate::session::OperationRecord;
use crate::steps::Step;
use crate::trial::TrialFile;
use crate::values::{self, ValueRecord};

const HEADER_BYTES: usize = size_of::<ChunkHeader>();
const FIRST_CHUNK_BYTES: u64 = 16 << 10;
const CHUNK_BYTES: u64 = 64 << 10;
const LARGE_CHUNK_BYTES: u64 = 1 << 20;
/// How many records go by before a full disk is asked again: asking is a system call.
const STARVED_RECORDS: u32 = 1 << 12;
/// The longest record: what a `u16` of words can say.
pub(crate) const RECORD_WORDS_MAX: usize = u16::MAX as usize;

struct Chunk {
    map: Arc<MmapRaw>,
    size: u64,
}

/// See the module. Used by one thread at a time.
pub struct Stream {
    /// Where the next record goes; `room` bytes are left there.
    next: *mut u64,
    room: usize,
    used: *const AtomicU64,
    chunks: VecDeque<Chunk>,
    sequence: u64,
    /// Hits in the chunk at hand: what is lost when it is used again.
    records: u64,
    bytes: u64,
    /// Records to drop before the disk is asked for room again.
    starved: u32,
    id: u32,
    jvm: u32,
    kind: u32,
    thread: u32,
    state: StateId,
    context: u32,
}

// SAFETY: the pointers point into the mappings that the stream owns, and only its owner writes through them.
unsafe impl Send for Stream {}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("id", &self.id).field("bytes", &self.bytes).finish()
    }
}

impl Stream {
    pub(crate) fn new(jvm: u32, id: u32, kind: u32) -> Stream {
        Stream {
            next: std::ptr::null_mut(),
            room: 0,
            used: std::ptr::null(),
            chunks: VecDeque::new(),
            sequence: 0,
            records: 0,
            bytes: 0,
            starved: 0,
            id,
            jvm,
            kind,
            thread: 0,
            state: StateId::NO_TASK,
            context: 0,
        }
    }

    /// Makes the records that follow those of `thread`, whose state is what `state` says.
    #[inline]
    pub fn switch_to(&mut self, trial: &TrialFile, thread: u32, state: impl FnOnce() -> StateId) {
        if self.thread != thread {
            self.switch(trial, thread, state());
        }
    }

    #[cold]
    fn switch(&mut self, trial: &TrialFile, thread: u32, state: StateId) {
        self.thread = thread;
        self.state = state;
        self.context = 0;
        self.push(trial, record::SWITCH, 0, thread, &[]);
        if state != StateId::NO_TASK {
            self.push(trial, record::STATE, came_by::NOTHING, state.0, &[]);
        }
    }

    /// Makes the records that follow those of a calling context.
    #[inline]
    pub fn in_context(&mut self, trial: &TrialFile, context: u32) {
        if self.context != context {
            // A chunk that is opened for this record begins in the context before.
            self.push(trial, record::CONTEXT, 0, context, &[]);
            self.context = context;
        }
    }

    /// Says that a loop was left after so many iterations; it is named by the site of its body.
    pub fn loop_run(&mut self, trial: &TrialFile, body: u32, iterations: u64) {
        self.records += u64::from(self.push(trial, record::LOOP, 0, body, &[iterations]));
    }

    /// Begins to count the iterations of a loop in a calling context, and within another loop if that is not 0: its site and one. None if
    /// there is no room for the record.
    pub(crate) fn tally(
        &mut self,
        trial: &TrialFile,
        body: u32,
        (context, around): (u32, u32),
    ) -> Option<Tally> {
        if !self.push(trial, record::TALLY, 0, body, &[u64::from(context) | u64::from(around) << 32, 0]) {
            return None;
        }
        let chunk = self.chunks.back()?;
        // The count is the last word of the record that was just written.
        let at = self.next as usize - chunk.map.as_ptr() as usize - size_of::<u64>();
        Some(Tally { map: Arc::clone(&chunk.map), at })
    }

    /// Says that the thread came into a state by a step, and makes the records that follow those of this state.
    pub fn came_to(&mut self, trial: &TrialFile, state: StateId, step: Step) {
        let how = match step {
            Step::Enter { .. } => came_by::ENTER,
            Step::Reach { .. } => came_by::REACH,
            Step::Leave { .. } => came_by::LEAVE,
        };
        // A chunk that is opened for this record begins in the state before.
        self.push(trial, record::STATE, how, state.0, &[]);
        self.state = state;
    }

    /// Lets the Java thread of this number write events, as far as the chunk at hand has room for them.
    #[inline]
    pub fn lend(&self, lane: &Lane, speaker: u64) {
        let Some(chunk) = self.chunks.back() else { return };
        let base = chunk.map.as_ptr() as u64 + HEADER_BYTES as u64;
        lane.lend(speaker, self.next as u64, self.room as u64, self.used as u64, base);
    }

    /// Goes on behind the events that were written meanwhile.
    #[inline]
    pub fn take_back(&mut self, lane: &Lane) {
        let next = lane.take_back();
        if next == 0 {
            return;
        }
        let written = next.wrapping_sub(self.next as u64) as usize;
        assert!(written <= self.room, "a thread wrote beyond the room that it was lent");
        // SAFETY: `room` bytes are left at `next` in the chunk, and no more were written.
        self.next = unsafe { self.next.byte_add(written) };
        self.room -= written;
        self.records += written as u64 / EVENT_BYTES;
    }

    /// The thread whose records are written now.
    #[inline]
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// The event of a hit: two words.
    #[inline]
    pub fn hit(&mut self, trial: &TrialFile, site: u32, flags: u8, ticks: u64) {
        if self.room < 16 && !self.make_room(trial, 2) {
            return;
        }
        // SAFETY: at least 16 bytes are left at `next`, in a mapping that this stream owns.
        unsafe {
            self.next.write(record_word(record::HIT, flags, 2, site));
            self.next.add(1).write(ticks);
            self.publish(2);
        }
        self.records += 1;
    }

    /// The event of a hit that names a string and a stack (0 for none).
    pub fn hit_with(&mut self, trial: &TrialFile, site: u32, flags: u8, string: u32, stack: u32) {
        let payload = [u64::from(string) | u64::from(stack) << 32];
        self.records += u64::from(self.push(trial, record::HIT, flags, site, &payload));
    }

    /// What a hook saw.
    pub fn value(&mut self, trial: &TrialFile, it: &ValueRecord) {
        let (flags, words, len) = values::encode(it, || trial.next_sequence());
        self.records += u64::from(self.push(trial, record::VALUE, flags, it.site.0, &words[..len]));
    }

    /// An operation that has ended, or that begins.
    pub fn operation(&mut self, trial: &TrialFile, it: &OperationRecord) {
        let payload = [
            it.begun,
            if it.ended { trial.next_sequence() } else { it.begun },
            u64::from(it.resource.0) | u64::from(it.other.0) << 32,
            u64::from(it.stack.0) | u64::from(it.failed.0) << 32,
            it.result as u64,
            it.object.0,
            it.other_object.0,
        ];
        let kept = self.push(trial, record::OPERATION, it.kind as u8, it.site.0, &payload);
        self.records += u64::from(kept);
    }

    /// A record with a payload; false if it was dropped. A record that does not fit the format is cut.
    pub(crate) fn push(
        &mut self,
        trial: &TrialFile,
        kind: u8,
        flags: u8,
        subject: u32,
        payload: &[u64],
    ) -> bool {
        let payload = &payload[..payload.len().min(RECORD_WORDS_MAX - 2)];
        let words = payload.len() + 2;
        if self.room < words * 8 && !self.make_room(trial, words) {
            return false;
        }
        // SAFETY: `words` words are left at `next`, in a mapping that this stream owns and `payload` is not in.
        unsafe {
            self.next.write(record_word(kind, flags, words as u16, subject));
            self.next.add(1).write(clock::ticks());
            std::ptr::copy_nonoverlapping(payload.as_ptr(), self.next.add(2), payload.len());
            self.publish(words);
        }
        true
    }

    /// Makes the `words` words just written part of the stream.
    ///
    /// # Safety
    /// They have been written at `next`, and `room` covers them.
    #[inline]
    unsafe fn publish(&mut self, words: usize) {
        // SAFETY: by the contract the chunk extends that far, and `used` points into its header.
        unsafe {
            self.next = self.next.add(words);
            self.room -= words * 8;
            let used = &*self.used;
            used.store(used.load(Ordering::Relaxed) + words as u64 * 8, Ordering::Release);
        }
    }

    #[cold]
    fn make_room(&mut self, trial: &TrialFile, words: usize) -> bool {
        if self.starved > 0 {
            self.starved -= 1;
            trial.add_no_room(self.jvm, 1);
            return false;
        }
        let wanted = (words * 8 + HEADER_BYTES) as u64;
        let bounded = self.kind == chunk_kind::RING && !trial.lossless();
        // A quarter of a ring at most, so that using its oldest chunk again does not throw most of it away.
        let share = (trial.ring_bytes() / 4).clamp(GRANULE, CHUNK_BYTES);
        let size = match (self.chunks.len(), bounded) {
            (0, false) => FIRST_CHUNK_BYTES,
            (0, true) => share.min(FIRST_CHUNK_BYTES),
            (_, true) => share,
            (_, false) => (self.bytes.next_power_of_two()).clamp(CHUNK_BYTES, LARGE_CHUNK_BYTES),
        }
        .max(wanted);
        let size = round_up(size, GRANULE);
        self.close();
        let full = bounded && self.bytes + size > trial.ring_bytes() && !self.chunks.is_empty();
        if full {
            // The oldest chunk that is large enough: a ring of one small chunk and a long record takes a new one.
            if let Some(at) = self.chunks.iter().position(|chunk| chunk.size >= wanted) {
                let chunk = self.chunks.remove(at).expect("the position was just found");
                let lost = header_word(&chunk.map, offset_of!(ChunkHeader, records)).load(Ordering::Relaxed);
                trial.add_dropped(self.jvm, lost);
                self.open(chunk);
                return true;
            }
        }
        match trial.allocate(size) {
            Some((map, size)) => {
                self.bytes += size;
                if !bounded {
                    // What a lossless stream has filled is only read again by the tool.
                    self.chunks.clear();
                }
                self.open(Chunk { map: Arc::new(map), size });
                true
            }
            None => {
                self.starved = STARVED_RECORDS;
                trial.add_no_room(self.jvm, 1);
                false
            }
        }
    }

    fn close(&mut self) {
        if let Some(chunk) = self.chunks.back() {
            header_word(&chunk.map, offset_of!(ChunkHeader, records)).store(self.records, Ordering::Relaxed);
        }
        self.room = 0;
    }

    fn open(&mut self, chunk: Chunk) {
        self.sequence += 1;
        self.records = 0;
        // A chunk that is used again is emptied before anything else about it changes.
        header_word(&chunk.map, offset_of!(ChunkHeader, used)).store(0, Ordering::Release);
        let header = ChunkHeader {
            magic: crate::layout::CHUNK_MAGIC,
            size: chunk.size,
            kind: self.kind,
            jvm: self.jvm,
            stream: self.id,
            thread: self.thread,
            sequence: self.sequence,
            used: 0,
            records: 0,
            state: self.state.0,
            context: self.context,
        };
        // SAFETY: the mapping is at least as large as a header, aligned to a page, and owned by this stream.
        unsafe {
            chunk.map.as_mut_ptr().cast::<ChunkHeader>().write(header);
            self.next = chunk.map.as_mut_ptr().add(HEADER_BYTES).cast();
        }
        self.used = header_word(&chunk.map, offset_of!(ChunkHeader, used));
        self.room = chunk.size as usize - HEADER_BYTES;
        self.chunks.push_back(chunk);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.close();
    }
}

/// A count in a record of a trial's file, which goes on after the record was written.
#[derive(Debug, Clone)]
pub struct Tally {
    map: Arc<MmapRaw>,
    at: usize,
}

impl Tally {
    /// Counts one more.
    #[inline]
    pub fn add(&self) {
        // SAFETY: `at` is that of an aligned word of a record within the mapping, which lives as long as this; JVMs change that word only by
        // atomic operations.
        let count = unsafe { AtomicU64::from_ptr(self.map.as_mut_ptr().add(self.at).cast()) };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// A word of a chunk's header.
fn header_word(map: &MmapRaw, offset: usize) -> &AtomicU64 {
    // SAFETY: the offset is that of a `u64` field of the header, which lies at the start of the mapping; the
    // mapping lives as long as the borrow.
    unsafe { AtomicU64::from_ptr(map.as_mut_ptr().add(offset).cast()) }
}
