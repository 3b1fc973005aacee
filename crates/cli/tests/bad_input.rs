//! Bad input: each kind ends in a message that names what is wrong, and in its documented exit code.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::{Done, Tool, can_mount, classes, default_jdk, each, spool_classes};

/// A copy of the class path with one class file changed, in the directory of a run.
fn spoilt(tool: &Tool, class: &str, spoil: impl Fn(Vec<u8>) -> Vec<u8>) -> String {
    let target = tool.directory().join("spoilt");
    let package = target.join(Path::new(class).parent().unwrap());
    fs::create_dir_all(&package).unwrap();
    for entry in fs::read_dir(classes().join(Path::new(class).parent().unwrap())).unwrap().flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), package.join(entry.file_name())).unwrap();
        }
    }
    fs::write(target.join(class), spoil(fs::read(classes().join(class)).unwrap())).unwrap();
    target.display().to_string()
}

type Spoil = fn(Vec<u8>) -> Vec<u8>;

fn cut(bytes: Vec<u8>) -> Vec<u8> {
    bytes[..bytes.len() / 3].to_vec()
}

/// Class files of a Java that is not there yet.
fn too_new(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[6..8].copy_from_slice(&70u16.to_be_bytes());
    bytes
}

#[test]
fn a_broken_jar_is_named_and_the_rest_of_the_class_path_is_used() {
    let jar = b"PK\x03\x04 this was a jar once".repeat(20);
    let good = classes().display().to_string();
    let java = default_jdk().java();
    let tool = Tool::new("run").args("--hook entry").file("broken.jar", &jar);
    let done =
        tool.command(&[&java, "-cp", &format!("{good}:broken.jar"), "probe.Guards", "many", "1"]).exits(0);
    done.says("broken.jar: the jar is not a readable jar").says("its classes are left out");
    let tool = Tool::new("run").args("--hook entry").file("broken.jar", &jar);
    let done = tool.command(&[&java, "-cp", "broken.jar", "probe.Guards", "many", "1"]).exits(1);
    done.says("broken.jar: the jar is not a readable jar");
}

#[test]
fn a_broken_class_is_named_and_the_others_are_hooked() {
    let rows: [(Spoil, &str); 2] =
        [(cut, "class file is cut off at byte"), (too_new, "class file version 70")];
    let java = default_jdk().java();
    each(
        &rows,
        |(_, says)| says.to_string(),
        |(spoil, says)| {
            let tool = Tool::new("run").args("--hook entry --json");
            let path = spoilt(&tool, "probe/Kinds.class", spoil);
            let done = tool.command(&[&java, "-cp", &path, "probe.Guards", "many", "2"]).exits(0);
            assert!(done.outcome()["jvms"][0]["hits"].as_u64().unwrap() >= 2);
            done.says("probe.Kinds: ").says(says).says("its sites are left out");
            // Asked for a site in that very class, the tool says why there is none.
            let tool = Tool::new("inject").arg("Kinds.call").args("--sleep 1ms");
            let path = spoilt(&tool, "probe/Kinds.class", spoil);
            let done = tool.command(&[&java, "-cp", &path, "probe.Guards", "many", "2"]).exits(1);
            done.says("no site matches `Kinds.call`").says("probe.Kinds: ").says(says);
        },
    );
}

#[test]
fn without_a_jdk_the_message_says_what_to_install() {
    let tool = Tool::new("inject").arg("Guards.hit").args("--sleep 1ms").env("PATH", "").env("JAVA_HOME", "");
    let path = classes().display().to_string();
    let done = tool.command(&["java", "-cp", &path, "probe.Guards", "many", "1"]).exits(1);
    done.says("no Java installation was found").says("apt-get install openjdk-17-jdk").says("JAVA_HOME");
}

