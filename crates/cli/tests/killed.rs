//! A JVM that is killed leaves whole records: each thread's are those of what it did, up to the hit at hand.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_lab::{evidence_of, finished};
use hypocenter_plan::SiteKind;
use hypocenter_trace::{Dictionary, Jvm, Map, SiteId, Trace};
use serde_json::{Value, json};
use support::{Tool, classes, each, jdks};

const THREADS: u64 = 8;
/// JVMs that one run of the tool starts, one after the other, and how many such runs there are.
const JVMS: u64 = 10;
const RUNS: u64 = 5;
/// The most rounds of all threads after which the kill is asked for.
const ROUNDS_MAX: u64 = 6_000;

/// The methods of `hits.Rounds` that are followed, with their number of branches.
const METHODS: [(&str, &str, u32); 4] =
    [("round", "(I)V", 2), ("step", "(I)V", 1), ("even", "()V", 0), ("third", "()V", 0)];

fn plan() -> Value {
    let method = |it: &(&str, &str, u32)| json!({"class": "hits.Rounds", "method": it.0, "descriptor": it.1});
    let site = |it: &(&str, &str, u32), kind: &str, ordinal: u32| {
        let mut site = method(it);
        site["kind"] = json!(kind);
        site["ordinal"] = json!(ordinal);
        site
    };
    let mut sites = vec![site(&METHODS[0], "loop_body", 0)];
    for it in &METHODS {
        sites.push(site(it, "entry", 0));
        sites.extend((0..it.2).map(|ordinal| site(it, "branch", ordinal)));
    }
    json!({
        "version": 1,
        "record": {
            "lossless": true,
            "watch_sites": [{"sites": sites, "level": "event"}],
            "trails": {
                "methods": METHODS.iter().map(method).collect::<Vec<_>>(),
                "loops": true,
                "loop_counts": true,
                "path_depth": 0,
            },
        },
    })
}

// All that a thread can hit, each with its callers.
const ENTRY: &str = "round entry in round";
const GOES_ON: &str = "round branch 0 = 0 in round";
const ENDS: &str = "round branch 0 = 1 in round";
const IS_THIRD: &str = "round branch 1 = 0 in round";
const IS_NOT_THIRD: &str = "round branch 1 = 1 in round";
const BODY: &str = "round loop_body in round";
const STEP: &str = "step entry in step<round";
const IS_EVEN: &str = "step branch 0 = 0 in step<round";
const IS_ODD: &str = "step branch 0 = 1 in step<round";
const EVEN: &str = "even entry in even<step<round";
const THIRD: &str = "third entry in third<round";
const HITS: [&str; 11] =
    [ENTRY, GOES_ON, ENDS, IS_THIRD, IS_NOT_THIRD, BODY, STEP, IS_EVEN, IS_ODD, EVEN, THIRD];

/// The hits of a thread's n-th round, and how often its loop is iterated.
fn round(n: u64) -> (Vec<&'static str>, u64) {
    let mut hits = vec![ENTRY];
    for i in 0..n % 4 {
        hits.extend([GOES_ON, BODY, STEP]);
        hits.extend(if (n + i).is_multiple_of(2) { &[IS_EVEN, EVEN][..] } else { &[IS_ODD] });
    }
    hits.push(ENDS);
    hits.extend(if n.is_multiple_of(3) { &[IS_THIRD, THIRD][..] } else { &[IS_NOT_THIRD] });
    (hits, n % 4)
}

/// The paths of all rounds: what they are around, callers and values.
const PATHS: [(&str, &str, &str); 6] = [
    ("round entry", "round", "branch 1 = 0"),
    ("round entry", "round", "branch 1 = 1"),
    ("round loop_body", "round", "branch 0 = 0"),
    ("round loop_body", "round", "branch 0 = 1"),
    ("step entry", "step<round", "branch 0 = 0"),
    ("step entry", "step<round", "branch 0 = 1"),
];

/// A killed JVM in its trace.
struct Killed<'a> {
    map: Map<'a>,
    trace: &'a Trace<'a>,
    jvm: &'a Jvm,
    dictionary: Dictionary,
}

