//! Shapes of code that engines look for.
//!
//! Stages of a task ([`states`]), loops that can grow ([`loop_facts`]), calls that wait ([`waits`]), methods that detect errors
//! ([`detectors`]), the points at which faults can feed each other ([`points`]), and the tests that drive the system ([`test_methods`]).

pub mod detectors;
pub mod effects;
pub mod loop_facts;
pub mod points;
pub mod states;
pub mod task_methods;
pub mod test_methods;
pub mod waits;
