//! The class that counts and writes events in Java: what is done most at a hook, without a call into the agent.
//!
//! As Java it would read
//!
//! ```java
//! final class $Hypocenter$Fast {
//!     static final Unsafe U = Unsafe.getUnsafe();
//!     static final long COUNTERS = $Hypocenter.base(0), TRUES = base(1), DUE = base(2), LANES = base(3), CLOCK = base(4);
//!     static final long TID = U.objectFieldOffset(Thread.class, "tid");     // before JDK 19
//!     static final String[] NAMES = new String[LANE_COUNT];                 // the name that each lane's events are of
//!
//!     static void hit(int site) {
//!         int level = $Hypocenter.LEVEL[site];
//!         if (level < 0) { $Hypocenter.slow(site, -1); return; }
//!         long before = U.getAndAddLong(null, COUNTERS + ((long) site << 3), 1);
//!         if ((level & DECIDE) != 0) {
//!             long due = U.getLong(null, DUE + ((long) site << 3));
//!             if (due == ASK || due == before + 1 || (before & TIMED) == 0) { $Hypocenter.slow(site, before); return; }
//!         }
//!         if ((level & EVENT) != 0 && !event(site, 0)) named(site, before);
//!     }
//!     static boolean bool(boolean v, int site) { ... }    // counts what is true apart; a decision is the agent's
//!     static void caught(Throwable t, int site) { ... }   // only counts; a class is named by the agent
//!     static void key(int key, int site) { ... }          // only counts
//!
//!     static boolean event(int site, int value) {
//!         long tid = carrier();
//!         int at = (int) tid & LANE_MASK;
//!         long lane = LANES + ((long) at << Lane.SHIFT);
//!         Thread t = Thread.currentThread();
//!         if (U.getLong(null, lane + OWNER) != tid || U.getLong(null, lane + SPEAKER) != t.threadId() || NAMES[at] != t.getName()) return false;
//!         long next = U.getLong(null, lane + NEXT);
//!         if (next == U.getLong(null, lane + END)) return false;
//!         U.putLong(null, next, WORD | (long) site << 32 | (long) value << 8);
//!         U.putLong(null, next + 8, U.getLong(null, CLOCK));
//!         U.putLong(null, lane + NEXT, next + 16);
//!         U.putLongRelease(null, U.getLong(null, lane + USED), next + 16 - U.getLong(null, lane + BASE));
//!         return true;
//!     }
//! }
//! ```
//!
//! It is initialised when the first hook that does something is reached: this JVM has joined the trial then. The JIT compiler turns the
//! calls of `Unsafe` into single instructions. A thread runs here between two safepoints at the least, but a virtual thread never leaves
//! its carrier here, so that the lane stays its own. The number of a thread is read from its field where programs can override the method.

use hypocenter_classfile::op;
use hypocenter_trace::{Lane, level, plain_hit_word};

use crate::emit::{Code, Emitter, Kind, Named, Op};
use crate::helper::{self, CURRENT_THREAD, GET_NAME, THREAD_ID};

pub(crate) const CLASS: &str = "java/lang/$Hypocenter$Fast";
/// The number of the native thread's own Java thread.
pub(crate) const CARRIER: Named<'_> = ("carrier", "()J");

/// A level that only the agent can serve: as a Java byte it is negative.
pub(crate) const AGENT_ONLY: u8 = 128;
/// Number of lanes; threads whose numbers fall together share one, and the second calls the agent.
pub(crate) const LANES: usize = 1 << 12;
/// Of so many hits of a site that has something armed the agent times one.
pub(crate) const TIMED_EVERY: u64 = 64;

const UNSAFE: &str = "jdk/internal/misc/Unsafe";
const UNSAFE_FIELD: Named<'_> = ("U", "Ljdk/internal/misc/Unsafe;");
const GET: Named<'_> = ("getLong", "(Ljava/lang/Object;J)J");
const PUT: Named<'_> = ("putLong", "(Ljava/lang/Object;JJ)V");
const PUT_RELEASE: Named<'_> = ("putLongRelease", "(Ljava/lang/Object;JJ)V");
const ADD: Named<'_> = ("getAndAddLong", "(Ljava/lang/Object;JJ)J");
const FIELD_OFFSET: Named<'_> = ("objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
const GET_UNSAFE: Named<'_> = ("getUnsafe", "()Ljdk/internal/misc/Unsafe;");
const CURRENT_CARRIER: Named<'_> = ("currentCarrierThread", "()Ljava/lang/Thread;");
const THREAD: &str = "java/lang/Thread";
const TID: Named<'_> = ("TID", "J");

