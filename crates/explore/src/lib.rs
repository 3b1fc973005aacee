//! Finds the small fault that breaks a part of a service while the rest looks fine, as an engine (LEGOLAS).
//!
//! [`Explore`] is asked for trials and told what came of them. It first has the workload run without a fault, a few times.
//! Then each trial tries one fault: which, in which abstract state of which thread and at which of its requests is said by
//! a [`Policy`], and compiled into the trial's plan. A *request* is an execution of a call at which something can go
//! wrong. What a trial did to its clients and nodes is judged against the runs without a fault, and the trials that look
//! bad are put together by the place where the fault went in.
//!
//! The [`Catalogue`] has every call that can fail; [`Reader`] counts the requests of a trial; the
//! [`ledger`](Ledger) gives them keys; `round_robin` and `fresh` choose among keys and know numbers only; `few` and `moments` choose
//! among the requests of a key.

mod catalogue;
mod checks;
mod document;
mod engine;
mod fault_scope;
mod few;
mod findings;
mod fresh;
mod known;
mod ledger;
mod logged;
mod moments;
mod neighbours;
mod policy;
mod reader;
mod round_robin;
mod threads;
mod wrong;

pub use catalogue::{Catalogue, SiteFaults};
pub use checks::{ClientOf, Normal};
pub use document::{StatePlace, state_places};
pub use engine::{Explore, Settings, Verdict};
pub use fault_scope::FaultScope;
pub use findings::Suspect;
pub use known::{FaultName, Known};
pub use ledger::{Call, Key, KeyKind, Ledger};
pub use neighbours::Neighbours;
pub use policy::Policy;
pub use reader::{Reader, Requested, Situation, TrialDigest};
pub use threads::{ThreadAtEnd, Waits};
