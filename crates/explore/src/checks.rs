//! Symptoms of a trial, judged against the runs without a fault.
//!
//! A failure that the injected fault explains at once, such as that its own node gave up in good order, is *expected*.
//! Relevant failures are partial ones: a service is broken in part while something reports healthy (LEGOLAS 5.3).

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_plan::{End, Outcome, Problem, ProcessOutcome, Role};
use hypocenter_results::explored::{Severity, Symptom, SymptomKind};

use crate::reader::TrialDigest;
use crate::threads::{ThreadAtEnd, Waits};

/// Number of new messages that are quoted.
const NAMED_MAX: usize = 3;

/// A client of the workload: the node that it talks to, what it asks for, and its phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOf {
    /// Its name.
    pub name: String,
    /// The node, where there is one.
    pub node: Option<String>,
    /// The kind of request that it makes, where that is said.
    pub kind: Option<String>,
    /// The phase.
    pub phase: u32,
}

/// Results of runs without a fault.
#[derive(Debug, Clone, Default)]
pub struct Normal {
    /// Number of them.
    pub runs: u64,
    /// Messages.
    logged: BTreeSet<String>,
    /// Nodes that ended by themselves.
    ended: BTreeSet<String>,
    /// Threads that waited without a timeout, by thread and place.
    waiting: BTreeSet<(String, Option<String>)>,
    /// Threads that every node of every run had at its end.
    standing: Option<BTreeSet<String>>,
    /// Symptoms of runs without a fault, and the number of runs with each.
    wrong: BTreeMap<String, u64>,
    /// Nodes that ended in those runs, and in how many.
    dead: BTreeMap<String, u64>,
    /// Why there may be nothing to inject.
    pub problems: BTreeSet<String>,
}

impl Normal {
    /// Takes a run without a fault down.
    pub fn take_down(&mut self, outcome: &Outcome, digest: &TrialDigest) {
        self.runs += 1;
        self.logged.extend(digest.logged.iter().map(|it| it.message.clone()));
        self.ended.extend(outcome.ended_nodes().map(|it| it.name.clone()));
        let waiting = digest.threads.iter().filter(|it| it.waits != Waits::No);
        self.waiting.extend(waiting.map(|it| (it.thread.clone(), it.at.clone())));
        for of_node in by_node(&digest.threads).values() {
            let here = || of_node.iter().map(|it| it.thread.clone());
            match &mut self.standing {
                None => self.standing = Some(here().collect()),
                Some(standing) => {
                    let here: BTreeSet<String> = here().collect();
                    standing.retain(|it| here.contains(it));
                }
            }
        }
        let mut wrong = Vec::new();
        if !outcome.end.is_well() {
            wrong.push(format!("the workload {}", outcome.end));
            let of_process = |it: &&Problem| outcome.processes.iter().any(|process| process.name == it.place);
            let problems = outcome.problems.iter().filter(of_process).take(NAMED_MAX);
            wrong.extend(problems.map(|it| format!("{}: {}", it.place, it.what)));
        }
        // Whoever says so without a fault would hide what a fault does.
        let unwell = outcome.processes.iter().filter(|it| it.alive == Some(false));
        wrong.extend(unwell.map(|it| format!("{} reports unhealthy: check its `alive`", it.name)));
        if let Some(failure) = outcome.failure.as_ref().filter(|it| it.happened) {
            wrong.push(format!("the oracle reports the failure: {}", failure.why));
        }
        // One that cannot judge would be silent for the whole campaign.
        let of = |place: &'static str| outcome.problems.iter().filter(move |it| it.place == place);
        wrong.extend(of(Problem::ORACLE).map(|it| format!("{}: {}", it.place, it.what)));
        self.problems.extend(of(Problem::COMMAND).map(|it| it.what.clone()));
        wrong.extend(digest.unreadable.iter().map(|it| format!("the trace cannot be read: {it}")));
        // A node may end where nothing else is wrong.
        let dead = outcome.ended_nodes().filter(|_| !wrong.is_empty()).filter_map(ProcessOutcome::told_end);
        dead.for_each(|it| *self.dead.entry(it).or_default() += 1);
        wrong.into_iter().for_each(|it| *self.wrong.entry(it).or_default() += 1);
    }

