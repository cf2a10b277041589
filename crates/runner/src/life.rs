//! The life of a checked plan: case by case, repetition by repetition, phase by phase.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use comm::Comm;
use engine::{Controls, TransferLimit};
use host::Host;
use host::files::require_data;
use plan::{Backend, Bytes, Case, Keep, Phase, Placement, Workload};
use record::{Claim, Outcome, PlacedClaim, Recorder, Warning, WarningRow};

use crate::check::{Checked, check_in_use};
use crate::cleanup::{self, Made};
use crate::data::{Ledger, fill_workload};
use crate::error::ErrorKind;
use crate::phase::{Finished, PhaseRun};
use crate::{Event, RunnerError, Watch};

/// How often a rest looks whether the run is to stop.
const REST_STEP: Duration = Duration::from_millis(20);

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The user ended it.
    pub interrupted: bool,
    /// The first case that failed, and what kind of trouble it was.
    pub failed: Option<(String, ErrorKind)>,
    /// Cells of wrong data that checks found.
    pub wrong_cells: u64,
    /// Most transfers that a task did in a write phase: IOR's stonewalling status.
    pub most_transfers: u64,
    /// Files that could not be removed at the end.
    pub left_behind: Option<RunnerError>,
}

/// Runs a plan and writes its record.
pub struct Life<'a> {
    host: &'a Host,
    comm: &'a dyn Comm,
    recorder: Recorder,
    watch: &'a mut dyn Watch,
    controls: Arc<Controls>,
    ledger: Ledger,
    made: Made,
    wrong_cells: u64,
    most_transfers: u64,
}

/// Whether a repetition goes on.
enum Next {
    GoOn,
    TimeIsUp,
    Stopped,
}

impl<'a> Life<'a> {
    /// A life that stores into `recorder`, tells `watch`, and ends soon after `controls` says stop.
    pub fn new(
        host: &'a Host,
        comm: &'a dyn Comm,
        recorder: Recorder,
        watch: &'a mut dyn Watch,
        controls: Arc<Controls>,
    ) -> Self {
        Self {
            host,
            comm,
            recorder,
            watch,
            controls,
            ledger: Ledger::default(),
            made: Made::default(),
            wrong_cells: 0,
            most_transfers: 0,
        }
    }

    /// Goes through all cases. Files are gone and the record is closed when it returns, whatever
    /// it returns.
    ///
    /// # Errors
    /// The record could not be written, or the files could not be claimed.
    pub fn run(mut self, checked: &Checked) -> Result<Ended, RunnerError> {
        let claim = match self.claim(checked) {
            Ok(claim) => claim,
            Err(error) => {
                self.recorder.finish(&Outcome::Failed(error.to_string()))?;
                return Err(error);
            }
        };
        let cases = self.cases(checked);
        let cleaned = self.made.remove_all(&mut self.ledger).map(|_| ());
        let withdrawn = match (&cleaned, claim) {
            // The claim stays where files stay, so that the next start finds them.
            (Ok(()), Some(claim)) => claim.withdraw().map_err(RunnerError::from),
            (Ok(()) | Err(_), _) => Ok(()),
        };
        let failed = cases?;
        let interrupted = self.stopped();
        let outcome = match (&failed, interrupted) {
            (_, true) => Outcome::Interrupted,
            (Some((message, _)), false) => Outcome::Failed(message.clone()),
            (None, false) => Outcome::Complete,
        };
        self.recorder.finish(&outcome)?;
        Ok(Ended {
            interrupted,
            failed,
            wrong_cells: self.wrong_cells,
            most_transfers: self.most_transfers,
            left_behind: cleaned.and(withdrawn).err(),
        })
    }

    fn stopped(&self) -> bool {
        self.controls.is_stopped()
    }

    /// Leaves word in the target directories of what this run makes there.
    fn claim(&self, checked: &Checked) -> Result<Option<PlacedClaim>, RunnerError> {
        let made = |case: &&Case| {
            (case.phases.iter().any(|phase| phase.writes()) || case.workload.files.fill)
                && case.workload.backend != Backend::Null
                && case.workload.files.keep != Keep::Always
        };
        let cases: Vec<&Case> = checked.plan.cases.iter().filter(made).collect();
        let files = cleanup::absolute(cases.iter().flat_map(|case| cleanup::paths(case)))?;
        if files.is_empty() {
            return Ok(None);
        }
        let targets = cleanup::absolute(cases.iter().flat_map(|case| cleanup::directories(case)))?;
        let own = cleanup::absolute(cases.iter().flat_map(|case| cleanup::own_directories(case)))?;
        let claim =
            Claim::new(&checked.run_id, self.recorder.directory(), checked.started_unix_ns, Keep::Never)?;
        let placed = claim.place(&targets, &files, &own)?;
        // Another run may have started at the same moment: of two claims at least one sees the other.
        if let Err(error) = check_in_use(&checked.plan, &checked.run_id) {
            placed.withdraw()?;
            return Err(error);
        }
        Ok(Some(placed))
    }

