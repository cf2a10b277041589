//! What a plan will do, computed in advance: files, bytes, bounds and seconds.

use std::collections::HashMap;

use crate::{Bytes, Case, Existing, FileSet, Phase, Placement, Plan, Sharing, Work};

/// The share of the sum of all devices that `tasks` spread over `targets` can reach:
/// `T / (D · ceil(T / D))`. The targets with one task more decide when the phase ends.
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
    /// Bytes written over all passes (see [`Case::passes_max`]), preconditioning included.
    pub written: Bytes,
    /// Bytes read over all passes, checks included.
    pub read: Bytes,
    /// Fewest and most files on one target.
    pub files_per_target: (u32, u32),
    /// [`balance_bound`] of the tasks over the targets; 1 where tasks share one file.
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
        let conditioned = footprint.0.saturating_mul(u64::from(case.protocol.precondition));
        let moved = |count: u64| Bytes(phase_bytes.0.saturating_mul(count).saturating_mul(passes));
        let half = case.phases.iter().filter(|&&p| p == Phase::Mixed).count() as u64;
        let count = |wanted: Phase| case.phases.iter().filter(|&&phase| phase == wanted).count() as u64;
        let (writes, reads) = (count(Phase::Write), count(Phase::Read));
        let whole = |count: u64| workload.footprint().0.saturating_mul(count).saturating_mul(passes);
        let checks = count(Phase::CheckWrite) + count(Phase::CheckRead);
        let reads_of_mixed = moved(half).0 / 100 * u64::from(workload.read_percent);
        Self {
            files: u64::from(files) * sets,
            directories: 0,
            file_bytes: placement.file_bytes(),
            footprint,
            phase_bytes,
            written: Bytes(
                (moved(writes).0 + (moved(half).0 - reads_of_mixed))
                    .saturating_add(whole(count(Phase::Fill)))
                    .saturating_add(conditioned),
            ),
            read: Bytes((moved(reads).0 + reads_of_mixed).saturating_add(whole(checks))),
            files_per_target: (files / targets, files.div_ceil(targets)),
            balance_bound: match workload.files.sharing {
                // In a given time each target moves as much as it can.
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
        let makes = |phase: Phase| match case.phases.contains(&phase) {
            true => workload.operations_of(phase).unwrap_or(0),
            false => 0,
        };
        let (files, directories, file_bytes) = match &workload.work {
            Work::Tree(tree) => {
                let trees = if case.phases.contains(&Phase::TreeCreate) {
                    tree.directories().saturating_mul(tree.trees(workload.tasks))
                } else {
                    0
                };
                let items = makes(Phase::DirectoryCreate).saturating_add(trees);
                (makes(Phase::FileCreate), items, tree.write_bytes)
            }
            Work::Objects(objects) => {
                let sets = u64::from(objects.sets).saturating_mul(u64::from(workload.tasks));
                (sets.saturating_mul(objects.precreated), sets, objects.object_bytes)
            }
            Work::Transfers | Work::Rpc(_) => (0, 0, Bytes(0)),
            Work::Jobs(jobs) => {
                (jobs.loaded_files(), 0, Bytes(jobs.loaded_bytes().0 / jobs.loaded_files().max(1)))
            }
        };
        let moved = |writes: bool| {
            // For launches, reads of the loaded tables are known; writes are not.
            let is_write = |phase: Phase| phase.makes() && phase != Phase::Jobs;
            let phases = case.phases.iter().filter(|phase| is_write(**phase) == writes);
            let bytes = phases.map(|phase| workload.phase_bytes(*phase).0).fold(0, u64::saturating_add);
            Bytes(bytes.saturating_mul(passes))
        };
        let targets = u32::try_from(workload.files.targets.len()).unwrap_or(u32::MAX).max(1);
        Self {
            files: files.saturating_mul(sets),
            directories: directories.saturating_mul(sets),
            file_bytes,
            footprint: Bytes(files.saturating_mul(file_bytes.0).saturating_mul(sets)),
            phase_bytes: workload.bytes(),
            written: moved(true),
            read: moved(false),
            files_per_target: (0, 0),
            // Launches have no targets of their own: they write wherever their space is.
            balance_bound: if workload.work.makes_trees() && workload.work.jobs().is_none() {
                balance_bound(workload.tasks, targets)
            } else {
                1.0
            },
        }
    }

    /// Seconds that all passes and the preconditioning take at `write_rate` and `read_rate` (bytes per
    /// second); a phase ended by the clock counts at most its limit.
    #[must_use]
    pub fn seconds(&self, case: &Case, write_rate: f64, read_rate: f64) -> f64 {
        let limit = case.workload.stonewall.map(|s| s.deadline).or(case.workload.duration);
        let one = |phase: Phase| {
            let rate = if phase.writes() { write_rate } else { read_rate };
            let volume = if phase.is_result() { self.phase_bytes } else { case.workload.footprint() };
            let by_volume = volume.0 as f64 / rate.max(1.0);
            match (case.workload.duration, limit) {
                (Some(duration), _) if phase.is_result() => duration.as_secs_f64(),
                (None, Some(deadline)) if phase.is_result() => by_volume.min(deadline.as_secs_f64()),
                _ => by_volume,
            }
        };
        let pass: f64 = case.phases.iter().map(|&phase| one(phase) + case.delay.as_secs_f64()).sum();
        let conditioned = self.footprint.0 as f64 * f64::from(case.protocol.precondition);
        pass * f64::from(case.passes_max()) + conditioned / write_rate.max(1.0)
    }
}

