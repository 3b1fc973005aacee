//! The Java programs of the benchmark, compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Bench, run};

/// The oldest version that all JDKs in question can run and compile for.
const RELEASE: &str = "11";

/// Compiles sources into a directory of their own.
pub fn compile(bench: &Bench, name: &str, class_path: &str, sources: &[PathBuf]) -> PathBuf {
    let classes = bench.fresh(name);
    compile_into(bench, &classes, class_path, sources);
    classes
}

/// Compiles sources into this directory.
pub fn compile_into(bench: &Bench, classes: &Path, class_path: &str, sources: &[PathBuf]) {
    let mut javac = Command::new(bench.jdks[0].home.join("bin/javac"));
    // Names of local variables, because Byteman's rules may use them and a test build has them.
    javac.args(["-g", "-nowarn", "--release", RELEASE, "-cp", class_path, "-d"]).arg(classes).args(sources);
    run(javac).unwrap_or_else(|| panic!("{sources:?} do not compile"));
}

/// The loops of rows 1 and 2, once bare and once under the name that is hooked, and their driver.
pub fn loops(bench: &Bench) -> PathBuf {
    let java = java_sources(bench);
    let text = fs::read_to_string(java.join("Loop.java")).expect("Loop.java");
    let sources = bench.fresh("sources");
    let place = |package: &str| {
        let directory = sources.join(package);
        fs::create_dir_all(&directory).expect("a directory for a source");
        let file = directory.join("Loop.java");
        let text = text.replacen("package bare;", &format!("package {package};"), 1);
        fs::write(&file, text).expect("a source can be written");
        file
    };
    compile(bench, "loops", "", &[place("bare"), place("hooked"), java.join("Micro.java")])
}

/// Directory of the Java sources.
pub fn java_sources(bench: &Bench) -> PathBuf {
    bench.root.join("crates/cli/benches/java")
}

/// The jars of a directory, sorted.
pub fn jars(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path());
    let mut jars: Vec<PathBuf> = entries.filter(|it| it.extension().is_some_and(|it| it == "jar")).collect();
    jars.sort();
    jars
}
