//! The helper class that hooked code calls: emitted here, defined in the boot loader.
//!
//! It is in `java.lang` because that is the one place every class loader must ask the boot loader for: one that is strict
//! about what it takes from its parents (OSGi's, say) would not find a package of our own.
//!
//! As Java it would read
//!
//! ```java
//! public final class $Hypocenter {
//!     static final byte[] LEVEL = levels();
//!     public static void idle() {}
//!     public static void hit(int site) { if (LEVEL[site] != 0) $Hypocenter$Fast.hit(site); }
//!     public static void caught(Throwable t, int site) { if (LEVEL[site] != 0) $Hypocenter$Fast.caught(t, site); }
//!     public static boolean bool(boolean v, int site) { return LEVEL[site] == 0 ? v : $Hypocenter$Fast.bool(v, site); }
//!     public static void key(int key, int site) { if (LEVEL[site] != 0) $Hypocenter$Fast.key(key, site); }
//!     public static void operation(Object a, Object b, int number, int site) {
//!         if (LEVEL[site] != 0) slowOperation(a, b, number, site);
//!     }
//!     public static FileDescriptor outlet(FileDescriptor d, int site) { return LEVEL[site] == 0 ? d : slowOutlet(d, site); }
//!     public static boolean lt(int a, int b, int site) { return bool(a < b, site); }      // and so on for each kind of jump
//!     public static int constant(int v, int site) { ... } // see [`constants`]; likewise for each type of constant
//!     static void slow(int site, long before) { if (enter(site, who(), carrier(), before) != 0) pause(); }
//!     static boolean slowBool(boolean v, int site, long before) {
//!         int answer = enterBool(v, site, who(), carrier(), before);
//!         if ((answer & 2) != 0) pause();
//!         return (answer & 1) != 0;
//!     }
//!     static void slowCaught(Throwable t, int site, long before) { ... }
//!     static void slowKey(int key, int site, long before) { ... }
//!     static FileDescriptor slowOutlet(FileDescriptor d, int site) {
//!         int answer = enterOperation(d, null, 0, site, who(), carrier());
//!         if ((answer & 2) != 0) pause();
//!         return (answer & 4) == 0 ? d : sink();
//!     }
//!     private static long who() {                        // changes with the thread and with its name
//!         Thread t = Thread.currentThread();
//!         return (t.threadId() << 32) ^ t.getName().hashCode();   // the id only where a JVM has virtual threads
//!     }
//!     private static void pause() {                      // interrupts are kept
//!         int order = awaited(); long pending = pending(), nap; boolean interrupted = false;
//!         if (order >= 0) while ((nap = nap(order)) > 0) interrupted |= rest(nap);
//!         if (interrupted | rest(pending)) Thread.currentThread().interrupt();
//!     }
//!     private static boolean rest(long nanos) { ... }    // sleeps for so long
//!     private static native ...
//! }
//! ```
//!
//! The sleep is in Java and not in native code so that a virtual thread gives its carrier up. `LEVEL` is final,
//! so the compiler folds the array and the way around everything else costs a byte load and a test; that test alone is always inlined. What
//! [`crate::fast`] can do is done there; [`crate::values`] has the methods that see values; where a JVM lacks what that needs, hooks call the `slow` methods at once. Our frames stay out of
//! stack traces.

mod constants;

use hypocenter_classfile::op;

use crate::emit::{Code, Emitter, Kind, Named, Op, PRIVATE, PUBLIC};
use crate::{fast, values};

pub(crate) use constants::CONSTANTS;

/// The helper's internal name.
pub(crate) const CLASS: &str = "java/lang/$Hypocenter";
/// What a hook calls that does nothing in this trial: known when its class is patched, because levels never change.
pub(crate) const IDLE: Named<'_> = ("idle", "()V");
pub(crate) const HIT: Named<'_> = ("hit", "(I)V");
pub(crate) const CAUGHT: Named<'_> = ("caught", "(Ljava/lang/Throwable;I)V");
pub(crate) const BOOL: Named<'_> = ("bool", "(ZI)Z");
pub(crate) const KEY: Named<'_> = ("key", "(II)V");
/// The operands of an operation: the object that names what is worked on, another, and a number.
pub(crate) const OPERATION: Named<'_> = ("operation", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
/// As above, for an operation that does nothing but write to a descriptor. Answers the one to write to.
pub(crate) const OUTLET: Named<'_> = ("outlet", "(Ljava/io/FileDescriptor;I)Ljava/io/FileDescriptor;");
/// The object that an operation returns.
pub(crate) const RETURNED: Named<'_> = ("returned", "(Ljava/lang/Object;I)V");
pub(crate) const LEVEL: Named<'_> = ("LEVEL", "[B");

