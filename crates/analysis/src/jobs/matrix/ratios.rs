//! (user + system) ÷ real: of launches, of tests, and how it is distributed.

use super::launches::{Amounts, LaunchMean, ratio_of, sum};
use crate::statistics::{Summary, nearest_rank, round_numbers};

/// Bins of a histogram; more would be one launch each.
const BINS_MAX: usize = 60;
/// Share of the range that stands for the distance of quartiles that are equal.
const RANGE_SHARE: f64 = 0.1;
/// Of equal ratios, which have no width of their own.
const WIDTH_OF_EQUAL: f64 = 0.1;

/// The ratios of several launches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioStatistics {
    /// Of the ratios.
    pub summary: Summary,
    /// All CPU time ÷ all real time: the ratio of the sums, which long launches rule.
    pub of_sums: f64,
    /// Launches below 1.
    pub waiting: usize,
    /// Launches above 1.
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

    /// What their mean says: processors waited, usually for I/O; were busy; or several threads worked.
    pub(super) fn standing(&self) -> &'static str {
        match self.summary.mean {
            below if below < 1.0 => "waiting",
            above if above > 1.0 => "threaded",
            _ => "busy",
        }
    }
}

/// The launches of one test that completed in a pass that is used.
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

/// The tests of `launches` of `system`, which are in the order of their tests.
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

/// The width that [`super::system::fill_histograms`] takes.
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
    // Powers of ten may be off by their last bits.
    round_numbers(wanted).find(|step| *step >= wanted * (1.0 - 1e-9)).unwrap_or(wanted)
}
