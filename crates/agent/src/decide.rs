//! Whether a hit is the one that a candidate waits for, and what happens then.

use std::sync::atomic::{AtomicBool, Ordering};

use hypocenter_plan::glob_matches;
use hypocenter_trace::{
    ArmedCandidate, ArmedFault, ArmedMdc, ArmedNode, ArmedPlan, ArmedRepeat, ArmedStack, InjectedRecord,
    Interned, ReportKind, Session, SiteId, TraceError, TrialFile, clock, hash,
};

use crate::exceptions;
use crate::jni::Jni;
use crate::order::Orders;
use crate::stacks::{Lines, stack_hash};
use crate::state::State;
use crate::threads::{Replacement, ThreadState};

struct Armed {
    candidate: ArmedCandidate,
    /// The number of the candidate in the plan.
    number: u32,
    /// Not all hits of the site in the process count, so those that do are counted apart.
    filtered: bool,
    /// Of `u64::MAX + 1`; none if every hit is taken.
    chance: Option<u64>,
    /// Whether it was due where it cannot happen, and so waits for the next hit.
    is_late: AtomicBool,
    /// Whether it was said that the fault could not be carried out: once is enough for one that repeats.
    complained: AtomicBool,
    /// Whether it was said that a thread could not be asked for its node.
    no_context: AtomicBool,
}

/// The candidates that can happen in this JVM, by site.
pub(crate) struct Arsenal {
    armed: Vec<Armed>,
    /// For each site, where its candidates start.
    starts: Vec<u32>,
    /// For each site, the one hit that matters, where its only candidate waits for a hit of the site itself; else
    /// [`Arsenal::ASK`].
    due: Vec<u64>,
    /// The sites that guards wait for, each with the candidate. Also of candidates of other nodes.
    marks: Vec<(SiteId, u32)>,
    /// The site whose first hit lets faults happen.
    arm_after: Option<SiteId>,
    /// The instances that wait for others.
    pub orders: Orders,
    /// Below these no exception is thrown.
    never_below: Lines,
    /// Of the trial and the node: nodes draw apart from each other.
    seed: u64,
}

/// What the hook brings along.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Nothing,
    Boolean(bool),
    /// The key of a switch.
    Key(i32),
}

/// What the hooked code is to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Go on.
    GoOn,
    /// Sleep for what is pending.
    Pause,
    /// An exception is pending in JNI.
    Thrown,
    /// Go on when the thread has waited for another instance, which candidates at the same hit may find due as well.
    Wait,
    /// Go on with this value.
    Say(bool),
    /// Go on with the constant that is set.
    Replace,
}

impl Arsenal {
    /// `apart`: sites whose hits do not all count, or are counted by what they saw.
    pub(crate) fn new(
        trial: &TrialFile,
        node: &str,
        apart: impl Fn(SiteId) -> bool,
    ) -> Result<Arsenal, TraceError> {
        let ArmedPlan { candidates, never_below, arm_after } = trial.plan()?;
        let orders = Orders::new(&candidates);
        let marks = candidates.iter().zip(0..);
        let marks = marks.filter_map(|(it, number)| Some((it.since?.site, number))).collect();
        let mut armed: Vec<Armed> = candidates
            .into_iter()
            .enumerate()
            .filter(|(_, candidate)| match &candidate.node {
                ArmedNode::Any | ArmedNode::Within { .. } => true,
                ArmedNode::Process(wanted) => wanted == node,
            })
            .map(|(number, candidate)| Armed {
                number: number as u32,
                filtered: candidate.thread.is_some()
                    || candidate.state.is_some()
                    || candidate.stack != ArmedStack::Any
                    || candidate.since.is_some()
                    || candidate.within.is_some()
                    || candidate.resource.is_some()
                    || trial.arms_later()
                    || apart(candidate.site)
                    || matches!(candidate.node, ArmedNode::Within { .. }),
                chance: candidate.probability.map(|p| (p.clamp(0.0, 1.0) * u64::MAX as f64) as u64),
                is_late: AtomicBool::new(false),
                complained: AtomicBool::new(false),
                no_context: AtomicBool::new(false),
                candidate,
            })
            .collect();
        // An order first: what else happens at the hit may end the method.
        armed.sort_by_key(|it| (it.candidate.site, !it.is_order(), it.number));
        let mut starts = Vec::with_capacity(trial.site_count() as usize + 1);
        let mut at = 0;
        for site in 0..=trial.site_count() {
            while armed.get(at).is_some_and(|it| it.candidate.site.0 < site) {
                at += 1;
            }
            starts.push(at as u32);
        }
        let due = starts
            .windows(2)
            .map(|range| match &armed[range[0] as usize..range[1] as usize] {
                [] => u64::MAX,
                [only]
                    if !only.filtered
                        && only.candidate.repeat == ArmedRepeat::Once
                        && never_below.is_empty() =>
                {
                    only.candidate.occurrence.unwrap_or(Arsenal::ASK)
                }
                _ => Arsenal::ASK,
            })
            .collect();
        let seed = hash::bytes(node.as_bytes(), trial.seed());
        let never_below = Lines::new(never_below);
        Ok(Arsenal { armed, starts, due, marks, arm_after, orders, never_below, seed })
    }

