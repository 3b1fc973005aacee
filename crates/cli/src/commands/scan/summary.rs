//! Size of every part.

use std::collections::BTreeMap;

use hypocenter_plan::Problem;
use hypocenter_program::{Effect, Limit, Origin, Program, TypeId};
use serde::Serialize;

use super::coding::{Word, coded};
use super::lists::{bound_name, framework_name, level_name, reason_name};
use super::page::Page;
use super::report::Took;
use super::scanned::Scanned;
use crate::screen::{DIM, WARN, thousands};

/// Exceptions and classes that are shown; the document has all exceptions and these classes.
const EXCEPTIONS_SHOWN: usize = 4;
const CLASSES_SHOWN: usize = 10;
/// Problems that are shown; the document has all.
const PROBLEMS_SHOWN: usize = 8;

/// The numbers of a target.
#[derive(Debug, Serialize)]
pub struct Summary {
    pub target: TargetSummary,
    pub classes: usize,
    /// Classes of libraries and of the JDK that the system names, or that those stand on.
    pub library_classes: usize,
    /// Classes that are named and not found.
    pub missing_classes: usize,
    pub methods: usize,
    /// Methods that have code.
    pub bodies: u32,
    pub instructions: u64,
    /// Calls at which an exception can be thrown that the target, or one of its libraries, declares or makes.
    pub fault_sites: usize,
    /// Calls at which anything can go wrong: these, and those that can only take long or crash.
    pub fault_calls: usize,
    pub fault_sites_by_kind: FaultKinds,
    pub exceptions: Vec<Counted>,
    /// The same for each kind of site that throws.
    pub exceptions_by_kind: BTreeMap<Word, Vec<Counted>>,
    pub top_classes: Vec<Counted>,
    pub log_statements: usize,
    pub log_statements_by_level: BTreeMap<Word, usize>,
    pub log_wrappers: usize,
    pub task_classes: usize,
    /// Lambdas that threads and executors run.
    pub task_lambdas: usize,
    pub abstract_states: usize,
    pub loops: usize,
    pub loops_by_bound: BTreeMap<Word, usize>,
    /// Loops that read or write files or connections, at most a few calls away.
    pub loops_with_io: usize,
    pub waits: usize,
    pub waits_without_limit: usize,
    pub error_detectors: usize,
    /// Methods that return a truth value and are hardly detectors, by why.
    pub detectors_left_out: BTreeMap<Word, usize>,
    pub tests: usize,
    pub tests_by_framework: BTreeMap<Word, usize>,
    pub problems: Vec<Problem>,
}

/// Checked items.
#[derive(Debug, Serialize)]
pub struct TargetSummary {
    pub classpath: Vec<String>,
    pub packages: Vec<String>,
    pub java_home: String,
    pub java_version: String,
}

/// Fault sites by what goes wrong.
#[derive(Debug, Serialize)]
pub struct FaultKinds {
    /// A library throws.
    pub external: usize,
    /// A method of the system makes an exception.
    pub new: usize,
    /// It takes long.
    pub delay: usize,
    /// The process ends before it.
    pub crash: usize,
    /// Left out, since what is read or written lives in memory.
    pub in_memory: usize,
}

/// Number of occurrences.
#[derive(Debug, Serialize)]
pub struct Counted {
    pub name: String,
    pub count: usize,
}

coded! {
    Summary {
        target, classes, library_classes, missing_classes, methods, bodies, instructions, fault_sites,
        fault_calls, fault_sites_by_kind, exceptions, exceptions_by_kind, top_classes, log_statements, log_statements_by_level,
        log_wrappers, task_classes, task_lambdas, abstract_states, loops, loops_by_bound, loops_with_io, waits,
        waits_without_limit, error_detectors, detectors_left_out, tests, tests_by_framework, problems,
    }
    TargetSummary { classpath, packages, java_home, java_version }
    FaultKinds { external, new, delay, crash, in_memory }
    Counted { name, count }
}

