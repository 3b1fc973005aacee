//! What hooks see: each access with its object and its value, and each operation between threads with its objects.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_engine::Evidence;
use hypocenter_lab::{evidence_of, finished};
use hypocenter_plan::{OperationKind, SiteKind};
use hypocenter_trace::{Dictionary, SiteId, TracedOperation, TracedValue};
use support::{Done, Jdk, Tool, each, jdks};

/// A run of a program that has ended by itself or was halted.
struct Seen {
    evidence: Evidence,
    dictionary: Dictionary,
    values: Vec<TracedValue>,
    operations: Vec<TracedOperation>,
}

impl Seen {
    fn of(done: &Done) -> Seen {
        let evidence = evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap();
        let trace = evidence.trace().unwrap();
        let jvms = trace.jvms();
        let [jvm] = jvms.as_slice() else { panic!("one JVM is expected") };
        let (dictionary, values) = (trace.dictionary(jvm), trace.values(jvm).collect());
        let mut operations: Vec<TracedOperation> = trace.operations(jvm).collect();
        operations.sort_by_key(|it| it.span);
        Seen { evidence, dictionary, values, operations }
    }

    fn kind(&self, site: SiteId) -> SiteKind {
        self.evidence.map().unwrap().kind(site).unwrap()
    }

    /// What was seen in a method at sites of some kinds, each as text, in order. Objects are lettered as they come.
    fn told(&self, method: &str, kinds: &[SiteKind]) -> Vec<String> {
        let map = self.evidence.map().unwrap();
        let mut letters: BTreeMap<u64, char> = BTreeMap::new();
        let mut letter = |id: u64| {
            let next = char::from(b'a' + letters.len() as u8);
            *letters.entry(id).or_insert(next)
        };
        let mut all = Vec::new();
        for it in self.values.iter().filter(|it| kinds.contains(&self.kind(it.site))) {
            let site = map.site(it.site).unwrap();
            if site.method != method {
                continue;
            }
            let callee = site.callee.as_deref().unwrap_or("");
            let short = callee.split('(').next().unwrap().rsplit('.').next().unwrap();
            let mut words = vec![site.kind.name().to_owned(), short.to_owned()];
            if it.part > 0 {
                words.push(format!("part {}", it.part));
            }
            if it.object.0 != 0 {
                words.push(format!("of {}", letter(it.object.0)));
            }
            if matches!(site.kind, SiteKind::ArrayRead | SiteKind::ArrayWrite) {
                words.push(format!("[{}]", it.index));
            }
            match it.value.object() {
                Some(object) => words.push(format!("= {}", letter(object.0))),
                None => words.push(format!("= {}", it.value)),
            }
            if site.kind == SiteKind::Branch && it.index != 0 {
                let is_object = it.value.object().is_some();
                let other =
                    if is_object { letter(it.index as u64).to_string() } else { it.index.to_string() };
                words.push(format!("with {other}"));
            }
            words.retain(|it| !it.is_empty() && it != "= ");
            all.push(words.join(" "));
        }
        all
    }
}

const KINDS: &str =
    "field,array,allocation,monitor,call,call_return,entry,exit,unwind,branch,switch,loop_entry,block";

