//! The native methods of the helper class: what happens at a hook whose level is not zero.

use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use hypocenter_trace::{Session, SiteId, clock, level};
use jvmti_bindings::sys::jni::{JNIEnv, JNINativeMethod, jboolean, jclass, jint, jlong, jobject};

use crate::decide::{Answer, Hit, Seen};
use crate::fast::TIMED_EVERY;
use crate::helper::Features;
use crate::jni::{Jni, object};
use crate::log;
use crate::operations::{self, OperationHit};
use crate::stacks::class_of_signature;
use crate::state::State;
use crate::threads::{CURRENT, Replacement, ThreadState, lanes};
use crate::trails::Side;
use crate::{fast, helper, values};

/// Runs the body of a native method; a panic ends here.
pub(crate) fn guarded<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value,
        Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(ToString::to_string)
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            log::line(&format!("a bug of ours: panic in a hook: {text}"));
            otherwise
        }
    }
}

/// The current thread, as the helper sees it.
#[derive(Clone, Copy)]
pub(crate) struct Who {
    /// Changes with the thread and with its name.
    pub who: jlong,
    /// The number of the native thread's own Java thread; 0 where nothing is done in Java.
    pub carrier: jlong,
    /// The hits of the site before this one; -1 if this one is not counted yet.
    pub before: jlong,
}

const NOT_COUNTED: jlong = -1;

impl Who {
    /// For a hit that is not counted yet.
    pub(crate) fn uncounted(who: jlong, carrier: jlong) -> Who {
        Who { who, carrier, before: NOT_COUNTED }
    }
}

/// What a hook asks of the agent.
pub(crate) struct Call {
    env: *mut JNIEnv,
    site: SiteId,
    who: Who,
    seen: Seen,
    thrown: Option<jobject>,
}

/// Follows an operation.
#[cold]
fn operate(
    state: &'static State,
    session: &Session,
    call: &Call,
    level: u8,
    side: operations::Side,
) -> Answer {
    let work = |thread: &RefCell<ThreadState>| {
        let Ok(mut thread) = thread.try_borrow_mut() else { return Answer::GoOn };
        let mut thread = thread.working(call.who.carrier);
        // SAFETY: the JVM passed this thread's environment to the native method that called.
        let jni = unsafe { Jni::new(call.env) };
        let (who, site) = (call.who.who, call.site);
        // Brings what the thread is in, if the native thread ran another one before.
        thread.identify(state, session, jni, who);
        thread.within(state, (who, call.who.carrier), |thread| {
            OperationHit { state, session, jni, thread, who, site, level }.follow(side)
        })
    };
    CURRENT.try_with(work).unwrap_or(Answer::GoOn)
}

#[inline(always)]
fn handle(env: *mut JNIEnv, site: jint, who: Who, seen: Seen, thrown: Option<jobject>) -> Answer {
    let Some(state) = State::get() else { return Answer::GoOn };
    let Some(session) = state.session() else { return Answer::GoOn };
    let call = Call { env, site: SiteId(site as u32), who, seen, thrown };
    let level = state.levels.get(call.site.0 as usize).copied().unwrap_or(0);
    let before = match u64::try_from(who.before) {
        Ok(before) => before,
        Err(_) if level & level::COUNT == 0 => 0,
        Err(_) if seen == Seen::Boolean(true) => session.count_true(call.site),
        Err(_) => session.count(call.site),
    };
    let answer = if state.operations.has(call.site) {
        let side = match (call.seen, thrown) {
            (Seen::Key(result), _) => operations::Side::Ends(result),
            (_, Some(thrown)) => operations::Side::Fails(thrown),
            _ => operations::Side::Ends(0),
        };
        operate(state, session, &call, level, side)
    } else if level & level::DECIDE != 0 && (before < TIMED_EVERY || before.is_multiple_of(TIMED_EVERY)) {
        timed(state, session, &call, level, before)
    } else {
        answer(state, session, &call, level, before)
    };
    if level & level::MARK != 0 {
        state.arsenal.mark(session.trial(), call.site);
    }
    answer
}

