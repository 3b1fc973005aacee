//! From a plan to the instrumentation map: which sites of the target get hooks.

use hypocenter_classfile::{ClassFile, Member, code_digest_symbolic};
use hypocenter_plan::{
    MethodName, Plan, Problem, Site, SiteKind, TaskMethod, Trails, Watch, WatchLevel, glob_matches,
};
use hypocenter_trace::{MapBuilder, NewSite, SiteId, Waist, expected_of};
use rustc_hash::FxHashMap;

use crate::error::{Error, MissingCandidate};
use crate::loading::classes::{Classes, parse_class};
use crate::sites::kinds::KindSet;
use crate::sites::{MethodSite, sites_of_method};

/// Content of a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MapSummary {
    /// Classes with sites.
    pub classes: usize,
    /// Methods with sites.
    pub methods: usize,
    /// Hooks; a site may have several.
    pub hooks: usize,
    /// Regions that go round and are no natural loop: no loop site names them.
    pub irreducible: u64,
    /// For each site, by its id, how closely the plan watches it.
    pub levels: Vec<WatchLevel>,
    /// For each kind that occurs, in the order of [`SiteKind::ALL`], how many sites there are.
    pub kinds: Vec<(SiteKind, usize)>,
    /// For each candidate of the plan, in its order, the id of its site.
    pub candidates: Vec<SiteId>,
}

/// Lists the sites that a plan watches or names as candidates, and those of its tasks, class by class in the order of
/// their names. A site that only a candidate names is watched at level `Count`, one that only a task needs at `Off`. A candidate whose site does not exist is an error.
pub fn build_map(classes: &Classes, plan: &Plan) -> Result<(MapBuilder, MapSummary, Vec<Problem>), Error> {
    let mut by_class: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (number, candidate) in plan.candidates.iter().enumerate() {
        by_class.entry(&candidate.site.class).or_default().push(number);
    }
    let mut tasks: FxHashMap<&str, Vec<&TaskMethod>> = FxHashMap::default();
    for task in &plan.record.tasks {
        tasks.entry(&task.class).or_default().push(task);
    }
    let points = points(plan);
    let mut points_by_class: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (number, point) in points.iter().enumerate() {
        points_by_class.entry(&point.site.class).or_default().push(number);
    }
    let mut trails_by_class: FxHashMap<&str, Vec<&MethodName>> = FxHashMap::default();
    for method in plan.record.trails.iter().flat_map(|it| &it.methods) {
        trails_by_class.entry(&method.class).or_default().push(method);
    }
    let wanted = |name: &str| Wanted {
        points: points_by_class.get(name).map_or(&[], Vec::as_slice),
        trails: trails_by_class.get(name).map_or(&[], Vec::as_slice),
        ..Wanted::of(
            plan,
            by_class.get(name).map_or(&[], Vec::as_slice),
            tasks.get(name).map_or(&[], Vec::as_slice),
            name,
        )
    };
    let (chosen, mut problems) = classes.map(
        |name| !wanted(name).is_empty(),
        |name, bytes| chosen_sites(name, bytes, &wanted(name), plan, &points),
    );

    let mut builder = MapBuilder::new();
    let mut summary = MapSummary::default();
    let mut of_candidates: Vec<Option<SiteId>> = vec![None; plan.candidates.len()];
    let mut kinds = SiteKind::ALL.map(|kind| (kind, 0));
    let mut found = vec![false; points.len()];
    for class in chosen {
        problems.extend(class.problems);
        summary.irreducible += class.irreducible;
        if class.methods.is_empty() {
            continue;
        }
        summary.classes += 1;
        builder.class(&class.internal_name);
        for method in class.methods {
            summary.methods += 1;
            builder.method(method.index, &method.name, &method.descriptor, method.digest, method.symbolic);
            for ChosenSite { site, level, candidates, points } in method.sites {
                points.into_iter().for_each(|point| found[point] = true);
                let id = builder.site(NewSite {
                    kind: site.kind,
                    callee: site.callee.as_deref().unwrap_or(""),
                    ordinal: site.ordinal,
                    total: site.total,
                    line: site.line.unwrap_or(0),
                });
                for hook in &site.hooks {
                    builder.hook(hook.placement, hook.pc, hook.instruction, &hook.edges);
                }
                summary.hooks += site.hooks.len();
                summary.levels.push(level);
                kinds.iter_mut().filter(|(kind, _)| *kind == site.kind).for_each(|(_, count)| *count += 1);
                candidates.into_iter().for_each(|candidate| of_candidates[candidate] = Some(id));
            }
        }
    }
    problems.extend(unknown_points(classes, &points, &found));
    summary.kinds = kinds.into_iter().filter(|&(_, count)| count > 0).collect();
    let missing: Vec<MissingCandidate> = (0..plan.candidates.len())
        .filter(|&candidate| of_candidates[candidate].is_none())
        .map(|candidate| missing(classes, candidate, &plan.candidates[candidate].site))
        .collect();
    if !missing.is_empty() {
        return Err(Error::MissingCandidates { missing });
    }
    summary.candidates = of_candidates.into_iter().flatten().collect();
    Ok((builder, summary, problems))
}

