//! Access, case by case, to the rows of a run that are too many to keep in memory.

use std::any::Any;
use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::{Deref, Range};
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::events::journal::{JournalReader, LinePosition, PhaseLine};
use crate::files::directory::RunDirectory;
use crate::files::limits::{TextBudget, bytes_of_rows};
use crate::format::JOURNAL;
use crate::rows::phase_record::PhaseRecord;
use crate::table::KeyedRow;
use crate::table::parquet_store::{read_table, read_table_for_now, table_path};
use crate::table::tables::{TableRow, TableVisitor, each_table};
use crate::{CaseId, Damage, PhaseRow};

/// The rows of one case in one table, in the order of observation.
#[derive(Debug, Clone)]
pub struct Rows<R> {
    shared: Arc<Vec<R>>,
    range: Range<usize>,
}

impl<R> Deref for Rows<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        &self.shared[self.range.clone()]
    }
}

impl<R> From<Vec<R>> for Rows<R> {
    fn from(rows: Vec<R>) -> Self {
        Self { range: 0..rows.len(), shared: Arc::new(rows) }
    }
}

/// Rows in memory, by table: those of one case, or of whole tables. Each value is the `Arc<Vec<R>>` of a table.
#[derive(Debug, Default)]
pub(crate) struct MemoryRows(HashMap<&'static str, Box<dyn Any + Send + Sync>>);

impl MemoryRows {
    fn of<R: KeyedRow>(&self) -> Arc<Vec<R>> {
        self.0.get(R::TABLE).and_then(|rows| rows.downcast_ref::<Arc<Vec<R>>>()).cloned().unwrap_or_default()
    }

    fn of_mut<R: KeyedRow>(&mut self) -> &mut Vec<R> {
        let rows = self.0.entry(R::TABLE).or_insert_with(|| Box::new(Arc::<Vec<R>>::default()));
        Arc::make_mut(rows.downcast_mut::<Arc<Vec<R>>>().expect("rows of a table have one type"))
    }

    /// Adds the rows of the table at `path`, which has no checksum in the journal. A file that is not one of
    /// these tables is ignored.
    pub(crate) fn read(
        &mut self,
        table: &str,
        place: (&RunDirectory, &Path),
        texts: &mut TextBudget,
    ) -> Result<(), String> {
        let mut read = ReadTable { rows: self, table, place, texts };
        read.read::<PhaseRow>()?;
        each_table(&mut read)
    }

    fn by_case(mut self) -> HashMap<CaseId, Self> {
        let mut split = SplitByCase { rows: &mut self, cases: HashMap::new() };
        split.split::<PhaseRow>();
        let Ok(()) = each_table(&mut split);
        split.cases
    }
}

/// Moves the rows of a record into memory.
struct TakeRecord<'a> {
    rows: &'a mut MemoryRows,
    record: PhaseRecord,
}

impl TableVisitor for TakeRecord<'_> {
    type Error = Infallible;

    fn visit<R: TableRow>(&mut self) -> Result<(), Infallible> {
        self.rows.of_mut().append(R::of_mut(&mut self.record));
        Ok(())
    }
}

/// Reads the rows of one table from a file.
struct ReadTable<'a> {
    rows: &'a mut MemoryRows,
    table: &'a str,
    /// The run directory, and the file.
    place: (&'a RunDirectory, &'a Path),
    texts: &'a mut TextBudget,
}

impl ReadTable<'_> {
    fn read<R: KeyedRow>(&mut self) -> Result<(), String> {
        if self.table == R::TABLE {
            self.rows.of_mut::<R>().extend(read_table(self.place.0, self.place.1, self.texts)?);
        }
        Ok(())
    }
}

impl TableVisitor for ReadTable<'_> {
    type Error = String;

    fn visit<R: TableRow>(&mut self) -> Result<(), String> {
        self.read::<R>()
    }
}

/// Splits the rows of whole tables by case.
struct SplitByCase<'a> {
    rows: &'a mut MemoryRows,
    cases: HashMap<CaseId, MemoryRows>,
}

impl SplitByCase<'_> {
    fn split<R: KeyedRow>(&mut self) {
        for row in std::mem::take(self.rows.of_mut::<R>()) {
            self.cases.entry(row.key().case.clone()).or_default().of_mut().push(row);
        }
    }
}

impl TableVisitor for SplitByCase<'_> {
    type Error = Infallible;

    fn visit<R: TableRow>(&mut self) -> Result<(), Infallible> {
        self.split::<R>();
        Ok(())
    }
}

/// Where the rows of a case are stored.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// In memory.
    Memory(Arc<MemoryRows>),
    /// In the tables of a batch, or in the journal if the tables turn out to be damaged.
    Batch(Arc<BatchFiles>, Arc<[LinePosition]>),
    /// In the journal.
    Journal(Arc<JournalCase>),
    /// In several merged runs, whose passes get new numbers.
    Parts(Arc<[(Source, Renumber)]>),
}

