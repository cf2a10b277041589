//! Executes a checked plan: case by case, pass by pass, phase by phase.

pub(crate) mod around;
pub(crate) mod campaign;
pub(crate) mod device_trace;
pub(crate) mod jobs;
mod object_steps;
mod passes;
mod phases;
mod restore;
pub(crate) mod rival;
pub(crate) mod servers;
pub(crate) mod settle;
pub(crate) mod state;
mod together;
mod turn;

use std::sync::Arc;
use std::time::Instant;

use comm::Comm;
use engine::Controls;
use host::Host;
use plan::{Case, Keep};
use record::{Outcome, RecordError, Recorder, Warning, WarningRow};

use crate::check::Checked;
use crate::check::overwrites::LostFiles;
use crate::check::record_place::record_on_target;
use crate::error::ErrorKind;
use crate::execution::object_steps::ObjectSteps;
use crate::execution::rival::Rivals;
use crate::execution::servers::Servers;
use crate::execution::state::{ExecutionState, RunSummary};
use crate::execution::turn::{CaseState, CaseTurn};
use crate::files::data::WrittenData;
use crate::files::file_sets::FileSets;
use crate::files::paths;
use crate::files::trees;
use crate::ranks::machine_executor::MachineExecutor;
use crate::ranks::order::{Answer, CaseEnding, EndStep, Order};
use crate::ranks::rank_executor::{RankContext, RankExecutor};
use crate::ranks::rank_group::RankGroup;
use crate::ranks::signals::forward_signals;
use crate::{Event, Machine, Program, RunnerError, Watch};

/// Runs a plan and writes its record. Used on rank 0.
pub struct PlanExecution<'a> {
    host: &'a Host,
    comm: &'a dyn Comm,
    recorder: Recorder,
    watch: &'a mut dyn Watch,
    controls: Arc<Controls>,
    /// Number of phases started.
    phases: u64,
    /// The program to execute for each launch of jobs: the running one with the argument `job`.
    program: Option<Program>,
    /// The user's files that may be lost, if they are fewer than those found by the check of a layout's
    /// cases.
    agreed: Option<LostFiles>,
    /// Cases that another tool measures in alternation.
    rivals: Rivals,
    /// Commands that query servers before and after phases.
    servers: Servers,
    /// The machine that carries out the phases of a simulated run.
    machine: Option<&'a mut dyn Machine>,
}

/// Why the execution of a plan ended early.
#[derive(Debug)]
pub(crate) struct ExecutionError {
    pub(crate) error: RunnerError,
    /// Whether the error can still be written to the record.
    pub(crate) told: bool,
}

impl From<RunnerError> for ExecutionError {
    fn from(error: RunnerError) -> Self {
        Self { error, told: true }
    }
}

impl From<RecordError> for ExecutionError {
    fn from(error: RecordError) -> Self {
        // The record of a run whose directory was moved can still be written.
        let told = matches!(error, RecordError::Moved { .. });
        Self { error: error.into(), told }
    }
}

impl<'a> PlanExecution<'a> {
    /// Creates a plan execution that stores its results in `recorder`, reports to `watch`, and ends soon
    /// after a stop is requested with `controls`.
    pub fn new(
        host: &'a Host,
        comm: &'a dyn Comm,
        recorder: Recorder,
        watch: &'a mut dyn Watch,
        controls: Arc<Controls>,
    ) -> Self {
        let program = Program::own().ok();
        Self {
            host,
            comm,
            recorder,
            watch,
            controls,
            phases: 0,
            program,
            agreed: None,
            rivals: Rivals::default(),
            servers: Servers::default(),
            machine: None,
        }
    }

    /// Sets the machine that carries out the phases, which makes this a simulated run.
    #[must_use]
    pub fn on_machine(self, machine: &'a mut dyn Machine) -> Self {
        Self { machine: Some(machine), ..self }
    }

    /// Sets the cases that another tool measures in alternation with those of the plan.
    #[must_use]
    pub fn with_rivals(self, rivals: Rivals) -> Self {
        Self { rivals, ..self }
    }

    /// Sets the commands that query servers before and after phases.
    #[must_use]
    pub fn with_servers(self, servers: Servers) -> Self {
        Self { servers, ..self }
    }

    /// Limits the user's files that may be lost to those in `agreed`.
    pub(crate) fn with_agreed(self, agreed: LostFiles) -> Self {
        Self { agreed: Some(agreed), ..self }
    }