/// The static methods that a JVM must have for this class, the virtual ones of `Unsafe`, and those of `Thread`.
pub(crate) fn needs(virtual_threads: bool) -> Vec<(&'static str, Named<'static>, bool)> {
    let mut all = vec![(UNSAFE, GET_UNSAFE, true)];
    all.extend([GET, PUT, PUT_RELEASE, ADD, FIELD_OFFSET].map(|it| (UNSAFE, it, false)));
    if virtual_threads {
        all.extend([(THREAD, CURRENT_CARRIER, true), (THREAD, THREAD_ID, false)]);
    }
    all
}

/// The addresses, by the number that the helper asks for.
pub(crate) const COUNTERS: i32 = 0;
pub(crate) const TRUES: i32 = 1;
pub(crate) const DUE: i32 = 2;
pub(crate) const LANES_AT: i32 = 3;
pub(crate) const CLOCK: i32 = 4;
const ADDRESSES: [&str; 5] = ["COUNTERS", "TRUES", "DUE", "LANES", "CLOCK"];

const NAMES: Named<'_> = ("NAMES", "[Ljava/lang/String;");
const EVENT: Named<'_> = ("event", "(II)Z");
const NAMED: Named<'_> = ("named", "(IIJ)V");

/// The class file.
pub(crate) fn class_file(virtual_threads: bool) -> Vec<u8> {
    let mut class = Emitter::new(CLASS);
    initialiser(&mut class, virtual_threads);
    carrier(&mut class, virtual_threads);
    let parts = Parts::of(&mut class);
    parts.hit(&mut class);
    parts.bool(&mut class);
    parts.counting(&mut class);
    parts.named(&mut class);
    parts.event(&mut class, virtual_threads);
    class.finish()
}

fn initialiser(class: &mut Emitter, virtual_threads: bool) {
    let mut code = Code::new(3, 0);
    let (get, set) = (class.call(UNSAFE, GET_UNSAFE), class.field(CLASS, UNSAFE_FIELD));
    code = code.put(&[&get, &set]);
    let base = class.call(helper::CLASS, helper::BASE);
    for (number, name) in ADDRESSES.into_iter().enumerate() {
        let set = class.field(CLASS, (name, "J"));
        code = code.put(&[&[op::BIPUSH, number as u8], &base, &set]);
    }
    if !virtual_threads {
        let the_unsafe = class.get(CLASS, UNSAFE_FIELD);
        let (thread, name) = (class.class_constant(THREAD), class.string("tid"));
        let (offset, set) = (class.call_virtual(UNSAFE, FIELD_OFFSET), class.field(CLASS, TID));
        code = code.put(&[&the_unsafe, &thread, &name, &offset, &set]);
    }
    let (array, set) = (class.new_array("java/lang/String"), class.field(CLASS, NAMES));
    let [high, low] = (LANES as u16).to_be_bytes();
    code = code.put(&[&[op::SIPUSH, high, low], &array, &set, &[op::RETURN]]);
    class.method(0, ("<clinit>", "()V"), code);
}

fn carrier(class: &mut Emitter, virtual_threads: bool) {
    let code = if virtual_threads {
        let (current, id) = (class.call(THREAD, CURRENT_CARRIER), class.call_virtual(THREAD, THREAD_ID));
        Code::new(2, 0).put(&[&current, &id, &[op::LRETURN]])
    } else {
        let (the_unsafe, current) = (class.get(CLASS, UNSAFE_FIELD), class.call(THREAD, CURRENT_THREAD));
        let (tid, get) = (class.get(CLASS, TID), class.call_virtual(UNSAFE, GET));
        Code::new(4, 0).put(&[&the_unsafe, &current, &tid, &get, &[op::LRETURN]])
    };
    class.method(0, CARRIER, code);
}

