//! Patches of small classes whose every byte is known.

mod support;

use hypocenter_classfile::{
    CallCatch, ClassFile, Error, Insertion, MethodPatch, Patcher, Place, Snippet, Unpatched,
    code_digest_symbolic, op,
};
use support::assembler::{Body, Class, Text, u16s};
use support::jvm;
use support::plan::{self, IDLE, LOOK};

/// Everything that only old compilers wrote, and both switches.
fn old_code() -> Vec<u8> {
    let mut text = Text::default();
    text.op(&[op::ICONST_0, op::ISTORE_1, op::ICONST_0, op::WIDE, op::ISTORE, 1, 44]);
    text.op(&[op::WIDE, op::IINC, 1, 44, 3, 0xe8]); // local 300 += 1000
    text.jump(op::JSR, 2, "sub").jump(op::JSR_W, 4, "sub");
    text.op(&[op::ILOAD_0]).table("td", 0, &["t0", "t1"]);
    text.label("t0").op(&[op::IINC, 1, 10]).jump(op::GOTO_W, 4, "next");
    text.label("t1").op(&[op::IINC, 1, 20]).jump(op::GOTO, 2, "next");
    text.label("td").op(&[op::IINC, 1, 30]);
    text.label("next").op(&[op::ILOAD_0]).lookup("ld", &[(1, "l1"), (5, "l5")]);
    text.label("l1").op(&[op::IINC, 1, 100]).jump(op::GOTO, 2, "end");
    text.label("l5").op(&[op::WIDE, op::IINC, 0, 1, 1, 0xf4]).jump(op::GOTO, 2, "end"); // += 500
    text.label("ld").jump(op::JSR, 2, "sub");
    text.label("end").op(&[op::ILOAD_1, op::WIDE, op::ILOAD, 1, 44, op::IADD, op::IRETURN]);
    text.label("sub").op(&[op::ASTORE_2, op::IINC, 1, 1, op::RET, 2]);
    text.finish()
}

#[test]
fn old_instructions_survive_hooks_around_each_of_them() {
    let work = jvm::folder("patch-old");
    jvm::compile(&["Runner.java"], &work);
    let mut java = jvm::tool("java");
    java.arg("-Xverify:all").arg("-cp").arg(&work).args(["Runner", "Old"]);
    let mut expect = String::new();
    for major in [45, 48, 49, 50] {
        let mut class = Class::new(major);
        class.method("run", "(I)I", &Body { stack: 2, locals: 301, code: old_code(), ..Body::default() });
        let bytes = class.finish("Old");
        let class = ClassFile::parse(&bytes).unwrap();
        let code = class.methods()[0].code().unwrap().unwrap();
        let list = plan::instructions(&code);
        assert_eq!(list.last().unwrap().end() as usize, code.bytes.len());
        let locals: Vec<_> = list.iter().filter_map(|i| i.local()).collect();
        assert_eq!(locals, [1, 300, 300, 0, 1, 1, 1, 0, 1, 1, 1, 300, 2, 1, 2]);
        let insertions: Vec<_> = list
            .iter()
            .flat_map(|i| {
                [Place::Before, Place::After].map(|place| Insertion { at: i.pc, place, snippet: IDLE })
            })
            .collect();
        // Padding differs for each start of the switches, so the code is shifted by every amount.
        for shift in 0..4 {
            let nops = [op::NOP; 3];
            let entry = Snippet { bytes: &nops[..shift], stack: 0 };
            let mut insertions = insertions.clone();
            insertions.push(Insertion { at: 0, place: Place::Entry, snippet: entry });
            for at_all in [&insertions[..], &insertions[insertions.len() - 1..]] {
                let mut patcher = Patcher::new(&class);
                patcher
                    .method(
                        0,
                        &MethodPatch { insertions: at_all, catch_all: Some(&IDLE), ..MethodPatch::default() },
                    )
                    .unwrap();
                let folder = jvm::folder(&format!("patch-old/{major}-{shift}-{}", at_all.len()));
                std::fs::write(folder.join("Old.class"), patcher.finish()).unwrap();
                java.arg(folder);
                expect.push_str("1013 1122 1033 1033 1033 1532 1033\n");
            }
        }
    }
    assert_eq!(jvm::run(&mut java), expect);
}

