//! Facts about the JDK and widely used libraries that are not in their class files. No system under test is named
//! here.

/// The most general exceptions: whatever is thrown may be one of these.
pub(crate) fn is_general(class: &[u8]) -> bool {
    matches!(class, b"java/lang/Throwable" | b"java/lang/Exception")
}

/// Unchecked exceptions that callers of a method are known to meet in practice, and that it does not declare.
pub(crate) fn throws(owner: &[u8], name: &[u8]) -> &'static [&'static [u8]] {
    const URI: &[&[u8]] = &[b"java/lang/IllegalArgumentException"];
    const UNDERFLOW: &[&[u8]] = &[b"java/nio/BufferUnderflowException"];
    const OVERFLOW: &[&[u8]] = &[b"java/nio/BufferOverflowException"];
    const FULL: &[&[u8]] = &[b"java/lang/IllegalStateException"];
    const COMPLETION: &[&[u8]] =
        &[b"java/util/concurrent/CompletionException", b"java/util/concurrent/CancellationException"];
    match (owner, name) {
        (b"java/net/URI", b"create") => URI,
        (
            b"java/nio/ByteBuffer",
            b"get" | b"getInt" | b"getLong" | b"getShort" | b"getChar" | b"getFloat" | b"getDouble",
        ) => UNDERFLOW,
        (
            b"java/nio/ByteBuffer",
            b"put" | b"putInt" | b"putLong" | b"putShort" | b"putChar" | b"putFloat" | b"putDouble",
        ) => OVERFLOW,
        (b"java/util/concurrent/BlockingQueue", b"add") => FULL,
        (b"java/util/concurrent/CompletableFuture", b"join" | b"getNow") => COMPLETION,
        _ => &[],
    }
}

/// Tests whether a call of the JDK can be what threw an exception: a disk that is full meets whoever writes, but a connection is refused
/// only to who connects. `says` is what the exception says. Of what is not known anything may come from anywhere.
pub fn may_come_from(exception: &str, says: &str, owner: &str, method: &str) -> bool {
    if !owner.starts_with("java.") {
        return true;
    }
    match exception {
        "java.io.FileNotFoundException" => matches!(method, "<init>" | "openStream" | "getInputStream"),
        "java.io.EOFException" => method == "<init>" || method.starts_with("read"),
        "java.net.BindException" => matches!(method, "bind" | "<init>"),
        "java.net.ConnectException" | "java.net.NoRouteToHostException" => matches!(
            method,
            "connect"
                | "finishConnect"
                | "<init>"
                | "send"
                | "openStream"
                | "getInputStream"
                | "getOutputStream"
        ),
        "java.net.SocketTimeoutException" => {
            method.starts_with("read")
                || matches!(method, "accept" | "connect" | "receive" | "openStream" | "getInputStream")
        }
        _ if exception.starts_with("java.nio.file.") => {
            // The two files of what has two stand with an arrow between them.
            let has_two = matches!(method, "move" | "copy" | "createLink" | "createSymbolicLink");
            let opens = owner.starts_with("java.nio.channels.") && method == "open";
            if says.contains(" -> ") { has_two } else { opens || owner.starts_with("java.nio.file.") }
        }
        _ => true,
    }
}

/// Tests whether a method of a library runs what it is handed before it returns, so that its exceptions come out there.
pub(crate) fn runs_at_once(owner: &[u8], name: &[u8]) -> bool {
    if name == b"<init>" || owner.starts_with(b"java/util/concurrent/") {
        // Maps are the only ones there that call back while they are called.
        return matches!(
            owner,
            b"java/util/concurrent/ConcurrentHashMap" | b"java/util/concurrent/ConcurrentMap"
        ) && name != b"<init>";
    }
    let in_util = owner.starts_with(b"java/util/")
        && !matches!(owner, b"java/util/Timer" | b"java/util/TimerTask")
        && !owner.starts_with(b"java/util/logging/");
    in_util
        || owner.starts_with(b"scala/collection/")
        || owner.starts_with(b"kotlin/collections/")
        || matches!(owner, b"scala/Option" | b"java/lang/Iterable" | b"scala/Function0" | b"scala/Function1")
        || (owner == b"java/security/AccessController" && name == b"doPrivileged")
        || (owner == b"javax/security/auth/Subject" && matches!(name, b"doAs" | b"callAs"))
        || (owner == b"java/lang/ThreadLocal" && name == b"get")
}

