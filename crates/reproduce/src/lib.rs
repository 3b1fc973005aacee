//! From a failure log to the fault that made it.

mod search;
mod space;
mod strategy;

pub use search::{Pick, Search, SearchOptions};
pub use space::{Aim, Choice, Moment, Space};
pub use strategy::Strategy;
