//! `hypocenter reproduce --compare`: all strategies on the same trials.

use std::path::Path;
use std::sync::Arc;

use hypocenter_engine::{Engine, Job, Work};
use hypocenter_lab::{Entry, Journal, Progress, Stopped};
use hypocenter_plan::{ExitCode, Outcome, Plan};
use hypocenter_reproduce::{Case, Comparison, Played, Recorded, Settings, Strategy};
use hypocenter_results::reproduced::Standing;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::args::{LabArgs, ReproduceArgs};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::local::Ready;
use crate::request::{CompareRequest, Request, existing};
use crate::screen::{self, DIM, GOOD, Quiet};
use crate::store::told;

/// What the paper compares with and this table does not have.
const LEFT_OUT: &str = "CrashTuner is left out: it injects beside accesses of meta-information, and which variables hold that has \
                        to be annotated for each system";

/// What the flags ask for.
pub fn asked(args: &ReproduceArgs) -> CompareRequest {
    CompareRequest {
        strategies: strategies(args).iter().map(ToString::to_string).collect(),
        seeds: args.seeds.max(1),
        recorded: args.recorded.iter().map(|it| existing(&args.target.lab, it)).collect(),
        every_instance: args.every_instance,
        trials: args.trials,
    }
}

/// The strategies that are asked for.
fn strategies(args: &ReproduceArgs) -> Vec<Strategy> {
    if args.strategies.is_empty() { Strategy::ALL.to_vec() } else { args.strategies.clone() }
}

pub fn run(
    asked: &CompareRequest,
    case: Arc<Case>,
    settings: Settings,
    ready: &Ready,
    lab: &LabArgs,
) -> Result<ExitCode, Failure> {
    let mut recorded = Recorded::default();
    for campaign in &asked.recorded {
        read(campaign, &ready.request, &case, &mut recorded)?;
    }
    let strategies: Result<Vec<Strategy>, String> = asked.strategies.iter().map(|it| it.parse()).collect();
    let strategies = strategies.map_err(Failure::usage)?;
    let cap = settings.budget;
    let faults = if settings.kinds.delay_ms.is_some() { "exceptions and delays" } else { "exceptions only" };
    let mut engine = Comparison::new(case, settings, &strategies, asked.seeds, recorded, asked.trials);
    if asked.every_instance {
        engine = engine.with_every_instance();
    }
    let interrupt = Interrupt::watch();
    let (stopped, _) = ready.drive(&mut engine, lab, &Quiet(&interrupt), &interrupt, &Told)?;
    if stopped == Stopped::Interrupted {
        screen::note("ended", "by you; what is recorded is played on");
    }
    engine.play_all();
    let games = engine.verdict();
    let rows: Vec<Row> = strategies.iter().map(|it| Row::of(&it.to_string(), &games)).collect();
    let document = Document {
        rounds_max: cap,
        faults,
        seeds: asked.seeds,
        recorded: engine.faults(),
        every_instance: asked.every_instance && engine.is_recorded(),
        strategies: &rows,
        games: &games,
        left_out: LEFT_OUT,
    };
    if lab.json {
        println!("{}", serde_json::to_string_pretty(&document).expect("a table is always JSON"));
    }
    tell(&document);
    screen::line("kept in", &told(&ready.directory));
    Ok(ExitCode::Done)
}

/// Says that a trial is over.
struct Told;

impl Progress for Told {
    fn resumed(&self, told: u64, _: bool) {
        screen::resumed(told, "");
    }

    fn ended(&self, job: &Job, outcome: Option<&Outcome>) {
        let (Some(outcome), Work::Trial { plan, .. }) = (outcome, &job.work) else { return };
        let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
        let what = plan.candidates.first().map_or_else(
            || "without a fault".to_owned(),
            |it| {
                let (thread, number) =
                    (it.when.thread.as_deref().unwrap_or("*"), it.when.occurrence.unwrap_or(1));
                format!("{} at {}, hit {number} of {thread}", it.fault, it.site)
            },
        );
        let result = if happened { format!("{GOOD}the failure happened{GOOD:#}") } else { String::new() };
        let seconds = outcome.wall_ms as f64 / 1e3;
        screen::line(
            "trial",
            &format!("{} {} {DIM}{seconds:.1} s{DIM:#} {result}", job.id, screen::clean(&what)),
        );
    }
}

