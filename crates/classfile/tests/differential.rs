//! Another reader must see the same in real classes.

mod support;

use hypocenter_classfile::{ClassFile, op};
use noak::reader::{AttributeContent, Class};
use support::jvm;

/// The opcodes' names as `noak` spells them, without case: `if_icmpeq` is `IfICmpEq`.
fn names() -> Vec<String> {
    let mut names = vec![String::new(); 256];
    for line in include_str!("../src/op.rs").lines() {
        let Some((name, value)) = line.strip_prefix("pub const ").and_then(|l| l.split_once(": u8 = "))
        else {
            continue;
        };
        names[value.trim_end_matches(';').parse::<usize>().unwrap()] = name.replace('_', "").to_lowercase();
    }
    names
}

#[test]
fn noak_reads_the_same() {
    let names = names();
    assert_eq!(names[usize::from(op::GOTO_W)], "gotow");
    let classes = jvm::jdk_classes("differential", &["java.base/java/util", "java.base/java/lang"]);
    let (mut methods, mut instructions, mut lines) = (0, 0, 0);
    for bytes in &classes {
        let ours = ClassFile::parse(bytes).unwrap();
        let theirs = Class::new(bytes).unwrap();
        let pool = theirs.pool();
        let name = pool.retrieve(theirs.this_class()).unwrap().name.as_bytes();
        assert_eq!(ours.name(), name);
        let interfaces = theirs.interfaces().into_iter();
        let interfaces: Vec<_> =
            interfaces.map(|i| pool.retrieve(i.unwrap()).unwrap().name.as_bytes()).collect();
        assert_eq!(ours.interfaces().collect::<Vec<_>>(), interfaces);
        assert_eq!(ours.fields().len(), theirs.fields().into_iter().count());
        assert_eq!(ours.methods().len(), theirs.methods().into_iter().count());
        for (our, their) in ours.methods().iter().zip(theirs.methods()) {
            let their = their.unwrap();
            assert_eq!(our.name, pool.retrieve(their.name()).unwrap().as_bytes());
            assert_eq!(our.descriptor, pool.retrieve(their.descriptor()).unwrap().as_bytes());
            assert_eq!(our.access, their.access_flags().bits());
            let code = their.attributes().into_iter().find_map(|a| match a.unwrap().read_content(pool) {
                Ok(AttributeContent::Code(code)) => Some(code),
                _ => None,
            });
            let our = our.code().unwrap();
            assert_eq!(our.is_some(), code.is_some());
            let (Some(our), Some(code)) = (our, code) else { continue };
            methods += 1;
            assert_eq!((our.max_stack, our.max_locals), (code.max_stack(), code.max_locals()));
            let mut raw = code.raw_instructions();
            for instruction in our.instructions() {
                let instruction = instruction.unwrap();
                let (at, theirs) = raw.next().unwrap().unwrap();
                assert_eq!(instruction.pc, at.as_u32());
                let debug = format!("{theirs:?}");
                let theirs = debug.split([' ', '(']).next().unwrap().to_lowercase();
                let ours = match instruction.opcode {
                    op::WIDE => names[usize::from(instruction.bytes[1])].clone() + "w",
                    opcode => names[usize::from(opcode)].clone(),
                };
                assert_eq!(ours, theirs);
                instructions += 1;
            }
            assert!(raw.next().is_none());
            let handlers: Vec<_> = code
                .exception_handlers()
                .map(|h| {
                    let kind = h.catch_type().map_or(0, |i| i.as_u16());
                    (h.start().as_u32(), h.end().as_u32(), h.handler().as_u32(), kind)
                })
                .collect();
            let ours: Vec<_> = our
                .handlers()
                .map(|h| (u32::from(h.start), u32::from(h.end), u32::from(h.handler), h.catch_type))
                .collect();
            assert_eq!(ours, handlers);
            let mut table = Vec::new();
            for attribute in code.attributes() {
                let attribute = attribute.unwrap();
                // noak 0.7 reads the 16-bit addresses of this table as 32-bit ones, so only its bytes are taken.
                if pool.retrieve(attribute.name()).unwrap().as_bytes() == b"LineNumberTable" {
                    let entries = attribute.content()[2..].chunks_exact(4);
                    table.extend(entries.map(|e| {
                        (u32::from(u16::from_be_bytes([e[0], e[1]])), u16::from_be_bytes([e[2], e[3]]))
                    }));
                }
            }
            assert_eq!(our.lines().collect::<Vec<_>>(), table);
            lines += table.len();
        }
    }
    println!("{} classes, {methods} methods, {instructions} instructions, {lines} lines", classes.len());
    assert!(methods > 5_000 && instructions > 100_000 && lines > 10_000);
}
