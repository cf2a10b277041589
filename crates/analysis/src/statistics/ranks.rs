//! Distribution-free comparison of two samples: whether one tends to be larger, and by how much.

use statrs::distribution::{ContinuousCDF, Normal};

/// With up to this many values on either side, probabilities are computed exactly; with more, the error of the normal
/// approximation is below one part in a hundred.
pub const EXACT_VALUES_MAX: usize = 20;

/// The maximum number of differences that are searched for a shift: 2000 values on either side, 32 MB.
pub const PAIRS_MAX: usize = 4_000_000;

/// The result of the test of Mann and Whitney on two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// Number of pairs in which the value of the second sample is larger; equal ones count half.
    pub u: f64,
    /// Probability that two samples from one distribution are at least this far apart, in either direction.
    pub p_value: f64,
}

/// The test of Mann and Whitney (Annals of Mathematical Statistics 18, 1947), two-sided.
///
/// With at most [`EXACT_VALUES_MAX`] values on either side, all `C(m + n, m)` ways to divide the values into two
/// samples are counted, with equal values at their mean rank. With more, U is compared with a normal distribution of
/// mean `mn/2` and variance `mn/12 · ((N + 1) − Σ(t³ − t) ÷ (N(N − 1)))`, where t is the size of each group of equal
/// values, with a continuity correction of ½ (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd
/// edition, 2014, section 4.1). Returns `None` if a side is empty or a value is not finite.
#[must_use]
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<RankTest> {
    if first.is_empty() || second.is_empty() || first.iter().chain(second).any(|value| !value.is_finite()) {
        return None;
    }
    let (m, n) = (first.len(), second.len());
    let (mut ranks, ties) = doubled_ranks(&[first, second].concat());
    let sum: usize = ranks[m..].iter().sum();
    ranks.sort_unstable();
    // The sum of the second sample is 2U + n(n + 1).
    let u = (sum - n * (n + 1)) as f64 / 2.0;
    let p_value = if m.max(n) <= EXACT_VALUES_MAX {
        exact(&ranks, sum, n)
    } else {
        normal(u, (m * n) as f64, ties, m + n)
    };
    Some(RankTest { u, p_value })
}

/// Twice the rank of each value, so that the mean rank of equal values is an integer; and Σ(t³ − t) over the groups of
/// equal values.
pub(crate) fn doubled_ranks(values: &[f64]) -> (Vec<usize>, f64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let (mut ranks, mut below, mut ties) = (vec![0; values.len()], 0, 0.0);
    // Positive and negative zero are equal, but the sort order above distinguishes them.
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        equal.iter().for_each(|place| ranks[*place] = 2 * below + 1 + equal.len());
        below += equal.len();
        ties += (equal.len() as f64).powi(3) - equal.len() as f64;
    }
    (ranks, ties)
}

/// The share of all ways to choose `n` of the ranks whose sum is at least as far from the middle as this one. The
/// counts stay below C(40, 20), which is exact in an f64.
fn exact(ranks: &[usize], sum: usize, n: usize) -> f64 {
    let ways = ways(ranks, n);
    let middle = n * (ranks.len() + 1);
    let away = sum.abs_diff(middle);
    let far = ways.iter().enumerate().filter(|(sum, _)| sum.abs_diff(middle) >= away);
    far.map(|(_, ways)| ways).sum::<f64>() / ways.iter().sum::<f64>()
}

fn normal(u: f64, pairs: f64, ties: f64, values: usize) -> f64 {
    let all = values as f64;
    let variance = pairs / 12.0 * ((all + 1.0) - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let away = ((u - pairs / 2.0).abs() - 0.5).max(0.0);
    (2.0 * Normal::standard().sf(away / variance.sqrt())).min(1.0)
}

/// The number of ways in which `n` of `ranks`, in ascending order, have each sum, starting at 0.
fn ways(ranks: &[usize], n: usize) -> Vec<f64> {
    let most: usize = ranks.iter().rev().take(n).sum();
    let mut ways = vec![vec![0.0_f64; most + 1]; n + 1];
    ways[0][0] = 1.0;
    for (seen, &rank) in ranks.iter().enumerate() {
        for chosen in (1..=n.min(seen + 1)).rev() {
            for sum in (rank..=most).rev() {
                ways[chosen][sum] += ways[chosen - 1][sum - rank];
            }
        }
    }
    ways.swap_remove(n)
}

/// The interval by which the second of two samples is larger than the first (Hodges and Lehmann, Annals of
/// Mathematical Statistics 34, 1963), with at least this confidence. It belongs to the test of Mann and Whitney: from
/// the C-th smallest to the C-th largest of the mn differences, where `P(U ≤ C − 1)` is at most half of 1 −
/// `confidence` (Moses; in Hollander, Wolfe and Chicken, section 4.3). Returns `None` if even the interval of all
/// differences has a lower confidence, if a value is not finite, or if there are more than [`PAIRS_MAX`] pairs.
#[must_use]
pub fn shift(first: &[f64], second: &[f64], confidence: f64) -> Option<(f64, f64)> {
    if first.len().checked_mul(second.len()).is_none_or(|pairs| pairs > PAIRS_MAX) {
        return None;
    }
    let mut differences: Vec<f64> = first.iter().flat_map(|a| second.iter().map(move |b| b - a)).collect();
    if differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    differences.sort_by(f64::total_cmp);
    let place = critical(first.len(), second.len(), (1.0 - confidence) / 2.0)?;
    Some((*differences.get(place - 1)?, differences[differences.len() - place]))
}

/// The largest C of [`shift`], which is at least 1. Returns `None` if there is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at least 1 and at most the number of pairs"
)]
fn critical(m: usize, n: usize, tail: f64) -> Option<usize> {
    if m.max(n) <= EXACT_VALUES_MAX {
        // The ways for ranks without equal values; the smallest sum belongs to U = 0.
        let ways = ways(&(1..=m + n).collect::<Vec<_>>(), n);
        let all: f64 = ways.iter().sum();
        let mut below = 0.0;
        let within = |ways: &&f64| {
            below += **ways;
            below / all <= tail
        };
        let place = ways[n * (n + 1) / 2..].iter().take_while(within).count();
        return (place > 0).then_some(place);
    }
    let pairs = (m * n) as f64;
    let z = Normal::standard().inverse_cdf(1.0 - tail);
    let place = (pairs / 2.0 - z * (pairs * (m + n + 1) as f64 / 12.0).sqrt()).floor();
    (place >= 1.0).then_some(place as usize)
}
