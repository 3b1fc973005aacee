//! Request of a campaign: kept as `campaign.json`, so that it can be resumed, replayed, or carried out elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hypocenter_engine::{Engine, Job, Next, Plans, Work};
use hypocenter_lab::{CAMPAIGN_VERSION, Input, Setting, files};
use hypocenter_plan::{CommandLine, Network, Oracle, Plan, Span, Workload};
use serde::{Deserialize, Serialize};

use crate::args::{LabArgs, NetworkChoice, TargetArgs};
use crate::campaign::Verb;
use crate::config::Config;
use crate::failure::Failure;
use crate::screen;
use crate::store::Called;
use crate::target::TargetSpec;
use crate::template;

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
    /// Number of trials.
    pub repeat: u64,
    /// Base of relative paths.
    pub base: PathBuf,
    /// The node that the workload's one command is.
    pub main: String,
    /// The classes.
    pub target: TargetSpec,
    /// The workloads, by name.
    pub workloads: BTreeMap<String, Workload>,
    /// Oracle of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<Oracle>,
    /// The plan of every trial, but for its seed.
    pub plan: Plan,
    /// The plan that says which sites get hooks, where it is another: a replay has the hooks of its trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Box<Plan>>,
    /// Time limit of a trial; overrides the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// Other campaigns whose trials it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// Settings of an engine, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineRequest>,
}

/// Settings of an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineRequest {
    /// The verb whose engine it is.
    pub verb: String,
    /// Settings of the verb for it.
    pub settings: serde_json::Value,
}

impl EngineRequest {
    /// Request of a verb to its engine.
    pub fn of<V: Verb>(settings: &V::Settings) -> EngineRequest {
        let settings = serde_json::to_value(settings).expect("settings are always JSON");
        EngineRequest { verb: V::NAME.to_owned(), settings }
    }
}

/// Workload to run, before its plan is known.
#[derive(Debug)]
pub struct Chosen {
    /// Where relative paths begin.
    pub base: PathBuf,
    /// The classes.
    pub target: TargetSpec,
    /// The workload.
    pub workload: Workload,
    /// The same for other tests, where it is a template and several are chosen.
    others: Vec<Workload>,
    /// The oracle that judges it.
    pub oracle: Option<Oracle>,
    /// The workload that the oracle of the failure is about, where it is another.
    not_asked: Option<String>,
}

impl Chosen {
    /// The command behind `--`, or a workload of the configuration. Of a template it is that of one test.
    pub fn of(args: &TargetArgs, name: Option<&str>) -> Result<Chosen, Failure> {
        let chosen = Chosen::each(args, name)?;
        if !chosen.others.is_empty() {
            let fits = screen::count(1 + chosen.others.len() as u64, "test", "tests");
            let pattern = args.test.as_deref().unwrap_or_default();
            let name = chosen.workload.name.split_once('@').map_or("", |it| it.1);
            return Err(Failure::usage(format!(
                "--test {pattern}: it matches {fits}, and only `run` accepts several"
            ))
            .hint(format!("give one of them, as in `--test '{name}'`")));
        }
        Ok(chosen)
    }

