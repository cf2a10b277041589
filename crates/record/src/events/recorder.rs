//! Writes a run: the journal as events occur, the tables when a case ends.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use plan::{Case, Phase};

use crate::events::begin::{self, FIRST_LINES, NewRun};
use crate::events::index::{CaseEnd, CaseIndex, JournalIndex};
use crate::events::journal::{Event, JournalReader, JournalWriter, LaunchTables, LinePosition, Tables};
use crate::events::resume::InterruptedRun;
use crate::files::directory::{self, RunDirectory};
use crate::files::sums;
use crate::files::survey::Survey;
use crate::format::{FORMAT_VERSION, JOURNAL, MANIFEST};
use crate::manifest::{ManifestText, check_version, read_manifest};
use crate::table::batch::{Batch, sync_all};
use crate::table::parquet_store::{TableWriter, table_path};
use crate::{
    Clocks, FileSystemFacts, HostFacts, LaunchRow, LayoutEvent, Manifest, NodeClock, PhaseKey, PhaseRecord,
    RecordError, RunState, StepRow, WarningRow, Wiped,
};

/// Minimum format version of a run that can be resumed. In version 1 each case had its own tables.
const RESUMED_MIN: u32 = 2;

/// Phases of cases in progress are kept in memory as long as their lines in the journal have fewer bytes.
const KEPT_BYTES: u64 = 16 << 20;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All cases have run.
    Complete,
    /// The user ended the run.
    Interrupted,
    /// The run could not continue, for this reason.
    Failed(String),
}

/// Writes the record of a run.
///
/// When a call returns, its event is on stable storage. The exception is [`Recorder::create`], which leaves this to
/// the first phase: before that there is nothing to lose, and a run should start at once. Between two cases only the
/// journal is synced.
pub struct Recorder {
    directory: RunDirectory,
    /// The directories created for it, innermost first.
    made: Vec<PathBuf>,
    manifest: Manifest,
    journal: JournalWriter,
    /// Reads the phases of a finished case again that are not in `recent`, so that few rows have to be kept in memory.
    reader: JournalReader,
    /// Phases of cases in progress, by line of the journal.
    recent: HashMap<u64, PhaseRecord>,
    recent_bytes: u64,
    /// The cases in progress: one, or several that are interleaved.
    open: Vec<OpenCase>,
    /// Cases that an earlier start of the run has begun but not ended.
    before: Vec<OpenCase>,
    cases: u32,
    finished: HashSet<String>,
    batch: Option<Batch>,
    batches: u32,
    sealed: Vec<PathBuf>,
    run_warnings: Vec<WarningRow>,
    durable: bool,
    /// Whether each event is forced to stable storage before the call returns.
    events_durable: bool,
    /// What was found of a resumed run, until the first call that records something.
    kept: Option<InterruptedRun>,
    /// Whether that run was begun by an earlier version, so that its tables have to be sealed again.
    seal_again: bool,
}

/// A case in progress.
struct OpenCase {
    id: String,
    number: u32,
    phases: Vec<LinePosition>,
    warnings: Vec<WarningRow>,
}

/// A run that is resumed after an interruption.
#[derive(Debug, Clone, PartialEq)]
pub struct Resumed {
    /// The finished cases, in the order in which they ran. They are not run again.
    pub finished: Vec<String>,
    /// The request, and where the run was executed.
    pub manifest: Manifest,
    /// Warnings about finished cases that run again due to damaged rows. The record has them too.
    pub warnings: Vec<WarningRow>,
}

impl Recorder {
    /// Checks whether [`Recorder::create`] can succeed, as far as this can be determined without writing.
    ///
    /// # Errors
    /// Errors if the directory is not empty or cannot be read.
    pub fn check_new(directory: &Path) -> Result<(), RecordError> {
        begin::check_new(directory)
    }

