//! Verbs that run a campaign under an engine, and the one driver for all of them.
//!
//! A [`Verb`] says what was asked for, reads the target, and makes an engine. The driver resumes or begins the campaign, runs it, and ends
//! it in the same way for every verb: whatever stops it, what was found by then is kept, shown and reported.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hypocenter_engine::{Engine, Evidence, Job, JobId, Work};
use hypocenter_lab::{Sitting, Stopped, evidence_of, finished, trial_directory};
use hypocenter_plan::{ExitCode, Outcome, Plan};
use hypocenter_report::{Reported, Voice, terminal};
use hypocenter_results::runs::Runs;
use hypocenter_results::{Detail, Document, Header};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::args::{LabArgs, LimitArgs};
use crate::clock;
use crate::commands::cascade::Cascading;
use crate::commands::compare::Comparing;
use crate::commands::explain::Explaining;
use crate::commands::explore::Exploring;
use crate::commands::predict::Predicting;
use crate::commands::report;
use crate::commands::reproduce::Reproducing;
use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::local::Ready;
use crate::request::{EngineRequest, Request, to_resume};
use crate::screen::{self, Working};
use crate::stopwatch::Stopwatch;
use crate::store::{Called, told};
use crate::target::Target;

/// A verb that runs a campaign under an engine.
pub trait Verb: Sized {
    /// Its name, which is also that of its campaigns.
    const NAME: &'static str;
    /// Name of its rounds.
    const ROUND: &'static str = "round";
    /// True if the number of trials that may follow is known before the first.
    const FORESEEN: bool = true;
    /// Command line.
    type Args;
    /// Its settings, stored with the campaign.
    type Settings: Serialize + DeserializeOwned;
    /// The engine.
    type Engine: Engine<Results = Self::Detail>;
    /// Results of its campaigns.
    type Detail: Reported;

    /// Flags that all verbs have: settings of trials, and the campaign to resume.
    fn common(args: &Self::Args) -> (&LabArgs, Option<&str>);

    /// Limits of the campaign, from the command line.
    fn limits(_args: &Self::Args) -> LimitArgs {
        LimitArgs::default()
    }

    /// Request from the command line and the configuration; the plan is still empty.
    fn asked(args: &Self::Args) -> Result<(Request, Self::Settings), Failure>;

    /// Reads the target, and whatever else the engine is made from.
    fn prepare(
        request: &Request,
        settings: Self::Settings,
        target: &Target,
        working: &Working,
    ) -> Result<Self, Failure>;

    /// The plan that says which sites get hooks.
    fn plan(&self) -> Plan;

    /// The classes that stand for others where those are to be thrown.
    fn may_throw(&self) -> Vec<(String, Vec<String>)> {
        Vec::new()
    }

    /// The engine of a campaign that has not begun.
    fn engine(&self, request: &Request) -> Result<Self::Engine, Failure>;

    /// Tests whether there are several nodes and several logs of a failure, so that what is said names them.
    fn several(&self, request: &Request) -> (bool, bool) {
        (request.has_several_nodes(), false)
    }

    /// Drawings of a page beside the document.
    fn runs(&self, _engine: &Self::Engine, _look: &Looked<'_>) -> Option<Runs> {
        None
    }

    /// Text in place of the results, if there are none for a reason.
    fn refusal(_results: &Document<Self::Detail>, _campaign: &Path) -> Result<(), Failure> {
        Ok(())
    }
}

/// Gives trials of a campaign that are over.
pub type Looked<'l> = dyn Fn(JobId) -> Option<(Outcome, Evidence)> + 'l;

