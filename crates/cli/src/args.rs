//! The command line.

mod compare;
mod predict;
mod reproduce;
mod steer;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Parser, Subcommand, ValueEnum};
use hypocenter_plan::{Oracle, Span, glob_matches};
use hypocenter_program::GraphOptions;

use crate::overrides::Override;

pub use compare::CompareArgs;
pub use predict::PredictArgs;
pub use reproduce::{FaultChoice, ReproduceArgs};
pub use steer::SteerArgs;

/// Fault injection for distributed systems on the JVM: finds the fault behind a failure
///
/// Hypocenter loads a small native agent into unmodified JVMs and injects one fault at one exact instant. Start with
/// `hypocenter demo`, `hypocenter doctor` or `hypocenter guide start`.
#[derive(Debug, Parser)]
#[command(name = "hypocenter", version, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    Init(InitArgs),
    Demo(DemoArgs),
    Doctor(DoctorArgs),
    Scan(ScanArgs),
    Reproduce(ReproduceArgs),
    Explore(ExploreArgs),
    Cascade(CascadeArgs),
    Predict(PredictArgs),
    Explain(ExplainArgs),
    #[command(hide = true)]
    Compare(CompareArgs),
    Run(RunArgs),
    Inject(InjectArgs),
    Replay(ReplayArgs),
    Report(ReportArgs),
    Clean(CleanArgs),
    Trial(TrialArgs),
    Guide(GuideArgs),
    Schema(SchemaArgs),
}

/// Guided tour on a bundled example (2 to 3 minutes)
///
/// Writes the example's sources into a new directory and compiles them there. It needs JDK 17 or newer and nothing else. Every step
/// is an ordinary command and is printed before it runs.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// New or empty directory for the example and its results
    #[arg(value_name = "DIR", default_value = "hypocenter-demo")]
    pub directory: PathBuf,
}

/// Check this machine: JDKs, the agent in each of them, the sandbox
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

/// Write a commented hypocenter.toml for a Maven or Gradle project or a directory of jars
///
/// Builds and runs nothing. An existing file is kept unless --force is given.
#[derive(Debug, clap::Args)]
pub struct InitArgs {
    /// Directory of the project
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// Replace an existing hypocenter.toml but keep its [failure]; or write into a module of a project
    #[arg(long)]
    pub force: bool,
}