fn accesses(jdk: &Jdk) {
    use SiteKind::*;
    let tool = Tool::on(jdk, "run").args("--packages probe.Values --json --lossless --record values --hook");
    let done = tool.arg(KINDS).java_with("-Xverify:all -XX:+UseSerialGC", "probe.Values").exits(0);
    assert_eq!(done.program(), "done\n");
    let seen = Seen::of(&done);
    let check = |method: &str, kinds: &[SiteKind], expected: &[&str]| {
        assert_eq!(seen.told(method, kinds), expected, "{method}");
    };
    check(
        "fields",
        &[FieldRead, FieldWrite],
        &[
            "field_write number of a = 11",
            "field_write wide of a = 1099511627776",
            "field_write part of a = 0.5",
            "field_write big of a = -2.25",
            "field_write flag of a = 1",
            "field_write small of a = -1",
            "field_write other of a = a",
            "field_read number of a = 11",
            "field_read wide of a = 1099511627776",
            "field_read part of a = 0.5",
            "field_read big of a = -2.25",
            "field_read flag of a = 1",
            "field_read small of a = -1",
            "field_read other of a = a",
            "field_read number of a = 11",
            "field_write number of a = -2147483637",
        ],
    );
    check(
        "statics",
        &[FieldRead, FieldWrite],
        &[
            "field_write shared = 2199023255552",
            "field_write thing = a",
            "field_read shared = 2199023255552",
            "field_read thing = a",
            "field_write wide of a = 2199023255553",
        ],
    );
    check(
        "arrays",
        &[ArrayRead, ArrayWrite, Allocation],
        &[
            "allocation int[] of a",
            "allocation long[] of b",
            "allocation double[] of c",
            "allocation byte[] of d",
            "allocation Values[] of e",
            "allocation int[][] of f",
            "array_write of a [1] = 21",
            "array_write of b [2] = 4398046511104",
            "array_write of c [3] = 3.5",
            "array_write of d [0] = -5",
            "array_write of e [1] = g",
            "array_write of e [2] = null",
            "array_read of f [1] = h",
            "array_write of h [2] = 22",
            "array_read of a [1] = 21",
            "array_read of b [2] = 4398046511104",
            "array_read of c [3] = 3.5",
            "array_read of d [0] = -5",
            "array_read of f [1] = h",
            "array_read of h [2] = 22",
            "array_read of e [1] = g",
            "array_read of e [2] = null",
        ],
    );
    // The inner one is made first.
    let made = ["allocation Values of a", "allocation Values of b", "allocation StringBuilder of c"];
    check("constants", &[Allocation], &made);
    check(
        "calls",
        &[Entry, Call, CallReturn, Exit],
        &[
            "entry = a",
            "entry part 1 = 5",
            "entry part 2 = -6",
            "entry part 3 = 1.5",
            "entry part 4 = 2.5",
            "entry part 5 = b",
            "entry part 6 = c",
            "entry",
            "call chain = a",
            "call chain part 1 = 5",
            "call chain part 2 = -6",
            "call chain part 3 = 1.5",
            "call chain part 4 = 2.5",
            "call chain part 5 = b",
            "call chain part 6 = c",
            "call chain",
            "call_return chain = 7",
            "call_return chain",
            "call other part 1 = a",
            "call other",
            "call_return other = 7",
            "call_return other",
            "exit = 14",
            "exit",
        ],
    );
    // A branch leaves its operands, and whether it is taken. The jump goes around what is guarded.
    check(
        "branches",
        &[Branch, Switch],
        &[
            "branch = 9 with 5",
            "branch",
            "branch = a with b",
            "branch part 1",
            "branch = a",
            "branch",
            "switch = 9",
            "switch",
            "branch = 9 with 7",
            "branch",
            "branch = 8 with 7",
            "branch",
            "branch = 7 with 7",
            "branch part 1",
        ],
    );
    let taken_and_given = ["monitor_enter of a", "monitor_exit of a"];
    let twice = ["monitor_enter of a", "monitor_exit of a", "monitor_enter of b", "monitor_exit of b"];
    check("locks", &[MonitorEnter, MonitorExit], &twice);
    check("held", &[MonitorEnter, MonitorExit], &[taken_and_given, taken_and_given].concat());
    check("heldByClass", &[MonitorEnter, MonitorExit], &taken_and_given);
    let problems = done.outcome()["problems"].to_string();
    assert!(
        problems.contains("this$0") && problems.contains("has not called that of the superclass"),
        "{problems}"
    );
}

#[test]
fn each_access_is_seen_with_its_object_and_value() {
    each(&jdks().iter().collect::<Vec<_>>(), |jdk| format!("Java {}", jdk.feature), |jdk| accesses(jdk));
}

const OBJECTS: usize = 200_000;

