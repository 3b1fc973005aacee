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
//! - [`FaultSites`] are the calls that can fail: an exception of a library or of the system's own
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
//! Each folder is a room for one phase, in this order: `loading` (class path to [`World`]), `methods` (one body at a time),
//! `facts` (every method once, and the call graph), `dataflow` (exceptions, futures and streams between methods), `sites`,
//! `logging` (log statements), `shapes` (what engines look for) and `causality` (causal graphs and slices, on demand).
//! [`Program::of`] runs them.
//!
//! The input is hostile. What cannot be read is a named [`Problem`](hypocenter_plan::Problem) in the result and
//! never the end of a scan; everything that is read has a bound (entries of a jar and their inflated size, depth of
//! directories, edges and steps of a flow graph, values of a body). Results do not depend on the number of threads.
//!
//! **Architecture Invariant:** this crate reads files and nothing else: it prints nothing, starts no process, reads no
//! environment and no clock, and knows no target. How class files look inside is known to `classfile` alone.

#![forbid(unsafe_code)]

mod causality;
mod dataflow;
mod error;
mod facts;
mod lists;
mod loading;
mod logging;
mod methods;
mod program;
mod shapes;
mod sites;

pub use causality::causal::{CausalGraph, Causes, EdgeKind, GraphOptions, Node};
pub use causality::consequences::Consequences;
pub use causality::decisions::{Decider, Decision, Decisions};
pub use causality::distances::{FaultDistances, Ways};
pub use causality::graphs::Graphs;
pub use causality::need::Need;
pub use causality::outline::{Act, Callee, Outline, OutlineLoop, OutlineStep, OutlineValue, Reports};
pub use causality::shared::SharedGraph;
pub use causality::slice::{Slice, SliceLimits, SlicePoint};
pub use causality::words::{PathStep, Words};
pub use dataflow::exceptions::{Exception, Exceptions, Source, Way};
pub use dataflow::futures::{Behind, Futures};
pub use dataflow::memory::{InMemory, Memory, MemoryPlace, Step, StepKind};
pub use dataflow::origins::{OriginPlace, Origins, Wrapped};
pub use error::{Error, MissingCandidate};
pub use facts::calls::CallGraph;
pub use facts::known::may_come_from;
pub use facts::tasks::Tasks;
pub use facts::{
    Allocation, Call, CallId, CallKind, Carrier, Carries, Facts, FutureFrom, FutureTo, Given, Handler,
    HandlerId, Handover, Kept, Lambda, Task, Thrower, Thrown, Wrap, Write,
};
pub use lists::Lists;
pub use loading::classes::Classes;
pub use loading::classpath::ClassPath;
pub use loading::command::JavaCommand;
pub use loading::digest::Digest;
pub use loading::hierarchy::concrete_subtypes;
pub use loading::load::load;
pub use loading::names::{NameId, Names};
pub use loading::scope::Scope;
pub use loading::world::{
    Field, FieldId, Method, MethodId, MethodRef, Origin, RefId, SignatureId, SystemClass, Type, TypeId,
    World, access,
};
pub use logging::following::Following;
pub use logging::frameworks::{Api, EMITTING, Level};
pub use logging::statements::{Statement, StatementPlace, Statements};
pub use logging::template::{Part, Template};
pub use methods::body::{Body, Catch};
pub use methods::dependence::{ControlDependence, Dependence};
pub use methods::dominance::{Dominance, Edges, Tangled};
pub use methods::switch::Label;
pub use methods::values::{Const, Value, ValueId};
pub use methods::view::{Known, MethodView};
pub use methods::{flow, loops};
pub use program::{Phase, Program};
pub use shapes::detectors::{Detector, Detectors, Feeds, Reason};
pub use shapes::effects::{EFFECT_DEPTH_MAX, Effect, Effects};
pub use shapes::loop_facts::{Bound, LoopFact, LoopFacts, LoopId, REACHED_METHODS_MAX};
pub use shapes::points::{LeftOut, Point, PointKind, Points};
pub use shapes::states::{LambdaTask, State, StateKind, StateOptions, States, TaskClass};
pub use shapes::task_methods::task_methods;
pub use shapes::test_methods::{Framework, Test, Tests};
pub use shapes::waits::{Limit, Wait, WaitKind, Waits};
pub use sites::fault_sites::{Dropped, FaultKind, FaultSite, FaultSites, FaultSummary, name_calls};
pub use sites::find::{Found, Unknown, find_sites, unknown_frame, unknown_test};
pub use sites::kinds::KindSet;
pub use sites::map::{MapSummary, build_map};
pub use sites::nearest::Suggestions;
pub use sites::pattern::{PatternError, SitePattern};
pub use sites::{Hook, MethodSite, MethodSites, sites_of_method};
