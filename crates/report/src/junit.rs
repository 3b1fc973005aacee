//! JUnit's XML, as CI systems read it: a case for the runs without a fault, and one for each fault that brings the failure or is
//! suspicious.

use std::fmt::Write;

use crate::Times;
use crate::plain;
use crate::text::escaped;
use crate::words;
use hypocenter_results::cascaded::{Cascade, CascadeStep, TestRow};
use hypocenter_results::explained::{Explanation, NeighbourRow};
use hypocenter_results::explored::{self, Exploration, Suspicion};
use hypocenter_results::predicted::{Forecasting, Prediction};
use hypocenter_results::reproduced::{Reproduction, Standing};
use hypocenter_results::{Detail, Document, Finding, Header};

const TEXT_CHARS: usize = 8_000;
/// The most cases.
const CASES_MAX: usize = 1_000;

/// Result of a case.
enum Came {
    Well,
    /// The failure happened: what in a line, and all that is known.
    Failed(String, String),
    /// It cannot be said.
    Error(String),
    Skipped(String),
}

/// A case.
struct Case {
    name: String,
    came: Came,
    /// Its duration, if known.
    seconds: Option<f64>,
}

impl Case {
    /// The workload without a fault, which is how a campaign begins.
    fn without(workload: &str, came: Came, runs: u64, times: Times<'_>) -> Case {
        let seconds = (runs > 0).then(|| times(0)).flatten();
        Case { name: format!("{workload} without a fault"), came, seconds }
    }
}

/// Of a campaign of `reproduce`.
pub fn reproduced(summary: &Document<Reproduction>, times: Times<'_>) -> String {
    let mut cases =
        vec![Case::without(&summary.header.workload, without(summary), summary.detail.normal_runs, times)];
    for found in summary.detail.found.iter().take(CASES_MAX) {
        let faults: Vec<String> = found
            .faults
            .iter()
            .map(|it| {
                let (what, place, when) = words::fault(it);
                format!("{what} at {place}, {when}")
            })
            .collect();
        let name = faults.join(", and ");
        let replay = &found.replay;
        let text = format!(
            "{}\n\noracle: {}\nrate: {} of {} replays\nreplay: {replay}\n",
            words::finding(found, summary.detail.has_several_nodes()).plain(),
            found.why,
            found.rate.hits,
            found.rate.runs
        );
        let came = Came::Failed(found.why.clone(), text);
        cases.push(Case { name, came, seconds: times(found.trial) });
    }
    if summary.detail.found.is_empty() && !matches!(summary.detail.standing, Standing::AlreadyFails { .. }) {
        let came = Came::Skipped(words::verdict(summary).plain());
        cases.push(Case { name: "the failure of the log".to_owned(), came, seconds: None });
    }
    Suite { header: &summary.header, failure: "reproduced" }.document(&cases)
}

/// Of a campaign of any engine.
pub fn plain<D: Detail>(Document { header, detail }: &Document<D>, times: Times<'_>) -> String {
    let mut cases = vec![Case::without(&header.workload, Came::Well, 1, times)];
    for it in detail.findings().iter().take(CASES_MAX) {
        let text = format!("{}\nrate: {}\nreplay: {}\n", it.why, words::replays(it), it.replay);
        let came = Came::Failed(it.why.clone(), text);
        cases.push(Case { name: plain::faults(it), came, seconds: times(it.trial) });
    }
    Suite { header, failure: "finding" }.document(&cases)
}

/// Of a campaign of `explain`: a case for each neighbour, and one for the inflection point.
pub fn explained(document: &Document<Explanation>, times: Times<'_>) -> String {
    let Document { header, detail } = document;
    let neighbour = |it: &NeighbourRow| {
        let came = it.left_out.as_ref().map_or(Came::Well, |why| Came::Skipped(why.clone()));
        Case { name: it.name.clone(), came, seconds: it.trial.and_then(times) }
    };
    let mut cases: Vec<Case> = detail.neighbours.iter().take(CASES_MAX).map(neighbour).collect();
    for it in &detail.findings {
        let verdict = words::explained(detail).plain();
        let text = format!("{verdict}\nrate: {}\nreplay: {}\n", words::replays(it), it.replay);
        let came = Came::Failed(it.why.clone(), text);
        cases.push(Case { name: "the failing run".to_owned(), came, seconds: times(it.trial) });
    }
    Suite { header, failure: "explained" }.document(&cases)
}

/// Of a campaign of `cascade`: a case for each test without a fault, and one for each cycle.
pub fn cascaded(Document { header, detail: it }: &Document<Cascade>, times: Times<'_>) -> String {
    let without = |it: &TestRow| {
        let came = it.left_out.as_ref().map_or(Came::Well, |why| Came::Error(format!("left out: {why}")));
        Case { name: format!("{} without a fault", it.name), came, seconds: Some(it.seconds) }
    };
    let mut cases: Vec<Case> = it.tests.iter().take(CASES_MAX).map(without).collect();
    for finding in it.cycles.iter().take(CASES_MAX) {
        let step = |it: &CascadeStep| {
            let test = it.test.as_deref().map_or_else(String::new, |it| format!(" in {it}"));
            let replay = if it.replay.is_empty() { "" } else { "\nreplay: " };
            format!(
                "{} → {}\n{}{test}: {}{replay}{}",
                it.cause,
                it.effect,
                it.kind.name(),
                words::counted(it),
                it.replay
            )
        };
        let steps: Vec<String> = finding.detail.steps.iter().map(step).collect();
        let text = format!("{}\nrate: {}\n", steps.join("\n"), words::replays(finding));
        let came = Came::Failed(finding.why.clone(), text);
        cases.push(Case { name: finding.why.clone(), came, seconds: times(finding.trial) });
    }
    Suite { header, failure: "cycle" }.document(&cases)
}

