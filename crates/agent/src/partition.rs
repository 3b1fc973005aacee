//! Partitions: for a time, no packet gets from one node to another.
//!
//! The kernel does it: each of the two nodes puts a filter on its TCP sockets that lead to the other, which drops whatever arrives. So it
//! is as with a broken network, for every transport: what is sent is accepted and not acknowledged, a connect has no answer, and when
//! the filters go, the kernel sends again what the other side has not got. No connection loses a byte of its middle.
//!
//! The sockets of the other node are those of the processes that have joined the trial under its name. A thread of the agent does the
//! work, and looks for new connections as long as a partition lasts; connects in Java code have their filter before they begin.

use std::collections::HashMap;
use std::ffi::c_void;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;

use hypocenter_trace::{ArmedFault, ArmedPlan, ArmedRepeat, ReportKind, Session, TrialFile};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::operations::{Inode, link_of, socket_of};
use crate::watcher::NO_SITE;

/// How often a partition looks for connections that were made in native code.
const SWEEP_EVERY: Duration = Duration::from_millis(25);
/// How long a partition waits at its begin for the processes of its nodes.
const BEGIN_WAIT: Duration = Duration::from_secs(10);

/// The partitions of a plan that concern this node.
#[derive(Default)]
pub(crate) struct Partitions {
    all: Vec<Partition>,
    /// The sockets that have a filter.
    cut: Mutex<FxHashSet<Inode>>,
}

struct Partition {
    candidate: u32,
    repeat: ArmedRepeat,
    other: String,
}

impl Partition {
    /// Tests whether it is about to begin, or lasts. Its time is counted from when all connections are cut.
    fn lasts(&self, trial: &TrialFile) -> bool {
        trial.is_claimed(self.candidate) || trial.lasts(self.candidate, self.repeat)
    }
}

