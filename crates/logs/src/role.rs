//! What a thread does, from its name: the same thread has other numbers in another run.

use std::borrow::Cow;

/// The shortest run of hexadecimal digits with letters among them that is taken for a number. A shorter one may be a
/// word with a number at its end.
const HEX_BYTES_MIN: usize = 6;
/// The groups of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// The name of a thread with everything that numbers it as `#`: `SyncThread:2` and `SyncThread:3` are both
/// `SyncThread:#`. An address with its port is one number, and so is the path of a file behind its first slash.
pub fn role(thread: &str) -> Cow<'_, str> {
    let bytes = thread.as_bytes();
    if !bytes.iter().any(|it| it.is_ascii_digit() || *it == b'/') {
        return Cow::Borrowed(thread);
    }
    let mut role = String::with_capacity(thread.len());
    let mut at = 0;
    while at < bytes.len() {
        if let Some(length) = path(bytes, at) {
            role.push_str("/#");
            at += length;
            continue;
        }
        let is_word = |it: u8| it.is_ascii_alphanumeric() || !it.is_ascii();
        let begins = at == 0 || !is_word(bytes[at - 1]);
        let length = match bytes[at] {
            b'-' if begins && is_sign(bytes, at) => 1 + digits(bytes, at + 1),
            _ if begins => long_number(&bytes[at..]).unwrap_or_else(|| digits(bytes, at)),
            _ => digits(bytes, at),
        };
        if length == 0 {
            let end = at + thread[at..].chars().next().map_or(1, char::len_utf8);
            role.push_str(&thread[at..end]);
            at = end;
            continue;
        }
        // `127.0.0.1:2181` is one number, and so is `1.5`.
        if role.ends_with("#.") || role.ends_with("#:") {
            role.truncate(role.len() - 2);
        }
        role.push('#');
        at += length;
    }
    Cow::Owned(role)
}

/// The length of the path that begins with the slash at `at`: it stands at the beginning, behind a blank, a bracket or the like, and its
/// first name begins with a letter, as no address does.
fn path(bytes: &[u8], at: usize) -> Option<usize> {
    (bytes[at] == b'/').then_some(())?;
    let is_edge = |it: &u8| b" \t([{<'\"=:,;/".contains(it);
    let is_end = |it: &u8| b" \t)]}>'\",;".contains(it);
    let begins = at.checked_sub(1).is_none_or(|it| is_edge(&bytes[it]));
    let is_name = |it: &u8| it.is_ascii_alphabetic() || matches!(it, b'_' | b'.' | b'~');
    (begins && bytes.get(at + 1).is_some_and(is_name)).then_some(())?;
    let rest = &bytes[at..];
    Some(rest.iter().position(is_end).unwrap_or(rest.len()))
}

fn digits(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|it| it.is_ascii_digit()).count()
}

/// Whether the `-` at `at` belongs to the number behind it: it stands behind no word and no bracket.
fn is_sign(bytes: &[u8], at: usize) -> bool {
    let follows = at.checked_sub(1).is_some_and(|it| matches!(bytes[it], b']' | b')' | b'}' | b'/' | b'-'));
    !follows && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
}

/// The length of a number with letters in it, at the start: `0x14f05578bd80006`, a UUID, an IPv6 address, a hash.
fn long_number(bytes: &[u8]) -> Option<usize> {
    let hex =
        |from: usize| bytes.get(from..).unwrap_or_default().iter().take_while(|it| it.is_ascii_hexdigit());
    if let [b'0', b'x' | b'X', ..] = bytes {
        let count = hex(2).count();
        return (count > 0).then_some(2 + count);
    }
    uuid(bytes).or_else(|| ipv6(bytes)).or_else(|| {
        let count = hex(0).count();
        let ends = !bytes.get(count).is_some_and(u8::is_ascii_alphanumeric);
        (count >= HEX_BYTES_MIN && ends && hex(0).any(u8::is_ascii_digit)).then_some(count)
    })
}

fn uuid(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (n, length) in UUID.into_iter().enumerate() {
        if n > 0 {
            (bytes.get(at) == Some(&b'-')).then_some(())?;
            at += 1;
        }
        bytes.get(at..at + length)?.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        at += length;
    }
    Some(at)
}

