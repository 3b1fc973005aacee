//! What the JDK does with files and connections, and what threads do with each other: on which one, by whom, with which result.
//!
//! An operation lasts from the start of a method of the JDK's waist ([`waist`]) to its end. The file or connection is named at the start,
//! because a renaming changes it. Of operations within each other only the outermost counts: how a queue of the JDK locks itself is of no
//! interest. But work that was handed over is the program's, and what happens in it counts, as does the start of a thread. Of files, only what is
//! below the directory of the trial is of interest.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use hypocenter_plan::{OperationKind, SiteKind};
use hypocenter_trace::{
    Deed, FRESH_DIRECTORY, Map, MapClass, MapMethod, ObjectId, Operand, OperationRecord, ReportKind, Session,
    SiteId, Waist, called, level, waist,
};
use jvmti_bindings::sys::jni::jobject;
use rustc_hash::FxHashMap;

use crate::decide::{Answer, Hit, Seen};
use crate::jni::Jni;
use crate::lasting::{self, Lasting};
use crate::stacks::class_of_signature;
use crate::state::State;
use crate::threads::ThreadState;

/// The number of a socket in the kernel: a descriptor may be used again, this is not while the socket is open.
pub(crate) type Inode = u64;

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
    /// True if the plan records or decides anything there.
    is_watched: bool,
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
    /// The candidate by which its bytes do not arrive.
    swallowed_by: Option<u32>,
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
    /// The socket, of a connection.
    socket: Option<Inode>,
}

/// What an operand names.
struct Named {
    name: String,
    /// The socket, of a connection.
    socket: Option<Inode>,
}

impl Operations {
    /// Those of a map that have work to do. Begin and end of an operation are active together: see [`Operations::activate`].
    pub(crate) fn new(map: &Map<'_>, levels: &[u8], trial: &Path, lasting: &Lasting) -> Operations {
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
                    let is_watched = own.iter().any(is_active);
                    if is_watched || lasting.needs(waist) {
                        by_site.extend(own.iter().map(|it| (it.0, Of { begin, waist, is_watched })));
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

    /// Tests whether some are on objects.
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
    fn of_descriptor(&self, fd: i32) -> Option<Named> {
        let link = link_of(fd)?;
        if let Some(socket) = socket_of(&link) {
            return connection(fd).map(|name| Named { name, socket: Some(socket) });
        }
        let bytes = link.as_os_str().as_bytes();
        let path = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
        self.of_path(Path::new(std::ffi::OsStr::from_bytes(path)))
    }

    fn of_path(&self, path: &Path) -> Option<Named> {
        self.below(path).map(|name| Named { name, socket: None })
    }

    fn name(&self, jni: Jni, object: jobject, operand: Operand) -> Option<Named> {
        if object.is_null() {
            return None;
        }
        match operand {
            Operand::Text | Operand::File | Operand::NioPath => self.of_path(&path(jni, object, operand)?),
            Operand::Address => None,
            Operand::Descriptor => self.of_descriptor(jni.int_field(object, c"fd")?),
            Operand::Holder => {
                let descriptor = jni.object_field(object, c"fd", c"Ljava/io/FileDescriptor;")?;
                self.of_descriptor(jni.int_field(descriptor, c"fd")?)
            }
            Operand::Object | Operand::Caller | Operand::Result => None,
        }
    }
}

/// The path that an operand is.
fn path(jni: Jni, object: jobject, operand: Operand) -> Option<PathBuf> {
    match operand {
        Operand::Text => Some(jni.text(object).into()),
        Operand::File => Some(jni.text(jni.object_field(object, c"path", c"Ljava/lang/String;")?).into()),
        Operand::NioPath => {
            let bytes = jni.bytes(jni.object_field(object, c"path", c"[B")?);
            Some(OsString::from_vec(bytes).into())
        }
        _ => None,
    }
}

pub(crate) fn link_of(fd: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()
}

/// The socket that a descriptor is of, by what `/proc` says of it.
pub(crate) fn socket_of(link: &Path) -> Option<Inode> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
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

    /// The socket over which the thread is about to send, if it is.
    pub(crate) fn sends_over(&self) -> Option<Inode> {
        let what = self.tasks.within.pending.last()?.what.as_ref()?;
        what.socket.filter(|_| what.kind == OperationKind::Send)
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
        let lasting = &self.state.lasting;
        if of.waist.deed == Deed::Connect {
            self.connect(operands);
        }
        let is_of_interest = of.is_watched || lasting.is_any_full(self.session.trial());
        let is_start = of.waist.deed == Deed::Plain(OperationKind::ThreadStart);
        let is_seen = is_of_interest && (is_start || !self.is_hidden());
        let what = if is_seen { self.what(of.waist, operands) } else { None };
        let what = what.filter(|it| !self.is_same_work(it));
        let lasts = what.as_ref().is_some_and(|it| it.kind.may_last());
        let counts = what.is_some();
        self.thread.tasks.within.pending.push(Pending { begin: of.begin, what, swallowed_by: None });
        if lasts {
            self.record(false, 0, None);
        }
        let mut answer = if counts { self.decide() } else { Answer::GoOn };
        if counts && answer != Answer::Thrown {
            answer = self.run_short(of.waist, operands).unwrap_or(answer);
        }
        if answer == Answer::Thrown {
            // The exception leaves the method before its handler for the end is in force.
            self.thread.tasks.within.pending.pop();
        } else if of.waist.outlet.is_some() && lasting.has_silent() {
            let by = self.silenced_by(operands.first);
            self.thread.tasks.within.pending.last_mut().into_iter().for_each(|it| it.swallowed_by = by);
        }
        answer
    }

    /// Lets an operation fail whose disk is full.
    fn run_short(&mut self, waist: &Waist, operands: Operands) -> Option<Answer> {
        let OperationHit { state, session, jni, site, .. } = *self;
        let what = self.thread.tasks.within.pending.last()?.what.as_ref()?;
        let shortage = waist.shortage(what.kind)?;
        let candidate = state.lasting.full(session.trial(), &what.resource)?;
        let name = path(jni, operands.first, waist.first.1).unwrap_or_default();
        match lasting::no_space(state.jvmti, jni, shortage, &name.to_string_lossy()) {
            Ok(throwable) if jni.throw(throwable) => {
                session.trial().affect(candidate, 0);
                Some(Answer::Thrown)
            }
            Ok(_) => None,
            Err(why) => {
                session.report(ReportKind::Trouble, site.0, &format!("no space left: {why}"));
                None
            }
        }
    }

    /// Lets a partition have a say before a connect.
    fn connect(&self, operands: Operands) {
        let (partitions, trial) = (&self.state.lasting.partitions, self.session.trial());
        if !partitions.any_lasts(trial) || operands.first.is_null() || operands.second.is_null() {
            return;
        }
        let to = || {
            let fd = self.jni.int_field(operands.first, c"fd")?;
            let bytes = self.jni.bytes(self.jni.invoke(operands.second, c"getAddress", c"()[B", &[])?);
            let ip: IpAddr = match <[u8; 4]>::try_from(&*bytes) {
                Ok(bytes) => Ipv4Addr::from(bytes).into(),
                Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(&*bytes).ok()?).into(),
            };
            Some((fd, SocketAddr::new(ip, u16::try_from(operands.number).ok()?)))
        };
        if let Some((fd, to)) = to() {
            partitions.connects(trial, fd, to);
        }
    }

