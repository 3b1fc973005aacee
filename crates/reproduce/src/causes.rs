//! How a fault leads to lines of the failure log, as ways through the causal graph.

use hypocenter_plan::{Fault, Frame, Site};
use hypocenter_program::{CallId, EdgeKind, GraphOptions, Graphs, Node, Program};

use crate::before::starts;
use crate::case::Case;
use crate::catalogue::NamedFrame;

/// The most lines that are gone back from: what is shown is a handful.
const KEYS_MAX: usize = 64;

/// The ways from a fault to what it made the system log.
#[derive(Debug)]
pub struct Causes {
    /// The ways, the shortest first; one for each line that the fault leads to.
    pub ways: Vec<Way>,
    /// The lines whose stack trace names the fault, as keys of the case, with the frame.
    pub named: Vec<(u32, NamedFrame)>,
}

/// A way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Where it leads, as a key of the case.
    pub key: u32,
    /// How many events it has.
    pub distance: u32,
    /// What it goes through, the log statement first and the fault last, each with why the one before needs it.
    pub path: Vec<(Node, Option<EdgeKind>)>,
}

impl Case {
    /// How a fault that happened with this stack, innermost first, leads to lines of the failure log, which are given as keys. Where the
    /// graph has a way by the calls of the stack, it is that one.
    pub fn causes(&self, site: &Site, fault: &Fault, stack: &[Frame], keys: &[u32]) -> Option<Causes> {
        let Fault::Exception { class, .. } = fault else { return None };
        let program = self.program();
        let (world, faults) = (&program.world, &program.faults);
        let call = self.catalogue().call(self.catalogue().find(site)?);
        let class = world.find_type(class.replace('.', "/").as_bytes())?;
        let takes = |at: CallId, exception| at == call && faults.thrown(world, at, exception) == Some(class);
        let is_fault = |node: &Node| match *node {
            Node::New(at, it) | Node::External(at, it) => takes(at, it),
            _ => false,
        };
        let passes = |node: &Node| match *node {
            Node::Internal(at, _) => !is_beside(program, at, stack),
            _ => true,
        };
        let graphs = Graphs::of(program.causes());
        let mut ways: Vec<Way> = Vec::new();
        for &key in keys.iter().take(KEYS_MAX) {
            let starts = starts(program, &self.keys()[key as usize].wanted);
            let graph = graphs.build(&starts, GraphOptions::default(), takes);
            let faults: Vec<u32> =
                (0..).zip(graph.nodes()).filter(|it| is_fault(it.1)).map(|it| it.0).collect();
            let way_from = |start: usize, may: &dyn Fn(&Node) -> bool| {
                let found = graph.ways_through(start, may);
                let nearest = faults.iter().filter_map(|&it| Some((found.distance(it)?, it))).min();
                nearest.map(|(distance, fault)| {
                    let path = found.path(fault).into_iter();
                    let path = path.map(|(node, kind)| (graph.nodes()[node as usize], kind)).collect();
                    Way { key, distance, path }
                })
            };
            let way = |may: &dyn Fn(&Node) -> bool| {
                let found = (0..graph.starts().len()).filter_map(|it| way_from(it, may));
                found.min_by_key(|it| it.distance)
            };
            ways.extend(way(&passes).or_else(|| way(&|_| true)));
        }
        ways.sort_by_key(|it| (it.distance, it.key));
        let frame = |key: u32| {
            let wanted = &self.keys()[key as usize].wanted;
            self.catalogue().frame_of(program, wanted, call, class).map(|it| (key, it))
        };
        let named = keys.iter().filter_map(|&key| frame(key)).collect();
        Some(Causes { ways, named })
    }
}

/// Whether a call lies beside the stack: its method is on it, went on to a method of that name, and did so on another line.
fn is_beside(program: &Program, call: CallId, stack: &[Frame]) -> bool {
    let (world, call) = (&program.world, program.facts.call(call));
    let Some(callee) = call.callee else { return false };
    let class = String::from_utf8_lossy(world.type_name(world.method(call.method).owner)).replace('/', ".");
    let method = format!("{class}.{}", String::from_utf8_lossy(world.method_name(call.method)));
    let name = String::from_utf8_lossy(world.signature(world.method_ref(callee).signature).0);
    let line = |it: &Frame| it.at.as_deref()?.rsplit_once(':')?.1.parse::<u16>().ok();
    let goes_on = |inner: &Frame| inner.method.rsplit_once('.').is_some_and(|it| it.1 == name);
    let pairs = stack.iter().zip(stack.iter().skip(1));
    let here = pairs.filter(|(inner, outer)| outer.method == method && goes_on(inner));
    let mut lines = here.filter_map(|(_, outer)| line(outer)).peekable();
    lines.peek().is_some() && lines.all(|it| it != call.line)
}
