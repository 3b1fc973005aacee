//! The log files that processes write themselves, beside what they print.

use std::path::{Path, PathBuf};

use hypocenter_plan::{Problem, ProcessOutcome, Role, Workload};

use crate::oracle::{Ground, Place};
use crate::stage::Staged;
use crate::trial::TrialFiles;

/// Maximum number of files of a process; the first ones count.
const FILES_MAX: usize = 64;

/// Adds the log files of the workload's processes to their outcomes. Of a node that was started again, they are its last
/// process's: who wrote which line is not to be seen.
pub(crate) fn add(workload: &Workload, directory: &Path, fresh: &Path, staged: &mut Staged) {
    let mut done: Vec<(String, Role)> = Vec::new();
    let Staged { processes, problems, .. } = staged;
    for process in processes.iter_mut().rev() {
        let key = (process.name.clone(), process.role);
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        for pattern in patterns(workload, process) {
            if let Err(what) = find(pattern, directory, fresh, &mut process.logs) {
                let what = format!("{what} (`logs` of {})", process.name);
                problems.push(Problem { place: "logs".to_owned(), what });
            }
        }
    }
}

/// The log files that the processes of a trial in this directory have written so far.
pub fn written(workload: &Workload, directory: &Path) -> Vec<PathBuf> {
    let fresh = TrialFiles::of(directory).fresh;
    let ground = Ground { base: &fresh, directory, fresh: &fresh, tmp: None };
    let of_nodes = workload.node.iter().flat_map(|it| &it.logs);
    let patterns = workload.logs.iter().chain(of_nodes).chain(workload.client.iter().flat_map(|it| &it.logs));
    patterns.flat_map(|it| Place::on(it, &ground).files().unwrap_or_default()).take(FILES_MAX).collect()
}

fn patterns<'w>(workload: &'w Workload, process: &ProcessOutcome) -> &'w [String] {
    let name = &process.name;
    match process.role {
        Role::Command => &workload.logs,
        Role::Node => workload.node.iter().find(|it| it.name == *name).map_or(&[][..], |it| &it.logs),
        Role::Client => workload.client.iter().find(|it| it.name == *name).map_or(&[][..], |it| &it.logs),
    }
}

/// Adds what fits a pattern, as paths in the trial's directory.
fn find(pattern: &str, directory: &Path, fresh: &Path, logs: &mut Vec<String>) -> Result<(), String> {
    // All is below `{dir}`, so nothing else is looked at.
    let ground = Ground { base: fresh, directory, fresh, tmp: None };
    let found = Place::on(pattern, &ground).files().map_err(|error| format!("`{pattern}`: {error}"))?;
    if found.is_empty() {
        return Err(format!("no file matches `{pattern}` after the trial"));
    }
    for path in &found {
        let below = path.strip_prefix(directory).ok().and_then(|it| it.to_str());
        let below = below.ok_or_else(|| format!("{} has a name that is not UTF-8", path.display()))?;
        if logs.len() >= FILES_MAX {
            return Err(format!("more than {FILES_MAX} files match `{pattern}`; the others are not read"));
        }
        if !logs.iter().any(|it| it == below) {
            logs.push(below.to_owned());
        }
    }
    Ok(())
}
