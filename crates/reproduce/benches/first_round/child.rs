//! A measurement in a process of its own: this program, started with [`FLAG`].

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::process::{Command, Stdio};
use std::time::Instant;

use hypocenter_engine::{Engine, Next, Work};
use hypocenter_program::{CallId, GraphOptions, Graphs, MethodId, Node, Program};
use hypocenter_reproduce::{Case, Reproduce};
use hypocenter_ties::copies;
use rustc_hash::FxHasher;
use rustix::time::{ClockId, clock_gettime};

use crate::input::Input;

/// Tells a child from the bench; the way and the name of the input follow.
pub const FLAG: &str = "--child";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    New,
    Old,
}

/// What a child measured.
#[derive(Debug, Default)]
pub struct Measured {
    pub cpu_s: f64,
    pub wall_s: f64,
    pub peak_mb: f64,
    /// Before anything was measured.
    start_mb: f64,
    lines: u64,
    nodes: u64,
    /// The first fault of the first plan.
    first: String,
    /// How far each fault is from each line: line and fault, which has a number that stands for it.
    pub distances: BTreeMap<(usize, u64), u32>,
}

impl Way {
    /// Measures it on an input, in a process of its own.
    pub fn measure(self, input: &str) -> Measured {
        let program = std::env::current_exe().expect("this program has a file");
        let mut command = Command::new(program);
        let way = if self == Way::New { "new" } else { "old" };
        let output = command.args([FLAG, way, input]).stderr(Stdio::inherit()).output().expect("it starts");
        assert!(output.status.success(), "measuring {input} ended with {}", output.status);
        let text = String::from_utf8_lossy(&output.stdout);
        let all: BTreeMap<&str, &str> = text.lines().filter_map(|it| it.split_once('\t')).collect();
        let number = |name: &str| all[name].parse::<f64>().expect("a number");
        Measured {
            cpu_s: number("cpu"),
            wall_s: number("wall"),
            peak_mb: number("peak"),
            start_mb: number("start"),
            lines: number("lines") as u64,
            nodes: number("nodes") as u64,
            first: all.get("first").copied().unwrap_or("-").to_owned(),
            distances: text.lines().filter_map(distance).collect(),
        }
    }
}

impl Measured {
    pub fn show(&self, what: &str) {
        let Measured { cpu_s, wall_s, peak_mb, start_mb, lines, nodes, first, .. } = self;
        println!(
            "  {what:<24}{cpu_s:>8.1} s CPU{wall_s:>8.1} s wall{peak_mb:>8.0} MB at most, {start_mb:.0} MB before; \
             {lines} lines, {nodes} nodes, first {first}"
        );
    }
}

/// A distance that a child told.
fn distance(line: &str) -> Option<((usize, u64), u32)> {
    let mut parts = line.strip_prefix("distance\t")?.split('\t');
    let mut number = || parts.next()?.parse::<u64>().ok();
    Some(((number()? as usize, number()?), number()? as u32))
}

/// The child's side.
pub fn run(way: &str, name: &str) {
    let Input { case, settings, normal } = Input::read(name);
    let mut engine = Reproduce::new(case.clone(), settings);
    let mut normal = normal.into_iter().peekable();
    let mut last = None;
    while let Some((outcome, digest)) = normal.next() {
        let Next::Start(jobs) = engine.next(1) else { panic!("a normal run is asked for") };
        match normal.peek() {
            Some(_) => drop(engine.tell(jobs[0].id, Some(&outcome), digest)),
            None => last = Some((jobs[0].id, outcome, digest)),
        }
    }
    let start = memory_kb("VmRSS:");
    let (id, outcome, digest) = last.expect("there is a normal run");
    let (wall, cpu) = (Instant::now(), on_cpu());
    let is_new = way == "new";
    if is_new {
        engine.tell(id, Some(&outcome), digest);
        let Next::Start(jobs) = engine.next(1) else { panic!("there is something to try") };
        tell(wall, cpu, start);
        let Work::Trial { plan, .. } = &jobs[0].work else { panic!("a round is a trial") };
        let first = plan.candidates.first().expect("there is something to try");
        println!("first\t{}.{}:{:?}", first.site.class, first.site.method, first.site.line);
        let lines = lines(&case, &engine);
        let (nodes, distances) = shared(case.program(), &lines);
        tell_distances(nodes, &distances);
    } else {
        // Which lines are missing the engine alone knows; that is not measured.
        engine.tell(id, Some(&outcome), digest);
        let lines = lines(&case, &engine);
        drop(engine);
        let (wall, cpu) = (Instant::now(), on_cpu());
        let (nodes, distances) = one_by_one(case.program(), &lines);
        tell(wall, cpu, start);
        tell_distances(nodes, &distances);
    }
}

