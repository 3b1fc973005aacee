//! Bytes at random: nothing may panic or hang, and what is found must be sound.

use hypocenter_classfile::ClassFile;
use hypocenter_program::flow::Flow;
use hypocenter_program::loops::Loops;
use hypocenter_program::{KindSet, SitePattern, sites_of_method};
use proptest::prelude::*;

use crate::jdk::check_loops;

/// A class with one method `a()Z` of this code and these handlers (start, end, handler).
fn class_with(code: &[u8], handlers: &[(u16, u16, u16)]) -> Vec<u8> {
    let mut out = b"\xca\xfe\xba\xbe\0\0\0\x34".to_vec();
    let utf8 = |text: &[u8]| [&[1, 0, text.len() as u8], text].concat();
    // 1 a, 2 class a, 3 ()Z, 4 Code, 5 a:()Z, 6 a.a()Z
    let pool =
        [utf8(b"a"), vec![7, 0, 1], utf8(b"()Z"), utf8(b"Code"), vec![12, 0, 1, 0, 3], vec![10, 0, 2, 0, 5]];
    out.extend([0, pool.len() as u8 + 1]);
    out.extend(pool.concat());
    // public, this 2, super 0, no interfaces, no fields, one method: public static a()Z with one attribute.
    out.extend([0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 9, 0, 1, 0, 3, 0, 1]);
    let mut body = vec![0, 9, 0, 9];
    body.extend((code.len() as u32).to_be_bytes());
    body.extend(code);
    body.extend((handlers.len() as u16).to_be_bytes());
    for (start, end, handler) in handlers {
        body.extend([*start, *end, *handler].iter().flat_map(|it| it.to_be_bytes()));
        body.extend([0, 0]);
    }
    body.extend([0, 0]);
    out.extend([0, 4]);
    out.extend((body.len() as u32).to_be_bytes());
    out.extend(body);
    out.extend([0, 0]);
    out
}

fn check(bytes: &[u8]) {
    let Ok(class) = ClassFile::parse(bytes) else { return };
    for method in class.methods() {
        let _ = sites_of_method(&class, method, KindSet::ALL);
        let Ok(Some(code)) = method.code() else { continue };
        if let Ok(flow) = Flow::of(&code) {
            check_loops(&flow, &Loops::of(&flow));
        }
    }
}

/// Code of three-byte instructions that jump among each other: `goto`, `ifeq`, `invokestatic 6`; then `ireturn`.
fn jumps() -> impl Strategy<Value = (Vec<u8>, Vec<(u16, u16, u16)>)> {
    let instruction = (0..4u8, 0..24u16);
    (prop::collection::vec(instruction, 1..24), prop::collection::vec((0..24u16, 0..24u16, 0..24u16), 0..4))
        .prop_map(|(instructions, handlers)| {
            let count = instructions.len() as u16;
            let mut code = Vec::new();
            for (at, (kind, to)) in instructions.into_iter().enumerate() {
                let offset = (((to % count) * 3) as i16 - (at * 3) as i16).to_be_bytes();
                code.extend(match kind {
                    0 => [0xa7, offset[0], offset[1]],
                    1 => [0x99, offset[0], offset[1]],
                    2 => [0xb8, 0, 6],
                    _ => [0, 0, 0xac],
                });
            }
            code.extend([3, 0xac]);
            let handlers =
                handlers.into_iter().map(|(a, b, c)| (a % count * 3, b % count * 3, c % count * 3)).collect();
            (code, handlers)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
        check(&class_with(&bytes, &[(0, 9, 3)]));
    }

    #[test]
    fn any_jumps_give_sound_loops((code, handlers) in jumps()) {
        check(&class_with(&code, &handlers));
    }

    #[test]
    fn any_text_is_a_pattern_or_an_error(text in "[A-C.$*<>()#: \\-newloopinit0-9]{0,24}") {
        if let Ok(pattern) = text.parse::<SitePattern>() {
            prop_assert_eq!(pattern.to_string().parse::<SitePattern>().unwrap(), pattern);
        }
    }
}

#[test]
fn a_tangle_as_large_as_a_method_can_be_ends() {
    // Every instruction jumps far back or forth; every handler covers everything.
    let count = 21_000i32;
    let mut code = Vec::new();
    for at in 0..count {
        let to = (at * 7919) % count;
        let offset = ((to - at) * 3).clamp(-30_000 / 3 * 3, 30_000 / 3 * 3);
        code.push(0x99);
        code.extend((offset.clamp(-at * 3, (count - 1 - at) * 3) as i16).to_be_bytes());
    }
    code.extend([3, 0xac]);
    let handlers: Vec<_> = (0..40).map(|at| (0, 60_000, at * 3)).collect();
    let start = std::time::Instant::now();
    let bytes = class_with(&code, &handlers);
    let class = ClassFile::parse(&bytes).unwrap();
    for handlers_too in [false, true] {
        let bytes = class_with(&code, if handlers_too { &handlers } else { &[] });
        let class = ClassFile::parse(&bytes).unwrap();
        let found = sites_of_method(&class, &class.methods()[0], KindSet::ALL).unwrap();
        assert!(found.irreducible > 0);
    }
    let thousands: Vec<_> = (0..20_000).map(|at| (0, 60_000, at * 3)).collect();
    let bytes = class_with(&code, &thousands);
    let many = ClassFile::parse(&bytes).unwrap();
    assert!(sites_of_method(&many, &many.methods()[0], KindSet::ALL).is_err());
    assert_eq!(class.methods().len(), 1);
    assert!(start.elapsed().as_secs() < 60);
}
