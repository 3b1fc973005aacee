//! Command line of `reproduce`.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use super::{BEGUN_WITH, LimitArgs, SetArgs, TargetArgs, duration};

/// Find the fault that produced a failure log: an exception or a delay, its place and its occurrence
///
/// The workload of [failure] in hypocenter.toml runs first without a fault, then
/// with one fault per round. The failure log and the results of earlier rounds
/// determine the order of the faults. When the oracle reports the failure, the
/// fault is replayed. [reproduce] in hypocenter.toml has settings of the search.
///
/// Examples:
///   hypocenter reproduce                everything is in hypocenter.toml
///   hypocenter reproduce --log failure.log --trials 100 --jobs 2
///   hypocenter reproduce --log zk1.log --log zk2.log     one log per node
///   hypocenter reproduce --resume       continue the last campaign
///   hypocenter reproduce --log out.txt --oracle '{ log = "Severe error" }' \
///       --packages org.acme -- mvn test
///
/// Exit code: 0 reproduced, 2 everything was tried, 3 the budget was used up or
/// you interrupted the campaign, 4 the failure happens without a fault.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ReproduceArgs {
    /// Workload to run [default: the one of [failure]]
    #[arg(value_name = "WORKLOAD", conflicts_with = "named")]
    pub workload: Option<String>,
    /// Log of the failure, or a directory of logs (repeatable)
    ///
    /// Each file is named after its node (`zk1.log`). By default `logs` of [failure].
    #[arg(long, value_name = "PATH")]
    pub log: Vec<PathBuf>,
    /// Layout of the log as an appender pattern of log4j or logback
    ///
    /// By default `layout` of [failure]; without it, the layout is detected.
    #[arg(long, value_name = "PATTERN")]
    pub layout: Option<String>,
    /// Maximum number of trials with a fault, replays not counted
    #[arg(long = "trials", alias = "budget", value_name = "N", default_value_t = 200)]
    pub budget: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Kinds of faults to try: exceptions, delays
    #[arg(
        long,
        value_name = "KINDS",
        value_delimiter = ',',
        default_value = "exceptions,delays",
        hide_possible_values = true
    )]
    pub faults: Vec<FaultChoice>,
    /// Duration of a delay
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub delay: Duration,
    /// Continue after the first success and list every fault found
    #[arg(long)]
    pub keep_going: bool,
    /// Runs without a fault before the first round
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub normal_runs: u64,
    /// Replays of each fault found
    ///
    /// The campaign adds runs without a fault until there are as many of them.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub replays: u64,
    /// Runs of each round, for workloads that differ from run to run
    ///
    /// A line of the failure log counts as shown if any run of the round shows it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub repeats: u64,
    /// Continue an interrupted campaign [default: the latest of reproduce]
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "latest", conflicts_with_all = BEGUN_WITH, conflicts_with_all = [
        "log", "layout", "budget", "seed", "faults", "delay", "keep_going", "normal_runs", "replays", "repeats", "set",
    ])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Kinds of faults that `reproduce` tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FaultChoice {
    /// Exceptions that a call declares or is known to throw
    Exceptions,
    /// Delays of calls that wait for a disk or a network
    Delays,
}
