//! The trial's file as the tool holds it while the trial runs.
//!
//! The workload can reach the file, and may cut it short. Whoever looks at what is gone through a mapping is ended by SIGBUS, so
//! the tool reads and writes the file by calls, whose failure is an error like any other. JVMs see at once what is written so:
//! their mappings show the same pages.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memmap2::MmapOptions;
use zerocopy::{FromBytes, IntoBytes};

use crate::layout::{
    CandidateState, Header, JVMS_MAX, JvmSlot, NODE_MAX, armed_state, candidate_state, jvm_state,
};
use crate::trial::{self, TrialSpec};
use crate::{TraceError, clock, futex};

/// A JVM that has not answered a request for a thread dump yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingDump {
    /// Its number in the trial.
    pub jvm: u32,
    /// The node.
    pub node: String,
    /// The process, as seen from inside its own namespace.
    pub pid: u32,
}

/// See the module.
#[derive(Debug)]
pub struct TrialControl {
    file: File,
    header: Header,
    path: PathBuf,
}

impl TrialControl {
    /// Makes a new file; one that is there already is an error, because a run that reuses an old file silently
    /// injects nothing.
    pub fn create(path: &Path, spec: &TrialSpec) -> Result<TrialControl, TraceError> {
        trial::write_new(path, spec)?;
        TrialControl::open(path)
    }

    /// Opens the file of a trial that runs.
    pub fn open(path: &Path) -> Result<TrialControl, TraceError> {
        let io = |source| TraceError::Io { path: path.display().to_string(), source };
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(io)?;
        let header = trial::read_header(&file, path)?;
        Ok(TrialControl { file, header, path: path.to_owned() })
    }

    fn error(&self, source: std::io::Error) -> TraceError {
        let path = self.path.display().to_string();
        match source.kind() {
            ErrorKind::UnexpectedEof => TraceError::Cut { path },
            _ => TraceError::Io { path, source },
        }
    }

    fn read<T: FromBytes + IntoBytes>(&self, at: u64) -> Result<T, TraceError> {
        let mut value = T::new_zeroed();
        self.file.read_exact_at(value.as_mut_bytes(), at).map_err(|source| self.error(source))?;
        Ok(value)
    }

    /// Writes into what every trial's file has. One that was cut short is left so, rather than filled with a hole.
    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), TraceError> {
        let len = self.file.metadata().map_err(|source| self.error(source))?.len();
        if len < self.header.arena_at {
            return Err(self.error(ErrorKind::UnexpectedEof.into()));
        }
        self.file.write_all_at(bytes, at).map_err(|source| self.error(source))
    }

    /// Writes into the header without looking at the file's length first: a header that was cut off would be filled by a hole, and
    /// every other access reports that.
    fn write_at_once(&self, at: u64, bytes: &[u8]) -> Result<(), TraceError> {
        self.file.write_all_at(bytes, at).map_err(|source| self.error(source))
    }

    /// From now on faults may happen, if they might not before.
    pub fn arm(&self) -> Result<(), TraceError> {
        let armed: u32 = self.read(offset_of!(Header, armed) as u64)?;
        if armed == armed_state::NOT_YET {
            self.write(offset_of!(Header, armed_at) as u64, clock::ticks().as_bytes())?;
            self.write(offset_of!(Header, armed) as u64, armed_state::LATER.as_bytes())?;
        }
        Ok(())
    }

    /// Sets the clock word to now, and returns now in ticks.
    pub fn tick(&self) -> Result<u64, TraceError> {
        let now = clock::ticks();
        self.write_at_once(offset_of!(Header, clock) as u64, now.as_bytes())?;
        Ok(now)
    }

    /// Says for how long the clock word stood still at the most.
    pub fn set_clock_gap(&self, nanos: u64) -> Result<(), TraceError> {
        self.write(offset_of!(Header, clock_gap_ns) as u64, nanos.as_bytes())
    }

    /// Whether events have the time of the clock word.
    pub fn wants_ticks(&self) -> bool {
        self.header.clock != 0
    }

    /// Says that no JVM of the trial writes any more, and when that was.
    pub fn end(&self) -> Result<(), TraceError> {
        self.write(offset_of!(Header, end) as u64, clock::pair().as_bytes())
    }

    /// Whether a candidate has been injected.
    pub fn is_injected(&self, candidate: u32) -> Result<bool, TraceError> {
        assert!(candidate < self.header.candidate_count);
        let at = self.header.states_at + u64::from(candidate) * size_of::<CandidateState>() as u64;
        Ok(self.read::<u32>(at)? == candidate_state::INJECTED)
    }

    /// Asks every JVM that has joined the trial for a dump of its threads, and returns the number of the request. The
    /// dumps appear beside the trial's file, as `dumps/<node>-<pid>-<number>.json`; [`TrialControl::dumps_pending`] says
    /// who has not answered yet. A JVM that is asked again before it could answer answers once, to the later request.
    pub fn request_dump(&self) -> Result<u32, TraceError> {
        let at = offset_of!(Header, dump_request);
        let request = self.read::<u32>(at as u64)?.wrapping_add(1);
        self.write(at as u64, request.as_bytes())?;
        // The kernel knows who sleeps by the file and the place, and is told them by an address that nobody looks at.
        let page = MmapOptions::new().len(size_of::<Header>()).map_raw(&self.file);
        let page = page.map_err(|source| self.error(source))?;
        futex::wake_all(page.as_ptr().wrapping_add(at).cast());
        Ok(request)
    }

    /// The JVMs that had joined before a request for a thread dump and have neither answered it nor ended in good order.
    /// One that was killed stays in this list: whether its process still lives is for the caller to find out.
    pub fn dumps_pending(&self, request: u32) -> Result<Vec<PendingDump>, TraceError> {
        let count = self.read::<u32>(offset_of!(Header, jvms_next) as u64)?.min(JVMS_MAX);
        let mut pending = Vec::new();
        for jvm in 0..count {
            let at = self.header.jvms_at + u64::from(jvm) * size_of::<JvmSlot>() as u64;
            // Everything else in a slot is written before its state.
            if self.read::<u32>(at + offset_of!(JvmSlot, state) as u64)? != jvm_state::LIVE {
                continue;
            }
            let slot: JvmSlot = self.read(at)?;
            // The bit above the number says that there is no dump.
            if slot.dumped as u32 >= request {
                continue;
            }
            let len = (slot.node_len as usize).min(NODE_MAX);
            let node = String::from_utf8_lossy(&slot.node[..len]).into_owned();
            pending.push(PendingDump { jvm, node, pid: slot.pid });
        }
        Ok(pending)
    }
}
