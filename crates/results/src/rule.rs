//! The rules by which a search chooses, and scores made of their points.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Points that it adds each time that it applies, or the number that it goes by.
    pub weight: u32,
    /// The reason for it.
    pub why: Cow<'static, str>,
    /// Where it comes from: a section of a paper, or `own`.
    pub source: Cow<'static, str>,
}

impl Rule {
    /// A rule that is part of the program.
    pub const fn new(name: &'static str, weight: u32, why: &'static str, source: &'static str) -> Rule {
        Rule { name: Cow::Borrowed(name), weight, why: Cow::Borrowed(why), source: Cow::Borrowed(source) }
    }
}

/// Points that a rule adds to a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Points {
    /// The name of the rule.
    pub rule: Cow<'static, str>,
    /// How many.
    pub points: u32,
}

/// The reason why a fault was tried before others: the fewer points, the earlier.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Score {
    /// The missing line at which the fault was aimed, by its number; none for a silent thread, or where no line was aimed at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aimed: Option<u32>,
    /// Points by rule.
    pub points: Vec<Points>,
}

impl Score {
    /// Adds what a rule contributes; nothing is no contribution.
    pub fn add(&mut self, rule: &Rule, points: u32) {
        if points > 0 {
            self.points.push(Points { rule: rule.name.clone(), points });
        }
    }

    /// A score that only names the rule that chose.
    pub fn chosen_by(rule: &Rule) -> Score {
        Score { aimed: None, points: vec![Points { rule: rule.name.clone(), points: 0 }] }
    }

    /// The sum of all points.
    pub fn total(&self) -> u64 {
        self.points.iter().map(|it| u64::from(it.points)).sum()
    }
}
