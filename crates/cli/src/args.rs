//! What can be typed.

mod reproduce;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Parser, Subcommand, ValueEnum};
use hypocenter_explore::Policy;
use hypocenter_plan::{Oracle, Span, glob_matches};
use hypocenter_program::GraphOptions;

pub use reproduce::{FaultChoice, ReproduceArgs};

/// Finds the fault under a failure of a distributed system that runs on the JVM.
///
/// Hypocenter loads a small native agent into unmodified JVMs, puts hooks into the classes you name, and injects one
/// fault at one exact instant. Start with `hypocenter doctor`, see `hypocenter demo`, or read `hypocenter guide start`.
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
    Run(RunArgs),
    Inject(InjectArgs),
    Replay(ReplayArgs),
    Report(ReportArgs),
    Clean(CleanArgs),
    Trial(TrialArgs),
    Guide(GuideArgs),
    Schema(SchemaArgs),
}

/// Show everything on a bundled target, step by step, in two or three minutes
///
/// The target's sources are written into a new directory and compiled there; a JDK, 17 or newer, is all that is needed. Every step is
/// an ordinary command, shown as it would be typed.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Where the target and the results go: a directory that is new or empty
    #[arg(value_name = "DIR", default_value = "hypocenter-demo")]
    pub directory: PathBuf,
}

/// Check what this machine has: JDKs, the agent in each of them, room and limits
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

/// Write a commented hypocenter.toml, with what a Maven or Gradle project or the jars of a directory tell
///
/// Nothing is built or run. An existing file is left as it is, unless --force says otherwise.
#[derive(Debug, clap::Args)]
pub struct InitArgs {
    /// The directory of the project
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// Write over an existing hypocenter.toml, whose [failure] is taken over; or into a part of a project
    #[arg(long)]
    pub force: bool,
}

/// Look at the target without running it: where faults can go in, what is logged, and which faults a log line can mean
///
/// Without more than a target it prints a summary. The lists give one line an
/// item, with the site as `inject` takes it. With --why it ties a log line to the
/// statement that wrote it, and goes back from there to the faults that can lead
/// to it.
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
    /// List the calls at which a fault can go in: its kind, the site, and what can be thrown
    #[arg(long, help_heading = "Lists")]
    pub sites: bool,
    /// List the log statements: level, place and message
    #[arg(long, help_heading = "Lists")]
    pub logs: bool,
    /// List the abstract states of task classes
    #[arg(long, help_heading = "Lists")]
    pub states: bool,
    /// List the loops: how often they may go round, what they do, how they are nested
    #[arg(long, help_heading = "Lists")]
    pub loops: bool,
    /// List the calls that wait, and how long at most
    #[arg(long, help_heading = "Lists")]
    pub waits: bool,
    /// List the methods that detect errors: what their result is computed from
    #[arg(long, help_heading = "Lists")]
    pub detectors: bool,
    /// List the tests
    #[arg(long, help_heading = "Lists")]
    pub tests: bool,
    /// List also what was left out, with the reason: sites that work in memory, methods that hardly detect errors
    #[arg(long, help_heading = "Lists")]
    pub dropped: bool,
    /// List only what is in these classes (`org.acme.*`, `Store`, `Store$*`); of causes, only faults in them
    #[arg(long, value_name = "GLOB", help_heading = "Lists")]
    pub class: Option<String>,
    /// Which faults can lead to this line of a log, to this message, or to what has this part of one
    #[arg(long, value_name = "LOGLINE", group = "started", help_heading = "Causes")]
    pub why: Option<OsString>,
    /// Which faults can lead to the warnings, errors and exceptions of this log
    #[arg(long, value_name = "FILE", group = "started", help_heading = "Causes")]
    pub log: Option<PathBuf>,
    /// The pattern of the appender that wrote the log, as log4j and logback have it (`%d [%t] %-5p %c - %m%n`); by default
    /// `layout` of the [failure], or it is detected
    #[arg(long, value_name = "PATTERN", requires = "started", help_heading = "Causes")]
    pub layout: Option<String>,
    /// How many of the nearest faults to show
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Causes")]
    pub top: usize,
    /// How many events a fault may be away from the line that it leads to; what is further is not searched
    #[arg(long, value_name = "N", default_value_t = GraphOptions::default().distance_max, help_heading = "Causes")]
    pub distance: u32,
    /// Show what each kind of edge adds to the causal graph
    #[arg(long, requires = "started", help_heading = "Causes")]
    pub why_edges: bool,
    /// Write the causal graph: `.graphml`, `.dot` or `.json`
    #[arg(long, value_name = "FILE", requires = "started", help_heading = "Causes")]
    pub graph: Option<PathBuf>,
    /// The target's classes, as for `java -cp`, also written `-cp`; by default those of the java command or of
    /// hypocenter.toml
    #[arg(long, value_name = "PATH", help_heading = "Target")]
    pub classpath: Option<String>,
    /// The target's packages, separated by commas (`org.apache.zookeeper`); by default from hypocenter.toml, or the
    /// package of the main class, or all of the class path
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Target")]
    pub packages: Vec<String>,
    /// The JDK that the target runs on; by default that of the java command, of JAVA_HOME, or on the PATH
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    pub jdk: Option<PathBuf>,
    /// Types whose implementations are tasks too, beside threads, `Runnable`, `Callable` and `TimerTask`; also `task_types`
    /// under [target] of hypocenter.toml
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Target")]
    pub task_types: Vec<String>,
    /// Look for states also in the methods of a task class that its task method calls
    #[arg(long, help_heading = "Target")]
    pub helpers: bool,
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = "hypocenter.toml", help_heading = "Target")]
    pub config: PathBuf,
    /// Read the target even if it was scanned before and is unchanged, and keep nothing of this scan
    #[arg(long, help_heading = "Output")]
    pub no_cache: bool,
    /// Print one JSON document on stdout, everything else on stderr
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// The java command that runs the target, instead of hypocenter.toml
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

