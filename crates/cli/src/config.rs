//! `hypocenter.toml`: the target, its workloads, and the failure that is looked for.

use std::path::{Path, PathBuf};

use hypocenter_explore::{FaultName, Known};
use hypocenter_logs::Layout;
use hypocenter_plan::{Oracle, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::failure::Failure;

/// The configuration as it is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The classes of the target.
    #[serde(default)]
    pub target: TargetConfig,
    /// What can be run.
    #[serde(default)]
    #[schemars(with = "Vec<Workload>")]
    pub workload: Vec<Spanned<Workload>>,
    /// What is looked for.
    pub failure: Option<FailureConfig>,
    /// What `explore` should know.
    #[serde(default)]
    pub explore: ExploreConfig,
    /// The directory that relative paths begin at: that of the file.
    #[serde(skip)]
    pub base: PathBuf,
}

/// The classes of the target.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetConfig {
    /// Jars and directories, relative to the file.
    #[serde(default)]
    pub classpath: Vec<String>,
    /// The packages that are the system; everything else is a library.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Types whose implementations are tasks, beside those of the JDK.
    #[serde(default)]
    pub task_types: Vec<String>,
}

/// What `explore` should know.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExploreConfig {
    /// Findings that are not reported again.
    #[serde(default)]
    #[schemars(with = "Vec<KnownConfig>")]
    pub known: Vec<Spanned<KnownConfig>>,
}

/// A finding that somebody has looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownConfig {
    /// The call whose fault it is, as for `inject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// A method on the way there, as `package.Class.method`; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// `exception` or `delay`; any if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// What is known of it.
    pub why: String,
}

impl KnownConfig {
    /// What it says, or what is wrong with it.
    pub fn read(&self) -> Result<Known, String> {
        if self.site.is_none() && self.stack.is_none() {
            return Err("give the `site` of the known finding, or a method of its `stack`".to_owned());
        }
        let fault = match self.fault.as_deref() {
            None => None,
            Some("exception") => Some(FaultName::Exception),
            Some("delay") => Some(FaultName::Delay),
            Some(other) => return Err(format!("fault `{other}`: there are `exception` and `delay`")),
        };
        let site = self.site.as_deref().map(str::parse).transpose();
        let site = site.map_err(|error: hypocenter_program::PatternError| error.to_string())?;
        Ok(Known { site, stack: self.stack.clone(), fault, why: self.why.clone() })
    }
}

