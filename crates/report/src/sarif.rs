//! SARIF 2.1.0, as editors and code hosts read it: a result for each fault that brings the failure, or is suspicious, at the call
//! where it goes in, with the way from there to the lines of the log, or to what clients saw.
//!
//! Rules are kinds of faults, or of symptoms. A fingerprint is made of what survives a rebuild, so the same fault is the same result in every
//! campaign.

use hypocenter_plan::{Fault, Frame, Site};
use serde_json::{Map, Value, json};

use crate::text::shown;
use crate::words;
use crate::{Reported, Sources};
use hypocenter_results::cascaded::{Cascade, CascadeFault, CascadeStep, Cycle};
use hypocenter_results::explained::{Explanation, Inflection, RunPoint};
use hypocenter_results::explored::{Exploration, Severity, Suspicion, SymptomKind};
use hypocenter_results::reproduced::{Explained, Lead, LinePlace, Reproduction};
use hypocenter_results::{Document, Finding, Header, Injected, Proof};

/// The schema, as SARIF's own text names it.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The most results, and ways of each.
const RESULTS_MAX: usize = 1_000;
const WAYS_MAX: usize = 8;
const TEXT_CHARS: usize = 4_000;
/// Base of the paths of sources: the project, or, if they are not found in it, the parent of their package.
const PROJECT: &str = "SRCROOT";
const PACKAGES: &str = "PACKAGEROOT";

