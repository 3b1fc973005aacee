//! `cargo xtask eval demo`: the demo ends well and in time, and other tools can read what it leaves.
//!
//! SARIF is validated against the schema of version 2.1.0, as the crate serde-sarif carries it; JUnit's XML is read by junitparser;
//! summary.json is validated against the published schema. What that needs is fetched by cargo and by pip.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::process::{self, Job, copy, fresh_directory, step};
use crate::tool::{ToolArgs, cargo};
use crate::{Verdict, jdk, root};

const LIMIT: Duration = Duration::from_secs(900);
/// Time limit of the demo.
const DEMO_MAX: Duration = Duration::from_secs(180);
/// The crate with the schema, and where it is in there.
const CRATE: &str = "serde-sarif";
const SCHEMA: &str = "src/schema.json";

/// The demo ends well and in time, and other tools can read what it leaves
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &DemoArgs) -> Result<Verdict> {
    let jdk = jdk::compiler()?;
    let tool = args.tool.ready()?;
    let base = root().join("eval/work/demo");
    fresh_directory(&base)?;
    let (place, log) = (base.join("demo"), base.join("demo.log"));
    let begun = Instant::now();
    let status = step("hypocenter demo", || {
        let mut command = Command::new(&tool.binary);
        command.arg("demo").arg(&place).env("JAVA_HOME", &jdk.home).env_remove("JAVA_TOOL_OPTIONS");
        Job { command, stdout: &log, stderr: &log, limit: LIMIT }.run()
    })?;
    let took = begun.elapsed();
    println!("hypocenter demo: {status}, {:.0} s of at most {} s", took.as_secs_f64(), DEMO_MAX.as_secs());
    let out = place.join("hypocenter-out");
    let campaigns = ["reproduced", "explored", "cascaded"].map(|it| out.join(it));
    let is_read = read_by_others(&campaigns)?;
    let has_pages = campaigns.iter().all(|it| it.join("report.html").is_file());
    let good = status.success() && took <= DEMO_MAX && is_read && has_pages;
    println!("{}", if good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(good))
}

/// Tests whether other tools can read what campaigns left for them; says what they read.
fn read_by_others(campaigns: &[PathBuf]) -> Result<bool> {
    let base = root().join("eval/work/formats");
    fs::create_dir_all(base.join("src")).map_err(Failure::file(&base))?;
    for name in ["Cargo.toml", "requirements.txt"] {
        copy(&root().join("eval/formats").join(name), &base.join(name))?;
    }
    let library = base.join("src/lib.rs");
    fs::write(&library, "").map_err(Failure::file(&library))?;
    let schema = step("fetching the schema of SARIF with cargo", || sarif_schema(&base))?;
    let venv = base.join("venv");
    let log = base.join("pip.log");
    step("fetching readers with pip", || {
        let mut command = Command::new("python3");
        command.args(["-m", "venv"]).arg(&venv);
        Job { command, stdout: &log, stderr: &log, limit: LIMIT }.succeed()?;
        let mut command = Command::new(venv.join("bin/pip"));
        command.args(["install", "--quiet", "--requirement"]).arg(base.join("requirements.txt"));
        Job { command, stdout: &log, stderr: &log, limit: LIMIT }.succeed()
    })
    .map_err(|failure| failure.hint("this needs Python 3 with venv, and PyPI"))?;
    let mut command = Command::new(venv.join("bin/python"));
    command
        .arg(root().join("eval/formats/check.py"))
        .arg(schema)
        .arg(root().join("docs/schemas"))
        .args(campaigns);
    let log = base.join("check.log");
    let status = Job { command, stdout: &log, stderr: &log, limit: LIMIT }.run()?;
    print!("{}", process::lossy(&log));
    Ok(status.success())
}

/// The schema, in the sources of the crate that carries it.
fn sarif_schema(base: &std::path::Path) -> Result<PathBuf> {
    let mut command = Command::new(cargo());
    command.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(base.join("Cargo.toml"));
    let (out, log) = (base.join("metadata.json"), base.join("metadata.log"));
    Job { command, stdout: &out, stderr: &log, limit: LIMIT }
        .succeed()
        .map_err(|failure| failure.hint("this needs crates.io"))?;
    let text = fs::read_to_string(&out).map_err(Failure::file(&out))?;
    let metadata: Value =
        serde_json::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", out.display())))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages.filter(|it| it["name"] == CRATE).find_map(|it| it["manifest_path"].as_str());
    let manifest = manifest.ok_or_else(|| Failure::new(format!("cargo knows no package `{CRATE}`")))?;
    Ok(PathBuf::from(manifest).with_file_name("").join(SCHEMA))
}
