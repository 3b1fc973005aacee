//! The plan of `inject` for an order, a forced branch or a constant.

use hypocenter_plan::{ConstantValue, Force, Guard, Happening, Order, Plan, Repeat, SetConstant, Site};
use hypocenter_program::{SitePattern, find_sites};

use super::{guard, repeat};
use crate::args::InjectArgs;
use crate::failure::Failure;
use crate::target::Target;

/// The plan, and what it does in words; none if a fault is asked for.
pub(super) fn plan(
    args: &InjectArgs,
    site: &Site,
    target: &Target,
) -> Result<Option<(Plan, String)>, Failure> {
    let (site, steer) = (site.clone(), &args.steer);
    let plan = Plan::default();
    Ok(if let Some(way) = steer.force {
        let way = way.into();
        let force = vec![Force { branch: site, way, when: guard(args), repeat: repeat(args) }];
        Some((Plan { force, ..plan }, format!("branch forced to be {way}")))
    } else if let Some(text) = &steer.set {
        let value = value(text, &site)?;
        let words = format!("loads {value}");
        let repeat = if args.lasts_or_repeats() { repeat(args) } else { Repeat::Always };
        let set = vec![SetConstant { constant: site, value, when: guard(args), repeat }];
        Some((Plan { set, ..plan }, words))
    } else if let Some(other) = &steer.before {
        let other = only("--before", other, target)?;
        let words = format!("comes before {other}");
        let when = Guard {
            node: steer.before_node.clone(),
            thread: steer.before_thread.clone(),
            occurrence: steer.before_at,
            ..Guard::default()
        };
        let order = Order {
            first: Happening { site, when: guard(args) },
            then: Happening { site: other, when },
            at_most_ms: steer.at_most.map_or(Order::AT_MOST_MS, |it| it.as_millis() as u64),
        };
        Some((Plan { order: vec![order], ..plan }, words))
    } else {
        None
    })
}

/// A value of the type that a site loads.
fn value(text: &str, site: &Site) -> Result<ConstantValue, Failure> {
    let loads = site.callee.as_deref().and_then(|it| it.split(' ').next()).unwrap_or_default();
    let parsed = match (loads, text) {
        ("int", "true") => Some(ConstantValue::Int(1)),
        ("int", "false") => Some(ConstantValue::Int(0)),
        ("int", _) => text.parse().ok().map(ConstantValue::Int),
        ("long", _) => text.parse().ok().map(ConstantValue::Long),
        // One without end would not survive in a plan, which is JSON.
        ("float", _) => text.parse().ok().filter(|it: &f32| it.is_finite()).map(ConstantValue::Float),
        ("double", _) => text.parse().ok().filter(|it: &f64| it.is_finite()).map(ConstantValue::Double),
        ("String", _) => Some(ConstantValue::String(text.to_owned())),
        _ => {
            return Err(Failure::usage(format!("--set: `{site}` loads no constant"))
                .hint("name a constant, as in `Store.open constant int 5`"));
        }
    };
    parsed.ok_or_else(|| {
        Failure::usage(format!("--set {text}: `{site}` loads a value of type {loads}"))
            .hint("give a value of that type")
    })
}

/// The one site that fits a text.
pub(super) fn only(flag: &str, text: &str, target: &Target) -> Result<Site, Failure> {
    let pattern: SitePattern = text.parse()?;
    let mut found = find_sites(&target.own, &pattern);
    if found.sites.is_empty() {
        found = find_sites(&target.with_jdk, &pattern);
    }
    let suggestions = std::mem::take(&mut found.suggestions);
    alone(flag, text, found.sites)?
        .ok_or_else(|| Failure::usage(format!("{flag}: no site fits `{pattern}`: {suggestions}")))
}

/// The only one of these sites; none if there is none.
pub(super) fn alone(flag: &str, text: &str, mut sites: Vec<Site>) -> Result<Option<Site>, Failure> {
    let count = sites.len();
    match sites.pop() {
        Some(site) if count > 1 => {
            Err(Failure::usage(format!("{flag} {text}: {count} sites fit, one of them {site}")).hint(
                "add the line or `#N` of the one that is meant, as in `Store.append:88` or `Store.append -> write #0`",
            ))
        }
        site => Ok(site),
    }
}
