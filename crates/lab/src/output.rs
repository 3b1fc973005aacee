//! Output of a process: kept in a file, passed on, and checked line by line.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Output stream of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
}

impl Output {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Output::Stdout => "stdout",
            Output::Stderr => "stderr",
        }
    }
}

/// A line is looked at whole up to this length.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Time for which an output may stay silent after its trial: a process that left the trial may hold it open.
const DRAIN_TIME: Duration = Duration::from_millis(200);
/// The most that is kept of one output of one process.
pub(crate) const KEPT_BYTES_MAX: u64 = 512 << 20;

/// Fate of an output.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Bytes beyond what is kept.
    pub dropped: u64,
    /// Why the file is not written any more: a full disk ends the log and not the trial.
    pub trouble: Option<io::Error>,
}

/// The line that a JVM prints when it takes options from the environment: the part of it that is ours is taken out, so
/// that logs are those of a run without us.
#[derive(Debug, Clone)]
pub(crate) struct PickedUp {
    /// The options as we gave them.
    pub ours: Vec<u8>,
    /// The options as they were before; none if the variable was not set.
    pub theirs: Option<Vec<u8>>,
}

const PICKED_UP: &[u8] = b"Picked up JAVA_TOOL_OPTIONS: ";

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|it| it == needle)
}

impl PickedUp {
    /// The line without our part; none if nothing else is in it. Build tools put words of their own in front, which go
    /// with it, or an escape sequence, which belongs to whatever comes next.
    fn clean(&self, line: &[u8]) -> Option<Vec<u8>> {
        let whole = [PICKED_UP, &self.ours].concat();
        let Some(at) = find(line, &whole) else { return Some(line.to_owned()) };
        match &self.theirs {
            Some(theirs) => Some([&line[..at], PICKED_UP, theirs, &line[at + whole.len()..]].concat()),
            None if at > 0 && line[..at].ends_with(b"m") && line.starts_with(b"\x1b[") => {
                Some(line[..at].to_owned())
            }
            None => None,
        }
    }

    /// Tests whether a line may have our part, without a copy.
    fn concerns(line: &[u8]) -> bool {
        // Only short words stand before it: a search through every long line would cost.
        find(&line[..line.len().min(256)], PICKED_UP).is_some()
    }
}

/// Destination of an output.
pub(crate) struct Sink<'a> {
    pub file: File,
    pub filter: Option<PickedUp>,
    /// Sees whole lines, unless a line is very long or the last.
    pub lines: &'a (dyn Fn(&[u8]) + Sync),
}

impl Sink<'_> {
    fn emit(&mut self, lines: &[u8], written: &mut u64, kept: &mut Kept) {
        let cleaned;
        let mut lines = lines;
        if let Some(filter) = &self.filter
            && lines.split_inclusive(|&byte| byte == b'\n').any(PickedUp::concerns)
        {
            cleaned = lines
                .split_inclusive(|&byte| byte == b'\n')
                .filter_map(|line| filter.clean(line))
                .collect::<Vec<_>>()
                .concat();
            lines = &cleaned;
        }
        let room = usize::try_from(KEPT_BYTES_MAX - *written).unwrap_or(usize::MAX);
        let part = &lines[..lines.len().min(room)];
        kept.dropped += (lines.len() - part.len()) as u64;
        *written += part.len() as u64;
        if kept.trouble.is_none() && !part.is_empty() {
            kept.trouble = self.file.write_all(part).err();
        }
        (self.lines)(lines);
    }
}

/// Copies an output until it is closed, or silent after the trial's end.
pub(crate) fn copy(pipe: OwnedFd, mut sink: Sink<'_>, over: &AtomicBool) -> Kept {
    let mut pipe = File::from(pipe);
    let (mut kept, mut written) = (Kept::default(), 0);
    let mut buffer = vec![0; 64 << 10];
    let mut pending: Vec<u8> = Vec::new();
    let wait = Timespec { tv_sec: 0, tv_nsec: DRAIN_TIME.as_nanos() as i64 };
    loop {
        match poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&wait)) {
            Ok(0) if over.load(Ordering::Acquire) => break,
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => {
                kept.trouble.get_or_insert(error.into());
                break;
            }
        }
        let count = match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                kept.trouble.get_or_insert(error);
                break;
            }
        };
        pending.extend_from_slice(&buffer[..count]);
        let whole = match pending.iter().rposition(|&byte| byte == b'\n') {
            Some(at) => at + 1,
            None if pending.len() > LINE_BYTES_MAX => pending.len(),
            None => continue,
        };
        sink.emit(&pending[..whole], &mut written, &mut kept);
        pending.drain(..whole);
    }
    sink.emit(&pending, &mut written, &mut kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_part_of_a_jvms_first_line_is_taken_out_and_nothing_else() {
        let check = |theirs: Option<&str>, line: &str, expected: Option<&str>| {
            let ours =
                theirs.map_or("-agentpath:/a.so=x".to_owned(), |it| format!("{it} -agentpath:/a.so=x"));
            let filter = PickedUp { ours: ours.into(), theirs: theirs.map(|it| it.as_bytes().to_vec()) };
            assert!(!line.contains("Picked") || PickedUp::concerns(line.as_bytes()));
            let cleaned = filter.clean(line.as_bytes()).map(|it| String::from_utf8(it).unwrap());
            assert_eq!(cleaned.as_deref(), expected);
        };
        check(None, "Picked up JAVA_TOOL_OPTIONS: -agentpath:/a.so=x\n", None);
        check(None, "[ERROR] Picked up JAVA_TOOL_OPTIONS: -agentpath:/a.so=x\n", None);
        // Maven resets the colours in front of whatever comes first.
        check(None, "\x1b[0mPicked up JAVA_TOOL_OPTIONS: -agentpath:/a.so=x\n", Some("\x1b[0m"));
        check(
            Some("-Xmx1g"),
            "Picked up JAVA_TOOL_OPTIONS: -Xmx1g -agentpath:/a.so=x\n",
            Some("Picked up JAVA_TOOL_OPTIONS: -Xmx1g\n"),
        );
        // A JVM that somebody else gave options to.
        let other = "Picked up JAVA_TOOL_OPTIONS: -Dx=y\n";
        check(None, other, Some(other));
        check(None, "a line\n", Some("a line\n"));
    }
}
