//! Sites as people write them: `FileTxnLog.commit -> FileChannel.force`.

use std::fmt;
use std::str::FromStr;

use hypocenter_plan::{Site, SiteKind, glob_matches};

/// A readable description that one site or several fit.
///
/// ```text
/// FileTxnLog.commit                          where the method begins
/// FileTxnLog.commit -> FileChannel.force     before a call;  <-  after it
/// FileTxnLog.commit:386 -> new File #1       only in line 386, only the call number 1 (from 0)
/// FileTxnLog.commit log Logger.warn          before a call that logs; the callee may be left out
/// FileTxnLog.commit exit                     also: unwind, return (of a boolean)
/// FileTxnLog.commit loop 1                   an iteration of loop 1; also: loop 1 entry, loop 1 exit
/// FileTxnLog.commit handler 0                also: block 3, monitor_enter 0, array_write 2
/// FileTxnLog.commit field_write logStream    also: field_read, and allocation with a class
/// FileTxnLog.commit constant int 5           where a constant is loaded; the value may be left out
/// ```
///
/// A class is simple (`FileTxnLog`), qualified in part or in full, nested as `Outer$Inner` or `Outer.Inner`; `*` stands
/// for any text; a method may have its descriptor, with or without the result: `commit()`, `get(I)J`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitePattern {
    method: MethodPattern,
    line: Option<u32>,
    kind: SiteKind,
    callee: Option<MethodPattern>,
    /// Of a constant: its type and value.
    constant: Option<String>,
    ordinal: Option<u32>,
}

/// A class and a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MethodPattern {
    /// None for a callee of any class.
    pub class: Option<String>,
    pub name: String,
    pub descriptor: Option<String>,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` does not name a site: {what}. Examples: `FileTxnLog.commit -> FileChannel.force` (before a call), \
     `FileTxnLog.commit` (method entry), `FileTxnLog.commit:386 loop 1` (an iteration of loop 1, in line 386)"
)]
pub struct PatternError {
    /// Input.
    pub text: String,
    /// Its error.
    pub what: String,
}

impl FromStr for SitePattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<SitePattern, PatternError> {
        parse(text.trim()).map_err(|what| PatternError { text: text.trim().to_owned(), what })
    }
}

fn parse(text: &str) -> Result<SitePattern, String> {
    let (text, ordinal) = match text.rsplit_once('#') {
        Some((rest, number)) => (rest.trim_end(), Some(parse_number(number, "the number behind `#`")?)),
        None => (text, None),
    };
    let arrow = [("->", SiteKind::Call), ("<-", SiteKind::CallReturn), ("<!", SiteKind::CallThrow)]
        .into_iter()
        .filter_map(|(arrow, kind)| Some((text.find(arrow)?, kind)))
        .min_by_key(|&(at, _)| at);
    if let Some((at, kind)) = arrow {
        let (left, right) = (text[..at].trim(), text[at + 2..].trim());
        let (method, line) = parse_method(left, true)?;
        let (callee, callee_line) = parse_method(right, false)?;
        return Ok(SitePattern {
            method,
            line: line.or(callee_line),
            kind,
            callee: Some(callee),
            constant: None,
            ordinal,
        });
    }

    let mut words: Vec<&str> = text.split_whitespace().collect();
    let method_words = if words.first() == Some(&"new") { 2 } else { 1 };
    let tail = words.split_off(method_words.min(words.len()));
    let (method, mut line) = parse_method(&words.join(" "), true)?;
    let (mut callee, mut constant) = (None, None);
    let (kind, tail_ordinal) = match tail.as_slice() {
        [] | ["entry"] => (SiteKind::Entry, None),
        ["exit"] => (SiteKind::Exit, None),
        ["unwind"] => (SiteKind::Unwind, None),
        ["operation_end"] | ["operation", "end"] => (SiteKind::OperationEnd, None),
        ["operation", called, "end"] => {
            callee = Some(parse_method(called, false)?.0);
            (SiteKind::OperationEnd, None)
        }
        ["return" | "boolean_return"] => (SiteKind::BooleanReturn, None),
        ["loop", rest @ ..] => parse_loop(rest)?,
        ["loop_iteration"] => (SiteKind::LoopIteration, None),
        ["loop_entry"] => (SiteKind::LoopEntry, None),
        ["loop_exit"] => (SiteKind::LoopExit, None),
        ["loop_body"] => (SiteKind::LoopBody, None),
        ["loop_unwind"] => (SiteKind::LoopUnwind, None),
        ["branch", rest @ ..] => (SiteKind::Branch, parse_optional_number(rest, "branch")?),
        ["switch", rest @ ..] => (SiteKind::Switch, parse_optional_number(rest, "switch")?),
        ["constant", rest @ ..] => {
            constant = (!rest.is_empty()).then(|| rest.join(" "));
            (SiteKind::Constant, None)
        }
        ["throw", rest @ ..] => (SiteKind::Throw, parse_optional_number(rest, "throw")?),
        ["handler", rest @ ..] => (SiteKind::Handler, parse_optional_number(rest, "handler")?),
        ["block", rest @ ..] => (SiteKind::Block, parse_optional_number(rest, "block")?),
        [word, rest @ ..] if let Some(kind) = by_name(word) => match numbered(kind) {
            true => (kind, parse_optional_number(rest, word)?),
            false if rest.is_empty() => (kind, None),
            false => {
                let (named, callee_line) = parse_method(&rest.join(" "), false)?;
                (callee, line) = (Some(named), line.or(callee_line));
                (kind, None)
            }
        },
        ["call", ..] => {
            return Err("a call is written with its callee, `Class.method -> Class.callee`".into());
        }
        other => {
            return Err(format!(
                "`{}` is not known behind the method; there is entry, exit, unwind, return, loop, handler, block, \
                 branch, switch, throw, operation, log, field_read, field_write, array_read, array_write, allocation, \
                 monitor_enter, monitor_exit, constant, and `->`, `<-` and `<!` for calls",
                other.join(" ")
            ));
        }
    };
    if ordinal.is_some() && tail_ordinal.is_some() {
        return Err("it is numbered twice; leave the `#` out".into());
    }
    Ok(SitePattern { method, line, kind, callee, constant, ordinal: ordinal.or(tail_ordinal) })
}

