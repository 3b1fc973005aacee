//! Hears when a campaign does something new, so that what a resumed one learnt before is not told again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hypocenter_engine::Job;
use hypocenter_lab::Progress;

use crate::screen;

/// Hears when the first job starts.
#[derive(Debug, Clone, Default)]
pub struct Listening(Arc<AtomicBool>);

impl Listening {
    /// Whether something was started by now.
    pub fn is_live(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Progress for Listening {
    fn resumed(&self, told: u64, cut: bool) {
        let more = if cut { "; its last line was cut short, and that trial is run again" } else { "" };
        screen::resumed(told, more);
    }

    fn started(&self, _: &Job) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn again(&self, job: &Job, why: &str) {
        screen::run_again(job.id.0, why);
    }
}
