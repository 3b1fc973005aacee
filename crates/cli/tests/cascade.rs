//! `cascade` on real JVMs: a small system with a cycle of two tests that neither of them shows alone.
//!
//! A desk serves batches of items. A batch that has taken too long is given up, and some desks then serve copies of it. Time is the CPU
//! time of the thread, so a busy machine makes no batch late, and the delay that does is 20 times longer than the limit.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::spool::Place;
use support::{Said, default_jdk, jdks};
use tempfile::TempDir;

const SOURCES: [(&str, &str); 8] = [
    ("TestCase", "package junit.framework; public class TestCase { }"),
    (
        "Runner",
        "package tool; public class Runner {
            public static void main(String[] args) throws Exception {
                Class<?> type = Class.forName(args[0]);
                type.getMethod(args[1]).invoke(type.getConstructor().newInstance());
            }
        }",
    ),
    (
        "Late",
        "package desk; public class Late extends Exception { Late(String message) { super(message); } }",
    ),
    (
        "Desk",
        "package desk;
        import java.lang.management.ManagementFactory;
        import java.lang.management.ThreadMXBean;
        import java.util.ArrayDeque;
        import java.util.List;
        import java.util.Queue;
        public class Desk {
            private final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
            private final Queue<List<String>> batches = new ArrayDeque<>();
            private final long limitMs;
            private final int copies;
            private long begun;
            int served;
            Desk(long limitMs, int copies) {
                this.limitMs = limitMs;
                this.copies = copies;
            }
            void open() {
                begun = clock.getCurrentThreadCpuTime();
            }
            void close() {
                batches.clear();
            }
            void run(List<String> batch) {
                batches.add(batch);
                while (!batches.isEmpty()) {
                    serve(batches.remove());
                }
            }
            void serve(List<String> batch) {
                begun = clock.getCurrentThreadCpuTime();
                try {
                    drain(batch);
                } catch (Late e) {
                    for (int copy = 0; copy < copies; copy++) {
                        batches.add(batch);
                    }
                }
            }
            void drain(List<String> batch) throws Late {
                for (String item : batch) {
                    check(item);
                    served++;
                }
            }
            void check(String item) throws Late {
                long spentMs = (clock.getCurrentThreadCpuTime() - begun) / 1_000_000;
                if (spentMs > limitMs) {
                    throw new Late(item);
                }
            }
        }",
    ),
    (
        "Shop",
        "package desk;
        import java.util.List;
        public class Shop {
            public static void main(String[] args) {
                Desk desk = new Desk(1000, 1);
                desk.open();
                desk.run(List.of(args));
                desk.close();
            }
        }",
    ),
    // A delay makes its first batch late, of which there are no copies. The second is in time.
    (
        "LimitTest",
        "package desk;
        import java.util.List;
        public class LimitTest extends junit.framework.TestCase {
            public void testLimit() {
                Desk desk = new Desk(20, 0);
                desk.open();
                desk.run(List.of(\"a\", \"b\", \"c\"));
                desk.run(List.of(\"d\"));
            }
        }",
    ),
    // No delay makes its batch late.
    (
        "CopiesTest",
        "package desk;
        import java.util.List;
        public class CopiesTest extends junit.framework.TestCase {
            public void testCopies() {
                Desk desk = new Desk(60_000, 20);
                desk.open();
                desk.run(List.of(\"a\", \"b\", \"c\", \"d\", \"e\"));
                if (desk.served < 5) {
                    throw new IllegalStateException(\"not all are served\");
                }
            }
        }",
    ),
    (
        "BrokenTest",
        "package desk;
        public class BrokenTest extends junit.framework.TestCase {
            public void testNothing() {
                new Desk(1, 0).open();
                throw new IllegalStateException(\"it never passes\");
            }
        }",
    ),
];

const LIMIT: &str = "unit@desk.LimitTest#testLimit";
const COPIES: &str = "unit@desk.CopiesTest#testCopies";
const BROKEN: &str = "unit@desk.BrokenTest#testNothing";
const CASCADE: &str = "cascade --repeats 4 --sandbox off --json";
/// No campaign of these tests takes this long.
const PATIENCE: Duration = Duration::from_secs(120);

fn compiled() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cascade-classes");
        fs::create_dir_all(&directory).expect("cargo's directory can be written");
        let javac = jdks().iter().map(|it| it.home.join("bin/javac")).find(|it| it.is_file());
        let mut command = Command::new(javac.expect("one of the JDKs compiles"));
        command.arg("-g").arg("-d").arg(directory.join("classes")).args(["--release", "11"]);
        for (name, text) in SOURCES {
            let path = directory.join(format!("{name}.java"));
            fs::write(&path, text).expect("it can be written");
            command.arg(path);
        }
        assert!(command.status().expect("javac can be run").success());
        directory.join("classes")
    })
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory can be made");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a file can be copied");
        }
    }
}

/// A project with the system. Faults may happen once this method has returned.
fn project_ready_after(method: &str) -> Place {
    let place = Place::new();
    copy(compiled(), &place.path("classes"));
    let java = default_jdk().java();
    let config = format!(
        "[target]\nclasspath = ['classes']\npackages = ['desk']\n\n\
         [[workload]]\nname = 'unit'\ntimeout = '100s'\n\
         command = \"'{java}' -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp classes tool.Runner \
         {{test.class}} {{test.method}}\"\n\n\
         [cascade]\nready = '{method}'\ndelays_ms = [400]\ndelay_total_ms = 400\nfor_ms = 0\nspare_tests = 0\n"
    );
    place.file("hypocenter.toml", config);
    place
}

fn project() -> Place {
    project_ready_after("desk.Desk.open")
}

/// A campaign of all tests that came to its end.
struct Campaign {
    place: Place,
    said: Said,
    document: Value,
}

fn campaign() -> &'static Campaign {
    static CAMPAIGN: OnceLock<Campaign> = OnceLock::new();
    CAMPAIGN.get_or_init(|| {
        let place = project();
        let said = place.tool(&format!("{CASCADE} --jobs 2")).exits(2);
        let document = said.json();
        Campaign { place, said, document }
    })
}

