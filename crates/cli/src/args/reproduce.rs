//! What can be typed behind `reproduce`.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use hypocenter_reproduce::Strategy;

use super::{BEGUN_WITH, TargetArgs, duration};

/// Find the fault that made a failure log: which exception or delay, where, and at which moment
///
/// The workload of the [failure] in hypocenter.toml is run without a fault, then
/// with one fault a round, chosen by what the failure log shows and the runs did
/// not, until its oracle says that the failure happened. What was found is
/// replayed.
///
/// Examples:
///   hypocenter reproduce                all that it needs is in hypocenter.toml
///   hypocenter reproduce --log failure.log --budget 100 --jobs 2
///   hypocenter reproduce --log zk1.log --log zk2.log     one a node, named so
///   hypocenter reproduce --resume       go on where the last campaign was cut
///   hypocenter reproduce --log out.txt --oracle '{ log = "Severe error" }' \
///       --packages org.acme -- mvn test
///
/// Exit code: 0 reproduced, 2 everything was tried, 3 the budget is used up or
/// you ended it, 4 the failure happens without a fault.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ReproduceArgs {
    /// The workload; by default that of the [failure]
    #[arg(value_name = "WORKLOAD", conflicts_with = "named")]
    pub workload: Option<String>,
    /// A log of the failure; several for several nodes, or a directory of them, each file named like its node (`zk1.log`). By
    /// default `logs` of the [failure]
    #[arg(long, value_name = "PATH")]
    pub log: Vec<PathBuf>,
    /// The pattern of the appender that wrote it, as log4j and logback have it; by default `layout` of the [failure], or it is
    /// detected
    #[arg(long, value_name = "PATTERN")]
    pub layout: Option<String>,
    /// The most rounds
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub budget: u64,
    /// The seed: all chance follows from it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Which faults are tried
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "exceptions,delays")]
    pub faults: Vec<FaultChoice>,
    /// How long a delay lasts
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub delay: Duration,
    /// Go on after a success, and list every fault and moment that brings the failure
    #[arg(long)]
    pub keep_going: bool,
    /// Runs without a fault before the first round
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub normal_runs: u64,
    /// Replays of what was found; runs without a fault are added until there are as many
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub replays: u64,
    /// Rounds after which a second fault is searched for too
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub patience: u64,
    /// The most rounds that follow where what was found does not bring a warning of the failure log to which other faults lead; what
    /// explains more of the log then comes first
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub doubt: u64,
    /// Go on with a campaign that was cut short: the latest of reproduce, or this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "latest", conflicts_with_all = BEGUN_WITH, conflicts_with_all = [
        "log", "layout", "budget", "seed", "faults", "delay", "keep_going", "normal_runs", "replays", "patience", "doubt", "strategy",
        "window", "step", "compare",
    ])]
    pub resume: Option<String>,
    /// How faults are chosen: full, or, to compare, two-level, exhaustive, distance, distance-limit, site-feedback, multiply,
    /// stacktrace, fate, random
    #[arg(long, value_name = "NAME", default_value = "full", help_heading = "Search")]
    pub strategy: Strategy,
    /// How many faults are tried together at first: the one that is reached first happens
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000), help_heading = "Search")]
    pub window: u64,
    /// How much less an observable counts after a round that showed it, in steps of the causal graph
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Search")]
    pub step: u32,
    /// Instead of a search: let strategies play on the same trials, and print how many rounds each needs. Every fault is run once
    /// at each instance that one of them asks for; --budget is the most rounds of a game
    #[arg(long, help_heading = "Compare", conflicts_with = "keep_going")]
    pub compare: bool,
    /// Which strategies, by default all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "compare", help_heading = "Compare")]
    pub strategies: Vec<Strategy>,
    /// How many seeds each strategy plays with
    #[arg(long, value_name = "N", default_value_t = 10, requires = "compare", help_heading = "Compare")]
    pub seeds: u64,
    /// A campaign on the same failure whose trials are not run again; may be given several times
    #[arg(long, value_name = "NAME", requires = "compare", help_heading = "Compare")]
    pub recorded: Vec<String>,
    /// Before the games, run every fault at every instance of a normal run: thousands of trials, unless the workload is small
    #[arg(long, requires = "compare", help_heading = "Compare")]
    pub every_instance: bool,
    /// The most trials that are run beyond what is recorded; a game that asks for more ends there
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "compare", help_heading = "Compare")]
    pub trials: u64,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FaultChoice {
    /// What a call declares or is known to throw
    Exceptions,
    /// A call that waits for a disk or a network takes long
    Delays,
}
