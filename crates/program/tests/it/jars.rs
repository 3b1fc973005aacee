//! Jars as they come: good, old, odd and broken.

use std::path::Path;

use hypocenter_classfile::ClassFile;
use hypocenter_program::{ClassPath, Classes};

use crate::tools::{compile_constant, directory, tool};

/// The constant that `f` of a class returns, from its `bipush`.
fn constant(classes: &Classes, name: &str) -> i32 {
    let bytes = classes.read(name).expect("the class is found").expect("the class is read");
    let class = ClassFile::parse(&bytes).unwrap();
    let method = class.methods().iter().find(|it| it.name == b"f").unwrap();
    i32::from(method.code().unwrap().unwrap().bytes[1])
}

fn make_jar(root: &Path, name: &str, class: &str, value: i32, manifest: &str) {
    let content = root.join(format!("{name}-content"));
    compile_constant(class, value, &content);
    std::fs::write(root.join("manifest"), manifest).unwrap();
    let args = ["--create", "--file", name, "--manifest", "manifest", "-C", content.to_str().unwrap(), "."];
    tool("jar", &args, root);
}

#[test]
fn the_first_definition_wins_and_wildcards_are_sorted() {
    let root = directory("first-wins");
    make_jar(&root, "b.jar", "A", 11, "");
    make_jar(&root, "c.jar", "A", 12, "");
    compile_constant("A", 13, &root.join("classes"));
    let check = |path: ClassPath, expected: i32| {
        let classes = path.open(25);
        assert_eq!(classes.problems(), []);
        assert_eq!(classes.names().collect::<Vec<_>>(), ["A"]);
        assert_eq!(constant(&classes, "A"), expected);
    };
    check(ClassPath::parse("b.jar:c.jar", &root), 11);
    check(ClassPath::parse("c.jar:b.jar:classes", &root), 12);
    check(ClassPath::parse("classes:b.jar", &root), 13);
    check(ClassPath::parse("*", &root), 11);
    check(ClassPath::from_entries(&["c*.jar".into(), "b.jar".into()], &root), 12);
    check(ClassPath::from_entries(&["cl*".into(), "*".into()], &root), 13);
}

