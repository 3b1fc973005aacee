//! Input of `reproduce` and its messages: failure logs of all kinds, impossible oracles, workloads that fail
//! by themselves.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::spool::{ORACLE, Place, SEARCH, assert_true_fault, failure_log};
use support::{default_jdk, each, spool_classes};

#[test]
fn an_oracle_that_holds_without_a_fault_is_no_oracle() {
    let place = Place::with("spool", "oracle = { log = 'all messages are done' }");
    let said = place
        .reproduce("")
        .exits(4)
        .says("without a fault, in 2 of 2 runs")
        .says("fix the workload or the oracle")
        .says("reproduce-0001/0: logs/main.stdout.log:");
    let shown = said.stderr.lines().find(|it| it.contains("reproduce-0001/0: logs/"));
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
        .says("`mvn test`")
        .says("a run without a fault gave nothing to compare")
        .says("the command fails without a fault: fix it first");
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
    let said = place.tool(&format!("reproduce --log a.log {flags} --budget 6")).exits(3);
    let document = said.json();
    assert_eq!((&document["reproduced"], &document["found"]), (&json!(false), &json!([])));
    assert!(document["normal_failures"].as_u64().is_some_and(|it| it > 0), "{document:#}");
    // It looked like a success.
    let tried = document["tried"].as_array().expect("rounds");
    assert!(tried.iter().any(|it| it["happened"] == true), "{tried:#?}");
    assert!(said.stderr.contains(" chance: "), "{}", said.stderr);
}

#[test]
fn a_round_that_no_replay_shows_again_is_told_to_be_chance() {
    let place = Place::with("fixed", ORACLE);
    // The first round follows two runs without a fault.
    place.file("spool.sh", FLAKY.replace("$((n % 5)) = 4", "$n = 2"));
    let said = place.reproduce("--trials 2").exits(3);
    let said = said.says("\n            round 1 was chance: 0 of 2 replays showed it; going on\n  round 2 ");
    assert_eq!(said.json()["found"], json!([]));
}

#[test]
fn all_that_is_missing_is_listed_and_what_came_more_often_asks_for_a_longer_workload() {
    let place = Place::with("fixed", "oracle = { log = 'the moon is full' }");
    let storing = failure_log().lines().find(|it| it.contains("storing ")).expect("it begins");
    place.file("long.log", format!("{}{storing}\n{storing}\n", failure_log()));
    let said = place.tool(&format!("reproduce --log long.log {SEARCH} --trials 1")).exits(3);
    let (before, behind) = said.stderr.split_once("round 1").expect("a round");
    let (_, missing) = before.split_once("missing   ").expect("something is missing");
    let things: usize = missing.split(' ').next().and_then(|it| it.parse().ok()).expect("a number");
    let listed: Vec<&str> = missing.lines().filter(|it| it.starts_with("            line ")).collect();
    assert_eq!(listed.len(), things, "{before}");
    let more = "(3 times, normal runs 1)";
    let often = listed.iter().find(|it| it.contains(more)).unwrap_or_else(|| panic!("{before}"));
    assert!(
        often.ends_with("[1: no warning, once in normal runs, no fault is known to lead to it]"),
        "{often}"
    );
    let follows = missing.lines().skip_while(|it| it != often).nth(1).unwrap_or_default();
    assert!(follows.contains("the failure log has this more often than the workload logs it"), "{before}");
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
    let said = place.reproduce("--normal-runs 1 --trials 1").exits(3);
    let said = said.says("oracle: the failure log has no line that matches the oracle: log `the moon");
    let (before, behind) = said.stderr.split_once("round 1").expect("a round");
    assert!(before.contains("possibly no run will satisfy the oracle"), "{before}");
    let first = "  try       check the oracle first: the failure log has no line";
    assert!(behind.contains(first), "{behind}");
    assert!(behind.contains("more rounds (--trials)"), "{behind}");
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
        place.reproduce("").exits(1).says("the oracle can never hold: it requires log `is lost` 2 times");
    said.says("from `all`");
    assert!(place.started().is_empty() && place.campaigns().is_empty());
}

/// Broken log, the log if it exists, and the expected message.
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
            &["no log statement of the target matches any of its 2 entries", "check that the class path"],
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
fn classes_that_are_not_there_are_named_before_a_log_that_fits_nothing() {
    let place = Place::new();
    place.file("a.log", "2026-01-01 00:00:00,123 INFO  [main] shop.Shop: opening at nine\n");
    let said = place.tool(&format!("reproduce --log a.log --classpath {}:gone", spool_classes().display()));
    let said = said.exits(1).says("gone: this entry of the class path does not exist");
    said.says("no log statement of the target matches any of its 1 entries");
}