    /// The same, with several tests of a template where the flags name several.
    pub fn each(args: &TargetArgs, name: Option<&str>) -> Result<Chosen, Failure> {
        let config = Config::read(&args.config)?;
        let name = args.named.as_deref().or(name);
        let cwd = std::env::current_dir()
            .map_err(|error| Failure::usage(format!("the current directory cannot be read: {error}")))?;
        let (mut workload, base) = match (args.command.as_slice(), name) {
            ([], name) => (config.workload(name, &args.config)?.clone(), config.base.clone()),
            ([_, ..], Some(name)) => {
                return Err(Failure::usage(format!("both a workload (`{name}`) and a command are given"))
                    .hint("remove one of them"));
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
        let mut workloads = template::workloads(workload, args.test.as_deref(), &target)?;
        let workload = workloads.remove(0);
        let chosen = Chosen { base, target, workload, others: workloads, oracle: None, not_asked };
        match args.oracle.clone().or(of_failure) {
            Some(oracle) => chosen.judged_by(oracle, &args.node_name),
            None => Ok(chosen),
        }
    }

    /// The tests of a campaign: all workloads of the configuration, a template as one for each of its tests. A name or a command
    /// leaves one workload or one template.
    pub fn tests(args: &TargetArgs, name: Option<&str>) -> Result<Chosen, Failure> {
        let config = Config::read(&args.config)?;
        let name = args.named.as_deref().or(name);
        let mut names = vec![name];
        if args.command.is_empty() && name.is_none() && config.workload.len() > 1 {
            let is_meant = |it: &&Workload| args.test.is_none() || it.is_template();
            let all = config.workload.iter().map(|it| it.as_ref()).filter(is_meant);
            names = all.map(|it| Some(it.name.as_str())).collect();
        }
        let each = |name: &Option<&str>| {
            let mut flags = args.clone();
            if args.command.is_empty() && args.test.is_none() {
                let is_template = config.workload(*name, &args.config)?.is_template();
                flags.test = is_template.then(|| "*".to_owned());
            }
            Chosen::each(&flags, *name)
        };
        let mut all = names.iter().map(each).collect::<Result<Vec<Chosen>, Failure>>()?.into_iter();
        let Some(mut chosen) = all.next() else {
            return Err(Failure::usage("--test: no workload of the configuration is a template over tests")
                .hint("use {test.class}, {test.method} or {test.id} in a command, or remove --test"));
        };
        for other in all {
            if other.target != chosen.target {
                let (one, another) = (&chosen.workload.name, &other.workload.name);
                return Err(Failure::usage(format!(
                    "workloads `{one}` and `{another}` have different class paths or packages"
                ))
                .hint(
                    "add `classpath` and `packages` under [target], which hold for all, or name one workload",
                ));
            }
            // The oracle of a failure is about one of them.
            chosen.oracle = None;
            chosen.others.extend([other.workload].into_iter().chain(other.others));
        }
        Ok(chosen)
    }

    /// The same, and this says when the failure has happened. A process without a name of its own is called `main`.
    pub fn judged_by(self, oracle: Oracle, main: &str) -> Result<Chosen, Failure> {
        check_names(&oracle, &self.workload, main)?;
        check_holds(&oracle)?;
        Ok(Chosen { oracle: Some(oracle), ..self })
    }

    /// The same, judged by the oracle of [failure] where it has none: the failure is the same by whichever workload it is looked for.
    pub fn judged_by_failure(self, config: &Config, main: &str) -> Result<Chosen, Failure> {
        if self.oracle.is_some() {
            return Ok(self);
        }
        let Some(oracle) = config.failure.as_ref().and_then(|it| it.oracle.as_ref()) else {
            return Err(Failure::usage("no oracle is given").hint(
                "add `oracle` under [failure] of hypocenter.toml, or give --oracle '{ log = \"...\" }'",
            ));
        };
        self.judged_by(oracle.as_ref().clone(), main)
    }

    /// The same, without the agent in any process.
    pub fn without_agent(mut self) -> Chosen {
        for it in self.others.iter_mut().chain([&mut self.workload]) {
            it.agent = Some(false);
        }
        self
    }

    /// Says so where no oracle is asked because that of the failure is for another workload.
    pub fn tell_not_asked(&self) {
        if let Some(other) = self.not_asked.as_ref().filter(|_| self.oracle.is_none()) {
            let what = format!("none: the oracle of [failure] is for workload {other}");
            screen::line("oracle", &screen::clean(&what));
        }
    }

    /// The request for so many trials of each workload under a plan.
    pub fn request(self, verb: &str, args: &TargetArgs, plan: Plan, repeat: u64) -> Request {
        let repeat = repeat.saturating_mul(1 + self.others.len() as u64);
        let workloads = self.others.into_iter().chain([self.workload]);
        Request {
            version: CAMPAIGN_VERSION,
            verb: verb.to_owned(),
            seed: plan.seed,
            repeat,
            base: self.base,
            main: args.node_name.clone(),
            target: self.target,
            workloads: workloads.map(|it| (it.name.clone(), it)).collect(),
            oracle: self.oracle,
            plan,
            hooks: None,
            timeout: args.lab.timeout.map(Span),
            inputs: Vec::new(),
            engine: None,
        }
    }
}

impl Request {
    /// The workload of a campaign that has one, as that of most verbs has.
    pub fn workload(&self) -> &Workload {
        self.workloads.values().next().expect("a campaign has a workload")
    }

    /// The name for what is run: that of the workload, or of the template that several come from; of other workloads all names.
    pub fn workload_name(&self) -> String {
        let name = |it: &Workload| it.name.split('@').next().unwrap_or(&it.name).to_owned();
        let mut names: Vec<String> = self.workloads.values().map(name).collect();
        names.dedup();
        match names.as_slice() {
            _ if self.workloads.len() == 1 => self.workload().name.clone(),
            [first, .., _] if names.len() > WORKLOADS_NAMED => {
                format!("{first} and {} more", names.len() - 1)
            }
            _ => names.join(", "),
        }
    }

    /// The engine of verbs whose trials are all known: the workloads in turn, each under the plan. The seed of a trial follows from
    /// that of the campaign and its number; a replay is the same trial again.
    pub fn engine(&self) -> Plans {
        let step = if self.verb == REPLAY { 0 } else { 1 };
        let plan = |number: u64| Plan { seed: self.seed.wrapping_add(step * number), ..self.plan.clone() };
        let names = self.workloads.keys().cycle();
        Plans::each((0..self.repeat).zip(names).map(|(number, it)| (it.clone(), plan(number))).collect())
    }

    /// All that it asks for.
    pub fn jobs(&self) -> Vec<Job> {
        match self.engine().next(usize::MAX) {
            Next::Start(jobs) => jobs,
            Next::Wait | Next::Done => Vec::new(),
        }
    }

    /// The same for the trial of a job alone: its workload with what was changed of it, and its hooks.
    pub fn of_trial(mut self, job: &Job) -> Result<Request, Failure> {
        let Work::Trial { workload: name, plan, hooks, restarts, edits } = &job.work else { return Ok(self) };
        let workload = self.workloads.get(name).ok_or_else(|| {
            Failure::usage(format!("trial {} has workload `{name}`, which is not in the campaign", job.id))
                .hint("the files were changed: start a new campaign")
        })?;
        let workload =
            workload.restarted(restarts).and_then(|it| it.edited(edits)).map_err(Failure::usage)?;
        self.workloads = [(name.clone(), workload)].into();
        if hooks.is_some() {
            // What the plan records and injects is all that is known of hooks that a trial had for itself.
            self.hooks = Some(Box::new(plan.clone()));
        }
        Ok(self)
    }

    /// The plan that says which sites get hooks.
    pub fn hooked(&self) -> &Plan {
        self.hooks.as_deref().unwrap_or(&self.plan)
    }

    /// Verb that resumes it: `run` resumes all campaigns that only carry out plans.
    pub fn resumed_by(&self) -> &str {
        match &self.engine {
            Some(it) if it.verb == self.verb => &it.verb,
            _ => "run",
        }
    }

    /// Settings of a verb in this campaign, which is its own.
    pub fn settings<V: Verb>(&self, campaign: &Path) -> Result<V::Settings, Failure> {
        let settings = self.engine.as_ref().map_or(serde_json::Value::Null, |it| it.settings.clone());
        serde_json::from_value(settings).map_err(|error| {
            Failure::usage(format!("{}: {error}", Request::path(campaign).display()))
                .hint("use the version of the tool that wrote it, or start a new campaign")
        })
    }

    /// Tests whether there are several nodes, so that a fault alone does not say on which it is.
    pub fn has_several_nodes(&self) -> bool {
        let Workload { command, node, client, .. } = self.workload();
        let clients = client.iter().filter(|it| it.agent).count();
        usize::from(command.is_some()) + node.len() + clients > 1 || self.plan.nodes.len() > 1
    }

    /// Its place in a campaign.
    pub fn path(campaign: &Path) -> PathBuf {
        Setting::path(campaign)
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
        if version != Some(u64::from(CAMPAIGN_VERSION)) {
            let found = version.map_or("none".to_owned(), |it| it.to_string());
            return Err(Failure::usage(format!(
                "{}: format version {found}, this tool supports version {CAMPAIGN_VERSION}",
                path.display()
            ))
            .hint("use the version of the tool that wrote it, or start a new campaign"));
        }
        let request: Request = serde_json::from_value(document).map_err(|error| failed(error.to_string()))?;
        if request.workloads.is_empty() {
            return Err(failed("it has no workload: the file was changed".to_owned()));
        }
        Ok(request)
    }
}

/// Error if this campaign, or any campaign, is missing.
fn gone(campaign: &Path) -> Option<Failure> {
    let out = campaign.parent()?;
    if campaign.exists() || Request::path(out).exists() {
        return None;
    }
    let there = campaigns(out);
    if !there.is_empty() {
        let names: Vec<&str> = there.iter().take(CAMPAIGNS_NAMED).map(String::as_str).collect();
        let what = match fs::read_link(campaign) {
            Ok(last) => {
                format!("{}: the latest campaign, {}, was removed", campaign.display(), last.display())
            }
            Err(_) => format!("{}: the campaign does not exist", campaign.display()),
        };
        let more = if there.len() > names.len() { ", and older campaigns" } else { "" };
        return Some(Failure::usage(what).hint(format!("known campaigns: {}{more}", names.join(", "))));
    }
    let what = format!("{}: no campaign exists below {} yet", campaign.display(), out.display());
    let here = std::env::current_dir().ok().filter(|_| out.is_relative());
    let above = here.iter().flat_map(|it| it.ancestors().skip(1)).find(|it| it.join(out).is_dir());
    Some(
        Failure::usage(what).hint(match above {
            Some(above) => format!("{} has campaigns: run the command there", above.display()),
            None => "start one with `hypocenter reproduce` or `run`; give --out if the results are elsewhere"
                .to_owned(),
        }),
    )
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

/// Number of workloads that are all named.
const WORKLOADS_NAMED: usize = 4;

/// Number of campaigns that are listed in place of a missing one, newest first.
const CAMPAIGNS_NAMED: usize = 5;

/// An oracle about a process that is never started would never hold.
fn check_names(oracle: &Oracle, workload: &Workload, main: &str) -> Result<(), Failure> {
    let nodes = workload.node.iter().filter(|it| it.command.is_some()).map(|it| it.name.as_str());
    let clients = workload.client.iter().map(|it| it.name.as_str());
    let known: Vec<&str> = nodes.chain(clients).chain(workload.command.as_ref().map(|_| main)).collect();
    match hypocenter_lab::oracle::named_processes(oracle).into_iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::usage(format!(
            "the oracle names process `{name}`, which workload `{}` does not start",
            workload.name
        ))
        .hint(format!("it starts {}", known.join(", ")))),
    }
}

/// One that asks for something and its opposite never holds, whatever a program does.
fn check_holds(oracle: &Oracle) -> Result<(), Failure> {
    contradiction(oracle).map_or(Ok(()), |it| {
        Err(Failure::usage(format!("the oracle can never hold: it requires {it} and the opposite"))
            .hint("remove one of the two from `all`, or narrow the one in `not`"))
    })
}

/// Contradiction that keeps an oracle from ever holding, if it is certain.
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

/// Campaign that a verb resumes. The latest one is the latest of this verb.
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
    Err(Failure::usage(what).hint(format!("`{command}` continues it")))
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
    use std::time::Duration;

