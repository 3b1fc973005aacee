//! Groups of requests, and the results of each group.

use rustc_hash::FxHashMap;

use crate::catalogue::Catalogue;
use crate::reader::{Situation, TrialDigest};

/// Grouping of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// The node and the abstract state of the thread (LEGOLAS 4.3).
    State,
    /// The same, and the fault and what is called: as the published code of LEGOLAS does.
    Operation,
    /// The node, the call, the fault and the stack (the failure ids of FATE).
    Failure,
}

impl KeyKind {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::State => "state",
            KeyKind::Operation => "operation",
            KeyKind::Failure => "failure",
        }
    }
}

/// A group of requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The node.
    pub node: String,
    /// The abstract state of the thread, where it counts; `none` if the thread works on no task.
    pub state: Option<String>,
    /// The thread, where its name is its state: a pattern.
    pub thread: Option<String>,
    /// Called method, if it counts.
    pub callee: Option<String>,
    /// The call, by its number in the catalogue, where it counts.
    pub site: Option<u32>,
    /// The fault, in words, where it counts.
    pub fault: Option<String>,
    /// The methods on the stack, innermost first, where they count.
    pub stack: Option<Vec<String>>,
}

/// A call that makes requests of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The call, by its number in the catalogue.
    pub site: u32,
    /// Faults that belong to the group: one, or all.
    pub fault: Option<u32>,
    /// Number of its requests in a trial without a fault, the fewest of all such trials that had any; 0 if none had.
    pub least: u64,
}

/// Results of a group.
#[derive(Debug, Clone)]
pub struct Group {
    /// Common properties of its requests.
    pub key: Key,
    /// The calls that made them, in the order in which they were seen.
    pub calls: Vec<Call>,
    /// Its identity except the node, by number: groups that differ in nothing else share it.
    pub anywhere: u32,
}

/// Minimum share of the requests of a group that one call makes if it crowds the others out.
const CROWD: f64 = 0.9;

impl Group {
    /// Number of its requests in a trial without a fault.
    pub(crate) fn requests(&self) -> u64 {
        self.calls.iter().map(|it| it.least).fold(0, u64::saturating_add)
    }

    /// The call that makes nearly all of its requests, if one does: where one of them is drawn, it is hardly ever of another call.
    pub(crate) fn crowding(&self) -> Option<&Call> {
        let most = self.calls.iter().max_by_key(|it| it.least)?;
        let is_crowd = most.least as f64 >= CROWD * self.requests() as f64;
        (self.calls.len() > 1 && most.least > 0 && is_crowd).then_some(most)
    }
}

/// All groups, by their numbers.
#[derive(Debug, Clone)]
pub struct Ledger {
    kind: KeyKind,
    groups: Vec<Group>,
    numbers: FxHashMap<Key, u32>,
    /// Keys but for their nodes.
    anywhere: FxHashMap<Key, u32>,
}

impl Ledger {
    /// Nothing was seen yet.
    pub fn new(kind: KeyKind) -> Ledger {
        Ledger { kind, groups: Vec::new(), numbers: FxHashMap::default(), anywhere: FxHashMap::default() }
    }

    /// The groups, by their numbers.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Takes down the requests of a trial, and gives the number of requests of each group that has any, in the order in
    /// which they came first.
    pub fn take_down(&mut self, catalogue: &Catalogue, digest: &TrialDigest) -> Vec<(u32, u64)> {
        let mut counts: Vec<(u32, u64)> = Vec::new();
        let mut places: FxHashMap<u32, usize> = FxHashMap::default();
        for it in &digest.requested {
            let Some(situation) = digest.situations.get(it.situation as usize) else { continue };
            let Some(call) = catalogue.sites().get(it.site as usize) else { continue };
            let by_fault = self.kind != KeyKind::State;
            let faults = if by_fault { call.faults.len() } else { 1 };
            for fault in 0..faults {
                let fault = by_fault.then_some(fault as u32);
                let key = self.key(catalogue, situation, it.site, fault, &digest.stack(it.stack));
                let group = self.group(key, it.site, fault, it.times * u64::from(!digest.is_cut));
                let place = *places.entry(group).or_insert_with(|| {
                    counts.push((group, 0));
                    counts.len() - 1
                });
                counts[place].1 += it.times;
            }
        }
        counts
    }

    fn group(&mut self, key: Key, site: u32, fault: Option<u32>, times: u64) -> u32 {
        let number = *self.numbers.entry(key).or_insert_with_key(|key| {
            let anywhere = Key { node: String::new(), ..key.clone() };
            let count = self.anywhere.len() as u32;
            let anywhere = *self.anywhere.entry(anywhere).or_insert(count);
            self.groups.push(Group { key: key.clone(), calls: Vec::new(), anywhere });
            self.groups.len() as u32 - 1
        });
        let calls = &mut self.groups[number as usize].calls;
        match calls.iter_mut().find(|it| (it.site, it.fault) == (site, fault)) {
            Some(call) if call.least == 0 => call.least = times,
            Some(call) if times > 0 => call.least = call.least.min(times),
            Some(_) => {}
            None => calls.push(Call { site, fault, least: times }),
        }
        number
    }

    fn key(
        &self,
        catalogue: &Catalogue,
        situation: &Situation,
        site: u32,
        fault: Option<u32>,
        stack: &[String],
    ) -> Key {
        let call = &catalogue.sites()[site as usize];
        let fault = fault.map(|it| call.faults[it as usize].to_string());
        let by_state = self.kind != KeyKind::Failure;
        Key {
            node: situation.node.clone(),
            state: by_state.then(|| situation.state.clone()),
            thread: situation.thread.clone().filter(|_| by_state),
            callee: call.site.callee.clone().filter(|_| self.kind == KeyKind::Operation),
            site: (self.kind == KeyKind::Failure).then_some(site),
            fault,
            stack: (self.kind == KeyKind::Failure).then(|| stack.to_vec()),
        }
    }
}
