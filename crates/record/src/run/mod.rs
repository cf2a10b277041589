//! Reads a run, whether or not it is complete. Readable parts are returned, unreadable ones are reported.

pub(crate) mod differing_terms;
pub(crate) mod merge;
pub(crate) mod own_parts;
pub(crate) mod parts;
pub(crate) mod passes;
pub(crate) mod rows_by_case;
pub(crate) mod state;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plan::{Case, Phase};

use crate::events::begin::check_begun;
use crate::events::index::{CaseEnd, CaseIndex, JournalIndex};
use crate::events::interrupted::InterruptedPass;
use crate::events::journal::{JournalReader, LinePosition};
use crate::events::pause::{self, Pause};
use crate::files::directory::{self, RunDirectory};
use crate::files::limits::TextBudget;
use crate::files::survey::{Survey, tables_in};
use crate::format::{JOURNAL, MANIFEST};
use crate::manifest::{check_version, read_manifest};
use crate::rows::phase_record::PhaseRecord;
use crate::run::parts::Part;
use crate::run::state::{FailedCase, RunState};
use crate::table::parquet_store::{SealedTable, read_table, read_table_for_now, table_path, verify};
use crate::table::store::{BatchFiles, JournalCase, MemoryRows, Rows, Source, Store};
use crate::table::tables::TABLES;
use crate::{
    CaseId, Clocks, Damage, DeviceRow, EndRow, HistoryRow, LatencyRow, LaunchRow, LayoutLifetime, LoadRow,
    Manifest, ModelSource, NodeSeriesRow, PhaseKey, PhaseRow, PrintedRow, Provenance, RecordError, Row,
    SeriesRow, ServerRow, ServerTextRow, SharedText, SpaceRow, StepRow, TaskRow, WarningRow, Wiped,
};

/// A run as read from disk.
///
/// The journal is authoritative while a run is in progress. Intact tables are read because this is faster; otherwise
/// the rows come from the journal. Rows are in the order of the cases.
///
/// Warnings are in memory. Rows are loaded on demand for one case at a time, because a long study has millions of rows.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its directory.
    pub directory: PathBuf,
    /// The request, and where the run was executed.
    pub manifest: Manifest,
    /// Warnings.
    pub warnings: Vec<WarningRow>,
    /// Its state.
    pub state: RunState,
    /// Cases that succeeded, in order.
    pub finished_cases: Vec<String>,
    /// Cases that failed.
    pub failed_cases: Vec<FailedCase>,
    /// Launches of jobs in passes that were discarded because the run ended during them or their case was started
    /// again. Those of one attempt are adjacent.
    pub interrupted: Vec<InterruptedPass>,
    /// What was wiped before which case, in order.
    pub wiped: Vec<(String, Wiped)>,
    /// The layouts, one entry for each creation, in order; those of several merged runs one run after another.
    pub layouts: Vec<LayoutLifetime>,
    /// The comparisons of the nodes' clocks, in order.
    pub clocks: Vec<Clocks>,
    /// Times in which the run did not run, because it had ended early and was resumed later, in order.
    pub pauses: Vec<Pause>,
    /// What could not be read.
    pub damage: Vec<Damage>,
    /// The run beside which commitments are judged that are about a part of what it reached; never stored.
    pub reference: Option<Box<Reference>>,
    /// The runs from which this one was merged; empty if it was not merged.
    pub parts: Vec<Part>,
    pub(crate) store: Arc<Store>,
    place: RunDirectory,
}

/// A run that commitments refer to.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The run.
    pub run: Run,
    /// SHA-256 of the sums of all its files ([`crate::Sums`]), in hexadecimal digits.
    pub sha256: String,
}

impl Run {
    /// A complete run without a directory, made from `records` in their order.
    #[must_use]
    pub fn in_memory(manifest: Manifest, mut records: Vec<PhaseRecord>) -> Self {
        let mut run = Self::without_rows(Path::new("").into(), manifest, RunState::Complete);
        for record in &mut records {
            run.warnings.append(&mut record.warnings);
        }
        run.store = Arc::new(Store::of(records));
        run.finished_cases = run.store.cases.iter().map(ToString::to_string).collect();
        run
    }

