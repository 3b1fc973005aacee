//! Values and branches of compiled fixtures.

use hypocenter_classfile::{ClassFile, op};
use hypocenter_program::{Body, Const, ControlDependence, Dominance, Edges, Value, ValueId};

use crate::tools::fixtures;

fn with_body(class: &str, method: &str, check: impl Fn(&Body<'_>)) {
    let bytes = std::fs::read(fixtures().join(format!("fixture/{class}.class"))).unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let member = class.methods().iter().find(|it| it.name == method.as_bytes()).expect(method);
    let body = Body::of_method(&class, member).unwrap().unwrap();
    assert!(body.is_complete(), "{method}");
    sound(&body);
    check(&body);
}

/// Invariants of every body.
pub fn sound(body: &Body<'_>) {
    made_before_taken(body);
    made_of_others(body);
    let count = body.flow.instructions.len() as u32;
    for number in 0..count {
        for &operand in body.operands(number) {
            let is_known = operand != ValueId::UNKNOWN;
            assert_eq!(body.uses(operand).binary_search(&number).is_ok(), is_known);
        }
        if let Some(result) = body.result(number) {
            assert_eq!(body.value(result), Value::Result(number));
        }
        let block = body.flow.blocks[body.block_of(number) as usize];
        assert!((block.start..block.end).contains(&number));
    }
    for value in body.value_ids() {
        assert!(body.uses(value).is_sorted_by(|a, b| a < b));
        for &number in body.uses(value) {
            assert!(body.operands(number).contains(&value));
        }
        for &phi in body.phi_uses(value) {
            assert!(body.inputs(phi).contains(&value));
        }
        let is_phi = matches!(body.value(value), Value::Phi(_));
        assert_eq!(is_phi, !body.inputs(value).is_empty());
        if is_phi {
            assert!(body.inputs(value).len() > 1 || !body.is_complete());
            assert!(!body.inputs(value).contains(&value));
            assert!(!body.uses(value).is_empty() || !body.phi_uses(value).is_empty());
        }
        let origins = body.origins(value);
        assert!(!origins.is_empty() && origins.is_sorted_by(|a, b| a < b));
        assert!(origins.iter().all(|it| !matches!(body.value(*it), Value::Phi(_))));
    }
}

/// Every value is made on every way to where it is taken, and before it is. Exceptions are left out: the flow graph
/// has ways for some that are never thrown.
fn made_before_taken(body: &Body<'_>) {
    let Ok(dominance) = Dominance::of(&body.flow, Edges::All) else { return };
    for value in body.value_ids().filter(|_| body.flow.handlers.is_empty()) {
        let (block, since) = match body.value(value) {
            Value::Unknown | Value::Parameter(_) => continue,
            Value::Caught(block) | Value::Phi(block) => (block, 0),
            Value::Result(number) => (body.block_of(number), number + 1),
        };
        for &number in body.uses(value) {
            let within = body.block_of(number);
            let is_before =
                if block == within { since <= number } else { dominance.dominates(block, within) };
            assert!(is_before, "{:?} is taken by {number}", body.value(value));
        }
    }
}

/// No value is computed from itself other than through a merge: whoever follows operands comes to an end.
fn made_of_others(body: &Body<'_>) {
    let operands = |value: ValueId| match body.value(value) {
        Value::Result(number) => body.operands(number),
        _ => &[],
    };
    // 0 is not seen yet, 1 is above in the stack, 2 is done.
    let mut state = vec![0; body.value_count() as usize];
    for root in body.value_ids() {
        let mut stack = vec![(root, 0)];
        while let Some((value, taken)) = stack.last_mut() {
            let at = value.number() as usize;
            if *taken == 0 && state[at] == 2 {
                stack.pop();
                continue;
            }
            assert!(*taken > 0 || state[at] == 0, "{:?} comes from itself", body.value(*value));
            state[at] = 1;
            match operands(*value).get(*taken) {
                Some(&operand) => {
                    *taken += 1;
                    stack.push((operand, 0));
                }
                None => {
                    state[at] = 2;
                    stack.pop();
                }
            }
        }
    }
}

/// A value as text: `p0` is a parameter, `phi(..)` what meets, `^` what is being shown already.
fn shown(body: &Body<'_>, value: ValueId, within: &mut Vec<ValueId>) -> String {
    let list = |values: &[ValueId], within: &mut Vec<ValueId>| {
        let texts: Vec<String> = values.iter().map(|&it| shown(body, it, within)).collect();
        texts.join(", ")
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if within.contains(&value) {
        return "^".into();
    }
    match body.value(value) {
        Value::Unknown => "?".into(),
        Value::Parameter(number) => format!("p{number}"),
        Value::Caught(block) => {
            let start = body.flow.blocks[block as usize].start;
            format!("caught@{}", body.line(start).unwrap())
        }
        Value::Phi(_) => {
            within.push(value);
            let inputs = list(body.inputs(value), within);
            within.pop();
            format!("phi({inputs})")
        }
        Value::Result(number) => {
            if let Some(constant) = body.constant(value) {
                return match constant {
                    Const::Int(value) => value.to_string(),
                    Const::Long(value) => format!("{value}L"),
                    Const::Float(value) => format!("{value}f"),
                    Const::Double(value) => format!("{value}d"),
                    Const::String(text) => format!("{:?}", String::from_utf8_lossy(text)),
                    Const::Class(name) => text(name),
                    Const::Null => "null".into(),
                };
            }
            if let Some(name) = body.new_class(value) {
                return format!("new {}", text(name));
            }
            within.push(value);
            let operands = list(body.operands(number), within);
            within.pop();
            format!("{}({operands})", name(body, number))
        }
    }
}

/// Description of an instruction: the name of its callee or field, or its opcode.
fn name(body: &Body<'_>, number: u32) -> String {
    let instruction = &body.flow.instructions[number as usize];
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let known = match instruction.opcode {
        op::GETSTATIC..=op::INVOKEINTERFACE => {
            instruction.pool_index().and_then(|it| body.pool().member(it).ok()).map(|it| text(it.name))
        }
        op::INVOKEDYNAMIC => Some("indy".into()),
        op::CHECKCAST => Some("cast".into()),
        op::INSTANCEOF => Some("is".into()),
        op::ATHROW => Some("throw".into()),
        op::IINC => Some("iinc".into()),
        op::IADD | op::LADD | op::DADD => Some("add".into()),
        op::ISUB | op::LSUB | op::DSUB | op::FSUB => Some("sub".into()),
        op::IMUL | op::LMUL | op::DMUL => Some("mul".into()),
        op::FDIV => Some("div".into()),
        op::LSHL => Some("shl".into()),
        op::I2L | op::L2F | op::F2D | op::L2D => Some("widen".into()),
        op::IALOAD | op::AALOAD => Some("load".into()),
        op::IASTORE => Some("store".into()),
        op::ARRAYLENGTH => Some("length".into()),
        op::MULTIANEWARRAY => Some("newarray".into()),
        op::MONITORENTER => Some("lock".into()),
        op::MONITOREXIT => Some("unlock".into()),
        _ if instruction.is_return() => Some("return".into()),
        opcode => Some(format!("op{opcode}")),
    };
    known.unwrap_or_else(|| "?".into())
}

/// The operands of all returns, throws, locks, calls of `see` and stores into fields and arrays.
fn check_values(method: &str, expected: &[&str]) {
    with_body("Values", method, |body| {
        let mut found = Vec::new();
        for number in 0..body.flow.instructions.len() as u32 {
            let name = name(body, number);
            let opcode = body.flow.instructions[number as usize].opcode;
            let is_effect = matches!(name.as_str(), "see" | "return" | "throw" | "lock" | "unlock" | "store")
                || matches!(opcode, op::PUTFIELD | op::PUTSTATIC);
            if is_effect && opcode != op::RETURN {
                let operands: Vec<String> =
                    body.operands(number).iter().map(|it| shown(body, *it, &mut Vec::new())).collect();
                found.push(format!("{name} {}", operands.join(", ")));
            }
        }
        assert_eq!(found, expected, "{method}");
    });
}

#[test]
fn every_operand_is_followed_to_its_origin() {
    let rows: &[(&str, &[&str])] = &[("ternary", &["return phi(1, 2)"])];
    for (method, expected) in rows {
        check_values(method, expected);
    }
}

/// For each call of `see` what decides about it: the line of the branch, and whether it jumps or falls through.
fn check_branches(method: &str, expected: &[&str]) {
    with_body("Branches", method, |body| {
        let control = ControlDependence::of(&body.flow, Edges::Normal).unwrap();
        let mut found = Vec::new();
        for number in 0..body.flow.instructions.len() as u32 {
            if name(body, number) != "see" {
                continue;
            }
            let mut text = shown(body, body.operands(number)[0], &mut Vec::new()).replace('"', "");
            for it in control.of_block(body.block_of(number)) {
                let end = body.flow.blocks[it.branch as usize].end;
                let edge = body.flow.out_of(it.branch)[it.successor as usize];
                text += &format!(" {}:{:?}{}", body.line(end - 1).unwrap(), edge.way, it.successor);
            }
            found.push(text);
        }
        assert_eq!(found, expected, "{method}");
    });
}

#[test]
fn every_block_has_the_branches_that_decide_about_it() {
    let rows: &[(&str, &[&str])] = &[
        ("ifElse", &["then 12:Fall0", "else 12:Jump1", "after"]),
        ("nested", &["outer 21:Fall0", "inner 23:Fall0", "rest 21:Fall0"]),
        ("and", &["both 31:Fall0"]),
        ("or", &["any 37:Jump1 37:Fall0", "none 37:Jump1"]),
        ("andOr", &["yes 45:Jump1 45:Fall0"]),
        ("guard", &["rest 51:Jump1"]),
        ("switched", &["one 58:Jump0", "two 58:Jump0 58:Jump1", "other 58:Jump2", "after"]),
        ("loop", &["body 71:Fall0", "after"]),
        ("doLoop", &["body 80:Jump0", "after"]),
        ("leaves", &["body 86:Jump1", "after"]),
        ("leavesByReturn", &["after 96:Jump1"]),
        ("endless", &["sometimes 107:Fall0", "always"]),
        ("endlessIf", &["for ever 115:Fall0", "else 115:Jump1"]),
        ("caught", &["try 125:Fall0", "catch", "in catch 130:Fall0", "after"]),
        ("thrown", &["rest 138:Jump1"]),
        ("locked", &["inside 146:Fall0", "still", "after"]),
        ("returnInFinally", &["try 157:Fall0", "finally", "finally"]),
        ("ternary", &["phi(1, 2, 3)"]),
    ];
    for (method, expected) in rows {
        check_branches(method, expected);
    }
}

/// The number of the how-manieth instruction that does this.
fn nth(body: &Body<'_>, what: &str, ordinal: usize) -> u32 {
    let mut numbers = 0..body.flow.instructions.len() as u32;
    numbers.by_ref().filter(|&it| name(body, it) == what).nth(ordinal).unwrap()
}

#[test]
fn values_know_who_uses_them() {
    with_body("Values", "squared", |body| {
        let (call, product) = (nth(body, "f", 0), nth(body, "mul", 0));
        let y = body.result(call).unwrap();
        assert_eq!(body.operands(product), [y, y]);
        assert_eq!(body.uses(y), [product]);
        assert_eq!(body.phi_uses(y), []);
    });
    with_body("Values", "cast", |body| {
        let returned = body.operands(nth(body, "return", 0))[0];
        let cast = body.result(nth(body, "cast", 0)).unwrap();
        assert_eq!(body.phi_uses(cast), [returned]);
        let texts = |values: Vec<ValueId>| -> Vec<String> {
            values.iter().map(|it| shown(body, *it, &mut Vec::new())).collect()
        };
        assert_eq!(texts(body.origins(returned)), ["cast(p0)", "null"]);
        assert_eq!(texts(body.origins_through_casts(returned)), ["p0", "null"]);
    });
    with_body("Values", "multi", |body| {
        let returned = body.operands(nth(body, "return", 0))[0];
        let origins = body.origins(returned);
        let texts: Vec<String> = origins.iter().map(|it| shown(body, *it, &mut Vec::new())).collect();
        assert_eq!(texts, ["null", "make()", "shared()", "\"text\""]);
    });
}

#[test]
fn handlers_are_listed_in_the_order_of_their_search() {
    let check = |method: &str, what: &str, expected: &[(u32, &str)]| {
        with_body("Values", method, |body| {
            let found: Vec<(u32, String)> = body
                .covering(nth(body, what, 0))
                .map(|it| {
                    let line = body.line(body.flow.blocks[it.handler as usize].start).unwrap();
                    let class = body.pool().class_name(it.catch_type).unwrap_or(b"any");
                    (line, String::from_utf8_lossy(class).into_owned())
                })
                .collect();
            let found: Vec<(u32, &str)> = found.iter().map(|it| (it.0, it.1.as_str())).collect();
            assert_eq!(found, expected, "{method}");
        });
    };
    check("multi", "make", &[(206, "java/io/IOException"), (206, "java/lang/IllegalStateException")]);
    check("withFinally", "f", &[(186, "any")]);
    check("multi", "return", &[]);
}

#[test]
fn dominance_goes_both_ways() {
    with_body("Branches", "ifElse", |body| {
        let at = |text: &str| {
            let is_it = |number: &u32| {
                name(body, *number) == "see"
                    && shown(body, body.operands(*number)[0], &mut Vec::new()) == format!("{text:?}")
            };
            body.block_of((0..body.flow.instructions.len() as u32).find(is_it).unwrap())
        };
        let (then, other, after) = (at("then"), at("else"), at("after"));
        let before = Dominance::of(&body.flow, Edges::All).unwrap();
        let behind = Dominance::post(&body.flow, Edges::Normal).unwrap();
        assert_eq!([then, other, after].map(|it| before.immediate(it)), [Some(0); 3]);
        assert_eq!([0, then, other].map(|it| behind.immediate(it)), [Some(after); 3]);
        assert_eq!((before.immediate(0), behind.immediate(after)), (None, None));
        assert!(before.dominates(0, after) && !before.dominates(then, after));
        assert!(behind.dominates(after, 0) && !behind.dominates(then, 0));
    });
}
