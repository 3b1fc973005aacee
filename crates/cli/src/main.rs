//! The command `hypocenter`: the only crate that prints, exits and reads the environment.
//!
//! [`args`] says what can be typed, [`commands`] has one file a verb, [`screen`] is how things are shown. Every error
//! that a person sees is a [`Failure`]: what happened, where, what to do, and the exit code that goes with it.

mod agent_library;
mod args;
mod clock;
mod commands;
mod config;
#[cfg(test)]
mod config_reference;
mod early;
mod failure;
mod interrupt;
mod java;
mod listening;
mod local;
mod project;
mod request;
mod screen;
mod stale;
mod store;
mod target;
mod throwable;
mod watched;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Verb};
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// What was typed, with `-cp` for the class path as java spells it; what is behind `--` belongs to the command there.
fn typed(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut is_ours = true;
    let word = |it: OsString| {
        is_ours &= it != "--";
        if is_ours && it == "-cp" { OsString::from("--classpath") } else { it }
    };
    words.map(word).collect()
}

/// Carries out what was asked for.
fn carry_out(verb: Verb) -> Result<hypocenter_plan::ExitCode, Failure> {
    match verb {
        Verb::Demo(args) => commands::demo::run(&args),
        Verb::Init(args) => commands::init::run(&args),
        Verb::Doctor(args) => commands::doctor::run(&args),
        Verb::Scan(args) => commands::scan::run(&args),
        Verb::Reproduce(args) => commands::reproduce::run(&args),
        Verb::Explore(args) => commands::explore::run(&args),
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

fn main() -> ExitCode {
    // The lab starts this binary again as the keeper of a trial; nobody types that.
    if let Some(code) = hypocenter_lab::keeper::serve(std::env::args_os().nth(1).as_deref()) {
        return code;
    }
    clock::begun();
    let args = match Args::try_parse_from(typed(std::env::args_os())) {
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
    let result = std::panic::catch_unwind(|| carry_out(args.verb));
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
