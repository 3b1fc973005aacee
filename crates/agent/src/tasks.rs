//! What a thread works on: the tasks that are nested on its stack, and the abstract state of each.
//!
//! A task begins where its method is entered and ends where that is left, normally or by an exception. The hooks say
//! which method they are of, so a thread whose stack lost count, because a hook could not be placed, finds itself again.

use std::sync::Mutex;

use hypocenter_plan::StateId;
use hypocenter_trace::{ArmedStep, SiteId, Step};
use rustc_hash::FxHashMap;

use crate::monitors::Held;
use crate::operations::Pending;
use crate::trails::Trail;

/// How deep tasks are nested before further ones only count.
const NESTED_MAX: usize = 64;

/// A task that a thread works on.
#[derive(Clone, Copy)]
struct Frame {
    task: u32,
    state: StateId,
}

/// The tasks of a Java thread, the innermost last.
#[derive(Default)]
pub(crate) struct TaskStack {
    frames: Vec<Frame>,
    /// Tasks beyond [`NESTED_MAX`].
    deeper: u32,
    /// The calls and loops around the thread. They are put aside with its tasks.
    pub trail: Trail,
    /// What the thread is in. Put aside likewise.
    pub within: Within,
}

/// What a Java thread is in.
#[derive(Default)]
pub(crate) struct Within {
    /// Operations, the outermost first.
    pub pending: Vec<Pending>,
    /// The monitors that its `synchronized` methods hold.
    pub held: Vec<Held>,
}

impl Within {
    const NOTHING: Within = Within { pending: Vec::new(), held: Vec::new() };

    fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.held.is_empty()
    }
}

impl TaskStack {
    pub(crate) const EMPTY: TaskStack =
        TaskStack { frames: Vec::new(), deeper: 0, trail: Trail::EMPTY, within: Within::NOTHING };

    /// The state that the thread is in.
    #[inline]
    pub(crate) fn state(&self) -> StateId {
        self.frames.last().map_or(StateId::NO_TASK, |it| it.state)
    }

    /// Follows a step; false if it changes nothing.
    pub(crate) fn follow(&mut self, step: Step) -> bool {
        match step {
            Step::Enter { task, state } => {
                if self.frames.len() == NESTED_MAX {
                    self.deeper += 1;
                    return false;
                }
                let state = state.unwrap_or_else(|| self.state());
                self.frames.push(Frame { task, state });
                true
            }
            // What is nested too deep to be known keeps the state of the last that is.
            Step::Reach { .. } if self.deeper > 0 => false,
            Step::Reach { task, state } => {
                let Some(at) = self.find(task) else { return false };
                // Whatever lies above it has ended.
                self.frames.truncate(at + 1);
                std::mem::replace(&mut self.frames[at].state, state) != state
            }
            Step::Leave { .. } if self.deeper > 0 => {
                self.deeper -= 1;
                false
            }
            Step::Leave { task } => {
                let Some(at) = self.find(task) else { return false };
                self.frames.truncate(at);
                true
            }
        }
    }

    fn find(&self, task: u32) -> Option<usize> {
        self.frames.iter().rposition(|it| it.task == task)
    }

    fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.deeper == 0 && self.trail.is_empty() && self.within.is_empty()
    }
}

/// The steps of the trial, by site, and the tasks of virtual threads that no carrier has at hand.
pub(crate) struct Tasks {
    steps: FxHashMap<u32, Step>,
    parked: Mutex<FxHashMap<i64, TaskStack>>,
    /// What virtual threads are in: one that waits there may go on with another carrier.
    within: Mutex<FxHashMap<i64, Within>>,
}

impl Tasks {
    pub(crate) fn new(steps: Vec<ArmedStep>) -> Tasks {
        let steps = steps.into_iter().map(|it| (it.site.0, it.step)).collect();
        Tasks { steps, parked: Mutex::default(), within: Mutex::default() }
    }

    pub(crate) fn step(&self, site: SiteId) -> Option<Step> {
        self.steps.get(&site.0).copied()
    }

