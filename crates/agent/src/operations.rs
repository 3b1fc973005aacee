//! What the JDK does with files and connections, and what threads do with each other: on which one, by whom, with which result.
//!
//! An operation lasts from the start of a method of the JDK's waist ([`waist`]) to its end. The file or connection is named at the start,
//! because a renaming changes it. Of operations within each other only the outermost counts: how a queue of the JDK locks itself is of no
//! interest. But work that was handed over is the program's, and what happens in it counts, as does the start of a thread. Of files, only what is
//! below the directory of the trial is of interest.

use std::ffi::CStr;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use hypocenter_plan::{OperationKind, SiteKind};
use hypocenter_trace::{
    Deed, FRESH_DIRECTORY, Map, MapClass, MapMethod, ObjectId, Operand, OperationRecord, Session, SiteId,
    Waist, called, level, waist,
};
use jvmti_bindings::sys::jni::jobject;
use rustc_hash::FxHashMap;

use crate::decide::{Answer, Hit, Seen};
use crate::jni::Jni;
use crate::stacks::class_of_signature;
use crate::state::State;
use crate::threads::ThreadState;

/// The operands of an operation, as its hook passes them.
#[derive(Clone, Copy)]
pub(crate) struct Operands {
    pub first: jobject,
    pub second: jobject,
    pub number: i32,
}

/// What a hook says of an operation.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Begins(Operands),
    /// With what it returned.
    Ends(i32),
    /// With the object that it returned.
    Returns(jobject),
    Fails(jobject),
}

#[derive(Clone, Copy)]
struct Of {
    /// The site of its begin, which names the operation.
    begin: SiteId,
    waist: &'static Waist,
}

/// The sites of operations.
#[derive(Default)]
pub(crate) struct Operations {
    by_site: FxHashMap<u32, Of>,
    /// The directory of the trial, as it is named and as it really is.
    roots: Vec<PathBuf>,
}

/// An operation that a thread is in.
pub(crate) struct Pending {
    begin: SiteId,
    /// None for one that does not count.
    what: Option<What>,
}

struct What {
    kind: OperationKind,
    begun: u64,
    resource: String,
    other: String,
    object: ObjectId,
    other_object: ObjectId,
    /// What it comes to, where that is known before it ends.
    result: Option<i64>,
}

impl Operations {
    /// Those of a map that have work to do. Begin and end of an operation are active together: see [`Operations::activate`].
    pub(crate) fn new(map: &Map<'_>, levels: &[u8], trial: &Path) -> Operations {
        let mut by_site: FxHashMap<u32, Of> = FxHashMap::default();
        for class in (0..map.class_count()).filter_map(|it| map.class_at(it)) {
            for method in class.methods() {
                let is_active = |it: &SiteId| levels.get(it.0 as usize).is_some_and(|&level| level != 0);
                let is_operation =
                    |site: &SiteId| map.kind(*site).is_some_and(|kind: SiteKind| kind.is_operation());
                let sites: Vec<SiteId> = method.hooks().map(|it| it.site).filter(is_operation).collect();
                // One that is the method itself, or several that are calls in it.
                for &begin in sites.iter().filter(|it| map.kind(**it) == Some(SiteKind::Operation)) {
                    let Some(waist) = row(map, &class, &method, begin) else { continue };
                    let key = map.match_key(begin);
                    let own: Vec<SiteId> =
                        sites.iter().copied().filter(|it| map.match_key(*it) == key).collect();
                    if own.iter().any(is_active) {
                        by_site.extend(own.iter().map(|it| (it.0, Of { begin, waist })));
                    }
                }
            }
        }
        let named = trial.join(FRESH_DIRECTORY);
        let roots = match by_site.is_empty() {
            true => Vec::new(),
            false => named.canonicalize().into_iter().chain([named]).collect(),
        };
        Operations { by_site, roots }
    }

    /// Whether some are on objects.
    pub(crate) fn has_objects(&self) -> bool {
        self.by_site.values().any(|it| it.waist.is_between_threads())
    }

