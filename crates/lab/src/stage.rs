//! The processes of a trial while it runs: nodes, then clients phase by phase; ready, progress, restarts, the end.

mod settling;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use hypocenter_plan::{
    Client, CommandLine, Condition, End, LogText, Node, Problem, ProcessOutcome, Role, Workload,
};
use hypocenter_trace::TrialControl;

use crate::command::{AgentOption, JAVA_TOOL_OPTIONS, with_agent};
use crate::keeper::{Keeper, KeeperEvent, ProcessId, Spawn};
use crate::oracle::{Ground, LineText, Place};
use crate::output::{self, Kept, Output, PickedUp, Sink};
use crate::{LabError, Observer, ticker};

/// Time limit for a node to become ready if the workload has no time limit.
const READY_TIME: Duration = Duration::from_secs(120);
/// Interval at which polled conditions are checked, and the observer too.
const TICK: Duration = Duration::from_millis(50);
/// Time limit for the last output of a process: a process that left its group may hold the output open.
const LAST_WORDS_TIME: Duration = Duration::from_secs(1);
/// Time limit of the JVMs for their thread dumps.
const DUMP_TIME: Duration = Duration::from_secs(10);
/// Time for which a delayed run must continue before it is judged.
const RECOVERY_TIME: Duration = Duration::from_secs(2);
/// Time limit of a command of an oracle or of `alive`.
const ASIDE_TIME: Duration = Duration::from_secs(30);

/// Input of a stage.
pub(crate) struct Stage<'a> {
    pub workload: &'a Workload,
    /// The node that the workload's one command is.
    pub main: &'a str,
    pub keeper: &'a Keeper,
    pub trial: &'a TrialControl,
    /// The trial's directory.
    pub directory: &'a Path,
    /// Value of `{dir}`.
    pub fresh: &'a Path,
    /// The private `/tmp`, where there is one.
    pub tmp: Option<&'a Path>,
    /// Base of relative paths.
    pub base: &'a Path,
    pub timeout: Option<Duration>,
    pub agent: &'a dyn Fn(&str) -> AgentOption,
    /// The value of `JAVA_TOOL_OPTIONS` that processes would see.
    pub java_tool_options: Option<&'a str>,
    /// Input of the workload's command; empty if absent.
    pub stdin: Option<&'a OwnedFd>,
    /// Commands to ask at the end, for an oracle.
    pub questions: &'a [String],
    /// True if faults wait until the nodes are ready.
    pub arms_when_ready: bool,
    /// True if threads are dumped even if nothing went wrong.
    pub dump: bool,
    /// The delays that are to be over before the oracle looks at threads, by the numbers of their candidates.
    pub outlasted: &'a [(u32, Duration)],
    /// The crashes after which the trial goes on until nodes are ready again, by the numbers of their candidates.
    pub crashes: Option<&'a [u32]>,
    pub observer: &'a dyn Observer,
}

/// End of a stage.
pub(crate) struct Staged {
    pub end: End,
    pub wall: Duration,
    pub processes: Vec<ProcessOutcome>,
    pub problems: Vec<Problem>,
    /// For each question: whether its command ended with status 0, if it could be asked.
    pub answers: Vec<Option<bool>>,
    /// True if the disk had no room for what processes wrote.
    pub disk_full: bool,
}

enum Event {
    /// An output of a process was read to its end.
    Closed(usize),
    Ready(usize),
    Progress(usize, u64),
    Keeper(KeeperEvent),
}

/// A process that was started.
struct Actor {
    outcome: ProcessOutcome,
    id: ProcessId,
    /// Its number among the workload's nodes or clients.
    part: usize,
    ready: bool,
    /// Outputs that are still read.
    open: u8,
    /// Its end and the time of it, until its last output is read: that output may be decisive.
    exited: Option<(End, u64, Instant)>,
}

/// A process that is to be started.
struct Part<'a> {
    role: Role,
    name: &'a str,
    /// Its number among the workload's nodes or clients.
    part: usize,
    command: &'a CommandLine,
    env: &'a BTreeMap<String, String>,
    /// Its working directory, if it differs from the workload's.
    directory: Option<&'a str>,
    /// True if the agent is in it.
    agent: bool,
}

/// Role of a process that is not part of the workload.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aside {
    Ready(usize),
    /// It prepares a node, by its number among the workload's.
    Before(usize),
    Question,
}

/// Progress of the command that prepares a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Preparing {
    Running,
    Done,
    Failed(End),
}

/// A command that was started for its answer.
struct Question {
    id: ProcessId,
    command: CommandLine,
    asked: Instant,
}

