//! Whether two samples of repetitions differ: the one test of differences, and that of which is steadier.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use crate::statistics::{CONFIDENCE, Summary, mann_whitney, median_bounds, shift};

/// Fewest repetitions on each side: five against five that do not overlap have an exact probability of 0.008,
/// four against four one of 0.029.
pub const DIFFERENCE_LEAST: usize = 5;

/// A difference is stated where equal samples would show it with at most this probability.
pub const DIFFERENCE_LEVEL: f64 = 0.01;

/// Relative: what is closer is equal, and a sample is taken to scatter by at least as much. Far above rounding, and far
/// below what a clock resolves of a phase.
const RESOLUTION: f64 = 1e-9;

/// Samples of one size whose variances differ by a ratio that is less probable than this are not taken to scatter
/// alike.
const ALIKE_LEVEL: f64 = 0.05;

/// What can be said of two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contrast {
    /// The second is higher.
    Higher,
    /// The second is lower.
    Lower,
    /// No difference was shown. That is not to say that there is none: see [`Difference::interval`].
    NotShown,
    /// A side has fewer than [`DIFFERENCE_LEAST`] values.
    TooFew,
}

/// How two samples of a positive quantity compare.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Difference {
    /// Median of the first.
    pub before: f64,
    /// Median of the second.
    pub after: f64,
    /// After ÷ before − 1.
    pub change: f64,
    /// Where the change lies with a confidence of 1 − [`DIFFERENCE_LEVEL`] ÷ family at least; none where there are
    /// too few values. It holds 0 wherever no difference is shown.
    pub interval: Option<(f64, f64)>,
    /// The larger of both tests' probabilities, corrected for the family: at most [`DIFFERENCE_LEVEL`] where a
    /// difference is stated. None where there are too few values.
    pub p_value: Option<f64>,
    pub n: (usize, usize),
    pub outcome: Contrast,
}

impl Difference {
    /// Whether one side was shown to be higher.
    #[must_use]
    pub const fn is_stated(&self) -> bool {
        matches!(self.outcome, Contrast::Higher | Contrast::Lower)
    }
}

