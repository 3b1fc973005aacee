//! Messages between the tool and a keeper.
//!
//! Paths travel as `OsString`, because serde refuses a path that is not UTF-8.

use std::ffi::OsString;
use std::io;

use hypocenter_plan::End;
use serde::{Deserialize, Serialize};

use super::{Isolation, ProcessId};

/// From the tool. The answer has the same number.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub number: u64,
    pub wish: Wish,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Wish {
    /// The first of all, and once.
    Setup(WireSetup),
    /// Three descriptors go with it. The process is called by the number of this request.
    Spawn(WireSpawn),
    Signal {
        id: ProcessId,
        signal: i32,
    },
    Connects {
        port: u16,
    },
    /// The last of all.
    Finish,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireSetup {
    pub isolation: Isolation,
    pub tmp: OsString,
    /// None leaves the file of the machine in its place.
    pub hosts: Option<OsString>,
    pub visible: Vec<OsString>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireSpawn {
    pub command: Vec<String>,
    pub variables: Vec<(String, OsString)>,
    pub directory: OsString,
}

/// From the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Message {
    Answer { number: u64, answer: Answer },
    Exited { id: ProcessId, end: End },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Ready,
    NoSandbox(String),
    BadPath {
        path: OsString,
        cause: Cause,
    },
    Spawned,
    NotStarted(Cause),
    NoDirectory(Cause),
    /// True if the process was still there.
    Signalled(Result<bool, Cause>),
    Connects(bool),
    Finished {
        left: usize,
        survivors: Vec<String>,
    },
}

/// An `io::Error` on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Cause {
    Number(i32),
    Text(String),
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Cause {
        error.raw_os_error().map_or_else(|| Cause::Text(error.to_string()), Cause::Number)
    }
}

impl From<Cause> for io::Error {
    fn from(cause: Cause) -> io::Error {
        match cause {
            Cause::Number(number) => io::Error::from_raw_os_error(number),
            Cause::Text(text) => io::Error::new(io::ErrorKind::InvalidInput, text),
        }
    }
}
