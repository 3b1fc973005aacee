//! Results of a campaign of `reproduce`.

use hypocenter_results::reproduced::{Explained, Missing, Reproduction, Standing, Story};
use hypocenter_results::{Document, Finding, Injected};

use super::closest::{closest, unmet};
use super::{Line, cause, columns, labelled, stack};
use crate::text::{count, shortened, span};
use crate::words::{as_likely, line_of};

/// Lines of the failure log that what was found does not show, and that are named.
const LACKING_SHOWN: usize = 3;
/// Frames of a stack that are shown.
const FRAMES_SHOWN: usize = 6;

/// The end of a campaign, on a screen of so many columns; `None` where there is no screen.
pub fn reproduced(summary: &Document<Reproduction>, columns: Option<usize>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (number, found) in summary.detail.found.iter().enumerate() {
        let (story, replay) = (found.story.as_ref(), &found.replay);
        lines.extend(match number {
            0 => first(summary, found, story, replay, columns),
            _ => other(summary, number, found, replay),
        });
    }
    lines.extend(standing(summary));
    if refusal(summary, false).is_some() {
        return lines;
    }
    if summary.detail.unjudged > 0 {
        let trials = count(summary.detail.unjudged, "trial", "trials");
        let text = format!("it could not judge {trials}; the outcomes have the reason");
        lines.push(Line::note("oracle", &text));
    }
    if summary.detail.refused > 0 {
        let text = format!(
            "{} could not be injected; the outcomes of the rounds have the reason",
            summary.detail.refused
        );
        lines.push(Line::note("faults", &text));
    }
    lines
}

/// Error and advice if runs without a fault gave nothing to search by. `command_fails` is set if the workload's command
/// fails without a fault.
pub fn refusal(summary: &Document<Reproduction>, command_fails: bool) -> Option<(String, &'static str)> {
    match &summary.detail.standing {
        Standing::Unjudged { why } => Some((
            format!("the oracle cannot judge a run without a fault: {why}"),
            "fix the oracle, or use a workload that writes the files it reads; see `hypocenter guide oracles`",
        )),
        Standing::Unreadable { why } => {
            let hint = if command_fails {
                "the command fails without a fault: fix it first; its output is above"
            } else {
                "log to standard output in the layout of the failure log, or name the log files: `logs = [\"{dir}/logs/*.log\"]` in [[workload]] or [[workload.node]]"
            };
            Some((format!("a run without a fault gave nothing to compare: {why}"), hint))
        }
        _ => None,
    }
}

fn first(
    summary: &Document<Reproduction>,
    found: &Finding<Explained>,
    story: Option<&Story>,
    replay: &str,
    columns: Option<usize>,
) -> Vec<Line> {
    let several_nodes = summary.detail.has_several_nodes();
    let mut lines: Vec<Line> = found.faults.iter().flat_map(|it| fault(summary, it)).collect();
    lines.extend(lacking(summary, found));
    if let Some(story) = story {
        lines.extend(cause::causes(story, summary.detail.several_logs));
        if let Some(beside) = story.beside.as_ref().filter(|it| !it.rows.is_empty()) {
            lines.push(Line::gap());
            let faults: Vec<String> = found.faults.iter().map(|it| it.line(several_nodes)).collect();
            let trial = format!("{}/{}", summary.header.campaign, story.trial);
            lines.extend(columns::side_by_side(beside, story.zero_ms, &faults, &trial, columns));
        }
        lines.push(Line::gap());
    }
    let seen = format!(
        "{}, in round {} ({}/{})",
        found.why, found.detail.round, summary.header.campaign, found.detail.seen_in
    );
    lines.push(Line::new("oracle", seen));
    lines.extend(story.into_iter().flat_map(cause::moment));
    let by_itself = match summary.detail.normal_failures {
        0 => String::new(),
        some => format!("; {some} of {} runs without the fault", summary.detail.normal_runs),
    };
    lines.push(Line::new("rate", rate(found) + &by_itself));
    if let Some(others) = as_likely(&found.detail.as_likely, several_nodes) {
        // As faults are written here.
        let others = others.replace('\u{2192}', "->");
        lines.push(Line::new("also", format!("{others} (--keep-going in a new search tries them)")));
    }
    lines.push(Line::new("replay", replay));
    lines.push(Line::new("export", format!("{replay} --export DIR")));
    lines
}

fn fault(summary: &Document<Reproduction>, it: &Injected) -> Vec<Line> {
    let is_own = |method: &str| {
        let mut rest = summary.detail.packages.iter().filter_map(|it| method.strip_prefix(it.as_str()));
        rest.any(|it| it.starts_with(['.', '$']))
    };
    let mut lines = vec![Line::new("fault", it.line(summary.detail.has_several_nodes()))];
    lines.extend(stack(&it.at.stack, FRAMES_SHOWN, is_own));
    lines
}

