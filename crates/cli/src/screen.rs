//! How things are shown. On a terminal with colours, elsewhere plain (`NO_COLOR` is respected); everything for people
//! goes to stderr when stdout is for a machine.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use hypocenter_lab::{Observer, Output};
use hypocenter_plan::{CandidateOutcome, CandidateResult, Outcome, Problem};
use serde::Serialize;

use crate::failure::Failure;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const WARN: Style = AnsiColor::Yellow.on_default();
/// Frames of a stack that are shown; the outcome has more.
const FRAMES_SHOWN: usize = 12;
/// Problems that are shown; the outcome has all.
const PROBLEMS_SHOWN: usize = 8;

/// Text from outside (names, logs, messages) with everything that could steer a terminal taken out.
pub fn clean(text: &str) -> String {
    text.chars().map(|it| if it.is_control() && it != '\t' { '\u{fffd}' } else { it }).collect()
}

/// One labelled line.
pub fn line(label: &str, text: &str) {
    let _ = writeln!(anstream::stderr(), "  {DIM}{label:<10}{DIM:#}{text}");
}

/// A heading.
pub fn heading(text: &str) {
    let _ = writeln!(anstream::stderr(), "{BOLD}{text}{BOLD:#}");
}

/// An empty line.
pub fn gap() {
    let _ = writeln!(anstream::stderr());
}

/// An error.
pub fn failure(failure: &Failure) {
    let mut stderr = anstream::stderr();
    let _ = writeln!(stderr, "{BAD}error:{BAD:#} {}", clean(&failure.what));
    if let Some(hint) = &failure.hint {
        let _ = writeln!(stderr, "  {BOLD}try:{BOLD:#} {hint}");
    }
}

/// A check of `doctor`.
pub fn check(good: bool, text: &str) {
    let (style, mark) = if good { (GOOD, "ok") } else { (BAD, "no") };
    let _ = writeln!(anstream::stderr(), "  {style}{mark}{style:#}  {}", clean(text));
}

/// A JSON document on stdout.
pub fn json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).map_err(|error| Failure::usage(error.to_string()))?;
    writeln!(std::io::stdout(), "{text}")
        .map_err(|error| Failure::usage(format!("stdout cannot be written: {error}")))
}

/// Problems, the first ones.
pub fn problems(problems: &[Problem]) {
    let mut stderr = anstream::stderr();
    for problem in problems.iter().take(PROBLEMS_SHOWN) {
        let _ = writeln!(
            stderr,
            "  {WARN}{:<10}{WARN:#}{}: {}",
            "note",
            clean(&problem.place),
            clean(&problem.what)
        );
    }
    if problems.len() > PROBLEMS_SHOWN {
        let _ = writeln!(
            stderr,
            "  {WARN}{:<10}{WARN:#}{} more in outcome.json",
            "note",
            problems.len() - PROBLEMS_SHOWN
        );
    }
}

/// How the command ended.
pub fn end(outcome: &Outcome) {
    line("command", &format!("{} after {:.1} s", outcome.end, outcome.wall_ms as f64 / 1e3));
}

/// The JVMs and their hooks.
pub fn jvms(outcome: &Outcome) {
    for jvm in &outcome.jvms {
        let mut text = format!(
            "{} (pid {}, Java VM {}): {} hooks in {} classes, {} hits",
            clean(&jvm.node),
            jvm.pid,
            clean(&jvm.java),
            thousands(jvm.hooks.placed + jvm.hooks.moved),
            thousands(jvm.hooks.classes),
            thousands(jvm.hits)
        );
        for (count, what) in [
            (jvm.hooks.moved, "moved"),
            (jvm.hooks.refused, "left out"),
            (jvm.events, "events kept"),
            (jvm.dropped, "dropped"),
        ] {
            if count > 0 {
                text += &format!(", {} {what}", thousands(count));
            }
        }
        line("jvm", &text);
    }
}

/// What became of a candidate.
pub fn candidate(it: &CandidateOutcome) {
    let mut stderr = anstream::stderr();
    let site = clean(&it.site.to_string());
    match &it.result {
        CandidateResult::Injected(injection) => {
            let _ = writeln!(
                stderr,
                "  {GOOD}{:<10}{GOOD:#}{} at {site}",
                "injected",
                clean(&it.fault.to_string())
            );
            let times =
                if injection.times > 1 { format!(", {} times", injection.times) } else { String::new() };
            let when = format!(
                "{:.3} ms after the start, at hit {}{times}, node {}, thread {}",
                injection.at_ms,
                thousands(injection.occurrence),
                clean(&injection.node),
                clean(&injection.thread)
            );
            line("when", &when);
            if let Some(class) = &injection.threw {
                line("threw", &clean(class));
            }
            for (number, frame) in injection.stack.iter().take(FRAMES_SHOWN).enumerate() {
                line(if number == 0 { "stack" } else { "" }, &clean(&frame.to_string()));
            }
            if injection.stack.len() > FRAMES_SHOWN {
                line("", &format!("... {} more in outcome.json", injection.stack.len() - FRAMES_SHOWN));
            }
        }
        CandidateResult::NotReached { why } => {
            let _ = writeln!(stderr, "  {BAD}{:<10}{BAD:#}{site}: {}", "not reached ", clean(why));
        }
        CandidateResult::NotNeeded => line("not needed", &format!("{site} ({} hits)", thousands(it.hits))),
        CandidateResult::Refused { why } => {
            let _ = writeln!(stderr, "  {BAD}{:<10}{BAD:#}{site}: {}", "refused", clean(why));
        }
    }
}

/// A number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Passes the command's output on, and its end when the user asks for it.
pub struct Passing {
    all_to_stderr: bool,
    interrupted: Arc<AtomicBool>,
}

impl Passing {
    /// `all_to_stderr`: stdout is for a machine.
    pub fn new(all_to_stderr: bool) -> Passing {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // Where the handler cannot be set the default stays: the tool ends at once.
            let _ = signal_hook::flag::register(signal, interrupted.clone());
        }
        Passing { all_to_stderr, interrupted }
    }
}

impl Observer for Passing {
    fn output(&self, from: Output, bytes: &[u8]) {
        // A reader that has gone away is no reason to end the trial.
        let _ = match from {
            Output::Stdout if !self.all_to_stderr => std::io::stdout().write_all(bytes),
            _ => std::io::stderr().write_all(bytes),
        };
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable_and_text_cannot_steer_a_terminal() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(clean("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
    }
}
