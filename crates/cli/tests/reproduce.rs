//! `reproduce` on a small system, `targets/spool`: from the log of a failure to the fault that made it, with real JVMs; and
//! what is said where that cannot be.
//!
//! The bug needs one exception at one moment: a write that fails while three messages have been written since the last
//! checkpoint, which is so at the fifth message alone. At every other moment the system gets over it.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hypocenter_report::Summary;
use serde_json::{Value, json};
use support::{Said, default_jdk, each, is_running, line_of, spool_classes};
use tempfile::TempDir;

/// Far longer than anything takes; a test that needs it has failed.
const PATIENCE: Duration = Duration::from_secs(120);
/// The trial at which the tool is killed: a round in the middle of the search.
const CUT: u64 = 4;
const ORACLE: &str = "oracle = { log = 'message [0-9]+ is lost' }";
/// A trial says that it was started, and the one that is to be cut short waits for the test to open the gate.
const SCRIPT: &str = r#"n=${HYPOCENTER_DIR%/dir}; n=${n##*/}; echo "$n $$" >> started
if [ -e gate ] && [ "$n" = 004 ]; then while [ ! -e go ]; do sleep 0.02; done; fi
exec "$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$CLASSES" spool.Main "$@"
"#;
/// One exception a round, and few replays: what is searched for is the same, and it takes seconds.
const SEARCH: &str = "--faults exceptions --replays 2 --jobs 1 --sandbox off --json";

/// A directory in which the tool is run again and again, with the configuration of the system.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Place {
        Place::with("spool", ORACLE)
    }

    /// One whose failure is of this workload and has this oracle.
    fn with(workload: &str, oracle: &str) -> Place {
        let directory =
            TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo's directory can be written");
        let place = Place { directory };
        let config = format!(
            "[target]\nclasspath = ['{}']\npackages = ['spool']\n\n\
             [[workload]]\nname = 'spool'\ncommand = 'sh spool.sh {{dir}}'\ntimeout = '100s'\n\n\
             [[workload]]\nname = 'fixed'\ncommand = 'sh spool.sh {{dir}} fixed'\ntimeout = '100s'\n\n\
             [failure]\nworkload = '{workload}'\n{oracle}\n",
            spool_classes().display()
        );
        place.file("hypocenter.toml", config);
        place.file("spool.sh", SCRIPT);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a temporary file can be written");
    }

    /// Starts the tool with arguments that are written with spaces between.
    fn start(&self, args: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hypocenter"));
        command.args(args.split_whitespace()).current_dir(self.directory.path());
        for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "HYPOCENTER_NODE"]
        {
            command.env_remove(name);
        }
        command.env("JAVA_HOME", &default_jdk().home).env("JAVA", default_jdk().java());
        command.env("CLASSES", spool_classes());
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the tool can be run")
    }

    /// Runs the tool.
    fn tool(&self, args: &str) -> Said {
        let output = self.start(args).wait_with_output().expect("the tool can be waited for");
        Said {
            code: output.status.code().expect("the tool is not ended by a signal"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs the tool for the failure log.
    fn reproduce(&self, args: &str) -> Said {
        self.file("failure.log", failure_log());
        self.tool(&format!("reproduce --log failure.log {SEARCH} {args}"))
    }

    /// The trials that were started, each with the processes that were its script.
    fn started(&self) -> BTreeMap<u64, Vec<String>> {
        let text = fs::read_to_string(self.path("started")).unwrap_or_default();
        let mut all: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for line in text.split_inclusive('\n').filter_map(|it| it.strip_suffix('\n')) {
            let (number, pid) = line.split_once(' ').unwrap_or_else(|| panic!("`{line}` was started"));
            all.entry(number.parse().expect("a number")).or_default().push(pid.to_owned());
        }
        all
    }

    /// The campaigns that there are.
    fn campaigns(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("hypocenter-out")).into_iter().flatten().flatten();
        entries.map(|it| it.file_name().into_string().expect("a name")).collect()
    }
}

/// The log of a run with the fault that is to be found.
fn failure_log() -> &'static str {
    static LOG: OnceLock<String> = OnceLock::new();
    LOG.get_or_init(|| {
        let place = Place::new();
        let fault = "--throw java.io.IOException --at 5 --workload spool --json";
        let said = place.tool(&format!("inject Outbox.append->FileChannel.write {fault}")).exits(0);
        assert_eq!(said.json()["failure"]["happened"], true, "{:#}", said.json());
        let path = place.path("hypocenter-out/latest/trials/000/logs/main.stdout.log");
        fs::read_to_string(path).expect("the program's log")
    })
}

/// The fault that made the failure log.
#[track_caller]
fn assert_true_fault(fault: &Value) {
    let line = line_of("spool/src/spool/Outbox.java", "append");
    let expected = json!({
        "class": "spool.Outbox",
        "method": "append",
        "line": line,
        "exception": "java.io.IOException",
        "callee": "java.nio.channels.FileChannel.write(Ljava/nio/ByteBuffer;)I",
        "occurrence": 5,
        "node": "main",
        "thread": "Sender",
    });
    assert_eq!(*fault, expected);
}

