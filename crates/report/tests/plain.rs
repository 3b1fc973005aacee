//! The reports of an engine that words nothing itself.

mod support;

use hypocenter_plan::Fault;
use hypocenter_report::{Line, Reported};
use hypocenter_results::{Detail, Document, Finding, Header, Proof, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use support::{HOSTILE, changed, injected};

/// Result of the probing engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Probed {
    found: Vec<Finding<Probe>>,
}

/// Its data about a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Probe {
    depth: u64,
}

impl Detail for Probed {
    const VERSION: u32 = 1;
    type Finding = Probe;

    fn findings(&self) -> &[Finding<Probe>] {
        &self.found
    }

    fn name_replays(&mut self, command: &dyn Fn(u64) -> String) {
        self.found.iter_mut().for_each(|it| it.replay = command(it.trial));
    }
}

impl Reported for Probed {}

/// A campaign with one finding.
fn probed() -> Document<Probed> {
    let header = Header {
        version: Probed::VERSION,
        tool: "0.1.0".into(),
        verb: "probe".into(),
        campaign: "probe-0001".into(),
        directory: Some("/srv/a <b>".into()),
        workload: "quorum".into(),
        seconds: 42.0,
        ..Header::default()
    };
    let finding = Finding {
        faults: vec![injected(1)],
        why: format!("the log & the store differ: {HOSTILE}"),
        proof: Proof::Confirmed,
        rate: Rate { hits: 4, runs: 5 },
        missed: 1,
        trial: 7,
        story: None,
        replay: "hypocenter replay 'a <b>/probe-0001/7'".into(),
        detail: Probe { depth: 3 },
    };
    Document { header, detail: Probed { found: vec![finding] } }
}

/// The same with two faults, the second a delay.
fn with_second() -> Document<Probed> {
    changed(probed(), |it| {
        let mut second = injected(2);
        second.fault = Fault::Delay { delay_ms: 3_000, pause: Default::default() };
        it.found[0].faults.push(second);
    })
}

fn nothing() -> Document<Probed> {
    changed(probed(), |it| it.found.clear())
}

#[test]
fn a_document_survives_the_way_out_and_back() {
    let it = with_second();
    let value = serde_json::to_value(&it).expect("a document is JSON");
    // Header, findings and what the engine knows of them stand side by side.
    assert_eq!((&value["verb"], &value["found"][0]["depth"]), (&json!("probe"), &json!(3)));
    assert_eq!(serde_json::from_value::<Document<Probed>>(value).expect("it can be read"), it);
}

#[test]
fn a_page_has_what_was_seen_and_the_command_as_text() {
    let page = Probed::page(&probed(), None);
    for part in [
        "<title>probe-0001 \u{b7} hypocenter</title>",
        "<span class=\"chip bad\">1 finding</span>",
        "<h1 class=\"long\"><code>FileChannel.<wbr>force</code>, called at <code>Log1.<wbr>append:31</code>, throws",
        "<p class=\"proof\">It took 42 s.</p>",
        "Run it in <code>/srv/a &lt;b&gt;</code>",
        "id=\"findings\"",
        "<p>the log &amp; the store differ: &lt;/script&gt;&lt;/style&gt;&lt;script&gt;document.title=",
        "<p class=\"dim\">confirmed: 4 of 5 replays, 1 more did not reach the fault</p>",
        "<li>org.acme.store.Log1.append(Logs.java:30)</li>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // In the head, and with the finding.
    let command = "<code>hypocenter replay &#39;a &lt;b&gt;/probe-0001/7&#39;</code>";
    assert_eq!(page.matches(command).count(), 2);
    // The script is ours, and nothing else in it is markup.
    let tags = |it: &str| page.matches(it).count();
    assert_eq!([tags("<script"), tags("</style>"), tags("<img"), tags("<b>/")], [1, 1, 0, 0]);
    assert!(!page.contains(['\0', '\u{1b}', '\u{202e}']), "controls are made visible");
}

#[test]
fn a_page_that_leaves_findings_out_says_so() {
    let many = changed(probed(), |it| it.found = vec![it.found[0].clone(); 53]);
    let page = Probed::page(&many, None);
    assert_eq!(page.matches("<article class=\"finding\">").count(), 50);
    assert!(
        page.contains("53 findings</span>") && page.contains("3 more are left out; summary.json has all.")
    );
}

#[test]
fn the_verdict_is_the_first_finding_and_how_many_more_there_are() {
    let said = |it: &Document<Probed>| Probed::verdict(it).plain();
    let first = "FileChannel.force, called at Log1.append:31, throws IOException, 2nd occurrence on thread Writer-1 of server";
    let second = "FileChannel.force, called at Log2.append:32, takes 3 s longer, 3rd occurrence on thread Writer-2 of server";
    let brief = |it| changed(it, |it: &mut Probed| it.found[0].why = "they differ".into());
    assert_eq!(said(&brief(probed())), format!("{first}: they differ."));
    assert_eq!(said(&brief(with_second())), format!("{first}, and {second}: they differ."));
    let more = |count| {
        let it = changed(brief(probed()), |it| it.found.resize(count, it.found[0].clone()));
        said(&it).rsplit_once(": ").map(|it| it.1.to_owned())
    };
    assert_eq!(more(2).as_deref(), Some("they differ, and 1 more finding."));
    assert_eq!(more(3).as_deref(), Some("they differ, and 2 more findings."));
    assert_eq!(said(&changed(brief(probed()), |it| it.found[0].faults.clear())), "they differ.");
    assert_eq!(said(&nothing()), "probe found nothing.");
}

#[test]
fn junit_has_a_failure_for_the_finding() {
    let xml = Probed::junit(&probed(), &|trial| Some(trial as f64 + 0.5));
    let read = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
    let suites: Vec<_> = read.descendants().filter(|it| it.has_tag_name("testsuite")).collect();
    assert_eq!(suites.len(), 1);
    assert_eq!(suites[0].attribute("name"), Some("hypocenter probe probe-0001"));
    let total = |name: &str| suites[0].attribute(name);
    assert_eq!([total("tests"), total("failures"), total("errors")], [Some("2"), Some("1"), Some("0")]);
    let cases: Vec<_> = read.descendants().filter(|it| it.has_tag_name("testcase")).collect();
    let said = |name: &str| cases.iter().map(|it| it.attribute(name)).collect::<Vec<_>>();
    let fault =
        "throw java.io.IOException at org.acme.store.Log1.append:31 -> java.nio.channels.FileChannel.force";
    assert_eq!(said("name")[0], Some("quorum without a fault"));
    assert!(said("name")[1].is_some_and(|it| it.starts_with(fault)), "{:?}", said("name"));
    assert_eq!(said("time"), [Some("0.500"), Some("7.500")]);
    let failures: Vec<_> = read.descendants().filter(|it| it.has_tag_name("failure")).collect();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].attribute("type"), Some("finding"));
    let message = failures[0].attribute("message").expect("a message");
    assert!(message.starts_with("the log & the store differ: </script>"), "{message}");
    let text = failures[0].text().expect("a text");
    for line in [
        "rate: 4 of 5 replays, 1 more did not reach the fault",
        "replay: hypocenter replay 'a <b>/probe-0001/7'",
    ] {
        assert!(text.lines().any(|it| it == line), "`{line}` is not in {text}");
    }
    let none = Probed::junit(&nothing(), &|_| None);
    assert!(none.contains("tests=\"1\" failures=\"0\""), "{none}");
}