/// Tests whether a method only puts a value into an object or takes it out again: `Boolean.valueOf`, `intValue`.
pub(crate) fn is_box(owner: &[u8], name: &[u8]) -> bool {
    let is_boxed = matches!(
        owner,
        b"java/lang/Boolean"
            | b"java/lang/Integer"
            | b"java/lang/Long"
            | b"java/lang/Short"
            | b"java/lang/Byte"
            | b"java/lang/Character"
    );
    is_boxed && (name == b"valueOf" || name.ends_with(b"Value"))
}

/// Tests whether objects of a class hold one value that is set and asked for.
pub(crate) fn is_cell(owner: &[u8]) -> bool {
    matches!(
        owner,
        b"java/util/concurrent/atomic/AtomicBoolean"
            | b"java/util/concurrent/atomic/AtomicInteger"
            | b"java/util/concurrent/atomic/AtomicLong"
            | b"java/util/concurrent/atomic/AtomicReference"
    )
}

/// Tests whether a method of such an object sets its value to the last argument.
pub(crate) fn sets_cell(name: &[u8]) -> bool {
    matches!(name, b"set" | b"lazySet" | b"getAndSet" | b"compareAndSet" | b"weakCompareAndSet")
}

/// Tests whether a method of a library object by its name only asks and changes nothing.
pub(crate) fn only_asks(name: &[u8]) -> bool {
    const ASKING: [&[u8]; 13] = [
        b"contains",
        b"count",
        b"entry",
        b"equals",
        b"get",
        b"has",
        b"is",
        b"iterator",
        b"key",
        b"peek",
        b"size",
        b"to",
        b"value",
    ];
    // `getAndSet` and its kin change what they ask for.
    let changes = name.starts_with(b"getAnd") || name == b"toggle";
    !changes && ASKING.iter().any(|it| name.starts_with(it))
}

/// Tests whether a method of a library never runs the object that it is called on, although others of its class do.
pub(crate) fn runs_nothing(owner: &[u8], name: &[u8]) -> bool {
    owner == b"java/lang/Thread" && !matches!(name, b"start" | b"run" | b"<init>")
}

/// Tests whether a method of a library gives an object of the library's own, never one that it was given.
pub(crate) fn makes_own(owner: &[u8], name: &[u8]) -> bool {
    let is_collection = owner.starts_with(b"java/util/") || owner == b"java/lang/Iterable";
    is_collection
        && matches!(
            name,
            b"iterator"
                | b"listIterator"
                | b"descendingIterator"
                | b"spliterator"
                | b"elements"
                | b"keys"
                | b"keySet"
                | b"navigableKeySet"
                | b"entrySet"
                | b"values"
                | b"subList"
                | b"headMap"
                | b"tailMap"
                | b"subMap"
                | b"stream"
        )
}

/// Tests whether a method gives the exception of another thread to its caller.
pub(crate) fn carries(owner: &[u8], name: &[u8]) -> bool {
    let is_future =
        owner.ends_with(b"Future") || owner.ends_with(b"FutureTask") || owner.ends_with(b"CompletionStage");
    (name == b"invokeAny" && owner.ends_with(b"Service"))
        || is_future
            && matches!(
                name,
                b"get" | b"join" | b"getNow" | b"resultNow" | b"await" | b"sync" | b"syncUninterruptibly"
            )
}

/// Tests whether a method of this descriptor returns a future.
pub(crate) fn makes_future(descriptor: &[u8]) -> bool {
    descriptor.ends_with(b"Future;")
        || descriptor.ends_with(b"CompletionStage;")
        || descriptor.ends_with(b")Ljava/util/List;")
}

/// Tests whether a type is a future, by its name.
pub(crate) fn is_future(name: &[u8]) -> bool {
    name.ends_with(b"Future") || name.ends_with(b"FutureTask") || name.ends_with(b"CompletionStage")
}

