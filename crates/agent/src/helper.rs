//! The helper class that hooked code calls: emitted here, defined in the boot loader.
//!
//! It is in `java.lang` because that is the one place every class loader must ask the boot loader for: one that is strict
//! about what it takes from its parents (OSGi's, say) would not find a package of our own.
//!
//! As Java it would read
//!
//! ```java
//! public final class $Hypocenter {
//!     private static final byte[] LEVEL = levels();
//!     public static void idle() {}
//!     public static void hit(int site) { if (LEVEL[site] != 0) slow(site); }
//!     public static void caught(Throwable t, int site) { if (LEVEL[site] != 0) slowCaught(t, site); }
//!     public static boolean bool(boolean v, int site) { return LEVEL[site] == 0 ? v : slowBool(v, site); }
//!     private static void slow(int site) { if (enter(site, who()) != 0) pause(); }
//!     private static void slowCaught(Throwable t, int site) { if (enterCaught(t, site, who()) != 0) pause(); }
//!     private static boolean slowBool(boolean v, int site) {
//!         int answer = enterBool(v, site, who());
//!         if ((answer & 2) != 0) pause();
//!         return (answer & 1) != 0;
//!     }
//!     private static long who() {                        // changes with the thread and with its name
//!         Thread t = Thread.currentThread();
//!         return (t.threadId() << 32) ^ t.getName().hashCode();   // the id only where a JVM has virtual threads
//!     }
//!     private static void pause() { ... }                // sleeps for pending() nanoseconds, interrupts kept
//!     private static native ...
//! }
//! ```
//!
//! The sleep is in Java and not in native code so that a virtual thread gives its carrier up. `LEVEL` is final,
//! so the compiler folds the array and the way around the slow path costs a byte load and a test. The annotations are
//! the JDK's own, honoured for classes of the boot loader: our frames stay out of stack traces, and the test is
//! always inlined. JVMs that do not know them ignore them.

/// The helper's internal name.
pub(crate) const CLASS: &str = "java/lang/$Hypocenter";
/// What a hook calls that does nothing in this trial: known when its class is patched, because levels never change.
pub(crate) const IDLE: (&str, &str) = ("idle", "()V");
pub(crate) const HIT: (&str, &str) = ("hit", "(I)V");
pub(crate) const CAUGHT: (&str, &str) = ("caught", "(Ljava/lang/Throwable;I)V");
pub(crate) const BOOL: (&str, &str) = ("bool", "(ZI)Z");

/// The native methods, to be registered by name and descriptor.
pub(crate) const LEVELS: (&str, &str) = ("levels", "()[B");
pub(crate) const ENTER: (&str, &str) = ("enter", "(IJ)I");
pub(crate) const ENTER_CAUGHT: (&str, &str) = ("enterCaught", "(Ljava/lang/Throwable;IJ)I");
pub(crate) const ENTER_BOOL: (&str, &str) = ("enterBool", "(ZIJ)I");
pub(crate) const PENDING: (&str, &str) = ("pending", "()J");

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
pub(crate) const RUN: (&str, &str) = ("run", "(Ljava/lang/Object;)Ljava/lang/Object;");
pub(crate) const BIND: (&str, &str) = ("bind", "(Ljava/lang/Object;)Ljava/lang/Object;");

/// The classes that the helper's own code runs through: a hook there that does something would call itself.
pub(crate) const OWN_CLASSES: [&str; 6] = [
    "java/lang/Thread",
    "java/lang/String",
    "java/lang/StringLatin1",
    "java/lang/StringUTF16",
    "java/lang/System",
    "jdk/internal/util/ArraysSupport",
];

const ACC_PUBLIC: u16 = 0x0001;
const ACC_PRIVATE: u16 = 0x0002;
const ACC_STATIC: u16 = 0x0008;
const ACC_FINAL: u16 = 0x0010;
const ACC_SUPER: u16 = 0x0020;
const ACC_NATIVE: u16 = 0x0100;
/// Java 6: old enough for every JVM that is supported.
const MAJOR: u16 = 50;

#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    count: u16,
}

impl Pool {
    fn add(&mut self, tag: u8, parts: &[&[u8]]) -> u16 {
        self.bytes.push(tag);
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.count += 1;
        self.count
    }

    fn utf8(&mut self, text: &str) -> u16 {
        self.add(1, &[&(text.len() as u16).to_be_bytes(), text.as_bytes()])
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.add(7, &[&name.to_be_bytes()])
    }

    fn member(&mut self, tag: u8, class: u16, (name, descriptor): (&str, &str)) -> u16 {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.add(12, &[&name.to_be_bytes(), &descriptor.to_be_bytes()]);
        self.add(tag, &[&class.to_be_bytes(), &name_and_type.to_be_bytes()])
    }