#[test]
fn manifests_lead_to_other_jars_and_back() {
    let root = directory("manifests");
    make_jar(&root, "a.jar", "A", 11, "Main-Class: A\nClass-Path: b.jar gone.jar\n");
    make_jar(&root, "b.jar", "B", 12, "Class-Path: ./a.jar b.jar\n");
    let args = ["java", "-jar", "a.jar"].map(str::to_owned);
    let command = ClassPath::of_java_command(&args, &root, None).unwrap();
    assert_eq!(command.main_class.as_deref(), Some("A"));
    assert_eq!(command.options_end, 1);
    let classes = command.class_path.open(25);
    assert_eq!(classes.names().collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(classes.problems(), []);
    assert!(classes.origin("B").unwrap().ends_with("b.jar"));
}

#[test]
fn versions_are_taken_up_to_the_release() {
    let root = directory("multi-release");
    for (value, name) in [(10, "base"), (11, "nine"), (12, "seventeen")] {
        compile_constant("A", value, &root.join(name));
    }
    let args = "--create --file m.jar -C base . --release 9 -C nine . --release 17 -C seventeen .";
    tool("jar", &args.split(' ').collect::<Vec<_>>(), &root);
    for (release, expected) in [(8, 10), (9, 11), (16, 11), (17, 12), (25, 12)] {
        let classes = ClassPath::parse("m.jar", &root).open(release);
        assert_eq!(constant(&classes, "A"), expected, "release {release}");
    }
}

#[test]
fn jars_inside_jars_are_opened() {
    let root = directory("nested");
    make_jar(&root, "inner.jar", "Inner", 21, "");
    std::fs::create_dir_all(root.join("app/BOOT-INF/lib")).unwrap();
    std::fs::rename(root.join("inner.jar"), root.join("app/BOOT-INF/lib/inner.jar")).unwrap();
    std::fs::write(root.join("app/BOOT-INF/lib/broken.jar"), b"not a jar").unwrap();
    compile_constant("App", 22, &root.join("app/BOOT-INF/classes"));
    tool("jar", &["--create", "--no-compress", "--file", "app.jar", "-C", "app", "."], &root);
    let classes = ClassPath::parse("app.jar", &root).open(25);
    assert_eq!(classes.names().collect::<Vec<_>>(), ["App", "Inner"]);
    assert_eq!((constant(&classes, "App"), constant(&classes, "Inner")), (22, 21));
    assert_eq!(classes.problems().len(), 1);
    assert!(classes.problems()[0].place.ends_with("app.jar!/BOOT-INF/lib/broken.jar"));
}

#[test]
fn a_jar_that_is_nested_too_deep_is_told() {
    let root = directory("too-deep");
    let nest = |outer: &str, inner: &str| {
        std::fs::create_dir_all(root.join(outer).join("BOOT-INF/lib")).unwrap();
        std::fs::rename(root.join(inner), root.join(outer).join("BOOT-INF/lib").join(inner)).unwrap();
        compile_constant(&outer.to_uppercase(), 1, &root.join(outer).join("BOOT-INF/classes"));
        let file = format!("{outer}.jar");
        tool("jar", &["--create", "--no-compress", "--file", &file, "-C", outer, "."], &root);
    };
    make_jar(&root, "deep.jar", "Deep", 1, "");
    nest("middle", "deep.jar");
    nest("app", "middle.jar");
    let classes = ClassPath::parse("app.jar", &root).open(25);
    assert_eq!(classes.names().collect::<Vec<_>>(), ["APP", "MIDDLE"]);
    let [problem] = classes.problems() else { panic!("{:?}", classes.problems()) };
    assert!(
        problem.place.ends_with("app.jar!/BOOT-INF/lib/middle.jar!/BOOT-INF/lib/deep.jar"),
        "{problem:?}"
    );
    for part in ["nested too deep", "its classes are left out", "add it to the class path"] {
        assert!(problem.what.contains(part), "{problem:?}");
    }
}

#[test]
fn what_is_broken_is_a_problem_and_the_rest_goes_on() {
    let root = directory("broken");
    make_jar(&root, "good.jar", "Good", 31, "");
    let bytes = std::fs::read(root.join("good.jar")).unwrap();
    std::fs::write(root.join("truncated.jar"), &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(root.join("empty.jar"), b"").unwrap();
    std::fs::write(root.join("text.jar"), "x".repeat(1000)).unwrap();
    let classes = ClassPath::parse("truncated.jar:empty.jar:text.jar:gone.jar:good.jar", &root).open(25);
    assert_eq!(classes.names().collect::<Vec<_>>(), ["Good"]);
    let places: Vec<&str> =
        classes.problems().iter().map(|it| it.place.rsplit('/').next().unwrap()).collect();
    assert_eq!(places, ["truncated.jar", "empty.jar", "text.jar", "gone.jar"]);

    // Damage in the compressed data of the class.
    let classes = ClassPath::parse("good.jar", &root).open(25);
    let at = bytes.windows(10).position(|it| it == b"Good.class").unwrap() + 30;
    let mut damaged = bytes.clone();
    damaged[at..at + 20].fill(0x55);
    std::fs::write(root.join("damaged.jar"), damaged).unwrap();
    let other = ClassPath::parse("damaged.jar", &root).open(25);
    let problems = other.for_each(|_| true, |_, _| panic!("a damaged class was shown"));
    assert_eq!(problems.len(), 1);
    assert!(problems[0].what.contains("does not inflate"), "{}", problems[0].what);
    assert_eq!(constant(&classes, "Good"), 31);
}

#[test]
fn every_damaged_byte_of_a_jar_is_survived() {
    let root = directory("damage");
    make_jar(&root, "good.jar", "Good", 31, "");
    let bytes = std::fs::read(root.join("good.jar")).unwrap();
    for at in 0..bytes.len() {
        for value in [0, 0xff, bytes[at] ^ 0x10] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            std::fs::write(root.join("damaged.jar"), damaged).unwrap();
            let classes = ClassPath::parse("damaged.jar", &root).open(25);
            classes.for_each(|_| true, |_, _| ());
        }
    }
}

#[test]
fn a_bomb_is_not_inflated() {
    let root = directory("bomb");
    std::fs::create_dir_all(root.join("in")).unwrap();
    std::fs::write(root.join("in/Bomb.class"), vec![0; 80 << 20]).unwrap();
    tool("jar", &["--create", "--file", "bomb.jar", "-C", "in", "."], &root);
    let size = std::fs::metadata(root.join("bomb.jar")).unwrap().len();
    assert!(size < 1 << 20);
    let check = |file: &str| {
        let classes = ClassPath::parse(file, &root).open(25);
        let problem = classes.read("Bomb").unwrap().unwrap_err();
        assert!(problem.what.contains("larger than 64 MiB"), "{}", problem.what);
    };
    check("bomb.jar");
    // The same bomb that claims to be small.
    let mut bytes = std::fs::read(root.join("bomb.jar")).unwrap();
    let claimed = (80u32 << 20).to_le_bytes();
    while let Some(at) = bytes.windows(4).position(|it| it == claimed) {
        bytes[at..at + 4].copy_from_slice(&1000u32.to_le_bytes());
    }
    std::fs::write(root.join("liar.jar"), bytes).unwrap();
    check("liar.jar");
}

#[test]
fn entries_that_share_their_data_do_not_add_up_to_a_bomb() {
    let root = directory("shared-data");
    // Local header and directory record of a stored file at the beginning, which says that it has 63 MiB.
    let jar = |entries: usize| {
        let name = |n: usize| format!("C{n:03}.class");
        let header = |claimed: u32| {
            let mut header = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            header.extend(claimed.to_le_bytes());
            header.extend(claimed.to_le_bytes());
            header.extend([10, 0, 0, 0]);
            header
        };
        let mut bytes = [&b"PK\x03\x04"[..], &header(0), name(0).as_bytes()].concat();
        let at = bytes.len() as u32;
        for n in 0..entries {
            bytes
                .extend([&b"PK\x01\x02\x14\0"[..], &header(63 << 20), &[0; 14], name(n).as_bytes()].concat());
        }
        let length = bytes.len() as u32 - at;
        let count = (entries as u16).to_le_bytes();
        bytes.extend([&b"PK\x05\x06\0\0\0\0"[..], &count, &count].concat());
        bytes.extend([&length.to_le_bytes()[..], &at.to_le_bytes(), &[0, 0]].concat());
        bytes
    };
    let check = |entries: usize, expected: usize| {
        std::fs::write(root.join("a.jar"), jar(entries)).unwrap();
        let classes = ClassPath::parse("a.jar", &root).open(25);
        assert_eq!(classes.len(), expected, "{entries}: {:?}", classes.problems());
        assert_eq!(classes.problems().is_empty(), expected > 0);
        if let [problem] = classes.problems() {
            assert!(problem.what.contains("4096 MiB that are read of a class path"), "{}", problem.what);
        }
    };
    check(65, 65);
    check(66, 0);
}

#[test]
fn an_image_that_says_it_has_millions_of_entries_is_not_read() {
    let root = directory("damaged-image");
    std::fs::create_dir_all(root.join("lib")).unwrap();
    let check = |entries: u32, expected: &str| {
        let words = [0xcafe_dada, 1 << 16, 0, entries, entries, 0, 0];
        let mut bytes: Vec<u8> = words.iter().flat_map(|it: &u32| it.to_le_bytes()).collect();
        bytes.resize(bytes.len() + 8 * entries as usize, 0);
        std::fs::write(root.join("lib/modules"), bytes).unwrap();
        let classes = ClassPath::default().with_jdk(&root).open(25);
        assert!(classes.is_empty());
        assert!(classes.problems()[0].what.contains(expected), "{:?}", classes.problems());
    };
    check(3, "3 entries of the runtime image are damaged");
    check((1 << 20) + 1, "its tables do not fit");
}

#[test]
fn a_directory_that_contains_itself_ends() {
    let root = directory("ring");
    compile_constant("A", 41, &root.join("classes"));
    std::os::unix::fs::symlink(root.join("classes"), root.join("classes/ring")).unwrap();
    let classes = ClassPath::parse("classes", &root).open(25);
    assert_eq!(constant(&classes, "A"), 41);
    assert!(classes.len() <= 2);
}
