//! `cargo xtask eval exact`: the tests of exact counts and limits, many times.

use std::process::Command;

use crate::failure::{Failure, Result};
use crate::tool::cargo;
use crate::{Verdict, process, root};

/// The tests of exact counts and limits (`crates/cli/tests/exactness.rs`), each many times
#[derive(Debug, clap::Args)]
pub struct ExactArgs {
    /// Number of runs of each
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

pub fn run(args: &ExactArgs) -> Result<Verdict> {
    let mut command = Command::new(cargo());
    command.current_dir(root()).env("HYPOCENTER_REPEAT", args.runs.to_string());
    command.args(["test", "--release", "--package", "hypocenter", "--test", "exactness"]);
    let text = process::text(&command);
    eprintln!("... HYPOCENTER_REPEAT={} {text}", args.runs);
    let status =
        command.status().map_err(|error| Failure::new(format!("`{text}` cannot be run: {error}")))?;
    println!("{}: {} runs of each exactness test", if status.success() { "PASS" } else { "FAIL" }, args.runs);
    Ok(Verdict::of(status.success()))
}