    pub(crate) fn without_rows(place: RunDirectory, manifest: Manifest, state: RunState) -> Self {
        Self {
            directory: place.path().to_owned(),
            place,
            manifest,
            warnings: Vec::new(),
            state,
            finished_cases: Vec::new(),
            failed_cases: Vec::new(),
            interrupted: Vec::new(),
            wiped: Vec::new(),
            layouts: Vec::new(),
            clocks: Vec::new(),
            pauses: Vec::new(),
            damage: Vec::new(),
            reference: None,
            parts: Vec::new(),
            store: Arc::default(),
        }
    }

    /// The cases that have rows, in their order on disk. If cases are processed in this order, everything is read
    /// only once.
    #[must_use]
    pub fn cases(&self) -> &[CaseId] {
        &self.store.cases
    }

    /// The phases of `case`.
    #[must_use]
    pub fn phases(&self, case: &str) -> Rows<PhaseRow> {
        self.store.rows(case)
    }

    /// The phases of all cases, in the order of the cases.
    pub fn all_phases(&self) -> impl Iterator<Item = PhaseRow> {
        let of_case = |case: &CaseId| {
            let rows = self.phases(case);
            (0..rows.len()).map(move |place| rows[place].clone())
        };
        self.cases().iter().flat_map(of_case)
    }

    /// The tasks of all phases of `case`.
    #[must_use]
    pub fn tasks(&self, case: &str) -> Rows<TaskRow> {
        self.store.rows(case)
    }

    /// The latency histograms of all phases of `case`.
    #[must_use]
    pub fn latency(&self, case: &str) -> Rows<LatencyRow> {
        self.store.rows(case)
    }

    /// The per-second series of all phases of `case`.
    #[must_use]
    pub fn series(&self, case: &str) -> Rows<SeriesRow> {
        self.store.rows(case)
    }

    /// The per-second series of each node in all phases of `case`; empty if there is only one node.
    #[must_use]
    pub fn nodes(&self, case: &str) -> Rows<NodeSeriesRow> {
        self.store.rows(case)
    }

    /// The devices in all phases of `case`.
    #[must_use]
    pub fn devices(&self, case: &str) -> Rows<DeviceRow> {
        let rows: Rows<DeviceRow> = self.store.rows(case);
        if rows.iter().all(|row| !row.node.is_empty()) {
            return rows;
        }
        // Up to version 2 a run had a single node, which is recorded with the tasks.
        let tasks = self.tasks(case);
        let nodes: HashMap<(u32, Phase), &SharedText> =
            tasks.iter().map(|task| ((task.key.repetition, task.key.phase), &task.node)).collect();
        let node_of = |key: &PhaseKey| nodes.get(&(key.repetition, key.phase)).copied();
        let first = SharedText::from(&self.manifest.host.node);
        let named = |row: &DeviceRow| match row.node.is_empty() {
            true => DeviceRow { node: node_of(&row.key).unwrap_or(&first).clone(), ..row.clone() },
            false => row.clone(),
        };
        rows.iter().map(named).collect::<Vec<_>>().into()
    }

    /// Contention and throttling of the nodes in all phases of `case`.
    #[must_use]
    pub fn load(&self, case: &str) -> Rows<LoadRow> {
        self.store.rows(case)
    }

    /// The last operations of all phases of `case`; empty unless requested.
    #[must_use]
    pub fn history(&self, case: &str) -> Rows<HistoryRow> {
        self.store.rows(case)
    }

    /// What another tool printed about all phases of `case`. Empty if ioproof measured, except for the results of
    /// `ioproof io500`.
    #[must_use]
    pub fn printed(&self, case: &str) -> Rows<PrintedRow> {
        self.store.rows(case)
    }

    /// The endpoints of the exchanges in all phases of `case`; empty if there were none.
    #[must_use]
    pub fn ends(&self, case: &str) -> Rows<EndRow> {
        self.store.rows(case)
    }

    /// Counters of servers and clients around all phases of `case`; empty unless collected.
    #[must_use]
    pub fn servers(&self, case: &str) -> Rows<ServerRow> {
        self.store.rows(case)
    }