/// The kinds that are written as in JSON: with a number, or with the name of what is called, accessed or made.
fn by_name(word: &str) -> Option<SiteKind> {
    use SiteKind::*;
    let kinds = [Log, Operation, FieldRead, FieldWrite, Allocation];
    let numbered = [ArrayRead, ArrayWrite, MonitorEnter, MonitorExit];
    kinds.into_iter().chain(numbered).find(|kind| kind.name() == word)
}

/// Tests whether a site of this kind is told from others by its number alone.
fn numbered(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::ArrayRead | SiteKind::ArrayWrite) || kind.is_of_monitor()
}

fn parse_loop(words: &[&str]) -> Result<(SiteKind, Option<u32>), String> {
    let (number, which) = match words {
        [] => (None, "iteration"),
        [one] if one.starts_with(|c: char| c.is_ascii_digit()) => (Some(*one), "iteration"),
        [which] => (None, *which),
        [number, which] => (Some(*number), *which),
        _ => {
            return Err(
                "a loop is written `loop 1`, or with body, entry, exit or unwind behind the number".into()
            );
        }
    };
    let number = number.map(|number| parse_number(number, "the number of the loop")).transpose()?;
    let kind = match which {
        "iteration" => SiteKind::LoopIteration,
        "entry" => SiteKind::LoopEntry,
        "exit" => SiteKind::LoopExit,
        "body" => SiteKind::LoopBody,
        "unwind" => SiteKind::LoopUnwind,
        other => {
            return Err(format!(
                "`loop {other}` is not known; there is `loop 1`, `loop 1 body`, `loop 1 entry`, `loop 1 exit`, `loop 1 unwind`"
            ));
        }
    };
    Ok((kind, number))
}

fn parse_optional_number(words: &[&str], what: &str) -> Result<Option<u32>, String> {
    match words {
        [] => Ok(None),
        [number] => parse_number(number, &format!("the number of the {what}")).map(Some),
        _ => Err(format!("a {what} is written `{what} 0`")),
    }
}

fn parse_number(text: &str, what: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| format!("{what} is `{}`; give a number, counted from 0", text.trim()))
}

