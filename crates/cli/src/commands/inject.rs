//! `hypocenter inject`: one fault at one exact instant.

mod steer;

use std::fs;
use std::path::Path;
use std::time::Duration;

use hypocenter_plan::{
    Arm, Candidate, ExitCode, Fault, Guard, Pause, Plan, Repeat, Site, SiteKind, Span, StackGuard,
};
use hypocenter_program::{SitePattern, find_sites};

use crate::args::InjectArgs;
use crate::commands::run::carry_out;
use crate::failure::Failure;
use crate::local::Ready;
use crate::request::Chosen;
use crate::screen;
use crate::target::Target;

pub fn run(args: &InjectArgs) -> Result<ExitCode, Failure> {
    if args.at == Some(0) {
        return Err(Failure::usage("--at 0: the first hit is number 1")
            .hint("leave --at out for the first hit, or give 1 or more"));
    }
    let mut pattern: SitePattern = args.site.parse()?;
    if args.negate && pattern.kind() == SiteKind::Entry {
        // What is negated is a result, so a method alone means where it returns.
        pattern = format!("{pattern} return").parse()?;
    }
    if args.drop && pattern.kind() == SiteKind::Entry {
        pattern = format!("{pattern} operation").parse()?;
    }
    screen::heading("hypocenter inject");
    let chosen = Chosen::of(&args.target, None)?;
    chosen.tell_not_asked();
    if !matches!(args.partition.len(), 0 | 2) {
        return Err(Failure::usage("--partition: it is between two nodes").hint("write --partition n1,n2"));
    }
    if let Some(node) = &args.node {
        check_node("--node", node, &chosen)?;
    }
    for node in &args.partition {
        check_node("--partition", node, &chosen)?;
    }
    let target = Target::open(&chosen.target)?;
    // The target's own classes first: the JDK has classes of every name.
    let mut found = find_sites(&target.own, &pattern);
    if found.sites.is_empty() {
        let in_jdk = find_sites(&target.with_jdk, &pattern);
        if in_jdk.sites.is_empty() {
            // A class that cannot be read has no sites, and that is then the reason.
            screen::problems(&found.problems);
            let failure = Failure::usage(format!("no site matches `{pattern}`: {}", found.suggestions));
            return Err(match args.drop {
                true => failure.hint("--drop begins at a write of the JDK: NioSocketImpl.tryWrite (streams of sockets) or IOUtil.write (channels)"),
                false => failure,
            });
        }
        found = in_jdk;
    }
    let (plan, what) = planned(args, &found.sites, &target)?;
    plan.check()?;
    screen::line(if plan.is_steered() { "steer" } else { "fault" }, &format!("{what}, {}", when(args)));
    for (number, site) in found.sites.iter().take(SITES_SHOWN).enumerate() {
        screen::line(if number == 0 { "site" } else { "" }, &screen::clean(&site.to_string()));
    }
    if found.sites.len() > SITES_SHOWN {
        screen::line("", &format!("... {} more", found.sites.len() - SITES_SHOWN));
    }
    if found.sites.len() > 1 {
        screen::line(
            "",
            &format!(
                "{} sites match; the fault is injected at the first one that is reached",
                found.sites.len()
            ),
        );
    }
    let request = chosen.request("inject", &args.target, plan, args.repeat);
    let ready = Ready::begin(request, &target, &args.target.lab)?;
    carry_out(&ready, &args.target.lab, args.show, None)
}

const SITES_SHOWN: usize = 8;

/// The plan for what is asked at some sites, and what that is in words. What steers a run does so at one site.
fn planned(args: &InjectArgs, sites: &[Site], target: &Target) -> Result<(Plan, String), Failure> {
    let arm = arm(args, target)?;
    if args.steer.is_given() {
        let site = steer::alone("SITE", &args.site, sites.to_vec())?;
        if let Some((plan, what)) = site.map(|it| steer::plan(args, &it, target)).transpose()?.flatten() {
            return Ok((Plan { seed: args.seed, arm, ..plan }, screen::clean(&what)));
        }
    }
    let candidate = |site: &Site| Candidate {
        site: site.clone(),
        fault: fault(args),
        when: guard(args),
        repeat: repeat(args),
    };
    let candidates = sites.iter().map(candidate).collect();
    let said = args.message.iter().map(|it| format!(", which says `{}`", screen::clean(it)));
    let what = format!("{}{}", fault(args), said.collect::<String>());
    Ok((Plan { seed: args.seed, arm, candidates, ..Plan::default() }, what))
}

/// The variable by which a process says which node it is.
const NODE_VARIABLE: &str = "HYPOCENTER_NODE";

/// A fault on a node that is not there never happens, and the workload would run for nothing.
fn check_node(flag: &str, node: &str, chosen: &Chosen) -> Result<(), Failure> {
    let workload = &chosen.workload;
    // What a command starts may say itself which node it is.
    if workload.command.is_some() || says_itself(chosen) {
        return Ok(());
    }
    let nodes = workload.node.iter().filter(|it| it.agent != Some(false)).map(|it| it.name.as_str());
    let clients = workload.client.iter().filter(|it| it.agent).map(|it| it.name.as_str());
    let there: Vec<&str> = nodes.chain(clients).collect();
    if there.contains(&node) {
        return Ok(());
    }
    let is_without =
        workload.node.iter().any(|it| it.name == node) || workload.client.iter().any(|it| it.name == node);
    let failure = Failure::usage(if is_without {
        format!("{flag} {node}: the node runs without the agent, so no fault can be injected there")
    } else {
        format!("{flag} {node}: workload `{}` has no such node", workload.name)
    });
    let also = if is_without { "; `agent = true` adds others" } else { "" };
    Err(failure.hint(format!("the agent runs in {}{also}", there.join(", "))))
}

