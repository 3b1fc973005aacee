//! Lines on a terminal while a campaign runs: one for each event.

use std::cmp::Reverse;

use hypocenter_results::event::{Effect, Event, Learned, RoundEnded, Search};
use hypocenter_results::explored::Severity;
use hypocenter_results::reproduced::{Again, Missing, Silent};
use hypocenter_results::{Injected, Rate};

use super::{Line, Style};
use crate::text::{count, shortened, span, thousands, without_numbers};
use crate::words::{line_number, seconds, short, short_place};

/// Maximum number of missing entries that are listed; the report has all.
const MISSING_SHOWN: usize = 15;
/// Runs of an experiment of `cascade`, as a rule.
const RUNS_OF_EXPERIMENT: u64 = 6;
/// Maximum number of new lines of a round that are listed; more are only counted.
const NEW_SHOWN: usize = 3;
/// Faults that were not reached and are named.
const UNREACHED_NAMED: usize = 2;
/// Threads that fall silent and are named.
const SILENT_SHOWN: usize = 3;
/// Minimum number of entries that a thread must lack to be reported as silent: the end of a log is ragged.
const SILENT_ENTRIES_MIN: u32 = 3;

/// The campaign that speaks.
#[derive(Debug, Clone)]
pub struct Voice {
    /// The name of the campaign.
    pub campaign: String,
    /// Name of its rounds.
    pub round: &'static str,
    /// True if there are several nodes, so that a fault alone does not say on which it is.
    pub several_nodes: bool,
    /// True if the failure has several logs, so that a line alone does not say in which it is.
    pub several_logs: bool,
}

/// Step of a campaign: its action, its result, and a remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundLine {
    /// Word in the margin.
    pub label: String,
    /// Actions.
    pub what: String,
    /// Its result.
    pub result: (Style, String),
    /// Remark.
    pub aside: String,
}

impl Voice {
    /// A round that is over.
    pub fn round(&self, it: &RoundEnded) -> RoundLine {
        let faults: Vec<String> = it.faults.iter().map(|it| self.fault(it)).collect();
        let has_struck = !matches!(it.effect, Effect::NoFault { .. }) || it.again.is_some();
        let what = match (faults.as_slice(), &it.meant) {
            ([], Some(meant)) if matches!(it.effect, Effect::Caused { .. }) => meant.clone(),
            ([], Some(meant)) => format!("no fault ({meant})"),
            ([], None) => unreached(it),
            (kept, None) if !has_struck => format!("{} + {}", kept.join(" + "), unreached(it)),
            (faults, _) => faults.join(" + "),
        };
        let (style, result) = self.effect(&it.effect);
        let result = match it.again {
            Some(Again::ForSecond) => {
                format!("again, alone: a second fault is searched for after it; {result}")
            }
            Some(Again::WithoutKept) => format!("{result}; the kept fault was not injected this time"),
            Some(Again::Instead) => format!("instead of the delay; {result}"),
            Some(Again::Earlier) => format!("retried earlier, to give the effect time to appear; {result}"),
            Some(Again::NearMiss) => format!("near the round that showed most; {result}"),
            None => result,
        };
        let result = match it.runs {
            Some(Rate { runs, .. }) if runs > 1 => format!("{result}, in {runs} runs together"),
            _ => result,
        };
        let result = after(&it.ends, result);
        let states = match it.new_states {
            0 => String::new(),
            it => format!(", {}", count(it, "new state", "new states")),
        };
        let tried = it.tried.map_or_else(String::new, |(tried, of)| {
            format!("; {} of {} tried", thousands(tried), count(of, "call", "calls"))
        });
        RoundLine {
            label: format!("{} {}", self.round, it.number),
            what,
            result: (style, result),
            aside: format!("{states}{tried}; {}/{}", self.campaign, it.trial),
        }
    }

    /// A fault in a short line.
    fn fault(&self, it: &Injected) -> String {
        let state = it.at.state.as_deref().map_or_else(String::new, |it| format!(" in {it}"));
        short(it, self.several_nodes) + &state
    }

