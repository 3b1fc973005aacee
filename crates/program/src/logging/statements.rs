//! The log statements of the system: where a message is written, at which level, and what it says.
//!
//! The statement is the outermost call whose message has literal parts of its own. A method that only hands on what
//! its callers say is a wrapper: the statements are its calls, with the pieces of the wrapper around theirs.

use crate::facts::calls::CallGraph;
use crate::facts::{CallId, Facts};
use crate::loading::world::{MethodId, World};
use crate::logging::frameworks::{Api, Level};
use crate::logging::message::Message;
use crate::logging::template::{Part, Template};
use crate::logging::wrappers::Wrappers;

/// The most templates that are kept where several loggers may be meant; behind it stands a hole for the rest.
const TEMPLATES_MAX: usize = 32;

/// A call in the code of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementPlace {
    /// In which method.
    pub method: MethodId,
    /// At which instruction, by its number.
    pub instruction: u16,
    /// On which line, 0 if there is none.
    pub line: u16,
}

impl StatementPlace {
    fn of(facts: &Facts, call: CallId) -> StatementPlace {
        let call = facts.call(call);
        StatementPlace { method: call.method, instruction: call.instruction, line: call.line }
    }
}

/// A log statement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    /// In which method.
    pub method: MethodId,
    /// At which instruction, by its number.
    pub instruction: u16,
    /// On which line, 0 if there is none.
    pub line: u16,
    /// The call of the framework that writes it: the statement itself, or inside a wrapper. This is the place that a log
    /// shows.
    pub written: StatementPlace,
    /// Its severity.
    pub level: Level,
    /// The same in the words of the framework, such as `CONFIG`; empty if the code computes it.
    pub said: &'static str,
    /// Its text: one template, or several if the code chooses. Never none.
    pub templates: Vec<Template>,
    /// True if an exception is written with the message.
    pub has_exception: bool,
    /// By which framework.
    pub api: Api,
    /// The wrapper that is called, if it is not a call of the framework itself.
    pub via: Option<MethodId>,
}

/// All log statements.
#[derive(Debug, Default)]
pub struct Statements {
    statements: Vec<Statement>,
    wrappers: Vec<MethodId>,
}

impl Statements {
    /// Finds the statements of the system.
    pub fn of(world: &World, facts: &Facts, calls: &CallGraph) -> Statements {
        let found = Wrappers::of(world, facts, calls);
        let mut statements = Vec::new();
        let mut wrappers = Vec::new();
        for at in found.statements() {
            let emission = &found.emissions[at as usize];
            let StatementPlace { method, instruction, line } = StatementPlace::of(facts, emission.call);
            let mut templates: Vec<Template> = emission.messages.iter().map(Message::template).collect();
            templates.sort_unstable();
            templates.dedup();
            let via: Vec<MethodId> = found
                .way(at)
                .skip(1)
                .map(|it| facts.call(found.emissions[it as usize].call).method)
                .collect();
            let named = emission.level.named();
            statements.push(Statement {
                method,
                instruction,
                line,
                written: StatementPlace::of(facts, emission.written),
                level: named.level,
                said: named.said,
                templates,
                has_exception: emission.exception.is_given(),
                api: emission.api,
                via: via.first().copied(),
            });
            wrappers.extend(via);
        }
        statements.sort_unstable();
        statements.dedup_by(|a, b| {
            (a.method, a.instruction, a.written, &a.templates)
                == (b.method, b.instruction, b.written, &b.templates)
        });
        let statements = merged(statements);
        wrappers.sort_unstable();
        wrappers.dedup();
        Statements { statements, wrappers }
    }

    /// The statements, in the order of methods and instructions.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The statements of a method.
    pub fn statements_in(&self, method: MethodId) -> &[Statement] {
        let start = self.statements.partition_point(|it| it.method < method);
        let count = self.statements[start..].partition_point(|it| it.method == method);
        &self.statements[start..start + count]
    }

    /// The methods that hand on what their callers say, sorted.
    pub fn wrappers(&self) -> &[MethodId] {
        &self.wrappers
    }
}

/// The system may have loggers of its own that implement a framework's interface. Then a call of that interface is a
/// call of the framework and of a wrapper at once, and one statement that says either.
fn merged(statements: Vec<Statement>) -> Vec<Statement> {
    let mut merged: Vec<Statement> = Vec::with_capacity(statements.len());
    for group in statements.chunk_by(|a, b| (a.method, a.instruction) == (b.method, b.instruction)) {
        let Some(direct) = group.iter().find(|it| it.via.is_none()).filter(|_| group.len() > 1) else {
            merged.extend_from_slice(group);
            continue;
        };
        let mut one = direct.clone();
        one.templates = group.iter().flat_map(|it| &it.templates).cloned().collect();
        one.templates.sort_unstable();
        one.templates.dedup();
        if one.templates.len() > TEMPLATES_MAX {
            one.templates.truncate(TEMPLATES_MAX);
            one.templates.push(Template::new([Part::Hole]));
        }
        one.has_exception = group.iter().any(|it| it.has_exception);
        merged.push(one);
    }
    merged
}
