//! `replay --export`: a folder with a script and a plan that shows a trial again, without the campaign.
//!
//! ```text
//! DIR/replay.sh                  runs it: the tool is $HYPOCENTER, or `hypocenter` on the PATH
//! DIR/README.md                  what it shows
//! DIR/plan.json                  the plan
//! DIR/.gitignore                 that a repository keeps all of it, classes included
//! DIR/project/hypocenter.toml    target, workload and oracle
//! DIR/project/...                the files of the project that the class path and the commands name, at its place there
//! ```
//!
//! A command that names nothing there, such as Maven's, finds by itself what it needs: then all of the directory goes along, but for
//! what this tool wrote (campaigns and folders like this one, wherever they are) and what others keep for themselves; and it is said.
//! Sources do not go along with Maven: it would compile them, here where it has not yet, and run those classes instead of the ones in
//! the folder. Without sources it runs what is there, also when somebody has put another build in its place. Gradle has to compile.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hypocenter_lab::Journal;
use hypocenter_plan::{CommandLine, Condition, Oracle, Plan, Workload, glob_matches};
use serde::Serialize;

use crate::config::Config;
use crate::failure::Failure;
use crate::project::{LANGUAGES, is_source};
use crate::request::Request;
use crate::screen::{self, quoted};

/// The most that is copied; what is larger stays where it is, and the folder needs it there.
const COPIED_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// The most files that are copied.
const COPIED_FILES_MAX: usize = 50_000;
/// Maximum depth of copied directories.
const DEPTH_MAX: usize = 64;
/// Files that are no part of a project, if its whole directory is copied.
const NO_PART: [&str; 7] = [".git", ".hg", ".svn", ".gradle", ".idea", ".vscode", "hypocenter.toml.old"];
/// Maven's record of the sources that it compiled. If they are missing, it removes the classes.
const MAVEN_STATUS: &str = "maven-status";
/// Ignore file for a folder. Files that the project ignores, such as `target`, are the point of the folder.
const IGNORE: &str = ".gitignore";
const IGNORED: &str =
    "# Files that are usually ignored, such as target/, are needed here.\n!*\n/hypocenter-out/\n";
/// Files by which a folder of this kind is recognized.
const OF_FOLDER: [&str; 3] = ["replay.sh", "plan.json", "project/hypocenter.toml"];
/// Number of copied names that are listed.
const NAMES_TOLD: usize = 12;

/// Text for the reader of the folder.
#[derive(Debug, Default)]
pub struct Shows {
    /// The trial, as its campaign calls it.
    pub trial: String,
    /// The faults that went in, a line each.
    pub faults: Vec<String>,
    /// Its result.
    pub outcome: String,
    /// In how many replays of how many the failure happened, where that was tried.
    pub rate: Option<(u64, u64)>,
}

impl Shows {
    /// Number of passing runs that rule out chance, if the failure is intermittent.
    pub fn repeat(&self) -> Option<u64> {
        let (hits, runs) = self.rate.filter(|(hits, runs)| 0 < *hits && hits < runs)?;
        let passes = 1.0 - hits as f64 / runs as f64;
        Some((CHANCE_MAX.ln() / passes.ln()).ceil() as u64)
    }
}

/// Maximum probability that a bug which still exists shows in no run.
const CHANCE_MAX: f64 = 0.05;

/// Written data.
#[derive(Debug, Serialize)]
pub struct Exported {
    /// The folder.
    pub directory: PathBuf,
    /// The script.
    pub script: PathBuf,
    /// Copied files, relative to the base.
    pub copied: Vec<PathBuf>,
    /// True if nothing names it, so that all of the directory was taken.
    pub all_taken: bool,
    /// True if that is without sources.
    pub without_sources: bool,
    /// Files that the script still needs at their place on this machine.
    pub needed: Vec<PathBuf>,
}

impl Exported {
    /// Default that was used because the requirements are unknown, if so.
    pub fn taken_along(&self) -> Option<String> {
        let is_taken = self.all_taken && !self.copied.is_empty();
        is_taken.then(|| {
            format!(
                "the command names no file of the project, so its whole directory was copied{}: {}",
                if self.without_sources { " except sources" } else { "" },
                names(&self.copied)
            )
        })
    }
}