#[test]
fn every_address_goes_to_the_boundary_or_to_the_instruction() {
    let mut class = Class::new(61);
    let (integer, init) =
        (class.class("java/lang/Integer"), class.method_ref("java/lang/Integer", "<init>", "(I)V"));
    let (integer, init) = (integer.to_be_bytes(), init.to_be_bytes());
    let mut text = Text::default();
    text.op(&[op::NEW, integer[0], integer[1], op::DUP, op::ILOAD_0]).jump(op::IFEQ, 2, "two");
    text.op(&[op::ICONST_1]).jump(op::GOTO, 2, "call");
    text.label("two").op(&[op::ICONST_2]);
    text.label("call").op(&[op::INVOKESPECIAL, init[0], init[1], op::POP, op::RETURN]);
    let code = text.finish();
    assert_eq!(code.len(), 18);
    let annotation = [0, 1, 0, 1, 0, 2, b'[', 0, 1, b'I', 0, 3];
    let frames = |first: u8, second: u8, new: u8| {
        let u = [8, 0, new];
        let mut out = vec![0, 2, 255, 0, first, 0, 1, 1, 0, 2];
        out.extend([u, u].concat());
        out.extend([255, 0, second, 0, 1, 1, 0, 3]);
        out.extend([&u[..], &u, &[1]].concat());
        out
    };
    let annotations = |new: u8, len: u8, cast: u8| {
        let mut out = vec![0, 3];
        out.extend([&[0x44, 0, new, 0][..], &annotation].concat());
        out.extend([&[0x40, 0, 1, 0, 0, 0, len, 0, 0, 1, 3, 0][..], &annotation].concat());
        out.extend([&[0x47, 0, cast, 0, 0][..], &annotation].concat());
        out
    };
    let attributes = vec![
        ("LineNumberTable", u16s(&[2, 0, 1, 12, 2])),
        ("StackMapTable", frames(12, 0, 0)),
        ("Custom", vec![0, 12, 0, 13]),
        ("LineNumberTable", u16s(&[2, 13, 3, 5, 4])),
        ("LocalVariableTable", u16s(&[2, 0, 18, 1, 1, 0, 4, 9, 1, 1, 1])),
        ("LocalVariableTypeTable", u16s(&[1, 12, 1, 1, 1, 1])),
        ("RuntimeVisibleTypeAnnotations", annotations(0, 18, 12)),
        ("RuntimeInvisibleTypeAnnotations", annotations(0, 18, 12)),
    ];
    let handlers = vec![[0, 12, 12, 0], [12, 18, 13, 0]];
    class.method("run", "(I)V", &Body { stack: 4, locals: 1, code, handlers, attributes });
    let bytes = class.finish("Moved");
    let class = ClassFile::parse(&bytes).unwrap();
    let insertions = [0, 12].map(|at| Insertion { at, place: Place::Before, snippet: IDLE });
    let mut patcher = Patcher::new(&class);
    patcher
        .method(0, &MethodPatch { insertions: &insertions, catch_all: None, ..MethodPatch::default() })
        .unwrap();
    let patched = patcher.finish();
    let class = ClassFile::parse(&patched).unwrap();
    let code = class.methods()[0].code().unwrap().unwrap();
    assert_eq!((code.max_stack, code.bytes.len()), (5, 26));
    assert_eq!(code.bytes[9..12], [op::IFEQ, 0, 7]);
    assert_eq!(code.bytes[13..16], [op::GOTO, 0, 8]);
    let ranges: Vec<_> = code.handlers().map(|h| (h.start, h.end, h.handler)).collect();
    assert_eq!(ranges, [(0, 16, 16), (16, 26, 21)]);
    assert_eq!(code.lines().collect::<Vec<_>>(), [(0, 1), (16, 2), (21, 3), (9, 4)]);
    assert_eq!([0, 8, 15, 16, 20, 21].map(|pc| code.line_at(pc)), [1, 1, 4, 2, 2, 3].map(Some));
    let expect = [
        ("LineNumberTable", u16s(&[2, 0, 1, 16, 2])),
        ("StackMapTable", frames(16, 4, 4)),
        ("Custom", vec![0, 12, 0, 13]),
        ("LineNumberTable", u16s(&[2, 21, 3, 9, 4])),
        ("LocalVariableTable", u16s(&[2, 0, 26, 1, 1, 0, 8, 13, 1, 1, 1])),
        ("LocalVariableTypeTable", u16s(&[1, 16, 5, 1, 1, 1])),
        ("RuntimeVisibleTypeAnnotations", annotations(4, 26, 20)),
        ("RuntimeInvisibleTypeAnnotations", annotations(4, 26, 20)),
    ];
    for ((name, body), (expect_name, expect_body)) in code.attributes().zip(&expect) {
        assert_eq!((name, body), (expect_name.as_bytes(), &expect_body[..]), "{expect_name}");
    }
    assert_eq!(code.attributes().count(), expect.len());
}

