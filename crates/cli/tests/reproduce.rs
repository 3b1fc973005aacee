//! `reproduce` on a small system, `targets/spool`: from the log of a failure to the fault that made it, with real JVMs.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hypocenter_results::Document;
use hypocenter_results::reproduced::Reproduction;
use serde_json::{Value, json};
use support::spool::{ORACLE, Place, SCRIPT, SEARCH, assert_true_fault, failure_log};
use support::{Said, default_jdk, is_running, line_of, spool_classes};

/// Far longer than anything takes; a test that needs it has failed.
const PATIENCE: Duration = Duration::from_secs(120);
/// The trial at which the tool is killed: a round in the middle of the search.
const CUT: u64 = 4;

/// Causal path from the fault to the symptom, and both logs side by side.
#[track_caller]
fn assert_story(said: &Said, document: &Value) {
    let cause = &document["found"][0]["story"]["causes"][0];
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
    let rows =
        document["found"][0]["story"]["beside"]["rows"].as_array().unwrap_or_else(|| panic!("{document:#}"));
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
fn assert_document(document: &Value) -> Document<Reproduction> {
    let summary: Document<Reproduction> = serde_json::from_value(document.clone()).expect("a summary");
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
        "<h1>The failure happens again when <code>FileChannel.<wbr>write</code>, called at <code>Outbox.<wbr>append:",
        "5th occurrence on thread <code>Sender</code>.</h1>",
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
    // Side by side it stands right before what its thread wrote next, whatever the failure log has of that thread and the trial not.
    let rows = document["found"][0]["story"]["beside"]["rows"].as_array().expect("rows");
    let fault = rows.iter().position(|it| it["fault"] == 0).expect("the fault");
    let said = |it: &Value| {
        let sides = [&it["entries"]["failure"], &it["entries"]["trial"]];
        let by_sender = sides.iter().any(|it| it["thread"] == "Sender");
        by_sender.then(|| sides.map(|it| it["message"].as_str().unwrap_or_default().to_owned()))
    };
    let next = rows[fault..].iter().find_map(said).expect("it goes on");
    assert_eq!(next, ["cannot write a message, trying a new file"; 2].map(str::to_owned), "{rows:#?}");
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
    let replayed = summary.detail.found[0].trial;
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
        rounds.lines().map(|it| serde_json::from_str::<Value>(it).expect("a round")["number"].as_u64());
    let mut kept: Vec<u64> = kept.map(|it| it.expect("a number")).collect();
    kept.sort_unstable();
    assert_eq!(kept, (1..=count("rounds")).collect::<Vec<u64>>());

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
        assert_eq!(text.contains("equally likely and w"), !others.is_empty(), "{others:#?}\n{}", said.stderr);
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
    let said = place
        .tool("replay reproduce-0001 --json")
        .exits(0)
        .says(&format!("trial: {trial}, the finding of the campaign"));
    assert_eq!(said.json()["failure"]["happened"], true, "{}", said.stderr);
}

#[test]
fn the_command_that_is_told_can_be_given_twice_wherever_results_go() {
    let place = Place::new();
    let said = place.reproduce("--seed 3 --out new&old/kept").exits(0);
    let document = said.json();
    let replay = document["replay"].as_str().expect("a command");
    assert!(replay.ends_with("--out 'new&old/kept'"), "{replay}");
    assert_eq!(document["found"][0]["replay"], json!(replay));
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
    let said = said.says(
        "possibly another occurrence: failure log has `message 95 is lost`, this run `message 5 is lost`",
    );
    assert_document(&said.says("`hypocenter guide oracles`").json());
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    assert!(page.contains("failure log has <span class=\"mono\">message 95 is lost</span>"));
}

#[test]
fn what_is_fixed_is_not_reproduced_and_the_closest_trials_are_named() {
    let place = Place::with("fixed", ORACLE);
    let said = place.reproduce("--trials 6");
    let said = said.exits(3).says("the budget of 6 rounds is used up").says("closest   reproduce-0001/");
    let said = said.says("never     line ").says("it shows line").says("try       ");
    // The calls are those that a scan counts, with those that can only take long or crash.
    let scan = place.tool("scan --sites --json").exits(0).json();
    let (calls, faults) = (&scan["fault_calls"], scan["lists"]["sites"].as_array().map_or(0, Vec::len));
    let said = said
        .says(&format!(", {faults} faults at {calls} calls, "))
        .says(&format!(" of {calls} calls have a causal path"));
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
    let said = place.reproduce("--trials 12 --set reproduce.patience=2").exits(3);
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
        assert!(line.contains(": again, alone: a second fault is searched for after it; shows "), "{line}");
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
    assert!(page.contains("again, alone: a second fault is searched for after it"));
}

#[test]
fn sites_that_lead_there_are_told_from_those_that_may_all_the_same() {
    let numbers = |faults: &str| {
        let place = Place::with("fixed", ORACLE);
        place.file("failure.log", failure_log());
        let flags = SEARCH.replace("--faults exceptions", faults);
        let said = place.tool(&format!("reproduce --log failure.log --trials 1 {flags}")).exits(3);
        let line = said.stderr.lines().find(|it| it.trim_start().starts_with("search ")).expect("it is told");
        let (lead, rest) = line.split_once("; the workload reaches ").expect(line);
        assert!(rest.contains(" (tried last: no known causal path)"), "{line}");
        let digits =
            |it: &str| it.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect();
        let (lead, rest): (Vec<u64>, Vec<u64>) = (digits(lead), digits(rest));
        (lead, rest)
    };
    // How many it makes, of how many, how many others, and the moments.
    let (lead, exceptions) = numbers("--faults exceptions");
    let [made, of, others, moments] = exceptions[..] else { panic!("{exceptions:?}") };
    assert!(made <= of && of == lead[0] && others > 0 && made + others <= lead[1], "{lead:?} {exceptions:?}");
    // Some can only be late.
    let (with_delays, delays) = numbers("--faults exceptions,delays --delay 1s");
    assert_eq!((&with_delays, &delays[..2]), (&lead, &exceptions[..2]), "what leads there is the same");
    let [_, _, more, in_all] = delays[..] else { panic!("{delays:?}") };
    assert!(more >= others && made + more <= lead[1] && in_all >= moments, "{delays:?} {exceptions:?}");
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
    let said =
        said.says("no known causal path to the line that matched the oracle: some links are not tracked");
    let document = said.json();
    assert_true_fault(&document["fault"]);
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    let drawing =
        page.split("id=\"cause\"").nth(1).and_then(|it| it.split("</section>").next()).expect("it is there");
    for part in ["match of the oracle \u{b7} the failure", "THE JUDGE: lost", "cannot write a message"] {
        assert!(drawing.contains(part), "{part}: {drawing}");
    }
}

#[test]
fn what_a_fault_does_not_show_of_the_failure_log_is_said() {
    let place = Place::with("fixed", "oracle = { log = 'cannot write a message' }");
    let said = place.reproduce("--seed 3").exits(0);
    let said =
        said.says("lacks     line ").says("is lost").says("require these lines too, by `all` in the oracle");
    // Before causal path from this fault, and in the last word.
    let (before, behind) = said.stderr.split_once("\n  cause  ").expect("causal path from this fault");
    assert!(before.contains("  lacks "), "{before}");
    assert!(behind.contains("of the failure log (`lacks`)"), "{behind}");
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
    assert!(page.contains("The reproduced run lacks ") && page.contains(">message 5 is lost</span></li>"));
    assert_document(&document);
}

/// A place for another program of `targets/spool`, with the log of a run with a fault.
fn place_of(program: &str, oracle: &str, fault: &str) -> Place {
    let place = Place::new();
    let package = program.split('.').next().expect("it has one");
    place.file(
        "hypocenter.toml",
        format!(
            "[target]\nclasspath = ['{}']\npackages = ['{package}']\n\n\
             [[workload]]\nname = 'own'\ncommand = 'sh own.sh {{dir}} runs'\ntimeout = '100s'\n\n\
             [failure]\nworkload = 'own'\noracle = {oracle}\n",
            spool_classes().display()
        ),
    );
    place.file("own.sh", SCRIPT.replace("spool.Main", program));
    let said =
        place.tool(&format!("inject {fault} --throw java.io.IOException --workload own --json")).exits(0);
    assert_eq!(said.json()["failure"]["happened"], true, "{:#}", said.json());
    let log = place.path("hypocenter-out/latest/trials/000/logs/main.stderr.log");
    fs::copy(log, place.path("failure.log")).expect("the program's log");
    place
}

#[test]
fn of_equal_workers_that_share_the_jobs_whichever_gets_there_is_hit() {
    let place = place_of("pool.Workers", "{ log = 'is lost' }", "Workers.write->Files.writeString --at 7");
    let said = place.tool(&format!("reproduce --log failure.log {SEARCH}")).exits(0);
    let found = &said.json()["found"][0];
    let guard = &found["faults"][0]["guard"];
    assert_eq!((&guard["thread"], &guard["occurrence"]), (&json!("worker-*"), &json!(7)), "{found:#}");
    // In every other run another worker gets the seventh job.
    assert_eq!((&found["rate"], &found["missed"]), (&json!({ "hits": 2, "runs": 2 }), &Value::Null));
    let said = said.says("writeString, hit 7 of threads worker-*, by worker-");
    assert!(!said.stderr.contains("not reached"), "{}", said.stderr);
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    assert!(page.contains("7th occurrence on threads <code>worker-*</code> (here <code>worker-"));
}

#[test]
fn a_line_of_the_same_statement_that_does_not_say_it_shows_nothing() {
    let oracle = "{ log = 'job 5 is left for later' }";
    let place = place_of("pool.Workers", oracle, "Workers.write->Files.writeString --at 5");
    let said = place.tool(&format!("reproduce --log failure.log --keep-going --trials 5 {SEARCH}"));
    let document = said.json();
    let tried = document["tried"].as_array().unwrap_or_else(|| panic!("{}", said.stderr));
    let shown = |it: &&Value| it["shown"].as_array().is_some_and(|it| !it.is_empty());
    let (happened, others): (Vec<&Value>, Vec<&Value>) = tried.iter().partition(|it| it["happened"] == true);
    assert!(!happened.is_empty() && happened.iter().all(shown), "{}", said.stderr);
    // They leave another job for later.
    assert!(others.len() > 1 && !others.iter().any(shown), "{}", said.stderr);
}

#[test]
fn a_task_that_dies_without_a_word_is_found_though_no_way_leads_from_it() {
    // So many that a sweep which is only late, by a fault or by the machine, is none of it.
    let oracle = "{ log = 'is rejected', times = 50 }";
    let place = place_of("sweep.Store", oracle, "Store.delete->Files.delete --at 60");
    // With delays too: the one that does the same is tried as an exception first.
    let flags = SEARCH.replace("--faults exceptions", "--faults exceptions,delays --delay 3s");
    let said = place.tool(&format!("reproduce --log failure.log --trials 60 {flags}")).exits(0);
    let document = said.json();
    let line = line_of("spool/src/sweep/Store.java", "delete");
    let fault = &document["fault"];
    assert_eq!(
        (&fault["method"], &fault["line"], &fault["exception"]),
        (&json!("delete"), &json!(line), &json!("java.io.IOException")),
        "{}",
        said.stderr
    );
}

#[test]
fn an_oracle_that_cannot_judge_a_normal_run_is_told_before_any_round() {
    let place = Place::with("spool", "oracle = { junit = '*', reports = '{dir}/none/*.xml' }");
    let said = place.reproduce("").exits(1);
    let said = said.says("the oracle cannot judge a run without a fault: no test report matches");
    assert!(!said.stderr.contains("round 1"), "{}", said.stderr);
}

#[test]
fn a_job_sees_whether_the_failure_still_happens() {
    let place = Place::new();
    let fault =
        "inject Outbox.append->FileChannel.write --throw java.io.IOException --workload spool --quiet --at";
    place.tool(&format!("{fault} 5")).exits(0);
    let said = place.tool("replay inject-0001 --must-pass --quiet").exits(2);
    said.says("now       the same in 1 of 1").says("must pass no: the failure happened in 1 of 1");
    // At another moment the system gets over it.
    place.tool(&format!("{fault} 2")).exits(0);
    let said = place.tool("replay inject-0002 --must-pass --quiet --times 2").exits(0);
    said.says("must pass the failure did not happen");
    // What is not reached proves nothing.
    place.tool(&format!("{fault} 500")).exits(2);
    let said = place.tool("replay inject-0003 --must-pass --quiet --times 2").exits(2);
    said.says("must pass unknown: 2 runs did not reach the fault");
    // Nor does a run pass that fails in another way than the oracle asks for, unless that is how it is to be.
    let other = Place::with("spool", "oracle = { log = 'the moon is full' }");
    other.file("spool.sh", JUDGE.replace("echo 'THE JUDGE: lost'", "exit 3"));
    other.tool(&format!("{fault} 5")).exits(0);
    let said = other.tool("replay inject-0001 --must-pass --quiet").exits(2);
    said.says(
        "must pass no: the oracle does not hold, but the workload exited with status 3 under the fault",
    );
    other.tool("replay inject-0001 --must-pass=oracle --quiet").exits(0).says("the failure did not happen");
    let without = Place::with("spool", "");
    without.tool(&format!("{fault} 5")).exits(0);
    without.tool("replay --must-pass").exits(1).says("--must-pass: no oracle is given");
    // None of them has a report; the one before has.
    place.tool("report").exits(1).says("a campaign of `replay` has no report");
    place.reproduce("--seed 3").exits(0);
    // A replay of what a search found is no search that was cut short.
    place.tool("replay reproduce-0001 --quiet").exits(0);
    place.tool("replay --quiet").exits(0).says("now       the same in 1 of 1");
    place.tool(&format!("{fault} 5")).exits(0);
    let said = place.tool("report").exits(0);
    said.says(
        "the latest campaign is one of `inject`, which has no report; this is the report of hypocenter-out/reproduce-0001",
    );
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
    for part in [
        "so far    2 rounds, nothing found",
        "closest   ",
        "you interrupted the campaign",
        "continues it",
        "report    ",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    assert!(said.contains("\n  try       check the oracle first: "), "{said}");
    assert!(!said.contains("--trials"), "the rounds were not used up: {said}");
    let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
    assert!(page.contains("<h1>Interrupted after 2 rounds: nothing found so far.</h1>"));
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

#[test]
fn a_dry_run_lists_what_would_be_tried_and_the_campaign_continues_from_there() {
    let place = Place::new();
    let said =
        place.reproduce("--dry-run").exits(0).says("  missing ").says("dry run").says("reproduce-0001");
    assert_eq!(place.started().keys().copied().collect::<Vec<_>>(), [0, 1], "only runs without a fault");
    let plans = said.json();
    let candidates = plans[0]["candidates"].as_array().expect("candidates");
    assert!(!candidates.is_empty() && candidates.iter().all(|it| it["fault"]["kind"] == "exception"));
    // The same trial comes first when it continues.
    let flags = SEARCH.replace("--faults exceptions --replays 2 ", "");
    let document =
        place.tool(&format!("reproduce --resume {flags}")).exits(0).says("2 trials are done").json();
    assert_true_fault(&document["fault"]);
    let first = fs::read(place.path("hypocenter-out/reproduce-0001/trials/002/plan.json")).expect("a plan");
    let first: Value = serde_json::from_slice(&first).expect("JSON");
    assert_eq!(first["candidates"], plans[0]["candidates"]);
}

#[test]
fn a_campaign_whose_time_is_up_ends_with_what_it_has_and_can_be_resumed() {
    let place = Place::new();
    // A trial waits until the test has seen the end.
    place.file("gate", "");
    place.file("spool.sh", support::spool::SCRIPT.replace("= 004", "= 002"));
    let said = place.reproduce("--time 20s").exits(3).says("the time of --time is up").says("--resume");
    assert_eq!(said.json()["cut_short"], true);
    place.file("go", "");
    let flags = SEARCH.replace("--faults exceptions --replays 2 ", "");
    let document = place.tool(&format!("reproduce --resume {flags}")).exits(0).json();
    assert_true_fault(&document["fault"]);
}
