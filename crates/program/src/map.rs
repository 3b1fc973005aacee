//! From a plan to the instrumentation map: which sites of the target get hooks.

use hypocenter_classfile::{ClassFile, Member, code_digest_symbolic};
use hypocenter_plan::{Plan, Problem, Site, SiteKind, TaskMethod, Watch, WatchLevel, glob_matches};
use hypocenter_trace::{MapBuilder, NewSite, SiteId};
use rustc_hash::FxHashMap;

use crate::classes::{Classes, parse_class};
use crate::error::{Error, MissingCandidate};
use crate::kinds::KindSet;
use crate::sites::{MethodSite, sites_of_method};

/// What went into a map.
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
    let wanted = |name: &str| {
        let of_class = by_class.get(name).map_or(&[] as &[usize], Vec::as_slice);
        Wanted::of(plan, of_class, tasks.get(name).map_or(&[], Vec::as_slice), name)
    };
    let (chosen, mut problems) = classes
        .map(|name| !wanted(name).is_empty(), |name, bytes| chosen_sites(name, bytes, &wanted(name), plan));

    let mut builder = MapBuilder::new();
    let mut summary = MapSummary::default();
    let mut of_candidates: Vec<Option<SiteId>> = vec![None; plan.candidates.len()];
    let mut kinds = SiteKind::ALL.map(|kind| (kind, 0));
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
            for ChosenSite { site, level, candidates } in method.sites {
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

/// What a plan wants of a class.
struct Wanted<'p> {
    /// What watches it.
    watches: Vec<&'p Watch>,
    candidates: &'p [usize],
    tasks: &'p [&'p TaskMethod],
}

impl<'p> Wanted<'p> {
    fn of(plan: &'p Plan, candidates: &'p [usize], tasks: &'p [&'p TaskMethod], name: &str) -> Wanted<'p> {
        let is_meant = |it: &&Watch| it.classes.iter().any(|pattern| glob_matches(pattern, name));
        Wanted { watches: plan.record.watch.iter().filter(is_meant).collect(), candidates, tasks }
    }

    fn is_empty(&self) -> bool {
        self.candidates.is_empty() && self.tasks.is_empty() && self.watches.is_empty()
    }

    /// How closely each kind of site in a method is watched.
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

/// How closely each kind of site is watched.
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
}

fn chosen_sites(name: &str, bytes: &[u8], wanted: &Wanted<'_>, plan: &Plan) -> ChosenClass {
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
    for (index, method) in class.methods().iter().enumerate() {
        match chosen_of_method(&class, index, method, wanted, plan) {
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

fn chosen_of_method(
    class: &ClassFile<'_>,
    index: usize,
    method: &Member<'_>,
    wanted: &Wanted<'_>,
    plan: &Plan,
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
    let task = wanted.tasks.iter().find(|it| it.method == name && it.descriptor == descriptor);
    if task.is_some() {
        kinds = OF_TASKS.into_iter().fold(kinds, KindSet::with);
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
        let least =
            if named.is_empty() { is_step.then_some(WatchLevel::Off) } else { Some(WatchLevel::Count) };
        if let Some(level) = levels.of(site.kind).max(least) {
            sites.push(ChosenSite { site, level, candidates: named });
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

/// What exactly a candidate's site lacks.
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
