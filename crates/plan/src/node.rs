//! Nodes that are no process of their own: several of them in one JVM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::glob_matches;

/// A node inside JVMs: the threads whose name fits one of the patterns, and those that carry the value in their
/// diagnostic context. A node that no rule names is a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeRule {
    /// The name of the node, as guards and outcomes have it.
    pub name: String,
    /// Names of its threads; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<String>,
    /// Diagnostic context of its threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mdc: Option<Mdc>,
}

/// A value that a logging library keeps for each thread: the mapped diagnostic context of SLF4J and Log4j.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mdc {
    /// The key.
    pub key: String,
    /// The value, whole.
    pub value: String,
}

impl NodeRule {
    /// Maximum number of patterns of a rule.
    pub(crate) const THREADS_MAX: usize = 1024;

    /// Tests whether a thread is of this node by its name.
    pub fn has_thread(&self, name: &str) -> bool {
        self.threads.iter().any(|pattern| glob_matches(pattern, name))
    }
}