fn identities(jdk: &Jdk) {
    let tool = Tool::on(jdk, "run").args("--packages probe.Identity --json --lossless --record values");
    let done = tool.args("--hook array").java(&format!("probe.Identity {OBJECTS}")).exits(0);
    let seen = Seen::of(&done);
    // By array and place, the numbers under which threads saw what is there.
    let mut places: BTreeMap<(u64, i64), Vec<u64>> = BTreeMap::new();
    for it in &seen.values {
        places.entry((it.object.0, it.index)).or_default().push(it.value.object().map_or(0, |it| it.0));
    }
    // The other array is that of the threads.
    let largest = places.keys().max_by_key(|it| it.1).expect("arrays were accessed").0;
    let objects = places.iter().filter(|it| it.0.0 == largest);
    let objects: Vec<&Vec<u64>> = objects.map(|it| it.1).collect();
    assert_eq!(objects.len(), OBJECTS);
    // Written once, read by two threads.
    let has_one = |it: &&Vec<u64>| it[0] != 0 && ***it == [it[0]; 3];
    assert!(objects.iter().all(has_one), "one number each");
    let numbers: BTreeSet<u64> = objects.iter().map(|it| it[0]).collect();
    assert_eq!(numbers.len(), OBJECTS, "no two have the same");
}

#[test]
fn no_two_objects_have_one_number_and_no_object_has_two() {
    each(&jdks().iter().collect::<Vec<_>>(), |jdk| format!("Java {}", jdk.feature), |jdk| identities(jdk));
}

/// An operation between threads with names for what it has numbers for.
struct Told<'s> {
    thread: &'s str,
    kind: OperationKind,
    on: &'s str,
    it: &'s TracedOperation,
}

impl Seen {
    fn handed(&self) -> Vec<Told<'_>> {
        let name = |id: u32| {
            let name = self.dictionary.string(id);
            name.rsplit(['.', '$']).next().unwrap_or(name)
        };
        let mut all = Vec::with_capacity(self.operations.len());
        for it in &self.operations {
            let thread = self.dictionary.thread_name(it.thread);
            all.push(Told { thread, kind: it.kind, on: name(it.resource), it });
        }
        all
    }
}