/// A class whose method 0 is `code` and whose method 1 can be patched.
fn two_methods(code: Vec<u8>, stack: u16, pool: Option<u16>) -> Vec<u8> {
    let mut class = Class::new(61);
    class.method("big", "()V", &Body { stack, locals: 1, code, ..Body::default() });
    class.method("small", "()V", &Body { stack: 0, locals: 0, code: vec![op::RETURN], ..Body::default() });
    class.bodiless("none", "()V");
    if let Some(count) = pool {
        // Four more for the name of the class and its parent.
        class.fill(count - 4);
    }
    class.finish("Two")
}

/// Method 0 must fail like this and stay as it was, whether or not method 1 is patched.
fn check_unpatched(bytes: &[u8], insertion: Insertion<'_>, expect: &Unpatched) {
    let class = ClassFile::parse(bytes).unwrap();
    let patch = MethodPatch { insertions: &[insertion], catch_all: None, ..MethodPatch::default() };
    let mut patcher = Patcher::new(&class);
    assert_eq!(patcher.method(0, &patch).as_ref(), Err(expect));
    assert_eq!(patcher.finish(), bytes, "after {expect}");
    let mut patcher = Patcher::new(&class);
    assert!(patcher.method(0, &patch).is_err());
    let other = Insertion { at: 0, place: Place::Before, snippet: IDLE };
    patcher
        .method(1, &MethodPatch { insertions: &[other], catch_all: None, ..MethodPatch::default() })
        .unwrap();
    let patched = patcher.finish();
    let after = ClassFile::parse(&patched).unwrap();
    let range = |class: &ClassFile<'_>, n: usize| class.bytes()[class.methods()[n].range.clone()].to_vec();
    assert_eq!(range(&after, 0), range(&class, 0));
    assert_ne!(range(&after, 1), range(&class, 1));
}

#[test]
fn a_method_that_cannot_be_patched_stays_as_it_was() {
    let nops = vec![op::NOP; 1000];
    let long = Snippet { bytes: &nops, stack: 0 };
    let before = |at| Insertion { at, place: Place::Before, snippet: long };

    let mut far = vec![op::ILOAD_0, op::IFEQ, 0x7f, 0x00];
    far.resize(1 + 0x7f00, op::NOP);
    far.push(op::RETURN);
    let far = two_methods(far, 1, None);
    check_unpatched(&far, before(10), &Unpatched::BranchTooFar { pc: 1 });

    let mut big = vec![op::NOP; 65_000];
    big.push(op::RETURN);
    let big = two_methods(big, 0, None);
    check_unpatched(&big, before(10), &Unpatched::MethodTooLarge { bytes: 66_001 });

    let deep = two_methods(vec![op::RETURN], 0xFFFF, None);
    let idle = Insertion { at: 0, place: Place::Before, snippet: IDLE };
    check_unpatched(&deep, idle, &Unpatched::StackTooDeep);

    let jump = two_methods(vec![op::SIPUSH, 0, 0, op::IFEQ, 0, 3, op::RETURN], 1, None);
    check_unpatched(&jump, Insertion { at: 1, ..idle }, &Unpatched::NotAnInstruction { pc: 1 });
    check_unpatched(&jump, Insertion { at: 7, ..idle }, &Unpatched::NotAnInstruction { pc: 7 });
    let edge = |from| Insertion { at: 6, place: Place::Edges { fall: false, from }, snippet: IDLE };
    check_unpatched(&jump, edge(&[3]), &Unpatched::EdgeNotSeparable { pc: 6 });
    check_unpatched(&jump, edge(&[0]), &Unpatched::EdgeNotSeparable { pc: 0 });

    let wild = two_methods(vec![op::GOTO, 0, 1], 1, None);
    let class = ClassFile::parse(&wild).unwrap();
    let offset = class.methods()[0].range.start + 8 + 14;
    let error = Error::BadTarget { what: "jump", pc: 1, offset };
    check_unpatched(&wild, idle, &Unpatched::Malformed(error));
    let mut patcher = Patcher::new(&class);
    for n in [2, 3, usize::MAX] {
        assert_eq!(patcher.method(n, &MethodPatch::default()), Err(Unpatched::NoCode));
    }
}

