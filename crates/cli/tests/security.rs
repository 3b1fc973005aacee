//! Other users of the machine, and campaign directories that come from somebody else.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use support::spool::Place;
use support::{Said, classes, default_jdk, skip};
use tempfile::TempDir;

/// Users that no machine has: root may act as anybody.
const VICTIM: u32 = 64_201;
const ATTACKER: u32 = 64_202;

/// A library that says whom it ran as, and then lets the JVM go on as if nothing had happened.
const EVIL: &str = r#"
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void owned(void) {
    FILE *file = fopen("OWNED", "a");
    if (file) { fprintf(file, "%d\n", (int) getuid()); fclose(file); }
}
int Agent_OnLoad(void *vm, char *options, void *reserved) { return 0; }
"#;

/// A machine with two users, who share a directory for temporary files.
struct Machine {
    directory: TempDir,
}

impl Machine {
    fn new() -> Machine {
        let directory = TempDir::new().expect("a temporary directory");
        let machine = Machine { directory };
        let open = |path: &Path, mode: u32| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("root may")
        };
        open(machine.directory.path(), 0o755);
        for (name, mode, user) in
            [("tmp", 0o1777, 0), ("victim", 0o755, VICTIM), ("attacker", 0o755, ATTACKER)]
        {
            fs::create_dir(machine.at(name)).unwrap();
            chown(machine.at(name), Some(user), Some(user)).expect("root may");
            open(&machine.at(name), mode);
        }
        fs::copy(env!("CARGO_BIN_EXE_hypocenter"), machine.at("hypocenter")).expect("room for a copy");
        copy_all(&classes().join("probe"), &machine.at("classes/probe"));
        let evil = EVIL.replace("OWNED", &machine.at("attacker/owned").display().to_string());
        fs::write(machine.at("evil.c"), evil).unwrap();
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([machine.at("evil.so"), machine.at("evil.c")])
            .status();
        assert!(built.expect("a C compiler, as Rust needs one").success());
        fs::write(machine.at("attacker/owned"), "").unwrap();
        open(&machine.at("attacker/owned"), 0o666);
        machine
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn as_user(&self, user: u32, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.uid(user).gid(user).stdin(Stdio::null()).env("HOME", "/nonexistent");
        command.env("TMPDIR", self.at("tmp")).env_remove("XDG_CACHE_HOME");
        command
    }

    /// Takes the places where the agent might be unpacked, and swaps whatever is put there, until the test ends.
    fn attack(&self) -> Child {
        let script = r#"
            mkdir -p "$TMPDIR/hypocenter" "$TMPDIR/hypocenter-$VICTIM" 2> /dev/null
            chmod 777 "$TMPDIR/hypocenter" "$TMPDIR/hypocenter-$VICTIM" 2> /dev/null
            echo ready
            n=0
            while [ $n -lt 100000 ] && kill -0 $PPID 2> /dev/null; do
                n=$((n + 1))
                for file in "$TMPDIR"/hypocenter*/agent-*.so "$TMPDIR"/hypocenter*/.agent*; do
                    [ -e "$file" ] && cp "$EVIL" "$file.new" && mv -f "$file.new" "$file"
                done 2> /dev/null
            done"#;
        let mut command = self.as_user(ATTACKER, Path::new("/bin/sh"));
        command.args(["-c", script]).env("EVIL", self.at("evil.so")).env("VICTIM", VICTIM.to_string());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a shell");
        let mut ready = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().expect("it is piped"), &mut ready)
            .expect("it begins");
        child
    }

    fn trials_of_victim(&self) -> Said {
        let java = default_jdk().java();
        let classes = self.at("classes").display().to_string();
        let output = self
            .as_user(VICTIM, &self.at("hypocenter"))
            .args(["run", "--hook", "entry", "--repeat", "4", "--packages", "probe", "--classpath", &classes])
            .args([
                "--timeout",
                "120s",
                "--",
                &java,
                "-XX:+UseSerialGC",
                "-cp",
                &classes,
                "probe.Guards",
                "many",
                "2",
            ])
            .current_dir(self.at("victim"))
            .output()
            .expect("the tool can be run");
        Said {
            code: output.status.code().expect("the tool is not ended by a signal"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// For which users the attacker's code ran.
    fn owned(&self) -> String {
        fs::read_to_string(self.at("attacker/owned")).expect("the file is there")
    }
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).expect("the classes are compiled").flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn another_user_cannot_have_his_code_loaded_as_the_agent() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can act as two users");
    }
    // The attacker is first: nothing is loaded from what is his.
    let machine = Machine::new();
    let mut attacker = machine.attack();
    let said = machine.trials_of_victim();
    let _ = attacker.kill().and_then(|()| attacker.wait());
    assert_eq!(machine.owned(), "", "{}", said.stderr);
    said.exits(1).says("the directory belongs to user 64202").says("XDG_CACHE_HOME");
    // The victim is first: the attacker races in vain.
    let machine = Machine::new();
    machine.trials_of_victim().exits(0);
    let mut attacker = machine.attack();
    let said = machine.trials_of_victim();
    let _ = attacker.kill().and_then(|()| attacker.wait());
    assert_eq!(machine.owned(), "", "{}", said.stderr);
    said.exits(0);
}

#[test]
fn nothing_is_written_through_a_link_planted_in_a_campaign() {
    let place = Place::new();
    place.reproduce("").exits(0);
    let campaign = place.path("hypocenter-out/reproduce-0001");
    let names: Vec<PathBuf> = fs::read_dir(&campaign).unwrap().flatten().map(|it| it.path()).collect();
    let is_there = |name: &str| names.iter().any(|it| it.ends_with(name));
    let written =
        ["lock", "results.jsonl", "campaign.json", "prepared.json", "maps", "trials", "summary.json"];
    for name in written.into_iter().chain(["report.html"]) {
        assert!(is_there(name), "{name} is not among {names:?}");
    }
    let elsewhere = place.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    // At every name that the tool writes there, one at a time.
    for path in names {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (precious, hidden) = (place.path("precious"), place.path("hidden"));
        fs::write(&precious, "precious").unwrap();
        fs::rename(&path, &hidden).unwrap();
        symlink(if hidden.is_dir() { &elsewhere } else { &precious }, &path).unwrap();
        for command in ["reproduce --resume", "report"] {
            let said = place.tool(command);
            assert_eq!(fs::read_to_string(&precious).unwrap(), "precious", "{command}, {name}: {said:?}");
            assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "{command}, {name}: {said:?}");
        }
        fs::remove_file(&path).unwrap();
        fs::rename(&hidden, &path).unwrap();
    }
}
