//! The input of [`crate::run`].

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use plan::{Nanos, Phase, Workload};

use crate::MadeFiles;

/// The generations of data that a check accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// Any generation with the run's signature.
    Any,
    /// A generation from this range; an older one is stale.
    Generations(RangeInclusive<u16>),
}

/// The data to write and to expect when reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSpec {
    /// Determines all bytes. Data with another signature counts as foreign.
    pub signature: u64,
    /// Stamped into every cell that this phase writes. Increase it from one write phase to the next.
    pub write_generation: u16,
    /// The generations a check accepts.
    pub expect: Expect,
}

/// The number of transfers per task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransferLimit<'a> {
    /// One pass over the task's region, or as many as fit until the clock ends the phase.
    #[default]
    Pass,
    /// Exactly this many, at most one pass: the count of an earlier write that was ended by a stonewall
    /// (IOR's status file). The clock does not end the phase.
    Exactly(u64),
    /// Like `Exactly`, with one count for each task of [`PhaseJob::tasks`], in order. Used to read data back
    /// after a stonewall without wear-out.
    PerTask(&'a [u64]),
}

/// What phases need in a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessNeeds {
    /// Number of files open at the same time.
    pub open_files: u64,
    /// Number of threads at the same time.
    pub threads: u64,
}

impl ProcessNeeds {
    /// What both need at the same time.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            open_files: self.open_files.saturating_add(other.open_files),
            threads: self.threads.saturating_add(other.threads),
        }
    }
}

/// The part of one phase of one workload that runs in this process.
#[derive(Debug, Clone)]
pub struct PhaseJob<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// The phase. The clock (duration, stonewall, pace) applies only to phases whose figures are results
    /// ([`Phase::is_result`]). A fill or a check always completes one pass.
    pub phase: Phase,
    /// The repetition, from 0; determines file names and shuffles.
    pub repetition: u32,
    /// The tasks of this process, a subrange of `0..workload.tasks`.
    pub tasks: Range<u32>,
    /// For exchanges: the number of this process's endpoint. Ignored by other workloads.
    pub end: u32,
    /// Number of processes on this host that run part of the tasks, including this one. Their combined
    /// needs must fit the host, and they share its processors.
    pub processes_here: u32,
    /// What other phases need that run at the same time in this process.
    pub beside: ProcessNeeds,
    /// Files that this phase creates. If one of them exists when it is opened, someone else has put it there.
    pub new_files: &'a BTreeSet<PathBuf>,
    /// The files that the run has created, which are recognised when they are opened again. If unset, nothing is looked
    /// at before a file is opened.
    pub made: Option<&'a MadeFiles>,
    /// Links that the user has named as files. No other link is followed, because it appeared after the run had begun.
    pub links: &'a BTreeSet<PathBuf>,
    /// The data to write and to expect.
    pub data: DataSpec,
    /// Number of transfers per task; for trees, the number of the owner's items that the task touches.
    pub limit: TransferLimit<'a>,
    /// How often earlier phases of this pass have renamed the files of a tree in a ring.
    pub renamings: u32,
    /// For each task of the run, by number: steps it has done in each set since its objects were created.
    /// For tasks without an entry, the steps of an earlier run are used ([`plan::Objects::first`]).
    pub steps_before: &'a [u64],
    /// Length of one interval of the series.
    pub series_interval: Nanos,
    /// Whether the latency of each transfer and the series are recorded. Only disabled to measure the
    /// cost of recording.
    pub instrument: bool,
}

static NO_FILES: BTreeSet<PathBuf> = BTreeSet::new();

impl<'a> PhaseJob<'a> {
    /// Creates a job with these defaults: all tasks in this process, files that may exist and are no links,
    /// generation 1, any data accepted, one pass, one-second series.
    #[must_use]
    pub fn new(workload: &'a Workload, phase: Phase, repetition: u32) -> Self {
        Self {
            workload,
            phase,
            repetition,
            tasks: 0..workload.tasks,
            end: 0,
            processes_here: 1,
            beside: ProcessNeeds::default(),
            new_files: &NO_FILES,
            made: None,
            links: &NO_FILES,
            data: DataSpec { signature: workload.signature, write_generation: 1, expect: Expect::Any },
            limit: TransferLimit::Pass,
            renamings: 0,
            steps_before: &[],
            series_interval: Nanos::secs(1),
            instrument: true,
        }
    }
}
