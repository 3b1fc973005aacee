//! `hypocenter init`: a commented configuration, with what can be guessed of the project filled in.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use hypocenter_plan::{CommandLine, ExitCode, Oracle};

use crate::args::InitArgs;
use crate::config::Config;
use crate::failure::Failure;
use crate::project::{Carried, DIRECT, Project, configuration};
use crate::screen;

/// Name of the stored old file.
const OLD: &str = "hypocenter.toml.old";
/// Notes that are shown.
const NOTES_SHOWN: usize = 12;
/// Entries of the class path that are shown; the file has all.
const ENTRIES_SHOWN: usize = 6;

pub fn run(args: &InitArgs) -> Result<ExitCode, Failure> {
    let directory = &args.directory;
    if !directory.is_dir() {
        return Err(Failure::usage(format!("{}: the directory does not exist", directory.display()))
            .hint("give the directory of the project, or none for the current directory"));
    }
    let file = directory.join(configuration::FILE);
    // Asked before anything else, so that nobody waits for a refusal. What counts is asked again when it is written.
    if !args.force && file.symlink_metadata().is_ok() {
        return Err(exists(&file));
    }
    if !args.force
        && let Some(above) = Project::above(directory)
    {
        return Err(belongs_above(directory, &above));
    }
    let project = Project::look(directory);
    let (text, carried) = written_anew(&project, &std::fs::read(&file).unwrap_or_default());
    let old = write(&file, &text, args.force)?;
    show(&project, directory, &file);
    if let Some(old) = old {
        let what = format!("{carried}the old file is in {}", old.display());
        screen::note("init", &screen::clean(&what));
        // What it names may have been written by hand too.
        match Config::read(&file) {
            Ok(config) => faster_failure(&config, &project),
            Err(error) => screen::note(
                "init",
                &screen::clean(&format!("{}; copy missing settings from there", error.what)),
            ),
        }
    }
    Ok(ExitCode::Done)
}

/// Says that what was taken over names the slower of two workloads for one test.
fn faster_failure(config: &Config, project: &Project) {
    let named = config.failure.as_ref().and_then(|it| it.workload.as_ref()).map(|it| it.get_ref());
    let slower = project.direct.as_ref().and_then(|it| it.strip_suffix(DIRECT));
    if let (Some(named), Some(slower)) = (named, slower)
        && named == slower
    {
        let of_reports = config.failure.as_ref().and_then(|it| it.oracle.as_ref());
        let reports = match of_reports.is_some_and(|it| reads_reports(it.as_ref())) {
            true => "; it writes no reports, so remove `reports` from the oracle if you use it",
            false => "",
        };
        let what = format!(
            "`{named}{DIRECT}` runs the same tests as `{named}` of [failure] without the build tool{reports}"
        );
        screen::note("faster", &screen::clean(&what));
    }
}

/// Tests whether an oracle looks into reports that the build tool writes.
fn reads_reports(oracle: &Oracle) -> bool {
    match oracle {
        Oracle::Junit { reports, .. } => reports.is_some(),
        Oracle::All(parts) | Oracle::Any(parts) => parts.iter().any(reads_reports),
        Oracle::Not(part) => reads_reports(part),
        _ => false,
    }
}

/// The new text, with what its owner said in the one before, and what to say of that.
fn written_anew(project: &Project, before: &[u8]) -> (String, &'static str) {
    let Ok(before) = std::str::from_utf8(before) else {
        let text = configuration::text(project, &Carried::default());
        return (text, "the old file is not UTF-8, so nothing is copied from it; ");
    };
    let carried = Carried::of(before);
    let text = configuration::text(project, &carried);
    match Carried::is_whole(before, &text) {
        true if carried == Carried::default() => (text, ""),
        true => (text, "[failure], [reproduce] and [explore] are copied; "),
        // No text that can be read, or one in another form: nothing is better than half of it.
        false => (configuration::text(project, &Carried::default()), "nothing is copied from the old file; "),
    }
}

fn exists(file: &Path) -> Failure {
    Failure::usage(format!("{}: the file already exists and was not changed", file.display())).hint(format!(
        "`hypocenter init --force` writes a new file with the old [failure], and keeps the old file as {OLD}"
    ))
}

/// A part of a project is no project: a file there would have to be written by hand, and would hide the one above.
fn belongs_above(directory: &Path, above: &Path) -> Failure {
    let place = above.parent().unwrap_or(above).display().to_string();
    let there = CommandLine::of_words(&["cd".to_owned(), place]).0;
    let (what, then) = match above.file_name().is_some_and(|it| it == configuration::FILE) {
        true => ("configures it", "use that one"),
        false => ("builds it", "run `hypocenter init`"),
    };
    Failure::usage(format!("{}: part of a larger project: {} {what}", directory.display(), above.display()))
        .hint(format!("`{there}` and {then} there; --force writes a file here anyway"))
}