/// The most bytes that a script has.
const SCRIPT_BYTES_MAX: u64 = 1 << 20;

/// Tests whether this is a script that has the variable.
fn has_variable(path: &Path) -> bool {
    let is_small = path.metadata().is_ok_and(|it| it.is_file() && it.len() <= SCRIPT_BYTES_MAX);
    is_small && fs::read(path).is_ok_and(|it| String::from_utf8_lossy(&it).contains(NODE_VARIABLE))
}

/// Tests whether a process of the workload may take another name than the configuration gives it.
fn says_itself(chosen: &Chosen) -> bool {
    let workload = &chosen.workload;
    let nodes = workload.node.iter().filter_map(|it| Some((it.command.as_ref()?, &it.env, &it.directory)));
    let clients = workload.client.iter().map(|it| (&it.command, &it.env, &None));
    workload.env.contains_key(NODE_VARIABLE)
        || nodes.chain(clients).any(|(command, env, directory)| {
            let directory = directory.as_ref().or(workload.directory.as_ref());
            let base = directory.map_or_else(|| chosen.base.clone(), |it| chosen.base.join(it));
            let is_script = |word: &String| has_variable(&base.join(word));
            env.contains_key(NODE_VARIABLE)
                || command.0.contains(NODE_VARIABLE)
                || command.words("").is_ok_and(|it| it.iter().any(is_script))
        })
}

fn fault(args: &InjectArgs) -> Fault {
    let delay = |time: Duration, pause| Fault::Delay { delay_ms: time.as_millis() as u64, pause };
    if let Some(path) = &args.disk_full {
        return Fault::DiskFull { path: path.clone() };
    }
    if let [one, other] = &args.partition[..] {
        return Fault::Partition { nodes: [one.clone(), other.clone()] };
    }
    match (&args.throw, args.sleep, args.spin, args.crash) {
        _ if args.drop => Fault::Drop,
        (Some(class), ..) => Fault::Exception { class: class.clone(), message: args.message.clone() },
        (_, Some(time), ..) => delay(time, Pause::Sleep),
        (_, _, Some(time), _) => delay(time, Pause::Spin),
        (.., true) => Fault::Crash { status: Fault::CRASH_STATUS },
        _ => Fault::Negate,
    }
}

fn repeat(args: &InjectArgs) -> Repeat {
    match (args.always, args.lasts, args.times) {
        (true, ..) => Repeat::Always,
        (_, Some(time), _) => Repeat::ForMs(time.as_millis() as u64),
        (.., Some(times)) => Repeat::Times(times),
        _ if fault(args).lasts_for_a_time() => Repeat::Always,
        _ => Repeat::Once,
    }
}

/// From when on the fault may happen. A site that it waits for must be one alone.
fn arm(args: &InjectArgs, target: &Target) -> Result<Arm, Failure> {
    let Some(text) = &args.after_site else {
        return Ok(if args.when_ready { Arm::Ready } else { Arm::Start });
    };
    Ok(Arm::After(Box::new(steer::only("--after-site", text, target)?)))
}

fn guard(args: &InjectArgs) -> Guard {
    Guard {
        node: args.node.clone(),
        thread: args.thread.clone(),
        occurrence: args.at,
        stack: (!args.stack.is_empty()).then(|| StackGuard::Suffix(args.stack.clone())),
        probability: args.probability,
        resource: args.resource.clone(),
        ..Guard::default()
    }
}

/// The conditions in words.
fn when(args: &InjectArgs) -> String {
    let is_constant = args.steer.set.is_some() && !args.lasts_or_repeats();
    let mut text = match (args.at, if is_constant { Repeat::Always } else { repeat(args) }) {
        (at, _) if fault(args).lasts_for_a_time() => format!("from hit {} on", at.unwrap_or(1)),
        (None, Repeat::Once) => "the first time".to_owned(),
        (None, _) => "every time".to_owned(),
        (Some(n), Repeat::Once) => format!("at hit {n}"),
        (Some(n), _) => format!("from hit {n} on"),
    };
    if let Some(time) = args.lasts {
        text += &format!(" for {}", Span(time));
    }
    if let Some(times) = args.times {
        text += &format!(", {} in all", screen::count(times, "time", "times"));
    }
    if let Some(site) = &args.after_site {
        text += &format!(", once `{}` was reached", screen::clean(site));
    }
    for (what, value) in [("node", &args.node), ("thread", &args.thread), ("on", &args.resource)] {
        if let Some(value) = value {
            text += &format!(", {what} {}", screen::clean(value));
        }
    }
    if !args.stack.is_empty() {
        text += &format!(", called by {}", screen::clean(&args.stack.join(", ")));
    }
    if let Some(chance) = args.probability {
        text += &format!(", with chance {chance} (seed {})", args.seed);
    }
    text
}