    fn cases(&mut self, checked: &Checked) -> Result<Option<(String, ErrorKind)>, RunnerError> {
        for row in &checked.warnings {
            self.recorder.warning(row)?;
            self.watch.event(&Event::Warning(row));
        }
        let mut failed = None;
        for (index, case) in checked.plan.cases.iter().enumerate() {
            if self.stopped() {
                break;
            }
            self.watch.event(&Event::CaseStarted { index, case });
            self.recorder.case_started(&case.id)?;
            let wrong_before = self.wrong_cells;
            let result = self.case(case, checked);
            let later = &checked.plan.cases[index + 1..];
            let started = Instant::now();
            let removed =
                self.made.remove_after(case, later, self.wrong_cells > wrong_before, &mut self.ledger);
            if matches!(removed, Ok(1..)) {
                self.removed(case.repetitions - 1, started);
            }
            match result.and(removed.map(|_| ())) {
                Ok(()) => {
                    self.recorder.case_finished(&case.id)?;
                    self.watch.event(&Event::CaseFinished(case));
                }
                Err(RunnerError::Record(error)) => return Err(error.into()),
                Err(error) => {
                    let message = error.to_string();
                    self.recorder.case_failed(&case.id, &message)?;
                    self.watch.event(&Event::CaseFailed { case, message: &message });
                    failed.get_or_insert((message, error.kind()));
                }
            }
        }
        Ok(failed)
    }

    fn case(&mut self, case: &Case, checked: &Checked) -> Result<(), RunnerError> {
        let _hog = match case.workload.memory_hog {
            Bytes(0) => None,
            bytes => Some(engine::MemoryHog::hold(bytes)?),
        };
        let started = Instant::now();
        let mut written: Option<Vec<u64>> = None;
        for repetition in 0..case.repetitions {
            for &phase in &case.phases {
                match self.before(case, phase, started) {
                    Next::Stopped => return Ok(()),
                    Next::TimeIsUp => {
                        let what = format!("{phase} of repetition {repetition}");
                        let reason = "the time limit of the case was over".to_owned();
                        return self.warn(Warning::Unapplied { what, reason });
                    }
                    Next::GoOn => {}
                }
                self.prepare(case, phase, repetition, checked)?;
                let limits = match &written {
                    Some(each) if !phase.writes() => Some(for_readers(each, case, phase, repetition)),
                    _ => None,
                };
                let limit = limits.as_deref().map_or(TransferLimit::Pass, TransferLimit::PerTask);
                let finished = self.phase(case, &case.workload, phase, repetition, limit, checked)?;
                if phase == Phase::Write {
                    self.most_transfers = self.most_transfers.max(finished.most_transfers);
                    written = finished.partial;
                }
            }
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
        repetition: u32,
        checked: &Checked,
    ) -> Result<(), RunnerError> {
        if case.workload.backend == Backend::Null {
            return Ok(());
        }
        let files = &case.workload.files;
        let rewrites = files.fill && files.existing == plan::Existing::Reuse;
        if phase == Phase::Write && !rewrites {
            let started = Instant::now();
            let removed = cleanup::replace_existing(case, repetition, &mut self.ledger)?;
            if removed > 0 && repetition > 0 {
                self.removed(repetition - 1, started);
            }
        }
        if phase.writes() || files.fill {
            self.made.own_directories(case, repetition)?;
        }
        if (phase.needs_data() || rewrites) && !self.has_data(case, repetition)? {
            let fill = fill_workload(&case.workload)?;
            self.phase(case, &fill, Phase::Fill, repetition, TransferLimit::Pass, checked)?;
        }
        Ok(())
    }

    /// Whether every file holds the data that the case will read.
    ///
    /// # Errors
    /// One does not, and the case does not allow to fill it.
    fn has_data(&self, case: &Case, repetition: u32) -> Result<bool, RunnerError> {
        let placement = Placement::new(&case.workload);
        let bytes = placement.file_bytes().get();
        for slot in placement.files(repetition) {
            if self.ledger.content(&slot.path).is_some_and(|content| content.partial) {
                continue;
            }
            match require_data(&slot.path, bytes) {
                Ok(()) => {}
                Err(_) if case.workload.files.fill => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn phase(
        &mut self,
        case: &Case,
        workload: &Workload,
        phase: Phase,
        repetition: u32,
        limit: TransferLimit<'_>,
        checked: &Checked,
    ) -> Result<Finished, RunnerError> {
        let usable_cpus = checked.facts.usable_cpus;
        let run = PhaseRun { case, workload, phase, repetition, limit, usable_cpus };
        let generation = if phase.writes() { self.ledger.next_generation() } else { 0 };
        if phase.writes() && workload.backend != Backend::Null {
            for slot in Placement::new(workload).files(repetition) {
                self.made.file(&slot.path);
            }
        }
        let finished =
            run.go(self.host, self.comm, &self.ledger, generation, &self.controls, &mut *self.watch)?;
        if phase.writes() {
            run.note_written(&mut self.ledger, generation, &finished);
        }
        self.wrong_cells += finished.record.phase.wrong_cells;
        self.recorder.phase_finished(&finished.record)?;
        self.watch.event(&Event::PhaseFinished(&finished.record));
        Ok(finished)
    }

    fn removed(&mut self, repetition: u32, started: Instant) {
        self.watch.event(&Event::Removed { repetition, seconds: started.elapsed().as_secs_f64() });
    }

    fn warn(&mut self, warning: Warning) -> Result<(), RunnerError> {
        let row = WarningRow { key: None, warning };
        self.recorder.warning(&row)?;
        self.watch.event(&Event::Warning(&row));
        Ok(())
    }
}

/// How far each task may read, where a write ended before its pass was over: as far as the task
/// whose data it reads has written.
fn for_readers(written: &[u64], case: &Case, phase: Phase, repetition: u32) -> Vec<u64> {
    let placement = Placement::new(&case.workload);
    (0..case.workload.tasks).map(|task| written[placement.owner(task, phase, repetition) as usize]).collect()
}
