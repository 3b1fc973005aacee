//! Flags of `inject` that steer a run instead of breaking it.

use std::time::Duration;

use clap::ValueEnum;
use hypocenter_plan::BranchWay;

use super::duration;

/// Flags of an order, a forced branch or a constant.
#[derive(Debug, clap::Args)]
pub struct SteerArgs {
    /// Force the branch at SITE (`Store.append branch 2`) to go this way
    #[arg(long, value_name = "WAY", value_enum, group = "fault", help_heading = "Steer")]
    pub force: Option<ForceWay>,
    /// Load this value at SITE (`Store.open constant int 5`) instead of the constant
    #[arg(long, value_name = "VALUE", group = "fault", allow_hyphen_values = true, help_heading = "Steer")]
    pub set: Option<String>,
    /// Let SITE come before this other site: the thread that reaches the other waits
    #[arg(long, value_name = "SITE", group = "fault", help_heading = "Steer")]
    pub before: Option<String>,
    /// Occurrence of the other site that waits
    #[arg(long, value_name = "N", requires = "before", help_heading = "Steer")]
    pub before_at: Option<u64>,
    /// Threads that wait at the other site
    #[arg(long, value_name = "NAME", requires = "before", help_heading = "Steer")]
    pub before_thread: Option<String>,
    /// Node that waits at the other site
    #[arg(long, value_name = "NAME", requires = "before", help_heading = "Steer")]
    pub before_node: Option<String>,
    /// Longest wait [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "before", help_heading = "Steer")]
    pub at_most: Option<Duration>,
}

impl SteerArgs {
    /// Tests whether any of them is given.
    pub fn is_given(&self) -> bool {
        self.force.is_some() || self.set.is_some() || self.before.is_some()
    }
}

/// Way of a branch, as on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ForceWay {
    /// The jump of the bytecode is taken
    Taken,
    /// The instruction behind it follows
    NotTaken,
}

impl From<ForceWay> for BranchWay {
    fn from(way: ForceWay) -> BranchWay {
        match way {
            ForceWay::Taken => BranchWay::Taken,
            ForceWay::NotTaken => BranchWay::NotTaken,
        }
    }
}
