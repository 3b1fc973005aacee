//! Entries that the nodes of a trial logged as a warning or worse.

use std::collections::BTreeMap;

use hypocenter_engine::LogBytes;
use hypocenter_logs::{Level, Log, role};
use serde::{Deserialize, Serialize};

/// Maximum number of distinct messages of a trial that are kept.
const LOGGED_MAX: usize = 1 << 10;
/// Maximum length of a stored message.
const MESSAGE_CHARS_MAX: usize = 200;

/// Messages that say the same but for numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// The process.
    pub process: String,
    /// True if it is an error, rather than a warning.
    pub error: bool,
    /// Its text, with every number as `#`.
    pub message: String,
    /// Count.
    pub times: u64,
}

/// The warnings and errors of all processes. A log that no layout fits says nothing.
pub(crate) fn logged(logs: &[LogBytes]) -> Vec<Logged> {
    let mut found: BTreeMap<(String, String), (bool, u64)> = BTreeMap::new();
    for it in logs {
        let Ok(log) = Log::read(&it.bytes) else { continue };
        for entry in log.entries() {
            let Some(level) = entry.level.filter(|&it| it >= Level::Warn) else { continue };
            let said = entry.first_line().chars().take(MESSAGE_CHARS_MAX).collect::<String>();
            let key = (it.process.clone(), role(&said).into_owned());
            if found.len() < LOGGED_MAX || found.contains_key(&key) {
                let known = found.entry(key).or_default();
                *known = (known.0 || level > Level::Warn, known.1 + 1);
            }
        }
    }
    let logged = found.into_iter();
    logged.map(|((process, message), (error, times))| Logged { process, error, message, times }).collect()
}
