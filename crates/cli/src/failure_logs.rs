//! The logs of a failure: found, read, and checked before anything is run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hypocenter_lab::oracle::{self, LineText};
use hypocenter_logs::{Layout, Log, LogError, Ties, Warning};
use hypocenter_plan::Workload;
use hypocenter_reproduce::Case;
use hypocenter_trace::hash;
use serde::{Deserialize, Serialize};

use crate::config::{Config, meant};
use crate::failure::Failure;
use crate::request::Request;
use crate::screen;

/// A log of the failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureLog {
    /// The node that wrote it: the name of the file without what is behind its first dot.
    pub node: String,
    /// The file.
    pub path: PathBuf,
    /// Digest of its content, so that a campaign is not resumed with another log.
    pub digest: u64,
}

/// The logs of the failure, and their layout where it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureLogs {
    /// The logs.
    pub logs: Vec<FailureLog>,
    /// Their layout, where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
}

impl FailureLogs {
    /// Those at these paths, or those of the configuration.
    pub fn find(
        paths: &[PathBuf],
        layout: Option<&str>,
        config: &Config,
        workload: &Workload,
        main: &str,
    ) -> Result<FailureLogs, Failure> {
        let mut paths = paths.to_vec();
        if paths.is_empty() {
            let logs = config.failure.iter().flat_map(|it| &it.logs);
            paths = logs.map(|it| config.base.join(it)).collect();
        }
        if paths.is_empty() {
            return Err(Failure::usage("there is no failure log")
                .hint("give --log FILE, or `logs` under [failure] of hypocenter.toml"));
        }
        let names = processes(workload, main);
        let mut logs = Vec::new();
        for path in &paths {
            for file in files_of(path)? {
                logs.push(failure_log(&file, &names)?);
            }
        }
        check_logs(&logs, &names, workload)?;
        let layout = layout.or_else(|| config.layout()).map(str::to_owned);
        Ok(FailureLogs { logs, layout })
    }
}

/// The files that a path stands for: itself, or, of a directory, what is in it.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error: std::io::Error| Failure::usage(format!("failure logs {}: {error}", path.display()));
    let entries = std::fs::read_dir(path).map_err(failed)?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|it| it.path()).filter(|it| it.is_file()).collect();
    files.sort();
    Ok(files)
}

/// A log of the failure. It is of the process that it is named like; a name may have dots.
fn failure_log(path: &Path, names: &[String]) -> Result<FailureLog, Failure> {
    let failed = |error: std::io::Error| {
        Failure::usage(format!("failure log {}: {error}", path.display()))
            .hint("give the log of the failed run with --log, or `logs` under [failure] of hypocenter.toml")
    };
    let path = match path.canonicalize() {
        Ok(path) => path,
        Err(error) => {
            let failure = failed(error);
            return Err(match named_like(path) {
                Some(it) => failure.hint(format!("did you mean {}?", it.display())),
                None => failure,
            });
        }
    };
    let bytes = std::fs::read(&path).map_err(failed)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_of = |it: &&String| name.strip_prefix(it.as_str()).is_some_and(|it| it.starts_with('.'));
    let of_process = names.iter().filter(is_of).max_by_key(|it| it.len());
    let node =
        of_process.map_or_else(|| name.split('.').next().unwrap_or_default(), String::as_str).to_owned();
    Ok(FailureLog { node, digest: hash::bytes(&bytes, 0), path: PathBuf::from(&path) })
}

