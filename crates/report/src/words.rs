//! What came of a campaign, in words.

use hypocenter_plan::{Candidate, Fault, Site};

use crate::text::{count, simple, thousands};
use hypocenter_results::explored::{self, Exploration, Finding};
use hypocenter_results::reproduced::{AS_LIKELY_MAX, Found, Standing, Summary};
use hypocenter_results::{Injected, Proof};

/// How many of these are named.
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
pub fn verdict(summary: &Summary) -> Sentence {
    let said = Sentence::default();
    let rounds = || count(summary.tried.len() as u64, "round", "rounds");
    match (&summary.standing, summary.found.first()) {
        (Standing::AlreadyFails { failed, runs }, _) => said.words(format!(
            "The failure happens without any fault, in {failed} of {runs} runs: the workload or the oracle must be mended first."
        )),
        (_, Some(found)) => finding(found, summary.has_several_nodes()),
        (Standing::Exhausted, None) => {
            said.words(format!("Not reproduced: everything that leads to the failure log was tried, in {}.", rounds()))
        }
        (Standing::NothingMissing, None) => {
            said.words("Nothing to go by: the failure log shows nothing that a normal run does not.")
        }
        (Standing::NothingToTry, None) => said.words(
            "Nothing to try: the workload reaches no site that can lead to what the failure log shows.",
        ),
        (Standing::Unjudged { why }, None) => {
            said.words("Nothing to judge by: of a run without a fault the oracle could not say anything, ").name(why.clone()).words(".")
        }
        (Standing::Unreadable { why }, None) => {
            said.words("Nothing to compare: a run without a fault left no log that can be read, ").name(why.clone()).words(".")
        }
        (Standing::Going, None) => {
            said.words(format!("Not over: the campaign was ended after {}, and nothing is found so far.", rounds()))
        }
        (Standing::Budget | Standing::Reproduced, None) => {
            said.words(format!("Not reproduced: the budget of {} is used up.", rounds()))
        }
    }
}

/// What was found, in one sentence. Of one node nobody needs the name.
pub fn finding(found: &Found, several_nodes: bool) -> Sentence {
    let mut said = Sentence::default().words("The failure comes back when ");
    for (number, it) in found.faults.iter().enumerate() {
        if number > 0 {
            said = said.words(", and ");
        }
        said = said.and(one(it, several_nodes));
    }
    said.words(".")
}

/// What happens, where, and when.
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
        (Fault::Negate, _) => said.words("the result of ").name(place).words(" is turned around"),
    };
    let time = ordinal(it.at.occurrence);
    let thread = &*it.at.thread;
    let said = match &it.guard.thread {
        Some(it) if it == thread => said.words(format!(", the {time} time that thread ")).name(thread),
        Some(pattern) => {
            said.words(format!(", the {time} time that one of the threads ")).name(pattern.as_str())
        }
        None => said.words(format!(", the {time} time that a thread")),
    };
    let said = if several_nodes { said.words(" of ").name(&*it.at.node) } else { said };
    let said = said.words(" gets there");
    if it.guard.thread.as_deref() == Some(thread) {
        said
    } else {
        said.words(" (here ").name(thread).words(")")
    }
}

/// What matters for a finding, and how often what is near it showed the same.
pub fn compared(it: &Finding) -> Option<String> {
    let matters = it.matters.as_ref()?;
    let near = [
        ("the same call at other moments", Some(it.same_site)),
        ("other calls at the same place", it.same_place),
        ("calls elsewhere in the same state", Some(it.same_state)),
    ];
    let tried = near.into_iter().filter_map(|(what, rate)| Some((what, rate.filter(|it| it.runs > 0)?)));
    let told = tried.map(|(what, it)| format!("{what} {} of {}", it.hits, thousands(it.runs)));
    Some(format!("{matters} ({})", told.collect::<Vec<_>>().join(", ")))
}

/// How well something is proven.
pub fn proven(proof: Proof) -> &'static str {
    match proof {
        Proof::Confirmed => "confirmed",
        Proof::SeenOnce => "seen once, not yet confirmed",
        Proof::Refuted => "refuted: no replay showed it again",
    }
}

/// What the replays of a finding came to.
pub fn replays(it: &Finding) -> String {
    let missed = match it.missed {
        0 => String::new(),
        some => format!(", {} more did not reach the fault", thousands(some)),
    };
    format!("{} of {}{missed}", it.rate.hits, count(it.rate.runs, "replay", "replays"))
}

/// How much of a reason stands in a headline; what follows it has all.
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
            said.words("Nothing to inject: the workload makes no call at which something can go wrong.")
        }
        (_, None) if it.unconfirmed.is_empty() => said.words(format!("Nothing suspicious in {trials}.")),
        (_, None) => {
            let seen = count(it.unconfirmed.len() as u64, "suspicious result was", "suspicious results were");
            said.words(format!("Nothing confirmed in {trials}; {seen} seen and not confirmed by a replay."))
        }
        (_, Some(worst)) => {
            let more = match it.findings.len() {
                1 => "Confirmed: one small fault breaks a part of the service: ".to_owned(),
                all => format!(
                    "Confirmed: {} small faults break a part of the service. The worst: ",
                    thousands(all as u64)
                ),
            };
            let fault = one(&worst.injected, it.has_several_nodes());
            said.words(more).and(fault).words(", and ").words(brief(&worst.why)).words(".")
        }
    }
}

/// The proof, in one more sentence.
pub fn proof(summary: &Summary) -> Option<String> {
    let found = summary.found.first()?;
    let time = |it: f64| seconds((it * 1e3) as u64);
    let when = match summary.found_seconds {
        Some(it) => format!("after {}; it took {} in all", time(it), time(summary.seconds)),
        None => format!("in a campaign of {}", time(summary.seconds)),
    };
    let missed = match found.missed {
        0 => String::new(),
        some => format!(" ({} more did not reach the fault)", thousands(some)),
    };
    Some(format!(
        "{} of {} showed it{missed}, {} of {} without the fault did. Found in {}, {when}.",
        found.hits,
        count(found.runs, "replay", "replays"),
        summary.normal_failures,
        count(summary.normal_runs, "run", "runs"),
        format_args!("round {}", thousands(found.round)),
    ))
}

/// That other faults may explain the failure as well, if there are such. Of one node nobody needs the name.
pub fn as_likely(others: &[Candidate], several_nodes: bool) -> Option<String> {
    let all = match others.len() {
        0 => return None,
        some @ AS_LIKELY_MAX.. => format!("{some} other faults or more"),
        some => count(some as u64, "other fault", "other faults"),
    };
    let were = if others.len() == 1 { "was as likely and was" } else { "were as likely and were" };
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

/// A fault in a line: what, where, when.
pub fn fault(it: &Injected) -> (String, String, String) {
    let what = kind(&it.fault);
    let called = callee(&it.site).map_or_else(String::new, |it| format!(" \u{2192} {it}"));
    (what, place(&it.site) + &called, it.at.hit(&it.guard, thousands(it.at.occurrence)))
}

/// What it does, in short.
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
