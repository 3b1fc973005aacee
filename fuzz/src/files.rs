//! The files that tool and agent share.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::OnceLock;

use hypocenter_trace::{ArmedNode, ArmedPlan, Map, SiteId, Trace, TrialControl, TrialFile};

use crate::sparse;

/// How many hooks of a map are visited: ranges of a broken map may overlap, so that all of its classes have all of
/// its methods, and those all of its hooks.
const VISITS_MAX: usize = 20_000;
/// How many strings, stacks and threads are looked up, and how many events.
const LOOKUPS_MAX: u32 = 64;

/// The first byte says what the others are.
pub fn check(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 4 {
        0 => trace(&sparse::unpack(bytes)),
        1 => map(bytes),
        2 => trace(bytes),
        _ => trial(&sparse::unpack(bytes)),
    }
}

fn trace(bytes: &[u8]) {
    let trace = match Trace::new(bytes) {
        Ok(trace) => trace,
        Err(error) => {
            black_box(error.to_string());
            return;
        }
    };
    black_box((trace.trial(), trace.map_digest(), trace.agents(), trace.limit_reached()));
    let candidates = trace.candidates();
    for jvm in trace.jvms() {
        black_box((jvm.dumped, jvm.dump_failed, jvm.ended));
        let counts = trace.counts(&jvm);
        assert!(counts.len() <= trace.site_count());
        for candidate in [0, candidates.len() as u32, u32::MAX] {
            black_box(trace.candidate_hits(&jvm, candidate));
        }
        let dictionary = trace.dictionary(&jvm);
        for number in 0..LOOKUPS_MAX {
            black_box((dictionary.string(number), dictionary.thread_name(number)));
            black_box((dictionary.thread_java_id(number), dictionary.stack(number)));
        }
        for it in &dictionary.injections {
            black_box((dictionary.string(it.threw), dictionary.thread_name(it.thread)));
            assert!(!trace.ms_since_start(it.ticks).is_nan());
        }
        black_box(dictionary.reports.iter().map(|report| report.text.len()).sum::<usize>());
        for path in &dictionary.paths {
            assert!(path.branches.len() <= bytes.len() / 8, "more branches than the file has room for");
            black_box(dictionary.callers(path.context));
        }
        assert_eq!(trace.counts_by_value(&jvm).len(), counts.len());
        // A tally has four words with its head, and a calling context too.
        assert!(dictionary.tallies.len() <= bytes.len() / 32 * 2, "more tallies than the file has room for");
        for it in dictionary.tallies.iter().take(LOOKUPS_MAX as usize) {
            black_box((dictionary.callers(it.context), it.body, it.around, it.iterations));
        }
        assert!(
            dictionary.contexts.len() <= bytes.len() / 32 * 2,
            "more contexts than the file has room for"
        );
        for &context in dictionary.contexts.keys().take(LOOKUPS_MAX as usize) {
            assert!(!dictionary.callers(context).is_empty(), "a context that is there has a method");
        }
        // A record has at least two words.
        let mut runs = 0;
        for run in trace.loop_runs(&jvm) {
            runs += 1;
            black_box((run.iterations, run.body, dictionary.thread_name(run.thread)));
        }
        assert!(runs <= bytes.len() / 16 * 2, "more loops than the file has room for");
        assert!(
            trace.transitions(&jvm).count() <= bytes.len() / 16 * 2,
            "more steps than the file has room for"
        );
        let mut events = 0;
        for event in trace.events(&jvm) {
            events += 1;
            if events <= LOOKUPS_MAX {
                black_box((dictionary.string(event.string), dictionary.stack(event.stack)));
                black_box(dictionary.callers(event.context));
                let ms = trace.ms_since_start(event.ticks);
                assert!(ms >= 0.0, "an event before the start: {ms}");
            }
        }
        assert!(events as usize <= bytes.len() / 16 * 2, "more events than the file has room for");
    }
}

