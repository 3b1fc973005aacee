//! Causes of the failure: the causal path to lines of the failure log, and signs that it was another occurrence.

use hypocenter_results::reproduced::{Cause, Lead, Moment, Sooner, Story, WAYS_SHOWN};

use super::{Line, Style};
use crate::text::{count, shortened, simple};
use crate::words::line_of;

/// Further lines of the failure log that are only named.
const NAMED_SHOWN: usize = 4;

/// The causes of a story.
pub fn causes(story: &Story, several_logs: bool) -> Vec<Line> {
    let is_one_of_several = story.causes.len() > 1;
    let mut lines: Vec<Line> =
        story.causes.iter().flat_map(|it| cause(it, is_one_of_several, several_logs)).collect();
    if story.symptom_unexplained {
        lines.push(Line::more(
            "no known causal path to the line that matched the oracle: some links are not tracked, for example through a field that is not reset or through a file (`hypocenter guide limits`)",
        ));
    }
    lines
}

fn cause(cause: &Cause, is_one_of_several: bool, several_logs: bool) -> Vec<Line> {
    let title = if is_one_of_several {
        format!("causal path from {}", cause.fault)
    } else {
        "causal path from this fault".to_owned()
    };
    let mut lines = vec![Line::gap(), Line::new("cause", title)];
    if let Some(it) = cause.named_by.first() {
        let (what, line) = (simple(&it.exception), line_of(it.line, &it.node, several_logs));
        lines.push(Line::more(format!("the stack trace of the {what} at {line} names it: {}", it.frame)));
    }
    let target = |it: &Lead| {
        let line = line_of(it.line, &it.node, several_logs);
        format!("to {line}: {}", shortened(&it.message))
    };
    let mut before: &[String] = &[];
    for it in cause.leads_to.iter().take(WAYS_SHOWN) {
        lines.push(Line::more(target(it)));
        lines.extend(steps(&it.steps, before));
        before = &it.steps;
    }
    let named = cause.leads_to.iter().skip(WAYS_SHOWN).take(NAMED_SHOWN);
    lines.extend(named.map(|it| Line::more(format!("and {}", target(it)))));
    if let Some(more @ 1..) = cause.leads_to.len().checked_sub(WAYS_SHOWN + NAMED_SHOWN) {
        lines.push(Line::more(format!("and to {more} more (--json has all)")));
    }
    if cause.is_delay {
        lines.push(Line::more("a delay has no code path to show; see its effects in the logs below"));
    } else if cause.has_no_path() {
        lines.push(Line::more(
            "no known causal path from it to the failure log; it was tried after all others",
        ));
        lines.extend(cause.silent.iter().map(|thread| {
            Line::more(format!(
                "thread {thread} stops logging in the failure; a task that dies of an exception that nobody logs leaves its work undone"
            ))
        }));
    }
    lines
}

/// The steps of a path; those that it has in common with the one before are not shown again.
fn steps<'s>(steps: &'s [String], before: &[String]) -> impl Iterator<Item = Line> + use<'s> {
    let same = steps.iter().zip(before).take_while(|(a, b)| a == b).count();
    let same = if same > 1 { same } else { 0 };
    let as_above = (same > 0).then(|| Line::more("").with(Style::Dim, format!("  1-{same}. as above")));
    let step = |(number, step): (usize, &String)| {
        Line::more("").with(Style::Dim, format!("{:>3}.", number + 1)).with(Style::Plain, format!(" {step}"))
    };
    as_above.into_iter().chain(steps.iter().enumerate().skip(same).map(step))
}

/// Signs that it may have been another occurrence.
pub fn moment(story: &Story) -> Vec<Line> {
    let by_numbers = story.moment.iter().flat_map(by_numbers);
    by_numbers.chain(story.sooner.iter().flat_map(by_entries)).collect()
}

fn by_numbers(it: &Moment) -> [Line; 2] {
    let (failure, trial) = (shortened(&it.failure), shortened(&it.trial));
    let text = format!("possibly another occurrence: failure log has `{failure}`, this run `{trial}`");
    let hint = "if a number identifies the occurrence, require it in the oracle (`hypocenter guide oracles`)";
    [Line::new("caution", text), Line::more(hint)]
}

fn by_entries(it: &Sooner) -> impl Iterator<Item = Line> + use<> {
    let Sooner { thread, failure, trial } = it;
    let entries = count((*failure).into(), "entry", "entries");
    let text = format!(
        "possibly another occurrence: by then thread {thread} had written {entries} in the failure, {trial} in this run"
    );
    let hint = "a longer workload may reach that occurrence (`hypocenter guide start`)";
    let hint = (failure > trial).then(|| Line::more(hint));
    std::iter::once(Line::new("caution", text)).chain(hint)
}