#[test]
fn an_agent_that_did_not_start_is_told_from_a_site_that_was_not_reached() {
    // The command drops the option that loads the agent.
    let script = "unset JAVA_TOOL_OPTIONS; exec \"$JAVA\" -cp \"$CLASSES\" probe.Guards many 2";
    let inject = || Tool::new("inject").arg("Guards.hit").args("--sleep 1ms --json");
    let done = inject().script("probe", script).exits(2);
    assert_eq!(done.program(), "main 1: fine\nmain 2: fine\n");
    let outcome = done.outcome();
    assert_eq!(outcome["candidates"][0]["result"]["end"], "not_reached");
    assert!(outcome["problems"].to_string().contains("the agent did not start in any JVM"), "{outcome:#}");
    done.says("the agent did not start in any JVM").says("hypocenter doctor");
    let done = Tool::new("run").args("--hook entry --json").script("probe", script).exits(1);
    done.says("the agent did not start in any JVM");
}

#[test]
fn a_command_that_starts_no_jvm_or_none_at_all() {
    let inject = || Tool::new("inject").arg("Guards.hit").args("--sleep 1ms");
    let run = || Tool::new("run").args("--hook entry");
    let with_classes = |tool: Tool| {
        let path = classes().display().to_string();
        tool.args(&format!("--classpath {path} --packages probe"))
    };
    let has_no_jvm = |done: Done| assert_eq!(done.outcome()["jvms"].as_array().map(Vec::len), Some(0));
    has_no_jvm(with_classes(inject()).args("--json").command(&["true"]).exits(2));
    with_classes(inject()).command(&["false"]).exits(2).says("exited with status 1");
    has_no_jvm(with_classes(run()).args("--json").command(&["true"]).exits(1));
    let done = with_classes(run()).command(&["no-such-program"]).exits(1);
    done.says("cannot start `no-such-program`").says("PATH");
    let done = run().command(&["no-such-program"]).exits(1);
    done.says("`no-such-program` is not `java`, so its class path is unknown").says("--classpath");
    // A main class that does not exist: the JVM starts, and nothing of the target is loaded in it.
    let done = with_classes(inject()).java("probe.NoSuchClass").exits(2);
    done.says("not reached").says("no JVM loaded a class with hooks");
    let done = with_classes(run()).java("probe.NoSuchClass").exits(1);
    done.says("it exited with status 1 before any class of the target was loaded")
        .says("output    ")
        .says("ClassNotFoundException");
    // As Maven does where its local repository is empty.
    let mvn = "\"$JAVA\" -version; echo '[ERROR] Cannot access central in offline mode'; exit 1";
    let done = run().arg("--quiet").script("probe", mvn).exits(1);
    done.says("output    [ERROR] Cannot access central").says("run `mvn test` once with a network");
}

#[test]
fn a_command_that_never_ends_is_ended_with_all_it_started() {
    // A JVM behind a shell, and the shell goes on for ever.
    let script =
        "\"$JAVA\" -cp \"$CLASSES\" probe.Guards many 3; sleep 600 & echo $! > pids; echo $$ >> pids; wait";
    let done = Tool::new("run")
        .args("--hook entry --json --timeout 4s --sandbox off")
        .script("probe", script)
        .exits(3);
    let outcome = done.outcome();
    assert_eq!(outcome["end"], json!({"how": "timed_out"}));
    // What was recorded before is there, if the JVM came to it within its time.
    if let Ok(pids) = fs::read_to_string(done.directory().join("pids")) {
        assert_eq!(outcome["jvms"].as_array().unwrap().len(), 1, "{outcome:#}");
        for pid in pids.split_whitespace() {
            assert!(!support::is_running(pid), "process {pid} is left");
        }
    }
    let done = Tool::new("inject")
        .arg("Kinds.call")
        .args("--sleep 600s --json --timeout 4s")
        .java("probe.Kinds call 1");
    // The fault was injected, or the time was up before.
    assert!([0, 3].contains(&done.code), "{}", done.stderr);
    assert_eq!(done.outcome()["end"], json!({"how": "timed_out"}));
}

