//! `hypocenter demo`: everything on a bundled target, told step by step.
//!
//! The target is `targets/quorum`: its sources are in the binary, and are written out and compiled here. The steps are ordinary
//! commands, which are shown as they would be typed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Parser;
use hypocenter_plan::{CommandLine, ExitCode};

use crate::args::{Args, DemoArgs};
use crate::failure::Failure;
use crate::java::{self, INSTALL_HINT};
use crate::screen;

/// The sources of the target, by their names.
static SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/demo_sources.rs"));
static CONFIGURATION: &str = include_str!("../../../../targets/quorum/hypocenter.toml");
/// What the configuration asks whether a server is well.
static HEALTH: &str = include_str!("../../../../targets/quorum/health.sh");
/// The nodes whose logs are kept as those of the failure.
const NODES: [&str; 3] = ["q1", "q2", "q3"];
/// What the sources are written for.
const RELEASE: &str = "17";

pub fn run(args: &DemoArgs) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    let place = Place::make(&args.directory)?;
    let shown = args.directory.display().to_string();
    screen::story(&[
        "A replicated store: three servers, and clients of each. It is a small program of ours with a bug or two,",
        &format!("and nothing of it knows Hypocenter. Its sources and classes are in {shown}."),
    ]);

    chapter("1. One fault, at one exact instant");
    screen::story(&[
        "An accept() fails on one server, once, while its second client comes. Errors like that pass. What",
        "does the server make of it?",
    ]);
    let site = "ClientAcceptor.run -> ServerSocket.accept";
    place.carry_out(
        &["inject", site, "--throw", "java.io.IOException", "--node", "q2", "--at", "2"],
        "shown",
    )?;
    screen::story(&[
        "A client of q2 was never answered (d2), although every server says that it is well. One error that would",
        "have passed, and nobody accepts clients any more.",
    ]);

    chapter("2. Which fault made this log?");
    screen::story(&[
        "Now the other way round. All that is left of such a failure is what the servers logged; the logs of that run",
        "are kept in `failure`, and hypocenter.toml says what the failure is: a client that is not answered. Which",
        "call has to fail, on which server, and when?",
    ]);
    place.keep_logs("shown", "failure")?;
    let jobs = std::thread::available_parallelism().map_or(1, |it| it.get().min(2)).to_string();
    let logs = args.directory.join("failure").display().to_string();
    let reproduced = place.carry_out(
        &["reproduce", "--log", &logs, "--faults", "exceptions", "--jobs", &jobs, "--replays", "2"],
        "reproduced",
    )?;

    chapter("3. Which small fault breaks a part of it?");
    screen::story(&[
        "And without any log: one fault a trial, in one state of one thread, until something is worse than a server",
        "that fails cleanly.",
    ]);
    let search = ["explore", "--trials", "20", "--until", "*", "--jobs", &jobs];
    let effort = ["--normal-runs", "2", "--replays", "2", "--neighbours", "1"];
    let words: Vec<&str> = search.into_iter().chain(effort).collect();
    let explored = place.carry_out(&words, "explored")?;

    chapter("Look at it");
    for name in ["reproduced", "explored"] {
        let page = place.out().join(name).join("report.html");
        screen::line("report", &page.display().to_string());
    }
    screen::line(
        "done",
        &format!("{:.0} s; next, `hypocenter init` in your own project", begun.elapsed().as_secs_f64()),
    );
    // What was promised is that a fault is found in both ways.
    Ok(match (reproduced, explored) {
        (ExitCode::Done, ExitCode::Findings) => ExitCode::Done,
        (ExitCode::Done, other) => {
            if other == ExitCode::Done {
                ExitCode::Findings
            } else {
                other
            }
        }
        (other, _) => other,
    })
}

fn chapter(title: &str) {
    screen::gap();
    screen::heading(title);
}

/// Where the target is, and what comes of it.
struct Place {
    directory: PathBuf,
}

