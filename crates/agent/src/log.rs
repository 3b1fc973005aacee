//! The agent's own log, beside the trial's file: for what goes wrong where the trial's file cannot be written.
//! Nothing is ever printed on the target's stdout or stderr, where a stray line can freeze a test runner.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static PATH: OnceLock<PathBuf> = OnceLock::new();

/// The agent's log of a trial.
pub(crate) fn path_for(trial: &Path) -> PathBuf {
    let mut name = trial.as_os_str().to_owned();
    name.push(".agent.log");
    PathBuf::from(name)
}

pub(crate) fn set_path(path: PathBuf) {
    let _ = PATH.set(path);
}

/// Adds a line. There is nobody to tell if that fails.
pub(crate) fn line(text: &str) {
    let Some(path) = PATH.get() else { return };
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path) {
        let line = format!("pid {}: {}\n", std::process::id(), text.replace('\n', " | "));
        let _ = file.write_all(line.as_bytes());
    }
}
