//! `hypocenter init` on real little projects: what it finds, what it says, and that the tool itself takes what it wrote.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use hypocenter_plan::{Oracle, Workload};
use support::{Done, Tool, classes, default_jdk};

/// A class in some language.
fn class(package: &str, name: &str) -> String {
    format!(
        "package {package};\n\npublic class {name} {{\n    public static void main(String[] args) {{}}\n}}\n"
    )
}

fn test_class(package: &str, name: &str) -> String {
    format!(
        "package {package};\n\nimport org.junit.jupiter.api.Test;\n\nclass {name} {{ @Test void works() {{}} }}\n"
    )
}

const POM: &str = r#"<?xml version="1.0"?>
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>org.acme</groupId><artifactId>a</artifactId><version>1</version></project>"#;

/// The tool in a directory with these files.
fn init(files: &[(&str, &str)]) -> Tool {
    let tool = Tool::new("init");
    put(tool.directory(), files);
    tool
}

fn put(directory: &Path, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// Written data, read back.
struct Written {
    text: String,
    class_path: Vec<String>,
    packages: Vec<String>,
    workloads: Vec<(String, String)>,
    /// The commands of workloads that are switched off.
    off: Vec<String>,
}

fn written(done: &Done) -> Written {
    let text = fs::read_to_string(done.directory().join("hypocenter.toml")).unwrap();
    let value: toml::Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let texts = |key: &str| {
        let list = value["target"][key].as_array().unwrap();
        list.iter().map(|it| it.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let workloads = value.get("workload").and_then(|it| it.as_array()).cloned().unwrap_or_default();
    let workloads = workloads.into_iter().map(|it| {
        let workload: Workload = it.try_into().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(workload.check(), Ok(()), "{text}");
        (workload.name, workload.command.unwrap().0)
    });
    let (class_path, packages, workloads) = (texts("classpath"), texts("packages"), workloads.collect());
    let off = text.lines().filter_map(|it| it.strip_prefix("#command = ")).map(str::to_owned).collect();
    switched_on(&text);
    Written { text, class_path, packages, workloads, off }
}

/// Taking away every `#` that switches a setting off leaves a file that can be read, too.
fn switched_on(text: &str) {
    let on = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') => rest.to_owned(),
        _ => line.to_owned(),
    };
    let text = text.lines().map(on).collect::<Vec<_>>().join("\n");
    let value: toml::Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for workload in value["workload"].as_array().unwrap() {
        let workload: Workload =
            workload.clone().try_into().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(workload.check(), Ok(()), "{text}");
    }
    value["failure"]["oracle"].clone().try_into::<Oracle>().unwrap_or_else(|error| panic!("{error}\n{text}"));
}

fn pair(name: &str, command: &str) -> (String, String) {
    (name.to_owned(), command.to_owned())
}

#[test]
fn a_maven_project_gives_classes_packages_and_tests() {
    let done = init(&[
        ("pom.xml", POM),
        ("src/main/java/org/acme/store/Store.java", &class("org.acme.store", "Store")),
        ("src/main/java/org/acme/store/disk/Disk.java", &class("org.acme.store.disk", "Disk")),
        ("src/test/java/org/acme/store/StoreTest.java", &test_class("org.acme.store", "StoreTest")),
        ("src/test/java/org/acme/store/DiskTest.java", &test_class("org.acme.store", "DiskTest")),
        ("src/test/java/org/acme/store/ClusterIT.java", &test_class("org.acme.store", "ClusterIT")),
        (
            "src/test/java/org/acme/store/TestHelper.java",
            "package org.acme.store;\nfinal class TestHelper {}\n",
        ),
    ])
    .end()
    .exits(0)
    .says("found     a Maven project\n")
    .says("packages  org.acme.store\n")
    .says("workloads tests: mvn -o -q test\n")
    .says("note      class path: 2 of 2 entries not found: compile the project first\n")
    .says("  faster    for tests that start faster, without Maven (`hypocenter guide start`):\n")
    .says("            mvn -q dependency:copy-dependencies\n            hypocenter init --force\n")
    .says("next      mvn test\n            hypocenter run DiskTest\n");
    assert_eq!(done.stdout, "");
    let written = written(&done);
    assert_eq!(written.class_path, ["target/classes", "target/test-classes"]);
    assert_eq!(written.packages, ["org.acme.store"]);
    assert_eq!(
        written.workloads,
        [pair("tests", "mvn -o -q test"), pair("DiskTest", "mvn -o -q -Dtest=DiskTest test")]
    );
    assert!(written.off[0].contains("-Dtest=StoreTest"), "{:?}", written.off);
    assert!(written.off[1].contains("-Dtest=ClusterIT"), "{:?}", written.off);
    assert!(!written.text.contains("TestHelper"));
    assert!(written.text.contains("# Maven runs offline (-o)"), "{}", written.text);
    assert!(written.text.contains("\n#workload = \"DiskTest\"\n"), "{}", written.text);
}

#[test]
fn what_was_done_already_is_not_asked_for_and_what_makes_it_faster_can_be_pasted() {
    let junit = "<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>\
        <version>5.10.2</version><scope>test</scope></dependency></dependencies></project>";
    let pom = POM.replace("</project>", junit);
    let tool = init(&[
        ("pom.xml", &pom),
        ("src/main/java/org/acme/Store.java", &class("org.acme", "Store")),
        ("src/test/java/org/acme/StoreTest.java", &test_class("org.acme", "StoreTest")),
        ("target/surefire-reports/TEST-org.acme.StoreTest.xml", "<testsuite/>"),
    ]);
    tool.end().exits(0).says("\n  next      hypocenter run StoreTest\n").says(
        "            mvn -q dependency:copy \
         -Dartifact=org.junit.platform:junit-platform-console-standalone:1.10.2 -DoutputDirectory=target/dependency\n",
    );
}

#[test]
fn a_maven_project_with_modules_is_read_through_its_parent() {
    let parent = POM.replace(
        "</project>",
        "<packaging>pom</packaging><modules><module>core</module><module>server/pom.xml</module>\
         <module>gone</module><module>core</module></modules></project>",
    );
    let done = init(&[
        ("pom.xml", &parent),
        ("mvnw", "#!/bin/sh\n"),
        ("core/pom.xml", POM),
        ("core/src/main/java/org/acme/core/Core.java", &class("org.acme.core", "Core")),
        ("core/src/test/java/org/acme/core/CoreTest.java", &test_class("org.acme.core", "CoreTest")),
        ("server/pom.xml", &POM.replace("</project>", "<modules><module>api</module></modules></project>")),
        ("server/src/main/java/org/acme/server/Server.java", &class("org.acme.server", "Server")),
        ("server/api/pom.xml", POM),
        ("server/api/src/main/java/org/acme/server/api/Api.java", &class("org.acme.server.api", "Api")),
    ])
    .end()
    .exits(0)
    .says("found     a Maven project, 3 modules with classes\n")
    .says("note      pom.xml: module `gone` has no pom.xml and was left out\n");
    let written = written(&done);
    assert_eq!(
        written.class_path,
        [
            "core/target/classes",
            "core/target/test-classes",
            "server/target/classes",
            "server/api/target/classes"
        ]
    );
    assert_eq!(written.packages, ["org.acme.core", "org.acme.server"]);
    // The wrapper is not executable, as after an unpacked zip.
    let one = "sh mvnw -o -q -pl core -am -Dsurefire.failIfNoSpecifiedTests=false -Dtest=CoreTest test";
    assert_eq!(written.workloads, [pair("tests", "sh mvnw -o -q test"), pair("CoreTest", one)]);
    assert!(written.text.contains("reports = \"core/target/surefire-reports/*.xml\""), "{}", written.text);
}

#[test]
fn a_broken_pom_is_said_and_the_rest_is_written() {
    let done = init(&[
        ("pom.xml", "<project><modules><module>core</module>"),
        ("src/main/java/org/acme/Main.java", &class("org.acme", "Main")),
        ("core/pom.xml", "this is no XML"),
        ("core/src/main/java/org/acme/core/Core.java", &class("org.acme.core", "Core")),
    ])
    .end()
    .exits(0)
    .says("note      pom.xml: is not well-formed XML")
    .says("note      core/pom.xml: is not well-formed XML")
    .says("the default directories of Maven are used\n")
    .says("note      tests: no tests were found")
    .says("next      fill in hypocenter.toml");
    let written = written(&done);
    assert_eq!(written.class_path, ["target/classes", "core/target/classes"]);
    assert_eq!(written.packages, ["org.acme"]);
    assert_eq!(written.workloads, []);
}

#[test]
fn a_gradle_project_runs_its_tests_again_each_time() {
    let done = init(&[
        ("build.gradle", "plugins { id 'java' }\n"),
        ("gradlew", "#!/bin/sh\n"),
        ("src/main/java/org/acme/Main.java", &class("org.acme", "Main")),
        ("src/test/java/org/acme/MainTest.java", &test_class("org.acme", "MainTest")),
    ]);
    let chmod = Command::new("chmod").arg("+x").arg(done.directory().join("gradlew")).status();
    assert!(chmod.unwrap().success());
    let done = done
        .end()
        .exits(0)
        .says("found     a Gradle project\n")
        .says("faster    for tests that start faster, without Gradle")
        .says("\n            ./gradlew --no-daemon -q -I dependency.gradle copyDependencies\n")
        .says("next      ./gradlew --no-daemon test\n            hypocenter run MainTest\n");
    let written = written(&done);
    assert_eq!(written.class_path, ["build/classes/java/main", "build/classes/java/test"]);
    assert_eq!(written.packages, ["org.acme"]);
    let alone = "./gradlew --no-daemon --offline --no-build-cache -q cleanTest test";
    assert_eq!(
        written.workloads,
        [pair("tests", alone), pair("MainTest", &format!("{alone} --tests org.acme.MainTest"))]
    );
    assert!(written.text.contains("reports = \"build/test-results/test/*.xml\""), "{}", written.text);
}

#[test]
fn a_gradle_project_in_kotlin_has_directories_for_each_language() {
    let kotlin_test = "package org.acme.app\n\nimport org.junit.jupiter.api.Test\n\nclass AppTest {\n    @Test fun works() {}\n}\n";
    let done = init(&[
        (
            "settings.gradle.kts",
            "rootProject.name = \"x\"\ninclude(\":app\", \":net:http\")\n// include(\"no\")\n",
        ),
        ("app/build.gradle.kts", ""),
        // Kotlin's directories leave out what all packages share.
        ("app/src/main/kotlin/App.kt", "package org.acme.app\n\nfun main() {}\n"),
        ("app/src/main/java/org/acme/app/Old.java", &class("org.acme.app", "Old")),
        ("app/src/test/kotlin/AppTest.kt", kotlin_test),
        ("net/http/src/main/java/org/acme/app/net/Http.java", &class("org.acme.app.net", "Http")),
    ])
    .end()
    .exits(0)
    .says("found     a Gradle project, 2 subprojects with classes\n")
    .says("next      gradle --no-daemon test\n");
    let written = written(&done);
    assert_eq!(
        written.class_path,
        [
            "app/build/classes/java/main",
            "app/build/classes/kotlin/main",
            "app/build/classes/kotlin/test",
            "net/http/build/classes/java/main"
        ]
    );
    assert_eq!(written.packages, ["org.acme.app"]);
    let one = "gradle --no-daemon --offline --no-build-cache -q :app:cleanTest :app:test --tests org.acme.app.AppTest";
    assert_eq!(written.workloads[1], pair("AppTest", one));
}

#[test]
fn jars_and_class_directories_are_proposed_and_the_tool_can_run_on_them() {
    let tool = init(&[]);
    let directory = tool.directory().to_owned();
    copy(&classes().join("probe"), &directory.join("classes/probe"));
    fs::create_dir(directory.join("lib")).unwrap();
    let jar = Command::new(default_jdk().home.join("bin/jar"))
        .args(["--create", "--file"])
        .arg(directory.join("lib/shapes.jar"))
        .arg("-C")
        .arg(classes())
        .arg("shapes")
        .output()
        .unwrap();
    assert!(jar.status.success(), "{}", String::from_utf8_lossy(&jar.stderr));
    fs::write(directory.join("broken.jar"), "no jar").unwrap();
    let done =
        tool.end().exits(0).says("found     1 directory of classes and 2 jars\n").says("packages  probe\n");
    let done = done.says("note      broken.jar: the jar is not a readable jar");
    let written = written(&done);
    assert_eq!(written.class_path, ["classes", "broken.jar", "lib/*.jar"]);
    assert_eq!(written.packages, ["probe"]);
    let (name, command) = &written.workloads[0];
    assert!(command.starts_with("java -cp 'classes:broken.jar:lib/*' probe."), "{name}: {command}");
    // The tool takes class path and packages from the file: the command shows neither.
    let java = default_jdk().java();
    let script = format!("'{java}' -cp classes probe.Guards many 2");
    let run = Tool::new("run").args("--hook entry --json --config").arg(directory.join("hypocenter.toml"));
    let inside = format!("cd '{}' && {script}", directory.display());
    let run = run.command(&["sh", "-c", &inside]).exits(0);
    assert_eq!(run.outcome()["jvms"].as_array().unwrap().len(), 1);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}

#[test]
fn junit_on_a_ready_class_path_is_used_without_a_build_tool() {
    // Small classes of the right names stand for JUnit: what is looked at are names.
    let stand_in = |tool: &Tool, class: &str, jar: &str| {
        let (package, name) = class.rsplit_once('.').unwrap();
        let work = tool.directory().join("work");
        put(&work, &[("X.java", &format!("package {package}; class {name} {{}}"))]);
        let jdk = &default_jdk().home;
        let run = |program: &str, args: &[&str]| {
            let output =
                Command::new(jdk.join("bin").join(program)).current_dir(&work).args(args).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run("javac", &["-d", "classes", "X.java"]);
        let jar = tool.directory().join(jar);
        fs::create_dir_all(jar.parent().unwrap()).unwrap();
        run("jar", &["--create", "--file", jar.to_str().unwrap(), "-C", "classes", "."]);
        fs::remove_dir_all(&work).unwrap();
    };
    let of_maven = || {
        let tool = init(&[
            ("pom.xml", POM),
            ("src/main/java/org/acme/Main.java", &class("org.acme", "Main")),
            ("src/test/java/org/acme/MainTest.java", &test_class("org.acme", "MainTest")),
        ]);
        stand_in(&tool, "org.junit.runner.JUnitCore", "target/dependency/junit-4.13.jar");
        tool
    };
    let done = of_maven().end().exits(0);
    let maven = written(&done);
    assert_eq!(maven.class_path, ["target/classes", "target/test-classes", "target/dependency/*.jar"]);
    let done = done.says("\n            hypocenter run MainTest-direct\n");
    assert!(!done.stderr.contains("faster"), "{}", done.stderr);
    let direct = "java -cp 'target/test-classes:target/classes:target/dependency/*' org.junit.runner.JUnitCore org.acme.MainTest";
    assert_eq!(maven.workloads[2], pair("MainTest-direct", direct));
    // A search runs it hundreds of times, and Surefire's reports are not written without Maven.
    for line in ["\n#workload = \"MainTest-direct\"\n", "\n#oracle = { exit = \"failed\" }\n"] {
        assert!(maven.text.contains(line), "{}", maven.text);
    }

    // Whoever has named the slower one before is told.
    let tool = of_maven().arg("--force");
    put(tool.directory(), &[("hypocenter.toml", "[failure]\nworkload = 'MainTest'\n")]);
    tool.end()
        .exits(0)
        .says("`MainTest-direct` runs the same tests as `MainTest` of [failure] without the build tool\n");
    // What reads Maven's reports does not go with it.
    let tool = of_maven().arg("--force");
    let reads = "[failure]\nworkload = 'MainTest'\noracle = { all = [{ junit = 'MainTest', reports = 'target/r/*.xml' }] }\n";
    put(tool.directory(), &[("hypocenter.toml", reads)]);
    tool.end().exits(0).says(
        "without the build tool; it writes no reports, so remove `reports` from the oracle if you use it\n",
    );

    // Gradle keeps resources apart.
    let tool = init(&[
        ("build.gradle", "plugins { id 'java' }\n"),
        ("src/main/java/org/acme/Main.java", &class("org.acme", "Main")),
        ("src/test/java/org/acme/MainTest.java", &test_class("org.acme", "MainTest")),
        ("src/test/resources/logback-test.xml", "<configuration/>"),
    ]);
    stand_in(&tool, "org.junit.runner.JUnitCore", "build/dependency/junit-4.13.jar");
    let gradle = written(&tool.end().exits(0).says("\n            hypocenter run MainTest-direct\n"));
    let direct = "java -cp 'build/classes/java/test:build/classes/java/main:build/resources/test:build/dependency/*' \
                  org.junit.runner.JUnitCore org.acme.MainTest";
    assert_eq!(gradle.workloads[2], pair("MainTest-direct", direct));

    let tool = init(&[]);
    stand_in(&tool, "org.junit.platform.console.ConsoleLauncher", "lib/console.jar");
    stand_in(&tool, "org.acme.MainTest", "app.jar");
    let done = tool.end().exits(0);
    let console = "java -cp 'app.jar:lib/*' org.junit.platform.console.ConsoleLauncher --select-class org.acme.MainTest";
    assert_eq!(written(&done).workloads, [pair("MainTest", console)]);
}

#[test]
fn an_empty_directory_gets_a_template() {
    let done = init(&[])
        .end()
        .exits(0)
        .says("found     nothing known\n")
        .says("note      directory: has no pom.xml, no Gradle build, no jars and no class files")
        .says("next      fill in hypocenter.toml: class path, packages and a workload\n");
    let written = written(&done);
    assert_eq!((written.class_path.len(), written.packages.len(), written.workloads.len()), (0, 0, 0));
    assert!(written.text.contains("#[[workload.node]]"), "{}", written.text);
    // With the template beside it the tool works as without a file.
    let java = default_jdk().java();
    let path = classes().display().to_string();
    let config = done.directory().join("hypocenter.toml");
    let run = Tool::new("run").args("--hook entry --config").arg(config);
    run.command(&[&java, "-cp", &path, "probe.Guards", "many", "1"]).exits(0);
}

#[test]
fn an_existing_file_is_left_as_it_is_without_force() {
    let mine = "# mine\n[target]\n";
    let done = init(&[("hypocenter.toml", mine)])
        .end()
        .exits(1)
        .says("hypocenter.toml: the file already exists and was not changed");
    let done = done.says("--force");
    assert_eq!(fs::read_to_string(done.directory().join("hypocenter.toml")).unwrap(), mine);
    let done = init(&[("hypocenter.toml", mine)])
        .arg("--force")
        .end()
        .exits(0)
        .says("wrote     ./hypocenter.toml\n")
        .says("the old file is in ./hypocenter.toml.old");
    assert!(!written(&done).text.contains("# mine"));
    assert_eq!(fs::read_to_string(done.directory().join("hypocenter.toml.old")).unwrap(), mine);
    let mut names: Vec<_> =
        fs::read_dir(done.directory()).unwrap().flatten().map(|it| it.file_name()).collect();
    names.sort();
    assert_eq!(names, ["hypocenter.toml", "hypocenter.toml.old"], "nothing else is left there");
    // What was kept is not written over either.
    let tool = init(&[("hypocenter.toml", "# later\n"), ("hypocenter.toml.old", mine)]).arg("--force");
    let done = tool.end().exits(0).says("./hypocenter.toml.old2");
    assert_eq!(fs::read_to_string(done.directory().join("hypocenter.toml.old")).unwrap(), mine);
    assert_eq!(fs::read_to_string(done.directory().join("hypocenter.toml.old2")).unwrap(), "# later\n");
    // What only its owner can know is taken over as it stands.
    let own = "# Ticket 7.\n[failure]\n# On Monday.\nlogs = [\n    'a.log',\n]\noracle = { log = 'lost' }\n";
    let known = "[[explore.known]]\nstack = 'a.B.c'\nwhy = 'ACME-7'\n";
    let mine = format!("[target]\n\n{own}\n{known}");
    let done = init(&[("hypocenter.toml", &mine)]).arg("--force").end().exits(0);
    let done = done.says("[failure], [reproduce] and [explore] are copied; the old file is in");
    let text = written(&done).text;
    assert!(text.contains(own) && text.contains(known), "{text}");
    assert!(!text.contains("#[failure]") && !text.contains("#[[explore"), "{text}");
    // Also as often as one likes.
    let again = init(&[("hypocenter.toml", &text)]).arg("--force").end().exits(0);
    assert_eq!(written(&again).text, text);
    let mine = "[failure]\nworkload = 'mine'\n[[workload]]\nname = 'mine'\ncommand = 'true'\n";
    let done = init(&[("hypocenter.toml", mine)]).arg("--force").end().exits(0);
    done.says("unknown workload `mine`, known: none; copy missing settings from there");
    let done = init(&[("hypocenter.toml", "failure = { logs = ['a'] }\n")]).arg("--force").end().exits(0);
    done.says("nothing is copied from the old file; the old file is in");
    let tool = init(&[]).arg("--force");
    fs::write(tool.directory().join("hypocenter.toml"), b"# M\xfcnchen\n[failure]\nlogs = ['a.log']\n")
        .unwrap();
    tool.end().exits(0).says("the old file is not UTF-8, so nothing is copied from it; the old file is in");
    // A directory in its place cannot be written over, and a link that leads nowhere is something that is there.
    let tool = init(&[("hypocenter.toml/file", "")]).arg("--force");
    tool.end().exits(1).says("hypocenter.toml: cannot be written");
    let tool = init(&[]);
    std::os::unix::fs::symlink("nowhere", tool.directory().join("hypocenter.toml")).unwrap();
    tool.end().exits(1).says("the file already exists");
}

#[test]
fn a_part_of_a_project_gets_no_file_of_its_own_unless_that_is_meant() {
    let rows = [
        ("pom.xml", POM, "pom.xml builds it", "run `hypocenter init` there"),
        ("settings.gradle.kts", "", "settings.gradle.kts builds it", "run `hypocenter init` there"),
        ("hypocenter.toml", "", "hypocenter.toml configures it", "use that one there"),
    ];
    for (name, content, what, then) in rows {
        let files = [(name, content), ("src/main/java/A.java", "class A {}")];
        let done = init(&files).arg("src/main").end().exits(1);
        let done = done.says("src/main: part of a larger project: ").says(what).says(then).says("--force");
        assert!(!done.directory().join("src/main/hypocenter.toml").exists());
        let done = init(&files).args("src/main --force").end().exits(0);
        assert!(done.directory().join("src/main/hypocenter.toml").is_file());
    }
    // A module is a project too, and so is a repository.
    init(&[("pom.xml", POM), ("a/pom.xml", POM)]).arg("a").end().exits(0);
    init(&[("pom.xml", POM), ("a/.git/HEAD", "")]).arg("a").end().exits(0);
}

#[test]
fn a_directory_may_be_given() {
    let done = init(&[("my project/pom.xml", POM)]).arg("my project").end().exits(0);
    let done = done.says("wrote     my project/hypocenter.toml\n").says("next      cd 'my project'\n");
    assert!(done.directory().join("my project/hypocenter.toml").is_file());
    init(&[]).arg("gone").end().exits(1).says("gone: the directory does not exist");
    init(&[("file", "")]).arg("file").end().exits(1).says("file: the directory does not exist");
}
