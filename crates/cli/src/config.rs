//! `hypocenter.toml`: the target, its workloads, and the failure that is looked for.

use std::path::{Path, PathBuf};

use hypocenter_plan::{Oracle, Workload};
use serde::Deserialize;

use crate::failure::Failure;

/// The configuration as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The classes.
    #[serde(default)]
    pub target: TargetConfig,
    /// What can be run.
    #[serde(default)]
    pub workload: Vec<Workload>,
    /// What is looked for.
    pub failure: Option<FailureConfig>,
    /// The directory that relative paths begin at: that of the file.
    #[serde(skip)]
    pub base: PathBuf,
}

/// The classes of the target.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetConfig {
    /// Jars and directories, relative to the file.
    #[serde(default)]
    pub classpath: Vec<String>,
    /// The packages that are the system; everything else is a library.
    #[serde(default)]
    pub packages: Vec<String>,
}

/// A failure of production.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureConfig {
    /// The workload that comes near it.
    pub workload: Option<String>,
    /// Its logs, one a node, or one.
    #[serde(default, rename = "logs")]
    pub _logs: Vec<String>,
    /// What says that it happened.
    pub oracle: Option<Oracle>,
}

/// The file that need not be there.
pub const DEFAULT_FILE: &str = "hypocenter.toml";

impl Config {
    /// Reads the configuration. The default file need not be there; one that was named must be.
    pub fn read(path: &Path) -> Result<Config, Failure> {
        let base = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let base = base.canonicalize().unwrap_or_else(|_| base.to_owned());
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && path == Path::new(DEFAULT_FILE) => {
                return Ok(Config { base, ..Config::default() });
            }
            Err(error) => {
                return Err(Failure::usage(format!("{}: {error}", path.display()))
                    .hint("give another file with --config, or write one with `hypocenter init`"));
            }
        };
        let mut config: Config = toml::from_str(&text).map_err(|error: toml::de::Error| {
            let before =
                error.span().map_or(&[] as &[u8], |span| &text.as_bytes()[..span.start.min(text.len())]);
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            Failure::usage(format!("{}:{line}: {}", path.display(), error.message().replace('\n', ", ")))
                .hint("`hypocenter init` writes a file with every key explained")
        })?;
        config.base = base;
        config.check().map_err(|why| {
            Failure::usage(format!("{}: {why}", path.display()))
                .hint("`hypocenter init` writes a file with every key explained")
        })?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        for (number, workload) in self.workload.iter().enumerate() {
            workload.check()?;
            if self.workload[..number].iter().any(|it| it.name == workload.name) {
                return Err(format!("two workloads are called `{}`", workload.name));
            }
        }
        let Some(failure) = &self.failure else { return Ok(()) };
        if let Some(oracle) = &failure.oracle {
            hypocenter_lab::oracle::check(oracle).map_err(|error| format!("[failure] oracle: {error}"))?;
        }
        match &failure.workload {
            Some(name) if !self.workload.iter().any(|it| &it.name == name) => {
                Err(format!("[failure] workload: there is no workload `{name}`"))
            }
            _ => Ok(()),
        }
    }

    /// A workload by its name, or the only one.
    pub fn workload(&self, name: Option<&str>, path: &Path) -> Result<&Workload, Failure> {
        let names: Vec<&str> = self.workload.iter().map(|it| it.name.as_str()).collect();
        let found = match name {
            Some(name) => self.workload.iter().find(|it| it.name == name),
            None if names.len() == 1 => self.workload.first(),
            None => None,
        };
        let known = if names.is_empty() {
            format!("{} has none", path.display())
        } else {
            format!("{} has {}", path.display(), names.join(", "))
        };
        found.ok_or_else(|| {
            let what = match name {
                Some(name) => format!("no workload is called `{name}`: {known}"),
                None => format!("nothing to run: no command behind `--`, and of workloads {known}"),
            };
            Failure::usage(what).hint("name one of them, or give a command behind `--`")
        })
    }

    /// The oracle of a workload: that of the failure, if it is about this workload.
    pub fn oracle_of(&self, workload: &str) -> Option<&Oracle> {
        let failure = self.failure.as_ref()?;
        failure.oracle.as_ref().filter(|_| failure.workload.as_deref().is_none_or(|it| it == workload))
    }
}
