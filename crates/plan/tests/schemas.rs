//! The published schemas are those of the types, and a document survives the way out and back.

use std::path::Path;

use hypocenter_plan::{
    Candidate, DumpedThread, Fault, Frame, Guard, Mdc, NodeRule, Outcome, Plan, PlanError, Record, Repeat,
    Site, SiteKind, StackGuard, ThreadDump, WaitsFor, Watch, WatchLevel,
};

/// Compares with the published file; `UPDATE_SCHEMAS=1` writes it again.
fn check(name: &str, schema: &schemars::Schema) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas").join(name);
    let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == text,
        "docs/schemas/{name} is not the schema of the type any more. If the change keeps old documents readable, run \
         UPDATE_SCHEMAS=1 cargo test -p hypocenter-plan; if not, raise FORMAT_VERSION too"
    );
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    check("plan.json", &schemars::schema_for!(Plan));
    check("outcome.json", &schemars::schema_for!(Outcome));
    check("dump.json", &schemars::schema_for!(ThreadDump));
}

fn sample() -> Plan {
    let site = Site {
        class: "org.acme.Store".into(),
        method: "append".into(),
        descriptor: "()V".into(),
        kind: SiteKind::Call,
        callee: Some("java.nio.channels.FileChannel.force(Z)V".into()),
        ordinal: 0,
        line: Some(12),
    };
    Plan {
        nodes: vec![
            NodeRule { name: "zk1".into(), threads: vec!["zk1-*".into()], mdc: None },
            NodeRule {
                name: "zk2".into(),
                threads: Vec::new(),
                mdc: Some(Mdc { key: "node".into(), value: "2".into() }),
            },
        ],
        candidates: vec![Candidate {
            site,
            fault: Fault::Exception { class: "java.io.IOException".into(), message: None },
            when: Guard {
                node: Some("zk1".into()),
                occurrence: Some(3),
                stack: Some(StackGuard::Suffix(vec!["a.B.c".into()])),
                ..Guard::default()
            },
            repeat: Repeat::Once,
        }],
        record: Record {
            watch: vec![Watch {
                kinds: vec![SiteKind::Block],
                classes: vec!["org.acme.*".into()],
                methods: vec!["append".into()],
                level: WatchLevel::Event,
            }],
            ..Record::default()
        },
        ..Plan::default()
    }
}

#[test]
fn a_plan_survives_the_way_out_and_back() {
    let text = serde_json::to_string(&sample()).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), sample());
    let least: Plan = serde_json::from_str(r#"{"version": 1}"#).unwrap();
    assert_eq!(least, Plan::default());
}

