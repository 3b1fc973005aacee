//! The keeper: one process for each trial that owns everything the trial starts.
//!
//! The tool starts itself again as a [`Keeper`], with one end of a socket as its standard input, and asks over this
//! socket for everything: start a command, send a signal, try a port, finish. The keeper starts the commands, so they
//! are its children, and their orphans become its children too. Nothing outlives a trial, because there are only
//! four ways out and each of them ends everything: the tool says so, the tool goes away (the kernel closes its end
//! of the socket, also after `kill -9`), the keeper itself dies in a sandbox (the kernel then empties it), or it dies
//! without one (the tool then ends all that carries the mark of this keeper in its environment).
//!
//! With [`Isolation::Plain`] the keeper is a child sub-reaper and ends its descendants one by one. With
//! [`Isolation::Sandbox`] it makes namespaces first, then starts itself once more inside of them as
//! their first process: that one serves the socket and adopts the orphans, and the outer one only waits for it.
//!
//! **Architecture Invariant:** a keeper touches its own descendants and no other process; the tool touches what carries the mark
//! of a keeper that died, and no other process.

mod channel;
mod control;
mod descendants;
mod error;
mod hosts;
mod loopback;
mod marker;
mod message;
mod mounts;
mod sandbox;
mod serve;
mod server;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hypocenter_plan::End;
pub use hypocenter_plan::Network;
use serde::{Deserialize, Serialize};

pub use control::{Keeper, probe};
pub use error::KeeperError;
pub use rustix::process::Signal;
pub use serve::serve;

/// Setup of a keeper before it starts anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Resources of the machine that the trial sees.
    pub isolation: Isolation,
    /// A directory of the trial, made by the caller with the mode that `/tmp` should have. It is `/tmp` in a sandbox.
    pub tmp: PathBuf,
    /// File of the private `/etc/hosts` of a sandbox.
    pub hosts: PathBuf,
    /// Files and directories that stay visible at the same place, even if they lie below `/tmp`.
    pub visible: Vec<PathBuf>,
}

/// Resources of the machine that a trial sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Isolation {
    /// Processes, `/tmp`, shared memory and perhaps the network are its own; all other files are those of the machine.
    Sandbox {
        /// The network.
        network: Network,
    },
    /// Everything.
    Plain,
}

/// A command to be started.
#[derive(Debug, Clone, Copy)]
pub struct Spawn<'a> {
    /// The program and its arguments. The program is looked for as on a shell.
    pub command: &'a [String],
    /// Additional environment of the tool.
    pub variables: &'a [(String, OsString)],
    /// Its working directory.
    pub directory: &'a Path,
}

/// A process that a keeper started. It is no number of the kernel: those differ inside and outside of a sandbox, and
/// are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessId(pub u64);

/// Events while a trial runs.
#[derive(Debug, Clone, PartialEq)]
pub enum KeeperEvent {
    /// A process that was started by [`Keeper::spawn`] has ended. Another thread may see this before `spawn` returns.
    Exited {
        /// Which.
        id: ProcessId,
        /// How.
        end: End,
    },
    /// The keeper is dead, and says why. Nothing else will happen.
    Gone(String),
}

/// State at the end of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Number of processes that were still running and had to be killed, including daemons.
    pub left: usize,
    /// Events that were not awaited with [`Keeper::wait_event`], including the ends of killed processes.
    pub unseen: Vec<KeeperEvent>,
}
