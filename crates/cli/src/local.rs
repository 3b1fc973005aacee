//! Campaigns on this machine: the target opened, the map made, and the lab's pool to carry out the trials.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hypocenter_engine::{Engine, Job, JobId, Tally, Work};
use hypocenter_lab::executor::Local;
use hypocenter_lab::{
    Campaign, Head, Host, JOURNAL_VERSION, Journal, LabError, Lock, Observer, Output, Prepared, Progress,
    Sitting, Stopped, Surroundings, TrialFiles, keeper,
};
use hypocenter_plan::{Fault, Outcome, Plan, Problem, Role};
use hypocenter_program::{MapSummary, build_map};
use hypocenter_trace::{MapBuilder, hash};

use crate::args::{Keep, LabArgs, SandboxChoice};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::request::Request;
use crate::screen::{self, Bar};
use crate::store::Called;
use crate::target::Target;
use crate::watched::Watched;
use crate::{agent_library, clock, store, throwable};

/// This program, also when its file was replaced meanwhile by another version.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// A campaign that is ready to run.
#[derive(Debug)]
pub struct Ready {
    /// Its settings.
    pub request: Request,
    /// Its directory.
    pub directory: PathBuf,
    prepared: Prepared,
    surroundings: Surroundings,
    /// Stands for the target in the journal.
    target: String,
    /// Lock against others; absent for one trial beside a campaign.
    lock: Option<Lock>,
    /// Whether only its runs without a fault are carried out.
    pub is_dry: bool,
}

/// Results of a campaign.
#[derive(Debug)]
pub struct Ran {
    /// Reason for its end.
    pub stopped: Stopped,
    /// Over all its trials.
    pub tally: Tally,
    /// The trials of this run that did not end well, with what they say.
    pub bad: BTreeMap<JobId, String>,
    /// Duration of this run.
    pub took: Duration,
    /// Trials of this run of which the oracle could not say anything.
    pub unjudged: u64,
    /// Rest of a trial that the user interrupted.
    pub ended_early: Option<Outcome>,
}

impl Ready {
    /// Begins a new campaign, or goes on with that of the same name.
    pub fn begin(request: Request, target: &Target, lab: &LabArgs) -> Result<Ready, Failure> {
        screen::problems(&target.problems);
        if let Some(oracle) = &request.oracle {
            target.check_frames(oracle)?;
            target.tell_tests(oracle);
        }
        let made = make_map(&request, target)?;
        let directory = match &lab.campaign {
            None => store::new_campaign(&lab.out, &request.verb)?,
            Some(name) => store::named_campaign(&lab.out, name)?,
        };
        let lock = Some(Lock::take(&directory)?);
        if Journal::path_in(&directory).exists() {
            let before = Request::read(&directory)?;
            if before != request {
                return Err(Failure::usage(format!(
                    "{} was started with another command or other settings",
                    directory.display()
                ))
                .hint(format!(
                    "continue it with `{}`, or give another --campaign",
                    Called::of(&directory).resume(before.resumed_by())
                )));
            }
        } else {
            request.write(&directory)?;
        }
        let prepared = keep(made, &directory)?;
        let ready = Ready::of(request, directory, prepared, lab, lock)?;
        ready.is_latest(lab);
        Ok(ready)
    }

    fn is_latest(&self, lab: &LabArgs) {
        if let Some(name) = self.directory.file_name().and_then(|it| it.to_str()) {
            store::point_latest_at(&lab.out, name);
        }
    }

    /// Goes on with a campaign that was begun before.
    pub fn resume(directory: PathBuf, lab: &LabArgs) -> Result<Ready, Failure> {
        let request = Request::read(&directory)?;
        let lock = Some(Lock::take(&directory)?);
        let target = Target::open(&request.target)?;
        screen::problems(&target.problems);
        let made = make_map(&request, &target)?;
        let prepared = keep(made, &directory)?;
        Ready::of(request, directory, prepared, lab, lock)
    }

    /// Takes part in a campaign that somebody else may run, with what it has kept; the target is not read.
    pub fn beside(directory: PathBuf, lab: &LabArgs) -> Result<Ready, Failure> {
        let request = Request::read(&directory)?;
        let prepared = Prepared::read(&directory)?;
        prepared.map(prepared.hooks())?;
        Ready::of(request, directory, prepared, lab, None)
    }