/// Everything but the record of a hit that is counted.
pub(crate) fn rest(state: &'static State, session: &Session, call: &Call, level: u8) -> Answer {
    if level & !(level::COUNT | fast::AGENT_ONLY) == 0 {
        return Answer::GoOn;
    }
    let answer = answer(state, session, call, level, u64::try_from(call.who.before).unwrap_or(0));
    if level & level::MARK != 0 {
        state.arsenal.mark(session.trial(), call.site);
    }
    answer
}

/// The bits of a level that ask for nothing here: the hit is counted, and marks are set by the caller.
const ASIDE: u8 = level::COUNT | level::MARK | fast::AGENT_ONLY;

/// A decision, and how long it takes where nothing comes of it.
#[cold]
#[inline(never)]
fn timed(state: &'static State, session: &Session, call: &Call, level: u8, before: u64) -> Answer {
    let begun = clock::ticks();
    let answer = answer(state, session, call, level, before);
    if answer == Answer::GoOn {
        let hits = if before < TIMED_EVERY { 1 } else { TIMED_EVERY };
        session.decided(clock::ticks().saturating_sub(begun), hits);
    }
    answer
}

#[inline(always)]
fn answer(state: &'static State, session: &Session, call: &Call, mut level: u8, before: u64) -> Answer {
    if level & level::DECIDE != 0 && !state.arsenal.may_be_due(call.site, before) {
        level &= !level::DECIDE;
    }
    if level & !ASIDE == 0 {
        return Answer::GoOn;
    }
    let work = |thread: &RefCell<ThreadState>| {
        let Ok(mut thread) = thread.try_borrow_mut() else { return Answer::GoOn };
        let mut thread = thread.working(call.who.carrier);
        // SAFETY: the JVM passed this thread's environment to the native method that called.
        let jni = unsafe { Jni::new(call.env) };
        if level & level::TRACK == 0 {
            return serve(state, session, jni, &mut thread, call, level, before);
        }
        thread.identify(state, session, jni, call.who.who);
        let track = |thread: &mut ThreadState, side| {
            thread.track(&state.trails, session, side, call.site, call.value())
        };
        track(&mut thread, Side::Into);
        let answer = serve(state, session, jni, &mut thread, call, level & !level::TRACK, before);
        track(&mut thread, Side::OutOf);
        answer
    };
    CURRENT.try_with(work).unwrap_or(Answer::GoOn)
}

#[inline(always)]
fn serve(
    state: &'static State,
    session: &Session,
    jni: Jni,
    thread: &mut ThreadState,
    call: &Call,
    level: u8,
    before: u64,
) -> Answer {
    let who = call.who.who;
    let is_plain = level & !ASIDE == level::EVENT;
    if is_plain && call.thrown.is_none() && !matches!(call.seen, Seen::Key(_)) {
        thread.identify(state, session, jni, who);
        thread.ring(session).hit(session.trial(), call.site.0, call.flags(), clock::ticks());
        return Answer::GoOn;
    }
    if level & level::STATE != 0
        && let Some(step) = state.tasks.step(call.site)
    {
        thread.identify(state, session, jni, who);
        thread.step(session, step);
    }
    if level & (level::EVENT | level::DECIDE) == 0 {
        return Answer::GoOn;
    }
    rare(state, session, jni, thread, call, level, before)
}

/// Everything but counts and plain events.
#[cold]
fn rare(
    state: &'static State,
    session: &Session,
    jni: Jni,
    thread: &mut ThreadState,
    call: &Call,
    level: u8,
    before: u64,
) -> Answer {
    if level & level::EVENT != 0 {
        thread.identify(state, session, jni, call.who.who);
        let stack = if level & level::STACK != 0 {
            let count = session.trial().stack_frames() as usize;
            let frames = state.stacks.capture_nearest(state.jvmti, jni, count);
            state.stacks.intern(state.jvmti, jni, session, &frames).0
        } else {
            0
        };
        let named = call
            .thrown
            .and_then(|it| jni.class_of(it))
            .and_then(|class| state.jvmti.class_signature(class).ok())
            .map_or(0, |signature| session.string(&class_of_signature(&signature)).0);
        let string = if let Seen::Key(key) = call.seen { key as u32 } else { named };
        thread.ring(session).hit_with(session.trial(), call.site.0, call.flags(), string, stack);
    }
    if level & level::DECIDE == 0 {
        return Answer::GoOn;
    }
    let mut hit = Hit { state, session, jni, thread, who: call.who.who, seen: call.seen };
    state.arsenal.decide(&mut hit, call.site, before)
}

