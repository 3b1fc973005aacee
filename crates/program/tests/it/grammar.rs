//! The shapes that facts can have, and whether a fact fits one of them and the code of its row. This is what keeps
//! mistakes out of the tables: a word that no analysis would say, a method that the row does not have, a marker on
//! a line where no such thing is.
//!
//! A shape is words. `METHOD` is a method of the row (`f`, `Nested.f`, `<init>`), `CLASS` a nested class or the row's
//! own, `TYPE` the simple name of a throwable, `VALUE` any word, `TEXT` the rest of the line, `a|b` one of these words, and
//! `@role` a line where the code has what [`Role`] says.

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_classfile::{ClassFile, Code, Instruction, op};
use hypocenter_program::flow::Flow;
use hypocenter_program::loops::Loops;

use crate::table::{Compiled, Expectation, Row};

pub const EXCEPTION_FLOW: &[&str] = &[
    "METHOD escapes nothing",
    "METHOD escapes TYPE from @origin",
    "METHOD catches TYPE at @handler from @origin",
    "METHOD wraps TYPE into TYPE at @origin",
    "@origin passes on TYPE",
];

pub const CAUSAL: &[&str] = &[
    "@place needs condition @branch is true|false",
    "@place needs case VALUE of @switch",
    "@place needs call @call",
    "@place needs handler @handler",
    "@place needs exception TYPE at @origin",
    "@place needs write @write",
    "@place needs return @return",
    "@place needs argument at @call",
];

pub const SLICES: &[&str] =
    &["backward @place has @place", "forward @place has @place", "@decision controls @place"];

pub const SITES: &[&str] = &[
    "external TYPE at @call",
    "new TYPE at @call",
    "delay at @call",
    "crash at @call",
    "in memory at @call",
    "memory below @call",
];

pub const LOGS: &[&str] = &[
    "TRACE|DEBUG|INFO|WARN|ERROR|FATAL at @call: TEXT",
    "SEVERE|WARNING|CONFIG|FINE|FINER|FINEST at @call: TEXT",
    "exception at @call",
    "wrapper METHOD",
];

pub const STATES: &[&str] = &["state METHOD @place", "task CLASS"];

pub const LOOPS: &[&str] = &[
    "loop @loop constant|container|open",
    "loop @loop does io|sleep|wait|clock",
    "loop @loop parent @loop",
    "loop @loop sibling @loop",
    "wait @call limited|unlimited",
    "detector METHOD fed by field|call|clock|parameter",
    "detector METHOD used|unused",
];

pub const POINTS: &[&str] = &[
    "throw TYPE at @origin guarded by @branch",
    "throw TYPE at @origin unguarded",
    "library TYPE at @call",
    "left out VALUE at @place",
];

/// Kinds of code lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    /// Any code.
    Place,
    /// A call, `invokedynamic` included.
    Call,
    /// A call or a `throw`.
    Origin,
    /// The first line of a handler.
    Handler,
    /// A conditional jump or a switch.
    Branch,
    /// A switch.
    Switch,
    /// A conditional jump, a switch, or what may throw.
    Decision,
    /// Something that changes a variable or an object: a store, or a call.
    Write,
    /// A return with a value.
    Return,
    /// The first line of a loop.
    Loop,
}

fn role(name: &str) -> Role {
    match name {
        "place" => Role::Place,
        "call" => Role::Call,
        "origin" => Role::Origin,
        "handler" => Role::Handler,
        "branch" => Role::Branch,
        "switch" => Role::Switch,
        "decision" => Role::Decision,
        "write" => Role::Write,
        "return" => Role::Return,
        "loop" => Role::Loop,
        other => panic!("no role {other}"),
    }
}

fn roles_of(instruction: &Instruction<'_>) -> Vec<Role> {
    let mut roles = vec![Role::Place];
    let opcode = instruction.opcode;
    if instruction.is_invoke() {
        roles.extend([Role::Call, Role::Origin, Role::Decision, Role::Write]);
    }
    match opcode {
        op::ATHROW => roles.extend([Role::Origin, Role::Decision]),
        op::IFEQ..=op::IF_ACMPNE | op::IFNULL | op::IFNONNULL => roles.extend([Role::Branch, Role::Decision]),
        op::TABLESWITCH | op::LOOKUPSWITCH => roles.extend([Role::Branch, Role::Switch, Role::Decision]),
        op::ISTORE..=op::SASTORE | op::IINC | op::PUTSTATIC | op::PUTFIELD => roles.push(Role::Write),
        op::IRETURN..=op::ARETURN => roles.push(Role::Return),
        _ => {}
    }
    roles
}

/// Content of the code of a row.
pub struct Content {
    /// `f`, and `Nested.f` for those of nested classes.
    methods: BTreeSet<String>,
    /// Simple names.
    classes: BTreeSet<String>,
    lines: BTreeMap<u32, BTreeSet<Role>>,
}

