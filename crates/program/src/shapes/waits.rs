//! Calls that wait, and how long at most.

use hypocenter_classfile::{descriptor, op};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::facts::{CallId, Facts};
use crate::loading::world::{MethodId, RefId, TypeId, World};
use crate::methods::bodies::each_body;
use crate::methods::values::{Const, Value, ValueId};
use crate::methods::view::MethodView;

/// Object or condition that a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitKind {
    /// Time to pass.
    Sleep,
    /// A notification: `Object.wait`, `Condition.await`, `LockSupport.park`.
    Notify,
    /// An element, or room for one, in a queue.
    Queue,
    /// The end of a thread, a process or an executor.
    End,
    /// A result: `Future.get` and its kin.
    Result,
    /// Other threads to arrive: latches, barriers, phasers, exchangers.
    Arrival,
    /// A lock or a permit.
    Lock,
    /// Something to do on a connection: `Selector.select`, `ServerSocket.accept`.
    Ready,
    /// A connection to be made.
    Connect,
}

/// Timeout of a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// For ever, as far as the call says; a limit may be set elsewhere (`Socket.setSoTimeout`).
    None,
    /// So many milliseconds; less than one counts as 0.
    Millis(i64),
    /// There is a limit, and it is computed.
    Computed,
}

/// A call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The call.
    pub call: CallId,
    /// For what.
    pub kind: WaitKind,
    /// Duration.
    pub limit: Limit,
}

/// All calls that wait.
#[derive(Debug, Default)]
pub struct Waits {
    waits: Vec<Wait>,
}

impl Waits {
    /// Finds them.
    pub fn of(world: &World, facts: &Facts) -> Waits {
        let shapes = Shapes::of(world);
        let mut waits: Vec<Wait> = Vec::new();
        let mut timed: FxHashMap<MethodId, Vec<u32>> = FxHashMap::default();
        for (at, call) in facts.calls().iter().enumerate() {
            let Some(shape) = call.callee.and_then(|it| shapes.get(it)) else { continue };
            let limit = if shape.limit == LimitAt::None { Limit::None } else { Limit::Computed };
            if limit == Limit::Computed {
                timed.entry(call.method).or_default().push(waits.len() as u32);
            }
            waits.push(Wait { call: CallId(at as u32), kind: shape.kind, limit });
        }
        let constants: Vec<Vec<(u32, Limit)>> = world
            .system_classes()
            .par_iter()
            .map(|system| {
                let mut found = Vec::new();
                each_body(
                    world,
                    system,
                    |it| timed.contains_key(&it),
                    |view| {
                        for &wait in &timed[&view.id] {
                            let call = facts.call(waits[wait as usize].call);
                            let shape = call.callee.and_then(|it| shapes.get(it)).expect("was one before");
                            found.extend(
                                limit(&view, call.instruction.into(), shape.limit).map(|it| (wait, it)),
                            );
                        }
                    },
                );
                found
            })
            .collect();
        for (wait, limit) in constants.into_iter().flatten() {
            waits[wait as usize].limit = limit;
        }
        Waits { waits }
    }

    /// All, in the order of the calls.
    pub fn all(&self) -> &[Wait] {
        &self.waits
    }

    /// The wait that a call is.
    pub fn get(&self, call: CallId) -> Option<&Wait> {
        self.waits.binary_search_by_key(&call, |it| it.call).ok().map(|at| &self.waits[at])
    }
}

/// Position of the timeout in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitAt {
    None,
    /// The argument of this number, in units of so many nanoseconds. 0 means for ever.
    OrForever(u8, i64),
    /// The same, and 0 means not at all.
    Argument(u8, i64),
    /// The argument of this number, in the unit that the next one gives.
    WithUnit(u8),
    /// The argument, in the unit that the receiver is.
    OfReceiver(u8),
    /// A point in time.
    Until,
}

/// Kind of waiting of a method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitShape {
    pub kind: WaitKind,
    limit: LimitAt,
}

