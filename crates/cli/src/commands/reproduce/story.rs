//! How a fault led to the failure: the way through the code, and both logs side by side. A document first; people and
//! machines see the same.

use std::path::Path;

use hypocenter_engine::{Evidence, JobId};
use hypocenter_lab::{evidence_of, finished, trial_directory};
use hypocenter_logs::role;
use hypocenter_plan::Fault;
use hypocenter_reproduce::{Case, Causes, Silent, Verdict, Way};
use hypocenter_results::Injected;
use hypocenter_results::reproduced::{Cause, Found, Lead, Missing, NamedBy, Story};

use super::columns;
use super::live::{fault, line_of, shortened, worth_silence};
use super::moment::{is_so_in, moment_of, show_moment, show_sooner, sooner_of};
use crate::commands::scan::Words;
use crate::failure::Failure;
use crate::screen::{self, DIM};

/// Lines of the failure log to which the way is shown.
const WAYS_SHOWN: usize = 3;
/// Further lines that are only named.
const NAMED_SHOWN: usize = 4;

/// A story, and what its telling depends on.
#[derive(Debug)]
pub struct Told {
    /// What is kept.
    pub story: Story,
    /// When the first fault went in, on the clock of the failure's log and on that of the trial's.
    zero: [Option<i64>; 2],
    /// Whether the oracle looks for a line.
    is_logged: bool,
    /// Whether the failure left the logs of several nodes.
    several_logs: bool,
    /// Whether it must be said of a fault on which node it is.
    several_nodes: bool,
}

impl Told {
    /// The story of something that was found. Nothing if the trial's evidence is gone.
    pub fn of(
        case: &Case,
        verdict: &Verdict,
        found: &Found,
        campaign: &Path,
        several_nodes: bool,
        is_logged: bool,
    ) -> Result<Option<Told>, Failure> {
        let trial = found.replayed.unwrap_or(found.trial);
        let matched = |it: &Missing| case.keys()[it.key as usize].entries.len() as u32 - it.times;
        let normal: Vec<(u32, u32)> = verdict.missing.iter().map(|it| (it.key, matched(it))).collect();
        // Nothing at all if the trial's evidence is gone.
        let evidence = |trial: u64| -> Result<Option<Evidence>, Failure> {
            let directory = trial_directory(campaign, JobId(trial));
            let Some(outcome) = finished(&directory)? else { return Ok(None) };
            Ok(Some(evidence_of(&directory, &outcome)?))
        };
        let Some(shown_evidence) = evidence(trial)? else { return Ok(None) };
        let shown_beside = case.beside(&shown_evidence, &normal);
        let shown = shown_beside.as_ref().map_or(&[][..], |it| &it.matched);
        let causes: Vec<Cause> =
            found.faults.iter().map(|it| cause_of(case, it, shown, verdict, several_nodes)).collect();
        let leads = causes.iter().flat_map(|it| &it.leads_to).map(|it| (it.node.as_str(), it.line));
        let leads: Vec<(&str, u32)> = leads.collect();
        // At length: what is picked for a glance need not have the line that tells.
        let at_length = |it: &Evidence| case.beside_at_length(it, &normal);
        let mut moment = at_length(&shown_evidence).and_then(|it| moment_of(&it.beside, &leads));
        if moment.is_some() && trial != found.trial {
            let first = evidence(found.trial)?.as_ref().and_then(at_length);
            moment = moment.filter(|it| is_so_in(it, first.as_ref().map(|it| &it.beside)));
        }
        let before = shown_beside.as_ref().and_then(|it| it.before.as_ref());
        let sooner = before.filter(|_| moment.is_none()).and_then(sooner_of);
        let several_logs = case.logs() > 1;
        let zero = shown_beside.as_ref().map(|it| it.zero).unwrap_or_default();
        let beside = shown_beside.map(|it| it.beside);
        let story = Story { trial, causes, beside, moment, sooner };
        Ok(Some(Told { story, zero, is_logged, several_logs, several_nodes }))
    }

    /// Says that it may have been another moment, if that is so.
    pub fn show_moment(&self) {
        self.story.moment.iter().for_each(show_moment);
        self.story.sooner.iter().for_each(show_sooner);
    }

    /// For people. The faults are those of the plan, by their numbers.
    pub fn show(&self, found: &Found, name: &str) {
        let causes = &self.story.causes;
        for cause in causes {
            show_cause(cause, causes.len() > 1, self.several_logs);
        }
        let mut leads = causes.iter().flat_map(|it| &it.leads_to);
        let says_ways = causes.last().is_some_and(|it| !says_why_not(it));
        if self.is_logged && says_ways && !leads.any(|it| it.is_symptom) {
            let unknown = "no way in the code is known from it to what the oracle saw";
            screen::line(
                "",
                &format!(
                    "{unknown}: some are not followed, as by a field that is not reset, or by a file (`hypocenter guide limits`)"
                ),
            );
        }
        let Some(beside) = self.story.beside.as_ref().filter(|it| !it.rows.is_empty()) else { return };
        screen::gap();
        let faults: Vec<String> = found.faults.iter().map(|it| fault(it, self.several_nodes)).collect();
        columns::show(beside, self.zero, &faults, &format!("{name}/{}", self.story.trial));
    }
}