    /// Symptoms of runs without a fault, and the number of runs with each: nodes that ended first, since they explain the rest.
    pub fn wrong(&self) -> Vec<(String, u64)> {
        self.dead.iter().chain(&self.wrong).map(|(what, &runs)| (what.clone(), runs)).collect()
    }
}

fn by_node(threads: &[ThreadAtEnd]) -> BTreeMap<&str, Vec<&ThreadAtEnd>> {
    let mut by_node: BTreeMap<&str, Vec<&ThreadAtEnd>> = BTreeMap::new();
    threads.iter().for_each(|it| by_node.entry(&it.node).or_default().push(it));
    by_node
}

/// Nodes that ended before the trial did, and in no run without a fault.
fn dead_nodes<'o>(outcome: &'o Outcome, normal: &Normal) -> impl Iterator<Item = &'o ProcessOutcome> {
    outcome.ended_nodes().filter(|it| !normal.ended.contains(&it.name))
}

/// The fault of a trial, as far as it matters to what can be expected of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Struck<'a> {
    /// The node that got it.
    pub node: &'a str,
    /// The process of that node: itself, or what it lives in.
    pub process: &'a str,
    /// True if something only took long, and may take long still.
    pub is_delay: bool,
}

/// Judges a trial in which a fault happened on a node.
pub(crate) fn symptoms(
    outcome: &Outcome,
    digest: &TrialDigest,
    fault: Struck<'_>,
    clients: &[ClientOf],
    normal: &Normal,
) -> Vec<Symptom> {
    let mut found: Vec<Symptom> = Vec::new();
    found.extend(crash(outcome, fault, normal));
    found.extend(client(outcome, fault, clients));
    found.extend(log(digest, fault, normal));
    found.extend(hang(digest, normal, outcome.end == End::NotReady));
    if let Some(failure) = outcome.failure.as_ref().filter(|it| it.happened) {
        found.push(Symptom {
            kind: SymptomKind::Command,
            severity: Severity::Major,
            why: format!("the oracle reports the failure: {}", failure.why),
        });
    }
    found.sort_by_key(|it| (std::cmp::Reverse(it.severity), it.kind));
    // Many places report only the worst symptom: a dead node explains it, and comes before it.
    if let Some(worst) = found.first_mut().filter(|it| it.kind != SymptomKind::Crash) {
        let dead = dead_nodes(outcome, normal).filter_map(ProcessOutcome::told_end);
        worst.why = dead.chain([worst.why.clone()]).collect::<Vec<_>>().join("; ");
    }
    found
}

fn crash(outcome: &Outcome, fault: Struck<'_>, normal: &Normal) -> Vec<Symptom> {
    dead_nodes(outcome, normal)
        .map(|it| {
            let end = it.end.unwrap_or(End::Unfinished);
            let (severity, of) = match (it.name == fault.process, end) {
                (false, _) => (Severity::Critical, "it had no fault"),
                // A JVM that breaks is no answer to an exception.
                (true, End::Signalled { .. }) => (Severity::Major, "it had the fault"),
                (true, _) => (Severity::Expected, "it had the fault"),
            };
            let why = format!("{}; {of}", it.told_end().unwrap_or_default());
            Symptom { kind: SymptomKind::Crash, severity, why }
        })
        .collect()
}

