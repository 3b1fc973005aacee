//! The target as facts: its classes, its sites, the instrumentation map.
//!
//! A [`ClassPath`] names directories and jars, from java's own syntax, a configuration or a whole `java` command
//! ([`ClassPath::of_java_command`]). Opened, it becomes [`Classes`], the principal type: for each name the one
//! definition that the JVM would take. From there:
//!
//! - [`sites_of_method`] lists the points of a method where something can be done or seen, each with the hooks
//!   that report it. Calls and returns are read off the instructions; blocks and handlers come from the
//!   [`flow`] graph, loops from its dominators ([`loops`]).
//! - [`find_sites`] finds the sites that a readable [`SitePattern`] fits, and says what comes nearest if none does.
//! - [`build_map`] writes the instrumentation map for a plan.
//! - A [`Body`] is the flow graph of a method and for every operand where it comes from; [`Dominance`] and
//!   [`ControlDependence`] say what lies on every way and which branches decide about a block.
//! - [`load`] numbers everything that has a name ([`World`]); [`Facts`] are what the code of the system does, and
//!   [`CallGraph`] and [`Tasks`] who runs what. From them [`Exceptions`] says what can leave every method and reach
//!   every handler, [`Origins`] where an exception starts and what it carries, [`Futures`] which tasks are behind a
//!   future.
//! - [`concrete_subtypes`] says what can be thrown where an abstract exception is asked for.
//!
//! The input is hostile. What cannot be read is a named [`Problem`](hypocenter_plan::Problem) in the result and
//! never the end of a scan; everything that is read has a bound (entries of a jar and their inflated size, depth of
//! directories, edges and steps of a flow graph, values of a body). Results do not depend on the number of threads.
//!
//! **Architecture Invariant:** this crate reads files and nothing else: it prints nothing, starts no process, reads no
//! environment and no clock, and knows no target. How class files look inside is known to `classfile` alone.

#![forbid(unsafe_code)]

mod body;
mod calls;
mod causal;
mod classes;
mod classpath;
mod command;
mod contents;
mod dependence;
mod directory;
mod dominance;
mod error;
mod exceptions;
mod facts;
mod find;
pub mod flow;
mod futures;
mod gather;
mod hierarchy;
mod jar;
mod kinds;
mod known;
mod lines;
mod lists;
mod load;
mod logger;
pub mod loops;
mod manifest;
mod map;
mod merges;
mod modules;
mod names;
mod nearest;
mod need;
mod origins;
mod pattern;
mod scope;
mod settle;
mod shape;
mod sites;
mod sorts;
mod tasks;
mod tracer;
mod universe;
mod values;
mod view;
mod world;

pub use body::{Body, Catch};
pub use calls::CallGraph;
pub use causal::{CausalGraph, Causes, EdgeKind, Node};
pub use classes::Classes;
pub use classpath::ClassPath;
pub use command::JavaCommand;
pub use dependence::{ControlDependence, Dependence};
pub use dominance::{Dominance, Edges, Tangled};
pub use error::{Error, MissingCandidate};
pub use exceptions::{Exception, Exceptions, Source, Way};
pub use facts::{
    Allocation, Call, CallId, CallKind, Carrier, Carries, Facts, FutureFrom, FutureTo, Given, Handler,
    HandlerId, Handover, Kept, Lambda, Task, Thrower, Thrown, Wrap, Write,
};
pub use find::{Found, find_sites};
pub use futures::{Behind, Futures};
pub use hierarchy::concrete_subtypes;
pub use kinds::KindSet;
pub use lists::Lists;
pub use load::load;
pub use map::{MapSummary, build_map};
pub use names::{NameId, Names};
pub use nearest::Suggestions;
pub use need::Need;
pub use origins::{Origins, Place, Wrapped};
pub use pattern::{PatternError, SitePattern};
pub use scope::Scope;
pub use sites::{Hook, MethodSite, MethodSites, sites_of_method};
pub use tasks::Tasks;
pub use values::{Const, Value, ValueId};
pub use view::{Known, MethodView};
pub use world::{
    Field, FieldId, Method, MethodId, MethodRef, Origin, RefId, SignatureId, SystemClass, Type, TypeId,
    World, access,
};