/// A site that a plan names, other than as a candidate's.
struct Point<'p> {
    site: &'p Site,
    /// How closely it is watched for itself.
    level: WatchLevel,
}

fn points(plan: &Plan) -> Vec<Point<'_>> {
    let listed = plan.record.watch_sites.iter();
    let listed = listed.flat_map(|it| it.sites.iter().map(|site| Point { site, level: it.level }));
    let told = plan.record.trails.iter().flat_map(|it| &it.points);
    let listed = listed.chain(told.map(|site| Point { site, level: WatchLevel::Off }));
    listed.chain(plan.other_sites().map(|site| Point { site, level: WatchLevel::Off })).collect()
}

/// The most unknown points that are listed before the rest is only counted.
const UNKNOWN_LISTED_MAX: usize = 20;

fn unknown_points(classes: &Classes, points: &[Point<'_>], found: &[bool]) -> Vec<Problem> {
    let unknown: Vec<&Point<'_>> =
        points.iter().zip(found).filter(|(_, found)| !**found).map(|(it, _)| it).collect();
    let problem = |(number, it): (usize, &&Point<'_>)| Problem {
        place: it.site.to_string(),
        what: format!("it is not watched: {}", missing(classes, number, it.site).why),
    };
    let mut problems: Vec<Problem> =
        unknown.iter().take(UNKNOWN_LISTED_MAX).enumerate().map(problem).collect();
    if let Some(rest) = unknown.len().checked_sub(UNKNOWN_LISTED_MAX).filter(|&rest| rest > 0) {
        let what = format!("{rest} more sites of the plan are not in the target and are not watched");
        problems.push(Problem { place: "sites".to_owned(), what });
    }
    problems
}

/// Requests of a plan for a class.
struct Wanted<'p> {
    /// Watcher.
    watches: Vec<&'p Watch>,
    candidates: &'p [usize],
    tasks: &'p [&'p TaskMethod],
    points: &'p [usize],
    trails: &'p [&'p MethodName],
}

impl<'p> Wanted<'p> {
    fn of(plan: &'p Plan, candidates: &'p [usize], tasks: &'p [&'p TaskMethod], name: &str) -> Wanted<'p> {
        let is_meant = |it: &&Watch| it.classes.iter().any(|pattern| glob_matches(pattern, name));
        Wanted {
            watches: plan.record.watch.iter().filter(is_meant).collect(),
            candidates,
            tasks,
            points: &[],
            trails: &[],
        }
    }

    fn is_empty(&self) -> bool {
        self.candidates.is_empty()
            && self.tasks.is_empty()
            && self.watches.is_empty()
            && self.points.is_empty()
            && self.trails.is_empty()
    }

    /// Level of detail for each kind of site in a method.
    fn levels(&self, method: &str) -> Levels {
        let mut levels = Levels([None; SiteKind::ALL.len()]);
        let is_meant = |it: &&&Watch| it.methods.is_empty() || it.methods.iter().any(|name| name == method);
        for watch in self.watches.iter().filter(is_meant) {
            for &kind in &watch.kinds {
                let level = &mut levels.0[slot(kind)];
                *level = Some(level.map_or(watch.level, |old: WatchLevel| old.max(watch.level)));
            }
        }
        levels
    }
}

/// Level of detail for each kind of site.
struct Levels([Option<WatchLevel>; SiteKind::ALL.len()]);