/// The way from the fault to the symptom, and both logs side by side.
#[track_caller]
fn assert_story(said: &Said, document: &Value) {
    let cause = &document["stories"][0]["causes"][0];
    let leads = cause["leads_to"].as_array().unwrap_or_else(|| panic!("{document:#}"));
    let steps = |message: &str| {
        let lead = leads.iter().find(|it| it["message"].as_str().is_some_and(|it| it.starts_with(message)));
        let steps =
            lead.unwrap_or_else(|| panic!("`{message}`: {cause:#}"))["steps"].as_array().expect("steps");
        steps.iter().map(|it| it.as_str().expect("a step").to_owned()).collect::<Vec<_>>()
    };
    let line = line_of("spool/src/spool/Outbox.java", "append");
    let first = format!("FileChannel.write, called at Outbox.append:{line}, throws IOException");
    // The nearest is what the handler logs; the symptom is logged by another class, through what that throws.
    assert_eq!(
        steps("cannot write a message"),
        [
            first.clone(),
            format!("it is caught at Outbox.append:{}", line + 1),
            format!("Outbox.append:{} logs it", line + 2),
        ]
    );
    assert_eq!(leads[0]["steps"][0], first.as_str());
    let to_symptom = steps("message 5 is lost");
    assert_eq!(to_symptom.first(), Some(&first));
    assert!(to_symptom.last().is_some_and(|it| it.starts_with("Sender.run:")), "{to_symptom:?}");
    assert_eq!(cause["named_by"][0]["frame"], format!("spool.Outbox.append:{line}"), "{cause:#}");
    assert!(said.stderr.contains(&format!("1. {first}")), "{}", said.stderr);
    let rows = document["stories"][0]["beside"]["rows"].as_array().unwrap_or_else(|| panic!("{document:#}"));
    let fault = rows.iter().position(|it| it["fault"] == 0).unwrap_or_else(|| panic!("no fault: {rows:#?}"));
    let message = |row: &Value, side: &str| row["entries"][side]["message"].as_str().map(str::to_owned);
    // The fault stands where it went in: behind the last message that was sent, before the first complaint.
    let around = |at: usize| [message(&rows[at], "failure"), message(&rows[at], "trial")];
    assert_eq!(
        around(fault - 1),
        [Some("message 4 is sent".to_owned()), Some("message 4 is sent".to_owned())]
    );
    let complaint = Some("cannot write a message, trying a new file".to_owned());
    assert_eq!(around(fault + 1), [complaint.clone(), complaint]);
    let symptom =
        rows.iter().find(|it| it["entries"]["is"] == "symptom").unwrap_or_else(|| panic!("{rows:#?}"));
    assert_eq!(message(symptom, "trial"), message(symptom, "failure"));
    assert!(said.stderr.contains(">>> throw java.io.IOException at spool.Outbox.append"), "{}", said.stderr);
}

/// Nothing in the document is unknown to the type, and so to the schema.
#[track_caller]
fn assert_document(document: &Value) -> Summary {
    let summary: Summary = serde_json::from_value(document.clone()).expect("a summary");
    assert_eq!(serde_json::to_value(&summary).expect("JSON"), *document);
    summary
}