impl Partitions {
    pub(crate) fn new(plan: &ArmedPlan, node: &str) -> Partitions {
        let of_node = |(it, candidate): (&hypocenter_trace::ArmedCandidate, u32)| match &it.fault {
            ArmedFault::Partition { nodes } => {
                let at = nodes.iter().position(|it| it == node)?;
                Some(Partition { candidate, repeat: it.repeat, other: nodes[1 - at].clone() })
            }
            _ => None,
        };
        Partitions {
            all: plan.candidates.iter().zip(0..).filter_map(of_node).collect(),
            cut: Mutex::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Cuts and heals, until the process ends.
    pub(crate) fn follow(&self, session: &Session) {
        let trial = session.trial();
        let mut known = 0;
        loop {
            let now = trial.partitions_begun();
            let lasts = self.all.iter().any(|it| it.lasts(trial));
            if lasts {
                self.sweep(session);
            } else {
                self.heal();
            }
            if now != known {
                known = now;
                trial.partition_is_followed();
            }
            if trial.wait_for_partition(known, lasts.then_some(SWEEP_EVERY)).is_err() {
                return session.report(
                    ReportKind::Trouble,
                    NO_SITE,
                    "partitions are not possible: the kernel cannot sleep on the trial's file",
                );
            }
        }
    }

    /// Puts a filter on every socket that leads to a node which must not be reached, and takes it from those that may be again.
    fn sweep(&self, session: &Session) {
        let trial = session.trial();
        let own = sockets("self");
        let table = connections();
        let mut wanted = FxHashSet::default();
        for it in self.all.iter().filter(|it| it.lasts(trial)) {
            let theirs = sockets_of_node(trial, &it.other);
            let ways = Ways::to(&table, &theirs);
            for socket in table.iter().filter(|it| own.contains_key(&it.inode)) {
                if ways.has(socket) {
                    wanted.insert(socket.inode);
                    self.cut(trial, it.candidate, socket.inode, own[&socket.inode]);
                }
            }
        }
        let mut cut = self.cut.lock().unwrap_or_else(|poison| poison.into_inner());
        cut.retain(|inode| {
            // One that was made since the lists were read, or has not begun to connect, is missing in one of them.
            let Some(&fd) = own.get(inode) else { return true };
            let stays = wanted.contains(inode) || !table.iter().any(|it| it.inode == *inode);
            if !stays {
                set_filter(fd, false);
            }
            stays
        });
    }

    fn cut(&self, trial: &TrialFile, candidate: u32, inode: Inode, fd: i32) {
        let mut cut = self.cut.lock().unwrap_or_else(|poison| poison.into_inner());
        if cut.contains(&inode) || !set_filter(fd, true) {
            return;
        }
        if inode_of(fd) == Some(inode) {
            cut.insert(inode);
            trial.affect(candidate, 0);
        } else {
            // Closed meanwhile, and the descriptor is of something else.
            set_filter(fd, false);
        }
    }

    /// Cuts a socket that is about to connect to a node which must not be reached.
    pub(crate) fn connects(&self, trial: &TrialFile, fd: i32, to: SocketAddr) {
        let Some(inode) = inode_of(fd) else { return };
        let table = connections();
        for it in self.all.iter().filter(|it| it.lasts(trial)) {
            if Ways::to(&table, &sockets_of_node(trial, &it.other)).listens(to) {
                self.cut(trial, it.candidate, inode, fd);
            }
        }
    }

    /// Tests whether a partition lasts that concerns this node.
    pub(crate) fn any_lasts(&self, trial: &TrialFile) -> bool {
        self.all.iter().any(|it| it.lasts(trial))
    }

    fn heal(&self) {
        let mut cut = self.cut.lock().unwrap_or_else(|poison| poison.into_inner());
        if cut.is_empty() {
            return;
        }
        for (inode, fd) in sockets("self") {
            if cut.contains(&inode) {
                set_filter(fd, false);
            }
        }
        cut.clear();
    }
}

/// Why a partition cannot be made, if so.
pub(crate) fn trouble(trial: &TrialFile, nodes: &[String; 2]) -> Result<(), String> {
    let there = trial.live_jvms();
    if let Some(absent) = nodes.iter().find(|node| there.iter().all(|it| it.0 != **node)) {
        return Err(format!("no JVM of node `{absent}` is there that has used the network"));
    }
    let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
    match set_filter(std::os::fd::AsRawFd::as_raw_fd(&socket), true) {
        true => Ok(()),
        false => Err(format!("the kernel refuses a socket filter: {}", std::io::Error::last_os_error())),
    }
}

/// Lets a partition begin, and waits until every process of its nodes has cut its connections.
pub(crate) fn begin(trial: &TrialFile, nodes: &[String; 2]) {
    let is_there = |pid: u32| std::path::Path::new(&format!("/proc/{pid}")).exists();
    let of_nodes = |it: &(String, u32)| nodes.contains(&it.0) && is_there(it.1);
    let processes = trial.live_jvms().into_iter().filter(of_nodes).count() as u32;
    trial.begin_partition(processes, BEGIN_WAIT);
}

/// The sockets of a process, each with a descriptor of it.
fn sockets(process: &str) -> FxHashMap<Inode, i32> {
    let directory = std::fs::read_dir(format!("/proc/{process}/fd"));
    let entries = directory.into_iter().flatten().flatten();
    entries
        .filter_map(|it| {
            let fd = it.file_name().to_str()?.parse().ok()?;
            Some((socket_of(&std::fs::read_link(it.path()).ok()?)?, fd))
        })
        .collect()
}

fn inode_of(fd: i32) -> Option<Inode> {
    socket_of(&link_of(fd)?)
}

fn sockets_of_node(trial: &TrialFile, node: &str) -> FxHashSet<Inode> {
    let processes = trial.live_jvms().into_iter().filter(|it| it.0 == node);
    processes.flat_map(|it| sockets(&it.1.to_string()).into_keys()).collect()
}

/// A TCP socket, as the kernel lists it.
struct Connection {
    local: SocketAddr,
    remote: SocketAddr,
    listens: bool,
    inode: Inode,
}

/// The TCP sockets of this network.
fn connections() -> Vec<Connection> {
    let mut all = Vec::new();
    for name in ["tcp", "tcp6"] {
        let text = std::fs::read_to_string(format!("/proc/self/net/{name}")).unwrap_or_default();
        all.extend(text.lines().skip(1).filter_map(connection));
    }
    all
}

/// A line of `/proc/net/tcp`: number, local and remote address, state, and the inode behind six more fields.
fn connection(line: &str) -> Option<Connection> {
    const LISTENS: &str = "0A";
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (local, remote) = (address(fields.next()?)?, address(fields.next()?)?);
    let listens = fields.next()? == LISTENS;
    let inode = fields.nth(5)?.parse().ok()?;
    Some(Connection { local, remote, listens, inode })
}

/// An address of `/proc/net/tcp`: words of four bytes in the order of the machine, in hexadecimal digits, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let words: Vec<[u8; 4]> = (0..ip.len() / 8)
        .map(|at| u32::from_str_radix(ip.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes))
        .collect::<Option<_>>()?;
    let ip = match words.as_slice() {
        [word] => IpAddr::V4(Ipv4Addr::from(*word)),
        words => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(words.concat()).ok()?)).to_canonical(),
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// What leads to the sockets of a node.
struct Ways {
    /// Its connections, each by remote and local address.
    pairs: FxHashSet<(SocketAddr, SocketAddr)>,
    /// Where it listens.
    listening: HashMap<u16, Vec<IpAddr>>,
}

impl Ways {
    fn to(table: &[Connection], sockets: &FxHashSet<Inode>) -> Ways {
        let mut ways = Ways { pairs: FxHashSet::default(), listening: HashMap::new() };
        for it in table.iter().filter(|it| sockets.contains(&it.inode)) {
            if it.listens {
                ways.listening.entry(it.local.port()).or_default().push(it.local.ip());
            } else {
                ways.pairs.insert((it.remote, it.local));
            }
        }
        ways
    }

