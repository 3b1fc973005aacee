//! Costs of the hooks: rows 1 to 5 of the table of goals, each beside the run without them, and if possible beside Byteman.
//!
//! `cargo bench -p hypocenter --bench overhead` ends within about fifteen minutes. It asserts nothing about time: it prints both sides,
//! their difference or ratio with an interval, and whether the interval lies on the right side of the goal. Times are
//! CPU times, because others use the machine. From the environment:
//!
//! - `BENCH_ROWS=1,2,3,4,5` which rows;
//! - `BENCH_PAIRS=15` how many pairs of clusters in rows 3 and 4, and `BENCH_CREATES=2000` the client's work in each of row 3;
//! - `BENCH_SECONDS=400` after which rows 3 and 4 start no further round;
//! - `BENCH_FORKS=5` how many JVMs for each goal of rows 1 and 2.

mod byteman;
mod classes;
mod cluster;
mod hits;
#[allow(dead_code)]
#[path = "../../src/java.rs"]
mod java;
mod load;
mod process;
mod sample;
mod table;
mod tracing;

use std::str::FromStr;
use std::time::Instant;

use crate::process::Bench;
use crate::table::Table;

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let started = Instant::now();
    let rows: String = setting("BENCH_ROWS", "1,2,3,4,5".to_owned());
    let wanted = |row: &str| rows.split(',').any(|it| it.trim() == row);
    let bench = Bench::new();
    let mut table = Table::default();
    if wanted("1") || wanted("2") {
        hits::measure(&bench, wanted("1"), wanted("2"), &mut table);
    }
    if wanted("3") {
        cluster::measure(&bench, &mut table);
    }
    if wanted("4") {
        tracing::measure(&bench, &mut table);
    }
    if wanted("5") {
        load::measure(&bench, &mut table);
    }
    println!("\n{table}");
    println!("{:.0} s; {}", started.elapsed().as_secs_f64(), bench.machine());
}

/// A setting from the environment; one that cannot be read is an error of the caller's.
fn setting<T: FromStr>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} cannot be read")),
        Err(_) => default,
    }
}
