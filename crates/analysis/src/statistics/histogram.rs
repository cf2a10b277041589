//! Values in bins with round edges.

use crate::statistics::Summary;

/// Relative: what is so close below an edge is on it.
const LAST_BITS: f64 = 1e-12;
/// More bins than this are no easier to read.
const BINS_MAX: usize = 12;
/// From this ratio of the largest to the smallest value on, bins of equal width would put nearly all into the first.
const WIDE: f64 = 10.0;

/// How many values lie in each of several bins without gaps, of which the first and the last hold one at least.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    edges: Vec<f64>,
    counts: Vec<usize>,
}

impl Histogram {
    /// The bins: from, up to what is not in them, and how many values.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64, usize)> + Clone {
        self.edges.windows(2).zip(&self.counts).map(|(edge, &count)| (edge[0], edge[1], count))
    }

    /// `0.6 to 0.8: 3; 0.8 to 1: 11`, the edges in the words of `edge`.
    pub(crate) fn in_words(&self, edge: impl Fn(f64) -> String) -> String {
        let words = self.bins().map(|(from, to, count)| format!("{} to {}: {count}", edge(from), edge(to)));
        words.collect::<Vec<_>>().join("; ")
    }

    /// `values` in bins with edges at multiples of `width`; empty where there are none.
    pub(crate) fn even(values: &[f64], width: f64) -> Self {
        let Some(all) = Summary::of(values) else { return Self::default() };
        let first = place(all.min, width);
        Self::with(values, all.max, (0..).map(|bin| (first + f64::from(bin)) * width))
    }

    /// `values` of which none is below 0. Where the largest is less than ten times the smallest the bins have one width,
    /// the smallest of 1, 2 or 5 × 10ᵏ with which twelve are enough; else their edges are at 1, 2 and 5 × 10ᵏ.
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

    /// With `edges` as far as `max` needs them.
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

/// The bin of `value`, counted from 0.
fn place(value: f64, width: f64) -> f64 {
    (value / width * (1.0 + LAST_BITS)).floor()
}

/// 1, 2 and 5 times each power of ten, from the last that is not above `least` on.
pub(crate) fn round_numbers(least: f64) -> impl Iterator<Item = f64> {
    let decade = least.log10().floor() - 1.0;
    let all = (0..).flat_map(move |up| [1.0, 2.0, 5.0].map(|one| one * 10_f64.powf(decade + f64::from(up))));
    let is_below = move |one: &f64| *one <= least * (1.0 + LAST_BITS);
    let first = all.clone().take_while(is_below).last().unwrap_or(least);
    all.skip_while(move |one| *one < first)
}