impl ScanArgs {
    /// Whether what is in a class is wanted, by its whole name or by the last part of it.
    pub fn takes_class(&self, class: &str) -> bool {
        let simple = class.rsplit('.').next().unwrap_or(class);
        self.class.as_deref().is_none_or(|it| glob_matches(it, class) || glob_matches(it, simple))
    }
}

/// What every verb that runs a command takes.
#[derive(Debug, clap::Args)]
pub struct TargetArgs {
    /// The target's classes, as for `java -cp`; by default those of the java command or of hypocenter.toml
    #[arg(long, value_name = "PATH", help_heading = "Target")]
    pub classpath: Option<String>,
    /// The target's packages, separated by commas (`org.apache.zookeeper`); by default from hypocenter.toml, or the
    /// package of the main class
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Target")]
    pub packages: Vec<String>,
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = "hypocenter.toml", help_heading = "Target")]
    pub config: PathBuf,
    /// The name of the node that the command is; a process may say it by HYPOCENTER_NODE
    #[arg(long, value_name = "NAME", default_value = "main", help_heading = "Target")]
    pub node_name: String,
    /// What says that the failure happened, as in hypocenter.toml (`'{ log = "Severe error" }'`); by default that of
    /// the workload's [failure]
    #[arg(long, value_name = "TOML", value_parser = oracle, help_heading = "Target")]
    pub oracle: Option<Oracle>,
    /// A workload of hypocenter.toml, instead of a command behind `--`
    #[arg(long = "workload", value_name = "NAME", help_heading = "Target")]
    pub named: Option<String>,
    #[command(flatten)]
    pub lab: LabArgs,
    /// The command that runs the target, instead of a workload of hypocenter.toml
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What a campaign is begun with, whatever its verb: one that goes on has it, and another would not be looked at.
const BEGUN_WITH: [&str; 11] = [
    "workload",
    "named",
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

/// How trials are run and where their results go.
#[derive(Debug, Clone, clap::Args)]
pub struct LabArgs {
    /// End a trial after this time (`90s`, `5m`)
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Trials")]
    pub timeout: Option<Duration>,
    /// Give every trial a network, a /tmp and processes of its own: `auto` where the kernel allows it
    #[arg(long, value_enum, default_value = "auto", help_heading = "Trials")]
    pub sandbox: SandboxChoice,
    /// Which network trials see in a sandbox: one of their own, or the machine's; by default what the workload says
    #[arg(long, value_enum, help_heading = "Trials")]
    pub network: Option<NetworkChoice>,
    /// How many trials run at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Trials")]
    pub jobs: u16,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = crate::store::DEFAULT_OUT, help_heading = "Output")]
    pub out: PathBuf,
    /// The directory of this campaign below --out; by default a new one
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub campaign: Option<String>,
    /// Keep what would be dropped once it is digested: `traces` of trials that show nothing
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Output")]
    pub keep: Vec<Keep>,
    /// Print one JSON document on stdout, everything else on stderr
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Do not pass on what the command of a single trial prints, nor what happens to its nodes and clients; it is kept in any case
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

