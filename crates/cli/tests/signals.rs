//! Signals: SIGINT, SIGTERM and SIGHUP end the tool in every phase, with exit code 3 and what was recorded kept.
//!
//! Phases are made as long as a test needs them: by a target that takes long to analyse, by a named pipe that nobody writes to,
//! or by a gate in the workload. So a tool that ends has ended by the signal.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use support::each;
use support::spool::{Place, SEARCH, failure_log};

/// Far longer than anything takes; a test that needs it has failed.
const PATIENCE: Duration = Duration::from_secs(120);
const SIGNALS: [&str; 3] = ["INT", "TERM", "HUP"];

/// The tool while it runs. It does not outlive the test.
struct Running {
    child: Child,
    lines: Receiver<String>,
    stdout: Option<JoinHandle<String>>,
    said: String,
}

impl Running {
    /// Starts the tool. It would leave SIGHUP ignored where these tests were started so, as by `nohup`; what a process has a handler
    /// for is put back for those that it starts.
    fn start(place: &Place, args: &str) -> Running {
        static HEARD: OnceLock<()> = OnceLock::new();
        HEARD.get_or_init(|| {
            let handler = signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::default());
            handler.expect("a handler can be set");
        });
        Running::of(place.start(args))
    }

    fn of(mut child: Child) -> Running {
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).all(|it| sender.send(it).is_ok()));
        let mut stdout = child.stdout.take().expect("it is piped");
        let stdout = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).expect("the tool prints text");
            text
        });
        Running { child, lines, stdout: Some(stdout), said: String::new() }
    }

    /// Waits for a line with this text.
    #[track_caller]
    fn until_it_says(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("it never says `{text}`:\n{}", self.said));
            self.said += &format!("{line}\n");
            if line.contains(text) {
                return;
            }
        }
    }

    /// Waits for something else while the tool runs.
    #[track_caller]
    fn until(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds() {
            let ended = self.child.try_wait().expect("the tool can be waited for");
            assert!(ended.is_none() && Instant::now() < deadline, "never: {what}; {ended:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(status.expect("kill can be run").success());
    }

    /// Waits for the end: the exit code, and all that was said on stderr and stdout.
    #[track_caller]
    fn end(mut self) -> (i32, String, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the tool can be waited for") {
                break status;
            }
            assert!(Instant::now() < deadline, "it goes on after the signal:\n{}", self.said);
            std::thread::sleep(Duration::from_millis(2));
        };
        self.lines.iter().for_each(|it| self.said += &format!("{it}\n"));
        let stdout = self.stdout.take().map(|it| it.join().expect("it was read")).unwrap_or_default();
        let code = status.code().expect("the tool ends by itself");
        (code, std::mem::take(&mut self.said), stdout)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a named pipe.
fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo can be run").success());
}

/// The exit code of a tool that a signal ended, and the line that says so.
#[track_caller]
fn assert_ended((code, stderr, stdout): (i32, String, String), said: &str) {
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains(said), "`{said}` is not in:\n{stderr}");
    assert_eq!(stdout, "", "there is no result");
}

#[test]
fn a_signal_ends_the_analysis_before_the_first_trial() {
    // The packages of the JDK take far longer to analyse than this test; a log that nobody writes is never read to its end.
    const READING: (&str, &str) = ("reproduce --log pipe.log", "working   analysis: read the configuration");
    const ROWS: [((&str, &str), &str); 6] = [
        (("scan --no-cache --packages java,jdk,sun", "working   scan"), "INT"),
        (("explore --workload spool --packages java,jdk,sun", "working   scan"), "TERM"),
        (("reproduce --log failure.log --packages java,jdk,sun", "working   scan"), "HUP"),
        (READING, "INT"),
        (READING, "TERM"),
        (READING, "HUP"),
    ];
    failure_log();
    each(
        &ROWS,
        |((command, _), signal)| format!("{command}, SIG{signal}"),
        |((command, working), signal)| {
            let place = Place::new();
            pipe(&place.path("pipe.log"));
            place.file("failure.log", failure_log());
            let mut running = Running::start(&place, command);
            running.until_it_says(working);
            running.signal(signal);
            assert_ended(running.end(), "ended     interrupted by a signal");
            assert!(place.campaigns().is_empty(), "no campaign was begun");
        },
    );
}

/// Says that it was started, and waits at a gate in the trial whose number is in the file.
const GATED: &str = r#"n=${HYPOCENTER_DIR%/dir}; n=${n##*/}; echo "$n $$" >> started
if [ "$n" = "$(cat gate 2> /dev/null)" ]; then while [ ! -e go ]; do sleep 0.02; done; fi
exec "$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$CLASSES" spool.Main "$@"
"#;

#[test]
fn a_signal_during_a_trial_ends_the_campaign_and_keeps_it() {
    failure_log();
    each(
        &SIGNALS,
        |signal| format!("SIG{signal}"),
        |signal| {
            let place = Place::new();
            place.file("spool.sh", GATED);
            place.file("gate", "002");
            place.file("failure.log", failure_log());
            let flags = SEARCH.replace(" --json", "");
            let mut running = Running::start(&place, &format!("reproduce --log failure.log {flags}"));
            running.until("the first round runs", || place.started().contains_key(&2));
            // A run without a fault is told when it ends, and the search when it begins.
            running.until_it_says("reproduce-0001/1: no fault, no failure");
            running.signal(signal);
            let (code, said, _) = running.end();
            assert_eq!(code, 3, "{said}");
            for part in [
                "  search    ",
                "you interrupted the campaign",
                "reproduce --resume reproduce-0001",
                "kept in",
            ] {
                assert!(said.contains(part), "`{part}` is not in:\n{said}");
            }
            place.file("go", "");
            let resumed = place
                .tool(&format!("reproduce --resume {flags}").replace(" --faults exceptions --replays 2", ""));
            resumed.exits(0).says("2 trials are done");
        },
    );
}

#[test]
fn an_interrupted_replay_says_so_and_compares_nothing() {
    let rows = [("1", "000", "0 of 1 replay "), ("3", "001", "1 of 3 replays ")];
    let rows: Vec<_> = rows.iter().flat_map(|it| SIGNALS.map(|signal| (it, signal))).collect();
    each(
        &rows,
        |((times, ..), signal)| format!("{times} times, SIG{signal}"),
        |((times, gate, done), signal)| {
            let place = Place::new();
            place.file("spool.sh", GATED);
            let fault = "--throw java.io.IOException --at 5 --workload spool --sandbox off";
            place.tool(&format!("inject Outbox.append->FileChannel.write {fault}")).exits(0);
            fs::remove_file(place.path("started")).expect("it was started");
            place.file("gate", gate);
            let replay = format!("replay latest/0 --times {times} --jobs 1 --sandbox off");
            let mut running = Running::start(&place, &replay);
            running.until("the trial at the gate runs", || {
                place.started().contains_key(&gate.parse().expect("a number"))
            });
            running.signal(signal);
            let (code, said, _) = running.end();
            assert_eq!(code, 3, "{said}");
            assert!(said.contains(&format!("the replay was interrupted: {done}")), "{said}");
            assert!(!said.contains("the same in"), "{said}");
        },
    );
}
