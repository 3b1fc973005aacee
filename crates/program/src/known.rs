//! What is known of the JDK and is not in its class files.

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

/// Whether a method of a library runs what it is handed before it returns, so that its exceptions come out there.
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

/// Whether a method only puts a value into an object or takes it out again: `Boolean.valueOf`, `intValue`.
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

/// Whether objects of a class hold one value that is set and asked for.
pub(crate) fn is_cell(owner: &[u8]) -> bool {
    matches!(
        owner,
        b"java/util/concurrent/atomic/AtomicBoolean"
            | b"java/util/concurrent/atomic/AtomicInteger"
            | b"java/util/concurrent/atomic/AtomicLong"
            | b"java/util/concurrent/atomic/AtomicReference"
    )
}

/// Whether a method of a library object by its name only asks and changes nothing.
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

/// Whether a method gives the exception of another thread to its caller.
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

/// Whether a method of this descriptor returns a future.
pub(crate) fn makes_future(descriptor: &[u8]) -> bool {
    descriptor.ends_with(b"Future;")
        || descriptor.ends_with(b"CompletionStage;")
        || descriptor.ends_with(b")Ljava/util/List;")
}

/// Whether a type is a future, by its name.
pub(crate) fn is_future(name: &[u8]) -> bool {
    name.ends_with(b"Future") || name.ends_with(b"FutureTask") || name.ends_with(b"CompletionStage")
}

/// Whether objects of a type hold others that can be asked for again, by its name.
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

/// Whether a method of a library takes its tasks in a collection.
pub(crate) fn takes_tasks_in_lists(name: &[u8]) -> bool {
    matches!(name, b"invokeAll" | b"invokeAny")
}

/// Whether a method of an exception returns the exception itself.
pub(crate) fn returns_itself(name: &[u8]) -> bool {
    matches!(name, b"initCause" | b"fillInStackTrace")
}

/// Whether a method of a future ends it with an exception.
pub(crate) fn completes(name: &[u8]) -> bool {
    matches!(
        name,
        b"completeExceptionally" | b"setException" | b"setFailure" | b"tryFailure" | b"obtrudeException"
    )
}

/// Whether the future that a method returns does not fail for the reasons of the one that it is on.
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

/// Whether a method of a library throws what the function returns that it is handed.
pub(crate) fn throws_supplied(name: &[u8], descriptor: &[u8]) -> bool {
    name == b"orElseThrow" && descriptor.starts_with(b"(Ljava/util/function/Supplier;)")
}

/// Whether a method of an exception returns the one that it carries.
pub(crate) fn asks_for_cause(name: &[u8]) -> bool {
    matches!(name, b"getCause" | b"getTargetException" | b"getRootCause" | b"unwrapRemoteException")
}
