//! The JVMTI functions that the agent uses, as methods that return values instead of filling pointers.

use std::ffi::{CStr, c_char, c_uchar};
use std::ptr::null_mut;

use jvmti_bindings::sys::jni::{jclass, jmethodID, jobject};
use jvmti_bindings::sys::jvmti::{
    JVMTI_DISABLE, JVMTI_ENABLE, jvmtiCapabilities, jvmtiEnv, jvmtiError, jvmtiEvent, jvmtiEventCallbacks,
    jvmtiFrameInfo, jvmtiThreadInfo,
};

/// A JVMTI environment. Lives as long as the JVM: it is never disposed of.
#[derive(Clone, Copy)]
pub(crate) struct Jvmti(*mut jvmtiEnv);

// SAFETY: a JVMTI environment may be used from any thread.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

/// Calls a function of the environment's table. A JVM always fills every entry that existed in its version; an
/// entry that is missing is answered as an error and not called.
macro_rules! call {
    ($self:ident, $function:ident $(, $argument:expr)*) => {
        // SAFETY: the environment is live (see `Jvmti`), and the callers pass pointers to locals of the right types.
        unsafe {
            match (*(*$self.0).functions).$function {
                Some(function) => check(function($self.0 $(, $argument)*)),
                None => Err(Code(-1)),
            }
        }
    };
}

/// A JVMTI error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub i32);

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JVMTI error {}", self.0)
    }
}

fn check(error: jvmtiError) -> Result<(), Code> {
    if error == jvmtiError::NONE { Ok(()) } else { Err(Code(error.raw())) }
}

impl Jvmti {
    /// # Safety
    /// `env` is a JVMTI environment that is never disposed of.
    pub(crate) unsafe fn new(env: *mut jvmtiEnv) -> Jvmti {
        Jvmti(env)
    }

    pub(crate) fn add_capabilities(&self, capabilities: &jvmtiCapabilities) -> Result<(), Code> {
        call!(self, AddCapabilities, capabilities)
    }

    pub(crate) fn set_callbacks(&self, callbacks: &jvmtiEventCallbacks) -> Result<(), Code> {
        call!(self, SetEventCallbacks, callbacks, size_of::<jvmtiEventCallbacks>() as i32)
    }

    pub(crate) fn set_event(&self, event: jvmtiEvent, on: bool) -> Result<(), Code> {
        call!(
            self,
            SetEventNotificationMode,
            if on { JVMTI_ENABLE } else { JVMTI_DISABLE },
            event,
            null_mut()
        )
    }

    /// Copies bytes into memory that the JVM will free.
    pub(crate) fn allocate_copy(&self, bytes: &[u8]) -> Result<*mut c_uchar, Code> {
        let mut memory = null_mut();
        call!(self, Allocate, bytes.len() as i64, &mut memory)?;
        // SAFETY: the JVM has just allocated that many bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Ok(memory)
    }

    fn free<T>(&self, memory: *mut T) {
        if !memory.is_null() {
            let _ = call!(self, Deallocate, memory.cast());
        }
    }

    /// Takes a string that the JVM allocated.
    fn take(&self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: JVMTI returns NUL-terminated strings.
        let owned = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        self.free(text);
        owned
    }

    pub(crate) fn system_property(&self, name: &CStr) -> Option<String> {
        let mut value = null_mut();
        call!(self, GetSystemProperty, name.as_ptr(), &mut value).ok()?;
        Some(self.take(value))
    }

    pub(crate) fn class_signature(&self, class: jclass) -> Result<String, Code> {
        let mut signature = null_mut();
        call!(self, GetClassSignature, class, &mut signature, null_mut())?;
        Ok(self.take(signature))
    }

    pub(crate) fn method_name(&self, method: jmethodID) -> Result<String, Code> {
        let mut name = null_mut();
        call!(self, GetMethodName, method, &mut name, null_mut(), null_mut())?;
        Ok(self.take(name))
    }