/// The page and its like are there, and what they are made of is what the published schema says.
#[track_caller]
fn assert_report(place: &Place, document: &Value) {
    let summary = assert_document(document);
    let latest = |name: &str| fs::read_to_string(place.path("hypocenter-out/latest").join(name)).expect(name);
    let page = latest("report.html");
    for part in [
        "<h1>The failure comes back when <code>FileChannel.<wbr>write</code>, called at <code>Outbox.<wbr>append:",
        "the 5th time that thread <code>Sender</code> of <code>main</code> gets there.</h1>",
        document["replay"].as_str().expect("a command"),
        "cannot write a message, trying a new file",
        "of the failure log \u{b7} the failure",
        "Normal run",
        "Reproduced run",
        "id=\"ranks\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let runs: Value = serde_json::from_str(&latest("runs.json")).expect("JSON");
    // The fault is on the lane of its thread, in the run that was reproduced and where it must have been in the failure.
    let lanes = &runs["lanes"];
    let sender = lanes["lanes"].as_array().expect("lanes").iter().position(|it| it["thread"] == "Sender");
    let faults: Vec<&Value> =
        lanes["runs"].as_array().expect("runs").iter().map(|it| &it["faults"]).collect();
    let struck = json!([[0, sender.expect("its lane"), 0]]);
    assert_eq!(faults, [&json!([]), &struck, &struck], "{lanes:#}");
    let sarif: Value = serde_json::from_str(&latest("findings.sarif")).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    let file = &result["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(result["ruleId"], "reproduce/exception");
    assert_eq!(*file, json!({ "uri": "spool/Outbox.java", "uriBaseId": "PACKAGEROOT" }));
    let first = &result["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"];
    assert_eq!(first["logicalLocations"][0]["fullyQualifiedName"], "spool.Outbox.append", "{first:#}");
    let junit = latest("junit.xml");
    assert!(junit.contains("<failure message="));
    let took = |trial: u64| {
        let outcome = latest(&format!("trials/{trial:03}/outcome.json"));
        let outcome: Value = serde_json::from_str(&outcome).expect("JSON");
        format!(" time=\"{:.3}\"", outcome["wall_ms"].as_f64().expect("how long it took") / 1e3)
    };
    let cases: Vec<&str> = junit.lines().filter(|it| it.contains("<testcase ")).collect();
    let replayed = summary.found[0].replayed.expect("it was replayed");
    assert!(cases[0].contains(&took(0)) && cases[1].contains(&took(replayed)), "{junit}");
    // They can be written again from what is kept, without the target; with its sources, these can be opened.
    fs::remove_file(place.path("hypocenter-out/latest/report.html")).expect("it is there");
    let source = "store/src/main/java/spool/Outbox.java";
    fs::create_dir_all(place.path("store/src/main/java/spool")).expect("a directory");
    place.file(source, "");
    place.tool("report").exits(0).says("report.html");
    assert_eq!(latest("report.html"), page);
    let sarif: Value = serde_json::from_str(&latest("findings.sarif")).expect("JSON");
    let file = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(*file, json!({ "uri": source, "uriBaseId": "SRCROOT" }));
}

#[test]
fn the_fault_is_found_and_its_replay_shows_the_failure() {
    let place = Place::new();
    let said =
        place.reproduce("--seed 3").exits(0).says("rate      2 of 2 replays").says("reproduced in round ");
    let document = said.json();
    assert_eq!(document["reproduced"], true);
    assert_true_fault(&document["fault"]);
    assert_eq!(document["rate"], json!({ "hits": 2, "runs": 2 }));
    let count = |name: &str| document[name].as_u64().unwrap_or_else(|| panic!("{name}: {document:#}"));
    // At most every moment of every site, one after the other.
    assert!((1..=count("instances")).contains(&count("rounds")), "{document:#}");
    assert!(count("sites") >= 1 && count("sites") <= count("sites_total"), "{document:#}");
    // A write that fails, too many messages, a message that waits, one that is lost.
    assert_eq!(count("observables"), 4, "{document:#}");
    for name in ["seconds", "found_seconds", "requests", "decision_ns", "between_rounds_ms", "workload_s"] {
        assert!(document[name].as_f64().is_some_and(|it| it > 0.0), "{name}: {document:#}");
    }
    // What was found was found before it was replayed.
    assert!(document["found_seconds"].as_f64() < document["seconds"].as_f64(), "{document:#}");
    // Where the site stood that was found, round by round, also for those who read files.
    let ranks: Vec<u64> = (0..count("rounds"))
        .map(|it| {
            document["tried"][it as usize]["found_rank"].as_u64().unwrap_or_else(|| panic!("{document:#}"))
        })
        .collect();
    assert!(ranks.iter().all(|it| (1..=count("sites")).contains(it)), "{ranks:?}");
    let rounds = fs::read_to_string(place.path("hypocenter-out/latest/rounds.jsonl")).expect("the rounds");
    let kept =
        rounds.lines().map(|it| serde_json::from_str::<Value>(it).expect("a round")["found_rank"].as_u64());
    assert_eq!(kept.collect::<Option<Vec<u64>>>(), Some(ranks));

    // What was as likely is named, and none of it was tried.
    let others = document["found"][0]["as_likely"].as_array().expect("a list");
    let is_it = |round: &Value, other: &Value| {
        let (fault, same) = (&round["fault"], |it: &str, there: &str| round["fault"][it] == other[there]);
        !fault.is_null() && same("site", "site") && same("fault", "fault") && same("guard", "when")
    };
    let tried = document["tried"].as_array().expect("rounds");
    assert!(others.iter().all(|it| !tried.iter().any(|round| is_it(round, it))), "{others:#?}");
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    for text in [&said.stderr, &page] {
        assert_eq!(text.contains("as likely and w"), !others.is_empty(), "{others:#?}\n{}", said.stderr);
    }

    for text in ["no way in the code", "it may be another than"] {
        assert!(!said.stderr.contains(text), "{}", said.stderr);
    }
    assert_story(&said, &document);
    assert_report(&place, &document);

    let replay = document["replay"].as_str().expect("a command");
    assert!(said.stderr.contains(replay), "{}", said.stderr);
    let words = replay.strip_prefix("hypocenter ").expect("it begins with the tool's name");
    let outcome = place.tool(&format!("{words} --json")).exits(0).json();
    assert_eq!(outcome["failure"]["happened"], true, "{outcome:#}");
    assert_eq!(outcome["candidates"][0]["result"]["occurrence"], 5, "{outcome:#}");

    // Without a number it is the same trial, and that is said.
    let trial = words.rsplit('/').next().expect("a number");
    let said = place.tool("replay reproduce-0001 --json").exits(0).says(&format!("so it is {trial}, which"));
    assert_eq!(said.json()["failure"]["happened"], true, "{}", said.stderr);
}

#[test]
fn the_command_that_is_told_can_be_given_twice_wherever_results_go() {
    let place = Place::new();
    let said = place.reproduce("--seed 3 --out new&old/kept").exits(0);
    let document = said.json();
    let replay = document["replay"].as_str().expect("a command");
    assert!(replay.ends_with("--out 'new&old/kept'"), "{replay}");
    assert_eq!(document["replays"], json!([replay]));
    let said = said.says(&format!("replay    {replay}")).says(&format!("{replay} --export DIR"));
    let kept = place.path("new&old/kept/reproduce-0001");
    let page = fs::read_to_string(kept.join("report.html")).expect("a page");
    let from = document["directory"].as_str().expect("where it is run");
    assert_eq!(Path::new(from), place.directory.path().canonicalize().expect("it is there"));
    let escaped = replay.replace('&', "&amp;").replace('\'', "&#39;");
    for part in [&escaped, &format!("Run it in <code>{}</code>", from.replace('.', ".<wbr>"))] {
        assert!(page.contains(part.as_str()), "{part}: {}", said.stderr);
    }
    let junit = fs::read_to_string(kept.join("junit.xml")).expect("it is there");
    assert!(junit.contains("/kept"), "{junit}");
    // As somebody would who copies it, from the directory that the page names.
    for number in 1..=2 {
        let status = shell(Path::new(from), replay);
        assert_eq!(status, Some(0), "time {number}: {replay}");
        let outcome = place.path(&format!("new&old/kept/replay-000{number}/trials/000/outcome.json"));
        let outcome: Value = serde_json::from_slice(&fs::read(outcome).expect("a trial")).expect("JSON");
        assert_eq!(outcome["failure"]["happened"], true, "{outcome:#}");
    }
    assert!(!place.path("hypocenter-out").exists(), "results went where nobody asked for them");
}

/// Runs a command line as a shell does that finds the tool.
fn shell(directory: &Path, line: &str) -> Option<i32> {
    let tool = Path::new(env!("CARGO_BIN_EXE_hypocenter")).parent().expect("its directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(directory).env("PATH", format!("{}:{path}", tool.display()));
    command.env("JAVA_HOME", &default_jdk().home).env("JAVA", default_jdk().java());
    command.env("CLASSES", spool_classes());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().expect("a shell").code()
}

#[test]
fn a_failure_whose_numbers_are_others_may_be_of_another_moment() {
    let place = Place::new();
    place.file("other.log", failure_log().replace("message 5", "message 95"));
    let said = place.tool(&format!("reproduce --log other.log {SEARCH} --seed 3")).exits(0);
    let said = said
        .says("it may be another than the failure's: `message 95 is lost` there, `message 5 is lost` here");
    assert_document(&said.says("`hypocenter guide oracles`").json());
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    assert!(page.contains("<span class=\"mono\">message 95 is lost</span> there"));
}

#[test]
fn what_is_fixed_is_not_reproduced_and_the_closest_trials_are_named() {
    let place = Place::with("fixed", ORACLE);
    let said = place.reproduce("--budget 6");
    let said = said.exits(3).says("the budget of 6 rounds is used up").says("closest   reproduce-0001/");
    let said = said.says("never     line ").says("it shows line").says("try       ");
    // The calls are those that a scan counts, with those that can only take long or crash.
    let scan = place.tool("scan --sites --json").exits(0).json();
    let (calls, faults) = (&scan["fault_calls"], scan["lists"]["sites"].as_array().map_or(0, Vec::len));
    let said = said
        .says(&format!(", {faults} faults at {calls} calls, "))
        .says(&format!(" of {calls} calls lead there"));
    // Of the first rounds nobody can say how long all will take, and behind the last there is none.
    let rounds: Vec<&str> = said.stderr.lines().filter(|it| it.trim_start().starts_with("round ")).collect();
    let foretold = rounds.iter().enumerate().filter(|(_, it)| it.contains(" more rounds")).map(|it| it.0);
    assert!(rounds.len() == 6 && foretold.clone().all(|it| it == 4), "{rounds:#?}");
    // What it proposes to ask can be asked, as it stands there.
    let asks = said.stderr.lines().filter_map(|it| it.split('`').nth(1));
    let ask: Vec<&str> = asks.filter(|it| it.starts_with("hypocenter scan --why '")).collect();
    assert_eq!(ask.len(), 1, "{}", said.stderr);
    let script = ask[0].replacen("hypocenter", env!("CARGO_BIN_EXE_hypocenter"), 1);
    let mut scan = Command::new("sh");
    scan.args(["-c", &script]).current_dir(place.directory.path()).env("JAVA_HOME", &default_jdk().home);
    let output = scan.output().expect("a shell");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("written by") && told.contains("1. "), "{output:?}");
    let document = said.json();
    assert_eq!((&document["reproduced"], &document["rounds"]), (&json!(false), &json!(6)), "{document:#}");
    for name in ["fault", "replay", "rate"] {
        assert_eq!(document[name], Value::Null, "{name}");
    }
    assert_eq!(document["normal_failures"], 0);
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    for part in
        ["<h1>Not reproduced: the budget of 6 rounds is used up.</h1>", "the nearest trial", "id=\"tried\""]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_round_that_repeats_a_fault_says_why() {
    let place = Place::with("fixed", ORACLE);
    let said = place.reproduce("--budget 6 --patience 2").exits(3);
    let document = said.json();
    let tried = document["tried"].as_array().expect("rounds");
    let again: Vec<&Value> = tried.iter().filter(|it| it["again"] == "for_second").collect();
    assert!(!again.is_empty(), "{tried:#?}");
    for it in again {
        let fault = |it: &Value| {
            [&it["fault"]["site"], &it["fault"]["fault"], &it["fault"]["guard"]].map(Value::clone)
        };
        let before = tried.iter().filter(|other| other["number"].as_u64() < it["number"].as_u64());
        assert!(before.clone().any(|other| fault(other) == fault(it)), "{it:#}");
        let start = format!("  round {:<4}", it["number"].as_u64().expect("a number"));
        let line = said.stderr.lines().find(|it| it.starts_with(&start)).expect("its line");
        assert!(line.contains(": again and alone, to search for a second fault behind it: shows "), "{line}");
    }
    // All that looks the same says so.
    let mut seen = BTreeSet::new();
    for it in tried.iter().filter(|it| it["again"].is_null() && !it["fault"].is_null()) {
        assert!(
            seen.insert(format!(
                "{} {} {} {}",
                it["fault"]["site"], it["fault"]["fault"], it["fault"]["guard"], it["kept"]
            )),
            "{it:#}"
        );
    }
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    assert!(page.contains("again and alone, to search for a second behind it"));
}

#[test]
fn sites_that_lead_there_are_told_from_those_that_only_delays_are_tried_at() {
    let numbers = |faults: &str| {
        let place = Place::with("fixed", ORACLE);
        place.file("failure.log", failure_log());
        let flags = SEARCH.replace("--faults exceptions", faults);
        let said = place.tool(&format!("reproduce --log failure.log --budget 1 {flags}")).exits(3);
        let line = said.stderr.lines().find(|it| it.trim_start().starts_with("search ")).expect("it is told");
        let (lead, rest) = line.split_once("; the workload reaches ").expect(line);
        let is_delayed = rest.contains(" others, which are tried with a delay");
        let digits =
            |it: &str| it.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect();
        let (lead, rest): (Vec<u64>, Vec<u64>) = (digits(lead), digits(rest));
        (lead, rest, is_delayed)
    };
    let (lead, exceptions, is_delayed) = numbers("--faults exceptions");
    assert!(!is_delayed && exceptions.len() == 2 && exceptions[0] <= lead[0], "{lead:?} {exceptions:?}");
    let (with_delays, delays, is_delayed) = numbers("--faults exceptions,delays --delay 1s");
    assert_eq!((with_delays, delays[0]), (lead.clone(), exceptions[0]), "what leads there is the same");
    assert!(is_delayed && delays.len() == 3, "{delays:?}");
    assert!(
        delays[1] > 0 && delays[0] + delays[1] <= lead[1] && delays[2] > exceptions[1],
        "{delays:?} {exceptions:?}"
    );
}

/// It says itself that something was lost, which the failure log does not have.
const JUDGE: &str = r#""$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$CLASSES" spool.Main "$@" > "$HYPOCENTER_DIR/said"
cat "$HYPOCENTER_DIR/said"; if grep -q 'is lost' "$HYPOCENTER_DIR/said"; then echo 'THE JUDGE: lost'; fi
"#;

#[test]
fn what_satisfied_the_oracle_is_drawn_where_the_failure_log_does_not_have_it() {
    let place = Place::with("spool", "oracle = { log = 'THE JUDGE' }");
    place.file("spool.sh", JUDGE);
    let said = place.reproduce("--seed 3").exits(0);
    let said = said.says("no way in the code is known from it to what the oracle saw; perhaps by a field");
    let document = said.json();
    assert_true_fault(&document["fault"]);
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    let drawing =
        page.split("id=\"cause\"").nth(1).and_then(|it| it.split("</section>").next()).expect("it is there");
    for part in ["what the oracle saw \u{b7} the failure", "THE JUDGE: lost", "cannot write a message"] {
        assert!(drawing.contains(part), "{part}: {drawing}");
    }
}

#[test]
fn what_a_fault_does_not_show_of_the_failure_log_is_said() {
    let place = Place::with("fixed", "oracle = { log = 'cannot write a message' }");
    let said = place.reproduce("--seed 3").exits(0);
    let said = said.says("lacks     line ").says("is lost").says("ask for it too: `all` in the oracle");
    // What it shows is not among it.
    assert!(
        !said.stderr.lines().any(|it| it.contains("lacks") && it.contains("cannot write")),
        "{}",
        said.stderr
    );
    // Nor is it for those who read the document or the page.
    let document = said.json();
    let lacks = document["found"][0]["lacks"].as_array().unwrap_or_else(|| panic!("{document:#}"));
    let messages: Vec<&str> = lacks
        .iter()
        .map(|it| {
            document["missing"][it.as_u64().expect("a place") as usize]["message"]
                .as_str()
                .expect("it says something")
        })
        .collect();
    assert!(messages.contains(&"message 5 is lost"), "{messages:?}");
    assert!(!messages.iter().any(|it| it.starts_with("cannot write")), "{messages:?}");
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    assert!(
        page.contains("The run that was found does not show ")
            && page.contains(">message 5 is lost</span></li>")
    );
    assert_document(&document);
}

#[test]
fn an_oracle_that_holds_without_a_fault_is_no_oracle() {
    let place = Place::with("spool", "oracle = { log = 'all messages are done' }");
    let said = place
        .reproduce("")
        .exits(4)
        .says("without a fault, in 2 of 2 runs")
        .says("mend the workload or the oracle")
        .says("reproduce-0001/0: logs/main.stdout.log:");
    let shown = said.stderr.lines().find(|it| it.contains("reproduce-0001/0: "));
    assert!(shown.is_some_and(|it| it.ends_with("all messages are done")), "{}", said.stderr);
    assert_eq!(said.json()["reproduced"], false);
    assert_eq!(place.started().len(), 2, "no round was run");
}

#[test]
fn a_command_that_fails_by_itself_is_shown_with_what_it_said() {
    let place = Place::new();
    place.file("a.log", failure_log());
    place.file("spool.sh", "echo '[ERROR] Cannot access central in offline mode'; exit 1\n");
    let said = place.tool(&format!("reproduce --log a.log {SEARCH}")).exits(1);
    said.says("[ERROR] Cannot access central")
        .says("run `mvn test` once, with a network")
        .says("a run without a fault gave nothing to compare")
        .says("the command fails without a fault: mend that first");
}

/// It fails by itself in one run of five.
const FLAKY: &str = r#"n=${HYPOCENTER_DIR%/dir}; n=${n##*/}; n=${n#0}; n=${n#0}
"$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$CLASSES" spool.Main "$@"
if [ $((n % 5)) = 4 ]; then echo "2026-01-01 00:00:00,000 ERROR [main] spool.Spool: message 3 is lost"; fi
"#;

#[test]
fn a_workload_that_fails_by_itself_now_and_then_proves_nothing() {
    let place = Place::with("fixed", ORACLE);
    place.file("spool.sh", FLAKY);
    place.file("a.log", failure_log());
    let flags = SEARCH.replace("--replays 2", "--replays 5");
    let said = place
        .tool(&format!("reproduce --log a.log {flags}"))
        .exits(4)
        .says("the failure happens without a fault, in ");
    let document = said.json();
    assert_eq!((&document["reproduced"], &document["found"]), (&json!(false), &json!([])));
    // It looked like a success first.
    assert_eq!(
        document["tried"].as_array().and_then(|it| it.last()).map(|it| &it["happened"]),
        Some(&json!(true))
    );
}

#[test]
fn a_round_that_no_replay_shows_again_is_told_to_be_chance() {
    let place = Place::with("fixed", ORACLE);
    // The first round follows two runs without a fault.
    place.file("spool.sh", FLAKY.replace("$((n % 5)) = 4", "$n = 2"));
    let said = place.reproduce("--budget 2").exits(3);
    let said = said.says("\n            round 1 was chance: 0 of 2 replays showed it; going on\n  round 2 ");
    assert_eq!(said.json()["found"], json!([]));
}

#[test]
fn all_that_is_missing_is_listed_and_what_came_more_often_asks_for_a_longer_workload() {
    let place = Place::with("fixed", "oracle = { log = 'the moon is full' }");
    let storing = failure_log().lines().find(|it| it.contains("storing ")).expect("it begins");
    place.file("long.log", format!("{}{storing}\n{storing}\n", failure_log()));
    let said = place.tool(&format!("reproduce --log long.log {SEARCH} --budget 1")).exits(3);
    let (before, behind) = said.stderr.split_once("round 1").expect("a round");
    let (_, missing) = before.split_once("missing   ").expect("something is missing");
    let things: usize = missing.split(' ').next().and_then(|it| it.parse().ok()).expect("a number");
    let listed: Vec<&str> = missing.lines().filter(|it| it.starts_with("            line ")).collect();
    assert_eq!(listed.len(), things, "{before}");
    let more = "(3 times, normal runs 1)";
    let often = listed.iter().find(|it| it.contains(more)).unwrap_or_else(|| panic!("{before}"));
    assert!(often.ends_with("(no exception is known to lead here)"), "{often}");
    let follows = missing.lines().skip_while(|it| it != often).nth(1).unwrap_or_default();
    assert!(follows.contains("the failure did this more often than the workload does"), "{before}");
    let (_, tries) = behind.split_once("  try       ").expect("something to try");
    let mut tries = tries.lines();
    assert!(tries.next().is_some_and(|it| it.starts_with("check the oracle")), "{behind}");
    assert!(
        tries.next().is_some_and(|it| it.contains("a longer workload: the failure shows line ")),
        "{behind}"
    );
}

#[test]
fn an_oracle_that_can_never_hold_is_suspected_before_the_first_run() {
    let place = Place::with("spool", "oracle = { log = 'the moon is full' }");
    let said = place.reproduce("--normal-runs 1 --budget 1").exits(3);
    let said = said.says("oracle: the failure log has no line that the oracle looks for: log `the moon");
    let (before, behind) = said.stderr.split_once("round 1").expect("a round");
    assert!(before.contains("no run may ever satisfy it"), "{before}");
    let first = "  try       check the oracle before anything else: the failure log has no line";
    assert!(behind.contains(first), "{behind}");
    assert!(behind.contains("more rounds (--budget)"), "{behind}");
    assert_eq!(said.json()["reproduced"], false);
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    assert!(page.contains("Check the oracle: the failure log has no line"), "{}", said.stderr);
}

#[test]
fn an_oracle_that_certainly_never_holds_is_refused_before_anything_is_run() {
    let lost = "{ log = 'is lost', times = 2 }";
    let place =
        Place::with("spool", &format!("oracle = {{ all = [{lost}, {{ not = {{ log = 'is lost' }} }}] }}"));
    let said =
        place.reproduce("").exits(1).says("the oracle can never hold: it asks for log `is lost` 2 times");
    said.says("out of `all`");
    assert!(place.started().is_empty() && place.campaigns().is_empty());
}

/// What is wrong with a log, the log if there is one, and what is said.
type Row = (&'static str, Option<Vec<u8>>, &'static [&'static str]);

#[test]
fn a_log_that_cannot_be_meant_is_said_before_anything_is_run() {
    let text = failure_log();
    let messages: String = text
        .lines()
        .filter_map(|it| Some(it.split_once("]")?.1.split_once(": ")?.1))
        .fold(String::new(), |all, it| all + it + "\n");
    let other = "2026-01-01 00:00:00,123 INFO  [main] shop.Shop: opening at nine\n\
                 2026-01-01 00:00:01,123 ERROR [till-1] shop.Till: the drawer is stuck\n";
    let noise: Vec<u8> = (0..4000u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let maven = "[INFO] Scanning for projects...\n[INFO] -------------------------------------------------------\n\
                 [INFO]  T E S T S\n[INFO] Running spool.SpoolTest\n\
                 [ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE\n";
    let rows: [Row; 7] = [
        ("absent", None, &["a.log: No such file", "--log"]),
        ("empty", Some(Vec::new()), &["a.log: the log is empty", "give the log of the run that failed"]),
        ("blank", Some(b"\n \n\t\n".to_vec()), &["the log is empty"]),
        (
            "of another system",
            Some(other.into()),
            &["no log statement of the target fits any of its 2 entries", "check that the class path"],
        ),
        ("noise", Some(noise), &["no layout fits the log", "--layout"]),
        (
            "the output of Maven",
            Some(maven.into()),
            &["it is the output of Maven, 6 of 6 lines", "surefire-reports/*-output.txt", "main.stderr.log"],
        ),
        (
            "nothing but messages",
            Some(messages.into()),
            &["no layout fits the log", "storing 6 messages", "--layout"],
        ),
    ];
    let check = |(_, content, says): &Row| {
        let place = Place::new();
        if let Some(content) = content {
            place.file("a.log", content);
        }
        let said = place.tool("reproduce --log a.log --json").exits(1).says("error: ");
        let said = says.iter().fold(said, |said, text| said.says(text));
        assert_eq!(said.stdout, "");
        assert_eq!(place.campaigns(), Vec::<String>::new(), "a campaign was begun");
    };
    each(&rows, |it| it.0.to_owned(), check);
}

#[test]
fn the_layout_of_the_log_is_that_of_the_failure_unless_the_flag_says_another() {
    let place = Place::with("spool", &format!("{ORACLE}\nlayout = '%d ~ %m%n'"));
    place.reproduce("").exits(1).says("the pattern `%d ~ %m%n` fits none");
    place.reproduce("--layout %p~%m%n").exits(1).says("the pattern `%p~%m%n` fits none");
    assert!(place.started().is_empty() && place.campaigns().is_empty());
}

#[test]
fn without_a_log_or_an_oracle_it_says_what_to_give() {
    let place = Place::new();
    place.tool("reproduce").exits(1).says("there is no failure log").says("--log FILE");
    let place = Place::with("spool", "");
    place.reproduce("").exits(1).says("nothing says when the failure has happened").says("--oracle");
    // The failure is the same by whichever workload it is looked for.
    let place = Place::with("fixed", ORACLE);
    place.tool("reproduce --workload spool").exits(1).says("there is no failure log");
    let place = Place::new();
    place.reproduce("--strategy best").exits(1).says("best").says("exhaustive");
    place.tool("reproduce --resume nothing").exits(1).says("nothing");
    assert_eq!(place.campaigns(), Vec::<String>::new());
}

#[test]
fn a_log_that_is_damaged_or_says_less_is_read_all_the_same_and_that_is_said() {
    let text = failure_log();
    let broken = text.replace("message 5 has", "message \u{1}5 has").into_bytes();
    let broken: Vec<u8> = broken.into_iter().map(|it| if it == 1 { 0xff } else { it }).collect();
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let untimed: String = text
        .lines()
        .map(|it| if it.starts_with("20") { it.splitn(3, ' ').nth(2).unwrap_or(it) } else { it })
        .fold(String::new(), |all, it| all + it + "\n");
    // As ZooKeeper has it, with lines at which nothing is logged.
    let moved: String = text
        .lines()
        .map(|it| {
            let Some((head, (class, message))) =
                it.split_once("] ").and_then(|(head, rest)| Some((head, rest.split_once(": ")?)))
            else {
                return it.to_owned();
            };
            let (time, level) = head.split_at("2026-01-01 00:00:00,000".len());
            format!("{time} -{level}:{}@9999] - {message}", class.rsplit('.').next().unwrap_or(class))
        })
        .fold(String::new(), |all, it| all + &it + "\n");
    let rows = [
        ("broken bytes", broken, "bytes that are no UTF-8"),
        ("UTF-16", utf16, "the log is in UTF-16"),
        ("no times", untimed.into_bytes(), "the log has no timestamps"),
        ("another version", moved.into_bytes(), "the log is of another version"),
    ];
    let check = |(_, content, says): &(&str, Vec<u8>, &str)| {
        let place = Place::new();
        place.file("a.log", content);
        let said = place.tool(&format!("reproduce --log a.log {SEARCH} --normal-runs 1 --budget 1")).exits(3);
        let said = said.says("note").says(says);
        // What the oracle looks for is there, in whichever bytes.
        assert!(!said.stderr.contains("that the oracle looks for"), "{}", said.stderr);
        let document = said.json();
        assert_eq!(document["observables"], 4, "{document:#}");
        // It is the same as without the damage: the round shows something of what is missing.
        assert!(document["tried"][0]["shown"].as_array().is_some_and(|it| !it.is_empty()), "{document:#}");
    };
    each(&rows, |it| it.0.to_owned(), check);
}

/// What the program writes goes to a file of its own, in a directory of its own, and nothing to its output.
const TO_FILE: &str = r#"mkdir -p "$1/logs"
exec "$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$CLASSES" spool.Main "$1" > "$1/logs/spool.log"
"#;

#[test]
fn what_a_workload_logs_to_files_is_its_log() {
    let place = Place::new();
    place.file("spool.sh", TO_FILE);
    let config = fs::read_to_string(place.path("hypocenter.toml")).expect("the configuration");
    let first = "timeout = '100s'\n";
    let search = format!("{SEARCH} --normal-runs 1 --budget 1");
    let silent = place.reproduce("--normal-runs 1 --budget 1").exits(1);
    silent.says("gave nothing to compare").says("logs = [");
    place.file(
        "hypocenter.toml",
        config.replacen(first, "timeout = '100s'\nlogs = ['{dir}/logs/*.log']\n", 1),
    );
    let said = place.tool(&format!("reproduce --log failure.log {search}")).exits(3);
    let document = said.json();
    assert_eq!(document["observables"], 4, "{document:#}");
    assert!(document["tried"][0]["shown"].as_array().is_some_and(|it| !it.is_empty()), "{document:#}");
    // The oracle reads it too.
    let said = place.tool(
        "inject Outbox.append->FileChannel.write --throw java.io.IOException --at 5 --workload spool --json",
    );
    let outcome = said.exits(0).json();
    assert_eq!(outcome["failure"]["happened"], true, "{outcome:#}");
    assert_eq!(outcome["processes"][0]["logs"][2], "dir/logs/spool.log", "{outcome:#}");
    // A file that is not there is said, and one that trials would share is refused.
    place
        .file("hypocenter.toml", config.replacen(first, "timeout = '100s'\nlogs = ['{dir}/log/*.log']\n", 1));
    place.tool("run spool").says("no file fits `{dir}/log/*.log`");
    place.file("hypocenter.toml", config.replacen(first, "timeout = '100s'\nlogs = ['log/*.log']\n", 1));
    place.tool("run spool").exits(1).says("below `{dir}`");
}

/// Instead of the system's own: what `java.util.logging` does by itself.
const PLAIN_LOGGING: &str = "package spool; final class Logging { static void install() {} }";
const PLAIN_SCRIPT: &str = r#"exec "$JAVA" $FORMAT -Duser.language=en -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "plain:$CLASSES" spool.Main "$@"
"#;

#[test]
fn a_log_of_whole_seconds_is_drawn_in_its_order_and_the_guide_says_how_to_get_more() {
    let guide = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/start.md"));
    let guide = guide.expect("the guide");
    let format = guide.lines().find_map(|it| it.strip_prefix("java.util.logging.SimpleFormatter.format="));
    for (is_coarse, options) in [(true, String::new()), (false, format.expect("a format").to_owned())] {
        let place = Place::new();
        let config = fs::read_to_string(place.path("hypocenter.toml")).expect("it was just written");
        place.file("hypocenter.toml", config.replace("classpath = [", "classpath = ['plain', "));
        place.file("Logging.java", PLAIN_LOGGING);
        let script = match is_coarse {
            true => PLAIN_SCRIPT.replace("$FORMAT ", ""),
            false => PLAIN_SCRIPT
                .replace("$FORMAT", &format!("'-Djava.util.logging.SimpleFormatter.format={options}'")),
        };
        place.file("spool.sh", script);
        let mut javac = Command::new(default_jdk().home.join("bin/javac"));
        javac.args(["--release", "11", "-nowarn", "-d", "plain", "Logging.java"]);
        assert!(javac.current_dir(place.directory.path()).status().expect("javac").success());
        let fault = "--throw java.io.IOException --at 5 --workload spool --quiet";
        place.tool(&format!("inject Outbox.append->FileChannel.write {fault}")).exits(0);
        let log = "hypocenter-out/inject-0001/trials/000/logs/main.stderr.log";
        let document = place.tool(&format!("reproduce --log {log} {SEARCH} --seed 3")).exits(0).json();
        assert_true_fault(&document["fault"]);
        let runs = fs::read(place.path("hypocenter-out/latest/runs.json")).expect("it is kept");
        let lanes = &serde_json::from_slice::<Value>(&runs).expect("JSON")["lanes"];
        assert_eq!(lanes["whole_seconds"], is_coarse, "{lanes:#}");
        let failure = &lanes["runs"][1];
        assert_eq!(failure["faults"][0][2], 0, "{failure:#}");
        if is_coarse {
            let times = failure["marks"].as_array().expect("marks").iter().map(|it| it[1].as_i64());
            let distinct: BTreeSet<Option<i64>> = times.collect();
            let entries = fs::read_to_string(place.path(log)).expect("the log");
            let entries = entries.lines().filter(|it| it.contains("AM spool.") || it.contains("PM spool."));
            assert_eq!(distinct.len(), entries.count(), "{failure:#}");
        }
        let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
        assert_eq!(page.contains("whole seconds alone"), is_coarse);
    }
}

#[test]
fn killed_in_a_round_and_resumed_it_ends_with_the_same_fault_and_runs_nothing_twice() {
    let place = Place::new();
    place.file("failure.log", failure_log());
    place.file("gate", "");
    let mut child = place.start(&format!("reproduce --log failure.log {SEARCH}"));
    until("the trial to be cut is started", || place.started().contains_key(&CUT));
    child.kill().expect("the tool can be killed");
    child.wait().expect("the tool can be waited for");
    let cut = place.started()[&CUT][0].clone();
    until("its trial is gone too", || !is_running(&cut));
    let campaign = place.path("hypocenter-out/reproduce-0001");
    let before = told(&campaign);
    assert_eq!(before, (0..CUT).collect::<Vec<_>>(), "what was told");
    place.file("go", "");
    let said = place.tool("reproduce --resume reproduce-0001 --jobs 1 --sandbox off --json");
    let said = said.exits(0).says("4 trials are done");
    let document = said.json();
    assert_true_fault(&document["fault"]);
    assert_eq!(document["rate"], json!({ "hits": 2, "runs": 2 }));
    let told = told(&campaign);
    let rounds = document["rounds"].as_u64().expect("a number");
    assert_eq!(
        told.len() as u64,
        2 + rounds + 2,
        "normal runs, which count as controls, rounds and replays: {told:?}"
    );
    assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), told.len(), "told twice: {told:?}");
    for (number, pids) in place.started() {
        assert_eq!(pids.len(), if number == CUT { 2 } else { 1 }, "starts of trial {number}");
    }
    // No fault was tried in two rounds either.
    let tried = document["tried"].as_array().expect("rounds").iter().map(|it| &it["fault"]);
    let tried: Vec<String> =
        tried.map(|it| format!("{} {} {}", it["site"], it["fault"], it["guard"])).collect();
    assert_eq!(tried.iter().collect::<BTreeSet<_>>().len(), tried.len(), "{tried:#?}");
}

#[test]
fn ended_in_a_round_it_says_how_far_it_came() {
    let place = Place::with("fixed", "oracle = { log = 'the moon is full' }");
    place.file("failure.log", failure_log());
    place.file("gate", "");
    let child = place.start(&format!("reproduce --log failure.log {SEARCH}"));
    until("the trial to be cut is started", || place.started().contains_key(&CUT));
    let ended = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(ended.is_ok_and(|it| it.success()));
    let output = child.wait_with_output().expect("the tool can be waited for");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for part in
        ["so far    2 rounds, nothing found", "closest   ", "you ended the campaign", "goes on with it"]
    {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(said.contains("\n  try       check the oracle before anything else: "), "{said}");
    assert!(!said.contains("--budget"), "the rounds were not used up: {said}");
}

/// The trials whose results a journal has, in its order.
fn told(campaign: &Path) -> Vec<u64> {
    let bytes = fs::read(campaign.join("results.jsonl")).expect("there is a journal");
    let lines = bytes.split_inclusive(|&it| it == b'\n').filter(|it| it.ends_with(b"\n"));
    let entries = lines.map(|it| serde_json::from_slice::<Value>(it).expect("a whole line is JSON"));
    entries.filter_map(|it| it["told"]["id"].as_u64()).collect()
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
