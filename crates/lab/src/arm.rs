//! Turns a plan into what the agent reads: sites into numbers, times into nanoseconds.

pub(crate) mod steering;

use std::collections::BTreeMap;

use hypocenter_plan::{
    Arm, EventTime, Fault, Guard, Mdc, Pause, Plan, PlanError, Repeat, Site, SiteKind, StackGuard, StateId,
    TaskMethod, Trails, Watch, WatchLevel, first_states, glob_matches, state_names,
};
use hypocenter_trace::{
    ArmedCandidate, ArmedFault, ArmedMdc, ArmedNode, ArmedPlan, ArmedRepeat, ArmedSince, ArmedStack,
    ArmedStep, ArmedTrack, Map, MapClass, SiteId, Step, Track, TrialSpec, level,
};

/// Reasons that keep a plan from running.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArmError {
    /// The plan itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The map does not have a site that something waits for.
    #[error("`{site}`, which {who} for, is not in the target; `hypocenter scan --sites` lists what is")]
    NoOther {
        /// The site.
        site: String,
        /// Who waits for it, with the verb.
        who: String,
    },
    /// The map does not have a site that is to be ordered, forced or set.
    #[error(
        "{place}: `{site}` is not in the target; `hypocenter run --hook {kind}` shows the sites of its kind that are reached"
    )]
    NoSteered {
        /// What of the plan, by its index.
        place: String,
        /// The site.
        site: String,
        /// Its kind.
        kind: &'static str,
    },
    /// The map does not have a candidate's site.
    #[error(
        "candidate {candidate}: `{site}` is not in the instrumentation map; create the map from this plan"
    )]
    NoSite {
        /// Index of the candidate.
        candidate: usize,
        /// Its site.
        site: String,
    },
}

const NANOS_PER_MS: u64 = 1_000_000;

/// The message of an injected exception whose plan gives none.
const MESSAGE: &str = "injected by hypocenter";

/// The trial's file for a plan. The map may have more sites than the plan needs: those have their hooks idle.
/// `throwables` gives, for each class that a plan names, the classes to try in turn (that class itself if there are none).
pub fn arm(
    plan: &Plan,
    map: &Map<'_>,
    throwables: &BTreeMap<String, Vec<String>>,
    trial: u64,
) -> Result<TrialSpec, ArmError> {
    plan.check()?;
    let mut levels = watched(plan, map);
    for watch in &plan.record.watch_sites {
        // One that the map does not have was reported when the map was made.
        let sites = watch.sites.iter().filter_map(|site| map.find(site));
        sites.for_each(|site| levels[site.0 as usize] |= bits(watch.level));
    }
    let steps = steps(&plan.record.tasks, map);
    steps.iter().for_each(|it| levels[it.site.0 as usize] |= level::STATE);
    let tracks = plan.record.trails.as_ref().map_or_else(Vec::new, |it| tracks(it, map));
    tracks.iter().for_each(|it| levels[it.site.0 as usize] |= level::TRACK);
    let asked = plan.candidates.iter().enumerate().map(|(number, it)| {
        let site = map
            .find(&it.site)
            .ok_or_else(|| ArmError::NoSite { candidate: number, site: it.site.to_string() })?;
        let (fault, who) = (armed_fault(&it.fault, throwables), format!("candidate {number}"));
        guarded(plan, map, (site, fault), (&it.when, it.repeat), &who)
    });
    let mut candidates = asked.collect::<Result<Vec<ArmedCandidate>, ArmError>>()?;
    candidates.extend(steering::armed(plan, map)?);
    for it in &candidates {
        levels[it.site.0 as usize] |= level::COUNT | level::DECIDE;
    }
    let arm_after = match &plan.arm {
        Arm::After(site) => {
            let found = map.find(site);
            let missing = || ArmError::NoOther { site: site.to_string(), who: "`arm` waits".to_owned() };
            Some(found.ok_or_else(missing)?)
        }
        Arm::Start | Arm::Ready => None,
    };
    let marked = candidates.iter().filter_map(|it| it.since).map(|it| it.site).chain(arm_after);
    marked.for_each(|it| levels[it.0 as usize] |= level::COUNT | level::MARK);
    let ticking = plan.record.time == EventTime::Coarse && levels.iter().any(|it| it & level::EVENT != 0);
    Ok(TrialSpec {
        trial,
        seed: plan.seed,
        limit: plan.limit,
        armed: plan.arm == Arm::Start,
        map_digest: map.digest(),
        levels,
        plan: ArmedPlan { candidates, never_below: plan.never_below.clone(), arm_after },
        steps,
        tracks,
        path_depth: plan.record.trails.as_ref().and_then(|it| it.path_depth),
        loop_runs: plan.record.trails.as_ref().is_some_and(|it| it.loops),
        loop_counts: plan.record.trails.as_ref().is_some_and(|it| it.loop_counts),
        stack_frames: plan.record.stack_frames,
        ring_bytes: plan.record.ring_kb.saturating_mul(1024),
        lossless: plan.record.lossless,
        native: plan.record.native,
        ticking,
    })
}

