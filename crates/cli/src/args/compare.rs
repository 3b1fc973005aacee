//! Command line of `compare`.

use hypocenter_reproduce::Strategy;

use super::ReproduceArgs;

/// Compare the strategies of `reproduce` on the same trials, by the number of rounds that each needs
///
/// Every fault is run once at each instance that a strategy asks for. --trials is
/// the maximum number of rounds per game.
#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Strategies to compare [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Compare")]
    pub strategies: Vec<Strategy>,
    /// Number of seeds per strategy
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Compare")]
    pub seeds: u64,
    /// Campaign on the same failure whose trials are not run again (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Compare")]
    pub recorded: Vec<String>,
    /// Run every fault at every instance of a normal run before the games: thousands of trials, unless the workload is small
    #[arg(long, help_heading = "Compare")]
    pub every_instance: bool,
    /// Maximum number of trials in addition to the recorded ones; a game that needs more ends there
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Compare")]
    pub more_trials: u64,
    #[command(flatten)]
    pub reproduce: ReproduceArgs,
}
