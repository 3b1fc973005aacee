//! The log statements of a program, for those who read logs.

use hypocenter_logs::{self as logs, Ranking, StatementId, Tied};
use hypocenter_program::{Following, Level, Part, Place, Program, Statement};
use rustc_hash::FxHashMap;

/// How far it is between statements where no way is found: farther than any way.
const NO_WAY_DISTANCE: u32 = 24;
/// How many copies of a statement are gone on from.
const COPIES_MAX: usize = 8;
/// Of how many statements the neighbours are kept.
const NEIGHBOURS_MAX: usize = 4096;

/// A statement by its number and those that are the same in the source: a compiler copies what stands in a `finally`.
pub fn copies(program: &Program, number: u32) -> impl Iterator<Item = &Statement> {
    let first = &program.statements.statements()[number as usize];
    program.statements.statements_in(first.method).iter().filter(|it| is_copy(first, it))
}

fn is_copy(a: &Statement, b: &Statement) -> bool {
    let is_one = a.instruction == b.instruction;
    (a.method, a.line, a.level, &a.templates) == (b.method, b.line, b.level, &b.templates)
        && (is_one || a.line > 0)
}

/// For each statement the number of the first of its copies.
fn firsts(program: &Program) -> Vec<u32> {
    let statements = program.statements.statements();
    let first = |(number, it): (usize, &Statement)| {
        let same_method = statements.partition_point(|other| other.method < it.method);
        let first = (same_method..number).find(|&other| is_copy(&statements[other], it));
        first.unwrap_or(number) as u32
    };
    statements.iter().enumerate().map(first).collect()
}

/// For each entry of a log its statements, those first that fit best between the entries around it in its thread.
pub fn ranking(program: &Program, tied: &Tied) -> Ranking {
    let world = &program.world;
    let following = Following::of(program.causes(), &program.statements);
    let statements = program.statements.statements();
    let firsts = firsts(program);
    let mut after: FxHashMap<StatementId, FxHashMap<u32, u32>> = FxHashMap::default();
    Ranking::of(tied, |from, to| {
        if after.len() > NEIGHBOURS_MAX {
            after.clear();
        }
        let after = after.entry(from).or_insert_with(|| {
            let mut found: FxHashMap<u32, u32> = FxHashMap::default();
            let copies = (from.0..).zip(&firsts[from.0 as usize..]).filter(|it| *it.1 == from.0);
            let behind = copies.take(COPIES_MAX).flat_map(|(it, _)| following.after(it));
            for (to, distance) in behind {
                let known = found.entry(firsts[to as usize]).or_insert(distance);
                *known = distance.min(*known);
            }
            found
        });
        after.get(&to.0).copied().unwrap_or_else(|| {
            let of = |it: StatementId| statements[it.0 as usize].method;
            let class = |it: StatementId| world.show_type(world.method(of(it)).owner);
            let (from_class, to_class) = (class(from), class(to));
            let package = |it: &str| it.rfind('.').map_or(0, |at| at);
            let apart = if of(from) == of(to) {
                0
            } else if from_class == to_class {
                1
            } else if from_class[..package(&from_class)] == to_class[..package(&to_class)] {
                2
            } else {
                3
            };
            NO_WAY_DISTANCE + apart
        })
    })
}

/// The index by which entries find their statements. Copies of one statement have the number of the first.
pub fn index(program: &Program) -> logs::Statements {
    let world = &program.world;
    let mut all = Vec::new();
    for (it, number) in program.statements.statements().iter().zip(firsts(program)) {
        let own = Place { method: it.method, instruction: it.instruction, line: it.line };
        // A log shows the call of the framework; a logger of its own may name the caller of a wrapper all the same.
        let mut places = vec![it.written, own];
        places.dedup();
        for template in &it.templates {
            let part = |it: &Part| match it {
                Part::Text(text) => logs::Part::Text(text.clone()),
                Part::Hole => logs::Part::Hole,
            };
            for place in &places {
                all.push(logs::Statement {
                    id: StatementId(number),
                    class: world.show_type(world.method(place.method).owner),
                    method: String::from_utf8_lossy(world.method_name(place.method)).into_owned(),
                    line: (place.line > 0).then_some(place.line.into()),
                    level: level(it.level),
                    template: logs::Template::new(template.parts().iter().map(part)),
                    has_exception: it.has_exception,
                });
            }
        }
    }
    logs::Statements::new(all)
}

fn level(level: Level) -> Option<logs::Level> {
    match level {
        Level::Trace => Some(logs::Level::Trace),
        Level::Debug => Some(logs::Level::Debug),
        Level::Info => Some(logs::Level::Info),
        Level::Warn => Some(logs::Level::Warn),
        Level::Error => Some(logs::Level::Error),
        Level::Fatal => Some(logs::Level::Fatal),
        Level::Print | Level::Unknown => None,
    }
}
