//! The executions of sites in a run: by whom, in which order, and where they lie in the failure log.

use std::collections::BTreeMap;
use std::sync::Arc;

use hypocenter_logs::{ShownNames, role};
use hypocenter_plan::Guard;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::space::{Instance, Thread};

/// The executions of one site by one thread of a node, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByThread {
    /// The site, by its number in the catalogue.
    pub site: u32,
    /// The node.
    pub node: String,
    /// The thread's name.
    pub thread: String,
    /// For each its place among all executions of the run.
    pub orders: Vec<u32>,
    /// For each how many entries of the failure log come before it, at the least.
    pub positions: Vec<u32>,
    /// For each how many come before it is over, at the most.
    pub ends: Vec<u32>,
    /// For each what stands for its stack; empty where stacks were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<u64>,
}

/// The executions of a run with the names by which a plan asks for them.
#[derive(Debug, Default)]
pub struct Executions {
    /// For each site its executions, in their order.
    pub instances: Vec<Vec<Instance>>,
    /// For each of them the group and its number in it, from 1.
    names: Vec<Vec<(u32, u32)>>,
    groups: Vec<Guard>,
}

impl Executions {
    /// From what one run recorded. `stable` says which threads have the same name in every run; of others all with the same
    /// role are counted together.
    pub fn of(
        sites: usize,
        recorded: &[ByThread],
        stable: &FxHashSet<(String, String)>,
        threads: &mut Threads,
    ) -> Executions {
        let mut found = Executions {
            instances: vec![Vec::new(); sites],
            names: vec![Vec::new(); sites],
            groups: Vec::new(),
        };
        let mut groups: FxHashMap<(String, String), u32> = FxHashMap::default();
        let mut all: Vec<(u32, u32, Instance)> = Vec::new();
        for it in recorded.iter().filter(|it| (it.site as usize) < sites) {
            let pattern = pattern(it, stable);
            let thread = threads.number(&it.node, &it.thread);
            let guards = &mut found.groups;
            let group = *groups.entry((it.node.clone(), pattern)).or_insert_with_key(|(node, thread)| {
                let (node, thread) = (Some(node.clone()), Some(thread.clone()));
                guards.push(Guard { node, thread, ..Guard::default() });
                guards.len() as u32 - 1
            });
            for (at, (&order, &position)) in it.orders.iter().zip(&it.positions).enumerate() {
                let stack = it.stacks.get(at).copied().unwrap_or(0);
                let end = it.ends.get(at).copied().unwrap_or(position);
                all.push((it.site, group, Instance { position, end, order, thread, stack }));
            }
        }
        all.sort_unstable_by_key(|(site, _, instance)| (*site, instance.order));
        let mut counts: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for (site, group, instance) in all {
            let count = counts.entry((site, group)).or_default();
            *count += 1;
            found.instances[site as usize].push(instance);
            found.names[site as usize].push((group, *count));
        }
        found
    }

    /// Leaves those that come behind one of them, if it is there, and gives that one.
    pub fn keep_behind(&mut self, site: u32, guard: &Guard) -> Option<Instance> {
        let mut instances = 0..self.instances[site as usize].len() as u32;
        let at = instances.find(|&it| self.guard(site, it) == *guard)?;
        let found = self.instances[site as usize][at as usize];
        let order = found.order;
        for (instances, names) in self.instances.iter_mut().zip(&mut self.names) {
            // They stand in their order.
            let first = instances.partition_point(|it| it.order <= order);
            instances.drain(..first);
            names.drain(..first);
        }
        Some(found)
    }

    /// The guard by which a plan asks for one of them.
    pub fn guard(&self, site: u32, instance: u32) -> Guard {
        let (group, number) = self.names[site as usize][instance as usize];
        Guard { occurrence: Some(number.into()), ..self.groups[group as usize].clone() }
    }
}

/// How a plan names the thread of these executions.
fn pattern(of: &ByThread, stable: &FxHashSet<(String, String)>) -> String {
    if stable.contains(&(of.node.clone(), of.thread.clone())) {
        of.thread.clone()
    } else {
        // What numbers the thread may be anything.
        role(&of.thread).replace('#', "*")
    }
}

/// When the instances that plans ask for came in a run, by site, node and thread.
#[derive(Debug, Default)]
pub struct Orders(FxHashMap<(u32, String, String), Vec<u32>>);

impl Orders {
    /// Of what one run recorded; `stable` as for [`Executions::of`].
    pub fn of(recorded: &[ByThread], stable: &FxHashSet<(String, String)>) -> Orders {
        let mut found: FxHashMap<(u32, String, String), Vec<u32>> = FxHashMap::default();
        for it in recorded {
            let key = (it.site, it.node.clone(), pattern(it, stable));
            found.entry(key).or_default().extend(&it.orders);
        }
        found.values_mut().for_each(|it| it.sort_unstable());
        Orders(found)
    }

