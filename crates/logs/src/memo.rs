//! What entries were tied to before: most of what a system writes it writes again, in every run.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::entry::Entry;
use crate::key::Key;
use crate::statements::{How, Looked, StatementId, Statements};

/// Ties of entries, each found once. It gives what [`Statements::tie`] gives, so it must always be asked with the same
/// statements. Memory is bounded: what was not asked for in a while is forgotten.
#[derive(Debug, Default)]
pub struct Memo {
    /// What was asked for lately, and before that.
    known: [FxHashMap<Box<[u8]>, Known>; 2],
    /// How much the first takes.
    bytes: usize,
    /// The text that is looked up.
    asked: Vec<u8>,
}

/// What is known of entries that say the same.
#[derive(Clone, Debug)]
enum Known {
    Tie(Tying),
    /// The stack trace decides.
    ByTrace,
    /// All of the line does, which hardly comes again.
    ByLine,
}

/// The statements of an entry, and its key.
#[derive(Clone, Debug)]
pub(crate) struct Tying {
    pub statements: Arc<[StatementId]>,
    pub how: Option<How>,
    pub key: Key,
}

/// How much text is kept lately, and as much from before.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// A longer text is not kept: it hardly comes again.
const TEXT_BYTES_MAX: usize = 4096;
/// What an entry of the map takes beside its text.
const ENTRY_BYTES: usize = 96;

impl Memo {
    /// What ties this entry.
    pub(crate) fn tie(&mut self, entry: &Entry<'_>, statements: &Statements) -> Tying {
        let has_trace = !entry.rest.is_empty();
        if entry.message.len() > TEXT_BYTES_MAX {
            return Tying::of(entry, statements).0;
        }
        self.ask(entry, has_trace);
        match self.known() {
            Some(Known::Tie(it)) => return it,
            Some(Known::ByLine) => return Tying::of(entry, statements).0,
            Some(Known::ByTrace) => {}
            None => {
                let (tying, looked) = Tying::of(entry, statements);
                if looked.line {
                    self.keep(Known::ByLine);
                    return tying;
                }
                if !(has_trace && looked.trace) {
                    self.keep(Known::Tie(tying.clone()));
                    return tying;
                }
                self.keep(Known::ByTrace);
            }
        }
        let thrown = entry.thrown();
        if thrown.len() > TEXT_BYTES_MAX {
            return Tying::of(entry, statements).0;
        }
        self.asked.push(0);
        self.asked.extend_from_slice(thrown.as_bytes());
        if let Some(Known::Tie(it)) = self.known() {
            return it;
        }
        let (tying, _) = Tying::of(entry, statements);
        self.keep(Known::Tie(tying.clone()));
        tying
    }

    /// All of an entry that decides what it is tied to, but for the stack trace.
    fn ask(&mut self, entry: &Entry<'_>, has_trace: bool) {
        self.asked.clear();
        self.asked.push(u8::from(has_trace));
        self.asked.push(entry.level.map_or(0, |it| 1 + it as u8));
        self.asked.extend_from_slice(&entry.source_line.map_or(0, |it| 1 + u64::from(it)).to_le_bytes());
        // With their lengths, so that no two entries look alike.
        for it in [entry.logger, entry.file] {
            self.asked.extend_from_slice(&it.map_or(0, |it| 1 + it.len() as u64).to_le_bytes());
            self.asked.extend_from_slice(it.unwrap_or_default().as_bytes());
        }
        self.asked.extend_from_slice(&(entry.message.len() as u64).to_le_bytes());
        self.asked.extend_from_slice(entry.message.as_bytes());
    }

    fn known(&mut self) -> Option<Known> {
        if let Some(it) = self.known[0].get(&self.asked[..]) {
            return Some(it.clone());
        }
        let it = self.known[1].remove(&self.asked[..])?;
        self.keep(it.clone());
        Some(it)
    }

    fn keep(&mut self, known: Known) {
        if self.bytes >= BYTES_MAX {
            self.known[1] = std::mem::take(&mut self.known[0]);
            self.bytes = 0;
        }
        self.bytes += self.asked.len() + ENTRY_BYTES;
        self.known[0].insert(self.asked[..].into(), known);
    }
}

impl Tying {
    /// What ties an entry, and what was looked at for that.
    pub fn of(entry: &Entry<'_>, statements: &Statements) -> (Tying, Looked) {
        let (tie, looked) = statements.tie_by(entry);
        let key = Key::of(entry, tie.ids());
        (Tying { statements: tie.ids().into(), how: tie.how(), key }, looked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Level;
    use crate::statements::Statement;
    use crate::template::Template;

    const TRACES: [&str; 3] = [
        "",
        "java.io.IOException: x\n\tat a.B.first(B.java:1)\n",
        "java.io.IOException: x\n\tat a.B.second(B.java:2)\n",
    ];

    fn statements() -> Statements {
        let statement = |(id, (method, line, has_exception)): (u32, (&str, u32, bool))| Statement {
            id: StatementId(id),
            class: "a.B".to_owned(),
            method: method.to_owned(),
            line: Some(line),
            level: None,
            template: Template::parse("could not write {}"),
            has_exception,
        };
        let all = [("first", 1, true), ("second", 2, true), ("third", 3, false)];
        Statements::new((0..).zip(all).map(statement).collect())
    }

    /// Entries that differ in one thing each.
    fn entries() -> Vec<Entry<'static>> {
        let mut all = Vec::new();
        for message in ["could not write 1", "could not write 2", "something else", ""] {
            for logger in [None, Some("B"), Some("a.B"), Some("X")] {
                for (source_line, level) in
                    [(None, None), (Some(2), Some(Level::Warn)), (Some(9), Some(Level::Info))]
                {
                    for rest in TRACES {
                        all.push(Entry { message, logger, source_line, level, rest, ..Entry::default() });
                    }
                }
            }
        }
        all
    }

    #[test]
    fn what_is_known_is_what_would_be_found() {
        let statements = statements();
        let mut memo = Memo::default();
        let mut several = 0;
        // Twice, and the other way round, so that each is asked before and behind each.
        let entries = entries();
        for entry in entries.iter().chain(&entries).chain(entries.iter().rev()) {
            let (expected, _) = Tying::of(entry, &statements);
            let found = memo.tie(entry, &statements);
            assert_eq!(
                (found.statements, found.how, found.key),
                (expected.statements.clone(), expected.how, expected.key)
            );
            several += usize::from(expected.statements.len() == 1 && !entry.rest.is_empty());
        }
        assert!(several > 0, "some are told apart by their traces");
        assert!(memo.known[0].len() < entries.len(), "not all traces are asked for");
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let statements = statements();
        let mut memo = Memo::default();
        let often = "could not write often".to_owned();
        let key = Tying::of(&Entry { message: &often, ..Entry::default() }, &statements).0.key;
        for n in 0..20_000 {
            let message = format!("could not write {n} {}", "x".repeat(3000));
            for message in [&message, &often] {
                assert_eq!(memo.tie(&Entry { message, ..Entry::default() }, &statements).key, key);
            }
            assert!(memo.bytes <= BYTES_MAX + TEXT_BYTES_MAX);
        }
        let kept: usize = memo.known.iter().flat_map(|it| it.keys()).map(|it| it.len()).sum();
        assert!(kept <= 2 * BYTES_MAX, "{kept}");
        assert!(memo.known.iter().any(|it| it.keys().any(|it| it.ends_with(often.as_bytes()))));
    }
}
