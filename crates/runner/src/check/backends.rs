//! Replaces the backend of a case if it is not available on the host.

use plan::{Backend, Bytes, Case, Plan, Sharing, Spread, Workload, WorkloadSpec};
use record::{Warning, WarningRow};

use crate::RunnerError;

/// Replaces io_uring by psync if io_uring is not available and the user did not ask for it by name.
pub(crate) fn replace_backends(
    mut plan: Plan,
    missing: Option<String>,
    warnings: &mut Vec<WarningRow>,
) -> Result<Plan, RunnerError> {
    let wanted = |case: &Case| case.workload.backend.capabilities().needs_uring;
    let Some(first) = plan.cases.iter().find(|case| wanted(case)) else { return Ok(plan) };
    let Some(missing) = missing else { return Ok(plan) };
    let asked = first.workload.backend;
    for case in plan.cases.iter_mut().filter(|case| wanted(case)) {
        if !case.workload.backend.is_replaceable() {
            return Err(RunnerError::UringMissing { reason: missing });
        }
        case.workload = with_threads(&case.workload)?;
    }
    warnings.push(backend_warning(asked, missing));
    Ok(plan)
}

fn backend_warning(asked: Backend, reason: String) -> WarningRow {
    let warning = Warning::BackendReplaced {
        asked: format!("io_uring with depth {}", asked.depth()),
        used: "psync, with one task per transfer in flight if the file is shared".to_owned(),
        reason,
    };
    WarningRow::of_run(warning)
}

/// Keeps the number of transfers in flight by using a task for each of them: in a shared file if the block
/// can be divided evenly, otherwise with one file per task.
fn with_threads(workload: &Workload) -> Result<Workload, RunnerError> {
    let mut spec: WorkloadSpec = workload.clone().into();
    let depth = spec.backend.depth();
    spec.backend = Backend::plain();
    if let Some(rpc) = spec.work.rpc_mut() {
        // Plain calls have one request in flight per connection.
        rpc.connections = rpc.connections.saturating_mul(depth);
        spec.tasks = rpc.tasks();
        return Ok(spec.validate()?);
    }
    let share = u64::from(depth) * spec.geometry.transfer.get();
    if spec.files.sharing == Sharing::Shared && spec.geometry.block.get() >= share {
        let block = spec.geometry.block.get() / share * spec.geometry.transfer.get();
        spec.geometry.block = Bytes(block);
        // A number that is too large is rejected later; it must not wrap here.
        spec.tasks = spec.tasks.saturating_mul(depth);
        if let Spread::Ranks { tasks_per_rank } = &mut spec.spread {
            *tasks_per_rank = tasks_per_rank.saturating_mul(depth);
        }
    }
    Ok(spec.validate()?)
}
