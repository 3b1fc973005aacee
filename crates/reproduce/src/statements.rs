//! The log statements of a program, for those who read logs.

use hypocenter_logs::{self as logs, StatementId};
use hypocenter_program::{Level, Part, Place, Program, Statement};

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

/// The index by which entries find their statements. Copies of one statement have the number of the first.
pub fn index(program: &Program) -> logs::Statements {
    let world = &program.world;
    let mut all = Vec::new();
    let statements = program.statements.statements();
    for (number, it) in statements.iter().enumerate() {
        let same_method = statements.partition_point(|other| other.method < it.method);
        let first = (same_method..number).find(|&other| is_copy(&statements[other], it));
        let number = first.unwrap_or(number);
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
                    id: StatementId(number as u32),
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
