//! Oracle of the failure.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Says whether the failure happened in a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "OracleForm", into = "OracleForm")]
pub enum Oracle {
    /// A line of a log.
    Log {
        /// Content of the line.
        line: LogText,
        /// The node or client whose output it is; any if absent.
        process: Option<String>,
        /// In how many lines at least.
        times: u64,
    },
    /// A thread that is alive at the end has these frames next to each other, innermost first.
    Stack {
        /// The frames, each as `package.Class.method`, where `*` stands for any text.
        frames: Vec<String>,
        /// The thread's name; any if absent.
        thread: Option<String>,
        /// The node; any if absent.
        process: Option<String>,
    },
    /// End of a process.
    Exit {
        /// Request.
        status: ExitWanted,
        /// The node or client; if absent, the command, or any client.
        process: Option<String>,
    },
    /// A file is there.
    File {
        /// Its path; `{dir}` stands for the trial's fresh directory.
        path: String,
        /// Text or regular expression that it has.
        contains: Option<String>,
    },
    /// A test failed.
    Junit {
        /// Which, as `Class` or `Class.method` with `*` for any text.
        test: String,
        /// Pattern of its reports (`target/surefire-reports/*.xml`); if absent, the output of the command is read.
        reports: Option<String>,
    },
    /// A command ends with status 0.
    Command(String),
    /// All of these.
    All(Vec<Oracle>),
    /// At least one of these.
    Any(Vec<Oracle>),
    /// Not this.
    Not(Box<Oracle>),
}

/// Condition on a log line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogText {
    /// The text itself, or what fits it as a regular expression.
    Either(String),
    /// The text itself.
    Text(String),
    /// Matches of the regular expression.
    Regex(String),
}

/// Expected end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitWanted {
    /// With this status.
    Status(i32),
    /// With any status but 0, or by a signal.
    Failed,
    /// By this signal.
    Signal(i32),
    /// Not at all: it was still there when the time was up.
    TimedOut,
}

/// Oracle in its written form: `{ log = "..." }`, `{ all = [{ exit = 1 }, { not = { file = "x" } }] }`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OracleForm {
    /// A line of a log contains this text, or matches it as a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// A line of a log contains this text literally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A line of a log matches this regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// With `log`, `text` or `regex`: minimum number of lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// A thread that is alive at the end has this frame (`package.Class.method`), or these next to each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<OneOrMany>,
    /// With `stack`: the name of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// End of the process: a status, `"failed"`, `"timeout"`, or a signal as `"signal 9"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<StatusForm>,
    /// This file exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// With `file`: text or regular expression that it must contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// This test failed (`Class` or `Class.method`, `*` for any).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub junit: Option<String>,
    /// With `junit`: the XML reports; without it, the output is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<String>,
    /// This command exits with status 0 at the end of the trial, while the nodes are still running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Restriction to this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Restriction to this client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// All of these hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<Vec<OracleForm>>,
    /// One of these holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any: Option<Vec<OracleForm>>,
    /// This does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not: Option<Box<OracleForm>>,
}

/// One text or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a text or a list of texts")]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// A status as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "an exit code such as 1, or \"failed\", \"timeout\", \"signal 9\"")]
pub enum StatusForm {
    /// A number.
    Number(i32),
    /// A word.
    Word(String),
}

/// Maximum nesting of oracles.
const DEPTH_MAX: usize = 32;

impl TryFrom<OracleForm> for Oracle {
    type Error = String;

    fn try_from(form: OracleForm) -> Result<Oracle, String> {
        build(form, DEPTH_MAX)
    }
}

