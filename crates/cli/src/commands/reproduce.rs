//! `hypocenter reproduce`: from a failure log to the fault that made it.

mod closest;
mod columns;
mod compare;
mod live;
mod measured;
mod moment;
mod result;
mod runs;
mod story;
mod summary;
mod unmet;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hypocenter_engine::Engine;
use hypocenter_lab::Stopped;
use hypocenter_lab::oracle::{self, LineText};
use hypocenter_logs::{Layout, Log, LogError, Ties, Warning};
use hypocenter_plan::{ExitCode, Plan, Record, SiteKind, Watch, WatchLevel, Workload};
use hypocenter_program::{EMITTING, Program, Scope, StateOptions, access, concrete_subtypes};
use hypocenter_reproduce::{Case, Kinds, Reproduce, SearchOptions, Settings, Strategy, exceptions_in};
use hypocenter_trace::hash;

use crate::args::{FaultChoice, ReproduceArgs};
use crate::clock;
use crate::commands::scan::prefixes;
use crate::config::{Config, meant};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::local::Ready;
use crate::request::{Chosen, FailureLog, ReproduceRequest, Request, to_resume};
use crate::screen;
use crate::store::{Called, told};
use crate::target::Target;
use measured::Stopwatch;
pub use summary::Summary;

/// The verb, for campaigns.
const VERB: &str = "reproduce";

pub fn run(args: &ReproduceArgs) -> Result<ExitCode, Failure> {
    screen::heading("hypocenter reproduce");
    let lab = &args.target.lab;
    let working = screen::Working::at("analysis", "read the configuration and the failure logs");
    let (request, target, resumed) = match &args.resume {
        Some(name) => {
            let (directory, request) = to_resume(lab, name, VERB)?;
            screen::line("campaign", &told(&directory));
            working.step("open the class path");
            let target = Target::open(&request.target)?;
            (request, target, Some(directory))
        }
        None => {
            let request = asked(args)?;
            working.step("open the class path");
            let mut target = Target::open(&request.target)?;
            target.tell_problems();
            target.check_packages()?;
            screen::line("target", &target.packages.join(", "));
            let plan = plan_of(&request, &target, args);
            (Request { plan, ..request }, target, None)
        }
    };
    let Some(what) = &request.reproduce else { unreachable!("both ways have it") };
    // A log that says nothing is told before there is a campaign.
    working.step("read the failure logs");
    let logs = read_logs(what)?;
    working.step("scan");
    let program = scan(&request, &target, exceptions_in(&logs));
    let abstract_exceptions = abstract_exceptions(&program, &target);
    let symptom = symptom(&request)?;
    let is_symptom = move |line: &str| symptom.iter().any(|it| it.fits(line.as_bytes()));
    working.step("tie the failure logs to log statements");
    let case = Arc::new(Case::new(program, logs, is_symptom));
    tell_log(&case, what)?;
    working.step("judge the failure logs by the oracle");
    let unmet = unmet(&request, what)?;
    for it in &unmet {
        let what = format!("{it}; if it is the log of that failure, no run may ever satisfy it");
        screen::note("oracle", &screen::clean(&what));
    }
    working.step("place the hooks");
    let mut ready = match resumed {
        Some(directory) => Ready::resume(directory, lab)?,
        None => Ready::begin(request.clone(), &target, lab)?,
    };
    ready.may_throw(abstract_exceptions)?;
    working.finish();
    if let Some(asked) = &what.compare {
        return compare::run(asked, case, settings(&request, what)?, &ready, lab);
    }
    let engine = Reproduce::new(case.clone(), settings(&request, what)?);
    let (nodes, delays) = (several_nodes(&request, &case), what.delay_ms.is_some());
    let mut engine = live::Narrated::new(engine, &case, nodes, delays, what.budget);
    let interrupt = Interrupt::watch();
    let progress = engine.progress();
    let stopwatch = Stopwatch::new(&interrupt);
    let (stopped, _) = ready.drive(&mut engine, lab, &stopwatch, &interrupt, &progress)?;
    let mut verdict = engine.verdict();
    if stopped == Stopped::Interrupted {
        // It is known to have brought the failure, though not yet how often it does.
        verdict.found.extend(verdict.proving.take().filter(|it| it.hits > 0 || it.runs == 0));
    }
    let _working = screen::Working::at("analysis", "write the results");
    let ended = result::Ended {
        verdict: &verdict,
        case: &case,
        directory: &ready.directory,
        took: clock::waited() + progress.before(),
        found_seconds: engine.found_seconds(),
        measured: stopwatch.measured(engine.rounds()),
        request: &ready.request,
        unmet,
    };
    if stopped != Stopped::Interrupted {
        return ended.finish(lab.json);
    }
    screen::gap();
    let go_on = Called::of(&ready.directory).resume(VERB);
    screen::line(
        "ended",
        &format!("you ended the campaign; what it has recorded is kept, and `{go_on}` goes on with it"),
    );
    ended.finish(lab.json)?;
    Ok(ExitCode::Budget)
}

