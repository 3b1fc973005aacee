//! The processes below a process, read from `/proc`, and how to end one of them and no other.
//!
//! Reading `/proc` is no single moment, and the kernel uses the numbers of processes again. Two things make it safe. A
//! child is never older than its parent, so a stranger that seems to be a child of a reused number is found out. And a
//! process is killed through a descriptor, after a look at whether it is still the one that was seen.

use std::collections::HashMap;
use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process as `/proc` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub pid: Pid,
    pub name: String,
    state: char,
    parent: i32,
    /// When it was started, in ticks of the kernel.
    start: u64,
}

impl Process {
    fn read(pid: Pid) -> Option<Process> {
        Process::parse(pid, &fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?)
    }

    /// The name stands in parentheses and can contain anything, also parentheses.
    fn parse(pid: Pid, stat: &str) -> Option<Process> {
        let (head, tail) = stat.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let mut fields = tail.split_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let start = fields.nth(17)?.parse().ok()?;
        Some(Process { pid, name, state, parent, start })
    }

    /// Tests whether this process, and no other that got its number, is still there.
    pub(super) fn is_still_there(&self) -> bool {
        Process::read(self.pid).is_some_and(|now| now.start == self.start)
    }

    /// Tests whether it still does something; one that has ended only waits to be asked for.
    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }

    /// Kills it, unless it is gone already.
    pub(super) fn kill(&self) -> rustix::io::Result<()> {
        let gone_is_fine = |result| if result == Err(Errno::SRCH) { Ok(()) } else { result };
        let descriptor = match pidfd_open(self.pid, PidfdFlags::empty()) {
            Ok(descriptor) => descriptor,
            Err(error) => return gone_is_fine(Err(error)),
        };
        if self.is_still_there() {
            gone_is_fine(pidfd_send_signal(&descriptor, Signal::KILL))
        } else {
            Ok(())
        }
    }
}

/// All processes that can be seen.
pub(super) fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|it| it.file_name().to_str().and_then(|name| name.parse().ok()));
    numbers.filter_map(Pid::from_raw).filter_map(Process::read).collect()
}

/// All processes below one that still do something.
pub(super) fn of(root: Pid) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all() {
        children.entry(process.parent).or_default().push(process);
    }
    let Some(root) = Process::read(root) else {
        return Vec::new();
    };
    let (mut found, mut next) = (Vec::new(), vec![root]);
    while let Some(parent) = next.pop() {
        let pid = parent.pid.as_raw_nonzero().get();
        // Taking them out also keeps a confused table from leading in a circle.
        for child in children.remove(&pid).unwrap_or_default() {
            if child.start >= parent.start {
                next.push(child);
            }
        }
        found.push(parent);
    }
    found.remove(0);
    found.retain(Process::is_alive);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_contain_anything() {
        let pid = Pid::INIT;
        let stat = "7 (a) R (b) S 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8675 100 200 30 4";
        let process = Process::parse(pid, stat).expect("it is a line of the kernel");
        assert_eq!(
            (process.name.as_str(), process.state, process.parent, process.start),
            ("a) R (b", 'S', 3, 8675)
        );
        for bad in ["", "7", "7 (a", "7 (a) S", "7 (a) S x", "7 (a) S 3 1 2"] {
            assert_eq!(Process::parse(pid, bad), None, "{bad}");
        }
    }
}
