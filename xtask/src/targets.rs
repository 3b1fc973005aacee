//! `cargo xtask targets`: compiles the bundled targets that have a `hypocenter.toml`, and their fixed twins.
//!
//! A target's classes go to its own `build/classes`, where its configuration finds them. A file of `fixed/` stands for the
//! one of `src/` with the same name; the two together make the twin, in `build/fixed`.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::process::{Job, fresh_directory, step};
use crate::show::Stage;
use crate::tool::{Tool, ToolArgs};
use crate::truth::{self, Truth};
use crate::{Verdict, eval, javac, jdk, root};

const LIMIT: Duration = Duration::from_secs(300);
/// Java release of the targets: they use records and switches with arrows.
const RELEASE: &str = "17";

/// Compile the bundled targets that have a hypocenter.toml, and their fixed twins
#[derive(Debug, clap::Args)]
pub struct TargetsArgs {
    /// Which, by the names of their folders; by default all
    #[arg(value_name = "TARGET")]
    names: Vec<String>,
    /// Let each bug of their truth.toml show, and write the logs of that run to a directory in this one
    #[arg(long, value_name = "DIR")]
    make_logs: Option<PathBuf>,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &TargetsArgs) -> Result<Verdict> {
    let all = chosen(&args.names)?;
    for target in &all {
        target.compile()?;
    }
    if let Some(into) = &args.make_logs {
        let tool = args.tool.ready()?;
        for target in &all {
            target.make_logs(&tool, into)?;
        }
    }
    Ok(Verdict::Pass)
}

/// A target that brings its configuration.
#[derive(Debug)]
pub struct Target {
    pub name: String,
    pub directory: PathBuf,
}

/// The targets of these names, or all of them, sorted.
pub fn chosen(names: &[String]) -> Result<Vec<Target>> {
    let place = root().join("targets");
    let mut all: Vec<Target> = fs::read_dir(&place)
        .map_err(Failure::file(&place))?
        .flatten()
        .filter(|it| it.path().join("hypocenter.toml").is_file())
        .map(|it| Target { name: it.file_name().to_string_lossy().into_owned(), directory: it.path() })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let known: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|it| !known.contains(&it.as_str())) {
        return Err(Failure::new(format!("no bundled target `{unknown}` has a hypocenter.toml"))
            .hint(format!("name some of {}", known.join(", "))));
    }
    if !names.is_empty() {
        all.retain(|it| names.contains(&it.name));
    }
    Ok(all)
}

impl Target {
    /// Compiles the target and, where it has one, its twin.
    pub fn compile(&self) -> Result<()> {
        let (source, fixed) = (self.directory.join("src"), self.directory.join("fixed"));
        let sources = javac::sources(&source)?;
        self.javac(&sources, "classes")?;
        if !fixed.is_dir() {
            return Ok(());
        }
        let mut twin = sources;
        for replacement in javac::sources(&fixed)? {
            let name = replacement.strip_prefix(&fixed).expect("it was found there");
            let replaced = source.join(name);
            let place = twin.iter_mut().find(|it| **it == replaced).ok_or_else(|| {
                Failure::new(format!("{}: src/ has no such file", replacement.display()))
                    .hint("a file of fixed/ takes the place of one of src/: give it the same name")
            })?;
            *place = replacement;
        }
        self.javac(&twin, "fixed")
    }

    /// The logs of a failing run for each bug: a file for each node and client, as an operator would collect them.
    fn make_logs(&self, tool: &Tool, into: &Path) -> Result<()> {
        let truth: Truth = truth::read(&self.directory.join("truth.toml"))?;
        for bug in &truth.bug {
            let (config, directory) =
                (self.directory.join("hypocenter.toml"), eval::out("logs").join(&bug.name));
            let stage = Stage { tool, jdk: &jdk::compiler()?, config: &config, directory: &directory };
            let logs = stage.logs(bug)?;
            let place = into.join(format!("{}-{}", self.name, bug.name));
            fs::create_dir_all(&place).map_err(Failure::file(&place))?;
            for entry in fs::read_dir(&logs).map_err(Failure::file(&logs))?.flatten() {
                fs::copy(entry.path(), place.join(entry.file_name()))
                    .map_err(Failure::file(&entry.path()))?;
            }
            println!("{}", place.display());
        }
        Ok(())
    }

    fn javac(&self, sources: &[PathBuf], into: &str) -> Result<()> {
        let into = self.directory.join("build").join(into);
        let jdk = jdk::compiler()?;
        // Somebody may be running the classes: they are made again only if they would be others.
        let stamp = into.with_extension("stamp");
        let made_of = made_of(&jdk.home, sources)?;
        if into.is_dir() && fs::read_to_string(&stamp).is_ok_and(|it| it == made_of) {
            return Ok(());
        }
        let _ = fs::remove_file(&stamp);
        // A class whose source is gone must not stay.
        fresh_directory(&into)?;
        let javac =
            jdk.javac().ok_or_else(|| Failure::new(format!("{}: no bin/javac there", jdk.home.display())))?;
        let mut command = Command::new(javac);
        command.args(["-g", "--release", RELEASE, "-d"]).arg(&into).args(sources);
        let log = into.with_extension("javac.log");
        step(&format!("compiling targets/{} into {}", self.name, short(&into)), || {
            Job { command, stdout: &log, stderr: &log, limit: LIMIT }.succeed()
        })?;
        fs::write(&stamp, made_of).map_err(Failure::file(&stamp))
    }
}

/// Inputs of compiled classes: the compiler, and each source by its name and a hash of its text.
fn made_of(jdk: &Path, sources: &[PathBuf]) -> Result<String> {
    let mut text = format!("{} {RELEASE}\n", jdk.display());
    for source in sources {
        let mut hash = DefaultHasher::new();
        fs::read(source).map_err(Failure::file(source))?.hash(&mut hash);
        text += &format!("{} {:016x}\n", source.display(), hash.finish());
    }
    Ok(text)
}

fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