/// Output of a single trial that is shown while it runs.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct ShowArgs {
    /// Print also what the nodes and clients of a single trial print, each line behind the name of its process; without it, only their
    /// logs have it
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    pub verbose: bool,
}

/// Whether trials are put into sandboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SandboxChoice {
    /// Where the kernel allows it
    Auto,
    /// Or it is an error
    On,
    /// Never: trials share the machine's ports and its /tmp
    Off,
}

/// Parts of trials that are kept although no replay or report needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// Traces of all trials
    Traces,
}

/// Which network trials see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NetworkChoice {
    /// A loopback of their own
    Private,
    /// The machine's
    Host,
}

/// What is written down at each hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordLevel {
    /// Nothing: the hooks are in place and idle
    Off,
    /// How often it was hit
    Count,
    /// Each hit, with its time and thread
    Events,
    /// Each hit, with its time, thread and stack
    Stacks,
}

/// Which oracle `explore` takes.
const EXPLORE_ORACLE: &str = "What must not happen, as in hypocenter.toml (`'{ log = \"Severe error\" }'`); of a workload without \
     clients by default that of its [failure], of others none";

/// Find the small fault that breaks a part of the service while the rest looks fine
///
/// The workload is run without a fault, a few times; then each trial injects one
/// fault, in one abstract state of one thread, chosen by the policy. A trial is
/// suspicious where only clients of other nodes fail, where a node says that it
/// is well and its clients fail, where only some clients fail, or where a node
/// ends that got no fault. Suspicious trials are put together by the place of
/// their fault, and replayed.
///
/// Examples:
///   hypocenter explore                  the only workload of hypocenter.toml
///   hypocenter explore cluster --trials 500 --jobs 2
///   hypocenter explore --faults delays --delay 60s
///   hypocenter explore --policy random --seed 3 --json
///   hypocenter explore --resume         go on where the last campaign was cut
///
/// Exit code: 0 nothing suspicious, 2 findings, 3 you ended it or nothing can be
/// injected, 4 runs without a fault fail.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, mut_arg("oracle", |it| it.help(EXPLORE_ORACLE)))]
pub struct ExploreArgs {
    /// The workload; by default the only one of hypocenter.toml, or that of its [failure]
    #[arg(value_name = "WORKLOAD", conflicts_with = "named")]
    pub workload: Option<String>,
    /// The most trials with a fault; runs without one come before (--normal-runs), and behind them each
    /// suspicious finding is replayed and compared (--replays, --neighbours)
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub trials: u64,
    /// The seed: all chance follows from it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Which faults are tried
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "exceptions")]
    pub faults: Vec<ExploreFaults>,
    /// How long a delay lasts
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    pub delay: Duration,
    /// Runs without a fault before the first trial
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub normal_runs: u64,
    /// Replays of each suspicious finding
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub replays: u64,
    /// What each finding that repeats is compared with: so many trials of the same call at other
    /// moments, so many of other calls at the same place, so many of calls elsewhere in the same state
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub neighbours: u64,
    /// Begin no further trial once a suspicious finding has this method on its stack, as `package.Class.method`, where
    /// `*` stands for any text
    #[arg(long, value_name = "METHOD")]
    pub until: Option<String>,
    /// Go on with a campaign that was cut short: the latest of explore, or this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "latest", conflicts_with_all = BEGUN_WITH, conflicts_with_all = [
        "trials", "seed", "faults", "delay", "normal_runs", "replays", "neighbours", "until", "policy", "key", "budget",
        "epsilon", "when_ready", "helpers", "in_memory",
    ])]
    pub resume: Option<String>,
    /// How the fault of a trial is chosen: bsrr, or, to compare, new-state, random, exhaustive, fate
    #[arg(long, value_name = "NAME", default_value = "bsrr", help_heading = "Search")]
    pub policy: Policy,
    /// What a state is: that of the thread alone, or with the fault and what is called
    #[arg(long, value_enum, default_value = "state", help_heading = "Search")]
    pub key: KeyChoice,
    /// How many injections a state gets before all get them anew
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Search")]
    pub budget: u32,
    /// The chance that a trial passes over all requests of its state
    #[arg(long, value_name = "P", default_value_t = 0.01, value_parser = chance, help_heading = "Search")]
    pub epsilon: f64,
    /// Inject only once all nodes are ready
    #[arg(long, help_heading = "Search")]
    pub when_ready: bool,
    /// Give the helper methods of tasks states of their own
    #[arg(long, help_heading = "Search")]
    pub helpers: bool,
    /// Also inject input and output errors where everything is in memory, and they cannot happen
    #[arg(long, help_heading = "Search")]
    pub in_memory: bool,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Which faults `explore` tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExploreFaults {
    /// Exceptions of input and output, and those below them
    Exceptions,
    /// All other exceptions that a call declares or that the system makes
    OtherExceptions,
    /// A call that waits for a disk or a network takes long
    Delays,
}

