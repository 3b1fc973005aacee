//! A way through the causal graph in the order in which things happen: from the fault on.

use hypocenter_program::{EdgeKind, Need, Node};

use hypocenter_results::reproduced::Place;

use super::{Words, naming};

impl Words<'_> {
    /// A way from a fault to a log statement: one line a step, with where in the program it is, if it is anywhere. The path is as
    /// the graph gives it, the statement first.
    pub fn onward(&self, path: &[(Node, Option<EdgeKind>)]) -> Vec<(String, Option<Place>)> {
        let nodes: Vec<Node> = path.iter().map(|it| it.0).collect();
        let mut steps: Vec<(String, Option<Place>)> = Vec::new();
        for at in (0..nodes.len()).rev() {
            let step = self.happens(&nodes, at, path[at].1);
            let step = step.filter(|it| steps.last().is_none_or(|last| last.0 != *it));
            steps.extend(step.map(|it| (it, self.place_in(nodes[at]))));
        }
        steps
    }

    /// Where a node is.
    fn place_in(&self, node: Node) -> Option<Place> {
        let facts = &self.0.facts;
        let (method, line) = match node {
            Node::Location(method, at) | Node::Condition(method, at, _) | Node::Operand(method, at, ..) => {
                (method, self.line(method, at))
            }
            Node::New(call, _) | Node::External(call, _) | Node::Internal(call, _) | Node::Carried(call) => {
                (facts.call(call).method, facts.call(call).line)
            }
            Node::Handler(it) => (facts.handler(it).method, facts.handler(it).line),
            _ => return None,
        };
        let world = &self.0.world;
        Some(Place {
            class: world.show_type(world.method(method).owner),
            method: String::from_utf8_lossy(world.method_name(method)).into_owned(),
            line: (line > 0).then_some(line.into()),
        })
    }

    /// What happens at a node, between the one before it and the one after it; nothing where one of these says it as well.
    fn happens(&self, nodes: &[Node], at: usize, kind: Option<EdgeKind>) -> Option<String> {
        let (before, node) = (nodes.get(at + 1), nodes[at]);
        let after = at.checked_sub(1).map(|it| nodes[it]);
        let named = |from: usize| self.named(&nodes[from..]);
        // What is given or written says what it is given to.
        let is_given = matches!(before, Some(Node::Operand(..)));
        Some(match node {
            Node::New(call, _) | Node::External(call, _) => {
                let callee = naming::callee(self.0, call);
                format!("{callee}, called at {}, throws {}", self.place_of(call), named(at)?)
            }
            Node::Internal(call, _) => {
                format!("it comes out of {}, called at {}", naming::callee(self.0, call), self.place_of(call))
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
}
