//! Time and memory of the search for cycles, with 1 thread and with 2: 10,000 faults, 200,000 steps, a beam of 5 million chains.
//!
//! `cargo bench -p hypocenter-cascade --bench beam`, or `cargo xtask bench beam`. Each search runs in a process of its own, so that
//! its peak of memory is its own. One input has a score of its own for each of a thousand clusters. In the other all scores are
//! the same, so that the cut has to choose among ties. Both numbers of threads must give the same bytes. The exit code is 1 if they
//! do not, or if two threads need more time or memory than the goal. Others may use the machine, so CPU seconds of both threads
//! within the goal are enough: nothing waits, so an idle machine needs no longer. `BENCH_BEAM=100000` sets another beam.

use std::fmt::Write;
use std::process::{Command, ExitCode};
use std::time::Instant;

use hypocenter_cascade::beam::{Found, Injects, Joins, Limits, Step, search};

const FAULTS: usize = 10_000;
const STEPS: usize = 200_000;
const CLUSTERS: usize = 1_000;
const GOAL_S: f64 = 60.0;
const GOAL_MB: f64 = 1_500.0;
/// Name of the input. It marks a process that is to search.
const INPUT: &str = "BENCH_INPUT";
const INPUTS: [&str; 2] = ["many scores", "equal scores"];

fn main() -> ExitCode {
    // `cargo test --benches` only wants to know that it starts.
    if std::env::args().any(|it| it == "--test") {
        return ExitCode::SUCCESS;
    }
    if let Ok(input) = std::env::var(INPUT) {
        measure(&input);
        return ExitCode::SUCCESS;
    }
    let mut passed = true;
    for input in INPUTS {
        println!("{input}:");
        let [one, two] = [1, 2].map(|threads| in_a_process(input, threads));
        let same = one.result == two.result;
        let good = same && two.seconds.min(two.cpu_s) <= GOAL_S && two.peak_mb <= GOAL_MB;
        passed &= good;
        println!("{}", two.shown);
        for (threads, run) in [(1, &one), (2, &two)] {
            let Run { seconds, cpu_s, peak_mb, .. } = run;
            println!("  threads {threads}: {seconds:.1} s, CPU {cpu_s:.1} s, peak memory {peak_mb:.0} MB");
        }
        let same = if same { "same" } else { "DIFFERENT" };
        println!("  both results: {same} bytes ({})", two.result.len());
        println!("  {} (goal with 2 threads: {GOAL_S} s, {GOAL_MB} MB)", if good { "PASS" } else { "FAIL" });
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A search in a process of its own.
struct Run {
    seconds: f64,
    cpu_s: f64,
    peak_mb: f64,
    /// Levels, for a reader.
    shown: String,
    /// The whole result.
    result: String,
}

fn in_a_process(input: &str, threads: usize) -> Run {
    eprintln!("{input}, threads: {threads}");
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .env(INPUT, input)
        .env("RAYON_NUM_THREADS", threads.to_string())
        .output()
        .expect("this program can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it prints text");
    let mut parts = text.splitn(5, '\0');
    let mut part = || parts.next().expect("it prints five parts").to_owned();
    let mut number = || part().parse().expect("it prints a number");
    let (seconds, cpu_s, peak_mb) = (number(), number(), number());
    Run { seconds, cpu_s, peak_mb, shown: part(), result: part() }
}

/// Searches, and prints the parts of a [`Run`].
fn measure(input: &str) {
    let steps = steps(input == INPUTS[1]);
    let joins = Joins::matching(&steps, |_, _| true);
    let beam = std::env::var("BENCH_BEAM").ok().and_then(|it| it.parse().ok());
    let limits = Limits { beam: beam.unwrap_or(5_000_000), ..Limits::default() };
    let (start, cpu_before_s) = (Instant::now(), cpu_s());
    let found = search(&steps, &joins, &limits).expect("the input is good");
    let seconds = start.elapsed().as_secs_f64();
    let cpu_s = cpu_s() - cpu_before_s;
    print!("{seconds}\0{cpu_s}\0{}\0{}\0{found:?}", peak_mb(), shown(&found));
}

fn shown(found: &Found) -> String {
    let mut text = format!("  {:>6} {:>12} {:>12} {:>12}\n", "length", "chains", "kept", "cycles");
    for (length, level) in (1..).zip(&found.levels) {
        let _ = writeln!(text, "  {length:>6} {:>12} {:>12} {:>12}", level.chains, level.kept, level.cycles);
    }
    let chains: u64 = found.levels.iter().map(|it| it.chains).sum();
    let _ = write!(text, "  {chains} chains in all, {} cycles reported", found.cycles.len());
    text
}

/// CPU time of all threads of this process.
fn cpu_s() -> f64 {
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux says it");
    // The name, in parentheses, may contain spaces. User and system time are the 12th and 13th field behind it.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).map(|it| it.parse::<f64>().expect("it is a number")).sum::<f64>() / TICKS_A_SECOND
}

/// Peak resident memory of this process.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says it");
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).expect("Linux says it");
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("it is a number");
    kib * 1024.0 / 1e6
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Steps between random faults. One fault in eight is a delay, and one step in twenty injects nothing.
fn steps(are_equal: bool) -> Vec<Step> {
    let mut random = Random(1);
    let scores: Vec<f32> = (0..CLUSTERS).map(|_| random.below(10_001) as f32 / 10_000.0).collect();
    let clusters: Vec<usize> = (0..FAULTS).map(|_| random.below(CLUSTERS)).collect();
    let step = |_| {
        let (cause, effect) = (random.below(FAULTS), random.below(FAULTS));
        let injects = match (random.below(20), cause % 8) {
            (0, _) => Injects::Nothing,
            (_, 0) => Injects::Delay,
            _ => Injects::Other,
        };
        let score = if are_equal { 0.5 } else { scores[clusters[cause]] };
        Step { cause: cause as u32, effect: effect as u32, injects, score }
    };
    (0..STEPS).map(step).collect()
}