struct Play<'scope, 'env> {
    stage: &'env Stage<'env>,
    scope: &'scope Scope<'scope, 'env>,
    events: Sender<Event>,
    over: &'env AtomicBool,
    started: Instant,
    actors: Vec<Actor>,
    asides: BTreeMap<ProcessId, Aside>,
    /// Ends of asides, until somebody asks.
    answers: BTreeMap<ProcessId, End>,
    restarts: Vec<(Instant, usize)>,
    /// The nodes that a command prepares, by their numbers among the workload's, once it was started.
    preparing: BTreeMap<usize, Preparing>,
    readers: Vec<(usize, Output, ScopedJoinHandle<'scope, Kept>)>,
    problems: Vec<Problem>,
    /// When each of the delays that are outlasted has begun.
    delayed: Vec<Option<Instant>>,
    /// Time to dump the threads.
    dumping: Duration,
    disk_full: bool,
}

/// Runs the workload to its end, or ends it. Everything that it started is gone when this returns.
pub(crate) fn run(stage: &Stage<'_>) -> Result<Staged, LabError> {
    let over = AtomicBool::new(false);
    let (events, inbox) = mpsc::channel();
    std::thread::scope(|scope| {
        let started = Instant::now();
        let from_keeper = events.clone();
        let (keeper, over) = (stage.keeper, &over);
        scope.spawn(move || {
            while !over.load(Ordering::Acquire) {
                if let Some(event) = keeper.wait_event(TICK)
                    && from_keeper.send(Event::Keeper(event)).is_err()
                {
                    return;
                }
            }
        });
        // What goes wrong with the trial's file is reported by those who need it for more than the time.
        if stage.trial.wants_ticks() {
            scope.spawn(|| ticker::run(stage.trial, over));
        }
        let mut play = Play {
            stage,
            scope,
            events,
            over,
            started,
            actors: Vec::new(),
            asides: BTreeMap::new(),
            answers: BTreeMap::new(),
            restarts: Vec::new(),
            preparing: BTreeMap::new(),
            readers: Vec::new(),
            problems: Vec::new(),
            delayed: vec![None; stage.outlasted.len()],
            dumping: Duration::ZERO,
            disk_full: false,
        };
        let result = play.play(&inbox).and_then(|end| play.settle_nodes(end, &inbox));
        let finale = match &result {
            Ok(End::Interrupted) | Err(_) => Ok(Vec::new()),
            Ok(end) => play.finale(*end, &inbox),
        };
        let wall = started.elapsed().saturating_sub(play.dumping);
        let finished = stage.keeper.finish();
        over.store(true, Ordering::Release);
        play.close();
        let (end, answers) = (result?, finale?);
        let left = finished?.left;
        let live = play.actors.iter().filter(|it| it.outcome.end.is_none()).count();
        // The nodes of a cluster are ended with all they started; a command should have ended itself.
        if let Some(more) = left.checked_sub(live).filter(|&more| more > 0)
            && stage.workload.command.is_some()
            && !matches!(end, End::TimedOut | End::Interrupted)
        {
            play.problem("processes", {
                let processes = if more == 1 { "process" } else { "processes" };
                format!("the trial ended {more} {processes} that the workload left behind")
            });
        }
        let processes = play.actors.into_iter().map(|it| it.outcome).collect();
        Ok(Staged { end, wall, processes, problems: play.problems, answers, disk_full: play.disk_full })
    })
}

impl<'env> Play<'_, 'env> {
    fn problem(&mut self, place: &str, what: String) {
        self.problems.push(Problem { place: place.to_owned(), what });
    }

