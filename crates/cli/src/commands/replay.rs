//! `hypocenter replay`: a trial of an earlier campaign again, under the same plan.

mod export;

use std::fs;
use std::path::{Path, PathBuf};

use hypocenter_engine::JobId;
use hypocenter_lab::{Journal, Lock, TrialFiles, finished, trial_directory};
use hypocenter_plan::{CandidateResult, ExitCode, Outcome, Plan};

use crate::args::ReplayArgs;
use crate::commands::run::{carry_out, done_of_replay, read_plan};
use crate::failure::Failure;
use crate::local::Ready;
use crate::request::{REPLAY, Request, existing};
use crate::store::{Called, told};
use crate::summary::Summary;
use crate::target::Target;
use crate::{screen, stale};
use export::Shows;

pub fn run(args: &ReplayArgs) -> Result<ExitCode, Failure> {
    screen::heading("hypocenter replay");
    let (name, index) = match args.trial.rsplit_once('/') {
        Some((name, index)) if index.bytes().all(|it| it.is_ascii_digit()) && !index.is_empty() => {
            let index = index.parse().map_err(|_| {
                Failure::usage(format!("`{index}` is not the number of a trial")).hint("give CAMPAIGN/N")
            })?;
            (name, Some(index))
        }
        _ => (args.trial.as_str(), None),
    };
    let campaign = existing(&args.lab, name);
    let before = Request::read(&campaign)?;
    let index = match index {
        Some(index) => index,
        None => trial_of(&campaign, &before)?,
    };
    let path = TrialFiles::of(&trial_directory(&campaign, JobId(index))).plan;
    if !path.exists() {
        return Err(
            Failure::usage(format!("{}: there is no such trial", path.display())).hint(trials(&campaign))
        );
    }
    let plan = read_plan(&path)?;
    let before = of_trial(before, &campaign, JobId(index))?;
    let plan = plan.completed(before.hooks.as_deref().unwrap_or(&before.plan));
    if let Some(to) = &args.export {
        return export_to(to, args, &before, &plan, &campaign, index);
    }
    let hooks = before.hooks.clone().unwrap_or_else(|| Box::new(before.plan.clone()));
    let request = Request {
        hooks: Some(hooks),
        verb: REPLAY.to_owned(),
        seed: plan.seed,
        repeat: args.times,
        timeout: args.lab.timeout.map(hypocenter_plan::Span).or(before.timeout),
        plan,
        ..before
    };
    screen::line("trial", &format!("{index} of {}", campaign.display()));
    if request.plan.candidates.is_empty() {
        without_fault(&campaign, index);
    }
    args.pass.check(&request)?;
    tell_changed(&request.target.classpath, &TrialFiles::of(&trial_directory(&campaign, JobId(index))).plan);
    let target = Target::open(&request.target)?;
    let ready = Ready::begin(request, &target, &args.lab)?;
    let before = finished(&trial_directory(&campaign, JobId(index)))?;
    let code = carry_out(&ready, &args.lab, args.show, None)?;
    if ready.done() < ready.request.repeat {
        screen::line("ended", &done_of_replay(&ready));
        return Ok(code);
    }
    if let Some(before) = before {
        compare(&ready, &before)?;
    }
    args.pass.judge(&ready, code)
}

/// The request for one trial of a campaign, with all that its job asks for beside the plan.
pub fn of_trial(request: Request, campaign: &Path, id: JobId) -> Result<Request, Failure> {
    let journal = Journal::path_in(campaign);
    let mut job = None;
    if journal.exists() {
        job = Journal::jobs(&journal)?.1.remove(&id);
    }
    match job.or_else(|| request.jobs().into_iter().find(|it| it.id == id)) {
        Some(job) => request.of_trial(&job),
        None => Ok(request),
    }
}

/// Says that classes have changed since a trial was begun, by its plan: it is the new ones that run.
fn tell_changed(class_path: &[PathBuf], plan: &Path) {
    let begun = fs::metadata(plan).and_then(|it| it.modified()).ok();
    if let Some(newer) = begun.and_then(|it| stale::newer_than(class_path, it)) {
        let what = format!("{} is newer than the trial; the replay runs the current program", told(&newer));
        screen::note("classes", &screen::clean(&what));
    }
}

/// The trial that is meant where none is named: the one that a search found, else the first.
pub fn trial_of(campaign: &Path, request: &Request) -> Result<u64, Failure> {
    // A replay has what was asked of the campaign whose trial it is.
    if request.resumed_by() == "run" {
        return Ok(0);
    }
    let summary = Summary::read(campaign);
    if let Some(trial) = summary.as_ref().and_then(Summary::first_found) {
        screen::note("trial", &format!("{trial}, the finding of the campaign (none is given)"));
        return Ok(trial);
    }
    let or_one = planned(campaign).map_or_else(String::new, |it| format!(", or name a trial: {it}"));
    let (what, hint) = if Lock::is_held(campaign) {
        ("the campaign has not ended yet", format!("replay it when it has ended{or_one}"))
    } else if summary.is_none() {
        let go_on = Called::of(campaign).resume(request.resumed_by());
        ("the campaign was interrupted", format!("continue it with `{go_on}`{or_one}"))
    } else {
        ("the campaign has no finding to replay", trials(campaign))
    };
    Err(Failure::usage(format!("{}: {what}", told(campaign))).hint(hint))
}

