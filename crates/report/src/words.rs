//! Results of a campaign, in words.

mod explained;

use hypocenter_plan::{Candidate, Fault, Site};

use crate::text::{count, simple, thousands};
use hypocenter_results::cascaded::{Cascade, CascadeFault, CascadeStep};
use hypocenter_results::explored::{self, Exploration, Suspicion};
use hypocenter_results::reproduced::{AS_LIKELY_MAX, Explained, Reproduction, Standing};
use hypocenter_results::{Document, Finding, Injected, Proof};

pub use explained::{act, brief_point, explained, point};

/// Number of these that are named.
const AS_LIKELY_NAMED: usize = 3;

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bit {
    /// Words.
    Words(String),
    /// A name of the program.
    Name(String),
}

/// A sentence whose names stand out where that is possible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sentence(pub Vec<Bit>);

impl Sentence {
    /// And these words.
    pub fn words(mut self, words: impl Into<String>) -> Sentence {
        self.0.push(Bit::Words(words.into()));
        self
    }

    /// And this name.
    pub fn name(mut self, name: impl Into<String>) -> Sentence {
        self.0.push(Bit::Name(name.into()));
        self
    }

    /// And another.
    pub fn and(mut self, other: Sentence) -> Sentence {
        self.0.extend(other.0);
        self
    }

    /// As plain text.
    pub fn plain(&self) -> String {
        self.0.iter().map(|(Bit::Words(it) | Bit::Name(it))| it.as_str()).collect()
    }
}

/// The verdict in one sentence.
pub fn verdict(summary: &Document<Reproduction>) -> Sentence {
    let said = Sentence::default();
    let rounds = || count(summary.detail.tried.len() as u64, "round", "rounds");
    match (&summary.detail.standing, summary.detail.found.first()) {
        (Standing::AlreadyFails { failed, runs }, _) => said.words(format!(
            "The failure happens without any fault, in {failed} of {runs} runs: fix the workload or the oracle first."
        )),
        (_, Some(found)) => finding(found, summary.detail.has_several_nodes()),
        (Standing::Exhausted, None) => {
            said.words(format!("Not reproduced: every fault with a causal path to the failure log was tried, in {}.", rounds()))
        }
        (Standing::NothingMissing, None) => {
            let noise = match summary.detail.noise.len() {
                0 => String::new(),
                some => format!(
                    " {} ignored as noise, since normal runs differ in it as much: try more normal runs (--normal-runs).",
                    count(some as u64, "entry was", "entries were")
                ),
            };
            said.words(format!("Nothing to search for: the failure log has no entry that is missing from normal runs.{noise}"))
        }
        (Standing::NothingToTry, None) => said.words(
            "Nothing to try: the workload reaches no site with a causal path to the failure log.",
        ),
        (Standing::Unjudged { why }, None) => {
            said.words("The oracle could not judge a run without a fault: ").name(why.clone()).words(".")
        }
        (Standing::Unreadable { why }, None) => {
            said.words("A run without a fault left no readable log: ").name(why.clone()).words(".")
        }
        (Standing::Going, None) => {
            said.words(format!("Interrupted after {}: nothing found so far.", rounds()))
        }
        (Standing::Budget | Standing::Reproduced, None) => {
            said.words(format!("Not reproduced: the budget of {} is used up.", rounds()))
        }
    }
}

/// Finding in one sentence. With one node, its name is omitted.
pub fn finding(found: &Finding<Explained>, several_nodes: bool) -> Sentence {
    let said = Sentence::default().words("The failure happens again when ");
    said.and(each(&found.faults, several_nodes)).words(".")
}

/// Description of some faults.
pub fn each(faults: &[Injected], several_nodes: bool) -> Sentence {
    let mut said = Sentence::default();
    for (number, it) in faults.iter().enumerate() {
        if number > 0 {
            said = said.words(", and ");
        }
        said = said.and(one(it, several_nodes));
    }
    said
}