impl Summary {
    /// Counts.
    pub fn of(scanned: &Scanned<'_>) -> Summary {
        let program = &scanned.program;
        let Program { world, facts, faults, .. } = program;
        let found = faults.summary(world, facts);
        let named = |all: &[(TypeId, usize)], most: usize| {
            let all = all.iter().take(most);
            all.map(|&(id, count)| Counted { name: world.show_type(id), count }).collect()
        };
        let with_exception = faults.sites().iter().filter(|it| !it.kind.exceptions().is_empty());
        let mut calls: Vec<_> = with_exception.map(|it| it.call).collect();
        calls.dedup();
        let of = |origins: &[Origin]| world.types().filter(|(_, it)| origins.contains(&it.origin)).count();
        let loops = program.loops.all();
        Summary {
            target: TargetSummary {
                classpath: scanned.asked.spec.classpath.iter().map(|it| it.display().to_string()).collect(),
                packages: scanned.asked.spec.packages.clone(),
                java_home: scanned.asked.spec.java_home.display().to_string(),
                java_version: scanned.asked.java_version.clone(),
            },
            classes: world.system_classes().len(),
            library_classes: of(&[Origin::Library, Origin::Jdk]),
            missing_classes: of(&[Origin::Phantom]),
            methods: world.system_classes().iter().map(|it| world.methods_of(it.id).len()).sum(),
            bodies: facts.bodies(),
            instructions: facts.instructions(),
            fault_sites: calls.len(),
            fault_calls: faults.sites().chunk_by(|one, other| one.call == other.call).count(),
            fault_sites_by_kind: FaultKinds {
                external: found.external,
                new: found.new,
                delay: found.delay,
                crash: found.crash,
                in_memory: found.in_memory,
            },
            exceptions: named(&found.by_exception, usize::MAX),
            exceptions_by_kind: by_kind(program),
            top_classes: named(&found.by_class, CLASSES_SHOWN),
            log_statements: program.statements.statements().len(),
            log_statements_by_level: count(
                program.statements.statements().iter().map(|it| level_name(it.level)),
            ),
            log_wrappers: program.statements.wrappers().len(),
            task_classes: program.states.classes().len(),
            task_lambdas: program.states.lambdas().len(),
            abstract_states: program.states.states().len(),
            loops: loops.len(),
            loops_by_bound: count(loops.iter().map(|it| bound_name(it.bound))),
            loops_with_io: loops.iter().filter(|it| it.effects.has(Effect::Io)).count(),
            waits: program.waits.all().len(),
            waits_without_limit: program.waits.all().iter().filter(|it| it.limit == Limit::None).count(),
            error_detectors: program.detectors.kept().count(),
            detectors_left_out: count(
                program.detectors.all().iter().filter_map(|it| it.reason.map(reason_name)),
            ),
            tests: program.tests.all().len(),
            tests_by_framework: count(program.tests.all().iter().map(|it| framework_name(it.framework))),
            problems: scanned.problems.clone(),
        }
    }

    /// For people.
    pub fn show(&self, took: &Took, page: &mut Page) {
        page.heading("hypocenter scan");
        page.labelled("target", &self.target_text());
        page.labelled("packages", &self.packages_text());
        page.labelled("JDK", &format!("{} in {}", self.target.java_version, self.target.java_home));
        page.gap();
        let number = |it: usize| thousands(it as u64);
        let mut row = |label: &str, count: usize, note: String| page.counted(label, &number(count), &note);
        let missing = match self.missing_classes {
            0 => String::new(),
            some => format!(", {} not found", number(some)),
        };
        row(
            "classes",
            self.classes,
            format!("they name {} of libraries and the JDK{missing}", number(self.library_classes)),
        );
        row("methods", self.methods, format!("{} with code", number(self.bodies as usize)));
        row("instructions", self.instructions as usize, String::new());
        let kinds = &self.fault_sites_by_kind;
        let note = match self.fault_calls - self.fault_sites {
            0 => String::new(),
            1 => "; at one other, only a delay or a crash is possible".to_owned(),
            some => format!("; at {} others, only a delay or a crash is possible", number(some)),
        };
        row("fault sites", self.fault_sites, format!("calls that can throw an exception{note}"));
        row("  external", kinds.external, self.exceptions_of("external"));
        row("  new", kinds.new, self.exceptions_of("new"));
        row("  delay", kinds.delay, "wait for a disk or a network".to_owned());
        row("  crash", kinds.crash, "have external effects".to_owned());
        row("  in memory", kinds.in_memory, "left out: they only work in memory".to_owned());
        let wrappers = match self.log_wrappers {
            0 => String::new(),
            some => format!(", through {} wrappers", number(some)),
        };
        row("log statements", self.log_statements, parts(&self.log_statements_by_level) + &wrappers);
        row(
            "task classes",
            self.task_classes,
            format!("and {} lambdas that threads run", number(self.task_lambdas)),
        );
        row("abstract states", self.abstract_states, String::new());
        row(
            "loops",
            self.loops,
            format!("{}, {} with I/O", parts(&self.loops_by_bound), number(self.loops_with_io)),
        );
        row("waits", self.waits, format!("{} without a limit", number(self.waits_without_limit)));
        let left_out: usize = self.detectors_left_out.values().sum();
        row(
            "error detectors",
            self.error_detectors,
            format!("of {} methods that return a boolean", number(self.error_detectors + left_out)),
        );
        row("tests", self.tests, parts(&self.tests_by_framework));
        if !self.top_classes.is_empty() {
            page.gap();
            page.heading("most fault sites");
            for it in &self.top_classes {
                page.indented(2, DIM, &format!("{:>29}   {}", number(it.count), it.name));
            }
        }
        if !self.problems.is_empty() {
            page.gap();
            page.heading(&format!("could not be analyzed: {}", number(self.problems.len())));
            for it in self.problems.iter().take(PROBLEMS_SHOWN) {
                page.indented(2, WARN, &format!("{}: {}", it.place, it.what));
            }
            if self.problems.len() > PROBLEMS_SHOWN {
                page.indented(
                    2,
                    WARN,
                    &format!("... {} more, all with --json", self.problems.len() - PROBLEMS_SHOWN),
                );
            }
        }
        page.gap();
        took.show(page);
    }

