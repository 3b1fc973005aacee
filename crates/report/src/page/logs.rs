//! The log of the failure and that of a trial side by side, what both have in one row.

use std::fmt::Write;

use serde_json::{Value, json};

use super::Report;
use super::{Section, escaped, name};
use crate::text::{count, inert, shown, thousands};
use crate::words;
use hypocenter_results::runs::{Beside, Entries, Interest, Line, Row, RunOf, Runs};

/// Rows that are in the document at once; further ones are unfolded on request.
const ROWS_OPEN: usize = 80;
/// The most rows that can be unfolded, and the most bytes for them.
const ROWS_FOLDED: usize = 6_000;
const BYTES_FOLDED: usize = 2 << 20;
/// Number of open rows around a row of interest.
const AROUND: usize = 2;
/// Fewer rows than this are not worth folding.
const FOLD_MIN: usize = 4;
/// Maximum length of a shown message.
const MESSAGE_CHARS: usize = 300;

pub fn section(report: &Report<'_>) -> Option<Section> {
    let runs = report.runs?;
    let beside = runs.beside.as_ref().filter(|it| !it.rows.is_empty())?;
    let open = open(&beside.rows);
    let writer =
        Writer { report, beside, zero: [RunOf::Failure, RunOf::Trial].map(|it| zero(runs, beside, it)) };
    let mut body = String::from("<div class=\"logs\">\n");
    let trial =
        runs.trial.map_or_else(String::new, |it| format!(" {}/{it}", name(&report.summary.header.campaign)));
    let right = if report.summary.detail.reproduced { "reproduced" } else { "the nearest trial" };
    let _ = writeln!(
        body,
        "<div class=\"row title\"><div>failure log</div><div>{right}<span class=\"dim\">{trial}</span></div></div>"
    );
    let mut folded: Vec<Value> = Vec::new();
    let mut bytes = 0;
    let mut lost = 0;
    let mut at = 0;
    while at < beside.rows.len() {
        if open[at] {
            body += &writer.row(&beside.rows[at]);
            at += 1;
            continue;
        }
        let end = at + open[at..].iter().take_while(|it| !**it).count();
        let first = folded.len();
        let mut gone = 0;
        for row in &beside.rows[at..end] {
            let value = (folded.len() < ROWS_FOLDED && bytes < BYTES_FOLDED).then(|| writer.value(row));
            match (value, row) {
                (Some(value), _) => {
                    bytes += value.to_string().len();
                    folded.push(value);
                }
                (None, Row::Gap(count)) => gone += count,
                (None, _) => gone += 1,
            }
        }
        if folded.len() > first {
            let many = (folded.len() - first) as u64;
            let _ = writeln!(
                body,
                "<div class=\"fold\"><button type=\"button\" class=\"unfold\" data-from=\"{first}\" data-to=\"{}\">\u{22ee} {}</button></div>",
                folded.len(),
                count(many, "row", "rows")
            );
        }
        if gone > 0 {
            body += &gap(gone);
            lost += gone;
        }
        at = end;
    }
    body.push_str("</div>\n");
    let _ = writeln!(
        body,
        "<script type=\"application/json\" id=\"folded\">{}</script>",
        inert(&Value::Array(folded))
    );
    body += &legend(beside, lost);
    let from = if runs.lanes.as_ref().is_some_and(|it| it.from_fault) { "the fault" } else { "the start" };
    let nameless = if are_nameless(&beside.rows) {
        " The logs do not name threads, so each is in its own order, and entries in a different order are in two rows."
    } else {
        ""
    };
    let lead = format!(
        "Matching entries share a row.{nameless} Times are in seconds from {from}, by the clock of each log."
    );
    Some(Section { id: "logs", title: "Side by side".to_owned(), lead, body })
}

/// Tests whether one of the logs names no thread at all.
fn are_nameless(rows: &[Row]) -> bool {
    let sides = rows.iter().filter_map(|it| match it {
        Row::Entries(it) => Some([it.failure.as_ref(), it.trial.as_ref()]),
        _ => None,
    });
    let is_nameless = |side: usize| {
        let mut lines = sides.clone().filter_map(|it| it[side]).peekable();
        lines.peek().is_some() && lines.all(|it| it.thread.is_none())
    };
    is_nameless(0) || is_nameless(1)
}

