//! Possible actions at a site of a program.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One small thing that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// An exception is thrown at the site.
    Exception {
        /// The class to throw, with dots. An abstract class stands for a concrete subtype of it.
        class: String,
        /// Text of its message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The thread stops for a while at the site.
    Delay {
        /// For how long.
        delay_ms: u64,
        /// Kind of the delay: by sleeping, or by a busy loop.
        #[serde(default)]
        pause: Pause,
    },
    /// The JVM halts at the site, with no chance to clean up.
    Crash {
        /// The exit status of the process.
        #[serde(default = "default_crash_status")]
        status: u8,
    },
    /// A boolean result is turned into its opposite.
    Negate,
    /// From the write at this site on, nothing that is sent over its connection arrives, until the connection is closed. The sender is
    /// told that all was sent, and still receives. The site is of kind `operation`.
    Drop,
    /// From this site on there is no space left below a path: files cannot be opened for writing, written, synced or made there.
    DiskFull {
        /// The path, from the directory of the trial on, as `zk1/version-2`; `*` stands for any text.
        path: String,
    },
    /// From this site on no packet gets from one of two nodes to the other, in either direction. Connects have no answer. When it ends,
    /// the kernel sends again what had not arrived.
    Partition {
        /// The nodes, which are processes.
        nodes: [String; 2],
    },
}

/// Way in which a delayed thread passes the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    /// It gives up the processor, like a slow disk or network.
    #[default]
    Sleep,
    /// It keeps the processor busy, like a slow computation.
    Spin,
}

fn default_crash_status() -> u8 {
    Fault::CRASH_STATUS
}

impl Fault {
    /// The status a crashed JVM ends with unless the plan says otherwise: that of a process killed by SIGKILL.
    pub const CRASH_STATUS: u8 = 137;

    /// The name of its kind, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Fault::Exception { .. } => "exception",
            Fault::Delay { .. } => "delay",
            Fault::Crash { .. } => "crash",
            Fault::Negate => "negate",
            Fault::Drop => "drop",
            Fault::DiskFull { .. } => "disk_full",
            Fault::Partition { .. } => "partition",
        }
    }

    /// Whether it begins at its site, and has its effect at operations of the JDK from then on.
    pub fn is_lasting(&self) -> bool {
        self.lasts_for_a_time() || *self == Fault::Drop
    }

    /// Whether it lasts until its time is over, rather than being done at a hit.
    pub fn lasts_for_a_time(&self) -> bool {
        matches!(self, Fault::DiskFull { .. } | Fault::Partition { .. })
    }

    /// The part of a path that is wrong, if any.
    pub(crate) fn trouble_with_path(&self) -> Option<String> {
        let Fault::DiskFull { path } = self else { return None };
        let is_outside = path.starts_with('/') || path.split('/').any(|part| part == "..");
        if path.is_empty() || is_outside {
            return Some(format!(
                "disk_full below `{path}`: give a path from the directory of the trial on, as `zk1/version-2` or `*`"
            ));
        }
        None
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Exception { class, .. } => write!(f, "throw {class}"),
            Fault::Delay { delay_ms, pause: Pause::Sleep } => write!(f, "sleep {delay_ms} ms"),
            Fault::Delay { delay_ms, pause: Pause::Spin } => write!(f, "spin {delay_ms} ms"),
            Fault::Crash { status } => write!(f, "crash (status {status})"),
            Fault::Negate => write!(f, "negate the result"),
            Fault::Drop => write!(f, "drop what is sent"),
            Fault::DiskFull { path } => write!(f, "no space left below {path}"),
            Fault::Partition { nodes: [one, other] } => write!(f, "partition between {one} and {other}"),
        }
    }
}
