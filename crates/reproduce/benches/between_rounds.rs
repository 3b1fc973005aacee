//! How long it takes from the end of a trial to the next plan on the disk, with a million instances and logs of 100,000 lines.
//!
//! `cargo bench -p hypocenter-reproduce --bench between_rounds` takes the classes of ZooKeeper 3.6.2 (`cargo xtask fetch
//! zookeeper-3.6.2`). What is written into the logs are statements of it, by 40 threads that interleave differently in each run;
//! the failure log has some more of them, with stack traces, and those of a trial differ from it in one line of some. The sites
//! are those of the program as well, executed more than a million times in all, some often and most seldom. Everything after that is what a
//! campaign does.
//!
//! A trial is a thread that writes its log into a file, a bit at a time, for two seconds. The clock runs from when it has written
//! the last byte: the log is read from its file, tied and compared, the engine is told and asked, and its plan is written. In one
//! round the log is read when all of it is there; in the next it was followed, as the lab does it, by another thread that has
//! read and tied what was there already. Both are told the same, which is checked.
//!
//! Each time is given by the wall and by the CPU of the whole process, because others may use the machine. It asserts nothing
//! about them.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hypocenter_engine::{Confirmed, Digester, Engine, Evidence, Job, LogBytes, Next, Work};
use hypocenter_logs::Log;
use hypocenter_plan::{
    CandidateOutcome, CandidateResult, End, FORMAT_VERSION, Injection, OracleOutcome, Outcome, Plan, Record,
    Steering, Watch, WatchLevel,
};
use hypocenter_program::{ClassPath, Level, Part, Program, Scope, StateOptions, Statement};
use hypocenter_reproduce::{
    ByThread, Case, Digest, Kinds, Reader, Reading, Reproduce, SearchOptions, Settings, Strategy,
};
use memmap2::{Mmap, MmapMut};
use rustix::time::{ClockId, clock_gettime};

const LINES: usize = 100_000;
/// Some are of sites that lead nowhere: a million are left.
const EXECUTIONS: usize = 1_200_000;
const THREADS: usize = 40;
/// Lines that only the failure log has.
const MISSING: usize = 60;
/// Rounds of either kind, for each kind of trial.
const ROUNDS: usize = 5;
/// How long a trial writes, and in how many bits.
const TRIAL: Duration = Duration::from_secs(2);
const BITS: u32 = 200;
/// How often the log is looked at, and how much is read at a time, as by the lab.
const TICK: Duration = Duration::from_millis(20);
const PIECE_BYTES: usize = 256 << 10;
/// What it is to take at most.
const REACH_MS: f64 = 50.0;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    if std::env::args().any(|it| it == "--test") {
        return;
    }
    let Some(program) = program() else {
        println!("ZooKeeper 3.6.2 is not there: cargo xtask fetch zookeeper-3.6.2");
        return;
    };
    let directory = std::env::temp_dir().join(format!("hypocenter-between-rounds-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory for the logs");
    let lines = Lines::of(&program);
    let failure = Log::read(lines.log(1, usize::MAX, MISSING).as_bytes()).expect("a log");
    let started = Instant::now();
    let case =
        Arc::new(Case::new(program, vec![("node".to_owned(), failure)], |it| it.contains("the end of it")));
    println!(
        "case made in {:.1} s: {} sites, {} keys",
        started.elapsed().as_secs_f64(),
        case.catalogue().sites().len(),
        case.keys().len()
    );
    let mut campaign = Campaign::new(&case, &lines.log(7, 1000, 0), &directory);
    for (alike, what) in [(1000, "0.1 %"), (100, "1 %"), (10, "10 %"), (2, "50 %")] {
        let trials = [8, 9].map(|seed| lines.log(seed, alike, 0));
        println!("\ntrials that differ from a normal run in {what} of their lines");
        campaign.measure(&trials);
    }
    let verdict = campaign.engine.engine().verdict();
    println!(
        "\n{} observables, {} sites of {} lead there, {} reached, {} instances; {} rounds",
        verdict.missing.len(),
        verdict.sites_inferred,
        verdict.sites_total,
        verdict.sites_reached,
        verdict.instances,
        verdict.rounds.len()
    );
    fs::remove_dir_all(&directory).expect("it was made above");
}

