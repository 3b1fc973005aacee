//! No bytes may make the reader or the patcher panic.

mod support;

use hypocenter_classfile::{ClassFile, Error, Insertion, MethodPatch, Patcher, Place, code_digest_symbolic};
use proptest::prelude::*;
use std::sync::OnceLock;
use support::jvm;
use support::plan::{self, Hooks, IDLE, Tally};

fn samples() -> &'static [Vec<u8>] {
    static SAMPLES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let folder = jvm::folder("hostile");
        jvm::compile(&["Samples.java", "Loops.java"], &folder);
        jvm::classes_in(&folder).into_iter().map(|(_, bytes)| bytes).collect()
    })
}

/// Reads everything and patches everywhere; only panics and hangs count.
fn exercise(bytes: &[u8]) -> Result<(), Error> {
    let class = ClassFile::parse(bytes)?;
    for index in 0..class.pool.len().saturating_add(2) {
        let pool = &class.pool;
        let _ = (pool.get(index), pool.member(index), pool.invoke_dynamic(index), pool.string(index));
    }
    let _ = (
        class.bootstrap_methods(),
        class.source_file(),
        class.interfaces().count(),
        class.attributes().count(),
    );
    let mut patcher = Patcher::new(&class);
    for (n, method) in class.methods().iter().enumerate() {
        let _ = method.exceptions();
        let Ok(Some(code)) = method.code() else { continue };
        let _ = (code.digest(), code_digest_symbolic(&class, &code), code.line_at(5));
        // At every address, instruction or not.
        for at in 0..code.bytes.len().min(40) as u32 {
            for place in [Place::Before, Place::After, Place::Edges { fall: true, from: &[at] }] {
                let insertions = [Insertion { at, place, snippet: IDLE }];
                let _ = patcher.method(n, &MethodPatch { insertions: &insertions, catch_all: Some(&IDLE) });
            }
        }
    }
    for hooks in [Hooks::Calls, Hooks::Blocks, Hooks::Edges] {
        // Bytes that follow the class, or a method given up, must leave something readable.
        let patched = plan::patch(&class, hooks, &mut Tally::default());
        ClassFile::parse(&patched).map(drop)?;
    }
    Ok(())
}

#[test]
fn every_prefix_of_a_class_is_an_error() {
    let sample = &samples()[0];
    assert_eq!(exercise(sample), Ok(()));
    for len in 0..sample.len() {
        assert!(matches!(ClassFile::parse(&sample[..len]), Err(Error::Truncated { .. })), "{len}");
    }
    let mut longer = sample.clone();
    longer.push(0);
    assert_eq!(ClassFile::parse(&longer).err(), Some(Error::TrailingBytes { offset: sample.len() }));
    for (at, value, expect) in [
        (0, 0xCB, Error::BadMagic),
        (7, 44, Error::UnknownVersion { major: 44 }),
        (7, 70, Error::UnknownVersion { major: 70 }),
        (10, 2, Error::BadTag { tag: 2, offset: 10 }),
    ] {
        let mut broken = sample.clone();
        broken[at] = value;
        assert_eq!(ClassFile::parse(&broken).err(), Some(expect));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_classes_never_panic(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
            any::<u8>(), Just(0), Just(1), Just(0xFF), Just(0x7F), Just(0x80)]), 1..6),
        behind_pool in any::<bool>(),
    ) {
        let samples = samples();
        let mut bytes = samples[which.index(samples.len())].clone();
        // Most mutations of the pool are caught while parsing, so half of the cases only touch what comes behind it.
        let from = if behind_pool {
            ClassFile::parse(&bytes).unwrap().methods().first().map_or(0, |method| method.range.start)
        } else {
            0
        };
        for (at, value) in edits {
            let at = from + at.index(bytes.len() - from);
            bytes[at] = value;
        }
        let _ = exercise(&bytes);
    }

    #[test]
    fn any_bytes_behind_a_magic_number_never_panic(tail in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = [&[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61][..], &tail].concat();
        let _ = exercise(&bytes);
    }
}
