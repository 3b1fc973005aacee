//! What a program does with files and connections, and what its threads do with each other.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of an operation. The numbers are part of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum OperationKind {
    /// A file is opened to be read.
    OpenRead = 1,
    /// A file is opened to be written, and made if it is not there. Its content stays.
    OpenWrite = 2,
    /// A file is opened to be written from its start, or cut.
    Truncate = 3,
    /// A file is made, which fails if it is there.
    Create = 4,
    /// Bytes of a file are read.
    Read = 5,
    /// Bytes of a file are written.
    Write = 6,
    /// A file or directory is removed.
    Delete = 7,
    /// A file or directory gets another name.
    Rename = 8,
    /// A directory is made, which fails if it is there.
    MakeDirectory = 9,
    /// The names in a directory are read.
    List = 10,
    /// A file is asked for its attributes, or whether it is there.
    Test = 11,
    /// A file gets a second name.
    Link = 12,
    /// A file is mapped into memory; what is read and written there is not seen.
    Map = 13,
    /// What was written to a file is brought to the disk.
    Sync = 14,
    /// Bytes are sent over a connection.
    Send = 15,
    /// Bytes of a connection are received.
    Receive = 16,
    /// A thread is started; the result is its Java id.
    ThreadStart = 17,
    /// A thread waits for the end of another.
    ThreadJoin = 18,
    /// A thread waits until another gives a sign on the object: a monitor, a condition, a latch, a future.
    Wait = 19,
    /// A thread gives a sign to those that wait on the object.
    Notify = 20,
    /// A thread waits for its permit. The object is the thread.
    Park = 21,
    /// A thread gives the permit to another, which is the object.
    Unpark = 22,
    /// Work or an element is handed to a queue or an executor.
    Enqueue = 23,
    /// An element is taken out of a queue.
    Dequeue = 24,
    /// Work that was handed over is done.
    Handle = 25,
    /// A lock is taken, other than a monitor.
    Acquire = 26,
    /// A lock is given back, other than a monitor.
    Release = 27,
}

impl OperationKind {
    /// Every kind.
    pub const ALL: [OperationKind; 27] = [
        OperationKind::OpenRead,
        OperationKind::OpenWrite,
        OperationKind::Truncate,
        OperationKind::Create,
        OperationKind::Read,
        OperationKind::Write,
        OperationKind::Delete,
        OperationKind::Rename,
        OperationKind::MakeDirectory,
        OperationKind::List,
        OperationKind::Test,
        OperationKind::Link,
        OperationKind::Map,
        OperationKind::Sync,
        OperationKind::Send,
        OperationKind::Receive,
        OperationKind::ThreadStart,
        OperationKind::ThreadJoin,
        OperationKind::Wait,
        OperationKind::Notify,
        OperationKind::Park,
        OperationKind::Unpark,
        OperationKind::Enqueue,
        OperationKind::Dequeue,
        OperationKind::Handle,
        OperationKind::Acquire,
        OperationKind::Release,
    ];

    /// The kind with this number, if there is one.
    pub fn from_u8(number: u8) -> Option<OperationKind> {
        OperationKind::ALL.into_iter().find(|&kind| kind as u8 == number)
    }

    /// The name used in JSON and for people.
    pub fn name(self) -> &'static str {
        match self {
            OperationKind::OpenRead => "open_read",
            OperationKind::OpenWrite => "open_write",
            OperationKind::Truncate => "truncate",
            OperationKind::Create => "create",
            OperationKind::Read => "read",
            OperationKind::Write => "write",
            OperationKind::Delete => "delete",
            OperationKind::Rename => "rename",
            OperationKind::MakeDirectory => "make_directory",
            OperationKind::List => "list",
            OperationKind::Test => "test",
            OperationKind::Link => "link",
            OperationKind::Map => "map",
            OperationKind::Sync => "sync",
            OperationKind::Send => "send",
            OperationKind::Receive => "receive",
            OperationKind::ThreadStart => "thread_start",
            OperationKind::ThreadJoin => "thread_join",
            OperationKind::Wait => "wait",
            OperationKind::Notify => "notify",
            OperationKind::Park => "park",
            OperationKind::Unpark => "unpark",
            OperationKind::Enqueue => "enqueue",
            OperationKind::Dequeue => "dequeue",
            OperationKind::Handle => "handle",
            OperationKind::Acquire => "acquire",
            OperationKind::Release => "release",
        }
    }

    /// Whether it is about a connection rather than a file.
    pub fn is_of_connection(self) -> bool {
        matches!(self, OperationKind::Send | OperationKind::Receive)
    }

    /// Whether it is between threads, on an object, rather than on a file or a connection.
    pub fn is_between_threads(self) -> bool {
        self as u8 >= OperationKind::ThreadStart as u8
    }

    /// Whether it may last for as long as other threads let it, so that its begin is recorded too.
    pub fn may_last(self) -> bool {
        use OperationKind::*;
        matches!(self, ThreadJoin | Wait | Park | Dequeue | Enqueue | Handle | Acquire)
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_number_and_named_as_in_json() {
        for kind in OperationKind::ALL {
            assert_eq!(OperationKind::from_u8(kind as u8), Some(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        assert_eq!(OperationKind::from_u8(0), None);
        assert_eq!(OperationKind::from_u8(OperationKind::ALL.len() as u8 + 1), None);
    }
}
