//! A point of the program where something can be done or seen.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a site. The numbers are part of the map's binary layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum SiteKind {
    /// Before a call.
    Call = 1,
    /// After a call came back normally.
    CallReturn = 2,
    /// Start of a method.
    Entry = 3,
    /// Before a method returns normally.
    Exit = 4,
    /// Exit of a method by an exception.
    Unwind = 5,
    /// The start of a basic block.
    Block = 6,
    /// A loop is entered from outside.
    LoopEntry = 7,
    /// The head of a loop is reached: from outside, and once more for each iteration after the first. Where a loop tests its condition first,
    /// that is once more than its body is executed.
    LoopIteration = 8,
    /// A loop is left, other than by an exception.
    LoopExit = 9,
    /// An exception handler begins; it sees the exception.
    Handler = 10,
    /// Before a method returns a boolean; it sees the value.
    BooleanReturn = 11,
    /// Before a call that logs.
    Log = 12,
    /// A conditional jump; it sees whether the jump is taken.
    Branch = 13,
    /// Before an exception is thrown by the code itself; it sees the exception.
    Throw = 14,
    /// An iteration of a loop begins: its condition holds, so that its body is executed.
    LoopBody = 15,
    /// Before a switch; it sees the key.
    Switch = 16,
    /// A loop is left by an exception that is handled in the same method.
    LoopUnwind = 17,
    /// An exception comes out of a call; it sees the exception, before any handler of the method.
    CallThrow = 18,
    /// An operation begins: on a file or a connection, or between threads; it sees what is worked on. It is a method of the JDK, or a call
    /// where the site has a callee.
    Operation = 19,
    /// It has done so, or failed; it sees the result.
    OperationEnd = 20,
    /// A field has been read; it sees the object and the value.
    FieldRead = 21,
    /// Before a field is written; it sees the object and the new value.
    FieldWrite = 22,
    /// An element of an array has been read; it sees the array, the index and the value.
    ArrayRead = 23,
    /// Before an element of an array is written; it sees the array, the index and the new value.
    ArrayWrite = 24,
    /// An object or an array has been made; it sees it.
    Allocation = 25,
    /// A monitor has been taken, by an instruction or by entering a `synchronized` method; it sees the object.
    MonitorEnter = 26,
    /// Before a monitor is given back; it sees the object.
    MonitorExit = 27,
    /// A constant has been loaded: a number or a string; it sees the value. Its callee is the type and the value, as `int 5`.
    Constant = 28,
}

impl SiteKind {
    /// Every kind.
    pub const ALL: [SiteKind; 28] = [
        SiteKind::Call,
        SiteKind::CallReturn,
        SiteKind::Entry,
        SiteKind::Exit,
        SiteKind::Unwind,
        SiteKind::Block,
        SiteKind::LoopEntry,
        SiteKind::LoopIteration,
        SiteKind::LoopExit,
        SiteKind::Handler,
        SiteKind::BooleanReturn,
        SiteKind::Log,
        SiteKind::Branch,
        SiteKind::Throw,
        SiteKind::LoopBody,
        SiteKind::Switch,
        SiteKind::LoopUnwind,
        SiteKind::CallThrow,
        SiteKind::Operation,
        SiteKind::OperationEnd,
        SiteKind::FieldRead,
        SiteKind::FieldWrite,
        SiteKind::ArrayRead,
        SiteKind::ArrayWrite,
        SiteKind::Allocation,
        SiteKind::MonitorEnter,
        SiteKind::MonitorExit,
        SiteKind::Constant,
    ];

    /// Whether its hook sees something that is true or false, so that its hits are counted by that.
    pub fn sees_boolean(self) -> bool {
        matches!(self, SiteKind::BooleanReturn | SiteKind::Branch)
    }

    /// Whether it is the begin or the end of an operation.
    pub fn is_operation(self) -> bool {
        matches!(self, SiteKind::Operation | SiteKind::OperationEnd)
    }

    /// Whether it is about the monitor of an object.
    pub fn is_of_monitor(self) -> bool {
        matches!(self, SiteKind::MonitorEnter | SiteKind::MonitorExit)
    }

    /// The kind with this number, if there is one.
    pub fn from_u8(number: u8) -> Option<SiteKind> {
        SiteKind::ALL.into_iter().find(|&kind| kind as u8 == number)
    }

