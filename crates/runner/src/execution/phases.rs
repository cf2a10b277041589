//! One phase of one pass of a case: its preconditions, its order to all ranks, and its record.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use engine::Controls;
use plan::{Case, Existing, Phase, Placement, Workload};
use record::{PhaseKey, PhaseRecord, Warning};

use crate::execution::jobs::{JobRows, is_failure};
use crate::execution::servers::OutputBefore;
use crate::execution::state::{ExecutionState, FileNodes};
use crate::files::data::fill_workload;
use crate::files::paths;
use crate::files::trees;
use crate::ranks::merge_ranks::PhaseTotals;
use crate::ranks::order::{Answer, KnownContent, Order, PhaseOrder, Prepare, ranges};
use crate::ranks::phase_result::{PhaseResult, WorkOfAll, expected};
use crate::ranks::rank_assignment::RankAssignment;
use crate::ranks::rows::Table;
use crate::{Event, RunnerError};

impl<'a> ExecutionState<'a> {
    /// Creates directories, removes files that a write replaces, and makes sure that the data to be read
    /// exists.
    pub(super) fn prepare(
        &mut self,
        index: usize,
        case: &Case,
        phase: Phase,
        pass: u32,
    ) -> Result<(), RunnerError> {
        let files = &case.workload.files;
        if !case.workload.backend.moves_data() || self.ranks.is_simulated() {
            return Ok(());
        }
        let rewrites = files.fill && files.existing == Existing::Reuse;
        let replace = phase == Phase::Write && !rewrites && files.existing == Existing::Replace;
        let directories = files.unique_dir && phase.is_transfers() && (phase.writes() || files.fill);
        let needs_data = phase.needs_data() || (rewrites && case.workload.work.is_transfers());
        let trees = trees::makes(case)
            && (phase.begins() || (trees::in_target(&case.workload) && case.phases.first() == Some(&phase)));
        if !(replace || directories || needs_data || trees) {
            return Ok(());
        }
        let started = Instant::now();
        let data = needs_data.then(|| self.known(case, pass));
        let order = Order::Prepare(Prepare { case: index, pass, replace, directories, trees, data });
        let prepared = self.ranks.order(&order).map_err(|error| match needs_data && error.is_about_files() {
            true if self.has_written(case, pass) => RunnerError::DataGone { message: error.to_string() },
            _ => error,
        });
        let Answer::Files { removed, there } = prepared? else {
            return Err(RunnerError::OutOfPlace);
        };
        if replace {
            let file_nodes = self.file_nodes(case);
            for slot in Placement::new(&case.workload).files(pass) {
                if !paths::leads_to_device(&slot.path) {
                    self.written.removed(file_nodes.of(slot.index), &slot.path);
                }
            }
        }
        if removed > 0 && pass > 0 {
            self.removed(pass - 1, started);
        }
        if there { Ok(()) } else { self.fill(index, index, pass) }
    }

    /// Whether this run has written all data of the files of a pass, so that it must exist.
    fn has_written(&self, case: &Case, pass: u32) -> bool {
        let file_nodes = self.file_nodes(case);
        let content = |slot: &plan::FileSlot| self.written.content(file_nodes.of(slot.index), &slot.path);
        let files = Placement::new(&case.workload).files(pass);
        files.iter().all(|slot| content(slot).is_some_and(|content| !content.partial))
    }

    /// Whether this run has written to all files of a pass, so that their content is its own.
    fn has_touched(&self, case: &Case, pass: u32) -> bool {
        let file_nodes = self.file_nodes(case);
        let files = Placement::new(&case.workload).files(pass);
        files.iter().all(|slot| self.written.content(file_nodes.of(slot.index), &slot.path).is_some())
    }

    /// What the run knows about the files of a pass in addition to what is on disk.
    fn known(&self, case: &Case, pass: u32) -> KnownContent {
        let file_nodes = self.file_nodes(case);
        let files = Placement::new(&case.workload).files(pass);
        let is = |partial: bool| {
            let content = |slot: &plan::FileSlot| self.written.content(file_nodes.of(slot.index), &slot.path);
            let of = move |slot: &plan::FileSlot| {
                (slot.index, content(slot).is_some_and(|one| one.partial == partial))
            };
            ranges(files.iter().map(of))
        };
        let discarded = files
            .iter()
            .map(|slot| (slot.index, self.written.is_discarded(file_nodes.of(slot.index), &slot.path)));
        KnownContent { partial: is(true), discarded: ranges(discarded), written: is(false) }
    }

