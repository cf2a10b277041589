//! How many launches ran at a time.

use record::LaunchRow;

use super::{complete, ran};

/// Launches over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Concurrency {
    /// All launches, those among them that were never started.
    pub launches: usize,
    /// Those that came to their end.
    pub complete: usize,
    /// From the first start to the last end.
    pub elapsed_ns: u64,
    /// Sum of their real times, from the start to the end of each.
    pub real_ns: u64,
    /// Sum of real times ÷ elapsed time: how many ran at a time on average.
    pub mean: f64,
    /// The most at a time. A launch that begins when another one ends is not beside it.
    pub most: u32,
    /// How many run from each moment on at which that changes; the last one is 0.
    pub changes: Vec<Running>,
}

/// How many launches run from a moment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// Since the phase's common start.
    pub at_ns: u64,
    /// So many.
    pub running: u32,
}

/// How many of `rows` ran at a time, whatever their end was. The area under [`Concurrency::changes`] is
/// [`Concurrency::real_ns`].
#[must_use]
pub fn concurrency<'a>(rows: impl Iterator<Item = &'a LaunchRow>) -> Concurrency {
    let mut found = Concurrency::default();
    let mut events: Vec<(u64, i32)> = Vec::new();
    for row in rows {
        found.launches += 1;
        found.complete += usize::from(complete(row));
        if ran(row) {
            found.real_ns += row.end_ns - row.start_ns;
            events.extend([(row.start_ns, 1), (row.end_ns, -1)]);
        }
    }
    // At one moment ends come before starts.
    events.sort_unstable();
    let mut running = 0;
    for at in events.chunk_by(|a, b| a.0 == b.0) {
        running += at.iter().map(|(_, change)| change).sum::<i32>();
        found.changes.push(Running { at_ns: at[0].0, running: u32::try_from(running).unwrap_or(0) });
    }
    if let (Some(first), Some(last)) = (events.first(), events.last()) {
        found.elapsed_ns = last.0 - first.0;
        found.mean = found.real_ns as f64 / found.elapsed_ns as f64;
    }
    found.most = found.changes.iter().map(|one| one.running).max().unwrap_or(0);
    found
}

/// The highest sum at a time of what each of `rows` may hold while it runs, as `held` says: an upper bound of what
/// they hold together, as each holds its most for part of its time only.
pub(super) fn held_at_most(rows: &[&LaunchRow], held: impl Fn(&LaunchRow) -> u64) -> u64 {
    let mut events: Vec<(u64, i128)> = Vec::new();
    for row in rows.iter().filter(|row| ran(row)) {
        let bytes = i128::from(held(row));
        events.extend([(row.start_ns, bytes), (row.end_ns, -bytes)]);
    }
    events.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for at in events.chunk_by(|a, b| a.0 == b.0) {
        now += at.iter().map(|(_, change)| change).sum::<i128>();
        most = most.max(now);
    }
    u64::try_from(most).unwrap_or(u64::MAX)
}
