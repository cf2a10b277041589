//! One pass of one case, phase by phase.

use std::sync::Arc;
use std::time::Duration;

use engine::Controls;
use plan::{Case, Phase, Rival};
use record::{PhaseKey, Warning};

use crate::execution::around::pause_before;
use crate::execution::phases::{FinishedPhase, PhasePreconditions};
use crate::execution::state::ExecutionState;
use crate::execution::turn::{CaseProgress, CaseState, CaseTurn};
use crate::ranks::order::Order;
use crate::{Event, RunnerError};

/// Whether a pass continues.
enum Next {
    GoOn,
    TimeIsUp,
    Stopped,
}

impl ExecutionState<'_> {
    /// Runs `pass` of a case. Before the first pass, also prepares the case.
    pub(super) fn turn(&mut self, turn: &mut CaseTurn<'_>, pass: u32) -> Result<CaseState, RunnerError> {
        if self.stopped() {
            return Ok(CaseState::Stopped);
        }
        let started = self.ranks.elapsed();
        if !turn.begun {
            self.begin_case(turn)?;
        }
        let state = if let Some(rival) = self.rivals.of(&turn.case.id) {
            self.rival(rival, turn.case, pass)?
        } else if turn.kept.iter().any(|one| one.phase.key.repetition == pass) {
            CaseState::GoesOn
        } else {
            self.pass(turn, pass, started)?
        };
        turn.spent += self.ranks.elapsed().saturating_sub(started);
        if state != CaseState::GoesOn || turn.settling.is_over_after(pass) {
            return Ok(if state == CaseState::Stopped { state } else { CaseState::Finished });
        }
        if pass + 1 < turn.case.passes_max() {
            return Ok(state);
        }
        self.warn_unsettled(turn, pass)?;
        Ok(CaseState::Finished)
    }

    /// The steps before the first pass of a case.
    fn begin_case(&mut self, turn: &mut CaseTurn<'_>) -> Result<(), RunnerError> {
        let CaseTurn { index, case, .. } = *turn;
        turn.begun = true;
        if !self.replays {
            self.watch.event(&Event::CaseStarted { index, case });
            let takes_turns =
                self.checked.plan.blocks().any(|block| block.len() > 1 && block.contains(&index));
            // On a machine all passes have to be repeated, so that its state is as they leave it.
            if case.stated.is_some() || !takes_turns || self.ranks.is_simulated() {
                self.recorder.case_started(&case.id)?;
            } else {
                turn.kept = self.recorder.case_goes_on(&case.id, &case.phases, u32::MAX)?;
            }
        }
        for record in &turn.kept {
            turn.settling.add(&record.phase);
        }
        if case.stated.is_some() {
            return Ok(());
        }
        if case.workload.memory_hog.get() > 0 {
            self.ranks.order(&Order::CaseBegins { case: index })?;
        }
        self.restore(index, case, !turn.kept.is_empty())
    }

    fn pass(
        &mut self,
        turn: &mut CaseTurn<'_>,
        pass: u32,
        started: Duration,
    ) -> Result<CaseState, RunnerError> {
        let case = turn.case;
        self.prepare_pass(turn, pass)?;
        for &phase in &case.phases {
            match self.before(turn, phase, started) {
                Next::Stopped => return Ok(CaseState::Stopped),
                Next::TimeIsUp => {
                    let what = format!("{phase} of repetition {pass}");
                    let reason = "the time limit of the case was reached".to_owned();
                    self.warn(Warning::Unapplied { what, reason })?;
                    self.warn_unsettled(turn, pass)?;
                    return Ok(CaseState::Finished);
                }
                Next::GoOn => {}
            }
            let preconditions = self.prepare_phase(turn, phase, pass)?;
            if self.stopped() {
                return Ok(CaseState::Stopped);
            }
            let finished = self.phase(turn.index, None, phase, pass, preconditions)?;
            self.phase_ended(turn, phase, finished);
            // The stop may have ended the phase early.
            if self.stopped() {
                return Ok(CaseState::Stopped);
            }
        }
        Ok(CaseState::GoesOn)
    }

    /// Wipes and preconditions the media of a case before `pass`, if its protocol says so.
    pub(super) fn prepare_pass(&mut self, turn: &mut CaseTurn<'_>, pass: u32) -> Result<(), RunnerError> {
        self.replays = turn.replayed;
        if turn.case.is_prepared_before(pass) {
            if self.wipe(turn.index, turn.case)? {
                turn.reached = CaseProgress::default();
            }
            self.precondition(turn.index, turn.case, pass)?;
        }
        Ok(())
    }

    /// Prepares the files of a phase of a case.
    pub(super) fn prepare_phase(
        &mut self,
        turn: &CaseTurn<'_>,
        phase: Phase,
        pass: u32,
    ) -> Result<PhasePreconditions, RunnerError> {
        self.replays = turn.replayed;
        let (index, case, reached) = (turn.index, turn.case, &turn.reached);
        self.prepare(index, case, phase, pass)?;
        let warnings_before = self.drop_caches(index, case, phase)?;
        let limits = reached.limits(case, phase, pass);
        let (renamings, steps_before) = (reached.renamings, self.object_steps.before(case, pass));
        Ok(PhasePreconditions { limits, renamings, steps_before, warnings_before })
    }

    /// Notes what a phase of a case has reached.
    pub(super) fn phase_ended(&mut self, turn: &mut CaseTurn<'_>, phase: Phase, finished: FinishedPhase) {
        turn.settling.add(&finished.record.phase);
        turn.wrong_data |= finished.found_wrong;
        if phase == Phase::Write || phase.creates_items() {
            self.summary.most_transfers = self.summary.most_transfers.max(finished.most_transfers);
        }
        self.object_steps.after(turn.case, phase, &finished.record);
        turn.reached.after(phase, finished.partial);
    }

    /// Compares the clocks of the nodes before a pass of a case, if the pass before was of another one. For a case that
    /// an earlier start has finished, the record already has the comparison.
    pub(super) fn compare_clocks_before(&mut self, turn: &CaseTurn<'_>) -> Result<(), RunnerError> {
        let follows_another = self.last.replace(turn.index).is_some_and(|last| last != turn.index);
        if follows_another && !turn.replayed && self.checked.nodes.have_clocks() {
            self.compare_clocks()?;
        }
        Ok(())
    }

    /// Runs the other tool's measurement of the pass of `case`.
    fn rival(&mut self, rival: &Rival, case: &Case, pass: u32) -> Result<CaseState, RunnerError> {
        let &phase = case.phases.first().ok_or(RunnerError::OutOfPlace)?;
        let idle = Arc::new(Controls::new());
        self.watch.event(&Event::PhaseStarted {
            case,
            repetition: pass,
            phase,
            planned_bytes: case.workload.bytes().get(),
            controls: &idle,
            share: 1.0,
        });
        let key = PhaseKey { case: case.id.as_str().into(), repetition: pass, phase };
        let executor = self.ranks.executor().ok_or(RunnerError::OutOfPlace)?;
        let host = (executor.host, &mut executor.quiet);
        let Some(record) = self.rivals.pass(rival, case, &key, host, &self.controls)? else {
            return Ok(CaseState::Stopped);
        };
        self.recorder.phase_finished(&record)?;
        self.watch.event(&Event::PhaseFinished(&record));
        Ok(CaseState::GoesOn)
    }

    /// Warns of phases that had not settled if `pass` was the last one.
    fn warn_unsettled(&mut self, turn: &CaseTurn<'_>, pass: u32) -> Result<(), RunnerError> {
        for (phase, warning) in turn.settling.unsettled() {
            let key = PhaseKey { case: turn.case.id.as_str().into(), repetition: pass, phase };
            self.warn_of(Some(key), warning)?;
        }
        Ok(())
    }

    /// Pauses as specified by the protocol, and checks the time limit and the stop flag.
    fn before(&mut self, turn: &CaseTurn<'_>, phase: Phase, started: Duration) -> Next {
        let case = turn.case;
        let controls = Arc::clone(&self.controls);
        self.ranks.pause(pause_before(case, phase), || controls.is_stopped());
        if self.stopped() {
            return Next::Stopped;
        }
        match case.time_limit {
            Some(limit)
                if turn.spent + self.ranks.elapsed().saturating_sub(started) >= Duration::from(limit) =>
            {
                Next::TimeIsUp
            }
            _ => Next::GoOn,
        }
    }
}
