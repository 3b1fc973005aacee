//! The shapes of compiled fixtures: states, loops, waits, error detectors and tests. What is found is shown by the
//! line of the source that it stands on.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hypocenter_program::{
    CallGraph, ClassPath, Classes, Detectors, Effect, Facts, Limit, LoopFacts, LoopId, MethodId, Reason,
    Scope, StateOptions, States, Tests, Waits, World, load,
};

use crate::tools::{directory, java_home, tool};

struct Fixture {
    world: World,
    facts: Facts,
    calls: CallGraph,
}

/// The frameworks that run tests, as far as class files name them.
const STUBS: [(&str, &str); 9] = [
    ("junit/framework/TestCase", "public abstract class TestCase { }"),
    (
        "org/junit/Test",
        "@Retention(RUNTIME) public @interface Test { Class<?> expected() default Object.class; }",
    ),
    ("org/junit/Ignore", "@Retention(RUNTIME) public @interface Ignore { String[] value() default {}; }"),
    (
        "org/junit/runner/RunWith",
        "@Inherited @Retention(RUNTIME) public @interface RunWith { Class<?> value(); }",
    ),
    ("org/junit/jupiter/api/Test", "@Retention(RUNTIME) public @interface Test { }"),
    (
        "org/junit/jupiter/api/RepeatedTest",
        "@Retention(RUNTIME) public @interface RepeatedTest { int value(); }",
    ),
    ("org/junit/jupiter/api/Disabled", "@Retention(RUNTIME) public @interface Disabled { }"),
    (
        "org/junit/jupiter/params/ParameterizedTest",
        "@Retention(RUNTIME) public @interface ParameterizedTest { }",
    ),
    ("org/testng/annotations/Test", "@Retention(RUNTIME) public @interface Test { }"),
];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/shape")
}

impl Fixture {
    fn of(classes: &Classes) -> Fixture {
        let (world, _) = load(classes, &Scope::of(&["shape".into()]));
        let facts = Facts::of(&world);
        let calls = CallGraph::of(&world, &facts);
        Fixture { world, facts, calls }
    }

    /// Everything that is found, as a text.
    fn shapes(&self) -> String {
        let Fixture { world, facts, calls } = self;
        let options = StateOptions { helpers: true, ..StateOptions::default() };
        let tests = Tests::of(world);
        format!(
            "{:?} {:?} {:?} {:?} {:?}",
            States::of(world, facts, calls, &options),
            LoopFacts::of(world, facts, calls),
            Waits::of(world, facts),
            Detectors::of(world, facts, calls, &tests),
            tests.all(),
        )
    }
}

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let out = directory("shapes");
        let mut files: Vec<String> = Vec::new();
        for (name, source) in STUBS {
            let file = out.join("src").join(format!("{name}.java"));
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            let package = name.rsplit_once('/').unwrap().0.replace('/', ".");
            let imports =
                "import java.lang.annotation.*; import static java.lang.annotation.RetentionPolicy.*;";
            std::fs::write(&file, format!("package {package}; {imports} {source}")).unwrap();
            files.push(file.display().to_string());
        }
        for name in ["Tasks", "Rounds", "Waiting", "Detecting", "Tested"] {
            files.push(sources().join(format!("{name}.java")).display().to_string());
        }
        let classes = out.join("classes").display().to_string();
        let mut args = vec!["-g", "-nowarn", "-d", &classes];
        args.extend(files.iter().map(String::as_str));
        tool("javac", &args, &out);
        let path = ClassPath::from_entries(&[classes], Path::new("")).with_jdk(&java_home());
        Fixture::of(&path.open(17))
    })
}

/// A line of a fixture's source.
fn source(file: &str, line: u16) -> String {
    let text = std::fs::read_to_string(sources().join(format!("{file}.java"))).unwrap();
    text.lines().nth(usize::from(line) - 1).unwrap_or("?").trim().to_owned()
}

fn method_name(id: MethodId) -> String {
    let world = &fixture().world;
    String::from_utf8_lossy(world.signature(world.method(id).signature).0).into_owned()
}

fn states(options: &StateOptions) -> States {
    let Fixture { world, facts, calls } = fixture();
    States::of(world, facts, calls, options)
}

#[track_caller]
fn check_states(options: &StateOptions, class: &str, expected: &[&str]) {
    let states = states(options);
    let world = &fixture().world;
    let found = states.classes().iter().find(|it| world.show_type(it.class) == format!("shape.{class}"));
    let found = found.unwrap_or_else(|| panic!("{class} is no task class"));
    let shown: Vec<String> = states
        .of_class(found)
        .iter()
        .enumerate()
        .map(|(at, it)| {
            assert_eq!(usize::from(it.index), at);
            format!("{:?}: {}", it.kind, source("Tasks", it.line))
        })
        .collect();
    assert_eq!(shown, expected, "{class}");
}

