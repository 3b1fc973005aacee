//! A dump of all threads of this JVM, by its own `ThreadMXBean`: it works while the target's threads are deadlocked, and
//! it names the owners of locks without a JVMTI capability that would cost the target its escape analysis.

use std::ffi::CStr;

use hypocenter_plan::{DumpedThread, FORMAT_VERSION, Frame, ThreadDump, WaitsFor};
use jvmti_bindings::sys::jni::{jclass, jmethodID, jobject, jvalue};

use crate::helper;
use crate::jni::Jni;
use crate::jvmti::Jvmti;
use crate::loading::Loading;

/// The deepest stack that is written down; a recursion without end has more, and all alike.
const FRAMES_MAX: i32 = 1024;

const STRING: &CStr = c"()Ljava/lang/String;";
const LONG: &CStr = c"()J";
const FACTORY: &str = "java.lang.management.ManagementFactory";

/// Dumps the threads. The current one is attached to the JVM, and left out.
pub(crate) fn take(jvmti: Jvmti, jni: Jni, node: &str, pid: u32) -> Result<ThreadDump, String> {
    let loading = Loading::new(jvmti, jni).ok_or("the JVM's reflection could not be reached")?;
    // All of these are the boot loader's: no loader of the target is asked, which may be part of a deadlock.
    let load = |name: &str| {
        loading.load(name, std::ptr::null_mut()).map_err(|thrown| {
            format!(
                "{thrown}: the JVM runs without the module java.management; start it with --add-modules \
                 java.management, or put the module into its image"
            )
        })
    };
    let factory = load(FACTORY)?;
    let bean_type = load("java.lang.management.ThreadMXBean")?;
    let reading = Reading {
        jni,
        thread: ThreadMethods::new(jni, load("java.lang.management.ThreadInfo")?)?,
        frame: FrameMethods::new(jni, load("java.lang.StackTraceElement")?)?,
        to_string: method(jni, load("java.lang.Object")?, c"toString", STRING)?,
    };
    const GET_BEAN: &CStr = c"()Ljava/lang/management/ThreadMXBean;";
    const DUMP: &CStr = c"(ZZ)[Ljava/lang/management/ThreadInfo;";
    let get_bean = jni
        .static_method(factory, c"getThreadMXBean", GET_BEAN)
        .ok_or("ManagementFactory.getThreadMXBean is missing or fails to initialise")?;
    let bean = jni
        .try_call_static(factory, get_bean, &[])
        .map_err(|thrown| format!("ManagementFactory.getThreadMXBean: {thrown}"))?;
    let dump = method(jni, bean_type, c"dumpAllThreads", DUMP)?;
    // Monitors and ownable synchronizers both.
    let infos = jni
        .try_call_object(bean, dump, &[jvalue { z: 1 }, jvalue { z: 1 }])
        .map_err(|thrown| format!("ThreadMXBean.dumpAllThreads: {thrown}"))?;
    let me = jvmti.current_thread().ok().and_then(|thread| jni.long_field(thread, c"tid"));
    let mut threads = Vec::new();
    for index in 0..jni.array_len(infos) {
        // A thread that has ended meanwhile is null.
        jni.frame(|| {
            let thread = reading.thread(jni.element(infos, index)?)?;
            if Some(thread.id) != me {
                threads.push(thread);
            }
            None
        });
    }
    Ok(ThreadDump { version: FORMAT_VERSION, node: node.to_owned(), pid, threads })
}

fn method(jni: Jni, class: jclass, name: &CStr, descriptor: &CStr) -> Result<jmethodID, String> {
    let missing =
        || format!("this JVM has no method {}{}", name.to_string_lossy(), descriptor.to_string_lossy());
    jni.method(class, name, descriptor).ok_or_else(missing)
}

struct ThreadMethods {
    name: jmethodID,
    id: jmethodID,
    state: jmethodID,
    /// Came with Java 9.
    is_daemon: Option<jmethodID>,
    lock: jmethodID,
    owner: jmethodID,
    owner_id: jmethodID,
    monitors: jmethodID,
    synchronizers: jmethodID,
    stack: jmethodID,
}

