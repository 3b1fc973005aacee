//! The keeper of a trial, with real processes: plain and in a sandbox, as this user and, if this is root, as an
//! ordinary one.
//!
//! Some tests need another process with a life of its own: one that is killed while it holds a keeper, one that has a
//! port. They run this test binary again, with the variable `KEEPER_ROLE` (see [`role`]).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hypocenter_lab::keeper::{
    Finished, Isolation, Keeper, KeeperError, KeeperEvent, Network, ProcessId, Setup, Signal, Spawn, probe,
};
use hypocenter_plan::End;
use hypocenter_testing::skip;
use tempfile::TempDir;

/// Far longer than anything takes; a test that needs it has failed.
const PATIENCE: Duration = Duration::from_secs(120);
const SANDBOX: Isolation = Isolation::Sandbox { network: Network::Private };
/// In the environment of all processes of one test, so that they can be found from outside.
const MARK: &str = "KEEPER_MARK";
const ROLE: &str = "KEEPER_ROLE";
/// Set in a test that was started again as an ordinary user.
const ORDINARY: &str = "KEEPER_ORDINARY";
/// The tool, where an ordinary user can reach it.
const TOOL: &str = "KEEPER_TOOL";

fn tool() -> PathBuf {
    std::env::var_os(TOOL).map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_hypocenter")), PathBuf::from)
}

fn this_test() -> PathBuf {
    std::env::current_exe().expect("a test knows its file")
}

fn user() -> u32 {
    fs::metadata("/proc/self").expect("/proc can be read").uid()
}

/// A keeper with a directory of its own, below `/tmp` as a rule.
struct Bench {
    directory: TempDir,
    keeper: Keeper,
    mark: String,
}

impl Bench {
    fn new(isolation: Isolation) -> Bench {
        Bench::seeing(isolation, &[])
    }

