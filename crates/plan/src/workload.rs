//! Workload of a trial: one command, or a cluster of processes with the clients that use it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Mdc, NodeRule, Span};

/// Workload: a command, or nodes and clients. In every command, `{dir}` is a fresh directory of the trial,
/// which is also in the environment as `HYPOCENTER_DIR`. `{test.class}`, `{test.method}` and `{test.id}` (`CLASS#METHOD`) make it a
/// template over the tests that `hypocenter scan --tests` lists.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// Command, quoted as in a shell; the trial ends when it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandLine>,
    /// `false` keeps the agent out of all its processes, whatever their own `agent`: no fault can be injected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<bool>,
    /// Time limit of a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// Environment variables of all its processes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Log files of its command in addition to its output, below `{dir}`; `*` stands for any text within a name, `**` for
    /// any directories. They are read after the trial as its log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
    /// Working directory of its processes; by default the directory of the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Network of its processes in a sandbox.
    #[serde(default)]
    pub network: Network,
    /// The nodes: processes that the trial starts before its clients, or threads of one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node: Vec<Node>,
    /// The clients, phase by phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client: Vec<Client>,
}

/// Network of the processes of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Private loopback network, so trials with the same ports can run in parallel.
    #[default]
    Private,
    /// Network of the machine.
    Host,
}

/// Node: a process, or a part of one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its command; a node without one is part of another process and is identified by `threads` or `mdc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandLine>,
    /// Command that prepares it, for example formats its storage. It runs once in a trial, before the first start and not
    /// before a restart, in the node's directory and environment, without the agent. If it does not exit with status 0, the
    /// trial ends. Its output is `NAME.before.stdout.log`, beside the node's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<CommandLine>,
    /// Nodes that must be ready before it starts, and clients whose phase must have succeeded; without any, it starts at once.
    /// The next phase waits until it is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// Condition for it to be ready; without one, it is ready at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Condition>,
    /// Health check of this node at the end of a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive: Option<Condition>,
    /// Restart if it ends before the trial does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<Restart>,
    /// Environment variables in addition to those of the workload.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Log files in addition to its output, below `{dir}`; `*` stands for any text within a name, `**` for any
    /// directories. They are read after the trial as its log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
    /// Its working directory, if it differs from the workload's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Names of its threads, for a node inside a process; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<String>,
    /// Entry of its threads in the diagnostic context of the logging framework.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mdc: Option<Mdc>,
    /// Loads the agent into it, so that faults can be injected there. Set it to false for nodes that only help the clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<bool>,
}

/// Condition on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// A line of its output contains this text, or matches this regular expression.
    Log(String),
    /// This port of the loopback network accepts connections.
    Port(u16),
    /// This file exists.
    File(String),
    /// This command exits with status 0.
    Command(CommandLine),
}

/// Restart policy of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Restart {
    /// Maximum number of times.
    #[serde(default = "once")]
    pub times: u32,
    /// Delay between its end and the restart.
    #[serde(default = "no_time")]
    pub delay: Span,
}

fn once() -> u32 {
    1
}

fn no_time() -> Span {
    Span(std::time::Duration::ZERO)
}

/// Process that uses the cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Node that it connects to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Kind of its requests, such as `read` or `create`. `explore` reports if all clients of some kinds fail while all
    /// others are served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Phase in which it starts. A phase starts when every client of the previous phase has succeeded.
    #[serde(default = "once")]
    pub phase: u32,
    /// Its command.
    pub command: CommandLine,
    /// Number of its steps: it prints `progress 1`, `progress 2` and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Environment variables in addition to those of the workload.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Log files in addition to its output, below `{dir}`; `*` stands for any text within a name, `**` for any
    /// directories. They are read after the trial as its log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
    /// Loads the agent into it, so that faults can be injected there.
    #[serde(default)]
    pub agent: bool,
}

/// A command as it is written in a configuration: words with quotes, as on a shell. One that needs a shell (pipes,
/// variables, redirections) gets one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CommandLine(pub String);

/// Characters that only a shell understands, outside of single quotes.
const SHELL_ONLY: &[char] = &['|', '&', ';', '<', '>', '$', '`', '\n'];

