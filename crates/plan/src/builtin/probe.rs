//! The plan of `ioproof run STUDY --probe`: short passes like those of the study's most expensive cases, on a
//! small data set of their own, from which the study's duration can be predicted.

use std::path::Path;

use crate::{
    Bytes, Case, CaseEstimate, Existing, FileSet, Geometry, Nanos, Phase, Plan, PlanError, PlanSource,
    Sharing, WorkloadSpec,
};

/// Maximum number of cases that are probed in a directory.
const CASES_MAX: usize = 3;
/// Duration of each pass.
pub const PASS: Nanos = Nanos::millis(300);
/// Data size of a case, if its tasks have room for two transfers each.
const SIZE: u64 = 64 << 20;
/// A case that needs more than this is not probed.
const SIZE_MAX: u64 = 512 << 20;

/// The plan, from `cases` and their predicted durations. `predicts` tells whether the rates of its first case
/// are sufficient for its second. Returns `None` if none of them can be probed: transfers through the page
/// cache, whose first moments are not representative, and work other than transfers.
///
/// # Errors
/// Errors if the short form of a case is not a valid workload.
pub fn plan(
    directory: &Path,
    cases: &[(&Case, &CaseEstimate)],
    predicts: impl Fn(&Case, &Case) -> bool,
    seed: u64,
) -> Result<Option<Plan>, PlanError> {
    let mut sorted: Vec<_> = cases.iter().filter(|(case, _)| can_be_probed(case)).collect();
    sorted.sort_by(|(_, one), (_, other)| other.seconds.middle.total_cmp(&one.seconds.middle));
    let mut chosen: Vec<&Case> = Vec::new();
    for (case, _) in sorted {
        if chosen.len() < CASES_MAX && !chosen.iter().any(|other| predicts(other, case)) {
            chosen.push(case);
        }
    }
    if chosen.is_empty() {
        return Ok(None);
    }
    let short = chosen.iter().enumerate().map(|(place, case)| short(directory, case, place, seed));
    let title = format!("Probe of {}", directory.display());
    let question = PlanSource::Quick { directory: directory.to_owned(), others: Vec::new() };
    Ok(Some(Plan::new(title, question, seed, short.collect::<Result<_, _>>()?)))
}

fn can_be_probed(case: &Case) -> bool {
    let workload = &case.workload;
    workload.work.is_transfers()
        && workload.direct
        && workload.nodes == 1
        && workload.pace.is_none()
        && bytes_of_task(case).checked_mul(u64::from(workload.tasks)).is_some_and(|bytes| bytes <= SIZE_MAX)
}

/// Whole transfers, at least two.
fn bytes_of_task(case: &Case) -> u64 {
    let transfer = case.workload.geometry.transfer.0.max(1);
    let transfers = SIZE / u64::from(case.workload.tasks.max(1)) / transfer;
    transfers.max(2).saturating_mul(transfer)
}

fn short(directory: &Path, case: &Case, place: usize, seed: u64) -> Result<Case, PlanError> {
    let workload = &case.workload;
    let block = Bytes(bytes_of_task(case));
    let geometry = Geometry { transfer: workload.geometry.transfer, block, segments: 1 };
    let id = format!("probe-{place}");
    let file = directory.join(format!("ioproof-probe-{seed:016x}-{place}.data"));
    let mut spec = WorkloadSpec::new(&id, file, geometry);
    spec.files = FileSet {
        sharing: match workload.files.sharing {
            Sharing::PerTask => Sharing::PerTask,
            _ => Sharing::Shared,
        },
        existing: Existing::Reuse,
        // Passes end by the clock, and reads need existing data.
        fill: true,
        ..spec.files
    };
    (spec.tasks, spec.order, spec.backend) = (workload.tasks, workload.order, workload.backend);
    (spec.direct, spec.sync, spec.sync_open) = (true, workload.sync, workload.sync_open);
    (spec.read_percent, spec.duration, spec.signature) = (workload.read_percent, Some(PASS), seed);
    let phases: Vec<Phase> = case.phases.iter().copied().filter(|phase| phase.is_result()).collect();
    Ok(Case { title: case.title.clone(), ..Case::new(id, spec.validate()?, phases) })
}
