//! The pool of this machine carries out jobs from the files of a campaign: real processes, under a keeper of their own.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use hypocenter_engine::{Digester, Evidence, HookSet, Job, JobId, Purpose, TrialRef, Work};
use hypocenter_lab::executor::{Given, Happened, Local};
use hypocenter_lab::{AgentFile, Executor, Host, LabError, Observer, Prepared, Surroundings, Unobserved};
use hypocenter_plan::{Edit, End, Plan, Restart, Span};
use hypocenter_trace::MapBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Far longer than anything takes; a test that needs it has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// A campaign that is nothing but its files.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new(workload: Value) -> Place {
        let directory =
            TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo's directory can be written");
        let place = Place { directory };
        let document = json!({
            "version": hypocenter_lab::CAMPAIGN_VERSION,
            "base": place.path(),
            "main": "main",
            "workloads": { "w": workload },
            // What others keep there is none of the lab's business.
            "verb": "test",
        });
        fs::write(place.path().join("campaign.json"), document.to_string()).expect("it can be written");
        let (bytes, digest) = MapBuilder::new().encode().expect("a map");
        Prepared::keep(place.path(), (&bytes, digest), BTreeMap::new()).expect("it can be kept");
        place
    }

    /// A shell command that knows its trial as `$n`.
    fn script(script: &str) -> Place {
        let command = format!("n=${{HYPOCENTER_DIR%/dir}}; n=${{n##*/}}; {script}");
        Place::new(json!({ "name": "w", "command": command, "agent": false }))
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn host(&self) -> Host {
        Host::open(self.path(), surroundings()).expect("all is there")
    }
}

fn surroundings() -> Surroundings {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache/executor");
    Surroundings {
        agent: AgentFile::unpack(&cache, "agent.so", include_bytes!(env!("HYPOCENTER_AGENT_FILE")))
            .expect("it can be unpacked"),
        keeper: PathBuf::from(env!("CARGO_BIN_EXE_hypocenter")),
        sandbox: false,
        java_tool_options: None,
        visible: Vec::new(),
    }
}

fn job(id: u64, work: Work) -> Job {
    Job { id: JobId(id), purpose: Purpose::Probe, work }
}

fn trial(id: u64) -> Job {
    job(id, Work::trial("w", Plan::default()))
}

/// A trial with something that is not as usual.
fn changed(
    id: u64,
    change: impl FnOnce(&mut Option<HookSet>, &mut BTreeMap<String, Restart>, &mut Vec<Edit>),
) -> Job {
    let mut job = trial(id);
    let Work::Trial { hooks, restarts, edits, .. } = &mut job.work else { unreachable!("a trial") };
    change(hooks, restarts, edits);
    job
}

/// Says what was printed, by the trials of a job in order.
struct Printed;

impl Digester for Printed {
    type Digest = String;
    type Reading = Vec<u8>;
    const READS_EARLY: bool = true;

    fn read(&self, reading: &mut Vec<u8>, path: &str, at: u64, bytes: &[u8]) {
        if path == "logs/main.stdout.log" {
            reading.truncate(at as usize);
            reading.extend_from_slice(bytes);
        }
    }

    fn digest(&self, _: &Job, evidence: &[Evidence], reading: Vec<u8>) -> String {
        let of_trial = |it: &Evidence| String::from_utf8_lossy(&it.logs()[0].bytes).trim().to_owned();
        let printed = evidence.iter().map(of_trial).collect::<Vec<_>>().join(",");
        assert!(printed.as_bytes().starts_with(reading.trim_ascii()), "{printed} was read as {reading:?}");
        assert!(printed != "panic", "the digest fails");
        format!("{printed}/{}", reading.len())
    }
}

