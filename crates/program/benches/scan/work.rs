//! Measured program.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use hypocenter_classfile::ClassFile;
use hypocenter_plan::{Plan, SiteKind, Watch, WatchLevel};
use hypocenter_program::{Classes, KindSet, Program, Scope, StateOptions, build_map, sites_of_method};

use crate::system::{System, is_own};

/// A phase and its seconds.
pub type Phase = (&'static str, f64);

/// The phase in which the jars are read and their entries indexed.
pub const OPEN: &str = "open";

/// The seconds that some work took, and its result.
pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// The scan that is measured, on all threads: every phase that `hypocenter scan` has.
pub fn scan(classes: &Classes, packages: &[String]) -> Vec<Phase> {
    let mut phases = Vec::new();
    let mut start = Instant::now();
    let program = Program::of(classes, &Scope::of(packages), &StateOptions::default(), |phase| {
        phases.push((phase.name(), start.elapsed().as_secs_f64()));
        start = Instant::now();
    });
    black_box(program.faults.sites().len());
    phases
}

/// Other figures of the same classes, which do not count for the scan.
pub fn aside(classes: &Classes, packages: &[String]) -> Vec<Phase> {
    let calls = sites(classes, packages, KindSet::of(&[SiteKind::Call]));
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    let single = one.install(|| sites(classes, packages, KindSet::ALL));
    let all = sites(classes, packages, KindSet::ALL);
    vec![
        ("sites, all kinds", all),
        ("sites, calls only", calls),
        ("sites, one thread", single),
        ("map", map(classes, packages)),
    ]
}

fn sites(classes: &Classes, packages: &[String], kinds: KindSet) -> f64 {
    let found = AtomicU64::new(0);
    let (seconds, _) = timed(|| {
        classes.for_each(
            |name| is_own(packages, name),
            |_, bytes| {
                let Ok(class) = ClassFile::parse(bytes) else { return };
                for method in class.methods() {
                    let Ok(sites) = sites_of_method(&class, method, kinds) else { continue };
                    found.fetch_add(sites.sites.len() as u64, Relaxed);
                }
            },
        )
    });
    black_box(found.into_inner());
    seconds
}

/// The instrumentation map with every site counted.
fn map(classes: &Classes, packages: &[String]) -> f64 {
    let patterns = packages.iter().flat_map(|it| [it.clone(), format!("{it}.*"), format!("{it}$*")]);
    let mut plan = Plan::default();
    plan.record.watch.push(Watch {
        kinds: SiteKind::ALL.to_vec(),
        classes: patterns.collect(),
        methods: Vec::new(),
        level: WatchLevel::Count,
    });
    let (seconds, built) = timed(|| build_map(classes, &plan).expect("a plan without candidates"));
    black_box(built);
    seconds
}

/// Opens the class path and reads every byte of every class once, on all threads.
pub fn inflate(system: &System) -> Vec<Phase> {
    let (open, classes) = timed(|| system.open());
    let sum = AtomicU64::new(0);
    let (read, _) = timed(|| {
        classes.for_each(
            |_| true,
            |_, bytes| {
                let of_class = bytes.iter().fold(0u64, |sum, byte| sum.wrapping_add(u64::from(*byte)));
                sum.fetch_add(of_class, Relaxed);
            },
        )
    });
    black_box(sum.into_inner());
    vec![(OPEN, open), ("read", read)]
}

/// Amount.
pub fn sizes(system: &System) -> Vec<(&'static str, u64)> {
    let entries = system.class_path.entries();
    let jar_bytes = entries.iter().filter_map(|it| Some(std::fs::metadata(it).ok()?.len())).sum();
    let classes = system.open();
    let [class_bytes, own_classes, methods, instructions] = [const { AtomicU64::new(0) }; 4];
    let problems = classes.for_each(
        |_| true,
        |name, bytes| {
            class_bytes.fetch_add(bytes.len() as u64, Relaxed);
            if !is_own(&system.packages, name) {
                return;
            }
            own_classes.fetch_add(1, Relaxed);
            let Ok(class) = ClassFile::parse(bytes) else { return };
            let codes = class.methods().iter().filter_map(|it| it.code().ok()?);
            for code in codes {
                methods.fetch_add(1, Relaxed);
                instructions.fetch_add(code.instructions().flatten().count() as u64, Relaxed);
            }
        },
    );
    vec![
        ("jars", entries.len() as u64),
        ("jar-bytes", jar_bytes),
        ("classes", classes.len() as u64),
        ("class-bytes", class_bytes.into_inner()),
        ("own-classes", own_classes.into_inner()),
        ("methods", methods.into_inner()),
        ("instructions", instructions.into_inner()),
        ("problems", (problems.len() + classes.problems().len()) as u64),
    ]
}
