//! `cargo xtask eval cases`: the published failures of real systems, reproduced from their logs as they are by several seeds, and once
//! each from the logs without class and line, and without stack traces; one row each, beside the goals.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::bugs::faults;
use super::reproduce::{Laid, Less, Searched};
use crate::case::{self, Case};
use crate::failure::Result;
use crate::process::{fresh_directory, step};
use crate::tool::{Tool, ToolArgs};
use crate::{Verdict, eval, table};

const HEADINGS: [&str; 9] = ["case", "log", "seed", "rounds", "of", "replays", "seconds", "fault", ""];

/// Maximum median number of rounds over all searches, and maximum number of rounds of any.
const MEDIAN_MAX: u64 = 3;
const WORST_MAX: u64 = 10;

/// Reproduce the published failures of real systems by several seeds, from their logs and from the same with less in them
#[derive(Debug, clap::Args)]
pub struct CasesArgs {
    /// Cases; by default all
    #[arg(value_name = "CASE")]
    names: Vec<String>,
    /// A directory with CASE/failure.log for each; without one the published root causes are injected to make the logs
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Number of seeds for the log as it is; the others have one each
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// Number of parallel trials
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: u16,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &CasesArgs) -> Result<Verdict> {
    let tool = args.tool.ready()?;
    let names = if args.names.is_empty() { case::names()? } else { args.names.clone() };
    let (mut rows, mut rounds, mut is_good) = (Vec::new(), Vec::new(), true);
    for name in &names {
        let case = Case::named(name)?;
        let log = args.logs.as_ref().map(|it| it.join(name).join("failure.log"));
        let laid = Laid::out(name, log.as_deref(), &tool)?;
        let (goal, accepted) = (case.goal(), case.accepted()?);
        let logs = [
            ("whole", laid.log.clone(), goal.rounds, args.seeds),
            ("no class, no line", laid.less(Less::Places)?, goal.stripped, 1),
            ("no stack traces", laid.less(Less::Stacks)?, goal.stripped, 1),
        ];
        for (what, log, limit, seeds) in &logs {
            for seed in 1..=*seeds {
                let place = eval::out("cases")
                    .join(format!("{name}-{}-{seed}", what.replace(", ", "-").replace(' ', "-")));
                let title = format!("{name}, log: {what}, seed {seed}");
                let ran = step(&title, || reproduce(&laid, &tool, log, seed, args.jobs, &place))?;
                let (row, good) = ran.row(*limit, &accepted);
                rounds.push(ran.round().unwrap_or(u64::MAX));
                rows.push([vec![name.clone(), (*what).to_owned(), seed.to_string()], row].concat());
                is_good &= good;
            }
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    rounds.sort_unstable();
    let shown = |it: u64| if it == u64::MAX { "none".to_owned() } else { it.to_string() };
    let (median, worst) = (rounds[rounds.len() / 2], rounds[rounds.len() - 1]);
    println!(
        "rounds: median {} of at most {MEDIAN_MAX}, worst {} of at most {WORST_MAX}",
        shown(median),
        shown(worst)
    );
    is_good &= median <= MEDIAN_MAX && worst <= WORST_MAX;
    println!("{}", if is_good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(is_good))
}

fn reproduce(laid: &Laid, tool: &Tool, log: &Path, seed: u64, jobs: u16, place: &Path) -> Result<Searched> {
    fresh_directory(place)?;
    let mut command = laid.command(tool, log)?;
    let (seed, jobs) = (seed.to_string(), jobs.to_string());
    command.args(["--json", "--campaign", "campaign", "--seed", &seed, "--jobs", &jobs, "--out"]).arg(place);
    Searched::by(command, place)
}

impl Searched {
    /// The round in which the fault was found.
    fn round(&self) -> Option<u64> {
        self.document["found"][0]["round"].as_u64()
    }

    /// Row of its result, and its verdict: in so many rounds, an accepted fault, in four of five replays.
    fn row(&self, limit: u64, accepted: &[String]) -> (Vec<String>, bool) {
        let found = &self.document["found"][0];
        let round = self.round();
        let (hits, runs) =
            (found["rate"]["hits"].as_u64().unwrap_or(0), found["rate"]["runs"].as_u64().unwrap_or(0));
        let is_known = is_accepted(found, accepted);
        let is_good = self.code == Some(0)
            && round.is_some_and(|it| it <= limit)
            && is_known
            && runs > 0
            && 5 * hits >= 4 * runs;
        let row = vec![
            round.map_or("-".to_owned(), |it| it.to_string()),
            limit.to_string(),
            format!("{hits} of {runs}"),
            format!("{:.0}", self.took.as_secs_f64()),
            format!("{}{}", faults(found), if is_known { "" } else { " (not an accepted one)" }),
            if is_good { "PASS" } else { "FAIL" }.to_owned(),
        ];
        (row, is_good)
    }
}

/// Tests whether every fault is in a method that is accepted, by the end of its class's name and its own.
fn is_accepted(found: &Value, accepted: &[String]) -> bool {
    let faults = found["faults"].as_array().map_or(&[][..], Vec::as_slice);
    let is_one = |it: &Value| {
        let text = |key: &str| it["site"][key].as_str().unwrap_or_default();
        let method = format!("{}.{}", text("class"), text("method"));
        accepted
            .iter()
            .any(|it| method.strip_suffix(it.as_str()).is_some_and(|it| it.is_empty() || it.ends_with('.')))
    };
    !faults.is_empty() && faults.iter().all(is_one)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_fault_is_accepted_by_its_method_and_by_nothing_less() {
        let accepted = ["FileTxnLog.commit".to_owned()];
        let found = |class: &str, method: &str| {
            serde_json::json!({ "round": 3, "rate": { "hits": 4, "runs": 5 },
                "faults": [{ "site": { "class": class, "method": method, "line": 1, "callee": "a.B.c()" }, "at": {} }] })
        };
        assert!(is_accepted(&found("org.FileTxnLog", "commit"), &accepted));
        assert!(!is_accepted(&found("org.MyFileTxnLog", "commit"), &accepted));
        assert!(!is_accepted(&found("org.FileTxnLog", "roll"), &accepted));
        assert!(!is_accepted(&serde_json::json!({ "faults": [] }), &accepted));
        let ran = |found: Value| Searched {
            document: serde_json::json!({ "found": [found] }),
            code: Some(0),
            took: Duration::ZERO,
        };
        assert!(ran(found("org.FileTxnLog", "commit")).row(3, &accepted).1);
        assert!(!ran(found("org.FileTxnLog", "commit")).row(2, &accepted).1);
        let mut seldom = found("org.FileTxnLog", "commit");
        seldom["rate"]["hits"] = 3.into();
        assert!(!ran(seldom).row(3, &accepted).1);
    }
}
