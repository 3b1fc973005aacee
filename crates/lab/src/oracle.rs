//! Says whether the failure happened, from what a trial left behind.
//!
//! [`check`] looks at an [`Oracle`] before anything is run; [`judge`] looks at the [`Scene`] of a trial that is over.
//! Output of the target is not trusted: logs and reports may have any size and encoding and be made to hurt, so
//! all is read in bounded memory. What cannot be known is an error and not a "no": a log that is gone, a report that
//! cannot be read. Texts in `why` are as the target wrote them, cut; whoever shows them escapes them.

mod error;
mod exit;
mod file;
mod lines;
mod log;
mod place;
mod printed;
mod stack;
mod test_failed;
mod text;
mod unmet;

use std::path::Path;
use std::time::SystemTime;

use hypocenter_plan::{End, Oracle, OracleOutcome, ProcessOutcome};

pub use error::OracleError;
pub(crate) use lines::open_regular;
pub(crate) use place::{Ground, Place};
pub(crate) use stack::fits_name;
pub use text::LineText;
pub use unmet::unmet;

/// Maximum length of the reason of a combined oracle.
const WHY_CHARS_MAX: usize = 2000;

/// Data of an oracle at the end of a trial.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// End of the trial.
    pub end: End,
    /// When it was started: what tests reported before is not of this trial.
    pub started: SystemTime,
    /// The processes, with their logs as files below `directory`.
    pub processes: &'a [ProcessOutcome],
    /// The trial's directory.
    pub directory: &'a Path,
    /// Value of `{dir}`.
    pub fresh: &'a Path,
    /// Base of relative paths of the oracle.
    pub base: &'a Path,
    /// Real directory of the trial's private `/tmp`, if it had one.
    pub tmp: Option<&'a Path>,
    /// The threads that were alive at the end.
    pub threads: &'a [LiveThread<'a>],
    /// True if a command of the oracle ended with status 0 at the end of the trial; `None` if it could not be run.
    pub commands: &'a dyn Fn(&str) -> Option<bool>,
}

/// A thread that was alive at the end.
#[derive(Debug, Clone)]
pub struct LiveThread<'a> {
    /// The node or client.
    pub process: &'a str,
    /// The thread's name.
    pub name: &'a str,
    /// Its frames as `package.Class.method`, innermost first.
    pub frames: Vec<&'a str>,
}

/// Checks all that can be checked before a trial is run.
pub fn check(oracle: &Oracle) -> Result<(), OracleError> {
    let wrong = |what, why: &str| {
        Err(OracleError::Pattern { what, pattern: oracle.to_string(), why: why.to_owned() })
    };
    match oracle {
        Oracle::Log { times: 0, .. } => {
            wrong("times", "`times = 0` always holds; give 1 or more, or use `not`")
        }
        Oracle::Log { line, .. } => text::LineText::new("log", line).map(|_| ()),
        Oracle::Stack { frames, thread, .. } => stack::check(frames, thread.as_deref()),
        Oracle::Exit { .. } => Ok(()),
        Oracle::File { path, contains } => file::check(path, contains.as_deref()),
        Oracle::Junit { test, reports } => test_failed::check(test, reports.as_deref()),
        Oracle::Command(command) if command.trim().is_empty() => {
            wrong("command", "it is empty; give a command")
        }
        Oracle::Command(_) => Ok(()),
        Oracle::All(parts) | Oracle::Any(parts) if parts.is_empty() => {
            wrong("combination", "it has no parts; give at least one oracle")
        }
        Oracle::All(parts) | Oracle::Any(parts) => parts.iter().try_for_each(check),
        Oracle::Not(part) => check(part),
    }
}

