//! What is said while a campaign runs: one line a trial.

use std::collections::BTreeMap;
use std::time::Instant;

use hypocenter_engine::{DigestOf, Engine, Job, JobId, Next, Purpose};
use hypocenter_explore::{Explore, Reader, Verdict};
use hypocenter_plan::{CandidateResult, Outcome};
use hypocenter_results::Injected;
use hypocenter_results::explored::{Severity, Tried};

use super::REPLAYED_FINDINGS_MAX;
use crate::args::KeyChoice;
use crate::listening::Listening;
use crate::request::ExploreRequest;
use crate::screen::{self, BAD, DIM, WARN, span};

/// The engine, and a voice that tells what it learns.
pub struct Narrated {
    engine: Explore,
    /// Whether something was started by now: what a resumed campaign learnt before is not told again.
    live: Listening,
    begun: Instant,
    /// The campaign's name.
    name: String,
    several_nodes: bool,
    again: Again,
    /// Runs that were told since it began.
    told: u64,
    /// Whether requests are grouped by states alone.
    by_state: bool,
    /// Whether it was told that a call crowds others out.
    crowd_told: bool,
}

/// What comes when the trials are over.
#[derive(Debug)]
struct Again {
    /// Replays of each finding.
    replays: u64,
    /// Trials that each is compared with.
    comparisons: u64,
    /// For each replay, by its number in the campaign, what it is.
    known: BTreeMap<JobId, String>,
    /// How many of each finding, by its trial, were begun.
    begun: BTreeMap<u64, u64>,
    /// True once it was said what follows the trials.
    is_announced: bool,
    compared: u64,
}

impl Narrated {
    pub fn new(engine: Explore, name: String, several_nodes: bool, what: &ExploreRequest) -> Narrated {
        let again = Again {
            replays: what.replays,
            comparisons: what.neighbours.saturating_mul(3),
            known: BTreeMap::new(),
            begun: BTreeMap::new(),
            is_announced: false,
            compared: 0,
        };
        Narrated {
            engine,
            live: Listening::default(),
            begun: Instant::now(),
            name,
            several_nodes,
            again,
            told: 0,
            by_state: what.key == KeyChoice::State.name(),
            crowd_told: false,
        }
    }

    pub fn progress(&self) -> Listening {
        self.live.clone()
    }

    /// Seconds that people have waited for it.
    fn gone(&self) -> f64 {
        self.live.elapsed().as_secs_f64()
    }

    /// Knows a job that is about to begin, if it follows the trials.
    fn know(&mut self, job: &Job) {
        let what = match job.purpose {
            Purpose::Replay(of) => {
                self.announce_once();
                let number = self.again.begun.entry(of.0).or_default();
                *number += 1;
                format!("replay {number} of {} of {}/{of}", self.again.replays, self.name)
            }
            Purpose::Near(of) => {
                self.again.compared += 1;
                format!("comparison {} of {}/{of} with what is near it", self.again.compared, self.name)
            }
            _ => return,
        };
        self.again.known.insert(job.id, what);
    }

    /// Says what follows the trials, before the first of it.
    fn announce_once(&mut self) {
        if std::mem::replace(&mut self.again.is_announced, true) {
            return;
        }
        let findings = self.engine.verdict().findings;
        let suspicious = findings.iter().filter(|it| it.is_suspicious()).count();
        self.announce(suspicious.min(REPLAYED_FINDINGS_MAX) as u64);
    }

    /// Says before the first trial that a call makes nearly all requests of a state: afterwards the trials are spent.
    fn tell_crowd(&mut self) {
        let is_first = !std::mem::replace(&mut self.crowd_told, true);
        let Some(it) = self.engine.crowded().filter(|_| is_first && self.by_state && self.live.is_live())
        else {
            return;
        };
        let (made, all) = (screen::thousands(it.made), screen::count(it.requests, "request", "requests"));
        let others = screen::count(it.others as u64, "other call", "other calls");
        let what = format!(
            "{} makes {made} of the {all} in {}, so the {others} there are seldom drawn",
            it.site, it.key
        );
        screen::line("busy", &screen::clean(&what));
        screen::line("", "--key operation gives each call turns of its own");
    }

    /// Says what follows the trials, of which so many findings came.
    fn announce(&self, findings: u64) {
        if !self.live.is_live() {
            return;
        }
        let Again { replays, comparisons, .. } = self.again;
        let finding = if findings == 1 { "finding is" } else { "findings are" };
        let times = if replays == 1 { "once".to_owned() } else { format!("{replays} times") };
        let mut what = format!("the trials are over; {findings} suspicious {finding} replayed {times}");
        if comparisons > 0 {
            what += &format!(", and what repeats is compared with up to {comparisons} other trials");
        }
        let most = findings.saturating_mul(replays.saturating_add(comparisons));
        let each = self.begun.elapsed().as_secs_f64() / self.told.max(1) as f64;
        let runs = if most == 1 { "1 run".to_owned() } else { format!("{most} runs") };
        what += &format!(": {runs} at most, about {}", span(each * most as f64));
        screen::line("replays", &what);
    }

