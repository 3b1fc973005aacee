//! A way through the causal graph, in words.

mod onward;

use hypocenter_plan::method_around;
use hypocenter_program::{
    CallId, CausalGraph, EdgeKind, Exception, FieldId, MethodId, Need, Node, Program, Value,
};

use super::naming;

/// Says things about a program.
#[derive(Clone, Copy)]
pub struct Words<'p>(pub &'p Program);

impl Words<'_> {
    /// A way from a log statement to a fault: one line a step.
    pub fn steps(&self, graph: &CausalGraph, path: &[(u32, Option<EdgeKind>)]) -> Vec<String> {
        let nodes: Vec<Node> = path.iter().map(|it| graph.nodes()[it.0 as usize]).collect();
        let mut steps: Vec<String> = Vec::new();
        for (at, &(_, kind)) in path.iter().enumerate() {
            let step = self.step(&nodes, at, kind).filter(|it| steps.last() != Some(it));
            steps.extend(step);
        }
        steps
    }

    /// One step; nothing where the next says it as well.
    fn step(&self, nodes: &[Node], at: usize, kind: Option<EdgeKind>) -> Option<String> {
        let (node, before) = (nodes[at], at.checked_sub(1).map(|it| nodes[it]));
        Some(match (node, kind) {
            (Node::Location(method, at), None) => format!("{} logs it", self.place(method, at)),
            (Node::Location(method, at), Some(EdgeKind::Call)) => {
                let what = match before {
                    Some(Node::Invocation(it)) => self.method(it),
                    _ => "it".to_owned(),
                };
                format!("{what} is called at {}", self.place(method, at))
            }
            (Node::Location(method, at), Some(EdgeKind::Task)) => {
                let what = match before {
                    Some(Node::Invocation(it)) => self.method(it),
                    _ => "it".to_owned(),
                };
                format!("{what} is handed over, to be run, at {}", self.place(method, at))
            }
            (Node::Location(method, at), Some(EdgeKind::Throw)) => {
                let again = if self.throws_again(method, at) { " again" } else { "" };
                format!("which is thrown{again} at {}", self.place(method, at))
            }
            // The operand has said where.
            (Node::Location(..), Some(EdgeKind::Data)) => return None,
            (Node::Location(method, at), _) => format!("{} runs", self.place(method, at)),
            (Node::Condition(method, at, _), _) => {
                format!("which depends on the branch at {}", self.place(method, at))
            }
            (Node::Handler(it), _) => {
                let handler = self.0.facts.handler(it);
                format!("this runs in the catch at {}", self.at_line(handler.method, handler.line))
            }
            (Node::Internal(call, _) | Node::New(call, _) | Node::External(call, _), _) => {
                self.thrown(before, node, call, &self.named(&nodes[at..])?)
            }
            (Node::Carried(call), _) => {
                format!("when the future at {} ends with an exception", self.place_of(call))
            }
            (Node::Field(field, Need::Any), _) => format!("which depends on the field {}", self.field(field)),
            (Node::Return(method, Need::Any), _) => {
                format!("which depends on what {} returns", self.method(method))
            }
            (Node::Parameter(method, number, Need::Any), _) => {
                format!("which depends on parameter {number} of {}", self.method(method))
            }
            (Node::Field(field, need), _) => {
                format!(
                    "for which the field {} must {}",
                    self.field(field),
                    self.need(need, self.is_boolean(field))
                )
            }
            (Node::Return(method, need), _) => {
                let value = self.value(need, self.returns_boolean(method));
                format!("for which {} must return {value}", self.method(method))
            }
            (Node::Parameter(method, number, need), _) => {
                format!(
                    "for which parameter {number} of {} must {}",
                    self.method(method),
                    self.need(need, false)
                )
            }
            (Node::Operand(method, at, ..), Some(EdgeKind::Write)) => {
                format!("which is written at {}", self.place(method, at))
            }
            (Node::Operand(method, at, ..), Some(EdgeKind::Argument)) => {
                format!("which is passed at {}", self.place(method, at))
            }
            (Node::Operand(method, at, ..), _) => format!("which it does at {}", self.place(method, at)),
            (Node::Invocation(_) | Node::Escape(..), _) => return None,
        })
    }

    /// The name of the exception that the first of these nodes throws. The way on to the fault says which it is: what is passed on,
    /// or caught and thrown again, is the same object, whatever the code in between calls it.
    fn named(&self, nodes: &[Node]) -> Option<String> {
        let mut named = None;
        let mut rest = nodes.iter().copied();
        while let Some(node) = rest.next() {
            match node {
                Node::New(call, it) | Node::External(call, it) => {
                    let thrown = self.0.faults.thrown(&self.0.world, call, it).unwrap_or(it.class());
                    return Some(naming::simple(self.0, thrown));
                }
                Node::Internal(_, it) | Node::Escape(_, it) => named = Some(self.exception(it)),
                Node::Location(method, at) if self.throws_again(method, at) => {
                    let is_its_handler = |it: &Node| matches!(it, Node::Handler(_));
                    let mut between = rest.by_ref().skip_while(|it| matches!(it, Node::Condition(..)));
                    if !between.next().as_ref().is_some_and(is_its_handler) {
                        break;
                    }
                }
                _ => break,
            }
        }
        named
    }

    /// Whether an instruction throws what was caught in its own method.
    fn throws_again(&self, method: MethodId, at: u16) -> bool {
        let again = self.0.world.look(method, |view| {
            let thrown = view.body.operands(at.into()).first();
            let mut origins = thrown
                .map_or_else(Vec::new, |&it| view.body.origins_through_casts(it))
                .into_iter()
                .peekable();
            let any = origins.peek().is_some();
            any && origins.all(|it| matches!(view.body.value(it), Value::Caught(_)))
        });
        again.unwrap_or(false)
    }

    fn thrown(&self, before: Option<Node>, node: Node, call: CallId, what: &str) -> String {
        let callee = naming::callee(self.0, call);
        let place = self.place_of(call);
        let line = self.0.facts.call(call).line;
        let from_handler = matches!(before, Some(Node::Handler(_)));
        match node {
            Node::External(..) if from_handler => {
                format!("which is entered when {callee}, called at line {line}, throws {what}")
            }
            Node::External(..) => format!("which {callee}, called at {place}, can throw as {what}"),
            Node::New(..) if from_handler => {
                format!("which is entered when {callee}, called at line {line}, makes and throws {what}")
            }
            Node::New(..) => format!("which {callee}, called at {place}, makes and throws as {what}"),
            _ if from_handler => {
                format!("which is entered when {callee}, called at line {line}, throws {what}")
            }
            _ => format!("which comes out of {callee}, called at {place}"),
        }
    }

    /// A node on its own, for the picture of a graph.
    pub fn node(&self, node: Node) -> String {
        match node {
            Node::Location(method, at) => self.place(method, at),
            Node::Condition(method, at, way) => format!("branch at {}, way {way}", self.place(method, at)),
            Node::Invocation(method) => format!("{} is entered", self.method(method)),
            Node::Handler(it) => {
                let handler = self.0.facts.handler(it);
                format!("catch at {}", self.at_line(handler.method, handler.line))
            }
            Node::Internal(call, it) | Node::New(call, it) | Node::External(call, it) => {
                format!(
                    "{} throws {} at {}",
                    naming::callee(self.0, call),
                    self.exception(it),
                    self.place_of(call)
                )
            }
            Node::Escape(method, it) => format!("{} leaves {}", self.exception(it), self.method(method)),
            Node::Carried(call) => format!("the future at {} fails", self.place_of(call)),
            Node::Field(field, need) => {
                format!("{} must {}", self.field(field), self.need(need, self.is_boolean(field)))
            }
            Node::Return(method, need) => {
                format!("{} returns {}", self.method(method), self.value(need, self.returns_boolean(method)))
            }
            Node::Parameter(method, number, need) => {
                format!("parameter {number} of {} must {}", self.method(method), self.need(need, false))
            }
            Node::Operand(method, at, _, need) => {
                format!("value at {} must {}", self.place(method, at), self.need(need, false))
            }
        }
    }

    /// `Class.method`; of a nested class that has a name only that.
    fn method(&self, id: MethodId) -> String {
        let (method, is_lambda) = self.in_source(id);
        if is_lambda { format!("a lambda in {method}") } else { method }
    }

    /// The method whose source it is, and whether it is a lambda there.
    fn in_source(&self, id: MethodId) -> (String, bool) {
        let world = &self.0.world;
        let class = naming::inner(self.0, world.method(id).owner);
        let name = String::from_utf8_lossy(world.method_name(id));
        let around = method_around(&name);
        (format!("{class}.{}", around.unwrap_or(&name)), around.is_some())
    }

    fn at_line(&self, id: MethodId, line: u16) -> String {
        if line == 0 { self.method(id) } else { format!("{}:{line}", self.in_source(id).0) }
    }

    fn place_of(&self, call: CallId) -> String {
        let call = self.0.facts.call(call);
        self.at_line(call.method, call.line)
    }

    fn place(&self, id: MethodId, instruction: u16) -> String {
        self.at_line(id, self.line(id, instruction))
    }

    fn line(&self, method: MethodId, at: u16) -> u16 {
        match self.0.facts.call_at(method, at.into()) {
            Some(call) => self.0.facts.call(call).line,
            None => {
                let line = self.0.world.look(method, |view| view.body.line(at.into())).flatten();
                line.and_then(|it| u16::try_from(it).ok()).unwrap_or(0)
            }
        }
    }

    /// The class of an exception without its package.
    fn exception(&self, it: Exception) -> String {
        naming::simple(self.0, it.class())
    }

    fn returns_boolean(&self, id: MethodId) -> bool {
        self.0.world.method_descriptor(id).ends_with(b")Z")
    }

    fn field(&self, id: FieldId) -> String {
        let world = &self.0.world;
        let class = naming::simple(self.0, world.field(id).owner);
        format!("{class}.{}", String::from_utf8_lossy(world.field_name(id)))
    }

    fn is_boolean(&self, id: FieldId) -> bool {
        let world = &self.0.world;
        world.signature(world.field(id).signature).1 == b"Z"
    }

    fn need(&self, need: Need, is_boolean: bool) -> String {
        match need {
            Need::Any => "have been given".to_owned(),
            _ => format!("be {}", self.value(need, is_boolean)),
        }
    }

    fn value(&self, need: Need, is_boolean: bool) -> String {
        match need {
            Need::Any => "something".to_owned(),
            Need::Within(0, 0) | Need::Outside(1, 1) if is_boolean => "false".to_owned(),
            Need::Within(1, 1) | Need::Outside(0, 0) if is_boolean => "true".to_owned(),
            Need::Within(low, high) if low == high => low.to_string(),
            Need::Within(i32::MIN, high) => format!("at most {high}"),
            Need::Within(low, i32::MAX) => format!("at least {low}"),
            Need::Within(low, high) => format!("{low} to {high}"),
            Need::Outside(low, high) if low == high => format!("other than {low}"),
            Need::Outside(low, high) => format!("outside of {low} to {high}"),
            Need::Null => "null".to_owned(),
            Need::Object => "an object".to_owned(),
            Need::Is(field) => self.field(field),
            Need::IsNot(field) => format!("other than {}", self.field(field)),
        }
    }
}

/// The word for a kind of edge.
pub fn edge_name(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Control => "control",
        EdgeKind::Entry => "entry",
        EdgeKind::Caught => "caught",
        EdgeKind::Call => "call",
        EdgeKind::Task => "task",
        EdgeKind::Write => "write",
        EdgeKind::Return => "return",
        EdgeKind::Argument => "argument",
        EdgeKind::Data => "data",
        EdgeKind::Throw => "throw",
        EdgeKind::Internal => "internal",
        EdgeKind::External => "external",
        EdgeKind::New => "new",
        EdgeKind::Carried => "carried",
    }
}

/// The word for a kind of node.
pub fn node_name(node: Node) -> &'static str {
    match node {
        Node::Location(..) => "location",
        Node::Condition(..) => "condition",
        Node::Invocation(_) => "invocation",
        Node::Handler(_) => "handler",
        Node::Internal(..) => "internal",
        Node::New(..) => "new",
        Node::External(..) => "external",
        Node::Escape(..) => "escape",
        Node::Carried(_) => "carried",
        Node::Field(..) => "field",
        Node::Return(..) => "return",
        Node::Parameter(..) => "parameter",
        Node::Operand(..) => "operand",
    }
}
