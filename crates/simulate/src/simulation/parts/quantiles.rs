//! A distribution given by quantiles, even between neighbouring ones.

/// The share of the first quantile of the tail; each further one is beyond nine tenths of the rest.
const TAIL_FIRST: f64 = 0.999;

/// Quantiles at equal steps, and closer ones before the largest value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantiles {
    /// Number of steps from the least value to the largest.
    steps: f64,
    /// Shares and values in ascending order.
    points: Box<[(f64, f64)]>,
}

impl Quantiles {
    /// Of at least two values at equal `steps`, and those at the shares of [`tail_shares`], which are between the last
    /// two steps.
    pub(crate) fn new(steps: &[f64], tail: &[f64]) -> Self {
        let count = (steps.len() - 1) as f64;
        let mut points: Vec<(f64, f64)> =
            steps.iter().enumerate().map(|(index, &value)| (index as f64 / count, value)).collect();
        let last = points.len() - 1;
        points.splice(last..last, tail_shares().zip(tail.iter().copied()));
        Self { steps: count, points: points.into() }
    }

    pub(crate) fn mean(&self) -> f64 {
        self.pieces().map(|(share, low, high)| share * low.midpoint(high)).sum()
    }

    /// The mean of the squares: (a² + ab + b²) ÷ 3 between two quantiles a and b.
    pub(crate) fn mean_square(&self) -> f64 {
        self.pieces().map(|(share, a, b)| share * (a * a + a * b + b * b) / 3.0).sum()
    }

    /// The shares between neighbouring quantiles, with both.
    fn pieces(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        self.points.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[0].1, pair[1].1))
    }

    /// The same distribution with every value multiplied by `factor`.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.points.iter_mut().for_each(|(_, value)| *value *= factor);
        self
    }

    /// The value below which `share` of all are.
    #[inline]
    pub(crate) fn at(&self, share: f64) -> f64 {
        let mut upper = (index(share * self.steps) + 1).min(self.points.len() - 1);
        while upper < self.points.len() - 1 && self.points[upper].0 < share {
            upper += 1;
        }
        let ((from, low), (until, high)) = (self.points[upper - 1], self.points[upper]);
        low + (high - low) * (share - from) / (until - from)
    }

    /// The values at equal steps.
    pub(crate) fn steps(&self) -> impl Iterator<Item = f64> + '_ {
        let last = index(self.steps);
        self.points[..last].iter().chain(self.points.last()).map(|(_, value)| *value)
    }

    /// The values of the tail.
    pub(crate) fn tail(&self) -> impl Iterator<Item = f64> + '_ {
        self.points[index(self.steps)..self.points.len() - 1].iter().map(|(_, value)| *value)
    }
}

/// The shares of the quantiles of a tail: 99.9 %, 99.99 % and so on.
pub(crate) fn tail_shares() -> impl Iterator<Item = f64> {
    (0..).map(|place| 1.0 - (1.0 - TAIL_FIRST) * 0.1_f64.powi(place))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list, not negative"
)]
fn index(place: f64) -> usize {
    place as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_even_between_steps_and_in_the_tail() {
        let quantiles = Quantiles::new(&[0.0, 1.0, 101.0], &[51.0, 91.0]);
        for (share, expected) in
            [(0.0, 0.0), (0.25, 0.5), (0.5, 1.0), (0.999, 51.0), (0.9999, 91.0), (1.0, 101.0)]
        {
            assert!((quantiles.at(share) - expected).abs() < 1e-6, "{share}: {}", quantiles.at(share));
        }
        assert!((quantiles.at(0.7495) - 26.0).abs() < 1e-6);
        assert_eq!(quantiles.steps().collect::<Vec<_>>(), [0.0, 1.0, 101.0]);
        assert_eq!(quantiles.tail().collect::<Vec<_>>(), [51.0, 91.0]);
    }

    #[test]
    fn moments_are_those_of_the_values_at_all_shares() {
        let quantiles = Quantiles::new(&[1.0, 2.0, 4.0, 50.0], &[20.0, 40.0]);
        let count = 3_000_000;
        let values = (0..count).map(|place| quantiles.at((f64::from(place) + 0.5) / f64::from(count)));
        let (sum, squares) =
            values.fold((0.0, 0.0), |(sum, squares), value| (sum + value, squares + value * value));
        assert!((quantiles.mean() / (sum / f64::from(count)) - 1.0).abs() < 1e-6);
        assert!((quantiles.mean_square() / (squares / f64::from(count)) - 1.0).abs() < 1e-6);
    }
}
