//! `cargo xtask eval logs`: production logs that nobody wrote for us. Their layouts are found and every line is split; one
//! is tied to the statements of the system that wrote it, by text alone; and a gigabyte of them is read as it comes.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hypocenter_logs::{Log, LogReader};

use super::scan::{PACKAGES, Read, Ties};
use crate::failure::{Failure, Result};
use crate::jdk::JdkArgs;
use crate::process::{fresh_directory, step};
use crate::table::{self, thousands};
use crate::tool::cargo;
use crate::{Verdict, root};

/// The share of a log's lines that is to be tied to at most three statements.
const TIED_GOAL: f64 = 0.95;
/// Reading speed of a core.
const SPEED_GOAL: f64 = 200.0;
/// Additional memory that the process may take while it reads.
const MEMORY_MB_MAX: f64 = 64.0;
/// Number of bytes that are read at a time without other work.
const PIECE_BYTES: usize = 256 * 1024;

/// The same by an optimised build of this program: how fast another one reads means nothing.
fn optimised() -> Result<Verdict> {
    let mut command = Command::new(cargo());
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--manifest-path"]);
    command.arg(root().join("Cargo.toml")).arg("--").args(std::env::args_os().skip(1));
    let status = command.status().map_err(|error| Failure::new(format!("cargo cannot be run: {error}")))?;
    Ok(Verdict::of(status.success()))
}

/// Production logs: layouts, fields, statements, and how fast a gigabyte of them is read
#[derive(Debug, clap::Args)]
pub struct LogsArgs {
    /// The directory of the logs: every *.log in it is read
    #[arg(long, value_name = "DIR")]
    logs: PathBuf,
    /// Tie a log of the directory to the statements of a system of eval/, both by their names, such as
    /// zookeeper-2k.log=zookeeper-3.4.6
    #[arg(long, value_name = "LOG=SYSTEM", value_parser = pair)]
    system: Vec<(String, String)>,
    /// Packages that count as those systems; all else on their class paths is a library
    #[arg(long, value_name = "PACKAGE", value_delimiter = ',', default_values = PACKAGES)]
    packages: Vec<String>,
    /// Size of all logs together that are generated and read
    #[arg(long, value_name = "MB", default_value_t = 1000)]
    megabytes: u64,
    /// Show the entries that are not tied to the one statement that class and line name
    #[arg(long)]
    misses: bool,
    #[command(flatten)]
    jdks: JdkArgs,
}

fn pair(text: &str) -> std::result::Result<(String, String), String> {
    let (log, system) = text.split_once('=').ok_or("give a log and a system as LOG=SYSTEM")?;
    Ok((log.to_owned(), system.to_owned()))
}

/// A log of the directory.
struct Given {
    name: String,
    bytes: Vec<u8>,
    log: Log,
}

pub fn run(args: &LogsArgs) -> Result<Verdict> {
    if cfg!(debug_assertions) {
        return optimised();
    }
    let given = read(&args.logs)?;
    let mut broken = split(&given);
    broken.extend(speed(&given, args.megabytes.saturating_mul(1_000_000))?);
    for (log, system) in &args.system {
        let Some(given) = given.iter().find(|it| it.name == *log) else {
            return Err(Failure::new(format!("{}: there is no {log}", args.logs.display()))
                .hint("name a log of the directory, with its extension, in --system"));
        };
        broken.extend(tie(given, system, args)?);
    }
    broken.iter().for_each(|it| println!("FAIL: {it}"));
    if broken.is_empty() {
        println!("PASS");
    }
    Ok(Verdict::of(broken.is_empty()))
}

fn read(directory: &Path) -> Result<Vec<Given>> {
    let entries = fs::read_dir(directory).map_err(Failure::file(directory))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "log"));
    paths.sort();
    let mut given = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).map_err(Failure::file(&path))?;
        let log = Log::read(&bytes).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        given.push(Given { name, bytes, log });
    }
    if given.is_empty() {
        return Err(Failure::new(format!("{}: it has no *.log", directory.display()))
            .hint("give --logs a directory that has some"));
    }
    Ok(given)
}

