//! One pass of one case, phase by phase.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use engine::Controls;
use plan::{Case, Existing, Phase, Placement, Rival, Work, Workload};
use record::{PhaseKey, PhaseRecord, Warning};

use super::UnderWay;
use crate::execution::jobs::{JobRows, is_failure};
use crate::execution::settle::Settling;
use crate::files::cleanup;
use crate::files::data::fill_workload;
use crate::files::trees;
use crate::ranks::order::{Answer, Known, Order, PhaseOrder, Prepare, ranges};
use crate::ranks::phase_result::{PhaseResult, expected};
use crate::ranks::rank_assignment::Roster;
use crate::ranks::rows::Table;
use crate::{Event, RunnerError};

/// Interval at which a pause polls the stop flag.
const REST_STEP: Duration = Duration::from_millis(20);

/// Progress of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseState {
    /// More passes follow.
    GoesOn,
    /// All passes are done, or the time limit was reached.
    Finished,
    /// The run was stopped before that.
    Stopped,
}

/// A case that alternates with others, or is the only one of its block.
pub(super) struct CaseTurn<'a> {
    /// Its index in the plan.
    pub(super) index: usize,
    pub(super) case: &'a Case,
    /// Its first pass has started.
    pub(super) begun: bool,
    /// No more passes follow.
    pub(super) is_over: bool,
    pub(super) failed: bool,
    /// Checks have found wrong data in its files.
    pub(super) wrong_data: bool,
    /// Phases that an earlier start of the run has measured.
    kept: Vec<PhaseRecord>,
    /// Its running time so far.
    spent: Duration,
    settling: Settling<'a>,
    reached: Reached,
}

impl<'a> CaseTurn<'a> {
    pub(super) fn new(index: usize, case: &'a Case) -> Self {
        Self {
            index,
            case,
            begun: false,
            is_over: false,
            failed: false,
            wrong_data: false,
            kept: Vec::new(),
            spent: Duration::ZERO,
            settling: Settling::new(case),
            reached: Reached::default(),
        }
    }
}

/// Whether a pass continues.
enum Next {
    GoOn,
    TimeIsUp,
    Stopped,
}