impl CommandLine {
    /// Its words, with `{dir}` replaced; an error if a quote is left open or there are none.
    pub fn words(&self, directory: &str) -> Result<Vec<String>, String> {
        let text = &self.0;
        let words = shlex::split(text).ok_or_else(|| format!("`{text}`: a quote is not closed"))?;
        if words.is_empty() {
            return Err("the command is empty".to_owned());
        }
        let put = |word: &str| word.replace("{dir}", directory);
        if needs_shell(text) {
            // The directory is quoted, because the shell reads the text again.
            let quoted = shlex::try_quote(directory).map_err(|error| format!("`{directory}`: {error}"))?;
            return Ok(vec!["sh".into(), "-c".into(), text.replace("{dir}", &quoted)]);
        }
        Ok(words.iter().map(|word| put(word)).collect())
    }

    /// A command whose words are known.
    pub fn of_words(words: &[String]) -> CommandLine {
        // Only a NUL byte cannot be quoted, and no argument of a process has one.
        CommandLine(shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default())
    }
}

pub(crate) fn needs_shell(text: &str) -> bool {
    let (mut single, mut double, mut escaped) = (false, false, false);
    for it in text.chars() {
        match it {
            _ if escaped => escaped = false,
            '\\' if !single => escaped = true,
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '$' | '`' if !single => return true,
            it if !single && !double && SHELL_ONLY.contains(&it) => return true,
            _ => {}
        }
    }
    false
}

impl Workload {
    /// The nodes that live inside a process, as plans have them.
    pub fn nodes_inside(&self) -> Vec<NodeRule> {
        let inside = self.node.iter().filter(|it| !it.threads.is_empty() || it.mdc.is_some());
        let rule =
            |it: &Node| NodeRule { name: it.name.clone(), threads: it.threads.clone(), mdc: it.mdc.clone() };
        inside.map(rule).collect()
    }

    /// Tests whether the agent may be in its processes.
    pub fn has_agent(&self) -> bool {
        self.agent != Some(false)
    }

    /// Tests whether it is one command and nothing else, so that what the trial prints is what the command prints.
    pub fn is_one_command(&self) -> bool {
        self.command.is_some() && self.node.iter().all(|it| it.command.is_none())
    }

