//! Where a thread is: the calls, loops and iterations around it, and the branches by which it came there.
//!
//! A trail is a stack of methods and loops. Every hook names its own method or loop, so a frame whose end was missed ends with the one
//! below: leaving a method pops through to it, and a loop is only looked for above the method that it is in. Calling contexts are nodes of one
//! tree for the JVM; a thread remembers those that it has seen and asks for the others under a lock.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hypocenter_trace::{ArmedTrack, ReportKind, Session, SiteId, Stream, Tally, Track, TrialFile, hash};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many frames a thread has before further calls only count.
const FRAMES_MAX: usize = 1 << 14;
/// How many branches of a path are kept; its hash is that of all.
const BRANCHES_MAX: usize = 512;
/// How many calling contexts a JVM has before further calls are taken to be in the context of their caller.
const CONTEXTS_MAX: usize = 1 << 20;
/// How many paths a JVM spells out.
const PATHS_MAX: usize = 1 << 18;
/// How much a thread remembers of each before it begins anew.
const REMEMBERED_MAX: usize = 1 << 16;

/// The branches since an iteration, or a call, began.
#[derive(Default)]
struct Path {
    hash: u64,
    branches: Vec<u64>,
    cut: bool,
}

impl Path {
    fn add(&mut self, branch: u64) {
        self.hash = hash::word(branch, self.hash);
        if self.branches.len() < BRANCHES_MAX {
            self.branches.push(branch);
        } else {
            self.cut = true;
        }
    }

    fn clear(&mut self) {
        self.hash = 0;
        self.branches.clear();
        self.cut = false;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Method,
    Loop,
}

/// A call of a method, or a loop from its entry on.
struct Frame {
    kind: Kind,
    /// The entry of the method, or the body of the loop.
    subject: SiteId,
    context: u32,
    /// The context around a method.
    outer: u32,
    iterations: u64,
    /// Count of the iterations of a loop beyond this run of it.
    tally: Option<Tally>,
    path: Path,
}

/// The trail of a Java thread, the innermost frame last.
#[derive(Default)]
pub(crate) struct Trail {
    frames: Vec<Frame>,
    /// Calls beyond [`FRAMES_MAX`].
    deeper: u32,
    context: u32,
    /// The hash of the path that was told last.
    point: u64,
}

/// Key of the count of a loop: its body, the calling context, and the body of the loop around it.
type Counted = (SiteId, u32, Option<SiteId>);

/// What a native thread remembers of the JVM's contexts and paths.
#[derive(Default)]
pub(crate) struct Remembered {
    contexts: FxHashMap<(u32, SiteId), u32>,
    paths: FxHashSet<(SiteId, u32, u64)>,
    tallies: FxHashMap<Counted, Option<Tally>>,
}

/// The steps of the trial, by site, and the contexts and paths of this JVM.
pub(crate) struct Trails {
    /// For each site, where its steps start.
    starts: Vec<u32>,
    steps: Vec<Track>,
    path_depth: Option<u32>,
    contexts: Mutex<FxHashMap<(u32, SiteId), u32>>,
    paths: Mutex<FxHashSet<(SiteId, u32, u64)>>,
    tallies: Mutex<FxHashMap<Counted, Option<Tally>>>,
    loop_runs: bool,
    loop_counts: bool,
    is_full: AtomicBool,
}

/// Steps into something are made before whatever else a hook does, steps out of it afterwards.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Into,
    OutOf,
}

/// What a step needs beside the trail.
pub(crate) struct Surroundings<'a> {
    pub trails: &'a Trails,
    pub session: &'a Session,
    pub ring: &'a mut Stream,
    pub remembered: &'a mut Remembered,
}

