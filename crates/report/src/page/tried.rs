//! Rounds: one row each.

use super::Section;
use super::table::{Kind, Table};
use crate::text::{count, thousands};
use crate::words;
use hypocenter_results::Document;
use hypocenter_results::reproduced::{Again, Reproduction, Round};

pub fn section(summary: &Document<Reproduction>) -> Option<Section> {
    if summary.detail.tried.is_empty() {
        return None;
    }
    let mut table = Table::new(Kind {
        nouns: ("round", "rounds"),
        headings: &["round", "fault", "where", "when", "rank", "points", "shows", ""],
        hint: "class, exception, thread, number",
        whole: "rounds.jsonl has all.",
    });
    let several_nodes = summary.detail.has_several_nodes();
    for round in &summary.detail.tried {
        table.push(round.happened, &cells(round, summary, several_nodes));
    }
    let injected = summary.detail.tried.iter().filter(|it| it.fault.is_some()).count();
    let lead = format!(
        "{}, {} of them with a fault. A round arms several faults; only the first one reached is injected.",
        count(summary.detail.tried.len() as u64, "round", "rounds"),
        thousands(injected as u64)
    );
    Some(Section { id: "tried", title: "Trials".to_owned(), lead, body: table.body() })
}

/// Round, what, where, when, rank, points, what it showed, what came of it.
fn cells(round: &Round, summary: &Document<Reproduction>, several_nodes: bool) -> [String; 8] {
    let (mut what, place, mut when) = match &round.fault {
        Some(it) => words::fault(it),
        None => ("no fault was reached".to_owned(), String::new(), String::new()),
    };
    if let Some(it) = round.fault.as_ref().filter(|_| several_nodes) {
        when += &format!(" on {}", it.at.node);
    }
    for it in &round.kept {
        let (kept, at, _) = words::fault(it);
        what = format!("{kept} at {at}, and {what}");
    }
    let rank =
        round.rank.map_or_else(String::new, |it| format!("{} of {}", thousands(it), thousands(round.left)));
    let shows =
        format!("{} of {}", thousands(round.shown.len() as u64), thousands(summary.detail.observables));
    let came = match round.again {
        _ if round.happened => "the failure",
        Some(Again::ForSecond) => "again, alone: a second fault is searched for after it",
        Some(Again::WithoutKept) => "the kept fault was not injected this time",
        Some(Again::Instead) => "instead of the delay",
        Some(Again::Earlier) => "retried earlier, to give the effect time to appear",
        Some(Again::NearMiss) => "near the round that showed far more than others",
        None => "",
    };
    let points = round.score.as_ref().map_or_else(String::new, |it| thousands(it.total()));
    [thousands(round.number), what, place, when, rank, points, shows, came.to_owned()]
}
