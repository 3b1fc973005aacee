//! Effects that a user sees: the destination of output, the agent in a JVM that a script starts, and the documents.

mod support;

use std::fs;

use serde_json::Value;
use support::{Done, Tool, classes, default_jdk, spool_classes};

const SCRIPT: &str = "echo on stdout; echo on stderr >&2; \"$JAVA\" -cp \"$CLASSES\" probe.Guards many 2";

fn logs(done: &Done) -> (String, String) {
    let read = |name: &str| fs::read_to_string(done.trial().join("logs").join(name)).expect("logs are kept");
    (read("main.stdout.log"), read("main.stderr.log"))
}

#[test]
fn stdout_is_the_commands_own() {
    let done = Tool::new("run").args("--hook entry").script("probe", SCRIPT).exits(0);
    let stdout = "on stdout\nmain 1: fine\nmain 2: fine\n";
    assert_eq!(done.stdout, stdout);
    assert_eq!(logs(&done), (stdout.to_owned(), "on stderr\n".to_owned()));
    assert!(!done.stderr.contains("Picked up"), "{}", done.stderr);
    done.says("on stderr\n").says("reached").says("kept in");
}

#[test]
fn a_directory_may_be_called_what_a_shell_would_split() {
    let done =
        Tool::new("run").args("--hook entry --quiet --out").arg("it's \"here\" now").script("probe", SCRIPT);
    let done = done.exits(0).says("reached");
    let kept = done.directory().join("it's \"here\" now/latest/trials/000/logs/main.stderr.log");
    assert_eq!(fs::read_to_string(kept).expect("logs are kept"), "on stderr\n");
}

#[test]
fn with_json_stdout_is_one_document() {
    let done = Tool::new("run").args("--hook entry --json").script("probe", SCRIPT).exits(0);
    let outcome: Value = done.outcome();
    assert_eq!(outcome["version"], 1);
    assert!(done.stderr.contains("main 2: fine\n") && done.stderr.contains("on stdout\n"), "{}", done.stderr);
    assert!(!done.stderr.contains("Picked up"), "{}", done.stderr);
    assert_eq!(logs(&done).1, "on stderr\n");
    // The same is kept.
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(done.trial().join("outcome.json")).unwrap()).unwrap();
    assert_eq!(kept, outcome);
}

#[test]
fn an_inherited_java_tool_options_still_takes_effect() {
    let print = "\"$JAVA\" -XshowSettings:properties -cp \"$CLASSES\" probe.Guards many 1 2>&1 | grep 'given.by\\|Picked'";
    let inherited = "-Dgiven.by=user \"-Dgiven.by.too=a b\"";
    let tool = Tool::new("run").args("--hook entry --json").env("JAVA_TOOL_OPTIONS", inherited);
    let done = tool.script("probe", print).exits(0);
    let lines: Vec<String> = logs(&done).0.lines().map(|it| it.trim().to_owned()).collect();
    // What the JVM would say without us, and no word more.
    let picked_up = format!("Picked up JAVA_TOOL_OPTIONS: {inherited}");
    assert_eq!(lines, [picked_up.as_str(), "given.by = user", "given.by.too = a b"]);
    assert_eq!(done.outcome()["jvms"].as_array().unwrap().len(), 1);
    // Also where the agent goes onto the command itself.
    let (java, path) = (default_jdk().java(), classes().display().to_string());
    let tool = Tool::new("run").args("--hook entry --json").env("JAVA_TOOL_OPTIONS", inherited);
    let done = tool
        .command(&[&java, "-XshowSettings:properties", "-cp", &path, "probe.Guards", "many", "1"])
        .exits(0);
    assert!(logs(&done).1.contains("given.by = user"), "{}", logs(&done).1);
    assert_eq!(done.outcome()["jvms"].as_array().unwrap().len(), 1);
}

#[test]
fn a_directory_with_a_space_is_no_obstacle() {
    let tool = Tool::new("inject")
        .arg("Guards.hit")
        .args("--throw java.io.IOException --json")
        .arg("--out")
        .arg("my results");
    let done = tool.script("probe", "\"$JAVA\" -cp \"$CLASSES\" probe.Guards many 1").exits(0);
    assert_eq!(done.outcome()["candidates"][0]["result"]["end"], "injected");
}

#[test]
fn jvms_that_are_not_the_target_are_left_alone() {
    // Two JVMs, of which one loads nothing of the target.
    let script = "\"$JAVA\" -version 2>/dev/null; \"$JAVA\" -cp \"$CLASSES\" probe.Guards many 2";
    let done =
        Tool::new("inject").arg("Guards.hit").args("--crash --at 2 --json").script("probe", script).exits(0);
    let outcome = done.outcome();
    assert_eq!(outcome["jvms"].as_array().unwrap().len(), 1, "{outcome:#}");
    assert_eq!(outcome["end"]["status"], 137);
    assert_eq!(outcome["problems"], serde_json::json!([]));
}

#[test]
fn the_exit_code_of_a_run_tells_how_the_command_ended() {
    // A command that fails without a fault: the run fails already.
    let failing = "\"$JAVA\" -cp \"$CLASSES\" probe.Guards many 1; exit 5";
    Tool::new("run").args("--hook entry").script("probe", failing).exits(4).says("exited with status 5");
    // Under a fault that was injected, it is what was asked for.
    Tool::new("inject").arg("Guards.hit").args("--sleep 1ms").script("probe", failing).exits(0);
}

