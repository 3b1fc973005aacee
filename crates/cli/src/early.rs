//! Output of a command that failed before any class of the target was loaded.

use std::fs;
use std::path::Path;

use hypocenter_engine::JobId;
use hypocenter_lab::{finished, trial_directory};
use hypocenter_plan::{End, Outcome, Problem};

use crate::failure::Failure;
use crate::screen;

/// Number of lines of its output that are shown.
const LINES_SHOWN: usize = 3;
/// Prefixes of Maven's error lines.
const MAVEN_ERROR: &str = "[ERROR] ";
/// Text after them: how to call Maven again.
const MAVEN_ADVICE: &str = "[ERROR] To see the full stack trace";
/// Text of Gradle before and after the error: how to call Gradle again.
const GRADLE_ERROR: &str = "* What went wrong:";
const GRADLE_ADVICE: &str = "* Try:";
/// Maven's message about artifacts that it would have to download.
const OFFLINE: &str = "in offline mode";

/// Shows the end of its output, if it was such a command.
pub fn show(outcome: &Outcome, trial: &Path) {
    if outcome.jvms.is_empty() && failed(outcome) {
        show_output(outcome, trial);
    }
}

/// Says of the first trial of a campaign that it failed, if it did, and shows the end of its output. Gives whether it did.
pub fn show_first(campaign: &Path) -> Result<bool, Failure> {
    let trial = trial_directory(campaign, JobId(0));
    let Some(outcome) = finished(&trial)?.filter(failed) else { return Ok(false) };
    let mut of_command = outcome.problems.iter().filter(|it| it.place == Problem::COMMAND).peekable();
    if of_command.peek().is_none() {
        let without = if outcome.candidates.is_empty() { ", without a fault" } else { "" };
        screen::note(Problem::COMMAND, &outcome.after_node_ends(&format!("it {}{without}", outcome.end)));
    }
    of_command.for_each(|it| screen::note(&it.place, &it.what));
    show_output(&outcome, &trial);
    Ok(true)
}

fn failed(outcome: &Outcome) -> bool {
    !outcome.end.is_well() && outcome.end != End::Interrupted
}

fn show_output(outcome: &Outcome, trial: &Path) {
    let bad = outcome.processes.iter().find(|it| it.end.is_some_and(|end| !end.is_well()));
    let Some(process) = bad else { return };
    let read = |it: &String| fs::read(trial.join(it)).unwrap_or_default();
    // Its standard output, and what it wrote to the error stream.
    let texts = process.logs.iter().take(2).map(read);
    let texts: Vec<String> = texts.map(|it| without_colours(&String::from_utf8_lossy(&it))).collect();
    for (number, line) in last_lines(&texts).into_iter().enumerate() {
        screen::line(if number == 0 { "output" } else { "" }, &screen::clean(line));
    }
    if texts.iter().any(|it| it.contains(OFFLINE)) {
        screen::note(
            "Maven",
            "a dependency is not in the local repository, and a trial has no network: run `mvn test` once with a network",
        );
    }
}

/// Maven's first errors, and Gradle's, which say more than their last lines; else the last lines of the error stream, or of the output.
fn last_lines(texts: &[String]) -> Vec<&str> {
    let of_maven = texts
        .iter()
        .flat_map(|it| it.lines())
        .filter(|it| it.len() > MAVEN_ERROR.len() && it.starts_with(MAVEN_ERROR));
    let of_maven = of_maven.take_while(|it| !it.starts_with(MAVEN_ADVICE));
    let of_maven: Vec<&str> = of_maven.take(LINES_SHOWN).collect();
    if !of_maven.is_empty() {
        return of_maven;
    }
    let of_gradle = texts.iter().flat_map(|it| it.lines()).skip_while(|it| *it != GRADLE_ERROR).skip(1);
    let of_gradle = of_gradle.take_while(|it| *it != GRADLE_ADVICE).filter(|it| !it.trim().is_empty());
    let of_gradle: Vec<&str> = of_gradle.take(LINES_SHOWN).collect();
    if !of_gradle.is_empty() {
        return of_gradle;
    }
    let lines =
        texts.iter().rev().map(|it| it.lines().filter(|it| !it.trim().is_empty()).collect::<Vec<_>>());
    let lines = lines.into_iter().find(|it| !it.is_empty()).unwrap_or_default();
    lines[lines.len().saturating_sub(LINES_SHOWN)..].to_vec()
}

/// Without the sequences that colour text on a terminal: Maven writes them also where there is none.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut rest = part.trim_start_matches(|it: char| it.is_ascii_digit() || it == ';').chars();
        rest.next();
        plain += rest.as_str();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_most_is_shown() {
        let check = |out: &str, error: &str, expected: &[&str]| {
            assert_eq!(last_lines(&[out.to_owned(), error.to_owned()]), expected);
        };
        check("", "", &[]);
        assert_eq!(without_colours("[\u{1b}[1;31mERROR\u{1b}[m] x\u{1b}[0m\u{1b}["), "[ERROR] x");
        check("a\nb\n\n", "", &["a", "b"]);
        check("a\n", "1\n2\n3\n4\n", &["2", "3", "4"]);
        check(
            "[INFO] x\n[ERROR] no plugin\n[ERROR] \n[ERROR] too\n[ERROR] To see the full stack trace, ...\n",
            "warning\n",
            &["[ERROR] no plugin", "[ERROR] too"],
        );
        check(
            "",
            "FAILURE: Build failed\n\n* What went wrong:\nNo cache.\n> Timeout waiting to lock\n\n* Try:\nRun with\n\nBUILD FAILED\n",
            &["No cache.", "> Timeout waiting to lock"],
        );
    }
}
