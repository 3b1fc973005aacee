//! Two runs side by side: which entries of the one have a partner in the other.

mod split;

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diff::Differ;
use crate::gather::gather;
use crate::key::Key;
use crate::pairing::{Written, pair};
use crate::tied::Tied;

/// An entry of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Which node of the run, by its place in the list.
    pub node: u32,
    /// Which entry of the node's log, counted from zero.
    pub entry: u32,
}

/// What came of comparing a run with another.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// For each node of the run its entries' partners.
    partners: Vec<Vec<Option<Position>>>,
    /// Entries without a partner that the threads of the same role have too in the other run, in another order or in another thread.
    elsewhere: Vec<Position>,
    is_cut: bool,
}

/// Whose entries are compared with one another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Those of a thread.
    Thread,
    /// Those of all threads of a role.
    Role,
    /// Those of all threads of a role, and as one those of a node that name no thread.
    Reading,
}

/// Nodes of a run and those of another run that they are compared with, by their places.
pub type Group = (Vec<usize>, Vec<usize>);

/// The threads of both runs by their roles: first those that a class stands for, then those that a log names.
type Roles<'t> = [BTreeMap<&'t str, Role<'t>>; 2];

/// A thread of a run, with the places of its entries.
struct Place {
    node: u32,
    entries: Vec<u32>,
}

/// The threads of one role, in the run and in the other.
#[derive(Default)]
struct Role<'t> {
    written: [Vec<Written<'t>>; 2],
    places: [Vec<Place>; 2],
}

impl Comparison {
    /// Compares a run with another, thread by thread. A run is the logs of its nodes, one or more.
    ///
    /// Nodes of equal names are compared with each other, or else, if both runs have as many, those at equal places. Where
    /// neither does, the nodes of a run are taken together: one of the runs wrote one log for all. Threads are the same if
    /// their roles are, or, where a run has no thread of a role, if their names differ in the last word alone, or if they wrote mostly
    /// the same, also as a part of what a thread of the other run wrote; of several with one role those are paired that leave fewest entries without a partner. In logs without threads the
    /// order says little, as the entries of several stand among each other: partners are first those in order, and then what else says
    /// the same. Where only one of two logs names threads, an entry of the other finds its partner among those that no thread has
    /// taken.
    ///
    /// All logs of a [group](Comparison::groups) must have been tied with the same fields, but for the thread.
    pub fn of(run: &[impl Borrow<Tied>], other: &[impl Borrow<Tied>]) -> Comparison {
        Comparison::with(run, other, By::Thread)
    }

    /// Compares them for a person who reads both from the top. Threads of one role are as one. Entries that name no thread are
    /// compared as they are written, as if one thread of the node had written them: no two pairs of them cross, and an entry that
    /// only stands in another order has no partner here.
    pub fn as_read(run: &[impl Borrow<Tied>], other: &[impl Borrow<Tied>]) -> Comparison {
        Comparison::with(run, other, By::Reading)
    }

    /// Compares them as they are written by threads of one role, as if they were one: who of a pool did something is chance, and who reads
    /// both from the top looks for what was done first.
    pub fn by_role(run: &[impl Borrow<Tied>], other: &[impl Borrow<Tied>]) -> Comparison {
        Comparison::with(run, other, By::Role)
    }

    fn with(run: &[impl Borrow<Tied>], other: &[impl Borrow<Tied>], by: By) -> Comparison {
        let run: Vec<&Tied> = run.iter().map(Borrow::borrow).collect();
        let other: Vec<&Tied> = other.iter().map(Borrow::borrow).collect();
        let mut comparison = Comparison {
            partners: run.iter().map(|it| vec![None; it.entries.len()]).collect(),
            elsewhere: Vec::new(),
            is_cut: false,
        };
        let mut numbers: FxHashMap<Key, u32> = FxHashMap::default();
        let mut differ = Differ::default();
        let nodes = |all: &[&Tied]| all.iter().map(|it| it.node().to_owned()).collect::<Vec<_>>();
        for group in Comparison::groups(&nodes(&run), &nodes(&other)) {
            let logs = || group.0.iter().map(|&it| run[it]).chain(group.1.iter().map(|&it| other[it]));
            let fields = logs().next().map(|it| it.fields().of_keys());
            assert!(
                logs().all(|it| Some(it.fields().of_keys()) == fields),
                "logs that are compared are tied with the same fields"
            );
            let mut roles = Roles::default();
            for (side, (nodes, run)) in [(&group.0, &run), (&group.1, &other)].into_iter().enumerate() {
                nodes.iter().for_each(|&it| threads(run[it], it, (side, by), &mut numbers, &mut roles));
            }
            let is_mixed = {
                let has = |named: bool, side: usize| {
                    roles[usize::from(named)].values().any(|it| !it.written[side].is_empty())
                };
                (has(false, 0) && has(true, 1)) || (has(false, 1) && has(true, 0))
            };
            let in_order = by == By::Reading;
            for (is_named, roles) in [false, true].into_iter().zip(roles) {
                let roles = with_namesakes(with_kin(roles));
                for role in &roles {
                    comparison.role(role, &mut differ, is_named || in_order);
                }
                if is_named {
                    comparison.split(&roles, &mut differ);
                }
            }
            if is_mixed {
                comparison.across(&group, (&run, &other), &numbers, (&mut differ, in_order));
            }
        }
        comparison
    }

