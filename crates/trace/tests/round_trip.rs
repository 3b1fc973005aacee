//! What is written into a trial's file is what is read from it, however the writer ended.

use std::path::{Path, PathBuf};

use hypocenter_plan::{OperationKind, Site, SiteKind, StateId};
use hypocenter_trace::{
    ArmedPlan, ArmedRepeat, CandidateEnd, Event, FALL_THROUGH, InjectedRecord, Interned, LoopTally, Map,
    MapBuilder, NewSite, ObjectId, OperationRecord, PatchTally, Placement, ReportKind, SeenValue, Session,
    SiteId, Step, Trace, TraceError, Transition, TrialControl, TrialFile, TrialSpec, ValueKind, ValueRecord,
    clock, level,
};
use proptest::prelude::*;

/// A file of its own for each test, gone afterwards.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> TempFile {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        TempFile(path)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn spec(sites: usize, ring_kb: u32, lossless: bool) -> TrialSpec {
    TrialSpec {
        trial: 7,
        seed: 42,
        limit: 1,
        armed: true,
        map_digest: 99,
        levels: vec![level::COUNT | level::EVENT; sites],
        plan: ArmedPlan::default(),
        steps: Vec::new(),
        tracks: Vec::new(),
        path_depth: None,
        loop_runs: false,
        loop_counts: false,
        stack_frames: 8,
        ring_bytes: ring_kb * 1024,
        lossless,
        native: false,
        ticking: false,
    }
}

#[test]
fn everything_a_jvm_says_is_read_back() {
    let file = TempFile::new("said");
    TrialFile::create(&file.0, &spec(3, 64, false)).unwrap();
    let session = Session::join(&file.0, "zk1", 123, "17.0.1").unwrap();
    assert_eq!(session.count(SiteId(1)), 0);
    assert_eq!(session.count(SiteId(1)), 1);
    assert_eq!(session.count(SiteId(3)), 0, "a site that does not exist is not counted anywhere");
    let (method, place) = (session.string("a.B.c"), session.string("B.java:3"));
    let stack = session.stack(&[(method, place), (method, Interned(0))]);
    assert_eq!(session.stack(&[(method, place), (method, Interned(0))]), stack, "a stack is kept once");
    let thread = session.thread(17, "main");
    let mut ring = session.ring();
    ring.switch_to(session.trial(), thread.0, || StateId(4));
    ring.hit(session.trial(), 1, 1, 1000);
    ring.hit_with(session.trial(), 2, 0, method.0, stack.0);
    session.injected(&InjectedRecord {
        candidate: 0,
        occurrence: 5,
        thread,
        stack,
        stack_hash: 77,
        threw: session.string("java.io.IOException"),
        state: StateId(2),
        context: 6,
        path: 99,
    });
    let tally = session.tally(SiteId(3), 6, Some(SiteId(0))).expect("there is room");
    (0..5).for_each(|_| tally.add());
    session.report(ReportKind::Unhooked, 2, "too far");
    session.patched(4, &PatchTally { placed: 3, moved: 1, refused: 2, nanos: 10, bytes: 20 });
    session.end();

    let bytes = std::fs::read(&file.0).unwrap();
    let trace = Trace::new(&bytes).unwrap();
    assert_eq!((trace.trial(), trace.map_digest(), trace.site_count()), (7, 99, 3));
    let jvms = trace.jvms();
    let [jvm] = jvms.as_slice() else { panic!("one JVM joined: {jvms:?}") };
    assert_eq!((jvm.node.as_str(), jvm.pid, jvm.java.as_str(), jvm.ended), ("zk1", 123, "17.0.1", true));
    assert_eq!((jvm.classes, jvm.placed, jvm.moved, jvm.refused, jvm.dropped), (1, 3, 1, 2, 0));
    assert_eq!(trace.counts(jvm), [0, 2, 0]);
    let said = trace.dictionary(jvm);
    assert_eq!(said.thread_name(thread.0), "main");
    assert_eq!(said.thread_java_id(thread.0), Some(17));
    let frames = [("a.B.c".to_owned(), "B.java:3".to_owned()), ("a.B.c".to_owned(), String::new())];
    assert_eq!(said.stack(stack.0), frames);
    assert_eq!(said.patched, [4]);
    assert_eq!(
        (said.reports[0].kind, said.reports[0].subject, said.reports[0].text.as_str()),
        (ReportKind::Unhooked, 2, "too far")
    );
    assert_eq!((said.injections[0].occurrence, said.injections[0].stack_hash), (5, 77));
    assert_eq!((said.injections[0].context, said.injections[0].path), (6, 99));
    assert_eq!(
        said.tallies,
        [LoopTally { body: SiteId(3), context: 6, around: Some(SiteId(0)), iterations: 5 }]
    );
    assert_eq!(said.string(said.injections[0].threw), "java.io.IOException");
    let events: Vec<Event> = trace.events(jvm).collect();
    assert_eq!(events.len(), 2);
    assert_eq!(
        events[0],
        Event {
            ticks: 1000,
            site: SiteId(1),
            thread: thread.0,
            state: StateId(4),
            flags: 1,
            string: 0,
            stack: 0,
            context: 0,
        }
    );
    assert_eq!((events[1].site, events[1].string, events[1].stack), (SiteId(2), method.0, stack.0));
}

