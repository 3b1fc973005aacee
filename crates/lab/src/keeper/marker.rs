//! A mark in the environment of everything that a trial starts, and the processes that carry it.
//!
//! A keeper that is killed without a sandbox cannot end what it started, and the kernel gives its children to somebody else. Their
//! environment still says whose they are: a mark is made for one keeper and for no other.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::geteuid;

use super::descendants::{self, Process};

/// The variable that has the mark.
const VARIABLE: &str = "HYPOCENTER_TRIAL";
/// Time limit for processes to die. A large JVM needs some time to give its memory back.
const END_TIME: Duration = Duration::from_secs(30);
/// Interval between two checks.
const LOOK: Duration = Duration::from_millis(5);

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Mark(String);

impl Mark {
    /// A mark that no other process of this machine has.
    pub(super) fn new() -> Mark {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let chance = RandomState::new().hash_one(number);
        Mark(format!("{}-{number}-{since:x}-{chance:016x}", std::process::id()))
    }

    /// The variable for a process of the trial.
    pub(super) fn variable(&self) -> (String, std::ffi::OsString) {
        (VARIABLE.to_owned(), self.0.clone().into())
    }

    /// Kills every process of this user that carries the mark, until there is none. Gives those that cannot be ended.
    pub(super) fn end_all(&self) -> Vec<String> {
        let deadline = Instant::now() + END_TIME;
        loop {
            let living = self.carriers();
            let mut survivors = Vec::new();
            for process in &living {
                let why = match process.kill() {
                    Ok(()) => "does not die".to_owned(),
                    Err(error) => std::io::Error::from(error).to_string(),
                };
                survivors.push(format!("{} ({}): {why}", process.pid, process.name));
            }
            if living.is_empty() || Instant::now() >= deadline {
                return survivors;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The processes that carry the mark. The number of one may go to another process between two looks, so the mark is looked for
    /// between two looks at the same process.
    fn carriers(&self) -> Vec<Process> {
        let entry = format!("{VARIABLE}={}", self.0);
        let user = geteuid().as_raw();
        let carries = |process: &Process| {
            let directory = format!("/proc/{}", process.pid);
            fs::metadata(&directory).is_ok_and(|it| it.uid() == user)
                && fs::read(format!("{directory}/environ"))
                    .is_ok_and(|it| it.split(|&byte| byte == 0).any(|it| it == entry.as_bytes()))
                && process.is_still_there()
        };
        descendants::all().into_iter().filter(|it| it.is_alive() && carries(it)).collect()
    }
}
