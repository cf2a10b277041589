//! What the tasks of cases need in their process.

use std::collections::BTreeSet;

use engine::ProcessNeeds;
use plan::{Case, Plan};

use crate::RunnerError;
use crate::files::trees;

/// Number of files that a task has open while it works on a tree: the root and a directory besides the current file.
const TREE_FILES: u64 = 3;
/// Number of files that are open for a launch: its order, events, errors, counters and end.
const LAUNCH_FILES: u64 = 5;

/// What so many tasks of `case`, which has no jobs, need.
pub(crate) fn of_tasks(case: &Case, tasks: u64) -> ProcessNeeds {
    let (backend, has_trees) = (case.workload.backend, trees::has(case));
    let files = if has_trees { tasks.saturating_mul(TREE_FILES) } else { tasks };
    match (backend.moves_data(), backend.is_queued()) {
        (false, _) => ProcessNeeds::default(),
        (true, false) => ProcessNeeds { open_files: files, threads: tasks },
        (true, true) => {
            let in_flight = if has_trees { tasks.saturating_mul(backend.depth().into()) } else { 0 };
            ProcessNeeds { open_files: files.saturating_add(in_flight), threads: 0 }
        }
    }
}

/// What the cases of `plan` that are not `finished` need, each different need once, and whether it is for launches of jobs.
/// What cases need that run at the same time is added up. `tasks_of` has the number of tasks of a case in this process.
pub(crate) fn of_plan(
    plan: &Plan,
    finished: &BTreeSet<String>,
    tasks_of: impl Fn(&Case) -> Result<u64, RunnerError>,
) -> Result<BTreeSet<(ProcessNeeds, bool)>, RunnerError> {
    let mut all = BTreeSet::new();
    for block in plan.blocks() {
        let cases = &plan.cases[block];
        let mut of_set = ProcessNeeds::default();
        for case in cases.iter().filter(|case| !finished.contains(&case.id)) {
            let tasks = tasks_of(case)?;
            if let Some(jobs) = case.workload.work.jobs() {
                let most = if jobs.concurrency == 0 { tasks } else { tasks.min(u64::from(jobs.concurrency)) };
                let open_files = most.saturating_mul(LAUNCH_FILES);
                all.insert((ProcessNeeds { open_files, threads: most }, true));
            } else if case.concurrent.is_some() {
                of_set = of_set.and(of_tasks(case, tasks));
            } else {
                all.insert((of_tasks(case, tasks), false));
            }
        }
        all.insert((of_set, false));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use engine::ProcessNeeds;
    use plan::{Bytes, Case, Concurrent, Geometry, Nanos, Phase, Plan, PlanSource, Sharing, WorkloadSpec};

    use super::of_plan;

    #[test]
    fn what_runs_at_the_same_time_is_added_up() {
        let case = |(id, tasks): (&str, u32)| {
            let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::kib(4), segments: 1 };
            let mut spec = WorkloadSpec::new(id, id, geometry);
            (spec.tasks, spec.files.sharing) = (tasks, Sharing::PerTask);
            Case::new(id, spec.validate().expect("valid"), vec![Phase::Write])
        };
        let mut cases: Vec<Case> = [("a", 4), ("b", 3), ("c", 2), ("d", 1)].map(case).to_vec();
        for case in &mut cases[1..] {
            let (name, alone, start) = ("set".to_owned(), "a".to_owned(), Nanos(0));
            case.concurrent = Some(Concurrent { name, alone, start });
        }
        let source = PlanSource::Quick { directory: "/".into(), others: Vec::new() };
        let plan = Plan::new("", source, 0, cases);
        let needs = |finished: &[&str]| {
            let finished = finished.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
            let all = of_plan(&plan, &finished, |case| Ok(case.workload.tasks.into())).expect("known");
            let most = all.into_iter().map(|(needs, _)| needs).max();
            most.map(|ProcessNeeds { open_files, threads }| (open_files, threads))
        };
        assert_eq!(needs(&[]), Some((6, 6)));
        assert_eq!(needs(&["b"]), Some((4, 4)), "the set has 3");
    }
}
