//! The time since the command was given: what people wait for begins there, not where trials do.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

static BEGUN: OnceLock<Instant> = OnceLock::new();

/// When the command was given; the first call sets it.
pub fn begun() -> Instant {
    *BEGUN.get_or_init(Instant::now)
}

/// The time since then.
pub fn waited() -> Duration {
    begun().elapsed()
}