#[test]
fn a_full_pool_is_reported_and_taken_back() {
    let bytes = two_methods(vec![op::RETURN], 0, Some(0xFFFF));
    let class = ClassFile::parse(&bytes).unwrap();
    assert_eq!(class.pool.len(), 0xFFFF);
    let mut patcher = Patcher::new(&class);
    assert_eq!(patcher.utf8(b"x"), Err(Unpatched::PoolFull));
    let patch = MethodPatch { insertions: &[], catch_all: Some(&IDLE), ..MethodPatch::default() };
    assert_eq!(patcher.method(0, &patch), Err(Unpatched::PoolFull));
    assert_eq!(patcher.finish(), bytes);

    let bytes = two_methods(vec![op::RETURN], 0, Some(0xFFFF - 3));
    let class = ClassFile::parse(&bytes).unwrap();
    let mut patcher = Patcher::new(&class);
    let start = patcher.mark();
    assert_eq!(patcher.method_ref(b"a", b"b", b"()V"), Err(Unpatched::PoolFull));
    assert_eq!(patcher.mark(), start, "half a method reference stays behind");
    let first = patcher.class(b"a").unwrap();
    assert_eq!(first, 0xFFFF - 2);
    assert_eq!(patcher.class(b"a"), Ok(first));
    let number = patcher.integer(7).unwrap();
    assert_eq!(number, 0xFFFE);
    assert_eq!(patcher.integer(8), Err(Unpatched::PoolFull));
    patcher.rollback(start);
    assert_eq!(patcher.string(b"a"), Ok(first), "a rolled back constant must not be found again");
    let patched = patcher.finish();
    let class = ClassFile::parse(&patched).unwrap();
    assert_eq!((class.pool.len(), class.pool.string(first)), (0xFFFF - 1, Ok(&b"a"[..])));
}

#[test]
fn digests_see_the_program_and_not_the_numbers_of_its_constants() {
    let build = |fillers: u16, text: &str, wide: bool, end: u8| {
        let mut class = Class::new(61);
        for n in 0..fillers {
            class.utf8(&format!("filler{n}"));
        }
        let string = class.string(text).to_be_bytes();
        let length = class.method_ref("java/lang/String", "length", "()I").to_be_bytes();
        let mut code = Text::default();
        match wide {
            true => code.op(&[op::LDC_W, string[0], string[1]]),
            false => code.op(&[op::LDC, string[1]]),
        };
        code.op(&[op::INVOKEVIRTUAL, length[0], length[1]]).jump(op::IFEQ, 2, "end").op(&[op::NOP]);
        code.label("end").op(&[end]);
        let handlers = vec![[0, if wide { 6 } else { 5 }, if wide { 9 } else { 8 }, 0]];
        let body = Body { stack: 1, code: code.finish(), handlers, ..Body::default() };
        class.method("run", "()V", &body);
        class.finish("Digest")
    };
    let digests = |bytes: Vec<u8>| {
        let class = ClassFile::parse(&bytes).unwrap();
        let code = class.methods()[0].code().unwrap().unwrap();
        (code.digest(), code_digest_symbolic(&class, &code).unwrap())
    };
    let base = digests(build(0, "x", false, op::RETURN));
    assert_eq!(base, digests(build(0, "x", false, op::RETURN)));
    for same in
        [build(9, "x", false, op::RETURN), build(0, "x", true, op::RETURN), build(300, "x", true, op::RETURN)]
    {
        let same = digests(same);
        assert_ne!(same.0, base.0);
        assert_eq!(same.1, base.1);
    }
    for other in [build(0, "y", false, op::RETURN), build(0, "x", false, op::ATHROW)] {
        assert_ne!(digests(other).1, base.1);
    }
}

