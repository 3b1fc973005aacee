//! JUnit's XML, as CI systems read it: a case for the runs without a fault, and one for each fault that brings the failure.

use std::fmt::Write;

use crate::summary::{Standing, Summary};
use crate::text::escaped;
use crate::words;

const TEXT_CHARS: usize = 8_000;
/// The most cases.
const CASES_MAX: usize = 1_000;

/// What a case came to.
enum Came {
    Well,
    /// The failure happened: what in a line, and all that is known.
    Failed(String, String),
    /// It cannot be said.
    Error(String),
    Skipped(String),
}

pub fn document(summary: &Summary) -> String {
    let mut cases: Vec<(String, Came)> =
        vec![(format!("{} without a fault", summary.workload), without(summary))];
    for found in summary.found.iter().take(CASES_MAX) {
        let faults: Vec<String> = found
            .faults
            .iter()
            .map(|it| {
                let (what, place, when) = words::fault(it);
                format!("{what} at {place}, {when}")
            })
            .collect();
        let name = faults.join(", and ");
        let replay =
            format!("hypocenter replay {}/{}", summary.campaign, found.replayed.unwrap_or(found.trial));
        let text = format!(
            "{}\n\noracle: {}\nrate: {} of {} replays\nreplay: {replay}\n",
            words::finding(found).plain(),
            found.why,
            found.hits,
            found.runs
        );
        cases.push((name, Came::Failed(found.why.clone(), text)));
    }
    if summary.found.is_empty() && !matches!(summary.standing, Standing::AlreadyFails { .. }) {
        cases.push(("the failure of the log".to_owned(), Came::Skipped(words::verdict(summary).plain())));
    }
    let count = |is: fn(&Came) -> bool| cases.iter().filter(|it| is(&it.1)).count();
    let totals = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\"",
        cases.len(),
        count(|it| matches!(it, Came::Failed(..))),
        count(|it| matches!(it, Came::Error(_))),
        count(|it| matches!(it, Came::Skipped(_))),
        summary.seconds.max(0.0)
    );
    let suite = safe(&format!("hypocenter {} {}", summary.verb, summary.campaign));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"hypocenter\" {totals}>\n  <testsuite name=\"{suite}\" {totals}>\n"
    );
    let class = safe(&format!("hypocenter.{}.{}", summary.verb, summary.workload));
    for (name, came) in &cases {
        let _ = write!(xml, "    <testcase classname=\"{class}\" name=\"{}\" time=\"0\"", safe(name));
        match came {
            Came::Well => xml.push_str("/>\n"),
            Came::Failed(message, text) => {
                // Lines are ours here; what is in them is not.
                let text: Vec<String> = text.lines().map(safe).collect();
                let _ = write!(
                    xml,
                    ">\n      <failure message=\"{}\" type=\"reproduced\">{}</failure>\n    </testcase>\n",
                    safe(message),
                    text.join("\n")
                );
            }
            Came::Error(message) => {
                let _ = write!(
                    xml,
                    ">\n      <error message=\"{}\" type=\"already-fails\"/>\n    </testcase>\n",
                    safe(message)
                );
            }
            Came::Skipped(message) => {
                let _ = write!(xml, ">\n      <skipped message=\"{}\"/>\n    </testcase>\n", safe(message));
            }
        }
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn without(summary: &Summary) -> Came {
    match &summary.standing {
        Standing::AlreadyFails { failed, runs } => {
            Came::Error(format!("the failure happens without a fault, in {failed} of {runs} runs"))
        }
        Standing::Unreadable { why } => Came::Error(format!("it left nothing to compare: {why}")),
        _ => Came::Well,
    }
}

fn safe(text: &str) -> String {
    escaped(text, TEXT_CHARS)
}
