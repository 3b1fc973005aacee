//! Paths, and commands for a JVM without hooks, with hooks or with Byteman.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use hypocenter_engine::Evidence;
use hypocenter_lab::{evidence_of, finished};

use crate::java::{self, Java};

/// See the module.
pub struct Bench {
    /// The repository.
    pub root: PathBuf,
    /// Directory of this run; removed at its end.
    pub scratch: PathBuf,
    /// JDK 17 and 25, or what else there is; one at least.
    pub jdks: Vec<Java>,
    runs: AtomicU32,
}

/// The versions that the goals are for.
const FEATURES: [u16; 2] = [17, 25];

impl Bench {
    pub fn new() -> Bench {
        let root =
            fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).expect("the repository");
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("overhead-{}", std::process::id()));
        fs::create_dir_all(&scratch).expect("a directory for the benchmark");
        let mut jdks: Vec<Java> = Vec::new();
        for java in java::all().into_iter().filter(|it| it.home.join("bin/javac").is_file()) {
            if FEATURES.contains(&java.feature) && jdks.iter().all(|it| it.feature != java.feature) {
                jdks.push(java);
            }
        }
        if jdks.is_empty() {
            jdks.extend(java::all().into_iter().next());
        }
        assert!(!jdks.is_empty(), "{}", java::INSTALL_HINT);
        jdks.sort_by_key(|it| it.feature);
        Bench { root, scratch, jdks, runs: AtomicU32::new(0) }
    }

    /// A directory that no other run has.
    pub fn fresh(&self, name: &str) -> PathBuf {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let path = self.scratch.join(format!("{name}-{number}"));
        fs::create_dir_all(&path).expect("a directory for a run");
        path
    }

    /// Conditions of the figures beside the program.
    pub fn machine(&self) -> String {
        let cores = std::thread::available_parallelism().map_or(0, |it| it.get());
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').take(3).collect::<Vec<_>>().join(" ");
        format!("{cores} cores, load average at the end {load}")
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// Standard output of a command, and the trial's directory if it ran under the tool.
pub struct Finished {
    pub stdout: String,
    pub trial: Option<PathBuf>,
    directory: Option<PathBuf>,
}

impl Finished {
    /// The numbers behind a word at the start of a line.
    pub fn numbers(&self, word: &str) -> impl Iterator<Item = Vec<f64>> {
        self.stdout.lines().filter_map(move |line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(word)).then(|| words.filter_map(|it| it.parse().ok()).collect())
        })
    }

    /// Records of the agent.
    pub fn evidence(&self) -> Option<Evidence> {
        let trial = self.trial.as_ref()?;
        evidence_of(trial, &finished(trial).ok()??).ok()
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        // A lossless trace has hundreds of megabytes.
        if let Some(directory) = &self.directory {
            let _ = fs::remove_dir_all(directory);
        }
    }
}

/// Runs a command and takes its stdout; what it says on stderr is shown if it failed.
pub fn run(mut command: Command) -> Option<Finished> {
    let output = command.stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Some(Finished {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            trial: None,
            directory: None,
        }),
        Ok(output) => {
            eprintln!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            eprintln!("{command:?}: {error}");
            None
        }
    }
}

impl Bench {
    /// Runs a command under `hypocenter run` with these flags.
    pub fn hooked(
        &self,
        flags: &[String],
        variables: &[(&str, String)],
        command: &[String],
    ) -> Option<Finished> {
        let out = self.fresh("out");
        let mut tool = Command::new(env!("CARGO_BIN_EXE_hypocenter"));
        tool.arg("run").args(flags).arg("--out").arg(&out).arg("--").args(command);
        // A sandbox shows of `/tmp` what is below the current directory: of a checkout there, all of it.
        tool.current_dir(&self.root);
        tool.envs(variables.iter().map(|(name, value)| (name, value)));
        let output = tool.stdin(Stdio::null()).output().expect("the tool can be run");
        // A plan whose fault never comes ends with 2.
        if !matches!(output.status.code(), Some(0 | 2)) {
            eprintln!("{tool:?}\n{}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Finished {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            trial: Some(out.join("latest/trials/000")),
            directory: Some(out),
        })
    }
}

/// Words for a command.
pub fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}
