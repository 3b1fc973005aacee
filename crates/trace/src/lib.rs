//! What agent and tool share: the instrumentation map, the mapped plan and the binary trace.
//!
//! A trial has one file ([`TrialFile`]). The tool makes it from a plan ([`TrialControl`]); every JVM of the trial joins it
//! ([`Session`]), finds its orders there and writes counters, events and reports into it through shared memory;
//! afterwards, whatever became of the JVMs, the tool reads it ([`Trace`]). The [`Map`] beside it says which
//! instruction each site is. Both layouts have a version, and readers refuse any other.
//!
//! This crate knows neither JVMTI nor class files.

mod armed;
pub mod clock;
mod control;
mod futex;
mod handover;
pub mod hash;
mod lane;
mod layout;
mod map;
mod reader;
mod session;
mod steps;
mod stream;
mod tracks;
mod trial;
mod values;
mod waist;

pub use armed::{
    ArmedCandidate, ArmedFault, ArmedMdc, ArmedNode, ArmedPlan, ArmedRepeat, ArmedSince, ArmedStack,
};
pub use control::{PendingDump, TrialControl};
pub use lane::Lane;
use layout::TRACE_VERSION;
pub use layout::{FRESH_DIRECTORY, level, plain_hit_word};
pub use map::{
    FALL_THROUGH, Map, MapBuilder, MapClass, MapError, MapHook, MapMethod, NewSite, Placement, SiteId,
};
pub use reader::{
    CandidateEnd, Dictionary, Event, Jvm, LoopRun, LoopTally, Report, StackFrame, Trace, TracedInjection,
    TracedOperation, TracedPath, Transition,
};
pub use session::{InjectedRecord, Interned, OperationRecord, PatchTally, ReportKind, Session};
pub use steps::{ArmedStep, Step};
pub use stream::{Stream, Tally};
pub use tracks::{ArmedTrack, Track};
pub use trial::{TrialFile, TrialSpec};
pub use values::{ObjectId, SeenValue, TracedValue, ValueKind, ValueRecord};
pub use waist::{
    Deed, Operand, Shortage, Waist, Where, called, expected_of, handover_classes, waist, waist_classes,
    waist_of,
};

/// What is wrong with a trial's file.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It cannot be read or written.
    #[error(
        "trial file {path}: {source}; a trial needs a directory that can be written, with room on its disk"
    )]
    Io {
        /// Which file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is not a trial's file, or a broken one.
    #[error("trial file: {0}; run the trial again")]
    Malformed(&'static str),
    /// It is shorter than it was.
    #[error(
        "trial file {path}: something cut it short while the trial ran; let the workload write below {{dir}} only, and run \
         the trial again"
    )]
    Cut {
        /// Which file.
        path: String,
    },
    /// It is of another version.
    #[error(
        "trial file: layout version {found}, this tool reads version {TRACE_VERSION}; \
         read it with the version of the tool that wrote it"
    )]
    Version {
        /// What the file says.
        found: u32,
    },
    /// It cannot hold more.
    #[error("trial file: no room for {0}; free some disk space or run fewer JVMs in a trial")]
    NoRoom(&'static str),
}
