//! Finding a class by name through a loader of one's choice. `FindClass` asks the loader of the code that calls, which
//! for a thread of our own is the target's.

use std::ffi::CStr;

use jvmti_bindings::sys::jni::{jclass, jmethodID, jobject, jvalue};

use crate::jni::{Jni, object};
use crate::jvmti::Jvmti;

/// `Class.forName`, ready to be called from the current thread.
pub(crate) struct Loading {
    jni: Jni,
    class: jclass,
    for_name: jmethodID,
}

impl Loading {
    pub(crate) fn new(jvmti: Jvmti, jni: Jni) -> Option<Loading> {
        const FOR_NAME: &CStr = c"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
        // The class of the class of any object is `java.lang.Class`, and nobody had to be asked for it.
        let thread = jvmti.current_thread().ok()?;
        let class = jni.class_of(jni.class_of(thread)?)?;
        let for_name = jni.static_method(class, c"forName", FOR_NAME)?;
        Some(Loading { jni, class, for_name })
    }

    /// A class as a loader finds it, not initialised; null is the boot loader. The error is what was thrown.
    pub(crate) fn load(&self, name: &str, loader: jobject) -> Result<jclass, String> {
        let text = self.jni.string(name).ok_or("no memory for a string")?;
        let found = self.jni.try_call_static(
            self.class,
            self.for_name,
            &[object(text), jvalue { z: 0 }, object(loader)],
        );
        self.jni.delete_local(text);
        found
    }
}
