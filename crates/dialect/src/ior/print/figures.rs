//! The figures of one phase, as defined by IOR.

use plan::Phase;
use record::{PhaseRow, TaskRow};

use crate::ior::settings::Settings;
use crate::printed::seconds;

/// Bytes of one MiB.
pub(super) const MIB: f64 = 1_048_576.0;

/// One row of the `Results` table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    /// `write` or `read`.
    pub access: &'static str,
    pub repetition: u32,
    /// Bytes moved.
    pub bytes: u64,
    /// MiB per second over the whole time, from the first open to the last close.
    pub bw_mib: f64,
    /// Transfers per second over the time between the first and the last of them.
    pub iops: f64,
    /// Transfers per second over the whole time, as used in the summary.
    pub ops_total: f64,
    /// The minimum of the tasks' mean times of one transfer.
    pub latency: f64,
    pub block_kib: f64,
    pub xfer_kib: f64,
    pub open: f64,
    pub io: f64,
    pub close: f64,
    pub total: f64,
    pub stonewall: Option<AtDeadline>,
    /// Number of transfers of the task that did most.
    pub most_transfers: u64,
}

/// The amount moved until the deadline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AtDeadline {
    pub seconds: f64,
    /// Mean number of MiB per task divided by the time in seconds: IOR's `Stonewall(MiB)`.
    pub mean_mib_per_second: f64,
}

impl Figures {
    /// The figures of a write or read phase. Other phases have no row.
    pub(super) fn of(row: &PhaseRow, tasks: &[TaskRow], settings: &Settings) -> Option<Self> {
        let access = match row.key.phase {
            Phase::Write => "write",
            Phase::Read => "read",
            _ => return None,
        };
        let (total, io) = (seconds(row.wall_ns), seconds(row.io_ns));
        let transfers = row.transfers() as f64;
        let wall = row.stonewall_ns.zip(row.stonewall_bytes).filter(|_| settings.wear_out);
        Some(Self {
            access,
            repetition: row.key.repetition,
            bytes: row.bytes(),
            bw_mib: row.bytes() as f64 / MIB / total,
            iops: transfers / io,
            ops_total: row.bytes() as f64 / settings.transfer as f64 / total,
            latency: latency(row, tasks, settings.tasks),
            block_kib: settings.block as f64 / 1024.0,
            xfer_kib: settings.transfer as f64 / 1024.0,
            open: seconds(row.open_ns),
            io,
            close: seconds(row.close_ns),
            total,
            stonewall: wall.map(|(ns, bytes)| AtDeadline {
                seconds: seconds(ns),
                mean_mib_per_second: bytes as f64 / f64::from(settings.tasks) / MIB / seconds(ns),
            }),
            most_transfers: tasks.iter().map(|task| task.transfers).max().unwrap_or(0),
        })
    }
}

fn latency(row: &PhaseRow, tasks: &[TaskRow], count: u32) -> f64 {
    let means = tasks.iter().filter(|task| task.transfers > 0);
    let means = means
        .map(|task| task.io_end_ns.saturating_sub(task.io_start_ns) as f64 / 1e9 / task.transfers as f64);
    means.min_by(f64::total_cmp).unwrap_or_else(|| {
        let each = row.transfers() as f64 / f64::from(count.max(1));
        if each > 0.0 { seconds(row.io_ns) / each } else { 0.0 }
    })
}
