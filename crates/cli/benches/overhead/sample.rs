//! Repeated measurements of two sides, and what they say.

/// Both sides of one measurement: bare, and with hooks.
pub type Pair = (f64, f64);

/// A value with the interval that it lies in.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    /// Number of values that it comes from.
    pub count: usize,
}

/// The median and its 95 % interval by ranks, which supposes nothing about the distribution; all the values where
/// they are too few for that.
pub fn estimate(values: impl IntoIterator<Item = f64>) -> Option<Estimate> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let (first, last) = (*values.first()?, *values.last()?);
    let count = values.len();
    let median = (values[(count - 1) / 2] + values[count / 2]) / 2.0;
    let (low, high) = match interval_rank(count) {
        Some(rank) => (values[rank], values[count - 1 - rank]),
        None => (first, last),
    };
    Some(Estimate { median, low, high, count })
}

/// The largest rank that leaves at most 2.5 % on either side, by the binomial distribution with chance a half.
fn interval_rank(count: usize) -> Option<usize> {
    let mut chance = 0.5f64.powi(count.min(1000) as i32);
    let mut below = 0.0;
    let mut rank = None;
    for at in 0..count.min(1000) {
        below += chance;
        if below > 0.025 {
            break;
        }
        rank = Some(at);
        chance *= (count - at) as f64 / (at + 1) as f64;
    }
    rank
}

/// The median of one side, or of what is made of both.
pub fn median(pairs: &[Pair], of: impl Fn(&Pair) -> f64) -> f64 {
    estimate(pairs.iter().map(of)).map_or(f64::NAN, |it| it.median)
}

/// The least of one side.
pub fn least(pairs: &[Pair], of: impl Fn(&Pair) -> f64) -> f64 {
    pairs.iter().map(of).fold(f64::INFINITY, f64::min)
}
