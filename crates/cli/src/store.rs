//! Directory of results: `hypocenter-out/<verb>-NNNN/`, with `latest` pointing at the newest.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::screen;

/// Default directory of results.
pub const DEFAULT_OUT: &str = "hypocenter-out";

/// Name of a campaign on the command line, from the current directory.
#[derive(Debug)]
pub struct Called {
    /// Its name.
    pub name: String,
    /// The directory from which it is called so.
    pub from: PathBuf,
    /// Value of `--out`, if it must be given.
    out: Option<String>,
}

impl Called {
    /// Name of this one.
    pub fn of(campaign: &Path) -> Called {
        let full = |it: &Path| it.canonicalize().unwrap_or_else(|_| it.to_owned());
        let campaign = full(campaign);
        let from = full(&std::env::current_dir().unwrap_or_default());
        let out = campaign.parent().unwrap_or(&campaign);
        let is_default = out == full(&from.join(DEFAULT_OUT));
        let below = out.strip_prefix(&from).ok().map(|it| Path::new(".").join(it));
        let given = below.map_or_else(|| out.display().to_string(), |it| plain(&it));
        Called {
            name: campaign.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            out: (!is_default).then_some(given),
            from,
        }
    }

    /// The command that shows a trial again.
    pub fn replay(&self, trial: impl std::fmt::Display) -> String {
        self.with_out(format!("hypocenter replay {}/{trial}", self.name))
    }

    /// Command of a verb that resumes it.
    pub fn resume(&self, verb: &str) -> String {
        self.with_out(format!("hypocenter {verb} --resume {}", self.name))
    }

    fn with_out(&self, command: String) -> String {
        match &self.out {
            None => command,
            Some(out) => format!("{command} --out {}", screen::word(out)),
        }
    }
}

/// Path for messages: relative if it is below the current directory, else absolute.
pub fn told(path: &Path) -> String {
    let full = |it: &Path| it.canonicalize().unwrap_or_else(|_| it.to_owned());
    let (path, from) = (full(path), full(&std::env::current_dir().unwrap_or_default()));
    let below = path.strip_prefix(&from).ok().filter(|it| !it.as_os_str().is_empty());
    screen::clean(&below.unwrap_or(&path).display().to_string())
}

/// Without the dot, unless a dash or nothing would then come first.
fn plain(path: &Path) -> String {
    let text = path.display().to_string();
    let rest = text.strip_prefix("./").unwrap_or(&text);
    if rest.is_empty() || rest.starts_with('-') { text } else { rest.to_owned() }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot make {}: {error}", path.display()))
        .hint("give a writable directory with --out")
}

/// The directory of the campaign of this name, new or not.
pub fn named_campaign(out: &Path, name: &str) -> Result<PathBuf, Failure> {
    let fine = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    if name.is_empty() || name.starts_with(['.', '-']) || name == "latest" || !name.chars().all(fine) {
        return Err(Failure::usage(format!("--campaign {name}: not a valid name"))
            .hint("use letters, digits, `-`, `_` and `.`"));
    }
    let path = out.join(name);
    fs::create_dir_all(&path).map_err(|error| failed(&path, &error))?;
    Ok(path)
}

/// Makes the directory of a new campaign.
pub fn new_campaign(out: &Path, verb: &str) -> Result<PathBuf, Failure> {
    fs::create_dir_all(out).map_err(|error| failed(out, &error))?;
    let number = |name: &str| name.strip_prefix(verb)?.strip_prefix('-')?.parse::<u64>().ok();
    let names = fs::read_dir(out).map_err(|error| failed(out, &error))?.flatten().map(|it| it.file_name());
    let last = names.filter_map(|name| number(name.to_str()?)).max().unwrap_or(0);
    let full = || {
        let what = format!("{}: `{verb}-{}` leaves no number for another campaign", told(out), u64::MAX);
        Failure::usage(what).hint("rename or remove that directory, or name the campaign with --campaign")
    };
    let mut next = last.checked_add(1).ok_or_else(full)?;
    loop {
        let name = format!("{verb}-{next:04}");
        let path = out.join(&name);
        match fs::create_dir(&path) {
            Ok(()) => {
                point_latest_at(out, &name);
                return Ok(path);
            }
            // Somebody else was faster.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                next = next.checked_add(1).ok_or_else(full)?;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_the_same_however_it_was_named() {
        let here = std::env::current_dir().expect("tests run somewhere");
        for path in [Path::new("src/commands"), Path::new("src/../src/commands"), &here.join("src/commands")]
        {
            assert_eq!(told(path), "src/commands");
        }
        let above = here.canonicalize().expect("it is there").parent().expect("not the root").to_owned();
        assert_eq!(told(Path::new("..")), above.display().to_string());
        assert_eq!(told(Path::new("gone")), "gone");
    }
}