impl UnderWay<'_> {
    /// Runs `pass` of a case; before the first pass, also its preparation.
    pub(super) fn turn(&mut self, turn: &mut CaseTurn<'_>, pass: u32) -> Result<CaseState, RunnerError> {
        if self.stopped() {
            return Ok(CaseState::Stopped);
        }
        let started = Instant::now();
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
        turn.spent += started.elapsed();
        if state != CaseState::GoesOn || turn.settling.is_over_after(pass) {
            return Ok(if state == CaseState::Stopped { state } else { CaseState::Finished });
        }
        if pass + 1 < turn.case.passes_max() {
            return Ok(state);
        }
        self.warn_unsettled(turn, pass)?;
        Ok(CaseState::Finished)
    }

    /// Steps before the first pass of a case.
    fn begin_case(&mut self, turn: &mut CaseTurn<'_>) -> Result<(), RunnerError> {
        let CaseTurn { index, case, .. } = *turn;
        self.watch.event(&Event::CaseStarted { index, case });
        turn.begun = true;
        let takes_turns = self.checked.plan.blocks().any(|block| block.len() > 1 && block.contains(&index));
        if case.stated.is_some() || !takes_turns {
            self.recorder.case_started(&case.id)?;
        } else {
            turn.kept = self.recorder.case_goes_on(&case.id, &case.phases)?;
        }
        for record in &turn.kept {
            turn.settling.add(&record.phase);
        }
        if case.stated.is_some() {
            return Ok(());
        }
        if case.workload.memory_hog.get() > 0 {
            self.crew.order(&Order::CaseBegins { case: index })?;
        }
        self.restore(index, case, !turn.kept.is_empty())?;
        self.wipe(index, case)?;
        self.precondition(index, case)
    }

    fn pass(
        &mut self,
        turn: &mut CaseTurn<'_>,
        pass: u32,
        started: Instant,
    ) -> Result<CaseState, RunnerError> {
        let CaseTurn { index, case, .. } = *turn;
        for &phase in &case.phases {
            match self.before(turn, phase, started) {
                Next::Stopped => return Ok(CaseState::Stopped),
                Next::TimeIsUp => {
                    let what = format!("{phase} of repetition {pass}");
                    let reason = "the time limit of the case was over".to_owned();
                    self.warn(Warning::Unapplied { what, reason })?;
                    self.warn_unsettled(turn, pass)?;
                    return Ok(CaseState::Finished);
                }
                Next::GoOn => {}
            }
            self.prepare(index, case, phase, pass)?;
            let doubts = self.drop_caches(index, case, phase)?;
            if self.stopped() {
                return Ok(CaseState::Stopped);
            }
            let reached = &mut turn.reached;
            let limits = reached.limits(case, phase, pass);
            let (renamed, steps_before) = (reached.is_renamed(phase), reached.steps.clone());
            let finished = self.phase(
                index,
                None,
                phase,
                pass,
                PhasePreconditions { limits, renamed, steps_before, doubts },
            )?;
            turn.settling.add(&finished.record.phase);
            if phase == Phase::Write || trees::creates_items(phase) {
                self.most_transfers = self.most_transfers.max(finished.most_transfers);
            }
            reached.after_steps(case, phase, &finished.record);
            reached.after(phase, finished.partial);
            // The stop may have ended the phase early.
            if self.stopped() {
                return Ok(CaseState::Stopped);
            }
        }
        Ok(CaseState::GoesOn)
    }

    /// Has another tool measure the pass of `case`.
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
        let hand = &mut self.crew.hand;
        let host = (hand.host, &mut hand.quiet);
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

    /// Pauses as the protocol says; checks the time limit and the stop flag.
    fn before(&self, turn: &CaseTurn<'_>, phase: Phase, started: Instant) -> Next {
        let case = turn.case;
        // Phases on a tree follow each other at once: the pause is between passes.
        let rests = case.workload.work.is_transfers() || case.phases.first() == Some(&phase);
        if phase.is_result() && rests {
            let until = Instant::now() + Duration::from(case.delay);
            while Instant::now() < until && !self.stopped() {
                thread::sleep(REST_STEP.min(until.saturating_duration_since(Instant::now())));
            }
        }
        if self.stopped() {
            return Next::Stopped;
        }
        match case.time_limit {
            Some(limit) if turn.spent + started.elapsed() >= Duration::from(limit) => Next::TimeIsUp,
            _ => Next::GoOn,
        }
    }

    /// Creates directories, removes files that a write replaces, and makes sure that reads find data.
    fn prepare(&mut self, index: usize, case: &Case, phase: Phase, pass: u32) -> Result<(), RunnerError> {
        let files = &case.workload.files;
        if !case.workload.backend.moves_data() {
            return Ok(());
        }
        let rewrites = files.fill && files.existing == Existing::Reuse;
        let replace = phase == Phase::Write && !rewrites && files.existing == Existing::Replace;
        let directories = files.unique_dir && phase.is_transfers() && (phase.writes() || files.fill);
        let needs_data = phase.needs_data() || (rewrites && case.workload.work.is_transfers());
        let trees = trees::makes(case)
            && (trees::begins(phase)
                || (trees::in_target(&case.workload) && case.phases.first() == Some(&phase)));
        if !(replace || directories || needs_data || trees) {
            return Ok(());
        }
        let started = Instant::now();
        let data = needs_data.then(|| self.known(case, pass));
        let order = Order::Prepare(Prepare { case: index, pass, replace, directories, trees, data });
        let Answer::Files { removed, there } = self.crew.order(&order)? else {
            return Err(RunnerError::OutOfPlace);
        };
        if replace {
            let sites = self.sites(case);
            for slot in Placement::new(&case.workload).files(pass) {
                if !cleanup::leads_to_device(&slot.path) {
                    self.ledger.removed(sites.of(slot.index), &slot.path);
                }
            }
        }
        if removed > 0 && pass > 0 {
            self.removed(pass - 1, started);
        }
        if there { Ok(()) } else { self.fill(index, index, pass) }
    }

    /// What the run knows of the files of a pass beyond what is on disk.
    fn known(&self, case: &Case, pass: u32) -> Known {
        let sites = self.sites(case);
        let files = Placement::new(&case.workload).files(pass);
        let partial = files.iter().map(|slot| {
            let content = self.ledger.content(sites.of(slot.index), &slot.path);
            (slot.index, content.is_some_and(|content| content.partial))
        });
        let discarded =
            files.iter().map(|slot| (slot.index, self.ledger.is_discarded(sites.of(slot.index), &slot.path)));
        Known { partial: ranges(partial), discarded: ranges(discarded) }
    }

    /// Writes all data of the files of `pass` of the case `writer`, on behalf of the case `index` and outside
    /// the results.
    pub(super) fn fill(&mut self, index: usize, writer: usize, pass: u32) -> Result<(), RunnerError> {
        if self.checked.plan.cases[writer].workload.files.unique_dir {
            let order =
                Prepare { case: writer, pass, replace: false, directories: true, trees: false, data: None };
            self.crew.order(&Order::Prepare(order))?;
        }
        self.phase(index, Some(writer), Phase::Fill, pass, PhasePreconditions::default()).map(|_| ())
    }

    /// Runs a phase of the case `index`, or a fill of the files of the case `fills` on its behalf.
    fn phase(
        &mut self,
        index: usize,
        fills: Option<usize>,
        phase: Phase,
        pass: u32,
        already: PhasePreconditions,
    ) -> Result<Finished, RunnerError> {
        let PhasePreconditions { limits, renamed, steps_before, mut doubts } = already;
        let checked = self.checked;
        let (case, topology) = (&checked.plan.cases[index], self.crew.comm().topology());
        let filling = fills.map(|writer| fill_workload(&checked.plan.cases[writer].workload)).transpose()?;
        let workload = filling.as_ref().unwrap_or(&case.workload);
        let roster = Roster::of(workload, topology)?;
        let sites = self.sites(fills.map_or(case, |writer| &checked.plan.cases[writer]));
        let generation = if phase.writes() { self.ledger.next_generation() } else { 0 };
        let content = |file: &plan::FileSlot| self.ledger.content(sites.of(file.index), &file.path);
        let expect = expected(workload, phase, pass, generation, content);
        *self.phases += 1;
        let number = *self.phases;
        let own = roster.tasks_of(self.crew.comm().rank()).len();
        self.watch.event(&Event::PhaseStarted {
            case,
            repetition: pass,
            phase,
            planned_bytes: workload.bytes().get(),
            controls: &self.controls,
            share: own as f64 / f64::from(workload.tasks),
        });
        let order = PhaseOrder {
            number,
            case: index,
            fills,
            phase,
            pass,
            generation,
            expect,
            limits,
            renamed,
            steps_before,
        };
        let key = PhaseKey { case: case.id.as_str().into(), repetition: pass, phase };
        let mut table = Table::new(key.clone(), topology.names());
        // Jobs run on one node.
        let node = topology.names().first().map_or("", String::as_str);
        let mut keep = |rows: JobRows| {
            let rows = rows.of(&key, node);
            self.recorder.launches_ended(&key, &rows.launches, &rows.steps)
        };
        let asks = fills.is_none() && phase.is_result();
        let asked = asks.then(|| self.servers.before(case, &self.controls));
        let part = self.crew.phase(order, &mut table, &mut keep)?;
        if let Some(asked) = asked {
            let (told, untold) = asked.after(case, pass, self.crew.hand.host, &self.controls);
            told.iter().for_each(|told| table.tell("", told));
            doubts.extend(untold);
        }
        let whole = PhaseResult { case, workload, key, nodes: &checked.nodes, on: roster.nodes(topology) };
        let finished = Finished::of(whole.record(&part, table, doubts), one_pass(workload, phase));
        if phase.writes() {
            let whole = matches!(phase, Phase::Fill | Phase::Write)
                && workload.duration.is_none()
                && finished.partial.is_none();
            for slot in Placement::new(workload).files(pass) {
                let node = sites.of(slot.index);
                self.ledger.written(node, &slot.path, generation, whole, finished.partial.is_some());
            }
        }
        self.wrong_cells += finished.record.phase.wrong_cells;
        self.surprises += finished.record.phase.surprises;
        let failed = || finished.record.launches.iter().filter(|row| is_failure(row));
        self.failed_launches += failed().count() as u64;
        self.recorder.phase_finished(&finished.record)?;
        self.watch.event(&Event::PhaseFinished(&finished.record));
        // No job can start without its tables.
        match failed().next().filter(|_| phase == Phase::Load) {
            Some(row) => Err(RunnerError::Unloaded {
                table: row.test.clone(),
                stream: row.stream,
                message: row.message.clone(),
            }),
            None => Ok(finished),
        }
    }
}

