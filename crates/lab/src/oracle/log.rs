//! A line of a log.

use std::ops::ControlFlow;

use hypocenter_plan::{LogText, OracleOutcome, ProcessOutcome};

use super::lines::each_line;
use super::text::{LineText, names, ordinal, shown};
use super::{OracleError, Scene};

pub(super) fn judge(
    line: &LogText,
    process: Option<&str>,
    times: u64,
    scene: &Scene<'_>,
) -> Result<OracleOutcome, OracleError> {
    let wanted = LineText::new("log", line)?;
    let logs = logs(scene.processes.iter().filter(|it| process.is_none_or(|name| it.name == name)));
    if logs.is_empty() {
        return Ok(OracleOutcome { happened: false, why: super::not_started(process, scene) });
    }
    let mut seen = 0;
    let mut last = String::new();
    for log in &logs {
        read_log(scene, log, |number, line| {
            if wanted.fits(line) {
                seen += 1;
                last = format!("{log}:{number}: {}", shown(line));
            }
            if seen >= times { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if seen >= times {
            let why = if times == 1 {
                last
            } else {
                format!("at least {times} lines, the {} is {last}", ordinal(times))
            };
            return Ok(OracleOutcome { happened: true, why });
        }
    }
    let (LogText::Either(text) | LogText::Text(text) | LogText::Regex(text)) = line;
    let text = shown(text.as_bytes());
    let logs = names(logs.iter().copied());
    let why = match seen {
        0 => format!("no line of {logs} has `{text}`"),
        _ => format!("only {seen} of {times} lines of {logs} have `{text}`, the last is {last}"),
    };
    Ok(OracleOutcome { happened: false, why })
}

/// The logs of processes, each once: a restarted node may go on writing the same file.
pub(super) fn logs<'a>(processes: impl Iterator<Item = &'a ProcessOutcome>) -> Vec<&'a str> {
    let mut logs: Vec<&str> = Vec::new();
    for log in processes.flat_map(|it| &it.logs) {
        if !logs.contains(&log.as_str()) {
            logs.push(log);
        }
    }
    logs
}

/// Reads a log of the trial. One that is missing is an error: the lab made it, so nobody knows what it had.
pub(super) fn read_log(
    scene: &Scene<'_>,
    log: &str,
    see: impl FnMut(u64, &[u8]) -> ControlFlow<()>,
) -> Result<(), OracleError> {
    let path = scene.directory.join(log);
    each_line(&path, see).map_err(|source| OracleError::Log { path: path.display().to_string(), source })
}
