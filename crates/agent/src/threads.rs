//! What the agent keeps for each native thread.

use std::cell::RefCell;

use hypocenter_trace::{Interned, Session, Step, Stream};

use crate::jni::Jni;
use crate::state::State;
use crate::tasks::{TaskStack, java_thread};

/// A native thread: a platform thread, or the carrier of virtual ones.
pub(crate) struct ThreadState {
    ring: Option<Stream>,
    /// The helper's number for the Java thread and its name, as it was at the last event.
    who: i64,
    pub thread: Interned,
    pub name: String,
    /// What that thread works on.
    pub tasks: TaskStack,
    /// How long the helper is to sleep.
    pub pending_ns: u64,
}

thread_local! {
    /// Borrowed for as long as the agent works for the thread: a hook that is reached meanwhile, because the
    /// agent itself made the JVM run Java code, finds it taken and does nothing.
    pub(crate) static CURRENT: RefCell<ThreadState> = const {
        RefCell::new(ThreadState {
            ring: None,
            who: 0,
            thread: Interned(0),
            name: String::new(),
            tasks: TaskStack::EMPTY,
            pending_ns: 0,
        })
    };
}

impl ThreadState {
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

    /// The ring, speaking for the current thread.
    #[inline]
    pub(crate) fn ring(&mut self, session: &Session) -> &mut Stream {
        let thread = self.thread.0;
        let ring = self.ring.get_or_insert_with(|| session.ring());
        ring.switch_to(session.trial(), thread, || self.tasks.state());
        ring
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
        if let (Some(ring), Some(session)) = (self.ring.take(), State::get().and_then(State::session)) {
            session.return_ring(ring);
        }
    }
}
