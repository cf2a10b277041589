//! One rank's part of a check: what its tasks need and, on the first rank of a node, what the node needs.

use std::ops::Range;
use std::path::{Path, PathBuf};

use comm::Comm;
use engine::ProcessNeeds;
use host::{Host, PermittedDevice, limits};
use plan::Case;
use record::Leftover;

use crate::RunnerError;
use crate::check::direct::check_direct;
use crate::check::overwrites::{Replaced, replaced};
use crate::check::path_conflicts::{check_apart, check_in_use, check_names, check_targets, check_there};
use crate::check::present_files::CaseInBlock;
use crate::check::process_needs;
use crate::check::space::SpaceCheck;
use crate::check::tree_roots::check_roots;
use crate::files::file_sets::{FileSets, unfinished};
use crate::files::targets::{is_node_local, writes};
use crate::ranks::order::{CheckFindings, CheckRequest};
use crate::ranks::rank_assignment::{RankAssignment, RootOwners};

/// Number of files that the program itself has open: streams, record, journal, counters, rings.
const OWN_FILES: u64 = 64;

/// One rank's part of a check.
pub(crate) struct RankCheck<'a> {
    pub(crate) request: &'a CheckRequest,
    pub(crate) host: &'a Host,
    pub(crate) comm: &'a dyn Comm,
}

impl RankCheck<'_> {
    /// Checks what this rank's tasks need and, on the first rank of a node, what the node needs. Returns the
    /// values that rank 0 evaluates for all ranks, and the leftovers of runs here.
    ///
    /// # Errors
    /// Returns what the host lacks or rejects, with the next step.
    pub(crate) fn check(
        &self,
        permits: &mut Vec<PermittedDevice>,
    ) -> Result<(CheckFindings, Vec<Leftover>), RunnerError> {
        let CheckRequest { plan, run_id, finished, local_directories, .. } = self.request;
        let (topology, rank) = (self.comm.topology(), self.comm.rank());
        let node = topology.node_of()[rank as usize];
        let leads = topology.is_leader(rank);
        for case in FileSets::of_unfinished(plan, finished).cases() {
            let assignment = RankAssignment::of(&case.workload, topology)?;
            let nodes = assignment.nodes(topology);
            let tasks = assignment.tasks_of(rank);
            if leads && nodes.contains(&node) {
                check_targets(case, plan, self.host, &tasks, nodes.len(), permits)?;
                check_direct(case)?;
            }
            match writes(case) {
                true => check_names(case, &tasks)?,
                false => check_there(case, plan, &tasks)?,
            }
        }
        if leads {
            check_apart(plan, finished)?;
        }
        let places = |case: &Case| {
            let assignment = RankAssignment::of(&case.workload, topology)?;
            let owners = RootOwners { case, assignment: &assignment, topology, local_directories };
            Ok(owners.all_roots_of(rank))
        };
        check_roots(unfinished(plan, finished), run_id, places)?;
        let checked = SpaceCheck { host: self.host, node, local_directories };
        let mut space = checked.files_and_trees(&self.blocks_with_tasks()?)?;
        space.add(checked.jobs(unfinished(plan, finished))?);
        self.check_limits()?;
        let looks_in =
            |directory: &Path| rank == 0 || (leads && local_directories.iter().any(|own| own == directory));
        let leftovers = check_in_use(plan, run_id, true, looks_in)?;
        let of_this_run: Vec<Leftover> =
            leftovers.iter().filter(|leftover| leftover.claim.run_id == *run_id).cloned().collect();
        let replaced = (rank > 0 && leads && !local_directories.is_empty())
            .then(|| self.replaced(&of_this_run))
            .flatten()
            .map(|files| (files.files, files.bytes.0, files.first));
        Ok((CheckFindings { space, replaced }, leftovers))
    }

    /// The user's files that will be lost in this node's own directories.
    fn replaced(&self, leftovers: &[Leftover]) -> Option<Replaced> {
        let mut plan = self.request.plan.clone();
        plan.cases.retain(|case| {
            let is_own = |target: &PathBuf| is_node_local(&self.request.local_directories, case, target);
            !self.request.finished.contains(&case.id) && case.workload.files.targets.iter().any(is_own)
        });
        replaced(&plan, leftovers)
    }

    /// The unfinished cases with files, each with the number of its block in the plan and the tasks of this rank.
    fn blocks_with_tasks(&self) -> Result<Vec<CaseInBlock<'_>>, RunnerError> {
        let CheckRequest { plan, finished, .. } = self.request;
        let blocks = plan.blocks().enumerate();
        let cases =
            blocks.flat_map(|(number, block)| plan.cases[block].iter().map(move |case| (number, case)));
        let has_files = |case: &Case| case.workload.backend.moves_data() && !finished.contains(&case.id);
        let cases = cases.filter(|(_, case)| has_files(case));
        cases.map(|(number, case)| Ok((number, case, self.tasks(case)?))).collect()
    }

    /// The tasks of `case` that this rank runs.
    fn tasks(&self, case: &Case) -> Result<Range<u32>, RunnerError> {
        Ok(RankAssignment::of(&case.workload, self.comm.topology())?.tasks_of(self.comm.rank()))
    }

    /// Checks each limit once, because each query reads kernel files.
    fn check_limits(&self) -> Result<(), RunnerError> {
        let CheckRequest { plan, finished, .. } = self.request;
        let all = process_needs::of_plan(plan, finished, |case| Ok(self.tasks(case)?.len() as u64))?;
        for (ProcessNeeds { open_files, threads }, of_jobs) in all {
            let open_files = open_files.saturating_add(OWN_FILES);
            limits::check(self.host.root(), limits::Needs { open_files, locked_bytes: 0, threads, of_jobs })?;
        }
        Ok(())
    }
}
