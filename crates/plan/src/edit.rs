//! Changes of a workload for one trial: edits of its commands and settings, and restarts of its nodes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::needs_shell;
use crate::{CommandLine, Restart, Workload};

/// A change of a workload. `process` names a node or a client; without it, the change is of the workload's own command, or of the
/// environment of all processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Edit {
    /// Replaces a word of a command.
    Word {
        /// The process.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<String>,
        /// Index of the word, from 0.
        at: usize,
        /// The word that must be there.
        from: String,
        /// The word in its place.
        to: String,
    },
    /// Sets a system property of a java command: in the place of the `-D` that it has, or behind `java`.
    Property {
        /// The process.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<String>,
        /// The property.
        name: String,
        /// Its value.
        value: String,
    },
    /// Sets a variable of the environment.
    Variable {
        /// The process.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<String>,
        /// The variable.
        name: String,
        /// Its value.
        value: String,
    },
}

impl Edit {
    fn process(&self) -> Option<&str> {
        let (Edit::Word { process, .. } | Edit::Property { process, .. } | Edit::Variable { process, .. }) =
            self;
        process.as_deref()
    }

    fn apply(&self, workload: &mut Workload) -> Result<(), String> {
        let process = self.process();
        if let Edit::Variable { name, value, .. } = self {
            let variables = workload.environment_of(process)?;
            variables.insert(name.clone(), value.clone());
            return Ok(());
        }
        let command = workload.command_of(process)?;
        let text = &command.0;
        if needs_shell(text) {
            return Err(format!(
                "the command needs a shell, so its words are unknown: `{text}`; put it into a script"
            ));
        }
        let mut words = shlex::split(text).ok_or_else(|| format!("`{text}`: a quote is not closed"))?;
        match self {
            Edit::Word { at, from, to, .. } => match words.get_mut(*at) {
                Some(word) if word == from => word.clone_from(to),
                found => {
                    let found = found.map_or("nothing".to_owned(), |it| format!("`{it}`"));
                    return Err(format!("word {at} of `{text}` is {found}, not `{from}`"));
                }
            },
            Edit::Property { name, value, .. } => set_property(&mut words, name, value).ok_or_else(|| {
                format!("`{text}` does not start with java, so it has no place for property `{name}`")
            })?,
            Edit::Variable { .. } => unreachable!("has no command"),
        }
        *command = CommandLine::of_words(&words);
        Ok(())
    }
}

/// Sets a property in the words of a java command, if they are one.
fn set_property(words: &mut Vec<String>, name: &str, value: &str) -> Option<()> {
    let is_java = words.first().is_some_and(|it| it.rsplit('/').next() == Some("java"));
    if !is_java {
        return None;
    }
    let option = format!("-D{name}={value}");
    let is_set = |it: &String| {
        let rest = it.strip_prefix("-D").and_then(|it| it.strip_prefix(name));
        rest.is_some_and(|it| it.is_empty() || it.starts_with('='))
    };
    let end = options_end(words);
    // Java takes the last of several.
    match words[..end].iter().rposition(is_set) {
        Some(at) => words[at] = option,
        None => words.insert(1, option),
    }
    Some(())
}

/// Options of java whose value is the next word.
const WITH_VALUE: [&str; 13] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-reads",
    "--add-exports",
    "--add-opens",
    "--limit-modules",
    "--patch-module",
    "--source",
];

/// The index at which the options of a java command end: its main class, jar or module.
fn options_end(words: &[String]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !(word.starts_with('-') || word.starts_with('@'))
            || matches!(word.as_str(), "-jar" | "-m" | "--module")
        {
            break;
        }
        at += if WITH_VALUE.contains(&word.as_str()) { 2 } else { 1 };
    }
    at.min(words.len())
}

impl Workload {
    /// The workload with some changes, in order.
    pub fn edited(&self, edits: &[Edit]) -> Result<Workload, String> {
        let mut workload = self.clone();
        for edit in edits {
            edit.apply(&mut workload)
                .map_err(|why| format!("workload `{}` cannot be edited: {why}", self.name))?;
        }
        Ok(workload)
    }

    /// The workload with other rules for restarts of some nodes, by their names.
    pub fn restarted(&self, restarts: &BTreeMap<String, Restart>) -> Result<Workload, String> {
        let mut workload = self.clone();
        for (name, restart) in restarts {
            let node = workload.node.iter_mut().find(|it| it.name == *name && it.command.is_some());
            let node = node.ok_or_else(|| {
                format!("workload `{}` starts no node `{name}`, so it cannot be restarted", self.name)
            })?;
            node.restart = Some(*restart);
        }
        Ok(workload)
    }

    fn command_of(&mut self, process: Option<&str>) -> Result<&mut CommandLine, String> {
        let Some(name) = process else {
            return self
                .command
                .as_mut()
                .ok_or_else(|| "it has no command of its own; name a node or a client".to_owned());
        };
        let nodes = self.node.iter_mut().filter_map(|it| Some((&it.name, it.command.as_mut()?)));
        let clients = self.client.iter_mut().map(|it| (&it.name, &mut it.command));
        let found = nodes.chain(clients).find(|it| it.0 == name);
        found.map(|it| it.1).ok_or_else(|| no_process(name))
    }