impl Content {
    pub fn of(row: &Row, compiled: &Compiled) -> Content {
        let mut content =
            Content { methods: BTreeSet::new(), classes: BTreeSet::new(), lines: BTreeMap::new() };
        for (name, bytes) in compiled.classes(row) {
            let name = name.strip_prefix("rows/").unwrap();
            let nested = name.strip_prefix(&row.class).unwrap().replace('$', ".");
            let nested = nested.trim_start_matches('.');
            content.classes.insert(name.rsplit('$').next().unwrap().to_owned());
            let class = ClassFile::parse(&bytes).unwrap();
            for method in class.methods() {
                let method_name = String::from_utf8_lossy(method.name);
                content.methods.insert(if nested.is_empty() {
                    method_name.into_owned()
                } else {
                    format!("{nested}.{method_name}")
                });
                if let Some(code) = method.code().unwrap() {
                    content.add(&code);
                }
            }
        }
        content
    }

    fn add(&mut self, code: &Code<'_>) {
        let mut add = |pc: u32, roles: &[Role]| {
            let line = code.line_at(pc).expect("rows are compiled with lines");
            self.lines.entry(line.into()).or_default().extend(roles);
        };
        let flow = Flow::of(code).unwrap();
        for instruction in &flow.instructions {
            add(instruction.pc, &roles_of(instruction));
        }
        for handler in code.handlers() {
            add(handler.handler.into(), &[Role::Handler]);
        }
        for it in &Loops::of(&flow).loops {
            add(flow.first(it.header).pc, &[Role::Loop]);
        }
    }

    /// Why an expectation of this row cannot be right, if so.
    pub fn problem(
        &self,
        shapes: &[&str],
        expectation: &Expectation,
        is_throwable: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let (text, is_prefix) = match expectation {
            Expectation::Fact(text) | Expectation::Not(text) => (text, false),
            Expectation::Only(text) => (text, true),
            Expectation::Nothing(at) => return self.wrong_line(at, Role::Place),
        };
        let mut nearest = (0, Vec::new());
        for shape in shapes {
            let Err((words, why)) = self.fits(shape, text, is_prefix, is_throwable) else { return None };
            if words > nearest.0 {
                nearest = (words, Vec::new());
            }
            if words == nearest.0 {
                nearest.1.push(format!("not `{shape}`: {why}"));
            }
        }
        Some(format!("`{text}` is {}", nearest.1.join(", ")))
    }

    /// Tests whether a text has a shape; otherwise how many of its words fit, and what the next is.
    fn fits(
        &self,
        shape: &str,
        text: &str,
        is_prefix: bool,
        is_throwable: &dyn Fn(&str) -> bool,
    ) -> Result<(), (usize, String)> {
        let mut words = text.split(' ');
        for (count, expected) in shape.split(' ').enumerate() {
            let Some(word) = words.next() else {
                return if is_prefix { Ok(()) } else { Err((count, format!("{expected} is missing"))) };
            };
            let why = match expected {
                "METHOD" => (!self.methods.contains(word)).then(|| format!("the row has no method {word}")),
                "CLASS" => (!self.classes.contains(word)).then(|| format!("the row has no class {word}")),
                "TYPE" => {
                    let known = self.classes.contains(word) || is_throwable(word);
                    (!known).then(|| format!("no throwable {word}"))
                }
                "VALUE" => None,
                "TEXT" => return Ok(()),
                _ if expected.starts_with('@') => {
                    let (name, colon) =
                        expected[1..].strip_suffix(':').map_or((&expected[1..], false), |it| (it, true));
                    let at = if colon { word.strip_suffix(':') } else { Some(word) };
                    match at {
                        Some(at) => self.wrong_line(at, role(name)),
                        None if is_prefix => self.wrong_line(word, role(name)),
                        None => Some(format!("{word} needs a colon")),
                    }
                }
                _ => (!expected.split('|').any(|it| it == word)).then(|| format!("{word} is not {expected}")),
            };
            if let Some(why) = why {
                return Err((count, why));
            }
        }
        words.next().map_or(Ok(()), |word| Err((usize::MAX, format!("{word} is too much"))))
    }

    /// Why there is no such thing on this line, if so.
    fn wrong_line(&self, at: &str, role: Role) -> Option<String> {
        let Some(line) = at.strip_prefix('@').and_then(|line| line.parse().ok()) else {
            return Some(format!("{at} is no line"));
        };
        let has: &BTreeSet<Role> = self.lines.get(&line).unwrap_or(const { &BTreeSet::new() });
        (!has.contains(&role)).then(|| format!("line {line} is no {role:?}, it is {has:?}"))
    }
}
