//! Observer of a running trial.

use hypocenter_plan::Role;

use crate::output::Output;

/// Sees the processes of a trial while they run.
pub trait Observer: Sync {
    /// A trial begins. By the thread that runs it.
    fn began(&self) {}

    /// The trial that began on this thread is over, or could not be run; comes once for each that began.
    fn ended(&self) {}

    /// A process wrote something: whole lines, unless a line is very long or the last.
    fn output(&self, _process: &str, _role: Role, _from: Output, _bytes: &[u8]) {}

    /// Something happened to a process, in words: it is ready, it ended, it was started again.
    fn event(&self, _process: &str, _what: &str) {}

    /// The trial's plan is written, and its processes are about to be started.
    fn planned(&self) {}

    /// The last process of the trial is gone. By the thread that runs the trial, as the one above.
    fn gone(&self) {}

    /// Asked now and then; true ends the trial.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Looks at nothing.
#[derive(Debug, Clone, Copy)]
pub struct Unobserved;

impl Observer for Unobserved {}