/// Prints how the lines of the logs are split; what went wrong is returned.
fn split(given: &[Given]) -> Vec<String> {
    let mut rows = Vec::new();
    let mut broken = Vec::new();
    for it in given {
        let is_whole = |it: &hypocenter_logs::Entry<'_>| {
            let has_place = it.thread.is_some() || it.logger.is_some();
            it.time_ms.is_some() && it.level.is_some() && has_place && !it.message.is_empty()
        };
        let whole: u32 = it.log.entries().filter(is_whole).map(|it| it.lines).sum();
        let lines = it.log.lines();
        if whole < lines {
            broken.push(format!("{}: {} of {lines} lines are not split", it.name, lines - whole));
        }
        rows.push(vec![
            it.name.clone(),
            thousands(lines.into()),
            thousands(it.log.len() as u64),
            format!("{:.2} %", 100.0 * f64::from(whole) / f64::from(lines.max(1))),
            it.log.layout().to_string(),
        ]);
    }
    println!("Lines split into time, level, thread or logger, and message; the goal is all of them");
    print!("{}", table::text(&["log", "lines", "entries", "split", "layout, as it was found"], &rows));
    broken
}

/// A file that is removed when it is no longer needed.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // It lies among what the next run of the evaluation removes.
        let _ = fs::remove_file(&self.0);
    }
}

/// The bytes of a log again and again, in a file of about this size.
fn repeated(bytes: &[u8], size: u64, path: &Path) -> Result<(Temporary, u64)> {
    let file = Temporary(path.to_owned());
    let mut out = File::create(path).map_err(Failure::file(path))?;
    // The last line of a log may have no end.
    let end = if bytes.ends_with(b"\n") { &b""[..] } else { b"\n" };
    let piece = [bytes, end].concat();
    let times = size.div_ceil(piece.len().max(1) as u64);
    for _ in 0..times {
        out.write_all(&piece).map_err(Failure::file(path))?;
    }
    Ok((file, times * piece.len() as u64))
}

/// Prints how fast repeated logs are read; what went wrong is returned.
fn speed(given: &[Given], size: u64) -> Result<Vec<String>> {
    let directory = super::out("logs");
    fresh_directory(&directory)?;
    let mut rows = Vec::new();
    let mut sum = Measured::default();
    for it in given {
        let path = directory.join("repeated.log");
        let (_file, bytes) = step(
            &format!("writing {} of {} again and again", megabytes(size / given.len() as u64), it.name),
            || repeated(&it.bytes, size / given.len() as u64, &path),
        )?;
        let measured = step("reading it", || Measured::of(&path, bytes))?;
        rows.push(measured.row(&it.name));
        sum.add(&measured);
    }
    rows.push(sum.row("all"));
    println!("\nReading as it comes, by the time on a processor; the goal is {SPEED_GOAL:.0} MB/s for all");
    let headings = [
        "log",
        "MB",
        "entries",
        "bare read",
        "read and split",
        "times bare",
        "held at most",
        "process grew by",
    ];
    print!("{}", table::text(&headings, &rows));
    println!();
    let mut broken = Vec::new();
    if sum.speed() < SPEED_GOAL {
        broken.push(format!("{:.0} MB/s a core", sum.speed()));
    }
    if sum.grown_mb > MEMORY_MB_MAX {
        broken.push(format!("the process grew by {:.0} MB; more than {MEMORY_MB_MAX} MB", sum.grown_mb));
    }
    Ok(broken)
}

/// Result of reading a file.
#[derive(Default)]
struct Measured {
    bytes: u64,
    entries: u64,
    bare: Duration,
    read: Duration,
    held: usize,
    grown_mb: f64,
}

