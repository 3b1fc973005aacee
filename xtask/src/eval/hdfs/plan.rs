//! The recording of `cascade` in a run without a fault: hits of each point, both ways of each branch, and for loops, exceptions and
//! detectors the nearest callers and the branches on the way there.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use hypocenter_plan::{
    EventTime, MethodName, Plan, Record, Site, SiteKind, Trails, Watch, WatchLevel, WatchSites,
};
use hypocenter_program::{LeftOut, MethodId, Point, PointKind, Points, Program, TypeId};

use crate::table::thousands;

/// Levels of callers that belong to a point (CSNAKE 6.2).
const CALLERS: usize = 2;
/// A plan, and what is in it.
pub struct Recorded {
    pub plan: Plan,
    points: BTreeMap<&'static str, usize>,
}

/// The plan for a system. Branches of calls that are so deep belong to a path.
pub fn of(program: &Program, path_depth: u32) -> Recorded {
    let points = Points::of(program);
    let wanted: Vec<&Point> = points.all().iter().filter(|it| it.left_out.is_none()).collect();
    let mut counts = BTreeMap::new();
    for it in &wanted {
        *counts.entry(kind(it)).or_default() += 1;
    }
    let sites = distinct(wanted.iter().flat_map(|it| it.inject.iter().chain(&it.observe)));
    let is_loop = |it: &&&Point| matches!(it.kind, PointKind::Loop(_));
    let told = distinct(wanted.iter().filter(|it| !is_loop(it)).flat_map(|it| &it.observe));
    let methods = with_callers(program, wanted.iter().map(|it| it.method).collect());
    let branches = Watch {
        kinds: vec![SiteKind::Branch, SiteKind::Switch],
        classes: own_classes(program, &points),
        methods: Vec::new(),
        level: WatchLevel::Count,
    };
    let trails = Trails {
        methods: methods.iter().map(|&it| name(program, it)).collect(),
        loops: false,
        loop_counts: true,
        path_depth: Some(path_depth),
        points: told,
    };
    let record = Record {
        watch: vec![branches],
        watch_sites: vec![WatchSites { sites, level: WatchLevel::Count }],
        trails: Some(trails),
        lossless: true,
        time: EventTime::Coarse,
        ..Record::default()
    };
    Recorded { plan: Plan { record, ..Plan::default() }, points: counts }
}

impl Recorded {
    /// Prints what is recorded.
    pub fn print(&self) {
        let number = |it: usize| thousands(it as u64);
        let points: Vec<String> =
            self.points.iter().map(|(kind, it)| format!("{} {kind}", number(*it))).collect();
        let Record { watch, watch_sites, trails, .. } = &self.plan.record;
        let sites = watch_sites.iter().map(|it| it.sites.len()).sum();
        let classes = watch.iter().map(|it| it.classes.len()).sum();
        let (methods, told) = trails.as_ref().map_or((0, 0), |it| (it.methods.len(), it.points.len()));
        println!(
            "recorded: {}, by {} sites, and the branches of {} classes, counted; the callers of {} methods, the iterations \
             and paths of their loops, and the paths to {} sites",
            points.join(", "),
            number(sites),
            number(classes),
            number(methods),
            number(told)
        );
    }
}

fn kind(point: &Point) -> &'static str {
    match point.kind {
        PointKind::Throw { .. } => "throws",
        PointKind::Library { .. } => "calls of libraries",
        PointKind::Loop(_) => "loops",
        PointKind::Detector => "detectors",
    }
}

/// Each site once, in the order in which they come first.
fn distinct<'a>(sites: impl Iterator<Item = &'a Site>) -> Vec<Site> {
    let mut seen = HashSet::new();
    sites.filter(|it| seen.insert(*it)).cloned().collect()
}

/// The methods, and those of the system that call them, some levels up. Tests are not followed: each is a caller of its own.
fn with_callers(program: &Program, mut methods: BTreeSet<MethodId>) -> BTreeSet<MethodId> {
    let Program { world, facts, calls, tests, .. } = program;
    let mut last: Vec<MethodId> = methods.iter().copied().collect();
    for _ in 0..CALLERS {
        let above = last.iter().flat_map(|&it| calls.callers(it)).map(|it| facts.call(it).method);
        let is_own =
            |it: &MethodId| world.is_system_method(*it) && !tests.is_test_code(world.method(*it).owner);
        let above: BTreeSet<MethodId> = above.filter(is_own).collect();
        last = above.into_iter().filter(|&it| methods.insert(it)).collect();
    }
    methods
}

fn name(program: &Program, method: MethodId) -> MethodName {
    let world = &program.world;
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    MethodName {
        class: world.show_type(world.method(method).owner),
        method: text(world.method_name(method)),
        descriptor: text(world.method_descriptor(method)),
    }
}

/// The classes of the system that are neither test code nor generated.
fn own_classes(program: &Program, points: &Points) -> Vec<String> {
    let Program { world, tests, .. } = program;
    let generated: BTreeSet<TypeId> = points
        .all()
        .iter()
        .filter(|it| it.left_out == Some(LeftOut::Generated))
        .map(|it| world.method(it.method).owner)
        .collect();
    let is_own = |it: &TypeId| !tests.is_test_code(*it) && !generated.contains(it);
    world.system_classes().iter().map(|it| it.id).filter(is_own).map(|it| world.show_type(it)).collect()
}
