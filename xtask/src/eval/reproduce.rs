//! `cargo xtask eval CASE`: a published failure of a real system, reproduced from its log. What the tool prints is passed on.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::campaign::first_on_path;
use crate::case::Case;
use crate::failure::{Failure, Result};
use crate::jdk::Jdk;
use crate::process::Job;
use crate::tool::{Tool, ToolArgs, words};
use crate::{Verdict, jdk, process};

/// Exit code for an end by a signal: an internal error.
const NO_CODE: u8 = 70;
/// For a search: far beyond what the slowest takes.
const LIMIT: Duration = Duration::from_secs(3 * 3600);

/// Reproduce a published failure from its log, and print what hypocenter printed
#[derive(Debug, clap::Args)]
pub struct ReproduceArgs {
    /// The log of the failure; without one the published root cause is injected to make it
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Take something out of the log first: places if nothing is named
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "places")]
    strip: Option<Less>,
    /// Strategy that chooses faults, as in `hypocenter reproduce`
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,
    /// The seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The most rounds
    #[arg(long, value_name = "N")]
    budget: Option<u64>,
    /// Trials at once; the ports of a case are fixed, so more than one needs networks of their own
    #[arg(long, value_name = "N")]
    jobs: Option<u64>,
    /// Print one JSON document on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(name: &str, args: &ReproduceArgs) -> Result<Verdict> {
    let tool = args.tool.ready()?;
    let stage = Laid::out(name, args.log.as_deref(), &tool)?;
    let log = args.strip.map_or_else(|| Ok(stage.log.clone()), |it| stage.less(it))?;
    let mut command = stage.command(&tool, &log)?;
    command.args(args.passed_on());
    let place = &stage.place;
    let text = process::text(&command);
    let status =
        command.status().map_err(|error| Failure::new(format!("`{text}` cannot be run: {error}")))?;
    eprintln!("{} is in {}", name, place.display());
    Ok(Verdict::Tool(status.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(NO_CODE)))
}

/// A case that is laid out, with the log of its failure.
pub struct Laid {
    pub place: PathBuf,
    pub log: PathBuf,
    jdk: Jdk,
}

impl Laid {
    /// With this log; without one the published root cause is injected to make it.
    pub fn out(name: &str, log: Option<&Path>, tool: &Tool) -> Result<Laid> {
        let given = log.map(|it| it.canonicalize().map_err(Failure::file(it))).transpose()?;
        let case = Case::named(name)?;
        let jdk = jdk::compiler()?;
        let place = case.lay_out(&jdk)?;
        let log = match given {
            Some(log) => log,
            None => {
                let log = place.join("failure.log");
                case.make_log(tool, &jdk, &place, &log)?;
                log
            }
        };
        Ok(Laid { place, log, jdk })
    }

    /// The log with less in it.
    pub fn less(&self, what: Less) -> Result<PathBuf> {
        let to = self.place.join(format!("no-{}.log", format!("{what:?}").to_lowercase()));
        let bytes = fs::read(&self.log).map_err(Failure::file(&self.log))?;
        fs::write(&to, what.out_of(&bytes)).map_err(Failure::file(&to))?;
        Ok(to)
    }

    /// The tool, asked to reproduce it.
    pub fn command(&self, tool: &Tool, log: &Path) -> Result<Command> {
        let mut command = Command::new(&tool.binary);
        command.arg("reproduce").arg("--log").arg(log).current_dir(&self.place);
        command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &self.jdk.home).stdin(Stdio::null());
        command.env("PATH", first_on_path(&self.jdk.home.join("bin"))?);
        Ok(command)
    }
}

impl ReproduceArgs {
    /// The arguments of the tool.
    fn passed_on(&self) -> Vec<OsString> {
        let number = |it: Option<u64>| it.map(|it| it.to_string());
        let flags = [
            ("--set", self.strategy.as_ref().map(|it| format!("reproduce.strategy={it}"))),
            ("--seed", number(self.seed)),
            ("--trials", number(self.budget)),
            ("--jobs", number(self.jobs)),
        ];
        let given = flags.iter().filter_map(|(flag, value)| Some([*flag, value.as_deref()?]));
        let mut all = words(given.flatten());
        all.extend(self.json.then(|| "--json".into()));
        all
    }
}

