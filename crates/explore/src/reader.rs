//! Requests in the evidence of a trial: their threads, states and counts.

use std::sync::{Arc, OnceLock};

use hypocenter_engine::{Digester, Evidence, Job, Work};
use hypocenter_logs::role;
use hypocenter_plan::{NO_TASK, NodeRule, Plan, SiteKind, StateId, glob_matches, state_names};
use hypocenter_trace::{Map, SiteId, Trace};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::logged::{Logged, logged};
use crate::threads::{ThreadAtEnd, at_end};

/// Maximum number of requests of a run without a fault that are kept one by one.
const SEQUENCE_MAX: usize = 1 << 12;
/// Maximum number of distinct requests of a trial that are kept; there are few if threads have good names.
const REQUESTED_MAX: usize = 1 << 16;

/// Origin of requests: a node, and the abstract state of one of its threads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Situation {
    /// The node.
    pub node: String,
    /// The abstract state, or `none`.
    pub state: String,
    /// The name of the thread, which is the state of one that works on no task: a pattern, in which `*` stands for what
    /// numbers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// Requests of one call in one situation, with one stack where stacks are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    /// Situation, by its number in the digest.
    pub situation: u32,
    /// The call, by its number in the catalogue.
    pub site: u32,
    /// Its stack, by its number in the digest from 1; 0 if none was recorded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stack: u32,
    /// Count.
    pub times: u64,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Excerpt of the evidence of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialDigest {
    /// Origins of requests.
    pub situations: Vec<Situation>,
    /// The methods of recorded stacks, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Vec<String>>,
    /// The requests, in the order in which they came first: those before the fault of the trial, if it had one. What comes behind is
    /// what the fault has done, and no other trial would come there with its fault still to be injected.
    pub requested: Vec<Requested>,
    /// True if the fault happened, so that not all requests count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Of a run without a fault: its requests one by one, as situation and call, as far as they are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<(u32, u32)>,
    /// The abstract states that threads came to, in the order of the plan.
    pub states: Vec<String>,
    /// Entries logged as a warning or worse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logged: Vec<Logged>,
    /// Activity of threads at the end, if they were dumped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadAtEnd>,
    /// Why the trial says less than it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

impl TrialDigest {
    /// A stack by its number; empty if none was recorded.
    pub fn stack(&self, number: u32) -> Vec<String> {
        number.checked_sub(1).and_then(|it| self.stacks.get(it as usize)).cloned().unwrap_or_default()
    }

    /// All requests.
    pub fn requests(&self) -> u64 {
        self.requested.iter().map(|it| it.times).sum()
    }
}

/// Reads the evidence of trials.
#[derive(Debug, Clone)]
pub struct Reader {
    catalogue: Arc<Catalogue>,
    /// For each site of the map its number in the catalogue: all trials of a campaign have the same map.
    numbers: Arc<OnceLock<Vec<Option<u32>>>>,
}

impl Reader {
    pub(crate) fn new(catalogue: Arc<Catalogue>) -> Reader {
        Reader { catalogue, numbers: Arc::default() }
    }

    fn numbers(&self, map: &Map<'_>) -> &[Option<u32>] {
        self.numbers.get_or_init(|| {
            let number = |id: usize| {
                let site = map.site(SiteId(id as u32)).filter(|it| it.kind == SiteKind::Call)?;
                self.catalogue.find(&site)
            };
            (0..map.site_count()).map(number).collect()
        })
    }

    fn requests(&self, plan: &Plan, map: &Map<'_>, trace: &Trace<'_>) -> TrialDigest {
        let is_normal = plan.candidates.is_empty();
        let mut found = Found { names: state_names(&plan.record.tasks), is_normal, ..Found::default() };
        let numbers = self.numbers(map);
        let jvms: Vec<_> = trace.jvms().into_iter().map(|it| (trace.dictionary(&it), it)).collect();
        let injections = jvms.iter().flat_map(|(dictionary, _)| &dictionary.injections);
        let injected = injections.map(|it| it.ticks).min();
        // What came before nobody could have injected, nor is it counted.
        let armed = trace.armed_at().unwrap_or(u64::MAX);
        for (dictionary, jvm) in jvms {
            found.of_thread.clear();
            found.stacks_here.clear();
            for event in trace.events(&jvm) {
                let Some(&Some(site)) = numbers.get(event.site.0 as usize) else { continue };
                if event.ticks < armed || injected.is_some_and(|it| event.ticks > it) {
                    continue;
                }
                let name = || dictionary.thread_name(event.thread);
                let situation = found.situation(plan, &jvm.node, event.thread, event.state, name);
                let stack = match event.stack {
                    0 => 0,
                    it => found.stack(it, || dictionary.stack(it).into_iter().map(|it| it.0).collect()),
                };
                found.request(event.ticks, situation, site, stack);
            }
            for it in trace.transitions(&jvm) {
                found.came_to(it.to);
            }
        }
        TrialDigest { is_cut: injected.is_some(), ..found.digest() }
    }
}

impl Digester for Reader {
    type Digest = TrialDigest;
    type Reading = ();

    fn digest(&self, job: &Job, evidence: &[Evidence], (): ()) -> TrialDigest {
        let (Work::Trial { plan, .. }, [evidence]) = (&job.work, evidence) else {
            return TrialDigest::default();
        };
        let mut digest = match (evidence.map(), evidence.trace()) {
            (Ok(map), Ok(trace)) => self.requests(plan, &map, &trace),
            (Err(error), _) => TrialDigest { unreadable: Some(error.to_string()), ..TrialDigest::default() },
            (_, Err(error)) => TrialDigest { unreadable: Some(error.to_string()), ..TrialDigest::default() },
        };
        digest.logged = logged(evidence.logs());
        digest.threads = at_end(evidence.dumps());
        digest
    }
}

/// The requests of a trial, while they are read.
#[derive(Debug, Default)]
struct Found {
    /// True if it is a run without a fault, whose requests are kept one by one.
    is_normal: bool,
    names: Vec<String>,
    situations: Vec<Situation>,
    known: FxHashMap<Situation, u32>,
    /// Of the JVM at hand: the situation of a thread in a state.
    of_thread: FxHashMap<(u32, StateId), u32>,
    stacks: Vec<Vec<String>>,
    stacks_known: FxHashMap<Vec<String>, u32>,
    /// Of the JVM at hand: its stacks.
    stacks_here: FxHashMap<u32, u32>,
    /// Count, and time of the first.
    counts: FxHashMap<(u32, u32, u32), (u64, u64)>,
    sequence: Vec<(u64, u32, u32)>,
    entered: Vec<bool>,
}

impl Found {
    fn situation<'a>(
        &mut self,
        plan: &Plan,
        process: &str,
        thread: u32,
        state: StateId,
        name: impl Fn() -> &'a str,
    ) -> u32 {
        if let Some(&known) = self.of_thread.get(&(thread, state)) {
            return known;
        }
        let situation = Situation {
            node: node_of(&plan.nodes, process, name()).to_owned(),
            state: self.names.get(state.0 as usize).map_or(NO_TASK, String::as_str).to_owned(),
            thread: (state == StateId::NO_TASK).then(|| role(name()).replace('#', "*")),
        };
        let next = self.situations.len() as u32;
        let number = *self.known.entry(situation).or_insert_with_key(|it| {
            self.situations.push(it.clone());
            next
        });
        self.of_thread.insert((thread, state), number);
        self.came_to(state);
        number
    }

    fn stack(&mut self, here: u32, frames: impl Fn() -> Vec<String>) -> u32 {
        if let Some(&known) = self.stacks_here.get(&here) {
            return known;
        }
        let next = self.stacks.len() as u32 + 1;
        let number = *self.stacks_known.entry(frames()).or_insert_with_key(|it| {
            self.stacks.push(it.clone());
            next
        });
        self.stacks_here.insert(here, number);
        number
    }

    fn request(&mut self, ticks: u64, situation: u32, site: u32, stack: u32) {
        let key = (situation, site, stack);
        if self.counts.len() < REQUESTED_MAX || self.counts.contains_key(&key) {
            let count = self.counts.entry(key).or_insert((0, ticks));
            *count = (count.0 + 1, count.1.min(ticks));
        }
        if self.is_normal {
            self.sequence.push((ticks, situation, site));
        }
    }

    fn came_to(&mut self, state: StateId) {
        let at = state.0 as usize;
        if state != StateId::NO_TASK && at < self.names.len() {
            self.entered.resize(self.names.len(), false);
            self.entered[at] = true;
        }
    }

    fn digest(mut self) -> TrialDigest {
        let mut counts: Vec<_> = self.counts.into_iter().collect();
        counts.sort_unstable_by_key(|&(key, (_, first))| (first, key));
        let requested = counts.into_iter().map(|((situation, site, stack), (times, _))| Requested {
            situation,
            site,
            stack,
            times,
        });
        self.sequence.sort_unstable();
        self.sequence.truncate(SEQUENCE_MAX);
        let entered = self.names.into_iter().zip(&self.entered);
        TrialDigest {
            situations: self.situations,
            stacks: self.stacks,
            requested: requested.collect(),
            sequence: self.sequence.into_iter().map(|(_, situation, site)| (situation, site)).collect(),
            states: entered.filter(|(_, entered)| **entered).map(|(name, _)| name).collect(),
            ..TrialDigest::default()
        }
    }
}

