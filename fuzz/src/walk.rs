//! Every question that the class file reader answers.

use std::hint::black_box;

use hypocenter_classfile::{
    ClassFile, Code, ConstantPool, Member, annotations, callee_text, code_digest_symbolic, descriptor,
    display_name,
};

/// How many addresses of a method are looked up in its line table, each of which reads the whole table.
const LINE_LOOKUPS_MAX: usize = 16;

/// Reads the class as far as it can be read.
pub fn class(bytes: &[u8]) {
    let class = match ClassFile::parse(bytes) {
        Ok(class) => class,
        Err(error) => {
            black_box(error.to_string());
            return;
        }
    };
    assert_eq!(class.bytes(), bytes);
    pool(&class.pool);
    black_box(display_name(class.name()));
    black_box((class.super_name(), class.source_file(), class.interfaces().count()));
    black_box(class.bootstrap_methods().map_err(|error| error.to_string()).ok());
    for (name, body) in class.attributes() {
        assert!(class.attribute(name).is_some());
        // Whatever an attribute is called, its bytes may be taken for annotations.
        black_box(annotations(body, &class.pool).len());
    }
    let mut end = 0;
    for member in class.fields().iter().chain(class.methods()) {
        assert!(end <= member.range.start && member.range.end <= bytes.len(), "members overlap");
        end = member.range.end;
        self::member(&class, member);
    }
}

fn pool(pool: &ConstantPool<'_>) {
    // Two more than there are, as indices in a file may be anything.
    for index in 0..=pool.len().saturating_add(1) {
        black_box(pool.get(index).map_err(|error| error.to_string()).ok());
        let texts = [pool.utf8(index), pool.class_name(index), pool.string(index), pool.single_name(index)];
        black_box(texts.map(Result::ok));
        let _ = black_box((pool.name_and_type(index), pool.member(index), pool.invoke_dynamic(index)));
    }
    assert!(pool.get(0).is_err());
    assert!(pool.get(pool.len()).is_err());
}

fn member(class: &ClassFile<'_>, member: &Member<'_>) {
    let words: u32 = descriptor::parameters(member.descriptor)
        .map(|parameter| u32::from(descriptor::type_words(parameter)))
        .sum();
    if let Some(expected) = descriptor::argument_words(member.descriptor) {
        assert_eq!(words, u32::from(expected));
    }
    black_box(descriptor::return_type(member.descriptor));
    black_box(display_name(member.name));
    black_box(member.exceptions().map_err(|error| error.to_string()).ok());
    for (name, body) in member.attributes() {
        assert!(member.attribute(name).is_some());
        black_box(annotations(body, &class.pool).len());
    }
    match member.code() {
        Ok(Some(code)) => self::code(class, &code),
        Ok(None) => assert!(member.attribute(b"Code").is_none()),
        Err(error) => {
            black_box(error.to_string());
        }
    }
}

fn code(class: &ClassFile<'_>, code: &Code<'_>) {
    let mut next = 0;
    for instruction in code.instructions() {
        let instruction = match instruction {
            Ok(instruction) => instruction,
            Err(error) => {
                black_box(error.to_string());
                next = code.bytes.len() as u32;
                continue;
            }
        };
        assert_eq!(instruction.pc, next, "a gap between instructions");
        assert!(!instruction.bytes.is_empty());
        next = instruction.end();
        black_box((instruction.local(), instruction.falls_through(), instruction.is_return()));
        black_box(instruction.targets().fold(0u32, |sum, target| sum ^ target));
        if let Some(index) = instruction.pool_index() {
            black_box(class.pool.get(index).ok());
        }
        if instruction.is_invoke() {
            black_box(callee_text(&class.pool, &instruction));
        }
    }
    assert_eq!(next as usize, code.bytes.len(), "the instructions do not fill the code");
    for (pc, _) in code.lines().take(LINE_LOOKUPS_MAX) {
        assert!(code.line_at(pc).is_some());
    }
    black_box((code.lines().count(), code.line_at(u32::MAX), code.handlers().count()));
    black_box(code.attributes().map(|(name, body)| name.len() + body.len()).sum::<usize>());
    assert_eq!(code.digest(), code.digest());
    black_box(code_digest_symbolic(class, code).map_err(|error| error.to_string()).ok());
}
