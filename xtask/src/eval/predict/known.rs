//! `predict-truth.toml`: the crashes of a system that are not survived, by the operations that conflict.

use hypocenter_plan::{OperationKind, glob_matches};
use hypocenter_results::predicted::{Access, Conflict, PairReport, Prediction, Triggered};
use serde::Deserialize;

use crate::truth::Bug;

/// All bugs of a system. Keys for people are not read.
#[derive(Debug, Deserialize)]
pub struct Truth {
    pub bug: Vec<Known>,
}

/// A bug.
#[derive(Debug, Deserialize)]
pub struct Known {
    /// Its name, and the fault that shows it.
    #[serde(flatten)]
    pub shown: Bug,
    #[serde(flatten)]
    pub pair: Pair,
    /// Other writes in the same window: a crash there is the same bug.
    #[serde(default)]
    pub also: Vec<Write>,
    #[serde(default)]
    pub twin: Vec<Twin>,
}

/// Operations that conflict.
#[derive(Debug, Deserialize)]
pub struct Pair {
    #[serde(flatten)]
    pub write: Write,
    /// A method on the stack of the read, as `package.Class.method`; `*` stands for any text.
    pub read: String,
    /// Kind of the read: a method may look whether a file is there before it opens it.
    pub operation: Option<OperationKind>,
}

/// The operation beside which a node crashes.
#[derive(Debug, Deserialize)]
pub struct Write {
    /// What it works on: the last parts of its name; `*` stands for any text.
    pub resource: String,
    /// A method on its stack, likewise.
    pub write: String,
}

/// A way to fix a bug.
#[derive(Debug, Deserialize)]
pub struct Twin {
    /// Its folder.
    pub folder: String,
    /// The rule that leaves the pair out there.
    pub rule: String,
}

impl Truth {
    pub fn twins(&self) -> impl Iterator<Item = &Twin> {
        self.bug.iter().flat_map(|it| &it.twin)
    }
}

impl Twin {
    /// Name of its campaign without the rule.
    pub fn without(&self) -> String {
        format!("{}-without-{}", self.folder, self.rule)
    }
}

impl Pair {
    fn is(&self, w: &Access, r: &Access) -> bool {
        self.write.is(w) && is_in(&self.read, r) && self.operation.is_none_or(|it| it == r.operation)
    }
}

impl Write {
    fn is(&self, w: &Access) -> bool {
        let is_meant = |name: &String| {
            glob_matches(&self.resource, name) || glob_matches(&format!("*/{}", self.resource), name)
        };
        is_in(&self.write, w) && (is_meant(&w.resource) || w.other.as_ref().is_some_and(is_meant))
    }
}

/// Tests whether a method that fits is on the stack of an operation.
fn is_in(pattern: &str, it: &Access) -> bool {
    glob_matches(pattern, &it.method) || it.stack.iter().any(|it| glob_matches(pattern, &it.method))
}

impl Known {
    /// Tests whether its own pair is reported, whatever came of it.
    pub fn is_reported(&self, it: &Prediction) -> bool {
        it.reports.iter().any(|it| self.pair.is(&it.w, &it.r))
    }

    /// Tests whether a crash beside its write is not survived.
    pub fn is_confirmed(&self, it: &Prediction) -> bool {
        let is_meant = |it: &&PairReport| self.pair.is(&it.w, &it.r);
        let by_report = it.reports.iter().filter(is_meant).any(|it| it.triggered == Triggered::Confirmed);
        by_report || it.findings.iter().any(|it| self.is_found(&it.detail))
    }

    /// Tests whether a finding is this bug: whether a crash in its window is beside one of its writes.
    pub fn is_found(&self, it: &Conflict) -> bool {
        let is_here = |w: &Access| self.pair.write.is(w) || self.also.iter().any(|it| it.is(w));
        is_here(&it.w) || it.also.iter().any(|it| is_here(&it.access))
    }