    /// Writes all data of the files of `pass` of the case `writer`, on behalf of the case `index`. This is
    /// not part of the results.
    pub(super) fn fill(&mut self, index: usize, writer: usize, pass: u32) -> Result<(), RunnerError> {
        if self.checked.plan.cases[writer].workload.files.unique_dir {
            let order =
                Prepare { case: writer, pass, replace: false, directories: true, trees: false, data: None };
            self.ranks.order(&Order::Prepare(order))?;
        }
        self.phase(index, Some(writer), Phase::Fill, pass, PhasePreconditions::default()).map(|_| ())
    }

    /// Runs a phase of the case `index`, or on its behalf a fill of the files or objects of the case `fills`. A
    /// fill appears in the record only as `Phase::Fill`.
    pub(super) fn phase(
        &mut self,
        index: usize,
        fills: Option<usize>,
        phase: Phase,
        pass: u32,
        preconditions: PhasePreconditions,
    ) -> Result<FinishedPhase, RunnerError> {
        *self.phases += 1;
        let number = *self.phases;
        let mut begun = self.begin_phase((index, fills), (phase, pass), number, preconditions)?;
        self.announce(&begun, &Arc::clone(&self.controls));
        let key = begun.key.clone();
        let topology = self.ranks.comm().topology();
        let mut table = Table::new(key.clone(), topology.names());
        // Jobs run on one node.
        let node = topology.names().first().map_or("", String::as_str);
        let asked = self.ask_servers(&begun);
        let mut keep = |rows: JobRows| {
            let rows = rows.of(&key, node);
            self.recorder.launches_ended(&key, &rows.launches, &rows.steps)
        };
        let totals = self.ranks.phase(begun.order.clone(), &mut table, &mut keep)?;
        self.ask_again(asked, &mut begun, &mut table);
        self.end_phase(begun, &totals, table, None)
    }

    /// Asks the servers of a case before a phase whose figures are results.
    pub(super) fn ask_servers(&self, begun: &BegunPhase<'_>) -> Option<OutputBefore> {
        let BegunPhase { case, order, .. } = begun;
        let asks = order.fills.is_none() && order.phase.is_result() && !self.ranks.is_simulated();
        asks.then(|| self.servers.before(case, &self.controls))
    }

    /// The same after the phase.
    pub(super) fn ask_again(
        &mut self,
        asked: Option<OutputBefore>,
        begun: &mut BegunPhase<'_>,
        table: &mut Table<'_>,
    ) {
        if let Some((asked, executor)) = asked.zip(self.ranks.executor()) {
            let (told, untold) = asked.after(begun.case, begun.order.pass, executor.host, &self.controls);
            told.iter().for_each(|told| table.tell("", told));
            begun.warnings_before.extend(untold);
        }
    }

