//! Rank of the site of the final fault among the remaining sites, round by round (ANDURIL, Figure 6).

use std::fmt::Write;

use super::Section;
use super::drawing::{both, ticks};
use crate::text::{count, thousands};
use hypocenter_results::Document;
use hypocenter_results::reproduced::Reproduction;

const HEIGHT: f64 = 260.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 40.0;
/// Ranks beyond this are drawn by their logarithm.
const LINEAR_MAX: f64 = 60.0;
/// More points than this get no dot each.
const DOTS_MAX: usize = 120;

pub fn section(summary: &Document<Reproduction>) -> Option<Section> {
    let found = summary.detail.found.first()?;
    let points: Vec<(f64, f64, f64)> = summary
        .detail
        .tried
        .iter()
        .filter_map(|it| Some((it.number as f64, it.found_rank? as f64, it.window as f64)))
        // Rounds that were under way when it was found say nothing more.
        .filter(|it| it.0 >= 1.0 && it.1 >= 1.0 && it.0 <= found.detail.round as f64)
        .collect();
    let (first, last) = (points.first()?, points.last()?);
    let title = "Progress of the search".to_owned();
    // A curve of one point says nothing.
    if let [(round, rank, window)] = points[..] {
        let left = summary.detail.tried.iter().find(|it| it.number as f64 == round).map_or(0, |it| it.left);
        let lead = format!(
            "When round {} was planned, the site of the fault had rank {} of the {}, and {}.",
            thousands(round as u64),
            thousands(rank as u64),
            count(left.max(rank as u64), "remaining site", "remaining sites"),
            count(window as u64, "fault was tried", "faults were tried together")
        );
        return Some(Section { id: "ranks", title, lead, body: String::new() });
    }
    let which = if found.faults.len() > 1 { " For several faults, this is the last one." } else { "" };
    let lead = format!(
        "Rank of the site of the fault among the remaining sites when each round was planned: {} in round {}, {} in round {}, in which the failure happened. The shaded area is the window of a round: only the first fault of it that is reached is injected.{which}",
        thousands(first.1 as u64),
        thousands(first.0 as u64),
        thousands(last.1 as u64),
        thousands(found.detail.round)
    );
    let body =
        both(|width| draw(&points, found.detail.round as f64, width), "Rank of the fault's site by round");
    Some(Section { id: "ranks", title, lead, body })
}

fn draw(points: &[(f64, f64, f64)], found: f64, width: f64) -> (f64, String) {
    let rounds = points.iter().map(|it| it.0).fold(1.0, f64::max);
    let most = points.iter().map(|it| it.1).fold(1.0, f64::max);
    let is_log = most > LINEAR_MAX;
    let top = if is_log { most } else { (most + 1.0).max(5.0) };
    let x = |round: f64| LEFT + (round - 1.0) / (rounds - 1.0).max(1.0) * (width - LEFT - RIGHT);
    let share =
        |rank: f64| if is_log { rank.max(1.0).ln() / top.ln() } else { (rank - 1.0).max(0.0) / (top - 1.0) };
    let y = |rank: f64| HEIGHT - BOTTOM - share(rank).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM);
    let mut text = String::new();
    let ranks: Vec<f64> = if is_log {
        let all = (0..9).flat_map(|it| [1.0, 3.0].map(|of| of * 10f64.powi(it)));
        all.filter(|it| *it <= top).collect()
    } else {
        std::iter::once(1.0).chain(ticks(2.0, top, 4)).filter(|it| it.fract() == 0.0).collect()
    };
    for it in ranks {
        let _ = write!(
            text,
            "<path d=\"M{LEFT} {0:.1}H{1:.1}\" class=\"grid\"/><text x=\"{2:.1}\" y=\"{3:.1}\" class=\"tick end\">{4}</text>",
            y(it),
            width - RIGHT,
            LEFT - 8.0,
            y(it) + 4.0,
            thousands(it as u64)
        );
    }
    let about = if width < 600.0 { 4 } else { 10 };
    let mut marks = ticks(1.0, rounds, about);
    marks.retain(|it| it.fract() == 0.0 && *it > 1.0);
    for it in std::iter::once(1.0).chain(marks) {
        let _ = write!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\">{}</text>",
            x(it),
            HEIGHT - BOTTOM + 18.0,
            thousands(it as u64)
        );
    }
    let _ = write!(
        text,
        "<text x=\"{:.1}\" y=\"{:.1}\" class=\"axis end\">round</text><text x=\"{LEFT}\" y=\"10\" class=\"axis\">rank{}</text>",
        width - RIGHT,
        HEIGHT - 6.0,
        if is_log { ", logarithmic" } else { "" }
    );
    // What a round tries together, as an area along the bottom.
    let mut area = format!("M{:.1} {:.1}", x(points[0].0), y(1.0));
    for it in points {
        let _ = write!(area, "L{:.1} {:.1}", x(it.0), y(it.2));
    }
    let _ = write!(area, "L{:.1} {:.1}z", x(points[points.len() - 1].0), y(1.0));
    let _ = write!(text, "<path d=\"{area}\" class=\"window\"/>");
    let mut line = String::new();
    for (at, it) in points.iter().enumerate() {
        let _ = write!(line, "{}{:.1} {:.1}", if at == 0 { "M" } else { "L" }, x(it.0), y(it.1));
    }
    let _ = write!(text, "<path d=\"{line}\" class=\"curve\"/>");
    if points.len() <= DOTS_MAX {
        for it in points.iter().filter(|it| it.0 != found) {
            let _ =
                write!(text, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" class=\"point\"/>", x(it.0), y(it.1));
        }
    }
    if let Some(it) = points.iter().find(|it| it.0 == found) {
        let _ = write!(
            text,
            "<circle cx=\"{0:.1}\" cy=\"{1:.1}\" r=\"10\" class=\"strike-wave struck\"/><circle cx=\"{0:.1}\" cy=\"{1:.1}\" r=\"5\" class=\"strike-dot struck\"/>",
            x(it.0),
            y(it.1)
        );
    }
    (HEIGHT, text)
}