/// State before a phase.
#[derive(Default)]
struct PhasePreconditions {
    /// Upper limit of operations for each task.
    limits: Option<Vec<u64>>,
    /// An earlier phase has renamed the items.
    renamed: bool,
    /// Steps around the objects of each set that each task has done.
    steps_before: Vec<u64>,
    /// Warnings about its figure.
    doubts: Vec<Warning>,
}

/// Result of a phase.
struct Finished {
    record: PhaseRecord,
    /// Transfers of each task, if the phase ended within the first pass.
    partial: Option<Vec<u64>>,
    /// Largest number of transfers of a task.
    most_transfers: u64,
}

impl Finished {
    /// `pass` transfers of each task are one pass.
    fn of(record: PhaseRecord, pass: u64) -> Self {
        let transfers = || record.tasks.iter().map(|row| row.transfers);
        let is_short = transfers().any(|transfers| transfers < pass);
        Self {
            partial: is_short.then(|| transfers().collect()),
            most_transfers: transfers().max().unwrap_or(0),
            record,
        }
    }
}

/// Operations of each task that make up one pass of `phase`, if fewer leave something unwritten.
fn one_pass(workload: &Workload, phase: Phase) -> u64 {
    match &workload.work {
        Work::Transfers => workload.geometry.transfers_per_task(),
        // Without a stonewall, a task has tried all its items: it was prevented from making the missing ones.
        Work::Tree(tree) if trees::creates_items(phase) && workload.stonewall.is_some() => {
            tree.items_per_task()
        }
        Work::Tree(_) | Work::Objects(_) | Work::Rpc(_) | Work::Jobs(_) => 0,
    }
}

