//! Cases of small Java programs that are compiled here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use hypocenter_logs::Log;
use hypocenter_program::{ClassPath, Program, Scope, StateOptions};
use hypocenter_reproduce::{Case, exceptions_in};

fn java_home() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        return home.into();
    }
    let path = std::env::var_os("PATH").expect("a PATH");
    let java = std::env::split_paths(&path).map(|it| it.join("java")).find(|it| it.is_file());
    let java = java.expect("these tests need a JDK: set JAVA_HOME, or put java on the PATH");
    java.canonicalize().expect("java exists").ancestors().nth(2).expect("it is in bin").to_owned()
}

/// The class of a package, which has one, and the log of its failure; the oracle looks for a text.
pub fn case_of(package: &str, class: &str, failure: &str, oracle: &str) -> Case {
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join(package);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/java/{package}/{class}.java"));
    // Once, so that no test reads what another is writing.
    static COMPILED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if compiled.insert(package.to_owned()) {
        let mut javac = Command::new(java_home().join("bin/javac"));
        assert!(javac.arg("-g").arg("-d").arg(&classes).arg(source).status().expect("javac runs").success());
    }
    drop(compiled);
    let class_path = ClassPath::from_entries(&[".".to_owned()], &classes).with_jdk(&java_home());
    let failure = vec![("n".to_owned(), Log::read(failure.as_bytes()).expect("a log"))];
    let scope = Scope::of(&[package.to_owned()]).knowing(exceptions_in(&failure));
    let program = Program::of(&class_path.open(17), &scope, &StateOptions::default(), |_| {});
    let oracle = oracle.to_owned();
    Case::new(program, failure, move |it| it.contains(&oracle))
}
