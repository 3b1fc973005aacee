//! Sites by names that can be given to `inject`: short where that is enough, with descriptors where it is not.

use hypocenter_plan::Site;
use hypocenter_program::{Call, CallId, Program, Words, name_calls};
use rayon::prelude::*;

/// A call as a site, and its name.
#[derive(Debug, Clone)]
pub struct NamedCall {
    pub site: Option<Site>,
    pub name: String,
}

/// Names calls, in their order.
pub fn name(program: &Program, calls: &[CallId]) -> Vec<NamedCall> {
    let sites = name_calls(&program.world, &program.facts, calls);
    let named = calls.par_iter().zip(sites).map(|(&id, site)| {
        let name = site.as_ref().map_or_else(|| without_site(program, id), |it| text(program, id, it));
        NamedCall { site, name }
    });
    named.collect()
}

/// The name of a site that no other call of the target has, if a name can tell them apart.
fn text(program: &Program, id: CallId, site: &Site) -> String {
    let (world, facts) = (&program.world, &program.facts);
    let call = facts.call(id);
    let called = |it: &Call| it.callee.map(|it| world.method_ref(it)).map(|it| (it.owner, it.signature));
    let named = |it: &Call| called(it).map(|(owner, signature)| (owner, world.signature(signature).0));
    let mut is_numbered = site.ordinal > 0;
    let mut is_overloaded = false;
    for other in facts.calls_in(call.method).filter(|&it| it != id) {
        let other = facts.call(other);
        if other.line == call.line && named(other) == named(call) {
            is_numbered |= called(other) == called(call);
            is_overloaded |= called(other) != called(call);
        }
    }
    let mut name = format!("{}.{}", site.class, site.method);
    // A line tells methods of the same name apart; where there is none, the descriptor does.
    match site.line {
        Some(line) => name += &format!(":{line}"),
        None => name += &site.descriptor,
    }
    let full = site.callee.as_deref().unwrap_or("");
    // An array has no class that could be named.
    let full = if full.starts_with('[') { full.rsplit_once('.').map_or(full, |it| it.1) } else { full };
    let short = full.split('(').next().unwrap_or(full);
    name += &format!(" -> {}", if is_overloaded { full } else { short });
    if is_numbered {
        name += &format!(" #{}", site.ordinal);
    }
    name
}

fn without_site(program: &Program, id: CallId) -> String {
    let call = program.facts.call(id);
    format!("{}:{} -> {}", program.world.show_method(call.method), call.line, Words(program).callee(id))
}