/// What the flags and the configuration ask for; the plan is still empty.
fn asked(args: &ReproduceArgs) -> Result<Request, Failure> {
    let config = Config::read(&args.target.config)?;
    let of_failure = config.workload_of_failure().filter(|_| args.target.command.is_empty());
    let mut chosen = Chosen::of(&args.target, args.workload.as_deref().or(of_failure))?;
    if chosen.oracle.is_none() {
        // The failure is the same by whichever workload it is looked for.
        let Some(oracle) = config.failure.as_ref().and_then(|it| it.oracle.as_ref()) else {
            return Err(Failure::usage("nothing says when the failure has happened")
                .hint("give `oracle` under [failure] of hypocenter.toml, or --oracle '{ log = \"...\" }'"));
        };
        chosen = chosen.judged_by(oracle.as_ref().clone(), &args.target.node_name)?;
    }
    let mut paths = args.log.clone();
    if paths.is_empty() {
        let logs = config.failure.iter().flat_map(|it| &it.logs);
        paths = logs.map(|it| config.base.join(it)).collect();
    }
    if paths.is_empty() {
        return Err(Failure::usage("there is no failure log")
            .hint("give it with --log FILE, or `logs` under [failure] of hypocenter.toml"));
    }
    let names = processes(&chosen.workload, &args.target.node_name);
    let mut logs = Vec::new();
    for path in &paths {
        for file in files_of(path)? {
            logs.push(failure_log(&file, &names)?);
        }
    }
    check_logs(&logs, &names, &chosen.workload)?;
    let reproduce = ReproduceRequest {
        logs,
        layout: args.layout.clone().or_else(|| config.layout().map(str::to_owned)),
        strategy: args.strategy.to_string(),
        window: args.window as usize,
        step: args.step,
        budget: args.budget,
        exceptions: args.faults.contains(&FaultChoice::Exceptions),
        delay_ms: args.faults.contains(&FaultChoice::Delays).then_some(args.delay.as_millis() as u64),
        normal_runs: args.normal_runs,
        replays: args.replays,
        patience: args.patience,
        doubt: args.doubt,
        keep_going: args.keep_going,
        compare: args.compare.then(|| compare::asked(args)),
    };
    let plan = Plan { seed: args.seed, ..Plan::default() };
    let request = chosen.request(VERB, &args.target, plan, args.budget.max(2));
    Ok(Request { reproduce: Some(reproduce), ..request })
}

/// The files that a path stands for: itself, or, of a directory, what is in it.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error: std::io::Error| Failure::usage(format!("failure logs {}: {error}", path.display()));
    let entries = std::fs::read_dir(path).map_err(failed)?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|it| it.path()).filter(|it| it.is_file()).collect();
    files.sort();
    Ok(files)
}

