//! Command line of `predict`.

use super::{BEGUN_WITH, LimitArgs, SetArgs, TargetArgs};

/// Find the moments at which a crash would not be survived, from runs in which nothing fails
///
/// Records what each node does with files: in runs without a fault, and in runs
/// in which the node crashes and is started again, which the system survives.
/// From both it predicts at which other moments a crash leaves a file that the
/// restarted node cannot handle. Each prediction is tried, and what is not
/// survived is replayed. A node takes part if its `restart` says so.
/// [predict] in hypocenter.toml has settings of the search.
///
/// Examples:
///   hypocenter predict                  the only workload of hypocenter.toml
///   hypocenter predict cluster --crashes 5
///   hypocenter predict --no-trigger     predictions alone
///   hypocenter predict --no-prune reset,impact
///   hypocenter predict --resume         continue the last campaign
///
/// Exit code: 0 nothing confirmed, 2 confirmed findings, 3 you interrupted it or
/// records are missing, 4 runs without a fault fail.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct PredictArgs {
    /// Workload to run [default: the only one]
    #[arg(value_name = "WORKLOAD", conflicts_with = "named")]
    pub workload: Option<String>,
    /// Runs with a crash of each node, early, late and between
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub crashes: u64,
    /// Runs without a fault
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub normal_runs: u64,
    /// Replays of each crash that is not survived
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub replays: u64,
    /// Do not try the predictions
    #[arg(long)]
    pub no_trigger: bool,
    /// Rules that leave out no pair: control, reset, impact
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub no_prune: Vec<String>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Continue an interrupted campaign [default: the latest of predict]
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "latest", conflicts_with_all = BEGUN_WITH, conflicts_with_all = [
        "crashes", "normal_runs", "replays", "no_trigger", "no_prune", "seed", "set",
    ])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}
