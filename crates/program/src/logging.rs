//! The log statements of the system: which calls write to a log, and what their messages say.
//!
//! [`frameworks`] knows the calls that write. `wrappers` follows them outwards to the [`statements`], `wording` puts their
//! messages together, and [`following`] finds the statements that a thread can reach next.

mod builder;
mod emission;
pub mod following;
mod format;
pub mod frameworks;
pub mod logger;
mod message;
pub mod statements;
pub mod template;
mod wording;
mod wrappers;
