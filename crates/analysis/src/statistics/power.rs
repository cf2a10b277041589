//! What a number of repetitions can tell, before they are made: the power of [`difference`](super::difference()).
//!
//! *Noise* is the standard deviation of ln(rate) between passes. Logarithms are taken to be normal, and a side has n
//! passes as the other has.

use statrs::distribution::{Beta, Binomial, Continuous, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

use crate::statistics::{
    CONFIDENCE, DIFFERENCE_LEAST, DIFFERENCE_LEVEL, Family, OBVIOUS_APART, OBVIOUS_LEAST, Summary,
    difference::{beyond_range, difference},
    inflation, median_bounds, repetitions_to_show, whole,
};

/// The share of runs in which an effect is to be told.
pub const POWER: f64 = 0.9;

/// More repetitions than this are not asked for.
pub const REPETITIONS_MOST: usize = 1000;

/// What the rank test of 6 to 8 values a side reaches of its 0.01, because its probabilities are few.
const RANKS_LEVEL: f64 = 0.007;

/// The efficiency of ranks against a t test for normal values, 3 ÷ π (Hollander, Wolfe and Chicken, section 4.5).
const RANKS_EFFICIENCY: f64 = 3.0 / std::f64::consts::PI;

/// A stated noise of 0 is taken for this.
const LEAST_NOISE: f64 = 1e-9;

/// Up to so many repetitions are tried one by one; `repetitions_to_show` is below that.
const FEW: usize = 40;

/// Places at which a distribution is taken for an integral over it; 64 are within 0.2 % of the power of 1,000.
const PLACES: usize = 64;

/// The same for the degrees of freedom, which hardly differ.
const SHARES: usize = 16;

/// The number of steps of an integral over the lowest of several values.
const STEPS: usize = 400;

/// The distance from a change to the end of its interval and what [`POWER`] takes beyond it, ÷ that distance: about 3.6
/// and 1.3 standard errors.
const DISTANCES: f64 = 1.35;

/// What repetitions are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Whether two sides differ, by [`difference`](super::difference()).
    Differ,
    /// Whether two sides are equal within a tolerance, by its interval.
    Equal,
    /// Whether one side is above or below a number, by [`bounds`](super::bounds()).
    Number,
    /// Whether one side equals a number within a tolerance, by both of these bounds.
    EqualsNumber,
    /// Whether the bound of the median at 0.05 ÷ family keeps a promise, by [`median_bounds`].
    Promise,
}

/// The smallest effect (after ÷ before − 1, of a rise) that n repetitions a side tell in [`POWER`] of all runs, as one
/// of `family` comparisons. For [`Question::Equal`] and [`Question::EqualsNumber`] the smallest tolerance within
/// which equal sides are shown to be equal.
/// `None` if nothing can be told.
///
/// ```
/// use analysis::statistics::{Question, detectable};
/// let smallest = detectable(Question::Differ, 0.01, 5, 1).expect("five can tell");
/// assert!((0.03..0.05).contains(&smallest), "{smallest}");
/// assert_eq!(detectable(Question::Differ, 0.01, 1, 1), None);
/// ```
#[must_use]
pub fn detectable(question: Question, noise: f64, n: usize, family: usize) -> Option<f64> {
    let tells = |logarithm: f64| is_told(question, logarithm, noise, n, family);
    // A factor of 10¹³ is as good as any.
    let (mut low, mut high) = (0.0, 30.0);
    if !tells(high) {
        return None;
    }
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if tells(middle) { high = middle } else { low = middle }
    }
    Some(high.exp_m1())
}

/// The number of repetitions a side from which on an effect (after ÷ before − 1, of either sign) is told in [`POWER`]
/// of all runs. `None` if [`REPETITIONS_MOST`] are too few.
#[must_use]
pub fn repetitions_for(question: Question, effect: f64, noise: f64, family: usize) -> Option<usize> {
    let logarithm = effect.ln_1p().abs();
    least_of(|n| is_told(question, logarithm, noise, n, family))
}

/// A change that was measured but not told, and what would tell it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settled {
    /// After ÷ before − 1, without its sign, of the medians.
    pub change: f64,
    /// Repetitions on each side, more than there are.
    pub repetitions: usize,
}

