//! Which executions of log statements wrote something.
//!
//! A log statement that is executed writes nothing if its level is filtered. What was let through enters a method of the framework
//! behind the filter ([`EMITTING`](hypocenter_program::EMITTING)), in the same thread, before it does anything else that logs.

use rustc_hash::FxHashMap;

use crate::case::SiteRole;

/// When a statement was executed, in ticks, by thread and statement.
pub(crate) type ByStatement = FxHashMap<(u32, u32), Vec<u64>>;

/// The executions of log statements in a JVM.
#[derive(Debug, Default)]
pub(crate) struct Emissions {
    executed: ByStatement,
    emitted: ByStatement,
    /// For each thread the statement that it executed last, and when.
    last: FxHashMap<u32, (u32, u64)>,
    /// Whether the framework is one that says what it lets through.
    is_known: bool,
}

impl Emissions {
    /// The next event of the JVM. Those of a thread come in their order.
    pub fn see(&mut self, role: SiteRole, thread: u32, ticks: u64) {
        match role {
            SiteRole::Log(statement) => {
                self.executed.entry((thread, statement)).or_default().push(ticks);
                self.last.insert(thread, (statement, ticks));
            }
            SiteRole::Print(statement) => {
                for all in [&mut self.executed, &mut self.emitted] {
                    all.entry((thread, statement)).or_default().push(ticks);
                }
            }
            SiteRole::Emission => {
                self.is_known = true;
                if let Some((statement, ticks)) = self.last.remove(&thread) {
                    self.emitted.entry((thread, statement)).or_default().push(ticks);
                }
            }
            SiteRole::Fault(_) | SiteRole::Nothing => {}
        }
    }

    /// What wrote something; of an unknown framework, all that was executed.
    pub fn written(self) -> ByStatement {
        if self.is_known { self.emitted } else { self.executed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: SiteRole = SiteRole::Log(7);
    const PRINT: SiteRole = SiteRole::Print(8);

    fn written(events: &[(SiteRole, u32, u64)]) -> Vec<(u32, u32, u64)> {
        let mut emissions = Emissions::default();
        for &(role, thread, ticks) in events {
            emissions.see(role, thread, ticks);
        }
        let written = emissions.written();
        let mut all: Vec<(u32, u32, u64)> = written
            .into_iter()
            .flat_map(|((thread, statement), ticks)| ticks.into_iter().map(move |it| (thread, statement, it)))
            .collect();
        all.sort_unstable_by_key(|it| it.2);
        all
    }

    #[test]
    fn what_is_filtered_wrote_nothing() {
        let passed = SiteRole::Emission;
        // The first and the third pass, and the last through the appenders of two loggers.
        let events =
            [(LOG, 1, 10), (passed, 1, 11), (LOG, 1, 20), (LOG, 1, 30), (passed, 1, 31), (passed, 1, 32)];
        assert_eq!(written(&events), [(1, 7, 10), (1, 7, 30)]);
        // Threads log at the same time.
        let events =
            [(LOG, 1, 10), (LOG, 2, 11), (passed, 2, 12), (SiteRole::Fault(3), 1, 13), (passed, 1, 14)];
        assert_eq!(written(&events), [(1, 7, 10), (2, 7, 11)]);
        // Nothing filters what is printed.
        assert_eq!(written(&[(LOG, 1, 10), (PRINT, 1, 20), (passed, 2, 30)]), [(1, 8, 20)]);
    }

    #[test]
    fn of_an_unknown_framework_all_is_taken_for_written() {
        assert_eq!(
            written(&[(LOG, 1, 10), (PRINT, 1, 20), (LOG, 2, 30)]),
            [(1, 7, 10), (1, 8, 20), (2, 7, 30)]
        );
        assert_eq!(written(&[]), []);
    }
}