fn armed_fault(fault: &Fault, throwables: &BTreeMap<String, Vec<String>>) -> ArmedFault {
    match fault {
        Fault::Exception { class, message } => ArmedFault::Exception {
            classes: match throwables.get(class) {
                Some(classes) if !classes.is_empty() => classes.clone(),
                _ => vec![class.clone()],
            },
            message: message.clone().unwrap_or_else(|| MESSAGE.to_owned()),
        },
        Fault::Delay { delay_ms, pause: Pause::Sleep } => {
            ArmedFault::Sleep { nanos: delay_ms.saturating_mul(NANOS_PER_MS) }
        }
        Fault::Delay { delay_ms, pause: Pause::Spin } => {
            ArmedFault::Spin { nanos: delay_ms.saturating_mul(NANOS_PER_MS) }
        }
        Fault::Crash { status } => ArmedFault::Crash { status: i32::from(*status) },
        Fault::Negate => ArmedFault::Negate,
    }
}

/// Something at a site, under its guard. `who` waits for the sites that the guard names.
fn guarded(
    plan: &Plan,
    map: &Map<'_>,
    (site, fault): (SiteId, ArmedFault),
    (when, repeat): (&Guard, Repeat),
    who: &str,
) -> Result<ArmedCandidate, ArmError> {
    let waits = |site: &Site| {
        map.find(site)
            .ok_or_else(|| ArmError::NoOther { site: site.to_string(), who: format!("{who} waits") })
    };
    let since = match &when.since {
        None => None,
        Some(since) => Some(ArmedSince {
            site: waits(&since.site)?,
            least_nanos: since.at_least_ms.saturating_mul(NANOS_PER_MS),
            most_nanos: since.at_most_ms.map_or(u64::MAX, |it| it.saturating_mul(NANOS_PER_MS)),
        }),
    };
    Ok(ArmedCandidate {
        site,
        fault,
        node: node(plan, when.node.as_deref()),
        thread: when.thread.clone(),
        state: when.state.as_ref().map(|name| state(&state_names(&plan.record.tasks), name)),
        stack: match &when.stack {
            None => ArmedStack::Any,
            Some(StackGuard::Suffix(patterns)) => ArmedStack::Suffix(patterns.clone()),
            Some(StackGuard::Hash(hash)) => ArmedStack::Hash(*hash),
        },
        occurrence: when.occurrence,
        probability: when.probability,
        repeat: match repeat {
            Repeat::Once => ArmedRepeat::Once,
            Repeat::Always => ArmedRepeat::Always,
            Repeat::ForMs(ms) => ArmedRepeat::Nanos(ms.saturating_mul(NANOS_PER_MS)),
            Repeat::Times(times) => ArmedRepeat::Times(times),
            Repeat::TotalMs(ms) => ArmedRepeat::TotalNanos(ms.saturating_mul(NANOS_PER_MS)),
        },
        since,
        within: when.enclosing_loop.as_ref().map(waits).transpose()?,
        resource: when.resource.clone(),
    })
}

