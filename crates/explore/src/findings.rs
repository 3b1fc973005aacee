//! Trials that look bad, put together by the place where their fault went in.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use hypocenter_engine::Tries;
use hypocenter_plan::{Fault, Frame, Outcome, Plan};
use hypocenter_results::Injected;
use hypocenter_results::explored::{Severity, Symptom};

use crate::known::Known;
use crate::neighbours::{Near, Neighbours};

/// The fault of a trial, if one happened: which candidate of the plan, and what it did.
pub(crate) fn injected(plan: &Plan, outcome: &Outcome) -> Option<(usize, Injected)> {
    Injected::all(plan, outcome).next()
}

/// The way to a fault: the methods of the system that led there, innermost first.
pub(crate) fn way(it: &Injected) -> Vec<String> {
    own_methods(&it.at.stack)
}

/// Trials whose faults went in at one place, by the same way, and that look bad.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The fault of the worst of its trials.
    pub injected: Injected,
    /// The methods of the system that led there, innermost first.
    pub stack: Vec<String>,
    /// Its severity: the highest of its trials.
    pub severity: Severity,
    /// Symptoms of the worst of its trials, worst first; if a replay repeated it, those of the replay.
    pub symptoms: Vec<Symptom>,
    /// The first trial that shows it, by its number among those with a fault.
    pub first_trial: u64,
    /// The worst of its trials, by its number in the campaign.
    pub worst_trial: u64,
    /// All trials that show it, by their numbers among those with a fault: a suspicious finding has only suspicious ones.
    pub trials: Vec<u64>,
    /// Replays of the worst trial that showed a symptom of that kind again, and all in which the fault happened.
    pub rate: (u64, u64),
    /// Replays that did not come to the fault: they say nothing of it.
    pub missed: u64,
    /// A trial that has its fault and nothing else, where one was replayed.
    pub replayed: Option<u64>,
    /// Results of trials near it.
    pub neighbours: Neighbours,
    /// Facts known in advance.
    pub known: Option<String>,
}

impl Suspect {
    /// Tests whether somebody should look at it.
    pub fn is_suspicious(&self) -> bool {
        self.severity.is_suspicious() && self.known.is_none()
    }

    /// Tests whether a trial shows what is wrong here.
    pub(crate) fn is_shown_by(&self, symptoms: &[Symptom]) -> bool {
        let kind = self.symptoms.first().map(|it| it.kind);
        symptoms.iter().any(|it| Some(it.kind) == kind && it.severity >= self.severity)
    }
}

/// Grouping of trials: the kind of fault, and the stack without the JDK's frames and without lines. The call
/// counts for what a call throws; a thread that is held up is held up at any of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cluster {
    fault: &'static str,
    callee: Option<String>,
    stack: Vec<String>,
    /// Known values stay apart from unknown ones, by number.
    known: Option<usize>,
}

/// Packages whose frames say how threads are run, not what they do.
const PLATFORM: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

pub(crate) fn is_platform(method: &str) -> bool {
    PLATFORM.iter().any(|package| method.starts_with(package))
}

/// The methods of a stack that are not the JDK's. How deep one has called itself is noise.
fn own_methods(stack: &[Frame]) -> Vec<String> {
    let own = stack.iter().filter(|it| !is_platform(&it.method));
    let mut methods: Vec<String> = own.map(|it| it.method.clone()).collect();
    methods.dedup();
    methods
}

impl Cluster {
    pub(crate) fn of(injected: &Injected, known: &[Known]) -> Cluster {
        let fault = injected.fault.name();
        let callee = injected.site.callee.clone().filter(|_| !matches!(injected.fault, Fault::Delay { .. }));
        let stack = way(injected);
        let known = known.iter().position(|it| it.fits(injected, &stack));
        Cluster { fault, callee, stack, known }
    }
}

/// All findings of a campaign so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    clusters: BTreeMap<Cluster, usize>,
    findings: Vec<Suspect>,
    known: Vec<Known>,
}

impl Findings {
    /// None so far, and these are not to be reported again.
    pub(crate) fn new(known: Vec<Known>) -> Findings {
        Findings { known, ..Findings::default() }
    }

    /// Takes a trial down that has symptoms: its number in the campaign, and among those with a fault.
    pub(crate) fn take_down(&mut self, trial: u64, number: u64, injected: &Injected, symptoms: &[Symptom]) {
        let Some(worst) = symptoms.iter().map(|it| it.severity).max() else { return };
        let cluster = Cluster::of(injected, &self.known);
        let stack = cluster.stack.clone();
        let known = cluster.known.map(|it| self.known[it].why.clone());
        let at = *self.clusters.entry(cluster).or_insert_with(|| {
            self.findings.push(Suspect {
                injected: injected.clone(),
                stack,
                known,
                severity: worst,
                symptoms: symptoms.to_vec(),
                first_trial: number,
                worst_trial: trial,
                trials: Vec::new(),
                rate: (0, 0),
                missed: 0,
                replayed: None,
                neighbours: Neighbours::default(),
            });
            self.findings.len() - 1
        });
        let finding = &mut self.findings[at];
        match worst.is_suspicious().cmp(&finding.severity.is_suspicious()) {
            Ordering::Less => return,
            Ordering::Equal => finding.first_trial = finding.first_trial.min(number),
            Ordering::Greater => {
                finding.trials.clear();
                finding.first_trial = number;
            }
        }
        finding.trials.push(number);
        if worst > finding.severity {
            (finding.severity, finding.worst_trial) = (worst, trial);
            finding.injected = injected.clone();
            finding.symptoms = symptoms.to_vec();
        }
    }

