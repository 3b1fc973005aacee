//! The agent: a JVMTI library that patches classes as they load, and then decides, throws, delays and records.
//!
//! The tool decides and the agent obeys: the instrumentation map says which instruction of which class gets a hook,
//! the trial's file says what each hook does. A hooked class calls the [`helper`], which counts and writes small events in Java ([`fast`])
//! and has its slow path in [`natives`]; both classes are made with [`emit`]; [`decide`] holds the candidates, [`exceptions`] builds what is thrown, [`tasks`] follows the abstract
//! states of threads, [`trails`] the calls, loops and branches around them, [`operations`] files, connections and what threads do with each other, [`transform`] patches.
//! [`values`], [`sights`] and [`objects`] are what hooks see, [`monitors`] what `synchronized` methods hold. The
//! [`watcher`] is the agent's one thread, which writes a [`dump`] of the JVM's threads when the tool asks for it.
//!
//! Rules that hold everywhere here: nothing is printed on the target's stdout or stderr; no panic leaves a
//! callback; no lock of ours is held while the JVM is called; a JVM that is not the target is left alone; and what
//! does not work is said in the trial's file or in the agent's log, so that the tool can say it to a person.

mod decide;
mod dump;
mod emit;
mod exceptions;
mod fast;
mod helper;
mod jni;
mod jvmti;
mod loading;
mod log;
mod mdc;
mod monitors;
mod natives;
mod objects;
mod operations;
mod options;
mod sights;
mod stacks;
mod state;
mod tasks;
mod threads;
mod trails;
mod transform;
mod values;
mod watcher;

use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use hypocenter_trace::{PatchTally, ReportKind, clock};
use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, jclass, jint, jobject};
use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_START,
    JVMTI_VERSION_1_1, jvmtiCapabilities, jvmtiEnv, jvmtiEventCallbacks,
};

use crate::jni::Jni;
use crate::jvmti::Jvmti;
use crate::options::Options;
use crate::state::State;
use crate::transform::Transform;
use crate::watcher::NO_SITE;

/// Local references that a callback may make beside those it is given.
const SPARE_LOCALS: usize = 32;
/// Set once hooked classes can call the helper.
static READY: AtomicBool = AtomicBool::new(false);
/// The environment that retransforms, while it does.
static RETRANSFORMER: OnceLock<Jvmti> = OnceLock::new();
/// The JVM, for the second environment and for the watcher.
static VM: OnceLock<Vm> = OnceLock::new();

struct Vm(*mut JavaVM);
// SAFETY: the invocation interface may be used from any thread.
unsafe impl Send for Vm {}
// SAFETY: as above.
unsafe impl Sync for Vm {}

/// Runs a callback's body; a panic ends here.
fn guarded(place: &str, body: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(body)).is_err() {
        log::line(&format!("a bug of ours: panic in {place}"));
    }
}

/// Called by the JVM when it starts. Always answers "fine": an agent that cannot work says so in its log and leaves
/// the JVM alone.
///
/// # Safety
/// The JVM calls it with a valid VM and options that are null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *mut c_char, _: *mut c_void) -> jint {
    guarded("Agent_OnLoad", || {
        let text = if options.is_null() {
            String::new()
        } else {
            // SAFETY: by the contract it is a C string.
            unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned()
        };
        if let Err(why) = start(vm, &text) {
            log::line(&format!("the agent does not work in this JVM: {why}"));
        }
    });
    0
}

/// A new JVMTI environment.
fn environment(vm: *mut JavaVM) -> Option<Jvmti> {
    let mut env: *mut c_void = std::ptr::null_mut();
    // SAFETY: the VM is live, and `env` is a valid place for the result.
    let code = unsafe { ((**vm).GetEnv)(vm, &mut env, JVMTI_VERSION_1_1) };
    // SAFETY: on success it is a JVMTI environment, which nobody disposes of.
    (code == 0 && !env.is_null()).then(|| unsafe { Jvmti::new(env.cast::<jvmtiEnv>()) })
}

