//! The executions of sites in a run: by whom, in which order, and where they lie in the failure log.

use std::sync::Arc;

use hypocenter_logs::{ShownNames, role};
use hypocenter_plan::{Guard, glob_matches};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::naming::{Naming, Patterns, Sure, pattern};
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
    /// For each of them how it is asked for.
    names: Vec<Vec<Named>>,
    /// The threads, by node and name.
    threads: Vec<(String, String)>,
    /// By node and thread, or role.
    groups: Vec<Guard>,
}

/// How an execution is asked for.
#[derive(Debug, Clone, Copy)]
struct Named {
    /// The thread that it was.
    thread: u32,
    /// The group in which it is counted.
    group: u32,
    /// Its number there, from 1.
    number: u32,
}

/// A thread, and where its executions are counted.
#[derive(Debug)]
struct Counted {
    /// All groups for which they count.
    groups: Vec<u32>,
    by_name: u32,
    by_role: u32,
}

impl Executions {
    /// From what one run recorded.
    pub fn of(sites: usize, recorded: &[ByThread], naming: &Naming, threads: &mut Threads) -> Executions {
        let mut found = Executions {
            instances: vec![Vec::new(); sites],
            names: vec![Vec::new(); sites],
            ..Executions::default()
        };
        let (counted, of_recorded) = found.counted(recorded);
        let mut all: Vec<(u32, u32, Instance)> = Vec::new();
        for (number, it) in (0..).zip(recorded).filter(|(_, it)| (it.site as usize) < sites) {
            let thread = threads.number(&it.node, &it.thread);
            for (at, (&order, &position)) in it.orders.iter().zip(&it.positions).enumerate() {
                let stack = it.stacks.get(at).copied().unwrap_or(0);
                let end = it.ends.get(at).copied().unwrap_or(position);
                all.push((it.site, number, Instance { position, end, order, thread, stack }));
            }
        }
        all.sort_unstable_by_key(|(site, _, instance)| (*site, instance.order));
        let sure: Vec<Sure> = recorded.iter().map(|it| naming.sure(it.site, &it.node, &it.thread)).collect();
        for of_site in all.chunk_by(|a, b| a.0 == b.0) {
            let mut counts = vec![0; found.groups.len()];
            for &(site, number, instance) in of_site {
                let thread = of_recorded[number as usize];
                let Counted { groups, by_name, by_role } = &counted[thread as usize];
                groups.iter().for_each(|&group| counts[group as usize] += 1);
                let (own, of_role) = (counts[*by_name as usize], counts[*by_role as usize]);
                let is_by_role = sure[number as usize].is_by_role(own, of_role);
                let (group, number) = if is_by_role { (*by_role, of_role) } else { (*by_name, own) };
                found.instances[site as usize].push(instance);
                found.names[site as usize].push(Named { thread, group, number });
            }
        }
        found
    }

    /// Numbers threads and groups: the threads, and for each item of what was recorded its thread.
    fn counted(&mut self, recorded: &[ByThread]) -> (Vec<Counted>, Vec<u32>) {
        let patterns = Patterns::of(recorded);
        let mut groups: FxHashMap<(&str, String), u32> = FxHashMap::default();
        let mut known: FxHashMap<(&str, &str), u32> = FxHashMap::default();
        let mut counted = Vec::new();
        let mut of_recorded = Vec::new();
        for it in recorded {
            let number = *known.entry((&it.node, &it.thread)).or_insert_with(|| {
                let mut group = |pattern: String| {
                    *groups.entry((&it.node, pattern)).or_insert_with_key(|(node, pattern)| {
                        let (node, thread) = (Some((*node).to_owned()), Some(pattern.clone()));
                        self.groups.push(Guard { node, thread, ..Guard::default() });
                        self.groups.len() as u32 - 1
                    })
                };
                let fitting = patterns.fitting(&it.node, &it.thread);
                counted.push(Counted {
                    groups: fitting.into_iter().map(&mut group).collect(),
                    by_name: group(it.thread.clone()),
                    by_role: group(pattern(&it.thread)),
                });
                self.threads.push((it.node.clone(), it.thread.clone()));
                counted.len() as u32 - 1
            });
            of_recorded.push(number);
        }
        (counted, of_recorded)
    }

    /// The execution that a guard asks for, by its number among those of the site.
    pub fn find(&self, site: u32, guard: &Guard) -> Option<u32> {
        let (node, pattern) = (guard.node.as_ref()?, guard.thread.as_ref()?);
        let fits = |(of, thread): &(String, String)| of == node && glob_matches(pattern, thread);
        let fitting: Vec<bool> = self.threads.iter().map(fits).collect();
        let mut fitting = (0..).zip(&self.names[site as usize]).filter(|(_, it)| fitting[it.thread as usize]);
        let number = usize::try_from(guard.occurrence?).ok()?.checked_sub(1)?;
        fitting.nth(number).map(|it| it.0)
    }

