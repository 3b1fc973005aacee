//! What the agent keeps for each native thread.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use hypocenter_trace::{Interned, Lane, Session, SiteId, Step, Stream};

use crate::fast;
use crate::jni::Jni;
use crate::state::State;
use crate::tasks::{TaskStack, java_thread};
use crate::trails::{Remembered, Side, Surroundings, Trails};

/// A native thread: a platform thread, or the carrier of virtual ones.
pub(crate) struct ThreadState {
    ring: Option<Stream>,
    /// Where Java code writes events of this thread.
    lane: Option<&'static Lane>,
    /// The thread whose lane was taken by another, so that it is not tried at each hit.
    without_lane: i64,
    /// The helper's number for the Java thread and its name, as it was at the last event.
    who: i64,
    pub thread: Interned,
    pub name: String,
    /// What that thread works on.
    pub tasks: TaskStack,
    /// How long the helper is to sleep.
    pub pending_ns: u64,
    /// The candidate at which the helper is to let the thread wait for the one before it.
    pub awaits: Option<u32>,
    /// The constant that the helper is to load.
    pub constant: Option<Replacement>,
    /// Made at the first step of a trail.
    remembered: Option<Box<Remembered>>,
}

/// The value of a constant that is loaded instead of its own.
pub(crate) enum Replacement {
    /// The bits of a number.
    Number(u64),
    Text(String),
}

thread_local! {
    /// Borrowed for as long as the agent works for the thread: a hook that is reached meanwhile, because the
    /// agent itself made the JVM run Java code, finds it taken and does nothing.
    pub(crate) static CURRENT: RefCell<ThreadState> = const {
        RefCell::new(ThreadState {
            ring: None,
            lane: None,
            without_lane: 0,
            who: 0,
            thread: Interned(0),
            name: String::new(),
            tasks: TaskStack::EMPTY,
            pending_ns: 0,
            awaits: None,
            constant: None,
            remembered: None,
        })
    };
}

/// The lanes of this JVM's threads, by the lower bits of their numbers. They are there until the process ends.
pub(crate) fn lanes() -> &'static [Lane] {
    static ALL: OnceLock<Box<[Lane]>> = OnceLock::new();
    ALL.get_or_init(|| (0..fast::LANES).map(|_| Lane::default()).collect())
}

/// The state of a thread while the agent works for it: Java code that is run meanwhile writes no events.
pub(crate) struct Working<'a>(&'a mut ThreadState);

impl Deref for Working<'_> {
    type Target = ThreadState;

    fn deref(&self) -> &ThreadState {
        self.0
    }
}

impl DerefMut for Working<'_> {
    fn deref_mut(&mut self) -> &mut ThreadState {
        self.0
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let it = &*self.0;
        if let (Some(lane), Some(ring)) = (it.lane, &it.ring)
            && it.thread.0 != 0
            && ring.thread() == it.thread.0
        {
            ring.lend(lane, java_thread(it.who) as u64);
        }
    }
}

impl ThreadState {
    /// Begins to work for the thread, whose carrier has this number.
    #[inline]
    pub(crate) fn working(&mut self, carrier: i64) -> Working<'_> {
        match self.lane {
            Some(lane) if lane.owner() == carrier as u64 => {
                if let Some(ring) = &mut self.ring {
                    ring.take_back(lane);
                }
            }
            _ => self.find_lane(carrier),
        }
        Working(self)
    }

    #[cold]
    fn find_lane(&mut self, carrier: i64) {
        if carrier == 0 || self.without_lane == carrier {
            return;
        }
        self.leave_lane();
        let lane = &lanes()[carrier as usize % fast::LANES];
        if lane.claim(carrier as u64) {
            self.lane = Some(lane);
        } else {
            self.without_lane = carrier;
        }
    }

    fn leave_lane(&mut self) {
        if let Some(lane) = self.lane.take() {
            if let Some(ring) = &mut self.ring {
                ring.take_back(lane);
            }
            lane.release();
        }
    }

    /// Finds out who the current Java thread is, if it is not the one of the last event.
    #[inline]
    pub(crate) fn identify(&mut self, state: &State, session: &Session, jni: Jni, who: i64) {
        if self.thread.0 == 0 || self.who != who {
            self.look_up(state, session, jni, who);
        }
    }

    #[cold]
    fn look_up(&mut self, state: &State, session: &Session, jni: Jni, who: i64) {
        let (before, now) = (java_thread(self.who), java_thread(who));
        if self.thread.0 != 0 && before != now {
            state.tasks.change(&mut self.tasks, before, now);
        }
        self.who = who;
        self.name = state.jvmti.thread_name().unwrap_or_default();
        let java_id = state.jvmti.current_thread().ok().and_then(|thread| {
            let id = jni.long_field(thread, c"tid");
            jni.delete_local(thread);
            id
        });
        self.thread = session.thread(java_id.unwrap_or(0) as u64, &self.name);
    }

    /// Works with what the current thread is in, which a virtual thread takes along when it changes its carrier.
    pub(crate) fn within<T>(
        &mut self,
        state: &State,
        (who, carrier): (i64, i64),
        work: impl FnOnce(&mut ThreadState) -> T,
    ) -> T {
        let thread = java_thread(who);
        if thread == 0 || carrier == 0 || thread == carrier {
            return work(self);
        }
        self.tasks.within = state.tasks.within(thread);
        let result = work(self);
        state.tasks.keep(thread, std::mem::take(&mut self.tasks.within));
        result
    }

    /// The ring, speaking for the current thread.
    #[inline]
    pub(crate) fn ring(&mut self, session: &Session) -> &mut Stream {
        let thread = self.thread.0;
        let ring = self.ring.get_or_insert_with(|| session.ring());
        ring.switch_to(session.trial(), thread, || self.tasks.state());
        ring.in_context(session.trial(), self.tasks.trail.context());
        ring
    }

    /// Follows the current thread on its trail.
    pub(crate) fn track(&mut self, trails: &Trails, session: &Session, side: Side, site: SiteId, value: u32) {
        self.ring(session);
        let Some(ring) = &mut self.ring else { return };
        let remembered = self.remembered.get_or_insert_default();
        self.tasks.trail.follow(side, site, value, &mut Surroundings { trails, session, ring, remembered });
    }

    /// Follows the current thread into another state of its task, and says so in the trace.
    pub(crate) fn step(&mut self, session: &Session, step: Step) {
        // Speaks for the thread before the step, so that the trace has the state that it comes from.
        self.ring(session);
        if self.tasks.follow(step) {
            let state = self.tasks.state();
            self.ring(session).came_to(session.trial(), state, step);
        }
    }
}

impl Drop for ThreadState {
    fn drop(&mut self) {
        self.leave_lane();
        if let (Some(ring), Some(session)) = (self.ring.take(), State::get().and_then(State::session)) {
            session.return_ring(ring);
        }
    }
}
