//! What is said while a campaign runs: one line a round.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hypocenter_engine::{DigestOf, Engine, Job, JobId, Next};
use hypocenter_lab::Progress;
use hypocenter_plan::Outcome;
use hypocenter_reproduce::{Case, Injected, Reader, Reproduce, Round, Verdict};

use crate::screen::{self, BAD, DIM, GOOD};

/// The engine, and a voice that tells what it learns.
pub struct Narrated {
    engine: Reproduce,
    /// Whether something was started by now: what a resumed campaign learnt before is not told again.
    live: Arc<AtomicBool>,
    sites_total: usize,
    begun: Instant,
    /// Whether the start of the search was told.
    search_told: bool,
}

/// Hears when the first job starts.
pub struct Listening(Arc<AtomicBool>);

impl Progress for Listening {
    fn resumed(&self, told: u64, cut: bool) {
        let more = if cut { "; its last line was cut short, and that trial is run again" } else { "" };
        screen::line("resumed", &format!("{} trials are done{more}", screen::thousands(told)));
    }

    fn started(&self, _: &Job) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Narrated {
    pub fn new(engine: Reproduce, case: &Case) -> Narrated {
        Narrated {
            engine,
            live: Arc::default(),
            sites_total: case.catalogue().sites().len(),
            begun: Instant::now(),
            search_told: false,
        }
    }

    pub fn progress(&self) -> Listening {
        Listening(self.live.clone())
    }

    /// What the normal runs gave.
    fn tell_search(&mut self) {
        let verdict = self.engine.verdict();
        if self.search_told || verdict.missing.is_empty() {
            return;
        }
        self.search_told = true;
        if !self.live.load(Ordering::Relaxed) {
            return;
        }
        let count = |count: usize| screen::thousands(count as u64);
        screen::line(
            "missing",
            &format!(
                "{} things in the failure log that normal runs do not show",
                count(verdict.missing.len())
            ),
        );
        for it in verdict.missing.iter().filter(|it| it.sites > 0).take(MISSING_SHOWN) {
            screen::line(
                "",
                &format!("{DIM}line {:<5}{DIM:#} {}", it.line, screen::clean(&shortened(&it.message))),
            );
        }
        screen::line(
            "search",
            &format!(
                "{} of {} sites lead there, {} of them are reached, {} times",
                count(verdict.sites_inferred),
                count(self.sites_total),
                count(verdict.sites_reached),
                count(verdict.instances)
            ),
        );
        screen::gap();
    }

    fn tell_round(&self, round: &Round, observables: usize) {
        let mut stderr = anstream::stderr();
        let what = match &round.fault {
            Some(it) => fault(it),
            None => format!("nothing of {} was reached", round.window),
        };
        let (style, result) = if round.happened {
            (GOOD, "the failure happened".to_owned())
        } else if round.fault.is_none() {
            (BAD, "no fault".to_owned())
        } else {
            (DIM, format!("shows {} of {observables}", round.shown.len()))
        };
        let rank = round.rank.map_or_else(String::new, |it| format!(" (rank {it})"));
        let seconds = self.begun.elapsed().as_secs_f64();
        let _ = writeln!(
            stderr,
            "  {DIM}round {:<4}{DIM:#}{} {DIM}{rank}{DIM:#} {style}{result}{style:#} {DIM}{seconds:.0} s{DIM:#}",
            round.number,
            screen::clean(&what)
        );
    }
}

/// Missing things that are shown; the report has all.
const MISSING_SHOWN: usize = 6;

/// The beginning of a message.
pub fn shortened(text: &str) -> String {
    const SHOWN_CHARS: usize = 100;
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown += "...";
    }
    shown
}

/// A fault in a line.
pub fn fault(it: &Injected) -> String {
    format!("{} at {}, hit {} of {}", it.fault, it.site, it.at.occurrence, it.at.thread)
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
        let failed = outcome.and_then(|it| it.failure.as_ref()).is_some_and(|it| it.happened);
        self.engine.tell(id, outcome, digest);
        match self.engine.round_of(id) {
            _ if !self.live.load(Ordering::Relaxed) => {}
            Some(round) => self.tell_round(round, self.engine.observables()),
            None => {
                let what = if failed { "the failure happened" } else { "no failure" };
                screen::line(
                    "run",
                    &format!("{id}: {what} {DIM}{:.0} s{DIM:#}", self.begun.elapsed().as_secs_f64()),
                );
            }
        }
        self.tell_search();
    }

    fn verdict(&self) -> Verdict {
        self.engine.verdict()
    }
}
