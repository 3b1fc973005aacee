//! Activity of the threads of a JVM at one instant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Frame;

/// The threads of a JVM of a trial, all seen at the same instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadDump {
    /// The version of this format.
    pub version: u32,
    /// The node.
    pub node: String,
    /// The process, as seen from inside its own namespace.
    pub pid: u32,
    /// The platform threads that run Java code. The agent's own thread is left out.
    pub threads: Vec<DumpedThread>,
}

/// A thread in a dump.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DumpedThread {
    /// Its name.
    pub name: String,
    /// Its number in the JVM.
    pub id: i64,
    /// Its state, as `java.lang.Thread.State` calls it: `RUNNABLE`, `BLOCKED`, `WAITING` and so on.
    pub state: String,
    /// True if it is a daemon thread, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon: Option<bool>,
    /// Object that it waits for, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    /// The monitors and ownable synchronizers that it holds, each as `class@hash`.
    pub locks: Vec<String>,
    /// Its stack, innermost frame first, the tool's own frames left out.
    pub frames: Vec<Frame>,
}

/// Object that a thread waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitsFor {
    /// The object, as `class@hash`: the same text as in the list of locks of whoever holds it.
    pub lock: String,
    /// The name of the thread that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The number of the thread that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<i64>,
}