impl Trails {
    pub(crate) fn new(mut tracks: Vec<ArmedTrack>, trial: &TrialFile) -> Trails {
        tracks.sort_by_key(|it| it.site);
        let starts =
            (0..=trial.site_count()).map(|site| tracks.partition_point(|it| it.site.0 < site) as u32);
        Trails {
            starts: if tracks.is_empty() { Vec::new() } else { starts.collect() },
            steps: tracks.iter().map(|it| it.track).collect(),
            path_depth: trial.path_depth(),
            contexts: Mutex::default(),
            paths: Mutex::default(),
            tallies: Mutex::default(),
            loop_runs: trial.loop_runs(),
            loop_counts: trial.loop_counts(),
            is_full: AtomicBool::new(false),
        }
    }

    /// Whether the trial follows any.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn at(&self, site: SiteId) -> &[Track] {
        let site = site.0 as usize;
        let range = self.starts.get(site).zip(self.starts.get(site + 1));
        range.and_then(|(&from, &to)| self.steps.get(from as usize..to as usize)).unwrap_or(&[])
    }

    /// The context of a method that is called in another; that of its caller if there are too many.
    fn context(&self, session: &Session, outer: u32, method: SiteId) -> u32 {
        let mut all = self.contexts.lock().unwrap_or_else(|poison| poison.into_inner());
        match all.get(&(outer, method)) {
            Some(&id) => id,
            None if all.len() >= CONTEXTS_MAX => {
                drop(all);
                self.say_full(session, method, "calling contexts", CONTEXTS_MAX);
                outer
            }
            None => {
                let id = all.len() as u32 + 1;
                // Still under the lock: once another thread finds the context here, it names it in its records.
                session.context(id, outer, method);
                all.insert((outer, method), id);
                id
            }
        }
    }

    fn say_full(&self, session: &Session, site: SiteId, what: &str, limit: usize) {
        if !self.is_full.swap(true, Ordering::Relaxed) {
            let text = format!("more than {limit} {what}: further ones are left out; follow fewer methods");
            session.report(ReportKind::Trouble, site.0, &text);
        }
    }
}

impl Surroundings<'_> {
    fn context(&mut self, outer: u32, method: SiteId) -> u32 {
        let remembered = &mut self.remembered.contexts;
        if let Some(&id) = remembered.get(&(outer, method)) {
            return id;
        }
        if remembered.len() >= REMEMBERED_MAX {
            remembered.clear();
        }
        let id = self.trails.context(self.session, outer, method);
        remembered.insert((outer, method), id);
        id
    }

    /// Tells the path of an iteration or a call that is over, and begins a new one.
    fn finish_path(&mut self, frame: &mut Frame) {
        if self.trails.path_depth.is_none() {
            return;
        }
        // What a loop tests before its first iteration is part of none.
        let is_told = match frame.kind {
            Kind::Loop => frame.iterations > 0,
            Kind::Method => !frame.path.branches.is_empty(),
        };
        if is_told {
            self.tell(frame.subject, frame.context, &frame.path);
        }
        frame.path.clear();
    }

    /// Spells a path out, if this JVM has not done so yet.
    fn tell(&mut self, around: SiteId, context: u32, path: &Path) {
        let key = (around, context, path.hash);
        if self.remembered.paths.contains(&key) {
            return;
        }
        if self.remembered.paths.len() >= REMEMBERED_MAX {
            self.remembered.paths.clear();
        }
        self.remembered.paths.insert(key);
        let mut all = self.trails.paths.lock().unwrap_or_else(|poison| poison.into_inner());
        if all.contains(&key) {
            return;
        }
        if all.len() >= PATHS_MAX {
            drop(all);
            self.trails.say_full(self.session, around, "paths", PATHS_MAX);
            return;
        }
        // Still under the lock: once another thread finds the path here, a fault that it injects names it.
        let Path { hash, branches, cut } = path;
        self.session.path(around, context, *hash, branches, *cut);
        all.insert(key);
    }

    /// Count of the iterations of a loop in a calling context.
    fn tally(&mut self, key: Counted) -> Option<Tally> {
        if !self.trails.loop_counts {
            return None;
        }
        let (body, context, around) = key;
        if let Some(tally) = self.remembered.tallies.get(&key) {
            return tally.clone();
        }
        let mut all = self.trails.tallies.lock().unwrap_or_else(|poison| poison.into_inner());
        let tally = all.entry(key).or_insert_with(|| self.session.tally(body, context, around)).clone();
        drop(all);
        if self.remembered.tallies.len() >= REMEMBERED_MAX {
            self.remembered.tallies.clear();
        }
        self.remembered.tallies.insert(key, tally.clone());
        tally
    }

    /// Ends a frame that was just taken from the trail.
    fn finish(&mut self, mut frame: Frame) {
        self.finish_path(&mut frame);
        if frame.kind == Kind::Loop && self.trails.loop_runs {
            self.ring.in_context(self.session.trial(), frame.context);
            self.ring.loop_run(self.session.trial(), frame.subject.0, frame.iterations);
        }
    }
}

