//! `hypocenter explore`: finds the small fault that breaks a part of the service while the rest looks fine.

mod live;
mod result;
mod summary;
mod wrong;

use std::sync::Arc;
use std::time::Instant;

use hypocenter_engine::Engine;
use hypocenter_explore::{Catalogue, ClientOf, Explore, FaultScope, KeyKind, Policy, Settings};
use hypocenter_lab::Stopped;
use hypocenter_plan::{
    Arm, Candidate, ExitCode, Guard, Plan, Record, Repeat, SiteKind, TaskMethod, Watch, WatchLevel,
};
use hypocenter_program::{Program, Scope, State, StateKind, StateOptions, task_methods};

use crate::args::{ExploreArgs, ExploreFaults, KeyChoice};
use crate::clock;
use crate::commands::scan::prefixes;
use crate::config::{Config, KnownConfig};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::local::Ready;
use crate::request::{Chosen, ExploreRequest, Request, to_resume};
use crate::screen::{self, Quiet};
use crate::store::{Called, told};
use crate::target::Target;
use summary::{Ended, StatePlace};

/// Said of a workload that is one command, such as a test.
const NO_CLIENTS: &str = "it has no clients, so that it fails is told as minor: a test may well fail by the fault that it got; give it nodes \
     and clients, or say what must not happen: --oracle, or `oracle` under [failure]";

/// The verb, for campaigns.
const VERB: &str = "explore";

pub fn run(args: &ExploreArgs) -> Result<ExitCode, Failure> {
    screen::heading("hypocenter explore");
    let lab = &args.target.lab;
    let (request, resumed) = match &args.resume {
        Some(name) => {
            let (directory, request) = to_resume(lab, name, VERB)?;
            screen::line("campaign", &told(&directory));
            (request, Some(directory))
        }
        None => (asked(args)?, None),
    };
    let Some(what) = request.explore.clone() else { unreachable!("both ways have it") };
    let working = screen::Working::at("analysis", "open the class path");
    let mut target = Target::open(&request.target)?;
    // A resumed campaign says it when it goes on.
    if resumed.is_none() {
        target.tell_problems();
    }
    target.check_packages()?;
    screen::line("target", &target.packages.join(", "));
    if request.workload.client.is_empty() && request.oracle.is_none() {
        screen::note("workload", NO_CLIENTS);
    }
    working.step("scan");
    let Scanned { catalogue, tasks, places } = scan(&request, &what, &target);
    if catalogue.sites().is_empty() {
        return Err(Failure::usage(format!(
            "nothing can go wrong: no class of {} has a call for --faults {}",
            target.packages.join(", "),
            what.faults.join(",")
        ))
        .hint("check --packages, or give other --faults"));
    }
    // The plan of the campaign has every fault, so that all its trials share one map.
    let plan = Plan { candidates: every_fault(&catalogue), ..plan_of(&request, tasks.clone()) };
    working.step("place the hooks");
    let ready = match resumed {
        Some(directory) => Ready::resume(directory, lab)?,
        None => Ready::begin(Request { plan, ..request }, &target, lab)?,
    };
    let settings = settings(&ready.request, &what, &target)?;
    let catalogue = Arc::new(catalogue);
    let mut engine = live::Narrated::new(
        Explore::new(catalogue.clone(), settings),
        Called::of(&ready.directory).name,
        ready.request.has_several_nodes(),
        &what,
    );
    working.finish();
    let interrupt = Interrupt::watch();
    let progress = engine.progress();
    let driven = ready.drive(&mut engine, lab, &Quiet(&interrupt), &interrupt, &progress);
    let _working = screen::Working::at("analysis", "write the results");
    let ended = Ended {
        verdict: &engine.verdict(),
        request: &ready.request,
        what: &what,
        catalogue: &catalogue,
        tasks: &tasks,
        places: &places,
        directory: &ready.directory,
        took: clock::waited() + progress.before(),
        cut_short: !matches!(driven, Ok((Stopped::Done, _))),
    };
    let go_on = format!("`{}` goes on with it", Called::of(&ready.directory).resume("explore"));
    let stopped = match driven {
        Ok((stopped, _)) => stopped,
        Err(failure) => {
            // What was found by then is told, as far as what is wrong allows it.
            if let Err(also) = result::finish(&ended, false) {
                screen::note("campaign", &format!("what was found cannot be told: {}", also.what));
            }
            let hint = failure.hint.as_ref().map_or_else(|| go_on.clone(), |it| format!("{it}; {go_on}"));
            return Err(failure.hint(hint));
        }
    };
    if stopped != Stopped::Interrupted {
        return result::finish(&ended, lab.json);
    }
    screen::gap();
    screen::line("ended", &format!("you ended the campaign; what it has recorded is kept, and {go_on}"));
    result::finish(&ended, lab.json)?;
    Ok(ExitCode::Budget)
}

