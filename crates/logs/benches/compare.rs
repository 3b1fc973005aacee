//! How long it takes to compare logs of 100,000 lines and to find the places of a million instances, beside copying as
//! many numbers.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hypocenter_logs::{Comparison, Fields, Log, Marks, Moment, Observables, Statements, Tied, Timeline};

const LINES: usize = 100_000;
const INSTANCES: usize = 1_000_000;
const THREADS: usize = 40;
const MESSAGES: usize = 600;
const ROUNDS: usize = 9;

/// How long this thread has been on a processor: what others do on the machine does not count. Where the kernel does not
/// say, the clock has to do.
fn used(since: Instant) -> Duration {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu = schedstat.split(' ').next().and_then(|it| it.parse().ok());
    on_cpu.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// The median of a few rounds, in milliseconds. The kernel counts in ticks of milliseconds, so a round goes on until they
/// are many.
fn median<T>(mut work: impl FnMut() -> T) -> f64 {
    const ROUND: Duration = Duration::from_millis(100);
    let since = Instant::now();
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = used(since);
            let mut times = 0;
            while times == 0 || used(since) - start < ROUND {
                black_box(work());
                times += 1;
            }
            (used(since) - start).as_secs_f64() * 1e3 / f64::from(times)
        })
        .collect();
    rounds.sort_unstable_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A run of threads that each do their own work: what they write is the same in every run but for a message in `noise`, and
/// how they interleave is not.
fn run(seed: u64, noise: usize) -> [Tied; 1] {
    let mut random = Random(seed);
    let mut done = [0_usize; THREADS];
    let mut text = String::new();
    for n in 0..LINES {
        let thread = random.below(THREADS);
        let mut message = (done[thread] * 31 + thread * 7) % MESSAGES;
        done[thread] += 1;
        if random.below(noise) == 0 {
            message = MESSAGES + random.below(50);
        }
        let (seconds, ms) = (n / 1000, n % 1000);
        text += &format!(
            "2021-07-28 13:{:02}:{:02},{ms:03} [myid:] - INFO  [worker-{}:Component{}@{message}] - did {} of it\n",
            seconds / 60,
            seconds % 60,
            thread,
            message % 90,
            n % 977
        );
    }
    let log = Log::read(text.as_bytes()).expect("a log");
    [Tied::of("n", &log, &Statements::new(Vec::new()), Fields::of(log.layout()))]
}

fn main() {
    for noise in [1000, 100, 10, 2] {
        let (failure, normal, again) = (run(1, noise), run(2, noise), run(3, noise));
        let comparison = Comparison::of(&failure, &normal);
        let compare = median(|| Comparison::of(&failure, &normal));
        let align = median(|| Timeline::of(&failure, &normal, &comparison));
        let observables = Observables::of(&failure, &[&normal]);
        let shown = median(|| observables.shown(&again, &[&normal]));
        let timeline = Timeline::of(&failure, &normal, &comparison);
        println!(
            "one entry of {noise} differs: {LINES} lines in {THREADS} threads, {} have no partner{}, {} tie the runs together",
            comparison.own().count(),
            if comparison.is_cut() { " (cut)" } else { "" },
            timeline.ties()
        );
        println!("  comparing two runs          {compare:8.1} ms");
        println!("  aligning them               {align:8.1} ms");
        println!("  what a trial shows          {shown:8.1} ms  {} observables", observables.list().len());
        let marks: Vec<Marks> = observables.list().iter().map(|it| timeline.marks(&it.entries)).collect();
        places(&timeline, &normal, &marks);
    }
}

/// A million instances: their places, and their distances to an observable each.
fn places(timeline: &Timeline, normal: &[Tied], marks: &[Marks]) {
    let first_ms = normal[0].entries()[0].time_ms.expect("a time") as f64;
    let step_ms = LINES as f64 / INSTANCES as f64;
    let in_order: Vec<Moment> =
        (0..INSTANCES).map(|it| Moment::AtMs(first_ms + it as f64 * step_ms)).collect();
    let mut random = Random(7);
    let by_entry: Vec<Moment> =
        (0..INSTANCES).map(|_| Moment::After { node: 0, entries: random.below(LINES) as u32 }).collect();
    let by_chance: Vec<Moment> =
        (0..INSTANCES).map(|_| Moment::AtMs(first_ms + random.below(LINES) as f64)).collect();
    let numbers: Vec<f64> = (0..INSTANCES).map(|it| it as f64).collect();
    let mut into = vec![0.0_f64; INSTANCES];
    let copy = median(|| into.copy_from_slice(black_box(&numbers)));
    let none = Marks::default();
    for (name, moments) in
        [("times in order", &in_order), ("times by chance", &by_chance), ("behind entries", &by_entry)]
    {
        let find = median(|| {
            let mut finder = timeline.finder();
            for (n, it) in moments.iter().enumerate() {
                let place = finder.place(*it).expect("a place");
                let marks = marks.get(n / 1000 % marks.len().max(1)).unwrap_or(&none);
                into[n] = marks.distance(place);
            }
        });
        let place = median(|| {
            let mut finder = timeline.finder();
            moments.iter().map(|it| finder.place(*it).expect("a place")).sum::<f64>()
        });
        println!(
            "  {name:16} {place:5.1} ms for the places of a million instances, {find:5.1} ms with their distances, {:.0} x \
             copying",
            find / copy
        );
    }
}
