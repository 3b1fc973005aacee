//! `explore` on a small cluster, `targets/quorum`, with real JVMs.
//!
//! The thread that accepts clients takes every exception for its end. Whichever of its calls fails, and on whichever server,
//! a client is not served, while all three servers say that they are well.

mod support;

use serde_json::Value;
use support::{Tool, quorum_configuration};

/// Once round all keys there are: the thread that starts each of the servers, and the acceptor of each.
const TRIALS: u64 = 6;

/// A campaign on the class with the bug alone: what can be tried is little, so that it is found in seconds.
fn campaign() -> Tool {
    Tool::new("explore")
        .file("hypocenter.toml", quorum_configuration())
        .args("--packages quorum.ClientAcceptor --normal-runs 1 --replays 1 --neighbours 0 --seed 1 --json")
        .args(&format!("--trials {TRIALS}"))
}

#[test]
fn the_acceptor_that_ends_is_found_and_replayed_and_a_resumed_campaign_tells_the_same() {
    let done = campaign().end().exits(2);
    let document = done.outcome();
    assert_eq!((&document["trials"], &document["standing"]), (&TRIALS.into(), &"done".into()));
    assert_eq!(document["keys"], TRIALS, "{document:#}");
    let findings = document["findings"].as_array().expect("a list");
    assert!(!findings.is_empty(), "{document:#}");
    for finding in findings {
        assert_eq!(finding["class"], "quorum.ClientAcceptor");
        assert_ne!(finding["method"], "<init>", "a server that cannot start says so: {finding:#}");
        assert_eq!(finding["kind"], "client", "{finding:#}");
        assert_eq!(finding["severity"], "critical", "{finding:#}");
        assert_eq!(finding["rate"]["runs"], 1, "{finding:#}");
        let replay = finding["replay"].as_str().expect("a command");
        assert!(replay.starts_with("hypocenter replay explore-0001/"), "{replay}");
    }
    let again = |it: &&Value| it["rate"]["hits"] == 1;
    assert!(findings.iter().any(|it| again(&it)), "no replay shows it again: {findings:#?}");
    // Each trial is for a state of a thread of a node, and injects there or nowhere.
    for trial in document["tried"].as_array().expect("a list") {
        let focus = trial["focus"].as_str().expect("bsrr is for a state");
        let Some(injected) = trial["injected"].as_object() else { continue };
        let state = match injected["guard"]["state"].as_str() {
            Some("none") => format!("thread {}", injected["at"]["thread"].as_str().unwrap()),
            _ => injected["at"]["state"].as_str().expect("it is in the state that was asked for").to_owned(),
        };
        assert_eq!(focus, format!("{} {state}", injected["at"]["node"].as_str().unwrap()));
    }

    let latest = done.directory().join("hypocenter-out/latest");
    let again = Tool::new("explore").arg("--resume").arg(&latest).args("--json").end().exits(2);
    let mut resumed = again.outcome();
    resumed["seconds"] = document["seconds"].clone();
    assert_eq!(resumed, document);
}
