//! Results of a campaign of `predict`.

use hypocenter_results::predicted::{Conflict, Forecasting, Prediction, Triggered};
use hypocenter_results::{Document, Finding};

use super::Line;
use crate::text::{count, span, thousands};
use crate::words;

/// Maximum number of findings, and of other reports, that are shown.
const FINDINGS_SHOWN: usize = 10;
const REPORTS_SHOWN: usize = 10;

/// The end of a campaign.
pub fn predicted(document: &Document<Prediction>) -> Vec<Line> {
    let it = &document.detail;
    let mut lines = vec![Line::gap()];
    match &it.standing {
        Forecasting::NormalFails { why } => lines.push(Line::note("fails without a fault", why)),
        Forecasting::Incomplete { why } => lines.push(Line::note("no verdict", why)),
        Forecasting::Going | Forecasting::Done => {}
    }
    it.findings.iter().take(FINDINGS_SHOWN).for_each(|it| lines.extend(finding(it)));
    if it.findings.len() > FINDINGS_SHOWN {
        lines.push(Line::more(format!("{} more are in the report", it.findings.len() - FINDINGS_SHOWN)));
    }
    for it in it.unconfirmed.iter().take(FINDINGS_SHOWN) {
        lines.push(Line::new("seen", words::crash(&it.detail)));
        lines.push(Line::more(format!("{}: {}", words::proven(it.proof), it.why)));
    }
    let is_other = |it: &Triggered| matches!(it, Triggered::Handled { .. } | Triggered::Untried);
    let others = it.reports.iter().filter(|it| is_other(&it.triggered));
    for (number, other) in others.take(REPORTS_SHOWN).enumerate() {
        let label = if number == 0 { "reports" } else { "" };
        let what = format!("{}: crash of {} {} {}", other.triggered.name(), other.w.node, other.side, other.w);
        lines.push(Line::new(label, what));
    }
    for node in &it.nodes {
        if let Some(why) = &node.left_out {
            lines.push(Line::note("left out", &format!("{}: {why}", node.name)));
        }
    }
    for problem in &it.problems {
        lines.push(Line::note("lab", problem));
    }
    lines.extend(counts(document));
    lines
}

fn finding(it: &Finding<Conflict>) -> Vec<Line> {
    let mut lines = vec![Line::new("finding", words::crash(&it.detail))];
    if let Some(r) = &it.detail.r {
        lines.push(Line::more(format!("the recovery cannot handle what it finds: {r}")));
    }
    lines.push(Line::more(it.why.clone()));
    lines.push(Line::new("proof", format!("{}: {}", words::proven(it.proof), words::replays(it))));
    lines.push(Line::new("replay", it.replay.clone()));
    lines.push(Line::gap());
    lines
}

fn counts(document: &Document<Prediction>) -> Vec<Line> {
    let Prediction { runs, pruned, pairs, reports, findings, .. } = &document.detail;
    let label = if document.header.cut_short { "so far" } else { "done" };
    let runs = format!(
        "{} without a fault, {} with a crash ({} survived), {}",
        count(runs.normal, "run", "runs"),
        thousands(runs.crashed),
        thousands(runs.correct),
        count(runs.triggers, "trigger", "triggers")
    );
    let found = count(findings.len() as u64, "finding", "findings");
    let left_out = [("control", pruned.control), ("reset", pruned.reset), ("impact", pruned.impact)];
    let left_out: Vec<String> = left_out.iter().map(|it| format!("{} by {}", thousands(it.1), it.0)).collect();
    vec![
        Line::new(label, format!("{found}, {}; {runs}", span(document.header.seconds))),
        Line::more(format!(
            "{}, of which rules leave out {} ({}); {}",
            count(*pairs, "pair", "pairs"),
            thousands(pruned.all()),
            left_out.join(", "),
            count(reports.len() as u64, "report", "reports")
        )),
    ]
}
