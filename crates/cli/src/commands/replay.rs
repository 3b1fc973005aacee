//! `hypocenter replay`: a trial of an earlier campaign again, under the same plan.

use hypocenter_engine::JobId;
use hypocenter_lab::{TrialFiles, trial_directory};
use hypocenter_plan::ExitCode;

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
    carry_out(&ready, &args.lab, None)
}