fn program() -> Option<Program> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval/work/zookeeper-3.6.2/lib");
    if !lib.is_dir() {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let java = std::env::split_paths(&path).find_map(|it| it.join("java").canonicalize().ok());
    let home = std::env::var_os("JAVA_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let home =
        home.or_else(|| Some(java?.parent()?.parent()?.to_owned())).expect("a JDK is needed: set JAVA_HOME");
    let class_path = ClassPath::from_entries(&["*.jar".to_owned()], &lib).with_jdk(&home);
    let packages = ["org.apache.zookeeper".to_owned(), "org.apache.jute".to_owned()];
    Some(Program::of(&class_path.open(17), &Scope::of(&packages), &StateOptions::default(), |_| {}))
}

/// The lines that the program can write.
struct Lines(Vec<Line>);

struct Line {
    level: &'static str,
    class: String,
    method: String,
    line: u16,
    text: String,
    has_exception: bool,
}

impl Lines {
    fn of(program: &Program) -> Lines {
        let of = |it: &Statement| {
            let world = &program.world;
            let place = &it.written;
            let part = |it: &Part| match it {
                Part::Text(text) => text.clone(),
                Part::Hole => "0x17".to_owned(),
            };
            let class = world.show_type(world.method(place.method).owner);
            let text: String = it.templates[0].parts().iter().map(part).collect();
            let level = match it.level {
                Level::Debug | Level::Trace => "DEBUG",
                Level::Warn => "WARN ",
                Level::Error | Level::Fatal => "ERROR",
                _ => "INFO ",
            };
            let method = String::from_utf8_lossy(world.method_name(place.method)).into_owned();
            let text = text.replace('\n', " ");
            Line { level, class, method, line: place.line, text, has_exception: it.has_exception }
        };
        let written = program.statements.statements().iter().filter(|it| it.line > 0 && it.written.line > 0);
        Lines(written.map(of).collect())
    }

    /// A run: each thread writes the same in every run but for one line in `alike`, and how they interleave follows from the
    /// seed. Towards the end it has as many of the `missing`.
    fn log(&self, seed: u64, alike: usize, missing: usize) -> String {
        let mut random = Random(seed);
        let mut done = [0_usize; THREADS];
        let mut text = String::new();
        let seldom = self.0.len() * 3 / 4;
        let mut write = |n: usize, thread: usize, line: &Line| {
            let (seconds, ms) = (n / 1000, n % 1000);
            let class = line.class.rsplit('.').next().unwrap_or_default();
            text += &format!(
                "2021-07-28 13:{:02}:{:02},{ms:03} [myid:1] - {} [worker-{thread}:{class}@{}] - {}\n",
                seconds / 60,
                seconds % 60,
                line.level,
                line.line,
                line.text
            );
            if line.has_exception {
                text += "java.io.IOException: no space left on device\n";
                text += "\tat java.base/java.io.FileOutputStream.write(FileOutputStream.java:354)\n";
                text += &format!("\tat {}.{}({class}.java:{})\n", line.class, line.method, line.line);
            }
        };
        for n in 0..LINES {
            let thread = random.below(THREADS);
            let mut line = (done[thread] * 31 + thread * 7) % seldom;
            done[thread] += 1;
            if alike < usize::MAX && random.below(alike) == 0 {
                line = random.below(seldom);
            }
            write(n, thread, &self.0[line]);
            let last = LINES - 10 * missing.max(1);
            if missing > 0 && n >= last && n % 10 == 0 {
                write(n, thread, &self.0[seldom + (n - last) / 10 % (self.0.len() - seldom)]);
            }
        }
        if missing > 0 {
            text += "2021-07-28 13:59:59,999 [myid:1] - ERROR [main:Main@1] - this is the end of it\n";
        }
        text
    }
}

/// The executions of a normal run: a few sites are executed often, most seldom.
fn executions(case: &Case) -> Vec<ByThread> {
    let mut random = Random(5);
    let sites = case.catalogue().sites().len();
    let mut by_site: Vec<Vec<u32>> = vec![Vec::new(); sites];
    for order in 0..EXECUTIONS as u32 {
        // The smaller of two is small more often than not, and the smallest of four all the more.
        let site = (0..4).map(|_| random.below(sites)).min().unwrap_or(0);
        // Which sites are the busy ones must not follow the order of the classes.
        by_site[site * 7919 % sites].push(order);
    }
    let mut found = Vec::new();
    for (site, orders) in by_site.into_iter().enumerate() {
        for thread in 0..THREADS {
            let own: Vec<u32> =
                orders.iter().copied().filter(|it| *it as usize % THREADS == thread).collect();
            if own.is_empty() {
                continue;
            }
            let positions: Vec<u32> =
                own.iter().map(|it| (*it as usize * LINES / EXECUTIONS) as u32).collect();
            found.push(ByThread {
                site: site as u32,
                node: "node".to_owned(),
                thread: format!("worker-{thread}"),
                ends: positions.clone(),
                orders: own,
                positions,
                stacks: Vec::new(),
            });
        }
    }
    found
}

fn settings() -> Settings {
    let watch =
        Watch { kinds: Vec::new(), classes: Vec::new(), methods: Vec::new(), level: WatchLevel::Event };
    Settings {
        workload: "w".to_owned(),
        plan: Plan { record: Record { watch: vec![watch], ..Record::default() }, ..Plan::default() },
        search: SearchOptions { strategy: Strategy::Full, window: 10, step: 1, seed: 0 },
        kinds: Kinds { exceptions: true, delay_ms: Some(10_000) },
        budget: u64::MAX,
        normal_runs: 1,
        replays: 0,
        repeats: 1,
        patience: u64::MAX,
        doubt: 0,
        keep_going: false,
        without: Default::default(),
        about: Default::default(),
    }
}

/// The log of a trial as the lab gives it. A round records nothing, so nobody looks at its map and its trace.
#[allow(unsafe_code)]
fn evidence(log: &Path) -> Evidence {
    let file = File::open(log).expect("the log is there");
    // SAFETY: whoever wrote the file has ended.
    let bytes = unsafe { Mmap::map(&file) }.expect("a file can be mapped");
    let nothing = || MmapMut::map_anon(1).and_then(MmapMut::make_read_only).expect("there is memory");
    let log = LogBytes { process: "node".to_owned(), incarnation: 1, path: PATH.to_owned(), bytes };
    Evidence::new(nothing(), nothing(), vec![log], Vec::new())
}

/// The log in the trial's directory.
const PATH: &str = "logs/node.stdout.log";

/// A trial: writes its log, and says when it was done.
fn write(path: &Path, text: &str) -> Instant {
    let mut file = File::create(path).expect("a log can be made");
    let started = Instant::now();
    let mut from = 0;
    for bit in 1..=BITS {
        let to = text.len() * bit as usize / BITS as usize;
        file.write_all(&text.as_bytes()[from..to]).expect("the log is written");
        from = to;
        thread::sleep((TRIAL * bit / BITS).saturating_sub(started.elapsed()));
    }
    Instant::now()
}

/// Follows a log until the trial is over, and says what CPU it took.
fn follow(path: &Path, reader: &Reader, over: &AtomicBool) -> (Reading, f64) {
    let before = on_cpu_thread();
    let mut reading = Reading::default();
    let mut buffer = vec![0; PIECE_BYTES];
    let mut at = 0;
    let mut file = None;
    while !over.load(Ordering::Acquire) {
        file = file.or_else(|| File::open(path).ok());
        let count = file.as_ref().map_or(0, |it| it.read_at(&mut buffer, at).expect("the log can be read"));
        if count == 0 {
            thread::park_timeout(TICK);
            continue;
        }
        reader.read(&mut reading, PATH, at, &buffer[..count]);
        at += count as u64;
    }
    (reading, ms(on_cpu_thread() - before))
}

fn outcome(plan: &Plan) -> Outcome {
    let candidate = |(at, it): (usize, &hypocenter_plan::Candidate)| CandidateOutcome {
        site: it.site.clone(),
        fault: it.fault.clone(),
        hits: 1,
        result: if at == 0 {
            CandidateResult::Injected(Injection {
                jvm: 0,
                node: "node".to_owned(),
                thread: "worker-1".to_owned(),
                occurrence: 1,
                at_ms: 1.0,
                times: 1,
                threw: None,
                state: None,
                stack_hash: 0,
                stack: Vec::new(),
            })
        } else {
            CandidateResult::NotNeeded
        },
    };
    Outcome {
        version: FORMAT_VERSION,
        end: End::Exited { status: 0 },
        wall_ms: 1,
        disk_full: false,
        failure: Some(OracleOutcome { happened: false, why: String::new() }),
        processes: Vec::new(),
        candidates: plan.candidates.iter().enumerate().map(candidate).collect(),
        steering: Steering::default(),
        jvms: Vec::new(),
        problems: Vec::new(),
    }
}

fn ms(it: Duration) -> f64 {
    it.as_secs_f64() * 1e3
}

/// How long the threads of this process have been on a processor.
fn on_cpu() -> Duration {
    since_start(ClockId::ProcessCPUTime)
}

/// How long this thread has been on a processor.
fn on_cpu_thread() -> Duration {
    since_start(ClockId::ThreadCPUTime)
}

fn since_start(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// The times of one part, in milliseconds: by the wall and by the CPU.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (wall, cpu) = (Instant::now(), on_cpu());
        let result = black_box(work());
        self.add(wall, cpu);
        result
    }

    /// Adds what has passed since then.
    fn add(&mut self, wall: Instant, cpu: Duration) {
        self.wall.push(ms(wall.elapsed()));
        self.cpu.push(ms(on_cpu() - cpu));
    }

    fn line(&self, name: &str) -> String {
        let worst = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
        let (wall, cpu) = (median(&self.wall), median(&self.cpu));
        let worst = (worst(&self.wall), worst(&self.cpu));
        format!("  {name:<28}{cpu:>8.1}{:>8.1}{wall:>12.1}{:>8.1}", worst.1, worst.0)
    }
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The times of rounds of one kind.
#[derive(Default)]
struct Rounds {
    digest: Times,
    tell: Times,
    choose: Times,
    write: Times,
    all: Times,
}

/// A search that goes on.
struct Campaign<'a> {
    engine: Confirmed<Reproduce>,
    job: Job,
    directory: &'a Path,
}

