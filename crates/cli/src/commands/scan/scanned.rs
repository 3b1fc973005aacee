//! The target, read and analysed, with the time that it took.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Instant;

use hypocenter_plan::{Problem, glob_matches};
use hypocenter_program::{ClassPath, Classes, Digest, Program, Scope, StateOptions};

use super::cache::Cache;
use crate::args::ScanArgs;
use crate::config::Config;
use crate::failure::Failure;
use crate::project::packages;
use crate::screen::{self, Working};
use crate::target::{DEFAULT_FEATURE, Named, Said, TargetSpec, guess_packages, no_classes};
use crate::{java, stale};

/// Number of suggested packages.
const SUGGESTED_MAX: usize = 8;

/// A target, and what is to be known of it.
pub struct Asked {
    pub spec: TargetSpec,
    /// Version information of the JDK.
    pub java_version: String,
    class_path: ClassPath,
    feature: u16,
    options: StateOptions,
    /// Problems of the given class path.
    problems: Vec<Problem>,
    begin: Instant,
    working: Working,
}

/// See the module.
pub struct Scanned<'a> {
    pub program: Program,
    pub asked: &'a Asked,
    /// Unreadable parts, each once.
    pub problems: Vec<Problem>,
    /// Duration of each phase in seconds, in order.
    pub phases: Vec<(&'static str, f64)>,
}

impl Asked {
    /// The target that flags, the configuration or a command name.
    pub fn of(args: &ScanArgs) -> Result<Asked, Failure> {
        let begin = Instant::now();
        let working = Working::new("scan");
        let config = Config::read(&args.config)?;
        let Named { mut spec, main_class, mut problems } = target(args, &config)?;
        problems.extend(stale::problems(&spec.classpath));
        if spec.packages.is_empty() && main_class.is_some() {
            spec.packages = guess_packages(main_class.as_deref())?;
        } else if spec.packages.is_empty() {
            screen::note(
                "packages",
                "no packages are given, so every class of the class path counts as part of the system",
            );
        }
        let described = java::describe(&spec.java_home);
        let feature = described.as_ref().map_or(DEFAULT_FEATURE, |it| it.feature);
        let mut task_types = config.target.task_types.clone();
        task_types.extend(args.task_types.iter().cloned());
        Ok(Asked {
            class_path: ClassPath::from_paths(spec.classpath.clone()),
            java_version: described.map_or_else(|| "of unknown version".to_owned(), |it| it.version),
            feature,
            options: StateOptions { task_types, helpers: args.helpers },
            spec,
            problems,
            begin,
            working,
        })
    }

    /// Inputs of the result, and nothing else: two scans of one key find the same.
    pub fn key(&self, cache: &Cache) -> io::Result<Digest> {
        let Asked { spec, java_version, class_path, feature, options, problems, .. } = self;
        let program = cache.large(&std::env::current_exe()?)?;
        let content = class_path.clone().with_jdk(&spec.java_home).digest(|image| cache.large(image))?;
        let said = format!("{spec:?} {java_version:?} {feature} {options:?} {problems:?}");
        Ok(Digest::of_all([program.to_string(), content.to_string(), said]))
    }

    /// Reads and analyses the target.
    pub fn scan(&self) -> Result<Scanned<'_>, Failure> {
        let Asked { spec, class_path, feature, options, working, .. } = self;
        let mut phases = Vec::new();
        let mut last = Instant::now();
        let mut phase = |name: &'static str, next: &str| {
            let now = Instant::now();
            phases.push((name, now.duration_since(last).as_secs_f64()));
            last = now;
            working.step(next);
        };
        working.step("open");
        let classes = class_path.clone().with_jdk(&spec.java_home).open(*feature);
        phase("open", "load");
        let scope = Scope::of(&prefixes(&spec.packages, &classes));
        let mut next = hypocenter_program::Phase::ALL.iter().skip(1).map(|it| it.name());
        let program =
            Program::of(&classes, &scope, options, |it| phase(it.name(), next.next().unwrap_or("")));
        let mut problems = self.problems.clone();
        problems.extend_from_slice(classes.problems());
        problems.extend_from_slice(&program.problems);
        let mut seen = std::collections::HashSet::new();
        problems.retain(|it| seen.insert((it.place.clone(), it.what.clone())));
        if program.world.system_classes().is_empty() {
            working.finish();
            return Err(nothing(class_path, *feature, &spec.packages, &problems));
        }
        Ok(Scanned { program, asked: self, problems, phases })
    }

    /// Says what is being done.
    pub fn step(&self, name: &str) {
        self.working.step(name);
    }

    /// Nothing more follows but output.
    pub fn finish(&self) {
        self.working.finish();
    }

    /// Duration so far.
    pub fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }
}