#[test]
fn a_site_that_does_not_exist_brings_suggestions() {
    let rows: &[(&str, &[&str])] = &[
        ("Guards.hti", &["`Guards` has no method `hti`", "probe.Guards.hit"]),
        ("Gards.hit", &["no class `Gards` is on the class path", "probe.Guards"]),
        (
            "Guards.hit -> Guards.nothin",
            &["does not call `Guards.nothin`", "probe.Guards.hit -> probe.Guards.nothing"],
        ),
        ("Guards.hit loop 0", &["has no site of kind loop_iteration"]),
        ("Guards.hit:9999", &["no site of kind entry has this line or number", "probe.Guards.hit"]),
        ("Guards.hit return", &["has no site of kind boolean_return"]),
        ("Guards", &["names no class; write `Class.method`"]),
        ("Guards.hit ->", &["the callee is missing"]),
        ("Guards.hit sometimes", &["`sometimes` is not known behind the method"]),
        ("", &["the method is missing"]),
    ];
    each(
        rows,
        |(site, _)| site.to_string(),
        |(site, says)| {
            let done = Tool::new("inject").arg(site).args("--sleep 1ms").java("probe.Guards many 1").exits(1);
            assert_eq!(done.stdout, "");
            assert!(!done.directory().join("hypocenter-out").exists(), "nothing is written");
            says.iter().fold(done, |done, text| done.says(text));
        },
    );
}

#[test]
fn a_wrong_command_line_ends_with_a_hint() {
    // The verb and its flags, and what is said.
    let rows: &[(&str, &str, &str)] = &[
        ("run", "--packages org.none", "nothing to hook: no class of org.none"),
        ("run", "--packages prboe", "is on the class path, which has probe\n"),
        ("run", "--oracle dropped", "'{ log = \"dropped\" }'"),
        ("run", "probe --workload probe", "cannot be used with"),
        ("run", "--hook bloc", "--hook bloc: unknown kind of hook"),
        ("run", "--config none.toml", "none.toml: No such file"),
        ("run", "--plan none.json", "plan none.json: No such file"),
        ("run", "--plan none.json --record off", "cannot be used with"),
        ("inject", "Guards.hit", "required arguments were not provided"),
        ("inject", "Guards.hit --crash --negate", "cannot be used with"),
        ("inject", "Guards.hit --sleep 5", "the unit is missing"),
        ("inject", "Guards.hit --delay 5", "the unit is missing"),
        ("inject", "Guards.hit --sleep 1ms --at 0", "--at 0: the first hit is number 1"),
        ("inject", "Guards.hit --sleep 1ms --probability 2", "probability 2: give a number from 0 to 1"),
        ("inject", "Guards.hit --negate", "`Guards.hit` has no site of kind boolean_return"),
        ("inject", "Guards.hit --sleep 1ms --message x", "cannot be used with"),
        ("inject", "Guards.hit --message x", "--throw"),
    ];
    each(
        rows,
        |(verb, flags, _)| format!("{verb} {flags}"),
        |(verb, flags, says)| {
            Tool::new(verb).args(flags).java("probe.Guards many 1").exits(1).says(says);
        },
    );
}

#[test]
fn a_plan_that_cannot_be_carried_out_is_refused() {
    let site =
        json!({"class": "probe.Guards", "method": "hit", "descriptor": "()V", "kind": "entry", "ordinal": 0});
    let fault = json!({"kind": "delay", "delay_ms": 1});
    let with =
        |when: Value| json!({"version": 1, "candidates": [{"site": site, "fault": fault, "when": when}]});
    let other_site = |change: &dyn Fn(&mut Value)| {
        let mut plan = with(json!({}));
        change(&mut plan["candidates"][0]["site"]);
        plan
    };
    let rows = [
        (json!({"version": 2}), "the plan has format version 2, this tool supports version 1"),
        (json!({"version": 1, "candidate": []}), "unknown field `candidate`"),
        (json!({}), "missing field `version`"),
        (with(json!({"state": "s"})), "state `s`: no task of the plan has it"),
        (with(json!({"loop": site})), "is no site of kind loop_body; name the loop by that"),
        (
            with(json!({"since": {"site": site, "at_least_ms": 5, "at_most_ms": 4}})),
            "give a window that is not empty",
        ),
        (with(json!({"when": 3})), "unknown field `when`"),
        (with(json!({"occurrence": 0})), "occurrence 0"),
        (other_site(&|site| site["method"] = json!("hti")), "candidate 0"),
        (other_site(&|site| site["class"] = json!("probe.Gards")), "candidate 0"),
        (other_site(&|site| site["ordinal"] = json!(7)), "candidate 0"),
        (
            json!({"version": 1, "candidates": [{"site": site, "fault": {"kind": "negate"}}]}),
            "use a site of kind boolean_return",
        ),
    ];
    each(
        &rows,
        |(plan, _)| plan.to_string(),
        |(plan, says)| {
            Tool::new("run").plan(plan).java("probe.Guards many 1").exits(1).says(says);
        },
    );
    let tool = Tool::new("run").file("plan.json", "{\"version\": 1,\n \"limit\": }").args("--plan plan.json");
    let done = tool.java("probe.Guards many 1").exits(1);
    done.says("plan plan.json: ").says("line 2").says("hypocenter schema plan");
}

