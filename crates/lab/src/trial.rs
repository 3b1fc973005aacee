//! One trial from its plan to its outcome.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use hypocenter_engine::{Evidence, HookSet, LogBytes};
use hypocenter_plan::{
    Arm, Candidate, Condition, Fault, Oracle, Outcome, Plan, Problem, Repeat, ThreadDump, Workload,
};
use hypocenter_trace::{Map, Trace, TrialControl};
use memmap2::{Advice, Mmap, MmapMut};

use crate::command::AgentOption;
use crate::keeper::{Isolation, Keeper, Setup};
use crate::lock::Lock;
use crate::oracle::{self, LiveThread, Scene};
use crate::stage::{self, Stage};
use crate::{AgentFile, LabError, Observer, Prepared, arm, files, log_files, outcome};

/// Command to run.
#[derive(Debug)]
pub struct Trial<'a> {
    /// The number of the trial.
    pub number: u64,
    /// The plan.
    pub plan: &'a Plan,
    /// The plan that the hooks were placed by.
    pub common: &'a Plan,
    /// Command run under it.
    pub workload: &'a Workload,
    /// Base of relative paths of the workload.
    pub base: &'a Path,
    /// The node that the workload's one command is, where its JVMs do not say it themselves.
    pub main: &'a str,
    /// The maps, and what may be thrown under them.
    pub prepared: &'a Prepared,
    /// The map for the plan.
    pub hooks: HookSet,
    /// Oracle of the failure.
    pub oracle: Option<&'a Oracle>,
    /// The time limit, in place of the workload's own.
    pub timeout: Option<Duration>,
    /// Common settings of all trials.
    pub surroundings: &'a Surroundings,
    /// Input of the command; empty if absent.
    pub stdin: Option<&'a OwnedFd>,
    /// The directory of the trial: made here, and an error if it is there already.
    pub directory: &'a Path,
}

/// Facts about a host that all its trials share.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The agent's library.
    pub agent: AgentFile,
    /// The program that is the keeper when it is started with `__keeper`.
    pub keeper: PathBuf,
    /// True if trials are put into sandboxes.
    pub sandbox: bool,
    /// The value of `JAVA_TOOL_OPTIONS` that processes would see.
    pub java_tool_options: Option<String>,
    /// Paths that must be visible in a sandbox: the class path, the JDK.
    pub visible: Vec<PathBuf>,
}

/// The files of a trial.
#[derive(Debug, Clone)]
pub struct TrialFiles {
    /// The plan, as JSON.
    pub plan: PathBuf,
    /// The instrumentation map.
    pub map: PathBuf,
    /// The trial's file.
    pub trace: PathBuf,
    /// The outcome, as JSON.
    pub outcome: PathBuf,
    /// Output of the processes.
    pub logs: PathBuf,
    /// The threads of the JVMs at the end, where they were asked for.
    pub dumps: PathBuf,
    /// The fresh directory that `{dir}` stands for.
    pub fresh: PathBuf,
    /// Content of `/tmp` for the processes in a sandbox.
    pub tmp: PathBuf,
}

impl TrialFiles {
    /// The files of the trial in this directory.
    pub fn of(directory: &Path) -> TrialFiles {
        TrialFiles {
            plan: directory.join("plan.json"),
            map: directory.join("map"),
            trace: directory.join("trace"),
            outcome: directory.join("outcome.json"),
            logs: directory.join("logs"),
            dumps: directory.join("dumps"),
            fresh: directory.join(hypocenter_trace::FRESH_DIRECTORY),
            tmp: directory.join("tmp"),
        }
    }

    /// The agent's own log.
    pub fn agent_log(&self) -> PathBuf {
        let mut name = self.trace.clone().into_os_string();
        name.push(".agent.log");
        PathBuf::from(name)
    }
}

/// The evidence of a trial that is over.
pub fn evidence_of(directory: &Path, outcome: &Outcome) -> Result<Evidence, LabError> {
    let files = TrialFiles::of(directory);
    let mut logs = Vec::new();
    for process in &outcome.processes {
        for path in &process.logs {
            logs.push(LogBytes {
                process: process.name.clone(),
                incarnation: process.incarnation,
                path: path.clone(),
                bytes: contents(&directory.join(path))?,
            });
        }
    }
    // A dump that cannot be read says nothing; the rest of the trial does.
    let dumps = read_dumps(&files.dumps).unwrap_or_default();
    // Nor does a trace that was dropped.
    let trace = match files.trace.exists() {
        true => contents(&files.trace)?,
        false => no_bytes().map_err(file_error(&files.trace))?,
    };
    Ok(Evidence::new(contents(&files.map)?, trace, logs, dumps))
}

