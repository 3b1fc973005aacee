//! Hears how far a campaign is, and when it does something new: what a resumed one learnt before is not told again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hypocenter_engine::Job;
use hypocenter_lab::Progress;

use crate::screen;

/// Hears when the first job starts, and for how long the campaign has been under way.
#[derive(Debug, Clone, Default)]
pub struct Listening(Arc<Heard>);

#[derive(Debug, Default)]
struct Heard {
    is_live: AtomicBool,
    /// Over all sittings, when the last result was told.
    elapsed_ms: AtomicU64,
    /// Over the sittings before this one.
    before_ms: AtomicU64,
}

impl Listening {
    /// Whether something was started by now.
    pub fn is_live(&self) -> bool {
        self.0.is_live.load(Ordering::Relaxed)
    }

    /// How long people had waited for the campaign when the last result was told.
    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.elapsed_ms.load(Ordering::Relaxed))
    }

    /// The same for all sittings before this one.
    pub fn before(&self) -> Duration {
        Duration::from_millis(self.0.before_ms.load(Ordering::Relaxed))
    }
}

impl Progress for Listening {
    fn resumed(&self, told: u64, cut: bool) {
        let more = if cut { "; its last line was cut short, and that trial is run again" } else { "" };
        screen::resumed(told, more);
        self.0.before_ms.store(self.0.elapsed_ms.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn under_way(&self, elapsed: Duration) {
        self.0.elapsed_ms.store(elapsed.as_millis() as u64, Ordering::Relaxed);
    }

    fn started(&self, _: &Job) {
        self.0.is_live.store(true, Ordering::Relaxed);
    }

    fn again(&self, job: &Job, why: &str) {
        screen::run_again(job.id.0, why);
    }
}
