//! SARIF 2.1.0, as editors and code hosts read it: a result for each fault that brings the failure, or is suspicious, at the call
//! where it goes in, with the way from there to the lines of the log, or to what clients saw.
//!
//! Rules are kinds of faults, or of symptoms. A fingerprint is made of what survives a rebuild, so the same fault is the same result in every
//! campaign.

use hypocenter_plan::{Fault, Frame, Site};
use serde_json::{Map, Value, json};

use crate::Sources;
use crate::text::shown;
use crate::words;
use hypocenter_results::explored::{Exploration, Finding, Severity, SymptomKind};
use hypocenter_results::reproduced::{Found, Lead, Place, Summary};
use hypocenter_results::{Injected, Proof};

/// The schema, as SARIF's own text names it.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The most results, and ways of each.
const RESULTS_MAX: usize = 1_000;
const WAYS_MAX: usize = 8;
const TEXT_CHARS: usize = 4_000;
/// What paths of sources begin at: the project, or, where they are not found in it, what only their package is known below.
const PROJECT: &str = "SRCROOT";
const PACKAGES: &str = "PACKAGEROOT";

/// A rule: its id, its name, what it says.
type Rule = (&'static str, &'static str, &'static str);

/// The rules of `reproduce`, a kind of fault each.
const RULES: [Rule; 4] = [
    ("reproduce/exception", "ExceptionBringsFailure", "An exception at this call makes the failure happen."),
    ("reproduce/delay", "DelayBringsFailure", "A delay at this call makes the failure happen."),
    ("reproduce/crash", "CrashBringsFailure", "A crash at this point makes the failure happen."),
    (
        "reproduce/negation",
        "NegationBringsFailure",
        "A result turned into its opposite makes the failure happen.",
    ),
];
/// Those of `explore`, a kind of symptom each.
const EXPLORE_RULES: [Rule; 5] = [
    ("explore/crash", "FaultEndsNode", "A fault at this call ends a node that should go on."),
    ("explore/client", "FaultLeavesClientsUnserved", "After a fault at this call clients are not served."),
    ("explore/log", "FaultIsLogged", "After a fault at this call something new is logged."),
    ("explore/hang", "FaultHangsThreads", "After a fault at this call threads wait for ever, or are gone."),
    (
        "explore/oracle",
        "FaultSatisfiesOracle",
        "After a fault at this call the oracle says that the failure happened.",
    ),
];

/// Of a campaign of `reproduce`.
pub fn reproduced(summary: &Summary, sources: Sources<'_>) -> String {
    let results = summary.found.iter().enumerate().take(RESULTS_MAX);
    Run {
        verb: &summary.verb,
        workload: &summary.workload,
        tool: &summary.tool,
        verdict: words::verdict(summary).plain(),
        rules: &RULES,
        results: results.map(|(number, it)| result(summary, number, it, sources)).collect(),
    }
    .document()
}

/// Of a campaign of `explore`.
pub fn explored(it: &Exploration, sources: Sources<'_>) -> String {
    let several_nodes = it.has_several_nodes();
    // Replays have spoken against the refuted ones.
    let unconfirmed = it.unconfirmed.iter().filter(|it| it.proof == Proof::SeenOnce);
    let findings = it.findings.iter().chain(unconfirmed).take(RESULTS_MAX);
    Run {
        verb: &it.verb,
        workload: &it.workload,
        tool: &it.tool,
        verdict: words::explored(it).plain(),
        rules: &EXPLORE_RULES,
        results: findings.map(|it| suspicious(it, several_nodes, sources)).collect(),
    }
    .document()
}

/// What a document is made of.
struct Run<'r> {
    verb: &'r str,
    workload: &'r str,
    tool: &'r str,
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
                    "version": text(self.tool),
                    "rules": rules,
                } },
                "automationDetails": { "id": format!("hypocenter/{}/{}/", self.verb, text(self.workload)) },
                "invocations": [{
                    "executionSuccessful": true,
                    "toolExecutionNotifications": [{
                        "level": "note",
                        "message": { "text": text(&self.verdict) },
                    }],
                }],
                "originalUriBaseIds": {
                    PROJECT: { "description": { "text": "The directory of the project, in which the tool was run." } },
                    PACKAGES: { "description": { "text": "What the directories of packages are in; the source was not found in the project." } },
                },
                "columnKind": "unicodeCodePoints",
                "results": self.results,
            }],
        });
        serde_json::to_string_pretty(&document).expect("a value is always JSON") + "\n"
    }
}

