//! The published schema is that of the type, and the documents of other tools are what their formats ask for.

mod support;

use std::path::Path;

use hypocenter_plan::Fault;
use hypocenter_report::{Reported, Sources};
use hypocenter_results::Document;
use hypocenter_results::cascaded::Cascade;
use hypocenter_results::explained::Explanation;
use hypocenter_results::explored::Exploration;
use hypocenter_results::predicted::Prediction;
use hypocenter_results::reproduced::{Reproduction, Standing};
use serde_json::{Value, json};
use support::{HOSTILE, changed, exploration, nothing_found, summary};

/// Compares with the published file; `UPDATE_SCHEMAS=1` writes it again.
#[track_caller]
fn check(name: &str, version: &str, schema: &schemars::Schema) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas").join(name);
    let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == text,
        "docs/schemas/{name} is not the schema of the type any more. If the change keeps old documents readable, run \
         UPDATE_SCHEMAS=1 cargo test -p hypocenter-report; if not, raise {version} too"
    );
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    check("summary.json", "Reproduction::VERSION", &schemars::schema_for!(Document<Reproduction>));
    check("cascade.json", "Cascade::VERSION", &schemars::schema_for!(Document<Cascade>));
    check("prediction.json", "Prediction::VERSION", &schemars::schema_for!(Document<Prediction>));
    check("explanation.json", "Explanation::VERSION", &schemars::schema_for!(Document<Explanation>));
    check("exploration.json", "Exploration::VERSION", &schemars::schema_for!(Document<Exploration>));
}

#[test]
fn an_exploration_survives_the_way_out_and_back() {
    let it = exploration(30);
    let text = serde_json::to_string(&it).unwrap();
    assert_eq!(serde_json::from_str::<Document<Exploration>>(&text).unwrap(), it);
}

#[test]
fn findings_of_explore_are_results_and_failed_cases() {
    let it = exploration(30);
    let document: Value = serde_json::from_str(&Exploration::sarif(&it, &|_| None)).expect("SARIF is JSON");
    let results = document["runs"][0]["results"].as_array().unwrap();
    let said: Vec<(&Value, &Value)> = results.iter().map(|it| (&it["ruleId"], &it["level"])).collect();
    let client = json!("explore/client");
    let expected = [(&client, &json!("error")), (&client, &json!("warning")), (&client, &json!("none"))];
    assert_eq!(said, expected, "what is seen once is for review, what is refuted is left out");
    let kinds: Vec<&Value> = results.iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["fail", "fail", "review"]);
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules[results[0]["ruleIndex"].as_u64().unwrap() as usize]["id"], client);
    assert_ne!(results[0]["partialFingerprints"], results[1]["partialFingerprints"]);
    assert_eq!(results[0]["properties"]["replay"], "hypocenter replay explore-0001/106");
    let xml = Exploration::junit(&it, &seconds);
    let read = roxmltree::Document::parse(&xml).expect("JUnit's results are XML");
    let suite = read.root_element();
    assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("5"), Some("2")));
    assert_eq!(suite.attribute("skipped"), Some("2"), "only the confirmed ones fail");
    let failures: Vec<_> = read.descendants().filter(|it| it.has_tag_name("failure")).collect();
    assert!(failures[0].text().unwrap().contains("replay: hypocenter replay explore-0001/106"), "{xml}");
    assert_eq!(failures[0].attribute("type"), Some("suspicious"));
    let times: Vec<_> =
        read.descendants().filter(|it| it.has_tag_name("testcase")).map(|it| it.attribute("time")).collect();
    assert_eq!(times[..3], [Some("1.500"), Some("107.500"), Some("110.500")], "{xml}");
}

#[test]
fn a_summary_survives_the_way_out_and_back() {
    for it in [summary(3), nothing_found(2)] {
        let text = serde_json::to_string(&it).unwrap();
        assert_eq!(serde_json::from_str::<Document<Reproduction>>(&text).unwrap(), it);
    }
}

