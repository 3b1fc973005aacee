//! The page of a campaign of `cascade`: each cycle as a ring.

use std::f64::consts::PI;
use std::fmt::Write;

use super::drawing::{both, wrapped};
use super::{Frame, MESSAGE_CHARS, Section, command, figures, left_out, name, place};
use crate::text::{count, escaped, thousands};
use crate::words::{self, test};
use hypocenter_results::cascaded::{Cascade, CascadeKind, CascadeStep, Cycle};
use hypocenter_results::{Document, Finding};

/// Cycles and steps that are shown.
const CYCLES_SHOWN: usize = 50;
const STEPS_SHOWN: usize = 500;
/// Clusters that are listed.
const CLUSTERS_SHOWN: usize = 100;

pub fn page(document: &Document<Cascade>) -> String {
    let Document { header, detail: it } = document;
    let is_found = !it.cycles.is_empty();
    let chip = match it.cycles.len() as u64 {
        0 if it.tests.iter().all(|it| it.left_out.is_some()) => {
            ("no", "tests fail without a fault".to_owned())
        }
        0 => ("yes", "no cycle".to_owned()),
        some => ("bad", count(some, "cycle", "cycles")),
    };
    let frame = Frame {
        header,
        is_found,
        chip,
        verdict: words::cascaded(it),
        proof: Some(format!(
            "{} in {}, {}. It took {}.",
            count(it.experiments.made, "experiment", "experiments"),
            count(it.tests.len() as u64, "test", "tests"),
            count(it.runs, "run", "runs"),
            words::seconds((header.seconds * 1e3) as u64)
        )),
        rest: place(header.directory.as_deref()),
    };
    frame.page([cycles(it), steps(it), clusters(it), Some(coverage(it))].into_iter().flatten())
}

fn cycles(it: &Cascade) -> Option<Section> {
    let mut body: String = it.cycles.iter().take(CYCLES_SHOWN).map(one).collect();
    body += &left_out(it.cycles.len(), CYCLES_SHOWN, "summary.json has all.");
    let lead = "Each arrow is an experiment: the fault at its start was injected into the test that is named, and the fault at its end \
                followed, which runs of that test without the fault do not show.";
    let (title, lead) = ("Cycles".to_owned(), lead.to_owned());
    (!it.cycles.is_empty()).then_some(Section { id: "cycles", title, lead, body })
}

fn one(it: &Finding<Cycle>) -> String {
    let steps = &it.detail.steps;
    let mut text = String::from("<article class=\"finding\">\n");
    text += &both(|width| ring(steps, width), &it.why);
    text += &table(steps);
    let found = match it.detail.in_one_test {
        true => "One test shows the whole cycle, so a single fault in it is enough to see it.".to_owned(),
        false => format!(
            "No test shows the whole cycle. Found in phase {}; as many experiments chosen at random have all of its own with a \
             probability of {:.0} %.",
            it.detail.phase,
            it.detail.by_chance * 100.0
        ),
    };
    let _ = write!(text, "<p class=\"dim\">{}. {found}</p>\n</article>\n", words::proven(it.proof));
    text
}

/// Experiments as a table, each with its command.
fn table(steps: &[CascadeStep]) -> String {
    let mut text = String::from(
        "<div class=\"scroll\"><table><thead><tr><th></th><th>injected</th><th>test</th><th>followed by</th><th>with the fault</th>\
         <th>without</th><th>p</th><th>command</th></tr></thead><tbody>",
    );
    for it in steps {
        let numbers = |of: &[u64]| of.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let injected = it.injected.as_ref().map_or_else(String::new, |it| format!("{it}: "));
        let note = it.note.as_deref().map_or_else(String::new, |it| {
            format!("<br><span class=\"dim\">{}</span>", escaped(it, MESSAGE_CHARS))
        });
        let _ = write!(
            text,
            "<tr><td>{}</td><td>{}{note}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            it.kind.name(),
            name(&format!("{injected}{}", it.cause)),
            name(it.test.as_deref().map_or("", test)),
            name(&it.effect.to_string()),
            numbers(&it.with),
            numbers(&it.without),
            it.p.map_or_else(String::new, |it| format!("{it:.3}")),
            if it.replay.is_empty() { String::new() } else { command(&it.replay) },
        );
    }
    text + "</tbody></table></div>"
}