fn cause_of(case: &Case, fault: &Injected, shown: &[u32], verdict: &Verdict, several_nodes: bool) -> Cause {
    let is_delay = matches!(fault.fault, Fault::Delay { .. });
    let found = case.causes(&fault.site, &fault.fault, &fault.at.stack, shown);
    let (leads_to, named_by) = found.map_or_else(Default::default, |it| {
        let named = it.named.iter().map(|(key, frame)| {
            let key = &case.keys()[*key as usize];
            let line = frame.line.map_or_else(String::new, |it| format!(":{it}"));
            NamedBy {
                node: case.node(key.log).to_owned(),
                line: key.line,
                frame: format!("{}.{}{line}", frame.class, frame.method),
                exception: frame.exception.clone(),
            }
        });
        (leads(case, &it), named.collect())
    });
    let is_silent = |it: &Silent| it.node == fault.at.node && role(&it.thread) == role(&fault.at.thread);
    let silent = worth_silence(&verdict.silent).find(|it| is_silent(it)).map(|_| fault.at.thread.clone());
    Cause { fault: self::fault(fault, several_nodes), is_delay, leads_to, named_by, silent }
}

/// Whether it has nothing to show, and is shown with a reason.
fn says_why_not(it: &Cause) -> bool {
    it.is_delay || (it.leads_to.is_empty() && it.named_by.is_empty())
}

fn show_cause(cause: &Cause, is_one_of_several: bool, several_logs: bool) {
    let line_of = |line: u32, node: &str| line_of(line, node, several_logs);
    screen::gap();
    let title = if is_one_of_several {
        format!("how this led there: {}", cause.fault)
    } else {
        "how it led there".to_owned()
    };
    screen::line("cause", &screen::clean(&title));
    if let Some(it) = cause.named_by.first() {
        let (what, line) = (simple(&it.exception), line_of(it.line, &it.node));
        let text = format!("the stack trace of the {what} at {line} names it: {}", it.frame);
        screen::line("", &screen::clean(&text));
    }
    let mut before: &[String] = &[];
    for it in cause.leads_to.iter().take(WAYS_SHOWN) {
        let text = format!("to {}: {}", line_of(it.line, &it.node), shortened(&it.message));
        screen::line("", &screen::clean(&text));
        let same = it.steps.iter().zip(before).take_while(|(a, b)| a == b).count();
        if same > 1 {
            screen::line("", &format!("{DIM}  1-{same}. as above{DIM:#}"));
        }
        let first = if same > 1 { same } else { 0 };
        for (number, step) in it.steps.iter().enumerate().skip(first) {
            screen::line("", &format!("{DIM}{:>3}.{DIM:#} {}", number + 1, screen::clean(step)));
        }
        before = &it.steps;
    }
    for it in cause.leads_to.iter().skip(WAYS_SHOWN).take(NAMED_SHOWN) {
        let text = format!("and to {}: {}", line_of(it.line, &it.node), shortened(&it.message));
        screen::line("", &screen::clean(&text));
    }
    if let Some(more @ 1..) = cause.leads_to.len().checked_sub(WAYS_SHOWN + NAMED_SHOWN) {
        screen::line("", &format!("and to {more} more (--json has all)"));
    }
    if cause.is_delay {
        screen::line("", "a delay leads by its time alone; what it changed is in the logs below");
    } else if cause.leads_to.is_empty() && cause.named_by.is_empty() {
        screen::line(
            "",
            "no way in the code is known from it to what the failure log shows; it was tried all the same",
        );
        if let Some(thread) = &cause.silent {
            let what = format!(
                "thread {thread} says no more in the failure: a task that dies of an exception nobody logs leaves undone what it did"
            );
            screen::line("", &screen::clean(&what));
        }
    }
}

/// The lines, the nearest first; the nearest of the lines that say that the failure happened is among those that are shown.
fn leads(case: &Case, causes: &Causes) -> Vec<Lead> {
    let words = Words(case.program());
    let is_symptom = |it: &Way| {
        let entries = &case.keys()[it.key as usize].entries;
        entries.iter().any(|it| case.symptoms().binary_search(it).is_ok())
    };
    let mut ways: Vec<&Way> = causes.ways.iter().collect();
    if let Some(at) = ways.iter().position(|it| is_symptom(it))
        && at >= WAYS_SHOWN
    {
        let symptom = ways.remove(at);
        ways.insert(WAYS_SHOWN - 1, symptom);
    }
    let lead = |it: &Way| {
        let key = &case.keys()[it.key as usize];
        let (steps, places) = words.onward(&it.path).into_iter().unzip();
        Lead {
            node: case.node(key.log).to_owned(),
            line: key.line,
            message: key.message.clone(),
            is_symptom: is_symptom(it),
            distance: it.distance,
            steps,
            places,
        }
    };
    ways.into_iter().map(lead).collect()
}

fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}