/// Their counterparts where the agent itself is needed. The last argument is how many hits there were before this one, or -1 if it is not
/// counted yet.
pub(crate) const SLOW: Named<'_> = ("slow", "(IJ)V");
pub(crate) const SLOW_CAUGHT: Named<'_> = ("slowCaught", "(Ljava/lang/Throwable;IJ)V");
pub(crate) const SLOW_BOOL: Named<'_> = ("slowBool", "(ZIJ)Z");
pub(crate) const SLOW_KEY: Named<'_> = ("slowKey", "(IIJ)V");
const SLOW_OPERATION: Named<'_> = ("slowOperation", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
const SLOW_OUTLET: Named<'_> = ("slowOutlet", OUTLET.1);
const SLOW_RETURNED: Named<'_> = ("slowReturned", "(Ljava/lang/Object;I)V");

/// The native methods, to be registered by name and descriptor.
pub(crate) const LEVELS: Named<'_> = ("levels", "()[B");
pub(crate) const ENTER: Named<'_> = ("enter", "(IJJJ)I");
pub(crate) const ENTER_CAUGHT: Named<'_> = ("enterCaught", "(Ljava/lang/Throwable;IJJJ)I");
pub(crate) const ENTER_BOOL: Named<'_> = ("enterBool", "(ZIJJJ)I");
pub(crate) const ENTER_KEY: Named<'_> = ("enterKey", "(IIJJJ)I");
pub(crate) const ENTER_OPERATION: Named<'_> =
    ("enterOperation", "(Ljava/lang/Object;Ljava/lang/Object;IIJJ)I");
/// A descriptor that swallows what is written to it.
pub(crate) const SINK: Named<'_> = ("sink", "()Ljava/io/FileDescriptor;");
pub(crate) const ENTER_RETURNED: Named<'_> = ("enterReturned", "(Ljava/lang/Object;IJJ)I");
pub(crate) const PENDING: Named<'_> = ("pending", "()J");
pub(crate) const AWAITED: Named<'_> = ("awaited", "()I");
pub(crate) const NAP: Named<'_> = ("nap", "(I)J");
pub(crate) const NUMBER: Named<'_> = ("number", "()J");
pub(crate) const TEXT: Named<'_> = ("text", "()Ljava/lang/String;");
/// One of the addresses that [`fast`] works on.
pub(crate) const BASE: Named<'_> = ("base", "(I)J");

/// The class that binds the helper's native methods. A JVM prints a warning on stdout when the natives of a class in a
/// named module are bound by anybody but code of the same loader, and the helper is in `java.base`. So they are bound
/// from inside a native method of this class, which is the boot loader's too, and in no named module:
///
/// ```java
/// public final class Binder {
///     public static Object run(Object helper) { return bind(helper); }
///     private static native Object bind(Object helper);
/// }
/// ```
pub(crate) const BINDER: &str = "hypocenter/Binder";
pub(crate) const RUN: Named<'_> = ("run", "(Ljava/lang/Object;)Ljava/lang/Object;");
pub(crate) const BIND: Named<'_> = ("bind", "(Ljava/lang/Object;)Ljava/lang/Object;");

/// Tests whether the helper's own code runs through a method of a class, named with slashes: a hook there that does something would call itself.
pub(crate) fn runs_through(class: &[u8], method: &[u8]) -> bool {
    const ASIDE: [&[u8]; 2] = [b"start", b"join"];
    let is_own = OWN_CLASSES.iter().any(|own| own.as_bytes() == class);
    is_own && !(class == THREAD.as_bytes() && ASIDE.contains(&method))
}

