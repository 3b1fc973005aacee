//! The methods by which threads wait for each other and hand work over: rows of the [waist](crate::waist), each for an object.

use hypocenter_plan::OperationKind;

use crate::waist::{Deed, Operand, Waist, Where};

/// What a method works on, and in which local variable.
#[derive(Clone, Copy)]
enum On {
    /// The object of the method.
    This,
    /// That, and the first argument.
    Given,
    /// That, and what it returns.
    Returned,
    /// The first argument of a static method.
    Argument,
    /// The thread that calls it.
    Caller,
}

/// Methods of some classes, each by its name and the start of its descriptor.
struct Rows {
    classes: &'static [&'static str],
    kind: OperationKind,
    on: On,
    methods: &'static [(&'static str, &'static str)],
    /// True if a JDK may lack them.
    optional: bool,
}

const fn rows(
    classes: &'static [&'static str],
    kind: OperationKind,
    on: On,
    methods: &'static [(&'static str, &'static str)],
) -> Rows {
    Rows { classes, kind, on, methods, optional: false }
}

const fn optional(it: Rows) -> Rows {
    Rows { optional: true, ..it }
}

const THREAD: &[&str] = &["java.lang.Thread"];
const PARKING: &[&str] = &["java.util.concurrent.locks.LockSupport"];
const CONDITIONS: &[&str] = &["java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"];
const LOCKS: &[&str] = &[
    "java.util.concurrent.locks.ReentrantLock",
    "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock",
    "java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock",
];
const SEMAPHORE: &[&str] = &["java.util.concurrent.Semaphore"];
const LATCH: &[&str] = &["java.util.concurrent.CountDownLatch"];
const BARRIER: &[&str] = &["java.util.concurrent.CyclicBarrier"];
const POOL: &[&str] = &["java.util.concurrent.ThreadPoolExecutor"];
const FORK_JOIN: &[&str] = &["java.util.concurrent.ForkJoinPool"];
const SCHEDULED: &[&str] = &["java.util.concurrent.ScheduledThreadPoolExecutor"];
const TIMER: &[&str] = &["java.util.Timer"];
const TASK: &[&str] = &["java.util.concurrent.FutureTask"];
const FUTURE: &[&str] = &["java.util.concurrent.CompletableFuture"];
const QUEUES: &[&str] = &[
    "java.util.concurrent.LinkedBlockingQueue",
    "java.util.concurrent.ArrayBlockingQueue",
    "java.util.concurrent.PriorityBlockingQueue",
    "java.util.concurrent.SynchronousQueue",
    "java.util.concurrent.DelayQueue",
    "java.util.concurrent.LinkedTransferQueue",
];
const DELAYED: &[&str] = &["java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue"];
const BLOCKING_DEQUE: &[&str] = &["java.util.concurrent.LinkedBlockingDeque"];
const DEQUE: &[&str] = &["java.util.concurrent.ConcurrentLinkedDeque"];
const QUEUE: &[&str] = &["java.util.concurrent.ConcurrentLinkedQueue"];
const TRANSFER: &[&str] = &["java.util.concurrent.LinkedTransferQueue"];

const LOCKING: &[(&str, &str)] =
    &[("lock", "()V"), ("lockInterruptibly", "()V"), ("tryLock", "()Z"), ("tryLock", "(J")];

use OperationKind::*;