/// A log of the failure. It is of the process that it is named like; a name may have dots.
fn failure_log(path: &Path, names: &[String]) -> Result<FailureLog, Failure> {
    let failed = |error: std::io::Error| {
        Failure::usage(format!("failure log {}: {error}", path.display()))
            .hint("give the log of the failed run with --log, or `logs` under [failure] of hypocenter.toml")
    };
    let path = match path.canonicalize() {
        Ok(path) => path,
        Err(error) => {
            let failure = failed(error);
            return Err(match named_like(path) {
                Some(it) => failure.hint(format!("did you mean {}?", it.display())),
                None => failure,
            });
        }
    };
    let bytes = std::fs::read(&path).map_err(failed)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_of = |it: &&String| name.strip_prefix(it.as_str()).is_some_and(|it| it.starts_with('.'));
    let of_process = names.iter().filter(is_of).max_by_key(|it| it.len());
    let node =
        of_process.map_or_else(|| name.split('.').next().unwrap_or_default(), String::as_str).to_owned();
    Ok(FailureLog { node, digest: hash::bytes(&bytes, 0), path: PathBuf::from(&path) })
}

/// A file beside it that may be meant by a path that is not there.
fn named_like(path: &Path) -> Option<PathBuf> {
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = std::fs::read_dir(directory).ok()?.flatten().filter(|it| it.path().is_file());
    let names: Vec<String> = there.filter_map(|it| it.file_name().into_string().ok()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let meant = meant(path.file_name()?.to_str()?, &names)?;
    Some(path.with_file_name(meant))
}

/// What logs are named like where a workload starts nodes or clients. Of one command there are no names: whatever logs there are, they
/// are its own.
fn processes(workload: &Workload, main: &str) -> Vec<String> {
    let Workload { command, node, client, .. } = workload;
    if client.is_empty() && node.iter().all(|it| it.command.is_none()) {
        return Vec::new();
    }
    let names = node.iter().map(|it| it.name.as_str()).chain(client.iter().map(|it| it.name.as_str()));
    names.chain(command.as_ref().map(|_| main)).map(str::to_owned).collect()
}

/// A log of a node that is not there would be compared with nothing. One log alone may be that of all.
fn check_logs(logs: &[FailureLog], names: &[String], workload: &Workload) -> Result<(), Failure> {
    let Some(it) = logs.iter().find(|it| !names.is_empty() && !names.contains(&it.node)) else {
        return Ok(());
    };
    let there = names.join(", ");
    if logs.iter().all(|other| other.node == it.node) {
        let what = format!(
            "`{}` is none of {there}, so it is taken for the log of all of them; if it is that of one, name the file like it",
            it.node
        );
        screen::note("log", &screen::clean(&what));
        return Ok(());
    }
    let (path, name) = (it.path.display(), &workload.name);
    Err(Failure::usage(format!("failure log {path}: workload `{name}` has no node or client `{}`", it.node))
        .hint(format!("logs are named like the node that wrote them; it has {there}")))
}

/// Where a program's own log is, when Maven's output was taken for it.
const OF_MAVEN: &str = "of a run under hypocenter the log is in main.stdout.log or main.stderr.log, in trials/NNN/logs of the campaign; if it is \
     among Maven's lines, `layout` under [failure], or --layout, takes its pattern";

/// What to do about a log that no known layout fits.
const NO_LAYOUT: &str = "give the pattern as `layout` under [failure] of hypocenter.toml, or with --layout '%d [%t] %-5p %c - %m%n'";

fn read_logs(what: &ReproduceRequest) -> Result<Vec<(String, Log)>, Failure> {
    let layout = what.layout.as_deref().map(Layout::compile).transpose();
    let layout = layout.map_err(|error| Failure::usage(format!("--layout: {error}")))?;
    // What a node wrote into several files, such as its two streams, is one log.
    let mut texts: BTreeMap<&str, (Vec<u8>, Vec<String>)> = BTreeMap::new();
    for it in &what.logs {
        let failed = |why: String| Failure::usage(format!("failure log {}: {why}", it.path.display()));
        let bytes = std::fs::read(&it.path).map_err(|error| failed(error.to_string()))?;
        if hash::bytes(&bytes, 0) != it.digest {
            return Err(failed("it is not the one that the campaign was begun with".to_owned())
                .hint("begin a new campaign, or bring the old log back"));
        }
        let of_node = texts.entry(&it.node).or_default();
        // A log may be large, and most nodes have one.
        if of_node.0.is_empty() {
            of_node.0 = bytes;
        } else {
            of_node.0.extend(bytes);
        }
        of_node.1.push(it.path.display().to_string());
    }
    let mut logs = Vec::new();
    let mut unread: Vec<String> = Vec::new();
    let mut hint = None;
    for (node, (bytes, files)) in texts {
        let log = match &layout {
            Some(layout) => Log::read_with(&bytes, layout),
            None => Log::read(&bytes),
        };
        let files = files.join(", ");
        match log {
            Ok(log) => {
                let entries = screen::count(log.len() as u64, "entry", "entries");
                screen::line("failure", &format!("{}: {entries}", screen::clean(&files)));
                let warnings =
                    log.warnings().into_iter().filter(|it| *it != Warning::NoDays || is_of_days(&log));
                warnings.for_each(|it| screen::note(node, &it.to_string()));
                logs.push((node.to_owned(), log));
            }
            // A stream that nobody wrote to.
            Err(LogError::Empty) if what.logs.len() > 1 => {}
            Err(error) => {
                hint = hint.or(match &error {
                    LogError::OfMaven { .. } => Some(OF_MAVEN),
                    it => it.has_no_layout().then_some(NO_LAYOUT),
                });
                unread.push(format!("failure log {files}: {error}"));
            }
        }
    }
    if logs.is_empty() {
        let failure = Failure::usage(if unread.is_empty() {
            "the failure logs are empty".to_owned()
        } else {
            unread.join("; ")
        });
        return Err(match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        });
    }
    unread.iter().for_each(|it| screen::note("not read", it));
    Ok(logs)
}

