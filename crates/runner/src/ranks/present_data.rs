//! Whether the files of a rank contain what a case will read.

use std::ops::Range;

use host::files::{require_data, require_written};
use plan::{Case, Placement};

use crate::RunnerError;
use crate::ranks::order::KnownContent;
use crate::ranks::rank_assignment::files_of;

/// Whether every file of `tasks` contains the data that the case will read.
///
/// # Errors
/// Errors if a file does not, and the case does not permit a fill.
pub(crate) fn has_data(
    case: &Case,
    tasks: &Range<u32>,
    pass: u32,
    known: &KnownContent,
) -> Result<bool, RunnerError> {
    let bytes = Placement::new(&case.workload).bytes_to_read().get();
    let is_in = |ranges: &[Range<u32>], number| ranges.iter().any(|range| range.contains(&number));
    // If the case itself wrote only a part, it reads only that part. What another case wrote is read as a whole.
    let completes = case.workload.files.fill && !case.phases.iter().any(|phase| phase.writes());
    for slot in files_of(&case.workload, tasks, pass) {
        if is_in(&known.partial, slot.index) {
            if completes {
                return Ok(false);
            }
            continue;
        }
        let there = match is_in(&known.discarded, slot.index) {
            true => Err(RunnerError::Target {
                path: slot.path,
                problem: "was discarded and has not been written since".to_owned(),
                help: "put a write phase first, or let a fill phase write it".to_owned(),
            }),
            false if is_in(&known.written, slot.index) => {
                require_written(&slot.path, bytes).map(drop).map_err(RunnerError::from)
            }
            false => require_data(&slot.path, bytes).map_err(RunnerError::from),
        };
        match there {
            Ok(()) => {}
            Err(_) if case.workload.files.fill => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
