//! Trials side by side: fixed ports and fixed files in sandboxes, as this user and as an ordinary one, and what is said
//! where there are none.
//!
//! The servers of these trials are this test binary, started again with the variable `SANDBOX_ROLE` (see [`role`]), so
//! that they need nothing which a machine may not have.

mod support;

use std::fs::{self, File, Permissions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{classes, default_jdk, skip};
use tempfile::TempDir;

/// Far longer than anything takes; a test that needs it has failed.
const PATIENCE: Duration = Duration::from_secs(60);
const ROLE: &str = "SANDBOX_ROLE";
/// As whom the tool is run if this is root.
const AS_NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const TRIALS: usize = 4;

/// A project below /tmp that everybody can read and write, with the tool, this test and the target's classes in it.
struct Project {
    directory: TempDir,
    port: u16,
    /// A file of /tmp that belongs to this project alone.
    fixed: PathBuf,
}

/// Result of a run of the tool.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    #[track_caller]
    fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    fn says(self, text: &str) -> Ran {
        assert!(self.stderr.contains(text), "`{text}` is not said: {}", self.stderr);
        self
    }

    #[track_caller]
    fn document(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }

    #[track_caller]
    fn well(&self) -> u64 {
        let document = self.document();
        assert_eq!(document["trials"], TRIALS, "{document:#}");
        document["well"].as_u64().unwrap()
    }
}

fn open_to_all(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o777)).expect("its mode can be set");
}