#[test]
fn states_begin_where_a_branch_on_the_state_leads_to_an_action() {
    let plain = StateOptions::default();
    check_states(
        &plain,
        "Syncer",
        &[
            "Start: int logCount = 0;",
            "Branch: if (store.append(si)) {",
            "Branch: LOG.warning(\"Too busy to snap, skipping\");",
            "Branch: (snap = new Thread(() -> store.snapshot())).start();",
        ],
    );
    check_states(
        &plain,
        "Peer",
        &[
            "Start: while (running) {",
            "Branch: store.look();",
            "Branch: store.follow();",
            "Branch: store.lead();",
        ],
    );
    check_states(
        &plain,
        "Asking",
        &[
            "Start: if (shared > 0) {",
            "Branch: Store.touch(); // through a local",
            "Branch: limit = 0;",
            "Branch: Syncer.LOG.log(Level.SEVERE, \"this is\");",
            "Branch: Store.touch(); // behind a throw",
        ],
    );
    check_states(&plain, "Careful", &["Start: store.look();", "Handler: } catch (RuntimeException e) {"]);
    check_states(&plain, "Helped", &["Start: step();"]);
}

#[test]
fn helpers_and_other_types_of_tasks_are_looked_at_if_asked_for() {
    let helpers = StateOptions { helpers: true, ..StateOptions::default() };
    check_states(
        &helpers,
        "Helped",
        &["Start: step();", "Branch: Store.touch(); // in a helper", "Helper: Store.touch(); // a helper"],
    );
    let types = StateOptions { task_types: vec!["shape.Verb".into()], ..StateOptions::default() };
    check_states(&types, "PutVerb", &["Start: if (message > state) {", "Branch: state = message;"]);
}

#[test]
fn a_class_is_a_task_if_it_declares_the_task_method_with_a_body() {
    let states = states(&StateOptions::default());
    let Fixture { world, facts, .. } = fixture();
    let classes: Vec<String> = states.classes().iter().map(|it| world.show_type(it.class)).collect();
    let expected = ["shape.Asking", "shape.Careful", "shape.Helped", "shape.Peer", "shape.Syncer"];
    assert_eq!(classes, expected);
    let lambdas: Vec<String> =
        states.lambdas().iter().map(|it| source("Tasks", facts.call(it.call).line)).collect();
    assert_eq!(
        lambdas,
        ["pool.submit(() -> Store.touch());", "(snap = new Thread(() -> store.snapshot())).start();"]
    );
}

#[test]
fn loops_have_bounds_and_effects() {
    let Fixture { world, facts, calls } = fixture();
    let loops = LoopFacts::of(world, facts, calls);
    let shown = |method: &str| -> Vec<String> {
        let of =
            loops.all().iter().filter(|it| world.show_method(it.method) == format!("shape.Rounds.{method}"));
        of.map(|it| {
            let kinds = [Effect::Io, Effect::Sleep, Effect::Wait, Effect::Clock];
            let done = kinds
                .iter()
                .filter_map(|&kind| Some(format!(" {kind:?}@{}", it.effects.depth(kind)?).to_lowercase()));
            let timed = if it.is_timed { " timed" } else { "" };
            format!("{:?}{}{timed}", it.bound, done.collect::<String>())
        })
        .collect()
    };
    for (method, expected) in [
        ("constant", "Constant"),
        ("constantDown", "Constant"),
        ("constantTries", "Constant"),
        ("constantLong", "Constant"),
        ("upToField", "Open"),
        ("downFromField", "Open"),
        ("array", "Container"),
        ("arrayDown", "Container"),
        ("list", "Container"),
        ("each", "Container"),
        ("iterator", "Container"),
        ("forever", "Open"),
        ("jumps", "Open"),
        ("sometimes", "Open"),
        ("reads", "Open io@0"),
        ("sleeps", "Open sleep@0"),
        ("takes", "Open wait@0"),
        ("deep", "Open io@1"),
        ("overIterator", "Container"),
        ("timed", "Open clock@1 timed"),
        ("stamps", "Open clock@1"),
    ] {
        assert_eq!(shown(method), [expected], "{method}");
    }
    assert_eq!(loops.irreducible(), 0);
}

