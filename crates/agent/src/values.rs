//! What hooks see beside that they are reached: objects and values.
//!
//! As Java, the part of the helper for it would read, with a method for each kind of value,
//!
//! ```java
//! public static void field(Object o, int v, int site) { slowValue(o, v, 0, INT | COUNTS, site); }
//! public static void element(Object a, int index, int v, int site) { slowValue(a, v, index, INT | COUNTS, site); }
//! public static void value(int v, int shape, int site) { slowValue(null, v, 0, shape, site); }
//! public static void operands(int a, int b, int site) { slowValue(null, a, b, INT, site); }
//! static void slowValue(Object o, long v, long index, int shape, int site) {
//!     if (enterValue(o, v, index, shape, site, who(), carrier()) != 0) pause();
//! }
//! ```
//!
//! No level is tested: such a hook is placed only where a value is asked for. The shape says of which kind the value is, which part of what
//! there is to see, and whether this is the hit itself. Where it is not, a plain hook follows, which counts and decides.

use hypocenter_classfile::op;
use hypocenter_trace::{ObjectId, SeenValue, SiteId, TracedValue, ValueKind, ValueRecord, level};
use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jlong, jobject};

use crate::decide::Answer;
use crate::emit::{Code, Emitter, Kind, Named, Op, PRIVATE, PUBLIC};
use crate::helper::{self, CLASS, Features};
use crate::jni::Jni;
use crate::natives::{self, Call, Who};
use crate::state::State;
use crate::threads::CURRENT;

pub(crate) const ENTER_VALUE: Named<'_> = ("enterValue", "(Ljava/lang/Object;JJIIJJ)I");
pub(crate) const ENTER_REFERENCE: Named<'_> =
    ("enterReference", "(Ljava/lang/Object;Ljava/lang/Object;JIIJJ)I");
const SLOW_VALUE: Named<'_> = ("slowValue", "(Ljava/lang/Object;JJII)V");
const SLOW_REFERENCE: Named<'_> = ("slowReference", "(Ljava/lang/Object;Ljava/lang/Object;JII)V");

/// The bits of a shape: the kind of the value, the part, and these.
const PART_SHIFT: u16 = 3;
/// It is the hit of its site.
pub(crate) const COUNTS: u16 = 1 << 8;
/// The value is the object that the site is about.
pub(crate) const OBJECT: u16 = 1 << 9;
/// The object is compared with the value.
const COMPARED: u16 = 1 << 10;

/// The type of a value on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Int,
    Long,
    Float,
    Double,
    Reference,
}

/// What a hook with values calls of the helper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueCall {
    Field(Slot),
    Element(Slot),
    Value(Slot),
    /// Of ints or references.
    Operands(Slot),
}

impl Slot {
    const ALL: [Slot; 5] = [Slot::Int, Slot::Long, Slot::Float, Slot::Double, Slot::Reference];

    /// That of a type in a descriptor; none for `void`.
    pub(crate) fn of(descriptor: &[u8]) -> Option<Slot> {
        Some(match descriptor.first()? {
            b'B' | b'C' | b'I' | b'S' | b'Z' => Slot::Int,
            b'J' => Slot::Long,
            b'F' => Slot::Float,
            b'D' => Slot::Double,
            b'L' | b'[' => Slot::Reference,
            _ => return None,
        })
    }

    /// That of one of a group of opcodes, which stand for `int`, `long`, `float`, `double`, reference, and then smaller numbers.
    pub(crate) fn of_group(offset: u8) -> Slot {
        Slot::ALL.get(usize::from(offset)).copied().unwrap_or(Slot::Int)
    }

    pub(crate) fn words(self) -> u16 {
        1 + u16::from(matches!(self, Slot::Long | Slot::Double))
    }

    /// The opcode of a group of five that is for it.
    pub(crate) fn opcode(self, first: u8) -> u8 {
        first + self as u8
    }

    pub(crate) fn kind(self) -> ValueKind {
        match self {
            Slot::Int => ValueKind::Int,
            Slot::Long => ValueKind::Long,
            Slot::Float => ValueKind::Float,
            Slot::Double => ValueKind::Double,
            Slot::Reference => ValueKind::Object,
        }
    }

    fn descriptor(self) -> &'static str {
        ["I", "J", "F", "D", "Ljava/lang/Object;"][self as usize]
    }
}

/// The shape of a part of what a site sees.
pub(crate) fn part_shape(slot: Slot, part: usize) -> u16 {
    slot.kind() as u16 | (part as u16) << PART_SHIFT
}

