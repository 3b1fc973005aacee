//! Campaigns on this machine: the target opened, the map made, trials run by a pool of threads.

use std::collections::BTreeMap;
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
use hypocenter_plan::{End, Fault, Outcome, Plan};
use hypocenter_program::build_map;
use hypocenter_trace::{MapBuilder, hash};

use crate::args::{LabArgs, SandboxChoice};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::request::Request;
use crate::screen::{self, Bar};
use crate::store::Called;
use crate::target::Target;
use crate::watched::Watched;
use crate::{agent_library, store, throwable};

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
    /// Trials of this run in which no JVM took part.
    pub without_agent: u64,
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
        let made = make_map(&request.plan, target)?;
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
            let ready = Ready::of(request, directory, made, lab, lock)?;
            ready.is_latest(lab);
            return Ok(ready);
        }
        request.write(&directory)?;
        let ready = Ready::of(request, directory, made, lab, lock)?;
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
        Ready::again(request, directory, lab, lock)
    }

    /// Takes part in a campaign that somebody else may run.
    pub fn beside(directory: PathBuf, lab: &LabArgs) -> Result<Ready, Failure> {
        let request = Request::read(&directory)?;
        Ready::again(request, directory, lab, None)
    }

    fn again(
        request: Request,
        directory: PathBuf,
        lab: &LabArgs,
        lock: Option<Lock>,
    ) -> Result<Ready, Failure> {
        let target = Target::open(&request.target)?;
        screen::problems(&target.problems);
        let made = make_map(&request.plan, &target)?;
        Ready::of(request, directory, made, lab, lock)
    }

    fn of(
        request: Request,
        directory: PathBuf,
        made: Made,
        lab: &LabArgs,
        lock: Option<Lock>,
    ) -> Result<Ready, Failure> {
        let path = directory.join("map");
        let digest = keep_map(made.map, &directory, &path)?;
        let workload = serde_json::to_vec(&(
            &request.workload,
            &request.oracle,
            &request.plan,
            request.repeat,
            &request.reproduce,
            &request.explore,
        ))
        .expect("a workload is always JSON");
        let target = format!("{:016x}", hash::bytes(&workload, digest));
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
        let prepared = Prepared { map: path, throwables: made.throwables };
        Ok(Ready { request, directory, prepared, surroundings, target, lock })
    }

    /// Runs its trials.
    pub fn run(&self, lab: &LabArgs, observer: &dyn Observer, interrupt: &Interrupt) -> Result<Ran, Failure> {
        let mut engine = Plans::new(self.request.workload.name.clone(), self.request.plans());
        let started = Instant::now();
        let shown = Shown {
            bar: (self.request.repeat > 1).then(|| Bar::new(self.request.repeat)),
            bad: Mutex::default(),
            without_agent: AtomicU64::new(0),
            judges: self.request.oracle.is_some(),
            unjudged: AtomicU64::new(0),
        };
        let driven = self.drive(&mut engine, lab, observer, interrupt, &shown);
        if let Some(bar) = &shown.bar {
            bar.finish();
        }
        let (stopped, ended_early) = driven?;
        let (without_agent, unjudged) = (shown.without_agent.into_inner(), shown.unjudged.into_inner());
        let bad = shown.bad.into_inner().unwrap_or_else(|poison| poison.into_inner());
        let tally = engine.verdict();
        Ok(Ran { stopped, tally, bad, took: started.elapsed(), without_agent, unjudged, ended_early })
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
        };
        let local = Local { ready: self, observer, interrupt, ended_early: Mutex::default() };
        let _running = Interrupt::campaign(Called::of(&self.directory).resume(self.request.resumed_by()));
        let stopped = campaign.run(&mut Watched(engine), &local, progress)?;
        Ok((stopped, local.ended_early.into_inner().unwrap_or_else(|poison| poison.into_inner())))
    }

    /// What stands for a class where it is to be thrown.
    pub fn may_throw(&mut self, class: &str, concrete: Vec<String>) {
        self.prepared.throwables.insert(class.to_owned(), concrete);
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

/// Writes the map into the directory of a campaign, unless it is there: all its trials have the same.
fn keep_map(map: MapBuilder, directory: &Path, path: &Path) -> Result<u64, Failure> {
    let failed = |error: std::io::Error| Failure::usage(format!("{}: {error}", path.display()));
    let part = directory.join(format!("map.{}.part", std::process::id()));
    let digest = map.write(&part)?;
    let begun = Journal::path_in(directory).exists();
    match fs::read(path) {
        Ok(before) if begun => {
            let same = before == fs::read(&part).map_err(failed)?;
            fs::remove_file(&part).map_err(failed)?;
            if !same {
                return Err(Failure::usage(format!(
                    "{}: the classes are not those that the campaign was begun with",
                    directory.display()
                ))
                .hint("begin a new campaign, or bring the old classes back"));
            }
        }
        _ => fs::rename(&part, path).map_err(failed)?,
    }
    Ok(digest)
}

struct Made {
    map: MapBuilder,
    throwables: BTreeMap<String, Vec<String>>,
}

fn make_map(plan: &Plan, target: &Target) -> Result<Made, Failure> {
    let (map, summary, problems) = build_map(&target.with_jdk, plan)?;
    screen::problems(&problems);
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
    /// Trials in which no JVM took part.
    without_agent: AtomicU64,
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

    fn ended(&self, job: &Job, outcome: Option<&Outcome>) {
        let Some(outcome) = outcome else { return };
        self.without_agent.fetch_add(u64::from(outcome.jvms.is_empty()), Ordering::Relaxed);
        let injected = outcome.injected() > 0;
        let mut text = match &outcome.failure {
            Some(failure) if failure.happened => format!("the failure happened: {}", failure.why),
            _ => outcome.end.to_string(),
        };
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
