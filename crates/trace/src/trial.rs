//! The trial's file as its writers see it: made by the tool, opened by every JVM.

use std::fs::{File, OpenOptions};
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use memmap2::{MmapOptions, MmapRaw};
use zerocopy::{FromBytes, IntoBytes};

use crate::armed::{self, ArmedPlan, ArmedRepeat};
use crate::futex;
use crate::layout::{
    CandidateState, ChunkHeader, ClockPair, DUMP_FAILED, GRANULE, Header, JVMS_MAX, JvmSlot, MAGIC,
    TRACE_VERSION, armed_state, candidate_state, jvm_state, loop_bits, round_up,
};
use crate::steps::{self, ArmedStep};
use crate::tracks::{self, ArmedTrack};
use crate::{TraceError, clock};

/// The most that a trial's file may grow to: beyond it events are dropped and counted.
const ARENA_MAX_BYTES: u64 = 64 << 30;

/// What the tool puts into a new trial's file.
#[derive(Debug, Clone)]
pub struct TrialSpec {
    /// The number of the trial.
    pub trial: u64,
    /// The seed of the trial.
    pub seed: u64,
    /// How many candidates may be injected.
    pub limit: u32,
    /// Whether faults may happen from the start, or only after [`TrialFile::arm`].
    pub armed: bool,
    /// The digest of the instrumentation map.
    pub map_digest: u64,
    /// The level of each site (see [`crate::level`]).
    pub levels: Vec<u8>,
    /// What may happen.
    pub plan: ArmedPlan,
    /// Where threads change their state.
    pub steps: Vec<ArmedStep>,
    /// Where the trails of threads lead.
    pub tracks: Vec<ArmedTrack>,
    /// How many calls deep branches belong to the iteration around them, if paths are followed.
    pub path_depth: Option<u32>,
    /// Whether each run of a loop has a record.
    pub loop_runs: bool,
    /// Whether the iterations of loops are counted by calling context.
    pub loop_counts: bool,
    /// How many frames a recorded stack keeps.
    pub stack_frames: u32,
    /// How much a thread's ring keeps.
    pub ring_bytes: u32,
    /// Grow instead of dropping.
    pub lossless: bool,
    /// Whether native code serves every hook, also what Java code could.
    pub native: bool,
    /// Whether the tool keeps a clock word for events, see [`crate::TrialControl::tick`].
    pub ticking: bool,
}

/// The file of a trial, mapped up to its arena.
#[derive(Debug)]
pub struct TrialFile {
    file: File,
    base: MmapRaw,
    header: Header,
    path: PathBuf,
}

/// Makes the file system give the file these bytes for real.
fn allocate_for_real(file: &File, at: u64, len: u64) -> std::io::Result<()> {
    let overflow = |_| std::io::Error::from(std::io::ErrorKind::InvalidInput);
    let (at, len) = (at.try_into().map_err(overflow)?, len.try_into().map_err(overflow)?);
    loop {
        // SAFETY: the descriptor is open for as long as `file` is borrowed.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), at, len) } {
            0 => return Ok(()),
            libc::EINTR => continue,
            code => return Err(std::io::Error::from_raw_os_error(code)),
        }
    }
}