    const ASK: u64 = 0;

    /// Whether a hit that had `before` hits before it may be one that a candidate waits for: the answer for almost
    /// every hit is no, and this is all it costs.
    #[inline(always)]
    pub(crate) fn may_be_due(&self, site: SiteId, before: u64) -> bool {
        let due = self.due.get(site.0 as usize).copied().unwrap_or(Arsenal::ASK);
        due == Arsenal::ASK || due == before + 1
    }

    /// Notes a hit of a site that a guard, or all faults, wait for.
    #[cold]
    pub(crate) fn mark(&self, trial: &TrialFile, site: SiteId) {
        self.marks.iter().filter(|it| it.0 == site).for_each(|it| trial.mark(it.1));
        if self.arm_after == Some(site) {
            trial.arm();
        }
    }

    /// The address of the hits that matter: a `u64` a site.
    pub(crate) fn due_address(&self) -> u64 {
        self.due.as_ptr() as u64
    }

    fn at(&self, site: SiteId) -> &[Armed] {
        let site = site.0 as usize;
        let range = self.starts.get(site).zip(self.starts.get(site + 1));
        range.and_then(|(&start, &end)| self.armed.get(start as usize..end as usize)).unwrap_or(&[])
    }

    /// Decides on a hit of `site` that had `before` hits in this JVM before it.
    pub(crate) fn decide(&self, hit: &mut Hit<'_>, site: SiteId, before: u64) -> Answer {
        let mut last = Answer::GoOn;
        for armed in self.at(site) {
            let occurrence = if armed.filtered {
                if !hit.fits(armed) {
                    continue;
                }
                hit.session.count_candidate(armed.number) + 1
            } else {
                before + 1
            };
            if armed.is_due(occurrence, self.seed) {
                match hit.fire(armed, occurrence, &self.never_below) {
                    Answer::GoOn => {}
                    Answer::Wait => last = Answer::Wait,
                    answer => return answer,
                }
            }
        }
        last
    }
}

impl Armed {
    fn is_order(&self) -> bool {
        matches!(self.candidate.fault, ArmedFault::First | ArmedFault::Then { .. })
    }

    #[inline]
    fn is_due(&self, occurrence: u64, seed: u64) -> bool {
        let counted = match (self.candidate.occurrence, self.candidate.repeat != ArmedRepeat::Once) {
            (Some(wanted), false) => {
                occurrence == wanted || (occurrence > wanted && self.is_late.load(Ordering::Relaxed))
            }
            (Some(wanted), true) => occurrence >= wanted,
            (None, _) => true,
        };
        counted
            && self
                .chance
                .is_none_or(|chance| hash::word(occurrence, hash::word(self.number.into(), seed)) <= chance)
    }
}

/// How long a thread waits for another that injects the same candidate.
const CLAIM_WAIT_NANOS: u64 = 200_000_000;

/// A hit at a site where something may happen.
pub(crate) struct Hit<'a> {
    pub state: &'static State,
    pub session: &'a Session,
    pub jni: Jni,
    pub thread: &'a mut ThreadState,
    pub who: i64,
    pub seen: Seen,
}

