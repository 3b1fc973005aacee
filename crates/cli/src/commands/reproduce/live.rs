//! What is said while a campaign runs: one line a round.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use hypocenter_engine::{DigestOf, Engine, JobId, Next};
use hypocenter_plan::{Fault, Outcome, Site};
use hypocenter_report::without_numbers;
use hypocenter_reproduce::{Case, Reader, Reproduce, Silent, Verdict};
use hypocenter_results::Injected;
use hypocenter_results::reproduced::{Again, Missing, Round, Standing};

use super::closest::shown_alone;
use super::measured::Rounds;
use crate::listening::Listening;
use crate::screen::{self, BAD, DIM, GOOD, WARN, span};

/// Threads that fall silent and are named.
const SILENT_SHOWN: usize = 3;
/// What a thread lacks that falls silent, at the least, to be worth a word: the end of a log is ragged.
const SILENT_ENTRIES_MIN: u32 = 3;

/// The engine, and a voice that tells what it learns.
pub struct Narrated {
    engine: Reproduce,
    /// Whether something was started by now: what a resumed campaign learnt before is not told again.
    live: Listening,
    sites_total: usize,
    several_logs: bool,
    several_nodes: bool,
    /// Whether delays are tried.
    delays: bool,
    budget: u64,
    /// Whether the start of the search was told.
    search_told: bool,
    pace: Pace,
    /// How many calls there are to try.
    calls: usize,
    /// Those at which a fault happened.
    tried: Vec<Site>,
    /// What rounds have shown so far.
    seen: BTreeSet<u32>,
    rounds: Rounds,
    /// For each round that showed the failure after how many seconds.
    happened: BTreeMap<u64, f64>,
    /// The round that is being replayed, or was last.
    replayed: Option<Replayed>,
    /// Whether it was told that what was found leaves something unexplained.
    doubt_told: bool,
    /// Whether it was told what it means that no fault was reached.
    unreached_told: bool,
}

/// A round that showed the failure, and what came of its replays so far.
struct Replayed {
    round: u64,
    hits: u64,
    runs: u64,
    /// How many faults they had: of two the second is replayed alone first.
    faults: usize,
    /// The last of them that has ended.
    last: Option<JobId>,
}

impl Replayed {
    /// What to say where the round is not what was looked for.
    fn was_chance(&self) -> String {
        let Replayed { round, hits, runs, .. } = self;
        if *runs == 0 {
            return format!("no replay of round {round} reached its fault");
        }
        let was = if *hits == 0 { "was" } else { "may be" };
        format!("round {round} {was} chance: {hits} of {runs} replays showed it")
    }
}

impl Narrated {
    pub fn new(engine: Reproduce, case: &Case, several_nodes: bool, delays: bool, budget: u64) -> Narrated {
        Narrated {
            engine,
            live: Listening::default(),
            sites_total: case.catalogue().sites().len(),
            several_logs: case.logs() > 1,
            several_nodes,
            delays,
            budget,
            search_told: false,
            pace: Pace::begun(),
            calls: 0,
            tried: Vec::new(),
            seen: BTreeSet::new(),
            rounds: Rounds::default(),
            happened: BTreeMap::new(),
            replayed: None,
            doubt_told: false,
            unreached_told: false,
        }
    }

    /// Says that the search goes on although something was found, and why.
    fn tell_doubt(&mut self) {
        let Some((rounds, unexplained)) = self.engine.in_doubt().filter(|_| !self.doubt_told) else { return };
        self.doubt_told = true;
        if !self.live.is_live() {
            return;
        }
        let missing = self.engine.verdict().missing;
        let lines: Vec<String> = missing
            .iter()
            .filter(|it| unexplained.contains(&it.key))
            .map(|it| number_of(it, self.several_logs))
            .collect();
        let line = if self.several_logs { "" } else { "line " };
        let rounds = screen::count(rounds, "more round", "more rounds");
        let text = format!(
            "that brings the failure, but not {line}{}, to which other faults lead: {rounds} at most for one that brings both (--doubt; \
             Ctrl-C ends them, and shows what was found)",
            lines.join(", ")
        );
        screen::line("", &screen::clean(&text));
    }