/// Further findings, which explain no more of the failure log: the report has their details.
fn other(
    summary: &Document<Reproduction>,
    number: usize,
    found: &Finding<Explained>,
    replay: &str,
) -> Vec<Line> {
    let faults: Vec<String> =
        found.faults.iter().map(|it| it.line(summary.detail.has_several_nodes())).collect();
    let lacks = match found.detail.lacks.len() {
        0 => String::new(),
        some => format!(", lacks {} that the failure log has", count(some as u64, "entry", "entries")),
    };
    let text = format!("{}: {}{lacks}, round {}", faults.join(" + "), rate(found), found.detail.round);
    let mut lines = if number == 1 { vec![Line::gap()] } else { Vec::new() };
    lines.push(Line::new(if number == 1 { "others" } else { "" }, text));
    lines.push(Line::more(format!("  {replay}")));
    lines
}

/// Entries of the failure log that the reproduced run lacks.
fn lacking(summary: &Document<Reproduction>, found: &Finding<Explained>) -> Vec<Line> {
    let lacking: Vec<&Missing> = summary.detail.lacking(found).collect();
    let text = |it: &&Missing| {
        let line = line_of(it.line, &it.node, summary.detail.several_logs);
        format!("{line}: {}", shortened(&it.message))
    };
    let mut lines: Vec<Line> = labelled("lacks", lacking.iter().take(LACKING_SHOWN).map(text)).collect();
    if !lacking.is_empty() {
        let more = match lacking.len().saturating_sub(LACKING_SHOWN) {
            0 => String::new(),
            more => format!("and {more} more; "),
        };
        lines.push(Line::more(format!(
            "{more}either noise, or a different root cause: continue with --keep-going, or require these lines too, by `all` in the oracle"
        )));
    }
    lines
}

fn standing(summary: &Document<Reproduction>) -> Vec<Line> {
    let rounds = count(summary.detail.tried.len() as u64, "round", "rounds");
    let mut lines = match &summary.detail.standing {
        // Where rounds were made, it is the first of what to try.
        Standing::Exhausted | Standing::Budget | Standing::Going => Vec::new(),
        _ => unmet(summary).map(|it| Line::note("oracle", &it)).collect(),
    };
    match &summary.detail.standing {
        Standing::Reproduced => lines.push(Line::new("done", done(summary))),
        Standing::AlreadyFails { failed, runs } => {
            lines.push(Line::note("oracle", &format!(
                "the failure happens without a fault, in {failed} of {runs} runs; fix the workload or the oracle first"
            )));
            let seen = summary.detail.normal_failure.iter();
            lines.extend(
                seen.map(|it| Line::more(format!("{}/{}: {}", summary.header.campaign, it.trial, it.why))),
            );
        }
        Standing::Exhausted => {
            lines.push(Line::new("not found", format!("everything was tried, in {rounds}")));
            lines.extend(closest(summary));
        }
        Standing::Budget => {
            lines.push(Line::new("not found", format!("the budget of {rounds} is used up")));
            lines.extend(closest(summary));
        }
        Standing::Going => {
            let found = match summary.detail.found.len() {
                0 => "nothing found".to_owned(),
                some => format!("{some} found; the search or the replays were not over"),
            };
            lines.push(Line::new("so far", format!("{rounds}, {found}")));
            if summary.detail.found.is_empty() && !summary.detail.tried.is_empty() {
                lines.extend(closest(summary));
            } else {
                lines.extend(unmet(summary).map(|it| Line::new("try", it)));
            }
        }
        Standing::NothingMissing => lines.push(Line::note(
            "failure",
            "its log has no entry that is missing from normal runs, so the search has no target",
        )),
        Standing::NothingToTry => lines.push(Line::note(
            "workload",
            "it reaches no site with a causal path to the failure log; use one that exercises the same code",
        )),
        Standing::Unjudged { .. } | Standing::Unreadable { .. } => {}
    }
    lines
}

fn done(summary: &Document<Reproduction>) -> String {
    let first = summary.detail.found.first();
    let round = first.map_or(0, |it| it.detail.round);
    let after = summary.header.found_seconds.map_or_else(String::new, |it| format!(" after {}", span(it)));
    let lacking = match first.map_or(0, |it| it.detail.lacks.len()) {
        0 => String::new(),
        some => {
            let things = count(some as u64, "entry", "entries");
            format!(", except {things} of the failure log (`lacks`)")
        }
    };
    format!("reproduced in round {round}{after}, {} in all{lacking}", span(summary.header.seconds))
}

/// In how many of its replays the failure happened.
fn rate(found: &Finding<Explained>) -> String {
    let missed = match found.missed {
        0 => String::new(),
        some => format!(", {some} more did not reach the fault"),
    };
    format!("{} of {} replays{missed}", found.rate.hits, found.rate.runs)
}
