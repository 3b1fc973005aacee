//! A system of `eval/` of which nothing is known beforehand: one campaign on the workload of its `explore.toml`. The campaign must
//! come to its end, and everything that it reports must have been replayed.
//!
//! The folder of the system has a `pom.xml`, an `explore.toml` and, below `src/`, the sources of its clients.

use std::path::PathBuf;

use serde_json::Value;

use super::{ExploreArgs, Ran, Runner, list};
use crate::failure::Result;
use crate::process::{lossy, step};
use crate::{Verdict, javac, maven, root};

const CONFIG: &str = "explore.toml";
const TRIALS: u64 = 40;
/// Replays of each finding.
const REPLAYS: u64 = 3;
/// First words of the lines with which the tool begins to say what it found.
const RESULT: [&str; 5] = ["finding", "seen", "known", "minor", "done"];
/// First words of lines that name places on this machine.
const PLACES: [&str; 2] = ["kept in", "report"];

/// A system that can be explored.
pub(super) struct System {
    name: String,
    folder: PathBuf,
}

impl System {
    /// The system of this name, if `eval/` has one.
    pub(super) fn named(name: &str) -> Option<System> {
        let folder = root().join("eval").join(name);
        let is_one = !name.contains('/') && ["pom.xml", CONFIG].iter().all(|it| folder.join(it).is_file());
        is_one.then(|| System { name: name.to_owned(), folder })
    }

    pub(super) fn run(&self, args: &ExploreArgs, runner: &Runner<'_>) -> Result<Verdict> {
        self.prepare(runner)?;
        let numbers = [args.trials.unwrap_or(TRIALS), args.first_seed, u64::from(args.jobs), REPLAYS];
        let numbers = numbers.map(|it| it.to_string());
        let [trials, seed, jobs, replays] = numbers.each_ref().map(String::as_str);
        let words = ["--trials", trials, "--seed", seed, "--jobs", jobs, "--replays", replays];
        let ran = step(&format!("{}, {trials} trials", self.name), || {
            runner.carry_out(&self.folder.join(CONFIG), &words, &format!("{}-{seed}", self.name))
        })?;
        println!("hypocenter explore {}", words.join(" "));
        print!("{}", result(&lossy(&ran.log)));
        let problems = problems(&ran);
        problems.iter().for_each(|it| println!("{it}"));
        println!("{}", if problems.is_empty() { "PASS" } else { "FAIL" });
        Ok(Verdict::of(problems.is_empty()))
    }

    /// Fetches the jars and compiles the clients.
    fn prepare(&self, runner: &Runner<'_>) -> Result<()> {
        let lib = maven::fetch(&self.name, "lib", None)?;
        let sources = javac::sources(&self.folder.join("src"))?;
        let class_path = format!("{}/*", lib.display());
        javac::compile(runner.jdk, &sources, &class_path, &lib.with_file_name("explore-classes"))
    }
}

/// The part of the tool's output that says what it found, without the places where it is kept.
fn result(log: &str) -> String {
    let is = |line: &str, words: &[&str]| words.iter().any(|it| line.trim_start().starts_with(it));
    let lines = log.lines().skip_while(|it| !is(it, &RESULT)).filter(|it| !is(it, &PLACES));
    lines.map(|it| format!("{it}\n")).collect()
}

/// Reasons why a campaign is not as it should be.
fn problems(ran: &Ran) -> Vec<String> {
    let mut problems: Vec<String> =
        list(&ran.document, "findings").iter().filter(|it| !is_replayed(it)).map(not_replayed).collect();
    if ran.trials() == 0 {
        problems.push("no trial was run".to_owned());
    }
    problems
}

/// Tests whether all its replays were run, and one confirmed it.
fn is_replayed(finding: &Value) -> bool {
    let number = |it: &Value| it.as_u64().unwrap_or(0);
    let (rate, missed) = (&finding["rate"], number(&finding["missed"]));
    number(&rate["hits"]) > 0 && number(&rate["runs"]) + missed >= REPLAYS
}

fn not_replayed(finding: &Value) -> String {
    let text = |key: &str| finding[key].as_str().unwrap_or("?");
    format!(
        "not replayed {REPLAYS} times: {} at {}.{}:{}",
        text("fault"),
        text("class"),
        text("method"),
        finding["line"]
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_result_begins_at_the_first_finding_and_names_no_place() {
        let log = "  trial 3   throw x\n\n  finding   throw x\n            why\n  seen      in 1 trial\n\n  done      3 trials\n  \
                   kept in   out/explore-0001\n  report    out/report.html\n";
        let expected =
            "  finding   throw x\n            why\n  seen      in 1 trial\n\n  done      3 trials\n";
        assert_eq!(result(log), expected);
        assert_eq!(result("  trial 3   throw x\n\n  done      3 trials\n"), "  done      3 trials\n");
    }

    #[test]
    fn a_finding_needs_all_its_replays_and_a_hit_among_them() {
        assert!(is_replayed(&json!({"rate": {"hits": 1, "runs": 3}})));
        assert!(is_replayed(&json!({"rate": {"hits": 1, "runs": 1}, "missed": 2})));
        assert!(!is_replayed(&json!({"rate": {"hits": 0, "runs": 3}})));
        assert!(!is_replayed(&json!({"rate": {"hits": 2, "runs": 2}})));
        assert!(!is_replayed(&json!({})));
    }

    #[test]
    fn a_system_has_a_configuration_clients_and_its_jars_where_they_are_fetched() {
        for name in ["ratis-3.1.3", "kafka-3.9.1"] {
            let system = System::named(name).unwrap();
            assert!(!javac::sources(&system.folder.join("src")).unwrap().is_empty(), "{name}");
            assert!(!system.folder.join("explore-truth.toml").exists(), "{name}");
            let config: toml::Table = crate::truth::read(&system.folder.join(CONFIG)).unwrap();
            let jars = format!("../work/{name}/lib/*.jar");
            assert_eq!(config["target"]["classpath"][0].as_str(), Some(&*jars), "{name}");
        }
        assert!(System::named("corpus").is_none(), "it has nothing to run");
        assert!(System::named("../eval/ratis-3.1.3").is_none());
    }
}
