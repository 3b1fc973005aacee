//! How fast whole class paths are scanned: `cargo bench -p hypocenter-program -- a.jar b.jar`. Without arguments
//! the JDK of `JAVA_HOME`. Prints classes, sites and time for opening, for finding all sites of all kinds, and for
//! the same on one thread; then how fast the bodies of all methods are found on one thread, next to their control
//! flow alone.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hypocenter_classfile::{ClassFile, Member};
use hypocenter_plan::{Plan, SiteKind, Watch, WatchLevel};
use hypocenter_program::flow::Flow;
use hypocenter_program::{
    Body, ClassPath, Classes, ControlDependence, Edges, KindSet, build_map, sites_of_method,
};

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
    one.install(|| bodies(&classes));
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

/// How many instructions a second of processor time, which other work on the machine does not falsify.
fn bodies(classes: &Classes) {
    let reading = time_of(classes, |_, _| None).nanos;
    let show = |what: &str, time: Time| {
        let nanos = time.nanos - reading;
        let speed = time.instructions as f64 * 1e3 / nanos;
        println!(
            "{what}: {} instructions, {speed:.1} million a second, {} methods given up",
            time.instructions, time.partial
        );
        nanos
    };
    let flow = time_of(classes, |_, method| {
        let code = method.code().ok()??;
        Flow::of(&code).ok().map(|flow| (flow.instructions.len(), true))
    });
    let body = time_of(classes, |class, method| {
        let body = Body::of_method(class, method).ok()??;
        Some((body.flow.instructions.len(), body.is_complete()))
    });
    let control = time_of(classes, |class, method| {
        let body = Body::of_method(class, method).ok()??;
        let control = ControlDependence::of(&body.flow, Edges::Normal);
        Some((body.flow.instructions.len(), control.is_ok()))
    });
    let flow = show("flow, one thread", flow);
    let body = show("flow and values, one thread", body);
    show("flow, values and control dependence, one thread", control);
    println!("ratio of flow and values to flow: {:.2}", body / flow);
}

struct Time {
    nanos: f64,
    instructions: usize,
    partial: usize,
}

/// The time for all methods. `of_method` says how many instructions a method has, and whether all went well.
fn time_of<F>(classes: &Classes, of_method: F) -> Time
where
    F: for<'a> Fn(&ClassFile<'a>, &Member<'a>) -> Option<(usize, bool)> + Sync,
{
    let (instructions, partial) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let start = on_processor_ns();
    classes.for_each(
        |_| true,
        |_, bytes| {
            let Ok(class) = ClassFile::parse(bytes) else { return };
            for (count, complete) in class.methods().iter().filter_map(|it| of_method(&class, it)) {
                instructions.fetch_add(count, Ordering::Relaxed);
                partial.fetch_add(usize::from(!complete), Ordering::Relaxed);
            }
        },
    );
    let nanos = on_processor_ns() - start;
    Time { nanos, instructions: instructions.into_inner(), partial: partial.into_inner() }
}

/// The time that this thread has spent on a processor.
fn on_processor_ns() -> f64 {
    let text =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells the time of a thread");
    text.split(' ').next().and_then(|it| it.parse().ok()).expect("a number")
}