/// Mapping that no reader takes for a trial's file.
fn no_bytes() -> std::io::Result<Mmap> {
    MmapMut::map_anon(1)?.make_read_only()
}

fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    let path = path.display().to_string();
    move |source| LabError::File { path, source }
}

fn unreadable<E: std::fmt::Display>(path: &Path) -> impl FnOnce(E) -> LabError {
    let path = path.display().to_string();
    move |why| LabError::Unreadable { path, why: why.to_string() }
}

impl Trial<'_> {
    /// Makes the trial's directory, and takes its lock. Whoever wants the same trial at the same time may be faster: to make it,
    /// or to take what is still empty for what somebody left behind, and put it aside.
    fn own_directory(&self) -> Result<(PathBuf, Lock), LabError> {
        let taken = |error: std::io::Error| match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotFound => {
                LabError::TrialBusy { trial: self.directory.display().to_string() }
            }
            _ => file_error(self.directory)(error),
        };
        fs::create_dir(self.directory).map_err(taken)?;
        let directory = fs::canonicalize(self.directory).map_err(taken)?;
        let lock = match Lock::of_trial(&directory) {
            Err(LabError::File { source, .. }) => return Err(taken(source)),
            lock => lock?,
        };
        Ok((directory, lock))
    }

    /// Runs the trial.
    pub fn run(&self, observer: &dyn Observer) -> Result<Outcome, LabError> {
        self.workload.check().map_err(LabError::Workload)?;
        if let Some(oracle) = self.oracle {
            oracle::check(oracle)?;
        }
        let agent = &self.surroundings.agent;
        agent
            .ensure()
            .map_err(|source| LabError::Agent { path: agent.path().display().to_string(), source })?;
        let kept_map = self.prepared.map(self.hooks)?;
        let began = SystemTime::now();
        let parent = self.directory.parent().unwrap_or(self.directory);
        files::make_directory(parent).map_err(file_error(parent))?;
        let (directory, _ours) = self.own_directory()?;
        let files = TrialFiles::of(&directory);
        for path in [&files.logs, &files.dumps, &files.fresh, &files.tmp] {
            fs::create_dir(path).map_err(file_error(path))?;
        }
        // As /tmp is everywhere: for all, and nobody removes what is another's.
        fs::set_permissions(&files.tmp, fs::Permissions::from_mode(0o1777))
            .map_err(file_error(&files.tmp))?;
        let mut plan = self.plan.clone();
        if plan.nodes.is_empty() {
            plan.nodes = self.workload.nodes_inside();
        }
        fs::write(&files.plan, json(&plan)).map_err(file_error(&files.plan))?;
        let plan = plan.completed(self.common);
        observer.planned();
        // One file for all trials of a plan; a copy where the file system has no links.
        fs::hard_link(&kept_map, &files.map)
            .or_else(|_| fs::copy(&kept_map, &files.map).map(drop))
            .map_err(file_error(&files.map))?;
        let map_bytes = contents(&files.map)?;
        let map = Map::new(&map_bytes).map_err(unreadable(&files.map))?;
        if map.digest() != self.hooks.0 {
            let why = "it is the map of other hooks: the file was changed; start a new campaign";
            return Err(unreadable(&kept_map)(why));
        }
        let spec = arm(&plan, &map, self.prepared.throwables(), self.number)?;
        let trial = TrialControl::create(&files.trace, &spec)?;

        let mut staged = self.stage(&files, &directory, &trial, observer)?;
        observer.gone();
        log_files::add(self.workload, &directory, &files.fresh, &mut staged);
        trial.end()?;
        let agent_log = fs::read_to_string(files.agent_log()).unwrap_or_default();
        let trace_bytes = contents(&files.trace)?;
        let trace = Trace::new(&trace_bytes).map_err(unreadable(&files.trace))?;
        let answers = staged.answers.clone();
        let mut outcome = outcome::read(&plan, &map, &trace, staged, &agent_log, self.workload.has_agent());
        if let Some(oracle) = self.oracle {
            let dumps = read_dumps(&files.dumps)?;
            let threads: Vec<LiveThread<'_>> = dumps
                .iter()
                .flat_map(|dump| dump.threads.iter().map(move |thread| (dump, thread)))
                .map(|(dump, thread)| LiveThread {
                    process: &dump.node,
                    name: &thread.name,
                    frames: thread.frames.iter().map(|it| it.method.as_str()).collect(),
                })
                .collect();
            let questions = questions(oracle);
            let scene = Scene {
                end: outcome.end,
                processes: &outcome.processes,
                directory: &directory,
                fresh: &files.fresh,
                base: self.base,
                tmp: self.private_tmp(&files),
                started: began,
                threads: &threads,
                commands: &|text| {
                    let at = questions.iter().position(|it| it == text)?;
                    answers.get(at).copied().flatten()
                },
            };
            // Whether the failure happened is then unknown; the rest of the outcome is not.
            match oracle::judge(oracle, &scene) {
                Ok(said) => outcome.failure = Some(said),
                Err(why) => outcome
                    .problems
                    .push(Problem { place: Problem::ORACLE.to_owned(), what: why.to_string() }),
            }
        }
        if self.surroundings.sandbox && self.private_tmp(&files).is_none() {
            let what =
                "the workload runs in /tmp itself, so its trials share /tmp; work in a directory below it";
            outcome.problems.push(Problem { place: "sandbox".to_owned(), what: what.to_owned() });
        }
        if outcome.end != hypocenter_plan::End::Interrupted {
            files::replace(&files.outcome, &json(&outcome)).map_err(file_error(&files.outcome))?;
        }
        Ok(outcome)
    }

    /// Content of `/tmp` for the trial, if it is private. A workload that runs in `/tmp` itself needs the one of the machine.
    fn private_tmp<'a>(&self, files: &'a TrialFiles) -> Option<&'a Path> {
        (self.surroundings.sandbox && !is_tmp(self.base)).then_some(files.tmp.as_path())
    }

    fn stage(
        &self,
        files: &TrialFiles,
        directory: &Path,
        trial: &TrialControl,
        observer: &dyn Observer,
    ) -> Result<stage::Staged, LabError> {
        let around = self.surroundings;
        let mut visible = around.visible.clone();
        visible.extend(named_below_tmp(self.workload, self.base, around.java_tool_options.as_deref()));
        // A class path may name what is not there, as for java.
        visible.retain(|path| path.exists());
        visible.extend([directory.to_owned(), self.base.to_owned(), around.agent.path()]);
        visible.retain(|path| !is_tmp(path));
        let private_tmp = self.private_tmp(files);
        let setup = Setup {
            isolation: match (around.sandbox, self.workload.network) {
                (false, _) => Isolation::Plain,
                (true, network) => Isolation::Sandbox { network },
            },
            // In its own place, all of it stays visible.
            tmp: private_tmp.unwrap_or(Path::new(TMP)).to_owned(),
            hosts: directory.join("hosts"),
            visible,
        };
        let keeper = Keeper::start(&around.keeper, &setup)?;
        let questions = self.oracle.map(questions).unwrap_or_default();
        let sees_stacks = self.oracle.is_some_and(|it| it.has(&|it| matches!(it, Oracle::Stack { .. })));
        let outlasted = if self.plan.outlast && (sees_stacks || !questions.is_empty()) {
            delays(self.plan)
        } else {
            Vec::new()
        };
        let crashes = self.plan.settle.then(|| crashes(self.plan));
        let stage = Stage {
            workload: self.workload,
            main: self.main,
            keeper: &keeper,
            trial,
            directory,
            fresh: &files.fresh,
            tmp: private_tmp,
            base: self.base,
            timeout: self.timeout.or(self.workload.timeout.map(|it| it.0)),
            agent: &|node| AgentOption {
                library: around.agent.path(),
                map: files.map.clone(),
                trial: files.trace.clone(),
                node: node.to_owned(),
            },
            java_tool_options: around.java_tool_options.as_deref(),
            stdin: self.stdin,
            questions: &questions,
            arms_when_ready: self.plan.arm == Arm::Ready,
            dump: self.plan.record.dump || sees_stacks,
            outlasted: &outlasted,
            crashes: crashes.as_deref(),
            observer,
        };
        stage::run(&stage)
    }
}

