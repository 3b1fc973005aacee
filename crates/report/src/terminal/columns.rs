//! Two logs side by side, as wide as the screen is.

use hypocenter_results::runs::{self, Beside, Entries, Interest, Row};

use super::{Line, Style};
use crate::text::{cut, middle, simple};

/// The width where there is no screen, and the least and the most that are used.
const WIDTH_DEFAULT: usize = 140;
const WIDTH_MIN: usize = 72;
const WIDTH_MAX: usize = 200;
/// The room for a time.
const TIME_WIDTH: usize = 8;
/// The most room for a thread, and for a node.
const THREAD_WIDTH_MAX: usize = 12;
const NODE_WIDTH_MAX: usize = 8;
/// Maximum number of lines of a message of interest; others get one.
const LINES_MAX: usize = 3;

/// Widths that both sides have in common.
struct Shape {
    /// The width of a side.
    side: usize,
    /// The width of the nodes' names, or nothing if there is one node.
    node: usize,
    thread: usize,
    /// When the fault went in, on the clock of each log.
    zero: [Option<i64>; 2],
}

/// Both logs. `struck` is when the fault happened, on the clock of each; `faults` are named by their numbers in the plan.
pub fn side_by_side(
    beside: &Beside,
    struck: [Option<i64>; 2],
    faults: &[String],
    trial: &str,
    columns: Option<usize>,
) -> Vec<Line> {
    let width = columns.unwrap_or(WIDTH_DEFAULT).clamp(WIDTH_MIN, WIDTH_MAX);
    let shape = Shape::of(beside, struck, width);
    let side = shape.side;
    let right = format!("reproduced, {trial}");
    let head = format!("{:<side$}   {}", cut("failure log", side), cut(&right, side));
    let mut lines = vec![Line::wide(Style::Bold, head)];
    for row in &beside.rows {
        match row {
            Row::Gap(count) => {
                let what = if *count == 1 { "entry" } else { "entries" };
                lines.push(Line::wide(Style::Dim, format!("... {count} {what}")));
            }
            Row::Fault(number) => {
                let what = faults.get(*number as usize).map_or("", String::as_str);
                lines.push(Line::wide(Style::Bad, cut(&format!(">>> {what}"), width - 2)));
            }
            Row::Entries(it) => lines.extend(shape.row(it)),
        }
    }
    let legend = "| both, < only the failure, > only the reproduced run; seconds from the fault";
    lines.push(Line::wide(Style::Dim, legend));
    lines
}

impl Shape {
    fn of(beside: &Beside, struck: [Option<i64>; 2], width: usize) -> Shape {
        let lines = || {
            beside.rows.iter().flat_map(|it| match it {
                Row::Entries(it) => [it.failure.as_ref(), it.trial.as_ref()],
                _ => [None, None],
            })
        };
        let widest = |of: &dyn Fn(&runs::Line) -> usize, most: usize| {
            lines().flatten().map(of).max().unwrap_or(0).min(most)
        };
        let thread = |it: &runs::Line| it.thread.as_ref().map_or(0, |it| it.chars().count());
        let node = |it: &runs::Line| it.node.chars().count();
        Shape {
            side: (width - 5) / 2,
            node: if beside.several_nodes { widest(&node, NODE_WIDTH_MAX) } else { 0 },
            thread: widest(&thread, THREAD_WIDTH_MAX),
            zero: [0, 1].map(|side| struck[side].or_else(|| zero(beside, side))),
        }
    }

    /// A row of entries, in as many lines as the longer side has.
    fn row(&self, it: &Entries) -> Vec<Line> {
        let mark = match (&it.failure, &it.trial) {
            (Some(_), Some(_)) => '|',
            (Some(_), None) => '<',
            _ => '>',
        };
        let style = match (it.is, mark) {
            (Interest::Symptom, _) => Style::Bad,
            (Interest::Observable, _) => Style::Warn,
            (_, '|') => Style::Dim,
            _ => Style::Plain,
        };
        let most = if it.is == Interest::Around { 1 } else { LINES_MAX };
        let left = self.lines(it.failure.as_ref(), 0, most);
        let right = self.lines(it.trial.as_ref(), 1, most);
        let line = |at: usize| {
            let text = |side: &[String]| side.get(at).cloned().unwrap_or_default();
            let left = text(&left);
            let padding = self.side.saturating_sub(left.chars().count());
            let between = format!("{:padding$} {mark} ", "");
            Line::wide(style, left).with(Style::Plain, between).with(style, text(&right))
        };
        (0..left.len().max(right.len())).map(line).collect()
    }

    /// An entry in as many lines as it may have.
    fn lines(&self, line: Option<&runs::Line>, side: usize, most: usize) -> Vec<String> {
        let Some(line) = line else { return Vec::new() };
        let mut head = match (line.time_ms, self.zero[side]) {
            (Some(time_ms), Some(zero)) => format!("{:>TIME_WIDTH$} ", seconds(time_ms.saturating_sub(zero))),
            _ => format!("{:TIME_WIDTH$} ", ""),
        };
        let serious = match line.level.as_deref() {
            Some("WARN") => 'W',
            Some("ERROR" | "FATAL") => 'E',
            _ => ' ',
        };
        head += &format!("{serious} ");
        if self.node > 0 {
            head += &format!("{:<width$} ", cut(&line.node, self.node), width = self.node);
        }
        if self.thread > 0 {
            let thread = middle(line.thread.as_deref().unwrap_or(""), self.thread);
            head += &format!("{thread:<width$} ", width = self.thread);
        }
        let mut text = line.message.replace('\t', " ");
        if let Some(class) = &line.exception {
            text += &format!(" ({})", simple(class));
        }
        let indent = head.chars().count();
        let room = self.side.saturating_sub(indent).max(8);
        wrapped(&text, room, most)
            .into_iter()
            .enumerate()
            .map(|(at, it)| if at == 0 { format!("{head}{it}") } else { format!("{:indent$}{it}", "") })
            .collect()
    }
}

/// Time of the last entry before the fault. Without one, the first entry counts.
fn zero(beside: &Beside, side: usize) -> Option<i64> {
    let time = |row: &Row| match row {
        Row::Entries(it) => [&it.failure, &it.trial][side].as_ref()?.time_ms,
        _ => None,
    };
    let fault = beside.rows.iter().position(|it| matches!(it, Row::Fault(_))).unwrap_or(0);
    let before = beside.rows[..fault].iter().rev().find_map(time);
    before.or_else(|| beside.rows.iter().find_map(time))
}

fn seconds(ms: i64) -> String {
    format!("{:+.3}", ms as f64 / 1e3)
}

/// Text in lines of a width, of which the last is cut if there is more.
fn wrapped(text: &str, width: usize, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > width && lines.len() + 1 < lines_max {
        let space = rest[..=width].iter().rposition(|it| *it == ' ').filter(|&it| it > width / 2);
        let end = space.unwrap_or(width);
        lines.push(rest[..end].iter().collect());
        rest.drain(..end + usize::from(space.is_some()));
    }
    lines.push(cut(&rest.into_iter().collect::<String>(), width));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_where_it_says_least() {
        assert_eq!(wrapped("one two three four", 8, 3), ["one two", "three", "four"]);
        assert_eq!(wrapped("one two three four", 8, 2), ["one two", "three .."]);
        assert_eq!(wrapped("onetwothreefour", 6, 2), ["onetwo", "thre.."]);
        assert_eq!(wrapped("", 6, 2), [""]);
    }
}
