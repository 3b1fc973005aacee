//! The helper's methods behind constants: each takes what was loaded, and answers it or what is loaded instead.
//!
//! As Java the one for an `int` would read
//!
//! ```java
//! public static int constant(int v, int site) {
//!     if (LEVEL[site] == 0) return v;
//!     int answer = enter(site, who(), carrier(), -1);
//!     if ((answer & 4) != 0) v = (int) number();
//!     if (answer != 0) pause();
//!     return v;
//! }
//! ```

use hypocenter_classfile::op;

use super::{CLASS, ENTER, LEVEL, NUMBER, PAUSE, TEXT, WHO};
use crate::emit::{Code, Emitter, Kind, Named, PUBLIC};
use crate::fast;

/// The methods, each with the type as the sites of constants name it.
pub(crate) const CONSTANTS: [(&str, Named<'static>); 5] = [
    ("int", ("constant", "(II)I")),
    ("long", ("constant", "(JI)J")),
    ("float", ("constant", "(FI)F")),
    ("double", ("constant", "(DI)D")),
    ("String", ("constant", "(Ljava/lang/String;I)Ljava/lang/String;")),
];

/// How a method loads, stores and returns its value.
struct Type {
    kind: Kind,
    words: u8,
    load: u8,
    store: u8,
    give: u8,
    /// Makes the new value.
    replacement: Vec<u8>,
}

pub(super) fn methods(class: &mut Emitter, is_fast: bool) {
    for (member, it) in CONSTANTS.map(|it| it.1).into_iter().zip(types(class)) {
        method(class, is_fast, member, &it);
    }
}

fn types(class: &mut Emitter) -> [Type; 5] {
    let number = class.call(CLASS, NUMBER);
    let to_float = class.call("java/lang/Float", ("intBitsToFloat", "(I)F"));
    let to_double = class.call("java/lang/Double", ("longBitsToDouble", "(J)D"));
    // As constants are: equal ones are one object.
    let intern = class.call_virtual("java/lang/String", ("intern", "()Ljava/lang/String;"));
    let text = class.call(CLASS, TEXT);
    let string = Kind::Object(class.class("java/lang/String"));
    let all = |kind, words, load, store, give, parts: &[&[u8]]| Type {
        kind,
        words,
        load,
        store,
        give,
        replacement: parts.concat(),
    };
    [
        all(Kind::Int, 1, op::ILOAD_0, op::ISTORE_0, op::IRETURN, &[&number, &[op::L2I]]),
        all(Kind::Long, 2, op::LLOAD_0, op::LSTORE_0, op::LRETURN, &[&number]),
        all(Kind::Float, 1, op::FLOAD_0, op::FSTORE_0, op::FRETURN, &[&number, &[op::L2I], &to_float]),
        all(Kind::Double, 2, op::DLOAD_0, op::DSTORE_0, op::DRETURN, &[&number, &to_double]),
        all(string, 1, op::ALOAD_0, op::ASTORE_0, op::ARETURN, &[&text, &intern]),
    ]
}

fn method(class: &mut Emitter, is_fast: bool, member: Named<'_>, it: &Type) {
    const ON: usize = 0;
    const KEEP: usize = 1;
    const DONE: usize = 2;
    let (site, answer) = (it.words, it.words + 1);
    let (level, enter) = (class.get(CLASS, LEVEL), class.call(CLASS, ENTER));
    let (who, pause, not_counted) = (class.call(CLASS, WHO), class.call(CLASS, PAUSE), class.long(-1));
    let carrier = if is_fast { class.call(fast::CLASS, fast::CARRIER).to_vec() } else { vec![op::LCONST_0] };
    let (first, all) = ([it.kind, Kind::Int], [it.kind, Kind::Int, Kind::Int]);
    let code = Code::new(8, u16::from(answer) + 1)
        .put(&[&level, &[op::ILOAD, site, op::BALOAD]])
        .jump(op::IFNE, ON)
        .put(&[&[it.load, it.give]])
        .bind(ON, &first, &[])
        .put(&[&[op::ILOAD, site], &who, &carrier, &not_counted, &enter, &[op::ISTORE, answer]])
        .put(&[&[op::ILOAD, answer, op::ICONST_4, op::IAND]])
        .jump(op::IFEQ, KEEP)
        .put(&[&it.replacement, &[it.store]])
        .bind(KEEP, &all, &[])
        .put(&[&[op::ILOAD, answer]])
        .jump(op::IFEQ, DONE)
        .put(&[&pause])
        .bind(DONE, &all, &[])
        .put(&[&[it.load, it.give]]);
    class.method(PUBLIC, member, code);
}