impl Scanned<'_> {
    /// Does a part of the work and notes how long it took.
    pub fn timed<R>(&mut self, name: &'static str, work: impl FnOnce(&Scanned<'_>) -> R) -> R {
        self.asked.step(name);
        let begin = Instant::now();
        let result = work(self);
        self.phases.push((name, begin.elapsed().as_secs_f64()));
        result
    }
}

/// The target: flags before the configuration before a command.
fn target(args: &ScanArgs, config: &Config) -> Result<Named, Failure> {
    let cwd = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current directory cannot be read: {error}")))?;
    let mut words = args.command.clone();
    let mut directory = cwd;
    let has_class_path = args.classpath.is_some() || !config.target.classpath.is_empty();
    if words.is_empty() && !has_class_path {
        // A workload is a command as good as one behind `--`.
        let workload = config.workload.iter().map(|it| it.as_ref());
        let of_nodes = workload.flat_map(|it| {
            let nodes = it.node.iter().filter_map(|it| it.command.as_ref());
            it.command.iter().chain(nodes).map(move |command| (it, command))
        });
        let Some((workload, command)) = of_nodes.into_iter().next() else {
            let file = args.config.display();
            let what = if args.config.is_file() {
                format!("nothing to scan: {file} has no [target] classpath and no workload")
            } else {
                format!("nothing to scan: there is no {file} here")
            };
            return Err(Failure::usage(what).hint(
                "give --classpath and --packages, or a command after `--`, or write the file with `hypocenter init`",
            ));
        };
        words = command.words("").map_err(Failure::usage)?;
        directory =
            workload.directory.as_ref().map_or_else(|| config.base.clone(), |it| config.base.join(it));
    }
    let said = Said {
        classpath: args.classpath.as_deref(),
        packages: &args.packages,
        java_home: args.jdk.as_deref(),
    };
    TargetSpec::named(said, config, &words, &directory)
}

/// The packages as beginnings of names: the one without a name is spelt out class by class, and so is what has a `*`
/// within.
pub fn prefixes(given: &[String], classes: &Classes) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for package in given {
        let plain = package.trim_end_matches(['.', '*']);
        if plain.is_empty() && !package.is_empty() {
            // `*` is everything but the JDK, which is what no package at all stands for.
            return Vec::new();
        } else if package.is_empty() {
            found.extend(classes.names().filter(|it| !it.contains('.')).map(str::to_owned));
        } else if plain.contains('*') {
            let package_of = |it: &str| it.rsplit_once('.').map_or(String::new(), |it| it.0.to_owned());
            let mut fitting: Vec<String> = classes
                .names()
                .filter(|it| glob_matches(&format!("{plain}.*"), it))
                .map(package_of)
                .collect();
            fitting.dedup();
            found.extend(fitting);
        } else {
            found.push(plain.to_owned());
        }
    }
    if found.is_empty() && !given.is_empty() {
        // A scope without packages would take everything, and these take nothing.
        found.push("\0".to_owned());
    }
    found
}

/// Why there is no class to look at.
fn nothing(class_path: &ClassPath, feature: u16, packages: &[String], problems: &[Problem]) -> Failure {
    let own = class_path.open(feature);
    let first = || problems.first().map(|it| format!(" ({}: {})", it.place, it.what)).unwrap_or_default();
    if own.is_empty() || packages.is_empty() {
        return no_classes(&first());
    }
    let takes = |name: &str| {
        let fits = |it: &String| {
            let plain = it.trim_end_matches(['.', '*']);
            if plain.contains('*') {
                glob_matches(&format!("{plain}.*"), name)
            } else {
                Scope::of(std::slice::from_ref(it)).takes(name, false)
            }
        };
        packages.iter().any(fits)
    };
    if own.names().any(takes) {
        return no_classes(&first());
    }
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for name in own.names().filter(|it| *it != "module-info") {
        *counted.entry(name.rsplit_once('.').map_or("", |it| it.0).to_owned()).or_default() += 1;
    }
    let (mut there, _) = packages::common(&counted);
    there.truncate(SUGGESTED_MAX);
    let show = |it: &String| if it.is_empty() { "(the one without a name)".to_owned() } else { it.clone() };
    let there: Vec<String> = there.iter().map(show).collect();
    Failure::usage(format!(
        "no class of the class path is in the packages {}: its {} classes are in {}",
        packages.join(", "),
        own.len(),
        there.join(", ")
    ))
    .hint("name one of these with --packages or [target] packages, or add the target's own classes to the class path")
}

/// The most memory that this process has had, in megabytes.
pub fn peak_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kb: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kb / 1024.0)
}