/// The methods that wait, by the references to them.
pub(crate) struct Shapes {
    shapes: FxHashMap<RefId, WaitShape>,
}

impl Shapes {
    pub fn of(world: &World) -> Shapes {
        let types: Vec<(TypeId, &[u8])> =
            TYPES.iter().filter_map(|&name| Some((world.find_type(name)?, name))).collect();
        let shape = |id: RefId| {
            let it = world.method_ref(id);
            let (name, descriptor) = world.signature(it.signature);
            if !NAMES.contains(&name) {
                return None;
            }
            let owner = it.method.map_or(it.owner, |it| world.method(it).owner);
            // What the system itself does under such a name is seen in its own code.
            if world.is_system(owner) {
                return None;
            }
            // A class may be several of these: the first that knows the method says how it waits.
            let above = types.iter().filter(|(class, _)| world.is_subtype(it.owner, *class));
            above.filter_map(|(_, class)| shape_of(class, name, descriptor)).next()
        };
        let refs = (0..world.ref_count() as u32).map(RefId);
        Shapes { shapes: refs.filter_map(|it| Some((it, shape(it)?))).collect() }
    }

    pub fn get(&self, id: RefId) -> Option<WaitShape> {
        self.shapes.get(&id).copied()
    }
}

/// The types whose methods wait, the special before the general.
const TYPES: [&[u8]; 30] = [
    b"java/lang/Thread",
    b"java/lang/Process",
    b"java/util/concurrent/TimeUnit",
    b"java/util/concurrent/BlockingDeque",
    b"java/util/concurrent/BlockingQueue",
    b"java/util/concurrent/TransferQueue",
    b"java/util/concurrent/CompletableFuture",
    b"java/util/concurrent/ForkJoinTask",
    b"java/util/concurrent/Future",
    b"java/util/concurrent/CompletionService",
    b"java/util/concurrent/ExecutorService",
    b"java/util/concurrent/CountDownLatch",
    b"java/util/concurrent/CyclicBarrier",
    b"java/util/concurrent/Phaser",
    b"java/util/concurrent/Exchanger",
    b"java/util/concurrent/Semaphore",
    b"java/util/concurrent/locks/Condition",
    b"java/util/concurrent/locks/Lock",
    b"java/util/concurrent/locks/LockSupport",
    b"java/nio/channels/Selector",
    b"java/nio/channels/SocketChannel",
    b"java/nio/channels/ServerSocketChannel",
    b"java/nio/channels/FileChannel",
    b"java/net/Socket",
    b"java/net/ServerSocket",
    b"java/net/DatagramSocket",
    b"io/netty/util/concurrent/Future",
    b"io/netty/util/concurrent/Promise",
    b"io/netty/channel/ChannelFuture",
    b"java/lang/Object",
];

/// The names of the methods that wait.
const NAMES: [&[u8]; 46] = [
    b"accept",
    b"acquire",
    b"acquireUninterruptibly",
    b"arriveAndAwaitAdvance",
    b"await",
    b"awaitAdvance",
    b"awaitNanos",
    b"awaitTermination",
    b"awaitUninterruptibly",
    b"awaitUntil",
    b"connect",
    b"exchange",
    b"get",
    b"invokeAll",
    b"invokeAny",
    b"join",
    b"lock",
    b"lockInterruptibly",
    b"offer",
    b"offerFirst",
    b"offerLast",
    b"park",
    b"parkNanos",
    b"parkUntil",
    b"poll",
    b"pollFirst",
    b"pollLast",
    b"put",
    b"putFirst",
    b"putLast",
    b"receive",
    b"select",
    b"sleep",
    b"sync",
    b"syncUninterruptibly",
    b"take",
    b"takeFirst",
    b"takeLast",
    b"timedJoin",
    b"transfer",
    b"tryAcquire",
    b"tryLock",
    b"tryTransfer",
    b"wait",
    b"waitFor",
    b"awaitAdvanceInterruptibly",
];

