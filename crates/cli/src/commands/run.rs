//! `hypocenter run`: a command with hooks and no fault, or under a plan that was written before.

use std::path::{Path, PathBuf};

use hypocenter_lab::{Evidence, Trial, TrialFiles};
use hypocenter_plan::{
    CandidateResult, End, ExitCode, Fault, Outcome, Plan, Record, SiteKind, Watch, WatchLevel,
};
use hypocenter_program::{build_map, concrete_subtypes};
use hypocenter_trace::SiteId;

use crate::args::{RecordLevel, RunArgs, TargetArgs};
use crate::failure::Failure;
use crate::target::Target;
use crate::{agent_library, screen, store};

pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let target = Target::open(&args.target)?;
    let plan = match &args.plan {
        Some(path) => read_plan(path)?,
        None => plan_of(args, &target)?,
    };
    screen::heading("hypocenter run");
    screen::line("target", &target.packages.join(", "));
    let (outcome, directory) = carry_out("run", &args.target, &target, &plan)?;
    outcome.candidates.iter().for_each(screen::candidate);
    show_top(&TrialFiles::of(&directory), args.top)?;
    finish(&args.target, &outcome, &directory)?;
    let injected = |it: &hypocenter_plan::CandidateOutcome| matches!(it.result, CandidateResult::Injected(_));
    Ok(match outcome.end {
        End::TimedOut => ExitCode::Budget,
        _ if !plan.candidates.is_empty() && !outcome.candidates.iter().any(injected) => ExitCode::Findings,
        _ if outcome.jvms.is_empty() => ExitCode::Usage,
        End::Exited { status: 0 } => ExitCode::Done,
        _ if plan.candidates.is_empty() => ExitCode::AlreadyFails,
        _ => ExitCode::Done,
    })
}

fn read_plan(path: &Path) -> Result<Plan, Failure> {
    let hint = "`hypocenter schema plan` prints what a plan looks like";
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("plan {}: {error}", path.display())).hint(hint))?;
    let plan: Plan = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("plan {}: {error}", path.display())).hint(hint))?;
    plan.check()?;
    Ok(plan)
}

fn plan_of(args: &RunArgs, target: &Target) -> Result<Plan, Failure> {
    let mut kinds: Vec<SiteKind> = Vec::new();
    for name in &args.hook {
        match name.as_str() {
            "all" => kinds.extend([SiteKind::Call, SiteKind::Block, SiteKind::BooleanReturn]),
            "every" => kinds.extend(SiteKind::ALL),
            name => kinds.push(SiteKind::from_name(name).ok_or_else(|| {
                let names: Vec<_> = SiteKind::ALL.iter().map(|kind| kind.name()).collect();
                Failure::usage(format!("--hook {name}: no such kind of hook"))
                    .hint(format!("use all, every, or some of {}", names.join(", ")))
            })?),
        }
    }
    kinds.sort();
    kinds.dedup();
    let level = match args.record {
        RecordLevel::Off => WatchLevel::Off,
        RecordLevel::Count => WatchLevel::Count,
        RecordLevel::Events => WatchLevel::Event,
        RecordLevel::Stacks => WatchLevel::Stack,
    };
    let watch = Watch { kinds, classes: target.class_patterns.clone(), level };
    Ok(Plan {
        record: Record {
            watch: vec![watch],
            lossless: args.lossless,
            ring_kb: args.ring_kb,
            ..Record::default()
        },
        ..Plan::default()
    })
}

/// Runs one trial of a plan and returns its outcome and directory.
pub fn carry_out(
    verb: &str,
    args: &TargetArgs,
    target: &Target,
    plan: &Plan,
) -> Result<(Outcome, PathBuf), Failure> {
    screen::problems(target.problems());
    let (map, summary, problems) = build_map(&target.with_jdk, plan)?;
    screen::problems(&problems);
    if map.site_count() == 0 {
        return Err(Failure::usage(format!(
            "nothing to hook: no class of {} has such sites",
            target.packages.join(", ")
        ))
        .hint("check --packages and --hook"));
    }
    screen::line(
        "hooks",
        &format!(
            "{} sites in {} methods of {} classes",
            screen::thousands(map.site_count() as u64),
            screen::thousands(summary.methods as u64),
            screen::thousands(summary.classes as u64)
        ),
    );
    let throwables = plan
        .candidates
        .iter()
        .map(|it| match &it.fault {
            Fault::Exception { class, .. } => concrete_subtypes(&target.with_jdk, class),
            _ => Ok(Vec::new()),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let agent = agent_library::unpacked()?;
    let campaign = store::new_campaign(&args.out, verb)?;
    let directory = campaign.join("trials").join("000");
    let inherited = std::env::var("JAVA_TOOL_OPTIONS").ok();
    let trial = Trial {
        number: 0,
        plan,
        command: &args.command,
        node: &args.node_name,
        levels: &summary.levels,
        throwables: &throwables,
        agent: &agent,
        timeout: args.timeout,
        java_tool_options: inherited.as_deref(),
        directory: &directory,
    };
    screen::line("command", &screen::clean(&args.command.join(" ")));
    screen::gap();
    let outcome = trial.run(map, &screen::Passing::new(args.json))?;
    screen::gap();
    Ok((outcome, directory))
}

/// The last lines, the same for every verb that runs one trial.
pub fn finish(args: &TargetArgs, outcome: &Outcome, directory: &Path) -> Result<(), Failure> {
    screen::jvms(outcome);
    screen::problems(&outcome.problems);
    screen::end(outcome);
    screen::line("kept in", &directory.display().to_string());
    if args.json {
        screen::json(outcome)?;
    }
    Ok(())
}

/// The sites that were hit most.
fn show_top(files: &TrialFiles, count: usize) -> Result<(), Failure> {
    let evidence = Evidence::open(files)?;
    let (map, trace) = (evidence.map()?, evidence.trace()?);
    let mut hits = vec![0u64; map.site_count()];
    for jvm in trace.jvms() {
        for (sum, count) in hits.iter_mut().zip(trace.counts(&jvm)) {
            *sum += count;
        }
    }
    let reached = hits.iter().filter(|&&it| it > 0).count();
    if reached == 0 {
        return Ok(());
    }
    screen::line(
        "reached",
        &format!("{} of {} sites", screen::thousands(reached as u64), screen::thousands(hits.len() as u64)),
    );
    let mut order: Vec<usize> = (0..hits.len()).filter(|&at| hits[at] > 0).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(hits[at]));
    for at in order.into_iter().take(count) {
        if let Some(site) = map.site(SiteId(at as u32)) {
            screen::line(
                "",
                &format!("{:>12}  {}", screen::thousands(hits[at]), screen::clean(&site.to_string())),
            );
        }
    }
    Ok(())
}
