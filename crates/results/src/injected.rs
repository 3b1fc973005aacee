//! A fault that happened.

use hypocenter_plan::{Candidate, CandidateResult, Fault, Guard, Injection, Outcome, Plan, Repeat, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fault that happened: where, what, when it was to happen and when it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Injected {
    /// Where.
    pub site: Site,
    /// What.
    pub fault: Fault,
    /// When, as the plan asked for it.
    pub guard: Guard,
    /// When it happened, and by whom.
    pub at: Injection,
    /// The process that it happened in, where its node lives inside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
}

impl Injected {
    /// All faults of a trial that happened, each with the number of its candidate in the plan.
    pub fn all<'o>(plan: &'o Plan, outcome: &'o Outcome) -> impl Iterator<Item = (usize, Injected)> + 'o {
        outcome.candidates.iter().enumerate().filter_map(move |(number, it)| {
            let CandidateResult::Injected(at) = &it.result else { return None };
            let guard = plan.candidates.get(number)?.when.clone();
            let process = outcome.jvms.get(at.jvm).map(|it| it.node.clone()).filter(|it| *it != at.node);
            let (site, fault, at) = (it.site.clone(), it.fault.clone(), at.clone());
            Some((number, Injected { site, fault, guard, at, process }))
        })
    }

    /// The fault in a line: what, where and when. The node is named `with_node`, where there are several.
    pub fn line(&self, with_node: bool) -> String {
        format!("{} at {}, {}", self.fault, self.site, self.hit(with_node))
    }

    /// Its occurrence and thread.
    pub fn hit(&self, with_node: bool) -> String {
        let node = if with_node { format!(" on {}", self.at.node) } else { String::new() };
        self.at.hit(&self.guard, self.at.occurrence) + &node
    }

    /// The process that it happened in.
    pub fn process(&self) -> &str {
        self.process.as_deref().unwrap_or(&self.at.node)
    }

    /// The same fault at the same instance, and no chance in it. Where the plan named no node, its instances were counted in the
    /// whole process.
    pub fn candidate(&self) -> Candidate {
        let node = self.guard.node.clone().or_else(|| Some(self.process().to_owned()));
        let occurrence = Some(self.at.occurrence);
        let when = Guard { node, occurrence, probability: None, ..self.guard.clone() };
        Candidate { site: self.site.clone(), fault: self.fault.clone(), when, repeat: Repeat::Once }
    }
}
