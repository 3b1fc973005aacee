//! What a campaign came to.

use std::path::Path;
use std::time::Duration;

use hypocenter_engine::JobId;
use hypocenter_lab::{finished, trial_directory};
use hypocenter_plan::ExitCode;
use hypocenter_report::as_likely;
use hypocenter_reproduce::{Case, Verdict};
use hypocenter_results::Rate;
use hypocenter_results::reproduced::{
    FaultSummary, Found, Missing, SUMMARY_VERSION, Silent, Standing, Story, Summary,
};

use super::closest;
use super::live::{fault, line_of, shortened, worth_silence};
use super::measured::Measured;
use super::runs;
use super::story::Told;
use super::summary;
use crate::commands::report;
use crate::early;
use crate::failure::Failure;
use crate::request::Request;
use crate::screen::{self, span};
use crate::store::{Called, told};

/// Lines of the failure log that what was found does not show, and that are named.
const LACKING_SHOWN: usize = 3;

/// Frames of a stack that are shown.
const FRAMES_SHOWN: usize = 6;

/// A campaign that is over.
#[derive(Debug)]
pub struct Ended<'v> {
    pub verdict: &'v Verdict,
    pub case: &'v Case,
    pub directory: &'v Path,
    pub took: Duration,
    /// After how long the first was found, where that is known.
    pub found_seconds: Option<f64>,
    pub measured: Measured,
    pub request: &'v Request,
    /// What the oracle looks for and the failure log does not have.
    pub unmet: Vec<String>,
}

