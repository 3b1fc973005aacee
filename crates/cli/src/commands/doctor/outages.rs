//! Faults inside the JDK: the ways of the data on which each of them works, in a JDK.

use hypocenter_program::{ClassPath, SitePattern, find_sites};

use crate::java::Java;

/// A fault, a way of the data, and the methods that it needs there: of each group one.
type Way = (&'static str, &'static str, &'static [&'static [&'static str]]);

const WAYS: [Way; 6] = [
    ("drop", "sockets", &[&["sun.nio.ch.NioSocketImpl.tryWrite"], &["sun.nio.ch.SocketDispatcher.write"]]),
    (
        "drop",
        "channels",
        &[
            &["sun.nio.ch.IOUtil.write"],
            &["sun.nio.ch.SocketDispatcher.write"],
            &["sun.nio.ch.SocketDispatcher.writev"],
        ],
    ),
    (
        "drop",
        "files sent over channels",
        &[&[
            "sun.nio.ch.FileChannelImpl.transferToDirectlyInternal",
            "sun.nio.ch.FileChannelImpl.transferToFileDescriptor",
        ]],
    ),
    ("disk_full", "streams", &[&["java.io.FileOutputStream.write"], &["java.io.RandomAccessFile.write"]]),
    ("disk_full", "channels", &[&["sun.nio.ch.IOUtil.write"], &["sun.nio.fs.UnixNativeDispatcher.open"]]),
    ("partition", "TCP", &[&["sun.nio.ch.Net.connect"]]),
];

/// The faults with the ways on which they work, or the ways on which one does not.
pub fn of(java: &Java) -> Result<String, String> {
    let classes = ClassPath::from_paths(Vec::new()).with_jdk(&java.home).open(java.feature);
    let has = |method: &str| {
        let pattern = format!("{method} operation").parse::<SitePattern>();
        pattern.is_ok_and(|it| !find_sites(&classes, &it).sites.is_empty())
    };
    let lacks = |way: &Way| way.2.iter().find(|group| !group.iter().any(|it| has(it))).map(|group| group[0]);
    let mut works: Vec<String> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    for way in &WAYS {
        let (fault, name, _) = way;
        match lacks(way) {
            Some(method) => missing.push(format!("{fault} on {name} (no code for {method})")),
            None => match works.last_mut().filter(|it| it.starts_with(&format!("{fault} on "))) {
                Some(last) => *last += &format!(", {name}"),
                None => works.push(format!("{fault} on {name}")),
            },
        }
    }
    if missing.is_empty() {
        return Ok(format!(
            "{}; drop not on native transports (Netty's epoll and io_uring)",
            works.join("; ")
        ));
    }
    Err(format!("these faults are refused or have no effect there: {}", missing.join("; ")))
}
