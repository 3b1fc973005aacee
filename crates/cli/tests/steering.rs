//! Instances that come in an order, branches that are forced, and constants that are set, in real JVMs.

mod support;

use serde_json::{Value, json};
use support::{Done, Jdk, Tool, each, jdks, jdks_with_virtual_threads, on_every_jdk, repeats};

const STEP: &str = "probe.Steer.step(Ljava/lang/String;)V";

fn site(method: &str, descriptor: &str, kind: &str, callee: Option<&str>) -> Value {
    let mut site = json!({
        "class": "probe.Steer", "method": method, "descriptor": descriptor, "kind": kind, "ordinal": 0,
    });
    if let Some(callee) = callee {
        site["callee"] = callee.into();
    }
    site
}

/// The late step before the early one.
fn order(first: &Value, then: &Value, at_most_ms: u64) -> Value {
    let late = site("late", "()V", "call_return", Some(STEP));
    let early = site("early", "()V", "call", Some(STEP));
    let first = json!({"site": late, "when": first});
    json!({"first": first, "then": {"site": early, "when": then}, "at_most_ms": at_most_ms})
}

fn run(jdk: &Jdk, plan: &Value, program: &str) -> Done {
    Tool::on(jdk, "run").args("--json").plan(plan).java(&format!("probe.Steer {program}"))
}

fn ordered(jdk: &Jdk, order: Value, program: &str) -> (Done, Value) {
    let done = run(jdk, &json!({"version": 1, "order": [order]}), program);
    let result = done.outcome()["steering"]["order"][0]["result"].clone();
    (done, result)
}

/// So long that only a lost order would come to it.
const LONG_MS: u64 = 60_000;

fn by_jdk(jdk: &&Jdk) -> String {
    format!("Java {}", jdk.feature)
}

#[test]
fn an_order_is_kept() {
    let by_name = (json!({"thread": "late"}), json!({"thread": "e*", "occurrence": 1}));
    let rows = [
        ("order", (json!({}), json!({})), "late early"),
        ("order", by_name.clone(), "late early"),
        ("interrupted", by_name, "late early interrupted"),
    ];
    let name = |(jdk, (program, ..)): &(&Jdk, &(&str, (Value, Value), &str))| {
        format!("{program} on Java {}", jdk.feature)
    };
    each(&on_every_jdk(&rows), name, |(jdk, (program, (first, then), said))| {
        let (done, result) = ordered(jdk, order(first, then, LONG_MS), program);
        let done = done.exits(0).says("kept");
        assert_eq!(done.program().trim(), *said);
        assert_eq!(result["end"], "kept", "{result:#}");
        let threads = (&result["first"]["thread"], &result["then"]["thread"]);
        assert_eq!(threads, (&json!("late"), &json!("early")), "{result:#}");
        assert!(result["waited_ms"].as_f64().is_some_and(|it| it < LONG_MS as f64), "{result:#}");
    });
}

#[test]
fn an_order_is_kept_in_every_run() {
    let runs = repeats(10);
    let plan = json!({"version": 1, "order": [order(&json!({}), &json!({}), LONG_MS)]});
    let tool = Tool::new("run").args(&format!("--json --repeat {runs}")).plan(&plan);
    let done = tool.java("probe.Steer order").exits(0);
    assert_eq!(done.outcome()["steered"], runs, "{}", done.stderr);
    for number in 0..runs {
        let said =
            done.directory().join(format!("hypocenter-out/latest/trials/{number:03}/logs/main.stdout.log"));
        assert_eq!(std::fs::read_to_string(said).unwrap().trim(), "late early", "trial {number}");
    }
    println!("kept in {runs} of {runs} runs");
}

#[test]
fn a_virtual_thread_gives_up_its_carrier_while_it_waits() {
    // With one carrier the other thread could not run else.
    let options = "-Djdk.virtualThreadScheduler.parallelism=1 -Djdk.virtualThreadScheduler.maxPoolSize=1";
    each(&jdks_with_virtual_threads(), by_jdk, |jdk| {
        let order = order(&json!({"thread": "late"}), &json!({"thread": "early"}), LONG_MS);
        let plan = json!({"version": 1, "order": [order]});
        let tool = Tool::on(jdk, "run").args("--json").plan(&plan);
        let done = tool.java_with(options, "probe.Steer virtual").exits(0);
        assert_eq!(done.program().trim(), "late early");
        assert_eq!(done.outcome()["steering"]["order"][0]["result"]["end"], "kept");
    });
}

