//! The figures of several rounds.

/// Their middle and their ends.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub median: f64,
    least: f64,
    most: f64,
}

impl Sample {
    pub fn of(values: impl Iterator<Item = f64>) -> Sample {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (Some(&least), Some(&most)) = (values.first(), values.last()) else {
            panic!("a sample needs a value")
        };
        let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        Sample { median: (low + high) / 2.0, least, most }
    }

    /// `median [least .. most]`.
    pub fn text(&self, decimals: usize) -> String {
        format!("{:.decimals$} [{:.decimals$} .. {:.decimals$}]", self.median, self.least, self.most)
    }
}
