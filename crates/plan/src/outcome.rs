//! Result of a trial.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Fault, Guard, Site, Steering};

/// The result of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The version of this format.
    pub version: u32,
    /// End of the workload: of its command, or of its clients taken together.
    pub end: End,
    /// Run time of the workload, with the checks of its nodes and of the oracle at its end.
    pub wall_ms: u64,
    /// True if the disk was full, so that what happened is not all recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disk_full: bool,
    /// Verdict of the oracle, if the trial had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<OracleOutcome>,
    /// The processes that the lab started, in the order of their start; a restarted node is there twice.
    #[serde(default)]
    pub processes: Vec<ProcessOutcome>,
    /// One for each candidate of the plan, in its order.
    pub candidates: Vec<CandidateOutcome>,
    /// Fate of what the plan orders, forces and sets.
    #[serde(default, skip_serializing_if = "Steering::is_empty")]
    pub steering: Steering,
    /// The JVMs that took part, in the order of their start.
    pub jvms: Vec<JvmOutcome>,
    /// Problems: hooks left out, events dropped, an agent that could not start.
    pub problems: Vec<Problem>,
}

/// End of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum End {
    /// By itself.
    Exited {
        /// Its exit status.
        status: i32,
    },
    /// By a signal.
    Signalled {
        /// Which.
        signal: i32,
    },
    /// The lab ended it because its time was up.
    TimedOut,
    /// A node never got ready, so nothing was tried.
    NotReady,
    /// A client ended without having made all its steps.
    Unfinished,
    /// The lab ended it because the user asked.
    Interrupted,
}

impl End {
    /// Tests whether it ended by itself and well.
    pub fn is_well(&self) -> bool {
        matches!(self, End::Exited { status: 0 })
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exited { status } => write!(f, "exited with status {status}"),
            End::Signalled { signal } => write!(f, "was ended by signal {signal}"),
            End::TimedOut => write!(f, "timed out"),
            End::NotReady => write!(f, "did not become ready"),
            End::Unfinished => write!(f, "ended before all its steps"),
            End::Interrupted => write!(f, "was interrupted"),
        }
    }
}

/// Verdict of the oracle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OracleOutcome {
    /// True if the failure happened.
    pub happened: bool,
    /// Evidence, or the missing part.
    pub why: String,
}

/// Role of a process of the lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The workload's one command.
    Command,
    /// A node of the cluster.
    Node,
    /// A client of the cluster.
    Client,
}

/// A process that the lab started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessOutcome {
    /// The node or client that it was.
    pub name: String,
    /// Its purpose.
    pub role: Role,
    /// Index among the processes of this name, from 1.
    pub incarnation: u32,
    /// When it was started, since the start of the trial.
    pub started_ms: u64,
    /// When it was ready, for a node that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_ms: Option<u64>,
    /// When it ended; absent if it was there to the end of the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// Its end; absent if it was alive at the end of the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// The last step that a client said it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<u64>,
    /// Expected number of steps of a client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Health report of the node at the end, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive: Option<bool>,
    /// Its output, as files in the trial's directory: stdout, then stderr, then the log files that the workload names.
    pub logs: Vec<String>,
}

impl Outcome {
    /// Nodes that ended before the trial did.
    pub fn ended_nodes(&self) -> impl Iterator<Item = &ProcessOutcome> {
        self.processes.iter().filter(|it| it.role == Role::Node && it.end.is_some())
    }

    /// A text about the trial, behind the ends of its nodes: a dead node explains what others saw of it.
    pub fn after_node_ends(&self, what: &str) -> String {
        let mut all = self.node_ends();
        all.push(what.to_owned());
        all.join("; ")
    }

    /// The nodes that ended before the trial did, in words.
    pub fn node_ends(&self) -> Vec<String> {
        self.ended_nodes().filter_map(ProcessOutcome::told_end).collect()
    }
}

impl ProcessOutcome {
    /// Its end in words, if it ended before the trial did: `node k1 exited with status 1`.
    pub fn told_end(&self) -> Option<String> {
        let role = match self.role {
            Role::Command => "command",
            Role::Node => "node",
            Role::Client => "client",
        };
        let start =
            if self.incarnation > 1 { format!(" (start {})", self.incarnation) } else { String::new() };
        Some(format!("{role} {}{start} {}", self.name, self.end?))
    }

    /// Tests whether a client did all it was to do.
    pub fn is_well(&self) -> bool {
        self.end.is_some_and(|end| end.is_well())
            && self.steps.is_none_or(|steps| self.progress == Some(steps))
    }
}

