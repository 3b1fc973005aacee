//! From a failure log to the fault that made it.

mod case;
mod catalogue;
mod engine;
mod executions;
mod recording;
mod search;
mod space;
mod statements;
mod strategy;

pub use case::{Case, Digest, FailureKey, Reader};
pub use catalogue::{Catalogue, Choices, Kinds, NamedFrame, Wanted};
pub use engine::{Found, Injected, Missing, Reproduce, Round, Settings, Standing, Verdict};
pub use executions::ByThread;
pub use search::{Pick, Search, SearchOptions};
pub use space::{Choice, Instance, Observable, Space};
pub use statements::{copies, index, ranking};
pub use strategy::Strategy;