/// Polls until so many jobs have ended.
fn ended(pool: &mut dyn Executor<String>, count: usize) -> BTreeMap<JobId, Result<Given<String>, LabError>> {
    let (begun, mut all) = (Instant::now(), BTreeMap::new());
    while all.len() < count {
        assert!(begun.elapsed() < PATIENCE, "{} of {count} ended", all.len());
        for event in pool.poll(Duration::from_millis(20)) {
            if let Happened::Ended { id, result } = event {
                assert!(all.insert(id, result).is_none(), "{id} ended twice");
            }
        }
    }
    all
}

fn digest(given: &Result<Given<String>, LabError>) -> &str {
    match given {
        Ok(Given::Result { digest, .. }) => digest,
        other => panic!("no result: {other:?}"),
    }
}

/// Notes which threads run trials.
#[derive(Default)]
struct Threads {
    began: Mutex<Vec<ThreadId>>,
    ended: Mutex<Vec<ThreadId>>,
}

impl Observer for Threads {
    fn began(&self) {
        self.began.lock().unwrap().push(thread::current().id());
    }

    fn ended(&self) {
        self.ended.lock().unwrap().push(thread::current().id());
    }
}

#[test]
fn a_pool_runs_as_many_jobs_at_once_as_it_has_threads() {
    // Neither of the first two ends before both run.
    let script = "echo $n; : > started-$n; case $n in 000) while [ ! -e started-001 ]; do sleep 0.01; done;; \
                  001) while [ ! -e started-000 ]; do sleep 0.01; done;; esac";
    let place = Place::script(script);
    let (host, threads) = (place.host(), Threads::default());
    Local::with(&host, &Printed, &threads, 2, |pool| {
        assert_eq!(pool.room(), 2);
        pool.submit(trial(0));
        pool.submit(trial(1));
        assert_eq!(pool.room(), 0);
        ended(pool, 2);
        assert_eq!(pool.room(), 2);
        for round in [2, 4, 6] {
            pool.submit(trial(round));
            pool.submit(trial(round + 1));
            let ended = ended(pool, 2);
            assert!(digest(&ended[&JobId(round)]).starts_with(&format!("{round:03}/")), "{ended:?}");
        }
        // A study reads what trials have left, in its order.
        pool.submit(job(8, Work::Study { trials: vec![JobId(3).into(), JobId(1).into()] }));
        assert_eq!(digest(&ended(pool, 1)[&JobId(8)]), "003,001/0");
        // A trial that was carried out before is not run again.
        let before = threads.began.lock().unwrap().len();
        pool.submit(trial(3));
        assert_eq!(digest(&ended(pool, 1)[&JobId(3)]), "003/0");
        assert_eq!(threads.began.lock().unwrap().len(), before);
    });
    let (began, ended) = (threads.began.into_inner().unwrap(), threads.ended.into_inner().unwrap());
    assert_eq!((began.len(), ended.len()), (8, 8));
    let distinct: BTreeSet<String> = began.iter().map(|it| format!("{it:?}")).collect();
    assert_eq!(distinct.len(), 2, "a thread for each of the two places");
}

#[test]
fn what_a_trial_prints_is_read_while_it_runs() {
    // It ends only once the test has seen that its output was read.
    let place = Place::script("echo early; while [ ! -e go ]; do sleep 0.01; done");
    struct Early<'a>(&'a Path);
    impl Digester for Early<'_> {
        type Digest = String;
        type Reading = Vec<u8>;
        const READS_EARLY: bool = true;
        fn read(&self, reading: &mut Vec<u8>, _: &str, _: u64, bytes: &[u8]) {
            reading.extend_from_slice(bytes);
            fs::write(self.0, "").expect("it can be written");
        }
        fn digest(&self, _: &Job, _: &[Evidence], reading: Vec<u8>) -> String {
            String::from_utf8(reading).expect("text")
        }
    }
    let go = place.path().join("go");
    Local::with(&place.host(), &Early(&go), &Unobserved, 1, |pool| {
        pool.submit(trial(0));
        assert_eq!(digest(&ended(pool, 1)[&JobId(0)]), "early\n");
    });
}

