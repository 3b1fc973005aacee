//! One command as a process group: its output kept and handed on, its time limited, nothing of it left.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hypocenter_plan::{End, Problem};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::LabError;

/// Which of a command's outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
}

/// Sees a command while it runs.
pub trait Observer: Sync {
    /// The command wrote something: whole lines, unless a line is very long or the last.
    fn output(&self, _from: Output, _bytes: &[u8]) {}

    /// Asked now and then; true ends the command.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Looks at nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}

/// The line that a JVM prints when it takes options from the environment. It is ours and not the target's.
const PICKED_UP: &[u8] = b"Picked up JAVA_TOOL_OPTIONS:";
/// A line is looked at whole up to this length.
const LINE_BYTES_MAX: usize = 64 << 10;
/// How often the observer is asked whether to go on.
const INTERRUPT_CHECK: Duration = Duration::from_millis(100);
/// How long an output may stay silent once the command has ended: something that left its group may hold it open.
const DRAIN_TIME: Duration = Duration::from_millis(200);

pub(crate) struct Job<'a> {
    pub command: &'a [String],
    pub variables: &'a [(String, OsString)],
    pub directory: Option<&'a Path>,
    pub timeout: Option<Duration>,
    /// Whether the line about `JAVA_TOOL_OPTIONS` is ours to leave out.
    pub filter_picked_up: bool,
    pub stdout: File,
    pub stderr: File,
}

/// How a command ended.
pub(crate) struct Ended {
    pub end: End,
    pub wall: Duration,
    /// What of its output could not be kept.
    pub problems: Vec<Problem>,
}

/// Runs a command to its end, or ends it.
pub(crate) fn run(job: Job<'_>, observer: &dyn Observer) -> Result<Ended, LabError> {
    let program = job.command.first().cloned().unwrap_or_default();
    let mut command = Command::new(&program);
    command.args(job.command.iter().skip(1)).envs(job.variables.iter().map(|(name, value)| (name, value)));
    // A group of its own, so that all of it can be ended and nothing else is.
    command.stdin(Stdio::inherit()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    if let Some(directory) = job.directory {
        command.current_dir(directory);
    }
    let started = Instant::now();
    let mut child = command.spawn().map_err(|source| LabError::Start { program: program.clone(), source })?;
    let group = Pid::from_child(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let filter = job.filter_picked_up;
    let output_error = |source| LabError::Output { program: program.clone(), source };
    let over = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (done, readers) = mpsc::channel();
        for (pipe, file, from) in [
            (stdout.map(OwnedFd::from), job.stdout, Output::Stdout),
            (stderr.map(OwnedFd::from), job.stderr, Output::Stderr),
        ] {
            let done = done.clone();
            scope.spawn(move || {
                let sink = Sink { file, trouble: None, from, filter, observer };
                let result = pipe.map_or(Ok(None), |pipe| forward(pipe.into(), sink, over));
                // The receiver outlives the threads; if not, nobody waits for the result.
                let _ = done.send((from, result));
            });
        }
        drop(done);
        let (exited, status) = mpsc::channel();
        scope.spawn(move || {
            let _ = exited.send(wait(&mut child));
        });
        let mut end = None;
        loop {
            match status.recv_timeout(INTERRUPT_CHECK) {
                Ok(result) => {
                    let ended = started.elapsed();
                    // What is left of the group holds the pipes and must not outlive the trial.
                    let _ = kill_process_group(group, Signal::KILL);
                    over.store(true, Ordering::Release);
                    let mut problems = Vec::new();
                    while let Ok((from, result)) = readers.recv() {
                        if let Some(error) = result.map_err(output_error)? {
                            problems.push(Problem {
                                place: format!("log of {from:?}"),
                                what: format!("incomplete: {error}; free some space on its disk"),
                            });
                        }
                    }
                    let status = result.map_err(output_error)?;
                    return Ok(Ended { end: end.unwrap_or_else(|| end_of(status)), wall: ended, problems });
                }
                Err(_) => {
                    let late = job.timeout.is_some_and(|limit| started.elapsed() >= limit);
                    if end.is_none() && (late || observer.interrupted()) {
                        end = Some(End::TimedOut);
                        let _ = kill_process_group(group, Signal::KILL);
                        let _ = kill_process(group, Signal::KILL);
                    }
                }
            }
        }
    })
}

fn wait(child: &mut Child) -> io::Result<ExitStatus> {
    child.wait()
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(status), _) => End::Exited { status },
        (None, Some(signal)) => End::Signalled { signal },
        (None, None) => End::Exited { status: -1 },
    }
}

struct Sink<'a> {
    file: File,
    /// Why the file is not written any more: a full disk ends the log and not the trial.
    trouble: Option<io::Error>,
    from: Output,
    filter: bool,
    observer: &'a dyn Observer,
}

impl Sink<'_> {
    fn emit(&mut self, lines: &[u8]) {
        let mut kept = Vec::with_capacity(lines.len());
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            // On stderr, and on stdout where a script has joined the two.
            if !(self.filter && line.starts_with(PICKED_UP)) {
                kept.extend_from_slice(line);
            }
        }
        if self.trouble.is_none() {
            self.trouble = self.file.write_all(&kept).err();
        }
        self.observer.output(self.from, &kept);
    }
}

/// Copies a pipe line by line, until it is closed, or silent after the command's end. Says why the copy is not whole.
fn forward(mut pipe: File, mut sink: Sink<'_>, over: &AtomicBool) -> io::Result<Option<io::Error>> {
    let mut buffer = vec![0; 64 << 10];
    let mut pending: Vec<u8> = Vec::new();
    let wait = Timespec { tv_sec: 0, tv_nsec: DRAIN_TIME.as_nanos() as i64 };
    loop {
        match poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&wait)) {
            Ok(0) if over.load(Ordering::Acquire) => break,
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let count = match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        pending.extend_from_slice(&buffer[..count]);
        let whole = match pending.iter().rposition(|&byte| byte == b'\n') {
            Some(at) => at + 1,
            None if pending.len() > LINE_BYTES_MAX => pending.len(),
            None => continue,
        };
        sink.emit(&pending[..whole]);
        pending.drain(..whole);
    }
    sink.emit(&pending);
    Ok(sink.trouble)
}