    fn ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn play(&mut self, inbox: &Receiver<Event>) -> Result<End, LabError> {
        let workload = self.stage.workload;
        self.start_due_nodes()?;
        let limit = self.stage.timeout.unwrap_or(READY_TIME);
        loop {
            let (waiting, preparing) = (self.not_ready(), self.is_preparing());
            if waiting.is_none() && preparing.is_none() {
                break;
            }
            let left = limit.saturating_sub(self.started.elapsed());
            if left.is_zero() {
                match (preparing, waiting) {
                    (Some(part), _) => {
                        let what = format!("did not end in {:.0} s", limit.as_secs_f64());
                        self.say_not_prepared(part, &what);
                    }
                    (None, Some(waiting)) => self.say_not_ready(waiting, limit),
                    (None, None) => {}
                }
                return Ok(End::NotReady);
            }
            if let Some(end) = self.step(inbox, left)? {
                return Ok(end);
            }
            let failed = self.preparing.iter().find_map(|(&part, it)| match it {
                Preparing::Failed(end) => Some((part, *end)),
                _ => None,
            });
            if let Some((part, end)) = failed {
                self.say_not_prepared(part, &end.to_string());
                return Ok(End::NotReady);
            }
            if self.not_ready().is_some_and(|waiting| self.gone(waiting)) {
                return Ok(End::NotReady);
            }
            self.start_due_nodes()?;
        }
        if self.stage.arms_when_ready {
            self.stage.trial.arm()?;
        }
        if let Some(command) = &workload.command {
            let part = self.actors.len();
            self.start(Part {
                role: Role::Command,
                name: self.stage.main,
                part: 0,
                command,
                env: &BTreeMap::new(),
                directory: None,
                agent: true,
            })?;
            return self.until(inbox, |play| play.actors[part].outcome.end);
        }
        let mut phases: Vec<u32> = workload.client.iter().map(|it| it.phase).collect();
        phases.sort_unstable();
        phases.dedup();
        for phase in phases {
            let from = self.actors.len();
            for (part, client) in workload.client.iter().enumerate().filter(|(_, it)| it.phase == phase) {
                self.start_client(part, client)?;
            }
            let here = |it: &&Actor| it.outcome.role == Role::Client;
            let end = self.until(inbox, |play| {
                let clients: Vec<&Actor> = play.actors[from..].iter().filter(here).collect();
                if clients.iter().any(|it| it.outcome.end.is_none()) {
                    return None;
                }
                let bad = clients.iter().find(|it| !it.outcome.is_well());
                let end =
                    |it: &&Actor| it.outcome.end.filter(|end| !end.is_well()).unwrap_or(End::Unfinished);
                Some(bad.map_or(End::Exited { status: 0 }, end))
            })?;
            if !end.is_well() {
                self.say_clients(from);
                for client in workload.client.iter().filter(|it| it.phase > phase) {
                    self.problem(&client.name, format!("it was not started: phase {phase} did not succeed"));
                }
                return Ok(end);
            }
        }
        Ok(End::Exited { status: 0 })
    }

    /// Starts the nodes that were not started and wait for nobody. The workload's check says that all are due some time.
    fn start_due_nodes(&mut self) -> Result<(), LabError> {
        let nodes = &self.stage.workload.node;
        let due = |play: &Self| {
            nodes.iter().enumerate().position(|(part, node)| {
                let ready = |name: &String| play.actors.iter().any(|it| it.ready && it.outcome.name == *name);
                let is_prepared = play.preparing.get(&part).is_none_or(|it| *it == Preparing::Done);
                let is_new = node.command.is_some() && play.incarnations(&node.name) == 0;
                is_new && is_prepared && node.after.iter().all(ready)
            })
        };
        // One that is ready at once lets the next go.
        while let Some(part) = due(self) {
            match &nodes[part].before {
                Some(before) if !self.preparing.contains_key(&part) => self.prepare(part, before)?,
                _ => self.start_node(part, &nodes[part])?,
            }
        }
        Ok(())
    }

    /// Starts the command that prepares a node. It is no process of the cluster, and its output goes to files of its own.
    fn prepare(&mut self, part: usize, before: &CommandLine) -> Result<(), LabError> {
        let node = &self.stage.workload.node[part];
        let path = |from: Output| self.stage.directory.join(before_log(&node.name, from));
        let file = |path: PathBuf| {
            File::create(&path)
                .map(OwnedFd::from)
                .map_err(|source| LabError::File { path: path.display().to_string(), source })
        };
        let (stdout, stderr) = (file(path(Output::Stdout))?, file(path(Output::Stderr))?);
        let stdin = File::open("/dev/null")
            .map_err(|source| LabError::File { path: "/dev/null".to_owned(), source })?;
        let (command, variables) = (self.words(before)?, self.variables(&node.env));
        let directory = self.directory_of(node.directory.as_deref());
        let spawn = Spawn { command: &command, variables: &variables, directory: &directory };
        let id = self.stage.keeper.spawn(&spawn, stdin.into(), stdout, stderr)?;
        self.stage.observer.event(&node.name, "is prepared");
        self.asides.insert(id, Aside::Before(part));
        self.preparing.insert(part, Preparing::Running);
        Ok(())
    }

    /// A node whose preparation is not over.
    fn is_preparing(&self) -> Option<usize> {
        self.preparing.iter().find(|(_, it)| **it == Preparing::Running).map(|(&part, _)| part)
    }

    fn say_not_prepared(&mut self, part: usize, what: &str) {
        let node = &self.stage.workload.node[part];
        let before = node.before.as_ref().map_or("", |it| it.0.as_str());
        let logs = [Output::Stdout, Output::Stderr].map(|from| before_log(&node.name, from));
        let what =
            format!("its `before` {what}, so it was not started: `{before}`{}", self.last_line_of(&logs));
        self.problem(&node.name, what);
    }