#[test]
fn an_order_holds_between_jvms() {
    let order = order(&json!({"node": "b"}), &json!({"node": "a"}), LONG_MS);
    let plan = json!({"version": 1, "order": [order]});
    // The other JVM is started when this one has long reached its site.
    let script = "HYPOCENTER_NODE=a \"$JAVA\" -cp \"$CLASSES\" probe.Steer early & sleep 1\n\
                  HYPOCENTER_NODE=b \"$JAVA\" -cp \"$CLASSES\" probe.Steer late; wait";
    let done = Tool::new("run").args("--json").plan(&plan).script("probe", script).exits(0);
    let result = done.outcome()["steering"]["order"][0]["result"].clone();
    assert_eq!(result["end"], "kept", "{result:#}");
    let nodes = (&result["first"]["node"], &result["then"]["node"]);
    assert_eq!(nodes, (&json!("b"), &json!("a")), "{result:#}");
}

#[test]
fn an_order_that_a_lock_forbids_is_not_possible_and_names_it() {
    let rows =
        [("monitor", "probe.Steer$Gate@"), ("lock", "java.util.concurrent.locks.ReentrantLock$NonfairSync@")];
    let name = |(jdk, (program, _)): &(&Jdk, &(&str, &str))| format!("{program} on Java {}", jdk.feature);
    each(&on_every_jdk(&rows), name, |(jdk, (program, lock))| {
        for first in [json!({}), json!({"thread": "late"})] {
            let (done, result) = ordered(jdk, order(&first, &json!({}), 500), program);
            let done = done.exits(2).says("not possible");
            assert_eq!(done.program().trim(), "early late");
            assert_eq!(result["end"], "not_possible", "{result:#}");
            let why = result["why"].as_str().unwrap();
            assert!(why.contains("thread `early` waited "), "{why}");
            assert!(why.contains(&format!("holds the lock `{lock}")), "{why}");
            let other = if first == json!({}) { "needs" } else { "which thread `late` needs" };
            assert!(why.contains(other), "{why}");
        }
    });
}

#[test]
fn an_order_of_which_one_never_comes_ends() {
    let jdk = support::default_jdk();
    let (done, result) = ordered(jdk, order(&json!({}), &json!({}), 100), "early");
    done.exits(2);
    assert_eq!(result["end"], "not_possible", "{result:#}");
    assert!(result["why"].as_str().unwrap().contains("the other never came"), "{result:#}");
    let (done, result) = ordered(jdk, order(&json!({}), &json!({}), LONG_MS), "late");
    done.exits(2).says("not reached");
    assert_eq!(result["end"], "not_reached", "{result:#}");
    assert!(result["why"].as_str().unwrap().starts_with("then: "), "{result:#}");
}

#[test]
fn a_branch_is_forced() {
    let rows = [
        ("taken --at 2", "positive other positive", 1),
        ("taken --always", "other other other", 3),
        ("taken --at 2 --always", "positive other other", 2),
        ("not-taken", "positive positive positive", 1),
    ];
    let name = |(jdk, (flags, ..)): &(&Jdk, &(&str, &str, u64))| format!("{flags} on Java {}", jdk.feature);
    each(&on_every_jdk(&rows), name, |(jdk, (flags, said, times))| {
        let tool =
            Tool::on(jdk, "inject").arg("Steer.sign branch 0").args(&format!("--json --force {flags}"));
        let done = tool.java("probe.Steer branch 3").exits(0).says("forced");
        assert_eq!(done.program().split_whitespace().collect::<Vec<_>>().join(" "), *said);
        let fate = done.outcome()["steering"]["force"][0].clone();
        assert_eq!(fate["result"]["times"], *times, "{fate:#}");
        assert_eq!(fate["hits"], 3, "{fate:#}");
    });
}

