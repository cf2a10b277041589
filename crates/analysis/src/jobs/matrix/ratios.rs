//! (user + system) ÷ real for launches and tests, and its distribution.

use super::launches::{Amounts, LaunchMean, ratio_of, sum};
use crate::statistics::{Summary, nearest_rank, round_numbers};

/// The maximum number of bins of a histogram; with more, each bin would hold a single launch.
const BINS_MAX: usize = 60;
/// The share of the range that replaces the interquartile distance if the quartiles are equal.
const RANGE_SHARE: f64 = 0.1;
/// The bin width if all ratios are equal and have no range.
const WIDTH_OF_EQUAL: f64 = 0.1;

/// The ratios of several launches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioStatistics {
    /// Summary of the ratios.
    pub summary: Summary,
    /// Total CPU time ÷ total real time: the ratio of the sums, which long launches dominate.
    pub of_sums: f64,
    /// The number of launches with a ratio below 1.
    pub waiting: usize,
    /// The number of launches with a ratio above 1.
    pub threaded: usize,
}

impl RatioStatistics {
    pub(super) fn of(launches: &[LaunchMean]) -> Option<Self> {
        let ratios: Vec<f64> = launches.iter().filter_map(|one| one.ratio).collect();
        Some(Self {
            summary: Summary::of(&ratios)?,
            of_sums: ratio_of(sum(launches))?,
            waiting: ratios.iter().filter(|ratio| **ratio < 1.0).count(),
            threaded: ratios.iter().filter(|ratio| **ratio > 1.0).count(),
        })
    }

    /// What the mean indicates: processors were waiting, usually for I/O; were busy; or several
    /// threads were working.
    pub(super) fn standing(&self) -> &'static str {
        match self.summary.mean {
            below if below < 1.0 => "waiting",
            above if above > 1.0 => "threaded",
            _ => "busy",
        }
    }
}

/// The launches of one test that completed in one of the used passes.
#[derive(Debug, Clone, PartialEq)]
pub struct JobTest {
    pub(super) system: String,
    pub(super) test: String,
    pub(super) kind: String,
    pub(super) launches: usize,
    /// Means over these launches.
    pub(super) amounts: Amounts,
    pub(super) ratios: Option<RatioStatistics>,
}

/// The tests of `launches` of `system`, which are sorted by test.
pub(super) fn tests(system: &str, launches: &[LaunchMean]) -> Vec<JobTest> {
    let of_test = |these: &[LaunchMean]| JobTest {
        system: system.to_owned(),
        test: these[0].test.clone(),
        kind: these[0].kind.clone(),
        launches: these.len(),
        amounts: sum(these).map(|sum| sum * (1.0 / these.len() as f64)),
        ratios: RatioStatistics::of(these),
    };
    launches.chunk_by(|a, b| a.test == b.test).map(of_test).collect()
}

/// The bin width for [`super::system::fill_histograms`].
pub(super) fn bin_width(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (ratios.first(), ratios.last()) else { return WIDTH_OF_EQUAL };
    let quartile = |percent| ratios[nearest_rank(percent, ratios.len() as u64) - 1];
    let range = most - least;
    let distance = match quartile(75.0) - quartile(25.0) {
        distance if distance > 0.0 => distance,
        _ => range * RANGE_SHARE,
    };
    let wanted = (2.0 * distance / (ratios.len() as f64).cbrt()).max(range / BINS_MAX as f64);
    if wanted <= 0.0 {
        return WIDTH_OF_EQUAL;
    }
    // Powers of ten may be inexact in their last bits.
    round_numbers(wanted).find(|step| *step >= wanted * (1.0 - 1e-9)).unwrap_or(wanted)
}