    use hypocenter_engine::HookSet;
    use hypocenter_plan::{Edit, Restart};

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
    fn request() -> Request {
        let document = serde_json::json!({
            "version": CAMPAIGN_VERSION,
            "verb": "run",
            "seed": 5,
            "repeat": 4,
            "base": "/base",
            "main": "main",
            "target": { "classpath": ["/classes"], "packages": ["own"], "java_home": "/jdk" },
            "workloads": {
                "a": { "name": "a", "command": "java -Dx=1 A", "node": [{ "name": "n", "command": "java N" }] },
                "b": { "name": "b", "command": "java B" },
            },
            "oracle": { "exit": 1 },
            "plan": Plan::default(),
            "timeout": "90s",
            "inputs": [{ "path": "/other", "digest": "00000000000000aa" }],
        });
        serde_json::from_value(document).expect("a request")
    }

    #[test]
    fn the_lab_reads_from_a_request_what_trials_need() {
        let directory = tempfile::tempdir().unwrap();
        let request = request();
        request.write(directory.path()).unwrap();
        assert_eq!(Request::read(directory.path()).unwrap(), request);
        let setting = Setting::read(directory.path()).unwrap();
        let Request { base, main, workloads, oracle, timeout, inputs, plan, hooks, .. } = request;
        assert_eq!(setting, Setting { base, main, workloads, oracle, timeout, inputs, plan, hooks });
    }