/// The run of a document.
fn sarif(it: &Document<Probed>) -> Value {
    let document: Value = serde_json::from_str(&Probed::sarif(it, &|_| None)).expect("SARIF is JSON");
    assert_eq!(document["version"], "2.1.0");
    document["runs"][0].clone()
}

#[test]
fn sarif_has_a_result_at_the_call_of_the_fault() {
    let run = sarif(&probed());
    assert_eq!(run["automationDetails"]["id"], "hypocenter/probe/quorum/");
    assert_eq!(run["results"].as_array().map(Vec::len), Some(1));
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("fault/exception"), &json!("error")));
    let place = &result["locations"][0];
    // The file is the one that the stack names.
    let expected = json!({
        "artifactLocation": { "uri": "org/acme/store/Logs.java", "uriBaseId": "PACKAGEROOT" },
        "region": { "startLine": 31 },
    });
    assert_eq!(place["physicalLocation"], expected);
    assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], "org.acme.store.Log1.append");
    let text = result["message"]["text"].as_str().expect("a message");
    assert!(text.starts_with("the log & the store differ: "), "{text}");
    let properties =
        json!({ "replay": "hypocenter replay 'a <b>/probe-0001/7'", "replays": 5, "replaysThatFailed": 4 });
    assert_eq!(result["properties"], properties);
    assert_eq!(sarif(&nothing())["results"], json!([]));
}

#[test]
fn of_two_faults_sarif_has_the_place_and_the_rule_of_the_second() {
    let run = sarif(&with_second());
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "fault/delay");
    let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("a number") as usize];
    assert_eq!(rule["id"], result["ruleId"]);
    let name = &result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
    assert_eq!(
        (name, result["stacks"].as_array().map(Vec::len)),
        (&json!("org.acme.store.Log2.append"), Some(2))
    );
    assert_ne!(result["partialFingerprints"], sarif(&probed())["results"][0]["partialFingerprints"]);
}

#[test]
fn a_terminal_shows_the_finding_its_proof_and_its_replay() {
    let lines = |it: &Document<Probed>| -> Vec<(Option<String>, String)> {
        Probed::lines(it, Some(100)).iter().map(|it: &Line| (it.label.clone(), it.plain())).collect()
    };
    let line = |label: &str, text: &str| (Some(label.to_owned()), text.to_owned());
    let gap = || (None, String::new());
    let first = "throw java.io.IOException at org.acme.store.Log1.append:31 -> java.nio.channels.FileChannel.force, hit 2 of thread Writer-1 on server";
    let expected = [
        gap(),
        line("finding", first),
        line("", &format!("the log & the store differ: {HOSTILE}")),
        line("proof", "confirmed: 4 of 5 replays, 1 more did not reach the fault"),
        line("replay", "hypocenter replay 'a <b>/probe-0001/7'"),
        gap(),
        line("done", "1 finding, 42 s"),
    ];
    assert_eq!(lines(&probed()), expected);
    let mut cut_short = nothing();
    cut_short.header.cut_short = true;
    assert_eq!(lines(&cut_short), [gap(), line("so far", "0 findings, 42 s")]);
    let two = &lines(&with_second())[1].1;
    assert!(
        two.starts_with(&format!("{first}, and ")) && two.ends_with("hit 3 of thread Writer-2 on server"),
        "{two}"
    );
}
