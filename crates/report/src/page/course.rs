//! The trials in their order: what each came to, and how many states were known by then.

use std::fmt::Write;

use super::Section;
use super::drawing::{both, ticks};
use crate::text::thousands;
use hypocenter_results::explored::{Exploration, Severity};

const LEFT: f64 = 78.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 16.0;
const CURVE: f64 = 130.0;
const LANE: f64 = 20.0;
const BOTTOM: f64 = 38.0;
/// Subject of a lane, from the top, and the style of its marks.
const LANES: [(Option<Severity>, &str, &str); 5] = [
    (Some(Severity::Critical), "critical", "symptom"),
    (Some(Severity::Major), "major", "symptom"),
    (Some(Severity::Minor), "minor", "observable"),
    (Some(Severity::Expected), "expected", "serious"),
    (None, "healthy", "plain"),
];

pub fn section(it: &Exploration) -> Option<Section> {
    // A drawing of one point says nothing.
    if it.tried.len() < 2 {
        return None;
    }
    let body = both(|width| draw(it, width), "Result of every trial, and the number of states known by then");
    let lead = "The curve shows the number of abstract states that threads have reached, in runs without a fault and in the trials so far. While it rises, more trials may find more. The marks below it show the result of each trial.";
    Some(Section { id: "course", title: "Trials over time".to_owned(), lead: lead.to_owned(), body })
}

fn draw(it: &Exploration, width: f64) -> (f64, String) {
    let last = it.tried.iter().map(|it| it.number).max().unwrap_or(1) as f64;
    let x = |number: f64| LEFT + (number - 1.0) / (last - 1.0).max(1.0) * (width - LEFT - RIGHT);
    let new: u64 = it.tried.iter().map(|it| it.new_states).sum();
    let begin = it.states.saturating_sub(new);
    let top = (it.states.max(1) as f64 * 1.08).max(4.0);
    let y = |states: f64| TOP + CURVE - states / top * CURVE;
    let mut text = String::new();
    for tick in ticks(0.0, top, 4).into_iter().filter(|it| it.fract() == 0.0) {
        let _ = write!(
            text,
            "<path d=\"M{LEFT} {0:.1}H{1:.1}\" class=\"grid\"/><text x=\"{2:.1}\" y=\"{3:.1}\" class=\"tick end\">{4}</text>",
            y(tick),
            width - RIGHT,
            LEFT - 8.0,
            y(tick) + 4.0,
            thousands(tick as u64)
        );
    }
    let mut known = begin;
    let mut line = format!("M{LEFT} {:.1}", y(begin as f64));
    for it in &it.tried {
        if it.new_states > 0 {
            let _ = write!(line, "L{:.1} {:.1}", x(it.number as f64), y(known as f64));
            known = known.saturating_add(it.new_states);
            let _ = write!(line, "L{:.1} {:.1}", x(it.number as f64), y(known as f64));
        }
    }
    let _ = write!(line, "L{:.1} {:.1}", x(last), y(known as f64));
    let _ = write!(
        text,
        "<path d=\"{line}\" class=\"curve\"/><text x=\"0\" y=\"10\" class=\"axis\">states</text>"
    );
    let first = TOP + CURVE + 16.0;
    for (number, (severity, name, class)) in LANES.iter().enumerate() {
        let middle = first + number as f64 * LANE + LANE / 2.0;
        let mut path = String::new();
        for it in it.tried.iter().filter(|it| it.injected.is_some() && it.severity() == *severity) {
            let _ = write!(path, "M{:.1} {:.1}v{}", x(it.number as f64), middle - 6.0, 12);
        }
        let _ = write!(
            text,
            "<text x=\"0\" y=\"{:.1}\" class=\"lane\">{name}</text><path d=\"M{LEFT} {middle:.1}H{:.1}\" class=\"lane-line\"/>",
            middle + 4.0,
            width - RIGHT
        );
        if !path.is_empty() {
            let _ = write!(text, "<path d=\"{path}\" class=\"mark {class}\"/>");
        }
    }
    let bottom = first + LANES.len() as f64 * LANE;
    let about = if width < 600.0 { 4 } else { 10 };
    let marks = ticks(1.0, last, about).into_iter().filter(|it| it.fract() == 0.0 && *it > 1.0);
    for it in std::iter::once(1.0).chain(marks) {
        let _ = write!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\">{}</text>",
            x(it),
            bottom + 16.0,
            thousands(it as u64)
        );
    }
    let _ = write!(
        text,
        "<text x=\"{:.1}\" y=\"{:.1}\" class=\"axis end\">trial</text>",
        width - RIGHT,
        bottom + 32.0
    );
    (bottom + BOTTOM, text)
}
