//! What the engine and the host saw, as rows of the record.

use engine::PhaseOutcome;
use record::{LatencyRow, Measure, Operation, PhaseKey, PhaseRow, SeriesRow, TaskRow};

/// Bytes that the devices under the targets moved in a phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceBytes {
    pub(crate) read: u64,
    pub(crate) written: u64,
}

/// The phase as a whole.
pub(crate) fn phase_row(key: &PhaseKey, outcome: &PhaseOutcome, devices: Option<DeviceBytes>) -> PhaseRow {
    PhaseRow {
        key: key.clone(),
        started_unix_ns: outcome.started_unix_ns,
        wall_ns: outcome.wall_ns,
        open_ns: outcome.open_ns,
        io_ns: outcome.io_ns,
        close_ns: outcome.close_ns,
        read_bytes: outcome.read_bytes,
        write_bytes: outcome.write_bytes,
        reads: outcome.reads,
        writes: outcome.writes,
        first_done_ns: outcome.first_done_ns,
        first_done_bytes: outcome.first_done_bytes,
        stonewall_ns: outcome.stonewall.map(|fell| fell.ns),
        stonewall_bytes: outcome.stonewall.map(|fell| fell.bytes),
        user_cpu_ns: outcome.user_cpu_ns,
        system_cpu_ns: outcome.system_cpu_ns,
        wrong_cells: outcome.mismatches.wrong_cells,
        device_read_bytes: devices.map(|bytes| bytes.read),
        device_write_bytes: devices.map(|bytes| bytes.written),
    }
}

/// Each task of the phase.
pub(crate) fn task_rows(key: &PhaseKey, outcome: &PhaseOutcome, node: &str) -> Vec<TaskRow> {
    let row = |task: &engine::TaskOutcome| TaskRow {
        key: key.clone(),
        task: task.task,
        node: node.to_owned(),
        file: task.file,
        open_start_ns: task.open_start_ns,
        open_end_ns: task.open_end_ns,
        io_start_ns: task.io_start_ns,
        io_end_ns: task.io_end_ns,
        close_start_ns: task.close_start_ns,
        close_end_ns: task.close_end_ns,
        bytes: task.bytes,
        transfers: task.transfers(),
    };
    outcome.tasks.iter().map(row).collect()
}

/// Every bucket that holds a transfer.
pub(crate) fn latency_rows(key: &PhaseKey, outcome: &PhaseOutcome) -> Vec<LatencyRow> {
    let mut rows = Vec::new();
    for latency in &outcome.latency {
        let (operation, measure) = (operation(latency.operation), measure(latency.measure));
        for (low_ns, high_ns, count) in latency.histogram.buckets() {
            rows.push(LatencyRow { key: key.clone(), operation, measure, low_ns, high_ns, count });
        }
    }
    rows
}

/// Each interval of the phase.
pub(crate) fn series_rows(key: &PhaseKey, outcome: &PhaseOutcome) -> Vec<SeriesRow> {
    let row = |interval: &engine::SeriesInterval| SeriesRow {
        key: key.clone(),
        operation: operation(interval.operation),
        start_ns: interval.start_ns,
        length_ns: interval.length_ns,
        bytes: interval.bytes,
        transfers: interval.transfers,
        latency_sum_ns: interval.latency_sum_ns,
        latency_max_ns: interval.latency_max_ns,
    };
    outcome.series.iter().map(row).collect()
}

fn operation(operation: engine::Operation) -> Operation {
    match operation {
        engine::Operation::Read => Operation::Read,
        engine::Operation::Write => Operation::Write,
    }
}

fn measure(measure: engine::Measure) -> Measure {
    match measure {
        engine::Measure::Response => Measure::Response,
        engine::Measure::Service => Measure::Service,
    }
}
