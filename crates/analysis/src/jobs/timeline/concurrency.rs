//! How many launches ran concurrently, and how long they took.

use record::LaunchRow;

use super::launch_timer::{complete, ran};
use crate::statistics::{Histogram, Summary};

/// Launches over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Concurrency {
    /// The number of all launches, including those that were never started.
    pub launches: usize,
    /// The number of launches that completed.
    pub complete: usize,
    /// The time from the first start to the last end.
    pub elapsed_ns: u64,
    /// Sum of their real times, each from start to end.
    pub real_ns: u64,
    /// Sum of real times ÷ elapsed time: the mean number of launches that ran concurrently.
    pub mean: f64,
    /// The highest number of concurrent launches. A launch that starts when another one ends does not overlap it.
    pub most: u64,
    /// Pairs of a time in nanoseconds since the phase's common start and the number of launches that run from then
    /// on; the last number is 0. The area under this curve is [`Concurrency::real_ns`].
    pub changes: Vec<(u64, u64)>,
}

/// How many of `rows` ran concurrently, whatever their outcome was.
#[must_use]
pub fn concurrency(rows: &[&LaunchRow]) -> Concurrency {
    let changes = over_time(rows, |_| 1);
    let elapsed_ns = changes.first().zip(changes.last()).map_or(0, |(first, last)| last.0 - first.0);
    let real_ns = rows.iter().map(|row| row.end_ns.saturating_sub(row.start_ns)).sum();
    Concurrency {
        launches: rows.len(),
        complete: rows.iter().filter(|row| complete(row)).count(),
        elapsed_ns,
        real_ns,
        mean: if elapsed_ns > 0 { real_ns as f64 / elapsed_ns as f64 } else { 0.0 },
        most: most(&changes),
        changes,
    }
}

/// The maximum over time of the sum of `held` over the running `rows`. This is an upper bound of what they hold
/// together, because each holds its maximum only for a part of its time.
pub(super) fn held_at_most(rows: &[&LaunchRow], held: impl Fn(&LaunchRow) -> u64) -> u64 {
    most(&over_time(rows, held))
}

fn most(changes: &[(u64, u64)]) -> u64 {
    changes.iter().map(|(_, sum)| *sum).max().unwrap_or(0)
}

/// The sum of `of` over the running `rows`, for each moment at which one starts or ends.
fn over_time(rows: &[&LaunchRow], of: impl Fn(&LaunchRow) -> u64) -> Vec<(u64, u64)> {
    let ran = rows.iter().filter(|row| ran(row));
    let mut events: Vec<(u64, i128)> = ran
        .flat_map(|row| [(row.start_ns, i128::from(of(row))), (row.end_ns, -i128::from(of(row)))])
        .collect();
    events.sort_unstable();
    let mut now = 0;
    let change = |at: &[(u64, i128)]| {
        now += at.iter().map(|(_, change)| change).sum::<i128>();
        (at[0].0, u64::try_from(now).unwrap_or(u64::MAX))
    };
    events.chunk_by(|a, b| a.0 == b.0).map(change).collect()
}

/// The label of a bin edge of [`lengths`]: `0.2 s`, `50 s`, `500 s`.
#[must_use]
pub fn edge(seconds: f64) -> String {
    // Edges are 1, 2 or 5 times a power of ten, apart from rounding.
    let text = format!("{seconds:.6}");
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Real times in seconds of the completed `rows`, and their histogram. Returns `None` if none completed.
#[must_use]
pub fn lengths(rows: &[&LaunchRow]) -> Option<(Summary, Histogram)> {
    let seconds: Vec<f64> = rows
        .iter()
        .filter(|row| complete(row))
        .map(|row| row.end_ns.saturating_sub(row.start_ns) as f64 / 1e9)
        .collect();
    Some((Summary::of(&seconds)?, Histogram::round(&seconds)))
}