impl ExploreFaults {
    /// The name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            ExploreFaults::Exceptions => "exceptions",
            ExploreFaults::OtherExceptions => "other-exceptions",
            ExploreFaults::Delays => "delays",
        }
    }
}

/// What `explore` groups requests by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeyChoice {
    /// The node and the abstract state
    State,
    /// The same, and the fault and what is called
    Operation,
}

impl KeyChoice {
    /// The name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            KeyChoice::State => "state",
            KeyChoice::Operation => "operation",
        }
    }
}

/// A number between 0 and 1, neither of them.
fn chance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(it) if it > 0.0 && it < 1.0 => Ok(it),
        _ => Err("give a number between 0 and 1, such as 0.01".to_owned()),
    }
}

/// Run a workload with hooks in it and no fault, once or many times, and say what was hit
///
/// Examples:
///   hypocenter run quorum                       a workload of hypocenter.toml
///   hypocenter run quorum --repeat 50 --jobs 2  does it pass 50 times?
///   hypocenter run --resume               go on where the last campaign was cut
///   hypocenter run --no-agent             is the workload sound by itself?
///   hypocenter run --hook all -- java -cp classes Main          a command
///   hypocenter run --hook call,handler --record events \
///       --packages org.acme -- mvn test
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct RunArgs {
    /// A workload of hypocenter.toml; may be left out where there is only one, or a command behind `--`
    #[arg(value_name = "WORKLOAD", conflicts_with = "named")]
    pub workload: Option<String>,
    /// How many trials
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub repeat: u64,
    /// Go on with a campaign that was cut short: the latest of run, or this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "latest", conflicts_with_all = BEGUN_WITH, conflicts_with_all = [
        "repeat", "plan", "seed", "hook", "record", "lossless", "ring_kb", "no_agent",
    ])]
    pub resume: Option<String>,
    /// The seed of the campaign: all chance in its trials follows from it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Which hooks, separated by commas: call, call_return, entry, exit, unwind, block, loop_entry, loop_iteration,
    /// loop_exit, handler, boolean_return, log; `all` stands for call, block and boolean_return, `every` for all kinds
    #[arg(long, value_name = "KINDS", default_value = "all", value_delimiter = ',')]
    pub hook: Vec<String>,
    /// What to write down at each hook
    #[arg(long, value_enum, default_value = "count")]
    pub record: RecordLevel,
    /// Keep every event, however many
    #[arg(long)]
    pub lossless: bool,
    /// How much a thread keeps before its oldest events are dropped
    #[arg(long, value_name = "KB", default_value_t = 256)]
    pub ring_kb: u32,
    /// How many of the sites that were hit to show: calls that can fail first, then what was hit most
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Run the workload as it is, without the agent in any process: whether it is sound before anything is instrumented
    #[arg(long, conflicts_with_all = ["plan", "hook", "record", "lossless", "ring_kb", "must_pass"])]
    pub no_agent: bool,
    /// Carry out this plan (see `hypocenter schema plan`) instead of what the flags say
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "lossless", "ring_kb"])]
    pub plan: Option<PathBuf>,
    #[command(flatten)]
    pub pass: PassArgs,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Whether the failure may happen.
