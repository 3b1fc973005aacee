//! `cargo xtask eval predict`: whether `predict` finds the crashes that are not survived, in the bundled targets and in real systems.
//!
//! Each bug of a `predict-truth.toml` must be reported and confirmed by every seed, and nothing else confirmed. In each twin its pair must be
//! left out by the rule that the twin is for, and reported again without that rule, with nothing confirmed. Random crashes of the same
//! nodes are counted beside.

mod known;
mod random;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hypocenter_results::Document;
use hypocenter_results::predicted::{Prediction, Pruned, RunCounts};

use self::known::{Known, Truth};
use super::campaign::first_on_path;
use crate::failure::{Failure, Result};
use crate::jdk::{self, Jdk};
use crate::process::{self, Job, fresh_directory, step};
use crate::targets;
use crate::tool::{Tool, ToolArgs};
use crate::{Verdict, eval, javac, maven, root, table, truth};

const TRUTH: &str = "predict-truth.toml";
/// Document of a campaign, in its directory.
const SUMMARY: &str = "summary.json";
const HEADINGS: [&str; 10] = [
    "target",
    "classes",
    "seed",
    "pairs",
    "left out",
    "reports",
    "bugs confirmed",
    "others confirmed",
    "runs",
    "seconds",
];
const LIMIT: Duration = Duration::from_secs(3600);
/// Exit codes of a campaign that is over.
const OVER: [i32; 2] = [0, 2];

/// Find the crashes that are not survived by several seeds, and none in the fixed twins
#[derive(Debug, clap::Args)]
pub struct PredictArgs {
    /// Targets or systems, by the names of their folders; by default all targets that have a predict-truth.toml
    #[arg(value_name = "TARGET")]
    names: Vec<String>,
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// Number of random crashes of each target, 0 for none
    #[arg(long, value_name = "N", default_value_t = 0)]
    random: u64,
    /// Leave out the twins
    #[arg(long)]
    no_twins: bool,
    /// Judge the campaigns that an earlier call has left, and run only those that are missing
    #[arg(long)]
    resume: bool,
    /// Number of parallel trials
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: u16,
    /// Print one JSON document on stdout, and the tables on stderr
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tool: ToolArgs,
}

/// A system with a truth.
struct Subject {
    name: String,
    config: PathBuf,
    truth: Truth,
    /// The configuration of each twin, by its folder.
    twins: Vec<(String, PathBuf)>,
}

/// A campaign.
struct Played {
    classes: String,
    seed: u64,
    prediction: Prediction,
    seconds: f64,
}

pub fn run(args: &PredictArgs) -> Result<Verdict> {
    let (tool, jdk) = (args.tool.ready()?, jdk::compiler()?);
    let (mut rows, mut lines, mut documents) = (Vec::new(), Vec::new(), serde_json::Map::new());
    let mut chances = Vec::new();
    for subject in subjects(args, &jdk)? {
        let session = Session { args, tool: &tool, jdk: &jdk, subject: &subject };
        let played = session.all()?;
        lines.extend(session.judged(&played));
        rows.extend(played.iter().map(|it| it.row(&subject)));
        let all = played.iter().map(|it| serde_json::to_value(&it.prediction).expect("it is JSON")).collect();
        documents.insert(subject.name.clone(), serde_json::Value::Array(all));
        if args.random > 0 {
            chances.push(session.by_chance(&played[0].prediction)?.row(&subject.name));
        }
    }
    let broken = lines.iter().any(|it| !it.1);
    let mut text = table::text(&HEADINGS, &rows);
    for (line, good) in &lines {
        text += &format!("{} {line}\n", if *good { "PASS" } else { "FAIL" });
    }
    if !chances.is_empty() {
        text += &format!("\n{}", table::text(&random::HEADINGS, &chances));
    }
    text += if broken { "FAIL" } else { "PASS" };
    if args.json {
        println!("{}", serde_json::Value::Object(documents));
        eprintln!("{text}");
    } else {
        println!("{text}");
    }
    Ok(Verdict::of(!broken))
}

