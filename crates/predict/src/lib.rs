//! An engine that finds crashes that are not survived, from runs in which nothing fails (FCatch).
//!
//! It records what a node does with files: in a run without a fault, and in correct runs in which it crashes and is started again. A write
//! before the crash and a read of the recovery on the same file are a *pair*: had the node crashed elsewhere, the read would find something
//! else. Pairs that the system is prepared for are left out, each by a rule. For the others the node is crashed right beside the write, and
//! what is not survived is confirmed by replays.
//!
//! `reader` has what a run leaves, `touch` what an operation reads and writes, `run` the operations as they are compared between runs,
//! `pairs` the pairs and the rules, `impact` the harm that a read can do, `judge` the verdict over a run. [`Predict`] is the engine around
//! them.
//!
//! **Architecture Invariant:** it reads no clock, starts no process and knows no target.

mod engine;
mod impact;
mod judge;
mod pairs;
mod reader;
mod run;
mod told;
mod touch;

pub use engine::{Predict, PredictSettings};
pub use reader::{OperationReader, RunOperations};
