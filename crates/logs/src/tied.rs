//! A log in the form in which logs are compared: a key, a thread and a time for each entry, and no text.

use std::hash::{Hash, Hasher};
use std::ops::BitAnd;

use rustc_hash::{FxHashMap, FxHasher};

use crate::class::outermost;
use crate::entry::Entry;
use crate::key::Key;
use crate::layout::Layout;
use crate::log::Log;
use crate::role::role;
use crate::statements::{How, StatementId, Statements};
use crate::trace::Trace;

/// What the entries of a log say beside their message.
///
/// Logs are compared by what all of them say. If the log of the failure has no source lines, an entry of a trial's log must
/// not be tied by them either: it would be tied to fewer statements, and be another entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// The thread.
    pub thread: bool,
    /// The logger, the class or the source file.
    pub class: bool,
    /// The source line.
    pub line: bool,
    /// The level.
    pub level: bool,
}

impl Fields {
    /// All there are.
    pub const ALL: Fields = Fields { thread: true, class: true, line: true, level: true };

    /// Those of a layout.
    pub fn of(layout: &Layout) -> Fields {
        layout.says()
    }

    /// The entry without what the other logs do not say.
    fn of_entry<'t>(self, entry: &Entry<'t>) -> Entry<'t> {
        let mut entry = *entry;
        if !self.thread {
            entry.thread = None;
        }
        if !self.class {
            (entry.logger, entry.file, entry.method) = (None, None, None);
        }
        if !(self.class && self.line) {
            entry.source_line = None;
        }
        if !self.level {
            entry.level = None;
        }
        entry
    }
}

impl BitAnd for Fields {
    type Output = Fields;

    fn bitand(self, other: Fields) -> Fields {
        Fields {
            thread: self.thread && other.thread,
            class: self.class && other.class,
            line: self.line && other.line,
            level: self.level && other.level,
        }
    }
}

/// The log of one node of a run, its entries tied to statements.
#[derive(Clone, Debug)]
pub struct Tied {
    node: String,
    fields: Fields,
    pub(crate) entries: Vec<TiedEntry>,
    /// For each entry the number of its key.
    pub(crate) numbers: Vec<u32>,
    /// The keys, each once, with their statements.
    pub(crate) keys: Vec<Key>,
    statements: Vec<Box<[StatementId]>>,
    by_key: FxHashMap<Key, u32>,
    pub(crate) threads: Vec<Thread>,
    by_name: FxHashMap<String, u32>,
    evidence: FxHashMap<Key, Vec<Evidence>>,
    ties: Ties,
}

/// An entry, as far as logs are compared by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TiedEntry {
    /// What it says.
    pub key: Key,
    /// When it was written, in milliseconds, if the log says it.
    pub time_ms: Option<i64>,
    /// Which thread of the log wrote it.
    pub thread: u32,
    /// The line of the log on which it begins, counted from one.
    pub line: u32,
}

/// A thread of a log. In a log without threads the entries of a class stand for one: what one class writes keeps its
/// order better than what all write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// What it has in common with its like in other runs.
    pub role: String,
}

/// How the entries of a log were tied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ties {
    /// To statements at their class and source line.
    pub by_line: usize,
    /// To statements by their text, in a log without source lines or classes.
    pub by_text: usize,
    /// To statements by their text, although they say a class and a source line: these lines are of another version.
    pub moved: usize,
    /// To none: of libraries, or of another system.
    pub none: usize,
}

/// Exceptions that were logged with entries of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The first entry that has them.
    pub entry: u32,
    /// How many entries have them.
    pub times: u32,
    /// A hash of the classes and frames.
    shape: u64,
    before: Box<str>,
    text: Box<str>,
}

impl Evidence {
    /// The exceptions, with their frames and causes.
    pub fn trace(&self) -> Trace<'_> {
        Trace::parse_behind(&self.before, &self.text)
    }
}

/// How many different stack traces are kept for one key.
const EVIDENCE_MAX: usize = 8;
/// How much text of a stack trace is kept.
const EVIDENCE_BYTES_MAX: usize = 64 * 1024;

