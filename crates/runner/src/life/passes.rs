//! One case: pass by pass, phase by phase.

use std::thread;
use std::time::{Duration, Instant};

use engine::TransferLimit;
use host::files::require_data;
use plan::{Backend, Bytes, Case, Existing, Nanos, Phase, Placement, Workload};
use record::{PhaseKey, Warning, WarningRow};

use super::Life;
use crate::check::Checked;
use crate::cleanup;
use crate::data::fill_workload;
use crate::phase::{Finished, PhaseRun};
use crate::settle::Settling;
use crate::{Event, RunnerError};

/// How often a rest looks whether the run is to stop.
const REST_STEP: Duration = Duration::from_millis(20);

/// How a case came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseEnd {
    /// It went through all of its passes, or its time was over.
    Finished,
    /// The run was stopped before that.
    Stopped,
}

/// Whether a pass goes on.
enum Next {
    GoOn,
    TimeIsUp,
    Stopped,
}

impl Life<'_> {
    /// Goes through the passes of `case`, which has the place `index` in the plan.
    pub(super) fn case(
        &mut self,
        index: usize,
        case: &Case,
        checked: &Checked,
    ) -> Result<CaseEnd, RunnerError> {
        let _hog = match case.workload.memory_hog {
            Bytes(0) => None,
            bytes => Some(engine::MemoryHog::hold(bytes)?),
        };
        let started = Instant::now();
        self.restore(index, case, checked)?;
        self.wipe(case, checked)?;
        self.precondition(case, checked)?;
        let mut written: Option<Vec<u64>> = None;
        let mut settling = Settling::new(case);
        for pass in 0..case.passes_max() {
            for &phase in &case.phases {
                match self.before(case, phase, started) {
                    Next::Stopped => return Ok(CaseEnd::Stopped),
                    Next::TimeIsUp => {
                        let what = format!("{phase} of repetition {pass}");
                        let reason = "the time limit of the case was over".to_owned();
                        self.warn(Warning::Unapplied { what, reason })?;
                        self.warn_unsettled(case, pass, &settling)?;
                        return Ok(CaseEnd::Finished);
                    }
                    Next::GoOn => {}
                }
                self.prepare(case, phase, pass, checked)?;
                let doubts = self.drop_caches(case, phase);
                if self.stopped() {
                    return Ok(CaseEnd::Stopped);
                }
                let limits = match &written {
                    Some(each) if !phase.writes() => Some(for_readers(each, case, phase, pass)),
                    _ => None,
                };
                let limit = limits.as_deref().map_or(TransferLimit::Pass, TransferLimit::PerTask);
                let finished = self.phase(case, &case.workload, phase, pass, limit, checked, doubts)?;
                let row = &finished.record.phase;
                settling.add(pass, phase, row.bytes(), Nanos(row.wall_ns));
                if phase == Phase::Write {
                    self.most_transfers = self.most_transfers.max(finished.most_transfers);
                    written = finished.partial;
                }
                // The stop may have cut the phase short.
                if self.stopped() {
                    return Ok(CaseEnd::Stopped);
                }
            }
            if settling.is_over_after(pass) {
                return Ok(CaseEnd::Finished);
            }
        }
        self.warn_unsettled(case, case.passes_max().saturating_sub(1), &settling)?;
        Ok(CaseEnd::Finished)
    }

    /// Says which phases had not settled when `pass` was the last one.
    fn warn_unsettled(&mut self, case: &Case, pass: u32, settling: &Settling<'_>) -> Result<(), RunnerError> {
        for (phase, warning) in settling.unsettled() {
            let key = PhaseKey { case: case.id.as_str().into(), repetition: pass, phase };
            self.warn_of(Some(key), warning)?;
        }
        Ok(())
    }

    /// Rests, and looks at the clock and at the stop flag.
    fn before(&self, case: &Case, phase: Phase, started: Instant) -> Next {
        if phase.is_result() {
            let until = Instant::now() + Duration::from(case.delay);
            while Instant::now() < until && !self.stopped() {
                thread::sleep(REST_STEP.min(until.saturating_duration_since(Instant::now())));
            }
        }
        if self.stopped() {
            return Next::Stopped;
        }
        match case.time_limit {
            Some(limit) if started.elapsed() >= Duration::from(limit) => Next::TimeIsUp,
            _ => Next::GoOn,
        }
    }

    /// Makes directories, removes what a write replaces, and sees to it that reads find data.
    fn prepare(
        &mut self,
        case: &Case,
        phase: Phase,
        pass: u32,
        checked: &Checked,
    ) -> Result<(), RunnerError> {
        if case.workload.backend == Backend::Null {
            return Ok(());
        }
        let files = &case.workload.files;
        let rewrites = files.fill && files.existing == Existing::Reuse;
        if phase == Phase::Write && !rewrites {
            let started = Instant::now();
            let removed = cleanup::replace_existing(case, pass, &mut self.ledger)?;
            if removed > 0 && pass > 0 {
                self.removed(pass - 1, started);
            }
        }
        if phase.writes() || files.fill {
            self.made.own_directories(case, pass)?;
        }
        if (phase.needs_data() || rewrites) && !self.has_data(case, pass)? {
            self.fill(case, pass, checked)?;
        }
        Ok(())
    }

    /// Writes all data of the files of `pass`, outside the results.
    pub(super) fn fill(&mut self, case: &Case, pass: u32, checked: &Checked) -> Result<(), RunnerError> {
        self.fill_like(case, case, pass, checked)
    }

    /// Writes all data of the files that `pass` of `writer` has, within `case`.
    pub(super) fn fill_like(
        &mut self,
        case: &Case,
        writer: &Case,
        pass: u32,
        checked: &Checked,
    ) -> Result<(), RunnerError> {
        let fill = fill_workload(&writer.workload)?;
        self.made.own_directories(writer, pass)?;
        self.phase(case, &fill, Phase::Fill, pass, TransferLimit::Pass, checked, Vec::new()).map(|_| ())
    }

    /// Whether every file holds the data that the case will read.
    ///
    /// # Errors
    /// One does not, and the case does not allow to fill it.
    fn has_data(&self, case: &Case, pass: u32) -> Result<bool, RunnerError> {
        let placement = Placement::new(&case.workload);
        let bytes = placement.file_bytes().get();
        for slot in placement.files(pass) {
            if self.ledger.content(&slot.path).is_some_and(|content| content.partial) {
                continue;
            }
            let there = match self.ledger.is_discarded(&slot.path) {
                true => Err(RunnerError::Target {
                    path: slot.path,
                    problem: "was discarded, and nothing has been written since".to_owned(),
                    help: "put a write phase first, or let a fill phase write it".to_owned(),
                }),
                false => require_data(&slot.path, bytes).map_err(RunnerError::from),
            };
            match there {
                Ok(()) => {}
                Err(_) if case.workload.files.fill => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    #[expect(clippy::too_many_arguments, reason = "each says something else of the one phase that runs")]
    fn phase(
        &mut self,
        case: &Case,
        workload: &Workload,
        phase: Phase,
        pass: u32,
        limit: TransferLimit<'_>,
        checked: &Checked,
        doubts: Vec<Warning>,
    ) -> Result<Finished, RunnerError> {
        let usable_cpus = checked.facts.usable_cpus;
        let run = PhaseRun { case, workload, phase, repetition: pass, limit, usable_cpus, doubts };
        let generation = if phase.writes() { self.ledger.next_generation() } else { 0 };
        if phase.writes() && workload.backend != Backend::Null {
            for slot in Placement::new(workload).files(pass) {
                self.made.file(&slot.path);
            }
        }
        if phase.is_result() {
            self.quiet.phase_starts();
        }
        let mut finished =
            run.go(self.host, self.comm, &self.ledger, generation, &self.controls, &mut *self.watch)?;
        if phase.is_result()
            && let Some(warning) = self.quiet.phase_ended()
        {
            let key = Some(finished.record.phase.key.clone());
            finished.record.warnings.push(WarningRow { key, warning });
        }
        if phase.writes() {
            run.note_written(&mut self.ledger, generation, &finished);
        }
        self.wrong_cells += finished.record.phase.wrong_cells;
        self.recorder.phase_finished(&finished.record)?;
        self.watch.event(&Event::PhaseFinished(&finished.record));
        Ok(finished)
    }
}

/// How far each task may read, where a write ended before its pass was over: as far as the task
/// whose data it reads has written.
fn for_readers(written: &[u64], case: &Case, phase: Phase, pass: u32) -> Vec<u64> {
    let placement = Placement::new(&case.workload);
    (0..case.workload.tasks).map(|task| written[placement.owner(task, phase, pass) as usize]).collect()
}
