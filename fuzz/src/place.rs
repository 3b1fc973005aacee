//! A directory of this process for what is read from files, in memory where there is such a place: every input is written
//! once.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// An empty directory; what an earlier input has left there is gone.
pub fn fresh() -> &'static Path {
    let directory = directory();
    let _ = std::fs::remove_dir_all(directory);
    std::fs::create_dir_all(directory).expect("the directory can be made");
    directory
}

fn directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let base = PathBuf::from("/dev/shm");
        let base = if base.is_dir() { base } else { std::env::temp_dir() };
        base.join(format!("hypocenter-fuzz-classes-{}", std::process::id()))
    })
}

/// Writes a file below the directory.
pub fn write(directory: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().expect("it is below the directory"))
        .expect("a directory can be made");
    std::fs::write(&path, bytes).expect("a file can be written");
    path
}
