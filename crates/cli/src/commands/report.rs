//! `hypocenter report`: what a campaign came to, as a page for people and as files for other tools.

use std::fs;
use std::path::{Path, PathBuf};

use hypocenter_plan::ExitCode;
use hypocenter_report::{RUNS_VERSION, Report, Runs, SUMMARY_VERSION, Summary};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::request::{Request, existing_below};
use crate::screen;

/// The files that are written.
const PAGE: &str = "report.html";
const JUNIT: &str = "junit.xml";
const SARIF: &str = "findings.sarif";

pub fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    screen::heading("hypocenter report");
    let directory = existing_below(&args.out, &args.campaign);
    let request = Request::read(&directory)?;
    if request.reproduce.as_ref().is_none_or(|it| it.compare.is_some()) {
        let compares = if request.reproduce.is_some() { " --compare" } else { "" };
        let what = format!("a campaign of `{}{compares}` has no report", request.verb);
        return Err(
            Failure::usage(format!("{}: {what}", directory.display())).hint("name a campaign of `reproduce`")
        );
    }
    let page = write(&directory)?;
    screen::line("report", &page.display().to_string());
    for name in [JUNIT, SARIF] {
        screen::line("", &directory.join(name).display().to_string());
    }
    if args.json {
        let summary: Value = document(&directory.join("summary.json"), SUMMARY_VERSION)?.unwrap_or_default();
        screen::json(&summary)?;
    }
    Ok(ExitCode::Done)
}

/// Writes the report of a campaign into its directory. Gives the page.
pub fn write(campaign: &Path) -> Result<PathBuf, Failure> {
    let path = campaign.join("summary.json");
    let summary: Summary = document(&path, SUMMARY_VERSION)?.ok_or_else(|| {
        let name = campaign.file_name().unwrap_or_default().to_string_lossy();
        Failure::usage(format!("{}: the campaign is not over", path.display()))
            .hint(format!("`hypocenter reproduce --resume {name}` goes on with it"))
    })?;
    let runs: Option<Runs> = document(&campaign.join("runs.json"), RUNS_VERSION)?;
    let report = Report { summary: &summary, runs: runs.as_ref() };
    for (name, text) in [(JUNIT, report.junit()), (SARIF, report.sarif()), (PAGE, report.page())] {
        let (path, part) = (campaign.join(name), campaign.join(format!("{name}.part")));
        fs::write(&part, text).and_then(|()| fs::rename(&part, &path)).map_err(|error| {
            Failure::usage(format!("{}: {error}", path.display())).hint("free some space")
        })?;
    }
    Ok(campaign.join(PAGE))
}

/// A document of a campaign, or nothing if there is none.
fn document<T: DeserializeOwned>(path: &Path, version: u32) -> Result<Option<T>, Failure> {
    let failed = |why: String| Failure::usage(format!("{}: {why}", path.display()));
    let again = "`hypocenter reproduce --resume CAMPAIGN` writes it anew, from what is recorded";
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    let json: Value =
        serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()).hint(again))?;
    let found = json.get("version").and_then(Value::as_u64);
    if found != Some(version.into()) {
        let found = found.map_or("none".to_owned(), |it| it.to_string());
        return Err(failed(format!("format version {found}, this tool knows version {version}")).hint(again));
    }
    serde_json::from_value(json).map(Some).map_err(|error| failed(error.to_string()).hint(again))
}
