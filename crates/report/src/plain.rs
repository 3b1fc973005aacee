//! Generic wording of findings, for engines without wording of their own.

use hypocenter_results::{Detail, Document, Finding};

use crate::text::{count, span};
use crate::words::{self, Sentence};
use crate::{Line, Reported};

/// The verdict in one sentence.
pub fn verdict<D: Detail>(Document { header, detail }: &Document<D>) -> Sentence {
    let said = Sentence::default();
    match detail.findings() {
        [] => said.words(format!("{} found nothing.", header.verb)),
        [first, rest @ ..] => {
            let more = match rest.len() as u64 {
                0 => String::new(),
                some => format!(", and {}", count(some, "more finding", "more findings")),
            };
            let behind = if first.faults.is_empty() { "" } else { ": " };
            let said = said.and(words::each(&first.faults, true));
            said.words(format!("{behind}{}{more}.", first.why))
        }
    }
}

/// The faults of a finding in a line.
pub fn faults<D>(it: &Finding<D>) -> String {
    let faults: Vec<String> = it.faults.iter().map(|it| it.line(true)).collect();
    faults.join(", and ")
}

/// The end of a campaign.
pub fn lines<D: Reported>(document: &Document<D>) -> Vec<Line> {
    let mut lines = vec![Line::gap()];
    for it in document.detail.findings() {
        lines.push(Line::new("finding", faults(it)));
        lines.push(Line::more(it.why.clone()));
        lines.push(Line::new("proof", format!("{}: {}", words::proven(it.proof), words::replays(it))));
        lines.push(Line::new("replay", it.replay.clone()));
        lines.push(Line::gap());
    }
    let label = if document.header.cut_short { "so far" } else { "done" };
    let found = count(document.detail.findings().len() as u64, "finding", "findings");
    lines.push(Line::new(label, format!("{found}, {}", span(document.header.seconds))));
    lines
}