/// Of a campaign of `predict`: a case for the runs without a fault, and one for each crash that is not survived.
pub fn predicted(Document { header, detail: it }: &Document<Prediction>, times: Times<'_>) -> String {
    let without = match &it.standing {
        Forecasting::NormalFails { why } | Forecasting::Incomplete { why } => Came::Error(why.clone()),
        Forecasting::Going | Forecasting::Done => Came::Well,
    };
    let mut cases = vec![Case::without(&header.workload, without, it.runs.normal, times)];
    for finding in it.findings.iter().take(CASES_MAX) {
        let what = words::crash(&finding.detail);
        let read =
            finding.detail.r.as_ref().map_or_else(String::new, |it| format!("read of the recovery: {it}\n"));
        let text =
            format!("{}\n{read}rate: {}\nreplay: {}\n", finding.why, words::replays(finding), finding.replay);
        let came = Came::Failed(what.clone(), text);
        cases.push(Case { name: what, came, seconds: times(finding.trial) });
    }
    Suite { header, failure: "crash" }.document(&cases)
}

/// Of a campaign of `explore`.
pub fn explored(Document { header, detail: it }: &Document<Exploration>, times: Times<'_>) -> String {
    let without = match &it.standing {
        explored::Standing::NormalFails { wrong, runs } => {
            let wrong: Vec<String> =
                wrong.iter().map(|(what, failed)| format!("{what}, in {failed} of {runs} runs")).collect();
            Came::Error(wrong.join("; "))
        }
        _ => Came::Well,
    };
    let mut cases = vec![Case::without(&header.workload, without, it.normal_runs, times)];
    let name = |finding: &Finding<Suspicion>| {
        let (what, place, when) = words::fault(finding.injected());
        let state = finding.detail.state.as_deref().map_or_else(String::new, |it| format!(" in {it}"));
        let node =
            if it.has_several_nodes() { format!(" on {}", finding.detail.node) } else { String::new() };
        format!("{what} at {place}, {when}{node}{state}")
    };
    for finding in it.findings.iter().take(CASES_MAX) {
        let symptoms: Vec<&str> = finding.detail.symptoms.iter().map(|it| it.why.as_str()).collect();
        let text = format!(
            "{}\n\n{}\nseverity: {}\nrate: {}\nreplay: {}\n",
            words::one(finding.injected(), it.has_several_nodes()).plain(),
            symptoms.join("\n"),
            finding.detail.severity.name(),
            words::replays(finding),
            finding.replay
        );
        let came = Came::Failed(finding.why.clone(), text);
        cases.push(Case { name: name(finding), came, seconds: times(finding.trial) });
    }
    for finding in it.unconfirmed.iter().take(CASES_MAX) {
        let came = Came::Skipped(format!("{}: {}", words::proven(finding.proof), finding.why));
        cases.push(Case { name: name(finding), came, seconds: times(finding.trial) });
    }
    Suite { header, failure: "suspicious" }.document(&cases)
}

/// Common parts of all cases.
struct Suite<'s> {
    header: &'s Header,
    /// Name of a failure.
    failure: &'s str,
}

impl Suite<'_> {
    fn document(&self, cases: &[Case]) -> String {
        let count = |is: fn(&Came) -> bool| cases.iter().filter(|it| is(&it.came)).count();
        let totals = format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\"",
            cases.len(),
            count(|it| matches!(it, Came::Failed(..))),
            count(|it| matches!(it, Came::Error(_))),
            count(|it| matches!(it, Came::Skipped(_))),
            self.header.seconds.max(0.0)
        );
        let suite = safe(&format!("hypocenter {} {}", self.header.verb, self.header.campaign));
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"hypocenter\" {totals}>\n  <testsuite name=\"{suite}\" {totals}>\n"
        );
        let class = safe(&format!("hypocenter.{}.{}", self.header.verb, self.header.workload));
        for Case { name, came, seconds } in cases {
            let _ = write!(xml, "    <testcase classname=\"{class}\" name=\"{}\"", safe(name));
            if let Some(seconds) = seconds {
                let _ = write!(xml, " time=\"{seconds:.3}\"");
            }
            match came {
                Came::Well => xml.push_str("/>\n"),
                Came::Failed(message, text) => {
                    // Lines are ours here; what is in them is not.
                    let text: Vec<String> = text.lines().map(safe).collect();
                    let _ = write!(
                        xml,
                        ">\n      <failure message=\"{}\" type=\"{}\">{}</failure>\n    </testcase>\n",
                        safe(message),
                        self.failure,
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
                    let _ =
                        write!(xml, ">\n      <skipped message=\"{}\"/>\n    </testcase>\n", safe(message));
                }
            }
        }
        xml.push_str("  </testsuite>\n</testsuites>\n");
        xml
    }
}

fn without(summary: &Document<Reproduction>) -> Came {
    match &summary.detail.standing {
        Standing::AlreadyFails { failed, runs } => {
            Came::Error(format!("the failure happens without a fault, in {failed} of {runs} runs"))
        }
        Standing::Unreadable { why } => Came::Error(format!("it left nothing to compare: {why}")),
        Standing::Unjudged { why } => Came::Error(format!("the oracle could not judge it: {why}")),
        _ => Came::Well,
    }
}

fn safe(text: &str) -> String {
    escaped(text, TEXT_CHARS)
}
