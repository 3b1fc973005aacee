//! The mass link test bites: with a mistake put into the patcher on purpose, it fails.
//!
//! Each mistake is made in a copy of this crate, which is then tested by a cargo of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LINK_TEST: &str = "patched_classes_of_the_jdk_link_as_the_original_ones_do";

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A workspace with this crate and what its tests need.
fn copied_workspace(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistakes").join(name);
    let _ = fs::remove_dir_all(&copy);
    for part in ["src", "tests", "benches"] {
        let to = copy.join("crates/classfile").join(part);
        copy_tree(&root.join("crates/classfile").join(part), &to);
    }
    fs::copy(root.join("crates/classfile/Cargo.toml"), copy.join("crates/classfile/Cargo.toml")).unwrap();
    copy_tree(&root.join("crates/testing"), &copy.join("crates/testing"));
    fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let alone = manifest
        .replace(r#"members = ["crates/*", "xtask"]"#, r#"members = ["crates/classfile", "crates/testing"]"#);
    assert_ne!(alone, manifest, "the workspace's members are written otherwise now");
    fs::write(copy.join("Cargo.toml"), alone).unwrap();
    copy
}

/// Whether the link test passes in a copy, and what it printed.
fn link_test(copy: &Path) -> (bool, String) {
    let output = Command::new(env!("CARGO"))
        .current_dir(copy)
        .args(["test", "--offline", "--package", "hypocenter-classfile", "--test", "verify", "--", LINK_TEST])
        // One directory for all copies, so that only the crate itself is built again.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistakes/target"))
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
    assert!(text.contains("running 1 test"), "the copy does not build or has no such test:\n{text}");
    (output.status.success(), text)
}

#[test]
fn a_mistake_in_the_patcher_fails_the_link_test() {
    let check = |name: &str, file: &str, right: &str, wrong: &str| {
        let copy = copied_workspace(name);
        let path = copy.join("crates/classfile").join(file);
        let source = fs::read_to_string(&path).unwrap();
        assert_eq!(
            source.matches(right).count(),
            1,
            "{name}: the line to get wrong is written otherwise now"
        );
        fs::write(&path, source.replace(right, wrong)).unwrap();
        let (passed, text) = link_test(&copy);
        assert!(!passed, "{name}: nobody noticed\n{text}");
        let refused_by_the_jvm = text.contains("VerifyError") || text.contains("ClassFormatError");
        assert!(refused_by_the_jvm, "{name}: it failed for another reason\n{text}");
    };
    // A frame at the instruction and not at the hook before it, where jumps now land.
    check(
        "frame-at-the-instruction",
        "src/frames.rs",
        "let boundary = layout.boundary(WHAT, pc)?;",
        "let boundary = layout.place(WHAT, pc)?;",
    );
    // An uninitialised object named by the hook before its `new`.
    check(
        "uninitialized-at-the-hook",
        "src/frames.rs",
        "let place = layout.place(WHAT, u32::from(operand))?;",
        "let place = layout.boundary(WHAT, u32::from(operand))?;",
    );
}
