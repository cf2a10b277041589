//! The data of cases that a resumed run skips, for the cases that need it.

use std::fs;

use host::files::require_data;
use plan::{Backend, Case, Existing, Phase, Placement};

use super::Life;
use crate::RunnerError;
use crate::check::Checked;
use crate::cleanup;

impl Life<'_> {
    /// Writes again what a case that is skipped had written, where `case` (at `index` in the plan)
    /// relies on it and it is gone, as all files of a run are when it ends. That is a fill within
    /// `case`, outside the results: the record has the skipped case once, as it was measured.
    pub(super) fn restore(
        &mut self,
        index: usize,
        case: &Case,
        checked: &Checked,
    ) -> Result<(), RunnerError> {
        if checked.finished.is_empty() || !relies_on_others(case) || !lacks_data(case) {
            return Ok(());
        }
        let skipped = checked.plan.cases[..index].iter().rev();
        let mut skipped = skipped.filter(|other| checked.finished.contains(&other.id));
        let Some(writer) = skipped.find(|other| has_written_for(other, case)) else { return Ok(()) };
        for set in 0..cleanup::sets(writer) {
            if self.stopped() {
                break;
            }
            self.fill_like(case, writer, set, checked)?;
        }
        Ok(())
    }
}

/// Whether what stands in the files before `case` makes a difference to it, and it does not see to
/// that itself.
fn relies_on_others(case: &Case) -> bool {
    let files = &case.workload.files;
    let reads = case.phases.first().is_some_and(|phase| phase.needs_data());
    let alone = files.fill || case.protocol.wipe || case.protocol.precondition > 0;
    case.workload.backend != Backend::Null && !alone && (reads || files.existing == Existing::Reuse)
}

/// Whether a file of the first pass is missing, or has less data than the case will read.
fn lacks_data(case: &Case) -> bool {
    let placement = Placement::new(&case.workload);
    let reads = case.phases.first().is_some_and(|phase| phase.needs_data());
    let bytes = if reads { placement.file_bytes().get() } else { 0 };
    placement.files(0).iter().any(|slot| match reads {
        true => require_data(&slot.path, bytes).is_err(),
        false => fs::metadata(&slot.path).is_err(),
    })
}

/// Whether `other` left data in files of `case`.
fn has_written_for(other: &Case, case: &Case) -> bool {
    let (files, own) = (&other.workload.files, &case.workload.files);
    let writes = other.phases.iter().any(|phase| matches!(phase, Phase::Write | Phase::Fill))
        || files.fill
        || other.protocol.precondition > 0;
    let same = (files.sharing, files.unique_dir, files.file_per_repetition)
        == (own.sharing, own.unique_dir, own.file_per_repetition);
    writes && same && files.targets == own.targets && other.workload.backend != Backend::Null
}