/// Fault, place, and occurrence.
pub fn one(it: &Injected, several_nodes: bool) -> Sentence {
    let said = Sentence::default();
    let (what, place) = (callee(&it.site), place(&it.site));
    let said = match (&it.fault, what) {
        (Fault::Exception { class, .. }, Some(what)) => {
            said.name(what).words(", called at ").name(place).words(", throws ").name(simple(class))
        }
        (Fault::Exception { class, .. }, None) => said.name(place).words(" throws ").name(simple(class)),
        (Fault::Delay { delay_ms, .. }, what) => {
            let said = match what {
                Some(what) => said.name(what).words(", called at ").name(place),
                None => said.name(place),
            };
            said.words(format!(", takes {} longer", seconds(*delay_ms)))
        }
        (Fault::Crash { .. }, _) => said.words("the JVM halts at ").name(place),
        (Fault::Negate, _) => said.words("the result of ").name(place).words(" is negated"),
    };
    let time = ordinal(it.at.occurrence);
    let thread = &*it.at.thread;
    let said = match &it.guard.thread {
        Some(it) if it == thread => said.words(format!(", {time} occurrence on thread ")).name(thread),
        Some(pattern) => said.words(format!(", {time} occurrence on threads ")).name(pattern.as_str()),
        None => said.words(format!(", {time} occurrence")),
    };
    let said = if several_nodes {
        let of = if it.guard.thread.is_some() { " of " } else { " on " };
        said.words(of).name(&*it.at.node)
    } else {
        said
    };
    if it.guard.thread.as_deref() == Some(thread) {
        said
    } else {
        said.words(" (here ").name(thread).words(")")
    }
}

/// Relevant property of a finding, and the rates of similar trials.
pub fn compared(it: &Finding<Suspicion>) -> Option<String> {
    let it = &it.detail;
    let matters = it.matters.as_ref()?;
    let near = [
        ("the same call at other occurrences", Some(it.same_site)),
        ("other calls at the same place", it.same_place),
        ("calls elsewhere in the same state", Some(it.same_state)),
    ];
    let tried = near.into_iter().filter_map(|(what, rate)| Some((what, rate.filter(|it| it.runs > 0)?)));
    let told = tried.map(|(what, it)| format!("{what} {} of {}", it.hits, thousands(it.runs)));
    Some(format!("{matters} ({})", told.collect::<Vec<_>>().join(", ")))
}

/// Strength of a proof.
pub fn proven(proof: Proof) -> &'static str {
    match proof {
        Proof::Confirmed => "confirmed",
        Proof::SeenOnce => "seen once, not confirmed",
        Proof::Refuted => "refuted: no replay repeated it",
    }
}

/// Results of the replays of a finding.
pub fn replays<D>(it: &Finding<D>) -> String {
    let missed = match it.missed {
        0 => String::new(),
        some => format!(", {} more did not reach the fault", thousands(some)),
    };
    format!("{} of {}{missed}", it.rate.hits, count(it.rate.runs, "replay", "replays"))
}

/// Maximum length of a reason in a headline; the text below has all of it.
const BRIEF_CHARS: usize = 140;

/// As much of a reason as a headline takes.
fn brief(why: &str) -> String {
    match why.char_indices().nth(BRIEF_CHARS) {
        None => why.to_owned(),
        Some((end, _)) => {
            let end = why[..end].rfind(' ').unwrap_or(end);
            format!("{} \u{2026}", why[..end].trim_end_matches([',', ':', ' ']))
        }
    }
}

/// The verdict of a campaign of `explore` in one sentence.
pub fn explored(it: &Exploration) -> Sentence {
    let said = Sentence::default();
    let trials = count(it.trials, "trial", "trials");
    match (&it.standing, it.findings.first()) {
        (explored::Standing::NormalFails { .. }, _) => {
            said.words("The workload fails without a fault: fix the workload first.")
        }
        (explored::Standing::NothingToInject, None) => {
            said.words("Nothing to inject: the workload makes no call that can fail.")
        }
        (_, None) if it.unconfirmed.is_empty() => said.words(format!("Nothing suspicious in {trials}.")),
        (_, None) => {
            let seen = count(it.unconfirmed.len() as u64, "suspicious result was", "suspicious results were");
            said.words(format!("Nothing confirmed in {trials}; {seen} seen and not confirmed by a replay."))
        }
        (_, Some(worst)) => {
            let more = match it.findings.len() {
                1 => "Confirmed: one small fault breaks part of the service: ".to_owned(),
                all => format!(
                    "Confirmed: {} small faults break part of the service. The worst: ",
                    thousands(all as u64)
                ),
            };
            let fault = one(worst.injected(), it.has_several_nodes());
            said.words(more).and(fault).words(", and ").words(brief(&worst.why)).words(".")
        }
    }
}