    /// Takes down what a replay with so many faults, or a run without a fault beside it, came to. One that did not reach them
    /// says nothing.
    fn tell_replay(&mut self, id: JobId, faults: usize, reached: bool, happened: bool) {
        if let Some(it) = &mut self.replayed {
            if faults > it.faults {
                (it.hits, it.runs, it.faults) = (0, 0, faults);
            }
            let counts = faults > 0 && reached;
            it.runs += u64::from(counts);
            it.hits += u64::from(counts && happened);
            it.last = it.last.max(Some(id));
        }
    }

    /// Says what came of a run that is no round.
    fn tell_run(&mut self, id: JobId, outcome: Option<&Outcome>, reached: bool) {
        let failed = outcome.and_then(|it| it.failure.as_ref()).is_some_and(|it| it.happened);
        let faults = outcome.map_or(0, |it| it.candidates.len());
        let injected = outcome.is_some_and(|it| it.injected() == faults);
        self.tell_replay(id, faults, reached, failed);
        self.pace = Pace::begun();
        if !self.live.is_live() {
            return;
        }
        let is_part = self.rounds_faults() > faults;
        let with = match faults {
            0 => "no fault",
            _ if !injected => "the fault was not reached",
            _ if !reached => "its call was reached by another way",
            1 if is_part => "the second fault alone",
            1 => "the same fault",
            _ => "the same faults",
        };
        let what = if failed { "the failure happened" } else { "no failure" };
        let with = outcome.map_or_else(|| with.to_owned(), |it| screen::clean(&it.after_node_ends(with)));
        let so_far = match &self.replayed {
            Some(it) if faults > 0 && reached && it.runs > 1 => {
                format!(", {} of {} replays so far", it.hits, it.runs)
            }
            _ => String::new(),
        };
        let gone = span(self.gone());
        screen::line("run", &format!("trial {id}: {with}, {what}{so_far}; {DIM}{gone}{DIM:#}"));
    }

    /// Says that the replays begin anew with the moment counted over a pool, if they do.
    fn tell_pool(&mut self) {
        let (Some(pool), Some(it)) = (self.engine.asks_pool(), &mut self.replayed) else { return };
        (it.hits, it.runs) = (0, 0);
        if self.live.is_live() {
            let what = format!(
                "replays differ, and which thread gets there may be chance: once more, counted over threads {pool}"
            );
            screen::line("", &screen::clean(&what));
        }
    }

    /// How many faults the round had that is being replayed.
    fn rounds_faults(&self) -> usize {
        let number = self.replayed.as_ref().map(|it| it.round);
        let round = number.and_then(|it| self.engine.numbered(it));
        round.map_or(0, |it| it.kept.len() + usize::from(it.fault.is_some()))
    }

    /// Says that a round was not what was looked for, once its replays are over: no round is asked for before. `next` is one that
    /// has ended, or nothing where no more follow.
    fn tell_chance(&mut self, next: Option<JobId>) {
        let is_over = |it: &mut Replayed| it.faults > 0 && next.is_none_or(|next| Some(next) > it.last);
        let Some(it) = self.replayed.take_if(is_over) else { return };
        let verdict = self.engine.verdict();
        let is_by_itself = matches!(verdict.standing, Standing::AlreadyFails { .. });
        if self.live.is_live() && !is_by_itself && verdict.found.iter().all(|found| found.round != it.round) {
            let going_on = if next.is_some() { "; going on" } else { "" };
            screen::line("", &format!("{}{going_on}", it.was_chance()));
        }
    }

    /// What the outcomes of the rounds say.
    pub fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// Seconds that people have waited for it.
    fn gone(&self) -> f64 {
        self.live.elapsed().as_secs_f64()
    }

    /// After how many seconds what was found first was found.
    pub fn found_seconds(&self) -> Option<f64> {
        let round = self.engine.verdict().found.first()?.round;
        self.happened.get(&round).copied()
    }

    pub fn progress(&self) -> Listening {
        self.live.clone()
    }

