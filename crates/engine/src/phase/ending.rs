//! When the tasks of a phase stop: after their operations, by the clock, or at a stonewall and the wear-out after it.

use plan::{Nanos, Stonewall};

use crate::phase::barrier::BarrierGuard;
use crate::phase::clock::Scale;
use crate::phase::common::Common;
use crate::phase::pace::Schedule;
use crate::{PhaseJob, Point, TransferLimit};

/// The condition that ends the operations of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The number of operations has been done.
    Volume,
    /// As above, or the deadline has passed. With wear-out, all tasks then continue to the largest number
    /// of operations that a task had done.
    Stonewall(Stonewall),
    /// The duration has passed; passes repeat until then.
    Duration(Nanos),
}

impl Ending {
    /// Time after the common start at which tasks stop beginning operations, apart from those of the
    /// wear-out.
    #[must_use]
    pub const fn limit(self) -> Option<Nanos> {
        match self {
            Self::Volume => None,
            Self::Stonewall(stonewall) => Some(stonewall.deadline),
            Self::Duration(duration) => Some(duration),
        }
    }

    /// Whether the deadline is a stonewall.
    #[must_use]
    pub const fn is_stonewall(self) -> bool {
        matches!(self, Self::Stonewall(_))
    }

    /// Whether all tasks continue after the deadline to the largest number of operations that a task had
    /// done.
    #[must_use]
    pub const fn wears_out(self) -> bool {
        matches!(self, Self::Stonewall(Stonewall { wear_out: true, .. }))
    }

    /// The tick at which a task that begins at `from` stops. In an open loop it depends on the task's
    /// schedule and pace.
    pub(crate) fn deadline(self, from: u64, scale: Scale, schedule: Option<(&Schedule, f64)>) -> u64 {
        match (self.limit(), schedule) {
            (None, _) => u64::MAX,
            (Some(limit), Some((schedule, pace_ns))) => schedule.deadline(limit.0, pace_ns),
            (Some(limit), None) => from.saturating_add(scale.ticks(limit.0)),
        }
    }

    /// The point at which all tasks agree on the wear-out, if there is one.
    pub(crate) fn point(self) -> Option<Point> {
        self.wears_out().then_some(Point::Stonewall)
    }

    /// Stonewall report of a task that had done `operations` when its last operation in time ended at
    /// tick `at`.
    pub(crate) fn at_stonewall(self, at: u64, operations: u64) -> Option<(u64, u64)> {
        self.is_stonewall().then_some((at, operations))
    }

    /// Number of operations to which every task continues after the deadline, or `None` if the phase ends there.
    /// `operations` are the numbers that the caller's tasks had done by the deadline. All workers of the phase must
    /// call this.
    pub(crate) fn agree(
        self,
        operations: impl IntoIterator<Item = u64>,
        common: &Common<'_>,
        barrier: &mut BarrierGuard<'_>,
    ) -> Option<u64> {
        let point = self.point()?;
        operations.into_iter().for_each(|operations| common.offer_most(operations));
        barrier.pass(point);
        Some(common.most())
    }
}

impl PhaseJob<'_> {
    /// The condition that ends the operations of a task. Phases that later phases depend on are not ended
    /// by the clock.
    #[must_use]
    pub fn ending(&self) -> Ending {
        let workload = self.workload;
        let may_stop = self.phase.may_stop();
        match (workload.stonewall, workload.duration) {
            _ if !may_stop || !matches!(self.limit, TransferLimit::Pass) => Ending::Volume,
            // Exchanges have no volume that a deadline could cut short.
            (Some(stonewall), _) if workload.work.rpc().is_some() => Ending::Duration(stonewall.deadline),
            (Some(stonewall), _) => Ending::Stonewall(stonewall),
            (None, Some(duration)) => Ending::Duration(duration),
            (None, None) => Ending::Volume,
        }
    }
}