impl ValueCall {
    /// The method's name and descriptor.
    pub(crate) fn method(self) -> (&'static str, String) {
        let of = |slot: Slot| slot.descriptor();
        match self {
            ValueCall::Field(slot) => ("field", format!("(Ljava/lang/Object;{}I)V", of(slot))),
            ValueCall::Element(slot) => ("element", format!("(Ljava/lang/Object;I{}I)V", of(slot))),
            ValueCall::Value(slot) => ("value", format!("({}II)V", of(slot))),
            ValueCall::Operands(slot) => ("operands", format!("({0}{0}I)V", of(slot))),
        }
    }
}

/// Adds what is here to the helper.
pub(crate) fn emit(class: &mut Emitter, features: Features) {
    for native in [ENTER_VALUE, ENTER_REFERENCE] {
        class.native(PRIVATE, native);
    }
    slow(class, features);
    let fields = Slot::ALL.map(ValueCall::Field);
    let elements = Slot::ALL.map(ValueCall::Element);
    let values = Slot::ALL.map(ValueCall::Value);
    let operands = [ValueCall::Operands(Slot::Int), ValueCall::Operands(Slot::Reference)];
    for call in fields.into_iter().chain(elements).chain(values).chain(operands) {
        hook(class, call);
    }
}

/// The methods that call the agent.
fn slow(class: &mut Emitter, features: Features) {
    const OVER: usize = 0;
    let object = Kind::Object(class.class("java/lang/Object"));
    let (tail, pause) = helper::asking(class, features);
    let rows: [(Named<'_>, Named<'_>, &[u8], &[Kind]); 2] = [
        (
            SLOW_VALUE,
            ENTER_VALUE,
            &[op::ALOAD_0, op::LLOAD_1, op::LLOAD_3, op::ILOAD, 5, op::ILOAD, 6],
            &[object, Kind::Long, Kind::Long, Kind::Int, Kind::Int],
        ),
        (
            SLOW_REFERENCE,
            ENTER_REFERENCE,
            &[op::ALOAD_0, op::ALOAD_1, op::LLOAD_2, op::ILOAD, 4, op::ILOAD, 5],
            &[object, object, Kind::Long, Kind::Int, Kind::Int],
        ),
    ];
    for (member, native, arguments, locals) in rows {
        let enter = class.call(CLASS, native);
        let code = Code::new(12, 7)
            .put(&[arguments, &tail, &enter])
            .jump(op::IFEQ, OVER)
            .put(&[&pause])
            .bind(OVER, locals, &[])
            .put(&[&[op::RETURN]]);
        class.method(0, member, code);
    }
}

/// Pushes a value as a `long`, or as it is if it is a reference.
fn widened(class: &mut Emitter, slot: Slot, local: u8) -> Vec<u8> {
    let load = [slot.opcode(op::ILOAD), local];
    let bits = |call: Op, rest: &[u8]| [&load[..], &call, rest].concat();
    match slot {
        Slot::Int => vec![load[0], load[1], op::I2L],
        Slot::Long | Slot::Reference => load.to_vec(),
        Slot::Float => bits(class.call("java/lang/Float", ("floatToRawIntBits", "(F)I")), &[op::I2L]),
        Slot::Double => bits(class.call("java/lang/Double", ("doubleToRawLongBits", "(D)J")), &[]),
    }
}

fn hook(class: &mut Emitter, call: ValueCall) {
    let number = |shape: u16| {
        let [high, low] = shape.to_be_bytes();
        vec![op::SIPUSH, high, low]
    };
    let (name, descriptor) = call.method();
    // The object, the value, the index, the shape, and the site behind all arguments.
    let (slot, object, value, index, shape, site) = match call {
        ValueCall::Field(slot) => {
            let (value, site) = (widened(class, slot, 1), 1 + slot.words());
            (slot, vec![op::ALOAD_0], value, vec![op::LCONST_0], number(slot.kind() as u16 | COUNTS), site)
        }
        ValueCall::Element(slot) => {
            let (value, site) = (widened(class, slot, 2), 2 + slot.words());
            let index = vec![op::ILOAD_1, op::I2L];
            (slot, vec![op::ALOAD_0], value, index, number(slot.kind() as u16 | COUNTS), site)
        }
        ValueCall::Value(slot) => {
            let (value, site) = (widened(class, slot, 0), slot.words() + 1);
            let shape = vec![op::ILOAD, slot.words() as u8];
            (slot, vec![op::ACONST_NULL], value, vec![op::LCONST_0], shape, site)
        }
        ValueCall::Operands(Slot::Reference) => {
            let shape = number(ValueKind::Object as u16 | COMPARED);
            (Slot::Reference, vec![op::ALOAD_1], vec![op::ALOAD_0], vec![op::LCONST_0], shape, 2)
        }
        ValueCall::Operands(slot) => {
            let (value, index) = (vec![op::ILOAD_0, op::I2L], vec![op::ILOAD_1, op::I2L]);
            (slot, vec![op::ACONST_NULL], value, index, number(ValueKind::Int as u16), 2)
        }
    };
    let onward = class.call(CLASS, if slot == Slot::Reference { SLOW_REFERENCE } else { SLOW_VALUE });
    let code = Code::new(8, site + 1).put(&[
        &object,
        &value,
        &index,
        &shape,
        &[op::ILOAD, site as u8],
        &onward,
        &[op::RETURN],
    ]);
    class.method(PUBLIC, (name, &descriptor), code);
}