/// What the flags and the configuration ask for; the plan is still empty.
fn asked(args: &ExploreArgs) -> Result<Request, Failure> {
    let config = Config::read(&args.target.config)?;
    let name = args.workload.as_deref().or_else(|| of_failure(args, &config));
    let mut chosen = Chosen::of(&args.target, name)?;
    // Clients say by themselves what is wrong, and nothing is known beforehand. A command alone has nobody else to say it.
    if !chosen.workload.client.is_empty() {
        chosen.oracle = args.target.oracle.clone();
    } else if let Some(oracle) = chosen.oracle.as_ref().filter(|_| args.target.oracle.is_none()) {
        screen::line("oracle", &screen::clean(&format!("{oracle}, which is that of the [failure]")));
    }
    let explore = ExploreRequest {
        policy: args.policy.to_string(),
        key: args.key.name().to_owned(),
        faults: args.faults.iter().map(|it| it.name().to_owned()).collect(),
        delay_ms: args.delay.as_millis() as u64,
        in_memory: args.in_memory,
        task_types: config.target.task_types,
        when_ready: args.when_ready,
        helpers: args.helpers,
        budget: args.budget,
        epsilon: args.epsilon,
        trials: args.trials,
        normal_runs: args.normal_runs,
        replays: args.replays,
        neighbours: args.neighbours,
        until: args.until.clone(),
        known: config.explore.known.into_iter().map(|it| it.into_inner()).collect(),
    };
    let plan = Plan { seed: args.seed, ..Plan::default() };
    let request = chosen.request(VERB, &args.target, plan, args.trials.max(2));
    Ok(Request { explore: Some(explore), ..request })
}

/// The workload of the [failure], where several are there and nobody says which is meant; and tells that it is taken.
fn of_failure<'c>(args: &ExploreArgs, config: &'c Config) -> Option<&'c str> {
    let is_open = args.target.named.is_none() && args.target.command.is_empty();
    let name = config.workload_of_failure().filter(|_| is_open && config.workload.len() > 1)?;
    let what = format!("none is named, so it is {name}, that of the [failure]");
    screen::line("workload", &screen::clean(&what));
    Some(name)
}

/// What there is to go wrong, and the tasks.
struct Scanned {
    catalogue: Catalogue,
    tasks: Vec<TaskMethod>,
    /// For each task where its states begin.
    places: Vec<Vec<StatePlace>>,
}

fn scan(request: &Request, what: &ExploreRequest, target: &Target) -> Scanned {
    let begun = Instant::now();
    let working = screen::Working::new("scan");
    let scope = Scope::of(&prefixes(&request.target.packages, &target.with_jdk));
    let options = StateOptions { task_types: what.task_types.clone(), helpers: what.helpers };
    let program = Program::of(&target.with_jdk, &scope, &options, |it| working.step(it.name()));
    working.finish();
    let is_asked = |it: ExploreFaults| what.faults.iter().any(|name| name == it.name());
    let faults = FaultScope {
        io_exceptions: is_asked(ExploreFaults::Exceptions),
        other_exceptions: is_asked(ExploreFaults::OtherExceptions),
        delay_ms: is_asked(ExploreFaults::Delays).then_some(what.delay_ms),
        in_memory: what.in_memory,
    };
    let catalogue = faults.catalogue(&program);
    let tasks = task_methods(&program);
    let count = |number: usize, one: &str, many: &str| screen::count(number as u64, one, many);
    screen::line(
        "scan",
        &format!(
            "{}, {} at which something can go wrong, {} with {}, in {:.1} s",
            count(program.world.system_classes().len(), "class", "classes"),
            count(catalogue.sites().len(), "call", "calls"),
            count(tasks.len(), "task", "tasks"),
            count(tasks.iter().map(|it| it.states.len()).sum(), "state", "states"),
            begun.elapsed().as_secs_f64()
        ),
    );
    let places = tasks.iter().map(|it| state_places(&program, it)).collect();
    Scanned { catalogue, tasks, places }
}