    fn of(
        request: Request,
        directory: PathBuf,
        prepared: Prepared,
        lab: &LabArgs,
        lock: Option<Lock>,
    ) -> Result<Ready, Failure> {
        let workload = serde_json::to_vec(&(
            &request.workloads,
            &request.oracle,
            &request.plan,
            &request.hooks,
            request.repeat,
            &request.inputs,
            &request.engine,
        ))
        .expect("a workload is always JSON");
        let target = format!("{:016x}", hash::bytes(&workload, prepared.hooks().0));
        let own = PathBuf::from(OWN_PROGRAM);
        let mut visible = request.target.classpath.clone();
        visible.push(request.target.java_home.clone());
        visible.extend(std::env::current_dir());
        visible.extend(std::env::var_os("PATH").iter().flat_map(|it| installed_below_tmp(it)));
        let sandbox = sandbox(lab, &own)?;
        let surroundings = Surroundings {
            agent: agent_library::unpacked()?,
            keeper: own,
            sandbox,
            java_tool_options: std::env::var("JAVA_TOOL_OPTIONS").ok(),
            visible,
        };
        Ok(Ready { request, directory, prepared, surroundings, target, lock, is_dry: false })
    }

    /// Stands for the target and all that is asked of it, in the journal.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Runs its trials.
    pub fn run(&self, lab: &LabArgs, observer: &dyn Observer, interrupt: &Interrupt) -> Result<Ran, Failure> {
        let mut engine = self.request.engine();
        let started = Instant::now();
        let shown = Shown {
            bar: (self.request.repeat > 1).then(|| Bar::new(self.request.repeat)),
            bad: Mutex::default(),
            judges: self.request.oracle.is_some(),
            several: self.request.workloads.len() > 1,
            unjudged: AtomicU64::new(0),
        };
        let driven = self.drive(&mut engine, lab, observer, interrupt, &shown);
        if let Some(bar) = &shown.bar {
            bar.finish();
        }
        let Sitting { stopped, ended_early, .. } = driven?;
        let ended_early = ended_early.map(|it| *it);
        let unjudged = shown.unjudged.into_inner();
        let bad = shown.bad.into_inner().unwrap_or_else(|poison| poison.into_inner());
        let tally = engine.results(&|_| None);
        Ok(Ran { stopped, tally, bad, took: started.elapsed(), unjudged, ended_early })
    }

    /// Runs the campaign under an engine.
    pub fn drive<E: Engine>(
        &self,
        engine: &mut E,
        lab: &LabArgs,
        observer: &dyn Observer,
        interrupt: &Interrupt,
        progress: &dyn Progress,
    ) -> Result<Sitting, Failure> {
        let campaign = Campaign {
            directory: &self.directory,
            lock: self.lock.as_ref().expect("whoever runs a campaign has its lock"),
            head: Head {
                journal: JOURNAL_VERSION,
                engine: engine.name().to_owned(),
                seed: self.request.seed,
                target: self.target.clone(),
                tool: env!("CARGO_PKG_VERSION").to_owned(),
            },
            begun: clock::begun(),
            keep_traces: lab.keep.contains(&Keep::Traces),
            is_dry: self.is_dry,
        };
        let host = self.host()?;
        let mut engine = Watched(engine);
        let digester = engine.digester();
        let _running = Interrupt::campaign(Called::of(&self.directory).resume(self.request.resumed_by()));
        Ok(Local::with(&host, &digester, &Noticed(observer), usize::from(lab.jobs), |pool| {
            campaign.run(&mut engine, pool, progress, &|| interrupt.asked())
        })?)
    }

    /// The classes that stand for others where those are to be thrown.
    pub fn may_throw(&mut self, classes: Vec<(String, Vec<String>)>) -> Result<(), Failure> {
        Ok(self.prepared.may_throw(classes)?)
    }

    /// Counts the trials that have an outcome.
    pub fn done(&self) -> u64 {
        let outcome =
            |it: u64| TrialFiles::of(&hypocenter_lab::trial_directory(&self.directory, JobId(it))).outcome;
        (0..self.request.repeat).filter(|&it| outcome(it).exists()).count() as u64
    }

