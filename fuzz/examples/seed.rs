//! Writes seeds for the `trace` target: `seed <folder> [trial file or map ...]`.
//!
//! Small trials and a map are made by the writers themselves; real files that are given are packed as well.

use std::fs;
use std::path::Path;

use hypocenter_fuzz::sparse;
use hypocenter_plan::{MethodLine, StateId};
use hypocenter_trace::{
    ArmedCandidate, ArmedFault, ArmedMdc, ArmedNode, ArmedPlan, ArmedRepeat, ArmedSince, ArmedStack,
    ArmedStep, ArmedTrack, FALL_THROUGH, InjectedRecord, MapBuilder, NewSite, PatchTally, Placement,
    ReportKind, Session, SiteId, Step, Track, TrialControl, TrialFile, TrialSpec, level,
};

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().expect("seed <folder> [trial file or map ...]");
    let folder = Path::new(&folder);
    for jvms in 0..3 {
        let path = folder.join("trial");
        let _ = fs::remove_file(&path);
        trial(&path, jvms);
        put(folder, &format!("trial-{jvms}"), &fs::read(&path).expect("the trial was written"));
        fs::remove_file(&path).expect("the trial is there");
    }
    put(folder, "map", &map());
    for (n, file) in arguments.enumerate() {
        put(folder, &format!("real-{n}"), &fs::read(&file).expect("a readable file"));
    }
}

/// A seed for each target kind that the file can be.
fn put(folder: &Path, name: &str, file: &[u8]) {
    let write = |suffix: &str, kind: u8, body: &[u8]| {
        let seed = [&[kind], body].concat();
        fs::write(folder.join(format!("{name}-{suffix}")), seed).expect("the folder can be written");
    };
    if file.starts_with(b"HYPOMAP") {
        write("map", 1, file);
    } else {
        let packed = sparse::pack(file);
        write("trace", 0, &packed);
        write("plan", 3, &packed);
    }
}

fn candidate(site: u32, fault: ArmedFault, stack: ArmedStack) -> ArmedCandidate {
    ArmedCandidate {
        site: SiteId(site),
        fault,
        node: match site {
            0 => ArmedNode::Process("n1".into()),
            1 => ArmedNode::Any,
            2 => ArmedNode::Within { threads: vec!["n2-*".into(), "*-n2".into()], mdc: None },
            _ => ArmedNode::Within {
                threads: vec!["n3-*".into(); site as usize - 3],
                mdc: Some(ArmedMdc { key: "node".into(), value: "n3".into() }),
            },
        },
        thread: site.is_multiple_of(2).then(|| "main*".into()),
        state: (site > 2).then_some(StateId(site)),
        stack,
        occurrence: Some(u64::from(site)),
        probability: None,
        repeat: match site {
            0 => ArmedRepeat::Once,
            1 => ArmedRepeat::Always,
            2 => ArmedRepeat::Nanos(1_000),
            3 => ArmedRepeat::Times(3),
            _ => ArmedRepeat::TotalNanos(1_000),
        },
        since: (site == 1).then_some(ArmedSince { site: SiteId(2), least_nanos: 1, most_nanos: u64::MAX }),
        within: (site == 2).then_some(SiteId(3)),
    }
}

fn plan() -> ArmedPlan {
    let line = MethodLine { method: "a.B.pack".into(), line: 12 };
    ArmedPlan { candidates: candidates(), never_below: vec![line], arm_after: Some(SiteId(1)) }
}

fn candidates() -> Vec<ArmedCandidate> {
    let classes = vec!["java.io.IOException".into(), "a.B".into()];
    let frames = vec!["a.B.c".into(), "*".into()];
    vec![
        candidate(0, ArmedFault::Exception { classes, message: "disk".into() }, ArmedStack::Suffix(frames)),
        candidate(1, ArmedFault::Sleep { nanos: 5 }, ArmedStack::Any),
        candidate(2, ArmedFault::Spin { nanos: 5 }, ArmedStack::Hash(7)),
        candidate(3, ArmedFault::Crash { status: 137 }, ArmedStack::Any),
        candidate(4, ArmedFault::Negate, ArmedStack::Any),
    ]
}

fn steps() -> Vec<ArmedStep> {
    let steps = [
        Step::Enter { task: 0, state: Some(StateId(1)) },
        Step::Reach { task: 0, state: StateId(2) },
        Step::Leave { task: 0 },
        Step::Enter { task: 1, state: None },
    ];
    (0..).map(SiteId).zip(steps).map(|(site, step)| ArmedStep { site, step }).collect()
}