    fn environment_of(&mut self, process: Option<&str>) -> Result<&mut BTreeMap<String, String>, String> {
        let Some(name) = process else { return Ok(&mut self.env) };
        let nodes = self.node.iter_mut().filter(|it| it.command.is_some()).map(|it| (&it.name, &mut it.env));
        let clients = self.client.iter_mut().map(|it| (&it.name, &mut it.env));
        let found = nodes.chain(clients).find(|it| it.0 == name);
        found.map(|it| it.1).ok_or_else(|| no_process(name))
    }
}

fn no_process(name: &str) -> String {
    format!("it starts no node or client `{name}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Node, Span};

    fn workload(command: &str) -> Workload {
        Workload { name: "w".into(), command: Some(CommandLine(command.into())), ..Workload::default() }
    }

    fn cluster() -> Workload {
        let command = || CommandLine("java -Dport=1 Node".into());
        Workload {
            name: "c".into(),
            node: vec![
                Node { name: "a".into(), command: Some(command()), ..Node::default() },
                Node { name: "inside".into(), threads: vec!["t*".into()], ..Node::default() },
            ],
            client: vec![Client { name: "user".into(), command: command(), ..Client::default() }],
            ..Workload::default()
        }
    }

    #[test]
    fn words_and_properties_of_a_command_are_replaced_one_by_one() {
        let check = |command: &str, edit: Edit, expected: Result<&[&str], &str>| {
            let edited = workload(command).edited(std::slice::from_ref(&edit));
            match (edited, expected) {
                (Ok(it), Ok(words)) => assert_eq!(it.command.unwrap().words("/t").unwrap(), words),
                (Err(why), Err(part)) => assert!(why.contains(part) && why.contains("`w`"), "{why}"),
                (it, _) => panic!("{edit:?}: {it:?}"),
            }
        };
        let word =
            |at, from: &str, to: &str| Edit::Word { process: None, at, from: from.into(), to: to.into() };
        check("run {dir}/x 5 5", word(3, "5", "6 $7"), Ok(&["run", "/t/x", "5", "6 $7"]));
        check("run 'a b' c", word(1, "a b", "{dir}"), Ok(&["run", "/t", "c"]));
        check("run 5", word(1, "6", "7"), Err("word 1 of `run 5` is `5`, not `6`"));
        check("run 5", word(2, "6", "7"), Err("is nothing"));
        check("run 5 | cat", word(1, "5", "7"), Err("needs a shell"));
        let property = |name: &str, value: &str| Edit::Property {
            process: None,
            name: name.into(),
            value: value.into(),
        };
        check("java -Da=1 -Dab=2 Main", property("a", "9"), Ok(&["java", "-Da=9", "-Dab=2", "Main"]));
        // Of several the last counts, and what stands behind the main class is for the program.
        let java = "/opt/jdk/bin/java -Da=1 -cp -Da=2 -Da=3 Main -Da=4";
        let words = ["/opt/jdk/bin/java", "-Da=1", "-cp", "-Da=2", "-Da=9", "Main", "-Da=4"];
        check(java, property("a", "9"), Ok(&words));
        check("java -jar x.jar -Da=1", property("a", ""), Ok(&["java", "-Da=", "-jar", "x.jar", "-Da=1"]));
        check("java Main", property("x.y", "a b"), Ok(&["java", "-Dx.y=a b", "Main"]));
        check("javaw Main", property("a", "1"), Err("does not start with java"));
    }

    #[test]
    fn processes_are_edited_and_restarted_by_their_names() {
        let process = |name: &str| Some(name.to_owned());
        let port =
            |name: &str| Edit::Property { process: process(name), name: "port".into(), value: "2".into() };
        let variable =
            |it: Option<String>| Edit::Variable { process: it, name: "X".into(), value: "1".into() };
        let edited = cluster().edited(&[port("a"), variable(process("user")), variable(None)]).unwrap();
        assert_eq!(edited.node[0].command.as_ref().unwrap().0, "java '-Dport=2' Node");
        assert_eq!(edited.client[0].command, cluster().client[0].command);
        assert_eq!((edited.client[0].env["X"].as_str(), edited.env["X"].as_str()), ("1", "1"));
        assert!(edited.node[0].env.is_empty());
        let fails = |edit: Edit, expected: &str| {
            let why = cluster().edited(&[edit]).unwrap_err();
            assert!(why.contains(expected), "{why}");
        };
        fails(port("b"), "no node or client `b`");
        fails(port("inside"), "no node or client `inside`");
        fails(variable(process("inside")), "no node or client `inside`");
        fails(Edit::Property { process: None, name: "a".into(), value: String::new() }, "name a node");
        let restart = Restart { times: 2, delay: Span(std::time::Duration::from_millis(5)) };
        let restarted = cluster().restarted(&[("a".to_owned(), restart)].into()).unwrap();
        assert_eq!(restarted.node[0].restart, Some(restart));
        for name in ["inside", "user", "b"] {
            let why = cluster().restarted(&[(name.to_owned(), restart)].into()).unwrap_err();
            assert!(why.contains(&format!("no node `{name}`")), "{why}");
        }
    }

    #[test]
    fn an_edit_is_written_as_it_is_read() {
        let text = r#"{"word":{"at":2,"from":"5","to":"6"}}"#;
        let edit: Edit = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&edit).unwrap(), text);
        assert!(serde_json::from_str::<Edit>(r#"{"word":{"at":2,"from":"5","to":"6","x":1}}"#).is_err());
    }
}
