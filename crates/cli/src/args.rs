//! What can be typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Parser, Subcommand, ValueEnum};

/// Finds the fault under a failure of a distributed system that runs on the JVM.
///
/// Hypocenter loads a small native agent into unmodified JVMs, puts hooks into the classes you name, and injects one
/// fault at one exact instant. Start with `hypocenter doctor`.
#[derive(Debug, Parser)]
#[command(name = "hypocenter", version, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    Init(InitArgs),
    Doctor(DoctorArgs),
    Run(RunArgs),
    Inject(InjectArgs),
    Schema(SchemaArgs),
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
    /// Write over an existing hypocenter.toml
    #[arg(long)]
    pub force: bool,
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
    /// End the command after this time (`90s`, `5m`)
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Target")]
    pub timeout: Option<Duration>,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "hypocenter-out", help_heading = "Output")]
    pub out: PathBuf,
    /// Print the outcome as one JSON document on stdout, everything else on stderr
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// The command that runs the target
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
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

/// Run a command with hooks in it and no fault, and say what was hit
///
/// Examples:
///   hypocenter run --hook all -- java -cp classes Main
///   hypocenter run --hook call,handler --record events --packages org.acme -- mvn test
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct RunArgs {
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
    /// How many of the sites that were hit most to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Carry out this plan (see `hypocenter schema plan`) instead of what the flags say
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "lossless", "ring_kb"])]
    pub plan: Option<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Inject one fault at one exact instant of a command
///
/// SITE names a point of the program:
///   'FileTxnLog.commit -> FileChannel.force'   before that call
///   'FileTxnLog.commit <- FileChannel.force'   after it came back
///   'FileTxnLog.commit'                        where the method begins; also `exit`, `unwind`, `return`,
///                                              `loop 0`, `handler 0`, `block 3` behind the method
/// Classes may be written short, long, or with `*`; `:386` names a line, `#1` the second of several.
///
/// Example:
///   hypocenter inject 'Store.append -> FileOutputStream.write' --throw java.io.IOException --at 3 \
///       -- java -cp classes Main
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
    #[arg(long, value_name = "TIME", value_parser = duration, group = "fault", help_heading = "Fault")]
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
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Print the JSON schema of a document: plan or outcome
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
}

/// A time with its unit.
fn duration(text: &str) -> Result<Duration, String> {
    let at = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let number: f64 =
        number.parse().map_err(|_| "give a number and a unit, such as 500ms or 60s".to_owned())?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "" => return Err("the unit is missing: ms, s, m or h".to_owned()),
        other => return Err(format!("unknown unit `{other}`: use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert!(duration("5").is_err());
        assert!(duration("five").is_err());
        assert!(duration("1d").is_err());
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
