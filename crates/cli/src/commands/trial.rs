//! `hypocenter trial`: one trial of a campaign, in its place, for whoever runs trials elsewhere.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use hypocenter_engine::{JobId, Work};
use hypocenter_lab::{Entry, Journal, LabError, Observer, finished, put_aside, trial_directory};
use hypocenter_plan::{End, ExitCode, Outcome, Plan};
use hypocenter_trace::TraceError;

use crate::args::TrialArgs;
use crate::commands::run::finish;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::local::Ready;
use crate::request::existing;
use crate::screen::{self, Passing, Quiet};

pub fn run(args: &TrialArgs) -> Result<ExitCode, Failure> {
    let name = args.lab.campaign.as_deref().unwrap_or("latest");
    let campaign = existing(&args.lab, name);
    screen::heading("hypocenter trial");
    let ready = Ready::beside(campaign.clone(), &args.lab)?;
    let id = JobId(args.index);
    let plan = match asked(&ready)?.remove(&id) {
        Some(plan) => plan,
        // A campaign that nobody has begun to run yet: its trials follow from what it was asked to do.
        None => ready.request.plans().into_iter().nth(args.index as usize).ok_or_else(|| {
            Failure::usage(format!("{} has no trial {}", campaign.display(), args.index))
                .hint(format!("it has {}, from 0", screen::count(ready.request.repeat, "trial", "trials")))
        })?,
    };
    screen::line("trial", &format!("{} of {}", args.index, campaign.display()));
    let directory = trial_directory(&campaign, id);
    let outcome = carry_out(&ready, id, &plan, &directory, args).map_err(try_again)?;
    screen::ended_nodes(&outcome);
    outcome.candidates.iter().for_each(screen::candidate);
    finish(&args.lab, &outcome, &directory)?;
    if outcome.end == End::Interrupted {
        screen::note("trial", "it was interrupted, and has no outcome; run it again");
        return Ok(ExitCode::TryAgain);
    }
    if outcome.disk_full {
        return Err(try_again(LabError::DiskFull { trial: directory.display().to_string() }));
    }
    Ok(ExitCode::Done)
}

fn carry_out(
    ready: &Ready,
    id: JobId,
    plan: &Plan,
    directory: &Path,
    args: &TrialArgs,
) -> Result<Outcome, LabError> {
    match finished(directory)? {
        Some(outcome) if !outcome.disk_full => {
            screen::line("", "it was carried out before; this is what it gave");
            return Ok(outcome);
        }
        // What a full disk cut off is kept, and the trial run again.
        Some(_) => put_aside(directory)?,
        None => {}
    }
    let interrupt = Interrupt::watch();
    let passing = Passing {
        all_to_stderr: args.lab.json,
        plain: ready.request.workload.is_one_command(),
        verbose: args.show.verbose,
        interrupt: &interrupt,
    };
    let quiet = Quiet(&interrupt);
    let observer: &dyn Observer = if args.lab.quiet { &quiet } else { &passing };
    ready.one(id, plan, directory, observer)
}

/// An error of the lab; where another try may succeed, the exit code says so.
fn try_again(error: LabError) -> Failure {
    let may_succeed = match &error {
        LabError::TrialBusy { .. } | LabError::DiskFull { .. } => true,
        LabError::File { source, .. } | LabError::Trace(TraceError::Io { source, .. }) => {
            matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        }
        other => other.lost_keeper().is_some(),
    };
    let failure = Failure::from(error);
    if may_succeed { Failure { code: ExitCode::TryAgain, ..failure } } else { failure }
}

/// The trials that the campaign's engine has asked for so far.
fn asked(ready: &Ready) -> Result<BTreeMap<JobId, Plan>, Failure> {
    let path = Journal::path_in(&ready.directory);
    let mut plans = BTreeMap::new();
    if !path.exists() {
        return Ok(plans);
    }
    // The campaign may be running: the journal is read, and neither repaired nor locked.
    let head = Journal::read(&path, |entry| {
        let Entry::Asked { jobs, .. } = entry else { return };
        for job in jobs {
            if let Work::Trial { plan, .. } = job.work {
                plans.insert(job.id, plan);
            }
        }
    })?;
    if head.target != ready.target() {
        return Err(Failure::usage(format!(
            "{}: its map, or what it was asked to do, is not what its trials were run with",
            ready.directory.display()
        ))
        .hint("the files were changed: begin a new campaign"));
    }
    Ok(plans)
}
