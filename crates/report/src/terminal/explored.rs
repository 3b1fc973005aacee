//! Results of a campaign of `explore`.

use hypocenter_results::explored::{Exploration, Severity, Standing, Suspicion, Symptom, SymptomKind, Tried};
use hypocenter_results::{Document, Finding};

use super::{Line, labelled};
use crate::text::{count, span, thousands};
use crate::words::{compared, proven, replays};

/// Maximum number of failures of the whole workload that are listed if there is nothing else.
const MINOR_SHOWN: usize = 10;
/// Methods of a stack that are shown.
const METHODS_SHOWN: usize = 6;

/// Flag that treats the failure of a workload as a failure.
const FAILED: &str = r#"--oracle '{ exit = "failed" }'"#;

/// Tests whether the whole workload failed, which without clients says little.
fn is_failure(it: &Symptom) -> bool {
    it.kind == SymptomKind::Client && it.severity == Severity::Minor
}

/// The end of a campaign.
pub fn explored(document: &Document<Exploration>) -> Vec<Line> {
    let it = &document.detail;
    let fault = |finding: &Finding<Suspicion>| {
        let state = finding.detail.state.as_deref().map_or_else(String::new, |it| format!(" in {it}"));
        finding.injected().line(it.has_several_nodes()) + &state
    };
    let mut lines = vec![Line::gap()];
    for finding in &it.findings {
        lines.extend(confirmed(document, finding, fault(finding)));
    }
    for finding in &it.unconfirmed {
        lines.push(Line::new("seen", format!("{}: {}", fault(finding), finding.why)));
        let is_replayed = finding.rate.runs + finding.missed > 0;
        let rate = if is_replayed { format!(", {}", replays(finding)) } else { String::new() };
        lines.push(Line::more(format!("{}{rate}: `{}`", proven(finding.proof), finding.replay)));
    }
    for finding in &it.known {
        let (why, seen) =
            (finding.detail.known.as_deref().unwrap_or_default(), trials(finding.detail.trials));
        lines.push(Line::new("known", format!("{}: {why}, in {seen}", fault(finding))));
    }
    if it.findings.is_empty() && it.unconfirmed.is_empty() {
        // Where nothing stands out, this is what to look at.
        let failed = |it: &&Finding<Suspicion>| it.detail.symptoms.first().is_some_and(is_failure);
        for finding in it.expected.iter().filter(failed).take(MINOR_SHOWN) {
            let seen = trials(finding.detail.trials);
            lines.push(Line::new("minor", format!("{}: {}, in {seen}", fault(finding), finding.why)));
        }
    }
    lines.extend(done(document));
    lines.extend(standing(it));
    lines.extend(doubts(it));
    lines
}

/// A finding that counts.
fn confirmed(document: &Document<Exploration>, it: &Finding<Suspicion>, fault: String) -> Vec<Line> {
    let Suspicion { first_trial, trials: shown_by, symptoms, stack, .. } = &it.detail;
    let mut lines = vec![Line::new("finding", fault)];
    lines.extend(symptoms.iter().map(|it| Line::more(it.why.clone())));
    lines.extend(labelled("stack", stack.iter().take(METHODS_SHOWN).cloned()));
    let first = document.detail.tried.iter().find(|it| it.number == *first_trial);
    let first = first.map_or_else(String::new, |it| format!(" ({}/{})", document.header.campaign, it.trial));
    let seen = format!(
        "in {}, first in trial {first_trial}{first}; confirmed by {}",
        trials(*shown_by),
        replays(it)
    );
    lines.push(Line::new("seen", seen));
    lines.extend(compared(it).map(|it| Line::new("compared", it)));
    lines.push(Line::new("replay", it.replay.clone()));
    lines.push(Line::gap());
    lines
}

/// Result of the campaign, in figures.
fn done(Document { header, detail: it }: &Document<Exploration>) -> Vec<Line> {
    let mut lines = vec![Line::new(
        if header.cut_short { "so far" } else { "done" },
        format!(
            "{}, {} with a fault, {}, {}, {} seen and not confirmed, {} expected or minor, {}",
            trials(it.trials),
            thousands(it.injected),
            count(it.states, "state", "states"),
            count(it.findings.len() as u64, "confirmed finding", "confirmed findings"),
            thousands(it.unconfirmed.len() as u64),
            thousands(it.expected.len() as u64),
            span(header.seconds)
        ),
    )];
    let struck = it.sites.injected;
    if let Some(reached) = it.sites.reached.filter(|it| struck > 0 && *it > struck) {
        let (left, calls) = (thousands(reached - struck), count(reached, "call", "calls"));
        let finer = if it.key == "operation" { "" } else { ", or `key = \"operation\"` under [explore]" };
        lines.push(Line::more(format!(
            "{left} of the {calls} that the workload makes had no fault yet; try more --trials{finer}"
        )));
    }
    lines
}

fn standing(it: &Exploration) -> Vec<Line> {
    match &it.standing {
        Standing::NormalFails { wrong, runs } => wrong
            .iter()
            .map(|(what, failed)| {
                let what = format!(
                    "{what}, in {failed} of {runs} runs without a fault; fix the workload first, or give it more time"
                );
                Line::note("workload", &what)
            })
            .collect(),
        Standing::NothingToInject => {
            let what = "it reaches no call that can fail; use another, or other --faults";
            let problems = it.problems.iter().map(|it| Line::note("command", it));
            std::iter::once(Line::note("workload", what)).chain(problems).collect()
        }
        Standing::NothingLeft => {
            let all = trials(it.trials);
            vec![Line::more(format!("the policy has nothing left to inject after {all}"))]
        }
        Standing::Done | Standing::Going => Vec::new(),
    }
}

/// Caveats.
fn doubts(it: &Exploration) -> Vec<Line> {
    let mut lines = Vec::new();
    let failed = |it: &&Tried| it.injected.is_some() && it.symptoms.iter().any(is_failure);
    if let (failed @ 1.., false) = (it.tried.iter().filter(failed).count(), it.is_judged) {
        let what = format!(
            "it failed in {failed} of {} trials with a fault, which is minor without clients; to examine these trials use {FAILED}, and \"timeout\" for those that timed out",
            it.injected
        );
        lines.push(Line::note("workload", &what));
    }
    if let (failed @ 1.., without) = it.failed_alone() {
        let what = format!(
            "it also failed in {failed} of {without} trials without a fault, so findings may be independent failures: rely on those that repeat in replays"
        );
        lines.push(Line::note("workload", &what));
    }
    if it.refused > 0 {
        let what =
            format!("{} could not be injected; the outcomes of the trials have the reason", it.refused);
        lines.push(Line::note("faults", &what));
    }
    lines
}

fn trials(number: u64) -> String {
    count(number, "trial", "trials")
}