    /// Checks everything that can be checked without running it.
    pub fn check(&self) -> Result<(), String> {
        if self.name.trim().is_empty() {
            return Err(
                "a workload has an empty name; set `name` below its [[workload]], as in `name = \"main\"`"
                    .into(),
            );
        }
        let place = |what: String| Err(format!("workload `{}`: {what}", self.name));
        let nodes = (1..).zip(&self.node).map(|(number, it)| ("node", number, &it.name));
        let clients = (1..).zip(&self.client).map(|(number, it)| ("client", number, &it.name));
        if let Some((kind, number, _)) = nodes.chain(clients).find(|it| it.2.trim().is_empty()) {
            return place(format!(
                "{kind} {number} has an empty name; set `name` below its [[workload.{kind}]], as in `name = \"{kind}{number}\"`"
            ));
        }
        let processes = self.node.iter().filter(|it| it.command.is_some()).count();
        if self.command.is_none() && self.client.is_empty() {
            return place("it never ends: add a `command`, or `[[workload.client]]` entries".into());
        }
        if self.command.is_some() && !self.client.is_empty() {
            return place("it has a `command` and clients; turn the command into a client".into());
        }
        let mut names: Vec<&str> = Vec::new();
        let all = self.node.iter().map(|it| &it.name).chain(self.client.iter().map(|it| &it.name));
        for name in all {
            let fine = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
            if name.is_empty() || !name.chars().all(fine) || name.starts_with('.') {
                return place(format!("`{name}`: use only letters, digits, `-`, `_` and `.` in a name"));
            }
            if names.contains(&name.as_str()) {
                return place(format!("two of its nodes and clients have the name `{name}`"));
            }
            names.push(name);
        }
        for node in &self.node {
            let inside = !node.threads.is_empty() || node.mdc.is_some();
            if node.command.is_none() && !inside {
                return place(format!(
                    "node `{}` has no `command`; a node inside another process needs `threads` or `mdc`",
                    node.name
                ));
            }
            if node.command.is_none() && self.command.is_none() && processes == 0 {
                return place(format!(
                    "node `{}` is in another process, and the workload has none",
                    node.name
                ));
            }
        }
        self.check_order().or_else(place)?;
        self.check_template().or_else(place)?;
        if self.command.is_none() && !self.logs.is_empty() {
            return place("its `logs` belong to no process: add `logs` to each node".into());
        }
        let of_nodes = self.node.iter().flat_map(|it| &it.logs);
        let all = self.logs.iter().chain(of_nodes).chain(self.client.iter().flat_map(|it| &it.logs));
        for pattern in all {
            let below = pattern.strip_prefix("{dir}/").unwrap_or_default();
            if below.is_empty() || below.ends_with('/') || below.split('/').any(|it| it == "..") {
                return place(format!(
                    "log `{pattern}`: name files below `{{dir}}`, such as `{{dir}}/logs/*.log`; elsewhere, trials would share them"
                ));
            }
        }
        if let Some(node) = self.node.iter().find(|it| it.command.is_none() && !it.logs.is_empty()) {
            return place(format!(
                "node `{}` has `logs` and no process; move them to the process",
                node.name
            ));
        }
        for node in self.node.iter().filter(|it| it.before.is_some()) {
            if node.command.is_none() {
                return place(format!("node `{}` has `before` and no process", node.name));
            }
            let logs = format!("{}.before", node.name);
            if names.contains(&logs.as_str()) {
                return place(format!("`{logs}` is the name of the logs of `before` of `{}`", node.name));
            }
        }
        for client in &self.client {
            if let Some(node) = &client.node
                && !self.node.iter().any(|it| &it.name == node)
            {
                return place(format!("client `{}` names node `{node}`, which does not exist", client.name));
            }
        }
        let conditions = || self.node.iter().flat_map(|it| it.ready.iter().chain(&it.alive));
        if conditions()
            .any(|it| matches!(it, Condition::Log(text) | Condition::File(text) if text.is_empty()))
        {
            return place(
                "a `ready` or `alive` is empty; give a text that the node prints, or a path".into(),
            );
        }
        let asked = conditions().filter_map(|it| match it {
            Condition::Command(command) => Some(command),
            _ => None,
        });
        let of_nodes = self.node.iter().filter_map(|it| it.command.as_ref());
        let before = self.node.iter().filter_map(|it| it.before.as_ref());
        let commands = self.command.iter().chain(of_nodes).chain(before).chain(asked);
        for command in commands.chain(self.client.iter().map(|it| &it.command)) {
            if let Err(why) = command.words("") {
                return place(why);
            }
        }
        Ok(())
    }
}