/// Compares independent repetitions of a positive quantity; `family` is the number of comparisons that are made
/// together.
///
/// A difference is stated where two tests show it. The rank test of Mann and Whitney has to reach
/// [`DIFFERENCE_LEVEL`]: it needs no distribution, and no outlier can make it see what is not there. The t test
/// of the logarithms, Welch's unless both sides scatter alike, has to reach [`DIFFERENCE_LEVEL`] ÷ `family` (Bonferroni), a level that ranks of five or six
/// repetitions cannot reach. Sources stand in `docs/STATISTICS.md`.
///
/// None where a side has no value, or one that is not finite or not above 0.
///
/// ```
/// use analysis::statistics::{Contrast, difference};
/// let before = [100.0, 101.0, 99.0, 100.5, 99.5];
/// let found = difference(&before, &before.map(|rate| rate * 1.1), 1).expect("positive values");
/// assert_eq!(found.outcome, Contrast::Higher);
/// ```
#[must_use]
pub fn difference(before: &[f64], after: &[f64], family: usize) -> Option<Difference> {
    let (first, second) = (Summary::of(before)?, Summary::of(after)?);
    let change = second.median / first.median - 1.0;
    let untested = Difference {
        before: first.median,
        after: second.median,
        change,
        interval: None,
        p_value: None,
        n: (first.n, second.n),
        outcome: Contrast::TooFew,
    };
    if first.min <= 0.0 || second.min <= 0.0 {
        return None;
    }
    if first.n.min(second.n) < DIFFERENCE_LEAST {
        return Some(untested);
    }
    let (before, after) = (logarithms(before), logarithms(after));
    let (ranks, family) = (mann_whitney(&before, &after)?, family.max(1) as f64);
    let (moved, error, student) = means(&Summary::of(&before)?, &Summary::of(&after)?)?;
    let by_means = if moved.abs() < RESOLUTION { 1.0 } else { 2.0 * student.sf((moved / error).abs()) };
    let p_value = ranks.p_value.max((by_means * family).min(1.0));
    let pairs = (first.n * second.n) as f64;
    let sides = [moved, 2.0 * ranks.u - pairs, change];
    // Medians, means and ranks have to say the same.
    let outcome = match () {
        () if p_value > DIFFERENCE_LEVEL => Contrast::NotShown,
        () if sides.iter().all(|&side| side > 0.0) => Contrast::Higher,
        () if sides.iter().all(|&side| side < 0.0) => Contrast::Lower,
        () => Contrast::NotShown,
    };
    // What either test allows, so that the interval never excludes what the outcome leaves open. The lower tail: 1 −
    // level ÷ 2 would round to 1 in a large family.
    let interval = shift(&before, &after, 1.0 - DIFFERENCE_LEVEL).map(|(low, high)| {
        let reach = -student.inverse_cdf(DIFFERENCE_LEVEL / family / 2.0) * error;
        let (low, high) = (low.min(moved - reach), high.max(moved + reach));
        let open = outcome == Contrast::NotShown;
        let (low, high) = if open { (low.min(0.0), high.max(0.0)) } else { (low, high) };
        (low.exp_m1(), high.exp_m1())
    });
    Some(Difference { interval, p_value: Some(p_value), outcome, ..untested })
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

/// Between which values one positive quantity lies by its repetitions, where it is compared with a number: below
/// and above with a probability of at most [`DIFFERENCE_LEVEL`] ÷ `family` each by Student's t of the logarithms,
/// and of at most 0.05 by ranks, as a commitment. None of fewer than [`DIFFERENCE_LEAST`] repetitions, or where one
/// is not above 0.
#[must_use]
pub fn bounds(values: &[f64], family: usize) -> Option<(f64, f64)> {
    if values.len() < DIFFERENCE_LEAST || values.iter().any(|&value| value <= 0.0) {
        return None;
    }
    let ranks = median_bounds(values, 1.0 - CONFIDENCE)?;
    let Summary { mean, deviation_sample, .. } = Summary::of(&logarithms(values))?;
    let n = values.len() as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let error = deviation_sample.max(RESOLUTION) / n.sqrt();
    let reach = -student.inverse_cdf(DIFFERENCE_LEVEL / family.max(1) as f64) * error;
    Some((ranks.low.min((mean - reach).exp()), ranks.high.max((mean + reach).exp())))
}

/// Student's test of the means of two samples of two values at least: the mean of the second − that of the first, the
/// standard error of that, and its distribution.
fn means(one: &Summary, other: &Summary) -> Option<(f64, f64, StudentsT)> {
    let part = |all: &Summary| (all.deviation_sample.max(RESOLUTION).powi(2) / all.n as f64, all.n as f64);
    let ((a, m), (b, n)) = (part(one), part(other));
    // The variances of samples of one size may be pooled: the error is the same, and the few degrees of freedom
    // need not be estimated as well. Else they are Satterthwaite's.
    let alike =
        m == n && FisherSnedecor::new(m - 1.0, n - 1.0).ok()?.sf(a.max(b) / a.min(b)) > ALIKE_LEVEL / 2.0;
    let freedom = if alike { m + n - 2.0 } else { (a + b).powi(2) / (a * a / (m - 1.0) + b * b / (n - 1.0)) };
    Some((other.mean - one.mean, (a + b).sqrt(), StudentsT::new(0.0, 1.0, freedom).ok()?))
}

/// Fewer values on a side say too little: the distances of four from their own median are hardly free.
pub const SPREAD_VALUES_MIN: usize = 5;

/// Which of two is steadier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub enum Steadier {
    First,
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
    } else if p_value > DIFFERENCE_LEVEL {
        Steadier::NoDifference
    } else if a.mean < b.mean {
        Steadier::First
    } else {
        Steadier::Second
    };
    Some(SpreadTest { first, second, p_value, steadier })
}
