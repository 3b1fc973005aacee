//! Campaigns on this machine: the target opened, the map made, trials run by a pool of threads.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hypocenter_engine::{Engine, Job, JobId, Plans, Tally};
use hypocenter_lab::{
    Campaign, Executor, Head, JOURNAL_VERSION, Journal, LabError, Lock, Observer, Prepared, Progress,
    Stopped, Surroundings, Trial, TrialFiles, keeper,
};
use hypocenter_plan::{End, Fault, Outcome, Plan, Problem};
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
    /// What it is to do.
    pub request: Request,
    /// Its directory.
    pub directory: PathBuf,
    prepared: Prepared,
    surroundings: Surroundings,
    /// Stands for the target in the journal.
    target: String,
    /// What keeps others out; absent for one trial beside a campaign.
    lock: Option<Lock>,
}

/// What a campaign gave.
#[derive(Debug)]
pub struct Ran {
    /// How it stopped.
    pub stopped: Stopped,
    /// Over all its trials.
    pub tally: Tally,
    /// The trials of this run that did not end well, with what they say.
    pub bad: BTreeMap<JobId, String>,
    /// How long this run took.
    pub took: Duration,
    /// Trials of this run of which the oracle could not say anything.
    pub unjudged: u64,
    /// What there was of a trial that the user ended.
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
                    "{} was begun with another command or other settings",
                    directory.display()
                ))
                .hint(format!(
                    "go on with `{}`, or give another --campaign",
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
            &request.workload,
            &request.oracle,
            &request.plan,
            &request.hooks,
            request.repeat,
            &request.reproduce,
            &request.explore,
        ))
        .expect("a workload is always JSON");
        let target = format!("{:016x}", hash::bytes(&workload, prepared.digest));
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
            timeout: request.timeout.map(|it| it.0),
            java_tool_options: std::env::var("JAVA_TOOL_OPTIONS").ok(),
            visible,
        };
        Ok(Ready { request, directory, prepared, surroundings, target, lock })
    }

    /// Stands for the target and all that is asked of it, in the journal.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Runs its trials.
    pub fn run(&self, lab: &LabArgs, observer: &dyn Observer, interrupt: &Interrupt) -> Result<Ran, Failure> {
        let mut engine = Plans::new(self.request.workload.name.clone(), self.request.plans());
        let started = Instant::now();
        let shown = Shown {
            bar: (self.request.repeat > 1).then(|| Bar::new(self.request.repeat)),
            bad: Mutex::default(),
            judges: self.request.oracle.is_some(),
            unjudged: AtomicU64::new(0),
        };
        let driven = self.drive(&mut engine, lab, observer, interrupt, &shown);
        if let Some(bar) = &shown.bar {
            bar.finish();
        }
        let (stopped, ended_early) = driven?;
        let unjudged = shown.unjudged.into_inner();
        let bad = shown.bad.into_inner().unwrap_or_else(|poison| poison.into_inner());
        let tally = engine.verdict();
        Ok(Ran { stopped, tally, bad, took: started.elapsed(), unjudged, ended_early })
    }

    /// Runs the campaign under an engine. Gives how it stopped, and what there was of a trial that the user ended.
    pub fn drive<E: Engine>(
        &self,
        engine: &mut E,
        lab: &LabArgs,
        observer: &dyn Observer,
        interrupt: &Interrupt,
        progress: &dyn Progress,
    ) -> Result<(Stopped, Option<Outcome>), Failure> {
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
            jobs: usize::from(lab.jobs),
            begun: clock::begun(),
            keep_traces: lab.keep.contains(&Keep::Traces),
        };
        let local = Local { ready: self, observer, interrupt, ended_early: Mutex::default() };
        let _running = Interrupt::campaign(Called::of(&self.directory).resume(self.request.resumed_by()));
        let stopped = campaign.run(&mut Watched(engine), &local, progress)?;
        Ok((stopped, local.ended_early.into_inner().unwrap_or_else(|poison| poison.into_inner())))
    }

    /// The classes that stand for others where those are to be thrown.
    pub fn may_throw(&mut self, classes: Vec<(String, Vec<String>)>) -> Result<(), Failure> {
        Ok(self.prepared.may_throw(&self.directory, classes)?)
    }

    /// Counts the trials that have an outcome.
    pub fn done(&self) -> u64 {
        let outcome =
            |it: u64| TrialFiles::of(&hypocenter_lab::trial_directory(&self.directory, JobId(it))).outcome;
        (0..self.request.repeat).filter(|&it| outcome(it).exists()).count() as u64
    }

    /// Runs one trial of the campaign, in its place.
    pub fn one(
        &self,
        id: JobId,
        plan: &Plan,
        directory: &Path,
        observer: &dyn Observer,
    ) -> Result<Outcome, LabError> {
        let trial = Trial {
            number: id.0,
            plan,
            workload: &self.request.workload,
            base: &self.request.base,
            main: &self.request.main,
            prepared: &self.prepared,
            oracle: self.request.oracle.as_ref(),
            surroundings: &self.surroundings,
            // Many trials cannot share one input.
            stdin: if self.request.repeat == 1 { screen::stdin() } else { None },
            directory,
        };
        let _running = Interrupt::trial();
        trial.run(observer)
    }
}

