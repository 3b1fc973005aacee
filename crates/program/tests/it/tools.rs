//! The JDK's tools. It is found by `JAVA_HOME`, or by `java` on the `PATH`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub fn java_home() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        return home.into();
    }
    let path = std::env::var_os("PATH").expect("a PATH");
    let java = std::env::split_paths(&path).map(|it| it.join("java")).find(|it| it.is_file());
    let java = java.expect("these tests need a JDK: set JAVA_HOME, or put java on the PATH");
    let java = java.canonicalize().expect("java exists");
    java.ancestors().nth(2).expect("java is in the bin directory of its JDK").to_owned()
}

pub fn tool(name: &str, args: &[&str], directory: &Path) {
    let output = Command::new(java_home().join("bin").join(name)).args(args).current_dir(directory).output();
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(output.status.success(), "{name} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An empty directory for a test.
pub fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// The fixtures of `tests/java`, compiled once.
pub fn fixtures() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let directory = directory("fixtures");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
        let out = directory.display().to_string();
        tool(
            "javac",
            &[
                "-g",
                "-d",
                &out,
                "Loops.java",
                "Calls.java",
                "Drive.java",
                "Values.java",
                "Branches.java",
                "Constants.java",
            ],
            &sources,
        );
        directory
    })
}

/// Compiles one class `name` whose method `f` returns `value` into `directory`.
pub fn compile_constant(name: &str, value: i32, directory: &Path) {
    std::fs::create_dir_all(directory).unwrap();
    let source = directory.join(format!("{name}.java"));
    std::fs::write(&source, format!("public class {name} {{ public static int f() {{ return {value}; }} }}"))
        .unwrap();
    // `jar` of newer JDKs refuses classes that are newer than the release they are for.
    tool("javac", &["--release", "8", "-Xlint:-options", source.to_str().unwrap()], directory);
    std::fs::remove_file(source).unwrap();
}