    fn effect(&self, it: &Effect) -> (Style, String) {
        match it {
            Effect::Failure => (Style::Good, "the failure happened".to_owned()),
            Effect::Fine => (Style::Dim, "fine".to_owned()),
            Effect::Caused { what } if what.is_empty() => (Style::Dim, "caused nothing".to_owned()),
            Effect::Caused { what } => (Style::Warn, what.join(", ")),
            Effect::NoFault { why, is_bad: true } => (Style::Warn, why.clone()),
            Effect::NoFault { why, is_bad: false } => (Style::Dim, why.clone()),
            Effect::Symptom { severity, why } if severity.is_suspicious() => (Style::Bad, why.clone()),
            Effect::Symptom { severity: Severity::Minor, why } => (Style::Warn, why.clone()),
            Effect::Symptom { why, .. } => (Style::Dim, format!("expected: {why}")),
            Effect::Shows { shown, of, beyond_first, new } => {
                let shows = match beyond_first {
                    None => format!("shows {shown} of {of}"),
                    Some(more) => {
                        format!("both show {shown} of {of}, {more} that the first alone does not")
                    }
                };
                let new = match new.len() {
                    0 => String::new(),
                    1..=NEW_SHOWN => format!(", new: {}", self.lines(new)),
                    some => format!(", {some} of them new"),
                };
                (Style::Dim, shows + &new)
            }
        }
    }

    /// Some lines of the failure log, by their numbers.
    fn lines(&self, lines: &[(String, u32)]) -> String {
        let numbers: Vec<String> =
            lines.iter().map(|(node, line)| line_number(*line, node, self.several_logs)).collect();
        let line = if self.several_logs { "" } else { "line " };
        format!("{line}{}", numbers.join(", "))
    }

    /// Other lines; `each` is the duration of a run in seconds.
    pub fn event(&self, it: &Event, each: f64) -> Vec<Line> {
        match it {
            Event::Round(_) => Vec::new(),
            Event::Replayed { trial, of, is_injected, is_reached, shows, rate, replays, ends } => {
                let with = match (is_injected, is_reached) {
                    (false, _) => "and its fault was not reached".to_owned(),
                    (true, false) => "and its call was reached by another path".to_owned(),
                    (true, true) => {
                        format!("and {}", if *shows { "it happened again" } else { "nothing happened" })
                    }
                };
                let so_far = match rate.runs {
                    0 | 1 => String::new(),
                    _ => format!(", {} of {} replays so far", rate.hits, rate.runs),
                };
                let Voice { campaign, .. } = self;
                let what = format!("a replay of {campaign}/{of} (of {replays}), {with}{so_far}");
                vec![Line::new("run", format!("{campaign}/{trial}: {}", after(ends, what)))]
            }
            Event::Near { trial, of, is_injected, shows, ends } => {
                let Voice { campaign, .. } = self;
                let came = match (is_injected, shows) {
                    (false, _) => "its fault was not reached",
                    (true, true) => "it shows the same",
                    (true, false) => "it does not show the same",
                };
                let what = format!("compared with {campaign}/{of}: {came}");
                vec![Line::new("run", format!("{campaign}/{trial}: {}", after(ends, what)))]
            }
            Event::Learned(it) => self.learned(it, each),
        }
    }