/// Seconds that each case of `plan` takes at `write_rate` and `read_rate` (bytes per second):
/// [`Forecast::seconds`], plus the fill of files that the case reads or overwrites and that no earlier case
/// has written completely.
#[must_use]
pub fn seconds_per_case(plan: &Plan, write_rate: f64, read_rate: f64) -> Vec<f64> {
    let mut filled = Filled::default();
    let seconds = plan.cases.iter().map(|case| {
        let forecast = Forecast::of(case);
        let filled = filled.before(case, forecast.footprint);
        filled.0 as f64 / write_rate.max(1.0) + forecast.seconds(case, write_rate, read_rate)
    });
    seconds.collect()
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
        let writes = case.phases.iter().any(|phase| matches!(phase, Phase::Write | Phase::Fill));
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
    use super::{balance_bound, seconds_per_case};
    use crate::{Bytes, Case, Existing, Geometry, Nanos, Phase, Plan, Question, WorkloadSpec};

    /// A case that moves 1 GB per phase, limited to 10 s with `clock`.
    fn case(id: &str, phases: &[Phase], clock: bool, change: fn(&mut WorkloadSpec)) -> Case {
        let geometry = Geometry { transfer: Bytes(1_000_000), block: Bytes(1_000_000_000), segments: 1 };
        let mut spec = WorkloadSpec::new(id, "data", geometry);
        spec.files.fill = true;
        spec.duration = clock.then_some(Nanos::secs(10));
        change(&mut spec);
        Case::new(id, spec.validate().expect("valid"), phases.to_vec())
    }

    fn seconds(cases: Vec<Case>) -> Vec<f64> {
        let question = Question::Quick { directory: ".".into() };
        let plan = Plan::new(String::new(), question, 0, cases);
        seconds_per_case(&plan, 100e6, 200e6)
    }

    #[test]
    fn a_fill_is_counted_once_and_only_where_data_is_missing() {
        let read = |id| case(id, &[Phase::Read], true, |_| ());
        assert_eq!(seconds(vec![read("a"), read("b")]), [20.0, 10.0]);
        let write = case("w", &[Phase::Write, Phase::Read], false, |_| ());
        assert_eq!(seconds(vec![write, read("b")]), [15.0, 10.0]);
        let unfilled = case("there", &[Phase::Read], true, |spec| spec.files.fill = false);
        assert_eq!(seconds(vec![unfilled]), [10.0]);
    }

    #[test]
    fn a_write_by_the_clock_does_not_promise_data() {
        let write = case("w", &[Phase::Write], true, |_| ());
        assert_eq!(seconds(vec![write, case("r", &[Phase::Read], true, |_| ())]), [10.0, 20.0]);
    }

    #[test]
    fn files_that_are_written_over_are_made_first() {
        let reuse = |spec: &mut WorkloadSpec| spec.files.existing = Existing::Reuse;
        let write = |id| case(id, &[Phase::Write], true, reuse);
        assert_eq!(seconds(vec![write("a"), write("b")]), [20.0, 10.0]);
    }

    #[test]
    fn published_task_counts_over_twelve_cards() {
        for (tasks, percent) in [(33, 91.7), (66, 91.7), (99, 91.7), (132, 100.0), (264, 100.0)] {
            let bound = balance_bound(tasks, 12) * 100.0;
            assert!((bound - percent).abs() < 0.05, "{tasks} tasks: {bound}");
        }
    }
}
