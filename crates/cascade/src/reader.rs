//! Digest of a run: the iterations of loops, the errors, and the branches on the way, each by the callers that tell its calls apart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use hypocenter_engine::{Digester, Evidence, Job, Work};
use hypocenter_plan::{Candidate, Fault, Plan, Site};
use hypocenter_results::cascaded::CascadeKind;
use hypocenter_trace::{Dictionary, Map, SiteId, Trace, TracedPath, hash};
use serde::{Deserialize, Serialize};

use crate::model::{CALLERS, Model};

/// The most paths of one place that are kept.
const PATHS_MAX: usize = 256;

/// The callers of a method by their entries, the nearest first; 0 stands for none.
pub(crate) type Callers = [u32; CALLERS];

/// Place of an event: a fault of the model, its callers, and the truth value if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Spot(pub u32, pub Callers, pub u32);

/// The ways to a place, each by a hash of its branches.
pub(crate) type Ways = BTreeSet<u32>;

/// Digest of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunDigest {
    /// Loops: how often each went round, and the ways of its iterations.
    pub loops: Vec<(Spot, u64, Ways)>,
    /// Which loop was seen to run in which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<(u32, u32)>,
    /// Errors that came by themselves, and the ways to them.
    pub errors: Vec<(Spot, Ways)>,
    /// Places at which the fault was injected, and the ways there; the fault is that of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub injected: Vec<(Callers, u32, Ways)>,
    /// The faults whose places were reached.
    pub reached: Vec<u32>,
    /// Number of places in the code that were reached.
    pub sites: u64,
    /// True if the system became ready, so that faults could happen.
    pub is_armed: bool,
    /// Records that were lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Why the run says less than it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reads the evidence of runs.
#[derive(Debug, Clone)]
pub struct RunReader {
    model: Arc<Model>,
    /// All trials of a campaign have the same map.
    sites: Arc<OnceLock<Sites>>,
}

/// The sites of faults, by their numbers in the map.
#[derive(Debug, Default)]
struct Sites {
    /// For each fault.
    inject: Vec<Vec<SiteId>>,
    /// For each fault the sites behind which the way to it is its own.
    begins: Vec<Vec<SiteId>>,
    /// The same by the sites at which faults are injected.
    begins_of: BTreeMap<SiteId, Vec<SiteId>>,
    /// The faults that are seen at a site.
    seen_at: BTreeMap<SiteId, Vec<u32>>,
}

impl RunReader {
    pub(crate) fn new(model: Arc<Model>) -> RunReader {
        RunReader { model, sites: Arc::default() }
    }

    fn sites(&self, map: &Map<'_>) -> &Sites {
        self.sites.get_or_init(|| {
            let mut sites = Sites::default();
            for (number, fault) in (0..).zip(self.model.faults()) {
                let find = |of: &[Site]| -> Vec<SiteId> { of.iter().filter_map(|it| map.find(it)).collect() };
                let (inject, begins) = (find(&fault.inject), find(&fault.begins));
                sites.begins_of.extend(inject.iter().map(|&it| (it, begins.clone())));
                sites.inject.push(inject);
                sites.begins.push(begins);
                for site in fault.observe.iter().filter_map(|it| map.find(it)) {
                    sites.seen_at.entry(site).or_default().push(number);
                }
            }
            sites
        })
    }

    fn run(&self, plan: &Plan, map: &Map<'_>, trace: &Trace<'_>) -> RunDigest {
        let sites = self.sites(map);
        let mut reading = Reading::of(&self.model, sites);
        let candidate = |it: &Candidate| Some((map.find(&it.site)?, it.fault == Fault::Negate));
        let candidates: Vec<_> = plan.candidates.iter().map(candidate).collect();
        for jvm in trace.jvms() {
            reading.lost += jvm.dropped + jvm.no_room;
            reading.counts(&trace.counts(&jvm));
            reading.jvm(&trace.dictionary(&jvm), &candidates);
        }
        RunDigest { is_armed: trace.armed_at().is_some(), ..reading.digest() }
    }
}

impl Digester for RunReader {
    type Digest = RunDigest;
    type Reading = ();

    fn digest(&self, job: &Job, evidence: &[Evidence], (): ()) -> RunDigest {
        let ([evidence], Work::Trial { plan, .. }) = (evidence, &job.work) else {
            return RunDigest::default();
        };
        let unreadable = |why: String| RunDigest { unreadable: Some(why), ..RunDigest::default() };
        match (evidence.map(), evidence.trace()) {
            (Ok(map), Ok(trace)) => self.run(plan, &map, &trace),
            (Err(error), _) => unreadable(error.to_string()),
            (_, Err(error)) => unreadable(error.to_string()),
        }
    }
}

/// A run while it is read.
struct Reading<'m> {
    model: &'m Model,
    sites: &'m Sites,
    loops: BTreeMap<Spot, (u64, Ways)>,
    within: BTreeSet<(u32, u32)>,
    errors: BTreeMap<Spot, Ways>,
    injected: BTreeMap<(Callers, u32), Ways>,
    reached: BTreeSet<u32>,
    hit: BTreeSet<usize>,
    lost: u64,
}