    fn learned(&self, it: &Learned, each: f64) -> Vec<Line> {
        match it {
            Learned::Search(it) => self.search(it),
            Learned::Flaky(Rate { hits, runs }) => {
                let what = format!("the failure happens without a fault, in {hits} of {runs} runs");
                vec![
                    Line::new("flaky", what),
                    Line::more(
                        "a fault counts as found if it brings the failure at a higher rate (Fisher's test)",
                    ),
                ]
            }
            Learned::Experiments { faults, tests, most, each_ms } => vec![Line::new(
                "plan",
                format!(
                    "{} in {}: at most {} of about {RUNS_OF_EXPERIMENT} runs, each {:.1} s",
                    count(*faults, "fault", "faults"),
                    count(*tests, "test", "tests"),
                    count(*most, "experiment", "experiments"),
                    span(*each_ms as f64 / 1e3)
                ),
            )],
            Learned::Busy { least_ms, most_ms } => vec![
                Line::new("machine", busy(*least_ms, *most_ms)),
                Line::more("timeouts may expire without a fault; fewer --jobs may help"),
            ],
            Learned::Crowded { key, site, made, requests, others } => {
                let (made, all) = (thousands(*made), count(*requests, "request", "requests"));
                let others = count(*others, "other call", "other calls");
                let what = format!(
                    "{site} makes {made} of the {all} in {key}, so the {others} there are rarely chosen"
                );
                vec![
                    Line::new("busy", what),
                    Line::more("`key = \"operation\"` under [explore] gives each call turns of its own"),
                ]
            }
            Learned::Confirming { claims, replays, near } => {
                let finding = if *claims == 1 { "finding is" } else { "findings are" };
                let times = if *replays == 1 { "once".to_owned() } else { format!("{replays} times") };
                let near_too = match near {
                    0 => String::new(),
                    some => format!(", and a repeated finding is compared with up to {some} other trials"),
                };
                let most = claims.saturating_mul(replays.saturating_add(*near));
                let runs = count(most, "run", "runs");
                let what = format!(
                    "the trials are over; {claims} suspicious {finding} replayed {times}{near_too}: {runs} at most, about {}",
                    span(each * most as f64)
                );
                vec![Line::new("replays", what)]
            }
            Learned::Chance { round, rate, goes_on } => {
                let going_on = if *goes_on { "; going on" } else { "" };
                vec![Line::more(format!("{}{going_on}", was_chance(*round, *rate)))]
            }
            Learned::Pool(threads) => vec![Line::more(format!(
                "replays differ, and the thread may vary: again, with occurrences counted over threads {threads}"
            ))],
            Learned::Doubt { rounds, lines } => {
                let rounds = count(*rounds, "more round", "more rounds");
                vec![Line::more(format!(
                    "this fault causes the failure, but not {}, to which other faults lead: at most {rounds} for a fault that causes both (`doubt` under [reproduce]; Ctrl-C ends them and shows the result so far)",
                    self.lines(lines)
                ))]
            }
            Learned::Unreadable { trial, why } => vec![Line::note(&format!("trial {trial}"), why)],
        }
    }

    /// Start of a search.
    fn search(&self, it: &Search) -> Vec<Line> {
        let missing = count(it.missing.len() as u64, "entry", "entries");
        let mut lines = vec![Line::new(
            "missing",
            format!(
                "{missing} of the failure log {} missing from normal runs",
                if it.missing.len() == 1 { "is" } else { "are" }
            ),
        )];
        let mut more_often_told = false;
        for it in worth_telling(&it.missing).take(MISSING_SHOWN) {
            lines.push(self.missing(it));
            if it.is_longer() && !more_often_told {
                more_often_told = true;
                lines.push(Line::more(
                    "  the failure log has this more often than the workload logs it: a longer workload may be needed, see `hypocenter guide start`",
                ));
            }
        }
        if let Some(more @ 1..) = it.missing.len().checked_sub(MISSING_SHOWN) {
            lines.push(Line::more(format!("and {} more (the report has all)", thousands(more as u64))));
        }
        lines.push(Line::new("search", candidates(it)));
        for it in worth_silence(&it.silent).take(SILENT_SHOWN) {
            let entries = count(it.entries.into(), "entry", "entries");
            lines.push(Line::new(
                "silent",
                format!("thread {} stops logging, and lacks {entries} of normal runs", it.thread),
            ));
        }
        let has_exception = |it: &Missing| it.normal == 0 && it.message.contains("Exception");
        if it.has_delays && it.missing.iter().any(has_exception) {
            lines.push(Line::more(
                "the log names exceptions: `--faults exceptions` saves the rounds with delays",
            ));
        }
        lines.push(Line::gap());
        lines
    }