    /// The texts from which these counters were read.
    #[must_use]
    pub fn server_texts(&self, case: &str) -> Rows<ServerTextRow> {
        self.store.rows(case)
    }

    /// The launches in all phases of jobs of `case`; empty if there were none.
    #[must_use]
    pub fn launches(&self, case: &str) -> Rows<LaunchRow> {
        self.store.rows(case)
    }

    /// The steps of these launches.
    #[must_use]
    pub fn steps(&self, case: &str) -> Rows<StepRow> {
        self.store.rows(case)
    }

    /// The bytes that these launches moved in each space.
    #[must_use]
    pub fn spaces(&self, case: &str) -> Rows<SpaceRow> {
        self.store.rows(case)
    }

    /// Data that was intact when the run was opened, but could not be read later.
    #[must_use]
    pub fn late_damage(&self) -> Vec<Damage> {
        self.store.late()
    }

    /// The provenance of the figures of `case`. A measured run may also contain cases of another tool.
    #[must_use]
    pub fn provenance(&self, case: &Case) -> Provenance {
        match self.part_of(case).map_or(self.manifest.provenance, |part| part.provenance) {
            Provenance::Measured if case.stated.is_some() => Provenance::Imported,
            found => found,
        }
    }

    /// The model that computed the figures of a case.
    #[must_use]
    pub fn model_of(&self, case: &Case) -> Option<&ModelSource> {
        self.part_of(case).map_or(self.manifest.model.as_ref(), |part| part.model.as_ref())
    }

    /// The part with a case, or one that is like it.
    fn part_of(&self, case: &Case) -> Option<&Part> {
        let is_alike =
            |one: &Part, other: &Part| (one.provenance, &one.model) == (other.provenance, &other.model);
        match self.parts.as_slice() {
            // Usually all parts are alike, so that the case need not be searched among thousands.
            [first, rest @ ..] if rest.iter().all(|part| is_alike(part, first)) => Some(first),
            parts => parts.iter().find(|part| part.cases.iter().any(|of| *of == case.id)),
        }
    }

    /// Reads the run in `directory`. Every table is compared with its checksum, so that damage is detected before any
    /// figure is shown.
    ///
    /// # Errors
    /// Errors if there is no run, if it was written by a later program, or if neither manifest nor journal describes
    /// the run. All lesser damage is in [`Run::damage`].
    pub fn open(directory: impl Into<RunDirectory>) -> Result<Self, RecordError> {
        let directory = &directory.into();
        let (manifest_path, journal_path) = (directory.join(MANIFEST), directory.join(JOURNAL));
        if !directory::is_there(directory, &manifest_path) && !directory::is_there(directory, &journal_path) {
            return Err(RecordError::NotARun { path: directory.path().to_owned() });
        }
        check_begun(directory)?;
        let survey = Survey::of(directory)?;
        let mut damage = Vec::new();
        let manifest = match read_manifest(directory) {
            Err(error @ RecordError::NewerVersion { .. }) => return Err(error),
            other => other,
        };
        let mut journal = match JournalReader::open(directory) {
            Ok(journal) => Some(journal),
            Err(error) => {
                let what = format!("{error}; only sealed tables were read");
                damage.push(Damage { path: journal_path.clone(), what });
                None
            }
        };
        let mut index = journal
            .as_mut()
            .map(|journal| JournalIndex::read(journal, &journal_path, &mut damage))
            .unwrap_or_default();
        if journal.is_some() && index.manifest.is_none() && damage.is_empty() {
            let what = "it does not begin with the start of the run; its beginning is lost".to_owned();
            damage.push(Damage { path: journal_path.clone(), what });
        }
        let mut in_journal = || {
            let (place, _) = index.manifest?;
            let read = journal.as_mut()?.manifest(place);
            let lost =
                |what| Damage { path: journal_path.clone(), what: format!("line {}: {what}", place.line) };
            read.map_err(|what| damage.push(lost(what))).ok()
        };
        let manifest = match manifest {
            Ok((manifest, checksum))
                if index.knows_manifest(&checksum, manifest.finished_unix_ns.is_some()) =>
            {
                manifest
            }
            Ok((manifest, _)) => {
                let journal = in_journal();
                let instead = if journal.is_some() { "; read from the journal instead" } else { "" };
                let what = format!("it is not what was written: its checksum differs{instead}");
                damage.push(Damage { path: manifest_path, what });
                journal.unwrap_or(manifest)
            }
            Err(error) => {
                let Some(manifest) = in_journal() else { return Err(error) };
                check_version(directory, manifest.format_version)?;
                damage.push(Damage {
                    path: manifest_path,
                    what: format!("{error}; read from the journal instead"),
                });
                manifest
            }
        };
        let mut run = Self::without_rows(directory.clone(), manifest, index.state());
        run.finished_cases = index.finished();
        run.failed_cases = index.failed();
        run.wiped = std::mem::take(&mut index.wiped);
        run.layouts = std::mem::take(&mut index.layouts);
        run.clocks = std::mem::take(&mut index.clocks);
        run.pauses = std::mem::take(&mut index.pauses);
        run.damage = damage;
        run.parts = parts::read_parts(directory, &mut run.damage);
        if run.manifest.finished_unix_ns.is_none() {
            run.manifest.finished_unix_ns = index.finished_unix_ns;
        }
        let mut texts = TextBudget::of_run(survey.stored);
        match journal {
            Some(mut journal) => {
                // Tables that are not in the journal are read completely.
                if run.has_unknown_tables(&index) {
                    survey.check(directory.path())?;
                }
                run.fill(&mut journal, index, &mut texts);
                if !run.pauses.is_empty() {
                    let mut pauses = std::mem::take(&mut run.pauses);
                    pause::narrow(&mut pauses, run.all_phases());
                    run.pauses = pauses;
                }
            }
            None => {
                survey.check(directory.path())?;
                run.state =
                    RunState::Failed { message: "its journal is lost: how it ended is not known".to_owned() };
                run.fill_without_journal(&mut texts);
            }
        }
        Ok(run)
    }