/// Level of detail that the plan sets for each site of the map.
fn watched(plan: &Plan, map: &Map<'_>) -> Vec<u8> {
    let mut levels = vec![0; map.site_count()];
    if plan.record.watch.is_empty() {
        return levels;
    }
    for class in (0..map.class_count()).filter_map(|it| map.class_at(it)) {
        let name = String::from_utf8_lossy(class.name()).replace('/', ".");
        let fits = |patterns: &[String]| patterns.iter().any(|it| glob_matches(it, &name));
        let watches: Vec<&Watch> = plan.record.watch.iter().filter(|it| fits(&it.classes)).collect();
        if watches.is_empty() {
            continue;
        }
        for method in class.methods() {
            let name = String::from_utf8_lossy(method.name());
            let mut of_kind = [0; SiteKind::ALL.len() + 1];
            let is_meant =
                |it: &&&Watch| it.methods.is_empty() || it.methods.iter().any(|wanted| *wanted == name);
            for watch in watches.iter().filter(is_meant) {
                watch.kinds.iter().for_each(|&it| of_kind[it as usize] |= bits(watch.level));
            }
            for hook in method.hooks() {
                if let Some(kind) = map.kind(hook.site) {
                    levels[hook.site.0 as usize] = of_kind[kind as usize];
                }
            }
        }
    }
    levels
}

fn bits(watch: WatchLevel) -> u8 {
    match watch {
        WatchLevel::Off => 0,
        WatchLevel::Count => level::COUNT,
        WatchLevel::Event => level::COUNT | level::EVENT,
        WatchLevel::Stack => level::COUNT | level::EVENT | level::STACK,
        WatchLevel::Value => level::COUNT | level::EVENT | level::VALUE,
        WatchLevel::ValueStack => level::COUNT | level::EVENT | level::STACK | level::VALUE,
    }
}

/// Starts and ends of the states of tasks. Places that the map lacks are left out: their class was not on the class path.
fn steps(tasks: &[TaskMethod], map: &Map<'_>) -> Vec<ArmedStep> {
    let mut steps = Vec::new();
    let firsts = first_states(tasks);
    for (number, (task, first)) in tasks.iter().zip(firsts).enumerate() {
        let Some(class) = map.class(task.class.replace('.', "/").as_bytes()) else { continue };
        steps_of(task, number as u32, first, class, map, &mut steps);
    }
    steps
}

fn steps_of(
    method: &TaskMethod,
    task: u32,
    first: u32,
    class: MapClass<'_>,
    map: &Map<'_>,
    steps: &mut Vec<ArmedStep>,
) {
    let state = |block: u32| method.states.binary_search(&block).ok().map(|it| StateId(first + it as u32));
    let is_it = |name: &[u8], wanted: &str| String::from_utf8_lossy(name) == wanted;
    let own = class
        .methods()
        .find(|it| is_it(it.name(), &method.method) && is_it(it.descriptor(), &method.descriptor));
    let mut seen = None;
    for site in own.into_iter().flat_map(|it| it.hooks()).map(|it| it.site) {
        // A site may have several hooks.
        if seen.replace(site) == Some(site) {
            continue;
        }
        let step = match (map.kind(site), map.match_key(site)) {
            (Some(SiteKind::Entry), _) => Step::Enter { task, state: state(0) },
            (Some(SiteKind::Exit | SiteKind::Unwind), _) => Step::Leave { task },
            (Some(SiteKind::Block), Some((_, block @ 1.., _))) => match state(block.into()) {
                Some(state) => Step::Reach { task, state },
                None => continue,
            },
            _ => continue,
        };
        steps.push(ArmedStep { site, step });
    }
}

/// Where the trails of threads lead. A method that the map does not have is left out, as its class was not on the class path.
fn tracks(trails: &Trails, map: &Map<'_>) -> Vec<ArmedTrack> {
    let is_it = |name: &[u8], wanted: &str| String::from_utf8_lossy(name) == wanted;
    let mut tracks = Vec::new();
    for wanted in &trails.methods {
        let Some(class) = map.class(wanted.class.replace('.', "/").as_bytes()) else { continue };
        let own = class
            .methods()
            .find(|it| is_it(it.name(), &wanted.method) && is_it(it.descriptor(), &wanted.descriptor));
        let mut sites: Vec<SiteId> = own.into_iter().flat_map(|it| it.hooks()).map(|it| it.site).collect();
        sites.sort_unstable();
        sites.dedup();
        tracks.extend(tracks_of(&sites, trails, map));
    }
    // Behind the steps into methods and loops at the same sites. A branch is part of its path anyway.
    for site in trails.points.iter().filter_map(|it| map.find(it)) {
        if !matches!(map.kind(site), Some(SiteKind::Branch | SiteKind::Switch)) {
            tracks.push(ArmedTrack { site, track: Track::Branch });
        }
        tracks.push(ArmedTrack { site, track: Track::Point });
    }
    tracks
}

