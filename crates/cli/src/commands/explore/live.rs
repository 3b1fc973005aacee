//! What is said while a campaign runs: one line a trial.

use std::time::Instant;

use hypocenter_engine::{DigestOf, Engine, JobId, Next};
use hypocenter_explore::{Explore, Injected, Reader, Severity, TrialRecord, Verdict};
use hypocenter_plan::Outcome;

use crate::listening::Listening;
use crate::screen::{self, BAD, DIM, WARN};

/// The engine, and a voice that tells what it learns.
pub struct Narrated {
    engine: Explore,
    /// Whether something was started by now: what a resumed campaign learnt before is not told again.
    live: Listening,
    begun: Instant,
}

impl Narrated {
    pub fn new(engine: Explore) -> Narrated {
        Narrated { engine, live: Listening::default(), begun: Instant::now() }
    }

    pub fn progress(&self) -> Listening {
        self.live.clone()
    }

    fn tell_trial(&self, trial: &TrialRecord) {
        let what = match &trial.injected {
            Some(it) => fault(it),
            None => format!("no fault ({})", trial.focus.as_deref().unwrap_or("nothing was reached")),
        };
        let (style, result) = match trial.symptoms.first() {
            None => match trial.failed_alone {
                Some(end) => (WARN, format!("the workload {end}, and no fault happened")),
                None => (DIM, "fine".to_owned()),
            },
            Some(it) if it.severity.is_suspicious() => (BAD, it.why.clone()),
            Some(it) if it.severity == Severity::Minor => (WARN, it.why.clone()),
            Some(it) => (DIM, format!("expected: {}", it.why)),
        };
        let states = match trial.new_states {
            0 => String::new(),
            it => format!(", {}", screen::count(it as u64, "new state", "new states")),
        };
        let seconds = self.begun.elapsed().as_secs_f64();
        let aside = format!("{states}; {seconds:.0} s");
        screen::step(&format!("trial {}", trial.number), &what, (style, &result), &aside);
    }
}

/// A fault in a line.
pub fn fault(it: &Injected) -> String {
    let state = it.at.state.as_deref().map_or_else(String::new, |it| format!(" in {it}"));
    format!(
        "{} at {}, hit {} there, by {} on {}{state}",
        it.fault, it.site, it.at.occurrence, it.at.thread, it.at.node
    )
}

impl Engine for Narrated {
    type Digester = Reader;
    type Verdict = Verdict;

    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn next(&mut self, room: usize) -> Next {
        self.engine.next(room)
    }

    fn digester(&self) -> Reader {
        self.engine.digester()
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: DigestOf<Self>) {
        let requests = digest.requests();
        let unreadable = digest.unreadable.clone();
        self.engine.tell(id, outcome, digest);
        if !self.live.is_live() {
            return;
        }
        if let Some(why) = unreadable {
            screen::note(&format!("trial {id}"), &why);
        }
        match (self.engine.trial_of(id), outcome) {
            (Some(trial), _) => self.tell_trial(trial),
            (None, Some(outcome)) => {
                let requests = screen::count(requests, "request", "requests");
                let injected = outcome
                    .candidates
                    .iter()
                    .any(|it| matches!(it.result, hypocenter_plan::CandidateResult::Injected(_)));
                let what = match (outcome.candidates.is_empty(), injected) {
                    (true, _) => format!("no fault, {requests}, the workload {}", outcome.end),
                    (false, true) => format!("replay or comparison, the workload {}", outcome.end),
                    (false, false) => "replay or comparison, and its fault was not reached".to_owned(),
                };
                let seconds = self.begun.elapsed().as_secs_f64();
                screen::line("run", &format!("{id}: {what}; {DIM}{seconds:.0} s{DIM:#}"));
            }
            _ => {}
        }
    }

    fn verdict(&self) -> Verdict {
        self.engine.verdict()
    }
}