impl Ended<'_> {
    /// Whether it must be said of a fault on which node it is.
    pub fn several_nodes(&self) -> bool {
        super::several_nodes(self.request, self.case)
    }

    /// Says what came of it, and keeps it.
    pub fn finish(&self, json: bool) -> Result<ExitCode, Failure> {
        let Ended { verdict, directory, .. } = self;
        let called = Called::of(directory);
        screen::gap();
        let mut stories = Vec::new();
        let is_logged = !super::symptom(self.request)?.is_empty();
        for (number, found) in verdict.found.iter().enumerate() {
            let story = Told::of(self.case, verdict, found, directory, self.several_nodes(), is_logged)?;
            if number == 0 {
                self.show(found, story.as_ref(), &called);
            } else {
                self.show_other(number, found, &called);
            }
            stories.push(story.map(|it| it.story));
        }
        let fails = verdict.found.is_empty() && early::show_first(directory)?;
        let code = self.standing(&called.name, fails)?;
        if verdict.unjudged > 0 {
            let what = format!(
                "of {} it could not say anything; the outcomes say why",
                screen::count(verdict.unjudged, "trial", "trials")
            );
            screen::note("oracle", &what);
        }
        if verdict.refused > 0 {
            let what =
                format!("{} could not be injected; the outcomes of the rounds say why", verdict.refused);
            screen::note("faults", &what);
        }
        screen::kept_in(directory);
        let document = self.document(stories, &called.name);
        summary::write(directory, &document, &verdict.rounds)?;
        match runs::keep(self).and_then(|()| report::write(directory)) {
            Ok(page) => screen::line("report", &told(&page)),
            // What was found stands whether or not a page of it can be written.
            Err(error) => screen::note("report", &error.what),
        }
        if json {
            screen::json(&document)?;
        }
        Ok(code)
    }

    fn show(&self, found: &Found, story: Option<&Told>, called: &Called) {
        for it in &found.faults {
            screen::line("fault", &screen::clean(&fault(it, self.several_nodes())));
            let packages = &self.request.target.packages;
            screen::stack(&it.at.stack, FRAMES_SHOWN, |method| {
                let mut rest = packages.iter().filter_map(|it| method.strip_prefix(it.as_str()));
                rest.any(|it| it.starts_with(['.', '$']))
            });
        }
        self.show_lacking(found);
        if let Some(story) = story {
            story.show(found, &called.name);
            screen::gap();
        }
        let seen = format!("{}, in round {} ({}/{})", found.why, found.round, called.name, found.trial);
        screen::line("oracle", &screen::clean(&seen));
        if let Some(story) = story {
            story.show_moment();
        }
        screen::line("rate", &rate(found));
        if let Some(others) = as_likely(&found.as_likely, self.several_nodes()) {
            // As faults are written here.
            let others = screen::clean(&others).replace('\u{2192}', "->");
            screen::line("also", &format!("{others} (a new search with --keep-going tries them)"));
        }
        let replay = replay(found, called);
        screen::line("replay", &replay);
        screen::line("keep it", &format!("{replay} --export DIR"));
    }

    /// What was found as well, and explains no more of the failure log: the report has the rest of it.
    fn show_other(&self, number: usize, found: &Found, called: &Called) {
        let faults: Vec<String> = found.faults.iter().map(|it| fault(it, self.several_nodes())).collect();
        let lacks = match found.lacks.len() {
            0 => String::new(),
            some => {
                let things = screen::count(some as u64, "thing", "things");
                format!(", lacks {things} that the failure log has")
            }
        };
        let text = format!("{}: {}{lacks}, round {}", faults.join(" + "), rate(found), found.round);
        if number == 1 {
            screen::gap();
        }
        screen::line(if number == 1 { "beside" } else { "" }, &screen::clean(&text));
        screen::line("", &format!("  {}", replay(found, called)));
    }

    /// What the failure log has and the run that was found does not.
    fn show_lacking(&self, found: &Found) {
        let missing = |&it: &u32| self.verdict.missing.get(it as usize);
        let lacking: Vec<&Missing> = found.lacks.iter().filter_map(missing).collect();
        for (number, it) in lacking.iter().take(LACKING_SHOWN).enumerate() {
            let line = line_of(it.line, &it.node, self.case.logs() > 1);
            let text = format!("{line}: {}", shortened(&it.message));
            screen::line(if number == 0 { "lacks" } else { "" }, &screen::clean(&text));
        }
        if !lacking.is_empty() {
            let more = lacking.len().saturating_sub(LACKING_SHOWN);
            let more = if more == 0 { String::new() } else { format!("and {more} more; ") };
            screen::line(
                "",
                &format!(
                    "{more}noise, or another fault is meant: --keep-going goes on, or ask for it too, by `all` in the oracle"
                ),
            );
        }
    }

    /// What to say of an oracle that asks for what the failure log does not have, unless it held all the same. Said before the search
    /// too; whoever has waited for it reads the end.
    pub fn unmet(&self) -> impl Iterator<Item = String> {
        let is_met = self.verdict.rounds.iter().any(|it| it.happened);
        let unmet = self.unmet.iter().filter(move |_| !is_met);
        unmet.map(|it| screen::clean(&format!("check the oracle before anything else: {it}")))
    }

    fn standing(&self, name: &str, fails: bool) -> Result<ExitCode, Failure> {
        let verdict = self.verdict;
        let rounds = verdict.rounds.len();
        // Where rounds were made, it is the first of what to try.
        if !matches!(verdict.standing, Standing::Exhausted | Standing::Budget | Standing::Going) {
            self.unmet().for_each(|it| screen::note("oracle", &it));
        }
        Ok(match &verdict.standing {
            Standing::Reproduced => {
                let round = verdict.found.first().map_or(0, |it| it.round);
                let after = self.found_seconds.map_or_else(String::new, |it| format!(" after {}", span(it)));
                let all = span(self.took.as_secs_f64());
                let lacking = verdict.found.first().map_or(0, |it| it.lacks.len());
                let lacking = match lacking {
                    0 => String::new(),
                    some => {
                        let things = screen::count(some as u64, "thing", "things");
                        format!(", but for {things} that the failure log has (`lacks`)")
                    }
                };
                let found = format!("reproduced in round {round}{after}, {all} in all");
                screen::line("done", &format!("{found}{lacking}"));
                ExitCode::Done
            }
            Standing::AlreadyFails { failed, runs } => {
                screen::note(
                    "oracle",
                    &format!(
                        "the failure happens without a fault, in {failed} of {runs} runs; mend the workload or the oracle first"
                    ),
                );
                if let Some((trial, why)) = seen_without_a_fault(self.directory)? {
                    screen::line("", &screen::clean(&format!("{name}/{trial}: {why}")));
                }
                ExitCode::AlreadyFails
            }
            Standing::Exhausted => {
                screen::line("not found", &format!("everything was tried, in {}", rounds_of(rounds)));
                closest::show(self, name);
                ExitCode::Findings
            }
            Standing::Budget => {
                screen::line("not found", &format!("the budget of {} is used up", rounds_of(rounds)));
                closest::show(self, name);
                ExitCode::Budget
            }
            Standing::Going => {
                let found = match verdict.found.len() {
                    0 => "nothing found".to_owned(),
                    some => format!("{some} found; the search or the replays were not over"),
                };
                screen::line("so far", &format!("{}, {found}", rounds_of(rounds)));
                if verdict.found.is_empty() && rounds > 0 {
                    closest::show(self, name);
                } else {
                    self.unmet().for_each(|it| screen::line("try", &it));
                }
                ExitCode::Budget
            }
            Standing::NothingMissing => {
                screen::note(
                    "failure",
                    "its log shows nothing that a normal run does not: there is nothing to go by",
                );
                ExitCode::Findings
            }
            Standing::NothingToTry => {
                screen::note(
                    "workload",
                    "it reaches no site that can lead to what the failure log shows; use one that exercises the same code",
                );
                ExitCode::Findings
            }
            Standing::Unjudged { why } => {
                return Err(Failure::usage(format!("the oracle cannot judge a run without a fault: {why}"))
                    .hint("mend the oracle, or take a workload that leaves what it looks at; see `hypocenter guide oracles`"));
            }
            Standing::Unreadable { why } => {
                let failure = Failure::usage(format!("a run without a fault gave nothing to compare: {why}"));
                return Err(if fails {
                    failure.hint("the command fails without a fault: mend that first; its output is above")
                } else {
                    failure.hint(
                        "let the workload log to its standard output in the layout of the failure log, or name the files that it \
                         logs to: `logs = [\"{dir}/logs/*.log\"]` in [[workload]] or [[workload.node]]",
                    )
                });
            }
        })
    }

    fn document(&self, stories: Vec<Option<Story>>, name: &str) -> Summary {
        let (verdict, measured) = (self.verdict, &self.measured);
        let called = Called::of(self.directory);
        let found = verdict.found.first();
        let first = found.and_then(|it| it.faults.last());
        let asked = self.request.reproduce.as_ref();
        let logs = asked.into_iter().flat_map(|it| &it.logs);
        let silent = worth_silence(&verdict.silent);
        Summary {
            version: SUMMARY_VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            verb: self.request.verb.clone(),
            campaign: name.to_owned(),
            directory: Some(called.from.display().to_string()),
            workload: self.request.workload.name.clone(),
            logs: logs.map(|it| (it.node.clone(), it.path.display().to_string())).collect(),
            budget: asked.map_or(0, |it| it.budget),
            strategy: asked.map_or_else(String::new, |it| it.strategy.clone()),
            seed: self.request.seed,
            reproduced: verdict.standing == Standing::Reproduced,
            rounds: found.map_or(verdict.rounds.len() as u64, |it| it.round),
            seconds: self.took.as_secs_f64(),
            found_seconds: self.found_seconds,
            rate: found.map(|it| Rate { hits: it.hits, runs: it.runs }),
            fault: first.map(FaultSummary::of),
            replay: found.map(|it| replay(it, &called)),
            sites_total: verdict.sites_total as u64,
            sites: verdict.sites_inferred as u64,
            instances: verdict.instances as u64,
            observables: verdict.missing.len() as u64,
            requests: measured.requests,
            decision_ns: measured.decision_ns,
            between_rounds_ms: measured.between_rounds_ms,
            workload_s: measured.workload_s,
            normal_runs: verdict.normal.0,
            normal_failures: verdict.normal.1,
            standing: verdict.standing.clone(),
            unmet: self.unmet.clone(),
            found: verdict.found.clone(),
            replays: verdict.found.iter().map(|it| replay(it, &called)).collect(),
            doubtful: verdict.doubtful.clone(),
            stories,
            missing: verdict.missing.clone(),
            silent: silent
                .map(|it| Silent { node: it.node.clone(), thread: it.thread.clone(), entries: it.entries })
                .collect(),
            tried: verdict.rounds.clone(),
        }
    }
}

/// The first trial without a fault in which the oracle held, and what it saw there.
fn seen_without_a_fault(campaign: &Path) -> Result<Option<(JobId, String)>, Failure> {
    for id in (0..).map(JobId) {
        let Some(outcome) = finished(&trial_directory(campaign, id))? else { break };
        if outcome.injected() > 0 {
            continue;
        }
        if let Some(failure) = outcome.failure.as_ref().filter(|it| it.happened) {
            return Ok(Some((id, outcome.after_node_ends(&failure.why))));
        }
    }
    Ok(None)
}

fn rounds_of(number: usize) -> String {
    screen::count(number as u64, "round", "rounds")
}

/// In how many of its replays the failure happened.
fn rate(found: &Found) -> String {
    let missed = match found.missed {
        0 => String::new(),
        some => format!(", {some} more did not reach the fault"),
    };
    format!("{} of {} replays{missed}", found.hits, found.runs)
}

fn replay(found: &Found, called: &Called) -> String {
    called.replay(found.replayed.unwrap_or(found.trial))
}