impl Workload {
    /// Tests whether every node can be started some time.
    fn check_order(&self) -> Result<(), String> {
        let is_client = |name: &str| self.client.iter().any(|it| it.name == name);
        let started = |name: &str| self.node.iter().any(|it| it.name == name && it.command.is_some());
        for node in &self.node {
            if let Some(other) = node.after.iter().find(|it| !started(it) && !is_client(it)) {
                return Err(format!("node `{}` starts after `{other}`, which is never started", node.name));
            }
        }
        let mut free: Vec<&str> = Vec::new();
        loop {
            let next = self.node.iter().find(|it| {
                !free.contains(&it.name.as_str())
                    && it.after.iter().all(|other| is_client(other) || free.contains(&other.as_str()))
            });
            match next {
                Some(node) => free.push(&node.name),
                None if free.len() == self.node.len() => return Ok(()),
                None => return Err("its nodes wait for each other in a cycle by `after`".to_owned()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_on_a_shell_and_get_one_where_they_need_it() {
        let check = |text: &str, words: &[&str]| {
            assert_eq!(CommandLine(text.into()).words("/t/1").unwrap(), words, "{text}");
        };
        check("java -cp 'a:lib/*' Main", &["java", "-cp", "a:lib/*", "Main"]);
        check("java -Dd={dir}/x Main", &["java", "-Dd=/t/1/x", "Main"]);
        check("a 'b|c' \"d;e\"", &["a", "b|c", "d;e"]);
        check("a | b {dir}", &["sh", "-c", "a | b /t/1"]);
        check("a \"$X\"", &["sh", "-c", "a \"$X\""]);
        check("a '$X'", &["a", "$X"]);
        assert!(CommandLine("a 'b".into()).words("").is_err());
        assert!(CommandLine("  ".into()).words("").is_err());
        let words = ["java".to_owned(), "it's".to_owned(), "a b".to_owned()];
        assert_eq!(CommandLine::of_words(&words).words("").unwrap(), words);
    }

    #[test]
    fn a_workload_that_cannot_be_meant_is_refused_with_a_reason() {
        let command = || Some(CommandLine("java Main".into()));
        let node = |name: &str| Node { name: name.into(), command: command(), ..Node::default() };
        let client = |name: &str| Client {
            name: name.into(),
            phase: 1,
            command: CommandLine("java Client".into()),
            ..Client::default()
        };
        let check = |workload: Workload, expected: &str| {
            let why = workload.check().unwrap_err();
            assert!(why.contains(expected), "{why}");
        };
        let base = || Workload { name: "w".into(), ..Workload::default() };
        check(base(), "it never ends");
        check(Workload { node: vec![node("a")], ..base() }, "it never ends");
        check(
            Workload { command: command(), client: vec![client("c")], ..base() },
            "turn the command into a client",
        );
        check(
            Workload { node: vec![node("a"), node("a")], client: vec![client("c")], ..base() },
            "the name `a`",
        );
        check(Workload { node: vec![node("../a")], client: vec![client("c")], ..base() }, "use only letters");
        let inside = Node { name: "a".into(), ..Node::default() };
        check(Workload { command: command(), node: vec![inside], ..base() }, "`threads` or `mdc`");
        let lost = Client { node: Some("b".into()), ..client("c") };
        check(
            Workload { node: vec![node("a")], client: vec![lost], ..base() },
            "node `b`, which does not exist",
        );
        let after = |name: &str, other: &str| Node { after: vec![other.into()], ..node(name) };
        let in_circle = vec![after("a", "b"), after("b", "a")];
        check(Workload { node: in_circle, client: vec![client("c")], ..base() }, "wait for each other");
        check(Workload { node: vec![after("a", "x")], client: vec![client("c")], ..base() }, "after `x`");
        let ready = Node { ready: Some(Condition::Log(String::new())), ..node("a") };
        check(Workload { node: vec![ready], client: vec![client("c")], ..base() }, "is empty");
        for pattern in ["logs/a.log", "/var/log/a.log", "{dir}", "{dir}/", "{dir}/logs/", "{dir}/../a.log"] {
            let logs = vec![pattern.to_owned()];
            check(Workload { command: command(), logs, ..base() }, "below `{dir}`");
        }
        let logs = vec!["{dir}/a.log".to_owned()];
        check(Workload { logs: logs.clone(), client: vec![client("c")], ..base() }, "belong to no process");
        let inside = Node { name: "a".into(), threads: vec!["a*".into()], logs, ..Node::default() };
        check(Workload { command: command(), node: vec![inside], ..base() }, "no process");
        let before = || Some(CommandLine("format".into()));
        let prepared = Node { before: before(), ..node("a") };
        let lost = Node { command: None, threads: vec!["a*".into()], ..prepared.clone() };
        check(Workload { command: command(), node: vec![lost], ..base() }, "`before` and no process");
        let same = vec![prepared, node("a.before")];
        check(Workload { node: same, client: vec![client("c")], ..base() }, "the logs of `before`");
        let open = Node { before: Some(CommandLine("format 'x".into())), ..node("a") };
        check(Workload { node: vec![open], client: vec![client("c")], ..base() }, "not closed");
        let open = CommandLine("java 'x".into());
        check(Workload { command: Some(open), ..base() }, "not closed");
        assert_eq!(Workload { node: vec![node("a")], client: vec![client("c")], ..base() }.check(), Ok(()));
    }
}
