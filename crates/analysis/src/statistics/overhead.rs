//! The overhead of the instrumentation.

use crate::statistics::{Interval, Summary};

/// The relative overhead of something that is always on, from paired runs with and without it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Overhead {
    pub pairs: usize,
    /// Median over the pairs of `1 − rate with ÷ rate without`: 0.01 is one percent. Negative if the noise is larger
    /// than the overhead.
    pub median: f64,
    pub interval: Option<Interval>,
}

/// The overhead by which the rates `on` (with) are below the rates `off` (without), pair by pair, so that drift over
/// time cancels out. Returns `None` unless both have the same number of values, all above 0.
///
/// ```
/// let overhead = analysis::statistics::overhead(&[99.0, 198.0, 297.0], &[100.0, 200.0, 300.0]).expect("pairs");
/// assert!((overhead.median - 0.01).abs() < 1e-12);
/// ```
#[must_use]
pub fn overhead(on: &[f64], off: &[f64]) -> Option<Overhead> {
    if on.len() != off.len() || off.iter().chain(on).any(|&rate| rate <= 0.0) {
        return None;
    }
    let costs: Vec<f64> = on.iter().zip(off).map(|(on, off)| 1.0 - on / off).collect();
    let summary = Summary::of(&costs)?;
    Some(Overhead { pairs: summary.n, median: summary.median, interval: summary.median_interval })
}