const METHODS: &[Rows] = &[
    rows(THREAD, ThreadStart, On::This, &[("start", "()V")]),
    optional(rows(THREAD, ThreadStart, On::This, &[("start", "(Ljdk/internal/vm/ThreadContainer;)V")])),
    optional(rows(
        &["java.lang.VirtualThread"],
        ThreadStart,
        On::This,
        &[("start", "(Ljdk/internal/vm/ThreadContainer;)V")],
    )),
    rows(THREAD, ThreadJoin, On::This, &[("join", "(J)V")]),
    rows(PARKING, Park, On::Caller, &[("park", "("), ("parkNanos", "("), ("parkUntil", "(")]),
    rows(PARKING, Unpark, On::Argument, &[("unpark", "(Ljava/lang/Thread;)V")]),
    rows(
        CONDITIONS,
        Wait,
        On::This,
        &[("await", "("), ("awaitNanos", "("), ("awaitUntil", "("), ("awaitUninterruptibly", "(")],
    ),
    rows(CONDITIONS, Notify, On::This, &[("signal", "()V"), ("signalAll", "()V")]),
    rows(LOCKS, Acquire, On::This, LOCKING),
    rows(LOCKS, Release, On::This, &[("unlock", "()V")]),
    rows(
        SEMAPHORE,
        Acquire,
        On::This,
        &[("acquire", "("), ("acquireUninterruptibly", "("), ("tryAcquire", "(")],
    ),
    rows(SEMAPHORE, Release, On::This, &[("release", "(")]),
    rows(LATCH, Wait, On::This, &[("await", "(")]),
    rows(LATCH, Notify, On::This, &[("countDown", "()V")]),
    rows(BARRIER, Wait, On::This, &[("dowait", "(ZJ)I")]),
    rows(POOL, Enqueue, On::Given, &[("execute", "(Ljava/lang/Runnable;)V")]),
    rows(FORK_JOIN, Enqueue, On::Given, &[("execute", "(L")]),
    rows(SCHEDULED, Enqueue, On::Given, &[("delayedExecute", "(L")]),
    rows(TIMER, Enqueue, On::Given, &[("sched", "(Ljava/util/TimerTask;JJ)V")]),
    rows(TASK, Handle, On::This, &[("run", "()V"), ("runAndReset", "()Z")]),
    rows(TASK, Wait, On::This, &[("get", "(")]),
    rows(TASK, Notify, On::This, &[("finishCompletion", "()V")]),
    rows(FUTURE, Wait, On::This, &[("get", "("), ("join", "(")]),
    rows(FUTURE, Notify, On::This, &[("postComplete", "()V")]),
    rows(QUEUES, Enqueue, On::Given, &[("put", "(L"), ("offer", "(L")]),
    rows(QUEUES, Dequeue, On::Returned, &[("take", "()L"), ("poll", "()L"), ("poll", "(J")]),
    rows(DELAYED, Dequeue, On::Returned, &[("take", "()L"), ("poll", "()L"), ("poll", "(J")]),
    rows(TRANSFER, Enqueue, On::Given, &[("transfer", "(L"), ("tryTransfer", "(L")]),
    rows(
        BLOCKING_DEQUE,
        Enqueue,
        On::Given,
        &[("putFirst", "(L"), ("putLast", "(L"), ("offerFirst", "(L"), ("offerLast", "(L")],
    ),
    rows(
        BLOCKING_DEQUE,
        Dequeue,
        On::Returned,
        &[("takeFirst", "()L"), ("takeLast", "()L"), ("pollFirst", "("), ("pollLast", "(")],
    ),
    rows(DEQUE, Enqueue, On::Given, &[("offerFirst", "(L"), ("offerLast", "(L")]),
    rows(DEQUE, Dequeue, On::Returned, &[("pollFirst", "()L"), ("pollLast", "()L")]),
    rows(QUEUE, Enqueue, On::Given, &[("offer", "(L")]),
    rows(QUEUE, Dequeue, On::Returned, &[("poll", "()L")]),
];

/// A call in any class, or in one method of the JDK: its class and name; then the kind, and what is called.
type CallRow = (Option<(&'static str, &'static str)>, OperationKind, &'static str, &'static str);

/// Calls of methods that have no code, or whose code is the program's.
const CALLS: &[CallRow] = &[
    (None, Wait, "wait", "()V"),
    (None, Wait, "wait", "(J)V"),
    (None, Wait, "wait", "(JI)V"),
    (None, Notify, "notify", "()V"),
    (None, Notify, "notifyAll", "()V"),
    (Some(("java.util.concurrent.ThreadPoolExecutor", "runWorker")), Handle, "run", "()V"),
    (Some(("java.util.TimerThread", "mainLoop")), Handle, "run", "()V"),
];

/// The rows.
pub(crate) fn all() -> Vec<Waist> {
    let mut all = Vec::new();
    for it in METHODS {
        let second = match it.on {
            On::Given => Some((1, Operand::Object)),
            On::Returned => Some((0, Operand::Result)),
            On::This | On::Argument | On::Caller => None,
        };
        let first = if matches!(it.on, On::Caller) { Operand::Caller } else { Operand::Object };
        for class in it.classes {
            all.extend(it.methods.iter().map(|&(method, descriptor)| Waist {
                class,
                method,
                descriptor,
                deed: Deed::Plain(it.kind),
                first: (0, first),
                second,
                number: None,
                outlet: None,
                at: if it.optional { Where::MethodIfAny } else { Where::Method },
            }));
        }
    }
    all.extend(CALLS.iter().map(|&(within, kind, method, descriptor)| Waist {
        class: within.map_or("", |it| it.0),
        method,
        descriptor,
        deed: Deed::Plain(kind),
        first: (0, Operand::Object),
        second: None,
        number: None,
        outlet: None,
        at: Where::Call(within.map(|it| it.1)),
    }));
    all
}
