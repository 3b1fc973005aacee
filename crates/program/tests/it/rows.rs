//! Fault sites, log statements, states and loops, row by row of their tables.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use hypocenter_program::{
    Bound, ClassPath, Classes, Detector, Effect, FaultKind, LeftOut, Level, Limit, LoopId, MethodId,
    PointKind, Points, Program, Scope, StateOptions, TypeId, access,
};

use crate::table::Concatenation::{self, Dynamic, Inline};
use crate::table::{Compiled, Row, check_compiled, read};
use crate::tools::java_home;

/// A row as a program.
struct Shown<'p> {
    row: &'p Row,
    program: Program,
    found: BTreeSet<String>,
}

impl Shown<'_> {
    fn class(&self, id: TypeId) -> String {
        self.program.world.show_type(id).rsplit(['.', '$']).next().unwrap().to_owned()
    }

    fn method(&self, id: MethodId) -> String {
        let shown = self.program.world.show_method(id).replace('$', ".");
        shown.strip_prefix(&format!("rows.{}.", self.row.class)).unwrap().to_owned()
    }

    fn add(&mut self, fact: String) {
        self.found.insert(fact);
    }
}

/// Compares a table with what is found in its rows. To open the JDK takes longer than all else, so all rows are opened
/// at once, and each takes its own class alone.
fn check(file: &str, concatenation: Concatenation, facts: fn(&mut Shown<'_>)) {
    let rows = read(file);
    let classes: OnceCell<Classes> = OnceCell::new();
    check_compiled(file, concatenation, |row, compiled: &Compiled| {
        let classes = classes.get_or_init(|| {
            let entries: BTreeSet<_> =
                rows.iter().flat_map(|row| compiled.class_path(row).entries().to_vec()).collect();
            ClassPath::from_paths(entries.into_iter().collect()).with_jdk(&java_home()).open(17)
        });
        let scope = Scope::of(&[format!("rows.{}", row.class)]);
        let program = Program::of(classes, &scope, &StateOptions::default(), |_| ());
        assert_eq!(program.problems, []);
        let mut shown = Shown { row, program, found: BTreeSet::new() };
        facts(&mut shown);
        shown.found.into_iter().collect()
    });
}

#[test]
fn faults_go_in_where_something_can_go_wrong() {
    check("sites.txt", Dynamic, |it| {
        let line = |it: &Shown<'_>, call| it.program.facts.call(call).line;
        for site in it.program.faults.sites().to_vec() {
            let at = line(it, site.call);
            let name = site.kind.name();
            for &class in site.kind.exceptions() {
                it.add(format!("{name} {} at @{at}", it.class(class)));
            }
            if matches!(site.kind, FaultKind::Delay | FaultKind::Crash) {
                it.add(format!("{name} at @{at}"));
            }
        }
        for dropped in it.program.faults.dropped().to_vec() {
            it.add(format!("in memory at @{}", line(it, dropped.call)));
        }
        for place in it.program.memory_lines() {
            it.add(format!("memory below @{}", place.line));
        }
    });
}

fn statements(it: &mut Shown<'_>) {
    // What is printed has no level, and the table does not speak of it.
    for statement in it.program.statements.statements().to_vec() {
        if statement.level == Level::Print {
            continue;
        }
        for template in &statement.templates {
            it.add(format!("{} at @{}: {template}", statement.said, statement.line));
        }
        if statement.has_exception {
            it.add(format!("exception at @{}", statement.line));
        }
    }
    for wrapper in it.program.statements.wrappers().to_vec() {
        it.add(format!("wrapper {}", it.method(wrapper)));
    }
}

#[test]
fn log_statements_have_a_level_and_a_template() {
    check("logs.txt", Dynamic, statements);
    check("logs.txt", Inline, statements);
}

#[test]
fn tasks_have_states() {
    check("states.txt", Dynamic, |it| {
        let tasks: Vec<TypeId> = it.program.states.classes().iter().map(|it| it.class).collect();
        for class in tasks {
            it.add(format!("task {}", it.class(class)));
        }
        for state in it.program.states.states().to_vec() {
            it.add(format!("state {} @{}", it.method(state.method), state.line));
        }
    });
}

fn feeds(program: &Program, it: &Detector) -> Vec<&'static str> {
    let is_changing = |id| program.world.field(id).access & access::FINAL == 0;
    let is_own = |id| !program.calls.targets(program.facts.call(id)).is_empty();
    let mut found = Vec::new();
    found.extend(it.feeds.fields.iter().any(|&it| is_changing(it)).then_some("field"));
    found.extend(it.feeds.calls.iter().any(|&it| is_own(it)).then_some("call"));
    found.extend((!it.feeds.parameters.is_empty()).then_some("parameter"));
    found.extend(it.feeds.clock.then_some("clock"));
    found
}

#[test]
fn loops_waits_and_detectors_have_their_facts() {
    check("loops.txt", Dynamic, |it| {
        for id in (0..it.program.loops.all().len() as u32).map(LoopId) {
            let loops = &it.program.loops;
            let fact = loops.get(id);
            let at = fact.line;
            let bound = match fact.bound {
                Bound::Constant => "constant",
                Bound::Container => "container",
                Bound::Open => "open",
            };
            let mut found = vec![format!("loop @{at} {bound}")];
            let effects = [
                (Effect::Io, "io"),
                (Effect::Sleep, "sleep"),
                (Effect::Wait, "wait"),
                (Effect::Clock, "clock"),
            ];
            for (effect, name) in effects {
                found.extend(fact.effects.has(effect).then(|| format!("loop @{at} does {name}")));
            }
            let parent = fact.parent.or(fact.called_from);
            found.extend(parent.map(|it| format!("loop @{at} parent @{}", loops.get(it).line)));
            found.extend(
                loops.siblings(id).iter().map(|&it| format!("loop @{at} sibling @{}", loops.get(it).line)),
            );
            it.found.extend(found);
        }
        for wait in it.program.waits.all().to_vec() {
            let limit = if wait.limit == Limit::None { "unlimited" } else { "limited" };
            it.add(format!("wait @{} {limit}", it.program.facts.call(wait.call).line));
        }
        for detector in it.program.detectors.all().to_vec() {
            let method = it.method(detector.method);
            let used = if detector.is_used { "used" } else { "unused" };
            it.add(format!("detector {method} {used}"));
            for from in feeds(&it.program, &detector) {
                it.add(format!("detector {method} fed by {from}"));
            }
        }
    });
}

#[test]
fn throws_have_guards_and_points_have_reasons() {
    check("points.txt", Dynamic, |it| {
        for point in Points::of(&it.program).all().to_vec() {
            let at = point.line;
            match point.kind {
                PointKind::Throw { class, is_guarded } => {
                    let guard = point.inject[0].line.unwrap_or(0);
                    let guarded =
                        if is_guarded { format!("guarded by @{guard}") } else { "unguarded".into() };
                    it.add(format!("throw {} at @{at} {guarded}", it.class(class)));
                }
                PointKind::Library { class, .. } => it.add(format!("library {} at @{at}", it.class(class))),
                PointKind::Loop(_) | PointKind::Detector => {}
            }
            assert!(!point.inject.is_empty() && !point.observe.is_empty(), "{point:?}");
            // The table does not speak of methods that return a boolean.
            if let Some(why) = point.left_out.filter(|it| !matches!(it, LeftOut::Detector(_))) {
                it.add(format!("left out {} at @{at}", why.name()));
            }
        }
    });
}
