//! The document of a campaign: what the engine found, with the stories that the evidence of a few trials tells.

use hypocenter_engine::Look;
use hypocenter_results::reproduced::{Explained, FaultSummary, Reproduction, Silent, Standing};
use hypocenter_results::{Finding, Proof, Rate};

use crate::case::Case;
use crate::closest::{closest, suggestions};
use crate::engine::{Found, Settings, Verdict};
use crate::policy;

/// A failure and its target, as the command knows them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// Failure logs, each with the name of its node.
    pub logs: Vec<(String, String)>,
    /// Packages of the system.
    pub packages: Vec<String>,
    /// Flags that say which target is meant.
    pub flags: String,
    /// Whether a fault can be on one of several nodes.
    pub several_nodes: bool,
    /// Whether the oracle looks for a line of the log.
    pub symptom_is_logged: bool,
    /// What the oracle looks for and the failure log does not have.
    pub unmet: Vec<String>,
}

impl Verdict {
    /// The document.
    pub(crate) fn document(&self, case: &Case, settings: &Settings, look: &Look<'_>) -> Reproduction {
        let about = &settings.about;
        let found = self.found.first();
        let is_over = matches!(self.standing, Standing::Exhausted | Standing::Budget);
        let is_going = self.standing == Standing::Going && !self.rounds.is_empty();
        let is_nearly = self.found.is_empty() && (is_over || is_going);
        let silent = self.silent.iter().filter(|it| it.is_long());
        Reproduction {
            packages: about.packages.clone(),
            flags: about.flags.clone(),
            several_nodes: about.several_nodes,
            several_logs: case.logs() > 1,
            logs: about.logs.clone(),
            budget: settings.budget,
            strategy: settings.search.strategy.to_string(),
            reproduced: self.standing == Standing::Reproduced,
            rounds: found.map_or(self.rounds.len() as u64, |it| it.round),
            rate: found.map(|it| Rate { hits: it.hits, runs: it.runs }),
            fault: found.and_then(|it| it.faults.last()).map(FaultSummary::of),
            replay: None,
            sites_total: self.sites_total as u64,
            sites: self.sites_inferred as u64,
            instances: self.instances as u64,
            observables: self.missing.len() as u64,
            normal_runs: self.normal.0,
            normal_failures: self.normal.1,
            busy_ms: self.busy_ms,
            normal_failure: self
                .normal_failure
                .clone()
                .filter(|_| matches!(self.standing, Standing::AlreadyFails { .. })),
            unjudged: self.unjudged,
            refused: self.refused as u64,
            standing: self.standing.clone(),
            unmet: about.unmet.clone(),
            found: self.found.iter().map(|it| self.finding(it, case, about, Some(look))).collect(),
            doubtful: self.doubtful.iter().map(|it| self.finding(it, case, about, None)).collect(),
            missing: self.missing.clone(),
            noise: self.noise.clone(),
            silent: silent
                .map(|it| Silent { node: it.node.clone(), thread: it.thread.clone(), entries: it.entries })
                .collect(),
            tried: self.rounds.clone(),
            rules: policy::named_by(self.rounds.iter().filter_map(|it| it.score.as_ref())),
            closest: if is_nearly { closest(self) } else { Vec::new() },
            suggestions: if is_nearly { suggestions(self, settings) } else { Vec::new() },
        }
    }

    /// Something found; with its story, where its evidence is looked at.
    fn finding(&self, it: &Found, case: &Case, about: &About, look: Option<&Look<'_>>) -> Finding<Explained> {
        let rate = Rate { hits: it.hits, runs: it.runs };
        Finding {
            faults: it.faults.clone(),
            why: it.why.clone(),
            proof: Proof::of(rate),
            rate,
            missed: it.missed,
            trial: it.replayed.unwrap_or(it.trial),
            story: look
                .and_then(|look| case.story(self, it, about.several_nodes, about.symptom_is_logged, look)),
            replay: String::new(),
            detail: Explained {
                round: it.round,
                seen_in: it.trial,
                plan: it.plan.clone(),
                as_likely: it.as_likely.clone(),
                lacks: it.lacks.clone(),
            },
        }
    }
}