/// Whether a log goes on for so long that its days matter.
fn is_of_days(log: &Log) -> bool {
    const HALF_A_DAY_MS: i64 = 12 * 3_600 * 1_000;
    let times = || log.entries().filter_map(|it| it.time_ms);
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    last.saturating_sub(first) >= HALF_A_DAY_MS
}

/// What every trial records: each execution of a call, and of a log statement, and what the level filter let through.
fn plan_of(request: &Request, target: &Target, args: &ReproduceArgs) -> Plan {
    // What is recorded once serves all strategies, also those that are compared another time.
    let needs_stacks = args.compare || args.strategy.needs_stacks();
    let level = if needs_stacks { WatchLevel::Stack } else { WatchLevel::Event };
    let own = Watch {
        kinds: vec![SiteKind::Call, SiteKind::Log],
        classes: target.class_patterns.clone(),
        methods: Vec::new(),
        level,
    };
    let emitting = EMITTING.map(|(class, method)| Watch {
        kinds: vec![SiteKind::Entry],
        classes: vec![class.to_owned()],
        methods: vec![method.to_owned()],
        level: WatchLevel::Event,
    });
    let watch = std::iter::once(own).chain(emitting).collect();
    Plan {
        nodes: request.workload.nodes_inside(),
        seed: args.seed,
        // A search takes for stuck what is so for good.
        outlast: true,
        record: Record { watch, lossless: true, ..Record::default() },
        ..Plan::default()
    }
}

/// Scans the target; of these classes the log speaks.
fn scan(request: &Request, target: &Target, named: Vec<String>) -> Program {
    let begun = Instant::now();
    let working = screen::Working::new("scan");
    let scope = Scope::of(&prefixes(&request.target.packages, &target.with_jdk)).knowing(named);
    let options = StateOptions { task_types: Vec::new(), helpers: false };
    let program = Program::of(&target.with_jdk, &scope, &options, |it| working.step(it.name()));
    working.finish();
    let count = |number: usize, one: &str, many: &str| screen::count(number as u64, one, many);
    let calls = program.faults.sites().chunk_by(|one, other| one.call == other.call).count();
    screen::line(
        "scan",
        &format!(
            "{}, {} at {}, {}, in {:.1} s",
            count(program.world.system_classes().len(), "class", "classes"),
            count(program.faults.sites().len(), "fault", "faults"),
            count(calls, "call", "calls"),
            count(program.statements.statements().len(), "log statement", "log statements"),
            begun.elapsed().as_secs_f64()
        ),
    );
    program
}