    /// Goes on until the question has an answer, the time is up or the user asks.
    fn until(
        &mut self,
        inbox: &Receiver<Event>,
        answer: impl Fn(&Self) -> Option<End>,
    ) -> Result<End, LabError> {
        loop {
            if let Some(end) = answer(self) {
                return Ok(end);
            }
            let left = match self.stage.timeout {
                None => TICK,
                Some(limit) => match limit.saturating_sub(self.started.elapsed()) {
                    Duration::ZERO => return Ok(End::TimedOut),
                    left => left,
                },
            };
            if let Some(end) = self.step(inbox, left)? {
                return Ok(end);
            }
        }
    }

    /// Waits for something to happen, and lets it. An answer ends the trial.
    fn step(&mut self, inbox: &Receiver<Event>, left: Duration) -> Result<Option<End>, LabError> {
        if self.stage.observer.interrupted() {
            return Ok(Some(End::Interrupted));
        }
        let event = inbox.recv_timeout(left.min(TICK)).ok();
        if let Some(event) = event {
            self.take(event)?;
            while let Ok(event) = inbox.try_recv() {
                self.take(event)?;
            }
        }
        (0..self.actors.len()).for_each(|actor| self.settle(actor));
        self.look_for_delays()?;
        self.ask_conditions()?;
        let now = Instant::now();
        let due: Vec<usize> =
            self.restarts.iter().filter(|(at, _)| *at <= now).map(|&(_, part)| part).collect();
        self.restarts.retain(|(at, _)| *at > now);
        for part in due {
            self.stage.observer.event(&self.stage.workload.node[part].name, "is restarted");
            self.start_node(part, &self.stage.workload.node[part])?;
        }
        Ok(None)
    }

    fn take(&mut self, event: Event) -> Result<(), LabError> {
        let ms = self.ms();
        match event {
            Event::Closed(actor) => {
                self.actors[actor].open -= 1;
                self.settle(actor);
            }
            Event::Ready(actor) => self.set_ready(actor),
            Event::Progress(actor, step) => self.actors[actor].outcome.progress = Some(step),
            Event::Keeper(KeeperEvent::Gone(why)) => return Err(LabError::KeeperGone(why)),
            Event::Keeper(KeeperEvent::Exited { id, end }) => {
                if let Some(aside) = self.asides.remove(&id) {
                    match aside {
                        Aside::Ready(actor) if end.is_well() => self.set_ready(actor),
                        Aside::Ready(_) => {}
                        Aside::Before(part) => {
                            let now = if end.is_well() { Preparing::Done } else { Preparing::Failed(end) };
                            self.preparing.insert(part, now);
                        }
                        Aside::Question => {
                            self.answers.insert(id, end);
                        }
                    }
                } else if let Some(actor) = self.actors.iter().position(|it| it.id == id) {
                    self.actors[actor].exited = Some((end, ms, Instant::now()));
                    self.settle(actor);
                }
            }
        }
        Ok(())
    }

    /// Takes note of a process that has ended, once all that it wrote is read, or somebody else holds its output open.
    fn settle(&mut self, actor: usize) {
        let it = &mut self.actors[actor];
        let Some((end, ms, at)) = it.exited else { return };
        if it.open > 0 && at.elapsed() < LAST_WORDS_TIME {
            return;
        }
        it.exited = None;
        it.outcome.end = Some(end);
        it.outcome.ended_ms = Some(ms);
        self.stage.observer.event(&it.outcome.name, &end.to_string());
        let (role, part) = (it.outcome.role, it.part);
        if role == Role::Node {
            self.plan_restart(part);
        }
    }

    fn set_ready(&mut self, actor: usize) {
        let ms = self.ms();
        let actor = &mut self.actors[actor];
        if !actor.ready {
            actor.ready = true;
            actor.outcome.ready_ms = Some(ms);
            self.stage.observer.event(&actor.outcome.name, &format!("ready after {:.1} s", ms as f64 / 1e3));
        }
    }

    fn plan_restart(&mut self, part: usize) {
        let Some(restart) = self.stage.workload.node[part].restart else { return };
        let starts = self.incarnations(&self.stage.workload.node[part].name);
        if starts <= restart.times {
            self.restarts.push((Instant::now() + restart.delay.0, part));
        }
    }

    fn incarnations(&self, name: &str) -> u32 {
        self.actors.iter().filter(|it| it.outcome.name == name).count() as u32
    }

