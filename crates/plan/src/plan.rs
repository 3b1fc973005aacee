//! What a trial is to do: candidate faults, how many of them may happen, and what to record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::{NO_TASK, TaskMethod, state_names};
use crate::{FORMAT_VERSION, Fault, NodeRule, Site, SiteKind};

/// The instructions for one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of this format.
    pub version: u32,
    /// The seed of the trial: all chance in it follows from this number.
    #[serde(default)]
    pub seed: u64,
    /// How many candidates may be injected, over all JVMs of the trial.
    #[serde(default = "default_limit")]
    pub limit: u32,
    /// From when on faults may happen.
    #[serde(default)]
    pub arm: Arm,
    /// The nodes inside JVMs; any other is a process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRule>,
    /// Lines whose calls cannot fail, since what they work on is in memory: no exception is thrown below them. A candidate that is due
    /// there waits for its next hit that is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub never_below: Vec<MethodLine>,
    /// The faults, of which the first ones reached happen, up to the limit.
    #[serde(default)]
    pub candidates: Vec<Candidate>,
    /// Whether delays are over before an oracle looks at threads or asks a command: what stands still only because the fault holds
    /// it is not stuck.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outlast: bool,
    /// What to count and to record.
    #[serde(default)]
    pub record: Record,
}

fn default_limit() -> u32 {
    1
}

/// A line of a method.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodLine {
    /// The method, as `package.Class.method`.
    pub method: String,
    /// The line in its source file.
    pub line: u32,
}

/// From when on faults may happen, and instances are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arm {
    /// From the start of each JVM.
    #[default]
    Start,
    /// From the moment the lab says that the system is ready.
    Ready,
}

/// A fault that may happen at a site under a guard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Where.
    pub site: Site,
    /// What.
    pub fault: Fault,
    /// When.
    #[serde(default)]
    pub when: Guard,
    /// Whether it happens once, or at every hit from then on.
    #[serde(default)]
    pub repeat: Repeat,
}

/// How often a candidate that was injected happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// Once.
    #[default]
    Once,
    /// At that hit and at every later one that fits the guard; it takes the limit once.
    Always,
}

/// The conditions of a candidate. All that are given must hold; the n-th instance is counted over the hits for
/// which the others hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// The node, by name: one of the plan's rules, or a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The thread's name; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The n-th matching hit in a JVM, from 1. Without it, the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u64>,
    /// How the site was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackGuard>,
    /// The chance with which each matching hit is taken, drawn from the trial's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The abstract state of the thread: one of the tasks that the plan's record lists, as `quorum.SyncThread.run#2`,
    /// or `none` for a thread that works on no task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The loop around the site. Reserved: this version refuses a plan that has it.
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    pub enclosing_loop: Option<Site>,
    /// The least time since another site was hit. Reserved: this version refuses a plan that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
}

/// A time since another site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// The other site.
    pub site: Site,
    /// The least time since its last hit.
    pub at_least_ms: u64,
}

/// A condition on the stack at a site, innermost frame first, the tool's own frames left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StackGuard {
    /// The innermost frames are these, each as `package.Class.method`, where `*` stands for any text.
    Suffix(Vec<String>),
    /// The whole stack has this hash (see the outcome of an earlier trial).
    Hash(u64),
}

/// What a trial counts and records beside its candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Which sites.
    #[serde(default)]
    pub watch: Vec<Watch>,
    /// The tasks whose abstract states are followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskMethod>,
    /// Dump the threads of every JVM at the end of the trial, also where it ends well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dump: bool,
    /// How many of the nearest frames are kept with a record that has a stack.
    #[serde(default = "default_stack_frames")]
    pub stack_frames: u32,
    /// Grow instead of dropping the oldest events of a thread.
    #[serde(default)]
    pub lossless: bool,
    /// How much a thread keeps before its oldest events are dropped.
    #[serde(default = "default_ring_kb")]
    pub ring_kb: u32,
}

fn default_stack_frames() -> u32 {
    32
}

fn default_ring_kb() -> u32 {
    256
}

impl Default for Record {
    fn default() -> Self {
        Record {
            watch: Vec::new(),
            tasks: Vec::new(),
            dump: false,
            stack_frames: default_stack_frames(),
            lossless: false,
            ring_kb: default_ring_kb(),
        }
    }
}

