//! Faults that go on after their site: connections that stay silent, and disks that are full.
//!
//! What is sent over a silent connection goes to a descriptor that swallows it. The hooks for that are in the innermost methods of the
//! JDK that have the descriptor as an operand, so every way to send over the connection comes through one of them, and the stream
//! has no hole: once silent, it is so to its end. The other direction keeps working.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use hypocenter_plan::glob_matches;
use hypocenter_trace::{ArmedFault, ArmedPlan, ArmedRepeat, Deed, Shortage, TrialFile, Waist};
use jvmti_bindings::sys::jni::{jobject, jvalue};
use rustc_hash::FxHashMap;

use crate::exceptions;
use crate::jni::{Jni, object};
use crate::jvmti::Jvmti;
use crate::operations::Inode;
use crate::partition::Partitions;

/// See the module.
#[derive(Default)]
pub(crate) struct Lasting {
    drops: bool,
    full: Vec<Full>,
    /// The silent connections of this JVM, each with the candidate that silenced it.
    silent: Mutex<FxHashMap<Inode, u32>>,
    has_silent: AtomicBool,
    /// True if a hook is in place that can swallow what is sent.
    has_outlet: AtomicBool,
    sink: OnceLock<Option<std::fs::File>>,
    pub partitions: Partitions,
}

/// A disk that may be full.
struct Full {
    candidate: u32,
    repeat: ArmedRepeat,
    /// The path itself, and all that is below it.
    patterns: [String; 2],
}

impl Lasting {
    /// Those of a plan, on whichever node they begin.
    pub(crate) fn new(plan: &ArmedPlan, node: &str) -> Lasting {
        let mut lasting = Lasting { partitions: Partitions::new(plan, node), ..Lasting::default() };
        for (it, candidate) in plan.candidates.iter().zip(0..) {
            match &it.fault {
                ArmedFault::Drop => lasting.drops = true,
                ArmedFault::DiskFull { path } => {
                    let path = path.trim_end_matches('/');
                    let patterns = [path.to_owned(), format!("{path}/*")];
                    lasting.full.push(Full { candidate, repeat: it.repeat, patterns });
                }
                _ => {}
            }
        }
        lasting
    }

    /// Tests whether a method of the JDK needs its hook because of such a fault.
    pub(crate) fn needs(&self, waist: &Waist) -> bool {
        self.drops && waist.outlet.is_some()
            || !self.full.is_empty() && waist.needs_space()
            || !self.partitions.is_empty() && waist.deed == Deed::Connect
    }

    /// The candidate by which the disk of a file is full now.
    pub(crate) fn full(&self, trial: &TrialFile, resource: &str) -> Option<u32> {
        let fits = |it: &&Full| it.patterns.iter().any(|pattern| glob_matches(pattern, resource));
        self.full.iter().filter(|it| trial.lasts(it.candidate, it.repeat)).find(fits).map(|it| it.candidate)
    }

    /// Tests whether any disk is full now.
    pub(crate) fn is_any_full(&self, trial: &TrialFile) -> bool {
        self.full.iter().any(|it| trial.lasts(it.candidate, it.repeat))
    }

    /// Says that a hook is in place that can swallow what is sent.
    pub(crate) fn outlet_is_placed(&self) {
        self.has_outlet.store(true, Ordering::Release);
    }

    /// Why nothing that is sent could be swallowed, if so.
    pub(crate) fn trouble(&self) -> Result<(), String> {
        if !self.has_outlet.load(Ordering::Acquire) {
            return Err("this JVM sends by other methods than those that have a hook, so nothing can be \
                        swallowed; `hypocenter doctor` lists the JDKs with which it works"
                .to_owned());
        }
        self.sink().map(drop).ok_or_else(|| "/dev/null cannot be opened".to_owned())
    }

    fn sink(&self) -> Option<&std::fs::File> {
        self.sink.get_or_init(|| std::fs::OpenOptions::new().write(true).open("/dev/null").ok()).as_ref()
    }

    /// A `FileDescriptor` that swallows what is written to it.
    pub(crate) fn descriptor(&self, jni: Jni) -> Option<jobject> {
        let class = jni.find_class(c"java/io/FileDescriptor")?;
        let constructor = jni.method(class, c"<init>", c"(I)V")?;
        jni.new_object(class, constructor, &[jvalue { i: self.sink()?.as_raw_fd() }])
    }

    /// Silences a connection from now on.
    pub(crate) fn silence(&self, socket: Inode, candidate: u32) {
        self.silent.lock().unwrap_or_else(|poison| poison.into_inner()).insert(socket, candidate);
        self.has_silent.store(true, Ordering::Release);
    }

    pub(crate) fn has_silent(&self) -> bool {
        self.has_silent.load(Ordering::Acquire)
    }

    /// The candidate that silenced a connection.
    pub(crate) fn silenced_by(&self, socket: Inode) -> Option<u32> {
        if !self.has_silent() {
            return None;
        }
        self.silent.lock().unwrap_or_else(|poison| poison.into_inner()).get(&socket).copied()
    }
}

/// The text of `ENOSPC`.
const NO_SPACE: &str = "No space left on device";

/// Builds what an operation throws when the disk is full, as the JDK would.
pub(crate) fn no_space(jvmti: Jvmti, jni: Jni, shortage: Shortage, name: &str) -> Result<jobject, String> {
    let build = |class: &str, message: &str| {
        exceptions::build(jvmti, jni, &[class.to_owned()], message).map(|it| it.throwable)
    };
    match shortage {
        Shortage::Exception => build("java.io.IOException", NO_SPACE),
        Shortage::NotFound => build("java.io.FileNotFoundException", &format!("{name} ({NO_SPACE})")),
        Shortage::FileSystem => file_system(jni, name),
        Shortage::Answer => {
            Err("File.mkdir says by its result that the disk is full, which the agent cannot \
                                 change: the directory is made"
                .to_owned())
        }
    }
}

fn file_system(jni: Jni, name: &str) -> Result<jobject, String> {
    const STRINGS: &std::ffi::CStr = c"(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)V";
    let make = || {
        let class = jni.find_class(c"java/nio/file/FileSystemException")?;
        let constructor = jni.method(class, c"<init>", STRINGS)?;
        let (file, reason) = (jni.string(name)?, jni.string(NO_SPACE)?);
        jni.new_object(class, constructor, &[object(file), object(std::ptr::null_mut()), object(reason)])
    };
    let made = make().ok_or_else(|| "java.nio.file.FileSystemException could not be built".to_owned())?;
    exceptions::hide_helper(jni, made);
    Ok(made)
}