    /// A node that is not ready, of those that are there or will be.
    fn not_ready(&self) -> Option<usize> {
        self.actors.iter().rposition(|it| {
            let latest = it.outcome.incarnation == self.incarnations(&it.outcome.name);
            it.outcome.role == Role::Node && latest && !it.ready
        })
    }

    /// Tests whether a node that is not ready has ended and does not come again; says so.
    fn gone(&mut self, actor: usize) -> bool {
        let it = &self.actors[actor];
        if it.outcome.end.is_none() || self.restarts.iter().any(|&(_, part)| part == it.part) {
            return false;
        }
        let end = it.outcome.end.map_or(String::new(), |end| end.to_string());
        let what = format!("it {end} before it was ready{}", self.last_line(actor));
        let name = it.outcome.name.clone();
        self.problem(&name, what);
        true
    }

    fn say_not_ready(&mut self, actor: usize, limit: Duration) {
        let it = &self.actors[actor];
        let waited = match self.stage.workload.node[it.part].ready.as_ref() {
            Some(Condition::Log(text)) => format!("no line of its output has `{text}`"),
            Some(Condition::Port(port)) => format!("port {port} accepts no connection"),
            Some(Condition::File(path)) => format!("{path} does not exist"),
            Some(Condition::Command(CommandLine(text))) => format!("`{text}` does not exit with status 0"),
            None => "it did not start".to_owned(),
        };
        let what = format!(
            "it was not ready after {:.0} s: {waited}{}; check `ready`, or increase `timeout` of the workload",
            limit.as_secs_f64(),
            self.last_line(actor)
        );
        let name = it.outcome.name.clone();
        self.problem(&name, what);
    }

    /// The last words of a process, for a person.
    fn last_line(&self, actor: usize) -> String {
        self.last_line_of(&self.actors[actor].outcome.logs)
    }

    fn last_line_of(&self, logs: &[String]) -> String {
        const TAIL_BYTES: u64 = 4096;
        const SHOWN: usize = 200;
        let tail = |path: &str| -> Option<String> {
            use std::os::unix::fs::FileExt;
            let file = File::open(self.stage.directory.join(path)).ok()?;
            let from = file.metadata().ok()?.len().saturating_sub(TAIL_BYTES);
            let mut bytes = vec![0; TAIL_BYTES as usize];
            let count = file.read_at(&mut bytes, from).ok()?;
            let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
            let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
            Some(line.chars().take(SHOWN).collect())
        };
        match logs.iter().rev().find_map(|path| tail(path)) {
            Some(line) => format!("; its last line: {line}"),
            None => "; it wrote nothing".to_owned(),
        }
    }

    fn say_clients(&mut self, from: usize) {
        for actor in from..self.actors.len() {
            let it = &self.actors[actor].outcome;
            if it.role != Role::Client || it.is_well() {
                continue;
            }
            let mut what = it.end.map_or("it was ended".to_owned(), |end| format!("it {end}"));
            if let Some(steps) = it.steps {
                let done = it.progress.map_or("no step".to_owned(), |step| format!("step {step}"));
                what += &format!(" after {done} of {steps} (lines `progress N` of its output)");
            }
            let (name, what) = (it.name.clone(), what + &self.last_line(actor));
            self.problem(&name, what);
        }
    }

    /// Asks whatever does not say by itself that it holds.
    fn ask_conditions(&mut self) -> Result<(), LabError> {
        for actor in 0..self.actors.len() {
            let it = &self.actors[actor];
            if it.outcome.role != Role::Node || it.ready || it.outcome.end.is_some() {
                continue;
            }
            let holds = match &self.stage.workload.node[it.part].ready {
                Some(Condition::Port(port)) => self.stage.keeper.connects(*port)?,
                Some(Condition::File(path)) => self.path(path).exists(),
                Some(Condition::Command(command)) => {
                    if !self.asides.values().any(|&aside| aside == Aside::Ready(actor)) {
                        self.start_aside(command, Aside::Ready(actor))?;
                    }
                    false
                }
                Some(Condition::Log(_)) | None => false,
            };
            if holds {
                self.set_ready(actor);
            }
        }
        Ok(())
    }

    fn path(&self, text: &str) -> PathBuf {
        let Stage { base, directory, fresh, tmp, .. } = *self.stage;
        Place::on(text, &Ground { base, directory, fresh, tmp }).path()
    }

    /// Working directory of a process that may have its own.
    fn directory_of(&self, own: Option<&str>) -> PathBuf {
        let directory = own.or(self.stage.workload.directory.as_deref());
        directory.map_or_else(|| self.stage.base.to_owned(), |text| self.path(text))
    }