/// Keeps a map in the directory of a campaign: all its trials have the same.
fn keep(made: Made, directory: &Path) -> Result<Prepared, Failure> {
    let (bytes, digest) = made.map.encode()?;
    if Journal::path_in(directory).exists() {
        let path = directory.join("map");
        let before = fs::read(&path);
        if before.is_ok_and(|before| before != bytes) {
            return Err(Failure::usage(format!(
                "{}: the classes are not those that the campaign was begun with",
                directory.display()
            ))
            .hint("begin a new campaign, or bring the old classes back"));
        }
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
    if !request.workload.has_agent() {
        if !plan.candidates.is_empty() || request.reproduce.is_some() || request.explore.is_some() {
            let what = format!("workload `{}` has `agent = false`", request.workload.name);
            return Err(Failure::usage(format!("{what}, so no fault can happen in it"))
                .hint("take `agent` out of it; `run --no-agent` does without for once"));
        }
        // Whatever the map has, nobody reads it.
        screen::line("agent", "in no process: nothing is instrumented");
        return Ok(Made { map, throwables: BTreeMap::new() });
    }
    if map.site_count() == 0 {
        target.check_packages()?;
        return Err(Failure::usage(format!(
            "nothing to hook: no class of {} has such sites",
            target.packages.join(", ")
        ))
        .hint("check --packages or `packages` of hypocenter.toml, and --hook"));
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
    let own = hooks.candidates.len() - request.plan.candidates.len();
    match build_map(&target.with_jdk, &hooks) {
        Err(hypocenter_program::Error::MissingCandidates { missing })
            if missing.iter().all(|it| it.candidate < own) =>
        {
            let calls = screen::count(missing.len() as u64, "call", "calls");
            let what = format!("they no longer have {calls} of the campaign, none of them this fault's");
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

/// Whether trials get sandboxes; says why not, where that matters.
fn sandbox(lab: &LabArgs, own: &Path) -> Result<bool, Failure> {
    const SHARED: &str =
        "trials share the machine's ports and its /tmp, so those with fixed ones cannot run side by side";
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

struct Local<'a> {
    ready: &'a Ready,
    observer: &'a dyn Observer,
    interrupt: &'a Interrupt,
    ended_early: Mutex<Option<Outcome>>,
}

impl Executor for Local<'_> {
    fn trial(&self, id: JobId, workload: &str, plan: &Plan, directory: &Path) -> Result<Outcome, LabError> {
        let known = &self.ready.request.workload.name;
        if workload != known {
            return Err(LabError::Workload(format!("the campaign has workload `{known}`, not `{workload}`")));
        }
        let outcome = self.ready.one(id, plan, directory, self.observer)?;
        if outcome.end == End::Interrupted {
            *self.ended_early.lock().unwrap_or_else(|poison| poison.into_inner()) = Some(outcome.clone());
        }
        Ok(outcome)
    }

    fn log_files(&self, directory: &Path) -> Vec<PathBuf> {
        hypocenter_lab::log_files_of(&self.ready.request.workload, directory)
    }

    fn interrupted(&self) -> bool {
        self.interrupt.asked()
    }
}

struct Shown {
    bar: Option<Bar>,
    bad: Mutex<BTreeMap<JobId, String>>,
    /// Whether there is an oracle.
    judges: bool,
    /// Trials of which it could not say anything.
    unjudged: AtomicU64,
}

impl Progress for Shown {
    fn resumed(&self, told: u64, cut: bool) {
        let more = if cut { "; its last line was cut short, and that trial is run again" } else { "" };
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
            text += ", the oracle could not say whether the failure happened";
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
            self.bad.lock().unwrap_or_else(|poison| poison.into_inner()).insert(job.id, text);
        }
    }
}