impl Campaign {
    fn path(&self, name: &str) -> PathBuf {
        self.place.path("hypocenter-out/cascade-0001").join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The steps of the cycle that is there by design.
    fn steps(&self) -> [&Value; 2] {
        let cycles = list(&self.document["cycles"]);
        let cycle = cycles.iter().find(|it| is_known(it));
        let steps = cycle.unwrap_or_else(|| panic!("the cycle is not there: {:#}", self.document["cycles"]));
        [&steps["steps"][0], &steps["steps"][1]]
    }
}

fn list(it: &Value) -> &Vec<Value> {
    it.as_array().unwrap_or_else(|| panic!("no list: {it}"))
}

/// A delay in the loop over a batch leads to `Late` in one test, and that to more rounds of the loop in another.
fn is_known(cycle: &Value) -> bool {
    let step = |it: &Value| {
        json!([it["kind"], it["test"], it["cause"]["kind"], it["cause"]["method"], it["cause"]["exception"]])
    };
    let steps: Vec<Value> = list(&cycle["steps"]).iter().map(step).collect();
    let delay = json!(["E(D)", LIMIT, "delay", "desk.Desk.drain", null]);
    let late = json!(["S+(I)", COPIES, "exception", "desk.Desk.check", "desk.Late"]);
    steps == [delay.clone(), late.clone()] || steps == [late, delay]
}

fn entries(journal: &str) -> Vec<Value> {
    journal.lines().skip(1).map(|it| serde_json::from_str(it).expect("a line is JSON")).collect()
}

#[test]
fn a_cycle_that_no_test_shows_alone_is_found() {
    let Campaign { said, document, .. } = campaign();
    let known = list(&document["cycles"]).iter().find(|it| is_known(it)).expect("the cycle is found");
    assert_eq!((&known["in_one_test"], &known["proof"]), (&json!(false), &json!("confirmed")), "{known:#}");
    for it in list(&document["cycles"]) {
        assert_eq!(it["in_one_test"], false, "no test shows one alone: {it:#}");
    }
    let [one, other] = campaign().steps();
    let (delay, late) = if one["kind"] == "E(D)" { (one, other) } else { (other, one) };
    assert_eq!((&delay["with"], &delay["without"]), (&json!([1, 1, 1, 1]), &json!([0, 0, 0, 0])));
    // One item, and 20 copies of the batch of 5.
    assert_eq!((&late["with"], &late["without"]), (&json!([101, 101, 101, 101]), &json!([5, 5, 5, 5])));
    assert_eq!(late["p"], 0.0);
    for step in [delay, late] {
        let trial = step["trial"].as_u64().expect("a number");
        assert_eq!(step["replay"], format!("hypocenter replay cascade-0001/{trial}"));
        assert_eq!(step["shown_again"], true);
        assert!(said.stderr.contains(step["replay"].as_str().expect("a text")), "{}", said.stderr);
    }
    assert!(said.stderr.contains("\n  cycle     "), "{}", said.stderr);
    assert!(said.stderr.lines().all(|it| !it.ends_with("              ")), "an empty line: {}", said.stderr);
}

#[test]
fn a_test_that_fails_without_a_fault_is_left_out_and_named() {
    let Campaign { said, document, .. } = campaign();
    assert!(said.stderr.contains("BrokenTest#testNothing: it exited with status 1 without a fault"));
    let rows = list(&document["tests"]);
    assert_eq!(rows.len(), 3, "{rows:#?}");
    for row in rows {
        let is_left_out = row.get("left_out").is_some();
        assert_eq!(is_left_out, row["name"] == BROKEN, "{row:#}");
    }
    let tests: BTreeSet<&str> =
        list(&document["steps"]).iter().filter_map(|it| it["test"].as_str()).collect();
    assert_eq!(tests, BTreeSet::from([LIMIT, COPIES]));
}

#[test]
fn every_experiment_is_reported() {
    let it = campaign();
    let made = it.document["experiments"]["made"].as_u64().expect("a number");
    let void = it.document["experiments"]["void"].as_u64().expect("a number");
    assert!(made >= 6, "{made}");
    assert_eq!(it.text("rounds.jsonl").lines().count() as u64, made + void);
    let shown = it.said.stderr.lines().filter(|it| it.starts_with("  try ")).count() as u64;
    assert_eq!(shown, made + void, "{}", it.said.stderr);
}

#[test]
fn other_tools_and_browsers_get_every_cycle() {
    let it = campaign();
    let cycles = list(&it.document["cycles"]);
    let sarif: Value = serde_json::from_str(&it.text("findings.sarif")).expect("SARIF is JSON");
    let run = &sarif["runs"][0];
    let results = list(&run["results"]);
    assert_eq!(results.len(), cycles.len());
    let mut fingerprints = BTreeSet::new();
    for (result, cycle) in results.iter().zip(cycles) {
        assert_eq!(result["message"]["text"], cycle["why"]);
        assert_eq!(result["properties"]["replay"], cycle["replay"]);
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("a number") as usize];
        assert_eq!((&result["ruleId"], &rule["id"]), (&json!("cascade/cycle"), &json!("cascade/cycle")));
        let lines: Vec<u64> = list(&result["locations"])
            .iter()
            .map(|it| it["physicalLocation"]["region"]["startLine"].as_u64().expect("a line"))
            .collect();
        let causes: Vec<u64> =
            list(&cycle["steps"]).iter().map(|it| it["cause"]["line"].as_u64().expect("a line")).collect();
        assert_eq!(lines, causes);
        fingerprints.insert(result["partialFingerprints"].to_string());
    }
    assert_eq!(fingerprints.len(), results.len(), "each cycle has its own fingerprint");