fn build(form: OracleForm, depth: usize) -> Result<Oracle, String> {
    let depth = depth.checked_sub(1).ok_or("an oracle is nested too deeply")?;
    const KINDS: &str = "log, text, regex, stack, exit, file, junit, command, all, any or not";
    let given = [
        ("log", form.log.is_some()),
        ("text", form.text.is_some()),
        ("regex", form.regex.is_some()),
        ("stack", form.stack.is_some()),
        ("exit", form.exit.is_some()),
        ("file", form.file.is_some()),
        ("junit", form.junit.is_some()),
        ("command", form.command.is_some()),
        ("all", form.all.is_some()),
        ("any", form.any.is_some()),
        ("not", form.not.is_some()),
    ];
    let kinds: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let kind = match kinds.as_slice() {
        [kind] => *kind,
        [] => return Err(format!("an oracle needs one of {KINDS}")),
        many => {
            return Err(format!(
                "an oracle has one of {KINDS}, this has {}; combine them with all",
                many.join(" and ")
            ));
        }
    };
    let belongs = |name: &str, given: bool, to: &[&str]| {
        if given && !to.contains(&kind) {
            return Err(format!("`{name}` belongs to {}, not to `{kind}`", to.join(", ")));
        }
        Ok(())
    };
    const LOGS: &[&str] = &["log", "text", "regex"];
    const OF_PROCESS: &[&str] = &["log", "text", "regex", "stack", "exit"];
    belongs("times", form.times.is_some(), LOGS)?;
    belongs("thread", form.thread.is_some(), &["stack"])?;
    belongs("contains", form.contains.is_some(), &["file"])?;
    belongs("reports", form.reports.is_some(), &["junit"])?;
    belongs("node", form.node.is_some(), OF_PROCESS)?;
    belongs("client", form.client.is_some(), OF_PROCESS)?;
    let process = match (form.node, form.client) {
        (Some(_), Some(_)) => return Err("an oracle names a `node` or a `client`, not both".to_owned()),
        (node, client) => node.or(client),
    };
    let list = |forms: Vec<OracleForm>| -> Result<Vec<Oracle>, String> {
        if forms.is_empty() {
            return Err(format!("`{kind}` needs at least one oracle"));
        }
        forms.into_iter().map(|form| build(form, depth)).collect()
    };
    let times = form.times.unwrap_or(1);
    let log = |line: LogText, process| Oracle::Log { line, process, times };
    if let Some(text) = form.log {
        return Ok(log(LogText::Either(text), process));
    }
    if let Some(text) = form.text {
        return Ok(log(LogText::Text(text), process));
    }
    if let Some(text) = form.regex {
        return Ok(log(LogText::Regex(text), process));
    }
    if let Some(stack) = form.stack {
        let frames = match stack {
            OneOrMany::One(frame) => vec![frame],
            OneOrMany::Many(frames) if frames.is_empty() => {
                return Err("`stack` needs at least one frame".to_owned());
            }
            OneOrMany::Many(frames) => frames,
        };
        return Ok(Oracle::Stack { frames, thread: form.thread, process });
    }
    if let Some(status) = form.exit {
        return Ok(Oracle::Exit { status: exit_wanted(status)?, process });
    }
    if let Some(path) = form.file {
        return Ok(Oracle::File { path, contains: form.contains });
    }
    if let Some(test) = form.junit {
        return Ok(Oracle::Junit { test, reports: form.reports });
    }
    if let Some(command) = form.command {
        return Ok(Oracle::Command(command));
    }
    if let Some(forms) = form.all {
        return Ok(Oracle::All(list(forms)?));
    }
    if let Some(forms) = form.any {
        return Ok(Oracle::Any(list(forms)?));
    }
    let inner = form.not.ok_or("an oracle is empty")?;
    Ok(Oracle::Not(Box::new(build(*inner, depth)?)))
}

fn exit_wanted(form: StatusForm) -> Result<ExitWanted, String> {
    match form {
        StatusForm::Number(status) => Ok(ExitWanted::Status(status)),
        StatusForm::Word(word) => match word.as_str() {
            "failed" | "nonzero" => Ok(ExitWanted::Failed),
            "timeout" => Ok(ExitWanted::TimedOut),
            other => other
                .strip_prefix("signal ")
                .and_then(|number| number.parse().ok())
                .map(ExitWanted::Signal)
                .ok_or_else(|| {
                    format!("exit `{other}`: give an exit code such as 1, or failed, timeout, `signal 9`")
                }),
        },
    }
}

impl From<Oracle> for OracleForm {
    fn from(oracle: Oracle) -> OracleForm {
        let mut form = OracleForm::default();
        match oracle {
            Oracle::Log { line, process, times } => {
                match line {
                    LogText::Either(text) => form.log = Some(text),
                    LogText::Text(text) => form.text = Some(text),
                    LogText::Regex(text) => form.regex = Some(text),
                }
                form.node = process;
                form.times = (times != 1).then_some(times);
            }
            Oracle::Stack { frames, thread, process } => {
                form.stack = Some(OneOrMany::Many(frames));
                form.thread = thread;
                form.node = process;
            }
            Oracle::Exit { status, process } => {
                form.exit = Some(match status {
                    ExitWanted::Status(status) => StatusForm::Number(status),
                    ExitWanted::Failed => StatusForm::Word("failed".into()),
                    ExitWanted::TimedOut => StatusForm::Word("timeout".into()),
                    ExitWanted::Signal(signal) => StatusForm::Word(format!("signal {signal}")),
                });
                form.node = process;
            }
            Oracle::File { path, contains } => {
                form.file = Some(path);
                form.contains = contains;
            }
            Oracle::Junit { test, reports } => {
                form.junit = Some(test);
                form.reports = reports;
            }
            Oracle::Command(command) => form.command = Some(command),
            Oracle::All(all) => form.all = Some(all.into_iter().map(OracleForm::from).collect()),
            Oracle::Any(any) => form.any = Some(any.into_iter().map(OracleForm::from).collect()),
            Oracle::Not(inner) => form.not = Some(Box::new(OracleForm::from(*inner))),
        }
        form
    }
}