/// Makes a new trial's file; one that is there already is an error, because a run that reuses an old file silently
/// injects nothing.
pub(crate) fn write_new(path: &Path, spec: &TrialSpec) -> Result<(), TraceError> {
    let io = |source| TraceError::Io { path: path.display().to_string(), source };
    let plan = armed::encode(&spec.plan);
    let steps = steps::encode(&spec.steps);
    let tracks = tracks::encode(&spec.tracks);
    let levels_at = round_up(size_of::<Header>() as u64, 64);
    let plan_at = round_up(levels_at + spec.levels.len() as u64, 64);
    let steps_at = round_up(plan_at + plan.len() as u64, 64);
    let tracks_at = round_up(steps_at + steps.len() as u64, 64);
    let states_at = round_up(tracks_at + tracks.len() as u64, 64);
    let jvms_at = states_at + (spec.plan.candidates.len() * size_of::<CandidateState>()) as u64;
    let arena_at = round_up(jvms_at + u64::from(JVMS_MAX) * size_of::<JvmSlot>() as u64, GRANULE);
    let header = Header {
        magic: MAGIC,
        version: TRACE_VERSION,
        site_count: spec.levels.len() as u32,
        candidate_count: spec.plan.candidates.len() as u32,
        limit: spec.limit,
        trial: spec.trial,
        seed: spec.seed,
        map_digest: spec.map_digest,
        levels_at,
        plan_at,
        plan_len: plan.len() as u64,
        states_at,
        jvms_at,
        arena_at,
        arena_max: arena_at + ARENA_MAX_BYTES,
        ring_bytes: spec.ring_bytes,
        lossless: spec.lossless.into(),
        stack_frames: spec.stack_frames,
        native: spec.native.into(),
        start: clock::pair(),
        end: ClockPair::default(),
        wall_start_ms: std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |time| time.as_millis() as u64),
        steps_at,
        steps_len: steps.len() as u64,
        tracks_at,
        tracks_len: tracks.len() as u64,
        path_depth: spec.path_depth.map_or(0, |it| u64::from(it) + 1),
        loops: u64::from(spec.loop_runs) * loop_bits::RUNS + u64::from(spec.loop_counts) * loop_bits::COUNTS,
        pad_tracks: [0; 4],
        armed_at: 0,
        clock_gap_ns: 0,
        arena_next: arena_at,
        arena_end: arena_at,
        pad_arena: [0; 6],
        jvms_next: 0,
        agents: 0,
        armed: if spec.armed { armed_state::FROM_THE_START } else { armed_state::NOT_YET },
        dump_request: 0,
        fast_agents: 0,
        partitions: 0,
        partitions_followed: 0,
        pad_jvms: [0; 9],
        taken: 0,
        pad_taken: [0; 15],
        clock: if spec.ticking { clock::ticks() } else { 0 },
        pad_clock: [0; 7],
        sequence: 1,
        pad_sequence: [0; 7],
    };
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path).map_err(io)?;
    allocate_for_real(&file, 0, arena_at).map_err(io)?;
    let sections: [(u64, &[u8]); 5] = [
        (0, header.as_bytes()),
        (levels_at, &spec.levels),
        (plan_at, &plan),
        (steps_at, &steps),
        (tracks_at, &tracks),
    ];
    for (at, bytes) in sections {
        file.write_all_at(bytes, at).map_err(io)?;
    }
    Ok(())
}

/// Reads the header of a trial's file.
pub(crate) fn read_header(file: &File, path: &Path) -> Result<Header, TraceError> {
    let io = |source| TraceError::Io { path: path.display().to_string(), source };
    let mut bytes = [0; size_of::<Header>()];
    file.read_exact_at(&mut bytes, 0).map_err(io)?;
    let header = Header::read_from_bytes(&bytes).map_err(|_| TraceError::Malformed("no header"))?;
    check_header(&header, file.metadata().map_err(io)?.len())?;
    Ok(header)
}

impl TrialFile {
    /// Makes a new file, and opens it.
    pub fn create(path: &Path, spec: &TrialSpec) -> Result<TrialFile, TraceError> {
        write_new(path, spec)?;
        TrialFile::open(path)
    }