/// Parts that several methods need.
struct Parts {
    the_unsafe: Op,
    get: Op,
    put: Op,
    add: Op,
    level: Op,
    minus_one: Op,
    slow: Op,
    slow_bool: Op,
    addresses: [Op; 5],
    names: Op,
}

/// Pushes the site as an offset into an array of longs, the site being in a local.
fn offset(local: u8) -> [u8; 6] {
    [op::ILOAD, local, op::I2L, op::ICONST_3, op::LSHL, op::LADD]
}

impl Parts {
    fn of(class: &mut Emitter) -> Parts {
        Parts {
            the_unsafe: class.get(CLASS, UNSAFE_FIELD),
            get: class.call_virtual(UNSAFE, GET),
            put: class.call_virtual(UNSAFE, PUT),
            add: class.call_virtual(UNSAFE, ADD),
            level: class.get(helper::CLASS, helper::LEVEL),
            minus_one: class.long(-1),
            slow: class.call(helper::CLASS, helper::SLOW),
            slow_bool: class.call(helper::CLASS, helper::SLOW_BOOL),
            addresses: ADDRESSES.map(|name| class.get(CLASS, (name, "J"))),
            names: class.get(CLASS, NAMES),
        }
    }

    fn address(&self, which: i32) -> &Op {
        &self.addresses[which as usize]
    }

    fn hit(&self, class: &mut Emitter) {
        const COUNT: usize = 0;
        const SLOW: usize = 1;
        const NOT_DUE: usize = 2;
        const DONE: usize = 3;
        let named = class.call(CLASS, NAMED);
        let event = class.call(CLASS, EVENT);
        let timed = class.long(TIMED_EVERY as i64 - 1);
        // Site 0, level 1, before 2, due 4.
        let (first, counted) = ([Kind::Int, Kind::Int], [Kind::Int, Kind::Int, Kind::Long]);
        let code = Code::new(8, 6)
            .put(&[&self.level, &[op::ILOAD_0, op::BALOAD, op::ISTORE_1, op::ILOAD_1]])
            .jump(op::IFGE, COUNT)
            .put(&[&[op::ILOAD_0], &self.minus_one, &self.slow, &[op::RETURN]])
            .bind(COUNT, &first, &[])
            .put(&[&self.the_unsafe, &[op::ACONST_NULL], self.address(COUNTERS), &offset(0)])
            .put(&[&[op::LCONST_1], &self.add, &[op::LSTORE_2]])
            .put(&[&[op::ILOAD_1, op::ICONST_4, op::IAND]])
            .jump(op::IFEQ, NOT_DUE)
            .put(&[&self.the_unsafe, &[op::ACONST_NULL], self.address(DUE), &offset(0), &self.get])
            .put(&[&[op::LSTORE, 4, op::LLOAD, 4, op::LCONST_0, op::LCMP]])
            .jump(op::IFEQ, SLOW)
            .put(&[&[op::LLOAD, 4, op::LLOAD_2, op::LCONST_1, op::LADD, op::LCMP]])
            .jump(op::IFEQ, SLOW)
            .put(&[&[op::LLOAD_2], &timed, &[op::LAND, op::LCONST_0, op::LCMP]])
            .jump(op::IFNE, NOT_DUE)
            .bind(SLOW, &counted, &[])
            .put(&[&[op::ILOAD_0, op::LLOAD_2], &self.slow, &[op::RETURN]])
            .bind(NOT_DUE, &counted, &[])
            .put(&[&[op::ILOAD_1, op::ICONST_2, op::IAND]])
            .jump(op::IFEQ, DONE)
            .put(&[&[op::ILOAD_0, op::ICONST_0], &event])
            .jump(op::IFNE, DONE)
            .put(&[&[op::ILOAD_0, op::ICONST_0, op::LLOAD_2], &named])
            .bind(DONE, &counted, &[])
            .put(&[&[op::RETURN]]);
        class.method(0, helper::HIT, code);
        const _: () = assert!(level::DECIDE == 4 && level::EVENT == 2);
    }