impl Levels {
    fn of(&self, kind: SiteKind) -> Option<WatchLevel> {
        self.0[slot(kind)]
    }

    fn kinds(&self) -> KindSet {
        let watched = SiteKind::ALL.into_iter().filter(|&kind| self.of(kind).is_some());
        watched.fold(KindSet::NONE, KindSet::with)
    }
}

/// The kinds of sites by which trails are followed.
fn kinds_of(trails: &Trails) -> KindSet {
    let mut kinds = KindSet::of(&[SiteKind::Entry, SiteKind::Exit, SiteKind::Unwind]);
    if trails.has_loops() {
        let loops = [SiteKind::LoopEntry, SiteKind::LoopBody, SiteKind::LoopExit, SiteKind::LoopUnwind];
        kinds = loops.into_iter().fold(kinds, KindSet::with);
    }
    if trails.path_depth.is_some() {
        kinds = kinds.with(SiteKind::Branch).with(SiteKind::Switch);
    }
    kinds
}

/// The sites at which a task begins, ends, and comes into another state.
const OF_TASKS: [SiteKind; 4] = [SiteKind::Entry, SiteKind::Exit, SiteKind::Unwind, SiteKind::Block];

fn slot(kind: SiteKind) -> usize {
    SiteKind::ALL.iter().position(|&it| it == kind).expect("every kind is among all kinds")
}

struct ChosenClass {
    internal_name: Vec<u8>,
    methods: Vec<ChosenMethod>,
    problems: Vec<Problem>,
    irreducible: u64,
}

struct ChosenMethod {
    index: u32,
    name: Vec<u8>,
    descriptor: Vec<u8>,
    digest: u64,
    symbolic: u64,
    sites: Vec<ChosenSite>,
}

struct ChosenSite {
    site: MethodSite,
    level: WatchLevel,
    candidates: Vec<usize>,
    points: Vec<usize>,
}

