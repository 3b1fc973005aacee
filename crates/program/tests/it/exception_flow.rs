//! The flow of exceptions, row by row of `tests/tables/exception-flow.txt`.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use hypocenter_program::{
    CallGraph, Carries, ClassPath, Classes, Exception, Exceptions, Facts, HandlerId, MethodId, OriginPlace,
    Origins, Scope, Tasks, TypeId, World, load,
};

use crate::table::{Compiled, Concatenation, Row, check_table, compile, read};
use crate::tools::java_home;

const TABLE: &str = "exception-flow.txt";

/// All rows and the JDK at once: to open the JDK takes longer than all else. Each row then takes its own class alone.
fn open(compiled: &Compiled) -> Classes {
    let rows = read(TABLE);
    let entries = rows.iter().flat_map(|row| compiled.class_path(row).entries().to_vec());
    let entries: BTreeSet<_> = entries.collect();
    ClassPath::from_paths(entries.into_iter().collect()).with_jdk(&java_home()).open(17)
}

struct Shown<'p> {
    row: &'p Row,
    world: &'p World,
}

impl Shown<'_> {
    fn class(&self, id: TypeId) -> String {
        self.world.show_type(id).rsplit(['.', '$']).next().unwrap().to_owned()
    }

    fn exception(&self, it: Exception) -> String {
        self.class(it.class())
    }

    fn method(&self, id: MethodId) -> String {
        let shown = self.world.show_method(id).replace('$', ".");
        shown.strip_prefix(&format!("rows.{}.", self.row.class)).unwrap().to_owned()
    }

    fn line(&self, (method, instruction): OriginPlace) -> String {
        let line = self.world.look(method, |view| view.body.line(instruction.into()));
        format!("@{}", line.flatten().unwrap())
    }
}

fn facts_of(row: &Row, classes: &Classes) -> Vec<String> {
    let (world, problems) = load(classes, &Scope::of(&[format!("rows.{}", row.class)]));
    assert_eq!(problems, []);
    let facts = Facts::of(&world);
    assert_eq!(facts.problems(), []);
    let calls = CallGraph::of(&world, &facts);
    let tasks = Tasks::of(&world, &facts);
    let exceptions = Exceptions::of(&world, &facts, &calls);
    let origins = Origins::of(&world, &facts, &calls, &tasks, &exceptions);
    let show = Shown { row, world: &world };
    let mut found = BTreeSet::new();
    for id in world.system_classes().iter().flat_map(|class| world.methods_of(class.id)) {
        let method = show.method(id);
        let mut has_escapes = false;
        for &exception in exceptions.escapes(id) {
            for place in origins.of_escape(id, exception) {
                has_escapes = true;
                found.insert(format!(
                    "{method} escapes {} from {}",
                    show.exception(exception),
                    show.line(place)
                ));
            }
        }
        if !has_escapes {
            found.insert(format!("{method} escapes nothing"));
        }
        for it in origins.wraps(id).into_iter().filter(|it| it.how == Carries::Cause) {
            let (carried, into) = (show.exception(it.carried), show.class(it.into));
            found.insert(format!(
                "{method} wraps {carried} into {into} at {}",
                show.line((id, it.instruction))
            ));
        }
        for (instruction, caught) in origins.passes_on(id) {
            found.insert(format!("{} passes on {}", show.line((id, instruction)), show.exception(caught)));
        }
    }
    for (number, handler) in (0..).zip(facts.handlers()) {
        let id = HandlerId(number);
        for &exception in exceptions.reaches(id) {
            for place in origins.of_caught(id, exception) {
                found.insert(format!(
                    "{} catches {} at @{} from {}",
                    show.method(handler.method),
                    show.exception(exception),
                    handler.line,
                    show.line(place)
                ));
            }
        }
    }
    found.into_iter().collect()
}

#[test]
fn exceptions_come_from_where_they_start_and_go_where_they_are_caught() {
    let classes = OnceCell::new();
    check_table(TABLE, |row, compiled| facts_of(row, classes.get_or_init(|| open(compiled))));
}

/// All rows as one program, with what is found in it as numbers.
fn all_at_once(classes: &Classes) -> (Vec<Vec<Exception>>, Vec<Vec<Exception>>) {
    let (world, _) = load(classes, &Scope::of(&["rows".to_owned()]));
    let facts = Facts::of(&world);
    let calls = CallGraph::of(&world, &facts);
    let exceptions = Exceptions::of(&world, &facts, &calls);
    let methods = (0..world.method_count() as u32).map(MethodId);
    let escapes: Vec<Vec<Exception>> = methods.map(|it| exceptions.escapes(it).to_vec()).collect();
    let handlers = (0..facts.handlers().len() as u32).map(HandlerId);
    let reaches: Vec<Vec<Exception>> = handlers.map(|it| exceptions.reaches(it).to_vec()).collect();
    // The ways of single exceptions are found without the sets of the fixpoint, and must lead to the same.
    let mut out = vec![BTreeSet::new(); escapes.len()];
    let mut caught = vec![BTreeSet::new(); reaches.len()];
    for id in world.system_classes().iter().flat_map(|class| world.methods_of(class.id)) {
        for way in exceptions.ways(&world, &facts, &calls, id) {
            let same = exceptions.ways_to(&world, &facts, &calls, id, way.to, way.arrives);
            assert!(same.contains(&way), "{way:?} in {same:?}");
            match way.to {
                Some(handler) => caught[handler.0 as usize].insert(way.arrives),
                None => out[id.index()].insert(way.arrives),
            };
        }
    }
    let lists = |sets: Vec<BTreeSet<Exception>>| sets.into_iter().map(|it| it.into_iter().collect());
    assert_eq!(lists(out).collect::<Vec<Vec<_>>>(), escapes);
    assert_eq!(lists(caught).collect::<Vec<Vec<_>>>(), reaches);
    (escapes, reaches)
}

#[test]
fn the_flow_does_not_depend_on_the_number_of_threads() {
    let compiled = compile(TABLE, &read(TABLE), Concatenation::Dynamic);
    let classes = open(&compiled);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| all_at_once(&classes))
    };
    let one = with(1);
    assert!(one.0.iter().flatten().count() > 100, "the rows throw something");
    assert_eq!(one, with(4));
}