/// Analyze the target without running it: calls that can fail, log statements, causes of a log line
///
/// Without further flags it prints a summary. Lists have one line per item, and
/// name sites in the syntax of `inject`. --why finds the statement that wrote a
/// log line, and the faults that can lead to it.
///
/// Examples:
///   hypocenter scan                             the target of hypocenter.toml
///   hypocenter scan --classpath 'lib/*' --packages org.acme
///   hypocenter scan --sites --class 'Store*' -- java -cp classes org.acme.Main
///   hypocenter scan --why '12:00:00,123 WARN [main] Store: cannot flush'
///   hypocenter scan --why 'cannot flush' --top 3 --graph why.dot
///   hypocenter scan --log failure.log --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, group = ArgGroup::new("started").multiple(false))]
pub struct ScanArgs {
    /// List the calls that can fail: kind, site, and exceptions
    #[arg(long, help_heading = "Lists")]
    pub sites: bool,
    /// List the log statements: level, place, message
    #[arg(long, help_heading = "Lists")]
    pub logs: bool,
    /// List the abstract states of task classes
    #[arg(long, help_heading = "Lists")]
    pub states: bool,
    /// List the loops: bound, calls, nesting
    #[arg(long, help_heading = "Lists")]
    pub loops: bool,
    /// List the calls that wait, with their timeouts
    #[arg(long, help_heading = "Lists")]
    pub waits: bool,
    /// List the methods that detect errors, with the inputs of their result
    #[arg(long, help_heading = "Lists")]
    pub detectors: bool,
    /// List the tests
    #[arg(long, help_heading = "Lists")]
    pub tests: bool,
    /// List the points at which faults can feed each other: exceptions, loops, error detectors
    #[arg(long, help_heading = "Lists")]
    pub cascade: bool,
    /// List excluded items too, with the reason: in-memory sites, unlikely error detectors
    #[arg(long, help_heading = "Lists")]
    pub dropped: bool,
    /// Only list items, or faults as causes, in these classes (`org.acme.*`, `Store`, `Store$*`)
    #[arg(long, value_name = "GLOB", help_heading = "Lists")]
    pub class: Option<String>,
    /// Show the faults that can lead to this log line, message, or part of a message
    #[arg(long, value_name = "LOGLINE", group = "started", help_heading = "Causes")]
    pub why: Option<OsString>,
    /// Show the faults that can lead to the warnings, errors and exceptions of this log
    #[arg(long, value_name = "FILE", group = "started", help_heading = "Causes")]
    pub log: Option<PathBuf>,
    /// Layout of the log as an appender pattern of log4j or logback (`%d [%t] %-5p %c - %m%n`)
    ///
    /// By default `layout` of [failure]; without it, the layout is detected.
    #[arg(long, value_name = "PATTERN", requires = "started", help_heading = "Causes")]
    pub layout: Option<String>,
    /// Number of nearest faults to show
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Causes")]
    pub top: usize,
    /// Maximum distance of a fault from the line, in events
    #[arg(long, value_name = "N", default_value_t = GraphOptions::default().distance_max, help_heading = "Causes")]
    pub distance: u32,
    /// Show the contribution of each kind of edge to the causal graph
    #[arg(long, requires = "started", help_heading = "Causes")]
    pub why_edges: bool,
    /// Write the causal graph: `.graphml`, `.dot` or `.json`
    #[arg(long, value_name = "FILE", requires = "started", help_heading = "Causes")]
    pub graph: Option<PathBuf>,
    /// Class path of the target, as for `java -cp` [default: from the java command or hypocenter.toml]
    ///
    /// Also written `-cp`.
    #[arg(long, value_name = "PATH", help_heading = "Target")]
    pub classpath: Option<String>,
    /// Packages of the target, separated by commas (`org.apache.zookeeper`)
    ///
    /// By default from hypocenter.toml, else the package of the main class, else the whole class path.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Target")]
    pub packages: Vec<String>,
    /// JDK of the target [default: from the java command, JAVA_HOME or the PATH]
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    pub jdk: Option<PathBuf>,
    /// Additional types whose implementations are tasks
    ///
    /// Threads, `Runnable`, `Callable` and `TimerTask` always are. Also `task_types` under [target] of hypocenter.toml.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Target")]
    pub task_types: Vec<String>,
    /// Also find states in helper methods that the task method of a class calls
    #[arg(long, help_heading = "Target")]
    pub helpers: bool,
    /// Configuration file
    #[arg(long, value_name = "FILE", default_value = "hypocenter.toml", help_heading = "Target")]
    pub config: PathBuf,
    /// Ignore the cached scan of an unchanged target, and do not cache this one
    #[arg(long, help_heading = "Output")]
    pub no_cache: bool,
    /// Print one JSON document on stdout and everything else on stderr
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Java command that runs the target, instead of hypocenter.toml
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl ScanArgs {
    /// Tests whether --class selects a class, by its full or simple name.
    pub fn takes_class(&self, class: &str) -> bool {
        let simple = class.rsplit('.').next().unwrap_or(class);
        self.class.as_deref().is_none_or(|it| glob_matches(it, class) || glob_matches(it, simple))
    }
}

/// Flags of every verb that runs a command.
#[derive(Debug, Clone, clap::Args)]
pub struct TargetArgs {
    /// Class path of the target, as for `java -cp`
    ///
    /// By default from the java command or hypocenter.toml.
    #[arg(long, value_name = "PATH", help_heading = "Target")]
    pub classpath: Option<String>,
    /// Packages of the target, separated by commas
    ///
    /// For example `org.apache.zookeeper`. By default from hypocenter.toml, else the package of the main class.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Target")]
    pub packages: Vec<String>,
    /// Configuration file
    #[arg(long, value_name = "FILE", default_value = "hypocenter.toml", help_heading = "Target")]
    pub config: PathBuf,
    /// Node name of the command
    ///
    /// A process can set its own name by the variable HYPOCENTER_NODE.
    #[arg(long, value_name = "NAME", default_value = "main", help_heading = "Target")]
    pub node_name: String,
    /// Oracle of the failure, as in hypocenter.toml
    ///
    /// For example `'{ log = "Severe error" }'`. By default the oracle of [failure], if it is for this workload.
    #[arg(long, value_name = "TOML", value_parser = oracle, help_heading = "Target")]
    pub oracle: Option<Oracle>,
    /// Workload of hypocenter.toml
    #[arg(long = "workload", value_name = "NAME", help_heading = "Target")]
    pub named: Option<String>,
    /// Test to run, if the workload is a template (CLASS#METHOD)
    ///
    /// `*` stands for any text. Only `run` accepts a pattern that matches several tests.
    #[arg(long, value_name = "TEST", help_heading = "Target")]
    pub test: Option<String>,
    /// How trials are run.
    #[command(flatten)]
    pub lab: LabArgs,
    /// Command that runs the target, instead of a workload
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Flags that every verb starts a campaign with. A resumed campaign already has them, and other values would be ignored.
const BEGUN_WITH: [&str; 12] = [
    "workload",
    "named",
    "test",
    "command",
    "campaign",
    "classpath",
    "packages",
    "config",
    "node_name",
    "oracle",
    "timeout",
    "network",
];

/// Flags of trials and results.
#[derive(Debug, Clone, clap::Args)]
pub struct LabArgs {
    /// Time limit of a trial (`90s`, `5m`)
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Trials")]
    pub timeout: Option<Duration>,
    /// Separate network, /tmp and processes for each trial
    #[arg(long, value_enum, default_value = "auto", help_heading = "Trials")]
    pub sandbox: SandboxChoice,
    /// Network of a sandbox [default: from the workload]
    #[arg(long, value_enum, help_heading = "Trials")]
    pub network: Option<NetworkChoice>,
    /// Number of parallel trials
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Trials")]
    pub jobs: u16,
    /// Directory of all campaigns
    #[arg(long, value_name = "DIR", default_value = crate::store::DEFAULT_OUT, help_heading = "Output")]
    pub out: PathBuf,
    /// Name of this campaign, a directory below --out [default: a new name]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub campaign: Option<String>,
    /// Keep files that are normally deleted
    ///
    /// `traces`: traces of trials that neither a replay nor a report needs.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Output")]
    pub keep: Vec<Keep>,
    /// Print one JSON document on stdout and everything else on stderr
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Do not show output and events of a single trial
    ///
    /// They are always written to the logs of the trial.
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

/// Limits of a campaign, the same for every verb that has an engine.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct LimitArgs {
    /// End after this time with what was found by then (`30m`, `6h`); --resume continues
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Trials")]
    pub time: Option<Duration>,
    /// Run the workload without a fault, list the trials that would come first, and stop; --resume continues from there
    #[arg(long, help_heading = "Trials")]
    pub dry_run: bool,
}

/// Output of a single trial that is shown while it runs.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct ShowArgs {
    /// Show the output of nodes and clients of a single trial
    ///
    /// Each line starts with the name of its process. Without this flag, the output is only in the logs.
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    pub verbose: bool,
}

/// Use of sandboxes for trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SandboxChoice {
    /// If the kernel allows it
    Auto,
    /// Always; an error if the kernel does not allow it
    On,
    /// Never: trials share the ports and /tmp of the machine
    Off,
}

