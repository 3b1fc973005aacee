//! `predict` on `targets/snapshot` with real JVMs: a crash between a snapshot and its epoch leaves a server that never starts again. The
//! twin looks whether the epoch is there before it reads it.

mod support;

use serde_json::Value;
use support::{Tool, snapshot_classes, snapshot_configuration};

/// A campaign on the store in which one follower may crash, with as few runs as show it.
fn campaign(twin: Option<&str>) -> Tool {
    Tool::new("predict")
        .file("hypocenter.toml", snapshot_configuration(&snapshot_classes(twin)))
        .args("--normal-runs 1 --crashes 2 --json")
}

/// The pairs of a list that end with the read of the epoch.
fn epoch_reads(list: &Value) -> Vec<&Value> {
    let all = list.as_array().into_iter().flatten();
    let is_read = |it: &&Value| {
        it["r"]["method"] == "snapshot.EpochFile.read"
            && it["r"]["operation"] == "open_read"
            && it["r"]["resource"] == "f1/currentEpoch"
    };
    all.filter(is_read).collect()
}

#[test]
fn a_crash_between_snapshot_and_epoch_is_predicted_and_confirmed() {
    let done = campaign(None).args("--replays 1 --jobs 2 --set predict.triggers=14").end().exits(2);
    let document = done.outcome();
    let findings = document["findings"].as_array().expect("a list");
    let [finding] = findings.as_slice() else { panic!("{document:#}") };
    assert_eq!(finding["proof"], "confirmed");
    assert_eq!(
        (&finding["w"]["method"], &finding["w"]["node"]),
        (&"snapshot.EpochFile.write".into(), &"f1".into())
    );
    assert_eq!(finding["w"]["other"], "f1/currentEpoch", "{finding:#}");
    assert_eq!(finding["r"]["method"], "snapshot.EpochFile.read", "{finding:#}");
    assert!(finding["why"].as_str().expect("a text").contains("node f1 (start 2) exited with status 2"));
    let confirmed = epoch_reads(&document["reports"]);
    assert!(confirmed.iter().any(|it| it["verdict"] == "confirmed"), "{confirmed:#?}");
    // The nodes without `restart` are named, and every one that took part has correct runs.
    let left_out = |it: &&Value| it["left_out"].as_str().is_some_and(|why| why.contains("`restart`"));
    assert_eq!(document["nodes"].as_array().expect("a list").iter().filter(left_out).count(), 2);
    assert!(document["runs"]["correct"].as_u64() >= Some(1), "{document:#}");
    let done = done.says("  crash 1 ").says("a replay of predict-0001/");
    let replay = finding["replay"].as_str().expect("a command");
    let trial = replay.split_whitespace().nth(2).expect("a trial");
    let out = done.directory().join("hypocenter-out");
    Tool::new("replay").arg(trial).args("--must-pass --out").arg(out).end().exits(2);
}

#[test]
fn a_check_of_the_same_file_leaves_the_read_out() {
    let twin = Some("fixed-marker");
    let done = campaign(twin).args("--no-trigger --replays 0").end().exits(0);
    let document = done.outcome();
    assert_eq!(epoch_reads(&document["reports"]), [&Value::Null; 0]);
    let left_out = epoch_reads(&document["left_out"]);
    assert!(!left_out.is_empty() && left_out.iter().all(|it| it["rule"] == "control"), "{left_out:#?}");
    assert!(document["pruned"]["control"].as_u64() > Some(0), "{document:#}");
    let done = campaign(twin).args("--no-trigger --replays 0 --no-prune control").end().exits(0);
    let document = done.outcome();
    assert!(!epoch_reads(&document["reports"]).is_empty(), "{document:#}");
    assert_eq!(document["pruned"]["control"], 0);
}

#[test]
fn a_workload_in_which_no_node_is_started_again_is_refused() {
    let configuration = snapshot_configuration(&snapshot_classes(None)).replace("restart = ", "# restart = ");
    let tool = Tool::new("predict").file("hypocenter.toml", configuration);
    tool.end().exits(1).says("no node of the workload is started again").says("restart = { times = 1 }");
    let tool = Tool::new("predict").file("hypocenter.toml", snapshot_configuration(&snapshot_classes(None)));
    tool.args("--no-prune luck")
        .end()
        .exits(1)
        .says("unknown rule `luck`, use one of control, reset, impact");
}
