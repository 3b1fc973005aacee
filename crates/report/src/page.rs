//! The page: one file, with its style, its drawings and a small script.
//!
//! What is at once in the document is little, however long the campaign was: long tables and logs are in it as inert text, of which
//! the script shows what is asked for. Without a script the page has all but that.

mod cause;
mod drawing;
mod lanes;
mod logs;
mod ranks;
mod tried;

use std::fmt::Write;

use crate::Report;
use crate::summary::{Found, Missing, Summary};
use crate::text::{count, escaped, thousands};
use crate::words::{self, Bit, Sentence};

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");
/// Nothing is loaded, and no script runs but ours: this is its SHA-256.
const SCRIPT_HASH: &str = include_str!("page/script.sha256");

/// How much of a name is shown, and of a message.
const NAME_CHARS: usize = 160;
const MESSAGE_CHARS: usize = 2_000;
/// A verdict that is longer is set smaller.
const LONG_CHARS: usize = 200;
/// Things of the failure log that are listed.
const MISSING_SHOWN: usize = 200;
/// Further faults that bring the failure and are listed.
const FOUND_SHOWN: usize = 100;

/// A section.
struct Section {
    id: &'static str,
    title: String,
    /// What there is to know before looking at it.
    lead: String,
    body: String,
}

pub fn page(report: &Report<'_>) -> String {
    let summary = report.summary;
    let title = format!("{} \u{b7} hypocenter", escaped(&summary.campaign, NAME_CHARS));
    let mut page = String::new();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        SCRIPT_HASH.trim()
    );
    page.push_str(&head(summary));
    let sections: Vec<Section> = [
        cause::section(report),
        lanes::section(report),
        logs::section(report),
        others(summary),
        ranks::section(summary),
        tried::section(summary),
        missing(summary),
        Some(figures(report)),
    ]
    .into_iter()
    .flatten()
    .collect();
    page.push_str("<nav aria-label=\"Sections\"><ul>");
    for it in &sections {
        let _ = write!(page, "<li><a href=\"#{}\">{}</a></li>", it.id, it.title);
    }
    page.push_str("</ul></nav>\n<main>\n");
    for it in &sections {
        let _ = write!(page, "<section id=\"{}\">\n<h2>{}</h2>\n", it.id, it.title);
        if !it.lead.is_empty() {
            let _ = writeln!(page, "<p class=\"lead\">{}</p>", it.lead);
        }
        let _ = write!(page, "{}\n</section>\n", it.body);
    }
    let _ = write!(
        page,
        "</main>\n<footer>hypocenter {} \u{b7} this page asks for nothing from any network</footer>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&summary.tool, NAME_CHARS)
    );
    page
}

/// The verdict, the proof and the command.
fn head(summary: &Summary) -> String {
    let (class, word) = if summary.reproduced { ("yes", "reproduced") } else { ("no", "not reproduced") };
    let verdict = words::verdict(summary);
    let long = if verdict.plain().chars().count() > LONG_CHARS { " class=\"long\"" } else { "" };
    let mut head = format!(
        "<header class=\"{class}\">\n{}<p class=\"over\"><b>hypocenter</b> {} <span class=\"chip {class}\">{word}</span></p>\n\
         <h1{long}>{}</h1>\n",
        logo(),
        name(&format!("{} \u{b7} workload {}", summary.campaign, summary.workload)),
        sentence(&verdict)
    );
    if let Some(proof) = words::proof(summary) {
        let _ = writeln!(head, "<p class=\"proof\">{}</p>", escaped(&proof, MESSAGE_CHARS));
    }
    if let Some(replay) = &summary.replay {
        let _ = writeln!(head, "{}", command(replay));
    }
    if let Some(found) = summary.found.first() {
        let _ = writeln!(
            head,
            "<details class=\"why\"><summary>What the oracle saw</summary><p class=\"mono\">{}</p>{}</details>",
            escaped(&found.why, MESSAGE_CHARS),
            stack(found)
        );
    }
    head.push_str("</header>\n");
    head
}

