//! Signals that end the tool: SIGINT, SIGTERM and SIGHUP.
//!
//! One thread waits for them from the start of the program. Before a campaign runs, a signal ends the tool at once. While a
//! campaign runs, a signal asks it to end: it ends its trials, keeps what was recorded and prints what is known. The campaign
//! looks at that request between two steps only, so if a step computes for longer than [`GRACE`], the thread ends the tool
//! itself: the journal has all that was recorded. An end that has begun is never cut off, except by a second signal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hypocenter_plan::ExitCode;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::{clock, screen};

/// Time for which a step of a campaign may continue computing after a signal.
const GRACE: Duration = Duration::from_millis(500);
/// Interval at which the thread checks the state of the campaign after a signal.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Signals that follow the first this soon are taken for the same request: a terminal that closes sends several.
const SAME_REQUEST: Duration = Duration::from_millis(200);

static ASKED: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> =
    Mutex::new(State { phase: Phase::Before, trials: 0, computing: 0, resume: String::new() });

/// The work that is under way.
struct State {
    phase: Phase,
    /// Trials that run.
    trials: usize,
    /// Steps of the campaign that compute.
    computing: usize,
    /// The command that resumes the campaign.
    resume: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No campaign runs yet, or the command has none.
    Before,
    /// A campaign runs, and looks at the request.
    Campaign,
    /// The campaign is over; its results are written.
    Ending,
}

impl State {
    /// Returns true if the campaign computes and no trial has to be ended first.
    fn computes(&self) -> bool {
        self.phase == Phase::Campaign && self.computing > 0 && self.trials == 0
    }

    /// Returns true if a signal ends the tool now, after the campaign has computed for so long since the signal.
    fn is_over(&self, computed: Duration) -> bool {
        match self.phase {
            Phase::Before => self.trials == 0,
            Phase::Campaign => self.computes() && computed >= GRACE,
            Phase::Ending => false,
        }
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request to end: by a signal, or because the time is up that the command was given.
#[derive(Debug, Clone, Copy)]
pub struct Interrupt {
    deadline: Option<Instant>,
}

impl Interrupt {
    /// Starts the thread that waits for signals. Without it, signals end the tool by their default action.
    pub fn listen() {
        // Under `nohup`, SIGHUP stays ignored.
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&it| it != SIGHUP || !is_ignored(it));
        if let Ok(signals) = Signals::new(wanted) {
            std::thread::spawn(move || wait(signals));
        }
    }

    /// The request, for a campaign.
    pub fn watch() -> Interrupt {
        Interrupt { deadline: None }
    }

    /// The request, for a campaign that may take so long, counted from when the command was given.
    pub fn after(time: Option<Duration>) -> Interrupt {
        Interrupt { deadline: time.and_then(|it| clock::begun().checked_add(it)) }
    }

    /// Returns true if the campaign is to end.
    pub fn asked(&self) -> bool {
        ASKED.load(Ordering::Relaxed) || self.is_late()
    }

    /// Returns true if its time is up.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|it| Instant::now() >= it)
    }

    /// Marks a campaign as running until the guard is dropped; its results follow. `resume` is the command that resumes it.
    pub fn campaign(resume: String) -> impl Drop {
        let mut state = state();
        (state.phase, state.resume) = (Phase::Campaign, resume);
        Guard(|state| state.phase = Phase::Ending)
    }

    /// Marks one more trial as running.
    pub fn trial_began() {
        state().trials += 1;
    }

    /// Marks one trial less as running.
    pub fn trial_ended() {
        let mut state = state();
        state.trials -= 1;
        // A trial without a campaign is followed by its result.
        if state.phase == Phase::Before {
            state.phase = Phase::Ending;
        }
    }

    /// Marks a step of a campaign as computing until the guard is dropped.
    pub fn computing() -> impl Drop {
        state().computing += 1;
        Guard(|state| state.computing -= 1)
    }
}

/// Changes the state when it is dropped.
struct Guard(fn(&mut State));

impl Drop for Guard {
    fn drop(&mut self) {
        (self.0)(&mut state());
    }
}

/// Returns true if this process was started with the signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|it| it.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Waits for the first signal, leads to the end, and waits for the second.
fn wait(mut signals: Signals) {
    if signals.forever().next().is_none() {
        return;
    }
    ASKED.store(true, Ordering::Relaxed);
    let asked = Instant::now();
    let mut computing_since = asked;
    if state().phase == Phase::Ending {
        screen::line("ending", "writing the results; a second signal ends the tool immediately");
    }
    loop {
        let state = state();
        if !state.computes() {
            computing_since = Instant::now();
        }
        let is_second = signals.pending().next().is_some() && asked.elapsed() >= SAME_REQUEST;
        if is_second || state.is_over(computing_since.elapsed()) {
            end(&state);
        }
        drop(state);
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Ends the tool. Whoever has the state keeps the campaign from going on meanwhile.
fn end(state: &State) -> ! {
    let what = match state.resume.as_str() {
        "" => "interrupted by a signal".to_owned(),
        resume => format!("interrupted by a signal; the campaign is kept, and `{resume}` resumes it"),
    };
    screen::line("ended", &what);
    std::process::exit(ExitCode::Budget as i32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_what_computes_and_nothing_that_is_ending() {
        let check = |phase, trials, computing, computed: Duration, expected: bool| {
            let state = State { phase, trials, computing, resume: String::new() };
            assert_eq!(state.is_over(computed), expected, "{trials} trials, {computing} computing");
        };
        let (soon, late) = (GRACE / 2, GRACE * 2);
        // Before a campaign at once; one trial by itself comes to its end.
        check(Phase::Before, 0, 0, soon, true);
        check(Phase::Before, 1, 0, late, false);
        // A campaign that computes has a moment to come to its end; one that does not is about to.
        check(Phase::Campaign, 0, 1, soon, false);
        check(Phase::Campaign, 0, 1, late, true);
        check(Phase::Campaign, 0, 0, late, false);
        // Trials are ended first, also where something computes beside them.
        check(Phase::Campaign, 1, 0, late, false);
        check(Phase::Campaign, 1, 1, late, false);
        check(Phase::Ending, 0, 0, late, false);
        check(Phase::Ending, 0, 1, late, false);
    }
}