fn chosen_sites(
    name: &str,
    bytes: &[u8],
    wanted: &Wanted<'_>,
    plan: &Plan,
    points: &[Point<'_>],
) -> ChosenClass {
    let mut chosen =
        ChosenClass { internal_name: Vec::new(), methods: Vec::new(), problems: Vec::new(), irreducible: 0 };
    let class = match parse_class(name, bytes) {
        Ok(class) => class,
        Err(problem) => {
            chosen.problems.push(problem);
            return chosen;
        }
    };
    chosen.internal_name = class.name().to_vec();
    if wanted.watches.iter().any(|it| it.kinds.contains(&SiteKind::Operation)) {
        chosen.problems.extend(unexpected(name, &class));
    }
    for (index, method) in class.methods().iter().enumerate() {
        match chosen_of_method(&class, index, method, wanted, plan, points) {
            Ok(Some((method, irreducible))) => {
                chosen.irreducible += u64::from(irreducible);
                if !method.sites.is_empty() {
                    chosen.methods.push(method);
                }
            }
            Ok(None) => {}
            Err(what) => chosen.problems.push(Problem {
                place: format!("{name}.{}", String::from_utf8_lossy(method.name)),
                what: format!("{what}; its sites are left out"),
            }),
        }
    }
    chosen
}

/// What a class of the JDK lacks of the methods at which operations between threads are seen.
fn unexpected(name: &str, class: &ClassFile<'_>) -> Vec<Problem> {
    let has = |it: &Waist| {
        let is_it = |method: &&Member<'_>| it.is_named(method.name, method.descriptor);
        class.methods().iter().filter(is_it).any(|it| matches!(it.code(), Ok(Some(_))))
    };
    let problem = |it: &Waist| Problem {
        place: format!("{name}.{}", it.method),
        what: "this JDK has no such method with code: what threads do by it is not seen".to_owned(),
    };
    expected_of(name).filter(|it| !has(it)).map(problem).collect()
}

fn chosen_of_method(
    class: &ClassFile<'_>,
    index: usize,
    method: &Member<'_>,
    wanted: &Wanted<'_>,
    plan: &Plan,
    points: &[Point<'_>],
) -> Result<Option<(ChosenMethod, u32)>, String> {
    let name = String::from_utf8_lossy(method.name);
    let descriptor = String::from_utf8_lossy(method.descriptor);
    let candidates: Vec<(usize, &Site)> = wanted
        .candidates
        .iter()
        .map(|&number| (number, &plan.candidates[number].site))
        .filter(|(_, site)| site.method == name && site.descriptor == descriptor)
        .collect();
    let levels = wanted.levels(&name);
    let mut kinds = candidates.iter().fold(levels.kinds(), |kinds, (_, site)| kinds.with(site.kind));
    let of_method = |site: &Site| site.method == name && site.descriptor == descriptor;
    let own_points: Vec<usize> =
        wanted.points.iter().copied().filter(|&it| of_method(points[it].site)).collect();
    kinds = own_points.iter().fold(kinds, |kinds, &it| kinds.with(points[it].site.kind));
    let is_followed = wanted.trails.iter().any(|it| it.method == name && it.descriptor == descriptor);
    let trail_kinds = match &plan.record.trails {
        Some(trails) if is_followed => kinds_of(trails),
        _ => KindSet::NONE,
    };
    kinds = SiteKind::ALL.into_iter().filter(|&it| trail_kinds.contains(it)).fold(kinds, KindSet::with);
    let task = wanted.tasks.iter().find(|it| it.method == name && it.descriptor == descriptor);
    if task.is_some() {
        kinds = OF_TASKS.into_iter().fold(kinds, KindSet::with);
    }
    if kinds.intersects(KindSet::OPERATIONS) {
        kinds = kinds.with(SiteKind::Operation).with(SiteKind::OperationEnd);
    }
    if kinds.is_empty() {
        return Ok(None);
    }
    let Some(code) = method.code().map_err(|error| error.to_string())? else { return Ok(None) };
    let found = sites_of_method(class, method, kinds).map_err(|error| error.to_string())?;
    let mut sites = Vec::with_capacity(found.sites.len());
    for site in found.sites {
        let is_named = |candidate: &Site| {
            candidate.kind == site.kind
                && candidate.ordinal == u32::from(site.ordinal)
                && candidate.callee.as_deref() == site.callee.as_deref()
        };
        let named: Vec<usize> = candidates
            .iter()
            .filter(|(_, candidate)| is_named(candidate))
            .map(|&(number, _)| number)
            .collect();
        let is_step = task.is_some_and(|it| {
            OF_TASKS.contains(&site.kind)
                && (site.kind != SiteKind::Block || it.states.contains(&site.ordinal.into()))
        });
        let is_step = is_step || trail_kinds.contains(site.kind) || site.kind.is_operation();
        let least =
            if named.is_empty() { is_step.then_some(WatchLevel::Off) } else { Some(WatchLevel::Count) };
        let listed: Vec<usize> = own_points.iter().copied().filter(|&it| is_named(points[it].site)).collect();
        let listed_level = listed.iter().map(|&it| points[it].level).max();
        if let Some(level) = levels.of(site.kind).max(least).max(listed_level) {
            sites.push(ChosenSite { site, level, candidates: named, points: listed });
        }
    }
    let symbolic = match sites.is_empty() {
        true => 0,
        false => code_digest_symbolic(class, &code).map_err(|error| error.to_string())?,
    };
    let chosen = ChosenMethod {
        index: index as u32,
        name: method.name.to_vec(),
        descriptor: method.descriptor.to_vec(),
        digest: code.digest(),
        symbolic,
        sites,
    };
    Ok(Some((chosen, found.irreducible)))
}

/// Exact part that the site of a candidate lacks.
fn missing(classes: &Classes, candidate: usize, site: &Site) -> MissingCandidate {
    let why = match classes.read(&site.class) {
        None => "the class is not on the class path".to_owned(),
        Some(Err(problem)) => problem.what,
        Some(Ok(bytes)) => match parse_class(&site.class, &bytes) {
            Err(problem) => problem.what,
            Ok(class) => {
                let is_it = |method: &&Member<'_>| {
                    method.name == site.method.as_bytes() && method.descriptor == site.descriptor.as_bytes()
                };
                match class.methods().iter().find(is_it) {
                    None => format!("the class has no method {}{}", site.method, site.descriptor),
                    Some(_) => "the method has no such site".to_owned(),
                }
            }
        },
    };
    MissingCandidate { candidate, site: site.to_string(), why }
}