fn client(outcome: &Outcome, fault: Struck<'_>, clients: &[ClientOf]) -> Option<Symptom> {
    let struck = fault.node;
    let started: Vec<&ProcessOutcome> =
        outcome.processes.iter().filter(|it| it.role == Role::Client).collect();
    let (own, failed): (Vec<&ProcessOutcome>, Vec<&ProcessOutcome>) =
        started.iter().copied().filter(|it| !it.is_well()).partition(|it| it.name == fault.process);
    let symptom = |severity, why: String| Some(Symptom { kind: SymptomKind::Client, severity, why });
    if let ([own], []) = (own.as_slice(), failed.as_slice()) {
        return symptom(Severity::Expected, format!("the client with the fault fails: {}", told(own)));
    }
    if failed.is_empty() {
        // A workload of one command is its own client.
        let command = outcome.processes.iter().find(|it| it.role == Role::Command);
        return match (outcome.end, command) {
            (end, Some(_)) if !end.is_well() => symptom(Severity::Minor, format!("the workload {end}")),
            (End::NotReady, None) => not_ready(outcome, fault),
            _ => None,
        };
    }
    let of = |name: &str| clients.iter().find(|it| it.name == name);
    let node_of = |it: &ProcessOutcome| of(&it.name).and_then(|it| it.node.as_deref());
    let names = failed.iter().map(|it| told(it)).collect::<Vec<_>>().join(", ");
    let says_well = |node: &str| {
        let mut incarnations = outcome.processes.iter().filter(|it| it.name == node).rev();
        incarnations.next().is_some_and(|it| it.alive == Some(true) && it.end.is_none())
    };
    let well: BTreeSet<&str> =
        failed.iter().filter_map(|it| node_of(it)).filter(|it| says_well(it)).collect();
    let elsewhere = failed.iter().all(|it| node_of(it).is_some_and(|it| it != struck));
    let phase = |it: &ProcessOutcome| of(&it.name).map(|it| it.phase);
    let first = clients.iter().map(|it| it.phase).min();
    let later = failed.iter().all(|it| phase(it) > first)
        && started.iter().filter(|it| phase(it) > first).all(|it| !it.is_well());
    let well = || well.iter().copied().collect::<Vec<_>>().join(", ");
    if elsewhere {
        return symptom(
            Severity::Critical,
            format!("the fault is on {struck}, and only clients of other nodes fail: {names}"),
        );
    }
    if !well().is_empty() {
        return symptom(
            Severity::Critical,
            format!("clients fail although their node reports healthy ({}): {names}", well()),
        );
    }
    let gave_up = outcome.ended_nodes().any(|it| it.name == fault.process)
        || outcome.processes.iter().any(|it| it.name == fault.process && it.alive == Some(false));
    let own = failed.iter().all(|it| node_of(it) == Some(struck));
    if own && gave_up {
        return symptom(
            Severity::Expected,
            format!("{struck} had the fault and reports unhealthy, and its own clients fail: {names}"),
        );
    }
    let kinds = |of: &[&ProcessOutcome]| -> BTreeSet<&str> {
        of.iter()
            .filter_map(|it| clients.iter().find(|client| client.name == it.name)?.kind.as_deref())
            .collect()
    };
    let served: Vec<&ProcessOutcome> = started.iter().copied().filter(|it| it.is_well()).collect();
    let (bad, good) = (kinds(&failed), kinds(&served));
    if !bad.is_empty() && !good.is_empty() && bad.is_disjoint(&good) {
        let bad = bad.into_iter().collect::<Vec<_>>().join(", ");
        return symptom(
            Severity::Major,
            format!("only requests of some kinds fail ({bad}), and all others are served: {names}"),
        );
    }
    if later {
        return symptom(
            Severity::Major,
            format!("clients of a later phase fail, and those of the first phase did not: {names}"),
        );
    }
    if failed.len() < started.len() {
        return symptom(Severity::Major, format!("only some clients fail: {names}"));
    }
    symptom(Severity::Minor, format!("all clients fail: {names}"))
}

/// No client was started. A node that got no fault should get ready all the same, above all if the one that got it is; and one
/// that got an exception should get over it, or end. A delay may hold its thread still, and with it whoever needs that thread.
fn not_ready(outcome: &Outcome, fault: Struck<'_>) -> Option<Symptom> {
    let struck = fault.process;
    let waiting = |it: &&ProcessOutcome| it.role == Role::Node && it.ready_ms.is_none() && it.end.is_none();
    let names: Vec<&str> = outcome.processes.iter().filter(waiting).map(|it| it.name.as_str()).collect();
    let (own, others) = (names.contains(&struck), names.join(", "));
    let of_fault = outcome.processes.iter().rev().find(|it| it.name == struck);
    let ended = of_fault.is_some_and(|it| it.end.is_some());
    let was_ready = of_fault.is_some_and(|it| it.ready_ms.is_some());
    let (partly, wholly) = if fault.is_delay {
        (Severity::Major, Severity::Minor)
    } else {
        (Severity::Critical, Severity::Major)
    };
    let (severity, why) = match (ended, own, names.len()) {
        // Nobody is waited for once a node has ended that was not ready.
        (true, ..) if !was_ready => {
            (Severity::Expected, format!("{struck} had the fault and ended before it was ready"))
        }
        (_, _, 0) => (Severity::Expected, "no client was started, since a node had ended".to_owned()),
        (true, ..) => (wholly, format!("{struck} had the fault and ended, and {others} never became ready")),
        (_, false, _) => {
            (partly, format!("the fault is on {struck}, which became ready, and {others} never did"))
        }
        (_, true, 1) => (wholly, format!("{struck} had the fault, did not end, and never became ready")),
        (_, true, _) => (wholly, format!("the fault is on {struck}, and {others} never became ready")),
    };
    Some(Symptom { kind: SymptomKind::Client, severity, why })
}