    /// Reads each case from its batch, or from the journal if a table is damaged. A batch is read with the first of
    /// its cases and dropped after the last, so that only those of neighbouring cases are in memory.
    fn fill(&mut self, journal: &mut JournalReader, mut index: JournalIndex, texts: &mut TextBudget) {
        let unknown = self.unknown_tables(&mut index, texts);
        let mut unread = std::mem::take(&mut index.batches);
        let mut take_batch = |run: &mut Self, number: u32| {
            let batch = unread.remove(&number)?;
            run.take_batch(number, &batch.sealed, texts)
        };
        let of_run = take_batch(self, 0);
        // Warnings about the run as a whole, if their lines in the journal are lost.
        if let Some(batch) = of_run.filter(|_| !index.cases.contains_key(&0)) {
            self.warnings.extend(batch.warnings.into_values().flatten());
        }
        let mut left: HashMap<u32, usize> = HashMap::new();
        for number in index.cases.values().filter_map(|case| case.batch) {
            *left.entry(number).or_default() += 1;
        }
        let mut batches: HashMap<u32, Option<BatchRowsByCase>> = HashMap::new();
        let mut store = Store::default();
        for (number, case) in std::mem::take(&mut index.cases) {
            if number == 0 {
                self.warnings.extend(case.warnings);
                continue;
            }
            let of_batch = case.batch;
            let batch = of_batch.and_then(|number| {
                batches.entry(number).or_insert_with(|| take_batch(self, number)).as_mut()
            });
            match batch {
                Some(batch) => self.take_sealed(&mut store, batch, case),
                None => self.take_journal(&mut store, journal, case),
            }
            let left = of_batch.and_then(|number| Some((number, left.get_mut(&number)?)));
            if let Some((number, left)) = left {
                *left -= 1;
                if *left == 0 {
                    batches.remove(&number);
                }
            }
        }
        if let Some((rows, cases)) = unknown {
            self.take_unknown(&mut store, rows, &cases);
        }
        self.store = Arc::new(store);
        self.take_interrupted(journal, &index);
    }

