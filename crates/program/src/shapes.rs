//! Shapes of code that engines look for.
//!
//! Stages of a task ([`states`]), loops that can grow ([`loop_facts`]), calls that wait ([`waits`]), methods that detect errors
//! ([`detectors`]), and the tests that drive the system ([`test_methods`]).

pub mod detectors;
pub mod effects;
pub mod loop_facts;
pub mod states;
pub mod task_methods;
pub mod test_methods;
pub mod waits;