/// What to throw for exceptions that cannot be made themselves.
fn abstract_exceptions(program: &Program, target: &Target) -> Vec<(String, Vec<String>)> {
    let world = &program.world;
    let declared = program.faults.sites().iter().flat_map(|it| it.kind.exceptions());
    let mut all: Vec<_> =
        declared.flat_map(|&it| world.descendants(it).iter().copied().chain([it])).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|&it| world.get(it).access & access::ABSTRACT != 0);
    let concrete = |class: String| Some((class.clone(), concrete_subtypes(&target.with_jdk, &class).ok()?));
    all.into_iter().filter_map(|it| concrete(world.show_type(it))).collect()
}

/// Whether a fault may be on one of several nodes, so that it must be said on which.
fn several_nodes(request: &Request, case: &Case) -> bool {
    case.logs() > 1 || request.has_several_nodes()
}

/// The lines that the oracle looks for.
fn symptom(request: &Request) -> Result<Vec<LineText>, Failure> {
    let lines = request.oracle.as_ref().map(oracle::lines).transpose();
    Ok(lines.map_err(|error| Failure::usage(error.to_string()))?.unwrap_or_default())
}

/// What the oracle looks for and the failure logs do not have.
fn unmet(request: &Request, what: &ReproduceRequest) -> Result<Vec<String>, Failure> {
    let Some(oracle) = &request.oracle else { return Ok(Vec::new()) };
    // Also of those that have no layout, which nothing else is read from.
    let read = |it: &FailureLog| {
        std::fs::read(&it.path)
            .map_err(|error| Failure::usage(format!("failure log {}: {error}", it.path.display())))
            .map(|bytes| (it.node.clone(), bytes))
    };
    let logs = what.logs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    // Of one command all logs are its own, whatever they are called.
    let are_named = !processes(&request.workload, &request.main).is_empty();
    unmet::unmet(oracle, &logs, are_named).map_err(|error| Failure::usage(error.to_string()))
}

/// How much of the failure log the program can have written.
fn tell_log(case: &Case, what: &ReproduceRequest) -> Result<(), Failure> {
    let Ties { by_line, by_text, moved, none } = case.ties();
    let tied = by_line + by_text + moved;
    let all = tied + none;
    screen::line(
        "",
        &format!(
            "{} of {} entries are tied to log statements",
            screen::thousands(tied as u64),
            screen::thousands(all as u64)
        ),
    );
    if moved > by_line / 4 {
        screen::note(
            "version",
            &format!(
                "{} entries name a class and a line at which these classes log something else, so the log is of another version than \
                 the class path; they are tied by their text, and what was changed between the two may not be found",
                screen::thousands(moved as u64)
            ),
        );
    }
    if tied > 0 {
        if none > tied {
            screen::note(
                "log",
                "most of its entries are tied to no statement, so they say nothing about the program; check that the class path \
                 and the packages are those of the system that wrote it",
            );
        }
        return Ok(());
    }
    let first = what.logs.first().map(|it| it.path.display().to_string()).unwrap_or_default();
    Err(Failure::usage(format!("{first}: no log statement of the target fits any of its {all} entries"))
        .hint("check that the class path and the packages are those of the system that wrote this log"))
}

fn settings(request: &Request, what: &ReproduceRequest) -> Result<Settings, Failure> {
    let strategy: Strategy = what.strategy.parse().map_err(Failure::usage)?;
    Ok(Settings {
        workload: request.workload.name.clone(),
        plan: request.plan.clone(),
        search: SearchOptions { strategy, window: what.window, step: what.step, seed: request.seed },
        kinds: Kinds { exceptions: what.exceptions, delay_ms: what.delay_ms },
        budget: what.budget,
        normal_runs: what.normal_runs,
        replays: what.replays,
        patience: what.patience,
        doubt: what.doubt,
        keep_going: what.keep_going,
    })
}
