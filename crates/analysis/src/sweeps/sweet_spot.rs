//! The sweet spot of a curve: where it is higher than further down on both sides, by more than noise explains.

use statrs::distribution::{ChiSquared, Continuous, ContinuousCDF, Normal};

use crate::statistics::{DIFFERENCE_LEVEL, Sample, scatter::Scatter};
use crate::sweeps::swept_axis::axis;

/// Two rates that differ by less than this share are equal, whatever their repetitions show.
pub const ALIKE_SHARE: f64 = 0.02;
/// The minimum number of points of a stretch of a curve that was not repeated: one of them may be an outlier.
const STRETCH_UNREPEATED_MIN: usize = 2;
/// The number of estimates of the deviation over which the probability of an error is averaged.
const ESTIMATES: usize = 200;
/// The critical score is searched for below this; a noise estimate that needs more says nothing.
const SCORE_MAX: f64 = 1e3;
/// The number of halvings of that range, which leave less than a ten-thousandth.
const HALVINGS: usize = 24;

/// The point with the highest rate among those of a sweet spot:
///
/// * a stretch of the curve whose mean rate exceeds that of a stretch that begins the curve, and that of one that ends
///   it, or
/// * a single repeated point that exceeds both of its neighbours.
///
/// Stretches have 1, 2, 4, … points. Each rate is a logarithm, since noise grows with the rate. A difference counts if
/// it is at least [`ALIKE_SHARE`], and larger than noise makes any of the tried differences of this direction with a
/// probability of [`DIFFERENCE_LEVEL`]. A curve that only rises or only falls has differences of one direction only, so
/// that one false difference is enough for a false sweet spot; a flat one needs two. The noise is that of the
/// repetitions, or without repetitions that of neighbours (`Scatter::of_neighbours`).
///
/// Source of the scan over stretches: Dümbgen and Spokoiny, "Multiscale testing of qualitative hypotheses", Annals of
/// Statistics 29, 2001; the union bound is averaged over the estimated deviation, as for the Studentised maximum.
#[must_use]
pub fn sweet_spot(samples: &[Sample]) -> Option<f64> {
    if samples.iter().any(|one| one.mean <= 0.0) {
        return None;
    }
    let on_axis = axis(samples);
    let placed: Vec<Sample> = samples.iter().map(|one| Sample { x: on_axis(one.x), ..*one }).collect();
    let repeated = Scatter::of_repetitions(&placed, 2);
    let least = if repeated.is_some() { 1 } else { STRETCH_UNREPEATED_MIN };
    let scatter = repeated.or_else(|| Scatter::of_neighbours(&placed, None))?;
    let curve = Stretches::of(samples, &scatter);
    let lengths: Vec<usize> =
        (0..).map(|power| least << power).take_while(|length| length * 3 <= samples.len().max(3)).collect();
    let inner: Vec<(usize, usize)> = lengths
        .iter()
        .flat_map(|&length| (1..samples.len().saturating_sub(length)).map(move |from| (from, from + length)))
        .collect();
    let starts = |from: usize| lengths.iter().filter(move |&&length| length <= from);
    // As many as on the other side.
    let tried = inner.iter().map(|&(from, _)| starts(from).count()).sum::<usize>();
    let singles = if least == 1 { samples.len().saturating_sub(2) } else { 0 };
    let critical = critical(tried + singles, &scatter)?;
    let exceeds = |one: (usize, usize), other: (usize, usize)| curve.exceeds(one, other, critical);
    let all = samples.len();
    let stands_out = |&(from, to): &(usize, usize)| {
        starts(from).any(|&length| exceeds((from, to), (0, length)))
            && starts(all - to).any(|&length| exceeds((from, to), (all - length, all)))
    };
    let is_peak = |place: usize| {
        exceeds((place, place + 1), (place - 1, place)) && exceeds((place, place + 1), (place + 1, place + 2))
    };
    let broad = inner.into_iter().filter(stands_out);
    // The stretch whose mean is certain to be highest.
    let broad = broad.max_by(|a, b| curve.least(*a, critical).total_cmp(&curve.least(*b, critical)));
    let singles = (1..=singles).filter(|&place| is_peak(place));
    let candidates = broad.into_iter().flat_map(|(from, to)| from..to).chain(singles);
    let highest = candidates.max_by(|&a, &b| samples[a].y.total_cmp(&samples[b].y));
    highest.map(|place| samples[place].x)
}

