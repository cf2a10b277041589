//! How long launches took.

use record::LaunchRow;

use super::complete;
use crate::{Histogram, Summary};

/// An edge of a bin of [`lengths`]: `0.2 s`, `50 s`, `500 s`.
#[must_use]
pub fn edge(seconds: f64) -> String {
    // Edges are 1, 2 or 5 times a power of ten, but for rounding.
    let text = format!("{seconds:.6}");
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Real times in seconds of those of `rows` that are complete, and how many lie where; none where none is.
#[must_use]
pub fn lengths(rows: &[&LaunchRow]) -> Option<(Summary, Histogram)> {
    let seconds: Vec<f64> = rows
        .iter()
        .filter(|row| complete(row))
        .map(|row| row.end_ns.saturating_sub(row.start_ns) as f64 / 1e9)
        .collect();
    Some((Summary::of(&seconds)?, Histogram::round(&seconds)))
}