impl Killed<'_> {
    fn site(&self, id: SiteId) -> String {
        let it = self.map.site(id).expect("a site of the map");
        match it.kind {
            SiteKind::Branch => format!("{} branch {}", it.method, it.ordinal),
            kind => format!("{} {}", it.method, kind.name()),
        }
    }

    fn callers(&self, context: u32) -> String {
        let mut next = context;
        while let Some(&(parent, _)) = self.dictionary.contexts.get(&next) {
            next = parent;
        }
        assert_eq!(next, 0, "calling context {context} is not there to its root");
        let callers = self.dictionary.callers(context);
        let name = |it: &SiteId| self.map.site(*it).expect("a site of the map").method;
        callers.iter().map(name).collect::<Vec<_>>().join("<")
    }

    /// The threads' hits, by their names.
    fn hits(&self) -> BTreeMap<&str, Vec<&'static str>> {
        let mut hits: BTreeMap<&str, Vec<&'static str>> = BTreeMap::new();
        let mut known: BTreeMap<(SiteId, u8, u32), &'static str> = BTreeMap::new();
        for event in self.trace.events(self.jvm) {
            let hit = *known.entry((event.site, event.flags, event.context)).or_insert_with(|| {
                let is_branch = self.map.site(event.site).is_some_and(|it| it.kind == SiteKind::Branch);
                let value = if is_branch { format!(" = {}", event.flags) } else { String::new() };
                let text = format!("{}{value} in {}", self.site(event.site), self.callers(event.context));
                let hit = HITS.into_iter().find(|it| *it == text);
                hit.unwrap_or_else(|| panic!("nothing hits this: {text}"))
            });
            hits.entry(self.dictionary.thread_name(event.thread)).or_default().push(hit);
        }
        hits
    }

    fn check(&self) {
        assert!(!self.jvm.ended);
        assert_eq!((self.jvm.dropped, self.jvm.no_room), (0, 0));
        let hits = self.hits();
        let mut runs: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for run in self.trace.loop_runs(self.jvm) {
            assert_eq!(
                (self.site(run.body), self.callers(run.context)),
                ("round loop_body".into(), "round".into())
            );
            runs.entry(self.dictionary.thread_name(run.thread)).or_default().push(run.iterations);
        }
        assert!(runs.keys().all(|it| hits.contains_key(it)));
        for (thread, hits) in &hits {
            assert!(thread.starts_with("rounds-"), "`{thread}` is none of the threads");
            let expected: Vec<&str> = (0..).flat_map(|n| round(n).0).take(hits.len()).collect();
            let wrong = hits.iter().zip(&expected).position(|(a, b)| a != b);
            assert_eq!(wrong, None, "{thread}: {:?}", wrong.map(|at| (at, &hits[at], &expected[at])));
            // The end of a loop is recorded behind the test that ends it.
            let ended = hits.iter().filter(|it| **it == ENDS).count();
            let runs = runs.get(thread).map_or(&[] as &[u64], Vec::as_slice);
            assert!(
                (ended.saturating_sub(1)..=ended).contains(&runs.len()),
                "{thread}: {} of {ended} loops",
                runs.len()
            );
            assert!(
                runs.iter().copied().eq((0..).map(|n| round(n).1).take(runs.len())),
                "{thread}: wrong iterations"
            );
        }
        self.check_counts(hits.values().flatten());
        let rounds = hits.values().flatten().filter(|it| **it == ENTRY).count() as u64;
        self.check_paths(rounds);
    }

    /// Counters and tallies have what is recorded, and at most one more hit for each thread.
    fn check_counts<'h>(&self, hits: impl Iterator<Item = &'h &'static str>) {
        let (mut recorded, mut iterations) = (0, 0);
        for hit in hits {
            recorded += 1;
            iterations += u64::from(*hit == BODY);
        }
        let counted: u64 = self.trace.counts(self.jvm).iter().sum();
        assert!((recorded..=recorded + THREADS).contains(&counted), "{counted} hits, {recorded} recorded");
        let mut tallied = 0;
        for it in &self.dictionary.tallies {
            assert_eq!(
                (self.site(it.body), self.callers(it.context)),
                ("round loop_body".into(), "round".into())
            );
            assert_eq!(it.around, None);
            tallied += it.iterations;
        }
        assert!(
            (iterations..=iterations + THREADS).contains(&tallied),
            "{tallied} iterations, {iterations} recorded"
        );
    }

    /// The paths are some of those that there are, each once; all of them if so many rounds were done.
    fn check_paths(&self, rounds: u64) {
        let mut paths = BTreeSet::new();
        for it in &self.dictionary.paths {
            assert!(!it.cut);
            let branches = it.branches.iter().map(|&(site, value)| format!("{} = {value}", self.site(site)));
            let branches = branches.collect::<Vec<_>>().join(", ");
            let (around, branches) =
                (self.site(it.around), branches.split_once(' ').map(|it| it.1.to_owned()));
            let path = (around, self.callers(it.context), branches.unwrap_or_default());
            assert!(
                PATHS.iter().any(|known| (known.0, known.1, known.2) == (&path.0, &path.1, &path.2)),
                "{path:?}"
            );
            assert!(paths.insert(path.clone()), "{path:?} is spelled out twice");
        }
        // A thread that has begun its fifth round has gone all of them in the four before.
        if rounds > 4 * THREADS {
            assert_eq!(paths.len(), PATHS.len(), "{paths:?}");
        }
    }
}

#[test]
fn a_jvm_killed_while_eight_threads_record_leaves_every_complete_record() {
    let runs: Vec<u64> = (0..RUNS).collect();
    each(
        &runs,
        |run| format!("run {run}"),
        |run| {
            let jdk = &jdks()[*run as usize % jdks().len()];
            // Spread over all numbers of rounds, by a step that has no factor with their number.
            let after = (0..JVMS).map(|jvm| ((run * JVMS + jvm) * 7_919 % ROUNDS_MAX + 1).to_string());
            let script = format!(
                "for after in {}; do '{}' -XX:+UseSerialGC -cp '{}' hits.Rounds {THREADS} $after; echo $?; done",
                after.collect::<Vec<_>>().join(" "),
                jdk.java(),
                classes().display(),
            );
            let tool = Tool::on(jdk, "run")
                .args("--json")
                .plan(&plan())
                .args("--packages hits.Rounds --classpath")
                .arg(classes());
            let done = tool.command(&["sh", "-c", &script]).exits(0);
            // The shell's word for signal 9.
            assert_eq!(done.program(), "137\n".repeat(JVMS as usize));
            let evidence = evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap();
            let trace = evidence.trace().unwrap();
            let jvms = trace.jvms();
            assert_eq!(jvms.len() as u64, JVMS);
            for jvm in &jvms {
                let (map, dictionary) = (evidence.map().unwrap(), trace.dictionary(jvm));
                Killed { map, trace: &trace, jvm, dictionary }.check();
            }
        },
    );
}
