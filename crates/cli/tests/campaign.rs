//! Campaigns: many trials of which none is lost and none is told twice, whatever happens to the tool on the way.
//!
//! Most trials here are shell scripts: how a campaign is kept does not depend on what it runs. The tool has a mark in its
//! environment, which everything that it starts inherits, so what is left of a trial can be found from outside.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Said, classes, default_jdk, each, jdks, processes_with, repeats, skip};
use tempfile::TempDir;

/// Far longer than anything takes; a test that needs it has failed.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time for which processes may outlive a tool that was killed.
const GONE: Duration = Duration::from_secs(10);
const MARK: &str = "CAMPAIGN_MARK";
/// A script's first words: it knows its number as `$n`, and says that it was started.
const STARTED: &str = "n=${HYPOCENTER_DIR%/dir}; n=${n##*/}; echo $n >> started;";
/// Waits until the test opens the gate.
const GATE: &str = "while [ ! -e go ]; do sleep 0.02; done;";
/// A JVM as small as they get, in the place of the script.
const JVM: &str =
    "exec \"$JAVA\" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp \"$CLASSES\" probe.Guards many 2";

#[track_caller]
fn until(what: &str, patience: Duration, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + patience;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A directory in which the tool is run again and again.
struct Place {
    directory: TempDir,
    mark: String,
}

/// The tool while it runs; whatever comes, it does not outlive the test, and its trials do not outlive it.
struct Running {
    child: Option<Child>,
}

impl Running {
    fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// Waits for something while the tool runs.
    #[track_caller]
    fn until(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        let child = self.child.as_mut().expect("it runs");
        until(what, PATIENCE, || {
            let ended = child.try_wait().expect("the tool can be waited for");
            holds() || ended.is_some_and(|status| panic!("the tool has ended ({status}) before: {what}"))
        });
    }

    /// Kills it as a full disk or a power cut would: without a word.
    fn kill(mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("the tool can be killed");
        child.wait().expect("the tool can be waited for");
    }

    /// Sends a signal to the tool, or to its whole process group as a terminal does.
    fn signal(&self, name: &str, group: bool) {
        let whom = format!("{}{}", if group { "-" } else { "" }, self.pid());
        let status = Command::new("kill").args(["-s", name, "--", &whom]).status();
        assert!(status.expect("kill can be run").success());
    }

    fn end(mut self) -> Said {
        let child = self.child.take().expect("it runs");
        let output = child.wait_with_output().expect("the tool can be waited for");
        Said {
            code: output.status.code().expect("the tool is not ended by a signal"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Place {
    fn new() -> Place {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let directory =
            TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo's directory can be written");
        let mark = format!("{}-{}-", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Place { directory, mark }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn campaign(&self, name: &str) -> PathBuf {
        self.path("hypocenter-out").join(name)
    }

    fn words(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hypocenter"));
        command.args(words).current_dir(self.directory.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "HYPOCENTER_NODE"]
        {
            command.env_remove(name);
        }
        command.env("JAVA_HOME", &default_jdk().home).env("JAVA", default_jdk().java());
        command.env("CLASSES", classes()).env(MARK, &self.mark);
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        command
    }

    fn spawn(mut command: Command) -> Running {
        Running { child: Some(command.spawn().expect("the tool can be run")) }
    }

    /// Runs the tool with arguments that are written with spaces between.
    fn tool(&self, args: &str) -> Said {
        Place::spawn(self.words(&args.split_whitespace().collect::<Vec<_>>())).end()
    }

    /// Starts the tool for a script.
    fn start(&self, args: &str, script: &str) -> Running {
        let classes = classes().display().to_string();
        let mut words: Vec<&str> = args.split_whitespace().collect();
        words.extend(["--timeout", "100s", "--classpath", &classes, "--packages", "probe"]);
        words.extend(["--", "sh", "-c", script]);
        Place::spawn(self.words(&words))
    }

    /// Runs the tool for a script.
    fn run(&self, args: &str, script: &str) -> Said {
        self.start(args, script).end()
    }

    fn open_the_gate(&self) {
        fs::write(self.path("go"), "").expect("a temporary file can be written");
    }

    /// Number of starts of the script of each trial.
    fn started(&self) -> BTreeMap<u64, usize> {
        let text = fs::read_to_string(self.path("started")).unwrap_or_default();
        let mut counts = BTreeMap::new();
        for line in text.lines() {
            *counts.entry(line.parse().unwrap_or_else(|_| panic!("`{line}` was started"))).or_default() += 1;
        }
        counts
    }

    /// The processes of this place that are there, of the tool and of its trials.
    fn processes(&self) -> Vec<String> {
        processes_with(&format!("{MARK}={}", self.mark))
    }

    /// Waits until nothing is left of a tool that has ended, and says how long that took.
    #[track_caller]
    fn wait_until_gone(&self) -> Duration {
        let began = Instant::now();
        let mut left = self.processes();
        while !left.is_empty() {
            assert!(began.elapsed() < GONE, "still there after {GONE:?}: {left:#?}");
            std::thread::sleep(Duration::from_millis(5));
            left = self.processes();
        }
        began.elapsed()
    }
}

/// Content of a journal, read as it may be while it is written: whole lines only.
#[derive(Debug, Default)]
struct Journal {
    asked: Vec<u64>,
    seeds: Vec<u64>,
    told: Vec<u64>,
    outcomes: BTreeMap<u64, Value>,
}

impl Journal {
    fn of(campaign: &Path) -> Journal {
        let bytes = fs::read(campaign.join("results.jsonl")).unwrap_or_default();
        let whole = bytes.iter().rposition(|&it| it == b'\n').map_or(0, |at| at + 1);
        let mut journal = Journal::default();
        for line in bytes[..whole].split_inclusive(|&it| it == b'\n').skip(1) {
            let entry: Value = serde_json::from_slice(line).expect("a whole line is JSON");
            for job in entry["asked"]["jobs"].as_array().into_iter().flatten() {
                journal.asked.push(job["id"].as_u64().expect("a job has a number"));
                let seed = &job["work"]["trial"]["plan"]["seed"];
                journal.seeds.push(seed.as_u64().expect("a plan has a seed"));
            }
            if let Some(id) = entry["told"]["id"].as_u64() {
                journal.told.push(id);
                journal.outcomes.insert(id, entry["told"]["outcome"].clone());
            }
        }
        journal
    }

    /// The trials that were told, in the order of their numbers.
    fn sorted(&self) -> Vec<u64> {
        let mut told = self.told.clone();
        told.sort_unstable();
        told
    }
}

fn trial(campaign: &Path, number: u64) -> PathBuf {
    campaign.join(format!("trials/{number:03}"))
}

#[track_caller]
fn document(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Asserts that a campaign has all its trials: each asked for once, told once, with its outcome in its place.
#[track_caller]
fn assert_whole(campaign: &Path, trials: u64) {
    let journal = Journal::of(campaign);
    let all: Vec<u64> = (0..trials).collect();
    assert_eq!(journal.asked, all, "asked for");
    assert_eq!(journal.sorted(), all, "told");
    for number in all {
        let kept = document(&trial(campaign, number).join("outcome.json"));
        assert_eq!(kept, journal.outcomes[&number], "the outcome of trial {number}");
    }
    for entry in fs::read_dir(campaign.join("trials")).expect("there are trials").flatten() {
        let aside = entry.file_name().to_string_lossy().contains("cut");
        assert!(!aside || !entry.path().join("outcome.json").exists(), "{entry:?} has an outcome");
    }
}

/// Number of times that the rest of a trial was put aside.
fn put_aside(campaign: &Path, number: u64) -> usize {
    let prefix = format!("{number:03}.cut-");
    let names = fs::read_dir(campaign.join("trials")).expect("there are trials").flatten();
    names.filter(|it| it.file_name().to_string_lossy().starts_with(&prefix)).count()
}

/// Number of results of a journal, for frequent readers.
fn told(campaign: &Path) -> usize {
    let bytes = fs::read(campaign.join("results.jsonl")).unwrap_or_default();
    let whole = |it: &&[u8]| it.starts_with(b"{\"told\":") && it.ends_with(b"\n");
    bytes.split_inclusive(|&it| it == b'\n').filter(whole).count()
}

/// The bytes of the files that belong to a campaign as a whole.
fn files_of(campaign: &Path) -> BTreeMap<&'static str, Option<Vec<u8>>> {
    ["results.jsonl", "campaign.json", "prepared.json"]
        .map(|name| (name, fs::read(campaign.join(name)).ok()))
        .into()
}

/// The moments of a trial at which the tool is killed, in turn.
const MOMENTS: [&str; 4] =
    ["a result was told", "a directory was made", "a script was started", "an outcome was kept"];

fn killed_again_and_again(sandbox: &str) {
    const JOBS: u64 = 2;
    let repeat = repeats(40).max(20) as u64;
    let kills = std::env::var("HYPOCENTER_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(4u64);
    // Each trial leaves a process behind that has a session of its own; the lab ends it with the trial.
    let script = format!("{STARTED} setsid sleep 1000 & sleep 0.05");
    let place = Place::new();
    let campaign = place.campaign("run-0001");
    let options = format!("--jobs {JOBS} --sandbox {sandbox} --json");
    let mut running = place.start(&format!("run --no-agent --repeat {repeat} {options}"), &script);
    let (mut before, mut slowest) = (BTreeSet::new(), Duration::ZERO);
    for kill in 0..kills {
        let wanted = repeat * (kill + 1) / (kills + 1);
        running.until("more results are told", || told(&campaign) as u64 >= wanted);
        let moment = MOMENTS[(kill % 4) as usize];
        let count = || match moment {
            "a directory was made" => {
                fs::read_dir(campaign.join("trials")).expect("there are trials").count()
            }
            "a script was started" => place.started().values().sum(),
            "an outcome was kept" => {
                (0..repeat).filter(|&it| trial(&campaign, it).join("outcome.json").exists()).count()
            }
            _ => told(&campaign),
        };
        let seen = count();
        running.until(moment, || count() > seen);
        running.kill();
        slowest = slowest.max(place.wait_until_gone());
        let after: BTreeSet<u64> = Journal::of(&campaign).told.into_iter().collect();
        assert!(after.is_superset(&before), "lost: {:?}", before.difference(&after));
        before = after;
        let words = format!("run --resume {options}");
        running = Place::spawn(place.words(&words.split_whitespace().collect::<Vec<_>>()));
    }
    let said = running.end().exits(0).says("trials are done");
    place.wait_until_gone();
    assert_whole(&campaign, repeat);
    let sum = said.json();
    assert_eq!((&sum["trials"], &sum["well"]), (&json!(repeat), &json!(repeat)), "{sum:#}");
    // Nothing that had an outcome was done again, and what was cut short is kept.
    let started = place.started();
    for number in 0..repeat {
        let (times, cuts) = (started.get(&number).copied().unwrap_or(0), put_aside(&campaign, number));
        assert!((1..=1 + cuts).contains(&times), "trial {number}: {times} starts, {cuts} cut short");
    }
    let starts: usize = started.values().sum();
    assert!(starts as u64 <= repeat + kills * JOBS, "{starts} starts");
    println!(
        "campaign: {repeat} trials, {kills} kills, sandbox {sandbox}: {repeat} told once, {starts} starts, all \
         processes gone within {} ms of a kill",
        slowest.as_millis()
    );
}

#[test]
fn killed_on_the_way_no_trial_is_lost_and_none_is_told_twice() {
    each(&["auto", "off"], |it| format!("sandbox {it}"), |sandbox| killed_again_and_again(sandbox));
}

/// Kills the keeper of the trial that runs, or the first process of its sandbox.
fn kill_keeper(place: &Place, which: &str) {
    let all = place.processes();
    let keeper = all.iter().find(|it| it.trim_end().ends_with(which));
    let keeper = keeper.unwrap_or_else(|| panic!("no {which}: {all:#?}"));
    let pid = keeper.split(':').next().expect("a number stands first");
    assert!(Command::new("kill").args(["-9", pid]).status().expect("kill can be run").success());
}

/// A sandbox, and the keepers that a trial has with it.
const KEEPERS: [(&str, &str); 3] = [("off", "__keeper"), ("auto", "__keeper"), ("auto", "__keeper-init")];

#[test]
fn a_killed_keeper_costs_an_attempt_of_its_trial_and_not_the_campaign() {
    let check = |&(sandbox, which): &(&str, &str)| {
        let place = Place::new();
        let campaign = place.campaign("run-0001");
        // Trial 1 leaves a process of another session behind and waits, until it has been cut short once.
        let script =
            format!("{STARTED} if [ $n = 001 ] && [ ! -e killed ]; then setsid sleep 1000 & sleep 1000; fi");
        let args = format!("run --no-agent --repeat 3 --sandbox {sandbox} --json");
        let mut running = place.start(&args, &script);
        let sleepers = || place.processes().iter().filter(|it| it.ends_with(": sleep 1000 ")).count();
        running.until("both processes of trial 1 run", || sleepers() == 2);
        // A process beside it that carries no mark of the trial.
        let mut bystander = Command::new("sleep");
        bystander.arg("1000").stdout(Stdio::null()).stderr(Stdio::null());
        let mut bystander = Place::spawn(bystander);
        fs::write(place.path("killed"), "").expect("a temporary file can be written");
        let had_sandbox = place.processes().iter().any(|it| it.trim_end().ends_with("__keeper-init"));
        if which == "__keeper-init" && !had_sandbox {
            skip("no sandbox can be made");
        } else {
            kill_keeper(&place, which);
            let said =
                running.end().exits(0).says("trial 1: its keeper process has ended").says("is run again");
            assert_eq!(said.json()["well"], 3, "{}", said.stderr);
            place.wait_until_gone();
            assert_whole(&campaign, 3);
            assert_eq!(place.started(), BTreeMap::from([(0, 1), (1, 2), (2, 1)]));
            assert_eq!(put_aside(&campaign, 1), 1);
        }
        let ended = bystander.child.as_mut().expect("it runs").try_wait().expect("it is a child");
        assert_eq!(ended, None, "a process that is not of the trial was ended");
    };
    each(&KEEPERS, |it| format!("{it:?}"), check);
}

#[test]
fn a_trial_whose_keeper_is_killed_each_time_is_named_and_given_up() {
    let place = Place::new();
    let script = format!("{STARTED} sleep 1000");
    let mut running = place.start("run --no-agent --repeat 2 --sandbox off", &script);
    for attempt in 1..=3 {
        running.until("it is started", || {
            place.started().get(&0) == Some(&attempt)
                && place.processes().iter().any(|it| it.ends_with(": sleep 1000 "))
        });
        kill_keeper(&place, "__keeper");
    }
    running.end().exits(1).says("trials/000: it was ended from outside 3 times").says("signal 9 killed it");
    place.wait_until_gone();
    assert_eq!(place.started(), BTreeMap::from([(0, 3)]));
}

#[test]
fn ended_by_the_user_it_says_how_to_go_on() {
    // A terminal sends its signal to the whole group.
    let rows = [("INT", true), ("TERM", false)];
    let check = |&(signal, group): &(&str, bool)| {
        let place = Place::new();
        let script = format!("{STARTED} case $n in 00[0-3]) ;; *) {GATE} esac");
        let mut running = place.start("run --no-agent --repeat 10 --jobs 2 --json", &script);
        let campaign = place.campaign("run-0001");
        running.until("four are told and two run", || told(&campaign) == 4 && place.started().len() == 6);
        running.signal(signal, group);
        let said = running.end().exits(3).says("hypocenter run --resume run-0001").says("4 of 10");
        assert_eq!(said.json()["trials"], 4);
        assert_eq!(place.processes(), Vec::<String>::new(), "left behind");
        assert_eq!(Journal::of(&campaign).sorted(), [0, 1, 2, 3]);
        // A trial that was ended has no outcome.
        assert!(!trial(&campaign, 4).join("outcome.json").exists());
        place.open_the_gate();
        let said = place.tool("run --resume run-0001 --jobs 2 --json").exits(0).says("4 trials are done");
        assert_eq!(said.json()["well"], 10);
        assert_whole(&campaign, 10);
        let twice = place.started().into_iter().filter(|&(_, times)| times != 1).collect::<Vec<_>>();
        assert_eq!(twice, [(4, 2), (5, 2)]);
        // Once it is done, there is nothing to go on with, and that is no error.
        place.tool("run --resume").exits(0).says("10 trials are done");
        assert_eq!(place.started().values().sum::<usize>(), 12);
    };
    each(&rows, |it| format!("{it:?}"), check);
}

/// A place with a campaign of four trials, one after the other, that is done.
fn done() -> (Place, PathBuf) {
    let place = Place::new();
    let said = place.run("run --no-agent --repeat 4", STARTED);
    said.exits(0);
    let campaign = place.campaign("run-0001");
    assert_whole(&campaign, 4);
    (place, campaign)
}

fn lines(campaign: &Path) -> Vec<String> {
    let text = fs::read_to_string(campaign.join("results.jsonl")).expect("there is a journal");
    text.split_inclusive('\n').map(str::to_owned).collect()
}

#[test]
fn a_journal_that_was_cut_in_a_line_is_gone_on_with() {
    // Lines: the head, then `asked` and `told` in turn; so many are left whole, the next is cut. Whether the outcome of
    // the last trial was kept, and how often its script is started in all.
    let rows = [(8, true, 1), (8, false, 2), (7, true, 1), (7, false, 2), (4, false, 2), (0, true, 1)];
    let check = |&(whole, kept, starts): &(usize, bool, usize)| {
        let (place, campaign) = done();
        let lines = lines(&campaign);
        assert_eq!(lines.len(), 9);
        let cut = &lines[whole][..lines[whole].len() / 2];
        fs::write(campaign.join("results.jsonl"), lines[..whole].concat() + cut).unwrap();
        if !kept {
            fs::remove_file(trial(&campaign, 3).join("outcome.json")).unwrap();
        }
        place.tool("run --resume").exits(0).says("the last line of the journal was truncated");
        assert_whole(&campaign, 4);
        assert_eq!(place.started(), [(0, 1), (1, 1), (2, 1), (3, starts)].into());
        assert_eq!(put_aside(&campaign, 3), starts - 1, "what was cut short is kept");
        // Mended once, it is whole.
        let said = place.tool("run --resume").exits(0).says("4 trials are done");
        assert!(!said.stderr.contains("truncated"), "{}", said.stderr);
    };
    each(&rows, |it| format!("{it:?}"), check);
}

#[test]
fn a_journal_that_cannot_be_right_is_refused_and_left_as_it_is() {
    type Spoil = fn(&mut Vec<String>);
    let newer: Spoil = |lines| lines[0] = lines[0].replace("\"journal\":4", "\"journal\":5");
    let no_version: Spoil = |lines| lines[0] = "{\"records\":3}\n".to_owned();
    let other_seed: Spoil = |lines| lines[0] = lines[0].replace("\"seed\":0", "\"seed\":5");
    let half_a_line: Spoil = |lines| {
        let half = lines[3].len() / 2;
        lines[3].truncate(half);
        lines[3].push('\n');
    };
    let empty_line: Spoil = |lines| lines.insert(5, "\n".to_owned());
    let control_bytes: Spoil = |lines| lines[1].insert_str(10, "\u{0}\u{1b}[2J");
    let told_twice: Spoil = |lines| lines.insert(3, lines[2].clone());
    let told_unasked: Spoil = |lines| drop(lines.remove(3));
    let asked_twice: Spoil = |lines| lines.insert(2, lines[1].clone());
    let rows = [
        (newer, "line 1", "journal version 5"),
        (no_version, "line 1", "not the journal of a campaign"),
        (other_seed, "line 1", "started with seed 5"),
        (half_a_line, "line 4", "the file was changed"),
        (empty_line, "line 6", "the file was changed"),
        (control_bytes, "line 2", "the file was changed"),
        (told_twice, "line 4", "trial 0 was reported"),
        (told_unasked, "line 4", "trial 1 was reported"),
        (asked_twice, "line 3", "other trials"),
    ];
    let (place, campaign) = done();
    let good = lines(&campaign);
    for (spoil, line, why) in rows {
        let mut lines = good.clone();
        spoil(&mut lines);
        assert_ne!(lines, good, "{line}, {why}");
        fs::write(campaign.join("results.jsonl"), lines.concat()).unwrap();
        let before = files_of(&campaign);
        let said = place.tool("run --resume").exits(1);
        let said = said.says(&format!("run-0001/results.jsonl: {line}: ")).says(why);
        assert!(!said.stderr.contains('\u{1b}'), "{}", said.stderr);
        assert_eq!(said.stdout, "");
        assert!(files_of(&campaign) == before, "{line}, {why}: the campaign was changed");
    }
    assert_eq!(place.started().values().sum::<usize>(), 4, "nothing was run");
    // Put right again, it is as it was.
    fs::write(campaign.join("results.jsonl"), good.concat()).unwrap();
    place.tool("run --resume").exits(0).says("4 trials are done");
}

#[test]
fn a_request_that_cannot_be_read_is_refused_and_left_as_it_is() {
    let (place, campaign) = done();
    let good = fs::read_to_string(campaign.join("campaign.json")).unwrap();
    let newer = good.replacen("\"version\": 2", "\"version\": 3", 1);
    assert_ne!(newer, good);
    let mut no_workload: Value = serde_json::from_str(&good).unwrap();
    no_workload["workloads"] = json!({});
    let no_workload = no_workload.to_string();
    let rows = [
        (newer, "format version 3, this tool supports version 2"),
        (good.replacen("\"version\": 2,", "", 1), "format version none"),
        (good[..good.len() / 2].to_owned(), "EOF while parsing"),
        (good.replacen("\"repeat\": 4", "\"repeat\": \"four\"", 1), "invalid type"),
        (String::new(), "EOF while parsing"),
        (no_workload, "it has no workload"),
    ];
    for (text, why) in rows {
        fs::write(campaign.join("campaign.json"), text).unwrap();
        let before = files_of(&campaign);
        for verb in ["run --resume", "trial --index 0", "replay"] {
            place.tool(verb).exits(1).says("run-0001/campaign.json: ").says(why);
        }
        assert!(files_of(&campaign) == before, "{why}: the campaign was changed");
    }
    assert!(!place.campaign("replay-0001").exists(), "a campaign was begun");
    assert_eq!(place.started().values().sum::<usize>(), 4, "nothing was run");
}

#[test]
fn a_campaign_of_other_classes_is_refused() {
    let place = Place::new();
    let own = place.path("own");
    let compiled = |body: &str| -> Vec<u8> {
        let text = format!("package own; class Own {{ static int f() {{ {body} }} }}");
        fs::write(place.path("Own.java"), text).unwrap();
        let javac = jdks().iter().map(|it| it.home.join("bin/javac")).find(|it| it.is_file());
        let mut command = Command::new(javac.expect("one of the JDKs compiles"));
        command.arg("-d").arg(place.directory.path()).arg(place.path("Own.java"));
        assert!(command.status().expect("javac can be run").success());
        fs::read(own.join("Own.class")).expect("it was compiled")
    };
    // The two differ in one instruction.
    let (other, mine) = (compiled("return 2;"), compiled("return 1;"));
    assert_eq!(other.len(), mine.len());
    place.tool("run --hook entry --repeat 2 --classpath . --packages own -- true").exits(1);
    let campaign = place.campaign("run-0001");
    let before = files_of(&campaign);
    fs::write(own.join("Own.class"), other).unwrap();
    let said = place.tool("run --resume").exits(1);
    said.says("run-0001: the classes have changed since the campaign was started").says("try: ");
    assert!(files_of(&campaign) == before, "the campaign was changed");
    fs::write(own.join("Own.class"), mine).unwrap();
    place.tool("run --resume").exits(1).says("2 trials are done");
    assert_whole(&campaign, 2);
}

#[test]
fn another_request_under_the_name_of_a_campaign_is_refused() {
    let place = Place::new();
    let first = "run --campaign one --no-agent --repeat 2";
    place.run(first, STARTED).exits(0);
    let campaign = place.campaign("one");
    let before = files_of(&campaign);
    place.run("run --campaign two --no-agent --repeat 2", "true").exits(0);
    let rows = [
        ("run --campaign one --hook call --repeat 2", STARTED),
        ("run --campaign one --no-agent --repeat 3", STARTED),
        ("run --campaign one --no-agent --repeat 2 --seed 9", STARTED),
        ("run --campaign one --no-agent --repeat 2 --oracle {exit=1}", STARTED),
        ("run --campaign one --no-agent --repeat 2", "exit 1"),
        ("inject Guards.hit --sleep 1ms --campaign one --repeat 2", STARTED),
    ];
    for (args, script) in rows {
        place.run(args, script).exits(1).says("hypocenter-out/one was started with another");
        assert!(files_of(&campaign) == before, "{args}: the campaign was changed");
        // What `run --resume` means without a name is what it meant before.
        assert_eq!(fs::read_link(place.campaign("latest")).unwrap(), Path::new("two"), "{args}");
    }
    assert_eq!(place.started().values().sum::<usize>(), 2, "nothing was run");
    // The same request continues it.
    place.run(first, STARTED).exits(0).says("2 trials are done");
    assert_eq!(place.started().values().sum::<usize>(), 2);
    assert_whole(&campaign, 2);
}

#[test]
fn a_verb_goes_on_only_with_what_is_its_own() {
    let place = Place::new();
    place.run("run --no-agent --repeat 2", "true").exits(0);
    let own = document(&place.campaign("run-0001/campaign.json"));
    let mut reproduce = own.clone();
    reproduce["engine"] = json!({ "verb": "reproduce", "settings": {
        "logs": [], "strategy": "full", "window": 1, "step": 1, "budget": 1, "exceptions": true, "normal_runs": 1,
        "replays": 1, "patience": 1, "keep_going": false,
    } });
    // A replay of what a search found has the request of the search.
    for (verb, request) in [("inject", own), ("replay", reproduce.clone()), ("reproduce", reproduce)] {
        let campaign = place.campaign(&format!("{verb}-0001"));
        fs::create_dir(&campaign).unwrap();
        let mut request = request;
        request["verb"] = json!(verb);
        fs::write(campaign.join("campaign.json"), request.to_string()).unwrap();
    }
    for (args, what, command) in [
        ("reproduce --resume replay-0001", "is a campaign of replay, not of reproduce", "run"),
        ("explore --resume inject-0001", "is a campaign of inject, not of explore", "run"),
        ("run --resume reproduce-0001", "is a campaign of reproduce, not of run", "reproduce"),
        ("explore --resume", "is a campaign of run, not of explore", "run"),
    ] {
        let said = place.tool(args).exits(1).says(what);
        let name = args.split(' ').nth(2).unwrap_or("run-0001");
        said.says(&format!("`hypocenter {command} --resume {name}` continues it"));
    }
    // Without a name it is the latest of the verb, whatever came behind it.
    fs::remove_dir_all(place.campaign("inject-0001")).unwrap();
    fs::remove_dir_all(place.campaign("replay-0001")).unwrap();
    fs::remove_file(place.campaign("latest")).unwrap();
    std::os::unix::fs::symlink("reproduce-0001", place.campaign("latest")).unwrap();
    place.tool("run --resume").exits(0).says("run-0001").says("2 trials are done");
}

#[test]
fn a_directory_takes_one_campaign_at_a_time() {
    let place = Place::new();
    let script = format!("{STARTED} {GATE}");
    let mut first = place.start("run --campaign both --no-agent --repeat 4 --jobs 2", &script);
    first.until("two run", || place.started().len() == 2);
    let campaign = place.campaign("both");
    let before = files_of(&campaign);
    let busy = format!("in use by process {}", first.pid());
    let said = place.run("run --campaign both --no-agent --repeat 4 --jobs 2", &script).exits(1);
    said.says("hypocenter-out/both").says(&busy).says("--campaign");
    assert!(files_of(&campaign) == before, "the first campaign was changed");
    // Another request has two reasons not to run there.
    place.run("run --campaign both --hook call --repeat 4", &script).exits(1).says("hypocenter-out/both");
    assert!(files_of(&campaign) == before, "the first campaign was changed");
    place.tool("run --resume both").exits(1).says(&busy);
    assert!(files_of(&campaign) == before, "the first campaign was changed");
    place.open_the_gate();
    first.end().exits(0);
    assert_whole(&campaign, 4);
    assert_eq!(place.started(), (0..4).map(|it| (it, 1)).collect(), "each was run once");
    // Whoever had the lock is gone, and its number with it.
    place.tool("run --resume both").exits(0).says("4 trials are done");
}

#[test]
fn a_trial_is_carried_out_alone_and_taken_over_by_its_campaign() {
    let place = Place::new();
    let script = format!("{STARTED} {GATE} {JVM}");
    let mut running = place.start("run --hook entry --repeat 4", &script);
    running.until("the first runs", || place.started().len() == 1);
    running.kill();
    place.wait_until_gone();
    place.open_the_gate();
    let campaign = place.campaign("run-0001");
    let before = files_of(&campaign);
    let first = place.tool("trial --campaign run-0001 --index 2 --json").exits(0);
    assert_eq!(first.json(), document(&trial(&campaign, 2).join("outcome.json")));
    assert_eq!(first.json()["jvms"].as_array().unwrap().len(), 1);
    let again = place.tool("trial --campaign run-0001 --index 2 --json").exits(0);
    assert_eq!(again.json(), first.json());
    again.says("it was run before");
    // One that was cut short is begun anew.
    place.tool("trial --index 0 --json").exits(0);
    assert_eq!(put_aside(&campaign, 0), 1);
    assert_eq!(place.started(), [(0, 2), (2, 1)].into());
    let said = place.tool("trial --campaign run-0001 --index 4").exits(1);
    said.says("has no trial 4").says("it has 4 trials, numbered from 0");
    place.tool("trial --campaign run-0001 --index 18446744073709551615").exits(1).says("has no trial");
    place.tool("trial --campaign run-0001 --index -1").exits(1);
    place.tool("trial --campaign nothing --index 0").exits(1).says("nothing: ");
    assert!(!place.campaign("nothing").exists());
    assert!(files_of(&campaign) == before, "the journal is the campaign's own");
    let said = place.tool("run --resume --jobs 2 --json").exits(0);
    assert_eq!(said.json()["well"], 4);
    assert_whole(&campaign, 4);
    assert_eq!(Journal::of(&campaign).outcomes[&2], first.json());
    assert_eq!(place.started(), [(0, 2), (1, 1), (2, 1), (3, 1)].into(), "none was run again");
}

#[test]
fn a_trial_that_somebody_runs_is_left_alone() {
    let place = Place::new();
    let script = format!("{STARTED} case $n in 000) {GATE} esac; {JVM}");
    let mut running = place.start("run --no-agent --repeat 3", &script);
    running.until("the first runs", || place.started().len() == 1);
    let campaign = place.campaign("run-0001");
    // One that the campaign has not come to yet can be run beside it.
    let beside = place.tool("trial --campaign run-0001 --index 2 --json").exits(0);
    let said = place.tool("trial --campaign run-0001 --index 0").exits(75);
    said.says("run-0001/trials/000 is run by another process");
    assert_eq!(put_aside(&campaign, 0), 0, "it was taken away");
    place.open_the_gate();
    running.end().exits(0);
    assert_whole(&campaign, 3);
    assert_eq!(Journal::of(&campaign).outcomes[&2], beside.json());
    assert_eq!(place.started(), [(0, 1), (1, 1), (2, 1)].into());
}

#[test]
fn a_campaign_does_not_take_a_trial_from_whoever_runs_it() {
    let place = Place::new();
    let script = format!("{STARTED} case $n in 001) {GATE} esac");
    let mut running = place.start("run --no-agent --repeat 3", &script);
    running.until("the second runs", || place.started().len() == 2);
    running.kill();
    place.wait_until_gone();
    let campaign = place.campaign("run-0001");
    let mut beside = Place::spawn(place.words(&["trial", "--index", "1", "--json"]));
    beside.until("it runs elsewhere", || place.started().get(&1) == Some(&2));
    let said = place.tool("run --resume").exits(1);
    said.says("run-0001/trials/001 is run by another process");
    assert_eq!(Journal::of(&campaign).told, [0]);
    place.open_the_gate();
    let outcome = beside.end().json();
    place.tool("run --resume").exits(0);
    assert_whole(&campaign, 3);
    assert_eq!(Journal::of(&campaign).outcomes[&1], outcome);
    assert_eq!(place.started(), [(0, 1), (1, 2), (2, 1)].into());
}

#[test]
fn two_who_want_the_same_trial_run_it_once() {
    const TRIALS: u64 = 6;
    let place = Place::new();
    let mut running = place.start(&format!("run --no-agent --repeat {TRIALS}"), &format!("{STARTED} {GATE}"));
    running.until("the first runs", || place.started().len() == 1);
    running.kill();
    place.wait_until_gone();
    fs::remove_file(place.path("started")).unwrap();
    place.open_the_gate();
    let campaign = place.campaign("run-0001");
    for number in 0..TRIALS {
        let index = number.to_string();
        let start = || Place::spawn(place.words(&["trial", "--index", &index, "--json"]));
        let said: Vec<Said> = [start(), start(), start()].map(Running::end).into();
        let mut found = 0;
        for it in &said {
            if it.stdout.is_empty() {
                assert!(it.stderr.contains("is run by another process"), "{}", it.stderr);
            } else {
                assert_eq!(it.json(), document(&trial(&campaign, number).join("outcome.json")));
                found += 1;
            }
        }
        assert!(found > 0, "somebody had it: {said:#?}");
    }
    assert_eq!(place.started(), (0..TRIALS).map(|it| (it, 1)).collect(), "each was run once");
    place.tool("run --resume").exits(0);
    assert_whole(&campaign, TRIALS);
}

/// Injected candidate, its hit, and its thread.
fn injection(outcome: &Value) -> (usize, Value, Value) {
    let candidates = outcome["candidates"].as_array().expect("there are candidates");
    let injected = |it: &Value| it["result"]["end"] == "injected";
    let at = candidates.iter().position(injected).unwrap_or_else(|| panic!("nothing injected: {outcome:#}"));
    let result = &candidates[at]["result"];
    (at, result["occurrence"].clone(), result["thread"].clone())
}

#[test]
fn a_replay_injects_the_same_fault_each_time() {
    let place = Place::new();
    let script = JVM.replace("many 2", "many 60");
    // Some of these sites are hit sixty times, and chance says which of them takes the fault, and when.
    let args = "inject Guards.* --sleep 1ms --probability 0.05 --seed 7 --repeat 3 --jobs 2 --json";
    let said = place.run(args, &script).exits(0);
    assert_eq!(said.json()["injected"], 3);
    let campaign = place.campaign("inject-0001");
    assert_whole(&campaign, 3);
    let outcomes = Journal::of(&campaign).outcomes;
    let of: Vec<_> = (0..3).map(|it| injection(&outcomes[&it])).collect();
    assert!(of[0] != of[1] || of[1] != of[2], "chance is the same in every trial: {of:?}");
    let said = place.tool("replay inject-0001/2 --times 3 --jobs 2 --json").exits(0);
    assert_eq!((&said.json()["trials"], &said.json()["injected"]), (&json!(3), &json!(3)));
    let replayed = place.campaign("replay-0001");
    assert_whole(&replayed, 3);
    for number in 0..3 {
        assert_eq!(injection(&Journal::of(&replayed).outcomes[&number]), of[2], "replay {number}");
        let plan = document(&trial(&replayed, number).join("plan.json"));
        assert_eq!(plan, document(&trial(&campaign, 2).join("plan.json")), "replay {number}");
    }
    // Once, its outcome is the document; and a replay can be replayed.
    let said = place.tool("replay replay-0001/1 --json").exits(0);
    assert_eq!(injection(&said.json()), of[2]);
}

#[test]
fn what_is_not_there_cannot_be_replayed() {
    let (place, _) = done();
    place
        .tool("replay nothing/0")
        .exits(1)
        .says("nothing: the campaign does not exist")
        .says("known campaigns: run-0001");
    place
        .tool("replay run-0001/4")
        .exits(1)
        .says("run-0001/trials/004")
        .says("the campaign has trials 0 to ");
    place.tool("replay run-0001/x").exits(1).says("run-0001/x");
    place.tool("replay run-0001/99999999999999999999999").exits(1).says("99999999999999999999999");
    place.tool("replay run-0001/0 --times 0").exits(1).says("--times");
    let kept: BTreeSet<String> = fs::read_dir(place.path("hypocenter-out"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(kept, ["latest".to_owned(), "run-0001".to_owned()].into(), "nothing was begun");
    assert_eq!(place.started().values().sum::<usize>(), 4, "nothing was run");
}

#[test]
fn every_trial_has_its_own_seed_and_keeps_it() {
    let seeds_of = |campaign: &Path| -> Vec<u64> {
        let seed = |it| document(&trial(campaign, it).join("plan.json"))["seed"].as_u64().expect("a seed");
        let seeds = (0..6).map(seed).collect();
        assert_eq!(Journal::of(campaign).seeds, seeds, "the journal has them too");
        seeds
    };
    let args =
        |name: &str, seed: u64| format!("run --no-agent --repeat 6 --jobs 2 --seed {seed} --campaign {name}");
    let place = Place::new();
    place.open_the_gate();
    let script = format!("{STARTED} case $n in 00[0-2]) ;; *) {GATE} esac");
    place.run(&args("whole", 11), &script).exits(0);
    place.run(&args("other", 1 << 40), &script).exits(0);
    fs::remove_file(place.path("go")).unwrap();
    let mut running = place.start(&args("cut", 11), &script);
    running.until("three are told", || told(&place.campaign("cut")) == 3);
    running.kill();
    place.wait_until_gone();
    place.open_the_gate();
    place.tool("run --resume cut --jobs 1").exits(0);
    let (whole, other) = (seeds_of(&place.campaign("whole")), seeds_of(&place.campaign("other")));
    assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), 6, "{whole:?}");
    assert_eq!(seeds_of(&place.campaign("cut")), whole, "resumed or not");
    assert!(whole.iter().all(|it| !other.contains(it)), "another seed: {whole:?}, {other:?}");
}

#[test]
fn a_campaign_is_one_document_and_its_exit_code_tells_how_it_went() {
    let place = Place::new();
    let said = place.run("run --hook entry --repeat 3 --jobs 2 --json", &format!("{STARTED} {JVM}")).exits(0);
    let sum = said.json();
    assert_eq!(sum["campaign"], "hypocenter-out/run-0001");
    assert_eq!(sum["replay"], "hypocenter replay run-0001/0");
    for (count, expected) in [("trials", 3), ("well", 3), ("injected", 0), ("failures", 0)] {
        assert_eq!(sum[count], expected, "{count}: {sum:#}");
    }
    assert!(sum["hits"].as_u64().unwrap() >= 3 * 2, "{sum:#}");
    assert!(!said.stderr.contains("main 1: fine"), "the output of many trials is not mixed: {}", said.stderr);
    // Without a terminal there are lines, and nothing that moves a cursor.
    assert!(said.stderr.contains("[3 of 3]"), "{}", said.stderr);
    assert!(!said.stderr.contains(['\u{1b}', '\r']), "{}", said.stderr);

    // One that fails without a fault.
    let script = format!("{STARTED} test $n != 001");
    let said = place.run("run --no-agent --repeat 4 --json", &script).exits(4);
    assert_eq!((&said.json()["trials"], &said.json()["well"]), (&json!(4), &json!(3)));
    said.says("trial 1: exited with status 1").says("run-0002/1: exited with status 1").says("3 of 4");
    // Resumed, it is still one that fails.
    let said = place.tool("run --resume run-0002 --json").exits(4);
    assert_eq!(said.json()["well"], 3);

    // A failure that an oracle sees, though all end well.
    let script = format!("{STARTED} test $n = 002 && echo Severe error; true");
    let said = place.run("run --no-agent --repeat 4 --json --oracle {log=\"Severe\"}", &script).exits(4);
    assert_eq!((&said.json()["well"], &said.json()["failures"]), (&json!(4), &json!(1)));
    said.says("happened in 1 of 4").says("run-0003/2: the failure happened");

    // Without --json stdout has nothing of it.
    let said = place.run("run --no-agent --repeat 2", "echo out").exits(0);
    assert_eq!(said.stdout, "");

    // Faults: all injected, or not.
    let inject = "inject Guards.hit --sleep 1ms --repeat 2 --json";
    let said = place.run(inject, JVM).exits(0);
    assert_eq!(said.json()["injected"], 2);
    let script = format!("{STARTED} test $n = 001 && exit 0; {JVM}");
    let said = place.run(inject, &script).exits(2).says("1 of 2");
    assert_eq!(said.json()["injected"], 1);
}

#[test]
fn a_campaign_cannot_be_called_what_is_no_name() {
    let place = Place::new();
    fs::create_dir(place.path("inner")).unwrap();
    let classes = classes().display().to_string();
    let long = "x".repeat(300);
    let names = [
        "../x",
        "a/b",
        "",
        ".",
        "..",
        "/",
        "/x",
        ".x",
        "latest",
        "a b",
        "a\nb",
        "a\u{1b}[2Jb",
        "-x",
        "é",
        &long,
    ];
    let tool = |words: &[&str]| Place::spawn(place.words(words)).end().exits(1);
    let target = ["--out", "inner/out", "--classpath", &classes, "--packages", "probe", "--", "true"];
    let check = |name: &&str| {
        let flag = format!("--campaign={name}");
        let said = tool(&[&["run", "--hook", "entry", &flag], &target[..]].concat()).says("error: ");
        assert!(!said.stderr.contains('\u{1b}'), "{}", said.stderr);
        tool(&["trial", "--index", "0", &flag]).says("error: ");
    };
    each(&names, |it| format!("{it:?}"), check);
    tool(&[&["inject", "Guards.hit", "--crash", "--campaign=../x"], &target[..]].concat())
        .says("--campaign ../x");
    tool(&["replay", "nothing", "--campaign=../x"]).says("error: ");
    tool(&["run", "--resume=../x"]).says("error: ");
    let made = |directory: &str| {
        let names = fs::read_dir(place.path(directory)).into_iter().flatten();
        names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(made("."), ["inner"], "something was made");
    assert_eq!(made("inner/out"), Vec::<String>::new(), "something was made");
}
