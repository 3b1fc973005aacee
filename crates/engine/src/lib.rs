//! The shape of an engine: it is asked for work ([`Engine::next`]) and told of results ([`Engine::tell`]).
//!
//! A campaign asks an engine for [`Job`]s, has each carried out, lets a [`Digester`] read the [`Evidence`] beside the
//! trial, and tells the engine the outcome and the digest. **The engine's whole state follows from what it was told,
//! in order**: the same calls give the same answers. So a campaign that was killed is resumed by telling a fresh engine
//! what the journal has.
//!
//! **Architecture Invariant:** an engine spawns no process, reads no clock and touches no file. It runs on recorded
//! outcomes in a unit test, on two cores, or on a cluster.

mod evidence;
mod job;
mod list;
pub mod stats;

pub use evidence::{Evidence, LogBytes};
pub use job::{Job, JobId, Next, Purpose, Work};
pub use list::{Counted, Hits, Plans, Tally};

use hypocenter_plan::Outcome;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Decides what to try, and what the results mean.
pub trait Engine {
    /// Reads the evidence of trials.
    type Digester: Digester;
    /// What the campaign found.
    type Verdict;

    /// Its name, for the journal: one engine does not go on with another's campaign.
    fn name(&self) -> &'static str;

    /// Asks for work for `room` idle workers. An answer of [`Next::Wait`] or [`Next::Done`] changes nothing: it is not
    /// in the journal, and asking again gives the same.
    fn next(&mut self, room: usize) -> Next;

    /// What reads the evidence: fixed for the whole campaign.
    fn digester(&self) -> Self::Digester;

    /// Tells what a job gave; a study has a digest and no outcome. Jobs end in any order.
    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: DigestOf<Self>);

    /// Whether the trace of a trial that was told is still to be looked at, as that of a finding is. The others are dropped once
    /// they are digested.
    fn keeps_trace(&self, _id: JobId) -> bool {
        true
    }

    /// What is known so far.
    fn verdict(&self) -> Self::Verdict;
}

/// What an engine keeps of the evidence of a trial.
pub type DigestOf<E> = <<E as Engine>::Digester as Digester>::Digest;

/// Turns the evidence of trials into the little that an engine keeps of it. It knows nothing of the engine's state, so
/// it runs beside other trials.
pub trait Digester: Send + Sync {
    /// What is kept: it goes into the journal.
    type Digest: Serialize + DeserializeOwned + Send;
    /// What was read of a trial that still runs; `()` for those who read nothing before its end.
    type Reading: Default + Send;
    /// Whether it reads logs of trials that still run.
    const READS_EARLY: bool = false;
    /// Whether a trial that a full disk kept from being recorded says nothing to it, and is run again.
    const NEEDS_ALL: bool = true;

    /// Reads more of a log of a trial that still runs: bytes of the file at this path in the trial's directory, which follow those
    /// that came before or, at 0, take their place. It is for those who have much to do at the end otherwise, and nothing depends
    /// on it: some logs come in part or not at all, and what a file had may be gone. What counts is the evidence.
    fn read(&self, _reading: &mut Self::Reading, _path: &str, _at: u64, _bytes: &[u8]) {}

    /// Reads the evidence of a job: of one trial, or of those that a study names, in its order. It gives the same whatever was
    /// read before.
    fn digest(&self, job: &Job, evidence: &[Evidence], reading: Self::Reading) -> Self::Digest;
}
