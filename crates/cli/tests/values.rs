//! What hooks see: each access with its object and its value, and each operation between threads with its objects.

mod support;

use std::collections::BTreeMap;

use hypocenter_engine::Evidence;
use hypocenter_lab::{evidence_of, finished};
use hypocenter_plan::SiteKind;
use hypocenter_trace::{Dictionary, SiteId, TracedValue};
use support::{Done, Jdk, Tool, each, jdks};

/// A run of the program, with every hook that sees values.
struct Seen {
    evidence: Evidence,
    dictionary: Dictionary,
    values: Vec<TracedValue>,
}

const KINDS: &str =
    "field,array,allocation,monitor,call,call_return,entry,exit,unwind,branch,loop_entry,block";

impl Seen {
    fn of(jdk: &Jdk, record: &str) -> (Seen, Done) {
        let tool = Tool::on(jdk, "run").args("--packages probe.Values --json --lossless --hook").arg(KINDS);
        let done = tool.args(record).java_with("-Xverify:all -XX:+UseSerialGC", "probe.Values").exits(0);
        assert_eq!(done.program(), "done\n");
        let evidence = evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap();
        let trace = evidence.trace().unwrap();
        let jvms = trace.jvms();
        let [jvm] = jvms.as_slice() else { panic!("one JVM is expected") };
        let (dictionary, values) = (trace.dictionary(jvm), trace.values(jvm).collect());
        (Seen { evidence, dictionary, values }, done)
    }

    fn kind(&self, site: SiteId) -> SiteKind {
        self.evidence.map().unwrap().kind(site).unwrap()
    }

    /// What was seen in a method at sites of some kinds, each as text, in order. Objects are lettered as they come.
    fn told(&self, method: &str, kinds: &[SiteKind]) -> Vec<String> {
        let map = self.evidence.map().unwrap();
        let mut letters: BTreeMap<u64, char> = BTreeMap::new();
        let mut letter = |id: u64| {
            let next = char::from(b'a' + letters.len() as u8);
            *letters.entry(id).or_insert(next)
        };
        let mut all = Vec::new();
        for it in self.values.iter().filter(|it| kinds.contains(&self.kind(it.site))) {
            let site = map.site(it.site).unwrap();
            if site.method != method {
                continue;
            }
            let short = site.callee.as_deref().unwrap_or("").split('(').next().unwrap().rsplit('.').next();
            let mut text = format!("{} {}", site.kind.name(), short.unwrap_or(""));
            if it.part > 0 {
                text += &format!(" part {}", it.part);
            }
            if it.object.0 != 0 {
                text += &format!(" of {}", letter(it.object.0));
            }
            if site.kind == SiteKind::ArrayRead || site.kind == SiteKind::ArrayWrite {
                text += &format!(" [{}]", it.index);
            } else if it.index != 0 {
                text += &format!(" with {}", it.index);
            }
            match it.value.object() {
                Some(object) => text += &format!(" = {}", letter(object.0)),
                None if it.value.to_string().is_empty() => {}
                None => text += &format!(" = {}", it.value),
            }
            all.push(text);
        }
        all
    }
}

fn accesses(jdk: &Jdk) {
    use SiteKind::*;
    let (seen, done) = Seen::of(jdk, "--record values");
    let told = |method: &str, kinds: &[SiteKind]| seen.told(method, kinds);
    for (m, k) in [
        ("fields", &[FieldRead, FieldWrite][..]),
        ("statics", &[FieldRead, FieldWrite]),
        ("arrays", &[ArrayRead, ArrayWrite, Allocation]),
        ("constants", &[Allocation]),
        ("calls", &[Call, CallReturn, Entry, Exit]),
        ("branches", &[Branch]),
        ("locks", &[MonitorEnter, MonitorExit]),
        ("held", &[MonitorEnter, MonitorExit]),
        ("heldByClass", &[MonitorEnter, MonitorExit]),
        ("<init>", &[FieldWrite]),
    ] {
        println!("{m}: {:#?}", told(m, k));
    }
    println!("{:#}", done.outcome()["problems"]);
    assert!(seen.dictionary.thread_name(seen.values[0].thread) == "main");
}

#[test]
fn each_access_is_seen_with_its_object_and_value() {
    each(&jdks().iter().collect::<Vec<_>>(), |jdk| format!("Java {}", jdk.feature), |jdk| accesses(jdk));
}
