//! What a campaign was asked to do: kept as `campaign.json`, so that it can be resumed, replayed, or carried out elsewhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hypocenter_lab::files;
use hypocenter_plan::{CommandLine, Network, Oracle, Plan, Span, Workload};
use serde::{Deserialize, Serialize};

use crate::args::{LabArgs, NetworkChoice, TargetArgs};
use crate::config::Config;
use crate::config::KnownConfig;
use crate::failure::Failure;
use crate::screen;
use crate::store::Called;
use crate::target::TargetSpec;

/// The version of `campaign.json`.
const REQUEST_VERSION: u32 = 1;

/// The verb whose trials are all the same.
pub const REPLAY: &str = "replay";

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The version of the document.
    pub version: u32,
    /// The verb that began the campaign.
    pub verb: String,
    /// Its seed.
    pub seed: u64,
    /// How many trials.
    pub repeat: u64,
    /// Where relative paths begin.
    pub base: PathBuf,
    /// The node that the workload's one command is.
    pub main: String,
    /// The classes.
    pub target: TargetSpec,
    /// What is run.
    pub workload: Workload,
    /// What says that the failure happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<Oracle>,
    /// The plan of every trial, but for its seed.
    pub plan: Plan,
    /// The plan that says which sites get hooks, where it is another: a replay has the hooks of its trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Box<Plan>>,
    /// How long a trial may take, whatever the workload says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// What an engine is to do, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<ReproduceRequest>,
    /// Likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explore: Option<ExploreRequest>,
}

/// What `explore` is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExploreRequest {
    /// By which policy.
    pub policy: String,
    /// What requests are grouped by.
    pub key: String,
    /// Which kinds of faults are tried.
    pub faults: Vec<String>,
    /// How long a delay lasts.
    pub delay_ms: u64,
    /// Whether calls that only work in memory are among them.
    pub in_memory: bool,
    /// Types whose implementations are tasks, beside those of the JDK.
    pub task_types: Vec<String>,
    /// Whether nothing is injected before all nodes are ready.
    pub when_ready: bool,
    /// Whether helper methods of tasks have states of their own.
    pub helpers: bool,
    /// Injections that a state gets.
    pub budget: u32,
    /// The chance that a trial passes over all requests of its state.
    pub epsilon: f64,
    /// The most trials.
    pub trials: u64,
    /// Runs without a fault at the start.
    pub normal_runs: u64,
    /// Replays of each finding.
    pub replays: u64,
    /// Trials that each finding is compared with, of each kind.
    pub neighbours: u64,
    /// Findings that are not reported again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownConfig>,
    /// The method that a finding has on its stack, if one is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// What `reproduce` is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReproduceRequest {
    /// The logs of the failure.
    pub logs: Vec<FailureLog>,
    /// Their layout, where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// By which strategy.
    pub strategy: String,
    /// How many faults are tried together at first.
    pub window: usize,
    /// What an observable that was shown loses.
    pub step: u32,
    /// The most rounds.
    pub budget: u64,
    /// Whether exceptions are tried.
    pub exceptions: bool,
    /// Whether delays are tried, and how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Runs without a fault at the start.
    pub normal_runs: u64,
    /// Replays of what was found.
    pub replays: u64,
    /// Rounds after which a second fault is searched for too.
    pub patience: u64,
    /// Rounds that follow where what was found leaves a warning unexplained that other faults bring.
    #[serde(default)]
    pub doubt: u64,
    /// Whether to go on after a success.
    pub keep_going: bool,
    /// Which strategies are compared, where that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<CompareRequest>,
}

/// Strategies to compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompareRequest {
    /// Their names.
    pub strategies: Vec<String>,
    /// With how many seeds each.
    pub seeds: u64,
    /// Campaigns whose trials are taken for what they are.
    pub recorded: Vec<PathBuf>,
    /// Whether every fault at every instance is run before the games.
    #[serde(default)]
    pub every_instance: bool,
    /// The most trials beyond those.
    pub trials: u64,
}

/// A log of the failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureLog {
    /// The node that wrote it: the name of the file without what is behind its first dot.
    pub node: String,
    /// The file.
    pub path: PathBuf,
    /// Stands for what is in it, so that a campaign does not go on with another log.
    pub digest: u64,
}

/// What is to be run, before it is known under which plan.
#[derive(Debug)]
pub struct Chosen {
    pub base: PathBuf,
    pub target: TargetSpec,
    pub workload: Workload,
    pub oracle: Option<Oracle>,
    /// The workload that the oracle of the failure is about, where it is another.
    not_asked: Option<String>,
}