    /// The order of a phase, which has this `number` in the run.
    pub(super) fn begin_phase(
        &mut self,
        (index, fills): (usize, Option<usize>),
        (phase, pass): (Phase, u32),
        number: u64,
        preconditions: PhasePreconditions,
    ) -> Result<BegunPhase<'a>, RunnerError> {
        let PhasePreconditions { limits, renamings, steps_before, warnings_before } = preconditions;
        let checked = self.checked;
        let case = &checked.plan.cases[index];
        let workload = match fills {
            Some(writer) => Cow::Owned(fill_workload(&checked.plan.cases[writer].workload)?),
            None => Cow::Borrowed(&case.workload),
        };
        let assignment = RankAssignment::of(&workload, self.ranks.comm().topology())?;
        let file_nodes = self.file_nodes(fills.map_or(case, |writer| &checked.plan.cases[writer]));
        let generation = if phase.writes() { self.written.next_generation() } else { 0 };
        let content = |file: &plan::FileSlot| self.written.content(file_nodes.of(file.index), &file.path);
        let expect = expected(&workload, phase, pass, generation, content);
        let made = case.phases.iter().any(|phase| phase.creates_items());
        let reads = phase.needs_data() && !self.ranks.is_simulated();
        let written = made || (reads && self.has_touched(case, pass));
        let order = PhaseOrder {
            written,
            number,
            case: index,
            fills,
            phase,
            pass,
            generation,
            expect,
            limits,
            renamings,
            steps_before,
        };
        let key = PhaseKey { case: case.id.as_str().into(), repetition: pass, phase };
        Ok(BegunPhase { case, workload, assignment, file_nodes, key, order, warnings_before })
    }

    /// Shows that a phase begins, whose progress is that of `controls`.
    pub(super) fn announce(&mut self, begun: &BegunPhase<'_>, controls: &Arc<Controls>) {
        let BegunPhase { case, workload, assignment, order, .. } = begun;
        // A machine runs all tasks; with ranks, each counts its own.
        let own = match self.ranks.is_simulated() {
            true => workload.tasks as usize,
            false => assignment.tasks_of(self.ranks.comm().rank()).len(),
        };
        if !self.replays {
            self.watch.event(&Event::PhaseStarted {
                case,
                repetition: order.pass,
                phase: order.phase,
                planned_bytes: workload.bytes().get(),
                controls,
                share: own as f64 / f64::from(workload.tasks),
            });
        }
    }

    /// Records a phase that has ended; `of_all` is the work of all phases that ran at the same time.
    pub(super) fn end_phase(
        &mut self,
        begun: BegunPhase<'_>,
        totals: &PhaseTotals,
        table: Table<'_>,
        of_all: Option<&WorkOfAll>,
    ) -> Result<FinishedPhase, RunnerError> {
        let BegunPhase { case, workload, assignment, file_nodes, key, order, warnings_before } = begun;
        let PhaseOrder { phase, pass, generation, fills, .. } = order;
        let is_simulated = self.ranks.is_simulated();
        let whole = PhaseResult {
            case,
            workload: &workload,
            key,
            nodes: &self.checked.nodes,
            on: assignment.nodes(self.ranks.comm().topology()),
            is_simulated,
            of_all,
        };
        let finished = FinishedPhase::of(
            whole.record(totals, table, warnings_before),
            workload.work.kind().needed(&workload, phase),
        );
        if phase.writes() {
            let whole = phase.only_writes() && workload.duration.is_none() && finished.partial.is_none();
            for slot in Placement::new(&workload).files(pass) {
                let node = file_nodes.of(slot.index);
                self.written.written(node, &slot.path, generation, whole, finished.partial.is_some());
            }
        }
        if self.replays || (fills.is_some() && phase.is_result()) {
            return Ok(finished);
        }
        self.summary.wrong_cells += finished.record.phase.wrong_cells;
        self.summary.surprises += finished.record.phase.surprises;
        let failed = || finished.record.launches.iter().filter(|row| is_failure(row));
        self.summary.failed_launches += failed().count() as u64;
        self.recorder.phase_finished(&finished.record)?;
        self.watch.event(&Event::PhaseFinished(&finished.record));
        // No job can start without its tables.
        match failed().next().filter(|_| phase == Phase::Load) {
            Some(row) => Err(RunnerError::Unloaded {
                table: row.test.to_string(),
                stream: row.stream,
                message: row.message.to_string(),
            }),
            None => Ok(finished),
        }
    }
}

/// A phase between its begin and its end.
pub(super) struct BegunPhase<'a> {
    case: &'a Case,
    /// The case's workload, or the one that fills its files.
    workload: Cow<'a, Workload>,
    assignment: RankAssignment,
    file_nodes: FileNodes,
    pub(super) key: PhaseKey,
    pub(super) order: PhaseOrder,
    /// Warnings about the phase's figure.
    warnings_before: Vec<Warning>,
}

/// The state before a phase.
#[derive(Default)]
pub(super) struct PhasePreconditions {
    /// Maximum number of operations for each task.
    pub(super) limits: Option<Vec<u64>>,
    /// Number of times that earlier phases have renamed the files of a tree.
    pub(super) renamings: u32,
    /// Number of steps in each set of objects that each task has done.
    pub(super) steps_before: Vec<u64>,
    /// Warnings about the phase's figure.
    pub(super) warnings_before: Vec<Warning>,
}

/// Result of a phase.
pub(super) struct FinishedPhase {
    pub(super) record: PhaseRecord,
    /// Whether checks have found errors in data or items, or launches of jobs have failed.
    pub(super) found_wrong: bool,
    /// Number of transfers of each task, if the phase ended within the first pass.
    pub(super) partial: Option<Vec<u64>>,
    /// Largest number of transfers of a task.
    pub(super) most_transfers: u64,
}

impl FinishedPhase {
    /// Creates the result; `pass` is the number of transfers of each task in one pass.
    fn of(record: PhaseRecord, pass: u64) -> Self {
        let transfers = || record.tasks.iter().map(|row| row.transfers);
        let is_short = transfers().any(|transfers| transfers < pass);
        Self {
            partial: is_short.then(|| transfers().collect()),
            most_transfers: transfers().max().unwrap_or(0),
            found_wrong: record.phase.wrong_cells > 0
                || record.phase.surprises > 0
                || record.launches.iter().any(is_failure),
            record,
        }
    }
}