fn legend(beside: &Beside, lost: u64) -> String {
    let left_out: u64 =
        lost + beside.rows.iter().map(|it| if let Row::Gap(count) = it { *count } else { 0 }).sum::<u64>();
    let mut text = String::from(
        "<ul class=\"legend\"><li><i class=\"symptom\"></i>the failure</li><li><i class=\"observable\"></i>missing from normal runs, or less frequent there</li>\
         <li><i class=\"one\"></i>one log only</li></ul><noscript><p class=\"dim\">Folded rows need the page&#39;s script.</p></noscript>",
    );
    if left_out > 0 {
        let _ = write!(
            text,
            "<p class=\"dim\">{} far from any difference, or beyond the size limit of the page, are left out.</p>",
            count(left_out, "row", "rows")
        );
    }
    text
}

/// Rows that are in the initial document: those around the fault and the failure, then those around entries that normal runs
/// do not show or only one log has, as long as there is room, the nearest first; and what is too little to be folded.
fn open(rows: &[Row]) -> Vec<bool> {
    let mut open = vec![false; rows.len()];
    let mut room = ROWS_OPEN;
    let grade = |row: &Row| match row {
        Row::Fault(_) => 0,
        Row::Entries(it) => match (it.is, it.failure.is_some() && it.trial.is_some()) {
            (Interest::Symptom, true) => 1,
            (Interest::Symptom, false) => 2,
            (Interest::Observable, true) => 3,
            (Interest::Observable, false) => 4,
            (Interest::Around, false) => 5,
            (Interest::Around, true) => 6,
        },
        Row::Gap(_) => 7,
    };
    // What is as interesting as other things comes the sooner, the nearer it is to the fault; without one, to the failure.
    let position = |is: fn(u8) -> bool| rows.iter().position(|it| is(grade(it)));
    let center = position(|it| it == 0).or_else(|| position(|it| it <= 2)).unwrap_or(0);
    let mut wanted: Vec<(u8, usize)> = rows.iter().enumerate().map(|(at, it)| (grade(it), at)).collect();
    // What only one log has is often mere chance.
    let distance = |grade: u8, at: usize| at.abs_diff(center) * if grade == 5 { 4 } else { 1 };
    wanted.sort_by_key(|&(grade, at)| (grade.min(3), distance(grade, at), grade));
    for (grade, at) in wanted.into_iter().filter(|it| it.0 < 6) {
        let around = if grade == 0 { 3 * AROUND } else { AROUND };
        let range = at.saturating_sub(around)..(at + around + 1).min(rows.len());
        let new = open[range.clone()].iter().filter(|it| !**it).count();
        if new > room {
            break;
        }
        room -= new;
        open[range].iter_mut().for_each(|it| *it = true);
    }
    // What says that something is left out is never folded away, and a fold of next to nothing is none.
    let mut at = 0;
    while at < rows.len() {
        let run = open[at..].iter().take_while(|it| !**it).count();
        if run > 0 && run < FOLD_MIN {
            open[at..at + run].iter_mut().for_each(|it| *it = true);
        }
        at += run.max(1);
    }
    for (at, row) in rows.iter().enumerate() {
        open[at] |= matches!(row, Row::Gap(_));
    }
    open
}

/// The moment from which time is counted on the clock of a log, the same as in the timeline; without one, its first entry.
fn zero(runs: &Runs, beside: &Beside, of: RunOf) -> Option<i64> {
    let run = runs.lanes.iter().flat_map(|it| &it.runs).find(|it| it.of == of);
    let time = |row: &Row| match (row, of) {
        (Row::Entries(it), RunOf::Failure) => it.failure.as_ref()?.time_ms,
        (Row::Entries(it), RunOf::Trial) => it.trial.as_ref()?.time_ms,
        _ => None,
    };
    run.map(|it| it.zero_ms).or_else(|| beside.rows.iter().find_map(time))
}

fn gap(count: u64) -> String {
    format!("<div class=\"gap\">{} left out</div>\n", self::count(count, "row", "rows"))
}

struct Writer<'r> {
    report: &'r Report<'r>,
    beside: &'r Beside,
    zero: [Option<i64>; 2],
}