/// A search that is over.
pub struct Searched {
    /// Its output.
    pub document: Value,
    pub code: Option<i32>,
    pub took: Duration,
}

impl Searched {
    /// Runs `hypocenter reproduce --json`; what it prints is kept in this directory.
    pub fn by(command: Command, directory: &Path) -> Result<Searched> {
        let (stdout, stderr) = (directory.join("result.json"), directory.join("hypocenter.log"));
        let text = process::text(&command);
        let started = Instant::now();
        let status = Job { command, stdout: &stdout, stderr: &stderr, limit: LIMIT }.run()?;
        let took = started.elapsed();
        let written = fs::read(&stdout).map_err(Failure::file(&stdout))?;
        let document = serde_json::from_slice(&written).map_err(|error| {
            process::failure(&text, &format!("gave no result ({status}): {error}"), &stdout, &stderr)
        })?;
        Ok(Searched { document, code: status.code(), took })
    }
}

/// Something to take out of a log.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Less {
    /// Class and line of each entry: `[thread:Class@line]` becomes `[thread]`
    Places,
    /// The frames of stack traces
    Stacks,
}

impl Less {
    fn out_of(self, log: &[u8]) -> Vec<u8> {
        let lines = log.split_inclusive(|&it| it == b'\n');
        match self {
            Less::Places => lines.flat_map(stripped).collect(),
            Less::Stacks => lines.filter(|it| !is_frame(it)).flatten().copied().collect(),
        }
    }
}

/// Tests for a frame of a stack trace, or the count of those that are left out of one.
fn is_frame(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    text.len() < line.len() && (text.starts_with(b"at ") || text.starts_with(b"... "))
}

/// A line without its first `:Class@line` before a bracket that closes.
fn stripped(line: &[u8]) -> Vec<u8> {
    let place = (0..line.len()).filter(|&at| line[at] == b'@').find_map(|at| {
        let digits = line[at + 1..].iter().take_while(|it| it.is_ascii_digit()).count();
        let class = line[..at].iter().rev().take_while(|&&it| is_of_name(it)).count();
        let end = at + 1 + digits;
        let colon = at.checked_sub(class + 1)?;
        let fits = digits > 0 && class > 0 && line.get(end) == Some(&b']') && line[colon] == b':';
        fits.then_some((colon, end))
    });
    match place {
        Some((from, to)) => [&line[..from], &line[to..]].concat(),
        None => line.to_vec(),
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_and_line_are_taken_out_and_nothing_else() {
        let rows = [
            ("INFO  [main:QuorumPeerConfig@460] - a@1] b\n", "INFO  [main] - a@1] b\n"),
            (
                "[QuorumPeer[myid=3](plain=0.0.0.0:2183):Leader$Acceptor@84] - x",
                "[QuorumPeer[myid=3](plain=0.0.0.0:2183)] - x",
            ),
            ("[/0:0:0:0:0:0:0:0:11222:Leader@8] - x [y:Z@9]", "[/0:0:0:0:0:0:0:0:11222] - x [y:Z@9]"),
            ("\tat a.B.c(B.java:12)\n", "\tat a.B.c(B.java:12)\n"),
            ("mail a@1.example [b@2] [:@3] [c:D@] @", "mail a@1.example [b@2] [:@3] [c:D@] @"),
            ("", ""),
        ];
        for (line, expected) in rows {
            assert_eq!(String::from_utf8(stripped(line.as_bytes())).unwrap(), expected);
        }
        assert_eq!(stripped(b"\xff[a:B@1] \xfe@"), b"\xff[a] \xfe@");
    }

    #[test]
    fn stack_traces_are_taken_out_and_their_exceptions_stay() {
        let log = "ERROR - dead\njava.io.IOException: at rest\n\tat a.B.c(B.java:1)\nCaused by: x.Y\n\t... 5 more\nat once\n";
        let rest = "ERROR - dead\njava.io.IOException: at rest\nCaused by: x.Y\nat once\n";
        assert_eq!(String::from_utf8(Less::Stacks.out_of(log.as_bytes())).unwrap(), rest);
    }
}
