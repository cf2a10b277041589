//! The time in a repetition while all workloads ran, and what each of them did in it.

use std::ops::Range;

use plan::Nanos;
use record::{Rows, Run, SeriesRow, TaskRow};

use crate::figures::{RateOf, RepetitionFigure, Subject, WholeSeconds, transfer_span};

/// A shorter window has no figure: what is at its ends is too large a part of it.
pub const WINDOW_MIN: Nanos = Nanos::secs(1);
/// Neither has one with fewer whole intervals of a series.
pub const INTERVALS_MIN: usize = 3;

/// The longest time in which a workload completed nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gap {
    /// Nothing completed in so many seconds of whole intervals; it may have begun before them and ended after them.
    AtLeast(f64),
    /// Something completed in each whole interval, so it was at most so many seconds: the largest latency, or two
    /// intervals if that is more.
    AtMost(f64),
}

impl Gap {
    /// Its seconds.
    #[must_use]
    pub const fn seconds(self) -> f64 {
        match self {
            Self::AtLeast(seconds) | Self::AtMost(seconds) => seconds,
        }
    }

    /// Which bound of the time its seconds are.
    #[must_use]
    pub const fn bound(self) -> &'static str {
        match self {
            Self::AtLeast(_) => "at least",
            Self::AtMost(_) => "at most",
        }
    }

    /// The longer one. One that was seen is longer than any that may have been.
    pub(super) fn longer(self, other: Self) -> Self {
        match (self, other) {
            (Self::AtLeast(one), Self::AtLeast(other)) => Self::AtLeast(one.max(other)),
            (Self::AtMost(one), Self::AtMost(other)) => Self::AtMost(one.max(other)),
            (seen @ Self::AtLeast(_), _) | (_, seen) => seen,
        }
    }
}

/// Jain's index of fairness: (Σx)² ÷ (n · Σx²), 1 if all have the same, 1 ÷ n if one has all. Returns `None` if there
/// are fewer than two values, or nothing to share.
///
/// Source: R. Jain, D. Chiu and W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource
/// Allocation in Shared Computer Systems", DEC-TR-301, 1984.
///
/// ```
/// assert_eq!(analysis::together::jain(&[2.0, 2.0, 2.0]), Some(1.0));
/// assert_eq!(analysis::together::jain(&[4.0, 0.0]), Some(0.5));
/// ```
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let all: f64 = shares.iter().sum();
    (shares.len() > 1 && squares > 0.0).then(|| all * all / (shares.len() as f64 * squares))
}

/// What one workload did in the window of a repetition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Within {
    /// Bytes or operations per second.
    pub(super) per_second: f64,
    pub(super) gap: Gap,
    /// Of the rates of its tasks in the whole pass.
    pub(super) fairness: Option<f64>,
}

/// One repetition of all workloads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shared {
    /// The number of the pass, starting at 0.
    pub(super) repetition: u32,
    /// The length of the window.
    pub(super) seconds: f64,
    /// In the order of the workloads.
    pub(super) each: Vec<Within>,
}