impl Tied {
    /// Ties a log. `node` is the name of the node that wrote it, and `fields` is what all logs say that it is compared with.
    pub fn of(node: &str, log: &Log, statements: &Statements, fields: Fields) -> Tied {
        let mut tied = Tied::empty(node, fields);
        log.entries().for_each(|it| tied.push(&it, statements));
        tied
    }

    /// A log without entries, to which they are added as they are read.
    pub fn empty(node: &str, fields: Fields) -> Tied {
        Tied {
            node: node.to_owned(),
            fields,
            entries: Vec::new(),
            numbers: Vec::new(),
            keys: Vec::new(),
            statements: Vec::new(),
            by_key: FxHashMap::default(),
            threads: Vec::new(),
            by_name: FxHashMap::default(),
            evidence: FxHashMap::default(),
            ties: Ties::default(),
        }
    }

    /// Adds the next entry of the log.
    pub fn push(&mut self, entry: &Entry<'_>, statements: &Statements) {
        let said = self.fields.of_entry(entry);
        let tie = statements.tie(&said);
        let has_place = said.source_line.is_some() && said.class().is_some();
        match tie.how() {
            Some(How::Line) => self.ties.by_line += 1,
            Some(How::Text) if has_place => self.ties.moved += 1,
            Some(How::Text) => self.ties.by_text += 1,
            None => self.ties.none += 1,
        }
        let key = Key::of(&said, tie.ids());
        let number = *self.by_key.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.statements.push(tie.ids().into());
            self.keys.len() as u32 - 1
        });
        self.numbers.push(number);
        if !entry.rest.is_empty() {
            self.keep_evidence(key, entry);
        }
        let thread = self.thread(said.thread.unwrap_or_else(|| said.class().map_or("", outermost)));
        self.entries.push(TiedEntry { key, time_ms: entry.time_ms, thread, line: entry.line });
    }

    fn thread(&mut self, name: &str) -> u32 {
        if let Some(it) = self.by_name.get(name) {
            return *it;
        }
        let n = self.threads.len() as u32;
        self.by_name.insert(name.to_owned(), n);
        let role = if self.fields.thread { role(name).into_owned() } else { name.to_owned() };
        self.threads.push(Thread { name: name.to_owned(), role });
        n
    }

    fn keep_evidence(&mut self, key: Key, entry: &Entry<'_>) {
        let trace = entry.trace();
        if trace.exceptions.is_empty() {
            return;
        }
        let kept = self.evidence.entry(key).or_default();
        let shape = shape(&trace);
        if let Some(same) = kept.iter_mut().find(|it| it.shape == shape) {
            same.times += 1;
        } else if kept.len() < EVIDENCE_MAX {
            let before = entry.message.rsplit('\n').next().unwrap_or_default();
            kept.push(Evidence {
                entry: self.entries.len() as u32,
                times: 1,
                shape,
                before: cut(before).into(),
                text: cut(entry.thrown()).into(),
            });
        }
    }

    /// The name of the node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// What it was tied by.
    pub fn fields(&self) -> Fields {
        self.fields
    }

    /// The entries, in the order of the log.
    pub fn entries(&self) -> &[TiedEntry] {
        &self.entries
    }

    /// The threads, in the order in which they first wrote something.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The statements that can have written entries of this key; none if no statement is known.
    pub fn statements(&self, key: Key) -> &[StatementId] {
        self.by_key.get(&key).map_or(&[], |it| &self.statements[*it as usize])
    }

    /// The exceptions that were logged with entries of this key, each once, at most eight.
    pub fn evidence(&self, key: Key) -> &[Evidence] {
        self.evidence.get(&key).map_or(&[], |it| it)
    }

    /// How its entries were tied: a log of another system has few ties, and one of another version has moved ones.
    pub fn ties(&self) -> Ties {
        self.ties
    }
}

/// Traces have the same shape if they have the same exceptions from the same places; what the exceptions say may differ.
fn shape(trace: &Trace<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    for it in &trace.exceptions {
        (it.class, it.parent, it.frames.len()).hash(&mut hasher);
        it.frames.iter().for_each(|it| (it.class, it.method, it.line).hash(&mut hasher));
    }
    hasher.finish()
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(EVIDENCE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
