//! Stack traces, as `printStackTrace` and the frameworks write them.
//!
//! Exceptions stand in one list, each with the number of the one that it belongs to: a chain of causes in a log that
//! somebody made up may be of any length, and nothing here descends into it.

/// The exceptions of an entry, and the frames that each was thrown with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace<'t> {
    /// In the order in which they are written.
    pub exceptions: Vec<Exception<'t>>,
    /// Whether there were more exceptions or frames than are kept.
    pub is_cut: bool,
}

/// An exception in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception<'t> {
    /// How it belongs to its parent.
    pub relation: Relation,
    /// Which exception of the trace it is the cause of, or was suppressed by.
    pub parent: Option<usize>,
    /// Its class, in full.
    pub class: &'t str,
    /// What it says, of which there may be several lines; empty where it says nothing.
    pub message: &'t str,
    /// The innermost first. Those that `... 5 more` stands for are taken from the parent.
    pub frames: Vec<Frame<'t>>,
    /// How many of the frames, the last, were taken from the parent.
    pub restored: usize,
    /// Whether it was seen before in this trace, so that nothing more of it is written.
    pub is_circular: bool,
}

/// How an exception came into a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It was logged itself.
    Logged,
    /// `Caused by:`, it is the cause of its parent.
    Cause,
    /// `Suppressed:`, it was thrown while its parent was on its way.
    Suppressed,
    /// `Wrapped by:`, its parent is the cause of it: logback can write the root cause first.
    Wrapper,
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'t> {
    /// The class in full, without module and class loader.
    pub class: &'t str,
    /// The method.
    pub method: &'t str,
    /// The source file, where it is known.
    pub file: Option<&'t str>,
    /// The source line, where it is known.
    pub line: Option<u32>,
    /// Whether it is a native method.
    pub is_native: bool,
}

/// How many exceptions of an entry are kept.
const EXCEPTIONS_MAX: usize = 64;
/// How many frames of an exception are kept: twice what a JVM keeps unless told otherwise.
const FRAMES_MAX: usize = 2048;

/// What a line of a trace is.
enum Line<'t> {
    Frame(Frame<'t>),
    More(usize),
    Head { relation: Relation, depth: usize, class: &'t str, message: &'t str },
    Circular { relation: Relation, depth: usize, class: &'t str, message: &'t str },
    Other,
}

impl<'t> Trace<'t> {
    /// Reads the exceptions of a text. Lines that are no part of one are passed over.
    pub fn parse(text: &'t str) -> Trace<'t> {
        Self::parse_behind("", text)
    }

    /// Reads the exceptions of a text that stands behind the line `before`, which may name the first of them.
    pub(crate) fn parse_behind(before: &'t str, text: &'t str) -> Trace<'t> {
        let mut reader = Reader { text, before, ..Reader::default() };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            reader.line(line.trim_end_matches(['\n', '\r']), at);
            at += line.len();
        }
        reader.end(text.len());
        reader.trace
    }

    /// The exceptions that caused or wrap no other: at the end of each chain of causes.
    pub fn roots(&self) -> impl Iterator<Item = &Exception<'t>> {
        let is_root = |n: usize| {
            !self.exceptions.iter().any(|it| it.parent == Some(n) && it.relation == Relation::Cause)
                && self.exceptions[n].relation != Relation::Wrapper
        };
        self.exceptions.iter().enumerate().filter(move |(n, _)| is_root(*n)).map(|(_, it)| it)
    }
}

#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    trace: Trace<'t>,
    /// The exceptions that the next one may belong to, with how deep they are indented.
    open: Vec<(usize, usize)>,
    /// Where the message of the last exception begins, while it may go on.
    message_at: Option<usize>,
    /// Whether more exceptions came than are kept.
    is_full: bool,
    /// The line before.
    before: &'t str,
}

impl<'t> Reader<'t> {
    fn line(&mut self, line: &'t str, at: usize) {
        match classify(line) {
            Line::Frame(frame) => {
                if self.trace.exceptions.is_empty() {
                    self.head_within_a_line();
                }
                self.end_message(at);
                if let (false, Some(last)) = (self.is_full, self.trace.exceptions.last_mut()) {
                    if last.frames.len() < FRAMES_MAX {
                        last.frames.push(frame);
                    } else {
                        self.trace.is_cut = true;
                    }
                }
            }
            Line::More(count) => {
                self.end_message(at);
                if !self.is_full {
                    self.restore(count);
                }
            }
            Line::Head { relation, depth, class, message } => {
                // Within a message that goes on, what looks like another exception is text, unless it is one for sure.
                if relation == Relation::Logged && self.message_at.is_some() && !is_exception_name(class) {
                    return;
                }
                self.end_message(at);
                self.push(relation, depth, class, message, false);
                let begin = message.as_ptr() as usize - self.text.as_ptr() as usize;
                self.message_at = (!self.is_full).then_some(begin);
            }
            Line::Circular { relation, depth, class, message } => {
                self.end_message(at);
                self.push(relation, depth, class, message, true);
            }
            Line::Other => {}
        }
        self.before = line;
    }