    #[test]
    fn workloads_take_turns_and_a_trial_has_its_own_with_what_was_changed() {
        let jobs = request().jobs();
        let seen: Vec<(&str, u64)> = jobs
            .iter()
            .map(|it| match &it.work {
                Work::Trial { workload, plan, .. } => (workload.as_str(), plan.seed),
                Work::Study { .. } => panic!("only trials are asked for"),
            })
            .collect();
        assert_eq!(seen, [("a", 5), ("b", 6), ("a", 7), ("b", 8)]);
        let alone = request().of_trial(&jobs[1]).unwrap();
        assert_eq!(alone.workloads.keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!((alone.workload(), &alone.hooks), (&request().workloads["b"], &None));
        let mut job = jobs[0].clone();
        if let Work::Trial { hooks, restarts, edits, .. } = &mut job.work {
            *hooks = Some(HookSet(1));
            restarts.insert("n".into(), Restart { times: 3, delay: Span(Duration::ZERO) });
            edits.push(Edit::Property { process: None, name: "x".into(), value: "2".into() });
        }
        let alone = request().of_trial(&job).unwrap();
        assert_eq!(alone.workload().command.as_ref().unwrap().words("").unwrap(), ["java", "-Dx=2", "A"]);
        assert_eq!(alone.workload().node[0].restart.map(|it| it.times), Some(3));
        assert!(alone.hooks.is_some());
        if let Work::Trial { workload, .. } = &mut job.work {
            *workload = "c".into();
        }
        assert!(request().of_trial(&job).unwrap_err().what.contains("workload `c`"));
    }
}