impl JsonSchema for Oracle {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Oracle".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        OracleForm::json_schema(generator)
    }
}

impl Oracle {
    /// Tests whether this oracle, or one inside it, fits.
    pub fn has(&self, fits: &dyn Fn(&Oracle) -> bool) -> bool {
        fits(self)
            || match self {
                Oracle::All(inner) | Oracle::Any(inner) => inner.iter().any(|it| it.has(fits)),
                Oracle::Not(inner) => inner.has(fits),
                _ => false,
            }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |process: &Option<String>| process.as_ref().map_or(String::new(), |it| format!(" of {it}"));
        let list = |f: &mut fmt::Formatter<'_>, word: &str, inner: &[Oracle]| {
            write!(f, "{word}(")?;
            for (number, it) in inner.iter().enumerate() {
                write!(f, "{}{it}", if number > 0 { ", " } else { "" })?;
            }
            write!(f, ")")
        };
        match self {
            Oracle::Log { line, process, times } => {
                match line {
                    LogText::Either(text) | LogText::Text(text) => write!(f, "log `{text}`")?,
                    LogText::Regex(text) => write!(f, "log /{text}/")?,
                }
                write!(f, "{}", of(process))?;
                if *times != 1 { write!(f, " {times} times") } else { Ok(()) }
            }
            Oracle::Stack { frames, process, .. } => write!(f, "stack {}{}", frames.join(", "), of(process)),
            Oracle::Exit { status, process } => {
                match status {
                    ExitWanted::Status(status) => write!(f, "exit {status}")?,
                    ExitWanted::Failed => write!(f, "exit failed")?,
                    ExitWanted::TimedOut => write!(f, "exit timeout")?,
                    ExitWanted::Signal(signal) => write!(f, "exit signal {signal}")?,
                }
                write!(f, "{}", of(process))
            }
            Oracle::File { path, contains: None } => write!(f, "file {path}"),
            Oracle::File { path, contains: Some(text) } => write!(f, "file {path} with `{text}`"),
            Oracle::Junit { test, .. } => write!(f, "junit {test}"),
            Oracle::Command(command) => write!(f, "command `{command}`"),
            Oracle::All(inner) => list(f, "all", inner),
            Oracle::Any(inner) => list(f, "any", inner),
            Oracle::Not(inner) => write!(f, "not({inner})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oracle_is_read_as_it_is_written_and_written_as_it_is_read() {
        let check = |text: &str, shown: &str| {
            let oracle: Oracle = serde_json::from_str(text).unwrap();
            assert_eq!(oracle.to_string(), shown);
            let again = serde_json::to_string(&oracle).unwrap();
            assert_eq!(serde_json::from_str::<Oracle>(&again).unwrap(), oracle, "{again}");
        };
        check(r#"{"log": "Severe"}"#, "log `Severe`");
        check(r#"{"regex": "a+", "node": "zk1", "times": 3}"#, "log /a+/ of zk1 3 times");
        check(r#"{"stack": "a.B.c", "thread": "main"}"#, "stack a.B.c");
        check(r#"{"stack": ["a.B.c", "*.run"]}"#, "stack a.B.c, *.run");
        check(r#"{"exit": 1, "client": "c1"}"#, "exit 1 of c1");
        check(r#"{"exit": "signal 9"}"#, "exit signal 9");
        check(
            r#"{"all": [{"exit": "failed"}, {"not": {"file": "x", "contains": "y"}}]}"#,
            "all(exit failed, not(file x with `y`))",
        );
        check(
            r#"{"any": [{"junit": "T.m"}, {"command": "true"}, {"exit": "timeout"}]}"#,
            "any(junit T.m, command `true`, exit timeout)",
        );
    }

    #[test]
    fn an_oracle_that_cannot_be_meant_says_why() {
        let check = |text: &str, expected: &str| {
            let why = serde_json::from_str::<Oracle>(text).unwrap_err().to_string();
            assert!(why.contains(expected), "{why}");
        };
        check("{}", "needs one of log");
        check(r#"{"log": "a", "exit": 1}"#, "combine them with all");
        check(r#"{"lgo": "a"}"#, "unknown field `lgo`");
        check(r#"{"log": "a", "thread": "b"}"#, "not to `log`");
        check(r#"{"exit": "broken"}"#, "give an exit code");
        check(r#"{"all": []}"#, "at least one");
        check(r#"{"exit": 1, "node": "a", "client": "b"}"#, "not both");
    }
}