impl Chosen {
    /// The command behind `--`, or a workload of the configuration.
    pub fn of(args: &TargetArgs, name: Option<&str>) -> Result<Chosen, Failure> {
        let config = Config::read(&args.config)?;
        let name = args.named.as_deref().or(name);
        let cwd = std::env::current_dir()
            .map_err(|error| Failure::usage(format!("the current directory cannot be read: {error}")))?;
        let (mut workload, base) = match (args.command.as_slice(), name) {
            ([], name) => (config.workload(name, &args.config)?.clone(), config.base.clone()),
            ([_, ..], Some(name)) => {
                return Err(Failure::usage(format!("both a workload (`{name}`) and a command are given"))
                    .hint("leave one of them out"));
            }
            (words, None) => {
                let command = Some(CommandLine::of_words(words));
                (Workload { name: "command".to_owned(), command, ..Workload::default() }, cwd)
            }
        };
        if let Some(network) = args.lab.network {
            workload.network = match network {
                NetworkChoice::Private => Network::Private,
                NetworkChoice::Host => Network::Host,
            };
        }
        let of_nodes = workload.node.iter().filter_map(|it| it.command.as_ref());
        let first = workload.command.iter().chain(of_nodes).next();
        let words = first.map_or(Ok(Vec::new()), |it| it.words("")).map_err(Failure::usage)?;
        let directory = workload.directory.as_ref().map_or_else(|| base.clone(), |it| base.join(it));
        let target = TargetSpec::of(args, &config, &words, &directory)?;
        let (mut of_failure, mut not_asked) = (None, None);
        if args.command.is_empty() {
            of_failure = config.oracle_of(&workload.name).cloned();
            not_asked = config.oracle_is_for(&workload.name).map(str::to_owned);
        }
        let chosen = Chosen { base, target, workload, oracle: None, not_asked };
        match args.oracle.clone().or(of_failure) {
            Some(oracle) => chosen.judged_by(oracle, &args.node_name),
            None => Ok(chosen),
        }
    }

    /// The same, and this says when the failure has happened. A process without a name of its own is called `main`.
    pub fn judged_by(self, oracle: Oracle, main: &str) -> Result<Chosen, Failure> {
        check_names(&oracle, &self.workload, main)?;
        check_holds(&oracle)?;
        Ok(Chosen { oracle: Some(oracle), ..self })
    }

    /// Says so where no oracle is asked because that of the failure is for another workload.
    pub fn tell_not_asked(&self) {
        if let Some(other) = self.not_asked.as_ref().filter(|_| self.oracle.is_none()) {
            let what = format!("none is asked: that of [failure] is for the workload {other}");
            screen::line("oracle", &screen::clean(&what));
        }
    }

    /// The request for trials of it under a plan.
    pub fn request(self, verb: &str, args: &TargetArgs, plan: Plan, repeat: u64) -> Request {
        Request {
            version: REQUEST_VERSION,
            verb: verb.to_owned(),
            seed: plan.seed,
            repeat,
            base: self.base,
            main: args.node_name.clone(),
            target: self.target,
            workload: self.workload,
            oracle: self.oracle,
            plan,
            hooks: None,
            timeout: args.lab.timeout.map(Span),
            reproduce: None,
            explore: None,
        }
    }
}

impl Request {
    /// The plans of the trials. The seed of each follows from that of the campaign and its number; a replay is the same
    /// trial again.
    pub fn plans(&self) -> Vec<Plan> {
        let step = if self.verb == REPLAY { 0 } else { 1 };
        let plan = |number: u64| Plan { seed: self.seed.wrapping_add(step * number), ..self.plan.clone() };
        (0..self.repeat).map(plan).collect()
    }

    /// The plan that says which sites get hooks.
    pub fn hooked(&self) -> &Plan {
        self.hooks.as_deref().unwrap_or(&self.plan)
    }

