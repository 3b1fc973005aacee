//! `hypocenter doctor`: tries what the other verbs need, for real.

mod outages;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use hypocenter_lab::{AgentOption, arm, files};
use hypocenter_plan::{ExitCode, Plan};
use hypocenter_trace::{Map, MapBuilder, Trace, TrialControl};
use serde::Serialize;

use crate::args::DoctorArgs;
use crate::failure::Failure;
use crate::local::OWN_PROGRAM;
use crate::{agent_library, java, screen};

#[derive(Debug, Serialize)]
struct Check {
    what: String,
    good: bool,
    /// True if the tool cannot work without it.
    needed: bool,
    detail: String,
}

pub fn run(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    screen::heading("hypocenter doctor");
    let mut checks = Vec::new();
    let mut add = |what: &str, needed: bool, result: Result<String, String>| {
        let good = result.is_ok();
        let detail = result.unwrap_or_else(|why| why);
        screen::check(good, &format!("{what}: {detail}"));
        checks.push(Check { what: what.to_owned(), good, needed, detail });
        good
    };
    add("operating system", true, operating_system());
    let agent = agent_library::unpacked();
    add(
        "agent",
        true,
        match &agent {
            Ok(file) => Ok(format!("unpacked to {}", file.path().display())),
            Err(failure) => Err(failure.what.clone()),
        },
    );
    let javas = java::all();
    add(
        "Java",
        true,
        match javas.first() {
            Some(java) => Ok(format!("{} in {}", java.version, java.home.display())),
            None => Err(format!("none found; {}", java::INSTALL_HINT)),
        },
    );
    if let Some(home) = java::wrong_home() {
        let to = javas.first().map_or("one".to_owned(), |it| it.home.display().to_string());
        let why = "is not a Java installation: it has no bin/java, and Maven and Gradle use it";
        add("JAVA_HOME", false, Err(format!("{} {why}; set it to {to}, or unset it", home.display())));
    }
    let mut works = 0;
    if let Ok(agent) = &agent {
        for java in &javas {
            let result = try_agent(&agent.path(), &java.home);
            let result = result.map(|it| format!("{it}, in {}", java.home.display()));
            works += usize::from(add(&format!("agent in Java {}", java.version), false, result));
        }
    }
    for java in &javas {
        add(&format!("faults in Java {}", java.version), false, outages::of(java));
    }
    let javac = javas.iter().find(|it| it.home.join("bin/javac").is_file());
    add(
        "Java compiler",
        false,
        match javac {
            Some(java) => Ok(format!("javac of {}", java.version)),
            None => {
                Err(format!("none found: the bundled examples cannot be compiled; {}", java::INSTALL_HINT))
            }
        },
    );
    add("sandbox", false, sandbox());
    let broken = works == 0 || checks.iter().any(|it| it.needed && !it.good);
    if args.json {
        screen::json(&checks)?;
    }
    Ok(if broken { ExitCode::Usage } else { ExitCode::Done })
}

fn operating_system() -> Result<String, String> {
    let text = format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH);
    if cfg!(target_os = "linux") { Ok(text) } else { Err(format!("{text}: only Linux is supported")) }
}

/// Starts a JVM with the agent, and sees that the agent says so.
fn try_agent(agent: &Path, home: &Path) -> Result<String, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let directory =
        files::private_directory(&std::env::temp_dir(), "hypocenter-doctor").map_err(|error| text(&error))?;
    let result = (|| {
        let (map, trial) = (directory.join("map"), directory.join("trace"));
        MapBuilder::new().write(&map).map_err(|error| text(&error))?;
        let bytes = std::fs::read(&map).map_err(|error| text(&error))?;
        let map_view = Map::new(&bytes).map_err(|error| text(&error))?;
        let spec = arm(&Plan::default(), &map_view, &BTreeMap::new(), 0).map_err(|error| text(&error))?;
        let file = TrialControl::create(&trial, &spec).map_err(|error| text(&error))?;
        let option =
            AgentOption { library: agent.to_owned(), map, trial: trial.clone(), node: "doctor".to_owned() };
        let output = Command::new(home.join("bin/java"))
            .args([option.text().as_str(), "-version"])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| text(&error))?;
        file.end().map_err(|error| text(&error))?;
        let bytes = std::fs::read(&trial).map_err(|error| text(&error))?;
        let trace = Trace::new(&bytes).map_err(|error| text(&error))?;
        match (output.status.success(), trace.agents()) {
            (true, 1) if trace.fast_agents() == 1 => Ok("starts, hooks run in Java".to_owned()),
            (true, 1) => Ok("starts, hooks run in native code (slower)".to_owned()),
            _ => {
                let said = String::from_utf8_lossy(&output.stderr);
                let log =
                    std::fs::read_to_string(format!("{}.agent.log", trial.display())).unwrap_or_default();
                Err(format!("does not start: {} {}", said.trim(), log.trim()))
            }
        }
    })();
    let _ = std::fs::remove_dir_all(&directory);
    result
}

/// Tests whether trials can have a network and a /tmp of their own: one is made.
fn sandbox() -> Result<String, String> {
    hypocenter_lab::keeper::probe(Path::new(OWN_PROGRAM))?;
    Ok("each trial gets its own network (loopback only), /tmp and processes".to_owned())
}
