//! Statements with the same text, told apart by what stands around them.

use hypocenter_logs::{Fields, Key, Log, Ranking, Statement, StatementId, Statements, Template, Tied};

/// The messages of the program; their places are their numbers.
const PROGRAM: &[&str] =
    &["stopping", "Shutting down", "Shutting down", "Shutting down", "complete", "state: {}"];

/// The ways through it: what can follow what, and how far it is. All others are far apart.
const WAYS: &[(u32, u32, u32)] = &[(0, 2, 1), (2, 1, 1), (1, 3, 2), (3, 4, 1), (0, 3, 2)];

fn program() -> Statements {
    let statement = |(n, text): (usize, &&str)| Statement {
        id: StatementId(n as u32),
        class: format!("a.C{n}"),
        method: "stop".into(),
        line: Some(7),
        level: None,
        template: Template::parse(text),
        has_exception: false,
    };
    Statements::new(PROGRAM.iter().enumerate().map(statement).collect())
}

fn tied(lines: &[(&str, &str)], fields: Fields) -> Tied {
    let line = |(thread, message): &(&str, &str)| format!("10:00:00.123 [{thread}] INFO  x.Y - {message}\n");
    let text: String = lines.iter().map(line).collect();
    let log = Log::read(text.as_bytes()).unwrap();
    Tied::of("n", &log, &program(), fields)
}

fn distance(from: StatementId, to: StatementId) -> u32 {
    WAYS.iter().find(|it| (it.0, it.1) == (from.0, to.0)).map_or(20, |it| it.2)
}

const BY_TEXT: Fields = Fields { thread: true, class: false, line: false, level: true };

#[test]
fn neighbours_in_the_thread_tell_statements_apart() {
    for (lines, expected) in [
        // Both ends are fixed, and the way between them is the only one of this length.
        (
            &[
                ("a", "stopping"),
                ("a", "Shutting down"),
                ("a", "Shutting down"),
                ("a", "Shutting down"),
                ("a", "complete"),
            ][..],
            &["0", "2 3 1", "1 2 3", "3 1 2", "4"][..],
        ),
        // Other threads do not matter, nor do messages of others.
        (
            &[
                ("a", "stopping"),
                ("b", "complete"),
                ("a", "Shutting down"),
                ("b", "Shutting down"),
                ("a", "of a library"),
                ("a", "complete"),
            ],
            &["0", "4", "3 2 1", "1 2 3", "", "4"],
        ),
        // What stands behind is evidence alone, and so is what stands before.
        (&[("a", "Shutting down"), ("a", "complete")], &["3 1 2", "4"]),
        (&[("a", "stopping"), ("a", "Shutting down")], &["0", "2 3 1"]),
        // Nothing around it: in order of numbers.
        (&[("a", "Shutting down")], &["1 2 3"]),
    ] {
        let tied = tied(lines, BY_TEXT);
        let ranking = Ranking::of(&tied, distance);
        let shown = |it: usize| {
            let numbers = ranking.statements(it).iter().map(|it| it.0.to_string());
            numbers.collect::<Vec<_>>().join(" ")
        };
        assert_eq!((0..lines.len()).map(shown).collect::<Vec<_>>(), expected, "{lines:?}");
        assert_eq!(ranking.statements(lines.len()), [], "there is no such entry");
    }
}

#[test]
fn the_key_of_an_entry_does_not_depend_on_its_neighbours() {
    let lines = [("a", "stopping"), ("a", "Shutting down"), ("a", "Shutting down"), ("a", "complete")];
    let tied = tied(&lines, BY_TEXT);
    let keys: Vec<Key> = tied.entries().iter().map(|it| it.key).collect();
    let ranking = Ranking::of(&tied, distance);
    assert_ne!(ranking.statements(1), ranking.statements(2));
    assert_eq!(keys[1], keys[2]);
    assert_eq!(tied.statements(keys[1]), [1, 2, 3].map(StatementId));
}

#[test]
fn without_threads_nothing_is_known_of_order() {
    let lines = [("a", "stopping"), ("a", "Shutting down"), ("a", "complete")];
    let tied = tied(&lines, Fields { thread: false, ..BY_TEXT });
    let ranking = Ranking::of(&tied, |_, _| panic!("nobody needs to know"));
    assert_eq!(ranking.statements(1), [1, 2, 3].map(StatementId));
}

#[test]
fn a_long_run_is_ranked_in_pieces_and_one_like_it_is_not_ranked_again() {
    let run: Vec<(&str, &str)> = (0..1000).map(|_| ("a", "Shutting down")).collect();
    let tied = tied(&run, BY_TEXT);
    let mut asked = 0;
    let ranking = Ranking::of(&tied, |from, to| {
        asked += 1;
        distance(from, to)
    });
    // Nine distances between two entries, forward and back, and three where a piece begins; the last is shorter.
    let piece = 63 * 18 + 3;
    assert!((piece..4 * piece).contains(&asked), "{asked} distances");
    assert!((0..1000).all(|it| ranking.statements(it).len() == 3));
}