    fn end(&mut self, at: usize) {
        // A message without frames behind it is one line: nothing says how far it goes.
        if let Some(begin) = self.message_at {
            let line = self.text[begin..].find('\n').map_or(at, |it| begin + it);
            self.end_message(line);
        }
    }

    fn end_message(&mut self, at: usize) {
        if let (Some(begin), Some(last)) = (self.message_at.take(), self.trace.exceptions.last_mut()) {
            last.message = self.text[begin..at].trim_end();
        }
    }

    /// Frames follow a line that does not begin with an exception: `Unexpected error java.io.IOException: Broken pipe`.
    fn head_within_a_line(&mut self) {
        let Some((class, message)) = find_head(self.before) else { return };
        self.push(Relation::Logged, 0, class, message, false);
    }

    fn push(
        &mut self,
        relation: Relation,
        depth: usize,
        class: &'t str,
        message: &'t str,
        is_circular: bool,
    ) {
        if self.trace.exceptions.len() == EXCEPTIONS_MAX {
            self.trace.is_cut = true;
            self.is_full = true;
            return;
        }
        let parent = match relation {
            Relation::Logged => {
                self.open.clear();
                None
            }
            Relation::Cause | Relation::Wrapper => {
                // A cause stands as deep as what it is the cause of.
                while self.open.last().is_some_and(|(it, _)| *it > depth) {
                    self.open.pop();
                }
                self.open.pop().map(|(_, n)| n)
            }
            Relation::Suppressed => {
                while self.open.last().is_some_and(|(it, _)| *it >= depth) {
                    self.open.pop();
                }
                self.open.last().map(|(_, n)| *n)
            }
        };
        let n = self.trace.exceptions.len();
        // Text that went through something that removes white space at the start of lines still has an order.
        let parent = parent.or_else(|| if relation == Relation::Logged { None } else { n.checked_sub(1) });
        self.open.push((depth, n));
        self.trace.exceptions.push(Exception {
            relation,
            parent,
            class,
            message,
            frames: Vec::new(),
            restored: 0,
            is_circular,
        });
    }

    /// `... 5 more`: the last five frames are those of the exception that this one belongs to.
    fn restore(&mut self, count: usize) {
        let Some((last, before)) = self.trace.exceptions.split_last_mut() else { return };
        let Some(parent) = last.parent.and_then(|it| before.get(it)) else { return };
        let room = FRAMES_MAX - last.frames.len();
        let restored = count.min(parent.frames.len());
        if restored > room {
            self.trace.is_cut = true;
        }
        let from = parent.frames.len() - restored;
        last.frames.extend(parent.frames[from..].iter().take(room));
        last.restored = restored.min(room);
    }
}

fn classify(line: &str) -> Line<'_> {
    let bare = line.trim_start_matches([' ', '\t']);
    let depth = line.len() - bare.len();
    match bare.as_bytes().first() {
        Some(b'a') if bare.starts_with("at ") => {
            if let Some(frame) = frame(bare[3..].trim_start()) {
                return Line::Frame(frame);
            }
        }
        Some(b'.') => {
            if let Some(count) = more(bare) {
                return Line::More(count);
            }
        }
        None => return Line::Other,
        _ => {}
    }
    let (relation, rest) = if let Some(rest) = bare.strip_prefix("Caused by: ") {
        (Relation::Cause, rest)
    } else if let Some(rest) = bare.strip_prefix("Suppressed: ") {
        (Relation::Suppressed, rest)
    } else if let Some(rest) = bare.strip_prefix("Wrapped by: ") {
        (Relation::Wrapper, rest)
    } else {
        (Relation::Logged, bare)
    };
    if let Some(rest) = rest.strip_prefix("[CIRCULAR REFERENCE:") {
        let inner = rest.trim().trim_end_matches(']');
        let (class, message) = head(inner).unwrap_or((inner, ""));
        // Older JVMs write it without the words before.
        let relation = if relation == Relation::Logged { Relation::Cause } else { relation };
        return Line::Circular { relation, depth, class, message };
    }
    if relation == Relation::Logged {
        if depth > 0 {
            return Line::Other;
        }
        let rest = thread_prefix(bare).unwrap_or(bare);
        return match head(rest) {
            Some((class, message)) => Line::Head { relation, depth, class, message },
            None => Line::Other,
        };
    }
    let (class, message) = head(rest).unwrap_or_else(|| {
        // The words before leave no doubt, whatever the name is.
        let end = rest.find([':', ' ']).unwrap_or(rest.len());
        (&rest[..end], after_name(&rest[end..]))
    });
    Line::Head { relation, depth, class, message }
}

