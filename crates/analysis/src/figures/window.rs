//! The time in a repetition while all workloads ran, and what each of them did in it.

use std::ops::Range;

use plan::{Nanos, RateName};
use record::{PhaseRow, Rows, Run, SeriesRow, TaskRow};

use crate::figures::{Rate, WholeSeconds, sustained, transfer_span};

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
    pub(crate) fn longer(self, other: Self) -> Self {
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
/// assert_eq!(analysis::figures::jain(&[2.0, 2.0, 2.0]), Some(1.0));
/// assert_eq!(analysis::figures::jain(&[4.0, 0.0]), Some(0.5));
/// ```
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let all: f64 = shares.iter().sum();
    (shares.len() > 1 && squares > 0.0).then(|| all * all / (shares.len() as f64 * squares))
}

/// What a pass did while all workloads that ran at the same time did.
#[derive(Debug, Clone, PartialEq)]
pub struct WhileAll {
    /// The window: the time while all of them ran, in nanoseconds from the start of the pass.
    pub window: Range<u64>,
    /// The rate of what completed in the window.
    pub rate: Rate,
    /// The low percentile of the whole intervals in the window.
    pub sustained: Rate,
    /// The share of the operations of the pass that completed in the window.
    pub share: f64,
    /// The longest time in the window in which it completed nothing.
    pub gap: Gap,
    /// Jain's index of the rates of its tasks in the whole pass.
    pub fairness: Option<f64>,
}

impl WhileAll {
    /// The length of the window.
    #[must_use]
    pub const fn seconds(&self) -> f64 {
        (self.window.end - self.window.start) as f64 / 1e9
    }

    /// What stands for the rate named `name` in the window: of all but one the rate, because open, close and the ends of
    /// single tasks are no part of it.
    #[must_use]
    pub const fn named(&self, name: RateName) -> Rate {
        match name {
            RateName::Sustained => self.sustained,
            _ => self.rate,
        }
    }
}

/// The first of several reasons, and how many more there are. `None` if there is none.
pub(crate) fn first_of(reasons: &[String]) -> Option<String> {
    match reasons {
        [] => None,
        [only] => Some(only.clone()),
        [first, more @ ..] => Some(format!("{first}; {} more", more.len())),
    }
}

/// The rows of tasks and seconds of one workload.
pub(super) type RowsOf = (Rows<TaskRow>, Rows<SeriesRow>);

pub(super) fn rows_of(run: &Run, case: &str) -> RowsOf {
    (run.tasks(case), run.series(case))
}

/// The rates of `passes` of the case `case`, which ran alone, within the `window` from their start, as far as they ran then.
/// A pass that did so for less than [`WINDOW_MIN`] has none.
pub(crate) fn alone_in<'p>(
    run: &Run,
    case: &str,
    passes: impl Iterator<Item = &'p PhaseRow>,
    window: &Range<u64>,
) -> Vec<Rate> {
    let (tasks, series) = rows_of(run, case);
    let of = |pass: &PhaseRow| {
        let tasks: Vec<&TaskRow> = tasks.iter().filter(|row| row.key == pass.key).collect();
        let series: Vec<&SeriesRow> = series.iter().filter(|row| row.key == pass.key).collect();
        let span = transfer_span(pass, &tasks);
        let cut = window.start.max(span.start)..window.end.min(span.end);
        (cut.end.saturating_sub(cut.start) >= WINDOW_MIN.0).then(|| rate_in(&series, &cut, &span))
    };
    passes.filter_map(of).collect()
}

/// What each workload did in the window of a repetition.
pub(super) fn shared(passes: &[&PhaseRow], rows: &[RowsOf]) -> Result<Vec<WhileAll>, String> {
    let tasks: Vec<Vec<&TaskRow>> = passes
        .iter()
        .zip(rows)
        .map(|(pass, (tasks, _))| tasks.iter().filter(|row| row.key == pass.key).collect())
        .collect();
    let spans: Vec<Range<u64>> =
        passes.iter().zip(&tasks).map(|(pass, tasks)| transfer_span(pass, tasks)).collect();
    let clock = |pass: &PhaseRow, nanos: u64| i128::from(pass.started_unix_ns) + i128::from(nanos);
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
    let each = |(place, pass): (usize, &&PhaseRow)| {
        let from = u64::try_from(start - clock(pass, 0)).unwrap_or(0);
        let window = from..from.saturating_add(length_ns);
        let series: Vec<&SeriesRow> = rows[place].1.iter().filter(|row| row.key == pass.key).collect();
        within(pass, &tasks[place], &series, (window, &spans[place]))
    };
    passes.iter().enumerate().map(each).collect()
}

/// What a pass did in `window`, where its own transfers took the time of `span`; both from its own start.
fn within(
    pass: &PhaseRow,
    tasks: &[&TaskRow],
    series: &[&SeriesRow],
    (window, span): (Range<u64>, &Range<u64>),
) -> Result<WhileAll, String> {
    let none = Rate { bytes_per_second: 0.0, transfers_per_second: 0.0 };
    let length = (window.end - window.start) as f64 / 1e9;
    // Without a row nothing has completed, and the length of an interval is not known.
    let (sustained, gap) = if series.is_empty() {
        (none, Gap::AtLeast(length))
    } else {
        let whole = WholeSeconds::of(series, &window, INTERVALS_MIN, |_| true, |row| row.transfers);
        let found = whole.zip(sustained(series, &window, |_| true)).ok_or_else(|| {
            let case = &pass.key.case;
            format!("{case} has fewer than {INTERVALS_MIN} whole intervals while all ran")
        })?;
        (found.1, gap(&found.0, series, &window))
    };
    let rate = rate_in(series, &window, span);
    let all = pass.transfers() as f64;
    Ok(WhileAll {
        share: if all > 0.0 { rate.transfers_per_second * length / all } else { 1.0 },
        fairness: fairness(tasks, pass.key.phase.counts_bytes()),
        window,
        rate,
        sustained,
        gap,
    })
}

/// The rate of what completed in `window`, where the transfers took the time of `span`.
fn rate_in(series: &[&SeriesRow], window: &Range<u64>, span: &Range<u64>) -> Rate {
    let seconds = (window.end - window.start) as f64 / 1e9;
    let of = |amount: fn(&SeriesRow) -> u64| {
        let done: f64 = series.iter().map(|row| amount(row) as f64 * part(row, window, span)).sum();
        done / seconds
    };
    Rate { bytes_per_second: of(|row| row.bytes), transfers_per_second: of(|row| row.transfers) }
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
fn fairness(tasks: &[&TaskRow], counts_bytes: bool) -> Option<f64> {
    let rate = |task: &&TaskRow| {
        let nanos = task.io_end_ns.saturating_sub(task.io_start_ns);
        let done = if counts_bytes { task.bytes } else { task.transfers };
        if nanos == 0 { 0.0 } else { done as f64 / nanos as f64 }
    };
    jain(&tasks.iter().map(rate).collect::<Vec<_>>())
}