    let junit = it.text("junit.xml");
    assert!(!junit.contains("name=\"\""), "{junit}");
    let totals = format!("tests=\"{}\" failures=\"{}\" errors=\"1\"", 3 + cycles.len(), cycles.len());
    assert!(junit.contains(&totals), "{totals}: {junit}");
    for test in [LIMIT, COPIES, BROKEN] {
        assert!(junit.contains(&format!("name=\"{test} without a fault\"")), "{junit}");
    }
    for step in it.steps() {
        assert!(junit.contains(step["replay"].as_str().expect("a text")), "{junit}");
    }

    let page = it.text("report.html");
    for text in ["Desk.drain", "Desk.check", "LimitTest#testLimit", "CopiesTest#testCopies", "<svg"] {
        assert!(page.contains(text), "`{text}` is not on the page");
    }
    for step in it.steps() {
        assert!(page.contains(step["replay"].as_str().expect("a text")));
    }
    assert_eq!(serde_json::from_str::<Value>(&it.text("summary.json")).expect("JSON"), it.document);
}

#[test]
fn a_trial_leaves_a_small_digest_and_loses_no_record() {
    let it = campaign();
    let (mut asked, mut told, mut last) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for entry in entries(&it.text("results.jsonl")) {
        for job in entry["asked"]["jobs"].as_array().into_iter().flatten() {
            let id = job["id"].as_u64().expect("a number");
            asked.insert(id);
            if job["purpose"].get("replay").is_some() {
                last.insert(id);
            }
        }
        if let Some(entry) = entry.get("told") {
            let (id, digest) = (entry["id"].as_u64().expect("a number"), &entry["digest"]);
            assert!(told.insert(id), "{id} is told twice");
            let kept =
                digest.get("here").unwrap_or_else(|| panic!("it is small enough for the journal: {digest}"));
            assert!(kept.to_string().len() <= 1 << 20);
            assert_eq!((kept.get("lost"), kept.get("unreadable")), (None, None), "{kept:#}");
            for jvm in list(&entry["outcome"]["jvms"]) {
                assert_eq!(jvm["dropped"], 0);
            }
        }
    }
    assert_eq!(asked, told);
    assert_eq!(told.len() as u64, it.document["runs"].as_u64().expect("a number"));
    // Traces are kept for the last run of each step of a cycle, and of no other.
    let has_trace = |id: &u64| {
        let trial = it.path(&format!("trials/{id:03}"));
        let files = fs::read_dir(trial).into_iter().flatten().flatten();
        files.map(|it| it.file_name().into_string().expect("a name")).any(|it| it.contains("trace"))
    };
    let kept: BTreeSet<u64> = told.iter().copied().filter(has_trace).collect();
    assert!(!last.is_empty());
    assert_eq!(kept, last);
}

