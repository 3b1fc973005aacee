//! The ways to choose what a trial injects.

use std::fmt;
use std::str::FromStr;

use crate::ledger::KeyKind;

/// Policy that chooses the fault of a trial. All except [`Policy::Bsrr`] are for comparison with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Budgeted state round robin: each trial is for one state, in turn; a state has a budget of injections, and which of its
    /// requests is taken is left to chance (LEGOLAS 4.3).
    Bsrr,
    /// The first request in a state that had no injection yet.
    NewState,
    /// Any request, by chance.
    Random,
    /// Every request of a run without a fault, one after the other.
    Exhaustive,
    /// The first request with a call, a stack and a node that had no injection yet (the failure ids of FATE).
    Fate,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Policy; 5] =
        [Policy::Bsrr, Policy::NewState, Policy::Random, Policy::Exhaustive, Policy::Fate];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Bsrr => "bsrr",
            Policy::NewState => "new-state",
            Policy::Random => "random",
            Policy::Exhaustive => "exhaustive",
            Policy::Fate => "fate",
        }
    }

    /// Tests whether it looks at the stacks with which requests are made.
    pub fn needs_stacks(self) -> bool {
        self == Policy::Fate
    }

    /// Grouping of requests; for groupings by state, `chosen` decides.
    pub(crate) fn key(self, chosen: KeyKind) -> KeyKind {
        if self == Policy::Fate { KeyKind::Failure } else { chosen }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(name: &str) -> Result<Policy, String> {
        Policy::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
            let known = Policy::ALL.map(Policy::name).join(", ");
            format!("unknown policy `{name}`, use one of {known}")
        })
    }
}
