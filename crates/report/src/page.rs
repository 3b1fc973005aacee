//! The page: one file, with its style, its drawings and a small script.
//!
//! Initial document is small, however long the campaign was: long tables and logs are in it as inert text, of which
//! the script shows what is asked for. Without a script the page has all but that.

mod cascaded;
mod cause;
mod course;
mod coverage;
mod drawing;
mod explained;
mod explored;
mod findings;
mod lanes;
mod logs;
mod machine;
mod plain;
mod ranks;
mod reproduced;
mod table;
mod tried;
mod why;

use std::fmt::Write;

use crate::text::{escaped, thousands};
use crate::words::{self, Bit, Sentence};
use hypocenter_results::reproduced::Reproduction;
use hypocenter_results::runs::Runs;
use hypocenter_results::{Document, Header, Injected};

pub use cascaded::page as cascaded;
pub use explained::page as explained;
pub use explored::page as explored;
pub use plain::page as plain;
pub use reproduced::page as reproduced;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");
/// Nothing is loaded, and no script runs but ours: this is its SHA-256.
const SCRIPT_HASH: &str = include_str!("page/script.sha256");

/// Maximum lengths of a name and of a message.
const NAME_CHARS: usize = 160;
const MESSAGE_CHARS: usize = 2_000;
/// A verdict that is longer is set smaller.
const LONG_CHARS: usize = 200;

/// Sources of a page of `reproduce`.
#[derive(Debug, Clone, Copy)]
struct Report<'r> {
    summary: &'r Document<Reproduction>,
    /// Drawings, if they were kept.
    runs: Option<&'r Runs>,
}

/// A section.
struct Section {
    id: &'static str,
    title: String,
    /// Facts to know in advance.
    lead: String,
    body: String,
}

/// Content of a page beside its sections.
struct Frame<'p> {
    header: &'p Header,
    /// True if there is something to see.
    is_found: bool,
    /// Result in one word, and whether it is good.
    chip: (&'static str, String),
    verdict: Sentence,
    /// More of it, in a sentence.
    proof: Option<String>,
    /// Rest of the head.
    rest: String,
}

impl Frame<'_> {
    fn page(&self, sections: impl IntoIterator<Item = Section>) -> String {
        let title = format!("{} \u{b7} hypocenter", escaped(&self.header.campaign, NAME_CHARS));
        let mut page = String::new();
        let _ = write!(
            page,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
            SCRIPT_HASH.trim()
        );
        page.push_str(&self.head());
        let sections: Vec<Section> = sections.into_iter().collect();
        page.push_str("<nav aria-label=\"Sections\"><ul>");
        for it in &sections {
            let _ = write!(page, "<li><a href=\"#{}\">{}</a></li>", it.id, it.title);
        }
        page.push_str("</ul></nav>\n<main>\n");
        for it in &sections {
            let _ = write!(page, "<section id=\"{}\">\n<h2>{}</h2>\n", it.id, it.title);
            if !it.lead.is_empty() {
                let _ = writeln!(page, "<p class=\"lead\">{}</p>", it.lead);
            }
            let _ = write!(page, "{}\n</section>\n", it.body);
        }
        let _ = write!(
            page,
            "</main>\n<footer>hypocenter {} \u{b7} this page makes no network requests</footer>\n\
             <script>{SCRIPT}</script>\n</body>\n</html>\n",
            escaped(&self.header.tool, NAME_CHARS)
        );
        page
    }

    /// The verdict, the proof, and what follows.
    fn head(&self) -> String {
        let class = if self.is_found { "yes" } else { "no" };
        let (mood, word) = &self.chip;
        let long = if self.verdict.plain().chars().count() > LONG_CHARS { " class=\"long\"" } else { "" };
        let mut head = format!(
            "<header class=\"{class}\">\n{}<p class=\"over\"><b>hypocenter</b> {} <span class=\"chip {mood}\">{word}</span></p>\n\
             <h1{long}>{}</h1>\n",
            logo(),
            name(&format!("{} \u{b7} workload {}", self.header.campaign, self.header.workload)),
            sentence(&self.verdict)
        );
        if let Some(proof) = &self.proof {
            let _ = writeln!(head, "<p class=\"proof\">{}</p>", escaped(proof, MESSAGE_CHARS));
        }
        head + &self.rest + "</header>\n"
    }
}

/// The stack at which a fault went in.
fn stack(fault: &Injected) -> String {
    let frames = fault.at.stack.iter().take(32);
    let frames: String =
        frames.map(|it| format!("<li>{}</li>", escaped(&it.to_string(), NAME_CHARS))).collect();
    if frames.is_empty() {
        return frames;
    }
    format!("<p>Stack of the fault:</p><ol class=\"stack mono\">{frames}</ol>")
}

/// A command to copy.
fn command(text: &str) -> String {
    let text = escaped(text, MESSAGE_CHARS);
    format!(
        "<div class=\"command\"><code>{text}</code><button type=\"button\" class=\"copy\" aria-label=\"Copy the command\">Copy</button></div>"
    )
}

/// In which directory commands are run.
fn place(directory: Option<&str>) -> String {
    let place = |it| {
        let it = broken(&escaped(it, MESSAGE_CHARS));
        format!("<p class=\"place\">Run it in <code>{it}</code>; each run adds a campaign there.</p>\n")
    };
    directory.map_or_else(String::new, place)
}

fn sentence(it: &Sentence) -> String {
    let bit = |it: &Bit| match it {
        Bit::Words(it) => escaped(it, MESSAGE_CHARS),
        Bit::Name(it) => format!("<code>{}</code>", broken(&escaped(it, NAME_CHARS))),
    };
    it.0.iter().map(bit).collect()
}

/// Escaped text that may be broken behind its dots.
fn broken(escaped: &str) -> String {
    escaped.replace('.', ".<wbr>")
}

fn name(text: &str) -> String {
    escaped(text, NAME_CHARS)
}

/// Waves around a point.
fn logo() -> &'static str {
    "<svg class=\"logo\" viewBox=\"0 0 48 48\" aria-hidden=\"true\"><circle cx=\"24\" cy=\"24\" r=\"4\"/>\
     <circle cx=\"24\" cy=\"24\" r=\"11\" class=\"w1\"/><circle cx=\"24\" cy=\"24\" r=\"17\" class=\"w2\"/>\
     <circle cx=\"24\" cy=\"24\" r=\"23\" class=\"w3\"/></svg>"
}

/// A fault in a line.
fn whole(it: &Injected) -> String {
    let (what, place, when) = words::fault(it);
    format!(
        "<b>{}</b> <code>{}</code> <span class=\"dim\">{}</span>",
        name(&what),
        broken(&name(&place)),
        name(&when)
    )
}

/// Counts and measurements.
fn figures(rows: &[(&str, String)]) -> String {
    let mut text = String::from("<dl class=\"figures\">");
    for (what, value) in rows {
        let _ = write!(text, "<div><dt>{what}</dt><dd>{value}</dd></div>");
    }
    text + "</dl>\n"
}

/// Says what is not shown.
fn left_out(all: usize, shown: usize, where_it_is: &str) -> String {
    match all.checked_sub(shown) {
        Some(more @ 1..) => {
            format!("<p class=\"dim\">{} more are left out; {where_it_is}</p>", thousands(more as u64))
        }
        _ => String::new(),
    }
}
