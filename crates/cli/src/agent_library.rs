//! The agent, carried inside this binary and unpacked on demand.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

static LIBRARY: &[u8] = include_bytes!(env!("HYPOCENTER_AGENT_FILE"));

/// The agent's file: unpacked once for each version, into the user's cache.
pub fn unpacked() -> Result<PathBuf, Failure> {
    let name = format!("agent-{:016x}.so", hypocenter_trace::hash::bytes(LIBRARY, 0));
    let mut tried = Vec::new();
    for directory in directories() {
        let path = directory.join(&name);
        match unpack(&directory, &path) {
            Ok(()) => return Ok(path),
            Err(error) => tried.push(format!("{}: {error}", directory.display())),
        }
    }
    Err(Failure::usage(format!("the agent cannot be unpacked ({})", tried.join("; ")))
        .hint("set XDG_CACHE_HOME to a directory that can be written and allows programs to run"))
}

/// The directory of this user for what can be made again.
pub fn user_cache() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    cache.map(|it| it.join("hypocenter"))
}

fn directories() -> Vec<PathBuf> {
    user_cache().into_iter().chain([std::env::temp_dir().join("hypocenter")]).collect()
}

/// Writes the file beside its place and renames it, so that whoever loads it gets all of it.
fn unpack(directory: &Path, path: &Path) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == LIBRARY) {
        return Ok(());
    }
    fs::create_dir_all(directory)?;
    let part = directory.join(format!(".agent-{}.part", std::process::id()));
    fs::write(&part, LIBRARY)?;
    fs::rename(&part, path)
}