#[test]
fn what_a_hook_saw_is_read_back_in_the_order_of_its_thread() {
    let file = TempFile::new("values");
    TrialFile::create(&file.0, &spec(4, 64, false)).unwrap();
    let session = Session::join(&file.0, "n", 1, "").unwrap();
    let (stack, thread) = (session.stack(&[]), session.thread(1, "main"));
    let mut ring = session.ring();
    ring.switch_to(session.trial(), thread.0, || StateId::NO_TASK);
    let seen = |part, object, kind, bits, index, stack| ValueRecord {
        site: SiteId(2),
        part,
        object: ObjectId(object),
        value: SeenValue { kind, bits },
        index,
        stack,
    };
    let records = [
        seen(0, 7, ValueKind::Int, -1, 0, None),
        seen(31, 0, ValueKind::Object, 1 << 40, 0, None),
        seen(1, 9, ValueKind::Long, i64::MIN, i64::MAX, None),
        seen(0, u64::MAX, ValueKind::Double, 1.5f64.to_bits() as i64, 0, Some(stack)),
        seen(0, 5, ValueKind::Nothing, 0, 3, Some(stack)),
    ];
    for record in &records {
        ring.value(session.trial(), record);
    }
    ring.hit(session.trial(), 3, 1, clock::ticks());
    let bytes = std::fs::read(&file.0).unwrap();
    let trace = Trace::new(&bytes).unwrap();
    let read: Vec<_> = trace.values(&trace.jvms()[0]).collect();
    assert_eq!(read.len(), records.len() + 1);
    for (read, record) in read.iter().zip(&records) {
        assert_eq!((read.site, read.thread, read.part), (record.site, thread.0, record.part));
        assert_eq!((read.object, read.value, read.index), (record.object, record.value, record.index));
        assert_eq!(read.stack, record.stack.unwrap_or_default().0);
        assert_eq!(read.sequence.is_some(), record.stack.is_some(), "only those with a stack are ordered");
    }
    assert!(read[3].sequence < read[4].sequence);
    let hit = read[records.len()];
    assert_eq!((hit.site, hit.part, hit.value), (SiteId(3), 1, SeenValue::NOTHING));
}

