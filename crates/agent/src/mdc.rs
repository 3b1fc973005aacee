//! What the current thread carries in its mapped diagnostic context: programs that run several nodes in one JVM often
//! keep the node's name there, for their logs.

use std::ffi::CStr;
use std::sync::{Arc, Mutex, OnceLock};

use jvmti_bindings::sys::jni::{jmethodID, jobject};

use crate::exceptions::site_loader;
use crate::jni::{Jni, Weak, object};
use crate::jvmti::Jvmti;
use crate::loading::Loading;

/// The classes whose static method `get` reads the context. A program may have more than one of them and use any, so
/// all that are there are asked.
const LIBRARIES: [(&str, &CStr); 3] = [
    ("org.slf4j.MDC", c"(Ljava/lang/String;)Ljava/lang/String;"),
    ("org.apache.logging.log4j.ThreadContext", c"(Ljava/lang/String;)Ljava/lang/String;"),
    ("org.apache.log4j.MDC", c"(Ljava/lang/String;)Ljava/lang/Object;"),
];

/// How many loaders are remembered; the libraries of one more are looked up at every hit.
const LOADERS_MAX: usize = 64;

/// A logging library as one loader sees it.
struct Library {
    class: Weak,
    descriptor: &'static CStr,
    /// The method's id, asked for when the class is initialised, because asking would initialise it.
    get: OnceLock<Option<usize>>,
}

/// A loader and the libraries that it finds.
struct Known {
    /// None stands for the boot loader.
    loader: Option<Weak>,
    libraries: Vec<Library>,
}

/// Remembers the libraries of each loader. Nothing in here keeps a loader alive.
#[derive(Default)]
pub(crate) struct Contexts {
    known: Mutex<Arc<Vec<Arc<Known>>>>,
}

impl Contexts {
    fn known(&self) -> std::sync::MutexGuard<'_, Arc<Vec<Arc<Known>>>> {
        self.known.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Whether the current thread, which is at a hook, has this value under this key; none if there is no library to
    /// ask.
    pub(crate) fn has(&self, jvmti: Jvmti, jni: Jni, key: &str, value: &str) -> Option<bool> {
        let mut answer = None;
        jni.frame(|| {
            let mut known = self.libraries(jvmti, jni, site_loader(jvmti));
            if known.libraries.is_empty()
                && let Some(loader) = context_loader(jvmti, jni)
            {
                known = self.libraries(jvmti, jni, loader);
            }
            if !known.libraries.is_empty() {
                let has = |it: &Library| it.read(jvmti, jni, key).is_some_and(|carried| carried == value);
                answer = Some(known.libraries.iter().any(has));
            }
            None
        });
        answer
    }

    /// The libraries of a loader, found now if it was never asked before. No lock is held while the JVM is called.
    fn libraries(&self, jvmti: Jvmti, jni: Jni, loader: jobject) -> Arc<Known> {
        let all = self.known().clone();
        let same = |known: &&Arc<Known>| match known.loader {
            Some(weak) => !loader.is_null() && jni.is_same(weak, loader),
            None => loader.is_null(),
        };
        if let Some(known) = all.iter().find(same) {
            return known.clone();
        }
        let weak = if loader.is_null() { None } else { jni.weak(loader) };
        let known = Arc::new(Known { loader: weak, libraries: find(jvmti, jni, loader) });
        let mut all = self.known();
        // A loader that no reference could be made for must not be taken for the boot loader.
        if all.len() < LOADERS_MAX && weak.is_none() == loader.is_null() {
            Arc::make_mut(&mut all).push(known.clone());
        }
        known
    }
}

fn find(jvmti: Jvmti, jni: Jni, loader: jobject) -> Vec<Library> {
    let Some(loading) = Loading::new(jvmti, jni) else { return Vec::new() };
    let found = LIBRARIES.iter().filter_map(|&(name, descriptor)| {
        let class = jni.weak(loading.load(name, loader).ok()?)?;
        Some(Library { class, descriptor, get: OnceLock::new() })
    });
    found.collect()
}

fn context_loader(jvmti: Jvmti, jni: Jni) -> Option<jobject> {
    let thread = jvmti.current_thread().ok()?;
    jni.invoke(thread, c"getContextClassLoader", c"()Ljava/lang/ClassLoader;", &[])
}

impl Library {
    /// The current thread's value. A class that the target has not initialised has none, and stays as it is.
    fn read(&self, jvmti: Jvmti, jni: Jni, key: &str) -> Option<String> {
        let class = jni.strong(self.class)?;
        if !jvmti.is_initialised(class) {
            return None;
        }
        let get =
            self.get.get_or_init(|| jni.static_method(class, c"get", self.descriptor).map(|it| it as usize));
        let value = jni.call_static(class, (*get)? as jmethodID, &[object(jni.string(key)?)])?;
        let text = jni.invoke(value, c"toString", c"()Ljava/lang/String;", &[])?;
        Some(jni.text(text))
    }
}
