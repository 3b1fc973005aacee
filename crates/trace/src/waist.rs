//! The methods of the JDK through which everything goes that a program does with files and connections, and those by which its threads work
//! together ([`handover`]).
//!
//! Tool and agent share this list: the tool finds the sites of operations by it, the agent where their operands are. A method that a JDK
//! declares `native` has no code for a hook, and what it does is seen only where another of these methods calls it.

use std::sync::LazyLock;

use hypocenter_plan::{Fault, OperationKind};

use crate::handover;

/// Where the name of a file or connection is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A `String` with a path.
    Text,
    /// A `java.io.File`.
    File,
    /// A path of `java.nio`.
    NioPath,
    /// An `InetAddress`, with the port as the number.
    Address,
    /// A `FileDescriptor`.
    Descriptor,
    /// An object with a `FileDescriptor` in its field `fd`.
    Holder,
    /// Any object, by its identity.
    Object,
    /// The thread that is running.
    Caller,
    /// The object that the method returns: known when it ends.
    Result,
}

/// Where an operation is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In the method, from its start to its end.
    Method,
    /// The same, in a method that a JDK may lack.
    MethodIfAny,
    /// At calls of the method, whose object is what is worked on: in this method of the class, or in all methods of all classes.
    Call(Option<&'static str>),
}

/// What a method does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Always this.
    Plain(OperationKind),
    /// Reads bytes of a file or of a connection.
    Receive,
    /// Writes bytes to a file or to a connection.
    Send,
    /// Connects to an address. It is no operation by itself.
    Connect,
    /// Opens a file to be written; its last operand says whether to append.
    OpenStream,
    /// Opens a `RandomAccessFile`; its last operand is the mode.
    OpenRandom,
    /// Opens a file by the flags of `open(2)`, its last operand.
    OpenFlags,
}

/// A method of the waist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waist {
    /// Its class, with dots.
    pub class: &'static str,
    /// Its name.
    pub method: &'static str,
    /// The start of its descriptor; the rest differs between JDKs.
    pub descriptor: &'static str,
    /// What it does.
    pub deed: Deed,
    /// The local variable with what it works on, at its start.
    pub first: (u8, Operand),
    /// Another, such as the new name of a file.
    pub second: Option<(u8, Operand)>,
    /// The local variable with a number that the deed depends on.
    pub number: Option<u8>,
    /// The local variable with the descriptor that bytes are written to by nothing but this method's own native call.
    pub outlet: Option<u8>,
    /// Where it is seen.
    pub at: Where,
}

/// How an operation fails when the disk is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// By an `IOException`.
    Exception,
    /// By a `FileNotFoundException` with the name of the file.
    NotFound,
    /// By a `FileSystemException` with the name of the file.
    FileSystem,
    /// By its result.
    Answer,
}

const fn row(
    class: &'static str,
    method: &'static str,
    descriptor: &'static str,
    deed: Deed,
    first: (u8, Operand),
) -> Waist {
    Waist {
        class,
        method,
        descriptor,
        deed,
        first,
        second: None,
        number: None,
        outlet: None,
        at: Where::MethodIfAny,
    }
}

const fn by_number(it: Waist, number: u8) -> Waist {
    Waist { number: Some(number), ..it }
}

const fn onto(it: Waist, second: (u8, Operand)) -> Waist {
    Waist { second: Some(second), ..it }
}

const fn outlet(class: &'static str, method: &'static str, descriptor: &'static str, local: u8) -> Waist {
    let it = row(class, method, descriptor, Deed::Send, (local, Operand::Descriptor));
    Waist { outlet: Some(local), ..it }
}

const OUTPUT: &str = "java.io.FileOutputStream";
const INPUT: &str = "java.io.FileInputStream";
const RANDOM: &str = "java.io.RandomAccessFile";
const FILE: &str = "java.io.File";
const CHANNEL: &str = "sun.nio.ch.FileChannelImpl";
const IO_UTIL: &str = "sun.nio.ch.IOUtil";
const SOCKET: &str = "sun.nio.ch.NioSocketImpl";
const DISPATCHER: &str = "sun.nio.ch.SocketDispatcher";
const PATHS: &str = "sun.nio.fs.UnixNativeDispatcher";

