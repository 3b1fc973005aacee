//! What a campaign came to.

use hypocenter_explore::Suspect;
use hypocenter_plan::ExitCode;
use hypocenter_report::{compared, proven, replays};
use hypocenter_results::Proof;
use hypocenter_results::explored::{Finding, Severity, Standing, Symptom, SymptomKind, Tried};

use super::live::fault;
use super::summary::{Ended, proof};
use super::wrong::together;
use crate::args::KeyChoice;
use crate::commands::report;
use crate::early;
use crate::failure::Failure;
use crate::screen;
use crate::store::told;

/// Failures of the whole workload that are told where there is nothing else.
const MINOR_SHOWN: usize = 10;

/// What has a workload's failure taken for one.
const FAILED: &str = r#"--oracle '{ exit = "failed" }'"#;

/// Whether the whole workload failed, which without clients says little.
fn is_failure(it: &Symptom) -> bool {
    it.kind == SymptomKind::Client && it.severity == Severity::Minor
}

/// Says what came of it.
pub fn finish(ended: &Ended<'_>, json: bool) -> Result<ExitCode, Failure> {
    let Ended { verdict, request, directory, took, cut_short, .. } = ended;
    let document = ended.document()?;
    let (suspicious, expected): (Vec<&Suspect>, Vec<&Suspect>) =
        verdict.findings.iter().partition(|it| it.is_suspicious());
    let (known, expected): (Vec<&Suspect>, Vec<&Suspect>) =
        expected.into_iter().partition(|it| it.severity.is_suspicious());
    screen::gap();
    let name = ended.name();
    let fault = |it: &Suspect| fault(&it.injected, request.has_several_nodes());
    // As `replay` takes it.
    let trial = |number: u64| verdict.trials.iter().find(|it| it.number == number).map(|it| it.trial);
    let (confirmed, unconfirmed): (Vec<&Suspect>, Vec<&Suspect>) =
        suspicious.iter().partition(|it| proof(it) == Proof::Confirmed);
    for (it, told) in confirmed.iter().zip(&document.findings) {
        let first = trial(it.first_trial).map_or_else(String::new, |it| format!(" ({name}/{it})"));
        show(it, told, &fault(it), &first);
    }
    for (it, told) in unconfirmed.iter().zip(&document.unconfirmed) {
        let why = it.symptoms.first().map_or("", |it| it.why.as_str());
        screen::line("seen", &screen::clean(&format!("{}: {why}", fault(it))));
        let is_replayed = it.rate.1 + it.missed > 0;
        let rate = if is_replayed { format!(", {}", replays(told)) } else { String::new() };
        screen::line("", &format!("{}{rate}: `{}`", proven(told.proof), told.replay));
    }
    for it in &known {
        let why = it.known.as_deref().unwrap_or_default();
        let what = format!("{}: {why}, in {}", fault(it), trials(it.trials.len()));
        screen::line("known", &screen::clean(&what));
    }
    if suspicious.is_empty() {
        // Where nothing stands out, this is what to look at.
        let failed = |it: &&&Suspect| it.symptoms.first().is_some_and(is_failure);
        for it in expected.iter().filter(failed).take(MINOR_SHOWN) {
            let why = it.symptoms.first().map_or("", |it| it.why.as_str());
            let what = format!("{}: {why}, in {}", fault(it), trials(it.trials.len()));
            screen::line("minor", &screen::clean(&what));
        }
    }
    let all = trials(verdict.trials.len());
    screen::line(
        if *cut_short { "so far" } else { "done" },
        &format!(
            "{all}, {} with a fault, {}, {}, {} seen and not confirmed, {} expected or minor, {}",
            screen::thousands(verdict.injected),
            screen::count(verdict.states.len() as u64, "state", "states"),
            screen::count(confirmed.len() as u64, "confirmed finding", "confirmed findings"),
            screen::thousands(unconfirmed.len() as u64),
            screen::thousands(expected.len() as u64),
            screen::span(took.as_secs_f64())
        ),
    );
    let struck = document.sites.injected;
    if let Some(reached) = document.sites.reached.filter(|it| struck > 0 && *it > struck) {
        let (left, calls) = (screen::thousands(reached - struck), screen::count(reached, "call", "calls"));
        let is_finer = ended.what.key == KeyChoice::Operation.name();
        let finer = if is_finer { "" } else { ", or --key operation" };
        screen::line(
            "",
            &format!("{left} of the {calls} that the workload makes had no fault yet: more --trials{finer}"),
        );
    }
    let code = match &verdict.standing {
        Standing::NormalFails { wrong, runs } => {
            for (what, failed) in together(wrong, *runs) {
                let what = format!(
                    "{what}, in {failed} of {runs} runs without a fault; fix the workload first, or give it more time"
                );
                screen::note("workload", &what);
            }
            early::show_first(directory)?;
            ExitCode::AlreadyFails
        }
        Standing::NothingToInject => {
            screen::note(
                "workload",
                "it reaches no call at which something can go wrong; use another, or other --faults",
            );
            verdict.problems.iter().for_each(|it| screen::note("command", it));
            ExitCode::Budget
        }
        Standing::NothingLeft => {
            screen::line("", &format!("the policy has nothing left to inject after {all}"));
            code_of(&confirmed)
        }
        Standing::Done | Standing::Going => code_of(&confirmed),
    };
    if request.workload.client.is_empty() && request.oracle.is_none() {
        let failed = |it: &&Tried| it.injected.is_some() && it.symptoms.iter().any(is_failure);
        if let failed @ 1.. = verdict.trials.iter().filter(failed).count() {
            let what = format!(
                "it failed in {failed} of {} trials with a fault, and without clients that is minor; have them examined with \
                 {FAILED}, those whose time was up with \"timeout\" there",
                verdict.injected
            );
            screen::note("workload", &what);
        }
    }
    if let (failed @ 1.., without) = verdict.failed_alone() {
        let what = format!(
            "it also failed in {failed} of {without} trials in which no fault happened, so what is found may be failures of its own: \
             trust what repeats in replays"
        );
        screen::note("workload", &what);
    }
    if verdict.refused > 0 {
        let what = format!("{} could not be injected; the outcomes of the trials say why", verdict.refused);
        screen::note("faults", &what);
    }
    screen::kept_in(directory);
    let text = serde_json::to_string_pretty(&document).expect("the document is always JSON") + "\n";
    report::keep(&directory.join(report::SUMMARY), &text)?;
    match report::explored(directory) {
        Ok(page) => screen::line("report", &told(&page)),
        // What was found stands whether or not a page of it can be written.
        Err(error) => screen::note("report", &error.what),
    }
    if json {
        screen::json(&document)?;
    }
    Ok(code)
}

fn trials(number: usize) -> String {
    screen::count(number as u64, "trial", "trials")
}

fn code_of(confirmed: &[&Suspect]) -> ExitCode {
    if confirmed.is_empty() { ExitCode::Done } else { ExitCode::Findings }
}

fn show(finding: &Suspect, told: &Finding, fault: &str, first: &str) {
    screen::line("finding", &screen::clean(fault));
    for it in &finding.symptoms {
        screen::line("", &screen::clean(&it.why));
    }
    for (number, method) in finding.stack.iter().take(6).enumerate() {
        screen::line(if number == 0 { "stack" } else { "" }, &screen::clean(method));
    }
    let trials = trials(finding.trials.len());
    screen::line(
        "seen",
        &format!(
            "in {trials}, first in trial {}{first}; confirmed by {}",
            finding.first_trial,
            replays(told)
        ),
    );
    if let Some(compared) = compared(told) {
        screen::line("compared", &compared);
    }
    screen::line("replay", &told.replay);
    screen::gap();
}
