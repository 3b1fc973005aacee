//! Runs a command: its output goes into files, its end is always waited for, and a failure says where to look.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};

/// Interval at which a command is polled for its end.
const POLL: Duration = Duration::from_millis(20);
/// Number of last output lines that a failure shows.
const LINES_SHOWN: usize = 8;

/// A command with the files for its output, which may be the same.
pub struct Job<'a> {
    pub command: Command,
    pub stdout: &'a Path,
    pub stderr: &'a Path,
    /// Its time limit.
    pub limit: Duration,
}

impl Job<'_> {
    /// Runs the command to its end, whatever that is.
    pub fn run(mut self) -> Result<ExitStatus> {
        let out = File::create(self.stdout).map_err(Failure::file(self.stdout))?;
        let err = if self.stderr == self.stdout {
            out.try_clone().map_err(Failure::file(self.stderr))?
        } else {
            File::create(self.stderr).map_err(Failure::file(self.stderr))?
        };
        let text = text(&self.command);
        let cannot = |error: std::io::Error| Failure::new(format!("`{text}` cannot be run: {error}"));
        let mut child = self.command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().map_err(cannot)?;
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(cannot)? {
                return Ok(status);
            }
            if started.elapsed() > self.limit {
                // The two fail only where the child has ended meanwhile, and then there is nothing to do.
                let _ = child.kill();
                let _ = child.wait();
                return Err(self.failure(&format!("took more than {} s", self.limit.as_secs())));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Runs the command, which must succeed.
    pub fn succeed(self) -> Result<()> {
        let (stdout, stderr) = (self.stdout, self.stderr);
        let text = text(&self.command);
        match self.run()? {
            status if status.success() => Ok(()),
            status => Err(failure(&text, &format!("ended with {status}"), stdout, stderr)),
        }
    }

    fn failure(&self, how: &str) -> Failure {
        failure(&text(&self.command), how, self.stdout, self.stderr)
    }
}

/// Error of a command, and the end of its output.
pub fn failure(command: &str, how: &str, stdout: &Path, stderr: &Path) -> Failure {
    let place = if stdout == stderr {
        stderr.display().to_string()
    } else {
        format!("{} and {}", stdout.display(), stderr.display())
    };
    let written = lossy(stderr);
    let lines: Vec<&str> = written.lines().collect();
    let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].iter().map(|line| format!("\n    {line}"));
    Failure::new(format!("`{command}` {how}; its output is in {place}{}", last.collect::<String>()))
}

/// A command as it could be typed, cut where a class path makes it endless.
pub fn text(command: &Command) -> String {
    const WORD_MAX: usize = 200;
    let word = |word: &std::ffi::OsStr| {
        let word = word.to_string_lossy();
        match word.char_indices().nth(WORD_MAX) {
            Some((at, _)) => format!("{}...", &word[..at]),
            None => word.into_owned(),
        }
    };
    std::iter::once(command.get_program()).chain(command.get_args()).map(word).collect::<Vec<_>>().join(" ")
}

/// The text of a file, or nothing: logs may hold any bytes.
pub fn lossy(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    if read.is_err() { String::new() } else { String::from_utf8_lossy(&bytes).into_owned() }
}

/// Makes a directory that has nothing of an earlier run in it.
pub fn fresh_directory(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Failure::file(path)(error)),
        _ => {}
    }
    fs::create_dir_all(path).map_err(Failure::file(path))
}

/// Copies a file, or a directory with all that is in it.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop).map_err(Failure::file(from));
    }
    fs::create_dir_all(to).map_err(Failure::file(to))?;
    for entry in fs::read_dir(from).map_err(Failure::file(from))?.flatten() {
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// A step that may take a while: says what it does, and then how long it took.
pub fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("... {what}");
    let started = Instant::now();
    let result = work();
    let end = if result.is_ok() { "" } else { ", failed" };
    eprintln!("    {:.1} s{end}", started.elapsed().as_secs_f64());
    result
}