#[test]
fn a_steered_plan_is_read_and_checked() {
    let site = |kind: &str, callee: &str| {
        let callee = if callee.is_empty() { String::new() } else { format!(r#", "callee": "{callee}""#) };
        format!(
            r#"{{"class": "a.B", "method": "c", "descriptor": "()V", "kind": "{kind}", "ordinal": 0{callee}}}"#
        )
    };
    let read = |what: &str| serde_json::from_str::<Plan>(&format!(r#"{{"version": 1, {what}}}"#)).unwrap();
    let [branch, entry, int] = [site("branch", ""), site("entry", ""), site("constant", "int 5")];
    let plan = read(&format!(
        r#""order": [{{"first": {{"site": {entry}}}, "then": {{"site": {branch}, "when": {{"thread": "t"}}}}}}],
           "force": [{{"branch": {branch}, "way": "not_taken"}}],
           "set": [{{"constant": {int}, "value": {{"int": 7}}}}]"#
    ));
    assert_eq!(plan.order[0].at_most_ms, 2000);
    assert_eq!((plan.force[0].repeat, plan.set[0].repeat), (Repeat::Once, Repeat::Always));
    assert_eq!(plan.check(), Ok(()));
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    assert_eq!(plan.other_sites().count(), 4);
    let check = |what: String, expected: &str| {
        let error = read(&what).check().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let pair = |more: &str| {
        format!(r#""order": [{{"first": {{"site": {entry}}}, "then": {{"site": {branch}{more}}}"#)
    };
    check(pair("") + r#", "at_most_ms": 0}]"#, "order 0: at_most_ms 0");
    check(pair(r#", "when": {"occurrence": 0}"#) + "}]", "order 0, then: occurrence 0");
    check(pair(r#", "when": {"state": "s"}"#) + "}]", "order 0, then: state `s`");
    let one = format!(r#"{{"site": {entry}}}"#);
    check(format!(r#""order": [{{"first": {one}, "then": {one}}}]"#), "cannot come before itself");
    let force = |site: &str, more: &str| format!(r#""force": [{{"branch": {site}, "way": "taken"{more}}}]"#);
    check(force(&entry, ""), "takes no branch");
    check(force(&branch, r#", "repeat": {"times": 0}"#), "force 0: repeat 0");
    check(force(&branch, r#", "repeat": {"total_ms": 9}"#), "only delays have a length");
    let set = |site: &str, value: &str| format!(r#""set": [{{"constant": {site}, "value": {value}}}]"#);
    check(set(&branch, r#"{"int": 1}"#), "loads no constant");
    check(set(&int, r#"{"long": 1}"#), "type `int`, not `long`");
    check(set(&site("constant", "String int 5"), r#"{"int": 1}"#), "type `String`, not `int`");
}

#[test]
fn a_thread_dump_survives_the_way_out_and_back() {
    let thread = DumpedThread {
        name: "main".into(),
        id: 1,
        state: "BLOCKED".into(),
        daemon: Some(false),
        waits_for: Some(WaitsFor {
            lock: "a.Lock@1f".into(),
            owner: Some("other".into()),
            owner_id: Some(12),
        }),
        locks: vec!["a.Lock@20".into()],
        frames: vec![Frame { method: "a.B.c".into(), at: Some("B.java:3".into()) }],
    };
    let idle = DumpedThread { daemon: None, waits_for: None, locks: Vec::new(), ..thread.clone() };
    let dump = ThreadDump { version: 1, node: "zk1".into(), pid: 7, threads: vec![thread, idle] };
    let text = serde_json::to_string(&dump).unwrap();
    assert_eq!(serde_json::from_str::<ThreadDump>(&text).unwrap(), dump);
}

#[test]
fn a_plan_that_cannot_be_meant_is_refused_with_a_reason() {
    let check = |change: &dyn Fn(&mut Plan), expected: &str| {
        let mut plan = sample();
        change(&mut plan);
        let error = plan.check().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&|plan| plan.version = 2, "version 2");
    check(&|plan| plan.candidates[0].when.state = Some("s".into()), "no task of the plan has it");
    let enclosing = |plan: &mut Plan, kind| {
        plan.candidates[0].when.enclosing_loop = Some(Site { kind, ..plan.candidates[0].site.clone() });
    };
    check(&|plan| enclosing(plan, SiteKind::Call), "no site of kind loop_body");
    check(&|plan| enclosing(plan, SiteKind::LoopBody), "nobody follows the loops of org.acme.Store.append");
    check(&|plan| plan.candidates[0].when.occurrence = Some(0), "the first hit is number 1");
    check(&|plan| plan.candidates[0].when.probability = Some(1.5), "from 0 to 1");
    check(&|plan| plan.candidates[0].when.probability = Some(f64::NAN), "from 0 to 1");
    check(&|plan| plan.candidates[0].fault = Fault::Negate, "boolean_return");
    check(&|plan| plan.nodes[1].mdc = None, "node `zk2`: its rule names no threads");
    check(&|plan| plan.nodes[1].name = "zk1".into(), "node `zk1`: two rules");
    check(&|plan| plan.nodes[1].mdc.as_mut().unwrap().key = String::new(), "empty key");
    check(&|plan| plan.nodes[0].threads = vec!["*".into(); 1025], "more than 1024 patterns");
    assert_eq!(sample().check(), Ok(()));
    assert!(
        serde_json::from_str::<Plan>(r#"{"version": 1, "limt": 2}"#).is_err(),
        "a misspelt key is no default"
    );
    assert_eq!(Plan { version: 9, ..sample() }.check(), Err(PlanError::Version { found: 9 }));
}
