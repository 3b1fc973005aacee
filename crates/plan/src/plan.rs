//! Plan of a trial: candidate faults, the maximum number of injections, and the sites to record.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::{NO_TASK, TaskMethod, state_names};
use crate::{
    FORMAT_VERSION, Fault, Force, Happening, MethodName, NodeRule, Order, SetConstant, Site, SiteKind, Trails,
};

/// The instructions for one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of this format.
    pub version: u32,
    /// The seed of the trial: all chance in it follows from this number.
    #[serde(default)]
    pub seed: u64,
    /// Maximum number of injected candidates, over all JVMs of the trial.
    #[serde(default = "default_limit")]
    pub limit: u32,
    /// From when on faults may happen.
    #[serde(default)]
    pub arm: Arm,
    /// The nodes inside JVMs; any other is a process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRule>,
    /// Lines whose calls cannot fail, since what they work on is in memory: no exception is thrown below them. A candidate
    /// that is due
    /// there waits for its next hit that is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub never_below: Vec<MethodLine>,
    /// The faults, of which the first ones reached happen, up to the limit.
    #[serde(default)]
    pub candidates: Vec<Candidate>,
    /// Instances that come in an order. They are no faults, and take nothing of the limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Order>,
    /// Branches that go a way. They take nothing of the limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub force: Vec<Force>,
    /// Constants of the code that have another value. They take nothing of the limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetConstant>,
    /// True if delays are over before an oracle looks at threads or asks a command: what stands still only because the fault holds
    /// it is not stuck.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outlast: bool,
    /// True if the trial goes on, up to its time limit, until each node that is started again is ready.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settle: bool,
    /// Sites to count and to record.
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arm {
    /// From the start of each JVM.
    #[default]
    Start,
    /// From the moment the lab says that the system is ready.
    Ready,
    /// From the first hit of a site on, in whichever JVM of the trial that is.
    After(Box<Site>),
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
    /// Injection at one hit, at every later one too, or for a while.
    #[serde(default)]
    pub repeat: Repeat,
}

/// Repetition of a candidate after its injection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// Once.
    #[default]
    Once,
    /// At that hit and at every later one that fits the guard; it takes the limit once.
    Always,
    /// As `always`, for so many milliseconds.
    ForMs(u64),
    /// As `always`, so many times in all JVMs together.
    Times(u64),
    /// As `always`, until the delays have taken so many milliseconds together, in all threads of all JVMs.
    TotalMs(u64),
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
    /// Way in which the site was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackGuard>,
    /// The chance with which each matching hit is taken, drawn from the trial's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The abstract state of the thread: one of the tasks that the plan's record lists, as `quorum.SyncThread.run#2`,
    /// or `none` for a thread that works on no task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// A loop that the thread is in, in this method or in one of its callers: its site of kind `loop_body`. The plan's record follows the
    /// loops of that method as `trails`.
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    pub enclosing_loop: Option<Site>,
    /// The time since another site was hit last, in whichever JVM of the trial that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
    /// For sites of the kinds `operation` and `operation_end`: what is worked on, such as the file `zk1/version-2/currentEpoch`, from the
    /// directory of the trial on. `*` stands for any text. Of two, as of a renaming, either may be it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

/// A time since another site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// The other site.
    pub site: Site,
    /// The least time since its last hit.
    #[serde(default)]
    pub at_least_ms: u64,
    /// The most time since its last hit; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most_ms: Option<u64>,
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

/// Counts and records of a trial beside its candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The sites.
    #[serde(default)]
    pub watch: Vec<Watch>,
    /// Also count, record and follow what the plan does that the hooks of the campaign were placed by: its `watch_sites` and `trails`.
    /// Plans of large systems are short by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub common: bool,
    /// Further sites, one by one. What a `watch` says of one of them holds too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watch_sites: Vec<WatchSites>,
    /// The calls, loops and branches by which threads come to what is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trails: Option<Trails>,
    /// The tasks whose abstract states are followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskMethod>,
    /// Dump the threads of every JVM at the end of the trial, also where it ends well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dump: bool,
    /// Number of nearest frames that are kept with a record that has a stack.
    #[serde(default = "default_stack_frames")]
    pub stack_frames: u32,
    /// Grow instead of dropping the oldest events of a thread.
    #[serde(default)]
    pub lossless: bool,
    /// Size of the event buffer of a thread; the oldest events are dropped.
    #[serde(default = "default_ring_kb")]
    pub ring_kb: u32,
    /// Let native code serve every hook. It is slower, and does not depend on the internal classes of the JVM.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub native: bool,
    /// Which time events have.
    #[serde(default, skip_serializing_if = "EventTime::is_exact")]
    pub time: EventTime,
}