/// The means of stretches of a curve, each from a place up to, without, another.
struct Stretches {
    /// Sums of the weights before each place. A weight is 1 ÷ variance.
    weights: Vec<f64>,
    /// Likewise of weight × logarithm of the rate.
    values: Vec<f64>,
}

impl Stretches {
    fn of(samples: &[Sample], scatter: &Scatter) -> Self {
        let (mut weights, mut values) = (vec![0.0], vec![0.0]);
        let (mut weight, mut value) = (0.0, 0.0);
        for (one, variance) in samples.iter().zip(scatter.of_means(samples)) {
            let of_one = 1.0 / variance;
            weight += of_one;
            value += of_one * one.mean.ln();
            weights.push(weight);
            values.push(value);
        }
        Self { weights, values }
    }

    /// The mean of a stretch and its variance.
    fn mean(&self, (from, to): (usize, usize)) -> (f64, f64) {
        let weight = self.weights[to] - self.weights[from];
        ((self.values[to] - self.values[from]) / weight, 1.0 / weight)
    }

    /// Whether the mean of `one` is above that of `other` by more than `critical` standard errors.
    fn exceeds(&self, one: (usize, usize), other: (usize, usize), critical: f64) -> bool {
        let ((one, of_one), (other, of_other)) = (self.mean(one), self.mean(other));
        one - other > ALIKE_SHARE.ln_1p().max(critical * (of_one + of_other).sqrt())
    }

    /// The lower end of the mean of a stretch.
    fn least(&self, stretch: (usize, usize), critical: f64) -> f64 {
        let (mean, variance) = self.mean(stretch);
        mean - critical * variance.sqrt()
    }
}

/// The score that the largest of `tried` differences exceeds by chance with a probability of at most
/// [`DIFFERENCE_LEVEL`], where each is divided by a deviation that was estimated with the degrees of freedom of `scatter`.
fn critical(tried: usize, scatter: &Scatter) -> Option<f64> {
    let freedom = scatter.freedom;
    // The errors of one deviation come together, those of one for each point do not.
    let most = if scatter.is_one { 1.0 } else { f64::INFINITY };
    let normal = Normal::standard();
    let of_square = ChiSquared::new(freedom).ok()?;
    // Logarithms of the estimated deviation ÷ the true one. What is beyond these ends has a probability below 10⁻⁴.
    let width = 8.0 / (2.0 * freedom).sqrt();
    let from = -width.max(12.0 / freedom);
    let at = |place: usize| from + (width - from) * place as f64 / (ESTIMATES - 1) as f64;
    let weighed = |place: usize| {
        let deviation = at(place).exp();
        let square = freedom * deviation * deviation;
        (deviation, square * of_square.ln_pdf(square).exp())
    };
    let estimates: Vec<(f64, f64)> = (0..ESTIMATES).map(weighed).collect();
    let all: f64 = estimates.iter().map(|(_, weight)| weight).sum();
    let error = |score: f64| {
        let given = |&(deviation, weight): &(f64, f64)| {
            weight * (tried as f64 * normal.sf(score * deviation)).min(most)
        };
        estimates.iter().map(given).sum::<f64>() / all
    };
    let (mut low, mut high) = (0.0, SCORE_MAX);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if error(middle) > DIFFERENCE_LEVEL { low = middle } else { high = middle }
    }
    (tried > 0 && high < SCORE_MAX).then_some(high)
}

#[cfg(test)]
mod tests {
    use super::{Scatter, critical};

    fn with(freedom: f64) -> Scatter {
        Scatter { variances: Vec::new(), freedom, is_one: true }
    }

    #[test]
    fn one_difference_has_the_quantile_of_student_and_more_need_more() {
        // Student's distribution: 99 % are below 2.764 with 10 degrees of freedom, and below 2.326 with very many.
        let one = critical(1, &with(10.0)).expect("a score");
        assert!((one - 2.764).abs() < 0.02, "{one}");
        let known = critical(1, &with(1e6)).expect("a score");
        assert!((known - 2.326).abs() < 0.01, "{known}");
        // Normal: 0.01 ÷ 100 is exceeded from 3.719 on.
        let hundred = critical(100, &with(1e6)).expect("a score");
        assert!((hundred - 3.719).abs() < 0.02, "{hundred}");
        assert_eq!(critical(0, &with(10.0)), None);
    }
}
