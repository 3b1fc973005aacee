//! An engine that finds faults that feed themselves (CSNAKE).
//!
//! It injects one fault into one test at a time, compares the runs with runs of the same test without it, and so learns which other faults
//! each fault causes. Such steps from different tests are stitched into cycles: a fault whose consequences bring it about again.
//!
//! [`Model`] has the faults of a system, the reader what a run leaves, `compare` what a fault caused, `experiment` the doses of a fault in a test,
//! [`allocation`] and [`clusters`] which fault is tried in which test, `stitch` and [`beam`] the cycles. [`Cascade`] is the engine around them.
//!
//! **Architecture Invariant:** it reads no clock, starts no process and knows no target.

pub mod allocation;
pub mod beam;
pub mod clusters;
mod compare;
mod engine;
mod experiment;
mod model;
mod random;
mod reader;
mod stitch;
#[cfg(test)]
mod testing;
mod told;

pub use compare::Judging;
pub use engine::{Cascade, CascadeSettings, KnownCycle};
pub use model::{Model, Weakness};
pub use reader::{RunDigest, RunReader, Spot};
pub use stitch::Fit;
