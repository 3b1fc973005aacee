//! `hypocenter.toml`: the target, its workloads, the failure to reproduce, and settings of the search.

use std::path::{Path, PathBuf};

use hypocenter_explore::{FaultName, Known};
use hypocenter_logs::Layout;
use hypocenter_plan::{Oracle, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::failure::Failure;
use crate::search_config::{CascadeConfig, ExplainConfig, ExploreConfig, PredictConfig, ReproduceConfig};

/// Content of the configuration file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Classes of the target.
    #[serde(default)]
    pub target: TargetConfig,
    /// Workloads that can be run.
    #[serde(default)]
    #[schemars(with = "Vec<Workload>")]
    pub workload: Vec<Spanned<Workload>>,
    /// Failure to reproduce.
    pub failure: Option<FailureConfig>,
    /// Settings of `reproduce`.
    #[serde(default)]
    pub reproduce: ReproduceConfig,
    /// Settings of `explore`.
    #[serde(default)]
    pub explore: ExploreConfig,
    /// Settings of `cascade`.
    #[serde(default)]
    pub cascade: CascadeConfig,
    /// Settings of `predict`.
    #[serde(default)]
    pub predict: PredictConfig,
    /// Settings of `explain`.
    #[serde(default)]
    pub explain: ExplainConfig,
    /// Directory of the file, to which paths are relative.
    #[serde(skip)]
    pub base: PathBuf,
    /// Content as tables without places in the text.
    #[serde(skip)]
    tables: toml::Table,
}

/// Classes of the target.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetConfig {
    /// Jars and directories, relative to the file.
    #[serde(default)]
    pub classpath: Vec<String>,
    /// Packages of the system; everything else is a library.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Additional types whose implementations are tasks, besides those of the JDK.
    #[serde(default)]
    pub task_types: Vec<String>,
}

/// Finding that has already been analyzed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownConfig {
    /// Site of the fault, in the syntax of `inject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Method on the stack of the fault, as `package.Class.method`; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Kind of the fault, `exception` or `delay`; any kind if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Explanation of the finding.
    pub why: String,
}

impl KnownConfig {
    /// Converts the entry, or explains its error.
    pub fn read(&self) -> Result<Known, String> {
        if self.site.is_none() && self.stack.is_none() {
            return Err("a known finding needs a `site`, or a method of its `stack`".to_owned());
        }
        let fault = match self.fault.as_deref() {
            None => None,
            Some("exception") => Some(FaultName::Exception),
            Some("delay") => Some(FaultName::Delay),
            Some(other) => return Err(format!("unknown fault `{other}`, use `exception` or `delay`")),
        };
        let site = self.site.as_deref().map(str::parse).transpose();
        let site = site.map_err(|error: hypocenter_program::PatternError| error.to_string())?;
        Ok(Known { site, stack: self.stack.clone(), fault, why: self.why.clone() })
    }
}

/// Failure to reproduce.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureConfig {
    /// Workload that resembles the conditions of the failure.
    #[schemars(with = "Option<String>")]
    pub workload: Option<Spanned<String>>,
    /// Logs of the failure, one for each node, or a single one.
    #[serde(default)]
    pub logs: Vec<String>,
    /// Layout of the logs as an appender pattern of log4j or logback (`%d [%t] %-5p %c - %m%n`). If it is absent, the layout is
    /// detected.
    #[schemars(with = "Option<String>")]
    pub layout: Option<Spanned<String>>,
    /// Oracle that recognizes the failure.
    #[schemars(with = "Option<Oracle>")]
    pub oracle: Option<Spanned<Oracle>>,
}

/// Default name of the file, which is optional.
pub const DEFAULT_FILE: &str = "hypocenter.toml";

impl Config {
    /// Reads the configuration. The default file is optional; a file that was named must exist.
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
                .hint("`hypocenter guide configuration` explains every key, and `hypocenter schema config` prints a schema for editors")
        };
        let mut config: Config = toml::from_str(&text).map_err(|error| {
            let at = error.span().map(|it| it.start);
            match error.message() {
                "missing field `name`" => failed(at, &nameless(&text, at.unwrap_or(0))),
                other => failed(at, other),
            }
        })?;
        config.base = base;
        config.tables = text.parse().unwrap_or_default();
        config.check().map_err(|(at, why)| failed(Some(at), &why))?;
        Ok(config)
    }

    /// Section of the file as a table, empty if it is absent.
    pub fn section(&self, name: &str) -> toml::Table {
        self.tables.get(name).and_then(toml::Value::as_table).cloned().unwrap_or_default()
    }

    /// Checks the values; an error has its place in the text.
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
        // The keys have no places in the text: their messages name them.
        self.reproduce.check().map_err(|why| (0, format!("[reproduce] {why}")))?;
        self.explore.check().map_err(|why| (0, format!("[explore] {why}")))?;
        self.cascade.check().map_err(|why| (0, format!("[cascade] {why}")))?;
        self.predict.check().map_err(|why| (0, format!("[predict] {why}")))?;
        self.explain.check().map_err(|why| (0, format!("[explain] {why}")))?;
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
                    "[failure] workload: unknown workload `{}`, known: {known}{meant}",
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
                Some(name) => format!("unknown workload `{name}`: there is no {} here", path.display()),
                None => {
                    format!("nothing to run: no command after `--`, and no {} here", path.display())
                }
            };
            return Err(Failure::usage(what).hint(self.elsewhere()));
        }
        found.ok_or_else(|| {
            let (file, all) = (path.display(), names.join(", "));
            let what = match (name, names.as_slice()) {
                (Some(name), []) => format!("unknown workload `{name}`: {file} has no workload"),
                (Some(name), _) => format!("unknown workload `{name}`: {file} has {all}"),
                (None, []) => format!("nothing to run: no command after `--`, and {file} has no workload"),
                (None, _) => format!("{file} has several workloads, and none was given: {all}"),
            };
            Failure::usage(what).hint(match (names.first(), name.and_then(|it| meant(it, &names))) {
                (None, _) => "add a [[workload]] to it, or give a command after `--`".to_owned(),
                (_, Some(meant)) => format!("did you mean `{meant}`?"),
                (Some(first), None) => {
                    format!("give one of them, as in `--workload {first}`, or a command after `--`")
                }
            })
        })
    }

    /// Advice if there is no file: a directory above may have one.
    fn elsewhere(&self) -> String {
        let above = self.base.ancestors().skip(1).map(|it| it.join(DEFAULT_FILE)).find(|it| it.is_file());
        match above {
            Some(file) => format!("{} exists: run the command there, or give --config", file.display()),
            None => "`hypocenter init` writes one; or give a command after `--`".to_owned(),
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

/// Similarity of two names from which one may be meant by the other.
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
