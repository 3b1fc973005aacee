//! Orders, forced branches and constants as the agent reads them: candidates behind those of the plan.

use hypocenter_plan::{BranchWay, ConstantValue, Guard, Plan, Repeat, Site};
use hypocenter_trace::{ArmedCandidate, ArmedFault, Map};

use super::{ArmError, NANOS_PER_MS, guarded};

/// Number of the candidates behind those of a plan that begin its orders, its forced branches and its constants.
pub(crate) struct Numbers {
    pub orders: usize,
    pub forces: usize,
    pub sets: usize,
}

impl Numbers {
    pub(crate) fn of(plan: &Plan) -> Numbers {
        let orders = plan.candidates.len();
        let forces = orders + 2 * plan.order.len();
        Numbers { orders, forces, sets: forces + plan.force.len() }
    }
}

/// In the order of [`Numbers`]: of each order the first, then the other.
pub(super) fn armed(plan: &Plan, map: &Map<'_>) -> Result<Vec<ArmedCandidate>, ArmError> {
    let one = |place: String, site: &Site, fault: ArmedFault, when: &Guard, repeat: Repeat| {
        let Some(found) = map.find(site) else {
            return Err(ArmError::NoSteered { place, site: site.to_string(), kind: site.kind.name() });
        };
        guarded(plan, map, (found, fault), (when, repeat), &place)
    };
    let mut armed = Vec::new();
    for (number, it) in plan.order.iter().enumerate() {
        let then = ArmedFault::Then { nanos: it.at_most_ms.saturating_mul(NANOS_PER_MS) };
        for (side, of, fault) in [("first", &it.first, ArmedFault::First), ("then", &it.then, then)] {
            armed.push(one(format!("order {number}, {side}"), &of.site, fault, &of.when, Repeat::Once)?);
        }
    }
    for (number, it) in plan.force.iter().enumerate() {
        let fault = ArmedFault::Force { taken: it.way == BranchWay::Taken };
        armed.push(one(format!("force {number}"), &it.branch, fault, &it.when, it.repeat)?);
    }
    for (number, it) in plan.set.iter().enumerate() {
        let fault = constant(&it.value);
        armed.push(one(format!("set {number}"), &it.constant, fault, &it.when, it.repeat)?);
    }
    Ok(armed)
}

fn constant(value: &ConstantValue) -> ArmedFault {
    let bits = match value {
        ConstantValue::Int(value) => u64::from(*value as u32),
        ConstantValue::Long(value) => *value as u64,
        ConstantValue::Float(value) => value.to_bits().into(),
        ConstantValue::Double(value) => value.to_bits(),
        ConstantValue::String(text) => return ArmedFault::Text { text: text.clone() },
    };
    ArmedFault::Number { bits }
}