/// Paths below `/tmp` in the commands and variables of a workload, including paths that lead up from the working directory: it
/// stays where it is in a sandbox. Of a path that is not there yet, the nearest directory that is.
fn named_below_tmp(workload: &Workload, base: &Path, tool_options: Option<&str>) -> Vec<PathBuf> {
    let of_nodes = workload.node.iter().filter_map(|it| it.command.as_ref());
    let of_clients = workload.client.iter().map(|it| &it.command);
    let asked =
        workload.node.iter().flat_map(|it| it.ready.iter().chain(&it.alive)).filter_map(|it| match it {
            Condition::Command(command) => Some(command),
            _ => None,
        });
    let before = workload.node.iter().filter_map(|it| it.before.as_ref());
    let commands = workload.command.iter().chain(of_nodes).chain(before).chain(of_clients).chain(asked);
    let words = commands.filter_map(|it| it.words("").ok()).flatten();
    let variables = workload.node.iter().map(|it| &it.env).chain(workload.client.iter().map(|it| &it.env));
    let values = variables.chain([&workload.env]).flat_map(|env| env.values().cloned());
    let own = workload.directory.as_ref().map_or_else(|| base.to_owned(), |it| base.join(it));
    let mut found: Vec<PathBuf> = Vec::new();
    for word in words.chain(values).chain(tool_options.map(str::to_owned)) {
        for part in word.split([':', '=', ',', ' ', '@']) {
            let path = own.join(part);
            if !(part.starts_with("/tmp/") || part.starts_with("../")) || !path.starts_with("/tmp") {
                continue;
            }
            let there = path.ancestors().find(|it| it.exists());
            // A way that goes up again needs what it goes up from.
            let before_up = path.components().take_while(|it| *it != Component::ParentDir).collect();
            found.extend(there.and_then(|it| it.canonicalize().ok()));
            found.push(before_up);
        }
    }
    found.retain(|it| it.starts_with("/tmp") && it != Path::new("/tmp"));
    found.sort();
    found.dedup();
    found
}