/// A suspicious finding: at the call where the fault goes in, with the way there from the fault to what clients saw.
fn suspicious(it: &Finding, several_nodes: bool, sources: Sources<'_>) -> Value {
    let rule = match it.kind {
        SymptomKind::Crash => 0,
        SymptomKind::Client => 1,
        SymptomKind::Log => 2,
        SymptomKind::Hang => 3,
        SymptomKind::Command => 4,
    };
    let (kind, level, doubt) = match it.proof {
        Proof::Confirmed if it.severity >= Severity::Critical => ("fail", "error", String::new()),
        Proof::Confirmed => ("fail", "warning", String::new()),
        proof => ("review", "none", format!(" ({})", words::proven(proof))),
    };
    let said = format!("{}: {}{doubt}.", words::one(&it.injected, several_nodes).plain(), it.why);
    let (what, place, when) = words::fault(&it.injected);
    let said_at = format!("{what} at {place}, {when}");
    let mut steps = vec![step_of(Some(&place_of(&it.injected.site)), &said_at, "essential", sources)];
    steps.extend(it.symptoms.iter().take(WAYS_MAX).map(|it| step_of(None, &it.why, "important", sources)));
    let mut result = json!({
        "ruleId": EXPLORE_RULES[rule].0,
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": { "text": text(&said) },
        "locations": [location(&place_of(&it.injected.site), file_of(&it.injected), None, sources)],
        "partialFingerprints": { "hypocenterFault/v1": fingerprint([&it.injected]) },
        "codeFlows": [{ "threadFlows": [{ "locations": steps }] }],
        "properties": {
            "replay": text(&it.replay),
            "severity": it.severity.name(),
            "replays": it.rate.runs,
            "replaysThatFailed": it.rate.hits,
            "state": it.state.as_deref().map(text),
        },
    });
    if !it.injected.at.stack.is_empty() {
        result["stacks"] = json!([stack(&it.injected, sources)]);
    }
    result
}

fn result(summary: &Summary, number: usize, found: &Found, sources: Sources<'_>) -> Value {
    // Of two faults the last is the one that was searched for.
    let main = found.faults.last();
    let mut result = Map::new();
    let rule = main.map_or(0, |it| rule(&it.fault));
    result.insert("ruleId".into(), RULES[rule].0.into());
    result.insert("ruleIndex".into(), rule.into());
    result.insert("level".into(), "error".into());
    result.insert(
        "message".into(),
        json!({ "text": text(&words::finding(found, summary.has_several_nodes()).plain()) }),
    );
    let locations: Vec<Value> =
        main.iter().map(|it| location(&place_of(&it.site), file_of(it), None, sources)).collect();
    result.insert("locations".into(), locations.into());
    result.insert("partialFingerprints".into(), json!({ "hypocenterFault/v1": fingerprint(&found.faults) }));
    let flows = flows(summary, number, found, sources);
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
            "replay": text(&summary.replay_of(number, found)),
            "replays": found.runs,
            "replaysThatFailed": found.hits,
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
fn flows(summary: &Summary, number: usize, found: &Found, sources: Sources<'_>) -> Vec<Value> {
    let story = summary.stories.get(number).and_then(Option::as_ref);
    let causes = story.map_or(&[][..], |it| &it.causes);
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

fn step_of(place: Option<&Place>, words: &str, importance: &str, sources: Sources<'_>) -> Value {
    let location = match place {
        Some(it) => location(it, None, Some(words), sources),
        None => json!({ "message": { "text": text(words) } }),
    };
    json!({ "location": location, "importance": importance })
}

/// The line of the log at which a way ends.
fn symptom(summary: &Summary, lead: &Lead) -> Value {
    // A node may have written several files, and the line counts through all of them: then the file is not known.
    let files: Vec<&str> =
        summary.logs.iter().filter(|it| it.0 == lead.node).map(|it| it.1.as_str()).collect();
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
fn location(place: &Place, file: Option<String>, words: Option<&str>, sources: Sources<'_>) -> Value {
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
        let place = Place {
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

fn place_of(site: &Site) -> Place {
    Place { class: site.class.clone(), method: site.method.clone(), line: site.line }
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

/// Stands for a fault wherever its lines and numbers of threads move to: kind, what is thrown, and the site without its line.
fn fingerprint<'f>(faults: impl IntoIterator<Item = &'f Injected>) -> String {
    // FNV-1a.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut take = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
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
    format!("{hash:016x}")
}