    /// The verb that goes on with it: plans that were only to be carried out are so by `run`, whoever made them.
    pub fn resumed_by(&self) -> &'static str {
        match (self.verb.as_str(), &self.reproduce, &self.explore) {
            ("reproduce", Some(_), _) => "reproduce",
            ("explore", _, Some(_)) => "explore",
            _ => "run",
        }
    }

    /// Whether there are several nodes, so that a fault alone does not say on which it is.
    pub fn has_several_nodes(&self) -> bool {
        let Workload { command, node, client, .. } = &self.workload;
        let clients = client.iter().filter(|it| it.agent).count();
        usize::from(command.is_some()) + node.len() + clients > 1 || self.plan.nodes.len() > 1
    }

    /// Where a campaign keeps it.
    pub fn path(campaign: &Path) -> PathBuf {
        campaign.join("campaign.json")
    }

    /// Keeps the request in the directory of a new campaign.
    pub fn write(&self, campaign: &Path) -> Result<(), Failure> {
        let path = Request::path(campaign);
        let json = serde_json::to_string_pretty(self).expect("a request is always JSON") + "\n";
        files::replace(&path, json.as_bytes())
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())).hint("free some space"))
    }

    /// The request of a campaign.
    pub fn read(campaign: &Path) -> Result<Request, Failure> {
        let path = Request::path(campaign);
        let failed = |why: String| {
            Failure::usage(format!("{}: {why}", path.display()))
                .hint("name a campaign below --out, such as run-0001 or latest")
        };
        let text = fs::read_to_string(&path)
            .map_err(|error| gone(campaign).unwrap_or_else(|| failed(error.to_string())))?;
        let document: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        let version = document.get("version").and_then(serde_json::Value::as_u64);
        if version != Some(u64::from(REQUEST_VERSION)) {
            let found = version.map_or("none".to_owned(), |it| it.to_string());
            return Err(Failure::usage(format!(
                "{}: format version {found}, this tool knows version {REQUEST_VERSION}",
                path.display()
            ))
            .hint("go on with the version of the tool that wrote it, or begin a new campaign"));
        }
        serde_json::from_value(document).map_err(|error| failed(error.to_string()))
    }
}

/// Where there is no such campaign, or none at all.
fn gone(campaign: &Path) -> Option<Failure> {
    let out = campaign.parent()?;
    if campaign.exists() || Request::path(out).exists() {
        return None;
    }
    let there = campaigns(out);
    if !there.is_empty() {
        let names: Vec<&str> = there.iter().take(CAMPAIGNS_NAMED).map(String::as_str).collect();
        let what = match fs::read_link(campaign) {
            Ok(last) => format!("{}: {}, which was the latest, is gone", campaign.display(), last.display()),
            Err(_) => format!("{}: there is no such campaign", campaign.display()),
        };
        let more = if there.len() > names.len() { ", and older ones" } else { "" };
        return Some(Failure::usage(what).hint(format!("there is {}{more}", names.join(", "))));
    }
    let what = format!("{}: there is no campaign below {} yet", campaign.display(), out.display());
    let here = std::env::current_dir().ok().filter(|_| out.is_relative());
    let above = here.iter().flat_map(|it| it.ancestors().skip(1)).find(|it| it.join(out).is_dir());
    Some(Failure::usage(what).hint(match above {
        Some(above) => format!("{} has some: run it there", above.display()),
        None => "`hypocenter reproduce` or `run` begins one; give --out if results are elsewhere".to_owned(),
    }))
}

/// The names of the campaigns of a directory, the newest first.
pub fn campaigns(out: &Path) -> Vec<String> {
    // Without `latest`, which is a link.
    let below = fs::read_dir(out).into_iter().flatten().flatten();
    let below =
        below.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()) && Request::path(&it.path()).exists());
    let mut there: Vec<(SystemTime, String)> = below
        .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.file_name().into_string().ok()?)))
        .collect();
    there.sort();
    there.into_iter().rev().map(|it| it.1).collect()
}

/// How many campaigns are named in place of one that is gone, the newest first.
const CAMPAIGNS_NAMED: usize = 5;

/// An oracle about a process that is never started would never hold.
fn check_names(oracle: &Oracle, workload: &Workload, main: &str) -> Result<(), Failure> {
    let nodes = workload.node.iter().filter(|it| it.command.is_some()).map(|it| it.name.as_str());
    let clients = workload.client.iter().map(|it| it.name.as_str());
    let known: Vec<&str> = nodes.chain(clients).chain(workload.command.as_ref().map(|_| main)).collect();
    match hypocenter_lab::oracle::named_processes(oracle).into_iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::usage(format!(
            "the oracle is about `{name}`, and workload `{}` starts no such process",
            workload.name
        ))
        .hint(format!("it starts {}", known.join(", ")))),
    }
}