/// The first names of some, and how many more there are.
fn names(paths: &[PathBuf]) -> String {
    let shown = paths.iter().take(NAMES_TOLD).map(|it| screen::clean(&it.display().to_string()));
    let more = paths.len().saturating_sub(NAMES_TOLD);
    let shown = shown.collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// The configuration, as far as one trial needs it.
#[derive(Serialize)]
struct Document<'r> {
    target: TargetTable<'r>,
    workload: [&'r Workload; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureTable<'r>>,
}

#[derive(Serialize)]
struct TargetTable<'r> {
    classpath: Vec<String>,
    packages: &'r [String],
}

#[derive(Serialize)]
struct FailureTable<'r> {
    workload: &'r str,
    oracle: &'r Oracle,
}

/// Writes the folder. Results are in `out`.
pub fn export(
    to: &Path,
    out: &Path,
    request: &Request,
    plan: &Plan,
    shows: &Shows,
) -> Result<Exported, Failure> {
    let to = fresh(to)?;
    let project = to.join("project");
    make(&project)?;
    let (mut own, outside, finds_its_way) = named(request);
    // Results may be among what is needed, as in `--out target`: then campaigns are known by what they have.
    let results =
        out.canonicalize().ok().filter(|out| !own.iter().any(|it| request.base.join(it).starts_with(out)));
    let tool = build_tool(request.workload());
    let left_out = LeftOut {
        places: [Some(to.clone()), results],
        sources: finds_its_way && tool.as_ref().is_some_and(|it| it.name == MAVEN),
    };
    if finds_its_way {
        own.extend(parts(&request.base, &left_out)?);
    }
    let copied = copied(&request.base, &own, &left_out)?;
    let mut needed = outside;
    let workload = match &copied {
        Some(files) => {
            for (from, below) in files {
                let at = project.join(below);
                at.parent().map_or(Ok(()), make)?;
                fs::copy(from, &at).map_err(|error| failed(&at, &error))?;
            }
            request.workload().clone()
        }
        None => {
            needed.insert(request.base.clone());
            at_its_place(request.workload(), &request.base)
        }
    };
    let workload = Workload { timeout: request.timeout.or(workload.timeout), ..workload };
    let below = |it: &PathBuf| match (it.strip_prefix(&request.base), &copied) {
        (Ok(below), Some(_)) => below.display().to_string(),
        _ => it.display().to_string(),
    };
    let document = Document {
        target: TargetTable {
            classpath: request.target.classpath.iter().map(below).collect(),
            packages: &request.target.packages,
        },
        workload: [&workload],
        failure: request.oracle.as_ref().map(|oracle| FailureTable { workload: &workload.name, oracle }),
    };
    let text = toml::to_string(&document)
        .map_err(|error| Failure::usage(format!("this workload cannot be written as a file: {error}")))?;
    let config = project.join("hypocenter.toml");
    write(&config, &format!("# Configuration for replay.sh. Paths are relative to this file.\n{text}"))?;
    check(&config, &workload, request.oracle.as_ref())?;
    let json = serde_json::to_string_pretty(plan).expect("a plan is always JSON");
    write(&to.join("plan.json"), &(json + "\n"))?;
    // What has nothing but results is not there.
    let is_there = |it: &PathBuf| copied.iter().flatten().any(|(_, below)| below.starts_with(it));
    let own: Vec<PathBuf> = own.into_iter().filter(is_there).collect();
    let along = finds_its_way.then_some(own.as_slice());
    write(&to.join("README.md"), &readme(request, shows, along, &needed, tool.as_ref()))?;
    write(&to.join(IGNORE), IGNORED)?;
    let script = to.join("replay.sh");
    write(&script, &script_text(request, shows))?;
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&script, mode).map_err(|error| failed(&script, &error))?;
    Ok(Exported {
        directory: to,
        script,
        copied: own,
        all_taken: finds_its_way,
        without_sources: left_out.sources,
        needed: needed.into_iter().collect(),
    })
}

/// The directory, made or found empty.
fn fresh(to: &Path) -> Result<PathBuf, Failure> {
    match fs::read_dir(to) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(Failure::usage(format!("--export {}: the directory is not empty", to.display()))
                    .hint("give a new or empty directory; existing files are never overwritten"));
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => make(to)?,
        Err(error) => return Err(failed(to, &error)),
    }
    to.canonicalize().map_err(|error| failed(to, &error))
}