    /// Executes all cases. Whatever happens, files have been removed and the record closed on return.
    ///
    /// # Errors
    /// Errors if the record could not be written, the files could not be claimed, or a rank was lost.
    /// Earlier measurements are in the record then, and files of the lost rank are removed as far as this
    /// rank can access them.
    pub fn run(mut self, checked: &Checked) -> Result<RunSummary, RunnerError> {
        let result = self.run_cases(checked);
        self.close(result)
    }

    /// Writes the final state of the run to the record. A run that could not begin leaves no record.
    pub(crate) fn close(self, result: Result<RunSummary, ExecutionError>) -> Result<RunSummary, RunnerError> {
        let (place, has_begun) = (self.recorder.place(), !self.recorder.is_untouched());
        self.close_record(result).map_err(|error| match error {
            // Where the directory is says more than the call that failed because of it.
            RunnerError::Record(error) if has_begun => {
                RunnerError::Record(place.check_in_place().err().unwrap_or(error))
            }
            other => other,
        })
    }

    fn close_record(mut self, result: Result<RunSummary, ExecutionError>) -> Result<RunSummary, RunnerError> {
        let result = match result {
            Err(broken) if self.recorder.is_untouched() => {
                self.recorder.abandon();
                return Err(broken.error);
            }
            result => result,
        };
        let outcome = match &result {
            Ok(ended) if ended.interrupted => Outcome::Interrupted,
            Ok(RunSummary { failed: Some((message, _)), .. }) => Outcome::Failed(message.clone()),
            Ok(_) => Outcome::Complete,
            Err(broken) => Outcome::Failed(broken.error.to_string()),
        };
        if result.as_ref().map_or_else(|broken| broken.told, |_| true) {
            // These facts are slow to read, so they are read here and not before the first transfer.
            if self.machine.is_none() {
                self.recorder.complete_host(|host| self.host.complete(host));
            }
            self.recorder.finish(&outcome)?;
        }
        result.map_err(|broken| broken.error)
    }

    pub(crate) fn warn(&mut self, warning: Warning) -> Result<(), ExecutionError> {
        let row = WarningRow { key: None, warning };
        self.recorder.warning(&row)?;
        self.watch.event(&Event::Warning(&row));
        Ok(())
    }

    /// Records that `case` cannot be started.
    pub(crate) fn fail(&mut self, index: usize, case: &Case, message: &str) -> Result<(), ExecutionError> {
        self.watch.event(&Event::CaseStarted { index, case });
        self.recorder.case_started(&case.id)?;
        self.recorder.case_failed(&case.id, message)?;
        self.watch.event(&Event::CaseFailed { case, message });
        Ok(())
    }

    /// Executes all cases of `checked` and leaves the record open. Files are removed on return.
    pub(crate) fn run_cases(&mut self, checked: &Checked) -> Result<RunSummary, ExecutionError> {
        let Self { host, comm, recorder, watch, controls, phases, program, agreed, rivals, servers, machine } =
            self;
        let (host, comm): (&Host, &dyn Comm) = (host, *comm);
        let is_real = machine.is_none();
        let beside = is_real.then(|| record_on_target(host, recorder.directory(), &checked.plan)).flatten();
        let ranks = match machine {
            Some(machine) => {
                let controls = Arc::clone(controls);
                let plan = &checked.plan;
                let file_sets = FileSets::of_plan(plan);
                let executor = MachineExecutor { machine: &mut **machine, plan, file_sets, controls };
                RankGroup::on_machine(comm, executor)
            }
            None => {
                let context = RankContext {
                    plan: &checked.plan,
                    run_id: &checked.run_id,
                    run_directory: recorder.directory().to_owned(),
                    started_unix_ns: checked.started_unix_ns,
                    local_directories: &checked.local_directories,
                    permits: &checked.permits,
                    program: program.as_ref(),
                };
                let mates = checked.nodes.mates_on(host, comm);
                let quiet = host.quiet_watch(checked.devices.clone()).with_mates(mates);
                let file_sets = FileSets::of_unfinished(&checked.plan, &checked.finished);
                let controls = Arc::clone(controls);
                RankGroup::new(comm, RankExecutor::new(host, comm, controls, context, file_sets, quiet))
            }
        };
        let execution = ExecutionState {
            ranks,
            checked,
            agreed: agreed.as_ref().unwrap_or(&checked.lost_files),
            recorder,
            watch: &mut **watch,
            controls: Arc::clone(controls),
            written: WrittenData::default(),
            object_steps: ObjectSteps::default(),
            rivals,
            servers,
            phases,
            replays: false,
            beside,
            summary: RunSummary::default(),
            comparisons: Vec::new(),
            last: None,
        };
        forward_signals(comm, controls, || execution.run())?
    }
}

