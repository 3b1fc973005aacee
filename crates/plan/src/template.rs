//! Workloads that are templates over tests: `{test.class}`, `{test.method}` and `{test.id}` stand for a test in their commands.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{CommandLine, Workload};

/// The name of a test, as `CLASS#METHOD`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TestName {
    /// The class, as `package.Outer$Inner`.
    pub class: String,
    /// The method.
    pub method: String,
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.class, self.method)
    }
}

impl FromStr for TestName {
    type Err = String;

    fn from_str(text: &str) -> Result<TestName, String> {
        match text.split_once('#') {
            Some((class, method)) if !class.is_empty() && !method.is_empty() && !method.contains('#') => {
                Ok(TestName { class: class.to_owned(), method: method.to_owned() })
            }
            _ => Err(format!("`{text}` is not a test; write CLASS#METHOD, as in org.acme.StoreTest#flushes")),
        }
    }
}

const CLASS: &str = "{test.class}";
const METHOD: &str = "{test.method}";
const ID: &str = "{test.id}";

impl Workload {
    /// Returns true if a command has a placeholder for a test.
    pub fn is_template(&self) -> bool {
        self.commands().any(|it| [CLASS, METHOD, ID].iter().any(|name| it.0.contains(name)))
    }

    /// The workload for one test, of which its name speaks too.
    pub fn for_test(&self, test: &TestName) -> Workload {
        let mut workload = self.clone();
        workload.name = format!("{}@{test}", self.name);
        let put = [(CLASS, test.class.clone()), (METHOD, test.method.clone()), (ID, test.to_string())];
        for command in workload.commands_mut() {
            *command = CommandLine(fill(&command.0, &put));
        }
        workload
    }

    /// Refuses what looks like a part of a test and is none.
    pub(crate) fn check_template(&self) -> Result<(), String> {
        for command in self.commands() {
            for (at, _) in command.0.match_indices("{test.") {
                let rest = &command.0[at..];
                if ![CLASS, METHOD, ID].iter().any(|it| rest.starts_with(it)) {
                    let word = rest.split_inclusive('}').next().unwrap_or(rest);
                    return Err(format!("unknown placeholder `{word}`; use {CLASS}, {METHOD} or {ID}"));
                }
            }
        }
        Ok(())
    }

    /// All commands of the workload that start processes of a trial.
    fn commands(&self) -> impl Iterator<Item = &CommandLine> {
        let of_nodes = self.node.iter().flat_map(|it| it.before.iter().chain(&it.command));
        self.command.iter().chain(of_nodes).chain(self.client.iter().map(|it| &it.command))
    }

    fn commands_mut(&mut self) -> impl Iterator<Item = &mut CommandLine> {
        let of_nodes = self.node.iter_mut().flat_map(|it| it.before.iter_mut().chain(&mut it.command));
        self.command.iter_mut().chain(of_nodes).chain(self.client.iter_mut().map(|it| &mut it.command))
    }
}

/// Puts values in the place of names, quoted as the place needs it: the name of a nested class has a `$`.
fn fill(text: &str, values: &[(&str, String)]) -> String {
    let (mut single, mut double, mut escaped) = (false, false, false);
    let mut filled = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some((name, value)) = values.iter().find(|it| rest.starts_with(it.0)) {
            if double {
                let special = |it: char| matches!(it, '$' | '`' | '"' | '\\');
                let quoted = |it: char| if special(it) { vec!['\\', it] } else { vec![it] };
                filled.extend(value.chars().flat_map(quoted));
            } else if single {
                filled += &value.replace('\'', "'\\''");
            } else {
                filled += &format!("'{}'", value.replace('\'', "'\\''"));
            }
            rest = &rest[name.len()..];
            continue;
        }
        match next {
            _ if escaped => escaped = false,
            '\\' if !single => escaped = true,
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            _ => {}
        }
        filled.push(next);
        rest = &rest[next.len_utf8()..];
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Node};

    fn workload(command: &str) -> Workload {
        Workload { name: "unit".into(), command: Some(CommandLine(command.into())), ..Workload::default() }
    }

    #[test]
    fn a_test_is_put_into_a_command_whatever_quotes_are_around() {
        let test: TestName = "org.acme.StoreTest$Full#it_flushes".parse().unwrap();
        let check = |command: &str, words: &[&str]| {
            let workload = workload(command);
            assert!(workload.is_template(), "{command}");
            assert_eq!(workload.check(), Ok(()), "{command}");
            let filled = workload.for_test(&test);
            assert_eq!(filled.name, "unit@org.acme.StoreTest$Full#it_flushes");
            assert!(!filled.is_template());
            assert_eq!(filled.command.unwrap().words("/t").unwrap(), words, "{command}");
        };
        let (class, id) = ("org.acme.StoreTest$Full", "org.acme.StoreTest$Full#it_flushes");
        check("java Runner {test.class} {test.method}", &["java", "Runner", class, "it_flushes"]);
        check("mvn -Dtest={test.id} {dir}", &["mvn", &format!("-Dtest={id}"), "/t"]);
        check("mvn \"-Dtest={test.id}\"", &["mvn", &format!("-Dtest={id}")]);
        check("mvn '-Dtest={test.id}'", &["mvn", &format!("-Dtest={id}")]);
        // A shell reads the text again, and sees the same.
        check("a && b {test.class}", &["sh", "-c", &format!("a && b '{class}'")]);
        check("a && b \"-D={test.class}\"", &["sh", "-c", "a && b \"-D=org.acme.StoreTest\\$Full\""]);
        check("a && b '{test.class}'", &["sh", "-c", &format!("a && b '{class}'")]);
    }

    #[test]
    fn nodes_and_clients_take_part_and_what_is_no_part_of_a_test_is_refused() {
        let test: TestName = "A#b".parse().unwrap();
        let template = Workload {
            name: "c".into(),
            node: vec![Node {
                name: "n".into(),
                command: Some(CommandLine("java Node".into())),
                before: Some(CommandLine("format {test.method}".into())),
                ..Node::default()
            }],
            client: vec![Client {
                name: "u".into(),
                command: CommandLine("run {test.id}".into()),
                ..Client::default()
            }],
            ..Workload::default()
        };
        let filled = template.for_test(&test);
        assert_eq!(filled.node[0].before.as_ref().unwrap().words("").unwrap(), ["format", "b"]);
        assert_eq!(filled.client[0].command.words("").unwrap(), ["run", "A#b"]);
        assert!(!workload("java Main {test}").is_template());
        let why = workload("java Main {test.name} x").check().unwrap_err();
        assert!(why.contains("`{test.name}`") && why.contains("{test.method}"), "{why}");
        for text in ["A", "#b", "A#", "A#b#c", ""] {
            assert!(text.parse::<TestName>().is_err(), "{text}");
        }
    }
}