    /// Opens a trial's file to take part in the trial.
    pub fn open(path: &Path) -> Result<TrialFile, TraceError> {
        let io = |source| TraceError::Io { path: path.display().to_string(), source };
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(io)?;
        let header = read_header(&file, path)?;
        let base = MmapOptions::new().len(header.arena_at as usize).map_raw(&file).map_err(io)?;
        Ok(TrialFile { file, base, header, path: path.to_owned() })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn word64(&self, at: u64) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.header.arena_at);
        // SAFETY: the place is aligned and inside the mapping, which lives as long as the borrow.
        unsafe { AtomicU64::from_ptr(self.base.as_mut_ptr().add(at as usize).cast()) }
    }

    fn word32(&self, at: u64) -> &AtomicU32 {
        assert!(at.is_multiple_of(4) && at + 4 <= self.header.arena_at);
        // SAFETY: the place is aligned and inside the mapping, which lives as long as the borrow.
        unsafe { AtomicU32::from_ptr(self.base.as_mut_ptr().add(at as usize).cast()) }
    }

    fn copy_out(&self, at: u64, len: usize) -> Vec<u8> {
        assert!(at + len as u64 <= self.header.arena_at);
        let mut out = vec![0; len];
        // SAFETY: the range is inside the mapping; it holds what the tool wrote before any JVM started.
        unsafe { std::ptr::copy_nonoverlapping(self.base.as_ptr().add(at as usize), out.as_mut_ptr(), len) };
        out
    }

    fn copy_in(&self, at: u64, bytes: &[u8]) {
        assert!(at + bytes.len() as u64 <= self.header.arena_at);
        // SAFETY: the range is inside the mapping and belongs to the caller's own slot.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.base.as_mut_ptr().add(at as usize),
                bytes.len(),
            );
        }
    }

    /// The level of each site.
    pub fn levels(&self) -> Vec<u8> {
        self.copy_out(self.header.levels_at, self.header.site_count as usize)
    }

    /// What may happen.
    pub fn plan(&self) -> Result<ArmedPlan, TraceError> {
        armed::decode(&self.copy_out(self.header.plan_at, self.header.plan_len as usize))
    }

    /// Where threads change their state.
    pub fn steps(&self) -> Result<Vec<ArmedStep>, TraceError> {
        steps::decode(&self.copy_out(self.header.steps_at, self.header.steps_len as usize))
    }

    /// Where the trails of threads lead.
    pub fn tracks(&self) -> Result<Vec<ArmedTrack>, TraceError> {
        tracks::decode(&self.copy_out(self.header.tracks_at, self.header.tracks_len as usize))
    }

    /// How many calls deep branches belong to the iteration around them, if paths are followed.
    pub fn path_depth(&self) -> Option<u32> {
        self.header.path_depth.checked_sub(1).map(|it| u32::try_from(it).unwrap_or(u32::MAX))
    }

    /// Whether each run of a loop has a record.
    pub fn loop_runs(&self) -> bool {
        self.header.loops & loop_bits::RUNS != 0
    }

    /// Whether the iterations of loops are counted by calling context.
    pub fn loop_counts(&self) -> bool {
        self.header.loops & loop_bits::COUNTS != 0
    }

    /// The digest of the map that the sites are numbered by.
    pub fn map_digest(&self) -> u64 {
        self.header.map_digest
    }

    /// The number of sites.
    pub fn site_count(&self) -> u32 {
        self.header.site_count
    }

    /// The number of candidates.
    pub fn candidate_count(&self) -> u32 {
        self.header.candidate_count
    }

    /// The seed of the trial.
    pub fn seed(&self) -> u64 {
        self.header.seed
    }

    /// How many frames a recorded stack keeps.
    pub fn stack_frames(&self) -> u32 {
        self.header.stack_frames
    }

    /// Whether native code serves every hook.
    pub fn wants_native(&self) -> bool {
        self.header.native != 0
    }

    pub(crate) fn lossless(&self) -> bool {
        self.header.lossless != 0
    }

    pub(crate) fn ring_bytes(&self) -> u64 {
        u64::from(self.header.ring_bytes)
    }

    /// The clock word, if the tool keeps one. It lies in the mapping, which lives as long as this.
    pub fn clock_word(&self) -> Option<&AtomicU64> {
        let word = self.word64(offset_of!(Header, clock) as u64);
        (word.load(Ordering::Relaxed) != 0).then_some(word)
    }

    /// The next number by which operations are ordered, over all JVMs.
    pub fn next_sequence(&self) -> u64 {
        self.word64(offset_of!(Header, sequence) as u64).fetch_add(1, Ordering::AcqRel)
    }

    /// Says that the agent started in one more JVM.
    pub fn agent_started(&self) {
        self.word32(offset_of!(Header, agents) as u64).fetch_add(1, Ordering::Relaxed);
    }

    /// Says that hooks run in Java code in this JVM.
    pub fn agent_is_fast(&self) {
        self.word32(offset_of!(Header, fast_agents) as u64).fetch_add(1, Ordering::Relaxed);
    }

    /// Whether faults may happen.
    pub fn is_armed(&self) -> bool {
        self.word32(offset_of!(Header, armed) as u64).load(Ordering::Acquire) != armed_state::NOT_YET
    }

    /// Whether faults may happen only from some moment of the trial on, so that hits before it do not count.
    pub fn arms_later(&self) -> bool {
        let armed = self.word32(offset_of!(Header, armed) as u64).load(Ordering::Acquire);
        armed != armed_state::FROM_THE_START
    }

    /// The number of the last request for a thread dump; 0 if there was none.
    pub fn dump_request(&self) -> u32 {
        self.word32(offset_of!(Header, dump_request) as u64).load(Ordering::Acquire)
    }

    /// Sleeps until there is another request for a thread dump than the one that is known, and returns its number. An
    /// error is the kernel's: it cannot sleep on a word of this file.
    pub fn wait_for_dump_request(&self, known: u32) -> std::io::Result<u32> {
        let word = self.word32(offset_of!(Header, dump_request) as u64);
        loop {
            let request = word.load(Ordering::Acquire);
            if request != known {
                return Ok(request);
            }
            futex::wait(word, known, None)?;
        }
    }

    /// Says that a JVM has answered a request for a thread dump, or could not.
    /// How many partitions have begun.
    pub fn partitions_begun(&self) -> u32 {
        self.word32(offset_of!(Header, partitions) as u64).load(Ordering::Acquire)
    }

    /// Sleeps until there are more partitions than are known, or for so long at the most.
    pub fn wait_for_partition(&self, known: u32, most: Option<Duration>) -> std::io::Result<()> {
        futex::wait(self.word32(offset_of!(Header, partitions) as u64), known, most)
    }

    /// Says that this JVM has cut the connections of the partition that began last.
    pub fn partition_is_followed(&self) {
        let word = self.word32(offset_of!(Header, partitions_followed) as u64);
        word.fetch_add(1, Ordering::AcqRel);
        futex::wake_all(word.as_ptr());
    }

    /// Says that a partition has begun, and waits until so many JVMs have cut their connections, or for so long at the most.
    pub fn begin_partition(&self, jvms: u32, most: Duration) {
        let followed = self.word32(offset_of!(Header, partitions_followed) as u64);
        let before = followed.load(Ordering::Acquire);
        let begun = self.word32(offset_of!(Header, partitions) as u64);
        begun.fetch_add(1, Ordering::AcqRel);
        futex::wake_all(begun.as_ptr());
        let end = Instant::now() + most;
        loop {
            let now = followed.load(Ordering::Acquire);
            let left = end.saturating_duration_since(Instant::now());
            if now.wrapping_sub(before) >= jvms
                || left.is_zero()
                || futex::wait(followed, now, Some(left)).is_err()
            {
                return;
            }
        }
    }

    /// The JVMs that have joined and not ended in good order: node and process.
    pub fn live_jvms(&self) -> Vec<(String, u32)> {
        let joined = self.word32(offset_of!(Header, jvms_next) as u64).load(Ordering::Acquire).min(JVMS_MAX);
        let slot = |jvm: u32| {
            let at = self.slot_at(jvm);
            let state = self.word32(at + offset_of!(JvmSlot, state) as u64).load(Ordering::Acquire);
            if state != jvm_state::LIVE {
                return None;
            }
            JvmSlot::read_from_bytes(&self.copy_out(at, size_of::<JvmSlot>())).ok()
        };
        let named = |it: JvmSlot| {
            let len = (it.node_len as usize).min(it.node.len());
            (String::from_utf8_lossy(&it.node[..len]).into_owned(), it.pid)
        };
        (0..joined).filter_map(slot).map(named).collect()
    }

    pub(crate) fn set_dumped(&self, jvm: u32, request: u32, failed: bool) {
        let mark = if failed { DUMP_FAILED } else { 0 };
        let word = self.slot_word(jvm, offset_of!(JvmSlot, dumped));
        word.store(u64::from(request) | mark, Ordering::Release);
    }

    fn state_at(&self, candidate: u32) -> u64 {
        assert!(candidate < self.header.candidate_count);
        self.header.states_at + u64::from(candidate) * size_of::<CandidateState>() as u64
    }

    /// Takes a candidate for the calling thread, if nobody has it.
    pub fn claim(&self, candidate: u32) -> bool {
        self.word32(self.state_at(candidate))
            .compare_exchange(
                candidate_state::OPEN,
                candidate_state::CLAIMED,
                Ordering::AcqRel,
                Ordering::Acquire,
            )
            .is_ok()
    }

    /// Gives a claimed candidate back.
    pub fn unclaim(&self, candidate: u32) {
        self.word32(self.state_at(candidate)).store(candidate_state::OPEN, Ordering::Release);
    }

    /// Whether the limit has been used up.
    #[inline]
    pub fn limit_reached(&self) -> bool {
        self.word32(offset_of!(Header, taken) as u64).load(Ordering::Relaxed) >= self.header.limit
    }

    /// Takes one of the faults that the plan allows, for all JVMs; false if none is left.
    pub fn take_limit(&self) -> bool {
        self.word32(offset_of!(Header, taken) as u64)
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
                (taken < self.header.limit).then_some(taken + 1)
            })
            .is_ok()
    }

    /// Whether a thread has taken the candidate and not injected it yet.
    pub fn is_claimed(&self, candidate: u32) -> bool {
        self.word32(self.state_at(candidate)).load(Ordering::Acquire) == candidate_state::CLAIMED
    }

    /// Whether this candidate has been injected.
    pub fn is_injected(&self, candidate: u32) -> bool {
        self.word32(self.state_at(candidate)).load(Ordering::Acquire) == candidate_state::INJECTED
    }

    /// Says that a claimed candidate happens now, in `jvm`, at its n-th matching hit, for `cost` nanoseconds if it is a delay.
    pub fn set_injected(&self, candidate: u32, jvm: u32, occurrence: u64, cost: u64) {
        let at = self.state_at(candidate);
        self.word32(at + offset_of!(CandidateState, jvm) as u64).store(jvm, Ordering::Relaxed);
        self.word64(at + offset_of!(CandidateState, occurrence) as u64).store(occurrence, Ordering::Relaxed);
        self.word64(at + offset_of!(CandidateState, times) as u64).store(1, Ordering::Relaxed);
        self.word64(at + offset_of!(CandidateState, since) as u64).store(clock::nanos(), Ordering::Relaxed);
        self.word64(at + offset_of!(CandidateState, spent) as u64).store(cost, Ordering::Relaxed);
        self.word32(at).store(candidate_state::INJECTED, Ordering::Release);
    }

    fn candidate_word(&self, candidate: u32, offset: usize) -> &AtomicU64 {
        self.word64(self.state_at(candidate) + offset as u64)
    }

    /// Whether an injected candidate happens once more, for `cost` nanoseconds if it is a delay. If so, that is counted.
    pub fn happens_again(&self, candidate: u32, repeat: ArmedRepeat, cost: u64) -> bool {
        let times = self.candidate_word(candidate, offset_of!(CandidateState, times));
        let below = |word: &AtomicU64, by: u64, limit: u64| {
            let step = |now: u64| (now < limit).then_some(now.saturating_add(by));
            word.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).is_ok()
        };
        let more = match repeat {
            ArmedRepeat::Once => false,
            ArmedRepeat::Always => true,
            ArmedRepeat::Nanos(length) => {
                let since = self.candidate_word(candidate, offset_of!(CandidateState, since));
                clock::nanos().saturating_sub(since.load(Ordering::Relaxed)) < length
            }
            ArmedRepeat::Times(limit) => return below(times, 1, limit),
            ArmedRepeat::TotalNanos(limit) => {
                below(self.candidate_word(candidate, offset_of!(CandidateState, spent)), cost, limit)
            }
        };
        if more {
            times.fetch_add(1, Ordering::Relaxed);
        }
        more
    }

    /// Tests whether an injected candidate that goes on after its site has not ended.
    pub fn lasts(&self, candidate: u32, repeat: ArmedRepeat) -> bool {
        self.is_injected(candidate)
            && match repeat {
                ArmedRepeat::Nanos(length) => {
                    let since = self.candidate_word(candidate, offset_of!(CandidateState, since));
                    clock::nanos().saturating_sub(since.load(Ordering::Relaxed)) < length
                }
                _ => true,
            }
    }

    /// Adds an operation to those that a candidate made fail or swallowed.
    pub fn affect(&self, candidate: u32, bytes: u64) {
        for (offset, by) in
            [(offset_of!(CandidateState, operations), 1), (offset_of!(CandidateState, bytes), bytes)]
        {
            self.candidate_word(candidate, offset).fetch_add(by, Ordering::Relaxed);
        }
    }

    /// Says that the site was hit now that a candidate's guard waits for.
    pub fn mark(&self, candidate: u32) {
        let mark = self.candidate_word(candidate, offset_of!(CandidateState, mark));
        mark.store(clock::nanos(), Ordering::Release);
    }

    /// How long it is since the site was hit that a candidate's guard waits for; none if it never was.
    pub fn since_mark(&self, candidate: u32) -> Option<u64> {
        let mark = self.candidate_word(candidate, offset_of!(CandidateState, mark)).load(Ordering::Acquire);
        (mark != 0).then(|| clock::nanos().saturating_sub(mark))
    }

    /// From now on faults may happen, if they might not before.
    pub fn arm(&self) {
        let armed = self.word32(offset_of!(Header, armed) as u64);
        if armed.load(Ordering::Relaxed) == armed_state::NOT_YET {
            self.word64(offset_of!(Header, armed_at) as u64).store(clock::ticks(), Ordering::Relaxed);
            armed.store(armed_state::LATER, Ordering::Release);
        }
    }

    /// Says that a thread waits at a claimed candidate from now on, which is its n-th matching hit.
    pub fn set_waiting(&self, candidate: u32, occurrence: u64) {
        self.candidate_word(candidate, offset_of!(CandidateState, occurrence))
            .store(occurrence, Ordering::Relaxed);
        let since = self.candidate_word(candidate, offset_of!(CandidateState, since));
        since.store(clock::nanos(), Ordering::Release);
    }

    /// The hit at which a thread waits at a claimed candidate, and how long it has waited.
    pub fn waiting(&self, candidate: u32) -> (u64, u64) {
        let since = self.candidate_word(candidate, offset_of!(CandidateState, since)).load(Ordering::Acquire);
        let occurrence = self.candidate_word(candidate, offset_of!(CandidateState, occurrence));
        (occurrence.load(Ordering::Relaxed), clock::nanos().saturating_sub(since))
    }

    /// Says that a claimed candidate cannot be done.
    pub fn set_refused(&self, candidate: u32) {
        self.word32(self.state_at(candidate)).store(candidate_state::REFUSED, Ordering::Release);
    }

    /// Takes the next free JVM slot, or none if the trial has more JVMs than it can hold.
    pub(crate) fn take_slot(&self) -> Option<u32> {
        self.word32(offset_of!(Header, jvms_next) as u64)
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |next| (next < JVMS_MAX).then_some(next + 1))
            .ok()
    }

    fn slot_at(&self, jvm: u32) -> u64 {
        self.header.jvms_at + u64::from(jvm) * size_of::<JvmSlot>() as u64
    }

    pub(crate) fn write_slot(&self, jvm: u32, slot: &JvmSlot) {
        self.copy_in(self.slot_at(jvm), slot.as_bytes());
    }

    pub(crate) fn slot_word(&self, jvm: u32, offset: usize) -> &AtomicU64 {
        self.word64(self.slot_at(jvm) + offset as u64)
    }

    pub(crate) fn set_slot_state(&self, jvm: u32, state: u32) {
        self.word32(self.slot_at(jvm) + offset_of!(JvmSlot, state) as u64).store(state, Ordering::Release);
    }

    pub(crate) fn add_dropped(&self, jvm: u32, records: u64) {
        self.slot_word(jvm, offset_of!(JvmSlot, dropped)).fetch_add(records, Ordering::Relaxed);
    }

    pub(crate) fn add_no_room(&self, jvm: u32, records: u64) {
        self.slot_word(jvm, offset_of!(JvmSlot, no_room)).fetch_add(records, Ordering::Relaxed);
    }

    pub(crate) fn add_decisions(&self, jvm: u32, ticks: u64, decisions: u64) {
        self.slot_word(jvm, offset_of!(JvmSlot, decisions_timed)).fetch_add(decisions, Ordering::Relaxed);
        self.slot_word(jvm, offset_of!(JvmSlot, decision_ticks)).fetch_add(ticks, Ordering::Relaxed);
    }

    /// Room in the arena, allocated for real and mapped; none if the disk or the file's limit is full.
    pub(crate) fn allocate(&self, size: u64) -> Option<(MmapRaw, u64)> {
        let size = round_up(size, GRANULE);
        let (at, size) = self.allocate_at(size)?;
        let map = MmapOptions::new().offset(at).len(size as usize).map_raw(&self.file).ok()?;
        Some((map, size))
    }

    fn allocate_at(&self, size: u64) -> Option<(u64, u64)> {
        let next = self.word64(offset_of!(Header, arena_next) as u64);
        let at = next
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |at| {
                (at + size <= self.header.arena_max).then_some(at + size)
            })
            .ok()?;
        if allocate_for_real(&self.file, at, size).is_err() {
            // Given back, so that the file does not grow with every attempt. Where somebody was given the place behind
            // it meanwhile, a hole stays, which readers step over.
            let _ = next.compare_exchange(at + size, at, Ordering::AcqRel, Ordering::Relaxed);
            return None;
        }
        self.word64(offset_of!(Header, arena_end) as u64).fetch_max(at + size, Ordering::AcqRel);
        Some((at, size))
    }

    /// A chunk whose place the caller wants to know: the header is the caller's to write.
    pub(crate) fn allocate_known(&self, size: u64) -> Option<(MmapRaw, u64, u64)> {
        let (at, size) = self.allocate_at(round_up(size + size_of::<ChunkHeader>() as u64, GRANULE))?;
        let map = MmapOptions::new().offset(at).len(size as usize).map_raw(&self.file).ok()?;
        Some((map, at, size))
    }
}