    /// A local reference to the class that declares a method.
    pub(crate) fn declaring_class(&self, method: jmethodID) -> Result<jclass, Code> {
        let mut class = null_mut();
        call!(self, GetMethodDeclaringClass, method, &mut class)?;
        Ok(class)
    }

    pub(crate) fn source_file(&self, class: jclass) -> Option<String> {
        let mut name = null_mut();
        call!(self, GetSourceFileName, class, &mut name).ok()?;
        Some(self.take(name))
    }

    /// Whether the static initialiser of a class has run.
    pub(crate) fn is_initialised(&self, class: jclass) -> bool {
        const INITIALIZED: i32 = 4;
        let mut status = 0;
        call!(self, GetClassStatus, class, &mut status).is_ok() && status & INITIALIZED != 0
    }

    /// A local reference to the loader of a class; null for the boot loader.
    pub(crate) fn class_loader(&self, class: jclass) -> Result<jobject, Code> {
        let mut loader = null_mut();
        call!(self, GetClassLoader, class, &mut loader)?;
        Ok(loader)
    }

    /// The line of a place in a method, if the class file says it.
    pub(crate) fn line(&self, method: jmethodID, location: i64) -> Option<i32> {
        let (mut count, mut table) = (0, null_mut());
        call!(self, GetLineNumberTable, method, &mut count, &mut table).ok()?;
        // SAFETY: on success the table has `count` entries.
        let entries = unsafe { std::slice::from_raw_parts(table, count.max(0) as usize) };
        let line = entries
            .iter()
            .filter(|entry| entry.start_location <= location)
            .max_by_key(|entry| entry.start_location)
            .map(|entry| entry.line_number);
        self.free(table);
        line
    }

    /// The current thread's frames, innermost first.
    pub(crate) fn stack(&self, frames: &mut Vec<jvmtiFrameInfo>, max: usize) -> Result<(), Code> {
        frames.clear();
        frames.resize(max, jvmtiFrameInfo::default());
        let mut count = 0;
        call!(self, GetStackTrace, null_mut(), 0, max as i32, frames.as_mut_ptr(), &mut count)?;
        frames.truncate(count.max(0) as usize);
        Ok(())
    }

    /// The current thread's name.
    pub(crate) fn thread_name(&self) -> Result<String, Code> {
        let mut info = jvmtiThreadInfo::default();
        call!(self, GetThreadInfo, null_mut(), &mut info)?;
        Ok(self.take(info.name))
    }

    /// The number beside an object; 0 if there is none.
    #[inline]
    pub(crate) fn tag(&self, object: jobject) -> Result<i64, Code> {
        let mut tag = 0;
        call!(self, GetTag, object, &mut tag)?;
        Ok(tag)
    }

    /// Puts a number beside an object.
    pub(crate) fn set_tag(&self, object: jobject, tag: i64) -> Result<(), Code> {
        call!(self, SetTag, object, tag)
    }

    /// A local reference to the current thread.
    pub(crate) fn current_thread(&self) -> Result<jobject, Code> {
        let mut thread = null_mut();
        call!(self, GetCurrentThread, &mut thread)?;
        Ok(thread)
    }

    /// Local references to all loaded classes.
    pub(crate) fn loaded_classes(&self) -> Result<Vec<jclass>, Code> {
        let (mut count, mut classes) = (0, null_mut());
        call!(self, GetLoadedClasses, &mut count, &mut classes)?;
        // SAFETY: on success there are `count` classes.
        let all = unsafe { std::slice::from_raw_parts(classes, count.max(0) as usize) }.to_vec();
        self.free(classes);
        Ok(all)
    }

    pub(crate) fn is_modifiable(&self, class: jclass) -> bool {
        let mut modifiable = 0;
        call!(self, IsModifiableClass, class, &mut modifiable).is_ok() && modifiable != 0
    }

    pub(crate) fn retransform(&self, classes: &[jclass]) -> Result<(), Code> {
        call!(self, RetransformClasses, classes.len() as i32, classes.as_ptr())
    }
}