/// Groups of up to four hexadecimal digits with at least two colons between them, and a port behind.
fn ipv6(bytes: &[u8]) -> Option<usize> {
    const GROUP_BYTES_MAX: usize = 4;
    const COLONS_MAX: usize = 8;
    let mut at = 0;
    let mut colons = 0;
    let mut has_digit = false;
    loop {
        let group = bytes[at..].iter().take_while(|it| it.is_ascii_hexdigit()).count();
        let is_port = group == 5 && bytes[at..at + group].iter().all(u8::is_ascii_digit);
        // A word that begins with such letters is none of the groups.
        let ends = !bytes.get(at + group).is_some_and(u8::is_ascii_alphanumeric);
        if (group > GROUP_BYTES_MAX && !is_port) || !ends {
            return None;
        }
        has_digit |= bytes[at..at + group].iter().any(u8::is_ascii_digit);
        at += group;
        if bytes.get(at) != Some(&b':') || colons == COLONS_MAX || is_port {
            break;
        }
        let next = bytes.get(at + 1).copied();
        if !next.is_some_and(|it| it == b':' || it.is_ascii_hexdigit()) {
            break;
        }
        colons += 1;
        at += 1;
    }
    (colons >= 2 && has_digit).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numbers_a_thread_is_masked() {
        for (name, expected) in [
            ("main", "main"),
            ("", ""),
            ("SyncThread:2", "SyncThread:#"),
            ("pool-1-thread-12", "pool-#-thread-#"),
            ("QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181", "QuorumPeer[myid=#]/#"),
            (
                "QuorumPeer[myid=1](plain=/127.0.0.1:2181)(secure=disabled)",
                "QuorumPeer[myid=#](plain=/#)(secure=disabled)",
            ),
            ("QuorumPeer[myid=3](plain=[0:0:0:0:0:0:0:0]:2181)", "QuorumPeer[myid=#](plain=[#]:#)"),
            ("NIOServerCxn.Factory:0.0.0.0/0.0.0.0:2181", "NIOServerCxn.Factory:#/#"),
            ("ProcessThread(sid:3 cport:-1):", "ProcessThread(sid:# cport:#):"),
            ("ProcessThread(sid:3 cport:2181):", "ProcessThread(sid:# cport:#):"),
            ("LearnerHandler-/127.0.0.1:54321", "LearnerHandler-/#"),
            ("SendWorker:188978561024", "SendWorker:#"),
            ("main-SendThread(localhost:2181)", "main-SendThread(localhost:#)"),
            ("/10.10.34.11:3888", "/#"),
            ("session 0x14f05578bd80006", "session #"),
            ("DataXceiver for blk_-6952295868487656571", "DataXceiver for blk_#"),
            ("task 550e8400-e29b-41d4-a716-446655440000", "task #"),
            ("region 1588230740", "region #"),
            ("flush e0b1c2d3f4", "flush #"),
            ("IPC Server handler 0 on 8020", "IPC Server handler # on #"),
            ("qtp1234-56", "qtp#-#"),
            ("fe80:0:0:0:1ff:fe23:4567:890a:45000", "#"),
            ("Thread2b", "Thread#b"),
            ("kafka-\u{e9}t\u{e9}-1", "kafka-\u{e9}t\u{e9}-#"),
            ("a:b:c", "a:b:c"),
            // Paths.
            ("VolumeScannerThread(/data/dfs/data1)", "VolumeScannerThread(/#)"),
            ("VolumeScannerThread(/data)", "VolumeScannerThread(/#)"),
            (
                "BP-1 to [[DISK]file:/tmp/a1/x, [DISK]file:/tmp/b] at localhost/127.0.0.1:80",
                "BP-# to [[DISK]file:/#, [DISK]file:/#] at localhost/#",
            ),
            ("lock of /var/lib/kafka", "lock of /#"),
            ("Listener at localhost/34265", "Listener at localhost/#"),
            ("reader/writer", "reader/writer"),
            ("qtp1-acceptor@6e2c@/0.0.0.0:8080", "qtp#-acceptor@#e#c@/#"),
            ("a/b/c", "a/b/c"),
            ("/", "/"),
            ("decade", "decade"),
        ] {
            assert_eq!(role(name), expected, "{name}");
        }
    }
}