fn sarif(summary: &Document<Reproduction>) -> Value {
    sarif_in(summary, &|_| None)
}

/// In a project whose sources are known.
fn sarif_in(summary: &Document<Reproduction>, sources: Sources<'_>) -> Value {
    serde_json::from_str(&Reproduction::sarif(summary, sources)).expect("SARIF is JSON")
}

#[test]
fn sarif_has_the_fault_the_way_and_the_symptom() {
    let document = sarif(&summary(5));
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "reproduce/exception");
    let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!(rule["id"], result["ruleId"]);
    // The file is the one that the stack names, not what the class is called.
    let place = &result["locations"][0]["physicalLocation"];
    let expected = json!({
        "artifactLocation": { "uri": "org/acme/store/Logs.java", "uriBaseId": "PACKAGEROOT" },
        "region": { "startLine": 31 },
    });
    assert_eq!(*place, expected);
    let flows = result["codeFlows"].as_array().unwrap();
    assert_eq!(flows.len(), 2);
    let steps = flows[1]["threadFlows"][0]["locations"].as_array().unwrap();
    let said: Vec<&str> =
        steps.iter().map(|it| it["location"]["message"]["text"].as_str().expect("a message")).collect();
    assert_eq!(
        said,
        [
            "FileChannel.force, called at Log1.append:31, throws IOException",
            "it is caught at Log1.append:33",
            "Store.close:80 logs it",
            "the store is broken",
        ]
    );
    let end = &steps[3]["location"]["physicalLocation"];
    assert_eq!(end["artifactLocation"]["uri"], "file:///tmp/a%20b/failure.log");
    assert_eq!(end["region"]["startLine"], 9);
    assert_eq!(result["properties"]["replay"], "hypocenter replay reproduce-0001/8");
}

#[test]
fn a_source_that_is_found_has_its_path_in_the_project_and_another_says_that_it_has_not() {
    let found = |it: &str| {
        (it == "org/acme/store/Logs.java")
            .then(|| "a module/src/main/java/org/acme/store/Logs.java".to_owned())
    };
    let document = sarif_in(&summary(5), &found);
    let run = &document["runs"][0];
    let artifact = |it: &Value| it["physicalLocation"]["artifactLocation"].clone();
    let in_project =
        json!({ "uri": "a%20module/src/main/java/org/acme/store/Logs.java", "uriBaseId": "SRCROOT" });
    assert_eq!(artifact(&run["results"][0]["locations"][0]), in_project);
    assert_eq!(artifact(&run["results"][0]["stacks"][0]["frames"][0]["location"]), in_project);
    // What the way goes through is known by its class alone.
    let step = &run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"][1]["location"];
    assert_eq!(artifact(step), json!({ "uri": "org/acme/store/Log1.java", "uriBaseId": "PACKAGEROOT" }));
    for base in ["SRCROOT", "PACKAGEROOT"] {
        assert!(run["originalUriBaseIds"][base]["description"]["text"].is_string(), "{base}");
    }
}

#[test]
fn a_fingerprint_is_of_the_fault_and_not_of_its_lines_and_numbers() {
    let of = |summary: &Document<Reproduction>| {
        sarif(summary)["runs"][0]["results"][0]["partialFingerprints"].clone()
    };
    let first = of(&summary(5));
    let mut moved = summary(90);
    moved.header.campaign = "reproduce-0044".into();
    moved.detail.found[0].faults[0].site.line = Some(900);
    moved.detail.found[0].faults[0].at.thread = "Writer-77".into();
    assert_eq!(of(&moved), first);
    // Published once, it stays.
    assert_eq!(first, json!({ "hypocenterFault/v1": "bd46cf7adf271391" }));
    let mut other = summary(5);
    other.detail.found[0].faults[0].fault =
        Fault::Exception { class: "java.io.EOFException".into(), message: None };
    assert_ne!(of(&other), first);
    other.detail.found[0].faults[0] = support::injected(1);
    other.detail.found[0].faults[0].site.ordinal = 1;
    assert_ne!(of(&other), first);
}