impl Hit<'_> {
    fn fits(&mut self, armed: &Armed) -> bool {
        let candidate = &armed.candidate;
        if !self.session.trial().is_armed() {
            return false;
        }
        if let Some(since) = &candidate.since {
            let within = |it: u64| (since.least_nanos..=since.most_nanos).contains(&it);
            if !self.session.trial().since_mark(armed.number).is_some_and(within) {
                return false;
            }
        }
        if let Some(body) = candidate.within {
            self.thread.identify(self.state, self.session, self.jni, self.who);
            if !self.thread.tasks.trail.is_in(body) {
                return false;
            }
        }
        if let Some(pattern) = &candidate.resource {
            let is_it = |name: &str| !name.is_empty() && glob_matches(pattern, name);
            if !self.thread.works_on().is_some_and(|it| is_it(it.0) || is_it(it.1)) {
                return false;
            }
        }
        if let Some(wanted) = candidate.state {
            self.thread.identify(self.state, self.session, self.jni, self.who);
            if self.thread.tasks.state() != wanted {
                return false;
            }
        }
        if let Some(pattern) = &candidate.thread {
            self.thread.identify(self.state, self.session, self.jni, self.who);
            if !glob_matches(pattern, &self.thread.name) {
                return false;
            }
        }
        if let ArmedNode::Within { threads, mdc } = &candidate.node
            && !self.is_of_node(armed, threads, mdc.as_ref())
        {
            return false;
        }
        match &candidate.stack {
            ArmedStack::Any => true,
            ArmedStack::Suffix(patterns) => {
                let frames = self.state.stacks.capture_nearest(self.state.jvmti, self.jni, patterns.len());
                frames.len() >= patterns.len()
                    && patterns
                        .iter()
                        .zip(&frames)
                        .all(|(pattern, frame)| glob_matches(pattern, &frame.method))
            }
            ArmedStack::Hash(wanted) => {
                stack_hash(&self.state.stacks.capture(self.state.jvmti, self.jni)) == *wanted
            }
        }
    }

    /// Whether the current thread is one of a node inside the JVM: by its name, or by what it carries for its logs.
    fn is_of_node(&mut self, armed: &Armed, threads: &[String], mdc: Option<&ArmedMdc>) -> bool {
        if !threads.is_empty() {
            self.thread.identify(self.state, self.session, self.jni, self.who);
            if threads.iter().any(|pattern| glob_matches(pattern, &self.thread.name)) {
                return true;
            }
        }
        let Some(mdc) = mdc else { return false };
        let has = self.state.contexts.has(self.state.jvmti, self.jni, &mdc.key, &mdc.value);
        if has.is_none() && !armed.no_context.swap(true, Ordering::Relaxed) {
            let text = "a thread could not be asked for its node: neither the loader of the class at the site nor the \
                        thread's own finds org.slf4j.MDC, org.apache.logging.log4j.ThreadContext or \
                        org.apache.log4j.MDC; name the node's threads instead";
            self.session.report(ReportKind::Trouble, armed.candidate.site.0, text);
        }
        has.unwrap_or(false)
    }

    /// Takes the candidate and the limit, says so in the trace, and only then does it.
    #[cold]
    fn fire(&mut self, armed: &Armed, occurrence: u64, never_below: &Lines) -> Answer {
        let trial = self.session.trial();
        let repeat = armed.candidate.repeat;
        let cost = match armed.candidate.fault {
            ArmedFault::Sleep { nanos } | ArmedFault::Spin { nanos } => nanos,
            _ => 0,
        };
        let again = repeat != ArmedRepeat::Once && self.has_begun(armed.number);
        let is_limited = armed.candidate.fault.is_limited();
        if is_limited && !again && trial.limit_reached() {
            return Answer::GoOn;
        }
        let throws = matches!(armed.candidate.fault, ArmedFault::Exception { .. });
        let stacks = &self.state.stacks;
        if throws && !never_below.is_empty() && stacks.is_below(self.state.jvmti, self.jni, never_below) {
            armed.is_late.store(true, Ordering::Relaxed);
            return Answer::GoOn;
        }
        if again {
            return match self.prepare(&armed.candidate) {
                Ok(prepared) if trial.happens_again(armed.number, repeat, cost) => {
                    self.carry_out(armed, prepared)
                }
                Ok(_) => Answer::GoOn,
                Err(why) => {
                    self.complain(armed, &why);
                    Answer::GoOn
                }
            };
        }
        if !trial.claim(armed.number) {
            return Answer::GoOn;
        }
        let prepared = match self.prepare(&armed.candidate) {
            Ok(prepared) => prepared,
            Err(why) => {
                self.session.report(ReportKind::Refused, armed.number, &why);
                trial.set_refused(armed.number);
                return Answer::GoOn;
            }
        };
        if is_limited && !trial.take_limit() {
            trial.unclaim(armed.number);
            return Answer::GoOn;
        }
        self.thread.identify(self.state, self.session, self.jni, self.who);
        let frames = self.state.stacks.capture(self.state.jvmti, self.jni);
        let threw = match &prepared {
            Prepared::Throwable(built) => self.session.string(&built.class),
            Prepared::Nothing => Interned(0),
        };
        self.session.injected(&InjectedRecord {
            candidate: armed.number,
            occurrence,
            thread: self.thread.thread,
            stack: self.state.stacks.intern(self.state.jvmti, self.jni, self.session, &frames),
            stack_hash: stack_hash(&frames),
            threw,
            state: self.thread.tasks.state(),
            context: self.thread.tasks.trail.context(),
            path: self.thread.tasks.trail.point(),
        });
        if matches!(armed.candidate.fault, ArmedFault::Then { .. }) && !trial.is_injected(armed.number - 1) {
            trial.set_waiting(armed.number, occurrence);
            self.thread.awaits = Some(armed.number);
            return Answer::Wait;
        }
        trial.set_injected(armed.number, self.session.jvm(), occurrence, cost);
        self.carry_out(armed, prepared)
    }

    /// Whether a candidate has been injected. While another thread is about to inject it, that is waited for, or the hits meanwhile would
    /// be spared. The wait is bounded: building the exception may need a lock that this thread holds.
    fn has_begun(&self, candidate: u32) -> bool {
        let trial = self.session.trial();
        if trial.is_claimed(candidate) {
            let end = clock::nanos() + CLAIM_WAIT_NANOS;
            while trial.is_claimed(candidate) && clock::nanos() < end {
                std::thread::yield_now();
            }
        }
        trial.is_injected(candidate)
    }

    /// Says that a fault which counts as injected did not happen this time.
    fn complain(&self, armed: &Armed, why: &str) {
        if !armed.complained.swap(true, Ordering::Relaxed) {
            let text = format!("the fault was due and did not happen: {why}");
            self.session.report(ReportKind::Trouble, armed.candidate.site.0, &text);
        }
    }

    fn prepare(&self, candidate: &ArmedCandidate) -> Result<Prepared, String> {
        match &candidate.fault {
            ArmedFault::Exception { classes, message } => {
                exceptions::build(self.state.jvmti, self.jni, classes, message).map(Prepared::Throwable)
            }
            ArmedFault::Negate | ArmedFault::Force { .. } if !matches!(self.seen, Seen::Boolean(_)) => {
                Err("there is no boolean at this site".into())
            }
            _ => Ok(Prepared::Nothing),
        }
    }

    fn carry_out(&mut self, armed: &Armed, prepared: Prepared) -> Answer {
        match (&armed.candidate.fault, prepared) {
            (_, Prepared::Throwable(built)) => {
                if !self.jni.throw(built.throwable) {
                    self.complain(armed, "the JVM refused to throw the exception");
                    return Answer::GoOn;
                }
                Answer::Thrown
            }
            (ArmedFault::Sleep { nanos }, _) => {
                self.thread.pending_ns = *nanos;
                Answer::Pause
            }
            (ArmedFault::Spin { nanos }, _) => {
                // In native code, so that the thread holds up no safepoint while it burns its core.
                let end = clock::nanos().saturating_add(*nanos);
                while clock::nanos() < end {
                    std::hint::spin_loop();
                }
                Answer::GoOn
            }
            (ArmedFault::Crash { status }, _) => {
                // SAFETY: ends the process at once, as a crash does: nothing is flushed and no hook of the JVM
                // runs. What was recorded is in a shared mapping.
                unsafe { libc::_exit(*status) }
            }
            (ArmedFault::Negate, _) => Answer::Say(self.seen != Seen::Boolean(true)),
            (ArmedFault::Force { taken }, _) => Answer::Say(*taken),
            (ArmedFault::Number { bits }, _) => {
                self.thread.constant = Some(Replacement::Number(*bits));
                Answer::Replace
            }
            (ArmedFault::Text { text }, _) => {
                self.thread.constant = Some(Replacement::Text(text.clone()));
                Answer::Replace
            }
            (ArmedFault::Exception { .. }, Prepared::Nothing)
            | (ArmedFault::First | ArmedFault::Then { .. }, _) => Answer::GoOn,
        }
    }
}