fn tell(wall: Instant, cpu: f64, start_kb: u64) {
    let mb = |kb: u64| kb as f64 * 1024.0 / 1e6;
    println!("cpu\t{}\nwall\t{}", on_cpu() - cpu, wall.elapsed().as_secs_f64());
    println!("peak\t{}\nstart\t{}", mb(memory_kb("VmHWM:")), mb(start_kb));
}

/// The places that write each line that is missing.
fn lines(case: &Case, engine: &Reproduce) -> Vec<Vec<(MethodId, u16)>> {
    let program = case.program();
    let starts = |key: u32| {
        let statements = case.keys()[key as usize].wanted.statements.iter();
        let places = statements.flat_map(|&it| copies(program, it)).flat_map(|it| {
            let written = it.via.map(|_| (it.written.method, it.written.instruction));
            std::iter::once((it.method, it.instruction)).chain(written)
        });
        places.collect()
    };
    engine.verdict().missing.iter().map(|it| starts(it.key)).collect()
}

/// For each line how far each fault is.
type Distances = Vec<BTreeMap<Node, u32>>;

fn tell_distances(nodes: usize, all: &Distances) {
    println!("lines\t{}\nnodes\t{nodes}", all.len());
    for (line, distances) in all.iter().enumerate() {
        for (node, distance) in distances {
            let mut hasher = FxHasher::default();
            node.hash(&mut hasher);
            println!("distance\t{line}\t{}\t{distance}", hasher.finish());
        }
    }
}

/// As the engine does it.
fn shared(program: &Program, lines: &[Vec<(MethodId, u16)>]) -> (usize, Distances) {
    let takes = |call: CallId, exception| program.faults.thrown(&program.world, call, exception).is_some();
    let graph = Graphs::of(program.causes()).share(lines, GraphOptions::default(), takes);
    let found = graph.each_distance(
        |lines| vec![BTreeMap::new(); lines.len()],
        |block: &mut Distances, node, lines, distance| {
            let node = graph.nodes()[node as usize];
            for bit in (0..block.len()).filter(|bit| lines >> bit & 1 == 1 && node.is_fault()) {
                block[bit].entry(node).or_insert(distance);
            }
        },
    );
    (graph.nodes().len(), found.into_iter().flatten().collect())
}

/// A graph for each line.
fn one_by_one(program: &Program, lines: &[Vec<(MethodId, u16)>]) -> (usize, Distances) {
    let takes = |call: CallId, exception| program.faults.thrown(&program.world, call, exception).is_some();
    let graphs = Graphs::of(program.causes());
    let mut nodes = 0;
    let of_line = |starts: &Vec<(MethodId, u16)>| {
        let graph = graphs.build(starts, GraphOptions::default(), takes);
        nodes = nodes.max(graph.nodes().len());
        let mut found: BTreeMap<Node, u32> = BTreeMap::new();
        graph.each_distance(|_, node, distance| {
            let node = graph.nodes()[node as usize];
            if node.is_fault() {
                let nearest = found.entry(node).or_insert(distance);
                *nearest = distance.min(*nearest);
            }
        });
        found
    };
    let all: Distances = lines.iter().map(of_line).collect();
    (nodes, all)
}

/// A figure of this process as the kernel tells it; 0 where it does not.
fn memory_kb(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// How long the threads of this process have been on a processor, in seconds.
fn on_cpu() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
