//! Calls as seen from the methods that they run: who asks into such a method, and where its nodes lead back to.

use rustc_hash::FxHashMap;

use crate::causality::causal::{Context, Node};
use crate::causality::need::Need;
use crate::facts::CallId;

/// Nobody has gone there.
const NOWHERE: u32 = u32::MAX;

/// See the module. An *asking* is a call and a context in which the call is looked at.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    gates: Vec<Gate>,
    askings: Vec<Asking>,
    groups: Vec<Group>,
    of_calls: FxHashMap<CallId, u32>,
    numbers: FxHashMap<(u32, Context), u32>,
    of_nodes: FxHashMap<(u32, What), u32>,
}

/// A call.
#[derive(Debug)]
struct Gate {
    call: CallId,
    /// The askings of the call.
    askings: Vec<u32>,
    /// The nodes that lead back to it, each with its group.
    waiting: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct Asking {
    gate: u32,
    /// Its place among those of the gate.
    place: u32,
    context: Context,
}

/// Nodes that lead back to the same.
#[derive(Debug, Default)]
struct Group {
    /// For each asking of the gate, by its place, the node that they lead to.
    to: Vec<u32>,
}

/// What a node needs of the call: that it happens, or a parameter.
type What = Option<(u16, Need)>;

impl Gates {
    /// The call of a gate.
    pub fn call(&self, gate: u32) -> CallId {
        self.gates[gate as usize].call
    }

    /// The context of an asking.
    pub fn context(&self, asking: u32) -> Context {
        self.askings[asking as usize].context
    }

    fn gate(&mut self, call: CallId) -> u32 {
        let gates = &mut self.gates;
        *self.of_calls.entry(call).or_insert_with(|| {
            gates.push(Gate { call, askings: Vec::new(), waiting: Vec::new() });
            gates.len() as u32 - 1
        })
    }

    /// The number of an asking.
    pub fn asking(&mut self, call: CallId, context: Context) -> u32 {
        let gate = self.gate(call);
        let (askings, own) = (&mut self.askings, &mut self.gates[gate as usize].askings);
        *self.numbers.entry((gate, context)).or_insert_with(|| {
            let number = askings.len() as u32;
            askings.push(Asking { gate, place: own.len() as u32, context });
            own.push(number);
            number
        })
    }

    /// Adds a node that leads back to a call, and gives its gate and its group.
    pub fn wait(&mut self, number: u32, node: Node, call: CallId) -> (u32, u32) {
        let gate = self.gate(call);
        let what = match node {
            Node::Parameter(_, number, need) => Some((number, need)),
            _ => None,
        };
        let groups = &mut self.groups;
        let group = *self.of_nodes.entry((gate, what)).or_insert_with(|| {
            groups.push(Group::default());
            groups.len() as u32 - 1
        });
        self.gates[gate as usize].waiting.push((number, group));
        (gate, group)
    }

    /// The askings of a gate.
    pub fn askings(&self, gate: u32) -> &[u32] {
        &self.gates[gate as usize].askings
    }

    /// The nodes that lead back to the call of an asking, each with its group.
    pub fn waiting(&self, asking: u32) -> &[(u32, u32)] {
        &self.gates[self.askings[asking as usize].gate as usize].waiting
    }

    /// Where the nodes of a group lead to for an asking, if somebody has gone there.
    pub fn to(&self, group: u32, asking: u32) -> Option<u32> {
        let place = self.askings[asking as usize].place as usize;
        self.groups[group as usize].to.get(place).copied().filter(|&it| it != NOWHERE)
    }

    /// Remembers where the nodes of a group lead to for an asking.
    pub fn lead(&mut self, group: u32, asking: u32, to: u32) {
        let place = self.askings[asking as usize].place as usize;
        let all = &mut self.groups[group as usize].to;
        if all.len() <= place {
            all.resize(place + 1, NOWHERE);
        }
        all[place] = to;
    }

    /// The ways back of a group that somebody has gone, each with its asking.
    pub fn ways_back(&self, gate: u32, group: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let to = self.groups[group as usize].to.iter().copied();
        self.askings(gate).iter().copied().zip(to).filter(|it| it.1 != NOWHERE)
    }
}