/// The verdict of `cascade` in one sentence.
pub fn cascaded(it: &Cascade) -> Sentence {
    let said = Sentence::default();
    match it.cycles.first() {
        None if !it.tests.is_empty() && it.tests.iter().all(|it| it.left_out.is_some()) => {
            said.words("Every test fails without a fault, or never becomes ready: fix the workload first.")
        }
        None => said.words(format!(
            "No fault feeds itself in {}.",
            count(it.experiments.made, "experiment", "experiments")
        )),
        Some(first) => {
            let all = match it.cycles.len() as u64 {
                1 => "A fault can feed itself: ".to_owned(),
                some => format!("{} cycles of faults can feed themselves. The first: ", thousands(some)),
            };
            let mut said = said.words(all);
            for step in &first.detail.steps {
                said = said.name(brief_fault(&step.cause)).words(" → ");
            }
            let back = first.detail.steps.first().map(|it| brief_fault(&it.cause)).unwrap_or_default();
            said.name(back).words(".")
        }
    }
}

/// A fault of a cascade, its method without the package.
pub fn brief_fault(it: &CascadeFault) -> String {
    CascadeFault { method: method(&it.method).to_owned(), ..it.clone() }.to_string()
}

/// A method with its class, without the package.
fn method(name: &str) -> &str {
    name.rmatch_indices('.').nth(1).map_or(name, |(at, _)| &name[at + 1..])
}

/// The test of a workload, without its package.
pub fn test(workload: &str) -> &str {
    let test = workload.split_once('@').map_or(workload, |it| it.1);
    let class = test.split('#').next().unwrap_or(test);
    class.rfind('.').map_or(test, |at| &test[at + 1..])
}

/// How often the effect of a step was seen, with its fault and without.
pub fn counted(it: &CascadeStep) -> String {
    let (with, without) = (it.with.as_slice(), it.without.as_slice());
    match it.p {
        None if it.test.is_none() => it.note.clone().unwrap_or_default(),
        Some(p) => {
            let mean = |of: &[u64]| of.iter().sum::<u64>() as f64 / of.len().max(1) as f64;
            format!("{:.1} iterations instead of {:.1} (p = {p:.3})", mean(with), mean(without))
        }
        None => format!("in {} of {} runs, without it in none of {}", with.len(), with.len(), without.len()),
    }
}

/// The proof, in one more sentence.
pub fn proof(summary: &Document<Reproduction>) -> Option<String> {
    let found = summary.detail.found.first()?;
    let time = |it: f64| seconds((it * 1e3) as u64);
    let when = match summary.header.found_seconds {
        Some(it) => format!("after {}; total time {}", time(it), time(summary.header.seconds)),
        None => format!("in a campaign of {}", time(summary.header.seconds)),
    };
    let missed = match found.missed {
        0 => String::new(),
        some => format!(" ({} more did not reach the fault)", thousands(some)),
    };
    Some(format!(
        "{} of {} showed it{missed}, {} of {} without the fault did. Found in {}, {when}.",
        found.rate.hits,
        count(found.rate.runs, "replay", "replays"),
        summary.detail.normal_failures,
        count(summary.detail.normal_runs, "run", "runs"),
        format_args!("round {}", thousands(found.detail.round)),
    ))
}

