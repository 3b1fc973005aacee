//! What the agent knows: made once when the JVM loads it, read by every callback.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hypocenter_plan::SiteKind;
use hypocenter_trace::{Map, MapError, Session, SiteId, TraceError, TrialFile, level};
use memmap2::Mmap;
use rustc_hash::FxHashSet;

use crate::decide::Arsenal;
use crate::jvmti::Jvmti;
use crate::lasting::Lasting;
use crate::mdc::Contexts;
use crate::monitors::Monitors;
use crate::objects::Objects;
use crate::operations::Operations;
use crate::stacks::Stacks;
use crate::tasks::Tasks;
use crate::trails::Trails;
use crate::{fast, log, watcher};

pub(crate) struct State {
    pub jvmti: Jvmti,
    pub map: Map<'static>,
    /// What is done at each site, with [`fast::AGENT_ONLY`] where that cannot be done in Java.
    pub levels: Vec<u8>,
    /// Whether hooks are to count and write events in Java, where the JVM has what that needs.
    pub wants_fast: bool,
    pub arsenal: Arsenal,
    pub stacks: Stacks,
    pub tasks: Tasks,
    pub trails: Trails,
    pub operations: Operations,
    pub lasting: Lasting,
    pub monitors: Monitors,
    pub objects: Objects,
    /// The sites whose hooks see values.
    pub with_values: FxHashSet<u32>,
    pub contexts: Contexts,
    pub node: String,
    trial: PathBuf,
    file: TrialFile,
    java: String,
    session: OnceLock<Option<Session>>,
}

static STATE: OnceLock<State> = OnceLock::new();

/// Why the agent cannot work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Map(#[from] MapError),
    #[error(transparent)]
    Trial(#[from] TraceError),
    #[error("the map {path} cannot be opened: {source}")]
    Open { path: String, source: std::io::Error },
    #[error("the map is not the one the trial was made for")]
    OtherMap,
    #[error("the agent was loaded twice")]
    Twice,
}

/// The levels of the plan. An event that is more than two words, or that has its exact time, is written by the agent.
fn levels(trial: &TrialFile, map: &Map<'_>, has_trails: bool) -> Vec<u8> {
    let has_clock = trial.clock_word().is_some();
    let mut levels = trial.levels();
    for (site, level) in (0..).zip(&mut levels) {
        let is_large = *level & (level::STACK | level::STATE | level::MARK | level::TRACK) != 0;
        // The times of log statements are compared with those in logs.
        let needs_agent = || has_trails || !has_clock || map.kind(SiteId(site)) == Some(SiteKind::Log);
        let is_event = *level & level::EVENT != 0 && needs_agent();
        if is_large || is_event || *level & level::COUNT == 0 && *level != 0 {
            *level |= fast::AGENT_ONLY;
        }
    }
    levels
}

impl State {
    /// The state, once the agent has started.
    #[inline]
    pub(crate) fn get() -> Option<&'static State> {
        STATE.get()
    }

    pub(crate) fn start(
        jvmti: Jvmti,
        options: crate::options::Options,
        java: String,
    ) -> Result<(), StartError> {
        let open = |source| StartError::Open { path: options.map.display().to_string(), source };
        let file = std::fs::File::open(&options.map).map_err(open)?;
        // SAFETY: the tool writes a map before it starts any JVM and never changes it afterwards.
        let bytes = unsafe { Mmap::map(&file) }.map_err(open)?;
        // The map is used until the process ends, from any thread.
        let bytes: &'static Mmap = Box::leak(Box::new(bytes));
        let map = Map::new(bytes)?;
        let trial = TrialFile::open(&options.trial)?;
        if trial.map_digest() != map.digest() || trial.site_count() as usize != map.site_count() {
            return Err(StartError::OtherMap);
        }
        let node = std::env::var(crate::options::NODE_VARIABLE).unwrap_or(options.node);
        let trails = Trails::new(trial.tracks()?, &trial);
        let mut levels = levels(&trial, &map, !trails.is_empty());
        let directory = options.trial.parent().unwrap_or(Path::new("."));
        let plan = trial.plan()?;
        let lasting = Lasting::new(&plan, &node);
        let operations = Operations::new(&map, &levels, directory, &lasting);
        operations.activate(&mut levels);
        let with_values: FxHashSet<u32> = (0..)
            .zip(trial.levels())
            .filter_map(|(site, level)| (level & level::VALUE != 0).then_some(site))
            .collect();
        let monitors = Monitors::new(&map, |site| with_values.contains(&site.0));
        let counts_apart = |site| map.kind(site).is_some_and(|it| it.sees_boolean() || it.is_operation());
        let state = State {
            jvmti,
            map,
            levels,
            operations,
            lasting,
            monitors,
            objects: Objects::default(),
            with_values,
            wants_fast: !trial.wants_native(),
            arsenal: Arsenal::new(&trial, plan, &node, counts_apart),
            stacks: Stacks::default(),
            tasks: Tasks::new(trial.steps()?),
            trails,
            contexts: Contexts::default(),
            node,
            trial: options.trial,
            java,
            file: trial,
            session: OnceLock::new(),
        };
        state.file.agent_started();
        STATE.set(state).map_err(|_| StartError::Twice)?;
        Ok(())
    }

    /// Tests whether the trial asks for the identity of objects.
    pub(crate) fn sees_objects(&self) -> bool {
        !self.with_values.is_empty() || self.operations.has_objects()
    }

    /// Says that hooks run in Java code in this JVM.
    pub(crate) fn says_fast(&self) {
        self.file.agent_is_fast();
    }

    /// This JVM's part in the trial. It joins when the first class of the map is loaded, so a JVM that only
    /// happens to have the agent (a build tool's, say) leaves no trace.
    pub(crate) fn join(&self) -> Option<&Session> {
        let session = self
            .session
            .get_or_init(|| match Session::join(&self.trial, &self.node, std::process::id(), &self.java) {
                Ok(session) => Some(session),
                Err(error) => {
                    log::line(&format!("this JVM takes no part in the trial: {error}"));
                    None
                }
            })
            .as_ref();
        watcher::start_when_due();
        session
    }

    /// The directory of the trial.
    pub(crate) fn directory(&self) -> &Path {
        self.trial.parent().unwrap_or(Path::new("."))
    }

    /// This JVM's part in the trial, if it has one.
    #[inline]
    pub(crate) fn session(&self) -> Option<&Session> {
        self.session.get()?.as_ref()
    }
}