/// Runs a campaign of a verb, or goes on with one.
pub fn campaign<V: Verb>(args: &V::Args) -> Result<ExitCode, Failure> {
    screen::heading(&format!("hypocenter {}", V::NAME));
    let (lab, resumed) = V::common(args);
    let limits = V::limits(args);
    let working = Working::at("analysis", "read the configuration");
    let (request, settings, resumed) = match resumed {
        Some(name) => {
            let (directory, request) = to_resume(lab, name, V::NAME)?;
            screen::line("campaign", &told(&directory));
            let settings = request.settings::<V>(&directory)?;
            (request, settings, Some(directory))
        }
        None => {
            let (request, settings) = V::asked(args)?;
            let engine = Some(EngineRequest::of::<V>(&settings));
            (Request { engine, ..request }, settings, None)
        }
    };
    working.step("open the class path");
    let mut target = Target::open(&request.target)?;
    // A resumed campaign says it when it goes on.
    if resumed.is_none() {
        target.tell_problems();
    }
    target.check_packages()?;
    screen::line("target", &target.packages.join(", "));
    let verb = V::prepare(&request, settings, &target, &working)?;
    working.step("place the hooks");
    let mut ready = match resumed {
        Some(directory) => Ready::resume(directory, lab)?,
        None => Ready::begin(Request { plan: verb.plan(), ..request }, &target, lab)?,
    };
    ready.may_throw(verb.may_throw())?;
    ready.is_dry = limits.dry_run;
    let engine = verb.engine(&ready.request)?;
    drop(working);
    drive(&verb, engine, &ready, lab, &Interrupt::after(limits.time))
}

/// Drives an engine to its end, or as far as it gets, and tells what it came to.
fn drive<V: Verb>(
    verb: &V,
    mut engine: V::Engine,
    ready: &Ready,
    lab: &LabArgs,
    interrupt: &Interrupt,
) -> Result<ExitCode, Failure> {
    let called = Called::of(&ready.directory);
    let (several_nodes, several_logs) = verb.several(&ready.request);
    let voice = Voice { campaign: called.name.clone(), round: V::ROUND, several_nodes, several_logs };
    let console = Console::new(
        voice,
        &ready.directory,
        (V::FORESEEN.then_some(ready.request.repeat), u64::from(lab.jobs)),
    )?;
    let stopwatch = Stopwatch::new(interrupt);
    let driven = ready.drive(&mut engine, lab, &stopwatch, interrupt, &console);
    console.finish()?;
    let working = Working::at("analysis", "write the results");
    let look = |id: JobId| look(&ready.directory, id);
    let mut detail = engine.results(&look);
    detail.name_replays(&|it| called.replay(it));
    let cut_short = !matches!(driven, Ok(Sitting { stopped: Stopped::Done, .. }));
    let header = Header {
        version: V::Detail::VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        verb: ready.request.verb.clone(),
        campaign: called.name.clone(),
        directory: Some(called.from.display().to_string()),
        workload: ready.request.workload_name(),
        target: ready.target().to_owned(),
        seed: ready.request.seed,
        seconds: (clock::waited() + console.before()).as_secs_f64(),
        cut_short,
        found_seconds: detail.found_in().and_then(|it| console.seconds_of(it)),
        measured: stopwatch.measured(&console.rounds()),
    };
    let runs = verb.runs(&engine, &look);
    let document = Document { header, detail };
    drop(working);
    let go_on = format!("`{}` continues it", called.resume(V::NAME));
    match driven {
        Ok(Sitting { stopped: Stopped::Done, .. }) => finish::<V>(&document, runs.as_ref(), ready, lab.json),
        Ok(Sitting { stopped: Stopped::Planned, planned, .. }) => {
            screen::gap();
            let plans: Vec<&Plan> = planned.iter().filter_map(plan_of).collect();
            screen::lines(&terminal::planned(&plans));
            screen::line("dry run", &format!("no fault was injected; {go_on}"));
            if lab.json {
                screen::json(&plans)?;
            }
            Ok(ExitCode::Done)
        }
        Ok(Sitting { stopped: Stopped::Interrupted, .. }) => {
            screen::gap();
            let why =
                if interrupt.is_late() { "the time of --time is up" } else { "you interrupted the campaign" };
            screen::line("ended", &format!("{why}; its results so far are kept, and {go_on}"));
            finish::<V>(&document, runs.as_ref(), ready, lab.json)?;
            Ok(ExitCode::Budget)
        }
        // Nothing was added to what an earlier sitting has written.
        Err(failure) if !console.is_live() && ready.directory.join(report::SUMMARY).exists() => Err(failure),
        Err(failure) => {
            // The findings so far are printed, as far as the error allows it.
            if let Err(also) = finish::<V>(&document, runs.as_ref(), ready, false) {
                screen::note("campaign", &format!("the findings cannot be printed: {}", also.what));
            }
            let hint = failure.hint.as_ref().map_or_else(|| go_on.clone(), |it| format!("{it}; {go_on}"));
            Err(failure.hint(hint))
        }
    }
}