    fn start_node(&mut self, part: usize, node: &'env Node) -> Result<(), LabError> {
        let Some(command) = &node.command else { return Ok(()) };
        let directory = node.directory.as_deref();
        let (role, name, env, agent) = (Role::Node, &node.name, &node.env, node.agent.unwrap_or(true));
        self.start(Part { role, name, part, command, env, directory, agent })
    }

    fn start_client(&mut self, part: usize, client: &'env Client) -> Result<(), LabError> {
        let Client { name, command, env, agent, .. } = client;
        self.start(Part { role: Role::Client, name, part, command, env, directory: None, agent: *agent })
    }

    fn words(&self, command: &CommandLine) -> Result<Vec<String>, LabError> {
        command.words(&self.stage.fresh.display().to_string()).map_err(LabError::Workload)
    }

    fn variables(&self, own: &BTreeMap<String, String>) -> Vec<(String, OsString)> {
        let fresh = self.stage.fresh.display().to_string();
        let given = self.stage.workload.env.iter().chain(own);
        given
            .map(|(name, value)| (name.clone(), value.replace("{dir}", &fresh).into()))
            .chain([("HYPOCENTER_DIR".to_owned(), OsString::from(self.stage.fresh))])
            .collect()
    }

    fn start(&mut self, it: Part<'_>) -> Result<(), LabError> {
        let Part { role, name, part, command, env, directory, agent } = it;
        let (stage, number) = (self.stage, self.actors.len());
        let incarnation = self.incarnations(name) + 1;
        let mut command = self.words(command)?;
        let mut variables = self.variables(env);
        let mut filter = None;
        if agent && stage.workload.has_agent() {
            let own_options = variables.iter().rev().find(|(name, _)| name == JAVA_TOOL_OPTIONS);
            let own_options = own_options.map(|(_, value)| value.to_string_lossy().into_owned());
            let inherited = own_options.as_deref().or(stage.java_tool_options);
            let option = (stage.agent)(name);
            let with_agent = with_agent(&command, &option, inherited);
            filter = with_agent.variables.first().map(|(_, value)| PickedUp {
                ours: value.as_encoded_bytes().to_vec(),
                theirs: inherited.map(|it| it.as_bytes().to_vec()),
            });
            command = with_agent.command;
            variables.extend(with_agent.variables);
        }
        let cwd = self.directory_of(directory);
        let (mut logs, mut pipes, mut writers) = (Vec::new(), Vec::new(), Vec::new());
        for from in [Output::Stdout, Output::Stderr] {
            let again = if incarnation > 1 { format!(".{incarnation}") } else { String::new() };
            let path = format!("logs/{name}{again}.{}.log", from.name());
            let whole = stage.directory.join(&path);
            let file = File::create(&whole)
                .map_err(|source| LabError::File { path: whole.display().to_string(), source })?;
            let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
                .map_err(|code| LabError::File { path: "a pipe".to_owned(), source: code.into() })?;
            logs.push(path);
            pipes.push((from, file, reader));
            writers.push(writer);
        }
        let stdin = match stage.stdin {
            Some(stdin) if role == Role::Command => stdin.try_clone(),
            _ => File::open("/dev/null").map(OwnedFd::from),
        }
        .map_err(|source| LabError::File { path: "/dev/null".to_owned(), source })?;
        let [stdout, stderr] = <[OwnedFd; 2]>::try_from(writers).expect("two outputs");
        let spawn = Spawn { command: &command, variables: &variables, directory: &cwd };
        let id = stage.keeper.spawn(&spawn, stdin, stdout, stderr)?;
        let client = (role == Role::Client).then(|| &stage.workload.client[part]);
        let condition = (role == Role::Node).then(|| stage.workload.node[part].ready.as_ref());
        let ready = condition.is_none_or(|it| it.is_none());
        let started_ms = self.ms();
        self.actors.push(Actor {
            outcome: ProcessOutcome {
                name: name.to_owned(),
                role,
                incarnation,
                started_ms,
                ready_ms: condition.filter(|it| it.is_none()).map(|_| started_ms),
                ended_ms: None,
                end: None,
                progress: None,
                steps: client.and_then(|it| it.steps),
                alive: None,
                logs,
            },
            id,
            part,
            ready,
            open: 2,
            exited: None,
        });
        let wanted = match condition.flatten() {
            Some(Condition::Log(text)) => Some(LineText::new("ready", &LogText::Either(text.clone()))?),
            _ => None,
        };
        for (from, file, pipe) in pipes {
            let (events, wanted, over) = (self.events.clone(), wanted.clone(), self.over);
            let (name, filter, counts) = (name.to_owned(), filter.clone(), client.is_some());
            let observer = stage.observer;
            let handle = self.scope.spawn(move || {
                let ready = AtomicBool::new(false);
                let lines = |bytes: &[u8]| {
                    observer.output(&name, role, from, bytes);
                    if let Some(wanted) = &wanted
                        && !ready.load(Ordering::Relaxed)
                        && bytes.split(|&byte| byte == b'\n').any(|line| wanted.fits(line))
                    {
                        ready.store(true, Ordering::Relaxed);
                        let _ = events.send(Event::Ready(number));
                    }
                    if counts
                        && let Some(step) =
                            bytes.split(|&byte| byte == b'\n').filter_map(progress).next_back()
                    {
                        let _ = events.send(Event::Progress(number, step));
                    }
                };
                let kept = output::copy(pipe, Sink { file, filter, lines: &lines }, over);
                let _ = events.send(Event::Closed(number));
                kept
            });
            self.readers.push((number, from, handle));
        }
        Ok(())
    }