/// What is seen: bits, or an object.
#[derive(Clone, Copy)]
enum Given {
    Bits(jlong),
    Object(jobject),
}

/// A hit with what it saw.
struct Sight {
    env: *mut JNIEnv,
    object: jobject,
    given: Given,
    index: jlong,
    shape: u16,
    site: SiteId,
    who: Who,
}

impl Sight {
    fn see(mut self) -> Answer {
        let Some(state) = State::get() else { return Answer::GoOn };
        let Some(session) = state.session() else { return Answer::GoOn };
        let level = state.levels.get(self.site.0 as usize).copied().unwrap_or(0);
        let is_hit = self.shape & COUNTS != 0;
        if is_hit && level & level::COUNT != 0 {
            self.who.before = session.count(self.site) as jlong;
        }
        if level & level::EVENT != 0 {
            // An object that the agent itself touches meanwhile is of no interest.
            let _ = CURRENT.try_with(|thread| {
                let Ok(mut thread) = thread.try_borrow_mut() else { return };
                let mut thread = thread.working(self.who.carrier);
                // SAFETY: the JVM passed this thread's environment to the native method that called.
                let jni = unsafe { Jni::new(self.env) };
                thread.identify(state, session, jni, self.who.who);
                let mut record = self.record(state);
                if state.monitors.has(self.site) {
                    record.object = thread.within(state, (self.who.who, self.who.carrier), |thread| {
                        state.monitors.follow(&mut thread.tasks.within.held, self.site, record.object)
                    });
                }
                if level & level::STACK != 0 {
                    let count = session.trial().stack_frames() as usize;
                    let frames = state.stacks.capture_nearest(state.jvmti, jni, count);
                    record.stack = Some(state.stacks.intern(state.jvmti, jni, session, &frames));
                }
                thread.ring(session).value(session.trial(), &record);
            });
        }
        if !is_hit {
            return Answer::GoOn;
        }
        let call = Call::plain(self.env, self.site, self.who);
        natives::rest(state, session, &call, level & !(level::EVENT | level::STACK))
    }

    fn record(&self, state: &State) -> ValueRecord {
        let id = |object: jobject| state.objects.id(state.jvmti, object);
        let kind = match self.given {
            Given::Object(_) => ValueKind::Object,
            Given::Bits(_) => Slot::ALL
                .map(Slot::kind)
                .into_iter()
                .find(|&it| it as u16 == self.shape & ((1 << PART_SHIFT) - 1))
                .unwrap_or(ValueKind::Nothing),
        };
        let (object, value) = match self.given {
            Given::Object(object) if self.shape & OBJECT != 0 => (id(object), SeenValue::NOTHING),
            Given::Object(object) => (id(self.object), SeenValue::of_object(id(object))),
            Given::Bits(bits) => (id(self.object), SeenValue { kind, bits }),
        };
        let is_compared = self.shape & COMPARED != 0;
        ValueRecord {
            site: self.site,
            part: (self.shape >> PART_SHIFT) as u8 % TracedValue::PARTS_MAX as u8,
            object: if is_compared { ObjectId(0) } else { object },
            value,
            index: if is_compared { object.0 as i64 } else { self.index },
            stack: None,
        }
    }
}

pub(crate) extern "system" fn enter_value(
    env: *mut JNIEnv,
    _: jclass,
    object: jobject,
    value: jlong,
    index: jlong,
    shape: jint,
    site: jint,
    who: jlong,
    carrier: jlong,
) -> jint {
    let (site, who) = (SiteId(site as u32), Who::uncounted(who, carrier));
    let sight = Sight { env, object, given: Given::Bits(value), index, shape: shape as u16, site, who };
    natives::guarded(0, || natives::pause_of(sight.see()))
}

pub(crate) extern "system" fn enter_reference(
    env: *mut JNIEnv,
    _: jclass,
    object: jobject,
    value: jobject,
    index: jlong,
    shape: jint,
    site: jint,
    who: jlong,
    carrier: jlong,
) -> jint {
    let (site, who) = (SiteId(site as u32), Who::uncounted(who, carrier));
    let sight = Sight { env, object, given: Given::Object(value), index, shape: shape as u16, site, who };
    natives::guarded(0, || natives::pause_of(sight.see()))
}