/// The plan of a trial.
fn plan_of(job: &Job) -> Option<&Plan> {
    match &job.work {
        Work::Trial { plan, .. } => Some(plan),
        Work::Study { .. } => None,
    }
}

/// Keeps the document, shows it, and makes the report.
fn finish<V: Verb>(
    document: &Document<V::Detail>,
    runs: Option<&Runs>,
    ready: &Ready,
    json: bool,
) -> Result<ExitCode, Failure> {
    let directory = &ready.directory;
    let text = serde_json::to_string_pretty(document).expect("the document is always JSON") + "\n";
    report::keep(&directory.join(report::SUMMARY), &text)?;
    if let Some(runs) = runs {
        let text = serde_json::to_string(runs).expect("the document is always JSON") + "\n";
        report::keep(&directory.join(report::RUNS), &text)?;
    }
    screen::lines(&V::Detail::lines(document, screen::columns()));
    V::refusal(document, directory)?;
    screen::kept_in(directory);
    match report::write::<V::Detail>(directory, document, runs) {
        Ok(page) => screen::line("report", &told(&page)),
        // What was found stands whether or not a page of it can be written.
        Err(error) => screen::note("report", &error.what),
    }
    if json {
        screen::json(document)?;
    }
    Ok(document.detail.exit_code())
}

/// A trial that is over, with what it left behind. Who has thrown that away has the rest.
fn look(campaign: &Path, id: JobId) -> Option<(Outcome, Evidence)> {
    let directory = trial_directory(campaign, id);
    let outcome = finished(&directory).ok()??;
    let evidence = evidence_of(&directory, &outcome).ok()?;
    Some((outcome, evidence))
}

/// A verb whose campaigns have an engine, for those who find one in a directory.
pub struct KnownVerb {
    name: &'static str,
    /// The version of its document.
    pub version: u32,
    /// Makes the report of a campaign, and gives the page.
    pub report: fn(&Path) -> Result<PathBuf, Failure>,
}

/// The verbs that are built in.
static VERBS: [KnownVerb; 6] = [
    KnownVerb::of::<Reproducing>(),
    KnownVerb::of::<Exploring>(),
    KnownVerb::of::<Cascading>(),
    KnownVerb::of::<Predicting>(),
    KnownVerb::of::<Explaining>(),
    KnownVerb::of::<Comparing>(),
];

/// A verb beside them.
static ADDED: OnceLock<KnownVerb> = OnceLock::new();

/// Lets campaigns of a verb that is not built in be found by its name.
pub fn add<V: Verb>() {
    ADDED.get_or_init(KnownVerb::of::<V>);
}

impl KnownVerb {
    const fn of<V: Verb>() -> KnownVerb {
        KnownVerb {
            name: V::NAME,
            version: V::Detail::VERSION,
            report: |campaign| report::made::<V::Detail>(campaign, V::NAME),
        }
    }

    /// The verb of a campaign in this directory.
    pub fn named(name: &str, campaign: &Path) -> Result<&'static KnownVerb, Failure> {
        let mut all = VERBS.iter().chain(ADDED.get());
        all.clone().find(|it| it.name == name).ok_or_else(|| {
            let names: Vec<&str> = all.by_ref().map(|it| it.name).collect();
            Failure::usage(format!(
                "{}: the campaign is one of `{name}`, which this version does not support",
                campaign.display()
            ))
            .hint(format!("use the version that started it; this one supports {}", names.join(", ")))
        })
    }
}