    /// What the normal runs gave.
    fn tell_search(&mut self) {
        if self.search_told {
            return;
        }
        let verdict = self.engine.verdict();
        if verdict.missing.is_empty() {
            return;
        }
        self.search_told = true;
        self.calls = verdict.sites_reached + verdict.sites_beyond;
        if !self.live.is_live() {
            return;
        }
        let count = |count: usize| screen::thousands(count as u64);
        screen::line(
            "missing",
            &format!(
                "{} in the failure log that normal runs do not show",
                screen::count(verdict.missing.len() as u64, "thing", "things")
            ),
        );
        let mut more_often_told = false;
        for it in worth_telling(&verdict.missing).take(MISSING_SHOWN) {
            let node =
                if self.several_logs { format!("{} ", screen::clean(&it.node)) } else { String::new() };
            let often = match it.normal {
                0 => String::new(),
                some => format!(" {DIM}({} times, normal runs {some}){DIM:#}", it.times + some),
            };
            let unknown = match (&it.not_run, it.sites) {
                (Some(method), _) => {
                    let method = screen::clean(method);
                    format!(" {WARN}(logged by {method}, which this workload does not seem to run){WARN:#}")
                }
                (None, 0) => format!(" {DIM}(no exception is known to lead here){DIM:#}"),
                (None, _) => String::new(),
            };
            // What is counted has other numbers each time.
            let message = if it.normal > 0 { without_numbers(&it.message) } else { it.message.clone() };
            let message = screen::clean(&shortened(&message));
            screen::line("", &format!("{DIM}{node}line {:<5}{DIM:#} {message}{often}{unknown}", it.line));
            if is_longer(it) && !more_often_told {
                more_often_told = true;
                screen::line(
                    "",
                    &format!("  {MORE_OFTEN}: a longer workload may be needed, see `hypocenter guide start`"),
                );
            }
        }
        if let Some(more @ 1..) = verdict.missing.len().checked_sub(MISSING_SHOWN) {
            screen::line("", &format!("and {} more (the report has all)", count(more)));
        }
        let beyond = match verdict.sites_beyond {
            0 => String::new(),
            some => {
                let others = screen::count(some as u64, "other", "others");
                format!(", and {others}, which come later as no way from them is known")
            }
        };
        let moments = screen::count(verdict.instances as u64, "moment", "moments");
        let what = match (verdict.sites_inferred, verdict.sites_beyond) {
            (0, others) => format!(
                "no call is known to lead to that; {} of {} are tried all the same: {moments} to try",
                count(others),
                count(self.sites_total)
            ),
            (inferred, _) => format!(
                "{} of {} calls can lead to that; the workload makes {} of the {0}{beyond}: {moments} to try",
                count(inferred),
                count(self.sites_total),
                count(verdict.sites_reached),
            ),
        };
        screen::line("search", &what);
        for it in worth_silence(&verdict.silent).take(SILENT_SHOWN) {
            let what = format!(
                "thread {} says no more where normal runs go on, {} of them",
                it.thread,
                screen::count(it.entries.into(), "entry", "entries")
            );
            screen::line("silent", &screen::clean(&what));
        }
        let has_exception = |it: &Missing| it.normal == 0 && it.message.contains("Exception");
        if self.delays && verdict.missing.iter().any(has_exception) {
            screen::line("", "the log names exceptions: `--faults exceptions` saves the rounds with delays");
        }
        screen::gap();
    }