    /// Finds partners for entries that name no thread among those of threads that have none yet.
    fn across(
        &mut self,
        group: &Group,
        (run, other): (&[&Tied], &[&Tied]),
        numbers: &FxHashMap<Key, u32>,
        (differ, in_order): (&mut Differ, bool),
    ) {
        let is_own = |it: &Position| self.partner(*it).is_none();
        let taken: FxHashSet<Position> =
            group.0.iter().flat_map(|&it| self.partners[it].iter().flatten().copied()).collect();
        let is_left = [left_of(run, &group.0, is_own), left_of(other, &group.1, |it| !taken.contains(it))];
        for side in [0, 1] {
            let nameless = is_left[side].iter().filter(|it| !it.is_named);
            let mut by_class: BTreeMap<(u32, u32), Vec<&Left>> = BTreeMap::new();
            for it in nameless {
                // For who reads, the entries of a node are one.
                let class = if in_order { 0 } else { it.thread };
                by_class.entry((it.position.node, class)).or_default().push(it);
            }
            let there = &is_left[1 - side];
            let mut is_free: Vec<bool> = there.iter().map(|it| it.is_named).collect();
            let mut by_number: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
            for (at, it) in there.iter().enumerate().filter(|(_, it)| it.is_named) {
                by_number.entry(numbers[&it.key]).or_default().push(at);
            }
            for own in by_class.into_values() {
                let said: Vec<u32> = own.iter().map(|it| numbers[&it.key]).collect();
                let said_once: FxHashSet<u32> = said.iter().copied().collect();
                let with_number = |it| by_number.get(it).into_iter().flatten().copied();
                let mut others: Vec<usize> = said_once.iter().flat_map(with_number).collect();
                others.retain(|&at| is_free[at]);
                others.sort_unstable();
                let numbers: Vec<u32> = others.iter().map(|&at| numbers[&there[at].key]).collect();
                let mut pairs = differ.pairs(&said, &numbers);
                self.is_cut |= differ.is_cut;
                if !in_order {
                    pairs.extend(left_over(&said, &numbers, &pairs));
                }
                for (x, y) in pairs {
                    let at = others[y as usize];
                    is_free[at] = false;
                    let (one, partner) = (own[x as usize].position, there[at].position);
                    let (it, partner) = if side == 0 { (one, partner) } else { (partner, one) };
                    self.partners[it.node as usize][it.entry as usize] = Some(partner);
                }
            }
        }
        let partners = &self.partners;
        self.elsewhere.retain(|it| partners[it.node as usize][it.entry as usize].is_none());
    }

    fn role(&mut self, role: &Role<'_>, differ: &mut Differ, in_order: bool) {
        let [written, others] = &role.written;
        if written.is_empty() || others.is_empty() {
            return;
        }
        let unpaired = |all: &[Written<'_>]| -> Vec<Vec<bool>> {
            all.iter().map(|it| vec![true; it.numbers.len()]).collect()
        };
        let (mut left, mut left_there) = (unpaired(written), unpaired(others));
        for (n, m) in pair(written, others, differ) {
            let (place, other) = (&role.places[0][n], &role.places[1][m]);
            let mut pairs = differ.pairs(&written[n].numbers, &others[m].numbers);
            gather(&written[n].numbers, &mut pairs);
            if !in_order {
                pairs.extend(left_over(&written[n].numbers, &others[m].numbers, &pairs));
            }
            for (x, y) in pairs {
                let partner = Position { node: other.node, entry: other.entries[y as usize] };
                self.partners[place.node as usize][place.entries[x as usize] as usize] = Some(partner);
                (left[n][x as usize], left_there[m][y as usize]) = (false, false);
            }
            self.is_cut |= differ.is_cut;
        }
        if in_order {
            self.elsewhere_in(role, &left, &left_there);
        }
    }