/// Fate of a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateOutcome {
    /// The site, as the plan has it.
    pub site: Site,
    /// The fault, as the plan has it.
    pub fault: Fault,
    /// Number of hits that met its guard (except the n-th instance), over all JVMs.
    pub hits: u64,
    /// Its fate.
    pub result: CandidateResult,
}

impl Outcome {
    /// Number of the planned faults that were injected.
    pub fn injected(&self) -> usize {
        self.candidates.iter().filter(|it| matches!(it.result, CandidateResult::Injected(_))).count()
    }
}

/// Fate of a candidate: one of the four ends that a planned fault can have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum CandidateResult {
    /// It happened.
    Injected(Injection),
    /// Its instance never came, and the limit was still free.
    NotReached {
        /// Known part of the reason.
        why: String,
    },
    /// Others took the limit.
    NotNeeded,
    /// It could not be done.
    Refused {
        /// Why.
        why: String,
    },
}

/// A fault that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Injection {
    /// JVM, as an index into the outcome's list.
    pub jvm: usize,
    /// The node: the one of the plan's rules that the thread belongs to, else the JVM's.
    pub node: String,
    /// The thread's name.
    pub thread: String,
    /// The matching hit it happened at, from 1.
    pub occurrence: u64,
    /// The time since the start of the trial.
    pub at_ms: f64,
    /// Number of injections (more than one only if the plan repeats it).
    pub times: u64,
    /// Consequences at operations of the JDK, of a fault that goes on after its site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Aftermath>,
    /// The class that was really thrown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threw: Option<String>,
    /// The abstract state of the thread, where the plan follows them and the thread works on a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The hash of the whole stack, for a guard of a later plan.
    pub stack_hash: u64,
    /// The nearest frames, innermost first.
    pub stack: Vec<Frame>,
}

/// Consequences of a fault that goes on after its site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Aftermath {
    /// Operations that it made fail, or whose bytes it swallowed; connections that it cut, at each of their ends.
    pub operations: u64,
    /// Bytes that it swallowed.
    pub bytes: u64,
}

impl Injection {
    /// Hit at which it was injected, as the plan counts: `hit 3 of thread main`, `hit 3 of threads worker-*, by worker-2`, or
    /// `hit 3 there, by worker-2` where it counts those of all threads.
    pub fn hit(&self, guard: &Guard, number: impl fmt::Display) -> String {
        let thread = &self.thread;
        match &guard.thread {
            Some(it) if it == thread => format!("hit {number} of thread {thread}"),
            Some(pattern) => format!("hit {number} of threads {pattern}, by {thread}"),
            None => format!("hit {number} there, by {thread}"),
        }
    }
}

/// A frame of a Java stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// `package.Class.method`.
    pub method: String,
    /// The source file and line, where the class file has them: `FileTxnLog.java:386`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{}({at})", self.method),
            None => write!(f, "{}", self.method),
        }
    }
}

/// A JVM of the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmOutcome {
    /// The node.
    pub node: String,
    /// The process, as seen from inside its own namespace.
    pub pid: u32,
    /// Index among the JVMs of its node in the trial, from 1: a restarted node is a new one.
    #[serde(default = "first")]
    pub incarnation: u32,
    /// True if it ended in good order, rather than by a signal or a halt.
    #[serde(default)]
    pub ended: bool,
    /// The JVM's version.
    pub java: String,
    /// Its hooks.
    pub hooks: HookTally,
    /// Hits counted, over all sites.
    pub hits: u64,
    /// Time to decide whether a fault is due, at hits of sites with an armed fault: the mean of the measured ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_ns: Option<f64>,
    /// For how long the clock that events are timed by stood still at the most, where the plan asks for coarse times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_gap_ms: Option<f64>,
    /// Events kept, and records of what hooks saw.
    pub events: u64,
    /// Events dropped because a ring was full.
    pub dropped: u64,
}

fn first() -> u32 {
    1
}

/// Fate of the hooks of the classes that a JVM loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookTally {
    /// Classes patched.
    pub classes: u64,
    /// Hooks placed where the map says.
    pub placed: u64,
    /// Hooks placed in bytes that something else had changed, recognised by callee and order.
    pub moved: u64,
    /// Hooks left out; each is named by a problem.
    pub refused: u64,
}

/// Something that did not work and did not end the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Where: a class and method, a file, a JVM.
    pub place: String,
    /// What, and what it means for the result.
    pub what: String,
}

impl Problem {
    /// The place of what kept the oracle from saying anything.
    pub const ORACLE: &str = "oracle";
    /// The place of what is wrong with all that is run, such as that no JVM has loaded the agent.
    pub const COMMAND: &str = "command";
}