impl ExecutionState<'_> {
    fn run(mut self) -> Result<RunSummary, ExecutionError> {
        if let Err(error) = self.begin() {
            if error.is_loss() {
                return self.end_after_loss(error);
            }
            // The first error is the one to report. Whatever was not claimed was not created either.
            let _ = self.ranks.order(&Order::Withdraw);
            let _ = self.ranks.end();
            return Err(error.into());
        }
        let cases = match self.cases().and_then(|failed| self.note_drift().map(|()| failed)) {
            Err(error) if error.is_loss() => return self.end_after_loss(error),
            cases => cases,
        };
        #[cfg(feature = "planted-faults")]
        if crate::planted("forgotten") && self.stopped() {
            crate::planted::forget(self.recorder.directory());
        }
        let cleaned = self.ranks.order(&Order::RemoveAll);
        let withdrawn = match &cleaned {
            Ok(_) => self.ranks.order(&Order::Withdraw),
            // If files are left, the claim is kept, so that the next start finds them.
            Err(_) => Ok(Answer::Done),
        };
        let ended = self.ranks.end();
        // A failure of the record cannot be written to the record; a failed case has already been
        // written.
        let failed = cases.map_err(|error| {
            let told = matches!(error, RunnerError::Record(RecordError::Moved { .. }));
            ExecutionError { error, told }
        })?;
        Ok(RunSummary {
            interrupted: self.stopped(),
            failed,
            left_behind: cleaned.and(withdrawn).map(drop).and(ended).err(),
            ..self.summary
        })
    }

    /// Makes all ranks load the plan, remove leftovers of an earlier start, and claim the files of this
    /// one.
    fn begin(&mut self) -> Result<(), RunnerError> {
        let run_directory = self.recorder.directory().to_owned();
        let started_unix_ns = self.checked.started_unix_ns;
        self.ranks.begin(&Order::Start { run_directory, started_unix_ns })?;
        if self.checked.ranks > 1 || !self.checked.own_leftovers.is_empty() {
            self.ranks.order(&Order::Clear)?;
        }
        self.ranks.order(&Order::Claim)?;
        if self.ranks.is_simulated() {
            return Ok(());
        }
        // Other programs may have changed files while the user was deciding.
        self.checked.lost_now(&self.checked.finished).only_what_was(self.agreed)
    }

    fn cases(&mut self) -> Result<Option<(String, ErrorKind)>, RunnerError> {
        let checked = self.checked;
        for row in &checked.warnings {
            self.recorder.warning(row)?;
            self.watch.event(&Event::Warning(row));
        }
        if let Some(warning) = self.beside.take() {
            self.warn(warning)?;
        }
        if checked.nodes.have_clocks() {
            self.note_clocks(checked.nodes.clocks())?;
        }
        let file_sets = FileSets::of_unfinished(&checked.plan, &checked.finished);
        let mut failed = None;
        for block in checked.plan.blocks() {
            if self.stopped() {
                break;
            }
            let mut turns: Vec<CaseTurn<'_>> = Vec::new();
            for index in block.clone() {
                let case = &checked.plan.cases[index];
                let foreign = case.stated.is_some() && self.rivals.of(&case.id).is_none();
                let finished = checked.finished.contains(&case.id);
                if foreign || finished {
                    self.watch.event(&Event::CaseSkipped { index, case });
                }
                let replayed = finished && self.ranks.is_simulated();
                if replayed || !(foreign || finished) {
                    turns.push(CaseTurn { replayed, ..CaseTurn::new(index, case) });
                }
            }
            let more = match checked.plan.cases[block.start].concurrent.is_some() {
                true => self.together(block.len(), &mut turns, &file_sets),
                false => self.block(checked.plan.turns(block), &mut turns, &file_sets),
            };
            // What follows belongs to this start of the run, whatever the last turn was.
            self.replays = false;
            failed = failed.or(more?);
        }
        Ok(failed)
    }

    /// Runs the passes of alternating cases in this `order`, and returns the first failure.
    fn block(
        &mut self,
        order: impl Iterator<Item = (usize, u32)>,
        turns: &mut [CaseTurn<'_>],
        file_sets: &FileSets<'_>,
    ) -> Result<Option<(String, ErrorKind)>, RunnerError> {
        let mut failed = None;
        for (index, pass) in order {
            let Some(place) = turns.iter().position(|turn| turn.index == index && !turn.is_over) else {
                continue;
            };
            let turn = &mut turns[place];
            self.compare_clocks_before(turn)?;
            self.replays = turn.replayed;
            let case = turn.case;
            let result = match self.turn(turn, pass) {
                Err(error) if error.is_loss() => {
                    self.fail(case, &error.to_string())?;
                    return Err(error);
                }
                Ok(CaseState::GoesOn) => continue,
                result => result,
            };
            (turn.is_over, turn.failed) = (true, result.is_err());
            // A comparison needs the figures of both tools.
            let together = result.is_err() && turns.iter().any(|turn| turn.case.stated.is_some());
            let over = together || result.as_ref().is_ok_and(|state| *state == CaseState::Stopped);
            let over = over || turns.iter().all(|turn| turn.is_over);
            let removed = if over { self.block_ends(turns, file_sets) } else { Ok(()) };
            match result.and_then(|state| removed.map(|()| state)) {
                // The case is not finished, so a resumed run starts it again.
                Ok(CaseState::Stopped | CaseState::GoesOn) => return Ok(failed),
                Ok(CaseState::Finished) if self.replays => {}
                Ok(CaseState::Finished) => {
                    self.recorder.case_finished(&case.id)?;
                    self.watch.event(&Event::CaseFinished(case));
                }
                Err(RunnerError::Record(error)) => return Err(error.into()),
                // The case is finished in the record, so the run fails and not the case.
                Err(error) if self.replays => {
                    failed.get_or_insert((error.to_string(), error.kind()));
                    if over {
                        return Ok(failed);
                    }
                }
                Err(error) => {
                    let message = error.to_string();
                    self.fail(case, &message)?;
                    if error.is_loss() {
                        return Err(error);
                    }
                    failed.get_or_insert((message.clone(), error.kind()));
                    for turn in turns.iter_mut().filter(|turn| together && !turn.is_over) {
                        if !std::mem::replace(&mut turn.begun, true) {
                            self.recorder.case_started(&turn.case.id)?;
                        }
                        turn.is_over = true;
                        self.fail(turn.case, &message)?;
                    }
                    if over {
                        return Ok(failed);
                    }
                }
            }
        }
        Ok(failed)
    }

    /// Removes files that no case after this block needs.
    fn block_ends(&mut self, turns: &[CaseTurn<'_>], file_sets: &FileSets<'_>) -> Result<(), RunnerError> {
        let mut first = Ok(());
        for turn in turns.iter().filter(|turn| turn.begun && turn.case.stated.is_none()) {
            let removed = self.case_ends(turn.index, turn.case, file_sets, turn.wrong_data, turn.failed);
            first = first.and(removed);
        }
        first
    }

    /// Closes the record after a rank was lost. Removes files as far as possible; the others remain
    /// claimed.
    fn end_after_loss(mut self, error: RunnerError) -> Result<RunSummary, ExecutionError> {
        if let Some(executor) = self.ranks.executor() {
            let _ = executor.save_what_can_be();
        }
        self.warn_of_clocks()?;
        let node = error.lost_node(self.ranks.comm().topology());
        self.warn(Warning::NodeLost { node, what: error.to_string() })?;
        Err(error.into())
    }

    /// Removes files that no later case needs.
    fn case_ends(
        &mut self,
        index: usize,
        case: &Case,
        file_sets: &FileSets<'_>,
        wrong_data: bool,
        failed: bool,
    ) -> Result<(), RunnerError> {
        let started = Instant::now();
        let mut ending = CaseEnding { wrong_data, failed, step: EndStep::Roots };
        if trees::has(case) && self.checked.ranks > 1 && !case.phases.iter().any(|phase| phase.ends()) {
            ending.step = EndStep::Tasks;
            self.ranks.order(&Order::CaseEnds { case: index, ending })?;
            ending.step = EndStep::Roots;
        }
        let answer = self.ranks.order(&Order::CaseEnds { case: index, ending });
        self.forget(index, case, file_sets, wrong_data);
        if let Answer::Files { removed: 1.., .. } = answer? {
            self.removed(case.passes_max().saturating_sub(1), started);
        }
        Ok(())
    }

    /// Forgets data that no later case uses, whether or not it was removed.
    fn forget(&mut self, index: usize, case: &Case, file_sets: &FileSets<'_>, wrong_data: bool) {
        let kept = match case.workload.files.keep {
            Keep::Always => true,
            Keep::OnError => wrong_data,
            Keep::Never => false,
        };
        if kept || !case.workload.backend.moves_data() {
            return;
        }
        let mine = paths::paths(case).into_iter().collect();
        let needed = file_sets.needed_after(index, case, &mine);
        let file_nodes = self.file_nodes(case);
        for slot in (0..paths::sets(case)).flat_map(|set| case.workload.listed_files(set)) {
            if !needed.contains(&slot.path) {
                self.written.removed(file_nodes.of(slot.index), &slot.path);
            }
        }
    }
}