    /// Runs the trial of a job, in its place in the campaign.
    pub fn trial(&self, job: &Job, observer: &dyn Observer) -> Result<Outcome, LabError> {
        self.host()?.trial(job, &Noticed(observer))
    }

    /// The host that runs trials here, from the files of the campaign.
    fn host(&self) -> Result<Host, LabError> {
        let host = Host::open(&self.directory, self.surroundings.clone())?;
        // Many trials cannot share one input.
        Ok(host.with_stdin(if self.request.repeat == 1 { screen::stdin() } else { None }))
    }
}

/// Keeps the map of a campaign in its directory. One that goes on must have the same.
fn keep(made: Made, directory: &Path) -> Result<Prepared, Failure> {
    let (bytes, digest) = made.map.encode()?;
    let before = Prepared::read(directory).ok().filter(|_| Journal::path_in(directory).exists());
    if before.is_some_and(|it| it.hooks().0 != digest) {
        return Err(Failure::usage(format!(
            "{}: the classes have changed since the campaign was started",
            directory.display()
        ))
        .hint("start a new campaign, or restore the old classes"));
    }
    Ok(Prepared::keep(directory, (&bytes, digest), made.throwables)?)
}

struct Made {
    map: MapBuilder,
    throwables: BTreeMap<String, Vec<String>>,
}

fn make_map(request: &Request, target: &Target) -> Result<Made, Failure> {
    let plan = &request.plan;
    let (map, summary, problems) = hooked(request, target)?;
    screen::problems(&problems);
    if !request.workload().has_agent() {
        if !plan.candidates.is_empty() || request.engine.is_some() {
            let what = format!("workload `{}` has `agent = false`", request.workload().name);
            return Err(Failure::usage(format!("{what}, so no fault can be injected into it"))
                .hint("remove `agent` from it; for a single run without the agent, use `run --no-agent`"));
        }
        // Whatever the map has, nobody reads it.
        screen::line("agent", "in no process (not instrumented)");
        return Ok(Made { map, throwables: BTreeMap::new() });
    }
    if map.site_count() == 0 {
        target.check_packages()?;
        return Err(Failure::usage(format!(
            "nothing to hook: no class of {} has sites of these kinds",
            target.packages.join(", ")
        ))
        .hint("correct --packages or `packages` of hypocenter.toml, or --hook"));
    }
    screen::line(
        "hooks",
        &format!(
            "{} in {} of {}",
            screen::count(map.site_count() as u64, "site", "sites"),
            screen::count(summary.methods as u64, "method", "methods"),
            screen::count(summary.classes as u64, "class", "classes")
        ),
    );
    let mut throwables = BTreeMap::new();
    for candidate in &plan.candidates {
        if let Fault::Exception { class, .. } = &candidate.fault
            && !throwables.contains_key(class)
        {
            throwables.insert(class.clone(), throwable::concrete(&target.with_jdk, class)?);
        }
    }
    Ok(Made { map, throwables })
}

/// The map for the hooks of a campaign. Classes may have changed since the trial that a replay is of: then what only other
/// trials needed may be gone.
fn hooked(request: &Request, target: &Target) -> Result<(MapBuilder, MapSummary, Vec<Problem>), Failure> {
    let Some(hooks) = &request.hooks else { return Ok(build_map(&target.with_jdk, &request.plan)?) };
    let mut hooks = Plan::clone(hooks);
    hooks.candidates.extend_from_slice(&request.plan.candidates);
    hooks.order.extend_from_slice(&request.plan.order);
    hooks.force.extend_from_slice(&request.plan.force);
    hooks.set.extend_from_slice(&request.plan.set);
    let own = hooks.candidates.len() - request.plan.candidates.len();
    match build_map(&target.with_jdk, &hooks) {
        Err(hypocenter_program::Error::MissingCandidates { missing })
            if missing.iter().all(|it| it.candidate < own) =>
        {
            let calls = screen::count(missing.len() as u64, "call", "calls");
            let what = format!("{calls} of the campaign no longer exist; the call of this fault does");
            screen::note("classes", &what);
            let gone: BTreeSet<usize> = missing.iter().map(|it| it.candidate).collect();
            let mut number = 0..;
            hooks.candidates.retain(|_| number.next().is_none_or(|it| !gone.contains(&it)));
            Ok(build_map(&target.with_jdk, &hooks)?)
        }
        built => Ok(built?),
    }
}