impl Call {
    /// A hit that saw nothing, or of which that is recorded already.
    pub(crate) fn plain(env: *mut JNIEnv, site: SiteId, who: Who) -> Call {
        Call { env, site, who, seen: Seen::Nothing, thrown: None }
    }

    /// The value that the hook saw, as a path has it.
    fn value(&self) -> u32 {
        match self.seen {
            Seen::Boolean(value) => value.into(),
            Seen::Key(key) => key as u32,
            Seen::Nothing => 0,
        }
    }

    /// What an event says of the value that the hook saw.
    fn flags(&self) -> u8 {
        match self.seen {
            Seen::Boolean(value) => value.into(),
            Seen::Nothing | Seen::Key(_) => 0,
        }
    }
}

/// What the helper's native methods answer: bit 1 asks for a pause, bit 2 for another constant.
const PAUSE: jint = 2;
const REPLACE: jint = 4;

/// The hook saw the exception, the value or the key that comes first, if any.
extern "system" fn enter(
    env: *mut JNIEnv,
    _: jclass,
    site: jint,
    who: jlong,
    carrier: jlong,
    before: jlong,
) -> jint {
    let who = Who { who, carrier, before };
    guarded(0, || pause_of(handle(env, site, who, Seen::Nothing, None)))
}

extern "system" fn enter_caught(
    env: *mut JNIEnv,
    _: jclass,
    thrown: jobject,
    site: jint,
    who: jlong,
    carrier: jlong,
    before: jlong,
) -> jint {
    let who = Who { who, carrier, before };
    guarded(0, || pause_of(handle(env, site, who, Seen::Nothing, Some(thrown))))
}

extern "system" fn enter_key(
    env: *mut JNIEnv,
    _: jclass,
    key: jint,
    site: jint,
    who: jlong,
    carrier: jlong,
    before: jlong,
) -> jint {
    let who = Who { who, carrier, before };
    guarded(0, || pause_of(handle(env, site, who, Seen::Key(key), None)))
}

extern "system" fn enter_operation(
    env: *mut JNIEnv,
    _: jclass,
    first: jobject,
    second: jobject,
    number: jint,
    site: jint,
    who: jlong,
    carrier: jlong,
) -> jint {
    let operands = operations::Operands { first, second, number };
    let call = Call::plain(env, SiteId(site as u32), Who::uncounted(who, carrier));
    guarded(0, || operation(&call, operations::Side::Begins(operands)))
}

extern "system" fn enter_returned(
    env: *mut JNIEnv,
    _: jclass,
    result: jobject,
    site: jint,
    who: jlong,
    carrier: jlong,
) -> jint {
    let call = Call::plain(env, SiteId(site as u32), Who::uncounted(who, carrier));
    guarded(0, || operation(&call, operations::Side::Returns(result)))
}

fn operation(call: &Call, side: operations::Side) -> jint {
    let Some(state) = State::get() else { return 0 };
    let Some(session) = state.session() else { return 0 };
    let level = state.levels.get(call.site.0 as usize).copied().unwrap_or(0);
    if level & level::COUNT != 0 {
        session.count(call.site);
    }
    let answer = operate(state, session, call, level, side);
    if level & level::MARK != 0 {
        state.arsenal.mark(session.trial(), call.site);
    }
    pause_of(answer)
}

pub(crate) fn pause_of(answer: Answer) -> jint {
    match answer {
        Answer::Pause | Answer::Wait => PAUSE,
        // With a pause, in case that the thread waits at the same hit.
        Answer::Say(_) => PAUSE,
        Answer::Replace => PAUSE | REPLACE,
        Answer::GoOn | Answer::Thrown => 0,
    }
}

extern "system" fn enter_bool(
    env: *mut JNIEnv,
    _: jclass,
    value: jboolean,
    site: jint,
    who: jlong,
    carrier: jlong,
    before: jlong,
) -> jint {
    let value = value != 0;
    let who = Who { who, carrier, before };
    guarded(jint::from(value), || {
        let answer = handle(env, site, who, Seen::Boolean(value), None);
        let said = if let Answer::Say(said) = answer { said } else { value };
        pause_of(answer) | jint::from(said)
    })
}