/// The tracks of a method. It is named by its entry, and each loop by the site of its body.
fn tracks_of(sites: &[SiteId], trails: &Trails, map: &Map<'_>) -> Vec<ArmedTrack> {
    let of_kind = |kind: SiteKind| sites.iter().copied().filter(move |&it| map.kind(it) == Some(kind));
    let Some(entry) = of_kind(SiteKind::Entry).next() else { return Vec::new() };
    let ordinal = |site: SiteId| map.match_key(site).map(|it| it.1);
    let body = |site: SiteId| of_kind(SiteKind::LoopBody).find(|&it| ordinal(it) == ordinal(site));
    let track = |site: SiteId| {
        let kind = map.kind(site)?;
        let is_followed = match kind {
            SiteKind::Entry | SiteKind::Exit | SiteKind::Unwind => true,
            SiteKind::Branch | SiteKind::Switch => trails.path_depth.is_some(),
            _ => trails.has_loops(),
        };
        let track = match kind {
            SiteKind::Entry => Track::EnterMethod(entry),
            SiteKind::Exit | SiteKind::Unwind => Track::LeaveMethod(entry),
            SiteKind::LoopEntry => Track::EnterLoop(body(site)?),
            SiteKind::LoopBody => Track::Iterate(site),
            SiteKind::LoopExit | SiteKind::LoopUnwind => Track::LeaveLoop(body(site)?),
            SiteKind::Branch | SiteKind::Switch => Track::Branch,
            _ => return None,
        };
        is_followed.then_some(ArmedTrack { site, track })
    };
    sites.iter().filter_map(|&it| track(it)).collect()
}

/// The number of a state; the plan was checked, so it has one.
fn state(names: &[String], name: &str) -> StateId {
    StateId(names.iter().position(|it| it == name).unwrap_or(0) as u32)
}

/// The hits that belong to a guard's node: those of a rule's threads, or of a process.
fn node(plan: &Plan, name: Option<&str>) -> ArmedNode {
    let Some(name) = name else { return ArmedNode::Any };
    match plan.node_rule(name) {
        Some(rule) => ArmedNode::Within {
            threads: rule.threads.clone(),
            mdc: rule
                .mdc
                .as_ref()
                .map(|Mdc { key, value }| ArmedMdc { key: key.clone(), value: value.clone() }),
        },
        None => ArmedNode::Process(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use hypocenter_plan::Record;
    use hypocenter_trace::{MapBuilder, NewSite, Placement};

    use super::*;

    /// A class with two methods, a call in each.
    fn map() -> Vec<u8> {
        let mut builder = MapBuilder::new();
        builder.class(b"a/Log");
        for (index, name) in [b"emit", b"skip"].into_iter().enumerate() {
            builder.method(index as u32, name, b"()V", 1, 1);
            builder.site(NewSite { kind: SiteKind::Call, callee: "a.B.c()V", ordinal: 0, total: 1, line: 1 });
            builder.hook(Placement::Before, 0, 0, &[]);
        }
        builder.finish().unwrap()
    }

    #[test]
    fn a_watch_is_for_the_methods_that_it_names_or_for_all() {
        let bytes = map();
        let map = Map::new(&bytes).unwrap();
        let levels = |classes: &str, methods: &[&str], level| {
            let methods = methods.iter().map(ToString::to_string).collect();
            let watch = Watch { kinds: vec![SiteKind::Call], classes: vec![classes.into()], methods, level };
            let plan = Plan { record: Record { watch: vec![watch], ..Record::default() }, ..Plan::default() };
            arm(&plan, &map, &BTreeMap::new(), 0).unwrap().levels
        };
        let event = level::COUNT | level::EVENT;
        assert_eq!(levels("a.*", &[], WatchLevel::Count), [level::COUNT; 2]);
        assert_eq!(levels("a.*", &["emit"], WatchLevel::Event), [event, 0]);
        assert_eq!(levels("b.*", &[], WatchLevel::Event), [0, 0]);
    }
}
