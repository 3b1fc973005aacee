//! The loop of a keeper: requests come from the socket, ends of processes by a signal.
//!
//! It has one thread. Ends are collected here and nowhere else, so the number of a process in the table is its own until
//! it is taken out, and a signal cannot reach another one that got the same number.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hypocenter_plan::End;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::channel::{self, DESCRIPTORS, Inbox};
use super::message::{Answer, Message, Request, WireSpawn, Wish};
use super::{ProcessId, descendants};

/// Time limit for connecting to a port. On the loopback interface the answer comes at once, unless the queue of the program is full.
const CONNECT_TIME: Duration = Duration::from_millis(200);
/// Time limit for processes to die. A large JVM needs some time to give its memory back.
const END_TIME: Duration = Duration::from_secs(30);
/// Time to wait for an end before looking again for processes that were just started.
const END_LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

pub(super) struct Server {
    socket: UnixStream,
    inbox: Inbox,
    /// Becomes readable when a child has ended.
    ended: UnixStream,
    /// Becomes readable when somebody asks the keeper to end.
    asked_to_end: Option<UnixStream>,
    running: HashMap<Pid, ProcessId>,
}

/// Why the loop is over.
enum Over {
    /// The tool said so.
    Finish { number: u64 },
    /// The tool is gone.
    Deserted,
}

impl Server {
    /// `mortal`: whether signals may end it. The first process of a sandbox is not, since the trial could send them.
    pub(super) fn new(socket: UnixStream, inbox: Inbox, mortal: bool) -> io::Result<Server> {
        let (ended, signal) = UnixStream::pair()?;
        ended.set_nonblocking(true)?;
        pipe::register(SIGCHLD, signal)?;
        let mut asked_to_end = None;
        if mortal {
            let (asked, signal) = UnixStream::pair()?;
            for number in [SIGHUP, SIGINT, SIGTERM] {
                pipe::register(number, signal.try_clone()?)?;
            }
            asked_to_end = Some(asked);
        }
        Ok(Server { socket, inbox, ended, asked_to_end, running: HashMap::new() })
    }

    /// Says that the keeper is ready, serves, and ends everything.
    pub(super) fn run(mut self, setup: u64) -> io::Result<()> {
        let over = self.answer(setup, Answer::Ready).and_then(|()| self.serve());
        let (left, survivors) = self.end_everything();
        if let Over::Finish { number } = over? {
            self.answer(number, Answer::Finished { left, survivors })?;
        }
        Ok(())
    }

