//! A campaign of `targets/balancer`, recorded and played again.
//!
//! `testdata/balancer.jsonl.gz` has what the engine reads of it. To make it anew, run `hypocenter cascade --seed 1` in a compiled
//! `targets/balancer`, and then, with the absolute path of its campaign:
//!
//! ```sh
//! RECORDED=.../hypocenter-out/cascade-0001 cargo test -p hypocenter-cascade --lib -- --ignored record_balancer
//! ```

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hypocenter_program::{ClassPath, Program, Scope, StateOptions};
use serde_json::Value;

use super::*;

/// The Java release of the target.
const JAVA: u16 = 17;

/// First line of the file.
#[derive(Serialize, Deserialize)]
struct Head {
    settings: CascadeSettings,
    model: Model,
    /// Report of the tool.
    reported: Reported,
}

/// Results, as far as the order in which trials end decides nothing of it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Reported {
    /// For each cycle the causes, kinds and tests of its steps, with the counts of both sides and whether a last run showed it again.
    cycles: Vec<Vec<Step>>,
    /// Those of all steps.
    steps: Vec<Step>,
    made: u64,
    void: u64,
    runs: u64,
    false_growth: (u64, u64),
    left_out: usize,
}

type Step = (String, StepKind, Option<String>, String, Vec<u64>, Vec<u64>, Option<bool>);

impl Reported {
    fn of(it: &Results) -> Reported {
        let step = |it: &CascadeStep| {
            let (with, without) = (it.with.clone(), it.without.clone());
            (
                it.cause.to_string(),
                it.kind,
                it.test.clone(),
                it.effect.to_string(),
                with,
                without,
                it.shown_again,
            )
        };
        Reported {
            cycles: it.cycles.iter().map(|it| it.detail.steps.iter().map(step).collect()).collect(),
            steps: it.steps.iter().map(step).collect(),
            made: it.experiments.made,
            void: it.experiments.void,
            runs: it.runs,
            false_growth: (it.false_growth.part, it.false_growth.of),
            left_out: it.tests.iter().filter(|it| it.left_out.is_some()).count(),
        }
    }
}

/// A further line: all runs of a test with the same faults, in the order in which they were asked for.
#[derive(Serialize, Deserialize)]
struct Line {
    test: String,
    candidates: Vec<Candidate>,
    runs: Vec<Recorded>,
}

/// Parts of a run that the engine reads.
#[derive(Debug, Serialize, Deserialize)]
struct Recorded {
    end: End,
    ms: u64,
    /// Of each candidate, where they are only counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hits: Vec<u64>,
    /// Which candidate was injected, how often, and the nearest frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    injected: Option<(usize, u64, Vec<String>)>,
    digest: RunDigest,
}

/// Runs by test and faults.
type Runs = BTreeMap<String, VecDeque<Recorded>>;

fn key(test: &str, candidates: &[Candidate]) -> String {
    serde_json::to_string(&(test, candidates)).expect("a plan is always JSON")
}

fn is_counting(plan: &[Candidate]) -> bool {
    plan.iter().any(|it| it.when.occurrence == Some(u64::MAX))
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/balancer.jsonl.gz")
}

fn read() -> (Head, Runs) {
    let mut text = String::new();
    let file = File::open(path()).expect("the recorded campaign is in the checkout");
    GzDecoder::new(file).read_to_string(&mut text).expect("it is compressed");
    let (head, lines) = text.split_once('\n').expect("it has a first line");
    let head = serde_json::from_str(head).expect("settings and faults that this engine knows");
    let line = |it: &str| -> Line { serde_json::from_str(it).expect("runs that this engine knows") };
    let runs = lines.lines().map(line).map(|it| (key(&it.test, &it.candidates), it.runs.into()));
    (head, runs.collect())
}

impl Recorded {
    fn of(outcome: &Outcome, digest: RunDigest, candidates: &[Candidate]) -> Recorded {
        let injected = outcome.candidates.iter().enumerate().find_map(|(at, it)| match &it.result {
            CandidateResult::Injected(it) => {
                let frames = it.stack.iter().take(1 + crate::model::CALLERS);
                Some((at, it.times, frames.map(|it| it.method.clone()).collect()))
            }
            _ => None,
        });
        let hits = outcome.candidates.iter().map(|it| it.hits).filter(|_| is_counting(candidates));
        Recorded { end: outcome.end, ms: outcome.wall_ms, hits: hits.collect(), injected, digest }
    }

    fn outcome(&self, plan: &Plan) -> Outcome {
        let mut outcome = super::outcome(plan, false, self.end);
        outcome.wall_ms = self.ms;
        for (it, hits) in outcome.candidates.iter_mut().zip(&self.hits) {
            it.hits = *hits;
        }
        if let Some((at, times, frames)) = &self.injected {
            let mut all = super::outcome(plan, true, self.end).candidates;
            let mut injected = all.swap_remove(*at);
            if let CandidateResult::Injected(it) = &mut injected.result {
                it.times = *times;
                it.stack = frames.iter().map(|it| Frame { method: it.clone(), at: None }).collect();
            }
            outcome.candidates[*at] = injected;
        }
        outcome
    }
}