/// A client that was not served, in words: how far it came.
fn told(client: &ProcessOutcome) -> String {
    let end = client.end.map_or_else(|| "never ended".to_owned(), |it| it.to_string());
    match (client.progress, client.steps) {
        (progress, Some(steps)) => {
            format!("{} ({} of {steps} steps, {end})", client.name, progress.unwrap_or(0))
        }
        _ => format!("{} ({end})", client.name),
    }
}

fn log(digest: &TrialDigest, fault: Struck<'_>, normal: &Normal) -> Option<Symptom> {
    // Nodes of a cluster say the same things, each in its turn.
    let is_new = |message: &str| !normal.logged.contains(message);
    let new: Vec<_> = digest.logged.iter().filter(|it| is_new(&it.message)).collect();
    if new.is_empty() {
        return None;
    }
    let said = new.iter().take(NAMED_MAX).map(|it| format!("{}: {}", it.process, it.message));
    let mut why = match new.len() {
        1 => "a new warning or error, ".to_owned(),
        several => format!("{several} new warnings or errors, such as "),
    };
    why += &said.collect::<Vec<_>>().join("; ");
    let elsewhere = new.iter().any(|it| it.process != fault.process);
    let severity = if elsewhere { Severity::Minor } else { Severity::Expected };
    Some(Symptom { kind: SymptomKind::Log, severity, why })
}

/// Threads that wait for each other are stuck whatever else happens. Others may be about to go on: what they do counts as a
/// hint, where no run without a fault has it. Nodes that never got ready may not have started all of theirs.
fn hang(digest: &TrialDigest, normal: &Normal, never_ready: bool) -> Option<Symptom> {
    let is_new = |it: &ThreadAtEnd| !normal.waiting.contains(&(it.thread.clone(), it.at.clone()));
    let is_circle = |it: &&ThreadAtEnd| matches!(it.waits, Waits::Lock { circle: true, .. }) && is_new(it);
    let circle: Vec<&ThreadAtEnd> = digest.threads.iter().filter(is_circle).collect();
    let symptom = |severity, why| Some(Symptom { kind: SymptomKind::Hang, severity, why });
    if !circle.is_empty() {
        let names: Vec<String> = circle.iter().map(|it| place(it)).collect();
        return symptom(Severity::Major, format!("threads deadlock: {}", names.join(", ")));
    }
    let standing = normal.standing.as_ref()?;
    let mut found: Vec<String> = Vec::new();
    for it in digest.threads.iter().filter(|it| is_new(it)) {
        match &it.waits {
            Waits::No => {}
            Waits::ForEver => found.push(format!("{} waits without a timeout", place(it))),
            Waits::Lock { owner, owner_at, .. } => {
                let at = owner_at.as_deref().map_or_else(String::new, |at| format!(" in {at}"));
                found.push(format!("{} waits for a lock that {owner} holds{at}", place(it)));
            }
        }
    }
    let nodes = by_node(&digest.threads);
    for (node, threads) in nodes.into_iter().filter(|_| !never_ready) {
        let gone = standing.iter().filter(|name| threads.iter().all(|it| it.thread != **name));
        found.extend(gone.map(|name| format!("thread {name} of {node} has ended")));
    }
    let more = found.len().saturating_sub(NAMED_MAX);
    found.truncate(NAMED_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!found.is_empty()).then(|| symptom(Severity::Minor, found.join("; ") + &more)).flatten()
}

/// A thread and where it is, in words.
fn place(it: &ThreadAtEnd) -> String {
    let at = it.at.as_deref().map_or_else(String::new, |at| format!(" in {at}"));
    format!("{} of {}{at}", it.thread, it.node)
}

#[cfg(test)]
mod tests {
    use hypocenter_plan::{FORMAT_VERSION, Steering};

    use super::*;
    use crate::logged::Logged;

