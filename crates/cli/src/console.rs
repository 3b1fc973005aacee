//! The one console of all campaigns: it shows what happens while they run, records their rounds, and knows how long they take.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hypocenter_engine::{Job, Purpose};
use hypocenter_lab::{Progress, disk, files, trial_directory};
use hypocenter_plan::Outcome;
use hypocenter_report::Voice;
use hypocenter_report::terminal::Forecast;
use hypocenter_results::Event;
use hypocenter_results::event::{Effect, RoundEnded};

use crate::failure::Failure;
use crate::screen::{self, DIM, span};
use crate::stopwatch::Rounds;

/// Records of the rounds of a campaign, one line each.
const ROUNDS: &str = "rounds.jsonl";

/// Sees a campaign while it runs. See the module.
#[derive(Debug)]
pub struct Console {
    voice: Voice,
    campaign: PathBuf,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    /// Forecast from the last run without a fault, until it is shown.
    forecast: Option<Forecast>,
    /// True if something was started by now: what a resumed campaign learnt before is not told again.
    is_live: bool,
    /// Time that the campaign had taken when the last result was reported, over all sittings.
    elapsed: Duration,
    /// The same for all sittings before this one.
    before: Duration,
    /// When this sitting began, and how many runs have ended in it.
    begun: Instant,
    runs: u64,
    /// Runs without a fault of this sitting.
    normal: u64,
    pace: Pace,
    rounds: Rounds,
    /// For each round that showed what was looked for, after how many seconds.
    shown: BTreeMap<u64, f64>,
    /// True if it was told what it means that no fault was reached.
    unreached_told: bool,
    recorder: Recorder,
}

/// Writes `rounds.jsonl`: anew in each sitting, from what the journal has.
#[derive(Debug)]
struct Recorder {
    path: PathBuf,
    file: BufWriter<File>,
    /// First error.
    failed: Option<std::io::Error>,
}

impl Recorder {
    fn new(campaign: &Path) -> Result<Recorder, Failure> {
        let path = campaign.join(ROUNDS);
        let file = Recorder::anew(&path).map_err(|error| cannot_write(&path, &error))?;
        Ok(Recorder { path, file: BufWriter::new(file), failed: None })
    }

    /// An empty file in the place of whatever is there, which may be a link that somebody planted.
    fn anew(path: &Path) -> std::io::Result<File> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => files::open(OpenOptions::new().write(true).create_new(true), path),
        }
    }

    fn record(&mut self, line: &str) {
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.flush());
        self.failed = self.failed.take().or(written.err());
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("{}: {error}", path.display())).hint("free some space")
}

impl Console {
    /// The console of a campaign in this directory.
    pub fn new(voice: Voice, campaign: &Path, (most, jobs): (Option<u64>, u64)) -> Result<Console, Failure> {
        let seen = Seen {
            forecast: most.map(|trials| Forecast { trials, jobs, run_seconds: 0.0, run_bytes: 0 }),
            is_live: false,
            elapsed: Duration::ZERO,
            before: Duration::ZERO,
            begun: Instant::now(),
            runs: 0,
            normal: 0,
            pace: Pace::begun(),
            rounds: Rounds::default(),
            shown: BTreeMap::new(),
            unreached_told: false,
            recorder: Recorder::new(campaign)?,
        };
        Ok(Console { voice, campaign: campaign.to_owned(), seen: Mutex::new(seen) })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The campaign has stopped.
    pub fn finish(&self) -> Result<(), Failure> {
        let mut seen = self.seen();
        let failed = seen.recorder.failed.take();
        failed.map_or(Ok(()), |error| Err(cannot_write(&seen.recorder.path, &error)))
    }

    /// Tests whether something was started in this sitting.
    pub fn is_live(&self) -> bool {
        self.seen().is_live
    }

    /// Time that the campaign had taken before this sitting.
    pub fn before(&self) -> Duration {
        self.seen().before
    }

    /// After how many seconds a round showed what was looked for.
    pub fn seconds_of(&self, round: u64) -> Option<f64> {
        self.seen().shown.get(&round).copied()
    }

    /// Data in the outcomes of the rounds.
    pub fn rounds(&self) -> Rounds {
        self.seen().rounds.clone()
    }
}

impl Seen {
    fn round(&mut self, voice: &Voice, it: &RoundEnded, outcome: Option<&Outcome>) {
        self.recorder.record(&it.record);
        outcome.into_iter().for_each(|it| self.rounds.add(it));
        self.pace.rounds += 1;
        let is_shown = match &it.effect {
            Effect::Failure => true,
            Effect::Symptom { severity, .. } => severity.is_suspicious(),
            _ => false,
        };
        if is_shown {
            self.shown.insert(it.number, self.elapsed.as_secs_f64());
        }
        if !self.is_live {
            // Earlier records are replayed at once.
            self.pace = Pace::begun();
            return;
        }
        let step = voice.round(it);
        let times = self.times(it, is_shown);
        let (style, result) = step.result;
        screen::step(
            &step.label,
            &step.what,
            (screen::style(style), &result),
            &format!("{}, {times}", step.aside),
        );
        if it.faults.is_empty() && !is_shown && it.meant.is_none() && !self.unreached_told {
            self.unreached_told = true;
            screen::line(
                "",
                "runs differ, so this run may not reach the calls of earlier runs; the next round has more faults to choose from",
            );
        }
    }