    /// Lets begins and ends call the agent wherever either of them has something to do.
    pub(crate) fn activate(&self, levels: &mut [u8]) {
        for site in self.by_site.keys() {
            levels[*site as usize] |= crate::fast::AGENT_ONLY;
        }
    }

    #[inline]
    pub(crate) fn has(&self, site: SiteId) -> bool {
        !self.by_site.is_empty() && self.by_site.contains_key(&site.0)
    }

    /// The path below the directory of the trial.
    fn below(&self, path: &Path) -> Option<String> {
        let absolute = std::path::absolute(path).ok()?;
        let mut clean = PathBuf::new();
        for part in absolute.components() {
            match part {
                Component::ParentDir => {
                    clean.pop();
                }
                Component::CurDir => {}
                part => clean.push(part),
            }
        }
        let rest = self.roots.iter().find_map(|root| clean.strip_prefix(root).ok())?;
        Some(if rest.as_os_str().is_empty() { ".".to_owned() } else { rest.to_string_lossy().into_owned() })
    }

    /// The file or connection of a descriptor.
    fn of_descriptor(&self, fd: i32) -> Option<(String, bool)> {
        let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
        let bytes = link.as_os_str().as_bytes();
        if bytes.starts_with(b"socket:") {
            return connection(fd).map(|it| (it, true));
        }
        let path = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
        self.below(Path::new(std::ffi::OsStr::from_bytes(path))).map(|it| (it, false))
    }

    /// What an operand names, and whether it is a connection.
    fn name(&self, jni: Jni, object: jobject, operand: Operand) -> Option<(String, bool)> {
        const DESCRIPTOR: &CStr = c"Ljava/io/FileDescriptor;";
        if object.is_null() {
            return None;
        }
        let file = |path: &Path| self.below(path).map(|it| (it, false));
        match operand {
            Operand::Text => file(Path::new(&jni.text(object))),
            Operand::File => {
                let path = jni.object_field(object, c"path", c"Ljava/lang/String;")?;
                file(Path::new(&jni.text(path)))
            }
            Operand::NioPath => {
                let path = jni.bytes(jni.object_field(object, c"path", c"[B")?);
                file(Path::new(std::ffi::OsStr::from_bytes(&path)))
            }
            Operand::Descriptor => self.of_descriptor(jni.int_field(object, c"fd")?),
            Operand::Holder => {
                let descriptor = jni.object_field(object, c"fd", DESCRIPTOR)?;
                self.of_descriptor(jni.int_field(descriptor, c"fd")?)
            }
            Operand::Object | Operand::Caller | Operand::Result => None,
        }
    }
}

/// The row of a site at which an operation begins.
fn row(map: &Map<'_>, class: &MapClass<'_>, method: &MapMethod<'_>, begin: SiteId) -> Option<&'static Waist> {
    let (callee, ..) = map.match_key(begin)?;
    if callee.is_empty() {
        return waist(class.name(), method.name(), method.descriptor());
    }
    let (name, descriptor) = callee.split_at(callee.iter().position(|it| *it == b'(')?);
    let name = name.rsplit(|it| *it == b'.').next()?;
    called(class.name(), method.name(), name, descriptor)
}

/// Both ends of a connection, this one first. The other end names it the other way round.
fn connection(fd: i32) -> Option<String> {
    let address = |ask: unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> i32| {
        // SAFETY: all zeros are a valid value of this plain structure.
        let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let mut len = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        // SAFETY: the structure has room for every address, and `len` says how much.
        let code = unsafe { ask(fd, (&raw mut storage).cast(), &mut len) };
        (code == 0).then(|| socket_address(&storage)).flatten()
    };
    Some(format!("{} > {}", address(libc::getsockname)?, address(libc::getpeername)?))
}

fn socket_address(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    match i32::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the kernel wrote an address of this family, and the storage is large enough and aligned for each.
            let it = unsafe { &*std::ptr::from_ref(storage).cast::<libc::sockaddr_in>() };
            let address = Ipv4Addr::from(u32::from_be(it.sin_addr.s_addr));
            Some(SocketAddr::from((address, u16::from_be(it.sin_port))))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let it = unsafe { &*std::ptr::from_ref(storage).cast::<libc::sockaddr_in6>() };
            let address = Ipv6Addr::from(it.sin6_addr.s6_addr).to_canonical();
            Some(SocketAddr::from((address, u16::from_be(it.sin6_port))))
        }
        _ => None,
    }
}

