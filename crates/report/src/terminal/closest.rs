//! Lines after a search without a result: the nearest rounds, the missing lines, and suggestions.

use hypocenter_results::Document;
use hypocenter_results::reproduced::{Closest, Missing, Reproduction, Suggestion};

use super::{Line, labelled};
use crate::text::{count, shortened};
use crate::words::{line_number, line_of};

/// Rounds that came near and are shown.
const CLOSEST_SHOWN: usize = 3;
/// Lines that never came and are shown.
const NEVER_SHOWN: usize = 5;
/// Lines of the failure log that are named of a round.
const LINES_NAMED: usize = 8;

/// The rounds that came nearest, what no round ever showed, and what to try.
pub fn closest(summary: &Document<Reproduction>) -> Vec<Line> {
    let mut lines: Vec<Line> = rounds(summary).collect();
    if lines.is_empty() {
        lines.push(Line::new("closest", "no round showed any of the missing entries"));
    }
    lines.extend(labelled(
        "never",
        summary.detail.never_shown().take(NEVER_SHOWN).map(|it| never(summary, it)),
    ));
    if let Some(more @ 1..) = summary.detail.never_shown().count().checked_sub(NEVER_SHOWN) {
        lines.push(Line::more(format!("and {more} more (--json has all)")));
    }
    let suggestions = summary.detail.suggestions.iter().filter_map(|it| suggestion(summary, it));
    lines.extend(labelled("try", unmet(summary).chain(suggestions)));
    lines
}

/// Advice about an oracle that requires something missing from the failure log, unless it held anyway. It is printed before the
/// search too; whoever has waited for it reads the end.
pub fn unmet(summary: &Document<Reproduction>) -> impl Iterator<Item = String> {
    let is_met = summary.detail.tried.iter().any(|it| it.happened);
    let unmet = summary.detail.unmet.iter().filter(move |_| !is_met);
    unmet.map(|it| format!("check the oracle first: {it}"))
}

fn rounds(summary: &Document<Reproduction>) -> impl Iterator<Item = Line> {
    let near = summary.detail.closest.iter().take(CLOSEST_SHOWN).enumerate();
    near.flat_map(|(number, it)| {
        let round = summary.detail.round(it.round);
        let faults = round.into_iter().flat_map(|it| it.kept.iter().chain(&it.fault));
        let faults: Vec<String> = faults.map(|it| it.line(summary.detail.has_several_nodes())).collect();
        let text = format!(
            "{}/{}: {}, shows {} of {}",
            summary.header.campaign,
            round.map_or(0, |it| it.trial),
            faults.join(" + "),
            it.shows.len(),
            summary.detail.missing.len()
        );
        let label = if number == 0 { "closest" } else { "" };
        // What the first shows and what it lacks is the nearest thing to an answer.
        let shows = (number == 0).then(|| Line::more(shows(summary, it)));
        std::iter::once(Line::new(label, text)).chain(shows)
    })
}

fn shows(summary: &Document<Reproduction>, it: &Closest) -> String {
    let lacks = match named(summary, &it.lacks) {
        it if it.is_empty() => it,
        it => format!(", and not {it}"),
    };
    let of = if summary.detail.several_logs { "logs" } else { "log" };
    format!("  it shows {} of the failure {of}{lacks}", named(summary, &it.shows))
}

/// Lines of the failure log, or, as `node:line`, of one of several.
fn named(summary: &Document<Reproduction>, places: &[u32]) -> String {
    let several = summary.detail.several_logs;
    let missing = places.iter().filter_map(|&it| summary.detail.missing.get(it as usize));
    let all: Vec<String> = missing.map(|it| line_number(it.line, &it.node, several)).collect();
    let (line, lines) = if several { ("", "") } else { ("line ", "lines ") };
    match all.len() {
        0 => String::new(),
        1 => format!("{line}{}", all[0]),
        2..=LINES_NAMED => format!("{lines}{}", all.join(", ")),
        some => format!("{lines}{} and {} more", all[..LINES_NAMED].join(", "), some - LINES_NAMED),
    }
}

fn never(summary: &Document<Reproduction>, it: &Missing) -> String {
    let reason = match (&it.not_run, it.sites) {
        (Some(method), _) => format!(" (logged by {method}, which this workload apparently does not run)"),
        (None, 0) => " (no known fault leads to it)".to_owned(),
        (None, _) => String::new(),
    };
    format!("{}{reason}: {}", line_of(it.line, &it.node, summary.detail.several_logs), shortened(&it.message))
}

/// A suggestion in a sentence; `None` if it is about an entry that the document does not have.
fn suggestion(summary: &Document<Reproduction>, it: &Suggestion) -> Option<String> {
    let all = summary.detail.missing.len();
    let missing = |it: u32| summary.detail.missing.get(it as usize);
    let line = |it: &Missing| line_of(it.line, &it.node, summary.detail.several_logs);
    Some(match it {
        Suggestion::LongerWorkload { missing: at } => {
            let it = missing(*at)?;
            format!(
                "a longer workload: the failure shows {} {} times, normal runs {}; see `hypocenter guide start`",
                line(it),
                it.times + it.normal,
                it.normal
            )
        }
        Suggestion::AskWhy { missing: at } => {
            let it = missing(*at)?;
            let message = it.message.replace('\'', "'\\''");
            let flags = &summary.detail.flags;
            format!("list the faults that can lead to {}: `hypocenter scan --why '{message}'{flags}`", line(it))
        }
        Suggestion::SteadierReplays { round, hits, runs } => format!(
            "a more deterministic workload: the failure happened in round {round}, then in {hits} of {runs} replays; that may be coincidence"
        ),
        Suggestion::OtherWorkload { reached, inferred } => format!(
            "another workload: this one reaches {reached} of the {inferred} calls that lead to missing entries"
        ),
        Suggestion::SteadierWorkload { unreached, rounds } => format!(
            "a more deterministic workload: in {unreached} of {rounds} rounds no fault was reached that normal runs reach"
        ),
        Suggestion::TwoFaults { best, together, patience } => format!(
            "two faults: no round shows more than {best} of {all}, and together they show {together}; a second fault is searched for after {} (`patience` under [reproduce])",
            count(*patience, "round", "rounds")
        ),
        Suggestion::MoreFaults { best } => format!(
            "more than two faults may be needed: no two that were tried show more than {best} of {all}"
        ),
        Suggestion::Delays => "delays: they were not tried (--faults exceptions,delays)".to_owned(),
        Suggestion::LongerDelay { delay_ms, tried } => format!(
            "a longer delay: delays of {} s were tried {} (--delay)",
            delay_ms / 1000,
            if *tried == 1 { "once".to_owned() } else { format!("{tried} times") }
        ),
        Suggestion::CheckPackages => {
            "check the packages and the class path: no known fault leads to the code that logs the missing entries".to_owned()
        }
        Suggestion::CheckOracle => {
            "check the oracle: a round shows all missing entries, and the oracle does not hold there".to_owned()
        }
        Suggestion::MoreRounds { calls } => format!(
            "more rounds (--trials): {} occurrences that were not tried",
            count(*calls, "call has", "calls have")
        ),
    })
}
