//! `hypocenter demo`: everything on bundled targets, told step by step.
//!
//! The targets are `targets/quorum` and, for the last chapter, `targets/mailer`: their sources are in the binary, and are written out and
//! compiled here. The steps are ordinary commands, which are shown as they would be typed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Parser;
use hypocenter_engine::JobId;
use hypocenter_lab::{finished, trial_directory};
use hypocenter_plan::{CommandLine, ExitCode};

use crate::args::{Args, DemoArgs};
use crate::failure::Failure;
use crate::java::{self, INSTALL_HINT};
use crate::screen;
use crate::store::told;

/// Files by their paths.
type Files = &'static [(&'static str, &'static str)];

/// The target: its sources, its configuration, and what that names.
static FILES: Files = include!(concat!(env!("OUT_DIR"), "/demo_quorum.rs"));
/// The target of the last chapter, and its directory in that of the first.
static MAILER_FILES: Files = include!(concat!(env!("OUT_DIR"), "/demo_mailer.rs"));
const MAILER: &str = "mailer";
const MAILER_CONFIGURATION: &str = "mailer/hypocenter.toml";
const CONFIGURATION: &str = "hypocenter.toml";
/// The nodes whose logs are kept as those of the failure.
const NODES: [&str; 3] = ["q1", "q2", "q3"];
/// Flags whose values are paths in the target's directory.
const LOG: &str = "--log";
const CONFIG: &str = "--config";
/// Java release of the sources.
const RELEASE: &str = "17";

pub fn run(args: &DemoArgs) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    let place = Place::make(&args.directory)?;
    let shown = args.directory.display().to_string();
    screen::story(&[
        "The example is a replicated store: three servers, and clients of each. It is a small Java program with a few",
        &format!(
            "bugs, and it does not depend on Hypocenter. Its sources and classes are in {shown}. The commands below"
        ),
        "are shown as you would type them there.",
    ]);

    chapter("1. One fault, at one exact instant");
    screen::story(&[
        "An accept() fails once on one server, while its second client connects. Such errors are transient. What",
        "does the server do?",
    ]);
    let fault = ["ClientAcceptor.run -> ServerSocket.accept", "--throw", "java.io.IOException"];
    let when = ["--node", "q2", "--at", "2", "--workload", "quorum"];
    place.carry_out(&[&["inject"][..], &fault, &when].concat(), "shown")?;
    place.has_failed("shown")?;
    screen::story(&[
        "Client d2 of server q2 got no answer, although every server reports healthy. One transient error, and the",
        "server never accepts clients again.",
    ]);

    chapter("2. Which fault produced this log?");
    screen::story(&[
        "Now the other direction. After such a failure, only the logs of the servers are left. The logs of this run are",
        "in `failure`, and the oracle in hypocenter.toml recognizes the failure: a client that gets no answer. Which",
        "call must fail, on which server, and when?",
    ]);
    let logs = "failure";
    place.keep_logs("shown", logs)?;
    let jobs = std::thread::available_parallelism().map_or(1, |it| it.get().min(2)).to_string();
    let search = ["reproduce", LOG, logs, "--faults", "exceptions"];
    let effort = ["--jobs", &jobs, "--replays", "2"];
    let reproduced = place.carry_out(&[&search[..], &effort].concat(), "reproduced")?;

    chapter("3. Which small fault breaks part of the service?");
    screen::story(&[
        "The same without any log: each trial injects one fault in one state of one thread, until the result is worse",
        "than a server that fails cleanly.",
    ]);
    let search = ["explore", "--trials", "20", "--set", "explore.until=*"];
    let effort = ["--jobs", &jobs, "--normal-runs", "2", "--replays", "2", "--neighbours", "1"];
    let explored = place.carry_out(&[&search[..], &effort].concat(), "explored")?;

    chapter("4. Can a fault feed itself?");
    screen::story(&[
        &format!(
            "The last example is a mailer, in {shown}/{MAILER}. A permit to send is valid for 300 ms. If it expires, the messages"
        ),
        "that are left are refused, and the whole batch is sent again. `newsletter` sends many messages once, `reminder`",
        "sends few and tries again. Neither shows a cycle by itself; the steps that they show are joined to one.",
    ]);
    let search = ["cascade", CONFIG, MAILER_CONFIGURATION, "--jobs", &jobs];
    let cascaded = place.carry_out(&search, "cascaded")?;

    chapter("Reports");
    for name in ["reproduced", "explored", "cascaded"] {
        let page = place.out().join(name).join("report.html");
        screen::line("report", &told(&page));
    }
    screen::line(
        "done",
        &format!("{:.0} s; next: run `hypocenter init` in your own project", begun.elapsed().as_secs_f64()),
    );
    Ok(outcome(reproduced, &[explored, cascaded]))
}

