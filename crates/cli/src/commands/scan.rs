//! `hypocenter scan`: the target as facts, without running it.
//!
//! [`scanned`] reads the target, [`summary`] and [`lists`] show what there is, both of which a [`report`] has, made now or
//! kept by the [`cache`]. [`why`] goes back from log lines to faults, and [`graph`] writes the causal graph out. Everything is first made as a document; people and machines see the same.

mod cache;
mod coding;
mod entries;
mod graph;
mod lists;
mod naming;
mod page;
mod points;
mod report;
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
use lists::{ListKind, Lists};
use page::Page;
use report::{Earlier, Report, Took};
use scanned::Asked;
pub use scanned::prefixes;
use summary::Summary;
use why::Why;

/// The version of the document.
const SCAN_VERSION: u32 = 1;

/// Output of `--json`.
#[derive(Debug, Serialize)]
struct Document {
    version: u32,
    #[serde(flatten)]
    summary: Summary,
    lists: Lists,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
    seconds: f64,
    /// Of the scan, also where it was an earlier one.
    seconds_by_phase: serde_json::Map<String, serde_json::Value>,
    peak_rss_mb: f64,
    /// Cost of the scan from which this was cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_cache: Option<Earlier>,
}

pub fn run(args: &ScanArgs) -> Result<ExitCode, Failure> {
    // What can be wrong with the command line is said before anybody waits.
    let format = args.graph.as_deref().map(Format::of).transpose()?;
    let started = Started::of(args)?;
    let asked = Asked::of(args)?;
    let mut told = None;
    let report = match &started {
        None => Report::of(&asked, args)?,
        // The causes of a line need the whole program, which is not kept.
        Some(started) => {
            let mut scanned = asked.scan()?;
            let mut report = Report::made(&mut scanned, &ListKind::asked(args)).narrowed(args);
            let (why, of) = scanned.timed("causes", |scanned| Why::of(&scanned.program, started, args))?;
            if let (Some(format), Some(path)) = (format, &args.graph) {
                scanned.timed("graph", |scanned| graph::write(&scanned.program, &of, format, path))?;
            }
            told = Some(why);
            report.took = Took::of(&scanned);
            report
        }
    };
    asked.finish();
    let Report { summary, lists, took } = report;
    if let Some(pattern) = args.class.as_deref().filter(|_| lists.is_asked() && lists.is_empty()) {
        screen::note("--class", &format!("no listed item is in a class that matches `{pattern}`"));
    }
    if args.json {
        let phases = took.phases.iter().map(|it| (it.name.to_string(), round(it.seconds).into()));
        screen::json(&Document {
            version: SCAN_VERSION,
            summary,
            lists,
            why: told,
            seconds: round(took.seconds),
            seconds_by_phase: phases.collect(),
            peak_rss_mb: round(took.peak_rss_mb),
            from_cache: took.earlier,
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
        summary.show(&took, &mut page);
    } else {
        screen::problems_of_scan(&summary.problems);
    }
    if let Some(path) = args.graph.as_ref().filter(|_| told.is_some()) {
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

fn rounded<S: serde::Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(round(*number))
}
