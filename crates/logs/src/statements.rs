//! From an entry to the log statements that can have written it.

use std::cmp::Reverse;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use rustc_hash::FxHashMap;

use crate::class::{Named, names, outermost};
use crate::entry::Entry;
use crate::level::Level;
use crate::template::Template;

/// Which log statement of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u32);

/// A call in the program that writes a log entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its number, given by the caller.
    pub id: StatementId,
    /// The class that has it: in full, with dots, inner classes with a `$`.
    pub class: String,
    /// The method that has it.
    pub method: String,
    /// Its source line, where the class has line numbers.
    pub line: Option<u32>,
    /// Its level, where the call fixes it.
    pub level: Option<Level>,
    /// Its message.
    pub template: Template,
    /// Whether an exception is logged with the message.
    pub has_exception: bool,
}

/// Which statements can have written an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tie {
    /// This one.
    Exact(StatementId, How),
    /// Any of these; nothing in the entry tells them apart. In order of their numbers.
    Several(Vec<StatementId>, How),
    /// None that is known.
    None,
}

/// How an entry was tied to its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By class and source line.
    Line,
    /// By the text of the message.
    Text,
}

impl Tie {
    /// The statements: none, one or several.
    pub fn ids(&self) -> &[StatementId] {
        match self {
            Tie::Exact(id, _) => std::slice::from_ref(id),
            Tie::Several(ids, _) => ids,
            Tie::None => &[],
        }
    }

    /// How they were found.
    pub fn how(&self) -> Option<How> {
        match self {
            Tie::Exact(_, how) | Tie::Several(_, how) => Some(*how),
            Tie::None => None,
        }
    }

    fn of(mut ids: Vec<StatementId>, how: How) -> Tie {
        ids.sort_unstable();
        ids.dedup();
        match ids[..] {
            [] => Tie::None,
            [id] => Tie::Exact(id, how),
            _ => Tie::Several(ids, how),
        }
    }
}

/// The log statements of a program, so that an entry finds its own fast.
#[derive(Debug)]
pub struct Statements {
    statements: Vec<Statement>,
    /// By the name of the outermost class and the source line.
    by_line: FxHashMap<String, FxHashMap<u32, Vec<u32>>>,
    /// Statements whose template says too little to be looked for, by the name of the outermost class.
    vague: FxHashMap<String, Vec<u32>>,
    /// Finds the keys in a message. None if there are no keys.
    finder: Option<AhoCorasick>,
    /// For each key the groups that have it.
    keys: Vec<Vec<u32>>,
    groups: Vec<Group>,
    /// Whether one of them prints lines.
    has_lines: bool,
}

/// What was looked at beside the message to tie an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looked {
    /// The stack trace.
    pub trace: bool,
    /// All of the line.
    pub line: bool,
}

/// Statements with the same template.
#[derive(Debug)]
struct Group {
    literal_chars: usize,
    statements: Vec<u32>,
}

/// A statement that fits, and how well. Greater is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    literal_chars: usize,
    named: Option<Named>,
    /// How far from the top of the logged stack its method is: whoever catches an exception is on the stack of it.
    on_stack: Option<Reverse<usize>>,
    has_level: bool,
    /// Whether an exception stands in the entry just if the statement logs one.
    exception_agrees: bool,
}

/// The shortest text that is looked for in messages; shorter ones are everywhere.
const KEY_BYTES_MIN: usize = 3;
/// The longest piece of a text that is looked for: more of it tells no more statements apart, and costs memory.
const KEY_BYTES_MAX: usize = 48;
/// How much of a message is searched for keys.
const SEARCHED_BYTES_MAX: usize = 64 * 1024;
/// How many templates are compared with a message, those with the longest keys first.
const CANDIDATES_MAX: usize = 1024;
/// A template of the entry's own class counts before longer ones of other classes if it says this much.
const TELLING_CHARS_MIN: usize = 6;
/// The longest part of a message that is looked for in templates.
const PART_CHARS_MAX: usize = 1000;