    fn tell_round(&mut self, round: &Round, outcome: Option<&Outcome>) {
        let what = match &round.fault {
            Some(it) => short(it, self.several_nodes),
            None => unreached(outcome, round),
        };
        let kept = round.kept.iter().map(|it| short(it, self.several_nodes) + " + ");
        let what = kept.chain([what]).collect::<String>();
        let (style, result) = if round.happened {
            (GOOD, "the failure happened".to_owned())
        } else if round.fault.is_none() {
            (BAD, "no fault".to_owned())
        } else {
            (DIM, self.changed(round))
        };
        let result = match round.again {
            Some(Again::ForSecond) => {
                format!("once more, and alone: a second fault is searched for behind it; {result}")
            }
            Some(Again::WithoutKept) => format!("{result}; the fault that is kept did not happen this time"),
            Some(Again::Instead) => format!("in place of the delay; {result}"),
            Some(Again::Earlier) => {
                format!("earlier, as what it leads to may take its time; {result}")
            }
            None => result,
        };
        let result = outcome.map_or_else(|| result.clone(), |it| it.after_node_ends(&result));
        let calls = match self.calls {
            0 => String::new(),
            all => format!("; {} of {} tried", self.tried.len(), screen::count(all as u64, "call", "calls")),
        };
        let aside = format!("{calls}; trial {}, {}", round.trial, self.times(round));
        screen::step(&format!("round {}", round.number), &what, (style, &result), &aside);
        if round.fault.is_none() && !round.happened && !self.unreached_told {
            self.unreached_told = true;
            screen::line(
                "",
                "runs differ, so a fault may not come where it did before; the next round has more to choose from",
            );
        }
    }

    /// What a round changed in the log.
    fn changed(&self, round: &Round) -> String {
        let all = self.engine.observables();
        let shows = if round.kept.is_empty() {
            format!("shows {} of {all}", round.shown.len())
        } else {
            let alone = shown_alone(&self.engine.verdict().rounds, round);
            let more = round.shown.iter().filter(|it| !alone.contains(it)).count();
            format!("both show {} of {all}, {more} that the first alone does not", round.shown.len())
        };
        if round.shown.iter().all(|it| self.seen.contains(it)) {
            return shows;
        }
        let missing = self.engine.verdict().missing;
        let lines = missing.iter().filter(|it| round.shown.contains(&it.key) && !self.seen.contains(&it.key));
        let lines: Vec<String> = lines.map(|it| number_of(it, self.several_logs)).collect();
        let line = if self.several_logs { "" } else { "line " };
        match lines.len() {
            ..=NEW_SHOWN => format!("{shows}, new: {line}{}", lines.join(", ")),
            some => format!("{shows}, {some} of them new"),
        }
    }

    /// How long it took so far, and how long the rounds may take that are left, where that can be said.
    fn times(&self, round: &Round) -> String {
        let gone = span(self.gone());
        let left = self.budget.saturating_sub(round.number);
        let each = each(self.pace.rounds, self.pace.begun.elapsed().as_secs_f64());
        match each.filter(|_| !round.happened && left > 0) {
            Some(each) => {
                let left_over = screen::count(left, "more round", "more rounds");
                format!("{gone}, about {} for {left_over}", span(each * left as f64))
            }
            None => gone,
        }
    }
}

/// How fast rounds follow one another.
struct Pace {
    /// When the first began.
    begun: Instant,
    /// How many were told since.
    rounds: usize,
}

impl Pace {
    fn begun() -> Pace {
        Pace { begun: Instant::now(), rounds: 0 }
    }
}

/// Rounds before anything is said of those to come.
const PACE_ROUNDS: usize = 5;

/// How long a round takes, after so many that took so long together. Nothing if they are few. A delay, or a system that hangs, makes a
/// round far longer than others; there will be about as many of those to come.
fn each(rounds: usize, together: f64) -> Option<f64> {
    (rounds >= PACE_ROUNDS).then(|| together / rounds as f64)
}

/// Faults that were not reached and are named.
const UNREACHED_NAMED: usize = 2;
/// New lines that a round is told to show; of more, only how many.
const NEW_SHOWN: usize = 3;
/// Missing things that are shown; the report has all.
const MISSING_SHOWN: usize = 6;

/// Whether the failure did something so much more often than the workload that it will have run for longer. Once more is what a failure
/// does.
pub fn is_longer(missing: &Missing) -> bool {
    missing.normal > 0 && missing.times >= 2 * missing.normal
}

/// Said of something that normal runs show too, and the failure more often.
const MORE_OFTEN: &str = "the failure did this more often than the workload does";