/// Progress of the phases that create something, if they ended within their first pass.
#[derive(Debug, Default)]
struct Reached {
    /// Transfers written by each task.
    written: Option<Vec<u64>>,
    /// Files created by each task.
    files: Option<Vec<u64>>,
    /// Directories created by each task.
    directories: Option<Vec<u64>>,
    /// A phase has renamed the files.
    files_renamed: bool,
    /// A phase has renamed the directories.
    directories_renamed: bool,
    /// Steps around the objects of each set that each task has done.
    steps: Vec<u64>,
}

impl Reached {
    /// Notes the end of `phase`; `partial` is the count of each task if less than a pass.
    fn after(&mut self, phase: Phase, partial: Option<Vec<u64>>) {
        match phase {
            Phase::Write => self.written = partial,
            Phase::FileCreate => (self.files, self.files_renamed) = (partial, false),
            Phase::DirectoryCreate => (self.directories, self.directories_renamed) = (partial, false),
            Phase::FileRename => self.files_renamed = !self.files_renamed,
            Phase::DirectoryRename => self.directories_renamed = !self.directories_renamed,
            _ => {}
        }
    }

    /// Notes the steps around objects of a finished `phase`.
    fn after_steps(&mut self, case: &Case, phase: Phase, record: &PhaseRecord) {
        let Work::Objects(objects) = &case.workload.work else { return };
        if phase != Phase::Benchmark {
            self.steps.clear();
            return;
        }
        self.steps.resize(case.workload.tasks as usize, 0);
        let round = objects.operations_of_step().saturating_mul(u64::from(objects.sets)).max(1);
        for row in &record.tasks {
            if let Some(steps) = self.steps.get_mut(row.task as usize) {
                // An operation that found a modified item is not counted as done.
                *steps = steps.saturating_add(match case.workload.stonewall {
                    Some(_) => row.transfers.div_ceil(round),
                    None => objects.steps,
                });
            }
        }
    }

    /// Whether an earlier phase has renamed the items of `phase`.
    fn is_renamed(&self, phase: Phase) -> bool {
        match phase {
            Phase::FileWrite | Phase::FileStat | Phase::FileRead | Phase::FileRename | Phase::FileRemove => {
                self.files_renamed
            }
            Phase::DirectoryStat | Phase::DirectoryRename | Phase::DirectoryRemove => {
                self.directories_renamed
            }
            _ => false,
        }
    }

    /// Upper limit of each task in `phase`: the progress of the task whose data or items it accesses.
    fn limits(&self, case: &Case, phase: Phase, pass: u32) -> Option<Vec<u64>> {
        let each = match phase {
            Phase::FileWrite | Phase::FileStat | Phase::FileRead | Phase::FileRename | Phase::FileRemove => {
                self.files.as_ref()?
            }
            Phase::DirectoryStat | Phase::DirectoryRename | Phase::DirectoryRemove => {
                self.directories.as_ref()?
            }
            Phase::Read | Phase::CheckWrite | Phase::CheckRead => self.written.as_ref()?,
            _ => return None,
        };
        let (workload, tasks) = (&case.workload, 0..case.workload.tasks);
        Some(match workload.work.tree() {
            Some(tree) => tasks.map(|task| each[tree.owner(task, phase, workload.tasks) as usize]).collect(),
            None => for_readers(each, case, phase, pass),
        })
    }
}

/// Upper limit for each reading task after a write that ended within its first pass: the progress of the task
/// whose data it reads.
fn for_readers(written: &[u64], case: &Case, phase: Phase, pass: u32) -> Vec<u64> {
    let placement = Placement::new(&case.workload);
    (0..case.workload.tasks).map(|task| written[placement.owner(task, phase, pass) as usize]).collect()
}
