//! `explore` on a small cluster, `targets/quorum`, with real JVMs.
//!
//! The thread that accepts clients takes every exception for its end. Whichever of its calls fails, and on whichever server,
//! a client is not served, while all three servers say that they are well.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use hypocenter_results::explored::Exploration;
use serde_json::{Value, json};
use support::{Tool, can_mount, default_jdk, quorum_configuration, spool_classes};

/// Once round all keys there are: the thread that starts each of the servers, and the acceptor of each.
const TRIALS: u64 = 6;

/// A campaign on the class with the bug alone: what can be tried is little, so that it is found in seconds.
fn campaign() -> Tool {
    Tool::new("explore")
        .file("hypocenter.toml", quorum_configuration())
        .args("--packages quorum.ClientAcceptor --normal-runs 1 --replays 1 --neighbours 0 --seed 1 --json")
        .args(&format!("--trials {TRIALS}"))
}

#[test]
fn the_acceptor_that_ends_is_found_and_replayed_and_a_resumed_campaign_tells_the_same() {
    let done = campaign().end().exits(2);
    let document = done.outcome();
    assert_eq!((&document["trials"], &document["standing"]), (&TRIALS.into(), &"done".into()));
    assert_eq!(document["keys"], TRIALS, "{document:#}");
    let findings = document["findings"].as_array().expect("a list");
    assert!(!findings.is_empty(), "{document:#}");
    for finding in findings {
        assert_eq!(finding["class"], "quorum.ClientAcceptor");
        assert_ne!(finding["method"], "<init>", "a server that cannot start says so: {finding:#}");
        assert_eq!(finding["kind"], "client", "{finding:#}");
        assert_eq!(finding["severity"], "critical", "{finding:#}");
        assert_eq!(finding["rate"], json!({ "hits": 1, "runs": 1 }), "{finding:#}");
        assert_eq!(finding["proof"], "confirmed", "{finding:#}");
        let replay = finding["replay"].as_str().expect("a command");
        assert!(replay.starts_with("hypocenter replay explore-0001/"), "{replay}");
    }
    let unconfirmed = document["unconfirmed"].as_array().expect("a list");
    assert!(unconfirmed.iter().all(|it| it["rate"]["hits"] == 0), "{unconfirmed:#?}");
    // What follows the trials is announced, and every line has the name that `replay` takes.
    let (all, first) = (findings.len() + unconfirmed.len(), &findings[0]);
    let done = done.says(&format!("the trials are over; {all} suspicious finding"));
    let done = done.says(": a replay of explore-0001/").says("  run       explore-0001/0: no fault");
    for it in document["tried"].as_array().expect("a list") {
        let (number, trial) = (&it["number"], &it["trial"]);
        let mut lines =
            done.stderr.lines().skip_while(|line| !line.starts_with(&format!("  trial {number} ")));
        let line = lines.next().unwrap_or_default();
        assert!(line.contains(&format!("; explore-0001/{trial}, ")), "{line}");
        assert_eq!(
            line.contains(": fine"),
            it["injected"].is_object() && it["symptoms"] == Value::Array(vec![])
        );
    }
    let replay = Tool::new("replay").arg("explore-0001/0").arg("--out");
    let replay = replay.arg(done.directory().join("hypocenter-out")).end().exits(0);
    replay.says(&format!(
        "explore-0001/0 is a run without a fault; findings of the campaign: explore-0001/{}",
        first["trial"]
    ));
    // The hooks and the recording of a trial are those of its replay.
    let out = done.directory().join("hypocenter-out");
    let again = Tool::new("replay").arg(format!("explore-0001/{}", first["trial"])).arg("--out").arg(&out);
    again.end().exits(0);
    let maps = |campaign: &str| {
        let entries = fs::read_dir(out.join(campaign).join("maps")).expect("maps").flatten();
        entries.map(|it| it.file_name()).collect::<Vec<_>>()
    };
    assert_eq!(maps("latest").len(), 1);
    assert_eq!(maps("latest"), maps("explore-0001"), "a replay has other hooks than its trial");
    // Each trial is for a state of a thread of a node, and injects there or nowhere.
    for trial in document["tried"].as_array().expect("a list") {
        let focus = trial["focus"].as_str().expect("bsrr is for a state");
        let Some(injected) = trial["injected"].as_object() else { continue };
        let state = match injected["guard"]["state"].as_str() {
            Some("none") => format!("thread {}", injected["at"]["thread"].as_str().unwrap()),
            _ => injected["at"]["state"].as_str().expect("it is in the state that was asked for").to_owned(),
        };
        assert_eq!(focus, format!("{} {state}", injected["at"]["node"].as_str().unwrap()));
    }

    let latest = done.directory().join("hypocenter-out/explore-0001");
    let again = Tool::new("explore").arg("--resume").arg(&latest).args("--jobs 8 --json").end().exits(2);
    let other = Tool::new("explore").arg("--resume").arg(&latest).args("--trials 9").end().exits(1);
    other.says("cannot be used with");
    let told = again.outcome();
    let seconds = |it: &Value| it["seconds"].as_f64().expect("a number");
    // What people waited for, however many jobs run now.
    assert!(seconds(&told) > seconds(&document) * 0.9, "{} of {}", told["seconds"], document["seconds"]);
    let mut resumed = told.clone();
    // The time between rounds is that of this sitting, which had none.
    for name in ["seconds", "directory", "between_rounds_ms"] {
        resumed[name] = document[name].clone();
    }
    // From another directory the commands say where results are.
    let out = done.directory().join("hypocenter-out").canonicalize().expect("it is there");
    for list in ["findings", "unconfirmed", "known", "expected"] {
        for finding in resumed[list].as_array_mut().expect("a list") {
            let replay = finding["replay"].as_str().expect("a command").to_owned();
            let suffix = format!(" --out {}", out.display());
            finding["replay"] = replay.strip_suffix(&suffix).unwrap_or_else(|| panic!("{replay}")).into();
        }
    }
    assert_eq!(resumed, document);
    assert_report(&latest, &told);
}