/// Which time the events of hits have. Those of log statements, and faults, always have their exact time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventTime {
    /// The time at which it happened. Events of different threads can be ordered by it.
    #[default]
    Exact,
    /// The time at which the tool last updated a clock word, which it does about every millisecond. Such an event costs a third. Those of one
    /// thread are in order; threads cannot be ordered by it.
    Coarse,
}

impl EventTime {
    fn is_exact(&self) -> bool {
        *self == EventTime::Exact
    }
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
            common: false,
            watch_sites: Vec::new(),
            trails: None,
            tasks: Vec::new(),
            dump: false,
            stack_frames: default_stack_frames(),
            lossless: false,
            ring_kb: default_ring_kb(),
            native: false,
            time: EventTime::default(),
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
    /// Level of detail.
    pub level: WatchLevel,
}

/// Sites to watch, each by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchSites {
    /// The sites.
    pub sites: Vec<Site>,
    /// Level of detail.
    pub level: WatchLevel,
}

/// Level of detail at which a site is watched.
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
    /// Its hits are counted, and each leaves a record of what it saw: the object and the value. One that sees no value leaves an event.
    Value,
    /// As `value`, and each record names its stack and its place in the order of all operations of the trial.
    ValueStack,
}

/// Error of a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Another version.
    #[error(
        "the plan has format version {found}, this tool supports version {FORMAT_VERSION}; write the plan again with this version"
    )]
    Version {
        /// Content of the document.
        found: u32,
    },
    /// A rule for a node that says nothing, or contradicts another.
    #[error("node `{node}`: {what}")]
    Node {
        /// The node.
        node: String,
        /// Error and correction.
        what: String,
    },
    /// A point in a method that nobody follows.
    #[error(
        "record.trails: `{site}` is in a method that is not followed; add its method to `methods`, or remove it from `points`"
    )]
    Point {
        /// The site.
        site: String,
    },
    /// A value out of its range.
    #[error("candidate {candidate}: {what}")]
    Value {
        /// Index of the candidate.
        candidate: usize,
        /// Error and correction.
        what: String,
    },
    /// An order, a forced branch or a constant that cannot be.
    #[error("{place}: {what}")]
    Steering {
        /// Which, by its index.
        place: String,
        /// Error and correction.
        what: String,
    },
}

impl Plan {
    /// The plan on its own: with all that it shares with the plan that the hooks of its campaign were placed by.
    #[must_use]
    pub fn completed(mut self, campaign: &Plan) -> Plan {
        if !std::mem::take(&mut self.record.common) {
            return self;
        }
        self.record.watch_sites.extend(campaign.record.watch_sites.iter().cloned());
        if let Some(shared) = &campaign.record.trails {
            let trails = self.record.trails.get_or_insert_default();
            trails.add(shared);
        }
        self
    }
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
            order: Vec::new(),
            force: Vec::new(),
            set: Vec::new(),
            outlast: false,
            settle: false,
            record: Record::default(),
        }
    }
}

impl Repeat {
    /// Error of how long something lasts that is a delay or not, with its correction.
    fn trouble(self, is_delay: bool) -> Option<&'static str> {
        match self {
            Repeat::ForMs(0) | Repeat::Times(0) | Repeat::TotalMs(0) => {
                Some("repeat 0: it would never happen; give 1 or more, or `once`")
            }
            Repeat::TotalMs(_) if !is_delay => {
                Some("total_ms: only delays have a length; give `for_ms` or `times`")
            }
            _ => None,
        }
    }
}

impl Guard {
    /// Error of the time since another site, with its correction.
    fn trouble_with_time(&self) -> Option<String> {
        let since = self.since.as_ref()?;
        let (least, most) = (since.at_least_ms, since.at_most_ms);
        if least == 0 && most.is_none() {
            return Some("since: give `at_least_ms`, `at_most_ms` or both".to_owned());
        }
        let most = most.filter(|&most| most == 0 || most < least)?;
        Some(format!(
            "since: no time is at least {least} ms and at most {most} ms; give a window that is not empty"
        ))
    }
}