    /// The name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SiteKind::Call => "call",
            SiteKind::CallReturn => "call_return",
            SiteKind::Entry => "entry",
            SiteKind::Exit => "exit",
            SiteKind::Unwind => "unwind",
            SiteKind::Block => "block",
            SiteKind::LoopEntry => "loop_entry",
            SiteKind::LoopIteration => "loop_iteration",
            SiteKind::LoopExit => "loop_exit",
            SiteKind::Handler => "handler",
            SiteKind::BooleanReturn => "boolean_return",
            SiteKind::Log => "log",
            SiteKind::Branch => "branch",
            SiteKind::Throw => "throw",
            SiteKind::LoopBody => "loop_body",
            SiteKind::Switch => "switch",
            SiteKind::LoopUnwind => "loop_unwind",
            SiteKind::CallThrow => "call_throw",
            SiteKind::Operation => "operation",
            SiteKind::OperationEnd => "operation_end",
            SiteKind::FieldRead => "field_read",
            SiteKind::FieldWrite => "field_write",
            SiteKind::ArrayRead => "array_read",
            SiteKind::ArrayWrite => "array_write",
            SiteKind::Allocation => "allocation",
            SiteKind::MonitorEnter => "monitor_enter",
            SiteKind::MonitorExit => "monitor_exit",
            SiteKind::Constant => "constant",
        }
    }

    /// The kind with this name, if there is one.
    pub fn from_name(name: &str) -> Option<SiteKind> {
        SiteKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A site, named so that it survives a rebuild of the target: nothing in the identity depends on byte offsets,
/// line numbers or the order in which classes are loaded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// The class, with dots: `org.apache.zookeeper.server.persistence.FileTxnLog`.
    pub class: String,
    /// The method.
    pub method: String,
    /// The method's descriptor, as in the class file.
    pub descriptor: String,
    /// Kind of the point.
    pub kind: SiteKind,
    /// For calls: what is called, as `owner.name(descriptor)`, the owner with dots. For accesses to fields: `owner.name`; for allocations:
    /// the class. For constants: the type and the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callee: Option<String>,
    /// Index among sites of this kind (and callee) in the method, in the order of the code, from 0.
    pub ordinal: u32,
    /// The line in the source, for people; not part of the identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// The method in whose code a lambda stands, by the name that javac gives to the body of the lambda.
pub fn method_around(lambda: &str) -> Option<&str> {
    let (method, number) = lambda.strip_prefix("lambda$")?.rsplit_once('$')?;
    number.bytes().all(|it| it.is_ascii_digit()).then_some(match method {
        "new" => "<init>",
        "static" => "<clinit>",
        other => other,
    })
}

impl Site {
    /// The method as whoever reads the source sees it: what a lambda does is done in the method around it.
    pub fn method_in_source(&self) -> &str {
        method_around(&self.method).unwrap_or(&self.method)
    }

    /// Tests whether both name the same point, whatever their line.
    pub fn same_point(&self, other: &Site) -> bool {
        let key = |site: &Site| (site.kind, site.ordinal);
        key(self) == key(other)
            && self.class == other.class
            && self.method == other.method
            && self.descriptor == other.descriptor
            && self.callee == other.callee
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.class, self.method)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match (&self.callee, self.kind) {
            (Some(loaded), SiteKind::Constant) => write!(f, " constant {loaded}")?,
            (Some(callee), kind) => {
                let callee = callee.split('(').next().unwrap_or(callee);
                match kind {
                    SiteKind::CallReturn => write!(f, " <- {callee}")?,
                    SiteKind::CallThrow => write!(f, " <! {callee}")?,
                    SiteKind::Log => write!(f, " log {callee}")?,
                    SiteKind::Call => write!(f, " -> {callee}")?,
                    kind => write!(f, " {} {callee}", kind.name())?,
                }
            }
            (None, kind) => write!(f, " {}", kind.name())?,
        }
        if self.ordinal > 0 {
            write!(f, " #{}", self.ordinal)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lambda_is_named_after_the_method_around_it() {
        let check = |name: &str, expected: Option<&str>| assert_eq!(method_around(name), expected, "{name}");
        check("lambda$purge$1", Some("purge"));
        check("lambda$a$b$12", Some("a$b"));
        check("lambda$new$0", Some("<init>"));
        check("lambda$static$0", Some("<clinit>"));
        check("lambda$purge", None);
        check("lambda$purge$x", None);
        check("purge", None);
    }

    #[test]
    fn every_kind_is_found_by_its_number_and_name() {
        for kind in SiteKind::ALL {
            assert_eq!(SiteKind::from_u8(kind as u8), Some(kind));
            assert_eq!(SiteKind::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
        assert_eq!(SiteKind::from_u8(0), None);
        assert_eq!(SiteKind::from_u8(SiteKind::ALL.len() as u8 + 1), None);
    }
}
