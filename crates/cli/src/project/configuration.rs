//! Text of `hypocenter.toml` for a project: every key with a line that explains it.
//!
//! Prose begins with `# `, a disabled setting with `#` alone, so that removing the sign enables it.

use std::fmt::Write;

use super::{Carried, Project, Proposal};

/// Name of the file.
pub const FILE: &str = "hypocenter.toml";

/// Writes the file, with the tables of an old one.
pub fn text(project: &Project, carried: &Carried) -> String {
    let mut out = String::new();
    out += &format!(
        "# Configuration of Hypocenter. `hypocenter init` found {} here and guessed the values; correct them\n\
         # where they are wrong. Paths are relative to this file. A line with # and no space is a disabled setting:\n\
         # remove the # to enable it.\n\n",
        project.what
    );
    target(&mut out, project);
    workloads(&mut out, project);
    out += CLUSTER;
    failure(&mut out, project, carried.failure.as_deref());
    known(&mut out, carried.search.as_deref());
    out
}

fn target(out: &mut String, project: &Project) {
    *out += "[target]\n\
        # The compiled classes: directories, jars, or all jars of a directory (\"lib/*.jar\").\n";
    let entries = &project.class_path;
    *out += &match entries.len() {
        0 => "classpath = []\n# for example classpath = [\"classes\", \"lib/*.jar\"]\n".to_owned(),
        1 | 2 => format!("classpath = [{}]\n", list(entries)),
        _ => {
            let lines: String = entries.iter().map(|it| format!("    {},\n", quote(it))).collect();
            format!("classpath = [\n{lines}]\n")
        }
    };
    *out += "# The packages of the system itself; everything else is a library and is not instrumented.\n";
    *out += &match project.packages.as_slice() {
        [] => "packages = []\n# for example packages = [\"org.acme.store\"]\n".to_owned(),
        packages => format!("packages = [{}]\n", list(packages)),
    };
    *out += "# Additional types whose implementations are tasks, besides threads, Runnable, Callable and TimerTask.\n";
    *out += "#task_types = [\"org.acme.Job\"]\n";
    out.push('\n');
}

fn workloads(out: &mut String, project: &Project) {
    *out += "# A trial runs a workload: `hypocenter run NAME`.\n";
    for line in &project.why {
        *out += &format!("# {line}\n");
    }
    out.push('\n');
    let example = Proposal {
        name: "main".to_owned(),
        what: "A program.".to_owned(),
        command: "java -cp 'classes:lib/*' org.acme.Main".to_owned(),
        timeout: "1m",
        active: false,
    };
    let all: Vec<&Proposal> = match project.workloads.as_slice() {
        [] => vec![&example],
        some => some.iter().collect(),
    };
    // Each key is explained once, where it first stands.
    for (number, it) in all.iter().enumerate() {
        workload(out, it, number == 0);
    }
}

fn workload(out: &mut String, it: &Proposal, explain: bool) {
    let off = if it.active { "" } else { "#" };
    let mut line = |why: &str, off: &str, setting: &str| {
        if explain && !why.is_empty() {
            *out += &format!("# {why}\n");
        }
        // Writing to a text cannot fail.
        let _ = writeln!(out, "{off}{setting}");
    };
    line("", "# ", &it.what);
    line("", off, "[[workload]]");
    line("Name of the workload.", off, &format!("name = {}", quote(&it.name)));
    line(
        "Command, quoted as in a shell; the trial ends when it ends. {dir} is a fresh directory of the trial.",
        off,
        &format!("command = {}", quote(&it.command)),
    );
    line("Time limit of a trial: ms, s, m or h.", off, &format!("timeout = {}", quote(it.timeout)));
    if explain {
        line("Working directory; by default the directory of this file.", "#", "directory = \".\"");
        line(
            "Network: \"private\", a separate loopback for each trial, or \"host\", the network of the machine.",
            "#",
            "network = \"host\"",
        );
        line("Environment variables.", "#", "env = { LANG = \"C.UTF-8\" }");
        line(
            "Log files, below {dir}. Standard output and error are always read.",
            "#",
            "logs = [\"{dir}/logs/*.log\"]",
        );
    }
    out.push('\n');
}

/// The other kind of workload.
const CLUSTER: &str = r#"# A cluster: nodes, and clients that start when all nodes are ready.
#[[workload]]
#name = "cluster"
#timeout = "60s"
# A node is a process. `--node` and reports use its name.
#[[workload.node]]
#name = "n1"
#command = "java -cp 'classes:lib/*' org.acme.Server --id 1 --data {dir}/n1"
# Ready condition, before clients start: { log = "text" }, { port = 2181 }, { file = "path" } or { command = "..." }.
#ready = { log = "listening" }
# Health check of the node at the end of a trial.
#alive = { command = "./status.sh n1" }
# Log files. Standard output and error are always read.
#logs = ["{dir}/n1/logs/*.log"]
# Restart after an early exit.
#restart = { times = 1, delay = "2s" }
# A client. The trial ends when all clients have ended.
#[[workload.client]]
#name = "c1"
# The node that it connects to.
#node = "n1"
# Clients of phase 2 start when all clients of phase 1 have succeeded.
#phase = 1
#command = "java -cp 'classes:lib/*' org.acme.Client localhost:2181"
# Number of steps; the client prints `progress 1`, `progress 2` and so on.
#steps = 10