fn start(vm: *mut JavaVM, text: &str) -> Result<(), String> {
    let options = Options::parse(text)?;
    log::set_path(log::path_for(&options.trial));
    // The default prints on the target's stderr.
    std::panic::set_hook(Box::new(|panic| log::line(&format!("a bug of ours: {panic}"))));
    let jvmti = environment(vm).ok_or("the JVM gives no JVMTI environment")?;
    let java = jvmti.system_property(c"java.vm.version").unwrap_or_default();
    State::start(jvmti, options, java).map_err(|error| error.to_string())?;
    let _ = VM.set(Vm(vm));
    // Without the capability to retransform: such an environment sees a class before those that have it, as it is
    // in the class path, unless an agent of the same kind was loaded earlier.
    let mut capabilities = jvmtiCapabilities::default();
    capabilities.set_can_generate_all_class_hook_events(true);
    capabilities.set_can_get_line_numbers(true);
    capabilities.set_can_get_source_file_name(true);
    // It costs where objects are tagged, so only what asks for them has it.
    capabilities.set_can_tag_objects(State::get().is_some_and(State::sees_objects));
    let failed = |what: &'static str| move |code| format!("{what}: {code}");
    jvmti.add_capabilities(&capabilities).map_err(failed("the JVM refuses the capabilities"))?;
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.VMInit = Some(vm_init);
    callbacks.VMDeath = Some(vm_death);
    callbacks.VMStart = Some(vm_start);
    callbacks.ClassFileLoadHook = Some(class_file_load_hook);
    jvmti.set_callbacks(&callbacks).map_err(failed("the JVM refuses the callbacks"))?;
    for event in
        [JVMTI_EVENT_VM_START, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK]
    {
        jvmti.set_event(event, true).map_err(failed("the JVM refuses an event"))?;
    }
    Ok(())
}

unsafe extern "system" fn vm_start(_: *mut jvmtiEnv, env: *mut JNIEnv) {
    guarded("VMStart", || {
        // SAFETY: the JVM passes this thread's environment.
        let jni = unsafe { Jni::new(env) };
        match natives::install(jni) {
            Ok(()) => READY.store(true, Ordering::Release),
            Err(why) => log::line(&format!("the agent does not work in this JVM: {why}")),
        }
    });
}

/// Patches what was loaded before the agent could: classes of the boot loader.
unsafe extern "system" fn vm_init(_: *mut jvmtiEnv, env: *mut JNIEnv, _: jobject) {
    guarded("VMInit", || {
        let Some(state) = State::get() else { return };
        watcher::jvm_is_live();
        if !READY.load(Ordering::Acquire) {
            return;
        }
        // SAFETY: the JVM passes this thread's environment.
        let jni = unsafe { Jni::new(env) };
        let mut early = Vec::new();
        let loaded = state.jvmti.loaded_classes().unwrap_or_default();
        jni.expect_locals(loaded.len() + SPARE_LOCALS);
        for class in loaded {
            let signature = state.jvmti.class_signature(class).unwrap_or_default();
            let name = signature.strip_prefix('L').and_then(|it| it.strip_suffix(';')).unwrap_or("");
            if state.map.class(name.as_bytes()).is_some() && state.jvmti.is_modifiable(class) {
                early.push(class);
            } else {
                jni.delete_local(class);
            }
        }
        if early.is_empty() {
            return;
        }
        if let Err(why) = retransform(&early)
            && let Some(session) = state.join()
        {
            session.report(
                ReportKind::Trouble,
                NO_SITE,
                &format!("hooks left out in classes that were loaded before the agent: {why}; place them where these are called"),
            );
        }
    });
}

fn retransform(classes: &[jclass]) -> Result<(), String> {
    let vm = VM.get().ok_or("no VM")?;
    let jvmti = environment(vm.0).ok_or("the JVM gives no second JVMTI environment")?;
    let mut capabilities = jvmtiCapabilities::default();
    capabilities.set_can_retransform_classes(true);
    capabilities.set_can_generate_all_class_hook_events(true);
    let text = |code: jvmti::Code| code.to_string();
    jvmti.add_capabilities(&capabilities).map_err(text)?;
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.ClassFileLoadHook = Some(retransform_hook);
    jvmti.set_callbacks(&callbacks).map_err(text)?;
    let _ = RETRANSFORMER.set(jvmti);
    jvmti.set_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, true).map_err(text)?;
    // One class that cannot be changed fails the whole call, so on trouble they go one by one.
    let result = jvmti.retransform(classes).map_err(text).or_else(|_| {
        let failed = |class: &jclass| {
            let why = jvmti.retransform(&[*class]).err()?;
            let name = jvmti.class_signature(*class).unwrap_or_default();
            let name = name.trim_start_matches('L').trim_end_matches(';').replace('/', ".");
            Some(format!("{name} ({why})"))
        };
        let failed: Vec<String> = classes.iter().filter_map(failed).collect();
        if failed.is_empty() {
            Ok(())
        } else {
            Err(format!("the JVM refuses to change {}", failed.join(", ")))
        }
    });
    jvmti.set_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, false).map_err(text)?;
    result
}