/// Hits of all hooks in the one JVM of an outcome.
fn hits(outcome: &Value) -> u64 {
    outcome["jvms"][0]["hits"].as_u64().unwrap_or_else(|| panic!("no JVM: {outcome:#}"))
}

fn is_injected(outcome: &Value) -> bool {
    list(&outcome["candidates"]).iter().any(|it| it["result"]["end"] == "injected")
}

#[test]
fn a_step_is_replayed_and_exported() {
    let it = campaign();
    let [one, other] = it.steps();
    let (delay, late) = if one["kind"] == "E(D)" { (one, other) } else { (other, one) };
    let command = |step: &Value| {
        let words = step["replay"].as_str().expect("a text");
        words.strip_prefix("hypocenter ").expect("the tool's name stands first").to_owned()
    };
    let said = it.place.tool(&format!("{} --sandbox off --json", command(delay))).exits(0);
    assert!(is_injected(&said.json()));
    // The copies of the batch are hits, so a replay that lets the loop grow has as many as its trial.
    let trial = it.text(&format!("trials/{:03}/outcome.json", late["trial"].as_u64().expect("a number")));
    let trial: Value = serde_json::from_str(&trial).expect("JSON");
    let said = it.place.tool(&format!("{} --sandbox off --json", command(late))).exits(0);
    assert!(is_injected(&said.json()));
    assert_eq!(hits(&said.json()), hits(&trial));
    assert!(hits(&trial) > 101);

    it.place.tool(&format!("{} --export kept", command(late))).exits(0).says("replay.sh");
    let elsewhere = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo's directory can be written");
    let folder = elsewhere.path().join("kept");
    fs::rename(it.place.path("kept"), &folder).expect("the folder can be moved");
    let mut script = Command::new("sh");
    script.arg(folder.join("replay.sh")).args(["--sandbox", "off", "--json"]).current_dir("/");
    script.env("HYPOCENTER", env!("CARGO_BIN_EXE_hypocenter")).env("JAVA_HOME", &default_jdk().home);
    script.env("XDG_CACHE_HOME", elsewhere.path().join("cache")).env_remove("JAVA_TOOL_OPTIONS");
    let output = script.stdin(Stdio::null()).output().expect("sh can be run");
    let outcome: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert!(output.status.success() && is_injected(&outcome), "{outcome:#}");
    assert_eq!(hits(&outcome), hits(&trial));
}