/// Parts of trials that are kept although no replay or report needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// Traces of all trials
    Traces,
}

/// Network of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NetworkChoice {
    /// Private loopback network
    Private,
    /// Network of the machine
    Host,
}

/// Level of detail that is recorded at each hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordLevel {
    /// Nothing: the hooks are in place and idle
    Off,
    /// Number of hits
    Count,
    /// Time and thread of each hit
    Events,
    /// Time, thread and stack of each hit
    Stacks,
    /// The objects and values of each hit, as far as its hook sees any
    Values,
    /// The same, with the stack and the order over all threads
    ValueStacks,
}

/// Help of --oracle for `explore`.
const EXPLORE_ORACLE: &str = "Oracle of a failure that must not happen, as in hypocenter.toml";
/// The same, with the default.
const EXPLORE_ORACLE_LONG: &str = "Oracle of a failure that must not happen, as in hypocenter.toml\n\nFor example `'{ log = \"Severe error\" }'`. \
     By default the oracle of [failure] if the workload has no clients, else none.";

/// Find small faults that break part of the service while the rest looks healthy
///
/// The workload runs a few times without a fault. Then each trial injects one
/// fault in one abstract state of one thread. A trial is suspicious if only
/// clients of other nodes fail, if clients fail although their node reports
/// healthy, if only some clients fail, or if a node without a fault ends.
/// Suspicious trials are grouped by the place of their fault, and replayed.
/// [explore] in hypocenter.toml has settings of the search.
///
/// Examples:
///   hypocenter explore                  the only workload of hypocenter.toml
///   hypocenter explore cluster --trials 500 --jobs 2
///   hypocenter explore --faults delays --delay 60s
///   hypocenter explore --resume         continue the last campaign
///
/// Exit code: 0 nothing confirmed, 2 confirmed findings, 3 you interrupted it or
/// nothing can be injected, 4 runs without a fault fail.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, mut_arg("oracle", |it| it.help(EXPLORE_ORACLE).long_help(EXPLORE_ORACLE_LONG)))]
pub struct ExploreArgs {
    /// Workload to run [default: the only one, or the one of [failure]]
    #[arg(value_name = "WORKLOAD", conflicts_with = "named")]
    pub workload: Option<String>,
    /// Maximum number of trials with a fault
    ///
    /// Runs without a fault come first (--normal-runs). After the trials, each suspicious finding is replayed and compared
    /// (--replays, --neighbours).
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub trials: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Kinds of faults to try: exceptions, other-exceptions, delays
    #[arg(
        long,
        value_name = "KINDS",
        value_delimiter = ',',
        default_value = "exceptions",
        hide_possible_values = true
    )]
    pub faults: Vec<ExploreFaults>,
    /// Duration of a delay
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    pub delay: Duration,
    /// Runs without a fault before the first trial
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub normal_runs: u64,
    /// Replays of each suspicious finding
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub replays: u64,
    /// Trials of each kind to compare a repeated finding with
    ///
    /// The kinds are: the same call at other occurrences, other calls at the same place, and calls elsewhere in the same state.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub neighbours: u64,
    /// Only inject when all nodes are ready
    #[arg(long)]
    pub when_ready: bool,
    /// Continue an interrupted campaign [default: the latest of explore]
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "latest", conflicts_with_all = BEGUN_WITH, conflicts_with_all = [
        "trials", "seed", "faults", "delay", "normal_runs", "replays", "neighbours", "when_ready", "set",
    ])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Find faults that feed themselves: a small fault whose consequences bring it about again
