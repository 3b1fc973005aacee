//! What the failure wrote that a run without a fault does not.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::comparison::{Comparison, Position};
use crate::key::Key;
use crate::statements::StatementId;
use crate::tied::{Evidence, Tied};

/// A message by which the failure shows (ANDURIL 5.1).
#[derive(Clone, Debug)]
pub struct Observable {
    /// What it says.
    pub key: Key,
    /// The statements that can have written it; none if no statement is known.
    pub statements: Vec<StatementId>,
    /// The entries of the failure's log that a run without a fault does not have, in order.
    pub entries: Vec<Position>,
    /// The exceptions that were logged with it in the failure's log, with the node.
    pub evidence: Vec<(u32, Evidence)>,
}

/// The observables of a failure.
#[derive(Clone, Debug)]
pub struct Observables {
    list: Vec<Observable>,
    unsteady: Vec<Observable>,
    by_key: FxHashMap<Key, u32>,
    /// What differs between runs without a fault.
    noise: FxHashSet<Key>,
}

/// What a trial's log shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// For each observable whether the trial has it.
    pub present: Vec<bool>,
    /// The entries of the trial that neither a run without a fault nor the failure has, in order.
    pub others: Vec<Position>,
}

impl Shown {
    /// The numbers of the observables that the trial does not have.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        self.present.iter().enumerate().filter(|(_, it)| !**it).map(|(n, _)| n)
    }
}

impl Observables {
    /// Compares the failure with runs without a fault, of which there should be two or more: what differs between them
    /// is no observable. A message counts that the failure has and no such run has, or that it has more often; and
    /// everything of a thread that only the failure has.
    pub fn of(failure: &[Tied], normal: &[&[Tied]]) -> Observables {
        let mut noise = FxHashSet::default();
        for (n, one) in normal.iter().enumerate() {
            for (_, other) in normal.iter().enumerate().filter(|(m, _)| *m != n) {
                noise.extend(Comparison::of(one, other).own().map(|it| key(one, it)));
            }
        }
        let own = own(failure, normal);
        let mut all: Vec<Observable> = Vec::new();
        let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
        for position in own {
            let key = key(failure, position);
            let n = *numbers.entry(key).or_insert_with(|| {
                all.push(Observable {
                    key,
                    statements: failure[position.node as usize].statements(key).to_vec(),
                    entries: Vec::new(),
                    evidence: evidence(failure, key),
                });
                all.len() - 1
            });
            all[n].entries.push(position);
        }
        let (unsteady, list): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| noise.contains(&it.key));
        let by_key = (0_u32..).zip(&list).map(|(n, it)| (it.key, n)).collect();
        Observables { list, unsteady, by_key, noise }
    }

    /// The observables, in the order in which the failure's log has them first.
    pub fn list(&self) -> &[Observable] {
        &self.list
    }

    /// What the failure has beyond the others but that differs between runs without a fault, too.
    pub fn unsteady(&self) -> &[Observable] {
        &self.unsteady
    }

    /// The number of the observable with this key.
    pub fn number(&self, key: Key) -> Option<usize> {
        self.by_key.get(&key).map(|it| *it as usize)
    }

    /// What a trial's log shows, compared with runs without a fault: one or more of those that the observables were made
    /// with.
    pub fn shown(&self, trial: &[Tied], normal: &[&[Tied]]) -> Shown {
        let mut shown = Shown { present: vec![false; self.list.len()], others: Vec::new() };
        for position in own(trial, normal) {
            let key = key(trial, position);
            match self.number(key) {
                Some(n) => shown.present[n] = true,
                None if self.noise.contains(&key) => {}
                None => shown.others.push(position),
            }
        }
        shown
    }
}

/// The entries of a run that none of the others has.
fn own(run: &[Tied], others: &[&[Tied]]) -> Vec<Position> {
    let Some((first, rest)) = others.split_first() else {
        let node = |(node, it): (u32, &Tied)| {
            (0..it.entries().len() as u32).map(move |entry| Position { node, entry })
        };
        return (0..).zip(run).flat_map(node).collect();
    };
    let mut own: Vec<Position> = Comparison::of(run, first).own().collect();
    for other in rest {
        if own.is_empty() {
            break;
        }
        let comparison = Comparison::of(run, other);
        // Which of several equal entries has no partner is chance: a message is the run's own if some entry of it is.
        let keys: FxHashSet<Key> = comparison.own().map(|it| key(run, it)).collect();
        own.retain(|it| keys.contains(&key(run, *it)));
    }
    own
}

fn key(run: &[Tied], position: Position) -> Key {
    run[position.node as usize].entries()[position.entry as usize].key
}

fn evidence(failure: &[Tied], key: Key) -> Vec<(u32, Evidence)> {
    let node =
        |(node, it): (u32, &Tied)| it.evidence(key).iter().map(|it| (node, it.clone())).collect::<Vec<_>>();
    (0..).zip(failure).flat_map(node).collect()
}
