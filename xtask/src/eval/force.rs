//! `cargo xtask eval force`: the third sync of the transaction log fails in the leader, and the leader says so in its
//! own words.

use hypocenter_plan::{CandidateResult, Injection};

use crate::eval::zookeeper::{ClusterRun, Version, ZooKeeper};
use crate::failure::Result;
use crate::jdk::JdkArgs;
use crate::process::{self, step};
use crate::tool::ToolArgs;
use crate::{Verdict, eval};

const EXCEPTION: &str = "java.io.IOException";
/// Tells our exception from others in the log.
const MESSAGE: &str = "the third force fails";
const METHOD: &str = "org.apache.zookeeper.server.persistence.FileTxnLog.commit";
const LEADER: &str = "zk3";
const AT: u64 = 3;

/// An IOException from the third FileChannel.force of the leader's transaction log
#[derive(Debug, clap::Args)]
pub struct ForceArgs {
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &ForceArgs) -> Result<Verdict> {
    let jdks = args.jdks.all()?;
    let tool = args.tool.ready()?;
    let zookeeper = ZooKeeper::ready(Version::V3_6_2)?;
    let mut verdict = Verdict::Pass;
    for jdk in &jdks {
        let directory = eval::out("force").join(format!("jdk-{}", jdk.version));
        let at = AT.to_string();
        let site = "FileTxnLog.commit -> FileChannel.force";
        let run = ClusterRun {
            jdk,
            verb: "inject",
            args: &[site, "--throw", EXCEPTION, "--message", MESSAGE, "--at", &at, "--node", LEADER],
            jvm_flags: "-Xverify:all",
            java_tool_options: None,
            directory: &directory,
        };
        // The leader goes down by the fault, so the script reports a failure, as it should.
        let cluster = step(&format!("{site} fails at hit {AT} in {LEADER}, JDK {}", jdk.version), || {
            zookeeper.run(&tool, run)
        })?;
        let log = cluster.logs.join(format!("{LEADER}.log"));
        let text = process::lossy(&log);
        let excerpt = excerpt(&text);
        println!("JDK {}, {}:", jdk.version, log.display());
        excerpt.iter().for_each(|line| println!("    {line}"));
        let injection = cluster.done.outcome.candidates.iter().find_map(|it| match &it.result {
            CandidateResult::Injected(injection) => Some(injection),
            _ => None,
        });
        let checks = checks(injection, &excerpt, &text, &cluster.verify_errors);
        for (good, what) in &checks {
            println!("  {}  {what}", if *good { "ok" } else { "NO" });
        }
        let good = checks.iter().all(|(good, _)| *good);
        println!("{} on JDK {}", if good { "PASS" } else { "FAIL" }, jdk.version);
        if !good {
            println!("  see {}", directory.display());
            verdict = Verdict::Fail;
        }
    }
    Ok(verdict)
}

fn checks(
    injection: Option<&Injection>,
    excerpt: &[&str],
    log: &str,
    verify_errors: &str,
) -> [(bool, String); 6] {
    let is_ours = |frame: &str| frame.to_lowercase().contains("hypocenter");
    let said = match injection {
        Some(it) => format!("injected once, at hit {} in {}, thread {}", it.occurrence, it.node, it.thread),
        None => "the fault was not injected".to_owned(),
    };
    let as_asked = injection.is_some_and(|it| it.occurrence == AT && it.times == 1 && it.node == LEADER);
    // The nearest frame of the first stack: what threw, as the program sees it.
    let thrower = excerpt.iter().find(|it| is_frame(it)).copied().unwrap_or_default().trim();
    let in_log = log.lines().filter(|it| is_frame(it) && is_ours(it)).count();
    let in_outcome = injection.map_or(0, |it| it.stack.iter().filter(|it| is_ours(&it.method)).count());
    let logged = excerpt.first().is_some_and(|line| line.contains(" - ERROR ") || line.contains(" - WARN "));
    [
        (as_asked, said),
        (logged, "ZooKeeper's own logger wrote it".to_owned()),
        (thrower.starts_with(&format!("at {METHOD}(")), format!("thrown by: {thrower}")),
        (in_log == 0, format!("{in_log} frames in its log name hypocenter")),
        (in_outcome == 0, format!("{in_outcome} frames of the outcome's stack name hypocenter")),
        (verify_errors == "0", format!("{verify_errors} verify errors")),
    ]
}

fn is_frame(line: &str) -> bool {
    line.trim_start().starts_with("at ")
}

/// Our exception in the log with its stack, from the line that a logger wrote on.
fn excerpt(log: &str) -> Vec<&str> {
    let lines: Vec<&str> = log.lines().collect();
    let thrown = format!("{EXCEPTION}: {MESSAGE}");
    let Some(first) = lines.iter().position(|line| *line == thrown) else { return Vec::new() };
    let goes_on = |line: &&&str| {
        is_frame(line) || line.starts_with("Caused by: ") || line.trim_start().starts_with("... ")
    };
    let end = first + 1 + lines[first + 1..].iter().take_while(goes_on).count();
    lines[first.saturating_sub(1)..end].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_the_logged_line_and_the_whole_stack() {
        let ours =
            ["b - ERROR y", "java.io.IOException: the third force fails", "\tat A.b(C:1)", "\tat D.e(F:2)"];
        let log = format!("a - INFO x\njava.io.IOException: other\n{}\nc - INFO w\n", ours.join("\n"));
        assert_eq!(excerpt(&log), ours);
        assert!(excerpt("a - INFO x\n").is_empty());
    }
}