/// Maps the passes of a part to their numbers in the merged run. Passes that are not listed are left out.
pub(crate) type Renumber = Arc<HashMap<u32, u32>>;

/// The tables of a batch.
#[derive(Debug)]
pub(crate) struct BatchFiles {
    pub(crate) directory: RunDirectory,
    pub(crate) number: u32,
    pub(crate) tables: Vec<String>,
}

/// The phases of a case in the journal of the run in a directory.
#[derive(Debug)]
pub(crate) struct JournalCase {
    pub(crate) directory: RunDirectory,
    pub(crate) id: CaseId,
    pub(crate) lines: Box<[PhaseLine]>,
}

/// The rows of a whole batch, or of one case in the journal, by case.
#[derive(Debug)]
pub(crate) struct BatchRows<R> {
    rows: Arc<Vec<R>>,
    cases: HashMap<CaseId, Range<usize>>,
}

impl<R: KeyedRow> BatchRows<R> {
    fn of(rows: Vec<R>) -> Self {
        let mut cases = HashMap::new();
        let mut start = 0;
        for chunk in rows.chunk_by(|a, b| a.key().case == b.key().case) {
            cases.insert(chunk[0].key().case.clone(), start..start + chunk.len());
            start += chunk.len();
        }
        Self { rows: Arc::new(rows), cases }
    }

    fn of_case(&self, case: &str) -> Rows<R> {
        let range = self.cases.get(case).cloned().unwrap_or_default();
        Rows { shared: Arc::clone(&self.rows), range }
    }
}

/// A batch of a table in memory.
struct CachedBatch {
    /// The [`BatchFiles`] or the [`JournalCase`].
    source: Arc<dyn Any + Send + Sync>,
    /// Its [`BatchRows`].
    rows: Arc<dyn Any + Send + Sync>,
    bytes: u64,
}

/// The batches of a table that were read last. Cases are mostly requested in their order on disk.
type Cache = Vec<CachedBatch>;

/// Number of batches kept for each table: as many as are likely to be processed at the same time.
const CACHED_BATCHES: usize = 2;
/// If the batches of all tables take more than this, only the last one is kept. Batches of many small cases have some
/// megabytes; that of a case with many nodes or hours can have a gigabyte.
const CACHED_BYTES: u64 = 512 << 20;

/// The locations of all rows.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) cases: Vec<CaseId>,
    pub(crate) sources: HashMap<CaseId, Source>,
    /// The caches by table.
    caches: Mutex<HashMap<&'static str, Cache>>,
    late: Mutex<Vec<Damage>>,
}

impl Store {
    /// Creates a store of rows in memory.
    pub(crate) fn of(records: Vec<PhaseRecord>) -> Self {
        let mut store = Self::default();
        let mut rows: HashMap<CaseId, MemoryRows> = HashMap::new();
        for record in records {
            let id = record.phase.key.case.clone();
            if !rows.contains_key(&id) {
                store.cases.push(id.clone());
            }
            let of_case = rows.entry(id).or_default();
            of_case.of_mut().push(record.phase.clone());
            let Ok(()) = each_table(&mut TakeRecord { rows: of_case, record });
        }
        store.sources = rows.into_iter().map(|(id, rows)| (id, Source::Memory(Arc::new(rows)))).collect();
        store
    }

    /// Creates a store of the rows of whole tables, in the order of their phases, for the cases that are `wanted`.
    pub(crate) fn of_tables(rows: MemoryRows, wanted: impl Fn(&CaseId) -> bool) -> Self {
        let order: Vec<CaseId> = rows.of::<PhaseRow>().iter().map(|row| row.key.case.clone()).collect();
        let mut cases = rows.by_case();
        let mut store = Self::default();
        for id in order.into_iter().filter(wanted) {
            if !store.sources.contains_key(&id) {
                let rows = cases.remove(&id).unwrap_or_default();
                store.add(id, Source::Memory(Arc::new(rows)));
            }
        }
        store
    }

    /// Adds a case whose rows are in `source`.
    pub(crate) fn add(&mut self, id: CaseId, source: Source) {
        if self.sources.insert(id.clone(), source).is_none() {
            self.cases.push(id);
        }
    }

    /// The rows of `case`; empty if there are none.
    pub(crate) fn rows<R: KeyedRow>(&self, case: &str) -> Rows<R> {
        let none = || Rows::from(Vec::new());
        self.sources.get(case).map_or_else(none, |source| self.rows_in(source, case))
    }

