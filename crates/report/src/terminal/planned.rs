//! The lines of a dry run: the trials that would come first, and how much there may be to do.

use hypocenter_plan::{Candidate, Plan};

use super::Line;
use crate::text::{count, span};
use crate::words::short_place;

/// The most candidates of a trial that are named.
const NAMED_MAX: usize = 3;

/// The trials that would be run next, in order.
pub fn planned(plans: &[&Plan]) -> Vec<Line> {
    let lines = plans.iter().enumerate().flat_map(|(number, plan)| trial(number + 1, plan));
    let head = match plans.len() {
        0 => Line::new("planned", "nothing is left to try"),
        some => Line::new("planned", format!("the first {} would be", count(some as u64, "trial", "trials"))),
    };
    std::iter::once(head).chain(lines).collect()
}

fn trial(number: usize, plan: &Plan) -> Vec<Line> {
    let (named, others) = plan.candidates.split_at(plan.candidates.len().min(NAMED_MAX));
    let mut lines: Vec<Line> = named.iter().map(|it| Line::more(candidate(it))).collect();
    if let Some(first) = lines.first_mut() {
        first.label = Some(format!("trial {number}"));
    }
    if !others.is_empty() {
        let others = count(others.len() as u64, "other candidate", "other candidates");
        lines.push(Line::more(format!("and {others}; the first that is reached happens")));
    }
    lines
}

/// A candidate: what, where, and when.
fn candidate(it: &Candidate) -> String {
    let mut text = short_place(&it.fault, &it.site);
    let guard = &it.when;
    let parts = [
        guard.occurrence.map(|it| format!(", hit {it}")),
        guard.thread.as_ref().map(|it| format!(" of thread {it}")),
        guard.node.as_ref().map(|it| format!(" on {it}")),
        guard.state.as_ref().map(|it| format!(" in {it}")),
        guard.probability.map(|it| format!(" with probability {it:.3}")),
    ];
    text.extend(parts.into_iter().flatten());
    text
}

/// A forecast of what a campaign may take, from its first runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// The most trials that may follow, without replays.
    pub trials: u64,
    /// How many run at once.
    pub jobs: u64,
    /// Seconds that a run took.
    pub run_seconds: f64,
    /// Bytes that a run left.
    pub run_bytes: u64,
}

impl Forecast {
    /// How long the trials may take together.
    pub fn seconds(&self) -> f64 {
        self.run_seconds * self.trials.div_ceil(self.jobs.max(1)) as f64
    }

    /// The forecast in a line.
    pub fn line(&self) -> Line {
        let seconds = self.seconds();
        let gigabytes = (self.run_bytes as f64 * self.trials as f64) / 1e9;
        let size = if gigabytes < 0.1 { "less than 0.1 GB".to_owned() } else { format!("{gigabytes:.1} GB") };
        let trials = count(self.trials, "trial", "trials");
        let jobs = count(self.jobs, "job", "jobs");
        Line::new(
            "estimate",
            format!("at most {trials} and their replays, {} with {jobs}, {size}", span(seconds)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_counts_trials_side_by_side_once() {
        let forecast = Forecast { trials: 480, jobs: 2, run_seconds: 12.5, run_bytes: 2_500_000 };
        let said = "at most 480 trials and their replays, 50 min with 2 jobs, 1.2 GB";
        assert_eq!(forecast.line(), Line::new("estimate", said));
        let small = Forecast { trials: 1, jobs: 1, run_seconds: 2.0, run_bytes: 9 };
        let said = "at most 1 trial and their replays, 2 s with 1 job, less than 0.1 GB";
        assert_eq!(small.line(), Line::new("estimate", said));
    }
}
