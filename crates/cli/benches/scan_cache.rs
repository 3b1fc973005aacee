//! Speed-up of the second scan of an unchanged target.
//!
//! `cargo bench -p hypocenter --bench scan_cache [-- NAME...]` takes each system of `eval/` that has a `pom.xml` and a `hypocenter.toml`
//! and was fetched (`cargo xtask fetch`). A round is a scan with an empty cache and then some more with the cache it has
//! left, for each question; rounds of all systems take turns. Times are CPU seconds of the whole command, reading its
//! own program, opening the target and printing included. It asserts nothing about time. `BENCH_ROUNDS=5` is how many
//! rounds there are.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Minimum speed-up of the second scan.
const GOAL: f64 = 5.0;
/// Requested output: the summary, and the longest list.
const QUESTIONS: [&str; 3] = ["", "--json", "--sites"];
/// Second scans are so short that the kernel's count of CPU time needs several.
const SECONDS: u32 = 10;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` only wants to know that it starts.
    if args.iter().any(|it| it == "--test") {
        return;
    }
    let names: Vec<&String> = args.iter().filter(|it| !it.starts_with("--")).collect();
    let eval = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval");
    let mut systems: Vec<String> = std::fs::read_dir(&eval)
        .expect("eval is in the checkout")
        .flatten()
        .filter(|it| ["pom.xml", "hypocenter.toml"].iter().all(|file| it.path().join(file).is_file()))
        .filter_map(|it| it.file_name().into_string().ok())
        .filter(|it| names.is_empty() || names.contains(&it))
        .collect();
    systems.sort();
    let (systems, missing): (Vec<String>, Vec<String>) =
        systems.into_iter().partition(|it| eval.join("work").join(it).join("lib").is_dir());
    missing.iter().for_each(|it| println!("{it} is not there: cargo xtask fetch {it}"));
    let rounds: usize = std::env::var("BENCH_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(5).max(1);
    let mut rows: Vec<Row> = systems
        .iter()
        .flat_map(|system| QUESTIONS.map(|question| Row { system, question, pairs: Vec::new() }))
        .collect();
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for row in &mut rows {
            let pair = pair(&eval.join(row.system).join("hypocenter.toml"), row.question);
            row.pairs.push(pair);
        }
    }
    println!(
        "{:<18} {:<8} {:>9} {:>9} {:>9} {:>9} {:>22}  verdict",
        "system", "asked", "first", "second", "wall 1st", "wall 2nd", "first / second"
    );
    rows.iter().for_each(|it| println!("{}", it.text()));
    println!("CPU and wall seconds, {rounds} rounds; median [least .. most]; the goal is {GOAL} times");
}

/// A scan by CPU and by the wall.
#[derive(Clone, Copy)]
struct Cost {
    cpu: f64,
    wall: f64,
}

struct Row<'a> {
    system: &'a str,
    question: &'static str,
    pairs: Vec<(Cost, Cost)>,
}

impl Row<'_> {
    fn text(&self) -> String {
        let sorted = |figure: fn(&(Cost, Cost)) -> f64| {
            let mut figures: Vec<f64> = self.pairs.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures
        };
        let median = |figure: fn(&(Cost, Cost)) -> f64| sorted(figure)[self.pairs.len() / 2];
        let ratio = |it: &(Cost, Cost)| it.0.cpu / it.1.cpu;
        let ratios = sorted(ratio);
        let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
        format!(
            "{:<18} {:<8} {:>9.3} {:>9.4} {:>9.3} {:>9.4} {:>22}  {}",
            self.system,
            if self.question.is_empty() { "summary" } else { self.question },
            median(|it| it.0.cpu),
            median(|it| it.1.cpu),
            median(|it| it.0.wall),
            median(|it| it.1.wall),
            format!("{:.1} [{least:.1} .. {most:.1}]", median(ratio)),
            if median(ratio) >= GOAL { "met" } else { "OPEN" }
        )
    }
}

/// The first scan with an empty cache, and the mean of some that follow.
fn pair(config: &Path, question: &str) -> (Cost, Cost) {
    let cache = tempfile::TempDir::new().expect("a temporary directory can be made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hypocenter"));
    command.arg("scan").arg("--config").arg(config).args(question.split_whitespace());
    command.env("XDG_CACHE_HOME", cache.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut scan = |times: u32| {
        let (cpu, begin) = (cpu_of_children(), Instant::now());
        for _ in 0..times {
            assert!(command.status().expect("the tool can be run").success(), "{}", config.display());
        }
        let times = f64::from(times);
        Cost { cpu: (cpu_of_children() - cpu) / times, wall: begin.elapsed().as_secs_f64() / times }
    };
    (scan(1), scan(SECONDS))
}

/// CPU time of all processes that this one has started and waited for, in seconds: to a hundredth, as the
/// kernel tells it.
fn cpu_of_children() -> f64 {
    let stat = std::fs::read_to_string(PathBuf::from("/proc/self/stat")).expect("Linux has /proc");
    let behind_name = stat.rsplit_once(") ").expect("a name in brackets").1;
    let fields: Vec<&str> = behind_name.split(' ').collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("a number of ticks");
    // Fields 16 and 17 of the whole line, of which the first two are gone.
    (ticks(13) + ticks(14)) / 100.0
}