/// Lines of logs that an oracle looks for: their presence shows the failure.
pub fn lines(oracle: &Oracle) -> Result<Vec<LineText>, OracleError> {
    match oracle {
        Oracle::Log { line, .. } => LineText::new("log", line).map(|it| vec![it]),
        Oracle::All(parts) | Oracle::Any(parts) => {
            let all = parts.iter().map(lines).collect::<Result<Vec<_>, _>>()?;
            Ok(all.into_iter().flatten().collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// Says whether the failure happened, and why.
pub fn judge(oracle: &Oracle, scene: &Scene<'_>) -> Result<OracleOutcome, OracleError> {
    check(oracle)?;
    let OracleOutcome { happened, why } = part(oracle, scene)?;
    Ok(OracleOutcome { happened, why: text::cut(&why, WHY_CHARS_MAX) })
}

fn part(oracle: &Oracle, scene: &Scene<'_>) -> Result<OracleOutcome, OracleError> {
    match oracle {
        Oracle::Log { line, process, times } => log::judge(line, process.as_deref(), *times, scene),
        Oracle::Stack { frames, thread, process } => {
            Ok(stack::judge(frames, thread.as_deref(), process.as_deref(), scene))
        }
        Oracle::Exit { status, process } => Ok(exit::judge(*status, process.as_deref(), scene)),
        Oracle::File { path, contains } => file::judge(path, contains.as_deref(), scene),
        Oracle::Junit { test, reports } => test_failed::judge(test, reports.as_deref(), scene),
        Oracle::Command(command) => match (scene.commands)(command) {
            Some(true) => {
                Ok(OracleOutcome { happened: true, why: format!("`{command}` ended with status 0") })
            }
            Some(false) => {
                Ok(OracleOutcome { happened: false, why: format!("`{command}` did not end with status 0") })
            }
            None => Err(OracleError::Command { command: command.clone() }),
        },
        Oracle::All(parts) => combine(parts, false, scene),
        Oracle::Any(parts) => combine(parts, true, scene),
        Oracle::Not(inner) => {
            let OracleOutcome { happened, why } = part(inner, scene)?;
            let why = if happened { format!("but the oracle requires the opposite: {why}") } else { why };
            Ok(OracleOutcome { happened: !happened, why })
        }
    }
}

/// Looks at parts in turn until one decides: one that holds for `any`, one that does not for `all`. A part that
/// cannot be judged matters only if no other decides.
fn combine(parts: &[Oracle], decisive: bool, scene: &Scene<'_>) -> Result<OracleOutcome, OracleError> {
    let mut whys = Vec::new();
    let mut trouble = None;
    for oracle in parts {
        match part(oracle, scene) {
            Ok(outcome) if outcome.happened == decisive => return Ok(outcome),
            Ok(outcome) => whys.push(outcome.why),
            Err(error) => {
                trouble.get_or_insert(error);
            }
        }
    }
    match trouble {
        Some(error) => Err(error),
        None => Ok(OracleOutcome { happened: !decisive, why: whys.join("; ") }),
    }
}

/// The nodes and clients that an oracle names, so that they can be looked for in the workload before anything is run.
pub fn named_processes(oracle: &Oracle) -> Vec<&str> {
    match oracle {
        Oracle::Log { process, .. } | Oracle::Stack { process, .. } | Oracle::Exit { process, .. } => {
            process.iter().map(String::as_str).collect()
        }
        Oracle::All(parts) | Oracle::Any(parts) => parts.iter().flat_map(named_processes).collect(),
        Oracle::Not(inner) => named_processes(inner),
        Oracle::File { .. } | Oracle::Junit { .. } | Oracle::Command(_) => Vec::new(),
    }
}

/// The frames that an oracle asks for, but not those that must not be there.
pub fn frames(oracle: &Oracle) -> Vec<&str> {
    match oracle {
        Oracle::Stack { frames, .. } => frames.iter().map(String::as_str).collect(),
        Oracle::All(parts) | Oracle::Any(parts) => parts.iter().flat_map(self::frames).collect(),
        _ => Vec::new(),
    }
}

/// The tests that an oracle asks for, but not those that must not fail.
pub fn tests(oracle: &Oracle) -> Vec<&str> {
    match oracle {
        Oracle::Junit { test, .. } => vec![test],
        Oracle::All(parts) | Oracle::Any(parts) => parts.iter().flat_map(self::tests).collect(),
        _ => Vec::new(),
    }
}

/// Why a process that is asked for cannot be looked at.
fn not_started(process: Option<&str>, scene: &Scene<'_>) -> String {
    let mut started: Vec<&str> = scene.processes.iter().map(|it| it.name.as_str()).collect();
    started.dedup();
    let started = if started.is_empty() { "nothing".to_owned() } else { text::names(started) };
    match process {
        Some(name) => format!("no process `{name}` was started (started: {started})"),
        None => format!("no command and no client was started (started: {started})"),
    }
}

#[cfg(test)]
mod tests;
