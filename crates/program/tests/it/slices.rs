//! Slices and decisions, by the table.

use std::cell::RefCell;
use std::collections::BTreeMap;

use hypocenter_program::{
    CallGraph, Causes, Decisions, Exceptions, Facts, MethodId, Scope, Slice, SliceLimits, Tasks, World, load,
};

use crate::table::{Compiled, Concatenation, Row, check_table, compile, read};
use crate::tools::java_home;

type Slicer = fn(Causes<'_>, &[(MethodId, u16)], SliceLimits) -> Slice;

const DIRECTIONS: [(&str, Slicer); 2] = [("backward", Slice::backward), ("forward", Slice::forward)];

/// A row as a program.
pub struct Program {
    pub world: World,
    facts: Facts,
    calls: CallGraph,
    tasks: Tasks,
    exceptions: Exceptions,
}

impl Program {
    pub fn of(row: &Row, compiled: &Compiled) -> Program {
        let classes = compiled.class_path(row).with_jdk(&java_home()).open(17);
        let (world, problems) = load(&classes, &Scope::of(&["rows".into()]));
        assert_eq!(problems, []);
        let facts = Facts::of(&world);
        let calls = CallGraph::of(&world, &facts);
        let tasks = Tasks::of(&world, &facts);
        let exceptions = Exceptions::of(&world, &facts, &calls);
        Program { world, facts, calls, tasks, exceptions }
    }

    pub fn causes(&self) -> Causes<'_> {
        let Program { world, facts, calls, tasks, exceptions } = self;
        Causes { world, facts, calls, tasks, exceptions }
    }

    fn methods(&self) -> impl Iterator<Item = MethodId> {
        self.world.system_classes().iter().flat_map(|it| self.world.methods_of(it.id))
    }

    /// The instructions of each line.
    pub fn lines(&self) -> BTreeMap<u32, Vec<(MethodId, u16)>> {
        let mut lines: BTreeMap<u32, Vec<(MethodId, u16)>> = BTreeMap::new();
        for method in self.methods() {
            self.world.look(method, |view| {
                for at in 0..view.body.flow.instructions.len() as u32 {
                    let line = view.body.line(at).expect("rows are compiled with lines");
                    lines.entry(line).or_default().push((method, at as u16));
                }
            });
        }
        lines
    }

    /// Control dependences of lines.
    fn controls(&self) -> Vec<String> {
        let mut found = Vec::new();
        for method in self.methods() {
            self.world.look(method, |view| {
                let decisions = Decisions::of(self.causes(), &view, true);
                let line = |at: u32| view.body.line(at).unwrap();
                for at in 0..view.body.flow.instructions.len() as u32 {
                    for decider in decisions.of_instruction(at) {
                        found.push(format!("@{} controls @{}", line(decider.instruction), line(at)));
                    }
                }
            });
        }
        found
    }
}

