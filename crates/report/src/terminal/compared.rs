//! Result of a comparison of strategies: a table.

use hypocenter_results::compared::{Compared, RoundCount};

use super::{Line, Style};
use crate::text::count;

/// The table.
pub fn compared(it: &Compared) -> Vec<Line> {
    let played = format!(
        "{} each, at most {}, {}; on {} at instances{}, each run once",
        count(it.seeds, "seed", "seeds"),
        count(it.rounds_max, "round", "rounds"),
        it.faults,
        count(it.recorded, "fault", "faults"),
        if it.every_instance { ", all there are in a normal run among them" } else { "" }
    );
    let head = ["strategy", "median", "worst", "reproduced", "all tried"].map(str::to_owned);
    let mut lines =
        vec![Line::gap(), Line::new("played", played), Line::more("").with(Style::Dim, row(&head))];
    for of in &it.strategies {
        lines.push(Line::more(row(&[
            of.strategy.clone(),
            rounds(of.median),
            rounds(of.worst),
            format!("{} of {}", of.reproduced, it.seeds),
            of.exhausted.to_string(),
        ])));
    }
    lines.push(Line::more(it.left_out.clone()));
    lines
}

fn row(cells: &[String; 5]) -> String {
    format!("{:<16}{:>8}{:>8}{:>12}{:>11}", cells[0], cells[1], cells[2], cells[3], cells[4])
}

fn rounds(it: RoundCount) -> String {
    if it.more_than { format!("> {}", it.rounds) } else { it.rounds.to_string() }
}
