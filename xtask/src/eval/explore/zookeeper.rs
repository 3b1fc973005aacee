//! Published bugs of ZooKeeper 3.6.2 in a cluster of three processes: one campaign with exceptions, one with delays; and two to
//! compare, one that injects where everything is in memory, and one that runs one trial at a time.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hypocenter_explore::{Catalogue, FaultScope};
use hypocenter_plan::{Injection, Outcome, Role, Site, glob_matches};
use serde::Deserialize;
use serde_json::Value;

use super::{ExploreArgs, Ran, Runner, list, share_of_tool};
use crate::eval::scan::Read;
use crate::failure::{Failure, Result};
use crate::process::step;
use crate::{Verdict, javac, maven, root, table, truth};

/// The folder below `eval/`.
pub const NAME: &str = "zookeeper-3.6.2";
const HEADINGS: [&str; 6] = ["bug", "fault", "first exposed in", "replays", "where", "symptom"];
const TRIALS: u64 = 1000;
/// As `explore.toml` has them.
const PACKAGES: [&str; 1] = ["org.apache.zookeeper"];
const IN_MEMORY: &str = "exceptions, in memory too";
/// Number of bugs that must be found.
const ENOUGH: usize = 3;
/// Number of replays of a finding, and number of those that must repeat it.
const REPLAYS: u64 = 5;
const REPLAYS_ENOUGH: u64 = 3;
/// Maximum number of findings that are listed one by one.
const SHOWN: usize = 10;

#[derive(Debug, Deserialize)]
struct Truth {
    bug: Vec<Published>,
    /// Other findings that somebody has already checked.
    seen: Vec<Published>,
}

/// A published bug, or something else that somebody has looked at, and how a finding is known to be it.
#[derive(Debug, Deserialize)]
struct Published {
    #[serde(default)]
    name: String,
    faults: String,
    methods: Vec<String>,
    #[serde(default)]
    callees: Vec<String>,
    #[serde(default = "any")]
    symptoms: Vec<String>,
    /// A sentence for people.
    what: String,
}

fn any() -> Vec<String> {
    vec!["*".to_owned()]
}

impl Truth {
    /// A sentence on a finding.
    fn sentence(&self, faults: &str, finding: &Value) -> String {
        let bug = self.bug.iter().find(|it| it.faults == faults && it.is_it(finding));
        if let Some(bug) = bug {
            return format!("{}: {}", bug.name, bug.what);
        }
        let seen = self.seen.iter().find(|it| it.faults == faults && it.is_it(finding));
        seen.map_or_else(|| "nobody has looked at it".to_owned(), |it| it.what.clone())
    }
}

impl Published {
    fn is_it(&self, finding: &Value) -> bool {
        let stack = || list(finding, "stack").iter().filter_map(Value::as_str);
        let below = self.methods.iter().any(|it| stack().any(|method| glob_matches(it, method)));
        let callee = finding["callee"].as_str().unwrap_or("").split('(').next().unwrap_or("");
        let why = finding["why"].as_str().unwrap_or("");
        below
            && (self.callees.is_empty() || self.callees.iter().any(|it| glob_matches(it, callee)))
            && self.symptoms.iter().any(|it| glob_matches(it, why))
    }
}

/// A campaign: what may go wrong, and how it is run.
#[derive(Clone, Copy)]
struct Kind {
    /// For people.
    name: &'static str,
    faults: &'static str,
    trials: u64,
    jobs: u16,
    in_memory: bool,
    /// True if it is to find bugs, and not only to compare.
    finds: bool,
}