    fn tell_trial(&self, trial: &Tried, outcome: Option<&Outcome>) {
        let what = match &trial.injected {
            Some(it) => fault(it, self.several_nodes),
            None => format!("no fault ({})", trial.focus.as_deref().unwrap_or("nothing was reached")),
        };
        let (style, result) = match trial.symptoms.first() {
            None => match trial.failed_alone {
                Some(end) => {
                    let what = format!("the workload {end}, and no fault happened");
                    (WARN, outcome.map_or_else(|| what.clone(), |it| it.after_node_ends(&what)))
                }
                None if trial.injected.is_none() => (DIM, outcome.map_or_else(String::new, why_not)),
                None => (DIM, "fine".to_owned()),
            },
            Some(it) if it.severity.is_suspicious() => (BAD, it.why.clone()),
            Some(it) if it.severity == Severity::Minor => (WARN, it.why.clone()),
            Some(it) => (DIM, format!("expected: {}", it.why)),
        };
        let states = match trial.new_states {
            0 => String::new(),
            it => format!(", {}", screen::count(it, "new state", "new states")),
        };
        let aside = format!("{states}; {}/{}, {}", self.name, trial.trial, span(self.gone()));
        screen::step(&format!("trial {}", trial.number), &what, (style, &result), &aside);
    }
}

/// Why no fault happened, as far as the outcome knows.
fn why_not(outcome: &Outcome) -> String {
    let whys = outcome.candidates.iter().filter_map(|it| match &it.result {
        CandidateResult::NotReached { why } | CandidateResult::Refused { why } => Some(why),
        CandidateResult::Injected(_) | CandidateResult::NotNeeded => None,
    });
    let whys: Vec<&String> = whys.collect();
    let hits: u64 = outcome.candidates.iter().map(|it| it.hits).sum();
    match (whys.as_slice(), hits) {
        ([], _) => "nothing was reached".to_owned(),
        ([why], _) => (*why).clone(),
        (several, 0) => format!("none of its {} calls was reached in that state", several.len()),
        (several, hits) => format!(
            "its {} calls were reached {} in that state, and passed over: by chance, or because they only work in memory",
            several.len(),
            screen::count(hits, "time", "times")
        ),
    }
}

/// A fault in a line. Of one node nobody needs the name.
pub fn fault(it: &Injected, several_nodes: bool) -> String {
    let node = if several_nodes { format!(" on {}", it.at.node) } else { String::new() };
    let state = it.at.state.as_deref().map_or_else(String::new, |it| format!(" in {it}"));
    format!("{} at {}, hit {} there, by {}{node}{state}", it.fault, it.site, it.at.occurrence, it.at.thread)
}

impl Engine for Narrated {
    type Digester = Reader;
    type Verdict = Verdict;

    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn next(&mut self, room: usize) -> Next {
        let next = self.engine.next(room);
        if let Next::Start(jobs) = &next {
            if jobs.iter().any(|it| it.purpose == Purpose::Probe) {
                self.tell_crowd();
            }
            jobs.iter().for_each(|it| self.know(it));
        }
        next
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
        self.told += 1;
        match (self.engine.trial_of(id), outcome) {
            (Some(trial), _) => self.tell_trial(trial, outcome),
            (None, Some(outcome)) => {
                let requests = screen::count(requests, "request", "requests");
                let again = self.again.known.get(&id).map_or("replay or comparison", String::as_str);
                let what = match (outcome.candidates.is_empty(), outcome.injected() > 0) {
                    (true, _) => format!("no fault, {requests}, the workload {}", outcome.end),
                    (false, true) => format!("{again}, the workload {}", outcome.end),
                    (false, false) => format!("{again}, and its fault was not reached"),
                };
                let what = screen::clean(&outcome.after_node_ends(&what));
                let seconds = self.gone();
                let name = screen::clean(&self.name);
                screen::line("run", &format!("{name}/{id}: {what}; {DIM}{seconds:.0} s{DIM:#}"));
            }
            _ => {}
        }
    }

    fn keeps_trace(&self, id: JobId) -> bool {
        self.engine.keeps_trace(id)
    }

    fn verdict(&self) -> Verdict {
        self.engine.verdict()
    }
}
