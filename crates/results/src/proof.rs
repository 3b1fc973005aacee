//! Strength of a proof.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of times that an event happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// In how many runs.
    pub hits: u64,
    /// Of how many.
    pub runs: u64,
}

/// Proof of a finding. Only a confirmed one counts as a finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Replaying the fault alone showed it again.
    Confirmed,
    /// It was seen, and not replayed yet.
    #[default]
    SeenOnce,
    /// It was seen, and no replay showed it again.
    Refuted,
}

impl Proof {
    /// The proof that replays give.
    pub fn of(rate: Rate) -> Proof {
        match (rate.hits, rate.runs) {
            (_, 0) => Proof::SeenOnce,
            (0, _) => Proof::Refuted,
            _ => Proof::Confirmed,
        }
    }
}

/// For fields that are left out where they are nothing.
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}