const THIS_HOLDER: (u8, Operand) = (0, Operand::Holder);
const THIS_FILE: (u8, Operand) = (0, Operand::File);
const PATH: (u8, Operand) = (0, Operand::NioPath);
const DESCRIPTOR: (u8, Operand) = (0, Operand::Descriptor);
const TEXT: (u8, Operand) = (1, Operand::Text);

const TEST: Deed = Deed::Plain(OperationKind::Test);
const READ: Deed = Deed::Plain(OperationKind::Read);
const WRITE: Deed = Deed::Plain(OperationKind::Write);

/// The waist. A method that calls another of them counts alone.
const WAIST: &[Waist] = &[
    by_number(row(OUTPUT, "open", "(Ljava/lang/String;Z)V", Deed::OpenStream, TEXT), 2),
    row(OUTPUT, "write", "(I)V", WRITE, THIS_HOLDER),
    row(OUTPUT, "write", "([B)V", WRITE, THIS_HOLDER),
    row(OUTPUT, "write", "([BII)V", WRITE, THIS_HOLDER),
    row(INPUT, "open", "(Ljava/lang/String;)V", Deed::Plain(OperationKind::OpenRead), TEXT),
    row(INPUT, "read", "()I", READ, THIS_HOLDER),
    row(INPUT, "read", "([B)I", READ, THIS_HOLDER),
    row(INPUT, "read", "([BII)I", READ, THIS_HOLDER),
    by_number(row(RANDOM, "open", "(Ljava/lang/String;I)V", Deed::OpenRandom, TEXT), 2),
    row(RANDOM, "read", "()I", READ, THIS_HOLDER),
    row(RANDOM, "read", "([B)I", READ, THIS_HOLDER),
    row(RANDOM, "read", "([BII)I", READ, THIS_HOLDER),
    row(RANDOM, "write", "(I)V", WRITE, THIS_HOLDER),
    row(RANDOM, "write", "([B)V", WRITE, THIS_HOLDER),
    row(RANDOM, "write", "([BII)V", WRITE, THIS_HOLDER),
    row(RANDOM, "setLength", "(J)V", Deed::Plain(OperationKind::Truncate), THIS_HOLDER),
    row(FILE, "exists", "()Z", TEST, THIS_FILE),
    row(FILE, "isDirectory", "()Z", TEST, THIS_FILE),
    row(FILE, "isFile", "()Z", TEST, THIS_FILE),
    row(FILE, "length", "()J", TEST, THIS_FILE),
    row(FILE, "lastModified", "()J", TEST, THIS_FILE),
    row(FILE, "canRead", "()Z", TEST, THIS_FILE),
    row(FILE, "canWrite", "()Z", TEST, THIS_FILE),
    row(FILE, "createNewFile", "()Z", Deed::Plain(OperationKind::Create), THIS_FILE),
    row(FILE, "delete", "()Z", Deed::Plain(OperationKind::Delete), THIS_FILE),
    row(FILE, "mkdir", "()Z", Deed::Plain(OperationKind::MakeDirectory), THIS_FILE),
    row(FILE, "list", "()[Ljava/lang/String;", Deed::Plain(OperationKind::List), THIS_FILE),
    row(FILE, "normalizedList", "()[Ljava/lang/String;", Deed::Plain(OperationKind::List), THIS_FILE),
    onto(
        row(FILE, "renameTo", "(Ljava/io/File;)Z", Deed::Plain(OperationKind::Rename), THIS_FILE),
        (1, Operand::File),
    ),
    row(CHANNEL, "force", "(Z)V", Deed::Plain(OperationKind::Sync), THIS_HOLDER),
    row(
        CHANNEL,
        "truncate",
        "(J)Ljava/nio/channels/FileChannel;",
        Deed::Plain(OperationKind::Truncate),
        THIS_HOLDER,
    ),
    row(
        CHANNEL,
        "mapInternal",
        "(Ljava/nio/channels/FileChannel$MapMode;JJIZ)",
        Deed::Plain(OperationKind::Map),
        THIS_HOLDER,
    ),
    row(IO_UTIL, "read", "(Ljava/io/FileDescriptor;Ljava/nio/ByteBuffer;", Deed::Receive, DESCRIPTOR),
    row(IO_UTIL, "read", "(Ljava/io/FileDescriptor;[Ljava/nio/ByteBuffer;", Deed::Receive, DESCRIPTOR),
    row(IO_UTIL, "write", "(Ljava/io/FileDescriptor;Ljava/nio/ByteBuffer;", Deed::Send, DESCRIPTOR),
    row(IO_UTIL, "write", "(Ljava/io/FileDescriptor;[Ljava/nio/ByteBuffer;", Deed::Send, DESCRIPTOR),
    row(SOCKET, "tryRead", "(Ljava/io/FileDescriptor;[BII)I", Deed::Receive, (1, Operand::Descriptor)),
    row(SOCKET, "tryWrite", "(Ljava/io/FileDescriptor;[BII)I", Deed::Send, (1, Operand::Descriptor)),
    onto(
        by_number(
            row(
                "sun.nio.ch.Net",
                "connect",
                "(Ljava/net/ProtocolFamily;Ljava/io/FileDescriptor;Ljava/net/InetAddress;I)I",
                Deed::Connect,
                (1, Operand::Descriptor),
            ),
            3,
        ),
        (2, Operand::Address),
    ),
    row(DISPATCHER, "read", "(Ljava/io/FileDescriptor;JI)I", Deed::Receive, (1, Operand::Descriptor)),
    row(DISPATCHER, "readv", "(Ljava/io/FileDescriptor;JI)J", Deed::Receive, (1, Operand::Descriptor)),
    outlet(DISPATCHER, "write", "(Ljava/io/FileDescriptor;JI)I", 1),
    outlet(DISPATCHER, "writev", "(Ljava/io/FileDescriptor;JI)J", 1),
    outlet(
        CHANNEL,
        "transferToDirectlyInternal",
        "(JILjava/nio/channels/WritableByteChannel;Ljava/io/FileDescriptor;)J",
        5,
    ),
    outlet(CHANNEL, "transferToFileDescriptor", "(JILjava/io/FileDescriptor;)J", 4),
    by_number(row(PATHS, "open", "(Lsun/nio/fs/UnixPath;II)I", Deed::OpenFlags, PATH), 1),
    row(PATHS, "unlink", "(Lsun/nio/fs/UnixPath;)V", Deed::Plain(OperationKind::Delete), PATH),
    row(PATHS, "rmdir", "(Lsun/nio/fs/UnixPath;)V", Deed::Plain(OperationKind::Delete), PATH),
    row(PATHS, "mkdir", "(Lsun/nio/fs/UnixPath;I)V", Deed::Plain(OperationKind::MakeDirectory), PATH),
    onto(
        row(
            PATHS,
            "rename",
            "(Lsun/nio/fs/UnixPath;Lsun/nio/fs/UnixPath;)V",
            Deed::Plain(OperationKind::Rename),
            PATH,
        ),
        (1, Operand::NioPath),
    ),
    onto(
        row(
            PATHS,
            "link",
            "(Lsun/nio/fs/UnixPath;Lsun/nio/fs/UnixPath;)V",
            Deed::Plain(OperationKind::Link),
            PATH,
        ),
        (1, Operand::NioPath),
    ),
    row(
        PATHS,
        "symlink",
        "([BLsun/nio/fs/UnixPath;)V",
        Deed::Plain(OperationKind::Link),
        (1, Operand::NioPath),
    ),
    row(PATHS, "opendir", "(Lsun/nio/fs/UnixPath;)J", Deed::Plain(OperationKind::List), PATH),
    row(PATHS, "stat", "(Lsun/nio/fs/UnixPath;", TEST, PATH),
    row(PATHS, "stat2", "(Lsun/nio/fs/UnixPath;", TEST, PATH),
    row(PATHS, "lstat", "(Lsun/nio/fs/UnixPath;", TEST, PATH),
    row(PATHS, "exists", "(Lsun/nio/fs/UnixPath;", TEST, PATH),
    row(PATHS, "access", "(Lsun/nio/fs/UnixPath;I)", TEST, PATH),
];