#[test]
fn a_pool_that_is_cancelled_ends_what_runs_and_starts_nothing() {
    let place = Place::script("echo $$ > pid-$n; exec sleep 1000");
    Local::with(&place.host(), &Printed, &Unobserved, 2, |pool| {
        pool.submit(trial(0));
        let pid = place.path().join("pid-000");
        let begun = Instant::now();
        while fs::read_to_string(&pid).unwrap_or_default().trim().is_empty() {
            assert!(begun.elapsed() < PATIENCE, "it never ran");
            assert!(pool.poll(Duration::from_millis(5)).is_empty(), "it ended by itself");
        }
        let pid = fs::read_to_string(&pid).unwrap();
        assert!(support::is_running(pid.trim()));
        pool.cancel();
        pool.submit(trial(1));
        let ended = ended(pool, 2);
        let Ok(Given::Interrupted { outcome: Some(outcome) }) = &ended[&JobId(0)] else {
            panic!("{ended:?}");
        };
        assert_eq!(outcome.end, End::Interrupted);
        assert!(matches!(ended[&JobId(1)], Ok(Given::Interrupted { outcome: None })), "{ended:?}");
        assert!(!support::is_running(pid.trim()));
        assert!(!place.path().join("pid-001").exists());
        assert!(!place.path().join("trials/000/outcome.json").exists(), "it can be run again");
    });
}

#[test]
fn a_pool_that_is_dropped_leaves_no_process() {
    let place = Place::script("echo $$ > pid; exec sleep 1000");
    let pid = place.path().join("pid");
    Local::with(&place.host(), &Printed, &Unobserved, 1, |pool| {
        pool.submit(trial(0));
        while fs::read_to_string(&pid).unwrap_or_default().trim().is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
    });
    assert!(!support::is_running(fs::read_to_string(&pid).unwrap().trim()));
}

#[test]
fn a_digest_that_panics_ends_the_campaign_and_does_not_hang_it() {
    let place = Place::script("echo panic");
    let host = place.host();
    let result = catch_unwind(AssertUnwindSafe(|| {
        Local::with(&host, &Printed, &Unobserved, 2, |pool| {
            pool.submit(trial(0));
            ended(pool, 1);
        })
    }));
    let payload = result.unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"the digest fails"));
}

#[test]
fn a_host_refuses_a_campaign_whose_files_it_does_not_know() {
    let place = Place::script("true");
    let document = place.path().join("campaign.json");
    let text = fs::read_to_string(&document).unwrap();
    let check = |text: &str, expected: &str| {
        fs::write(&document, text).unwrap();
        let why = Host::open(place.path(), surroundings()).unwrap_err().to_string();
        assert!(why.contains("campaign.json") && why.contains(expected), "{why}");
    };
    check("{", "the file was changed");
    check(&text.replace("\"version\":", "\"version\":9"), "start a new campaign");
    fs::write(&document, &text).unwrap();
    let error = place.host().trial(&job(0, Work::Study { trials: Vec::new() }), &Unobserved).unwrap_err();
    assert!(error.to_string().contains("a study"), "{error}");
    let other = job(0, Work::trial("x", Plan::default()));
    let error = place.host().trial(&other, &Unobserved).unwrap_err();
    assert!(error.to_string().contains("unknown workload `x`; the campaign has w"), "{error}");
    assert!(!place.path().join("trials").exists(), "nothing was begun");
}

