//! (user + system) ÷ real: of launches, of tests, and how it is distributed.

use super::{Amounts, LaunchMean, Matrix};
use crate::Summary;

/// Bins of a histogram; more would be one launch each.
const BINS_MAX: usize = 60;
/// Widths of bins are one of these times a power of ten.
const NICE: [f64; 3] = [1.0, 2.0, 5.0];

/// What a ratio of CPU time to real time says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioStanding {
    /// Below 1: processors waited, usually for I/O.
    Waiting,
    /// Exactly 1.
    Busy,
    /// Above 1: several threads worked.
    Threaded,
}

impl RatioStanding {
    /// Of one ratio.
    #[must_use]
    pub fn of(ratio: f64) -> Self {
        if ratio < 1.0 {
            Self::Waiting
        } else if ratio > 1.0 {
            Self::Threaded
        } else {
            Self::Busy
        }
    }

    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Busy => "busy",
            Self::Threaded => "threaded",
        }
    }
}

/// The ratios of several launches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioStatistics {
    /// Launches.
    pub n: usize,
    /// Mean of their ratios.
    pub mean: f64,
    /// Standard deviation of their ratios, divisor n − 1; 0 for one.
    pub deviation: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// All CPU time ÷ all real time: the ratio of the sums, which long launches rule.
    pub of_sums: f64,
    /// Launches below 1.
    pub waiting: usize,
    /// Launches above 1.
    pub threaded: usize,
}

impl RatioStatistics {
    /// Largest − smallest.
    #[must_use]
    pub const fn range(&self) -> f64 {
        self.max - self.min
    }

    /// Of `ratios`, which are those of `launches`.
    pub(super) fn of(ratios: &[f64], launches: &[LaunchMean]) -> Option<Self> {
        let summary = Summary::of(ratios)?;
        let standing = |wanted| ratios.iter().filter(|&&ratio| RatioStanding::of(ratio) == wanted).count();
        Some(Self {
            n: summary.n,
            mean: summary.mean,
            deviation: summary.deviation_sample,
            min: summary.min,
            max: summary.max,
            of_sums: Amounts::sum(launches.iter().map(|one| &one.amounts)).ratio()?,
            waiting: standing(RatioStanding::Waiting),
            threaded: standing(RatioStanding::Threaded),
        })
    }
}

/// The launches of one test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestRatio {
    /// Its name.
    pub test: String,
    /// What it stresses most.
    pub kind: String,
    /// Launches that completed in a pass that is used.
    pub launches: usize,
    /// Means over these launches.
    pub amounts: Amounts,
    /// Of their ratios; [`RatioStatistics::mean`] is the ratio of the test.
    pub ratios: Option<RatioStatistics>,
}

impl TestRatio {
    /// What its ratio says.
    #[must_use]
    pub fn standing(&self) -> Option<RatioStanding> {
        self.ratios.map(|ratios| RatioStanding::of(ratios.mean))
    }
}

/// The tests of `launches`, which are in the order of their tests.
pub(super) fn tests(launches: &[LaunchMean]) -> Vec<TestRatio> {
    let of_test = |these: &[LaunchMean]| {
        let ratios: Vec<f64> = these.iter().filter_map(|one| one.ratio).collect();
        TestRatio {
            test: these[0].test.clone(),
            kind: these[0].kind.clone(),
            launches: these.len(),
            amounts: Amounts::sum(these.iter().map(|one| &one.amounts)).times(1.0 / these.len() as f64),
            ratios: RatioStatistics::of(&ratios, these),
        }
    };
    launches.chunk_by(|a, b| a.test == b.test).map(of_test).collect()
}

/// Ratios in bins of equal width.
///
/// The width is that of D. Freedman and P. Diaconis, "On the histogram as a density estimator", 1981: twice the
/// distance of the quartiles ÷ ∛n, of all ratios of all systems of the workload together; raised to 1, 2 or 5
/// times a power of ten, so that edges are round numbers and one of them is at 1. Where the quartiles are equal,
/// a tenth of the range stands for the distance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RatioHistogram {
    /// Lower edge of the first bin.
    pub low: f64,
    /// Width of each bin; 0 where there are no ratios.
    pub width: f64,
    /// Launches in each: from its lower edge on, and below its upper one.
    pub counts: Vec<usize>,
}

impl RatioHistogram {
    /// The edges of a bin.
    #[must_use]
    pub fn edges(&self, bin: usize) -> (f64, f64) {
        // Multiples of the width, so that an edge of 1 is exactly 1 for widths such as 0.2.
        let first = (self.low / self.width).round();
        ((first + bin as f64) * self.width, (first + bin as f64 + 1.0) * self.width)
    }

