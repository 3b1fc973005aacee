//! Bodies made again for a question that needs them.

use hypocenter_classfile::ClassFile;

use crate::loading::world::{MethodId, SystemClass, World};
use crate::methods::body::Body;
use crate::methods::values::ValueId;
use crate::methods::view::MethodView;

/// Shows the methods of a class that are wanted and have a body, in the order of the file. What has no flow graph is
/// left out; the facts have told of it.
pub(crate) fn each_body(
    world: &World,
    system: &SystemClass,
    wanted: impl Fn(MethodId) -> bool,
    mut see: impl FnMut(MethodView<'_>),
) {
    if !world.methods_of(system.id).any(&wanted) {
        return;
    }
    let class = ClassFile::parse(&system.bytes).expect("was read before");
    for (member, id) in class.methods().iter().zip(world.methods_of(system.id)).filter(|it| wanted(it.1)) {
        if let Ok(Some(body)) = Body::of_method(&class, member) {
            see(MethodView { world, id, class: &class, member, body: &body, pool: &system.pool });
        }
    }
}

/// For each value of a body whether it is computed from one of the seeds; the result of a call from its receiver and
/// its arguments. What comes out of an instruction that is not `passed` through is not.
pub(crate) fn flowing_from(
    body: &Body<'_>,
    seeds: impl IntoIterator<Item = ValueId>,
    passed: impl Fn(u32) -> bool,
) -> Vec<bool> {
    let mut flows = vec![false; body.value_count() as usize];
    let mut pending: Vec<ValueId> = seeds.into_iter().collect();
    while let Some(value) = pending.pop() {
        if value == ValueId::UNKNOWN || std::mem::replace(&mut flows[value.number() as usize], true) {
            continue;
        }
        pending.extend(body.uses(value).iter().filter(|&&it| passed(it)).filter_map(|&it| body.result(it)));
        pending.extend_from_slice(body.phi_uses(value));
    }
    flows
}