    fn target_text(&self) -> String {
        let is_jar = |it: &&String| it.ends_with(".jar") || it.ends_with(".JAR");
        let jars = self.target.classpath.iter().filter(is_jar).count();
        let others: Vec<&str> =
            self.target.classpath.iter().filter(|it| !is_jar(it)).map(String::as_str).collect();
        let jars = match jars {
            0 => String::new(),
            1 => "1 jar".to_owned(),
            some => format!("{some} jars"),
        };
        let mut all: Vec<&str> = others;
        if !jars.is_empty() {
            all.push(&jars);
        }
        all.join(", ")
    }

    fn packages_text(&self) -> String {
        let name =
            |it: &String| if it.is_empty() { "(the one without a name)".to_owned() } else { it.clone() };
        match self.target.packages.as_slice() {
            [] => "all of the class path".to_owned(),
            some => some.iter().map(name).collect::<Vec<_>>().join(", "),
        }
    }

    /// The exceptions that come most often at sites of a kind.
    fn exceptions_of(&self, kind: &str) -> String {
        let all = self.exceptions_by_kind.get(kind).map_or(&[][..], |it| it);
        let show = |it: &Counted| {
            let simple = it.name.rsplit('.').next().unwrap_or(&it.name);
            format!("{simple} {}", thousands(it.count as u64))
        };
        let shown: Vec<String> = all.iter().take(EXCEPTIONS_SHOWN).map(show).collect();
        let more = match all.len().saturating_sub(EXCEPTIONS_SHOWN) {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        shown.join(", ") + &more
    }
}

/// Exceptions for each kind of site that throws, the most frequent first.
fn by_kind(program: &Program) -> BTreeMap<Word, Vec<Counted>> {
    let mut kinds: BTreeMap<&'static str, BTreeMap<TypeId, usize>> = BTreeMap::new();
    for site in program.faults.sites() {
        for &it in site.kind.exceptions() {
            *kinds.entry(site.kind.name()).or_default().entry(it).or_default() += 1;
        }
    }
    let sorted = |counts: BTreeMap<TypeId, usize>| {
        let mut sorted: Vec<(TypeId, usize)> = counts.into_iter().collect();
        sorted.sort_by_key(|&(id, count)| (std::cmp::Reverse(count), id));
        let counted = sorted.into_iter();
        counted.map(|(id, count)| Counted { name: program.world.show_type(id), count }).collect()
    };
    kinds.into_iter().map(|(kind, counts)| (kind.into(), sorted(counts))).collect()
}

fn count(names: impl Iterator<Item = &'static str>) -> BTreeMap<Word, usize> {
    let mut counts = BTreeMap::new();
    names.for_each(|it| *counts.entry(it.into()).or_default() += 1);
    counts
}

/// "warn 3, error 2", the most frequent first.
fn parts(counts: &BTreeMap<Word, usize>) -> String {
    let mut sorted: Vec<(&str, usize)> = counts.iter().map(|(name, count)| (&**name, *count)).collect();
    sorted.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    sorted
        .iter()
        .map(|(name, count)| format!("{name} {}", thousands(*count as u64)))
        .collect::<Vec<_>>()
        .join(", ")
}
