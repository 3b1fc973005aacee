//! `hypocenter scan`: the summary, the lists, the causes of log lines, and what it says of bad input.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hypocenter_program::{ClassPath, SitePattern, find_sites};
use serde_json::Value;
use support::{Done, Tool, classes, default_jdk, each, line_of, wal_classes};

/// The scan of `targets/wal`.
fn wal() -> Tool {
    Tool::new("scan").arg("--classpath").arg(wal_classes()).args("--packages wal")
}

/// The scan of the other targets.
fn probes() -> Tool {
    Tool::new("scan").arg("--classpath").arg(classes()).args("--packages probe,shapes,plugin,hits")
}

/// The document without what may differ between two runs.
fn stable(mut document: Value) -> Value {
    let object = document.as_object_mut().expect("a document is an object");
    for key in ["seconds", "seconds_by_phase", "peak_rss_mb"] {
        assert!(object.remove(key).is_some(), "there is no `{key}`");
    }
    // Whether an earlier scan was kept depends on who ran before.
    object.remove("from_cache");
    document
}

#[test]
fn the_document_has_the_promised_keys_and_numbers() {
    let document = wal().arg("--json").end().exits(0).outcome();
    for key in [
        "classes",
        "methods",
        "instructions",
        "fault_sites",
        "log_statements",
        "task_classes",
        "abstract_states",
        "loops",
        "error_detectors",
        "seconds",
        "peak_rss_mb",
    ] {
        assert!(document[key].as_f64().is_some_and(|it| it > 0.0), "{key}: {document:#}");
    }
    for phase in ["open", "load", "facts", "calls", "exceptions", "faults", "statements", "states", "shapes"]
    {
        assert!(document["seconds_by_phase"][phase].is_number(), "{phase}: {document:#}");
    }
    let sources = fs::read_dir(wal_classes().join("wal")).expect("it was compiled").count();
    assert_eq!(document["classes"], sources);
    assert_eq!(document["tests"], 0);
    assert_eq!(document["problems"], serde_json::json!([]));
}

#[test]
fn the_counts_of_sites_can_be_put_together() {
    let document = wal().args("--sites --json").end().exits(0).outcome();
    let faults = document["lists"]["sites"].as_array().expect("a list");
    let calls = |throwing: bool| {
        let can = faults
            .iter()
            .filter(|it| !throwing || it["exceptions"].as_array().is_some_and(|it| !it.is_empty()));
        can.map(|it| it["site"].to_string()).collect::<BTreeSet<_>>().len()
    };
    assert_eq!(
        (&document["fault_sites"], &document["fault_calls"]),
        (&calls(true).into(), &calls(false).into())
    );
    assert!(calls(true) < calls(false) && calls(false) < faults.len(), "{document:#}");
    let others = match calls(false) - calls(true) {
        1 => "; at one other, only a delay or a crash is possible".to_owned(),
        some => format!("; at {some} others, only a delay or a crash is possible"),
    };
    let summary = wal().end().exits(0).stdout;
    assert!(summary.contains(&others), "{summary}");
    let list = wal().arg("--sites").end().exits(0).stdout;
    assert!(list.starts_with(&format!("faults by site: {}\n", faults.len())), "{list}");
}

#[test]
fn the_summary_says_what_there_is() {
    let done = wal().end().exits(0);
    for text in [
        "hypocenter scan",
        "fault sites",
        "external",
        "IOException",
        "log statements",
        "abstract states",
        "without a limit",
        "most fault sites",
        "peak memory",
        "time",
    ] {
        assert!(done.stdout.contains(text), "`{text}` is missing\n{}", done.stdout);
    }
    assert!(!done.stdout.contains('\u{1b}'), "no colours where there is no terminal\n{}", done.stdout);
    // On a slow machine the phases are told while they last.
    let told = done.stderr.lines().filter(|line| !line.trim_start().starts_with("working"));
    assert_eq!(told.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let all = "--json --sites --dropped --logs --states --loops --waits --detectors --tests --helpers";
    let line = "cannot write flush marker START_FLUSH";
    let run = |threads: &str| {
        let tool =
            wal().args(all).arg("--why").arg(line).args("--why-edges").env("RAYON_NUM_THREADS", threads);
        stable(tool.end().exits(0).outcome()).to_string()
    };
    let one = run("1");
    assert_eq!(one, run("2"));
    assert_eq!(one, run("3"));
}

#[test]
fn every_listed_site_is_one_that_inject_finds() {
    for (tool, path) in [(wal(), wal_classes()), (probes(), classes())] {
        let document = tool.args("--sites --waits --loops --detectors --json").end().exits(0).outcome();
        let own = ClassPath::from_paths(vec![path.to_owned()]).open(17);
        let lists =
            ["sites", "waits", "loops", "detectors"].map(|it| document["lists"][it].as_array().unwrap());
        let names: BTreeSet<&str> =
            lists.iter().flat_map(|it| it.iter()).map(|it| it["name"].as_str().unwrap()).collect();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            let pattern: SitePattern = name.parse().unwrap_or_else(|error| panic!("{error}"));
            let found = find_sites(&own, &pattern).sites;
            let expected = if name.ends_with(" return") { 1..100 } else { 1..2 };
            assert!(expected.contains(&found.len()), "{name}: {found:#?}");
        }
    }
}