    fn serve(&mut self) -> io::Result<Over> {
        loop {
            let mut watched =
                vec![PollFd::new(&self.socket, PollFlags::IN), PollFd::new(&self.ended, PollFlags::IN)];
            if let Some(asked) = &self.asked_to_end {
                watched.push(PollFd::new(asked, PollFlags::IN));
            }
            match poll(&mut watched, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let ready: Vec<bool> = watched.iter().map(|it| !it.revents().is_empty()).collect();
            if ready[1] {
                self.collect()?;
            }
            if ready.get(2) == Some(&true) {
                return Ok(Over::Deserted);
            }
            if ready[0] {
                if !self.inbox.fill(&self.socket)? {
                    return Ok(Over::Deserted);
                }
                while let Some(Request { number, wish }) = self.inbox.next()? {
                    let answer = match wish {
                        Wish::Spawn(spawn) => {
                            let descriptors = self.inbox.descriptors()?;
                            self.spawn(ProcessId(number), spawn, descriptors)
                        }
                        Wish::Signal { id, signal } => {
                            Answer::Signalled(self.signal(id, signal).map_err(Into::into))
                        }
                        Wish::Connects { port } => Answer::Connects(connects(port)),
                        Wish::Finish => return Ok(Over::Finish { number }),
                        Wish::Setup(_) => {
                            return Err(io::Error::new(io::ErrorKind::InvalidData, "a second setup"));
                        }
                    };
                    self.answer(number, answer)?;
                }
            }
        }
    }

    fn answer(&self, number: u64, answer: Answer) -> io::Result<()> {
        channel::send(&self.socket, &Message::Answer { number, answer }, &[])
    }

    fn spawn(&mut self, id: ProcessId, spawn: WireSpawn, descriptors: [OwnedFd; DESCRIPTORS]) -> Answer {
        if let Err(error) = std::fs::read_dir(Path::new(&spawn.directory)) {
            // A directory that may be entered but not listed is good enough.
            if error.kind() != io::ErrorKind::PermissionDenied {
                return Answer::NoDirectory(error.into());
            }
        }
        let [stdin, stdout, stderr] = descriptors.map(Stdio::from);
        let variables: Vec<(String, OsString)> = spawn.variables;
        let mut words = spawn.command.iter();
        let started = Command::new(words.next().map_or("", String::as_str))
            .args(words)
            .envs(variables)
            .current_dir(&spawn.directory)
            .process_group(0)
            .stdin(stdin)
            .stdout(stdout)
            .stderr(stderr)
            .spawn();
        match started {
            Ok(child) => {
                self.running.insert(Pid::from_child(&child), id);
                Answer::Spawned
            }
            Err(error) => Answer::NotStarted(error.into()),
        }
    }

    fn signal(&self, id: ProcessId, signal: i32) -> io::Result<bool> {
        let signal = Signal::from_named_raw(signal)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no signal has this number"))?;
        let Some((&pid, _)) = self.running.iter().find(|(_, it)| **it == id) else {
            return Ok(false);
        };
        match kill_process_group(pid, signal) {
            // It has gone over to another group, which may be none of its own.
            Err(Errno::SRCH) => kill_process(pid, signal)?,
            result => result?,
        }
        Ok(true)
    }

    /// Takes the ends of all children that have one, adopted ones included. False if there is no child at all.
    fn collect(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 1024];
        while matches!((&self.ended).read(&mut buffer), Ok(count) if count == buffer.len()) {}
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if let Some(id) = self.running.remove(&pid) {
                        // If the tool is gone, the socket says so next; until then all ends are taken.
                        let _ =
                            channel::send(&self.socket, &Message::Exited { id, end: end_of(status) }, &[]);
                    }
                }
                Ok(None) => return Ok(true),
                Err(Errno::CHILD) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Kills all descendants until there are none. Says how many there were and which could not be ended.
    ///
    /// A process whose parent dies becomes a child of the keeper before that death can be seen. So when the kernel says
    /// that there is no child, there is no descendant either.
    fn end_everything(&mut self) -> (usize, Vec<String>) {
        let deadline = Instant::now() + END_TIME;
        let mut left = None;
        loop {
            let living = descendants::of(getpid());
            let left = *left.get_or_insert(living.len());
            let mut survivors = Vec::new();
            for process in &living {
                let why = match process.kill() {
                    Ok(()) => "does not die".to_owned(),
                    Err(error) => io::Error::from(error).to_string(),
                };
                survivors.push(format!("{} ({}): {why}", process.pid, process.name));
            }
            match self.collect() {
                Ok(false) => return (left, Vec::new()),
                _ if Instant::now() >= deadline => return (left, survivors),
                _ => {
                    // However it returns, the next look tells.
                    let _ = poll(&mut [PollFd::new(&self.ended, PollFlags::IN)], Some(&END_LOOK));
                }
            }
        }
    }
}

fn end_of(status: WaitStatus) -> End {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(status), _) => End::Exited { status },
        (None, Some(signal)) => End::Signalled { signal },
        (None, None) => End::Exited { status: -1 },
    }
}

fn connects(port: u16) -> bool {
    [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]
        .into_iter()
        .any(|address| TcpStream::connect_timeout(&SocketAddr::new(address, port), CONNECT_TIME).is_ok())
}
