//! Rules that depend on the kind of target.

use crate::cases::criteria::SERVER_MEMORY_MULTIPLE;
use crate::{Bytes, Case, Forecast, Layer, PlanError, ReadFrom, Sharing, TargetDescription};

/// Node-local storage cannot hold a file shared by several nodes, and a node cannot read data written by
/// another.
///
/// # Errors
/// Errors if the case asks for a shared file of several tasks or, on several nodes, for reading back what
/// other tasks have written.
pub fn node_local_rule(case: &Case, target: &TargetDescription) -> Result<(), PlanError> {
    let (workload, nodes) = (&case.workload, case.workload.nodes);
    if target.layer != Layer::NodeLocal {
        return Ok(());
    }
    if let Some(tree) = workload.work.tree() {
        if nodes > 1 && !tree.own_trees {
            return Err(PlanError::new(
                "own_trees",
                format!(
                    "tasks on {nodes} nodes cannot share a tree on `{}`, which is node-local",
                    target.name
                ),
                "write own_trees = true (mdtest: -u), or run on one node",
            ));
        }
        if nodes > 1 && (tree.shift > 0 || tree.collective) {
            return Err(PlanError::new(
                if tree.shift > 0 { "shift" } else { "collective" },
                format!(
                    "tasks cannot reach the trees of other nodes on `{}`, which is node-local",
                    target.name
                ),
                "let each task create its own tree and access its own items",
            ));
        }
        return Ok(());
    }
    if let Some(objects) = workload.work.objects() {
        if nodes > 1 && objects.offset > 0 {
            return Err(PlanError::new(
                "offset",
                format!(
                    "tasks cannot reach the objects of other nodes on `{}`, which is node-local",
                    target.name
                ),
                "write offset = 0, or run on one node",
            ));
        }
        return Ok(());
    }
    if !workload.work.is_transfers() {
        return Ok(());
    }
    if workload.files.sharing == Sharing::Shared && workload.tasks > 1 {
        return Err(PlanError::new(
            "sharing",
            format!("{} tasks cannot share a file on `{}`, which is node-local", workload.tasks, target.name),
            "tasks on another node would have their own file anyway: write sharing = \"per-task\"",
        ));
    }
    if nodes > 1 && workload.read_from != ReadFrom::Same && case.phases.iter().any(|phase| phase.needs_data())
    {
        return Err(PlanError::new(
            "read_from",
            format!(
                "data of other tasks cannot be read across {nodes} nodes: `{}` is node-local",
                target.name
            ),
            "write read_from = \"same\", or run on one node",
        ));
    }
    Ok(())
}

/// Data must be [`SERVER_MEMORY_MULTIPLE`] times the memory of the servers, so that they cannot serve it from
/// memory (study D).
///
/// # Errors
/// Errors if the files of the case are smaller.
pub fn server_memory_rule(case: &Case, target: &TargetDescription) -> Result<(), PlanError> {
    let Some(memory) = target.server_memory else { return Ok(()) };
    let needed = Bytes(memory.0.saturating_mul(SERVER_MEMORY_MULTIPLE));
    let forecast = Forecast::of(case);
    let footprint = forecast.footprint;
    if footprint >= needed || !case.phases.iter().any(|phase| phase.is_result()) {
        return Ok(());
    }
    let each = Bytes(needed.0.div_ceil(forecast.files.max(1)));
    let files = match forecast.files {
        1 => format!("one file of {} bytes or more", each.0),
        files => format!("{files} files of {} bytes or more each", each.0),
    };
    Err(PlanError::new(
        "size",
        format!(
            "{} of data are less than {SERVER_MEMORY_MULTIPLE} times the {} of memory of the servers of `{}`",
            footprint.both_units(),
            memory,
            target.name
        ),
        format!("{} are needed: {files}", needed.both_units()),
    ))
}

#[cfg(test)]
mod tests {
    use super::{node_local_rule, server_memory_rule};
    use crate::{
        Bytes, Case, Geometry, Layer, Phase, PlanError, ReadFrom, Sharing, TargetDescription, WorkloadSpec,
    };

    fn case(change: impl FnOnce(&mut WorkloadSpec)) -> Case {
        let geometry = Geometry { transfer: Bytes::mib(1), block: Bytes::gib(32), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "f", geometry);
        spec.tasks = 12;
        spec.files.sharing = Sharing::PerTask;
        change(&mut spec);
        Case::new("w", spec.validate().expect("valid"), vec![Phase::Write, Phase::Read])
    }

    fn field(result: Result<(), PlanError>) -> Option<&'static str> {
        result.err().map(|error| error.field)
    }

    #[test]
    fn node_local_storage_has_no_shared_files_and_no_reading_across_nodes() {
        let local = TargetDescription { layer: Layer::NodeLocal, ..TargetDescription::default() };
        let shared = case(|spec| spec.files.sharing = Sharing::Shared);
        assert_eq!(field(node_local_rule(&shared, &local)), Some("sharing"));
        assert_eq!(field(node_local_rule(&shared, &TargetDescription::default())), None, "another layer");
        let shift = |nodes| case(|spec| (spec.read_from, spec.nodes) = (ReadFrom::Shift { tasks: 1 }, nodes));
        assert_eq!(field(node_local_rule(&shift(1), &local)), None, "the neighbour is on the same node");
        assert_eq!(field(node_local_rule(&shift(2), &local)), Some("read_from"));
        assert_eq!(field(node_local_rule(&case(|spec| spec.nodes = 2), &local)), None);
    }

    #[test]
    fn six_servers_of_64_gib_need_one_and_a_half_tib() {
        let servers =
            TargetDescription { server_memory: Some(Bytes::gib(6 * 64)), ..TargetDescription::default() };
        let error = server_memory_rule(&case(|_| ()), &servers).unwrap_err();
        assert!(error.help.starts_with("1.50 TiB"), "{}", error.help);
        assert_eq!(field(server_memory_rule(&case(|spec| spec.tasks = 48), &servers)), None, "48 × 32 GiB");
        assert_eq!(field(server_memory_rule(&case(|_| ()), &TargetDescription::default())), None);
    }
}