    /// Something that is missing.
    fn missing(&self, it: &Missing) -> Line {
        let node = if self.several_logs { format!("{} ", it.node) } else { String::new() };
        let often = match it.normal {
            0 => String::new(),
            some => format!(" ({} times, normal runs {})", it.times + some, normal_counts(it)),
        };
        let weight = match it.weight {
            0 => String::new(),
            some => format!(" [{some}: {}]", it.why),
        };
        // What is counted has other numbers each time.
        let message = if it.normal > 0 { without_numbers(&it.message) } else { it.message.clone() };
        let line = Line::more("").with(Style::Dim, format!("{node}line {:<5} ", it.line));
        let line = line.with(Style::Plain, shortened(&message)).with(Style::Dim, often + &weight);
        match (&it.not_run, it.sites) {
            (Some(method), _) => line.with(
                Style::Warn,
                format!(" (logged by {method}, which this workload apparently does not run)"),
            ),
            (None, 0) if it.weight == 0 => line.with(Style::Dim, " (no known exception leads here)"),
            _ => line,
        }
    }
}

/// A result behind the nodes that ended.
fn after(ends: &[String], result: String) -> String {
    ends.iter().cloned().chain([result]).collect::<Vec<_>>().join("; ")
}

/// Difference between the times of normal runs.
fn busy(least_ms: u64, most_ms: u64) -> String {
    format!("it is busy: one normal run took {}, another {}", seconds(least_ms), seconds(most_ms))
}

/// Number of calls to try, and their total.
fn candidates(it: &Search) -> String {
    let beyond = match it.sites_beyond {
        0 => String::new(),
        some => {
            let others = count(some, "other", "others");
            format!(", and {others} (tried last: no known causal path)")
        }
    };
    let moments = count(it.instances, "occurrence", "occurrences");
    match (it.sites_inferred, it.sites_beyond) {
        (0, others) => format!(
            "no call has a known causal path to these entries; {} of {} are tried anyway: {moments} to try",
            thousands(others),
            thousands(it.sites_total)
        ),
        (inferred, _) => format!(
            "{} of {} calls have a causal path to these entries; the workload reaches {} of the {0}{beyond}; {moments} to try",
            thousands(inferred),
            thousands(it.sites_total),
            thousands(it.sites_reached),
        ),
    }
}

/// Text if a round did not have the failure.
fn was_chance(round: u64, Rate { hits, runs }: Rate) -> String {
    if runs == 0 {
        return format!("no replay of round {round} reached its fault");
    }
    let was = if hits == 0 { "was" } else { "may be" };
    format!("round {round} {was} chance: {hits} of {runs} replays showed it")
}

/// Missing entries, the weightiest first, then in the order of the log; those without a known causal path come last.
fn worth_telling(missing: &[Missing]) -> impl Iterator<Item = &Missing> {
    let mut all: Vec<&Missing> = missing.iter().collect();
    all.sort_by_key(|it| (it.sites == 0, Reverse(it.weight)));
    all.into_iter()
}

/// How often normal runs have something.
fn normal_counts(it: &Missing) -> String {
    match it.normal_least {
        least if least == it.normal || (least == 0 && it.weight == 0) => it.normal.to_string(),
        least => format!("{least} to {}", it.normal),
    }
}

/// The threads that fall silent and lack enough to be worth a word.
fn worth_silence(silent: &[Silent]) -> impl Iterator<Item = &Silent> {
    silent.iter().filter(|it| it.entries >= SILENT_ENTRIES_MIN)
}

/// Text for a round without a fault: its candidates, the likeliest first.
fn unreached(round: &RoundEnded) -> String {
    let mut places: Vec<String> = Vec::new();
    for (fault, site) in &round.given {
        let place = short_place(fault, site);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let more = match places.len().saturating_sub(UNREACHED_NAMED) {
        0 => String::new(),
        some => format!(" and {some} more"),
    };
    places.truncate(UNREACHED_NAMED);
    let places = places.join(", ");
    match round.given.len() {
        0 => "no fault".to_owned(),
        1 => format!("its fault was not reached ({places})"),
        several => format!("none of {several} faults was reached ({places}{more})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_no_replay_shows_again_is_called_chance() {
        let said = |hits, runs| was_chance(3, Rate { hits, runs });
        assert_eq!(said(0, 2), "round 3 was chance: 0 of 2 replays showed it");
        assert_eq!(said(0, 0), "no replay of round 3 reached its fault");
        assert_eq!(said(1, 20), "round 3 may be chance: 1 of 20 replays showed it");
    }
}
