//! Tasks of the project: `cargo xtask targets`, `cargo xtask fetch`, `cargo xtask case CASE`, `cargo xtask eval NAME`,
//! `cargo xtask bench NAME`, `cargo xtask shape`.
//!
//! An evaluation runs Hypocenter on a real system and judges what came out of it: one file each below `eval/`. What
//! they share is a module each: the JDKs ([`jdk`]), jars ([`maven`]), the compiler ([`javac`]), a network of its own
//! ([`network`]), processes ([`process`]), what is known to be wrong with a system ([`truth`]) and how to show it
//! ([`show`]), and the tool itself ([`tool`]). What is fetched, compiled and written goes to `eval/work/`, but for the bundled
//! targets, which go to `target/` or, where they have a configuration, to a `build/` of their own.

mod bench;
mod case;
mod eval;
mod failure;
mod fetch;
mod javac;
mod jdk;
mod maven;
mod network;
mod process;
mod shape;
mod show;
mod table;
mod targets;
mod tool;
mod truth;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tasks of the Hypocenter project
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Targets(targets::TargetsArgs),
    Fetch(fetch::FetchArgs),
    Case(case::CaseArgs),
    Shape(shape::ShapeArgs),
    /// Run Hypocenter on a real system, and judge what comes out
    Eval(Box<eval::EvalArgs>),
    #[command(subcommand)]
    Bench(bench::Bench),
}

/// Result of a task, if it could be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pass,
    Fail,
    /// Output of the tool, whose exit code is passed on.
    Tool(u8),
}

impl Verdict {
    fn of(good: bool) -> Verdict {
        if good { Verdict::Pass } else { Verdict::Fail }
    }
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository")
}

fn main() -> ExitCode {
    let result = match Args::parse().task {
        Task::Targets(args) => targets::run(&args),
        Task::Fetch(args) => fetch::run(&args),
        Task::Case(args) => case::run(&args),
        Task::Shape(args) => shape::run(&args),
        Task::Eval(eval) => eval.run(),
        Task::Bench(bench) => bench.run(),
    };
    match result {
        Ok(Verdict::Pass) => ExitCode::SUCCESS,
        Ok(Verdict::Fail) => ExitCode::FAILURE,
        Ok(Verdict::Tool(code)) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        super::Args::command().debug_assert();
    }
}