impl<'m> Reading<'m> {
    fn of(model: &'m Model, sites: &'m Sites) -> Reading<'m> {
        Reading {
            model,
            sites,
            loops: BTreeMap::new(),
            within: BTreeSet::new(),
            errors: BTreeMap::new(),
            injected: BTreeMap::new(),
            reached: BTreeSet::new(),
            hit: BTreeSet::new(),
            lost: 0,
        }
    }

    fn counts(&mut self, counts: &[u64]) {
        let is_hit = |it: SiteId| counts.get(it.0 as usize).is_some_and(|&it| it > 0);
        self.hit.extend(counts.iter().enumerate().filter(|it| *it.1 > 0).map(|it| it.0));
        let reached = (0..).zip(&self.sites.inject).filter(|(_, sites)| sites.iter().any(|&it| is_hit(it)));
        self.reached.extend(reached.map(|it| it.0));
    }

    fn jvm(&mut self, dictionary: &Dictionary, candidates: &[Option<(SiteId, bool)>]) {
        for tally in &dictionary.tallies {
            for &fault in self.sites.seen_at.get(&tally.body).into_iter().flatten() {
                let spot = Spot(fault, callers(dictionary, tally.context), 0);
                self.loops.entry(spot).or_default().0 += tally.iterations;
                let around = tally.around.and_then(|it| self.sites.seen_at.get(&it));
                self.within.extend(around.into_iter().flatten().map(|&outer| (fault, outer)));
            }
        }
        for path in &dictionary.paths {
            self.path(dictionary, path);
        }
        for injection in &dictionary.injections {
            let Some(&Some((site, is_negated))) = candidates.get(injection.candidate as usize) else {
                continue;
            };
            let is_way = |it: &&TracedPath| {
                (it.around, it.context, it.hash) == (site, injection.context, injection.path)
            };
            let told = dictionary.paths.iter().find(is_way);
            // A negated value is the opposite of what the site saw.
            let value = told.and_then(|it| it.branches.last()).filter(|it| is_negated && it.0 == site);
            let value = value.map_or(0, |it| u32::from(it.1 == 0));
            let begins = self.sites.begins_of.get(&site).map_or(&[][..], Vec::as_slice);
            let way = told.map(|it| way(&it.branches, begins));
            let ways = self.injected.entry((callers(dictionary, injection.context), value)).or_default();
            ways.extend(way);
        }
    }

    fn path(&mut self, dictionary: &Dictionary, path: &TracedPath) {
        for &fault in self.sites.seen_at.get(&path.around).into_iter().flatten() {
            let callers = callers(dictionary, path.context);
            let kind = self.model.faults()[fault as usize].shown.kind;
            let ways = match kind {
                CascadeKind::Delay => {
                    let Some((_, ways)) = self.loops.get_mut(&Spot(fault, callers, 0)) else { continue };
                    ways
                }
                CascadeKind::Exception => self.errors.entry(Spot(fault, callers, 0)).or_default(),
                CascadeKind::Negation => {
                    let value = path.branches.last().map_or(0, |it| it.1);
                    self.errors.entry(Spot(fault, callers, value)).or_default()
                }
            };
            if ways.len() < PATHS_MAX {
                ways.insert(match kind {
                    CascadeKind::Delay => short(path.hash),
                    _ => way(&path.branches, &self.sites.begins[fault as usize]),
                });
            }
        }
    }

    fn digest(self) -> RunDigest {
        RunDigest {
            loops: self.loops.into_iter().map(|(spot, (count, ways))| (spot, count, ways)).collect(),
            within: self.within.into_iter().collect(),
            errors: self.errors.into_iter().collect(),
            injected: self
                .injected
                .into_iter()
                .map(|((callers, value), ways)| (callers, value, ways))
                .collect(),
            reached: self.reached.into_iter().collect(),
            sites: self.hit.len() as u64,
            lost: self.lost,
            ..RunDigest::default()
        }
    }
}

/// The callers of the method that a context is of.
fn callers(dictionary: &Dictionary, context: u32) -> Callers {
    let mut found = [0; CALLERS];
    let callers = dictionary.callers(context).into_iter().skip(1);
    // Sites count from 0, which stands for no caller here.
    found.iter_mut().zip(callers).for_each(|(it, caller)| *it = caller.0 + 1);
    found
}

/// The way to a fault, up to where it becomes its own: from there on a fault that is injected and one that comes by itself go by other
/// branches.
fn way(branches: &[(SiteId, u32)], begins: &[SiteId]) -> u32 {
    let end = branches.iter().rposition(|it| begins.contains(&it.0)).unwrap_or(branches.len());
    let branch =
        |hash, &(site, value): &(SiteId, u32)| hash::word(u64::from(site.0) | u64::from(value) << 32, hash);
    short(branches[..end].iter().fold(0, branch))
}

fn short(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}