/// Tests whether objects of a type hold others that can be asked for again, by its name.
pub(crate) fn is_holder(name: &[u8]) -> bool {
    matches!(
        name,
        b"java/util/Collection"
            | b"java/util/Iterator"
            | b"java/util/Map"
            | b"java/util/Map$Entry"
            | b"java/util/Optional"
            | b"java/util/concurrent/atomic/AtomicReference"
            | b"java/lang/Iterable"
            | b"java/lang/ThreadLocal"
            | b"java/util/concurrent/CompletionService"
    )
}

/// Tests whether a method of a library takes its tasks in a collection.
pub(crate) fn takes_tasks_in_lists(name: &[u8]) -> bool {
    matches!(name, b"invokeAll" | b"invokeAny")
}

/// Tests whether a method of an exception returns the exception itself.
pub(crate) fn returns_itself(name: &[u8]) -> bool {
    matches!(name, b"initCause" | b"fillInStackTrace")
}

/// Tests whether a method of a future ends it with an exception.
pub(crate) fn completes(name: &[u8]) -> bool {
    matches!(
        name,
        b"completeExceptionally" | b"setException" | b"setFailure" | b"tryFailure" | b"obtrudeException"
    )
}

/// Tests whether the future that a method returns does not fail for the reasons of the one that it is on.
pub(crate) fn recovers(name: &[u8]) -> bool {
    name.starts_with(b"exceptionally") || name.starts_with(b"handle")
}

/// The exception in which a future gives that of its task to whoever asks.
pub(crate) fn wrapper(name: &[u8]) -> &'static [u8] {
    match name {
        b"join" | b"getNow" => b"java/util/concurrent/CompletionException",
        _ => b"java/util/concurrent/ExecutionException",
    }
}

/// Tests whether a method of a library throws what the function returns that it is handed.
pub(crate) fn throws_supplied(name: &[u8], descriptor: &[u8]) -> bool {
    name == b"orElseThrow" && descriptor.starts_with(b"(Ljava/util/function/Supplier;)")
}

/// Tests whether a method of an exception returns the one that it carries.
pub(crate) fn asks_for_cause(name: &[u8]) -> bool {
    matches!(name, b"getCause" | b"getTargetException" | b"getUndeclaredThrowable")
}

/// Tests whether a method of a future runs what it is handed when the future failed, or with what it failed.
pub(crate) fn runs_after_failure(name: &[u8]) -> bool {
    let name = name.strip_suffix(b"Async").unwrap_or(name);
    matches!(name, b"exceptionally" | b"exceptionallyCompose" | b"handle" | b"whenComplete")
}

/// Input and output classes.
pub(crate) const STREAMS: &[&[u8]] = &[
    b"java/io/InputStream",
    b"java/io/OutputStream",
    b"java/io/Reader",
    b"java/io/Writer",
    b"java/io/DataInput",
    b"java/io/DataOutput",
    b"java/nio/channels/Channel",
];

/// Of these the ones that live in memory; what extends them does so too. Pipes are not among them: they break.
pub(crate) const MEMORY: &[&[u8]] = &[
    b"java/io/ByteArrayInputStream",
    b"java/io/ByteArrayOutputStream",
    b"java/io/CharArrayReader",
    b"java/io/CharArrayWriter",
    b"java/io/StringBufferInputStream",
    b"java/io/StringReader",
    b"java/io/StringWriter",
];

/// Static methods of the JDK that give a stream on nothing.
pub(crate) fn gives_null_stream(owner: &[u8], name: &[u8]) -> bool {
    matches!(
        (owner, name),
        (b"java/io/InputStream", b"nullInputStream")
            | (b"java/io/OutputStream", b"nullOutputStream")
            | (b"java/io/Reader", b"nullReader")
            | (b"java/io/Writer", b"nullWriter")
    )
}

