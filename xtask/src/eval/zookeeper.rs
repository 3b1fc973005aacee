//! A ZooKeeper cluster under Hypocenter: three servers and a client, started by `eval/zookeeper-common/cluster.sh`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;

use crate::failure::Result;
use crate::jdk::{self, Jdk};
use crate::process::{self, Job, fresh_directory};
use crate::tool::{Done, Invocation, Tool, words};
use crate::{javac, maven, network, root};

/// `cluster.sh` has limits of its own, which together are shorter.
const LIMIT: Duration = Duration::from_secs(300);

/// The versions that there is a `pom.xml` for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Version {
    #[value(name = "3.6.2")]
    V3_6_2,
    #[value(name = "3.5.2-alpha")]
    V3_5_2Alpha,
}

impl Version {
    pub fn number(self) -> &'static str {
        match self {
            Version::V3_6_2 => "3.6.2",
            Version::V3_5_2Alpha => "3.5.2-alpha",
        }
    }
}

/// A ZooKeeper that can be run.
pub struct ZooKeeper {
    lib: PathBuf,
    classes: PathBuf,
}

/// One run of a cluster.
pub struct ClusterRun<'a> {
    pub jdk: &'a Jdk,
    pub verb: &'a str,
    pub args: &'a [&'a str],
    /// Flags for every JVM, behind those of the agent.
    pub jvm_flags: &'a str,
    /// The value that `JAVA_TOOL_OPTIONS` has before the tool adds its agent.
    pub java_tool_options: Option<&'a str>,
    /// Emptied first.
    pub directory: &'a Path,
}

/// Reports of a cluster about itself.
pub struct Cluster {
    pub done: Done,
    pub leader: String,
    /// `200/200`.
    pub creates: String,
    pub verify_errors: String,
    /// The directory of the servers' and the client's logs.
    pub logs: PathBuf,
}

impl ZooKeeper {
    /// Fetches and compiles what is not there.
    pub fn ready(version: Version) -> Result<ZooKeeper> {
        let lib = maven::fetch(&format!("zookeeper-{}", version.number()), "lib", None)?;
        let classes = lib.with_file_name("classes");
        let source = root().join("eval/zookeeper-common/src/hypocenter/eval/ZkClient.java");
        javac::compile(&jdk::compiler()?, &[source], &format!("{}/*", lib.display()), &classes)?;
        Ok(ZooKeeper { lib, classes })
    }

    /// Runs a cluster without the tool, which must work, and returns the directory of its logs.
    pub fn run_bare(&self, jdk: &Jdk, jvm_flags: &str, directory: &Path) -> Result<PathBuf> {
        fresh_directory(directory)?;
        let logs = directory.join("cluster");
        let mut command = network::isolated(script());
        command.current_dir(directory).env_remove("JAVA_TOOL_OPTIONS");
        command.envs(self.variables(jdk, jvm_flags, &logs));
        let (stdout, stderr) = (directory.join("stdout.txt"), directory.join("stderr.txt"));
        Job { command, stdout: &stdout, stderr: &stderr, limit: LIMIT }.succeed()?;
        Ok(logs)
    }

    fn variables(&self, jdk: &Jdk, jvm_flags: &str, logs: &Path) -> Vec<(&'static str, OsString)> {
        vec![
            ("ZK_LIB", self.lib.clone().into()),
            ("ZK_CLASSES", self.classes.clone().into()),
            ("WORK", logs.into()),
            ("JAVA", jdk.java().into()),
            // The JDK whose classes the tool looks at, since the command does not show one.
            ("JAVA_HOME", jdk.home.clone().into()),
            ("EXTRA_JVM", jvm_flags.into()),
        ]
    }

    /// Runs a cluster from nothing to its end.
    pub fn run(&self, tool: &Tool, run: ClusterRun<'_>) -> Result<Cluster> {
        fresh_directory(run.directory)?;
        let logs = run.directory.join("cluster");
        let mut args = words(run.args);
        args.extend(words(["--packages", "org.apache.zookeeper,org.apache.jute", "--classpath"]));
        args.push(format!("{}:{}/*", self.classes.display(), self.lib.display()).into());
        let mut variables = self.variables(run.jdk, run.jvm_flags, &logs);
        variables.extend(run.java_tool_options.map(|it| ("JAVA_TOOL_OPTIONS", it.into())));
        let done = tool.run(Invocation {
            verb: run.verb,
            args,
            command: words([script()]),
            variables,
            directory: run.directory,
            current_directory: run.directory,
            limit: LIMIT,
        })?;
        let said = process::lossy(&done.stdout());
        let after = |key: &str| {
            said.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("none").trim().to_owned()
        };
        Ok(Cluster {
            leader: after("leader "),
            creates: after("creates "),
            verify_errors: after("verify errors "),
            logs,
            done,
        })
    }
}

fn script() -> PathBuf {
    root().join("eval/zookeeper-common/cluster.sh")
}

impl Cluster {
    /// Tests whether every znode was created and no class was broken.
    pub fn is_whole(&self) -> bool {
        let all = self.creates.split_once('/').is_some_and(|(done, all)| done == all && done != "0");
        all && self.verify_errors == "0"
    }
}