impl ThreadMethods {
    fn new(jni: Jni, class: jclass) -> Result<ThreadMethods, String> {
        let method = |name, descriptor| method(jni, class, name, descriptor);
        Ok(ThreadMethods {
            name: method(c"getThreadName", STRING)?,
            id: method(c"getThreadId", LONG)?,
            state: method(c"getThreadState", c"()Ljava/lang/Thread$State;")?,
            is_daemon: jni.method(class, c"isDaemon", c"()Z"),
            lock: method(c"getLockInfo", c"()Ljava/lang/management/LockInfo;")?,
            owner: method(c"getLockOwnerName", STRING)?,
            owner_id: method(c"getLockOwnerId", LONG)?,
            monitors: method(c"getLockedMonitors", c"()[Ljava/lang/management/MonitorInfo;")?,
            synchronizers: method(c"getLockedSynchronizers", c"()[Ljava/lang/management/LockInfo;")?,
            stack: method(c"getStackTrace", c"()[Ljava/lang/StackTraceElement;")?,
        })
    }
}

struct FrameMethods {
    class: jmethodID,
    method: jmethodID,
    file: jmethodID,
    line: jmethodID,
}

impl FrameMethods {
    fn new(jni: Jni, class: jclass) -> Result<FrameMethods, String> {
        let method = |name, descriptor| method(jni, class, name, descriptor);
        Ok(FrameMethods {
            class: method(c"getClassName", STRING)?,
            method: method(c"getMethodName", STRING)?,
            file: method(c"getFileName", STRING)?,
            line: method(c"getLineNumber", c"()I")?,
        })
    }
}

/// What is needed to read a `ThreadInfo`.
struct Reading {
    jni: Jni,
    thread: ThreadMethods,
    frame: FrameMethods,
    to_string: jmethodID,
}

impl Reading {
    fn thread(&self, info: jobject) -> Option<DumpedThread> {
        let (jni, of) = (self.jni, &self.thread);
        let id = jni.call_long(info, of.id)?;
        let state = jni.call_object(info, of.state, &[])?;
        let waits_for = jni.call_object(info, of.lock, &[]).and_then(|lock| {
            Some(WaitsFor {
                lock: self.string(lock, self.to_string)?,
                owner: self.string(info, of.owner),
                // Nobody is -1.
                owner_id: jni.call_long(info, of.owner_id).filter(|&owner| owner > 0),
            })
        });
        let mut locks = Vec::new();
        for held in [of.monitors, of.synchronizers] {
            let Some(held) = jni.call_object(info, held, &[]) else { continue };
            for index in 0..jni.array_len(held) {
                let Some(lock) = jni.element(held, index) else { continue };
                // A monitor that was entered twice is there twice.
                locks.extend(self.string(lock, self.to_string).filter(|lock| !locks.contains(lock)));
                jni.delete_local(lock);
            }
        }
        Some(DumpedThread {
            name: self.string(info, of.name).unwrap_or_default(),
            id,
            state: self.string(state, self.to_string)?,
            daemon: of.is_daemon.and_then(|it| jni.call_boolean(info, it)),
            waits_for,
            locks,
            frames: jni.call_object(info, of.stack, &[]).map(|it| self.frames(it)).unwrap_or_default(),
        })
    }

    fn frames(&self, stack: jobject) -> Vec<Frame> {
        let mut frames = Vec::new();
        for index in 0..self.jni.array_len(stack).min(FRAMES_MAX) {
            let Some(element) = self.jni.element(stack, index) else { continue };
            let class = self.string(element, self.frame.class).unwrap_or_default();
            if !helper::is_own(&class) {
                let method = self.string(element, self.frame.method).unwrap_or_default();
                let line = self.jni.call_int(element, self.frame.line).filter(|&line| line > 0);
                let at = self.string(element, self.frame.file).map(|file| match line {
                    Some(line) => format!("{file}:{line}"),
                    None => file,
                });
                frames.push(Frame { method: format!("{class}.{method}"), at });
            }
            self.jni.delete_local(element);
        }
        frames
    }

    /// What a method without arguments answers as a string; none for null.
    fn string(&self, object: jobject, method: jmethodID) -> Option<String> {
        let string = self.jni.call_object(object, method, &[])?;
        let text = self.jni.text(string);
        self.jni.delete_local(string);
        Some(text)
    }
}
