//! A real JVM is the judge: patched classes must link under `-Xverify:all` exactly as the original ones do, and
//! patched programs must print what the original ones print.

mod support;

use hypocenter_classfile::{ClassFile, Insertion, MethodPatch, Patcher, Place, Snippet, Unpatched, op};
use hypocenter_testing::{jdks, skip};
use std::path::Path;
use std::process::Command;
use support::jvm;
use support::plan::{self, Hooks, Tally};

const ALL: [Hooks; 5] = [Hooks::Calls, Hooks::Blocks, Hooks::Edges, Hooks::Thrown, Hooks::Jumps];

fn write_entries<'a>(path: &Path, classes: impl Iterator<Item = (&'a [u8], &'a [u8])>) {
    let mut out = Vec::new();
    for (name, bytes) in classes {
        out.extend_from_slice(&(name.len() as u16).to_be_bytes());
        out.extend_from_slice(name);
        out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        out.extend_from_slice(bytes);
    }
    std::fs::write(path, out).unwrap();
}

#[test]
fn patched_classes_of_the_jdk_link_as_the_original_ones_do() {
    let classes = jvm::jdk_classes("verify-jdk", &["jdk.compiler/com/sun/tools/javac", "jdk.jartool/sun"]);
    let parsed: Vec<_> = classes.iter().map(|bytes| ClassFile::parse(bytes).unwrap()).collect();
    let work = jvm::folder("verify-link");
    jvm::compile(&["Verify.java"], &work);
    let mut java = jvm::tool("java");
    java.arg("-Xverify:all").arg("-cp").arg(&work).arg("Verify");
    let original = work.join("original.bin");
    write_entries(&original, parsed.iter().map(|class| (class.name(), class.bytes())));
    java.arg(&original);
    let mut left_out = Vec::new();
    for hooks in ALL {
        let mut tally = Tally::default();
        let patched: Vec<_> = parsed.iter().map(|class| plan::patch(class, hooks, &mut tally)).collect();
        for bytes in &patched {
            let class = ClassFile::parse(bytes).unwrap();
            for method in class.methods() {
                if let Some(code) = method.code().unwrap() {
                    assert_eq!(code.instructions().find_map(Result::err), None);
                }
            }
        }
        println!("{hooks:?}: {tally:?}");
        left_out.append(&mut tally.unpatched);
        assert!(tally.insertions > 10_000, "{tally:?}");
        assert_eq!(tally.edges > 300, hooks == Hooks::Edges, "{tally:?}");
        assert_eq!(tally.calls > 10_000, hooks == Hooks::Thrown, "{tally:?}");
        let file = work.join(format!("{hooks:?}.bin"));
        write_entries(&file, parsed.iter().map(|class| class.name()).zip(patched.iter().map(Vec::as_slice)));
        java.arg(&file);
    }
    let output = jvm::run(&mut java);
    let reports: Vec<&str> = output.split("file\n").skip(1).collect();
    assert_eq!(reports.len(), 1 + ALL.len());
    let linked = |report: &str| -> usize { report.trim().rsplit(' ').next().unwrap().parse().unwrap() };
    assert!(linked(reports[0]) > classes.len() / 2, "{}", reports[0]);
    for (hooks, report) in ALL.iter().zip(&reports[1..]) {
        assert!(*report == reports[0], "{hooks:?}\noriginal:\n{}\npatched:\n{report}", reports[0]);
    }
    assert!(left_out.is_empty(), "{left_out:?}");
}

/// Compares what a program prints before and after each patch, with the tools of some JDK.
fn runs_alike(tool: impl Fn(&str) -> Command, name: &str, source: &str, main: &str) {
    let original = jvm::folder(&format!("verify-{name}"));
    jvm::compile_by(tool("javac"), &[source], &original);
    let run = |folder: &Path| jvm::run(tool("java").arg("-Xverify:all").arg("-cp").arg(folder).arg(main));
    let expect = run(&original);
    assert!(expect.trim_end().ends_with("done"), "{expect}");
    for hooks in ALL {
        let folder = jvm::folder(&format!("verify-{name}-{hooks:?}"));
        let mut tally = Tally::default();
        for (path, bytes) in jvm::classes_in(&original) {
            let patched = plan::patch(&ClassFile::parse(&bytes).unwrap(), hooks, &mut tally);
            std::fs::write(folder.join(path.file_name().unwrap()), patched).unwrap();
        }
        println!("{name} {hooks:?}: {tally:?}");
        assert!(tally.unpatched.is_empty() && tally.insertions > 20, "{tally:?}");
        assert_eq!(tally.edges > 0, hooks == Hooks::Edges, "{tally:?}");
        assert_eq!(run(&folder), expect, "{hooks:?}");
    }
}

#[test]
fn a_patched_program_prints_the_same() {
    runs_alike(jvm::tool, "samples", "Samples.java", "Samples");
}

#[test]
fn a_patched_program_with_pattern_switches_prints_the_same() {
    let Some(jdk) = jdks().iter().find(|it| it.feature >= 21 && it.javac().is_some()) else {
        return skip("pattern switches need a JDK, 21 or newer");
    };
    let tool = |name: &str| Command::new(jdk.home.join("bin").join(name));
    runs_alike(tool, "patterns", "Patterns.java", "Patterns");
}