#[test]
fn a_broken_configuration_is_named_with_its_line() {
    let rows = [
        ("[target]\nclasspath = [\"a\"\n", "hypocenter.toml:"),
        ("[target]\nclasspth = [\"a\"]\n", "unknown field `classpth`"),
        ("[target]\npackages = 3\n", "hypocenter.toml:2"),
        (
            "[failure]\nworkload = 'b'\n[[workload]]\nname = 'a'\ncommand = 'true'\n",
            "unknown workload `b`, known: a",
        ),
        ("[failure]\nlogs = ['a.log']\nlayout = '%'\n", "hypocenter.toml:3: log pattern `%`"),
    ];
    each(
        &rows,
        |(text, _)| text.to_string(),
        |(text, says)| {
            let tool = Tool::new("run").file("hypocenter.toml", text);
            let done = tool.java("probe.Guards many 1").exits(1).says(says).says("hypocenter.toml:");
            assert!(!done.stderr.contains('\u{fffd}'), "the message is readable: {}", done.stderr);
            done.says("hypocenter guide configuration");
        },
    );
}

#[test]
fn what_has_no_name_in_the_configuration_is_told_with_its_place() {
    let workload = "[[workload]]\nname = 'w'\n";
    let client = "[[workload.client]]\nname = 'c'\ncommand = 'true'\n";
    let rows = [
        ("[[workload]]\ncommand = 'true'\n".to_owned(), "toml:1: this [[workload]] has no name; add a line"),
        (
            "[[workload]]\nname = ''\ncommand = 'true'\n".to_owned(),
            "toml:1: a workload has an empty name; set `name`",
        ),
        (
            format!("{workload}[[workload.node]]\ncommand = 'true'\n{client}"),
            "toml:3: this [[workload.node]] has no name; add a line",
        ),
        (
            format!("{workload}[[workload.node]] # one\nname = ' '\ncommand = 'true'\n{client}"),
            "workload `w`: node 1 has an empty name; set `name` below its [[workload.node]]",
        ),
        (
            format!("{workload}[[workload.client]] # one\ncommand = 'true'\n"),
            "toml:3: this [[workload.client]] has no name; add a line",
        ),
        (
            format!("{workload}{client}[[workload.client]]\nname = ''\ncommand = 'true'\n"),
            "workload `w`: client 2 has an empty name; set `name` below its [[workload.client]]",
        ),
    ];
    each(
        &rows,
        |(text, _)| text.clone(),
        |(text, says)| {
            let tool = Tool::new("run").file("hypocenter.toml", text);
            tool.java("probe.Guards many 1").exits(1).says(says);
        },
    );
}

#[test]
fn a_campaign_with_the_highest_number_leaves_room_or_is_told() {
    let run = |last: &str| {
        let tool = Tool::new("run").args("--hook entry");
        fs::create_dir_all(tool.directory().join("hypocenter-out").join(last)).unwrap();
        tool.java("probe.Guards many 1")
    };
    let done = run("run-4294967295").exits(0);
    done.says("kept in   hypocenter-out/run-4294967296/");
    let done = run("run-18446744073709551615").exits(1);
    done.says("hypocenter-out: `run-18446744073709551615` leaves no number for another campaign")
        .says("rename or remove that directory, or name the campaign with --campaign");
}

