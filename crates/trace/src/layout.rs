//! The bytes of a trial's file, shared by the tool and every JVM of the trial.
//!
//! ```text
//! header | levels: u8 a site | mapped plan | steps of tasks | candidate states | JVM slots | arena ...
//! ```
//!
//! The arena grows: whoever needs room takes the next granules with one atomic add and has the file system
//! allocate them for real, so a full disk is an error that is counted and never a SIGBUS. An allocation begins
//! with a [`ChunkHeader`], written before anything else in it; a granule without one is a hole left by a process
//! that was killed at that instant, and is skipped. Everything is stored through a shared mapping, so it outlives
//! `kill -9` and `Runtime.halt`.
//!
//! All numbers are little-endian in practice: file and JVM are on one machine.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

pub(crate) const MAGIC: [u8; 8] = *b"HYPOTRC\0";
/// The version of the trial file's layout: a reader takes this one and no other.
pub(crate) const TRACE_VERSION: u32 = 9;
/// The unit of allocation in the arena.
pub(crate) const GRANULE: u64 = 4096;
/// How many JVMs a trial can have; one more works without the agent and is reported.
pub(crate) const JVMS_MAX: u32 = 256;
pub(crate) const CHUNK_MAGIC: u64 = 0x4b4e_4843_4f50_5948;

/// The directory, within that of a trial, in which the processes of the trial work.
pub const FRESH_DIRECTORY: &str = "dir";

/// What is done at a hook, as bits; the byte is zero for a hook that does nothing.
pub mod level {
    /// Count the hit.
    pub const COUNT: u8 = 1;
    /// Leave an event.
    pub const EVENT: u8 = 2;
    /// See whether a candidate fits.
    pub const DECIDE: u8 = 4;
    /// Let the event name its stack.
    pub const STACK: u8 = 8;
    /// The thread's task begins, ends, or comes into another state.
    pub const STATE: u8 = 16;
    /// A guard, or all faults, wait for a hit of this site.
    pub const MARK: u8 = 64;
    /// The thread's trail goes on here.
    pub const TRACK: u8 = 32;
    /// Leave a record of what the hook saw. The agent serves such a hook in native code.
    pub const VALUE: u8 = 128;
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Header {
    pub magic: [u8; 8],
    pub version: u32,
    pub site_count: u32,
    pub candidate_count: u32,
    pub limit: u32,
    pub trial: u64,
    pub seed: u64,
    pub map_digest: u64,
    pub levels_at: u64,
    pub plan_at: u64,
    pub plan_len: u64,
    pub states_at: u64,
    pub jvms_at: u64,
    pub arena_at: u64,
    pub arena_max: u64,
    pub ring_bytes: u32,
    pub lossless: u32,
    pub stack_frames: u32,
    /// Whether native code serves every hook.
    pub native: u32,
    pub start: ClockPair,
    /// Written by the tool when the trial is over; zero until then.
    pub end: ClockPair,
    pub wall_start_ms: u64,
    pub steps_at: u64,
    pub steps_len: u64,
    pub tracks_at: u64,
    pub tracks_len: u64,
    /// How many calls deep branches belong to the iteration around them, plus one; 0 if no paths are followed.
    pub path_depth: u64,
    /// How runs of loops are told, see [`loop_bits`].
    pub loops: u64,
    pub pad_tracks: [u64; 4],
    /// When faults were let happen, if not from the start; zero until then.
    pub armed_at: u64,
    /// The longest time that the clock word stood still, in nanoseconds.
    pub clock_gap_ns: u64,
    // The words that JVMs change, each on a cache line of its own.
    pub arena_next: u64,
    /// The end of the last allocation that the file system has made: a file that is shorter was cut.
    pub arena_end: u64,
    pub pad_arena: [u64; 6],
    pub jvms_next: u32,
    /// JVMs in which the agent started, whether or not they turned out to be the target.
    pub agents: u32,
    /// See [`armed_state`].
    pub armed: u32,
    /// How many thread dumps the tool has asked for; JVMs sleep on this word.
    pub dump_request: u32,
    /// JVMs among `agents` whose hooks count and write events in Java code.
    pub fast_agents: u32,
    /// How many partitions have begun; JVMs sleep on this word.
    pub partitions: u32,
    /// How often a JVM has followed one of them.
    pub partitions_followed: u32,
    pub pad_jvms: [u32; 9],
    pub taken: u32,
    pub pad_taken: [u32; 15],
    /// The cycle counter as the tool last wrote it here; zero if events have their exact times.
    pub clock: u64,
    pub pad_clock: [u64; 7],
    /// Orders operations over all JVMs: the number of the next one.
    pub sequence: u64,
    pub pad_sequence: [u64; 7],
}

/// The cycle counter and the monotonic clock, read together.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct ClockPair {
    pub ticks: u64,
    pub nanos: u64,
}

/// What became of a candidate, for all JVMs.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct CandidateState {
    pub state: u32,
    pub jvm: u32,
    pub occurrence: u64,
    pub times: u64,
    /// When it happened first, by the monotonic clock.
    pub since: u64,
    /// How long its delays have taken together.
    pub spent: u64,
    /// When the site that its guard waits for was hit last, by the monotonic clock; 0 if never.
    pub mark: u64,
    /// Operations after its site that it made fail or swallowed, and the bytes of those.
    pub operations: u64,
    pub bytes: u64,
}

/// From when on faults may happen.
pub(crate) mod armed_state {
    pub const NOT_YET: u32 = 0;
    pub const FROM_THE_START: u32 = 1;
    pub const LATER: u32 = 2;
}