    /// Duration so far, and the estimated time of the remaining rounds, if known.
    fn times(&self, round: &RoundEnded, is_shown: bool) -> String {
        let gone = span(self.elapsed.as_secs_f64());
        match self.pace.each().filter(|_| !is_shown && round.left > 0) {
            Some(each) => {
                let left = screen::count(round.left, "more", "more");
                format!("{gone}, about {} for {left}", span(each * round.left as f64))
            }
            None => gone,
        }
    }
}

impl Progress for Console {
    fn resumed(&self, told: u64, cut: bool) {
        let more =
            if cut { "; the last line of the journal was truncated, and its trial is run again" } else { "" };
        screen::resumed(told, more);
        let mut seen = self.seen();
        seen.before = seen.elapsed;
    }

    fn under_way(&self, elapsed: Duration) {
        self.seen().elapsed = elapsed;
    }

    fn started(&self, job: &Job) {
        let mut seen = self.seen();
        seen.is_live = true;
        if job.purpose != Purpose::Normal {
            // Before a short campaign it would only be in the way.
            let told = seen.forecast.take().filter(|it| it.seconds() >= FORECAST_SECONDS_MIN);
            screen::lines(&told.map(|it| it.line()).into_iter().collect::<Vec<_>>());
        }
    }

    fn again(&self, job: &Job, why: &str) {
        screen::run_again(job.id.0, why);
    }

    /// Reports a run without a fault at once, since the engine may take long to learn from it.
    fn ended(&self, job: &Job, outcome: Option<&Outcome>) {
        let (Purpose::Normal | Purpose::Control(_), Some(outcome)) = (job.purpose, outcome) else { return };
        let mut seen = self.seen();
        if let Some(forecast) = &mut seen.forecast {
            forecast.run_seconds = outcome.wall_ms as f64 / 1e3;
            forecast.run_bytes = disk::size(&trial_directory(&self.campaign, job.id));
        }
        seen.pace = Pace::begun();
        seen.normal += 1;
        let is_well = outcome.end.is_well() && outcome.failure.as_ref().is_none_or(|it| !it.happened);
        if seen.normal > NORMAL_SHOWN && is_well {
            return;
        }
        let came = match &outcome.failure {
            Some(it) if it.happened => "the failure happened".to_owned(),
            Some(_) => "no failure".to_owned(),
            None => format!("the workload {}", outcome.end),
        };
        let what = screen::clean(&outcome.after_node_ends(&format!("no fault, {came}")));
        let (name, gone) = (screen::clean(&self.voice.campaign), span(seen.elapsed.as_secs_f64()));
        screen::line("run", &format!("{name}/{}: {what}; {DIM}{gone}{DIM:#}", job.id));
    }

    fn learnt(&self, _: &Job, outcome: Option<&Outcome>, events: &[Event]) {
        let mut seen = self.seen();
        seen.runs += u64::from(seen.is_live);
        let each = seen.begun.elapsed().as_secs_f64() / seen.runs.max(1) as f64;
        for it in events {
            match it {
                Event::Round(it) => seen.round(&self.voice, it, outcome),
                other => {
                    if matches!(other, Event::Replayed { .. } | Event::Near { .. }) {
                        // Rounds follow the last run that is none.
                        seen.pace = Pace::begun();
                    }
                    if seen.is_live {
                        screen::lines(&self.voice.event(other, each));
                    }
                }
            }
        }
    }
}

/// Pace of the rounds.
#[derive(Debug)]
struct Pace {
    /// When the first began.
    begun: Instant,
    /// Number of those reported since.
    rounds: usize,
}

/// Number of runs without a fault that are told one by one; others only if they fail.
const NORMAL_SHOWN: u64 = 10;
/// Duration below which a campaign starts without an estimate.
const FORECAST_SECONDS_MIN: f64 = 60.0;
/// Number of rounds before the time of the remaining ones is estimated.
const PACE_ROUNDS: usize = 5;

impl Pace {
    fn begun() -> Pace {
        Pace { begun: Instant::now(), rounds: 0 }
    }

    fn each(&self) -> Option<f64> {
        each(self.rounds, self.begun.elapsed().as_secs_f64())
    }
}

/// Time per round, after so many rounds in so much time. None if they are few. A delay, or a system that hangs, makes a
/// round far longer than others; there will be about as many of those to come.
fn each(rounds: usize, together: f64) -> Option<f64> {
    (rounds >= PACE_ROUNDS).then(|| together / rounds as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_round_is_foretold_only_from_some() {
        assert_eq!(each(0, 0.0), None);
        assert_eq!(each(4, 8.0), None);
        assert_eq!(each(5, 12.0), Some(2.4));
    }
}