/// Other faults that may explain the failure as well, if any. With one node, its name is omitted.
pub fn as_likely(others: &[Candidate], several_nodes: bool) -> Option<String> {
    let all = match others.len() {
        0 => return None,
        some @ AS_LIKELY_MAX.. => format!("{some} other faults or more"),
        some => count(some as u64, "other fault", "other faults"),
    };
    let were = if others.len() == 1 { "was equally likely and was" } else { "were equally likely and were" };
    let name = |it: &Candidate| {
        let called = callee(&it.site).map_or_else(String::new, |it| format!(" \u{2192} {it}"));
        let hit = it.when.occurrence.map_or_else(String::new, |it| format!(", hit {}", thousands(it)));
        let thread = it.when.thread.as_ref().map_or_else(String::new, |it| {
            format!(" of thread{} {it}", if it.contains('*') { "s" } else { "" })
        });
        let node = it.when.node.as_ref().filter(|_| several_nodes);
        let node = node.map_or_else(String::new, |it| format!(" on {it}"));
        format!("{} at {}{called}{hit}{thread}{node}", kind(&it.fault), place(&it.site))
    };
    let names: Vec<String> = others.iter().take(AS_LIKELY_NAMED).map(name).collect();
    let more = if others.len() > names.len() { "; ..." } else { "" };
    Some(format!("{all} {were} not tried: {}{more}", names.join("; ")))
}

/// A line of the failure log: of one, or of one of several.
pub fn line_of(line: u32, node: &str, are_several: bool) -> String {
    if are_several {
        format!("line {line} of {node}'s log")
    } else {
        format!("line {line} of the failure log")
    }
}

/// The number of a line of the failure log: of one, or of one of several.
pub fn line_number(line: u32, node: &str, are_several: bool) -> String {
    if are_several { format!("{node}:{line}") } else { line.to_string() }
}

/// A fault in a short line: classes without their packages. The node is named `with_node`, where there are several.
pub fn short(it: &Injected, with_node: bool) -> String {
    format!("{}, {}", short_place(&it.fault, &it.site), it.hit(with_node))
}

/// Fault and place, in short.
pub fn short_place(fault: &Fault, site: &Site) -> String {
    let called = callee(site).map_or_else(String::new, |it| format!(" -> {it}"));
    format!("{} at {}{called}", kind(fault), place(site))
}

/// A fault in a line: what, where, when.
pub fn fault(it: &Injected) -> (String, String, String) {
    let what = kind(&it.fault);
    let called = callee(&it.site).map_or_else(String::new, |it| format!(" \u{2192} {it}"));
    (what, place(&it.site) + &called, it.at.hit(&it.guard, thousands(it.at.occurrence)))
}

/// Effect in short.
fn kind(fault: &Fault) -> String {
    match fault {
        Fault::Exception { class, .. } => simple(class).to_owned(),
        Fault::Delay { delay_ms, .. } => format!("delay of {}", seconds(*delay_ms)),
        Fault::Crash { .. } => "crash".to_owned(),
        Fault::Negate => "negated result".to_owned(),
    }
}

/// `Class.method:line`
pub fn place(site: &Site) -> String {
    let line = site.line.map_or_else(String::new, |it| format!(":{it}"));
    format!("{}.{}{line}", simple(&site.class), site.method_in_source())
}

/// `Class.method` of what is called.
pub fn callee(site: &Site) -> Option<String> {
    let name = site.callee.as_deref()?;
    let name = name.split('(').next().unwrap_or(name);
    let (class, method) = name.rsplit_once('.').unwrap_or(("", name));
    Some(format!("{}.{method}", simple(class)))
}

/// An abstract state, or a task, without its package.
pub fn state(name: &str) -> String {
    let (task, number) = name.split_once('#').map_or((name, None), |(task, number)| (task, Some(number)));
    let (class, method) = task.rsplit_once('.').unwrap_or(("", task));
    let task = if class.is_empty() { method.to_owned() } else { format!("{}.{method}", simple(class)) };
    number.map_or_else(|| task.clone(), |it| format!("{task}#{it}"))
}

/// A time in the unit that suits it.
pub fn seconds(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 if !ms.is_multiple_of(1_000) => format!("{:.1} s", ms as f64 / 1e3),
        1_000..600_000 => format!("{} s", (ms + 500) / 1_000),
        _ => format!("{} min", (ms + 30_000) / 60_000),
    }
}

fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{}{ending}", thousands(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_numbers_read_well() {
        let check = |ms, expected: &str| assert_eq!(seconds(ms), expected);
        check(90, "90 ms");
        check(1_000, "1 s");
        check(2_500, "2.5 s");
        check(236_654, "237 s");
        check(1_200_000, "20 min");
        for (number, expected) in
            [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (112, "112th"), (1_022, "1,022nd")]
        {
            assert_eq!(ordinal(number), expected);
        }
    }
}