    /// The place of an instance among all executions of the run, if it came.
    pub fn place(&self, site: u32, guard: &Guard) -> Option<u32> {
        let (node, thread) = (guard.node.clone()?, guard.thread.clone()?);
        let number = usize::try_from(guard.occurrence?).ok()?.checked_sub(1)?;
        self.0.get(&(site, node, thread))?.get(number).copied()
    }
}

/// Numbers threads, also those of which the failure log shows a part of the name.
#[derive(Debug, Clone, Default)]
pub struct Threads {
    shown: Arc<ShownNames>,
    /// The nodes that have a log of their own.
    nodes: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl Threads {
    /// Of a failure with these logs, each named like its node; one log may be that of all.
    pub fn of_nodes<'n>(nodes: impl ExactSizeIterator<Item = &'n str>, shown: ShownNames) -> Threads {
        let is_of_all = nodes.len() <= 1;
        let nodes = if is_of_all { Vec::new() } else { nodes.map(str::to_owned).collect() };
        Threads { shown: Arc::new(shown), nodes, numbers: FxHashMap::default() }
    }

    /// How the failure log shows names.
    pub fn shown(&self) -> Arc<ShownNames> {
        self.shown.clone()
    }

    /// What stands for a thread of this name.
    pub fn number(&mut self, node: &str, name: &str) -> Thread {
        let node = self.nodes.iter().position(|it| it == node).map_or(0, |it| it as u32 + 1);
        let name = self.shown.of_name(name);
        let role = role(name);
        let mut of = |text: &str| {
            let next = self.numbers.len() as u32;
            *self.numbers.entry(text.to_owned()).or_insert(next)
        };
        Thread { node, name: of(name), role: of(&role) }
    }
}

/// The threads, by node and name, that all of some runs have.
pub fn stable_threads<'r>(runs: impl IntoIterator<Item = &'r [ByThread]>) -> FxHashSet<(String, String)> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut count = 0;
    for run in runs {
        count += 1;
        let mut own: Vec<(&str, &str)> =
            run.iter().map(|it| (it.node.as_str(), it.thread.as_str())).collect();
        own.sort_unstable();
        own.dedup();
        own.into_iter().for_each(|it| *seen.entry(it).or_default() += 1);
    }
    let of_all = seen.into_iter().filter(|&(_, times)| times == count);
    of_all.map(|((node, thread), _)| (node.to_owned(), thread.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(site: u32, thread: &str, orders: &[u32]) -> ByThread {
        ByThread {
            site,
            node: "n".to_owned(),
            thread: thread.to_owned(),
            orders: orders.to_vec(),
            positions: orders.to_vec(),
            ends: orders.to_vec(),
            stacks: Vec::new(),
        }
    }

    #[test]
    fn threads_are_asked_for_by_name_if_it_lasts_and_by_role_if_not() {
        let first =
            [recorded(0, "main", &[0, 4]), recorded(0, "pool-7", &[1, 5]), recorded(0, "pool-8", &[2])];
        let second = [recorded(0, "main", &[0, 3]), recorded(0, "pool-9", &[1])];
        let stable = stable_threads([&first[..], &second[..]]);
        assert_eq!(stable.len(), 1);
        let found = Executions::of(2, &first, &stable, &mut Threads::default());
        assert_eq!(found.instances[0].len(), 5);
        let asked = |instance| {
            let guard = found.guard(0, instance);
            (guard.thread.unwrap(), guard.occurrence.unwrap())
        };
        let all: Vec<(String, u64)> = (0..5).map(asked).collect();
        let expected = [("main", 1), ("pool-*", 1), ("pool-*", 2), ("main", 2), ("pool-*", 3)];
        assert_eq!(all, expected.map(|(thread, n)| (thread.to_owned(), n)));
        assert_eq!(found.instances[0].iter().map(|it| it.order).collect::<Vec<_>>(), [0, 1, 2, 4, 5]);
        // The same instances in the other run, which has fewer of them.
        let orders = Orders::of(&second, &stable);
        let places: Vec<Option<u32>> = (0..5).map(|it| orders.place(0, &found.guard(0, it))).collect();
        assert_eq!(places, [Some(0), Some(1), None, Some(3), None]);
        assert!(found.instances[1].is_empty());
    }

    #[test]
    fn what_comes_behind_one_keeps_its_number() {
        let run = [recorded(0, "main", &[0, 4, 6]), recorded(1, "main", &[1, 5])];
        let stable = stable_threads([&run[..]]);
        let mut found = Executions::of(2, &run, &stable, &mut Threads::default());
        let second = found.guard(0, 1);
        found.keep_behind(0, &second);
        assert_eq!([found.instances[0].len(), found.instances[1].len()], [1, 1]);
        assert_eq!([found.guard(0, 0).occurrence, found.guard(1, 0).occurrence], [Some(3), Some(2)]);
        // One that is not there leaves all.
        found.keep_behind(0, &Guard { occurrence: Some(9), ..second });
        assert_eq!([found.instances[0].len(), found.instances[1].len()], [1, 1]);
    }
}