/// The file as a JVM that joins the trial sees it; the mapped plan is only read that way.
fn trial(bytes: &[u8]) {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let path = PATH.get_or_init(|| {
        let folder =
            if PathBuf::from("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
        folder.join(format!("hypocenter-fuzz-{}", std::process::id()))
    });
    std::fs::write(path, bytes).expect("the file can be written");
    let (trial, control) = (TrialFile::open(path), TrialControl::open(path));
    // It lives on in its mapping.
    std::fs::remove_file(path).expect("the file can be removed");
    let Ok(trial) = trial else { return };
    assert_eq!(trial.levels().len(), trial.site_count() as usize);
    if let Ok(control) = control {
        // A file that ends too soon is an error.
        let pending = control.dumps_pending(0).unwrap_or_default();
        assert!(pending.is_empty(), "a JVM is asked for what nobody requested");
        let _ = black_box(control.dumps_pending(u32::MAX));
    }
    black_box((trial.dump_request(), trial.path_depth(), trial.loop_runs(), trial.loop_counts()));
    match trial.tracks() {
        Ok(tracks) => assert!(tracks.len() <= bytes.len() / 12, "more tracks than the file has room for"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match trial.plan() {
        Ok(ArmedPlan { candidates, never_below, arm_after }) => {
            // Each has its own texts, so that together they are no longer than the file.
            let nodes = candidates.iter().map(|it| match &it.node {
                ArmedNode::Any => 0,
                ArmedNode::Process(name) => name.len(),
                ArmedNode::Within { threads, mdc } => {
                    let mdc = mdc.as_ref().map_or(0, |mdc| mdc.key.len() + mdc.value.len());
                    threads.iter().map(String::len).sum::<usize>() + mdc
                }
            });
            // A byte that is no text becomes a sign of three.
            assert!(nodes.sum::<usize>() <= 3 * bytes.len(), "the nodes' texts were multiplied");
            black_box(arm_after);
            let lines = never_below.iter().map(|it| it.method.len()).sum::<usize>();
            assert!(lines <= 3 * bytes.len(), "the lines' texts were multiplied");
            black_box(candidates);
        }
        Err(error) => {
            black_box(error.to_string());
        }
    }
}

fn map(bytes: &[u8]) {
    // Maps must be aligned to eight bytes.
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..chunk.len()].copy_from_slice(chunk);
        *word = u64::from_ne_bytes(whole);
    }
    // SAFETY: a `u64` is eight bytes without padding, and the slice is no longer than the words.
    let aligned = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), bytes.len()) };
    let map = match Map::new(aligned) {
        Ok(map) => map,
        Err(error) => {
            black_box(error.to_string());
            return;
        }
    };
    black_box(map.digest());
    let mut visits = 0;
    let mut finds = 0;
    for index in 0..map.class_count().min(VISITS_MAX) {
        let class = map.class_at(index).expect("a class below the count");
        black_box(map.class(class.name()).map(|class| class.index));
        for method in class.methods() {
            visits += 1;
            black_box((method.name(), method.descriptor(), method.index()));
            black_box((method.digest(), method.symbolic_digest()));
            for hook in method.hooks() {
                visits += 1;
                black_box((hook.pc, hook.instruction, hook.edges.len(), map.kind(hook.site)));
                if visits > VISITS_MAX {
                    return;
                }
            }
            if visits > VISITS_MAX {
                return;
            }
        }
    }
    for number in (0..map.site_count().min(LOOKUPS_MAX as usize) as u32).chain([u32::MAX]) {
        let id = SiteId(number);
        black_box((map.class_of(id), map.match_key(id)));
        if let Some(site) = map.site(id) {
            black_box(site.to_string());
            // Every hook of the class is compared, so some are enough.
            finds += 1;
            if finds <= 8
                && let Some(found) = map.find(&site)
            {
                assert!(map.site(found).is_some_and(|it| it.same_point(&site)), "another site was found");
            }
        }
    }
    assert!(map.class_at(map.class_count()).is_none());
}
