//! `cargo xtask eval newcomer`: a Maven project of somebody's own, from `hypocenter init` to the fault that made a log, by the
//! commands of the guide.
//!
//! Commands of `docs/start.md` before its part about Maven: its blocks of shell, the first of which creates the project,
//! and its block of TOML, which is added to the configuration that `init` has written. So a guide that has gone wrong fails here. The
//! last blocks fix the project and keep the fault for a job: they end well only if the fixed classes are those that run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::jdk;
use crate::process::{Job, fresh_directory, step};
use crate::tool::ToolArgs;
use crate::{Verdict, root};

/// Maven may have to fetch its plugins; then there are some twenty runs of it.
const LIMIT: Duration = Duration::from_secs(1800);
/// The guide, and where the part of it ends that is run.
const GUIDE: &str = "docs/start.md";
const END: &str = "\n## Maven\n";
/// Problems of the project.
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
    judge(&project.join("hypocenter-out/reproduce-0001"))
}

/// Tests whether the campaign found what is wrong with the project.
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

/// Instructions of the guide.
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
    fn the_guide_makes_its_project_and_names_its_lines() {
        let text = fs::read_to_string(root().join(GUIDE)).unwrap();
        let blocks = blocks(&text).unwrap();
        let Some(Block::Shell(first)) = blocks.first() else { panic!("{blocks:?}") };
        let project = std::env::temp_dir().join(format!("newcomer-{}", std::process::id()));
        fresh_directory(&project).unwrap();
        let status = Command::new("sh").args(["-e", "-c", first]).current_dir(&project).status().unwrap();
        assert!(status.success() && project.join("pom.xml").is_file());
        let lines = |class: &str| {
            let places =
                ["main", "test"].map(|it| project.join(format!("src/{it}/java/outbox/{class}.java")));
            let file =
                places.iter().find(|it| it.is_file()).unwrap_or_else(|| panic!("no source of {class}"));
            fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(lines("OutboxTest").iter().any(|it| it.contains("@Test")));
        // `IOException at Segment.close:45 -> FileChannel.force, ...`, as the campaign of the guide tells its rounds.
        let mut named = 0;
        for part in text.split("  IOException at ").skip(1) {
            let (place, callee) = part.split_once(" -> ").unwrap_or_else(|| panic!("`{part}`"));
            let (class, line) = place.split_once(':').unwrap();
            let call = callee.split(',').next().unwrap().rsplit('.').next().unwrap();
            let source = &lines(class.split('.').next().unwrap())[line.parse::<usize>().unwrap() - 1];
            assert!(source.contains(&format!(".{call}(")), "{place} -> {callee}: `{source}`");
            named += 1;
        }
        assert!(named >= 4, "{named} places are named");
        fs::remove_dir_all(project).unwrap();
    }

    #[test]
    fn blocks_of_other_kinds_are_for_reading() {
        let text = "a\n```sh\nb\nc\n```\n\n```text\nd\n```\n```toml\n[e]\n```\n## Maven\n```sh\nf\n```\n";
        assert_eq!(blocks(text).unwrap(), [Block::Shell("b\nc".into()), Block::Toml("[e]".into())]);
    }
}
