//! Data flow between methods: exceptions, futures, and streams that live in memory.
//!
//! [`exceptions`] is a fixpoint over all methods of the system. [`origins`] and [`futures`] follow a value back to where it was
//! made; [`memory`] finds the calls on streams that cannot fail.

pub mod exceptions;
pub mod futures;
pub mod memory;
mod memory_lines;
pub mod origins;
mod settle;
mod sketch;
mod streams;
mod universe;
