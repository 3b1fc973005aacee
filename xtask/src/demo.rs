//! `cargo xtask demo`: one fault in a bundled target.

use std::process::Command;

use crate::failure::{Failure, Result};
use crate::tool::ToolArgs;
use crate::{Verdict, javac, jdk, process, root};

/// Compile a bundled target, and inject one fault into it
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &DemoArgs) -> Result<Verdict> {
    let jdk = jdk::compiler()?;
    let tool = args.tool.ready()?;
    let classes = root().join("target/targets/journal/classes");
    javac::compile(&jdk, &javac::sources(&root().join("targets/journal/src"))?, "", &classes)?;
    let mut command = Command::new(tool.binary);
    command.args(["inject", "Journal.append -> FileChannel.force"]);
    command.args(["--throw", "java.io.IOException", "--at", "3", "--"]);
    command.arg(jdk.java()).arg("-cp").arg(&classes).arg("journal.Main");
    let text = process::text(&command);
    eprintln!("... {text}\n");
    let status =
        command.status().map_err(|error| Failure::new(format!("`{text}` cannot be run: {error}")))?;
    Ok(Verdict::of(status.success()))
}
