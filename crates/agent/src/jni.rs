//! The JNI functions that the agent uses. Every method leaves no exception pending but [`Jni::throw`].

use std::ffi::{CStr, CString};
use std::ptr::null_mut;

use jvmti_bindings::sys::jni::{JNIEnv, JNINativeMethod, jclass, jint, jmethodID, jobject, jvalue};

/// The JNI of the current thread.
#[derive(Clone, Copy)]
pub(crate) struct Jni(*mut JNIEnv);

/// A weak global reference. Lives as long as the JVM, its object perhaps not.
#[derive(Clone, Copy)]
pub(crate) struct Weak(jobject);

// SAFETY: a global reference may be used from any thread.
unsafe impl Send for Weak {}
// SAFETY: as above.
unsafe impl Sync for Weak {}

/// Calls a function of the table.
macro_rules! call {
    ($self:ident, $function:ident $(, $argument:expr)*) => {
        // SAFETY: the environment is the current thread's (see `Jni::new`); arguments are live references and
        // pointers to live locals, and identifiers come from the same JVM.
        unsafe { ((**$self.0).$function)($self.0 $(, $argument)*) }
    };
}

impl Jni {
    /// # Safety
    /// `env` is the JNI environment of the current thread, and the value does not leave the current call.
    pub(crate) unsafe fn new(env: *mut JNIEnv) -> Jni {
        Jni(env)
    }

    pub(crate) fn version(&self) -> jint {
        call!(self, GetVersion)
    }

    /// Clears a pending exception; whether there was one.
    fn cleared(&self) -> bool {
        let pending = call!(self, ExceptionCheck) != 0;
        if pending {
            call!(self, ExceptionClear);
        }
        pending
    }

    /// The result of a call that may have thrown.
    fn object(&self, object: jobject) -> Option<jobject> {
        (!self.cleared() && !object.is_null()).then_some(object)
    }

    /// Clears a pending exception and says what it is, as its `toString` does.
    pub(crate) fn take_exception(&self) -> Option<String> {
        let thrown = call!(self, ExceptionOccurred);
        if !self.cleared() || thrown.is_null() {
            return None;
        }
        let text = self.invoke(thrown, c"toString", c"()Ljava/lang/String;", &[]).map(|it| self.text(it));
        self.delete_local(thrown);
        Some(text.unwrap_or_else(|| "an exception that does not say what it is".into()))
    }

    /// Says that so many local references are meant to live at once; `-Xcheck:jni` warns of those that nobody announced.
    pub(crate) fn expect_locals(&self, count: usize) {
        if call!(self, EnsureLocalCapacity, count.min(i32::MAX as usize) as i32) != 0 {
            self.cleared();
        }
    }

    pub(crate) fn define_class(&self, name: &CStr, bytes: &[u8]) -> Option<jclass> {
        let len = bytes.len() as i32;
        self.object(call!(self, DefineClass, name.as_ptr(), null_mut(), bytes.as_ptr().cast(), len))
    }

    pub(crate) fn find_class(&self, name: &CStr) -> Option<jclass> {
        self.object(call!(self, FindClass, name.as_ptr()))
    }

    pub(crate) fn register_natives(&self, class: jclass, methods: &[JNINativeMethod]) -> bool {
        let code = call!(self, RegisterNatives, class, methods.as_ptr(), methods.len() as i32);
        !self.cleared() && code == 0
    }

    pub(crate) fn byte_array(&self, bytes: &[u8]) -> Option<jobject> {
        let len = i32::try_from(bytes.len()).ok()?;
        let array = self.object(call!(self, NewByteArray, len))?;
        call!(self, SetByteArrayRegion, array, 0, len, bytes.as_ptr().cast());
        (!self.cleared()).then_some(array)
    }

    /// Runs something with room for local references, which are gone afterwards but for the result.
    pub(crate) fn frame(&self, work: impl FnOnce() -> Option<jobject>) -> Option<jobject> {
        const LOCALS: i32 = 256;
        if call!(self, PushLocalFrame, LOCALS) != 0 {
            self.cleared();
            return None;
        }
        let result = work();
        let result = call!(self, PopLocalFrame, result.unwrap_or(null_mut()));
        (!result.is_null()).then_some(result)
    }

    /// A reference that does not keep its object alive, valid in every thread. It is never given back.
    pub(crate) fn weak(&self, object: jobject) -> Option<Weak> {
        let weak = call!(self, NewWeakGlobalRef, object);
        (!self.cleared() && !weak.is_null()).then_some(Weak(weak))
    }

    /// A local reference to the object, if it is still there.
    pub(crate) fn strong(&self, weak: Weak) -> Option<jobject> {
        let object = call!(self, NewLocalRef, weak.0);
        (!object.is_null()).then_some(object)
    }

    pub(crate) fn is_same(&self, weak: Weak, object: jobject) -> bool {
        call!(self, IsSameObject, weak.0, object) != 0
    }

    pub(crate) fn delete_local(&self, object: jobject) {
        call!(self, DeleteLocalRef, object);
    }