/// The rows for threads.
static HANDOVER: LazyLock<Vec<Waist>> = LazyLock::new(handover::all);

/// The row of a method, if it belongs to the waist. The class is named with dots or slashes.
pub fn waist(class: &[u8], method: &[u8], descriptor: &[u8]) -> Option<&'static Waist> {
    if !class.starts_with(b"java") && !class.starts_with(b"sun") {
        return None;
    }
    let rows = WAIST.iter().chain(HANDOVER.iter().filter(|it| !matches!(it.at, Where::Call(_))));
    rows.filter(|it| it.is_named(method, descriptor)).find(|it| it.is_of(class))
}

/// The row of a call of a method, in a method of a class.
pub fn called(class: &[u8], within: &[u8], method: &[u8], descriptor: &[u8]) -> Option<&'static Waist> {
    HANDOVER.iter().find(|it| match it.at {
        Where::Call(None) => it.is_named(method, descriptor),
        Where::Call(Some(caller)) => {
            caller.as_bytes() == within && it.is_named(method, descriptor) && it.is_of(class)
        }
        Where::Method | Where::MethodIfAny => false,
    })
}

/// The methods in which a fault has its effect after its site.
pub fn waist_of(fault: &Fault) -> impl Iterator<Item = &'static Waist> {
    let is_silent = *fault == Fault::Drop;
    let is_full = matches!(fault, Fault::DiskFull { .. });
    let is_cut = matches!(fault, Fault::Partition { .. });
    WAIST.iter().filter(move |it| {
        is_silent && it.outlet.is_some() || is_full && it.needs_space() || is_cut && it.deed == Deed::Connect
    })
}