#[test]
fn the_layout_of_the_log_is_that_of_the_failure_unless_the_flag_says_another() {
    let place = Place::with("spool", &format!("{ORACLE}\nlayout = '%d ~ %m%n'"));
    place.reproduce("").exits(1).says("the pattern `%d ~ %m%n` fits no line");
    place.reproduce("--layout %p~%m%n").exits(1).says("the pattern `%p~%m%n` fits no line");
    assert!(place.started().is_empty() && place.campaigns().is_empty());
}

#[test]
fn without_a_log_or_an_oracle_it_says_what_to_give() {
    let place = Place::new();
    place.tool("reproduce").exits(1).says("there is no failure log").says("--log FILE");
    let place = Place::with("spool", "");
    place.reproduce("").exits(1).says("no oracle is given").says("--oracle");
    // The failure is the same by whichever workload it is looked for.
    let place = Place::with("fixed", ORACLE);
    place.tool("reproduce --workload spool").exits(1).says("there is no failure log");
    let place = Place::new();
    place.reproduce("--set reproduce.strategy=best").exits(1).says("best").says("exhaustive");
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
        ("another version", moved.into_bytes(), "the log and the class path are of different versions"),
    ];
    let check = |(_, content, says): &(&str, Vec<u8>, &str)| {
        let place = Place::new();
        place.file("a.log", content);
        let said = place.tool(&format!("reproduce --log a.log {SEARCH} --normal-runs 1 --trials 1")).exits(3);
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

/// Output of the program goes to a file of its own, in a directory of its own, and not to its standard output.
const TO_FILE: &str = r#"mkdir -p "$1/logs"
exec "$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$CLASSES" spool.Main "$1" > "$1/logs/spool.log"
"#;

#[test]
fn what_a_workload_logs_to_files_is_its_log() {
    let place = Place::new();
    place.file("spool.sh", TO_FILE);
    let config = fs::read_to_string(place.path("hypocenter.toml")).expect("the configuration");
    let first = "timeout = '100s'\n";
    let search = format!("{SEARCH} --normal-runs 1 --trials 1");
    let silent = place.reproduce("--normal-runs 1 --trials 1").exits(1);
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
    place.tool("run spool").says("no file matches `{dir}/log/*.log`");
    place.file("hypocenter.toml", config.replacen(first, "timeout = '100s'\nlogs = ['log/*.log']\n", 1));
    place.tool("run spool").exits(1).says("below `{dir}`");
}

/// Of names of threads the log shows the last fifteen characters, as with `%15.15t`.
const CUT_NAMES: &str = r#""$JAVA" -Dspool.sender=outbox-message-sender -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$CLASSES" \
    spool.Main "$@" | sed -u -E 's/\[[^]]*([^]]{15})\]/[\1]/'
"#;

#[test]
fn threads_of_which_the_log_shows_a_part_of_the_name_are_those_of_the_jvm() {
    let place = Place::new();
    place.file("spool.sh", CUT_NAMES);
    let fault = "--throw java.io.IOException --at 5 --workload spool --quiet";
    place.tool(&format!("inject Outbox.append->FileChannel.write {fault}")).exits(0);
    let log = place.path("hypocenter-out/inject-0001/trials/000/logs/main.stdout.log");
    let log = fs::read_to_string(log).expect("the program's log");
    assert!(log.contains(" [-message-sender] "), "{log}");
    // Production may cut names where the test does not.
    let whole = CUT_NAMES.replace("{15}", "{150}");
    for script in [CUT_NAMES, &*whole] {
        place.file("spool.sh", script);
        place.file("failure.log", &log);
        let said = place.tool(&format!("reproduce --log failure.log {SEARCH} --seed 3")).exits(0);
        let document = said.json();
        let fault = &document["fault"];
        assert_eq!(fault["occurrence"], 5, "{fault:#}");
        assert_eq!(fault["thread"], "outbox-message-sender", "{fault:#}");
        let runs = fs::read(place.path("hypocenter-out/latest/runs.json")).expect("it is kept");
        let lanes = &serde_json::from_slice::<Value>(&runs).expect("JSON")["lanes"];
        let names: Vec<&str> =
            lanes["lanes"].as_array().expect("lanes").iter().filter_map(|it| it["thread"].as_str()).collect();
        assert!(names.contains(&"-message-sender"), "{lanes:#}");
        assert!(!names.contains(&"outbox-message-sender"), "one thread has one lane: {names:?}");
    }
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
            // A log that goes on into the next second may begin before, or end behind, the span of the trial.
            let outside: u64 =
                [0, 1].map(|it| failure["outside"][it].as_u64().expect("a number")).iter().sum();
            assert_eq!(distinct.len() as u64 + outside, entries.count() as u64, "{failure:#}");
        }
        let page = fs::read_to_string(place.path("hypocenter-out/latest/report.html")).expect("a page");
        assert_eq!(page.contains("timestamps in whole seconds"), is_coarse);
    }
}
