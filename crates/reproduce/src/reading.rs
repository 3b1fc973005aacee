//! The logs of a trial: read and tied while it runs as far as they are there, and the rest when it is over.

use hypocenter_engine::LogBytes;
use hypocenter_logs::{Fields, GrowingLog, Log, LogError, Memo, Statements, Tied};
use rustc_hash::FxHashMap;

/// What was read of a trial that still runs.
#[derive(Debug, Default)]
pub struct Reading {
    /// The logs by their paths.
    logs: FxHashMap<String, Followed>,
    /// What was found out in earlier trials.
    pub(crate) memo: Option<Memo>,
}

/// A log that is written.
#[derive(Debug, Default)]
struct Followed {
    log: GrowingLog,
    /// Its entries, as soon as the layout is known.
    tied: Option<Tied>,
}

/// The log of a process of a trial that is over.
#[derive(Debug)]
pub(crate) struct TrialLog {
    pub process: String,
    pub log: Log,
    /// Its first entries, as far as they were tied while it ran.
    begun: Option<Tied>,
}

impl Reading {
    /// Forgets what a log had.
    pub(crate) fn forget(&mut self, path: &str) {
        self.logs.remove(path);
    }

    /// Adds more of a log. `fields` is what the failure log says.
    pub(crate) fn add(&mut self, path: &str, bytes: &[u8], statements: &Statements, fields: Fields) {
        if !self.logs.contains_key(path) {
            self.logs.insert(path.to_owned(), Followed::default());
        }
        let Some(Followed { log, tied }) = self.logs.get_mut(path) else { return };
        log.add(bytes);
        let Some(layout) = log.layout() else { return };
        let tied = tied.get_or_insert_with(|| Tied::bare("", fields & Fields::of(layout)));
        let memo = self.memo.get_or_insert_default();
        for entry in log.entries_from(tied.entries().len()) {
            tied.push_with(&entry, statements, memo);
        }
    }

    /// The logs of a trial that are logs, and what is wrong with the others. A process may write its log to either stream.
    pub(crate) fn finish(&mut self, logs: &[LogBytes]) -> (Vec<TrialLog>, Vec<String>) {
        let mut found = Vec::new();
        let mut problems = Vec::new();
        for it in logs.iter().filter(|it| !it.bytes.is_empty()) {
            let Followed { log, tied } = self.logs.remove(&it.path).unwrap_or_default();
            let (log, is_begun) = log.finish(&it.bytes);
            match log {
                Ok(log) => {
                    let begun = tied.filter(|_| is_begun);
                    found.push(TrialLog { process: it.process.clone(), log, begun });
                }
                Err(LogError::Empty) => {}
                Err(error) => problems.push(format!("{}: {error}", it.process)),
            }
        }
        (found, problems)
    }
}

impl TrialLog {
    /// The log, tied by these fields.
    pub fn tied(&mut self, statements: &Statements, fields: Fields, memo: &mut Memo) -> Tied {
        let begun = self.begun.take().filter(|it| it.fields() == fields);
        let mut tied = begun.unwrap_or_else(|| Tied::bare("", fields));
        for entry in self.log.entries().skip(tied.entries().len()) {
            tied.push_with(&entry, statements, memo);
        }
        tied
    }
}
