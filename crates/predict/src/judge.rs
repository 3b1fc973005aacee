//! Verdict over a run: whether every node is there and well again, and every client was served.

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_plan::{Outcome, Problem, ProcessOutcome, Role};

/// The most problems that are quoted.
const NAMED_MAX: usize = 2;

/// Nodes as they are in runs without a fault.
#[derive(Debug, Default)]
pub(crate) struct NormalEnds {
    /// Nodes that ended by themselves.
    ended: BTreeSet<String>,
    /// Nodes that were ready.
    ready: BTreeSet<String>,
}

impl NormalEnds {
    /// Takes a run without a fault down; gives what is wrong with it.
    pub(crate) fn take_down(&mut self, outcome: &Outcome) -> Option<String> {
        if let Some(wrong) = self.wrong_with_clients(outcome) {
            return Some(wrong);
        }
        let oracle = outcome.problems.iter().find(|it| it.place == Problem::ORACLE);
        if let Some(it) = oracle {
            return Some(format!("the oracle cannot judge: {}", it.what));
        }
        let unwell = outcome.processes.iter().find(|it| it.alive == Some(false));
        if let Some(it) = unwell {
            return Some(format!("{} reports unhealthy: check its `alive`", it.name));
        }
        self.ended.extend(outcome.ended_nodes().map(|it| it.name.clone()));
        let ready = outcome.processes.iter().filter(|it| it.ready_ms.is_some());
        self.ready.extend(ready.map(|it| it.name.clone()));
        None
    }

    /// What is wrong with a run in which a node crashed: each node counts by its last start.
    pub(crate) fn wrong(&self, outcome: &Outcome) -> Option<String> {
        let nodes = outcome.processes.iter().filter(|it| it.role == Role::Node);
        let last: BTreeMap<&str, &ProcessOutcome> = nodes.map(|it| (it.name.as_str(), it)).collect();
        let of_nodes = last.values().filter_map(|it| self.wrong_with(it, outcome));
        let all: Vec<String> = of_nodes.chain(self.wrong_with_clients(outcome)).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn wrong_with(&self, it: &ProcessOutcome, outcome: &Outcome) -> Option<String> {
        let start = if it.incarnation > 1 { format!(" (start {})", it.incarnation) } else { String::new() };
        let told = |what: &str| format!("node {}{start} {what}{}", it.name, said_of(outcome, &it.name));
        match it.end {
            Some(end) if !self.ended.contains(&it.name) => Some(told(&end.to_string())),
            None if it.ready_ms.is_none() && self.ready.contains(&it.name) => Some(told("is not ready")),
            None if it.alive == Some(false) => Some(told("reports unhealthy")),
            _ => None,
        }
    }

    fn wrong_with_clients(&self, outcome: &Outcome) -> Option<String> {
        if let Some(it) = outcome.failure.as_ref().filter(|it| it.happened) {
            return Some(format!("the oracle reports the failure: {}", it.why));
        }
        if outcome.end.is_well() {
            return None;
        }
        let unwell = outcome.processes.iter().filter(|it| it.role == Role::Client && !it.is_well());
        let of_clients = unwell.map(|it| said_of(outcome, &it.name)).take(NAMED_MAX).collect::<String>();
        Some(format!("the workload {}{of_clients}", outcome.end))
    }
}

/// What the lab says of a process.
fn said_of(outcome: &Outcome, name: &str) -> String {
    let said = outcome.problems.iter().find(|it| it.place == name);
    said.map_or_else(String::new, |it| format!(": {name}: {}", it.what))
}
