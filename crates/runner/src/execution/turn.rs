//! A case that alternates with others, and the progress of its passes.

use std::time::Duration;

use plan::{Case, Phase};
use record::PhaseRecord;

use crate::execution::settle::Settling;

/// Progress of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseState {
    /// More passes follow.
    GoesOn,
    /// All passes are done, or the time limit was reached.
    Finished,
    /// The run was stopped before the case was finished.
    Stopped,
}

/// A case that alternates with others, or is the only one of its block.
pub(super) struct CaseTurn<'a> {
    /// Its index in the plan.
    pub(super) index: usize,
    pub(super) case: &'a Case,
    /// Whether an earlier start of a simulated run has finished it.
    pub(super) replayed: bool,
    /// Whether its first pass has started.
    pub(super) begun: bool,
    /// Whether no more passes follow.
    pub(super) is_over: bool,
    pub(super) failed: bool,
    /// Whether checks have found wrong data in its files.
    pub(super) wrong_data: bool,
    /// Phases that an earlier start of the run has measured.
    pub(super) kept: Vec<PhaseRecord>,
    /// Its running time so far.
    pub(super) spent: Duration,
    pub(super) settling: Settling<'a>,
    pub(super) reached: CaseProgress,
}

impl<'a> CaseTurn<'a> {
    pub(super) fn new(index: usize, case: &'a Case) -> Self {
        Self {
            index,
            case,
            replayed: false,
            begun: false,
            is_over: false,
            failed: false,
            wrong_data: false,
            kept: Vec::new(),
            spent: Duration::ZERO,
            settling: Settling::new(case),
            reached: CaseProgress::default(),
        }
    }
}

/// Progress of the phases that create something, if they ended within their first pass.
#[derive(Debug, Default)]
pub(super) struct CaseProgress {
    /// Number of transfers written by each task.
    written: Option<Vec<u64>>,
    /// Number of files created by each task.
    files: Option<Vec<u64>>,
    /// Number of directories created by each task.
    directories: Option<Vec<u64>>,
    /// Number of times that phases have renamed the files.
    pub(super) renamings: u32,
}

impl CaseProgress {
    /// Records the end of `phase`. `partial` is the count of each task if it did less than a pass.
    pub(super) fn after(&mut self, phase: Phase, partial: Option<Vec<u64>>) {
        match phase {
            Phase::Write => self.written = partial,
            Phase::FileCreate => (self.files, self.renamings) = (partial, 0),
            Phase::DirectoryCreate => self.directories = partial,
            Phase::FileRename => self.renamings += 1,
            _ => {}
        }
    }

    /// Maximum number of operations of each task in `phase`: the progress of the task whose data or items
    /// it accesses.
    pub(super) fn limits(&self, case: &Case, phase: Phase, pass: u32) -> Option<Vec<u64>> {
        let each = match phase {
            Phase::FileWrite | Phase::FileStat | Phase::FileRead | Phase::FileRename | Phase::FileRemove => {
                self.files.as_ref()?
            }
            Phase::DirectoryStat | Phase::DirectoryRename | Phase::DirectoryRemove => {
                self.directories.as_ref()?
            }
            Phase::Read | Phase::CheckWrite | Phase::CheckRead => self.written.as_ref()?,
            _ => return None,
        };
        let workload = &case.workload;
        Some((0..workload.tasks).map(|task| each[workload.owner(task, phase, pass) as usize]).collect())
    }
}
