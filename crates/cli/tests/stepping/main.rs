//! The hooks see the paths that single-stepping sees: over small generated methods with every shape of control flow.
//!
//! A debugger steps through the class instruction by instruction. Where the code comes by which branch follows from these steps and from what
//! `javap` prints; what the trace has is compared with that.

mod generator;
mod listing;
#[path = "../support/mod.rs"]
mod support;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use generator::Generated;
use hypocenter_lab::{evidence_of, finished};
use hypocenter_plan::{Site, SiteKind};
use hypocenter_trace::{Dictionary, Map, SiteId};
use listing::{Instruction, Method};
use serde_json::{Value, json};
use support::{Done, Jdk, Tool, each, jdks};
use tempfile::TempDir;
use walk::{Seen, Walk};

/// Methods that are generated, and those of them whose paths must be compared.
const METHODS: u32 = 240;
const METHODS_MIN: usize = 200;
const SEED: u64 = 28;
const CLASS: &str = "stepped.Small";
const DESCRIPTOR: &str = "(I)I";

/// The generated class, compiled and stepped through.
struct Stepped {
    directory: TempDir,
    methods: BTreeMap<String, Method>,
    /// Each instruction that was executed: method and code index.
    steps: Vec<(String, u32)>,
    printed: String,
}

/// Runs a program of a JDK and returns what it prints.
fn output(jdk: &Jdk, name: &str, arguments: &[&Path]) -> String {
    let done = Command::new(jdk.home.join("bin").join(name)).args(arguments).output();
    let done = done.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

impl Stepped {
    fn on(jdk: &Jdk) -> Stepped {
        let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let at = directory.path();
        let Generated { source, marks } = generator::generate(METHODS, SEED);
        let (java, steps) = (at.join("Small.java"), at.join("steps"));
        fs::write(&java, source).unwrap();
        let word = Path::new;
        output(jdk, "javac", &[word("-g"), word("-d"), at, &java]);
        let text = output(
            jdk,
            "javap",
            &["-c", "-l", "-p", "-cp"].map(word).iter().copied().chain([at, word(CLASS)]).collect::<Vec<_>>(),
        );
        let stepper = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stepping/Stepper.java");
        let printed = output(jdk, "java", &[&stepper, at, word(CLASS), &steps]);
        let steps = fs::read_to_string(&steps).unwrap();
        let step = |line: &str| {
            let (method, pc) = line.split_once(' ').expect("a method and a code index");
            (method.to_owned(), pc.parse().expect("a code index"))
        };
        let steps = steps.lines().map(step).collect();
        Stepped { methods: listing::read(&text, &marks), steps, printed, directory }
    }

    fn followed(&self) -> impl Iterator<Item = (&String, &Method)> {
        self.methods.iter().filter(|(name, _)| walk::is_followed(name))
    }

    /// What follows from the steps.
    fn expected(&self, depth: usize) -> Seen {
        let mut walk = Walk::new(&self.methods, depth);
        self.steps.iter().for_each(|(method, pc)| walk.step(method, *pc));
        walk.end()
    }

    /// A plan that records every entry, branch, switch and iteration, and follows everything.
    fn plan(&self, depth: usize) -> Value {
        let mut sites = Vec::new();
        for (name, method) in self.followed() {
            let kinds = [
                (SiteKind::Entry, 1),
                (SiteKind::Branch, method.count(Instruction::is_branch)),
                (SiteKind::Switch, method.count(Instruction::is_switch)),
                (SiteKind::LoopBody, method.loops.len()),
            ];
            for (kind, count) in kinds {
                sites.extend((0..count).map(|ordinal| {
                    json!({"class": CLASS, "method": name, "descriptor": DESCRIPTOR, "kind": kind, "ordinal": ordinal})
                }));
            }
        }
        let methods: Vec<Value> = self
            .followed()
            .map(|(name, _)| json!({"class": CLASS, "method": name, "descriptor": DESCRIPTOR}))
            .collect();
        json!({
            "version": 1,
            "record": {
                "lossless": true,
                "watch_sites": [{"sites": sites, "level": "event"}],
                "trails": {"methods": methods, "loops": true, "loop_counts": true, "path_depth": depth},
            },
        })
    }

    fn run(&self, jdk: &Jdk, depth: usize) -> Done {
        let at = self.directory.path().display().to_string();
        let words = [&jdk.java(), "-XX:+UseSerialGC", "-Xverify:all", "-cp", &at, CLASS];
        let done = Tool::on(jdk, "run").args("--json").plan(&self.plan(depth)).command(&words).exits(0);
        assert_eq!(done.program(), self.printed, "the program does something else");
        assert!(!done.stderr.contains("not watched"), "{}", done.stderr);
        done
    }

    /// The methods whose hooks do not all have a place, and those that call them: a loop whose ends cannot all be told apart from other ways
    /// is seen to end later.
    fn incomplete(&self, done: &Done) -> BTreeSet<String> {
        let outcome = done.outcome();
        let problems = outcome["problems"].as_array().expect("a list");
        let mut methods = BTreeSet::new();
        for it in problems {
            let [place, what] = ["place", "what"].map(|key| it[key].as_str().unwrap_or_default());
            assert!(what.contains("the ways into pc"), "{it}");
            let method = place.strip_prefix("stepped.Small.").and_then(|it| it.split(':').next());
            methods.insert(method.expect("a method of the class").to_owned());
        }
        let refused = outcome["jvms"][0]["hooks"]["refused"].as_u64();
        assert_eq!(refused, Some(problems.len() as u64), "every hook that is left out is reported");
        loop {
            let calls = |it: &Method| it.calls.iter().any(|name| methods.contains(name));
            let more = self.followed().filter(|(name, it)| !methods.contains(*name) && calls(it));
            let more: Vec<String> = more.map(|it| it.0.clone()).collect();
            if more.is_empty() {
                return methods;
            }
            methods.extend(more);
        }
    }

    /// What the trace has.
    fn traced(&self, done: &Done) -> Seen {
        let evidence = evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap();
        let (map, trace) = (evidence.map().unwrap(), evidence.trace().unwrap());
        let jvms = trace.jvms();
        let [jvm] = &jvms[..] else { panic!("one JVM is expected") };
        let names = Names { map, dictionary: trace.dictionary(jvm), methods: &self.methods };
        let mut seen = Seen::default();
        for event in trace.events(jvm) {
            let outcome = match (names.site(event.site).kind, event.flags) {
                (SiteKind::Branch, 1) => " taken",
                (SiteKind::Branch, _) => " not taken",
                _ => "",
            };
            seen.hits.push(names.text(event.site) + outcome);
        }
        let runs = trace.loop_runs(jvm);
        seen.runs = runs.map(|it| (names.callers(it.context), names.text(it.body), it.iterations)).collect();
        let mut spelled = BTreeSet::new();
        for it in &names.dictionary.paths {
            assert!(!it.cut);
            assert!(spelled.insert((it.around, it.context, &it.branches)), "{it:?} is spelled out twice");
            let branches = it.branches.iter().map(|&(site, value)| names.branch(site, value));
            seen.paths.insert((names.callers(it.context), names.text(it.around), branches.collect()));
        }
        for it in names.dictionary.tallies.iter().filter(|it| it.iterations > 0) {
            let key = (names.callers(it.context), names.text(it.body), it.around.map(|it| names.text(it)));
            assert_eq!(seen.tallies.insert(key, it.iterations), None, "{it:?} is counted twice");
        }
        seen
    }
}

/// The names of what a trace has by numbers.
struct Names<'a> {
    map: Map<'a>,
    dictionary: Dictionary,
    methods: &'a BTreeMap<String, Method>,
}

