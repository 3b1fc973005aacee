//! Output. On a terminal with colours, elsewhere plain (`NO_COLOR` is respected); everything for people
//! goes to stderr when stdout is for a machine.

use std::io::{IsTerminal, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use hypocenter_lab::{Observer, Output};
use hypocenter_plan::{
    CandidateOutcome, CandidateResult, Fault, Injection, OrderResult, Outcome, Problem, Role, Site, Steering,
};
use hypocenter_report::middle;
pub use hypocenter_report::span;
use hypocenter_report::terminal::{self, Line};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt::Interrupt;

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
pub const BAD: Style = AnsiColor::Red.on_default().bold();
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Frames of a stack that are shown; the outcome has more.
const FRAMES_SHOWN: usize = 12;
/// Problems that are shown; the outcome has all.
const PROBLEMS_SHOWN: usize = 8;

/// Text from outside (names, logs, messages) with everything that could steer a terminal taken out.
pub fn clean(text: &str) -> String {
    text.chars().map(|it| if it.is_control() && it != '\t' { '\u{fffd}' } else { it }).collect()
}

/// Text that a shell takes as it is.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The same, with quotes only where a shell needs them.
pub fn word(text: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+:@%,=".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted(text) }
}

/// True while a line turns on the terminal.
static TURNING: AtomicBool = AtomicBool::new(false);

/// Standard error, on a line of its own: one that turns gives way, and comes back below.
fn stderr() -> anstream::AutoStream<std::io::Stderr> {
    if TURNING.load(Ordering::Relaxed) {
        let _ = write!(std::io::stderr(), "\r\x1b[2K");
    }
    anstream::stderr()
}

/// One labelled line.
pub fn line(label: &str, text: &str) {
    let _ = writeln!(stderr(), "  {DIM}{label:<10}{DIM:#}{text}");
}

/// Step of a campaign: its action, its result, and a remark, in one line. A terminal on which that is too long
/// gets two, and what is still too long is cut where it says least.
pub fn step(label: &str, what: &str, (style, result): (Style, &str), aside: &str) {
    let (what, result, aside) = (clean(what), clean(result), clean(aside));
    let (what, between) = beside(&what, result.chars().count() + aside.chars().count(), columns());
    let _ = writeln!(
        stderr(),
        "  {DIM}{label:<10}{DIM:#}{what}:{between}{style}{result}{style:#}{DIM}{aside}{DIM:#}"
    );
}

/// Prefix of a line's text.
const INDENT: usize = 12;

/// A text, and what divides it from one of so many characters that follows it, on a screen of so many columns.
fn beside(what: &str, following: usize, columns: Option<usize>) -> (String, String) {
    let long = what.chars().count();
    match columns {
        Some(columns) if INDENT + long + 2 + following > columns => {
            (middle(what, columns.saturating_sub(INDENT + 1)), format!("\n{:INDENT$}", ""))
        }
        _ => (what.to_owned(), " ".to_owned()),
    }
}

/// Width of the screen in columns, if it is a terminal.
pub fn columns() -> Option<usize> {
    let stderr = std::io::stderr();
    let size = stderr.is_terminal().then(|| rustix::termios::tcgetwinsize(&stderr).ok()).flatten();
    size.map(|it| usize::from(it.ws_col)).filter(|&it| it > 0)
}

/// Lines made elsewhere.
pub fn lines(lines: &[Line]) {
    let mut stderr = stderr();
    for line in lines {
        match &line.label {
            Some(label) => {
                let style = style(line.style);
                let _ = write!(stderr, "  {style}{label:<10}{style:#}");
            }
            None if line.text.is_empty() => {}
            None => {
                let _ = write!(stderr, "  ");
            }
        }
        for it in &line.text {
            let style = style(it.style);
            let _ = write!(stderr, "{style}{}{style:#}", clean(&it.text));
        }
        let _ = writeln!(stderr);
    }
}

/// The look of a style.
pub fn style(it: terminal::Style) -> Style {
    match it {
        terminal::Style::Plain => Style::new(),
        terminal::Style::Dim => DIM,
        terminal::Style::Bold => BOLD,
        terminal::Style::Good => GOOD,
        terminal::Style::Bad => BAD,
        terminal::Style::Warn => WARN,
    }
}

/// A heading.
pub fn heading(text: &str) {
    let _ = writeln!(stderr(), "{BOLD}{text}{BOLD:#}");
}

/// Directory of a campaign, and its size on disk.
pub fn kept_in(campaign: &Path) {
    let size = bytes(hypocenter_lab::disk::size(campaign));
    line("kept in", &format!("{}, {size}", crate::store::told(campaign)));
}

/// Bytes in the unit that suits them.
pub fn bytes(number: u64) -> String {
    match number {
        0..1_000_000 => format!("{} kB", number.div_ceil(1_000)),
        1_000_000..10_000_000_000 => format!("{:.1} MB", number as f64 / 1e6),
        _ => format!("{:.1} GB", number as f64 / 1e9),
    }
}

/// Lines that tell something.
pub fn story(lines: &[&str]) {
    gap();
    for it in lines {
        let _ = writeln!(stderr(), "  {BOLD}{}{BOLD:#}", clean(it));
    }
    gap();
}

/// An empty line.
pub fn gap() {
    let _ = writeln!(stderr());
}

/// An error.
pub fn failure(failure: &Failure) {
    let mut stderr = stderr();
    let _ = writeln!(stderr, "{BAD}error:{BAD:#} {}", clean(&failure.what));
    if let Some(hint) = &failure.hint {
        let _ = writeln!(stderr, "  {BOLD}try:{BOLD:#} {hint}");
    }
}

/// A check of `doctor`.
pub fn check(good: bool, text: &str) {
    let (style, mark) = if good { (GOOD, "ok") } else { (BAD, "no") };
    let _ = writeln!(stderr(), "  {style}{mark}{style:#}  {}", clean(text));
}

/// A JSON document on stdout.
pub fn json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).map_err(|error| Failure::usage(error.to_string()))?;
    writeln!(std::io::stdout(), "{text}")
        .map_err(|error| Failure::usage(format!("stdout cannot be written: {error}")))
}

