//! Slices and decisions, by the table.

use std::collections::BTreeMap;

use hypocenter_program::{
    CallGraph, Causes, Decisions, Exceptions, Facts, MethodId, Scope, Slice, SliceLimits, Tasks, World, load,
};

use crate::table::{Compiled, Row, check_table};
use crate::tools::java_home;

/// A row as a program.
struct Program {
    world: World,
    facts: Facts,
    calls: CallGraph,
    tasks: Tasks,
    exceptions: Exceptions,
}

impl Program {
    fn of(row: &Row, compiled: &Compiled) -> Program {
        let classes = compiled.class_path(row).with_jdk(&java_home()).open(17);
        let (world, problems) = load(&classes, &Scope::of(&["rows".into()]));
        assert_eq!(problems, []);
        let facts = Facts::of(&world);
        let calls = CallGraph::of(&world, &facts);
        let tasks = Tasks::of(&world, &facts);
        let exceptions = Exceptions::of(&world, &facts, &calls);
        Program { world, facts, calls, tasks, exceptions }
    }

    fn causes(&self) -> Causes<'_> {
        let Program { world, facts, calls, tasks, exceptions } = self;
        Causes { world, facts, calls, tasks, exceptions }
    }

    fn methods(&self) -> impl Iterator<Item = MethodId> {
        self.world.system_classes().iter().flat_map(|it| self.world.methods_of(it.id))
    }

    /// The instructions of each line.
    fn lines(&self) -> BTreeMap<u32, Vec<(MethodId, u16)>> {
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

    /// Which line controls which.
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

fn of_row(row: &Row, compiled: &Compiled) -> Vec<String> {
    let program = Program::of(row, compiled);
    let lines = program.lines();
    let line_of: BTreeMap<(MethodId, u16), u32> =
        lines.iter().flat_map(|(&line, points)| points.iter().map(move |&it| (it, line))).collect();
    let mut found = program.controls();
    for from in row.markers.values().filter(|it| lines.contains_key(it)) {
        let backward = Slice::backward(program.causes(), &lines[from], SliceLimits::default());
        let forward = Slice::forward(program.causes(), &lines[from], SliceLimits::default());
        for (name, slice) in [("backward", backward), ("forward", forward)] {
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

#[test]
fn slices_are_those_of_the_table() {
    check_table("slices.txt", of_row);
}