#[test]
fn a_goto_gets_no_copy_of_what_every_way_runs() {
    let code = vec![op::IFEQ, 0, 6, op::GOTO, 0, 6, op::GOTO, 0, 3, op::RETURN, op::POP, op::RETURN];
    let mut class = Class::new(49);
    class.method("f", "()V", &Body { stack: 1, code, handlers: vec![[9, 10, 10, 0]], ..Body::default() });
    let bytes = class.finish("A");
    let class = ClassFile::parse(&bytes).unwrap();
    let push = |n: u8| [op::BIPUSH, n, op::POP];
    let (a, b, c) = (push(1), push(2), push(3));
    let at = |place, bytes| Insertion { at: 9, place, snippet: Snippet { bytes, stack: 1 } };
    let insertions = [
        at(Place::Before, &a),
        at(Place::Edges { fall: false, from: &[3] }, &b),
        at(Place::Edges { fall: false, from: &[6] }, &c),
    ];
    let mut patcher = Patcher::new(&class);
    patcher
        .method(0, &MethodPatch { insertions: &insertions, catch_all: None, ..MethodPatch::default() })
        .unwrap();
    let out = patcher.finish();
    let code = ClassFile::parse(&out).unwrap().methods()[0].code().unwrap().unwrap();
    let range = code.handlers().next().unwrap();
    let inside = &code.bytes[usize::from(range.start)..usize::from(range.end)];
    assert_eq!(inside, [op::BIPUSH, 1, op::POP, op::RETURN], "{:02x?}", code.bytes);
}

#[test]
fn a_pool_that_ends_in_half_a_long_is_refused() {
    // The count has room for the first index of the long and not for its second; constants that a patch adds would
    // get other numbers than the patcher gave them.
    let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49, 0, 2, 5];
    bytes.extend([0; 32]);
    assert!(matches!(ClassFile::parse(&bytes), Err(Error::NoConstant { index: 2, .. })));
    bytes[9] = 3;
    let error = ClassFile::parse(&bytes).map(|_| ()).unwrap_err();
    assert!(!matches!(error, Error::NoConstant { index: 2, .. }), "the pool itself is fine now: {error}");
}

/// A method that calls another, with a handler for one class, and one for everything that covers that handler and, from `own` on, itself.
fn handled(own: u16) -> (Vec<u8>, u16) {
    let mut class = Class::new(49);
    let [high, low] = class.method_ref("A", "f", "()V").to_be_bytes();
    let caught = class.class("java/io/IOException");
    let code = vec![
        op::INVOKESTATIC,
        high,
        low,
        op::RETURN,
        op::POP,
        op::RETURN,
        op::ASTORE_0,
        op::ALOAD_0,
        op::ATHROW,
    ];
    let handlers = vec![[0, 3, 4, caught], [0, 6, 6, 0], [own, 7, 6, 0]];
    class.method("f", "()V", &Body { stack: 1, locals: 1, code, handlers, ..Body::default() });
    (class.finish("A"), caught)
}

#[test]
fn no_handler_is_reached_by_a_jump_or_from_its_own_snippet() {
    for own in [5, 6] {
        let (bytes, caught) = handled(own);
        let class = ClassFile::parse(&bytes).unwrap();
        let patch = MethodPatch {
            insertions: &[Insertion { at: 6, place: Place::Before, snippet: IDLE }],
            catch_all: Some(&IDLE),
            calls: &[CallCatch { at: 0, snippet: LOOK }],
            ..MethodPatch::default()
        };
        let mut patcher = Patcher::new(&class);
        patcher.method(0, &patch).unwrap();
        let patched = patcher.finish();
        let code = ClassFile::parse(&patched).unwrap().methods()[0].code().unwrap().unwrap();
        let added = [
            // The handler for everything, behind its snippet.
            &[op::ASTORE_0, op::ALOAD_0, op::ATHROW][..],
            // The blocks for the call.
            &[op::DUP, op::POP, op::ATHROW],
            &[op::DUP, op::POP, op::ATHROW],
            &[op::GOTO_W, 0xFF, 0xFF, 0xFF, 0xF7],
        ];
        assert_eq!(code.bytes[10..24], added.concat());
        let mut expect = vec![
            (0, 3, 13, caught),
            (13, 16, 4, caught),
            (13, 16, 6, 0),
            (0, 3, 16, 0),
            (16, 19, 6, 0),
            (0, 3, 4, caught),
            (0, 6, 6, 0),
            (6, 10, 19, 0),
            (10, 11, 6, 0),
            (0, 24, 24, 0),
        ];
        if own < 6 {
            expect.insert(7, (own, 6, 6, 0));
        }
        let table: Vec<_> = code.handlers().map(|it| (it.start, it.end, it.handler, it.catch_type)).collect();
        assert_eq!(table, expect, "from {own}");
    }
}