impl Names<'_> {
    fn site(&self, id: SiteId) -> Site {
        self.map.site(id).expect("a site of the map")
    }

    fn text(&self, id: SiteId) -> String {
        let it = self.site(id);
        format!("{} {} {}", it.method, it.kind.name(), it.ordinal)
    }

    fn callers(&self, context: u32) -> String {
        let callers = self.dictionary.callers(context);
        callers.iter().map(|&it| self.site(it).method).collect::<Vec<_>>().join("<")
    }

    /// A branch with its outcome, as steps would show it.
    fn branch(&self, id: SiteId, value: u32) -> String {
        let site = self.site(id);
        let method = &self.methods[&site.method];
        let is_switch = site.kind == SiteKind::Switch;
        let of_kind = |it: &Instruction| if is_switch { it.is_switch() } else { it.is_branch() };
        let (&pc, it) = method.code.iter().filter(|(_, it)| of_kind(it)).nth(site.ordinal as usize).unwrap();
        if is_switch {
            return walk::branch(&site.method, method, pc, it.of_key(value as i32));
        }
        assert!(value <= 1, "a branch has a value of {value}");
        format!("{} {}", self.text(id), if value == 1 { "taken" } else { "not taken" })
    }
}

/// Asserts that two lists are the same, and shows where they part.
fn assert_same<T: std::fmt::Debug + PartialEq>(what: &str, traced: &[T], expected: &[T]) {
    let at = traced.iter().zip(expected).position(|(a, b)| a != b);
    let at = at.unwrap_or(traced.len().min(expected.len()));
    let around =
        |all: &[T]| format!("{:#?}", &all[at.saturating_sub(8).min(all.len())..all.len().min(at + 3)]);
    assert!(
        at == traced.len() && at == expected.len(),
        "{what} {at} of {} in the trace and {} by steps\ntrace: {}\nsteps: {}",
        traced.len(),
        expected.len(),
        around(traced),
        around(expected)
    );
}

#[test]
fn hooks_see_the_paths_that_single_stepping_sees() {
    // The bytecode and its steps are the same whatever runs it.
    let stepped = Stepped::on(jdks().iter().find(|it| it.javac().is_some()).expect("asserted by jdks()"));
    assert_eq!(stepped.followed().count(), METHODS as usize);
    let rows: Vec<(&Jdk, usize)> = jdks().iter().flat_map(|jdk| [(jdk, 0), (jdk, 2)]).collect();
    let name = |&(jdk, depth): &(&Jdk, usize)| format!("depth {depth} on Java {}", jdk.feature);
    each(&rows, name, |&(jdk, depth)| {
        let done = stepped.run(jdk, depth);
        let incomplete = stepped.incomplete(&done);
        assert!(METHODS as usize - incomplete.len() >= METHODS_MIN, "{incomplete:?}");
        let expected = stepped.expected(depth).without(&incomplete);
        let traced = stepped.traced(&done).without(&incomplete);
        // The methods do what this test is about.
        let kinds = ["entry", "branch", "switch", "loop_body"];
        let count = |kind: &str| expected.hits.iter().filter(|it| it.split(' ').nth(1) == Some(kind)).count();
        assert!(kinds.iter().all(|kind| count(kind) > 300), "{:?}", kinds.map(count));
        assert_same("hit", &traced.hits, &expected.hits);
        assert_same("run of a loop", &traced.runs, &expected.runs);
        let list = |seen: &Seen| seen.paths.iter().cloned().collect::<Vec<_>>();
        assert_same("path", &list(&traced), &list(&expected));
        assert_eq!(traced.tallies, expected.tallies);
    });
}