const OWN_CLASSES: [&str; 7] = [
    "java/lang/Thread",
    "java/lang/String",
    "java/lang/StringLatin1",
    "java/lang/StringUTF16",
    "java/lang/System",
    "jdk/internal/util/ArraysSupport",
    "jdk/internal/misc/Unsafe",
];

/// True for a class, named with slashes or dots, that hooks call: its frames are in no stack.
pub(crate) fn is_own(class: &str) -> bool {
    [CLASS, fast::CLASS].iter().any(|own| {
        own.len() == class.len()
            && class.bytes().zip(own.bytes()).all(|(a, b)| a == b || (a, b) == (b'.', b'/'))
    })
}

/// The method that answers whether a jump of this opcode is taken, from its operands and the site; none if it is no conditional jump.
pub(crate) fn branch(opcode: u8) -> Option<Named<'static>> {
    const NAMES: [&str; 6] = ["eq", "ne", "lt", "ge", "gt", "le"];
    let (first, descriptor) = match opcode {
        op::IFEQ..=op::IFLE => (op::IFEQ, "(II)Z"),
        op::IF_ICMPEQ..=op::IF_ICMPLE => (op::IF_ICMPEQ, "(III)Z"),
        op::IF_ACMPEQ..=op::IF_ACMPNE => (op::IF_ACMPEQ, "(Ljava/lang/Object;Ljava/lang/Object;I)Z"),
        op::IFNULL..=op::IFNONNULL => (op::IFNULL, "(Ljava/lang/Object;I)Z"),
        _ => return None,
    };
    Some((NAMES[usize::from(opcode - first)], descriptor))
}

/// Features of a JVM.
#[derive(Clone, Copy)]
pub(crate) struct Features {
    /// `Thread.threadId()` and virtual threads.
    pub virtual_threads: bool,
    /// All that [`fast`] needs.
    pub fast: bool,
}

const THREAD: &str = "java/lang/Thread";
const DESCRIPTOR: &str = "java/io/FileDescriptor";
pub(crate) const CURRENT_THREAD: Named<'_> = ("currentThread", "()Ljava/lang/Thread;");
pub(crate) const THREAD_ID: Named<'_> = ("threadId", "()J");
pub(crate) const GET_NAME: Named<'_> = ("getName", "()Ljava/lang/String;");

/// The helper's class file.
pub(crate) fn class_file(features: Features) -> Vec<u8> {
    let mut class = Emitter::new(CLASS);
    let set_level = class.field(CLASS, LEVEL);
    let levels = class.call(CLASS, LEVELS);
    class.method(PRIVATE, ("<clinit>", "()V"), Code::new(1, 0).put(&[&levels, &set_level, &[op::RETURN]]));
    class.method(PUBLIC, IDLE, Code::new(0, 0).inline().put(&[&[op::RETURN]]));
    let slow = [ENTER, ENTER_CAUGHT, ENTER_BOOL, ENTER_KEY, ENTER_OPERATION, ENTER_RETURNED];
    for native in [LEVELS, PENDING, AWAITED, NAP, NUMBER, TEXT, SINK].into_iter().chain(slow) {
        class.native(PRIVATE, native);
    }
    class.native(0, BASE);
    let hooks = Hooks { level: class.get(CLASS, LEVEL), fast: features.fast };
    hooks.plain(&mut class);
    hooks.branches(&mut class);
    hooks.operation(&mut class);
    slow_methods(&mut class, features);
    values::emit(&mut class, features);
    who(&mut class, features.virtual_threads);
    pause(&mut class);
    rest(&mut class);
    constants::methods(&mut class, features.fast);
    class.finish()
}

/// The methods that hooks call.
struct Hooks {
    level: Op,
    fast: bool,
}

impl Hooks {
    /// The call behind the level test, with all arguments on the stack.
    fn onward(&self, class: &mut Emitter, fast: Named<'_>, slow: Named<'_>) -> Vec<u8> {
        if self.fast {
            return class.call(fast::CLASS, fast).to_vec();
        }
        let (not_counted, call) = (class.long(-1), class.call(CLASS, slow));
        [not_counted, call].concat()
    }