    fn method(&mut self, class: u16, member: (&str, &str)) -> u16 {
        self.member(10, class, member)
    }

    fn long(&mut self, value: i64) -> u16 {
        let index = self.add(5, &[&value.to_be_bytes()]);
        self.count += 1; // a long takes two entries
        index
    }
}

struct Method {
    access: u16,
    member: (&'static str, &'static str),
    max_stack: u16,
    max_locals: u16,
    code: Vec<u8>,
    handlers: Vec<[u16; 4]>,
    frames: Vec<u8>,
    frame_count: u16,
    inline: bool,
}

impl Method {
    fn new(access: u16, member: (&'static str, &'static str), max_stack: u16, max_locals: u16) -> Method {
        Method {
            access: access | ACC_STATIC,
            member,
            max_stack,
            max_locals,
            code: Vec::new(),
            handlers: Vec::new(),
            frames: Vec::new(),
            frame_count: 0,
            inline: false,
        }
    }

    fn code(mut self, parts: &[&[u8]]) -> Method {
        self.code = parts.concat();
        self
    }

    fn frame(mut self, bytes: &[u8]) -> Method {
        self.frames.extend_from_slice(bytes);
        self.frame_count += 1;
        self
    }
}

/// An instruction with a two-byte operand.
fn op(opcode: u8, operand: u16) -> [u8; 3] {
    let [high, low] = operand.to_be_bytes();
    [opcode, high, low]
}

const ICONST_0: u8 = 0x03;
const ICONST_1: u8 = 0x04;
const ICONST_2: u8 = 0x05;
const LCONST_0: u8 = 0x09;
const BIPUSH: u8 = 0x10;
const LDC2_W: u8 = 0x14;
const ILOAD_0: u8 = 0x1a;
const ILOAD_1: u8 = 0x1b;
const ILOAD_2: u8 = 0x1c;
const LLOAD_0: u8 = 0x1e;
const LLOAD_3: u8 = 0x21;
const ALOAD_0: u8 = 0x2a;
const BALOAD: u8 = 0x33;
const ISTORE_2: u8 = 0x3d;
const LSTORE_0: u8 = 0x3f;
const LSTORE_3: u8 = 0x42;
const ASTORE_0: u8 = 0x4b;
const POP: u8 = 0x57;
const LADD: u8 = 0x61;
const LSUB: u8 = 0x65;
const LDIV: u8 = 0x6d;
const LREM: u8 = 0x71;
const LSHL: u8 = 0x79;
const IAND: u8 = 0x7e;
const LXOR: u8 = 0x83;
const I2L: u8 = 0x85;
const L2I: u8 = 0x88;
const LCMP: u8 = 0x94;
const IFEQ: u8 = 0x99;
const IFLE: u8 = 0x9e;
const GOTO: u8 = 0xa7;
const IRETURN: u8 = 0xac;
const LRETURN: u8 = 0xad;
const ARETURN: u8 = 0xb0;
const ARETURN_VOID: u8 = 0xb1;
const GETSTATIC: u8 = 0xb2;
const PUTSTATIC: u8 = 0xb3;
const INVOKEVIRTUAL: u8 = 0xb6;
const INVOKESTATIC: u8 = 0xb8;

