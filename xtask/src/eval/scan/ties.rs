//! Entries of real logs, tied to the statements that wrote them: with class and line, and with both taken away.
//!
//! A statement is what class and line name: callers of a method that logs are one statement here, and so are the copies that a
//! compiler makes of a `finally`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hypocenter_logs::{self as logs, Entry, Fields, Log, StatementId, Tied};
use hypocenter_program::{Program, Statement};
use hypocenter_ties::{index, ranking};

use super::Read;
use crate::failure::{Failure, Result};
use crate::table::{self, thousands};

/// The share of entries that is to be tied to exactly the statement that class and line name; that has, without class and
/// line, its statement among the first three; and that is tied to exactly that one.
const GOALS: [f64; 3] = [0.95, 0.95, 0.80];
/// Among how many.
const AMONG_MAX: usize = 3;

/// Results of reading the entries of a log.
#[derive(Debug, Default)]
pub struct Ties {
    pub entries: usize,
    /// With class and line: tied to exactly the statement that they name.
    pub exact_by_line: usize,
    /// Without: tied to none, to one, and to some but at most three.
    pub none: usize,
    pub single: usize,
    pub at_most: usize,
    /// Its own statement is among the first three, the first, and the only one.
    pub among: usize,
    pub first: usize,
    pub exact: usize,
    /// Errors and their counts.
    misses: BTreeMap<String, usize>,
}

/// Place of a statement, as a log shows it: the class without its package, and the line.
type Written = (String, u32);

/// The statements of a program, and where each writes.
struct Index {
    statements: logs::Statements,
    written: BTreeMap<StatementId, Written>,
}

/// Ties the entries of some logs and prints the shares; false if one is below its goal.
pub fn print(read: &Read, case: &str, files: &[&Path], shows_misses: bool) -> Result<bool> {
    let own: BTreeSet<&str> = read
        .classes
        .names()
        .filter(|it| super::PACKAGES.iter().any(|package| it.starts_with(package)))
        .map(simple)
        .collect();
    let mut rows = Vec::new();
    let mut is_good = true;
    let mut all = Ties::default();
    for path in files {
        let bytes = std::fs::read(path).map_err(Failure::file(path))?;
        let log = Log::read(&bytes).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        let ties = Ties::of(read, &log, |it| it.class().is_some_and(|it| own.contains(simple(it))));
        let share = |count: usize| count as f64 / ties.entries.max(1) as f64;
        let goals = [ties.exact_by_line, ties.among, ties.exact].map(share);
        let reached = goals.iter().zip(GOALS).all(|(share, goal)| *share >= goal);
        is_good &= reached && ties.entries > 0;
        let mut row = vec![
            path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            thousands(log.len() as u64),
            thousands(ties.entries as u64),
        ];
        let shares = [ties.exact_by_line, ties.among, ties.exact, ties.at_most, ties.first].map(share);
        row.extend(shares.iter().map(|it| format!("{:.1} %", it * 100.0)));
        row.push(if reached { "met" } else { "OPEN" }.to_owned());
        rows.push(row);
        for (what, count) in ties.misses {
            *all.misses.entry(what).or_default() += count;
        }
    }
    println!(
        "{case}: entries tied to their statement; the goals are {:.0} %, {:.0} % and {:.0} %",
        GOALS[0] * 100.0,
        GOALS[1] * 100.0,
        GOALS[2] * 100.0
    );
    let headings = [
        "log",
        "entries",
        "ZooKeeper's",
        "exact by class and line",
        "stripped: among first 3",
        "stripped: exact",
        "stripped: to at most 3",
        "stripped: first",
        "",
    ];
    print!("{}", table::text(&headings, &rows));
    if shows_misses {
        all.print_misses();
    }
    Ok(is_good)
}

impl Ties {
    /// Ties the entries of a log that count.
    pub fn of(read: &Read, log: &Log, counts: impl Fn(&Entry<'_>) -> bool) -> Ties {
        let index = Index::of(&read.program);
        let stripped = Fields { class: false, line: false, ..Fields::of(log.layout()) };
        let stripped = Tied::of("", log, &index.statements, stripped);
        let ranking = ranking(&read.program, &stripped);
        let mut ties = Ties::default();
        for (number, entry) in log.entries().enumerate().filter(|it| counts(&it.1)) {
            ties.add(&index, &entry, &index.written(ranking.statements(number)));
        }
        ties
    }

    /// Adds an entry. `stripped` is what it is tied to without its class and line, the likeliest first.
    fn add(&mut self, index: &Index, entry: &Entry<'_>, stripped: &[Written]) {
        self.entries += 1;
        let place = (entry.class().unwrap_or_default().to_owned(), entry.source_line.unwrap_or(0));
        let by_line = index.written(index.statements.tie(entry).ids());
        let is_exact = by_line.len() == 1 && by_line.contains(&place);
        // Where the build that wrote the log has other lines, what its class and its text say is the truth; if that is
        // several statements, all of them are to be found.
        let truth = if index.is_place(&place) { vec![place.clone()] } else { by_line.clone() };
        let places = truth.iter().map(|truth| stripped.iter().position(|it| it == truth));
        let found = places.collect::<Option<Vec<usize>>>().and_then(|it| it.into_iter().max());
        let is_exact_stripped = found == Some(0) && stripped.len() == 1;
        self.exact_by_line += usize::from(is_exact);
        self.none += usize::from(stripped.is_empty());
        self.single += usize::from(stripped.len() == 1);
        self.at_most += usize::from((1..=AMONG_MAX).contains(&stripped.len()));
        self.among += usize::from(found.is_some_and(|it| it < AMONG_MAX));
        self.first += usize::from(found == Some(0));
        self.exact += usize::from(is_exact_stripped);
        let shown: String = entry.first_line().chars().take(90).collect();
        let mut miss = |how: &str, found: &[Written]| {
            let names: Vec<String> = found.iter().take(4).map(|it| format!("{}:{}", it.0, it.1)).collect();
            let what =
                format!("{how}: {} of {} ({}@{}): {shown}", found.len(), names.join(", "), place.0, place.1);
            *self.misses.entry(what).or_default() += 1;
        };
        if !is_exact {
            miss("by line", &by_line);
        }
        if !is_exact_stripped {
            let how = match found {
                Some(at) => format!("stripped, at place {}", at + 1),
                None => "stripped, only others".to_owned(),
            };
            miss(&how, stripped);
        }
    }

    pub fn print_misses(&self) {
        let mut sorted: Vec<(&String, &usize)> = self.misses.iter().collect();
        sorted.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        sorted.iter().for_each(|(what, count)| println!("  {count}x {what}"));
    }
}

fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

impl Index {
    fn of(program: &Program) -> Index {
        let world = &program.world;
        let all = program.statements.statements();
        let written = |it: &Statement| {
            let class = world.show_type(world.method(it.written.method).owner);
            (simple(&class).to_owned(), u32::from(it.written.line))
        };
        let written = (0..).map(StatementId).zip(all.iter().map(written)).collect();
        Index { statements: index(program), written }
    }

    fn is_place(&self, place: &Written) -> bool {
        self.written.values().any(|it| it == place)
    }

    /// The places of statements, each once, in their order.
    fn written(&self, ids: &[StatementId]) -> Vec<Written> {
        let mut places: Vec<Written> = Vec::new();
        for it in ids.iter().filter_map(|it| self.written.get(it)) {
            if !places.contains(it) {
                places.push(it.clone());
            }
        }
        places
    }
}