    fn silenced_by(&self, descriptor: jobject) -> Option<u32> {
        if descriptor.is_null() {
            return None;
        }
        let socket = socket_of(&link_of(self.jni.int_field(descriptor, c"fd")?)?)?;
        self.state.lasting.silenced_by(socket)
    }

    /// Tests whether the bytes of the operation that has just begun are to be swallowed.
    pub(crate) fn is_swallowed(&self) -> bool {
        let of = self.state.operations.by_site.get(&self.site.0);
        let it = self.thread.tasks.within.pending.last();
        it.is_some_and(|it| it.swallowed_by.is_some() && of.is_some_and(|of| of.begin == it.begin))
    }

    /// Tests whether the thread is within an operation of which it is of no interest how it is done.
    fn is_hidden(&self) -> bool {
        let is_open = |it: &Pending| it.what.as_ref().is_none_or(|it| it.kind == OperationKind::Handle);
        !self.thread.tasks.within.pending.iter().all(is_open)
    }

    /// Tests whether it is done by way of another method for the same object: a pool runs a task, which runs itself.
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
        What { kind, begun, resource, other, object, other_object, result, socket: None }
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
        let socket = first.as_ref().and_then(|it| it.socket);
        let text = |it: Option<Named>| it.map_or_else(String::new, |it| it.name);
        Some(What {
            kind: waist.kind(operands.number, socket.is_some())?,
            begun: self.session.trial().next_sequence(),
            resource: text(first),
            other: text(second),
            object: ObjectId(0),
            other_object: ObjectId(0),
            result: None,
            socket,
        })
    }

    /// Ends the operation and those within it whose ends were missed.
    fn end(&mut self, of: Of, result: i64, thrown: Option<jobject>) -> Answer {
        let Some(at) = self.thread.tasks.within.pending.iter().rposition(|it| it.begin == of.begin) else {
            return Answer::GoOn;
        };
        self.thread.tasks.within.pending.truncate(at + 1);
        if let Some(candidate) = self.thread.tasks.within.pending[at].swallowed_by {
            self.session.trial().affect(candidate, u64::try_from(result).unwrap_or(0));
        }
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
