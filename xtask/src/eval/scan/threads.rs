//! One thread and two find the same, byte for byte.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hypocenter_program::Digest;

use crate::eval::out;
use crate::failure::{Failure, Result};
use crate::jdk::Jdk;
use crate::process::{Job, fresh_directory};
use crate::table::{self, thousands};
use crate::tool::Tool;
use crate::{maven, root};

/// A small system and the largest.
const SYSTEMS: [&str; 2] = ["zookeeper-3.6.2", "hbase-2.5.10"];
/// Everything that can be listed.
const LISTS: [&str; 8] =
    ["--sites", "--logs", "--states", "--loops", "--waits", "--detectors", "--tests", "--dropped"];
/// Statements of a document about time and memory.
const MEASURED: [&str; 3] = ["seconds", "seconds_by_phase", "peak_rss_mb"];
const THREADS: [&str; 2] = ["1", "2"];
/// A busy machine may need long.
const LIMIT: Duration = Duration::from_secs(900);

/// Scans each system with every list, with one thread and with two, and compares the documents; false if two differ.
pub fn print(tool: &Tool, jdk: &Jdk) -> Result<bool> {
    let directory = out("scan");
    fresh_directory(&directory)?;
    let mut is_good = true;
    let mut rows = Vec::new();
    for system in SYSTEMS {
        maven::fetch(system, "lib", None)?;
        let mut texts = Vec::new();
        for threads in THREADS {
            texts.push(document(tool, jdk, system, threads, &directory)?);
        }
        let is_same = texts.iter().all(|it| *it == texts[0]);
        is_good &= is_same;
        for (threads, text) in THREADS.iter().zip(&texts) {
            rows.push(vec![
                system.to_owned(),
                (*threads).to_owned(),
                thousands(text.len() as u64),
                Digest::of(text.as_bytes()).to_string(),
                if is_same { "the same" } else { "DIFFERENT" }.to_owned(),
            ]);
        }
    }
    println!("without a cache, all lists, times and memory aside:");
    print!("{}", table::text(&["system", "threads", "bytes", "digest", ""], &rows));
    Ok(is_good)
}

/// Output of a scan, without time and memory.
fn document(tool: &Tool, jdk: &Jdk, system: &str, threads: &str, directory: &Path) -> Result<String> {
    let config = root().join("eval").join(system).join("hypocenter.toml");
    let file = directory.join(format!("{system}-{threads}.json"));
    let mut command = Command::new(&tool.binary);
    command.args(["scan", "--no-cache", "--json"]).args(LISTS).arg("--config").arg(config);
    command.arg("--jdk").arg(&jdk.home).env("RAYON_NUM_THREADS", threads);
    let log = file.with_extension("log");
    Job { command, stdout: &file, stderr: &log, limit: LIMIT }.succeed()?;
    let text = fs::read_to_string(&file).map_err(Failure::file(&file))?;
    unmeasured(&text)
        .ok_or_else(|| Failure::new(format!("{}: is not a document of a scan, indented", file.display())))
}

/// A document without the fields that are measured: their own lines, and for an object those up to its end. None where one
/// of them is missing, and the comparison would be of something else.
fn unmeasured(text: &str) -> Option<String> {
    let mut kept = String::with_capacity(text.len());
    let mut removed = 0;
    let mut is_inside = false;
    for line in text.lines() {
        let name = line.strip_prefix("  \"").and_then(|it| it.split_once("\":"));
        if is_inside {
            is_inside = !line.starts_with("  }");
        } else if let Some((_, value)) = name.filter(|it| MEASURED.contains(&it.0)) {
            removed += 1;
            is_inside = value.trim() == "{";
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    (removed == MEASURED.len() && !is_inside).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_measured_is_left_out() {
        let document = |seconds: &str, phases: &str| {
            format!(
                "{{\n  \"classes\": 3,\n  \"list\": {{\n    \"seconds\": 1\n  }},\n  \"seconds\": {seconds},\n  \
                 \"seconds_by_phase\": {{{phases}}},\n  \"peak_rss_mb\": 7.5\n}}\n"
            )
        };
        let kept = "{\n  \"classes\": 3,\n  \"list\": {\n    \"seconds\": 1\n  },\n}\n";
        assert_eq!(unmeasured(&document("0.5", "\n    \"load\": 0.5\n  ")).as_deref(), Some(kept));
        assert_eq!(unmeasured(&document("0.7", "")).as_deref(), Some(kept));
        assert_eq!(unmeasured("{\n  \"seconds\": 1\n}\n"), None);
        assert_eq!(unmeasured("{}"), None);
    }
}