/// What follows `Exception in thread "main" `.
fn thread_prefix(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("Exception in thread \"")?;
    // A name may have quotes; what follows it is a class.
    rest.rsplit_once("\" ").map(|(_, rest)| rest)
}

/// The class and the message of an exception, at the start of a line.
fn head(line: &str) -> Option<(&str, &str)> {
    let length = line.find(|it: char| !is_name_char(it)).unwrap_or(line.len());
    let (class, rest) = line.split_at(length);
    let simple = class.rsplit('.').next()?;
    let qualified = class.contains('.') && class.split('.').all(is_name_segment);
    let named = qualified || (is_exception_name(class) && is_name_segment(class));
    let begins_class = simple.starts_with(|it: char| it.is_uppercase() || matches!(it, '$' | '_'));
    // Hadoop writes the class of a remote exception in brackets.
    let ends = rest.is_empty() || rest.starts_with(':') || (rest.starts_with('(') && rest.contains(')'));
    (named && (begins_class || is_exception_name(simple)) && ends).then(|| (class, after_name(rest)))
}

fn after_name(rest: &str) -> &str {
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.strip_prefix(' ').unwrap_or(rest)
}

/// The first exception that is named somewhere in a line.
fn find_head(line: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let length = rest.find(|it: char| !is_name_char(it)).unwrap_or(rest.len());
        let name = &rest[..length];
        if is_exception_name(name) && name.contains('.') && name.split('.').all(is_name_segment) {
            return Some((name, after_name(&rest[length..])));
        }
        let next = rest[length..].chars().next().map_or(0, char::len_utf8);
        at += length + next;
    }
    None
}

fn is_name_char(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '.' | '$' | '_' | '-' | '/')
}

fn is_name_segment(segment: &str) -> bool {
    segment.starts_with(|it: char| it.is_alphabetic() || matches!(it, '_' | '$'))
}

fn is_exception_name(class: &str) -> bool {
    ["Exception", "Error", "Throwable", "Failure", "Interrupt"].iter().any(|it| class.ends_with(it))
}

/// `... 5 more`, and `... 5 common frames omitted` of logback.
fn more(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("... ")?;
    let (count, rest) = rest.split_once(' ')?;
    let count = count.parse().ok()?;
    (rest.starts_with("more") || rest.starts_with("common frames omitted")).then_some(count)
}

/// What stands behind `at `: `java.base@17/java.lang.Thread.run(Thread.java:833) ~[?:?]`.
fn frame(text: &str) -> Option<Frame<'_>> {
    let open = text.find('(')?;
    let close = open + text[open..].find(')')?;
    let name = without_module(&text[..open]);
    let (class, method) = name.rsplit_once('.')?;
    let is_class = !class.is_empty() && !class.contains([' ', '\t']);
    if !is_class || method.is_empty() || method.ends_with(' ') {
        return None;
    }
    let source = &text[open + 1..close];
    let (file, line) = match source {
        "Native Method" | "Unknown Source" | "" => (None, None),
        _ => match source.rsplit_once(':') {
            Some((file, line)) => (Some(file), line.parse().ok()),
            None => (Some(source), None),
        },
    };
    Some(Frame { class, method, file, line, is_native: source == "Native Method" })
}

/// Without the class loader and the module that stand before a class. A hidden class has a slash in its own name,
/// before a number: `Main$$Lambda/0x00007f.run`.
fn without_module(name: &str) -> &str {
    let mut rest = name;
    while let Some((_, after)) = rest.split_once('/') {
        if after.starts_with(|it: char| it.is_ascii_digit()) {
            break;
        }
        rest = after;
    }
    rest
}

/// Where, in what follows the first line of a message, the message ends and exceptions begin.
pub(crate) fn begin(text: &str, mut is_end: impl FnMut(&str) -> bool) -> usize {
    // The last line that could be an exception of any name, while nothing is sure.
    let mut candidate = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        if is_end(bare) {
            return at;
        }
        match classify(bare) {
            Line::Head { relation: Relation::Logged, class, .. } if !is_exception_name(class) => {
                candidate = Some(at);
            }
            Line::Head { .. } | Line::Circular { .. } => return at,
            Line::Frame(_) => return candidate.unwrap_or(at),
            Line::More(_) | Line::Other => {}
        }
        at += line.len();
    }
    text.len()
}
