//! What the user asks for by Ctrl-C: the trials that run are ended, what was recorded stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user has asked.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on the signals that ask are noted.
    pub fn watch() -> Interrupt {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // Where the handler cannot be set the default stays: the tool ends at once, and its trials with it.
            let _ = signal_hook::flag::register(signal, asked.clone());
        }
        Interrupt(asked)
    }

    /// Whether the user has asked.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
