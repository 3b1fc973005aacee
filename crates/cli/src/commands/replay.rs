//! `hypocenter replay`: a trial of an earlier campaign again, under the same plan.

use hypocenter_engine::JobId;
use hypocenter_lab::{TrialFiles, finished, trial_directory};
use hypocenter_plan::{CandidateResult, ExitCode, Outcome};

use crate::args::ReplayArgs;
use crate::commands::run::{carry_out, read_plan};
use crate::failure::Failure;
use crate::local::Ready;
use crate::request::{REPLAY, Request, existing};
use crate::screen;
use crate::target::Target;

pub fn run(args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let (name, index) = match args.trial.rsplit_once('/') {
        Some((name, index)) if index.bytes().all(|it| it.is_ascii_digit()) && !index.is_empty() => {
            let index = index.parse().map_err(|_| {
                Failure::usage(format!("`{index}` is no number of a trial")).hint("give CAMPAIGN/N")
            })?;
            (name, index)
        }
        _ => (args.trial.as_str(), 0),
    };
    let campaign = existing(&args.lab, name);
    let before = Request::read(&campaign)?;
    let path = TrialFiles::of(&trial_directory(&campaign, JobId(index))).plan;
    let plan = read_plan(&path)?;
    let request = Request {
        verb: REPLAY.to_owned(),
        seed: plan.seed,
        repeat: args.times,
        timeout: args.lab.timeout.map(hypocenter_plan::Span).or(before.timeout),
        plan,
        ..before
    };
    screen::heading("hypocenter replay");
    screen::line("trial", &format!("{index} of {}", campaign.display()));
    let target = Target::open(&request.target)?;
    let ready = Ready::begin(request, &target, &args.lab)?;
    let before = finished(&trial_directory(&campaign, JobId(index)))?;
    let code = carry_out(&ready, &args.lab, None)?;
    if let Some(before) = before {
        compare(&ready, &before)?;
    }
    Ok(code)
}

/// Says whether the same happened as in the trial that was replayed.
fn compare(ready: &Ready, before: &Outcome) -> Result<(), Failure> {
    let mut same = 0;
    for number in 0..ready.request.repeat {
        let outcome = finished(&trial_directory(&ready.directory, JobId(number)))?;
        same += u64::from(outcome.is_some_and(|it| story(&it) == story(before)));
    }
    screen::line(
        "the same",
        &format!("in {same} of {}: {}", ready.request.repeat, screen::clean(&story(before))),
    );
    Ok(())
}

/// What a trial comes to: which faults went in, how it ended, whether the failure happened.
fn story(outcome: &Outcome) -> String {
    let injected = outcome.candidates.iter().filter_map(|it| match &it.result {
        CandidateResult::Injected(at) => {
            Some(format!("{} at hit {} on {}", it.fault, at.occurrence, at.node))
        }
        _ => None,
    });
    let mut parts: Vec<String> = injected.collect();
    parts.push(format!("the workload {}", outcome.end));
    if let Some(failure) = &outcome.failure {
        parts.push(
            if failure.happened { "the failure happened" } else { "the failure did not happen" }.to_owned(),
        );
    }
    parts.join(", ")
}
