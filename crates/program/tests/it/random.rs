//! Bytes at random: nothing may panic or hang, and what is found must be sound.

use hypocenter_classfile::ClassFile;
use hypocenter_program::flow::{Flow, Way};
use hypocenter_program::loops::Loops;
use hypocenter_program::{
    Body, ControlDependence, Dominance, Edges, KindSet, SitePattern, Tangled, sites_of_method,
};
use proptest::prelude::*;

use crate::body::sound;
use crate::jdk::check_loops;

/// A class with one method `a()Z` of this code and these handlers (start, end, handler).
fn class_with(code: &[u8], handlers: &[(u16, u16, u16)]) -> Vec<u8> {
    class_with_locals(code, handlers, 9)
}

fn class_with_locals(code: &[u8], handlers: &[(u16, u16, u16)], locals: u16) -> Vec<u8> {
    let mut out = b"\xca\xfe\xba\xbe\0\0\0\x34".to_vec();
    let utf8 = |text: &[u8]| [&[1, 0, text.len() as u8], text].concat();
    // 1 a, 2 class a, 3 ()Z, 4 Code, 5 a:()Z, 6 a.a()Z
    let pool =
        [utf8(b"a"), vec![7, 0, 1], utf8(b"()Z"), utf8(b"Code"), vec![12, 0, 1, 0, 3], vec![10, 0, 2, 0, 5]];
    out.extend([0, pool.len() as u8 + 1]);
    out.extend(pool.concat());
    // public, this 2, super 0, no interfaces, no fields, one method: public static a()Z with one attribute.
    out.extend([0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 9, 0, 1, 0, 3, 0, 1]);
    let mut body = vec![0, 9];
    body.extend(locals.to_be_bytes());
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
            check_dominance(&flow);
        }
        if let Ok(Some(body)) = Body::of_method(&class, method) {
            sound(&body);
            assert!(body.is_complete() || body.flow.has_subroutines);
        }
    }
}

/// Dominance as it is defined: without a block, those that it dominates are not reached.
fn check_dominance(flow: &Flow<'_>) {
    let count = flow.blocks.len() as u32;
    for edges in [Edges::All, Edges::Normal] {
        let pairs: Vec<(u32, u32)> = flow
            .edges()
            .iter()
            .filter(|it| flow.reachable[it.from as usize])
            .filter(|it| edges == Edges::All || it.way != Way::Throw)
            .map(|it| (it.from, it.to))
            .collect();
        let Ok(before) = Dominance::of(flow, edges) else {
            assert_eq!(ControlDependence::of(flow, edges).err(), Some(Tangled));
            continue;
        };
        check_tree(&before, count, &[0], &pairs);
        let behind = Dominance::post(flow, edges).unwrap();
        let is_end = |it: &u32| flow.reachable[*it as usize] && !pairs.iter().any(|pair| pair.0 == *it);
        let ends: Vec<u32> = (0..count).filter(is_end).collect();
        let turned: Vec<(u32, u32)> = pairs.iter().map(|&(from, to)| (to, from)).collect();
        let to_end = reached(count, &ends, &turned, None);
        let gets_there = |it: u32| !flow.reachable[it as usize] || to_end[it as usize];
        if (0..count).all(gets_there) {
            check_tree(&behind, count, &ends, &turned);
        }
        let control = ControlDependence::of(flow, edges).unwrap();
        for block in 0..count {
            for it in control.of_block(block) {
                let edge = flow.out_of(it.branch)[it.successor as usize];
                assert!(behind.dominates(block, edge.to));
                assert!(block == it.branch || !behind.dominates(block, it.branch));
            }
        }
    }
}

fn check_tree(tree: &Dominance, count: u32, roots: &[u32], pairs: &[(u32, u32)]) {
    let all = reached(count, roots, pairs, None);
    for above in 0..count {
        let rest = reached(count, roots, pairs, Some(above));
        for below in 0..count {
            let dominates = all[above as usize] && all[below as usize] && !rest[below as usize];
            assert_eq!(tree.dominates(above, below), dominates, "{above} {below}");
            if tree.immediate(below) == Some(above) {
                assert!(dominates && above != below);
            }
        }
    }
}

fn reached(count: u32, roots: &[u32], pairs: &[(u32, u32)], without: Option<u32>) -> Vec<bool> {
    let mut reached = vec![false; count as usize];
    let mut pending = roots.to_vec();
    while let Some(block) = pending.pop() {
        if Some(block) != without && !std::mem::replace(&mut reached[block as usize], true) {
            pending.extend(pairs.iter().filter(|it| it.0 == block).map(|it| it.1));
        }
    }
    reached
}

