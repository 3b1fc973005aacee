//! `hypocenter trial`: one trial of a campaign, in its place, for whoever runs trials elsewhere.

use std::collections::BTreeMap;
use std::io::BufRead;

use hypocenter_engine::{JobId, Work};
use hypocenter_lab::{Entry, Journal, finished, trial_directory};
use hypocenter_plan::{ExitCode, Plan};

use crate::args::TrialArgs;
use crate::commands::run::{code_of, finish};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::local::Ready;
use crate::request::existing;
use crate::screen::{self, Passing};

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
    let outcome = match finished(&directory)? {
        Some(outcome) => {
            screen::line("", "it was carried out before; this is what it gave");
            outcome
        }
        None => {
            let interrupt = Interrupt::watch();
            let passing = Passing {
                all_to_stderr: args.lab.json,
                plain: ready.request.workload.is_one_command(),
                verbose: args.show.verbose,
                interrupt: &interrupt,
            };
            ready.one(id, &plan, &directory, &passing)?
        }
    };
    screen::ended_nodes(&outcome);
    outcome.candidates.iter().for_each(screen::candidate);
    finish(&args.lab, &outcome, &directory)?;
    Ok(code_of(&ready.request, &outcome))
}

/// The trials that the campaign's engine has asked for so far.
fn asked(ready: &Ready) -> Result<BTreeMap<JobId, Plan>, Failure> {
    let path = Journal::path_in(&ready.directory);
    let file = match std::fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(Failure::usage(format!("{}: {error}", path.display()))),
    };
    let mut plans = BTreeMap::new();
    // The campaign may be running: the journal is read, and neither mended nor locked.
    for line in std::io::BufReader::new(file).split(b'\n').skip(1) {
        let line = line.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        if let Ok(Entry::Asked { jobs, .. }) = serde_json::from_slice(&line) {
            for job in jobs {
                if let Work::Trial { plan, .. } = job.work {
                    plans.insert(job.id, plan);
                }
            }
        }
    }
    Ok(plans)
}