/// The places below `/tmp` that a search path names, of which a sandbox would show none: for `PREFIX/bin` it is `PREFIX`, because
/// a program finds its own files there.
fn installed_below_tmp(path: &OsStr) -> Vec<PathBuf> {
    const TMP: &str = "/tmp";
    let below = |it: &Path| it.starts_with(TMP) && it != Path::new(TMP);
    let place = |it: PathBuf| {
        let prefix = it.parent().filter(|_| it.ends_with("bin")).filter(|it| below(it));
        prefix.map_or_else(|| it.clone(), Path::to_owned)
    };
    std::env::split_paths(path).filter(|it| below(it)).map(place).collect()
}

/// Tests whether trials get sandboxes; says why not, where that matters.
fn sandbox(lab: &LabArgs, own: &Path) -> Result<bool, Failure> {
    const SHARED: &str = "trials share the ports and /tmp of the machine, so trials with fixed ports or paths cannot run in parallel";
    match lab.sandbox {
        SandboxChoice::Off => {
            if lab.jobs > 1 {
                screen::note("sandbox", &format!("off: {SHARED}"));
            }
            Ok(false)
        }
        choice => {
            match keeper::probe(own) {
                Ok(()) => Ok(true),
                Err(why) if choice == SandboxChoice::On => Err(Failure::usage(why)
                    .hint("run with --sandbox off, and --jobs 1 if ports or paths are fixed")),
                Err(why) => {
                    screen::note("sandbox", &format!("none: {why}; {SHARED}"));
                    Ok(false)
                }
            }
        }
    }
}

/// An observer of trials of which a signal knows: they are ended before the tool is.
struct Noticed<'a>(&'a dyn Observer);

impl Observer for Noticed<'_> {
    fn began(&self) {
        Interrupt::trial_began();
        self.0.began();
    }

    fn ended(&self) {
        self.0.ended();
        Interrupt::trial_ended();
    }

    fn output(&self, process: &str, role: Role, from: Output, bytes: &[u8]) {
        self.0.output(process, role, from, bytes);
    }

    fn event(&self, process: &str, what: &str) {
        self.0.event(process, what);
    }

    fn planned(&self) {
        self.0.planned();
    }

    fn gone(&self) {
        self.0.gone();
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

struct Shown {
    bar: Option<Bar>,
    bad: Mutex<BTreeMap<JobId, String>>,
    /// True if there is an oracle.
    judges: bool,
    /// True if there are several workloads, so that the one that went badly is named.
    several: bool,
    /// Trials of which it could not say anything.
    unjudged: AtomicU64,
}

impl Progress for Shown {
    fn resumed(&self, told: u64, cut: bool) {
        let more =
            if cut { "; the last line of the journal was truncated, and its trial is run again" } else { "" };
        screen::resumed(told, more);
        if let Some(bar) = &self.bar {
            bar.resumed(told);
        }
    }

    fn again(&self, job: &Job, why: &str) {
        screen::run_again(job.id.0, why);
    }

    fn ended(&self, job: &Job, outcome: Option<&Outcome>) {
        let Some(outcome) = outcome else { return };
        let injected = outcome.injected() > 0;
        let mut text = match &outcome.failure {
            Some(failure) if failure.happened => format!("the failure happened: {}", failure.why),
            _ => outcome.end.to_string(),
        };
        text = outcome.after_node_ends(&text);
        let unjudged = self.judges && outcome.failure.is_none();
        self.unjudged.fetch_add(u64::from(unjudged), Ordering::Relaxed);
        if unjudged {
            text += ", the oracle could not judge it";
        }
        let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
        let bad = !outcome.end.is_well() || happened || unjudged;
        if !outcome.candidates.is_empty() && !injected {
            text += ", no fault was injected";
        }
        if let Some(bar) = &self.bar {
            bar.ended(job.id.0, bad, &text, Duration::from_millis(outcome.wall_ms));
        }
        if bad {
            if let (true, Work::Trial { workload, .. }) = (self.several, &job.work) {
                text = format!("{workload} {text}");
            }
            self.bad.lock().unwrap_or_else(|poison| poison.into_inner()).insert(job.id, text);
        }
    }
}
