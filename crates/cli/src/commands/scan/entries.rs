//! From log lines to the statements that can have written them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hypocenter_logs::{self as logs, Entry, How, Layout, Log, LogError, Tie};
use hypocenter_program::Program;
use hypocenter_ties::index;

use crate::args::ScanArgs;
use crate::config::Config;
use crate::failure::Failure;

/// Templates that are suggested for a line that none fits.
const SUGGESTED_MAX: usize = 3;
/// The shortest word that counts when templates are compared with a line.
const WORD_CHARS_MIN: usize = 3;

/// Maximum number of words before a message.
const HEAD_WORDS_MAX: usize = 8;

/// The log lines that are asked about.
#[derive(Debug)]
pub enum Started {
    /// One line, as it was given, and as a log if a layout fits it.
    Line(String, Option<Log>),
    /// Serious entries of a log.
    File(PathBuf, Log),
}

/// The statements that wrote what is asked about.
#[derive(Debug)]
pub struct Tied {
    /// Each statement, by its number in the program, with how many entries it can have written and how it was found.
    pub statements: BTreeMap<u32, (usize, How)>,
    pub exact: usize,
    pub several: usize,
    /// The entries that no statement fits: line and message.
    pub none: Vec<(u32, String)>,
}

impl Started {
    /// Reads what was given; nothing if nothing was.
    pub fn of(args: &ScanArgs) -> Result<Option<Started>, Failure> {
        let layout = args.layout.as_deref().map(Layout::compile).transpose();
        let layout = layout.map_err(|error| Failure::usage(format!("--layout: {error}")))?;
        if args.log.is_none() && args.why.is_none() {
            return Ok(None);
        }
        let of_failure = Config::read(&args.config)?.layout().map(Layout::compile).transpose();
        let of_failure = of_failure.map_err(|error| Failure::usage(format!("[failure] layout: {error}")))?;
        let read = |bytes: &[u8]| match (&layout, &of_failure) {
            (Some(layout), _) => Log::read_with(bytes, layout),
            // What is asked about need not be of the failure's log: the line of a trial, or a message alone.
            (None, Some(layout)) => match Log::read_with(bytes, layout) {
                Err(LogError::OtherLayout { .. }) => Log::read(bytes),
                other => other,
            },
            (None, None) => Log::read(bytes),
        };
        if let Some(path) = &args.log {
            let bytes = std::fs::read(path).map_err(|error| {
                Failure::usage(format!("{}: cannot be read: {error}", path.display()))
                    .hint("give --log a file that the failed run wrote")
            })?;
            let log = read(&bytes).map_err(|error| {
                let failure = Failure::usage(format!("{}: {error}", path.display()));
                if error.has_no_layout() {
                    failure.hint(
                        "give its pattern with --layout or as `layout` under [failure] of hypocenter.toml, or give one line of the log with --why",
                    )
                } else {
                    failure
                }
            })?;
            return Ok(Some(Started::File(path.clone(), log)));
        }
        let Some(line) = args.why.as_ref().map(|it| it.to_string_lossy().into_owned()) else {
            return Ok(None);
        };
        match read(line.as_bytes()) {
            Ok(log) => Ok(Some(Started::Line(line, Some(log)))),
            // A message alone has no layout.
            Err(error) if error.has_no_layout() => Ok(Some(Started::Line(line, None))),
            Err(LogError::Empty) => Err(Failure::usage("--why: the line is empty")
                .hint("give a line of the log in quotes, or only its message")),
            Err(error) => Err(Failure::usage(format!("--why: {error}"))),
        }
    }