/// Types that nearly every object can be known as: that one of them wraps a stream says nothing of the others.
pub(crate) fn is_for_all(class: &[u8]) -> bool {
    let is_lang = class.starts_with(b"java/lang/")
        && !matches!(class, b"java/lang/AutoCloseable" | b"java/lang/Appendable" | b"java/lang/Readable");
    is_lang || class.starts_with(b"java/util/") || class == b"java/io/Serializable"
}

/// Classes whose objects hold data and reach nothing outside: a stream that has one may still live in memory.
pub(crate) fn is_plain_data(class: &[u8]) -> bool {
    match class.strip_prefix(b"java/") {
        Some(rest) => {
            rest.starts_with(b"nio/charset/")
                || rest.starts_with(b"util/zip/")
                || rest.starts_with(b"util/concurrent/atomic/")
                || rest.starts_with(b"util/concurrent/locks/")
                || rest.starts_with(b"math/")
                || matches!(
                    rest,
                    b"lang/String"
                        | b"lang/StringBuilder"
                        | b"lang/StringBuffer"
                        | b"lang/CharSequence"
                        | b"lang/Object"
                        | b"lang/Boolean"
                        | b"lang/Byte"
                        | b"lang/Character"
                        | b"lang/Short"
                        | b"lang/Integer"
                        | b"lang/Long"
                        | b"lang/Float"
                        | b"lang/Double"
                        | b"lang/Class"
                        | b"lang/ClassLoader"
                        | b"security/MessageDigest"
                        | b"util/Locale"
                        | b"util/BitSet"
                        | b"util/Random"
                        | b"nio/ByteOrder"
                )
        }
        None => class.starts_with(b"javax/crypto/") || class == b"org/slf4j/Logger",
    }
}

/// Tests whether the methods of a class that declare an `IOException` only turn text into bytes and back.
pub(crate) fn is_text(class: &[u8]) -> bool {
    class == b"java/lang/String" || class.starts_with(b"java/nio/charset/")
}

/// Tests whether a method, by its name, reads from or writes to the stream that it is handed rather than by its own object:
/// `load(in)` and `serialize(archive)` do, `upload(in)` and `execute(body)` do not.
pub(crate) fn works_on_argument(name: &[u8]) -> bool {
    const BEGINNINGS: &[&[u8]] = &[
        b"read",
        b"write",
        b"serialize",
        b"deserialize",
        b"load",
        b"store",
        b"save",
        b"parse",
        b"merge",
        b"encode",
        b"decode",
        b"print",
        b"dump",
        b"list",
        b"marshal",
        b"unmarshal",
        b"format",
        b"transform",
        b"copy",
        b"skip",
        b"fill",
        b"flush",
        b"close",
    ];
    BEGINNINGS.iter().any(|it| name.starts_with(it))
}

/// Tests whether a method of a library waits for a disk or a network, if `declares` says whether it throws an `IOException`.
///
/// In the JDK those are the packages of files, sockets and channels. Any other library that declares an `IOException`
/// has no other way to say that it does input or output.
pub(crate) fn does_io(owner: &[u8], name: &[u8], is_jdk: bool, declares: bool) -> bool {
    if declares {
        const PACKAGES: &[&[u8]] = &[
            b"java/io/",
            b"java/nio/channels/",
            b"java/nio/file/",
            b"java/net/",
            b"javax/net/",
            b"java/util/zip/",
            b"java/util/jar/",
            b"sun/nio/",
            b"sun/net/",
            b"java/util/Properties",
            b"java/rmi/",
            b"javax/imageio/",
            b"java/security/KeyStore",
        ];
        return !is_jdk || PACKAGES.iter().any(|it| owner.starts_with(it));
    }
    match owner {
        b"java/io/File" => matches!(
            name,
            b"delete"
                | b"exists"
                | b"mkdir"
                | b"mkdirs"
                | b"renameTo"
                | b"list"
                | b"listFiles"
                | b"length"
                | b"isDirectory"
                | b"isFile"
                | b"lastModified"
                | b"setLastModified"
                | b"canRead"
                | b"canWrite"
                | b"getFreeSpace"
                | b"getTotalSpace"
                | b"getUsableSpace"
        ),
        b"java/io/PrintStream" | b"java/io/PrintWriter" => prints(owner, name),
        b"java/nio/MappedByteBuffer" => matches!(name, b"force" | b"load"),
        b"java/nio/file/Files" => {
            matches!(name, b"exists" | b"notExists" | b"isDirectory" | b"isRegularFile")
        }
        b"java/net/InetAddress" | b"java/net/InetSocketAddress" => {
            matches!(
                name,
                b"getByName" | b"getAllByName" | b"getHostName" | b"getCanonicalHostName" | b"isReachable"
            )
        }
        _ => {
            owner.starts_with(b"io/netty/channel/")
                && matches!(
                    name,
                    b"write" | b"writeAndFlush" | b"flush" | b"connect" | b"bind" | b"close" | b"read"
                )
        }
    }
}