    /// `ratios` in bins that are `width` wide.
    fn of(ratios: &[f64], width: f64) -> Self {
        let Some(summary) = Summary::of(ratios).filter(|_| width > 0.0) else { return Self::default() };
        let first = bin_of(summary.min, width);
        let last = bin_of(summary.max, width);
        let mut counts = vec![0; usize::try_from(last - first).unwrap_or(0) + 1];
        for &ratio in ratios {
            let bin = usize::try_from(bin_of(ratio, width) - first).unwrap_or(0);
            counts[bin] += 1;
        }
        Self { low: first as f64 * width, width, counts }
    }
}

/// The bin of a ratio, counted from 0. What is on an edge but for its last bits is on it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a ratio of times ÷ the width of a bin is a small number"
)]
fn bin_of(ratio: f64, width: f64) -> i64 {
    const LAST_BITS: f64 = 1e-9;
    (ratio / width + LAST_BITS).floor() as i64
}

/// Bins of the same width for all matrices of a workload.
pub(super) fn fill_histograms(all: &mut [Matrix]) {
    let ratios = |matrix: &Matrix| matrix.launches.iter().filter_map(|one| one.ratio).collect::<Vec<f64>>();
    let mut groups: Vec<(String, Vec<f64>)> = Vec::new();
    for matrix in all.iter() {
        match groups.iter_mut().find(|(name, _)| *name == matrix.group) {
            Some((_, known)) => known.extend(ratios(matrix)),
            None => groups.push((matrix.group.clone(), ratios(matrix))),
        }
    }
    let widths: Vec<(String, f64)> = groups.into_iter().map(|(name, all)| (name, bin_width(all))).collect();
    for matrix in all {
        let width = widths.iter().find(|(name, _)| *name == matrix.group).map_or(0.0, |(_, width)| *width);
        matrix.histogram = RatioHistogram::of(&ratios(matrix), width);
    }
}

/// The width of a bin for `ratios`; 0 where there are none.
fn bin_width(mut ratios: Vec<f64>) -> f64 {
    const RANGE_SHARE: f64 = 0.1;
    /// Of equal ratios, which have no width of their own.
    const WIDTH_OF_EQUAL: f64 = 0.1;
    let Some(summary) = Summary::of(&ratios) else { return 0.0 };
    ratios.sort_by(f64::total_cmp);
    let quartile = |percent| ratios[crate::summary::nearest_rank(percent, ratios.len() as u64) - 1];
    let range = summary.max - summary.min;
    let distance = match quartile(75.0) - quartile(25.0) {
        distance if distance > 0.0 => distance,
        _ => range * RANGE_SHARE,
    };
    let wanted = (2.0 * distance / (ratios.len() as f64).cbrt()).max(range / BINS_MAX as f64);
    if wanted > 0.0 { nice(wanted) } else { WIDTH_OF_EQUAL }
}

/// The next of 1, 2 and 5 times a power of ten that is not below `value`.
fn nice(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    // The power of ten may be off by its last bits.
    const SLACK: f64 = 1.0 - 1e-9;
    NICE.into_iter().map(|step| step * power).find(|step| *step >= value * SLACK).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::{RatioHistogram, bin_width, nice};

    #[test]
    fn widths_are_round() {
        for (value, expected) in [(0.1, 0.1), (0.11, 0.2), (0.3, 0.5), (0.51, 1.0), (2.0, 2.0), (7.0, 10.0)] {
            assert!((nice(value) - expected).abs() < 1e-12, "{value}: {}", nice(value));
        }
    }

    #[test]
    fn the_width_is_twice_the_quartiles_distance_by_the_cube_root_of_n() {
        // 0.01, 0.02 … 1.00: quartiles 0.25 and 0.75, 2 × 0.5 ÷ ∛100 = 0.215, raised to 0.5.
        let ratios: Vec<f64> = (1..=100).map(|step| f64::from(step) / 100.0).collect();
        assert!((bin_width(ratios) - 0.5).abs() < 1e-12);
        assert!((bin_width(vec![1.2; 5]) - 0.1).abs() < 1e-12);
        assert!(bin_width(Vec::new()).abs() < 1e-12);
    }

    #[test]
    fn a_ratio_on_an_edge_is_in_the_bin_above_it() {
        let histogram = RatioHistogram::of(&[0.39, 0.4, 0.6, 0.7, 1.0], 0.2);
        assert_eq!(histogram.counts, [1, 1, 2, 0, 1]);
        assert_eq!(histogram.edges(4).0.to_bits(), 1.0_f64.to_bits());
    }
}