#[derive(Debug, clap::Args)]
pub struct PassArgs {
    /// End with 2 if the failure happens or the workload ends badly under the fault, for a job of CI that a mended bug is to keep
    /// green; `--must-pass=oracle` if only the oracle counts
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub must_pass: Option<MustPass>,
}

/// What must be well for a run to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum MustPass {
    /// The oracle, and how the workload ends
    All,
    /// The oracle alone: the workload may end as it likes
    Oracle,
}

/// Inject one fault at one exact instant of a command
///
/// SITE names a point of the program:
///   'FileTxnLog.commit -> FileChannel.force'   before that call
///   'FileTxnLog.commit <- FileChannel.force'   after it came back
///   'FileTxnLog.commit'                        where the method begins; behind it
///                                              also `exit`, `unwind`, `return`,
///                                              `loop 0`, `handler 0`, `block 3`
/// Classes may be written short, long, or with `*`; `:386` names a line, `#1` the
/// second of several.
///
/// Examples:
///   hypocenter inject 'Store.append -> FileOutputStream.write' \
///       --throw java.io.IOException --at 3 -- java -cp classes Main
///   hypocenter inject 'FileTxnLog.commit -> FileChannel.force' \
///       --crash --node zk1 --workload cluster
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, group = ArgGroup::new("fault").required(true))]
pub struct InjectArgs {
    /// Where
    #[arg(value_name = "SITE")]
    pub site: String,
    /// Throw this exception; an abstract class stands for a concrete subtype
    #[arg(long, value_name = "CLASS", group = "fault", help_heading = "Fault")]
    pub throw: Option<String>,
    /// The message of the exception
    // `requires` alone does not hold beside a fault that excludes --throw.
    #[arg(
        long,
        value_name = "TEXT",
        requires = "throw",
        conflicts_with_all = ["sleep", "spin", "crash", "negate"],
        help_heading = "Fault"
    )]
    pub message: Option<String>,
    /// Let the thread sleep (`500ms`, `60s`)
    // The other verbs that let threads sleep call it so.
    #[arg(long, visible_alias = "delay", value_name = "TIME", value_parser = duration, group = "fault", help_heading = "Fault")]
    pub sleep: Option<Duration>,
    /// Let the thread burn a core
    #[arg(long, value_name = "TIME", value_parser = duration, group = "fault", help_heading = "Fault")]
    pub spin: Option<Duration>,
    /// Halt the JVM, as if it had been killed
    #[arg(long, group = "fault", help_heading = "Fault")]
    pub crash: bool,
    /// Turn a boolean result around (SITE is a method: `Acceptor.isRunning`)
    #[arg(long, group = "fault", help_heading = "Fault")]
    pub negate: bool,
    /// At the N-th time, counted in each JVM over what the conditions below leave
    #[arg(long, value_name = "N", help_heading = "When")]
    pub at: Option<u64>,
    /// At that time and at every later one
    #[arg(long, help_heading = "When")]
    pub always: bool,
    /// Only on this node
    #[arg(long, value_name = "NAME", help_heading = "When")]
    pub node: Option<String>,
    /// Only on threads of this name (`'SyncThread:*'`)
    #[arg(long, value_name = "NAME", help_heading = "When")]
    pub thread: Option<String>,
    /// Only if the innermost frames are these, separated by commas, innermost first (`'a.B.c,*.run'`)
    #[arg(long, value_name = "FRAMES", value_delimiter = ',', help_heading = "When")]
    pub stack: Vec<String>,
    /// Each time with this chance, from 0 to 1
    #[arg(long, value_name = "P", help_heading = "When")]
    pub probability: Option<f64>,
    /// The seed of that chance
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "When")]
    pub seed: u64,
    /// Only once the workload's nodes are ready
    #[arg(long, help_heading = "When")]
    pub when_ready: bool,
    /// How many trials, each with the fault
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Trials")]
    pub repeat: u64,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Run a trial of an earlier campaign again, under the same plan, and say whether the same happened
