//! Fault sites of compiled fixtures: what lives in memory, what the system creates, how sites are named.

use std::path::Path;
use std::sync::OnceLock;

use hypocenter_plan::Site;
use hypocenter_program::{
    CallGraph, CallId, ClassPath, Classes, Exceptions, Facts, FaultKind, FaultSites, InMemory, Memory, Scope,
    World, find_sites, load, name_calls,
};

use crate::tools::{directory, java_home, tool};

struct Target {
    classes: Classes,
    world: World,
    facts: Facts,
    memory: Memory,
    faults: FaultSites,
}

fn target() -> &'static Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let root = directory("faults");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/faults");
        let files = ["Streams.java", "Records.java", "Made.java", "shelf/Shelf.java"];
        tool("javac", &[&["-g", "-d", root.to_str().unwrap()], &files[..]].concat(), &sources);
        let path = ClassPath::parse(root.to_str().unwrap(), Path::new("")).with_jdk(&java_home());
        let classes = path.open(17);
        let (world, problems) = load(&classes, &Scope::of(&["faults".into()]));
        assert_eq!(problems, []);
        let facts = Facts::of(&world);
        let calls = CallGraph::of(&world, &facts);
        let exceptions = Exceptions::of(&world, &facts, &calls);
        let memory = Memory::of(&world, &facts, &calls);
        let faults = FaultSites::of(&world, &facts, &calls, &exceptions, &memory);
        Target { classes, world, facts, memory, faults }
    })
}

/// The calls in a method, such as `Streams.direct`, of what has this name.
fn calls(method: &str, callee: &str) -> Vec<CallId> {
    let Target { world, facts, .. } = target();
    let fits = |id: &CallId| {
        let call = facts.call(*id);
        let name = call.callee.map(|it| world.signature(world.method_ref(it).signature).0);
        world.show_method(call.method) == format!("faults.{method}") && name == Some(callee.as_bytes())
    };
    (0..facts.calls().len() as u32).map(CallId).filter(fits).collect()
}

fn call(method: &str, callee: &str) -> CallId {
    *calls(method, callee).last().unwrap_or_else(|| panic!("{method} does not call {callee}"))
}

fn why(call: CallId) -> Vec<String> {
    target().memory.why(call).iter().map(|it| it.show(&target().world).to_string()).collect()
}

#[test]
fn streams_in_memory_are_told_from_others() {
    use InMemory::{Always, Never, Sometimes};
    let rows = [
        ("direct", "write", Always),
        ("knownAsStream", "write", Always),
        ("file", "write", Never),
        ("wrappedTwice", "writeInt", Always),
        ("wrappedFile", "writeInt", Never),
        ("constructorReads", "<init>", Always),
        ("eitherWay", "write", Sometimes),
        ("memoryEitherWay", "write", Always),
        ("grown", "write", Always),
        ("grownFile", "write", Never),
        ("fieldBehindCalls", "write", Always),
        ("fieldOfBoth", "write", Sometimes),
        ("fieldOrNull", "write", Always),
        ("mixedParameter", "write", Sometimes),
        ("memoryParameter", "write", Always),
        ("noCaller", "write", Never),
        ("recursive", "write", Always),
        ("recursiveFile", "write", Sometimes),
        ("factoryMemory", "writeInt", Always),
        ("factoryFile", "writeInt", Never),
        ("recursiveFactoryMemory", "write", Always),
        ("recursiveFactoryFile", "write", Never),
        ("writer", "write", Always),
        ("reader", "readLine", Always),
        ("nothing", "write", Always),
        ("base64", "write", Always),
        ("base64File", "write", Never),
        ("channelOnMemory", "write", Always),
        ("channel", "write", Never),
        ("socket", "write", Never),
        ("pipe", "write", Never),
        ("load", "load", Always),
        ("loadFile", "load", Never),
        ("copyIn", "copy", Never),
        ("transferOut", "transferTo", Sometimes),
        ("closed", "close", Always),
        ("ownStream", "readInt", Always),
        ("ownConnection", "read", Never),
        ("Archive.put", "writeInt", Sometimes),
        ("ownBuffer", "writeInt", Always),
        ("Buffer.fill", "write", Always),
        ("ownLog", "writeInt", Never),
        ("Log.fillLog", "write", Never),
        ("lambda$capture$0", "write", Always),
        ("element", "write", Never),
        ("object", "readObject", Always),
    ];
    check_streams("Streams", &rows);
}