unsafe extern "system" fn vm_death(_: *mut jvmtiEnv, _: *mut JNIEnv) {
    guarded("VMDeath", || {
        if let Some(session) = State::get().and_then(State::session) {
            session.end();
        }
    });
}

/// Sees every class that is loaded; classes that are retransformed come by the other environment.
unsafe extern "system" fn class_file_load_hook(
    _: *mut jvmtiEnv,
    _: *mut JNIEnv,
    redefined: jclass,
    _loader: jobject,
    name: *const c_char,
    _domain: jobject,
    len: jint,
    data: *const c_uchar,
    new_len: *mut jint,
    new_data: *mut *mut c_uchar,
) {
    // A class that somebody redefines is given from the outside and has no place in the map.
    if !redefined.is_null() || name.is_null() || !READY.load(Ordering::Acquire) {
        return;
    }
    let Some(state) = State::get() else { return };
    guarded("ClassFileLoadHook", || {
        // SAFETY: the JVM passes the class's name as a C string, its bytes with their length, and valid places for
        // the result.
        unsafe { transform_class(state, state.jvmti, name, len, data, new_len, new_data) };
    });
}

unsafe extern "system" fn retransform_hook(
    _: *mut jvmtiEnv,
    _: *mut JNIEnv,
    redefined: jclass,
    _loader: jobject,
    name: *const c_char,
    _domain: jobject,
    len: jint,
    data: *const c_uchar,
    new_len: *mut jint,
    new_data: *mut *mut c_uchar,
) {
    if redefined.is_null() || name.is_null() {
        return;
    }
    let (Some(state), Some(&jvmti)) = (State::get(), RETRANSFORMER.get()) else { return };
    guarded("ClassFileLoadHook of a loaded class", || {
        // SAFETY: as for the other hook.
        unsafe { transform_class(state, jvmti, name, len, data, new_len, new_data) };
    });
}

/// # Safety
/// `name` is a C string, `data` has `len` bytes, and the result may be written.
unsafe fn transform_class(
    state: &'static State,
    jvmti: Jvmti,
    name: *const c_char,
    len: jint,
    data: *const c_uchar,
    new_len: *mut jint,
    new_data: *mut *mut c_uchar,
) {
    // SAFETY: by the contract.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(entry) = state.map.class(name.to_bytes()) else { return };
    let Some(session) = state.join() else { return };
    // The time of this thread alone: on a busy machine the wall clock would mostly count other people's work.
    let started = clock::thread_nanos();
    // SAFETY: by the contract.
    let bytes = unsafe { std::slice::from_raw_parts(data, len.max(0) as usize) };
    let transform =
        Transform { map: state.map, levels: &state.levels, with_values: &state.with_values, session };
    let mut tally = PatchTally { bytes: bytes.len() as u64, ..PatchTally::default() };
    let patched = transform.class(entry, bytes, &mut tally);
    if let Some(patched) = patched {
        match jvmti.allocate_copy(&patched) {
            Ok(memory) => {
                // SAFETY: by the contract; the JVM frees the memory, which it allocated.
                unsafe {
                    *new_len = patched.len() as jint;
                    *new_data = memory;
                }
            }
            Err(code) => {
                session.report(
                    ReportKind::Trouble,
                    0,
                    &format!("no memory for {}: {code}", name.to_string_lossy()),
                );
                return;
            }
        }
    }
    tally.nanos = clock::thread_nanos().saturating_sub(started);
    session.patched(entry.index, &tally);
}