    fn plain(&self, class: &mut Emitter) {
        const OVER: usize = 0;
        let throwable = Kind::Object(class.class("java/lang/Throwable"));
        let rows: [(Named<'_>, Named<'_>, &[u8], &[Kind]); 3] = [
            (HIT, SLOW, &[op::ILOAD_0], &[Kind::Int]),
            (CAUGHT, SLOW_CAUGHT, &[op::ALOAD_0, op::ILOAD_1], &[throwable, Kind::Int]),
            (KEY, SLOW_KEY, &[op::ILOAD_0, op::ILOAD_1], &[Kind::Int, Kind::Int]),
        ];
        for (member, slow, arguments, locals) in rows {
            let onward = self.onward(class, member, slow);
            let site = &arguments[arguments.len() - 1..];
            let code = Code::new(4, locals.len() as u16)
                .inline()
                .put(&[&self.level, site, &[op::BALOAD]])
                .jump(op::IFEQ, OVER)
                .put(&[arguments, &onward])
                .bind(OVER, locals, &[])
                .put(&[&[op::RETURN]]);
            class.method(PUBLIC, member, code);
        }
        let onward = self.onward(class, BOOL, SLOW_BOOL);
        let code = Code::new(4, 2)
            .inline()
            .put(&[&self.level, &[op::ILOAD_1, op::BALOAD]])
            .jump(op::IFEQ, OVER)
            .put(&[&[op::ILOAD_0, op::ILOAD_1], &onward, &[op::IRETURN]])
            .bind(OVER, &[Kind::Int; 2], &[])
            .put(&[&[op::ILOAD_0, op::IRETURN]]);
        class.method(PUBLIC, BOOL, code);
    }

    /// Always served by the agent.
    fn operation(&self, class: &mut Emitter) {
        const OVER: usize = 0;
        let object = Kind::Object(class.class("java/lang/Object"));
        let slow = class.call(CLASS, SLOW_OPERATION);
        let code = Code::new(4, 4)
            .inline()
            .put(&[&self.level, &[op::ILOAD_3, op::BALOAD]])
            .jump(op::IFEQ, OVER)
            .put(&[&[op::ALOAD_0, op::ALOAD_1, op::ILOAD_2, op::ILOAD_3], &slow])
            .bind(OVER, &[object, object, Kind::Int, Kind::Int], &[])
            .put(&[&[op::RETURN]]);
        class.method(PUBLIC, OPERATION, code);
        let slow = class.call(CLASS, SLOW_RETURNED);
        let code = Code::new(2, 2)
            .inline()
            .put(&[&self.level, &[op::ILOAD_1, op::BALOAD]])
            .jump(op::IFEQ, OVER)
            .put(&[&[op::ALOAD_0, op::ILOAD_1], &slow])
            .bind(OVER, &[object, Kind::Int], &[])
            .put(&[&[op::RETURN]]);
        class.method(PUBLIC, RETURNED, code);
        let descriptor = Kind::Object(class.class(DESCRIPTOR));
        let slow = class.call(CLASS, SLOW_OUTLET);
        let code = Code::new(2, 2)
            .inline()
            .put(&[&self.level, &[op::ILOAD_1, op::BALOAD]])
            .jump(op::IFEQ, OVER)
            .put(&[&[op::ALOAD_0, op::ILOAD_1], &slow, &[op::ARETURN]])
            .bind(OVER, &[descriptor, Kind::Int], &[])
            .put(&[&[op::ALOAD_0, op::ARETURN]]);
        class.method(PUBLIC, OUTLET, code);
    }

    /// Each consumes what the jump would, and answers whether it is taken.
    fn branches(&self, class: &mut Emitter) {
        let object = Kind::Object(class.class("java/lang/Object"));
        let opcodes = (op::IFEQ..=op::IF_ACMPNE).chain(op::IFNULL..=op::IFNONNULL);
        for (opcode, member) in opcodes.filter_map(|it| Some((it, branch(it)?))) {
            let onward = self.onward(class, BOOL, SLOW_BOOL);
            self.branch(class, opcode, member, &onward, object);
        }
    }