enum Prepared {
    Throwable(exceptions::Built),
    Nothing,
}

#[cfg(test)]
mod tests {
    use hypocenter_trace::TrialSpec;

    use super::*;

    #[test]
    fn nodes_draw_apart_from_each_other() {
        let directory = tempfile::TempDir::new().unwrap();
        let spec = TrialSpec {
            trial: 1,
            seed: 7,
            limit: 1,
            armed: true,
            map_digest: 0,
            levels: vec![0],
            plan: ArmedPlan {
                candidates: vec![ArmedCandidate {
                    site: SiteId(0),
                    fault: ArmedFault::Negate,
                    node: ArmedNode::Any,
                    thread: None,
                    state: None,
                    stack: ArmedStack::Any,
                    occurrence: None,
                    probability: Some(0.5),
                    repeat: ArmedRepeat::Once,
                    since: None,
                    within: None,
                    resource: None,
                }],
                ..ArmedPlan::default()
            },
            steps: Vec::new(),
            tracks: Vec::new(),
            path_depth: None,
            loop_runs: false,
            loop_counts: false,
            stack_frames: 1,
            ring_bytes: 1 << 12,
            lossless: false,
            native: false,
            ticking: false,
        };
        let trial = TrialFile::create(&directory.path().join("trial"), &spec).unwrap();
        let drawn = |node: &str| -> Vec<bool> {
            let arsenal = Arsenal::new(&trial, node, |_| false).unwrap();
            (1..=64).map(|it| arsenal.armed[0].is_due(it, arsenal.seed)).collect()
        };
        assert_eq!(drawn("n1"), drawn("n1"));
        assert_ne!(drawn("n1"), drawn("n2"));
    }
}