/// Leaves out what differs from run to run: times, and the numbers of trials, which follow the order in which they end.
fn timeless(mut document: Value) -> Value {
    const TIMES: [&str; 11] = [
        "seconds",
        "workload_s",
        "between_rounds_ms",
        "decision_ns",
        "requests",
        "directory",
        "trial",
        "replay",
        // Of the iterations of a loop over time.
        "counts",
        "span_ms",
        "fault_ms",
    ];
    match &mut document {
        Value::Object(map) => {
            TIMES.iter().for_each(|it| drop(map.remove(*it)));
            map.values_mut().for_each(|it| *it = timeless(it.take()));
        }
        Value::Array(all) => all.iter_mut().for_each(|it| *it = timeless(it.take())),
        _ => {}
    }
    document
}

fn kill_once(mut child: Child, place: &Place, told: usize) {
    let journal = place.path("hypocenter-out/cascade-0001/results.jsonl");
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(&journal).unwrap_or_default();
        if text.lines().filter(|it| it.starts_with("{\"told\":")).count() >= told {
            break;
        }
        assert!(
            child.try_wait().expect("it is a child").is_none(),
            "the tool has ended before {told} are told"
        );
        assert!(begun.elapsed() < PATIENCE, "{told} are not told in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("the tool can be killed");
    child.wait().expect("it is a child");
}

#[test]
fn a_killed_campaign_is_resumed_and_comes_to_the_same() {
    let place = project();
    // The tests are run without a fault first, 5 times each; then come the experiments.
    let before = 3 * 5 + 10;
    kill_once(place.start(&format!("{CASCADE} --jobs 2")), &place, before);
    let journal = place.path("hypocenter-out/cascade-0001/results.jsonl");
    let cut = fs::read_to_string(&journal).expect("a journal");
    let whole = &cut[..cut.rfind('\n').map_or(0, |it| it + 1)];
    let said = place.tool("cascade --resume --sandbox off --jobs 2 --json").exits(2);
    let text = fs::read_to_string(&journal).expect("a journal");
    assert!(text.starts_with(whole), "what was told is kept");
    assert_eq!(timeless(said.json()), timeless(campaign().document.clone()));
}

#[test]
fn a_dry_run_shows_the_first_faults_and_the_campaign_goes_on_from_there() {
    let place = project();
    let said =
        place.tool(&format!("{CASCADE} --jobs 2 --budget 1 --test LimitTest#testLimit --dry-run")).exits(0);
    assert!(!said.stderr.contains("delay of 1 ms"), "{}", said.stderr);
    for plan in list(&said.json()) {
        let candidates = list(&plan["candidates"]);
        assert!(!candidates.is_empty());
        assert!(
            candidates.iter().all(|it| it["when"].get("occurrence").is_none()),
            "it is never due: {plan:#}"
        );
    }
    let said = said.says("planned   the first").says("no fault was injected");
    assert_eq!(
        said.stderr.matches("no fault, the workload exited with status 0").count(),
        5,
        "{}",
        said.stderr
    );
    // Alone, the test has no cycle.
    let said = place.tool("cascade --resume --sandbox off --jobs 2 --json").exits(0);
    let document = said.json();
    assert_eq!((list(&document["cycles"]).len(), &document["experiments"]["made"]), (0, &json!(3)));
    assert_eq!(list(&document["steps"]).len(), 1, "{document:#}");
    assert_eq!(document["steps"][0]["kind"], "E(D)");
}

#[test]
fn tests_that_all_fail_without_a_fault_have_an_exit_code_of_their_own() {
    let place = project();
    let said = place.tool(&format!("{CASCADE} --test BrokenTest#testNothing")).exits(4);
    assert_eq!(said.json()["experiments"], json!({ "budget": 0, "made": 0, "void": 0 }));
    said.says("left out: BrokenTest#testNothing: it exited with status 1 without a fault");
}

#[test]
fn a_system_that_never_becomes_ready_is_named() {
    // No test comes by this method.
    let place = project_ready_after("desk.Desk.close");
    let said = place.tool(&format!("{CASCADE} --test LimitTest#testLimit")).exits(4);
    said.says("left out: LimitTest#testLimit: the system in it never became ready");
    let place = project_ready_after("desk.Desk.clsoe");
    let said = place.tool(CASCADE).exits(1).says("[cascade] ready: no method fits `desk.Desk.clsoe`");
    said.says("desk.Desk.close");
    assert!(place.campaigns().is_empty(), "nothing was begun");
}

#[test]
fn settings_that_cannot_be_used_are_named_and_nothing_is_begun() {
    let place = project();
    for (args, says) in [
        ("--set cascade.delays_ms=[0]", "delays_ms: give one length or more, each at least 1"),
        ("--set cascade.delays_ms=[]", "delays_ms: give one length or more, each at least 1"),
        ("--set cascade.delays_ms=[40,20]", "delays_ms: [40, 20] is not sorted, give the shortest first"),
        ("--set cascade.fdr=1.5", "fdr: 1.5 is not between 0 and 1"),
        ("--set cascade.beam=0", "beam: 0 is not allowed"),
        ("--set cascade.allocation=\"best\"", "allocation: unknown value `best`"),
        ("--set cascade.without=[\"p\"]", "without: unknown check `p`, use one of callers, paths, paced"),
        ("--test NoTest#at", "--test NoTest#at: no test of the target matches"),
    ] {
        place.tool(&format!("{CASCADE} {args}")).exits(1).says(says);
    }
    place.tool("cascade --repeats 0").exits(1).says("0 is not in 1..=100");
    let text = fs::read_to_string(place.path("hypocenter.toml")).expect("the configuration");
    place.file("hypocenter.toml", text.replace("[400]", "[400, 100]"));
    place.tool(CASCADE).exits(1).says("delays_ms: [400, 100] is not sorted").says("hypocenter.toml");
    place.file("hypocenter.toml", text.replace("['desk']", "['tool']"));
    let said = place.tool(&CASCADE.replace("cascade ", "cascade --set cascade.for_ms=1 ")).exits(1);
    said.says("workload `unit` is a template over tests, and tool has none").says("hypocenter scan --tests");
    assert!(place.campaigns().is_empty(), "nothing was begun");
}

#[test]
fn the_journal_of_other_settings_is_refused_and_kept() {
    let place = project();
    let asked = format!("{CASCADE} --campaign one --test BrokenTest#testNothing");
    place.tool(&asked).exits(4);
    let journal = place.path("hypocenter-out/one/results.jsonl");
    let before = fs::read(&journal).expect("a journal");
    let said = place.tool(&asked.replace("--repeats 4", "--repeats 3")).exits(1);
    said.says("was started with another command or other settings").says("hypocenter cascade --resume one");
    place.tool("cascade --resume one --repeats 3").exits(1).says("cannot be used with");
    let request = place.path("hypocenter-out/one/campaign.json");
    let text = fs::read_to_string(&request).expect("a request");
    let changed = text.replace("\"beam\": 5000000", "\"beam\": 7").replace("\"beam\":5000000", "\"beam\":7");
    assert_ne!(changed, text);
    fs::write(&request, changed).expect("it can be written");
    place.tool("cascade --resume one --sandbox off").exits(1).says("the campaign was started with target");
    assert_eq!(fs::read(&journal).expect("a journal"), before, "nothing is lost");
}
