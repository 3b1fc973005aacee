//! The main functions of a keeper: the outer one, which the tool starts, and the one inside of a sandbox.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, Stdio};

use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::process::{Signal, chdir, getpid, set_child_subreaper, set_parent_process_death_signal, setsid};
use rustix::stdio::dup2_stdin;

use super::channel::{self, Inbox};
use super::message::{Answer, Message, Request, Wish};
use super::sandbox::{self, Refusal};
use super::server::Server;

/// The first argument that makes the tool a keeper.
pub(super) const KEEPER: &str = "__keeper";
/// The first argument that makes it the first process of a sandbox.
const INIT: &str = "__keeper-init";

/// The status of an outer keeper whose inner one was killed: this and the number of the signal, as a shell has it.
pub(super) const SIGNALLED: u8 = 128;

/// The number of the request that sets a keeper up.
pub(super) const SETUP: u64 = 0;

/// Serves as a keeper if the first argument of the tool asks for it. To be called before anything else is done: there
/// must be one thread only.
pub fn serve(argument: Option<&OsStr>) -> Option<ExitCode> {
    let main = match argument?.to_str()? {
        KEEPER => outer,
        INIT => inner,
        _ => return None,
    };
    // Whoever could be told more of an error is gone, or sees that the keeper is.
    Some(main().unwrap_or(ExitCode::FAILURE))
}

fn outer() -> io::Result<ExitCode> {
    // A session of its own: what is typed at the terminal does not reach it, nor can the trial read from there.
    let _ = setsid();
    chdir("/")?;
    close_on_exec()?;
    let socket = control_socket()?;
    let mut inbox = Inbox::new();
    let Some(Request { number, wish: Wish::Setup(setup) }) = inbox.wait(&socket)? else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the first request is not the setup"));
    };
    let Some(network) = sandbox::wanted(setup.isolation) else {
        set_child_subreaper(Some(getpid()))?;
        Server::new(socket, inbox, true)?.run(number)?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Err(refusal) = sandbox::enter(&setup, network) {
        return refuse(&socket, number, refusal);
    }
    // The tool's file may be hidden by now, but not from the one who runs it.
    let started = Command::new("/proc/self/exe")
        .arg0("hypocenter")
        .arg(INIT)
        .stdin(Stdio::from(socket.as_fd().try_clone_to_owned()?))
        .spawn();
    let mut inner = match started {
        Ok(inner) => inner,
        Err(error) => {
            let reason = format!("the first process of the pid namespace cannot be started ({error})");
            return refuse(&socket, number, Refusal::Sandbox(reason));
        }
    };
    // From here on the sandbox alone holds the socket, so the tool sees at once when it is gone.
    drop(socket);
    let signal = inner.wait()?.signal().and_then(|it| u8::try_from(it).ok());
    Ok(signal.map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal)))
}

fn inner() -> io::Result<ExitCode> {
    let socket = control_socket()?;
    // If the outer one is killed, nobody would wait for this one.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if let Err(refusal) = sandbox::settle() {
        return refuse(&socket, SETUP, refusal);
    }
    Server::new(socket, Inbox::new(), false)?.run(SETUP)?;
    Ok(ExitCode::SUCCESS)
}

fn refuse(socket: &UnixStream, number: u64, refusal: Refusal) -> io::Result<ExitCode> {
    let answer = match refusal {
        Refusal::Sandbox(reason) => Answer::NoSandbox(reason),
        Refusal::Path { path, source } => Answer::BadPath { path: path.into(), cause: source.into() },
    };
    channel::send(socket, &Message::Answer { number, answer }, &[])?;
    Ok(ExitCode::SUCCESS)
}

/// The socket, taken away from standard input so that nothing inherits it.
fn control_socket() -> io::Result<UnixStream> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    dup2_stdin(File::open("/dev/null")?)?;
    Ok(socket)
}

/// Whatever the tool itself has inherited is not for the trial.
fn close_on_exec() -> io::Result<()> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()) else {
            continue;
        };
        if number > 2 {
            // SAFETY: it was listed as open, and there is no other thread that could close it meanwhile.
            let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
            let flags = fcntl_getfd(descriptor)?;
            fcntl_setfd(descriptor, flags | FdFlags::CLOEXEC)?;
        }
    }
    Ok(())
}
