//! `replay --export`: a folder that shows a trial again where there is no campaign and no project any more.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{Said, default_jdk, spool_classes};
use tempfile::TempDir;

const FAULT: &str = "--throw java.io.IOException --at 5 --workload spool";

/// A project whose classes and script are in its own directory.
struct Project {
    directory: TempDir,
}

fn run(mut command: Command) -> Said {
    for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "HYPOCENTER_NODE"] {
        command.env_remove(name);
    }
    command.env("JAVA_HOME", &default_jdk().home).env("JAVA", default_jdk().java());
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    let output = command.stdin(Stdio::null()).output().expect("the command can be run");
    Said {
        code: output.status.code().expect("it is not ended by a signal"),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Of a script that looks for the tool in its environment.
fn run_with_tool(mut command: Command) -> Said {
    command.env("HYPOCENTER", env!("CARGO_BIN_EXE_hypocenter"));
    run(command)
}

fn temporary() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo's directory can be written")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory can be made");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a file can be copied");
        }
    }
}

impl Project {
    fn new() -> Project {
        let directory = temporary();
        copy(spool_classes(), &directory.path().join("build/classes"));
        let config = "[target]\nclasspath = ['build/classes']\npackages = ['spool']\n\n\
             [[workload]]\nname = 'spool'\ncommand = 'sh bin/spool.sh build/classes {dir}'\ntimeout = '100s'\n\n\
             [failure]\nworkload = 'spool'\noracle = { log = 'message [0-9]+ is lost' }\n";
        let script = "exec \"$JAVA\" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp \"$1\" spool.Main \"$2\"\n";
        fs::write(directory.path().join("hypocenter.toml"), config).expect("a file can be written");
        fs::create_dir(directory.path().join("bin")).expect("a directory can be made");
        fs::write(directory.path().join("bin/spool.sh"), script).expect("a file can be written");
        Project { directory }
    }

    /// One with a trial, as it would be had this command run it.
    fn run_by(command: &str) -> Project {
        let project = Project::new();
        project.injected();
        let path = project.path("hypocenter-out/inject-0001/campaign.json");
        let text = fs::read_to_string(&path).expect("the campaign");
        let text = text.replace("sh bin/spool.sh build/classes {dir}", command);
        assert!(text.contains(command));
        fs::write(path, text).expect("a file can be written");
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn tool(&self, args: &str) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hypocenter"));
        command.args(args.split_whitespace()).current_dir(self.directory.path());
        run(command)
    }

    /// A trial in which the failure happened.
    fn injected(&self) -> Value {
        let said = self.tool(&format!("inject Outbox.append->FileChannel.write {FAULT} --json")).exits(0);
        assert_eq!(said.json()["failure"]["happened"], true, "{:#}", said.json());
        said.json()
    }
}

/// The fault that went in, without what differs from run to run.
fn fault(outcome: &Value) -> Value {
    let it = &outcome["candidates"][0];
    json!([it["site"], it["fault"], it["result"]["end"], it["result"]["occurrence"], it["result"]["thread"]])
}

#[test]
fn the_folder_works_without_the_campaign_and_without_the_project() {
    let project = Project::new();
    let before = project.injected();
    let replayed = project.tool("replay inject-0001/0 --sandbox off --json").exits(0).json();
    let exported = project.tool("replay inject-0001/0 --export kept --json").exits(0).says("replay.sh");
    assert_eq!(exported.json()["copied"], json!(["bin/spool.sh", "build/classes"]), "{:#}", exported.json());
    assert_eq!(exported.json()["all_taken"], false, "{:#}", exported.json());
    assert_eq!(exported.json()["needed"], json!([]), "{:#}", exported.json());
    // Elsewhere, and all else is gone.
    let elsewhere = temporary();
    let folder = elsewhere.path().join("a b's folder");
    fs::rename(project.path("kept"), &folder).expect("the folder can be moved");
    drop(project);
    let script = |args: &[&str]| {
        let mut command = Command::new("sh");
        command.arg(folder.join("replay.sh")).args(args).current_dir("/");
        run_with_tool(command)
    };
    let said = script(&["--sandbox", "off", "--json"]).exits(0);
    let outcome = said.json();
    assert_eq!(outcome["failure"]["happened"], true, "{outcome:#}");
    assert_eq!(fault(&outcome), fault(&before));
    assert_eq!(fault(&outcome), fault(&replayed));
    let readme = fs::read_to_string(folder.join("README.md")).expect("a README");
    for text in
        ["throw java.io.IOException at spool.Outbox.append", "hit 5", "the failure happened", "is lost"]
    {
        assert!(readme.contains(text), "`{text}` is not in it\n{readme}");
    }
    // What is behind the script's name goes to the tool.
    script(&["--sandbox", "off", "--repeat", "2"]).exits(0).says("happened in 2 of 2");
}