///
/// Injects one fault at a time into one test of the target and compares it with
/// runs of the test without the fault, to learn which other faults it causes.
/// Such steps from different tests are joined to cycles. Its tests are those of a
/// template, a command with {test.class} and {test.method}, and other workloads.
///
/// Examples:
///   hypocenter cascade                      all workloads and tests
///   hypocenter cascade --test 'Block*Test#*' --budget 2
///   hypocenter cascade --time 6h --jobs 2
///   hypocenter cascade --dry-run            the first experiments, without faults
///   hypocenter cascade --resume             continue the latest campaign
///
/// Exit codes: 0 no cycle was found, 2 cycles were found, 3 time is up,
/// 4 every test fails without a fault.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CascadeArgs {
    /// Workload or template whose tests are run [default: all]
    #[arg(value_name = "WORKLOAD", conflicts_with = "named")]
    pub workload: Option<String>,
    /// Experiments for each fault that a test reaches; each is one fault in one test
    #[arg(long, value_name = "N", default_value_t = 4.0)]
    pub budget: f64,
    /// Runs of a test with a fault, and as many without
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub repeats: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Campaign on the same target whose trials are not run again (repeatable)
    #[arg(long, value_name = "NAME", hide = true)]
    pub recorded: Vec<String>,
    /// Continue an interrupted campaign [default: the latest of cascade]
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "latest", conflicts_with_all = BEGUN_WITH, conflicts_with_all = [
        "budget", "repeats", "seed", "set", "recorded",
    ])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Find the line where a failing run left the right path