/// Reads the trials of an earlier campaign on the same failure.
fn read(directory: &Path, request: &Request, case: &Case, into: &mut Recorded) -> Result<(), Failure> {
    let earlier = Request::read(directory)?;
    let digests = |it: &Request| -> Vec<u64> {
        it.reproduce.iter().flat_map(|it| it.logs.iter().map(|it| it.digest)).collect()
    };
    let same = digests(&earlier) == digests(request)
        && earlier.workload == request.workload
        && earlier.oracle == request.oracle
        && earlier.target == request.target;
    if !same {
        return Err(Failure::usage(format!(
            "--recorded {}: that campaign is about another failure log, workload or target",
            directory.display()
        ))
        .hint("give one that was begun with the same"));
    }
    let mut plans: FxHashMap<u64, Plan> = FxHashMap::default();
    let mut problem = None;
    Journal::read(&Journal::path_in(directory), |entry| match entry {
        Entry::Asked { jobs, .. } => {
            for job in jobs {
                if let Work::Trial { plan, .. } = job.work {
                    plans.insert(job.id.0, plan);
                }
            }
        }
        Entry::Told { id, outcome, digest, .. } => {
            let (Some(plan), Some(outcome)) = (plans.get(&id.0), outcome) else { return };
            let digest = digest.read(directory, id);
            match digest.and_then(|it| serde_json::from_value(it).map_err(|error| error.to_string())) {
                Ok(digest) => into.add(case, plan, &outcome, digest),
                Err(why) => problem = Some(format!("trial {id}: {why}")),
            }
        }
    })?;
    match problem {
        Some(why) => Err(Failure::usage(format!("{}: {why}", Journal::path_in(directory).display()))),
        None => Ok(()),
    }
}

#[derive(Debug, Serialize)]
struct Document<'d> {
    /// The most rounds of a game.
    rounds_max: u64,
    /// Which kinds of faults played.
    faults: &'static str,
    seeds: u64,
    /// Faults at instances that are recorded.
    recorded: usize,
    /// Whether that is every fault at every instance of a normal run.
    every_instance: bool,
    strategies: &'d [Row],
    games: &'d [Played],
    left_out: &'static str,
}

/// What came of a strategy.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Row {
    strategy: String,
    /// Games in which the failure happened.
    reproduced: usize,
    /// Games that had tried everything.
    exhausted: usize,
    median: Count,
    worst: Count,
}

/// Rounds, or more than so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Count {
    more_than: bool,
    rounds: u64,
}

impl Count {
    fn text(self) -> String {
        if self.more_than { format!("> {}", self.rounds) } else { self.rounds.to_string() }
    }
}

impl Row {
    fn of(strategy: &str, games: &[Played]) -> Row {
        let own: Vec<&Played> = games.iter().filter(|it| it.strategy == strategy).collect();
        let is = |it: &Played, standing: &Standing| it.standing == *standing;
        let mut counts: Vec<Count> = own
            .iter()
            .map(|it| Count { more_than: !is(it, &Standing::Reproduced), rounds: it.rounds })
            .collect();
        // A game that did not get there may have needed any number more: it is worse than all that did.
        counts.sort_by_key(|it| (it.more_than, it.rounds));
        let at = |place: usize| counts.get(place).copied().unwrap_or(Count { more_than: true, rounds: 0 });
        Row {
            strategy: strategy.to_owned(),
            reproduced: own.iter().filter(|it| is(it, &Standing::Reproduced)).count(),
            exhausted: own.iter().filter(|it| is(it, &Standing::Exhausted)).count(),
            median: at((counts.len() / 2).min(counts.len().saturating_sub(1))),
            worst: at(counts.len().saturating_sub(1)),
        }
    }
}

/// The table, for people.
fn tell(document: &Document<'_>) {
    screen::gap();
    screen::line(
        "played",
        &format!(
            "{} each, at most {}, {}; on {} at instances{}, each run once",
            screen::count(document.seeds, "seed", "seeds"),
            screen::count(document.rounds_max, "round", "rounds"),
            document.faults,
            screen::count(document.recorded as u64, "fault", "faults"),
            if document.every_instance { ", all there are in a normal run among them" } else { "" }
        ),
    );
    let head = ["strategy", "median", "worst", "reproduced", "all tried"];
    let line = |cells: [&str; 5]| {
        format!("{:<16}{:>8}{:>8}{:>12}{:>11}", cells[0], cells[1], cells[2], cells[3], cells[4])
    };
    screen::line("", &format!("{DIM}{}{DIM:#}", line(head)));
    for it in document.strategies {
        let reproduced = format!("{} of {}", it.reproduced, document.seeds);
        let cells =
            [&it.strategy, &it.median.text(), &it.worst.text(), &reproduced, &it.exhausted.to_string()];
        screen::line("", &line(cells.map(String::as_str)));
    }
    screen::line("", LEFT_OUT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_that_did_not_get_there_is_worse_than_all_that_did() {
        let game = |rounds, standing| Played { strategy: "full".to_owned(), seed: 0, rounds, standing };
        let games = [
            game(3, Standing::Going),
            game(9, Standing::Reproduced),
            game(20, Standing::Budget),
            game(2, Standing::Reproduced),
            game(4, Standing::Reproduced),
        ];
        let row = Row::of("full", &games);
        assert_eq!((row.median.text(), row.worst.text()), ("9".to_owned(), "> 20".to_owned()));
        assert_eq!((row.reproduced, row.exhausted), (3, 0));
        let none = Row::of("fate", &games);
        assert_eq!((none.median.text(), none.reproduced), ("> 0".to_owned(), 0));
    }
}
