//! The words of Hypocenter as data: what may be done ([`Fault`]) where ([`Site`]), under which conditions
//! ([`Guard`]), how often and what to record ([`Plan`]), what is run ([`Workload`]) with which changes ([`Edit`]), what says that the failure
//! happened ([`Oracle`]), what came of it ([`Outcome`]), and what the threads of a JVM were doing at some instant
//! ([`ThreadDump`]).
//!
//! These types are the stable surface: they are written as JSON into every trial's directory, their schemas are
//! published (`hypocenter schema`), and a reader refuses a version that it does not know. This crate does no
//! I/O, and knows neither JVMs nor class files.

mod dump;
mod edit;
mod exit;
mod fault;
mod glob;
mod node;
mod operation;
mod oracle;
mod order;
mod outcome;
mod plan;
mod site;
mod span;
mod steering;
mod task;
mod template;
mod trails;
mod workload;

pub use dump::{DumpedThread, ThreadDump, WaitsFor};
pub use edit::Edit;
pub use exit::ExitCode;
pub use fault::{Fault, Pause};
pub use glob::glob_matches;
pub use node::{Mdc, NodeRule};
pub use operation::OperationKind;
pub use oracle::{ExitWanted, LogText, OneOrMany, Oracle, OracleForm, StatusForm};
pub use order::{Happening, Order, OrderOutcome, OrderResult};
pub use outcome::{
    CandidateOutcome, CandidateResult, End, Frame, HookTally, Injection, JvmOutcome, OracleOutcome, Outcome,
    Problem, ProcessOutcome, Role,
};
pub use plan::{
    Arm, Candidate, EventTime, Guard, MethodLine, Plan, PlanError, Record, Repeat, Since, StackGuard, Watch,
    WatchLevel, WatchSites,
};
pub use site::{Site, SiteKind, method_around};
pub use span::Span;
pub use steering::{BranchWay, ConstantValue, Force, ForceOutcome, SetConstant, SetOutcome, Steering};
pub use task::{NO_TASK, StateId, TaskMethod, first_states, state_names, states_by_task};
pub use template::TestName;
pub use trails::{MethodName, Trails};
pub use workload::{Client, CommandLine, Condition, Network, Node, Restart, Workload};

/// The version of the JSON documents defined here. It is raised when a field changes its meaning or goes away;
/// new optional fields do not raise it.
pub const FORMAT_VERSION: u32 = 1;