/// The page tells every finding, and is written again from what the campaign keeps.
fn assert_report(campaign: &Path, document: &Value) {
    let told: Exploration =
        serde_json::from_value(document.clone()).expect("it has the shape of the report's");
    let read = |name: &str| fs::read_to_string(campaign.join(name)).expect(name);
    let page = read("report.html");
    let findings = told.findings.len();
    assert_eq!(page.matches("<article class=\"finding critical\"").count(), findings);
    for it in &told.findings {
        assert!(page.contains(&format!("<code>{}</code>", it.replay)), "{}", it.replay);
        let client = it.detail.processes.iter().find(|it| !it.is_well).unwrap_or_else(|| panic!("{it:#?}"));
        assert!(client.progress < client.steps, "{client:?}");
        // The fault is in a state of the task, and the thread has come to that state, and no further than its end.
        let task = told
            .tasks
            .iter()
            .find(|task| task.states.iter().any(|at| Some(&at.name) == it.detail.state.as_ref()));
        let task = task.unwrap_or_else(|| panic!("no task has {:?}", it.detail.state));
        let state =
            task.states.iter().position(|at| Some(&at.name) == it.detail.state.as_ref()).map(|it| it as u32);
        assert!(it.detail.ways.iter().any(|it| it.to == state), "{:?}", it.detail.ways);
        assert!(it.detail.ways.iter().any(|it| it.to.is_none()), "the task has ended: {:?}", it.detail.ways);
        assert!(task.states.iter().all(|it| it.line.is_some()), "{task:#?}");
    }
    assert!(page.contains("class=\"state marked\""));
    assert_eq!(read("junit.xml").matches("<failure ").count(), findings);
    let sarif: Value = serde_json::from_str(&read("findings.sarif")).expect("SARIF is JSON");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(findings));
    fs::remove_file(campaign.join("report.html")).expect("it is there");
    Tool::new("report").arg(campaign).end().exits(0).says("report.html");
    assert_eq!(read("report.html"), page);
}

#[test]
fn what_is_to_happen_once_all_are_ready_is_chosen_and_counted_from_then_on() {
    // The first calls of every server are made before it is ready.
    let flags = "--packages quorum.ClientAcceptor --set explore.policy=exhaustive --when-ready --normal-runs 1 --trials 2 --replays 0";
    let tool =
        Tool::new("explore").file("hypocenter.toml", quorum_configuration()).args(flags).args("--json");
    let document = tool.end().outcome();
    assert_eq!((&document["trials"], &document["injected"]), (&2.into(), &2.into()), "{document:#}");
    for trial in document["tried"].as_array().expect("a list") {
        assert_ne!(trial["injected"]["site"]["method"], "<init>", "{trial:#}");
    }
    assert_eq!(document["tried"][0]["injected"]["at"]["occurrence"], 1, "{document:#}");
}