#[test]
fn the_jars_that_a_class_path_names_by_a_pattern_go_along() {
    let project = Project::new();
    fs::create_dir_all(project.path("lib/deeper")).expect("a directory can be made");
    for file in ["lib/a.jar", "lib/b.jar", "lib/deeper/c.jar"] {
        fs::write(project.path(file), "").expect("a file can be written");
    }
    // What the configuration says of classes does not say what the command needs beside them.
    let config = fs::read_to_string(project.path("hypocenter.toml")).expect("it was just written");
    let config = config.replace(
        "'sh bin/spool.sh build/classes {dir}'",
        "\"java -cp 'build/classes:lib/*' spool.Main {dir}\"",
    );
    fs::write(project.path("hypocenter.toml"), config).expect("a file can be written");
    project.injected();
    let exported = project.tool("replay inject-0001/0 --export kept --json").exits(0).json();
    assert_eq!(exported["copied"], json!(["build/classes", "lib/a.jar", "lib/b.jar"]), "{exported:#}");
}

#[test]
fn a_command_that_names_no_file_takes_the_directory_along() {
    let project = Project::new();
    let config = fs::read_to_string(project.path("hypocenter.toml")).expect("it was just written");
    // As a build tool does, it finds by itself what it runs.
    let config = config
        .replace("'sh bin/spool.sh build/classes {dir}'", "\"sh -c 'sh bi*/spool.sh bui*/classes {dir}'\"");
    fs::write(project.path("hypocenter.toml"), config).expect("a file can be written");
    fs::create_dir(project.path(".git")).expect("a directory can be made");
    fs::write(project.path("hypocenter.toml.old"), "").expect("a file can be written");
    fs::write(project.path("notes.txt"), "mine").expect("a file can be written");
    project.injected();
    // Results elsewhere, beside what the command needs, and a folder of before.
    let elsewhere = "--workload spool --throw java.io.IOException --at 5 --out build/results";
    project.tool(&format!("inject Outbox.append->FileChannel.write {elsewhere}")).exits(0);
    project.tool("replay inject-0001/0 --export bugs/first").exits(0);
    let said = project.tool("replay inject-0001/0 --export kept --json").exits(0);
    let said = said.says("its whole directory was copied").says("bin, ").says("notes.txt");
    assert_eq!(said.json()["all_taken"], true, "{:#}", said.json());
    let kept = project.path("kept/project");
    for file in ["bin/spool.sh", "build/classes/spool/Main.class", "notes.txt"] {
        assert!(kept.join(file).is_file(), "{file} is not there");
    }
    for left_out in
        [".git", "hypocenter-out", "kept", "hypocenter.toml.old", "build/results", "bugs", "bugs/first"]
    {
        assert!(!kept.join(left_out).exists(), "{left_out} is no part of the project");
    }
    let readme = fs::read_to_string(project.path("kept/README.md")).expect("a README");
    assert!(
        readme.contains("the whole directory of the project") && readme.contains("notes.txt"),
        "{readme}"
    );
    let mut command = Command::new("sh");
    command.arg(project.path("kept/replay.sh")).args(["--sandbox", "off", "--json"]).current_dir("/");
    let said = run_with_tool(command).exits(0);
    assert_eq!(said.json()["failure"]["happened"], true, "{:#}", said.json());
}