/// Each repetition that counts, in order, or why it has no window.
pub(super) fn repetitions(run: &Run, workloads: &[&Subject<'_>]) -> Vec<Result<Shared, String>> {
    let rows_of = |one: &&Subject<'_>| (run.tasks(&one.figure.case), run.series(&one.figure.case));
    let rows: Vec<RowsOf> = workloads.iter().map(rows_of).collect();
    let Some((first, _)) = workloads.split_first() else { return Vec::new() };
    let of = |pass: &RepetitionFigure| {
        let number = pass.repetition;
        let all: Option<Vec<&RepetitionFigure>> = workloads
            .iter()
            .map(|one| one.figure.counted().find(|other| other.repetition == number))
            .collect();
        let all = all.ok_or_else(|| "not all of them were measured".to_owned());
        let found = all.and_then(|all| shared(number, workloads, &all, &rows));
        found.map_err(|why| format!("pass {}: {why}", number + 1))
    };
    first.figure.counted().map(of).collect()
}

/// The rows of tasks and seconds of one workload.
type RowsOf = (Rows<TaskRow>, Rows<SeriesRow>);

/// The window of a repetition with what each workload did in it.
fn shared(
    repetition: u32,
    workloads: &[&Subject<'_>],
    passes: &[&RepetitionFigure],
    rows: &[RowsOf],
) -> Result<Shared, String> {
    let tasks: Vec<Vec<&TaskRow>> = passes
        .iter()
        .zip(rows)
        .map(|(pass, (tasks, _))| tasks.iter().filter(|row| row.key == pass.phase.key).collect())
        .collect();
    let spans: Vec<Range<u64>> =
        passes.iter().zip(&tasks).map(|(pass, tasks)| transfer_span(&pass.phase, tasks)).collect();
    let clock =
        |pass: &RepetitionFigure, nanos: u64| i128::from(pass.phase.started_unix_ns) + i128::from(nanos);
    let ends = || passes.iter().zip(&spans);
    let start = ends().map(|(pass, span)| clock(pass, span.start)).max().unwrap_or(0);
    let end = ends().map(|(pass, span)| clock(pass, span.end)).min().unwrap_or(0);
    let length_ns = u64::try_from(end - start).unwrap_or(0);
    if length_ns == 0 {
        return Err("they did not run at the same time".to_owned());
    }
    if length_ns < WINDOW_MIN.0 {
        return Err(format!("all ran for {}, and {WINDOW_MIN} are needed", Nanos(length_ns)));
    }
    let each = |(place, pass): (usize, &&RepetitionFigure)| {
        let from = u64::try_from(start - clock(pass, 0)).unwrap_or(0);
        let window = from..from.saturating_add(length_ns);
        let series: Vec<&SeriesRow> = rows[place].1.iter().filter(|row| row.key == pass.phase.key).collect();
        within(workloads[place], &tasks[place], &series, (&window, &spans[place]))
    };
    let each: Result<Vec<Within>, String> = passes.iter().enumerate().map(each).collect();
    Ok(Shared { repetition, seconds: length_ns as f64 / 1e9, each: each? })
}

/// What a workload did in `window`, where its own transfers took the time of `span`; both from its own start.
fn within(
    workload: &Subject<'_>,
    tasks: &[&TaskRow],
    series: &[&SeriesRow],
    (window, span): (&Range<u64>, &Range<u64>),
) -> Result<Within, String> {
    let whole =
        WholeSeconds::of(series, window, INTERVALS_MIN, |_| true, |row| row.transfers).ok_or_else(|| {
            let case = &workload.case.id;
            format!("{case} has fewer than {INTERVALS_MIN} whole intervals while all ran")
        })?;
    let counts = workload.figure.rate_of();
    let amount = |row: &SeriesRow| counts.pick(row.bytes, row.transfers) as f64;
    let done: f64 = series.iter().map(|row| amount(row) * part(row, window, span)).sum();
    let seconds = (window.end - window.start) as f64 / 1e9;
    Ok(Within {
        per_second: done / seconds,
        gap: gap(&whole, series, window),
        fairness: fairness(tasks, counts),
    })
}

/// The part of what completed in the interval of `row` that counts as completed in `window`: evenly over the part of
/// the interval in which the workload ran.
fn part(row: &SeriesRow, window: &Range<u64>, span: &Range<u64>) -> f64 {
    let end = row.start_ns.saturating_add(row.length_ns);
    let cut = |by: &Range<u64>| row.start_ns.max(by.start)..end.min(by.end);
    let ran = cut(span);
    let ran = if ran.is_empty() { row.start_ns..end } else { ran };
    let both = ran.start.max(window.start)..ran.end.min(window.end);
    if both.is_empty() { 0.0 } else { (both.end - both.start) as f64 / (ran.end - ran.start) as f64 }
}

fn gap(whole: &WholeSeconds, series: &[&SeriesRow], window: &Range<u64>) -> Gap {
    let length = whole.length_ns as f64 / 1e9;
    let empty = whole.amounts.chunk_by(|one, next| (*one == 0) == (*next == 0));
    let longest = empty.filter(|same| same[0] == 0).map(<[u64]>::len).max();
    if let Some(intervals) = longest {
        return Gap::AtLeast(intervals as f64 * length);
    }
    let in_window =
        |row: &&&SeriesRow| row.start_ns < window.end && row.start_ns + row.length_ns > window.start;
    let largest = series.iter().filter(in_window).map(|row| row.latency_max_ns).max();
    let largest = largest.filter(|&nanos| nanos > 0).map_or(f64::INFINITY, |nanos| nanos as f64 / 1e9);
    Gap::AtMost(largest.min(2.0 * length))
}

/// Jain's index of the rates of the tasks.
fn fairness(tasks: &[&TaskRow], counts: RateOf) -> Option<f64> {
    let rate = |task: &&TaskRow| {
        let nanos = task.io_end_ns.saturating_sub(task.io_start_ns);
        let done = counts.pick(task.bytes, task.transfers);
        if nanos == 0 { 0.0 } else { done as f64 / nanos as f64 }
    };
    jain(&tasks.iter().map(rate).collect::<Vec<_>>())
}