    /// Reads the launches of all passes that are not among the phases.
    fn take_interrupted(&mut self, journal: &mut JournalReader, index: &JournalIndex) {
        if index.attempts.is_empty() {
            return;
        }
        let path = self.directory.join(JOURNAL);
        for attempt in &index.attempts {
            let is_last = attempt.number == index.attempts_at(&attempt.case);
            let phases = self.phases(&attempt.case);
            let counts = |key: &PhaseKey| is_last && phases.iter().any(|row| row.key == *key);
            let lost = |place: LinePosition, what: String| {
                let what = format!("line {}: {what}; its launches are lost", place.line);
                self.damage.push(Damage { path: path.clone(), what });
            };
            self.interrupted.extend(attempt.passes(counts, journal, lost));
        }
    }

    /// Whether there are tables that belong to no batch of `index`.
    fn has_unknown_tables(&self, index: &JournalIndex) -> bool {
        let is_unknown =
            |path: &PathBuf| number_of(path).is_some_and(|number| !index.batches.contains_key(&number));
        tables_in(&self.place, PhaseRow::TABLE).iter().any(is_unknown)
    }

    /// Complete tables of cases whose end is missing in a truncated journal. A table is only sealed when its cases
    /// have succeeded. What the journal has of these cases is removed from `index`.
    fn unknown_tables(
        &mut self,
        index: &mut JournalIndex,
        texts: &mut TextBudget,
    ) -> Option<(UnverifiedRows, HashSet<CaseId>)> {
        // In version 1 tables were sealed before the case had ended. If the run is in progress, the journal now has
        // more than when it was read.
        if index.held || self.manifest.format_version < 2 {
            return None;
        }
        let ended: HashSet<&str> = index
            .cases
            .values()
            .filter(|case| case.ended == CaseEnd::Well)
            .map(|case| case.id.as_str())
            .collect();
        let mut rows = UnverifiedRows::default();
        let mut cases = HashSet::new();
        for path in tables_in(&self.place, PhaseRow::TABLE) {
            let Some(number) = number_of(&path).filter(|number| !index.batches.contains_key(number)) else {
                continue;
            };
            let lost = |row: &&PhaseRow| !ended.contains(&*row.key.case);
            let phases = read_table_for_now::<PhaseRow>(&self.place, &path).unwrap_or_default();
            let before = cases.len();
            cases.extend(phases.iter().filter(lost).map(|row| row.key.case.clone()));
            if cases.len() == before {
                continue;
            }
            self.damage.push(Damage {
                path: self.directory.join(JOURNAL),
                what: format!(
                    "cases without an end: {}; they were read from the tables {number:06}.parquet, which \
                     cannot be verified",
                    cases.len() - before
                ),
            });
            for table in TABLES {
                let path = table_path(&self.place, table, number);
                // A table without rows has no file.
                if directory::is_there(&self.place, &path)
                    && let Err(error) = rows.read(table, (&self.place, &path), texts)
                {
                    self.damage.push(Damage { path, what: format!("{error}; its rows are lost") });
                }
            }
        }
        index.cases.retain(|_, case| !cases.contains(case.id.as_str()));
        (!cases.is_empty()).then_some((rows, cases))
    }

    /// Adds the rows of `cases`.
    fn take_unknown(&mut self, store: &mut Store, mut rows: UnverifiedRows, cases: &HashSet<CaseId>) {
        rows.warnings.retain(|row| row.key.as_ref().is_some_and(|key| cases.contains(&key.case)));
        let more = Store::of_tables(rows.others, |case| cases.contains(case));
        for id in &more.cases {
            store.add(id.clone(), more.sources[id].clone());
            self.finished_cases.push(id.to_string());
        }
        self.failed_cases.retain(|failed| !cases.contains(failed.case.as_str()));
        self.warnings.append(&mut rows.warnings);
    }

    /// Reads the phases and warnings of a batch, and verifies its other tables. Returns `None` if one of the tables
    /// is damaged, so that its cases are read from the journal completely.
    fn take_batch(
        &mut self,
        number: u32,
        sealed: &[SealedTable],
        texts: &mut TextBudget,
    ) -> Option<BatchRowsByCase> {
        let mut rows_by_case = BatchRowsByCase::default();
        let mut whole = true;
        for table in sealed {
            let path = table_path(&self.place, &table.table, number);
            let place = (&self.place.clone(), path.as_path());
            if let Err(error) =
                verify(place.0, place.1, table).and_then(|()| rows_by_case.read(&table.table, place, texts))
            {
                whole = false;
                self.damage.push(Damage {
                    path,
                    what: format!("{error}; its rows were read from the journal instead"),
                });
            }
        }
        rows_by_case.files = Some(Arc::new(BatchFiles {
            directory: self.place.clone(),
            number,
            tables: sealed.iter().map(|table| table.table.clone()).collect(),
        }));
        whole.then_some(rows_by_case)
    }

