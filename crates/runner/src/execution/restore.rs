//! Restores the data of cases that a resumed run skips, for the cases that need it.

use plan::{Case, Existing, Phase};

use crate::RunnerError;
use crate::execution::phases::PhasePreconditions;
use crate::execution::state::ExecutionState;
use crate::files::{paths, trees};
use crate::ranks::order::{Answer, Order, Prepare};

impl ExecutionState<'_> {
    /// Rewrites the data of a skipped case if `case` (at `index` in the plan) relies on it, because all
    /// files of a run are removed when it ends. The fill belongs to `case` and is not part of the results;
    /// the record contains the skipped case only as it was measured. If `case` `goes_on` after passes of
    /// its own, these may have written the data.
    pub(super) fn restore(&mut self, index: usize, case: &Case, goes_on: bool) -> Result<(), RunnerError> {
        if case.workload.work.objects().is_some() {
            return self.restore_objects(index, case);
        }
        let checked = self.checked;
        if (checked.finished.is_empty() && !goes_on) || !relies_on_others(case) {
            return Ok(());
        }
        let skipped = checked.plan.cases[..=index].iter().enumerate().rev();
        let mut skipped = skipped
            .filter(|(place, other)| checked.finished.contains(&other.id) || goes_on && *place == index);
        let Some((writer, by)) = skipped.find(|(_, other)| has_written_for(other, case)) else {
            return Ok(());
        };
        if !matches!(self.ranks.order(&Order::Lacks { case: index })?, Answer::Lacking(true)) {
            return Ok(());
        }
        for set in 0..paths::sets(by) {
            if self.stopped() {
                break;
            }
            self.fill(index, writer, set)?;
        }
        Ok(())
    }

    /// Recreates the objects of a skipped case if `case` works on them or removes them.
    fn restore_objects(&mut self, index: usize, case: &Case) -> Result<(), RunnerError> {
        let checked = self.checked;
        let mut skipped = checked.plan.cases[..index].iter().enumerate().rev();
        let maker = skipped.find(|(_, other)| {
            checked.finished.contains(&other.id)
                && trees::makes(other)
                && other.workload.roots(0) == case.workload.roots(0)
        });
        let Some((maker, other)) = maker.filter(|_| !trees::makes(case)) else { return Ok(()) };
        if !matches!(self.ranks.order(&Order::Lacks { case: index })?, Answer::Lacking(true)) {
            return Ok(());
        }
        for pass in 0..paths::sets(other) {
            let order =
                Prepare { case: maker, pass, replace: false, directories: false, trees: true, data: None };
            self.ranks.order(&Order::Prepare(order))?;
            self.phase(index, Some(maker), Phase::Precreate, pass, PhasePreconditions::default())?;
        }
        Ok(())
    }
}

/// Whether the result of `case` depends on data in its files that it does not write itself.
fn relies_on_others(case: &Case) -> bool {
    if !case.workload.work.is_transfers() {
        return false;
    }
    let files = &case.workload.files;
    let reads = case.phases.first().is_some_and(|phase| phase.needs_data());
    let alone = files.fill || case.protocol.wipe || case.protocol.precondition > 0;
    case.workload.backend.moves_data() && !alone && (reads || files.existing == Existing::Reuse)
}

/// Whether `other` has left data in files of `case`.
fn has_written_for(other: &Case, case: &Case) -> bool {
    let (files, own) = (&other.workload.files, &case.workload.files);
    let writes =
        other.phases.iter().any(|phase| phase.only_writes()) || files.fill || other.protocol.precondition > 0;
    let same = (files.sharing, files.unique_dir, files.file_per_repetition)
        == (own.sharing, own.unique_dir, own.file_per_repetition);
    writes
        && same
        && other.layout == case.layout
        && files.targets == own.targets
        && other.workload.backend.moves_data()
}