#[test]
fn loops_know_the_loops_around_and_beside_them() {
    let Fixture { world, facts, calls } = fixture();
    let loops = LoopFacts::of(world, facts, calls);
    let of = |method: &str| -> Vec<LoopId> {
        let is_there =
            |it: &LoopId| world.show_method(loops.get(*it).method) == format!("shape.Rounds.{method}");
        (0..loops.all().len() as u32).map(LoopId).filter(is_there).collect()
    };
    let nested = of("nested");
    assert_eq!(nested.len(), 3);
    let parents: Vec<Option<LoopId>> = nested.iter().map(|&it| loops.get(it).parent).collect();
    assert_eq!(parents, [None, Some(nested[0]), Some(nested[0])]);
    assert_eq!(loops.children(nested[0]), &nested[1..]);
    assert_eq!(loops.siblings(nested[1]), [nested[2]]);

    let (outer, innermost) = (of("outer")[0], of("innermost")[0]);
    assert_eq!(loops.get(innermost).called_from, Some(outer));
    assert_eq!(loops.children(outer), [innermost]);
    assert_eq!(loops.get(of("shared")[0]).called_from, None, "one of its calls is in no loop");

    let size = |method: &str| loops.get(of(method)[0]).reaches;
    assert!(size("outer") > size("innermost"));
    assert_eq!(size("forever"), 0);
    assert_eq!(loops.calls(outer).len(), 1);
}