fn classes(rows: &[Waist]) -> Vec<String> {
    let mut all: Vec<String> =
        rows.iter().map(|it| it.class.to_owned()).filter(|it| !it.is_empty()).collect();
    all.sort();
    all.dedup();
    all
}

/// The classes of the waist for files and connections, with dots, sorted.
pub fn waist_classes() -> Vec<String> {
    classes(WAIST)
}

/// The classes of the waist for threads, with dots, sorted. Beside these, operations between threads are seen at calls in any class.
pub fn handover_classes() -> Vec<String> {
    classes(&HANDOVER)
}

/// The rows that a class of the JDK must have a method for: one without that has another shape, and its operations are not seen.
pub fn expected_of(class: &str) -> impl Iterator<Item = &'static Waist> {
    HANDOVER.iter().filter(move |it| it.at == Where::Method && it.class == class)
}

impl Waist {
    /// Tests whether it can fail because the disk is full.
    pub fn needs_space(&self) -> bool {
        match self.deed {
            Deed::Send => self.class != SOCKET && self.class != DISPATCHER,
            Deed::Plain(kind) => self.shortage(kind).is_some(),
            Deed::OpenStream | Deed::OpenRandom | Deed::OpenFlags => true,
            Deed::Receive | Deed::Connect => false,
        }
    }

    /// How it fails when the disk is full; none if that does not stop it.
    pub fn shortage(&self, kind: OperationKind) -> Option<Shortage> {
        match kind {
            OperationKind::Truncate if matches!(self.deed, Deed::Plain(_)) => None,
            OperationKind::OpenWrite
            | OperationKind::Truncate
            | OperationKind::Create
            | OperationKind::Write
            | OperationKind::MakeDirectory
            | OperationKind::Link
            | OperationKind::Sync => Some(match self.deed {
                Deed::OpenStream | Deed::OpenRandom => Shortage::NotFound,
                _ if self.class == PATHS => Shortage::FileSystem,
                _ if self.class == FILE && kind == OperationKind::MakeDirectory => Shortage::Answer,
                _ => Shortage::Exception,
            }),
            _ => None,
        }
    }

    /// Tests whether a method has this name and this start of its descriptor.
    pub fn is_named(&self, method: &[u8], descriptor: &[u8]) -> bool {
        self.method.as_bytes() == method && descriptor.starts_with(self.descriptor.as_bytes())
    }

    /// Tests whether a class, with dots or slashes, is its own.
    fn is_of(&self, class: &[u8]) -> bool {
        let same = |(a, &b): (u8, &u8)| a == b || (a, b) == (b'.', b'/');
        self.class.len() == class.len() && self.class.bytes().zip(class).all(same)
    }