    /// Finds the statements.
    pub fn tie(&self, program: &Program) -> Result<Tied, Failure> {
        let index = index(program);
        match self {
            Started::Line(line, log) => {
                let mut tried = Vec::new();
                if let Some(entry) = log.as_ref().and_then(|it| it.entry(0)) {
                    tried.push(entry);
                    // The class or the level may be another's: a bridge's, or that of another build.
                    tried.push(Entry { message: entry.message, rest: entry.rest, ..Entry::default() });
                }
                tried.push(Entry { message: line.trim(), ..Entry::default() });
                // A part of a line is enough where a template says most of it; it may begin before the message.
                let whole = tried.iter().map(|it| index.tie(it)).chain([index.saying(line.trim())]);
                let behind = without_head(line.trim()).flat_map(|message| {
                    [index.tie(&Entry { message, ..Entry::default() }), index.saying(message)]
                });
                let tie = whole.chain(behind).find(|it| *it != Tie::None);
                match tie {
                    None => Err(no_statement(program, &tried[0])),
                    Some(tie) => Ok(Tied::of([(1, tried[0].message, tie)])),
                }
            }
            Started::File(path, log) => {
                let is_serious = |it: &Entry<'_>| {
                    it.level.is_some_and(|it| it >= logs::Level::Warn) || !it.trace().exceptions.is_empty()
                };
                let serious: Vec<Entry<'_>> = log.entries().filter(is_serious).collect();
                if serious.is_empty() {
                    return Err(Failure::usage(format!(
                        "{}: none of its {} entries is a warning or an error or has an exception",
                        path.display(),
                        log.len()
                    ))
                    .hint("give one of its lines with --why"));
                }
                let tied = Tied::of(serious.iter().map(|it| (it.line, it.message, index.tie(it))));
                if tied.statements.is_empty() {
                    return Err(Failure::usage(format!(
                        "{}: no log statement of the target matches any of its {} serious entries, the first of which is {:?}",
                        path.display(),
                        serious.len(),
                        serious[0].first_line()
                    ))
                    .hint("check that the class path and the packages are of the system that wrote this log"));
                }
                Ok(tied)
            }
        }
    }
}

impl Tied {
    fn of<'t>(ties: impl IntoIterator<Item = (u32, &'t str, Tie)>) -> Tied {
        let mut tied = Tied { statements: BTreeMap::new(), exact: 0, several: 0, none: Vec::new() };
        for (line, message, tie) in ties {
            match &tie {
                Tie::Exact(..) => tied.exact += 1,
                Tie::Several(..) => tied.several += 1,
                Tie::None => {
                    let first = message.lines().next().unwrap_or_default();
                    tied.none.push((line, first.to_owned()));
                }
            }
            let how = tie.how().unwrap_or(How::Text);
            for id in tie.ids() {
                tied.statements.entry(id.0).or_insert((0, how)).0 += 1;
            }
        }
        tied
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.exact + self.several + self.none.len()
    }
}

/// A line without what may stand before its message (the end of a time, a level, a thread, a logger), the longest first. The first
/// word of small letters is the message's own.
fn without_head(line: &str) -> impl Iterator<Item = &str> {
    fn behind(rest: &str) -> Option<&str> {
        let (word, behind) = rest.split_once(char::is_whitespace)?;
        let is_head = !word.chars().all(|it| it.is_ascii_lowercase());
        is_head.then_some(behind.trim_start())
    }
    std::iter::successors(behind(line), |it| behind(it)).take(HEAD_WORDS_MAX)
}

/// Tried inputs, and the nearest templates.
fn no_statement(program: &Program, entry: &Entry<'_>) -> Failure {
    let statements = program.statements.statements();
    let mut tried = Vec::new();
    if let (Some(class), Some(line)) = (entry.class(), entry.source_line) {
        tried.push(format!("class {class} and line {line}"));
    }
    tried.push(format!("the text {:?}", shortened(entry.first_line())));
    let mut what = format!(
        "no log statement matches: tried {} on {} statements",
        tried.join(", then "),
        statements.len()
    );
    let near = nearest(program, entry.message);
    if !near.is_empty() {
        let are = if near.len() == 1 { "is" } else { "are" };
        what += &format!("; the nearest {are} {}", near.join(", "));
    }
    Failure::usage(what).hint(
        "give more or less of the line, and check that --packages has the class that wrote it; `hypocenter scan --logs` lists all statements",
    )
}

/// The templates that share most words with a message.
fn nearest(program: &Program, message: &str) -> Vec<String> {
    let said = words(message);
    let mut ranked: Vec<(usize, usize, String)> = Vec::new();
    for it in program.statements.statements() {
        for template in &it.templates {
            let text = template.to_string();
            let own = words(&text);
            let shared = own.intersection(&said).count();
            // Half of what one of them says, or they are no neighbours.
            if shared > 0 && shared * 2 >= own.len().min(said.len()) {
                let place = format!("{}:{}", program.world.show_method(it.method), it.line);
                ranked.push((shared, own.len(), format!("{:?} at {place}", shortened(&text))));
            }
        }
    }
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    ranked.dedup();
    ranked.into_iter().take(SUGGESTED_MAX).map(|it| it.2).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !it.is_alphanumeric());
    words.filter(|it| it.chars().count() >= WORD_CHARS_MIN).map(str::to_lowercase).collect()
}

/// As much of a text as an error message has room for.
fn shortened(text: &str) -> String {
    const SHOWN_CHARS: usize = 100;
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown += "...";
    }
    shown
}
