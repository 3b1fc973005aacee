//! The vocabulary of what a campaign came to.
//!
//! An engine's verdict is made of these types, `summary.json` is one of its documents, and pages, SARIF, JUnit and the terminal are made
//! from it and from nothing else. [`Injected`] is a fault that happened, [`Rate`] and [`Proof`] say how well a finding is proven. Each
//! engine has a module with the document of its campaigns: [`reproduced`] and [`explored`]. [`runs`] has what a page draws beside it.
//!
//! **Architecture Invariant:** this crate is data alone: it reads nothing, prints nothing and knows no engine. The words for people are
//! in `report`.

pub mod explored;
mod injected;
mod proof;
pub mod reproduced;
pub mod runs;

pub use injected::Injected;
pub use proof::{Proof, Rate};
