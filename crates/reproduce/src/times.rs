//! When the entries of logs were written, as far as their clocks say.

use hypocenter_logs::Tied;

/// The unit of a clock that does not tell what came when within it.
const COARSE_MS: i64 = 1_000;

/// When each entry of each log was written.
pub(crate) struct Times {
    pub of: Vec<Vec<Option<i64>>>,
    /// Whether the clock has whole seconds alone.
    pub is_coarse: bool,
}

impl Times {
    /// Of some logs, whose entries have places in the order of time. Where the clock is coarse, entries of one second are spread
    /// evenly over it: their order is all that is known.
    pub fn of<'t>(logs: impl Iterator<Item = &'t Tied>, orders: &[Vec<u32>]) -> Times {
        let of = logs.map(|it| it.entries().iter().map(|it| it.time_ms).collect()).collect();
        Times::spread(of, orders)
    }

    fn spread(mut of: Vec<Vec<Option<i64>>>, orders: &[Vec<u32>]) -> Times {
        let places = |(node, times): (usize, &Vec<Option<i64>>)| {
            let place = move |(entry, time): (usize, &Option<i64>)| {
                Some(((*time)?, orders[node][entry], node, entry))
            };
            times.iter().enumerate().filter_map(place).collect::<Vec<_>>()
        };
        let mut all: Vec<(i64, u32, usize, usize)> = of.iter().enumerate().flat_map(places).collect();
        all.sort_unstable();
        let seconds = all.chunk_by(|a, b| a.0 == b.0);
        let is_coarse = all.iter().all(|it| it.0 % COARSE_MS == 0) && seconds.clone().any(|it| it.len() > 1);
        if is_coarse {
            for second in seconds {
                for (number, &(time_ms, _, node, entry)) in (0..).zip(second) {
                    of[node][entry] = Some(time_ms.saturating_add(number * COARSE_MS / second.len() as i64));
                }
            }
        }
        Times { of, is_coarse }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_one_second_stand_in_their_order_where_the_clock_knows_no_more() {
        let check = |of: &[&[i64]], orders: &[&[u32]], expected: &[&[i64]], is_coarse: bool| {
            let of = of.iter().map(|it| it.iter().copied().map(Some).collect()).collect();
            let orders: Vec<Vec<u32>> = orders.iter().map(|it| it.to_vec()).collect();
            let times = Times::spread(of, &orders);
            let found: Vec<Vec<i64>> =
                times.of.iter().map(|it| it.iter().flatten().copied().collect()).collect();
            assert_eq!(
                (found, times.is_coarse),
                (expected.iter().map(|it| it.to_vec()).collect(), is_coarse)
            );
        };
        check(&[&[1_000, 1_000, 2_000]], &[&[0, 1, 2]], &[&[1_000, 1_500, 2_000]], true);
        // Of two nodes in the order of both.
        check(
            &[&[1_000, 1_000], &[1_000, 1_000]],
            &[&[0, 3], &[1, 2]],
            &[&[1_000, 1_750], &[1_250, 1_500]],
            true,
        );
        // One time that is finer says that the clock is.
        check(&[&[1_000, 1_000, 2_001]], &[&[0, 1, 2]], &[&[1_000, 1_000, 2_001]], false);
        check(&[&[1_000, 2_000]], &[&[0, 1]], &[&[1_000, 2_000]], false);
        check(&[&[]], &[&[]], &[&[]], false);
    }
}
