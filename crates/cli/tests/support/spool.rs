//! `targets/spool`, a small system with one bug, and a directory in which the tool is run on it.
//!
//! The bug needs one exception at one moment: a write that fails while three messages have been written since the last
//! checkpoint, which is so at the fifth message alone. At every other moment the system gets over it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Said, default_jdk, line_of, spool_classes};

pub const ORACLE: &str = "oracle = { log = 'message [0-9]+ is lost' }";
/// A trial says that it was started, and the one that is to be cut short waits for the test to open the gate.
pub const SCRIPT: &str = r#"n=${HYPOCENTER_DIR%/dir}; n=${n##*/}; echo "$n $$" >> started
if [ -e gate ] && [ "$n" = 004 ]; then while [ ! -e go ]; do sleep 0.02; done; fi
exec "$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$CLASSES" spool.Main "$@"
"#;
/// One exception a round, and few replays: what is searched for is the same, and it takes seconds.
pub const SEARCH: &str = "--faults exceptions --replays 2 --jobs 1 --sandbox off --json";

/// A directory in which the tool is run again and again, with the configuration of the system.
pub struct Place {
    pub directory: TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place::with("spool", ORACLE)
    }

    /// One whose failure is of this workload and has this oracle.
    pub fn with(workload: &str, oracle: &str) -> Place {
        let directory =
            TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo's directory can be written");
        let place = Place { directory };
        let config = format!(
            "[target]\nclasspath = ['{}']\npackages = ['spool']\n\n\
             [[workload]]\nname = 'spool'\ncommand = 'sh spool.sh {{dir}}'\ntimeout = '100s'\n\n\
             [[workload]]\nname = 'fixed'\ncommand = 'sh spool.sh {{dir}} fixed'\ntimeout = '100s'\n\n\
             [failure]\nworkload = '{workload}'\n{oracle}\n",
            spool_classes().display()
        );
        place.file("hypocenter.toml", config);
        place.file("spool.sh", SCRIPT);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a temporary file can be written");
    }

    /// Starts the tool with arguments that are written with spaces between.
    pub fn start(&self, args: &str) -> Child {
        self.start_of(Path::new(env!("CARGO_BIN_EXE_hypocenter")), args)
    }

    /// The same for another build of the tool.
    fn start_of(&self, tool: &Path, args: &str) -> Child {
        let mut command = Command::new(tool);
        command.args(args.split_whitespace()).current_dir(self.directory.path());
        for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "HYPOCENTER_NODE"]
        {
            command.env_remove(name);
        }
        command.env("JAVA_HOME", &default_jdk().home).env("JAVA", default_jdk().java());
        command.env("CLASSES", spool_classes());
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the tool can be run")
    }

    /// Runs the tool.
    pub fn tool(&self, args: &str) -> Said {
        Place::said(self.start(args))
    }

    /// Runs another build of the tool.
    pub fn tool_of(&self, tool: &Path, args: &str) -> Said {
        Place::said(self.start_of(tool, args))
    }

    fn said(tool: Child) -> Said {
        let output = tool.wait_with_output().expect("the tool can be waited for");
        Said {
            code: output.status.code().expect("the tool is not ended by a signal"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs the tool for the failure log.
    pub fn reproduce(&self, args: &str) -> Said {
        self.file("failure.log", failure_log());
        self.tool(&format!("reproduce --log failure.log {SEARCH} {args}"))
    }

    /// The trials that were started, each with the processes that were its script.
    pub fn started(&self) -> BTreeMap<u64, Vec<String>> {
        let text = fs::read_to_string(self.path("started")).unwrap_or_default();
        let mut all: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for line in text.split_inclusive('\n').filter_map(|it| it.strip_suffix('\n')) {
            let (number, pid) = line.split_once(' ').unwrap_or_else(|| panic!("`{line}` was started"));
            all.entry(number.parse().expect("a number")).or_default().push(pid.to_owned());
        }
        all
    }

    /// The campaigns that there are.
    pub fn campaigns(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("hypocenter-out")).into_iter().flatten().flatten();
        entries.map(|it| it.file_name().into_string().expect("a name")).collect()
    }
}

/// The log of a run with the fault that is to be found.
pub fn failure_log() -> &'static str {
    static LOG: OnceLock<String> = OnceLock::new();
    LOG.get_or_init(|| {
        let place = Place::new();
        let fault = "--throw java.io.IOException --at 5 --workload spool --json";
        let said = place.tool(&format!("inject Outbox.append->FileChannel.write {fault}")).exits(0);
        assert_eq!(said.json()["failure"]["happened"], true, "{:#}", said.json());
        let path = place.path("hypocenter-out/latest/trials/000/logs/main.stdout.log");
        fs::read_to_string(path).expect("the program's log")
    })
}

/// The fault that made the failure log.
#[track_caller]
pub fn assert_true_fault(fault: &Value) {
    let line = line_of("spool/src/spool/Outbox.java", "append");
    let expected = json!({
        "class": "spool.Outbox",
        "method": "append",
        "line": line,
        "exception": "java.io.IOException",
        "callee": "java.nio.channels.FileChannel.write(Ljava/nio/ByteBuffer;)I",
        "occurrence": 5,
        "node": "main",
        "thread": "Sender",
    });
    assert_eq!(*fault, expected);
}
