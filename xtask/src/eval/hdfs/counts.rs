//! Counts of the points that faults are injected and seen at, beside those that CSNAKE (Table 2) has published.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use crate::failure::{Failure, Result};
use crate::jdk::Jdk;
use crate::process::{self, Job, step};
use crate::table::{self, thousands};
use crate::tool::Tool;

/// A busy machine may need long.
const LIMIT: Duration = Duration::from_secs(900);
/// Exceptions that the published tool drops beside those that `scan` drops.
const DROPPED: [&str; 3] = [
    "java.lang.IllegalArgumentException",
    "java.lang.NumberFormatException",
    "java.lang.UnsupportedOperationException",
];

/// The part of the document of `scan --cascade` that is counted here.
#[derive(Debug, Deserialize)]
struct Document {
    tests: u64,
    lists: Lists,
    seconds: f64,
    peak_rss_mb: f64,
}

#[derive(Debug, Deserialize)]
struct Lists {
    cascade: Points,
}

#[derive(Debug, Deserialize)]
struct Points {
    branches: u64,
    counts: BTreeMap<String, u64>,
    left_out: BTreeMap<String, BTreeMap<String, u64>>,
    items: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    exception: Option<String>,
}

/// A count beside a published one.
struct Row {
    what: &'static str,
    ours: u64,
    published: u64,
}

/// Scans HDFS and prints what there is.
pub fn print(tool: &Tool, jdk: &Jdk, config: &Path, out: &Path) -> Result<()> {
    let document = step("hypocenter scan --cascade", || scan(tool, jdk, config, out))?;
    println!(
        "HDFS 3.4.1, hypocenter scan --cascade: {:.1} s, {:.0} MB",
        document.seconds, document.peak_rss_mb
    );
    let cells = |it: &Row| [it.what.to_owned(), thousands(it.ours), thousands(it.published), percent(it)];
    let rows: Vec<Vec<String>> = rows(&document).iter().map(|it| cells(it).to_vec()).collect();
    print!("{}", table::text(&["count", "here", "published", "difference"], &rows));
    println!("by other rules:");
    for (row, rule) in others(&document) {
        println!("  {}: {} ({}) {rule}", row.what, thousands(row.ours), percent(&row));
    }
    println!("left out:");
    for (kind, reasons) in &document.lists.cascade.left_out {
        let parts: Vec<String> =
            reasons.iter().map(|(why, count)| format!("{} {why}", thousands(*count))).collect();
        println!("  {kind}: {}", parts.join(", "));
    }
    Ok(())
}

fn scan(tool: &Tool, jdk: &Jdk, config: &Path, out: &Path) -> Result<Document> {
    let (stdout, stderr) = (out.join("scan.json"), out.join("scan.log"));
    let mut command = Command::new(&tool.binary);
    command.args(["scan", "--cascade", "--no-cache", "--json", "--config"]).arg(config);
    command.env("JAVA_HOME", &jdk.home);
    let text = process::text(&command);
    Job { command, stdout: &stdout, stderr: &stderr, limit: LIMIT }.succeed()?;
    let json = fs::read_to_string(&stdout).map_err(Failure::file(&stdout))?;
    serde_json::from_str(&json)
        .map_err(|error| Failure::new(format!("`{text}`: {}: {error}", stdout.display())))
}

fn rows(document: &Document) -> Vec<Row> {
    let points = &document.lists.cascade;
    let of = |kind: &str| points.counts.get(kind).copied().unwrap_or(0);
    let row = |what, ours, published| Row { what, ours, published };
    vec![
        row("loops", of("loop"), 2736),
        row("exceptions", of("throw") + of("library"), 2707),
        row("negations", of("detector"), 974),
        row("branches", points.branches, 36745),
        row("tests", document.tests, 4426),
    ]
}

/// The same counts by rules that the publication leaves open.
fn others(document: &Document) -> Vec<(Row, &'static str)> {
    let points = &document.lists.cascade;
    let of = |kind: &str| points.counts.get(kind).copied().unwrap_or(0);
    let is_dropped = |it: &&Item| it.exception.as_deref().is_some_and(|it| DROPPED.contains(&it));
    let dropped = points.items.iter().filter(is_dropped).count() as u64;
    let exceptions = |ours| Row { what: "exceptions", ours, published: 2707 };
    let all = of("throw") + of("library");
    vec![
        (exceptions(of("throw")), "thrown by HDFS itself"),
        (exceptions(of("library")), "declared by methods of libraries that HDFS calls"),
        (
            exceptions(all.saturating_sub(dropped)),
            "without illegal arguments, bad numbers and unsupported operations, as the published tool does",
        ),
        (
            Row { what: "branches", ours: 2 * points.branches, published: 36745 },
            "by outcome: the published tool has an id for each successor of a branch",
        ),
    ]
}

fn percent(row: &Row) -> String {
    format!("{:+.1} %", (row.ours as f64 / row.published as f64 - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_beside_the_published_ones() {
        let document: Document = serde_json::from_str(
            r#"{"tests": 4426, "seconds": 1.0, "peak_rss_mb": 2.0, "lists": {"cascade": {
                "branches": 18000, "counts": {"loop": 2462, "throw": 2, "library": 3, "detector": 1948},
                "left_out": {"loop": {"test": 7}},
                "items": [
                    {"kind": "loop"},
                    {"kind": "throw", "exception": "java.io.IOException"},
                    {"kind": "library", "exception": "java.lang.NumberFormatException"}
                ]}}}"#,
        )
        .unwrap();
        let texts: Vec<String> =
            rows(&document).iter().map(|it| format!("{} {} {}", it.what, it.ours, percent(it))).collect();
        let expected = [
            "loops 2462 -10.0 %",
            "exceptions 5 -99.8 %",
            "negations 1948 +100.0 %",
            "branches 18000 -51.0 %",
        ];
        assert_eq!(texts[..4], expected);
        assert_eq!(texts[4], "tests 4426 +0.0 %");
        let others: Vec<u64> = others(&document).iter().map(|it| it.0.ours).collect();
        assert_eq!(others, [2, 3, 4, 36000]);
    }
}
