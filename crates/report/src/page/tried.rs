//! What was tried: a row a round. The first are in the document, all are in it as inert text for the script.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Section, broken, name};
use crate::summary::{Round, Summary};
use crate::text::{count, escaped, inert, shown, thousands};
use crate::words;

/// Rows that are in the document at once.
const ROWS_OPEN: usize = 40;
/// The most rows that can be searched, and the most bytes for them.
const ROWS_MAX: usize = 20_000;
const BYTES_MAX: usize = 4 << 20;

pub fn section(summary: &Summary) -> Option<Section> {
    if summary.tried.is_empty() {
        return None;
    }
    let mut rows = String::new();
    let mut all: Vec<Value> = Vec::new();
    let mut bytes = 0;
    for round in summary.tried.iter().take(ROWS_MAX) {
        let cells = cells(round, summary);
        if all.len() < ROWS_OPEN {
            rows += &row(&cells);
        }
        let value = json!([round.happened, cells]);
        bytes += value.to_string().len();
        if bytes > BYTES_MAX {
            break;
        }
        all.push(value);
    }
    let (known, total) = (all.len(), summary.tried.len());
    let more = if known > ROWS_OPEN {
        format!(
            "<p class=\"more\"><button type=\"button\" id=\"more\">Show more</button> <span class=\"dim\" id=\"shown\" role=\"status\">{} of {}</span></p>",
            ROWS_OPEN.min(known),
            count(known as u64, "round", "rounds")
        )
    } else {
        format!(
            "<p class=\"more\"><span class=\"dim\" id=\"shown\" role=\"status\">{}</span></p>",
            count(known as u64, "round", "rounds")
        )
    };
    let body = format!(
        "<details open id=\"rounds\"><summary>The rounds</summary>\n\
         <p class=\"search\"><input type=\"search\" id=\"search\" placeholder=\"Search: class, exception, thread, number\" aria-label=\"Search what was tried\" autocomplete=\"off\" spellcheck=\"false\"></p>\n\
         <div class=\"scroll\"><table id=\"tried-table\"><thead><tr><th>round</th><th>fault</th><th>where</th><th>when</th><th>rank</th><th>shows</th><th></th></tr></thead>\n<tbody>{rows}</tbody></table></div>\n\
         {more}{}<script type=\"application/json\" id=\"tried-rows\">{}</script></details>",
        super::left_out(total, known, "rounds.jsonl has all."),
        inert(&Value::Array(all))
    );
    let injected = summary.tried.iter().filter(|it| it.fault.is_some()).count();
    let lead = format!(
        "{}, in {} of which a fault happened. A round is given several faults; the first that is reached happens.",
        count(total as u64, "round", "rounds"),
        thousands(injected as u64)
    );
    Some(Section { id: "tried", title: "What was tried".to_owned(), lead, body })
}

/// Round, what, where, when, rank, what it showed, what came of it.
fn cells(round: &Round, summary: &Summary) -> [String; 7] {
    let (mut what, place, when) = match &round.fault {
        Some(it) => words::fault(it),
        None => ("no fault was reached".to_owned(), String::new(), String::new()),
    };
    for it in &round.kept {
        let (kept, at, _) = words::fault(it);
        what = format!("{kept} at {at}, and {what}");
    }
    let text = |it: &str| shown(it, 240).into_owned();
    let rank =
        round.rank.map_or_else(String::new, |it| format!("{} of {}", thousands(it), thousands(round.left)));
    let shows = format!("{} of {}", thousands(round.shown.len() as u64), thousands(summary.observables));
    let came = if round.happened { "the failure" } else { "" };
    [thousands(round.number), text(&what), text(&place), text(&when), rank, shows, came.to_owned()]
}

fn row(cells: &[String; 7]) -> String {
    let [number, what, place, when, rank, shows, came] = cells;
    let mut text = String::new();
    let class = if came.is_empty() { "" } else { " class=\"hit\"" };
    let _ = write!(
        text,
        "<tr{class}><td>{number}</td><td>{}</td><td>{}</td><td>{}</td><td>{rank}</td><td>{shows}</td><td>{}</td></tr>",
        name(what),
        broken(&escaped(place, 300)),
        name(when),
        name(came)
    );
    text
}