#[test]
fn lists_have_one_line_an_item_and_can_be_narrowed() {
    let rows: [(&str, &str, &[&str]); 7] = [
        ("--sites", "faults by site: ", &["external", "java.io.IOException", "wal.Ack.read:"]),
        (
            "--logs",
            "log statements: ",
            &["WARN", "\"cannot write flush marker START_FLUSH\"", "with an exception"],
        ),
        ("--states", "abstract states: ", &["wal.AckReader", "#0", "start"]),
        ("--loops", "loops: ", &["open", "'wal.AckReader.run:", "loop 0'", "io"]),
        ("--waits", "waits: ", &["no limit", "Object.wait"]),
        ("--detectors", "error detectors: ", &["used", "from "]),
        ("--tests", "tests: 0", &[]),
    ];
    each(
        &rows,
        |(flag, ..)| flag.to_string(),
        |(flag, title, texts)| {
            let done = wal().arg(flag).end().exits(0);
            assert!(done.stdout.starts_with(title), "{}", done.stdout);
            for text in *texts {
                assert!(done.stdout.contains(text), "`{text}` is missing\n{}", done.stdout);
            }
            let count: usize =
                done.stdout.lines().next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
            assert_eq!(done.stdout.lines().count(), count + 1, "{}", done.stdout);
            let key = flag.trim_start_matches('-');
            let document = wal().arg(flag).arg("--json").end().exits(0).outcome();
            assert_eq!(document["lists"][key].as_array().unwrap().len(), count);
            assert_eq!(document["lists"].as_object().unwrap().len(), 1);
        },
    );
    let done = wal().args("--sites --class AckReader").end().exits(0);
    assert!(done.stdout.lines().skip(1).all(|it| it.contains("'wal.AckReader.")), "{}", done.stdout);
    assert!(done.stdout.lines().count() > 1);
    wal().args("--sites --class NoSuchClass").end().exits(0).says("in a class that matches `NoSuchClass`");
}

#[test]
fn a_site_that_works_in_memory_is_left_out_with_the_reason() {
    let done = wal().args("--sites --dropped --json").end().exits(0);
    let dropped = done.outcome()["lists"]["dropped"].as_array().unwrap().clone();
    for it in &dropped {
        let chain = it["chain"].as_array().unwrap();
        assert!(chain.iter().any(|it| it.as_str().unwrap().contains("in memory")), "{it:#}");
    }
    assert_eq!(done.outcome()["fault_sites_by_kind"]["in_memory"], dropped.len());
}

/// A line that every run of the system logs, which the fault of its truth makes it log too.
const LINE: &str = "2026-11-16 04:38:52,896 WARN  [AckReader-wal.00002] wal.WriteAheadLog: sync failed on wal.00002, the stream is \
                    broken";