/// An address that hooks in Java work on; 0 if there is none, because this JVM takes no part in the trial.
extern "system" fn base(_: *mut JNIEnv, _: jclass, which: jint) -> jlong {
    let address = || {
        let state = State::get()?;
        let session = state.session()?;
        let (counters, trues) = session.counter_addresses();
        Some(match which {
            fast::COUNTERS => counters,
            fast::TRUES => trues,
            fast::DUE => state.arsenal.due_address(),
            fast::LANES_AT => lanes().as_ptr() as u64,
            fast::CLOCK => session.trial().clock_word().map_or(0, |it| it.as_ptr() as u64),
            _ => 0,
        })
    };
    guarded(None, address).unwrap_or(0) as jlong
}

extern "system" fn pending(_: *mut JNIEnv, _: jclass) -> jlong {
    let take =
        || CURRENT.try_with(|it| it.try_borrow_mut().map_or(0, |mut it| std::mem::take(&mut it.pending_ns)));
    guarded(0, || take().unwrap_or(0) as jlong)
}

/// The candidate at which the thread is to wait for another; -1 if it is not to.
extern "system" fn awaited(_: *mut JNIEnv, _: jclass) -> jint {
    let take = || CURRENT.try_with(|it| it.try_borrow_mut().ok().and_then(|mut it| it.awaits.take()));
    guarded(-1, || take().ok().flatten().map_or(-1, |it| it as jint))
}

/// How long the thread sleeps before it asks again whether it may go on from that candidate; 0 if it may.
extern "system" fn nap(env: *mut JNIEnv, _: jclass, candidate: jint) -> jlong {
    guarded(0, || {
        let Some(state) = State::get() else { return 0 };
        let Some(session) = state.session() else { return 0 };
        // SAFETY: the JVM passed this thread's environment to this native method.
        let jni = unsafe { Jni::new(env) };
        // Taken, so that what the agent itself makes the JVM run reaches no hook.
        let work = |thread: &RefCell<ThreadState>| {
            let _taken = thread.try_borrow_mut();
            state.arsenal.orders.nap(state, session, jni, candidate as u32)
        };
        CURRENT.try_with(work).unwrap_or(0) as jlong
    })
}

/// The bits of the number that is to be loaded.
extern "system" fn number(_: *mut JNIEnv, _: jclass) -> jlong {
    guarded(0, || match replacement() {
        Some(Replacement::Number(bits)) => bits as jlong,
        _ => 0,
    })
}

/// The string that is to be loaded.
extern "system" fn text(env: *mut JNIEnv, _: jclass) -> jobject {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the JVM passed this thread's environment to this native method.
        let jni = unsafe { Jni::new(env) };
        let Some(Replacement::Text(text)) = replacement() else { return std::ptr::null_mut() };
        jni.string(&text).unwrap_or(std::ptr::null_mut())
    })
}

fn replacement() -> Option<Replacement> {
    CURRENT.try_with(|it| it.try_borrow_mut().ok()?.constant.take()).ok().flatten()
}

extern "system" fn levels(env: *mut JNIEnv, _: jclass) -> jobject {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the JVM passed this thread's environment to this native method.
        let jni = unsafe { Jni::new(env) };
        let levels = State::get().map_or(&[] as &[u8], |state| &state.levels);
        jni.byte_array(levels).unwrap_or(std::ptr::null_mut())
    })
}

/// Features of the JVM that the helper can use.
fn features(jni: Jni) -> Features {
    /// `Thread.threadId` came with 19, and JNI tells the version from there on.
    const JNI_VERSION_19: jint = 0x0013_0000;
    let virtual_threads = jni.version() >= JNI_VERSION_19;
    let has = |(class, (name, descriptor), is_static): (&str, (&str, &str), bool)| {
        let texts = CString::new(class).ok().zip(CString::new(name).ok()).zip(CString::new(descriptor).ok());
        let Some(((class, name), descriptor)) = texts else { return false };
        let Some(class) = jni.find_class(&class) else { return false };
        let method = match is_static {
            true => jni.static_method(class, &name, &descriptor),
            false => jni.method(class, &name, &descriptor),
        };
        jni.delete_local(class);
        method.is_some()
    };
    let wants = State::get().is_some_and(|state| state.wants_fast);
    Features { virtual_threads, fast: wants && fast::needs(virtual_threads).into_iter().all(has) }
}

