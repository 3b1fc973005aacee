//! Where results go: `hypocenter-out/<verb>-NNNN/`, with `latest` pointing at the newest.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot make {}: {error}", path.display()))
        .hint("give a directory that can be written with --out")
}

/// The directory of the campaign of this name, new or not.
pub fn named_campaign(out: &Path, name: &str) -> Result<PathBuf, Failure> {
    let fine = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    if name.is_empty() || name.starts_with(['.', '-']) || name == "latest" || !name.chars().all(fine) {
        return Err(Failure::usage(format!("--campaign {name}: a campaign cannot be called so"))
            .hint("use letters, digits, `-`, `_` and `.`"));
    }
    let path = out.join(name);
    fs::create_dir_all(&path).map_err(|error| failed(&path, &error))?;
    Ok(path)
}

/// Makes the directory of a new campaign.
pub fn new_campaign(out: &Path, verb: &str) -> Result<PathBuf, Failure> {
    fs::create_dir_all(out).map_err(|error| failed(out, &error))?;
    let number = |name: &str| name.strip_prefix(verb)?.strip_prefix('-')?.parse::<u32>().ok();
    let names = fs::read_dir(out).map_err(|error| failed(out, &error))?.flatten().map(|it| it.file_name());
    let mut next = names.filter_map(|name| number(name.to_str()?)).max().unwrap_or(0) + 1;
    loop {
        let name = format!("{verb}-{next:04}");
        let path = out.join(&name);
        match fs::create_dir(&path) {
            Ok(()) => {
                point_latest_at(out, &name);
                return Ok(path);
            }
            // Somebody else was faster.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => next += 1,
            Err(error) => return Err(failed(&path, &error)),
        }
    }
}

/// Lets `latest` mean this campaign. A convenience: where links cannot be made, there is none.
pub fn point_latest_at(out: &Path, name: &str) {
    let part = out.join(format!(".latest-{}", std::process::id()));
    if std::os::unix::fs::symlink(name, &part).is_ok() && fs::rename(&part, out.join("latest")).is_err() {
        let _ = fs::remove_file(&part);
    }
}