#[test]
fn an_operation_between_threads_has_its_objects_and_may_be_seen_before_it_ends() {
    let file = TempFile::new("handed");
    TrialFile::create(&file.0, &spec(4, 64, false)).unwrap();
    let session = Session::join(&file.0, "n", 1, "").unwrap();
    let mut ring = session.ring();
    ring.switch_to(session.trial(), 1, || StateId::NO_TASK);
    let record = |ended| OperationRecord {
        site: SiteId(u32::from(ended)),
        ended,
        kind: OperationKind::Dequeue,
        begun: 5,
        resource: session.string("a.Queue"),
        other: Interned(0),
        object: ObjectId(8),
        other_object: ObjectId(if ended { 9 } else { 0 }),
        stack: Interned(0),
        failed: Interned(0),
        result: 0,
    };
    ring.operation(session.trial(), &record(false));
    (0..6).for_each(|_| _ = session.trial().next_sequence());
    ring.operation(session.trial(), &record(true));
    let bytes = std::fs::read(&file.0).unwrap();
    let trace = Trace::new(&bytes).unwrap();
    let read: Vec<_> = trace.operations(&trace.jvms()[0]).collect();
    assert_eq!(read.iter().map(|it| it.has_ended()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(read.iter().map(|it| it.span.0).collect::<Vec<_>>(), [5, 5]);
    assert_eq!(read.iter().map(|it| it.object).collect::<Vec<_>>(), [ObjectId(8); 2]);
    assert_eq!(read.iter().map(|it| it.other_object).collect::<Vec<_>>(), [ObjectId(0), ObjectId(9)]);
}

/// Writes `count` hits with rising times and returns what is read back.
fn written(name: &str, count: u64, ring_kb: u32, lossless: bool) -> (Vec<u64>, u64) {
    let file = TempFile::new(name);
    TrialFile::create(&file.0, &spec(1, ring_kb, lossless)).unwrap();
    let session = Session::join(&file.0, "n", 1, "").unwrap();
    let mut ring = session.ring();
    ring.switch_to(session.trial(), 1, || StateId::NO_TASK);
    for time in 0..count {
        ring.hit(session.trial(), 0, 0, time);
    }
    // Read while the writer is still there, as after a kill: nothing is flushed or closed first.
    let bytes = std::fs::read(&file.0).unwrap();
    let trace = Trace::new(&bytes).unwrap();
    let jvm = &trace.jvms()[0];
    (trace.events(jvm).map(|event| event.ticks).collect(), jvm.dropped)
}

#[test]
fn a_full_ring_drops_its_oldest_events_and_counts_them() {
    let (kept, dropped) = written("ring", 100_000, 256, false);
    assert!(dropped > 0);
    assert_eq!(kept.len() as u64 + dropped, 100_000);
    let newest: Vec<u64> = (100_000 - kept.len() as u64..100_000).collect();
    assert!(kept == newest, "what is kept is the newest, in order");
    assert!(kept.len() * 16 > 128 << 10, "most of the ring is used: {} events", kept.len());
}

#[test]
fn the_state_of_a_thread_outlives_the_events_that_are_dropped() {
    let file = TempFile::new("states");
    TrialFile::create(&file.0, &spec(1, 16, false)).unwrap();
    let session = Session::join(&file.0, "n", 1, "").unwrap();
    let trial = session.trial();
    let mut ring = session.ring();
    ring.switch_to(trial, 1, || StateId(7));
    let enter = Step::Enter { task: 0, state: Some(StateId(3)) };
    ring.came_to(trial, StateId(3), enter);
    (0..10_000).for_each(|time| ring.hit(trial, 0, 0, time));
    ring.came_to(trial, StateId(7), Step::Leave { task: 0 });
    ring.hit(trial, 0, 0, 10_000);
    // Another thread goes on in the ring, and works on nothing.
    ring.switch_to(trial, 2, || StateId::NO_TASK);
    ring.hit(trial, 0, 0, 10_001);
    let bytes = std::fs::read(&file.0).unwrap();
    let trace = Trace::new(&bytes).unwrap();
    let jvm = &trace.jvms()[0];
    assert!(jvm.dropped > 0);
    let state = |ticks: u64| match ticks {
        10_000 => StateId(7),
        10_001 => StateId::NO_TASK,
        _ => StateId(3),
    };
    assert!(trace.events(jvm).all(|it| it.state == state(it.ticks)));
    let left: Vec<Transition> = trace.transitions(jvm).collect();
    let [it] = left.as_slice() else { panic!("the first was dropped: {left:?}") };
    assert_eq!((it.thread, it.from, it.to, it.enters, it.leaves), (1, StateId(3), StateId(7), false, true));
}

#[test]
fn a_lossless_ring_grows_instead() {
    let (kept, dropped) = written("lossless", 300_000, 64, true);
    assert_eq!(dropped, 0);
    assert!(kept == (0..300_000).collect::<Vec<u64>>());
}

#[test]
fn a_ring_goes_from_one_thread_to_the_next() {
    let file = TempFile::new("reuse");
    TrialFile::create(&file.0, &spec(1, 64, false)).unwrap();
    let session = Session::join(&file.0, "n", 1, "").unwrap();
    for thread in 1..=1000 {
        let mut ring = session.ring();
        ring.switch_to(session.trial(), thread, || StateId::NO_TASK);
        ring.hit(session.trial(), 0, 0, u64::from(thread));
        session.return_ring(ring);
    }
    let bytes = std::fs::read(&file.0).unwrap();
    assert!(bytes.len() < 1 << 20, "a thousand short threads share one ring: {} bytes", bytes.len());
    let trace = Trace::new(&bytes).unwrap();
    let events: Vec<(u32, u64)> = trace.events(&trace.jvms()[0]).map(|it| (it.thread, it.ticks)).collect();
    assert!(
        events == (1..=1000).map(|it| (it, u64::from(it))).collect::<Vec<_>>(),
        "{} events",
        events.len()
    );
}

#[test]
fn the_limit_is_taken_once_by_any_number_of_threads() {
    let file = TempFile::new("limit");
    TrialFile::create(&file.0, &TrialSpec { limit: 3, ..spec(1, 64, false) }).unwrap();
    let taken: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let trial = TrialFile::open(&file.0).unwrap();
                scope.spawn(move || (0..1000).filter(|_| trial.take_limit()).count())
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(taken, 3);
    assert!(TrialFile::open(&file.0).unwrap().limit_reached());
}

#[test]
fn what_is_not_ours_is_refused() {
    let file = TempFile::new("refused");
    let trial = TrialFile::create(&file.0, &spec(1, 64, false)).unwrap();
    assert!(
        matches!(TrialFile::create(&file.0, &spec(1, 64, false)), Err(TraceError::Io { .. })),
        "made twice"
    );
    drop(trial);
    let bytes = std::fs::read(&file.0).unwrap();
    let changed = |at: usize, to: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = to;
        Trace::new(&bytes).map(|_| ()).unwrap_err().to_string()
    };
    assert!(changed(0, b'X').contains("something else"));
    assert!(changed(8, 99).contains("version 99"));
    assert!(Trace::new(&bytes[..100]).is_err());
    assert!(Trace::new(&bytes[..bytes.len() / 2]).is_err());
    assert!(Trace::new(&[]).is_err());
}

#[test]
fn ticks_become_milliseconds() {
    let file = TempFile::new("clock");
    let trial = TrialControl::create(&file.0, &spec(1, 64, false)).unwrap();
    let (before, ticks) = (clock::nanos(), clock::ticks());
    let until = before + 20_000_000;
    while clock::nanos() < until {
        std::hint::spin_loop();
    }
    let later = clock::ticks();
    trial.end().unwrap();
    let bytes = std::fs::read(&file.0).unwrap();
    let trace = Trace::new(&bytes).unwrap();
    let span = trace.ms_since_start(later) - trace.ms_since_start(ticks);
    assert!(span >= 19.9, "twenty milliseconds passed, the trace says {span}");
}

#[test]
fn candidates_end_open_claimed_injected_or_refused() {
    use hypocenter_trace::{ArmedCandidate, ArmedFault, ArmedNode, ArmedStack};
    let file = TempFile::new("candidates");
    let candidate = ArmedCandidate {
        site: SiteId(0),
        fault: ArmedFault::Negate,
        node: ArmedNode::Any,
        thread: None,
        state: None,
        stack: ArmedStack::Any,
        occurrence: None,
        probability: None,
        repeat: ArmedRepeat::Once,
        since: None,
        within: None,
        resource: None,
    };
    let trial = TrialFile::create(
        &file.0,
        &TrialSpec {
            plan: ArmedPlan { candidates: vec![candidate; 4], ..ArmedPlan::default() },
            ..spec(1, 64, false)
        },
    )
    .unwrap();
    for number in 1..4 {
        assert!(trial.claim(number));
        assert!(!trial.claim(number), "a candidate is claimed once");
    }
    trial.set_waiting(2, 9);
    assert_eq!(trial.waiting(2).0, 9);
    trial.set_injected(2, 5, 9, 77);
    assert!(trial.happens_again(2, ArmedRepeat::Times(2), 0));
    assert!(!trial.happens_again(2, ArmedRepeat::Times(2), 0), "two times are over");
    assert!(!trial.happens_again(2, ArmedRepeat::Once, 0));
    trial.set_refused(3);
    let bytes = std::fs::read(&file.0).unwrap();
    assert_eq!(
        Trace::new(&bytes).unwrap().candidates(),
        [
            CandidateEnd::Open,
            CandidateEnd::Claimed,
            CandidateEnd::Injected { jvm: 5, occurrence: 9, times: 2, spent_ns: 77 },
            CandidateEnd::Refused,
        ]
    );
}

#[test]
fn a_request_for_a_dump_wakes_who_sleeps_on_it() {
    let file = TempFile::new("dumps");
    let trial = TrialControl::create(&file.0, &spec(1, 64, false)).unwrap();
    assert_eq!(trial.request_dump().unwrap(), 1);
    // Two JVMs, each with a mapping of its own; the request before they joined is none of theirs.
    let sessions = ["n1", "n2"].map(|node| Session::join(&file.0, node, 40, "").unwrap());
    assert_eq!(trial.dumps_pending(1).unwrap(), []);
    std::thread::scope(|scope| {
        let sleepers = sessions.each_ref().map(|session| {
            scope.spawn(|| session.trial().wait_for_dump_request(session.dump_known()).unwrap())
        });
        assert_eq!(trial.request_dump().unwrap(), 2);
        for sleeper in sleepers {
            assert_eq!(sleeper.join().unwrap(), 2);
        }
    });
    let pending = |request| -> Vec<(u32, String, u32)> {
        trial.dumps_pending(request).unwrap().into_iter().map(|it| (it.jvm, it.node, it.pid)).collect()
    };
    assert_eq!(pending(2), [(0, "n1".to_owned(), 40), (1, "n2".to_owned(), 40)]);
    sessions[1].dumped(2, true);
    assert_eq!(pending(2), [(0, "n1".to_owned(), 40)]);
    assert_eq!(pending(3).len(), 2);
    sessions[0].end();
    assert_eq!(pending(2), []);
    let bytes = std::fs::read(&file.0).unwrap();
    let said: Vec<_> =
        Trace::new(&bytes).unwrap().jvms().iter().map(|it| (it.dumped, it.dump_failed)).collect();
    assert_eq!(said, [(1, false), (2, true)]);
}

#[test]
fn a_file_that_was_cut_short_is_an_error_and_no_signal() {
    for part in ["nothing", "header", "arena"] {
        let file = TempFile::new(&format!("cut-{part}"));
        let trial = TrialControl::create(&file.0, &spec(1, 64, false)).unwrap();
        let session = Session::join(&file.0, "n1", 40, "").unwrap();
        drop(session);
        let len = std::fs::metadata(&file.0).unwrap().len();
        let left = match part {
            "nothing" => 0,
            "header" => 4096,
            _ => len - 4096,
        };
        std::fs::OpenOptions::new().write(true).open(&file.0).unwrap().set_len(left).unwrap();
        if part != "arena" {
            for said in [trial.end().err(), trial.request_dump().err()] {
                assert!(matches!(said, Some(TraceError::Cut { .. })), "{part}: {said:?}");
            }
            assert_eq!(std::fs::metadata(&file.0).unwrap().len(), left, "it is not filled with a hole");
        }
        if part == "nothing" {
            let said = trial.dumps_pending(1).err();
            assert!(matches!(said, Some(TraceError::Cut { .. })), "{said:?}");
        }
        let bytes = std::fs::read(&file.0).unwrap();
        let said = Trace::new(&bytes).unwrap_err().to_string();
        assert!(said.contains("cut short"), "{part}: {said}");
    }
}

fn sample_map() -> Vec<u8> {
    let mut map = MapBuilder::new();
    for class in ["z/Last", "a/First"] {
        map.class(class.as_bytes());
        map.method(3, b"run", b"()V", 11, 22);
        let call = NewSite { kind: SiteKind::Call, callee: "x.Y.z()V", ordinal: 1, total: 2, line: 30 };
        map.site(call);
        map.hook(Placement::Before, 8, 4, &[]);
        map.site(NewSite { kind: SiteKind::LoopEntry, callee: "", ordinal: 0, total: 1, line: 0 });
        map.hook(Placement::Edges, 12, 6, &[FALL_THROUGH, 40]);
    }
    map.finish().unwrap()
}

#[test]
fn a_map_finds_classes_by_name_and_sites_by_identity() {
    let bytes = sample_map();
    let map = Map::new(&bytes).unwrap();
    assert_eq!((map.class_count(), map.site_count()), (2, 4));
    assert!(map.class(b"m/Middle").is_none());
    let class = map.class(b"z/Last").unwrap();
    let method = class.methods().next().unwrap();
    assert_eq!((method.name(), method.descriptor(), method.index()), (&b"run"[..], &b"()V"[..], 3));
    assert_eq!((method.digest(), method.symbolic_digest()), (11, 22));
    let hooks: Vec<_> = method.hooks().collect();
    assert_eq!((hooks[0].site, hooks[0].pc, hooks[0].instruction), (SiteId(0), 8, 4));
    assert_eq!((hooks[1].placement, hooks[1].edges), (Placement::Edges, &[FALL_THROUGH, 40][..]));
    let site = Site {
        class: "a.First".into(),
        method: "run".into(),
        descriptor: "()V".into(),
        kind: SiteKind::Call,
        callee: Some("x.Y.z()V".into()),
        ordinal: 1,
        line: None,
    };
    assert_eq!(map.find(&site), Some(SiteId(2)));
    assert_eq!(map.site(SiteId(2)).unwrap(), Site { line: Some(30), ..site.clone() });
    assert_eq!(map.find(&Site { ordinal: 0, ..site }), None);
    assert_eq!(map.class_of(SiteId(2)), Some(map.class(b"a/First").unwrap().index));
}

proptest! {
    /// Any byte of a trace may be anything: the reader answers, and ends.
    #[test]
    fn a_damaged_trace_is_read_without_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let file = TempFile::new("damaged");
        TrialFile::create(&file.0, &spec(4, 64, false)).unwrap();
        let session = Session::join(&file.0, "node", 1, "25").unwrap();
        let stack = session.stack(&[(session.string("a.b"), Interned(0))]);
        let mut ring = session.ring();
        ring.switch_to(session.trial(), session.thread(1, "t").0, || StateId::NO_TASK);
        (0..100).for_each(|n| ring.hit_with(session.trial(), n % 4, 0, 0, stack.0));
        let mut bytes = std::fs::read(&file.0).unwrap();
        // Headers are where the damage matters most: half of the changes go there.
        let len = bytes.len();
        for (number, (at, value)) in changes.iter().enumerate() {
            let at = at.index(if number % 2 == 0 { len } else { 1024 });
            bytes[at] = *value;
        }
        if let Ok(trace) = Trace::new(&bytes) {
            trace.candidates();
            for jvm in trace.jvms() {
                trace.counts(&jvm);
                let said = trace.dictionary(&jvm);
                for event in trace.events(&jvm) {
                    said.stack(event.stack);
                    said.thread_name(event.thread);
                }
            }
        }
    }

    /// The same for a map.
    #[test]
    fn a_damaged_map_is_read_without_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut words: Vec<u64> = sample_map().chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        }).collect();
        for (at, value) in changes {
            let at = at.index(words.len() * 8);
            words[at / 8] ^= u64::from(value) << (at % 8 * 8);
        }
        let bytes = zerocopy::IntoBytes::as_bytes(words.as_slice());
        if let Ok(map) = Map::new(bytes) {
            for class in (0..map.class_count()).filter_map(|index| map.class_at(index)) {
                for hook in class.methods().take(100).flat_map(|method| method.hooks().take(100).collect::<Vec<_>>()) {
                    map.site(hook.site);
                    map.match_key(hook.site);
                }
            }
        }
    }
}
