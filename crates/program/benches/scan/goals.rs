//! Goals of a scan, beside its results.

use crate::Results;
use crate::child::Measured;
use crate::sample::Sample;
use crate::table::Table;

/// The two systems that goals are set for, by the beginnings of their names.
const SMALL: &str = "zookeeper-";
const LARGE: &str = "hbase-";
/// Seconds, megabytes, and how often the time to inflate the jars.
const GOALS: [(&str, f64, f64, f64); 2] = [(SMALL, 0.7, 300.0, 8.0), (LARGE, 10.0, 2000.0, 8.0)];
/// An instruction of the large one may cost so often what one of the small one costs.
const PER_INSTRUCTION: f64 = 2.0;

/// Each goal with both sides of its ratio, for the systems that were measured. Seconds are shown by both clocks. Those of all
/// CPUs together are the harder to reach: no clock on a wall shows more on a machine that has nothing else to do. On one
/// that has, only they say something of the scan.
pub fn table(results: &[Results]) -> Table {
    let mut table = Table::new(&["goal", "at most", "reached", "of", "verdict"]);
    let mut row = |what: String, most: f64, reached: Sample, decimals: usize, of: String| {
        let verdict = if reached.median <= most { "met" } else { "OPEN" };
        table.row(vec![what, most.to_string(), reached.text(decimals), of, verdict.to_owned()]);
    };
    let find = |start: &str| results.iter().find(|it| it.name.starts_with(start));
    for (start, seconds, mb, ratio) in GOALS {
        let Some(it) = find(start) else { continue };
        let sample = |of: &[Measured], figure: fn(&Measured) -> f64| Sample::of(of.iter().map(figure));
        let (scan, inflate) = (sample(&it.scan, Measured::cpu), sample(&it.inflate, Measured::cpu));
        row(format!("{}: s of all CPUs", it.name), seconds, scan, 3, String::new());
        row(
            format!("{}: s by the wall", it.name),
            seconds,
            sample(&it.scan, Measured::total),
            3,
            String::new(),
        );
        row(format!("{}: peak MB", it.name), mb, sample(&it.scan, Measured::peak_mb), 0, String::new());
        let pairs = it.scan.iter().zip(&it.inflate).map(|(scan, inflate)| scan.cpu() / inflate.cpu());
        let sides = format!("{:.3} s / {:.3} s", scan.median, inflate.median);
        row(format!("{}: x inflating its jars", it.name), ratio, Sample::of(pairs), 2, sides);
    }
    if let (Some(small), Some(large)) = (find(SMALL), find(LARGE)) {
        let (of_small, of_large) =
            (small.per_instruction(Measured::cpu), large.per_instruction(Measured::cpu));
        let pairs = large.scan.iter().zip(&small.scan).map(|(large_scan, small_scan)| {
            large_scan.cpu() / large.instructions() / (small_scan.cpu() / small.instructions())
        });
        let sides = format!("{:.0} ns / {:.0} ns", of_large.median, of_small.median);
        let what = format!("an instruction of {}: x one of {}", large.name, small.name);
        row(what, PER_INSTRUCTION, Sample::of(pairs), 2, sides);
    }
    table
}