    fn seeing(isolation: Isolation, visible: &[PathBuf]) -> Bench {
        let directory = TempDir::new().expect("a temporary directory");
        let mut setup = setup(isolation, directory.path());
        setup.visible.extend_from_slice(visible);
        let keeper = Keeper::start(&tool(), &setup).unwrap_or_else(|error| panic!("{isolation:?}: {error}"));
        Bench { directory, keeper, mark: new_mark() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    fn try_spawn(&self, command: &[&str], variables: &[(&str, &str)]) -> Result<ProcessId, KeeperError> {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        let mut variables: Vec<(String, OsString)> =
            variables.iter().map(|(name, value)| (name.to_string(), value.into())).collect();
        variables.push((MARK.into(), self.mark.clone().into()));
        let spec = Spawn { command: &command, variables: &variables, directory: self.directory.path() };
        let open = |name| {
            OwnedFd::from(File::options().create(true).append(true).open(self.file(name)).expect("a file"))
        };
        self.keeper.spawn(&spec, null(), open("stdout"), open("stderr"))
    }

    fn start(&self, script: &str) -> ProcessId {
        self.try_spawn(&["sh", "-c", script], &[]).unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Starts this test binary in a role.
    fn start_role(&self, role: &str, variables: &[(&str, &str)]) -> ProcessId {
        let variables: Vec<(&str, &str)> = variables.iter().copied().chain([(ROLE, role)]).collect();
        let file = this_test();
        let command = [file.to_str().expect("UTF-8"), "role", "--exact", "--nocapture"];
        self.try_spawn(&command, &variables).unwrap_or_else(|error| panic!("{role}: {error}"))
    }

    /// The end of a process. To be asked in the order of the ends.
    fn end(&self, id: ProcessId) -> End {
        match self.keeper.wait_event(PATIENCE) {
            Some(KeeperEvent::Exited { id: who, end }) if who == id => end,
            other => panic!("not the end of {id:?}: {other:?}, stderr: {}", self.read("stderr")),
        }
    }

    /// Runs a script and gives what it wrote.
    fn run(&self, script: &str) -> String {
        let _ = fs::remove_file(self.file("stdout"));
        let id = self.start(script);
        let end = self.end(id);
        assert_eq!(end, End::Exited { status: 0 }, "{script}: {}", self.read("stderr"));
        self.read("stdout")
    }

    fn wait_for(&self, name: &str) {
        until(&format!("{name} has a line; stderr: {}", self.read("stderr")), || {
            self.read(name).contains('\n')
        });
    }

    fn finish(self) -> Finished {
        self.keeper.finish().unwrap_or_else(|error| panic!("{error}"))
    }
}

fn setup(isolation: Isolation, directory: &Path) -> Setup {
    let tmp = directory.join("tmp");
    fs::create_dir_all(&tmp).expect("a directory");
    let program = this_test().parent().expect("a file is in a directory").to_owned();
    Setup { isolation, tmp, hosts: directory.join("hosts"), visible: vec![directory.to_owned(), program] }
}

fn null() -> OwnedFd {
    File::options().read(true).write(true).open("/dev/null").expect("/dev/null").into()
}

fn new_mark() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("mark-{}-{}-", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes with a mark, seen from here: number and command line.
fn marked(mark: &str) -> Vec<(u32, String)> {
    let entry = format!("{MARK}={mark}");
    let mut found = Vec::new();
    for pid in
        fs::read_dir("/proc").expect("/proc").flatten().filter_map(|it| it.file_name().to_str()?.parse().ok())
    {
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { continue };
        if environment.split(|byte| *byte == 0).any(|it| it == entry.as_bytes()) {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

/// A field of `/proc/<pid>/stat`, as proc(5) numbers them from the state, which is 3.
fn stat(pid: u32, field: usize) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let tail = text.rsplit_once(')').map_or("", |(_, tail)| tail);
    tail.split_whitespace().nth(field - 3).unwrap_or("").to_owned()
}

/// Runs a test plain and in a sandbox; and once more as an ordinary user, if this is root.
fn each_way(test: &str, body: impl Fn(Isolation)) {
    body(Isolation::Plain);
    in_sandbox(&body);
    as_ordinary_user(test);
}

/// As [`each_way`], for what is true of sandboxes only.
fn each_sandbox(test: &str, body: impl Fn(Isolation)) {
    in_sandbox(&body);
    as_ordinary_user(test);
}

fn in_sandbox(body: &impl Fn(Isolation)) {
    match probe(&tool()) {
        Ok(()) => body(SANDBOX),
        Err(reason) => skip(format!("no sandbox for user {}: {reason}", user())),
    }
}

fn as_ordinary_user(test: &str) {
    if user() != 0 {
        return;
    }
    match ordinary() {
        Ok(place) => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(place.path().join("test")).args([test, "--exact", "--nocapture"]);
            let output = command
                .env(ORDINARY, "1")
                // That of root may have directories that are closed to others, and then nothing is "not found" any more.
                .env("PATH", "/usr/local/bin:/usr/bin:/bin")
                .env(TOOL, place.path().join("tool"))
                .stdin(Stdio::null())
                .output()
                .expect("setpriv can be run");
            let text = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
            let (stdout, stderr) = (&text[0], &text[1]);
            eprint!("{stderr}");
            assert!(output.status.success(), "as an ordinary user: {stdout}{stderr}");
            assert!(stdout.contains("1 passed"), "no test was run: {stdout}");
        }
        Err(reason) => skip(format!("nothing can be run as an ordinary user: {reason}")),
    }
}

/// The test and the tool in a directory that everybody can read: the one they were built in may be root's own.
fn ordinary() -> &'static Result<TempDir, String> {
    static PLACE: OnceLock<Result<TempDir, String>> = OnceLock::new();
    PLACE.get_or_init(|| {
        let place = TempDir::new().expect("a temporary directory");
        fs::set_permissions(place.path(), Permissions::from_mode(0o755)).expect("its mode can be set");
        for (file, name) in [(this_test(), "test"), (tool(), "tool")] {
            fs::copy(file, place.path().join(name)).expect("a program can be copied");
        }
        let tried = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(place.path().join("test"))
            .arg("--list")
            .output();
        match tried {
            Ok(output) if output.status.success() => Ok(place),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(format!("setpriv: {error}")),
        }
    })
}

#[test]
fn ends_are_reported() {
    each_way("ends_are_reported", |isolation| {
        let bench = Bench::new(isolation);
        for (script, end) in [
            ("exit 0", End::Exited { status: 0 }),
            ("exit 7", End::Exited { status: 7 }),
            ("exit 255", End::Exited { status: 255 }),
            ("kill -9 $$", End::Signalled { signal: 9 }),
            ("kill -15 $$", End::Signalled { signal: 15 }),
        ] {
            let id = bench.start(script);
            assert_eq!(bench.end(id), end, "{isolation:?} {script}");
            assert!(!bench.keeper.signal(id, Signal::TERM).expect("an answer"), "it has ended");
        }
        assert_eq!(bench.keeper.wait_event(Duration::ZERO), None);
        let finished = bench.finish();
        assert_eq!(finished, Finished { left: 0, unseen: vec![] });
    });
}

#[test]
fn signals_reach_the_group() {
    each_way("signals_reach_the_group", |isolation| {
        let bench = Bench::new(isolation);
        let id = bench.start("sleep 1000 & echo $! > child; wait");
        bench.wait_for("child");
        until("both run", || marked(&bench.mark).len() == 2);
        assert!(bench.keeper.signal(id, Signal::STOP).expect("an answer"));
        until("both stand still", || marked(&bench.mark).iter().all(|(pid, _)| stat(*pid, 3) == "T"));
        assert!(bench.keeper.signal(id, Signal::CONT).expect("an answer"));
        until("both go on", || marked(&bench.mark).iter().all(|(pid, _)| stat(*pid, 3) == "S"));
        assert!(bench.keeper.signal(id, Signal::TERM).expect("an answer"));
        assert_eq!(bench.end(id), End::Signalled { signal: 15 });
        until("the child is gone", || marked(&bench.mark).is_empty());
    });
}

#[test]
fn input_and_output_are_those_given() {
    each_way("input_and_output_are_those_given", |isolation| {
        let bench = Bench::new(isolation);
        let (input, mut typed) = std::io::pipe().expect("a pipe");
        let (output, written) = std::io::pipe().expect("a pipe");
        let (errors, complained) = std::io::pipe().expect("a pipe");
        let command = ["sh", "-c", "read line; echo got $line in $(pwd); echo $MORE >&2"].map(String::from);
        let variables = [("MORE".to_owned(), OsString::from("a \"b\" \u{e9}"))];
        let spec = Spawn { command: &command, variables: &variables, directory: Path::new("/") };
        bench.keeper.spawn(&spec, input.into(), written.into(), complained.into()).expect("it starts");
        typed.write_all(b"this\n").expect("it listens");
        assert_eq!(std::io::read_to_string(output).expect("text"), "got this in /\n");
        assert_eq!(std::io::read_to_string(errors).expect("text"), "a \"b\" \u{e9}\n");
    });
}

#[test]
fn nothing_is_inherited_but_what_is_given() {
    if std::env::var_os(ORDINARY).is_none() && std::env::var_os("KEEPER_OPEN").is_none() {
        // Once more, with a descriptor that everybody inherits.
        let script =
            "exec 9</dev/null; exec \"$0\" nothing_is_inherited_but_what_is_given --exact --nocapture";
        let output = Command::new("sh")
            .args(["-c", script])
            .arg(this_test())
            .env("KEEPER_OPEN", "1")
            .output()
            .expect("sh");
        assert!(output.status.success(), "{output:?}");
        return;
    }
    each_way("nothing_is_inherited_but_what_is_given", |isolation| {
        let bench = Bench::new(isolation);
        let outside = stat(std::process::id(), 6);
        let id = bench.start(
            "ls /proc/$$/fd; grep -E '^(SigBlk|CapInh|CapPrm|CapEff|CapAmb):' /proc/self/status; id -u; echo end > done; \
             while :; do sleep 1; done",
        );
        bench.wait_for("done");
        let text = bench.read("stdout");
        assert!(text.starts_with("0\n1\n2\nSigBlk:\t0000000000000000\n"), "{isolation:?} {text}");
        assert!(text.ends_with(&format!("\n{}\n", user())), "{isolation:?} it runs as another user: {text}");
        if user() != 0 {
            let rights = text.lines().filter(|line| line.starts_with("Cap"));
            assert_eq!(rights.filter(|line| line.ends_with("\t0000000000000000")).count(), 4, "{text}");
        }
        let (pid, _) =
            marked(&bench.mark).into_iter().find(|(_, line)| line.starts_with("sh ")).expect("it runs");
        assert_ne!(stat(pid, 6), outside, "the terminal's signals do not reach it");
        assert_eq!(stat(pid, 5), pid.to_string(), "it has a group of its own");
        assert!(bench.keeper.signal(id, Signal::KILL).expect("an answer"));
    });
}

#[test]
fn a_program_that_is_not_there_is_named() {
    each_way("a_program_that_is_not_there_is_named", |isolation| {
        let bench = Bench::new(isolation);
        fs::write(bench.file("plain-text"), "no program").expect("a file");
        let plain_text = bench.file("plain-text").display().to_string();
        for (command, kind) in [
            ("no-such-program-anywhere", std::io::ErrorKind::NotFound),
            ("./not-here-either", std::io::ErrorKind::NotFound),
            (plain_text.as_str(), std::io::ErrorKind::PermissionDenied),
            ("with\0zero", std::io::ErrorKind::InvalidInput),
        ] {
            match bench.try_spawn(&[command], &[]) {
                Err(KeeperError::Start { program, source }) => {
                    assert_eq!((program.as_str(), source.kind()), (command, kind));
                }
                other => panic!("{command}: {other:?}"),
            }
        }
        let spec =
            Spawn { command: &["true".to_owned()], variables: &[], directory: Path::new("/no/such/place") };
        let error = bench.keeper.spawn(&spec, null(), null(), null()).expect_err("there is no directory");
        assert!(error.to_string().contains("/no/such/place"), "{error}");
        let long = |bytes| bench.try_spawn(&["true", &"x".repeat(bytes)], &[]).expect_err("it is too long");
        assert!(long(3 << 20).to_string().contains("cannot start `true`: Argument list too long"));
        assert!(long(20 << 20).to_string().contains("the limit is"));
        // And it is still good for something.
        assert_eq!(bench.run("echo well"), "well\n");
    });
}

#[test]
fn a_thousand_quick_processes_are_all_reported() {
    each_way("a_thousand_quick_processes_are_all_reported", |isolation| {
        const THREADS: usize = 4;
        const EACH: usize = 250;
        let bench = Bench::new(isolation);
        let mut seen = BTreeSet::new();
        std::thread::scope(|scope| {
            let starters: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        (0..EACH)
                            .map(|_| bench.try_spawn(&["true"], &[]).expect("it starts"))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            while seen.len() < THREADS * EACH {
                match bench.keeper.wait_event(PATIENCE) {
                    Some(KeeperEvent::Exited { id, end: End::Exited { status: 0 } }) => {
                        assert!(seen.insert(id), "{id:?} twice");
                    }
                    other => panic!("after {}: {other:?}", seen.len()),
                }
            }
            let started: BTreeSet<ProcessId> =
                starters.into_iter().flat_map(|it| it.join().expect("no panic")).collect();
            assert_eq!(started, seen);
        });
        assert_eq!(bench.finish(), Finished { left: 0, unseen: vec![] });
    });
}

/// Starts a process that leaves its group, its session and its parent, and waits until it has.
fn start_daemon(bench: &Bench) {
    let id = bench.start("setsid sh -c 'setsid sh -c \"echo up > daemon; exec sleep 1000\" & exit 0' & wait");
    bench.wait_for("daemon");
    assert_eq!(bench.end(id), End::Exited { status: 0 });
    until("only the daemon is left", || {
        let all = marked(&bench.mark);
        all.len() == 1 && all[0].1.starts_with("sleep")
    });
}

#[test]
fn daemons_do_not_outlive_the_trial() {
    each_way("daemons_do_not_outlive_the_trial", |isolation| {
        // Of the same user, and none of ours.
        let mut stranger = Command::new("sleep").arg("1000").spawn().expect("sleep can be run");
        let bench = Bench::new(isolation);
        let mark = bench.mark.clone();
        start_daemon(&bench);
        let node = bench.start("trap '' TERM; while :; do sleep 1000; done");
        until("the node runs", || marked(&mark).len() == 3);
        let finished = bench.finish();
        assert_eq!(finished.left, 3, "{isolation:?}");
        let end = End::Signalled { signal: 9 };
        assert_eq!(finished.unseen, [KeeperEvent::Exited { id: node, end }]);
        assert_eq!(marked(&mark), [], "{isolation:?}");

        let bench = Bench::new(isolation);
        let mark = bench.mark.clone();
        start_daemon(&bench);
        drop(bench);
        assert_eq!(marked(&mark), [], "{isolation:?}: dropped");

        assert_eq!(stranger.try_wait().expect("it is a child"), None, "a stranger was killed");
        stranger.kill().expect("it is a child");
        stranger.wait().expect("it is a child");
    });
}

/// Starts this test binary as a process with a life of its own.
fn role_process(role: &str, isolation: Isolation, mark: &str, directory: &Path) -> Child {
    Command::new(this_test())
        .args(["role", "--exact", "--nocapture"])
        .env(ROLE, role)
        .env("KEEPER_PLAIN", if isolation == Isolation::Plain { "1" } else { "0" })
        .env("KEEPER_DIRECTORY", directory)
        .env(MARK, mark)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a test can be run")
}

/// Waits for a line that a role says.
fn listen(child: &mut Child, line: &str) {
    let stdout = BufReader::new(child.stdout.as_mut().expect("a pipe"));
    let said: Vec<String> =
        stdout.lines().map_while(Result::ok).take_while(|it| !it.ends_with(line)).collect();
    assert_eq!(child.try_wait().expect("it is a child"), None, "it ended and said {said:?}");
}

#[test]
fn nothing_outlives_a_tool_that_is_killed() {
    each_way("nothing_outlives_a_tool_that_is_killed", |isolation| {
        let (mark, directory) = (new_mark(), TempDir::new().expect("a temporary directory"));
        let mut victim = role_process("victim", isolation, &mark, directory.path());
        listen(&mut victim, "up");
        let before = marked(&mark);
        assert!(before.iter().any(|(_, line)| line.contains("__keeper")), "{before:?}");
        assert!(before.iter().any(|(_, line)| line.starts_with("sleep")), "{before:?}");
        victim.kill().expect("it is a child");
        victim.wait().expect("it is a child");
        until(&format!("all is gone of {before:?}"), || marked(&mark).is_empty());
    });
}

#[test]
fn a_keeper_that_is_killed_is_missed() {
    each_way("a_keeper_that_is_killed_is_missed", |isolation| {
        // In a sandbox there are two of them, and it must not matter which is killed.
        for which in ["__keeper ", "__keeper-init "] {
            if isolation == Isolation::Plain && which != "__keeper " {
                continue;
            }
            let (mark, directory) = (new_mark(), TempDir::new().expect("a temporary directory"));
            let mut victim = role_process("told", isolation, &mark, directory.path());
            listen(&mut victim, "up");
            let all = marked(&mark);
            let (pid, _) = all.iter().find(|(_, line)| line.contains(which)).expect("the keeper is there");
            assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().expect("kill").success());
            let said = std::io::read_to_string(victim.stdout.take().expect("a pipe")).expect("text");
            assert!(victim.wait().expect("it is a child").success(), "{isolation:?} {which} {said}");
            let expect =
                if which == "__keeper " { "signal 9 killed it" } else { "signal 9 killed its sandbox" };
            assert!(said.contains(&format!("told Some(Gone(\"{expect}\"))")), "{isolation:?} {which} {said}");
            until(&format!("all is gone of {all:?}"), || marked(&mark).is_empty());
        }
    });
}

#[test]
fn a_keeper_that_is_asked_to_end_ends_the_trial() {
    each_way("a_keeper_that_is_asked_to_end_ends_the_trial", |isolation| {
        let (mark, directory) = (new_mark(), TempDir::new().expect("a temporary directory"));
        let mut victim = role_process("told", isolation, &mark, directory.path());
        listen(&mut victim, "up");
        let all = marked(&mark);
        let (pid, _) = all.iter().find(|(_, line)| line.contains("__keeper ")).expect("the keeper is there");
        assert!(Command::new("kill").args(["-TERM", &pid.to_string()]).status().expect("kill").success());
        assert!(victim.wait().expect("it is a child").success(), "{isolation:?}");
        until(&format!("all is gone of {all:?}"), || marked(&mark).is_empty());
    });
}

#[test]
fn no_zombie_is_left() {
    each_way("no_zombie_is_left", |isolation| {
        let bench = Bench::new(isolation);
        // Each of them loses its parent and ends later.
        bench.run("for i in $(seq 20); do (sh -c 'until [ -e go ]; do sleep 0.1; done; exit' &); done");
        let orphans = || marked(&bench.mark).into_iter().filter(|(_, line)| line.starts_with("sh "));
        until("the orphans run", || orphans().count() == 20);
        let pids: Vec<u32> = orphans().map(|(pid, _)| pid).collect();
        fs::write(bench.file("go"), "").expect("a file");
        // A zombie has no environment any more, but still its number.
        until("the orphans end", || orphans().count() == 0);
        until("no orphan is a zombie", || pids.iter().all(|pid| stat(*pid, 3) != "Z"));
        bench.finish();
        let (mark, directory) = (new_mark(), TempDir::new().expect("a temporary directory"));
        let mut alone = role_process("alone", isolation, &mark, directory.path());
        assert!(alone.wait().expect("it is a child").success());
    });
}

#[test]
fn proc_shows_the_sandbox_only() {
    each_sandbox("proc_shows_the_sandbox_only", |isolation| {
        let bench = Bench::new(isolation);
        let text = bench.run("cd /proc; for it in [0-9]*; do echo $it $(tr '\\0' ' ' < $it/cmdline); done");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("1 ") && lines[0].ends_with("__keeper-init"), "{text}");
        assert!(lines.len() <= 3, "{text}");
    });
}

#[test]
fn two_sandboxes_have_the_same_port_and_the_same_files() {
    each_sandbox("two_sandboxes_have_the_same_port_and_the_same_files", |isolation| {
        // A port that nobody has outside either, so that a look from there is possible.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .expect("a port")
            .local_addr()
            .expect("its number")
            .port();
        let number = port.to_string();
        let benches = [Bench::new(isolation), Bench::new(isolation)];
        for bench in &benches {
            assert!(!bench.keeper.connects(port).expect("an answer"));
            let variables = [("KEEPER_PORT", number.as_str()), ("KEEPER_TEXT", bench.mark.as_str())];
            bench.start_role("listener", &variables);
        }
        for bench in &benches {
            until("the port accepts", || bench.keeper.connects(port).expect("an answer"));
            assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err(), "it is seen from outside");
            until("the file is written", || bench.file("tmp/same").exists());
        }
        for bench in &benches {
            assert_eq!(bench.run("cat /tmp/same /dev/shm/same"), bench.mark.repeat(2));
        }
        assert!(!Path::new("/tmp/same").exists() && !Path::new("/dev/shm/same").exists());
        for bench in benches {
            assert_eq!(bench.finish().left, 1);
        }
    });
}

#[test]
fn a_sandbox_can_have_the_network_of_the_machine() {
    each_sandbox("a_sandbox_can_have_the_network_of_the_machine", |_| {
        let bench = Bench::new(Isolation::Sandbox { network: Network::Host });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("its number").port();
        assert!(bench.keeper.connects(port).expect("an answer"));
        assert_eq!(bench.run("cat /etc/hosts"), fs::read_to_string("/etc/hosts").unwrap_or_default());
        assert!(bench.run("ls -d /proc/[0-9]*").lines().count() <= 3);
    });
}

#[test]
fn the_name_of_the_machine_is_known() {
    each_sandbox("the_name_of_the_machine_is_known", |isolation| {
        let bench = Bench::new(isolation);
        let id = bench.start_role("resolver", &[]);
        assert_eq!(bench.end(id), End::Exited { status: 0 }, "{}", bench.read("stderr"));
        let text = bench.read("stdout");
        let resolved: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("resolved ")).collect();
        assert_eq!(resolved.len(), 2, "{text}");
        assert!(resolved.iter().all(|it| it.contains("127.0.0.1")), "{text}");
    });
}

