//! Rules that decide whether two series of repetitions differ: our test, and common manual methods.

use std::cmp::Ordering;

use statrs::distribution::{Beta, ContinuousCDF};

use crate::statistics::{CONFIDENCE, Contrast, DIFFERENCE_LEAST, Summary, difference};

/// A rule that judges the second of two series to be higher or lower than the first, or neither.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// The test of differences, [`fn@difference`].
    Test,
    /// Compares the largest of the first five repetitions of each side; they differ if by more than this share.
    BestOfFive(f64),
    /// Compares the mean of the first three repetitions of each side; they differ if by more than this share.
    MeanOfThree(f64),
}

impl Rule {
    /// All rules that are compared. The shares are those that users assume for the scatter of their storage.
    pub const ALL: [Self; 7] = [
        Self::Test,
        Self::BestOfFive(0.01),
        Self::BestOfFive(0.02),
        Self::BestOfFive(0.05),
        Self::MeanOfThree(0.01),
        Self::MeanOfThree(0.02),
        Self::MeanOfThree(0.05),
    ];
    /// The number of repetitions per side with which each of [`Rule::ALL`] can be applied.
    pub const LEAST: usize = DIFFERENCE_LEAST;

    /// The name, as in `best of five, more than 2 %`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Test => "test of differences".to_owned(),
            Self::BestOfFive(share) => format!("best of five, more than {} %", share * 100.0),
            Self::MeanOfThree(share) => format!("mean of three, more than {} %", share * 100.0),
        }
    }

    /// The verdict on `after` compared with `before`, which are repetitions of a positive quantity in the order of
    /// measurement. Returns `None` if the rule finds no difference or has too few repetitions.
    #[must_use]
    pub fn says(self, before: &[f64], after: &[f64]) -> Option<Ordering> {
        let by = |share: f64, count: usize, of: fn(&Summary) -> f64| {
            let [one, other] = [before, after].map(|all| Some(of(&Summary::of(all.get(..count)?)?)));
            let change = other? / one? - 1.0;
            (change.abs() > share).then(|| change.total_cmp(&0.0))
        };
        match self {
            Self::Test => match difference(before, after, 1)?.outcome {
                Contrast::Higher => Some(Ordering::Greater),
                Contrast::Lower => Some(Ordering::Less),
                Contrast::NotShown | Contrast::TooFew => None,
            },
            Self::BestOfFive(share) => by(share, 5, |all| all.best),
            Self::MeanOfThree(share) => by(share, 3, |all| all.mean),
        }
    }
}

/// The interval for the probability of an event that occurred `count` times in `of` independent trials, with a
/// confidence of at least [`CONFIDENCE`].
///
/// Source: Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
/// Biometrika 26, 1934.
///
/// ```
/// let (low, high) = analysis::statistics::exact_share(0, 100);
/// assert!(low == 0.0 && (high - 0.0362).abs() < 1e-4);
/// ```
#[must_use]
pub fn exact_share(count: usize, of: usize) -> (f64, f64) {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let end = |successes: usize, failures: usize, share: f64| {
        let beta = Beta::new(successes as f64, failures as f64).ok();
        beta.map(|beta| beta.inverse_cdf(share))
    };
    let failures = of.saturating_sub(count);
    let low = end(count, failures + 1, tail).unwrap_or(0.0);
    let high = end(count + 1, failures, 1.0 - tail).unwrap_or(1.0);
    (low, high)
}
