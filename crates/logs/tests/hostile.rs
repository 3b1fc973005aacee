//! Text that nobody wrote with good intentions: nothing panics, every line is accounted for, and time is linear.

use hypocenter_logs::{
    Entry, Layout, Level, Log, Part, Statement, StatementId, Statements, Template, Tie, Trace, role,
};
use proptest::prelude::*;

/// Pieces from which logs are made, so that random texts come near to real ones.
const PIECES: &[&str] = &[
    "2021-07-28 13:31:16,997",
    "2021-07-28 99:31:16",
    "10:00:00.123",
    "081109 203615",
    "17/06/09 20:10:40",
    "Jul 29, 2015 5:41:44 PM",
    " - ",
    " ",
    "\n",
    "\r\n",
    "\t",
    "[",
    "]",
    "(",
    ")",
    ":",
    "INFO",
    "ERROR ",
    "[main]",
    "[myid:1]",
    "a.b.C",
    "C@12",
    ".",
    "E",
    "\n\tat a.B.c(B.java:1)",
    "\n\tat java.base/a.B.c(Native Method)",
    "\nCaused by: a.XException: x",
    "\n\tSuppressed: a.XException: x",
    "\n\t... 5 more",
    "\n... 99999999999999999999 more",
    "\n[CIRCULAR REFERENCE:",
    "\nTime: 1.2",
    "\nOK (1 test)",
    "\u{e9}\u{202f}",
    "\x1b[32m",
    "\u{fffd}",
    "{}",
];

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|it| it.concat())
}

/// Goes through everything that a log gives.
fn walk(log: &Log) {
    let mut line = 1 + log.header_lines();
    for entry in log.entries() {
        assert_eq!(entry.line, line, "no line is lost and none counts twice");
        line += entry.lines;
        let trace = entry.trace();
        for it in &trace.exceptions {
            assert!(it.restored <= it.frames.len());
        }
        assert!(trace.roots().count() <= trace.exceptions.len());
        assert!(entry.message.starts_with(entry.first_line()));
        entry.thread.map(role);
    }
    assert_eq!(line + log.footer_lines(), log.lines() + 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_of_any_kind_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(log) = Log::read(&bytes) {
            walk(&log);
        }
    }

    #[test]
    fn texts_that_come_near_to_logs_are_read_or_refused(text in pieces()) {
        if let Ok(log) = Log::read(text.as_bytes()) {
            walk(&log);
        }
        for pattern in ["%d %m", "[%d] %p %m (%c)", "%t %X %p %m | %t", "%t%n%p %m", "%l %m", "%r%t%c%m"] {
            let layout = Layout::compile(pattern).expect("a pattern");
            if let Ok(log) = Log::read_with(text.as_bytes(), &layout) {
                walk(&log);
            }
        }
    }

    #[test]
    fn a_real_entry_is_found_between_anything(before in pieces(), after in pieces()) {
        let text = format!("{before}\n2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - here\n{after}");
        let layout = Layout::compile("%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n").expect("a pattern");
        let log = Log::read_with(text.as_bytes(), &layout).expect("it has an entry");
        walk(&log);
        prop_assert!(log.entries().any(|it| it.source_line == Some(1) && it.first_line() == "here"));
    }

    #[test]
    fn patterns_of_any_kind_compile_or_are_refused(pattern in "[%a-zA-Z{}()\\\\$ .:0-9-]{0,40}") {
        if let Ok(layout) = Layout::compile(&pattern)
            && let Ok(log) = Log::read_with(b"2021-07-28 13:31:16,997 INFO [main] a.B: x\n", &layout)
        {
            walk(&log);
        }
    }

    #[test]
    fn traces_of_any_kind(text in pieces(), noise in "\\PC{0,80}") {
        Trace::parse(&text);
        Trace::parse(&noise);
    }

    #[test]
    fn roles_have_no_numbers_and_are_their_own_roles(name in "[a-f0-9x:./\\[\\]()=\u{e9}_ -]{0,40}") {
        let masked = role(&name).into_owned();
        prop_assert!(!masked.contains(|it: char| it.is_ascii_digit()), "{masked}");
        prop_assert_eq!(role(&masked), masked.as_str());
    }

    /// What a template writes, it fits, and the index finds.
    #[test]
    fn a_message_finds_its_statement(
        texts in prop::collection::vec("[a-c :\n]{0,6}", 1..5),
        holes in prop::collection::vec("[a-d \n]{0,6}", 5),
    ) {
        let mut parts = Vec::new();
        let mut message = String::new();
        for (text, hole) in texts.iter().zip(&holes) {
            parts.extend([Part::Text(text.clone()), Part::Hole]);
            message += text;
            message += hole;
        }
        let template = Template::new(parts);
        prop_assert!(template.fits(&message), "{template:?} {message:?}");
        let statement = Statement {
            id: StatementId(7),
            class: "a.B".into(),
            method: "run".into(),
            line: None,
            level: Some(Level::Info),
            template,
            has_exception: false,
        };
        let entry = Entry { logger: Some("a.B"), message: &message, ..Entry::default() };
        prop_assert_ne!(Statements::new(vec![statement]).tie(&entry), Tie::None);
    }
}

/// Texts on which a matcher that goes back would take for ever. There is no clock here: were time not linear, the test would
/// not end.
#[test]
fn long_lines_and_many_tries_take_linear_time() {
    const BYTES: usize = 100_000;
    let entry = "2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - x\n";
    let date = "2021-07-28 13:31:16,997";
    for unit in [
        "[myid:",
        ":A@1",
        "] - ",
        "a:b@",
        "2021-07-28 13:31:16,997",
        "x2021-07-28 13:31:16,997 [myid:] - INFO  [",
        " ",
        "\t",
        ".",
        "E",
        "\nat a.b(",
        "\nCaused by: ",
        "\n\tSuppressed: a.X\n\t... 1000 more",
        "a.b.",
        "(",
        " (",
        "\n",
        "\n.",
        "Exception in thread \"",
        "\u{e9}",
        "\x1b[",
        "\r",
    ] {
        let many = unit.repeat(BYTES / unit.len());
        for text in [
            format!("{entry}{many}"),
            format!("{entry}{date} {many}"),
            format!("[{date}] INFO x (a.B)\n[{date}] INFO {many}"),
        ] {
            if let Ok(log) = Log::read(text.as_bytes()) {
                walk(&log);
            }
        }
        role(&many);
        Template::parse("{}a{}b{}:{}]").fits(&many);
    }
}