/// A name beside the file that nothing has yet: what was kept before is kept still.
fn free(file: &Path) -> PathBuf {
    let numbered = (2..).map(|it: u32| format!("{OLD}{it}"));
    let mut names = std::iter::once(OLD.to_owned()).chain(numbered).map(|it| file.with_file_name(it));
    names.find(|it| it.symlink_metadata().is_err()).expect("not every number is taken")
}

/// Gives where the file is kept that was there before, if one was.
fn write(file: &Path, text: &str, force: bool) -> Result<Option<PathBuf>, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::usage(format!("{}: cannot be written: {error}", file.display()))
            .hint("check that the directory is writable and that its disk has free space")
    };
    let is_kept = force && file.is_file();
    let old = free(file);
    if is_kept {
        std::fs::copy(file, &old).map_err(cannot)?;
    }
    // With --force the new file takes the place of the old one in one step, so there is always a whole one.
    let part = file.with_file_name(format!(".{}.{}", configuration::FILE, std::process::id()));
    let into = if force { part.as_path() } else { file };
    let mut open =
        OpenOptions::new().write(true).create_new(true).open(into).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists if !force => exists(file),
            _ => cannot(error),
        })?;
    let written = open
        .write_all(text.as_bytes())
        .and_then(|()| if force { std::fs::rename(into, file) } else { Ok(()) });
    written.map_err(|error| {
        // Half a file is worse than none; it is ours, as it was not there before.
        let _ = std::fs::remove_file(into);
        cannot(error)
    })?;
    Ok(is_kept.then_some(old))
}

fn show(project: &Project, directory: &Path, file: &Path) {
    screen::heading("hypocenter init");
    screen::line("found", &screen::clean(&project.what));
    for (number, entry) in project.class_path.iter().take(ENTRIES_SHOWN).enumerate() {
        screen::line(if number == 0 { "classes" } else { "" }, &screen::clean(entry));
    }
    if project.class_path.len() > ENTRIES_SHOWN {
        screen::line("", &format!("... {} more", project.class_path.len() - ENTRIES_SHOWN));
    }
    if !project.packages.is_empty() {
        let names: Vec<&str> = project
            .packages
            .iter()
            .map(|it| if it.is_empty() { "(the one without a name)" } else { it })
            .collect();
        screen::line("packages", &screen::clean(&names.join(", ")));
    }
    for (number, workload) in project.workloads.iter().enumerate() {
        let off = if workload.active { "" } else { " (in a comment)" };
        screen::line(
            if number == 0 { "workloads" } else { "" },
            &screen::clean(&format!("{}: {}{off}", workload.name, workload.command)),
        );
    }
    for note in project.notes.iter().take(NOTES_SHOWN) {
        screen::line("note", &screen::clean(&format!("{}: {}", note.place, note.what)));
    }
    if project.notes.len() > NOTES_SHOWN {
        screen::line("note", &format!("{} more", project.notes.len() - NOTES_SHOWN));
    }
    screen::line("wrote", &screen::clean(&file.display().to_string()));
    screen::gap();
    for (number, line) in project.faster.iter().enumerate() {
        screen::line(if number == 0 { "faster" } else { "" }, &screen::clean(line));
    }
    for (number, step) in next(project, directory).iter().enumerate() {
        screen::line(if number == 0 { "next" } else { "" }, &screen::clean(step));
    }
}

/// The commands to try, in their order.
fn next(project: &Project, directory: &Path) -> Vec<String> {
    let mut steps = Vec::new();
    if directory.canonicalize().ok() != std::env::current_dir().ok().and_then(|it| it.canonicalize().ok()) {
        let words = ["cd".to_owned(), directory.display().to_string()];
        steps.push(CommandLine::of_words(&words).0);
    }
    steps.extend(project.first.iter().filter(|_| !project.workloads.is_empty()).cloned());
    match project.to_try() {
        Some(workload) => {
            let words = ["hypocenter".to_owned(), "run".to_owned(), workload.name.clone()];
            steps.push(CommandLine::of_words(&words).0);
        }
        None => {
            steps.push(format!("fill in {}: class path, packages and a workload", configuration::FILE));
            steps.push("hypocenter run NAME, or hypocenter run -- java -cp classes org.acme.Main".to_owned());
        }
    }
    steps
}
