//! What a study asks for but a run on a model does not do.

use std::collections::BTreeSet;

use plan::Plan;

use super::SimulatedMachine;

impl SimulatedMachine {
    /// Describes what `plan` asks for in addition to its phases and a run on a model does not do.
    #[must_use]
    pub fn left_out(plan: &Plan) -> Vec<String> {
        let layouts: BTreeSet<&str> = plan.layouts.iter().map(|layout| layout.name.as_str()).collect();
        let collecting = plan.criteria.targets.iter().filter(|target| !target.server_collect.is_empty());
        let collecting: BTreeSet<&str> = collecting.map(|target| target.name.as_str()).collect();
        let recorded = plan.cases.iter().filter(|case| case.workload.history.is_some());
        let recorded: BTreeSet<&str> = recorded.map(|case| case.group.as_str()).collect();
        let mut told = of_jobs(plan);
        if !recorded.is_empty() {
            told.push(format!(
                "`history` of {} records nothing: a model has no operations of a kernel to show one by one",
                named(&recorded)
            ));
        }
        if !layouts.is_empty() {
            told.push(format!(
                "layouts of the study are not created ({}): a target is on the layout of the model that \
                 matches its name",
                named(&layouts)
            ));
        }
        if !collecting.is_empty() {
            told.push(format!(
                "commands of `server_collect` are not run (target {}): a model has no servers to query",
                named(&collecting)
            ));
        }
        told
    }
}

/// Describes what the jobs of `plan` ask for and a run on a model does not do.
fn of_jobs(plan: &Plan) -> Vec<String> {
    let jobs = || plan.cases.iter().filter_map(|case| Some((case, case.workload.work.jobs()?)));
    let limited = jobs().flat_map(|(_, jobs)| &jobs.tests).filter(|test| test.memory_max.is_some());
    let limited: BTreeSet<&str> = limited.map(|test| test.name.as_str()).collect();
    let buffered = jobs().filter(|(_, jobs)| !jobs.direct);
    let buffered: BTreeSet<&str> = buffered.map(|(case, _)| case.id.as_str()).collect();
    let mut told = Vec::new();
    if !limited.is_empty() {
        told.push(format!(
            "`memory_max` of jobs is not enforced (test {}): a launch on a model uses the memory that its \
             steps request",
            named(&limited)
        ));
    }
    if !buffered.is_empty() {
        told.push(format!(
            "jobs with `direct = false` read nothing from the page cache (case {}): all of their reads on a model go \
             to the devices",
            named(&buffered)
        ));
    }
    told
}

fn named(names: &BTreeSet<&str>) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