impl Trail {
    pub(crate) const EMPTY: Trail = Trail { frames: Vec::new(), deeper: 0, context: 0, point: 0 };

    /// The hash of the path that was told last: at a site where paths are told, that of the way there.
    pub(crate) fn point(&self) -> u64 {
        self.point
    }

    /// The calling context that the thread is in; 0 if it is in no method that is followed.
    #[inline]
    pub(crate) fn context(&self) -> u32 {
        self.context
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.deeper == 0
    }

    /// Whether the thread is in this loop, in whichever of its methods.
    pub(crate) fn is_in(&self, body: SiteId) -> bool {
        self.frames.iter().any(|it| it.kind == Kind::Loop && it.subject == body)
    }

    /// Follows the hit of a site, which saw this value.
    pub(crate) fn follow(&mut self, side: Side, site: SiteId, value: u32, around: &mut Surroundings<'_>) {
        for &track in around.trails.at(site) {
            match (track, side) {
                (Track::EnterMethod(method), Side::Into) => self.enter_method(method, around),
                (Track::LeaveMethod(method), Side::OutOf) => self.leave_method(method, around),
                // What is nested too deep to be known has no loops.
                _ if self.deeper > 0 => {}
                (Track::EnterLoop(body), Side::Into) => {
                    self.leave_loop(body, around);
                    self.push_loop(body, around);
                }
                (Track::Iterate(body), Side::Into) => self.iterate(body, around),
                (Track::Branch, Side::Into) => self.branch(site, value, around.trails.path_depth),
                (Track::Point, Side::Into) => self.tell_point(site, around),
                (Track::LeaveLoop(body), Side::OutOf) => self.leave_loop(body, around),
                _ => {}
            }
        }
    }

    fn push(&mut self, kind: Kind, subject: SiteId, context: u32, tally: Option<Tally>) {
        let outer = std::mem::replace(&mut self.context, context);
        let path = Path::default();
        self.frames.push(Frame { kind, subject, context, outer, iterations: 0, tally, path });
    }

    fn push_loop(&mut self, body: SiteId, around: &mut Surroundings<'_>) {
        let outer = self.frames.iter().rev().find(|it| it.kind == Kind::Loop).map(|it| it.subject);
        let tally = around.tally((body, self.context, outer));
        self.push(Kind::Loop, body, self.context, tally);
    }

    fn enter_method(&mut self, method: SiteId, around: &mut Surroundings<'_>) {
        // Loops may take some more.
        if self.deeper > 0 || self.frames.len() >= FRAMES_MAX {
            self.deeper += 1;
            return;
        }
        let context = around.context(self.context, method);
        self.push(Kind::Method, method, context, None);
    }

    fn leave_method(&mut self, method: SiteId, around: &mut Surroundings<'_>) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let own = |it: &Frame| it.kind == Kind::Method && it.subject == method;
        if let Some(at) = self.frames.iter().rposition(own) {
            self.pop_through(at, around);
        }
    }

