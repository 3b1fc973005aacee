//! Puts the agent into a command: on the java command where it is in plain sight, through the environment where a
//! build tool or a script starts the JVM.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Orders for the agent.
#[derive(Debug, Clone)]
pub struct AgentOption {
    /// The library.
    pub library: PathBuf,
    /// The instrumentation map.
    pub map: PathBuf,
    /// The trial's file.
    pub trial: PathBuf,
    /// The node, where the process does not say it by `HYPOCENTER_NODE`.
    pub node: String,
}

/// The variable that every JVM reads its options from.
pub(crate) const JAVA_TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

impl AgentOption {
    /// The JVM's option.
    pub fn text(&self) -> String {
        format!(
            "-agentpath:{}=node={},map={},trial={}",
            self.library.display(),
            self.node,
            self.map.display(),
            self.trial.display()
        )
    }
}

/// A command with the agent in it, and the variables to set for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithAgent {
    /// The command.
    pub command: Vec<String>,
    /// The environment.
    pub variables: Vec<(String, OsString)>,
}

/// Adds the agent to a command. `inherited` is the value that `JAVA_TOOL_OPTIONS` has already.
pub(crate) fn with_agent(command: &[String], agent: &AgentOption, inherited: Option<&str>) -> WithAgent {
    let text = agent.text();
    let is_java = |program: &String| Path::new(program).file_name().is_some_and(|name| name == "java");
    if command.first().is_some_and(is_java) {
        let mut command = command.to_vec();
        command.insert(1, text);
        return WithAgent { command, variables: Vec::new() };
    }
    let quoted = quoted(&text);
    let value = match inherited {
        Some(options) if !options.trim().is_empty() => format!("{options} {quoted}"),
        _ => quoted,
    };
    WithAgent { command: command.to_vec(), variables: vec![(JAVA_TOOL_OPTIONS.to_owned(), value.into())] }
}

/// An option as the JVM takes it from `JAVA_TOOL_OPTIONS`, which it splits at white space. Quotes of either kind keep all between
/// them together, anywhere in a word, and nothing else has a meaning; so each kind has to be within the other.
fn quoted(option: &str) -> String {
    if !option.contains(|it: char| it.is_whitespace() || it == '"' || it == '\'') {
        return option.to_owned();
    }
    let parts: Vec<String> = option.split('"').map(|it| format!("\"{it}\"")).collect();
    parts.join("'\"'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_quotes_are_kept_together() {
        assert_eq!(quoted("-agentpath:/a.so=x"), "-agentpath:/a.so=x");
        assert_eq!(quoted("/it's here"), "\"/it's here\"");
        assert_eq!(quoted("/a \"b\""), "\"/a \"'\"'\"b\"'\"'\"\"");
    }

    #[test]
    fn the_agent_goes_where_the_jvm_will_find_it() {
        let agent = AgentOption {
            library: "/a.so".into(),
            map: "/m".into(),
            trial: "/my t".into(),
            node: "n".into(),
        };
        let option = "-agentpath:/a.so=node=n,map=/m,trial=/my t";
        let command = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let plain = with_agent(&command(&["/jdk/bin/java", "-cp", "x", "Main"]), &agent, Some("-Xint"));
        assert_eq!(plain.command, command(&["/jdk/bin/java", option, "-cp", "x", "Main"]));
        assert!(plain.variables.is_empty());
        let forked = with_agent(&command(&["mvn", "test"]), &agent, Some("-Xint"));
        assert_eq!(forked.command, command(&["mvn", "test"]));
        assert_eq!(forked.variables, [(JAVA_TOOL_OPTIONS.to_owned(), format!("-Xint \"{option}\"").into())]);
    }
}
