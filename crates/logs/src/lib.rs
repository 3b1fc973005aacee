//! The logs of JVM systems: entries out of text, and the log statements that wrote them.
//!
//! A [`Log`] is read from bytes, with a [`Layout`] that is detected or compiled from the pattern of an appender. Its
//! [`Entry`]s say what the layout has (time, level, thread, logger, source line) and have the message; their
//! [`Trace`] has the exceptions that were logged with it. [`Statements`] is an index of the log statements of a program,
//! each with a [`Template`] of its message, and ties an entry to those that can have written it. [`role()`] makes the names
//! of threads of different runs comparable.
//!
//! Logs are written by programs that nobody here has seen, and they are edited, cut and glued on their way. So nothing in
//! them is an error but their not being logs at all: what fits is read, every line belongs to something, and time is
//! linear in the text.
//!
//! **Architecture Invariant:** this crate is pure. It reads no file and no clock, and knows no class file, no plan and no
//! target.

mod class;
mod date;
mod entry;
mod error;
mod known;
mod layout;
mod level;
mod log;
mod pattern;
mod role;
mod runner;
mod statements;
mod template;
mod text;
mod trace;

pub use entry::Entry;
pub use error::LogError;
pub use layout::Layout;
pub use level::Level;
pub use log::Log;
pub use role::role;
pub use statements::{How, Statement, StatementId, Statements, Tie};
pub use template::{Part, Template};
pub use trace::{Exception, Frame, Relation, Trace};