    /// The findings, by their numbers.
    pub(crate) fn all(&self) -> &[Suspect] {
        &self.findings
    }

    /// A replay in which the fault of a finding happened is over. Returns true if it showed the same.
    pub(crate) fn replayed(&mut self, number: usize, trial: u64, symptoms: &[Symptom]) -> bool {
        let finding = &mut self.findings[number];
        let again = finding.is_shown_by(symptoms);
        if again && finding.replayed.is_none() {
            finding.replayed = Some(trial);
            // The report shows the trial that can be replayed; its identity comes first.
            let kind = finding.symptoms.first().map(|it| it.kind);
            finding.symptoms = symptoms.to_vec();
            finding.symptoms.sort_by_key(|it| Some(it.kind) != kind);
        }
        again
    }

    /// The replays of a finding so far.
    pub(crate) fn counted(&mut self, number: usize, tries: Tries) {
        let finding = &mut self.findings[number];
        (finding.rate, finding.missed) = ((tries.hits, tries.runs), tries.missed);
    }

    /// Something near a finding was tried. Returns true if it showed the same.
    pub(crate) fn compared(&mut self, number: usize, near: Near, symptoms: &[Symptom]) -> bool {
        let finding = &mut self.findings[number];
        let shows_it = finding.is_shown_by(symptoms);
        finding.neighbours.take_down(near, shows_it);
        shows_it
    }

    /// The findings, the worst first; of those that matter as much, the one that comes again more often, then the first.
    pub(crate) fn ranked(&self) -> Vec<Suspect> {
        let mut ranked = self.findings.clone();
        ranked.sort_by(|a, b| {
            let share = |it: &Suspect| it.rate.0 * 1000 / it.rate.1.max(1);
            (b.severity, share(b)).cmp(&(a.severity, share(a))).then(a.first_trial.cmp(&b.first_trial))
        });
        ranked
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use hypocenter_plan::{Guard, Injection, Pause, Site, SiteKind};

    use super::*;

    /// A fault at a call of `a.Packet.write`.
    pub(crate) fn injected(fault: &Fault, callee: &str, stack: Vec<Frame>) -> Injected {
        let site = Site {
            class: "a.Packet".into(),
            method: "write".into(),
            descriptor: "()V".into(),
            kind: SiteKind::Call,
            callee: Some(callee.into()),
            ordinal: 0,
            line: None,
        };
        let at = Injection {
            jvm: 0,
            node: "n1".into(),
            thread: "t".into(),
            occurrence: 1,
            at_ms: 1.0,
            times: 1,
            effect: None,
            threw: None,
            state: None,
            stack_hash: 1,
            stack,
        };
        Injected { site, fault: fault.clone(), guard: Guard::default(), at, process: None }
    }

    /// Below a method that has called itself so often.
    fn cluster(fault: &Fault, callee: &str, depth: usize, known: &[Known]) -> Cluster {
        let frame = |method: &str| Frame { method: method.into(), at: Some(format!("File.java:{depth}")) };
        let mut stack = vec![frame("a.Tree.write"); depth];
        stack.extend([frame("a.Packet.write"), frame("java.lang.Thread.run")]);
        Cluster::of(&injected(fault, callee, stack), known)
    }

    #[test]
    fn which_call_of_a_method_it_was_counts_for_exceptions_and_not_for_delays() {
        let exception = Fault::Exception { class: "java.io.IOException".into(), message: None };
        let delay = Fault::Delay { delay_ms: 1, pause: Pause::Sleep };
        let of = |fault: &Fault, callee: &str, depth| cluster(fault, callee, depth, &[]);
        assert_eq!(of(&delay, "a.Out.writeInt(I)V", 1), of(&delay, "a.Out.flush()V", 2));
        assert_ne!(of(&exception, "a.Out.writeInt(I)V", 1), of(&exception, "a.Out.flush()V", 2));
        assert_eq!(of(&exception, "a.Out.flush()V", 1), of(&exception, "a.Out.flush()V", 2));
        assert_ne!(of(&exception, "a.Out.flush()V", 1), of(&delay, "a.Out.flush()V", 1));
    }

    #[test]
    fn what_is_known_is_not_put_together_with_what_is_not() {
        let delay = Fault::Delay { delay_ms: 1, pause: Pause::Sleep };
        let site = Some("a.Packet.write -> Out.flush".parse().unwrap());
        let known = [Known { site, stack: None, fault: None, why: "seen".into() }];
        let of = |callee: &str| cluster(&delay, callee, 1, &known);
        assert_eq!(of("a.Out.flush()V").known, Some(0));
        assert_ne!(of("a.Out.flush()V"), of("a.Out.writeInt(I)V"));
    }
}
