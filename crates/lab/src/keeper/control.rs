//! The tool's side of a keeper.
//!
//! One thread for each keeper reads what it says and puts it where others wait for it, under one lock and one condition.
//! The same thread owns the keeper's process: when the socket ends it waits for that, so no zombie is left.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::channel::{self, Inbox};
use super::marker::Mark;
use super::message::{Answer, Message, Request, WireSetup, WireSpawn, Wish};
use super::serve::{KEEPER, SETUP, SIGNALLED};
use super::{Finished, Isolation, KeeperError, KeeperEvent, Network, ProcessId, Setup, Spawn};

/// Time limit for the keeper's process to end: longer than its own limit for processes that do not die.
const GONE_TIME: Duration = Duration::from_secs(40);

/// A running keeper. All threads may use it. To drop it ends the trial.
#[derive(Debug)]
pub struct Keeper {
    socket: UnixStream,
    shared: Arc<Shared>,
    /// In the environment of everything that it starts.
    mark: Mark,
    /// Taken when a message is sent, so that messages do not mix; has the number of the next request.
    next: Mutex<u64>,
    reader: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    answers: HashMap<u64, Answer>,
    events: VecDeque<KeeperEvent>,
    gone: Option<String>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nobody panics while the state is half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the state has something, for a while.
    fn wait<T>(&self, deadline: Option<Instant>, mut look: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&mut state) {
                return Some(found);
            }
            state = match deadline {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.checked_duration_since(Instant::now()).filter(|it| !it.is_zero())?;
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn read(&self, socket: &UnixStream, mut keeper: Child, mark: &Mark) {
        let mut inbox = Inbox::new();
        let trouble = loop {
            match inbox.wait(socket) {
                Ok(Some(message)) => {
                    let mut state = self.lock();
                    match message {
                        Message::Answer { number, answer } => {
                            state.answers.insert(number, answer);
                        }
                        Message::Exited { id, end } => {
                            state.events.push_back(KeeperEvent::Exited { id, end })
                        }
                    }
                    drop(state);
                    self.changed.notify_all();
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        // If it was not the keeper that closed the socket, it must see that nobody listens any more.
        let _ = socket.shutdown(Shutdown::Both);
        let status = keeper.wait();
        // One that ended in good order has ended everything else before.
        let left_over = match &status {
            Ok(status) if trouble.is_none() && status.success() => Vec::new(),
            _ => mark.end_all(),
        };
        let mut why = match (trouble, status) {
            (Some(error), _) | (None, Err(error)) => error.to_string(),
            (None, Ok(status)) => match (status.signal(), status.code()) {
                (Some(signal), _) => format!("signal {signal} killed it"),
                (None, Some(code)) if code > SIGNALLED.into() => {
                    format!("signal {} killed its sandbox", code - i32::from(SIGNALLED))
                }
                _ => format!("it ended with {status}"),
            },
        };
        if !left_over.is_empty() {
            why += &format!("; processes of the trial cannot be ended: {}", left_over.join(", "));
        }
        self.lock().gone = Some(why);
        self.changed.notify_all();
    }
}

impl Keeper {
    /// Starts a keeper and returns when it is ready to start processes. `program` is the tool's own binary.
    pub fn start(program: &Path, setup: &Setup) -> Result<Keeper, KeeperError> {
        let absolute = |path: &PathBuf| {
            let made = std::path::absolute(path);
            made.map(PathBuf::into_os_string)
                .map_err(|source| KeeperError::Path { path: path.clone(), source })
        };
        let setup = WireSetup {
            isolation: setup.isolation,
            tmp: absolute(&setup.tmp)?,
            hosts: Some(absolute(&setup.hosts)?),
            visible: setup.visible.iter().map(absolute).collect::<Result<_, _>>()?,
        };
        Keeper::start_with(program, setup)
    }

    fn start_with(program: &Path, setup: WireSetup) -> Result<Keeper, KeeperError> {
        let no_keeper = |source| KeeperError::NoKeeper { program: program.to_owned(), source };
        let (socket, theirs) = UnixStream::pair().map_err(no_keeper)?;
        let reading = socket.try_clone().map_err(no_keeper)?;
        let keeper = Command::new(program)
            .arg(KEEPER)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()
            .map_err(no_keeper)?;
        let (shared, mark) = (Arc::new(Shared::default()), Mark::new());
        let reader = std::thread::Builder::new().name("keeper".into()).spawn({
            let (shared, mark) = (Arc::clone(&shared), mark.clone());
            move || shared.read(&reading, keeper, &mark)
        });
        let reader = Mutex::new(Some(reader.map_err(no_keeper)?));
        let keeper = Keeper { socket, shared, mark, next: Mutex::new(SETUP), reader };
        match keeper.ask(Wish::Setup(setup), &[])?.1 {
            Answer::Ready => Ok(keeper),
            Answer::NoSandbox(reason) => Err(KeeperError::NoSandbox { reason }),
            Answer::BadPath { path, cause } => {
                Err(KeeperError::Path { path: path.into(), source: cause.into() })
            }
            other => Err(confused(&other)),
        }
    }

    /// Starts a process. It gets the three descriptors as its standard input, output and error and inherits no other,
    /// and a process group of its own.
    pub fn spawn(
        &self,
        spec: &Spawn<'_>,
        stdin: OwnedFd,
        stdout: OwnedFd,
        stderr: OwnedFd,
    ) -> Result<ProcessId, KeeperError> {
        let program = spec.command.first().cloned().unwrap_or_default();
        let directory = std::path::absolute(spec.directory).map_err(|source| KeeperError::Directory {
            program: program.clone(),
            directory: spec.directory.to_owned(),
            source,
        })?;
        let wish = Wish::Spawn(WireSpawn {
            command: spec.command.to_vec(),
            variables: spec.variables.iter().cloned().chain([self.mark.variable()]).collect(),
            directory: directory.clone().into_os_string(),
        });
        let (number, answer) = self.ask(wish, &[stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])?;
        match answer {
            Answer::Spawned => Ok(ProcessId(number)),
            Answer::NotStarted(cause) => Err(KeeperError::Start { program, source: cause.into() }),
            Answer::NoDirectory(cause) => {
                Err(KeeperError::Directory { program, directory, source: cause.into() })
            }
            other => Err(confused(&other)),
        }
    }

    /// Sends a signal to the process group of a process. False if that process has ended already.
    pub fn signal(&self, id: ProcessId, signal: Signal) -> Result<bool, KeeperError> {
        let signal = signal.as_raw();
        match self.ask(Wish::Signal { id, signal }, &[])?.1 {
            Answer::Signalled(result) => {
                result.map_err(|cause| KeeperError::Signal { signal, source: cause.into() })
            }
            other => Err(confused(&other)),
        }
    }

    /// Tests whether somebody accepts connections at a port of the loopback interface, as the trial sees it.
    pub fn connects(&self, port: u16) -> Result<bool, KeeperError> {
        match self.ask(Wish::Connects { port }, &[])?.1 {
            Answer::Connects(yes) => Ok(yes),
            other => Err(confused(&other)),
        }
    }

    /// The next event, if there is one in this time. Each event is handed out once, but [`KeeperEvent::Gone`] to
    /// everybody who asks.
    pub fn wait_event(&self, timeout: Duration) -> Option<KeeperEvent> {
        // A time that cannot be expressed is for ever.
        let deadline = Instant::now().checked_add(timeout);
        self.shared.wait(deadline, |state| {
            state.events.pop_front().or_else(|| state.gone.clone().map(KeeperEvent::Gone))
        })
    }

    /// Kills everything that the trial started and waits until it is gone.
    pub fn finish(&self) -> Result<Finished, KeeperError> {
        let (left, processes) = match self.ask(Wish::Finish, &[])?.1 {
            Answer::Finished { left, survivors } => (left, survivors),
            other => return Err(confused(&other)),
        };
        if !processes.is_empty() {
            return Err(KeeperError::Survivors { processes });
        }
        if !self.leave() {
            let processes = vec!["the keeper itself: does not end".to_owned()];
            return Err(KeeperError::Survivors { processes });
        }
        let unseen = self.shared.lock().events.drain(..).collect();
        Ok(Finished { left, unseen })
    }

    /// Sends a request and waits for its answer.
    fn ask(&self, wish: Wish, descriptors: &[BorrowedFd<'_>]) -> Result<(u64, Answer), KeeperError> {
        let (number, sent) = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let number = *next;
            *next += 1;
            (number, channel::send(&self.socket, &Request { number, wish }, descriptors))
        };
        match sent {
            // The reason is better known to the one who waits for the keeper.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(source) => return Err(KeeperError::Request { source }),
            Ok(()) => {}
        }
        self.shared
            .wait(None, |state| {
                let answer = state.answers.remove(&number).map(Ok);
                answer.or_else(|| state.gone.clone().map(|why| Err(KeeperError::Gone { why })))
            })
            .unwrap_or_else(|| unreachable!("there is no deadline"))
            .map(|answer| (number, answer))
    }

    /// Lets the keeper go and waits until it has gone, with everything that it has started. False if it does not.
    fn leave(&self) -> bool {
        let _ = self.socket.shutdown(Shutdown::Both);
        let gone =
            self.shared.wait(Some(Instant::now() + GONE_TIME), |state| state.gone.as_ref().map(|_| ()));
        if gone.is_some()
            && let Some(reader) = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            // It does not panic, and if so there is nothing more to do.
            let _ = reader.join();
        }
        gone.is_some()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let finished = self.reader.lock().unwrap_or_else(PoisonError::into_inner).is_none();
        if !finished {
            self.leave();
        }
    }
}

/// Error of an unknown message. Both sides are one binary, so it is an internal error, or the binary was replaced meanwhile.
fn confused(answer: &Answer) -> KeeperError {
    KeeperError::Gone {
        why: format!("it gave an unknown answer ({answer:?}); check that both are of the same version"),
    }
}

/// Tests whether sandboxes can be made here; the reason in words if not.
pub fn probe(program: &Path) -> Result<(), String> {
    // Each directory in its own place: all is tried and nothing is written.
    let setup = WireSetup {
        isolation: Isolation::Sandbox { network: Network::Private },
        tmp: OsString::from("/tmp"),
        hosts: None,
        visible: Vec::new(),
    };
    match Keeper::start_with(program, setup).and_then(|keeper| keeper.finish()) {
        Ok(_) => Ok(()),
        Err(KeeperError::NoSandbox { reason }) => Err(reason),
        Err(error) => Err(error.to_string()),
    }
}