/// Defines the helper classes and binds their native methods.
pub(crate) fn install(jni: Jni) -> Result<(), &'static str> {
    let features = features(jni);
    let class = define(jni, helper::CLASS, &helper::class_file(features))?;
    if features.fast {
        let fast = define(jni, fast::CLASS, &fast::class_file(features.virtual_threads))?;
        jni.delete_local(fast);
    }
    let binder = define(jni, helper::BINDER, &helper::binder_class_file())?;
    register(jni, binder, &[(helper::BIND, bind as *mut c_void)])?;
    let (name, descriptor) = (c"run", c"(Ljava/lang/Object;)Ljava/lang/Object;");
    let bound = jni
        .static_method(binder, name, descriptor)
        .and_then(|run| jni.call_static(binder, run, &[object(class)]));
    if bound.is_none() {
        return Err("the JVM refused the helper's native methods");
    }
    // Initialises the class now: levels never change once patched code can run.
    let initialised = jni.static_field(class, c"LEVEL", c"[B");
    [class, binder].into_iter().chain(bound).for_each(|it| jni.delete_local(it));
    if let Some(state) = State::get().filter(|_| features.fast) {
        state.says_fast();
    }
    if initialised { Ok(()) } else { Err("the helper class could not be initialised") }
}

fn define(jni: Jni, name: &str, bytes: &[u8]) -> Result<jclass, &'static str> {
    let name = CString::new(name).map_err(|_| "a class's name is broken")?;
    jni.define_class(&name, bytes).ok_or("the JVM refused the helper class")
}

/// A native method: its name, its descriptor, its code.
type Native<'a> = ((&'a str, &'a str), *mut c_void);

fn register(jni: Jni, class: jclass, natives: &[Native<'_>]) -> Result<(), &'static str> {
    let text = |text: &str| CString::new(text).map_err(|_| "a native's name is broken");
    let mut texts = Vec::new();
    for ((name, descriptor), _) in natives {
        texts.push((text(name)?, text(descriptor)?));
    }
    let mut methods = Vec::new();
    for ((name, signature), (_, function)) in texts.iter().zip(natives) {
        methods.push(JNINativeMethod {
            name: name.as_ptr(),
            signature: signature.as_ptr(),
            fnPtr: *function,
        });
    }
    let registered = jni.register_natives(class, &methods);
    if registered { Ok(()) } else { Err("the JVM refused the helper's native methods") }
}

/// The binder's native method: binds those of the helper. Answers null if that fails.
extern "system" fn bind(env: *mut JNIEnv, _: jclass, helper: jclass) -> jobject {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the JVM passed this thread's environment to this native method.
        let jni = unsafe { Jni::new(env) };
        let natives: [Native<'_>; 15] = [
            (helper::BASE, base as *mut c_void),
            (helper::ENTER_KEY, enter_key as *mut c_void),
            (helper::LEVELS, levels as *mut c_void),
            (helper::ENTER, enter as *mut c_void),
            (helper::ENTER_CAUGHT, enter_caught as *mut c_void),
            (helper::ENTER_BOOL, enter_bool as *mut c_void),
            (helper::ENTER_OPERATION, enter_operation as *mut c_void),
            (helper::ENTER_RETURNED, enter_returned as *mut c_void),
            (values::ENTER_VALUE, values::enter_value as *mut c_void),
            (values::ENTER_REFERENCE, values::enter_reference as *mut c_void),
            (helper::PENDING, pending as *mut c_void),
            (helper::AWAITED, awaited as *mut c_void),
            (helper::NAP, nap as *mut c_void),
            (helper::NUMBER, number as *mut c_void),
            (helper::TEXT, text as *mut c_void),
        ];
        if register(jni, helper, &natives).is_ok() { helper } else { std::ptr::null_mut() }
    })
}
