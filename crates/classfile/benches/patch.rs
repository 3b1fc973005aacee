//! How fast classes are read and patched, beside how fast they can be copied and how fast `noak` reads them.

#[path = "../tests/support/mod.rs"]
mod support;

use hypocenter_classfile::{ClassFile, Insertion, MethodPatch, Patcher, Place};
use noak::reader::AttributeContent;
use std::hint::black_box;
use std::time::{Duration, Instant};
use support::plan::IDLE;

/// The best of a few rounds over all classes, in MB/s.
fn rate(classes: &[Vec<u8>], mut work: impl FnMut(&[u8])) -> f64 {
    let bytes: usize = classes.iter().map(Vec::len).sum();
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        classes.iter().for_each(|class| work(class));
        best = best.min(start.elapsed());
    }
    bytes as f64 / best.as_secs_f64() / 1e6
}

fn read_all(bytes: &[u8]) {
    let class = ClassFile::parse(bytes).unwrap();
    for method in class.methods() {
        if let Some(code) = method.code().unwrap() {
            black_box(code.instructions().filter(|i| i.as_ref().is_ok_and(|i| i.is_invoke())).count());
        }
    }
}

fn noak_all(bytes: &[u8]) {
    let class = noak::reader::Class::new(bytes).unwrap();
    for method in class.methods() {
        for attribute in method.unwrap().attributes() {
            if let Ok(AttributeContent::Code(code)) = attribute.unwrap().read_content(class.pool()) {
                black_box(code.raw_instructions().count());
            }
        }
    }
}

/// A hook before every call.
fn patch_all(bytes: &[u8]) {
    let class = ClassFile::parse(bytes).unwrap();
    let mut patcher = Patcher::new(&class);
    let mut insertions = Vec::new();
    for (n, method) in class.methods().iter().enumerate() {
        let Some(code) = method.code().unwrap() else { continue };
        insertions.clear();
        for instruction in code.instructions() {
            let instruction = instruction.unwrap();
            if instruction.is_invoke() {
                insertions.push(Insertion { at: instruction.pc, place: Place::Before, snippet: IDLE });
            }
        }
        if !insertions.is_empty() {
            patcher.method(n, &MethodPatch { insertions: &insertions, ..MethodPatch::default() }).unwrap();
        }
    }
    black_box(patcher.finish());
}

fn main() {
    let classes = support::jvm::jdk_classes("bench", &["java.base/java", "jdk.compiler/com/sun/tools/javac"]);
    let copy = rate(&classes, |bytes| drop(black_box(bytes.to_vec())));
    println!("copy           {copy:8.0} MB/s");
    type Work = fn(&[u8]);
    for (name, work) in [("read", read_all as Work), ("read and patch", patch_all), ("noak reads", noak_all)]
    {
        let rate = rate(&classes, work);
        println!("{name:14} {rate:8.0} MB/s, {:.2} of a copy", rate / copy);
    }
}
