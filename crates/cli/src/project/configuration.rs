//! The text of `hypocenter.toml` for a project: every key with a line that says what it is for.
//!
//! Prose begins with `# `, a setting that is switched off with `#` alone, so that taking the sign away switches it on.

use std::fmt::Write;

use super::{Carried, Project, Proposal};

/// The name that the tool looks for.
pub const FILE: &str = "hypocenter.toml";

/// The file, with what is carried over from one before.
pub fn text(project: &Project, carried: &Carried) -> String {
    let mut out = String::new();
    out += &format!(
        "# What Hypocenter looks at and runs. `hypocenter init` found {} here and guessed the values;\n\
         # change what is wrong. Paths are relative to this file. A line that begins with # and no space is a setting\n\
         # that is switched off: take the # away.\n\n",
        project.what
    );
    target(&mut out, project);
    workloads(&mut out, project);
    out += CLUSTER;
    failure(&mut out, project, carried.failure.as_deref());
    known(&mut out, carried.known.as_deref());
    out
}

fn target(out: &mut String, project: &Project) {
    *out += "[target]\n\
        # Where the compiled classes are: directories, jars, or all jars of a directory (\"lib/*.jar\").\n";
    let entries = &project.class_path;
    *out += &match entries.len() {
        0 => "classpath = []\n# for example classpath = [\"classes\", \"lib/*.jar\"]\n".to_owned(),
        1 | 2 => format!("classpath = [{}]\n", list(entries)),
        _ => {
            let lines: String = entries.iter().map(|it| format!("    {},\n", quote(it))).collect();
            format!("classpath = [\n{lines}]\n")
        }
    };
    *out += "# The packages of the system itself; everything else is a library, and libraries are left as they are.\n";
    *out += &match project.packages.as_slice() {
        [] => "packages = []\n# for example packages = [\"org.acme.store\"]\n".to_owned(),
        packages => format!("packages = [{}]\n", list(packages)),
    };
    *out += "# Types whose implementations are tasks, beside threads, Runnable, Callable and TimerTask.\n";
    *out += "#task_types = [\"org.acme.Job\"]\n";
    out.push('\n');
}

fn workloads(out: &mut String, project: &Project) {
    *out += "# Workloads are what a trial runs: `hypocenter run NAME`.\n";
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
    line("What you call it.", off, &format!("name = {}", quote(&it.name)));
    line(
        "The command, with quotes as on a shell; the trial ends when it ends. {dir} is a fresh directory of the trial.",
        off,
        &format!("command = {}", quote(&it.command)),
    );
    line(
        "The most that one trial may take: ms, s, m or h.",
        off,
        &format!("timeout = {}", quote(it.timeout)),
    );
    if explain {
        line("Where the command runs; by default the directory of this file.", "#", "directory = \".\"");
        line(
            "Which network it sees: \"private\", a loopback of its own for each trial, or \"host\", that of the machine.",
            "#",
            "network = \"host\"",
        );
        line("Variables of the environment.", "#", "env = { LANG = \"C.UTF-8\" }");
        line(
            "Where it logs to files: below {dir}, which is fresh in each trial. What it prints is read in any case.",
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
# A node is a process. Its name is what `--node` and reports say.
#[[workload.node]]
#name = "n1"
#command = "java -cp 'classes:lib/*' org.acme.Server --id 1 --data {dir}/n1"
# When it is ready, and clients may start: { log = "text" }, { port = 2181 }, { file = "path" } or { command = "..." }.
#ready = { log = "listening" }
# What the system itself says of this node, asked at the end of a trial.
#alive = { command = "./status.sh n1" }
# Where it logs to files; what it prints is read in any case.
#logs = ["{dir}/n1/logs/*.log"]
# Whether it is started again when it ends too early.
#restart = { times = 1, delay = "2s" }
# A client ends the trial: it is over when all clients have ended.
#[[workload.client]]
#name = "c1"
# The node that it talks to.
#node = "n1"
# Clients of phase 2 start when all of phase 1 have ended well.
#phase = 1
#command = "java -cp 'classes:lib/*' org.acme.Client localhost:2181"
# How many steps it makes; it prints `progress 1`, `progress 2` and so on.
#steps = 10

"#;

/// Tables of the owner, below a heading if they have none.
fn taken_over(out: &mut String, heading: &str, carried: &str) {
    if !carried.starts_with('#') {
        *out += &format!("{heading}\n");
    }
    *out += carried;
}

fn failure(out: &mut String, project: &Project, carried: Option<&str>) {
    if let Some(carried) = carried {
        taken_over(out, "# A failure that you have seen, to be made again.", carried);
        out.push('\n');
        return;
    }
    let to_try = project.to_try().map(|it| it.name.as_str());
    let name = project.direct.as_deref().or(to_try).unwrap_or("main");
    let oracle = match (&project.direct, &project.reports, to_try) {
        // The reports are written by the build tool; a test that fails is told by the status alone.
        (Some(_), ..) => "{ exit = \"failed\" }".to_owned(),
        (None, Some(reports), Some(_)) => format!("{{ junit = \"*\", reports = {} }}", quote(reports)),
        _ => "{ log = \"Severe unrecoverable error\" }".to_owned(),
    };
    let lines = [
        "# A failure that you have seen, to be made again.".to_owned(),
        "#[failure]".to_owned(),
        "# The workload in which it is looked for.".to_owned(),
        format!("#workload = {}", quote(name)),
        "# The logs of the failure: one for each node, or one.".to_owned(),
        "#logs = [\"failure.log\"]".to_owned(),
        "# The pattern of the appender that wrote them; only where the layout is not detected.".to_owned(),
        "#layout = \"%d [%t] %-5p %c - %m%n\"".to_owned(),
        "# What says that it happened: log, text, regex, stack, exit, file, junit or command; all, any and not combine".to_owned(),
        "# them, as in { all = [{ exit = \"failed\" }, { not = { log = \"recovered\" } }] }.".to_owned(),
        format!("#oracle = {oracle}"),
        String::new(),
    ];
    *out += &(lines.join("\n") + "\n");
}

fn known(out: &mut String, carried: Option<&str>) {
    if let Some(carried) = carried {
        let heading = "# Findings of `hypocenter explore` that are known, and not to be reported again.";
        taken_over(out, heading, carried);
        return;
    }
    let lines = [
        "# A finding of `hypocenter explore` that is known, and not to be reported again: the call as for `inject`, or a",
        "# method on its stack; a fault (exception or delay) narrows it.",
        "#[[explore.known]]",
        "#site = \"Acceptor.run -> ServerSocket.accept\"",
        "#why = \"reported as ACME-7\"",
    ];
    *out += &(lines.join("\n") + "\n");
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|it| quote(it)).collect::<Vec<_>>().join(", ")
}

/// A text as TOML has it, whatever is in it.
fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use hypocenter_plan::{Oracle, Workload};

    use super::*;

    /// With everything switched on that is switched off.
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