#[test]
fn a_build_tool_that_is_needed_too_is_named_with_what_to_run_once() {
    for (command, once, other) in [
        ("mvn -o -q test", "cd 'project' && mvn test", "To test another build, put its classes there"),
        (
            "./gradlew --offline test",
            "cd 'project' && ./gradlew --no-daemon test",
            "To test another build, put its sources, which Gradle compiles, there",
        ),
    ] {
        let project = Project::run_by(command);
        project.tool("replay latest --export kept").exits(0);
        let readme = fs::read_to_string(project.path("kept/README.md")).expect("a README");
        assert!(readme.contains(once) && readme.contains("local repository"), "{readme}");
        assert!(readme.contains(other), "{readme}");
    }
}

#[test]
fn with_maven_the_classes_run_that_are_in_the_folder_and_a_repository_keeps_them() {
    let project = Project::run_by("mvn -o -q test");
    let write = |name: &str, text: &str| {
        let path = project.path(name);
        fs::create_dir_all(path.parent().expect("it is below")).expect("a directory can be made");
        fs::write(path, text).expect("a file can be written");
    };
    write(".gitignore", "build/\n*.class\n");
    write("src/main/java/spool/Main.java", "class Main {}");
    write("src/main/java/spool/words.txt", "words");
    write("src/test/resources/data.txt", "data");
    write("more/Tool.kt", "fun main() {}");
    write("build/maven-status/inputFiles.lst", "Main.java");
    write("build/.gitignore", "*");
    project.tool("replay latest --export ci/kept").exits(0);
    let kept = project.path("ci/kept/project");
    for there in ["build/classes/spool/Main.class", "src/test/resources/data.txt"] {
        assert!(kept.join(there).is_file(), "{there} is not there");
    }
    for gone in ["src/main/java", "more/Tool.kt", "build/maven-status", ".gitignore", "build/.gitignore"] {
        assert!(!kept.join(gone).exists(), "{gone} went along");
    }
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(words).current_dir(project.directory.path());
        run(command).exits(0)
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    let kept = git(&["ls-files"]).stdout;
    assert!(kept.contains("ci/kept/project/build/classes/spool/Main.class"), "{kept}");
    assert!(!kept.contains("\nbuild/"), "the project's own are left out as before: {kept}");
}

#[test]
fn without_the_tool_the_script_says_where_it_looks_for_it() {
    let project = Project::new();
    project.injected();
    project.tool("replay latest --export kept").exits(0);
    let mut command = Command::new("sh");
    command.arg(project.path("kept/replay.sh")).env("HYPOCENTER", "/nowhere/hypocenter");
    run(command).exits(1).says("/nowhere/hypocenter").says("PATH");
}

#[test]
fn nothing_is_written_over() {
    let project = Project::new();
    project.injected();
    fs::create_dir(project.path("full")).expect("a directory can be made");
    fs::write(project.path("full/replay.sh"), "mine").expect("a file can be written");
    project
        .tool("replay latest --export full")
        .exits(1)
        .says("full: the directory is not empty")
        .says("new or empty");
    assert_eq!(fs::read_to_string(project.path("full/replay.sh")).expect("the file"), "mine");
    assert_eq!(fs::read_dir(project.path("full")).expect("the directory").count(), 1);
    fs::write(project.path("file"), "").expect("a file can be written");
    project.tool("replay latest --export file").exits(1).says("--export");
    // An empty one will do.
    fs::create_dir(project.path("empty")).expect("a directory can be made");
    project.tool("replay latest --export empty").exits(0);
    project.tool("replay nothing --export other").exits(1).says("nothing");
    assert!(!project.path("other").exists());
    project.tool("replay latest/7 --export other").exits(1).says("plan");
    assert!(!project.path("other").exists());
}
