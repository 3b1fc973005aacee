//! Stacks of the current thread: captured through JVMTI, named once, interned in the trace.

use std::sync::{Arc, Mutex};

use hypocenter_plan::MethodLine;
use hypocenter_trace::{Interned, Session, hash};
use jvmti_bindings::sys::jni::jmethodID;
use jvmti_bindings::sys::jvmti::jvmtiFrameInfo;
use rustc_hash::FxHashMap;

use crate::helper;
use crate::jni::Jni;
use crate::jvmti::Jvmti;

/// The deepest stack that is looked at; what lies below takes no part in guards and hashes.
const FRAMES_MAX: usize = 512;

/// A frame with the names that guards compare.
#[derive(Debug, Clone)]
pub(crate) struct NamedFrame {
    /// `package.Class.method`.
    pub method: Arc<str>,
    raw: RawFrame,
}

/// Lines of methods, to find whether a stack goes through one of them.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    by_method: FxHashMap<String, Vec<u32>>,
}

impl Lines {
    pub(crate) fn new(lines: Vec<MethodLine>) -> Lines {
        let mut by_method: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for MethodLine { method, line } in lines {
            by_method.entry(method).or_default().push(line);
        }
        Lines { by_method }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_method.is_empty()
    }

    /// Whether the frame is at one of them. The JVM is asked for a line only in a method that has some.
    fn has(&self, jvmti: Jvmti, frame: &NamedFrame) -> bool {
        self.by_method.get(&*frame.method).is_some_and(|lines| {
            let line = jvmti.line(frame.raw.method as jmethodID, frame.raw.location);
            line.and_then(|it| u32::try_from(it).ok()).is_some_and(|it| lines.contains(&it))
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RawFrame {
    method: usize,
    location: i64,
}

#[derive(Default)]
struct Known {
    methods: FxHashMap<usize, Arc<str>>,
    places: FxHashMap<RawFrame, Interned>,
}

/// Remembers the names of methods. A method's id stays valid as long as its class is loaded.
#[derive(Default)]
pub(crate) struct Stacks {
    known: Mutex<Known>,
}

impl Stacks {
    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The current thread's whole stack, innermost frame first, without the helper's.
    pub(crate) fn capture(&self, jvmti: Jvmti, jni: Jni) -> Vec<NamedFrame> {
        self.capture_nearest(jvmti, jni, FRAMES_MAX)
    }

    /// About the nearest `count` frames, with some to spare for those that are left out.
    pub(crate) fn capture_nearest(&self, jvmti: Jvmti, jni: Jni, count: usize) -> Vec<NamedFrame> {
        const SPARE: usize = 16;
        let mut frames: Vec<jvmtiFrameInfo> = Vec::new();
        if jvmti.stack(&mut frames, count.saturating_add(SPARE).min(FRAMES_MAX)).is_err() {
            return Vec::new();
        }
        let named = frames.iter().map(|frame| NamedFrame {
            method: self.method(jvmti, jni, frame.method),
            raw: RawFrame { method: frame.method as usize, location: frame.location },
        });
        named
            .skip_while(|frame| is_helper(&frame.method))
            .filter(|frame| !is_generated(&frame.method))
            .collect()
    }

    /// Whether what called the current thread's innermost method went through one of these lines.
    pub(crate) fn is_below(&self, jvmti: Jvmti, jni: Jni, lines: &Lines) -> bool {
        self.capture(jvmti, jni).iter().skip(1).any(|it| lines.has(jvmti, it))
    }

    fn method(&self, jvmti: Jvmti, jni: Jni, method: jmethodID) -> Arc<str> {
        if let Some(name) = self.known().methods.get(&(method as usize)) {
            return name.clone();
        }
        // No lock is held while the JVM is called.
        let class = jvmti.declaring_class(method).ok();
        let class_name = class.and_then(|class| {
            let signature = jvmti.class_signature(class).ok();
            jni.delete_local(class);
            signature
        });
        let class_name = class_name.as_deref().map(class_of_signature).unwrap_or_default();
        let method_name = jvmti.method_name(method).unwrap_or_default();
        let name: Arc<str> = format!("{class_name}.{method_name}").into();
        self.known().methods.insert(method as usize, name.clone());
        name
    }

    /// The nearest frames, interned.
    pub(crate) fn intern(
        &self,
        jvmti: Jvmti,
        jni: Jni,
        session: &Session,
        frames: &[NamedFrame],
    ) -> Interned {
        let nearest = &frames[..frames.len().min(session.trial().stack_frames() as usize)];
        let words: Vec<_> = nearest
            .iter()
            .map(|frame| (session.string(&frame.method), self.place(jvmti, jni, session, frame.raw)))
            .collect();
        session.stack(&words)
    }

    /// `File.java:line`, or nothing where the class file does not say.
    fn place(&self, jvmti: Jvmti, jni: Jni, session: &Session, frame: RawFrame) -> Interned {
        if let Some(&place) = self.known().places.get(&frame) {
            return place;
        }
        let method = frame.method as jmethodID;
        let file = jvmti.declaring_class(method).ok().and_then(|class| {
            let file = jvmti.source_file(class);
            jni.delete_local(class);
            file
        });
        let place = match (file, jvmti.line(method, frame.location)) {
            (Some(file), Some(line)) => session.string(&format!("{file}:{line}")),
            (Some(file), None) => session.string(&file),
            (None, _) => Interned(0),
        };
        self.known().places.insert(frame, place);
        place
    }
}

/// The hash of a whole stack: methods only, so it does not depend on lines.
pub(crate) fn stack_hash(frames: &[NamedFrame]) -> u64 {
    frames.iter().fold(0, |sum, frame| hash::bytes(frame.method.as_bytes(), sum))
}

fn is_helper(method: &str) -> bool {
    method.rsplit_once('.').is_some_and(|(class, _)| helper::is_own(class))
}

/// Classes that the JVM makes up as it goes (lambdas, method handles): no stack trace shows them, and their names
/// differ from run to run.
fn is_generated(method: &str) -> bool {
    method.contains("$$Lambda") || method.contains(".0x")
}

/// `Ljava/lang/String;` as `java.lang.String`. A hidden class (`La/B$$Lambda$14.0x00007f5180000a08;`) loses its address
/// and a lambda its number, which are other ones in every run: names are compared across runs.
pub(crate) fn class_of_signature(signature: &str) -> String {
    let name = signature.strip_prefix('L').and_then(|it| it.strip_suffix(';')).unwrap_or(signature);
    // Only the name of a hidden class has a dot here.
    let name = name.split('.').next().unwrap_or(name);
    let name = match name.rsplit_once("$$Lambda$") {
        Some((outer, number)) if number.bytes().all(|it| it.is_ascii_digit()) => format!("{outer}$$Lambda"),
        _ => name.to_owned(),
    };
    name.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_helper_is_left_out_of_stacks() {
        assert!(is_helper("java.lang.$Hypocenter.hit"));
        assert!(is_helper("java.lang.$Hypocenter$Fast.hit"));
        assert!(!is_helper("java.lang.$Hypocenters.hit"));
        assert!(!is_helper("java.lang.Thread.run"));
        assert_eq!(class_of_signature("La/B$C;"), "a.B$C");
        assert!(is_generated("journal.Server$$Lambda$13.0x00007f82ac003c00.run"));
        assert!(is_generated("java.lang.invoke.LambdaForm$MH.0x00007f82.invoke"));
        assert!(!is_generated("journal.Server.lambda$run$0"));
        assert_eq!(class_of_signature("La/B$$Lambda$14.0x00007f5180000a08;"), "a.B$$Lambda");
        assert_eq!(class_of_signature("La/B$$Lambda.0x0000000067040210;"), "a.B$$Lambda");
    }
}
