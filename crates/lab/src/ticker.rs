//! The clock word of a trial: events that do not need their exact time read it instead of a clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hypocenter_trace::{TraceError, TrialControl};

/// How often the word is set. A shorter time costs a noticeable part of a core.
const TICK: Duration = Duration::from_millis(1);

/// Sets the clock word until the trial is over, and notes for how long it stood still at the most. Sleeps are late on a busy machine, so
/// the longest time can be much longer than a tick.
pub(crate) fn run(trial: &TrialControl, over: &AtomicBool) -> Result<(), TraceError> {
    let mut last = Instant::now();
    let mut gap = Duration::ZERO;
    while !over.load(Ordering::Acquire) {
        trial.tick()?;
        let now = Instant::now();
        gap = gap.max(now - last);
        last = now;
        std::thread::sleep(TICK);
    }
    trial.set_clock_gap(gap.max(last.elapsed()).as_nanos() as u64)
}