/// The node that a thread belongs to: one inside the process by the name of the thread, else the process.
fn node_of<'a>(rules: &'a [NodeRule], process: &'a str, thread: &str) -> &'a str {
    let fits = |rule: &&NodeRule| rule.threads.iter().any(|it| glob_matches(it, thread));
    rules.iter().find(fits).map_or(process, |it| &it.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_situation_and_call_in_the_order_of_time() {
        let names = vec![NO_TASK.into(), "a.A.run#0".into()];
        let mut found = Found { names, is_normal: true, ..Found::default() };
        let plan = Plan::default();
        let task = found.situation(&plan, "n1", 1, StateId(1), || "worker-1");
        let same = found.situation(&plan, "n1", 2, StateId(1), || "worker-2");
        let idle = found.situation(&plan, "n1", 3, StateId(0), || "pool-1-thread-7");
        let also = found.situation(&plan, "n1", 4, StateId(0), || "pool-2-thread-9");
        assert_eq!((task, idle), (same, also));
        for (ticks, situation, site) in [(30, task, 5), (10, idle, 6), (20, task, 5)] {
            found.request(ticks, situation, site, 0);
        }
        let digest = found.digest();
        let idle_thread = digest.situations[idle as usize].thread.as_deref();
        assert_eq!(idle_thread, Some("pool-*-thread-*"));
        let requested = |situation, site, times| Requested { situation, site, stack: 0, times };
        assert_eq!(digest.requested, [requested(idle, 6, 1), requested(task, 5, 2)]);
        assert_eq!(digest.sequence, [(idle, 6), (task, 5), (task, 5)]);
        assert_eq!(digest.states, ["a.A.run#0"]);
        assert_eq!(digest.requests(), 3);
        let text = serde_json::to_string(&digest).unwrap();
        assert_eq!(serde_json::from_str::<TrialDigest>(&text).unwrap(), digest);
    }

    #[test]
    fn a_node_inside_a_process_is_known_by_its_threads() {
        let rules = [NodeRule { name: "zk2".into(), threads: vec!["zk2-*".into()], mdc: None }];
        assert_eq!(node_of(&rules, "main", "zk2-sync"), "zk2");
        assert_eq!(node_of(&rules, "main", "zk1-sync"), "main");
    }
}
