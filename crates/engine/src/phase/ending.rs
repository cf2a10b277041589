//! When the tasks of a phase stop: after their operations, by the clock, or at a stonewall and the wear-out after it.

use plan::{Nanos, Phase, Stonewall, Work};

use crate::phase::barrier::BarrierGuard;
use crate::phase::clock::Scale;
use crate::phase::common::Common;
use crate::phase::pace::Schedule;
use crate::{PhaseJob, Point, TransferLimit};

/// The condition that ends the operations of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The number of operations.
    Volume,
    /// That, or the deadline; with wear-out all tasks then continue to the largest number that one had done.
    Stonewall(Stonewall),
    /// The duration; passes repeat until then.
    Duration(Nanos),
}

impl Ending {
    /// The time from the common start after which no operation begins, apart from those of the wear-out.
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

    /// Whether all tasks continue after the deadline to the largest number of operations that one had done.
    #[must_use]
    pub const fn wears_out(self) -> bool {
        matches!(self, Self::Stonewall(Stonewall { wear_out: true, .. }))
    }

    /// The tick at which a task stops that begins at `from`, or by its schedule and pace in an open loop.
    pub(crate) fn deadline(self, from: u64, scale: Scale, schedule: Option<(&Schedule, f64)>) -> u64 {
        match (self.limit(), schedule) {
            (None, _) => u64::MAX,
            (Some(limit), Some((schedule, pace_ns))) => schedule.deadline(limit.0, pace_ns),
            (Some(limit), None) => from.saturating_add(scale.ticks(limit.0)),
        }
    }

    /// The point at which all tasks agree on the wear-out.
    pub(crate) fn point(self) -> Option<Point> {
        self.wears_out().then_some(Point::Stonewall)
    }

    /// What a task reports that ended its last operation in time at tick `at`, when it had done `operations`.
    pub(crate) fn at_stonewall(self, at: u64, operations: u64) -> Option<(u64, u64)> {
        self.is_stonewall().then_some((at, operations))
    }

    /// The number of operations to which every task continues, after the deadline has ended those of the caller with
    /// these numbers of `operations`; `None` if nothing follows. All workers of the phase have to call it.
    pub(crate) fn agree(
        self,
        operations: impl IntoIterator<Item = u64>,
        common: &Common<'_>,
        course: &mut BarrierGuard<'_>,
    ) -> Option<u64> {
        let point = self.point()?;
        operations.into_iter().for_each(|operations| common.offer_most(operations));
        course.pass(point);
        Some(common.most())
    }
}

impl PhaseJob<'_> {
    /// What ends the operations of a task. The clock leaves nothing behind that would disturb a later phase.
    #[must_use]
    pub fn ending(&self) -> Ending {
        let workload = self.workload;
        let may_stop = match workload.work {
            Work::Tree(_) => !matches!(
                self.phase,
                Phase::TreeCreate
                    | Phase::TreeRemove
                    | Phase::FileRename
                    | Phase::FileRemove
                    | Phase::DirectoryRename
                    | Phase::DirectoryRemove
            ),
            Work::Objects(_) => self.phase == Phase::Benchmark,
            // Its tasks divide the directories among each other and are done when none is left.
            Work::Find(_) => false,
            Work::Transfers | Work::Rpc(_) | Work::Jobs(_) => self.phase.is_result(),
        };
        match (workload.stonewall, workload.duration) {
            _ if !may_stop || !matches!(self.limit, TransferLimit::Pass) => Ending::Volume,
            // Exchanges have no volume that a deadline could cut short.
            (Some(stonewall), _) if matches!(workload.work, Work::Rpc(_)) => {
                Ending::Duration(stonewall.deadline)
            }
            (Some(stonewall), _) => Ending::Stonewall(stonewall),
            (None, Some(duration)) => Ending::Duration(duration),
            (None, None) => Ending::Volume,
        }
    }
}
