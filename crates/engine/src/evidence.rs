//! Evidence of a trial, as bytes in memory: an engine reads it without touching a file.

use hypocenter_plan::ThreadDump;
use hypocenter_trace::{Map, MapError, Trace, TraceError};
use memmap2::Mmap;

/// The evidence of one trial.
#[derive(Debug)]
pub struct Evidence {
    map: Mmap,
    trace: Mmap,
    logs: Vec<LogBytes>,
    dumps: Vec<ThreadDump>,
}

/// Output of a process.
#[derive(Debug)]
pub struct LogBytes {
    /// The node or client.
    pub process: String,
    /// Index among the processes of this name.
    pub incarnation: u32,
    /// Its place in the trial's directory: no two logs of a trial have the same.
    pub path: String,
    /// Its bytes.
    pub bytes: Mmap,
}

impl Evidence {
    /// The evidence from its mapped files, and the dumps of threads.
    pub fn new(map: Mmap, trace: Mmap, logs: Vec<LogBytes>, dumps: Vec<ThreadDump>) -> Evidence {
        Evidence { map, trace, logs, dumps }
    }

    /// The instrumentation map.
    pub fn map(&self) -> Result<Map<'_>, MapError> {
        Map::new(&self.map)
    }

    /// The trace.
    pub fn trace(&self) -> Result<Trace<'_>, TraceError> {
        Trace::new(&self.trace)
    }

    /// Output of each process, stdout before stderr, in the order of their start.
    pub fn logs(&self) -> &[LogBytes] {
        &self.logs
    }

    /// The threads of each JVM at the end of the trial, where they were dumped.
    pub fn dumps(&self) -> &[ThreadDump] {
        &self.dumps
    }
}
