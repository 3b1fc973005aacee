//! Cost and memory of long logs: reading, tying and comparing 1, 2, 4 and 10 million lines, each beside half of the lines.
//!
//! `cargo bench -p hypocenter-logs --bench long`. Each size is measured in a process of its own, so that its peak of memory is
//! its own. A ratio near 1 says that the cost of a line does not grow with the log. `BENCH_LINES=1,2` measures these millions.

use std::process::Command;
use std::time::{Duration, Instant};

use hypocenter_logs::{
    Comparison, Fields, Level, Log, Part, Statement, StatementId, Statements, Template, Tied, Timeline,
};

const MILLIONS: &str = "1,2,4,10";
const STATEMENTS: usize = 5_000;
const THREADS: usize = 40;
/// The variable by which a process knows its size, in thousands of lines.
const SIZE: &str = "BENCH_THOUSANDS";

fn texts(n: usize) -> [String; 2] {
    const WORDS: [&str; 12] = [
        "Received",
        "Sending",
        "Closing",
        "Opened",
        "Accepted",
        "Starting",
        "Stopping",
        "Processing",
        "Applied",
        "Proposed",
        "Committed",
        "Synced",
    ];
    let (verb, noun) = (WORDS[n % WORDS.len()], WORDS[n / WORDS.len() % WORDS.len()].to_lowercase());
    [format!("{verb} {noun} of kind {} for ", n / 144), " after ".to_owned()]
}

fn statements() -> Statements {
    let statement = |n: usize| Statement {
        id: StatementId(n as u32),
        class: format!("org.example.part{}.Component{}", n % 17, n % 900),
        method: "run".into(),
        line: Some(n as u32 % 3000),
        level: Some(Level::Info),
        template: Template::new(texts(n).into_iter().flat_map(|it| [Part::Text(it), Part::Hole])),
        has_exception: false,
    };
    Statements::new((0..STATEMENTS).map(statement).collect())
}

/// A log of so many lines by several threads. Every hundredth entry has a stack trace of ten lines.
fn text(lines: usize) -> String {
    let templates: Vec<[String; 2]> = (0..STATEMENTS).map(texts).collect();
    let mut text = String::with_capacity(lines * 128);
    let (mut written, mut seed) = (0, 1_u64);
    while written < lines {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let n = (seed >> 33) as usize % STATEMENTS;
        let ms = written / 100;
        let [first, second] = &templates[n];
        text += &format!(
            "2021-07-28 {:02}:{:02}:{:02},{:03} INFO [worker-{}] org.example.part{}.Component{}: {first}/10.0.0.{}{second}{} ms\n",
            ms / 3_600_000 % 24,
            ms / 60_000 % 60,
            ms / 1000 % 60,
            ms % 1000,
            n % THREADS,
            n % 17,
            n % 900,
            written % 256,
            seed >> 50
        );
        written += 1;
        if written % 100 == 0 {
            text += "java.net.SocketException: Socket closed\n";
            for depth in 0..9 {
                text += &format!("\tat org.example.Class{depth}.method(Class{depth}.java:{})\n", depth * 17);
            }
            written += 10;
        }
    }
    text
}

/// A figure of this process, in bytes.
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix(field)).unwrap_or_default();
    line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or(0) * 1024
}

/// Processor time of this process: what others do on the machine does not count.
fn timed<R>(work: impl FnOnce() -> R) -> (Duration, R) {
    let used = || {
        let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        schedstat.split(' ').next().and_then(|it| it.parse().ok()).map(Duration::from_nanos)
    };
    let (begin, clock) = (used(), Instant::now());
    let result = work();
    let took = begin.zip(used()).map(|(begin, end)| end - begin);
    (took.unwrap_or_else(|| clock.elapsed()), result)
}

/// Measures one size, in a process of its own, and prints the figures for the process that started it.
fn measure(thousands: usize) {
    let lines = thousands * 1000;
    let text = text(lines);
    let program = statements();
    let bytes = text.len();
    let (read, log) = timed(|| Log::read(text.as_bytes()).expect("a log"));
    drop(text);
    let before = memory("VmRSS");
    let (tie, tied) = timed(|| [Tied::of("n", &log, &program, Fields::of(log.layout()))]);
    let tied_bytes = memory("VmRSS").saturating_sub(before);
    // A normal run is a short one beside the log of a long failure.
    let short = Log::read(self::text(20_000).as_bytes()).expect("a log");
    let normal = [Tied::of("n", &short, &program, Fields::of(short.layout()))];
    let (compare, _) = timed(|| {
        let comparison = Comparison::of(&tied, &normal);
        Timeline::of(&tied, &normal, &comparison)
    });
    let seconds = |it: Duration| it.as_secs_f64();
    println!(
        "{} {} {} {bytes} {tied_bytes} {}",
        seconds(read),
        seconds(tie),
        seconds(compare),
        memory("VmHWM")
    );
}

/// The figures of one size.
fn figures(thousands: usize) -> [f64; 6] {
    let own = std::env::current_exe().expect("a benchmark knows its file");
    let output =
        Command::new(own).env(SIZE, thousands.to_string()).output().expect("it can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    let error = String::from_utf8_lossy(&output.stderr);
    numbers.try_into().unwrap_or_else(|_| panic!("{thousands} thousand lines gave no figures: {text}{error}"))
}

fn main() {
    if std::env::args().any(|it| it == "--test") {
        return;
    }
    if let Some(thousands) = std::env::var(SIZE).ok().and_then(|it| it.parse().ok()) {
        return measure(thousands);
    }
    let asked = std::env::var("BENCH_LINES").unwrap_or_else(|_| MILLIONS.to_owned());
    println!(
        "{STATEMENTS} statements, {THREADS} threads. Processor time in nanoseconds a line / the same in a log"
    );
    println!("half as long = their ratio, from the same run; 1.00 is linear.\n");
    println!("  lines     text                read                 tie             compare   peak RSS");
    for millions in asked.split(',').filter_map(|it| it.trim().parse::<usize>().ok()) {
        let thousands = millions * 1000;
        let [half, whole] = [figures(thousands / 2), figures(thousands)];
        let lines = thousands as f64 * 1e3;
        let step = |at: usize| {
            let [half, whole] = [half[at] / lines * 2e9, whole[at] / lines * 1e9];
            format!("{:>19}", format!("{whole:.0} / {half:.0} = {:.2}", whole / half))
        };
        println!(
            "{millions:5} M {:5.0} MB {} {} {} {:7.0} MB  {:.0}, {:.0}, {:.0} bytes a line (text, tied, peak)",
            whole[3] / 1e6,
            step(0),
            step(1),
            step(2),
            whole[5] / 1e6,
            whole[3] / lines,
            whole[4] / lines,
            whole[5] / lines
        );
    }
    println!(
        "\nThe memory of a line is bounded, that of a log is not: it owns its text and the places of its entries."
    );
    println!("The peak has the text a second time, as it was read from the file.");
}