    /// A Java string.
    pub(crate) fn string(&self, text: &str) -> Option<jobject> {
        let text = CString::new(modified_utf8(text)).ok()?;
        self.object(call!(self, NewStringUTF, text.as_ptr()))
    }

    pub(crate) fn text(&self, string: jobject) -> String {
        let chars = call!(self, GetStringUTFChars, string, null_mut());
        if chars.is_null() {
            self.cleared();
            return String::new();
        }
        // SAFETY: GetStringUTFChars returns a NUL-terminated string.
        let text = unsafe { CStr::from_ptr(chars) }.to_string_lossy().into_owned();
        call!(self, ReleaseStringUTFChars, string, chars);
        text
    }

    pub(crate) fn method(&self, class: jclass, name: &CStr, descriptor: &CStr) -> Option<jmethodID> {
        let method = call!(self, GetMethodID, class, name.as_ptr(), descriptor.as_ptr());
        (!self.cleared() && !method.is_null()).then_some(method)
    }

    pub(crate) fn static_method(&self, class: jclass, name: &CStr, descriptor: &CStr) -> Option<jmethodID> {
        let method = call!(self, GetStaticMethodID, class, name.as_ptr(), descriptor.as_ptr());
        (!self.cleared() && !method.is_null()).then_some(method)
    }

    pub(crate) fn call_object(
        &self,
        object: jobject,
        method: jmethodID,
        arguments: &[jvalue],
    ) -> Option<jobject> {
        self.object(call!(self, CallObjectMethodA, object, method, arguments.as_ptr()))
    }

    /// As [`Jni::call_object`], with the exception's text if it threw. Null is an error too.
    pub(crate) fn try_call_object(
        &self,
        object: jobject,
        method: jmethodID,
        arguments: &[jvalue],
    ) -> Result<jobject, String> {
        self.outcome(call!(self, CallObjectMethodA, object, method, arguments.as_ptr()))
    }

    /// As [`Jni::call_static`], with the exception's text if it threw. Null is an error too.
    pub(crate) fn try_call_static(
        &self,
        class: jclass,
        method: jmethodID,
        arguments: &[jvalue],
    ) -> Result<jobject, String> {
        self.outcome(call!(self, CallStaticObjectMethodA, class, method, arguments.as_ptr()))
    }

    fn outcome(&self, object: jobject) -> Result<jobject, String> {
        match self.take_exception() {
            Some(thrown) => Err(thrown),
            None if object.is_null() => Err("null was returned".into()),
            None => Ok(object),
        }
    }

    /// Calls a method without arguments that returns a long.
    pub(crate) fn call_long(&self, object: jobject, method: jmethodID) -> Option<i64> {
        let value = call!(self, CallLongMethodA, object, method, [].as_ptr());
        (!self.cleared()).then_some(value)
    }

    /// Calls a method without arguments that returns an int.
    pub(crate) fn call_int(&self, object: jobject, method: jmethodID) -> Option<i32> {
        let value = call!(self, CallIntMethodA, object, method, [].as_ptr());
        (!self.cleared()).then_some(value)
    }

    /// Calls a method without arguments that returns a boolean.
    pub(crate) fn call_boolean(&self, object: jobject, method: jmethodID) -> Option<bool> {
        let value = call!(self, CallBooleanMethodA, object, method, [].as_ptr());
        (!self.cleared()).then_some(value != 0)
    }

    pub(crate) fn call_static(
        &self,
        class: jclass,
        method: jmethodID,
        arguments: &[jvalue],
    ) -> Option<jobject> {
        self.object(call!(self, CallStaticObjectMethodA, class, method, arguments.as_ptr()))
    }

    /// Calls a method by name and descriptor that returns an object.
    pub(crate) fn invoke(
        &self,
        object: jobject,
        name: &CStr,
        descriptor: &CStr,
        arguments: &[jvalue],
    ) -> Option<jobject> {
        let class = self.class_of(object)?;
        let method = self.method(class, name, descriptor)?;
        self.call_object(object, method, arguments)
    }

    /// Calls a method without arguments that returns an int or a boolean.
    pub(crate) fn invoke_int(&self, object: jobject, name: &CStr, descriptor: &CStr) -> Option<i32> {
        let class = self.class_of(object)?;
        let method = self.method(class, name, descriptor)?;
        let value = if descriptor.to_bytes().ends_with(b"Z") {
            i32::from(call!(self, CallBooleanMethodA, object, method, [].as_ptr()) != 0)
        } else {
            call!(self, CallIntMethodA, object, method, [].as_ptr())
        };
        (!self.cleared()).then_some(value)
    }

    /// Calls a `void` method.
    pub(crate) fn invoke_void(
        &self,
        object: jobject,
        name: &CStr,
        descriptor: &CStr,
        arguments: &[jvalue],
    ) -> bool {
        let Some(class) = self.class_of(object) else { return false };
        let Some(method) = self.method(class, name, descriptor) else { return false };
        call!(self, CallVoidMethodA, object, method, arguments.as_ptr());
        !self.cleared()
    }