    /// Starts a command that is not part of the workload.
    fn start_aside(&mut self, command: &CommandLine, aside: Aside) -> Result<ProcessId, LabError> {
        let null = || {
            File::options()
                .read(true)
                .write(true)
                .open("/dev/null")
                .map(OwnedFd::from)
                .map_err(|source| LabError::File { path: "/dev/null".to_owned(), source })
        };
        let words = self.words(command)?;
        let variables = self.variables(&BTreeMap::new());
        let spawn = Spawn { command: &words, variables: &variables, directory: self.stage.base };
        let id = self.stage.keeper.spawn(&spawn, null()?, null()?, null()?)?;
        self.asides.insert(id, aside);
        Ok(id)
    }

    /// Notes when delays have begun.
    fn look_for_delays(&mut self) -> Result<(), LabError> {
        for (since, &(candidate, _)) in self.delayed.iter_mut().zip(self.stage.outlasted) {
            if since.is_none() && self.stage.trial.is_injected(candidate)? {
                *since = Some(Instant::now());
            }
        }
        Ok(())
    }

    /// Waits until no delay lasts any more, and what was held up has had time to go on.
    fn outlast(&mut self, inbox: &Receiver<Event>) -> Result<(), LabError> {
        self.look_for_delays()?;
        let begun = self.delayed.iter().zip(self.stage.outlasted);
        let Some(over) = begun.filter_map(|(since, &(_, lasts))| Some((*since)? + lasts)).max() else {
            return Ok(());
        };
        let until = over + RECOVERY_TIME;
        while Instant::now() < until && self.actors.iter().any(|it| it.outcome.end.is_none()) {
            if self.step(inbox, until.saturating_duration_since(Instant::now()))?.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Queries while the nodes are still running: their threads, their health, the commands of the oracle.
    fn finale(&mut self, end: End, inbox: &Receiver<Event>) -> Result<Vec<Option<bool>>, LabError> {
        self.outlast(inbox)?;
        let live = self.actors.iter().any(|it| it.outcome.end.is_none());
        if live && (self.stage.dump || !end.is_well()) {
            let begun = Instant::now();
            self.dump(inbox)?;
            self.dumping = begun.elapsed();
        }
        // All commands at once: each is a process, which may take its time.
        let mut commands = Vec::new();
        for actor in 0..self.actors.len() {
            let it = &self.actors[actor];
            if it.outcome.role != Role::Node || it.outcome.end.is_some() {
                continue;
            }
            let alive = match &self.stage.workload.node[it.part].alive {
                None => continue,
                Some(Condition::Port(port)) => self.stage.keeper.connects(*port)?,
                Some(Condition::File(path)) => self.path(path).exists(),
                Some(Condition::Command(command)) => {
                    commands.push((actor, self.question(command)));
                    continue;
                }
                Some(Condition::Log(text)) => {
                    let wanted = LineText::new("alive", &LogText::Either(text.clone()))?;
                    let logs: Vec<PathBuf> =
                        it.outcome.logs.iter().map(|path| self.stage.directory.join(path)).collect();
                    logs.iter().any(|path| {
                        fs::read(path)
                            .is_ok_and(|bytes| bytes.split(|&byte| byte == b'\n').any(|it| wanted.fits(it)))
                    })
                }
            };
            self.actors[actor].outcome.alive = Some(alive);
        }
        for (actor, question) in commands {
            self.actors[actor].outcome.alive = Some(self.answer(question, inbox)?.unwrap_or(false));
        }
        let mut answers = Vec::new();
        for command in self.stage.questions {
            let question = self.question(&CommandLine(command.clone()));
            answers.push(self.answer(question, inbox)?);
        }
        Ok(answers)
    }

    /// Starts a command whose end is an answer; none if it cannot be run.
    fn question(&mut self, command: &CommandLine) -> Option<Question> {
        match self.start_aside(command, Aside::Question) {
            Ok(id) => Some(Question { id, command: command.clone(), asked: Instant::now() }),
            Err(error) => {
                self.problem(&command.0, error.to_string());
                None
            }
        }
    }

    /// Tests whether a command ends with status 0; none if it could not be run or takes too long.
    fn answer(
        &mut self,
        question: Option<Question>,
        inbox: &Receiver<Event>,
    ) -> Result<Option<bool>, LabError> {
        let Some(Question { id, command, asked }) = question else { return Ok(None) };
        loop {
            if let Some(end) = self.answers.remove(&id) {
                return Ok(Some(end.is_well()));
            }
            if asked.elapsed() > ASIDE_TIME || self.stage.observer.interrupted() {
                self.problem(&command.0, format!("no answer in {} s", ASIDE_TIME.as_secs()));
                return Ok(None);
            }
            if let Ok(event) = inbox.recv_timeout(TICK) {
                self.take(event)?;
            }
        }
    }

    fn dump(&mut self, inbox: &Receiver<Event>) -> Result<(), LabError> {
        let request = self.stage.trial.request_dump()?;
        let asked = Instant::now();
        loop {
            let pending = self.stage.trial.dumps_pending(request)?;
            let waits = pending.iter().any(|jvm| {
                let last = self.actors.iter().rev().find(|it| it.outcome.name == jvm.node);
                last.is_none_or(|it| {
                    let again = it.outcome.incarnation > 1;
                    it.outcome.end.is_none() && !(again && self.has_dumped(&jvm.node, request))
                })
            });
            if !waits {
                return Ok(());
            }
            if asked.elapsed() > DUMP_TIME {
                let names: Vec<String> =
                    pending.iter().map(|it| format!("{} (pid {})", it.node, it.pid)).collect();
                self.problem("thread dump", format!("no answer from {}", names.join(", ")));
                return Ok(());
            }
            if let Ok(event) = inbox.recv_timeout(Duration::from_millis(5)) {
                self.take(event)?;
            }
        }
    }

    /// Tests whether a JVM of a node has answered. A restarted node has a slot for each of its lives, and only the last answers.
    fn has_dumped(&self, node: &str, request: u32) -> bool {
        let (start, end) = (format!("{node}-"), format!("-{request}.json"));
        let entries = fs::read_dir(self.stage.directory.join("dumps")).into_iter().flatten().flatten();
        entries
            .map(|it| it.file_name().to_string_lossy().into_owned())
            .any(|it| it.starts_with(&start) && it.ends_with(&end))
    }

    /// Waits for the last words of everybody.
    fn close(&mut self) {
        // Those that had ended by themselves, and whose outputs were still read.
        for actor in 0..self.actors.len() {
            self.actors[actor].open = 0;
            self.settle(actor);
        }
        for (actor, from, reader) in std::mem::take(&mut self.readers) {
            let place = format!("{} of {}", from.name(), self.actors[actor].outcome.name);
            let Ok(kept) = reader.join() else {
                self.problem(&place, "its reader failed: internal error".to_owned());
                continue;
            };
            if let Some(error) = kept.trouble {
                self.disk_full |= error.kind() == ErrorKind::StorageFull;
                self.problem(&place, format!("incomplete: {error}; free some space on its disk"));
            }
            if kept.dropped > 0 {
                self.problem(
                    &place,
                    format!(
                        "{} bytes beyond the first {} MB were not kept; reduce the output of the workload",
                        kept.dropped,
                        output::KEPT_BYTES_MAX >> 20
                    ),
                );
            }
        }
    }
}

/// The file that has the output of the command that prepares a node, in the trial's directory.
fn before_log(node: &str, from: Output) -> String {
    format!("logs/{node}.before.{}.log", from.name())
}

/// Tests whether the texts of a workload's conditions can be looked for.
pub fn check_conditions(workload: &Workload) -> Result<(), LabError> {
    for node in &workload.node {
        for (what, condition) in [("ready", &node.ready), ("alive", &node.alive)] {
            if let Some(Condition::Log(text)) = condition {
                LineText::new(what, &LogText::Either(text.clone()))?;
            }
        }
    }
    Ok(())
}

/// The step that a line names: `progress 3`.
fn progress(line: &[u8]) -> Option<u64> {
    std::str::from_utf8(line).ok()?.trim().strip_prefix("progress ")?.trim().parse().ok()
}
