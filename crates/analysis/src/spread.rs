//! Which of two systems gives the same rate more reliably, with a test that can say "no
//! difference".

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::{CONFIDENCE, Summary};

/// Fewer values than this on a side say too little of a spread: the distances of four from their
/// own median are hardly free.
pub const SPREAD_VALUES_MIN: usize = 5;

/// Which of two is steadier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steadier {
    /// The first.
    First,
    /// The second.
    Second,
    /// No difference beyond chance.
    NoDifference,
    /// Fewer than [`SPREAD_VALUES_MIN`] values on a side.
    TooFew,
}

/// How the spreads of two samples compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpreadTest {
    /// Coefficient of variation of the first sample.
    pub first: f64,
    /// Of the second.
    pub second: f64,
    /// Probability that two samples of one relative spread differ so much.
    pub p_value: f64,
    /// What can be said.
    pub steadier: Steadier,
}

/// The test of Brown and Forsythe (Journal of the American Statistical Association 69, 1974) on
/// relative distances: `|x ÷ median − 1|` of both samples go through an analysis of variance, F
/// with 1 and N − 2 degrees of freedom. Relative, so that a system of twice the rate may spread by
/// twice the bytes; from the median, so that skewed rates do not pass for wide ones.
///
/// None where a side has fewer than two values, or one that is not finite or not above 0.
#[must_use]
pub fn compare_spread(first: &[f64], second: &[f64]) -> Option<SpreadTest> {
    let of = |values: &[f64]| {
        let all = Summary::of(values).filter(|all| all.n > 1 && all.min > 0.0)?;
        let distances: Vec<f64> = values.iter().map(|value| (value / all.median - 1.0).abs()).collect();
        Some((all.variation, Summary::of(&distances)?))
    };
    let ((first, a), (second, b)) = (of(first)?, of(second)?);
    let (m, n) = (a.n as f64, b.n as f64);
    let squares = |all: &Summary| all.deviation_sample.powi(2) * (all.n - 1) as f64;
    let between = (a.mean - b.mean).powi(2) * m * n / (m + n);
    let within = (squares(&a) + squares(&b)) / (m + n - 2.0);
    let p_value = match between <= f64::EPSILON * a.mean.max(b.mean).powi(2) {
        true => 1.0,
        false => FisherSnedecor::new(1.0, m + n - 2.0).map_or(1.0, |ratio| ratio.sf(between / within)),
    };
    let steadier = if a.n.min(b.n) < SPREAD_VALUES_MIN {
        Steadier::TooFew
    } else if p_value > 1.0 - CONFIDENCE {
        Steadier::NoDifference
    } else if a.mean < b.mean {
        Steadier::First
    } else {
        Steadier::Second
    };
    Some(SpreadTest { first, second, p_value, steadier })
}