const NANO: i64 = 1;
const MILLI: i64 = 1_000_000;

/// Kind of waiting of a method of the type, if it waits.
fn shape_of(class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<WaitShape> {
    use LimitAt::*;
    let parameters: Vec<&[u8]> = descriptor::parameters(descriptor).collect();
    let count = parameters.len() as u8;
    // Most are `f(.., long, TimeUnit)`.
    let has_unit = parameters.last().is_some_and(|it| *it == b"Ljava/util/concurrent/TimeUnit;");
    let unit = if has_unit && count >= 2 { WithUnit(count - 2) } else { None };
    let timed = |kind: WaitKind| Some(WaitShape { kind, limit: unit });
    let only_timed = |kind: WaitKind| timed(kind).filter(|_| has_unit);
    let by = |kind: WaitKind, limit: LimitAt| Some(WaitShape { kind, limit });
    let short = class.rsplit(|&b| b == b'/').next().unwrap_or(class);
    match (short, name) {
        (b"Object", b"wait") => by(WaitKind::Notify, if count > 0 { OrForever(0, MILLI) } else { None }),
        (b"Thread", b"sleep") => {
            let is_number = parameters.first().is_some_and(|it| *it == b"J");
            by(WaitKind::Sleep, if is_number { Argument(0, MILLI) } else { Until })
        }
        (b"Thread", b"join") => by(WaitKind::End, if count > 0 { OrForever(0, MILLI) } else { None }),
        (b"Process", b"waitFor") => timed(WaitKind::End),
        (b"TimeUnit", b"sleep") => by(WaitKind::Sleep, OfReceiver(0)),
        (b"TimeUnit", b"timedJoin") => by(WaitKind::End, OfReceiver(1)),
        (b"TransferQueue", b"transfer") => by(WaitKind::Queue, None),
        (b"TransferQueue", b"tryTransfer") => only_timed(WaitKind::Queue),
        (b"BlockingQueue" | b"BlockingDeque", b"take" | b"takeFirst" | b"takeLast") => {
            by(WaitKind::Queue, None)
        }
        (b"BlockingQueue" | b"BlockingDeque", b"put" | b"putFirst" | b"putLast") => by(WaitKind::Queue, None),
        (
            b"BlockingQueue" | b"BlockingDeque",
            b"poll" | b"pollFirst" | b"pollLast" | b"offer" | b"offerFirst" | b"offerLast",
        ) => only_timed(WaitKind::Queue),
        (b"CompletableFuture" | b"ForkJoinTask", b"join") => by(WaitKind::Result, None),
        (b"CompletableFuture" | b"ForkJoinTask" | b"Future", b"get") => timed(WaitKind::Result),
        (b"Future" | b"Promise" | b"ChannelFuture", b"sync" | b"syncUninterruptibly") => {
            by(WaitKind::Result, None)
        }
        (b"Future" | b"Promise" | b"ChannelFuture", b"await" | b"awaitUninterruptibly") => match count {
            1 => by(WaitKind::Result, Argument(0, MILLI)),
            _ => timed(WaitKind::Result),
        },
        (b"CompletionService", b"take") => by(WaitKind::Result, None),
        (b"CompletionService", b"poll") => only_timed(WaitKind::Result),
        (b"ExecutorService", b"awaitTermination") => timed(WaitKind::End),
        (b"ExecutorService", b"invokeAll" | b"invokeAny") => timed(WaitKind::Result),
        (b"CountDownLatch" | b"CyclicBarrier", b"await") => timed(WaitKind::Arrival),
        (b"Phaser", b"arriveAndAwaitAdvance" | b"awaitAdvance" | b"awaitAdvanceInterruptibly") => {
            timed(WaitKind::Arrival)
        }
        (b"Exchanger", b"exchange") => timed(WaitKind::Arrival),
        (b"Semaphore", b"acquire" | b"acquireUninterruptibly") => by(WaitKind::Lock, None),
        (b"Semaphore" | b"Lock", b"tryAcquire" | b"tryLock") => only_timed(WaitKind::Lock),
        (b"Condition", b"awaitNanos") => by(WaitKind::Notify, Argument(0, NANO)),
        (b"Condition", b"awaitUntil") => by(WaitKind::Notify, Until),
        (b"Condition", b"await" | b"awaitUninterruptibly") => timed(WaitKind::Notify),
        (b"Lock", b"lock" | b"lockInterruptibly") => by(WaitKind::Lock, None),
        (b"FileChannel", b"lock") => by(WaitKind::Lock, None),
        (b"LockSupport", b"park") => by(WaitKind::Notify, None),
        (b"LockSupport", b"parkNanos") => by(WaitKind::Notify, Argument(count.saturating_sub(1), NANO)),
        (b"LockSupport", b"parkUntil") => by(WaitKind::Notify, Until),
        (b"Selector", b"select") => {
            let at = parameters.iter().position(|it| *it == b"J");
            by(WaitKind::Ready, at.map_or(None, |at| OrForever(at as u8, MILLI)))
        }
        (b"ServerSocket" | b"ServerSocketChannel", b"accept") => by(WaitKind::Ready, None),
        (b"DatagramSocket", b"receive") => by(WaitKind::Ready, None),
        (b"Socket", b"connect") => by(WaitKind::Connect, if count == 2 { OrForever(1, MILLI) } else { None }),
        (b"SocketChannel", b"connect") => by(WaitKind::Connect, None),
        _ => Option::None,
    }
}

/// The limit of a call, if it is a constant.
fn limit(view: &MethodView<'_>, number: u32, at: LimitAt) -> Option<Limit> {
    let operands = view.body.operands(number);
    let receiver = usize::from(view.instruction(number).opcode != op::INVOKESTATIC);
    let argument = |at: u8| operands.get(receiver + usize::from(at)).and_then(|&it| number_of(view, it));
    let unit = |value: Option<&ValueId>| value.and_then(|&it| nanos_of(view, it));
    let (value, unit) = match at {
        LimitAt::None | LimitAt::Until => return None,
        LimitAt::OrForever(at, unit) => {
            let value = argument(at)?;
            if value == 0 {
                return Some(Limit::None);
            }
            (value, unit)
        }
        LimitAt::Argument(at, unit) => (argument(at)?, unit),
        LimitAt::WithUnit(at) => (argument(at)?, unit(operands.get(receiver + usize::from(at) + 1))?),
        LimitAt::OfReceiver(at) => (argument(at)?, unit(operands.first())?),
    };
    let nanos = i128::from(value) * i128::from(unit);
    Some(Limit::Millis(i64::try_from(nanos / i128::from(MILLI)).unwrap_or(i64::MAX)))
}

/// The number that a value is, if it is a constant, also as the `long` of an `int`.
pub(crate) fn number_of(view: &MethodView<'_>, value: ValueId) -> Option<i64> {
    match view.body.constant(value) {
        Some(Const::Int(it) | Const::Long(it)) => return Some(it),
        Some(_) => return None,
        None => {}
    }
    match view.body.value(value) {
        Value::Result(number) if view.instruction(number).opcode == op::I2L => {
            match view.body.constant(*view.body.operands(number).first()?)? {
                Const::Int(it) => Some(it),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The nanoseconds of a constant of `TimeUnit`.
fn nanos_of(view: &MethodView<'_>, value: ValueId) -> Option<i64> {
    let field = view.field_of(value)?;
    Some(match view.world.field_name(field) {
        b"NANOSECONDS" => 1,
        b"MICROSECONDS" => 1_000,
        b"MILLISECONDS" => MILLI,
        b"SECONDS" => 1_000 * MILLI,
        b"MINUTES" => 60_000 * MILLI,
        b"HOURS" => 3_600_000 * MILLI,
        b"DAYS" => 86_400_000 * MILLI,
        _ => return None,
    })
}