fn tracks() -> Vec<ArmedTrack> {
    let (method, body) = (SiteId(0), SiteId(3));
    let tracks = [
        Track::EnterMethod(method),
        Track::LeaveMethod(method),
        Track::EnterLoop(body),
        Track::Iterate(body),
        Track::LeaveLoop(body),
        Track::Branch,
        Track::Point,
    ];
    (0..).map(SiteId).zip(tracks).map(|(site, track)| ArmedTrack { site, track }).collect()
}

fn trial(path: &Path, jvms: u32) {
    let spec = TrialSpec {
        trial: 1,
        seed: 2,
        limit: 2,
        armed: true,
        map_digest: 3,
        levels: vec![level::COUNT | level::EVENT; 8],
        plan: if jvms == 0 { ArmedPlan::default() } else { plan() },
        steps: steps(),
        tracks: if jvms == 0 { Vec::new() } else { tracks() },
        path_depth: (jvms > 0).then_some(jvms),
        loop_runs: jvms > 0,
        loop_counts: jvms > 0,
        stack_frames: 8,
        ring_bytes: 64 << 10,
        lossless: jvms == 2,
        native: false,
        ticking: jvms == 2,
    };
    let control = TrialControl::create(path, &spec).expect("a new trial");
    let request = control.request_dump().expect("the file is there");
    let file = TrialFile::open(path).expect("the new trial");
    for n in 0..jvms {
        let session = Session::join(path, &format!("node{n}"), 100 + n, "17.0.1").expect("room for a JVM");
        write_events(&session);
        session.dumped(request + n, n > 0);
        if n == 0 {
            session.end();
        }
    }
    if jvms > 0 {
        assert!(file.claim(0) && file.claim(1) && file.claim(2) && file.take_limit());
        file.set_injected(0, 0, 1, 0);
        file.set_refused(1);
        control.end().expect("the file is there");
    }
}

fn write_events(session: &Session) {
    let trial = session.trial();
    trial.agent_started();
    let (method, place) = (session.string("a.B.c"), session.string("B.java:12"));
    let stack = session.stack(&[(method, place), (place, method)]);
    let threads = [session.thread(1, "main"), session.thread(17, "worker-\u{e9}")];
    for thread in threads {
        let mut ring = session.ring();
        ring.switch_to(trial, thread.0, || StateId(1));
        ring.came_to(trial, StateId(2), Step::Reach { task: 0, state: StateId(2) });
        for site in 0..6 {
            session.count(SiteId(site));
            ring.hit(trial, site, 1, hypocenter_trace::clock::ticks());
        }
        ring.hit_with(trial, 7, 0, method.0, stack.0);
        ring.in_context(trial, 2);
        ring.hit(trial, 1, 0, hypocenter_trace::clock::ticks());
        ring.loop_run(trial, 3, 17);
        session.return_ring(ring);
    }
    session.context(1, 0, SiteId(0));
    session.context(2, 1, SiteId(4));
    session.path(SiteId(3), 2, 99, &[1 | 1 << 32, 5], false);
    session.path(SiteId(4), 1, 7, &[u64::from(u32::MAX) << 32 | 6; 512], true);
    for around in [None, Some(SiteId(5))] {
        let tally = session.tally(SiteId(3), 2, around).expect("room for a tally");
        (0..17).for_each(|_| tally.add());
    }
    session.count_true(SiteId(2));
    session.count_candidate(0);
    session.injected(&InjectedRecord {
        candidate: 0,
        occurrence: 1,
        thread: threads[0],
        stack,
        stack_hash: 9,
        threw: session.string("java.io.IOException"),
        state: StateId(1),
        context: 1,
        path: 1,
    });
    for kind in [ReportKind::Moved, ReportKind::Unhooked, ReportKind::Refused, ReportKind::Trouble] {
        session.report(kind, 1, "why it is so");
    }
    session.patched(0, &PatchTally { placed: 3, moved: 1, refused: 1, nanos: 10, bytes: 500 });
}

fn map() -> Vec<u8> {
    let mut map = MapBuilder::new();
    for class in ["b/Second", "a/First"] {
        map.class(class.as_bytes());
        for index in 0..2 {
            map.method(index, b"run", b"()V", 11, 12);
            for (ordinal, kind) in hypocenter_plan::SiteKind::ALL.into_iter().enumerate() {
                map.site(NewSite { kind, callee: "c.D.e(I)V", ordinal: ordinal as u16, total: 12, line: 5 });
                map.hook(Placement::Before, ordinal as u16, 1, &[]);
            }
            map.hook(Placement::Edges, 9, 4, &[3, FALL_THROUGH]);
        }
    }
    map.finish().expect("a small map")
}