/// What was asked for, compiled.
fn subjects(args: &PredictArgs, jdk: &Jdk) -> Result<Vec<Subject>> {
    let is_system = |name: &&String| root().join("eval").join(name).join(TRUTH).is_file();
    let (systems, names): (Vec<&String>, Vec<&String>) = args.names.iter().partition(is_system);
    let mut subjects = Vec::new();
    if !names.is_empty() || systems.is_empty() {
        let names: Vec<String> = names.into_iter().cloned().collect();
        for target in targets::chosen(&names)?.iter().filter(|it| it.directory.join(TRUTH).is_file()) {
            target.compile()?;
            let twins = target.ways()?.into_iter().map(|it| (it.clone(), target.config_of(&it))).collect();
            subjects.push(Subject::of(&target.name, &target.directory, twins)?);
        }
    }
    for name in systems {
        let lib = maven::fetch(name, "lib", None)?;
        let source = root().join("eval/zookeeper-common/src/hypocenter/eval");
        let sources = ["ZkClient.java", "ZkReader.java"].map(|it| source.join(it));
        javac::compile(jdk, &sources, &format!("{}/*", lib.display()), &lib.with_file_name("classes"))?;
        subjects.push(Subject::of(name, &root().join("eval").join(name), Vec::new())?);
    }
    Ok(subjects)
}

impl Subject {
    fn of(name: &str, directory: &Path, twins: Vec<(String, PathBuf)>) -> Result<Subject> {
        let truth: Truth = truth::read(&directory.join(TRUTH))?;
        Ok(Subject { name: name.to_owned(), config: directory.join("hypocenter.toml"), truth, twins })
    }

    fn config_of(&self, folder: &str) -> Result<&Path> {
        let twin = self.twins.iter().find(|it| it.0 == folder);
        let twin = twin.ok_or_else(|| Failure::new(format!("{}: no twin `{folder}`", self.name)))?;
        Ok(&twin.1)
    }
}

struct Session<'a> {
    args: &'a PredictArgs,
    tool: &'a Tool,
    jdk: &'a Jdk,
    subject: &'a Subject,
}

