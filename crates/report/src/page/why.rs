//! Why the fault that was found was tried before others: points by rule.

use std::fmt::Write;

use super::{MESSAGE_CHARS, Section};
use crate::text::{count, escaped, thousands};
use crate::words;
use hypocenter_results::reproduced::Reproduction;
use hypocenter_results::{Document, Score};

pub fn section(summary: &Document<Reproduction>) -> Option<Section> {
    let found = summary.detail.found.first()?;
    let score = summary.detail.round(found.detail.round)?.score.as_ref()?;
    let lead = format!(
        "{}{}. The fault with the fewest points is tried first; one point is one step of the causal graph.",
        count(score.total(), "point", "points"),
        aimed(summary, score)
    );
    let mut body = String::from(
        "<div class=\"scroll\"><table><thead><tr><th>points</th><th>rule</th><th>reason</th></tr></thead><tbody>",
    );
    for it in &score.points {
        let rule = summary.detail.rules.iter().find(|rule| rule.name == it.rule);
        let _ = write!(
            body,
            "<tr><td class=\"n\">{}</td><td><code>{}</code></td><td>{}</td></tr>",
            thousands(it.points.into()),
            escaped(&it.rule, MESSAGE_CHARS),
            rule.map_or_else(String::new, |it| escaped(&it.why, MESSAGE_CHARS))
        );
    }
    body.push_str("</tbody></table></div>");
    Some(Section { id: "why", title: "Why this was tried first".to_owned(), lead, body })
}

/// The line at which it was aimed.
fn aimed(summary: &Document<Reproduction>, score: &Score) -> String {
    let of_key = |key: u32| summary.detail.missing.iter().find(|it| it.key == key);
    score.aimed.and_then(of_key).map_or_else(String::new, |it| {
        let line = words::line_of(it.line, &escaped(&it.node, MESSAGE_CHARS), summary.detail.logs.len() > 1);
        format!(", aimed at {line}, <span class=\"mono\">{}</span>", escaped(&it.message, MESSAGE_CHARS))
    })
}
