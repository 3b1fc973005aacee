//! Executors carry out the jobs of a campaign: [`Local`] by a pool on this machine, others by a scheduler.
//!
//! A campaign and its executor share nothing but jobs and [`Happened`]s. What a trial needs is in files of the campaign (see
//! [`Host`](crate::Host)), and the digest is made where the trial ran.

mod carry;
mod local;

use std::time::Duration;

use hypocenter_engine::{Job, JobId};
use hypocenter_plan::Outcome;

use crate::LabError;

pub use local::Local;

/// Carries out jobs whose digests are of type `D`.
pub trait Executor<D> {
    /// Number of jobs that it can take now.
    fn room(&self) -> usize;

    /// Takes a job. There must be room for it.
    fn submit(&mut self, job: Job);

    /// Gives what has happened since the last call, in order; where that is nothing, waits up to this long for it. Every job that was
    /// submitted ends once.
    fn poll(&mut self, wait: Duration) -> Vec<Happened<D>>;

    /// Ends what runs, and starts nothing more: jobs that were not over end as interrupted. They still have to be polled for.
    fn cancel(&mut self);
}

/// Something that happened to a job.
#[derive(Debug)]
pub enum Happened<D> {
    /// Its trial was ended from outside, and is run again.
    Again {
        /// The job.
        id: JobId,
        /// The reason why the attempt was lost.
        why: String,
    },
    /// It is over, and there is room for another.
    Ended {
        /// The job.
        id: JobId,
        /// Its result.
        result: Result<Given<D>, LabError>,
    },
}

/// The result of a job.
#[derive(Debug)]
pub enum Given<D> {
    /// A complete result.
    Result {
        /// The outcome; a study has none.
        outcome: Option<Box<Outcome>>,
        /// The digest.
        digest: D,
    },
    /// The user ended it before it was over, and it has to be run again.
    Interrupted {
        /// The partial outcome of the trial, if it was begun.
        outcome: Option<Box<Outcome>>,
    },
}
