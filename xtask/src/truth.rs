//! `truth.toml`: what is wrong with a target or a case, for those who check findings. No engine reads it.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::failure::{Failure, Result};
use crate::tool::words;

/// The bugs. Keys for people are not read.
#[derive(Debug, Deserialize)]
pub struct Truth {
    pub bug: Vec<Bug>,
}

/// A bug, and the fault that shows it, or two where it needs both in one run.
#[derive(Debug, Deserialize)]
pub struct Bug {
    pub name: String,
    pub workload: String,
    #[serde(flatten)]
    pub cause: Cause,
    pub second: Option<Cause>,
    /// Methods, as `Class.method`, in which another fault has the same effect.
    #[serde(default)]
    pub accepted: Vec<String>,
    /// A method, as `package.Class.method`, that is on the stack of every fault that shows it; `*` stands for any text.
    pub within: Option<String>,
    /// A line that some runs have at the end of a log.
    pub late: Option<Late>,
    /// Oracle of this bug, if it differs from the one of the configuration.
    oracle: Option<toml::Value>,
}

/// A line that a node logs while it is being ended, if it is fast enough.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Late {
    /// File name of the log.
    pub log: String,
    /// The line without its time.
    pub line: String,
}

/// A fault as `hypocenter inject` takes it.
#[derive(Debug, Deserialize)]
pub struct Cause {
    site: String,
    fault: Fault,
    at: Option<u64>,
    node: Option<String>,
    thread: Option<String>,
    stack: Option<String>,
    /// The connection, as `LOCAL > REMOTE`; `*` stands for any text.
    connection: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fault {
    Throw(String),
    Sleep(String),
    Spin(String),
    Crash,
    Drop,
}

impl Bug {
    /// Tests whether it takes a delay to show it.
    pub fn is_delay(&self) -> bool {
        matches!(self.cause.fault, Fault::Sleep(_) | Fault::Spin(_))
    }

    /// The oracle as the tool takes it.
    pub fn oracle(&self) -> Option<String> {
        self.oracle.as_ref().map(toml::Value::to_string)
    }

    /// The arguments of `hypocenter inject` for one of its faults.
    pub fn args_of(&self, cause: &Cause) -> Vec<OsString> {
        let fault = match &cause.fault {
            Fault::Throw(class) => vec!["--throw", class],
            Fault::Sleep(time) => vec!["--sleep", time],
            Fault::Spin(time) => vec!["--spin", time],
            Fault::Crash => vec!["--crash"],
            Fault::Drop => vec!["--drop"],
        };
        let mut args = words([cause.site.as_str()]);
        args.extend(words(fault));
        let at = cause.at.map(|it| it.to_string());
        let oracle = self.oracle();
        let given = [
            ("--workload", Some(&self.workload)),
            ("--at", at.as_ref()),
            ("--node", cause.node.as_ref()),
            ("--thread", cause.thread.as_ref()),
            ("--stack", cause.stack.as_ref()),
            ("--resource", cause.connection.as_ref()),
            ("--oracle", oracle.as_ref()),
        ];
        for (flag, value) in given {
            args.extend(value.into_iter().flat_map(|it| words([flag, it])));
        }
        args
    }
}

/// A file of TOML.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).map_err(Failure::file(path))?;
    toml::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// A file of JSON.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).map_err(Failure::file(path))?;
    serde_json::from_slice(&bytes).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_becomes_the_arguments_of_inject() {
        let bug: Bug = toml::from_str(
            "name = 'b'\nworkload = 'w'\nsite = 'A.b'\nfault = { sleep = '60s' }\nat = 2\nnode = 'n'\n\
             oracle = { any = [{ exit = 1, client = 'c' }] }",
        )
        .unwrap();
        let expected = ["A.b", "--sleep", "60s", "--workload", "w", "--at", "2", "--node", "n", "--oracle"];
        let args = bug.args_of(&bug.cause);
        assert_eq!(args[..expected.len()], words(expected));
        assert!(args[expected.len()].to_string_lossy().starts_with("{ any = [{ "), "{args:?}");
    }

    #[test]
    fn a_bug_may_be_shown_by_a_crash() {
        let text = "name = 'b'\nworkload = 'w'\nsite = 'A.b'\nfault = 'crash'\nnode = 'n'";
        let bug: Bug = toml::from_str(text).unwrap();
        assert_eq!(bug.args_of(&bug.cause), words(["A.b", "--crash", "--workload", "w", "--node", "n"]));
        assert!(!bug.is_delay());
    }

    #[test]
    fn a_bug_may_need_two_faults_each_with_its_own_place() {
        let bug: Bug = toml::from_str(
            "name = 'b'\nworkload = 'w'\nsite = 'A.b'\nfault = { throw = 'E' }\nat = 2\n\
             [second]\nsite = 'C.d'\nfault = { throw = 'F' }\nthread = 't'",
        )
        .unwrap();
        assert_eq!(bug.args_of(&bug.cause), words(["A.b", "--throw", "E", "--workload", "w", "--at", "2"]));
        let second = bug.second.as_ref().unwrap();
        assert_eq!(bug.args_of(second), words(["C.d", "--throw", "F", "--workload", "w", "--thread", "t"]));
    }
}
