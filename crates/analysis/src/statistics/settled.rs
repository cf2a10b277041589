//! Stopping rules: whether enough was measured to end a case, judged by its own values.

use std::ops::Range;

use plan::Stopping;

use crate::statistics::{Regression, Summary, median_sequence};

/// How steady the last values are, by the rule of [`Stopping::Steady`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// (maximum − minimum) ÷ mean, within the window.
    pub range_share: f64,
    /// Absolute change of the least-squares line from the first to the last value of the window ÷ mean.
    pub slope_share: f64,
    /// Whether both are within the limits.
    pub reached: bool,
}

/// Whether the recorded `values` of one result phase, in the order of measurement, meet `stopping`. A case ends when
/// that is true for each of its result phases: see [`all_settled`].
///
/// - [`Stopping::Count`] is never met, whatever the values are.
/// - [`Stopping::Interval`]: the width of the interval of [`median_sequence`] is at most that share of the median. It
///   is checked after each repetition, so the interval has to be valid for that.
/// - [`Stopping::Steady`]: the last values are steady according to [`steady`].
#[must_use]
pub fn settled(values: &[f64], stopping: Stopping) -> bool {
    match stopping {
        Stopping::Count => false,
        Stopping::Interval { share, least } => {
            values.len() >= least as usize && interval_share(values).is_some_and(|width| width <= share)
        }
        Stopping::Steady { .. } => steady(values, stopping).is_some_and(|state| state.reached),
    }
}

/// Whether [`settled`] is true for the values of each of `phases`; false if there are none.
#[must_use]
pub fn all_settled<'a>(phases: impl IntoIterator<Item = &'a [f64]>, stopping: Stopping) -> bool {
    let mut phases = phases.into_iter().peekable();
    phases.peek().is_some() && phases.all(|values| settled(values, stopping))
}

/// Width of [`median_sequence`] ÷ median. Returns `None` if there is no interval, or the median is not above 0.
#[must_use]
pub fn interval_share(values: &[f64]) -> Option<f64> {
    let interval = median_sequence(values)?;
    let median = Summary::of(values)?.median;
    (median > 0.0).then(|| (interval.high - interval.low) / median)
}

/// The statistics of repetitions that `stopping` may have ended: with [`Stopping::Interval`], the interval of the
/// median is that of [`median_sequence`], because any other is too narrow for values whose number was chosen by its
/// width.
#[must_use]
pub fn summary_under(values: &[f64], stopping: Stopping) -> Option<Summary> {
    let summary = Summary::of(values)?;
    Some(match stopping {
        Stopping::Interval { .. } => Summary { median_interval: median_sequence(values), ..summary },
        Stopping::Count | Stopping::Steady { .. } => summary,
    })
}

/// How steady the last values are. Returns `None` if `stopping` does not check that, if there are fewer values than
/// its window, or if their mean is not above 0.
///
/// Source: SNIA Solid State Storage Performance Test Specification, definition of steady state: in a measurement window
/// of five rounds the tracking variable's range is at most 20 % of its average, and the line of least squares through
/// it, read at both ends of the window, differs by at most 10 % of that average.
#[must_use]
pub fn steady(values: &[f64], stopping: Stopping) -> Option<SteadyState> {
    let Stopping::Steady { window, excursion, slope } = stopping else { return None };
    let window = window as usize;
    let last = &values[values.len().checked_sub(window)?..];
    let summary = Summary::of(last).filter(|summary| summary.mean > 0.0)?;
    let rounds: Vec<f64> = (0..window).map(|round| round as f64).collect();
    // A window of one value has no line and no slope.
    let rise = Regression::of(&rounds, last).map_or(0.0, |line| line.slope.abs() * (window - 1) as f64);
    let (range_share, slope_share) = ((summary.max - summary.min) / summary.mean, rise / summary.mean);
    Some(SteadyState { range_share, slope_share, reached: range_share <= excursion && slope_share <= slope })
}

/// Which of the `recorded` values count: the last window with [`Stopping::Steady`], whether or not it turned out
/// steady, and all of them otherwise.
#[must_use]
pub fn counted(recorded: usize, stopping: Stopping) -> Range<usize> {
    match stopping {
        Stopping::Steady { window, .. } => recorded.saturating_sub(window as usize)..recorded,
        Stopping::Count | Stopping::Interval { .. } => 0..recorded,
    }
}
