//! The state of a plan execution, and what all of its steps record and report.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use comm::Clock;
use engine::Controls;
use plan::{Case, Placement};
use record::{NodeClock, PhaseKey, Recorder, Warning, WarningRow};

use crate::check::Checked;
use crate::check::overwrites::LostFiles;
use crate::execution::object_steps::ObjectSteps;
use crate::execution::rival::Rivals;
use crate::execution::servers::Servers;
use crate::files::data::WrittenData;
use crate::files::targets;
use crate::ranks::rank_assignment::RankAssignment;
use crate::ranks::rank_group::RankGroup;
use crate::{ErrorKind, Event, RunnerError, Watch};

/// How a run ended.
#[derive(Debug, Default)]
pub struct RunSummary {
    /// The user stopped the run.
    pub interrupted: bool,
    /// The first failed case, and the kind of its error.
    pub failed: Option<(String, ErrorKind)>,
    /// Number of cells with wrong data that checks have found.
    pub wrong_cells: u64,
    /// Number of items of trees that another process modified during the run.
    pub surprises: u64,
    /// Number of launches of jobs that did not complete.
    pub failed_launches: u64,
    /// Largest number of transfers (or created items) of a task in a write phase, for IOR's stonewalling
    /// status file.
    pub most_transfers: u64,
    /// Files that could not be removed at the end.
    pub left_behind: Option<RunnerError>,
}

impl RunSummary {
    /// Adds the results of further cases.
    pub(crate) fn add(&mut self, more: Self) {
        self.interrupted |= more.interrupted;
        self.failed = self.failed.take().or(more.failed);
        self.wrong_cells += more.wrong_cells;
        self.surprises += more.surprises;
        self.failed_launches += more.failed_launches;
        self.most_transfers = self.most_transfers.max(more.most_transfers);
        self.left_behind = self.left_behind.take().or(more.left_behind);
    }
}

/// A plan execution in progress.
pub(super) struct ExecutionState<'a> {
    pub(super) ranks: RankGroup<'a>,
    pub(super) checked: &'a Checked,
    /// The user's files that may be lost.
    pub(super) agreed: &'a LostFiles,
    pub(super) recorder: &'a mut Recorder,
    pub(super) watch: &'a mut dyn Watch,
    pub(super) controls: Arc<Controls>,
    pub(super) written: WrittenData,
    pub(super) object_steps: ObjectSteps,
    pub(super) rivals: &'a Rivals,
    pub(super) servers: &'a Servers,
    /// Number of phases started.
    pub(super) phases: &'a mut u64,
    /// Whether a case of a simulated run that an earlier start has finished is being repeated. Its record is
    /// kept, but the parts of the machine get into the state in which the case leaves them.
    pub(super) replays: bool,
    /// The warning that the record is on a target, until it is recorded.
    pub(super) beside: Option<Warning>,
    /// The summary of the cases so far.
    pub(super) summary: RunSummary,
    /// The clocks of the nodes at each comparison.
    pub(super) comparisons: Vec<Vec<NodeClock>>,
    /// The index of the case whose pass ran last.
    pub(super) last: Option<usize>,
}

impl ExecutionState<'_> {
    pub(super) fn stopped(&self) -> bool {
        self.controls.is_stopped()
    }

    pub(super) fn fail(&mut self, case: &Case, message: &str) -> Result<(), RunnerError> {
        self.recorder.case_failed(&case.id, message)?;
        self.watch.event(&Event::CaseFailed { case, message });
        Ok(())
    }

    pub(super) fn compare_clocks(&mut self) -> Result<Vec<Clock>, RunnerError> {
        let clocks = self.ranks.synchronize()?;
        self.note_clocks(&clocks)?;
        Ok(clocks)
    }

    pub(super) fn note_clocks(&mut self, clocks: &[Clock]) -> Result<(), RunnerError> {
        let names = self.ranks.comm().topology().names().iter();
        let node = |(name, clock): (&String, &Clock)| NodeClock {
            node: name.clone(),
            offset_ns: clock.offset_ns,
            error_ns: clock.error_ns,
        };
        let nodes: Vec<NodeClock> = names.zip(clocks).map(node).collect();
        self.recorder.clocks(&nodes)?;
        self.comparisons.push(nodes);
        Ok(())
    }

    /// Records the drift between the clocks since the first case.
    pub(super) fn note_drift(&mut self) -> Result<(), RunnerError> {
        if !self.checked.nodes.have_clocks() {
            return Ok(());
        }
        let now = self.compare_clocks()?;
        let before = self.checked.nodes.clocks();
        let drift = now.iter().zip(before).map(|(now, before)| now.offset_ns - before.offset_ns);
        self.recorder.clocks_drifted(&drift.collect::<Vec<_>>());
        self.warn_of_clocks()
    }

    /// Warns about nodes whose clock offset is too uncertain to align their time series with those of
    /// others.
    pub(super) fn warn_of_clocks(&mut self) -> Result<(), RunnerError> {
        analysis::figures::uncertain_clocks(&self.comparisons).into_iter().try_for_each(|one| self.warn(one))
    }

    /// The nodes of the files of `case`, if they are node-local.
    pub(super) fn file_nodes(&self, case: &Case) -> FileNodes {
        let is_node_local =
            |target: &PathBuf| targets::is_node_local(&self.checked.local_directories, case, target);
        let topology = self.ranks.comm().topology();
        let targets = &case.workload.files.targets;
        if self.checked.local_directories.is_empty() || !targets.iter().any(is_node_local) {
            return FileNodes(Vec::new());
        }
        // This cannot fail, because the check of the plan has built the same assignment.
        let Ok(assignment) = RankAssignment::of(&case.workload, topology) else {
            return FileNodes(Vec::new());
        };
        let count = Placement::new(&case.workload).file_count();
        let site = |index: u32| match is_node_local(&targets[index as usize % targets.len()]) {
            true => topology.node_of()[assignment.rank_of(index) as usize],
            false => 0,
        };
        FileNodes((0..count).map(site).collect())
    }

    pub(super) fn removed(&mut self, repetition: u32, started: Instant) {
        self.watch.event(&Event::Removed { repetition, seconds: started.elapsed().as_secs_f64() });
    }

    pub(super) fn warn(&mut self, warning: Warning) -> Result<(), RunnerError> {
        self.warn_of(None, warning)
    }

    pub(super) fn warn_of(&mut self, key: Option<PhaseKey>, warning: Warning) -> Result<(), RunnerError> {
        if self.replays {
            return Ok(());
        }
        let row = WarningRow { key, warning };
        self.recorder.warning(&row)?;
        self.watch.event(&Event::Warning(&row));
        Ok(())
    }
}

/// The node of each file of a case, by file number; empty if all nodes see the same files.
pub(super) struct FileNodes(Vec<u32>);

impl FileNodes {
    pub(super) fn of(&self, file: u32) -> u32 {
        self.0.get(file as usize).copied().unwrap_or(0)
    }
}
