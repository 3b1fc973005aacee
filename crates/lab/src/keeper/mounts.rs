//! Content of `/tmp`, `/dev/shm` and `/etc/hosts` in a sandbox.
//!
//! A private `/tmp` hides everything that lies below the machine's, and the project or the trial's directory may well lie
//! there. So the trees that must stay visible are held by a descriptor before, and put back at the same path after. The
//! private `/tmp` is a directory of the trial and not a file system in memory: it stays as evidence, and fsync is real.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind,
    mount_bind_recursive, mount_change, move_mount, open_tree,
};

use super::hosts;
use super::sandbox::{Refusal, name_of};

const TMP: &str = "/tmp";
const SHARED_MEMORY: &str = "/dev/shm";
const HOSTS: &str = "/etc/hosts";

/// Keeps what happens to the mounts of this namespace from reaching the machine's.
pub(super) fn detach() -> Result<(), Refusal> {
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
        .map_err(|errno| refused("private mounts", errno))
}

/// Writes the private `/etc/hosts` to a file and puts it in its place.
pub(super) fn replace_hosts(file: &Path) -> Result<(), Refusal> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = match fs::read_to_string(HOSTS) {
        Ok(text) => text,
        // There is nothing to put it over, and then nothing on this machine expects it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(_) => String::new(),
    };
    fs::write(file, hosts::private(host.trim(), &machine)).map_err(|source| Refusal::path(file, source))?;
    mount_bind(file, HOSTS).map_err(|errno| refused("a private /etc/hosts", errno))
}

/// Puts a directory in the place of `/tmp` and empty memory in that of `/dev/shm`, and brings back what must be seen.
pub(super) fn replace_places(tmp: &Path, visible: &[PathBuf]) -> Result<(), Refusal> {
    let mut places = Vec::new();
    for place in [TMP, SHARED_MEMORY] {
        if let Ok(place) = fs::canonicalize(place) {
            places.push(place);
        }
    }
    fs::read_dir(tmp).map_err(|source| Refusal::path(tmp, source))?;
    let hidden = hold(&places, visible)?;
    mount_bind_recursive(tmp, TMP).map_err(|errno| refused("a private /tmp", errno))?;
    if Path::new(SHARED_MEMORY).is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", SHARED_MEMORY, "tmpfs", flags, Some(c"mode=1777"))
            .map_err(|errno| refused("a private /dev/shm", errno))?;
    }
    for (target, tree) in hidden {
        put_back(&target, &tree).map_err(|source| Refusal::path(&target, source))?;
    }
    Ok(())
}

struct Tree {
    mount: OwnedFd,
    directory: bool,
}

/// The trees that are about to be hidden, by the path where they must be seen again. A path that lies below another one
/// comes back with that.
fn hold(places: &[PathBuf], visible: &[PathBuf]) -> Result<BTreeMap<PathBuf, Tree>, Refusal> {
    let mut targets = BTreeMap::new();
    for path in visible {
        let real = fs::canonicalize(path).map_err(|source| Refusal::path(path, source))?;
        // A path through a symbolic link in /tmp is hidden under both of its names. One that goes up again has no place
        // that could be told from its name.
        let goes_up = path.components().any(|it| it == Component::ParentDir);
        for target in [&real, if goes_up { &real } else { path }] {
            if let Some(place) = places.iter().find(|place| target == *place) {
                return Err(Refusal::Sandbox(format!(
                    "{} must stay visible, but a sandbox has its own {}; work in a directory below it",
                    path.display(),
                    place.display()
                )));
            }
            if places.iter().any(|place| target.starts_with(place)) {
                targets.insert(target.clone(), real.clone());
            }
        }
    }
    let mut trees: BTreeMap<PathBuf, Tree> = BTreeMap::new();
    // In this order a directory comes before what it contains.
    for (target, real) in targets {
        if target.ancestors().any(|it| trees.contains_key(it)) {
            continue;
        }
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let mount = open_tree(CWD, &real, flags)
            .map_err(|errno| refused(&format!("a second mount of {}", real.display()), errno))?;
        trees.insert(target, Tree { mount, directory: real.is_dir() });
    }
    Ok(trees)
}

fn put_back(target: &Path, tree: &Tree) -> io::Result<()> {
    if tree.directory {
        fs::create_dir_all(target)?;
    } else {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        let _: File = OpenOptions::new().append(true).create(true).open(target)?;
    }
    move_mount(&tree.mount, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(())
}

/// Shows the processes of this namespace at `/proc`; only one of them can do it.
pub(super) fn replace_processes() -> Result<(), Refusal> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None).map_err(|errno| match errno {
        Errno::PERM => Refusal::Sandbox(
            "the kernel refuses a private /proc (EPERM: parts of /proc are hidden here, as in most containers)".into(),
        ),
        _ => refused("a private /proc", errno),
    })
}

fn refused(what: &str, errno: Errno) -> Refusal {
    let hint = match errno {
        Errno::NOSYS => ": Linux 5.2 or later is needed",
        Errno::PERM | Errno::ACCESS => ": a security policy of this machine or of its container forbids it",
        _ => "",
    };
    Refusal::Sandbox(format!("the kernel refuses {what} ({}{hint})", name_of(errno)))
}