    /// Tests whether it is about objects that threads share.
    pub fn is_between_threads(&self) -> bool {
        matches!(self.deed, Deed::Plain(kind) if kind.is_between_threads())
    }

    /// The kind of the operation, if it is one, by the number that it depends on and whether it is about a connection.
    pub fn kind(&self, number: i32, is_connection: bool) -> Option<OperationKind> {
        const WRITES: i32 = libc::O_WRONLY | libc::O_RDWR;
        const EXCLUSIVE: i32 = libc::O_CREAT | libc::O_EXCL;
        /// Of `RandomAccessFile`, as in the native code of the JDK.
        const RANDOM_READ_WRITE: i32 = 2;
        Some(match self.deed {
            Deed::Connect => return None,
            Deed::Plain(kind) => kind,
            Deed::Receive if is_connection => OperationKind::Receive,
            Deed::Receive => OperationKind::Read,
            Deed::Send if is_connection => OperationKind::Send,
            Deed::Send => OperationKind::Write,
            Deed::OpenStream if number != 0 => OperationKind::OpenWrite,
            Deed::OpenStream => OperationKind::Truncate,
            Deed::OpenRandom if number & RANDOM_READ_WRITE != 0 => OperationKind::OpenWrite,
            Deed::OpenRandom => OperationKind::OpenRead,
            Deed::OpenFlags if number & EXCLUSIVE == EXCLUSIVE => OperationKind::Create,
            Deed::OpenFlags if number & libc::O_TRUNC != 0 => OperationKind::Truncate,
            Deed::OpenFlags if number & WRITES != 0 => OperationKind::OpenWrite,
            Deed::OpenFlags => OperationKind::OpenRead,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_found_by_either_form_of_its_class() {
        let check = |class: &str, method: &str, descriptor: &str, expected: bool| {
            let found = waist(class.as_bytes(), method.as_bytes(), descriptor.as_bytes());
            assert_eq!(found.is_some(), expected, "{class}.{method}{descriptor}");
        };
        check("java.io.FileOutputStream", "write", "([BII)V", true);
        check("java/io/FileOutputStream", "write", "([BII)V", true);
        check("java/io/FileOutputStream", "writeBytes", "([BIIZ)V", false);
        check("java/io/FileOutputStreams", "write", "([BII)V", false);
        check("sun/nio/ch/SocketDispatcher", "write", "(Ljava/io/FileDescriptor;JI)I", true);
        check("sun/nio/ch/IOUtil", "read", "(Ljava/io/FileDescriptor;[Ljava/nio/ByteBuffer;II)J", true);
    }

    #[test]
    fn the_kind_follows_from_flags_and_descriptor() {
        let find = |class: &str, method: &str, descriptor: &str| {
            waist(class.as_bytes(), method.as_bytes(), descriptor.as_bytes()).unwrap()
        };
        let open = find("sun.nio.fs.UnixNativeDispatcher", "open", "(Lsun/nio/fs/UnixPath;II)I");
        let flags = |flags: i32| open.kind(flags, false).unwrap();
        assert_eq!(flags(libc::O_RDONLY), OperationKind::OpenRead);
        assert_eq!(flags(libc::O_WRONLY | libc::O_CREAT), OperationKind::OpenWrite);
        assert_eq!(flags(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC), OperationKind::Truncate);
        assert_eq!(flags(libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL), OperationKind::Create);
        let stream = find("java.io.FileOutputStream", "open", "(Ljava/lang/String;Z)V");
        assert_eq!(stream.kind(0, false), Some(OperationKind::Truncate));
        assert_eq!(stream.kind(1, false), Some(OperationKind::OpenWrite));
        let random = find("java.io.RandomAccessFile", "open", "(Ljava/lang/String;I)V");
        assert_eq!(random.kind(1, false), Some(OperationKind::OpenRead));
        assert_eq!(random.kind(6, false), Some(OperationKind::OpenWrite));
        let write =
            find("sun.nio.ch.IOUtil", "write", "(Ljava/io/FileDescriptor;Ljava/nio/ByteBuffer;JLx;)I");
        assert_eq!(write.kind(0, false), Some(OperationKind::Write));
        assert_eq!(write.kind(0, true), Some(OperationKind::Send));
    }
}
