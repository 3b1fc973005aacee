//! The one thread of the agent: it sleeps until the tool asks for a dump of this JVM's threads.
//!
//! It is a native thread that the JVM does not know, so the target does not see it among its own, and the JVM does not
//! wait for it when it ends. It sleeps in the kernel, on a word of the trial's file, and is attached to the JVM only
//! while it dumps. It starts when the JVM has both joined the trial and come to life, whichever is later.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hypocenter_plan::ThreadDump;
use hypocenter_trace::{ReportKind, Session};
use jvmti_bindings::sys::jni::{JNIEnv, JavaVMAttachArgs};

use crate::jni::Jni;
use crate::state::State;
use crate::threads::CURRENT;
use crate::{VM, Vm, dump};

/// Its name for the operating system, and for the JVM while it dumps. A thread without a name would use up one of the
/// JVM's numbers for such threads, which the target's own get.
const NAME: &std::ffi::CStr = c"hypocenter";
/// The subject of a report that is about no site.
pub(crate) const NO_SITE: u32 = u32::MAX;

/// Whether the JVM lets threads attach and run Java code.
static LIVE: AtomicBool = AtomicBool::new(false);
static STARTED: AtomicBool = AtomicBool::new(false);

/// Says that the JVM has come to life.
pub(crate) fn jvm_is_live() {
    LIVE.store(true, Ordering::SeqCst);
    start_when_due();
}

/// Starts the thread if it is time and it does not run yet.
pub(crate) fn start_when_due() {
    if !LIVE.load(Ordering::SeqCst) || STARTED.load(Ordering::Relaxed) {
        return;
    }
    let Some((state, session)) = State::get().and_then(|state| Some((state, state.session()?))) else {
        return;
    };
    if STARTED.swap(true, Ordering::SeqCst) {
        return;
    }
    start_cutting(state, session);
    if let Err(error) = spawn_deaf(move || watch(state, session)) {
        trouble(session, &format!("thread dumps are not possible: no thread could be started: {error}"));
    }
}

/// Starts the thread that cuts connections, where the plan may need it.
fn start_cutting(state: &'static State, session: &'static Session) {
    let partitions = &state.lasting.partitions;
    if partitions.is_empty() {
        return;
    }
    if let Err(error) = spawn_deaf(move || partitions.follow(session)) {
        trouble(session, &format!("partitions are not possible: no thread could be started: {error}"));
    }
}

/// Starts a thread that no signal is delivered to: they are the target's. The ones by which the processor speaks stay,
/// because the JVM uses them in every thread that runs Java code.
fn spawn_deaf(body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (mut deaf, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: sigfillset initialises the set, which the other functions then change or read; `before` is a valid place
    // for the old mask.
    unsafe {
        libc::sigfillset(deaf.as_mut_ptr());
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP] {
            libc::sigdelset(deaf.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, deaf.as_ptr(), before.as_mut_ptr());
    }
    // A new thread has the mask of the one that starts it.
    let name = NAME.to_string_lossy().into_owned();
    let started = std::thread::Builder::new().name(name).spawn(body);
    // SAFETY: `before` was filled by the call above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    started.map(drop)
}

fn trouble(session: &Session, why: &str) {
    session.report(ReportKind::Trouble, NO_SITE, why);
}

/// Answers every request, until the process ends.
fn watch(state: &'static State, session: &'static Session) {
    let mut known = session.dump_known();
    loop {
        known = match session.trial().wait_for_dump_request(known) {
            Ok(request) => request,
            Err(error) => {
                return trouble(session, &format!("thread dumps are not possible: the kernel says {error}"));
            }
        };
        let answered = catch_unwind(AssertUnwindSafe(|| answer(state, known)))
            .unwrap_or_else(|_| Err("a bug of ours: panic in a thread dump".into()));
        if let Err(why) = &answered {
            trouble(session, &format!("no thread dump: {why}"));
        }
        session.dumped(known, answered.is_err());
    }
}

fn answer(state: &'static State, request: u32) -> Result<(), String> {
    let pid = std::process::id();
    let dump = CURRENT.with(|current| {
        // Taken for as long as Java code runs here, so that a hook in it does nothing but count.
        let _taken = current.try_borrow_mut();
        let attached = Attached::new().ok_or("the JVM lets no thread attach any more")?;
        dump::take(state.jvmti, attached.jni, &state.node, pid)
    })?;
    let directory = state.directory().join("dumps");
    let name = format!("{}-{pid}-{request}.json", safe_name(&state.node));
    write(&directory, &name, &dump).map_err(|error| format!("{}: {error}", directory.join(name).display()))
}

/// The current thread as one of the JVM's, until it is dropped.
struct Attached {
    vm: &'static Vm,
    jni: Jni,
}

impl Attached {
    fn new() -> Option<Attached> {
        const JNI_VERSION_1_6: i32 = 0x0001_0006;
        let vm = VM.get()?;
        let mut args = JavaVMAttachArgs {
            version: JNI_VERSION_1_6,
            name: NAME.as_ptr().cast_mut(),
            group: std::ptr::null_mut(),
        };
        let mut env: *mut c_void = std::ptr::null_mut();
        let args: *mut c_void = (&raw mut args).cast();
        // SAFETY: the VM is never destroyed while this library is in the process; the arguments are of the type that
        // the function wants, and it only reads the name.
        let code = unsafe { ((**vm.0).AttachCurrentThreadAsDaemon)(vm.0, &mut env, args) };
        // SAFETY: on success it is this thread's environment, and it is used until the thread is detached.
        (code == 0 && !env.is_null()).then(|| Attached { vm, jni: unsafe { Jni::new(env.cast::<JNIEnv>()) } })
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // SAFETY: this thread was attached by us, and no Java frame is on its stack.
        unsafe { ((**self.vm.0).DetachCurrentThread)(self.vm.0) };
    }
}

/// Writes a dump under another name first: whoever sees the file sees all of it.
fn write(directory: &Path, name: &str, dump: &ThreadDump) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let part = directory.join(format!(".{name}.part"));
    let json = serde_json::to_vec(dump)?;
    let written = std::fs::write(&part, json).and_then(|()| std::fs::rename(&part, directory.join(name)));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// A node's name as part of a file's name.
fn safe_name(node: &str) -> String {
    const CHARS_MAX: usize = 64;
    let safe = |it: char| if it.is_ascii_alphanumeric() || "-_.".contains(it) { it } else { '_' };
    node.chars().take(CHARS_MAX).map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_never_names_another_directory() {
        assert_eq!(safe_name("zk-1.example_a"), "zk-1.example_a");
        assert_eq!(safe_name("../../etc/x y\u{e9}"), ".._.._etc_x_y_");
        assert_eq!(safe_name(&"n".repeat(1000)).len(), 64);
    }
}