impl Kind {
    fn all(args: &ExploreArgs) -> Vec<Kind> {
        let finding = Kind {
            name: "exceptions",
            faults: "exceptions",
            trials: args.trials.unwrap_or(TRIALS),
            jobs: args.jobs,
            in_memory: false,
            finds: true,
        };
        let comparing = Kind { finds: false, ..finding };
        let kinds = [
            finding,
            Kind { name: "delays", faults: "delays", trials: args.delay_trials, ..finding },
            Kind { name: IN_MEMORY, trials: args.in_memory_trials, in_memory: true, ..comparing },
            Kind { name: "exceptions, one at a time", trials: args.alone_trials, jobs: 1, ..comparing },
        ];
        kinds.into_iter().filter(|it| it.trials > 0).collect()
    }

    fn run(&self, folder: &Path, runner: &Runner<'_>) -> Result<Ran> {
        let replays = if self.finds { REPLAYS } else { 0 };
        let numbers = [self.trials, u64::from(self.jobs), replays].map(|it| it.to_string());
        let [trials, jobs, replays] = numbers.each_ref().map(String::as_str);
        let mut words = vec!["explore", "--faults", self.faults, "--trials", trials, "--jobs", jobs];
        words.extend(["--replays", replays, "--seed", "1"]);
        if self.in_memory {
            words.extend(["--set", "explore.in_memory=true"]);
        }
        let filter = if self.in_memory { "-in-memory" } else { "" };
        let place = format!("{NAME}-{}{filter}-{jobs}", self.faults);
        runner.carry_out(&folder.join("explore.toml"), &words, &place)
    }
}

