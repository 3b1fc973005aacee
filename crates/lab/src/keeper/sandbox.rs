//! Creates the namespaces of a sandbox one by one, so that a refusal can be explained.
//!
//! Root needs no user namespace, and is better off without: files of other users would become unreadable. Everybody
//! else gets one in which they are who they are, since some programs refuse to run as root. There they may mount, but
//! lose that right by starting another program; so the one right that the first process of the sandbox needs is handed
//! over as an ambient capability, and given back ([`settle`]) before anything of the trial is started.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, capability_is_in_ambient_set,
    clear_ambient_capability_set, configure_capability_in_ambient_set, set_capabilities, unshare_unsafe,
};

use super::message::WireSetup;
use super::{Isolation, Network, loopback, mounts};

/// Why there is no sandbox.
#[derive(Debug)]
pub(super) enum Refusal {
    /// In words.
    Sandbox(String),
    Path {
        path: PathBuf,
        source: io::Error,
    },
}

impl Refusal {
    pub(super) fn path(path: &Path, source: io::Error) -> Refusal {
        Refusal::Path { path: path.to_owned(), source }
    }
}

/// Required abilities of the first process of the sandbox.
const NEEDED_INSIDE: CapabilitySet = CapabilitySet::SYS_ADMIN;

/// Makes the sandbox around this process. The next process that it starts is the first one inside.
pub(super) fn enter(setup: &WireSetup, network: Network) -> Result<(), Refusal> {
    let private_network = network == Network::Private;
    let mut needed = NEEDED_INSIDE;
    needed.set(CapabilitySet::NET_ADMIN, private_network);
    let able = capabilities(None).is_ok_and(|it| it.effective.contains(needed));
    let root = geteuid().is_root();
    if !(root && able) {
        become_oneself_in_a_user_namespace()?;
    }
    new_namespace(UnshareFlags::NEWNS, "a mount", "mnt")?;
    mounts::detach()?;
    new_namespace(UnshareFlags::NEWIPC, "an IPC", "ipc")?;
    new_namespace(UnshareFlags::NEWUTS, "a UTS", "uts")?;
    if private_network {
        new_namespace(UnshareFlags::NEWNET, "a network", "net")?;
        loopback::up().map_err(|errno| {
            Refusal::Sandbox(format!(
                "the loopback interface of the new network cannot be brought up ({})",
                name_of(errno)
            ))
        })?;
        if let Some(hosts) = &setup.hosts {
            mounts::replace_hosts(Path::new(hosts))?;
        }
    }
    let visible: Vec<PathBuf> = setup.visible.iter().map(PathBuf::from).collect();
    mounts::replace_places(Path::new(&setup.tmp), &visible)?;
    new_namespace(UnshareFlags::NEWPID, "a pid", "pid")?;
    if !root {
        hand_over(NEEDED_INSIDE).map_err(|errno| {
            Refusal::Sandbox(format!("the capability to mount cannot be passed on ({})", name_of(errno)))
        })?;
    }
    Ok(())
}

/// The network, if there is to be a sandbox.
pub(super) fn wanted(isolation: Isolation) -> Option<Network> {
    match isolation {
        Isolation::Sandbox { network } => Some(network),
        Isolation::Plain => None,
    }
}

/// Finishes the sandbox from inside and gives back what the trial must not have.
pub(super) fn settle() -> Result<(), Refusal> {
    mounts::replace_processes()?;
    let drop_rights = || {
        // Root was handed nothing and keeps what it has on this machine.
        if capability_is_in_ambient_set(NEEDED_INSIDE)? {
            clear_ambient_capability_set()?;
            let none = CapabilitySet::empty();
            set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
        }
        Ok(())
    };
    drop_rights().map_err(|errno: Errno| {
        Refusal::Sandbox(format!("the capability to mount cannot be dropped ({})", name_of(errno)))
    })
}

fn become_oneself_in_a_user_namespace() -> Result<(), Refusal> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    new_namespace(UnshareFlags::NEWUSER, "a user", "user")?;
    // Without a promise not to change groups, the kernel lets nobody but root map one.
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ] {
        fs::write(file, text).map_err(|source| {
            let errno = Errno::from_io_error(&source).unwrap_or(Errno::IO);
            let policy = policy().unwrap_or_else(|| "a security policy of this machine forbids it".into());
            Refusal::Sandbox(format!(
                "the kernel refuses to map the user into a user namespace ({} for {file}: {policy})",
                name_of(errno)
            ))
        })?;
    }
    Ok(())
}

fn new_namespace(flag: UnshareFlags, name: &str, sysctl: &str) -> Result<(), Refusal> {
    // SAFETY: only CLONE_FILES needs care, which is not among the flags of this file.
    let result = unsafe { unshare_unsafe(flag) };
    result.map_err(|errno| {
        let hint = match errno {
            Errno::NOSPC | Errno::USERS => {
                let file = format!("/proc/sys/user/max_{sysctl}_namespaces");
                match fs::read_to_string(&file) {
                    Ok(limit) => format!("{file} is {}", limit.trim()),
                    Err(_) => format!("look at {file}"),
                }
            }
            Errno::INVAL => "the kernel was built without it".to_owned(),
            Errno::PERM | Errno::ACCESS => policy().unwrap_or_else(|| {
                "a security policy of this machine or of its container forbids it".to_owned()
            }),
            _ => io::Error::from(errno).to_string(),
        };
        Refusal::Sandbox(format!("the kernel refuses {name} namespace ({}: {hint})", name_of(errno)))
    })
}

/// The setting of this machine that forbids user namespaces to ordinary users.
fn policy() -> Option<String> {
    [
        ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
        ("/proc/sys/user/max_user_namespaces", "0"),
    ]
    .into_iter()
    .find(|(file, bad)| fs::read_to_string(file).is_ok_and(|text| text.trim() == *bad))
    .map(|(file, bad)| format!("{file} is {bad}"))
}

fn hand_over(capability: CapabilitySet) -> rustix::io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.inheritable |= capability;
    set_capabilities(None, sets)?;
    configure_capability_in_ambient_set(capability, true)
}

/// The name that people look an error up by.
pub(super) fn name_of(errno: Errno) -> String {
    match errno {
        Errno::PERM => "EPERM".into(),
        Errno::ACCESS => "EACCES".into(),
        Errno::NOSPC => "ENOSPC".into(),
        Errno::USERS => "EUSERS".into(),
        Errno::INVAL => "EINVAL".into(),
        Errno::NOSYS => "ENOSYS".into(),
        Errno::NOMEM => "ENOMEM".into(),
        Errno::NODEV => "ENODEV".into(),
        Errno::NOENT => "ENOENT".into(),
        Errno::BUSY => "EBUSY".into(),
        _ => io::Error::from(errno).to_string(),
    }
}