/// One that asks for something and its opposite never holds, whatever a program does.
fn check_holds(oracle: &Oracle) -> Result<(), Failure> {
    contradiction(oracle).map_or(Ok(()), |it| {
        Err(Failure::usage(format!("the oracle can never hold: it asks for {it}, and for the opposite"))
            .hint("take one of the two out of `all`, or make the one behind `not` narrower"))
    })
}

/// What keeps an oracle from ever holding, if that is certain.
fn contradiction(oracle: &Oracle) -> Option<&Oracle> {
    // A line that is there so often is also there less often.
    let rules_out = |no: &Oracle, it: &Oracle| match (no, it) {
        (Oracle::Log { line, process, times }, Oracle::Log { line: l, process: p, times: wanted }) => {
            (line, process) == (l, p) && times <= wanted
        }
        _ => no == it,
    };
    match oracle {
        Oracle::All(parts) => {
            let is_ruled_out = |it: &&Oracle| {
                parts.iter().any(|other| matches!(other, Oracle::Not(no) if rules_out(no, it)))
            };
            parts.iter().find(is_ruled_out).or_else(|| parts.iter().find_map(contradiction))
        }
        Oracle::Any(parts) => {
            let all: Option<Vec<&Oracle>> = parts.iter().map(contradiction).collect();
            all?.first().copied()
        }
        _ => None,
    }
}

/// The campaign that a verb is to go on with. The latest is that of the verb, whatever else was run since.
pub fn to_resume(lab: &LabArgs, name: &str, verb: &str) -> Result<(PathBuf, Request), Failure> {
    let read = |name: &str| {
        let directory = existing(lab, name);
        Request::read(&directory).map(|it| (directory, it))
    };
    let is_own = |it: &(PathBuf, Request)| it.1.resumed_by() == verb;
    let mut found = read(name)?;
    if name == "latest" && !is_own(&found) {
        let own = campaigns(&lab.out).iter().filter_map(|it| read(it).ok()).find(is_own);
        found = own.unwrap_or(found);
    }
    if is_own(&found) {
        return Ok(found);
    }
    let (directory, request) = found;
    let what = format!("{} is a campaign of {}, not of {verb}", directory.display(), request.verb);
    let command = Called::of(&directory).resume(request.resumed_by());
    Err(Failure::usage(what).hint(format!("`{command}` goes on with it")))
}

/// The directory of a campaign that was there before: by its name below --out, or by its path.
pub fn existing(lab: &LabArgs, name: &str) -> PathBuf {
    existing_below(&lab.out, name)
}

/// The same, for those who have no lab.
pub fn existing_below(out: &Path, name: &str) -> PathBuf {
    let below = out.join(name);
    let path = if below.is_dir() || !Path::new(name).is_dir() { below } else { PathBuf::from(name) };
    // `latest` is a link, and a campaign is called by its own name.
    path.canonicalize().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_certain_never_to_hold_is_refused() {
        let check = |text: &str, expected: Option<&str>| {
            let table: toml::Table = text.parse().expect("TOML");
            let oracle: Oracle = table["oracle"].clone().try_into().expect("an oracle");
            let found = contradiction(&oracle).map(ToString::to_string);
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("oracle = { log = 'lost' }", None);
        check("oracle = { all = [{ log = 'lost' }, { not = { log = 'lost' } }] }", Some("log `lost`"));
        check("oracle = { all = [{ exit = 1 }, { not = { exit = 1 } }] }", Some("exit 1"));
        // Ten are also three, and three need not be ten.
        let lost = |wanted: u64, ruled_out: u64| {
            let no = format!("{{ not = {{ log = 'lost', times = {ruled_out} }} }}");
            format!("oracle = {{ all = [{{ log = 'lost', times = {wanted} }}, {no}] }}")
        };
        check(&lost(10, 3), Some("log `lost` 10 times"));
        check(&lost(3, 10), None);
        // Another line, or that of another node, may be there or not.
        check("oracle = { all = [{ log = 'lost' }, { not = { log = 'los' } }] }", None);
        check(
            "oracle = { all = [{ log = 'lost', node = 'a' }, { not = { log = 'lost', node = 'b' } }] }",
            None,
        );
        let no = "{ all = [{ exit = 1 }, { not = { exit = 1 } }] }";
        check(&format!("oracle = {{ any = [{no}, {{ log = 'lost' }}] }}"), None);
        check(&format!("oracle = {{ any = [{no}, {no}] }}"), Some("exit 1"));
        check(&format!("oracle = {{ not = {no} }}"), None);
    }
}
