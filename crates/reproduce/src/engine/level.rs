//! A search with some faults kept: what is missing there, what leads to it, and when.

use std::sync::Arc;

use hypocenter_plan::{Candidate, Fault, Repeat};
use hypocenter_results::Score;
use hypocenter_results::reproduced::WEIGHT_MAX;

use super::Settings;
use crate::case::{Case, Digest};
use crate::catalogue::Choices;
use crate::executions::Executions;
use crate::policy;
use crate::search::{Aim, Pick, Search};
use crate::silence::Silent;
use crate::space::{Choice, Instance, Observable, Space};
use crate::strategy::Strategy;
use crate::traces::Seen;

/// A search with some faults kept.
#[derive(Debug)]
pub(super) struct Level {
    pub kept: Vec<Candidate>,
    pub search: Search,
    pub faults: Vec<Fault>,
    /// For each choice whether something is known to lead from it to what is missing.
    pub known: Vec<bool>,
    pub executions: Executions,
    /// For each observable of the search its number in the case; behind them are the silent threads.
    pub observables: Vec<u32>,
    /// The threads that are silent in the failure log.
    pub silent: Vec<Silent>,
    /// How often each key was matched in the run that the level starts from.
    pub matched: Vec<u32>,
    /// By how much normal runs differ in that, for each key; no more than this is noise.
    pub spread: Vec<u32>,
    /// How much each observable of [`Level::observables`] counts.
    pub worth: Vec<u32>,
    /// The keys that are taken for noise.
    pub noise: Vec<u32>,
    /// The stack traces of the failure log that the runs have which it starts from, if somebody looked.
    pub traces: Option<Seen>,
    pub sites_inferred: usize,
    /// How many rounds it had.
    pub rounds: u64,
    pub exhausted: bool,
}

/// What the runs say that a search starts from.
pub(super) struct Start<'a> {
    /// How often each key was matched.
    pub matched: Vec<u32>,
    /// By how much normal runs differ in that.
    pub spread: Vec<u32>,
    /// The entries of the failure log without a partner.
    pub missing: &'a [u32],
    /// The threads that are silent in the failure log and not there.
    pub silent: Vec<Silent>,
    /// For each stack of theirs the stacks of the failure log that it fits.
    pub stacks: &'a [Vec<u32>],
    /// The stack traces of the failure log that they have, if somebody looked.
    pub traces: Option<Seen>,
    /// What was kept.
    pub behind: Option<Instance>,
}

/// The faults that the stacks of the failure log name.
fn logged_choices(case: &Case) -> Choices {
    let mut found = Choices::default();
    let mut all: Vec<&(u32, Fault)> = Vec::new();
    for it in case.logged().iter().flat_map(|it| &it.faults) {
        if !all.contains(&it) {
            all.push(it);
        }
    }
    for (site, fault) in all {
        found.choices.push(Choice { site: *site, distances: Vec::new() });
        found.faults.push(fault.clone());
        found.known.push(true);
    }
    let mut sites: Vec<u32> = found.choices.iter().map(|it| it.site).collect();
    sites.sort_unstable();
    sites.dedup();
    found.sites_inferred = sites.len();
    found
}

/// For each of these choices the stacks of a run that fit one of the failure log that names it.
fn logged_stacks(case: &Case, found: &Choices, stacks: &[Vec<u32>]) -> Vec<Vec<u64>> {
    let of_choice = |(choice, fault): (&Choice, &Fault)| {
        let names = |&number: &u32| {
            let logged = case.logged().get(number as usize);
            logged.is_some_and(|it| it.faults.iter().any(|it| (it.0, &it.1) == (choice.site, fault)))
        };
        let fitting = stacks.iter().enumerate().filter(|(_, it)| it.iter().any(names));
        fitting.map(|(number, _)| number as u64 + 1).collect()
    };
    found.choices.iter().zip(&found.faults).map(of_choice).collect()
}