#[test]
fn waits_have_limits() {
    let Fixture { world, facts, .. } = fixture();
    let waits = Waits::of(world, facts);
    let mut shown: Vec<String> = Vec::new();
    for it in waits.all() {
        let call = facts.call(it.call);
        assert_eq!(waits.get(it.call), Some(it));
        if world.show_type(world.method(call.method).owner) == "shape.Waiting" {
            let limit = match it.limit {
                Limit::None => "none".into(),
                Limit::Computed => "computed".into(),
                Limit::Millis(it) => format!("{it} ms"),
            };
            shown.push(format!("{} {:?} {limit}", source("Waiting", call.line), it.kind));
        }
    }
    let expected = [
        "it.wait(); Notify none",
        "it.wait(0); Notify none",
        "it.wait(500); Notify 500 ms",
        "it.wait(ticks); Notify computed",
        "Thread.sleep(MINUTE); Sleep 60000 ms",
        "TimeUnit.SECONDS.sleep(3); Sleep 3000 ms",
        "join(); End none",
        "join(100); End 100 ms",
        "queue.take(); Queue none",
        "queue.poll(2, TimeUnit.SECONDS); Queue 2000 ms",
        "queue.put(\"it\"); Queue none",
        "queue.offer(\"it\", 5, TimeUnit.MICROSECONDS); Queue 0 ms",
        "deque.takeFirst(); Queue none",
        "deque.pollLast(ticks, TimeUnit.HOURS); Queue computed",
        "future.get(); Result none",
        "future.get(1, TimeUnit.MINUTES); Result 60000 ms",
        "other.join(); Result none",
        "other.get(1, UNIT); Result computed",
        "latch.await(); Arrival none",
        "latch.await(7, TimeUnit.MILLISECONDS); Arrival 7 ms",
        "pool.awaitTermination(1, TimeUnit.DAYS); End 86400000 ms",
        "permits.acquire(); Lock none",
        "lock.lock(); Lock none",
        "lock.tryLock(9, TimeUnit.SECONDS); Lock 9000 ms",
        "condition.await(); Notify none",
        "condition.awaitNanos(3_000_000); Notify 3 ms",
        "LockSupport.park(); Notify none",
        "socket.connect(to); Connect none",
        "socket.connect(to, 250); Connect 250 ms",
        "server.accept(); Ready none",
        "selector.select(); Ready none",
        "selector.select(40); Ready 40 ms",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn detectors_have_what_their_result_comes_from() {
    let Fixture { world, facts, calls } = fixture();
    let detectors = Detectors::of(world, facts, calls, &Tests::of(world));
    let shown = |method: &str| {
        let is_it = |id: MethodId| world.show_method(id) == format!("shape.Detecting.{method}");
        let it = detectors.all().iter().find(|it| is_it(it.method)).unwrap_or_else(|| panic!("{method}"));
        let text = String::from_utf8_lossy;
        let mut feeds: Vec<String> =
            it.feeds.fields.iter().map(|&it| text(world.field_name(it)).into_owned()).collect();
        let callee = |it| world.signature(world.method_ref(facts.call(it).callee.unwrap()).signature).0;
        feeds.extend(it.feeds.calls.iter().map(|&it| format!("{}()", text(callee(it)))));
        feeds.extend(it.feeds.parameters.iter().map(|it| format!("p{it}")));
        feeds.extend(it.feeds.clock.then(|| "clock".into()));
        feeds.extend(it.feeds.caught.then(|| "caught".into()));
        (feeds.join(" "), it.is_used, it.reason)
    };
    for (method, feeds, is_used, reason) in [
        ("isStale", "last currentTimeMillis() p1 clock", true, None),
        ("isBroken", "broken", true, None),
        ("always", "", true, Some(Reason::Constant)),
        ("isLarge", "limit", true, Some(Reason::Final)),
        ("isEven", "p0", true, Some(Reason::Primitive)),
        ("exists", "exists()", true, None),
        ("works", "write() caught", true, None),
        ("decides", "broken p1", true, None),
        ("dropped", "broken", false, Some(Reason::Unused)),
        ("uncalled", "broken", false, Some(Reason::Unused)),
        ("byReference", "broken", true, None),
        ("contains", "all contains() p1", true, Some(Reason::General)),
        ("isKind", "isInstance() p1 p2", true, Some(Reason::Reflection)),
        ("equals", "last p1", true, Some(Reason::General)),
    ] {
        assert_eq!(shown(method), (feeds.to_owned(), is_used, reason), "{method}");
    }
    let of_tools = detectors.all().iter().find(|it| method_name(it.method) == "onlyForTests").unwrap();
    assert_eq!((of_tools.is_used, of_tools.reason), (true, Some(Reason::TestOnly)));
    assert_eq!(detectors.kept().filter(|it| it.reason.is_some()).count(), 0);
}

#[test]
fn tests_are_what_a_framework_would_run() {
    let world = &fixture().world;
    let tests = Tests::of(world);
    let shown: Vec<String> = tests
        .all()
        .iter()
        .map(|it| {
            let runner = if it.has_runner { " run with" } else { "" };
            let disabled = if it.is_disabled { " disabled" } else { "" };
            let class = world.show_type(it.class).replace("shape.", "");
            let line = source("Tested", it.line);
            format!("{class}.{} {:?}{runner}{disabled}: {line}", method_name(it.method), it.framework)
        })
        .collect();
    let expected = [
        "FifthTest.plain JUnit5: void plain() { System.gc(); }",
        "FifthTest.repeated JUnit5: void repeated() { System.gc(); }",
        "FifthTest.parameters JUnit5: void parameters(int it) { System.gc(); }",
        "FifthTest.off JUnit5 disabled: void off() { System.gc(); }",
        "FourthTest.own JUnit4 run with: public void own() { System.gc(); }",
        "FourthTest.ignored JUnit4 run with disabled: public void ignored() { System.gc(); }",
        "FourthTest.inherited JUnit4 run with: public void inherited() { System.gc(); }",
        "NgTest.first TestNg: public void first() { System.gc(); }",
        "ThirdTest.testByName JUnit3: public void testByName() { Tools.onlyForTests(3); }",
    ];
    assert_eq!(shown, expected);
    let find = |name: &str| world.find_type(name.as_bytes()).unwrap();
    assert_eq!(tests.runner(find("shape/FourthTest")), Some(&b"Ljava/lang/String;"[..]));
    assert!(tests.is_test_code(find("shape/FourthBase")));
    assert!(tests.is_test_code(find("shape/FifthTest$Inside")));
    assert!(!tests.is_test_code(find("shape/Tools")));
}

#[test]
fn shapes_do_not_depend_on_the_number_of_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fixture().shapes())
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn broken_classes_have_shapes_too() {
    fixture();
    let compiled = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shapes/classes/shape");
    let out = directory("broken-shapes");
    std::fs::create_dir_all(out.join("shape")).unwrap();
    let mut files: Vec<_> = std::fs::read_dir(compiled).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    // Xorshift: the same changes in every run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut readable = 0;
    for _ in 0..60 {
        for file in &files {
            let mut bytes = std::fs::read(file).unwrap();
            // The constants come first: changes there mostly make the class unreadable.
            let start = bytes.len() / 2;
            for _ in 0..3 {
                let at = start + next(bytes.len() - start);
                bytes[at] = next(256) as u8;
            }
            std::fs::write(out.join("shape").join(file.file_name().unwrap()), bytes).unwrap();
        }
        let entry = out.display().to_string();
        let fixture = Fixture::of(&ClassPath::from_entries(&[entry], Path::new("")).open(17));
        readable += fixture.world.system_classes().len();
        fixture.shapes();
    }
    assert!(readable > 60 * files.len() / 4, "{readable} of {}", 60 * files.len());
}