    /// As `hit`, but a decision is the agent's, because its hits are counted apart.
    fn bool(&self, class: &mut Emitter) {
        const COUNT: usize = 0;
        const OTHER: usize = 1;
        const COUNTED: usize = 2;
        const DONE: usize = 3;
        let named = class.call(CLASS, NAMED);
        let event = class.call(CLASS, EVENT);
        // Value 0, site 1, level 2, before 3.
        let locals = [Kind::Int; 3];
        let counted = [Kind::Int, Kind::Int, Kind::Int, Kind::Long];
        let object = Kind::Object(class.class(UNSAFE));
        let null = Kind::Object(class.class("java/lang/Object"));
        let stack = [object, null, Kind::Long];
        let code = Code::new(8, 5)
            .put(&[&self.level, &[op::ILOAD_1, op::BALOAD, op::ISTORE_2, op::ILOAD_2]])
            .put(&[&[op::SIPUSH], &(-128i16 | 4).to_be_bytes(), &[op::IAND]])
            .jump(op::IFEQ, COUNT)
            .put(&[&[op::ILOAD_0, op::ILOAD_1], &self.minus_one, &self.slow_bool, &[op::IRETURN]])
            .bind(COUNT, &locals, &[])
            .put(&[&self.the_unsafe, &[op::ACONST_NULL, op::ILOAD_0]])
            .jump(op::IFEQ, OTHER)
            .put(&[self.address(TRUES)])
            .jump(op::GOTO, COUNTED)
            .bind(OTHER, &locals, &stack[..2])
            .put(&[self.address(COUNTERS)])
            .bind(COUNTED, &locals, &stack)
            .put(&[&offset(1), &[op::LCONST_1], &self.add, &[op::LSTORE_3]])
            .put(&[&[op::ILOAD_2, op::ICONST_2, op::IAND]])
            .jump(op::IFEQ, DONE)
            .put(&[&[op::ILOAD_1, op::ILOAD_0], &event])
            .jump(op::IFNE, DONE)
            .put(&[&[op::ILOAD_1, op::ILOAD_0, op::LLOAD_3], &named])
            .bind(DONE, &counted, &[])
            .put(&[&[op::ILOAD_0, op::IRETURN]]);
        class.method(0, helper::BOOL, code);
    }

    /// The hooks that only count here.
    fn counting(&self, class: &mut Emitter) {
        const SLOW: usize = 0;
        let throwable = Kind::Object(class.class("java/lang/Throwable"));
        let rows = [
            (helper::CAUGHT, helper::SLOW_CAUGHT, op::ALOAD_0, throwable),
            (helper::KEY, helper::SLOW_KEY, op::ILOAD_0, Kind::Int),
        ];
        for (member, slow, load, kind) in rows {
            let slow = class.call(helper::CLASS, slow);
            let code = Code::new(8, 2)
                .put(&[&self.level, &[op::ILOAD_1, op::BALOAD, op::ICONST_1]])
                .jump(op::IF_ICMPNE, SLOW)
                .put(&[&self.the_unsafe, &[op::ACONST_NULL], self.address(COUNTERS), &offset(1)])
                .put(&[&[op::LCONST_1], &self.add, &[op::POP2, op::RETURN]])
                .bind(SLOW, &[kind, Kind::Int], &[])
                .put(&[&[load, op::ILOAD_1], &self.minus_one, &slow, &[op::RETURN]]);
            class.method(0, member, code);
        }
        const _: () = assert!(level::COUNT == 1);
    }

    /// Lets the agent write an event, and notes whose name its lane has now. The name is asked for first: should it change meanwhile, the
    /// next event comes here again.
    fn named(&self, class: &mut Emitter) {
        let (current, name) = (class.call(THREAD, CURRENT_THREAD), class.call_virtual(THREAD, GET_NAME));
        let carrier = class.call(CLASS, CARRIER);
        let mask = [op::SIPUSH, ((LANES - 1) >> 8) as u8, (LANES - 1) as u8];
        let code = Code::new(4, 5)
            .put(&[&current, &name, &[op::ASTORE, 4]])
            .put(&[&[op::ILOAD_1, op::ILOAD_0, op::LLOAD_2], &self.slow_bool, &[op::POP]])
            .put(&[
                &self.names,
                &carrier,
                &[op::L2I],
                &mask,
                &[op::IAND, op::ALOAD, 4, op::AASTORE, op::RETURN],
            ]);
        class.method(0, NAMED, code);
    }