    fn has(&self, socket: &Connection) -> bool {
        !socket.listens
            && (self.pairs.contains(&(socket.local, socket.remote)) || self.listens(socket.remote))
    }

    fn listens(&self, to: SocketAddr) -> bool {
        let at = self.listening.get(&to.port()).map_or(&[][..], Vec::as_slice);
        at.iter().any(|it| it.is_unspecified() || *it == to.ip().to_canonical())
    }
}

/// Lets a socket drop whatever arrives, or no longer.
fn set_filter(fd: i32, drops: bool) -> bool {
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let mut none = libc::sock_filter { code: RETURN, jt: 0, jf: 0, k: 0 };
    let program = libc::sock_fprog { len: 1, filter: &raw mut none };
    let unused: libc::c_int = 0;
    let (option, value, len) = match drops {
        true => (libc::SO_ATTACH_FILTER, (&raw const program).cast::<c_void>(), size_of_val(&program)),
        false => (libc::SO_DETACH_FILTER, (&raw const unused).cast(), size_of_val(&unused)),
    };
    // SAFETY: the value is of the type that the option wants and lives through the call, as does the program that it points to.
    unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, value, len as libc::socklen_t) == 0 }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn lines_of_the_kernel_are_understood() {
        let check = |text: &str, expected: &str| assert_eq!(address(text).unwrap().to_string(), expected);
        check("0100007F:1F90", "127.0.0.1:8080");
        check("00000000000000000000000000000000:0016", "[::]:22");
        check("0000000000000000FFFF00000100007F:0050", "127.0.0.1:80");
        for broken in ["", "0100007F", "0100007F:", "x:1", "\u{e9}\u{e9}\u{e9}\u{e9}:1", "0100007F01:1F90"] {
            assert!(address(broken).is_none_or(|it| it.ip() == IpAddr::V4(Ipv4Addr::LOCALHOST)), "{broken}");
        }
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 12345 1 0 100 0";
        let it = connection(line).unwrap();
        assert_eq!((it.local.port(), it.listens, it.inode), (8080, true, 12345));
    }

    #[test]
    fn what_a_filter_holds_back_arrives_once_it_is_gone() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let to = listener.local_addr().unwrap();
        let mut sender = TcpStream::connect(to).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let own = sockets("self");
        let inode = inode_of(receiver.as_raw_fd()).unwrap();
        assert_eq!(own[&inode], receiver.as_raw_fd());
        let theirs = FxHashSet::from_iter([inode_of(sender.as_raw_fd()).unwrap()]);
        let table = connections();
        let leads = |it: &&Connection| Ways::to(&table, &theirs).has(it);
        assert_eq!(table.iter().filter(leads).map(|it| it.inode).collect::<Vec<_>>(), [inode]);
        assert!(set_filter(receiver.as_raw_fd(), true));
        sender.write_all(b"late").unwrap();
        receiver.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert!(receiver.read(&mut [0; 4]).is_err());
        assert!(set_filter(receiver.as_raw_fd(), false));
        receiver.set_read_timeout(None).unwrap();
        let mut bytes = [0; 4];
        receiver.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"late");
    }
}
