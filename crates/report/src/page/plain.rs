//! The page of a campaign of an engine that has no sections of its own: its findings, and how often each was seen again.

use std::fmt::Write;

use super::{Frame, MESSAGE_CHARS, Section, command, left_out, place, stack, whole};
use crate::Reported;
use crate::text::{count, escaped};
use crate::words;
use hypocenter_results::{Document, Finding};

/// Maximum number of findings.
const FINDINGS_SHOWN: usize = 50;

pub fn page<D: Reported>(document: &Document<D>) -> String {
    let Document { header, detail } = document;
    let findings = detail.findings();
    let chip = match findings.len() as u64 {
        0 => ("yes", "nothing found".to_owned()),
        some => ("bad", count(some, "finding", "findings")),
    };
    let frame = Frame {
        header,
        is_found: !findings.is_empty(),
        chip,
        verdict: D::verdict(document),
        proof: Some(format!("It took {}.", words::seconds((header.seconds * 1e3) as u64))),
        rest: findings
            .first()
            .map_or_else(String::new, |it| command(&it.replay) + "\n" + &place(header.directory.as_deref())),
    };
    let mut body = String::new();
    findings.iter().take(FINDINGS_SHOWN).for_each(|it| body += &one(it));
    body += &left_out(findings.len(), FINDINGS_SHOWN, "summary.json has all.");
    let section = Section { id: "findings", title: "Findings".to_owned(), lead: String::new(), body };
    frame.page(Some(section).filter(|_| !findings.is_empty()))
}

fn one<D>(it: &Finding<D>) -> String {
    let mut text = String::from("<article class=\"finding\">\n<ul>");
    for fault in &it.faults {
        let _ = write!(text, "<li>{}</li>", whole(fault));
    }
    let _ = write!(
        text,
        "</ul>\n<p>{}</p>\n<p class=\"dim\">{}: {}</p>\n{}\n",
        escaped(&it.why, MESSAGE_CHARS),
        words::proven(it.proof),
        words::replays(it),
        command(&it.replay)
    );
    text += &it.faults.iter().map(stack).collect::<String>();
    text + "</article>\n"
}
