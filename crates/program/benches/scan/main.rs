//! Speed of scanning the class paths of whole systems, compared with inflating them.
//!
//! `cargo bench -p hypocenter-program --bench scan [-- NAME...]` takes each system of `eval/` that has a
//! `hypocenter.toml` and was fetched (`cargo xtask fetch`). Each measurement is a process of its own, so that its peak
//! of memory is its own; all systems and measurements take turns, so that a disturbance of the machine meets all of
//! them. Each time is given by the wall and by the CPU, because others may use the machine. It asserts nothing about
//! time. From the environment:
//!
//! - `BENCH_ROUNDS=7` how many rounds;
//! - `RAYON_NUM_THREADS` how many threads, by default one a core.
//!
//! `inflate` opens the jars and reads every byte of every class on the class path: no scan that reads all of them is
//! faster. `scan` opens them too, with the classes of a JDK behind them (that of JAVA_HOME or on the PATH), and then does
//! [`work::scan`]: what `hypocenter scan --no-cache` does. `aside` are figures of parts of the library that do not count
//! for `scan`. Last come the [`goals`], each met or open.

mod child;
mod goals;
mod sample;
mod system;
mod table;
mod work;

use std::time::Instant;

use child::{Measured, Measurement};
use sample::Sample;
use system::System;
use table::{Table, thousands};

/// Work of each round for each system, every second round backwards.
const TURNS: [Measurement; 3] = [Measurement::Inflate, Measurement::Scan, Measurement::Aside];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` only wants to know that it starts.
    if args.iter().any(|it| it == "--test") {
        return;
    }
    if let [flag, measurement, name] = &args[..]
        && flag == child::FLAG
    {
        return child::run(measurement, name);
    }
    let started = Instant::now();
    let names: Vec<&String> = args.iter().filter(|it| !it.starts_with("--")).collect();
    let (fetched, missing): (Vec<System>, Vec<System>) = system::all()
        .into_iter()
        .filter(|it| names.is_empty() || names.contains(&&it.name))
        .partition(System::is_fetched);
    for system in &missing {
        println!("{0} is not there: cargo xtask fetch {0}", system.name);
    }
    if fetched.is_empty() {
        println!("nothing to measure");
        return;
    }
    let rounds = rounds();
    let results = measure(&fetched, rounds);
    println!("{}", sizes(&results));
    println!("{}", times(&results, "wall", Measured::total));
    println!("{}", times(&results, "CPU", Measured::cpu));
    println!("{}", memory(&results));
    println!("{}", phases(&results));
    println!("{}", goals::table(&results));
    let threads = rayon::current_num_threads();
    println!(
        "{rounds} rounds, {threads} threads, {:.0} s; median [least .. most]",
        started.elapsed().as_secs_f64()
    );
}

fn rounds() -> usize {
    match std::env::var("BENCH_ROUNDS") {
        Ok(text) => text.parse().ok().filter(|it| *it > 0).unwrap_or_else(|| {
            panic!("BENCH_ROUNDS={text} is not a number of rounds");
        }),
        Err(_) => 7,
    }
}

/// All that was measured of a system.
struct Results {
    name: String,
    sizes: Measured,
    inflate: Vec<Measured>,
    scan: Vec<Measured>,
    aside: Vec<Measured>,
}

impl Results {
    fn of(&mut self, measurement: Measurement) -> &mut Vec<Measured> {
        match measurement {
            Measurement::Inflate => &mut self.inflate,
            Measurement::Scan => &mut self.scan,
            _ => &mut self.aside,
        }
    }

    fn instructions(&self) -> f64 {
        self.sizes.count("instructions").max(1) as f64
    }

    /// Nanoseconds for each instruction of the system, by seconds of a scan.
    fn per_instruction(&self, seconds: impl Fn(&Measured) -> f64) -> Sample {
        Sample::of(self.scan.iter().map(|it| seconds(it) * 1e9 / self.instructions()))
    }
}

fn measure(systems: &[System], rounds: usize) -> Vec<Results> {
    // Counting reads all jars, so the rounds find them in the kernel's cache.
    let mut results: Vec<Results> = systems
        .iter()
        .map(|system| Results {
            name: system.name.clone(),
            sizes: Measurement::Sizes.of(&system.name),
            inflate: Vec::new(),
            scan: Vec::new(),
            aside: Vec::new(),
        })
        .collect();
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for result in &mut results {
            let mut turns = TURNS;
            if round % 2 == 1 {
                turns.reverse();
            }
            for measurement in turns {
                let measured = measurement.of(&result.name);
                result.of(measurement).push(measured);
            }
        }
    }
    results
}

fn sizes(results: &[Results]) -> Table {
    let mut table = Table::new(&[
        "system",
        "jars",
        "MB",
        "classes",
        "MB inflated",
        "system's own",
        "methods",
        "instructions",
        "problems",
    ]);
    for result in results {
        let count = |name| thousands(result.sizes.count(name));
        let mb = |name| format!("{:.1}", result.sizes.count(name) as f64 / 1e6);
        table.row(vec![
            result.name.clone(),
            count("jars"),
            mb("jar-bytes"),
            count("classes"),
            mb("class-bytes"),
            count("own-classes"),
            count("methods"),
            count("instructions"),
            count("problems"),
        ]);
    }
    table
}

/// Both measurements beside each other, by one of the two clocks.
fn times(results: &[Results], clock: &str, seconds: fn(&Measured) -> f64) -> Table {
    let headings =
        ["inflate s", "scan s", "scan / inflate", "ns/instruction"].map(|it| format!("{clock}: {it}"));
    let mut table = Table::new(&["system", &headings[0], &headings[1], &headings[2], &headings[3]]);
    for result in results {
        let pairs = result.scan.iter().zip(&result.inflate);
        table.row(vec![
            result.name.clone(),
            Sample::of(result.inflate.iter().map(seconds)).text(3),
            Sample::of(result.scan.iter().map(seconds)).text(3),
            Sample::of(pairs.map(|(scan, inflate)| seconds(scan) / seconds(inflate))).text(2),
            result.per_instruction(seconds).text(1),
        ]);
    }
    table
}

fn memory(results: &[Results]) -> Table {
    let mut table = Table::new(&["system", "peak MB of inflate", "peak MB of scan"]);
    for result in results {
        let peak = |of: &[Measured]| Sample::of(of.iter().map(Measured::peak_mb)).text(0);
        table.row(vec![result.name.clone(), peak(&result.inflate), peak(&result.scan)]);
    }
    table
}

/// Each phase of each measurement. Those of `scan` add up to its time.
fn phases(results: &[Results]) -> Table {
    let mut table = Table::new(&["system", "of", "phase", "s"]);
    for result in results {
        for (of, measured) in [("inflate", &result.inflate), ("scan", &result.scan), ("aside", &result.aside)]
        {
            for (at, (phase, _)) in measured[0].phases.iter().enumerate() {
                let seconds = Sample::of(measured.iter().map(|it| it.phases[at].1));
                table.row(vec![result.name.clone(), of.to_owned(), phase.clone(), seconds.text(3)]);
            }
        }
    }
    table
}
