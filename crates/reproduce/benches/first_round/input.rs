//! What a first round is planned from: a program, a failure log, and what normal runs gave.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::GzDecoder;
use hypocenter_logs::Log;
use hypocenter_plan::{End, FORMAT_VERSION, OracleOutcome, Outcome, Plan, Steering};
use hypocenter_program::{ClassPath, Level, Part, Program, Scope, StateOptions, Statement};
use hypocenter_reproduce::{ByThread, Case, Digest, Kinds, SearchOptions, Settings, Strategy, exceptions_in};
use serde_json::Value;

/// Where a campaign was kept.
const CAMPAIGN: &str = "HYPOCENTER_CAMPAIGN";
/// Systems of `eval/` with their packages.
const SYSTEMS: [(&str, &[&str]); 2] = [
    ("hbase-2.5.10", &["org.apache.hadoop"]),
    ("zookeeper-3.6.2", &["org.apache.zookeeper", "org.apache.jute"]),
];
/// How many lines are missing where there is no failure log.
const MISSING: usize = 75;
const NODE: &str = "node";

/// See the module.
pub struct Input {
    pub case: Arc<Case>,
    pub settings: Settings,
    /// What the normal runs gave, at least one.
    pub normal: Vec<(Outcome, Digest)>,
}

impl Input {
    /// The inputs that are there, by their names.
    pub fn names() -> Vec<String> {
        let campaign = std::env::var(CAMPAIGN).ok();
        let systems = SYSTEMS.iter().map(|it| it.0).filter(|it| lib(it).is_dir());
        campaign.into_iter().chain(systems.map(str::to_owned)).collect()
    }

    pub fn read(name: &str) -> Input {
        match SYSTEMS.iter().find(|it| it.0 == name) {
            Some((name, packages)) => Input::of_system(name, packages),
            None => Input::of_campaign(Path::new(name)),
        }
    }

    fn of_campaign(directory: &Path) -> Input {
        let request = json(&fs::read(directory.join("campaign.json")).expect("a campaign"));
        let target = &request["target"];
        let asked = &request["engine"]["settings"];
        let class_path = ClassPath::from_entries(&texts(&target["classpath"]), directory);
        let home = PathBuf::from(target["java_home"].as_str().expect("a JDK"));
        let log = |it: &Value| {
            let text = fs::read(it["path"].as_str().expect("a path")).expect("the failure log is there");
            (it["node"].as_str().expect("a node").to_owned(), Log::read(&text).expect("a log"))
        };
        let logs: Vec<(String, Log)> = asked["logs"].as_array().expect("logs").iter().map(log).collect();
        let packages = texts(&target["packages"]);
        let oracle = request["oracle"].to_string();
        let case = case(&class_path, &home, &packages, logs, move |it: &str| {
            // The texts of an oracle are whole values of it.
            oracle.split('"').any(|text| text.len() > 3 && it.contains(text))
        });
        let normal = normal(directory);
        let runs = normal.len() as u64;
        Input { settings: settings(runs, asked["delay_ms"].as_u64()), case, normal }
    }

    fn of_system(name: &str, packages: &[&str]) -> Input {
        let class_path = ClassPath::from_entries(&["*.jar".to_owned()], &lib(name));
        let packages: Vec<String> = packages.iter().map(|it| (*it).to_owned()).collect();
        let home = jdk();
        let classes = class_path.clone().with_jdk(&home).open(17);
        let program = Program::of(&classes, &Scope::of(&packages), &StateOptions::default(), |_| {});
        let failure = vec![(NODE.to_owned(), Log::read(spread(&program).as_bytes()).expect("a log"))];
        let case = Arc::new(Case::new(program, failure, |it| it.contains("the end of it")));
        let entries: u32 = case.keys().iter().map(|it| it.entries.len() as u32).sum();
        let digest = Digest {
            matched: vec![0; case.keys().len()],
            missing: (0..entries).collect(),
            recorded: Some(executed(&case, entries)),
            ..Digest::default()
        };
        Input { settings: settings(1, Some(10_000)), case, normal: vec![(outcome(), digest)] }
    }
}