/// The helper's class file. `virtual_threads`: the JVM has `Thread.threadId()`.
pub(crate) fn class_file(virtual_threads: bool) -> Vec<u8> {
    let mut pool = Pool::default();
    let this = pool.class(CLASS);
    let object = pool.class("java/lang/Object");
    let thread = pool.class("java/lang/Thread");
    let string = pool.class("java/lang/String");
    let system = pool.class("java/lang/System");
    let interrupted = pool.class("java/lang/InterruptedException");
    let level_field = pool.member(9, this, ("LEVEL", "[B"));
    let mut own = |member| op(INVOKESTATIC, pool.method(this, member));
    let levels = own(LEVELS);
    let (enter, enter_caught, enter_bool, pending) =
        (own(ENTER), own(ENTER_CAUGHT), own(ENTER_BOOL), own(PENDING));
    let (slow, slow_caught, slow_bool) =
        (own(("slow", "(I)V")), own(("slowCaught", CAUGHT.1)), own(("slowBool", BOOL.1)));
    let (pause, who) = (own(("pause", "()V")), own(("who", "()J")));
    let level = op(GETSTATIC, level_field);
    let nano_time = op(INVOKESTATIC, pool.method(system, ("nanoTime", "()J")));
    let sleep = op(INVOKESTATIC, pool.method(thread, ("sleep", "(JI)V")));
    let current = op(INVOKESTATIC, pool.method(thread, ("currentThread", "()Ljava/lang/Thread;")));
    let interrupt = op(INVOKEVIRTUAL, pool.method(thread, ("interrupt", "()V")));
    let thread_id = op(INVOKEVIRTUAL, pool.method(thread, ("threadId", "()J")));
    let get_name = op(INVOKEVIRTUAL, pool.method(thread, ("getName", "()Ljava/lang/String;")));
    let hash_code = op(INVOKEVIRTUAL, pool.method(string, ("hashCode", "()I")));
    let million = op(LDC2_W, pool.long(1_000_000));

    let public =
        |member, stack, locals| Method { inline: true, ..Method::new(ACC_PUBLIC, member, stack, locals) };
    let private = |member, stack, locals| Method::new(ACC_PRIVATE, member, stack, locals);
    let native = |member| Method::new(ACC_PRIVATE | ACC_NATIVE, member, 0, 0);
    let [int_high, int_low] = interrupted.to_be_bytes();
    let who_code: Vec<u8> = if virtual_threads {
        [
            &current[..],
            &[ASTORE_0, ALOAD_0],
            &thread_id,
            &[BIPUSH, 32, LSHL, ALOAD_0],
            &get_name,
            &hash_code,
            &[I2L, LXOR, LRETURN],
        ]
        .concat()
    } else {
        [&current[..], &get_name, &hash_code, &[I2L, LRETURN]].concat()
    };

    let mut pause_method = private(("pause", "()V"), 6, 5)
        .code(&[
            &nano_time,
            &pending,
            &[LADD, LSTORE_0, ICONST_0, ISTORE_2],
            // 10: the loop
            &[LLOAD_0],
            &nano_time,
            &[LSUB, LSTORE_3, LLOAD_3, LCONST_0, LCMP],
            &op(IFLE, 45 - 19),
            // 22: the try range
            &[LLOAD_3],
            &million,
            &[LDIV, LLOAD_3],
            &million,
            &[LREM, L2I],
            &sleep,
            // 36
            &op(GOTO, (10i16 - 36) as u16),
            // 39: the handler
            &[POP, ICONST_1, ISTORE_2],
            &op(GOTO, (10i16 - 42) as u16),
            // 45: the end
            &[ILOAD_2],
            &op(IFEQ, 55 - 46),
            &current,
            &interrupt,
            // 55
            &[ARETURN_VOID],
        ])
        .frame(&[253, 0, 10, 4, 1]) // at 10: long, int
        .frame(&[64 + 28, 7, int_high, int_low]) // at 39: the exception on the stack
        .frame(&[5]) // at 45
        .frame(&[9]); // at 55
    pause_method.handlers.push([22, 36, 39, interrupted]);

    let methods = [
        private(("<clinit>", "()V"), 1, 0).code(&[&levels, &op(PUTSTATIC, level_field), &[ARETURN_VOID]]),
        public(IDLE, 0, 0).code(&[&[ARETURN_VOID]]),
        public(HIT, 2, 1)
            .code(&[&level, &[ILOAD_0, BALOAD], &op(IFEQ, 7), &[ILOAD_0], &slow, &[ARETURN_VOID]])
            .frame(&[12]),
        public(CAUGHT, 2, 2)
            .code(&[
                &level,
                &[ILOAD_1, BALOAD],
                &op(IFEQ, 8),
                &[ALOAD_0, ILOAD_1],
                &slow_caught,
                &[ARETURN_VOID],
            ])
            .frame(&[13]),
        public(BOOL, 2, 2)
            .code(&[
                &level,
                &[ILOAD_1, BALOAD],
                &op(IFEQ, 9),
                &[ILOAD_0, ILOAD_1],
                &slow_bool,
                &[IRETURN, ILOAD_0, IRETURN],
            ])
            .frame(&[14]),
        private(("slow", "(I)V"), 3, 1)
            .code(&[&[ILOAD_0], &who, &enter, &op(IFEQ, 6), &pause, &[ARETURN_VOID]])
            .frame(&[13]),
        private(("slowCaught", CAUGHT.1), 4, 2)
            .code(&[&[ALOAD_0, ILOAD_1], &who, &enter_caught, &op(IFEQ, 6), &pause, &[ARETURN_VOID]])
            .frame(&[14]),
        private(("slowBool", BOOL.1), 4, 3)
            .code(&[
                &[ILOAD_0, ILOAD_1],
                &who,
                &enter_bool,
                &[ISTORE_2, ILOAD_2, ICONST_2, IAND],
                &op(IFEQ, 6),
                &pause,
                // 18
                &[ILOAD_2, ICONST_1, IAND, IRETURN],
            ])
            .frame(&[252, 0, 18, 1]),
        private(("who", "()J"), 4, 1).code(&[&who_code]),
        pause_method,
        native(LEVELS),
        native(ENTER),
        native(ENTER_CAUGHT),
        native(ENTER_BOOL),
        native(PENDING),
    ];

    let code_name = pool.utf8("Code");
    let frames_name = pool.utf8("StackMapTable");
    let annotations_name = pool.utf8("RuntimeVisibleAnnotations");
    let hidden =
        [pool.utf8("Ljdk/internal/vm/annotation/Hidden;"), pool.utf8("Ljava/lang/invoke/LambdaForm$Hidden;")];
    let inline =
        [pool.utf8("Ljdk/internal/vm/annotation/ForceInline;"), pool.utf8("Ljava/lang/invoke/ForceInline;")];
    let annotations = |types: &[u16]| {
        let mut body = (types.len() as u16).to_be_bytes().to_vec();
        for annotation in types {
            body.extend_from_slice(&annotation.to_be_bytes());
            body.extend_from_slice(&[0, 0]);
        }
        attribute(annotations_name, &body)
    };
    let field_name = pool.utf8("LEVEL");
    let field_descriptor = pool.utf8("[B");
    let members: Vec<(u16, u16)> =
        methods.iter().map(|m| (pool.utf8(m.member.0), pool.utf8(m.member.1))).collect();

    let mut out = Vec::new();
    let put = |out: &mut Vec<u8>, numbers: &[u16]| {
        numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
    };
    out.extend_from_slice(&0xcafe_babe_u32.to_be_bytes());
    put(&mut out, &[0, MAJOR, pool.count + 1]);
    out.extend_from_slice(&pool.bytes);
    put(&mut out, &[ACC_PUBLIC | ACC_FINAL | ACC_SUPER, this, object, 0]);
    put(&mut out, &[1, ACC_PRIVATE | ACC_STATIC | ACC_FINAL, field_name, field_descriptor, 0]);
    put(&mut out, &[methods.len() as u16]);
    for (method, (name, descriptor)) in methods.iter().zip(members) {
        let marks = if method.inline { [hidden, inline].concat() } else { hidden.to_vec() };
        put(&mut out, &[method.access, name, descriptor]);
        if method.access & ACC_NATIVE != 0 {
            put(&mut out, &[1]);
            out.extend(annotations(&marks));
            continue;
        }
        let mut code = Vec::new();
        put(&mut code, &[method.max_stack, method.max_locals]);
        code.extend_from_slice(&(method.code.len() as u32).to_be_bytes());
        code.extend_from_slice(&method.code);
        put(&mut code, &[method.handlers.len() as u16]);
        method.handlers.iter().for_each(|handler| put(&mut code, handler));
        if method.frame_count == 0 {
            put(&mut code, &[0]);
        } else {
            put(&mut code, &[1]);
            let body = [&method.frame_count.to_be_bytes()[..], &method.frames].concat();
            code.extend(attribute(frames_name, &body));
        }
        put(&mut out, &[2]);
        out.extend(attribute(code_name, &code));
        out.extend(annotations(&marks));
    }
    put(&mut out, &[0]);
    out
}

