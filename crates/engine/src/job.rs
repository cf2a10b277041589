//! What [`crate::run`] is asked to do.

use std::ops::{Range, RangeInclusive};

use plan::{Nanos, Phase, Workload};

/// Which generations of data a check takes for right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// Any generation with our signature.
    Any,
    /// A generation from this range; an older one is stale.
    Generations(RangeInclusive<u16>),
}

/// The data that is written and expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSpec {
    /// Chooses all bytes; data with another signature is foreign.
    pub signature: u64,
    /// Stamped into every cell that this phase writes; raise it from one write phase to the next.
    pub write_generation: u16,
    /// What a check accepts.
    pub expect: Expect,
}

/// How many transfers each task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransferLimit<'a> {
    /// One pass over the task's region, or what the clock allows.
    #[default]
    Pass,
    /// Exactly so many, at most one pass: what an earlier stonewalled write reached (IOR's status
    /// file). The clock does not end the phase.
    Exactly(u64),
    /// As `Exactly`, but its own number for each task of [`PhaseJob::tasks`], in their order: for
    /// reading back what a stonewall without wear-out left.
    PerTask(&'a [u64]),
}

/// One phase of one workload, as far as it runs in this process.
#[derive(Debug, Clone)]
pub struct PhaseJob<'a> {
    /// What the tasks do.
    pub workload: &'a Workload,
    /// Which phase. The clock (duration, stonewall, pace) rules only in phases whose figures are
    /// results ([`Phase::is_result`]); a fill or a check always goes through one pass.
    pub phase: Phase,
    /// Which repetition, from 0; chooses file names and shuffles.
    pub repetition: u32,
    /// The tasks of this process, a part of `0..workload.tasks`.
    pub tasks: Range<u32>,
    /// Of exchanges: which of the ends this process is. The others do not look at it.
    pub end: u32,
    /// Processes on this host that run a part of the tasks, this one included: what they need together
    /// must be there, and they share its processors.
    pub processes_here: u32,
    /// The data that is written and expected.
    pub data: DataSpec,
    /// How many transfers each task does; of trees, how many of the items of its owner it touches.
    pub limit: TransferLimit<'a>,
    /// An earlier phase of this pass has renamed the items of a tree, and none has named them back.
    pub renamed: bool,
    /// Steps in each set that every task of the run, by number, has done in earlier phases of this pass that
    /// went round objects; those that are not named have done none.
    pub steps_before: &'a [u64],
    /// Length of one interval of the series.
    pub series_interval: Nanos,
    /// Whether each transfer's latency and the series are recorded. Off only to measure what
    /// the recording costs.
    pub instrument: bool,
}

impl<'a> PhaseJob<'a> {
    /// All tasks in this process, generation 1, any data accepted, one pass, one-second series.
    #[must_use]
    pub fn new(workload: &'a Workload, phase: Phase, repetition: u32) -> Self {
        Self {
            workload,
            phase,
            repetition,
            tasks: 0..workload.tasks,
            end: 0,
            processes_here: 1,
            data: DataSpec { signature: workload.signature, write_generation: 1, expect: Expect::Any },
            limit: TransferLimit::Pass,
            renamed: false,
            steps_before: &[],
            series_interval: Nanos::secs(1),
            instrument: true,
        }
    }
}