/// Tests whether a method writes to a stream and keeps its errors to itself.
pub(crate) fn prints(owner: &[u8], name: &[u8]) -> bool {
    matches!(owner, b"java/io/PrintStream" | b"java/io/PrintWriter")
        && (name.starts_with(b"print")
            || matches!(name, b"write" | b"append" | b"format" | b"flush" | b"close"))
}

/// Tests whether a call that does input or output changes what others can see: other processes, or this one after a
/// restart. Before such a call is the last moment at which a crash leaves the change undone. It is told by the name;
/// opening a `RandomAccessFile` or a `FileChannel` is left out, which may be for reading.
pub(crate) fn changes_outside(owner: &[u8], name: &[u8]) -> bool {
    const BEGINNINGS: &[&[u8]] = &[
        b"write",
        b"append",
        b"print",
        b"flush",
        b"force",
        b"sync",
        b"hsync",
        b"hflush",
        b"rename",
        b"move",
        b"delete",
        b"create",
        b"mkdir",
        b"truncate",
        b"setLength",
        b"setLastModified",
        b"transferTo",
        b"transferFrom",
        b"send",
        b"copy",
        b"connect",
        b"finishConnect",
        b"bind",
        b"accept",
        b"shutdownOutput",
        b"store",
        b"save",
        b"serialize",
        b"format",
    ];
    let is_read = owner.ends_with(b"InputStream") || owner.ends_with(b"Reader");
    // What was buffered is written when the stream is closed, and the peer sees the end of a connection.
    let ends = |it: &[&[u8]]| it.iter().any(|end| owner.ends_with(end));
    let closes =
        name == b"close" && ends(&[b"OutputStream", b"Writer", b"Channel", b"Socket", b"RandomAccessFile"]);
    let empties = name == b"<init>" && matches!(owner, b"java/io/FileOutputStream" | b"java/io/FileWriter");
    closes || empties || (!is_read && BEGINNINGS.iter().any(|it| name.starts_with(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_come_from_calls_that_can_throw_them() {
        let file = "java.nio.file.FileSystemException";
        for (exception, says, owner, method, expected) in [
            (file, "a.tmp -> a: busy", "java.nio.file.Files", "move", true),
            (file, "a.tmp -> a: busy", "java.nio.channels.FileChannel", "open", false),
            (file, "a.tmp: busy", "java.nio.channels.FileChannel", "open", true),
            (file, "a.tmp: busy", "java.nio.channels.FileChannel", "write", false),
            ("java.nio.file.NoSuchFileException", "a", "java.io.OutputStream", "close", false),
            ("java.net.ConnectException", "refused", "java.net.Socket", "connect", true),
            ("java.net.ConnectException", "refused", "java.io.InputStream", "read", false),
            ("java.io.EOFException", "", "java.io.DataInputStream", "readInt", true),
            ("java.io.EOFException", "", "java.io.DataOutputStream", "writeInt", false),
            // Anybody's own calls may connect, and any call may find that a disk is full.
            ("java.net.ConnectException", "refused", "org.acme.Client", "fetch", true),
            ("java.io.IOException", "No space left on device", "java.io.OutputStream", "write", true),
        ] {
            assert_eq!(
                may_come_from(exception, says, owner, method),
                expected,
                "{exception} {owner}.{method}"
            );
        }
    }
}