impl Statements {
    /// An index of these statements.
    pub fn new(statements: Vec<Statement>) -> Statements {
        let mut by_line: FxHashMap<String, FxHashMap<u32, Vec<u32>>> = FxHashMap::default();
        let mut vague: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        let mut groups: Vec<Group> = Vec::new();
        let mut by_template: FxHashMap<&Template, Option<u32>> = FxHashMap::default();
        let mut by_key: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        for (n, statement) in (0_u32..).zip(&statements) {
            let class = outermost(&statement.class);
            if let Some(line) = statement.line {
                by_line.entry(class.to_owned()).or_default().entry(line).or_default().push(n);
            }
            let group = by_template.entry(&statement.template).or_insert_with(|| {
                let key = key(&statement.template)?;
                let group = groups.len() as u32;
                groups.push(Group {
                    literal_chars: statement.template.literal_chars(),
                    statements: Vec::new(),
                });
                by_key.entry(key).or_default().push(group);
                Some(group)
            });
            match group {
                Some(group) => groups[*group as usize].statements.push(n),
                None => vague.entry(class.to_owned()).or_default().push(n),
            }
        }
        // The longest keys come first: their numbers are the order in which templates are compared.
        let mut sorted: Vec<(&str, Vec<u32>)> = by_key.into_iter().collect();
        sorted.sort_unstable_by(|a, b| b.0.len().cmp(&a.0.len()).then(a.0.cmp(b.0)));
        let finder = (!sorted.is_empty()).then(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::Standard)
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .build(sorted.iter().map(|(key, _)| key))
                // Bounded keys of a bounded number of statements; what remains is the limit of the numbers of states.
                .expect("an automaton of log statements fits into memory")
        });
        let keys = sorted.into_iter().map(|(_, groups)| groups).collect();
        let has_lines = statements.iter().any(prints_lines);
        Statements { by_line, vague, finder, keys, groups, has_lines, statements }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.statements.len()
    }

    /// Tests whether there is none.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The statements, in the order in which they were given.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Statement> {
        self.statements.iter()
    }

    /// The statements that can have written an entry.
    ///
    /// Class and source line decide where the entry has them and the message does not speak against it: the log may
    /// come from another build. Otherwise the message must fit the template and the level the statement's; statements of
    /// the class that the entry names count before others; and of those the templates that say most, then the class
    /// itself before the class around it, then a method on the stack of the logged exception, then a statement whose level is
    /// known. What is left over is a tie. A message that fits nothing may be the end of a line that a program has printed as a
    /// whole, with the time and all.
    pub fn tie(&self, entry: &Entry<'_>) -> Tie {
        self.tie_by(entry).0
    }

    /// The statements of which this can be a part of a message, those that say most of it: it may begin and end anywhere. What is
    /// put in must not be more than half of it, unless it is a few words of their own.
    pub fn saying(&self, text: &str) -> Tie {
        let part: Vec<char> = text.chars().take(PART_CHARS_MAX + 1).collect();
        let said = |it: &Statement| match &it.template {
            it if text.len() >= KEY_BYTES_MIN && it.texts().any(|it| it.contains(text)) => part.len(),
            // It cannot say enough.
            it if it.literal_chars() * 2 < part.len() || part.len() > PART_CHARS_MAX => 0,
            it => Some(it.literal_chars_of(&part))
                .filter(|it| *it >= TELLING_CHARS_MIN && it * 2 >= part.len())
                .unwrap_or(0),
        };
        let said: Vec<(usize, StatementId)> = self.statements.iter().map(|it| (said(it), it.id)).collect();
        let most = said.iter().map(|it| it.0).max().unwrap_or(0).max(1);
        Tie::of(said.iter().filter(|it| it.0 == most).map(|it| it.1).collect(), How::Text)
    }

    /// As above, and what was looked at for it.
    pub(crate) fn tie_by(&self, entry: &Entry<'_>) -> (Tie, Looked) {
        let (mut fitting, mut how) = self.fitting(entry);
        let line = self.has_lines && fitting.is_empty() && !entry.printed.is_empty();
        if line {
            fitting = self.by_text(entry.printed, entry, false);
            fitting.retain(|it| prints_lines(&self.statements[*it as usize]));
            how = How::Text;
        }
        // The only one that fits is the best, whatever else the entry has.
        let trace = fitting.len() > 1;
        (Tie::of(self.best(&fitting, entry), how), Looked { trace, line })
    }

    /// The statements that fit an entry by its message, and how they were found.
    fn fitting(&self, entry: &Entry<'_>) -> (Vec<u32>, How) {
        let at_line = self.at_line(entry);
        let fitting: Vec<u32> =
            at_line.iter().copied().filter(|it| self.fits(*it, entry.message, entry)).collect();
        if !fitting.is_empty() {
            return (fitting, How::Line);
        }
        let mut by_text = self.by_text(entry.message, entry, !at_line.is_empty());
        // Lines behind the first may be somebody else's.
        if by_text.is_empty() && entry.message.contains('\n') {
            by_text = self.by_text(entry.first_line(), entry, !at_line.is_empty());
        }
        if !by_text.is_empty() {
            return (by_text, How::Text);
        }
        // The place is right even if the template is not what was written.
        if !at_line.is_empty() {
            return (at_line, How::Line);
        }
        (self.vague(entry), How::Text)
    }

    fn at_line(&self, entry: &Entry<'_>) -> Vec<u32> {
        let (Some(class), Some(line)) = (entry.class(), entry.source_line) else { return Vec::new() };
        // The name of the file tells more about the class than the logger does.
        let file = entry.file.map(|it| it.split_once('.').map_or(it, |(stem, _)| stem));
        let key = file.unwrap_or_else(|| outermost(class));
        let Some(here) = self.by_line.get(key).and_then(|it| it.get(&line)) else { return Vec::new() };
        let named: Vec<u32> = here.iter().copied().filter(|it| self.named(*it, entry).is_some()).collect();
        // With a file the logger may be that of any class; without one the name must fit.
        if named.is_empty() && file.is_some() { here.clone() } else { named }
    }

    /// Statements with a text of their own that fits; only those of the entry's class if `in_class`.
    fn by_text(&self, message: &str, entry: &Entry<'_>, in_class: bool) -> Vec<u32> {
        let Some(finder) = &self.finder else { return Vec::new() };
        let searched = &message.as_bytes()[..message.len().min(SEARCHED_BYTES_MAX)];
        let mut keys: Vec<u32> =
            finder.find_overlapping_iter(searched).map(|it| it.pattern().as_u32()).collect();
        keys.sort_unstable();
        keys.dedup();
        let groups = keys.iter().flat_map(|it| &self.keys[*it as usize]).take(CANDIDATES_MAX);
        let mut fitting = Vec::new();
        let mut is_telling = false;
        for group in groups.map(|it| &self.groups[*it as usize]) {
            let Some(first) = group.statements.first() else { continue };
            if !self.statements[*first as usize].template.fits(message) {
                continue;
            }
            for &n in group.statements.iter().filter(|it| self.level_fits(**it, entry)) {
                let is_named = self.named(n, entry).is_some();
                is_telling |= is_named && group.literal_chars >= TELLING_CHARS_MIN;
                if is_named || !in_class {
                    fitting.push(n);
                }
            }
        }
        if is_telling {
            fitting.retain(|it| self.named(*it, entry).is_some());
        }
        fitting
    }

    /// Statements of the entry's class that say little or nothing.
    fn vague(&self, entry: &Entry<'_>) -> Vec<u32> {
        let Some(class) = entry.class() else { return Vec::new() };
        let here = self.vague.get(outermost(class)).map_or(&[][..], |it| it);
        here.iter()
            .copied()
            .filter(|it| self.named(*it, entry).is_some() && self.fits(*it, entry.message, entry))
            .collect()
    }

    fn fits(&self, n: u32, message: &str, entry: &Entry<'_>) -> bool {
        let template = &self.statements[n as usize].template;
        let fits = template.fits(message) || (message.contains('\n') && template.fits(entry.first_line()));
        fits && self.level_fits(n, entry)
    }

    fn level_fits(&self, n: u32, entry: &Entry<'_>) -> bool {
        match (self.statements[n as usize].level, entry.level) {
            (Some(level), Some(written)) => level.may_write(written),
            _ => true,
        }
    }

    fn named(&self, n: u32, entry: &Entry<'_>) -> Option<Named> {
        let class = &self.statements[n as usize].class;
        match (entry.logger, entry.class()) {
            (Some(logger), _) => names(logger, class),
            // A file is named after its outermost class.
            (None, Some(file)) => (outermost(class) == file).then_some(Named::Outer),
            (None, None) => None,
        }
    }

    /// The best of those that fit, and all that are equally good.
    fn best(&self, fitting: &[u32], entry: &Entry<'_>) -> Vec<StatementId> {
        match fitting {
            [] => return Vec::new(),
            [only] => return vec![self.statements[*only as usize].id],
            _ => {}
        }
        let trace = entry.trace();
        let has_trace = !trace.exceptions.is_empty();
        let mut stack: FxHashMap<(&str, &str), usize> = FxHashMap::default();
        for (depth, frame) in trace.roots().flat_map(|it| &it.frames).enumerate() {
            stack.entry((frame.class, frame.method)).or_insert(depth);
        }
        // White space at the end may be missing, so a template may have more than there is to say.
        let said = entry.message.trim_end().chars().count();
        let rank = |n: &u32| {
            let statement = &self.statements[*n as usize];
            let depth = stack.get(&(statement.class.as_str(), statement.method.as_str()));
            Rank {
                literal_chars: statement.template.literal_chars().min(said),
                named: self.named(*n, entry),
                on_stack: depth.filter(|_| statement.has_exception).map(|it| Reverse(*it)),
                has_level: statement.level.is_some() && statement.level == entry.level,
                exception_agrees: statement.has_exception == has_trace,
            }
        };
        let Some(best) = fitting.iter().map(rank).max() else { return Vec::new() };
        fitting.iter().filter(|it| rank(it) == best).map(|it| self.statements[*it as usize].id).collect()
    }
}

/// The text by which a template is found: the longest, or its beginning.
fn key(template: &Template) -> Option<&str> {
    // White space at the end is not compared, so it is not looked for.
    let longest = template.texts().map(str::trim_end).max_by_key(|it| it.len())?;
    let mut end = longest.len().min(KEY_BYTES_MAX);
    while !longest.is_char_boundary(end) {
        end -= 1;
    }
    (end >= KEY_BYTES_MIN).then_some(&longest[..end])
}

/// Whether a statement may print a line with what a framework puts before a message: it has no level of its own, and begins with
/// what is put in, as a time is.
fn prints_lines(statement: &Statement) -> bool {
    statement.level.is_none() && statement.template.begins_with_hole()
}
