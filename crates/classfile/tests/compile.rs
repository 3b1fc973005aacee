//! The JIT compilers of a real JVM are the judges: they take every patched method that they take as it was, and what it does stays the same.
//!
//! Verification is no help there. C1 gives up a method in which a handler is reached without an exception or covers itself, and no compiler
//! takes one that may end with a lock held; the JVM interprets it from then on.

mod support;

use hypocenter_classfile::{CallCatch, ClassFile, Insertion, MethodPatch, Patcher, Place, Snippet, op};
use hypocenter_testing::{Jdk, jdks};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::jvm;
use support::plan;

const SKIPPED: &str = "COMPILE SKIPPED: ";
/// Methods that every compiler has to take, beside those that the program names itself.
const CONSTRUCTOR: &str = "<init>";
const INTERPRETED: &[&str] = &["-Xint"];
const C1: &[&str] = &["-Xbatch", "-XX:TieredStopAtLevel=1"];
const C2: &[&str] = &["-Xbatch", "-XX:-TieredCompilation", "-XX:CompileThreshold=1000"];

/// A run of `Handlers`.
struct Ran {
    /// Its own lines.
    lines: Vec<String>,
    /// Its methods that a compiler took.
    compiled: BTreeSet<String>,
    skipped: Vec<String>,
}

impl Ran {
    /// Lines that begin with a sign.
    fn of(&self, sign: &str) -> Vec<&str> {
        self.lines.iter().filter_map(|it| it.strip_prefix(sign)).collect()
    }
}

fn run(jdk: &Jdk, compiler: &[&str], folder: &Path, arguments: &[&str]) -> Ran {
    let mut java = Command::new(jdk.home.join("bin/java"));
    java.args(["-Xverify:all", "-XX:+PrintCompilation", "-XX:CompileCommand=quiet"]);
    java.arg("-XX:CompileCommand=compileonly,Handlers::*").args(compiler);
    let output = jvm::run(java.arg("-cp").arg(folder).arg("Handlers").args(arguments));
    let mut ran = Ran { lines: Vec::new(), compiled: BTreeSet::new(), skipped: Vec::new() };
    for line in output.lines() {
        let method = line.split_whitespace().find_map(|word| word.strip_prefix("Handlers::"));
        if line.contains(SKIPPED) {
            ran.skipped.push(line.trim().to_owned());
        } else if line.starts_with(['=', '#', '!']) {
            ran.lines.push(line.to_owned());
        } else if let Some(method) = method {
            ran.compiled.insert(method.to_owned());
        }
    }
    ran
}

/// Puts calls of the program's own methods before every handler, where an exception comes out of a call and where one leaves a method.
fn patch(bytes: &[u8]) -> Vec<u8> {
    const OWN: [&[u8]; 4] = [b"main", b"handler", b"thrown", b"left"];
    let class = ClassFile::parse(bytes).unwrap();
    let mut patcher = Patcher::new(&class);
    let mut call = |name: &[u8], descriptor: &[u8], looks: bool| {
        let [high, low] = patcher.method_ref(b"Handlers", name, descriptor).unwrap().to_be_bytes();
        let mut bytes = if looks { vec![op::DUP] } else { Vec::new() };
        bytes.extend([op::INVOKESTATIC, high, low]);
        bytes
    };
    let handler = call(b"handler", b"()V", false);
    let thrown = call(b"thrown", b"(Ljava/lang/Throwable;)V", true);
    let left = call(b"left", b"(Ljava/lang/Throwable;)V", true);
    let snippet = |bytes| Snippet { bytes, stack: 1 };
    for (n, method) in class.methods().iter().enumerate() {
        let Ok(Some(code)) = method.code() else { continue };
        if OWN.contains(&method.name) {
            continue;
        }
        let handlers: BTreeSet<u32> = code.handlers().map(|it| u32::from(it.handler)).collect();
        let insertions: Vec<_> = handlers
            .iter()
            .map(|&at| Insertion { at, place: Place::Before, snippet: snippet(&handler) })
            .collect();
        // The call of a superclass's constructor comes first.
        let skipped = usize::from(method.name == CONSTRUCTOR.as_bytes());
        let calls: Vec<_> = plan::instructions(&code)
            .iter()
            .filter(|it| it.is_invoke())
            .skip(skipped)
            .map(|it| CallCatch { at: it.pc, snippet: snippet(&thrown) })
            .collect();
        let left = snippet(&left);
        let patch = MethodPatch {
            insertions: &insertions,
            calls: &calls,
            catch_all: Some(&left),
            ..MethodPatch::default()
        };
        patcher.method(n, &patch).unwrap();
    }
    patcher.finish()
}

/// Folders of the program as it was, and patched.
fn folders(name: &str) -> (PathBuf, PathBuf) {
    let original = jvm::folder(&format!("compile-{name}"));
    let mut javac = jvm::tool("javac");
    javac.args(["--release", "11"]);
    jvm::compile_by(javac, &["Handlers.java"], &original);
    let patched = jvm::folder(&format!("compile-{name}-patched"));
    for (path, bytes) in jvm::classes_in(&original) {
        std::fs::write(patched.join(path.file_name().unwrap()), patch(&bytes)).unwrap();
    }
    (original, patched)
}

#[test]
fn patched_methods_are_compiled_and_do_the_same() {
    let (original, patched) = folders("handlers");
    for jdk in jdks() {
        let expect = run(jdk, INTERPRETED, &patched, &["trip"]);
        // The handler that unlocks covers itself, so it does its work even if a hook throws there.
        assert_eq!(expect.of("! "), ["fails from a hook, unlocked"]);
        for compiler in [C1, C2] {
            let bare = run(jdk, compiler, &original, &[]);
            assert_eq!(bare.skipped, [""; 0], "JDK {} {compiler:?}", jdk.feature);
            let hooked = run(jdk, compiler, &patched, &["trip"]);
            assert_eq!(hooked.skipped, [""; 0], "JDK {} {compiler:?}", jdk.feature);
            assert_eq!(hooked.of("= "), bare.of("= "), "JDK {} {compiler:?}", jdk.feature);
            assert_eq!(hooked.lines, expect.lines, "JDK {} {compiler:?}", jdk.feature);
            let shapes = bare.of("= ").into_iter().map(|it| it.split(' ').next().unwrap());
            for shape in shapes.chain([CONSTRUCTOR]) {
                assert!(hooked.compiled.contains(shape), "JDK {} {compiler:?}: {shape}", jdk.feature);
            }
        }
    }
}
