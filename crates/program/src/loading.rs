//! From the class path to the numbered [`World`](world::World).
//!
//! [`classpath`] and [`command`] name directories and jars, [`classes`] opens them and picks the definition of each name that the
//! JVM would take, and [`load`] numbers every type, member and reference.

pub mod classes;
pub mod classpath;
pub mod command;
pub mod digest;
mod directory;
pub mod hierarchy;
mod jar;
pub mod load;
mod manifest;
mod modules;
pub mod names;
pub mod scope;
mod walk;
pub mod world;