/// Code of any instructions, three bytes each: three that only compute or move, or one that jumps, calls, counts or
/// stores. `jsr` is rare, as it ends the search for values.
fn code() -> impl Strategy<Value = (Vec<u8>, Vec<(u16, u16, u16)>)> {
    const COMPUTES: [(u8, u8); 4] = [(0, 15), (26, 53), (59, 131), (133, 152)];
    let computes = prop::sample::select(Vec::from_iter(COMPUTES.into_iter().flat_map(|(a, b)| a..=b)));
    let ends = prop::sample::select(vec![0u8, 172, 173, 176, 177, 190, 191, 194]);
    let instruction = (0..12u8, 0..24u16, prop::array::uniform2(computes), ends);
    let handler = (0..24u16, 0..24u16, 0..24u16);
    (prop::collection::vec(instruction, 1..24), prop::collection::vec(handler, 0..4)).prop_map(
        |(instructions, handlers)| {
            let count = instructions.len() as u16;
            let mut code = Vec::new();
            for (at, (kind, to, [a, b], end)) in instructions.into_iter().enumerate() {
                let offset = (((to % count) * 3) as i16 - (at * 3) as i16).to_be_bytes();
                code.extend(match kind {
                    0 => [0xa7, offset[0], offset[1]],
                    1 => [0x99, offset[0], offset[1]],
                    2 => [0xa5, offset[0], offset[1]],
                    3 => [0xb8, 0, 6],
                    4 => [0xb6, 0, to as u8 % 8],
                    5 => [0x84, to as u8 % 12, 1],
                    6 if to == 7 => [0xa8, offset[0], offset[1]],
                    7 => [a, b, end],
                    _ => [a, b, 0],
                });
            }
            code.extend([3, 0xac]);
            let handlers =
                handlers.into_iter().map(|(a, b, c)| (a % count * 3, b % count * 3, c % count * 3)).collect();
            (code, handlers)
        },
    )
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
    fn any_code_has_a_sound_body((code, handlers) in code()) {
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
        let body = Body::of_method(&class, &class.methods()[0]).unwrap().unwrap();
        for edges in [Edges::All, Edges::Normal] {
            let _ = ControlDependence::of(&body.flow, edges);
        }
    }
    let thousands: Vec<_> = (0..20_000).map(|at| (0, 60_000, at * 3)).collect();
    let bytes = class_with(&code, &thousands);
    let many = ClassFile::parse(&bytes).unwrap();
    assert!(sites_of_method(&many, &many.methods()[0], KindSet::ALL).is_err());
    assert_eq!(class.methods().len(), 1);
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn values_of_huge_methods_are_bounded() {
    let start = std::time::Instant::now();
    let body_of = |code: &[u8], handlers: &[(u16, u16, u16)], locals: u16| {
        let bytes = class_with_locals(code, handlers, locals);
        let class = ClassFile::parse(&bytes).unwrap();
        let body = Body::of_method(&class, &class.methods()[0]).unwrap().unwrap();
        let _ = ControlDependence::of(&body.flow, Edges::All);
        (body.is_complete(), body.value_count())
    };
    // Every block stores another local and may throw; the handler reads all of them, and may throw itself.
    let mut code = Vec::new();
    for at in 0..4000 {
        code.extend([0xb8, 0, 6, 0x36, (at % 250) as u8, 3, 0x99, 0, 3]);
    }
    let handler = code.len() as u16;
    code.push(0x57);
    for local in 0..250 {
        code.extend([0x15, local, 0x57, 0xb8, 0, 6, 0x99, 0, 3]);
    }
    code.extend([3, 0xac]);
    let handlers = [(0, code.len() as u16, handler)];
    body_of(&code, &handlers, 250);
    // More locals than could be followed: within a block they still are.
    assert!(!body_of(&code, &handlers, 65_535).0);
    // A stack that grows and is never emptied, and a switch's worth of ways on from there.
    let code: Vec<u8> = (0..6000).flat_map(|_| [3, 0x5c, 0x5c, 3, 0x99, 0, 3]).chain([3, 0xac]).collect();
    assert!(!body_of(&code, &[], 9).0);
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn a_handler_that_nothing_leads_to_takes_no_value_from_itself() {
    // 0: goto 6; 3 (handler of 0..3): iinc 4 1; 6: ifeq 3; iconst_0; ireturn
    check(&class_with(&[167, 0, 6, 132, 4, 1, 153, 255, 253, 3, 172], &[(0, 3, 3), (0, 3, 6)]));
    // 0: goto 0; 3 (handler of 0..3 and of nothing): iinc 4 1; 6: goto 3
    check(&class_with(&[167, 0, 0, 132, 4, 1, 167, 255, 253], &[(0, 3, 3)]));
    check(&class_with(&[167, 0, 0, 132, 4, 1, 167, 255, 253], &[(0, 0, 3)]));
}