    /// Creates the run directory and starts its record. If two processes do this at the same time, only one succeeds.
    ///
    /// # Errors
    /// Errors if the directory is not empty or cannot be written.
    pub fn create(directory: &Path, manifest: &Manifest) -> Result<Self, RecordError> {
        let NewRun { directory, made, journal, reader } = NewRun::begin(directory, manifest)?;
        Ok(Self { made, ..Self::new(directory, manifest.clone(), (journal, reader)) })
    }

    /// Whether nothing has been recorded yet: no event of a new run, or none since the run was resumed.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.kept.is_some() || self.journal.lines() == FIRST_LINES
    }

    /// Gives up a run without recorded events, leaving its directory as it was found.
    pub fn abandon(self) {
        if self.kept.is_none() && self.is_untouched() {
            begin::remove(&self.directory, &self.made);
        }
    }

    fn new(directory: RunDirectory, manifest: Manifest, files: (JournalWriter, JournalReader)) -> Self {
        let (journal, reader) = files;
        Self {
            directory,
            made: Vec::new(),
            manifest,
            journal,
            reader,
            recent: HashMap::new(),
            recent_bytes: 0,
            open: Vec::new(),
            before: Vec::new(),
            cases: 0,
            finished: HashSet::new(),
            batch: None,
            batches: 0,
            sealed: Vec::new(),
            run_warnings: Vec::new(),
            durable: false,
            events_durable: true,
            kept: None,
            seal_again: false,
        }
    }

    /// Resumes the run in `directory`, which was interrupted or killed, or had failed cases. Starting a case again
    /// supersedes its earlier observations; until then they count. If a case is interleaved with others, its earlier
    /// passes still count ([`Recorder::case_goes_on`]).
    ///
    /// This reads the run and prevents others from resuming it. Nothing on disk changes before something is recorded.
    ///
    /// # Errors
    /// Errors if there is no run, another process writes it, its format version is later or the first, it is
    /// complete, its journal lacks the request, or a part of it cannot be read now.
    pub fn resume(directory: &Path) -> Result<(Self, Resumed), RecordError> {
        let refuse = |why: String| RecordError::CannotResume { path: directory.to_path_buf(), why };
        let is_there = |name: &str| directory::is_there(&directory.into(), &directory.join(name));
        if !is_there(JOURNAL) {
            return match is_there(MANIFEST) {
                true => Err(refuse(
                    "its journal.jsonl is missing, so it is unknown what was finished; start a new run"
                        .to_owned(),
                )),
                false => Err(RecordError::NotARun { path: directory.to_path_buf() }),
            };
        }
        let directory = RunDirectory::hold_whole(directory)?;
        let journal_path = directory.join(JOURNAL);
        begin::check_begun(&directory)?;
        Survey::of(&directory)?;
        let journal = JournalWriter::resume(&directory)?;
        let mut reader = JournalReader::open(&directory).map_err(RecordError::io("read", &journal_path))?;
        // The only effect of a damaged line that matters here is that a case runs again.
        let mut index = JournalIndex::read(&mut reader, &journal_path, &mut Vec::new());
        let mut manifest = match (read_manifest(&directory), index.manifest) {
            (Err(error @ RecordError::NewerVersion { .. }), _) => return Err(error),
            (Ok((manifest, checksum)), _)
                if index.knows_manifest(&checksum, manifest.finished_unix_ns.is_some()) =>
            {
                manifest
            }
            (_, Some((place, _))) => reader
                .manifest(place)
                .map_err(|message| RecordError::Unreadable { path: journal_path.clone(), message })?,
            (Ok((manifest, _)), None) => manifest,
            (Err(error), None) => {
                return Err(refuse(format!("what it was to measure cannot be read ({error})")));
            }
        };
        check_version(&directory, manifest.format_version)?;
        if manifest.format_version < RESUMED_MIN {
            return Err(refuse(format!(
                "it has format version {}, but only versions from {RESUMED_MIN} on can be resumed; start a \
                 new run",
                manifest.format_version
            )));
        }
        let seal_again = manifest.format_version < FORMAT_VERSION;
        if seal_again {
            index.forget_tables();
            manifest.format_version = FORMAT_VERSION;
        }
        let kept = InterruptedRun::of(index, &manifest.plan, &directory, &mut reader)?;
        if kept.state == RunState::Complete && kept.is_all(&manifest) {
            let cases = manifest.plan.cases.len();
            return Err(RecordError::Complete { path: directory.path().to_owned(), cases });
        }
        manifest.finished_unix_ns = None;
        let (finished, warnings) = (kept.finished(), kept.warnings());
        let recorder = Self {
            cases: kept.index.current,
            finished: finished.iter().cloned().collect(),
            batches: kept.batches,
            durable: true,
            kept: Some(kept),
            seal_again,
            ..Self::new(directory, manifest.clone(), (journal, reader))
        };
        Ok((recorder, Resumed { finished, manifest, warnings }))
    }

    /// Prepares the directory of a resumed run for new events. If this fails, the next call tries again.
    fn go_on(&mut self) -> Result<(), RecordError> {
        let Some(kept) = &self.kept else { return Ok(()) };
        sums::remove(&self.directory)?;
        self.journal.cut(&kept.index.whole)?;
        kept.remove_unknown_tables(&self.directory)?;
        let damaged_lines = kept.index.damaged_lines.clone();
        let at_unix_ns = now_unix_ns();
        let (program_version, sealed_again) = (env!("CARGO_PKG_VERSION"), self.seal_again);
        let manifest = self.next_manifest()?;
        let event =
            Event::RunResumed { program_version, at_unix_ns, sealed_again, damaged_lines: &damaged_lines };
        self.journal.append(&event, true)?;
        manifest.write(&self.directory, true)?;
        match self.kept.take() {
            Some(kept) => self.take_up(kept),
            None => Ok(()),
        }
    }

    /// Creates the present manifest, and records its checksum in the journal.
    fn next_manifest(&mut self) -> Result<ManifestText, RecordError> {
        let text = ManifestText::of(&self.directory, &self.manifest)?;
        self.journal.append(&Event::Manifest { checksum: &text.checksum }, true)?;
        Ok(text)
    }

    /// Gathers the cases that were finished but not sealed.
    fn take_up(&mut self, kept: InterruptedRun) -> Result<(), RecordError> {
        let warnings = kept.warnings();
        let cut = (kept.state == RunState::Interrupted).then(|| kept.index.last_phase()).flatten();
        for (number, case) in kept.index.cases {
            if number == 0 {
                self.run_warnings = case.warnings;
                continue;
            }
            let CaseIndex { id, phases, warnings, ended, batch: None, damaged: false } = case else {
                continue;
            };
            let mut case = OpenCase { id, number, phases, warnings };
            match ended {
                CaseEnd::Well => self.gather(case)?,
                CaseEnd::Not => {
                    // The phase may have been ended early by the end of the run, but not if a case at the same time
                    // was finished after it.
                    if !self.runs_with_finished(&case.id) {
                        case.phases.retain(|place| Some(place.line) != cut);
                    }
                    self.before.push(case);
                }
                CaseEnd::Badly(_) => {}
            }
        }
        warnings.iter().try_for_each(|warning| self.warning(warning))
    }

    /// Whether a finished case runs at the same time as this one.
    fn runs_with_finished(&self, id: &str) -> bool {
        let cases = &self.manifest.plan.cases;
        let case = cases.iter().find(|case| case.id == id);
        let is_finished = |other: &&Case| self.finished.contains(&other.id);
        case.is_some_and(|case| cases.iter().filter(is_finished).any(|other| other.runs_with(case)))
    }

    /// Postpones syncing to stable storage until [`Recorder::finish`]. Used if everything is copied from other
    /// records, so that it can be copied again.
    #[must_use]
    pub fn not_durable(mut self) -> Self {
        self.events_durable = false;
        self
    }

    /// Where the run is recorded, as an absolute path.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The run directory, wherever it was moved.
    #[must_use]
    pub fn place(&self) -> RunDirectory {
        self.directory.clone()
    }

    /// Begins a case, possibly while others are in progress.
    ///
    /// # Errors
    /// Errors if the journal cannot be written, the case is already finished, or the run directory was moved.
    pub fn case_started(&mut self, case: &str) -> Result<(), RecordError> {
        self.check_in_place()?;
        if self.finished.contains(case) {
            return Err(RecordError::Finished { case: case.to_owned() });
        }
        self.go_on()?;
        let number = self.cases + 1;
        let at_unix_ns = now_unix_ns();
        self.journal.append(&Event::CaseStarted { case, number, at_unix_ns }, false)?;
        self.cases = number;
        let again: Vec<OpenCase> = self.open.extract_if(.., |open| open.id == case).collect();
        again.iter().flat_map(|open| &open.phases).for_each(|place| drop(self.take_recent(*place)));
        self.open.push(OpenCase { id: case.to_owned(), number, phases: Vec::new(), warnings: Vec::new() });
        Ok(())
    }

    /// Number of first passes of a case that an earlier start of the run has completed, if it has not finished the case;
    /// `phases` are the phases of a pass.
    ///
    /// # Errors
    /// Errors if the journal cannot be read or written, or the run directory was moved.
    pub fn passes_before(&mut self, case: &str, phases: &[Phase]) -> Result<u32, RecordError> {
        self.check_in_place()?;
        self.go_on()?;
        let Some(open) = self.before.iter().find(|open| open.id == case) else { return Ok(0) };
        let kept = open.phases.clone().into_iter().map(|place| self.read(place));
        Ok(whole_passes(&kept.collect::<Result<Vec<_>, _>>()?, phases))
    }

    /// Like [`Recorder::case_started`], but keeps the first passes that an earlier start of the run has completed, at most
    /// so many; `phases` are the phases of a pass. Returns these passes. There are none in a new run.
    ///
    /// # Errors
    /// Same as for [`Recorder::case_started`].
    pub fn case_goes_on(
        &mut self,
        case: &str,
        phases: &[Phase],
        at_most: u32,
    ) -> Result<Vec<PhaseRecord>, RecordError> {
        self.case_started(case)?;
        let Some(before) = self.before.iter().position(|open| open.id == case) else { return Ok(Vec::new()) };
        let OpenCase { phases: places, warnings, .. } = self.before.swap_remove(before);
        let mut kept = places.into_iter().map(|place| self.read(place)).collect::<Result<Vec<_>, _>>()?;
        let passes = whole_passes(&kept, phases).min(at_most);
        kept.retain(|one| one.phase.key.repetition < passes);
        for record in &kept {
            self.phase_finished(record)?;
        }
        let still_counts = |row: &&WarningRow| row.key.as_ref().is_some_and(|key| key.repetition < passes);
        warnings.iter().filter(still_counts).try_for_each(|row| self.warning(row))?;
        Ok(kept)
    }

    /// Records a finished phase. All of it is on stable storage when this returns.
    ///
    /// # Errors
    /// Errors if the journal cannot be written, or if the case is not in progress.
    pub fn phase_finished(&mut self, record: &PhaseRecord) -> Result<(), RecordError> {
        let key = &record.phase.key;
        let Some(case) = self.open.iter_mut().find(|case| key.case == case.id) else {
            return Err(RecordError::NoSuchCase { what: "a phase", case: key.case.to_string() });
        };
        let event = Event::PhaseFinished { key, tables: Tables(record), warnings: &record.warnings };
        let place = self.journal.append(&event, self.events_durable)?;
        case.phases.push(place);
        if self.recent_bytes + place.bytes() <= KEPT_BYTES {
            self.recent_bytes += place.bytes();
            self.recent.insert(place.line, record.clone());
        }
        self.make_durable()
    }

    /// Records launches that have ended in a phase of jobs that is still in progress. All of them are on stable
    /// storage when this returns. [`Recorder::phase_finished`] records them again, and only then do they count.
    ///
    /// # Errors
    /// Errors if the journal cannot be written, or if the case is not in progress.
    pub fn launches_ended(
        &mut self,
        key: &PhaseKey,
        launches: &[LaunchRow],
        steps: &[StepRow],
    ) -> Result<(), RecordError> {
        if !self.open.iter().any(|case| key.case == case.id) {
            return Err(RecordError::NoSuchCase { what: "launches", case: key.case.to_string() });
        }
        let tables = LaunchTables { launches, steps };
        let event = Event::LaunchesEnded { key, tables, at_unix_ns: now_unix_ns() };
        self.journal.append(&event, self.events_durable)?;
        self.make_durable()
    }

    /// Syncs the run directory itself to stable storage, the first time that it contains something to lose.
    fn make_durable(&mut self) -> Result<(), RecordError> {
        if !self.durable {
            let manifest = self.next_manifest()?;
            manifest.write(&self.directory, true)?;
            self.directory.sync(true)?;
            self.durable = true;
        }
        Ok(())
    }

    /// Records a warning that does not belong to a finished phase.
    ///
    /// # Errors
    /// Errors if the journal cannot be written.
    pub fn warning(&mut self, warning: &WarningRow) -> Result<(), RecordError> {
        self.go_on()?;
        self.journal.append(&Event::Warning { warnings: [warning] }, self.events_durable)?;
        let is_its = |case: &&mut OpenCase| warning.key.as_ref().is_some_and(|key| key.case == case.id);
        let warnings = match self.open.iter_mut().find(is_its) {
            Some(case) => &mut case.warnings,
            None => &mut self.run_warnings,
        };
        warnings.push(warning.clone());
        Ok(())
    }

    /// Records a comparison of the clocks of all nodes.
    ///
    /// # Errors
    /// Errors if the journal cannot be written.
    pub fn clocks(&mut self, nodes: &[NodeClock]) -> Result<(), RecordError> {
        let case = self.open.last().map(|case| case.id.clone());
        self.clocks_at(&Clocks { case, at_unix_ns: now_unix_ns(), nodes: nodes.to_vec() })
    }

    /// Like [`Recorder::clocks`], for another time.
    pub(crate) fn clocks_at(&mut self, clocks: &Clocks) -> Result<(), RecordError> {
        self.go_on()?;
        let Clocks { case, at_unix_ns, nodes } = clocks;
        let event = Event::ClocksCompared { case: case.as_deref(), clocks: nodes, at_unix_ns: *at_unix_ns };
        // It is synced together with the next phase; without a next phase it is of no use.
        self.journal.append(&event, false).map(drop)
    }

    /// Adds facts about file systems and devices that did not exist when the run began. The manifest contains them
    /// from the next write on, at the latest after [`Recorder::finish`].
    pub fn add_facts(&mut self, facts: &HostFacts) {
        let host = &mut self.manifest.host;
        for one in &facts.file_systems {
            let is_same = |known: &FileSystemFacts| {
                (&known.mount_point, &known.source) == (&one.mount_point, &one.source)
            };
            if !host.file_systems.iter().any(is_same) {
                host.file_systems.push(one.clone());
            }
        }
        for one in &facts.devices {
            if !host.devices.iter().any(|known| known.name == one.name) {
                host.devices.push(one.clone());
            }
        }
        for one in &facts.target_devices {
            if !host.target_devices.iter().any(|known| known.path == one.path) {
                host.target_devices.push(one.clone());
            }
        }
    }

    /// Adds facts about the host, or about the first node if there are several. The manifest contains them from the
    /// next write on, at the latest after [`Recorder::finish`].
    pub fn complete_host(&mut self, complete: impl FnOnce(&mut HostFacts)) {
        complete(&mut self.manifest.host);
        let host = &self.manifest.host;
        let nodes = self.manifest.cluster.iter_mut().flat_map(|cluster| &mut cluster.nodes);
        if let Some(first) = nodes.into_iter().find(|one| one.host.node == host.node) {
            first.host.clone_from(host);
        }
    }

    /// Records that data was wiped before the first pass or a repetition of `case`. It is on stable storage when this returns.
    ///
    /// # Errors
    /// Errors if the journal cannot be written.
    pub fn wiped(&mut self, case: &str, wiped: &Wiped) -> Result<(), RecordError> {
        self.go_on()?;
        let event = Event::Wiped { case, wiped, at_unix_ns: now_unix_ns() };
        self.journal.append(&event, self.events_durable).map(drop)
    }

    /// Records an event of a layout. It is on stable storage when this returns.
    ///
    /// # Errors
    /// Errors if the journal cannot be written.
    pub fn layout(&mut self, layout: &str, news: &LayoutEvent) -> Result<(), RecordError> {
        self.layout_at(layout, news, now_unix_ns())
    }

    /// Like [`Recorder::layout`], for another time.
    pub(crate) fn layout_at(
        &mut self,
        layout: &str,
        news: &LayoutEvent,
        at_unix_ns: i64,
    ) -> Result<(), RecordError> {
        self.go_on()?;
        let event = Event::Layout { layout, news, at_unix_ns };
        self.journal.append(&event, self.events_durable).map(drop)
    }

    /// Records that a case succeeded. Its rows go into tables, which are sealed when large enough.
    ///
    /// # Errors
    /// Errors if a table or the journal cannot be written. The rows are already in the journal.
    pub fn case_finished(&mut self, case: &str) -> Result<(), RecordError> {
        let open = self.take_case(case)?;
        self.journal.append(&Event::CaseFinished { case }, self.events_durable)?;
        self.finished.insert(open.id.clone());
        self.gather(open)
    }

    /// Records that a case failed. The rows of its finished phases stay in the journal.
    ///
    /// # Errors
    /// Errors if the journal cannot be written.
    pub fn case_failed(&mut self, case: &str, message: &str) -> Result<(), RecordError> {
        let open = self.take_case(case)?;
        open.phases.iter().for_each(|place| drop(self.take_recent(*place)));
        self.journal.append(&Event::CaseFailed { case, message }, self.events_durable).map(drop)
    }

    /// Records a whole case that is copied from elsewhere.
    ///
    /// # Errors
    /// Same as for [`Recorder::case_started`], [`Recorder::phase_finished`] and [`Recorder::case_finished`].
    pub fn case_copied(
        &mut self,
        case: &str,
        phases: impl IntoIterator<Item = PhaseRecord>,
    ) -> Result<(), RecordError> {
        self.case_started(case)?;
        phases.into_iter().try_for_each(|record| self.phase_finished(&record))?;
        self.case_finished(case)
    }

    fn take_case(&mut self, case: &str) -> Result<OpenCase, RecordError> {
        let place = self.open.iter().position(|open| open.id == case);
        let place =
            place.ok_or_else(|| RecordError::NoSuchCase { what: "its end", case: case.to_owned() })?;
        Ok(self.open.remove(place))
    }

    /// Adds the rows of a finished case to the batch. If this fails, the batch is abandoned, since the journal has
    /// its rows.
    fn gather(&mut self, case: OpenCase) -> Result<(), RecordError> {
        let number = self.batches + 1;
        let mut batch = self.batch.take().unwrap_or_else(|| Batch::new(&self.directory, number));
        for place in &case.phases {
            let record = match self.take_recent(*place) {
                Some(record) => record,
                None => self.read(*place)?,
            };
            batch.add(&record)?;
        }
        batch.end_case(case.number, &case.warnings)?;
        if batch.is_full() {
            self.seal(batch)
        } else {
            self.batch = Some(batch);
            Ok(())
        }
    }

    /// A phase that is in memory, which is not needed any more.
    fn take_recent(&mut self, place: LinePosition) -> Option<PhaseRecord> {
        let record = self.recent.remove(&place.line)?;
        self.recent_bytes -= place.bytes();
        Some(record)
    }

    /// Reads a phase from the journal.
    fn read(&mut self, place: LinePosition) -> Result<PhaseRecord, RecordError> {
        self.reader.record(place).map_err(|message| RecordError::Unreadable {
            path: self.directory.join(JOURNAL),
            message: format!("line {} was written but cannot be read: {message}", place.line),
        })
    }

    /// Checks that the run directory and the journal still have their names.
    fn check_in_place(&self) -> Result<(), RecordError> {
        self.directory.check_in_place()?;
        self.journal.check_in_place(&self.directory)
    }

    fn seal(&mut self, batch: Batch) -> Result<(), RecordError> {
        let number = self.batches + 1;
        let (cases, sealed) = batch.seal()?;
        self.batches = number;
        self.sealed.extend(sealed.iter().map(|table| table_path(&self.directory, &table.table, number)));
        self.journal.append(&Event::BatchSealed { number, cases: &cases, sealed: &sealed }, false).map(drop)
    }

    /// Records how much the clocks of the nodes, by number, have changed since the run began. The manifest contains
    /// it when the run has ended.
    pub fn clocks_drifted(&mut self, drift_ns: &[i64]) {
        let nodes = self.manifest.cluster.iter_mut().flat_map(|cluster| &mut cluster.nodes);
        for (node, drift_ns) in nodes.zip(drift_ns) {
            node.clock_drift_ns = Some(*drift_ns);
        }
    }

    /// Ends the run: seals the gathered rows and writes the end to journal and manifest. Rows of finished phases of a
    /// case that is still in progress stay in the journal.
    ///
    /// # Errors
    /// Errors if a table, the journal or the manifest cannot be written, or if the run directory was moved or
    /// removed, or the journal removed or replaced.
    pub fn finish(self, outcome: &Outcome) -> Result<Manifest, RecordError> {
        self.finish_at(outcome, Some(now_unix_ns()))
    }

    /// Like [`Recorder::finish`], for another time, or `None` if the time is not known.
    ///
    /// # Errors
    /// Same as for [`Recorder::finish`].
    pub fn finish_at(mut self, outcome: &Outcome, at_unix_ns: Option<i64>) -> Result<Manifest, RecordError> {
        self.go_on()?;
        let sealed = self.seal_the_rest();
        let (outcome, message) = match outcome {
            Outcome::Complete => ("complete", None),
            Outcome::Interrupted => ("interrupted", None),
            Outcome::Failed(message) => ("failed", Some(message.as_str())),
        };
        self.manifest.finished_unix_ns = at_unix_ns;
        let manifest = self.next_manifest()?;
        self.journal.append(&Event::RunFinished { outcome, message, at_unix_ns }, true)?;
        manifest.write(&self.directory, true)?;
        sealed.and_then(|()| self.check_in_place()).map(|()| self.manifest)
    }

    fn seal_the_rest(&mut self) -> Result<(), RecordError> {
        if let Some(batch) = self.batch.take() {
            self.seal(batch)?;
        }
        let mut warnings = TableWriter::new(&self.directory, 0);
        warnings.add(&std::mem::take(&mut self.run_warnings))?;
        if let Some(sealed) = warnings.seal()? {
            self.sealed.push(table_path(&self.directory, &sealed.table, 0));
            self.journal.append(&Event::BatchSealed { number: 0, cases: &[], sealed: &[sealed] }, false)?;
        }
        sync_all(&self.directory, &self.sealed)
    }
}

pub(crate) fn now_unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Number of first passes of which `kept` has all `phases`.
fn whole_passes(kept: &[PhaseRecord], phases: &[Phase]) -> u32 {
    let is_whole = |pass: u32| {
        let has = |phase: &Phase| {
            kept.iter().any(|one| (one.phase.key.repetition, one.phase.key.phase) == (pass, *phase))
        };
        phases.iter().all(has)
    };
    (0..).find(|pass| phases.is_empty() || !is_whole(*pass)).unwrap_or(0)
}