pub(crate) mod candidate_state {
    pub const OPEN: u32 = 0;
    pub const CLAIMED: u32 = 1;
    pub const INJECTED: u32 = 2;
    pub const REFUSED: u32 = 3;
}

pub(crate) const NODE_MAX: usize = 64;

/// A JVM of the trial: one incarnation of a node.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct JvmSlot {
    pub state: u32,
    pub pid: u32,
    pub start: ClockPair,
    pub counters_at: u64,
    pub classes: u64,
    pub placed: u64,
    pub moved: u64,
    pub refused: u64,
    pub transform_ns: u64,
    pub transform_bytes: u64,
    pub dropped: u64,
    /// Records dropped because the disk or the file's limit was full.
    pub no_room: u64,
    pub node_len: u32,
    pub java_len: u32,
    pub node: [u8; NODE_MAX],
    pub java: [u8; NODE_MAX],
    /// The last request for a thread dump that was answered, and in a bit above it whether that failed: one word, so
    /// that both change at once.
    pub dumped: u64,
    /// How many decisions those that were timed stand for, and how long these took together.
    pub decisions_timed: u64,
    pub decision_ticks: u64,
}

/// The bit of [`JvmSlot::dumped`] that says that there is no dump.
pub(crate) const DUMP_FAILED: u64 = 1 << 32;

pub(crate) mod jvm_state {
    pub const LIVE: u32 = 1;
    pub const ENDED: u32 = 2;
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct ChunkHeader {
    pub magic: u64,
    pub size: u64,
    pub kind: u32,
    pub jvm: u32,
    pub stream: u32,
    /// The thread that wrote the first record, unless a record says otherwise.
    pub thread: u32,
    /// Orders the chunks of a stream; a chunk that is used again gets a new one.
    pub sequence: u64,
    /// Bytes of complete records after this header.
    pub used: u64,
    pub records: u64,
    /// The state and the calling context of that thread, likewise.
    pub state: u32,
    pub context: u32,
}

pub(crate) mod chunk_kind {
    /// Counters of a JVM: a `u64` a site, then a `u64` a candidate, then a `u64` a site for the hits that saw something true.
    pub const COUNTERS: u32 = 1;
    /// Events of threads.
    pub const RING: u32 = 2;
    /// Strings, stacks, threads, reports: never dropped.
    pub const DICTIONARY: u32 = 3;
}

/// The kinds of records in a chunk.
pub(crate) mod record {
    /// Ring: a site was hit.
    pub const HIT: u8 = 1;
    /// Ring: the records that follow are of another thread (its serial number).
    pub const SWITCH: u8 = 2;
    /// Ring: the records that follow are made in another state; the flags say how it came to that.
    pub const STATE: u8 = 9;
    /// Ring: the records that follow are made in another calling context.
    pub const CONTEXT: u8 = 10;
    /// Ring: a loop was left, after so many iterations.
    pub const LOOP: u8 = 11;
    /// Dictionary: a calling context, by its parent and the entry of its method.
    pub const NODE: u8 = 12;
    /// Dictionary: the branches of an iteration or a method, in order.
    pub const PATH: u8 = 13;
    /// Dictionary: the iterations of a loop in a calling context; the count goes on after the record was written.
    pub const TALLY: u8 = 14;
    /// Ring: an operation ended, or began if its places in the order are one; the flags have its kind.
    pub const OPERATION: u8 = 15;
    /// Ring: a site was hit and saw something; the flags have which part of it, and of which kind.
    pub const VALUE: u8 = 16;
    /// Dictionary: a string.
    pub const STRING: u8 = 3;
    /// Dictionary: a stack, as pairs of method string and location string.
    pub const STACK: u8 = 4;
    /// Dictionary: a thread got its serial number.
    pub const THREAD: u8 = 5;
    /// Dictionary: a fault happens now.
    pub const INJECTED: u8 = 6;
    /// Dictionary: something did not work.
    pub const REPORT: u8 = 7;
    /// Dictionary: a class was patched.
    pub const PATCHED: u8 = 8;
}

/// How runs of loops are told.
pub(crate) mod loop_bits {
    /// Each run has a record.
    pub const RUNS: u64 = 1;
    /// Iterations are counted by calling context.
    pub const COUNTS: u64 = 2;
}

/// How a thread came into a state, as flags of [`record::STATE`].
pub(crate) mod came_by {
    /// It is what the thread did before, said once more.
    pub const NOTHING: u8 = 0;
    pub const ENTER: u8 = 1;
    pub const REACH: u8 = 2;
    pub const LEAVE: u8 = 3;
}

/// The first word of the event of a hit of site 0 that says nothing more: the site goes into the upper half, flags into bits 8 to 15.
pub const fn plain_hit_word() -> u64 {
    record::HIT as u64 | 2 << 16
}

/// The first word of every record: kind, flags, length in words (this one included), subject. The second word is
/// the time in ticks.
pub(crate) fn record_word(kind: u8, flags: u8, words: u16, subject: u32) -> u64 {
    u64::from(kind) | u64::from(flags) << 8 | u64::from(words) << 16 | u64::from(subject) << 32
}

pub(crate) fn round_up(value: u64, unit: u64) -> u64 {
    value.div_ceil(unit) * unit
}

const _: () = {
    assert!(size_of::<ChunkHeader>() == 64);
    assert!(size_of::<CandidateState>() == 64);
    assert!(size_of::<JvmSlot>().is_multiple_of(8));
    assert!(std::mem::offset_of!(Header, arena_next).is_multiple_of(64));
    assert!(std::mem::offset_of!(Header, taken).is_multiple_of(64));
    assert!(std::mem::offset_of!(Header, clock).is_multiple_of(64));
    assert!(std::mem::offset_of!(Header, sequence).is_multiple_of(64));
};
