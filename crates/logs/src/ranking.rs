//! Which of several statements wrote an entry, as far as the entries before and behind it in its thread tell.
//!
//! A thread runs through its program, so an entry is most likely of a statement that can follow the one before it and that
//! the one behind it can follow. Entries with one statement are fixed; those between two fixed ones are ranked together, by
//! the least sum of distances of any way through all of them.

use rustc_hash::FxHashMap;

use crate::statements::StatementId;
use crate::tied::Tied;

/// The most statements of an entry that are ranked; an entry with more of them tells nothing about its neighbours.
const STATEMENTS_MAX: usize = 32;
/// The most entries that are ranked together.
const RUN_ENTRIES_MAX: usize = 64;
/// The most runs whose result is kept for others like them.
const RUNS_KEPT_MAX: usize = 1 << 16;

/// For each entry of a log its statements, the likeliest first. None is left out.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// For each entry its list.
    numbers: Vec<u32>,
    /// Each list once.
    lists: Vec<Box<[StatementId]>>,
    by_list: FxHashMap<Box<[StatementId]>, u32>,
}

/// Entries of a thread, each with several statements, and what stands around them.
#[derive(Debug, Default)]
struct Run {
    before: Option<StatementId>,
    entries: Vec<u32>,
    /// What the entries are, for other runs like this one: the numbers of their keys, with what is before and behind.
    shape: Vec<u32>,
}

impl Ranking {
    /// Ranks the statements of a log. `distance` says how far it is in the program from one statement to another that the
    /// same thread logs next.
    ///
    /// In a log without threads nothing is known of what follows what, and the statements are in order of their numbers.
    pub fn of(tied: &Tied, mut distance: impl FnMut(StatementId, StatementId) -> u32) -> Ranking {
        let mut ranking = Ranking::default();
        for entry in tied.entries() {
            let number = ranking.number(tied.statements(entry.key));
            ranking.numbers.push(number);
        }
        if !tied.fields().thread {
            return ranking;
        }
        let mut kept: FxHashMap<Vec<u32>, Vec<u32>> = FxHashMap::default();
        let mut runs: Vec<Run> = Vec::new();
        runs.resize_with(tied.threads().len(), Run::default);
        for (number, entry) in (0_u32..).zip(tied.entries()) {
            let run = &mut runs[entry.thread as usize];
            match tied.statements(entry.key) {
                [] => {}
                &[only] => {
                    ranking.end(run, Some(only), tied, &mut kept, &mut distance);
                    run.before = Some(only);
                }
                several if several.len() > STATEMENTS_MAX => {
                    ranking.end(run, None, tied, &mut kept, &mut distance);
                    run.before = None;
                }
                _ => {
                    if run.entries.len() == RUN_ENTRIES_MAX {
                        ranking.end(run, None, tied, &mut kept, &mut distance);
                    }
                    run.entries.push(number);
                    run.shape.push(tied.numbers[number as usize]);
                }
            }
        }
        for mut run in runs {
            ranking.end(&mut run, None, tied, &mut kept, &mut distance);
        }
        ranking
    }

    /// The statements that can have written an entry, by its number in the log, the likeliest first.
    pub fn statements(&self, entry: usize) -> &[StatementId] {
        self.numbers.get(entry).map_or(&[], |it| &self.lists[*it as usize])
    }

    fn number(&mut self, list: &[StatementId]) -> u32 {
        if let Some(it) = self.by_list.get(list) {
            return *it;
        }
        let number = self.lists.len() as u32;
        self.lists.push(list.into());
        self.by_list.insert(list.into(), number);
        number
    }

    /// Ranks a run that ends before an entry with the statement `behind`, and begins the next.
    fn end(
        &mut self,
        run: &mut Run,
        behind: Option<StatementId>,
        tied: &Tied,
        kept: &mut FxHashMap<Vec<u32>, Vec<u32>>,
        distance: &mut impl FnMut(StatementId, StatementId) -> u32,
    ) {
        let before = run.before.take();
        if run.entries.is_empty() {
            return;
        }
        let mut shape = std::mem::take(&mut run.shape);
        shape.extend([before, behind].map(|it| it.map_or(u32::MAX, |it| it.0)));
        let ranked = match kept.get(&shape) {
            Some(ranked) => ranked.clone(),
            None => {
                let statements = |it: &u32| tied.statements(tied.entries()[*it as usize].key);
                let sets: Vec<&[StatementId]> = run.entries.iter().map(statements).collect();
                let ranked = ranked(before, &sets, behind, distance);
                let numbers: Vec<u32> = ranked.iter().map(|it| self.number(it)).collect();
                if kept.len() < RUNS_KEPT_MAX {
                    kept.insert(shape, numbers.clone());
                }
                numbers
            }
        };
        for (entry, list) in run.entries.drain(..).zip(ranked) {
            self.numbers[entry as usize] = list;
            run.before = self.lists[list as usize].first().copied();
        }
    }
}

/// The statements of a run of entries, each set in the order of the shortest ways through its members.
fn ranked(
    before: Option<StatementId>,
    sets: &[&[StatementId]],
    behind: Option<StatementId>,
    distance: &mut impl FnMut(StatementId, StatementId) -> u32,
) -> Vec<Vec<StatementId>> {
    let start = |it: &StatementId, distance: &mut dyn FnMut(StatementId, StatementId) -> u32| {
        before.map_or(0, |before| distance(before, *it))
    };
    let mut to: Vec<Vec<u32>> = Vec::with_capacity(sets.len());
    for (at, set) in sets.iter().enumerate() {
        let shortest = match at.checked_sub(1) {
            None => set.iter().map(|it| start(it, distance)).collect(),
            Some(last) => {
                let way = |it: &StatementId| {
                    let ways = sets[last].iter().zip(&to[last]);
                    ways.map(|(from, so_far)| so_far.saturating_add(distance(*from, *it))).min().unwrap_or(0)
                };
                set.iter().map(way).collect()
            }
        };
        to.push(shortest);
    }
    let mut ranked = vec![Vec::new(); sets.len()];
    let mut from: Vec<u32> = Vec::new();
    for (at, set) in sets.iter().enumerate().rev() {
        from = match sets.get(at + 1) {
            None => set.iter().map(|it| behind.map_or(0, |behind| distance(*it, behind))).collect(),
            Some(next) => {
                let way = |it: &StatementId| {
                    let ways = next.iter().zip(&from);
                    ways.map(|(to, rest)| rest.saturating_add(distance(*it, *to))).min().unwrap_or(0)
                };
                set.iter().map(way).collect()
            }
        };
        let sums = to[at].iter().zip(&from).map(|(to, from)| to.saturating_add(*from));
        let mut all: Vec<(u32, StatementId)> = sums.zip(set.iter().copied()).collect();
        all.sort_unstable();
        ranked[at] = all.into_iter().map(|it| it.1).collect();
    }
    ranked
}