    /// Notes what is left of the threads of a role and the other run has as well: which of several equal threads says something is
    /// a matter of chance.
    fn elsewhere_in(&mut self, role: &Role<'_>, left: &[Vec<bool>], left_there: &[Vec<bool>]) {
        let mut free: FxHashMap<u32, u32> = FxHashMap::default();
        for (of, is_left) in role.written[1].iter().zip(left_there) {
            let there = of.numbers.iter().zip(is_left).filter(|it| *it.1);
            there.for_each(|(number, _)| *free.entry(*number).or_default() += 1);
        }
        for ((of, is_left), place) in role.written[0].iter().zip(left).zip(&role.places[0]) {
            for (at, number) in of.numbers.iter().enumerate().filter(|it| is_left[it.0]) {
                if let Some(free) = free.get_mut(number).filter(|it| **it > 0) {
                    *free -= 1;
                    self.elsewhere.push(Position { node: place.node, entry: place.entries[at] });
                }
            }
        }
    }

    /// Nodes of a run and those of another that are compared with each other, given by their names. A node that is in no group is
    /// compared with nothing.
    pub fn groups(run: &[impl AsRef<str>], other: &[impl AsRef<str>]) -> Vec<Group> {
        let named = |it: &_| other.iter().position(|other| other.as_ref() == AsRef::<str>::as_ref(it));
        let by_name: Vec<Option<usize>> = run.iter().map(named).collect();
        let mut used: Vec<usize> = by_name.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        if !used.is_empty() && used.len() == by_name.iter().flatten().count() {
            // A node that the other run does not have is compared with nothing.
            return by_name.iter().enumerate().map(|(n, it)| (vec![n], Vec::from_iter(*it))).collect();
        }
        if run.len() == other.len() {
            return (0..run.len()).map(|it| (vec![it], vec![it])).collect();
        }
        vec![((0..run.len()).collect(), (0..other.len()).collect())]
    }

    /// The entry of the other run that belongs to this one.
    pub fn partner(&self, position: Position) -> Option<Position> {
        *self.partners.get(position.node as usize)?.get(position.entry as usize)?
    }

    /// The entries that only this run has, in order.
    pub fn own(&self) -> impl Iterator<Item = Position> {
        self.positions().filter(|(_, partner)| partner.is_none()).map(|(it, _)| it)
    }

    /// The entries that both runs have, with their partners, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (Position, Position)> {
        self.positions().filter_map(|(it, partner)| Some((it, partner?)))
    }

    /// The entries that only this run has at their place, and the other one elsewhere in a thread of the same role.
    pub fn elsewhere(&self) -> &[Position] {
        &self.elsewhere
    }

    /// Whether two threads differed so much that some entries may have no partner although there is one.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn positions(&self) -> impl Iterator<Item = (Position, Option<Position>)> {
        (0..).zip(&self.partners).flat_map(|(node, all)| {
            (0..).zip(all).map(move |(entry, partner)| (Position { node, entry }, *partner))
        })
    }
}

/// An entry that no entry of the same thread is a partner of.
struct Left {
    position: Position,
    key: Key,
    thread: u32,
    is_named: bool,
}

/// The entries of some nodes of a run that are left, in order.
fn left_of(run: &[&Tied], nodes: &[usize], is_left: impl Fn(&Position) -> bool) -> Vec<Left> {
    let mut left = Vec::new();
    for &node in nodes {
        let log = run[node];
        for (entry, it) in (0..).zip(&log.entries) {
            let position = Position { node: node as u32, entry };
            if is_left(&position) {
                let is_named = log.threads[it.thread as usize].is_named;
                left.push(Left { position, key: it.key, thread: it.thread, is_named });
            }
        }
    }
    left
}

/// Pairs of what says the same and is in none of `pairs`, the first with the first.
fn left_over(run: &[u32], other: &[u32], pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let (mut of_run, mut of_other) = (vec![false; run.len()], vec![false; other.len()]);
    for &(at, partner) in pairs {
        (of_run[at as usize], of_other[partner as usize]) = (true, true);
    }
    let left = |is_paired: Vec<bool>| (0_u32..).zip(is_paired).filter(|it| !it.1).map(|it| it.0);
    let mut waiting: FxHashMap<u32, VecDeque<u32>> = FxHashMap::default();
    left(of_other).for_each(|it| waiting.entry(other[it as usize]).or_default().push_back(it));
    left(of_run).filter_map(|it| Some((it, waiting.get_mut(&run[it as usize])?.pop_front()?))).collect()
}

