//! The whole seconds of a phase, and what completed in each.

use std::ops::Range;

use record::{SeriesRow, TaskRow};

use crate::statistics::{ChangePoint, Dependence, change_point};

/// A record with more seconds than rows could ever fill is damaged; ten years are 3e8 seconds.
const SECONDS_MAX: usize = 300_000_000;

/// What completed in each whole interval of a window.
#[derive(Debug)]
pub(crate) struct WholeSeconds {
    /// Length of each interval: one second, but less for short series.
    pub(crate) length_ns: u64,
    /// Index of the first interval, in units of this length from the phase's common start.
    pub(super) first: u64,
    /// The amount in each interval. An interval without a row counts as 0, because leaving it out would hide a stall.
    pub(crate) amounts: Vec<u64>,
}

impl WholeSeconds {
    /// The intervals of those rows of one phase that are `wanted`, by `amount`. Returns `None` if there are fewer
    /// than `least`.
    pub(crate) fn of(
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

/// The largest change of the phase's first rate within a pass, and its time after the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeInPass {
    /// The change; its levels are rates per second.
    pub change: ChangePoint,
    /// The time of the change, in seconds from the phase's common start.
    pub seconds: f64,
}

/// The [`ChangeInPass`] of a phase with the rows of its `tasks` and its `series`. Its rate counts `amount`, in the
/// whole seconds during which all tasks worked. Returns `None` if there are too few of these.
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