const TMP: &str = "/tmp";

fn is_tmp(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path == Path::new(TMP))
}

/// The delays of a plan that end, by the numbers of their candidates.
fn delays(plan: &Plan) -> Vec<(u32, Duration)> {
    let delay = |(number, it): (u32, &Candidate)| match it.fault {
        Fault::Delay { delay_ms, .. } if it.repeat == Repeat::Once => {
            Some((number, Duration::from_millis(delay_ms)))
        }
        _ => None,
    };
    (0..).zip(&plan.candidates).filter_map(delay).collect()
}

/// The crashes of a plan, by the numbers of their candidates.
fn crashes(plan: &Plan) -> Vec<u32> {
    let all = (0..).zip(&plan.candidates);
    all.filter(|it| matches!(it.1.fault, Fault::Crash { .. })).map(|it| it.0).collect()
}

/// The commands that an oracle asks.
fn questions(oracle: &Oracle) -> Vec<String> {
    match oracle {
        Oracle::Command(command) => vec![command.clone()],
        Oracle::All(inner) | Oracle::Any(inner) => inner.iter().flat_map(questions).collect(),
        Oracle::Not(inner) => questions(inner),
        _ => Vec::new(),
    }
}

fn read_dumps(directory: &Path) -> Result<Vec<ThreadDump>, LabError> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .map_err(file_error(directory))?
        .flatten()
        .map(|it| it.path())
        .filter(|it| it.extension().is_some_and(|it| it == "json"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let bytes = fs::read(path).map_err(file_error(path))?;
            serde_json::from_slice(&bytes).map_err(|error| file_error(path)(error.into()))
        })
        .collect()
}

fn json(document: &impl serde::Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(document).expect("the document is always JSON");
    json.push(b'\n');
    json
}

/// A file of the trial, read whole into memory. A mapping of the file itself would end the tool by SIGBUS where somebody cuts the
/// file short, or where the disk has no room to show a hole in it: a trace has holes where several JVMs found the disk full at once.
fn contents(path: &Path) -> Result<Mmap, LabError> {
    let mut file = File::open(path).map_err(file_error(path))?;
    let len = file.metadata().map_err(file_error(path))?.len();
    let len = usize::try_from(len).map_err(|_| file_error(path)(ErrorKind::FileTooLarge.into()))?;
    let mut memory = MmapMut::map_anon(len).map_err(file_error(path))?;
    // Most of the time would go into small pages: a trace may have 100 MB. Where there are no large ones, it takes longer.
    let _ = memory.advise(Advice::HugePage);
    file.read_exact(&mut memory).map_err(file_error(path))?;
    memory.make_read_only().map_err(file_error(path))
}