impl Writer<'_> {
    fn row(&self, row: &Row) -> String {
        match row {
            Row::Gap(count) => gap(*count),
            Row::Fault(number) => {
                format!("<div class=\"strike\">{}</div>\n", escaped(&self.fault(*number), 600))
            }
            Row::Entries(it) => format!(
                "<div class=\"row {}\">{}{}</div>\n",
                class(it),
                self.side(it.failure.as_ref(), 0),
                self.side(it.trial.as_ref(), 1)
            ),
        }
    }

    fn fault(&self, number: u32) -> String {
        let found = self.report.summary.detail.found.first();
        let fault = found.and_then(|it| it.faults.get(number as usize));
        fault.map_or_else(
            || "the fault".to_owned(),
            |it| {
                let (what, place, when) = words::fault(it);
                format!("{what} at {place}, {when}")
            },
        )
    }

    /// Shown parts of an entry: time, node, thread, level, message, exception, line.
    fn parts(&self, line: &Line, side: usize) -> [String; 7] {
        let time = match (line.time_ms, self.zero[side]) {
            (Some(time), Some(zero)) => format!("{:+.3}", time.saturating_sub(zero) as f64 / 1e3),
            _ => String::new(),
        };
        let text = |it: &str, chars: usize| shown(it, chars).into_owned();
        let node = if self.beside.several_nodes { text(&line.node, 60) } else { String::new() };
        let level =
            line.level.as_deref().filter(|it| !matches!(*it, "INFO" | "DEBUG" | "TRACE")).unwrap_or("");
        let mut message = text(&line.message, MESSAGE_CHARS);
        let is_cut = self.beside.message_chars_max > 0
            && line.message.chars().count() >= self.beside.message_chars_max;
        if is_cut && !message.ends_with('\u{2026}') {
            message.push('\u{2026}');
        }
        [
            time,
            node,
            text(line.thread.as_deref().unwrap_or(""), 80),
            text(level, 12),
            message,
            text(line.exception.as_deref().map_or("", crate::text::simple), 120),
            thousands(u64::from(line.line)),
        ]
    }

    fn side(&self, line: Option<&Line>, side: usize) -> String {
        let Some(line) = line else { return "<div class=\"none\"></div>".to_owned() };
        let [time, node, thread, level, message, exception, number] = self.parts(line, side);
        let mut text = format!("<div title=\"line {number}\"><span class=\"t\">{time}</span>");
        for (class, it) in [("node", node), ("thread", thread), ("level", level)] {
            if !it.is_empty() {
                let _ = write!(text, "<span class=\"{class}\">{}</span>", escaped(&it, 400));
            }
        }
        let _ = write!(text, "<span class=\"m\">{}</span>", escaped(&message, 4 * MESSAGE_CHARS));
        if !exception.is_empty() {
            let _ = write!(text, "<span class=\"e\">{}</span>", escaped(&exception, 400));
        }
        text.push_str("</div>");
        text
    }

    /// A row for the script, which makes of it what [`Writer::row`] does.
    fn value(&self, row: &Row) -> Value {
        match row {
            Row::Gap(count) => json!(["gap", format!("{} left out", self::count(*count, "row", "rows"))]),
            Row::Fault(number) => json!(["strike", shown(&self.fault(*number), 600)]),
            Row::Entries(it) => {
                let side = |line: &Option<Line>, side| line.as_ref().map(|it| self.parts(it, side));
                json!([format!("row {}", class(it)), side(&it.failure, 0), side(&it.trial, 1)])
            }
        }
    }
}

fn class(it: &Entries) -> String {
    let sides = match (&it.failure, &it.trial) {
        (Some(_), Some(_)) => "both",
        (Some(_), None) => "left",
        _ => "right",
    };
    let is = match it.is {
        Interest::Around => "",
        Interest::Observable => " observable",
        Interest::Symptom => " symptom",
    };
    format!("{sides}{is}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters stand for rows: `b` both logs have, `l` the left one, `s` is the failure, `F` the fault, `g` a gap.
    fn rows(letters: &str) -> Vec<Row> {
        let line = || {
            Some(Line {
                node: String::new(),
                line: 1,
                time_ms: None,
                thread: None,
                level: None,
                message: String::new(),
                exception: None,
            })
        };
        let entries = |failure, trial, is| Row::Entries(Box::new(Entries { failure, trial, is }));
        let row = |it: char| match it {
            'b' => entries(line(), line(), Interest::Around),
            'l' => entries(line(), None, Interest::Around),
            's' => entries(line(), line(), Interest::Symptom),
            'F' => Row::Fault(0),
            'g' => Row::Gap(5),
            _ => panic!("{it}"),
        };
        letters.chars().map(row).collect()
    }

    #[test]
    fn what_is_near_a_difference_is_open() {
        let check = |letters: &str, expected: &str| {
            let open: String = open(&rows(letters)).iter().map(|it| if *it { '+' } else { '.' }).collect();
            assert_eq!(open, expected, "{letters}");
        };
        check("bbbbbbbb", "........");
        check("bbbbbblbbbbbb", "....+++++....");
        check("bblbbbbbblbb", "++++++++++++");
        check("bbbbbgbbbbbb", ".....+......");
    }

    #[test]
    fn the_fault_and_the_failure_are_open_however_much_differs() {
        let letters = "lb".repeat(5_000) + "F" + &"lb".repeat(5_000) + "s";
        let open = open(&rows(&letters));
        assert!(open[10_000] && open[20_001]);
        assert!(open.iter().filter(|it| **it).count() <= ROWS_OPEN);
    }
}