/// Where the states of a task begin. They are numbered in the order of its code.
fn state_places(program: &Program, task: &TaskMethod) -> Vec<StatePlace> {
    let world = &program.world;
    let is_here = |it: &&State| {
        world.method_name(it.method) == task.method.as_bytes()
            && world.method_descriptor(it.method) == task.descriptor.as_bytes()
            && world.show_type(world.method(it.method).owner) == task.class
    };
    let mut states: Vec<&State> = program.states.states().iter().filter(is_here).collect();
    states.sort_by_key(|it| it.instruction);
    states.dedup_by_key(|it| it.instruction);
    // Of a lambda, and of code that could not be followed, nothing is known.
    if states.len() != task.states.len() {
        return Vec::new();
    }
    let begins = |it: StateKind| match it {
        StateKind::Start => "start",
        StateKind::Branch => "branch",
        StateKind::Handler => "caught exception",
        StateKind::Helper => "helper method",
    };
    states.iter().map(|it| ((it.line > 0).then_some(it.line.into()), Some(begins(it.kind)))).collect()
}

fn every_fault(catalogue: &Catalogue) -> Vec<Candidate> {
    let candidate = |site: &hypocenter_plan::Site, fault: &hypocenter_plan::Fault| Candidate {
        site: site.clone(),
        fault: fault.clone(),
        when: Guard::default(),
        repeat: Repeat::Once,
    };
    let of_site = |it: &hypocenter_explore::SiteFaults| {
        it.faults.iter().map(|fault| candidate(&it.site, fault)).collect::<Vec<_>>()
    };
    catalogue.sites().iter().flat_map(of_site).collect()
}

/// What every trial has: its tasks are followed, and nothing that was recorded is dropped.
fn plan_of(request: &Request, tasks: Vec<TaskMethod>) -> Plan {
    Plan {
        seed: request.seed,
        nodes: request.workload.nodes_inside(),
        record: Record { tasks, dump: true, lossless: true, ..Record::default() },
        ..Plan::default()
    }
}

fn settings(request: &Request, what: &ExploreRequest, target: &Target) -> Result<Settings, Failure> {
    let policy: Policy = what.policy.parse().map_err(Failure::usage)?;
    let level = if policy.needs_stacks() { WatchLevel::Stack } else { WatchLevel::Event };
    let arm = if what.when_ready { Arm::Ready } else { Arm::Start };
    let mut plan = Plan { candidates: Vec::new(), arm, ..request.plan.clone() };
    // The map has no calls but those at which something can go wrong.
    plan.record.watch = vec![Watch {
        kinds: vec![SiteKind::Call],
        classes: target.class_patterns.clone(),
        methods: Vec::new(),
        level,
    }];
    let clients = request.workload.client.iter();
    let known = what.known.iter().map(KnownConfig::read).collect::<Result<_, _>>();
    Ok(Settings {
        workload: request.workload.name.clone(),
        clients: clients
            .map(|it| ClientOf {
                name: it.name.clone(),
                node: it.node.clone(),
                kind: it.kind.clone(),
                phase: it.phase,
            })
            .collect(),
        plan,
        policy,
        key: match what.key == KeyChoice::Operation.name() {
            true => KeyKind::Operation,
            false => KeyKind::State,
        },
        budget: what.budget,
        epsilon: what.epsilon,
        trials: what.trials,
        normal_runs: what.normal_runs,
        replays: what.replays,
        replayed_findings: REPLAYED_FINDINGS_MAX,
        neighbours: what.neighbours,
        until: what.until.clone(),
        known: known.map_err(Failure::usage)?,
    })
}

/// How many findings are replayed, the worst first.
const REPLAYED_FINDINGS_MAX: usize = 20;