#[test]
fn what_was_never_replayed_is_seen_and_not_a_finding() {
    let flags = "--packages quorum.ClientAcceptor --normal-runs 1 --replays 0 --neighbours 0 --seed 1 --json";
    let tool = Tool::new("explore").file("hypocenter.toml", quorum_configuration()).args(flags);
    let done = tool.args(&format!("--trials {TRIALS}")).end().exits(0);
    let document = done.outcome();
    assert_eq!(document["findings"], json!([]), "{document:#}");
    let unconfirmed = document["unconfirmed"].as_array().expect("a list");
    assert!(!unconfirmed.is_empty(), "{document:#}");
    assert!(unconfirmed.iter().all(|it| it["proof"] == "seen_once"), "{unconfirmed:#?}");
    let done = done.says("seen once, not confirmed: `hypocenter replay explore-0001/");
    let read = |name: &str| fs::read_to_string(done.directory().join("hypocenter-out/latest").join(name));
    assert_eq!(read("junit.xml").expect("JUnit's file").matches("<failure ").count(), 0);
    let sarif: Value = serde_json::from_str(&read("findings.sarif").expect("SARIF")).expect("it is JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("a list");
    assert!(results.iter().all(|it| it["kind"] == "review" && it["level"] == "none"), "{results:#?}");
}

/// A configuration with a small system of one process, and a workload.
fn spool(workload: &str) -> Tool {
    let classes = spool_classes().display();
    let target = format!("[target]\nclasspath = ['{classes}']\npackages = ['spool']\n\n");
    let workload = format!("[[workload]]\nname = 'w'\n{workload}\n");
    Tool::new("explore").file("hypocenter.toml", target + &workload)
}

/// Its program.
fn program() -> String {
    let java = default_jdk().java();
    format!("{java} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp {} spool.Main", spool_classes().display())
}

#[test]
fn a_workload_that_fails_without_a_fault_is_run_a_few_times_and_then_told_and_left_alone() {
    let node =
        "timeout = '1s'\n[[workload.node]]\nname = 'n'\ncommand = 'sleep 600'\nready = { log = 'up' }\n";
    let client = |command: &str| format!("[[workload.client]]\nname = 'c'\ncommand = \"{command}\"\n");
    // The workload, in how many of two runs it fails, what else is said.
    let rows = [
        (format!("{node}{}", client("true")), "in 2 of 2 runs without a fault", "n: it was not ready after"),
        (
            client("true") + "steps = 3\n",
            "in 2 of 2 runs without a fault",
            "c: it exited with status 0 after no step of 3",
        ),
        (
            client("sh -c 'test -e once && exit 0; touch once; exit 1'"),
            "in 1 of 2 runs without a fault",
            "the workload exited with status 1",
        ),
    ];
    // A judge that cannot judge would be silent in all trials.
    let judge = spool(&client("true")).args("--normal-runs 1 --oracle").arg("{ command = '/nowhere' }");
    judge.end().exits(4).says("oracle: ");
    for (workload, often, what) in rows {
        let done = spool(&workload).args("--normal-runs 2 --json").end().exits(4).says(often).says(what);
        let document = done.outcome();
        assert_eq!((&document["trials"], &document["normal_runs"]), (&0.into(), &2.into()), "{document:#}");
        assert!(document["standing"]["normal_fails"]["wrong"].is_array(), "{document:#}");
    }
}

#[test]
fn the_oracle_of_the_failure_judges_a_workload_that_has_no_clients() {
    let failure = |workload: &str| format!("{workload}\n[failure]\noracle = {{ exit = 0 }}\n");
    let oracle_of = |tool: Tool| {
        let done = tool.args("--normal-runs 1 --json").end();
        let campaign = fs::read_to_string(done.directory().join("hypocenter-out/latest/campaign.json"));
        let campaign: Value = serde_json::from_str(&campaign.expect("the campaign is kept")).expect("JSON");
        (done, campaign["oracle"].clone())
    };
    let (done, oracle) = oracle_of(spool(&failure("command = 'true'")));
    assert_eq!(oracle, serde_json::json!({ "exit": 0 }));
    let done = done.exits(4).says("exit 0 (from [failure])");
    let done = done.says("the oracle reports the failure");
    assert!(!done.stderr.contains("it has no clients"), "{}", done.stderr);
    let given = spool(&failure("command = 'true'")).args("--oracle").arg("{ exit = 7 }");
    let (done, oracle) = oracle_of(given);
    assert_eq!(oracle, serde_json::json!({ "exit": 7 }));
    assert!(!done.stderr.contains("(from [failure]"), "{}", done.stderr);
    // Clients are compared with one another.
    let client = "[[workload.client]]\nname = 'c'\ncommand = 'true'";
    assert_eq!(oracle_of(spool(&failure(client))).1, Value::Null);
}

#[test]
fn a_workload_that_reaches_nothing_and_a_policy_that_has_nothing_left_say_so() {
    let idle = spool("command = 'true'").args("--normal-runs 1 --json").end().exits(3);
    let idle = idle.says("it reaches no call that can fail");
    let idle = idle.says("did not start");
    assert_eq!(idle.outcome()["standing"], "nothing_to_inject");

    let workload = format!("command = '{} {{dir}}'\ntimeout = '60s'", program());
    let flags = "--normal-runs 1 --set explore.policy=new-state --trials 1000 --replays 0 --json";
    let done = spool(&workload).args(flags).end().says("the policy has nothing left to inject after");
    let done = done.says("it has no clients, so a failure of the workload counts as minor");
    let done = done.says("to examine these trials use --oracle '{ exit = \"failed\" }'");
    let document = done.outcome();
    assert_eq!(document["standing"], "nothing_left", "{document:#}");
    let trials = document["trials"].as_u64().expect("a number");
    assert!((1..100).contains(&trials), "{document:#}");
}

#[test]
fn a_node_inside_a_process_has_states_and_faults_of_its_own() {
    let node = "[[workload.node]]\nname = 'sender'\nthreads = ['Sender']";
    let workload = format!("command = '{} {{dir}}'\ntimeout = '60s'\n{node}", program());
    for policy in ["bsrr", "random"] {
        let flags = format!(
            "--normal-runs 1 --trials 4 --replays 1 --neighbours 0 --set explore.policy={policy} --json"
        );
        let document = spool(&workload).args(&flags).end().outcome();
        let tried = document["tried"].as_array().expect("a list");
        let injected: Vec<&Value> = tried.iter().filter(|it| it["injected"].is_object()).collect();
        let of_sender = |it: &&&Value| it["injected"]["at"]["thread"] == "Sender";
        assert!(injected.iter().filter(of_sender).count() > 0, "{policy}: {document:#}");
        for it in injected {
            let node = if it["injected"]["at"]["thread"] == "Sender" { "sender" } else { "main" };
            assert_eq!(it["injected"]["at"]["node"], node, "{it:#}");
            if let Some(focus) = it["focus"].as_str() {
                assert!(focus.starts_with(&format!("{node} ")), "{it:#}");
            }
        }
        // The same instance comes again, so that what it did can.
        for it in document["findings"].as_array().expect("a list") {
            assert_eq!(it["rate"]["hits"], 1, "{policy}: {it:#}");
        }
    }
}

#[test]
fn classes_that_are_not_there_are_named_before_what_follows_from_it() {
    let path = format!("{}:gone", spool_classes().display());
    let done = spool("command = 'true'").args("--packages no.such --classpath").arg(path).end().exits(1);
    let at = |text: &str| done.stderr.find(text).unwrap_or_else(|| panic!("no `{text}`: {}", done.stderr));
    assert!(at("gone: ") < at("nothing to hook"), "{}", done.stderr);
}

#[test]
fn of_several_workloads_that_of_the_failure_is_taken_where_none_is_named() {
    let explore = |failure: &str| {
        let workloads = format!("command = 'true'\n[[workload]]\nname = 'v'\ncommand = 'true'\n{failure}");
        // It ends where nothing can be hooked.
        spool(&workloads).args("--packages no.such")
    };
    let (failure, taken) = ("[failure]\nworkload = 'v'\n", "v (from [failure], as none is given)");
    explore(failure).end().exits(1).says(taken).says("nothing to hook");
    for named in ["w", "--workload w"] {
        let done = explore(failure).args(named).end().exits(1).says("nothing to hook");
        assert!(!done.stderr.contains("none is named"), "{}", done.stderr);
    }
    explore("").end().exits(1).says("hypocenter.toml has several workloads, and none was given: w, v");
}

#[test]
fn ended_by_the_user_it_says_so_once_and_first() {
    let program = format!("{} \"$HYPOCENTER_DIR\"", program());
    let script = format!("case $HYPOCENTER_DIR in */002/*) touch begun; sleep 600;; esac\nexec {program}\n");
    let tool = spool("command = 'sh spool.sh'\ntimeout = '60s'").file("spool.sh", script);
    let mut running = tool.args("--normal-runs 1 --trials 5 --sandbox off").start();
    running.wait_for("begun");
    running.signal("INT");
    let done = running.end().exits(3);
    let lines = |text: &str| {
        let at = done.stderr.lines().enumerate().filter(|(_, it)| it.contains(text)).map(|it| it.0);
        at.collect::<Vec<_>>()
    };
    let (ended, so_far) = (lines("you interrupted the campaign"), lines("  so far    1 trial,"));
    assert!(ended.len() == 1 && so_far.len() == 1 && ended < so_far, "{}", done.stderr);
    assert!(lines("  done").is_empty() && lines("error:").is_empty(), "{}", done.stderr);
    assert_eq!(lines("`hypocenter explore --resume explore-0001` continues it"), ended);
}

#[test]
fn a_known_finding_that_cannot_be_meant_is_refused_with_its_line() {
    for (known, what) in [
        ("why = 'x'", "a known finding needs a `site`, or a method of its `stack`"),
        ("site = 'no such thing'\nwhy = 'x'", "does not name a site"),
        ("stack = 'a.B.c'\nfault = 'flood'\nwhy = 'x'", "use `exception` or `delay`"),
        ("stack = 'a.B.c'", "missing field `why`"),
    ] {
        let workload = format!("command = 'true'\n[[explore.known]]\n{known}");
        spool(&workload).end().exits(1).says("hypocenter.toml:").says(what);
    }
}

#[test]
fn a_disk_that_is_full_in_the_middle_is_named_and_the_campaign_goes_on_when_there_is_room() {
    if !can_mount("-Urm") {
        return;
    }
    let hypocenter = env!("CARGO_BIN_EXE_hypocenter");
    // The second trial with a fault fills the disk of the results as long as there is a file `greedy`: for good, or while its JVM runs,
    // so that all can be written down but what the JVM did.
    for (then, told) in [
        ("", "No space left on device"),
        ("; rm \"$HYPOCENTER_DIR/all\"", "002: the disk was full, and the record of the trial is incomplete"),
    ] {
        let program = format!("{} \"$HYPOCENTER_DIR\"", program());
        let greedy = format!("cat /dev/zero > \"$HYPOCENTER_DIR/all\"; {program}{then}; exit 0");
        let script = format!(
            "case $HYPOCENTER_DIR in */002/*) if test -f greedy; then {greedy}; fi;; esac\nexec {program}\n"
        );
        let verb =
            spool("command = 'sh spool.sh'\ntimeout = '60s'").file("spool.sh", script).file("greedy", "");
        fs::create_dir(verb.directory().join("small")).expect("a directory");
        let script = format!(
            "mount -t tmpfs -o size=64m none small || exit 99
             {hypocenter} explore --normal-runs 1 --trials 3 --replays 0 --out small > /dev/null 2> first.err; echo $? > first.code
             rm -f greedy small/explore-0001/trials/*/dir/all
             {hypocenter} explore --resume --json --out small > second.json 2> second.err; echo $? > second.code
             ls small/explore-0001/trials > trials"
        );
        let mut command = Command::new("unshare");
        command.args(["-Urm", "sh", "-c", &script]).current_dir(verb.directory());
        command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &default_jdk().home);
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        let output = command.output().expect("unshare can be run");
        let read = |name: &str| {
            let path = verb.directory().join(name);
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}, {output:?}"))
        };
        assert_eq!(read("first.code"), "1\n", "{}", read("first.err"));
        for it in [told, "`hypocenter explore --resume explore-0001 --out small` continues it"] {
            assert!(read("first.err").contains(it), "{}", read("first.err"));
        }
        let second: Value = serde_json::from_str(&read("second.json")).expect("a document");
        assert_eq!((&second["trials"], &second["standing"]), (&3.into(), &"done".into()), "{second:#}");
        assert!(read("trials").contains("002.cut-1"), "what it had recorded is kept: {}", read("trials"));
    }
}