impl ThreadState {
    /// The names of what the thread works on, if it is in an operation that counts.
    pub(crate) fn works_on(&self) -> Option<(&str, &str)> {
        let what = self.tasks.within.pending.last()?.what.as_ref()?;
        Some((&what.resource, &what.other))
    }
}

/// A hit of a site of an operation.
pub(crate) struct OperationHit<'a> {
    pub state: &'static State,
    pub session: &'a Session,
    pub jni: Jni,
    pub thread: &'a mut ThreadState,
    pub who: i64,
    pub site: SiteId,
    pub level: u8,
}

impl OperationHit<'_> {
    pub(crate) fn follow(&mut self, side: Side) -> Answer {
        let Some(of) = self.state.operations.by_site.get(&self.site.0).copied() else { return Answer::GoOn };
        match side {
            Side::Begins(operands) => self.begin(of, operands),
            Side::Ends(result) => self.end(of, result.into(), None),
            Side::Returns(object) => {
                self.returns(of, object);
                self.end(of, 0, None)
            }
            Side::Fails(thrown) => self.end(of, 0, Some(thrown)),
        }
    }

    fn begin(&mut self, of: Of, operands: Operands) -> Answer {
        let what = match of.waist.deed {
            _ if !self.is_hidden() => self.what(of.waist, operands),
            Deed::Plain(OperationKind::ThreadStart) => self.what(of.waist, operands),
            _ => None,
        };
        let what = what.filter(|it| !self.is_same_work(it));
        let lasts = what.as_ref().is_some_and(|it| it.kind.may_last());
        let counts = what.is_some();
        self.thread.tasks.within.pending.push(Pending { begin: of.begin, what });
        if !counts {
            return Answer::GoOn;
        }
        if lasts {
            self.record(false, 0, None);
        }
        let answer = self.decide();
        if answer == Answer::Thrown {
            // The exception leaves the method before its handler for the end is in force.
            self.thread.tasks.within.pending.pop();
        }
        answer
    }

    /// Whether the thread is within an operation of which it is of no interest how it is done.
    fn is_hidden(&self) -> bool {
        let is_open = |it: &Pending| it.what.as_ref().is_none_or(|it| it.kind == OperationKind::Handle);
        !self.thread.tasks.within.pending.iter().all(is_open)
    }

    /// Whether it is done by way of another method for the same object: a pool runs a task, which runs itself.
    fn is_same_work(&self, what: &What) -> bool {
        let around = self.thread.tasks.within.pending.last().and_then(|it| it.what.as_ref());
        what.kind == OperationKind::Handle
            && around.is_some_and(|it| it.kind == OperationKind::Handle && it.object == what.object)
    }

    /// The object that the operation has got.
    fn returns(&mut self, of: Of, object: jobject) {
        let (id, class) = self.object(object);
        let open = self.thread.tasks.within.pending.iter_mut().rfind(|it| it.begin == of.begin);
        if let Some(what) = open.and_then(|it| it.what.as_mut()) {
            (what.other_object, what.other) = (id, class);
        }
    }

    /// The number and the class of an object.
    fn object(&self, object: jobject) -> (ObjectId, String) {
        let OperationHit { state, jni, .. } = *self;
        if object.is_null() {
            return (ObjectId(0), String::new());
        }
        let class = jni.class_of(object).and_then(|class| {
            let signature = state.jvmti.class_signature(class).ok();
            jni.delete_local(class);
            signature
        });
        let id = state.objects.id(state.jvmti, object);
        (id, class.map(|it| class_of_signature(&it)).unwrap_or_default())
    }

    /// An operation on an object.
    fn on_object(&self, kind: OperationKind, waist: &Waist, operands: Operands) -> What {
        let OperationHit { state, jni, .. } = *self;
        let own = match waist.first.1 {
            Operand::Caller => state.jvmti.current_thread().ok(),
            _ => None,
        };
        let (object, resource) = self.object(own.unwrap_or(operands.first));
        let result = match kind {
            OperationKind::ThreadStart => jni.long_field(operands.first, c"tid"),
            _ => None,
        };
        own.into_iter().for_each(|it| jni.delete_local(it));
        let (other_object, other) = match waist.second {
            Some((_, Operand::Object)) => self.object(operands.second),
            _ => (ObjectId(0), String::new()),
        };
        let begun = self.session.trial().next_sequence();
        What { kind, begun, resource, other, object, other_object, result }
    }

    fn what(&self, waist: &Waist, operands: Operands) -> Option<What> {
        if let Deed::Plain(kind) = waist.deed
            && kind.is_between_threads()
        {
            return Some(self.on_object(kind, waist, operands));
        }
        let operations = &self.state.operations;
        let first = operations.name(self.jni, operands.first, waist.first.1);
        let second = waist.second.and_then(|it| operations.name(self.jni, operands.second, it.1));
        // Of a renaming, either name may be elsewhere.
        if first.is_none() && second.is_none() {
            return None;
        }
        let is_connection = first.as_ref().is_some_and(|it| it.1);
        let text = |it: Option<(String, bool)>| it.map_or_else(String::new, |it| it.0);
        Some(What {
            kind: waist.kind(operands.number, is_connection),
            begun: self.session.trial().next_sequence(),
            resource: text(first),
            other: text(second),
            object: ObjectId(0),
            other_object: ObjectId(0),
            result: None,
        })
    }

    /// Ends the operation and those within it whose ends were missed.
    fn end(&mut self, of: Of, result: i64, thrown: Option<jobject>) -> Answer {
        let Some(at) = self.thread.tasks.within.pending.iter().rposition(|it| it.begin == of.begin) else {
            return Answer::GoOn;
        };
        self.thread.tasks.within.pending.truncate(at + 1);
        let counts = self.thread.tasks.within.pending[at].what.is_some();
        let answer = if counts {
            self.record(true, result, thrown);
            self.decide()
        } else {
            Answer::GoOn
        };
        self.thread.tasks.within.pending.truncate(at);
        answer
    }

    fn record(&mut self, ended: bool, result: i64, thrown: Option<jobject>) {
        if self.level & level::EVENT == 0 {
            return;
        }
        let OperationHit { state, session, jni, .. } = *self;
        let Some(what) = self.thread.tasks.within.pending.last().and_then(|it| it.what.as_ref()) else {
            return;
        };
        let failed = thrown
            .and_then(|it| jni.class_of(it))
            .and_then(|class| state.jvmti.class_signature(class).ok())
            .map(|it| session.string(&class_of_signature(&it)));
        let frames = state.stacks.capture(state.jvmti, jni);
        let record = OperationRecord {
            site: self.site,
            ended,
            kind: what.kind,
            begun: what.begun,
            resource: session.string(&what.resource),
            other: session.string(&what.other),
            object: what.object,
            other_object: what.other_object,
            stack: state.stacks.intern(state.jvmti, jni, session, &frames),
            failed: failed.unwrap_or_default(),
            result: what.result.unwrap_or(result),
        };
        self.thread.ring(session).operation(session.trial(), &record);
    }

    fn decide(&mut self) -> Answer {
        if self.level & level::DECIDE == 0 {
            return Answer::GoOn;
        }
        let OperationHit { state, session, jni, who, site, .. } = *self;
        let mut hit = Hit { state, session, jni, thread: self.thread, who, seen: Seen::Nothing };
        state.arsenal.decide(&mut hit, site, 0)
    }
}
