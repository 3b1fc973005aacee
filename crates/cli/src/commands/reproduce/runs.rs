//! What the page of a campaign draws, kept beside its summary: `runs.json`.

use hypocenter_engine::{Evidence, JobId};
use hypocenter_lab::{evidence_of, finished, trial_directory};
use hypocenter_plan::Outcome;
use hypocenter_report as report;
use hypocenter_reproduce::{
    Beside, Injected, Interest, Lanes, Line, MESSAGE_CHARS_MAX, Missing, Row, RunOf, Sign,
};

use super::closest;
use super::result::Ended;
use super::summary;
use crate::failure::Failure;

/// How much of a name is kept.
const NAME_CHARS_MAX: usize = 200;

/// Keeps it, if there is anything to draw.
pub fn keep(ended: &Ended<'_>) -> Result<(), Failure> {
    let Ended { verdict, case, directory, .. } = ended;
    let look = |trial: u64| -> Result<Option<(Outcome, Evidence)>, Failure> {
        let directory = trial_directory(directory, JobId(trial));
        let Some(outcome) = finished(&directory)? else { return Ok(None) };
        let evidence = evidence_of(&directory, &outcome)?;
        Ok(Some((outcome, evidence)))
    };
    // What was found, or else what came nearest to it.
    let near = closest::nearest(verdict);
    let (trial, faults): (Option<u64>, &[Injected]) = match verdict.found.first() {
        Some(it) => (Some(it.replayed.unwrap_or(it.trial)), &it.faults),
        None => (near.first().map(|it| it.0.trial), &[]),
    };
    let evidence = trial.map(look).transpose()?.flatten().map(|it| it.1);
    // The first trials of a campaign have no fault.
    let mut normal = None;
    for number in 0..verdict.normal.0 {
        if let Some((_, evidence)) = look(number)?.filter(|it| it.0.candidates.is_empty()) {
            normal = Some((number, evidence));
            break;
        }
    }
    let matched = |it: &Missing| case.keys()[it.key as usize].entries.len() as u32 - it.times;
    let missing: Vec<(u32, u32)> = verdict.missing.iter().map(|it| (it.key, matched(it))).collect();
    let keys: Vec<u32> = missing.iter().map(|it| it.0).collect();
    let threads: Vec<(&str, &str)> = faults.iter().map(|it| (&*it.at.node, &*it.at.thread)).collect();
    let beside = evidence.as_ref().and_then(|it| case.beside_at_length(it, &missing));
    let lanes = case.lanes(normal.as_ref().map(|it| &it.1), evidence.as_ref(), &keys, &threads);
    let runs = report::Runs {
        version: report::RUNS_VERSION,
        normal: normal.map(|it| it.0),
        trial,
        beside: beside.map(beside_of),
        lanes: lanes.map(lanes_of),
    };
    summary::write_runs(directory, &runs)
}

fn beside_of(it: Beside) -> report::Beside {
    let row = |it: Row| match it {
        Row::Entries { failure, trial, is } => {
            let line = |it: Option<Box<Line>>| it.map(|it| Box::new(line_of(*it)));
            report::Row::Entries(line(failure), line(trial), interest_of(is))
        }
        Row::Fault(number) => report::Row::Fault(number),
        Row::Gap(count) => report::Row::Gap(count as u64),
    };
    report::Beside {
        rows: it.rows.into_iter().map(row).collect(),
        several_nodes: it.several_nodes,
        message_chars_max: MESSAGE_CHARS_MAX,
    }
}

fn line_of(it: Line) -> report::Line {
    let Line { node, line, time_ms, thread, level, message, exception } = it;
    let name = |it: String| it.chars().take(NAME_CHARS_MAX).collect();
    report::Line {
        node: name(node),
        line,
        time_ms,
        thread: thread.map(name),
        level: level.map(str::to_owned),
        message,
        exception: exception.map(name),
    }
}

fn interest_of(it: Interest) -> report::Interest {
    match it {
        Interest::Around => report::Interest::Around,
        Interest::Observable => report::Interest::Observable,
        Interest::Symptom => report::Interest::Symptom,
    }
}

fn lanes_of(it: Lanes) -> report::Lanes {
    let name = |it: String| it.chars().take(NAME_CHARS_MAX).collect::<String>();
    let of = |it| match it {
        RunOf::Normal => report::RunOf::Normal,
        RunOf::Failure => report::RunOf::Failure,
        RunOf::Trial => report::RunOf::Trial,
    };
    let sign = |it| match it {
        Sign::Plain => report::Sign::Plain,
        Sign::Serious => report::Sign::Serious,
        Sign::Observable => report::Sign::Observable,
        Sign::Symptom => report::Sign::Symptom,
    };
    let runs = it.runs.into_iter().map(|it| report::Run {
        of: of(it.of),
        marks: it.marks.iter().map(|it| report::Mark(it.lane, it.at_ms, it.count, sign(it.sign))).collect(),
        faults: it.faults,
        outside: it.outside,
        zero_ms: it.zero_ms,
    });
    report::Lanes {
        lanes: it
            .lanes
            .into_iter()
            .map(|it| report::Lane { node: name(it.node), thread: it.thread.map(name) })
            .collect(),
        runs: runs.collect(),
        span_ms: it.span_ms,
        from_fault: it.from_fault,
        whole_seconds: it.whole_seconds,
    }
}