/// A rule: its id, its name, what it says.
type Rule = (&'static str, &'static str, &'static str);

/// The rules of `reproduce`, a kind of fault each.
const RULES: [Rule; 4] = [
    ("reproduce/exception", "ExceptionBringsFailure", "An exception at this call makes the failure happen."),
    ("reproduce/delay", "DelayBringsFailure", "A delay at this call makes the failure happen."),
    ("reproduce/crash", "CrashBringsFailure", "A crash at this point makes the failure happen."),
    ("reproduce/negation", "NegationBringsFailure", "A negated result makes the failure happen."),
];
/// Those of an engine that has no rules of its own, a kind of fault each.
const PLAIN_RULES: [Rule; 4] = [
    ("fault/exception", "ExceptionMatters", "An exception at this call shows the finding."),
    ("fault/delay", "DelayMatters", "A delay at this call shows the finding."),
    ("fault/crash", "CrashMatters", "A crash at this point shows the finding."),
    ("fault/negation", "NegationMatters", "A negated result shows the finding."),
];
/// Those of `explore`, a kind of symptom each.
const EXPLORE_RULES: [Rule; 5] = [
    ("explore/crash", "FaultEndsNode", "A fault at this call ends a node that should keep running."),
    ("explore/client", "FaultLeavesClientsUnserved", "After a fault at this call clients are not served."),
    ("explore/log", "FaultIsLogged", "After a fault at this call a new warning or error is logged."),
    ("explore/hang", "FaultHangsThreads", "After a fault at this call threads wait forever or have ended."),
    ("explore/oracle", "FaultSatisfiesOracle", "After a fault at this call the oracle reports the failure."),
];

/// The one of `cascade`.
const CASCADE_RULES: [Rule; 1] =
    [("cascade/cycle", "FaultFeedsItself", "The faults at these places cause each other, in a cycle.")];

/// The one of `explain`.
const EXPLAIN_RULES: [Rule; 1] = [(
    "explain/inflection",
    "RunLeavesRightPath",
    "Here a failing run does what no run that comes near it and does not fail does.",
)];

/// Of a campaign of `reproduce`.
pub fn reproduced(summary: &Document<Reproduction>, sources: Sources<'_>) -> String {
    let results = summary.detail.found.iter().take(RESULTS_MAX);
    Run {
        header: &summary.header,
        verdict: words::verdict(summary).plain(),
        rules: &RULES,
        results: results.map(|it| result(summary, it, sources)).collect(),
    }
    .document()
}

/// Of a campaign of any engine.
pub fn plain<D: Reported>(document: &Document<D>, sources: Sources<'_>) -> String {
    let results = document.detail.findings().iter().take(RESULTS_MAX);
    Run {
        header: &document.header,
        verdict: D::verdict(document).plain(),
        rules: &PLAIN_RULES,
        results: results.map(|it| plain_result(it, sources)).collect(),
    }
    .document()
}

/// A finding of any engine: at the call where its last fault goes in.
fn plain_result<D>(it: &Finding<D>, sources: Sources<'_>) -> Value {
    let main = it.faults.last();
    let locations: Vec<Value> =
        main.iter().map(|it| location(&place_of(&it.site), file_of(it), None, sources)).collect();
    let rule = main.map_or(0, |it| rule(&it.fault));
    json!({
        "ruleId": PLAIN_RULES[rule].0,
        "ruleIndex": rule,
        "level": "error",
        "message": { "text": text(&it.why) },
        "locations": locations,
        "partialFingerprints": { "hypocenterFault/v1": fingerprint(&it.faults) },
        "stacks": it.faults.iter().filter(|it| !it.at.stack.is_empty()).map(|it| stack(it, sources)).collect::<Vec<_>>(),
        "properties": {
            "replay": text(&it.replay),
            "replays": it.rate.runs,
            "replaysThatFailed": it.rate.hits,
        },
    })
}

/// Of a campaign of `explore`.
pub fn explored(Document { header, detail: it }: &Document<Exploration>, sources: Sources<'_>) -> String {
    let several_nodes = it.has_several_nodes();
    // Replays have spoken against the refuted ones.
    let unconfirmed = it.unconfirmed.iter().filter(|it| it.proof == Proof::SeenOnce);
    let findings = it.findings.iter().chain(unconfirmed).take(RESULTS_MAX);
    Run {
        header,
        verdict: words::explored(it).plain(),
        rules: &EXPLORE_RULES,
        results: findings.map(|it| suspicious(it, several_nodes, sources)).collect(),
    }
    .document()
}

/// Of a campaign of `cascade`.
pub fn cascaded(Document { header, detail }: &Document<Cascade>, sources: Sources<'_>) -> String {
    let cycles = detail.cycles.iter().take(RESULTS_MAX);
    Run {
        header,
        verdict: words::cascaded(detail).plain(),
        rules: &CASCADE_RULES,
        results: cycles.map(|it| cycle(it, sources)).collect(),
    }
    .document()
}

/// A cycle: at the places of its faults, in their order.
fn cycle(it: &Finding<Cycle>, sources: Sources<'_>) -> Value {
    let place = |it: &CascadeFault| {
        let (class, method) = it.method.rsplit_once('.').unwrap_or((&it.method, ""));
        LinePlace { class: class.to_owned(), method: method.to_owned(), line: it.line }
    };
    let at = |it: &CascadeStep| location(&place(&it.cause), None, Some(&it.cause.to_string()), sources);
    let locations: Vec<Value> = it.detail.steps.iter().map(at).collect();
    let replays = it.detail.steps.iter().map(|it| text(&it.replay)).filter(|it| !it.is_empty());
    json!({
        "ruleId": CASCADE_RULES[0].0,
        "ruleIndex": 0,
        "level": "error",
        "message": { "text": text(&it.why) },
        "locations": locations,
        "partialFingerprints": { "hypocenterCycle/v1": cycle_fingerprint(it.detail.steps.iter().map(|it| &it.cause)) },
        "properties": {
            "replay": text(&it.replay),
            "replaysOfSteps": replays.collect::<Vec<_>>(),
            "replays": it.rate.runs,
            "replaysThatFailed": it.rate.hits,
        },
    })
}

/// Of a campaign of `explain`.
pub fn explained(Document { header, detail }: &Document<Explanation>, sources: Sources<'_>) -> String {
    let verdict = words::explained(detail).plain();
    let results = detail.findings.iter().map(|it| inflection(it, &verdict, sources)).collect();
    Run { header, verdict: verdict.clone(), rules: &EXPLAIN_RULES, results }.document()
}

/// An inflection point, with the way from its cause to the symptom.
fn inflection(it: &Finding<Inflection>, says: &str, sources: Sources<'_>) -> Value {
    let place = |it: &RunPoint| {
        let (class, method) = it.method.rsplit_once('.').unwrap_or((&it.method, ""));
        LinePlace { class: class.to_owned(), method: method.to_owned(), line: it.line }
    };
    let Inflection { point, cause, consequence, .. } = &it.detail;
    let way = cause.iter().chain([point]).chain(consequence);
    let steps: Vec<Value> =
        way.map(|it| step_of(Some(&place(it)), &words::point(it), "essential", sources)).collect();
    let fingerprint = format!("{} {} {}", point.method, words::act(point), point.subject);
    json!({
        "ruleId": EXPLAIN_RULES[0].0,
        "ruleIndex": 0,
        "level": "error",
        "message": { "text": text(says) },
        "locations": [location(&place(point), None, None, sources)],
        "partialFingerprints": { "hypocenterInflection/v1": text(&fingerprint) },
        "codeFlows": [{ "threadFlows": [{ "locations": steps }] }],
        "properties": {
            "replay": text(&it.replay),
            "replays": it.rate.runs,
            "replaysThatFailed": it.rate.hits,
        },
    })
}

/// Parts of a document.
struct Run<'r> {
    header: &'r Header,
    verdict: String,
    rules: &'r [Rule],
    results: Vec<Value>,
}