/// What would tell the change between two samples if it is not told, by the scatter of both. If that says that there are
/// repetitions enough already, it is what the interval of the change would take to exclude 0: its length falls with the
/// root of their number. Change and scatter are taken to be as measured. `None` if no value scatters, or if [`REPETITIONS_MOST`] are too few.
#[must_use]
pub fn settled_by(before: &[f64], after: &[f64], family: impl Into<Family>) -> Option<Settled> {
    let family = family.into();
    let found = difference(before, after, family).filter(|found| !found.is_stated())?;
    let deviation = |side: &[f64]| {
        let logarithms: Vec<f64> = side.iter().map(|value| value.ln()).collect();
        Some(Summary::of(&logarithms).filter(|all| all.n > 1)?.deviation_sample.powi(2))
    };
    let squares: Vec<f64> = [before, after].into_iter().filter_map(deviation).collect();
    let least = before.len().min(after.len());
    // More passes that depend on each other inflate more.
    let inflation = family.inflation.or(inflation([before, after]));
    let dependent = inflation.of_mean(REPETITIONS_MOST);
    let noise = (dependent * squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
    let by_scatter =
        repetitions_for(Question::Differ, found.change, noise, family.size).filter(|_| noise > 0.0)?;
    let by_interval = || {
        let (effect, (low, high)) = (found.change.ln_1p(), found.interval?);
        let reach = (effect - if effect > 0.0 { low } else { high }.ln_1p()).abs();
        let needed = (least as f64 * (DISTANCES * reach / effect).powi(2)).ceil();
        Some(whole(needed).try_into().unwrap_or(usize::MAX).max(least + 1))
    };
    let repetitions = match by_scatter > least {
        true if dependent > 1.0 => by_scatter.max(by_interval().unwrap_or(by_scatter)),
        true => by_scatter,
        false => by_interval()?,
    };
    (repetitions <= REPETITIONS_MOST).then_some(Settled { change: found.change.abs(), repetitions })
}

fn is_told(question: Question, effect: f64, noise: f64, n: usize, family: usize) -> bool {
    match question {
        Question::Differ => power(effect, noise, n, family) >= POWER,
        // Either end of the interval may be the one that is too far.
        Question::Equal => {
            n >= DIFFERENCE_LEAST && power(effect, noise, n, family) >= f64::midpoint(1.0, POWER)
        }
        Question::EqualsNumber => {
            above_number(effect / noise.max(LEAST_NOISE), n, family) >= f64::midpoint(1.0, POWER)
        }
        Question::Number => above_number(effect / noise.max(LEAST_NOISE), n, family) >= POWER,
        Question::Promise => {
            let level = (1.0 - CONFIDENCE) / family.max(1) as f64;
            bound_above(effect / noise.max(LEAST_NOISE), n, level) >= POWER
        }
    }
}

/// The smallest number of repetitions that is `enough`.
fn least_of(enough: impl Fn(usize) -> bool) -> Option<usize> {
    // Of few repetitions, more may tell less: none of them may be among those of the other side.
    if let Some(few) = (OBVIOUS_LEAST..=FEW).find(|&n| enough(n)) {
        return Some(few);
    }
    let (mut low, mut high) = (FEW, REPETITIONS_MOST);
    if !enough(high) {
        return None;
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The probability that a difference of `effect`, in logarithms, is told: the lower one of those of the conditions of
/// the test, which are met together.
fn power(effect: f64, noise: f64, n: usize, family: usize) -> f64 {
    let effect = effect / noise.max(LEAST_NOISE);
    let by_means = of_two_sides(effect, n, DIFFERENCE_LEVEL / family.max(1) as f64);
    let other = match n {
        ..OBVIOUS_LEAST => 0.0,
        _ if n < DIFFERENCE_LEAST => apart(effect - OBVIOUS_APART.ln() / noise.max(LEAST_NOISE), n),
        // Ranks of five against five reach 0.01 only apart.
        _ if n == DIFFERENCE_LEAST || n < repetitions_to_show(family) => apart(effect, n),
        _ => of_two_sides(effect * RANKS_EFFICIENCY.sqrt(), n, RANKS_LEVEL),
    };
    by_means.min(other)
}

/// The power of Welch's test at `level` of n values a side that scatter alike and whose means differ by `effect`
/// standard deviations. The share b that one side has of both variances is independent of their sum and has a beta
/// distribution; Satterthwaite's degrees of freedom are (n − 1) ÷ (b² + (1 − b)²). Variances of few values are pooled.
fn of_two_sides(effect: f64, n: usize, level: f64) -> f64 {
    let (apart, own) = (effect * (n as f64 / 2.0).sqrt(), n as f64 - 1.0);
    let with = |freedom: f64| student(apart, 2.0 * own, quantile(freedom, level / 2.0));
    match Beta::new(own / 2.0, own / 2.0) {
        Ok(share) if n >= DIFFERENCE_LEAST => mean_over(SHARES, |place| {
            let one = share.inverse_cdf(place);
            with(own / (one.powi(2) + (1.0 - one).powi(2)))
        }),
        _ => with(2.0 * own),
    }
}

/// The value that a t statistic exceeds with a probability of `tail`.
fn quantile(freedom: f64, tail: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |central| -central.inverse_cdf(tail))
}

/// The probability that a t statistic with a noncentrality of `apart` exceeds `needed`: the noncentral t distribution,
/// as an integral over the estimated variance.
fn student(apart: f64, freedom: f64, needed: f64) -> f64 {
    // The quantile of χ² ÷ its degrees of freedom: E. Wilson and M. Hilferty, PNAS 17, 1931.
    let squares = |place: f64| {
        let part = 2.0 / (9.0 * freedom);
        (1.0 - part + normal().inverse_cdf(place) * part.sqrt()).max(0.0).powi(3)
    };
    mean_over(PLACES, |place| normal().cdf(apart - needed * squares(place).sqrt()))
}

/// The power of [`bounds`](super::bounds()): its lower bound is the lower one by Student's t and by ranks.
fn above_number(effect: f64, n: usize, family: usize) -> f64 {
    if n < DIFFERENCE_LEAST {
        return 0.0;
    }
    let (values, level) = (n as f64, DIFFERENCE_LEVEL / family.max(1) as f64);
    student(effect * values.sqrt(), values - 1.0, quantile(values - 1.0, level)).min(
        beyond_range(n).map_or_else(
            || bound_above(effect, n, DIFFERENCE_LEVEL),
            |share| widened_above(effect, n, share),
        ),
    )
}

/// The probability that the lowest of n normal values, less this share of their range, is above a number that is
/// `effect` standard deviations below the median.
fn widened_above(effect: f64, n: usize, share: f64) -> f64 {
    let normal = normal();
    // The highest value has to be below what the lowest one allows.
    let density = |lowest: f64| {
        let within = normal.cdf(lowest + (lowest + effect) / share) - normal.cdf(lowest);
        n as f64 * normal.pdf(lowest) * within.powf(n as f64 - 1.0)
    };
    let (from, upto) = (-effect.min(10.0), 10.0);
    let width = (upto - from) / STEPS as f64;
    (0..STEPS).map(|step| density(from + (step as f64 + 0.5) * width)).sum::<f64>() * width
}

/// The probability that the order statistic that bounds the median is above a number that is `effect` standard
/// deviations below the median.
fn bound_above(effect: f64, n: usize, level: f64) -> f64 {
    let places: Vec<f64> = (1..=n).map(|place| place as f64).collect();
    let bounds = median_bounds(&places, level);
    let below = bounds.map(|bounds| whole(bounds.low).saturating_sub(1));
    let below = below.zip(Binomial::new(normal().sf(effect), n as u64).ok());
    below.map_or(0.0, |(most, below)| below.cdf(most))
}

/// The probability that none of n normal values is among n others that are `effect` standard deviations lower.
fn apart(effect: f64, n: usize) -> f64 {
    let n = n as f64;
    // The lowest value of the higher side has the distribution function 1 − (1 − Φ)ⁿ.
    let all_below = |place: f64| normal().cdf(effect - normal().inverse_cdf(place.powf(1.0 / n))).powf(n);
    mean_over(PLACES, all_below)
}

fn mean_over(places: usize, of: impl Fn(f64) -> f64) -> f64 {
    let place = |number: usize| (number as f64 + 0.5) / places as f64;
    (0..places).map(|number| of(place(number))).sum::<f64>() / places as f64
}

fn normal() -> Normal {
    Normal::standard()
}
