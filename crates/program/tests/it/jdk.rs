//! All classes of the JDK: everything is read, every loop is sound.

use std::sync::atomic::{AtomicUsize, Ordering};

use hypocenter_classfile::ClassFile;
use hypocenter_program::flow::{Flow, Way};
use hypocenter_program::loops::Loops;
use hypocenter_program::{Body, ClassPath, KindSet, Value, ValueId, sites_of_method};

use crate::body::sound;
use crate::tools::java_home;

#[test]
fn every_class_of_the_jdk_has_sound_loops() {
    let classes = ClassPath::default().with_jdk(&java_home()).open(25);
    assert_eq!(classes.problems(), []);
    assert!(classes.len() > 5_000, "{}", classes.len());
    let (loop_count, site_count, irreducible) =
        (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    // A build without optimisation needs half a minute for all of them: every fourth, and those that matter.
    let taken = |name: &str| name.starts_with("java.util.") || name.len().is_multiple_of(4);
    let problems = classes.for_each(taken, |name, bytes| {
        let class = ClassFile::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        for method in class.methods() {
            let found = sites_of_method(&class, method, KindSet::ALL).unwrap();
            site_count.fetch_add(found.sites.len(), Ordering::Relaxed);
            irreducible.fetch_add(found.irreducible as usize, Ordering::Relaxed);
            if let Some(code) = method.code().unwrap() {
                let flow = Flow::of(&code).unwrap();
                let loops = Loops::of(&flow);
                loop_count.fetch_add(loops.loops.len(), Ordering::Relaxed);
                check_loops(&flow, &loops);
            }
        }
    });
    assert_eq!(problems, []);
    let (loop_count, site_count) = (loop_count.into_inner(), site_count.into_inner());
    assert!(loop_count > 1_000, "{loop_count}");
    assert!(site_count > 100_000, "{site_count}");
    assert!(irreducible.into_inner() < loop_count / 100);
}

/// Compiled code computes with nothing unknown. Over all classes, so only with optimisation and on demand.
#[test]
#[ignore = "takes minutes without optimisation"]
fn every_operand_in_the_jdk_is_known() {
    let classes = ClassPath::default().with_jdk(&java_home()).open(25);
    let operands = AtomicUsize::new(0);
    classes.for_each(
        |_| true,
        |name, bytes| {
            let class = ClassFile::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            for method in class.methods() {
                let Some(body) = Body::of_method(&class, method).unwrap() else { continue };
                let place = format!("{name}.{}", String::from_utf8_lossy(method.name));
                assert!(body.is_complete(), "{place}");
                sound(&body);
                for (number, block) in body.flow.blocks.iter().enumerate() {
                    if !body.flow.reachable[number] {
                        continue;
                    }
                    for instruction in block.start..block.end {
                        let known = body.operands(instruction);
                        operands.fetch_add(known.len(), Ordering::Relaxed);
                        assert!(!known.contains(&ValueId::UNKNOWN), "{place} at {instruction}");
                    }
                }
                for value in body.value_ids().filter(|it| matches!(body.value(*it), Value::Phi(_))) {
                    assert!(!body.inputs(value).contains(&ValueId::UNKNOWN), "{place}: {value:?}");
                }
            }
        },
    );
    assert!(operands.into_inner() > 1_000_000);
}

/// A natural loop is entered through its header only; two loops are nested or have no block in common.
pub fn check_loops(flow: &Flow<'_>, loops: &Loops) {
    for it in &loops.loops {
        assert!(it.contains(it.header));
        for edge in flow.edges().iter().filter(|edge| flow.reachable[edge.from as usize]) {
            assert!(
                it.contains(edge.from) || !it.contains(edge.to) || edge.to == it.header,
                "{edge:?} enters {it:?} past its header"
            );
        }
        let goes_back = |block: &u32| {
            flow.out_of(*block).iter().any(|edge| edge.to == it.header && edge.way != Way::Throw)
        };
        assert!(it.body.iter().any(goes_back));
    }
    for (at, a) in loops.loops.iter().enumerate() {
        for b in loops.loops.iter().skip(at + 1) {
            let common = a.body.iter().filter(|&&block| b.contains(block)).count();
            assert!(common == 0 || common == a.body.len().min(b.body.len()), "{a:?} and {b:?} overlap");
        }
    }
}
