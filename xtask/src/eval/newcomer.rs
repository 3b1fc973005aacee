//! `cargo xtask eval newcomer`: a Maven project of somebody's own, from `hypocenter init` to the fault that made a log, by the
//! commands of the guide.
//!
//! What is run is what `docs/start.md` says before its part about Maven: its blocks of shell, and its block of TOML, which is
//! added to the configuration that `init` has written. So a guide that has gone wrong fails here.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::jdk;
use crate::process::{Job, copy, fresh_directory, step};
use crate::tool::ToolArgs;
use crate::{Verdict, root};

/// Maven may have to fetch its plugins; then there are some twenty runs of it.
const LIMIT: Duration = Duration::from_secs(1800);
/// The guide, and where the part of it ends that is run.
const GUIDE: &str = "docs/start.md";
const END: &str = "\n## Maven\n";
/// What is wrong with the project.
const FAULT: [(&str, &str); 4] = [
    ("class", "outbox.Segment"),
    ("method", "create"),
    ("exception", "java.io.IOException"),
    ("callee", "java.nio.channels.FileChannel.open"),
];

/// A Maven project of somebody's own, from `hypocenter init` to a reproduced fault, by the commands of the guide
#[derive(Debug, clap::Args)]
pub struct NewcomerArgs {
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &NewcomerArgs) -> Result<Verdict> {
    let jdk = jdk::compiler()?;
    let tool = args.tool.ready()?;
    let base = root().join("eval/work/newcomer");
    let (project, programs) = (base.join("project"), base.join("bin"));
    fresh_directory(&project)?;
    fresh_directory(&programs)?;
    for name in ["pom.xml", "src"] {
        copy(&root().join("eval/newcomer").join(name), &project.join(name))?;
    }
    let hypocenter = programs.join("hypocenter");
    symlink(&tool.binary, &hypocenter).map_err(Failure::file(&hypocenter))?;
    let guide = root().join(GUIDE);
    let text = fs::read_to_string(&guide).map_err(Failure::file(&guide))?;
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{}:{path}", programs.display(), jdk.home.join("bin").display());
    for (number, block) in blocks(&text)?.into_iter().enumerate() {
        let script = match block {
            Block::Shell(script) => script,
            Block::Toml(text) => {
                add(&project.join("hypocenter.toml"), &text)?;
                continue;
            }
        };
        let log = base.join(format!("{number}.log"));
        step(script.lines().next_back().unwrap_or_default(), || {
            let mut command = Command::new("sh");
            command.args(["-e", "-c", &script]).current_dir(&project).env("PATH", &path);
            command.env("JAVA_HOME", &jdk.home).env_remove("JAVA_TOOL_OPTIONS");
            Job { command, stdout: &log, stderr: &log, limit: LIMIT }.succeed()
        })
        .map_err(|failure| failure.hint("this needs Maven (`apt-get install maven`) and Maven Central"))?;
    }
    judge(&project.join("hypocenter-out/latest"))
}

/// Whether the campaign found what is wrong with the project.
fn judge(campaign: &Path) -> Result<Verdict> {
    let path = campaign.join("summary.json");
    let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    let summary: Value =
        serde_json::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let fault = &summary["fault"];
    let is_it = |(key, value): &(&str, &str)| fault[*key].as_str().is_some_and(|it| it.starts_with(value));
    let is_right = FAULT.iter().all(is_it);
    let has_page = campaign.join("report.html").is_file();
    println!(
        "round {} of {}, {} of {} replays: {} at {}.{}:{} -> {}, hit {}",
        summary["rounds"],
        summary["budget"],
        summary["rate"]["hits"],
        summary["rate"]["runs"],
        fault["exception"].as_str().unwrap_or("nothing"),
        fault["class"].as_str().unwrap_or(""),
        fault["method"].as_str().unwrap_or(""),
        fault["line"],
        fault["callee"].as_str().unwrap_or(""),
        fault["occurrence"],
    );
    let good = summary["reproduced"] == true && is_right && has_page;
    println!("{}", if good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(good))
}

/// What the guide says to do.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    Shell(String),
    Toml(String),
}

/// The blocks of a guide, in order.
fn blocks(text: &str) -> Result<Vec<Block>> {
    let (part, _) = text
        .split_once(END)
        .ok_or_else(|| Failure::new(format!("{GUIDE} has no heading `{}`", END.trim())))?;
    let mut blocks = Vec::new();
    let mut rest = part;
    while let Some((_, fence)) = rest.split_once("\n```") {
        let (kind, fence) = fence.split_once('\n').unwrap_or((fence, ""));
        let (body, behind) = fence
            .split_once("\n```")
            .ok_or_else(|| Failure::new(format!("{GUIDE}: a block is not closed")))?;
        match kind {
            "sh" => blocks.push(Block::Shell(body.to_owned())),
            "toml" => blocks.push(Block::Toml(body.to_owned())),
            _ => {}
        }
        rest = behind;
    }
    Ok(blocks)
}

fn add(path: &Path, text: &str) -> Result<()> {
    let before = fs::read_to_string(path).map_err(Failure::file(path))?;
    fs::write(path, format!("{before}\n{text}\n")).map_err(Failure::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_leads_from_a_project_to_a_fault() {
        let text = fs::read_to_string(root().join(GUIDE)).unwrap();
        let blocks = blocks(&text).unwrap();
        let shell: String =
            blocks.iter().map(|it| if let Block::Shell(it) = it { it.as_str() } else { "" }).collect();
        let at = |it: &str| shell.find(it).unwrap_or_else(|| panic!("no `{it}` in {shell}"));
        assert!(
            at("hypocenter init") < at("hypocenter inject")
                && at("hypocenter inject") < at("hypocenter reproduce")
        );
        assert!(blocks.iter().any(|it| matches!(it, Block::Toml(it) if it.starts_with("[failure]"))));
    }

    #[test]
    fn blocks_of_other_kinds_are_for_reading() {
        let text = "a\n```sh\nb\nc\n```\n\n```text\nd\n```\n```toml\n[e]\n```\n## Maven\n```sh\nf\n```\n";
        assert_eq!(blocks(text).unwrap(), [Block::Shell("b\nc".into()), Block::Toml("[e]".into())]);
    }
}
