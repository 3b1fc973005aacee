//! Patches a class as the agent does, and checks what comes out.

use hypocenter_classfile::{
    ClassFile, Code, Constant, Instruction, MethodPatch, Patcher, Snippet, Unpatched,
};

use crate::hooks::{self, Helpers, Hook, Options, Snippets, Spot};
use crate::output::Output;

/// How often a method is tried again with fewer hooks.
const TRIES_MAX: usize = 70;

/// The hooks that a method has got.
struct Patched {
    hooks: Vec<Hook>,
    helpers: Helpers,
}

/// Options, then a class.
pub fn check(bytes: &[u8]) {
    let Some((options, bytes)) = Options::split(bytes) else { return };
    let Ok(class) = ClassFile::parse(bytes) else { return };
    let mut patcher = Patcher::new(&class);
    let patched: Vec<Option<Patched>> =
        (0..class.methods().len()).map(|n| method(&options, &class, &mut patcher, n)).collect();
    let out = patcher.finish();
    if patched.iter().all(Option::is_none) {
        assert!(out == bytes, "a class without a patch has changed");
        return;
    }
    let again =
        ClassFile::parse(&out).unwrap_or_else(|error| panic!("what was written is no class: {error}"));
    compare(&options, &class, &again, &patched);
}

fn instructions<'a>(code: &Code<'a>) -> Option<Vec<Instruction<'a>>> {
    code.instructions().collect::<Result<_, _>>().ok()
}

fn method(options: &Options, class: &ClassFile<'_>, patcher: &mut Patcher<'_>, n: usize) -> Option<Patched> {
    if !options.method(n) {
        return None;
    }
    let code = class.methods()[n].code().ok();
    let list = code.iter().flatten().find_map(instructions);
    let mut hooks = match (&code, &list) {
        (Some(Some(code)), Some(list)) => hooks::choose(options, list, code),
        // Such a method is refused whatever the hooks are.
        _ => vec![Hook { number: 0, at: 0, spot: Spot::Before }],
    };
    for _ in 0..TRIES_MAX {
        let mark = patcher.mark();
        let why = match insert(options, patcher, n, &hooks, list.as_deref().unwrap_or_default()) {
            Ok(helpers) => {
                assert!(list.is_some(), "a method without readable code was patched");
                return Some(Patched { hooks, helpers });
            }
            Err(why) => why,
        };
        patcher.rollback(mark);
        assert!(!why.to_string().is_empty());
        let on_edges = |hook: &Hook| matches!(hook.spot, Spot::Edges { .. });
        match why {
            Unpatched::EdgeNotSeparable { pc } if hooks.iter().any(|it| on_edges(it) && it.at == pc) => {
                hooks.retain(|hook| !on_edges(hook) || hook.at != pc);
            }
            Unpatched::NotAnInstruction { pc } => hooks.retain(|hook| hook.at != pc),
            Unpatched::CallNotCovered { pc } => {
                let call = |hook: &Hook| hook.spot == Spot::Thrown && hook.at == pc;
                assert!(hooks.iter().any(call), "a call without a hook is in the way: {pc}");
                hooks.retain(|hook| !call(hook));
            }
            // What is in the way may be its frames.
            _ if hooks.iter().any(|hook| hook.spot == Spot::Thrown) => {
                hooks.retain(|hook| hook.spot != Spot::Thrown);
            }
            _ => return None,
        }
    }
    None
}

fn insert(
    options: &Options,
    patcher: &mut Patcher<'_>,
    n: usize,
    hooks: &[Hook],
    code: &[Instruction<'_>],
) -> Result<Helpers, Unpatched> {
    let (snippets, helpers) = Snippets::build(patcher, hooks, code)?;
    let caught = Snippet { bytes: &snippets.caught, stack: 2 };
    patcher.method(
        n,
        &MethodPatch {
            insertions: &snippets.insertions(hooks),
            catch_all: options.catch_all().then_some(&caught),
            jumps: &hooks::jumps(hooks),
            locals: 0,
            calls: &[snippets.calls()],
        },
    )?;
    Ok(helpers)
}

fn compare(options: &Options, old: &ClassFile<'_>, new: &ClassFile<'_>, patched: &[Option<Patched>]) {
    assert_eq!((old.major, old.minor, old.access), (new.major, new.minor, new.access));
    assert_eq!((old.this_class, old.super_class), (new.this_class, new.super_class));
    for index in 1..old.pool.len() {
        let (old, new) = (old.pool.get(index).ok(), new.pool.get(index).ok());
        // A NaN is not equal to itself.
        let number = |it: &Option<Constant<'_>>| match it {
            Some(Constant::Float(value)) => Some(u64::from(value.to_bits())),
            Some(Constant::Double(value)) => Some(value.to_bits()),
            _ => None,
        };
        assert!(old == new || number(&old).is_some() && number(&old) == number(&new), "constant {index}");
    }
    assert!(old.interfaces().eq(new.interfaces()));
    assert!(old.attributes().eq(new.attributes()));
    let text = |class: &ClassFile<'_>, range: &std::ops::Range<usize>| class.bytes()[range.clone()].to_vec();
    assert_eq!(old.fields().len(), new.fields().len());
    for (old_field, new_field) in old.fields().iter().zip(new.fields()) {
        assert_eq!(text(old, &old_field.range), text(new, &new_field.range));
    }
    assert_eq!(old.methods().len(), new.methods().len());
    for ((old_method, new_method), patched) in old.methods().iter().zip(new.methods()).zip(patched) {
        let Some(patched) = patched else {
            assert_eq!(
                text(old, &old_method.range),
                text(new, &new_method.range),
                "not patched, but changed"
            );
            continue;
        };
        assert_eq!((old_method.access, old_method.name), (new_method.access, new_method.name));
        let old_code = old_method.code().ok().flatten().expect("a patched method has code");
        let new_code = new_method.code().expect("the new code can be read").expect("the new code is there");
        // What comes out of calls needs one more, for the number of the call.
        let has_calls = patched.hooks.iter().any(|hook| hook.spot == Spot::Thrown);
        assert_eq!(old_code.max_locals + u16::from(has_calls), new_code.max_locals);
        assert!(old_code.max_stack <= new_code.max_stack);
        let old_list = instructions(&old_code).expect("a patched method can be read");
        let new_list = instructions(&new_code).expect("the new instructions can be read");
        // Code that names constants or local variables it does not have may name those of the hooks: nothing tells the two apart.
        let is_own = |it: &Instruction<'_>| {
            it.pool_index().is_some_and(|index| index >= old.pool.len())
                || it.local().is_some_and(|local| local >= old_code.max_locals)
        };
        if old_list.iter().any(is_own) {
            assert!(new_list.len() >= old_list.len());
            continue;
        }
        Output {
            hooks: &patched.hooks,
            helpers: &patched.helpers,
            old: &old_list,
            new: &new_list,
            old_code: &old_code,
            new_code: &new_code,
            pool: &new.pool,
        }
        .check(options.catch_all());
    }
}
