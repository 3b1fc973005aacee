//! A log in the form in which logs are compared: a key, a thread and a time for each entry, and no text.

use std::hash::{Hash, Hasher};
use std::ops::{Add, BitAnd};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};

use crate::class::outermost;
use crate::entry::Entry;
use crate::key::Key;
use crate::layout::Layout;
use crate::log::Log;
use crate::memo::{Memo, Tying};
use crate::role::role;
use crate::shown::ShownNames;
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

    /// The same fields without the thread: those that decide about the key of an entry.
    pub fn of_keys(self) -> Fields {
        Fields { thread: false, ..self }
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
    statements: Vec<Arc<[StatementId]>>,
    by_key: FxHashMap<Key, u32>,
    pub(crate) threads: Vec<Thread>,
    by_name: FxHashMap<String, u32>,
    /// The classes that stand for threads.
    by_class: FxHashMap<String, u32>,
    /// How a log that it is compared with shows names.
    like: Arc<ShownNames>,
    /// None if nobody asks for it.
    evidence: Option<FxHashMap<Key, Vec<Evidence>>>,
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
    /// True if the log names the thread; false if a class stands for it.
    pub is_named: bool,
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

impl Add for Ties {
    type Output = Ties;

    fn add(self, other: Ties) -> Ties {
        Ties {
            by_line: self.by_line + other.by_line,
            by_text: self.by_text + other.by_text,
            moved: self.moved + other.moved,
            none: self.none + other.none,
        }
    }
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

    /// As below, for a log of which nobody asks the exceptions.
    pub fn bare(node: &str, fields: Fields) -> Tied {
        Tied { evidence: None, ..Tied::empty(node, fields) }
    }

    /// The same without entries, whose threads are to be named like those of a log that it is compared with.
    pub fn named_like(self, like: Arc<ShownNames>) -> Tied {
        Tied { like, ..self }
    }

    /// Several logs of a node as one, in the order of time. What has no time is where it was in its log.
    ///
    /// All must have been tied with the same fields, but for the thread: each log keeps the threads that it names.
    pub fn merged(node: &str, mut logs: Vec<Tied>) -> Tied {
        let keys = logs.first().map_or(Fields::ALL, Tied::fields).of_keys();
        assert!(
            logs.iter().all(|it| it.fields.of_keys() == keys),
            "logs that are merged are tied with the same fields"
        );
        let fields = Fields { thread: logs.iter().any(|it| it.fields.thread), ..keys };
        if logs.len() == 1 {
            return Tied { node: node.to_owned(), ..logs.remove(0) };
        }
        let mut all: Vec<(i64, u32, u32)> = Vec::new();
        for (number, log) in (0_u32..).zip(&logs) {
            let mut last = i64::MIN;
            for (at, entry) in (0_u32..).zip(&log.entries) {
                last = last.max(entry.time_ms.unwrap_or(last));
                all.push((last, number, at));
            }
        }
        all.sort_by_key(|it| it.0);
        let mut merged = Tied::bare(node, fields);
        const NONE: u32 = u32::MAX;
        let mut threads: Vec<Vec<u32>> = logs.iter().map(|it| vec![NONE; it.threads.len()]).collect();
        let mut keys: Vec<Vec<u32>> = logs.iter().map(|it| vec![NONE; it.keys.len()]).collect();
        for (_, log, at) in all {
            let (from, at) = (&logs[log as usize], at as usize);
            let entry = from.entries[at];
            let number = &mut keys[log as usize][from.numbers[at] as usize];
            if *number == NONE {
                *number = merged.number(entry.key, &from.statements[from.numbers[at] as usize]);
            }
            merged.numbers.push(*number);
            let thread = &mut threads[log as usize][entry.thread as usize];
            if *thread == NONE {
                let Thread { name, is_named, .. } = &from.threads[entry.thread as usize];
                *thread = if *is_named { merged.thread(name) } else { merged.class(name) };
            }
            merged.entries.push(TiedEntry { thread: *thread, ..entry });
        }
        merged.ties = logs.iter().fold(Ties::default(), |sum, it| sum + it.ties);
        merged
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
            by_class: FxHashMap::default(),
            like: Arc::default(),
            evidence: Some(FxHashMap::default()),
            ties: Ties::default(),
        }
    }

    /// Adds the next entry of the log.
    pub fn push(&mut self, entry: &Entry<'_>, statements: &Statements) {
        let said = self.fields.of_entry(entry);
        self.tied(entry, &said, Tying::of(&said, statements).0);
    }

    /// As above, with what was found out for others.
    pub fn push_with(&mut self, entry: &Entry<'_>, statements: &Statements, memo: &mut Memo) {
        let said = self.fields.of_entry(entry);
        self.tied(entry, &said, memo.tie(&said, statements));
    }

    fn tied(&mut self, entry: &Entry<'_>, said: &Entry<'_>, tying: Tying) {
        let Tying { statements, how, key } = tying;
        let has_place = said.source_line.is_some() && said.class().is_some();
        match how {
            Some(How::Line) => self.ties.by_line += 1,
            Some(How::Text) if has_place => self.ties.moved += 1,
            Some(How::Text) => self.ties.by_text += 1,
            None => self.ties.none += 1,
        }
        let number = self.number(key, &statements);
        self.numbers.push(number);
        if !entry.rest.is_empty() {
            self.keep_evidence(key, entry);
        }
        let thread = match said.thread {
            Some(name) => self.shown_thread(name),
            None => self.class(said.class().map_or("", outermost)),
        };
        self.entries.push(TiedEntry { key, time_ms: entry.time_ms, thread, line: entry.line });
    }

    fn number(&mut self, key: Key, statements: &Arc<[StatementId]>) -> u32 {
        *self.by_key.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.statements.push(statements.clone());
            self.keys.len() as u32 - 1
        })
    }

    fn shown_thread(&mut self, name: &str) -> u32 {
        if let Some(it) = self.by_name.get(name) {
            return *it;
        }
        let n = self.thread(self.like.clone().of_name(name));
        self.by_name.insert(name.to_owned(), n);
        n
    }

    fn thread(&mut self, name: &str) -> u32 {
        if let Some(it) = self.by_name.get(name) {
            return *it;
        }
        let n = self.threads.len() as u32;
        self.by_name.insert(name.to_owned(), n);
        self.threads.push(Thread { name: name.to_owned(), role: role(name).into_owned(), is_named: true });
        n
    }

    /// The class that stands for the thread of an entry.
    fn class(&mut self, name: &str) -> u32 {
        if let Some(it) = self.by_class.get(name) {
            return *it;
        }
        let n = self.threads.len() as u32;
        self.by_class.insert(name.to_owned(), n);
        self.threads.push(Thread { name: name.to_owned(), role: name.to_owned(), is_named: false });
        n
    }

    fn keep_evidence(&mut self, key: Key, entry: &Entry<'_>) {
        let Some(evidence) = &mut self.evidence else { return };
        let trace = entry.trace();
        if trace.exceptions.is_empty() {
            return;
        }
        let kept = evidence.entry(key).or_default();
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

    /// The fields it was tied by. Of several logs as one, the thread is among them if one of the logs names threads.
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

    /// The exceptions that were logged with entries of this key, each once, at most eight; none of a bare log.
    pub fn evidence(&self, key: Key) -> &[Evidence] {
        self.evidence.as_ref().and_then(|it| it.get(&key)).map_or(&[], |it| it)
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