#[test]
fn doctor_tries_the_agent_in_every_jdk() {
    let done = Tool::new("doctor").arg("--json").end().exits(0);
    let checks: Value = done.outcome();
    let good = |what: &str| {
        let fits = |it: &&Value| it["what"].as_str().unwrap().starts_with(what);
        checks.as_array().unwrap().iter().filter(fits).filter(|it| it["good"] == true).count()
    };
    assert!(good("agent in Java") >= support::jdks().len(), "{checks:#}");
    assert!(good("faults in Java") >= support::jdks().len(), "{checks:#}");
    assert_eq!(good("Java compiler"), 1, "{checks:#}");
}

#[test]
fn doctor_names_a_java_home_that_is_none() {
    let done = Tool::new("doctor").env("JAVA_HOME", "/no/such").end();
    done.says("JAVA_HOME: /no/such is not a Java installation: it has no bin/java").says(", or unset it");
    let done = Tool::new("doctor").env("JAVA_HOME", "").end();
    assert!(!done.stderr.contains("JAVA_HOME:"), "{}", done.stderr);
}

#[test]
fn schemas_are_printed_and_fit_what_is_written() {
    for (document, property) in
        [("plan", "candidates"), ("outcome", "jvms"), ("dump", "threads"), ("summary", "found")]
    {
        let done = Tool::new("schema").arg(document).end().exits(0);
        assert!(done.outcome()["properties"][property].is_object());
        assert_eq!(done.stderr, "");
    }
}

#[test]
fn a_run_lists_first_what_can_fail() {
    let (java, path) = (default_jdk().java(), spool_classes().display().to_string());
    let run = |top: &str| {
        let tool = Tool::new("run").args("--hook call,block --quiet --packages spool --top").arg(top);
        tool.command(&[&java, "-cp", &path, "spool.Main", "data"]).exits(0)
    };
    let done =
        run("1000").says("  reached   call ").says(", block ").says("other calls that declare exceptions");
    let listed: Vec<(u64, &str)> = done
        .stderr
        .lines()
        .filter_map(|it| it.trim_start().split_once("  "))
        .filter_map(|(count, site)| Some((count.replace(',', "").parse().ok()?, site.trim())))
        .collect();
    let place = |text: &str| listed.iter().position(|it| it.1.contains(text)).expect(text);
    let most = listed.iter().map(|it| it.0).max().expect("something is listed");
    // A disk can fail, and is asked seldom; what declares some other exception comes next, and the rest by its number.
    let channel = place("-> java.nio.channels.FileChannel.write");
    let own = place("-> spool.Outbox.append");
    assert!(listed[0].0 < most && channel < own, "{listed:#?}");
    assert!(own < place("-> java.util.logging.Logger.info"), "{listed:#?}");
    run("1")
        .says("            1 of ")
        .says(" sites (--top), I/O calls first, then other calls that declare exceptions");
    let none = run("0").says("  reached   call ");
    assert!(!none.stderr.contains("declare exceptions"), "{}", none.stderr);
}

#[test]
fn results_may_be_removed_at_any_time() {
    let done = Tool::new("run").args("--hook entry").java("probe.Guards many 1").exits(0);
    let out = done.directory().join("hypocenter-out");
    let tool = |verb: &str| {
        let tool = Tool::new(verb).arg("--out").arg(&out);
        if verb == "run" { tool.args("--hook entry").java("probe.Guards many 1") } else { tool.end() }
    };
    tool("run").exits(0).says("run-0002");
    fs::remove_dir_all(out.join("run-0002")).expect("it is there");
    tool("replay")
        .exits(1)
        .says("latest: the latest campaign, run-0002, was removed")
        .says("known campaigns: run-0001");
    let gone = Tool::new("replay").arg("run-0002").arg("--out").arg(&out).end().exits(1);
    gone.says("run-0002: the campaign does not exist").says("known campaigns: run-0001");
    // What it ran in must be there for the replay.
    let again = tool("run").exits(0).says("run-0002");
    tool("replay").exits(0).says("run-0002");
    drop(again);
    fs::remove_dir_all(&out).expect("it is there");
    tool("replay").exits(1).says("no campaign exists below");
    tool("run").exits(0).says("run-0001");
}

#[test]
fn the_guide_needs_no_file() {
    let list = Tool::new("guide").end().exits(0);
    assert!(list.stdout.contains("  start ") && list.stdout.contains("  exit-codes "), "{}", list.stdout);
    assert_eq!(list.stderr, "");
    let page = Tool::new("guide").arg("oracles").end().exits(0);
    assert!(page.stdout.starts_with("# Writing an oracle\n"), "{}", page.stdout);
    assert_eq!(page.stderr, "");
    Tool::new("guide").arg("nonsense").end().exits(1).says("nonsense").says("start, clusters, exploring");
}

#[test]
fn a_campaign_that_goes_on_takes_no_setting_that_it_would_not_look_at() {
    for (verb, flag) in [
        ("reproduce", "--trials 9"),
        ("reproduce", "--faults delays"),
        ("reproduce", "--oracle {exit=1}"),
        ("explore", "--packages a"),
        ("explore", "--set explore.key=operation"),
        ("run", "--seed 3"),
        ("run", "--timeout 9s"),
    ] {
        let done = Tool::new(verb).args("--resume latest").args(flag).end().exits(1);
        let flag = flag.split(' ').next().unwrap_or_default();
        done.says("cannot be used with").says(flag);
    }
}
