//! The shape of an engine: it is asked for work ([`Engine::next`]) and told of results ([`Engine::tell`]).
//!
//! A campaign asks an engine for [`Job`]s, has each carried out, lets a [`Digester`] read the [`Evidence`] beside the
//! trial, and tells the engine the outcome and the digest. **The engine's whole state follows from what it was told,
//! in order**: the same calls give the same answers. So a campaign that was killed is resumed by telling a fresh engine
//! what the journal has.
//!
//! **Architecture Invariant:** an engine spawns no process, reads no clock and touches no file. It runs on recorded
//! outcomes in a unit test, on two cores, or on a cluster.

mod confirm;
mod evidence;
mod hook_set;
mod job;
mod list;
mod played;
pub mod stats;

pub use confirm::{Claim, Claims, Confirmed, Retry, Settled, Shows, Tries};
pub use evidence::{Evidence, LogBytes};
pub use hook_set::HookSet;
pub use job::{Job, JobId, Next, Purpose, TrialRef, Work};
pub use list::{Counted, Hits, Plans, Tally};
pub use played::{Played, Recording};

use hypocenter_plan::Outcome;
use hypocenter_results::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Decides what to try, and what the results mean.
pub trait Engine {
    /// Reads the evidence of trials.
    type Digester: Digester;
    /// Result of the campaign: the document of the engine.
    type Results;

    /// Its name, for the journal: an engine does not resume the campaign of another.
    fn name(&self) -> &'static str;

    /// Asks for work for `room` idle workers. An answer of [`Next::Wait`] or [`Next::Done`] changes nothing: it is not
    /// in the journal, and asking again gives the same.
    fn next(&mut self, room: usize) -> Next;

    /// Reader of the evidence: fixed for the whole campaign.
    fn digester(&self) -> Self::Digester;

    /// Tells what a job gave; a study has a digest and no outcome. Jobs end in any order. Gives what was learnt from it.
    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: DigestOf<Self>) -> Vec<Event>;

    /// Tests whether the trace of a trial that was told is still to be looked at, as that of a finding is. The others are dropped once
    /// they are digested.
    fn keeps_trace(&self, _id: JobId) -> bool {
        true
    }

    /// Current results, with additions from the evidence of a few trials.
    fn results(&self, look: &Look<'_>) -> Self::Results;
}

/// Gives a trial that is over and what it left behind, as far as that is still there.
pub type Look<'l> = dyn Fn(JobId) -> Option<(Outcome, Evidence)> + 'l;

/// Digest of the evidence of a trial that an engine keeps.
pub type DigestOf<E> = <<E as Engine>::Digester as Digester>::Digest;

/// Turns the evidence of trials into the little that an engine keeps of it. It knows nothing of the engine's state, so
/// it runs beside other trials.
pub trait Digester: Send + Sync {
    /// Stored form: it goes into the journal.
    type Digest: Serialize + DeserializeOwned + Send;
    /// Digest of a trial that still runs; `()` for readers that read nothing before its end.
    type Reading: Default + Send;
    /// True if it reads logs of trials that still run.
    const READS_EARLY: bool = false;
    /// True if a trial that a full disk kept from being recorded says nothing to it, and is run again.
    const NEEDS_ALL: bool = true;

    /// Reads more of a log of a trial that still runs: bytes of the file at this path in the trial's directory, which follow those
    /// that came before or, at 0, take their place. It is for those who have much to do at the end otherwise, and nothing depends
    /// on it: some logs come in part or not at all, and what a file had may be gone. What counts is the evidence.
    fn read(&self, _reading: &mut Self::Reading, _path: &str, _at: u64, _bytes: &[u8]) {}

    /// Reads the evidence of a job: of one trial, or of those that a study names, in its order. It gives the same whatever was
    /// read before.
    fn digest(&self, job: &Job, evidence: &[Evidence], reading: Self::Reading) -> Self::Digest;
}