#[test]
fn a_class_of_the_command_that_is_not_there_is_told_and_not_its_package() {
    let tool = Tool::new("run").args("--hook entry");
    let (java, other) = (default_jdk().java(), tool.directory().join("classes"));
    // A class path that has classes, none of which is in a package.
    fs::create_dir(&other).unwrap();
    fs::write(tool.directory().join("Plain.java"), "class Plain {}\n").unwrap();
    let javac = default_jdk().home.join("bin/javac");
    let status =
        Command::new(javac).args(["-d", "classes", "Plain.java"]).current_dir(tool.directory()).status();
    assert!(status.unwrap().success());
    let path = other.display().to_string();
    let done = tool.command(&[&java, "-cp", &path, "probe.Guards", "many", "1"]).exits(1);
    done.says("the class `probe.Guards` of the command was not found on the class path").says(&path);
    // One that is spelt nearly so.
    let path = spool_classes().display().to_string();
    let done = Tool::new("run").command(&[&java, "-cp", &path, "spol.Main"]).exits(1);
    done.says("the class `spol.Main` of the command was not found").says("did you mean `spool.Main`?");
}

#[test]
fn a_hook_that_cannot_be_placed_says_where_to_place_it() {
    let done =
        Tool::new("inject").arg("java.lang.Thread.getName").args("--sleep 1ms").java("probe.Guards many 1");
    done.exits(2)
        .says("java.lang.Thread.getName")
        .says("its hook could not be placed: the agent's own helper runs through this class")
        .says("use a site that calls java.lang.Thread.getName instead, as in `CALLER->java.lang.Thread.getName`");
}

#[test]
fn results_that_cannot_be_written_are_an_error_before_the_command_runs() {
    let tool = Tool::new("run").args("--hook entry --out taken").file("taken", "a file");
    let done = tool.java("probe.Guards many 1").exits(1).says("cannot make taken").says("--out");
    assert!(!done.stderr.contains("main 1: fine"));
}

#[test]
fn two_at_once_in_one_directory_do_not_meet() {
    let both = Tool::new("run");
    let out = both.directory().join("shared").display().to_string();
    let runs: Vec<usize> = (0..4).collect();
    each(
        &runs,
        |run| format!("run {run}"),
        |run| {
            let tool = Tool::new("run").args(&format!("--hook entry --json --out {out}"));
            let done = tool.java(&format!("probe.Guards many {}", run + 1)).exits(0);
            // Each has the hits of its own program: hit, nothing and attempt each time, and main.
            let outcome = done.outcome();
            assert_eq!(outcome["jvms"].as_array().unwrap().len(), 1);
            assert_eq!(outcome["jvms"][0]["hits"], 3 * (run + 1) + 1, "{outcome:#}");
        },
    );
    let mut kept: Vec<String> =
        fs::read_dir(&out).unwrap().flatten().map(|it| it.file_name().into_string().unwrap()).collect();
    kept.sort();
    assert_eq!(kept, ["latest", "run-0001", "run-0002", "run-0003", "run-0004"]);
    for run in &kept {
        assert!(Path::new(&out).join(run).join("trials/000/outcome.json").is_file(), "{run}");
    }
}

