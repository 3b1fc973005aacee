//! `[reproduce]`, `[explore]`, `[cascade]`, `[predict]` and `[explain]` of `hypocenter.toml`: settings of the search that few users change.

use std::collections::BTreeSet;

use hypocenter_explain::ExplainSettings;
use hypocenter_explore::{KeyKind, Policy};
use hypocenter_reproduce::{Strategy, without};
use hypocenter_results::predicted::PruneRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::config::KnownConfig;

/// Largest window of a search.
const WINDOW_MAX: usize = 10_000;

/// Settings of `reproduce`. The defaults suit most failures.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReproduceConfig {
    /// Strategy that chooses the faults: `full`. The others are for comparison: `two-level`, `exhaustive`, `distance`,
    /// `distance-limit`, `site-feedback`, `multiply`, `stacktrace`, `fate`, `random`.
    pub strategy: String,
    /// Number of faults that are armed together in the first round, from 1 to 10,000. Only the fault that is reached first is
    /// injected.
    pub window: usize,
    /// Penalty of an observable after a round that showed it, in steps of the causal graph.
    pub step: u32,
    /// Number of rounds after which a second fault is searched for as well.
    pub patience: u64,
    /// Maximum number of extra rounds if the fault leaves a warning of the failure log unexplained to which other faults lead.
    pub doubt: u64,
    /// Rules that the search does without, to measure what they are worth: `near-miss`, `instead-of-delay`, `earlier`, `spread`,
    /// `any-place`.
    pub without: Vec<String>,
}

impl Default for ReproduceConfig {
    fn default() -> ReproduceConfig {
        ReproduceConfig {
            strategy: Strategy::Full.to_string(),
            window: 10,
            step: 1,
            patience: 20,
            doubt: 15,
            without: Vec::new(),
        }
    }
}

/// Settings of `explore`. The defaults suit most systems.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExploreConfig {
    /// Findings that are not reported again.
    #[schemars(with = "Vec<KnownConfig>")]
    pub known: Vec<Spanned<KnownConfig>>,
    /// Policy that chooses the fault of a trial: `bsrr` (budgeted state round robin). The others are for comparison: `new-state`,
    /// `random`, `exhaustive`, `fate`.
    pub policy: String,
    /// Grouping of possible injections: `state` takes the node and the abstract state of the thread, `operation` also the fault
    /// and the method called.
    pub key: String,
    /// Number of injections per group before the counts of all groups restart, at least 1.
    pub budget: u32,
    /// Probability that a trial skips all possible injections of its group, between 0 and 1.
    pub epsilon: f64,
    /// Also track abstract states in helper methods of tasks.
    pub helpers: bool,
    /// Also inject I/O exceptions at calls that only work in memory, where they cannot occur in production.
    pub in_memory: bool,
    /// Method that ends the campaign once a suspicious finding has it on its stack, as `package.Class.method`; `*` stands for
    /// any text.
    pub until: Option<String>,
}

impl Default for ExploreConfig {
    fn default() -> ExploreConfig {
        ExploreConfig {
            known: Vec::new(),
            policy: Policy::Bsrr.name().to_owned(),
            key: KeyKind::State.name().to_owned(),
            budget: 5,
            epsilon: 0.01,
            helpers: false,
            in_memory: false,
            until: None,
        }
    }
}

/// Settings of `explain`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExplainConfig {
    /// Largest distance from the symptom, in instructions that depend on each other, of what is recorded.
    pub distance: u32,
    /// Parts that the comparison does without, to measure what they are worth: `objects`, `map-loops`, `repair`, `work-list`,
    /// `merge`.
    pub without: Vec<String>,
}

impl Default for ExplainConfig {
    fn default() -> ExplainConfig {
        ExplainConfig { distance: 40, without: Vec::new() }
    }
}

impl ExplainConfig {
    /// Checks the values.
    pub fn check(&self) -> Result<(), String> {
        ExplainSettings::check(&self.without)
    }
}

/// Cycle that has already been analyzed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownCascadeConfig {
    /// Methods of its faults, as `package.Class.method`; `*` stands for any text. A cycle is known if each of its faults, or one with like
    /// consequences, is in one of them.
    pub methods: Vec<String>,
    /// Explanation of the cycle.
    pub why: String,
}

/// Settings of `cascade`. Delays, and the method after which the system is up, depend on the system.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CascadeConfig {
    /// Method after whose return faults may happen, as `package.Class.method`: that for which a test waits until its cluster is up.
    /// Without it, faults may happen from the start.
    pub ready: Option<String>,
    /// Lengths of the delay of an iteration, in milliseconds. The longest is tried first, a shorter one only if a part of the test is not
    /// reached.
    pub delays_ms: Vec<u64>,
    /// Maximum time of all delays of a run together, in milliseconds: by default three times the longest delay. It should exceed the
    /// timeouts that a slow loop may hit.
    pub delay_total_ms: Option<u64>,
    /// For how long a fault is injected at every hit where it had an effect and no loop ran more often, in milliseconds; 0 for never.
    pub for_ms: u64,
    /// Try every length of delay.
    pub all_lengths: bool,
    /// Take the first runs as proof that a loop runs more often, without fresh ones.
    pub one_stage: bool,
    /// Share of loops that may be taken by chance for such that run more often (Benjamini and Hochberg).
    pub fdr: Option<f64>,
    /// Choice of experiments: `three-phase`; `random` is for comparison.
    pub allocation: String,
    /// Maximum number of chains of each length in the search for cycles.
    pub beam: usize,
    /// Maximum number of delays in a cycle.
    pub delays_in_cycle: usize,
    /// Number of calls through which branches belong to the iteration around them.
    pub path_depth: u32,
    /// Maximum number of tests whose runs without a fault are compared with each other, to know how often chance looks like an effect.
    pub spare_tests: usize,
    /// Cycles that are accepted: they are counted and not reported.
    pub known: Vec<KnownCascadeConfig>,
    /// Checks that the search does without, to measure what they are worth: `callers`, `paths`, `paced`.
    pub without: Vec<String>,
}