#[test]
fn java_finds_the_machine_and_its_network() {
    if Command::new("java").arg("-version").output().is_err() {
        return skip("no java on the PATH");
    }
    each_sandbox("java_finds_the_machine_and_its_network", |isolation| {
        let bench = Bench::new(isolation);
        let program = "import java.net.*;
            class Host {
                public static void main(String[] args) throws Exception {
                    InetAddress host = InetAddress.getLocalHost();
                    System.out.println(host.getHostAddress() + \" \" + NetworkInterface.getByInetAddress(host).isUp());
                    System.out.println(ProcessHandle.allProcesses().count() <= 3);
                }
            }";
        fs::write(bench.file("Host.java"), program).expect("a file");
        assert_eq!(bench.run("java -XX:+UseSerialGC Host.java"), "127.0.0.1 true\ntrue\n");
    });
}

#[test]
fn what_lies_below_tmp_stays_visible() {
    each_sandbox("what_lies_below_tmp_stays_visible", |isolation| {
        let place = TempDir::new_in("/tmp").expect("a directory below /tmp");
        let at = |name: &str| place.path().join(name);
        for directory in ["project/deep/er", "hidden", "other/b"] {
            fs::create_dir_all(at(directory)).expect("a directory");
            fs::write(at(directory).join("file"), directory).expect("a file");
        }
        symlink(at("other"), at("link")).expect("a link");
        fs::write(at("single"), "single").expect("a file");
        let visible = [
            at("project/deep"),
            at("project"),
            at("project"),
            at("project/deep/er/file"),
            at("single"),
            at("single"),
            at("link"),
            at("link/b"),
            at("other/b"),
            at("hidden/../project"),
            PathBuf::from("/"),
            PathBuf::from("/tmp/.."),
            PathBuf::from("/usr"),
        ];
        let bench = Bench::seeing(isolation, &visible);
        let script = format!(
            "cd {} && cat project/deep/er/file single link/b/file other/b/file && ls && echo new > project/new && ls /tmp/..",
            place.path().display()
        );
        let text = bench.run(&script);
        assert!(
            text.starts_with("project/deep/ersingleother/bother/blink\nother\nproject\nsingle\n"),
            "{text}"
        );
        assert_eq!(fs::read_to_string(at("project/new")).expect("it was written"), "new\n");
        // And what is written elsewhere stays in the trial's own directory.
        bench.run("echo mine > /tmp/mine");
        assert_eq!(bench.read("tmp/mine"), "mine\n");
        bench.finish();
        assert_eq!(fs::read_to_string(at("hidden/file")).expect("it is still there"), "hidden");

        let directory = TempDir::new().expect("a temporary directory");
        for (path, expect) in
            [("/tmp", "work in a directory below it"), ("/tmp/no such thing", "No such file")]
        {
            let mut setup = setup(isolation, directory.path());
            setup.visible.push(path.into());
            let error = Keeper::start(&tool(), &setup).expect_err("it cannot be seen").to_string();
            assert!(error.contains(path) && error.contains(expect), "{error}");
        }
        let mut setup = setup(isolation, directory.path());
        setup.tmp.push("missing");
        let error = Keeper::start(&tool(), &setup).expect_err("there is no such directory").to_string();
        assert!(error.contains("tmp/missing: No such file"), "{error}");
    });
}

#[test]
fn a_machine_without_namespaces_is_told_in_words() {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-U", "-r", "-m", "sh", "-c", script]).arg(this_test());
        command.env(ROLE, "probe").env_remove(ORDINARY).output()
    };
    match unshare("exit 0") {
        Ok(output) if output.status.success() => {}
        other => return skip(format!("a user namespace cannot be made: {other:?}")),
    }
    let weak = "setpriv --bounding-set=-all --inh-caps=-all ";
    for (kind, prefix, expect) in [
        ("net", "", "a network namespace (ENOSPC: /proc/sys/user/max_net_namespaces is 0)"),
        ("mnt", "", "a mount namespace (ENOSPC: /proc/sys/user/max_mnt_namespaces is 0)"),
        ("pid", "", "a pid namespace (ENOSPC: /proc/sys/user/max_pid_namespaces is 0)"),
        ("ipc", "", "an IPC namespace (ENOSPC: /proc/sys/user/max_ipc_namespaces is 0)"),
        ("uts", "", "a UTS namespace (ENOSPC: /proc/sys/user/max_uts_namespaces is 0)"),
        ("user", weak, "a user namespace (ENOSPC: /proc/sys/user/max_user_namespaces is 0)"),
    ] {
        let script = format!(
            "echo 0 > /proc/sys/user/max_{kind}_namespaces && exec {prefix}\"$0\" role --exact --nocapture"
        );
        let output = unshare(&script).expect("unshare can be run");
        let text = String::from_utf8_lossy(&output.stdout);
        let expect = format!("no: the kernel refuses {expect}\n");
        assert!(text.contains(&expect), "{kind}: {text}{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Work of this binary when a test has started it again.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let value = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let keeper = || {
        let isolation = if value("KEEPER_PLAIN") == "1" { Isolation::Plain } else { SANDBOX };
        let directory = PathBuf::from(value("KEEPER_DIRECTORY"));
        let keeper = Keeper::start(&tool(), &setup(isolation, &directory)).expect("a keeper");
        let script = "setsid sh -c 'setsid sh -c \"echo up > daemon; exec sleep 1000\" & exit 0' & wait; exec sleep 1000";
        let command = ["sh", "-c", script].map(String::from);
        let spec = Spawn { command: &command, variables: &[], directory: &directory };
        keeper.spawn(&spec, null(), null(), null()).expect("it starts");
        until("the daemon is up", || {
            fs::read_to_string(directory.join("daemon")).is_ok_and(|it| it.contains('\n'))
        });
        println!("\nup");
        keeper
    };
    match role.as_str() {
        "victim" => {
            let keeper = keeper();
            panic!("{:?}", keeper.wait_event(PATIENCE));
        }
        "told" => {
            let keeper = keeper();
            let event = keeper.wait_event(PATIENCE);
            // It may be told of the end of what it had started first, but of no other end.
            let event = match event {
                Some(KeeperEvent::Exited { end: End::Signalled { signal: 9 }, .. }) => {
                    keeper.wait_event(PATIENCE)
                }
                event => event,
            };
            assert!(matches!(event, Some(KeeperEvent::Gone(_))), "{event:?}");
            println!("\ntold {event:?}");
            let error = keeper.connects(1).expect_err("nobody can answer");
            assert!(matches!(error, KeeperError::Gone { .. }), "{error}");
        }
        "alone" => {
            keeper().finish().expect("it ends");
            let children = fs::read_dir("/proc").expect("/proc").flatten();
            let children = children.filter_map(|it| it.file_name().to_str()?.parse().ok());
            let children: Vec<u32> =
                children.filter(|pid| stat(*pid, 4) == std::process::id().to_string()).collect();
            assert_eq!(children, [0; 0], "a child is left");
        }
        "listener" => {
            let listener =
                TcpListener::bind((Ipv4Addr::LOCALHOST, value("KEEPER_PORT").parse().expect("a port")));
            fs::write("/dev/shm/same", value("KEEPER_TEXT")).expect("a file");
            fs::write("/tmp/same", value("KEEPER_TEXT")).expect("a file");
            for connection in listener.expect("the port is free").incoming() {
                drop(connection);
            }
        }
        "resolver" => {
            let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
            for name in [host.trim(), "localhost"] {
                let found: Vec<_> = (name, 1).to_socket_addrs().expect("it is known").collect();
                println!("\nresolved {found:?}");
            }
        }
        "probe" => match probe(&tool()) {
            Ok(()) => println!("\nyes"),
            Err(reason) => println!("\nno: {reason}"),
        },
        other => panic!("no role {other}"),
    }
}
