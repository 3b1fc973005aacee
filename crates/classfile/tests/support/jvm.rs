//! A JDK found on the machine, and classes from it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `$JAVA_HOME/bin/<name>`, or the one on the path.
pub fn tool(name: &str) -> Command {
    match std::env::var_os("JAVA_HOME") {
        Some(home) => Command::new(Path::new(&home).join("bin").join(name)),
        None => Command::new(name),
    }
}

/// Runs a command and returns what it printed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}; these tests need a JDK"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// An empty folder below the target directory, of this name.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Compiles sources of `tests/java` into a folder.
pub fn compile(sources: &[&str], into: &Path) {
    compile_by(tool("javac"), sources, into);
}

/// As [`compile`], by some compiler.
pub fn compile_by(mut javac: Command, sources: &[&str], into: &Path) {
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
    javac.arg("-g").arg("-Xlint:none").arg("-d").arg(into);
    run(javac.args(sources.iter().map(|source| java.join(source))));
}

/// Reads the classes of a folder, by file name.
pub fn classes_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut classes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "class") {
            classes.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    classes.sort();
    classes
}

/// The classes below folders of the JDK's modules, such as `jdk.compiler/com/sun/tools/javac/comp`.
pub fn jdk_classes(name: &str, roots: &[&str]) -> Vec<Vec<u8>> {
    let work = folder(name);
    compile(&["Dump.java"], &work);
    let file = work.join("classes.bin");
    run(tool("java").arg("-cp").arg(&work).arg("Dump").arg(&file).args(roots));
    let bytes = std::fs::read(&file).unwrap();
    let mut rest = &bytes[..];
    let mut classes = Vec::new();
    while !rest.is_empty() {
        let len = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        classes.push(rest[4..4 + len].to_vec());
        rest = &rest[4 + len..];
    }
    assert!(classes.len() > 50, "only {} classes found in {roots:?}", classes.len());
    classes
}