    /// A `long` field of an object, if it has it.
    pub(crate) fn long_field(&self, object: jobject, name: &CStr) -> Option<i64> {
        let class = self.class_of(object)?;
        let field = call!(self, GetFieldID, class, name.as_ptr(), c"J".as_ptr());
        if self.cleared() || field.is_null() {
            return None;
        }
        Some(call!(self, GetLongField, object, field))
    }

    /// An `int` field of an object, if it has it.
    pub(crate) fn int_field(&self, object: jobject, name: &CStr) -> Option<i32> {
        let class = self.class_of(object)?;
        let field = call!(self, GetFieldID, class, name.as_ptr(), c"I".as_ptr());
        self.delete_local(class);
        if self.cleared() || field.is_null() {
            return None;
        }
        Some(call!(self, GetIntField, object, field))
    }

    /// A local reference to what a field of an object refers to, if the object has it and it is not null.
    pub(crate) fn object_field(&self, object: jobject, name: &CStr, descriptor: &CStr) -> Option<jobject> {
        let class = self.class_of(object)?;
        let field = call!(self, GetFieldID, class, name.as_ptr(), descriptor.as_ptr());
        self.delete_local(class);
        if self.cleared() || field.is_null() {
            return None;
        }
        self.object(call!(self, GetObjectField, object, field))
    }

    /// The content of an array of bytes.
    pub(crate) fn bytes(&self, array: jobject) -> Vec<u8> {
        let mut bytes = vec![0; self.array_len(array).max(0) as usize];
        call!(self, GetByteArrayRegion, array, 0, bytes.len() as i32, bytes.as_mut_ptr().cast());
        self.cleared();
        bytes
    }

    /// Whether a class has a static field. The class is initialised by this.
    pub(crate) fn static_field(&self, class: jclass, name: &CStr, descriptor: &CStr) -> bool {
        let field = call!(self, GetStaticFieldID, class, name.as_ptr(), descriptor.as_ptr());
        !self.cleared() && !field.is_null()
    }

    pub(crate) fn class_of(&self, object: jobject) -> Option<jclass> {
        self.object(call!(self, GetObjectClass, object))
    }

    /// A new object; none if its constructor threw.
    pub(crate) fn new_object(
        &self,
        class: jclass,
        constructor: jmethodID,
        arguments: &[jvalue],
    ) -> Option<jobject> {
        self.object(call!(self, NewObjectA, class, constructor, arguments.as_ptr()))
    }

    pub(crate) fn reflected_method(&self, method: jobject) -> Option<jmethodID> {
        let method = call!(self, FromReflectedMethod, method);
        (!self.cleared() && !method.is_null()).then_some(method)
    }

    pub(crate) fn elements(&self, array: jobject) -> Vec<jobject> {
        (0..self.array_len(array)).filter_map(|index| self.element(array, index)).collect()
    }

    pub(crate) fn array_len(&self, array: jobject) -> i32 {
        call!(self, GetArrayLength, array)
    }

    /// A local reference to an element of an array; none for null.
    pub(crate) fn element(&self, array: jobject, index: i32) -> Option<jobject> {
        self.object(call!(self, GetObjectArrayElement, array, index))
    }

    pub(crate) fn object_array(&self, class: jclass, elements: &[jobject]) -> Option<jobject> {
        let array = self.object(call!(self, NewObjectArray, elements.len() as i32, class, null_mut()))?;
        for (index, &element) in elements.iter().enumerate() {
            call!(self, SetObjectArrayElement, array, index as i32, element);
        }
        (!self.cleared()).then_some(array)
    }

    pub(crate) fn is_assignable(&self, from: jclass, to: jclass) -> bool {
        call!(self, IsAssignableFrom, from, to) != 0
    }

    /// Makes `throwable` the pending exception: it is thrown when the native method returns.
    pub(crate) fn throw(&self, throwable: jobject) -> bool {
        call!(self, Throw, throwable) == 0
    }
}

/// Text as JNI takes it: NUL in two bytes, and what lies beyond 16 bits as two halves of three bytes each.
fn modified_utf8(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '\0' => bytes.extend_from_slice(&[0xC0, 0x80]),
            '\u{10000}'.. => {
                for &half in it.encode_utf16(&mut [0; 2]).iter() {
                    let low = |shift: u16| (half >> shift & 0x3F) as u8 | 0x80;
                    bytes.extend_from_slice(&[0xE0 | (half >> 12) as u8, low(6), low(0)]);
                }
            }
            _ => bytes.extend_from_slice(it.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// An object as an argument.
pub(crate) fn object(object: jobject) -> jvalue {
    jvalue { l: object }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_written_as_jni_takes_it() {
        let check = |text: &str, expected: &[u8]| assert_eq!(modified_utf8(text), expected, "{text:?}");
        check("a\u{e9}", b"a\xC3\xA9");
        check("x\0y", b"x\xC0\x80y");
        check("\u{1F600}", b"\xED\xA0\xBD\xED\xB8\x80");
    }
}