#[test]
fn an_exception_has_one_name_however_it_is_passed_on() {
    let document = probes().arg("--why").arg("there was no answer").args("--json").end().exits(0).outcome();
    let nearest = document["why"]["nearest"].as_array().expect("faults");
    let line = line_of("probe/Again.java", "expect");
    let name = format!("probe.Again.passOn:{line} -> probe.Again.expect");
    let found = nearest.iter().find(|it| it["name"] == *name).unwrap_or_else(|| panic!("{document:#}"));
    assert_eq!(found["exceptions"], serde_json::json!(["java.io.EOFException"]));
    let steps: Vec<&str> =
        found["steps"].as_array().expect("steps").iter().filter_map(Value::as_str).collect();
    let throws: Vec<&&str> = steps.iter().filter(|it| it.contains("Exception")).collect();
    assert!(throws.len() > 1 && throws.iter().all(|it| it.ends_with("EOFException")), "{steps:#?}");
    let again = format!("which is thrown again at Again.passOn:{}", line + 3);
    assert!(steps.contains(&&*again), "{steps:#?}");
}

#[test]
fn a_line_leads_to_the_fault_of_the_truth() {
    let message = LINE.split_once("WriteAheadLog: ").unwrap().1;
    let truth: toml::Value = toml::from_str(
        &fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/wal/truth.toml"))
            .unwrap(),
    )
    .unwrap();
    let site = truth["bug"][0]["site"].as_str().unwrap();
    // With a piece of what stands before the message, too.
    let behind = |part: &str| &LINE[LINE.find(part).unwrap()..];
    let part = LINE.split_once(", the stream").unwrap().0;
    for line in [
        LINE,
        message,
        "the stream is broken",
        behind("AheadLog: "),
        behind("wal.00002]"),
        &part[part.find("WriteAheadLog: ").unwrap()..],
    ] {
        let document = wal().arg("--why").arg(line).args("--json --top 1000").end().exits(0).outcome();
        let why = &document["why"];
        assert_eq!(why["entries"]["exact"], 1, "{why:#}");
        assert_eq!(why["statements"][0]["method"], "syncFailed");
        let nearest = why["nearest"].as_array().unwrap();
        let (caller, callee) = site.split_once(" -> ").unwrap();
        let is_it = |it: &&Value| {
            let name = it["name"].as_str().unwrap();
            name.contains(&format!("wal.{caller}:")) && name.contains(&format!("wal.{callee}"))
        };
        let found = nearest.iter().find(is_it).unwrap_or_else(|| panic!("{site} is not in {why:#}"));
        assert_eq!(found["exceptions"][0], "java.io.IOException");
        assert!(found["steps"].as_array().unwrap().len() >= 3, "{found:#}");
        let distances: Vec<u64> = nearest.iter().map(|it| it["distance"].as_u64().unwrap()).collect();
        assert!(distances.is_sorted(), "{distances:?}");
        assert_eq!(why["graph"]["sites"], nearest.len());
        assert_eq!(why["graph"]["sites_total"], document["fault_sites"]);
    }
    let done = wal().arg("--why").arg(LINE).args("--top 4 --why-edges").end().exits(0);
    for text in ["written by", "causal graph: ", "this runs in the catch at", "sites lost", "control"] {
        assert!(done.stdout.contains(text), "`{text}` is missing\n{}", done.stdout);
    }
}

#[test]
fn a_short_distance_leaves_out_what_is_far() {
    let names = |distance: &str| -> Vec<(u64, String)> {
        let flags = format!("--json --top 1000 {distance}");
        let document = wal().arg("--why").arg(LINE).args(&flags).end().exits(0).outcome();
        let nearest = document["why"]["nearest"].as_array().unwrap();
        let of = |it: &Value| (it["distance"].as_u64().unwrap(), it["name"].as_str().unwrap().to_owned());
        nearest.iter().map(of).collect()
    };
    let (all, near) = (names(""), names("--distance 8"));
    assert!(near.iter().all(|it| it.0 <= 8), "{near:?}");
    assert!(near.iter().all(|it| all.contains(it)), "{near:?}\n{all:?}");
    assert!(!near.is_empty() && near.len() < all.len(), "{} of {}", near.len(), all.len());
}