impl Measured {
    fn of(path: &Path, bytes: u64) -> Result<Measured> {
        let open = || File::open(path).map_err(Failure::file(path));
        let mut file = open()?;
        let mut piece = vec![0; PIECE_BYTES];
        let start = Used::now();
        while file.read(&mut piece).map_err(Failure::file(path))? > 0 {
            black_box(&piece);
        }
        let bare = start.since();
        // From here on the peak of the memory is this reading's, where the kernel lets it be set back.
        let _ = fs::write("/proc/self/clear_refs", "5");
        let before = status_mb("VmRSS:");
        let file = open()?;
        let start = Used::now();
        let failed = |error: hypocenter_logs::ReadError| Failure::new(format!("{}: {error}", path.display()));
        let mut reader = LogReader::new(file).map_err(failed)?;
        let (mut entries, mut held) = (0, 0);
        while let Some(it) = reader.next().map_err(failed)? {
            black_box(it);
            entries += 1;
            held = held.max(reader.held_bytes());
        }
        let read = start.since();
        Ok(Measured { bytes, entries, bare, read, held, grown_mb: status_mb("VmHWM:") - before })
    }

    fn add(&mut self, other: &Measured) {
        self.bytes += other.bytes;
        self.entries += other.entries;
        self.bare += other.bare;
        self.read += other.read;
        self.held = self.held.max(other.held);
        self.grown_mb = self.grown_mb.max(other.grown_mb);
    }

    fn rate(&self, time: Duration) -> f64 {
        self.bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9)
    }

    fn speed(&self) -> f64 {
        self.rate(self.read)
    }

    fn row(&self, name: &str) -> Vec<String> {
        vec![
            name.to_owned(),
            thousands(self.bytes / 1_000_000),
            thousands(self.entries),
            format!("{:.0} MB/s", self.rate(self.bare)),
            format!("{:.0} MB/s", self.speed()),
            format!("{:.1}", self.read.as_secs_f64() / self.bare.as_secs_f64().max(1e-9)),
            format!("{:.1} MB", self.held as f64 / 1e6),
            format!("{:.1} MB", self.grown_mb),
        ]
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

/// A moment, and how long this thread had been on a processor by then: what others do on the machine does not count. Where
/// the kernel does not say, the clock has to do.
struct Used {
    on_cpu: Option<Duration>,
    clock: Instant,
}

impl Used {
    fn now() -> Used {
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let on_cpu = schedstat.split(' ').next().and_then(|it| it.parse().ok()).map(Duration::from_nanos);
        Used { on_cpu, clock: Instant::now() }
    }

    fn since(&self) -> Duration {
        match (self.on_cpu, Used::now().on_cpu) {
            (Some(before), Some(now)) => now - before,
            _ => self.clock.elapsed(),
        }
    }
}

/// A line of the process's status, in megabytes.
fn status_mb(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix(name));
    let kilobytes = line.and_then(|it| it.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

/// Prints how many entries of a log are tied to statements of a system without their class and line; what went wrong is
/// returned.
fn tie(given: &Given, system: &str, args: &LogsArgs) -> Result<Vec<String>> {
    let jdks = args.jdks.given_or_default()?;
    let jdk = jdks.first().ok_or_else(|| Failure::new("no JDK was given"))?;
    let read = Read::of(system, "lib", None, &args.packages, jdk)?;
    let ties = Ties::of(&read, &given.log, |_| true);
    let share = |count: usize| count as f64 / ties.entries.max(1) as f64;
    let row: Vec<String> = [ties.none, ties.exact_by_line, ties.single, ties.at_most, ties.among, ties.first]
        .map(|it| format!("{:.1} %", 100.0 * share(it)))
        .to_vec();
    println!(
        "{} tied to {system} by text alone; the goal is {:.0} % to at most three",
        given.name,
        100.0 * TIED_GOAL
    );
    let headings = [
        "to none",
        "exact by class and line",
        "to one",
        "to at most three",
        "right one among first three",
        "right one first",
    ];
    print!("{}", table::text(&headings, &[row]));
    if args.misses {
        ties.print_misses();
    }
    let mut broken = Vec::new();
    for (what, count) in
        [("to at most three", ties.at_most), ("with the right one among the first three", ties.among)]
    {
        if share(count) < TIED_GOAL {
            broken.push(format!(
                "{}: {:.1} % of its entries are tied {what}",
                given.name,
                100.0 * share(count)
            ));
        }
    }
    Ok(broken)
}