/// What is missing, in the order of the log; what nothing is known to lead to comes last.
fn worth_telling(missing: &[Missing]) -> impl Iterator<Item = &Missing> {
    let (led_to, others): (Vec<&Missing>, Vec<&Missing>) = missing.iter().partition(|it| it.sites > 0);
    led_to.into_iter().chain(others)
}

/// The threads that fall silent and lack enough to be worth a word.
pub fn worth_silence(silent: &[Silent]) -> impl Iterator<Item = &Silent> {
    silent.iter().filter(|it| it.entries >= SILENT_ENTRIES_MIN)
}

/// The beginning of a message.
pub fn shortened(text: &str) -> String {
    const SHOWN_CHARS: usize = 100;
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown += "...";
    }
    shown
}

/// A fault in a short line: classes without their packages.
fn short(it: &Injected, several_nodes: bool) -> String {
    format!("{}, {}", place(&it.fault, &it.site), moment(it, several_nodes))
}

/// What and where: classes without their packages.
fn place(fault: &Fault, site: &Site) -> String {
    let simple = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let what = match fault {
        Fault::Exception { class, .. } => simple(class),
        other => other.to_string(),
    };
    let line = site.line.map_or_else(String::new, |it| format!(":{it}"));
    let callee = site.callee.as_deref().map_or_else(String::new, |it| {
        let name = it.split('(').next().unwrap_or(it);
        let (class, method) = name.rsplit_once('.').unwrap_or(("", name));
        format!(" -> {}.{method}", simple(class))
    });
    format!("{what} at {}.{}{line}{callee}", simple(&site.class), site.method_in_source())
}

