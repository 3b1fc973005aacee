//! What a campaign came to.

use std::path::Path;
use std::time::Duration;

use hypocenter_plan::{ExitCode, Fault};
use hypocenter_reproduce::{Case, Found, Missing, Round, Standing, Verdict};
use serde::Serialize;

use super::live::fault;
use super::story::Story;
use crate::failure::Failure;
use crate::screen;

/// Rounds that came near and are shown.
const CLOSEST_SHOWN: usize = 3;

/// The document.
#[derive(Debug, Serialize)]
struct Document<'v> {
    reproduced: bool,
    rounds: usize,
    seconds: f64,
    rate: Option<Rate>,
    fault: Option<FaultDocument<'v>>,
    replay: Option<String>,
    sites_total: usize,
    sites: usize,
    instances: usize,
    observables: usize,
    normal_runs: u64,
    normal_failures: u64,
    standing: &'v Standing,
    found: &'v [Found],
    /// For each of these how the fault led to the failure.
    stories: Vec<Option<Story>>,
    missing: &'v [Missing],
    tried: &'v [Round],
}

#[derive(Debug, Serialize)]
struct Rate {
    hits: u64,
    runs: u64,
}

#[derive(Debug, Serialize)]
struct FaultDocument<'v> {
    class: &'v str,
    method: &'v str,
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exception: Option<&'v str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    callee: Option<&'v str>,
    occurrence: u64,
    node: &'v str,
    thread: &'v str,
}

/// Says what came of it.
pub fn finish(
    verdict: &Verdict,
    case: &Case,
    directory: &Path,
    took: Duration,
    json: bool,
) -> Result<ExitCode, Failure> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    screen::gap();
    let mut stories = Vec::new();
    for found in &verdict.found {
        let story = Story::of(case, verdict, found, directory)?;
        show(found, story.as_ref(), &name);
        stories.push(story);
    }
    let rounds = verdict.rounds.len();
    let code = match &verdict.standing {
        Standing::Reproduced => {
            let round = verdict.found.first().map_or(0, |it| it.round);
            screen::line("done", &format!("reproduced in round {round}, {:.0} s in all", took.as_secs_f64()));
            ExitCode::Done
        }
        Standing::AlreadyFails { failed, runs } => {
            screen::note(
                "oracle",
                &format!(
                    "the failure happens without a fault, in {failed} of {runs} runs; mend the workload or the oracle first"
                ),
            );
            ExitCode::AlreadyFails
        }
        Standing::Exhausted => {
            screen::line("not found", &format!("everything was tried, in {rounds} rounds"));
            closest(verdict, &name);
            ExitCode::Findings
        }
        Standing::Budget | Standing::Going => {
            screen::line("not found", &format!("the budget of {rounds} rounds is used up"));
            closest(verdict, &name);
            ExitCode::Budget
        }
        Standing::NothingMissing => {
            screen::note(
                "failure",
                "its log shows nothing that a normal run does not: there is nothing to go by",
            );
            ExitCode::Findings
        }
        Standing::NothingToTry => {
            screen::note(
                "workload",
                "it reaches no site that can lead to what the failure log shows; use one that exercises the same code",
            );
            ExitCode::Findings
        }
        Standing::Unreadable { why } => {
            return Err(Failure::usage(format!("a run without a fault gave nothing to compare: {why}"))
                .hint("let the workload log to its standard output in the layout of the failure log"));
        }
    };
    if verdict.unjudged > 0 {
        let what =
            format!("of {} trials it could not say anything; their outcomes say why", verdict.unjudged);
        screen::note("oracle", &what);
    }
    if verdict.refused > 0 {
        let what = format!("{} could not be injected; the outcomes of the rounds say why", verdict.refused);
        screen::note("faults", &what);
    }
    screen::line("kept in", &directory.display().to_string());
    if json {
        let found = verdict.found.first();
        let first = found.and_then(|it| it.faults.last());
        screen::json(&Document {
            reproduced: verdict.standing == Standing::Reproduced,
            rounds: found.map_or(rounds, |it| it.round as usize),
            seconds: took.as_secs_f64(),
            rate: found.map(|it| Rate { hits: it.hits, runs: it.runs }),
            fault: first.map(|it| FaultDocument {
                class: &it.site.class,
                method: &it.site.method,
                line: it.site.line,
                exception: match &it.fault {
                    Fault::Exception { class, .. } => Some(class),
                    _ => None,
                },
                delay_ms: match &it.fault {
                    Fault::Delay { delay_ms, .. } => Some(*delay_ms),
                    _ => None,
                },
                callee: it.site.callee.as_deref(),
                occurrence: it.at.occurrence,
                node: &it.at.node,
                thread: &it.at.thread,
            }),
            replay: found.map(|it| replay(it, &name)),
            sites_total: verdict.sites_total,
            sites: verdict.sites_inferred,
            instances: verdict.instances,
            observables: verdict.missing.len(),
            normal_runs: verdict.normal.0,
            normal_failures: verdict.normal.1,
            standing: &verdict.standing,
            found: &verdict.found,
            stories,
            missing: &verdict.missing,
            tried: &verdict.rounds,
        })?;
    }
    Ok(code)
}

fn replay(found: &Found, name: &str) -> String {
    format!("hypocenter replay {name}/{}", found.replayed.unwrap_or(found.trial))
}

fn show(found: &Found, story: Option<&Story>, name: &str) {
    for it in &found.faults {
        screen::line("fault", &screen::clean(&fault(it)));
        for (number, frame) in it.at.stack.iter().take(6).enumerate() {
            screen::line(if number == 0 { "stack" } else { "" }, &screen::clean(&frame.to_string()));
        }
    }
    if let Some(story) = story {
        story.show(found, name);
        screen::gap();
    }
    screen::line("oracle", &screen::clean(&found.why));
    screen::line("rate", &format!("{} of {} replays", found.hits, found.runs));
    screen::line("replay", &replay(found, name));
}

/// The rounds that came nearest, and what no round ever showed.
fn closest(verdict: &Verdict, name: &str) {
    let mut near: Vec<&Round> = verdict.rounds.iter().filter(|it| it.fault.is_some()).collect();
    near.sort_by_key(|it| std::cmp::Reverse(it.shown.len()));
    for (number, it) in near.iter().take(CLOSEST_SHOWN).enumerate() {
        let what = it.fault.as_ref().map(fault).unwrap_or_default();
        screen::line(
            if number == 0 { "closest" } else { "" },
            &screen::clean(&format!(
                "{name}/{}: {what}, shows {} of {}",
                it.trial,
                it.shown.len(),
                verdict.missing.len()
            )),
        );
    }
    let never: Vec<&Missing> = verdict.missing.iter().filter(|it| it.shown == 0 && it.sites > 0).collect();
    for (number, it) in never.iter().take(CLOSEST_SHOWN).enumerate() {
        let text: String = it.message.chars().take(100).collect();
        screen::line(
            if number == 0 { "never" } else { "" },
            &screen::clean(&format!("line {} of the failure log: {text}", it.line)),
        );
    }
}