/// The stack at which a fault went in.
fn stack(found: &Found) -> String {
    let mut text = String::new();
    for it in &found.faults {
        let frames = it.at.stack.iter().take(32);
        let frames: String =
            frames.map(|it| format!("<li>{}</li>", escaped(&it.to_string(), NAME_CHARS))).collect();
        if !frames.is_empty() {
            let _ = write!(text, "<p>Where the fault went in:</p><ol class=\"stack mono\">{frames}</ol>");
        }
    }
    text
}

/// A command to copy.
fn command(text: &str) -> String {
    let text = escaped(text, MESSAGE_CHARS);
    format!(
        "<div class=\"command\"><code>{text}</code><button type=\"button\" class=\"copy\" aria-label=\"Copy the command\">Copy</button></div>"
    )
}

fn sentence(it: &Sentence) -> String {
    let bit = |it: &Bit| match it {
        Bit::Words(it) => escaped(it, MESSAGE_CHARS),
        Bit::Name(it) => format!("<code>{}</code>", broken(&escaped(it, NAME_CHARS))),
    };
    it.0.iter().map(bit).collect()
}

/// Escaped text that may be broken behind its dots.
fn broken(escaped: &str) -> String {
    escaped.replace('.', ".<wbr>")
}

fn name(text: &str) -> String {
    escaped(text, NAME_CHARS)
}

/// Waves around a point.
fn logo() -> &'static str {
    "<svg class=\"logo\" viewBox=\"0 0 48 48\" aria-hidden=\"true\"><circle cx=\"24\" cy=\"24\" r=\"4\"/>\
     <circle cx=\"24\" cy=\"24\" r=\"11\" class=\"w1\"/><circle cx=\"24\" cy=\"24\" r=\"17\" class=\"w2\"/>\
     <circle cx=\"24\" cy=\"24\" r=\"23\" class=\"w3\"/></svg>"
}

/// What else brings the failure.
fn others(summary: &Summary) -> Option<Section> {
    let rest = summary.found.get(1..).filter(|it| !it.is_empty())?;
    let mut body = String::from(
        "<div class=\"scroll\"><table><thead><tr><th>round</th><th>fault</th><th>replays</th><th>command</th></tr></thead><tbody>",
    );
    for found in rest.iter().take(FOUND_SHOWN) {
        let what: Vec<String> = found.faults.iter().map(whole).collect();
        let replay =
            format!("hypocenter replay {}/{}", summary.campaign, found.replayed.unwrap_or(found.trial));
        let _ = write!(
            body,
            "<tr><td class=\"n\">{}</td><td>{}</td><td>{} of {}</td><td>{}</td></tr>",
            found.round,
            what.join("<br>"),
            found.hits,
            found.runs,
            command(&replay)
        );
    }
    body.push_str("</tbody></table></div>");
    body.push_str(&left_out(rest.len(), FOUND_SHOWN, "summary.json has all."));
    let lead = count(rest.len() as u64, "other fault brings", "other faults bring") + " the failure too.";
    Some(Section { id: "others", title: "What else brings it".to_owned(), lead, body })
}

fn whole(it: &crate::summary::Injected) -> String {
    let (what, place, when) = words::fault(it);
    format!(
        "<b>{}</b> <code>{}</code> <span class=\"dim\">{}</span>",
        name(&what),
        broken(&name(&place)),
        name(&when)
    )
}

