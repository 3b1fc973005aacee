//! What the page of a campaign draws, kept beside its summary: `runs.json`.

use hypocenter_engine::{Evidence, JobId};
use hypocenter_lab::{evidence_of, finished, trial_directory};
use hypocenter_plan::Outcome;
use hypocenter_results::Injected;
use hypocenter_results::reproduced::Missing;
use hypocenter_results::runs::{RUNS_VERSION, Runs};

use super::closest;
use super::result::Ended;
use super::summary;
use crate::failure::Failure;

/// Keeps it, if there is anything to draw.
pub fn keep(ended: &Ended<'_>) -> Result<(), Failure> {
    let Ended { verdict, case, directory, .. } = ended;
    let look = |trial: u64| -> Result<Option<(Outcome, Evidence)>, Failure> {
        let directory = trial_directory(directory, JobId(trial));
        let Some(outcome) = finished(&directory)? else { return Ok(None) };
        let evidence = evidence_of(&directory, &outcome)?;
        Ok(Some((outcome, evidence)))
    };
    // What was found, or else what came nearest to it.
    let near = closest::nearest(verdict);
    let (trial, faults): (Option<u64>, &[Injected]) = match verdict.found.first() {
        Some(it) => (Some(it.replayed.unwrap_or(it.trial)), &it.faults),
        None => (near.first().map(|it| it.0.trial), &[]),
    };
    let evidence = trial.map(look).transpose()?.flatten().map(|it| it.1);
    // The first trials of a campaign have no fault.
    let mut normal = None;
    for number in 0..verdict.normal.0 {
        if let Some((_, evidence)) = look(number)?.filter(|it| it.0.candidates.is_empty()) {
            normal = Some((number, evidence));
            break;
        }
    }
    let matched = |it: &Missing| case.keys()[it.key as usize].entries.len() as u32 - it.times;
    let missing: Vec<(u32, u32)> = verdict.missing.iter().map(|it| (it.key, matched(it))).collect();
    let keys: Vec<u32> = missing.iter().map(|it| it.0).collect();
    let threads: Vec<(&str, &str)> = faults.iter().map(|it| (&*it.at.node, &*it.at.thread)).collect();
    let beside = evidence.as_ref().and_then(|it| case.beside_at_length(it, &missing));
    let lanes = case.lanes(normal.as_ref().map(|it| &it.1), evidence.as_ref(), &keys, &threads);
    let runs = Runs {
        version: RUNS_VERSION,
        normal: normal.map(|it| it.0),
        trial,
        beside: beside.map(|it| it.beside),
        lanes,
    };
    summary::write_runs(directory, &runs)
}