impl Run<'_> {
    fn document(self) -> String {
        let rules: Vec<Value> = self
            .rules
            .iter()
            .map(|(id, name, says)| {
                json!({
                    "id": id,
                    "name": name,
                    "shortDescription": { "text": says },
                    "help": { "text": "Replay it with the command in the result's properties, and follow the code flow from the fault." },
                    "defaultConfiguration": { "level": "error" },
                })
            })
            .collect();
        let document = json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "hypocenter",
                    "version": text(&self.header.tool),
                    "rules": rules,
                } },
                "automationDetails": { "id": format!("hypocenter/{}/{}/", self.header.verb, text(&self.header.workload)) },
                "invocations": [{
                    "executionSuccessful": true,
                    "toolExecutionNotifications": [{
                        "level": "note",
                        "message": { "text": text(&self.verdict) },
                    }],
                }],
                "originalUriBaseIds": {
                    PROJECT: { "description": { "text": "The directory of the project, in which the tool was run." } },
                    PACKAGES: { "description": { "text": "Parent of the directories of packages; the source was not found in the project." } },
                },
                "columnKind": "unicodeCodePoints",
                "results": self.results,
            }],
        });
        serde_json::to_string_pretty(&document).expect("a value is always JSON") + "\n"
    }
}

/// A suspicious finding: at the call where the fault goes in, with the way there from the fault to what clients saw.
fn suspicious(finding: &Finding<Suspicion>, several_nodes: bool, sources: Sources<'_>) -> Value {
    let (it, injected) = (&finding.detail, finding.injected());
    let rule = match it.kind {
        SymptomKind::Crash => 0,
        SymptomKind::Client => 1,
        SymptomKind::Log => 2,
        SymptomKind::Hang => 3,
        SymptomKind::Command => 4,
    };
    let (kind, level, doubt) = match finding.proof {
        Proof::Confirmed if it.severity >= Severity::Critical => ("fail", "error", String::new()),
        Proof::Confirmed => ("fail", "warning", String::new()),
        proof => ("review", "none", format!(" ({})", words::proven(proof))),
    };
    let said = format!("{}: {}{doubt}.", words::one(injected, several_nodes).plain(), finding.why);
    let (what, place, when) = words::fault(injected);
    let said_at = format!("{what} at {place}, {when}");
    let mut steps = vec![step_of(Some(&place_of(&injected.site)), &said_at, "essential", sources)];
    steps.extend(it.symptoms.iter().take(WAYS_MAX).map(|it| step_of(None, &it.why, "important", sources)));
    let mut result = json!({
        "ruleId": EXPLORE_RULES[rule].0,
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": { "text": text(&said) },
        "locations": [location(&place_of(&injected.site), file_of(injected), None, sources)],
        "partialFingerprints": { "hypocenterFault/v1": fingerprint([injected]) },
        "codeFlows": [{ "threadFlows": [{ "locations": steps }] }],
        "properties": {
            "replay": text(&finding.replay),
            "severity": it.severity.name(),
            "replays": finding.rate.runs,
            "replaysThatFailed": finding.rate.hits,
            "state": it.state.as_deref().map(text),
        },
    });
    if !injected.at.stack.is_empty() {
        result["stacks"] = json!([stack(injected, sources)]);
    }
    result
}