fn make(directory: &Path) -> Result<(), Failure> {
    fs::create_dir_all(directory).map_err(|error| failed(directory, &error))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("--export: {}: {error}", path.display()))
        .hint("give a writable directory on a disk with free space")
}

/// Files that are not copied.
struct LeftOut {
    /// Output of this tool.
    places: [Option<PathBuf>; 2],
    /// True if sources are left out too.
    sources: bool,
}

impl LeftOut {
    /// Tests whether it is one of these directories, a campaign, or a folder that was exported before; or what would get in the way.
    fn has(&self, path: &Path) -> bool {
        let is_one = path.canonicalize().is_ok_and(|it| self.places.contains(&Some(it)));
        let is_campaign = || Request::path(path).is_file() && Journal::path_in(path).is_file();
        let is_folder = || OF_FOLDER.iter().all(|it| path.join(it).is_file());
        let is_in_the_way = path.ends_with(IGNORE) || (self.sources && is_compiled(path));
        is_one || is_in_the_way || is_campaign() || is_folder()
    }
}

/// Tests whether it is a source, a directory of sources (`src/main/java`), or what a compiler remembers of them.
fn is_compiled(path: &Path) -> bool {
    let is_directory = || {
        let of_language = LANGUAGES.iter().any(|it| path.ends_with(it.0));
        of_language && path.ancestors().nth(2).is_some_and(|it| it.ends_with("src")) && path.is_dir()
    };
    is_source(path) || path.ends_with(MAVEN_STATUS) || is_directory()
}

/// The parts of a project's directory, relative to it.
fn parts(base: &Path, left_out: &LeftOut) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(base).map_err(|error| failed(base, &error))? {
        let entry = entry.map_err(|error| failed(base, &error))?;
        let name = PathBuf::from(entry.file_name());
        if !left_out.has(&entry.path()) && !NO_PART.iter().any(|it| name == Path::new(it)) {
            found.push(name);
        }
    }
    Ok(found)
}

/// Files that the class path and the commands name: in the project's directory, relative to it, and elsewhere; and whether there is a
/// command, other than a JVM's, that names nothing of its directory.
fn named(request: &Request) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>, bool) {
    let base = &request.base;
    let workload = request.workload();
    let place = |directory: Option<&String>| directory.map_or_else(|| base.clone(), |it| base.join(it));
    let own = place(workload.directory.as_ref());
    let mut found: BTreeSet<PathBuf> = request.target.classpath.iter().cloned().collect();
    let mut finds_its_way = false;
    let mut look = |command: &CommandLine, directory: &Path| {
        let words = words_of(command);
        let parts = words.iter().flat_map(|it| it.split([':', '=', ',', ' ', '@', ';', '"', '\'']));
        let paths: Vec<PathBuf> =
            parts.filter(|it| !it.is_empty()).flat_map(|it| fitting(directory.join(it))).collect();
        let is_java = words.first().is_some_and(|it| Path::new(it).file_name() == Some("java".as_ref()));
        finds_its_way |= !is_java && !paths.iter().any(|it| it.starts_with(base));
        found.extend(paths);
    };
    workload.command.iter().for_each(|it| look(it, &own));
    for node in &workload.node {
        let directory = node.directory.as_ref().map_or_else(|| own.clone(), |it| base.join(it));
        node.command.iter().chain(&node.before).for_each(|it| look(it, &directory));
        for condition in node.ready.iter().chain(&node.alive) {
            if let Condition::Command(command) = condition {
                look(command, &directory);
            }
        }
    }
    workload.client.iter().for_each(|it| look(&it.command, &own));
    let mut inside = BTreeSet::new();
    let mut outside = BTreeSet::new();
    for path in found {
        let plain: PathBuf = path.components().collect();
        match plain.strip_prefix(base) {
            // All of the directory would be more than anybody asked for, results included.
            Ok(below) if below.as_os_str().is_empty() => {}
            Ok(below) if plain.exists() => {
                inside.insert(below.to_owned());
            }
            Ok(_) => {}
            Err(_) if request.target.classpath.contains(&path) && plain.exists() => {
                outside.insert(plain);
            }
            Err(_) => {}
        }
    }
    (inside, outside, finds_its_way)
}

