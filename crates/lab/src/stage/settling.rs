//! The end of a trial whose nodes are to be there again: a crash near its end would otherwise show nothing of the restart.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use hypocenter_plan::{End, Role};

use super::{Event, Play, READY_TIME};
use crate::LabError;

impl Play<'_, '_> {
    /// Waits until each crash has ended its process and each node that is started again is ready.
    pub(super) fn settle_nodes(&mut self, end: End, inbox: &Receiver<Event>) -> Result<End, LabError> {
        let Some(crashes) = self.stage.crashes.filter(|_| end.is_well()) else { return Ok(end) };
        let limit = self.stage.timeout.unwrap_or(READY_TIME);
        loop {
            let waiting = self.not_ready();
            let crashing = self.is_crashing(crashes)?;
            if waiting.is_none() && self.restarts.is_empty() && !crashing {
                return Ok(end);
            }
            if waiting.is_some_and(|it| self.gone(it)) {
                return Ok(End::NotReady);
            }
            let left = limit.saturating_sub(self.started.elapsed());
            if left == Duration::ZERO {
                if let Some(waiting) = waiting {
                    self.say_not_ready(waiting, limit);
                }
                return Ok(End::NotReady);
            }
            if let Some(end) = self.step(inbox, left)? {
                return Ok(end);
            }
        }
    }

    /// Tests whether a crash has happened whose process was not seen to end yet.
    fn is_crashing(&self, crashes: &[u32]) -> Result<bool, LabError> {
        let is_over = |role: Role| role != Role::Client;
        if self.actors.iter().any(|it| is_over(it.outcome.role) && it.outcome.end.is_some()) {
            return Ok(false);
        }
        for &candidate in crashes {
            if self.stage.trial.is_injected(candidate)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