impl Project {
    fn new() -> Project {
        let directory = TempDir::new_in("/tmp").expect("a directory below /tmp");
        open_to_all(directory.path());
        let at = |name: &str| directory.path().join(name);
        let test = std::env::current_exe().expect("a test knows its file");
        for (file, name) in [(test, "test"), (PathBuf::from(env!("CARGO_BIN_EXE_hypocenter")), "tool")] {
            fs::copy(file, at(name)).expect("a program can be copied");
            open_to_all(&at(name));
        }
        fs::create_dir_all(at("classes/probe")).expect("a directory");
        fs::copy(classes().join("probe/Guards.class"), at("classes/probe/Guards.class")).expect("a class");
        for name in ["cache", "meet", "classes", "classes/probe"] {
            fs::create_dir_all(at(name)).expect("a directory");
            open_to_all(&at(name));
        }
        // No two projects of this process have the same, and the kernel gives none of these to whoever asks for any.
        static NEXT: AtomicU16 = AtomicU16::new(0);
        let first = 20_000 + (std::process::id() % 10_000) as u16;
        let mut ports = std::iter::repeat_with(|| first + NEXT.fetch_add(1, Ordering::Relaxed)).take(1000);
        let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
        let port = ports.find(free).expect("a free port");
        let fixed = PathBuf::from(format!("/tmp/hypocenter-fixed-{}-{port}", std::process::id()));
        Project { directory, port, fixed }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes the configuration of a workload in which this binary has a role.
    fn configure(&self, role: &str, network: &str) {
        let text = format!(
            "[target]\nclasspath = [\"classes\"]\npackages = [\"probe\"]\n\n\
             [[workload]]\nname = \"{role}\"\ntimeout = \"60s\"\n{network}\
             command = \"./test role --exact --nocapture\"\n\
             env = {{ {ROLE} = \"{role}\", PORT = \"{}\", FIXED = \"{}\", MEET = \"{}\" }}\n",
            self.port,
            self.fixed.display(),
            self.at("meet").display()
        );
        fs::write(self.at("hypocenter.toml"), text).expect("the configuration can be written");
    }

    /// Runs the tool behind some other command.
    fn run(&self, before: &[&str], arguments: &str) -> Ran {
        let (tool, out) = (self.at("tool").display().to_string(), self.at("out"));
        let _ = fs::remove_dir_all(&out);
        let _ = fs::remove_dir_all(self.at("cache"));
        let _ = fs::remove_dir_all(self.at("meet"));
        for name in ["cache", "meet"] {
            fs::create_dir(self.at(name)).expect("a directory");
            open_to_all(&self.at(name));
        }
        let words: Vec<&str> = before
            .iter()
            .copied()
            .chain([tool.as_str(), "run", "--no-agent", "--json", "--out", "out"])
            .chain(arguments.split_whitespace())
            .collect();
        let mut command = Command::new(words[0]);
        for name in
            ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "HYPOCENTER_NODE", ROLE]
        {
            command.env_remove(name);
        }
        let output = command
            .args(&words[1..])
            .current_dir(self.directory.path())
            .env("HOME", self.at("cache"))
            .env("XDG_CACHE_HOME", self.at("cache"))
            .env("JAVA_HOME", &default_jdk().home)
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", words[0]));
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Output of the server of a trial.
    fn log(&self, trial: usize) -> String {
        let path = self.at(&format!("out/latest/trials/{trial:03}/logs/main.stdout.log"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn logs(&self) -> String {
        (0..TRIALS).map(|trial| self.log(trial)).collect()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.fixed);
    }
}

/// Runs a test as this user, and as an ordinary one if this is root; not where there are no sandboxes.
fn each_user(project: &Project, body: impl Fn(&[&str])) {
    let mut users: Vec<&[&str]> = vec![&[]];
    if fs::metadata("/proc/self").expect("/proc can be read").uid() == 0 {
        let tried = Command::new(AS_NOBODY[0]).args(&AS_NOBODY[1..]).arg("true").output();
        match tried.is_ok_and(|output| output.status.success()) {
            true => users.push(&AS_NOBODY),
            false => skip(format!("nothing can be run as an ordinary user: `{}` fails", AS_NOBODY.join(" "))),
        }
    }
    for before in users {
        let tried = project.run(before, "--sandbox on --classpath classes --packages probe -- true");
        if tried.stderr.contains("the kernel refuses") {
            skip(format!("no sandbox can be made: {}", tried.stderr));
            continue;
        }
        body(before);
    }
}

#[test]
fn trials_with_a_fixed_port_and_a_fixed_file_run_side_by_side() {
    let project = Project::new();
    project.configure("server", "");
    each_user(&project, |before| {
        for flags in ["--sandbox auto", "--sandbox on"] {
            let ran = project.run(before, &format!("server --repeat {TRIALS} --jobs 2 {flags}")).exits(0);
            assert_eq!(ran.well(), TRIALS as u64, "{before:?} {}{}", ran.stderr, project.logs());
            assert!(!ran.stderr.contains("in parallel"), "{}", ran.stderr);
            for trial in 0..TRIALS {
                // Each had the port and the file while its partner had them too.
                assert!(project.log(trial).contains("both have it"), "{}", project.log(trial));
                let name = project.fixed.file_name().unwrap();
                let private = project.at(&format!("out/latest/trials/{trial:03}/tmp")).join(name);
                assert!(private.is_file(), "{}", private.display());
            }
        }
        assert!(!project.fixed.exists(), "nothing is left in the machine's /tmp");
    });
}

#[test]
fn without_sandboxes_they_meet_and_it_is_said_why() {
    let project = Project::new();
    project.configure("server", "");
    let ran = project.run(&[], &format!("server --repeat {TRIALS} --jobs 2 --sandbox off")).exits(4);
    let ran = ran
        .says("sandbox: off")
        .says("share the ports and /tmp of the machine")
        .says("cannot run in parallel");
    assert!(ran.well() < TRIALS as u64, "{}", ran.stderr);
    assert!(project.logs().contains("cannot be had"), "{}", project.logs());
    // One after the other there is nothing to meet, and nothing to say.
    fs::remove_file(&project.fixed).ok();
    project.configure("alone", "");
    let ran = project.run(&[], &format!("alone --repeat {TRIALS} --sandbox off")).exits(0);
    assert_eq!(ran.well(), TRIALS as u64, "{}{}", ran.stderr, project.logs());
    assert!(!ran.stderr.contains("in parallel"), "{}", ran.stderr);
}

#[test]
fn a_machine_without_namespaces_runs_trials_plain_and_says_why() {
    let unshare = |script: &str| Command::new("unshare").args(["-Urm", "sh", "-c", script]).output();
    match unshare("echo 0 > /proc/sys/user/max_net_namespaces") {
        Ok(output) if output.status.success() => {}
        other => return skip(format!("a user namespace cannot be made: {other:?}")),
    }
    let project = Project::new();
    project.configure("alone", "");
    let script = "echo 0 > /proc/sys/user/max_net_namespaces; exec \"$@\"";
    let without = ["unshare", "-Urm", "sh", "-c", script, "sh"];
    let why = "the kernel refuses a network namespace (ENOSPC: /proc/sys/user/max_net_namespaces is 0)";
    let ran = project.run(&without, &format!("alone --repeat {TRIALS} --sandbox auto")).exits(0);
    let ran = ran.says("sandbox: none").says(why).says("cannot run in parallel");
    assert_eq!(ran.well(), TRIALS as u64, "{}{}", ran.stderr, project.logs());
    let ran = project.run(&without, &format!("alone --repeat {TRIALS} --sandbox on")).exits(1);
    ran.says(why).says("--sandbox off").says("--jobs 1");
    assert!(!project.at("out/latest/trials").exists(), "nothing was run");
    // Off is off, and there is nothing to say.
    let ran = project.run(&without, &format!("alone --repeat {TRIALS} --sandbox off")).exits(0);
    assert!(!ran.stderr.contains("sandbox"), "{}", ran.stderr);
}

#[test]
fn a_sandbox_may_have_the_network_of_the_machine() {
    let mut project = Project::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    project.port = listener.local_addr().expect("its address").port();
    each_user(&project, |before| {
        // The workload's word, the flag, and whether the machine's port is reached.
        let rows = [
            ("", "", false),
            ("", "--network private", false),
            ("", "--network host", true),
            ("network = \"host\"\n", "", true),
            ("network = \"host\"\n", "--network private", false),
        ];
        for (word, flag, reached) in rows {
            project.configure("caller", word);
            let ran = project.run(before, &format!("caller --sandbox on {flag}"));
            let (word, log) = (if reached { "reached" } else { "not reached" }, project.log(0));
            assert!(log.contains(&format!("caller: {word}\n")), "{before:?} {flag}: {log}{}", ran.stderr);
            // The file system is the trial's own all the same.
            assert!(!project.fixed.exists(), "{before:?} {flag}");
        }
    });
    let ran = project.run(&[], "caller --network neither").exits(1);
    ran.says("--network");
}

/// Not a test, but what a process of these tests does.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let port: u16 = variable("PORT").parse().expect("a number");
    let fixed = PathBuf::from(variable("FIXED"));
    if role == "caller" {
        fs::write(&fixed, "").expect("/tmp can be written");
        let reached = TcpStream::connect(("127.0.0.1", port)).is_ok();
        println!("caller: {}", if reached { "reached" } else { "not reached" });
        return;
    }
    // Trials 0 and 1 are partners, and 2 and 3. A trial knows its number by its directory.
    let fresh = PathBuf::from(variable("HYPOCENTER_DIR"));
    let number = fresh.parent().and_then(Path::file_name).and_then(|it| it.to_str()?.parse::<usize>().ok());
    let number = number.expect("a trial's directory is its number");
    let meet = PathBuf::from(variable("MEET"));
    let says = |number: usize, what: &str| meet.join(format!("{what}-{number}"));
    let taken =
        TcpListener::bind(("127.0.0.1", port)).and_then(|it| File::create_new(&fixed).map(|file| (it, file)));
    let _both = match taken {
        Ok(both) => both,
        Err(error) => {
            println!("trial {number}: port {port} or {} cannot be had: {error}", fixed.display());
            fs::write(says(number, "failed"), "").expect("the partner can be told");
            std::process::exit(7);
        }
    };
    fs::write(says(number, "has"), "").expect("the partner can be told");
    if role == "alone" {
        fs::remove_file(&fixed).expect("the file is ours");
        return;
    }
    let partner = number ^ 1;
    let began = Instant::now();
    while !says(partner, "failed").exists() {
        if says(partner, "has").exists() {
            println!("trial {number}: both have it");
            return;
        }
        assert!(began.elapsed() < PATIENCE, "trial {partner} says nothing");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_workload_that_runs_in_tmp_itself_keeps_it_and_is_told_so() {
    let out = tempfile::tempdir().unwrap();
    let (classes, out_text) = (classes().display().to_string(), out.path().join("out").display().to_string());
    let words = ["-cp", &classes, "probe.Guards", "many", "1"];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_hypocenter"))
        .args(["run", "--hook", "entry", "--sandbox", "auto", "--out", &out_text, "--"])
        .arg(support::default_jdk().java())
        .args(words)
        .current_dir("/tmp")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("runs in /tmp itself") || stderr.contains("sandbox: none"), "{stderr}");
}

#[test]
fn a_program_below_tmp_that_the_path_names_is_seen_in_a_sandbox() {
    let directory = TempDir::new_in("/tmp").expect("a directory below /tmp");
    let (bin, lib) = (directory.path().join("prefix/bin"), directory.path().join("prefix/lib"));
    for it in [&bin, &lib] {
        fs::create_dir_all(it).expect("a directory");
    }
    // A program that finds its own files beside it.
    let script = "#!/bin/sh\nexec sh \"$(dirname \"$0\")/../lib/body\"\n";
    fs::write(bin.join("started-by-name"), script).expect("a program");
    fs::write(lib.join("body"), "echo the program runs; exit 7\n").expect("a file of it");
    open_to_all(directory.path());
    open_to_all(&bin.join("started-by-name"));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"));
    let tool = support::Tool::new("run").env("PATH", path).args("--hook entry --packages probe --classpath");
    let done = tool.arg(support::classes()).command(&["started-by-name"]);
    assert!(done.stdout.contains("the program runs"), "{}", done.stderr);
    done.says("exited with status 7");
}
