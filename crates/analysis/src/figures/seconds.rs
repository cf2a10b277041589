//! The whole seconds of a phase: what completed in each.

use std::ops::Range;

use record::{SeriesRow, TaskRow};

use crate::statistics::{ChangePoint, Dependence, change_point};

/// A record with more seconds than rows could ever fill is damaged; ten years are 3e8 seconds.
const SECONDS_MAX: usize = 300_000_000;

/// What completed in each whole interval of a window.
#[derive(Debug)]
pub(super) struct WholeSeconds {
    /// Length of each: a second, but of short series.
    pub(super) length_ns: u64,
    /// Where the first begins, in these lengths from the phase's common start.
    pub(super) first: u64,
    /// The amount of each. An interval without a row is one in which nothing completed: leaving it out would hide a stall.
    pub(super) amounts: Vec<u64>,
}

impl WholeSeconds {
    /// Of the rows of one phase that are `wanted`, by `amount`; none where there are fewer than `least`.
    pub(super) fn of(
        series: &[&SeriesRow],
        window: &Range<u64>,
        least: usize,
        wanted: impl Fn(&SeriesRow) -> bool,
        amount: fn(&SeriesRow) -> u64,
    ) -> Option<Self> {
        let length_ns = series.iter().map(|row| row.length_ns).max().filter(|&length| length > 0)?;
        let (first, end) = (window.start.div_ceil(length_ns), window.end / length_ns);
        let count = usize::try_from(end.saturating_sub(first)).ok()?;
        if !(least..=SECONDS_MAX).contains(&count) {
            return None;
        }
        let mut amounts = vec![0_u64; count];
        for row in series.iter().filter(|row| wanted(row)) {
            let place = (row.start_ns / length_ns).checked_sub(first).map(usize::try_from);
            if let Some(sum) = place.and_then(|place| amounts.get_mut(place.ok()?)) {
                *sum = sum.saturating_add(amount(row));
            }
        }
        Some(Self { length_ns, first, amounts })
    }
}

/// The largest change of the rate within a pass, in its first rate, and how long after its start it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeInPass {
    /// The change; its levels are per second.
    pub change: ChangePoint,
    /// Seconds from the phase's common start to it.
    pub seconds: f64,
}

/// [`ChangeInPass`] of a phase with the rows of its `tasks` and its `series`, of which a rate counts `amount`, by the whole
/// seconds in which all tasks worked; none where these are too few.
pub(super) fn change_in_pass<'a>(
    tasks: impl Iterator<Item = &'a TaskRow> + Clone,
    series: &[&SeriesRow],
    amount: fn(&SeriesRow) -> u64,
) -> Option<ChangeInPass> {
    let moved = || tasks.clone().filter(|task| task.transfers > 0);
    let start = moved().map(|task| task.io_start_ns).max()?;
    let end = moved().map(|task| task.io_end_ns).min()?;
    let seconds = WholeSeconds::of(series, &(start..end), 1, |_| true, amount)?;
    let length = seconds.length_ns as f64 / 1e9;
    let rates: Vec<f64> = seconds.amounts.iter().map(|&amount| amount as f64 / length).collect();
    let change = change_point(&rates, Dependence::Consecutive)?;
    Some(ChangeInPass { change, seconds: (seconds.first as f64 + change.at as f64) * length })
}
