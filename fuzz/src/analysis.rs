//! Everything that is found out about a target, asked of some classes of any bytes.

use std::fmt::Debug;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hypocenter_classfile::{ClassFile, display_name};
use hypocenter_program::{
    Body, CausalGraph, ClassPath, Classes, ControlDependence, Dominance, Edges, GraphOptions, KindSet,
    MethodId, Origins, Program, Scope, Slice, SliceLimits, StateOptions, name_calls, sites_of_method,
};
use rayon::ThreadPool;

use crate::bundle::{self, File};
use crate::place;

/// What the first byte asks for.
mod option {
    /// Methods that a task method calls have states too.
    pub const HELPERS: u8 = 1;
    /// Only the first class's package is the system.
    pub const ONE_PACKAGE: u8 = 2;
    /// No class of the JDK is known.
    pub const NO_JDK: u8 = 4;
    /// One thread and two must find the same.
    pub const THREADS: u8 = 8;
}

/// From how many points graphs and slices start.
const STARTS_MAX: usize = 6;
const LIMITS: SliceLimits = SliceLimits { points_max: 20_000, distance_max: 200, aborts: true };
const OPTIONS: GraphOptions = GraphOptions { distance_max: 14 };

/// A byte of options, then a bundle of class files. Their names in it do not matter: a class that can be read has the name
/// that it gives itself.
pub fn check(bytes: &[u8]) {
    let Some((options, bytes)) = bytes.split_first() else { return };
    let has = |option: u8| options & option != 0;
    let files = bundle::files(bytes);
    let mut names = Vec::new();
    for file in &files {
        let class = ClassFile::parse(file.content).ok();
        if let Some(class) = &class {
            bodies(class);
        }
        names.push(class.map(|it| it.name().to_vec()).unwrap_or_else(|| file.name.to_vec()));
    }
    let paths: Vec<Vec<u8>> = names.iter().map(|it| [&it[..], b".class"].concat()).collect();
    let files: Vec<File<'_>> =
        files.iter().zip(&paths).map(|(it, name)| File { flags: 0, name, ..*it }).collect();
    let jar = place::write(place::fresh(), "a.jar", &bundle::jar(&files));
    let path = ClassPath::from_paths(vec![jar]);
    let path = match library().filter(|_| !has(option::NO_JDK)) {
        Some(home) => path.with_jdk(home),
        None => path,
    };
    let classes = path.open(17);
    let package = names.first().map(|it| display_name(it));
    let package = package.as_deref().and_then(|it| Some(it.rsplit_once('.')?.0.to_owned()));
    let scope = Scope::of(package.filter(|_| has(option::ONE_PACKAGE)).as_slice());
    let states = StateOptions { helpers: has(option::HELPERS), ..StateOptions::default() };
    let found = pools()[0].install(|| asked(&classes, &scope, &states));
    if has(option::THREADS) {
        let again = pools()[1].install(|| asked(&classes, &scope, &states));
        assert!(found == again, "two threads find something else than one:\n{found}\n{again}");
    }
}

/// A small JDK that the seeds' script has made, where it has.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
        home.join("jre/lib/rt.jar").is_file().then_some(home)
    });
    library.as_deref()
}

/// One thread, and two.
fn pools() -> &'static [ThreadPool; 2] {
    static POOLS: OnceLock<[ThreadPool; 2]> = OnceLock::new();
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
    };
    POOLS.get_or_init(|| [1, 2].map(pool))
}

/// The body of every method, with what is computed from it on demand.
fn bodies(class: &ClassFile<'_>) {
    for method in class.methods() {
        black_box(sites_of_method(class, method, KindSet::ALL).is_ok());
        let Ok(Some(body)) = Body::of_method(class, method) else { continue };
        for number in 0..body.flow.instructions.len() as u32 {
            for &operand in body.operands(number) {
                black_box((body.value(operand), body.constant(operand)));
                black_box(body.origins_through_casts(operand).len());
            }
            black_box((body.line(number), body.covering(number).count()));
        }
        black_box(ControlDependence::of(&body.flow, Edges::Normal).is_ok());
        black_box(Dominance::of(&body.flow, Edges::All).is_ok());
        black_box(Dominance::post(&body.flow, Edges::All).is_ok());
    }
}

/// The whole analysis, and graphs and slices of some of what it finds: everything as text.
fn asked(classes: &Classes, scope: &Scope, states: &StateOptions) -> String {
    let program = Program::of(classes, scope, states, |_| {});
    let (world, facts) = (&program.world, &program.facts);
    let mut text = String::new();
    let mut tell = |what: &dyn Debug| text.push_str(&format!("{what:?}\n"));
    tell(&program.problems);
    for problem in &program.problems {
        assert!(!problem.place.is_empty() && !problem.what.is_empty());
    }
    tell(&program.faults.sites());
    tell(&program.faults.summary(world, facts));
    let calls: Vec<_> = program.faults.sites().iter().map(|it| it.call).collect();
    tell(&name_calls(world, facts, &calls).len());
    for dropped in program.faults.dropped() {
        let why = program.memory.why(dropped.call);
        assert!(!why.is_empty(), "a site was dropped for no reason");
        tell(&why.iter().map(|it| it.show(world).to_string()).collect::<Vec<_>>());
    }
    tell(&program.statements.statements());
    tell(&program.states.states());
    tell(&program.loops.all());
    tell(&program.waits.all());
    tell(&program.detectors.all());
    tell(&program.tests.all());
    for method in (0..world.method_count() as u32).map(MethodId).filter(|it| world.is_system_method(*it)) {
        tell(&program.exceptions.escapes(method));
        tell(&program.exceptions.ways(world, facts, &program.calls, method).len());
    }
    let statements = program.statements.statements().iter().map(|it| (it.method, it.instruction));
    let called = facts.calls().iter().map(|it| (it.method, it.instruction));
    let starts: Vec<(MethodId, u16)> =
        statements.take(STARTS_MAX / 2).chain(called.take(STARTS_MAX / 2)).collect();
    let graph = CausalGraph::of(program.causes(), &starts, OPTIONS, |_, _| true);
    tell(&graph.nodes());
    for start in 0..starts.len() {
        let ways = graph.ways(start);
        for node in 0..graph.nodes().len() as u32 {
            let length = graph.priors(node).count();
            assert!(length <= graph.edge_count());
            if ways.distance(node).is_some() && node % 16 == 0 {
                assert_eq!(ways.path(node).last().map(|it| it.0), Some(node), "a path leads elsewhere");
            }
        }
    }
    tell(&graph.distances_to_faults().calls());
    let backward = Slice::backward(program.causes(), &starts, LIMITS);
    let forward = Slice::forward(program.causes(), &starts, LIMITS);
    for slice in [&backward, &forward] {
        assert!(slice.points().len() <= LIMITS.points_max.max(starts.len()));
        tell(&slice.points());
    }
    let origins = Origins::of(world, facts, &program.calls, &program.tasks, &program.exceptions);
    for call in facts.calls().iter().take(STARTS_MAX) {
        tell(&origins.wraps(call.method).len());
    }
    text
}
