//! `cargo xtask eval cascade`: whether `cascade` finds the cycles of the bundled targets by several seeds, reports none of their decoys and
//! none in the fixed twins, and what each of its checks is worth.
//!
//! Trials are kept by test, plan and repetition, so seeds, allocations and ablations play on what was run before and run only what is
//! missing. What was run with another tool or other classes is no part of it.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hypocenter_results::Document;
use hypocenter_results::cascaded::{Cascade, CascadeFault, CascadeKind, CascadeStep, Cycle, StepKind};
use serde::Deserialize;

use super::campaign::first_on_path;
use crate::failure::{Failure, Result};
use crate::jdk::{self, Jdk};
use crate::process::{self, Job, step};
use crate::targets::{self, Target};
use crate::tool::{Tool, ToolArgs, words};
use crate::{Verdict, root, table, truth};

const HEADINGS: [&str; 11] = [
    "target",
    "twin",
    "game",
    "seed",
    "true cycle",
    "decoys",
    "other cycles",
    "steps",
    "experiments",
    "runs (new)",
    "by chance",
];
/// The game of users.
const DEFAULT: &str = "default";
const LIMIT: Duration = Duration::from_secs(3 * 3600);
/// The most loops that may seem to grow by chance.
const FALSE_MAX: f64 = 0.02;
/// Exit codes of a campaign that is over.
const OVER: [i32; 2] = [0, 2];

/// Find the cycles of the bundled targets by several seeds, and none in their fixed twins
#[derive(Debug, clap::Args)]
pub struct CascadeArgs {
    /// Targets, by the names of their folders; by default all that have a cascade-truth.toml
    #[arg(value_name = "TARGET")]
    names: Vec<String>,
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// Give each seed runs of its own where it plays by default, in place of those of other seeds
    #[arg(long)]
    own_runs: bool,
    /// Number of parallel trials
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: u16,
    #[command(flatten)]
    tool: ToolArgs,
}

/// `cascade-truth.toml`. Keys for people are not read.
#[derive(Debug, Deserialize)]
struct Truth {
    cycle: Vec<Known>,
    #[serde(default)]
    decoy: Vec<Known>,
}

#[derive(Debug, Deserialize)]
struct Known {
    step: Vec<KnownStep>,
}

#[derive(Debug, Deserialize)]
struct KnownStep {
    test: String,
    cause: KnownFault,
    edge: StepKind,
    effect: KnownFault,
}

#[derive(Debug, Deserialize)]
struct KnownFault {
    kind: CascadeKind,
    method: String,
    #[serde(rename = "loop")]
    ordinal: Option<u32>,
    class: Option<String>,
}

impl KnownFault {
    fn is(&self, it: &CascadeFault) -> bool {
        self.kind == it.kind
            && self.method == it.method
            && (self.ordinal.is_none() || self.ordinal == it.ordinal)
            && (self.class.is_none() || self.class == it.exception)
    }
}

impl KnownStep {
    fn is(&self, it: &CascadeStep) -> bool {
        let test = it.test.as_deref().map(|it| it.split_once('@').map_or(it, |it| it.1));
        test == Some(&self.test)
            && self.edge == it.kind
            && self.cause.is(&it.cause)
            && self.effect.is(&it.effect)
    }
}

impl Known {
    /// Tests whether steps are this cycle, from whichever of them on.
    fn is(&self, steps: &[CascadeStep], is_step: impl Fn(&KnownStep, &CascadeStep) -> bool) -> bool {
        let all = steps.len();
        all == self.step.len()
            && (0..all).any(|from| {
                self.step.iter().enumerate().all(|(at, it)| is_step(it, &steps[(from + at) % all]))
            })
    }

    /// Tests whether it is reported, with its tests and the kinds of its steps.
    fn is_reported(&self, it: &Cascade) -> bool {
        rings(it).any(|steps| self.is(steps, KnownStep::is))
    }

