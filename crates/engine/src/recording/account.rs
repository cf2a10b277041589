//! Worker reports of a phase, and their conversion into the phase's outcome.

use std::sync::atomic::Ordering;

use crate::data::check::CheckResults;
use crate::phase::clock::{self, Scale};
use crate::phase::common::Common;
use crate::phase::ending::Ending;
use crate::phase::outcome::{Latency, SeriesInterval, Stonewalled, Surprises};
use crate::recording::series::{Recorder, Sums};
use crate::{Controls, LatencyHistogram, Mismatches, Note, PhaseOutcome, TaskOutcome};
use plan::{Measure, Operation};

/// What one task did, in ticks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TaskReport {
    pub(crate) task: u32,
    pub(crate) file: u32,
    pub(crate) open: (u64, u64),
    pub(crate) io: (u64, u64),
    pub(crate) close: (u64, u64),
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// Number of operations other than transfers.
    pub(crate) items: u64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    /// Time at which the task saw the stonewall, and the number of its operations until then.
    pub(crate) stonewall: Option<(u64, u64)>,
}

/// What one worker did, with `N` kinds of operations.
#[derive(Debug)]
pub(crate) struct WorkerReport<'a, const N: usize = 2> {
    pub(crate) tasks: Vec<TaskReport>,
    pub(crate) recorder: Recorder<'a, N>,
    pub(crate) findings: CheckResults,
    pub(crate) unstarted: u64,
    pub(crate) notes: Vec<Note>,
}

/// The parameters needed to evaluate the reports of a phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account<const N: usize> {
    /// The operations, in the order of the recorders.
    pub(crate) operations: [Operation; N],
    pub(crate) ending: Ending,
    /// Length of one interval of the series.
    pub(crate) interval_ns: u64,
}