/// Problems, the first ones.
pub fn problems(problems: &[Problem]) {
    let mut stderr = stderr();
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

/// Unreadable parts of a scan in short: the summary and the document have more.
pub fn problems_of_scan(problems: &[Problem]) {
    if let Some(first) = problems.first() {
        let more = match problems.len() - 1 {
            0 => String::new(),
            more => format!(" ({more} more; `hypocenter scan` without a list shows them)"),
        };
        note(&first.place, &format!("{}{more}", first.what));
    }
}

/// End of the command.
pub fn end(outcome: &Outcome) {
    line("ended", &format!("{} after {:.1} s", outcome.end, outcome.wall_ms as f64 / 1e3));
}

/// Nodes that ended before the trial did: the first lines about a trial, since they explain what others saw.
pub fn ended_nodes(outcome: &Outcome) {
    for it in outcome.ended_nodes() {
        let style = if it.end.is_some_and(|end| end.is_well()) { WARN } else { BAD };
        let at = it.ended_ms.map_or_else(String::new, |ms| format!(" at {:.1} s", ms as f64 / 1e3));
        let told = it.told_end().unwrap_or_default() + &at;
        let _ = writeln!(stderr(), "  {style}{:<10}{style:#}{}", "ended", clean(&told));
    }
}

/// The JVMs and their hooks. One that came to no hook has no part in what others did.
pub fn jvms(outcome: &Outcome) {
    let any_hit = outcome.jvms.iter().any(|it| it.hits > 0);
    for jvm in outcome.jvms.iter().filter(|it| it.hits > 0 || !any_hit) {
        let mut text = format!(
            "{} (pid {}, Java VM {}): {} in {}, {}",
            clean(&jvm.node),
            jvm.pid,
            clean(&jvm.java),
            count(jvm.hooks.placed + jvm.hooks.moved, "hook", "hooks"),
            count(jvm.hooks.classes, "class", "classes"),
            count(jvm.hits, "hit", "hits")
        );
        for (number, what) in [
            (jvm.hooks.moved, "moved"),
            (jvm.hooks.refused, "left out"),
            (jvm.events, "events kept"),
            (jvm.dropped, "dropped"),
        ] {
            if number > 0 {
                text += &format!(", {} {what}", thousands(number));
            }
        }
        line("jvm", &text);
    }
}

/// Fate of a candidate.
pub fn candidate(it: &CandidateOutcome) {
    fate("injected", &it.fault.to_string(), &it.site, it.hits, &it.result);
    if let CandidateResult::Injected(Injection { effect: Some(effect), .. }) = &it.result {
        let operations = count(effect.operations, "operation", "operations");
        let told = match it.fault {
            Fault::DiskFull { .. } => format!("{operations} failed"),
            Fault::Partition { .. } => {
                format!("{} cut", count(effect.operations, "end of a connection", "ends of connections"))
            }
            _ => format!("{operations} swallowed, {}", count(effect.bytes, "byte", "bytes")),
        };
        line("effect", &told);
    }
}

/// Fate of what a plan orders, forces and sets.
pub fn steering(it: &Steering) {
    for it in &it.force {
        fate("forced", &it.way.to_string(), &it.branch, it.hits, &it.result);
    }
    for it in &it.set {
        fate("set", &it.value.to_string(), &it.constant, it.hits, &it.result);
    }
    for it in &it.order {
        let pair = clean(&format!("{} before {}", it.first.site, it.then.site));
        let (style, label, why) = match &it.result {
            OrderResult::Kept { waited_ms, then, .. } if *waited_ms > 0.0 => {
                (GOOD, "kept", format!("thread {} waited {waited_ms:.1} ms", then.thread))
            }
            OrderResult::Kept { .. } => (GOOD, "kept", "no thread had to wait".to_owned()),
            OrderResult::NotReached { why } => (BAD, "not reached ", why.clone()),
            OrderResult::NotPossible { why } => (BAD, "not possible ", why.clone()),
        };
        let _ = writeln!(stderr(), "  {style}{label:<10}{style:#}{pair}: {}", clean(&why));
    }
}

/// What was to be done at a site, and what came of it.
fn fate(done: &str, what: &str, site: &Site, hits: u64, result: &CandidateResult) {
    let mut stderr = stderr();
    let site = clean(&site.to_string());
    match result {
        CandidateResult::Injected(injection) => {
            let _ = writeln!(stderr, "  {GOOD}{done:<10}{GOOD:#}{} at {site}", clean(what));
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
            let is_of_jdk =
                |it: &str| ["java.", "javax.", "jdk.", "sun."].iter().any(|jdk| it.starts_with(jdk));
            lines(&terminal::stack(&injection.stack, FRAMES_SHOWN, |it| !is_of_jdk(it)));
            if injection.stack.len() > FRAMES_SHOWN {
                line("", &format!("... {} more in outcome.json", injection.stack.len() - FRAMES_SHOWN));
            }
        }
        CandidateResult::NotReached { why } => {
            let _ = writeln!(stderr, "  {BAD}{:<10}{BAD:#}{site}: {}", "not reached ", clean(why));
        }
        CandidateResult::NotNeeded => line("not needed", &format!("{site} ({})", count(hits, "hit", "hits"))),
        CandidateResult::Refused { why } => {
            let _ = writeln!(stderr, "  {BAD}{:<10}{BAD:#}{site}: {}", "refused", clean(why));
        }
    }
}

/// "1 class", "2 classes".
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// Verdict of a running campaign.
pub fn resumed(told: u64, more: &str) {
    line("resumed", &format!("{} done{more}", count(told, "trial is", "trials are")));
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

/// A trial that was ended from outside, and is run again.
pub fn run_again(number: u64, why: &str) {
    note(
        &format!("trial {number}"),
        &format!("its keeper process has ended ({why}); the trial is run again"),
    );
}

/// Something that the user should know and that is no error.
pub fn note(place: &str, what: &str) {
    let _ = writeln!(stderr(), "  {WARN}{:<10}{WARN:#}{}: {}", "note", clean(place), clean(what));
}

/// The processes of a workload that has several, and what became of them.
pub fn processes(outcome: &Outcome) {
    if outcome.processes.len() < 2 {
        return;
    }
    for it in &outcome.processes {
        let mut text = clean(&it.name);
        if it.incarnation > 1 {
            text += &format!(" (start {})", it.incarnation);
        }
        let seconds = |ms: u64| format!("{:.1} s", ms as f64 / 1e3);
        text += &format!(": started at {}", seconds(it.started_ms));
        if let Some(ms) = it.ready_ms {
            text += &format!(", ready at {}", seconds(ms));
        }
        if let Some(steps) = it.steps {
            text += &format!(", {} of {steps} steps", it.progress.unwrap_or(0));
        }
        match (it.end, it.ended_ms) {
            (Some(end), Some(ms)) => text += &format!(", {end} at {}", seconds(ms)),
            _ => text += ", alive at the end",
        }
        if let Some(alive) = it.alive {
            text += if alive { ", reports healthy" } else { ", does not report healthy" };
        }
        let label = match it.role {
            Role::Command => "command",
            Role::Node => "node",
            Role::Client => "client",
        };
        line(label, &text);
    }
}

/// Verdict of the oracle.
pub fn failure_seen(outcome: &Outcome) {
    let Some(failure) = &outcome.failure else { return };
    let (style, word) = if failure.happened { (BAD, "happened") } else { (GOOD, "did not happen") };
    let _ =
        writeln!(stderr(), "  {DIM}{:<10}{DIM:#}{style}{word}{style:#}: {}", "failure", clean(&failure.why));
}

/// Input of the command; none if we have no input ourselves.
pub fn stdin() -> Option<OwnedFd> {
    std::io::stdin().as_fd().try_clone_to_owned().ok()
}

/// Shows one trial while it runs, and passes on the user's wish to end it.
pub struct Passing<'a> {
    /// True if stdout is for a machine.
    pub all_to_stderr: bool,
    /// True if the workload is one command, whose output is passed on as it is.
    pub plain: bool,
    /// True if the output of a cluster's processes is shown too.
    pub verbose: bool,
    pub interrupt: &'a Interrupt,
}

impl Observer for Passing<'_> {
    fn output(&self, process: &str, _: Role, from: Output, bytes: &[u8]) {
        // A reader that has gone away is no reason to end the trial.
        if self.plain {
            let _ = match from {
                Output::Stdout if !self.all_to_stderr => std::io::stdout().write_all(bytes),
                _ => std::io::stderr().write_all(bytes),
            };
        } else if self.verbose {
            let text = String::from_utf8_lossy(bytes);
            let lines: String = text.lines().map(|it| format!("  {process:<10}{}\n", clean(it))).collect();
            let _ = std::io::stderr().write_all(lines.as_bytes());
        }
    }

    fn event(&self, process: &str, what: &str) {
        if !self.plain {
            line(process, what);
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.asked()
    }
}

/// Sees many trials and shows none of them.
pub struct Quiet<'a>(pub &'a Interrupt);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.asked()
    }
}