impl Session<'_> {
    /// Every campaign on a system: the buggy one by each seed first.
    fn all(&self) -> Result<Vec<Played>> {
        let mut played = Vec::new();
        for seed in 1..=self.args.seeds {
            played.push(self.play("buggy", &self.subject.config, seed, &[])?);
        }
        for twin in self.subject.truth.twins().filter(|_| !self.args.no_twins) {
            let config = self.subject.config_of(&twin.folder)?;
            played.push(self.play(&twin.folder, config, 1, &[])?);
            let without = twin.rule.replace('_', "-");
            let classes = twin.without();
            played.push(self.play(&classes, config, 1, &["--no-trigger", "--no-prune", &without])?);
        }
        Ok(played)
    }

    fn play(&self, classes: &str, config: &Path, seed: u64, flags: &[&str]) -> Result<Played> {
        let what = format!("{}, {classes}, seed {seed}", self.subject.name);
        let place = eval::out("predict").join(&self.subject.name).join(format!("{classes}-{seed}"));
        let started = Instant::now();
        // The document is written in the end: one that can be read is whole.
        let left = self.args.resume.then(|| read(&place).ok()).flatten();
        let prediction = match left {
            Some(prediction) => prediction,
            None => step(&what, || self.predict(config, seed, flags, &place))?,
        };
        Ok(Played { classes: classes.to_owned(), seed, prediction, seconds: started.elapsed().as_secs_f64() })
    }

    fn predict(&self, config: &Path, seed: u64, flags: &[&str], place: &Path) -> Result<Prediction> {
        fresh_directory(place)?;
        let mut command = Command::new(&self.tool.binary);
        command.arg("predict").args(flags).arg("--config").arg(config).arg("--out").arg(place);
        let (seed, jobs) = (seed.to_string(), self.args.jobs.to_string());
        command.args(["--campaign", "campaign", "--seed", &seed, "--jobs", &jobs, "--json"]);
        command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &self.jdk.home);
        command.env("PATH", first_on_path(&self.jdk.home.join("bin"))?);
        command.current_dir(config.parent().expect("a configuration lies in a directory"));
        let text = process::text(&command);
        let (stdout, stderr) = (place.join(SUMMARY), place.join("hypocenter.log"));
        let status = Job { command, stdout: &stdout, stderr: &stderr, limit: LIMIT }.run()?;
        if !status.code().is_some_and(|it| OVER.contains(&it)) {
            return Err(process::failure(&text, &format!("ended with {status}"), &stdout, &stderr));
        }
        read(place)
    }

    /// The judgement in lines, each with whether it is as it should be.
    fn judged(&self, played: &[Played]) -> Vec<(String, bool)> {
        let name = &self.subject.name;
        let truth = &self.subject.truth;
        let of = |classes: &str| played.iter().filter(move |it| it.classes == classes).collect::<Vec<_>>();
        let buggy = of("buggy");
        let mut lines = Vec::new();
        for bug in &truth.bug {
            let count =
                |holds: &dyn Fn(&Prediction) -> bool| buggy.iter().filter(|it| holds(&it.prediction)).count();
            let (reported, confirmed) = (count(&|it| bug.is_reported(it)), count(&|it| bug.is_confirmed(it)));
            let seeds = buggy.len();
            let line = format!(
                "{name}: {} reported by {reported} and confirmed by {confirmed} of {seeds} seeds",
                bug.shown.name
            );
            lines.push((line, reported == seeds && confirmed == seeds));
            for twin in bug.twin.iter().filter(|_| !self.args.no_twins) {
                let left_out = of(&twin.folder).iter().all(|it| bug.is_left_out(&it.prediction, &twin.rule));
                let line =
                    format!("{name}: {} left out by `{}` in {}", bug.shown.name, twin.rule, twin.folder);
                lines.push((line, left_out));
                let again = of(&twin.without()).iter().all(|it| bug.is_reported(&it.prediction));
                lines.push((format!("{name}: {} reported there without that rule", bug.shown.name), again));
            }
        }
        let others: usize = played.iter().map(|it| it.others(truth)).sum();
        lines.push((format!("{name}: {others} findings that are no bug"), others == 0));
        lines
    }

    fn by_chance(&self, prediction: &Prediction) -> Result<random::Chance> {
        let nodes: Vec<String> = prediction.nodes.iter().map(|it| it.name.clone()).collect();
        let place = eval::out("predict").join(&self.subject.name).join("random");
        let stage =
            random::Stage { tool: self.tool, jdk: self.jdk, config: &self.subject.config, place: &place };
        stage.run(self.args.random, self.args.jobs, &nodes)
    }
}

/// The document of a campaign in a directory.
fn read(place: &Path) -> Result<Prediction> {
    let document: Document<Prediction> = truth::read_json(&place.join(SUMMARY))?;
    Ok(document.detail)
}

impl Played {
    /// Number of findings that are none of the bugs: all of those in a twin.
    fn others(&self, truth: &Truth) -> usize {
        let bugs: &[Known] = if self.classes == "buggy" { &truth.bug } else { &[] };
        self.prediction.findings.iter().filter(|it| !bugs.iter().any(|bug| bug.is_found(&it.detail))).count()
    }

    fn row(&self, subject: &Subject) -> Vec<String> {
        let it = &self.prediction;
        let RunCounts { normal, crashed, triggers, .. } = it.runs;
        let confirmed = subject.truth.bug.iter().filter(|bug| bug.is_confirmed(it)).count();
        vec![
            subject.name.clone(),
            self.classes.clone(),
            self.seed.to_string(),
            it.pairs.to_string(),
            pruned(&it.pruned),
            it.reports.len().to_string(),
            format!("{confirmed} of {}", subject.truth.bug.len()),
            self.others(&subject.truth).to_string(),
            (normal + crashed + triggers).to_string(),
            format!("{:.0}", self.seconds),
        ]
    }
}

/// Pairs left out by each rule: the columns of FCatch's table 5.
fn pruned(it: &Pruned) -> String {
    let all = [it.loop_timeout, it.wait_timeout, it.control, it.reset, it.impact];
    all.map(|it| it.to_string()).join("/")
}
