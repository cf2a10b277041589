//! How long launches took.

use record::LaunchRow;

use super::complete;
use crate::Summary;

/// More bins than this are no easier to read.
pub const LENGTH_BINS_MAX: usize = 12;
/// From this ratio of the longest to the shortest on, bins of equal width would put nearly all into the first.
const WIDE: f64 = 10.0;

/// Real times of the launches that are complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Lengths {
    /// Launches.
    pub n: usize,
    /// In seconds.
    pub shortest_seconds: f64,
    /// In seconds.
    pub median_seconds: f64,
    /// In seconds.
    pub mean_seconds: f64,
    /// In seconds.
    pub longest_seconds: f64,
    /// Without gaps, the shortest first; the first and the last hold at least one launch.
    pub bins: Vec<LengthBin>,
}

impl Lengths {
    /// `1 s to 2 s: 3; 2 s to 5 s: 11`.
    pub(super) fn histogram(&self) -> String {
        let words = |bin: &LengthBin| {
            format!("{} to {}: {}", edge(bin.from_seconds), edge(bin.to_seconds), bin.count)
        };
        self.bins.iter().map(words).collect::<Vec<_>>().join("; ")
    }
}

/// An edge of a bin: `0.2 s`, `50 s`, `500 s`.
#[must_use]
pub fn edge(seconds: f64) -> String {
    // Edges are 1, 2 or 5 times a power of ten, but for rounding.
    let text = format!("{seconds:.6}");
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Launches of about the same length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LengthBin {
    /// From this on.
    pub from_seconds: f64,
    /// Up to this, which is not in it.
    pub to_seconds: f64,
    /// How many.
    pub count: usize,
}

/// Real times of those of `rows` that are complete; none where none is.
#[must_use]
pub fn lengths<'a>(rows: impl Iterator<Item = &'a LaunchRow>) -> Option<Lengths> {
    let seconds: Vec<f64> = rows
        .filter(|row| complete(row))
        .map(|row| row.end_ns.saturating_sub(row.start_ns) as f64 / 1e9)
        .collect();
    let all = Summary::of(&seconds)?;
    Some(Lengths {
        n: all.n,
        shortest_seconds: all.min,
        median_seconds: all.median,
        mean_seconds: all.mean,
        longest_seconds: all.max,
        bins: bins(&seconds, all.min, all.max),
    })
}

/// A histogram. Where the longest is less than ten times the shortest its bins have one width, the smallest of
/// 1, 2 or 5 × 10ᵏ s with which [`LENGTH_BINS_MAX`] are enough; else their edges are at 1, 2 and 5 × 10ᵏ s.
fn bins(seconds: &[f64], shortest: f64, longest: f64) -> Vec<LengthBin> {
    if shortest <= 0.0 || longest <= 0.0 {
        return vec![LengthBin {
            from_seconds: shortest,
            to_seconds: longest.max(f64::MIN_POSITIVE),
            count: seconds.len(),
        }];
    }
    let edges =
        if longest / shortest < WIDE { even(shortest, longest) } else { by_decades(shortest, longest) };
    let count = |from: f64, to: f64| seconds.iter().filter(|&&one| one >= from && one < to).count();
    edges
        .windows(2)
        .map(|edge| LengthBin { from_seconds: edge[0], to_seconds: edge[1], count: count(edge[0], edge[1]) })
        .collect()
}

/// 1, 2 and 5 times each power of ten, from that which is not above `least` on.
fn steps(least: f64) -> impl Iterator<Item = f64> {
    let decade = least.log10().floor();
    let all = (0..).flat_map(move |up| [1.0, 2.0, 5.0].map(|one| one * 10_f64.powf(decade + f64::from(up))));
    // Rounding must not leave `least` below the first edge.
    let mut all = all.peekable();
    let mut first = 10_f64.powf(decade).min(least);
    while let Some(&next) = all.peek() {
        if next > least {
            break;
        }
        first = next;
        all.next();
    }
    std::iter::once(first).chain(all)
}

fn even(shortest: f64, longest: f64) -> Vec<f64> {
    let place = |value: f64, width: f64| (value / width).floor();
    // Wide enough for equal lengths, which have no spread.
    let least = ((longest - shortest) / LENGTH_BINS_MAX as f64).max(longest / 100.0);
    let fits = |width: &f64| place(longest, *width) - place(shortest, *width) < LENGTH_BINS_MAX as f64;
    let width = steps(least).find(fits).unwrap_or(longest);
    let mut edges = vec![place(shortest, width) * width];
    let mut index = place(shortest, width);
    while edges.last().is_some_and(|&edge| edge <= longest) {
        index += 1.0;
        edges.push(index * width);
    }
    edges
}

fn by_decades(shortest: f64, longest: f64) -> Vec<f64> {
    let mut edges = Vec::new();
    for edge in steps(shortest) {
        edges.push(edge);
        if edge > longest {
            break;
        }
    }
    edges
}