#[test]
fn a_full_disk_is_named_and_what_was_recorded_stays() {
    if !can_mount("-rm") {
        return;
    }
    let tool = env!("CARGO_BIN_EXE_hypocenter");
    let (java, path) = (default_jdk().java(), classes().display().to_string());
    let on_a_disk_of = |size: &str, hits: u32| {
        let script = format!(
            "mount -t tmpfs -o size={size} none small && \
             {tool} run --hook entry --packages hits.Threads --record events --lossless --json --out small --timeout 120s \
                 -- {java} -XX:+UseSerialGC -cp {path} hits.Threads 2 {hits}"
        );
        let directory = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(directory.path().join("small")).unwrap();
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", &script]).current_dir(directory.path()).env("XDG_CACHE_HOME", cache);
        command.env_remove("JAVA_TOOL_OPTIONS").output().unwrap()
    };
    // No room for the files of the trial: an error, and the command does not run.
    for size in ["4k", "16k", "64k"] {
        let output = on_a_disk_of(size, 10);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{size}: {stderr}");
        assert!(
            stderr.contains("small/run-0001") && stderr.contains("No space left on device"),
            "{size}: {stderr}"
        );
        assert!(!stderr.contains("exceptions 0"), "{size}: {stderr}");
    }
    // No more room while it runs, met by two threads at once: the program does not notice, and what is lost is counted.
    for size in ["384k", "448k", "512k", "576k", "640k"] {
        let output = on_a_disk_of(size, 30_000);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{size}: {stderr}");
        assert!(stderr.contains("exceptions 0"), "{size}: {stderr}");
        let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
        let jvm = &outcome["jvms"][0];
        let number = |name: &str| jvm[name].as_u64().unwrap();
        assert_eq!(number("hits"), 2 * (2 * 30_000 + 1) + 1, "{size}: {outcome:#}");
        assert!(number("dropped") > 0 && number("events") > 0, "{size}: {outcome:#}");
        assert_eq!(number("events") + number("dropped"), number("hits"), "{size}: {outcome:#}");
        assert!(outcome["problems"].to_string().contains("dropped"), "{size}: {outcome:#}");
    }
}

#[test]
fn without_a_configuration_or_a_campaign_it_says_so() {
    let rows =
        [("run", ""), ("run", "x"), ("run", "--workload x"), ("reproduce", "--workload x"), ("explore", "x")];
    for (verb, args) in rows {
        let done = Tool::new(verb).args(args).end().exits(1);
        done.says("no hypocenter.toml here").says("hypocenter init");
    }
    for verb in ["replay", "report"] {
        let done = Tool::new(verb).end().exits(1);
        done.says("no campaign exists below hypocenter-out yet").says("--out");
    }
    // A directory above has one.
    let above = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(above.path().join("hypocenter.toml"), "").unwrap();
    fs::create_dir(above.path().join("below")).unwrap();
    fs::create_dir(above.path().join("hypocenter-out")).unwrap();
    let below = |verb: &str, says: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hypocenter"));
        let output = command.arg(verb).current_dir(above.path().join("below")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(says), "{verb}: {said}");
    };
    below("run", "hypocenter.toml exists: run the command there, or give --config");
    below("report", "has campaigns: run the command there");
}

#[test]
fn a_workload_may_be_named_by_a_flag_in_every_verb_that_runs_one() {
    let workloads =
        "[[workload]]\nname = 'a'\ncommand = 'true'\n[[workload]]\nname = 'b'\ncommand = 'true'\n";
    let config = format!("{workloads}[failure]\nworkload = 'a'\noracle = {{ log = 'x' }}\n");
    for verb in ["run", "reproduce", "explore"] {
        let tool = || Tool::new(verb).file("hypocenter.toml", &config);
        let done = tool().args("--workload c").end().exits(1);
        done.says("unknown workload `c`: hypocenter.toml has a, b");
        // It is taken, and what is missing then is another thing.
        tool().args("--workload b").end().exits(1).says("`true` is not `java`, so its class path is unknown");
        tool().args("b --workload b").end().exits(1).says("cannot be used with");
        tool().args("--resume --workload b").end().exits(1).says("cannot be used with");
    }
}