/// Says that a trial was a run without a fault, if others of the campaign had one, and which those are.
fn without_fault(campaign: &Path, index: u64) {
    let Some(summary) = Summary::read(campaign) else { return };
    let name = Called::of(campaign).name;
    let list = |trials: &[u64]| {
        let named: Vec<String> = trials.iter().take(TRIALS_NAMED).map(|it| format!("{name}/{it}")).collect();
        let more = if trials.len() > named.len() { ", ..." } else { "" };
        named.join(", ") + more
    };
    let (found, struck) = (summary.trials_found(), summary.trials_with_fault());
    let others = match (found.as_slice(), struck.as_slice()) {
        ([], []) => return,
        ([], struck) => format!("trials with a fault: {}", list(struck)),
        (found, _) => format!("findings of the campaign: {}", list(found)),
    };
    screen::note("trial", &screen::clean(&format!("{name}/{index} is a run without a fault; {others}")));
}

/// Number of trials that are named in place of one.
const TRIALS_NAMED: usize = 5;

/// List of the trials.
fn trials(campaign: &Path) -> String {
    planned(campaign).unwrap_or_else(|| "the campaign has no trial yet".to_owned())
}

/// The same, if there is one.
fn planned(campaign: &Path) -> Option<String> {
    let called = Called::of(campaign);
    let entries = std::fs::read_dir(campaign.join("trials")).into_iter().flatten().flatten();
    let planned = entries.filter(|it| TrialFiles::of(&it.path()).plan.exists());
    let numbers: Vec<u64> = planned.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect();
    let (first, last) = (numbers.iter().min()?, numbers.iter().max()?);
    Some(match first == last {
        true => format!("the campaign has trial {first}: `{}`", called.replay(first)),
        false => format!("the campaign has trials {first} to {last}: `{}`", called.replay("N")),
    })
}

/// Writes the folder that works without the campaign.
fn export_to(
    to: &Path,
    args: &ReplayArgs,
    request: &Request,
    plan: &Plan,
    campaign: &Path,
    index: u64,
) -> Result<ExitCode, Failure> {
    let outcome = finished(&trial_directory(campaign, JobId(index)))?;
    let name = campaign.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ended = outcome.iter().flat_map(|it| &it.candidates).zip(&plan.candidates);
    let injected = ended.filter_map(|(it, asked)| match &it.result {
        CandidateResult::Injected(at) => Some(format!(
            "{} at {}, {} on {}",
            it.fault,
            it.site,
            at.hit(&asked.when, at.occurrence),
            at.node
        )),
        _ => None,
    });
    let mut faults: Vec<String> = injected.collect();
    if outcome.is_none() {
        faults = plan.candidates.iter().map(|it| format!("{} at {}", it.fault, it.site)).collect();
    }
    let timeout = args.lab.timeout.map(hypocenter_plan::Span).or(request.timeout);
    let request = Request { timeout, ..request.clone() };
    let shows = Shows {
        trial: format!("{name}/{index}"),
        faults,
        outcome: outcome.as_ref().map_or_else(|| "it has not ended".to_owned(), story),
        rate: Summary::read(campaign).and_then(|it| it.rate_of(index)),
    };
    let out = campaign.parent().unwrap_or(campaign);
    // Without the campaign a plan also says which sites get hooks.
    let mut plan = plan.clone();
    plan.record.watch.clone_from(&request.hooked().record.watch);
    let exported = export::export(to, out, &request, &plan, &shows)?;
    screen::line("trial", &format!("{index} of {}", campaign.display()));
    screen::line("exported", &exported.directory.display().to_string());
    if let Some(along) = exported.taken_along() {
        screen::note("export", &along);
    }
    for it in &exported.needed {
        screen::note("export", &format!("{} is outside of the export and needed at its place", it.display()));
    }
    if let (Some(repeat), Some((hits, runs))) = (shows.repeat(), shows.rate) {
        let what = format!(
            "the failure happened in {hits} of {runs} replays: with --must-pass, use --repeat {repeat}"
        );
        screen::note("export", &what);
    }
    screen::line("run", &format!("sh {}", screen::word(&exported.script.display().to_string())));
    if args.lab.json {
        screen::json(&exported)?;
    }
    Ok(ExitCode::Done)
}

/// Says whether the same happened as in the trial that was replayed.
fn compare(ready: &Ready, before: &Outcome) -> Result<(), Failure> {
    let before = story(before);
    let (mut same, mut other) = (0, None);
    for number in 0..ready.request.repeat {
        let Some(now) = finished(&trial_directory(&ready.directory, JobId(number)))? else { continue };
        match story(&now) {
            it if it == before => same += 1,
            it => other = other.or(Some(it)),
        }
    }
    screen::line("then", &screen::clean(&before));
    let other = other.map_or_else(String::new, |it| format!("; else {it}"));
    screen::line("now", &screen::clean(&format!("the same in {same} of {}{other}", ready.request.repeat)));
    Ok(())
}

/// Result of a trial: injected faults, its end, and whether the failure happened.
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
    outcome.after_node_ends(&parts.join(", "))
}