/// The exit code of the demo: what was promised is that `reproduce` ends well, and that each search finds something.
fn outcome(reproduced: ExitCode, searches: &[ExitCode]) -> ExitCode {
    let searches = searches.iter().map(|it| match it {
        ExitCode::Findings => ExitCode::Done,
        ExitCode::Done => ExitCode::Findings,
        other => *other,
    });
    [reproduced].into_iter().chain(searches).find(|it| *it != ExitCode::Done).unwrap_or(ExitCode::Done)
}

fn chapter(title: &str) {
    screen::gap();
    screen::heading(title);
}

/// Target directory, and the results in it.
struct Place {
    directory: PathBuf,
}

impl Place {
    /// Writes the target into a new directory, and compiles it.
    fn make(directory: &Path) -> Result<Place, Failure> {
        let home = java::home_for(None)
            .ok_or_else(|| Failure::usage("the demo needs a JDK, and none was found").hint(INSTALL_HINT))?;
        if !javac(&home).is_file() {
            return Err(
                Failure::usage(format!("{}: not a JDK: it has no javac", home.display())).hint(INSTALL_HINT)
            );
        }
        if fs::read_dir(directory).is_ok_and(|mut it| it.next().is_some()) {
            return Err(Failure::usage(format!("{}: the directory is not empty", directory.display()))
                .hint("give a new or empty directory, or remove the directory of the last demo"));
        }
        fs::create_dir_all(directory).map_err(|error| cannot(directory, error))?;
        let directory = directory.canonicalize().map_err(|error| cannot(directory, error))?;
        write_and_compile(FILES, &directory, &home)?;
        write_and_compile(MAILER_FILES, &directory.join(MAILER), &home)?;
        Ok(Place { directory })
    }

    fn out(&self) -> PathBuf {
        self.directory.join("hypocenter-out")
    }

    /// Shows a command of the tool, and carries it out.
    fn carry_out(&self, words: &[&str], campaign: &str) -> Result<ExitCode, Failure> {
        let words = [&["hypocenter"][..], words, &["--campaign", campaign]].concat();
        let typed: Vec<String> = words.into_iter().map(str::to_owned).collect();
        screen::story(&[&format!("$ {}", CommandLine::of_words(&typed).0)]);
        // The demo is not in the directory of the target, as its user would be.
        let placed = (0..typed.len()).map(|at| match at.checked_sub(1).map(|it| typed[it].as_str()) {
            Some(LOG | CONFIG) => self.directory.join(&typed[at]).display().to_string(),
            _ => typed[at].clone(),
        });
        let mut places = vec!["--out".to_owned(), self.out().display().to_string(), "--quiet".to_owned()];
        if !typed.iter().any(|it| it == CONFIG) {
            places.extend([CONFIG.to_owned(), self.directory.join(CONFIGURATION).display().to_string()]);
        }
        let args =
            Args::try_parse_from(placed.chain(places)).map_err(|error| Failure::usage(error.to_string()))?;
        crate::carry_out(args.verb)
    }

    /// Tests whether the failure happened in the trial of a campaign, as the next lines state.
    fn has_failed(&self, campaign: &str) -> Result<(), Failure> {
        let trial = trial_directory(&self.out().join(campaign), JobId(0));
        let outcome = finished(&trial)?;
        if outcome.is_some_and(|it| it.failure.is_some_and(|it| it.happened)) {
            return Ok(());
        }
        let what = format!("{}: the failure did not happen this time", trial.display());
        Err(Failure::usage(what)
            .hint("try again in another directory: the machine may have been too busy for the time limits of the example"))
    }

