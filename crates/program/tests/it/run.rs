//! The hooks of loops in a real JVM: what is patched in where the sites say, runs when they say.

use std::process::Command;

use hypocenter_classfile::{ClassFile, Insertion, MethodPatch, Patcher, Place, Snippet};
use hypocenter_plan::SiteKind;
use hypocenter_program::{KindSet, sites_of_method};
use hypocenter_trace::{FALL_THROUGH, Placement};

use crate::tools::{directory, fixtures, java_home};

const KINDS: [SiteKind; 4] =
    [SiteKind::LoopEntry, SiteKind::LoopIteration, SiteKind::LoopExit, SiteKind::LoopBody];

/// The class with a call of `fixture.Drive.hit` at every hook of a loop.
fn patched(bytes: &[u8]) -> Vec<u8> {
    let class = ClassFile::parse(bytes).unwrap();
    let mut patcher = Patcher::new(&class);
    let hit = patcher.method_ref(b"fixture/Drive", b"hit", b"(I)V").unwrap().to_be_bytes();
    for (index, method) in class.methods().iter().enumerate() {
        let mut hooks = Vec::new();
        for site in sites_of_method(&class, method, KindSet::of(&KINDS)).unwrap().sites {
            let kind = KINDS.iter().position(|&kind| kind == site.kind).unwrap() as u16;
            let id = (kind * 100 + site.ordinal).to_be_bytes();
            for hook in site.hooks {
                let fall = hook.edges.contains(&FALL_THROUGH);
                let from: Vec<u32> = hook.edges.iter().copied().filter(|&way| way != FALL_THROUGH).collect();
                hooks.push((hook, fall, from, [0x11, id[0], id[1], 0xb8, hit[0], hit[1]]));
            }
        }
        let insertions: Vec<Insertion<'_>> = hooks
            .iter()
            .map(|(hook, fall, from, call)| Insertion {
                at: hook.pc.into(),
                place: match hook.placement {
                    Placement::Edges => Place::Edges { fall: *fall, from },
                    _ => Place::Before,
                },
                snippet: Snippet { bytes: call, stack: 1 },
            })
            .collect();
        if !insertions.is_empty() {
            let name = String::from_utf8_lossy(method.name);
            let patch = MethodPatch { insertions: &insertions, catch_all: None, ..MethodPatch::default() };
            patcher.method(index, &patch).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
    patcher.finish()
}

#[test]
fn hooks_of_loops_run_as_often_as_the_loops() {
    let root = directory("run");
    std::fs::create_dir_all(root.join("fixture")).unwrap();
    let loops = std::fs::read(fixtures().join("fixture/Loops.class")).unwrap();
    std::fs::write(root.join("fixture/Loops.class"), patched(&loops)).unwrap();
    let path = format!("{}:{}", root.display(), fixtures().display());
    let java = java_home().join("bin/java");
    let output = Command::new(java).args(["-Xverify:all", "-cp", &path, "fixture.Drive"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = "\
plainFor 2: E0 I0 B0 I0 B0 I0 X0
plainFor 0: E0 I0 X0
plainWhile 2: E0 I0 B0 I0 B0 I0 X0
doWhile 2: E0 I0 B0 I0 B0 X0
returnInside found: E0 I0 B0 I0 X0
returnInside not found: E0 I0 B0 I0 X0
nested through: E0 I0 B0 E1 I1 B1 I1 B1 I1 X1 I0 B0 E1 I1 B1 I1 B1 I1 X1 I0 X0
nested continue and break: E0 I0 B0 E1 I1 B1 I1 X1 I0 B0 E1 I1 X1 X0
retry once: E0 I0 B0 I0 B0 X0
finallyInside through: E0 I0 B0 I0 X0
finallyInside thrown: E0 I0 B0
either 1 2: E0 I0 B0 I0 B0 I0 B0 I0 X0
both 3 1: E0 I0 B0 I0 X0
overList 0: E0 I0 X0
overList 2: E0 I0 B0 I0 B0 I0 X0
overArray 2: E0 I0 B0 I0 B0 I0 X0
breakInTheMiddle 1: E0 I0 B0 I0 B0 X0
emptyBody 2: E0 I0 B0 I0 B0 I0 X0
assignInCondition 1: E0 I0 B0 I0 X0
testInTheBody 2: E0 I0 B0 I0 B0 I0 X0
continues 2: E0 I0 B0 I0 B0 I0 X0
ternary 1: E0 I0 B0 I0 X0
conditional 1: E0 I0 B0 I0 X0
";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