/// What is said of a round in which nothing happened: what it was given, the likeliest first.
fn unreached(outcome: Option<&Outcome>, round: &Round) -> String {
    let given = outcome.map_or(&[][..], |it| &it.candidates);
    let given = given.get(given.len().saturating_sub(round.window as usize)..).unwrap_or_default();
    let mut places: Vec<String> = Vec::new();
    for it in given {
        let place = place(&it.fault, &it.site);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let more = match places.len().saturating_sub(UNREACHED_NAMED) {
        0 => String::new(),
        some => format!(" and {some} more"),
    };
    places.truncate(UNREACHED_NAMED);
    let places = places.join(", ");
    match round.window {
        1 => format!("its fault was not reached ({places})"),
        several => format!("none of {several} faults was reached ({places}{more})"),
    }
}

/// A line of the failure log: of one, or of one of several.
pub fn line_of(line: u32, node: &str, are_several: bool) -> String {
    if are_several {
        format!("line {line} of {node}'s log")
    } else {
        format!("line {line} of the failure log")
    }
}

/// The number of a line of the failure log: of one, or of one of several.
pub fn number_of(it: &Missing, are_several: bool) -> String {
    if are_several { format!("{}:{}", it.node, it.line) } else { it.line.to_string() }
}

/// A fault in a line. Of one node nobody needs the name.
pub fn fault(it: &Injected, several_nodes: bool) -> String {
    format!("{} at {}, {}", it.fault, it.site, moment(it, several_nodes))
}

/// When a fault happened, and to whom.
fn moment(it: &Injected, several_nodes: bool) -> String {
    let node = if several_nodes { format!(" on {}", it.at.node) } else { String::new() };
    it.at.hit(&it.guard, it.at.occurrence) + &node
}

impl Engine for Narrated {
    type Digester = Reader;
    type Verdict = Verdict;

    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn next(&mut self, room: usize) -> Next {
        let next = self.engine.next(room);
        if matches!(next, Next::Done) {
            self.tell_chance(None);
        }
        next
    }

    fn digester(&self) -> Reader {
        self.engine.digester()
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: DigestOf<Self>) {
        // Asked before it is told, while what it is a replay of is being proved.
        let reached = outcome.is_some_and(|it| self.engine.is_replayed_by(it));
        let pool = self.engine.asks_pool().map(str::to_owned);
        // The engine may take long to learn from it, so a run that is no round is told before.
        let is_run = !self.engine.is_open_round(id);
        if is_run {
            self.tell_run(id, outcome, reached);
        }
        self.engine.tell(id, outcome, digest);
        let round = self.engine.round_of(id).cloned();
        for it in round.iter().flat_map(|it| &it.fault) {
            if !self.tried.contains(&it.site) {
                self.tried.push(it.site.clone());
            }
        }
        if let (Some(_), Some(outcome)) = (&round, outcome) {
            self.rounds.add(outcome);
            self.pace.rounds += 1;
        }
        let is_live = self.live.is_live();
        if let Some(round) = round.as_ref().filter(|it| it.happened) {
            self.happened.insert(round.number, self.gone());
        }
        if let Some(round) = &round {
            self.tell_chance(Some(id));
            // While one is replayed, another is not; what was tried in its place is.
            let is_next = matches!(round.again, Some(Again::Instead | Again::Earlier));
            let is_free = self.replayed.is_none() || is_next;
            if round.happened && round.fault.is_some() && is_free {
                self.replayed =
                    Some(Replayed { round: round.number, hits: 0, runs: 0, faults: 0, last: None });
            }
        }
        match &round {
            // What was recorded before is told at once.
            _ if !is_live => self.pace = Pace::begun(),
            Some(round) => self.tell_round(round, outcome),
            // Rounds follow the last run that is none.
            None if is_run => self.pace = Pace::begun(),
            None => self.tell_run(id, outcome, reached),
        }
        self.seen.extend(round.iter().flat_map(|it| &it.shown));
        if pool.is_none() {
            self.tell_pool();
        }
        self.tell_search();
        self.tell_doubt();
    }

    fn keeps_trace(&self, id: JobId) -> bool {
        self.engine.keeps_trace(id)
    }

    fn verdict(&self) -> Verdict {
        self.engine.verdict()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_is_named_only_where_there_are_several() {
        let site =
            json!({"class": "a.B", "method": "run", "descriptor": "()V", "kind": "entry", "ordinal": 0});
        let at = json!({
            "jvm": 0, "node": "mirror", "thread": "Intake", "occurrence": 3, "at_ms": 1.0, "times": 1, "stack_hash": 0, "stack": [],
        });
        let it = Injected {
            site: serde_json::from_value(site).expect("a site"),
            fault: Fault::Negate,
            guard: hypocenter_plan::Guard { thread: Some("Intake".to_owned()), ..Default::default() },
            at: serde_json::from_value(at).expect("an injection"),
            process: None,
        };
        for told in [short, fault] {
            assert!(told(&it, true).ends_with(", hit 3 of thread Intake on mirror"), "{}", told(&it, true));
            assert!(told(&it, false).ends_with(", hit 3 of thread Intake"), "{}", told(&it, false));
        }
        let guard = hypocenter_plan::Guard { thread: Some("In*".to_owned()), ..it.guard.clone() };
        let of_any = Injected { guard, ..it };
        assert!(fault(&of_any, true).ends_with(", hit 3 of threads In*, by Intake on mirror"));
        let (node, message) = ("mirror".to_owned(), String::new());
        let it = Missing {
            key: 0,
            node,
            entry: 0,
            line: 7,
            message,
            times: 1,
            normal: 0,
            sites: 0,
            not_run: None,
            shown: 0,
        };
        assert_eq!((number_of(&it, true), number_of(&it, false)), ("mirror:7".to_owned(), "7".to_owned()));
    }

    #[test]
    fn a_round_that_no_replay_shows_again_is_called_chance() {
        let said = |hits, runs| Replayed { round: 3, hits, runs, faults: 1, last: None }.was_chance();
        assert_eq!(said(0, 2), "round 3 was chance: 0 of 2 replays showed it");
        assert_eq!(said(0, 0), "no replay of round 3 reached its fault");
        assert_eq!(said(1, 20), "round 3 may be chance: 1 of 20 replays showed it");
    }

    #[test]
    fn the_time_of_a_round_is_foretold_only_from_some() {
        assert_eq!(each(0, 0.0), None);
        assert_eq!(each(4, 8.0), None);
        assert_eq!(each(5, 12.0), Some(2.4));
    }
}