/// Sites to watch, by kind and class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// The kinds of sites.
    pub kinds: Vec<SiteKind>,
    /// The classes, with dots; `*` stands for any text.
    pub classes: Vec<String>,
    /// The methods, by their names; all if none is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    /// How closely.
    pub level: WatchLevel,
}

/// How closely a site is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchLevel {
    /// Its hook is in place and does nothing.
    Off,
    /// Its hits are counted.
    #[default]
    Count,
    /// Its hits are counted, and each leaves an event.
    Event,
    /// As above, and each event names its stack.
    Stack,
}

/// What is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Another version.
    #[error(
        "the plan has format version {found}, this tool reads version {FORMAT_VERSION}; write it again with this version"
    )]
    Version {
        /// What the document says.
        found: u32,
    },
    /// A guard that has its place in the format and no meaning yet.
    #[error(
        "candidate {candidate}: the guard `{guard}` is not supported by this version of the agent; leave it out"
    )]
    ReservedGuard {
        /// Which candidate.
        candidate: usize,
        /// Which guard.
        guard: &'static str,
    },
    /// A rule for a node that says nothing, or contradicts another.
    #[error("node `{node}`: {what}")]
    Node {
        /// Which node.
        node: String,
        /// What is wrong and what to write instead.
        what: String,
    },
    /// A value out of its range.
    #[error("candidate {candidate}: {what}")]
    Value {
        /// Which candidate.
        candidate: usize,
        /// What is wrong and what to write instead.
        what: String,
    },
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            version: FORMAT_VERSION,
            seed: 0,
            limit: default_limit(),
            arm: Arm::default(),
            nodes: Vec::new(),
            never_below: Vec::new(),
            candidates: Vec::new(),
            outlast: false,
            record: Record::default(),
        }
    }
}

impl Plan {
    /// Checks everything that can be checked without the target.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.version != FORMAT_VERSION {
            return Err(PlanError::Version { found: self.version });
        }
        self.check_nodes()?;
        let states = state_names(&self.record.tasks);
        for (candidate, it) in self.candidates.iter().enumerate() {
            let reserved = [("loop", it.when.enclosing_loop.is_some()), ("since", it.when.since.is_some())];
            if let Some((guard, _)) = reserved.into_iter().find(|&(_, given)| given) {
                return Err(PlanError::ReservedGuard { candidate, guard });
            }
            let value = |what: String| Err(PlanError::Value { candidate, what });
            if it.when.occurrence == Some(0) {
                return value("occurrence 0: the first hit is number 1".into());
            }
            if let Some(state) = &it.when.state
                && !states.contains(state)
            {
                return value(format!(
                    "state `{state}`: no task that the plan records has it; list the task, or write `{NO_TASK}`"
                ));
            }
            if let Some(p) = it.when.probability
                && !(0.0..=1.0).contains(&p)
            {
                return value(format!("probability {p}: give a number from 0 to 1"));
            }
            if it.fault == Fault::Negate && it.site.kind != SiteKind::BooleanReturn {
                return value(format!(
                    "negate at a site of kind {}: only boolean_return has a value to negate",
                    it.site.kind.name()
                ));
            }
        }
        Ok(())
    }

    fn check_nodes(&self) -> Result<(), PlanError> {
        for (number, rule) in self.nodes.iter().enumerate() {
            let what = if self.nodes[..number].iter().any(|other| other.name == rule.name) {
                "two rules have this name; put all patterns into one".to_owned()
            } else if rule.threads.is_empty() && rule.mdc.is_none() {
                "its rule names no threads; give `threads` or `mdc`, or leave the rule out if it is a process"
                    .to_owned()
            } else if rule.threads.len() > NodeRule::THREADS_MAX {
                format!("more than {} patterns; use `*` in fewer", NodeRule::THREADS_MAX)
            } else if rule.mdc.as_ref().is_some_and(|mdc| mdc.key.is_empty()) {
                "its `mdc` has an empty key; give the one under which the program keeps the node's name"
                    .to_owned()
            } else {
                continue;
            };
            return Err(PlanError::Node { node: rule.name.clone(), what });
        }
        Ok(())
    }

    /// The rule for a node that is inside JVMs; none if the node is a process.
    pub fn node_rule(&self, name: &str) -> Option<&NodeRule> {
        self.nodes.iter().find(|rule| rule.name == name)
    }
}