///
/// Runs a failure again, and beside it the runs that come nearest to it and do
/// not fail: without the fault, with it at another hit, and the other workloads.
/// It compares what they do on the way to the symptom, and names the first
/// instruction that differs. The failing run is that of an earlier campaign.
///
/// Examples:
///   hypocenter explain --symptom 'Monitor.check:70'     the latest campaign
///   hypocenter explain reproduce-0001 --symptom 'Monitor.check:70'
///   hypocenter explain --workload race --symptom 'Monitor.check:70'
///   hypocenter explain --resume             continue the latest campaign
///
/// Exit codes: 0 there is no answer, 2 the inflection point was found, or both
/// runs take the same path, 3 time is up.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ExplainArgs {
    /// Campaign with the failing trial, or one of its trials (CAMPAIGN/N) [default: latest]
    #[arg(value_name = "CAMPAIGN", conflicts_with_all = ["named", "plan"])]
    pub trial: Option<String>,
    /// Line that only a failing run reaches, as `Class.method:LINE`
    #[arg(long, value_name = "PLACE", required_unless_present = "resume")]
    pub symptom: Option<String>,
    /// Plan of the failing run of a workload
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Runs that the failing one is compared with
    #[arg(long, value_enum, default_value = "all")]
    pub neighbours: ExplainNeighbours,
    /// Replays of the failing run and of the nearest one that prove the answer
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub replays: u64,
    /// Continue an interrupted campaign [default: the latest of explain]
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "latest", conflicts_with_all = BEGUN_WITH[1..].iter().copied(), conflicts_with_all = [
        "symptom", "plan", "neighbours", "replays", "set", "trial",
    ])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Runs that a failing one is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplainNeighbours {
    /// The same workload, without the fault or with the fault at another hit
    Trials,
    /// The other workloads
    Tests,
    /// Both
    All,
}

/// Kinds of faults that `explore` tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExploreFaults {
    /// I/O exceptions: `IOException` and its subtypes
    Exceptions,
    /// All other exceptions that a call declares or that the system creates
    OtherExceptions,
    /// Delays of calls that wait for a disk or a network
    Delays,
}

impl ExploreFaults {
    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExploreFaults::Exceptions => "exceptions",
            ExploreFaults::OtherExceptions => "other-exceptions",
            ExploreFaults::Delays => "delays",
        }
    }
}

/// Settings of the search, in place of those in hypocenter.toml.
#[derive(Debug, Clone, clap::Args)]
pub struct SetArgs {
    /// Value of a key of the verb's section in hypocenter.toml, as `reproduce.window=3` (repeatable)
    #[arg(long, value_name = "KEY=VALUE", hide = true)]
    pub set: Vec<Override>,
}

/// Run a workload with hooks and without a fault, once or many times
///
/// Examples:
///   hypocenter run quorum                       a workload of hypocenter.toml
///   hypocenter run quorum --repeat 50 --jobs 2  does it pass 50 times?
///   hypocenter run --resume               continue the last campaign
///   hypocenter run --no-agent             does it pass without the agent?
///   hypocenter run --hook all -- java -cp classes Main          a command
///   hypocenter run --hook call,handler --record events \
///       --packages org.acme -- mvn test
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct RunArgs {
    /// Workload to run [default: the only one of hypocenter.toml]
    #[arg(value_name = "WORKLOAD", conflicts_with = "named")]
    pub workload: Option<String>,
    /// Number of trials
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub repeat: u64,
    /// Continue an interrupted campaign [default: the latest of run]
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "latest", conflicts_with_all = BEGUN_WITH, conflicts_with_all = [
        "repeat", "plan", "seed", "hook", "record", "lossless", "ring_kb", "no_agent",
    ])]
    pub resume: Option<String>,
    /// Random seed of the campaign
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Kinds of hooks, separated by commas
    ///
    /// The kinds are: call, call_return, entry, exit, unwind, block, loop_entry, loop_iteration, loop_exit, loop_body, handler,
    /// boolean_return, branch, switch, throw, log, operation (on files and connections, in the JDK), field_read, field_write, array_read,
    /// array_write, allocation, monitor_enter, monitor_exit. `field`, `array` and `monitor` stand for both of theirs, `thread` for what threads
    /// do with each other (start, wait, notify, locks, queues, executors), `all` for call, block and boolean_return, `every` for all kinds.
    #[arg(long, value_name = "KINDS", default_value = "all", value_delimiter = ',')]
    pub hook: Vec<String>,
    /// Level of detail to record at each hook
    #[arg(long, value_enum, default_value = "count")]
    pub record: RecordLevel,
    /// Keep every event, without a limit
    #[arg(long)]
    pub lossless: bool,
    /// Size of the event buffer of a thread; the oldest events are dropped
    #[arg(long, value_name = "KB", default_value_t = 256)]
    pub ring_kb: u32,
    /// Number of hit sites to show: calls that can fail first, then by number of hits
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Run the workload without the agent in any process
    #[arg(long, conflicts_with_all = ["plan", "hook", "record", "lossless", "ring_kb", "must_pass"])]
    pub no_agent: bool,
    /// Run under this plan (see `hypocenter schema plan`) instead of the flags
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "lossless", "ring_kb"])]
    pub plan: Option<PathBuf>,
    #[command(flatten)]
    pub pass: PassArgs,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Flag that makes a failure an error.