fn case(
    class_path: &ClassPath,
    home: &Path,
    packages: &[String],
    logs: Vec<(String, Log)>,
    is_symptom: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> Arc<Case> {
    let scope = Scope::of(packages).knowing(exceptions_in(&logs));
    let classes = class_path.clone().with_jdk(home).open(17);
    let program = Program::of(&classes, &scope, &StateOptions::default(), |_| {});
    Arc::new(Case::new(program, logs, is_symptom))
}

/// What a campaign was told of its normal runs.
fn normal(directory: &Path) -> Vec<(Outcome, Digest)> {
    let text = fs::read_to_string(directory.join("results.jsonl")).expect("a journal");
    let entries: Vec<Value> = text.lines().map(|it| json(it.as_bytes())).collect();
    let jobs = entries.iter().filter_map(|it| it["asked"]["jobs"].as_array()).flatten();
    let ids: Vec<&Value> = jobs.filter(|it| it["purpose"] == "normal").map(|it| &it["id"]).collect();
    let told = entries.iter().map(|it| &it["told"]).filter(|it| ids.contains(&&it["id"]));
    let read = |it: &Value| {
        let outcome = serde_json::from_value(it["outcome"].clone()).expect("an outcome");
        let digest = match &it["digest"]["here"] {
            Value::Null => beside(directory, it["id"].as_u64().expect("a number")),
            here => here.clone(),
        };
        (outcome, serde_json::from_value(digest).expect("a digest"))
    };
    told.map(read).collect()
}

/// A digest that is kept beside the journal.
fn beside(directory: &Path, id: u64) -> Value {
    let file = File::open(directory.join(format!("digests/{id:03}.gz"))).expect("a digest");
    let mut text = Vec::new();
    GzDecoder::new(file).read_to_end(&mut text).expect("a digest");
    json(&text)
}

/// A log with warnings and errors that are spread over the whole program.
fn spread(program: &Program) -> String {
    let is_bad = |it: &&Statement| matches!(it.level, Level::Warn | Level::Error | Level::Fatal);
    let is_named = |it: &&Statement| it.line > 0 && it.written.line > 0;
    let all: Vec<&Statement> =
        program.statements.statements().iter().filter(is_bad).filter(is_named).collect();
    let mut text = String::new();
    for (second, it) in all.iter().step_by(all.len().div_ceil(MISSING)).enumerate() {
        let world = &program.world;
        let class = world.show_type(world.method(it.written.method).owner);
        let parts = it.templates[0].parts().iter().map(|it| match it {
            Part::Text(text) => text.replace('\n', " "),
            Part::Hole => "0x17".to_owned(),
        });
        let says: String = parts.collect();
        let simple = class.rsplit('.').next().unwrap_or_default();
        let line = it.written.line;
        text += &format!("2021-07-28 13:{:02}:{:02},000 ", second / 60, second % 60);
        text += &format!("[myid:1] - WARN  [main:{simple}@{line}] - {says}\n");
    }
    text + "2021-07-28 13:59:59,999 [myid:1] - ERROR [main:Main@1] - this is the end of it\n"
}

/// Every site once, evenly over the failure log.
fn executed(case: &Case, entries: u32) -> Vec<ByThread> {
    let sites = case.catalogue().sites().len() as u32;
    let of_site = |site: u32| {
        let positions = vec![(u64::from(site) * u64::from(entries) / u64::from(sites)) as u32];
        ByThread {
            site,
            node: NODE.to_owned(),
            thread: "main".to_owned(),
            ends: positions.clone(),
            orders: vec![site],
            positions,
            stacks: Vec::new(),
        }
    };
    (0..sites).map(of_site).collect()
}

fn settings(normal_runs: u64, delay_ms: Option<u64>) -> Settings {
    Settings {
        workload: "w".to_owned(),
        plan: Plan::default(),
        search: SearchOptions { strategy: Strategy::Full, window: 10, step: 1, seed: 0 },
        kinds: Kinds { exceptions: true, delay_ms },
        budget: u64::MAX,
        normal_runs,
        replays: 0,
        patience: u64::MAX,
        doubt: 0,
        keep_going: false,
        without: Default::default(),
        repeats: 1,
        about: Default::default(),
    }
}

fn outcome() -> Outcome {
    Outcome {
        version: FORMAT_VERSION,
        end: End::Exited { status: 0 },
        wall_ms: 1,
        disk_full: false,
        failure: Some(OracleOutcome { happened: false, why: String::new() }),
        processes: Vec::new(),
        candidates: Vec::new(),
        steering: Steering::default(),
        jvms: Vec::new(),
        problems: Vec::new(),
    }
}

fn lib(system: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval/work").join(system).join("lib")
}

/// The JDK of JAVA_HOME, or that on the PATH.
fn jdk() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let java = std::env::split_paths(&path).find_map(|it| it.join("java").canonicalize().ok());
    let home = std::env::var_os("JAVA_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let home = home.or_else(|| Some(java?.parent()?.parent()?.to_owned()));
    home.expect("a JDK is needed: set JAVA_HOME, or have java on the PATH")
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("JSON")
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten();
    all.filter_map(|it| Some(it.as_str()?.to_owned())).collect()
}
