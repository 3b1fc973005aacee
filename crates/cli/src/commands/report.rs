//! `hypocenter report`: what a campaign came to, as a page for people and as files for other tools.

mod sources;

use std::fs;
use std::path::{Path, PathBuf};

use hypocenter_engine::JobId;
use hypocenter_lab::{TrialFiles, trial_directory};
use hypocenter_plan::{ExitCode, Outcome};
use hypocenter_report::Reported;
use hypocenter_results::runs::{RUNS_VERSION, Runs};
use hypocenter_results::{Detail, Document};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::ReportArgs;
use crate::campaign::KnownVerb;
use crate::failure::Failure;
use crate::request::{Request, existing_below};
use crate::screen;
use crate::store::{Called, told};
use sources::Sources;

/// Results of a campaign, of which the others are made.
pub const SUMMARY: &str = "summary.json";
/// Drawings beside it.
pub const RUNS: &str = "runs.json";
/// The files that are written.
const PAGE: &str = "report.html";
const JUNIT: &str = "junit.xml";
const SARIF: &str = "findings.sarif";
const TICKET: &str = "ticket.md";
/// The campaign that is meant where none is named.
const LATEST: &str = "latest";

pub fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    screen::heading("hypocenter report");
    let mut directory = existing_below(&args.out, &args.campaign);
    let mut request = Request::read(&directory)?;
    if args.campaign == LATEST
        && !has_report(&request)
        && let Some((newest, of)) = newest_with_report(&args.out)
    {
        let what = format!(
            "the latest campaign is one of `{}`, which has no report; this is the report of {}",
            request.verb,
            told(&newest)
        );
        screen::note("report", &what);
        (directory, request) = (newest, of);
    }
    let Some(engine) = &request.engine else {
        let what = format!("a campaign of `{}` has no report", request.verb);
        return Err(Failure::usage(format!("{}: {what}", directory.display()))
            .hint("name a campaign of `reproduce` or `explore`"));
    };
    let known = KnownVerb::named(&engine.verb, &directory)?;
    let page = (known.report)(&directory)?;
    screen::line("report", &told(&page));
    for path in [JUNIT, SARIF, TICKET].map(|it| directory.join(it)).iter().filter(|it| it.exists()) {
        screen::line("", &told(path));
    }
    if args.json {
        let path = directory.join(SUMMARY);
        let summary: Value = document(&path, known.version, &engine.verb)?.unwrap_or_default();
        screen::json(&summary)?;
    }
    Ok(ExitCode::Done)
}

fn has_report(request: &Request) -> bool {
    request.engine.is_some()
}

/// The campaign with a report that came to its end last.
fn newest_with_report(out: &Path) -> Option<(PathBuf, Request)> {
    let campaigns = fs::read_dir(out).ok()?.flatten().map(|it| it.path()).filter(|it| !it.is_symlink());
    let ended = campaigns.filter_map(|it| Some((it.join(SUMMARY).metadata().ok()?.modified().ok()?, it)));
    let mut ended: Vec<_> = ended.collect();
    ended.sort();
    ended.into_iter().rev().find_map(|(_, it)| {
        let request = Request::read(&it).ok().filter(has_report)?;
        Some((it, request))
    })
}

/// Makes the report of a campaign from what is kept in its directory. Gives the page.
pub fn made<D: Reported>(campaign: &Path, verb: &str) -> Result<PathBuf, Failure> {
    let summary: Document<D> = summary(campaign, verb)?;
    let runs: Option<Runs> = document(&campaign.join(RUNS), RUNS_VERSION, verb)?;
    write(campaign, &summary, runs.as_ref())
}

/// Writes the report of a campaign into its directory. Gives the page.
pub fn write<D: Reported>(
    campaign: &Path,
    document: &Document<D>,
    runs: Option<&Runs>,
) -> Result<PathBuf, Failure> {
    let sources = Sources::of_project(campaign);
    let junit = D::junit(document, &|it| seconds(campaign, it));
    if let Some(ticket) = D::ticket(document) {
        keep(&campaign.join(TICKET), &ticket)?;
    }
    files(campaign, D::page(document, runs), junit, D::sarif(document, &|it| sources.find(it)))
}

/// Duration of a trial, if its outcome still exists.
fn seconds(campaign: &Path, trial: u64) -> Option<f64> {
    let outcome = fs::read(TrialFiles::of(&trial_directory(campaign, JobId(trial))).outcome).ok()?;
    let outcome: Outcome = serde_json::from_slice(&outcome).ok()?;
    Some(outcome.wall_ms as f64 / 1e3)
}

fn files(campaign: &Path, page: String, junit: String, sarif: String) -> Result<PathBuf, Failure> {
    for (name, text) in [(JUNIT, junit), (SARIF, sarif), (PAGE, page)] {
        keep(&campaign.join(name), &text)?;
    }
    Ok(campaign.join(PAGE))
}

/// Writes a file of a campaign in one step, so that there is never half of it.
pub fn keep(path: &Path, text: &str) -> Result<(), Failure> {
    hypocenter_lab::files::replace(path, text.as_bytes())
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())).hint("free some space"))
}

/// The summary of a campaign that is over.
fn summary<D: Detail>(campaign: &Path, verb: &str) -> Result<Document<D>, Failure> {
    let path = campaign.join(SUMMARY);
    let summary: Document<D> = document(&path, D::VERSION, verb)?.ok_or_else(|| {
        Failure::usage(format!("{}: the campaign is not finished", path.display()))
            .hint(format!("`{}` continues it", Called::of(campaign).resume(verb)))
    })?;
    // Somebody else may have written it.
    if D::NAMES_FAULTS && summary.detail.findings().iter().any(|it| it.faults.is_empty()) {
        return Err(Failure::usage(format!("{}: a finding has no fault", path.display()))
            .hint(format!("`{}` writes it again", Called::of(campaign).resume(verb))));
    }
    Ok(summary)
}

/// A document of a campaign, or nothing if there is none.
fn document<T: DeserializeOwned>(path: &Path, version: u32, verb: &str) -> Result<Option<T>, Failure> {
    let failed = |why: String| Failure::usage(format!("{}: {why}", path.display()));
    let again = format!("`hypocenter {verb} --resume CAMPAIGN` writes it again from the journal");
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    let json: Value =
        serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()).hint(&again))?;
    let found = json.get("version").and_then(Value::as_u64);
    if found != Some(version.into()) {
        let found = found.map_or("none".to_owned(), |it| it.to_string());
        return Err(
            failed(format!("format version {found}, this tool supports version {version}")).hint(&again)
        );
    }
    serde_json::from_value(json).map(Some).map_err(|error| failed(error.to_string()).hint(&again))
}
