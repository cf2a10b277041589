//! Protocol steps before and after the phases of a case: wiping, preconditioning, dropping caches.

use std::time::{Duration, Instant};

use plan::{Case, Phase};
use record::{Warning, Wiped};

use crate::execution::state::ExecutionState;
use crate::files::paths;
use crate::files::trees;
use crate::ranks::order::{Answer, Order, WipeResult};
use crate::ranks::rank_executor::reads;
use crate::{Event, RunnerError};

impl ExecutionState<'_> {
    /// Removes the files of `case` and discards the devices that it measures, if its protocol says so. Returns whether
    /// it does.
    pub(super) fn wipe(&mut self, index: usize, case: &Case) -> Result<bool, RunnerError> {
        if !case.protocol.wipe || !case.workload.backend.moves_data() {
            return Ok(false);
        }
        let started = Instant::now();
        let Answer::Wiped(all) = self.ranks.order(&Order::Wipe { case: index })? else {
            return Err(RunnerError::OutOfPlace);
        };
        let took_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut removed = 0;
        let mut others = Vec::new();
        for wiped in all {
            match wiped {
                WipeResult::Done(Wiped::Files { files, .. }) => removed += files,
                other => others.push(other),
            }
        }
        if removed > 0 {
            self.wiped(case, &Wiped::Files { files: removed, took_ns })?;
        }
        for wiped in others {
            match wiped {
                WipeResult::Done(what) => self.wiped(case, &what)?,
                WipeResult::Unapplied { what, reason } => self.warn(Warning::Unapplied { what, reason })?,
            }
        }
        let file_nodes = self.file_nodes(case);
        for slot in (0..paths::sets(case)).flat_map(|set| case.workload.listed_files(set)) {
            match paths::leads_to_device(&slot.path) {
                true => self.written.discarded(file_nodes.of(slot.index), &slot.path),
                false => self.written.removed(file_nodes.of(slot.index), &slot.path),
            }
        }
        Ok(true)
    }

    fn wiped(&mut self, case: &Case, what: &Wiped) -> Result<(), RunnerError> {
        self.recorder.wiped(&case.id, what)?;
        self.watch.event(&Event::Wiped { case, what });
        Ok(())
    }

    /// Writes the files of `case` completely, as often as its protocol specifies: those of `pass`, and of the later
    /// passes until the media are prepared again, if each pass has files of its own.
    pub(super) fn precondition(&mut self, index: usize, case: &Case, pass: u32) -> Result<(), RunnerError> {
        if !case.workload.backend.moves_data() || !case.workload.work.is_transfers() {
            return Ok(());
        }
        for _ in 0..case.protocol.precondition {
            let until_wiped = (pass..case.passes_max())
                .take_while(|later| *later == pass || !case.is_prepared_before(*later));
            for pass in until_wiped.take(paths::sets(case) as usize) {
                if self.stopped() {
                    return Ok(());
                }
                self.fill(index, index, pass)?;
            }
        }
        Ok(())
    }

    /// Empties the page caches before a read phase, either for all files or for those of the case. Returns a
    /// warning for the figure if this is not permitted.
    pub(super) fn drop_caches(
        &mut self,
        index: usize,
        case: &Case,
        phase: Phase,
    ) -> Result<Vec<Warning>, RunnerError> {
        if !drops_caches_before(case, phase) || self.stopped() {
            return Ok(Vec::new());
        }
        match self.ranks.order(&Order::DropCaches { case: index })? {
            Answer::Refused(reason) => {
                Ok(vec![Warning::Unapplied { what: "dropping caches".to_owned(), reason }])
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Whether caches are emptied before each `phase` of `case`.
#[must_use]
pub fn drops_caches_before(case: &Case, phase: Phase) -> bool {
    let finds = trees::has(case) && trees::finds(phase);
    (reads(case, phase) || finds) && (case.protocol.drop_caches || case.protocol.evict_files)
}

/// The pause before each `phase` of `case`.
#[must_use]
pub fn pause_before(case: &Case, phase: Phase) -> Duration {
    // Phases on a tree follow each other at once; the pause is between passes.
    let rests = case.workload.work.is_transfers() || case.phases.first() == Some(&phase);
    if phase.is_result() && rests { case.delay.into() } else { Duration::ZERO }
}