/// A method, its descriptor, what it loads, the new value, and how the program prints it.
const CONSTANTS: [(&str, &str, &str, &str, &str); 8] = [
    ("five", "()I", "int 5", r#"{"int": -7}"#, "-7"),
    ("large", "()I", "int 1234567", r#"{"int": 2147483647}"#, "2147483647"),
    ("wide", "()J", "long 5000000000", r#"{"long": -1}"#, "-1"),
    ("zero", "()J", "long 0", r#"{"long": 9}"#, "9"),
    ("single", "()F", "float 1.5", r#"{"float": 0.25}"#, "0.25"),
    ("real", "()D", "double 2.5", r#"{"double": -0.5}"#, "-0.5"),
    ("text", "()Ljava/lang/String;", "String text", r#"{"string": "two words"}"#, "two words"),
    ("truth", "()Z", "int 1", r#"{"int": 0}"#, "false"),
];

#[test]
fn constants_of_every_type_are_set() {
    let set = CONSTANTS.map(|(method, descriptor, loads, value, _)| {
        let value: Value = serde_json::from_str(value).unwrap();
        json!({"constant": site(method, descriptor, "constant", Some(loads)), "value": value})
    });
    let expected = CONSTANTS.map(|it| it.4).join(" ");
    each(
        jdks(),
        |jdk| by_jdk(&jdk),
        |jdk| {
            let done = run(jdk, &json!({"version": 1, "set": set}), "constants 2").exits(0);
            assert_eq!(done.program().lines().collect::<Vec<_>>(), [expected.as_str(); 2]);
            let outcome = done.outcome();
            let fates = outcome["steering"]["set"].as_array().unwrap();
            assert!(fates.iter().all(|it| it["result"]["times"] == 2), "{outcome:#}");
        },
    );
}

#[test]
fn a_constant_is_set_by_inject_and_again_by_replay() {
    let tool = Tool::new("inject").arg("Steer.large constant int 1234567").args("--json --set 3 --at 2");
    let done = tool.java("probe.Steer constants 3").exits(0).says("set");
    let said = done.program();
    let large = said.lines().map(|it| it.split(' ').nth(1).unwrap()).collect::<Vec<_>>();
    assert_eq!(large, ["1234567", "3", "3"]);
    let replayed = std::process::Command::new(env!("CARGO_BIN_EXE_hypocenter"))
        .args(["replay", "--json"])
        .current_dir(done.directory())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&replayed.stderr);
    assert_eq!(replayed.status.code(), Some(0), "{told}");
    assert!(told.contains("set at hit 2") && told.contains("the same in 1 of 1"), "{told}");
}

#[test]
fn an_order_is_kept_by_inject() {
    let tool = Tool::new("inject").arg("Steer.late <- Steer.step").args("--json --at-most 60s --thread late");
    let tool = tool.args("--before-thread early --before").arg("Steer.early -> Steer.step");
    let done = tool.java("probe.Steer order").exits(0).says("kept");
    assert_eq!(done.program().trim(), "late early");
}

#[test]
fn what_cannot_be_steered_is_said() {
    let branch = site("sign", "(I)Ljava/lang/String;", "branch", None);
    let five =
        |value: Value| json!({"constant": site("five", "()I", "constant", Some("int 5")), "value": value});
    let late = json!({"site": site("late", "()V", "call_return", Some(STEP))});
    let unknown = json!({"site": site("nobody", "()V", "entry", None)});
    let exception = json!({
        "site": site("early", "()V", "call", Some(STEP)),
        "fault": {"kind": "exception", "class": "java.io.IOException"},
    });
    let rows = [
        (
            json!({"force": [{"branch": site("five", "()I", "entry", None), "way": "taken"}]}),
            "takes no branch",
        ),
        (
            json!({"force": [{"branch": branch, "way": "taken", "when": {"occurrence": 0}}]}),
            "force 0: occurrence 0",
        ),
        (json!({"set": [five(json!({"string": "x"}))]}), "loads a value of type `int`, not `String`"),
        (json!({"set": [{"constant": branch, "value": {"int": 1}}]}), "loads no constant"),
        (json!({"order": [order(&json!({}), &json!({}), 0)]}), "at_most_ms 0"),
        (json!({"order": [{"first": late, "then": late}]}), "cannot come before itself"),
        (json!({"order": [{"first": late, "then": unknown}]}), "order 0, then: `probe.Steer.nobody"),
        (
            json!({"order": [order(&json!({}), &json!({}), 9)], "candidates": [exception]}),
            "let another site wait",
        ),
    ];
    each(
        &rows,
        |(_, says)| says.to_string(),
        |(plan, says)| {
            let mut plan = plan.clone();
            plan["version"] = 1.into();
            run(support::default_jdk(), &plan, "early").exits(1).says(says);
        },
    );
    let inject = |site: &str, flags: &str| {
        Tool::new("inject").arg(site).args(flags).java("probe.Steer early").exits(1)
    };
    inject("Steer.large constant", "--set words").says("loads a value of type int");
    inject("Steer.early", "--set 5").says("loads no constant");
    inject("Steer.early", "--force taken").says("takes no branch");
    inject("Steer.* branch", "--force taken").says("sites fit");
}