    /// Ends everything down to a frame.
    fn pop_through(&mut self, at: usize, around: &mut Surroundings<'_>) {
        while self.frames.len() > at {
            if let Some(frame) = self.frames.pop() {
                self.context = frame.outer;
                around.finish(frame);
            }
        }
    }

    /// The place of a loop in the method that the thread is in.
    fn find_loop(&self, body: SiteId) -> Option<usize> {
        let mut in_method = self.frames.iter().enumerate().rev().take_while(|(_, it)| it.kind == Kind::Loop);
        in_method.find(|(_, it)| it.subject == body).map(|(at, _)| at)
    }

    fn leave_loop(&mut self, body: SiteId, around: &mut Surroundings<'_>) {
        if let Some(at) = self.find_loop(body) {
            self.pop_through(at, around);
        }
    }

    fn iterate(&mut self, body: SiteId, around: &mut Surroundings<'_>) {
        match self.find_loop(body) {
            Some(at) => self.pop_through(at + 1, around),
            // The way in could not be told from others.
            None => self.push_loop(body, around),
        }
        if let Some(frame) = self.frames.last_mut() {
            around.finish_path(frame);
            frame.iterations += 1;
            if let Some(tally) = &frame.tally {
                tally.add();
            }
        }
    }

    /// Adds a branch to the path that it belongs to.
    fn branch(&mut self, site: SiteId, value: u32, depth: Option<u32>) {
        let branch = u64::from(site.0) | u64::from(value) << 32;
        if let Some(at) = self.place_of_branches(depth) {
            self.frames[at].path.add(branch);
        }
    }

    /// Tells the way to a site.
    fn tell_point(&mut self, site: SiteId, around: &mut Surroundings<'_>) {
        if let Some(at) = self.place_of_branches(around.trails.path_depth) {
            around.tell(site, self.context, &self.frames[at].path);
            self.point = self.frames[at].path.hash;
        }
    }

    /// Whose path the next branch belongs to: the iteration around it, if that is not too many calls away, else the method.
    fn place_of_branches(&self, depth: Option<u32>) -> Option<usize> {
        let depth = depth?;
        let (mut method, mut calls) = (None, 0);
        let mut own = None;
        for (at, frame) in self.frames.iter().enumerate().rev() {
            if frame.kind == Kind::Loop {
                own = Some(at);
                break;
            }
            method = method.or(Some(at));
            calls += 1;
            if calls > depth {
                break;
            }
        }
        own.or(method)
    }
}

#[cfg(test)]
mod tests {
    use hypocenter_trace::{ArmedPlan, TrialSpec};

    use super::*;

    const METHOD: SiteId = SiteId(0);
    const EXIT: SiteId = SiteId(1);
    const LOOP: SiteId = SiteId(2);
    const BODY: SiteId = SiteId(3);
    const END: SiteId = SiteId(4);
    const BRANCH: SiteId = SiteId(5);
    const OTHER: SiteId = SiteId(6);
    const OTHER_EXIT: SiteId = SiteId(7);

    /// A trial in a file of its own, one thread, and its trail.
    struct Walk {
        _directory: tempfile::TempDir,
        session: Session,
        trails: Trails,
        ring: Stream,
        remembered: Remembered,
        trail: Trail,
    }

