//! The plan of `ioproof run STUDY --probe`: short passes as those cases of a study make them that take most of
//! its time, on little data of their own, so that the study's time can be predicted from them.

use std::path::Path;

use crate::{
    Bytes, Case, CaseEstimate, Existing, FileSet, Geometry, Nanos, Phase, Plan, PlanError, PlanSource,
    Sharing, WorkloadSpec,
};

/// Cases that are probed in a directory at most.
const CASES_MAX: usize = 3;
/// Each pass.
pub const PASS: Nanos = Nanos::millis(300);
/// The data of a case, where its tasks have room for two transfers each in it.
const SIZE: u64 = 64 << 20;
/// A case that needs more is not probed.
const SIZE_MAX: u64 = 512 << 20;

/// The plan, from `cases` and what they take; `predicts` says whether the rates of the first case are enough for
/// the second. None where nothing of them can be probed: transfers through the page
/// cache, whose first moments say nothing of the rest, and works other than transfers.
///
/// # Errors
/// The short form of a case is no valid workload.
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
    let question = PlanSource::Quick { directory: directory.to_owned() };
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
        // Passes end by the clock, and reads need data.
        fill: true,
        ..spec.files
    };
    (spec.tasks, spec.order, spec.backend) = (workload.tasks, workload.order, workload.backend);
    (spec.direct, spec.sync, spec.sync_open) = (true, workload.sync, workload.sync_open);
    (spec.read_percent, spec.duration, spec.signature) = (workload.read_percent, Some(PASS), seed);
    let phases: Vec<Phase> = case.phases.iter().copied().filter(|phase| phase.is_result()).collect();
    Ok(Case { title: case.title.clone(), ..Case::new(id, spec.validate()?, phases) })
}
