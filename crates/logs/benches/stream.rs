//! How fast a gigabyte of a log is read as it comes, beside how fast its lines can be counted, and in how much memory.
//!
//! `HYPOCENTER_LOG` names the log that the gigabyte is made of, or several, with colons between; without it the benchmark
//! writes lines of its own.

use std::hint::black_box;
use std::io::Read;
use std::time::{Duration, Instant};

use hypocenter_logs::LogReader;

const BYTES: usize = 1_000_000_000;

/// The same bytes again and again.
struct Again<'t> {
    bytes: &'t [u8],
    at: usize,
    left: usize,
}

impl<'t> Again<'t> {
    fn new(bytes: &'t [u8]) -> Again<'t> {
        Again { bytes, at: 0, left: BYTES }
    }
}

impl Read for Again<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = into.len().min(self.bytes.len() - self.at).min(self.left);
        into[..length].copy_from_slice(&self.bytes[self.at..self.at + length]);
        self.at = (self.at + length) % self.bytes.len();
        self.left -= length;
        Ok(length)
    }
}

/// How long this thread has been on a processor: what others do on the machine does not count. Where the kernel does not
/// say, the clock has to do.
fn used(since: Instant) -> Duration {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu = schedstat.split(' ').next().and_then(|it| it.parse().ok());
    on_cpu.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let since = Instant::now();
    let start = used(since);
    let result = work();
    (used(since) - start, result)
}

fn count_lines(mut source: impl Read) -> usize {
    let mut buffer = vec![0; 256 * 1024];
    let mut lines = 0;
    loop {
        let length = source.read(&mut buffer).expect("bytes in memory");
        if length == 0 {
            return lines;
        }
        lines += memchr::memchr_iter(b'\n', &buffer[..length]).count();
    }
}

fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    line.and_then(|it| it.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

fn measure(name: &str, bytes: &[u8]) {
    let before = peak_mb();
    let (count, lines) = timed(|| black_box(count_lines(Again::new(bytes))));
    let (read, (entries, held, layout)) = timed(|| {
        let mut reader = LogReader::new(Again::new(bytes)).expect("a log");
        let (mut entries, mut held) = (0_usize, 0);
        while let Some(it) = reader.next().expect("bytes in memory") {
            black_box(it);
            entries += 1;
            held = held.max(reader.held_bytes());
        }
        (entries, held, reader.layout().to_string())
    });
    let rate = |it: Duration| BYTES as f64 / 1e6 / it.as_secs_f64();
    println!("{name}: {layout}");
    println!("  {:.2} GB, {lines} lines, {entries} entries", BYTES as f64 / 1e9);
    println!("  counting lines {:8.0} MB/s", rate(count));
    println!(
        "  reading        {:8.0} MB/s  {:.1} x counting, {:.2} million lines/s",
        rate(read),
        read.as_secs_f64() / count.as_secs_f64(),
        lines as f64 / read.as_secs_f64() / 1e6
    );
    println!(
        "  memory: the reader held {:.1} MB; the process had {before:.0} MB before and {:.0} MB at its peak",
        held as f64 / 1e6,
        peak_mb()
    );
}

/// Lines as a server writes them, some with a stack trace.
fn own() -> Vec<u8> {
    let mut text = String::new();
    for n in 0..5000 {
        text += &format!(
            "2021-07-28 13:{:02}:{:02},{:03} [myid:1] - INFO  [QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181:Component{}@{}] - Received \
             connection request /10.0.{}.{}:4{n:04}\n",
            n / 60 % 60,
            n % 60,
            n % 1000,
            n % 90,
            n % 3000,
            n % 256,
            n % 100
        );
        if n % 50 == 0 {
            text += "java.net.SocketException: Socket closed\n";
            text += &"\tat org.apache.example.Server.accept(Server.java:17)\n".repeat(9);
        }
    }
    text.into_bytes()
}

fn main() {
    let Some(paths) = std::env::var_os("HYPOCENTER_LOG") else {
        return measure("lines of our own", &own());
    };
    for path in std::env::split_paths(&paths) {
        match std::fs::read(&path) {
            Ok(bytes) if !bytes.is_empty() => {
                // The last line of a file may have no end.
                let end = if bytes.ends_with(b"\n") { &b""[..] } else { b"\n" };
                measure(&path.display().to_string(), &[&bytes, end].concat());
            }
            Ok(_) => println!("{}: it is empty; give a log", path.display()),
            Err(error) => println!("{}: {error}; give a log that can be read", path.display()),
        }
    }
}
