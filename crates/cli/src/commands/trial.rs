//! `hypocenter trial`: one trial of a campaign, in its place, for whoever runs trials elsewhere.

use std::io::ErrorKind;
use std::path::Path;

use hypocenter_engine::{Job, JobId, Work};
use hypocenter_lab::{Journal, LabError, Observer, finished, put_aside, trial_directory};
use hypocenter_plan::{End, ExitCode, Outcome};
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
    let job = asked(&ready, id)?.ok_or_else(|| {
        Failure::usage(format!("{} has no trial {}", campaign.display(), args.index)).hint(format!(
            "it has {}, numbered from 0",
            screen::count(ready.request.repeat, "trial", "trials")
        ))
    })?;
    screen::line("trial", &format!("{} of {}", args.index, campaign.display()));
    let directory = trial_directory(&campaign, id);
    let outcome = carry_out(&ready, &job, &directory, args).map_err(try_again)?;
    screen::ended_nodes(&outcome);
    outcome.candidates.iter().for_each(screen::candidate);
    screen::steering(&outcome.steering);
    finish(&args.lab, &outcome, &directory)?;
    if outcome.end == End::Interrupted {
        screen::note("trial", "it was interrupted and has no outcome; run it again");
        return Ok(ExitCode::TryAgain);
    }
    if outcome.disk_full {
        return Err(try_again(LabError::DiskFull { trial: directory.display().to_string() }));
    }
    Ok(ExitCode::Done)
}

fn carry_out(ready: &Ready, job: &Job, directory: &Path, args: &TrialArgs) -> Result<Outcome, LabError> {
    match finished(directory)? {
        Some(outcome) if !outcome.disk_full => {
            screen::line("", "it was run before; this is its outcome");
            return Ok(outcome);
        }
        // What a full disk cut off is kept, and the trial run again.
        Some(_) => put_aside(directory)?,
        None => {}
    }
    let interrupt = Interrupt::watch();
    let passing = Passing {
        all_to_stderr: args.lab.json,
        plain: ready.request.workload().is_one_command(),
        verbose: args.show.verbose,
        interrupt: &interrupt,
    };
    let quiet = Quiet(&interrupt);
    let observer: &dyn Observer = if args.lab.quiet { &quiet } else { &passing };
    ready.trial(job, observer)
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

/// A trial of a campaign: what its engine has asked for or, where nobody has begun to run it yet, what its request asks for.
fn asked(ready: &Ready, id: JobId) -> Result<Option<Job>, Failure> {
    let path = Journal::path_in(&ready.directory);
    let mut found = None;
    if path.exists() {
        let (head, mut jobs) = Journal::jobs(&path)?;
        if head.target != ready.target() {
            return Err(Failure::usage(format!(
                "{}: its map or its request has changed since its trials ran",
                ready.directory.display()
            ))
            .hint("the files were changed: start a new campaign"));
        }
        found = jobs.remove(&id).filter(|it| matches!(it.work, Work::Trial { .. }));
    }
    Ok(found.or_else(|| ready.request.jobs().into_iter().find(|it| it.id == id)))
}