/// Progress of a campaign: a bar on a terminal, plain lines elsewhere.
pub struct Bar {
    bar: ProgressBar,
    total: u64,
    on_terminal: bool,
    /// When a plain line was last written, and how many trials are over.
    plain: Mutex<(Instant, u64)>,
}

/// Minimum interval of plain lines, except for errors.
const PLAIN_EVERY: Duration = Duration::from_secs(2);

impl Bar {
    /// For so many trials.
    pub fn new(total: u64) -> Bar {
        let on_terminal = std::io::stderr().is_terminal();
        let bar = if on_terminal { ProgressBar::new(total) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template(
            "  {bar:30} {pos}/{len} trials  {elapsed} elapsed, {eta} left  {msg}",
        );
        bar.set_style(style.expect("the template is fixed"));
        bar.enable_steady_tick(Duration::from_millis(500));
        Bar { bar, total, on_terminal, plain: Mutex::new((Instant::now(), 0)) }
    }

    /// So many were done before.
    pub fn resumed(&self, told: u64) {
        self.bar.set_position(told);
        self.bar.reset_eta();
        self.plain.lock().unwrap_or_else(|poison| poison.into_inner()).1 = told;
    }

    /// One more is over.
    pub fn ended(&self, number: u64, bad: bool, text: &str, took: Duration) {
        self.bar.inc(1);
        let mut plain = self.plain.lock().unwrap_or_else(|poison| poison.into_inner());
        plain.1 += 1;
        let line = format!("  trial {number}: {} ({:.1} s)", clean(text), took.as_secs_f64());
        if self.on_terminal {
            if bad {
                self.bar.println(line);
            }
        } else if bad || plain.0.elapsed() >= PLAIN_EVERY || plain.1 == self.total {
            plain.0 = Instant::now();
            let _ = writeln!(stderr(), "{line}  [{} of {}]", plain.1, self.total);
        }
    }

    /// No more follow.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Shows the step that is under way once it takes long: a line that turns on a terminal, plain lines elsewhere. Of several at
/// once the latest is shown.
#[derive(Debug)]
pub struct Working {
    now: Arc<Mutex<String>>,
    end: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

/// Time after which a step is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(2);

/// The steps that are under way, by their numbers; the last is shown.
static UNDER_WAY: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<u64>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Working {
    /// Begins to watch.
    pub fn new(what: &'static str) -> Working {
        Working::at(what, "")
    }

    /// Begins to watch at a step.
    pub fn at(what: &'static str, step: &str) -> Working {
        let now = Arc::new(Mutex::new(step.to_owned()));
        let seen = now.clone();
        let (end, ended) = channel();
        let number = {
            let mut all = under_way();
            let number = all.iter().max().map_or(0, |it| it + 1);
            all.push(number);
            number
        };
        let watch = std::thread::spawn(move || {
            show_while(&ended, what, &seen, || under_way().last() == Some(&number));
            under_way().retain(|it| *it != number);
        });
        Working { now, end: Mutex::new(Some((end, watch))) }
    }

    /// The step that begins now.
    pub fn step(&self, name: &str) {
        name.clone_into(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// It is over, and the line is gone.
    pub fn finish(&self) {
        let watch = self.end.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((end, watch)) = watch {
            drop(end);
            let _ = watch.join();
        }
    }
}

/// Shows a step until the other end of the channel is gone.
fn show_while(ended: &Receiver<()>, what: &str, step: &Mutex<String>, is_shown: impl Fn() -> bool) {
    let begin = Instant::now();
    let on_terminal = std::io::stderr().is_terminal();
    let mut bar: Option<ProgressBar> = None;
    let mut every = SHOWN_AFTER;
    while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        if !is_shown() {
            continue;
        }
        let step = match step.lock().unwrap_or_else(PoisonError::into_inner).as_str() {
            "" => String::new(),
            step => format!(": {}", clean(step)),
        };
        let text = format!("{what}{step}, {} elapsed", span(begin.elapsed().as_secs_f64()));
        if on_terminal {
            every = Duration::from_millis(100);
            let bar = bar.get_or_insert_with(ProgressBar::new_spinner);
            TURNING.store(true, Ordering::Relaxed);
            bar.set_message(text);
            bar.tick();
        } else {
            line("working", &text);
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
        TURNING.store(false, Ordering::Relaxed);
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.finish();
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
        let hooks = |number| count(number, "hook", "hooks");
        assert_eq!([0, 1, 2_000].map(hooks), ["0 hooks", "1 hook", "2,000 hooks"]);
        assert_eq!(clean("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
    }

    #[test]
    fn a_step_that_is_too_long_for_the_screen_takes_two_lines() {
        let check = |what: &str, following: usize, columns: Option<usize>, expected: (&str, &str)| {
            let (what, between) = beside(what, following, columns);
            assert_eq!((what.as_str(), between.as_str()), expected);
        };
        let new_line = "\n            ";
        // What is no screen has every line whole.
        check(
            "IOException at Store.put:7, hit 3 of thread main",
            500,
            None,
            ("IOException at Store.put:7, hit 3 of thread main", " "),
        );
        check("abcdefgh", 18, Some(40), ("abcdefgh", " "));
        check("abcdefgh", 19, Some(40), ("abcdefgh", new_line));
        check("abcdefghijklmnopqrstuvwxyz", 10, Some(33), ("abcdefghi..rstuvwxyz", new_line));
        // A screen that nobody could read.
        check("abcdefgh", 19, Some(5), ("..", new_line));
    }
}
