//! Trials of earlier campaigns, for engines that play on them.

use std::path::Path;

use hypocenter_engine::Work;
use hypocenter_lab::{Entry, Journal};
use hypocenter_plan::Outcome;
use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::request::Request;

/// Reads the trials of an earlier campaign whose workloads and target are those of a request. `is_same` tells whether all else is the same,
/// and `else_named` what that is.
pub fn trials<D: DeserializeOwned>(
    directory: &Path,
    request: &Request,
    (is_same, else_named): (impl Fn(&Request) -> bool, &str),
    mut each: impl FnMut(Work, Outcome, D),
) -> Result<(), Failure> {
    let earlier = Request::read(directory)?;
    let same = earlier.workloads == request.workloads
        && earlier.oracle == request.oracle
        && earlier.target == request.target
        && is_same(&earlier);
    if !same {
        return Err(Failure::usage(format!(
            "--recorded {}: that campaign has another {else_named}, workload or target",
            directory.display()
        ))
        .hint("give a campaign that was started with the same ones"));
    }
    let mut asked: FxHashMap<u64, Work> = FxHashMap::default();
    let mut problem = None;
    Journal::read(&Journal::path_in(directory), |entry| match entry {
        Entry::Asked { jobs, .. } => asked.extend(jobs.into_iter().map(|it| (it.id.0, it.work))),
        Entry::Told { id, outcome, digest, .. } => {
            let (Some(work), Some(outcome)) = (asked.remove(&id.0), outcome) else { return };
            let digest = digest.read(directory, id);
            match digest.and_then(|it| serde_json::from_value(it).map_err(|error| error.to_string())) {
                Ok(digest) => each(work, *outcome, digest),
                Err(why) => problem = Some(format!("trial {id}: {why}")),
            }
        }
    })?;
    match problem {
        Some(why) => Err(Failure::usage(format!("{}: {why}", Journal::path_in(directory).display()))),
        None => Ok(()),
    }
}
