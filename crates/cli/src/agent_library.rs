//! The agent, carried inside this binary and unpacked on demand.

use std::path::PathBuf;

use hypocenter_lab::AgentFile;

use crate::failure::Failure;

static LIBRARY: &[u8] = include_bytes!(env!("HYPOCENTER_AGENT_FILE"));

/// The agent's file: unpacked once for each version, into the user's cache, or where there is none into a directory of
/// the user's own for temporary files.
pub fn unpacked() -> Result<AgentFile, Failure> {
    let name = format!("agent-{:016x}.so", hypocenter_trace::hash::bytes(LIBRARY, 0));
    let user = rustix::process::geteuid().as_raw();
    let temporary = std::env::temp_dir().join(format!("hypocenter-{user}"));
    let mut tried = Vec::new();
    for directory in user_cache().into_iter().chain([temporary]) {
        match AgentFile::unpack(&directory, &name, LIBRARY) {
            Ok(file) => return Ok(file),
            Err(error) => tried.push(format!("{}: {error}", directory.display())),
        }
    }
    Err(Failure::usage(format!("the agent cannot be unpacked ({})", tried.join("; ")))
        .hint("set XDG_CACHE_HOME to a directory of your own that can be written and allows programs to run"))
}

/// The directory of this user for what can be made again.
pub fn user_cache() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    cache.map(|it| it.join("hypocenter"))
}