    fn branch(&self, class: &mut Emitter, opcode: u8, member: Named<'_>, onward: &[u8], object: Kind) {
        const TAKEN: usize = 0;
        const KNOWN: usize = 1;
        const OVER: usize = 2;
        let is_object = member.1.contains('L');
        let operands = 1 + usize::from(matches!(opcode, op::IF_ICMPEQ..=op::IF_ACMPNE));
        let kind = if is_object { object } else { Kind::Int };
        let mut locals = vec![kind; operands];
        locals.push(Kind::Int);
        let loads: &[u8] = if is_object { &[op::ALOAD_0, op::ALOAD_1] } else { &[op::ILOAD_0, op::ILOAD_1] };
        let (site, outcome) = ([op::ILOAD, operands as u8], operands as u8 + 1);
        let code = Code::new(4, u16::from(outcome) + 1)
            .inline()
            .put(&[&loads[..operands]])
            .jump(opcode, TAKEN)
            .put(&[&[op::ICONST_0]])
            .jump(op::GOTO, KNOWN)
            .bind(TAKEN, &locals, &[])
            .put(&[&[op::ICONST_1]])
            .bind(KNOWN, &locals, &[Kind::Int])
            .put(&[&[op::ISTORE, outcome], &self.level, &site, &[op::BALOAD]])
            .jump(op::IFEQ, OVER)
            .put(&[&[op::ILOAD, outcome], &site, onward, &[op::IRETURN]])
            .bind(OVER, &[&locals[..], &[Kind::Int]].concat(), &[])
            .put(&[&[op::ILOAD, outcome, op::IRETURN]]);
        class.method(PUBLIC, member, code);
    }
}

fn slow_methods(class: &mut Emitter, features: Features) {
    const OVER: usize = 0;
    let (who, pause) = asking(class, features);
    let throwable = Kind::Object(class.class("java/lang/Throwable"));
    let rows: [(Named<'_>, Named<'_>, &[u8], &[Kind]); 3] = [
        (SLOW, ENTER, &[op::ILOAD_0], &[Kind::Int, Kind::Long]),
        (SLOW_CAUGHT, ENTER_CAUGHT, &[op::ALOAD_0, op::ILOAD_1], &[throwable, Kind::Int, Kind::Long]),
        (SLOW_KEY, ENTER_KEY, &[op::ILOAD_0, op::ILOAD_1], &[Kind::Int, Kind::Int, Kind::Long]),
    ];
    for (member, native, arguments, locals) in rows {
        let (enter, before) = (class.call(CLASS, native), [op::LLOAD, arguments.len() as u8]);
        let code = Code::new(8, arguments.len() as u16 + 2)
            .put(&[arguments, &who, &before, &enter])
            .jump(op::IFEQ, OVER)
            .put(&[&pause])
            .bind(OVER, locals, &[])
            .put(&[&[op::RETURN]]);
        class.method(0, member, code);
    }
    let object = Kind::Object(class.class("java/lang/Object"));
    let rows: [(Named<'_>, Named<'_>, &[u8], &[Kind]); 2] = [
        (
            SLOW_OPERATION,
            ENTER_OPERATION,
            &[op::ALOAD_0, op::ALOAD_1, op::ILOAD_2, op::ILOAD_3],
            &[object, object, Kind::Int, Kind::Int],
        ),
        (SLOW_RETURNED, ENTER_RETURNED, &[op::ALOAD_0, op::ILOAD_1], &[object, Kind::Int]),
    ];
    for (member, native, arguments, locals) in rows {
        let enter = class.call(CLASS, native);
        let code = Code::new(8, 4)
            .put(&[arguments, &who, &enter])
            .jump(op::IFEQ, OVER)
            .put(&[&pause])
            .bind(OVER, locals, &[])
            .put(&[&[op::RETURN]]);
        class.method(0, member, code);
    }
    let enter = class.call(CLASS, ENTER_OPERATION);
    slow_outlet(class, (&who, &enter), &pause);
    let enter = class.call(CLASS, ENTER_BOOL);
    let code = Code::new(8, 5)
        .put(&[&[op::ILOAD_0, op::ILOAD_1], &who, &[op::LLOAD_2], &enter])
        .put(&[&[op::ISTORE, 4, op::ILOAD, 4, op::ICONST_2, op::IAND]])
        .jump(op::IFEQ, OVER)
        .put(&[&pause])
        .bind(OVER, &[Kind::Int, Kind::Int, Kind::Long, Kind::Int], &[])
        .put(&[&[op::ILOAD, 4, op::ICONST_1, op::IAND, op::IRETURN]]);
    class.method(0, SLOW_BOOL, code);
}

