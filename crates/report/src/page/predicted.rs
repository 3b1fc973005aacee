//! The page of a campaign of `predict`: each crash that is not survived, with the run without it and the run with it one above the other.

use std::fmt::Write;

use super::drawing::both;
use super::table::{Kind, Table};
use super::{Frame, MESSAGE_CHARS, Section, command, figures, left_out, name, place};
use crate::text::{count, escaped, thousands};
use crate::words;
use hypocenter_results::predicted::{
    Access, Conflict, CrashCame, CrashMoment, DrawnRun, Forecasting, Prediction, Triggered,
};
use hypocenter_results::{Document, Finding};

/// Findings that are shown.
const FINDINGS_SHOWN: usize = 50;

pub fn page(document: &Document<Prediction>) -> String {
    let Document { header, detail: it } = document;
    let chip = match (&it.standing, it.findings.len() as u64) {
        (Forecasting::NormalFails { .. }, _) => ("no", "fails without a fault".to_owned()),
        (Forecasting::Incomplete { .. }, _) => ("no", "no verdict".to_owned()),
        (_, 0) => ("yes", "every crash is survived".to_owned()),
        (_, some) => ("bad", count(some, "finding", "findings")),
    };
    let proof = format!(
        "{} without a fault, {} with a crash, {} of them survived; {}. It took {}.",
        count(it.runs.normal, "run", "runs"),
        thousands(it.runs.crashed),
        thousands(it.runs.correct),
        count(it.runs.triggers, "trigger", "triggers"),
        words::seconds((header.seconds * 1e3) as u64)
    );
    let rest = it.findings.first().map_or_else(String::new, |it| command(&it.replay) + "\n");
    let frame = Frame {
        header,
        is_found: !it.findings.is_empty(),
        chip,
        verdict: words::predicted(it),
        proof: Some(proof),
        rest: rest + &place(header.directory.as_deref()),
    };
    let unconfirmed = "No replay has shown these again, or none was made.";
    let lead = "The node crashes at the red line. What it leaves there, its restart cannot handle. W is the write beside which it crashes, R \
                a read of the recovery on the same file.";
    let sections = [
        findings(&it.findings, "findings", "Crashes that are not survived", lead),
        findings(&it.unconfirmed, "unconfirmed", "Seen, not confirmed", unconfirmed),
        reports(it),
        pruned(it),
        Some(coverage(it)),
    ];
    frame.page(sections.into_iter().flatten())
}

fn findings(all: &[Finding<Conflict>], id: &'static str, title: &str, lead: &str) -> Option<Section> {
    let mut body: String = all.iter().take(FINDINGS_SHOWN).map(one).collect();
    body += &left_out(all.len(), FINDINGS_SHOWN, "summary.json has all.");
    (!all.is_empty()).then(|| Section { id, title: title.to_owned(), lead: lead.to_owned(), body })
}

fn one(it: &Finding<Conflict>) -> String {
    let conflict = &it.detail;
    let mut text = format!("<article class=\"finding\">\n<h3>{}</h3>\n<p>{}</p>\n", name(&words::crash(conflict)), escaped(&it.why, MESSAGE_CHARS));
    text += &both(|width| drawing(&conflict.runs, width), &words::crash(conflict));
    text += &conflict.runs.iter().map(operations).collect::<String>();
    text += "<dl class=\"facts\">";
    let mut row = |what: &str, it: String| {
        let _ = write!(text, "<dt>{what}</dt><dd>{}</dd>", escaped(&it, MESSAGE_CHARS));
    };
    row("W", conflict.w.to_string());
    if let Some(r) = &conflict.r {
        row("R", r.to_string());
    }
    let moment = |it: &CrashMoment| it.to_string();
    if let Some(it) = &conflict.window.survived_before {
        row("survived before", moment(it));
    }
    conflict.also.iter().for_each(|it| row("not survived either", moment(it)));
    if let Some(it) = &conflict.window.survived_again {
        row("survived again", moment(it));
    }
    let _ = write!(
        text,
        "</dl>\n<p class=\"dim\">{}: {}</p>\n{}\n</article>\n",
        words::proven(it.proof),
        words::replays(it),
        command(&it.replay)
    );
    text
}

/// Height of a lane, and the place for its name.
const LANE: f64 = 46.0;
const NAME: f64 = 18.0;

/// Runs one above the other on one axis of time, each start of a node as a lane.
fn drawing(runs: &[DrawnRun], width: f64) -> (f64, String) {
    let last = runs.iter().flat_map(|it| it.operations.iter().map(|it| it.at_ms).chain(it.crash_ms));
    let last = last.fold(1.0, f64::max);
    let x = |ms: f64| 12.0 + (width - 24.0) * (ms / last).clamp(0.0, 1.0);
    let (mut text, mut y) = (String::new(), 0.0);
    for run in runs {
        let top = y;
        let mut starts: Vec<(&str, u32)> = run.operations.iter().map(|it| (it.node.as_str(), it.incarnation)).collect();
        starts.dedup();
        starts.sort_unstable();
        starts.dedup();
        for (node, start) in starts {
            y += LANE;
            let label = if start > 1 { format!("{node}, start {start}") } else { format!("{node}, {}", run.title) };
            let _ = write!(
                text,
                "<text class=\"seen\" x=\"12\" y=\"{:.0}\">{}</text><path class=\"base\" d=\"M12 {y:.0}H{:.0}\"/>",
                y - LANE + NAME,
                name(&label),
                width - 12.0
            );
            let here = run.operations.iter().filter(|it| (it.node.as_str(), it.incarnation) == (node, start));
            for it in here {
                let class = match it.part.as_deref() {
                    Some("W") => "node",
                    Some(_) => "node negation",
                    None => "rate",
                };
                let radius = if it.part.is_some() { 6 } else { 3 };
                let _ = write!(
                    text,
                    "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y:.0}\" r=\"{radius}\"><title>{}</title></circle>",
                    x(it.at_ms),
                    name(&it.what)
                );
                if let Some(part) = &it.part {
                    let _ = write!(
                        text,
                        "<text class=\"how\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.0}\">{}</text>",
                        x(it.at_ms),
                        y - 9.0,
                        name(part)
                    );
                }
            }
        }
        if let Some(ms) = run.crash_ms {
            let _ = write!(
                text,
                "<path class=\"arc fault-line\" d=\"M{x:.1} {top:.0}V{y:.0}\"/><text class=\"how\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.0}\">crash</text>",
                y + 16.0,
                x = x(ms)
            );
            y += 20.0;
        }
    }
    (y + 14.0, text)
}

