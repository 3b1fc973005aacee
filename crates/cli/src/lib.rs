//! The command `hypocenter`: the only crate that prints, exits and reads the environment.
//!
//! `args` says what can be typed, `commands` has one file a verb, `screen` is how things are shown. Every error that a person sees is a
//! [`verb::Failure`]: what happened, where, what to do, and the exit code that goes with it.
//!
//! The binary is [`main`]. Whoever builds an engine of their own implements [`verb::Verb`] for it and starts [`main_with`]: its campaigns
//! are then resumed, replayed and reported as all others are.

mod agent_library;
mod args;
mod campaign;
mod clock;
mod commands;
mod config;
#[cfg(test)]
mod config_reference;
mod console;
mod early;
mod failure;
mod failure_logs;
mod interrupt;
mod java;
mod local;
mod overrides;
mod project;
mod recorded;
mod request;
mod scanned;
mod screen;
mod search_config;
mod stale;
mod stopwatch;
mod store;
mod summary;
mod target;
mod template;
mod throwable;
mod watched;

/// All that a verb of one's own is made from.
pub mod verb {
    pub use crate::args::{LabArgs, TargetArgs};
    pub use crate::campaign::Verb;
    pub use crate::failure::Failure;
    pub use crate::request::{Chosen, Request};
    pub use crate::screen::Working;
    pub use crate::target::Target;
}

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::args::Args;
use crate::campaign::{Verb, campaign};
use crate::commands::cascade::Cascading;
use crate::commands::compare::Comparing;
use crate::commands::explain::Explaining;
use crate::commands::explore::Exploring;
use crate::commands::predict::Predicting;
use crate::commands::reproduce::Reproducing;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// Command line, with `-cp` for the class path as in java; the words after `--` belong to the command there.
fn typed(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut is_ours = true;
    let word = |it: OsString| {
        is_ours &= it != "--";
        if is_ours && it == "-cp" { OsString::from("--classpath") } else { it }
    };
    words.map(word).collect()
}

/// Carries out what was asked for.
fn carry_out(verb: args::Verb) -> Result<hypocenter_plan::ExitCode, Failure> {
    use args::Verb;
    match verb {
        Verb::Demo(args) => commands::demo::run(&args),
        Verb::Init(args) => commands::init::run(&args),
        Verb::Doctor(args) => commands::doctor::run(&args),
        Verb::Scan(args) => commands::scan::run(&args),
        Verb::Reproduce(args) => campaign::<Reproducing>(&args),
        Verb::Explore(args) => campaign::<Exploring>(&args),
        Verb::Cascade(args) => campaign::<Cascading>(&args),
        Verb::Predict(args) => campaign::<Predicting>(&args),
        Verb::Explain(args) => campaign::<Explaining>(&args),
        Verb::Compare(args) => campaign::<Comparing>(&args),
        Verb::Run(args) => commands::run::run(&args),
        Verb::Inject(args) => commands::inject::run(&args),
        Verb::Replay(args) => commands::replay::run(&args),
        Verb::Report(args) => commands::report::run(&args),
        Verb::Clean(args) => commands::clean::run(&args),
        Verb::Trial(args) => commands::trial::run(&args),
        Verb::Guide(args) => commands::guide::run(&args),
        Verb::Schema(args) => commands::schema::run(&args),
    }
}

/// The command, as it is installed.
pub fn main() -> ExitCode {
    enter(std::env::args_os().collect(), |args: Args| carry_out(args.verb))
}

/// The command with one more verb, for those who build an engine of their own.
pub fn main_with<V: Verb>() -> ExitCode
where
    V::Args: clap::Args,
{
    campaign::add::<V>();
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if words.get(1).is_none_or(|it| it != V::NAME) {
        return main();
    }
    words.remove(1);
    enter(words, |typed: Added<V::Args>| campaign::<V>(&typed.args))
}

/// The command line of a verb that is not built in.
#[derive(Debug, Parser)]
struct Added<A: clap::Args> {
    #[command(flatten)]
    args: A,
}

/// Reads the command line, carries out what it asks for, and gives the exit code.
fn enter<P: Parser>(
    words: Vec<OsString>,
    carry_out: impl FnOnce(P) -> Result<hypocenter_plan::ExitCode, Failure>,
) -> ExitCode {
    // The lab starts this binary again as the keeper of a trial; nobody types that.
    if let Some(code) = hypocenter_lab::keeper::serve(words.get(1).map(OsString::as_os_str)) {
        return code;
    }
    clock::begun();
    let args = match P::try_parse_from(typed(words.into_iter())) {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors; what is wrong with the command line is our exit code 1, not clap's 2.
            let _ = error.print();
            let wrong = if error.use_stderr() {
                hypocenter_plan::ExitCode::Usage
            } else {
                hypocenter_plan::ExitCode::Done
            };
            return ExitCode::from(wrong as u8);
        }
    };
    Interrupt::listen();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| carry_out(args)));
    let code = match result {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            screen::failure(&failure);
            failure.code
        }
        Err(_) => {
            screen::failure(&Failure::bug());
            hypocenter_plan::ExitCode::Bug
        }
    };
    ExitCode::from(code as u8)
}