#[derive(Debug, clap::Args)]
pub struct PassArgs {
    /// Exit with 2 if the failure happens or the workload fails under the fault
    ///
    /// For a CI job that guards a fixed bug. With `--must-pass=oracle` only the oracle counts.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub must_pass: Option<MustPass>,
}

/// Conditions for a run to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum MustPass {
    /// The oracle sees no failure, and the workload succeeds
    All,
    /// The oracle sees no failure; the workload may end in any way
    Oracle,
}

/// Inject one fault at one exact instant
///
/// SITE names a point of the program:
///   'FileTxnLog.commit -> FileChannel.force'   before this call
///   'FileTxnLog.commit <- FileChannel.force'   after its return
///   'FileTxnLog.commit'                        method entry; other points:
///                                              `exit`, `unwind`, `return`,
///                                              `loop 0`, `handler 0`, `block 3`,
///                                              `branch 2`, `constant int 5`
///   'IOUtil.write operation'                   a file or connection of the JDK
/// Class names may be simple, qualified, or contain `*`. `:386` selects a line,
/// and `#1` the second of several.
///
/// Examples:
///   hypocenter inject 'Store.append -> FileOutputStream.write' \
///       --throw java.io.IOException --at 3 -- java -cp classes Main
///   hypocenter inject 'FileTxnLog.commit -> FileChannel.force' \
///       --crash --node zk1 --workload cluster
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, group = ArgGroup::new("fault").required(true))]
pub struct InjectArgs {
    /// Site of the fault
    #[arg(value_name = "SITE")]
    pub site: String,
    /// Throw this exception; for an abstract class, a concrete subtype
    #[arg(long, value_name = "CLASS", group = "fault", help_heading = "Fault")]
    pub throw: Option<String>,
    /// Message of the exception
    // `requires` alone does not hold beside a fault that excludes --throw.
    #[arg(
        long,
        value_name = "TEXT",
        requires = "throw",
        conflicts_with_all = ["sleep", "spin", "crash", "negate", "drop", "disk_full", "partition"],
        help_heading = "Fault"
    )]
    pub message: Option<String>,
    /// Delay the thread by sleeping (`500ms`, `60s`)
    // The other verbs that let threads sleep call it so.
    #[arg(long, visible_alias = "delay", value_name = "TIME", value_parser = duration, group = "fault", help_heading = "Fault")]
    pub sleep: Option<Duration>,
    /// Delay the thread by a busy loop
    #[arg(long, value_name = "TIME", value_parser = duration, group = "fault", help_heading = "Fault")]
    pub spin: Option<Duration>,
    /// Halt the JVM as if it were killed
    #[arg(long, group = "fault", help_heading = "Fault")]
    pub crash: bool,
    /// Negate the boolean result of a method (SITE is a method: `Acceptor.isRunning`)
    #[arg(long, group = "fault", help_heading = "Fault")]
    pub negate: bool,
    /// Swallow what is sent over the connection, from this write until it is closed (SITE is a write of the JDK: `NioSocketImpl.tryWrite`)
    #[arg(long, group = "fault", help_heading = "Fault")]
    pub drop: bool,
    /// Let writes below a path fail: no space left (a path from the directory of the trial on, `*` for all of it)
    #[arg(long, value_name = "PATH", group = "fault", conflicts_with = "times", help_heading = "Fault")]
    pub disk_full: Option<String>,
    /// Let no packet get from one node to the other, in either direction
    #[arg(
        long,
        value_name = "NODE,NODE",
        value_delimiter = ',',
        group = "fault",
        conflicts_with = "times",
        help_heading = "Fault"
    )]
    pub partition: Vec<String>,
    #[command(flatten)]
    pub steer: SteerArgs,
    /// Inject at the N-th occurrence that meets the conditions below, counted per JVM
    #[arg(long, value_name = "N", help_heading = "When")]
    pub at: Option<u64>,
    /// Inject at that occurrence and at every later one
    #[arg(long, group = "how_long", help_heading = "When")]
    pub always: bool,
    /// At that time and at every later one for so long (`5s`)
    #[arg(long = "for", value_name = "TIME", value_parser = duration, group = "how_long", help_heading = "When")]
    pub lasts: Option<Duration>,
    /// At that time and at later ones, so often in all
    #[arg(long, value_name = "N", group = "how_long", help_heading = "When")]
    pub times: Option<u64>,
    /// Only once this other site was reached
    #[arg(long, value_name = "SITE", conflicts_with = "when_ready", help_heading = "When")]
    pub after_site: Option<String>,
    /// Only on this node
    #[arg(long, value_name = "NAME", help_heading = "When")]
    pub node: Option<String>,
    /// Only on threads with this name (`'SyncThread:*'`)
    #[arg(long, value_name = "NAME", help_heading = "When")]
    pub thread: Option<String>,
    /// Only on this file or connection, for a SITE of kind `operation` (`'zk1/version-2/*'`, `'* > 127.0.0.1:2181'`)
    #[arg(long, value_name = "NAME", help_heading = "When")]
    pub resource: Option<String>,
    /// Only if these are the innermost frames, innermost first (`'a.B.c,*.run'`)
    #[arg(long, value_name = "FRAMES", value_delimiter = ',', help_heading = "When")]
    pub stack: Vec<String>,
    /// Probability of an injection at each occurrence, from 0 to 1
    #[arg(long, value_name = "P", help_heading = "When")]
    pub probability: Option<f64>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "When")]
    pub seed: u64,
    /// Only when all nodes of the workload are ready
    #[arg(long, help_heading = "When")]
    pub when_ready: bool,
    /// Number of trials, each with the fault
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Trials")]
    pub repeat: u64,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

