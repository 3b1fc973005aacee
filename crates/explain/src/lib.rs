//! An engine that finds the line where a failing run left the right path (Kairux).
//!
//! The *inflection point* is the first instruction of a failing run that the nearest run that does not fail does not share. The engine runs the
//! failure and its neighbours again under a recording of the methods that can matter to the symptom, and compares them.
//!
//! [`SliceModel`] has these methods, `recorded_run` a run as it was recorded, `written` its writes, `slicing` what in it led to the symptom,
//! `prefix` the part that two runs have in common, `study` the work list over threads, `shown` its result as data. [`Explain`] is the engine around them.
//!
//! **Architecture Invariant:** it reads no clock, starts no process and knows no target.

mod engine;
mod model;
mod prefix;
mod reader;
mod recorded_run;
mod shown;
mod slicing;
mod study;
mod symptom;
#[cfg(test)]
mod testing;
mod written;

pub use engine::{Explain, ExplainSettings, NeighbourSpec};
pub use model::SliceModel;
pub use symptom::Symptom;
