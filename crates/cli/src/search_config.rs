//! `[reproduce]` and `[explore]` of `hypocenter.toml`: settings of the search that few users change.

use hypocenter_explore::{KeyKind, Policy};
use hypocenter_reproduce::{Strategy, without};
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
