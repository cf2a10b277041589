//! One pass of one case, phase by phase.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use engine::Controls;
use plan::{Backend, Case, Existing, Phase, Placement, Rival, Work, Workload};
use record::{PhaseKey, PhaseRecord, Warning};

use super::UnderWay;
use crate::data::fill_workload;
use crate::jobs::{JobRows, is_failure};
use crate::order::{Answer, Known, Order, PhaseOrder, Prepare, ranges};
use crate::roster::Roster;
use crate::rows::Table;
use crate::settle::Settling;
use crate::whole::{Whole, expected};
use crate::{Event, RunnerError, cleanup, trees};

/// How often a rest looks whether the run is to stop.
const REST_STEP: Duration = Duration::from_millis(20);

/// How far a case has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseState {
    /// More passes of it come.
    GoesOn,
    /// It went through all of its passes, or its time was over.
    Finished,
    /// The run was stopped before that.
    Stopped,
}

/// A case that takes turns, or is the only one of its block.
pub(super) struct Turn<'a> {
    /// Its place in the plan.
    pub(super) index: usize,
    pub(super) case: &'a Case,
    /// Its first pass has begun.
    pub(super) begun: bool,
    /// No more passes of it come.
    pub(super) is_over: bool,
    pub(super) failed: bool,
    /// Checks have found wrong data in it.
    pub(super) wrong_data: bool,
    /// Phases that an earlier start of the run has measured.
    kept: Vec<PhaseRecord>,
    /// How long it has run.
    spent: Duration,
    settling: Settling<'a>,
    reached: Reached,
}

impl<'a> Turn<'a> {
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

/// Whether a pass goes on.
enum Next {
    GoOn,
    TimeIsUp,
    Stopped,
}

impl UnderWay<'_> {
    /// Goes through `pass` of a case, and before the first one through what comes before it.
    pub(super) fn turn(&mut self, turn: &mut Turn<'_>, pass: u32) -> Result<CaseState, RunnerError> {
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

    /// What comes before the first pass of a case.
    fn begin_case(&mut self, turn: &mut Turn<'_>) -> Result<(), RunnerError> {
        let Turn { index, case, .. } = *turn;
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

    fn pass(&mut self, turn: &mut Turn<'_>, pass: u32, started: Instant) -> Result<CaseState, RunnerError> {
        let Turn { index, case, .. } = *turn;
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
            let finished =
                self.phase(index, None, phase, pass, Already { limits, renamed, steps_before, doubts })?;
            turn.settling.add(&finished.record.phase);
            if phase == Phase::Write || trees::creates_items(phase) {
                self.most_transfers = self.most_transfers.max(finished.most_transfers);
            }
            reached.after_steps(case, phase, &finished.record);
            reached.after(phase, finished.partial);
            // The stop may have cut the phase short.
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

    /// Says which phases had not settled when `pass` was the last one.
    fn warn_unsettled(&mut self, turn: &Turn<'_>, pass: u32) -> Result<(), RunnerError> {
        for (phase, warning) in turn.settling.unsettled() {
            let key = PhaseKey { case: turn.case.id.as_str().into(), repetition: pass, phase };
            self.warn_of(Some(key), warning)?;
        }
        Ok(())
    }

    /// Rests, and looks at the clock and at the stop flag.
    fn before(&self, turn: &Turn<'_>, phase: Phase, started: Instant) -> Next {
        let case = turn.case;
        // A tree is looked at as it was just left: there, the rest is between passes.
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

    /// Makes directories, removes what a write replaces, and sees to it that reads find data.
    fn prepare(&mut self, index: usize, case: &Case, phase: Phase, pass: u32) -> Result<(), RunnerError> {
        let files = &case.workload.files;
        if case.workload.backend == Backend::Null {
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

    /// What is known of the files of a pass beyond what stands on the disk.
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

    /// Writes all data of the files that `pass` of the case `writer` has, within the case `index` and
    /// outside the results.
    pub(super) fn fill(&mut self, index: usize, writer: usize, pass: u32) -> Result<(), RunnerError> {
        if self.checked.plan.cases[writer].workload.files.unique_dir {
            let order =
                Prepare { case: writer, pass, replace: false, directories: true, trees: false, data: None };
            self.crew.order(&Order::Prepare(order))?;
        }
        self.phase(index, Some(writer), Phase::Fill, pass, Already::default()).map(|_| ())
    }

    /// Runs a phase of the case `index`, or one that fills the files of the case `fills` within it.
    fn phase(
        &mut self,
        index: usize,
        fills: Option<usize>,
        phase: Phase,
        pass: u32,
        already: Already,
    ) -> Result<Finished, RunnerError> {
        let Already { limits, renamed, steps_before, mut doubts } = already;
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
        let whole = Whole { case, workload, key, nodes: &checked.nodes, on: roster.nodes(topology) };
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
        // Without its tables no job can begin.
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

/// What is known before a phase.
#[derive(Default)]
struct Already {
    /// How far each task may go.
    limits: Option<Vec<u64>>,
    /// Items have the names that a phase has given them.
    renamed: bool,
    /// Steps round objects in each set that each task has done.
    steps_before: Vec<u64>,
    /// What a reader of its figure must know.
    doubts: Vec<Warning>,
}

/// What a phase left.
struct Finished {
    record: PhaseRecord,
    /// Transfers of each task, where the phase ended before one pass was over.
    partial: Option<Vec<u64>>,
    /// Most transfers that a task did.
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

/// Operations of each task that are one pass of `phase`, where fewer leave something unmade.
fn one_pass(workload: &Workload, phase: Phase) -> u64 {
    match &workload.work {
        Work::Transfers => workload.geometry.transfers_per_task(),
        // Without a clock that ends it a task has gone to all its items: what it did not make was in its way.
        Work::Tree(tree) if trees::creates_items(phase) && workload.stonewall.is_some() => {
            tree.items_per_task()
        }
        Work::Tree(_) | Work::Objects(_) | Work::Rpc(_) | Work::Jobs(_) => 0,
    }
}

/// How far the phases that make something have come, where they ended before their pass was over.
#[derive(Debug, Default)]
struct Reached {
    /// Transfers that each task has written.
    written: Option<Vec<u64>>,
    /// Files that each task has made.
    files: Option<Vec<u64>>,
    /// Directories that each task has made.
    directories: Option<Vec<u64>>,
    /// Files have the names that a phase has given them.
    files_renamed: bool,
    /// So have directories.
    directories_renamed: bool,
    /// Steps round objects in each set that each task has done.
    steps: Vec<u64>,
}

impl Reached {
    /// `phase` is over; `partial` is what each task did where that is less than a pass.
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

    /// `phase` is over, which may have gone round objects.
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
                // An operation that came upon a surprise is not among those that were done.
                *steps = steps.saturating_add(match case.workload.stonewall {
                    Some(_) => row.transfers.div_ceil(round),
                    None => objects.steps,
                });
            }
        }
    }

    /// Whether the items of `phase` have the names that a phase has given them.
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

    /// How far each task may go in `phase`: as far as the one whose data or items it touches has come.
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

/// How far each task may read, where a write ended before its pass was over: as far as the task
/// whose data it reads has written.
fn for_readers(written: &[u64], case: &Case, phase: Phase, pass: u32) -> Vec<u64> {
    let placement = Placement::new(&case.workload);
    (0..case.workload.tasks).map(|task| written[placement.owner(task, phase, pass) as usize]).collect()
}