///
/// Examples:
///   hypocenter replay                            what the latest campaign found
///   hypocenter replay inject-0003                its first trial
///   hypocenter replay run-0007/41 --times 5
///   hypocenter replay reproduce-0001/9 --export bug-12      to be kept or sent
///   hypocenter replay reproduce-0001/9 --must-pass   2 while the failure happens
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ReplayArgs {
    /// The campaign, and behind a slash the number of the trial
    #[arg(value_name = "CAMPAIGN[/N]", default_value = "latest")]
    pub trial: String,
    /// How often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub times: u64,
    /// Run nothing, and write a script, the plan and what they need into this directory, which must be new or empty: it works
    /// without the campaign
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
/// Every campaign of `reproduce` and `explore` ends with them. They are made of
/// what the campaign keeps (summary.json, runs.json): nothing is run, and the
/// target need not be there.
///
/// Examples:
///   hypocenter report                       of the latest campaign that has one
///   hypocenter report reproduce-0003
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ReportArgs {
    /// The campaign: a name below --out, or a path
    #[arg(value_name = "CAMPAIGN", default_value = "latest")]
    pub campaign: String,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = crate::store::DEFAULT_OUT)]
    pub out: PathBuf,
    /// Print the summary, one JSON document, on stdout
    #[arg(long)]
    pub json: bool,
}

/// Free disk space: remove what no replay needs
///
/// Requests, maps, plans, outcomes, journals and reports stay, and so do logs and
/// traces of trials that show what was found. A campaign that is running is left
/// alone.
///
/// Examples:
///   hypocenter clean                        all campaigns below --out
///   hypocenter clean explore-0003
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CleanArgs {
    /// The campaigns: names below --out, or paths; by default all below --out
    #[arg(value_name = "CAMPAIGN")]
    pub campaigns: Vec<String>,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = crate::store::DEFAULT_OUT)]
    pub out: PathBuf,
    /// Print one JSON document on stdout
    #[arg(long)]
    pub json: bool,
}

/// Carry out one trial of a campaign, for a scheduler that runs them elsewhere
///
/// The outcome goes to trials/N/outcome.json of the campaign; whoever goes on with
/// it (`run --resume`) finds it there.
///
/// Example:
///   hypocenter trial --campaign run-0007 --index 41
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct TrialArgs {
    /// The number of the trial
    #[arg(long, value_name = "N")]
    pub index: u64,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub lab: LabArgs,
}

/// Print a page of the guide, or what pages it has
///
/// Examples:
///   hypocenter guide                        what there is
///   hypocenter guide troubleshooting | less
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct GuideArgs {
    /// Which page
    #[arg(value_name = "PAGE", value_parser = PossibleValuesParser::new(crate::commands::guide::names()))]
    pub page: Option<String>,
}

/// Print the JSON schema of a document: plan, outcome, dump, summary, exploration, or hypocenter.toml
#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    /// Which
    #[arg(value_enum)]
    pub document: Document,
}

/// The documents that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Document {
    /// What a trial is to do
    Plan,
    /// What a trial gave
    Outcome,
    /// What the threads of a JVM were doing
    Dump,
    /// What a campaign of `reproduce` came to
    Summary,
    /// What a campaign of `explore` came to
    Exploration,
    /// hypocenter.toml, for editors that know TOML
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
        format!("an oracle is a table; for a line of the log give '{{ log = \"{text}\" }}'")
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
        assert!(seen > 50, "{seen}");
    }
}
