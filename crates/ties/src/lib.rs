//! Ties between log entries and the log statements of a program.
//!
//! [`index`] turns the statements that `program` found into the index of `logs`, by which an entry finds the statements that can
//! have written it. Where several fit alike, [`ranking`] orders them by how far the program has from one statement to the next.
//! A compiler may emit one statement of the source several times; [`copies`] lists all of them.
//!
//! A statement has the same number here as in [`Program::statements`](hypocenter_program::Program::statements).
//!
//! **Architecture Invariant:** `ties` joins `program` and `logs`, which do not know each other. It reads no file, and knows neither
//! engines nor trials.

#![forbid(unsafe_code)]

mod copies;
mod index;
mod ranking;

pub use copies::copies;
pub use index::index;
pub use ranking::ranking;