/// Where a jump of a method goes back or leaves, found by its opcode.
fn pc_of(code: &hypocenter_classfile::Code<'_>, opcode: u8, nth: usize) -> (u32, u32) {
    let found: Vec<_> = plan::instructions(code).into_iter().filter(|i| i.opcode == opcode).collect();
    (found[nth].pc, found[nth].targets().next().unwrap())
}

#[test]
fn snippets_on_edges_run_exactly_when_the_edge_is_taken() {
    let original = jvm::folder("verify-loops");
    jvm::compile(&["Loops.java"], &original);
    let bytes = std::fs::read(original.join("Loops.class")).unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let find = |name: &[u8]| class.methods().iter().position(|m| m.name == name).unwrap();
    let mut patcher = Patcher::new(&class);
    let hit = patcher.method_ref(b"Loops", b"hit", b"(I)V").unwrap().to_be_bytes();
    let snippet = |n: u8| [op::BIPUSH, n, op::INVOKESTATIC, hit[0], hit[1]];
    let hits: Vec<_> = (0..12).map(snippet).collect();
    let hit = |n: usize| Snippet { bytes: &hits[n], stack: 1 };

    let index = find(b"forLoop");
    let code = class.methods()[index].code().unwrap().unwrap();
    let (exit, out) = pc_of(&code, op::IF_ICMPGE, 0);
    let (leave, left) = pc_of(&code, op::GOTO, 0);
    let (back, head) = pc_of(&code, op::GOTO, 1);
    assert_eq!(out, left);
    let insertions = [
        Insertion { at: head, place: Place::Before, snippet: hit(5) },
        Insertion { at: head, place: Place::Edges { fall: true, from: &[] }, snippet: hit(1) },
        Insertion { at: head, place: Place::Edges { fall: false, from: &[back] }, snippet: hit(2) },
        Insertion { at: out, place: Place::Edges { fall: false, from: &[exit] }, snippet: hit(3) },
        Insertion { at: out, place: Place::Edges { fall: true, from: &[leave] }, snippet: hit(4) },
        Insertion { at: 0, place: Place::Entry, snippet: hit(0) },
    ];
    patcher
        .method(index, &MethodPatch { insertions: &insertions, catch_all: None, ..MethodPatch::default() })
        .unwrap();

    let index = find(b"doLoop");
    let code = class.methods()[index].code().unwrap().unwrap();
    let (back, head) = pc_of(&code, op::IF_ICMPLT, 0);
    let again = Insertion { at: head, place: Place::Edges { fall: false, from: &[back] }, snippet: hit(6) };
    assert_eq!(
        patcher
            .method(index, &MethodPatch { insertions: &[again], catch_all: None, ..MethodPatch::default() }),
        Err(Unpatched::EdgeNotSeparable { pc: head }),
    );
    let insertions = [
        Insertion { at: head, place: Place::Edges { fall: true, from: &[] }, snippet: hit(6) },
        Insertion { at: back, place: Place::After, snippet: hit(7) },
    ];
    patcher
        .method(index, &MethodPatch { insertions: &insertions, catch_all: None, ..MethodPatch::default() })
        .unwrap();

    // The value of a conditional expression is on the stack where the two ways meet, so each landing needs a frame
    // that says so.
    let index = find(b"choose");
    let code = class.methods()[index].code().unwrap().unwrap();
    let (first, meet) = pc_of(&code, op::GOTO, 0);
    let insertions = [
        Insertion { at: meet, place: Place::Edges { fall: true, from: &[] }, snippet: hit(8) },
        Insertion { at: meet, place: Place::Before, snippet: hit(9) },
    ];
    assert!(first < meet);
    let caught = hit(10);
    patcher
        .method(
            index,
            &MethodPatch { insertions: &insertions, catch_all: Some(&caught), ..MethodPatch::default() },
        )
        .unwrap();

    // The same with two values on the stack, which only a full frame can say.
    let index = find(b"larger");
    let code = class.methods()[index].code().unwrap().unwrap();
    let (_, meet) = pc_of(&code, op::GOTO, 0);
    let fall = Insertion { at: meet, place: Place::Edges { fall: true, from: &[] }, snippet: hit(11) };
    patcher
        .method(index, &MethodPatch { insertions: &[fall], catch_all: None, ..MethodPatch::default() })
        .unwrap();

    let folder = jvm::folder("verify-loops-patched");
    std::fs::write(folder.join("Loops.class"), patcher.finish()).unwrap();
    let output = jvm::run(jvm::tool("java").arg("-Xverify:all").arg("-cp").arg(&folder).arg("Loops"));
    // Four calls: 0, 3 and 5 rounds to the end, and one left by `break` in its 46th round.
    // Three do-loops of 1, 1 and 4 rounds. `choose` with three times true, twice false, once thrown; `larger`
    // with twice false.
    assert_eq!(output.trim(), "[4, 4, 53, 3, 1, 57, 3, 3, 2, 5, 1, 2]");
}