/// The operations of a run as a list.
fn operations(run: &DrawnRun) -> String {
    let row = |it: &hypocenter_results::predicted::DrawnOperation| {
        format!(
            "<tr><td class=\"n\">{:.1} ms</td><td>{}</td><td class=\"n\">{}</td><td>{}</td><td><code>{}</code></td></tr>",
            it.at_ms,
            name(&it.node),
            it.incarnation,
            name(it.part.as_deref().unwrap_or_default()),
            name(&it.what)
        )
    };
    format!(
        "<details><summary>Operations {} on these files</summary><div class=\"scroll\"><table><thead><tr><th>time</th><th>node</th>\
         <th>start</th><th></th><th>first of its kind</th></tr></thead><tbody>{}</tbody></table></div></details>\n",
        name(&run.title),
        run.operations.iter().map(row).collect::<String>()
    )
}

fn reports(it: &Prediction) -> Option<Section> {
    let mut table = Table::new(Kind {
        nouns: ("report", "reports"),
        headings: &["verdict", "node", "crash", "read of the recovery", "harm", "trial"],
        hint: "file, method, verdict",
        whole: "summary.json has all.",
    });
    for report in &it.reports {
        let why = match &report.triggered {
            Triggered::Unconfirmed { why } | Triggered::Handled { why } | Triggered::NotReached { why } => format!(": {why}"),
            Triggered::Untried | Triggered::Confirmed | Triggered::Benign => String::new(),
        };
        let harm = report.impact.as_ref().map_or_else(String::new, |it| format!("{} at {}", it.what, it.at));
        let cells = [
            format!("{}{why}", report.triggered.name()),
            report.w.node.clone(),
            format!("{} {}", report.side, report.w),
            report.r.to_string(),
            harm,
            report.trial.map_or_else(String::new, |it| it.to_string()),
        ];
        table.push(report.triggered == Triggered::Confirmed, &cells);
    }
    let lead = "Pairs of a write before the crash and a read of the recovery on the same file that no rule left out.".to_owned();
    let title = "Reports".to_owned();
    (!it.reports.is_empty()).then(|| Section { id: "reports", title, lead, body: table.body() })
}

fn pruned(it: &Prediction) -> Option<Section> {
    let mut table = Table::new(Kind {
        nouns: ("pair", "pairs"),
        headings: &["rule", "write", "read of the recovery", "why"],
        hint: "file, method, rule",
        whole: "summary.json has more.",
    });
    let shown = |it: &Access| format!("{}: {it}", it.node);
    for pair in &it.left_out {
        table.push(false, &[pair.rule.name().to_owned(), shown(&pair.w), shown(&pair.r), pair.why.clone()]);
    }
    let lead = format!("{} that the system is prepared for, by the rule that says so.", count(it.pruned.all(), "pair", "pairs"));
    let title = "Left out".to_owned();
    (!it.left_out.is_empty()).then(|| Section { id: "left-out", title, lead, body: table.body() })
}

fn coverage(it: &Prediction) -> Section {
    let mut body = figures(&[
        ("operations", thousands(it.operations)),
        ("pairs", thousands(it.pairs)),
        ("left out by control", thousands(it.pruned.control)),
        ("by reset", thousands(it.pruned.reset)),
        ("by impact", thousands(it.pruned.impact)),
        ("writes that no recovery reads", thousands(it.unmatched)),
    ]);
    body += "<div class=\"scroll\"><table><thead><tr><th>node</th><th>operations</th><th>crash before</th><th>trial</th><th>starts</th>\
             <th>came</th></tr></thead><tbody>";
    for node in &it.nodes {
        if let Some(why) = &node.left_out {
            let _ = write!(
                body,
                "<tr><td>{}</td><td class=\"n\">{}</td><td colspan=\"4\">left out: {}</td></tr>",
                name(&node.name),
                thousands(node.operations),
                escaped(why, MESSAGE_CHARS)
            );
        }
        for run in &node.crashes {
            let came = match &run.came {
                None => "not run".to_owned(),
                Some(CrashCame::Correct) => "survived".to_owned(),
                Some(CrashCame::Failed { why }) => format!("not survived: {why}"),
                Some(CrashCame::NotReached { why }) => format!("not reached: {why}"),
            };
            let _ = write!(
                body,
                "<tr><td>{}</td><td class=\"n\">{} of {}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
                name(&node.name),
                thousands(run.at),
                thousands(node.operations),
                name(&run.before.to_string()),
                run.trial,
                run.starts,
                escaped(&came, MESSAGE_CHARS)
            );
        }
    }
    body += "</tbody></table></div>";
    let lead = "Runs with a crash that are survived show the recovery. The others are findings of their own.".to_owned();
    Section { id: "coverage", title: "What was run".to_owned(), lead, body }
}