impl Campaign<'_> {
    fn new<'a>(case: &Arc<Case>, normal: &str, directory: &'a Path) -> Campaign<'a> {
        let mut engine = Confirmed::new(Reproduce::new(case.clone(), settings()));
        let job = one(&mut engine);
        let log = directory.join("normal.log");
        fs::write(&log, normal).expect("a log is written");
        let normal = engine.digester().digest(&without_record(&job), &[evidence(&log)], Reading::default());
        let missing = (LINES as u32 - 10 * MISSING as u32..LINES as u32).collect();
        let recorded = Some(executions(case));
        let Work::Trial { plan, .. } = &job.work else { unreachable!("a trial was asked for") };
        let normal = Digest { missing, recorded, ..normal };
        let mut begin = Times::default();
        begin.time(|| engine.tell(job.id, Some(&outcome(plan)), normal));
        println!("once: space and search in {:.1} s of CPU", begin.cpu[0] / 1e3);
        let job = one(&mut engine);
        Campaign { engine, job, directory }
    }

    fn measure(&mut self, trials: &[String]) {
        let [mut whole, mut followed] = std::array::from_fn(|_| Rounds::default());
        let mut beside = Vec::new();
        for round in 0..ROUNDS {
            let trial = &trials[round % trials.len()];
            let told = self.round(trial, &mut whole, None);
            assert_eq!(told, self.round(trial, &mut followed, Some(&mut beside)), "both read the same");
        }
        println!("  {:<28}{:>8}{:>8}{:>12}{:>8}", "ms", "CPU", "worst", "wall", "worst");
        for (name, rounds) in [("read at the end", &whole), ("followed", &followed)] {
            println!("  {name}");
            println!("{}", rounds.digest.line("  read, tie and compare"));
            println!("{}", rounds.tell.line("  tell"));
            println!("{}", rounds.choose.line("  choose"));
            println!("{}", rounds.write.line("  write the plan"));
            println!("{}", rounds.all.line("  all"));
        }
        println!("  following took {:.1} ms of CPU beside the trial", median(&beside));
        for (what, times) in [("CPU", &followed.all.cpu), ("wall", &followed.all.wall)] {
            let median = median(times);
            let is_met = if median <= REACH_MS { "met" } else { "open" };
            println!("  followed, {what}: {median:.1} ms of {REACH_MS:.0}: {is_met}");
        }
    }

    /// One round: a trial, and what comes behind it. The log is followed if somebody wants to know what that takes.
    fn round(&mut self, trial: &str, times: &mut Rounds, beside: Option<&mut Vec<f64>>) -> Digest {
        let Work::Trial { plan, .. } = &self.job.work else { unreachable!("a trial was asked for") };
        let outcome = outcome(plan);
        let reader = self.engine.digester();
        let log = self.directory.join("trial.log");
        let _ = fs::remove_file(&log);
        let over = AtomicBool::new(false);
        let (mut ended, mut cpu) = (Instant::now(), Duration::ZERO);
        let reading = thread::scope(|scope| {
            let (log, reader, over) = (&log, &reader, &over);
            let writer = scope.spawn(move || write(log, trial));
            let follower = beside.map(|it| (it, scope.spawn(move || follow(log, reader, over))));
            ended = writer.join().expect("the log was written");
            cpu = on_cpu();
            over.store(true, Ordering::Release);
            let Some((beside, follower)) = follower else { return Reading::default() };
            follower.thread().unpark();
            let (reading, took) = follower.join().expect("the log was followed");
            beside.push(took);
            reading
        });
        let digest = times.digest.time(|| reader.digest(&self.job, &[evidence(&log)], reading));
        let told = digest.clone();
        times.tell.time(|| self.engine.tell(self.job.id, Some(&outcome), digest));
        let next = times.choose.time(|| one(&mut self.engine));
        let Work::Trial { plan, .. } = &next.work else { unreachable!("a trial was asked for") };
        times.write.time(|| {
            let json = serde_json::to_vec_pretty(plan).expect("a plan is always JSON");
            fs::write(self.directory.join("plan.json"), json).expect("a plan is written");
        });
        times.all.add(ended, cpu);
        self.job = next;
        told
    }
}

fn one(engine: &mut Confirmed<Reproduce>) -> Job {
    let Next::Start(mut jobs) = engine.next(1) else { panic!("there is more to try") };
    jobs.pop().expect("at least one")
}

/// The same job, of which only the log is read: what a trace says is made up here.
fn without_record(job: &Job) -> Job {
    let mut job = job.clone();
    if let Work::Trial { plan, .. } = &mut job.work {
        plan.record.watch.clear();
    }
    job
}
