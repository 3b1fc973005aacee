//! From a failure log to the fault that made it.
//!
//! A [`Case`] is the program and the failure log. [`Reproduce`] is the engine over it: it chooses what each round tries and proves what it
//! finds. Its [`Verdict`] makes the document of the campaign ([`Verdict::summary`]), with the story of each finding, the nearest rounds
//! and what to try; what a page draws is [`Case::runs`]. Where these need the evidence of a trial they ask for it ([`Look`]).
//!
//! **Architecture Invariant:** this crate touches no file, clock or process, and prints nothing.

mod before;
mod beside;
mod case;
mod catalogue;
mod causes;
mod closest;
mod emission;
mod engine;
mod executions;
mod lanes;
mod logged;
mod mentioned;
mod moment;
mod naming;
mod play;
mod policy;
mod reading;
mod recording;
mod runs;
mod search;
mod silence;
mod space;
mod story;
mod strategy;
mod struck;
mod summary;
mod times;
mod traces;

pub use beside::{Before, SideBySide};
pub use case::{Case, Digest, FailureKey, Reader};
pub use catalogue::{Catalogue, Choices, Kinds, NamedFrame, Wanted};
pub use causes::{Causes, Way};
pub use engine::{Found, Reproduce, Settings, Verdict};
pub use executions::ByThread;
pub use logged::Logged;
pub use mentioned::{Mentioned, exceptions_in};
pub use play::{Comparison, Recorded};
pub use policy::without;
pub use reading::Reading;
pub use recording::common_plan;
pub use search::{Pick, Search, SearchOptions};
pub use silence::Silent;
pub use space::{Choice, Instance, Observable, Space};
pub use strategy::Strategy;
pub use summary::About;
pub use traces::Seen;
