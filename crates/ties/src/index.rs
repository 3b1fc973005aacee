//! The log statements of a program as the index of `logs`.

use hypocenter_logs::{self as logs, StatementId};
use hypocenter_program::{Level, Part, Program, StatementPlace};

use crate::copies::firsts;

/// The index by which entries find their statements. Copies of one statement have the number of the first.
pub fn index(program: &Program) -> logs::Statements {
    let world = &program.world;
    let mut all = Vec::new();
    for (it, number) in program.statements.statements().iter().zip(firsts(program)) {
        let own = StatementPlace { method: it.method, instruction: it.instruction, line: it.line };
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