/// Refuses what this version does not know, and offsets that do not fit the file.
pub(crate) fn check_header(header: &Header, file_len: u64) -> Result<(), TraceError> {
    if header.magic != MAGIC {
        return Err(TraceError::Malformed("the file is something else"));
    }
    if header.version != TRACE_VERSION {
        return Err(TraceError::Version { found: header.version });
    }
    let sections = [
        (header.levels_at, u64::from(header.site_count)),
        (header.plan_at, header.plan_len),
        (header.steps_at, header.steps_len),
        (header.tracks_at, header.tracks_len),
        (header.states_at, u64::from(header.candidate_count) * size_of::<CandidateState>() as u64),
        (header.jvms_at, u64::from(JVMS_MAX) * size_of::<JvmSlot>() as u64),
    ];
    let mut from = size_of::<Header>() as u64;
    for (at, len) in sections {
        let end = at.checked_add(len).ok_or(TraceError::Malformed("an offset is out of range"))?;
        if at < from || !at.is_multiple_of(8) || end > header.arena_at {
            return Err(TraceError::Malformed("the sections overlap"));
        }
        from = end;
    }
    if header.arena_at.max(header.arena_end) > file_len || !header.arena_at.is_multiple_of(GRANULE) {
        return Err(TraceError::Malformed("the file is cut short"));
    }
    Ok(())
}