/// A file beside it that may be meant by a path that is not there.
fn named_like(path: &Path) -> Option<PathBuf> {
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = std::fs::read_dir(directory).ok()?.flatten().filter(|it| it.path().is_file());
    let names: Vec<String> = there.filter_map(|it| it.file_name().into_string().ok()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let meant = meant(path.file_name()?.to_str()?, &names)?;
    Some(path.with_file_name(meant))
}

/// Names of logs if a workload starts nodes or clients. A single command has no names: its logs, whatever they are,
/// are its own.
fn processes(workload: &Workload, main: &str) -> Vec<String> {
    let Workload { command, node, client, .. } = workload;
    if client.is_empty() && node.iter().all(|it| it.command.is_none()) {
        return Vec::new();
    }
    let names = node.iter().map(|it| it.name.as_str()).chain(client.iter().map(|it| it.name.as_str()));
    names.chain(command.as_ref().map(|_| main)).map(str::to_owned).collect()
}

/// A log of a node that is not there would be compared with nothing. One log alone may be that of all.
fn check_logs(logs: &[FailureLog], names: &[String], workload: &Workload) -> Result<(), Failure> {
    let Some(it) = logs.iter().find(|it| !names.is_empty() && !names.contains(&it.node)) else {
        return Ok(());
    };
    let there = names.join(", ");
    if logs.iter().all(|other| other.node == it.node) {
        let what = format!(
            "`{}` is not one of {there}, so it is taken as the log of all of them; if it is the log of one, name the file after it",
            it.node
        );
        screen::note("log", &screen::clean(&what));
        return Ok(());
    }
    let (path, name) = (it.path.display(), &workload.name);
    Err(Failure::usage(format!("failure log {path}: workload `{name}` has no node or client `{}`", it.node))
        .hint(format!("a log is named after the node that wrote it; the workload has {there}")))
}

/// Place of a program's own log, if Maven's output was taken for it.
const OF_MAVEN: &str = "for a run under hypocenter, use main.stdout.log or main.stderr.log in trials/NNN/logs of the campaign; if the log is among the lines of Maven, give its pattern as `layout` under [failure] or with --layout";

/// Advice about a log that no known layout fits.
const NO_LAYOUT: &str = "give the pattern as `layout` under [failure] of hypocenter.toml, or with --layout '%d [%t] %-5p %c - %m%n'";

/// Reads them, one a node.
pub fn read_logs(what: &FailureLogs) -> Result<Vec<(String, Log)>, Failure> {
    let layout = what.layout.as_deref().map(Layout::compile).transpose();
    let layout = layout.map_err(|error| Failure::usage(format!("--layout: {error}")))?;
    // What a node wrote into several files, such as its two streams, is one log.
    let mut texts: BTreeMap<&str, (Vec<u8>, Vec<String>)> = BTreeMap::new();
    for it in &what.logs {
        let failed = |why: String| Failure::usage(format!("failure log {}: {why}", it.path.display()));
        let bytes = std::fs::read(&it.path).map_err(|error| failed(error.to_string()))?;
        if hash::bytes(&bytes, 0) != it.digest {
            return Err(failed("it is not the log that the campaign was started with".to_owned())
                .hint("start a new campaign, or restore the old log"));
        }
        let of_node = texts.entry(&it.node).or_default();
        // A log may be large, and most nodes have one.
        if of_node.0.is_empty() {
            of_node.0 = bytes;
        } else {
            of_node.0.extend(bytes);
        }
        of_node.1.push(it.path.display().to_string());
    }
    let mut logs = Vec::new();
    let mut unread: Vec<String> = Vec::new();
    let mut hint = None;
    for (node, (bytes, files)) in texts {
        let log = match &layout {
            Some(layout) => Log::read_with(&bytes, layout),
            None => Log::read(&bytes),
        };
        let files = files.join(", ");
        match log {
            Ok(log) => {
                let entries = screen::count(log.len() as u64, "entry", "entries");
                screen::line("failure", &format!("{}: {entries}", screen::clean(&files)));
                let warnings =
                    log.warnings().into_iter().filter(|it| *it != Warning::NoDays || is_of_days(&log));
                warnings.for_each(|it| screen::note(node, &it.to_string()));
                logs.push((node.to_owned(), log));
            }
            // A stream that nobody wrote to.
            Err(LogError::Empty) if what.logs.len() > 1 => {}
            Err(error) => {
                hint = hint.or(match &error {
                    LogError::OfMaven { .. } => Some(OF_MAVEN),
                    it => it.has_no_layout().then_some(NO_LAYOUT),
                });
                unread.push(format!("failure log {files}: {error}"));
            }
        }
    }
    if logs.is_empty() {
        let failure = Failure::usage(if unread.is_empty() {
            "the failure logs are empty".to_owned()
        } else {
            unread.join("; ")
        });
        return Err(match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        });
    }
    unread.iter().for_each(|it| screen::note("not read", it));
    Ok(logs)
}

/// Tests whether a log goes on for so long that its days matter.
fn is_of_days(log: &Log) -> bool {
    const HALF_A_DAY_MS: i64 = 12 * 3_600 * 1_000;
    let times = || log.entries().filter_map(|it| it.time_ms);
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    last.saturating_sub(first) >= HALF_A_DAY_MS
}

/// The lines that the oracle looks for.
pub fn symptom(request: &Request) -> Result<Vec<LineText>, Failure> {
    let lines = request.oracle.as_ref().map(oracle::lines).transpose();
    Ok(lines.map_err(|error| Failure::usage(error.to_string()))?.unwrap_or_default())
}

/// Conditions of the oracle that the failure logs do not meet, which is also said on the terminal.
pub fn unmet(request: &Request, what: &FailureLogs) -> Result<Vec<String>, Failure> {
    let Some(oracle) = &request.oracle else { return Ok(Vec::new()) };
    // Of one command all logs are its own, whatever they are called.
    let are_named = !processes(request.workload(), &request.main).is_empty();
    // Also of those that have no layout, which nothing else is read from.
    let read = |it: &FailureLog| {
        std::fs::read(&it.path)
            .map_err(|error| Failure::usage(format!("failure log {}: {error}", it.path.display())))
            .map(|bytes| (are_named.then(|| it.node.clone()), Log::text_of(&bytes)))
    };
    let logs = what.logs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let unmet = oracle::unmet(oracle, &logs).map_err(|error| Failure::usage(error.to_string()))?;
    for it in &unmet {
        let what =
            format!("{it}; if this is the log of that failure, possibly no run will satisfy the oracle");
        screen::note("oracle", &screen::clean(&what));
    }
    Ok(unmet)
}

/// Share of the failure log that the program can have written.
pub fn tell_log(case: &Case, what: &FailureLogs) -> Result<(), Failure> {
    let Ties { by_line, by_text, moved, none } = case.ties();
    let tied = by_line + by_text + moved;
    let all = tied + none;
    screen::line(
        "",
        &format!(
            "{} of {} entries are matched to log statements",
            screen::thousands(tied as u64),
            screen::thousands(all as u64)
        ),
    );
    if moved > by_line / 4 {
        screen::note(
            "version",
            &format!(
                "{} entries name a class and a line at which these classes log another text, so the log and the class path are of different versions; these entries are matched by their text, and faults in changed code may be missed",
                screen::thousands(moved as u64)
            ),
        );
    }
    if tied > 0 {
        if none > tied {
            screen::note(
                "log",
                "most of its entries match no log statement, so they tell nothing about the program; check that the class path and the packages are of the system that wrote it",
            );
        }
        return Ok(());
    }
    let first = what.logs.first().map(|it| it.path.display().to_string()).unwrap_or_default();
    Err(Failure::usage(format!("{first}: no log statement of the target matches any of its {all} entries"))
        .hint("check that the class path and the packages are of the system that wrote this log"))
}