/// The faults of a cycle around a circle, and an arrow from each to the next.
fn ring(steps: &[CascadeStep], width: f64) -> (f64, String) {
    let is_wide = width > 600.0;
    let (radius, height) = if is_wide { (150.0, 440.0) } else { (105.0, 380.0) };
    let (x, y) = (width / 2.0, height / 2.0);
    let at = |turn: f64, radius: f64| {
        let angle = turn * 2.0 * PI - PI / 2.0;
        (x + radius * angle.cos(), y + radius * angle.sin())
    };
    let all = steps.len().max(1) as f64;
    let mut text = String::from(
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0 8 4 0 8z\" class=\"tip\"/></marker></defs>",
    );
    let gap = 0.03;
    for (number, step) in steps.iter().enumerate() {
        let (from, to) = (number as f64 / all, (number as f64 + 1.0) / all);
        let ((x1, y1), (x2, y2)) = (at(from + gap, radius), at(to - gap, radius));
        let large = i32::from(to - from - 2.0 * gap > 0.5);
        let _ = write!(
            text,
            "<path class=\"arc\" marker-end=\"url(#tip)\" d=\"M{x1:.1} {y1:.1}A{radius} {radius} 0 {large} 1 {x2:.1} {y2:.1}\"/>"
        );
        // Inside: what the arrow is; outside: the fault.
        let (tx, ty) = at((from + to) / 2.0, radius * if all > 1.0 { 0.55 } else { 0.0 });
        let test = step.test.as_deref().map_or("", test);
        for (line, part) in [step.kind.name(), test].iter().enumerate() {
            for (more, part) in wrapped(part, 24, 2).iter().enumerate() {
                let class = if line == 0 { "how" } else { "where" };
                let dy = 15.0 * (line + more) as f64;
                let _ = write!(
                    text,
                    "<text class=\"{class}\" text-anchor=\"middle\" x=\"{tx:.1}\" y=\"{:.1}\">{}</text>",
                    ty + dy,
                    escaped(part, 60)
                );
            }
        }
        let (cx, cy) = at(from, radius);
        let class = match step.cause.kind {
            CascadeKind::Delay => "delay",
            CascadeKind::Exception => "exception",
            CascadeKind::Negation => "negation",
        };
        let _ = write!(text, "<circle class=\"node {class}\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"8\"/>");
        let (lx, ly) = at(from, radius + 22.0);
        let anchor = match lx - x {
            it if it > 20.0 && is_wide => "start",
            it if it < -20.0 && is_wide => "end",
            _ => "middle",
        };
        let lines = wrapped(&words::brief_fault(&step.cause), if is_wide { 46 } else { 30 }, 3);
        let up = if ly < y { 14.0 * (lines.len() as f64 - 1.0) } else { -8.0 };
        for (line, part) in lines.iter().enumerate() {
            let _ = write!(
                text,
                "<text class=\"fault\" text-anchor=\"{anchor}\" x=\"{lx:.1}\" y=\"{:.1}\">{}</text>",
                ly - up + 14.0 * line as f64,
                escaped(part, 80)
            );
        }
    }
    (height, text)
}

/// All steps, also those that close no cycle.
fn steps(it: &Cascade) -> Option<Section> {
    let shown = &it.steps[..it.steps.len().min(STEPS_SHOWN)];
    let body = format!(
        "<details><summary>The list</summary>{}{}</details>",
        table(shown),
        left_out(it.steps.len(), STEPS_SHOWN, "summary.json has all.")
    );
    let lead = format!(
        "{} were seen; those that close no cycle are of use where a cycle is expected and was not found.",
        count(it.steps.len() as u64, "step", "steps")
    );
    let title = "All steps".to_owned();
    (!it.steps.is_empty()).then_some(Section { id: "steps", title, lead, body })
}

fn clusters(it: &Cascade) -> Option<Section> {
    let mut body = String::from(
        "<details><summary>The list</summary><div class=\"scroll\"><table><thead><tr><th>faults</th><th>alike</th></tr></thead><tbody>",
    );
    for cluster in it.clusters.iter().take(CLUSTERS_SHOWN) {
        let faults: Vec<String> = cluster.faults.iter().take(20).map(|it| name(&it.to_string())).collect();
        let more = cluster.faults.len().saturating_sub(faults.len());
        let more = if more > 0 { format!("<br>and {more} more") } else { String::new() };
        let _ = write!(
            body,
            "<tr><td>{}{more}</td><td class=\"n\">{:.2}</td></tr>",
            faults.join("<br>"),
            cluster.alike
        );
    }
    body += "</tbody></table></div>";
    body += &left_out(it.clusters.len(), CLUSTERS_SHOWN, "summary.json has all.");
    body += "</details>";
    let lead = "Faults with like consequences. Experiments went first to clusters whose consequences depend most on the test (low figures)."
        .to_owned();
    let title = "Clusters of faults".to_owned();
    (!it.clusters.is_empty()).then_some(Section { id: "clusters", title, lead, body })
}

fn coverage(it: &Cascade) -> Section {
    let mut body = figures(&[
        ("loops", thousands(it.faults.delays)),
        ("exceptions", thousands(it.faults.exceptions)),
        ("detectors", thousands(it.faults.negations)),
        ("reached by no test", thousands(it.faults.unreached)),
        (
            "experiments",
            format!("{} of {}", thousands(it.experiments.made), thousands(it.experiments.budget)),
        ),
        ("never injected", thousands(it.experiments.void)),
        (
            "growth by chance",
            format!("{} of {}", thousands(it.false_growth.part), thousands(it.false_growth.of)),
        ),
    ]);
    body += "<div class=\"scroll\"><table><thead><tr><th>test</th><th>seconds</th><th>faults reached</th><th></th></tr></thead><tbody>";
    for row in it.tests.iter().take(STEPS_SHOWN) {
        let _ = write!(
            body,
            "<tr><td>{}</td><td class=\"n\">{:.1}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            name(&row.name),
            row.seconds,
            thousands(row.reached),
            escaped(row.left_out.as_deref().unwrap_or_default(), MESSAGE_CHARS)
        );
    }
    body += "</tbody></table></div>";
    body += &left_out(it.tests.len(), STEPS_SHOWN, "summary.json has all.");
    let lead = "Growth by chance: loops that seem to run more often in runs without a fault compared with other runs without a fault. It \
                tells how far the steps can be trusted."
        .to_owned();
    Section { id: "coverage", title: "What was tried".to_owned(), lead, body }
}
