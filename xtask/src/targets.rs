//! `cargo xtask targets`: compiles the bundled targets that have a `hypocenter.toml`, and their twins.
//!
//! A target's classes go to its own `build/classes`, where its configuration finds them. A file of `fixed/` stands for the
//! one of `src/` with the same name; the two together make the twin, in `build/fixed`. Likewise `throttled/`, whose twin
//! keeps the bug and limits the load that it makes. The jars of a target with a `pom.xml` go to `build/lib`.
//!
//! A target may be fixed in several ways, each in a folder `fixed-WAY`. They have no configurations of their own: that of the target,
//! with the classes of the twin, goes to `build/fixed-WAY.toml`.

use std::env;
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
use crate::{Verdict, eval, javac, jdk, maven, root};

const LIMIT: Duration = Duration::from_secs(300);
/// Java release of the targets: they use records and switches with arrows.
const RELEASE: &str = "17";
/// Folders with the files of a twin that differ; its classes go to the folder of the same name in `build`.
const TWINS: [&str; 2] = ["fixed", "throttled"];
/// Begin of the name of such a folder, where a target is fixed in several ways.
const FIXED: &str = "fixed-";

/// Compile the bundled targets that have a hypocenter.toml, and their twins
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
        // Others have no bug that a single run shows.
        for target in all.iter().filter(|it| it.directory.join("truth.toml").is_file()) {
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
    /// Compiles the target and those twins that it has.
    pub fn compile(&self) -> Result<()> {
        let jars = self.jars()?;
        let source = self.directory.join("src");
        let sources = javac::sources(&source)?;
        self.javac(&sources, &jars, "classes")?;
        let ways = self.ways()?;
        for name in TWINS.into_iter().chain(ways.iter().map(String::as_str)) {
            let folder = self.directory.join(name);
            if folder.is_dir() {
                let replacements = javac::sources(&folder)?;
                self.javac(&twin((&source, &sources), (&folder, &replacements))?, &jars, name)?;
            }
        }
        ways.iter().try_for_each(|name| self.configure(name))
    }

    /// The names of the folders with the ways in which it is fixed, sorted.
    pub fn ways(&self) -> Result<Vec<String>> {
        let entries = fs::read_dir(&self.directory).map_err(Failure::file(&self.directory))?.flatten();
        let folders = entries.filter(|it| it.path().is_dir());
        let names = folders.map(|it| it.file_name().to_string_lossy().into_owned());
        let mut ways: Vec<String> = names.filter(|it| it.starts_with(FIXED)).collect();
        ways.sort();
        Ok(ways)
    }

    /// The configuration of a way in which it is fixed.
    pub fn config_of(&self, way: &str) -> PathBuf {
        self.directory.join("build").join(way).with_extension("toml")
    }

    /// Writes that configuration. It lies in `build`, beside the classes.
    fn configure(&self, way: &str) -> Result<()> {
        let path = self.directory.join("hypocenter.toml");
        let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
        let made = self.config_of(way);
        fs::write(&made, text.replace("build/classes", way)).map_err(Failure::file(&made))
    }

    /// The jars that the target needs, sorted; fetched if they are not there.
    fn jars(&self) -> Result<Vec<PathBuf>> {
        let pom = self.directory.join("pom.xml");
        if !pom.is_file() {
            return Ok(Vec::new());
        }
        let lib = self.directory.join("build/lib");
        maven::fetch_into(&lib, &format!("the jars of targets/{}", self.name), &pom, None)?;
        maven::jars(&lib)
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

    fn javac(&self, sources: &[PathBuf], jars: &[PathBuf], into: &str) -> Result<()> {
        let into = self.directory.join("build").join(into);
        let jdk = jdk::compiler()?;
        // Somebody may be running the classes: they are made again only if they would be others.
        let stamp = into.with_extension("stamp");
        let made_of = made_of(&jdk.home, sources, jars)?;
        if into.is_dir() && fs::read_to_string(&stamp).is_ok_and(|it| it == made_of) {
            return Ok(());
        }
        let _ = fs::remove_file(&stamp);
        // A class whose source is gone must not stay.
        fresh_directory(&into)?;
        let javac =
            jdk.javac().ok_or_else(|| Failure::new(format!("{}: no bin/javac there", jdk.home.display())))?;
        let mut command = Command::new(javac);
        command.args(["-g", "--release", RELEASE, "-d"]).arg(&into);
        if !jars.is_empty() {
            let path = env::join_paths(jars)
                .map_err(|error| Failure::new(format!("a jar cannot be on the class path: {error}")))?;
            command.arg("-cp").arg(path);
        }
        command.args(sources);
        let log = into.with_extension("javac.log");
        step(&format!("compiling targets/{} into {}", self.name, short(&into)), || {
            Job { command, stdout: &log, stderr: &log, limit: LIMIT }.succeed()
        })?;
        fs::write(&stamp, made_of).map_err(Failure::file(&stamp))
    }
}

/// The sources of a twin: those of the target, with the replacements in their places. Each is given with its folder.
fn twin(
    (source, sources): (&Path, &[PathBuf]),
    (folder, replacements): (&Path, &[PathBuf]),
) -> Result<Vec<PathBuf>> {
    let mut twin = sources.to_vec();
    for replacement in replacements {
        let name = replacement.strip_prefix(folder).expect("it was found there");
        let replaced = source.join(name);
        let place = twin.iter_mut().find(|it| **it == replaced).ok_or_else(|| {
            Failure::new(format!("{}: src/ has no such file", replacement.display()))
                .hint("a file of a twin takes the place of one of src/: give it the same name")
        })?;
        place.clone_from(replacement);
    }
    Ok(twin)
}

/// Inputs of compiled classes: the compiler, the jars, and each source by its name and a hash of its text.
fn made_of(jdk: &Path, sources: &[PathBuf], jars: &[PathBuf]) -> Result<String> {
    let mut text = format!("{} {RELEASE}\n", jdk.display());
    jars.iter().for_each(|it| text += &format!("{}\n", it.display()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_twin_takes_the_place_of_its_namesake() {
        let sources = ["src/a/One.java", "src/a/Two.java", "src/b/One.java"].map(PathBuf::from);
        let check = |replacements: &[&str], expected: Option<[&str; 3]>| {
            let replacements: Vec<PathBuf> = replacements.iter().map(PathBuf::from).collect();
            let made = twin((Path::new("src"), &sources), (Path::new("throttled"), &replacements));
            match expected {
                Some(expected) => assert_eq!(made.unwrap(), expected.map(PathBuf::from)),
                None => {
                    let failure = made.unwrap_err().to_string();
                    assert!(failure.contains(&replacements[0].display().to_string()), "{failure}");
                }
            }
        };
        check(&[], Some(["src/a/One.java", "src/a/Two.java", "src/b/One.java"]));
        check(&["throttled/b/One.java"], Some(["src/a/One.java", "src/a/Two.java", "throttled/b/One.java"]));
        check(&["throttled/a/Three.java"], None);
        // The same name in another package is another class.
        check(&["throttled/b/Two.java"], None);
    }

    #[test]
    fn classes_are_made_again_if_their_jars_are_others() {
        let sources = javac::sources(&root().join("targets/shards/src")).unwrap();
        let made = |sources: &[PathBuf], jars: &[&str]| {
            let jars: Vec<PathBuf> = jars.iter().map(PathBuf::from).collect();
            made_of(Path::new("jdk"), sources, &jars).unwrap()
        };
        let first = made(&sources, &["junit-4.13.2.jar"]);
        assert_eq!(made(&sources, &["junit-4.13.2.jar"]), first);
        assert_ne!(made(&sources, &["junit-4.13.1.jar"]), first);
        assert_ne!(made(&sources, &[]), first);
        assert_ne!(made(&sources[1..], &["junit-4.13.2.jar"]), first);
    }

    /// A step of a `cascade-truth.toml`.
    #[derive(Debug, serde::Deserialize)]
    struct Step {
        test: String,
        cause: Fault,
        edge: String,
        effect: Fault,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fault {
        kind: String,
        method: String,
        class: Option<String>,
        #[serde(rename = "loop")]
        number: Option<u16>,
    }

    impl Fault {
        /// Kind of an edge between two faults (CSNAKE, table 1).
        fn edge(&self, to: &Fault) -> String {
            let effect = if to.kind == "delay" { "S+" } else { "E" };
            format!("{effect}({})", if self.kind == "delay" { 'D' } else { 'I' })
        }
    }

    #[test]
    fn cascade_truth_names_what_is_there() {
        for name in ["balancer", "shards"] {
            let directory = root().join("targets").join(name);
            let text = fs::read_to_string(directory.join("cascade-truth.toml")).unwrap();
            let truth: toml::Table = text.parse().unwrap();
            let all = ["cycle", "decoy"].iter().filter_map(|it| truth.get(*it)?.as_array()).flatten();
            let all: Vec<Vec<Step>> = all.map(|it| it["step"].clone().try_into().unwrap()).collect();
            assert!(!all.is_empty(), "{name}");
            let is_there = |class: &str, method: &str| {
                let path = directory.join("src").join(class.replace('.', "/")).with_extension("java");
                fs::read_to_string(path).is_ok_and(|it| it.contains(&format!(" {method}(")))
            };
            for steps in &all {
                for (step, next) in steps.iter().zip(steps.iter().cycle().skip(1)) {
                    let (class, method) = step.test.split_once('#').unwrap();
                    assert!(is_there(class, method), "{}", step.test);
                    let (class, method) = step.cause.method.rsplit_once('.').unwrap();
                    assert!(is_there(class, method), "{}", step.cause.method);
                    assert_eq!(step.effect, next.cause, "{name}: a step does not begin where the last ended");
                    assert_eq!(step.edge, step.cause.edge(&step.effect), "{}", step.test);
                }
            }
        }
    }
}