    /// The guard by which one that is asked for by the name of its thread is asked for among all threads of its role, if other threads of
    /// that role execute the site too.
    pub fn by_role(&self, site: u32, guard: &Guard) -> Option<Guard> {
        let names = &self.names[site as usize];
        let at = self.find(site, guard)? as usize;
        let (node, thread) = &self.threads[names[at].thread as usize];
        let role = pattern(thread);
        let is_like = |it: &&Named| {
            let (of, name) = &self.threads[it.thread as usize];
            of == node && glob_matches(&role, name)
        };
        let is_shared = names.iter().filter(is_like).any(|it| it.thread != names[at].thread);
        let number = names[..=at].iter().filter(is_like).count() as u64;
        let is_named = guard.thread.as_ref() == Some(thread);
        (is_named && is_shared).then(|| Guard {
            thread: Some(role),
            occurrence: Some(number),
            ..guard.clone()
        })
    }

    /// Leaves those that come behind one of them, if it is there, and gives that one.
    pub fn keep_behind(&mut self, site: u32, guard: &Guard) -> Option<Instance> {
        let found = self.instances[site as usize][self.find(site, guard)? as usize];
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
        let Named { group, number, .. } = self.names[site as usize][instance as usize];
        Guard { occurrence: Some(number.into()), ..self.groups[group as usize].clone() }
    }
}

/// When the instances that plans ask for came in a run, by site, node and thread, or role.
#[derive(Debug, Default)]
pub struct Orders(FxHashMap<(u32, String, String), Vec<u32>>);

impl Orders {
    /// Of what one run recorded.
    pub fn of(recorded: &[ByThread]) -> Orders {
        let patterns = Patterns::of(recorded);
        let mut found: FxHashMap<(u32, String, String), Vec<u32>> = FxHashMap::default();
        for it in recorded {
            for pattern in patterns.fitting(&it.node, &it.thread) {
                found.entry((it.site, it.node.clone(), pattern)).or_default().extend(&it.orders);
            }
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
        let naming = Naming::of(&[&first[..], &second[..]]);
        let found = Executions::of(2, &first, &naming, &mut Threads::default());
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
        let orders = Orders::of(&second);
        let places: Vec<Option<u32>> = (0..5).map(|it| orders.place(0, &found.guard(0, it))).collect();
        assert_eq!(places, [Some(0), Some(1), None, Some(3), None]);
        assert!(found.instances[1].is_empty());
    }

    #[test]
    fn what_comes_behind_one_keeps_its_number() {
        let run = [recorded(0, "main", &[0, 4, 6]), recorded(1, "main", &[1, 5])];
        let naming = Naming::of(&[&run[..]]);
        let mut found = Executions::of(2, &run, &naming, &mut Threads::default());
        let second = found.guard(0, 1);
        found.keep_behind(0, &second);
        assert_eq!([found.instances[0].len(), found.instances[1].len()], [1, 1]);
        assert_eq!([found.guard(0, 0).occurrence, found.guard(1, 0).occurrence], [Some(3), Some(2)]);
        // One that is not there leaves all.
        found.keep_behind(0, &Guard { occurrence: Some(9), ..second });
        assert_eq!([found.instances[0].len(), found.instances[1].len()], [1, 1]);
    }

    #[test]
    fn what_a_pool_shares_is_found_by_the_role_whoever_did_it() {
        let first = [recorded(0, "w-1", &[0, 2, 4]), recorded(0, "w-2", &[1])];
        let second = [recorded(0, "w-1", &[3]), recorded(0, "w-2", &[1, 2, 5])];
        let naming = Naming::of(&[&first[..], &second[..]]);
        let mut found = Executions::of(1, &first, &naming, &mut Threads::default());
        let last = found.guard(0, 3);
        assert_eq!((last.thread.as_deref(), last.occurrence), (Some("w-*"), Some(4)));
        // In the other run another thread does it.
        assert_eq!(Orders::of(&second).place(0, &last), Some(5));
        // One that is asked for by the role here was asked for by a name elsewhere.
        let by_name = Guard { thread: Some("w-1".to_owned()), occurrence: Some(2), ..last };
        assert_eq!(found.keep_behind(0, &by_name).map(|it| it.order), Some(2));
        assert_eq!(found.instances[0].len(), 1);
    }
    #[test]
    fn one_of_a_pool_is_found_among_all_threads_of_its_role() {
        let run = [recorded(0, "w-1", &[1, 4, 6]), recorded(0, "w-2", &[2, 3, 9]), recorded(0, "main", &[5])];
        let found = Executions::of(1, &run, &Naming::of(&[&run, &run]), &mut Threads::default());
        let guard = |thread: &str, number: u64| Guard {
            node: Some("n".to_owned()),
            thread: Some(thread.to_owned()),
            occurrence: Some(number),
            ..Guard::default()
        };
        assert_eq!(found.by_role(0, &guard("w-1", 2)), Some(guard("w-*", 4)));
        assert_eq!(found.by_role(0, &guard("w-2", 3)), Some(guard("w-*", 6)));
        // It is alone, is asked for so already, or is not there.
        assert_eq!(found.by_role(0, &guard("main", 1)), None);
        assert_eq!(found.by_role(0, &guard("w-*", 4)), None);
        assert_eq!(found.by_role(0, &guard("w-1", 4)), None);
    }
}