    fn take_sealed(&mut self, store: &mut Store, batch: &mut BatchRowsByCase, case: CaseIndex) {
        self.warnings.append(&mut batch.warnings.remove(case.id.as_str()).unwrap_or_default());
        if let Some((files, id)) = batch.files.clone().zip(batch.cases.take(case.id.as_str())) {
            store.add(id, Source::Batch(files, case.phases.into()));
        }
    }

    fn take_journal(&mut self, store: &mut Store, journal: &mut JournalReader, case: CaseIndex) {
        self.warnings.extend(case.warnings);
        let mut lines = Vec::new();
        for place in case.phases {
            match journal.check(place).unwrap_or_else(|error| Err(error.to_string())) {
                Ok((line, warnings)) => {
                    self.warnings.extend(warnings);
                    lines.push(line);
                }
                Err(what) => self.damage.push(Damage {
                    path: self.directory.join(JOURNAL),
                    what: format!("line {}: {what}; its phase is lost", place.line),
                }),
            }
        }
        if !lines.is_empty() {
            let id = CaseId::from(case.id);
            let lines = JournalCase { directory: self.place.clone(), id: id.clone(), lines: lines.into() };
            store.add(id, Source::Journal(Arc::new(lines)));
        }
    }

    /// Reads the existing tables, which are the only source if there is no journal.
    fn fill_without_journal(&mut self, texts: &mut TextBudget) {
        let mut rows = UnverifiedRows::default();
        for table in TABLES {
            for path in tables_in(&self.place, table) {
                if let Err(error) = rows.read(table, (&self.place, &path), texts) {
                    self.damage.push(Damage { path, what: format!("{error}; its rows are lost") });
                }
            }
        }
        self.warnings = rows.warnings;
        self.store = Arc::new(Store::of_tables(rows.others, |_| true));
    }
}

/// The cases of a batch that have phases, and its warnings by case. The name is empty for what belongs to no case.
#[derive(Debug, Default)]
struct BatchRowsByCase {
    files: Option<Arc<BatchFiles>>,
    cases: HashSet<CaseId>,
    warnings: HashMap<CaseId, Vec<WarningRow>>,
}

impl BatchRowsByCase {
    fn read(
        &mut self,
        table: &str,
        (directory, path): (&RunDirectory, &Path),
        texts: &mut TextBudget,
    ) -> Result<(), String> {
        match table {
            PhaseRow::TABLE => {
                let rows = read_table_for_now::<PhaseRow>(directory, path)?;
                self.cases.extend(rows.iter().map(|row| row.key.case.clone()));
            }
            WarningRow::TABLE => {
                for row in read_table::<WarningRow>(directory, path, texts)? {
                    let case = row.key.as_ref().map_or_else(|| "".into(), |key| key.case.clone());
                    self.warnings.entry(case).or_default().push(row);
                }
            }
            // Rows of the other tables are read on demand.
            _ => {}
        }
        Ok(())
    }
}

/// The rows of tables without a checksum in the journal.
#[derive(Debug, Default)]
struct UnverifiedRows {
    others: MemoryRows,
    warnings: Vec<WarningRow>,
}

impl UnverifiedRows {
    fn read(
        &mut self,
        table: &str,
        (directory, path): (&RunDirectory, &Path),
        texts: &mut TextBudget,
    ) -> Result<(), String> {
        match table {
            WarningRow::TABLE => self.warnings.extend(read_table(directory, path, texts)?),
            _ => self.others.read(table, (directory, path), texts)?,
        }
        Ok(())
    }
}

/// The number of the batch to which the table at `path` belongs.
fn number_of(path: &Path) -> Option<u32> {
    path.file_stem()?.to_str()?.parse().ok()
}
