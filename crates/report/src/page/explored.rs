//! The page of a campaign of `explore`.

use std::fmt::Write;

use super::table::{Kind, Table};
use super::{Frame, MESSAGE_CHARS, Section, command, left_out, name, place, whole};
use super::{course, coverage, findings};
use crate::text::{count, escaped, thousands};
use crate::words::{self, state};
use hypocenter_results::explored::{Exploration, Severity, Standing, Suspicion, Tried};
use hypocenter_results::{Document, Finding, Proof};

/// Further findings that are listed.
const OTHERS_SHOWN: usize = 200;

pub fn page(document: &Document<Exploration>) -> String {
    let Document { header, detail: it } = document;
    let sections = [
        findings::section(it),
        others(
            &it.unconfirmed,
            "unconfirmed",
            "Seen, not confirmed",
            "These were suspicious in a trial, and no replay has confirmed them: they may be coincidence. The commands replay them.",
        ),
        course::section(it),
        coverage::section(it),
        others(
            &it.known,
            "known",
            "Known",
            "These are suspicious, and the configuration lists them as known.",
        ),
        others(
            &it.expected,
            "expected",
            "Expected or minor",
            "Here the fault explains the effect, for example because its own node shut down cleanly, or the effect is minor.",
        ),
        tried(document),
        Some(figures(document)),
    ];
    let is_found = !it.findings.is_empty();
    let chip = match (&it.standing, is_found) {
        (Standing::NormalFails { .. }, _) => ("no", "fails without a fault".to_owned()),
        (_, true) => ("bad", count(it.findings.len() as u64, "finding", "findings")),
        (_, false) if !it.unconfirmed.is_empty() => ("no", "nothing confirmed".to_owned()),
        (_, false) => ("yes", "nothing suspicious".to_owned()),
    };
    let frame = Frame {
        header,
        is_found,
        chip,
        verdict: words::explored(it),
        proof: Some(format!(
            "{}, {} with a fault; threads reached {}. It took {}.",
            count(it.trials, "trial", "trials"),
            thousands(it.injected),
            count(it.states, "abstract state", "abstract states"),
            words::seconds((header.seconds * 1e3) as u64)
        )),
        rest: rest(document),
    };
    frame.page(sections.into_iter().flatten())
}

/// The command that shows the worst again, or what is wrong without a fault.
fn rest(Document { header, detail: it }: &Document<Exploration>) -> String {
    if let Standing::NormalFails { wrong, runs } = &it.standing {
        let item = |(what, failed): &(String, u64)| {
            format!("<li>{}, in {failed} of {runs}</li>", escaped(what, MESSAGE_CHARS))
        };
        return format!("<ul>{}</ul>\n", wrong.iter().take(20).map(item).collect::<String>());
    }
    let place = place(header.directory.as_deref());
    it.findings.first().map_or_else(String::new, |it| command(&it.replay) + "\n" + &place)
}

/// Findings in a line each.
fn others(all: &[Finding<Suspicion>], id: &'static str, title: &str, lead: &str) -> Option<Section> {
    if all.is_empty() {
        return None;
    }
    let mut body = String::from(
        "<details><summary>The list</summary><div class=\"scroll\"><table><thead><tr><th>fault</th><th>effect</th>\
         <th>trials</th><th>command</th></tr></thead><tbody>",
    );
    for it in all.iter().take(OTHERS_SHOWN) {
        let proof = match it.proof {
            Proof::Confirmed => String::new(),
            proof => format!("<br><span class=\"dim\">{}</span>", words::proven(proof)),
        };
        let known = it.detail.known.as_deref().map_or_else(String::new, |it| {
            format!("<br><span class=\"dim\">known: {}</span>", escaped(it, MESSAGE_CHARS))
        });
        let _ = write!(
            body,
            "<tr><td>{}</td><td>{}{proof}{known}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            whole(it.injected()),
            escaped(&it.why, MESSAGE_CHARS),
            thousands(it.detail.trials),
            command(&it.replay)
        );
    }
    body.push_str("</tbody></table></div>");
    body.push_str(&left_out(all.len(), OTHERS_SHOWN, "summary.json has all."));
    body.push_str("</details>");
    Some(Section { id, title: title.to_owned(), lead: lead.to_owned(), body })
}

fn tried(Document { header, detail: it }: &Document<Exploration>) -> Option<Section> {
    if it.tried.is_empty() {
        return None;
    }
    let mut table = Table::new(Kind {
        nouns: ("trial", "trials"),
        headings: &["trial", "fault", "where", "when", "state", "new states", "effect"],
        hint: "class, exception, thread, state, severity",
        whole: "summary.json has all.",
    });
    let several_nodes = it.has_several_nodes();
    for trial in &it.tried {
        table.push(
            trial.severity().is_some_and(|it| it >= Severity::Major),
            &cells(trial, &header.campaign, several_nodes),
        );
    }
    let lead = format!(
        "{}, {} of them with a fault: one fault each, in one state of one thread.",
        count(it.tried.len() as u64, "trial", "trials"),
        thousands(it.injected)
    );
    Some(Section { id: "tried", title: "Trials".to_owned(), lead, body: table.body() })
}

/// Trial, by its number and as `replay` takes it, what, where, when, state, how many states were new, what was seen.
fn cells(trial: &Tried, campaign: &str, several_nodes: bool) -> [String; 7] {
    let (what, place, when) = match &trial.injected {
        Some(it) => words::fault(it),
        None => ("no fault was reached".to_owned(), String::new(), String::new()),
    };
    let node = trial.injected.as_ref().filter(|_| several_nodes);
    let node = node.map_or_else(String::new, |it| format!(" on {}", it.at.node));
    let state = trial.injected.as_ref().and_then(|it| it.at.state.as_deref()).or(trial.focus.as_deref());
    let seen = trial.symptoms.iter().max_by_key(|it| it.severity).map_or_else(
        || if trial.injected.is_some() { "healthy".to_owned() } else { String::new() },
        |it| format!("{}: {}", it.severity.name(), it.why),
    );
    let new = if trial.new_states == 0 { String::new() } else { thousands(trial.new_states) };
    [
        format!("{} ({campaign}/{})", thousands(trial.number), trial.trial),
        what,
        place,
        when + &node,
        state.map_or_else(String::new, self::state),
        new,
        seen,
    ]
}

fn figures(Document { header, detail: it }: &Document<Exploration>) -> Section {
    let mut rows: Vec<(&str, String)> = vec![
        ("trials", thousands(it.trials)),
        ("trials with a fault", thousands(it.injected)),
        ("runs without a fault", thousands(it.normal_runs)),
        ("policy, seed", format!("{}, {}", name(&it.policy), header.seed)),
        ("grouping of injections", thousands(it.keys)),
        ("total time", words::seconds((header.seconds * 1e3) as u64)),
    ];
    if it.resets > 0 {
        rows.push(("restarts of the budgets", count(it.resets, "time", "times")));
    }
    if it.refused > 0 {
        rows.push(("faults that could not be injected", thousands(it.refused)));
    }
    let body = super::figures(&rows)
        + "<details><summary>Files</summary><ul class=\"files\">\
           <li><code>summary.json</code>: all results for other tools (<code>hypocenter schema exploration</code>)</li>\
           <li><code>junit.xml</code>, <code>findings.sarif</code>: for CI and editors</li>\
           <li><code>trials/NNN/</code>: plan, logs and outcome of every trial</li></ul></details>";
    Section { id: "figures", title: "Figures".to_owned(), lead: String::new(), body }
}
