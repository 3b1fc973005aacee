//! No bytes may make the reader or the patcher panic.

mod support;

use hypocenter_classfile::{
    CallCatch, ClassFile, Error, Insertion, MethodPatch, Patcher, Place, Unpatched, code_digest_symbolic, op,
};
use proptest::prelude::*;
use std::sync::OnceLock;
use support::assembler::{Body, Class, u16s};
use support::jvm;
use support::plan::{self, Hooks, IDLE, LOOK, Tally};

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
                let _ = patcher.method(
                    n,
                    &MethodPatch {
                        insertions: &insertions,
                        catch_all: Some(&IDLE),
                        ..MethodPatch::default()
                    },
                );
            }
        }
    }
    for hooks in [Hooks::Calls, Hooks::Blocks, Hooks::Edges, Hooks::Thrown, Hooks::Jumps] {
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

/// A class of `methods` methods that each load one dynamic constant, the arguments of which are dynamic constants, and
/// so on, `levels` deep and `fan` wide.
fn nested_constants(methods: u16, levels: u16, fan: u16) -> Vec<u8> {
    const FIRST: u16 = 10;
    let leaf = FIRST + levels;
    let text = |text: &str| [&[1, 0, text.len() as u8], text.as_bytes()].concat();
    let entry = |tag: u8, operands: &[u16]| [vec![tag], u16s(operands)].concat();
    let mut out = [&[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61][..], &u16s(&[leaf + 1])].concat();
    out.extend([text("A"), entry(7, &[1]), text("I"), entry(12, &[1, 3]), entry(10, &[2, 4])].concat());
    out.extend([vec![15, 6, 0, 5], text("Code"), text("BootstrapMethods"), text("()V")].concat());
    (0..levels).for_each(|level| out.extend(entry(17, &[level, 4])));
    out.extend([3, 0, 0, 0, 7]);
    out.extend(u16s(&[0x21, 2, 0, 0, 0, methods]));
    for _ in 0..methods {
        out.extend(u16s(&[9, 1, 9, 1, 7, 0, 17, 1, 0, 0, 5]));
        out.extend([op::LDC_W, 0, FIRST as u8, op::POP, op::RETURN, 0, 0, 0, 0]);
    }
    out.extend(u16s(&[1, 8, 0, 2 + levels * (4 + 2 * fan), levels]));
    for level in 1..=levels {
        out.extend(u16s(&[6, fan]));
        (0..fan).for_each(|_| out.extend(u16s(&[FIRST + level])));
    }
    out
}

#[test]
fn constants_that_share_arguments_do_not_multiply_in_every_method() {
    let digests = |bytes: &[u8]| -> Vec<bool> {
        let class = ClassFile::parse(bytes).unwrap();
        let codes = class.methods().iter().map(|method| method.code().unwrap().unwrap());
        codes.map(|code| code_digest_symbolic(&class, &code).is_ok()).collect()
    };
    // As many arguments as a call can have, and dynamic constants in dynamic constants as compilers write them.
    assert_eq!(digests(&nested_constants(1, 1, 250)), [true]);
    assert_eq!(digests(&nested_constants(1, 3, 15)), [true]);
    // 65,536 constants behind one instruction are few enough once, and too many in a class that does it all the time:
    // 6 KB of 200 methods with the whole of `WORK_MAX` each took more than a minute.
    assert_eq!(digests(&nested_constants(1, 15, 2)), [false]);
    assert_eq!(digests(&nested_constants(200, 15, 8)), [false; 200]);
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

#[test]
fn many_calls_below_many_handlers_are_refused_before_they_multiply() {
    const CALLS: u16 = 20_000;
    let end = 3 * CALLS;
    for (handlers, cover) in [(60_000, end), (40, end + 2)] {
        let mut class = Class::new(49);
        let [high, low] = class.method_ref("A", "f", "()V").to_be_bytes();
        let caught = class.class("java/io/IOException");
        let mut code = [op::INVOKESTATIC, high, low].repeat(usize::from(CALLS));
        code.extend([op::RETURN, op::ATHROW]);
        let handlers = vec![[0, cover, end + 1, caught]; handlers];
        class.method("f", "()V", &Body { stack: 1, code, handlers, ..Body::default() });
        let bytes = class.finish("A");
        let class = ClassFile::parse(&bytes).unwrap();
        let calls: Vec<_> = (0..u32::from(CALLS)).map(|n| CallCatch { at: 3 * n, snippet: LOOK }).collect();
        for many in [calls.len(), 100] {
            let patch = MethodPatch { calls: &calls[..many], ..MethodPatch::default() };
            let refused = Patcher::new(&class).method(0, &patch);
            assert!(matches!(refused, Err(Unpatched::MethodTooLarge { .. })), "{refused:?}");
        }
    }
}
