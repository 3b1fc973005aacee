//! How fast logs are read and tied to statements, beside how fast their lines can be counted.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hypocenter_logs::{Level, Log, Part, Statement, StatementId, Statements, Template};

const LINES: usize = 100_000;
const STATEMENTS: usize = 20_000;
const ROUNDS: usize = 5;

/// How long this thread has been on a processor: what others do on the machine does not count. Where the kernel does not
/// say, the clock has to do.
fn used(since: Instant) -> Duration {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu = schedstat.split(' ').next().and_then(|it| it.parse().ok());
    on_cpu.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// The shortest of a few rounds. The kernel counts in ticks of milliseconds, so a round goes on until they are many.
fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    const ROUND: Duration = Duration::from_millis(150);
    let since = Instant::now();
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = used(since);
        let mut times = 0;
        while times == 0 || used(since) - start < ROUND {
            black_box(work());
            times += 1;
        }
        best = best.min((used(since) - start) / times);
    }
    best
}

const VERBS: [&str; 12] = [
    "Received",
    "Sending",
    "Closing",
    "Failed to open",
    "Accepted",
    "Unexpected exception in",
    "Starting",
    "Interrupted while waiting for",
    "Processing",
    "Notification of",
    "Cannot find",
    "Timeout of",
];
const NOUNS: [&str; 15] = [
    "connection",
    "session",
    "snapshot",
    "leader",
    "block",
    "follower",
    "request",
    "packet",
    "proposal",
    "region",
    "log segment",
    "checkpoint",
    "lease",
    "replica",
    "heartbeat",
];

/// The texts of a statement, with a hole behind each.
fn texts(n: usize) -> [String; 2] {
    let verb = VERBS[n % VERBS.len()];
    let noun = NOUNS[n / VERBS.len() % NOUNS.len()];
    let k = n / (VERBS.len() * NOUNS.len());
    [format!("{verb} {noun} of kind {k} for "), format!(" in state {noun} after ")]
}

fn class(n: usize) -> String {
    format!("org.apache.example.server.part{}.Component{}", n % 17, n % 900)
}

fn statements() -> Statements {
    let statement = |n: usize| Statement {
        id: StatementId(n as u32),
        class: class(n),
        method: "run".into(),
        line: Some(n as u32 % 3000),
        level: Some(Level::Info),
        template: Template::new(texts(n).into_iter().flat_map(|it| [Part::Text(it), Part::Hole])),
        has_exception: false,
    };
    Statements::new((0..STATEMENTS).map(statement).collect())
}

/// A log whose every twentieth entry has a stack trace.
fn log(line: impl Fn(usize, &str) -> String) -> String {
    let mut text = String::new();
    let mut lines = 0;
    let mut seed = 1_u64;
    while lines < LINES {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let n = (seed >> 33) as usize % STATEMENTS;
        let [first, second] = texts(n);
        text += &line(n, &format!("{first}/10.0.{}.{}:2181{second}{} ms", n % 256, lines % 256, seed >> 50));
        lines += 1;
        if lines % 20 == 0 {
            text += "java.net.SocketException: Socket closed\n";
            for depth in 0..9 {
                text += &format!(
                    "\tat org.apache.example.Class{depth}.method(Class{depth}.java:{})\n",
                    depth * 17
                );
            }
            lines += 10;
        }
    }
    text
}

fn measure(name: &str, text: &str, program: &Statements) {
    let bytes = text.as_bytes();
    let lines = bytes.iter().filter(|it| **it == b'\n').count();
    let count = best(|| memchr::memchr_iter(b'\n', bytes).count());
    let read = best(|| Log::read(bytes).expect("a log"));
    let log = Log::read(bytes).expect("a log");
    let traces = best(|| log.entries().map(|it| it.trace().exceptions.len()).sum::<usize>());
    let tie = best(|| log.entries().filter(|it| program.tie(it).ids().len() == 1).count());
    let tied = log.entries().filter(|it| program.tie(it).ids().len() == 1).count();
    let ms = |it: Duration| it.as_secs_f64() * 1e3;
    let rate = |it: Duration| lines as f64 / it.as_secs_f64() / 1e6;
    println!("{name}: {lines} lines, {:.1} MB, {} entries", bytes.len() as f64 / 1e6, log.len());
    println!("  counting lines {:8.2} ms  {:8.2} million lines/s", ms(count), rate(count));
    println!(
        "  reading        {:8.2} ms  {:8.2} million lines/s  {:.1} x counting, {:.0} MB/s",
        ms(read),
        rate(read),
        read.as_secs_f64() / count.as_secs_f64(),
        bytes.len() as f64 / read.as_secs_f64() / 1e6
    );
    println!("  stack traces   {:8.2} ms", ms(traces));
    println!(
        "  tying          {:8.2} ms  {:8.2} million lines/s  {:.1} x counting, {tied} of {} tied to one of {STATEMENTS}",
        ms(tie),
        rate(tie),
        tie.as_secs_f64() / count.as_secs_f64(),
        log.len()
    );
}

fn main() {
    let build = best(statements);
    println!("index of {STATEMENTS} statements: {:.1} ms", build.as_secs_f64() * 1e3);
    let program = statements();
    let with_line = log(|n, message| {
        let class = class(n);
        let simple = class.rsplit('.').next().unwrap_or_default();
        format!(
            "2021-07-28 13:31:16,997 [myid:{}] - INFO  [QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181:{simple}@{}] - {message}\n",
            n % 3,
            n % 3000
        )
    });
    measure("class and line", &with_line, &program);
    let with_class = log(|n, message| {
        format!("2021-07-28 13:31:16,997 INFO [IPC Server handler 3] {}: {message}\n", class(n))
    });
    measure("logger", &with_class, &program);
    let without = log(|_, message| format!("2021-07-28 13:31:16,997 INFO {message}\n"));
    measure("text only", &without, &program);
}