/// Plays the recorded campaign with other settings. Gives what was reported then, the results, and the number of runs that were not
/// asked for.
fn played(
    change: impl FnOnce(&mut CascadeSettings),
    workers: usize,
    order: u64,
) -> (Reported, Results, usize) {
    let (Head { mut settings, model, reported }, mut runs) = read();
    change(&mut settings);
    let mut carry_out = |job: &Job| {
        let Work::Trial { workload, plan, .. } = &job.work else { panic!("{job:?}") };
        let run = runs.get_mut(&key(workload, &plan.candidates)).and_then(VecDeque::pop_front);
        let run = run.unwrap_or_else(|| panic!("no run is recorded, make the file anew: {job:#?}"));
        (run.outcome(plan), run.digest)
    };
    let mut engine = Cascade::new(Arc::new(model), settings);
    let results = play(&mut engine, &mut carry_out, workers, order).results;
    (reported, results, runs.values().map(VecDeque::len).sum())
}

#[test]
fn a_recorded_campaign_gives_the_same_cycles_in_any_order() {
    for (workers, order) in [(2, 0), (5, 1)] {
        let (reported, found, left) = played(|_| (), workers, order);
        assert!(!found.cycles.is_empty());
        assert_eq!(Reported::of(&found), reported, "{workers} workers, order {order}");
        assert_eq!(left, 0, "each recorded run is asked for");
    }
}

#[test]
fn a_recorded_campaign_without_checks_gives_the_decoy_of_each() {
    // The last runs of other cycles are not recorded.
    let tests = |fit: Fit| -> BTreeSet<String> {
        let change = |it: &mut CascadeSettings| (it.fit, it.runs_again) = (fit, false);
        let (_, found, _) = played(change, 2, 0);
        let details = found.unconfirmed.iter().map(|it| &it.detail);
        let steps = details.flat_map(|it| it.steps.iter().chain(it.alike.iter().flatten()));
        steps.filter_map(|it| it.test.clone()).collect()
    };
    let (of_callers, of_ways) = (
        "test@balancer.DropTablesTest#regionsOfDroppedTablesAreClosed",
        "test@balancer.CatalogTest#everyRowIsWritten",
    );
    for (callers, ways) in [(true, true), (false, true), (true, false), (false, false)] {
        let tests = tests(Fit { callers, ways });
        assert_eq!(tests.contains(of_callers), !callers, "callers {callers}, ways {ways}: {tests:?}");
        assert_eq!(tests.contains(of_ways), !ways, "callers {callers}, ways {ways}: {tests:?}");
    }
}

#[test]
#[ignore = "makes testdata/balancer.jsonl.gz from a campaign; see the module"]
fn record_balancer() {
    let campaign = PathBuf::from(std::env::var_os("RECORDED").expect("RECORDED is the path of a campaign"));
    let json = |name: &str| -> Value {
        let text = fs::read_to_string(campaign.join(name)).expect("a file of the campaign");
        serde_json::from_str(&text).expect("JSON")
    };
    let (request, summary) = (json("campaign.json"), json("summary.json"));
    let strings = |of: &Value| -> Vec<String> { serde_json::from_value(of.clone()).expect("strings") };
    let target = &request["target"];
    let class_path =
        ClassPath::from_paths(strings(&target["classpath"]).into_iter().map(PathBuf::from).collect());
    let home = target["java_home"].as_str().expect("the JDK of the campaign");
    let classes = class_path.with_jdk(Path::new(home)).open(JAVA);
    let scope = Scope::of(&strings(&target["packages"]));
    let program = Program::of(&classes, &scope, &StateOptions::default(), |_| ());
    let results: Results = serde_json::from_value(summary).expect("results");
    let head = Head {
        settings: serde_json::from_value(request["engine"]["settings"].clone()).expect("settings"),
        model: Model::of(&program),
        reported: Reported::of(&results),
    };
    let mut lines: Vec<Line> = Vec::new();
    let (mut places, mut told) = (BTreeMap::new(), BTreeMap::new());
    let journal = File::open(campaign.join("results.jsonl")).expect("a journal");
    for line in BufReader::new(journal).lines().skip(1) {
        let entry: Value = serde_json::from_str(&line.expect("text")).expect("JSON");
        for job in entry["asked"]["jobs"].as_array().into_iter().flatten() {
            let job: Job = serde_json::from_value(job.clone()).expect("a job");
            let Work::Trial { workload: test, plan: Plan { candidates, .. }, .. } = job.work else {
                continue;
            };
            let at = lines.iter().position(|it| it.test == test && it.candidates == candidates);
            let at = at.unwrap_or(lines.len());
            if at == lines.len() {
                lines.push(Line { test, candidates, runs: Vec::new() });
            }
            places.insert(job.id, at);
        }
        if let Some(it) = entry.get("told") {
            let id: JobId = serde_json::from_value(it["id"].clone()).expect("a number");
            let outcome: Outcome = serde_json::from_value(it["outcome"].clone()).expect("an outcome");
            let digest: RunDigest =
                serde_json::from_value(it["digest"]["here"].clone()).expect("a digest in the journal");
            told.insert(id, Recorded::of(&outcome, digest, &lines[places[&id]].candidates));
        }
    }
    told.into_iter().for_each(|(id, it)| lines[places[&id]].runs.push(it));
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    writeln!(out, "{}", serde_json::to_string(&head).expect("JSON")).expect("memory");
    for line in &lines {
        writeln!(out, "{}", serde_json::to_string(line).expect("JSON")).expect("memory");
    }
    fs::write(path(), out.finish().expect("memory")).expect("testdata can be written");
}