impl Plan {
    /// The sites that need a hook beside those of candidates and of what is recorded: what guards and `arm` wait for.
    pub fn other_sites(&self) -> impl Iterator<Item = &Site> {
        let guards = self.candidates.iter().map(|it| &it.when);
        let guards = guards.chain(self.happenings().map(|it| &it.when));
        let guards =
            guards.chain(self.force.iter().map(|it| &it.when)).chain(self.set.iter().map(|it| &it.when));
        let since = guards.filter_map(|it| it.since.as_ref()).map(|it| &it.site);
        let armed = match &self.arm {
            Arm::After(site) => Some(&**site),
            _ => None,
        };
        since.chain(armed).chain(self.steered_sites())
    }

    /// The sites that the plan orders, forces and sets.
    fn steered_sites(&self) -> impl Iterator<Item = &Site> {
        let forced = self.force.iter().map(|it| &it.branch);
        let set = self.set.iter().map(|it| &it.constant);
        self.happenings().map(|it| &it.site).chain(forced).chain(set)
    }

    fn happenings(&self) -> impl Iterator<Item = &Happening> {
        self.order.iter().flat_map(|it| [&it.first, &it.then])
    }

    /// Tests whether it orders, forces or sets anything.
    pub fn is_steered(&self) -> bool {
        self.steered_sites().next().is_some()
    }