#[test]
fn a_log_is_tied_entry_by_entry() {
    let log = "2024-05-01 12:00:00,123 INFO  [main] wal.Server: started\n\
               2024-05-01 12:00:01,123 WARN  [Flusher] wal.Flusher: cannot write flush marker START_FLUSH\n\
               wal.TimeoutIOException: Failed to get sync result after 2000 ms\n\
               \tat wal.SyncFuture.get(SyncFuture.java:23)\n\
               2024-05-01 12:00:02,123 WARN  [Flusher] wal.Flusher: cannot write flush marker START_FLUSH\n\
               2024-05-01 12:00:03,123 ERROR [main] org.acme.Other: nobody \u{8} knows this\n";
    let done = wal().file("failure.log", log).args("--log failure.log").end().exits(0);
    assert!(
        done.stdout.contains("3 serious entries: 2 matched to one statement, 0 to several, 1 to none"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("not matched: line 6: nobody \u{fffd} knows this"), "{}", done.stdout);
    assert!(done.stdout.contains("2x"), "{}", done.stdout);
    let document = wal().file("failure.log", log).args("--log failure.log --json").end().exits(0).outcome();
    assert_eq!(document["why"]["statements"].as_array().unwrap().len(), 1);
    assert_eq!(document["why"]["entries"]["none"], 1);
}

#[test]
fn a_line_has_the_same_causes_alone_and_among_others() {
    let lines = [
        LINE.to_owned(),
        "2026-11-16 04:38:53,000 WARN  [Flusher] wal.Flusher: cannot write flush marker START_FLUSH"
            .to_owned(),
        "2026-11-16 04:38:53,100 WARN  [Compactor] wal.Compactor: compaction of 3 files failed, keeping them"
            .to_owned(),
        "2026-11-16 04:38:53,200 ERROR [Client] wal.Client: giving up".to_owned(),
    ];
    let sites = |why: &Value| -> BTreeMap<String, u64> {
        let statements = why["statements"].as_array().unwrap().iter();
        let place = |it: &Value| format!("{}:{}", it["class"], it["line"]);
        statements.map(|it| (place(it), it["sites"].as_u64().unwrap())).collect()
    };
    let log = lines.join("\n") + "\n";
    let all = wal().file("failure.log", &log).args("--log failure.log --json").end().exits(0).outcome();
    let mut alone = BTreeMap::new();
    for line in &lines {
        let document = wal().arg("--why").arg(line).args("--json").end().exits(0).outcome();
        alone.extend(sites(&document["why"]));
    }
    assert_eq!(sites(&all["why"]), alone);
    assert!(alone.len() == lines.len() && alone.values().all(|it| *it > 0), "{alone:?}");
}

#[test]
fn the_graph_is_written_in_three_forms() {
    for (file, begins) in [("why.graphml", "<?xml"), ("why.dot", "digraph"), ("why.json", "{")] {
        let tool = wal()
            .arg("--why")
            .arg("cannot write flush marker START_FLUSH")
            .args(&format!("--graph {file} --json"));
        let done = tool.end().exits(0);
        let text = fs::read_to_string(done.directory().join(file)).expect("it is written");
        assert!(text.starts_with(begins), "{text}");
        let graph = &done.outcome()["why"]["graph"];
        let (nodes, edges) = (graph["nodes"].as_u64().unwrap(), graph["edges"].as_u64().unwrap());
        let count = |what: &str| text.matches(what).count() as u64;
        match file {
            "why.graphml" => {
                assert_eq!((count("<node "), count("<edge ")), (nodes, edges));
                assert!(text.contains("&lt;init&gt;") || !text.contains("<init>"), "labels are escaped");
            }
            "why.dot" => assert_eq!(count(" -> n"), edges),
            _ => {
                let document: Value = serde_json::from_str(&text).expect("it is JSON");
                assert_eq!(document["nodes"].as_array().unwrap().len() as u64, nodes);
                assert_eq!(document["edges"].as_array().unwrap().len() as u64, edges);
            }
        }
        assert_eq!(fs::read_dir(done.directory()).unwrap().count(), 1, "nothing else is left");
    }
}

#[test]
fn the_target_comes_from_the_configuration_or_a_java_command() {
    let path = wal_classes().display().to_string();
    let config =
        format!("[target]\nclasspath = [{path:?}]\npackages = [\"wal\"]\ntask_types = [\"wal.Edit\"]\n");
    let expected = stable(wal().arg("--json").end().exits(0).outcome());
    let of_config = Tool::new("scan").file("hypocenter.toml", &config).arg("--json").end().exits(0);
    assert_eq!(stable(of_config.outcome())["fault_sites"], expected["fault_sites"]);
    let java = default_jdk().java();
    let of_command = |tool: Tool| tool.arg("--").arg(&java).arg("-cp").arg(&path).arg("wal.Server").end();
    let done = of_command(Tool::new("scan").arg("--json")).exits(0);
    assert_eq!(stable(done.outcome()), expected);
    let workload = format!("[[workload]]\nname = \"w\"\ncommand = \"{java} -cp {path} wal.Server\"\n");
    let done = Tool::new("scan").file("hypocenter.toml", &workload).arg("--json").end().exits(0);
    assert_eq!(stable(done.outcome()), expected);
    // Nobody says which packages are the system's.
    let done = Tool::new("scan").arg("-cp").arg(&path).arg("--json").end().exits(0);
    assert_eq!(done.outcome()["fault_sites"], expected["fault_sites"]);
    done.says("every class of the class path counts as part of the system");
}

#[test]
fn what_is_wrong_with_the_question_is_said_with_what_to_do() {
    type Ask = fn() -> Done;
    let rows: [(&str, Ask, &[&str]); 11] = [
        (
            "no target",
            || Tool::new("scan").end(),
            &["nothing to scan: there is no hypocenter.toml here", "--classpath"],
        ),
        (
            "an empty class path",
            || Tool::new("scan").args("--classpath no-such-directory --packages wal").end(),
            &["the class path has no readable class", "no-such-directory"],
        ),
        (
            "other packages",
            || Tool::new("scan").arg("--classpath").arg(wal_classes()).args("--packages org.acme").end(),
            &["no class of the class path is in the packages org.acme", "classes are in wal", "--packages"],
        ),
        (
            "no JDK",
            || wal().env("PATH", "").env("JAVA_HOME", "").end(),
            &["no Java installation was found", "apt-get"],
        ),
        (
            "no such JDK",
            || wal().args("--jdk /no/such/jdk").end(),
            &["/no/such/jdk: not a Java installation", "bin/java"],
        ),
        (
            "a line that nothing wrote",
            || wal().arg("--why").arg("could not write \u{1b}flush marker START_FLUSH again").end(),
            &[
                "no log statement matches: tried the text",
                "\"cannot write flush marker START_FLUSH\" at wal.Flusher.",
                "--logs",
            ],
        ),
        ("an empty line", || wal().arg("--why").arg("  ").end(), &["--why: the line is empty"]),
        ("no such log", || wal().args("--log no.log").end(), &["no.log: cannot be read", "--log"]),
        (
            "a log that is none",
            || wal().file("x.log", "this is\nno log\n").args("--log x.log").end(),
            &["x.log: no layout fits the log", "--layout"],
        ),
        (
            "a form that is not known",
            || wal().arg("--why").arg("x").args("--graph why.png").end(),
            &["--graph why.png", ".graphml", ".dot", ".json"],
        ),
        (
            "a graph that cannot be written",
            || wal().arg("--why").arg("cannot write flush marker X").args("--graph no/such/why.dot").end(),
            &["no/such/why.dot: cannot be written"],
        ),
    ];
    each(
        &rows,
        |(name, ..)| name.to_string(),
        |(_, ask, texts)| {
            let done = ask().exits(1);
            assert_eq!(done.stdout, "");
            assert!(!done.stderr.contains('\u{1b}'), "{}", done.stderr);
            texts.iter().fold(done, |done, text| done.says(text));
        },
    );
    // With the pattern of its appender the log can be read after all.
    let tool =
        wal().file("x.log", "WARN ~ cannot write flush marker START_FLUSH\n").args("--log x.log --layout");
    let done = tool.arg("%p ~ %m%n").end().exits(0);
    assert!(done.stdout.contains("1 matched to one statement"), "{}", done.stdout);
    // Also by `layout` of [failure], which the flag overrides.
    let layout = |pattern: &str| format!("[failure]\nlayout = '{pattern}'\n");
    let text = "WARN ~ cannot write flush marker START_FLUSH\n";
    let of_failure = |pattern: &str| wal().file("x.log", text).file("hypocenter.toml", layout(pattern));
    let tied = |tool: Tool| {
        let done = tool.end().exits(0);
        assert!(done.stdout.contains("1 matched to one statement"), "{}", done.stdout);
    };
    tied(of_failure("%p ~ %m%n").args("--log x.log"));
    tied(of_failure("%d %m%n").args("--log x.log --layout").arg("%p ~ %m%n"));
    of_failure("%d %m%n").args("--log x.log").end().exits(1).says("`layout` under [failure]");
    // A message alone needs none.
    of_failure("%p ~ %m%n").arg("--why").arg("cannot write flush marker START_FLUSH").end().exits(0);
    wal().args("--log x.log --layout %").end().exits(1).says("--layout: log pattern `%`");
    wal().args("--graph why.dot").end().exits(1).says("required");
    wal().args("--why x --log y").end().exits(1).says("cannot be used with");
}

/// End of the constant pool of a class file.
fn pool_end(bytes: &[u8]) -> usize {
    let number = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let (mut at, mut index) = (10, 1);
    while index < number(8) {
        (at, index) = match bytes[at] {
            1 => (at + 3 + usize::from(number(at + 1)), index + 1),
            5 | 6 => (at + 9, index + 2),
            7 | 8 | 16 | 19 | 20 => (at + 3, index + 1),
            15 => (at + 4, index + 1),
            _ => (at + 5, index + 1),
        };
    }
    at
}

/// A class that extends itself.
fn its_own_parent(mut bytes: Vec<u8>) -> Vec<u8> {
    let at = pool_end(&bytes);
    let (this, parent) = (at + 2, at + 4);
    bytes.copy_within(this..this + 2, parent);
    bytes
}

#[test]
fn bad_classes_are_listed_and_the_others_are_scanned() {
    type Spoil = fn(Vec<u8>) -> Vec<u8>;
    let rows: [(&str, Spoil, Option<&str>); 5] = [
        ("cut off", |bytes| bytes[..bytes.len() / 3].to_vec(), Some("cut off")),
        ("empty", |_| Vec::new(), Some("wal.Ack")),
        ("noise", |bytes| bytes.iter().map(|it| it ^ 0x5a).collect(), Some("wal.Ack")),
        (
            "of a Java to come",
            |mut bytes| {
                bytes[6..8].copy_from_slice(&200u16.to_be_bytes());
                bytes
            },
            Some("class file version 200"),
        ),
        ("its own parent", its_own_parent, None),
    ];
    let all = fs::read_dir(wal_classes().join("wal")).unwrap().count();
    each(
        &rows,
        |(name, ..)| name.to_string(),
        |(_, spoil, problem)| {
            let tool = Tool::new("scan").args("--classpath spoilt --packages wal --json --sites --logs");
            let package = tool.directory().join("spoilt/wal");
            fs::create_dir_all(&package).unwrap();
            for entry in fs::read_dir(wal_classes().join("wal")).unwrap().flatten() {
                fs::copy(entry.path(), package.join(entry.file_name())).unwrap();
            }
            let ack = package.join("Ack.class");
            fs::write(&ack, spoil(fs::read(&ack).unwrap())).unwrap();
            let document = tool.end().exits(0).outcome();
            match problem {
                Some(text) => {
                    assert_eq!(document["classes"], all - 1);
                    assert!(document["problems"].to_string().contains(text), "{}", document["problems"]);
                }
                None => assert_eq!(document["classes"], all),
            }
        },
    );
}

#[test]
fn bad_jars_and_doubled_classes_change_nothing() {
    let path = wal_classes().display().to_string();
    let empty = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    let expected = wal().arg("--json").end().exits(0).outcome();
    let rows: [(&str, Vec<u8>, bool); 3] = [
        ("an empty jar", empty, false),
        ("no jar at all", Vec::new(), true),
        ("noise", vec![0x5a; 4096], true),
    ];
    for (name, bytes, is_problem) in rows {
        let tool = Tool::new("scan").file("x.jar", bytes).args("--packages wal --json --classpath");
        // The same classes twice: the first of each counts.
        let done = tool.arg(format!("{path}:x.jar:{path}")).end().exits(0);
        let document = done.outcome();
        assert_eq!(document["fault_sites"], expected["fault_sites"], "{name}");
        assert_eq!(document["classes"], expected["classes"], "{name}");
        assert_eq!(
            document["problems"].to_string().contains("x.jar"),
            is_problem,
            "{name}: {}",
            document["problems"]
        );
    }
    let tool = Tool::new("scan").file("x.jar", vec![0x5a; 4096]).args("--classpath x.jar --packages wal");
    tool.end().exits(1).says("x.jar");
}
