//! Turns a plan into what the agent reads: sites into numbers, times into nanoseconds.

use std::collections::BTreeMap;

use hypocenter_plan::{Arm, Fault, Mdc, Pause, Plan, PlanError, Repeat, StackGuard, WatchLevel};
use hypocenter_trace::{ArmedCandidate, ArmedFault, ArmedMdc, ArmedNode, ArmedStack, Map, TrialSpec, level};

/// What keeps a plan from being carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArmError {
    /// The plan itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The map does not have a candidate's site.
    #[error("candidate {candidate}: `{site}` is not in the instrumentation map; make the map from this plan")]
    NoSite {
        /// Which candidate.
        candidate: usize,
        /// Its site.
        site: String,
    },
}

/// The message of an injected exception whose plan gives none.
const MESSAGE: &str = "injected by hypocenter";

/// The trial's file for a plan. `levels` says how closely each site is watched; `throwables` gives, for each class that
/// a plan names, the classes to try in turn (that class itself if there are none).
pub fn arm(
    plan: &Plan,
    map: &Map<'_>,
    levels: &[WatchLevel],
    throwables: &BTreeMap<String, Vec<String>>,
    trial: u64,
) -> Result<TrialSpec, ArmError> {
    plan.check()?;
    let bits = |watch: &WatchLevel| match watch {
        WatchLevel::Off => 0,
        WatchLevel::Count => level::COUNT,
        WatchLevel::Event => level::COUNT | level::EVENT,
        WatchLevel::Stack => level::COUNT | level::EVENT | level::STACK,
    };
    // The map is made for all trials of a campaign; one whose plan watches nothing has its hooks idle.
    let watched = if plan.record.watch.is_empty() { &[] } else { levels };
    let mut levels: Vec<u8> = watched.iter().map(bits).collect();
    levels.resize(map.site_count(), 0);
    let mut candidates = Vec::with_capacity(plan.candidates.len());
    for (number, it) in plan.candidates.iter().enumerate() {
        let site = map
            .find(&it.site)
            .ok_or_else(|| ArmError::NoSite { candidate: number, site: it.site.to_string() })?;
        levels[site.0 as usize] |= level::COUNT | level::DECIDE;
        const NANOS_PER_MS: u64 = 1_000_000;
        let fault = match &it.fault {
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
        };
        candidates.push(ArmedCandidate {
            site,
            fault,
            node: node(plan, it.when.node.as_deref()),
            thread: it.when.thread.clone(),
            stack: match &it.when.stack {
                None => ArmedStack::Any,
                Some(StackGuard::Suffix(patterns)) => ArmedStack::Suffix(patterns.clone()),
                Some(StackGuard::Hash(hash)) => ArmedStack::Hash(*hash),
            },
            occurrence: it.when.occurrence,
            probability: it.when.probability,
            always: it.repeat == Repeat::Always,
        });
    }
    Ok(TrialSpec {
        trial,
        seed: plan.seed,
        limit: plan.limit,
        armed: plan.arm == Arm::Start,
        map_digest: map.digest(),
        levels,
        candidates,
        stack_frames: plan.record.stack_frames,
        ring_bytes: plan.record.ring_kb.saturating_mul(1024),
        lossless: plan.record.lossless,
    })
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