#[test]
fn a_node_is_restarted_in_the_trial_that_asks_for_it_and_in_no_other() {
    let place = Place::new(json!({
        "name": "w",
        "agent": false,
        "node": [{ "name": "n", "command": "echo life >> {dir}/lives; exit 1" }],
        // It sees whether there is a third life within a second.
        "client": [{
            "name": "main",
            "phase": 1,
            "command": "for i in 1 2 3 4 5 6 7 8 9 10; do test \"$(wc -l < {dir}/lives)\" = 3 && exit; sleep 0.1; done",
        }],
    }));
    let lives = |id: u64| {
        let path = place.path().join(format!("trials/{id:03}/dir/lives"));
        fs::read_to_string(path).expect("the node lived").lines().count()
    };
    let host = place.host();
    host.trial(&trial(0), &Unobserved).expect("it can be run");
    assert_eq!(lives(0), 1);
    let restart = Restart { times: 2, delay: Span(Duration::from_millis(10)) };
    let restarted =
        |id, name: &str| changed(id, |_, restarts, _| restarts.extend([(name.to_owned(), restart)]));
    let outcome = host.trial(&restarted(1, "n"), &Unobserved).expect("it can be run");
    assert_eq!(lives(1), 3);
    let of_node = outcome.processes.iter().filter(|it| it.name == "n").map(|it| it.incarnation);
    assert_eq!(of_node.collect::<Vec<_>>(), [1, 2, 3]);
    let error = host.trial(&restarted(2, "x"), &Unobserved).unwrap_err();
    assert!(error.to_string().contains("starts no node `x`"), "{error}");
    assert!(!place.path().join("trials/002").exists(), "nothing was begun");
}

#[test]
fn the_words_settings_and_variables_of_a_jvm_are_those_that_a_trial_asks_for() {
    let java = support::default_jdk().java();
    let place = Place::new(json!({
        "name": "w",
        "agent": false,
        "command": format!("{java} -Dprobe.old=1 -XshowSettings:properties -version"),
        "env": { "JDK_JAVA_OPTIONS": "" },
    }));
    let host = place.host();
    let printed = |job: &Job| {
        let outcome = host.trial(job, &Unobserved).expect("it can be run");
        assert_eq!(outcome.end, End::Exited { status: 0 });
        let logs = outcome.processes[0].logs.iter();
        let directory = host.directory(job.id);
        logs.map(|it| fs::read_to_string(directory.join(it)).expect("a log")).collect::<String>()
    };
    let text = printed(&trial(0));
    assert!(text.contains("probe.old = 1") && !text.contains("probe.new"), "{text}");
    let property =
        |name: &str, value: &str| Edit::Property { process: None, name: name.into(), value: value.into() };
    let options =
        Edit::Variable { process: None, name: "JDK_JAVA_OPTIONS".into(), value: "-Dprobe.variable=3".into() };
    let job = changed(1, |_, _, edits| {
        edits.extend([property("probe.old", "2"), property("probe.new", "a b"), options])
    });
    let text = printed(&job);
    assert!(text.contains("probe.old = 2") && text.contains("probe.new = a b"), "{text}");
    assert!(text.contains("probe.variable = 3"), "{text}");
    let word =
        |at, from: &str| Edit::Word { process: None, at, from: from.into(), to: "-Dprobe.old=9".into() };
    let text = printed(&changed(2, |_, _, edits| edits.push(word(1, "-Dprobe.old=1"))));
    assert!(text.contains("probe.old = 9"), "{text}");
    let error =
        host.trial(&changed(3, |_, _, edits| edits.push(word(1, "-version"))), &Unobserved).unwrap_err();
    assert!(
        error.to_string().contains("word 1 of") && error.to_string().contains("not `-version`"),
        "{error}"
    );
}