    /// Checks everything that can be checked without the target.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.version != FORMAT_VERSION {
            return Err(PlanError::Version { found: self.version });
        }
        self.check_nodes()?;
        self.check_points()?;
        let states = state_names(&self.record.tasks);
        for (candidate, it) in self.candidates.iter().enumerate() {
            let value = |what: String| Err(PlanError::Value { candidate, what });
            if let Some(what) = it.repeat.trouble(matches!(it.fault, Fault::Delay { .. })) {
                return value(what.to_owned());
            }
            if let Some(what) = self.trouble_with_guard(&it.site, &it.when, &states) {
                return value(what);
            }
            if matches!(it.fault, Fault::Exception { .. }) && it.site.kind == SiteKind::CallThrow {
                return value("an exception at a site of kind call_throw would go past the handlers of the method; throw it at the `call`".into());
            }
            if let Some(what) = it.fault.trouble_with_path().or_else(|| self.trouble_with_parts(&it.fault)) {
                return value(what);
            }
            if it.fault.lasts_for_a_time() && matches!(it.repeat, Repeat::Once | Repeat::Times(_)) {
                return value(format!("{} lasts for a time: give `for_ms` or `always`", it.fault.name()));
            }
            if it.fault == Fault::Drop && it.site.kind != SiteKind::Operation {
                return value(format!(
                    "drop at a site of kind {}: it begins at a write of the JDK, as `NioSocketImpl.tryWrite operation` or \
                     `IOUtil.write operation`",
                    it.site.kind.name()
                ));
            }
            if matches!(it.fault, Fault::Exception { .. }) && it.site.kind.is_of_monitor() {
                return value(format!(
                    "an exception at a site of kind {} would leave the monitor held, or released twice; throw it at another site of the method",
                    it.site.kind.name()
                ));
            }
            if it.fault == Fault::Negate && !it.site.kind.sees_boolean() {
                return value(format!(
                    "negate at a site of kind {}: use a site of kind boolean_return or branch",
                    it.site.kind.name()
                ));
            }
        }
        self.check_steering(&states)
    }

    /// Error of a guard for a site, with its correction.
    fn trouble_with_guard(&self, site: &Site, when: &Guard, states: &[String]) -> Option<String> {
        if let Some(what) = when.trouble_with_time().or_else(|| self.trouble_with_loop(when)) {
            return Some(what);
        }
        if when.occurrence == Some(0) {
            return Some("occurrence 0: the first hit is number 1".into());
        }
        if let Some(state) = &when.state
            && !states.contains(state)
        {
            return Some(format!(
                "state `{state}`: no task of the plan has it; list the task, or use `{NO_TASK}`"
            ));
        }
        if let Some(p) = when.probability
            && !(0.0..=1.0).contains(&p)
        {
            return Some(format!("probability {p}: give a number from 0 to 1"));
        }
        let has_none = when.resource.is_some() && !site.kind.is_operation();
        has_none.then(|| {
            format!(
                "resource at a site of kind {}: only those of the kinds operation and operation_end have one",
                site.kind.name()
            )
        })
    }

    fn check_steering(&self, states: &[String]) -> Result<(), PlanError> {
        let check = |place: String, trouble: Option<String>| match trouble {
            Some(what) => Err(PlanError::Steering { place, what }),
            None => Ok(()),
        };
        for (number, it) in self.order.iter().enumerate() {
            check(format!("order {number}"), it.trouble().or_else(|| self.trouble_with_end(it)))?;
            for (side, Happening { site, when }) in [("first", &it.first), ("then", &it.then)] {
                let trouble = self.trouble_with_guard(site, when, states);
                check(format!("order {number}, {side}"), trouble)?;
            }
        }
        let lasting = |repeat: Repeat| repeat.trouble(false).map(str::to_owned);
        for (number, it) in self.force.iter().enumerate() {
            let trouble = it.trouble().or_else(|| lasting(it.repeat));
            let trouble = trouble.or_else(|| self.trouble_with_guard(&it.branch, &it.when, states));
            check(format!("force {number}"), trouble)?;
        }
        for (number, it) in self.set.iter().enumerate() {
            let trouble = it.trouble().or_else(|| lasting(it.repeat));
            let trouble = trouble.or_else(|| self.trouble_with_guard(&it.constant, &it.when, states));
            check(format!("set {number}"), trouble)?;
        }
        Ok(())
    }

    /// A thread that is to wait where an exception or a crash ends its method cannot do both at one hit.
    fn trouble_with_end(&self, order: &Order) -> Option<String> {
        let ends = |it: &&Candidate| {
            matches!(it.fault, Fault::Exception { .. } | Fault::Crash { .. })
                && it.site.same_point(&order.then.site)
        };
        let candidate = self.candidates.iter().position(|it| ends(&it))?;
        Some(format!(
            "then is the site of candidate {candidate}, which ends the method there; let another site wait, such as the entry of the method"
        ))
    }

    /// The points of trails are in methods that are followed.
    fn check_points(&self) -> Result<(), PlanError> {
        // What is shared may follow them.
        let Some(trails) = self.record.trails.as_ref().filter(|_| !self.record.common) else { return Ok(()) };
        let followed: BTreeSet<&MethodName> = trails.methods.iter().collect();
        match trails.points.iter().find(|it| !followed.contains(&MethodName::of(it))) {
            Some(site) => Err(PlanError::Point { site: site.to_string() }),
            None => Ok(()),
        }
    }

    fn trouble_with_parts(&self, fault: &Fault) -> Option<String> {
        let Fault::Partition { nodes } = fault else { return None };
        if nodes[0] == nodes[1] || nodes.iter().any(String::is_empty) {
            return Some("partition: give two nodes".to_owned());
        }
        let inside = nodes.iter().find(|it| self.node_rule(it).is_some())?;
        Some(format!(
            "partition: node `{inside}` is a part of a JVM, which has no network of its own; name processes"
        ))
    }

    fn trouble_with_loop(&self, when: &Guard) -> Option<String> {
        let wanted = when.enclosing_loop.as_ref()?;
        if wanted.kind != SiteKind::LoopBody {
            return Some(format!("loop: `{wanted}` is no site of kind loop_body; name the loop by that"));
        }
        let followed = self.record.trails.as_ref().filter(|it| it.has_loops());
        let is_followed = followed.is_some_and(|it| it.methods.contains(&MethodName::of(wanted)));
        (!is_followed).then(|| {
            let Site { class, method, .. } = wanted;
            format!(
                "loop: nobody follows the loops of {class}.{method}; list it in `record.trails`, with `loops`"
            )
        })
    }

    fn check_nodes(&self) -> Result<(), PlanError> {
        for (number, rule) in self.nodes.iter().enumerate() {
            let what = if self.nodes[..number].iter().any(|other| other.name == rule.name) {
                "two rules have this name; combine their patterns in one".to_owned()
            } else if rule.threads.is_empty() && rule.mdc.is_none() {
                "its rule names no threads; give `threads` or `mdc`, or remove the rule if the node is a process"
                    .to_owned()
            } else if rule.threads.len() > NodeRule::THREADS_MAX {
                format!("more than {} patterns; use `*` in fewer", NodeRule::THREADS_MAX)
            } else if rule.mdc.as_ref().is_some_and(|mdc| mdc.key.is_empty()) {
                "its `mdc` has an empty key; give the key under which the program stores the name of the node"
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