/// A failure of production.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureConfig {
    /// The workload that comes near it.
    #[schemars(with = "Option<String>")]
    pub workload: Option<Spanned<String>>,
    /// Its logs, one a node, or one.
    #[serde(default)]
    pub logs: Vec<String>,
    /// The pattern of the appender that wrote them, as log4j and logback have it (`%d [%t] %-5p %c - %m%n`); without it, it is
    /// detected.
    #[schemars(with = "Option<String>")]
    pub layout: Option<Spanned<String>>,
    /// What says that it happened.
    #[schemars(with = "Option<Oracle>")]
    pub oracle: Option<Spanned<Oracle>>,
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
        let failed = |at: Option<usize>, why: &str| {
            let before = &text.as_bytes()[..at.unwrap_or(0).min(text.len())];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            Failure::usage(format!("{}:{line}: {}", path.display(), why.replace('\n', ", ")))
                .hint("`hypocenter guide configuration` explains every key, and `hypocenter schema config` has them for editors")
        };
        let mut config: Config = toml::from_str(&text).map_err(|error| {
            let at = error.span().map(|it| it.start);
            match error.message() {
                "missing field `name`" => failed(at, &nameless(&text, at.unwrap_or(0))),
                other => failed(at, other),
            }
        })?;
        config.base = base;
        config.check().map_err(|(at, why)| failed(Some(at), &why))?;
        Ok(config)
    }

    /// What is wrong, with its place in the text.
    fn check(&self) -> Result<(), (usize, String)> {
        for (number, it) in self.workload.iter().enumerate() {
            let at = |why| (it.span().start, why);
            it.as_ref().check().map_err(at)?;
            hypocenter_lab::check_conditions(it.as_ref()).map_err(|why| at(why.to_string()))?;
            if self.workload[..number].iter().any(|other| other.as_ref().name == it.as_ref().name) {
                return Err(at(format!("two workloads are called `{}`", it.as_ref().name)));
            }
        }
        for it in &self.explore.known {
            it.as_ref().read().map_err(|why| (it.span().start, why))?;
        }
        let Some(failure) = &self.failure else { return Ok(()) };
        if let Some(oracle) = &failure.oracle {
            hypocenter_lab::oracle::check(oracle.as_ref())
                .map_err(|why| (oracle.span().start, why.to_string()))?;
        }
        if let Some(layout) = &failure.layout {
            Layout::compile(layout.as_ref()).map_err(|why| (layout.span().start, why.to_string()))?;
        }
        match &failure.workload {
            Some(name) if !self.workload.iter().any(|it| it.as_ref().name == *name.as_ref()) => {
                let names: Vec<&str> = self.workload.iter().map(|it| it.as_ref().name.as_str()).collect();
                let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let meant = meant(name.as_ref(), &names);
                let meant = meant.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
                let why = format!(
                    "[failure] workload: there is no workload `{}`, there is {known}{meant}",
                    name.as_ref()
                );
                Err((name.span().start, why))
            }
            _ => Ok(()),
        }
    }

    /// A workload by its name, or the only one.
    pub fn workload(&self, name: Option<&str>, path: &Path) -> Result<&Workload, Failure> {
        let all = || self.workload.iter().map(|it| it.as_ref());
        let names: Vec<&str> = all().map(|it| it.name.as_str()).collect();
        let found = match name {
            Some(name) => all().find(|it| it.name == name),
            None if names.len() == 1 => all().next(),
            None => None,
        };
        if !path.exists() {
            let what = match name {
                Some(name) => format!("no workload is called `{name}`: there is no {} here", path.display()),
                None => {
                    format!("nothing to run: no command behind `--`, and there is no {} here", path.display())
                }
            };
            return Err(Failure::usage(what).hint(self.elsewhere()));
        }
        found.ok_or_else(|| {
            let (file, all) = (path.display(), names.join(", "));
            let what = match (name, names.as_slice()) {
                (Some(name), []) => format!("no workload is called `{name}`: {file} has none"),
                (Some(name), _) => format!("no workload is called `{name}`: {file} has {all}"),
                (None, []) => format!("nothing to run: no command behind `--`, and {file} has no workload"),
                (None, _) => format!("{file} has several workloads, and none is named: {all}"),
            };
            Failure::usage(what).hint(match (names.first(), name.and_then(|it| meant(it, &names))) {
                (None, _) => "add a [[workload]] to it, or give a command behind `--`".to_owned(),
                (_, Some(meant)) => format!("did you mean `{meant}`?"),
                (Some(first), None) => {
                    format!("name one of them, as in `--workload {first}`, or give a command behind `--`")
                }
            })
        })
    }

    /// What to do where there is no file: a directory above may have one.
    fn elsewhere(&self) -> String {
        let above = self.base.ancestors().skip(1).map(|it| it.join(DEFAULT_FILE)).find(|it| it.is_file());
        match above {
            Some(file) => format!("{} is one: run it there, or give --config", file.display()),
            None => "`hypocenter init` writes one; or give a command behind `--`".to_owned(),
        }
    }

    /// The layout of the failure's logs, where it is given.
    pub fn layout(&self) -> Option<&str> {
        self.failure.as_ref()?.layout.as_ref().map(|it| it.as_ref().as_str())
    }

    /// The workload in which the failure is looked for, where it is named.
    pub fn workload_of_failure(&self) -> Option<&str> {
        self.failure.as_ref()?.workload.as_ref().map(|it| it.as_ref().as_str())
    }

    /// The oracle of a workload: that of the failure, if it is about this workload.
    pub fn oracle_of(&self, workload: &str) -> Option<&Oracle> {
        let failure = self.failure.as_ref()?;
        let about = failure.workload.as_ref().is_none_or(|it| it.as_ref() == workload);
        failure.oracle.as_ref().map(|it| it.as_ref()).filter(|_| about)
    }

    /// The workload that the oracle of the failure is about, if it is another than this.
    pub fn oracle_is_for(&self, workload: &str) -> Option<&str> {
        self.failure.as_ref().filter(|it| it.oracle.is_some())?;
        self.workload_of_failure().filter(|it| *it != workload)
    }
}

/// The message for an entry at this place of the text that has no name.
fn nameless(text: &str, at: usize) -> String {
    let line = text.get(at..).and_then(|it| it.lines().next()).unwrap_or_default();
    let header = line.split('#').next().unwrap_or_default().trim();
    let whose = match header.strip_prefix("[[").and_then(|it| it.strip_suffix("]]")) {
        Some(table) => format!("this [[{table}]] has"),
        None => "this entry has".to_owned(),
    };
    format!("{whose} no name; add a line such as `name = \"main\"` to it")
}

/// How alike two names must be, so that one may be meant by the other.
const ALIKE: f64 = 0.8;

/// The name that may be meant by one that there is not.
pub fn meant<'n>(name: &str, names: &[&'n str]) -> Option<&'n str> {
    let alike = |it: &str| strsim::jaro_winkler(&it.to_lowercase(), &name.to_lowercase());
    let near = names.iter().map(|it| (alike(it), *it)).filter(|it| it.0 >= ALIKE);
    near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_one_may_mean_it() {
        let names = ["tests", "ArenaTest", "ArenaTest-direct"];
        let check = |name: &str, expected: Option<&str>| assert_eq!(meant(name, &names), expected, "{name}");
        check("ArenaTset", Some("ArenaTest"));
        check("arenatest-direct", Some("ArenaTest-direct"));
        check("test", Some("tests"));
        check("cluster", None);
    }
}