    /// What a virtual thread is in; it is given back by [`Tasks::keep`].
    pub(crate) fn within(&self, thread: i64) -> Within {
        let mut all = self.within.lock().unwrap_or_else(|poison| poison.into_inner());
        all.remove(&thread).unwrap_or_default()
    }

    /// Keeps what a virtual thread is in until its next hit.
    pub(crate) fn keep(&self, thread: i64, within: Within) {
        if !within.is_empty() {
            self.within.lock().unwrap_or_else(|poison| poison.into_inner()).insert(thread, within);
        }
    }

    /// Puts the tasks of one Java thread aside and brings those of another: both are run by the same native thread.
    pub(crate) fn change(&self, stack: &mut TaskStack, from: i64, to: i64) {
        let mut parked = self.parked.lock().unwrap_or_else(|poison| poison.into_inner());
        if !stack.is_empty() {
            parked.insert(from, std::mem::take(stack));
        }
        if let Some(own) = parked.remove(&to) {
            *stack = own;
        }
    }
}

/// The number of the Java thread in what the helper says of it: 0 where a JVM has no virtual threads, so that a native
/// thread is a Java thread.
pub(crate) fn java_thread(who: i64) -> i64 {
    (who ^ i64::from(who as i32)) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(task: u32, state: u32) -> Step {
        Step::Enter { task, state: Some(StateId(state)) }
    }

    fn reach(task: u32, state: u32) -> Step {
        Step::Reach { task, state: StateId(state) }
    }

    /// The state behind each step.
    fn states(steps: &[Step]) -> Vec<u32> {
        let mut stack = TaskStack::default();
        let state = |step: &Step| {
            stack.follow(*step);
            stack.state().0
        };
        steps.iter().map(state).collect()
    }

    #[test]
    fn a_nested_task_has_a_state_of_its_own() {
        let leave = |task| Step::Leave { task };
        assert_eq!(
            states(&[enter(1, 5), reach(1, 6), enter(2, 9), reach(2, 8), leave(2), leave(1)]),
            [5, 6, 9, 8, 6, 0]
        );
        // A method without a state at its start goes on in its caller's.
        assert_eq!(states(&[enter(1, 5), Step::Enter { task: 2, state: None }, reach(2, 8)]), [5, 5, 8]);
    }

    #[test]
    fn a_task_whose_end_was_missed_ends_with_the_one_around_it() {
        assert_eq!(states(&[enter(1, 5), enter(2, 9), reach(1, 6), Step::Leave { task: 1 }]), [5, 9, 6, 0]);
        assert_eq!(states(&[enter(1, 5), Step::Leave { task: 3 }, reach(3, 7)]), [5, 5, 5]);
    }

    #[test]
    fn endless_nesting_is_counted_and_not_kept() {
        let mut stack = TaskStack::default();
        for it in 0..1000 {
            stack.follow(enter(1, it));
        }
        assert_eq!((stack.frames.len(), stack.state().0), (NESTED_MAX, NESTED_MAX as u32 - 1));
        stack.follow(reach(1, 2000));
        assert_eq!(stack.state().0, NESTED_MAX as u32 - 1);
        for _ in 0..1000 {
            stack.follow(Step::Leave { task: 1 });
        }
        assert!(stack.is_empty());
    }

    #[test]
    fn virtual_threads_have_their_own_tasks() {
        let tasks = Tasks::new(Vec::new());
        let mut carrier = TaskStack::default();
        carrier.follow(enter(1, 5));
        tasks.change(&mut carrier, 30, 31);
        assert_eq!(carrier.state().0, 0);
        carrier.follow(enter(1, 6));
        tasks.change(&mut carrier, 31, 30);
        assert_eq!(carrier.state().0, 5);
        let mut other = TaskStack::default();
        tasks.change(&mut other, 99, 31);
        assert_eq!(other.state().0, 6);
    }

    #[test]
    fn the_number_of_a_thread_is_found_whatever_its_name() {
        for (id, hash) in [(1i64, 0i32), (37, -5), (1 << 30, i32::MAX), (4, i32::MIN)] {
            assert_eq!(java_thread((id << 32) ^ i64::from(hash)), id);
            assert_eq!(java_thread(i64::from(hash)), 0);
        }
    }
}