#[test]
fn a_search_is_replayed_at_what_it_found() {
    let request = |verb: &str| {
        let engine = json!({"policy": "bsrr", "key": "state", "faults": [], "delay_ms": 1, "in_memory": false,
            "task_types": [], "when_ready": false, "helpers": false, "budget": 1, "epsilon": 0.1, "trials": 1,
            "normal_runs": 1, "replays": 1, "neighbours": 0});
        json!({"version": 2, "verb": verb, "seed": 0, "repeat": 2, "base": "/", "main": "main",
            "target": {"classpath": [], "packages": [], "java_home": "/"}, "workloads": {"x": {"name": "x"}},
            "plan": {"version": 1}, "engine": {"verb": verb, "settings": engine}})
    };
    let found = json!({"findings": [{"trial": 7, "rate": {"hits": 1, "runs": 1}}]});
    // Its summary if it has one, whether it still runs, what is said.
    let rows: [(Option<Value>, bool, &[&str]); 4] = [
        (Some(found), false, &["trial: 7, the finding of the campaign"]),
        (
            Some(json!({})),
            false,
            &["the campaign has no finding to replay", "the campaign has trials 0 to 7"],
        ),
        (
            None,
            true,
            &["explore-0001: the campaign has not ended yet", "name a trial: the campaign has trials"],
        ),
        (
            None,
            false,
            &["was interrupted", "with `hypocenter explore --resume explore-0001`", "name a trial"],
        ),
    ];
    for (summary, runs, says) in rows {
        let tool = Tool::new("replay");
        let campaign = tool.directory().join("hypocenter-out/explore-0001");
        for trial in ["000", "007"] {
            fs::create_dir_all(campaign.join("trials").join(trial)).unwrap();
            fs::write(campaign.join("trials").join(trial).join("plan.json"), r#"{"version": 1}"#).unwrap();
        }
        fs::write(campaign.join("campaign.json"), request("explore").to_string()).unwrap();
        if let Some(summary) = summary {
            fs::write(campaign.join("summary.json"), summary.to_string()).unwrap();
        }
        let lock = fs::File::create(campaign.join("lock")).unwrap();
        if runs {
            lock.lock().unwrap();
        }
        let done = tool.arg("explore-0001").end().exits(1);
        says.iter().fold(done, |done, text| done.says(text));
    }
}

/// A cluster of two nodes and a client. Nothing of it is ever started.
fn cluster(verb: &str) -> Tool {
    let target = format!("[target]\nclasspath = ['{}']\npackages = ['spool']\n", spool_classes().display());
    let process =
        |kind: &str, name: &str| format!("[[workload.{kind}]]\nname = '{name}'\ncommand = 'sh {name}.sh'\n");
    let processes = ["depot", "mirror.eu"].map(|it| process("node", it)).concat();
    let workload = format!("[[workload]]\nname = 'parcel'\n{processes}{}", process("client", "finder"));
    Tool::new(verb).file("hypocenter.toml", target + &workload)
}

#[test]
fn a_node_that_a_cluster_does_not_have_is_refused_before_anything_is_started() {
    let inject = |node: &str| {
        let tool = cluster("inject").args("NoSuch.method --throw java.io.IOException --node");
        tool.arg(node).args("--workload parcel")
    };
    let refused = inject("miror").end().exits(1).says("--node miror: workload `parcel` has no such node");
    refused.says("the agent runs in depot, mirror.eu");
    inject("finder").end().exits(1).says("runs without the agent").says("`agent = true`");
    // The next thing that is wrong: there is no such method.
    inject("depot").end().exits(1).says("no site matches");
    inject("miror").file("depot.sh", "HYPOCENTER_NODE=miror java x").end().exits(1).says("no site matches");
}

#[test]
fn of_several_failure_logs_each_is_named_like_a_node_or_client() {
    let line = "2026-01-01 00:00:00,000 ERROR [main] spool.Spool: message 3 is lost\n";
    let reproduce = |logs: &[&str]| {
        let oracle = "{ log = 'is lost' }";
        let tool = cluster("reproduce").args("--oracle").arg(oracle);
        logs.iter().fold(tool, |tool, it| tool.file(it, line).args("--log").arg(it))
    };
    let refused = reproduce(&["depot.log", "miror.log"]).end().exits(1);
    refused.says("workload `parcel` has no node or client `miror`").says("has depot, mirror.eu, finder");
    // A name with a dot, and two files of one node; what is wrong then is that nothing can be started.
    let fine = reproduce(&["depot.stdout.log", "depot.stderr.log", "mirror.eu.log", "finder.log"]);
    let fine = fine.args("--normal-runs 1 --sandbox off").end();
    assert!(!fine.stderr.contains("has no node or client"), "{}", fine.stderr);
    // One alone may be the log of all.
    let one = reproduce(&["all.log"]).args("--normal-runs 1 --sandbox off").end();
    one.says("`all` is not one of depot, mirror.eu, finder, so it is taken as the log of all of them");
}
