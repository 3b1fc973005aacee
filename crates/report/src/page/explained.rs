//! The page of a campaign of `explain`: both runs side by side.

use std::fmt::Write;

use super::{Frame, MESSAGE_CHARS, Section, command, figures, name, place};
use crate::text::{escaped, thousands};
use crate::words;
use hypocenter_results::explained::{BesideRow, Explanation, Inflection, NeighbourRow, RunPoint};
use hypocenter_results::{Document, Finding};

pub fn page(document: &Document<Explanation>) -> String {
    let Document { header, detail: it } = document;
    let found = it.findings.first();
    let frame = Frame {
        header,
        is_found: found.is_some(),
        chip: match found {
            Some(it) => ("bad", words::proven(it.proof).to_owned()),
            None => ("no", "no answer".to_owned()),
        },
        verdict: words::explained(it),
        proof: found.map(words::replays),
        rest: found.map_or_else(String::new, |it| command(&it.replay) + "\n")
            + &place(header.directory.as_deref()),
    };
    let sections = [found.map(beside), found.and_then(others), Some(neighbours(it)), Some(sizes(it))];
    frame.page(sections.into_iter().flatten())
}

fn beside(it: &Finding<Inflection>) -> Section {
    let mut body = String::from(
        "<table class=\"plain\"><thead><tr><th>Thread</th><th>Failing run</th><th>Nearest run</th></tr></thead>\n<tbody>\n",
    );
    it.detail.beside.iter().for_each(|it| body += &row(it));
    body += "</tbody></table>\n";
    let lead = "The instructions that lead to the symptom, from shortly before the inflection point on, which is bold. The nearest run is that which \
                takes the same path for longest, of each thread its own.";
    Section { id: "beside", title: "Both runs".to_owned(), lead: lead.to_owned(), body }
}

fn row(it: &BesideRow) -> String {
    let (open, close) = if it.is_inflection { ("<b>", "</b>") } else { ("", "") };
    let nearest = it.nearest.as_ref().map_or_else(|| "<span class=\"dim\">missing</span>".to_owned(), shown);
    format!(
        "<tr><td>{}</td><td>{open}{}{close}</td><td>{nearest}</td></tr>\n",
        name(&it.failing.thread),
        shown(&it.failing)
    )
}

fn shown(it: &RunPoint) -> String {
    format!("<code>{}</code>", escaped(&words::point(it), MESSAGE_CHARS))
}

fn others(it: &Finding<Inflection>) -> Option<Section> {
    let all = &it.detail.others;
    let body: String = all.iter().map(|it| format!("<li>{}</li>\n", shown(it))).collect();
    (!all.is_empty()).then(|| Section {
        id: "others",
        title: "Other candidates".to_owned(),
        lead: "Further reads of what another thread wrote, which no neighbour reads from there.".to_owned(),
        body: format!("<ul>\n{body}</ul>\n"),
    })
}

fn neighbours(it: &Explanation) -> Section {
    let mut body = String::from(
        "<table class=\"plain\"><thead><tr><th>Run</th><th>Trial</th><th>Compared</th></tr></thead>\n<tbody>\n",
    );
    for NeighbourRow { name: which, trial, left_out } in &it.neighbours {
        let trial = trial.map_or_else(String::new, |it| it.to_string());
        let compared = left_out
            .as_ref()
            .map_or_else(|| "yes".to_owned(), |why| format!("no: {}", escaped(why, MESSAGE_CHARS)));
        let _ = writeln!(body, "<tr><td>{}</td><td>{trial}</td><td>{compared}</td></tr>", name(which));
    }
    body += "</tbody></table>\n";
    let lead =
        "Only a run that ends well, does not fail and does not reach the symptom is compared.".to_owned();
    Section { id: "neighbours", title: "Neighbours".to_owned(), lead, body }
}

fn sizes(it: &Explanation) -> Section {
    let failing = it.failing.clone().unwrap_or_default();
    let (slice, prefix) = it.findings.first().map_or((0, 0), |it| (it.detail.slice, it.detail.prefix));
    let body = figures(&[
        ("points of the static slice", thousands(it.slice.points)),
        ("methods recorded", thousands(it.slice.methods)),
        ("events of the failing run", thousands(failing.events)),
        ("instructions of the dynamic slice", thousands(slice)),
        ("of them before the inflection point", thousands(prefix)),
    ]);
    Section { id: "sizes", title: "Sizes".to_owned(), lead: String::new(), body }
}
