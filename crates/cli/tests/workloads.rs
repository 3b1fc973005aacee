//! Workloads of `hypocenter.toml`: clusters of small processes, their ends, and what can be wrong with them.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{Done, Tool, can_mount, classes, default_jdk, each, skip};

/// A configuration: the target's classes, and whatever else.
fn config(rest: &str) -> String {
    format!("[target]\nclasspath = [\"{}\"]\npackages = [\"probe\"]\n\n{rest}", classes().display())
}

/// A verb with a configuration.
fn tool(verb: &str, rest: &str) -> Tool {
    Tool::new(verb).file("hypocenter.toml", config(rest))
}

/// Runs the only workload of a configuration.
fn run(rest: &str) -> Done {
    tool("run", rest).args("--hook entry --json").end()
}

/// A workload that ends by itself, or after a time that it does not need.
fn workload(parts: &str) -> String {
    format!("[[workload]]\nname = \"cluster\"\ntimeout = \"60s\"\n{parts}")
}

/// A JVM of the targets, as a command.
fn java(program: &str) -> String {
    let (java, path) = (default_jdk().java(), classes().display());
    format!("{java} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp {path} {program}")
}

/// The processes of a name, first started first.
#[track_caller]
fn named<'a>(outcome: &'a Value, name: &str) -> Vec<&'a Value> {
    let all = outcome["processes"].as_array().unwrap_or_else(|| panic!("no processes: {outcome:#}"));
    all.iter().filter(|it| it["name"] == name).collect()
}

/// The only process of a name.
#[track_caller]
fn one<'a>(outcome: &'a Value, name: &str) -> &'a Value {
    let all = named(outcome, name);
    assert_eq!(all.len(), 1, "{name}: {outcome:#}");
    all[0]
}

/// Asserts that the outcome says something of a place.
#[track_caller]
fn tells(outcome: &Value, place: &str, what: &str) {
    let fits = |it: &Value| it["place"] == place && it["what"].as_str().is_some_and(|it| it.contains(what));
    let problems = outcome["problems"].as_array().unwrap();
    assert!(problems.iter().any(fits), "nobody says `{what}` of {place}: {:#}", outcome["problems"]);
}

fn exited(status: i32) -> Value {
    json!({"how": "exited", "status": status})
}

/// Standard output of a process.
fn log(done: &Done, name: &str) -> String {
    fs::read_to_string(done.trial().join(format!("logs/{name}.stdout.log"))).unwrap()
}

#[test]
fn a_client_starts_when_its_nodes_are_ready() {
    // Each node says that it is ready in another way, and long after it began; the client sees all of it.
    let server = Path::new("/usr/bin/python3").exists() || which("python3");
    let mut parts = String::from(
        r#"
        [[workload.node]]
        name = "log"
        command = "sh -c 'sleep 0.3; touch {dir}/log; echo the log node is up >&2; exec sleep 600'"
        ready = { log = "log node .* up$" }
        [[workload.node]]
        name = "file"
        command = "sh -c 'sleep 0.4; touch {dir}/file; exec sleep 600'"
        ready = { file = "{dir}/file" }
        [[workload.node]]
        name = "command"
        command = "sh -c 'sleep 0.2; touch {dir}/command; exec sleep 600'"
        ready = { command = "test -f {dir}/command" }
        [[workload.node]]
        name = "at-once"
        command = "sleep 600"
        [[workload.client]]
        name = "client"
        command = "sh -c 'ls {dir}'"
        "#,
    );
    if server {
        let port = free_port();
        parts += &format!(
            "[[workload.node]]\nname = \"port\"\ncommand = \"python3 port.py {port}\"\nready = {{ port = {port} }}\n"
        );
    } else {
        skip("a node with a port needs python3");
    }
    let serve = "import os, socket, sys, time\ntime.sleep(0.3)\n\
                 open(os.environ['HYPOCENTER_DIR'] + '/port', 'w').close()\n\
                 s = socket.socket()\ns.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n\
                 s.bind(('127.0.0.1', int(sys.argv[1])))\ns.listen()\ntime.sleep(600)\n";
    let done = tool("run", &workload(&parts)).args("--hook entry --json").file("port.py", serve).end();
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(0), "{outcome:#}");
    let seen = log(&done, "client");
    let mut expected = vec!["command", "file", "log"];
    expected.extend(server.then_some("port"));
    assert_eq!(seen.split_whitespace().collect::<Vec<_>>(), expected);
    let started = one(&outcome, "client")["started_ms"].as_u64().unwrap();
    for name in expected {
        let node = one(&outcome, name);
        let ready = node["ready_ms"].as_u64().unwrap_or_else(|| panic!("{node:#}"));
        assert!(ready <= started && node["role"] == "node", "{outcome:#}");
        // It was alive at the end.
        assert_eq!(node["end"], Value::Null, "{node:#}");
    }
    assert!(!outcome["problems"].to_string().contains("left behind"), "{:#}", outcome["problems"]);
}

fn which(program: &str) -> bool {
    let status =
        Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
    status.is_ok_and(|it| it.success())
}

fn free_port() -> u16 {
    // Not of those that the kernel gives to whoever asks for any.
    let first = 20_000 + (std::process::id() % 10_000) as u16;
    let free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (first..first + 2000).step_by(7).find(free).expect("a free port")
}

#[test]
fn a_child_of_a_live_node_was_not_left_behind() {
    let done = run(&workload(
        "[[workload.node]]\nname = \"n\"\ncommand = \"sh -c 'echo up; sleep 600; true'\"\nready = { log = \"up\" }\n\
         [[workload.client]]\nname = \"c\"\ncommand = \"true\"\n",
    ));
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(0), "{outcome:#}");
    assert!(!outcome["problems"].to_string().contains("left behind"), "{:#}", outcome["problems"]);
}

