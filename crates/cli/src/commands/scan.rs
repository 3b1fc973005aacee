//! `hypocenter scan`: the target as facts, without running it.
//!
//! [`scanned`] reads the target, [`summary`] and [`lists`] show what there is, [`why`] goes back from log lines to faults,
//! told in words by [`explanation`] and written out by [`graph`]. Everything is first made as a document; people and
//! machines see the same.

mod entries;
mod explanation;
mod graph;
mod lists;
mod naming;
mod page;
mod scanned;
mod summary;
mod why;

use hypocenter_plan::ExitCode;
use serde::Serialize;

use crate::args::ScanArgs;
use crate::failure::Failure;
use crate::screen;
use entries::Started;
use graph::Format;
use lists::Lists;
use page::Page;
use scanned::Scanned;
pub use scanned::prefixes;
use summary::Summary;
use why::Why;

/// The version of the document.
const SCAN_VERSION: u32 = 1;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    version: u32,
    #[serde(flatten)]
    summary: Summary,
    lists: Lists,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
    seconds: f64,
    seconds_by_phase: serde_json::Map<String, serde_json::Value>,
    peak_rss_mb: f64,
}

pub fn run(args: &ScanArgs) -> Result<ExitCode, Failure> {
    // What can be wrong with the command line is said before anybody waits.
    let format = args.graph.as_deref().map(Format::of).transpose()?;
    let started = Started::of(args)?;
    let mut scanned = Scanned::of(args)?;
    let lists = scanned.timed("lists", |scanned| Lists::of(&scanned.program, args));
    if let Some(pattern) = args.class.as_deref().filter(|_| lists.is_asked() && lists.is_empty()) {
        screen::note("--class", &format!("nothing that is listed is in a class like `{pattern}`"));
    }
    let mut graph = None;
    let mut told = None;
    if let Some(started) = &started {
        let (found, of) = scanned.timed("causes", |scanned| Why::of(&scanned.program, started, args))?;
        if let (Some(format), Some(path)) = (format, &args.graph) {
            scanned.timed("graph", |scanned| graph::write(&scanned.program, &of, format, path))?;
        }
        (told, graph) = (Some(found), args.graph.as_ref());
    }
    scanned.finish();
    let summary = Summary::of(&scanned);
    if args.json {
        let phases = scanned.phases.iter().map(|(name, it)| ((*name).to_owned(), round(*it).into()));
        screen::json(&Document {
            version: SCAN_VERSION,
            summary,
            lists,
            why: told,
            seconds: round(scanned.seconds()),
            seconds_by_phase: phases.collect(),
            peak_rss_mb: round(scanned::peak_rss_mb().unwrap_or(0.0)),
        })?;
        return Ok(ExitCode::Done);
    }
    let mut page = Page::default();
    if lists.is_asked() {
        lists.show(&mut page);
    }
    if let Some(why) = &told {
        why.show(&mut page);
    }
    if !lists.is_asked() && told.is_none() {
        summary.show(&scanned, &mut page);
    } else {
        screen::problems_of_scan(&scanned.problems);
    }
    if let Some(path) = graph {
        page.gap();
        page.labelled("graph", &format!("written to {}", path.display()));
    }
    page.print();
    Ok(ExitCode::Done)
}

/// To a thousandth.
fn round(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}