pub(super) fn run(args: &ExploreArgs, runner: &Runner<'_>) -> Result<Verdict> {
    let folder = root().join("eval").join(NAME);
    let lib = maven::fetch(NAME, "lib", None)?;
    let source = root().join("eval/zookeeper-common/src/hypocenter/eval/ZkLoad.java");
    javac::compile(
        runner.jdk,
        &[source],
        &format!("{}/*", lib.display()),
        &lib.with_file_name("explore-classes"),
    )?;
    let truth: Truth = truth::read(&folder.join("explore-truth.toml"))?;
    let read = Read::of(NAME, "lib", None, &PACKAGES.map(str::to_owned), runner.jdk)?;
    let scope = FaultScope { io_exceptions: true, other_exceptions: false, delay_ms: None, in_memory: false };
    let possible = scope.catalogue(&read.program);
    let (mut rows, mut lines, mut found) = (Vec::new(), Vec::new(), 0);
    for kind in Kind::all(args) {
        let ran = step(&format!("{NAME}, {}", kind.name), || kind.run(&folder, runner))?;
        if kind.finds {
            for bug in truth.bug.iter().filter(|it| it.faults == kind.faults) {
                let (row, is_found) = row(bug, &ran);
                rows.push(row);
                found += usize::from(is_found);
            }
        }
        lines.push(summary(&kind, &ran));
        if kind.faults == "exceptions" {
            lines.push(invalid(&possible, &ran)?);
        }
        if kind.finds {
            lines.extend(first_findings(&kind, &ran, &truth));
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    lines.iter().for_each(|it| println!("{it}"));
    println!("{found} of {} found and replayed; {ENOUGH} are asked", truth.bug.len());
    println!("{}", if found >= ENOUGH { "PASS" } else { "FAIL" });
    Ok(Verdict::of(found >= ENOUGH))
}

/// Report of a trial about its fault, as far as it matters here.
#[derive(Deserialize)]
struct Injected {
    site: Site,
    at: Injection,
}

/// Number of trials with an exception that cannot occur, since everything there is in memory, and the number of places (LEGOLAS, Table 6).
fn invalid(possible: &Catalogue, ran: &Ran) -> Result<String> {
    let tried = list(&ran.document, "tried").iter().map(|it| &it["injected"]).filter(|it| !it.is_null());
    let read = tried.map(|it| serde_json::from_value(it.clone()));
    let injected: Vec<Injected> = read.collect::<std::result::Result<_, _>>().map_err(|error| {
        Failure::new(format!("{}: a trial's fault cannot be read: {error}", ran.directory.display()))
    })?;
    let is_invalid =
        |it: &&Injected| possible.find(&it.site).is_none() || possible.is_in_memory(&it.at.stack);
    let invalid: Vec<&Injected> = injected.iter().filter(is_invalid).collect();
    let places: BTreeSet<String> = invalid.iter().map(|it| it.site.to_string()).collect();
    Ok(format!(
        "  {} of {} trials with a fault had one that cannot happen, in memory, at {} places",
        invalid.len(),
        injected.len(),
        places.len()
    ))
}

/// The best finding that is this bug: whether it is found, and replayed often enough.
fn row(bug: &Published, ran: &Ran) -> (Vec<String>, bool) {
    let mut those: Vec<&Value> = list(&ran.document, "findings").iter().filter(|it| bug.is_it(it)).collect();
    let hits = |it: &Value| it["rate"]["hits"].as_u64().unwrap_or(0);
    those.sort_by_key(|it| (hits(it) < REPLAYS_ENOUGH, it["first_trial"].as_u64()));
    let cells = |rest: [String; 4]| [vec![bug.name.clone(), bug.faults.clone()], rest.to_vec()].concat();
    let Some(best) = those.first() else {
        let trials = ran.document["trials"].as_u64().unwrap_or(0);
        return (cells([format!("> {trials}"), "-".into(), "-".into(), "-".into()]), false);
    };
    let text = |key: &str| best[key].as_str().unwrap_or("?").to_owned();
    let first = best["first_trial"].as_u64().unwrap_or(0);
    let row = cells([
        minutes_of(ran, first).map_or_else(|| first.to_string(), |it| format!("{first}, after {it:.0} min")),
        format!("{} of {}", hits(best), best["rate"]["runs"]),
        place(best),
        text("why"),
    ]);
    (row, hits(best) >= REPLAYS_ENOUGH)
}

/// When a trial was over, by its number among those with a fault: minutes from the campaign's start.
fn minutes_of(ran: &Ran, number: u64) -> Option<f64> {
    let tried = list(&ran.document, "tried").iter().find(|it| it["number"].as_u64() == Some(number))?;
    let written = |name: String| fs::metadata(ran.directory.join(name)).and_then(|it| it.modified()).ok();
    let over = written(format!("trials/{:03}/outcome.json", tried["trial"].as_u64()?))?;
    let took = over.duration_since(written("campaign.json".to_owned())?).ok()?;
    Some(took.as_secs_f64() / 60.0)
}

fn place(finding: &Value) -> String {
    let text = |key: &str| finding[key].as_str().unwrap_or("?").to_owned();
    let short = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let callee = text("callee");
    let callee = callee.split('(').next().unwrap_or("?");
    format!("{}.{}:{} -> {}", short(&text("class")), text("method"), finding["line"], short(callee))
}

/// The campaign in a line: its trials by how they ended, and its speed.
fn summary(kind: &Kind, ran: &Ran) -> String {
    let Kind { name, jobs, .. } = *kind;
    let number = |key: &str| ran.document[key].as_u64().unwrap_or(0);
    let findings = list(&ran.document, "findings");
    // Of the trials alone: replays and comparisons are of what broke something already.
    let tried = list(&ran.document, "tried").iter().filter_map(|it| ran.outcomes.get(&it["trial"].as_u64()?));
    let injected: Vec<&Outcome> = tried.filter(|it| crate::eval::campaign::injections(it) > 0).collect();
    let is_well = |it: &&&Outcome| it.end.is_well();
    let has_ended = |it: &&&Outcome| {
        !it.end.is_well() && it.processes.iter().any(|it| it.role == Role::Node && it.end.is_some())
    };
    let (success, early) =
        (injected.iter().filter(is_well).count(), injected.iter().filter(has_ended).count());
    format!(
        "{name}: {} calls that can fail; {} trials and {} runs beside, {:.0} an hour with {jobs} at a time, tool's \
         share {:.1} %; of {} with a fault {} success, {} partial, {} early exit; {} states, {} suspicious findings, {} expected or minor",
        ran.document["sites"]["total"].as_u64().unwrap_or(0),
        number("trials"),
        (ran.outcomes.len() as u64).saturating_sub(number("trials")),
        ran.outcomes.len() as f64 / ran.seconds() * 3600.0,
        share_of_tool(ran.busy_seconds(), jobs, ran.seconds()) * 100.0,
        injected.len(),
        success,
        injected.len() - success - early,
        early,
        number("states"),
        findings.len(),
        list(&ran.document, "expected").len()
    )
}

fn first_findings(kind: &Kind, ran: &Ran, truth: &Truth) -> Vec<String> {
    let findings = list(&ran.document, "findings").iter().take(SHOWN);
    let told = findings.map(|it| {
        let text = |key: &str| it[key].as_str().unwrap_or("?").to_owned();
        format!(
            "  {} at {}, first in {}, {} of {}: {}\n    {}",
            text("fault"),
            place(it),
            it["first_trial"],
            it["rate"]["hits"],
            it["rate"]["runs"],
            text("why"),
            truth.sentence(kind.faults, it)
        )
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_finding_is_a_bug_by_its_way_by_what_is_called_and_by_its_symptom() {
        let truth: Truth = truth::read(&root().join("eval").join(NAME).join("explore-truth.toml")).unwrap();
        let names = |callee: &str, stack: &[&str], why: &str| -> Vec<&str> {
            let finding = json!({"callee": callee, "stack": stack, "why": why});
            truth.bug.iter().filter(|it| it.is_it(&finding)).map(|it| it.name.as_str()).collect()
        };
        let acceptor = "org.apache.zookeeper.server.quorum.Leader$LearnerCnxAcceptor$LearnerCnxAcceptorHandler.acceptConnections";
        let alone = "the fault is on zk3, which became ready, and zk2 never did";
        let late = "the fault is on zk3, and zk1, zk2, zk3 never became ready";
        let accept = "java.net.ServerSocket.accept()Ljava/net/Socket;";
        assert_eq!(names(accept, &[acceptor], alone), ["ZOOKEEPER-4203"]);
        assert!(names(accept, &[acceptor], late).is_empty(), "the leader does not go on leading");
        assert!(names(accept, &[acceptor], "threads deadlock: a, b").is_empty());
        assert_eq!(names("java.net.Socket.setSoTimeout(I)V", &[acceptor], late), ["ZOOKEEPER-4424"]);
        assert!(names("java.net.Socket.close()V", &[acceptor], late).is_empty());
        let packet = ["org.apache.zookeeper.server.quorum.Learner.writePacket", "a.B.run"];
        let why = "clients fail although their node reports healthy (zk1): write1 (3 of 40 steps, exited with status 1)";
        assert_eq!(names("java.io.BufferedOutputStream.flush()V", &packet, why), ["ZOOKEEPER-4074"]);
    }

    #[test]
    fn what_somebody_has_looked_at_has_a_sentence() {
        let truth: Truth = truth::read(&root().join("eval").join(NAME).join("explore-truth.toml")).unwrap();
        let sentence = |faults: &str, method: &str| {
            let finding = json!({
                "callee": "java.net.Socket.setSoTimeout(I)V",
                "stack": [method],
                "why": "the fault is on zk3, and zk1 never became ready",
            });
            truth.sentence(faults, &finding)
        };
        let acceptor = "a.Leader$LearnerCnxAcceptor$LearnerCnxAcceptorHandler.acceptConnections";
        assert!(sentence("exceptions", acceptor).starts_with("ZOOKEEPER-4424: "));
        assert!(sentence("delays", "a.LearnerHandler.run").contains("does not listen"));
        assert_eq!(sentence("exceptions", "a.Other.run"), "nobody has looked at it");
    }
}