"#;

/// Adds tables of the owner, below a heading if they have none.
fn taken_over(out: &mut String, heading: &str, carried: &str) {
    if !carried.starts_with('#') {
        *out += &format!("{heading}\n");
    }
    *out += carried;
}

fn failure(out: &mut String, project: &Project, carried: Option<&str>) {
    if let Some(carried) = carried {
        taken_over(out, "# The failure to reproduce.", carried);
        out.push('\n');
        return;
    }
    let to_try = project.to_try().map(|it| it.name.as_str());
    let name = project.direct.as_deref().or(to_try).unwrap_or("main");
    let oracle = match (&project.direct, &project.reports, to_try) {
        // The build tool writes the reports; here only the exit code shows that a test failed.
        (Some(_), ..) => "{ exit = \"failed\" }".to_owned(),
        (None, Some(reports), Some(_)) => format!("{{ junit = \"*\", reports = {} }}", quote(reports)),
        _ => "{ log = \"Severe unrecoverable error\" }".to_owned(),
    };
    let lines = [
        "# The failure to reproduce.".to_owned(),
        "#[failure]".to_owned(),
        "# Workload that resembles the conditions of the failure.".to_owned(),
        format!("#workload = {}", quote(name)),
        "# Logs of the failure: one for each node, or a single one.".to_owned(),
        "#logs = [\"failure.log\"]".to_owned(),
        "# Layout of the logs as an appender pattern, if it is not detected.".to_owned(),
        "#layout = \"%d [%t] %-5p %c - %m%n\"".to_owned(),
        "# Oracle that recognizes the failure: log, text, regex, stack, exit, file, junit or command; combine them by".to_owned(),
        "# all, any and not, as in { all = [{ exit = \"failed\" }, { not = { log = \"recovered\" } }] }.".to_owned(),
        format!("#oracle = {oracle}"),
        String::new(),
    ];
    *out += &(lines.join("\n") + "\n");
}

fn known(out: &mut String, carried: Option<&str>) {
    if let Some(carried) = carried {
        let heading = "# Settings of the search, and known findings.";
        taken_over(out, heading, carried);
        return;
    }
    let lines = [
        "# A known finding of `hypocenter explore` that is not reported again: its site in the syntax of `inject`, or a",
        "# method on its stack, and optionally its fault (exception or delay).",
        "#[[explore.known]]",
        "#site = \"Acceptor.run -> ServerSocket.accept\"",
        "#why = \"reported as ACME-7\"",
    ];
    *out += &(lines.join("\n") + "\n");
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|it| quote(it)).collect::<Vec<_>>().join(", ")
}

/// Quotes any text for TOML.
fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use hypocenter_plan::{Oracle, Workload};

    use super::*;

    /// Enables all disabled settings.
    fn switched_on(text: &str) -> String {
        let on = |line: &str| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => rest.to_owned(),
            _ => line.to_owned(),
        };
        text.lines().map(on).collect::<Vec<_>>().join("\n")
    }

    fn check(project: &Project) {
        let written = text(project, &Carried::default());
        for text in [written.clone(), switched_on(&written)] {
            let value: toml::Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            for workload in value.get("workload").and_then(|it| it.as_array()).into_iter().flatten() {
                let workload: Workload =
                    workload.clone().try_into().unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(workload.check(), Ok(()), "{text}");
            }
            if let Some(failure) = value.get("failure") {
                failure["oracle"]
                    .clone()
                    .try_into::<Oracle>()
                    .unwrap_or_else(|error| panic!("{error}\n{text}"));
            }
        }
        assert!(switched_on(&written).contains("\n[failure]\n"));
        let too_long = written.lines().find(|it| it.starts_with("# ") && it.chars().count() > 120);
        assert_eq!(too_long, None);
    }

    #[test]
    fn what_is_written_can_be_read_also_with_everything_switched_on() {
        let proposal = |name: &str, active| Proposal {
            name: name.into(),
            what: "Some.".into(),
            command: "mvn -o 'a b' \"c\\d\"".into(),
            timeout: "5m",
            active,
        };
        check(&Project { what: "nothing".into(), ..Project::default() });
        check(&Project {
            what: "a project".into(),
            class_path: ["a \"b\"", "c\\d", "\u{1}\n"].map(str::to_owned).to_vec(),
            packages: vec![String::new(), "org.acme".into()],
            workloads: vec![proposal("tests", true), proposal("A", true), proposal("B", false)],
            why: vec!["Why.".into()],
            reports: Some("target/surefire-reports/*.xml".into()),
            ..Project::default()
        });
    }
}