    impl Walk {
        fn new(path_depth: Option<u32>) -> Walk {
            let directory = tempfile::TempDir::new().unwrap();
            let path = directory.path().join("trial");
            let all = [
                Track::EnterMethod(METHOD),
                Track::LeaveMethod(METHOD),
                Track::EnterLoop(BODY),
                Track::Iterate(BODY),
                Track::LeaveLoop(BODY),
                Track::Branch,
                Track::EnterMethod(OTHER),
                Track::LeaveMethod(OTHER),
            ];
            let tracks =
                (0..).zip(all).map(|(site, track)| ArmedTrack { site: SiteId(site), track }).collect();
            let spec = TrialSpec {
                trial: 1,
                seed: 1,
                limit: 1,
                armed: true,
                map_digest: 0,
                levels: vec![0; all.len()],
                plan: ArmedPlan::default(),
                steps: Vec::new(),
                tracks,
                path_depth,
                loop_runs: true,
                loop_counts: true,
                stack_frames: 1,
                ring_bytes: 1 << 16,
                lossless: true,
                native: false,
                ticking: false,
            };
            let trial = TrialFile::create(&path, &spec).unwrap();
            let trails = Trails::new(trial.tracks().unwrap(), &trial);
            let session = Session::join(&path, "node", 1, "17").unwrap();
            let ring = session.ring();
            let (remembered, trail) = (Remembered::default(), Trail::EMPTY);
            Walk { _directory: directory, session, trails, ring, remembered, trail }
        }

        fn hit(&mut self, sites: &[SiteId]) {
            for &site in sites {
                let Walk { session, trails, ring, remembered, trail, .. } = self;
                let mut around = Surroundings { trails, session, ring, remembered };
                trail.follow(Side::Into, site, 1, &mut around);
                trail.follow(Side::OutOf, site, 1, &mut around);
            }
        }
    }

    #[test]
    fn an_exit_pops_through_to_its_own_method() {
        let mut walk = Walk::new(None);
        walk.hit(&[METHOD, LOOP, BODY, OTHER, OTHER, LOOP, BODY]);
        assert!(walk.trail.is_in(BODY));
        walk.hit(&[EXIT]);
        assert!(walk.trail.is_empty() && walk.trail.context() == 0);
    }

    #[test]
    fn a_loop_left_by_an_exception_leaves_nothing_behind() {
        let mut walk = Walk::new(None);
        walk.hit(&[METHOD]);
        for _ in 0..1000 {
            // Its end is seen at the handler, and once more where the method goes on.
            walk.hit(&[LOOP, BODY, BODY, END, END]);
            assert_eq!(walk.trail.frames.len(), 1);
        }
        // Nobody sees the end of this one, and it begins again.
        walk.hit(&[LOOP, BODY, LOOP, BODY]);
        assert_eq!(walk.trail.frames.len(), 2);
    }

    #[test]
    fn a_deep_call_tree_leaves_nothing_behind() {
        for depth in [10_000, FRAMES_MAX + 5_000] {
            let mut walk = Walk::new(None);
            walk.hit(&[OTHER]);
            walk.hit(&vec![METHOD; depth]);
            walk.hit(&vec![EXIT; depth]);
            assert_eq!((walk.trail.frames.len(), walk.trail.deeper), (1, 0));
            walk.hit(&[OTHER_EXIT]);
            assert!(walk.trail.is_empty());
        }
    }

    #[test]
    fn a_context_is_the_same_for_the_same_callers() {
        let mut walk = Walk::new(None);
        let mut contexts = Vec::new();
        for _ in 0..2 {
            walk.hit(&[METHOD]);
            contexts.push(walk.trail.context());
            walk.hit(&[OTHER]);
            contexts.push(walk.trail.context());
            walk.hit(&[OTHER_EXIT, EXIT, OTHER]);
            contexts.push(walk.trail.context());
            walk.hit(&[OTHER_EXIT]);
        }
        assert_eq!(contexts, [1, 2, 3, 1, 2, 3]);
    }

    #[test]
    fn branches_of_callees_belong_to_the_iteration_as_deep_as_asked() {
        // In the loop one branch, and one in a method that is called there.
        let around = |depth: u32| {
            let mut walk = Walk::new(Some(depth));
            walk.hit(&[METHOD, LOOP, BODY, BRANCH, OTHER, BRANCH]);
            walk.trail.frames.iter().map(|it| it.path.branches.len()).collect::<Vec<_>>()
        };
        assert_eq!(around(0), [0, 1, 1]);
        assert_eq!(around(1), [0, 2, 0]);
    }
}
