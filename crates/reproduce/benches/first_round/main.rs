//! CPU and memory from the end of the normal runs to the first plan.
//!
//! `HYPOCENTER_CAMPAIGN=DIR cargo bench -p hypocenter-reproduce --bench first_round` takes the normal runs that a campaign of
//! `hypocenter reproduce` has kept in DIR, and the classes and logs that it names. Each system of `eval/` that was fetched (`cargo xtask
//! fetch hbase-2.5.10`, `... zookeeper-3.6.2`) is measured as well, with warnings and errors spread over the whole program in place of
//! missing lines, and a normal run that executes every site once.
//!
//! The engine is told the last normal run and asked for the first plan; that is the new way. The old way is the causal graphs alone, one
//! for each line. Each runs in a process of its own. A graph of one line was cut at a million nodes and the shared graph is cut elsewhere,
//! so where graphs are large the distances of some faults differ; it is told how many. `FIRST_ROUND=new` leaves the old way out.

mod child;
mod input;

use child::{Measured, Way};
use input::Input;

/// What it is to take at most, on HDFS and on HBase with Hadoop.
const REACH_CPU_S: [(&str, f64); 2] = [("hdfs", 10.0), ("hbase", 20.0)];
const REACH_MB: f64 = 800.0;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|it| it == child::FLAG) {
        return child::run(&args[at + 1], &args[at + 2]);
    }
    // `cargo test --benches` only wants to know that it starts.
    if args.iter().any(|it| it == "--test") {
        return;
    }
    let inputs = Input::names();
    if inputs.is_empty() {
        println!("nothing is there: set HYPOCENTER_CAMPAIGN, or cargo xtask fetch hbase-2.5.10");
    }
    let is_old_wanted = std::env::var("FIRST_ROUND").as_deref() != Ok("new");
    for name in inputs {
        println!("\n{name}");
        let new = Way::New.measure(&name);
        new.show("to the first plan");
        let reach = REACH_CPU_S.iter().find(|it| name.contains(it.0)).map(|it| it.1);
        for (what, is, reach) in [("CPU s", new.cpu_s, reach), ("MB", new.peak_mb, Some(REACH_MB))] {
            let Some(reach) = reach else { continue };
            println!("  {what}: {is:.1} of {reach:.0}: {}", if is <= reach { "met" } else { "open" });
        }
        if is_old_wanted {
            let old = Way::Old.measure(&name);
            old.show("a graph for each line");
            println!(
                "  old / new: {:.1} x CPU, {:.1} x wall",
                old.cpu_s / new.cpu_s,
                old.wall_s / new.wall_s
            );
            compare(&old, &new);
        }
    }
}

/// How many distances of faults are the same.
fn compare(old: &Measured, new: &Measured) {
    let now = |it: &(usize, u64)| new.distances.get(it).copied();
    let of = |is: &dyn Fn(u32, Option<u32>) -> bool| {
        old.distances.iter().filter(|(key, distance)| is(**distance, now(key))).count()
    };
    println!(
        "  distances of faults from lines: {} old, {} the same, {} nearer, {} farther, {} lost; {} new ones",
        old.distances.len(),
        of(&|before, now| now == Some(before)),
        of(&|before, now| now.is_some_and(|it| it < before)),
        of(&|before, now| now.is_some_and(|it| it > before)),
        of(&|_, now| now.is_none()),
        new.distances.keys().filter(|it| !old.distances.contains_key(it)).count()
    );
    for distance in 0..=14 {
        let at = old.distances.iter().filter(|it| *it.1 == distance);
        let lost = at.clone().filter(|it| now(it.0).is_none()).count();
        if lost > 0 {
            println!("    at a distance of {distance}: {lost} of {} lost", at.count());
        }
    }
}