fn result(summary: &Document<Reproduction>, found: &Finding<Explained>, sources: Sources<'_>) -> Value {
    // Of two faults the last is the one that was searched for.
    let main = found.faults.last();
    let mut result = Map::new();
    let rule = main.map_or(0, |it| rule(&it.fault));
    result.insert("ruleId".into(), RULES[rule].0.into());
    result.insert("ruleIndex".into(), rule.into());
    result.insert("level".into(), "error".into());
    result.insert(
        "message".into(),
        json!({ "text": text(&words::finding(found, summary.detail.has_several_nodes()).plain()) }),
    );
    let locations: Vec<Value> =
        main.iter().map(|it| location(&place_of(&it.site), file_of(it), None, sources)).collect();
    result.insert("locations".into(), locations.into());
    result.insert("partialFingerprints".into(), json!({ "hypocenterFault/v1": fingerprint(&found.faults) }));
    let flows = flows(summary, found, sources);
    if !flows.is_empty() {
        result.insert("codeFlows".into(), flows.into());
    }
    let stacks = found.faults.iter().filter(|it| !it.at.stack.is_empty());
    let stacks: Vec<Value> = stacks.map(|it| stack(it, sources)).collect();
    if !stacks.is_empty() {
        result.insert("stacks".into(), stacks.into());
    }
    result.insert(
        "properties".into(),
        json!({
            "replay": text(&found.replay),
            "replays": found.rate.runs,
            "replaysThatFailed": found.rate.hits,
            "oracle": text(&found.why),
        }),
    );
    result.into()
}

fn rule(fault: &Fault) -> usize {
    match fault {
        Fault::Exception { .. } => 0,
        Fault::Delay { .. } => 1,
        Fault::Crash { .. } => 2,
        Fault::Negate => 3,
    }
}

/// The ways from the fault to lines of the log. Without one, the fault and what the oracle saw.
fn flows(summary: &Document<Reproduction>, found: &Finding<Explained>, sources: Sources<'_>) -> Vec<Value> {
    let causes = found.story.as_ref().map_or(&[][..], |it| &it.causes);
    let mut flows = Vec::new();
    for (cause, fault) in causes.iter().zip(&found.faults) {
        for lead in cause.leads_to.iter().take(WAYS_MAX) {
            let mut steps: Vec<Value> = Vec::new();
            for (at, step) in lead.steps.iter().enumerate() {
                let place = lead.places.get(at).cloned().flatten();
                // The first step is the fault itself.
                let place = place.or_else(|| (at == 0).then(|| place_of(&fault.site)));
                let importance = if at == 0 { "essential" } else { "important" };
                steps.push(step_of(place.as_ref(), step, importance, sources));
            }
            steps.push(symptom(summary, lead));
            let of = if lead.is_symptom { "the failure" } else { "the failure log" };
            flows.push(json!({
                "message": { "text": text(&format!("From the fault to {of}: {}", lead.message)) },
                "threadFlows": [{ "locations": steps }],
            }));
        }
    }
    if flows.is_empty() {
        let mut steps: Vec<Value> = found
            .faults
            .iter()
            .map(|it| {
                let (what, place, when) = words::fault(it);
                let said = format!("{what} at {place}, {when}");
                step_of(Some(&place_of(&it.site)), &said, "essential", sources)
            })
            .collect();
        steps.push(json!({
            "location": { "message": { "text": text(&found.why) } },
            "importance": "essential",
        }));
        flows.push(json!({ "threadFlows": [{ "locations": steps }] }));
    }
    flows
}

fn step_of(place: Option<&LinePlace>, words: &str, importance: &str, sources: Sources<'_>) -> Value {
    let location = match place {
        Some(it) => location(it, None, Some(words), sources),
        None => json!({ "message": { "text": text(words) } }),
    };
    json!({ "location": location, "importance": importance })
}

/// The line of the log at which a way ends.
fn symptom(summary: &Document<Reproduction>, lead: &Lead) -> Value {
    // A node may have written several files, and the line counts through all of them: then the file is not known.
    let files: Vec<&str> =
        summary.detail.logs.iter().filter(|it| it.0 == lead.node).map(|it| it.1.as_str()).collect();
    let message = json!({ "text": text(&lead.message) });
    let location = match files[..] {
        [file] => json!({
            "physicalLocation": {
                "artifactLocation": { "uri": file_uri(file) },
                "region": { "startLine": lead.line.max(1) },
            },
            "message": message,
        }),
        _ => {
            json!({ "message": { "text": text(&format!("line {} of {}'s log: {}", lead.line, lead.node, lead.message)) } })
        }
    };
    json!({ "location": location, "importance": "essential" })
}

