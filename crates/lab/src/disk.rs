//! Disk space of a campaign: its size, and the removal of what no replay needs.
//!
//! A replay needs the request, the map and the plan of its trial, a resumed campaign its journal and the digests beside it.
//! Traces, what the workload wrote and the logs of trials in which nothing was found can go.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hypocenter_engine::JobId;

use crate::trial::TrialFiles;
use crate::{LabError, Lock, trial_directory};

/// Maximum depth of directories that are searched.
const DEPTH_MAX: usize = 64;

/// The bytes that a directory takes on its disk. A file with several names counts once, links are not followed, and what
/// cannot be read does not count.
pub fn size(directory: &Path) -> u64 {
    let mut seen = BTreeSet::new();
    let mut open = vec![(directory.to_owned(), 0)];
    let mut bytes = 0;
    while let Some((path, depth)) = open.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if seen.insert((metadata.dev(), metadata.ino())) {
            bytes += metadata.blocks() * 512;
        }
        if metadata.is_dir() && depth < DEPTH_MAX {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|it| (it.path(), depth + 1)));
        }
    }
    bytes
}

/// Removes the trace of a trial that was digested.
pub(crate) fn drop_trace(campaign: &Path, id: JobId) -> Result<(), LabError> {
    let files = TrialFiles::of(&trial_directory(campaign, id));
    remove(&files.trace)
}

/// Removes what no replay of a campaign's trials needs, and gives how many bytes that freed. Of the trials that `is_kept`, logs
/// and traces stay. Nobody may be working on the campaign.
pub fn clean(campaign: &Path, is_kept: &dyn Fn(u64) -> bool) -> Result<u64, LabError> {
    let _nobody = Lock::take(campaign)?;
    let before = size(campaign);
    let trials = campaign.join("trials");
    match fs::symlink_metadata(&trials) {
        Ok(it) if it.is_dir() => {}
        // A link may lead to what is none of the campaign's.
        _ => return Ok(0),
    }
    let entries = fs::read_dir(&trials).map_err(file_error(&trials))?;
    for path in entries.flatten().map(|it| it.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match name.parse::<u64>() {
            Ok(number) => clean_trial(&path, is_kept(number))?,
            // A trial that was interrupted and put aside.
            Err(_) if name.contains(".cut-") => remove(&path)?,
            Err(_) => {}
        }
    }
    Ok(before.saturating_sub(size(campaign)))
}

fn clean_trial(directory: &Path, is_kept: bool) -> Result<(), LabError> {
    let files = TrialFiles::of(directory);
    if !files.outcome.exists() {
        // It was interrupted, and is run again from its start.
        return remove(directory);
    }
    let of_workload = [&files.fresh, &files.tmp];
    of_workload.into_iter().try_for_each(|it| remove(it))?;
    if !is_kept {
        let seen = [&files.trace, &files.dumps, &files.logs];
        seen.into_iter().try_for_each(|it| remove(it))?;
        remove(&files.agent_log())?;
    }
    Ok(())
}

/// Removes a file or a directory, if it is there; of a link the link itself.
fn remove(path: &Path) -> Result<(), LabError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(it) if it.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(file_error(path)(error)),
        _ => Ok(()),
    }
}

fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    let path = path.display().to_string();
    move |source| LabError::File { path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_size_counts_each_file_once_and_follows_no_link() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let empty = size(directory.path());
        fs::write(at("one"), vec![1; 1 << 20]).unwrap();
        let with_one = size(directory.path());
        assert!(with_one - empty >= 1 << 20);
        fs::hard_link(at("one"), at("again")).unwrap();
        symlink("/", at("root")).unwrap();
        assert!(size(directory.path()) - with_one < 1 << 16);
    }

    #[test]
    fn cleaning_leaves_what_replays_need_and_what_is_not_the_campaigns() {
        let directory = tempfile::tempdir().unwrap();
        let (campaign, precious) = (directory.path().join("c"), directory.path().join("precious"));
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("file"), "x").unwrap();
        for (name, is_over) in [("000", true), ("001", true), ("002", false), ("003.cut-1", false)] {
            let trial = campaign.join("trials").join(name);
            let files = TrialFiles::of(&trial);
            for path in [&files.logs, &files.fresh, &files.tmp, &files.dumps] {
                fs::create_dir_all(path).unwrap();
                fs::write(path.join("x"), "x").unwrap();
            }
            symlink(&precious, files.fresh.join("link")).unwrap();
            fs::write(&files.plan, "{}").unwrap();
            fs::write(&files.trace, "x").unwrap();
            if is_over {
                fs::write(&files.outcome, "{}").unwrap();
            }
        }
        assert!(clean(&campaign, &|number| number == 1).unwrap() > 0);
        let left = |name: &str| {
            let trial = campaign.join("trials").join(name);
            let entries = fs::read_dir(trial).into_iter().flatten().flatten();
            let mut names: Vec<String> = entries.map(|it| it.file_name().into_string().unwrap()).collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(left("000"), "outcome.json plan.json");
        assert_eq!(left("001"), "dumps logs outcome.json plan.json trace");
        assert_eq!((left("002").as_str(), left("003.cut-1").as_str()), ("", ""));
        assert!(precious.join("file").exists());
        let error = {
            let _somebody = Lock::take(&campaign).unwrap();
            clean(&campaign, &|_| false).unwrap_err()
        };
        assert!(matches!(error, LabError::Busy { .. }), "{error}");
    }
}
