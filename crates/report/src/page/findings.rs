//! The suspicious findings, each with its story: the fault, what was wrong, what every client saw, and where the task was.

use std::fmt::Write;

use hypocenter_plan::Role;

use super::{MESSAGE_CHARS, Section, command, left_out, machine, name, sentence, stack};
use crate::text::{count, escaped, thousands};
use crate::words::{self, Sentence, state};
use hypocenter_results::Finding;
use hypocenter_results::explored::{Exploration, Saw, Suspicion};

/// Maximum number of findings, and of processes of each.
const FINDINGS_SHOWN: usize = 50;
const PROCESSES_SHOWN: usize = 60;

pub fn section(it: &Exploration) -> Option<Section> {
    if it.findings.is_empty() {
        return None;
    }
    let mut body = String::new();
    for (number, finding) in it.findings.iter().take(FINDINGS_SHOWN).enumerate() {
        body += &one(finding, number + 1, it);
    }
    body.push_str(&left_out(it.findings.len(), FINDINGS_SHOWN, "summary.json has all."));
    let lead = "Each is one fault that broke part of the service, confirmed by replays of it alone, worst first. The page shows the trial that the command replays.";
    Some(Section { id: "findings", title: "Findings".to_owned(), lead: lead.to_owned(), body })
}

fn one(finding: &Finding<Suspicion>, number: usize, of: &Exploration) -> String {
    let it = &finding.detail;
    let severity = it.severity.name();
    let mut text = format!(
        "<article class=\"finding {severity}\" id=\"finding-{number}\">\n<p class=\"over\"><span class=\"chip {severity}\">{severity}</span> {}</p>\n<h3>{}</h3>\n",
        seen(finding),
        sentence(&told(finding, of.has_several_nodes()))
    );
    text += "<ul class=\"symptoms\">";
    for symptom in it.symptoms.iter().take(20) {
        let _ = write!(
            text,
            "<li class=\"{}\">{}</li>",
            symptom.severity.name(),
            escaped(&symptom.why, MESSAGE_CHARS)
        );
    }
    let _ = write!(text, "</ul>\n{}\n", command(&finding.replay));
    text += &processes(&it.processes);
    if let Some(task) = it.state.as_deref().and_then(|state| machine::task_of(&of.tasks, state)) {
        let _ = write!(
            text,
            "<h4>State of the task: <code>{}</code></h4>\n{}",
            name(&words::state(&task.name)),
            machine::drawing(task, &it.ways, it.state.as_deref().unwrap_or_default())
        );
    }
    let _ = write!(
        text,
        "<details class=\"why\"><summary>Comparison with similar faults, and the stack</summary>{}{}</details>\n</article>\n",
        compared(finding),
        stack(finding.injected())
    );
    text
}

/// The fault, and the state in which it happened.
fn told(it: &Finding<Suspicion>, several_nodes: bool) -> Sentence {
    let said = Sentence::default().and(words::one(it.injected(), several_nodes));
    match &it.detail.state {
        Some(at) => said.words(", in the state ").name(state(at)).words("."),
        None => said.words("."),
    }
}

fn seen(it: &Finding<Suspicion>) -> String {
    format!(
        "shown by {}, first by number {}, and by {}",
        count(it.detail.trials, "trial", "trials"),
        thousands(it.detail.first_trial),
        words::replays(it)
    )
}

fn compared(it: &Finding<Suspicion>) -> String {
    match words::compared(it) {
        None => "<p>No similar fault was tried.</p>".to_owned(),
        Some(matters) => {
            format!("<p>{}.</p>", escaped(&capital(&matters), MESSAGE_CHARS))
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |it| it.to_uppercase().chain(chars).collect())
}

/// Results of nodes and clients.
fn processes(all: &[Saw]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let (nodes, clients): (Vec<&Saw>, Vec<&Saw>) = all.iter().partition(|it| it.role != Role::Client);
    // Of a command alone there is nothing to say but how it ended.
    let (title, columns) = match clients.is_empty() {
        true => ("End", ""),
        false => ("Result of every client", "<th>talks to</th><th>steps</th>"),
    };
    let mut text = format!(
        "<h4>{title}</h4>\n<div class=\"scroll\"><table class=\"saw\"><thead><tr><th></th>{columns}<th>end</th></tr></thead><tbody>",
    );
    for it in clients.iter().chain(&nodes).take(PROCESSES_SHOWN) {
        let class = if it.is_well { "" } else { " class=\"hit\"" };
        let phase = it
            .phase
            .filter(|it| *it > 1)
            .map_or_else(String::new, |it| format!(" <span class=\"dim\">phase {it}</span>"));
        let columns = match clients.is_empty() {
            true => String::new(),
            false => {
                let node = it.node.as_deref().map_or_else(String::new, name);
                format!("<td>{node}</td><td>{}</td>", steps(it))
            }
        };
        let (called, ended) = (name(&it.name), ended(it));
        let _ = write!(text, "<tr{class}><td><b>{called}</b>{phase}</td>{columns}<td>{ended}</td></tr>");
    }
    text += "</tbody></table></div>\n";
    text + &left_out(all.len(), PROCESSES_SHOWN, "outcome.json of the trial has all.")
}

fn steps(it: &Saw) -> String {
    let Some(steps) = it.steps.filter(|it| *it > 0) else { return String::new() };
    let made = it.progress.unwrap_or(0);
    let share = made.min(steps) as f64 / steps as f64;
    format!(
        "{} {} of {}",
        super::drawing::bar(&[(share, if share < 1.0 { "bad" } else { "good" })]),
        thousands(made),
        thousands(steps)
    )
}

fn ended(it: &Saw) -> String {
    let end = it.end.as_deref().unwrap_or("alive at the end");
    let says = match it.alive {
        Some(true) => ", and reports healthy",
        Some(false) => ", and reports unhealthy",
        None => "",
    };
    escaped(&format!("{end}{says}"), MESSAGE_CHARS)
}
