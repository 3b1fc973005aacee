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
//! - [`States`], [`LoopFacts`], [`Waits`], [`Detectors`] and [`Tests`] are the shapes that engines look for: stages of
//!   a task, loops that can grow, calls that wait, truth values that tell of errors, and what drives it all.
//! - A [`Body`] is the flow graph of a method and for every operand where it comes from; [`Dominance`] and
//!   [`ControlDependence`] say what lies on every way and which branches decide about a block.
//! - [`FaultSites`] are the calls at which something can go wrong: an exception of a library or of the system's own
//!   making, a delay, a crash. [`Memory`] says which of them work on streams in memory, where nothing can.
//!   [`name_calls`] gives them the names that plans use.
//! - [`Decisions`] are control dependences with exceptions; a [`Slice`] is what can affect some instructions, or what
//!   they can affect, across the system.
//! - [`load`] numbers everything that has a name ([`World`]); [`Facts`] are what the code of the system does, and
//!   [`CallGraph`] and [`Tasks`] who runs what. From them [`Exceptions`] says what can leave every method and reach
//!   every handler, [`Origins`] where an exception starts and what it carries, [`Futures`] which tasks are behind a
//!   future.
//! - [`concrete_subtypes`] says what can be thrown where an abstract exception is asked for.
//! - [`Statements`] are the log statements of the system, each with the templates of its message, found over the
//!   [`World`] of its classes, the [`Facts`] of its methods and its [`CallGraph`]; [`Following`] says which of them a
//!   thread can log next.
//!
//! The input is hostile. What cannot be read is a named [`Problem`](hypocenter_plan::Problem) in the result and
//! never the end of a scan; everything that is read has a bound (entries of a jar and their inflated size, depth of
//! directories, edges and steps of a flow graph, values of a body). Results do not depend on the number of threads.
//!
//! **Architecture Invariant:** this crate reads files and nothing else: it prints nothing, starts no process, reads no
//! environment and no clock, and knows no target. How class files look inside is known to `classfile` alone.

#![forbid(unsafe_code)]

mod answers;
mod bodies;
mod body;
mod body_cache;
mod builder;
mod calls;
mod causal;
mod classes;
mod classpath;
mod command;
mod contents;
mod decisions;
mod dependence;
mod detectors;
mod digest;
mod directory;
mod distances;
mod dominance;
mod effects;
mod emission;
mod error;
mod exceptions;
mod facts;
mod fault_sites;
mod find;
pub mod flow;
mod following;
mod format;
mod frameworks;
mod futures;
mod gather;
mod graphs;
mod hierarchy;
mod jar;
mod kinds;
mod known;
mod lines;
mod lists;
mod load;
mod logger;
mod loop_facts;
pub mod loops;
mod manifest;
mod map;
mod memory;
mod memory_lines;
mod merges;
mod message;
mod modules;
mod names;
mod nearest;
mod need;
mod origins;
mod pattern;
mod priors;
mod program;
mod receivers;
mod scope;
mod settle;
mod shape;
mod sites;
mod sketch;
mod slice;
mod sorts;
mod statements;
mod states;
mod streams;
mod switch;
mod task_methods;
mod tasks;
mod template;
mod test_methods;
mod tracer;
mod universe;
mod values;
mod view;
mod waits;
mod walk;
mod wording;
mod world;
mod wrappers;

pub use body::{Body, Catch};
pub use calls::CallGraph;
pub use causal::{CausalGraph, Causes, EdgeKind, GraphOptions, Node};
pub use classes::Classes;
pub use classpath::ClassPath;
pub use command::JavaCommand;
pub use decisions::{Decider, Decision, Decisions};
pub use dependence::{ControlDependence, Dependence};
pub use detectors::{Detector, Detectors, Feeds, Reason};
pub use digest::Digest;
pub use distances::{FaultDistances, Ways};
pub use dominance::{Dominance, Edges, Tangled};
pub use effects::{EFFECT_DEPTH_MAX, Effect, Effects};
pub use error::{Error, MissingCandidate};
pub use exceptions::{Exception, Exceptions, Source, Way};
pub use facts::{
    Allocation, Call, CallId, CallKind, Carrier, Carries, Facts, FutureFrom, FutureTo, Given, Handler,
    HandlerId, Handover, Kept, Lambda, Task, Thrower, Thrown, Wrap, Write,
};
pub use fault_sites::{Dropped, FaultKind, FaultSite, FaultSites, FaultSummary, name_calls};
pub use find::{Found, Unknown, find_sites, unknown_frame, unknown_test};
pub use following::Following;
pub use frameworks::{Api, EMITTING, Level};
pub use futures::{Behind, Futures};
pub use graphs::Graphs;
pub use hierarchy::concrete_subtypes;
pub use kinds::KindSet;
pub use known::may_come_from;
pub use lists::Lists;
pub use load::load;
pub use loop_facts::{Bound, LoopFact, LoopFacts, LoopId, REACHED_METHODS_MAX};
pub use map::{MapSummary, build_map};
pub use memory::{InMemory, Memory, Place as MemoryPlace, Step, StepKind};
pub use names::{NameId, Names};
pub use nearest::Suggestions;
pub use need::Need;
pub use origins::{Origins, Place as OriginPlace, Wrapped};
pub use pattern::{PatternError, SitePattern};
pub use program::{Phase, Program};
pub use scope::Scope;
pub use sites::{Hook, MethodSite, MethodSites, sites_of_method};
pub use slice::{Slice, SliceLimits, SlicePoint};
pub use statements::{Place, Statement, Statements};
pub use states::{LambdaTask, State, StateKind, StateOptions, States, TaskClass};
pub use switch::Label;
pub use task_methods::task_methods;
pub use tasks::Tasks;
pub use template::{Part, Template};
pub use test_methods::{Framework, Test, Tests};
pub use values::{Const, Value, ValueId};
pub use view::{Known, MethodView};
pub use waits::{Limit, Wait, WaitKind, Waits};
pub use world::{
    Field, FieldId, Method, MethodId, MethodRef, Origin, RefId, SignatureId, SystemClass, Type, TypeId,
    World, access,
};