impl InjectArgs {
    /// Tests whether the command line says how often it happens.
    pub fn lasts_or_repeats(&self) -> bool {
        self.always || self.lasts.is_some() || self.times.is_some()
    }
}

/// Run a trial of an earlier campaign again under the same plan, and compare the results
///
/// Examples:
///   hypocenter replay                            finding of the latest campaign
///   hypocenter replay inject-0003                its first trial
///   hypocenter replay run-0007/41 --times 5
///   hypocenter replay reproduce-0001/9 --export bug-12   to keep or send
///   hypocenter replay reproduce-0001/9 --must-pass   2 while the failure happens
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ReplayArgs {
    /// Campaign, optionally with a slash and the number of the trial
    #[arg(value_name = "CAMPAIGN[/N]", default_value = "latest")]
    pub trial: String,
    /// Number of replays
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub times: u64,
    /// Write a self-contained script into a new or empty directory, and run nothing
    ///
    /// The directory gets the script, the plan and the files that they need. It works without the campaign.
    #[arg(long, value_name = "DIR", conflicts_with = "times")]
    pub export: Option<PathBuf>,
    #[command(flatten)]
    pub pass: PassArgs,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub lab: LabArgs,
}

/// Write the report of a campaign again: report.html, junit.xml and findings.sarif
///
/// Every campaign of `reproduce` and `explore` writes them at its end. This verb
/// writes them again from summary.json and runs.json of the campaign. It runs
/// nothing and does not need the target.
///
/// Examples:
///   hypocenter report                       the latest campaign that has one
///   hypocenter report reproduce-0003
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ReportArgs {
    /// Campaign: a name below --out, or a path
    #[arg(value_name = "CAMPAIGN", default_value = "latest")]
    pub campaign: String,
    /// Directory of all campaigns
    #[arg(long, value_name = "DIR", default_value = crate::store::DEFAULT_OUT)]
    pub out: PathBuf,
    /// Print the summary as one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

/// Free disk space: remove files that no replay needs
///
/// Keeps requests, maps, plans, outcomes, journals and reports, and the logs and
/// traces of trials that show a finding. Skips running campaigns.
///
/// Examples:
///   hypocenter clean                        all campaigns below --out
///   hypocenter clean explore-0003
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CleanArgs {
    /// Campaigns: names below --out, or paths [default: all below --out]
    #[arg(value_name = "CAMPAIGN")]
    pub campaigns: Vec<String>,
    /// Directory of all campaigns
    #[arg(long, value_name = "DIR", default_value = crate::store::DEFAULT_OUT)]
    pub out: PathBuf,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

/// Run one trial of a campaign, for a scheduler that distributes trials
///
/// Writes the outcome to trials/N/outcome.json of the campaign, where
/// `run --resume` finds it.
///
/// Example:
///   hypocenter trial --campaign run-0007 --index 41
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct TrialArgs {
    /// Number of the trial
    #[arg(long, value_name = "N")]
    pub index: u64,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub lab: LabArgs,
}

/// Print a page of the guide, or list its pages
///
/// Examples:
///   hypocenter guide                        list of pages
///   hypocenter guide troubleshooting | less
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct GuideArgs {
    /// Name of the page
    #[arg(value_name = "PAGE", value_parser = PossibleValuesParser::new(crate::commands::guide::names()))]
    pub page: Option<String>,
}

/// Print the JSON schema of a document
#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    /// Document to describe
    #[arg(value_enum)]
    pub document: Document,
}

/// The documents that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Document {
    /// Plan of a trial
    Plan,
    /// Outcome of a trial
    Outcome,
    /// Thread dump of a JVM
    Dump,
    /// Summary of a campaign of `reproduce`
    Summary,
    /// Summary of a campaign of `explore`
    Exploration,
    /// Summary of a campaign of `cascade`
    Cascade,
    /// Summary of a campaign of `predict`
    Prediction,
    /// Summary of a campaign of `explain`
    Explanation,
    /// hypocenter.toml, for editors with TOML support
    Config,
}

