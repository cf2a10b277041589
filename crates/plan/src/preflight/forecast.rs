//! What a plan will do, computed in advance: files, bytes and bounds.

use std::collections::HashMap;

use crate::{Bytes, Case, Existing, FileSet, NamesMade, Phase, Placement, Sharing};

/// The share of the sum of all devices that `tasks` spread over `targets` can reach: `T / (D ·
/// ceil(T / D))`. The targets with one task more determine the end of the phase.
///
/// ```
/// assert!((plan::balance_bound(33, 12) - 0.916_666).abs() < 1e-5);
/// assert_eq!(plan::balance_bound(132, 12), 1.0);
/// ```
#[must_use]
pub fn balance_bound(tasks: u32, targets: u32) -> f64 {
    let (tasks, targets) = (f64::from(tasks.max(1)), f64::from(targets.max(1)));
    tasks / (targets * (tasks / targets).ceil())
}

/// What one case will create and transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Files that exist at the same time.
    pub files: u64,
    /// Directories of a tree or of object sets.
    pub directories: u64,
    /// Bytes of each file.
    pub file_bytes: Bytes,
    /// Total bytes of the files.
    pub footprint: Bytes,
    /// Bytes moved by one pass of a result phase.
    pub phase_bytes: Bytes,
    /// Minimum and maximum number of files on one target.
    pub files_per_target: (u32, u32),
    /// [`balance_bound`] of the tasks over the targets; 1 if tasks share one file.
    pub balance_bound: f64,
}

impl Forecast {
    /// The forecast of `case`.
    #[must_use]
    pub fn of(case: &Case) -> Self {
        let workload = &case.workload;
        if !workload.work.is_transfers() {
            return Self::of_names(case);
        }
        let placement = Placement::new(workload);
        let files = placement.file_count();
        let targets = u32::try_from(workload.files.targets.len()).unwrap_or(u32::MAX).max(1);
        let passes = u64::from(case.passes_max());
        let sets = if workload.files.file_per_repetition { passes } else { 1 };
        let phase_bytes = workload.bytes();
        let footprint = Bytes(workload.footprint().0.saturating_mul(sets));
        Self {
            files: u64::from(files) * sets,
            directories: 0,
            file_bytes: placement.file_bytes(),
            footprint,
            phase_bytes,
            files_per_target: (files / targets, files.div_ceil(targets)),
            balance_bound: match workload.files.sharing {
                // With a fixed duration, each target moves as much as it can.
                _ if workload.duration.is_some() => 1.0,
                Sharing::PerTask => balance_bound(workload.tasks, targets),
                Sharing::Shared => 1.0,
            },
        }
    }

    /// The forecast of a case that creates names or exchanges messages.
    fn of_names(case: &Case) -> Self {
        let workload = &case.workload;
        let passes = u64::from(case.passes_max());
        let sets = if workload.files.file_per_repetition { passes } else { 1 };
        let NamesMade { files, directories, file_bytes } = workload.work.kind().names(workload, &case.phases);
        let targets = u32::try_from(workload.files.targets.len()).unwrap_or(u32::MAX).max(1);
        Self {
            files: files.saturating_mul(sets),
            directories: directories.saturating_mul(sets),
            file_bytes,
            footprint: Bytes(files.saturating_mul(file_bytes.0).saturating_mul(sets)),
            phase_bytes: workload.bytes(),
            files_per_target: (0, 0),
            // Launches have no targets of their own: they write wherever their space is located.
            balance_bound: if workload.work.makes_trees() && workload.work.jobs().is_none() {
                balance_bound(workload.tasks, targets)
            } else {
                1.0
            },
        }
    }
}

/// For each set of files, the bytes certain to be present.
#[derive(Debug, Default)]
pub(crate) struct Filled<'p>(HashMap<&'p FileSet, Bytes>);

impl<'p> Filled<'p> {
    /// Bytes that are filled before `case`, which needs `footprint`.
    pub(crate) fn before(&mut self, case: &'p Case, footprint: Bytes) -> Bytes {
        if !case.workload.work.is_transfers() {
            return Bytes(0);
        }
        let files = &case.workload.files;
        let data = self.0.entry(files).or_default();
        if case.protocol.wipe {
            *data = Bytes(0);
        }
        if case.protocol.precondition > 0 {
            *data = footprint.max(*data);
        }
        let reads = case.phases.first().is_some_and(|phase| phase.needs_data());
        let rewrites = case.phases.contains(&Phase::Write) && files.existing == Existing::Reuse;
        let fills = files.fill && (reads || rewrites) && *data < footprint;
        let writes = case.phases.iter().any(|phase| phase.only_writes());
        // A phase limited by time or count may have ended early.
        let workload = &case.workload;
        let by_volume = workload.duration.is_none()
            && workload.stonewall.is_none()
            && workload.transfers_per_task() >= workload.transfers_per_pass();
        if fills || writes && by_volume {
            *data = footprint.max(*data);
        }
        if fills { footprint } else { Bytes(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::balance_bound;

    #[test]
    fn published_task_counts_over_twelve_cards() {
        for (tasks, percent) in [(33, 91.7), (66, 91.7), (99, 91.7), (132, 100.0), (264, 100.0)] {
            let bound = balance_bound(tasks, 12) * 100.0;
            assert!((bound - percent).abs() < 0.05, "{tasks} tasks: {bound}");
        }
    }
}