    fn event(&self, class: &mut Emitter, virtual_threads: bool) {
        const NO: usize = 0;
        let (carrier, current) = (class.call(CLASS, CARRIER), class.call(THREAD, CURRENT_THREAD));
        let name = class.call_virtual(THREAD, GET_NAME);
        let put_release = class.call_virtual(UNSAFE, PUT_RELEASE);
        let mask = [op::SIPUSH, ((LANES - 1) >> 8) as u8, (LANES - 1) as u8];
        // Site 0, value 1, tid 2, at 4, lane 5, thread 7, next 8.
        let locals = [Kind::Int, Kind::Int, Kind::Long];
        let mut word = |offset: i64| {
            let offset = class.long(offset);
            [&self.the_unsafe[..], &[op::ACONST_NULL, op::LLOAD, 5], &offset, &[op::LADD]].concat()
        };
        let [owner, next, end, used, base, speaker] =
            [Lane::OWNER, Lane::NEXT, Lane::END, Lane::USED, Lane::BASE, Lane::SPEAKER].map(&mut word);
        let sixteen = class.long(16);
        let eight = class.long(8);
        let hit = class.long(plain_hit_word() as i64);
        let mut code = Code::new(12, 10)
            .put(&[&carrier, &[op::LSTORE_2, op::LLOAD_2, op::L2I], &mask, &[op::IAND, op::ISTORE, 4]])
            .put(&[self.address(LANES_AT), &[op::ILOAD, 4, op::I2L, op::BIPUSH, Lane::SHIFT as u8]])
            .put(&[&[op::LSHL, op::LADD, op::LSTORE, 5], &owner, &self.get, &[op::LLOAD_2, op::LCMP]])
            .jump(op::IFNE, NO)
            .put(&[&current, &[op::ASTORE, 7]]);
        if virtual_threads {
            let id = class.call_virtual(THREAD, THREAD_ID);
            code = code.put(&[&speaker, &self.get, &[op::ALOAD, 7], &id, &[op::LCMP]]).jump(op::IFNE, NO);
        }
        let code = code
            .put(&[&self.names, &[op::ILOAD, 4, op::AALOAD, op::ALOAD, 7], &name])
            .jump(op::IF_ACMPNE, NO)
            .put(&[&next, &self.get, &[op::LSTORE, 8, op::LLOAD, 8], &end, &self.get, &[op::LCMP]])
            .jump(op::IFEQ, NO)
            .put(&[&self.the_unsafe, &[op::ACONST_NULL, op::LLOAD, 8], &hit])
            .put(&[&[op::ILOAD_0, op::I2L, op::BIPUSH, 32, op::LSHL, op::LOR]])
            .put(&[&[op::ILOAD_1, op::BIPUSH, 8, op::ISHL, op::I2L, op::LOR], &self.put])
            .put(&[&self.the_unsafe, &[op::ACONST_NULL, op::LLOAD, 8], &eight, &[op::LADD]])
            .put(&[&self.the_unsafe, &[op::ACONST_NULL], self.address(CLOCK), &self.get, &self.put])
            .put(&[&[op::LLOAD, 8], &sixteen, &[op::LADD, op::LSTORE, 8]])
            .put(&[&next, &[op::LLOAD, 8], &self.put])
            .put(&[&self.the_unsafe, &[op::ACONST_NULL], &used, &self.get])
            .put(&[&[op::LLOAD, 8], &base, &self.get, &[op::LSUB], &put_release])
            .put(&[&[op::ICONST_1, op::IRETURN]])
            .bind(NO, &locals, &[])
            .put(&[&[op::ICONST_0, op::IRETURN]]);
        class.method(0, EVENT, code);
    }
}