/// The lines that each marked line has in its slices, and which line controls which.
fn by_lines(row: &Row, program: &Program) -> Vec<String> {
    let lines = program.lines();
    let line_of: BTreeMap<(MethodId, u16), u32> =
        lines.iter().flat_map(|(&line, points)| points.iter().map(move |&it| (it, line))).collect();
    let mut found = program.controls();
    for from in row.markers.values().filter(|it| lines.contains_key(it)) {
        for (name, of) in DIRECTIONS {
            let slice = of(program.causes(), &lines[from], SliceLimits::default());
            assert!(slice.is_complete());
            assert!(slice.points().is_sorted());
            let reached = slice.points().iter().map(|it| line_of[&(it.method, it.instruction)]);
            found.extend(reached.map(|to| format!("{name} @{from} has @{to}")));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Pairs of instructions of which the first affects the second only if it is asked from one side.
fn differences(row: &Row, program: &Program) -> Vec<String> {
    let points: Vec<(MethodId, u16)> = program.lines().into_values().flatten().collect();
    let [backward, forward] = DIRECTIONS.map(|(_, of)| -> Vec<Slice> {
        points.iter().map(|&it| of(program.causes(), &[it], SliceLimits::default())).collect()
    });
    let shown = |&(method, at): &(MethodId, u16)| {
        let line = program.world.look(method, |it| it.body.line(at.into())).flatten().unwrap();
        format!("@{line} (instruction {at})")
    };
    let mut found = Vec::new();
    for (from, forward) in points.iter().zip(&forward) {
        for (to, backward) in points.iter().zip(&backward) {
            let (there, back) = (forward.has(to.0, to.1), backward.has(from.0, from.1));
            if there != back {
                let way = if there { "forward" } else { "backward" };
                found.push(format!("{}: {} affects {} only {way}", row.reason, shown(from), shown(to)));
            }
        }
    }
    found
}

/// All rows fit, and whether a point affects another is the same from either side.
#[test]
fn slices_are_those_of_the_table() {
    let different = RefCell::new(Vec::new());
    check_table("slices.txt", |row, compiled| {
        let program = Program::of(row, compiled);
        different.borrow_mut().extend(differences(row, &program));
        by_lines(row, &program)
    });
    let different = different.into_inner();
    assert!(different.is_empty(), "{} differences\n{}", different.len(), different.join("\n"));
}

/// One row, by the beginning of its reason, and its program.
fn one(reason: &str) -> (Row, Program) {
    let mut rows = read("slices.txt");
    rows.retain(|it| it.reason.starts_with(reason));
    assert_eq!(rows.len(), 1, "{reason}");
    let compiled = compile("slices-one.txt", &rows, Concatenation::Dynamic);
    let program = Program::of(&rows[0], &compiled);
    (rows.remove(0), program)
}

#[test]
fn distances_and_limits() {
    let (row, program) = one("a chain of locals");
    let end = *program.lines()[&row.markers["r"]].last().unwrap();
    let check = |points_max: usize, distance_max: u32, expected: &[(u16, u32)], is_complete: bool| {
        let limits = SliceLimits { points_max, distance_max, ..SliceLimits::default() };
        let slice = Slice::backward(program.causes(), &[end], limits);
        let found: Vec<(u16, u32)> = slice.points().iter().map(|it| (it.instruction, it.distance)).collect();
        assert_eq!((found, slice.is_complete()), (expected.to_vec(), is_complete));
    };
    // The operands of `return b`, which are `a * 2`, which are `x + 1`.
    let all = [(1, 3), (2, 2), (5, 2), (6, 1), (13, 0)];
    check(5, 3, &all, true);
    check(usize::MAX, u32::MAX, &all, true);
    check(3, 3, &[(2, 2), (6, 1), (13, 0)], false);
    check(5, 1, &[(6, 1), (13, 0)], false);
    check(0, 3, &[], false);
}

#[test]
fn without_aborts_exceptions_lead_only_to_handlers() {
    let check = |reason: &str, from: &str, to: &str, with: bool, without: bool| {
        let (row, program) = one(reason);
        let lines = program.lines();
        let (from, to) = (&lines[&row.markers[from]], &lines[&row.markers[to]]);
        for (aborts, expected) in [(true, with), (false, without)] {
            let limits = SliceLimits { aborts, ..SliceLimits::default() };
            let slice = Slice::backward(program.causes(), from, limits);
            assert_eq!(to.iter().any(|it| slice.has(it.0, it.1)), expected, "{reason}: {aborts}");
        }
    };
    check("a statement behind a call that can throw", "w", "c", true, false);
    check("a handler depends on a throw in a called method", "r", "c", true, true);
    check("a handler depends on a throw, and", "r", "t", true, true);
}

#[test]
fn slices_do_not_depend_on_the_number_of_threads() {
    let (row, program) = one("a task runs because it was handed over");
    let points = &program.lines()[&row.markers["w"]];
    let slice = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let limits = SliceLimits { points_max: 6, ..SliceLimits::default() };
        pool.install(|| Slice::backward(program.causes(), points, limits))
    };
    assert!(!slice(1).is_complete());
    assert_eq!(slice(1), slice(4));
}