    /// Keeps what the nodes logged in a campaign's trial, one file a node.
    fn keep_logs(&self, campaign: &str, to: &str) -> Result<(), Failure> {
        let (from, to) = (self.out().join(campaign).join("trials/000/logs"), self.directory.join(to));
        let kept = fs::create_dir_all(&to).and_then(|()| {
            NODES.iter().try_for_each(|node| {
                fs::copy(from.join(format!("{node}.stdout.log")), to.join(format!("{node}.log"))).map(drop)
            })
        });
        kept.map_err(|error| Failure::usage(format!("{}: {error}", to.display())))
    }
}

/// Writes a target into a directory, and compiles it.
fn write_and_compile(files: Files, directory: &Path, home: &Path) -> Result<(), Failure> {
    let mut sources = Vec::new();
    for (name, text) in files {
        let path = directory.join(name);
        let text = if *name == CONFIGURATION { with_java(text, home) } else { (*text).to_owned() };
        let parent = path.parent().unwrap_or(directory);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.map_err(|error| cannot(&path, error))?;
        sources.extend(path.extension().is_some_and(|it| it == "java").then_some(path));
    }
    let javac = javac(home);
    let output = Command::new(&javac)
        .args(["--release", RELEASE, "-d"])
        .arg(directory.join("build/classes"))
        .args(&sources)
        .output()
        .map_err(|error| cannot(&javac, error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or("it says nothing");
        return Err(Failure::usage(format!("{}: the target does not compile: {first}", javac.display()))
            .hint(INSTALL_HINT));
    }
    Ok(())
}

fn javac(home: &Path) -> PathBuf {
    home.join("bin/javac")
}

fn cannot(path: &Path, error: std::io::Error) -> Failure {
    Failure::usage(format!("{}: {error}", path.display())).hint("give another directory")
}

/// A configuration whose commands name `java`, which need not be on the PATH.
fn with_java(text: &str, home: &Path) -> String {
    let on_path = java::on_path("java").and_then(|it| Some(it.parent()?.parent()?.to_owned()));
    if on_path.is_some_and(|it| home.canonicalize().is_ok_and(|home| home == it)) {
        return text.to_owned();
    }
    let java = CommandLine::of_words(&[home.join("bin/java").display().to_string()]).0;
    text.replace("\"java ", &format!("\"{java} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_are_whole() {
        let check = |files: Files, sources: &[&str]| {
            let text = |path: &str| files.iter().find(|it| it.0 == path).map(|it| it.1);
            for source in sources {
                assert!(text(source).is_some(), "{source} is not there");
            }
            let configuration = text(CONFIGURATION).expect("it has a configuration");
            for word in configuration.split([' ', '"', '\'']).filter(|it| it.ends_with(".sh")) {
                assert!(text(word).is_some(), "{word} is not there");
            }
            let elsewhere = with_java(configuration, Path::new("/opt/a jdk"));
            assert!(elsewhere.contains("\"'/opt/a jdk/bin/java' -XX:+UseSerialGC"), "{elsewhere}");
            toml::from_str::<toml::Table>(&elsewhere).expect("it is still a configuration");
        };
        check(FILES, &["src/quorum/Server.java", "src/quorum/Client.java"]);
        check(MAILER_FILES, &["src/mailer/Newsletter.java", "src/mailer/Reminder.java"]);
    }

    #[test]
    fn the_demo_ends_well_if_every_chapter_finds_what_it_promised() {
        use ExitCode::{AlreadyFails, Budget, Done, Findings};
        let check = |reproduced, searches: [ExitCode; 2], expected| {
            assert_eq!(outcome(reproduced, &searches), expected, "{reproduced:?}, {searches:?}");
        };
        check(Done, [Findings, Findings], Done);
        check(Done, [Done, Findings], Findings);
        check(Done, [Findings, Done], Findings);
        check(Done, [Findings, AlreadyFails], AlreadyFails);
        check(Budget, [Findings, Findings], Budget);
        check(Findings, [Done, AlreadyFails], Findings);
    }
}