/// The binder's class file.
pub(crate) fn binder_class_file() -> Vec<u8> {
    let mut pool = Pool::default();
    let (this, object) = (pool.class(BINDER), pool.class("java/lang/Object"));
    let call = op(INVOKESTATIC, pool.method(this, BIND));
    let (run, bind) = (pool.utf8(RUN.0), pool.utf8(BIND.0));
    let (descriptor, code_name) = (pool.utf8(RUN.1), pool.utf8("Code"));
    let code = [&[0, 1, 0, 1, 0, 0, 0, 5, ALOAD_0][..], &call, &[ARETURN, 0, 0, 0, 0]].concat();
    let numbers =
        |numbers: &[u16]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>();
    [
        0xcafe_babe_u32.to_be_bytes().to_vec(),
        numbers(&[0, MAJOR, pool.count + 1]),
        pool.bytes,
        numbers(&[ACC_PUBLIC | ACC_FINAL | ACC_SUPER, this, object, 0, 0, 2]),
        numbers(&[ACC_PUBLIC | ACC_STATIC, run, descriptor, 1]),
        attribute(code_name, &code),
        numbers(&[ACC_PRIVATE | ACC_STATIC | ACC_NATIVE, bind, descriptor, 0, 0]),
    ]
    .concat()
}

fn attribute(name: u16, body: &[u8]) -> Vec<u8> {
    [&name.to_be_bytes()[..], &(body.len() as u32).to_be_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use hypocenter_classfile::ClassFile;

    #[test]
    fn the_helper_is_a_readable_class_file() {
        for virtual_threads in [false, true] {
            let bytes = super::class_file(virtual_threads);
            let class = ClassFile::parse(&bytes).unwrap();
            assert_eq!(class.name(), super::CLASS.as_bytes());
            for method in class.methods() {
                if let Some(code) = method.code().unwrap() {
                    assert!(code.instructions().all(|it| it.is_ok()));
                }
            }
        }
    }
}