fn find<'s>(all: &'s [Told<'s>], thread: &str, kind: OperationKind, on: &str) -> Vec<&'s TracedOperation> {
    let is_it = |it: &&Told<'_>| it.thread == thread && it.kind == kind && it.on == on && it.it.has_ended();
    all.iter().filter(is_it).map(|it| it.it).collect()
}

fn handovers(jdk: &Jdk) {
    use OperationKind::*;
    let tool = Tool::on(jdk, "run").args("--packages probe.Handovers --json --lossless --record stacks");
    let done =
        tool.args("--hook thread").java_with("-Xverify:all -XX:+UseSerialGC", "probe.Handovers").exits(0);
    assert_eq!(done.program(), "done\n");
    assert_eq!(
        done.outcome()["problems"].to_string(),
        "[]",
        "each method of the list is there, and has a hook"
    );
    let seen = Seen::of(&done);
    let all = seen.handed();
    let one = |thread: &str, kind, on: &str| {
        let found = find(&all, thread, kind, on);
        *found.first().unwrap_or_else(|| panic!("{thread}: no {kind} on {on}"))
    };
    // Who waits is let go by who gives the sign on the same object: it comes between begin and end.
    for (waiter, wait, giver, sign, on) in [
        ("main", Wait, "notifier", Notify, "Object"),
        ("parked", Park, "main", Unpark, "Thread"),
        ("main", Wait, "signaller", Notify, "ConditionObject"),
        ("main", Wait, "counter", Notify, "CountDownLatch"),
        ("main", Wait, "completer", Notify, "CompletableFuture"),
    ] {
        let (wait, sign) = (one(waiter, wait, on), one(giver, sign, on));
        assert_eq!(wait.object, sign.object, "{waiter} and {giver}: {on}");
        assert!(sign.span.0 < wait.span.1, "{waiter} is let go by {giver}: {on}");
    }
    let failed = find(&all, "main", Notify, "Object");
    let failed: Vec<&str> = failed.iter().map(|it| seen.dictionary.string(it.failed)).collect();
    assert_eq!(failed, ["java.lang.IllegalMonitorStateException"]);
    // A started thread is named by its Java id, and joined as the same object.
    let started = find(&all, "main", ThreadStart, "Thread");
    let taker = started.iter().find(|it| {
        let of_thread = |other: &&Told<'_>| {
            seen.dictionary.thread_java_id(other.it.thread) == Some(it.result as u64)
                && other.thread == "taker"
        };
        all.iter().any(|other| of_thread(&other))
    });
    let joined = find(&all, "main", ThreadJoin, "Thread");
    assert!(taker.is_some_and(|it| joined.iter().any(|other| other.object == it.object)));
    // Locks: taken, not taken, given back.
    let results = |on: &str| find(&all, "main", Acquire, on).iter().map(|it| it.result).collect::<Vec<_>>();
    assert_eq!(results("Semaphore"), [0, 1]);
    assert_eq!(results("ReentrantLock")[0], 1);
    let lock = one("main", Acquire, "ReentrantLock").object;
    assert!(find(&all, "signaller", Release, "ReentrantLock").iter().any(|it| it.object == lock));
    // What goes into a queue comes out of it.
    let of = |found: Vec<&TracedOperation>| {
        found.iter().map(|it| (it.object, it.other_object)).collect::<Vec<_>>()
    };
    let (put, taken) = (
        of(find(&all, "main", Enqueue, "LinkedBlockingQueue")),
        of(find(&all, "taker", Dequeue, "LinkedBlockingQueue")),
    );
    assert_eq!(put[..2], taken[..2]);
    assert_eq!((taken.len(), taken[2].1.0), (3, 0), "the last finds nothing");
    // Work is done by another thread, whether it goes there by a queue or with the thread.
    for (thread, executor) in
        [("pool", "ThreadPoolExecutor"), ("later", "ScheduledThreadPoolExecutor"), ("timer", "Timer")]
    {
        let given: Vec<_> = find(&all, "main", Enqueue, executor).iter().map(|it| it.other_object).collect();
        let done = all.iter().filter(|it| it.thread == thread && it.kind == Handle && it.it.has_ended());
        let done: Vec<_> = done.map(|it| it.it.object).collect();
        assert!(!given.is_empty());
        assert_eq!(given, done, "{executor}");
    }
    if jdk.feature >= 21 {
        let started = find(&all, "main", ThreadStart, "VirtualThread");
        assert_eq!(started.len(), 2);
        for it in started {
            let of_thread = |other: &&Told<'_>| {
                seen.dictionary.thread_java_id(other.it.thread) == Some(it.result as u64)
                    && other.it.has_ended()
            };
            let did: Vec<OperationKind> = all.iter().filter(of_thread).map(|it| it.kind).collect();
            assert_eq!(did, [Dequeue, Enqueue], "a virtual thread that waits keeps what it is in");
        }
    }
}

#[test]
fn what_threads_do_with_each_other_is_seen_with_its_objects() {
    each(&jdks().iter().collect::<Vec<_>>(), |jdk| format!("Java {}", jdk.feature), |jdk| handovers(jdk));
}

fn waiting_for_ever(jdk: &Jdk) {
    let tool = Tool::on(jdk, "run").args("--packages probe.Handovers --json --lossless --record stacks");
    let done = tool.args("--hook thread").java("probe.Handovers hang");
    let seen = Seen::of(&done);
    let all = seen.handed();
    let waits: Vec<&Told<'_>> = all.iter().filter(|it| it.on == "CountDownLatch").collect();
    assert_eq!(waits.len(), 1);
    assert_eq!(
        (waits[0].thread, waits[0].kind, waits[0].it.has_ended()),
        ("main", OperationKind::Wait, false)
    );
    let stack = seen.dictionary.stack(waits[0].it.stack);
    assert_eq!(stack[1].0, "probe.Handovers.hang", "{stack:?}");
}

#[test]
fn who_waits_when_the_jvm_is_killed_is_known() {
    each(
        &jdks().iter().collect::<Vec<_>>(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| waiting_for_ever(jdk),
    );
}
