//! An engine that finds faults that feed themselves (CSNAKE).
//!
//! It injects one fault into one test at a time, compares the runs with runs of the same test without it, and so learns which other faults
//! each fault causes. Such steps from different tests are stitched into cycles: a fault whose consequences bring it about again.
//!
//! **Architecture Invariant:** it reads no clock, starts no process and knows no target.

mod allocation;
mod clusters;
mod random;

pub use allocation::{Allocation, Asked, Budget, Fault, Mode, Next, Phase, Progress};
pub use clusters::{Cluster, Clusters, Experiments, FAULTS_MAX, FaultNo, TestNo, Token, TooManyFaults};