/// A place in the program: by its name, and by the file that the name suggests.
fn location(place: &LinePlace, file: Option<String>, words: Option<&str>, sources: Sources<'_>) -> Value {
    let mut location = Map::new();
    let file = file.unwrap_or_else(|| source_file(&place.class, None));
    let (path, base) = sources(&file).map_or((file, PACKAGES), |it| (it, PROJECT));
    let mut physical = json!({ "artifactLocation": { "uri": encoded(&path), "uriBaseId": base } });
    if let Some(line) = place.line.filter(|&it| it > 0) {
        physical["region"] = json!({ "startLine": line });
    }
    location.insert("physicalLocation".into(), physical);
    let full = text(&format!("{}.{}", place.class, place.method));
    location.insert(
        "logicalLocations".into(),
        json!([{ "name": text(&place.method), "fullyQualifiedName": full, "kind": "function" }]),
    );
    if let Some(words) = words {
        location.insert("message".into(), json!({ "text": text(words) }));
    }
    location.into()
}

fn stack(it: &Injected, sources: Sources<'_>) -> Value {
    let frame = |frame: &Frame| {
        let (class, method) = frame.method.rsplit_once('.').unwrap_or(("", &frame.method));
        let (file, line) = frame.at.as_deref().and_then(|it| it.rsplit_once(':')).unzip();
        let place = LinePlace {
            class: class.to_owned(),
            method: method.to_owned(),
            line: line.and_then(|it| it.parse().ok()),
        };
        json!({ "location": location(&place, Some(source_file(class, file)), None, sources) })
    };
    json!({
        "message": { "text": text(&format!("Thread {} of {}", it.at.thread, it.at.node)) },
        "frames": it.at.stack.iter().take(64).map(frame).collect::<Vec<_>>(),
    })
}

fn place_of(site: &Site) -> LinePlace {
    LinePlace { class: site.class.clone(), method: site.method.clone(), line: site.line }
}

/// The source of a fault's site, whose name the stack at which it went in says.
fn file_of(it: &Injected) -> Option<String> {
    let whole = format!("{}.{}", it.site.class, it.site.method);
    let frame = it.at.stack.iter().find(|frame| frame.method == whole)?;
    let file = frame.at.as_deref()?.rsplit_once(':')?.0;
    Some(source_file(&it.site.class, Some(file)))
}

/// The path of a class's source below the root of sources: in its package, by the name that is known, or that of its outermost class.
fn source_file(class: &str, file: Option<&str>) -> String {
    let (package, simple) = class.rsplit_once('.').unwrap_or(("", class));
    let outermost = simple.split('$').find(|it| !it.is_empty()).unwrap_or(simple);
    let name = file.map_or_else(|| format!("{outermost}.java"), str::to_owned);
    if package.is_empty() { name } else { format!("{}/{name}", package.replace('.', "/")) }
}

fn file_uri(path: &str) -> String {
    if path.starts_with('/') { format!("file://{}", encoded(path)) } else { encoded(path) }
}

/// A path as a URI has it.
fn encoded(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes().take(TEXT_CHARS) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(byte.into())
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

fn text(it: &str) -> String {
    shown(it, TEXT_CHARS).into_owned()
}

/// FNV-1a.
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn take(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn shown(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// Stands for a cycle wherever its lines move to and whichever of its faults comes first.
fn cycle_fingerprint<'f>(faults: impl Iterator<Item = &'f CascadeFault>) -> String {
    let words = |it: &CascadeFault| {
        let exception = it.exception.as_deref().unwrap_or("");
        format!("{:?} {} {exception} {}", it.kind, it.method, it.ordinal.unwrap_or(0))
    };
    let faults: Vec<String> = faults.map(words).collect();
    let rotations = (0..faults.len()).map(|it| [&faults[it..], &faults[..it]].concat());
    let mut hash = Fnv::new();
    rotations.min().unwrap_or_default().iter().for_each(|it| hash.take(it));
    hash.shown()
}

/// Stands for a fault wherever its lines and numbers of threads move to: kind, what is thrown, and the site without its line.
fn fingerprint<'f>(faults: impl IntoIterator<Item = &'f Injected>) -> String {
    let mut hash = Fnv::new();
    let mut take = |text: &str| hash.take(text);
    for it in faults {
        take(RULES[rule(&it.fault)].0);
        if let Fault::Exception { class, .. } = &it.fault {
            take(class);
        }
        let Site { class, method, descriptor, kind, callee, ordinal, .. } = &it.site;
        take(class);
        take(method);
        take(descriptor);
        take(kind.name());
        take(callee.as_deref().unwrap_or(""));
        take(&ordinal.to_string());
    }
    hash.shown()
}
