//! What a campaign came to.

use std::path::Path;
use std::time::Duration;

use hypocenter_explore::{Finding, Severity, Standing, Symptom, TrialRecord, Verdict};
use hypocenter_plan::ExitCode;
use serde::Serialize;

use super::live::fault;
use crate::failure::Failure;
use crate::screen;

/// The document.
#[derive(Debug, Serialize)]
struct Document<'v> {
    trials: usize,
    injected: u64,
    states: usize,
    calls: usize,
    keys: usize,
    resets: u64,
    normal_runs: u64,
    refused: u64,
    standing: &'v Standing,
    /// What somebody should look at.
    findings: Vec<FindingDocument<'v>>,
    /// What would be, and is known.
    known: Vec<FindingDocument<'v>>,
    /// What the fault explains, or does not say much.
    expected: Vec<FindingDocument<'v>>,
    seconds: f64,
    tried: &'v [TrialRecord],
}

#[derive(Debug, Serialize)]
struct FindingDocument<'v> {
    class: &'v str,
    method: &'v str,
    line: Option<u32>,
    callee: Option<&'v str>,
    fault: String,
    kind: hypocenter_explore::SymptomKind,
    severity: Severity,
    why: &'v str,
    symptoms: &'v [Symptom],
    stack: &'v [String],
    node: &'v str,
    state: Option<&'v str>,
    first_trial: u64,
    trials: usize,
    rate: Rate,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<&'v str>,
    same_site: Rate,
    same_state: Rate,
    matters: Option<&'static str>,
    replay: String,
}

#[derive(Debug, Serialize)]
struct Rate {
    hits: u64,
    runs: u64,
}

fn rate((hits, runs): (u64, u64)) -> Rate {
    Rate { hits, runs }
}

fn document<'v>(finding: &'v Finding, campaign: &str) -> Option<FindingDocument<'v>> {
    let worst = finding.symptoms.first()?;
    let site = &finding.injected.site;
    Some(FindingDocument {
        class: &site.class,
        method: &site.method,
        line: site.line,
        callee: site.callee.as_deref(),
        fault: finding.injected.fault.to_string(),
        kind: worst.kind,
        severity: worst.severity,
        why: &worst.why,
        symptoms: &finding.symptoms,
        stack: &finding.stack,
        node: &finding.injected.at.node,
        state: finding.injected.at.state.as_deref(),
        first_trial: finding.first_trial,
        trials: finding.trials.len(),
        rate: rate(finding.rate),
        known: finding.known.as_deref(),
        same_site: rate(finding.neighbours.same_site),
        same_state: rate(finding.neighbours.same_state),
        matters: finding.neighbours.what_matters(),
        replay: replay(finding, campaign),
    })
}

fn replay(finding: &Finding, campaign: &str) -> String {
    format!("hypocenter replay {campaign}/{}", finding.replayed.unwrap_or(finding.worst_trial))
}

/// Says what came of it.
pub fn finish(verdict: &Verdict, directory: &Path, took: Duration, json: bool) -> Result<ExitCode, Failure> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (suspicious, expected): (Vec<&Finding>, Vec<&Finding>) =
        verdict.findings.iter().partition(|it| it.is_suspicious());
    let (known, expected): (Vec<&Finding>, Vec<&Finding>) =
        expected.into_iter().partition(|it| it.severity.is_suspicious());
    screen::gap();
    suspicious.iter().for_each(|it| show(it, &name));
    for it in &known {
        let why = it.known.as_deref().unwrap_or_default();
        let what = format!("{}: {why}, in {} trials", fault(&it.injected), it.trials.len());
        screen::line("known", &screen::clean(&what));
    }
    let trials = verdict.trials.len();
    screen::line(
        "done",
        &format!(
            "{trials} trials, {} with a fault, {} states, {} suspicious findings and {} that are expected or minor, {:.0} s",
            verdict.injected,
            verdict.states.len(),
            suspicious.len(),
            expected.len(),
            took.as_secs_f64()
        ),
    );
    let code = match &verdict.standing {
        Standing::NormalFails { wrong, runs } => {
            for (what, failed) in wrong {
                let what = format!(
                    "{what}, in {failed} of {runs} runs without a fault; mend the workload first, or give it more time"
                );
                screen::note("workload", &what);
            }
            ExitCode::AlreadyFails
        }
        Standing::NothingToInject => {
            screen::note(
                "workload",
                "it reaches no call at which something can go wrong; use another, or other --faults",
            );
            ExitCode::Budget
        }
        Standing::NothingLeft => {
            screen::line("", &format!("the policy has nothing left to inject after {trials} trials"));
            code_of(&suspicious)
        }
        Standing::Done | Standing::Going => code_of(&suspicious),
    };
    if verdict.refused > 0 {
        let what = format!("{} could not be injected; the outcomes of the trials say why", verdict.refused);
        screen::note("faults", &what);
    }
    screen::line("kept in", &directory.display().to_string());
    let document = Document {
        trials,
        injected: verdict.injected,
        states: verdict.states.len(),
        calls: verdict.calls,
        keys: verdict.keys,
        resets: verdict.resets,
        normal_runs: verdict.normal_runs,
        refused: verdict.refused,
        standing: &verdict.standing,
        findings: suspicious.iter().filter_map(|it| document(it, &name)).collect(),
        known: known.iter().filter_map(|it| document(it, &name)).collect(),
        expected: expected.iter().filter_map(|it| document(it, &name)).collect(),
        seconds: took.as_secs_f64(),
        tried: &verdict.trials,
    };
    let path = directory.join("summary.json");
    let text = serde_json::to_string_pretty(&document).expect("the document is always JSON");
    std::fs::write(&path, text + "\n")
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    if json {
        screen::json(&document)?;
    }
    Ok(code)
}

fn code_of(suspicious: &[&Finding]) -> ExitCode {
    if suspicious.is_empty() { ExitCode::Done } else { ExitCode::Findings }
}

fn show(finding: &Finding, name: &str) {
    screen::line("finding", &screen::clean(&fault(&finding.injected)));
    for it in &finding.symptoms {
        screen::line("", &screen::clean(&it.why));
    }
    for (number, method) in finding.stack.iter().take(6).enumerate() {
        screen::line(if number == 0 { "stack" } else { "" }, &screen::clean(method));
    }
    let (hits, runs) = finding.rate;
    let trials = finding.trials.len();
    screen::line(
        "seen",
        &format!("in {trials} trials, first in {}, {hits} of {runs} replays", finding.first_trial),
    );
    if let Some(matters) = finding.neighbours.what_matters() {
        let ((site, of_site), (state, of_state)) =
            (finding.neighbours.same_site, finding.neighbours.same_state);
        let counts = format!(
            "the same call at other moments {site} of {of_site}, other calls in the same state {state} of {of_state}"
        );
        screen::line("compared", &format!("{matters} ({counts})"));
    }
    screen::line("replay", &replay(finding, name));
    screen::gap();
}