    fn node(name: &str, end: Option<End>, alive: Option<bool>) -> ProcessOutcome {
        ProcessOutcome {
            name: name.into(),
            role: Role::Node,
            incarnation: 1,
            started_ms: 0,
            ready_ms: Some(1),
            ended_ms: None,
            end,
            progress: None,
            steps: None,
            alive,
            logs: Vec::new(),
        }
    }

    fn client(name: &str, progress: u64) -> ProcessOutcome {
        let end = End::Exited { status: i32::from(progress < 10) };
        let client = node(name, Some(end), None);
        ProcessOutcome { role: Role::Client, progress: Some(progress), steps: Some(10), ..client }
    }

    fn outcome(processes: Vec<ProcessOutcome>) -> Outcome {
        Outcome {
            version: FORMAT_VERSION,
            end: End::Unfinished,
            wall_ms: 1,
            disk_full: false,
            failure: None,
            processes,
            candidates: Vec::new(),
            steering: Steering::default(),
            jvms: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn clients() -> Vec<ClientOf> {
        let of = |name: &str, node: &str, phase| ClientOf {
            name: name.into(),
            node: Some(node.into()),
            kind: None,
            phase,
        };
        vec![of("c1", "n1", 1), of("c2", "n2", 1), of("d1", "n1", 2), of("d2", "n2", 2)]
    }

    /// A fault on a node that is a process.
    fn on(node: &str, is_delay: bool) -> Struck<'_> {
        Struck { node, process: node, is_delay }
    }

    /// The worst symptom of a trial whose fault, an exception or a delay, was on n1.
    fn worst(processes: Vec<ProcessOutcome>, is_delay: bool) -> Option<(SymptomKind, Severity)> {
        let is_ready = processes.iter().all(|it| it.role == Role::Client || it.ready_ms.is_some());
        let end = if is_ready { End::Unfinished } else { End::NotReady };
        let found = symptoms(
            &Outcome { end, ..outcome(processes) },
            &TrialDigest::default(),
            on("n1", is_delay),
            &clients(),
            &Normal::default(),
        );
        found.first().map(|it| (it.kind, it.severity))
    }

    #[test]
    fn what_clients_and_nodes_show_is_judged() {
        use Severity::*;
        use SymptomKind::*;
        let up = |name| node(name, None, Some(true));
        let down = |name| node(name, None, Some(false));
        let dead = |name| node(name, Some(End::Exited { status: 1 }), None);
        let gone = |name| ProcessOutcome { ready_ms: None, ..dead(name) };
        let silent = |name| node(name, None, None);
        let waits = |name| ProcessOutcome { ready_ms: None, ..node(name, None, None) };
        for (what, processes, expected) in [
            ("healthy", vec![up("n1"), up("n2"), client("c1", 10), client("c2", 10)], None),
            (
                "only clients of another node fail",
                vec![down("n1"), down("n2"), client("c1", 10), client("c2", 3)],
                Some((Client, Critical)),
            ),
            (
                "a node says it is well and its client fails",
                vec![up("n1"), up("n2"), client("c1", 3), client("c2", 10)],
                Some((Client, Critical)),
            ),
            (
                "the node that got the fault says so, and only its client fails",
                vec![down("n1"), up("n2"), client("c1", 3), client("c2", 10)],
                Some((Client, Expected)),
            ),
            (
                "the node that got the fault ends, and only its client fails",
                vec![dead("n1"), up("n2"), client("c1", 3), client("c2", 10)],
                Some((Crash, Expected)),
            ),
            ("another node ends", vec![up("n1"), dead("n2")], Some((Crash, Critical))),
            ("the node of the fault never gets ready", vec![waits("n1"), up("n2")], Some((Client, Major))),
            ("the node of the fault ends first", vec![gone("n1"), waits("n2")], Some((Crash, Expected))),
            (
                "it ends when it is ready, and another never is",
                vec![dead("n1"), waits("n2")],
                Some((Client, Major)),
            ),
            ("another ends first", vec![waits("n1"), gone("n2")], Some((Crash, Critical))),
            (
                "the node of the fault breaks",
                vec![node("n1", Some(End::Signalled { signal: 11 }), None), up("n2")],
                Some((Crash, Major)),
            ),
            ("another node never gets ready", vec![up("n1"), waits("n2")], Some((Client, Critical))),
            ("no node gets ready", vec![waits("n1"), waits("n2")], Some((Client, Major))),
            (
                "nobody says anything, and some clients fail",
                vec![silent("n1"), silent("n2"), client("c1", 3), client("c2", 10)],
                Some((Client, Major)),
            ),
            (
                "all clients of the first phase fail",
                vec![silent("n1"), silent("n2"), client("c1", 3), client("c2", 3)],
                Some((Client, Minor)),
            ),
        ] {
            assert_eq!(worst(processes, false), expected, "{what}");
        }
        let own = symptoms(
            &outcome(vec![up("n1"), client("c1", 3), client("c2", 10)]),
            &TrialDigest::default(),
            on("c1", false),
            &clients(),
            &Normal::default(),
        );
        assert_eq!(own[0].severity, Expected, "a client that got the fault may fail: {own:?}");
        let delayed = |processes| worst(processes, true);
        assert_eq!(delayed(vec![waits("n1"), waits("n2")]), Some((Client, Minor)), "it may be held still");
        assert_eq!(delayed(vec![up("n1"), waits("n2")]), Some((Client, Major)));
    }

    #[test]
    fn a_dead_node_is_told_before_what_its_clients_saw() {
        let dead = |name| node(name, Some(End::Exited { status: 1 }), None);
        let first = |processes: Vec<ProcessOutcome>, normal: &Normal| {
            let found =
                symptoms(&outcome(processes), &TrialDigest::default(), on("n1", false), &clients(), normal);
            found[0].why.clone()
        };
        // Worse than that the node of the fault is dead: its client was served, and that of another node was not.
        let processes = || vec![dead("n1"), node("n2", None, None), client("c1", 10), client("c2", 3)];
        let why = "the fault is on n1, and only clients of other nodes fail: c2 (3 of 10 steps, exited with status 1)";
        assert_eq!(first(processes(), &Normal::default()), format!("node n1 exited with status 1; {why}"));
        assert_eq!(
            first(vec![node("n1", None, None), dead("n2")], &Normal::default()),
            "node n2 exited with status 1; it had no fault"
        );
        // One that ends in every run explains nothing.
        let mut normal = Normal::default();
        let well = End::Exited { status: 0 };
        normal.take_down(&Outcome { end: well, ..outcome(vec![dead("n1")]) }, &TrialDigest::default());
        assert_eq!(normal.wrong(), []);
        assert_eq!(first(processes(), &normal), why);
    }

    #[test]
    fn a_dead_node_is_told_first_of_what_is_wrong_without_a_fault() {
        let mut normal = Normal::default();
        let problems = vec![Problem { place: "c1".into(), what: "WARN no answer".into() }];
        let dead = node("n1", Some(End::Exited { status: 1 }), None);
        let failed = Outcome { problems, ..outcome(vec![dead, client("c1", 3)]) };
        normal.take_down(&failed, &TrialDigest::default());
        let wrong: Vec<String> = normal.wrong().into_iter().map(|it| it.0).collect();
        let end = "the workload ended before all its steps";
        assert_eq!(wrong, ["node n1 exited with status 1", "c1: WARN no answer", end]);
    }

    #[test]
    fn what_only_some_kinds_of_request_meet_is_said() {
        let of = |name: &str, kind: &str| ClientOf {
            name: name.into(),
            node: None,
            kind: Some(kind.into()),
            phase: 1,
        };
        let clients = [of("r1", "read"), of("r2", "read"), of("w1", "write")];
        let why = |r1: u64, r2: u64, w1: u64| {
            let processes =
                vec![node("n1", None, None), client("r1", r1), client("r2", r2), client("w1", w1)];
            let found = super::client(&outcome(processes), on("n1", false), &clients).unwrap();
            assert_eq!(found.severity, Severity::Major, "{found:?}");
            found.why.split(':').next().unwrap_or_default().to_owned()
        };
        assert_eq!(why(3, 3, 10), "only requests of some kinds fail (read), and all others are served");
        assert_eq!(why(10, 10, 3), "only requests of some kinds fail (write), and all others are served");
        assert_eq!(why(3, 10, 10), "only some clients fail");
    }

    #[test]
    fn a_node_inside_a_process_takes_it_along() {
        let dead = node("jvm", Some(End::Exited { status: 1 }), None);
        let fault = Struck { node: "zk2", process: "jvm", is_delay: false };
        let severities = |it: &ProcessOutcome| -> Vec<Severity> {
            let found = crash(&outcome(vec![it.clone()]), fault, &Normal::default());
            found.iter().map(|it| it.severity).collect()
        };
        assert_eq!(severities(&dead), [Severity::Expected]);
        assert_eq!(severities(&ProcessOutcome { name: "other".into(), ..dead }), [Severity::Critical]);
    }

    #[test]
    fn a_run_without_a_judge_or_a_record_is_no_run_to_begin_with() {
        let problem = |place: &str| Problem { place: place.into(), what: "no".into() };
        let mut normal = Normal::default();
        let problems = vec![problem("command"), problem("oracle"), problem("hooks")];
        let end = End::Exited { status: 0 };
        normal.take_down(&Outcome { end, problems, ..outcome(Vec::new()) }, &TrialDigest::default());
        let digest = TrialDigest { unreadable: Some("cut".into()), ..TrialDigest::default() };
        normal.take_down(&Outcome { end, ..outcome(Vec::new()) }, &digest);
        let wrong: Vec<String> = normal.wrong().into_iter().map(|it| it.0).collect();
        assert_eq!(wrong, ["oracle: no", "the trace cannot be read: cut"]);
        assert_eq!(normal.problems.iter().collect::<Vec<_>>(), ["no"], "it may still be what is meant");
    }

    #[test]
    fn a_message_counts_if_no_run_without_a_fault_has_it() {
        let logged = |process: &str, message: &str| Logged {
            process: process.into(),
            error: true,
            message: message.into(),
            times: 1,
        };
        let digest = |it: Vec<Logged>| TrialDigest { logged: it, ..TrialDigest::default() };
        let mut normal = Normal::default();
        normal.take_down(&outcome(Vec::new()), &digest(vec![logged("n1", "slow")]));
        let check = |it: Logged| log(&digest(vec![it]), on("n1", false), &normal).map(|it| it.severity);
        assert_eq!(check(logged("n1", "slow")), None);
        assert_eq!(check(logged("n2", "slow")), None, "another node may say it in another run");
        assert_eq!(check(logged("n1", "lost")), Some(Severity::Expected));
        assert_eq!(check(logged("n2", "lost")), Some(Severity::Minor));
    }

    #[test]
    fn threads_are_judged_by_what_they_do_at_the_end_of_runs_without_a_fault() {
        let thread = |node: &str, thread: &str, waits: Waits| ThreadAtEnd {
            node: node.into(),
            thread: thread.into(),
            at: Some("a.A.run".into()),
            waits,
            holds: false,
        };
        let lock = |circle| Waits::Lock { owner: "sync".into(), owner_at: Some("a.S.run".into()), circle };
        let both = |it: Vec<ThreadAtEnd>| TrialDigest { threads: it, ..TrialDigest::default() };
        let acceptor = || thread("n1", "acceptor", Waits::No);
        let mut normal = Normal::default();
        let always = || thread("n1", "always", lock(true));
        let quiet = both(vec![acceptor(), thread("n1", "main", Waits::ForEver), always()]);
        normal.take_down(&outcome(Vec::new()), &quiet);
        let judged = |it: Vec<ThreadAtEnd>| hang(&both(it), &normal, false).map(|it| (it.severity, it.why));
        let main = || thread("n1", "main", Waits::ForEver);
        assert_eq!(judged(vec![acceptor(), always(), main()]), None, "as without a fault");
        assert_eq!(judged(Vec::new()), None, "a node that has ended has no threads");
        let (severity, why) =
            judged(vec![acceptor(), always(), main(), thread("n1", "prep", lock(true))]).unwrap();
        assert_eq!((severity, why.as_str()), (Severity::Major, "threads deadlock: prep of n1 in a.A.run"));
        let (severity, why) =
            judged(vec![acceptor(), always(), main(), thread("n1", "prep", lock(false))]).unwrap();
        assert_eq!(
            (severity, why.as_str()),
            (Severity::Minor, "prep of n1 in a.A.run waits for a lock that sync holds in a.S.run")
        );
        assert_eq!(judged(vec![always(), main()]).unwrap().1, "thread acceptor of n1 has ended");
        assert_eq!(hang(&both(vec![always(), main()]), &normal, true), None, "it may not have begun");
        assert_eq!(
            judged(vec![acceptor(), always(), main(), thread("n1", "commit", Waits::ForEver)]).unwrap().1,
            "commit of n1 in a.A.run waits without a timeout"
        );
    }
}