    /// Tests whether a cycle of its faults is reported, in whichever tests.
    fn is_reported_anyhow(&self, it: &Cascade) -> bool {
        rings(it).any(|steps| self.is(steps, |known, it| known.cause.is(&it.cause)))
    }

    fn has_faults_of(&self, it: &Cycle) -> bool {
        self.is(&it.steps, |known, it| known.cause.is(&it.cause))
    }
}

/// All cycles, also those that stand behind one that is like them.
fn rings(it: &Cascade) -> impl Iterator<Item = &[CascadeStep]> {
    it.cycles.iter().chain(&it.unconfirmed).flat_map(|it| {
        std::iter::once(it.detail.steps.as_slice()).chain(it.detail.alike.iter().map(Vec::as_slice))
    })
}

/// A way to play.
struct Game {
    name: &'static str,
    args: &'static [&'static str],
    /// True if every seed plays it.
    each_seed: bool,
}

const GAMES: [Game; 9] = [
    Game { name: DEFAULT, args: &[], each_seed: true },
    Game { name: "random allocation", args: &["--set", "cascade.allocation=\"random\""], each_seed: true },
    Game { name: "budget 1.5", args: &["--budget", "1.5"], each_seed: true },
    Game {
        name: "random, budget 1.5",
        args: &["--budget", "1.5", "--set", "cascade.allocation=\"random\""],
        each_seed: true,
    },
    Game { name: "without callers", args: &["--set", "cascade.without=[\"callers\"]"], each_seed: false },
    Game { name: "without paths", args: &["--set", "cascade.without=[\"paths\"]"], each_seed: false },
    Game {
        name: "without both",
        args: &["--set", "cascade.without=[\"callers\",\"paths\"]"],
        each_seed: true,
    },
    Game { name: "one stage", args: &["--set", "cascade.one_stage=true"], each_seed: true },
    Game { name: "1 repeat", args: &["--repeats", "1"], each_seed: false },
];

/// Result of a game.
struct Played {
    game: &'static str,
    twin: &'static str,
    seed: u64,
    found: bool,
    decoys: usize,
    single: bool,
    document: Document<Cascade>,
    new_runs: usize,
}