/// The roles, those as one that only one of the runs has and that differ in their last word alone: `gate-A` of the one is another's
/// `gate-north`.
fn with_kin<'t>(roles: BTreeMap<&'t str, Role<'t>>) -> Vec<Role<'t>> {
    let mut kin: BTreeMap<&str, Role<'t>> = BTreeMap::new();
    let mut found = Vec::new();
    for (name, role) in roles {
        let is_alone = role.written.iter().any(Vec::is_empty);
        match kind(name).filter(|_| is_alone) {
            None => found.push(role),
            Some(kind) => {
                let Role { written, places } = role;
                let of_kind = kin.entry(kind).or_default();
                of_kind.written.iter_mut().zip(written).for_each(|(all, it)| all.extend(it));
                of_kind.places.iter_mut().zip(places).for_each(|(all, it)| all.extend(it));
            }
        }
    }
    found.extend(kin.into_values());
    found
}

/// How many different things two roles must have said both to be the same under two names.
const SAME_MIN: usize = 3;
/// How many roles of a run that the other does not have are looked at for that.
const ALONE_MAX: usize = 64;

/// The roles, those as one that only one of the runs has and of which each said mostly what the other did: what `main` does in a
/// program, `Test worker` does in its test. Those that have most in common come first.
fn with_namesakes(mut roles: Vec<Role<'_>>) -> Vec<Role<'_>> {
    let alone = |side: usize| {
        let is_alone = move |it: &Role<'_>| it.written[1 - side].is_empty();
        let of_side = roles.iter().enumerate().filter(move |(_, it)| is_alone(it)).map(|(at, _)| at);
        of_side.take(ALONE_MAX).collect::<Vec<usize>>()
    };
    let (here, there) = (alone(0), alone(1));
    let said = |at: usize| -> FxHashSet<u32> {
        roles[at].written.iter().flatten().flat_map(|it| it.numbers.iter().copied()).collect()
    };
    let others: Vec<FxHashSet<u32>> = there.iter().map(|&it| said(it)).collect();
    let mut same: Vec<(usize, usize, usize)> = Vec::new();
    for &at in &here {
        let own = said(at);
        for (&other, numbers) in there.iter().zip(&others) {
            let common = own.intersection(numbers).count();
            if common >= SAME_MIN && 2 * common >= own.len().max(numbers.len()) {
                same.push((common, at, other));
            }
        }
    }
    same.sort_unstable_by_key(|&(common, at, other)| (Reverse(common), at, other));
    for (_, at, other) in same {
        let is_open = |at: usize, side: usize| {
            roles[at].written[1 - side].is_empty() && !roles[at].written[side].is_empty()
        };
        if is_open(at, 0) && is_open(other, 1) {
            let Role { written: [_, written], places: [_, places] } = std::mem::take(&mut roles[other]);
            (roles[at].written[1], roles[at].places[1]) = (written, places);
        }
    }
    roles
}

/// The least letters that say what a thread does.
const KIND_LETTERS_MIN: usize = 3;

/// A role without its last word, if anything is left: `gate-` of `gate-A` and of `gate-north-#`.
fn kind(role: &str) -> Option<&str> {
    let kind = role.trim_end_matches(|it: char| !it.is_alphabetic()).trim_end_matches(char::is_alphabetic);
    (kind.chars().filter(|it| it.is_alphabetic()).count() >= KIND_LETTERS_MIN).then_some(kind)
}

/// Adds the threads of a node, each alone, or those as one that are compared as one.
fn threads<'t>(
    log: &'t Tied,
    node: usize,
    (side, by): (usize, By),
    numbers: &mut FxHashMap<Key, u32>,
    roles: &mut Roles<'t>,
) {
    // Numbers that all logs of the comparison share.
    let mut share = |key: &Key| {
        let next = numbers.len() as u32;
        *numbers.entry(*key).or_insert(next)
    };
    let shared: Vec<u32> = log.keys.iter().map(&mut share).collect();
    let mut names: Vec<(bool, &str, &str)> = Vec::new();
    // For each thread whose entries its own are among.
    let places: Vec<usize> = log
        .threads
        .iter()
        .map(|it| {
            let name = match by {
                By::Thread => (it.is_named, &*it.role, &*it.name),
                By::Reading if !it.is_named => (false, "", ""),
                By::Role | By::Reading => (it.is_named, &*it.role, &*it.role),
            };
            let is_known = |names: &[(bool, &str, &str)]| names.iter().position(|other| *other == name);
            let known = if by == By::Thread { None } else { is_known(&names) };
            known.unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            })
        })
        .collect();
    let mut entries: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
    for (n, it) in (0_u32..).zip(&log.entries) {
        entries[places[it.thread as usize]].push(n);
    }
    for ((is_named, role, name), entries) in names.into_iter().zip(entries) {
        let role = roles[usize::from(is_named)].entry(role).or_default();
        let numbers = entries.iter().map(|it| shared[log.numbers[*it as usize] as usize]).collect();
        role.written[side].push(Written { name, numbers });
        role.places[side].push(Place { node: node as u32, entries });
    }
}
