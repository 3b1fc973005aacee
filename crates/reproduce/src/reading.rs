//! The logs of a trial: read and tied while it runs as far as they are there, and the rest when it is over.

use std::sync::Arc;

use hypocenter_engine::LogBytes;
use hypocenter_logs::{Fields, GrowingLog, Layout, Log, LogError, Memo, ShownNames, Statements, Tied};
use rustc_hash::FxHashMap;

/// Fields by which a log of a trial is tied, and names of threads as the failure log shows them.
#[derive(Debug, Clone)]
pub(crate) struct Alike {
    /// The fields, beside messages.
    pub fields: Fields,
    /// Of the names of threads.
    pub names: Arc<ShownNames>,
}

impl Alike {
    fn empty(&self, fields: Fields) -> Tied {
        Tied::bare("", fields).named_like(self.names.clone())
    }
}

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

    /// Adds more of a log.
    pub(crate) fn add(&mut self, path: &str, bytes: &[u8], statements: &Statements, alike: &Alike) {
        if !self.logs.contains_key(path) {
            self.logs.insert(path.to_owned(), Followed::default());
        }
        let Some(Followed { log, tied }) = self.logs.get_mut(path) else { return };
        log.add(bytes);
        let Some(layout) = log.layout() else { return };
        let tied = tied.get_or_insert_with(|| alike.empty(alike.fields & Fields::of(layout)));
        let memo = self.memo.get_or_insert_default();
        for entry in log.entries_from(tied.entries().len()) {
            tied.push_with(&entry, statements, memo);
        }
    }

    /// The logs of a trial that are logs, and what is wrong with the others. A process may write its log to either stream. One
    /// whose layout nobody knows may be written like the failure log, of which somebody may have said how to read it: `layouts`
    /// are those of its files.
    pub(crate) fn finish<'l>(
        &mut self,
        logs: &[LogBytes],
        layouts: impl Iterator<Item = &'l Layout> + Clone,
    ) -> (Vec<TrialLog>, Vec<String>) {
        let mut found = Vec::new();
        let mut problems = Vec::new();
        for it in logs.iter().filter(|it| !it.bytes.is_empty()) {
            let Followed { log, tied } = self.logs.remove(&it.path).unwrap_or_default();
            let (log, is_begun) = log.finish(&it.bytes);
            let log = match log {
                Err(error) if error.has_no_layout() => {
                    layouts.clone().find_map(|layout| Log::read_with(&it.bytes, layout).ok()).ok_or(error)
                }
                other => other,
            };
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
    /// The log, tied by what it and the failure log say.
    pub fn tied(&mut self, statements: &Statements, alike: &Alike, memo: &mut Memo) -> Tied {
        let begun = self.begun.take().filter(|it| it.fields() == alike.fields);
        let mut tied = begun.unwrap_or_else(|| alike.empty(alike.fields));
        for entry in self.log.entries_from(tied.entries().len()) {
            tied.push_with(&entry, statements, memo);
        }
        tied
    }
}

#[cfg(test)]
mod tests {
    use memmap2::MmapMut;

    use super::*;

    /// More lines than are looked at to find a layout.
    const LINES: usize = 1500;

    fn log(layout: fn(usize, &str) -> String, what: &str) -> String {
        (0..LINES).map(|n| layout(n, what)).collect()
    }

    fn with_threads(n: usize, what: &str) -> String {
        format!(
            "2024-01-01 00:00:{:02},{:03} INFO  [t-{}] a.B: {what} {}\n",
            n / 1000,
            n % 1000,
            n % 7,
            n % 100
        )
    }

    fn without_threads(n: usize, what: &str) -> String {
        format!("2024-01-01 00:00:{:02},{:03} INFO  a.C: {what}\n", n / 1000, n % 1000)
    }

    fn alike(fields: Fields) -> Alike {
        Alike { fields, names: Arc::default() }
    }

    fn evidence(path: &str, text: &str) -> LogBytes {
        let mut bytes = MmapMut::map_anon(text.len()).unwrap();
        bytes.copy_from_slice(text.as_bytes());
        let bytes = bytes.make_read_only().unwrap();
        LogBytes { process: "n".to_owned(), incarnation: 1, path: path.to_owned(), bytes }
    }

    /// What comes of logs of which some were read before, by their paths; and of how many entries that was.
    fn tied(before: &[(&str, &str)], logs: &[(&str, &str)]) -> (Vec<Tied>, usize) {
        let statements = Statements::new(Vec::new());
        let mut reading = Reading::default();
        for (path, text) in before {
            for piece in text.as_bytes().chunks(777) {
                reading.add(path, piece, &statements, &alike(Fields::ALL));
            }
        }
        let evidence: Vec<LogBytes> = logs.iter().map(|(path, text)| evidence(path, text)).collect();
        let (mut logs, problems) = reading.finish(&evidence, [].iter());
        assert_eq!(problems, [""; 0]);
        let begun = logs.iter().filter_map(|it| it.begun.as_ref()).map(|it| it.entries().len()).sum();
        let fields = logs.iter().fold(Fields::ALL, |all, it| all & Fields::of(it.log.layout()));
        let mut memo = Memo::default();
        (logs.iter_mut().map(|it| it.tied(&statements, &alike(fields), &mut memo)).collect(), begun)
    }

    #[track_caller]
    fn check(before: &[(&str, &str)], logs: &[(&str, &str)], begun: usize) {
        let (followed, entries) = tied(before, logs);
        assert_eq!(entries, begun);
        for (one, other) in followed.iter().zip(tied(&[], logs).0) {
            assert_eq!((one.entries(), one.threads()), (other.entries(), other.threads()));
            assert_eq!((one.fields(), one.ties()), (other.fields(), other.ties()));
        }
        assert_eq!(followed.len(), logs.len());
    }

    #[test]
    fn it_is_the_same_whatever_was_read_before() {
        let (one, other, bare) =
            (log(with_threads, "one"), log(with_threads, "other"), log(without_threads, "bare"));
        // The last entry might go on, and the last line is not all there.
        check(&[("a", &one[..one.len() - 9])], &[("a", &one)], LINES - 2);
        check(&[("a", &one), ("b", &other)], &[("a", &one), ("b", &other)], 2 * LINES - 2);
        check(&[("b", &other)], &[("a", &one), ("b", &other)], LINES - 1);
        // Too little to know the layout, and nothing at all.
        check(&[("a", &one[..9000])], &[("a", &one)], 0);
        check(&[("c", &one)], &[("a", &one)], 0);
        // What was read is not what is there.
        check(&[("a", &one)], &[("a", &other)], 0);
        check(&[("a", &one)], &[("a", &one[..one.len() / 2])], 0);
        // Another log says less, so what was tied by more does not count.
        check(&[("a", &one), ("b", &bare)], &[("a", &one), ("b", &bare)], 2 * LINES - 2);
    }

    #[test]
    fn a_log_that_was_begun_anew_is_followed_anew() {
        let statements = Statements::new(Vec::new());
        let mut reading = Reading::default();
        let (one, other) = (log(with_threads, "one"), log(with_threads, "other"));
        reading.add("a", one.as_bytes(), &statements, &alike(Fields::ALL));
        reading.forget("a");
        reading.add("a", other.as_bytes(), &statements, &alike(Fields::ALL));
        let (logs, _) = reading.finish(&[evidence("a", &other)], [].iter());
        assert_eq!(logs[0].begun.as_ref().map(|it| it.entries().len()), Some(LINES - 1));
    }

    #[test]
    fn a_log_that_nobody_knows_is_read_like_the_failure_log() {
        let text = "#7 worker <> opened\n#8 worker <> closed\n";
        let finish = |layouts: &[Layout]| {
            let (logs, problems) = Reading::default().finish(&[evidence("a", text)], layouts.iter());
            (logs.iter().map(|it| it.log.entries().count()).collect::<Vec<_>>(), problems.len())
        };
        let own = Layout::compile(r"^#\d+ (?<thread>\S+) <> (?<message>.*)").unwrap();
        let other = Layout::compile("%d{ISO8601} [%t] %m%n").unwrap();
        assert_eq!(finish(&[]), (vec![], 1));
        assert_eq!(finish(std::slice::from_ref(&other)), (vec![], 1));
        assert_eq!(finish(&[other, own]), (vec![2], 0));
    }
}