/// `enter` has what is pushed behind the operands, and the call.
fn slow_outlet(class: &mut Emitter, enter: (&[u8], &[u8]), pause: &[u8]) {
    const AWAKE: usize = 0;
    const OVER: usize = 1;
    let locals = [Kind::Object(class.class(DESCRIPTOR)), Kind::Int, Kind::Int];
    let sink = class.call(CLASS, SINK);
    let (who, enter) = enter;
    let code = Code::new(8, 3)
        .put(&[&[op::ALOAD_0, op::ACONST_NULL, op::ICONST_0, op::ILOAD_1], who, enter])
        .put(&[&[op::ISTORE_2, op::ILOAD_2, op::ICONST_2, op::IAND]])
        .jump(op::IFEQ, AWAKE)
        .put(&[pause])
        .bind(AWAKE, &locals, &[])
        .put(&[&[op::ILOAD_2, op::ICONST_4, op::IAND]])
        .jump(op::IFEQ, OVER)
        .put(&[&sink, &[op::ARETURN]])
        .bind(OVER, &locals, &[])
        .put(&[&[op::ALOAD_0, op::ARETURN]]);
    class.method(0, SLOW_OUTLET, code);
}

/// Pushes what the agent is told of the thread; and the call that makes a pause, where it answers that there is to be one.
pub(crate) fn asking(class: &mut Emitter, features: Features) -> (Vec<u8>, Op) {
    let (who, pause) = (class.call(CLASS, WHO), class.call(CLASS, PAUSE));
    let carrier = match features.fast {
        true => class.call(fast::CLASS, fast::CARRIER).to_vec(),
        false => vec![op::LCONST_0],
    };
    ([&who[..], &carrier].concat(), pause)
}

const WHO: Named<'_> = ("who", "()J");
const PAUSE: Named<'_> = ("pause", "()V");
const REST: Named<'_> = ("rest", "(J)Z");

fn who(class: &mut Emitter, virtual_threads: bool) {
    let current = class.call(THREAD, CURRENT_THREAD);
    let name = class.call_virtual(THREAD, GET_NAME);
    let hash = class.call_virtual("java/lang/String", ("hashCode", "()I"));
    let code = Code::new(4, 1).put(&[&current, &[op::ASTORE_0]]);
    let code = if virtual_threads {
        let id = class.call_virtual(THREAD, THREAD_ID);
        code.put(&[&[op::ALOAD_0], &id, &[op::BIPUSH, 32, op::LSHL]])
    } else {
        code.put(&[&[op::LCONST_0]])
    };
    let code = code.put(&[&[op::ALOAD_0], &name, &hash, &[op::I2L, op::LXOR, op::LRETURN]]);
    class.method(PRIVATE, WHO, code);
}

/// Waits for another instance, then sleeps. What is to be done is asked before the thread sleeps: it may have another carrier behind that.
/// The order is in local 0, the time in local 1, whether an interrupt was swallowed in local 3, a nap in local 4.
fn pause(class: &mut Emitter) {
    const AGAIN: usize = 0;
    const SLEEP: usize = 1;
    const QUIET: usize = 2;
    let (awaited, pending) = (class.call(CLASS, AWAITED), class.call(CLASS, PENDING));
    let (nap, rest) = (class.call(CLASS, NAP), class.call(CLASS, REST));
    let current = class.call(THREAD, CURRENT_THREAD);
    let interrupt = class.call_virtual(THREAD, ("interrupt", "()V"));
    let locals = [Kind::Int, Kind::Long, Kind::Int];
    let code = Code::new(4, 6)
        .put(&[&awaited, &[op::ISTORE_0], &pending, &[op::LSTORE_1, op::ICONST_0, op::ISTORE_3, op::ILOAD_0]])
        .jump(op::IFLT, SLEEP)
        .bind(AGAIN, &locals, &[])
        .put(&[&[op::ILOAD_0], &nap, &[op::LSTORE, 4, op::LLOAD, 4, op::LCONST_0, op::LCMP]])
        .jump(op::IFLE, SLEEP)
        .put(&[&[op::ILOAD_3, op::LLOAD, 4], &rest, &[op::IOR, op::ISTORE_3]])
        .jump(op::GOTO, AGAIN)
        .bind(SLEEP, &locals, &[])
        .put(&[&[op::ILOAD_3, op::LLOAD_1], &rest, &[op::IOR]])
        .jump(op::IFEQ, QUIET)
        .put(&[&current, &interrupt])
        .bind(QUIET, &locals, &[])
        .put(&[&[op::RETURN]]);
    class.method(PRIVATE, PAUSE, code);
}