impl<const N: usize> Account<N> {
    /// Computes the outcome, except for wrong data and unexpected items, which need file names.
    pub(crate) fn outcome(
        &self,
        common: &Common<'_>,
        reports: &[WorkerReport<'_, N>],
        controls: &Controls,
    ) -> PhaseOutcome {
        let time = TickConverter { start: common.start(), scale: clock::scale() };
        let mut task_reports: Vec<&TaskReport> = reports.iter().flat_map(|report| &report.tasks).collect();
        task_reports.sort_by_key(|report| report.task);
        let tasks: Vec<TaskOutcome> = task_reports.iter().map(|report| task_outcome(report, time)).collect();
        let span = |from: fn(&TaskOutcome) -> u64, to: fn(&TaskOutcome) -> u64| {
            let first = tasks.iter().map(from).min().unwrap_or(0);
            tasks.iter().map(to).max().unwrap_or(0).saturating_sub(first)
        };
        let io_start = task_reports.iter().map(|report| report.io.0).min().unwrap_or(0);
        let since_io = |ticks: u64| time.scale.nanos(ticks.saturating_sub(io_start));
        let (first_done, first_transfers) = common.first_done.get().unwrap_or((io_start, 0));
        let sum =
            |count: fn(&TaskReport) -> u64| task_reports.iter().map(|report| count(report)).sum::<u64>();
        let (reads, writes, items) =
            (sum(|task| task.reads), sum(|task| task.writes), sum(|task| task.items));
        let (read_bytes, write_bytes) = (sum(|task| task.read_bytes), sum(|task| task.write_bytes));
        let bytes_of = |count: u64| share(read_bytes + write_bytes, count, reads + writes + items);
        let meter = common.meter();
        let mut notes = Vec::new();
        for note in reports.iter().flat_map(|report| &report.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        PhaseOutcome {
            started_unix_ns: meter.started_unix_ns,
            started_raw_ns: clock::raw_ns(common.start()),
            wall_ns: span(|task| task.open_start_ns, |task| task.close_end_ns),
            open_ns: span(|task| task.open_start_ns, |task| task.open_end_ns),
            io_ns: span(|task| task.io_start_ns, |task| task.io_end_ns),
            close_ns: span(|task| task.close_start_ns, |task| task.close_end_ns),
            read_bytes,
            write_bytes,
            reads,
            writes,
            items,
            allocated_bytes: None,
            found: None,
            surprises: Surprises::default(),
            first_done_ns: since_io(first_done),
            first_done_bytes: bytes_of(first_transfers),
            stonewall: self.stonewalled(common, &task_reports, since_io, bytes_of),
            latency: self.latency(reports),
            series: self.series(reports, time, (read_bytes, write_bytes)),
            history: common.kept(),
            user_cpu_ns: meter.at_end.user_ns.saturating_sub(meter.at_start.user_ns),
            system_cpu_ns: meter.at_end.system_ns.saturating_sub(meter.at_start.system_ns),
            mismatches: Mismatches::default(),
            stopped: controls.is_stopped(),
            unstarted: reports.iter().map(|report| report.unstarted).sum(),
            continued: common.continued.load(Ordering::Relaxed),
            notes,
            end: None,
            tasks,
        }
    }

    fn stonewalled(
        &self,
        common: &Common<'_>,
        tasks: &[&TaskReport],
        since_io: impl Fn(u64) -> u64,
        bytes_of: impl Fn(u64) -> u64,
    ) -> Option<Stonewalled> {
        let seen = tasks.iter().filter_map(|task| task.stonewall);
        self.ending.is_stonewall().then(|| Stonewalled {
            ns: seen.clone().map(|(ticks, _)| since_io(ticks)).max().unwrap_or(0),
            bytes: bytes_of(seen.map(|(_, transfers)| transfers).sum()),
            worn_out_transfers: self.ending.wears_out().then(|| common.most()),
        })
    }

    fn latency(&self, reports: &[WorkerReport<'_, N>]) -> Vec<Latency> {
        let none = || std::array::from_fn::<_, N, _>(|_| LatencyHistogram::new());
        let (mut response, mut service) = (none(), none());
        for report in reports {
            report.recorder.add_to(&mut response, &mut service);
        }
        let measures = [(Measure::Response, response), (Measure::Service, service)];
        measures
            .into_iter()
            .flat_map(|(measure, histograms)| {
                self.operations.into_iter().zip(histograms).map(move |(operation, histogram)| Latency {
                    operation,
                    measure,
                    histogram,
                })
            })
            .filter(|latency| latency.histogram.total() > 0)
            .collect()
    }

    fn series(
        &self,
        reports: &[WorkerReport<'_, N>],
        time: TickConverter,
        (read_bytes, write_bytes): (u64, u64),
    ) -> Vec<SeriesInterval> {
        let mut intervals = Vec::new();
        for report in reports {
            report.recorder.add_series(&mut intervals);
        }
        let mut totals = [0_u64; N];
        for sums in &intervals {
            for (total, sums) in totals.iter_mut().zip(sums) {
                *total += sums.transfers;
            }
        }
        let bytes = self.operations.map(|operation| match operation {
            Operation::Read => read_bytes,
            Operation::Write | Operation::Create => write_bytes,
            Operation::Exchange => read_bytes + write_bytes,
            Operation::Stat | Operation::List | Operation::Rename | Operation::Remove | Operation::Find => 0,
        });
        let length = self.interval_ns;
        let last = reports.iter().flat_map(|report| &report.tasks).map(|task| task.io.1).max().unwrap_or(0);
        let end = time.at(last);
        let mut series = Vec::new();
        for (start, sums) in (0..).map(|index: u64| index * length).zip(&intervals) {
            for (index, sums) in sums.iter().enumerate().filter(|(_, sums)| **sums != Sums::default()) {
                series.push(SeriesInterval {
                    operation: self.operations[index],
                    start_ns: start,
                    length_ns: length.min(end.saturating_sub(start)).max(1),
                    bytes: share(bytes[index], sums.transfers, totals[index]),
                    transfers: sums.transfers,
                    latency_sum_ns: sums.latency_ns,
                    latency_max_ns: sums.latency_max_ns,
                });
            }
        }
        series
    }
}

/// The share of `bytes` that corresponds to `count` of `all` operations.
fn share(bytes: u64, count: u64, all: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(count) / u128::from(all.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// Converts ticks to nanoseconds since the phase's start, with the current estimate of the clock's rate.
#[derive(Clone, Copy)]
struct TickConverter {
    start: u64,
    scale: Scale,
}

impl TickConverter {
    fn at(self, ticks: u64) -> u64 {
        self.scale.nanos(ticks.saturating_sub(self.start))
    }
}

fn task_outcome(report: &TaskReport, time: TickConverter) -> TaskOutcome {
    TaskOutcome {
        task: report.task,
        file: report.file,
        open_start_ns: time.at(report.open.0),
        open_end_ns: time.at(report.open.1),
        io_start_ns: time.at(report.io.0),
        io_end_ns: time.at(report.io.1),
        close_start_ns: time.at(report.close.0),
        close_end_ns: time.at(report.close.1),
        bytes: report.read_bytes + report.write_bytes,
        reads: report.reads,
        writes: report.writes,
        items: report.items,
        stonewall_transfers: report.stonewall.map(|(_, transfers)| transfers),
    }
}