#[test]
fn a_study_reads_trials_of_another_campaign_as_long_as_it_is_the_same() {
    let other = Place::script("echo other $n");
    Local::with(&other.host(), &Printed, &Unobserved, 1, |pool| {
        for id in 0..2 {
            pool.submit(trial(id));
            ended(pool, 1);
        }
    });
    fs::write(other.path().join("results.jsonl"), "{}\n").expect("it can be written");
    let place = Place::script("echo own");
    let document = place.path().join("campaign.json");
    let mut with_input: Value = serde_json::from_slice(&fs::read(&document).unwrap()).unwrap();
    with_input["inputs"] = json!([hypocenter_lab::Input::of(other.path()).expect("a campaign")]);
    fs::write(&document, with_input.to_string()).unwrap();
    let study = |id: u64, trials: Vec<TrialRef>| job(id, Work::Study { trials });
    let of_input = |input: usize, id: u64| TrialRef { input: Some(input), id: JobId(id) };
    Local::with(&place.host(), &Printed, &Unobserved, 1, |pool| {
        let mut given = |job: Job| {
            let id = job.id;
            pool.submit(job);
            ended(pool, 1).remove(&id).expect("it ended")
        };
        given(trial(0)).expect("it can be run");
        let trials = vec![of_input(0, 1), JobId(0).into(), of_input(0, 0)];
        assert_eq!(digest(&given(study(1, trials))), "other 001,own,other 000/0");
        let why = given(study(2, vec![of_input(1, 0)])).unwrap_err().to_string();
        assert!(why.contains("names input 1") && why.contains("has 1"), "{why}");
        let why = given(study(3, vec![of_input(0, 7)])).unwrap_err().to_string();
        assert!(why.contains("trials/007: the outcome of the trial is missing"), "{why}");
    });
    fs::write(other.path().join("results.jsonl"), "{}\n{}\n").unwrap();
    let why = Host::open(place.path(), surroundings()).unwrap_err().to_string();
    assert!(why.contains("its journal has changed") && why.contains("start a new campaign"), "{why}");
    drop(other);
    let why = Host::open(place.path(), surroundings()).unwrap_err().to_string();
    assert!(why.contains("it does not exist"), "{why}");
}

#[test]
fn a_trial_has_the_hooks_that_it_asks_for() {
    let run = |hook: &str| {
        let done = support::Tool::new("run")
            .args(&format!("--hook {hook} --json"))
            .java("probe.Guards many 2")
            .exits(0);
        let campaign = done.trial().parent().and_then(Path::parent).expect("a campaign").to_owned();
        let outcome = done.outcome();
        (done, campaign, outcome["jvms"][0]["hooks"]["placed"].as_u64().expect("a number"))
    };
    let ((_entry, campaign, by_entry), (_call, other, by_call)) = (run("entry"), run("call"));
    assert_ne!(by_entry, by_call);
    // The other map comes to the campaign by its digest.
    let hooks = Prepared::read(&other).expect("it was kept").hooks();
    let bytes = fs::read(other.join("maps").join(hooks.to_string())).expect("a map");
    assert_eq!(Prepared::keep_map(&campaign, (&bytes, hooks.0)).expect("it can be kept"), hooks);
    let host = Host::open(&campaign, surroundings()).expect("all is there");
    let (_, jobs) = hypocenter_lab::Journal::jobs(&campaign.join("results.jsonl")).expect("a journal");
    let again = |id: u64, wanted: Option<HookSet>| {
        let mut job = Job { id: JobId(id), ..jobs[&JobId(0)].clone() };
        let Work::Trial { hooks, .. } = &mut job.work else { panic!("a study") };
        *hooks = wanted;
        host.trial(&job, &Unobserved)
    };
    let placed = |outcome: hypocenter_plan::Outcome| outcome.jvms[0].hooks.placed;
    assert_eq!(placed(again(1, None).expect("it can be run")), by_entry);
    assert_eq!(placed(again(2, Some(hooks)).expect("it can be run")), by_call);
    let why = again(3, Some(HookSet(7))).unwrap_err().to_string();
    assert!(why.contains("maps/0000000000000007: it does not exist"), "{why}");
    assert!(!campaign.join("trials/003").exists(), "nothing was begun");
    // A map under the name of another is not taken for it.
    fs::write(campaign.join("maps").join(HookSet(7).to_string()), &bytes).expect("it can be written");
    let why = again(3, Some(HookSet(7))).unwrap_err().to_string();
    assert!(why.contains("the file was changed"), "{why}");
}
