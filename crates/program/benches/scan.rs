//! How fast whole class paths are scanned: `cargo bench -p hypocenter-program -- a.jar b.jar`. Without arguments
//! the JDK of `JAVA_HOME`. Prints classes, sites and time for opening, for finding all sites of all kinds, and for
//! the same on one thread.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hypocenter_classfile::ClassFile;
use hypocenter_plan::{Plan, SiteKind, Watch, WatchLevel};
use hypocenter_program::{ClassPath, Classes, KindSet, build_map, sites_of_method};

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let path = match std::env::var_os("JAVA_HOME") {
        _ if !files.is_empty() => ClassPath::from_entries(&files, Path::new("")),
        Some(home) => ClassPath::default().with_jdk(&PathBuf::from(home)),
        None => {
            println!("nothing to scan: give jars, or set JAVA_HOME");
            return;
        }
    };
    let start = Instant::now();
    let classes = path.open(25);
    println!(
        "open: {} classes in {:.1?}, {} problems",
        classes.len(),
        start.elapsed(),
        classes.problems().len()
    );
    scan("warm-up", &classes, KindSet::ALL);
    let all = scan("all kinds", &classes, KindSet::ALL);
    scan("calls only", &classes, KindSet::of(&[SiteKind::Call]));
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    let single = one.install(|| scan("all kinds, one thread", &classes, KindSet::ALL));
    println!("ratio of one thread to all: {:.2}", single / all);
    let mut plan = Plan::default();
    let watch = Watch { kinds: SiteKind::ALL.to_vec(), classes: vec!["*".into()], level: WatchLevel::Count };
    plan.record.watch.push(watch);
    let start = Instant::now();
    let (builder, summary, problems) = build_map(&classes, &plan).expect("a plan without candidates");
    let built = start.elapsed();
    let bytes = builder.finish().expect("a map").len();
    println!(
        "map: {} classes, {} methods, {} sites, {} hooks, {} irreducible, {} MB, {built:.1?}, {} problems",
        summary.classes,
        summary.methods,
        summary.levels.len(),
        summary.hooks,
        summary.irreducible,
        bytes >> 20,
        problems.len()
    );
    for (kind, count) in &summary.kinds {
        println!("  {:16}{count:>10}", kind.name());
    }
    for problem in problems.iter().chain(classes.problems()).take(5) {
        println!("  {}: {}", problem.place, problem.what);
    }
}

fn scan(what: &str, classes: &Classes, kinds: KindSet) -> f64 {
    let (methods, sites, irreducible) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let start = Instant::now();
    let problems = classes.for_each(
        |_| true,
        |_, bytes| {
            let Ok(class) = ClassFile::parse(bytes) else { return };
            for method in class.methods() {
                let Ok(found) = sites_of_method(&class, method, kinds) else { continue };
                methods.fetch_add(1, Ordering::Relaxed);
                sites.fetch_add(found.sites.len(), Ordering::Relaxed);
                irreducible.fetch_add(found.irreducible as usize, Ordering::Relaxed);
            }
        },
    );
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what}: {} methods, {} sites, {} irreducible, {seconds:.3} s, {} problems",
        methods.into_inner(),
        sites.into_inner(),
        irreducible.into_inner(),
        problems.len()
    );
    seconds
}