/// Sleeps for so long (local 0, then the deadline), and answers whether an interrupt was swallowed (local 2). What is left of the time is in
/// local 3.
fn rest(class: &mut Emitter) {
    const AGAIN: usize = 0;
    const SLEEP: usize = 1;
    const SLEPT: usize = 2;
    const INTERRUPTED: usize = 3;
    const DONE: usize = 4;
    let nano_time = class.call("java/lang/System", ("nanoTime", "()J"));
    let million = class.long(1_000_000);
    let sleep = class.call(THREAD, ("sleep", "(JI)V"));
    let exception = class.class("java/lang/InterruptedException");
    let locals = [Kind::Long, Kind::Int];
    let with_rest = [Kind::Long, Kind::Int, Kind::Long];
    let code = Code::new(6, 5)
        .put(&[&nano_time, &[op::LLOAD_0, op::LADD, op::LSTORE_0, op::ICONST_0, op::ISTORE_2]])
        .bind(AGAIN, &locals, &[])
        .put(&[&[op::LLOAD_0], &nano_time, &[op::LSUB, op::LSTORE_3, op::LLOAD_3, op::LCONST_0, op::LCMP]])
        .jump(op::IFLE, DONE)
        .mark(SLEEP)
        .put(&[&[op::LLOAD_3], &million, &[op::LDIV, op::LLOAD_3], &million, &[op::LREM, op::L2I], &sleep])
        .mark(SLEPT)
        .jump(op::GOTO, AGAIN)
        .bind(INTERRUPTED, &with_rest, &[Kind::Object(exception)])
        .put(&[&[op::POP, op::ICONST_1, op::ISTORE_2]])
        .jump(op::GOTO, AGAIN)
        .bind(DONE, &with_rest, &[])
        .put(&[&[op::ILOAD_2, op::IRETURN]])
        .handler([SLEEP, SLEPT, INTERRUPTED], exception);
    class.method(PRIVATE, REST, code);
}

/// The binder's class file.
pub(crate) fn binder_class_file() -> Vec<u8> {
    let mut class = Emitter::new(BINDER);
    let bind = class.call(BINDER, BIND);
    class.method(PUBLIC, RUN, Code::new(1, 1).put(&[&[op::ALOAD_0], &bind, &[op::ARETURN]]));
    class.native(PRIVATE, BIND);
    class.finish()
}

#[cfg(test)]
mod tests {
    use hypocenter_classfile::ClassFile;

    use super::*;

    #[test]
    fn the_emitted_classes_are_readable_class_files() {
        let features = [(false, false), (true, false), (false, true), (true, true)]
            .map(|(virtual_threads, fast)| Features { virtual_threads, fast });
        let helpers = features.map(|it| (CLASS, class_file(it)));
        let fast = features.map(|it| (fast::CLASS, fast::class_file(it.virtual_threads)));
        for (name, bytes) in helpers.into_iter().chain(fast).chain([(BINDER, binder_class_file())]) {
            let class = ClassFile::parse(&bytes).unwrap();
            assert_eq!(class.name(), name.as_bytes());
            for method in class.methods() {
                if let Some(code) = method.code().unwrap() {
                    assert!(code.instructions().all(|it| it.is_ok()));
                }
            }
        }
    }
}
