//! The vocabulary of what a campaign came to.
//!
//! A [`Document`] is what an engine's verdict is: a [`Header`], [`Finding`]s, and a [`Detail`] type of the engine, which [`reproduced`],
//! [`explored`], [`cascaded`] and [`predicted`] have. It is kept as `summary.json`; pages, SARIF, JUnit and the terminal are made from it and from nothing else.
//! [`Injected`] is a fault that happened, [`Rate`] and [`Proof`] say how well a finding is proven, an [`Event`] is what an engine learns
//! while the campaign runs. [`runs`] has what a page draws beside the document.
//!
//! **Architecture Invariant:** this crate is data alone: it reads nothing, prints nothing and knows no engine. The words for people are
//! in `report`.

pub mod cascaded;
pub mod compared;
mod document;
pub mod event;
pub mod explained;
pub mod explored;
mod injected;
pub mod predicted;
mod proof;
pub mod reproduced;
mod rule;
pub mod runs;

pub use document::{Detail, Document, Finding, Header, Measured};
pub use event::Event;
pub use injected::Injected;
pub use proof::{Proof, Rate};
pub use reproduced::Story;
pub use rule::{Points, Rule, Score};