/// `Class.method`, with a descriptor and a line where there are; `new Class` for its constructor.
fn parse_method(text: &str, needs_class: bool) -> Result<(MethodPattern, Option<u32>), String> {
    let side = if needs_class { "the method" } else { "the callee" };
    if text.is_empty() {
        return Err(format!("{side} is missing"));
    }
    let (text, line) = match text.rsplit_once(':') {
        Some((rest, line)) => {
            let line = line.trim().parse().map_err(|_| format!("the line is `{line}`; give a number"))?;
            (rest.trim_end(), Some(line))
        }
        None => (text, None),
    };
    let (text, descriptor) = match text.find('(') {
        Some(at) => (text[..at].trim_end(), Some(&text[at..])),
        None => (text, None),
    };
    if let Some(descriptor) = descriptor
        && !is_descriptor(descriptor)
    {
        return Err(format!(
            "`{descriptor}` is no descriptor; write it as in class files: (ILjava/lang/String;)V"
        ));
    }
    let (class, name) = match text.strip_prefix("new ") {
        Some(class) => (Some(class.trim()), "<init>"),
        None => match text.rsplit_once('.') {
            Some((class, name)) => (Some(class), name),
            None if needs_class => return Err(format!("`{text}` names no class; write `Class.method`")),
            None => (None, text),
        },
    };
    let is_name =
        |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "()#:;,".contains(c));
    if !class.is_none_or(|class| class.split(['.', '/']).all(is_name)) || !is_name(name) {
        return Err(format!("`{text}` is not of the form `Class.method`"));
    }
    let class = class.map(|class| class.replace('/', "."));
    let pattern = MethodPattern { class, name: name.to_owned(), descriptor: descriptor.map(str::to_owned) };
    Ok((pattern, line))
}

/// A method descriptor, or only its parameters.
fn is_descriptor(text: &str) -> bool {
    let whole = if text.ends_with(')') { format!("{text}V") } else { text.to_owned() };
    hypocenter_classfile::descriptor::argument_words(whole.as_bytes()).is_some()
}

impl MethodPattern {
    pub fn fits_class(&self, class: &str) -> bool {
        self.class.as_deref().is_none_or(|pattern| class_fits(pattern, class))
    }

    pub fn fits_method(&self, name: &str, descriptor: &str) -> bool {
        let fits_descriptor =
            |wanted: &str| descriptor == wanted || (wanted.ends_with(')') && descriptor.starts_with(wanted));
        glob_matches(&self.name, name) && self.descriptor.as_deref().is_none_or(fits_descriptor)
    }

    /// Tests whether `owner.name(descriptor)` fits.
    fn fits_callee(&self, callee: &str) -> bool {
        let (method, descriptor) = callee.split_at(callee.find('(').unwrap_or(callee.len()));
        let (owner, name) = method.rsplit_once('.').unwrap_or(("", method));
        self.fits_class(owner) && self.fits_method(name, descriptor)
    }
}

/// A pattern without a dot is about the simple name, nested or not; one with dots about the end of the full
/// name, where a dot stands for a `$` too.
fn class_fits(pattern: &str, class: &str) -> bool {
    if !pattern.contains('.') {
        let simple = class.rsplit('.').next().unwrap_or(class);
        let inner = simple.rsplit('$').next().unwrap_or(simple);
        return glob_matches(pattern, simple) || glob_matches(pattern, inner);
    }
    let fits = |pattern: &str, class: &str| {
        let ends = class.len().checked_sub(pattern.len() + 1).is_some_and(|at| {
            class.as_bytes()[at] == b'.' && class.as_bytes()[at + 1..] == *pattern.as_bytes()
        });
        ends || glob_matches(pattern, class)
            || (pattern.contains('*') && glob_matches(&format!("*.{pattern}"), class))
    };
    fits(pattern, class)
        || (class.contains('$') && fits(&pattern.replace('$', "."), &class.replace('$', ".")))
}

impl SitePattern {
    /// The kind of the sites.
    pub fn kind(&self) -> SiteKind {
        self.kind
    }

    pub(crate) fn method(&self) -> &MethodPattern {
        &self.method
    }

    pub(crate) fn callee(&self) -> Option<&MethodPattern> {
        self.callee.as_ref()
    }

    /// Tests whether a site fits.
    pub fn fits(&self, site: &Site) -> bool {
        self.kind == site.kind
            && self.method.fits_class(&site.class)
            && self.method.fits_method(&site.method, &site.descriptor)
            && self.fits_callee(site)
            && self.ordinal.is_none_or(|ordinal| ordinal == site.ordinal)
            && self.line.is_none_or(|line| site.line == Some(line))
    }

    pub(crate) fn fits_callee(&self, site: &Site) -> bool {
        let fits =
            |callee: &MethodPattern| site.callee.as_deref().is_some_and(|text| callee.fits_callee(text));
        self.callee.as_ref().is_none_or(fits)
            && self.constant.as_ref().is_none_or(|constant| {
                site.callee.as_deref().is_some_and(|text| glob_matches(constant, &words(text)))
            })
    }
}

