//! Results of a run, by its counting hooks: number of hits by kind, and their places. The most frequent sites are rarely worth a fault,
//! so calls that can fail come first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use hypocenter_lab::evidence_of;
use hypocenter_plan::{Outcome, Site};
use hypocenter_program::{Classes, Scope, TypeId, World, load};
use hypocenter_trace::SiteId;

use crate::commands::scan::prefixes;
use crate::failure::Failure;
use crate::screen;
use crate::target::{Target, TargetSpec};

/// Says what was reached, and so many places of it.
pub fn show(spec: &TargetSpec, directory: &Path, outcome: &Outcome, top: usize) -> Result<(), Failure> {
    let evidence = evidence_of(directory, outcome)?;
    let (map, trace) = (evidence.map()?, evidence.trace()?);
    let mut hits = vec![0u64; map.site_count()];
    for jvm in trace.jvms() {
        for (sum, count) in hits.iter_mut().zip(trace.counts(&jvm)) {
            *sum += count;
        }
    }
    let mut kinds: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for (at, &count) in hits.iter().enumerate() {
        if let Some(kind) = map.kind(SiteId(at as u32)) {
            let (reached, all) = kinds.entry(kind).or_default();
            *reached += u64::from(count > 0);
            *all += 1;
        }
    }
    let sites = hits.iter().enumerate().filter(|(_, count)| **count > 0);
    let sites = sites.filter_map(|(at, &count)| Some((map.site(SiteId(at as u32))?, count)));
    let sites: Vec<(Site, u64)> = sites.collect();
    if sites.is_empty() {
        return Ok(());
    }
    // The names are those that --hook takes.
    let of_kind = kinds.iter().map(|(kind, &(reached, all))| {
        format!("{} {} of {}", kind.name(), screen::thousands(reached), screen::thousands(all))
    });
    screen::line("reached", &of_kind.collect::<Vec<_>>().join(", "));
    if top == 0 {
        return Ok(());
    }
    let failing = Failing::of(spec);
    let rank = |site: &Site| failing.as_ref().map_or(Rank::Other, |it| it.rank(site));
    let mut ranked: Vec<(Rank, u64, Site)> =
        sites.into_iter().map(|(site, count)| (rank(&site), count, site)).collect();
    ranked.sort_by_key(|(rank, count, _)| (*rank, Reverse(*count)));
    let failing = ranked.iter().filter(|(rank, ..)| *rank < Rank::Other).count();
    screen::line("", &heading(top, ranked.len(), failing));
    for (_, count, site) in ranked.into_iter().take(top) {
        let site = screen::clean(&site.to_string());
        screen::line("", &format!("{:>12}  {site}", screen::thousands(count)));
    }
    Ok(())
}

/// Heading of so many of all sites that were reached, of which so many are calls that declare exceptions.
fn heading(top: usize, all: usize, failing: usize) -> String {
    let count = |count: usize| screen::thousands(count as u64);
    let sites = match all {
        1 => "the one site".to_owned(),
        _ if top < all => format!("{} of {} sites (--top)", count(top), count(all)),
        _ => format!("all {} sites", count(all)),
    };
    // Where all do, or none, nothing comes before anything else.
    let first = if failing == 0 || failing == all {
        ""
    } else {
        ", I/O calls first, then other calls that declare exceptions"
    };
    let more = if top < all { "; `hypocenter scan --sites` lists all that can fail" } else { "" };
    format!("{sites}{first}{more}")
}

/// Weight of a site by its possible faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A call into a library that declares an exception of input and output.
    Io,
    /// A call that declares some exception.
    Throws,
    Other,
}

/// Calls that declare exceptions. They are few compared with the results of a scan, and are read from the class files at once.
struct Failing {
    world: World,
    io_exception: Option<TypeId>,
}

impl Failing {
    /// Of a target; nothing if it cannot be read any more.
    fn of(spec: &TargetSpec) -> Option<Failing> {
        let target = Target::open(spec).ok()?;
        Some(Failing::among(&target.with_jdk, &spec.packages))
    }

    fn among(classes: &Classes, packages: &[String]) -> Failing {
        let (world, _) = load(classes, &Scope::of(&prefixes(packages, classes)));
        let io_exception = world.find_type(b"java/io/IOException");
        Failing { world, io_exception }
    }

    fn rank(&self, site: &Site) -> Rank {
        self.declared(site).unwrap_or(Rank::Other)
    }

    fn declared(&self, site: &Site) -> Option<Rank> {
        let world = &self.world;
        let callee = site.callee.as_deref()?;
        let (name, descriptor) = callee.split_at(callee.find('(')?);
        let (owner, name) = name.rsplit_once('.')?;
        let owner = world.find_type(owner.replace('.', "/").as_bytes())?;
        let signature = world.find_signature(name.as_bytes(), descriptor.as_bytes())?;
        let method = world.resolve(owner, signature)?;
        let throws = world.throws(method);
        let is_io = |it: &TypeId| self.io_exception.is_some_and(|io| world.is_subtype(*it, io));
        Some(match throws {
            [] => Rank::Other,
            _ if !world.is_system_method(method) && throws.iter().any(is_io) => Rank::Io,
            _ => Rank::Throws,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heading_says_of_how_many_what_follows_are_the_first() {
        let scan = "; `hypocenter scan --sites` lists all that can fail";
        let first = ", I/O calls first, then other calls that declare exceptions";
        assert_eq!(heading(10, 171, 30), format!("10 of 171 sites (--top){first}{scan}"));
        assert_eq!(heading(1000, 171, 30), format!("all 171 sites{first}"));
        assert_eq!(heading(10, 1_171, 0), format!("10 of 1,171 sites (--top){scan}"));
        assert_eq!(heading(10, 5, 5), "all 5 sites");
        assert_eq!(heading(10, 1, 1), "the one site");
    }
}
