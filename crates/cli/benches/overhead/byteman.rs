//! Byteman, the fault injector that people know: the same observation, as a rule.

use std::fs;
use std::path::{Path, PathBuf};

/// Instructions to get it.
pub const FETCH: &str = "mvn -q -f eval/byteman/pom.xml dependency:copy-dependencies";

/// Its agent, if it was fetched.
pub fn jar(root: &Path) -> Option<PathBuf> {
    let mut files = fs::read_dir(root.join("eval/work/byteman/lib")).ok()?.flatten().map(|it| it.path());
    files.find(|it| it.extension().is_some_and(|it| it == "jar"))
}

/// A rule before a call, or at the start of a method if `callee` is none.
pub fn rule(class: &str, method: &str, callee: Option<&str>, condition: &str, action: &str) -> String {
    let at = callee.map_or("AT ENTRY".to_owned(), |callee| format!("AT INVOKE {callee}"));
    let name = format!("{class}.{method} {at}");
    format!("RULE {name}\nCLASS {class}\nMETHOD {method}\n{at}\nIF {condition}\nDO {action}\nENDRULE\n")
}

/// The rule's condition for "the n-th time", with a counter of the rule's own.
pub fn at(counter: &str, n: u64) -> String {
    format!("incrementCounter(\"{counter}\") == {n}")
}

/// The flags of a JVM with these rules, compiled to bytecode, which is Byteman's fast way.
pub fn flags(jar: &Path, script: &Path) -> Vec<String> {
    vec![
        "-Dorg.jboss.byteman.compile.to.bytecode".to_owned(),
        format!("-javaagent:{}=script:{}", jar.display(), script.display()),
    ]
}

/// As above, for classes whose loader does not see the class path.
pub fn flags_for_all_loaders(jar: &Path, script: &Path) -> Vec<String> {
    let mut flags = flags(jar, script);
    if let Some(agent) = flags.last_mut() {
        *agent += &format!(",boot:{}", jar.display());
    }
    flags
}
