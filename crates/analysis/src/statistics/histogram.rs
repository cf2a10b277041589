//! Histograms with round bin edges.

use crate::statistics::Summary;

/// Relative tolerance: a value this close below an edge counts as on the edge.
const LAST_BITS: f64 = 1e-12;
/// The maximum number of bins; more are not easier to read.
const BINS_MAX: usize = 12;
/// From this ratio of the largest to the smallest value on, bins of equal width would put almost all values into the
/// first.
const WIDE: f64 = 10.0;

/// The number of values in each of several bins without gaps. The first and the last bin contain at least one value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    edges: Vec<f64>,
    counts: Vec<usize>,
}

impl Histogram {
    /// The bins: lower edge, exclusive upper edge, and number of values.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64, usize)> + Clone {
        self.edges.windows(2).zip(&self.counts).map(|(edge, &count)| (edge[0], edge[1], count))
    }

    /// Describes the bins, as in `0.6 to 0.8: 3; 0.8 to 1: 11`, with the edges formatted by `edge`.
    pub(crate) fn in_words(&self, edge: impl Fn(f64) -> String) -> String {
        let words = self.bins().map(|(from, to, count)| format!("{} to {}: {count}", edge(from), edge(to)));
        words.collect::<Vec<_>>().join("; ")
    }

    /// A histogram of `values` with edges at multiples of `width`; empty if there are no values.
    pub(crate) fn even(values: &[f64], width: f64) -> Self {
        let Some(all) = Summary::of(values) else { return Self::default() };
        let first = place(all.min, width);
        Self::with(values, all.max, (0..).map(|bin| (first + f64::from(bin)) * width))
    }

    /// A histogram of `values`, none of which is below 0. If the largest is less than ten times the smallest, all
    /// bins have the same width: the smallest of 1, 2 or 5 × 10ᵏ for which twelve bins are enough. Otherwise the
    /// edges are at 1, 2 and 5 × 10ᵏ.
    pub(crate) fn round(values: &[f64]) -> Self {
        let Some(all) = Summary::of(values) else { return Self::default() };
        if all.min <= 0.0 {
            return Self::with(values, all.max, [0.0, all.max.max(f64::MIN_POSITIVE)].into_iter());
        }
        if all.max / all.min >= WIDE {
            return Self::with(values, all.max, round_numbers(all.min));
        }
        // Wide enough for equal values, which have no spread.
        let least = ((all.max - all.min) / BINS_MAX as f64).max(all.max / 100.0);
        let fits = |width: &f64| place(all.max, *width) - place(all.min, *width) < BINS_MAX as f64;
        Self::even(values, round_numbers(least).find(fits).unwrap_or(all.max))
    }

    /// Uses as many of `edges` as `max` needs.
    fn with(values: &[f64], max: f64, mut edges: impl Iterator<Item = f64>) -> Self {
        let mut known: Vec<f64> = edges.by_ref().take(1).collect();
        for edge in edges {
            known.push(edge);
            if edge > max * (1.0 + LAST_BITS) {
                break;
            }
        }
        let mut counts = vec![0; known.len() - 1];
        for value in values {
            let bin = known.partition_point(|edge| *edge <= value * (1.0 + LAST_BITS));
            counts[bin.clamp(1, known.len() - 1) - 1] += 1;
        }
        Self { edges: known, counts }
    }
}

/// The index of the bin of `value`.
fn place(value: f64, width: f64) -> f64 {
    (value / width * (1.0 + LAST_BITS)).floor()
}

/// 1, 2 and 5 times each power of ten, starting with the last one that is not above `least`.
pub(crate) fn round_numbers(least: f64) -> impl Iterator<Item = f64> {
    let decade = least.log10().floor() - 1.0;
    let all = (0..).flat_map(move |up| [1.0, 2.0, 5.0].map(|one| one * 10_f64.powf(decade + f64::from(up))));
    let is_below = move |one: &f64| *one <= least * (1.0 + LAST_BITS);
    let first = all.clone().take_while(is_below).last().unwrap_or(least);
    all.skip_while(move |one| *one < first)
}
