//! Order between two instances of a trial, in whichever of its JVMs they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Guard, Injection, Site};

/// An order to keep: the thread that reaches `then` waits until `first` was reached, and no longer than the limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The instance that comes first. It has happened when its site is reached: for a call that is to be over, name the site of kind
    /// `call_return`.
    pub first: Happening,
    /// The instance that comes after it.
    pub then: Happening,
    /// The longest wait.
    #[serde(default = "default_at_most_ms")]
    pub at_most_ms: u64,
}

/// One instance of a site: the first hit that fits the guard, or the one that the guard numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Happening {
    /// Where.
    pub site: Site,
    /// Which of its hits.
    #[serde(default)]
    pub when: Guard,
}

fn default_at_most_ms() -> u64 {
    Order::AT_MOST_MS
}

impl Order {
    /// The longest wait of an order that names none.
    pub const AT_MOST_MS: u64 = 2000;

    /// Error of the order alone, with its correction.
    pub(crate) fn trouble(&self) -> Option<String> {
        if self.at_most_ms == 0 {
            return Some(
                "at_most_ms 0: no thread would wait; give 1 or more, or leave it out for 2000".into(),
            );
        }
        let is_one = self.first.site.same_point(&self.then.site) && self.first.when == self.then.when;
        is_one.then(|| {
            "first and then are the same instance, which cannot come before itself; give another site, thread or occurrence"
                .into()
        })
    }
}

/// Fate of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OrderOutcome {
    /// The instance that was to come first, as the plan has it.
    pub first: Happening,
    /// The instance that was to come after it, as the plan has it.
    pub then: Happening,
    /// Its fate.
    pub result: OrderResult,
}

/// Fate of an order: one of its three ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum OrderResult {
    /// The one came first, then the other.
    Kept {
        /// The one that came first.
        first: Box<Injection>,
        /// The other, at the time at which it was reached. It went on when it had waited.
        then: Box<Injection>,
        /// Wait of the thread that reached the other; 0 if it did not have to.
        waited_ms: f64,
    },
    /// One of the two never came, or neither did.
    NotReached {
        /// Known part of the reason.
        why: String,
    },
    /// The thread waited and had to go on before the other instance.
    NotPossible {
        /// Why: a lock that the other thread needs, with both threads, or the time.
        why: String,
    },
}
