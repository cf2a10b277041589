//! Cases that run at the same time.
//!
//! Each pass prepares all of them, then runs their phases at the same time. The passes of all are recorded before the next
//! one begins; a resumed run continues after the last pass that all have.

use std::sync::Arc;
use std::time::Duration;

use engine::Controls;
use record::RecordError;

use crate::execution::servers::OutputBefore;
use crate::execution::state::ExecutionState;
use crate::execution::turn::CaseTurn;
use crate::files::file_sets::FileSets;
use crate::ranks::phase_result::WorkOfAll;
use crate::ranks::rows::Table;
use crate::{ErrorKind, Event, RunnerError};

impl<'a> ExecutionState<'a> {
    /// Runs those of `planned` cases that are not finished. Returns their failure, which is that of all of them.
    pub(super) fn together(
        &mut self,
        planned: usize,
        turns: &mut [CaseTurn<'a>],
        file_sets: &FileSets<'_>,
    ) -> Result<Option<(String, ErrorKind)>, RunnerError> {
        if turns.is_empty() {
            return Ok(None);
        }
        let result = self.passes_together(planned, turns);
        turns.iter_mut().for_each(|turn| turn.failed = result.is_err());
        let removed = self.block_ends(turns, file_sets);
        match result.and_then(|all| removed.map(|()| all)) {
            Ok(false) => Ok(None),
            Ok(true) => {
                for turn in turns.iter().filter(|turn| !turn.replayed) {
                    self.recorder.case_finished(&turn.case.id)?;
                    self.watch.event(&Event::CaseFinished(turn.case));
                }
                Ok(None)
            }
            Err(RunnerError::Record(error)) => Err(error.into()),
            Err(error) => {
                let message = error.to_string();
                // A case that is finished in the record stays so.
                for turn in turns.iter_mut().filter(|turn| !turn.replayed) {
                    if !std::mem::replace(&mut turn.begun, true) {
                        self.recorder.case_started(&turn.case.id)?;
                    }
                    self.fail(turn.case, &message)?;
                }
                if error.is_loss() { Err(error) } else { Ok(Some((message, error.kind()))) }
            }
        }
    }

    /// Runs all passes. Returns whether it was not stopped before the last one.
    fn passes_together(&mut self, planned: usize, turns: &mut [CaseTurn<'a>]) -> Result<bool, RunnerError> {
        let done = self.passes_done(turns)?;
        // If one of them was finished, all of its passes are in the record of the others, too: otherwise the recorder lets
        // all of them be measured again.
        let passes = if turns.len() < planned { done } else { turns[0].case.passes_max() };
        for turn in turns.iter_mut() {
            self.begin_together(turn, done)?;
        }
        let started = self.ranks.elapsed();
        for pass in done..passes {
            if let Some(turn) = turns.iter().find(|turn| !turn.replayed) {
                self.compare_clocks_before(turn)?;
            }
            self.last = turns.last().map(|turn| turn.index);
            for turn in turns.iter_mut() {
                self.prepare_pass(turn, pass)?;
            }
            let pauses = turns.iter().map(|turn| Duration::from(turn.case.delay));
            let controls = Arc::clone(&self.controls);
            self.ranks.pause(pauses.max().unwrap_or_default(), || controls.is_stopped());
            let spent = self.ranks.elapsed().saturating_sub(started);
            let is_late =
                |turn: &CaseTurn<'_>| turn.case.time_limit.is_some_and(|limit| spent >= limit.into());
            if turns.iter().any(is_late) {
                let what = format!("repetition {pass} of what runs at the same time");
                let reason = "the time limit of a case was reached".to_owned();
                self.replays = turns.iter().all(|turn| turn.replayed);
                self.warn(record::Warning::Unapplied { what, reason })?;
                return Ok(true);
            }
            self.pass_together(turns, pass)?;
            if self.stopped() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Number of first passes that an earlier start of the run has recorded of all cases.
    fn passes_done(&mut self, turns: &[CaseTurn<'_>]) -> Result<u32, RecordError> {
        // On a machine all passes have to be repeated, so that its state is as they leave it.
        if self.ranks.is_simulated() {
            return Ok(0);
        }
        let mut least = u32::MAX;
        for turn in turns {
            least = least.min(self.recorder.passes_before(&turn.case.id, &turn.case.phases)?);
        }
        Ok(least)
    }

    fn begin_together(&mut self, turn: &mut CaseTurn<'a>, done: u32) -> Result<(), RunnerError> {
        let CaseTurn { index, case, .. } = *turn;
        turn.begun = true;
        if turn.replayed {
            return Ok(());
        }
        self.watch.event(&Event::CaseStarted { index, case });
        turn.kept = self.recorder.case_goes_on(&case.id, &case.phases, done)?;
        self.restore(index, case, !turn.kept.is_empty())
    }

    /// Runs those phases of each case one after another that come before the one that runs at the same time as others, or
    /// those after it.
    fn phases_alone(
        &mut self,
        turns: &mut [CaseTurn<'a>],
        pass: u32,
        after: bool,
    ) -> Result<(), RunnerError> {
        for turn in turns {
            let case = turn.case;
            let joint = case.concurrent_phase();
            let place = case.phases.iter().position(|phase| Some(*phase) == joint).unwrap_or(0);
            let phases = if after { &case.phases[place + 1..] } else { &case.phases[..place] };
            for &phase in phases {
                let preconditions = self.prepare_phase(turn, phase, pass)?;
                if self.stopped() {
                    return Ok(());
                }
                let finished = self.phase(turn.index, None, phase, pass, preconditions)?;
                self.phase_ended(turn, phase, finished);
                if self.stopped() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn pass_together(&mut self, turns: &mut [CaseTurn<'a>], pass: u32) -> Result<(), RunnerError> {
        self.phases_alone(turns, pass, false)?;
        if self.stopped() {
            return Ok(());
        }
        *self.phases += 1;
        let number = *self.phases;
        let mut begun = Vec::new();
        for turn in turns.iter_mut() {
            let phase = turn.case.concurrent_phase().ok_or(RunnerError::OutOfPlace)?;
            let preconditions = self.prepare_phase(turn, phase, pass)?;
            begun.push(self.begin_phase((turn.index, None), (phase, pass), number, preconditions)?);
        }
        if self.stopped() {
            return Ok(());
        }
        let streams: Vec<Arc<Controls>> = begun.iter().map(|_| Arc::new(self.controls.beside())).collect();
        for ((begun, controls), turn) in begun.iter().zip(&streams).zip(turns.iter()) {
            self.replays = turn.replayed;
            self.announce(begun, controls);
        }
        let asked: Vec<Option<OutputBefore>> = begun.iter().map(|begun| self.ask_servers(begun)).collect();
        let topology = self.ranks.comm().topology();
        let mut tables: Vec<Table<'_>> =
            begun.iter().map(|begun| Table::new(begun.key.clone(), topology.names())).collect();
        let orders = begun.iter().map(|begun| begun.order.clone()).collect();
        let totals = self.ranks.together(orders, &mut tables, &streams)?;
        // What was measured beside a phase that was stopped or has failed is no pass of all.
        if self.stopped() {
            return Ok(());
        }
        for ((asked, begun), table) in asked.into_iter().zip(&mut begun).zip(&mut tables) {
            self.ask_again(asked, begun, table);
        }
        let of_all = WorkOfAll::of(turns.iter().map(|turn| &turn.case.workload).zip(&tables));
        for (((begun, totals), table), turn) in
            begun.into_iter().zip(&totals).zip(tables).zip(turns.iter_mut())
        {
            self.replays = turn.replayed;
            let phase = begun.order.phase;
            let finished = self.end_phase(begun, totals, table, Some(&of_all))?;
            self.phase_ended(turn, phase, finished);
        }
        self.phases_alone(turns, pass, true)
    }
}