impl Level {
    pub(super) fn new(
        case: &Case,
        settings: &Settings,
        kept: Vec<Candidate>,
        Start { matched, mut spread, missing, silent, stacks, traces, behind }: Start<'_>,
        mut executions: Executions,
    ) -> Level {
        let keys = case.keys();
        let mut only_here = case.traces().only_here(traces.as_ref());
        // Lines of the oracle, and those with a stack trace of their own, are evidence however often others come.
        let is_certain = |key: usize| case.says_symptom(&keys[key]) || only_here.contains_key(&(key as u32));
        spread.iter_mut().enumerate().filter(|it| is_certain(it.0)).for_each(|it| *it.1 = 0);
        let is_more = |key: &u32| {
            let key = *key as usize;
            keys[key].entries.len() as u32 > matched[key]
        };
        let more = (0..keys.len() as u32).filter(is_more);
        let is_noise = |&key: &u32| {
            let key = key as usize;
            keys[key].entries.len() as u32 <= matched[key] + spread[key]
        };
        let (noise, observables): (Vec<u32>, Vec<u32>) = more.partition(is_noise);
        let found = match settings.search.strategy {
            Strategy::Fate => case.catalogue().every(case.program()),
            Strategy::Stacktrace => logged_choices(case),
            // The strategies of the paper know nothing beyond the causal graph.
            strategy => case.choices(&observables, silent.len(), settings.kinds, strategy == Strategy::Full),
        };
        let logged = match settings.search.strategy {
            Strategy::Stacktrace => logged_stacks(case, &found, stacks),
            _ => Vec::new(),
        };
        let mut names = case.names();
        let fell_silent = silent.iter().map(|it| Observable {
            between: it.orders,
            ..Observable::new(vec![(it.place, names.number(&it.node, &it.thread))], case.symptoms(), 0)
        });
        let space = Space {
            observables: observables
                .iter()
                .map(|&key| {
                    // Of several that say the same those are missing that came in a way that no normal run shows, if any did.
                    let mut entries = only_here.remove(&key).unwrap_or_default();
                    if entries.is_empty() {
                        entries.clone_from(&keys[key as usize].entries);
                        entries.retain(|it| missing.binary_search(it).is_ok());
                    }
                    let entries = entries.into_iter().map(|it| (it, case.threads()[it as usize]));
                    let known = if matched[key as usize] > 0 { policy::KNOWN.weight } else { 0 };
                    let mild = keys[key as usize].mild + known;
                    let mut observable = Observable::new(entries.collect(), case.symptoms(), mild);
                    // Where things lie in the failure log is an estimate; what needs both faults comes near behind the first.
                    if let Some(behind) = behind {
                        observable.add(behind.position + 1, behind.thread);
                    }
                    observable
                })
                .chain(fell_silent)
                .collect(),
            roams: found
                .known
                .iter()
                .zip(&found.faults)
                .map(|(known, fault)| !known && matches!(fault, Fault::Exception { .. }))
                .collect(),
            choices: found.choices,
            instances: std::mem::take(&mut executions.instances),
            logged,
        };
        let mut level = Level {
            kept,
            search: Search::new(Arc::new(space), settings.search),
            faults: found.faults,
            known: found.known,
            executions,
            observables,
            silent,
            matched,
            spread,
            noise,
            traces,
            sites_inferred: found.sites_inferred,
            rounds: 0,
            exhausted: false,
            worth: Vec::new(),
        };
        let worth =
            |number: u32| u64::from(WEIGHT_MAX).saturating_sub(level.less(case, number).total()).max(1);
        level.worth = (0..level.observables.len() as u32).map(|it| worth(it) as u32).collect();
        level
    }

    /// What is missing, by its keys, to which a choice is known to lead. Nothing if no run comes to it.
    pub(super) fn led_to(&self, choice: u32) -> impl Iterator<Item = u32> {
        let space = self.search.space();
        let is_known = self.known[choice as usize] && !space.instances_of(choice).is_empty();
        let distances = if is_known { &space.choices[choice as usize].distances[..] } else { &[] };
        distances.iter().filter_map(|it| self.observables.get(it.0 as usize)).copied()
    }

    /// The rules by which an observable counts less, by its number in the search.
    pub(super) fn less(&self, case: &Case, observable: u32) -> Score {
        let remote = self.search.space().observables[observable as usize].remote;
        let mut score = Score::default();
        let key = self.observables.get(observable as usize);
        let (mild, matched) =
            key.map_or((0, 0), |&key| (case.keys()[key as usize].mild, self.matched[key as usize]));
        let known = if matched > 0 { policy::KNOWN.weight } else { 0 };
        let level = if mild <= policy::WARNING.weight { &policy::WARNING } else { &policy::MILD };
        score.add(level, mild);
        score.add(&policy::KNOWN, known);
        score.add(&policy::REMOTE, remote - mild - known);
        score
    }

    /// The rules by which something was tried.
    pub(super) fn score(&self, case: &Case, aim: &Aim) -> Score {
        let space = self.search.space();
        let key = self.observables.get(aim.observable as usize).copied();
        let site = space.choices[aim.pick.choice as usize].site;
        let mut score = case.why(key, (site, &self.faults[aim.pick.choice as usize]), aim.distance);
        score.aimed = key;
        if self.search.is_full() {
            score.points.extend(self.less(case, aim.observable).points);
        }
        score.points.extend_from_slice(&aim.rest.points);
        score
    }

    /// What a plan says for a fault at an instance.
    pub(super) fn candidate(&self, case: &Case, pick: Pick) -> Candidate {
        let site = self.search.space().choices[pick.choice as usize].site;
        Candidate {
            site: case.catalogue().sites()[site as usize].clone(),
            fault: self.faults[pick.choice as usize].clone(),
            when: self.executions.guard(site, pick.instance),
            repeat: Repeat::Once,
        }
    }

    /// The observables that say that the failure happened, by their numbers in the search.
    pub(super) fn symptoms(&self, case: &Case) -> Vec<u32> {
        let is_symptom = |&key: &u32| case.says_symptom(&case.keys()[key as usize]);
        (0..).zip(&self.observables).filter(|(_, it)| is_symptom(it)).map(|(at, _)| at).collect()
    }

    /// The observables that a run shows, by their numbers in the search.
    pub(super) fn shown(&self, digest: &Digest) -> Vec<u32> {
        let is_more = |&&key: &&u32| {
            let matched = digest.matched.get(key as usize).copied().unwrap_or(0);
            matched > self.matched[key as usize] + self.spread[key as usize]
        };
        let is_silent =
            |it: &&Silent| it.find(&digest.silent).is_none_or(|now| 2 * now.entries <= it.entries);
        let lines = (0..).zip(&self.observables).filter(|(_, it)| is_more(it)).map(|(at, _)| at);
        let behind = self.observables.len() as u32..;
        let threads = behind.zip(&self.silent).filter(|(_, it)| is_silent(it)).map(|(at, _)| at);
        lines.chain(threads).collect()
    }
}
