//! The document of a campaign.

use hypocenter_results::predicted::{
    Conflict, DrawnOperation, DrawnRun, Forecasting, LeftOutPair, PairReport, Prediction, RunCounts,
    Triggered,
};
use hypocenter_results::{Finding, Proof, Rate};

use crate::engine::{Ended, Predict, Trigger};
use crate::pairs::Pair;
use crate::reader::RunOperations;

/// The most operations of a drawing.
const DRAWN_MAX: usize = 60;

impl Predict {
    /// Results so far.
    pub(crate) fn document(&self) -> Prediction {
        let mut found: Vec<(Finding<Conflict>, bool)> = self
            .failed()
            .filter_map(|it| Some((self.finding(it)?, it.came == Some(Triggered::Confirmed))))
            .collect();
        // Those that are explained by a pair come first.
        found.sort_by_key(|it| (it.0.detail.reads.is_empty(), it.0.trial));
        let (findings, unconfirmed): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| it.1);
        let correct: Vec<&RunOperations> =
            self.nodes.iter().flat_map(|it| it.correct.iter().flatten()).collect();
        let first = |all: Vec<(Finding<Conflict>, bool)>| all.into_iter().map(|it| it.0).collect();
        Prediction {
            standing: self.standing(),
            nodes: self.nodes.iter().map(|it| it.told.clone()).collect(),
            runs: RunCounts {
                normal: self.normal.len() as u64,
                crashed: self
                    .nodes
                    .iter()
                    .flat_map(|it| &it.told.crashes)
                    .filter(|it| it.came.is_some())
                    .count() as u64,
                correct: correct.len() as u64,
                triggers: self.triggers.iter().filter(|it| it.write.is_some() && it.came.is_some()).count()
                    as u64,
            },
            operations: self.normal.iter().chain(correct).flat_map(|it| &it.jvms).map(|it| it.count).sum(),
            pairs: self.pairs.all,
            pruned: self.pairs.pruned,
            left_out: self.pairs.left_out.iter().map(LeftOutPair::clone).collect(),
            unmatched: self.pairs.unmatched,
            reports: self.pairs.reports.iter().map(|it| self.report(it)).collect(),
            findings: first(findings),
            unconfirmed: first(unconfirmed),
            problems: self.problems.iter().cloned().collect(),
        }
    }

    fn standing(&self) -> Forecasting {
        match &self.ended {
            Some(Ended::NormalFails(why)) => Forecasting::NormalFails { why: why.clone() },
            Some(Ended::Incomplete(why)) => Forecasting::Incomplete { why: why.clone() },
            None if self.is_over() => Forecasting::Done,
            None => Forecasting::Going,
        }
    }

    /// A pair, with the worst that came of a crash beside its write.
    fn report(&self, it: &Pair) -> PairReport {
        let mut tried: Vec<&Trigger> =
            self.triggers.iter().filter(|other| other.write == Some(it.write)).collect();
        tried.sort_by_key(|it| it.came.as_ref().map_or(u8::MAX, badness));
        let moments = &self.pairs.writes[it.write].moments;
        let moment = tried.first().map_or(&moments[0], |it| &it.moment);
        PairReport {
            w: moment.access.clone(),
            r: it.read.clone(),
            impact: it.impact.clone(),
            side: moment.side,
            trial: tried.first().and_then(|it| it.trial),
            triggered: tried.first().and_then(|it| it.came.clone()).unwrap_or(Triggered::Untried),
        }
    }

    fn finding(&self, it: &Trigger) -> Option<Finding<Conflict>> {
        let run = it.run.as_ref()?;
        let pairs: Vec<&Pair> =
            self.pairs.reports.iter().filter(|pair| Some(pair.write) == it.write).collect();
        let rate = Rate { hits: it.tries.hits, runs: it.tries.runs };
        let (w, side) = (it.moment.access.clone(), it.moment.side);
        let last = self.last_read(run, &w.node, &pairs);
        let normal = self.normal.first().map(|normal| self.drawn(0, "without a fault", normal, it, &pairs));
        let mut failed = self.drawn(it.trial?, "with the crash", run, it, &pairs);
        failed.crash_ms = it.injected.as_ref().map(|it| it.at.at_ms);
        Some(Finding {
            faults: it.injected.iter().cloned().collect(),
            why: it.why.clone(),
            proof: Proof::of(rate),
            rate,
            missed: it.tries.missed,
            trial: it.tries.shown.map_or(it.trial?, |it| it.0),
            story: None,
            replay: String::new(),
            detail: Conflict {
                r: last.map(|it| it.read.clone()),
                reads: pairs.iter().map(|it| it.read.clone()).collect(),
                w,
                side,
                runs: normal.into_iter().chain([failed]).collect(),
                without: self.normal.len() as u64,
                window: None,
            },
        })
    }

    /// The read of a pair that a failed recovery made last, else the one whose harm is nearest.
    fn last_read<'p>(&self, run: &RunOperations, node: &str, pairs: &[&'p Pair]) -> Option<&'p Pair> {
        let order = |pair: &Pair| {
            let same = run.recovery(node).filter(|it| it.calls(&self.reader) == pair.calls);
            same.map(|it| it.group.last).max()
        };
        let made = pairs.iter().filter_map(|&it| Some((order(it)?, it))).max_by_key(|it| it.0);
        let nearest =
            || pairs.iter().min_by_key(|it| it.impact.as_ref().map_or(u32::MAX, |it| it.distance)).copied();
        made.map(|it| it.1).or_else(nearest)
    }

    /// The operations of a run on the files of a crash and its pairs.
    fn drawn(&self, trial: u64, title: &str, run: &RunOperations, of: &Trigger, pairs: &[&Pair]) -> DrawnRun {
        let w = &of.moment.access;
        let mut resources: Vec<&str> = vec![&w.resource];
        resources.extend(w.other.as_deref());
        resources.extend(pairs.iter().map(|it| it.read.resource.as_str()));
        let mut all: Vec<_> = run.seen(|it| it.node == w.node).collect();
        all.retain(|it| it.touches().iter().any(|it| resources.contains(&it.resource)));
        all.sort_by_key(|it| it.group.first.0);
        let operations = all.into_iter().take(DRAWN_MAX).map(|it| {
            let access = it.access(&self.reader);
            let is_w = it.jvm.incarnation == 1
                && (access.operation, &access.resource, access.line, &access.method)
                    == (w.operation, &w.resource, w.line, &w.method);
            let is_r =
                it.jvm.incarnation > 1 && pairs.iter().any(|pair| pair.calls == it.calls(&self.reader));
            let part = if is_w {
                Some("W")
            } else if is_r {
                Some("R")
            } else {
                None
            };
            DrawnOperation {
                node: it.jvm.node.clone(),
                incarnation: it.jvm.incarnation,
                at_ms: it.group.at_ms,
                what: access.to_string(),
                part: part.map(str::to_owned),
            }
        });
        DrawnRun { trial, title: title.to_owned(), operations: operations.collect(), crash_ms: None }
    }
}

/// The worse, the lower.
fn badness(it: &Triggered) -> u8 {
    match it {
        Triggered::Confirmed => 0,
        Triggered::Unconfirmed { .. } => 1,
        Triggered::Handled { .. } => 2,
        Triggered::Benign => 3,
        Triggered::NotReached { .. } => 4,
        Triggered::Untried => 5,
    }
}