/// What the failure log has and normal runs do not.
fn missing(summary: &Summary) -> Option<Section> {
    if summary.missing.is_empty() {
        return None;
    }
    let mut body = String::from(
        "<details><summary>The list</summary><div class=\"scroll\"><table><thead><tr><th>line</th><th>message</th><th>times</th>\
         <th>sites that lead to it</th><th>rounds that showed it</th></tr></thead><tbody>",
    );
    for it in summary.missing.iter().take(MISSING_SHOWN) {
        let Missing { node, line, message, times, sites, shown, .. } = it;
        let node = if summary.logs.len() > 1 { format!("{} ", name(node)) } else { String::new() };
        let _ = write!(
            body,
            "<tr><td class=\"n\">{node}{}</td><td class=\"mono\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            thousands(u64::from(*line)),
            escaped(message, MESSAGE_CHARS),
            thousands(u64::from(*times)),
            thousands(*sites),
            thousands(*shown)
        );
    }
    body.push_str("</tbody></table></div>");
    body.push_str(&left_out(summary.missing.len(), MISSING_SHOWN, "summary.json has all."));
    body.push_str("</details>");
    let all = summary.missing.len();
    let never = summary.missing.iter().filter(|it| it.shown == 0).count();
    let never = match never {
        0 => "Every one of them came in some round.".to_owned(),
        it => format!("{} came in no round.", thousands(it as u64)),
    };
    let lead = format!(
        "{} in the failure log that normal runs do not show. {never}",
        count(all as u64, "thing is", "things are")
    );
    Some(Section { id: "missing", title: "What was looked for".to_owned(), lead, body })
}

/// What was counted and measured, and what is where.
fn figures(report: &Report<'_>) -> Section {
    let summary = report.summary;
    let mut rows: Vec<(&str, String)> = vec![
        ("sites in the program", thousands(summary.sites_total)),
        ("sites that lead to the failure log", thousands(summary.sites)),
        ("moments at which the workload reaches them", thousands(summary.instances)),
        (
            "rounds",
            format!("{} of at most {}", thousands(summary.tried.len() as u64), thousands(summary.budget)),
        ),
        ("runs without a fault", thousands(summary.normal_runs)),
        ("strategy, seed", format!("{}, {}", name(&summary.strategy), summary.seed)),
        ("time in all", words::seconds((summary.seconds * 1e3) as u64)),
    ];
    let measured = [
        ("the workload ran, median", summary.workload_s.map(|it| words::seconds((it * 1e3) as u64))),
        ("between two rounds, median", summary.between_rounds_ms.map(|it| format!("{it:.0} ms"))),
        ("decisions of a run, median", summary.requests.map(thousands)),
        ("a decision took, median", summary.decision_ns.map(|it| format!("{it:.0} ns"))),
    ];
    rows.extend(measured.into_iter().filter_map(|(what, it)| Some((what, it?))));
    let mut body = String::from("<dl class=\"figures\">");
    for (what, value) in rows {
        let _ = write!(body, "<div><dt>{what}</dt><dd>{value}</dd></div>");
    }
    body.push_str("</dl>\n<details><summary>Files</summary><ul class=\"files\">");
    for (node, path) in summary.logs.iter().take(100) {
        let _ = write!(
            body,
            "<li>failure log of {}: <code>{}</code></li>",
            name(node),
            broken(&escaped(path, MESSAGE_CHARS))
        );
    }
    body.push_str(
        "<li><code>summary.json</code>: all of this for other tools (<code>hypocenter schema summary</code>)</li>\
         <li><code>rounds.jsonl</code>: a line a round</li>\
         <li><code>junit.xml</code>, <code>findings.sarif</code>: for CI and editors</li>\
         <li><code>trials/NNN/</code>: plan, logs and outcome of every trial</li></ul></details>",
    );
    Section { id: "figures", title: "Figures".to_owned(), lead: String::new(), body }
}

/// Says what is not shown.
fn left_out(all: usize, shown: usize, where_it_is: &str) -> String {
    match all.checked_sub(shown) {
        Some(more @ 1..) => {
            format!("<p class=\"dim\">{} more are left out; {where_it_is}</p>", thousands(more as u64))
        }
        _ => String::new(),
    }
}