/// A time with its unit.
fn duration(text: &str) -> Result<Duration, String> {
    text.parse::<Span>().map(|span| span.0)
}

/// An oracle, as the value of a key in hypocenter.toml.
fn oracle(text: &str) -> Result<Oracle, String> {
    #[derive(serde::Deserialize)]
    struct Document {
        oracle: Oracle,
    }
    let document: Document = toml::from_str(&format!("oracle = {text}")).map_err(|error| {
        if text.trim_start().starts_with('{') {
            return error.message().to_owned();
        }
        // In quotes of the shell, as it would be typed.
        let text = text.trim_matches('"').replace('\\', "\\\\").replace('"', "\\\"");
        format!("an oracle is a table; to match a line of the log, write '{{ log = \"{text}\" }}'")
    })?;
    hypocenter_lab::oracle::check(&document.oracle).map_err(|error| error.to_string())?;
    Ok(document.oracle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }

    #[test]
    fn the_short_help_of_a_search_fits_one_screen() {
        use clap::CommandFactory;
        let mut command = Args::command().term_width(100);
        command.build();
        for verb in ["reproduce", "explore"] {
            let found = command.find_subcommand_mut(verb).expect("the verb exists");
            let help = found.render_help().to_string();
            assert!(help.lines().count() <= 50, "{} lines:\n{help}", help.lines().count());
            let is_own = |it: &&clap::Arg| !it.is_hide_set() && it.get_help_heading().is_none();
            let flags = found.get_arguments().filter(|it| !it.is_positional() && it.get_id() != "help");
            let own = flags.filter(is_own).count();
            assert!((5..=14).contains(&own), "{verb} has {own} flags of its own");
        }
    }

    #[test]
    fn examples_fit_a_screen_of_eighty_columns() {
        use clap::CommandFactory;
        let mut seen = 0;
        for verb in Args::command().get_subcommands() {
            let about = verb.get_long_about().map(ToString::to_string).unwrap_or_default();
            // Other texts are broken to fit.
            for line in about.lines().skip(1).filter(|_| about.contains("\nExample")) {
                assert!(line.chars().count() < 80, "{}: {line}", verb.get_name());
                seen += 1;
            }
        }
        assert!(seen > 40, "{seen}");
    }
}