/// Existing files that a path names. Its last part may be a pattern, as in class paths and shells (`lib/*`): then the files that
/// fit.
fn fitting(path: PathBuf) -> Vec<PathBuf> {
    if path.exists() {
        return vec![path];
    }
    let pattern = path.file_name().and_then(|it| it.to_str()).filter(|it| it.contains('*'));
    let (Some(pattern), Some(directory)) = (pattern, path.parent()) else { return Vec::new() };
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path());
    let fits = |it: &PathBuf| {
        let name = it.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| glob_matches(pattern, it)) && it.is_file()
    };
    files.filter(fits).collect()
}

/// The words of a command, those of a script for a shell included.
fn words_of(command: &CommandLine) -> Vec<String> {
    let words = command.words("").unwrap_or_default();
    words.iter().flat_map(|it| it.split_whitespace()).map(str::to_owned).collect()
}

/// The files below some paths, each with its place; nothing if they are too many or too large, or if one is not below the
/// directory after all. What is left out is not looked for in them.
fn copied(
    base: &Path,
    own: &BTreeSet<PathBuf>,
    left_out: &LeftOut,
) -> Result<Option<Vec<(PathBuf, PathBuf)>>, Failure> {
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    let mut bytes = 0;
    let mut open: Vec<(PathBuf, usize)> = own.iter().map(|it| (it.clone(), 0)).collect();
    while let Some((below, depth)) = open.pop() {
        let path = base.join(&below);
        let has_up = below.components().any(|it| it == std::path::Component::ParentDir);
        let metadata = fs::metadata(&path).map_err(|error| failed(&path, &error))?;
        if has_up || depth > DEPTH_MAX || files.len() > COPIED_FILES_MAX {
            return Ok(None);
        }
        if metadata.is_dir() {
            for entry in fs::read_dir(&path).map_err(|error| failed(&path, &error))? {
                let entry = entry.map_err(|error| failed(&path, &error))?;
                if !left_out.has(&entry.path()) {
                    open.push((below.join(entry.file_name()), depth + 1));
                }
            }
        } else if metadata.is_file() && files.insert(below) {
            bytes += metadata.len();
        }
        if bytes > COPIED_BYTES_MAX || open.len() > COPIED_FILES_MAX {
            return Ok(None);
        }
    }
    Ok(Some(files.into_iter().map(|below| (base.join(&below), below)).collect()))
}

/// A workload that runs where it ran.
fn at_its_place(workload: &Workload, base: &Path) -> Workload {
    let place = |it: &String| base.join(it).display().to_string();
    let mut workload = workload.clone();
    workload.directory = Some(workload.directory.as_ref().map_or_else(|| base.display().to_string(), place));
    for node in &mut workload.node {
        node.directory = node.directory.as_ref().map(place);
    }
    workload
}

/// Written data is read back unchanged.
fn check(path: &Path, workload: &Workload, oracle: Option<&Oracle>) -> Result<(), Failure> {
    let config = Config::read(path)?;
    let same = config.workload(None, path)? == workload && config.oracle_of(&workload.name) == oracle;
    if same { Ok(()) } else { Err(Failure::bug()) }
}

fn script_text(request: &Request, shows: &Shows) -> String {
    let mut faults: String = shows.faults.iter().map(|it| format!("# {}\n", screen::clean(it))).collect();
    if faults.is_empty() {
        faults = "# no fault\n".to_owned();
    }
    let node = match request.main.as_str() {
        "main" => String::new(),
        name => format!(" --node-name {}", quoted(name)),
    };
    format!(
        "#!/bin/sh\n\
         # Replays a trial; README.md describes the result. It injects:\n\
         {faults}\
         # What stands behind the name of this script goes to `hypocenter run`, such as --repeat 5 or --json.\n\
         here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1\n\
         tool=${{HYPOCENTER:-hypocenter}}\n\
         command -v \"$tool\" >/dev/null || {{\n    \
             echo \"$0: no $tool: put hypocenter on the PATH, or give its file as HYPOCENTER\" >&2\n    \
             exit 1\n\
         }}\n\
         exec \"$tool\" run {} --config \"$here/project/hypocenter.toml\" --plan \"$here/plan.json\"{node} \\\n    \
             --top 0 --out \"${{HYPOCENTER_OUT:-$here/hypocenter-out}}\" \"$@\"\n",
        quoted(&request.workload().name),
    )
}

/// A build tool that a workload runs.
struct BuildTool {
    name: &'static str,
    /// The command that fetches all that it needs.
    once: String,
}

const MAVEN: &str = "Maven";
const GRADLE: &str = "Gradle";

