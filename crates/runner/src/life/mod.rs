//! The life of a checked plan: case by case, pass by pass, phase by phase.

mod around;
mod passes;
mod restore;

use std::sync::Arc;
use std::time::Instant;

use comm::Comm;
use engine::Controls;
use host::{Host, QuietWatch};
use plan::{Case, Keep};
use record::{Claim, Outcome, PhaseKey, PlacedClaim, Recorder, Warning, WarningRow};

use self::passes::CaseEnd;
use crate::check::{self, Checked, check_in_use};
use crate::cleanup::{self, Made};
use crate::data::Ledger;
use crate::error::ErrorKind;
use crate::{Event, RunnerError, Watch};

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
    quiet: QuietWatch,
    ledger: Ledger,
    made: Made,
    wrong_cells: u64,
    most_transfers: u64,
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
            quiet: host.quiet_watch(Vec::new()),
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
        let claim = match self.clear(checked).and_then(|()| self.claim(checked)) {
            Ok(claim) => claim,
            Err(error) => {
                self.recorder.finish(&Outcome::Failed(error.to_string()))?;
                return Err(error);
            }
        };
        self.quiet = self.host.quiet_watch(checked.devices.clone());
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

    /// Removes what an earlier start of this run left on the targets, so that it is not taken for
    /// somebody's. That start may have been on another node.
    fn clear(&self, checked: &Checked) -> Result<(), RunnerError> {
        checked.own_leftovers.iter().try_for_each(|left| left.remove_unseen().map_err(RunnerError::from))
    }

    /// Leaves word in the target directories of what this run makes there.
    fn claim(&self, checked: &Checked) -> Result<Option<PlacedClaim>, RunnerError> {
        let made = |case: &&Case| check::writes(case) && case.workload.files.keep != Keep::Always;
        let uses = check::real(&checked.plan);
        let cases: Vec<&Case> = uses.cases().filter(made).collect();
        let files = cleanup::absolute(cases.iter().flat_map(|case| cleanup::paths(case)))?;
        if files.is_empty() {
            return Ok(None);
        }
        let targets = cleanup::absolute(cases.iter().flat_map(|case| cleanup::directories(case)))?;
        let own = cleanup::absolute(cases.iter().flat_map(|case| cleanup::own_directories(case)))?;
        let directory = self.recorder.directory();
        let started_unix_ns = checked.started_unix_ns;
        let claim = Claim::new(&checked.run_id, directory, started_unix_ns, Keep::Never, self.comm.node())?;
        let placed = claim.place(&targets, &files, &own)?;
        // Another run may have started at the same moment: of two claims at least one sees the other.
        if let Err(error) = check_in_use(&checked.plan, &checked.run_id, false) {
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
        let uses = check::remaining(&checked.plan, &checked.finished);
        let mut failed = None;
        for (index, case) in checked.plan.cases.iter().enumerate() {
            if self.stopped() {
                break;
            }
            if checked.finished.contains(&case.id) {
                self.watch.event(&Event::CaseSkipped { index, case });
                continue;
            }
            self.watch.event(&Event::CaseStarted { index, case });
            self.recorder.case_started(&case.id)?;
            let wrong_before = self.wrong_cells;
            let result = self.case(index, case, checked);
            let started = Instant::now();
            let removed =
                self.made.remove_after(case, index, &uses, self.wrong_cells > wrong_before, &mut self.ledger);
            if matches!(removed, Ok(1..)) {
                self.removed(case.passes_max().saturating_sub(1), started);
            }
            match result.and_then(|end| removed.map(|_| end)) {
                // It has not come to its end: a run that is resumed starts it again.
                Ok(CaseEnd::Stopped) => {}
                Ok(CaseEnd::Finished) => {
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

    fn removed(&mut self, repetition: u32, started: Instant) {
        self.watch.event(&Event::Removed { repetition, seconds: started.elapsed().as_secs_f64() });
    }

    fn warn(&mut self, warning: Warning) -> Result<(), RunnerError> {
        self.warn_of(None, warning)
    }

    fn warn_of(&mut self, key: Option<PhaseKey>, warning: Warning) -> Result<(), RunnerError> {
        let row = WarningRow { key, warning };
        self.recorder.warning(&row)?;
        self.watch.event(&Event::Warning(&row));
        Ok(())
    }
}
