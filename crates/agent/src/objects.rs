//! The numbers of objects.
//!
//! The JVM keeps a number beside an object that is tagged, for as long as the object lives; it follows the object when that is moved. A hash of the
//! identity would not do, as two objects may have the same.

use std::sync::Mutex;

use hypocenter_trace::ObjectId;
use jvmti_bindings::sys::jni::jobject;

use crate::jvmti::Jvmti;
use crate::log;

/// Gives each object its number when it is seen first.
#[derive(Default)]
pub(crate) struct Objects {
    /// How many have one.
    known: Mutex<i64>,
}

impl Objects {
    /// The number of an object; 0 for null.
    pub(crate) fn id(&self, jvmti: Jvmti, object: jobject) -> ObjectId {
        if object.is_null() {
            return ObjectId(0);
        }
        match jvmti.tag(object) {
            Ok(0) => self.first(jvmti, object),
            Ok(tag) => ObjectId(tag as u64),
            Err(_) => ObjectId(0),
        }
    }

    #[cold]
    fn first(&self, jvmti: Jvmti, object: jobject) -> ObjectId {
        // Neither call lets Java code run or waits for a thread that may hold this lock.
        let mut known = self.known.lock().unwrap_or_else(|poison| poison.into_inner());
        // Another thread may have been faster.
        if let Ok(tag @ 1..) = jvmti.tag(object) {
            return ObjectId(tag as u64);
        }
        match jvmti.set_tag(object, *known + 1) {
            Ok(()) => {
                *known += 1;
                ObjectId(*known as u64)
            }
            Err(code) => {
                log::line(&format!("an object gets no number: {code}"));
                ObjectId(0)
            }
        }
    }
}