#[test]
fn sarif_of_a_campaign_that_found_nothing_says_so() {
    let document = sarif(&nothing_found(30));
    assert_eq!(document["runs"][0]["results"], json!([]));
    let note = &document["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(note, "Not reproduced: the budget of 30 rounds is used up.");
}

/// Duration of all trials but one.
fn seconds(trial: u64) -> Option<f64> {
    (trial != GONE).then_some(trial as f64 + 1.5)
}

/// The trial of which nothing is left.
const GONE: u64 = 12;

#[test]
fn junit_says_how_long_a_case_took_if_that_is_known() {
    let times = |summary: &Document<Reproduction>| {
        let text = Reproduction::junit(summary, &seconds);
        let document = roxmltree::Document::parse(&text).expect("XML");
        let cases = document.descendants().filter(|it| it.has_tag_name("testcase"));
        cases.map(|it| it.attribute("time").map(str::to_owned)).collect::<Vec<_>>()
    };
    // The run without a fault, and the replay that the case names.
    assert_eq!(times(&summary(5)), [Some("1.500".to_owned()), Some("9.500".to_owned())]);
    assert_eq!(times(&summary(GONE - 3)), [Some("1.500".to_owned()), None]);
    // What was not found took no time of its own.
    assert_eq!(times(&nothing_found(30)), [Some("1.500".to_owned()), None]);
    assert_eq!(times(&changed(nothing_found(30), |it| it.normal_runs = 0))[0], None);
}

/// A case: its name, what it came to, and what is said of it.
type Case = (String, String, String);

/// The attributes of the suite, and its cases.
fn junit(summary: &Document<Reproduction>) -> (Vec<(String, String)>, Vec<Case>) {
    let text = Reproduction::junit(summary, &seconds);
    let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let suite = document.descendants().find(|it| it.has_tag_name("testsuite")).expect("a suite");
    let totals = suite.attributes().map(|it| (it.name().to_owned(), it.value().to_owned())).collect();
    let case = |it: roxmltree::Node<'_, '_>| {
        let came = it.children().find(roxmltree::Node::is_element);
        let text = |of: Option<&str>| of.unwrap_or_default().to_owned();
        (
            text(it.attribute("name")),
            came.map_or_else(String::new, |it| it.tag_name().name().to_owned()),
            text(came.and_then(|it| it.attribute("message"))),
        )
    };
    (totals, document.descendants().filter(|it| it.has_tag_name("testcase")).map(case).collect())
}

#[test]
fn junit_has_a_case_for_each_fault() {
    let (totals, cases) = junit(&summary(5));
    let total = |name: &str| totals.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
    assert_eq!(
        (total("tests"), total("failures"), total("errors"), total("skipped")),
        (Some("2"), Some("1"), Some("0"), Some("0"))
    );
    assert_eq!(cases[0], ("quorum without a fault".into(), String::new(), String::new()));
    assert_eq!(
        cases[1].0,
        "IOException at Log1.append:31 \u{2192} FileChannel.force, hit 2 of thread Writer-1"
    );
    assert_eq!(cases[1].1, "failure");
    assert!(cases[1].2.starts_with("logs/server.log:9: </script>"), "{}", cases[1].2);
}

#[test]
fn junit_says_what_could_not_be_tried() {
    let (_, cases) = junit(&nothing_found(30));
    assert_eq!(cases[1].1, "skipped");
    let fails = changed(nothing_found(0), |it| {
        it.standing = Standing::AlreadyFails { failed: 1, runs: 2 };
    });
    let (_, cases) = junit(&fails);
    assert_eq!(cases.len(), 1);
    assert_eq!(
        (&*cases[0].1, &*cases[0].2),
        ("error", "the failure happens without a fault, in 1 of 2 runs")
    );
    let mut hostile = summary(1);
    hostile.header.workload = HOSTILE.into();
    hostile.header.campaign = HOSTILE.into();
    assert!(junit(&hostile).1[0].0.contains("<script>document.title="));
}