impl Place {
    /// Writes the target into a new directory, and compiles it.
    fn make(directory: &Path) -> Result<Place, Failure> {
        let home = java::home_for(None)
            .ok_or_else(|| Failure::usage("the demo needs a JDK, and none was found").hint(INSTALL_HINT))?;
        let javac = home.join("bin/javac");
        if !javac.is_file() {
            return Err(Failure::usage(format!("{}: there is no javac: this is no JDK", home.display()))
                .hint(INSTALL_HINT));
        }
        let cannot = |path: &Path, error: std::io::Error| {
            Failure::usage(format!("{}: {error}", path.display())).hint("give another directory")
        };
        if fs::read_dir(directory).is_ok_and(|mut it| it.next().is_some()) {
            return Err(Failure::usage(format!("{}: the directory is not empty", directory.display()))
                .hint("give a directory that is new or empty, or remove that of the last demo"));
        }
        let sources = directory.join("src/quorum");
        fs::create_dir_all(&sources).map_err(|error| cannot(&sources, error))?;
        let directory = directory.canonicalize().map_err(|error| cannot(directory, error))?;
        let mut files = Vec::new();
        for (name, text) in SOURCES {
            let path = directory.join("src/quorum").join(name);
            fs::write(&path, text).map_err(|error| cannot(&path, error))?;
            files.push(path);
        }
        for (name, text) in [("hypocenter.toml", &configuration(&home)[..]), ("health.sh", HEALTH)] {
            let path = directory.join(name);
            fs::write(&path, text).map_err(|error| cannot(&path, error))?;
        }
        let output = Command::new(&javac)
            .args(["--release", RELEASE, "-d"])
            .arg(directory.join("build/classes"))
            .args(&files)
            .output()
            .map_err(|error| cannot(&javac, error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().next().unwrap_or("it says nothing");
            return Err(Failure::usage(format!("{}: the target does not compile: {first}", javac.display()))
                .hint(INSTALL_HINT));
        }
        Ok(Place { directory })
    }

    fn out(&self) -> PathBuf {
        self.directory.join("hypocenter-out")
    }

    /// Shows a command of the tool, and carries it out.
    fn carry_out(&self, words: &[&str], campaign: &str) -> Result<ExitCode, Failure> {
        let mut all: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        if words[0] == "inject" {
            all.extend(["--workload".to_owned(), "quorum".to_owned()]);
        }
        all.extend(["--campaign".to_owned(), campaign.to_owned()]);
        let typed: Vec<String> =
            std::iter::once("hypocenter".to_owned()).chain(all.iter().cloned()).collect();
        screen::story(&[&format!("$ {}", CommandLine::of_words(&typed).0)]);
        let config = self.directory.join("hypocenter.toml").display().to_string();
        let out = self.out().display().to_string();
        let places = ["--config".to_owned(), config, "--out".to_owned(), out, "--quiet".to_owned()];
        let args = Args::try_parse_from(typed.into_iter().chain(places))
            .map_err(|error| Failure::usage(error.to_string()))?;
        crate::carry_out(args.verb)
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

/// The target's configuration; its commands name `java`, which need not be on the PATH.
fn configuration(home: &Path) -> String {
    let on_path = java::on_path("java").and_then(|it| Some(it.parent()?.parent()?.to_owned()));
    if on_path.is_some_and(|it| home.canonicalize().is_ok_and(|home| home == it)) {
        return CONFIGURATION.to_owned();
    }
    let java = CommandLine::of_words(&[home.join("bin/java").display().to_string()]).0;
    CONFIGURATION.replace("\"java ", &format!("\"{java} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_whole() {
        let names: Vec<&str> = SOURCES.iter().map(|it| it.0).collect();
        assert!(names.contains(&"Server.java") && names.contains(&"Client.java"), "{names:?}");
        let elsewhere = configuration(Path::new("/opt/a jdk"));
        assert!(elsewhere.contains("\"'/opt/a jdk/bin/java' -XX:+UseSerialGC"), "{elsewhere}");
        toml::from_str::<toml::Table>(&elsewhere).expect("it is still a configuration");
    }
}
