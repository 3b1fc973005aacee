//! `cargo xtask bench NAME`: benches that fail if they miss their goal.

use std::process::Command;

use crate::failure::{Failure, Result};
use crate::{Verdict, root};

/// Run a bench that compares what it measures with a goal
#[derive(Debug, clap::Subcommand)]
pub enum Bench {
    /// Time and memory of the search for cycles, with 1 thread and with 2
    Beam,
}

impl Bench {
    pub fn run(&self) -> Result<Verdict> {
        let (package, name) = match self {
            Bench::Beam => ("hypocenter-cascade", "beam"),
        };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["bench", "--quiet", "--package", package, "--bench", name])
            .current_dir(root())
            .status()
            .map_err(|error| Failure::new(format!("cargo cannot be started: {error}")))?;
        Ok(Verdict::of(status.success()))
    }
}