#[test]
fn what_works_on_an_argument_is_in_memory_only_if_its_implementations_are() {
    use InMemory::{Always, Never, Sometimes};
    let rows = [
        ("inMemory", "serialize", Always),
        ("toFile", "serialize", Never),
        ("toSocket", "serialize", Never),
        ("mixed", "serialize", Sometimes),
        ("memory", "serialize", Always),
        ("nested", "serialize", Always),
        ("nestedFile", "serialize", Sometimes),
        ("filed", "serialize", Sometimes),
        ("deep", "serialize", Sometimes),
        ("holding", "serialize", Sometimes),
        ("opaque", "serialize", Sometimes),
        ("handing", "serialize", Sometimes),
        ("listed", "serialize", Always),
        ("text", "serialize", Always),
        ("emitted", "emit", Never),
        ("unseen", "serialize", Always),
        // Libraries may call what implements theirs, with anything.
        ("Plain.serialize", "put", Sometimes),
    ];
    check_streams("Records", &rows);
}

/// Checks what calls in methods of a fixture, or of a class in it, work on.
fn check_streams(fixture: &str, rows: &[(&str, &str, InMemory)]) {
    let mut wrong = Vec::new();
    for &(method, callee, expected) in rows {
        let (class, method) = method
            .split_once('.')
            .map_or((fixture.into(), method), |(it, method)| (format!("{fixture}${it}"), method));
        let id = call(&format!("{class}.{method}"), callee);
        let found = target().memory.verdict(id);
        if found != Some(expected) {
            wrong.push(format!("{class}.{method}: {found:?} and not {expected:?}: {:#?}", why(id)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_reason_leads_from_the_call_to_where_the_stream_is_made() {
    assert_eq!(
        why(call("Streams.fieldBehindCalls", "write")),
        [
            "faults.Streams.keep:80 writes faults.Streams.held",
            "faults.Streams.take:76 gives parameter 1 of faults.Streams.keep",
            "faults.Streams.hold:72 gives parameter 1 of faults.Streams.take",
            "faults.Streams.hold:72 has java.io.ByteArrayOutputStream in memory",
        ]
    );
}

/// The faults at a call: `external X`, `new X by Creator.method`, `delay`, `crash`.
fn faults(id: CallId) -> Vec<String> {
    let Target { world, faults, .. } = target();
    let list =
        |it: &FaultKind| it.exceptions().iter().map(|&it| world.show_type(it)).collect::<Vec<_>>().join(" ");
    let show = |kind: &FaultKind| match kind {
        FaultKind::External { .. } => format!("external {}", list(kind)),
        FaultKind::New { creators, .. } => {
            let by: Vec<String> = creators.iter().map(|&it| world.show_method(it)).collect();
            format!("new {} by {}", list(kind), by.join(" ")).replace("faults.", "")
        }
        other => other.name().into(),
    };
    faults.sites().iter().filter(|it| it.call == id).map(|it| show(&it.kind)).collect()
}

#[test]
fn calls_have_the_faults_that_can_happen_there() {
    let check = |method: &str, callee: &str, expected: &[&str]| {
        assert_eq!(faults(call(method, callee)), expected, "{method} -> {callee}");
    };
    check("Made.throughInterface", "put", &["new Made$Broken by Made$Picky.put"]);
    check("Made.callsWraps", "wraps", &[]);
    check("Made.wraps", "<init>", &[]);
    check("Made.callsCaughtInside", "caughtInside", &[]);
    check(
        "Made.callsThrownAgain",
        "caughtAndThrownAgain",
        &["new java.io.EOFException by Made.caughtAndThrownAgain"],
    );
    check("Made.callsFactory", "factory", &["new Made$Broken by Made.factory"]);
    check("Made.factory", "make", &[]);
    check("Made.makesAndKeeps", "make", &[]);
    check("Made.constructor", "<init>", &["new java.io.IOException by Made.<init>"]);
    check("Made.onlyDeeper", "constructor", &[]);
    check("Made.number", "parseInt", &["external java.lang.NumberFormatException"]);
    check("Made.submit", "submit", &[]);
    check(
        "Made.several",
        "get",
        &[
            "external java.lang.InterruptedException java.util.concurrent.ExecutionException java.util.concurrent.TimeoutException",
        ],
    );
    check("Made.quiet", "append", &[]);
    check("Made.rename", "renameTo", &["delay", "crash"]);
    check("Made.force", "force", &["external java.io.IOException", "delay", "crash"]);
    check("Made.printOut", "println", &["delay", "crash"]);
    check("Made.printText", "println", &[]);
    check("Made.create", "<init>", &["external java.io.FileNotFoundException", "delay", "crash"]);
    check("Made.readOne", "read", &["external java.io.IOException", "delay"]);
    check("Records.inMemory", "serialize", &[]);
    check("Records.filed", "serialize", &["external java.io.IOException", "delay", "crash"]);
    // In memory nothing can fail, nothing takes long and nobody sees it.
    check("Streams.direct", "write", &[]);
    check("Streams.object", "readObject", &["external java.lang.ClassNotFoundException"]);
    check("Streams.mixedParameter", "write", &["external java.io.IOException", "delay", "crash"]);
}

#[test]
fn what_is_dropped_is_told() {
    let Target { world, faults, .. } = target();
    let of = |id: CallId| faults.dropped().iter().find(|it| it.call == id);
    let dropped = of(call("Streams.object", "readObject")).unwrap();
    let names: Vec<String> = dropped.exceptions.iter().map(|&it| world.show_type(it)).collect();
    assert_eq!(names, ["java.io.IOException"]);
    assert_eq!(of(call("Streams.mixedParameter", "write")), None);
}

#[test]
fn every_fault_site_is_the_site_that_a_pattern_finds() {
    let Target { classes, world, facts, faults, .. } = target();
    let calls: Vec<CallId> = faults.sites().iter().map(|it| it.call).collect();
    let named = name_calls(world, facts, &calls);
    for (site, id) in named.iter().zip(&calls) {
        let site = site.as_ref().expect("every call has a name");
        let pattern = format!(
            "{}.{}{} -> {} #{}",
            site.class,
            site.method,
            site.descriptor,
            site.callee.as_deref().unwrap(),
            site.ordinal
        );
        let found = find_sites(classes, &pattern.parse().unwrap());
        assert_eq!(found.sites, std::slice::from_ref(site), "{pattern} {}", found.suggestions);
        assert_eq!(site.line, Some(facts.call(*id).line.into()));
    }
    let syncs = calls_named(&named, "forceTwice", "sync");
    assert_eq!(
        syncs,
        [
            "faults.Made.forceTwice:144 -> java.io.FileDescriptor.sync",
            "faults.Made.forceTwice:145 -> java.io.FileDescriptor.sync #1"
        ]
    );
}

fn calls_named(named: &[Option<Site>], method: &str, callee: &str) -> Vec<String> {
    let fits = |it: &&Site| it.method == method && it.callee.as_deref().is_some_and(|it| it.contains(callee));
    let mut shown: Vec<String> = named.iter().flatten().filter(fits).map(Site::to_string).collect();
    shown.dedup();
    shown
}

#[test]
fn a_summary_counts_what_there_is() {
    let Target { world, facts, faults, .. } = target();
    let summary = faults.summary(world, facts);
    let total = summary.external + summary.new + summary.delay + summary.crash;
    assert_eq!(total, faults.sites().len());
    assert_eq!(summary.in_memory, faults.dropped().len());
    assert_eq!(world.show_type(summary.by_exception[0].0), "java.io.IOException");
    let sites: usize = summary.by_class.iter().map(|it| it.1).sum();
    assert_eq!(sites, summary.external + summary.new);
}
