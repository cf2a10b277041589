//! Asks the file systems of the targets which sizes of direct transfers they take.

use engine::EngineError;
use plan::{Bytes, Case};

use crate::RunnerError;
use crate::files::paths::leads_to_device;
use crate::files::targets::place_of;

/// Rejects direct transfers that the file system of a target does not take, or not in their size. Only the file system
/// knows: block devices take whole sectors, and many file systems in user space or over a network take any size. A
/// directory that does not exist yet, or in which no file can be created, is not asked; its first transfer is.
pub(super) fn check_direct(case: &Case) -> Result<(), RunnerError> {
    let workload = &case.workload;
    let sizes: Vec<Bytes> = sizes(case).into_iter().filter(|size| size.0 > 0).collect();
    if !workload.direct || !workload.backend.moves_data() || sizes.is_empty() {
        return Ok(());
    }
    for target in workload.files.targets.iter().filter(|target| !leads_to_device(target)) {
        let directory = place_of(case, target);
        let needed = match host::direct_alignment(&directory) {
            Ok(Some(needed)) => needed,
            Ok(None) => return Err(EngineError::DirectUnsupported { path: target.clone() }.into()),
            Err(error) if error.is_device_error() => return Err(error.into()),
            Err(_) => continue,
        };
        if let Some(&transfer) = sizes.iter().find(|size| !size.0.is_multiple_of(needed)) {
            return Err(EngineError::DirectAlignment {
                path: target.clone(),
                transfer,
                needed: Bytes(needed),
                suggestion: Bytes(transfer.0.next_multiple_of(needed)),
            }
            .into());
        }
    }
    Ok(())
}

/// The sizes of the transfers of `case`, or of its files if each is written and read as a whole.
fn sizes(case: &Case) -> Vec<Bytes> {
    case.workload.work.kind().direct_sizes(&case.workload, &case.phases)
}