#[test]
fn a_phase_starts_when_the_one_before_has_ended_well() {
    let clients = |first: &str| {
        workload(&format!(
            r#"
            [[workload.client]]
            name = "late"
            phase = 10
            command = "sh -c 'cat {{dir}}/order; echo late'"
            [[workload.client]]
            name = "slow"
            command = "sh -c 'sleep 0.3; echo slow >> {{dir}}/order'"
            [[workload.client]]
            name = "fast"
            command = "sh -c 'echo fast >> {{dir}}/order; {first}'"
            [[workload.client]]
            name = "second"
            phase = 2
            command = "sh -c 'echo second >> {{dir}}/order'"
            "#
        ))
    };
    let done = run(&clients("exit 0"));
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(0), "{outcome:#}");
    assert_eq!(log(&done, "late"), "fast\nslow\nsecond\nlate\n");
    let names: Vec<_> = outcome["processes"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["slow", "fast", "second", "late"]);
    // One that does not end well: the others of its phase end, and no later phase begins.
    let done = run(&clients("echo no such key; exit 3"));
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(3), "{outcome:#}");
    tells(&outcome, "fast", "it exited with status 3; its last line: no such key");
    for name in ["second", "late"] {
        assert!(named(&outcome, name).is_empty(), "{outcome:#}");
        tells(&outcome, name, "not started");
    }
    assert_eq!(one(&outcome, "slow")["end"], exited(0));
}

#[test]
fn progress_is_known_of_each_client_however_much_it_writes() {
    // The last step is behind much other output, and the client is gone before anybody has read it.
    let parts = r#"
        [[workload.client]]
        name = "three"
        steps = 3
        command = "sh -c 'for i in 1 2 3; do echo progress $i; seq 30000; done; echo progress 3'"
        [[workload.client]]
        name = "five"
        steps = 5
        command = "sh -c 'for i in 1 2 3 4 5; do echo progress $i; done'"
        [[workload.client]]
        name = "free"
        command = "sh -c 'echo progress 7; echo no progress 8; echo progress nine'"
    "#;
    for _ in 0..support::repeats(5) {
        let done = run(&workload(parts));
        let outcome = done.outcome();
        assert_eq!(outcome["end"], exited(0), "{outcome:#}");
        for (name, progress, steps) in
            [("three", json!(3), json!(3)), ("five", json!(5), json!(5)), ("free", json!(7), Value::Null)]
        {
            let client = one(&outcome, name);
            assert_eq!((&client["progress"], &client["steps"]), (&progress, &steps), "{client:#}");
        }
    }
}

#[test]
fn a_client_that_ends_well_without_its_steps_is_unfinished() {
    let rows = [
        ("echo nothing to do", "after no step of 3", Value::Null),
        ("echo progress 1; echo progress 2", "after step 2 of 3", json!(2)),
    ];
    for (script, what, progress) in rows {
        let done = run(&workload(&format!(
            "[[workload.client]]\nname = \"c\"\nsteps = 3\ncommand = \"sh -c '{script}'\"\n"
        )));
        let outcome = done.outcome();
        assert_eq!(outcome["end"], json!({"how": "unfinished"}), "{outcome:#}");
        tells(&outcome, "c", what);
        let client = one(&outcome, "c");
        assert_eq!((&client["end"], &client["progress"]), (&exited(0), &progress), "{client:#}");
        done.exits(1).says("ended before all its steps");
    }
}

#[test]
fn a_node_that_says_it_is_ready_and_ends_was_ready() {
    // A process that nobody has waited for yet is still there for kill.
    let done = run(&workload(
        "[[workload.node]]\nname = \"n\"\ncommand = \"sh -c 'echo $$ > {dir}/pid; seq 100000; echo up'\"\n\
         ready = { log = \"up\" }\n\
         [[workload.client]]\nname = \"c\"\ncommand = \"sh -c 'while kill -0 $(cat {dir}/pid); do sleep 0.02; done 2>&-'\"\n",
    ));
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(0), "{outcome:#}");
    let node = one(&outcome, "n");
    assert!(node["ready_ms"].is_u64() && node["end"] == exited(0), "{node:#}");
}

