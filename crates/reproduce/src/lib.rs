//! From a failure log to the fault that made it.

mod before;
mod beside;
mod case;
mod catalogue;
mod causes;
mod emission;
mod engine;
mod executions;
mod lanes;
mod logged;
mod mentioned;
mod naming;
mod play;
mod reading;
mod recording;
mod search;
mod silence;
mod space;
mod statements;
mod strategy;
mod struck;
mod times;
mod traces;

pub use beside::{Before, Beside, Interest, Line, MESSAGE_CHARS_MAX, Row};
pub use case::{Case, Digest, FailureKey, Reader};
pub use catalogue::{Catalogue, Choices, Kinds, NamedFrame, Wanted};
pub use causes::{Causes, Way};
pub use engine::{
    AS_LIKELY_MAX, Again, Found, Injected, Missing, Reproduce, Round, Settings, Standing, Verdict,
};
pub use executions::ByThread;
pub use lanes::{Lane, Lanes, Mark, Run, RunOf, Sign};
pub use logged::Logged;
pub use mentioned::{Mentioned, exceptions_in};
pub use play::{Comparison, Played, Recorded};
pub use reading::Reading;
pub use search::{Pick, Search, SearchOptions};
pub use silence::Silent;
pub use space::{Choice, Instance, Observable, Space};
pub use statements::{copies, index, ranking};
pub use strategy::Strategy;
pub use traces::Seen;
