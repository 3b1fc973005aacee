//! What was tried: a row a round.

use super::Section;
use super::table::{Kind, Table};
use crate::text::{count, thousands};
use crate::words;
use hypocenter_results::reproduced::{Again, Round, Summary};

pub fn section(summary: &Summary) -> Option<Section> {
    if summary.tried.is_empty() {
        return None;
    }
    let mut table = Table::new(Kind {
        nouns: ("round", "rounds"),
        headings: &["round", "fault", "where", "when", "rank", "shows", ""],
        hint: "class, exception, thread, number",
        whole: "rounds.jsonl has all.",
    });
    let several_nodes = summary.has_several_nodes();
    for round in &summary.tried {
        table.push(round.happened, &cells(round, summary, several_nodes));
    }
    let injected = summary.tried.iter().filter(|it| it.fault.is_some()).count();
    let lead = format!(
        "{}, in {} of which a fault happened. A round is given several faults; the first that is reached happens.",
        count(summary.tried.len() as u64, "round", "rounds"),
        thousands(injected as u64)
    );
    Some(Section { id: "tried", title: "What was tried".to_owned(), lead, body: table.body() })
}

/// Round, what, where, when, rank, what it showed, what came of it.
fn cells(round: &Round, summary: &Summary, several_nodes: bool) -> [String; 7] {
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
    let shows = format!("{} of {}", thousands(round.shown.len() as u64), thousands(summary.observables));
    let came = match round.again {
        _ if round.happened => "the failure",
        Some(Again::ForSecond) => "once more, and alone: a second is searched for behind it",
        Some(Again::WithoutKept) => "what is kept did not happen this time",
        Some(Again::Instead) => "in place of the delay",
        Some(Again::Earlier) => "earlier, as what it leads to may take its time",
        None => "",
    };
    [thousands(round.number), what, place, when, rank, shows, came.to_owned()]
}