    /// Tests whether its own pair was left out by a rule, and is not reported.
    pub fn is_left_out(&self, it: &Prediction, rule: &str) -> bool {
        let by_rule = it.left_out.iter().any(|it| it.rule.name() == rule && self.pair.is(&it.w, &it.r));
        by_rule && !self.is_reported(it)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hypocenter_results::predicted::Pruned;
    use serde_json::json;

    use super::*;
    use crate::{root, targets, truth};

    /// A prediction with one report, or one pair that a rule left out.
    fn prediction(triggered: &str, w: &str, r: &str, rule: Option<&str>) -> Prediction {
        let access = |method: &str| {
            json!({
                "operation": "rename", "resource": "f1/currentEpoch.tmp", "other": "f1/currentEpoch", "node": "f1",
                "thread": "main", "method": method, "stack": [{ "method": "a.Caller.call" }],
            })
        };
        let report = json!({ "w": access(w), "r": access(r), "side": "before", "verdict": triggered });
        let report: PairReport = serde_json::from_value(report).unwrap();
        let mut it = Prediction::default();
        match rule {
            Some(rule) => {
                let pair = json!({ "w": access(w), "r": access(r), "rule": rule, "why": "it is so" });
                it.left_out.push(serde_json::from_value(pair).unwrap());
                it.pruned = Pruned { control: 1, ..Pruned::default() };
            }
            None => it.reports.push(report),
        }
        it
    }

    fn known(resource: &str) -> Known {
        let text = format!(
            "name = 'b'\nworkload = 'w'\nsite = 'A.b'\nfault = 'crash'\nresource = '{resource}'\nwrite = 'a.W.w'\nread = 'a.*.r'"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn a_bug_is_known_by_its_methods_and_its_resource() {
        let check = |resource: &str, it: Prediction, expected: [bool; 3]| {
            let bug = known(resource);
            let found = [bug.is_reported(&it), bug.is_confirmed(&it), bug.is_left_out(&it, "control")];
            assert_eq!(found, expected, "{resource} {it:#?}");
        };
        check("currentEpoch", prediction("confirmed", "a.W.w", "a.R.r", None), [true, true, false]);
        check("f1/currentEpoch", prediction("benign", "a.W.w", "a.R.r", None), [true, false, false]);
        check("Epoch", prediction("confirmed", "a.W.w", "a.R.r", None), [false, false, false]);
        check("currentEpoch", prediction("confirmed", "a.W.other", "a.R.r", None), [false, false, false]);
        check("currentEpoch", prediction("benign", "a.W.w", "a.R.r", Some("control")), [false, false, true]);
        check("currentEpoch", prediction("benign", "a.W.w", "a.R.r", Some("reset")), [false, false, false]);
        let opened = Pair { operation: Some(OperationKind::OpenRead), ..known("currentEpoch").pair };
        let it = &prediction("benign", "a.W.w", "a.R.r", None).reports[0];
        assert!(known("currentEpoch").pair.is(&it.w, &it.r) && !opened.is(&it.w, &it.r), "it is a rename");
    }

    #[test]
    fn every_truth_names_folders_rules_and_methods_that_are_there() {
        const RULES: [&str; 5] = ["wait_timeout", "loop_timeout", "control", "reset", "impact"];
        for target in targets::chosen(&[]).unwrap() {
            let path = target.directory.join("predict-truth.toml");
            if !path.is_file() {
                continue;
            }
            let truth: Truth = truth::read(&path).unwrap();
            let folders: Vec<&str> = truth.twins().map(|it| it.folder.as_str()).collect();
            let mut sorted = folders.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, target.ways().unwrap(), "{}", target.name);
            for bug in &truth.bug {
                assert!(bug.twin.iter().all(|it| RULES.contains(&it.rule.as_str())), "{}", bug.shown.name);
                let writes = std::iter::once(&bug.pair.write).chain(&bug.also);
                for method in writes.map(|it| &it.write).chain([&bug.pair.read]) {
                    let (class, name) = method.rsplit_once('.').unwrap();
                    let source = target.directory.join("src").join(class.replace('.', "/"));
                    let text = fs::read_to_string(source.with_extension("java")).unwrap();
                    assert!(text.contains(&format!(" {name}(")), "{method}");
                }
            }
        }
        assert!(root().join("targets/snapshot/predict-truth.toml").is_file());
    }
}
