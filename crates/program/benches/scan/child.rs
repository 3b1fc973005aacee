//! A measurement in a process of its own: this program, started with [`FLAG`]. It answers on its standard output, a line
//! for each figure.

use std::process::{Command, Stdio};

use crate::system::System;
use crate::work;

/// Tells a child from the bench; what it measures and the name of the system follow.
pub const FLAG: &str = "--child";

/// Abilities of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measurement {
    /// Nothing in time: how much there is.
    Sizes,
    Inflate,
    Scan,
    Aside,
}

/// Output of a child.
#[derive(Debug, Default)]
pub struct Measured {
    /// In the order in which they were carried out, in seconds.
    pub phases: Vec<(String, f64)>,
    counts: Vec<(String, u64)>,
}

impl Measurement {
    const ALL: [(Measurement, &str); 4] = [
        (Measurement::Sizes, "sizes"),
        (Measurement::Inflate, "inflate"),
        (Measurement::Scan, "scan"),
        (Measurement::Aside, "aside"),
    ];

    /// Measures a system, in a process of its own.
    pub fn of(self, system: &str) -> Measured {
        let (_, word) = Self::ALL.iter().find(|it| it.0 == self).expect("all are listed");
        let program = std::env::current_exe().expect("this program has a file");
        let mut command = Command::new(program);
        let output = command.args([FLAG, word, system]).stderr(Stdio::inherit()).output().expect("it starts");
        assert!(output.status.success(), "measuring {word} of {system} ended with {}", output.status);
        Measured::parse(&String::from_utf8_lossy(&output.stdout))
    }
}

impl Measured {
    fn parse(text: &str) -> Measured {
        let mut measured = Measured::default();
        for line in text.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["phase", name, seconds] => {
                    measured.phases.push((name.to_owned(), seconds.parse().expect("seconds")))
                }
                ["count", name, number] => {
                    measured.counts.push((name.to_owned(), number.parse().expect("a number")))
                }
                _ => panic!("a child said {line:?}"),
            }
        }
        measured
    }

    /// A count of that name, which the child has told.
    pub fn count(&self, name: &str) -> u64 {
        let found = self.counts.iter().find(|it| it.0 == name);
        found.unwrap_or_else(|| panic!("no child has told {name}")).1
    }

    /// Seconds of all phases.
    pub fn total(&self) -> f64 {
        self.phases.iter().map(|it| it.1).sum()
    }

    /// Seconds of all its threads on a CPU, from its start on.
    pub fn cpu(&self) -> f64 {
        self.count("cpu-ns") as f64 / 1e9
    }

    /// The most memory that the process had.
    pub fn peak_mb(&self) -> f64 {
        self.count("peak-kb") as f64 * 1024.0 / 1e6
    }
}

/// The child's side.
pub fn run(measurement: &str, name: &str) {
    let system = System::read(name);
    let mut counts = Vec::new();
    let phases = match Measurement::ALL.iter().find(|it| it.1 == measurement).map(|it| it.0) {
        Some(Measurement::Sizes) => {
            counts = work::sizes(&system);
            Vec::new()
        }
        Some(Measurement::Inflate) => work::inflate(&system),
        Some(Measurement::Scan) => opened(&system, System::open_with_jdk, work::scan),
        Some(Measurement::Aside) => opened(&system, System::open, work::aside),
        None => panic!("there is no measurement {measurement}"),
    };
    counts.extend([("peak-kb", peak_kb()), ("cpu-ns", cpu_ns())]);
    phases.iter().for_each(|(name, seconds)| println!("phase\t{name}\t{seconds:.6}"));
    counts.iter().for_each(|(name, number)| println!("count\t{name}\t{number}"));
}

/// Some work on the opened class path, with the opening as its first phase.
fn opened(
    system: &System,
    open: fn(&System) -> hypocenter_program::Classes,
    work: fn(&hypocenter_program::Classes, &[String]) -> Vec<work::Phase>,
) -> Vec<work::Phase> {
    let (seconds, classes) = work::timed(|| open(system));
    let mut phases = vec![(work::OPEN, seconds)];
    phases.extend(work(&classes, &system.packages));
    phases
}

/// The most memory that this process has had so far, as the kernel counts it; 0 where it does not.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// CPU time of all threads of this process, including ended ones.
fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
