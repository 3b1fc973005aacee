//! Causal paths and their nodes in words: short names of classes, methods and calls, and one line for each step.

use hypocenter_plan::method_around;

use crate::{
    CallId, CausalGraph, EdgeKind, Exception, FieldId, MethodId, Need, Node, Program, TypeId, Value,
};

/// Words for the code of a program.
#[derive(Debug, Clone, Copy)]
pub struct Words<'p>(pub &'p Program);

/// A step of a causal path from the fault on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    /// The step in words.
    pub text: String,
    /// Method and line of the step, where it is at one place; line 0 is unknown.
    pub at: Option<(MethodId, u16)>,
}

impl Words<'_> {
    /// A path from a log statement back to a fault, one line a step.
    pub fn steps(&self, graph: &CausalGraph, path: &[(u32, Option<EdgeKind>)]) -> Vec<String> {
        let nodes: Vec<Node> = path.iter().map(|it| graph.nodes()[it.0 as usize]).collect();
        let mut steps: Vec<String> = Vec::new();
        for (at, &(_, kind)) in path.iter().enumerate() {
            let step = self.step(&nodes, at, kind).filter(|it| steps.last() != Some(it));
            steps.extend(step);
        }
        steps
    }

    /// One step; `None` where the next one says it as well.
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

    /// A path in the order in which things happen, from the fault on. `path` is as the graph gives it, the log statement first.
    pub fn onward(&self, path: &[(Node, Option<EdgeKind>)]) -> Vec<PathStep> {
        let nodes: Vec<Node> = path.iter().map(|it| it.0).collect();
        let mut steps: Vec<PathStep> = Vec::new();
        for at in (0..nodes.len()).rev() {
            let step = self.happens(&nodes, at, path[at].1);
            let step = step.filter(|it| steps.last().is_none_or(|last| last.text != *it));
            steps.extend(step.map(|text| PathStep { text, at: self.place_in(nodes[at]) }));
        }
        steps
    }

    /// Method and line of a node that is at one place.
    fn place_in(&self, node: Node) -> Option<(MethodId, u16)> {
        let facts = &self.0.facts;
        Some(match node {
            Node::Location(method, at) | Node::Condition(method, at, _) | Node::Operand(method, at, ..) => {
                (method, self.line(method, at))
            }
            Node::New(call, _) | Node::External(call, _) | Node::Internal(call, _) | Node::Carried(call) => {
                (facts.call(call).method, facts.call(call).line)
            }
            Node::Handler(it) => (facts.handler(it).method, facts.handler(it).line),
            _ => return None,
        })
    }

    /// The event at a node, between the one before it and the one after it; `None` where one of these says it as well.
    fn happens(&self, nodes: &[Node], at: usize, kind: Option<EdgeKind>) -> Option<String> {
        let (before, node) = (nodes.get(at + 1), nodes[at]);
        let after = at.checked_sub(1).map(|it| nodes[it]);
        let named = |from: usize| self.named(&nodes[from..]);
        // What is given or written says what it is given to.
        let is_given = matches!(before, Some(Node::Operand(..)));
        Some(match node {
            Node::New(call, _) | Node::External(call, _) => {
                let callee = self.callee(call);
                format!("{callee}, called at {}, throws {}", self.place_of(call), named(at)?)
            }
            Node::Internal(call, _) => {
                format!("it comes out of {}, called at {}", self.callee(call), self.place_of(call))
            }
            Node::Handler(it) => {
                let handler = self.0.facts.handler(it);
                format!("it is caught at {}", self.at_line(handler.method, handler.line))
            }
            Node::Carried(call) => format!("the future at {} ends with it", self.place_of(call)),
            Node::Condition(method, at, _) => {
                format!("that decides the branch at {}", self.place(method, at))
            }
            Node::Location(method, instruction) => {
                let place = self.place(method, instruction);
                match (kind, after) {
                    (None, _) => format!("{place} logs it"),
                    (Some(EdgeKind::Call), Some(Node::Invocation(it))) => {
                        format!("{place} calls {}", self.method(it))
                    }
                    (Some(EdgeKind::Task), Some(Node::Invocation(it))) => {
                        format!("{place} hands over {}, which is run", self.method(it))
                    }
                    (Some(EdgeKind::Throw), Some(Node::Escape(..) | Node::Internal(..))) => {
                        let again = if self.throws_again(method, instruction) { " again" } else { "" };
                        format!("{place} throws {}{again}", named(at - 1)?)
                    }
                    (Some(EdgeKind::Throw), _) => match named(at) {
                        Some(what) => format!("{place} throws {what} again"),
                        None => format!("{place} throws"),
                    },
                    (Some(EdgeKind::Data), _) => return None,
                    // The branch says where.
                    (_, Some(Node::Condition(at_method, branch, _)))
                        if self.place(at_method, branch) == place =>
                    {
                        return None;
                    }
                    _ => format!("{place} runs"),
                }
            }
            Node::Operand(method, at, ..) => {
                let place = self.place(method, at);
                match after {
                    Some(Node::Field(field, Need::Any)) => format!("{place} sets {}", self.field(field)),
                    Some(Node::Field(field, need)) => {
                        let value = self.value(need, self.is_boolean(field));
                        format!("{place} sets {} to {value}", self.field(field))
                    }
                    Some(Node::Parameter(to, number, need)) => {
                        let value = self.value(need, false);
                        format!("{place} passes {value} to {}, as parameter {number}", self.method(to))
                    }
                    Some(Node::Return(from, need)) => {
                        let value = self.value(need, self.returns_boolean(from));
                        format!("{} returns {value}, at {place}", self.method(from))
                    }
                    _ => return None,
                }
            }
            Node::Field(field, need) if !is_given => {
                format!("the field {} is {}", self.field(field), self.value(need, self.is_boolean(field)))
            }
            Node::Return(from, need) if !is_given => {
                format!("{} returns {}", self.method(from), self.value(need, self.returns_boolean(from)))
            }
            Node::Parameter(to, number, need) if !is_given => {
                format!("parameter {number} of {} is {}", self.method(to), self.value(need, false))
            }
            Node::Field(..) | Node::Return(..) | Node::Parameter(..) => return None,
            Node::Invocation(_) | Node::Escape(..) => return None,
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
                    return Some(self.simple(thrown));
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
        let callee = self.callee(call);
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
                format!("{} throws {} at {}", self.callee(call), self.exception(it), self.place_of(call))
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

    /// The name of a class without its package.
    pub fn simple(&self, class: TypeId) -> String {
        let name = self.0.world.show_type(class);
        name.rsplit('.').next().unwrap_or(&name).to_owned()
    }

    /// The same without the classes around it, if it has a name of its own.
    fn inner(&self, class: TypeId) -> String {
        let name = self.simple(class);
        match name.rsplit_once('$') {
            Some((_, inner)) if inner.starts_with(|it: char| it.is_alphabetic()) => inner.to_owned(),
            _ => name,
        }
    }

    /// The callee of a call, its class without the package.
    pub fn callee(&self, id: CallId) -> String {
        let world = &self.0.world;
        match self.0.facts.call(id).callee.map(|it| world.method_ref(it)) {
            Some(it) => {
                let name = String::from_utf8_lossy(world.signature(it.signature).0).into_owned();
                let class = self.inner(it.owner);
                if name == "<init>" { format!("new {class}") } else { format!("{class}.{name}") }
            }
            None => "invokedynamic".to_owned(),
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
        let class = self.inner(world.method(id).owner);
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
        self.simple(it.class())
    }

    fn returns_boolean(&self, id: MethodId) -> bool {
        self.0.world.method_descriptor(id).ends_with(b")Z")
    }

    fn field(&self, id: FieldId) -> String {
        let world = &self.0.world;
        let class = self.simple(world.field(id).owner);
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

impl EdgeKind {
    /// The name, for files and JSON.
    pub fn name(self) -> &'static str {
        match self {
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
}

impl Node {
    /// The name of its kind, for files and JSON.
    pub fn kind_name(self) -> &'static str {
        match self {
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
}