fn build_tool(workload: &Workload) -> Option<BuildTool> {
    let of_nodes = workload.node.iter().filter_map(|it| it.command.as_ref());
    let of_clients = workload.client.iter().map(|it| &it.command);
    let mut words = workload.command.iter().chain(of_nodes).chain(of_clients).flat_map(words_of);
    words.find_map(|word| match Path::new(&word).file_name()?.to_str()? {
        "mvn" | "mvnw" => Some(BuildTool { name: MAVEN, once: format!("{word} test") }),
        "gradle" | "gradlew" => Some(BuildTool { name: GRADLE, once: format!("{word} --no-daemon test") }),
        _ => None,
    })
}

/// All of the project's directory is `along` where nothing says what is needed.
fn readme(
    request: &Request,
    shows: &Shows,
    along: Option<&[PathBuf]>,
    needed: &BTreeSet<PathBuf>,
    tool: Option<&BuildTool>,
) -> String {
    let clean = screen::clean;
    let mut text = format!("# Replay of {}\n\n", clean(&shows.trial));
    text += match shows.faults.len() {
        0 | 1 => "`sh replay.sh` runs the workload once and injects one fault:\n\n",
        _ => "`sh replay.sh` runs the workload once and injects these faults:\n\n",
    };
    for it in &shows.faults {
        text += &format!("    {}\n", clean(it));
    }
    if shows.faults.is_empty() {
        text += "    nothing\n";
    }
    text += &format!("\nResult in the campaign: {}.\n", clean(&shows.outcome));
    if let Some((hits, runs)) = shows.rate {
        text += &format!("The failure happened in {hits} of {runs} replays.\n");
    }
    if let Some(repeat) = shows.repeat() {
        text += &format!(
            "A single passing run therefore proves little: use `--repeat {repeat}` with `--must-pass`.\n"
        );
    }
    if let Some(oracle) = &request.oracle {
        text += &format!(
            "\nThe oracle reports the failure if this holds:\n\n    {}\n",
            clean(&oracle.to_string())
        );
    }
    text += &format!(
        "\nExit code: 0 the fault was injected (the line `failure` shows whether the failure happened), 2 it was not reached, 1 the folder or the machine has a problem. `sh replay.sh --repeat 5` runs it five times. In CI, `sh replay.sh --must-pass` exits with 2 if the failure happens or the workload fails, and with 0 once the bug is fixed.\n\n\
         It needs a JDK, and `hypocenter` on the PATH or its file as `HYPOCENTER`; it ran on {}. Results are written to hypocenter-out beside the script, or to `HYPOCENTER_OUT`.\n\n\
         `project/` has {}. To test another build, put {} there: sites are matched by class, method and order.\n",
        clean(&request.target.java_home.display().to_string()),
        match (along, tool) {
            (Some(all @ [_, ..]), tool) => format!(
                "the whole directory of the project except results{}, since the command does not name the files it needs: {}",
                match tool {
                    Some(it) if it.name == MAVEN => " and sources (Maven would compile them)",
                    _ => "",
                },
                names(all)
            ),
            _ => "the files of the project that the class path and the commands name".to_owned(),
        },
        match tool {
            Some(it) if it.name == GRADLE => "its sources, which Gradle compiles,",
            _ => "its classes",
        }
    );
    if let Some(BuildTool { name, once }) = tool {
        let place =
            if needed.contains(&request.base) { request.base.as_path() } else { Path::new("project") };
        let once = format!("cd {} && {once}", quoted(&place.display().to_string()));
        text += &format!(
            "\nThe workload runs {name} without a network. It also needs {name}, with all dependencies of the project in its local repository. Download them once, with a network:\n\n    {}\n",
            clean(&once)
        );
    }
    if !needed.is_empty() {
        text += "\nFiles outside of this folder that are needed at their place:\n\n";
        for it in needed {
            text += &format!("    {}\n", clean(&it.display().to_string()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_now_and_then_has_to_pass_more_than_once() {
        let repeat = |rate: Option<(u64, u64)>| Shows { rate, ..Shows::default() }.repeat();
        assert_eq!([None, Some((5, 5)), Some((0, 5))].map(repeat), [None; 3]);
        assert_eq!([(4, 5), (4, 10), (1, 20)].map(|it| repeat(Some(it))), [Some(2), Some(6), Some(59)]);
    }
}