/// A text with single spaces, as a pattern has it.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

impl fmt::Display for MethodPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.class, self.name.as_str()) {
            (Some(class), "<init>") => write!(f, "new {class}")?,
            (Some(class), name) => write!(f, "{class}.{name}")?,
            (None, name) => write!(f, "{name}")?,
        }
        write!(f, "{}", self.descriptor.as_deref().unwrap_or(""))
    }
}

impl fmt::Display for SitePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.method)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        // Where the number stands: behind the word for what has one in any case, behind everything for the rest.
        let (word, number, rest) = match self.kind {
            SiteKind::Entry => ("", false, ""),
            SiteKind::Call => (" ->", false, ""),
            SiteKind::CallReturn => (" <-", false, ""),
            SiteKind::CallThrow => (" <!", false, ""),
            SiteKind::Log => (" log", false, ""),
            SiteKind::Exit => (" exit", false, ""),
            SiteKind::Unwind => (" unwind", false, ""),
            SiteKind::Operation => (" operation", false, ""),
            SiteKind::OperationEnd => (" operation", false, " end"),
            SiteKind::BooleanReturn => (" return", false, ""),
            SiteKind::Block => (" block", true, ""),
            SiteKind::Handler => (" handler", true, ""),
            SiteKind::Branch => (" branch", true, ""),
            SiteKind::Switch => (" switch", true, ""),
            SiteKind::Throw => (" throw", true, ""),
            SiteKind::LoopBody => (" loop", true, " body"),
            SiteKind::LoopUnwind => (" loop", true, " unwind"),
            SiteKind::LoopIteration => (" loop", true, ""),
            SiteKind::LoopEntry => (" loop", true, " entry"),
            SiteKind::LoopExit => (" loop", true, " exit"),
            SiteKind::Constant => (" constant", false, ""),
            SiteKind::FieldRead => (" field_read", false, ""),
            SiteKind::FieldWrite => (" field_write", false, ""),
            SiteKind::Allocation => (" allocation", false, ""),
            SiteKind::ArrayRead => (" array_read", true, ""),
            SiteKind::ArrayWrite => (" array_write", true, ""),
            SiteKind::MonitorEnter => (" monitor_enter", true, ""),
            SiteKind::MonitorExit => (" monitor_exit", true, ""),
        };
        write!(f, "{word}")?;
        if let Some(callee) = &self.callee {
            write!(f, " {callee}")?;
        }
        if let Some(constant) = &self.constant {
            write!(f, " {constant}")?;
        }
        match self.ordinal {
            Some(ordinal) if number => write!(f, " {ordinal}")?,
            Some(ordinal) => write!(f, " #{ordinal}")?,
            None => {}
        }
        write!(f, "{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_and_written_the_same() {
        let check = |text: &str, canonical: &str| {
            let pattern: SitePattern = text.parse().unwrap();
            assert_eq!(pattern.to_string(), canonical, "{text}");
            assert_eq!(canonical.parse::<SitePattern>().unwrap(), pattern, "{text}");
        };
        check("FileTxnLog.commit -> FileChannel.force", "FileTxnLog.commit -> FileChannel.force");
        check("FileTxnLog.commit->FileChannel.force", "FileTxnLog.commit -> FileChannel.force");
        check("FileTxnLog.commit field_write logStream", "FileTxnLog.commit field_write logStream");
        check(
            "FileTxnLog.commit field_read FileTxnLog.db #1",
            "FileTxnLog.commit field_read FileTxnLog.db #1",
        );
        check("FileTxnLog.commit allocation", "FileTxnLog.commit allocation");
        check("FileTxnLog.commit constant", "FileTxnLog.commit constant");
        check("FileTxnLog.commit constant int 5", "FileTxnLog.commit constant int 5");
        check("A.b:7 constant  String  a b #1", "A.b:7 constant String a b #1");
        check("FileTxnLog.commit monitor_enter #1", "FileTxnLog.commit monitor_enter 1");
        check("FileTxnLog.commit operation Object.wait", "FileTxnLog.commit operation Object.wait");
        check("FileTxnLog.commit operation Object.wait end", "FileTxnLog.commit operation Object.wait end");
        check("  A.b  <-  C.d #2 ", "A.b <- C.d #2");
        check("A.b:386 -> C.d(JJ)V#0", "A.b:386 -> C.d(JJ)V #0");
        check("A.b -> C.d:386", "A.b:386 -> C.d");
        check("A.<init> -> new java.io.File", "new A -> new java.io.File");
        check("X.<init>->Y.z", "new X -> Y.z");
        check("new A -> C.<init>(I)", "new A -> new C(I)");
        check("A.b -> force", "A.b -> force");
        check("A.b -> *", "A.b -> *");
        check("a/b/C.d", "a.b.C.d");
        check("A.b", "A.b");
        check("A.b entry", "A.b");
        check("A.b()V", "A.b()V");
        check("A.b()V:12 exit", "A.b()V:12 exit");
        check("A.b unwind", "A.b unwind");
        check("A.b return #1", "A.b return #1");
        check("A.b boolean_return", "A.b return");
        check("A.b loop", "A.b loop");
        check("A.b loop 1", "A.b loop 1");
        check("A.b loop 1 entry", "A.b loop 1 entry");
        check("A.b loop exit", "A.b loop exit");
        check("A.b loop_exit #2", "A.b loop 2 exit");
        check("A.b handler 0", "A.b handler 0");
        check("A.b block 3", "A.b block 3");
        check("A.b log", "A.b log");
        check("A.b log org.slf4j.Logger.warn #1", "A.b log org.slf4j.Logger.warn #1");
        check("Outer$Inner.lambda$run$0 -> indy.run", "Outer$Inner.lambda$run$0 -> indy.run");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |text: &str, expected: &str| {
            let error = text.parse::<SitePattern>().unwrap_err();
            assert!(error.what.contains(expected), "{text}: {}", error.what);
            assert_eq!(error.to_string().matches("FileTxnLog").count(), 3);
        };
        check("", "the method is missing");
        check("commit", "names no class");
        check("A.b ->", "the callee is missing");
        check("-> A.b", "the method is missing");
        check("A.b #x", "give a number");
        check("A.b:x", "the line is `x`");
        check("A.b(String)", "is no descriptor");
        check("A..b", "not of the form");
        check("A.", "not of the form");
        check("A.b loop x", "`loop x` is not known");
        check("A.b loop 1 #2", "numbered twice");
        check("A.b call C.d", "written with its callee");
        check("A.b while 3", "is not known behind the method");
        check("new", "names no class");
    }

    #[test]
    fn classes_fit_by_their_end() {
        let check = |pattern: &str, class: &str, expected: bool| {
            assert_eq!(class_fits(pattern, class), expected, "{pattern} {class}");
        };
        check("FileTxnLog", "org.x.FileTxnLog", true);
        check("FileTxnLog", "FileTxnLog", true);
        check("TxnLog", "org.x.FileTxnLog", false);
        check("x.FileTxnLog", "org.x.FileTxnLog", true);
        check("org.x.FileTxnLog", "org.x.FileTxnLog", true);
        check("g.x.FileTxnLog", "org.x.FileTxnLog", false);
        check("Outer$Inner", "a.Outer$Inner", true);
        check("Outer.Inner", "a.Outer$Inner", true);
        check("a.Outer.Inner", "a.Outer$Inner", true);
        check("a.Outer$Inner", "a.Outer$Inner", true);
        check("Inner", "a.Outer$Inner", true);
        check("Outer", "a.Outer$Inner", false);
        check("File*", "org.x.FileTxnLog", true);
        check("File*", "org.File.Log", false);
        check("org.*", "org.x.FileTxnLog", true);
        check("x.*Log", "org.x.FileTxnLog", true);
        check("*", "org.x.FileTxnLog", true);
        check("Outer$1", "a.Outer$1", true);
    }

    #[test]
    fn a_written_site_is_a_pattern_for_itself() {
        for (kind, callee, ordinal) in [
            (SiteKind::Call, Some("c.D.e(I)V"), 2),
            (SiteKind::CallReturn, Some("c.D.<init>()V"), 0),
            (SiteKind::Log, Some("org.slf4j.Logger.warn(Ljava/lang/String;)V"), 1),
            (SiteKind::LoopExit, None, 1),
            (SiteKind::Handler, None, 0),
            (SiteKind::BooleanReturn, None, 3),
            (SiteKind::Constant, Some("int -5"), 1),
            (SiteKind::Constant, Some("String a  (b)"), 0),
        ] {
            let site = Site {
                class: "a.B$C".into(),
                method: "<init>".into(),
                descriptor: "()V".into(),
                kind,
                callee: callee.map(str::to_owned),
                ordinal,
                line: Some(7),
            };
            let pattern: SitePattern = site.to_string().parse().unwrap();
            assert!(pattern.fits(&site), "{site}");
        }
    }
}
