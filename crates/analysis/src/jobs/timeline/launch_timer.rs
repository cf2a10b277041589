//! The recorded data of a launch and its steps.

use std::sync::Arc;

use record::{LaunchRow, SharedText, StepRow};

/// CPU times of a launch agree if they differ by less than this share of the kernel's value for its process.
pub const CPU_AGREES_SHARE: f64 = 0.02;
/// CPU times may always differ by this much, because no step includes the start and the end of a process.
pub const CPU_AGREES_NS: u64 = 30_000_000;
/// One launch.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchTimer {
    /// The row as recorded.
    pub row: LaunchRow,
    /// The process as a whole, from the kernel's accounting, in the form of a step.
    pub whole: StepRow,
    /// Its steps.
    pub steps: Vec<StepRow>,
}

/// The launches of a pass, ordered by number.
pub(super) type Launches = [Arc<LaunchTimer>];

/// The time from start to end.
pub(super) const fn real_ns(row: &StepRow) -> u64 {
    row.end_ns.saturating_sub(row.start_ns)
}

/// User and system time.
pub(super) const fn cpu_ns(row: &StepRow) -> u64 {
    row.user_cpu_ns + row.system_cpu_ns
}

/// Bytes read from each space, in the order of [`plan::JobSpace::ALL`].
pub(super) const fn read_bytes(row: &StepRow) -> [u64; 3] {
    [row.permanent_read_bytes, row.work_read_bytes, row.utility_read_bytes]
}

/// Bytes written to each space, in the same order.
pub(super) const fn write_bytes(row: &StepRow) -> [u64; 3] {
    [row.permanent_write_bytes, row.work_write_bytes, row.utility_write_bytes]
}

impl LaunchTimer {
    fn of(row: &LaunchRow, steps: &[&StepRow]) -> Self {
        let whole = StepRow {
            key: row.key.clone(),
            launch: row.launch,
            test: row.test.clone(),
            step: 0,
            action: SharedText::EMPTY,
            threads: 0,
            start_ns: row.start_ns,
            end_ns: row.end_ns,
            user_cpu_ns: row.user_cpu_ns,
            system_cpu_ns: row.system_cpu_ns,
            peak_memory_bytes: row.peak_memory_bytes,
            block_input_bytes: row.block_input_bytes,
            block_output_bytes: row.block_output_bytes,
            voluntary_switches: row.voluntary_switches,
            involuntary_switches: row.involuntary_switches,
            permanent_read_bytes: row.permanent_read_bytes,
            permanent_write_bytes: row.permanent_write_bytes,
            work_read_bytes: row.work_read_bytes,
            work_write_bytes: row.work_write_bytes,
            utility_read_bytes: row.utility_read_bytes,
            utility_write_bytes: row.utility_write_bytes,
            rows_in: 0,
            rows_out: 0,
            checksum: SharedText::EMPTY,
            result: SharedText::EMPTY,
        };
        let own = steps.iter().filter(|step| step.launch == row.launch);
        Self { row: row.clone(), whole, steps: own.map(|step| (*step).clone()).collect() }
    }

    /// CPU time of its steps, as measured by the process itself.
    pub(super) fn steps_ns(&self) -> u64 {
        self.steps.iter().map(cpu_ns).sum()
    }

    /// The most memory that one of its steps had.
    pub(super) fn steps_memory_bytes(&self) -> u64 {
        self.steps.iter().map(|step| step.peak_memory_bytes).max().unwrap_or(0)
    }

    /// The largest difference of the CPU time of its steps, or of that of its control group, from the CPU time of the process as
    /// reported by `wait4(2)`.
    pub(super) fn cpu_apart_ns(&self) -> u64 {
        let others = [Some(self.steps_ns()), self.row.group_cpu_ns];
        others.into_iter().flatten().map(|other| other.abs_diff(cpu_ns(&self.whole))).max().unwrap_or(0)
    }

    /// Whether all CPU times are within [`CPU_AGREES_SHARE`] or [`CPU_AGREES_NS`] of that of the process, whichever
    /// is more. Returns `None` if the launch did not complete or the record has no steps of it.
    pub(super) fn cpu_agrees(&self) -> Option<bool> {
        let tolerance = (CPU_AGREES_NS as f64).max(cpu_ns(&self.whole) as f64 * CPU_AGREES_SHARE);
        (complete(&self.row) && !self.steps.is_empty()).then(|| self.cpu_apart_ns() as f64 <= tolerance)
    }
}

/// The timers of `rows` of a pass, with their `steps`.
pub(super) fn launch_timers<'a>(
    rows: impl Iterator<Item = &'a LaunchRow>,
    steps: impl Iterator<Item = &'a StepRow>,
) -> Vec<Arc<LaunchTimer>> {
    let (mut rows, mut steps): (Vec<_>, Vec<_>) = (rows.collect(), steps.collect());
    rows.sort_by_key(|row| row.launch);
    steps.sort_by_key(|row| row.step);
    rows.iter().map(|row| Arc::new(LaunchTimer::of(row, &steps))).collect()
}

pub(super) const fn in_seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Rounds to the nearest whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made of numbers that were whole and not negative"
)]
pub(crate) const fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// Whether the launch was started at all.
pub(crate) const fn ran(row: &LaunchRow) -> bool {
    row.end_ns > row.start_ns
}

/// Whether the launch completed.
pub(crate) fn complete(row: &LaunchRow) -> bool {
    row.outcome == "complete"
}