#[test]
fn what_the_system_says_of_its_nodes_is_asked_at_the_end() {
    let node = |name: &str, alive: &str| {
        format!(
            "[[workload.node]]\nname = \"{name}\"\ncommand = \"sh -c 'touch {{dir}}/{name}; echo I am {name}; exec sleep 600'\"\n\
             ready = {{ log = \"I am\" }}\nalive = {alive}\n"
        )
    };
    let rows = [
        ("file", r#"{ file = "{dir}/file" }"#, true),
        ("no-file", r#"{ file = "{dir}/other" }"#, false),
        ("command", r#"{ command = "test -f {dir}/command" }"#, true),
        ("no-command", r#"{ command = "test -f {dir}/other" }"#, false),
        ("log", r#"{ log = "^I am log$" }"#, true),
        ("no-log", r#"{ log = "I am dead" }"#, false),
        ("no-port", r#"{ port = 1 }"#, false),
    ];
    let mut parts: String = rows.iter().map(|(name, alive, _)| node(name, alive)).collect();
    parts += "[[workload.node]]\nname = \"silent\"\ncommand = \"sleep 600\"\n";
    // What is not there any more is not asked.
    parts += "[[workload.node]]\nname = \"gone\"\ncommand = \"sh -c 'echo $$ > {dir}/pid; echo up'\"\n\
              ready = { log = \"up\" }\nalive = { log = \"up\" }\n";
    parts += "[[workload.client]]\nname = \"c\"\ncommand = \"sh -c 'while kill -0 $(cat {dir}/pid); do sleep 0.02; done 2>&-'\"\n";
    let outcome = run(&workload(&parts)).says("reports healthy").outcome();
    for (name, _, alive) in rows {
        assert_eq!(one(&outcome, name)["alive"], alive, "{name}: {outcome:#}");
    }
    assert_eq!(one(&outcome, "silent")["alive"], Value::Null);
    assert_eq!(one(&outcome, "gone")["alive"], Value::Null);
}

/// Two JVMs as nodes, each with stuck threads.
fn two_jvms(more: &str) -> String {
    let node = |name: &str| {
        let command = java(&format!("probe.Dumps {{dir}}/{name}"));
        format!(
            "[[workload.node]]\nname = \"{name}\"\ncommand = \"{command}\"\nready = {{ file = \"{{dir}}/{name}\" }}\n{more}\n"
        )
    };
    let client = "[[workload.client]]\nname = \"c\"\ncommand = \"sh -c 'ls {dir}'\"\n";
    workload(&(node("n1") + &node("n2") + client))
}

#[test]
fn a_node_that_a_fault_crashed_is_started_again() {
    let done = tool("inject", &two_jvms("restart = { times = 1 }"))
        .arg("Dumps.keep")
        .args("--crash --node n1 --workload cluster --json")
        .end()
        .exits(0)
        .says("is restarted");
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(0), "{outcome:#}");
    let result = &outcome["candidates"][0]["result"];
    assert_eq!(
        (&result["end"], &result["node"], &result["times"]),
        (&json!("injected"), &json!("n1"), &json!(1)),
        "{outcome:#}"
    );
    let n1 = named(&outcome, "n1");
    assert_eq!(n1.len(), 2, "{outcome:#}");
    assert_eq!((&n1[0]["incarnation"], &n1[1]["incarnation"]), (&json!(1), &json!(2)));
    let status = n1[0]["end"]["status"].as_i64().unwrap_or_else(|| panic!("{outcome:#}"));
    assert!(status != 0 && n1[0]["ready_ms"].is_null(), "{outcome:#}");
    assert!(n1[1]["end"].is_null() && n1[1]["ready_ms"].is_u64(), "{outcome:#}");
    assert_eq!(n1[1]["logs"], json!(["logs/n1.2.stdout.log", "logs/n1.2.stderr.log"]));
    assert!(one(&outcome, "n2")["end"].is_null(), "{outcome:#}");
    // The JVMs, as their agents tell it: the first of n1 did not end in good order.
    let mut jvms: Vec<(&str, u64)> = outcome["jvms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["node"].as_str().unwrap(), it["incarnation"].as_u64().unwrap()))
        .collect();
    jvms.sort();
    assert_eq!(jvms, [("n1", 1), ("n1", 2), ("n2", 1)], "{outcome:#}");
    let crashed = result["jvm"].as_u64().unwrap() as usize;
    assert_eq!(outcome["jvms"][crashed]["incarnation"], 1, "{outcome:#}");
    assert_eq!(outcome["jvms"][crashed]["ended"], false, "{outcome:#}");
    assert_eq!(log(&done, "c"), "n1\nn2\n");
}

#[test]
fn a_crash_that_is_not_mended_is_told() {
    let done = tool("inject", &two_jvms(""))
        .arg("Dumps.keep")
        .args("--crash --node n2 --workload cluster --json")
        .end()
        .exits(0);
    let outcome = done.outcome();
    assert_eq!(outcome["end"], json!({"how": "not_ready"}), "{outcome:#}");
    tells(&outcome, "n2", "before it was ready");
    assert_eq!(outcome["candidates"][0]["result"]["end"], "injected", "{outcome:#}");
    assert!(named(&outcome, "c").is_empty(), "{outcome:#}");
}

#[test]
fn a_node_that_ended_is_started_again_as_often_as_asked() {
    // The node ends when the client says so; the client waits until the last start that is allowed has
    // written its line: what it waits for is the last thing that is looked at below.
    let script = "cd \"$HYPOCENTER_DIR\"; touch starts; n=$(($(grep -c . starts) + 1)); echo up $n; echo start >> starts; \
                  if test $n -le $ENDS; then until test -f go$n; do sleep 0.02; done; exit 7; fi; exec sleep 600";
    let client = "cd \"$HYPOCENTER_DIR\"; n=1; while test $n -le $ENDS; do touch go$n; n=$((n + 1)); \
                  until test $(grep -c . starts) -ge $n; do sleep 0.02; done; done";
    for ends in [1, 2] {
        let parts = format!(
            "env = {{ ENDS = \"{ends}\" }}\n\
             [[workload.node]]\nname = \"n\"\ncommand = \"sh node.sh\"\nready = {{ log = \"up\" }}\n\
             restart = {{ times = {ends}, delay = \"30ms\" }}\n\
             [[workload.client]]\nname = \"c\"\ncommand = \"sh client.sh\"\n"
        );
        let tool = tool("run", &workload(&parts)).file("node.sh", script).file("client.sh", client);
        let done = tool.args("--hook entry --json").end();
        let outcome = done.outcome();
        assert_eq!(outcome["end"], exited(0), "{outcome:#}");
        let starts = named(&outcome, "n");
        assert_eq!(starts.len(), ends + 1, "{outcome:#}");
        for (number, it) in starts.iter().enumerate() {
            assert_eq!(it["incarnation"], number + 1, "{outcome:#}");
            assert_eq!(it["end"], if number < ends { exited(7) } else { Value::Null }, "{outcome:#}");
            let again = if number > 0 { format!("n.{}", number + 1) } else { "n".to_owned() };
            assert_eq!(log(&done, &again), format!("up {}\n", number + 1));
        }
        let (ended, started) =
            (starts[0]["ended_ms"].as_u64().unwrap(), starts[1]["started_ms"].as_u64().unwrap());
        assert!(started >= ended + 30, "{outcome:#}");
    }
    // Without `restart` it stays away.
    let done = run(&workload(
        "[[workload.node]]\nname = \"n\"\ncommand = \"sh -c 'echo $$ > {dir}/pid; echo up'\"\nready = { log = \"up\" }\n\
         [[workload.client]]\nname = \"c\"\ncommand = \"sh -c 'while kill -0 $(cat {dir}/pid); do sleep 0.02; done 2>&-'\"\n",
    ));
    assert_eq!(one(&done.outcome(), "n")["end"], exited(0));
}

/// A node that ends when its client has begun, and the client, which warns and fails when the node is gone.
const DEAD_NODE: &str = r#"
    [[workload.node]]
    name = "k1"
    command = "sh -c 'echo $$ > {dir}/pid; echo up; until test -f {dir}/go; do sleep 0.02; done; exit 1'"
    ready = { log = "up" }
    [[workload.client]]
    name = "c"
    steps = 2
    command = "sh -c 'touch {dir}/go; while kill -0 $(cat {dir}/pid); do sleep 0.02; done 2>&-; echo WARN k1 is away; exit 3'"
"#;

/// Asserts that the lines behind a text begin with what became of the node, and have all the rest later.
#[track_caller]
fn dead_node_comes_first(done: &Done, behind: &str) {
    let (_, told) =
        done.stderr.split_once(behind).unwrap_or_else(|| panic!("no `{behind}`: {}", done.stderr));
    let at = |text: &str| told.find(text);
    let dead = at("node k1 exited with status 1").unwrap_or_else(|| panic!("not told: {}", done.stderr));
    for later in ["WARN", "c: it exited", "exited with status 3", "steps", "not reached", "did not start"] {
        assert!(at(later).is_none_or(|it| it > dead), "`{later}` comes first: {}", done.stderr);
    }
}

#[test]
fn a_dead_node_is_not_hidden_behind_a_warning_of_its_client() {
    let run = tool("run", &workload(DEAD_NODE)).args("--hook entry --quiet").end();
    dead_node_comes_first(&run, "1 node, 1 client");
    let out = run.directory().join("hypocenter-out");
    let again = |verb: &str| Tool::new(verb).args("--quiet").arg("--out").arg(&out);
    let replay = again("replay").arg("run-0001/0").end();
    dead_node_comes_first(&replay, "1 node, 1 client");
    dead_node_comes_first(&replay, "  then ");
    let trial = again("trial").args("--campaign run-0001 --index 0").end();
    dead_node_comes_first(&trial, "this is its outcome");
    let many = tool("run", &workload(DEAD_NODE)).args("--hook entry --repeat 2").end();
    dead_node_comes_first(&many, "trial 0: ");
    let inject = tool("inject", &workload(DEAD_NODE)).args("Dumps.keep --crash --quiet").end();
    dead_node_comes_first(&inject, "1 node, 1 client");
}

#[test]
fn a_dead_node_is_the_first_reason_why_runs_without_a_fault_fail() {
    let explore = tool("explore", &workload(DEAD_NODE)).args("--normal-runs 1 --seed 1").end().exits(4);
    dead_node_comes_first(&explore, "  run       ");
    dead_node_comes_first(&explore, "  note      workload: ");
    let failure =
        "[failure]\nworkload = \"cluster\"\nlogs = [\"k1.log\"]\noracle = { exit = 3, client = \"c\" }\n";
    let log = "2024-01-01 10:00:00,000 [main] WARN probe.Again - there was no answer\n";
    let reproduce = tool("reproduce", &(workload(DEAD_NODE) + failure)).file("k1.log", log);
    let reproduce = reproduce.end().exits(4);
    dead_node_comes_first(&reproduce, "  run       ");
    dead_node_comes_first(&reproduce, "the failure happens without a fault");
}

#[test]
fn the_lines_of_the_tool_are_not_buried_under_what_processes_print() {
    let parts = workload(
        "[[workload.node]]\nname = \"n\"\ncommand = \"sh -c 'echo of the node; echo up; exec sleep 600'\"\nready = { log = \"up\" }\n\
         [[workload.client]]\nname = \"c\"\ncommand = \"sh -c 'echo of the client; echo and its errors >&2'\"\n",
    );
    let words = ["of the node", "of the client", "and its errors"];
    let run =
        tool("run", &parts).args("--hook entry").end().says("  n         ready after").says("--verbose");
    let out = run.directory().join("hypocenter-out");
    let replay = |flag: &str| Tool::new("replay").arg("run-0001/0").args(flag).arg("--out").arg(&out).end();
    let inject = tool("inject", &parts).args("Guards.hit --crash").end();
    for done in [&run, &inject, &replay("")] {
        for word in words {
            assert!(!done.stderr.contains(word) && !done.stdout.contains(word), "{word}: {}", done.stderr);
        }
    }
    assert_eq!(log(&run, "n") + &log(&run, "c"), "of the node\nup\nof the client\n");
    let loud = tool("run", &parts).args("--hook entry --verbose").end();
    for done in [loud, replay("--verbose"), tool("inject", &parts).args("Guards.hit --crash --verbose").end()]
    {
        let done = done.says("  n         of the node\n").says("  c         of the client\n");
        done.says("  c         and its errors\n");
    }
    // One command is what the user runs, and speaks for itself.
    let alone = tool("run", &workload("command = \"sh -c 'echo of the command'\"\n"));
    assert_eq!(alone.args("--hook entry").end().stdout, "of the command\n");
    // Beside nodes it is one of several processes.
    let node = "[[workload.node]]\nname = \"n\"\ncommand = \"sh -c 'echo of the node; exec sleep 600'\"\n";
    let beside = tool("run", &workload(&format!("command = \"sh -c 'echo of the command'\"\n{node}")));
    let beside = beside.args("--hook entry").end();
    assert_eq!(beside.stdout, "");
    assert!(!beside.stderr.contains("of the node"), "{}", beside.stderr);
}

#[test]
fn a_run_without_the_agent_has_it_in_no_process_and_says_so() {
    // Each JVM tells its own options; a command that is no plain `java` would get the agent by a variable.
    let options = "import java.lang.management.ManagementFactory;\n\
                   class Options { public static void main(String[] words) {\n\
                   System.out.println(\"options \" + ManagementFactory.getRuntimeMXBean().getInputArguments()); } }\n";
    let java = default_jdk().java();
    let tell = format!("{java} -XX:+UseSerialGC Options.java; echo variable $JAVA_TOOL_OPTIONS.;");
    let parts = workload(&format!(
        "[[workload.node]]\nname = \"n\"\ncommand = \"sh -c '{tell} echo up; exec sleep 600'\"\nready = {{ log = \"up\" }}\n\
         [[workload.client]]\nname = \"c\"\nagent = true\ncommand = \"{java} -XX:+UseSerialGC Options.java\"\n"
    ));
    let with = tool("run", &parts).args("--hook entry --json").file("Options.java", options).end();
    for name in ["n", "c"] {
        assert!(log(&with, name).contains("-agentpath:"), "{name}: {}", log(&with, name));
    }
    let done = tool("run", &parts).args("--no-agent --json").file("Options.java", options).end().exits(0);
    for name in ["n", "c"] {
        assert!(log(&done, name).starts_with("options [-XX:+UseSerialGC"), "{name}: {}", log(&done, name));
        assert!(!log(&done, name).contains("agentpath"), "{name}: {}", log(&done, name));
    }
    assert!(log(&done, "n").ends_with("variable .\nup\n"), "{}", log(&done, "n"));
    let outcome = done.outcome();
    tells(&outcome, "agent", "all processes ran without the agent");
    assert!(!outcome["problems"].to_string().contains("did not start"), "{:#}", outcome["problems"]);
    let done = done.says("all processes ran without the agent");
    // A replay is the same trial, and one command has none either, nor do several trials.
    let out = done.directory().join("hypocenter-out");
    Tool::new("replay")
        .arg("run-0001/0")
        .arg("--out")
        .arg(&out)
        .end()
        .exits(0)
        .says("all processes ran without the agent");
    let alone = |flags: &str| {
        let script = "command = \"sh -c 'test -z \\\"$JAVA_TOOL_OPTIONS\\\"'\"\n";
        tool("run", &workload(script)).args(flags).end()
    };
    alone("--no-agent").exits(0).says("all processes ran without the agent");
    alone("--no-agent --repeat 2").exits(0).says("all processes ran without the agent");
    assert_ne!(alone("--hook entry").code, 0, "the variable is there otherwise");
    // The same by a key, with which nothing can be injected.
    let key = workload("agent = false\ncommand = \"true\"\n");
    tool("run", &key).end().exits(0).says("all processes ran without the agent");
    tool("inject", &key).args("Guards.hit --crash").end().exits(1).says("no fault can be injected into it");
    tool("explore", &key).end().exits(1).says("no fault can be injected into it");
    // A workload that is not sound says so by its exit code.
    let broken = tool("run", &workload("command = \"sh -c 'exit 3'\"\n")).args("--no-agent").end();
    broken.exits(4).says("exited with status 3");
}

/// A node that ends once and is restarted, behind a command that prepares it.
fn prepared(before: &str) -> String {
    workload(&format!(
        r#"
        [[workload.node]]
        name = "n"
        directory = "own"
        env = {{ OF_NODE = "yes" }}
        before = "sh -c '{before}'"
        command = "sh -c 'cat {{dir}}/format; echo x >> {{dir}}/starts; echo up; until test -f {{dir}}/go; do sleep 0.02; done; rm {{dir}}/go; exit 7'"
        ready = {{ log = "up" }}
        restart = {{ times = 1 }}
        [[workload.node]]
        name = "m"
        after = ["n"]
        command = "sh -c 'echo up; exec sleep 600'"
        ready = {{ log = "up" }}
        [[workload.client]]
        name = "c"
        command = "sh -c 'touch {{dir}}/go; until test $(grep -c . {{dir}}/starts) = 2; do sleep 0.02; done'"
        "#
    ))
}

#[test]
fn what_prepares_a_node_runs_once_before_it_and_without_the_agent() {
    let before = "sleep 0.3; echo formatted $OF_NODE in $(basename $(pwd)), agent ${JAVA_TOOL_OPTIONS:-none}; \
                  echo noise >&2; echo x >> {dir}/formats; echo ok > {dir}/format";
    let tool = tool("run", &prepared(before)).args("--hook entry --json");
    fs::create_dir(tool.directory().join("own")).unwrap();
    let done = tool.end();
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(0), "{outcome:#}");
    assert_eq!(log(&done, "n.before"), "formatted yes in own, agent none\n");
    let errors = fs::read_to_string(done.trial().join("logs/n.before.stderr.log")).unwrap();
    assert_eq!(errors, "noise\n");
    // Before the first start, and not before the second.
    assert_eq!(log(&done, "n"), "ok\nup\n");
    assert_eq!(log(&done, "n.2"), "ok\nup\n");
    let read = |name: &str| fs::read_to_string(done.trial().join("dir").join(name)).unwrap();
    assert_eq!((read("formats").as_str(), read("starts").as_str()), ("x\n", "x\nx\n"));
    assert_eq!(named(&outcome, "n").len(), 2, "it is no process of the cluster: {outcome:#}");
}

#[test]
fn a_node_that_cannot_be_prepared_is_not_started() {
    let rows = [
        ("echo no such disk; exit 3", "60s", "its `before` exited with status 3, so it was not started"),
        ("echo no such disk; exec sleep 600", "5s", "its `before` did not end in 5 s, so it was not started"),
    ];
    each(
        &rows,
        |row| row.0.to_owned(),
        |(before, timeout, what)| {
            let parts = prepared(before).replace("60s", timeout);
            let tool = tool("run", &parts).args("--hook entry --json");
            fs::create_dir(tool.directory().join("own")).unwrap();
            let done = tool.end();
            let outcome = done.outcome();
            assert_eq!(outcome["end"], json!({"how": "not_ready"}), "{outcome:#}");
            tells(&outcome, "n", what);
            tells(&outcome, "n", "; its last line: no such disk");
            assert_eq!(outcome["processes"], json!([]), "{outcome:#}");
        },
    );
}

/// A node that joins after the first phase; the client of the second finds out that it did.
fn late(first: &str, node: &str) -> String {
    workload(&format!(
        r#"
        [[workload.node]]
        name = "late"
        after = ["first"]
        before = "sh -c 'cat {{dir}}/made'"
        command = "sh -c '{node}'"
        ready = {{ log = "up" }}
        [[workload.node]]
        name = "later"
        after = ["late"]
        command = "sh -c 'echo up; exec sleep 600'"
        ready = {{ log = "up" }}
        [[workload.client]]
        name = "first"
        command = "sh -c '{first}'"
        [[workload.client]]
        name = "second"
        phase = 2
        command = "sh -c 'test -f {{dir}}/joined'"
        "#
    ))
}

#[test]
fn a_node_joins_after_a_phase_of_clients() {
    let (made, joins) = ("echo made > {dir}/made", "sleep 0.3; touch {dir}/joined; echo up; exec sleep 600");
    let done = run(&late(made, joins));
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(0), "{outcome:#}");
    assert_eq!(log(&done, "late.before"), "made\n");
    let time = |name: &str, what: &str| one(&outcome, name)[what].as_u64().unwrap();
    assert!(time("late", "ready_ms") <= time("later", "started_ms"), "{outcome:#}");
    assert!(time("later", "ready_ms") <= time("second", "started_ms"), "{outcome:#}");

    let outcome = run(&late("exit 3", joins)).outcome();
    assert_eq!(outcome["end"], exited(3), "{outcome:#}");
    for name in ["late", "later", "second"] {
        tells(&outcome, name, "it was not started: phase 1 did not succeed");
    }
    let outcome = run(&late(made, "echo no place; exit 4")).outcome();
    assert_eq!(outcome["end"], json!({"how": "not_ready"}), "{outcome:#}");
    tells(&outcome, "late", "exited with status 4 before it was ready; its last line: no place");
    assert!(named(&outcome, "second").is_empty(), "{outcome:#}");
}

#[test]
fn each_trial_has_a_directory_of_its_own() {
    let parts = "command = \"sh -c 'test -z \\\"$(ls {dir})\\\" && test {dir} = $HYPOCENTER_DIR && touch {dir}/mine'\"\n";
    let tool = tool("run", &workload(parts)).args("--no-agent --json --repeat 3");
    let done = tool.end().exits(0);
    assert_eq!(done.outcome()["well"], 3);
    for number in 0..3 {
        assert!(done.trial().with_file_name(format!("00{number}")).join("dir/mine").is_file());
    }
}

#[test]
fn variables_and_directories_are_those_of_the_configuration() {
    let parts = r#"
        directory = "all"
        env = { A = "of all", B = "of all", D = "{dir}/x" }
        [[workload.node]]
        name = "n"
        command = "sh -c 'pwd; echo $A, $B, $C; echo up; exec sleep 600'"
        ready = { log = "up" }
        env = { B = "of n", C = "of n" }
        directory = "own"
        [[workload.client]]
        name = "c"
        command = "sh -c 'pwd; echo $A, $B, $C; test $D = {dir}/x && echo $OUTSIDE'"
        env = { B = "of c" }
    "#;
    let tool = tool("run", &workload(parts)).env("OUTSIDE", "of the tool").args("--hook entry --json");
    for name in ["all", "own"] {
        fs::create_dir(tool.directory().join(name)).unwrap();
    }
    let done = tool.end();
    let at = done.directory().canonicalize().unwrap().display().to_string();
    assert_eq!(log(&done, "n"), format!("{at}/own\nof all, of n, of n\nup\n"));
    assert_eq!(log(&done, "c"), format!("{at}/all\nof all, of c,\nof the tool\n"));
}

#[test]
fn a_node_without_a_condition_is_ready_at_once_and_what_it_is_asked_at_the_end_is_time_of_the_trial() {
    let parts = r#"
        [[workload.node]]
        name = "n"
        command = "sleep 600"
        alive = { command = "sleep 1" }
        [[workload.client]]
        name = "c"
        command = "true"
    "#;
    let outcome = tool("run", &workload(parts)).args("--hook entry --json").end().outcome();
    let node = &outcome["processes"][0];
    assert_eq!((&node["ready_ms"], &node["alive"]), (&node["started_ms"], &json!(true)), "{outcome:#}");
    assert!(outcome["wall_ms"].as_u64() >= Some(1000), "{outcome:#}");
}

#[test]
fn nodes_inside_one_jvm_are_known_by_their_threads() {
    let node = |name: &str| format!("[[workload.node]]\nname = \"{name}\"\nthreads = [\"{name}-*\"]\n");
    let command = format!("command = \"{}\"\n", java("probe.Nodes names 50"));
    let parts = command + &node("zk1") + &node("zk2") + &node("zk3");
    let done = tool("inject", &workload(&parts))
        .arg("Nodes.hit")
        .args("--throw java.lang.IllegalStateException --node zk2 --at 77 --workload cluster --json")
        .end()
        .exits(0);
    assert!(done.program().starts_with("zk2 77 zk2-"), "{}", done.program());
    let outcome = done.outcome();
    let result = &outcome["candidates"][0]["result"];
    assert_eq!((&result["node"], &result["occurrence"]), (&json!("zk2"), &json!(77)), "{outcome:#}");
    assert_eq!(outcome["candidates"][0]["hits"], 100, "{outcome:#}");
    // The nodes of the workload are in the plan that is kept.
    let plan = fs::read_to_string(done.trial().join("plan.json")).unwrap();
    assert!(plan.contains("\"zk2-*\""), "{plan}");
}

#[test]
fn a_cluster_that_fails_without_a_fault_is_said_by_the_exit_code() {
    let parts = two_jvms("").replace("ls {dir}", "echo no leader; exit 9");
    let done = run(&parts).exits(4);
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(9));
    tells(&outcome, "c", "it exited with status 9; its last line: no leader");
    assert_eq!(outcome["jvms"].as_array().unwrap().len(), 2, "{outcome:#}");
    run(&two_jvms("")).exits(0);
}

#[test]
fn a_workload_that_exits_at_once_is_told_as_it_was() {
    let rows = [
        ("exit 0", exited(0)),
        ("exit 9", exited(9)),
        ("kill -9 $$", json!({"how": "signalled", "signal": 9})),
    ];
    for (script, end) in rows {
        let done = run(&workload(&format!("command = \"sh -c '{script}'\"\n"))).exits(1);
        assert_eq!(done.outcome()["end"], end);
        assert_eq!(done.outcome()["jvms"], json!([]));
    }
}

#[test]
fn a_workload_that_never_ends_is_ended_and_its_threads_are_kept() {
    let command = java("probe.Dumps {dir}/ready");
    let done =
        run(&format!("[[workload]]\nname = \"w\"\ntimeout = \"6s\"\ncommand = \"{command}\"\n")).exits(3);
    let outcome = done.outcome();
    assert_eq!(outcome["end"], json!({"how": "timed_out"}));
    assert!(outcome["jvms"][0]["hits"].as_u64().unwrap() > 0, "{outcome:#}");
    let dumps: Vec<_> = fs::read_dir(done.trial().join("dumps")).unwrap().flatten().collect();
    assert_eq!(dumps.len(), 1, "{dumps:?}");
    let dump: Value = serde_json::from_slice(&fs::read(dumps[0].path()).unwrap()).unwrap();
    let threads = dump["threads"].as_array().unwrap();
    let keeper = threads.iter().find(|it| it["name"] == "keeper").unwrap_or_else(|| panic!("{dump:#}"));
    assert!(keeper["frames"].to_string().contains("probe.Dumps.waitForTheBell"), "{keeper:#}");
}

#[test]
fn what_forks_away_is_gone_after_the_trial_and_said() {
    // Twice forked, in a session of its own, and with nobody's output.
    let daemon = "setsid sh -c 'sh -c \"echo up > \\\"$HYPOCENTER_DIR/daemon\\\"; exec sleep 600\" & exit 0' > /dev/null 2>&1 < /dev/null\n\
                  until test -f \"$HYPOCENTER_DIR/daemon\"; do sleep 0.02; done";
    let command = "command = \"sh away.sh\"\n";
    let client = "[[workload.client]]\nname = \"c\"\ncommand = \"sh away.sh\"\n";
    let rows = [("auto", command), ("off", command), ("auto", client), ("off", client)];
    for (number, (sandbox, parts)) in rows.into_iter().enumerate() {
        let mark = format!("workloads-{}-{number}", std::process::id());
        let whole = workload(&format!("env = {{ WORKLOADS_MARK = \"{mark}\" }}\n{parts}"));
        let tool = tool("run", &whole).file("away.sh", daemon);
        let done = tool.args(&format!("--hook entry --json --sandbox {sandbox}")).end();
        let outcome = done.outcome();
        assert_eq!(outcome["end"], exited(0), "{outcome:#}");
        assert_eq!(fs::read_to_string(done.trial().join("dir/daemon")).unwrap(), "up\n");
        assert_eq!(support::processes_with(&format!("WORKLOADS_MARK={mark}")), [""; 0], "{sandbox} {parts}");
        // The processes of a cluster are ended with the trial anyway.
        if parts == command {
            tells(&outcome, "processes", "1 process that the workload left behind");
        }
    }
}

#[test]
fn a_node_that_is_never_ready_is_named_with_what_it_was_to_do() {
    let rows = [
        (r#"{ log = "up" }"#, "no line of its output has `up`"),
        (r#"{ port = 1 }"#, "port 1 accepts no connection"),
        (r#"{ file = "{dir}/up" }"#, "{dir}/up does not exist"),
        (r#"{ command = "test -f {dir}/up" }"#, "`test -f {dir}/up` does not exit with status 0"),
    ];
    each(
        &rows,
        |(ready, _)| ready.to_string(),
        |(ready, what)| {
            let done = run(&format!(
                "[[workload]]\nname = \"w\"\ntimeout = \"3s\"\n\
                 [[workload.node]]\nname = \"fine\"\ncommand = \"sleep 600\"\n\
                 [[workload.node]]\nname = \"n\"\ncommand = \"sh -c 'echo waiting for a leader; exec sleep 600'\"\nready = {ready}\n\
                 [[workload.client]]\nname = \"c\"\ncommand = \"true\"\n"
            ));
            let done = done.exits(1).says("did not become ready").says(what);
            let outcome = done.outcome();
            assert_eq!(outcome["end"], json!({"how": "not_ready"}));
            tells(&outcome, "n", "it was not ready after 3 s");
            tells(&outcome, "n", "its last line: waiting for a leader; check `ready`");
            assert!(named(&outcome, "c").is_empty(), "{outcome:#}");
            assert_eq!(log(&done, "n"), "waiting for a leader\n");
        },
    );
    // A JVM's threads are kept then.
    let (command, text) = (java("probe.Dumps {dir}/ready"), "timeout = \"6s\"");
    let parts = format!(
        "[[workload]]\nname = \"w\"\n{text}\n[[workload.node]]\nname = \"n\"\ncommand = \"{command}\"\n\
         ready = {{ log = \"up\" }}\n[[workload.client]]\nname = \"c\"\ncommand = \"true\"\n"
    );
    let done = run(&parts).exits(4).says("it was not ready after 6 s").says("it wrote nothing");
    assert_eq!(fs::read_dir(done.trial().join("dumps")).unwrap().count(), 1);
}

#[test]
fn a_node_that_ends_before_it_is_ready_ends_the_trial_at_once() {
    let rows = [
        ("exit 5", "it exited with status 5 before it was ready; it wrote nothing"),
        (
            "echo cannot bind >&2; exit 1",
            "it exited with status 1 before it was ready; its last line: cannot bind",
        ),
        ("kill -9 $$", "it was ended by signal 9 before it was ready"),
    ];
    for (script, what) in rows {
        let done = run(&workload(&format!(
            "[[workload.node]]\nname = \"n\"\ncommand = \"sh -c '{script}'\"\nready = {{ log = \"up\" }}\n\
             [[workload.node]]\nname = \"fine\"\ncommand = \"sleep 600\"\n\
             [[workload.client]]\nname = \"c\"\ncommand = \"true\"\n"
        )));
        let outcome = done.outcome();
        assert_eq!(outcome["end"], json!({"how": "not_ready"}));
        tells(&outcome, "n", what);
        // Far before its time.
        assert!(outcome["wall_ms"].as_u64().unwrap() < 30_000, "{outcome:#}");
        done.exits(1).says("did not become ready");
    }
}

#[test]
fn a_workload_that_cannot_be_meant_is_refused_before_anything_runs() {
    let client = "[[workload.client]]\nname = \"c\"\n";
    let named = |name: &str, parts: &str| format!("[[workload]]\nname = \"{name}\"\n{parts}\n");
    let fine = |name: &str| named(name, "command = \"touch ran\"");
    // The configuration, the workload that is asked for, what is said.
    let rows: Vec<(String, &str, Vec<&str>)> = vec![
        (fine("a") + &fine("b"), "c", vec!["unknown workload `c`", "a, b"]),
        (
            fine("a") + &fine("b"),
            "",
            vec!["hypocenter.toml has several workloads, and none was given: a, b", "`--workload a`"],
        ),
        (String::new(), "", vec!["nothing to run: no command after `--`", "hypocenter.toml has no workload"]),
        (String::new(), "a", vec!["unknown workload `a`", "has no workload"]),
        (fine("a") + &fine("a"), "a", vec!["two workloads are called `a`", "hypocenter.toml:"]),
        (
            named("a", &format!("{client}command = \"true\"\nnode = \"z\"")),
            "a",
            vec!["client `c` names node `z`, which does not exist", "hypocenter.toml:"],
        ),
        (
            named("a", "command = \"touch 'ran\""),
            "a",
            vec!["`touch 'ran`: a quote is not closed", "hypocenter.toml:"],
        ),
        (named("a", &format!("{client}command = \"sh -c 'x\"")), "a", vec!["a quote is not closed", "`a`"]),
        (named("a", "command = \"\""), "a", vec!["the command is empty", "`a`", "hypocenter.toml:"]),
        (named("a", &format!("{client}command = \"  \"")), "a", vec!["the command is empty", "`a`"]),
        (named("a", ""), "a", vec!["it never ends", "`command`"]),
        (
            named("a", "[[workload.node]]\nname = \"n\"\ncommand = \"touch ran\""),
            "a",
            vec!["it never ends", "[[workload.client]]"],
        ),
        (
            named("a", &format!("command = \"touch ran\"\n{client}command = \"true\"")),
            "a",
            vec!["turn the command into a client"],
        ),
        (
            named("a", &format!("{client}command = \"true\"\n{client}command = \"true\"")),
            "a",
            vec!["have the name `c`"],
        ),
        (named("a", "comand = \"touch ran\""), "a", vec!["unknown field `comand`", "hypocenter.toml:7"]),
        (named("a", "command = \"touch ran\"\ntimeout = \"soon\""), "a", vec!["soon", "hypocenter.toml:8"]),
        (
            named("a", "[[workload.node]]\nname = \"n\"\ncommand = \"touch ran\"\nready = { prot = 1 }"),
            "a",
            vec!["unknown variant `prot`", "hypocenter.toml:10"],
        ),
        (
            named(
                "a",
                &format!(
                    "[[workload.node]]\nname = \"n\"\ncommand = \"touch ran\"\nready = {{ command = \"x 'y\" }}\n\
                     {client}command = \"true\""
                ),
            ),
            "a",
            vec!["a quote is not closed", "hypocenter.toml:"],
        ),
        (
            named(
                "a",
                &format!(
                    "[[workload.node]]\nname = \"n\"\ncommand = \"touch ran\"\nready = {{ log = \"\" }}\n\
                     {client}command = \"true\""
                ),
            ),
            "a",
            vec!["is empty", "hypocenter.toml:"],
        ),
    ];
    each(
        &rows,
        |(text, name, _)| format!("`{name}` of {text}"),
        |(text, name, says)| {
            let mut done = tool("run", text).args(&format!("--hook entry {name}")).end().exits(1);
            for text in says {
                done = done.says(text);
            }
            let done = done.says("try: ");
            assert!(!done.directory().join("ran").exists(), "nothing was run");
            assert!(!done.directory().join("hypocenter-out").exists(), "nothing was begun");
        },
    );
}

#[test]
fn a_program_that_is_not_there_is_named_with_its_node() {
    let parts = workload(
        "[[workload.node]]\nname = \"fine\"\ncommand = \"sleep 600\"\n\
         [[workload.node]]\nname = \"n\"\ncommand = \"no-such-program --flag\"\n\
         [[workload.client]]\nname = \"c\"\ncommand = \"true\"\n",
    );
    run(&parts).exits(1).says("cannot start `no-such-program`").says("PATH");
}

#[test]
fn a_full_disk_ends_the_campaign_and_it_can_be_gone_on_with() {
    if !can_mount("-Urm") {
        return;
    }
    // The workload fills the disk of the results as long as there is a file `greedy`, once what it has said is written down.
    let script = "echo told
         if test -f greedy; then
             until grep -q told \"$HYPOCENTER_DIR/../logs/main.stdout.log\"; do sleep 0.01; done
             cat /dev/zero > \"$HYPOCENTER_DIR/all\"
         fi
         true";
    let verb =
        tool("run", &workload("command = \"sh fill.sh\"\n")).file("fill.sh", script).file("greedy", "");
    fs::create_dir(verb.directory().join("small")).unwrap();
    let hypocenter = env!("CARGO_BIN_EXE_hypocenter");
    let flags = "--no-agent --json --out small";
    let script = format!(
        "mount -t tmpfs -o size=8m none small || exit 99
         {hypocenter} run {flags} --repeat 2 > first.json 2> first.err; echo $? > first.code
         cp -r small/run-0001/trials kept
         {hypocenter} trial --index 0 --quiet --out small > trial.json 2> trial.err; echo $? > trial.code
         rm greedy small/run-0001/trials/000*/dir/all
         {hypocenter} run --resume --json --out small > second.json 2> second.err; echo $? > second.code
         cp -r small/run-0001/trials/. after"
    );
    let mut command = Command::new("unshare");
    command.args(["-Urm", "sh", "-c", &script]).current_dir(verb.directory()).env_remove("JAVA_TOOL_OPTIONS");
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    let output = command.env("JAVA_HOME", &default_jdk().home).output().unwrap();
    let at = |name: &str| verb.directory().join(name);
    let read = |name: &str| {
        fs::read_to_string(at(name)).unwrap_or_else(|error| panic!("{name}: {error}, {output:?}"))
    };
    let error = read("first.err");
    assert_eq!(read("first.code"), "1\n", "{error}");
    assert!(error.contains("No space left on device") && error.contains("trials/000"), "{error}");
    // A scheduler is told to try again.
    assert_eq!(read("trial.code"), "75\n", "{}", read("trial.err"));
    // What it had recorded is there.
    assert_eq!(read("kept/000/logs/main.stdout.log"), "told\n");
    assert!(read("kept/000/plan.json").starts_with('{') && at("kept/000/trace").is_file());
    let error = read("second.err");
    assert_eq!(read("second.code"), "0\n", "{error}");
    let summary: Value = serde_json::from_str(&read("second.json")).unwrap();
    assert_eq!((&summary["trials"], &summary["well"]), (&json!(2), &json!(2)), "{error}");
    assert!(at("after/000.cut-1/logs").is_dir() && at("after/000/outcome.json").is_file(), "{error}");
}

#[test]
#[ignore = "takes up to two minutes with an unoptimised tool, and half a gigabyte of disk: run it with --ignored"]
fn a_gigabyte_of_output_is_cut_and_said() {
    // One line of this length, and a word behind it.
    const BYTES: u64 = 1_100_000_000;
    let parts = "[[workload.node]]\nname = \"n\"\ncommand = \"sh print.sh\"\n\
                 [[workload.client]]\nname = \"c\"\ncommand = \"sh wait.sh\"\n";
    let print = format!(
        "head -c {BYTES} /dev/zero | tr '\\0' x; echo; echo done; touch \"$HYPOCENTER_DIR/done\"; exec sleep 600"
    );
    let wait = "until test -f \"$HYPOCENTER_DIR/done\"; do sleep 0.05; done";
    let tool =
        tool("run", &workload(parts).replace("60s", "600s")).file("print.sh", print).file("wait.sh", wait);
    let done = tool.args("--hook entry --json").end();
    let outcome = done.outcome();
    assert_eq!(outcome["end"], exited(0), "{outcome:#}");
    let kept = fs::metadata(done.trial().join("logs/n.stdout.log")).unwrap().len();
    assert!((1 << 20..=512 << 20).contains(&kept), "{kept} bytes are kept");
    tells(&outcome, "stdout of n", &format!("{} bytes beyond the first", BYTES + 6 - kept));
}
