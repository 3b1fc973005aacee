//! Steering of a trial beside its faults: branches that are forced, and constants that are set.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CandidateResult, Guard, OrderOutcome, Repeat, Site, SiteKind};

/// A branch whose way is forced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Force {
    /// The branch: a site of kind `branch`.
    pub branch: Site,
    /// The way it goes.
    pub way: BranchWay,
    /// When.
    #[serde(default)]
    pub when: Guard,
    /// At one hit, at every later one too, or for a while.
    #[serde(default)]
    pub repeat: Repeat,
}

/// Way of a conditional jump of the bytecode. Compilers often jump where the condition of the source does *not* hold; `hypocenter run --hook
/// branch` shows which way a branch goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BranchWay {
    /// The jump is taken.
    Taken,
    /// It is not, so that the instruction behind it follows.
    NotTaken,
}

impl fmt::Display for BranchWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BranchWay::Taken => "taken",
            BranchWay::NotTaken => "not taken",
        })
    }
}

/// A constant of the code that gets another value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetConstant {
    /// The instruction that loads it: a site of kind `constant`.
    pub constant: Site,
    /// The value that is loaded instead.
    pub value: ConstantValue,
    /// When.
    #[serde(default)]
    pub when: Guard,
    /// At every hit from the first that fits, if absent.
    #[serde(default = "always")]
    pub repeat: Repeat,
}

fn always() -> Repeat {
    Repeat::Always
}

/// A value that an instruction loads, with its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConstantValue {
    /// An `int`; also a `boolean` (0 or 1), `byte`, `short` or `char`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A `String`.
    String(String),
}

impl ConstantValue {
    /// The name of its type, as a site of kind `constant` begins what it loads.
    pub fn type_name(&self) -> &'static str {
        match self {
            ConstantValue::Int(_) => "int",
            ConstantValue::Long(_) => "long",
            ConstantValue::Float(_) => "float",
            ConstantValue::Double(_) => "double",
            ConstantValue::String(_) => "String",
        }
    }
}

impl fmt::Display for ConstantValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.type_name())?;
        match self {
            ConstantValue::Int(value) => write!(f, "{value}"),
            ConstantValue::Long(value) => write!(f, "{value}"),
            ConstantValue::Float(value) => write!(f, "{value}"),
            ConstantValue::Double(value) => write!(f, "{value}"),
            ConstantValue::String(value) => f.write_str(value),
        }
    }
}

impl Force {
    /// Error of its site, with its correction.
    pub(crate) fn trouble(&self) -> Option<String> {
        (self.branch.kind != SiteKind::Branch)
            .then(|| format!("`{}` takes no branch; name a site of kind branch", self.branch))
    }
}

impl SetConstant {
    /// Error of its site or of the value's type, with its correction.
    pub(crate) fn trouble(&self) -> Option<String> {
        let site = &self.constant;
        if site.kind != SiteKind::Constant {
            return Some(format!("`{site}` loads no constant; name a site of kind constant"));
        }
        let loads = site.callee.as_deref().and_then(|it| it.split(' ').next()).unwrap_or_default();
        let given = self.value.type_name();
        (loads != given).then(|| {
            format!("`{site}` loads a value of type `{loads}`, not `{given}`; give a value of its type")
        })
    }
}

/// Fate of all that steered a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steering {
    /// One for each order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<OrderOutcome>,
    /// One for each forced branch of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub force: Vec<ForceOutcome>,
    /// One for each constant of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetOutcome>,
}

impl Steering {
    /// Tests whether nothing was steered.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty() && self.force.is_empty() && self.set.is_empty()
    }
}

/// Fate of a forced branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForceOutcome {
    /// The branch, as the plan has it.
    pub branch: Site,
    /// The way it was to go.
    pub way: BranchWay,
    /// Number of hits that met its guard (except the n-th instance), over all JVMs.
    pub hits: u64,
    /// Its fate. *Injected*: it was sent that way, whether or not it would have gone there by itself.
    pub result: CandidateResult,
}

/// Fate of a constant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetOutcome {
    /// The instruction, as the plan has it.
    pub constant: Site,
    /// Its new value.
    pub value: ConstantValue,
    /// Number of hits that met its guard (except the n-th instance), over all JVMs.
    pub hits: u64,
    /// Its fate. *Injected*: the new value was loaded.
    pub result: CandidateResult,
}
