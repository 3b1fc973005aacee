//! The ways that a run took: branches that went one way only, and how many iterations the loops had.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use hypocenter_lab::evidence_of;
use hypocenter_plan::{Outcome, Site, SiteKind};
use hypocenter_trace::{Map, SiteId, Trace};

use crate::failure::Failure;
use crate::screen;

/// Shows as many branches and as many loops, where the run had hooks for them.
pub fn show(directory: &Path, outcome: &Outcome, top: usize) -> Result<(), Failure> {
    let evidence = evidence_of(directory, outcome)?;
    let (map, trace) = (evidence.map()?, evidence.trace()?);
    branches(&map, &trace, top);
    loops(&map, &trace, top);
    Ok(())
}

/// A branch that was reached: its site, how often it was not taken, and how often it was.
type Counted = (Site, u64, u64);

fn branches(map: &Map<'_>, trace: &Trace<'_>, top: usize) {
    let mut counts = vec![(0u64, 0u64); map.site_count()];
    for jvm in trace.jvms() {
        for (sum, (other, taken)) in counts.iter_mut().zip(trace.counts_by_value(&jvm)) {
            *sum = (sum.0 + other, sum.1 + taken);
        }
    }
    let reached = counts.iter().enumerate().filter(|(_, count)| **count != (0, 0));
    let reached: Vec<(SiteId, u64, u64)> = reached
        .map(|(at, &(other, taken))| (SiteId(at as u32), other, taken))
        .filter(|it| map.kind(it.0) == Some(SiteKind::Branch))
        .collect();
    if reached.is_empty() {
        return;
    }
    let one_way = reached.iter().filter(|it| it.1 == 0 || it.2 == 0);
    let mut one_way: Vec<Counted> = one_way.filter_map(|it| Some((map.site(it.0)?, it.1, it.2))).collect();
    one_way.sort_by_key(|it| Reverse(it.1 + it.2));
    let (some, all) = (screen::thousands(one_way.len() as u64), screen::thousands(reached.len() as u64));
    screen::line("branches", &format!("{some} of {all} that were reached went one way only"));
    for (site, other, taken) in one_way.iter().take(top) {
        let way = if *taken == 0 { "never taken" } else { "always taken" };
        let times = screen::thousands(other + taken);
        screen::line("", &format!("{times:>12}  {way:<12}  {}", screen::clean(&site.to_string())));
    }
}

/// A loop: class, method, descriptor, and its number in the method.
type LoopName = (String, String, String, u32);

/// What was seen of a loop.
#[derive(Default)]
struct Seen {
    site: Option<Site>,
    entries: u64,
    bodies: u64,
    /// For each number of iterations, how often the loop had so many; empty if that is not known.
    iterations: BTreeMap<u64, u64>,
}

impl Seen {
    /// The number of iterations that a share of all entries does not exceed.
    fn quantile(&self, share: f64) -> u64 {
        let all: u64 = self.iterations.values().sum();
        let wanted = (share * all as f64).ceil() as u64;
        let mut sum = 0;
        let reached = |(_, times): &(&u64, &u64)| {
            sum += **times;
            sum >= wanted
        };
        self.iterations.iter().find(reached).map_or(0, |it| *it.0)
    }

    fn told(&self) -> String {
        let entries = screen::count(self.entries, "entry", "entries");
        if self.iterations.is_empty() {
            let mean = self.bodies as f64 / self.entries.max(1) as f64;
            return format!("{mean:>10.1} a time in the mean, {entries}");
        }
        let [least, median, most_do, most] =
            [0.0, 0.5, 0.9, 1.0].map(|share| screen::thousands(self.quantile(share)));
        format!("{least:>6} .. {median:>6} .. {most_do:>6} .. {most:>8}, {entries}")
    }
}

fn loops(map: &Map<'_>, trace: &Trace<'_>, top: usize) {
    let mut numbers: BTreeMap<LoopName, usize> = BTreeMap::new();
    let mut all: Vec<Seen> = Vec::new();
    // For each site of a loop its number, and whether the site is its entry.
    let mut of_site: BTreeMap<u32, (usize, bool)> = BTreeMap::new();
    let kinds = [SiteKind::LoopEntry, SiteKind::LoopBody];
    for id in
        (0..map.site_count() as u32).filter(|&it| map.kind(SiteId(it)).is_some_and(|it| kinds.contains(&it)))
    {
        let Some(site) = map.site(SiteId(id)) else { continue };
        let name = (site.class.clone(), site.method.clone(), site.descriptor.clone(), site.ordinal);
        let number = *numbers.entry(name).or_insert_with(|| {
            all.push(Seen::default());
            all.len() - 1
        });
        of_site.insert(id, (number, site.kind == SiteKind::LoopEntry));
        if site.kind == SiteKind::LoopBody {
            all[number].site = Some(site);
        }
    }
    for jvm in trace.jvms() {
        let counts = trace.counts(&jvm);
        for (&id, &(number, is_entry)) in &of_site {
            let count = counts.get(id as usize).copied().unwrap_or(0);
            let seen = &mut all[number];
            *(if is_entry { &mut seen.entries } else { &mut seen.bodies }) += count;
        }
    }
    let is_whole = trace.jvms().iter().all(|it| it.dropped + it.no_room == 0);
    if is_whole {
        distribute(trace, &of_site, &mut all);
    }
    let mut reached: Vec<&Seen> = all.iter().filter(|it| it.site.is_some() && it.entries > 0).collect();
    if reached.is_empty() {
        return;
    }
    reached.sort_by_key(|it| Reverse(it.bodies));
    let has_all = reached.iter().any(|it| !it.iterations.is_empty());
    let what = match has_all {
        true => "iterations of each time that it was entered: least, median, nine of ten, most",
        false => "iterations; `--record events --lossless` shows their distribution",
    };
    screen::line("loops", &format!("{} were entered; {what}", screen::thousands(reached.len() as u64)));
    for it in reached.iter().take(top) {
        let site = it.site.as_ref().map_or_else(String::new, |it| screen::clean(&it.to_string()));
        screen::line("", &format!("  {}  {site}", it.told()));
    }
}

/// Counts the iterations of each time that a loop was entered, from the events of each thread.
fn distribute(trace: &Trace<'_>, of_site: &BTreeMap<u32, (usize, bool)>, all: &mut [Seen]) {
    for jvm in trace.jvms() {
        let mut open: BTreeMap<(u32, usize), u64> = BTreeMap::new();
        for event in trace.events(&jvm) {
            let Some(&(number, is_entry)) = of_site.get(&event.site.0) else { continue };
            let count = open.entry((event.thread, number));
            if !is_entry {
                *count.or_default() += 1;
            } else if let Some(done) = open.insert((event.thread, number), 0) {
                *all[number].iterations.entry(done).or_default() += 1;
            }
        }
        for ((_, number), done) in open {
            *all[number].iterations.entry(done).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_entries() {
        let seen = Seen { iterations: BTreeMap::from([(0, 5), (3, 4), (100, 1)]), ..Seen::default() };
        assert_eq!([0.0, 0.5, 0.9, 1.0].map(|it| seen.quantile(it)), [0, 0, 3, 100]);
    }
}