pub fn run(args: &CascadeArgs) -> Result<Verdict> {
    let (jdk, tool) = (jdk::compiler()?, args.tool.ready()?);
    let begun = Instant::now();
    let mut all = targets::chosen(&args.names)?;
    all.retain(|it| it.directory.join("cascade-truth.toml").is_file());
    let (mut rows, mut lines, mut is_good) = (Vec::new(), Vec::new(), true);
    for target in &all {
        target.compile()?;
        let truth: Truth = truth::read(&target.directory.join("cascade-truth.toml"))?;
        let session = Session { args, tool: &tool, jdk: &jdk, target, truth: &truth };
        let played = session.all()?;
        rows.extend(played.iter().map(|it| it.row(&target.name, &truth)));
        for (line, good) in judged(&target.name, &truth, &played, args.seeds) {
            lines.push(format!("{}: {line}", if good { "PASS" } else { "FAIL" }));
            is_good &= good;
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    lines.iter().for_each(|it| println!("{it}"));
    println!("{:.0} minutes", begun.elapsed().as_secs_f64() / 60.0);
    println!("{}", if is_good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(is_good))
}

impl Played {
    fn row(&self, target: &str, truth: &Truth) -> Vec<String> {
        let it = &self.document.detail;
        let known = |cycle: &Cycle| truth.cycle.iter().chain(&truth.decoy).any(|it| it.has_faults_of(cycle));
        let others = it.cycles.iter().filter(|it| !known(&it.detail)).count();
        vec![
            target.to_owned(),
            self.twin.to_owned(),
            self.game.to_owned(),
            self.seed.to_string(),
            if self.found { "found" } else { "-" }.to_owned(),
            format!("{} of {}", self.decoys, truth.decoy.len()),
            others.to_string(),
            it.steps.len().to_string(),
            format!("{} of {}", it.experiments.made, it.experiments.budget),
            format!("{} ({})", it.runs, self.new_runs),
            format!("{} of {}", it.false_growth.part, it.false_growth.of),
        ]
    }
}

/// Conditions, in a line each, and whether they hold.
fn judged(target: &str, truth: &Truth, played: &[Played], seeds: u64) -> Vec<(String, bool)> {
    let of = |twin: &str, game: &str| -> Vec<&Played> {
        played.iter().filter(|it| (it.twin, it.game) == (twin, game)).collect()
    };
    let count = |of: &[&Played], is: &dyn Fn(&Played) -> bool| of.iter().filter(|it| is(it)).count() as u64;
    let default = of("buggy", "default");
    let found = count(&default, &|it| it.found);
    let decoys = default.iter().map(|it| it.decoys).sum::<usize>();
    let single = count(&default, &|it| it.single);
    let fixed = of("fixed", "default");
    let quiet = count(&fixed, &|it| it.document.detail.cycles.is_empty());
    let chance = |of: &[&Played]| {
        let sum = |f: &dyn Fn(&Played) -> u64| of.iter().map(|it| f(it)).sum::<u64>();
        (sum(&|it| it.document.detail.false_growth.part), sum(&|it| it.document.detail.false_growth.of))
    };
    let (part, whole) = chance(&default);
    let (part_one, whole_one) = chance(&of("buggy", "one stage"));
    let without = of("buggy", "without both");
    let all_decoys = count(&without, &|it| it.decoys == truth.decoy.len());
    let random = count(&of("buggy", "random allocation"), &|it| it.found);
    let [scarce, random_scarce] =
        ["budget 1.5", "random, budget 1.5"].map(|it| count(&of("buggy", it), &|it| it.found));
    vec![
        (format!("{target}: the true cycle in {found} of {seeds} seeds"), found == seeds),
        (format!("{target}: {decoys} decoys reported"), decoys == 0),
        (format!("{target}: no cycle in the fixed twin in {quiet} of {seeds} seeds"), quiet == seeds),
        (format!("{target}: a single fault shows the true cycle in {single} of {seeds} seeds"), single == 0),
        (
            format!(
                "{target}: without the checks of callers and paths all decoys in {all_decoys} of {seeds} seeds"
            ),
            all_decoys == seeds,
        ),
        (
            format!(
                "{target}: growth by chance {part} of {whole} loops; with one stage {part_one} of {whole_one}"
            ),
            part as f64 <= FALSE_MAX * whole as f64,
        ),
        (
            format!(
                "{target}: random allocation finds the true cycle in {random} of {seeds} seeds; with a budget of 1.5 for each fault three phases \
                 find it in {scarce} of {seeds}, random allocation in {random_scarce} of {seeds}"
            ),
            true,
        ),
    ]
}

struct Session<'a> {
    args: &'a CascadeArgs,
    tool: &'a Tool,
    jdk: &'a Jdk,
    target: &'a Target,
    truth: &'a Truth,
}

impl Session<'_> {
    fn all(&self) -> Result<Vec<Played>> {
        let mut played = Vec::new();
        for (twin, config) in [("buggy", "hypocenter.toml"), ("fixed", "fixed.toml")] {
            let store = self.store(twin)?;
            for game in GAMES.iter().filter(|it| twin == "buggy" || it.name == DEFAULT) {
                for seed in 1..=if game.each_seed { self.args.seeds } else { 1 } {
                    played.push(self.play(twin, config, &store, game, seed)?);
                }
            }
        }
        Ok(played)
    }

    /// Place of the trials of a twin, by what they were run with.
    fn store(&self, twin: &str) -> Result<PathBuf> {
        let mut hash = DefaultHasher::new();
        fs::read(&self.tool.binary).map_err(Failure::file(&self.tool.binary))?.hash(&mut hash);
        let classes = if twin == "buggy" { "classes" } else { twin };
        let stamp = self.target.directory.join("build").join(classes).with_extension("stamp");
        fs::read(&stamp).map_err(Failure::file(&stamp))?.hash(&mut hash);
        let name = format!("{}-{twin}-{:016x}", self.target.name, hash.finish());
        let store = root().join("eval/work/cascade").join(name);
        fs::create_dir_all(&store).map_err(Failure::file(&store))?;
        Ok(store)
    }

    fn play(&self, twin: &'static str, config: &str, store: &Path, game: &Game, seed: u64) -> Result<Played> {
        let own = if self.args.own_runs && game.name == DEFAULT { "own-" } else { "" };
        let name = format!("{own}{}-{seed}", game.name.replace([' ', ','], "-"));
        let directory = store.join(&name);
        if !directory.join("summary.json").is_file() {
            let what = format!("{} {twin}, {}, seed {seed}", self.target.name, game.name);
            step(&what, || self.run(config, store, &name, game, seed))?;
        }
        let summary = directory.join("summary.json");
        let bytes = fs::read(&summary).map_err(Failure::file(&summary))?;
        let document: Document<Cascade> = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::new(format!("{}: {error}", summary.display())))?;
        let it = &document.detail;
        let trials = fs::read_dir(directory.join("trials")).map_or(0, |it| it.flatten().count());
        Ok(Played {
            game: game.name,
            twin,
            seed,
            found: self.truth.cycle.iter().all(|known| known.is_reported(it)),
            decoys: self.truth.decoy.iter().filter(|known| known.is_reported_anyhow(it)).count(),
            single: self.truth.cycle.iter().any(|known| {
                let in_one = |it: &Cycle| it.in_one_test && known.has_faults_of(it);
                it.cycles.iter().any(|it| in_one(&it.detail))
            }),
            new_runs: trials,
            document,
        })
    }

    fn run(&self, config: &str, store: &Path, name: &str, game: &Game, seed: u64) -> Result<()> {
        // What was cut off is no use to others.
        let directory = store.join(name);
        if directory.is_dir() {
            fs::remove_dir_all(&directory).map_err(Failure::file(&directory))?;
        }
        let mut command = Command::new(&self.tool.binary);
        command.arg("cascade").args(words(game.args.iter().copied()));
        command.arg("--config").arg(self.target.directory.join(config)).arg("--out").arg(store);
        let (seed, jobs) = (seed.to_string(), self.args.jobs.to_string());
        command.args(["--campaign", name, "--seed", &seed, "--jobs", &jobs]);
        let has_own = self.args.own_runs && game.name == DEFAULT;
        for campaign in if has_own { Vec::new() } else { recorded(store)? } {
            command.arg("--recorded").arg(campaign);
        }
        command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &self.jdk.home);
        command.env("PATH", first_on_path(&self.jdk.home.join("bin"))?);
        command.current_dir(&self.target.directory);
        let text = process::text(&command);
        let (stdout, stderr) = (store.join(format!("{name}.out")), store.join(format!("{name}.log")));
        let status = Job { command, stdout: &stdout, stderr: &stderr, limit: LIMIT }.run()?;
        match status.code() {
            Some(code) if OVER.contains(&code) => Ok(()),
            _ => Err(process::failure(&text, &format!("ended with {status}"), &stdout, &stderr)),
        }
    }
}

/// The campaigns whose trials are there, by their names.
fn recorded(store: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(store).map_err(Failure::file(store))?.flatten();
    let is_over = |it: &fs::DirEntry| it.file_name() != "latest" && it.path().join("summary.json").is_file();
    let mut names: Vec<OsString> = entries.filter(is_over).map(|it| it.file_name()).collect();
    names.sort();
    Ok(names)
}