impl Default for CascadeConfig {
    fn default() -> CascadeConfig {
        CascadeConfig {
            ready: None,
            delays_ms: vec![100, 250, 500, 1000, 2000, 4000, 8000],
            delay_total_ms: None,
            for_ms: 10_000,
            all_lengths: false,
            one_stage: false,
            fdr: None,
            allocation: "three-phase".to_owned(),
            beam: 5_000_000,
            delays_in_cycle: 1,
            path_depth: 3,
            spare_tests: 3,
            known: Vec::new(),
            without: Vec::new(),
        }
    }
}

/// Settings of `predict`. The defaults suit most systems.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PredictConfig {
    /// Maximum number of crashes that are tried for predictions, those first whose harm is nearest in the code.
    pub triggers: usize,
    /// Rules that leave out no pair, to measure what they are worth: `control`, `reset`, `impact`.
    pub without: Vec<String>,
}

impl Default for PredictConfig {
    fn default() -> PredictConfig {
        PredictConfig { triggers: 100, without: Vec::new() }
    }
}

impl PredictConfig {
    /// Checks the values; an error names the key and the values that are allowed.
    pub fn check(&self) -> Result<(), String> {
        self.rules().map(|_| ()).map_err(|why| format!("without: {why}"))
    }

    /// The rules that leave out nothing.
    pub fn rules(&self) -> Result<BTreeSet<PruneRule>, String> {
        let rule = |name: &String| {
            PruneRule::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
                let known = PruneRule::ALL.map(PruneRule::name).join(", ");
                format!("unknown rule `{name}`, use one of {known}")
            })
        };
        self.without.iter().map(rule).collect()
    }
}

/// Checks that a search for cycles can do without.
const CASCADE_CHECKS: [&str; 3] = ["callers", "paths", "paced"];

impl CascadeConfig {
    /// Checks the values; an error names the key and the values that are allowed.
    pub fn check(&self) -> Result<(), String> {
        if self.delays_ms.is_empty() || self.delays_ms.contains(&0) {
            return Err("delays_ms: give one length or more, each at least 1".to_owned());
        }
        if !self.delays_ms.is_sorted() {
            return Err(format!("delays_ms: {:?} is not sorted, give the shortest first", self.delays_ms));
        }
        if self.fdr.is_some_and(|it| !(it > 0.0 && it < 1.0)) {
            return Err(format!("fdr: {} is not between 0 and 1", self.fdr.unwrap_or_default()));
        }
        if !["three-phase", "random"].contains(&self.allocation.as_str()) {
            return Err(format!(
                "allocation: unknown value `{}`, use one of three-phase, random",
                self.allocation
            ));
        }
        if self.beam == 0 {
            return Err("beam: 0 is not allowed, give 1 or more".to_owned());
        }
        match self.without.iter().find(|it| !CASCADE_CHECKS.contains(&it.as_str())) {
            Some(it) => {
                Err(format!("without: unknown check `{it}`, use one of {}", CASCADE_CHECKS.join(", ")))
            }
            None => Ok(()),
        }
    }

    /// Tests whether a check is made.
    pub fn checks(&self, name: &str) -> bool {
        !self.without.iter().any(|it| it == name)
    }
}

impl ReproduceConfig {
    /// Checks the values; an error names the key and the values that are allowed.
    pub fn check(&self) -> Result<(), String> {
        self.strategy.parse::<Strategy>().map_err(|why| format!("strategy: {why}"))?;
        if !(1..=WINDOW_MAX).contains(&self.window) {
            return Err(format!("window: {} is not between 1 and {WINDOW_MAX}", self.window));
        }
        without(&self.without).map_err(|why| format!("without: {why}"))?;
        Ok(())
    }
}

impl ExploreConfig {
    /// Checks the values; an error names the key and the values that are allowed.
    pub fn check(&self) -> Result<(), String> {
        self.policy.parse::<Policy>().map_err(|why| format!("policy: {why}"))?;
        self.key().map_err(|why| format!("key: {why}"))?;
        if self.budget == 0 {
            return Err("budget: 0 is not allowed, give 1 or more".to_owned());
        }
        if !(self.epsilon > 0.0 && self.epsilon < 1.0) {
            return Err(format!("epsilon: {} is not between 0 and 1", self.epsilon));
        }
        Ok(())
    }

    /// Parses the grouping of injections.
    pub fn key(&self) -> Result<KeyKind, String> {
        let known = [KeyKind::State, KeyKind::Operation];
        known.into_iter().find(|it| it.name() == self.key).ok_or_else(|| {
            format!("unknown key `{}`, use one of {}", self.key, known.map(KeyKind::name).join(", "))
        })
    }
}
