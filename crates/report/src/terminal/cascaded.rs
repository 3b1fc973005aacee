//! Results of a campaign of `cascade`.

use hypocenter_results::cascaded::{Cascade, CascadeStep, Cycle};
use hypocenter_results::{Document, Finding};

use super::Line;
use crate::text::{count, span, thousands};
use crate::words::{counted, proven, test};

/// Maximum number of cycles that are shown.
const CYCLES_SHOWN: usize = 10;

/// The end of a campaign.
pub fn cascaded(document: &Document<Cascade>) -> Vec<Line> {
    let it = &document.detail;
    let mut lines = vec![Line::gap()];
    for finding in it.cycles.iter().take(CYCLES_SHOWN) {
        lines.extend(cycle(finding));
    }
    if it.cycles.len() > CYCLES_SHOWN {
        lines.push(Line::more(format!("{} more are in the report", it.cycles.len() - CYCLES_SHOWN)));
    }
    for finding in it.unconfirmed.iter().take(CYCLES_SHOWN) {
        lines.push(Line::new("seen", finding.why.clone()));
        lines.push(Line::more(proven(finding.proof)));
    }
    for row in it.tests.iter().filter(|it| it.left_out.is_some()) {
        let why = row.left_out.as_deref().unwrap_or_default();
        lines.push(Line::note("left out", &format!("{}: {why}", test(&row.name))));
    }
    for (why, times) in &it.accepted {
        lines.push(Line::new("known", format!("{}: {why}", count(*times, "cycle", "cycles"))));
    }
    for problem in &it.problems {
        lines.push(Line::note("lab", problem));
    }
    let label = if document.header.cut_short { "so far" } else { "done" };
    let of = format!(
        "{}, {} in {} of {}; {}",
        count(it.cycles.len() as u64, "cycle", "cycles"),
        count(it.steps.len() as u64, "step", "steps"),
        thousands(it.experiments.made),
        count(it.experiments.budget, "experiment", "experiments"),
        count(it.runs, "run", "runs")
    );
    lines.push(Line::new(label, format!("{of}, {}", span(document.header.seconds))));
    if it.false_growth.of > 0 {
        lines.push(Line::more(format!(
            "by chance, {} of {} loops seem to run more often",
            thousands(it.false_growth.part),
            thousands(it.false_growth.of)
        )));
    }
    lines
}

fn cycle(it: &Finding<Cycle>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (number, step) in it.detail.steps.iter().enumerate() {
        let label = if number == 0 { "cycle" } else { "" };
        lines.push(Line::new(label, format!("{} → {}", step.cause, step.effect)));
        lines.push(Line::more(format!("  {}", shown(step))));
        if !step.replay.is_empty() {
            lines.push(Line::more(format!("  {}", step.replay)));
        }
    }
    let further = match it.detail.alike_count {
        0 => String::new(),
        some => format!(
            "; {} by the same faults or by faults with like consequences",
            count(some, "further cycle", "further cycles")
        ),
    };
    lines.push(Line::new("proof", format!("{}{further}", proven(it.proof))));
    lines.push(Line::gap());
    lines
}

/// Evidence of a step.
fn shown(it: &CascadeStep) -> String {
    let injected = it.injected.as_ref().map_or_else(String::new, |it| format!(", {it}"));
    let test = it.test.as_deref().map_or_else(String::new, |it| format!(" in {}", test(it)));
    format!("{}{test}{injected}: {}", it.kind.name(), counted(it))
}
