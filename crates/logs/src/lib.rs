//! The logs of JVM systems: entries out of text, and the log statements that wrote them.
//!
//! A [`Log`] is read from bytes, with a [`Layout`] that is detected or compiled from the pattern of an appender. Its
//! [`Entry`]s say what the layout has (time, level, thread, logger, source line) and have the message; their
//! [`Trace`] has the exceptions that were logged with it. [`Statements`] is an index of the log statements of a program,
//! each with a [`Template`] of its message, and ties an entry to those that can have written it; where they are several, a
//! [`Ranking`] says which are likeliest between their neighbours. [`role()`] makes the names
//! of threads of different runs comparable, and [`ShownNames`] knows those of which a log shows a part.
//!
//! Runs are compared as [`Tied`] logs, which have no text any more. A [`Comparison`] says which entries of a run have a
//! partner in another, thread by thread; [`Observables`] are what a failure has beyond runs without a fault, and tell what
//! of it a trial shows; a [`Timeline`] gives moments of a normal run a place in the log of the failure.
//!
//! Logs are written by programs that nobody here has seen, and they are edited, cut and glued on their way. So nothing in
//! them is an error but their not being logs at all: what fits is read, every line belongs to something, and time is
//! linear in the text.
//!
//! **Architecture Invariant:** this crate is pure. It reads no file and no clock, and knows no class file, no plan and no
//! target.

mod bits;
mod class;
mod comparison;
mod date;
mod diff;
mod entry;
mod error;
mod expression;
mod gather;
mod growing;
mod key;
mod known;
mod layout;
mod level;
mod log;
mod marks;
mod memo;
mod observables;
mod pairing;
mod pattern;
mod ranking;
mod role;
mod runner;
mod shown;
mod statements;
mod stream;
mod template;
mod text;
mod tied;
mod timeline;
mod trace;
mod warning;

pub use comparison::{Comparison, Group, Position};
pub use entry::Entry;
pub use error::LogError;
pub use growing::GrowingLog;
pub use key::Key;
pub use layout::Layout;
pub use level::Level;
pub use log::Log;
pub use marks::Marks;
pub use memo::Memo;
pub use observables::{Observable, Observables, Shown};
pub use ranking::Ranking;
pub use role::role;
pub use shown::ShownNames;
pub use statements::{How, Statement, StatementId, Statements, Tie};
pub use stream::{LogReader, ReadError};
pub use template::{Part, Template};
pub use tied::{Evidence, Fields, Thread, Tied, TiedEntry, Ties};
pub use timeline::{Finder, Moment, Order, Place, Timeline};
pub use trace::{Exception, Frame, Relation, Trace};
pub use warning::Warning;
