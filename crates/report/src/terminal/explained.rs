//! Results of a campaign of `explain`.

use hypocenter_results::explained::{BesideRow, Explanation, Inflection};
use hypocenter_results::{Document, Finding, Rate};

use super::{Line, labelled};
use crate::text::{count, span, thousands};
use crate::words::{brief_point, explained as verdict, point, proven};

/// Rows that are shown of both runs.
const ROWS_SHOWN: usize = 24;
/// Rows of a ticket.
const TICKET_ROWS: usize = 20;

/// The end of a campaign.
pub fn explained(document: &Document<Explanation>) -> Vec<Line> {
    let it = &document.detail;
    let mut lines = vec![Line::gap()];
    if let Some(found) = it.findings.first() {
        lines.push(Line::new("line", verdict(it).plain()));
        lines.extend(found.detail.consequence.iter().map(|it| Line::new("then", point(it))));
        lines.extend(labelled("nearest", nearest(&found.detail)));
        lines.extend(labelled("others", found.detail.others.iter().map(point)));
        lines.push(Line::new("proof", proof(found)));
        lines.push(Line::new("replay", found.replay.clone()));
        lines.push(Line::gap());
        lines.extend(labelled("both", found.detail.beside.iter().take(ROWS_SHOWN).map(row)));
    } else {
        lines.push(Line::new("answer", verdict(it).plain()));
    }
    for row in it.neighbours.iter().filter(|it| it.left_out.is_some()) {
        lines.push(Line::note(
            "left out",
            &format!("{}: {}", row.name, row.left_out.as_deref().unwrap_or("")),
        ));
    }
    lines.extend(it.problems.iter().map(|it| Line::note("recording", it)));
    let label = if document.header.cut_short { "so far" } else { "done" };
    lines.push(Line::new(label, format!("{}, {}", sizes(it), span(document.header.seconds))));
    lines
}

/// Number of points, events and neighbours.
fn sizes(it: &Explanation) -> String {
    let compared = it.neighbours.iter().filter(|it| it.trial.is_some() && it.left_out.is_none()).count();
    let events = it.failing.as_ref().map_or(0, |it| it.events);
    format!(
        "{} in the static slice, {} recorded, {}",
        count(it.slice.points, "point", "points"),
        count(events, "event", "events"),
        count(compared as u64, "neighbour", "neighbours")
    )
}

fn nearest(it: &Inflection) -> Vec<String> {
    let one = |it: &hypocenter_results::explained::NearestRun| {
        format!(
            "{}, {}: {}, {} of {} the same",
            it.thread,
            it.step,
            it.neighbour,
            thousands(it.same),
            thousands(it.of)
        )
    };
    it.nearest.iter().map(one).collect()
}

fn proof(it: &Finding<Inflection>) -> String {
    let rate = |it: Rate| format!("{} of {}", it.hits, it.runs);
    format!(
        "{}: {} replays of the failing run fail, {} of the nearest",
        proven(it.proof),
        rate(it.rate),
        rate(it.detail.nearest_rate)
    )
}

fn row(it: &BesideRow) -> String {
    let mark = if it.is_inflection { "> " } else { "  " };
    let nearest = match &it.nearest {
        None => "   | -".to_owned(),
        Some(nearest) if point(nearest) == point(&it.failing) => "   | same".to_owned(),
        Some(nearest) => format!("   | {}", point(nearest)),
    };
    format!("{mark}[{}] {}{nearest}", it.failing.thread, point(&it.failing))
}

/// The answer as Markdown for a ticket.
pub fn ticket(document: &Document<Explanation>) -> String {
    let it = &document.detail;
    let mut lines = vec![format!("**{}**", verdict(it).plain()), String::new()];
    if let Some(found) = it.findings.first() {
        let Inflection { cause, consequence, instead, .. } = &found.detail;
        let parts = [("Cause", cause), ("Consequence", consequence), ("Nearest run", instead)];
        for (name, it) in parts {
            lines.extend(it.iter().map(|it| format!("- {name}: `{}` in thread `{}`", point(it), it.thread)));
        }
        lines.push(format!("- Symptom: `{}`", brief_point(&it.symptom)));
        lines.push(format!("- Proof: {}", proof(found)));
        lines.push(format!("- Replay: `{}`", found.replay));
        lines.extend([
            String::new(),
            "| thread | failing run | nearest run |".to_owned(),
            "|---|---|---|".to_owned(),
        ]);
        let cell = |text: String| text.replace('|', "\\|");
        for row in found.detail.beside.iter().take(TICKET_ROWS) {
            let mark = if row.is_inflection { "**" } else { "" };
            let nearest =
                row.nearest.as_ref().map_or_else(String::new, |it| format!("`{}`", cell(point(it))));
            lines.push(format!(
                "| {} | {mark}`{}`{mark} | {nearest} |",
                cell(row.failing.thread.clone()),
                cell(point(&row.failing))
            ));
        }
    }
    lines.join("\n") + "\n"
}