    fn rows_in<R: KeyedRow>(&self, source: &Source, case: &str) -> Rows<R> {
        match source {
            Source::Memory(rows) => {
                let shared = rows.of::<R>();
                Rows { range: 0..shared.len(), shared }
            }
            Source::Batch(batch, places) => match self.cached(batch, || read_batch::<R>(batch)) {
                Ok(rows) => rows.of_case(case),
                Err(damage) => {
                    self.found(damage);
                    let read = |journal: &mut JournalReader, place: &LinePosition| {
                        let line = journal.check(*place).unwrap_or_else(|error| Err(error.to_string()))?.0;
                        journal.rows(&case.into(), &line)
                    };
                    self.in_journal(&batch.directory, places, |place| *place, read).into()
                }
            },
            Source::Journal(of) => {
                let all = || {
                    let read = |journal: &mut JournalReader, line: &PhaseLine| journal.rows(&of.id, line);
                    self.in_journal(&of.directory, &of.lines, |line| line.place, read)
                };
                let Ok(rows) = self.cached::<R, Infallible>(of, || Ok(all()));
                rows.of_case(case)
            }
            Source::Parts(parts) => {
                let mut all: Vec<R> = Vec::new();
                for (source, numbers) in parts.iter() {
                    for row in self.rows_in::<R>(source, case).iter() {
                        if let Some(&number) = numbers.get(&row.key().repetition) {
                            let mut row = row.clone();
                            row.key_mut().repetition = number;
                            all.push(row);
                        }
                    }
                }
                all.into()
            }
        }
    }

    /// The rows that `read` finds in lines of the journal.
    fn in_journal<R: KeyedRow, L>(
        &self,
        directory: &RunDirectory,
        lines: &[L],
        place: fn(&L) -> LinePosition,
        read: impl Fn(&mut JournalReader, &L) -> Result<Vec<R>, String>,
    ) -> Vec<R> {
        let path = directory.join(JOURNAL);
        let lost = |line: &L, what: String| Damage {
            path: path.clone(),
            what: format!("line {}: {what}; its phase is lost", place(line).line),
        };
        let mut rows = Vec::new();
        let mut journal = JournalReader::open(directory).map_err(|error| error.to_string());
        for line in lines {
            match journal.as_mut().map_err(|error| error.clone()).and_then(|journal| read(journal, line)) {
                // The rows of a case with one phase need not be copied.
                Ok(more) if rows.is_empty() => rows = more,
                Ok(mut more) => rows.append(&mut more),
                Err(what) => self.found(lost(line, what)),
            }
        }
        rows
    }

    /// The rows of `source` in one table, which `read` reads. They are kept until others are requested.
    fn cached<R: KeyedRow, E>(
        &self,
        source: &Arc<impl Any + Send + Sync>,
        read: impl FnOnce() -> Result<Vec<R>, E>,
    ) -> Result<Arc<BatchRows<R>>, E> {
        let lock = || self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let last_first = |cache: &mut Cache| {
            let is_it = |cached: &CachedBatch| ptr::addr_eq(Arc::as_ptr(&cached.source), Arc::as_ptr(source));
            let place = cache.iter().position(is_it)?;
            cache[..=place].rotate_right(1);
            Arc::clone(&cache[0].rows).downcast().ok()
        };
        if let Some(rows) = last_first(lock().entry(R::TABLE).or_default()) {
            return Ok(rows);
        }
        let rows = Arc::new(BatchRows::of(read()?));
        let bytes = bytes_of_rows::<R>(rows.rows.len() as u64);
        let mut caches = lock();
        let kept: u64 = caches.values().flatten().map(|cached| cached.bytes).sum();
        if kept.saturating_add(bytes) > CACHED_BYTES {
            caches.clear();
        }
        let cache = caches.entry(R::TABLE).or_default();
        cache.truncate(CACHED_BATCHES - 1);
        let cached = Arc::<BatchRows<R>>::clone(&rows);
        let source = Arc::<_>::clone(source);
        cache.insert(0, CachedBatch { source, rows: cached, bytes });
        Ok(rows)
    }

    fn found(&self, damage: Damage) {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if !late.contains(&damage) {
            late.push(damage);
        }
    }

    /// Data that could not be read when requested.
    pub(crate) fn late(&self) -> Vec<Damage> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("cases", &self.cases.len()).finish_non_exhaustive()
    }
}

fn read_batch<R: KeyedRow>(files: &BatchFiles) -> Result<Vec<R>, Damage> {
    if !files.tables.iter().any(|table| table == R::TABLE) {
        return Ok(Vec::new());
    }
    let path = table_path(&files.directory, R::TABLE, files.number);
    read_table_for_now(&files.directory, &path)
        .map_err(|what| Damage { path, what: format!("{what}; its rows were read from the journal instead") })
}
